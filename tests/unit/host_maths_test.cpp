// Blocks of any length, and random numbers. Accuracy is tested in maths_bounds_test.cpp.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/runtime/host/interpreter/elementwise.h"
#include "src/runtime/host/interpreter/random.h"

using sinter::DType;
using sinter::Op;
namespace host = sinter::runtime::host;

TEST_CASE("a block of any length gives the same values, and touches nothing behind it") {
  const auto& table = host::block_functions();
  std::vector<float> x(200);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 0.37f - 30.0f;
  std::vector<float> whole(x.size());
  const auto tanh = table.elementwise[static_cast<std::size_t>(Op::Tanh)][0][0];
  tanh(whole.data(), x.data(), nullptr, nullptr, x.size());
  for (std::size_t n = 0; n < 80; ++n) {
    std::vector<float> y(n + 8, 7.0f);
    tanh(y.data(), x.data(), nullptr, nullptr, n);
    for (std::size_t i = 0; i < n; ++i) CHECK(y[i] == whole[i]);
    for (std::size_t i = n; i < y.size(); ++i) CHECK(y[i] == 7.0f);
  }
}

TEST_CASE("a random number depends on its index only") {
  for (bool normal : {false, true}) {
    const host::RandomKey key{0x123456789abcdefu, 77};
    std::vector<float> all(5000), part(5000);
    const std::uint64_t first = 0xfffffff0u * 4ull;  // counters that pass 2^32
    host::random_block(all.data(), first, all.size(), key, normal);
    for (std::size_t begin : {1, 2, 3, 17, 100}) {
      host::random_block(part.data(), first + begin, 333, key, normal);
      for (std::size_t i = 0; i < 333; ++i) CHECK(part[i] == all[begin + i]);
    }
    std::vector<std::uint64_t> elements;
    for (std::size_t i = 0; i < 333; ++i) elements.push_back(first + i * i % 5000);
    host::random_elements(part.data(), elements.data(), elements.size(), key, normal);
    for (std::size_t i = 0; i < 333; ++i) CHECK(part[i] == all[i * i % 5000]);
    double sum = 0, squares = 0;
    for (float value : all) sum += value, squares += double{value} * value;
    CHECK(sum / 5000 == doctest::Approx(normal ? 0 : 0.5).epsilon(0.05));
    CHECK(squares / 5000 == doctest::Approx(normal ? 1 : 1.0 / 3).epsilon(0.06));
  }
}

TEST_CASE("random numbers of a block that starts before the first element are right from there on") {
  for (bool normal : {false, true})
    for (std::uint64_t before : {1, 2, 3, 5, 100}) {
      const host::RandomKey key{5, 6};
      std::vector<float> all(300), part(300 + before);
      host::random_block(all.data(), 0, all.size(), key, normal);
      host::random_block(part.data(), 0 - before, part.size(), key, normal);
      for (std::size_t i = 0; i < all.size(); ++i) CHECK(part[before + i] == all[i]);
    }
}
