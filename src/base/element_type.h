// From a dtype to the C++ type of its elements.
#pragma once

#include <cstdint>
#include <type_traits>

#include <sinter/dtype.h>

namespace sinter::base {

/// Calls f(std::type_identity<T>{}), where T is the type of an element in memory; that of a truth value is
/// std::uint8_t.
template <class F>
decltype(auto) with_element_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f(std::type_identity<float>{});
    case DType::f64: return f(std::type_identity<double>{});
    case DType::bf16: return f(std::type_identity<bfloat16>{});
    case DType::f16: return f(std::type_identity<float16>{});
    case DType::f8_e4m3: return f(std::type_identity<float8_e4m3>{});
    case DType::f8_e5m2: return f(std::type_identity<float8_e5m2>{});
    case DType::i8: return f(std::type_identity<std::int8_t>{});
    case DType::i16: return f(std::type_identity<std::int16_t>{});
    case DType::i32: return f(std::type_identity<std::int32_t>{});
    case DType::i64: return f(std::type_identity<std::int64_t>{});
    case DType::u16: return f(std::type_identity<std::uint16_t>{});
    case DType::u32: return f(std::type_identity<std::uint32_t>{});
    case DType::u64: return f(std::type_identity<std::uint64_t>{});
    case DType::u8:
    case DType::boolean: break;
  }
  return f(std::type_identity<std::uint8_t>{});
}

}  // namespace sinter::base
