// Counts distinct elements behind index maps.
#include "jit/plan/traffic.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <variant>

#include <absl/container/flat_hash_map.h>

namespace sinter::plan {
namespace {

/// A kernel's loops and maps with their numbers.
class KernelReach {
 public:
  KernelReach(const ir::Kernel& kernel, std::span<const std::int64_t> ints) : kernel_(kernel), ints_(ints) {
    for (ir::IntRef extent : kernel.extents) loops_.push_back(value_of(extent, ints));
    depends_.reserve(kernel.exprs.size());
    for (const ir::Expr& expr : kernel.exprs) depends_.push_back(loops_below(expr));
  }

  /// What the loads of a buffer reach, each different set once.
  std::vector<Reach> loads(std::uint16_t buffer) const {
    std::vector<Reach> found;
    for (std::size_t i = 0; i < kernel_.exprs.size(); ++i) {
      const ir::Expr& expr = kernel_.exprs[i];
      if (expr.buffer != buffer) continue;
      Reach reach;
      if (expr.kind == ir::ExprKind::Load) {
        reach = through(kernel_.maps[expr.map]);
      } else if (expr.kind == ir::ExprKind::LoadAt) {
        // One element for each point that has an index of its own; which ones, only the run knows.
        reach = anywhere(through(kernel_.maps[expr.map]), value_of(expr.stride, ints_),
                         value_of(expr.extent, ints_));
        reach.count = std::min(points(depends_[i]), reach.last - reach.first + 1);
      } else if (expr.kind == ir::ExprKind::Row) {
        reach = through(kernel_.maps[expr.map], expr.stride, expr.length);
      } else {
        continue;
      }
      if (std::find(found.begin(), found.end(), reach) == found.end()) found.push_back(std::move(reach));
    }
    return found;
  }

  std::int64_t stored(const ir::Store& store) const {
    const ir::Expr& value = kernel_.exprs[store.value];
    const std::int64_t count = through(kernel_.maps[store.map]).count;
    switch (value.kind) {
      case ir::ExprKind::Combine: return count * kernel_.exprs[value.args[1]].length;
      case ir::ExprKind::Partial: return count * value_of(kernel_.parts, ints_);
      default: return count;
    }
  }

 private:
  /// Of vectors of `length` elements.
  Reach through(const ir::IndexMap& map, ir::IntRef stride = {}, std::int64_t length = 1) const {
    if (map.steps.size() > 1 && !map.steps[1].maps.empty()) return through_quotients(map);
    Reach reach;
    std::int64_t fewest = 0;
    for (std::size_t s = 0; s < map.steps.size(); ++s) {
      const ir::MapStep& step = map.steps[s];
      std::vector<std::int64_t> extents = loops_, strides;
      if (s > 0) {
        extents.clear();
        for (ir::IntRef extent : step.extents) extents.push_back(value_of(extent, ints_));
      }
      for (ir::IntRef of_loop : step.strides) strides.push_back(value_of(of_loop, ints_));
      if (s + 1 == map.steps.size()) {
        extents.push_back(length);
        strides.push_back(value_of(stride, ints_));
      }
      reach = reach_of(extents, strides, value_of(step.offset, ints_));
      fewest = s == 0 ? reach.count : std::min(fewest, reach.count);
    }
    // A later step gives no more positions than numbers went in.
    if (reach.count != fewest) {
      reach.count = fewest;
      reach.runs.clear();
    }
    return reach;
  }

  /// Of maps that add quotients: as if these were coordinates of their own.
  Reach through_quotients(const ir::IndexMap& map) const {
    std::vector<std::int64_t> extents = loops_, strides;
    for (ir::IntRef of_loop : map.steps[0].strides) strides.push_back(value_of(of_loop, ints_));
    for (std::size_t k = 0; k < map.steps[1].maps.size(); ++k) {
      const ir::MapStep& quotient = kernel_.maps[map.steps[1].maps[k]].steps.back();
      extents.push_back(value_of(quotient.extents[0], ints_));
      strides.push_back(value_of(map.steps[1].strides[k], ints_));
    }
    Reach reach = reach_of(extents, strides, value_of(map.steps[0].offset, ints_));
    const std::int64_t most = points(of_map_[static_cast<std::size_t>(&map - kernel_.maps.data())]);
    reach.first = std::max<std::int64_t>(reach.first, 0);
    reach.count = std::min({reach.count, most, std::max<std::int64_t>(0, reach.last - reach.first + 1)});
    reach.runs.clear();
    return reach;
  }

