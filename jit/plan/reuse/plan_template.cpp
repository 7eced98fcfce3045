// Fills numbers into what was planned before.
#include "jit/plan/reuse/plan_template.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <absl/strings/str_cat.h>

#include "jit/plan/assemble.h"
#include "jit/plan/order.h"
#include "jit/plan/rewrite/passes.h"

namespace sinter::plan {
namespace {

/// Integers of an op that are positions and sizes, not names of dims or attributes.
std::span<const std::int64_t> positions_of(Op op, std::span<const std::int64_t> ints) {
  switch (op) {
    case Op::Slice:
    case Op::Pad: return ints;
    case Op::SliceAssign: return ints.first(ints.size() - 1);  // the last says how it is read
    case Op::SortIndices: return ints;
    case Op::SegmentSum: return ints.first(1);  // the others say how sums are laid out, and of what
    case Op::Windows: return ints.subspan(1);   // the first is the dim
    default: return {};
  }
}

bool has_positions(Op op) {
  return op == Op::Slice || op == Op::Pad || op == Op::SliceAssign || op == Op::Windows ||
         op == Op::SortIndices || op == Op::SegmentSum;
}

/// True iff two ops have the same integers but for positions.
bool same_names(const trace::OpRecord& op, std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  if (!has_positions(op.op)) return std::equal(a.begin(), a.end(), b.begin(), b.end());
  const std::span<const std::int64_t> positions = positions_of(op.op, a);
  const auto first = static_cast<std::size_t>(positions.data() - a.data());
  for (std::size_t k = 0; k < a.size(); ++k)
    if ((k < first || k >= first + positions.size()) && a[k] != b[k]) return false;
  return true;
}

/// All numbers of a trace, in an order of their own, but for starts that move. `take` returns false to end
/// it.
template <class Take>
bool numbers_of(const trace::Trace& trace, Take take) {
  for (const trace::TraceValue& value : trace.values) {
    for (const std::int64_t size : value.shape)
      if (!take(size)) return false;
    if (!value.external) continue;
    for (const std::int64_t stride : value.layout.strides)
      if (!take(stride)) return false;
    if (!take(value.layout.offset)) return false;
  }
  std::size_t next_start = 0;  // number of the op's first start
  for (const trace::OpRecord& op : trace.ops) {
    if (!has_positions(op.op)) continue;
    const std::size_t first_start = next_start, starts = trace::start_count(op);
    next_start += starts;
    const std::span<const std::int64_t> positions = positions_of(op.op, trace.ints_of(op));
    for (std::size_t k = 0; k < positions.size(); ++k) {
      const bool moves = k < starts && !trace.moves.empty() && trace.moves[first_start + k];
      if (!moves && !take(positions[k])) return false;
    }
  }
  return true;
}

/// True iff the same starts move, wherever to.
bool same_starts(const std::vector<NodeStart>& a, const std::vector<NodeStart>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const NodeStart& x, const NodeStart& y) {
    return x.dim == y.dim && x.start.start == y.start.start;
  });
}

bool equal_but_sizes(const trace::Trace& of_a, const trace::OpRecord& a, const trace::Trace& of_b,
                     const trace::OpRecord& b) {
  const auto left = of_a.operands_of(a), right = of_b.operands_of(b);
  return a.op == b.op && a.operand_count == b.operand_count && a.int_count == b.int_count &&
         a.scalar_count == b.scalar_count && a.output_count == b.output_count && a.again == b.again &&
         a.precision == b.precision && a.output == b.output && a.first_int == b.first_int &&
         a.first_scalar == b.first_scalar &&
         std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](trace::OperandId x, trace::OperandId y) { return x.bits == y.bits; });
}

bool equal_but_sizes(const trace::TraceValue& a, const trace::TraceValue& b) {
  return a.dtype == b.dtype && a.external == b.external && a.held == b.held && a.asked == b.asked &&
         a.dying == b.dying && a.fills_buffer == b.fills_buffer && a.buffer == b.buffer &&
         a.shape.rank() == b.shape.rank();
}

