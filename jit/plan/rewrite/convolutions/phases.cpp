// Splits kernels into phases, and puts phases of results together. A dim at a time, since a shape has no room
// for all of them beside each other.
#include "jit/plan/rewrite/convolutions/phases.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/convolutions/images.h"

namespace sinter::plan {

NodeId weight_of_phases(Rewriter& to, NodeId weight, std::int64_t groups, std::span<const Phases> phases) {
  const Shape given = to.node(weight).shape;
  const std::size_t dims = phases.size();
  const std::int64_t outputs = given[0] / groups, inputs = given[1];
  weight = to.permute(weight, to_channels_last(given.rank()));
  Dims before, steps, whole;
  for (const Phases& along : phases) {
    before.push_back(0);
    steps.push_back(1);
    whole.push_back(along.taps * along.count);
  }
  weight = padded(to, weight, before, steps, whole, inputs);
  Shape shape = image_shape(outputs, whole, inputs);
  shape.insert(0, 1);
  shape.insert(0, groups);  // (groups, phases, outputs, .., inputs)
  for (std::size_t d = 0; d < dims; ++d) {
    shape[3 + d] = phases[d].taps;
    shape.insert(4 + d, phases[d].count);
    std::vector<std::int64_t> ints(2 * shape.rank(), 1), axes(shape.rank());
    std::fill_n(ints.begin(), shape.rank(), 0);
    ints[3 + d] = phases[d].taps - 1;
    ints[shape.rank() + 3 + d] = -1;
    weight = to.view(Op::Slice, to.view(Op::Reshape, weight, shape), shape, std::move(ints));
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    std::rotate(axes.begin() + 2, axes.begin() + static_cast<std::ptrdiff_t>(4 + d),
                axes.begin() + static_cast<std::ptrdiff_t>(5 + d));
    weight = to.permute(weight, std::move(axes));
    shape.erase(4 + d);
    shape[1] *= phases[d].count;
    weight = to.view(Op::Reshape, weight, shape);
  }
  std::vector<std::int64_t> axes(shape.rank());  // (groups, phases, inputs, .., outputs)
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  std::swap(axes[2], axes.back());
  Dims taps;
  for (const Phases& along : phases) taps.push_back(along.taps);
  return to.view(Op::Reshape, to.permute(weight, std::move(axes)),
                 image_shape(groups * shape[1] * inputs, taps, outputs));
}

NodeId phases_in_place(Rewriter& to, NodeId found, std::int64_t groups, std::span<const Phases> phases) {
  Shape shape = to.node(found).shape;
  const std::size_t dims = phases.size();
  std::int64_t all = 1;
  for (const Phases& along : phases) all *= along.count;
  const std::int64_t inputs = shape.back() / groups / all;
  shape[1 + dims] = groups;  // (n, positions .., groups, phases, inputs)
  shape.push_back(all);
  shape.push_back(inputs);
  for (std::size_t d = dims; d-- > 0;) {
    const std::int64_t count = phases[d].count;
    if (count == 1) continue;
    shape[2 + dims] /= count;
    shape.insert(3 + dims, count);
    std::vector<std::int64_t> axes(shape.rank());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    std::rotate(axes.begin() + static_cast<std::ptrdiff_t>(2 + d),
                axes.begin() + static_cast<std::ptrdiff_t>(3 + dims),
                axes.begin() + static_cast<std::ptrdiff_t>(4 + dims));
    found = to.permute(to.view(Op::Reshape, found, shape), std::move(axes));
    shape.erase(3 + dims);
    shape[1 + d] *= count;
    found = to.view(Op::Reshape, found, shape);
  }
  return to.view(Op::Reshape, found,
                 image_shape(shape[0], Dims(std::span(shape.begin() + 1, dims)), groups * inputs));
}

}  // namespace sinter::plan
