// The parts of the typed tensor that need no templates.
#include <cstring>
#include <limits>

#include <sinter/detail/typed.h>

#include "src/base/element_type.h"
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

void throw_element_type(DType dtype, DType wanted, const Location& where) {
  throw DTypeError(
      "[to_vector] the tensor holds " + std::string(name_of(dtype)) + ", not " + std::string(name_of(wanted)),
      where);
}

void check_element_type(const AnyTensor& any, DType wanted, const Location& where) {
  const DType dtype = tensor::value_of("to_vector", any, where).dtype;
  if (dtype != wanted) throw_element_type(dtype, wanted, where);
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
    if constexpr (is_stored_float(dtype_of<T>))
      elements.push_back(T(static_cast<float>(fitted.as_double())));
    else
      elements.push_back(is_float(dtype) ? static_cast<T>(fitted.as_double())
                                         : static_cast<T>(fitted.as_int()));
  }
  return AnyTensor::from_bytes(std::as_bytes(std::span<const T>(elements)), shape, dtype, device, where);
}

/// Throws DTypeError beyond what item() gives.
Scalar unsigned_scalar(std::uint64_t value, const Location& where) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw DTypeError("[item] " + std::to_string(value) +
                         " does not fit the int64_t that item() gives: to_vector() reads u64",
                     where);
  return value;
}

template <class T>
T element(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

}  // namespace

Braces::Braces() = default;
Braces::~Braces() = default;
void Braces::add(const Scalar& number) { numbers_.push_back(number); }

AnyTensor Braces::made(const Dims& sizes, DType dtype, const Device& device, const Location& where) const {
  return base::with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    return from_scalars_as<T>(numbers_, Shape(sizes), dtype, device, where);
  });
}

AnyTensor from_elements(const void* elements, std::size_t bytes, const Shape& shape, DType dtype,
                        const Device& device, const Location& where) {
  return AnyTensor::from_bytes({static_cast<const std::byte*>(elements), bytes}, shape, dtype, device, where);
}

void read_elements(const AnyTensor& any, void* to, std::size_t bytes, const Location& where) {
  any.read_bytes({static_cast<std::byte*>(to), bytes}, where);
}

std::vector<bool> truth_values_of(const AnyTensor& any, const Location& where) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(any.numel()));
  any.read_bytes(std::as_writable_bytes(std::span(bytes)), where);
  return {bytes.begin(), bytes.end()};
}

Axes axes_of(const std::int64_t* axes, std::size_t count) { return Axes(Dims(std::span(axes, count))); }

Dims flattened_sizes(const Shape& shape, std::size_t rank) {
  Dims sizes;
  std::int64_t rest = 1;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (i + 1 < rank)
      sizes.push_back(shape[i]);
    else
      rest *= shape[i];
  }
  sizes.push_back(rest);
  return sizes;
}

Scalar only_element(const Shape& shape, DType dtype, const std::byte* bytes, const Location& where) {
  if (shape.numel() != 1)
    throw ShapeError("[item] a tensor of shape " + to_string(shape) + " is not one number", where);
  return base::with_element_type(dtype, [&]<class T>(std::type_identity<T>) -> Scalar {
    const T value = element<T>(bytes);
    if constexpr (is_stored_float(dtype_of<T>))
      return static_cast<float>(value);
    else if constexpr (std::is_same_v<T, std::uint64_t>)
      return unsigned_scalar(value, where);
    else if (dtype == DType::boolean)
      return value != 0;
    else
      return value;
  });
}

Scalar item(const AnyTensor& any, const Location& where) {
  tensor::value_of("item", any, where);
  std::byte bytes[8] = {};
  if (any.numel() == 1) any.read_bytes(std::span(bytes, size_of(any.dtype())), where);
  return only_element(any.shape(), any.dtype(), bytes, where);
}

}  // namespace sinter::detail
