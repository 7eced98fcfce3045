// Counting, naming and visiting the fields of aggregates.
#include <any>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/reflect.h>

namespace {

using sinter::reflect::field_count;
using sinter::reflect::for_each_field;
using sinter::reflect::Reflectable;

template <class T>
std::vector<std::string> names_of() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return std::vector<std::string>{std::string(sinter::reflect::field_name<T, I>)...};
  }
  (std::make_index_sequence<field_count<T>>{});
}
using Names = std::vector<std::string>;

enum class Mode { kTrain, kInfer };

struct NoDefault {
  NoDefault(int, int) {}
  ~NoDefault() {}
  NoDefault(const NoDefault&) {}
};
struct CopyOnly {
  CopyOnly(int) {}
  CopyOnly(const CopyOnly&) {}
};
struct MoveOnly {
  MoveOnly(int) {}
  MoveOnly(MoveOnly&&) {}
};
struct Pinned {
  Pinned(int) {}
  Pinned(Pinned&&) = delete;
};
struct ExplicitDefault {
  explicit ExplicitDefault() {}
};
struct GreedyByConstReference {
  template <class X>
  GreedyByConstReference(const X&) {}
};
struct GreedyByForwarding {
  template <class X>
  GreedyByForwarding(X&&) {}
};
struct OddAddress {
  int operator&() const { return 0; }
};

struct Empty {};
struct Pair {
  int a, b;
};
struct Wrapped {
  Pair pair;
};

TEST_CASE("scalars, strings and standard types are one field each") {
  struct One {
    double x;
  };
  struct Standard {
    std::optional<int> optional;
    std::optional<NoDefault> optional_no_default;
    std::vector<int> vector;
    std::string string;
    std::any any;
    std::variant<int, float> variant;
    std::function<void(int)> function;
    std::atomic<int> atomic;
    std::mutex mutex;
    std::map<int, std::string> map;
    std::unique_ptr<int> unique;
    std::shared_ptr<NoDefault> shared;
    std::pair<int, float> pair;
    std::tuple<int, NoDefault> tuple;
    std::string_view view;
    std::array<std::vector<int>, 2> array;
    std::vector<bool> bits;
    double number;
    Mode mode;
    const char* text;
  };
  CHECK(field_count<Empty> == 0);
  CHECK(field_count<One> == 1);
  CHECK(field_count<const One> == 1);
  CHECK(field_count<Standard> == 20);
  CHECK(names_of<Standard>() == Names{"optional", "optional_no_default",
                                      "vector",   "string",
                                      "any",      "variant",
                                      "function", "atomic",
                                      "mutex",    "map",
                                      "unique",   "shared",
                                      "pair",     "tuple",
                                      "view",     "array",
                                      "bits",     "number",
                                      "mode",     "text"});
}

TEST_CASE("a field that takes any argument is no base class") {
  struct Only {
    std::any any;
  };
  struct First {
    std::any any;
    int x;
  };
  struct Tag {};
  struct Behind : Tag {
    std::any any;
    std::any other;
    int x;
  };
  CHECK(field_count<Only> == 1);
  CHECK(field_count<First> == 2);
  CHECK(field_count<Behind> == 3);
  CHECK(names_of<First>() == Names{"any", "x"});
  CHECK(names_of<Behind>() == Names{"any", "other", "x"});
}

TEST_CASE("a nested aggregate is one field, wherever it stands") {
  struct First {
    Pair pair;
    int x, y;
  };
  struct BeforeNoDefault {
    Pair pair;
    NoDefault x;
    int y;
  };
  struct Last {
    int x;
    Wrapped wrapped;
  };
  struct Empties {
    Empty a;
    Pair b;
    Empty c;
  };
  CHECK(field_count<Wrapped> == 1);
  CHECK(field_count<First> == 3);
  CHECK(field_count<BeforeNoDefault> == 3);
  CHECK(field_count<Last> == 2);
  CHECK(field_count<Empties> == 3);
}

