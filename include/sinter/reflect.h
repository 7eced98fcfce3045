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
inline constexpr bool is_name_known = kFieldNamesKnown && !spelled_or_empty<T, I>().empty();

template <class T, std::size_t I>
consteval std::string_view name_field() {
  if constexpr (is_name_known<T, I>) {
    return spelled_or_empty<T, I>();
  } else {
    return Name<index_name<I>()>::value;
  }
}

// One field tells for all.
template <class T>
consteval bool knows_names() {
  if constexpr (field_count<T> == 0) {
    return true;
  } else {
    return is_name_known<T, 0>;
  }
}

}  // namespace detail

/// Whether the fields of an aggregate have the names of its source, not indices.
template <class T>
requires Reflectable<T>
inline constexpr bool names_known = detail::knows_names<std::remove_cv_t<T>>();

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

namespace detail {

// `names` as the preprocessor spells the list: "weight_, bias_".
template <class F, class... Field>
void visit_listed(F& f, std::string_view names, Field&... field) {
  const auto next = [&] {
    const std::size_t end = names.find(',');
    std::string_view name = names.substr(0, end);
    names = end == std::string_view::npos ? std::string_view() : names.substr(end + 1);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    return name;
  };
  (static_cast<void>(f(next(), field)), ...);
}

}  // namespace detail
}  // namespace sinter::reflect

/// Lists the fields of the class that it stands in, also private ones and those of its bases, for whoever
/// visits modules: SINTER_FIELDS(weight, bias). Has any number of names, and leaves an aggregate one.
#define SINTER_FIELDS(...)                                                              \
  template <class SinterVisitor>                                                        \
  void visit_fields(SinterVisitor&& sinter_visitor) {                                   \
    ::sinter::reflect::detail::visit_listed(sinter_visitor, #__VA_ARGS__, __VA_ARGS__); \
  }                                                                                     \
  template <class SinterVisitor>                                                        \
  void visit_fields(SinterVisitor&& sinter_visitor) const {                             \
    ::sinter::reflect::detail::visit_listed(sinter_visitor, #__VA_ARGS__, __VA_ARGS__); \
  }
