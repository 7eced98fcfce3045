// Fields of plain aggregate structs: their number, their names, and a call for each of them.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sinter::reflect {

/// A struct with more fields cannot be reflected.
inline constexpr std::size_t kMaxFields = 32;

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

namespace detail {

// Stands for a value of any type but T, so that T{Any} never means a copy of T. Overload resolution ranks the
// `const&&` conversion below a constructor taking X&& and above one taking const X&, so that greedy
// constructor templates (std::optional, std::any) are no ambiguity.
template <class T>
struct Any {
  template <class U>
  requires(!std::is_same_v<U, T>) constexpr operator U() const&& noexcept {
    __builtin_unreachable();  // never called, yet compilers instantiate constexpr constructors that call it
  }
};

// Stands for a value of a base class of T: bases take initializers like fields do.
template <class T>
struct AnyBase {
  template <class U>
  requires(!std::is_same_v<U, T> && std::is_base_of_v<U, T>) constexpr operator U() const&& noexcept;
};
template <class T>
struct AnyEmptyBase {
  template <class U>
  requires(!std::is_same_v<U, T> && std::is_base_of_v<U, T> && std::is_empty_v<U>) constexpr operator U()
      const&& noexcept;
};

template <class Initializer, std::size_t>
using At = Initializer;

template <std::size_t N>
using Seq = std::make_index_sequence<N>;

// Whether T{any...} compiles.
template <class T, std::size_t... I>
consteval bool takes(std::index_sequence<I...>) {
  return requires { T{At<Any<T>, I>{}...}; };
}

// Whether T{base..., any...} compiles.
template <class T, class Base, std::size_t... B, std::size_t... I>
consteval bool takes_bases(std::index_sequence<B...>, std::index_sequence<I...>) {
  return requires { T{At<Base, B>{}..., At<Any<T>, I>{}...}; };
}

// Whether T{any..., {}, any...} compiles.
template <class T, std::size_t... I, std::size_t... J>
consteval bool takes_empty(std::index_sequence<I...>, std::index_sequence<J...>) {
  return requires { T{At<Any<T>, I>{}..., {}, At<Any<T>, J>{}...}; };
}

// Whether T{any..., {any...}, any...} compiles.
template <class T, std::size_t... I, std::size_t... K, std::size_t... J>
consteval bool takes_braced(std::index_sequence<I...>, std::index_sequence<K...>, std::index_sequence<J...>) {
  return requires { T{At<Any<T>, I>{}..., {At<Any<T>, K>{}...}, At<Any<T>, J>{}...}; };
}

// A flat initializer list has one slot per field, except that a C array takes one per element (brace
// elision). Lists of n slots compile for least <= n <= most, where least comes after the last field that must
// be given, such as one without a default constructor. Within that, lists that end in the middle of an array
// do not compile if its elements must be given while the array as a whole need not, for it has a default
// member initializer.
inline constexpr std::size_t kMaxLeast = 256;
inline constexpr std::size_t kMaxGap = 8;
inline constexpr std::size_t kUncountable = static_cast<std::size_t>(-1);

template <class T, std::size_t N = 0>
consteval std::size_t least_slots() {
  if constexpr (takes<T>(Seq<N>{})) {
    return N;
  } else if constexpr (N < kMaxLeast) {
    return least_slots<T, N + 1>();
  } else {
    return kUncountable;
  }
}

// Doubles the step while lists compile, then halves it: an array of a thousand numbers costs some 20 tries.
template <class T, std::size_t Good, std::size_t Step, bool Growing>
consteval std::size_t most_slots_before_gap() {
  if constexpr (Step == 0) {
    return Good;
  } else if constexpr (takes<T>(Seq<Good + Step>{})) {
    return most_slots_before_gap < T, Good + Step, Growing ? Step * 2 : Step / 2, Growing > ();
  } else {
    return most_slots_before_gap<T, Good, Step / 2, false>();
  }
}

template <class T, std::size_t Good, std::size_t Gap = 0>
consteval std::size_t most_slots() {
  if constexpr (Gap == 0) {
    return most_slots<T, most_slots_before_gap<T, Good, 1, true>(), 2>();
  } else if constexpr (Gap > kMaxGap) {
    return Good;
  } else if constexpr (takes<T>(Seq<Good + Gap>{})) {
    return most_slots<T, Good + Gap>();
  } else {
    return most_slots<T, Good, Gap + 1>();
  }
}

// Slots of the field that begins at slot `Start` of `Most`. A list in braces is one whole field. If all the
// slots behind the first can follow it, the field has one slot; if just those behind the `Span`-th can, it
// has `Span`.
template <class T, std::size_t Start, std::size_t Most, std::size_t Span = 1>
consteval std::size_t span_by_trying() {
  if constexpr (Start + Span > Most) {
    return 1;
  } else if constexpr (takes_braced<T>(Seq<Start>{}, Seq<Span>{}, Seq<Most - Start - 1>{})) {
    return 1;
  } else if constexpr (takes_empty<T>(Seq<Start>{}, Seq<Most - Start - Span>{})) {
    return Span;
  } else if constexpr (takes_braced<T>(Seq<Start>{}, Seq<Span>{}, Seq<Most - Start - Span>{})) {
    return Span;
  } else {
    return span_by_trying<T, Start, Most, Span + 1>();
  }
}

// The most slots, at least `Good` and less than `Bad`, that can follow {} at `Start`.
template <class T, std::size_t Start, std::size_t Good, std::size_t Bad>
consteval std::size_t most_behind() {
  if constexpr (Bad - Good <= 1) {
    return Good;
  } else {
    constexpr std::size_t middle = Good + (Bad - Good) / 2;
    if constexpr (takes_empty<T>(Seq<Start>{}, Seq<middle>{})) {
      return most_behind<T, Start, middle, Bad>();
    } else {
      return most_behind<T, Start, Good, middle>();
    }
  }
}

// Trying is exact; halving spares time where a long array may be near and nothing behind the field must be
// given.
template <class T, std::size_t Start, std::size_t Least, std::size_t Most>
consteval std::size_t span() {
  constexpr std::size_t behind = Most - Start - 1;
  constexpr bool halving = behind > kMaxFields && Least <= Start + 1;
  if constexpr (behind == 0) {
    return 1;
  } else if constexpr (takes_empty<T>(Seq<Start>{}, Seq<behind>{})) {
    return 1;
  } else if constexpr (halving && takes_empty<T>(Seq<Start>{}, Seq<0>{})) {
    return Most - Start - most_behind<T, Start, 0, behind>();
  } else {
    return span_by_trying<T, Start, Most>();
  }
}

template <class T, std::size_t Least, std::size_t Most, std::size_t Start = 0, std::size_t Count = 0>
consteval std::size_t count_spans() {
  if constexpr (Start >= Most) {
    return Count;
  } else {
    return count_spans<T, Least, Most, Start + span<T, Start, Least, Most>(), Count + 1>();
  }
}

template <class T, class Base, std::size_t Most, std::size_t N = 0>
consteval std::size_t count_bases() {
  if constexpr (N >= Most) {
    return N;
  } else if constexpr (takes_bases<T, Base>(Seq<N + 1>{}, Seq<Most - N - 1>{})) {
    return count_bases<T, Base, Most, N + 1>();
  } else {
    return N;
  }
}

template <class T>
consteval std::size_t count_fields() {
  if constexpr (std::is_empty_v<T> && takes<T>(Seq<0>{}) && !takes<T>(Seq<1>{})) {
    return 0;
  } else if constexpr (constexpr std::size_t least = least_slots<T>(); least == kUncountable) {
    static_assert(
        least != kUncountable,
        "this aggregate's fields cannot be counted: one is a non-const reference, or of a type that no "
        "value converts to, or an array before a field that must be given has over 256 elements");
    return 0;
  } else {
    constexpr std::size_t most = most_slots<T, least>();
    constexpr std::size_t bases = count_bases<T, AnyBase<T>, most>();
    static_assert(
        bases == 0 || bases == count_bases<T, AnyEmptyBase<T>, most>(),
        "an aggregate with a base class that has fields cannot be taken apart: make the base a field");
    return count_spans<T, least, most>() - bases;
  }
}

}  // namespace detail

