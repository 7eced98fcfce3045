// Counts distinct elements behind index maps.
#include "jit/plan/traffic.h"

#include <algorithm>
#include <cstdlib>

namespace sinter::plan {
namespace {

std::int64_t value_of(ir::IntRef number, std::span<const std::int64_t> ints) {
  if (number.is_zero()) return 0;
  return number.is_one() ? 1 : ints[number.index];
}

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
    const bool is_vector = value.kind == ir::ExprKind::Combine;
    return through(kernel_.maps[store.map]).count * (is_vector ? kernel_.exprs[value.args[1]].length : 1);
  }

 private:
  /// Of vectors of `length` elements.
  Reach through(const ir::IndexMap& map, ir::IntRef stride = {}, std::int64_t length = 1) const {
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
      case ir::ExprKind::Dot: break;
      case ir::ExprKind::Combine:
      case ir::ExprKind::Reduce: bits &= (std::uint64_t{1} << kernel_.outer_rank) - 1; break;
      default: {
        const std::vector<ir::IntRef>& strides = kernel_.maps[expr.map].steps[0].strides;
        for (std::size_t k = 0; k < strides.size(); ++k)
          if (!strides[k].is_zero()) bits |= std::uint64_t{1} << k;
      }
    }
    return bits;
  }

  const ir::Kernel& kernel_;
  std::span<const std::int64_t> ints_;
  std::vector<std::int64_t> loops_;
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

Traffic::Traffic(const Graph& graph, const Grouping& grouping) : graph_(graph) {
  for (const Result& result : graph.results) {
    const Node& node = graph.nodes[result.node];
    if (grouping.owners[result.node] != kInline) {
      results_[result.node].add(dense(node.shape.numel()));
    } else if (const std::optional<StridedView> view = strided_view(graph, result.node);
               view && graph.nodes[view->base].kind != NodeKind::External) {
      results_[view->base].add(reach_of_view(node.shape, view->layout));
    }
  }
}

void Traffic::start_launch() {
  launch_inputs_.clear();
  launch_values_.clear();
}

Access Traffic::begin(NodeId id, const Memory& memory) const {
  const Node& node = graph_.nodes[id];
  Access access;
  access.value = id;
  access.shape = node.shape;
  access.dtype = node.dtype;
  access.record = node.record;
  access.external = node.kind == NodeKind::External;
  access.memory = access.external ? Binding{Binding::Space::Input, graph_.trace->values[node.value].buffer, 0}
                                  : memory.of_node[id];
  access.held = !access.external && access.memory.space != Binding::Space::Temporary;
  return access;
}

void Traffic::read(Access& access, NodeId id, const std::vector<Reach>& reaches, bool in_kernel) {
  const Node& node = graph_.nodes[id];
  const trace::TraceValue* input = access.external ? &graph_.trace->values[node.value] : nullptr;
  // Positions outside of what the value occupies are masked out by the kernel (padding).
  const Reach whole = input ? reach_of_view(node.shape, input->layout) : dense(node.shape.numel());
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
  const auto size = static_cast<std::int64_t>(size_of(node.dtype));
  if (!input) {
    // Of several ways into a value some elements may be the same; a library op may also name a value twice.
    const bool once = inside.size() == 1 && in_kernel;
    access.bytes_read =
        (once ? inside[0].count : std::min(add(launch_values_[id], inside), whole.count)) * size;
    return;
  }
  access.bytes_read = add(launch_inputs_[input->buffer], inside) * size;
  access.least_bytes = std::min(access.bytes_read, add(inputs_[input->buffer], inside) * size);
}

void Traffic::write(Access& access, NodeId id, std::int64_t elements) const {
  const auto size = static_cast<std::int64_t>(size_of(graph_.nodes[id].dtype));
  access.written = true;
  access.bytes_written = elements * size;
  if (auto seen = results_.find(id); seen != results_.end())
    access.least_bytes = std::min(access.bytes_written, seen->second.total() * size);
}

const Traffic::FormReach& Traffic::reach_of_form(const KernelForm& form) {
  const auto [it, added] = forms_.try_emplace(&form);
  FormReach& found = it->second;
  if (!added) return found;
  const KernelReach reach(form.kernel, form.ints);
  found.stored.resize(form.kernel.buffers.size());
  for (std::size_t b = 0; b < form.kernel.buffers.size(); ++b)
    found.loads.push_back(reach.loads(static_cast<std::uint16_t>(b)));
  for (const ir::Store& store : form.kernel.stores) found.stored[store.buffer] = reach.stored(store);
  return found;
}

std::vector<Access> Traffic::kernel(const LoweredGroup& lowered, const Memory& memory) {
  start_launch();
  const FormReach& reach = reach_of_form(*lowered.form);
  std::vector<Access> accesses;
  for (std::size_t b = 0; b < lowered.buffers.size(); ++b) {
    const BufferUse& use = lowered.buffers[b];
    Access& access = accesses.emplace_back(begin(use.node, memory));
    if (use.read) read(access, use.node, reach.loads[b], true);
    if (use.written) write(access, use.node, reach.stored[b]);
  }
  return accesses;
}

std::vector<Access> Traffic::library(const LibraryCall& call, const Memory& memory) {
  start_launch();
  std::vector<Access> accesses;
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    const auto& [base, layout] = call.operands[k];
    Access& access = accesses.emplace_back(begin(base, memory));
    Reach reach = reach_of_view(call.signature.operands[k].shape, layout);
    reach.count = std::min(reach.count, call.op->elements_read(k));
    read(access, base, {reach}, false);
  }
  for (std::size_t r = 0; r < call.results.size(); ++r)
    write(accesses.emplace_back(begin(call.results[r], memory)), call.results[r],
          call.op->elements_written(r));
  return accesses;
}

std::size_t input_bytes(const trace::Trace& trace) {
  std::vector<std::size_t> buffers(trace.buffer_count, 0);
  for (const trace::TraceValue& value : trace.values) {
    if (!value.external) continue;
    const Reach reach = reach_of_view(value.shape, value.layout);
    if (reach.count == 0) continue;
    const std::size_t bytes = static_cast<std::size_t>(reach.last + 1) * size_of(value.dtype);
    buffers[value.buffer] = std::max(buffers[value.buffer], bytes);
  }
  std::size_t total = 0;
  for (std::size_t bytes : buffers) total += bytes;
  return total;
}

}  // namespace sinter::plan
