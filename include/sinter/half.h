// The 16-bit floating-point types: storage that converts to and from float.
#pragma once

#include <bit>
#include <cstdint>

namespace sinter {

namespace detail {

/// Rounds to nearest, ties to even; overflow gives infinity; a NaN gives a quiet NaN.
constexpr std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  const std::uint32_t nan = bits >> 16 | 0x40u;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

constexpr float bfloat16_value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

constexpr std::uint16_t float16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  // The exponent's bias is 127 in f32 and 15 in f16. Rounding up may carry into the exponent, which is right:
  // the next power of two, or infinity.
  const std::uint32_t moved = size - (112u << 23);
  const std::uint32_t whole = (moved + 0xfffu + (moved >> 13 & 1u)) >> 13;
  const std::uint32_t normal = whole < 0x7c00u ? whole : 0x7c00u;
  // f16 numbers below 2^-14 are multiples of 2^-24, the step of f32 numbers in [0.5, 1): adding 0.5 rounds.
  const float small = std::bit_cast<float>(size < 0x38800000u ? size : 0u) + 0.5f;
  const std::uint32_t denormal = std::bit_cast<std::uint32_t>(small) - 0x3f000000u;
  const std::uint32_t nan = 0x7e00u | (size >> 13 & 0x3ffu);
  const std::uint32_t number = size < 0x38800000u ? denormal : normal;
  return static_cast<std::uint16_t>(sign | (size > 0x7f800000u ? nan : number));
}

constexpr float float16_value(std::uint16_t bits) {
  const std::uint32_t sign = (std::uint32_t{bits} & 0x8000u) << 16, size = bits & 0x7fffu;
  const std::uint32_t denormal =
      std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(size)) * 0x1p-24f);
  const std::uint32_t number = (size << 13) + (size < 0x7c00u ? 112u << 23 : 224u << 23);
  return std::bit_cast<float>(sign | (size < 0x400u ? denormal : number));
}

}  // namespace detail

/// The upper half of a float: its range, 8 bits of precision (a step of 2^-7 above 1). The element type of
/// DType::bf16.
///
/// Conversion from float rounds to nearest, ties to even; a NaN stays a NaN. Conversion to float is exact.
/// There is no arithmetic: convert to float.
class bfloat16 {
 public:
  constexpr bfloat16() = default;
  constexpr explicit bfloat16(float value) : bits_(detail::bfloat16_bits(value)) {}
  static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 result;
    result.bits_ = bits;
    return result;
  }
  constexpr operator float() const { return detail::bfloat16_value(bits_); }
  constexpr std::uint16_t bits() const { return bits_; }

 private:
  std::uint16_t bits_ = 0;
};

/// IEEE 754 binary16: 11 bits of precision, numbers up to 65504; values from 65520 on become infinite. The
/// element type of DType::f16. Otherwise as bfloat16.
class float16 {
 public:
  constexpr float16() = default;
  constexpr explicit float16(float value) : bits_(detail::float16_bits(value)) {}
  static constexpr float16 from_bits(std::uint16_t bits) {
    float16 result;
    result.bits_ = bits;
    return result;
  }
  constexpr operator float() const { return detail::float16_value(bits_); }
  constexpr std::uint16_t bits() const { return bits_; }

 private:
  std::uint16_t bits_ = 0;
};

static_assert(sizeof(bfloat16) == 2 && sizeof(float16) == 2);

}  // namespace sinter
