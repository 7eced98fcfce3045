// Reads the names of enumerators from what the compiler prints for them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sinter::detail {

/// An enum whose values may be any of its underlying type: others have no conversion that is sure to be a
/// constant.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires {
  E{0};
};

/// As "... kValue = ns::Mode::fast; ..." or "... kValue = (ns::Mode)7]".
template <auto kValue>
consteval std::string_view enumerator_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::string_view kBefore = "kValue = ";
  text.remove_prefix(text.find(kBefore) + kBefore.size());
  text = text.substr(0, text.find_first_of(";]"));
  if (text.front() == '(' || text.front() == '-' || (text.front() >= '0' && text.front() <= '9')) return {};
  const std::size_t colon = text.rfind(':');
  return colon == std::string_view::npos ? text : text.substr(colon + 1);
}

/// Values from 0 on that are looked at.
inline constexpr std::size_t kMostEnumerators = 64;

/// The name of each value; empty where no enumerator has it.
template <NamedEnum E>
inline constexpr auto enumerator_names = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{enumerator_name<static_cast<E>(I)>()...};
}
(std::make_index_sequence<kMostEnumerators>{});

}  // namespace sinter::detail