  static Reach anywhere(Reach reach, std::int64_t stride, std::int64_t extent) {
    const std::int64_t further = stride * std::max<std::int64_t>(0, extent - 1);
    (further < 0 ? reach.first : reach.last) += further;
    reach.runs.clear();
    return reach;
  }

  std::int64_t points(std::uint64_t loops) const {
    std::int64_t count = 1;
    for (std::size_t k = 0; k < loops_.size(); ++k)
      if (loops >> k & 1) count *= loops_[k];
    return count;
  }

  /// Loops that the value of an expression depends on, as bits.
  std::uint64_t loops_below(const ir::Expr& expr) const {
    std::uint64_t bits = 0;
    for (ir::ExprId arg : expr.args)
      if (arg != ir::kNone) bits |= depends_[arg];
    if (expr.predicate != ir::kNone) bits |= depends_[expr.predicate];
    switch (expr.kind) {
      case ir::ExprKind::Scalar:
      case ir::ExprKind::Elementwise:
      case ir::ExprKind::Partial:
      case ir::ExprKind::Dot: break;
      case ir::ExprKind::Combine:
      case ir::ExprKind::Reduce: bits &= (std::uint64_t{1} << kernel_.outer_rank) - 1; break;
      default: bits |= of_map_[expr.map];
    }
    return bits;
  }

  const ir::Kernel& kernel_;
  std::span<const std::int64_t> ints_;
  std::vector<std::int64_t> loops_;
  std::vector<std::uint32_t> of_map_ = ir::dependence_of_maps(kernel_);  // loops, as bits
  std::vector<std::uint64_t> depends_;
};

Reach dense(std::int64_t numel) {
  const std::int64_t extents[] = {numel}, strides[] = {1};
  return reach_of(extents, strides, 0);
}

Reach reach_of_view(const Shape& shape, const trace::Layout& layout) {
  return reach_of({shape.begin(), shape.rank()}, {layout.strides.begin(), layout.strides.rank()},
                  layout.offset);
}

/// Returns how many elements are new.
std::int64_t add(Coverage& known, const std::vector<Reach>& reaches) {
  std::int64_t added = 0;
  for (const Reach& reach : reaches) added += known.add(reach);
  return added;
}

}  // namespace

Reach reach_of(std::span<const std::int64_t> extents, std::span<const std::int64_t> strides,
               std::int64_t offset) {
  Reach reach;
  reach.first = reach.last = offset;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] <= 0) return Reach{0, -1, 0, {}};
    if (extents[d] == 1 || strides[d] == 0) continue;
    const std::int64_t far = strides[d] * (extents[d] - 1);
    (far < 0 ? reach.first : reach.last) += far;
    reach.runs.push_back({std::abs(strides[d]), extents[d]});
  }
  std::sort(reach.runs.begin(), reach.runs.end(), [](const Reach::Run& a, const Reach::Run& b) {
    return a.step != b.step ? a.step < b.step : a.count < b.count;
  });
  // A run whose steps are multiples of the one below, and leave no gap after it, is more of the one below.
  std::vector<Reach::Run> joined;
  for (const Reach::Run& run : reach.runs) {
    if (!joined.empty() && run.step % joined.back().step == 0 &&
        run.step / joined.back().step <= joined.back().count) {
      joined.back().count += (run.count - 1) * (run.step / joined.back().step);
    } else {
      joined.push_back(run);
    }
  }
  reach.runs = std::move(joined);
  reach.count = 1;
  for (const Reach::Run& run : reach.runs) reach.count *= run.count;
  reach.count = std::min(reach.count, reach.last - reach.first + 1);
  return reach;
}

std::int64_t Coverage::add(const Reach& reach) {
  if (reach.count == 0 || !known_.insert(reach).second) return 0;
  std::int64_t first = reach.first, before = 0;
  Stretch joined{reach.last, reach.count};
  auto at = stretches_.upper_bound(reach.first);
  if (at != stretches_.begin() && std::prev(at)->second.last >= reach.first) --at;
  while (at != stretches_.end() && at->first <= reach.last) {
    first = std::min(first, at->first);
    joined.last = std::max(joined.last, at->second.last);
    joined.elements += at->second.elements;
    before += at->second.elements;
    at = stretches_.erase(at);
  }
  joined.elements = std::min(joined.elements, joined.last - first + 1);
  stretches_.emplace(first, joined);
  total_ += joined.elements - before;
  return joined.elements - before;
}