/// The number of elements, and with it all that is computed of a shape, fits.
bool fits(const Shape& shape) {
  double count = 1;
  for (const std::int64_t size : shape) count *= static_cast<double>(size);
  return count < 9e18;
}

bool same_uses(const std::vector<BufferUse>& a, const std::vector<BufferUse>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const BufferUse& x, const BufferUse& y) {
    return x.node == y.node && x.read == y.read && x.written == y.written;
  });
}

bool same_scalars(const std::vector<ScalarArgument>& a, const std::vector<ScalarArgument>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ScalarArgument& x, const ScalarArgument& y) {
                      return x.number == y.number && x.dtype == y.dtype;
                    });
}

/// Sizes that divide each other may change how loops are joined and split, and with that what else was
/// merged. So may tensor cores that can compute a kernel or cannot; which tiles they take does not.
bool same_loops(const ir::Kernel& a, const ir::Kernel& b) {
  return a.tiling.sum == b.tiling.sum && a.tiling.a.value == b.tiling.a.value &&
         a.tiling.b.value == b.tiling.b.value && a.outer_rank == b.outer_rank &&
         a.inner_rank == b.inner_rank && a.phases == b.phases && a.exprs.size() == b.exprs.size() &&
         a.maps == b.maps;
}

/// Calls with equal texts have equal ops, for any sizes.
std::string text_of(const Graph& graph, const LibraryCall& call) {
  std::string text = absl::StrCat(call.op->kind().name(), " ", call.op->key(), " ",
                                  graph.nodes[call.results[0]].channels_last, ":");
  for (std::size_t k = 0; k < call.operands.size(); ++k)
    absl::StrAppend(&text, to_string(call.operands[k].layout.strides), "+", call.operands[k].layout.offset,
                    " ", to_string(call.signature.operands[k].shape),
                    static_cast<int>(call.signature.operands[k].dtype), ",");
  for (const LibraryOperand& operand : call.operands)
    for (const Moving& part : operand.layout.moving) absl::StrAppend(&text, " moves by ", part.by.start);
  return text;
}

}  // namespace

Numbers::Numbers() {
  for (const std::int64_t fixed : {0, 1, -1}) id_of(fixed);
}

Numbers::Id Numbers::id_of(std::int64_t number) {
  const auto [known, added] = ids_.try_emplace(number, static_cast<Id>(now_.size()));
  if (added) {
    now_.push_back(number);
    is_set_.push_back(false);
  }
  return known->second;
}

Numbers::Id Numbers::find(std::int64_t number) const {
  const auto known = ids_.find(number);
  return known == ids_.end() ? kNone : known->second;
}

void Numbers::start() {
  is_set_.assign(is_set_.size(), false);
  for (const std::int64_t fixed : {0, 1, -1}) set(find(fixed), fixed);
}

bool Numbers::one_to_one() const {
  std::vector<std::int64_t> set;
  for (std::size_t id = 0; id < now_.size(); ++id)
    if (is_set_[id]) set.push_back(now_[id]);
  std::sort(set.begin(), set.end());
  return std::adjacent_find(set.begin(), set.end()) == set.end();
}

PlanTemplate::PlanTemplate(Planned planned, const trace::Trace& trace, const ir::DeviceTraits& traits,
                           const PlanOptions& options)
    : traits_(traits),
      options_(options),
      limits_(limits_of(traits)),
      trace_(trace),
      planned_(std::move(planned)) {}

