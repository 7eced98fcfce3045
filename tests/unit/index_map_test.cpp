// Index maps: merging steps must never change a point's position.
#include "jit/plan/lower/maps/index_map.h"

#include <algorithm>
#include <optional>
#include <random>
#include <tuple>

#include <doctest/doctest.h>

#include "jit/plan/lower/maps/grid.h"

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
    if (!reshaped) REQUIRE(map.is_affine());
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
      REQUIRE(below.is_affine());
      if (moving.empty()) REQUIRE(seen.is_affine());
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

namespace {

/// What a chain of views, reshapes and pads makes of the positions in a value, from the loop inwards.
struct Link {
  enum class Kind { View, Pad } kind = Kind::View;
  Shape shape;        // seen from outside
  ViewLayout layout;  // View: over the next value
  Shape placed;       // Pad: the next value, at ints[d] + i * ints[rank + d]
  std::vector<std::int64_t> ints;
};

/// Overlapping windows over some dims, broadcasts of some, what random_view does with the others.
std::pair<Shape, ViewLayout> random_windows(const Shape& in, Random& random) {
  const Dims strides = contiguous_strides(in);
  Shape shape;
  ViewLayout layout;
  Shape inside;
  Dims inside_strides;
  for (std::size_t d = 0; d < in.rank(); ++d) {
    if (in[d] < 2 || random(0, 1)) {
      shape.push_back(in[d]);
      layout.strides.push_back(strides[d]);
      if (random(0, 2)) continue;
      shape.push_back(random(1, 3));
      layout.strides.push_back(0);
      continue;
    }
    const std::int64_t size = random(1, in[d]), step = random(1, 3);
    shape.push_back((in[d] - size) / step + 1);
    layout.strides.push_back(step * strides[d]);
    inside.push_back(size);
    inside_strides.push_back(strides[d]);
  }
  for (std::size_t d = 0; d < inside.rank(); ++d) {
    shape.push_back(inside[d]);
    layout.strides.push_back(inside_strides[d]);
  }
  return {shape, layout};
}

/// The position that a point reaches; nothing where a pad stands around it.
std::optional<std::int64_t> follow(const std::vector<Link>& chain, std::int64_t number) {
  for (const Link& link : chain) {
    const std::vector<std::int64_t> at = split(number, link.shape);
    number = link.layout.offset;
    if (link.kind == Link::Kind::View) {
      for (std::size_t d = 0; d < at.size(); ++d) number += at[d] * link.layout.strides[d];
      continue;
    }
    number = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::int64_t from = at[d] - link.ints[d], step = link.ints[at.size() + d];
      if (from < 0 || from % step != 0 || from / step >= link.placed[d]) return std::nullopt;
      number = number * link.placed[d] + from / step;
    }
  }
  return number;
}

/// Numbers that are divided are never negative, wherever the loop stands.
bool divides_no_negative(const IndexMap& map, const std::vector<std::int64_t>& point) {
  return std::all_of(map.digits().begin(), map.digits().end(), [&](const DigitPart& part) {
    return part.digit->number().at(point) >= 0 && divides_no_negative(part.digit->number(), point);
  });
}

}  // namespace

