// Index maps: merging steps must never change a point's position.
#include "jit/plan/lower/index_map.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "jit/plan/lower/grid.h"

using namespace sinter;
using namespace sinter::plan;

namespace {

struct Random {
  std::mt19937 engine;
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
  }
};

/// A random view over a row-major tensor of shape `in`: permuted, sliced with steps of either sign, expanded.
/// `starts`: some slices have starts that move, added to them; null: none.
std::pair<Shape, ViewLayout> random_view(const Shape& in, Random& random,
                                         std::vector<std::int64_t>* starts = nullptr) {
  const Dims strides = contiguous_strides(in);
  std::vector<std::size_t> order(in.rank());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (random(0, 1)) std::shuffle(order.begin(), order.end(), random.engine);
  Shape shape;
  ViewLayout layout;
  for (std::size_t i : order) {
    if (in[i] == 1 && random(0, 1)) {
      shape.push_back(random(1, 3));
      layout.strides.push_back(0);
      continue;
    }
    const std::int64_t count = random(0, 2) ? in[i] : random(1, in[i]);
    const std::int64_t step = count > 1 ? random(1, (in[i] - 1) / (count - 1)) : 1;
    const std::int64_t room = in[i] - 1 - (count - 1) * step;
    const bool back = random(0, 4) == 0;
    const std::int64_t low = back ? (count - 1) * step : 0;
    std::int64_t start = random(0, room) + low;
    if (starts && room > 0 && random(0, 1)) {
      layout.moving.add({static_cast<std::uint32_t>(starts->size()), low, room}, strides[i]);
      starts->push_back(start);
      start = low;
    }
    shape.push_back(count);
    layout.strides.push_back(strides[i] * (back ? -step : step));
    layout.offset += start * strides[i];
  }
  return {shape, layout};
}

/// Other sizes with the same number of elements.
Shape random_reshape(std::int64_t numel, Random& random) {
  Shape shape;
  while (numel > 1 && shape.rank() < 4) {
    std::int64_t factor = random(1, numel);
    while (numel % factor != 0) --factor;
    shape.push_back(factor);
    numel /= factor;
  }
  shape.push_back(numel);
  return shape;
}

std::vector<std::int64_t> split(std::int64_t number, const Shape& shape) {
  std::vector<std::int64_t> at(shape.rank());
  for (std::size_t d = shape.rank(); d-- > 0;) {
    at[d] = number % shape[d];
    number /= shape[d];
  }
  return at;
}

}  // namespace

TEST_CASE("a chain of views leads to the same element, merged or not") {
  Random random{std::mt19937(7)};
  for (int round = 0; round < 3000; ++round) {
    // From the buffer outwards: shapes and layouts of views, each over the one before.
    std::vector<std::pair<Shape, ViewLayout>> views;
    std::vector<std::int64_t> starts;
    Shape at = random_reshape(random(1, 96), random);
    const bool reshaped = random(0, 1);
    for (int v = 0; v < 4; ++v) {
      views.push_back(random_view(at, random, round % 2 ? &starts : nullptr));
      at = reshaped ? random_reshape(views.back().first.numel(), random) : views.back().first;
    }
    // The loop runs over the last shape; its indices pass through the views in the opposite order.
    MapStep first;
    for (std::int64_t size : at) first.extents.push_back(size);
    for (std::int64_t stride : contiguous_strides(at)) first.strides.push_back(stride);
    IndexMap map(first);
    for (std::size_t v = views.size(); v-- > 0;) map = map.through(views[v].first, views[v].second);
    // Views are free: without a reshape between them, any number of views is one step.
    if (!reshaped) REQUIRE(map.steps().size() == 1);
    for (std::int64_t point = 0; point < at.numel(); ++point) {
      std::int64_t number = point;
      for (std::size_t v = views.size(); v-- > 0;) {
        const std::vector<std::int64_t> coordinates = split(number, views[v].first);
        number = views[v].second.offset + views[v].second.moving.at(starts);
        for (std::size_t d = 0; d < coordinates.size(); ++d)
          number += coordinates[d] * views[v].second.strides[d];
      }
      REQUIRE(map.at(split(point, at), starts) == number);
    }
  }
}

