// The host's products by tiles: the processor's where it has them, and their emulation wherever the vectors
// are there that pack. Sums are held to those of doubles.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/mman.h>

#include "jit/library/matmul.h"
#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/products/amx/matmul.h"
#include "src/runtime/host/products/amx/panel.h"
#include "src/runtime/host/products/gemm_pairs.h"
#include "src/runtime/host/products/matmul.h"
#include "src/runtime/host/threads/workers.h"
#include "tests/support/drawn_numbers.h"
#include "tests/support/one_run.h"

using namespace sinter;
using runtime::host::amx::Unit;
using testing::drawn_numbers;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Layout {
  bool a_across = false, b_across = false;  // columns of a, of b, lie in a row in memory
};

library::MatMulOp product(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, Layout layout) {
  library::MatMulOp op;
  op.batch = batch, op.m = m, op.n = n, op.k = k;
  op.a_batch = m * k, op.b_batch = k * n;
  op.a_row = layout.a_across ? 1 : k, op.a_column = layout.a_across ? m : 1;
  op.b_row = layout.b_across ? 1 : n, op.b_column = layout.b_across ? k : 1;
  return op;
}

/// What the processor has, and the emulation of it.
std::vector<Unit> units() {
  if (!runtime::host::multiplies_pairs()) return {};
  std::vector<Unit> found = {Unit::Emulated};
  const std::string before = base::environment().amx;
  base::mutable_environment().amx = "1";
  if (runtime::host::amx::unit() == Unit::Amx) found.push_back(Unit::Amx);
  base::mutable_environment().amx = before;
  return found;
}

std::shared_ptr<runtime::host::ProductProgram> by_vectors(const library::MatMulOp& op) {
  return runtime::host::make_matmul(op);
}

/// Results of C, as they are stored.
template <class C = float, class A, class B>
std::vector<C> compute(Unit unit, const library::MatMulOp& op, const std::vector<A>& a,
                       const std::vector<B>& b, std::size_t threads) {
  const base::Environment before = base::environment();
  base::mutable_environment().host_threads = static_cast<std::int64_t>(threads);
  const auto host = runtime::make_host_backend();
  const auto executable = runtime::host::amx::make_matmul_by(unit, op, by_vectors);
  REQUIRE(executable != nullptr);
  executable->use_threads(threads);
  const auto elements = static_cast<std::size_t>(op.elements_written(0));
  const auto of_a = host->allocate(a.size() * sizeof(A)), of_b = host->allocate(b.size() * sizeof(B)),
             of_c = host->allocate(elements * sizeof(C));
  host->upload({of_a.get(), 0}, std::as_bytes(std::span(a)));
  host->upload({of_b.get(), 0}, std::as_bytes(std::span(b)));
  const runtime::BufferView views[] = {{of_a.get(), 0}, {of_b.get(), 0}, {of_c.get(), 0}};
  testing::run_alone(*host, *executable, {views, {}, {}});
  std::vector<C> c(elements);
  host->download({of_c.get(), 0}, std::as_writable_bytes(std::span(c)));
  base::mutable_environment() = before;
  return c;
}

/// Without a device, in memory of exactly its size.
void compute_in_place(runtime::host::ProductProgram& program, runtime::ThreadPool& pool, const void* a,
                      const void* b, float* c) {
  const auto bytes_of = [](const void* p) { return static_cast<std::byte*>(const_cast<void*>(p)); };
  const std::size_t bytes = program.workspace_bytes({}, 1);
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(64, bytes), &std::free);
  runtime::host::Workers workers(pool, {bytes_of(memory.get()), bytes});
  program.compute(workers, {bytes_of(a), bytes_of(b), bytes_of(c)});
}

double value_of(float x) { return x; }
double value_of(bfloat16 x) { return static_cast<double>(static_cast<float>(x)); }

struct Sum {
  double value = 0, sizes = 0;  // of its terms
};