TEST_CASE("a C array is one field, whatever its length and element") {
  struct Only {
    int a[3];
  };
  struct Several {
    int a[3];
    Pair pairs[2];
    int matrix[2][3];
    Wrapped cube[2][2][2];
    int last;
  };
  struct NoDefaultElements {
    NoDefault a;
    NoDefault b[2];
    NoDefault c[2][2];
    NoDefault d;
  };
  struct BeforeNoDefault {
    int y;
    char name[64];
    NoDefault last;
  };
  struct OfOne {
    int a[1];
    int b;
    NoDefault c[1];
  };
  struct Long {
    char name[4096];
    int y;
    float table[1000];
  };
  struct Movable {
    std::unique_ptr<int> a[3];
    std::unique_ptr<int> b;
  };
  struct Arrays {
    std::array<NoDefault, 2> a;
    std::array<int, 3> b;
    ExplicitDefault c[2];
  };
  struct GivenByDefault {
    std::vector<int> first;
    NoDefault a[2] = {{1, 2}, {3, 4}};
    NoDefault b[2][3] = {{{1, 2}, {3, 4}, {5, 6}}, {{1, 2}, {3, 4}, {5, 6}}};
    std::array<NoDefault, 2> c = {NoDefault(1, 2), NoDefault(3, 4)};
    NoDefault d = {1, 2};
    int last = 1;
  };
  CHECK(field_count<GivenByDefault> == 6);
  CHECK(names_of<GivenByDefault>() == Names{"first", "a", "b", "c", "d", "last"});
  CHECK(field_count<Only> == 1);
  CHECK(field_count<Several> == 5);
  CHECK(field_count<NoDefaultElements> == 4);
  CHECK(field_count<BeforeNoDefault> == 3);
  CHECK(field_count<OfOne> == 3);
  CHECK(field_count<Long> == 3);
  CHECK(field_count<Movable> == 2);
  CHECK(field_count<Arrays> == 3);
  CHECK(names_of<NoDefaultElements>() == Names{"a", "b", "c", "d"});
}

TEST_CASE("fields need no default constructor, no copy, no move and no special care") {
  struct Kinds {
    NoDefault no_default;
    CopyOnly copy_only;
    MoveOnly move_only;
    Pinned pinned;
    ExplicitDefault explicit_default;
    GreedyByConstReference greedy;
    GreedyByForwarding greedier;
    OddAddress odd_address;
    const int constant;
  };
  struct Defaults {
    int a = 1;
    NoDefault b = {1, 2};
    std::vector<int> c = {1, 2};
    bool d = true;
  };
  struct Recursive {
    std::vector<Recursive> children;
    std::unique_ptr<Recursive> next;
    int x;
  };
  CHECK(field_count<Kinds> == 9);
  CHECK(names_of<Kinds>() == Names{"no_default", "copy_only", "move_only", "pinned", "explicit_default",
                                   "greedy", "greedier", "odd_address", "constant"});
  CHECK(field_count<Defaults> == 4);
  CHECK(field_count<Recursive> == 3);
}

TEST_CASE("empty base classes are not counted") {
  struct Tag {};
  struct Derived : Empty, Tag {
    int x;
    float y[2];
  };
  struct OnlyBase : Empty {};
  CHECK(field_count<Derived> == 2);
  CHECK(names_of<Derived>() == Names{"x", "y"});
  CHECK(field_count<OnlyBase> == 0);
}

struct Full {
  int a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4, c5,
      c6, c7, c8, c9, d0, d1;
};
struct TooFull {
  Full full[1];
  int a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4, c5,
      c6, c7, c8, c9, d0, d1;
};

TEST_CASE("32 fields can be visited, more can be counted") {
  CHECK(field_count<Full> == 32);
  CHECK(field_count<TooFull> == 33);
  Full full{};
  int next = 0;
  for_each_field(full, [&](std::string_view, int& field) { field = next++; });
  CHECK(full.a0 == 0);
  CHECK(full.b0 == 10);
  CHECK(full.d1 == 31);
}

template <class T>
void check_places(std::size_t expected) {
  T object{};
  const unsigned char* base = reinterpret_cast<const unsigned char*>(&object);
  std::size_t count = 0;
  for_each_field(object, [&](std::string_view name, auto& field) {
    CHECK(reinterpret_cast<const unsigned char*>(&field) == base + count * sizeof(short));
    CHECK(name == "f" + std::to_string(count));
    ++count;
  });
  CHECK(count == expected);
}

TEST_CASE("order, places and names") {
  // clang-format off
  struct S2 { short f0, f1; };
  struct S3 { short f0, f1, f2; };
  struct S5 { short f0, f1, f2, f3, f4; };
  struct S12 { short f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11; };
  struct S27 { short f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
                     f20, f21, f22, f23, f24, f25, f26; };
  // clang-format on
  check_places<S2>(2);
  check_places<S3>(3);
  check_places<S5>(5);
  check_places<S12>(12);
  check_places<S27>(27);
}