TEST_CASE("chains of reshapes, views, windows, broadcasts and pads lead to the element that they say") {
  Random random{std::mt19937(3)};
  std::size_t reached = 0, around = 0, digits = 0;
  for (int round = 0; round < 4000; ++round) {
    // From memory outwards, so the chain is made from its end.
    std::vector<Link> chain;
    Shape at = random_reshape(random(1, 48), random);
    for (std::int64_t steps = random(1, 5); steps > 0; --steps) {
      Link link;
      if (random(0, 2) == 0) {
        link.kind = Link::Kind::Pad;
        link.placed = at;
        link.ints.assign(2 * at.rank(), 1);
        for (std::size_t d = 0; d < at.rank(); ++d) {
          const bool whole = random(0, 1) == 0;
          const std::int64_t step = whole ? 1 : random(1, 2);
          link.ints[d] = whole ? 0 : random(0, 2);
          link.ints[at.rank() + d] = step;
          link.shape.push_back(link.ints[d] + (at[d] > 0 ? (at[d] - 1) * step + 1 : 0) +
                               (whole ? 0 : random(0, 2)));
        }
        if (random(0, 30) == 0) {  // nothing at all within a frame
          link.placed[0] = 0;
        }
      } else {
        std::tie(link.shape, link.layout) =
            at.rank() <= 4 && random(0, 1) ? random_windows(at, random) : random_view(at, random);
      }
      if (link.shape.numel() > 3000 || link.shape.numel() == 0) break;
      at = random(0, 1) ? link.shape : random_reshape(link.shape.numel(), random);
      chain.insert(chain.begin(), std::move(link));
      if (chain.front().kind == Link::Kind::Pad && chain.front().placed.numel() == 0) break;
    }
    MapStep loops;
    for (const std::int64_t size : at) loops.extents.push_back(size);
    for (const std::int64_t stride : contiguous_strides(at)) loops.strides.push_back(stride);
    IndexMap map(loops);
    std::vector<std::vector<Grid::Test>> tests;
    std::vector<std::pair<IndexMap, DraftBounds>> together;
    for (const Link& link : chain) {
      if (link.kind == Link::Kind::View) {
        map = map.through(link.shape, link.layout);
        continue;
      }
      const Grid grid(link.shape, link.placed, link.ints, {});
      tests.push_back(grid.tests(map));
      together.emplace_back(grid.coordinates(map), grid.bounds());
      map = grid.below(map);
    }
    digits += map.digits().size();
    for (std::int64_t n = 0; n < at.numel(); ++n) {
      const std::vector<std::int64_t> point = split(n, at);
      bool inside = true;
      for (std::size_t pad = 0; pad < tests.size() && inside; ++pad) {
        bool each = true, all = true;
        for (const Grid::Test& test : tests[pad]) {
          const DraftBounds::Dim& dim = test.bounds.bounds.at(0);
          const std::int64_t from = test.coordinate.at(point) - dim.lower;
          each = each && from >= 0 && from % dim.step == 0 && from / dim.step < dim.size;
          REQUIRE(divides_no_negative(test.coordinate, point));
        }
        std::int64_t rest = together[pad].first.at(point);
        const std::vector<DraftBounds::Dim>& bounds = together[pad].second.bounds;
        for (std::size_t b = bounds.size(); b-- > 0;) {
          const std::int64_t from = (b > 0 ? rest % bounds[b].extent : rest) - bounds[b].lower;
          rest /= bounds[b].extent;
          all = all && from >= 0 && from % bounds[b].step == 0 && from / bounds[b].step < bounds[b].size;
        }
        REQUIRE(each == all);
        inside = each;
      }
      const std::optional<std::int64_t> expected = follow(chain, n);
      REQUIRE(inside == expected.has_value());
      REQUIRE(divides_no_negative(map, point));
      ++(inside ? reached : around);
      if (inside) REQUIRE(map.at(point) == *expected);
    }
  }
  CHECK(reached > 10000);
  CHECK(around > 10000);
  CHECK(digits > 500);
}

TEST_CASE("rows and columns that are repeated, shifted and split again are divided once each") {
  // What the gradient of a pool does: (2, 4, 4, 3), each row and column twice, a frame around, a part of
  // that.
  const auto read = [](std::int64_t row, std::int64_t column) {
    MapStep loops;
    loops.extents.assign({2, 8, 8, 3});
    loops.strides.assign({8 * 8 * 3, 8 * 3, 3, 1});
    // The slice, the frame, and the two reshapes.
    IndexMap map = IndexMap(loops).through(Shape{2, 8, 8, 3}, ViewLayout({10 * 10 * 3, 30, 3, 1}, 33));
    const Grid grid(Shape{2, 10, 10, 3}, Shape{2, 8, 8, 3},
                    std::vector<std::int64_t>{0, row, column, 0, 1, 1, 1, 1}, {});
    map = grid.below(map).through(Shape{2, 8, 4, 2, 3}, ViewLayout({8 * 4 * 3, 12, 3, 0, 1}, 0));
    return map.through(Shape{2, 4, 2, 4, 3}, ViewLayout({4 * 4 * 3, 12, 0, 3, 1}, 0));
  };
  const IndexMap near = read(0, 0), far = read(2, 2);
  REQUIRE(near.digits().size() == 2);
  REQUIRE(far.digits().size() == 2);
  for (std::size_t d = 0; d < 2; ++d) {
    CHECK_FALSE(near.digits()[d].digit->is_rest());
    CHECK(*near.digits()[d].digit == *far.digits()[d].digit);
  }
  CHECK(near.loops().offset - far.loops().offset == 12 + 3);
}

