// Attention, whose scores devices keep out of memory: results and gradients beside those of the same numbers
// in f32 on the host, which stores scores.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/functions/activation.h>
#include <sinter/nn.h>

#include "jit/ir/traits.h"
#include "src/runtime/device_core.h"
#include "src/runtime/host/host_backend.h"
#include "tests/support/processor.h"
#include "tests/support/small_gpu.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

using namespace sinter;

namespace {

struct Lengths {
  Shape batch;
  std::int64_t queries, keys, depth, columns;
};

/// How attention computes: of 16-bit floats, or of f32 whose products may be rounded to tf32.
struct Arithmetic {
  DType dtype;
  MatmulPrecision precision = MatmulPrecision::Highest;
  double tolerance = 2e-2;
};
constexpr Arithmetic kBf16{DType::bf16}, kF16{DType::f16}, kTf32{DType::f32, MatmulPrecision::High, 2e-3},
    kExact{DType::f32, MatmulPrecision::Highest, 1e-5};

const Device& storing_device() {
  static const Device device =
      testing::device_over(std::make_unique<testing::Processor>(runtime::make_host_backend(), 0));
  return device;
}

/// Where tests run on the host, processors too on which any scores stay out of memory, with a compiler and
/// without; on Vulkan GPUs on which any are too many to be stored.
const std::vector<Device>& scores_devices() {
  static const std::vector<Device> devices = [] {
    std::vector<Device> all{testing::test_device()};
    if (all[0].name() == "host" && std::getenv("SINTER_TEST_ORACLE") == nullptr) {
      all.push_back(
          testing::device_over(std::make_unique<testing::Processor>(runtime::make_host_backend(), 1)));
      all.push_back(testing::device_over(
          std::make_unique<testing::Processor>(runtime::make_host_backend(nullptr, false), 1)));
    }
#if SINTER_HAS_VULKAN
    if (!testing::is_vulkan(all[0])) return all;
    const auto add = [&](const runtime::VulkanOptions& options) {
      all.push_back(testing::device_over(
          std::make_unique<testing::SmallGpu>(runtime::make_vulkan_backend(0, options), 1)));
    };
    // One that exchanges nothing within subgroups, and one whose kernels reach buffers by their addresses.
    if (all[0].core().traits().is_cpu) {
      add({.cpu_kernels = false, .subgroups = false});
      add({.cpu_kernels = false, .max_storage_range = 512});
    }
    add({.cpu_kernels = false, .cooperative_matrices = true});
    // Where it is known which lanes have what of matrices, also as if it were not.
    if (all.back().core().traits().tensor_cores.layout.is_known())
      add({.cpu_kernels = false, .cooperative_matrices = true, .matrix_layout = false});
#endif
    return all;
  }();
  return devices;
}

/// Numbers around 0, the same on each device, rounded to `given`.
AnyTensor numbers(const Shape& shape, std::uint32_t seed, DType dtype, const Device& device,
                  DType given = DType::bf16) {
  std::vector<float> values(static_cast<std::size_t>(shape.numel()));
  for (float& value : values) {
    value = 0;
    for (int k = 0; k < 4; ++k) {
      seed = seed * 1664525u + 1013904223u;
      value += static_cast<float>(seed >> 8) * 0x1p-24f - 0.5f;
    }
    value *= 1.7f;
  }
  return tensor_of(values, shape, device).cast(given).cast(dtype);
}

Shape matrix(Shape batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

/// The result and the three gradients, of operands rounded to `given`.
template <class F>
std::vector<AnyTensor> run(const F& function, const Lengths& s, DType given, DType dtype,
                           const Device& device, bool differentiable = false) {
  const Device training = device.autodiff();
  const auto operand = [&](std::int64_t rows, std::int64_t columns, std::uint32_t seed) {
    return numbers(matrix(s.batch, rows, columns), seed, dtype, training, given).require_grad();
  };
  const AnyTensor q = operand(s.queries, s.depth, 1), k = operand(s.keys, s.depth, 2),
                  v = operand(s.keys, s.columns, 3);
  const AnyTensor y = function(q, k, v);
  const std::vector<AnyTensor> inputs{q, k, v};
  const AnyTensor seed = numbers(y.shape(), 4, dtype, training, given);
  std::vector<AnyTensor> results =
      gradient(y, std::span<const AnyTensor>(inputs), {.seed = seed, .differentiable = differentiable});
  results.insert(results.begin(), y);
  for (AnyTensor& result : results) result = result.inner().cast(DType::f32);
  return results;
}

/// Relative to the largest element.
double worst(const AnyTensor& found, const AnyTensor& expected) {
  const std::vector<float> a = values_of(found), b = values_of(expected);
  REQUIRE(a.size() == b.size());
  double difference = 0, largest = 1e-3;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) != std::isnan(b[i])) return std::numeric_limits<double>::infinity();
    if (std::isnan(a[i])) continue;
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - b[i]));
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  return difference / largest;
}