namespace {

/// Goes through the launches in the order of the plan.
class Counter {
 public:
  Counter(const Plan& plan, const trace::Trace& trace) : plan_(plan), trace_(trace) {
    // Where results are only views of inputs, no launch writes that memory.
    for (const Placement& placement : plan.placements) {
      const Shape& shape = trace.values[placement.value].shape;
      results_[key_of(placement.memory)].add(is_contiguous(shape, placement.layout)
                                                 ? dense(shape.numel())
                                                 : reach_of_view(shape, placement.layout));
    }
  }

  LaunchTraffic launch(const Launch& launch) {
    LaunchTraffic traffic;
    if (const auto* kernel = std::get_if<std::uint32_t>(&launch.what)) {
      const ir::Kernel& of = *plan_.kernels[*kernel];
      const std::size_t uses = launch.uses.size() / launch.members;
      for (std::size_t m = 0; m < launch.members; ++m)
        member(*kernel, launch.uses.subspan(m * uses, uses),
               launch.buffers.subspan(m * of.buffers.size(), of.buffers.size()),
               launch.ints.subspan(m * of.ints, of.ints), traffic);
    } else {
      library(launch, *std::get<library::LibraryOpRef>(launch.what), traffic);
    }
    return traffic;
  }

 private:
  /// What a kernel with its sizes reaches.
  struct FormReach {
    std::vector<std::vector<Reach>> loads;  // of each buffer, each different set once
    std::vector<std::int64_t> stored;       // elements written to each buffer
  };

  static std::uint64_t key_of(const Binding& memory) {
    return static_cast<std::uint64_t>(memory.space) << 32 | memory.index;
  }

  void start_launch() {
    launch_inputs_.clear();
    launch_values_.clear();
  }

  void member(std::uint32_t kernel, std::span<const ValueUse> uses, std::span<const Binding> buffers,
              std::span<const std::int64_t> ints, LaunchTraffic& traffic) {
    start_launch();
    const FormReach& reach = reach_of_form(kernel, ints);
    for (const ValueUse& use : uses) {
      Access& access = traffic.accesses.emplace_back(begin(use, buffers[use.buffer]));
      if (use.read) read(access, reach.loads[use.buffer], true);
      if (use.written) write(access, reach.stored[use.buffer]);
    }
  }

  void library(const Launch& launch, const library::LibraryOp& op, LaunchTraffic& traffic) {
    start_launch();
    const std::vector<LibraryRead>& reads = *launch.reads;
    for (std::size_t k = 0; k < launch.uses.size(); ++k) {
      Binding memory = launch.buffers[k];
      if (k >= reads.size()) {
        write(traffic.accesses.emplace_back(begin(launch.uses[k], memory)),
              op.elements_written(k - reads.size()));
        continue;
      }
      const auto& [shape, layout] = reads[k];
      const DType dtype = plan_.structure->values[launch.uses[k].value].dtype;
      memory.byte_offset -= static_cast<std::size_t>(layout.offset) * size_of(dtype);
      Reach reach = reach_of_view(shape, layout);
      reach.count = std::min(reach.count, op.elements_read(k));
      read(traffic.accesses.emplace_back(begin(launch.uses[k], memory)), {reach}, false);
    }
  }

  Access begin(const ValueUse& use, const Binding& memory) const {
    const StoredValue& value = plan_.structure->values[use.value];
    Access access;
    access.value = use.value;
    access.shape = plan_.shapes[use.value];
    access.dtype = value.dtype;
    access.record = value.record;
    access.external = value.external;
    access.memory = memory;
    access.held = !access.external && access.memory.space != Binding::Space::Temporary;
    return access;
  }

  void read(Access& access, const std::vector<Reach>& reaches, bool in_kernel) {
    const StoredValue& value = plan_.structure->values[access.value];
    const trace::TraceValue* input = access.external ? &trace_.values[value.value] : nullptr;
    // Positions outside of what the value occupies are masked out by the kernel (padding).
    const Reach whole =
        input ? reach_of_view(access.shape, trace_.layout_of(*input)) : dense(access.shape.numel());
    std::vector<Reach> inside;
    for (Reach reach : reaches) {
      if (reach.first < whole.first || reach.last > whole.last) {
        reach.first = std::max(reach.first, whole.first);
        reach.last = std::min(reach.last, whole.last);
        reach.runs.clear();
      }
      reach.count =
          std::min({reach.count, whole.count, std::max<std::int64_t>(0, reach.last - reach.first + 1)});
      // Another way to say "all of it".
      inside.push_back(reach.count == whole.count ? whole : std::move(reach));
    }
    const auto size = static_cast<std::int64_t>(size_of(access.dtype));
    if (!input) {
      // Of several ways into a value some elements may be the same; a library op may also name a value twice.
      const bool once = inside.size() == 1 && in_kernel;
      access.bytes_read =
          (once ? inside[0].count : std::min(add(launch_values_[access.value], inside), whole.count)) * size;
      return;
    }
    access.bytes_read = add(launch_inputs_[input->buffer], inside) * size;
    access.least_bytes = std::min(access.bytes_read, add(inputs_[input->buffer], inside) * size);
  }

