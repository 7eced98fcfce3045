// Element types at run time, and the C++ types they correspond to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <sinter/float8.h>
#include <sinter/half.h>

namespace sinter {

/// Kinds of tensor: the part of the element type that the compiler checks.
struct Float;
struct Int;
struct Bool;

/// Element type of a tensor.
///
/// Integers wrap around: a result is the exact one modulo 2 to the number of bits. Those below 32 bits are
/// computed in i32, u32 and u64 in i64, and each result is one of its own dtype again, so fused equals
/// unfused. Casts of floats to integers cut the fraction off and end at the least and the greatest number;
/// NaN gives 0. Casts between integers keep the low bits.
///
/// `bf16` and `f16` are stored in 16 bits and computed in f32: an operation converts its operands to f32
/// (exactly), computes as for f32, long sums included, and rounds the result to nearest even when it stores
/// it. Where several operations fuse into one kernel, an intermediate result is neither stored nor rounded,
/// so fused results may be more exact than unfused ones; an explicit cast always rounds. Operations that only
/// move elements (views, gather, cat, where) keep their bits. Random numbers are generated in f32 and cast.
///
/// `f8_e4m3` and `f8_e5m2` are stored in 8 bits and computed in f32, by the same rules. They have 4 and 3
/// bits of precision, and f8_e4m3 has no infinity: what is larger than its greatest number, 448, becomes a
/// NaN (float8.h). They are made for the factors of products, with a scale beside them.
enum class DType : std::uint8_t {
  f32,
  f64,
  i32,
  i64,
  u8,
  boolean,
  bf16,
  f16,
  i8,
  i16,
  u16,
  u32,
  u64,
  f8_e4m3,
  f8_e5m2
};
inline constexpr std::size_t kDTypeCount = 15;

/// Bytes of one element; a bool takes one byte.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::i32:
    case DType::u32: return 4;
    case DType::f64:
    case DType::i64:
    case DType::u64: return 8;
    case DType::bf16:
    case DType::f16:
    case DType::i16:
    case DType::u16: return 2;
    case DType::i8:
    case DType::u8:
    case DType::boolean:
    case DType::f8_e4m3:
    case DType::f8_e5m2: return 1;
  }
  return 0;
}

/// True iff a 16-bit float.
constexpr bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }
/// True iff an 8-bit float.
constexpr bool is_f8(DType dtype) { return dtype == DType::f8_e4m3 || dtype == DType::f8_e5m2; }
/// True iff a float of 16 or 8 bits, which is computed in f32.
constexpr bool is_stored_float(DType dtype) { return is_half(dtype) || is_f8(dtype); }
constexpr bool is_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || is_stored_float(dtype);
}
constexpr bool is_int(DType dtype) { return !is_float(dtype) && dtype != DType::boolean; }
constexpr bool is_unsigned(DType dtype) {
  return dtype == DType::u8 || dtype == DType::u16 || dtype == DType::u32 || dtype == DType::u64;
}

/// The dtype that elements of `dtype` are computed in.
constexpr DType arithmetic_of(DType dtype) {
  if (is_stored_float(dtype)) return DType::f32;
  if (dtype == DType::u32 || dtype == DType::u64) return DType::i64;
  return is_int(dtype) && size_of(dtype) < 4 ? DType::i32 : dtype;
}
/// True iff an integer that is computed in another dtype.
constexpr bool is_stored_int(DType dtype) { return is_int(dtype) && arithmetic_of(dtype) != dtype; }

/// The dtype in which two dtypes meet, PyTorch's: what both fit in. Numbers go before truth values, floats
/// before integers; of two floats it is the wider one, f32 of two of 16 bits or two of 8, of which neither
/// holds the other (PyTorch has no rule for the latter); of an integer with a sign and one without the next
/// larger with a sign. Nothing holds u64 and a sign: nullopt.
constexpr std::optional<DType> promote(DType a, DType b) {
  if (a == b || b == DType::boolean) return a;
  if (a == DType::boolean) return b;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (is_float(a) && size_of(a) == size_of(b)) return DType::f32;
  if (is_float(a)) return size_of(a) > size_of(b) ? a : b;
  if (is_unsigned(a) == is_unsigned(b)) return size_of(a) > size_of(b) ? a : b;
  const DType with_sign = is_unsigned(a) ? b : a, without = is_unsigned(a) ? a : b;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  switch (without) {
    case DType::u8: return DType::i16;
    case DType::u16: return DType::i32;
    case DType::u32: return DType::i64;
    default: return std::nullopt;
  }
}

constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return "f32";
    case DType::f64: return "f64";
    case DType::i32: return "i32";
    case DType::i64: return "i64";
    case DType::u8: return "u8";
    case DType::boolean: return "bool";
    case DType::bf16: return "bf16";
    case DType::f16: return "f16";
    case DType::i8: return "i8";
    case DType::i16: return "i16";
    case DType::u16: return "u16";
    case DType::u32: return "u32";
    case DType::u64: return "u64";
    case DType::f8_e4m3: return "f8_e4m3";
    case DType::f8_e5m2: return "f8_e5m2";
  }
  return "?";
}

/// The default dtype of each kind.
template <class Kind>
inline constexpr DType default_dtype = DType::f32;
template <>
inline constexpr DType default_dtype<Int> = DType::i64;
template <>
inline constexpr DType default_dtype<Bool> = DType::boolean;

/// The dtype of a C++ element type.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::i8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::i16;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::u16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::u32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType value = DType::u64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};
template <>
struct DTypeOf<bfloat16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct DTypeOf<float16> {
  static constexpr DType value = DType::f16;
};
template <>
struct DTypeOf<float8_e4m3> {
  static constexpr DType value = DType::f8_e4m3;
};
template <>
struct DTypeOf<float8_e5m2> {
  static constexpr DType value = DType::f8_e5m2;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

/// True iff a tensor of kind `Kind` may have elements of `dtype`.
template <class Kind>
constexpr bool fits_kind(DType dtype) {
  return is_float(dtype);
}
template <>
constexpr bool fits_kind<Int>(DType dtype) {
  return is_int(dtype);
}
template <>
constexpr bool fits_kind<Bool>(DType dtype) {
  return dtype == DType::boolean;
}

}  // namespace sinter
