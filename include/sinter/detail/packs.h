// Tensors, tuples of tensors and lists of tensors as one list, and back.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/function.h>
#include <sinter/tensor.h>

namespace sinter::detail {

/// A tensor of any rank and kind, typed or not, as an argument.
struct Handle {
  Handle() = default;
  Handle(const AnyTensor& any) : tensor(any) {}
  template <std::size_t Rank, class Kind>
  Handle(const Tensor<Rank, Kind>& typed) : tensor(typed.dynamic()) {}
  AnyTensor tensor;
};

template <class T>
inline constexpr bool is_tensor = false;
template <>
inline constexpr bool is_tensor<AnyTensor> = true;
template <std::size_t Rank, class Kind>
inline constexpr bool is_tensor<Tensor<Rank, Kind>> = true;

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;

/// A typed tensor or a tuple.
template <class T>
inline constexpr bool is_typed_pack = is_tuple<T> || (is_tensor<T> && !std::is_same_v<T, AnyTensor>);

/// The type without references: std::tie(x, w) stands for a tuple of the two.
template <class T>
struct ValuesOf {
  using type = std::remove_cvref_t<T>;
};
template <class... T>
struct ValuesOf<std::tuple<T...>> {
  using type = std::tuple<std::remove_cvref_t<T>...>;
};
template <class T>
using Values = typename ValuesOf<std::remove_cvref_t<T>>::type;

template <class T>
void append(std::vector<AnyTensor>& list, const T& pack) {
  if constexpr (std::is_same_v<T, AnyTensor>)
    list.push_back(pack);
  else if constexpr (is_tensor<T>)
    list.push_back(pack.dynamic());
  else if constexpr (is_tuple<T>)
    std::apply([&](const auto&... each) { (append(list, each), ...); }, pack);
  else {
    static_assert(std::is_same_v<T, std::vector<AnyTensor>>,
                  "a tensor, a std::tuple of tensors or a std::vector<AnyTensor>");
    list.insert(list.end(), pack.begin(), pack.end());
  }
}

template <class T>
std::vector<AnyTensor> pack(const T& from) {
  std::vector<AnyTensor> list;
  append(list, from);
  return list;
}

/// Takes a T from the front of what is left of a list. Throws ShapeError or DTypeError where a tensor is not
/// of the type.
template <class T>
T take(std::vector<AnyTensor>& list, std::size_t& next) {
  if constexpr (std::is_same_v<T, AnyTensor>) {
    return std::move(list.at(next++));
  } else if constexpr (is_tensor<T>) {
    AnyTensor any = std::move(list.at(next++));
    return any.defined() ? T(std::move(any)) : T();
  } else if constexpr (is_tuple<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return T{take<std::tuple_element_t<I, T>>(list, next)...};  // braces: in this order
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    std::vector<AnyTensor> rest;
    while (next < list.size()) rest.push_back(std::move(list[next++]));
    return rest;
  }
}

template <class T>
T unpack(std::vector<AnyTensor> list) {
  std::size_t next = 0;
  return take<T>(list, next);
}

/// Calls f with a tensor, with the elements of a tuple, or with a list.
template <class F, class X>
decltype(auto) call_with(F& f, const X& x) {
  if constexpr (is_tuple<X>)
    return std::apply(f, x);
  else
    return f(x);
}
template <class F, class X>
using ResultOf = std::decay_t<decltype(call_with(std::declval<std::remove_reference_t<F>&>(),
                                                 std::declval<const Values<X>&>()))>;

/// The function on lists.
template <class X, class F>
Function<std::vector<AnyTensor>(const std::vector<AnyTensor>&)> on_packs(F& f) {
  return [&f](const std::vector<AnyTensor>& list) {
    const Values<X> x = unpack<Values<X>>(list);
    return pack(call_with(f, x));
  };
}

}  // namespace sinter::detail
