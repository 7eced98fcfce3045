// The host's convolutions by tiles and their gradients, held to sums of doubles.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "jit/library/conv2d.h"
#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/products/amx/convolution.h"
#include "src/runtime/host/products/conv2d.h"
#include "src/runtime/host/products/gemm_pairs.h"
#include "tests/support/drawn_numbers.h"
#include "tests/support/one_run.h"

using namespace sinter;
using testing::drawn_numbers;
using Direction = library::Conv2dOp::Direction;
using runtime::host::amx::Unit;

namespace {

using Pair = std::array<std::int64_t, 2>;

struct Case {
  std::int64_t n, c_in, h, w, c_out, kh, kw;
  Pair stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t groups = 1;
};

library::Conv2dOp convolution(Direction direction, const Case& c) {
  library::Conv2dOp op;
  op.direction = direction;
  op.n = c.n, op.c_in = c.c_in, op.h = c.h, op.w = c.w, op.c_out = c.c_out, op.kh = c.kh, op.kw = c.kw;
  op.stride = c.stride, op.padding = c.padding, op.dilation = c.dilation, op.groups = c.groups;
  op.oh = (c.h + 2 * c.padding[0] - c.dilation[0] * (c.kh - 1) - 1) / c.stride[0] + 1;
  op.ow = (c.w + 2 * c.padding[1] - c.dilation[1] * (c.kw - 1) - 1) / c.stride[1] + 1;
  op.x_last = op.y_last = true;
  return op;
}

/// The processor's where it has one: its sums are those of the emulation, by host_amx_test.
Unit unit() {
  if (!runtime::host::multiplies_pairs()) return Unit::None;
  const Unit found = runtime::host::amx::unit();
  return found == Unit::Amx ? found : Unit::Emulated;
}

/// Results of C, as they are stored.
template <class C>
std::vector<C> run(runtime::Executable& executable, runtime::Backend& host, const library::Conv2dOp& op,
                   std::span<const std::byte> a, std::span<const std::byte> b) {
  std::vector<C> c(static_cast<std::size_t>(op.elements_written(0)));
  const auto of_a = host.allocate(a.size()), of_b = host.allocate(b.size()),
             of_c = host.allocate(c.size() * sizeof(C));
  host.upload({of_a.get(), 0}, a);
  host.upload({of_b.get(), 0}, b);
  const runtime::BufferView views[] = {{of_a.get(), 0}, {of_b.get(), 0}, {of_c.get(), 0}};
  testing::run_alone(host, executable, {views, {}, {}});
  host.download({of_c.get(), 0}, std::as_writable_bytes(std::span(c)));
  return c;
}

template <class C = float>
std::vector<C> compute_bytes(const std::shared_ptr<runtime::host::ProductProgram>& program,
                             const library::Conv2dOp& op, std::span<const std::byte> a,
                             std::span<const std::byte> b, std::size_t threads) {
  const base::Environment before = base::environment();
  base::mutable_environment().host_threads = static_cast<std::int64_t>(threads);
  const auto host = runtime::make_host_backend();
  REQUIRE(program != nullptr);
  program->use_threads(threads);
  const std::vector<C> c = run<C>(*program, *host, op, a, b);
  base::mutable_environment() = before;
  return c;
}
std::vector<float> compute_by(const std::shared_ptr<runtime::host::ProductProgram>& program,
                              const library::Conv2dOp& op, const std::vector<float>& a,
                              const std::vector<float>& b, std::size_t threads) {
  return compute_bytes(program, op, std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), threads);
}
std::vector<float> compute_otherwise(const library::Conv2dOp& op, const std::vector<float>& a,
                                     const std::vector<float>& b, std::size_t threads) {
  return compute_by(runtime::host::make_conv2d(op), op, a, b, threads);
}
std::vector<float> compute(const library::Conv2dOp& op, const std::vector<float>& a,
                           const std::vector<float>& b, std::size_t threads) {
  return compute_by(runtime::host::amx::make_conv2d_by(unit(), op, runtime::host::make_conv2d), op, a, b,
                    threads);
}

struct Sums {
  std::vector<double> values, sizes;
};

