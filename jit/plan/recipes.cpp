// Which held values stay recipes.
#include "jit/plan/recipes.h"

#include <algorithm>
#include <utility>

#include "jit/plan/group/storing.h"

namespace sinter::plan {
namespace {

// A recipe takes about as long to make as to store this many bytes on one core ...
constexpr double kLeastBytes = 64 << 10;
// ... and is worth its time on the host only if it saves the device as much: an eighth of a launch.
constexpr double kLaunches = 8;
// So many times smaller than a value, a result is stored for its recipe; all of them together may have, and
// a recipe may keep alive beyond what the value would take, the second part of it.
constexpr double kSmall = 16, kSlack = 8;
constexpr std::size_t kMostOps = 32;

class Keeper {
 public:
  Keeper(Graph& graph, const ir::DeviceTraits& traits, const PlanOptions& options)
      : graph_(graph),
        traits_(traits),
        fusion_(options.fusion),
        least_bytes_(options.recipe_bytes >= 0 ? static_cast<double>(options.recipe_bytes)
                                               : std::max(kLeastBytes, traits.launch_bytes / kLaunches)),
        in_memory_(graph.nodes.size()),
        stored_(graph.nodes.size()),
        seen_(graph.nodes.size()) {}

  KeepOrCompute run() {
    find_asked();
    find_in_memory();
    // Results come in the order of the program, so that what a later one may read is decided.
    std::vector<Result> stored;
    for (const Result& result : graph_.results) {
      const char* why = asked_[result.node] ? kAskedFor : why_stored(result.node);
      found_.held.push_back({result.value, node(result.node).record, why != nullptr, why ? why : ""});
      if (why) {
        stored_[result.node] = true;
        stored.push_back(result);
        continue;
      }
      found_.held.back().reason = small_.empty()
                                      ? "cheap to compute from what lives anyway"
                                      : "cheap to compute from small values that are stored for it";
      for (NodeId small : small_) {
        stored_[small] = true;
        stored.push_back({value_of(small), small});
      }
      reductions_.insert(reductions_.end(), read_.begin(), read_.end());
      std::sort(records_.begin(), records_.end());
      found_.unstored.push_back({result.value, records_});
    }
    std::sort(reductions_.begin(), reductions_.end());
    for (Result& result : stored)
      result.feeds_recipe = std::binary_search(reductions_.begin(), reductions_.end(), result.node);
    graph_.results = std::move(stored);
    return std::move(found_);
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }
  const trace::TraceValue& external(NodeId id) const { return graph_.trace->values[node(id).value]; }
  const trace::OpRecord& record(NodeId id) const { return graph_.trace->ops[node(id).record]; }
  // Not an integer: views that repeat their elements may have 2^62 bytes each.
  double bytes(NodeId id) const {
    return static_cast<double>(node(id).shape.numel()) * static_cast<double>(size_of(node(id).dtype));
  }
  /// The value of the trace that an op's node stands for.
  trace::ValueId value_of(NodeId id) const {
    return record(id).output +
           (node(id).is(OpClass::Result) ? static_cast<trace::ValueId>(node(id).ints[0]) : 0);
  }

  void find_asked() {
    asked_.assign(graph_.nodes.size(), false);
    if (!graph_.trace->asks_for_ends) {
      for (const Result& result : graph_.results)
        asked_[result.node] = graph_.trace->values[result.value].asked;
    } else {
      std::vector<bool> needed = needed_nodes(), read(graph_.nodes.size());
      for (NodeId id = 0; id < graph_.nodes.size(); ++id)
        for (NodeId operand : node(id).operands)
          if (needed[id]) read[operand] = true;
      for (const Result& result : graph_.results) asked_[result.node] = !read[result.node];
    }
  }

  std::vector<bool> needed_nodes() const {
    std::vector<bool> needed(graph_.nodes.size());
    for (const Result& result : graph_.results) needed[result.node] = true;
    for (NodeId id = static_cast<NodeId>(graph_.nodes.size()); id-- > 0;)
      for (NodeId operand : node(id).operands)
        if (needed[id]) needed[operand] = true;
    return needed;
  }

  /// Notes results that are written to memory for another reason than being held.
  void find_in_memory() {
    const std::vector<bool> needed = needed_nodes();
    const auto note = [&](NodeId id) {
      if (strided_view(graph_, id)) in_memory_[base_of(graph_, id)] = true;
    };
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      if (!needed[id]) continue;
      if (node(id).is(OpClass::Library))
        for (NodeId operand : node(id).operands) note(operand);
      if (node(id).is(OpClass::Gather)) note(node(id).operands[0]);
    }
    for (const Result& result : graph_.results)
      if (asked_[result.node] && node(result.node).is(OpClass::View)) note(result.node);
  }

  /// Null: it stays a recipe, of `records_` and with `small_` stored for it.
  const char* why_stored(NodeId id) {
    small_.clear();
    read_.clear();
    records_.clear();
    if (!fusion_) return "fusion is off";
    const NodeId base = base_of(graph_, id);
    const bool is_view = id != base && strided_view(graph_, id);
    if (is_view && node(base).kind == NodeKind::External) return "a view of an input";
    if (is_view && stored_[base]) return "a view of what is stored";
    if (in_memory_[base] && (is_view || id == base)) return "in memory for another operation";
    const NodeId smaller = bytes(id) <= bytes(base) ? id : base;
    const double size = bytes(smaller);
    if (graph_.checks) {
      check(SizeChecks::Is::AtLeast, {term(base), term(id, -1)}, 0, smaller == id);
      check(SizeChecks::Is::AtLeast, {term(smaller)}, -least_bytes_, size >= least_bytes_);
      size_of_ = term(smaller);
    }
    if (size < least_bytes_) return "small";
    if (record(id).again) return "used again";
    return why_not_computed(id, size);
  }

