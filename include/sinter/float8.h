// The 8-bit floating-point types: storage that converts to and from float.
#pragma once

#include <bit>
#include <cstdint>

#include <sinter/half.h>

namespace sinter {

namespace detail {

/// Rounds to nearest, ties to even. What rounds to more than 448 has no number: it is a NaN, 0x7f or 0xff.
constexpr std::uint8_t float8_e4m3_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 24 & 0x80u, size = bits & 0x7fffffffu;
  // The exponent's bias is 127 in f32 and 7 here. A carry of the fraction into the exponent is right.
  const std::uint32_t moved = size - (120u << 23);
  const std::uint32_t rounded = (moved + 0x7ffffu + (moved >> 20 & 1u)) >> 20,
                      normal = rounded < 0x7fu ? rounded : 0x7fu;
  // Numbers below 2^-6 are multiples of 2^-9, the step of f32 numbers in [2^14, 2^15): adding 2^14 rounds.
  const bool is_small = size < 0x3c800000u;
  const float small = std::bit_cast<float>(is_small ? size : 0u) + 0x1p14f;
  const std::uint32_t denormal = std::bit_cast<std::uint32_t>(small) - 0x46800000u;
  return static_cast<std::uint8_t>(sign | (is_small ? denormal : normal));
}

constexpr float float8_e4m3_value(std::uint8_t bits) {
  const std::uint32_t sign = (std::uint32_t{bits} & 0x80u) << 24, size = bits & 0x7fu;
  const std::uint32_t denormal =
      std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(size)) * 0x1p-9f);
  const std::uint32_t number = (size << 20) + (size < 0x7fu ? 120u << 23 : 240u << 23);
  return std::bit_cast<float>(sign | (size < 8u ? denormal : number));
}

/// Rounds to nearest, ties to even; overflow gives infinity; each NaN gives 0x7f or 0xff.
constexpr std::uint8_t float8_e5m2_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 24 & 0x80u, size = bits & 0x7fffffffu;
  const std::uint32_t moved = size - (112u << 23);
  const std::uint32_t rounded = (moved + 0xfffffu + (moved >> 21 & 1u)) >> 21,
                      normal = rounded < 0x7cu ? rounded : 0x7cu;
  // Numbers below 2^-14 are multiples of 2^-16, the step of f32 numbers in [128, 256).
  const bool is_small = size < 0x38800000u;
  const float small = std::bit_cast<float>(is_small ? size : 0u) + 0x1p7f;
  const std::uint32_t denormal = std::bit_cast<std::uint32_t>(small) - 0x43000000u;
  const std::uint32_t number = is_small ? denormal : normal;
  return static_cast<std::uint8_t>(sign | (size > 0x7f800000u ? 0x7fu : number));
}

/// The upper half of an f16 number.
constexpr float float8_e5m2_value(std::uint8_t bits) {
  return float16_value(static_cast<std::uint16_t>(std::uint32_t{bits} << 8));
}

}  // namespace detail

/// An 8-bit float with 4 bits of exponent and 3 of fraction: "E4M3" of the OCP 8-bit floating point
/// specification, PyTorch's float8_e4m3fn. The element type of DType::f8_e4m3.
///
/// Numbers from 2^-9 (steps of 2^-9 below 2^-6) to 448, with 4 bits of precision. There is no infinity; the
/// two codes with all bits but the sign set are NaNs.
///
/// Conversion from float rounds to nearest, ties to even, and does not saturate: what is more than 464, which
/// is half-way to the number that 448 would be followed by, becomes a NaN, as infinity does. Clamp to
/// [-448, 448] first where that is wanted. Conversion to float is exact. There is no arithmetic.
class float8_e4m3 {
 public:
  constexpr float8_e4m3() = default;
  constexpr explicit float8_e4m3(float value) : bits_(detail::float8_e4m3_bits(value)) {}
  static constexpr float8_e4m3 from_bits(std::uint8_t bits) {
    float8_e4m3 result;
    result.bits_ = bits;
    return result;
  }
  constexpr operator float() const { return detail::float8_e4m3_value(bits_); }
  constexpr std::uint8_t bits() const { return bits_; }

 private:
  std::uint8_t bits_ = 0;
};

/// An 8-bit float with 5 bits of exponent and 2 of fraction, "E5M2", PyTorch's float8_e5m2. The element type
/// of DType::f8_e5m2.
///
/// Numbers from 2^-16 (steps of 2^-16 below 2^-14) to 57344, with 3 bits of precision, infinities and NaNs as
/// IEEE 754 has them: the upper half of float16. Conversion from float rounds to nearest, ties to even;
/// values from 61440 on become infinite; a NaN becomes 0x7f or 0xff. Otherwise as float8_e4m3.
class float8_e5m2 {
 public:
  constexpr float8_e5m2() = default;
  constexpr explicit float8_e5m2(float value) : bits_(detail::float8_e5m2_bits(value)) {}
  static constexpr float8_e5m2 from_bits(std::uint8_t bits) {
    float8_e5m2 result;
    result.bits_ = bits;
    return result;
  }
  constexpr operator float() const { return detail::float8_e5m2_value(bits_); }
  constexpr std::uint8_t bits() const { return bits_; }

 private:
  std::uint8_t bits_ = 0;
};

static_assert(sizeof(float8_e4m3) == 1 && sizeof(float8_e5m2) == 1);

}  // namespace sinter
