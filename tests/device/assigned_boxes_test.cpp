// Parts of tensors that are assigned to in place: what is around them stays, wherever they begin.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/explain.h>
#include <sinter/sinter.h>

#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using Numbers = std::vector<float>;

/// Some elements along each dim of a tensor.
struct Places {
  std::vector<Range> ranges;
  std::vector<std::vector<std::int64_t>> at;  // coordinates of each dim, in the order of the ranges
};

class Draws {
 public:
  explicit Draws(unsigned seed) : random_(seed) {}
  std::int64_t upto(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most + 1));
  }
  bool one_in(std::int64_t n) { return upto(n - 1) == 0; }
  Numbers numbers(std::int64_t count) {
    Numbers values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(upto(40)) - 20;  // exact in 16 bits
    return values;
  }

 private:
  std::mt19937 random_;
};

/// Sizes and steps of a part; where it begins is drawn anew for each use.
struct PartShape {
  std::vector<std::int64_t> sizes, steps;
};

PartShape draw_part(Draws& draws, const Shape& shape) {
  PartShape part;
  for (const std::int64_t extent : shape) {
    const std::int64_t step = draws.one_in(4) && extent > 3 ? 2 : 1;
    const std::int64_t most = (extent - 1) / step + 1;
    const std::int64_t kind = draws.upto(3);
    part.sizes.push_back(kind == 0 ? 1 : kind == 1 ? most : 1 + draws.upto(most - 1));
    part.steps.push_back(draws.one_in(5) ? -step : step);
  }
  return part;
}

Places draw_places(Draws& draws, const Shape& shape, const PartShape& part) {
  Places places;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const std::int64_t step = std::abs(part.steps[d]), span = step * (part.sizes[d] - 1) + 1;
    const std::int64_t low = draws.upto(shape[d] - span);
    std::vector<std::int64_t>& at = places.at.emplace_back();
    for (std::int64_t i = 0; i < part.sizes[d]; ++i) at.push_back(low + i * step);
    if (part.steps[d] < 0) {
      std::reverse(at.begin(), at.end());
      const std::int64_t stop = low - 1;
      places.ranges.push_back(Range{at[0], stop < 0 ? std::nullopt : std::optional(stop), part.steps[d]});
    } else {
      places.ranges.push_back(Range{low, low + span, step});
    }
  }
  return places;
}

/// Calls f(position in the tensor, number in the part).
void each_place(const Shape& shape, const Places& places,
                const std::function<void(std::size_t, std::size_t)>& f) {
  std::vector<std::size_t> coordinate(shape.rank(), 0);
  for (std::size_t number = 0;; ++number) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < shape.rank(); ++d)
      position = position * shape[d] + places.at[d][coordinate[d]];
    f(static_cast<std::size_t>(position), number);
    std::size_t d = shape.rank();
    while (d > 0 && ++coordinate[d - 1] == places.at[d - 1].size()) coordinate[--d] = 0;
    if (d == 0) return;
  }
}

AnyTensor tensor_of(const Numbers& numbers, const Shape& shape, DType dtype) {
  const Device device = test_device();
  return AnyTensor::from_bytes(std::as_bytes(std::span(numbers)), shape, DType::f32, device).cast(dtype);
}

Numbers numbers_of(const AnyTensor& tensor) {
  return Tensor<1>(tensor.cast(DType::f32).reshape({-1})).to_vector<float>();
}

bool is_fused() {
  const char* fusion = std::getenv("SINTER_FUSION");
  return !fusion || fusion != std::string("0");
}

/// What the launches of a program write, in bytes.
template <class F>
std::int64_t bytes_written(F&& program) {
  std::int64_t bytes = 0;
  for (const ReportTrace& trace : explain(Function<void()>(program)).traces)
    for (const ReportLaunch& launch : trace.launches) bytes += launch.bytes_written;
  return bytes;
}

}  // namespace