template <class F>
void check(const F& function, const Lengths& sizes, const Arithmetic& arithmetic = kBf16) {
  const DType dtype = arithmetic.dtype;
  const std::vector<AnyTensor> expected = run(function, sizes, dtype, DType::f32, storing_device());
  for (const Device& device : scores_devices()) {
    const auto found_on_device = [&] {
      const MatmulPrecisionScope scope(arithmetic.precision);
      return run(function, sizes, dtype, dtype, device);
    };
    const std::vector<AnyTensor> found = found_on_device(), again = found_on_device();
    for (std::size_t k = 0; k < found.size(); ++k) {
      CAPTURE(k);
      CAPTURE(sizes.queries);
      CAPTURE(sizes.keys);
      CAPTURE(sizes.depth);
      CAPTURE(dtype);
      CHECK(worst(found[k], expected[k]) < arithmetic.tolerance);
      const std::vector<float> bits = values_of(found[k]), others = values_of(again[k]);
      // No tensor of no elements has memory to compare.
      CHECK((bits.empty() || std::memcmp(bits.data(), others.data(), bits.size() * sizeof(float)) == 0));
    }
  }
}

auto attention(nn::detail::AttentionArguments arguments) {
  return [arguments](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
    return nn::detail::attention(q, k, v, arguments, Location::current());
  };
}

// Lanes of the emulated card take turns by calls of the system where sanitizers watch.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
const bool is_emulated = std::getenv("SINTER_EMULATION_ORDER") != nullptr;
bool is_slow() {
  return testing::compiles_slowly(testing::test_device()) || std::getenv("SINTER_TEST_ORACLE") != nullptr ||
         (kIsSanitized && is_emulated);
}

}  // namespace

TEST_CASE("attention of sizes that fill tiles and that do not") {
  for (const Arithmetic& arithmetic : {kBf16, kTf32, kExact}) {
    const auto checked = [&](const nn::detail::AttentionArguments& arguments, const Lengths& sizes) {
      check(attention(arguments), sizes, arithmetic);
    };
    checked({}, {{2}, 16, 16, 8, 8});
    checked({.causal = true}, {{1, 2}, 20, 33, 16, 24});
    checked({.causal = true, .offset = 100}, {{1}, 40, 150, 16, 16});  // several tiles of keys
    if (is_slow()) continue;
    checked({}, {{1, 2}, 64, 64, 64, 64});
    checked({}, {{}, 200, 333, 64, 64});
    checked({}, {{}, 200, 332, 64, 64});
    checked({}, {{2, 1, 2}, 70, 129, 32, 32});
    checked({}, {{1, 2}, 72, 132, 32, 40});
    checked({.causal = true}, {{2, 3}, 256, 256, 64, 64});
    checked({.causal = true}, {{2}, 300, 300, 128, 128});
    if (!is_emulated)
      checked({.causal = true}, {{2, 40}, 300, 300, 64, 64});  // more tiles than a GPU has at once
    checked({.causal = true, .offset = 160}, {{1}, 100, 260, 80, 40});
    checked({.causal = true}, {{1}, 65, 3, 64, 64});
    checked({.scale = 0.3}, {{2}, 17, 300, 12, 20});  // vectors that the copy engine does not take
    checked({.scale = 0.3}, {{2}, 20, 300, 12, 24});  // not of 16 bits
  }
  if (!is_slow()) check(attention({.causal = true}), {{1, 2}, 192, 192, 256, 256}, kF16);
}

