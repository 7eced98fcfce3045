// The 16-bit floating-point types on the host: all values, and f32 sampled densely, against their definition.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <sinter/dtype.h>

using namespace sinter;

namespace {

static_assert(bfloat16(1.0f).bits() == 0x3f80 && float16(1.0f).bits() == 0x3c00);
static_assert(bfloat16(-2.0f) == -2.0f && float16(65504.0f) == 65504.0f);
static_assert(float16::from_bits(1) == 0x1p-24f && bfloat16::from_bits(0x7f80) > 3e38f);
static_assert(dtype_of<bfloat16> == DType::bf16 && size_of(DType::f16) == 2 &&
              arithmetic_of(DType::bf16) == DType::f32);

/// The nearest number with `precision` bits, least exponent `least` and largest number `largest`, computed in
/// doubles.
double nearest(double x, int precision, int least, double largest) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), least);
  const double step = std::ldexp(1.0, exponent - precision + 1);
  const double result = std::nearbyint(x / step) * step;
  return std::abs(result) > largest ? std::copysign(HUGE_VAL, x) : result;
}
double nearest_bf16(double x) { return nearest(x, 8, -126, 0x1.fep127); }
double nearest_f16(double x) { return nearest(x, 11, -14, 65504); }

template <class Half>
void check_patterns(unsigned infinity) {
  int wrong = 0;
  for (unsigned i = 0; i < 65536; ++i) {
    const Half h = Half::from_bits(static_cast<std::uint16_t>(i));
    const float x = h;
    if ((i & 0x7fff) > infinity)
      wrong += !std::isnan(x) || (Half(x).bits() & 0x7fff) <= infinity;
    else
      wrong += Half(x).bits() != i || std::signbit(x) != ((i & 0x8000) != 0);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("all patterns come back from float") {
  check_patterns<bfloat16>(0x7f80);
  check_patterns<float16>(0x7c00);
}

TEST_CASE("floats become the nearest, ties to even") {
  int wrong = 0;
  const auto check = [&](std::uint32_t bits) {
    const auto x = std::bit_cast<float>(bits);
    if (std::isnan(x)) {
      wrong += !std::isnan(static_cast<float>(bfloat16(x))) || !std::isnan(static_cast<float>(float16(x)));
      return;
    }
    const float b = bfloat16(x), h = float16(x);
    wrong += b != nearest_bf16(x) || std::signbit(b) != std::signbit(x);
    wrong += h != nearest_f16(x) || std::signbit(h) != std::signbit(x);
  };
  // A prime step visits all exponents and all low bits; ties and their neighbours are tested separately.
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 2741)
    check(static_cast<std::uint32_t>(bits));
  for (std::uint32_t high = 0; high < 65536; ++high)
    for (std::uint32_t low :
         {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0xf000u, 0xffffu})
      check(high << 16 | low);
  CHECK(wrong == 0);
}