TEST_CASE("reshape of a layout agrees with row-major positions") {
  Random random{std::mt19937(11)};
  int expressible = 0;
  for (int round = 0; round < 5000; ++round) {
    const Shape base = random_reshape(random(1, 120), random);
    const auto [shape, layout] = random_view(base, random);
    const Shape to = random_reshape(shape.numel(), random);
    ViewLayout result;
    if (!reshape_layout(shape, layout, to, result)) continue;
    ++expressible;
    for (std::int64_t point = 0; point < to.numel(); ++point) {
      std::int64_t expected = layout.offset, got = result.offset;
      const auto from = split(point, shape), there = split(point, to);
      for (std::size_t d = 0; d < from.size(); ++d) expected += from[d] * layout.strides[d];
      for (std::size_t d = 0; d < there.size(); ++d) got += there[d] * result.strides[d];
      REQUIRE(got == expected);
    }
  }
  CHECK(expressible > 2000);
  trace::Layout result;
  CHECK(trace::reshape_layout(Shape{2, 3}, {Dims{3, 1}, 0}, Shape{6}, result));
  CHECK(result.strides == Dims{1});
  CHECK_FALSE(trace::reshape_layout(Shape{2, 3}, {Dims{1, 2}, 0}, Shape{6}, result));
}

TEST_CASE(
    "a grid's test and its map agree with its definition, and need no divisions where the loop has its "
    "dims") {
  Random random{std::mt19937(11)};
  for (int round = 0; round < 3000; ++round) {
    Shape in;
    for (std::int64_t rank = random(1, 4); rank > 0; --rank) in.push_back(random(1, 5));
    const auto [placed, view] = random_view(in, random);
    Shape outer;
    std::vector<std::int64_t> ints(2 * placed.rank()), starts(placed.rank());
    std::vector<NodeStart> moving;
    bool steps = false;
    for (std::size_t d = 0; d < placed.rank(); ++d) {
      const bool whole = random(0, 1);
      ints[d] = whole ? 0 : random(0, 3);
      ints[placed.rank() + d] = whole || random(0, 2) ? 1 : random(2, 3);
      steps |= ints[placed.rank() + d] != 1;
      const std::int64_t end = (placed[d] - 1) * ints[placed.rank() + d] + 1;
      outer.push_back(ints[d] + end + (whole ? 0 : random(0, 3)));
      starts[d] = ints[d];
      if (round % 2 == 0 || outer[d] == end || random(0, 1)) continue;
      moving.push_back({static_cast<std::uint32_t>(d), {static_cast<std::uint32_t>(d), 0, outer[d] - end}});
      ints[d] = 0;
    }
    const Dims strides = contiguous_strides(outer);
    MapStep first;
    first.extents.assign(outer.begin(), outer.end());
    first.strides.assign(strides.begin(), strides.end());
    const IndexMap map(first);
    const Grid grid(outer, placed, ints, moving);
    const IndexMap coordinates = grid.coordinates(map), below = grid.below(map),
                   seen = below.through(placed, view);
    if (!steps) {
      REQUIRE(below.steps().size() == 1);
      if (moving.empty()) REQUIRE(seen.steps().size() == 1);
    }
    const DraftBounds bounds = grid.bounds();
    for (std::int64_t n = 0; n < outer.numel(); ++n) {
      const std::vector<std::int64_t> point = split(n, outer);
      bool inside = true;
      std::int64_t position = 0, expected = view.offset;
      for (std::size_t d = 0; d < outer.rank(); ++d) {
        const std::int64_t from = point[d] - starts[d], step = ints[placed.rank() + d];
        inside = inside && from >= 0 && from % step == 0 && from / step < placed[d];
        position = position * placed[d] + from / step;
        expected += from / step * view.strides[d];
      }
      bool found = true;
      std::int64_t rest = coordinates.at(point, starts);
      for (std::size_t b = bounds.bounds.size(); b-- > 0;) {
        const DraftBounds::Dim& dim = bounds.bounds[b];
        const std::int64_t from = rest % dim.extent - dim.lower - dim.moving.at(starts);
        rest /= dim.extent;
        found = found && from >= 0 && from % dim.step == 0 && from / dim.step < dim.size;
      }
      REQUIRE(found == inside);
      if (!inside) continue;
      REQUIRE(below.at(point, starts) == position);
      REQUIRE(seen.at(point, starts) == expected);
    }
  }
}
