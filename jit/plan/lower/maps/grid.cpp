// Tests and maps of a grid.
#include "jit/plan/lower/maps/grid.h"

#include <algorithm>

namespace sinter::plan {

Grid::Grid(const Shape& shape, const Shape& placed, std::span<const std::int64_t> ints,
           std::span<const NodeStart> starts) {
  const std::size_t rank = shape.rank();
  given_ = shape;
  for (std::size_t d = 0; d < rank; ++d) {
    Dim dim{shape[d], ints[d], ints[rank + d], placed[d]};
    for (const NodeStart& start : starts)
      if (start.dim == d) dim.moving.add(start.start, 1);
    if (!dim.filled() && dim.moving.empty()) narrowed_.emplace_back(d, dim);
    if (dim.extent == 1 && dim.filled()) continue;
    // A point that moves stays a dim of its own: `below` leaves it out.
    if (!dims_.empty() && dim.filled() && dims_.back().step == 1 && !dims_.back().is_moving_point()) {
      Dim& outer = dims_.back();
      MovingParts moving;
      moving.add(outer.moving, dim.extent);
      outer = {outer.extent * dim.extent, outer.start * dim.extent, 1, outer.size * dim.extent,
               std::move(moving)};
    } else {
      dims_.push_back(std::move(dim));
    }
  }
  if (dims_.empty()) dims_.push_back({1, 0, 1, 1});
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    shape_.push_back(dims_[d].extent);
    if (!dims_[d].filled()) tested_.push_back(d);
  }
  if (tested_.empty()) tested_.push_back(0);
}

DraftBounds Grid::bounds() const {
  DraftBounds bounds;
  for (std::size_t d : tested_)
    bounds.bounds.push_back({dims_[d].extent, dims_[d].start, dims_[d].step, dims_[d].size, dims_[d].moving});
  return bounds;
}

std::vector<Grid::Test> Grid::tests(const IndexMap& map) const {
  std::vector<Test> tests;
  for (const std::size_t d : tested_) {
    const Dim& dim = dims_[d];
    trace::Layout layout{Dims::filled(dims_.size(), 0), 0};
    layout.strides[d] = 1;
    IndexMap coordinate = map.through(shape_, layout);
    const Stretch range = coordinate.range(true);
    const bool always =
        dim.step == 1 && dim.moving.empty() && range.first >= dim.start && range.last < dim.start + dim.size;
    if (always) continue;
    tests.push_back({std::move(coordinate), {{{dim.extent, dim.start, dim.step, dim.size, dim.moving}}}});
  }
  return tests;
}

IndexMap Grid::coordinates(const IndexMap& map) const {
  trace::Layout layout{Dims::filled(dims_.size(), 0), 0};
  std::int64_t stride = 1;
  for (std::size_t t = tested_.size(); t-- > 0;) {
    layout.strides[tested_[t]] = stride;
    stride *= dims_[tested_[t]].extent;
  }
  return map.through(shape_, layout);
}

IndexMap Grid::below(const IndexMap& map) const {
  bool steps = false;
  Shape placed, rounded;  // the latter: the larger shape with whole steps
  for (const Dim& dim : dims_) {
    steps |= dim.step != 1;
    placed.push_back(dim.size);
    rounded.push_back((dim.extent + dim.step - 1) / dim.step * dim.step);
  }
  const Dims placed_strides = contiguous_strides(placed), rounded_strides = contiguous_strides(rounded);
  ViewLayout shift{steps ? rounded_strides : placed_strides, 0};
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    if (dims_[d].is_moving_point()) shift.strides[d] = 0;
    shift.offset -= dims_[d].start * shift.strides[d];
    shift.moving.add(dims_[d].moving, -shift.strides[d]);
  }
  IndexMap result = map.through(shape_, shift);
  for (const auto& [d, dim] : narrowed_) {
    trace::Layout coordinate{Dims::filled(given_.rank(), 0), 0};
    coordinate.strides[d] = 1;
    result.restrict(map.through(given_, coordinate), dim.start, dim.start + (dim.size - 1) * dim.step);
  }
  if (!steps) return result;
  MapStep pick;
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    pick.extents.push_back(rounded[d] / dims_[d].step);
    pick.strides.push_back(placed_strides[d]);
    if (dims_[d].step == 1) continue;
    pick.extents.push_back(dims_[d].step);
    pick.strides.push_back(0);
  }
  return std::move(result).through(pick);
}

}  // namespace sinter::plan
