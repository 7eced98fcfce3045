// The host's products of f32 whose factors may be rounded to bf16, where the processor multiplies pairs.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "jit/library/conv2d.h"
#include "jit/library/matmul.h"
#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/products/gemm_pairs.h"
#include "tests/support/drawn_numbers.h"
#include "tests/support/one_run.h"

using namespace sinter;
using testing::drawn_numbers;

namespace {

library::MatMulOp product(std::int64_t m, std::int64_t n, std::int64_t k, bool a_across, bool b_across) {
  library::MatMulOp op;
  op.m = m, op.n = n, op.k = k;
  op.a_row = a_across ? 1 : k, op.a_column = a_across ? m : 1;
  op.b_row = b_across ? 1 : n, op.b_column = b_across ? k : 1;
  return op;
}

struct Computed {
  std::vector<float> c;
  std::string how;
};

/// On a host with so many threads. Factors of 16 bits are given as such.
template <class A, class B>
Computed compute(const library::ProductOp& op, const std::vector<A>& a, const std::vector<B>& b,
                 std::int64_t threads, bool onednn) {
  const base::Environment before = base::environment();
  base::mutable_environment().host_threads = threads;
  base::mutable_environment().onednn = onednn;
  base::mutable_environment().amx = "0";
  const auto host = runtime::make_host_backend();
  const auto elements = static_cast<std::size_t>(op.elements_written(0));
  const auto of_a = host->allocate(a.size() * sizeof(A)), of_b = host->allocate(b.size() * sizeof(B)),
             of_c = host->allocate(elements * sizeof(float));
  host->upload({of_a.get(), 0}, std::as_bytes(std::span(a)));
  host->upload({of_b.get(), 0}, std::as_bytes(std::span(b)));
  const auto executable = host->prepare(op);
  const runtime::BufferView views[] = {{of_a.get(), 0}, {of_b.get(), 0}, {of_c.get(), 0}};
  testing::run_alone(*host, *executable, {views, {}, {}});
  Computed result{std::vector<float>(elements), executable->how({}, 1)};
  host->download({of_c.get(), 0}, std::as_writable_bytes(std::span(result.c)));
  base::mutable_environment() = before;
  return result;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

// Where every factor is what its 16 bits say, rounding is all that differs: so the sums of rounded f32 are
// bit for bit those of factors that are stored as bf16.
TEST_CASE("products of f32 under medium precision are those of factors rounded to bf16") {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{4, 4, 4},
                                {13, 37, 10},
                                {64, 65, 66},
                                {150, 33, 702},
                                {12, 1030, 514},
                                {300, 330, 700}})
    for (const bool a_across : {false, true})
      for (const bool b_across : {false, true}) {
        library::MatMulOp op = product(m, n, k, a_across, b_across);
        CAPTURE(op.describe());
        CAPTURE(a_across);
        CAPTURE(b_across);
        const std::vector<float> a = drawn_numbers(m * k, 1), b = drawn_numbers(k * n, 2);
        const std::vector<float> exact = compute(op, a, b, 1, false).c;
        op.precision = MatmulPrecision::High;
        CHECK(same_bits(compute(op, a, b, 2, false).c, exact));
        op.precision = MatmulPrecision::Medium;
        const Computed rounded = compute(op, a, b, 1, true);
        CHECK(same_bits(compute(op, a, b, 3, true).c, rounded.c));
        if (!runtime::host::multiplies_pairs()) {
          CHECK(same_bits(compute(op, a, b, 1, false).c, exact));
          continue;
        }
        CHECK(rounded.how.ends_with("in pairs rounded to bf16"));
        CHECK_FALSE(same_bits(rounded.c, exact));
        const std::vector<bfloat16> half_a(a.begin(), a.end()), half_b(b.begin(), b.end());
        library::MatMulOp of_halves = product(m, n, k, a_across, b_across);
        of_halves.stored = {DType::bf16, DType::bf16, std::nullopt};
        const Computed wanted = compute(of_halves, half_a, half_b, 1, false);
        CHECK(wanted.how.ends_with("in pairs"));
        CHECK(same_bits(rounded.c, wanted.c));
        // One factor is f32, the other is not.
        op.stored = {DType::bf16, std::nullopt, std::nullopt};
        CHECK(same_bits(compute(op, half_a, b, 2, true).c, wanted.c));
        op.stored = {std::nullopt, DType::bf16, std::nullopt};
        CHECK(same_bits(compute(op, a, half_b, 2, true).c, wanted.c));
      }
}