TEST_CASE("masks, biases and soft caps") {
  const auto options = [](bool causal, double softcap, bool bias) {
    return [=](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
      const Device device = q.device().inner();
      const std::int64_t queries = q.shape()[q.rank() - 2], keys = k.shape()[k.rank() - 2];
      const AnyTensor mask = AnyTensor::greater(numbers({queries, keys}, 5, DType::f32, device), -0.5);
      const AnyTensor added = numbers({queries, keys}, 6, DType::f32, device);
      return nn::detail::attention(
          q, k, v, {.mask = &mask, .bias = bias ? &added : nullptr, .causal = causal, .softcap = softcap},
          Location::current());
    };
  };
  for (const Arithmetic& arithmetic : {kBf16, kTf32, kExact}) {
    check(options(false, 5, false), {{2}, 20, 24, 16, 16}, arithmetic);
    if (is_slow()) continue;
    check(options(false, 5, false), {{2, 2}, 129, 257, 64, 64}, arithmetic);
    check(options(false, 5, true), {{2, 2}, 132, 260, 64, 64}, arithmetic);
    check(options(true, 0, true), {{2, 2}, 140, 140, 64, 64}, arithmetic);
    // Tiles of queries that see nothing at all.
    check(attention({.causal = true, .offset = -150}), {{1}, 300, 300, 64, 64}, arithmetic);
    check(attention({.causal = true, .offset = -1000}), {{1}, 132, 132, 64, 64}, arithmetic);
  }
}

TEST_CASE("attention in plain operations") {
  const auto plain = [](double masked) {
    return [masked](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
      const std::int64_t queries = q.shape()[q.rank() - 2], keys = k.shape()[k.rank() - 2];
      const Device device = q.device().inner();
      const AnyTensor i = AnyTensor::arange(0, queries, 1, device).reshape({queries, 1}),
                      j = AnyTensor::arange(0, keys, 1, device).reshape({1, keys});
      // A window of 40 keys.
      const AnyTensor seen =
          AnyTensor::logical_and(AnyTensor::less_equal(j, i), AnyTensor::less(AnyTensor::sub(i, j), 40));
      const AnyTensor scores = AnyTensor::mul(q.matmul(k.transpose(-2, -1)), 0.125).cast(DType::f32);
      return softmax(AnyTensor::where(seen, scores, masked), -1).cast(v.dtype()).matmul(v);
    };
  };
  for (const Arithmetic& arithmetic : {kBf16, kTf32, kExact}) {
    check(plain(-std::numeric_limits<double>::infinity()), {{2}, 24, 24, 16, 16}, arithmetic);
    if (is_slow()) continue;
    check(plain(-std::numeric_limits<double>::infinity()), {{2, 2}, 300, 300, 64, 64}, arithmetic);
    check(plain(-1e9), {{2}, 152, 152, 64, 64}, arithmetic);  // tiles that may not be left out
  }
}

TEST_CASE("scores of thousands, and such as are the greater the smaller their product") {
  // Scores that are stored have 16 bits, too few for exponentials of such.
  const ir::TensorCores& tensor_cores = testing::test_device().core().traits().tensor_cores;
  if (is_slow() || !tensor_cores.keeps_scores()) return;
  for (const double scale : {40.0, 400.0, -0.3}) {
    check(attention({.causal = true, .scale = scale}), {{2, 2}, 150, 150, 64, 64}, kBf16);
    check(attention({.scale = scale}), {{2, 2}, 140, 200, 64, 64}, kBf16);
  }
}