TEST_CASE("a number that is split and put together again is the number") {
  MapStep loops;
  loops.extents.assign({7, 5});
  loops.strides.assign({5, 1});
  loops.offset = 3;
  const IndexMap start(loops);
  // Through (19, 2) turned, and back: a digit and its rest go together.
  IndexMap map = start.through(Shape{19, 2}, ViewLayout({1, 19}, 0));
  CHECK_FALSE(map.is_affine());
  map = map.through(Shape{2, 19}, ViewLayout({1, 2}, 0));
  CHECK(map.is_affine());
  CHECK(map == start);
}

TEST_CASE("windows that reach into a frame stay within the image where they are read") {
  // Windows of 3 x 3 at 6 x 8 positions of an image of 4 channels, framed by one pixel: (y, x, i, j, c), seen
  // with its channels first and last again.
  MapStep loops;
  loops.extents.assign({6, 8, 3, 3, 4});
  loops.strides.assign({10 * 4, 4, 10 * 4, 4, 1});
  const Grid grid(Shape{8, 10, 4}, Shape{6, 8, 4}, std::vector<std::int64_t>{1, 1, 0, 1, 1, 1}, {});
  const IndexMap last = grid.below(IndexMap(loops));
  const auto turned_twice = [](const IndexMap& map) {
    return map.through(Shape{48, 4}, ViewLayout({1, 48}, 0)).through(Shape{4, 48}, ViewLayout({1, 4}, 0));
  };
  CHECK(turned_twice(last) == last);
  // Numbers beside the image would be others: without the tests nothing is known.
  IndexMap untested = last;
  untested.move_loop(0, 0, 1, 6, {});
  CHECK_FALSE(turned_twice(untested).is_affine());
}

// Each step leaves a quotient and a rest of what the steps before left: looked through by every way that
// leads to them, sixty steps would take for ever.
TEST_CASE("long chains of transposed reshapes take no longer for each step than what they are made of") {
  constexpr std::int64_t kNumel = 30030;
  const auto transposed = [](IndexMap map, int steps) {
    for (int i = 0; i < steps; ++i) {
      const std::int64_t rows = i % 3 == 0 ? 77 : i % 3 == 1 ? 65 : 66;
      map = map.through({rows, kNumel / rows}, {{1, rows}, 0});
    }
    return map;
  };
  MapStep loop;
  loop.extents = {kNumel};
  loop.strides = {1};
  const IndexMap start(loop);
  const IndexMap some = transposed(start, 5);
  for (const std::int64_t point : {0, 1, 77, 12345, 30029}) {
    std::int64_t expected = point;
    for (int i = 0; i < 5; ++i) {
      const std::int64_t rows = i % 3 == 0 ? 77 : i % 3 == 1 ? 65 : 66, columns = kNumel / rows;
      expected = expected / columns + expected % columns * rows;
    }
    CHECK(some.at({point}) == expected);
  }
  IndexMap many = transposed(start, 60);
  CHECK(many.dependence() == 1);
  const Stretch range = many.range(false);
  CHECK(range.first <= 0);
  CHECK(range.last >= kNumel - 1);
  many.move_loop(0, 0, 2, kNumel / 2, {});
  CHECK(many.dependence() == 1);
  CHECK(many.helpful_split() == std::nullopt);
}