template <class A, class B>
Sum sum_of(const library::MatMulOp& op, const std::vector<A>& a, const std::vector<B>& b, std::size_t at) {
  const auto element = static_cast<std::int64_t>(at);
  const std::int64_t batch = element / (op.m * op.n), i = element / op.n % op.m, j = element % op.n;
  Sum sum;
  for (std::int64_t k = 0; k < op.k; ++k) {
    const double term =
        value_of(a[static_cast<std::size_t>(batch * op.a_batch + i * op.a_row + k * op.a_column)]) *
        value_of(b[static_cast<std::size_t>(batch * op.b_batch + k * op.b_row + j * op.b_column)]);
    sum.value += term;
    sum.sizes += std::abs(term);
  }
  return sum;
}

/// The greatest error, of the sum of the terms' sizes.
template <class A, class B>
double error_of(const library::MatMulOp& op, const std::vector<A>& a, const std::vector<B>& b,
                const std::vector<float>& c) {
  double worst = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const Sum sum = sum_of(op, a, b, i);
    const double error = std::abs(sum.value - static_cast<double>(c[i]));
    if (!(error <= worst * sum.sizes)) worst = sum.sizes == 0 ? kInfinity : error / sum.sizes;
  }
  return worst;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

const std::array<std::array<std::int64_t, 4>, 9> kShapes = {{{1, 1, 1, 1},
                                                             {1, 16, 16, 32},
                                                             {1, 32, 32, 96},
                                                             {1, 33, 17, 31},
                                                             {3, 15, 50, 97},
                                                             {1, 64, 96, 64},
                                                             {2, 70, 33, 130},
                                                             {1, 5, 200, 300},
                                                             {1, 100, 90, 191}}};
const std::array<Layout, 4> kLayouts = {{{false, false}, {false, true}, {true, false}, {true, true}}};

}  // namespace

TEST_CASE("products by tiles are within the bounds of their precision, the same with any threads") {
  for (const auto& [batch, m, n, k] : kShapes)
    for (const Layout layout : kLayouts) {
      library::MatMulOp op = product(batch, m, n, k, layout);
      CAPTURE(op.describe());
      const std::vector<float> a = drawn_numbers(batch * m * k, 1), b = drawn_numbers(batch * k * n, 2);
      const double rounding = static_cast<double>(k) * 0x1p-23;
      for (const auto& [precision, most] : {std::pair{MatmulPrecision::Highest, 0x1p-23 + rounding / 4},
                                            {MatmulPrecision::Tf32x3, 0x1p-23 + rounding / 4},
                                            {MatmulPrecision::High, 0x1p-15 + rounding},
                                            {MatmulPrecision::Medium, 0x1p-7 + rounding}}) {
        op.precision = precision;
        std::vector<float> first;
        for (const Unit unit : units()) {
          const std::vector<float> c = compute(unit, op, a, b, 1);
          CHECK(error_of(op, a, b, c) <= most);
          CHECK(same_bits(compute(unit, op, a, b, 3), c));
          // The processor's tiles give what the emulated ones do.
          if (!first.empty()) CHECK(same_bits(c, first));
          first = c;
        }
      }
    }
}

TEST_CASE("factors of bf16 are multiplied exactly, beside each other and beside f32") {
  for (const auto& [batch, m, n, k] : kShapes)
    for (const Layout layout : kLayouts) {
      library::MatMulOp op = product(batch, m, n, k, layout);
      CAPTURE(op.describe());
      const std::vector<float> a = drawn_numbers(batch * m * k, 3), b = drawn_numbers(batch * k * n, 4);
      const std::vector<bfloat16> half_a(a.begin(), a.end()), half_b(b.begin(), b.end());
      const double most = static_cast<double>(k) * 0x1p-23;
      for (const Unit unit : units()) {
        op.stored = {DType::bf16, DType::bf16, std::nullopt};
        CHECK(error_of(op, half_a, half_b, compute(unit, op, half_a, half_b, 2)) <= most);
        op.stored = {DType::bf16, std::nullopt, std::nullopt};
        CHECK(error_of(op, half_a, b, compute(unit, op, half_a, b, 2)) <= most);
        op.stored = {std::nullopt, DType::bf16, std::nullopt};
        CHECK(error_of(op, a, half_b, compute(unit, op, a, half_b, 2)) <= most);
      }
    }
}