TEST_CASE("sums of an odd number of terms, and few vectors, are not rounded under medium precision") {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{30, 40, 51}, {2, 300, 100}, {5, 6, 1}}) {
    library::MatMulOp op = product(m, n, k, false, false);
    const std::vector<float> a = drawn_numbers(m * k, 3), b = drawn_numbers(k * n, 4);
    const std::vector<float> exact = compute(op, a, b, 1, false).c;
    op.precision = MatmulPrecision::Medium;
    CHECK(same_bits(compute(op, a, b, 1, false).c, exact));
  }
}

TEST_CASE("what is no number stays none when factors are rounded, and large ones stay infinite") {
  constexpr float kInf = std::numeric_limits<float>::infinity(),
                  kNan = std::numeric_limits<float>::quiet_NaN();
  for (const bool across : {false, true}) {
    library::MatMulOp op = product(16, 16, 16, across, across);
    op.precision = MatmulPrecision::Medium;
    std::vector<float> a(16 * 16, 1), b(16 * 16, 1);
    const auto at = [&](std::size_t row, std::size_t k) { return across ? k * 16 + row : row * 16 + k; };
    a[at(1, 3)] = kInf;
    a[at(2, 15)] = kNan;
    // The only bits of this one are in the half that is dropped.
    a[at(3, 4)] = std::bit_cast<float>(0x7f800001u);
    a[at(4, 0)] = 1e-40f;
    const std::vector<float> c = compute(op, a, b, 1, false).c;
    for (std::size_t column = 0; column < 16; ++column) {
      CHECK(c[column] == 16);
      CHECK(c[16 + column] == kInf);
      CHECK(std::isnan(c[2 * 16 + column]));
      CHECK(std::isnan(c[3 * 16 + column]));
      CHECK(c[4 * 16 + column] == 15);
    }
  }
}

TEST_CASE("convolutions of f32 under medium precision are those of factors rounded to bf16") {
  using Direction = library::Conv2dOp::Direction;
  for (const Direction direction : {Direction::Forward, Direction::BackwardInput, Direction::BackwardWeight})
    for (const std::int64_t window : {1, 3})
      for (const std::int64_t channels : {3, 16, 40}) {
        library::Conv2dOp op;
        op.direction = direction;
        op.n = 3, op.c_in = channels, op.c_out = 24, op.h = op.w = 9, op.kh = op.kw = window;
        op.padding = {window / 2, window / 2};
        op.oh = op.ow = 9;
        CAPTURE(op.describe());
        const std::vector<float> a = drawn_numbers(op.elements_read(0), 5),
                                 b = drawn_numbers(op.elements_read(1), 6);
        const std::vector<float> exact = compute(op, a, b, 1, true).c;
        op.precision = MatmulPrecision::Medium;
        const Computed rounded = compute(op, a, b, 1, true);
        CHECK(same_bits(compute(op, a, b, 3, true).c, rounded.c));
        CHECK(same_bits(compute(op, a, b, 2, false).c, compute(op, a, b, 1, false).c));
        if (!rounded.how.ends_with("by oneDNN, by way of bf16")) {
          CHECK(same_bits(rounded.c, exact));
#if SINTER_HAS_ONEDNN
          CHECK_FALSE((runtime::host::multiplies_pairs() && channels >= 16));
#endif
          continue;
        }
        CHECK(channels >= 16);
        CHECK_FALSE(same_bits(rounded.c, exact));
        const std::vector<bfloat16> half_a(a.begin(), a.end()), half_b(b.begin(), b.end());
        library::Conv2dOp of_halves = op;
        of_halves.precision = MatmulPrecision::Highest;
        of_halves.stored = {DType::bf16, DType::bf16, std::nullopt};
        CHECK(same_bits(rounded.c, compute(of_halves, half_a, half_b, 1, true).c));
      }
}
