// Counts the fields of an aggregate by trying how many initializers it takes.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace sinter::reflect {

/// A struct with more fields than this cannot be taken apart.
inline constexpr std::size_t kMaxFields = 32;

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

// Is converted to nothing: only what takes any argument whatever, as a std::any does, takes it.
struct Nothing {};

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

// Whether what comes behind the bases is a field that takes any argument, and therefore looks like a base.
template <class T, class Base, std::size_t... B, std::size_t... I>
consteval bool takes_nothing(std::index_sequence<B...>, std::index_sequence<I...>) {
  return requires { T{At<Base, B>{}..., Nothing{}, At<Any<T>, I>{}...}; };
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
  } else if constexpr (takes_bases<T, Base>(Seq<N + 1>{}, Seq<Most - N - 1>{}) &&
                       !takes_nothing<T, Base>(Seq<N>{}, Seq<Most - N - 1>{})) {
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
    static_assert(bases == 0 || bases == count_bases<T, AnyEmptyBase<T>, most>(),
                  "an aggregate with a base class that has fields cannot be taken apart: list the fields of "
                  "both, SINTER_FIELDS(a, b, ...), or make the base a field");
    return count_spans<T, least, most>() - bases;
  }
}

}  // namespace detail
}  // namespace sinter::reflect
