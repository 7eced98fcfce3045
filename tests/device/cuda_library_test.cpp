// Products that cuBLASLt computes in place of Sinter's kernels: NVIDIA's on a GPU, else the emulated one,
// which checks what it is told.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/tune/tuner.h"
#include "src/base/env.h"
#include "tests/support/emulated_driver.h"
#include "tests/support/tensor_core_backend.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

/// An environment of its own: a pin for both families, no choices known, and a device.
struct Setting {
  explicit Setting(const std::string& pin = "library=1", std::size_t most_graphs = 16)
      : before(base::environment()), device(device_over(std::make_unique<TensorCoreBackend>(most_graphs))) {
    base::Environment& now = base::mutable_environment();
    now.tune_pins["TENSOR_CORES"] = now.tune_pins["COMPUTED_FACTORS"] = pin;
    now.autotune = "off";
    tune::Tuner::global().forget();
  }
  ~Setting() { base::mutable_environment() = before; }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  const base::Environment before;
  const Device device;
};

/// False on a machine without the library.
bool has_library() {
  if (emulation()) return true;
  TensorCoreBackend backend;
  ir::PlainProduct product;
  product.rows = product.columns = product.depth = 256;
  for (ir::PlainMatrix* matrix : {&product.a, &product.b, &product.result})
    matrix->dtype = DType::bf16, matrix->leading = 256;
  return backend.library_ways(product).count > 0;
}

/// Small numbers of few digits, so that factors lose nothing by rounding.
std::vector<float> numbers(std::int64_t count, int salt) {
  std::vector<float> data(static_cast<std::size_t>(count));
  std::uint32_t state = static_cast<std::uint32_t>(salt) * 747796405u + 1;
  for (float& x : data) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int>(state >> 16) % 64 - 32) / 32;
  }
  return data;
}

/// A matrix, or several, with the numbers that it has.
struct Operand {
  Operand(std::int64_t batches, std::int64_t rows, std::int64_t columns, bool transposed, DType dtype,
          const Device& device, int salt)
      : rows(rows), columns(columns), transposed(transposed), data(numbers(batches * rows * columns, salt)) {
    Dims sizes = transposed ? Dims{columns, rows} : Dims{rows, columns};
    if (batches > 1) sizes.insert(0, batches);
    tensor = A::from_bytes(std::as_bytes(std::span(data)), Shape(sizes), DType::f32, device).cast(dtype);
    tensor.sync();
    if (transposed) tensor = tensor.transpose(-2, -1);
  }
  double at(std::int64_t batch, std::int64_t i, std::int64_t j) const {
    const std::int64_t inside = transposed ? j * rows + i : i * columns + j;
    return static_cast<double>(data[static_cast<std::size_t>(batch * rows * columns + inside)]);
  }
  std::int64_t rows, columns;
  bool transposed;
  std::vector<float> data;
  A tensor;
};

std::vector<float> floats(const A& x) {
  std::vector<float> data(static_cast<std::size_t>(x.numel()));
  x.cast(DType::f32).read_bytes(std::as_writable_bytes(std::span(data)));
  return data;
}

double rounding(DType dtype) {
  return dtype == DType::bf16 ? 0x1p-8 : dtype == DType::f16 ? 0x1p-11 : 0x1p-22;
}

struct Case {
  std::int64_t m, n, k, batches = 1;
  bool transpose_a = false, transpose_b = false;
  DType dtype = DType::bf16;
  bool shares_b = false, has_bias = false;
};

/// How the launch of the product ran, and that its numbers are right.
std::string check_product(const Device& device, const Case& c) {
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  const Operand a(c.batches, c.m, c.k, c.transpose_a, c.dtype, device, 1),
      b(c.shares_b ? 1 : c.batches, c.k, c.n, c.transpose_b, c.dtype, device, 2),
      bias(1, 1, c.n, false, c.dtype, device, 3);
  A y;
  const Report report = explain([&] {
    y = a.tensor.matmul(b.tensor);
    if (c.has_bias) y = A::add(y, bias.tensor.reshape({c.n}));
    y.sync();
  });
  if (!c.shares_b) CHECK(report.traces.at(0).launches.size() == 1);
  const std::vector<float> found = floats(y);
  double worst = 0;
  for (std::int64_t batch = 0; batch < c.batches; ++batch)
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.n; ++j) {
        double sum = 0, magnitude = 0;
        for (std::int64_t k = 0; k < c.k; ++k) {
          const double part = a.at(batch, i, k) * b.at(c.shares_b ? 0 : batch, k, j);
          sum += part;
          magnitude += std::abs(part);
        }
        if (c.has_bias) sum += bias.at(0, 0, j), magnitude += std::abs(bias.at(0, 0, j));
        const double value =
            static_cast<double>(found[static_cast<std::size_t>((batch * c.m + i) * c.n + j)]);
        // With a bias a library may round its product before the sum is.
        const double rounded = std::abs(sum) + (c.has_bias ? std::abs(sum - bias.at(0, 0, j)) : 0);
        const double bound =
            rounded * rounding(c.dtype) + (magnitude + 1) * static_cast<double>(c.k) * 0x1p-22 + 0x1p-20;
        worst = std::max(worst, std::isfinite(value) ? std::abs(value - sum) / bound : INFINITY);
      }
  INFO(c.m << "x" << c.n << "x" << c.k << " of " << c.batches << " " << name_of(c.dtype) << " "
           << c.transpose_a << c.transpose_b << c.shares_b << c.has_bias);
  CHECK(worst <= 1);
  return report.traces.at(0).launches.back().how;
}