  /// Looks at what a recipe for `id` would do: computes, down to what is in memory.
  const char* why_not_computed(NodeId id, double size) {
    double kept = 0, work = 0, small = 0;
    std::vector<SizeChecks::Term> kept_terms, work_terms, small_terms;  // the same, for checks
    ++searches_;
    std::vector<NodeId> todo{id};
    while (!todo.empty()) {
      const NodeId at = todo.back();
      todo.pop_back();
      const Node& n = node(at);
      if (n.kind == NodeKind::Scalar || std::exchange(seen_[at], searches_) == searches_) continue;
      if (n.kind == NodeKind::External) {
        if (external(at).dying) return "its inputs die here";
        if (!external(at).fills_buffer) return "it would keep a larger buffer alive";
        kept += bytes(at);
        kept_terms.push_back(term(at));
      } else if (at != id && stored_[at] && !n.is(OpClass::View) && !is_stored_float(n.dtype)) {
        kept += bytes(at);
        kept_terms.push_back(term(at));
        if (n.is(OpClass::Reduce)) read_.push_back(at);
      } else if (const char* why = why_not_again(n)) {
        small += bytes(at);
        if (at == id) return why;
        small_terms.push_back(term(at, kSlack));
        if (graph_.checks) {
          check(SizeChecks::Is::More, {term(at, kSmall), less(1)}, 0, bytes(at) * kSmall > size);
          std::vector<SizeChecks::Term> terms = small_terms;
          terms.push_back(less(1));
          check(SizeChecks::Is::More, std::move(terms), 0, small * kSlack > size);
        }
        if (is_stored_float(n.dtype) || bytes(at) * kSmall > size || small * kSlack > size)
          return "it comes of what is not stored";
        kept += bytes(at);
        kept_terms.push_back(term(at));
        small_.push_back(at);
        if (n.is(OpClass::Reduce)) read_.push_back(at);
      } else {
        if (record(at).again) return "it comes of a value that was left out before";
        if (records_.size() == kMostOps) return "many operations";
        records_.push_back(n.record);
        work += weight_of(n) * static_cast<double>(n.shape.numel()) / traits_.work_per_byte;
        work_terms.push_back({n.shape, weight_of(n) / traits_.work_per_byte});
        todo.insert(todo.end(), n.operands.begin(), n.operands.end());
      }
    }
    if (graph_.checks) {
      std::vector<SizeChecks::Term> terms = kept_terms;
      terms.push_back(less(1 + 1 / kSlack));
      check(SizeChecks::Is::More, terms, 0, kept > size + size / kSlack);
      terms.back() = less(2);
      terms.insert(terms.end(), work_terms.begin(), work_terms.end());
      check(SizeChecks::Is::More, std::move(terms), 0, kept + work > 2 * size);
    }
    if (kept > size + size / kSlack) return "its inputs take more memory";
    return kept + work > 2 * size ? "dearer to compute again" : nullptr;
  }

  SizeChecks::Term term(NodeId id, double times = 1) const {
    return {node(id).shape, times * static_cast<double>(size_of(node(id).dtype))};
  }
  /// The size of the value at hand, to be subtracted.
  SizeChecks::Term less(double times) const { return {size_of_.shape, -times * size_of_.times}; }
  void check(SizeChecks::Is is, std::vector<SizeChecks::Term> terms, double constant, bool outcome) const {
    graph_.checks->compare(is, std::move(terms), constant, outcome);
  }

  /// Null: the operation gives the same bits in whatever kernel it lands, and costs a known little.
  const char* why_not_again(const Node& n) const {
    switch (n.op_class()) {
      case OpClass::View:
      case OpClass::Pad:
      case OpClass::Source: return nullptr;
      case OpClass::Elementwise: break;
      case OpClass::Reduce:
      case OpClass::Contract:
      case OpClass::Dot:
      case OpClass::Combine:
      case OpClass::Partial: return "a reduction";
      case OpClass::Gather: return "an indexed read";
      case OpClass::Join:
      case OpClass::Library:
      case OpClass::Result: return "a library operation";
    }
    // Within a kernel they have more digits than in memory.
    if (is_stored_float(n.dtype)) return is_half(n.dtype) ? "16-bit floats" : "8-bit floats";
    // Processors multiply by the reciprocal of a number that divides a whole vector.
    if (n.op == Op::Div && is_float(n.dtype) && traits_.is_cpu) return "a quotient";
    return nullptr;
  }

  Graph& graph_;
  const ir::DeviceTraits& traits_;
  const bool fusion_;
  const double least_bytes_;
  std::vector<bool> asked_, in_memory_, stored_;
  KeepOrCompute found_;
  SizeChecks::Term size_of_{};          // of the value at hand, where checks want it
  std::vector<NodeId> small_;           // of the value at hand
  std::vector<std::uint32_t> records_;  // likewise
  std::vector<NodeId> read_;            // likewise: reductions that its recipe reads
  std::vector<NodeId> reductions_;      // that all recipes read
  std::vector<std::uint32_t> seen_;     // the last search that has seen a node
  std::uint32_t searches_ = 0;
};

}  // namespace

KeepOrCompute keep_or_compute(Graph& graph, const ir::DeviceTraits& traits, const PlanOptions& options) {
  return Keeper(graph, traits, options).run();
}

}  // namespace sinter::plan
