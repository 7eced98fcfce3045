// sinter::Function: what std::function does, but for its headers.
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <sinter/function.h>

namespace sinter::testing {
namespace {

int twice(int x) { return 2 * x; }

}  // namespace

TEST_CASE("a function holds a copy of what is called") {
  int calls = 0;
  const Function<int(int)> counted = [&calls, offset = 3](int x) { return ++calls, x + offset; };
  const Function<int(int)> copy = counted;
  CHECK(counted(1) == 4);
  CHECK(copy(2) == 5);
  CHECK(calls == 2);
  CHECK(Function<int(int)>(twice)(21) == 42);
  CHECK(Function<double(int)>(std::function<int(int)>(twice))(4) == 8.0);  // the result converts

  // A state of its own: a copy goes on by itself.
  Function<int()> counter = [n = 0]() mutable { return ++n; };
  CHECK(counter() == 1);
  Function<int()> branch = counter;
  CHECK(counter() == 2);
  CHECK(counter() == 3);
  CHECK(branch() == 2);
  Function<int()> moved = std::move(branch);
  CHECK(moved() == 3);
  moved = counter;
  CHECK(moved() == 4);
  moved = std::as_const(moved);
  CHECK(moved() == 5);
}

TEST_CASE("arguments go by value, by reference and by move; results may be dropped") {
  std::string text;
  const Function<void(std::string&, std::string)> append = [](std::string& to, std::string what) {
    return (to += what).size();
  };
  append(text, "ab");
  CHECK(text == "ab");
  const Function<std::unique_ptr<int>(std::unique_ptr<int>)> pass = [](std::unique_ptr<int> p) { return p; };
  CHECK(*pass(std::make_unique<int>(7)) == 7);
}

TEST_CASE("an empty function says so, and ends what it holds") {
  CHECK_FALSE(Function<void()>());
  CHECK_FALSE(Function<void()>(std::function<void()>()));
  int (*nobody)(int) = nullptr;
  CHECK_FALSE(Function<int(int)>(nobody));
  CHECK_THROWS_WITH_AS(Function<void()>()(), "[function] an empty function was called", Error);
  const auto held = std::make_shared<int>(1);
  {
    const Function<int()> holds = [held] { return *held; };
    CHECK(holds);
    CHECK(held.use_count() == 2);
  }
  CHECK(held.use_count() == 1);
  static_assert(!std::is_constructible_v<Function<int(int)>, std::string>);
  static_assert(!std::is_constructible_v<Function<int(int)>, int (*)(std::string)>);
}

}  // namespace sinter::testing