bool is_library(const std::string& how) { return how.find("by cuBLASLt") != std::string::npos; }

}  // namespace

TEST_CASE("products of all layouts, dtypes and sizes are right, whatever algorithm computes them") {
  if (!has_library()) return;
  for (const char* pin : {"library=1", "library=2"}) {
    const Setting setting(pin);
    for (const DType dtype : {DType::bf16, DType::f16, DType::f32})
      for (const bool transpose_a : {false, true})
        for (const bool transpose_b : {false, true}) {
          CHECK(is_library(check_product(setting.device, {64, 48, 32, 1, transpose_a, transpose_b, dtype})));
          CHECK(is_library(check_product(setting.device, {48, 64, 72, 3, transpose_a, transpose_b, dtype})));
          CHECK(is_library(
              check_product(setting.device, {16, 24, 40, 2, transpose_a, transpose_b, dtype, true})));
        }
  }
}

TEST_CASE("odd sizes, and of one element") {
  if (!emulation()) return;  // NVIDIA's may have no second algorithm for these
  const Setting setting;
  for (const DType dtype : {DType::bf16, DType::f32})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        const auto check = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batches = 1) {
          CHECK(
              is_library(check_product(setting.device, {m, n, k, batches, transpose_a, transpose_b, dtype})));
        };
        check(7, 13, 11);
        check(101, 3, 37, 3);
        check(2, 2, 2);
        check(3, 2, 97);
        check(2, 129, 17);  // with fewer to add up it is a sum of products, which asks no library
      }
}

TEST_CASE("a product with a bias") {
  if (!has_library()) return;
  const Setting setting;
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32})
    CHECK(is_library(check_product(setting.device, {64, 48, 32, 1, false, false, dtype, false, true})));
}

TEST_CASE("f32 is rounded to tf32, or cut off") {
  if (!has_library()) return;
  const Setting setting;
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  constexpr std::int64_t kSize = 64, kDepth = 512;
  std::vector<float> a(kSize * kDepth), b(kSize * kDepth);
  std::uint32_t state = 3;
  for (std::vector<float>* data : {&a, &b})
    for (float& x : *data) {
      state = state * 1664525u + 1013904223u;
      x = 1 + static_cast<float>(state >> 9) * 0x1p-23f;  // of one sign, so that cutting adds up
    }
  const A x = A::from_bytes(std::as_bytes(std::span(a)), {kSize, kDepth}, DType::f32, setting.device),
          y = A::from_bytes(std::as_bytes(std::span(b)), {kDepth, kSize}, DType::f32, setting.device);
  const std::vector<float> found = floats(x.matmul(y));
  double worst = 0;
  for (std::size_t i = 0; i < kSize; ++i)
    for (std::size_t j = 0; j < kSize; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < kDepth; ++k)
        sum += static_cast<double>(a[i * kDepth + k]) * static_cast<double>(b[k * kSize + j]);
      worst = std::max(worst, std::abs(static_cast<double>(found[i * kSize + j]) - sum) / sum);
    }
  MESSAGE("off by up to " << worst * 0x1p11 << " * 2^-11");
  CHECK(worst <= 0x1p-9 + kDepth * 0x1p-23);
}

