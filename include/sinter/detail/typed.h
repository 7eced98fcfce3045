// Helpers of Tensor<Rank, Kind>: numbers, nested braces, operands with the caller's line.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>

namespace sinter {

template <std::size_t Rank, class Kind = Float>
class Tensor;

/// The C++ types that convert to one element of a kind: any number for Float, integers for Int, bool for
/// Bool.
template <class T, class Kind>
concept NumberFor = std::is_arithmetic_v<T> &&
    (std::same_as<T, bool> == std::same_as<Kind, Bool>)&&(std::same_as<Kind, Float> || std::integral<T>);

/// One element of a tensor of `Kind`, given as a C++ number.
template <class Kind>
struct Number {
  template <NumberFor<Kind> T>
  Number(T number) : value(number) {}
  Scalar value;
};

namespace detail {

/// A tensor, with a rank in its type or without one.
template <class T>
concept AnyKindOfTensor = std::derived_from<std::remove_cvref_t<T>, AnyTensor> || requires {
  typename std::remove_cvref_t<T>::ElementKind;
};

/// The handle inside a typed tensor, for who replaces it by one of the same rank and kind.
template <std::size_t Rank, class Kind>
AnyTensor& handle_of(Tensor<Rank, Kind>& tensor) {
  return tensor.any_;
}

/// Tag: the caller knows that rank and kind of the AnyTensor are right.
struct Trusted {};
inline constexpr Trusted trusted;

[[noreturn]] SINTER_API void throw_mismatch(const AnyTensor& any, std::size_t rank, std::string_view kind,
                                            const Location& where);
SINTER_API void check_dtype_of_kind(bool fits, DType dtype, std::string_view kind, const Location& where);
SINTER_API void check_row(std::size_t size, std::int64_t expected, const Location& where);
SINTER_API AnyTensor from_elements(const void* elements, std::size_t bytes, const Shape& shape, DType dtype,
                                   const Device& device, const Location& where);
SINTER_API void read_elements(const AnyTensor& any, void* to, std::size_t bytes, const Location& where);
SINTER_API std::vector<bool> truth_values_of(const AnyTensor& any, const Location& where);
SINTER_API Scalar item(const AnyTensor& any, const Location& where);
/// Throws Error for an empty handle, DTypeError where the dtype is another.
SINTER_API void check_element_type(const AnyTensor& any, DType wanted, const Location& where);

template <class Kind>
inline constexpr std::string_view kind_name = "Float";
template <>
inline constexpr std::string_view kind_name<Int> = "Int";
template <>
inline constexpr std::string_view kind_name<Bool> = "Bool";

/// What `to_vector()` gives.
template <class T>
std::vector<T> elements_of(const AnyTensor& tensor, const Location& where) {
  check_element_type(tensor, dtype_of<T>, where);
  const auto count = static_cast<std::size_t>(tensor.numel());
  if constexpr (std::same_as<T, bool>) {
    return truth_values_of(tensor, where);
  } else {
    std::vector<T> elements(count);
    read_elements(tensor, elements.data(), count * sizeof(T), where);
    return elements;
  }
}

/// The sizes of `shape` with all axes from the `rank`-th on made one.
SINTER_API Axes axes_of(const std::int64_t* axes, std::size_t count);
SINTER_API Dims flattened_sizes(const Shape& shape, std::size_t rank);

/// The numbers of nested braces, row-major.
class SINTER_API Braces {
 public:
  Braces();
  ~Braces();
  Braces(const Braces&) = delete;
  Braces& operator=(const Braces&) = delete;
  void add(const Scalar& number);
  AnyTensor made(const Dims& sizes, DType dtype, const Device& device, const Location& where) const;

 private:
  std::vector<Scalar> numbers_;
};

/// Nested initializer lists, as deep as the rank.
template <std::size_t Rank, class Kind>
struct Nested {
  using type = std::initializer_list<typename Nested<Rank - 1, Kind>::type>;
  static void sizes(const type& list, Dims& sizes) {
    sizes.push_back(static_cast<std::int64_t>(list.size()));
    if (list.size())
      Nested<Rank - 1, Kind>::sizes(*list.begin(), sizes);
    else
      for (std::size_t i = 1; i < Rank; ++i) sizes.push_back(0);
  }
  static void flatten(const type& list, const std::int64_t* size, Braces& out, const Location& where) {
    check_row(list.size(), *size, where);
    for (const auto& part : list) Nested<Rank - 1, Kind>::flatten(part, size + 1, out, where);
  }
};
template <class Kind>
struct Nested<0, Kind> {
  using type = Number<Kind>;
  static void sizes(const type&, Dims&) {}
  static void flatten(const type& number, const std::int64_t*, Braces& out, const Location&) {
    out.add(number.value);
  }
};

/// The kind of a sum over elements of `Kind`.
template <class Kind>
struct SumOf {
  using type = Kind;
};
template <>
struct SumOf<Bool> {
  using type = Int;
};

/// An argument of another type than the class whose function takes it, which is not complete there yet.
template <std::size_t Rank, class Kind>
struct HandleOf {
  HandleOf(const Tensor<Rank, Kind>& tensor) : dynamic(tensor.dynamic()) {}
  const AnyTensor& dynamic;
};

/// An operand of an operation on Tensor<Rank, Kind>: such a tensor, one of rank 0, or a number. Operators can
/// have no Location argument; the implicit conversion to OperandOf records the caller's line instead.
///
/// A temporary (the `a * b` in `a * b + c`) would live to the end of the statement. If the recorder flushed
/// before that, the planner would have to store its value, so the operator releases it as soon as it has
/// recorded the operation.
template <std::size_t Rank, class Kind>
struct OperandOf {
  OperandOf(const Tensor<Rank, Kind>& tensor, Location where = Location::current())
      : operand(tensor.dynamic()), where(where) {}
  OperandOf(Tensor<Rank, Kind>&& tensor, Location where = Location::current())
      : operand(tensor.dynamic()), where(where), temporary(&tensor) {}
  OperandOf(const Tensor<0, Kind>& tensor, Location where = Location::current()) requires(Rank != 0)
      : operand(tensor.dynamic()), where(where) {}
  template <NumberFor<Kind> T>
  OperandOf(T number, Location where = Location::current()) : operand(number), where(where) {}

  void let_go() {
    if (temporary) *temporary = Tensor<Rank, Kind>();
  }

  AnyTensor::Operand operand;
  Location where;
  Tensor<Rank, Kind>* temporary = nullptr;
};

}  // namespace detail

}  // namespace sinter