TEST_CASE("parts that are assigned to are what they should be, and the rest stays") {
  Draws draws(7);
  const DType dtypes[] = {DType::f32, DType::f32, DType::bf16, DType::i32, DType::i8, DType::f16};
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    Shape shape;
    for (std::int64_t rank = 1 + draws.upto(3); rank > 0; --rank) shape.push_back(1 + draws.upto(8));
    const DType dtype = dtypes[draws.upto(5)];
    const std::int64_t program = draws.upto(5);
    CAPTURE(to_string(shape));
    CAPTURE(name_of(dtype));
    CAPTURE(program);
    const PartShape first = draw_part(draws, shape), second = draw_part(draws, shape);
    Numbers expected = draws.numbers(shape.numel());
    AnyTensor x = tensor_of(expected, shape, dtype);
    x.device().flush();
    for (int turn = 0; turn < 5; ++turn) {  // starts move from the second turn on
      CAPTURE(turn);
      const Places a = draw_places(draws, shape, first), b = draw_places(draws, shape, second);
      const Shape sizes(first.sizes), others(second.sizes);
      const Numbers given = draws.numbers(sizes.numel()), more = draws.numbers(others.numel());
      const AnyTensor value = tensor_of(given, sizes, dtype), other = tensor_of(more, others, dtype);
      const Numbers before = expected;
      AnyTensor held;
      if (draws.one_in(4)) held = x;
      if (program == 0) {
        x = x.slice_fill(a.ranges, 3);
      } else if (program == 1) {  // computed on the way
        x = x.slice_assign(a.ranges, AnyTensor::add(AnyTensor::mul(value, 2), 1));
      } else if (program == 2) {  // what is there goes into it
        x = x.slice_assign(a.ranges, AnyTensor::add(x.slice(a.ranges), value));
      } else if (program == 3) {  // one over the other
        x = x.slice_assign(a.ranges, value).slice_assign(b.ranges, other);
      } else if (program == 4 && sizes.rank() > 1) {  // lies across
        x = x.slice_assign(a.ranges, value.transpose(0, 1).cast(DType::f32).cast(dtype).transpose(0, 1));
      } else {
        x = x.slice_assign(a.ranges, value);
      }
      each_place(shape, a, [&](std::size_t at, std::size_t k) {
        float& to = expected[at];
        to = program == 0 ? 3 : program == 1 ? given[k] * 2 + 1 : program == 2 ? to + given[k] : given[k];
        if (dtype == DType::i8) to = static_cast<std::int8_t>(static_cast<int>(to));
      });
      if (program == 3) each_place(shape, b, [&](std::size_t at, std::size_t k) { expected[at] = more[k]; });
      if (dtype == DType::bf16 || dtype == DType::f16)
        for (float& to : expected) to = numbers_of(tensor_of({to}, {1}, dtype))[0];
      x.device().flush();
      REQUIRE(numbers_of(x) == expected);
      if (held.defined()) CHECK(numbers_of(held) == before);
    }
  }
}

TEST_CASE("an assignment in place writes the part alone, wherever that moves") {
  const Device device = test_device();
  const auto y = Tensor<3>::from_data(Numbers(4 * 1 * 8, 5), {4, 1, 8}, device) + 0.0;
  auto cache = Tensor<3>::zeros({4, 64, 8}, device) + 0.0;
  device.flush();
  std::uint64_t plans = 0;
  for (int i = 0; i < 6; ++i) {
    CAPTURE(i);
    const std::int64_t at = i * 7 % 64;
    if (i == 3) plans = device.statistics().plans_built;
    const auto write = [&] {
      cache(all, s(at, at + 1)) = y * 2.0;
      device.flush();
    };
    if (is_fused())
      CHECK(bytes_written(write) == 4 * 8 * 4);
    else
      write();
    CHECK(cache.sum().item() == 10.0f * 32 * static_cast<float>(i + 1));
  }
  CHECK(device.statistics().plans_built == plans);
  if (!is_fused()) return;

  // Somebody else sees the old value: all of it is copied.
  const auto held = cache;
  CHECK(bytes_written([&] {
          cache(all, s(3, 4)) = y;
          device.flush();
        }) == 4 * 64 * 8 * 4);
  CHECK(held.sum().item() == 60.0f * 32);
  // Rows, columns, steps, and what is there already.
  auto x = Tensor<2>::zeros({32, 48}, device) + 0.0;
  device.flush();
  const auto assigned = [&](auto&& program) {
    return bytes_written([&] {
      program();
      device.flush();
    });
  };
  CHECK(assigned([&] { x(s(5, 9)) = 2.0; }) == 4 * 48 * 4);
  CHECK(assigned([&] { x(all, s(47, 48)) = 3.0; }) == 32 * 4);
  CHECK(assigned([&] { x(s(0, 32, 4), s(1, 48, 3)) = 4.0; }) == 8 * 16 * 4);
  CHECK(assigned([&] { x(s(30, 32), all) += 1.0; }) == 2 * 48 * 4);
  CHECK(assigned([&] {
          x(s(1, 2)) = 5.0;
          x(s(3, 4)) = 6.0;
        }) == 3 * 48 * 4);  // the rows from the first to the last
  CHECK(x(1).sum().item() == 48 * 5);
  CHECK(x(2).sum().item() == 32 * 0 + 3);
  CHECK(x(30).sum().item() == 48 + 3);
}

