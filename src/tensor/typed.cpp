// The parts of the typed tensor that need no templates.
#include <cstring>

#include <sinter/detail/typed.h>

#include "src/tensor/check.h"

namespace sinter::detail {

void throw_mismatch(const AnyTensor& any, std::size_t rank, std::string_view kind, const Location& where) {
  if (any.rank() != rank)
    throw ShapeError("[Tensor] a tensor of shape " + to_string(any.shape()) + " does not have rank " +
                         std::to_string(rank),
                     where);
  throw DTypeError("[Tensor] a tensor of dtype " + std::string(name_of(any.dtype())) + " is not of kind " +
                       std::string(kind),
                   where);
}

void throw_element_type(const AnyTensor& any, DType wanted, const Location& where) {
  throw DTypeError("[to_vector] the tensor holds " + std::string(name_of(any.dtype())) + ", not " +
                       std::string(name_of(wanted)),
                   where);
}

void check_dtype_of_kind(bool fits, DType dtype, std::string_view kind, const Location& where) {
  if (!fits)
    throw DTypeError(
        "[Tensor] " + std::string(name_of(dtype)) + " is not a dtype of kind " + std::string(kind), where);
}

void check_row(std::size_t size, std::int64_t expected, const Location& where) {
  if (static_cast<std::int64_t>(size) != expected)
    throw ShapeError(
        "[from_data] rows differ in length: " + std::to_string(expected) + " and " + std::to_string(size),
        where);
}

namespace {

template <class T>
AnyTensor from_scalars_as(std::span<const Scalar> scalars, const Shape& shape, DType dtype,
                          const Device& device, const Location& where) {
  std::vector<T> elements;
  elements.reserve(scalars.size());
  for (const Scalar& scalar : scalars) {
    const Scalar fitted = tensor::fit("from_data", scalar, dtype, where);
    if constexpr (is_half(dtype_of<T>))
      elements.push_back(T(static_cast<float>(fitted.as_double())));
    else
      elements.push_back(is_float(dtype) ? static_cast<T>(fitted.as_double())
                                         : static_cast<T>(fitted.as_int()));
  }
  return AnyTensor::from_bytes(std::as_bytes(std::span<const T>(elements)), shape, dtype, device, where);
}

template <class T>
T element(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

}  // namespace

AnyTensor from_scalars(std::span<const Scalar> scalars, const Shape& shape, DType dtype, const Device& device,
                       const Location& where) {
  switch (dtype) {
    case DType::f32: return from_scalars_as<float>(scalars, shape, dtype, device, where);
    case DType::f64: return from_scalars_as<double>(scalars, shape, dtype, device, where);
    case DType::bf16: return from_scalars_as<bfloat16>(scalars, shape, dtype, device, where);
    case DType::f16: return from_scalars_as<float16>(scalars, shape, dtype, device, where);
    case DType::i32: return from_scalars_as<std::int32_t>(scalars, shape, dtype, device, where);
    case DType::i64: return from_scalars_as<std::int64_t>(scalars, shape, dtype, device, where);
    case DType::u8:
    case DType::boolean: break;
  }
  return from_scalars_as<std::uint8_t>(scalars, shape, dtype, device, where);
}

Scalar item(const AnyTensor& any, const Location& where) {
  if (any.numel() != 1)
    throw ShapeError("[item] a tensor of shape " + to_string(any.shape()) + " is not one number", where);
  std::byte bytes[8];
  any.read_bytes(std::span(bytes, size_of(any.dtype())), where);
  switch (any.dtype()) {
    case DType::f32: return element<float>(bytes);
    case DType::f64: return element<double>(bytes);
    case DType::bf16: return static_cast<float>(element<bfloat16>(bytes));
    case DType::f16: return static_cast<float>(element<float16>(bytes));
    case DType::i32: return element<std::int32_t>(bytes);
    case DType::i64: return element<std::int64_t>(bytes);
    case DType::u8: return element<std::uint8_t>(bytes);
    case DType::boolean: break;
  }
  return element<std::uint8_t>(bytes) != 0;
}

}  // namespace sinter::detail