TEST_CASE("products of f32 by tiles keep their digits, however large or small factors are") {
  const library::MatMulOp op = product(1, 40, 50, 120, {});
  for (const auto& [size_a, size_b] : {std::pair{1e-30f, 1e30f},
                                       {1e30f, 1e-30f},
                                       {1e-36f, 1e36f},
                                       {3e38f, 1e-3f},
                                       {1e-38f, 1e38f},
                                       {1e-20f, 1e-10f},
                                       {1e18f, 1e18f},
                                       {1e-44f, 1e38f}}) {
    CAPTURE(size_a);
    std::vector<float> a = drawn_numbers(40 * 120, 5, size_a), b = drawn_numbers(120 * 50, 6, size_b);
    for (const Unit unit : units()) CHECK(error_of(op, a, b, compute(unit, op, a, b, 1)) <= 120 * 0x1p-24);
    // Zeros are no small numbers.
    for (std::size_t i = 0; i < a.size(); i += 2) a[i] = 0;
    for (const Unit unit : units()) CHECK(error_of(op, a, b, compute(unit, op, a, b, 1)) <= 120 * 0x1p-24);
  }
  const std::vector<float> zeros(40 * 120), b = drawn_numbers(120 * 50, 7);
  for (const Unit unit : units())
    for (const float x : compute(unit, op, zeros, b, 1)) CHECK(x == 0);
}

TEST_CASE("sums by tiles that are too large are infinite") {
  const library::MatMulOp op = product(1, 20, 20, 64, {});
  const std::vector<float> a(20 * 64, 1e20f), b(64 * 20, 1e19f);
  for (const Unit unit : units())
    for (const float x : compute(unit, op, a, b, 1)) CHECK(x == kInfinity);
}

TEST_CASE("one large number does not take the digits of others") {
  const library::MatMulOp op = product(1, 40, 50, 120, {});
  for (const float large : {3e38f, -std::numeric_limits<float>::max(), 1e20f})
    for (const float small : {1e-12f, 1e-20f}) {
      CAPTURE(large);
      CAPTURE(small);
      std::vector<float> a = drawn_numbers(40 * 120, 10), b = drawn_numbers(120 * 50, 11, small);
      a[0] = large;
      for (const Unit unit : units()) CHECK(error_of(op, a, b, compute(unit, op, a, b, 2)) <= 120 * 0x1p-24);
      a[0] = 1;
      b[77] = large;
      for (const Unit unit : units()) CHECK(error_of(op, a, b, compute(unit, op, a, b, 2)) <= 120 * 0x1p-24);
    }
}

TEST_CASE("large numbers of bf16 beside small ones of f32") {
  library::MatMulOp op = product(1, 40, 50, 120, {});
  op.stored = {DType::bf16, std::nullopt, std::nullopt};
  for (const float large : {1e15f, 1e20f, 1e30f}) {
    CAPTURE(large);
    const std::vector<float> a = drawn_numbers(40 * 120, 12, large), b = drawn_numbers(120 * 50, 13, 1e-20f);
    const std::vector<bfloat16> half(a.begin(), a.end());
    for (const Unit unit : units())
      CHECK(error_of(op, half, b, compute(unit, op, half, b, 2)) <= 120 * 0x1p-24);
  }
}

TEST_CASE("infinities and NaN go where the vectors' products have them") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool of_halves : {false, true}) {
    library::MatMulOp op = product(1, 40, 70, 130, {});
    std::vector<float> a = drawn_numbers(40 * 130, 8), b = drawn_numbers(130 * 70, 9);
    // An infinity beside 1, whose last pieces are zeros, beside 0 and beside the smallest number; a NaN; two
    // infinities that meet.
    a[3 * 130 + 7] = kInfinity;
    for (int j = 0; j < 70; ++j) b[7 * 70 + static_cast<std::size_t>(j)] = 1;
    b[7 * 70 + 4] = 0;
    b[7 * 70 + 5] = 1e-45f;
    a[5 * 130 + 120] = nan;
    b[100 * 70 + 60] = -kInfinity;
    a[3 * 130 + 100] = 2;
    const std::vector<bfloat16> half(a.begin(), a.end());
    if (of_halves) op.stored = {DType::bf16, std::nullopt, std::nullopt};
    for (const Unit unit : units()) {
      const std::vector<float> c = of_halves ? compute(unit, op, half, b, 2) : compute(unit, op, a, b, 2);
      for (std::size_t i = 0; i < c.size(); ++i) {
        const Sum sum = of_halves ? sum_of(op, half, b, i) : sum_of(op, a, b, i);
        CAPTURE(i / 70);
        CAPTURE(i % 70);
        if (std::isnan(sum.value))
          CHECK(std::isnan(c[i]));
        else if (std::isinf(sum.value))
          CHECK(static_cast<double>(c[i]) == sum.value);
        else
          CHECK(std::abs(static_cast<double>(c[i]) - sum.value) <= 130 * 0x1p-23 * sum.sizes);
      }
    }
  }
}