std::unique_ptr<PlanTemplate> PlanTemplate::make(Planned planned, const trace::Trace& trace,
                                                 const ir::DeviceTraits& traits, const PlanOptions& options) {
  // Numbers that passes write may follow from sizes.
  if (!planned.checks || planned.checks->gave_up() || !planned.graph.constants.empty()) return nullptr;
  std::unique_ptr<PlanTemplate> made(new PlanTemplate(std::move(planned), trace, traits, options));
  Graph& graph = made->planned_.graph;
  graph.trace = &made->trace_;
  graph.checks = nullptr;
  Numbers& numbers = made->numbers_;
  numbers_of(trace, [&](std::int64_t number) {
    made->trace_numbers_.push_back(numbers.id_of(number));
    return true;
  });
  for (const SizeChecks::Cut& cut : made->planned_.checks->cuts()) {
    if (cut.pieces == 1) continue;
    numbers.id_of(cut.pieces);
    numbers.id_of(cut.in[cut.dim] / cut.pieces);
  }
  std::vector<std::uint32_t> first_start;  // of each op
  std::uint32_t starts = 0;
  for (const trace::OpRecord& op : trace.ops) {
    first_start.push_back(starts);
    starts += static_cast<std::uint32_t>(trace::start_count(op));
  }
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (traits.tensor_cores.any() && node.kind == NodeKind::Op &&
        (node.op == Op::MatMul || node.is(OpClass::Contract)))
      made->products_.push_back(id);
    for (const std::int64_t size : node.shape) {
      made->node_numbers_.push_back(numbers.find(size));
      if (made->node_numbers_.back() == Numbers::kNone) return nullptr;
    }
    if (node.kind != NodeKind::Op || !has_positions(node.op)) continue;
    const trace::OpRecord& record = trace.ops[node.record];
    Node as_recorded;
    as_recorded.shape = node.shape;
    if (node.op == record.op) set_ints(trace, record, first_start[node.record], as_recorded);
    if (node.op != record.op || node.ints != as_recorded.ints || node.starts != as_recorded.starts)
      return nullptr;
    made->takes_ints_.push_back({id, first_start[node.record], node.starts});
  }
  absl::flat_hash_map<const KernelForm*, std::uint32_t> number_of;
  const Grouping& grouping = made->planned_.grouping;
  for (GroupId g = 0; g < grouping.groups.size(); ++g) {
    made->form_of_.push_back(0);
    if (!grouping.groups[g].alive) continue;
    const auto [known, added] = number_of.try_emplace(grouping.kernels[g].form.get(),
                                                      static_cast<std::uint32_t>(made->forms_.size()));
    if (added) {
      Form& form = made->forms_.emplace_back(Form{g, {}, grouping.kernels[g].form});
      for (const NodeId id : grouping.kernels[g].computed)
        if (grouping.owners[id] != kInline && grouping.owners[id] != Owner::kernel(g))
          form.stored_later.push_back(id);
    }
    made->form_of_.back() = known->second;
  }
  absl::flat_hash_map<std::string, std::uint32_t> call_of;
  for (std::uint32_t k = 0; k < grouping.libraries.size(); ++k)
    made->first_call_like_.push_back(
        call_of.try_emplace(text_of(graph, grouping.libraries[k]), k).first->second);
  // The sizes that it was made of are the first that it has to serve.
  if (!made->plan(trace)) return nullptr;
  const bool same = std::all_of(made->forms_.begin(), made->forms_.end(), [](const Form& form) {
    return form.now->text() == form.before->text() && form.now->ints == form.before->ints &&
           form.now->moving == form.before->moving;
  });
  return same ? std::move(made) : nullptr;
}

std::optional<Plan> PlanTemplate::plan(const trace::Trace& trace) {
  if (!matches(trace)) return std::nullopt;
  planned_.graph.trace = &trace;
  struct Reset {
    PlanTemplate& of;
    ~Reset() { of.planned_.graph.trace = &of.trace_; }
  } reset{*this};
  if (!fill_graph(trace) || !fill_libraries() || !fill_kernels()) return std::nullopt;
  std::vector<Step> anew;
  if (!same_batches()) anew = batched_anew();
  const std::vector<Step>& steps = anew.empty() ? planned_.steps : anew;
  const Memory memory = place(planned_.graph, planned_.grouping, steps, traits_.most_buffer_bytes);
  Plan plan = assemble(planned_.graph, planned_.grouping, steps, memory, false);
  plan.cuts = planned_.cuts;
  plan.held = planned_.held;
  plan.unstored = planned_.unstored;
  return plan;
}