TEST_CASE("heads that lie side by side in memory, and keys that queries share") {
  // (batch, length, heads, depth), of which all operands are parts, as a projection leaves them.
  const auto heads = [](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
    const auto split = [](const AnyTensor& x) {
      const Shape& shape = x.shape();
      return x.reshape({shape[0], shape[1], 4, shape[2] / 4}).transpose(1, 2);
    };
    const AnyTensor y = nn::detail::attention(split(q), split(k), split(v).narrow(1, 1, 1), {.causal = true},
                                              Location::current());
    return y.transpose(1, 2).reshape({q.shape()[0], q.shape()[1], v.shape()[2]});
  };
  for (const Arithmetic& arithmetic : {kBf16, kTf32, kExact}) {
    // Other lengths have the plan of the first.
    for (const std::int64_t length : {20, 36, 52}) check(heads, {{2}, length, length, 64, 32}, arithmetic);
    check(heads, {{0}, 20, 20, 64, 32}, arithmetic);
    if (!is_slow()) check(heads, {{3}, 264, 264, 256, 256}, arithmetic);
  }
}

TEST_CASE("scores of one dtype weigh vectors of another") {
  // Scores of 16-bit floats, and vectors of f32 that may be rounded.
  const auto mixed = [](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
    const AnyTensor scores =
        AnyTensor::mul(q.cast(DType::bf16).matmul(k.cast(DType::bf16).transpose(-2, -1)), 0.25);
    return softmax(scores.cast(DType::f32), -1).matmul(v);
  };
  const Arithmetic arithmetic{DType::f32, MatmulPrecision::High};
  check(mixed, {{2}, 24, 28, 16, 24}, arithmetic);
  if (!is_slow()) check(mixed, {{2, 2}, 150, 204, 64, 40}, arithmetic);
}

TEST_CASE("vectors of one element, and such as all queries or all keys have in common") {
  for (const Arithmetic& arithmetic : {kBf16, kTf32, kExact}) {
    check(attention({.causal = true}), {{2}, 24, 24, 1, 16}, arithmetic);
    check(attention({.causal = true}), {{2}, 24, 24, 16, 1}, arithmetic);
    check(attention({.causal = true}), {{2}, 24, 24, 1, 1}, arithmetic);
    // Some of their gradients are 0, so that there is nothing to compare them with.
    const auto of = [&](int which, DType dtype, const Device& device) {
      const auto operand = [&](int number) {
        const AnyTensor x = numbers({2, 24, 16}, static_cast<std::uint32_t>(number) + 1, arithmetic.dtype,
                                    device, arithmetic.dtype)
                                .cast(dtype);
        return number == which ? x.narrow(-2, 1, 1).expand(x.shape()) : x;
      };
      return nn::detail::attention(operand(0), operand(1), operand(2), {.causal = true}, Location::current())
          .cast(DType::f32);
    };
    for (const int which : {0, 1, 2}) {
      const AnyTensor expected = of(which, DType::f32, storing_device());
      for (const Device& device : scores_devices()) {
        const MatmulPrecisionScope scope(arithmetic.precision);
        CHECK(worst(of(which, arithmetic.dtype, device), expected) < arithmetic.tolerance);
      }
    }
  }
}

TEST_CASE("weights times numbers that stand apart, and scores that are cast to f64") {
  const auto scaled = [](bool rows) {
    return [rows](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
      const std::int64_t queries = q.shape()[q.rank() - 2], keys = k.shape()[k.rank() - 2];
      const Device device = q.device().inner();
      const AnyTensor by = numbers({queries, keys}, 9, DType::f32, device);
      const AnyTensor scores = AnyTensor::mul(q.matmul(k.transpose(-2, -1)).cast(DType::f32), 0.25);
      // Without the softmax's own factor of each row there are numbers alone.
      AnyTensor weights = rows ? softmax(scores, -1) : scores.sub(scores.max({-1})).exp();
      weights = AnyTensor::mul(AnyTensor::mul(AnyTensor::mul(weights, 0.5), by), 1.25);
      return weights.cast(v.dtype()).matmul(v);
    };
  };
  const auto wide = [](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
    const AnyTensor scores = AnyTensor::mul(q.matmul(k.transpose(-2, -1)), 0.25).cast(DType::f64);
    return softmax(scores, -1).cast(v.dtype()).matmul(v);
  };
  for (const Arithmetic& arithmetic : {kBf16, kTf32, kExact}) {
    for (const bool rows : {true, false}) check(scaled(rows), {{2}, 20, 24, 16, 16}, arithmetic);
    if (testing::test_device().core().traits().has_f64) check(wide, {{2}, 20, 24, 16, 16}, arithmetic);
  }
}