TEST_CASE("a part of tensors of other sizes") {
  const Device device = test_device();
  for (std::int64_t rows = 9; rows < 25; ++rows) {
    CAPTURE(rows);
    auto x = Tensor<2>::zeros({rows, rows + 5}, device) + 1.0;
    const auto y = Tensor<2>::zeros({2, rows + 5}, device) + 3.0;
    device.flush();
    x(s(3, 5)) = y * 2.0;
    device.flush();
    Numbers expected(static_cast<std::size_t>(rows * (rows + 5)), 1);
    std::fill_n(expected.begin() + 3 * (rows + 5), 2 * (rows + 5), 6.0f);
    CHECK(x.to_vector<float>() == expected);
  }
}

TEST_CASE("several parts of one launch, some of which somebody else sees") {
  const Device device = test_device();
  std::vector<Tensor<2>> all;
  for (int i = 0; i < 12; ++i) all.push_back(Tensor<2>::zeros({20, 16}, device) + static_cast<double>(i));
  const auto y = Tensor<2>::zeros({1, 16}, device) + 100.0;
  device.flush();
  for (std::int64_t at = 0; at < 5; ++at) {
    const auto held = all[4];
    for (auto& x : all) x(s(at * 3, at * 3 + 1)) = y;
    device.flush();
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(i);
      const auto rows = static_cast<float>(at + 1);
      CHECK(all[i].sum().item() == 16 * (100 * rows + (20 - rows) * static_cast<float>(i)));
    }
    CHECK(held.sum().item() == 16 * (100 * static_cast<float>(at) + (20 - static_cast<float>(at)) * 4));
  }
}

TEST_CASE("what a part is assigned to stays for others that read it") {
  const Device device = test_device();
  Numbers numbers(40 * 40);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 7 % 23) - 11;
  const auto a = Tensor<2>::from_data(numbers, {40, 40}, device);
  const Numbers product = a.matmul(a).to_vector<float>();
  Numbers expected = product;
  for (std::size_t i = 3; i < 9; ++i)
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(i * 40 + 5), 15, 2.0f);
  const auto of = [&](const Numbers& values) { return Tensor<2>::from_data(values, {40, 40}, device); };
  const Numbers expected_next = of(product).matmul(of(expected)).to_vector<float>();
  for (int run = 0; run < 2; ++run) {
    const auto [result, next] = [&] {  // nobody sees what is assigned to, but for a product that comes later
      const Tensor<2> t = a.matmul(a);
      const Tensor<2> y = t.slice_assign({s(3, 9), s(5, 20)}, Tensor<2>::full({6, 15}, 2, device));
      return std::pair(y, t.matmul(y));
    }();
    device.flush();
    CHECK(result.to_vector<float>() == expected);
    CHECK(next.to_vector<float>() == expected_next);
  }
}

}  // namespace sinter::testing