/// What the definition says.
Sums sums_of(const library::Conv2dOp& op, const std::vector<float>& a, const std::vector<float>& b) {
  Sums sums;
  sums.values.resize(static_cast<std::size_t>(op.elements_written(0)));
  sums.sizes = sums.values;
  const std::int64_t in = op.c_in / op.groups, out = op.c_out / op.groups;
  for (std::int64_t n = 0; n < op.n; ++n)
    for (std::int64_t oy = 0; oy < op.oh; ++oy)
      for (std::int64_t ox = 0; ox < op.ow; ++ox)
        for (std::int64_t r = 0; r < op.kh; ++r)
          for (std::int64_t s = 0; s < op.kw; ++s) {
            const std::int64_t y = oy * op.stride[0] - op.padding[0] + r * op.dilation[0],
                               x = ox * op.stride[1] - op.padding[1] + s * op.dilation[1];
            if (y < 0 || y >= op.h || x < 0 || x >= op.w) continue;
            for (std::int64_t o = 0; o < op.c_out; ++o)
              for (std::int64_t i = 0; i < in; ++i) {
                const auto at_x = static_cast<std::size_t>(((n * op.h + y) * op.w + x) * op.c_in +
                                                           o / out * in + i),
                           at_y = static_cast<std::size_t>(((n * op.oh + oy) * op.ow + ox) * op.c_out + o),
                           at_w = static_cast<std::size_t>(((o * in + i) * op.kh + r) * op.kw + s);
                const bool forward = op.direction == Direction::Forward,
                           by_weight = op.direction == Direction::BackwardWeight;
                const double term = static_cast<double>(a[forward || by_weight ? at_x : at_y]) *
                                    static_cast<double>(b[by_weight ? at_y : at_w]);
                const std::size_t to = forward ? at_y : by_weight ? at_w : at_x;
                sums.values[to] += term;
                sums.sizes[to] += std::abs(term);
              }
          }
  return sums;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

constexpr Direction kDirections[] = {Direction::Forward, Direction::BackwardInput, Direction::BackwardWeight};
// Channels that are no multiples of 32, several phases, phases without taps, taps beyond the image, groups,
// windows that leave pixels over, rows as long as tiles.
const Case kCases[] = {{1, 1, 1, 1, 1, 1, 1},
                       {2, 32, 8, 8, 32, 3, 3, {1, 1}, {1, 1}},
                       {3, 33, 5, 7, 40, 3, 3, {1, 1}, {1, 1}},
                       {2, 64, 6, 6, 20, 1, 1},
                       {2, 40, 7, 7, 33, 3, 3, {2, 2}, {1, 1}},
                       {2, 32, 6, 6, 32, 1, 1, {2, 2}},
                       {1, 36, 9, 6, 34, 2, 3, {3, 3}, {2, 2}, {2, 2}},
                       {1, 34, 8, 9, 33, 3, 2, {1, 2}, {2, 0}, {1, 3}},
                       {1, 31, 7, 8, 32, 2, 4, {3, 1}, {0, 3}, {2, 1}},
                       {2, 64, 5, 5, 96, 3, 3, {1, 1}, {1, 1}, {1, 1}, 2},
                       {1, 3, 12, 12, 35, 5, 5, {2, 2}, {2, 2}},
                       {1, 32, 4, 4, 32, 3, 3, {1, 1}, {3, 3}},
                       {1, 32, 3, 32, 32, 3, 3, {1, 1}, {1, 1}},
                       {2, 40, 2, 51, 20, 3, 3, {1, 1}, {1, 1}},
                       {1, 32, 5, 40, 32, 3, 3, {2, 2}, {1, 1}},
                       {2, 70, 11, 3, 66, 4, 2, {2, 2}, {1, 1}},
                       {1, 32, 1, 2, 33, 1, 1, {3, 3}}};

}  // namespace

TEST_CASE("convolutions by tiles and their gradients are within the bounds of their precision") {
  if (unit() == Unit::None) return;
  for (const Case& c : kCases)
    for (const Direction direction : kDirections) {
      library::Conv2dOp op = convolution(direction, c);
      CAPTURE(op.describe());
      const std::vector<float> a = drawn_numbers(op.elements_read(0), 1),
                               b = drawn_numbers(op.elements_read(1), 2);
      const Sums wanted = sums_of(op, a, b);
      const double terms = direction == Direction::BackwardWeight
                               ? static_cast<double>(op.n * op.oh * op.ow)
                               : static_cast<double>(op.c_in * op.kh * op.kw + op.c_out);
      for (const auto& [precision, most] : {std::pair{MatmulPrecision::Highest, 0x1p-22},
                                            {MatmulPrecision::High, 0x1p-15},
                                            {MatmulPrecision::Medium, 0x1p-7}}) {
        op.precision = precision;
        const std::vector<float> got = compute(op, a, b, 1);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < got.size(); ++i)
          wrong += !(std::abs(static_cast<double>(got[i]) - wanted.values[i]) <=
                     (most + terms * 0x1p-25) * wanted.sizes[i]);
        CHECK(wrong == 0);
        CHECK(same_bits(compute(op, a, b, 3), got));
      }
    }
}