  void write(Access& access, std::int64_t elements) const {
    const auto size = static_cast<std::int64_t>(size_of(access.dtype));
    access.written = true;
    access.bytes_written = elements * size;
    if (!access.held) return;
    if (auto seen = results_.find(key_of(access.memory)); seen != results_.end())
      access.least_bytes = std::min(access.bytes_written, seen->second.total() * size);
  }

  const FormReach& reach_of_form(std::uint32_t kernel, std::span<const std::int64_t> ints) {
    const auto [it, added] = forms_.try_emplace({kernel, {ints.begin(), ints.end()}});
    FormReach& found = it->second;
    if (!added) return found;
    const ir::Kernel& of = *plan_.kernels[kernel];
    const KernelReach reach(of, ints);
    found.stored.resize(of.buffers.size());
    for (std::size_t b = 0; b < of.buffers.size(); ++b)
      found.loads.push_back(reach.loads(static_cast<std::uint16_t>(b)));
    for (const ir::Store& store : of.stores) found.stored[store.buffer] = reach.stored(store);
    return found;
  }

  const Plan& plan_;
  const trace::Trace& trace_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::vector<std::int64_t>>, FormReach> forms_;
  absl::flat_hash_map<std::uint64_t, Coverage> results_;  // elements that somebody sees, by memory
  absl::flat_hash_map<std::uint32_t, Coverage> inputs_;   // read so far, by buffer of the trace
  // Read by this launch: values may share a buffer, and a product may read one value twice.
  absl::flat_hash_map<std::uint32_t, Coverage> launch_inputs_, launch_values_;
};

}  // namespace

Traffic traffic_of(const Plan& plan, const trace::Trace& trace) {
  Counter counter(plan, trace);
  Traffic traffic;
  traffic.launches.reserve(plan.launches.size());
  for (const Launch& launch : plan.launches) traffic.launches.push_back(counter.launch(launch));
  return traffic;
}

std::int64_t LaunchTraffic::bytes_read() const {
  std::int64_t bytes = 0;
  for (const Access& access : accesses) bytes += access.bytes_read;
  return bytes;
}

std::int64_t LaunchTraffic::bytes_written() const {
  std::int64_t bytes = 0;
  for (const Access& access : accesses) bytes += access.bytes_written;
  return bytes;
}

std::int64_t Traffic::bytes_moved() const {
  std::int64_t bytes = 0;
  for (const LaunchTraffic& launch : launches) bytes += launch.bytes_read() + launch.bytes_written();
  return bytes;
}

std::int64_t Traffic::least_bytes() const {
  std::int64_t bytes = 0;
  for (const LaunchTraffic& launch : launches)
    for (const Access& access : launch.accesses) bytes += access.least_bytes;
  return bytes;
}

std::size_t input_bytes(const trace::Trace& trace) {
  std::vector<trace::ValueId> in_memory;
  for (trace::ValueId v = 0; v < trace.values.size(); ++v)
    if (trace.values[v].external) in_memory.push_back(v);
  return input_bytes(trace, in_memory);
}

std::size_t input_bytes(const trace::Trace& trace, std::span<const trace::ValueId> in_memory) {
  std::vector<std::size_t> buffers(trace.buffer_count, 0);
  for (const trace::ValueId v : in_memory) {
    const trace::TraceValue& value = trace.values[v];
    const trace::Layout& layout = trace.layout_of(value);
    const std::int64_t elements = is_contiguous(value.shape, layout)
                                      ? value.shape.numel()
                                      : reach_of_view(value.shape, layout).last + 1;
    const std::size_t bytes = static_cast<std::size_t>(elements) * size_of(value.dtype);
    buffers[value.buffer] = std::max(buffers[value.buffer], bytes);
  }
  std::size_t total = 0;
  for (std::size_t bytes : buffers) total += bytes;
  return total;
}

}  // namespace sinter::plan