/// Number of fields of an aggregate. An array, and a nested struct, is one field.
template <class T>
requires Reflectable<T>
inline constexpr std::size_t field_count = detail::count_fields<std::remove_cv_t<T>>();

namespace detail {

// Calls call(first, second, ...) with all fields of `object`. Structured bindings spell their names, hence
// the ladder.
template <class T, class Call>
constexpr decltype(auto) apply_fields([[maybe_unused]] T& object, Call&& call) {
  constexpr std::size_t n = field_count<T>;
  static_assert(
      n <= kMaxFields,
      "an aggregate with more than 32 fields cannot be taken apart: group some of them in nested structs");
  if constexpr (n == 0 || n > kMaxFields) {
    return call();
  } else if constexpr (n == 1) {
    auto& [a] = object;
    return call(a);
  } else if constexpr (n == 2) {
    auto& [a, b] = object;
    return call(a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = object;
    return call(a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = object;
    return call(a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = object;
    return call(a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, f] = object;
    return call(a, b, c, d, e, f);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, f, g] = object;
    return call(a, b, c, d, e, f, g);
  } else if constexpr (n == 8) {
    auto& [a, b, c, d, e, f, g, h] = object;
    return call(a, b, c, d, e, f, g, h);
  } else if constexpr (n == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = object;
    return call(a, b, c, d, e, f, g, h, i);
  } else if constexpr (n == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = object;
    return call(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (n == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (n == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (n == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (n == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (n == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (n == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else if constexpr (n == 17) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
  } else if constexpr (n == 18) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
  } else if constexpr (n == 19) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
  } else if constexpr (n == 20) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
  } else if constexpr (n == 21) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
  } else if constexpr (n == 22) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v);
  } else if constexpr (n == 23) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
  } else if constexpr (n == 24) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
  } else if constexpr (n == 25) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y);
  } else if constexpr (n == 26) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z);
  } else if constexpr (n == 27) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A);
  } else if constexpr (n == 28) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B);
  } else if constexpr (n == 29) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C);
  } else if constexpr (n == 30) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D] = object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D);
  } else if constexpr (n == 31) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E] =
        object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E);
  } else if constexpr (n == 32) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F] =
        object;
    return call(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E,
                F);
  }
}

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

}  // namespace detail

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