template <class T, int N>
struct Generic {
  T value_;
  T array_[N];
};

TEST_CASE("names are those of the source, also for templates and local types") {
  struct Local {
    int lower_case, CamelCase, _x1, x_1y2;
  };
  struct Overlapping {
    [[no_unique_address]] Empty first;
    int second;
    [[no_unique_address]] Empty third;
  };
  REQUIRE(sinter::reflect::kFieldNamesKnown);
  CHECK(names_of<Local>() == Names{"lower_case", "CamelCase", "_x1", "x_1y2"});
  CHECK(names_of<Overlapping>() == Names{"first", "second", "third"});
  CHECK(names_of<Generic<NoDefault, 2>>() == Names{"value_", "array_"});
  CHECK(names_of<Generic<Generic<int, 3>, 2>>() == Names{"value_", "array_"});
  CHECK(sinter::reflect::field_name<const Local, 0>.data()[10] == '\0');
}

TEST_CASE("a struct with a reference is visited under indices") {
  struct Referring {
    const std::string& text;
    int x;
  };
  std::string text = "abc";
  Referring object{text, 1};
  CHECK(names_of<Referring>() == Names{"0", "1"});
  CHECK_FALSE(sinter::reflect::names_known<Referring>);
  CHECK(sinter::reflect::names_known<Generic<int, 2>>);
  const void* seen = nullptr;
  for_each_field(object, [&](std::string_view name, auto& field) {
    if (name == "0") seen = &field;
  });
  CHECK(seen == &text);
}

TEST_CASE("a field printed in an unknown way has no name") {
  using sinter::reflect::detail::last_identifier;
  CHECK(last_identifier("auto f() [with A = (& storage<T>.Storage<T>::value.T::weight)]") == "weight");
  CHECK(last_identifier("auto f() [A = {&storage.value.weight[0]}]") == "weight");
  CHECK(last_identifier("auto f() [A = {&storage.value.gr\xc3\xb6\xc3\x9f"
                        "e}]") ==
        "gr\xc3\xb6\xc3\x9f"
        "e");
  CHECK(last_identifier("12 + 34").empty());
  CHECK(last_identifier("").empty());
}

TEST_CASE("fields of a const object are const, of another are not") {
  struct Mixed {
    int x;
    std::string s;
  };
  Mixed object{1, "a"};
  for_each_field(object, [](std::string_view, auto& field) { field += field; });
  CHECK(object.x == 2);
  CHECK(object.s == "aa");
  const Mixed& view = object;
  int seen = 0;
  for_each_field(view, [&](std::string_view, auto& field) {
    static_assert(std::is_const_v<std::remove_reference_t<decltype(field)>>);
    ++seen;
  });
  CHECK(seen == 2);
}

TEST_CASE("visiting works in constant expressions") {
  constexpr int sum = [] {
    Pair pair{3, 4};
    int total = 0;
    for_each_field(
        pair, [&](std::string_view name, int& field) { total += field * static_cast<int>(name.size()); });
    return total;
  }();
  CHECK(sum == 7);
}

TEST_CASE("what is reflectable") {
  struct WithConstructor {
    WithConstructor() {}
    int x = 0;
  };
  struct WithVirtual {
    virtual ~WithVirtual() {}
  };
  class WithPrivate {
    [[maybe_unused]] int x = 0;
  };
  union Union {
    int x;
  };
  CHECK(Reflectable<Pair>);
  CHECK(Reflectable<const Pair>);
  CHECK(Reflectable<Empty>);
  CHECK(!Reflectable<int>);
  CHECK(!Reflectable<Pair&>);
  CHECK(!Reflectable<Pair[2]>);
  CHECK(!Reflectable<Mode>);
  CHECK(!Reflectable<std::array<int, 2>>);
  CHECK(!Reflectable<std::vector<int>>);
  CHECK(!Reflectable<std::string>);
  CHECK(!Reflectable<WithConstructor>);
  CHECK(!Reflectable<WithVirtual>);
  CHECK(!Reflectable<WithPrivate>);
  CHECK(!Reflectable<Union>);
}

}  // namespace