TEST_CASE("what is more than a product is a library's product and a kernel") {
  if (!has_library()) return;
  for (const char* pin : {"library=1", "library=2"})
    for (const DType dtype : {DType::bf16, DType::f32}) {
      const Setting setting(pin);
      const MatmulPrecisionScope scope(MatmulPrecision::High);
      const Operand a(1, 24, 40, false, dtype, setting.device, 1),
          b(1, 40, 16, false, dtype, setting.device, 2), r(1, 24, 16, false, dtype, setting.device, 3);
      std::vector<A> kept;
      for (int run = 0; run < 5; ++run) {
        // Other addresses in each run, and a plan of several launches, which becomes a graph.
        const A x = A::add(a.tensor, 0);
        x.sync();
        A y, total;
        const Report report = explain([&] {
          y = A::add(relu(A::mul(x.matmul(b.tensor), 0.5)), r.tensor);
          total = A::mul(y, y).sum({1}).sum({0});
          y.device().flush();
        });
        bool found = false;
        for (const ReportLaunch& launch : report.traces.at(0).launches)
          found |= launch.how.find("and a kernel for the rest") != std::string::npos;
        CHECK(found);
        const std::vector<float> values = floats(y);
        for (std::int64_t i = 0; i < 24; ++i)
          for (std::int64_t j = 0; j < 16; ++j) {
            double sum = 0;
            for (std::int64_t k = 0; k < 40; ++k) sum += a.at(0, i, k) * b.at(0, k, j);
            const double want = std::max(sum * 0.5, 0.0) + r.at(0, i, j);
            REQUIRE(std::abs(static_cast<double>(values[static_cast<std::size_t>(i * 16 + j)]) - want) <=
                    (std::abs(sum) + std::abs(want)) * rounding(dtype) + 1e-5);
          }
        for (const A& each : {x, y, total}) kept.push_back(each);
      }
    }
}

TEST_CASE("a factor that is computed has tiles alone, and a pin says so") {
  if (!has_library()) return;
  const Setting setting;
  const A x = A::full({2, 64, 9, 9}, 0.5, DType::bf16, setting.device),
          w = A::full({64, 64, 3, 3}, 0.5, DType::bf16, setting.device);
  x.sync(), w.sync();
  CHECK_THROWS_WITH_AS(x.conv2d(w, {}).sync(), doctest::Contains("library=1 fits no variant"), Error);
  base::mutable_environment().tune_pins["TENSOR_CORES"] = "library=0";
  base::mutable_environment().tune_pins["COMPUTED_FACTORS"] = "library=0";
  CHECK(floats(x.conv2d(w, {}))[5] == 144);
}

TEST_CASE("SINTER_CUBLASLT=0 does without") {
  if (!has_library()) return;
  const Setting setting;
  base::mutable_environment().cublaslt = false;
  const A a = A::full({64, 64}, 0.5, DType::bf16, setting.device);
  a.sync();
  CHECK_THROWS_WITH_AS(a.matmul(a).sync(), doctest::Contains("library=1 fits no variant"), Error);
}

TEST_CASE("products are nodes of graphs, which take new addresses") {
  if (!has_library()) return;
  for (const char* pin : {"library=1", "library=2"}) {
    const Setting setting(pin);
    const Operand w(1, 64, 32, false, DType::bf16, setting.device, 2),
        v(1, 32, 64, false, DType::bf16, setting.device, 4);
    std::vector<A> kept;  // so that no run has an earlier one's memory
    const std::uint64_t before = setting.device.statistics().graph_launches;
    for (int run = 1; run <= 6; ++run) {
      const Operand x(1, 16, 64, false, DType::bf16, setting.device, 10 + run);
      setting.device.flush();
      const A h = x.tensor.matmul(w.tensor), y = h.matmul(v.tensor), z = A::mul(y, y).sum({1});
      setting.device.flush();
      const std::vector<float> found = floats(y), middle = floats(h);
      for (std::int64_t i = 0; i < 16; ++i)
        for (std::int64_t j = 0; j < 64; ++j) {
          double sum = 0;
          for (std::int64_t k = 0; k < 32; ++k)
            sum += static_cast<double>(middle[static_cast<std::size_t>(i * 32 + k)]) * v.at(0, k, j);
          REQUIRE(std::abs(static_cast<double>(found[static_cast<std::size_t>(i * 64 + j)]) - sum) <=
                  std::abs(sum) * 0x1p-8 + 1e-3);
        }
      for (const A& each : {x.tensor, h, y, z}) kept.push_back(each);
    }
    CHECK(setting.device.statistics().graph_launches - before >= 4);
    if (emulation()) CHECK(emulation()->graph_updates > 0);
  }
}

TEST_CASE("timing tries the library's algorithms beside the tiles, and none of them differs") {
  if (!has_library()) return;
  for (const DType dtype : {DType::bf16, DType::f32}) {
    const Setting setting("");
    TuneAnew anew;
    check_product(setting.device, {72, 48, 200, 1, false, false, dtype, false, true});
    const std::vector<TimedKernel> timed = anew.take_timed();
    REQUIRE(timed.size() == 1);
    std::size_t of_library = 0;
    for (const TimedKernel::Variant& variant : timed[0].variants) {
      INFO(variant.parameters << ": " << variant.dropped);
      CHECK(variant.dropped.empty());
      CHECK(variant.microseconds > 0);
      of_library += variant.parameters.starts_with("library=") ? 1 : 0;
    }
    CHECK(of_library >= 1);
    CHECK(timed[0].undecided == "");
  }
}