/// True iff the trace is the same but for numbers, which are then in `numbers_`, and comparisons hold.
bool PlanTemplate::matches(const trace::Trace& trace) {
  if (trace.ops.size() != trace_.ops.size() || trace.values.size() != trace_.values.size() ||
      trace.ints.size() != trace_.ints.size() || trace.scalars.size() != trace_.scalars.size() ||
      trace.buffer_count != trace_.buffer_count || trace.asks_for_ends != trace_.asks_for_ends ||
      trace.moves != trace_.moves)
    return false;
  for (std::size_t i = 0; i < trace.ops.size(); ++i)
    if (!equal_but_sizes(trace, trace.ops[i], trace_, trace_.ops[i])) return false;
  for (std::size_t i = 0; i < trace.values.size(); ++i) {
    const trace::TraceValue &value = trace.values[i], &before = trace_.values[i];
    if (!equal_but_sizes(value, before) || !fits(value.shape)) return false;
    if (value.external &&
        is_contiguous(value.shape, value.layout) != is_contiguous(before.shape, before.layout))
      return false;
  }
  for (const trace::OpRecord& op : trace.ops)
    if (!same_names(op, trace.ints_of(op), trace_.ints_of(op))) return false;
  if (!set_numbers(trace) || !set_cuts() || !numbers_.one_to_one()) return false;
  return planned_.checks->hold([&](std::int64_t size) {
    const Numbers::Id id = numbers_.find(size);
    return id == Numbers::kNone || !numbers_.is_set(id) ? size : numbers_.now(id);
  });
}

bool PlanTemplate::set_numbers(const trace::Trace& trace) {
  numbers_.start();
  auto id = trace_numbers_.begin();
  return numbers_of(trace, [&](std::int64_t number) { return numbers_.set(*id++, number); });
}

/// Reductions that were cut have sizes of their own.
bool PlanTemplate::set_cuts() {
  for (const SizeChecks::Cut& cut : planned_.checks->cuts()) {
    if (cut.pieces == 1) continue;
    Shape in = cut.in;
    for (std::int64_t& size : in) {
      const Numbers::Id id = numbers_.find(size);
      if (id == Numbers::kNone || !numbers_.is_set(id)) return false;
      size = numbers_.now(id);
    }
    const ReductionCut now = choose_reduction_cut(in, cut.bits, traits_);
    if (now.pieces == 1 || now.dim != cut.dim || !numbers_.set(numbers_.find(cut.pieces), now.pieces) ||
        !numbers_.set(numbers_.find(cut.in[cut.dim] / cut.pieces), in[cut.dim] / now.pieces))
      return false;
  }
  return true;
}

bool PlanTemplate::fill_graph(const trace::Trace& trace) {
  Graph& graph = planned_.graph;
  auto id = node_numbers_.begin();
  for (Node& node : graph.nodes)
    for (std::int64_t& size : node.shape) {
      if (!numbers_.is_set(*id)) return false;
      size = numbers_.now(*id++);
    }
  for (const TakesInts& takes : takes_ints_) {
    Node& node = graph.nodes[takes.node];
    set_ints(trace, trace.ops[node.record], takes.first_start, node);
    if (!same_starts(takes.moving, node.starts)) return false;
  }
  return same_contractions();
}

/// True iff the pass that makes contractions of products would do so with the same ones.
bool PlanTemplate::same_contractions() const {
  const Graph& graph = planned_.graph;
  return std::all_of(products_.begin(), products_.end(), [&](NodeId id) {
    const Node& node = graph.nodes[id];
    return is_contracted(graph, node) == node.is(OpClass::Contract);
  });
}

