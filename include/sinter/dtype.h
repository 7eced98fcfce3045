// Element types at run time, and the C++ types they correspond to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <sinter/half.h>

namespace sinter {

/// Kinds of tensor: the part of the element type that the compiler checks.
struct Float;
struct Int;
struct Bool;

/// Element type of a tensor. `u8` is a storage type (images, files): it can be moved, viewed and cast, but
/// has no arithmetic.
///
/// `bf16` and `f16` are stored in 16 bits and computed in f32: an operation converts its operands to f32
/// (exactly), computes as for f32, long sums included, and rounds the result to nearest even when it stores
/// it. Where several operations fuse into one kernel, an intermediate result is neither stored nor rounded,
/// so fused results may be more exact than unfused ones; an explicit cast always rounds. Operations that only
/// move elements (views, gather, cat, where) keep their bits. Random numbers are generated in f32 and cast.
enum class DType : std::uint8_t { f32, f64, i32, i64, u8, boolean, bf16, f16 };
inline constexpr std::size_t kDTypeCount = 8;

/// Bytes of one element; a bool takes one byte.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::i32: return 4;
    case DType::f64:
    case DType::i64: return 8;
    case DType::bf16:
    case DType::f16: return 2;
    case DType::u8:
    case DType::boolean: return 1;
  }
  return 0;
}

/// True iff a 16-bit float, which is computed in f32.
constexpr bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }
constexpr bool is_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64 || is_half(dtype); }
constexpr bool is_int(DType dtype) {
  return dtype == DType::i32 || dtype == DType::i64 || dtype == DType::u8;
}

/// The dtype that elements of `dtype` are computed in.
constexpr DType arithmetic_of(DType dtype) { return is_half(dtype) ? DType::f32 : dtype; }

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