TEST_CASE("dropout and biases of positions in attention") {
  const auto positions = [](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
    const std::int64_t queries = q.shape()[q.rank() - 2], keys = k.shape()[k.rank() - 2];
    const Device device = q.device().inner();
    const AnyTensor i = AnyTensor::arange(0, queries, 1, device).reshape({queries, 1}),
                    j = AnyTensor::arange(0, keys, 1, device).reshape({1, keys});
    const AnyTensor distance = AnyTensor::sub(i, j).abs().cast(DType::f32);
    const AnyTensor kept =
        AnyTensor::greater(AnyTensor::remainder(AnyTensor::add(AnyTensor::mul(i, 7), j), 5), 0);
    const AnyTensor scores =
        AnyTensor::sub(AnyTensor::mul(q.matmul(k.transpose(-2, -1)).cast(DType::f32), 0.125),
                       AnyTensor::mul(distance, 0.03));
    const AnyTensor weights =
        AnyTensor::mul(softmax(scores, -1), AnyTensor::mul(kept.cast(DType::f32), 1.25));
    return weights.cast(v.dtype()).matmul(v);
  };
  for (const Arithmetic& arithmetic : {kBf16, kF16, kTf32, kExact}) {
    check(positions, {{2}, 20, 24, 16, 16}, arithmetic);
    if (!is_slow()) check(positions, {{3, 2}, 129, 260, 64, 64}, arithmetic);
  }
}

TEST_CASE("NaN and infinity in attention stay in their rows and columns") {
  const auto with = [](float number) {
    return [number](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
      std::vector<float> values(static_cast<std::size_t>(q.shape()[q.rank() - 2]), 0.f);
      values[3] = number;
      const AnyTensor added =
          tensor_of(values, {q.shape()[q.rank() - 2], 1}, q.device().inner()).cast(q.dtype());
      return nn::detail::attention(AnyTensor::add(q, added), k, v, {.causal = true}, Location::current());
    };
  };
  for (const Arithmetic& arithmetic : {kBf16, kTf32, kExact})
    check(with(std::nanf("")), {{2}, 24, 24, 16, 16}, arithmetic);
}

TEST_CASE("an infinity in the last key's values is no number beside the keys that are not there") {
  const auto with = [](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
    const std::int64_t keys = v.shape()[v.rank() - 2];
    std::vector<float> values(static_cast<std::size_t>(keys), 0.f);
    values.back() = std::numeric_limits<float>::infinity();
    const AnyTensor added = tensor_of(values, {keys, 1}, q.device().inner()).cast(v.dtype());
    return nn::detail::attention(q, k, AnyTensor::add(v, added), {}, Location::current());
  };
  for (const Arithmetic& arithmetic : {kBf16, kTf32, kExact})
    for (const std::int64_t queries : {2, 20}) {  // few go each by itself
      const Device device = scores_devices().back();
      const MatmulPrecisionScope scope(arithmetic.precision);
      const auto of = [&](std::int64_t rows, std::uint32_t seed) {
        return numbers({2, rows, 16}, seed, arithmetic.dtype, device);
      };
      for (const float value : values_of(with(of(queries, 1), of(27, 2), of(27, 3)).cast(DType::f32)))
        CHECK(value == std::numeric_limits<float>::infinity());
    }
}