TEST_CASE("products that are stored as bf16 are rounded once") {
  library::MatMulOp op = product(1, 33, 40, 50, {});
  const std::vector<float> a = drawn_numbers(33 * 50, 14), b = drawn_numbers(50 * 40, 15);
  for (const Unit unit : units()) {
    op.stored[2].reset();
    const std::vector<float> sums = compute(unit, op, a, b, 1);
    op.stored[2] = DType::bf16;
    const std::vector<bfloat16> rounded = compute<bfloat16>(unit, op, a, b, 1);
    for (std::size_t i = 0; i < sums.size(); ++i) CHECK(rounded[i].bits() == bfloat16(sums[i]).bits());
  }
  op.dtype = DType::f64;
  CHECK(runtime::host::amx::make_matmul_by(Unit::Emulated, op, by_vectors) == nullptr);
}

TEST_CASE("several threads run one program of tiles at once") {
  const library::MatMulOp op = product(1, 100, 90, 191, {});
  const std::vector<float> a = drawn_numbers(100 * 191, 16), b = drawn_numbers(191 * 90, 17);
  for (const Unit unit : units()) {
    const std::vector<float> wanted = compute(unit, op, a, b, 1);
    const auto program = runtime::host::amx::make_matmul_by(unit, op, by_vectors);
    runtime::ThreadPool pool(2);
    program->use_threads(2);
    std::array<std::vector<float>, 4> results;
    std::vector<std::thread> threads;
    for (std::vector<float>& c : results)
      threads.emplace_back([&] {
        for (int round = 0; round < 5; ++round) {
          c.assign(wanted.size(), 0);
          compute_in_place(*program, pool, a.data(), b.data(), c.data());
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<float>& c : results) CHECK(same_bits(c, wanted));
  }
}

TEST_CASE("rows of a factor that lie more than 2^31 elements apart") {
  library::MatMulOp op = product(1, 40, 32, 64, {});
  op.a_row = std::int64_t{1} << 26;
  const std::size_t bytes = static_cast<std::size_t>(op.m * op.a_row) * sizeof(float);
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* const a = static_cast<float*>(memory);
  const std::vector<float> rows = drawn_numbers(40 * 64, 18), b = drawn_numbers(64 * 32, 19);
  for (std::int64_t i = 0; i < op.m; ++i) std::copy_n(rows.begin() + i * 64, 64, a + i * op.a_row);
  const library::MatMulOp near = product(1, 40, 32, 64, {});
  for (const Unit unit : units()) {
    runtime::ThreadPool pool(1);
    std::vector<float> c(40 * 32);
    compute_in_place(*runtime::host::amx::make_matmul_by(unit, op, by_vectors), pool, a, b.data(), c.data());
    CHECK(same_bits(c, compute(unit, near, rows, b, 1)));
  }
  munmap(memory, bytes);
}

TEST_CASE("the host takes tiles where they are faster, unless SINTER_AMX is 0") {
  const base::Environment before = base::environment();
  const library::MatMulOp large = product(1, 512, 512, 512, {}), small = product(1, 16, 8, 8, {});
  const auto how = [&](const char* amx, const library::MatMulOp& op) {
    base::mutable_environment().amx = amx;
    const auto host = runtime::make_host_backend();
    return host->prepare(op)->how({}, 1);
  };
  CHECK(how("0", large).find("tiles") == std::string::npos);
  if (runtime::host::multiplies_pairs()) {
    CHECK(how("emulated", large).ends_with("by tiles of the host, as 6 products of bf16"));
    CHECK(how("emulated", small).find("tiles") == std::string::npos);
  }
  base::mutable_environment() = before;
}
