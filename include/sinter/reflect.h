// Fields of plain aggregate structs: their number, their names, and a call for each of them.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <sinter/detail/apply_fields.h>
#include <sinter/detail/count_fields.h>
#include <sinter/detail/name_fields.h>

namespace sinter::reflect {

namespace detail {

// Looks like a standard container: std::array is an aggregate too, but its one field is an implementation
// detail.
template <class T>
concept Container = requires(T& t) {
  typename T::value_type;
  typename T::iterator;
  t.begin();
  t.end();
  t.size();
};

}  // namespace detail

/// A class whose fields can be found without its help: an aggregate (no constructors, no private fields, no
/// virtual functions) that is neither an array nor a container. Its base classes, if any, must be empty;
/// bit-fields, anonymous unions and fields that are non-const references do not compile.
template <class T>
concept Reflectable = std::is_class_v<std::remove_cv_t<T>> && std::is_aggregate_v<std::remove_cv_t<T>> &&
    !detail::Container<std::remove_cv_t<T>>;

/// Number of fields of an aggregate. An array, and a nested struct, is one field.
template <class T>
requires Reflectable<T>
inline constexpr std::size_t field_count = detail::count_fields<std::remove_cv_t<T>>();

/// Whether this compiler reveals the names of fields; where it does not, a field is named by its index.
inline constexpr bool kFieldNamesKnown = detail::spelled_or_empty<detail::Probe, 1>() == "second_field";

namespace detail {

// References have no address before they are bound: in a struct that has one, all names are indices, too.
template <class T, std::size_t I>
consteval std::string_view name_field() {
  if constexpr (kFieldNamesKnown && Spellable<T, I>) {
    return spelled_or_empty<T, I>();
  } else {
    return Name<index_name<I>()>::value;
  }
}

}  // namespace detail

/// Name of the I-th field of an aggregate, in declaration order. A '\0' follows it.
template <class T, std::size_t I>
requires Reflectable<T>
inline constexpr std::string_view field_name = detail::name_field<std::remove_cv_t<T>, I>();

namespace detail {

template <class T, class F, std::size_t... I, class... Field>
constexpr void call_each(F& f, std::index_sequence<I...>, Field&... field) {
  (static_cast<void>(f(field_name<T, I>, field)), ...);
}

}  // namespace detail

/// Calls f(std::string_view name, auto& field) for each field of `object`, in declaration order. Fields of a
/// const object are const. Does not compile for more than 32 fields.
template <class T, class F>
requires Reflectable<T>
constexpr void for_each_field(T& object, F&& f) {
  detail::apply_fields(object, [&](auto&... field) {
    detail::call_each<std::remove_cv_t<T>>(f, detail::Seq<sizeof...(field)>{}, field...);
  });
}

}  // namespace sinter::reflect