TEST_CASE("a library without an algorithm for a product is no alternative") {
  if (!emulation()) return;
  const Setting setting("");
  TuneAnew anew;
  emulation()->library_finds_nothing = true;
  const std::string how = check_product(setting.device, {40, 56, 24});
  emulation()->library_finds_nothing = false;
  CHECK_FALSE(is_library(how));
  const std::vector<TimedKernel> timed = anew.take_timed();
  REQUIRE(timed.size() == 1);
  for (const TimedKernel::Variant& variant : timed[0].variants)
    CHECK_FALSE(variant.parameters.starts_with("library="));
}

TEST_CASE("a product that fails is an error like a kernel's, and its plan can be run again") {
  if (!emulation()) return;
  for (const std::size_t most_graphs : {0, 16})
    for (int failing = 0; failing < 5; ++failing) {
      const Setting setting("library=2", most_graphs);
      const Operand a(1, 24, 16, false, DType::bf16, setting.device, 1),
          b(1, 16, 8, false, DType::bf16, setting.device, 2);
      std::vector<float> first;
      std::vector<A> kept;
      for (int run = 0; run < 5; ++run) {
        const A x = A::add(a.tensor, 0);
        x.sync();
        kept.push_back(x);
        const A h = x.matmul(b.tensor), total = A::mul(h, h).sum({1}), most = h.max({0});
        if (run == failing) {
          // Where the product is captured, the plan starts without a graph, and the error comes then.
          emulation()->fail_library = 2;
          CHECK_THROWS_WITH_AS(h.device().flush(),
                               doctest::Contains("cublasLtMatmul failed: CUBLAS_STATUS_EXECUTION_FAILED"),
                               DeviceError);
          emulation()->fail_library = 0;
          continue;  // what this run was to give is lost, as with a kernel
        }
        h.device().flush();
        const std::vector<float> found = floats(h);
        for (const A& each : {h, total, most}) kept.push_back(each);
        if (first.empty()) first = found;
        CHECK(found == first);
        CHECK(floats(most).size() == 8);
      }
    }
}

TEST_CASE("a product that cannot be captured leaves its plan without a graph") {
  if (!emulation()) return;
  const Setting setting;
  const Operand a(1, 24, 16, false, DType::bf16, setting.device, 1),
      b(1, 16, 8, false, DType::bf16, setting.device, 2);
  std::vector<float> first;
  const std::uint64_t before = setting.device.statistics().graph_launches;
  for (int run = 0; run < 4; ++run) {
    const A x = A::add(a.tensor, 0);
    x.sync();
    const A h = x.matmul(b.tensor), total = A::mul(h, h).sum({1}), most = h.max({0});
    if (run == 1) emulation()->fail_library = 1;
    h.device().flush();
    CHECK(emulation()->fail_library == 0);
    if (first.empty()) first = floats(h);
    CHECK(floats(h) == first);
  }
  CHECK(setting.device.statistics().graph_launches == before);
}

TEST_CASE("two threads compute products of one library, on one device and on two") {
  if (!has_library()) return;
  const Setting one, other;
  for (const bool same : {true, false}) {
    std::vector<std::thread> threads;
    std::vector<std::vector<float>> results(2);
    for (std::size_t t = 0; t < 2; ++t)
      threads.emplace_back([&, t] {
        const Device& device = same || t == 0 ? one.device : other.device;
        const Operand a(2, 32, 24, false, DType::bf16, device, 1), b(2, 24, 16, true, DType::bf16, device, 2);
        for (int run = 0; run < 20; ++run) {
          const A y = a.tensor.matmul(b.tensor);
          y.sync();
          const std::vector<float> found = floats(y);
          if (results[t].empty()) results[t] = found;
          if (found != results[t]) results[t].push_back(NAN);
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(results[0] == results[1]);
  }
}

TEST_CASE("what is described to the library ends with its device") {
  if (!emulation()) return;
  const std::uint64_t before = emulation()->library_objects;
  {
    TensorCoreBackend backend;
    ir::PlainProduct product;
    product.rows = product.columns = product.depth = 8;
    for (ir::PlainMatrix* matrix : {&product.a, &product.b, &product.result})
      matrix->dtype = DType::bf16, matrix->leading = 8;
    CHECK(backend.library_ways(product).count == 2);
    CHECK(backend.library_ways(product).version == 130005);
    CHECK(emulation()->library_objects > before);
  }
  CHECK(emulation()->library_objects == before);
}

}  // namespace sinter::testing
