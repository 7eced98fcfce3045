// The elements of a tensor as plain host data.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/dtype.h>
#include <sinter/error.h>
#include <sinter/scalar.h>
#include <sinter/shape.h>

namespace sinter {

namespace detail {
[[noreturn]] SINTER_API void throw_element_type(DType dtype, DType wanted, const Location& where);
/// The element of `dtype` at `bytes`, of a tensor of that shape, which has to have one element.
SINTER_API Scalar only_element(const Shape& shape, DType dtype, const std::byte* bytes,
                               const Location& where);
}  // namespace detail

/// What `to_data` and `read` give: a tensor's elements in host memory, row-major, with their shape and dtype.
class SINTER_API TensorData {
 public:
  TensorData();
  TensorData(const TensorData&);
  TensorData(TensorData&&) noexcept;
  TensorData& operator=(const TensorData&);
  TensorData& operator=(TensorData&&) noexcept;
  ~TensorData();
  /// Zeros.
  TensorData(const Shape& shape, DType dtype);

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::int64_t numel() const { return shape_.numel(); }

  /// numel() * size_of(dtype()) bytes; a bool is the byte 0 or 1. AnyTensor::from_bytes takes them.
  std::span<const std::byte> bytes() const;
  std::span<std::byte> bytes();

  /// The elements where they are. Throws DTypeError when T is not the C++ type of the dtype.
  template <class T>
  std::span<const T> span(Location where = Location::current()) const {
    check<T>(where);
    return {reinterpret_cast<const T*>(bytes_.data()), static_cast<std::size_t>(numel())};
  }
  /// A copy of them. Throws as `span` does.
  template <class T>
  std::vector<T> to_vector(Location where = Location::current()) const {
    const std::span<const T> elements = span<T>(where);
    return std::vector<T>(elements.begin(), elements.end());
  }
  /// The only element. Throws ShapeError when there is not exactly one, DTypeError for a u64 of 2^63 or more.
  Scalar item(Location where = Location::current()) const {
    return detail::only_element(shape_, dtype_, bytes_.data(), where);
  }

 private:
  template <class T>
  void check(const Location& where) const {
    if (dtype_ != dtype_of<T>) detail::throw_element_type(dtype_, dtype_of<T>, where);
  }

  Shape shape_{0};
  DType dtype_ = DType::f32;
  std::vector<std::byte> bytes_;
};

namespace detail {

/// The type that `item()` returns.
template <class Kind>
struct Item {
  using type = double;
};
template <>
struct Item<Int> {
  using type = std::int64_t;
};
template <>
struct Item<Bool> {
  using type = bool;
};

template <class Kind>
typename Item<Kind>::type item_as(const Scalar& value) {
  if constexpr (std::same_as<Kind, Float>)
    return value.as_double();
  else
    return static_cast<typename Item<Kind>::type>(value.as_int());
}

}  // namespace detail

/// The same of a tensor whose kind is known: `item()` is a double, an int64_t or a bool.
template <class Kind>
class KindData : public TensorData {
 public:
  KindData() = default;
  explicit KindData(TensorData data) : TensorData(std::move(data)) {}
  typename detail::Item<Kind>::type item(Location where = Location::current()) const {
    return detail::item_as<Kind>(TensorData::item(where));
  }
};

}  // namespace sinter