TEST_CASE("the gradient by the weight reads images of bf16, and is rounded once") {
  if (unit() == Unit::None) return;
  for (const Case& c : kCases)
    for (const int halves : {1, 2, 3}) {
      library::Conv2dOp op = convolution(Direction::BackwardWeight, c);
      CAPTURE(op.describe());
      CAPTURE(halves);
      std::vector<float> a = drawn_numbers(op.elements_read(0), 1), b = drawn_numbers(op.elements_read(1), 2);
      std::vector<std::byte> bytes[2];
      for (const int factor : {0, 1}) {
        std::vector<float>& values = factor == 0 ? a : b;
        const std::vector<bfloat16> rounded(values.begin(), values.end());
        const bool is_half = (halves >> factor & 1) != 0;
        if (is_half) {
          op.stored[static_cast<std::size_t>(factor)] = DType::bf16;
          for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(rounded[i]);
        }
        const auto of_values = std::as_bytes(std::span(values)),
                   of_rounded = std::as_bytes(std::span(rounded));
        const auto given = is_half ? of_rounded : of_values;
        bytes[factor].assign(given.begin(), given.end());
      }
      const Sums wanted = sums_of(op, a, b);
      const double terms = static_cast<double>(op.n * op.oh * op.ow);
      const auto program = runtime::host::amx::make_conv2d_by(unit(), op, runtime::host::make_conv2d);
      const std::vector<float> got = compute_bytes(program, op, bytes[0], bytes[1], 2);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < got.size(); ++i)
        wrong += !(std::abs(static_cast<double>(got[i]) - wanted.values[i]) <=
                   (0x1p-22 + terms * 0x1p-25) * wanted.sizes[i]);
      CHECK(wrong == 0);
      op.stored[2] = DType::bf16;
      const std::vector<bfloat16> rounded =
          compute_bytes<bfloat16>(runtime::host::amx::make_conv2d_by(unit(), op, runtime::host::make_conv2d),
                                  op, bytes[0], bytes[1], 2);
      wrong = 0;
      for (std::size_t i = 0; i < got.size(); ++i) wrong += rounded[i].bits() != bfloat16(got[i]).bits();
      CHECK(wrong == 0);
    }
}

TEST_CASE("what has numbers that tiles do not take is left to the other program") {
  if (unit() == Unit::None) return;
  const Case c{2, 32, 6, 6, 32, 3, 3, {1, 1}, {1, 1}};
  for (const Direction direction : kDirections)
    for (const bool in_first : {true, false})
      for (const float number : {std::numeric_limits<float>::infinity(), std::nanf(""), 3e38f}) {
        const library::Conv2dOp op = convolution(direction, c);
        CAPTURE(op.describe());
        CAPTURE(in_first);
        CAPTURE(number);
        std::vector<float> a = drawn_numbers(op.elements_read(0), 1),
                           b = drawn_numbers(op.elements_read(1), 2);
        (in_first ? a : b)[100] = number;
        CHECK(same_bits(compute(op, a, b, 2), compute_otherwise(op, a, b, 2)));
      }
}

TEST_CASE("images that are small as a whole are left to the other program") {
  if (unit() == Unit::None) return;
  for (const Direction direction : kDirections) {
    const library::Conv2dOp op = convolution(direction, {2, 32, 6, 6, 32, 3, 3, {1, 1}, {1, 1}});
    CAPTURE(op.describe());
    std::vector<float> a = drawn_numbers(op.elements_read(0), 1);
    const std::vector<float> b = drawn_numbers(op.elements_read(1), 2);
    for (float& x : a) x *= 1e-30f;
    CHECK(same_bits(compute(op, a, b, 2), compute_otherwise(op, a, b, 2)));
  }
}

TEST_CASE("small weights keep their digits") {
  if (unit() == Unit::None) return;
  for (const Direction direction : {Direction::Forward, Direction::BackwardInput}) {
    const library::Conv2dOp op = convolution(direction, {1, 32, 6, 6, 40, 3, 3, {1, 1}, {1, 1}});
    CAPTURE(op.describe());
    const std::vector<float> a = drawn_numbers(op.elements_read(0), 3);
    std::vector<float> b = drawn_numbers(op.elements_read(1), 4);
    for (float& x : b) x *= 1e-30f;
    const Sums wanted = sums_of(op, a, b);
    const std::vector<float> got = compute(op, a, b, 2);
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(std::abs(static_cast<double>(got[i]) - wanted.values[i]) <= 0x1p-20 * wanted.sizes[i]);
  }
}

TEST_CASE("tiles convolve f32 with channels last alone, where that is faster") {
  if (unit() == Unit::None) return;
  const base::Environment before = base::environment();
  base::mutable_environment().amx = "emulated";
  const auto how = [&](const library::Conv2dOp& op) {
    const auto host = runtime::make_host_backend();
    return host->prepare(op)->how({}, 1);
  };
  library::Conv2dOp op = convolution(Direction::Forward, {8, 128, 16, 16, 128, 3, 3, {1, 1}, {1, 1}});
  CHECK(how(op).ends_with("by tiles of the host, as 6 products of bf16"));
  op.x_last = op.y_last = false;
  CHECK(how(op).find("tiles") == std::string::npos);
  op = convolution(Direction::Forward, {8, 3, 16, 16, 16, 3, 3, {1, 1}, {1, 1}});
  CHECK(how(op).find("tiles") == std::string::npos);
  base::mutable_environment() = before;
}