TEST_CASE("scores divided by a number of their row, and of their column") {
  const auto divided = [](bool rows) {
    return [rows](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
      const std::int64_t queries = q.shape()[q.rank() - 2], keys = k.shape()[k.rank() - 2];
      const AnyTensor by = AnyTensor::add(
          numbers(rows ? Shape{queries, 1} : Shape{1, keys}, 7, DType::f32, q.device().inner()).abs(), 4.0);
      const AnyTensor scores = q.matmul(k.transpose(-2, -1)).cast(DType::f32);
      return softmax(AnyTensor::div(scores, by), -1).cast(v.dtype()).matmul(v);
    };
  };
  for (const Arithmetic& arithmetic : {kBf16, kTf32, kExact})
    for (const bool rows : {true, false}) {
      check(divided(rows), {{2}, 20, 24, 16, 16}, arithmetic);
      if (!is_slow()) check(divided(rows), {{2}, 132, 140, 64, 64}, arithmetic);
    }
}

TEST_CASE("a bias of 16 bits beside vectors of f32 that are no multiple of eight") {
  const auto biased = [](const AnyTensor& q, const AnyTensor& k, const AnyTensor& v) {
    const AnyTensor bias =
        numbers({q.shape()[q.rank() - 2], k.shape()[k.rank() - 2]}, 8, DType::bf16, q.device().inner());
    const AnyTensor scores = q.matmul(k.transpose(-2, -1)).cast(DType::f32);
    return softmax(AnyTensor::add(scores, bias.cast(DType::f32)), -1).cast(v.dtype()).matmul(v);
  };
  for (const Arithmetic& arithmetic : {kTf32, kExact}) {
    check(biased, {{2}, 20, 24, 12, 20}, arithmetic);
    check(biased, {{2}, 17, 75, 4, 8}, arithmetic);
  }
}

TEST_CASE("shapes of attention that do not fit, and heads of keys that queries share") {
  const Device device = scores_devices().back();
  const auto with = [&](const Shape& q, const Shape& k, const Shape& v) {
    const auto x = [&](const Shape& shape) { return AnyTensor::full(shape, 0.5, DType::bf16, device); };
    return nn::detail::attention(x(q), x(k), x(v), {}, Location::current()).shape();
  };
  CHECK(with({2, 8, 3, 4}, {2, 1, 5, 4}, {2, 1, 5, 6}) == Shape{2, 8, 3, 6});
  CHECK(with({3, 4}, {2, 5, 4}, {7, 1, 5, 6}) == Shape{7, 2, 3, 6});
  CHECK(with({2, 0, 4}, {2, 5, 4}, {2, 5, 6}) == Shape{2, 0, 6});
  CHECK(with({0, 3, 4}, {0, 5, 4}, {0, 5, 6}) == Shape{0, 3, 6});
  for (const std::vector<Shape>& shapes :
       {std::vector<Shape>{{4}, {5, 4}, {5, 4}}, std::vector<Shape>{{3, 4}, {0, 4}, {0, 4}},
        std::vector<Shape>{{3, 4}, {5, 3}, {5, 4}}, std::vector<Shape>{{3, 4}, {5, 4}, {6, 4}}})
    CHECK_THROWS_WITH_AS(with(shapes[0], shapes[1], shapes[2]), doctest::Contains("d and keys 1 or more"),
                         ShapeError);
  CHECK_THROWS_WITH_AS(with({2, 3, 4}, {3, 5, 4}, {2, 5, 6}), doctest::Contains("do not broadcast"),
                       ShapeError);
}

TEST_CASE("attention is differentiated twice") {
  // The gradients that can be differentiated again are the same numbers.
  const Device device = scores_devices().back();
  const Lengths sizes{{1, 2}, 32, 32, 16, 16};
  for (const Arithmetic& arithmetic : {kBf16, kTf32, kExact}) {
    const MatmulPrecisionScope scope(arithmetic.precision);
    const DType dtype = arithmetic.dtype;
    const auto once = run(attention({.causal = true}), sizes, dtype, dtype, device),
               twice = run(attention({.causal = true}), sizes, dtype, dtype, device, true);
    for (std::size_t k = 0; k < once.size(); ++k) CHECK(worst(twice[k], once[k]) < arithmetic.tolerance);
  }
}
