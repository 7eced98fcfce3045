// Finds the sizes and steps of windows in the strides of a load and of the test that it depends on.
#include "jit/ir/products/windows.h"

#include <algorithm>
#include <numeric>

namespace sinter::ir {
namespace {

// What a tensor map has room for: dims with windows, steps between windows; corners of the box of windows
// and distances within one, the bits of which these dims share.
constexpr std::size_t kFewestDims = 2, kMostDims = 3;
constexpr std::int64_t kMostStep = 8;
struct Room {
  std::int64_t least_corner, most_corner, most_distance;
};
constexpr Room room_of(std::size_t dims) { return dims == 2 ? Room{-128, 127, 255} : Room{-16, 15, 31}; }

/// A loop, by how far a step of it goes in memory and in the number that is tested.
struct Loop {
  std::int64_t extent = 1, stride = 0, tested = 0;
};

/// A dim of the image: its loops, and the part of the test that is about it.
struct Dim {
  const Loop* position = nullptr;
  const Loop* element = nullptr;
  bool tested = false;
  std::int64_t lower = 0, size = 0, unit = 1;  // tested: in steps of the number that is tested
  bool has_windows() const { return element != nullptr || tested; }
};

/// The number of a test along one dim: loops whose steps are whole `unit`s of it, over others that never
/// reach one. Nothing where there are several loops of a kind.
class TestedDim {
 public:
  static std::optional<Dim> find(std::span<const Loop> positions, std::span<const Loop> elements,
                                 std::int64_t lower, std::int64_t size) {
    std::vector<const Loop*> loops;
    for (const std::span<const Loop> of : {positions, elements})
      for (const Loop& loop : of)
        if (loop.tested != 0) loops.push_back(&loop);
    std::stable_sort(loops.begin(), loops.end(),
                     [](const Loop* a, const Loop* b) { return a->tested > b->tested; });
    Dim dim{nullptr, nullptr, true, lower, size, std::gcd(lower, size)};
    std::int64_t rest = 0;
    for (const Loop* loop : loops) rest += (loop->extent - 1) * loop->tested;
    for (const Loop* loop : loops) {
      if (rest < dim.unit && dim.unit > 0 && (dim.position != nullptr || dim.element != nullptr)) return dim;
      dim.unit = std::gcd(dim.unit, loop->tested);
      rest -= (loop->extent - 1) * loop->tested;
      const bool is_position = loop >= positions.data() && loop < positions.data() + positions.size();
      const Loop*& kind = is_position ? dim.position : dim.element;
      if (kind != nullptr) return std::nullopt;
      kind = loop;
    }
    return loops.empty() ? std::nullopt : std::optional(dim);
  }
};

/// A load's loops and the parts of its test.
struct Load {
  std::vector<Loop> positions, elements;  // the channels are left out of the elements
  std::int64_t channels = 0, groups = 1, offset = 0;
  std::int64_t own_channels = 0;  // that the image has, where windows have more
  std::vector<Dim> tested;
};

/// Splits the number that is tested into its parts. False where a loop counts in both, or one carries.
bool find_tests(Load& load, std::span<const std::int64_t> ints, const Expr& test, const Loop& channels) {
  std::int64_t weight = 1;
  std::vector<Loop> elements = load.elements;
  elements.push_back(channels);
  for (std::size_t b = test.bounds.size(); b-- > 0;) {
    const Bound& bound = test.bounds[b];
    if (value_of(bound.step, ints) != 1) return false;
    const std::int64_t extent = value_of(bound.extent, ints), next = weight * extent;
    // In the last part counts what counts no whole extents of it.
    std::int64_t most = 0;
    const auto own = [&](const std::vector<Loop>& loops) {
      std::vector<Loop> part = loops;
      for (Loop& loop : part) {
        const bool is_own = loop.tested % weight == 0 && (b == 0 || loop.tested % next != 0);
        loop.tested = is_own ? loop.tested / weight : 0;
        most += (loop.extent - 1) * loop.tested;
      }
      return part;
    };
    const std::vector<Loop> own_positions = own(load.positions), own_elements = own(elements);
    if (most >= extent) return false;
    std::optional<Dim> dim =
        TestedDim::find(own_positions, own_elements, value_of(bound.lower, ints), value_of(bound.size, ints));
    if (!dim) return false;
    // The channels are no loop within a window. The image may have the first of them.
    if (dim->element == &own_elements.back()) {
      if (weight != 1 || dim->position != nullptr || dim->lower != 0 || load.groups > 1) return false;
      load.own_channels = dim->size;
      weight = next;
      continue;
    }
    if (dim->position)
      dim->position = &load.positions[static_cast<std::size_t>(dim->position - own_positions.data())];
    if (dim->element)
      dim->element = &load.elements[static_cast<std::size_t>(dim->element - own_elements.data())];
    dim->unit *= weight;
    dim->lower *= weight;
    dim->size *= weight;
    load.tested.push_back(*dim);
    weight = next;
  }
  return true;
}

/// True iff the last part of the test is about the channels alone.
bool tests_channels(const Load& load, const Expr& test, std::span<const std::int64_t> ints) {
  const Loop& channels = load.elements.back();
  const Bound& last = test.bounds.back();
  return channels.tested == 1 && value_of(last.lower, ints) == 0 &&
         value_of(last.size, ints) < channels.extent &&
         (test.bounds.size() == 1 || value_of(last.extent, ints) == channels.extent);
}

/// Neighbours within a window may be one loop with the channels: splits off what all else steps by, in memory
/// and in the test. Returns the loop over the channels, which is no element's any more.
Loop split_channels(Load& load, const Expr* test, std::span<const std::int64_t> ints) {
  Loop channels = load.elements.back();
  const bool are_tested = test != nullptr && tests_channels(load, *test, ints);
  load.elements.pop_back();
  load.channels = channels.extent;
  if (are_tested) return channels;
  std::int64_t unit = channels.extent;
  for (const std::vector<Loop>* loops : {&load.positions, &load.elements})
    for (const Loop& loop : *loops) unit = std::gcd(std::gcd(unit, loop.stride), loop.tested);
  if (test != nullptr && channels.tested != 0) {
    const Bound& last = test->bounds.back();
    for (const IntRef number : {last.extent, last.lower, last.size})
      unit = std::gcd(unit, value_of(number, ints));
  }
  if (unit < channels.extent)
    load.elements.push_back({channels.extent / unit, unit * channels.stride, unit * channels.tested});
  channels.extent = load.channels = unit;
  return channels;
}

/// Where the products of a batch have groups of channels each: lets the loop over the channels go over those
/// of all groups. False where they have anything else that differs.
bool join_groups(Load& load, Loop& channels, std::span<const Loop> batch) {
  const auto counts = [](const Loop& loop) { return loop.extent > 1; };
  for (const Loop& loop : batch) {
    if (!counts(loop) || (loop.stride == 0 && loop.tested == 0)) continue;
    if (std::count_if(batch.begin(), batch.end(), counts) > 1 || channels.extent != load.channels ||
        loop.stride != channels.extent * channels.stride || loop.tested != channels.extent * channels.tested)
      return false;
    load.groups = loop.extent;
    channels.extent *= loop.extent;
  }
  return true;
}

std::optional<Load> load_of(const Kernel& kernel, std::span<const std::int64_t> ints, const Expr& load,
                            const WindowLoops& loops) {
  const IndexMap& map = kernel.maps[load.map];
  const Expr* test = load.predicate == kNone ? nullptr : &kernel.exprs[load.predicate];
  if (load.kind != ExprKind::Load || map.steps.size() != 1) return std::nullopt;
  if (test != nullptr && (test->kind != ExprKind::InBounds || kernel.maps[test->map].steps.size() != 1))
    return std::nullopt;
  const MapStep* tests = test ? &kernel.maps[test->map].steps[0] : nullptr;
  if (tests != nullptr && value_of(tests->offset, ints) != 0) return std::nullopt;
  const auto loop_of = [&](std::size_t k) {
    return Loop{ints[kernel.extents[k].index], value_of(map.steps[0].strides[k], ints),
                tests ? value_of(tests->strides[k], ints) : 0};
  };
  Load found;
  found.offset = value_of(map.steps[0].offset, ints);
  std::vector<Loop> batch;
  for (const std::size_t k : loops.batch) batch.push_back(loop_of(k));
  for (const std::size_t k : loops.positions) found.positions.push_back(loop_of(k));
  for (const std::size_t k : loops.elements) found.elements.push_back(loop_of(k));
  for (const std::vector<Loop>* loops : {&found.positions, &found.elements})
    for (const Loop& loop : *loops)
      if (loop.stride <= 0 || loop.tested < 0) return std::nullopt;
  if (found.elements.empty() || found.elements.back().stride != 1) return std::nullopt;
  Loop channels = split_channels(found, test, ints);
  if (!join_groups(found, channels, batch)) return std::nullopt;
  if (test != nullptr && !find_tests(found, ints, *test, channels)) return std::nullopt;
  return found;
}

/// Gives loops within a window the dims whose positions have most in common with them: step and spread are
/// the smallest. Leaves those that fit to none.
void pair_loops(std::vector<const Loop*>& elements, std::vector<Dim>& dims) {
  constexpr std::int64_t kMostDistance = room_of(kFewestDims).most_distance;
  while (true) {
    std::int64_t least = kMostStep + kMostDistance;
    Dim* to = nullptr;
    auto best = elements.end();
    for (auto element = elements.begin(); element != elements.end(); ++element)
      for (Dim& dim : dims) {
        if (dim.has_windows()) continue;
        const std::int64_t unit = std::gcd(dim.position->stride, (*element)->stride);
        const std::int64_t step = dim.position->stride / unit, spread = (*element)->stride / unit;
        if (step > kMostStep || spread * ((*element)->extent - 1) > kMostDistance || step + spread >= least)
          continue;
        least = step + spread;
        to = &dim;
        best = element;
      }
    if (to == nullptr) return;
    to->element = *best;
    elements.erase(best);
  }
}

/// The dims of the image, the innermost first.
std::optional<std::vector<Dim>> dims_of(const Load& load) {
  std::vector<Dim> dims;
  for (std::size_t p = load.positions.size(); p-- > 0;) dims.push_back({&load.positions[p]});
  std::vector<Dim> alone;  // windows at one position
  for (const Dim& tested : load.tested) {
    if (tested.position == nullptr) {
      alone.push_back(tested);
      continue;
    }
    Dim& dim =
        dims[load.positions.size() - 1 - static_cast<std::size_t>(tested.position - load.positions.data())];
    if (dim.tested) return std::nullopt;
    dim = tested;
  }
  std::vector<const Loop*> left;  // loops within a window that no test is about, the innermost first
  for (std::size_t e = load.elements.size(); e-- > 0;) {
    const Loop* element = &load.elements[e];
    if (std::none_of(load.tested.begin(), load.tested.end(),
                     [&](const Dim& dim) { return dim.element == element; }))
      left.push_back(element);
  }
  pair_loops(left, dims);
  for (const Loop* element : left) alone.push_back({nullptr, element});
  for (const Dim& dim : alone) {
    const auto inner = std::find_if(dims.begin(), dims.end(), [&](const Dim& other) {
      return other.element != nullptr && dim.element != nullptr && other.element > dim.element;
    });
    dims.insert(inner == dims.end() ? dims.begin() : inner + 1, dim);
  }
  if (!dims.empty() && dims.back().has_windows()) dims.emplace_back();  // there is one image
  if (dims.size() > kMostDims + 1) return std::nullopt;
  dims.resize(std::max(dims.size(), kFewestDims + 1));
  // Elements are counted row-major.
  const Loop* inner = nullptr;
  for (const Dim& dim : dims) {
    if (dim.element == nullptr) continue;
    if (inner != nullptr && inner < dim.element) return std::nullopt;
    inner = dim.element;
  }
  return dims;
}

/// How windows step along a dim. False where their steps are no whole numbers of pixels.
bool find_steps(const Dim& dim, WindowSteps& steps) {
  if (dim.position != nullptr) steps.positions = dim.position->extent;
  if (dim.element != nullptr) steps.elements = dim.element->extent;
  if (dim.tested) {
    const Loop* any = dim.position ? dim.position : dim.element;
    const auto whole = [&](std::int64_t tested) { return tested / dim.unit; };
    if (any->stride % whole(any->tested) != 0) return false;
    steps.stride = any->stride / whole(any->tested);
    if (dim.position) steps.step = whole(dim.position->tested);
    if (dim.element) steps.spread = whole(dim.element->tested);
    if ((dim.position && dim.position->stride != steps.step * steps.stride) ||
        (dim.element && dim.element->stride != steps.spread * steps.stride))
      return false;
    steps.first = -dim.lower / dim.unit;
    steps.size = dim.size / dim.unit;
    return true;
  }
  const std::int64_t position = dim.position ? dim.position->stride : 0,
                     element = dim.element ? dim.element->stride : 0;
  steps.stride = std::gcd(position, element);
  if (steps.stride == 0) return true;  // a dim of one element
  if (dim.position) steps.step = position / steps.stride;
  if (dim.element) steps.spread = element / steps.stride;
  steps.size = (steps.positions - 1) * steps.step + (steps.elements - 1) * steps.spread + 1;
  return true;
}

/// True iff a tensor map has room for the steps.
bool fit(const WindowSteps& steps, const Room& room) {
  const std::int64_t last = steps.first + (steps.positions - 1) * steps.step - (steps.size - 1);
  const auto is_corner = [&](std::int64_t corner) {
    return corner >= room.least_corner && corner <= room.most_corner;
  };
  return steps.size > 0 && steps.step <= kMostStep && is_corner(steps.first) && is_corner(last) &&
         (steps.elements - 1) * steps.spread <= room.most_distance;
}

}  // namespace

std::optional<Windows> windows_of(const Kernel& kernel, std::span<const std::int64_t> ints, const Expr& expr,
                                  const WindowLoops& loops) {
  const std::optional<Load> load = load_of(kernel, ints, expr, loops);
  if (!load) return std::nullopt;
  const std::optional<std::vector<Dim>> dims = dims_of(*load);
  if (!dims) return std::nullopt;
  Windows windows;
  windows.channels = load->channels;
  windows.own_channels = load->own_channels > 0 ? load->own_channels : load->channels * load->groups;
  windows.offset = load->offset;
  windows.dims = dims->size() - 1;
  for (std::size_t k = 0; k < windows.dims; ++k) {
    WindowSteps& steps = windows.along[k];
    if (!find_steps((*dims)[k], steps) || !fit(steps, room_of(windows.dims))) return std::nullopt;
    windows.offset -= steps.first * steps.stride;
  }
  if (const Loop* images = dims->back().position) {
    windows.images = images->extent;
    windows.image_stride = images->stride;
  }
  return windows;
}

}  // namespace sinter::ir