/// Library ops for the sizes at hand; false where one reads its operands otherwise.
bool PlanTemplate::fill_libraries() {
  Graph& graph = planned_.graph;
  std::vector<LibraryCall>& calls = planned_.grouping.libraries;
  for (std::size_t k = 0; k < calls.size(); ++k) {
    LibraryCall& call = calls[k];
    if (first_call_like_[k] != k) {
      const LibraryCall& like = calls[first_call_like_[k]];
      call.signature = like.signature;
      call.op = like.op;
      for (std::size_t o = 0; o < call.operands.size(); ++o)
        call.operands[o].layout = like.operands[o].layout;
      continue;
    }
    LibraryCall now = library_call(graph, call.results[0]);
    for (std::size_t o = 0; o < call.operands.size(); ++o) {
      LibraryOperand& operand = now.operands[o];
      const NodeId given = graph.nodes[call.results[0]].operands[o];
      // What is stored for another reason is read from its own memory.
      if (call.operands[o].base == given && operand.base != given)
        operand = {given, trace::contiguous_layout(graph.nodes[given].shape)};
      if (operand.base != call.operands[o].base) return false;
    }
    call.signature = std::move(now.signature);
    call.operands = std::move(now.operands);
    make_library_op(graph, call);
  }
  return true;
}

/// Lowers each form for the sizes at hand; false where a group becomes another kernel than before.
bool PlanTemplate::fill_kernels() {
  Grouping& grouping = planned_.grouping;
  std::uint32_t number = 0;
  Owners& owners = grouping.owners;
  for (Form& form : forms_) {
    const LoweredGroup& before = grouping.kernels[form.group];
    std::vector<Owner> in_the_end;
    for (const NodeId id : form.stored_later) in_the_end.push_back(std::exchange(owners[id], kInline));
    std::variant<Lowered, std::string> result =
        lower(planned_.graph, owners, form.group, grouping.groups[form.group], limits_);
    for (std::size_t k = 0; k < in_the_end.size(); ++k) owners[form.stored_later[k]] = in_the_end[k];
    auto* lowered = std::get_if<Lowered>(&result);
    if (lowered == nullptr || !same_uses(lowered->buffers, before.buffers) ||
        !same_scalars(lowered->scalars, before.scalars) || lowered->computed != before.computed ||
        lowered->gathers != before.gathers || !same_loops(lowered->kernel, form.before->kernel))
      return false;
    std::vector<std::uint32_t> starts = before.starts;
    std::vector<MovingNumber> moving = by_place(std::move(lowered->moving), starts);
    if (starts != before.starts) return false;
    const auto now = std::make_shared<KernelForm>();
    now->number = number++;
    now->kernel = std::move(lowered->kernel);
    now->ints = std::move(lowered->ints);
    now->moving = std::move(moving);
    form.now = now;
  }
  for (GroupId g = 0; g < grouping.groups.size(); ++g)
    if (grouping.groups[g].alive) grouping.kernels[g].form = forms_[form_of_[g]].now;
  return true;
}

/// True iff the same groups have the same kernel as before: these may share launches.
bool PlanTemplate::same_batches() const {
  if (!options_.fusion || traits_.batch_bytes == 0) return true;
  absl::flat_hash_map<std::string_view, std::string_view> before, now;
  for (const Form& form : forms_) {
    const ir::Kernel &then = form.before->kernel, &today = form.now->kernel;
    if (then.split != today.split || then.tiling.any() != today.tiling.any() ||
        most_members(then, traits_) != most_members(today, traits_))
      return false;
    const std::string_view a = form.before->text(), b = form.now->text();
    if (now.try_emplace(a, b).first->second != b || before.try_emplace(b, a).first->second != a) return false;
  }
  return true;
}

std::vector<Step> PlanTemplate::batched_anew() const {
  std::vector<Step> steps = make_steps(planned_.grouping);
  batch(planned_.graph, planned_.grouping, traits_, steps);
  return steps;
}

}  // namespace sinter::plan
