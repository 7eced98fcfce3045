// Reads the names of an aggregate's fields from what the compiler prints for their addresses.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <sinter/detail/apply_fields.h>

namespace sinter::reflect::detail {

// Pointers to all fields, each found again by its position.
template <std::size_t I, class Field>
struct Pointer {
  Field* value;
};
template <class Sequence, class... Field>
struct Pointers;
template <std::size_t... I, class... Field>
struct Pointers<std::index_sequence<I...>, Field...> : Pointer<I, Field>... {};

template <std::size_t I, class Field>
constexpr Field* pointer_at(const Pointer<I, Field>& pointer) {
  return pointer.value;
}

// Room for a T whose fields have addresses, but which is never constructed.
template <class T>
union Storage {
  char none;
  T value;
  constexpr Storage() : none() {}
  constexpr ~Storage() {}
};
template <class T>
inline Storage<T>
    storage;  // defined, since types without linkage must be; named unevaluated, so never emitted

template <std::size_t I, class T>
consteval auto field_pointer(T& object) {
  return pointer_at<I>(apply_fields(object, [](auto&... field) {
    return Pointers<Seq<sizeof...(field)>, std::remove_reference_t<decltype(field)>...>{
        {__builtin_addressof(field)}...};
  }));
}

// clang before 18 takes the address of a field as a template argument only inside a class.
template <class P>
struct Address {
  P pointer;
};
template <class P>
Address(P) -> Address<P>;

template <std::size_t N>
struct Text {
  char chars[N + 1] = {};
  constexpr std::string_view view() const { return {chars, N}; }
};

template <Text kText>
struct Name {
  static constexpr std::string_view value = kText.view();
};

// The last identifier of what a compiler prints for a field's address, such as "...
// &(storage<T>.value.T::weight)}]".
consteval std::string_view last_identifier(std::string_view text) {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  auto is_word = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || (c & 0x80) != 0;
  };
  std::size_t end = text.size();
  while (end > 0) {
    while (end > 0 && !is_word(text[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    if (begin < end && !is_digit(text[begin])) return text.substr(begin, end - begin);
    end = begin;
  }
  return {};
}

template <Address kAddress>
consteval auto spell() {
  constexpr std::string_view name = last_identifier(__PRETTY_FUNCTION__);
  Text<name.size()> text;
  for (std::size_t i = 0; i < name.size(); ++i) text.chars[i] = name[i];
  return text;
}

template <Address kAddress>
auto spelled_name() -> Name<spell<kAddress>()>;

template <std::size_t I>
consteval auto index_name() {
  if constexpr (I < 10) {
    return Text<1>{{char('0' + I)}};
  } else {
    return Text<2>{{char('0' + I / 10), char('0' + I % 10)}};
  }
}

template <class T, std::size_t I>
concept Spellable = requires {
  spelled_name<Address{field_pointer<I>(storage<T>.value)}>();
};

struct Probe {
  int first_field, second_field;
};

template <class T, std::size_t I>
consteval std::string_view spelled_or_empty() {
  if constexpr (Spellable<T, I>) {
    return decltype(spelled_name<Address{field_pointer<I>(storage<T>.value)}>())::value;
  } else {
    return {};
  }
}

}  // namespace sinter::reflect::detail
