// Fills numbers into what was planned before.
#include "jit/plan/reuse/plan_template.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <absl/strings/str_cat.h>

#include "jit/ir/compare.h"
#include "jit/plan/order.h"
#include "jit/plan/reuse/questions.h"
#include "jit/plan/rewrite/passes.h"

namespace sinter::plan {
namespace {

// Kernels of one form that differ, for sizes of one kind or another, and plans of such.
constexpr std::size_t kMostKernels = 8, kMostOutlines = 4;

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
         a.tiling.b.value == b.tiling.b.value && a.tiling.others == b.tiling.others &&
         a.tiling.terms == b.tiling.terms && a.outer_rank == b.outer_rank && a.inner_rank == b.inner_rank &&
         a.phases == b.phases && a.attention.any() == b.attention.any() &&
         a.lone_rows.lanes == b.lone_rows.lanes && a.exprs.size() == b.exprs.size() && a.maps == b.maps;
}

/// Calls with equal texts have equal ops, for any sizes; joins have none.
std::string text_of(const Graph& graph, const LibraryCall& call) {
  if (call.is_join) return "join";
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

PlanTemplate::PlanTemplate(Planned planned, const trace::Trace& trace, SkeletonRef skeleton,
                           const ir::DeviceTraits& traits, const PlanOptions& options)
    : traits_(traits),
      options_(options),
      limits_(limits_of(traits)),
      known_(trace, std::move(skeleton), numbers_),
      planned_(std::move(planned)) {}

std::unique_ptr<PlanTemplate> PlanTemplate::make(Planned planned, const trace::Trace& trace,
                                                 SkeletonRef skeleton, const ir::DeviceTraits& traits,
                                                 const PlanOptions& options) {
  // Numbers that passes write may follow from sizes.
  if (!planned.checks || planned.checks->gave_up() || !planned.graph.constants.empty()) return nullptr;
  std::unique_ptr<PlanTemplate> made(
      new PlanTemplate(std::move(planned), trace, std::move(skeleton), traits, options));
  Graph& graph = made->planned_.graph;
  graph.trace = &made->known_.trace();
  graph.checks = nullptr;
  Numbers& numbers = made->numbers_;
  for (const SizeChecks::Cut& cut : made->planned_.checks->cuts()) {
    if (cut.pieces == 1) continue;
    numbers.id_of(cut.pieces);
    numbers.id_of(cut.in[cut.dim] / cut.pieces);
  }
  for (const std::int64_t size : made->planned_.checks->written()) numbers.id_of(size);
  Graph& asked = made->planned_.checks->questions().graph();
  asked.trace = graph.trace;
  made->sized_ = std::make_unique<SizedGraph>(graph, numbers);
  made->sized_questions_ = std::make_unique<SizedGraph>(asked, numbers);
  if (!made->sized_->fits() || !made->sized_questions_->fits()) return nullptr;
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
  made->filled_first_.resize(made->forms_.size());
  std::iota(made->filled_first_.begin(), made->filled_first_.end(), 0u);
  Lowerer lowerer(graph, made->limits_);
  for (Form& form : made->forms_) made->note_numbers(form, lowerer);
  absl::flat_hash_map<std::string, std::uint32_t> call_of;
  for (std::uint32_t k = 0; k < grouping.libraries.size(); ++k)
    made->first_call_like_.push_back(
        call_of.try_emplace(text_of(graph, grouping.libraries[k]), k).first->second);
  // The sizes that it was made of are the first that it has to serve.
  if (!made->plan(trace, made->known_.skeleton())) return nullptr;
  const bool same = std::all_of(made->forms_.begin(), made->forms_.end(), [](const Form& form) {
    return form.now->text() == form.before->text() && form.now->ints == form.before->ints &&
           form.now->moving == form.before->moving &&
           same_kernels(form.now->in_place, form.before->in_place) &&
           (!form.now->in_place || (form.now->in_place->ints == form.before->in_place->ints &&
                                    form.now->in_place->moving == form.before->in_place->moving));
  });
  return same ? std::move(made) : nullptr;
}

std::optional<Plan> PlanTemplate::plan(const trace::Trace& trace, const SkeletonRef& skeleton) {
  if (!matches(trace, skeleton)) return std::nullopt;
  struct OfTrace {
    PlanTemplate& of;
    OfTrace(PlanTemplate& of, const trace::Trace& trace) : of(of) { set(trace); }
    ~OfTrace() { set(of.known_.trace()); }
    void set(const trace::Trace& trace) {
      of.planned_.graph.trace = of.planned_.checks->questions().graph().trace = &trace;
    }
  } of_trace(*this, trace);
  if (!fill_graph() || !fill_kernels() || !fill_libraries()) return std::nullopt;
  Plan plan = planned_by_outline();
  plan.cuts = planned_.cuts;
  plan.held = planned_.held;
  plan.unstored = planned_.unstored;
  return plan;
}

/// True iff the trace is the same but for numbers, which are then in `numbers_`, and comparisons hold.
bool PlanTemplate::matches(const trace::Trace& trace, const SkeletonRef& skeleton) {
  numbers_.start();
  if (!known_.matches(trace, skeleton, numbers_) || !set_cuts() || !numbers_.one_to_one()) return false;
  return planned_.checks->hold([&](std::int64_t size) {
    const Numbers::Id id = numbers_.find(size);
    return id == Numbers::kNone || !numbers_.is_set(id) ? size : numbers_.now(id);
  });
}

/// Reductions that were cut have sizes of their own, and some sizes stay what they are.
bool PlanTemplate::set_cuts() {
  for (const std::int64_t size : planned_.checks->written())
    if (!numbers_.set(numbers_.find(size), size)) return false;
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

/// Sizes for the trace at hand; false where something was decided by the old ones.
bool PlanTemplate::fill_graph() {
  const Graph& graph = planned_.graph;
  if (!sized_questions_->fill(numbers_) || !planned_.checks->questions().hold(traits_) ||
      !sized_->fill(numbers_))
    return false;
  // What shows a stored value as it lies was not stored itself.
  return std::all_of(graph.results.begin(), graph.results.end(), [&](const Result& result) {
    return planned_.grouping.owners[result.node] != kInline || strided_view(graph, result.node).has_value();
  });
}

/// Library ops for the sizes at hand; false where one reads its operands otherwise.
bool PlanTemplate::fill_libraries() {
  Graph& graph = planned_.graph;
  std::vector<LibraryCall>& calls = planned_.grouping.libraries;
  for (std::size_t k = 0; k < calls.size(); ++k) {
    LibraryCall& call = calls[k];
    if (call.is_join) continue;
    if (first_call_like_[k] != k) {
      const LibraryCall& like = calls[first_call_like_[k]];
      call.op = like.op;
      call.reads = like.reads;
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
  for (std::size_t k = 0; k < forms_.size(); ++k) {
    const std::uint32_t form = filled_first_[k];
    if (!has_new_numbers(forms_[form]) || fill_kernel(forms_[form])) continue;
    // Sizes of one kind are refused by the same form: another template is asked soon.
    std::rotate(filled_first_.begin(), filled_first_.begin() + static_cast<std::ptrdiff_t>(k),
                filled_first_.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    return false;
  }
  Grouping& grouping = planned_.grouping;
  for (GroupId g = 0; g < grouping.groups.size(); ++g)
    if (const auto& now = forms_[form_of_[g]].now;
        grouping.groups[g].alive && grouping.kernels[g].form != now)
      grouping.kernels[g].form = now;
  return true;
}

bool PlanTemplate::fill_kernel(Form& form) {
  form.now = nullptr;
  ++lowered_;
  Grouping& grouping = planned_.grouping;
  Owners& owners = grouping.owners;
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
  if (lowered->in_place) lowered->in_place->moving = by_place(std::move(lowered->in_place->moving), starts);
  if (starts != before.starts) return false;
  const auto known = std::find_if(form.kernels.begin(), form.kernels.end(), [&](const auto& kernel) {
    return ir::is_same(kernel->kernel, lowered->kernel) && same_kernels(kernel->in_place, lowered->in_place);
  });
  if (known != form.kernels.end()) {
    form.now = *known;
  } else {
    if (form.kernels.size() == kMostKernels) forget_kernels(form);
    form.now = form.kernels.emplace_back(std::make_shared<KernelForm>());
    form.now->number = kernels_made_++;
    form.now->kernel = std::move(lowered->kernel);
  }
  form.now->in_place = std::move(lowered->in_place);
  form.now->ints = std::move(lowered->ints);
  form.now->moving = std::move(moving);
  return true;
}

/// Plans are outlines of kernels by their address.
void PlanTemplate::forget_kernels(Form& form) {
  outlines_.clear();
  form.kernels.clear();
}

/// The numbers that lowering the form looks at.
void PlanTemplate::note_numbers(Form& form, Lowerer& lowerer) {
  Owners owners = planned_.grouping.owners;
  for (const NodeId id : form.stored_later) owners[id] = kInline;
  const Graph& graph = planned_.graph;
  std::vector<Numbers::Id> ids;
  const auto add = [&](std::span<const std::int64_t> numbers) {
    for (const std::int64_t number : numbers) ids.push_back(numbers_.find(number));
  };
  for (const NodeId id : lowerer.looked_at(owners, form.group, planned_.grouping.groups[form.group])) {
    const Node& node = graph.nodes[id];
    // Ranges of starts are no numbers of the trace; tables are looked at through views.
    if (!node.starts.empty() || node.is(OpClass::Gather)) return;
    add(node.shape);
    if (node.kind == NodeKind::External) {
      const trace::Layout& layout = known_.trace().layout_of(node.value);
      add(layout.strides);
      add({&layout.offset, 1});
    } else if (node.kind == NodeKind::Op) {
      add(positions_of(node.op, node.ints));
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (std::binary_search(ids.begin(), ids.end(), Numbers::kNone)) return;
  form.numbers = std::move(ids);
}

/// False where the form is what it was last. What is not known to have no new numbers has some.
bool PlanTemplate::has_new_numbers(Form& form) const {
  if (!form.numbers) return true;
  std::vector<std::int64_t> numbers;
  numbers.reserve(form.numbers->size());
  for (const Numbers::Id id : *form.numbers) numbers.push_back(numbers_.now(id));
  if (form.now && numbers == form.numbers_then) return false;
  form.numbers_then = std::move(numbers);
  return true;
}

/// True iff the same groups have the same kernel as before: these may share launches.
bool PlanTemplate::same_batches() const {
  if (!options_.fusion || traits_.batch_bytes == 0) return true;
  absl::flat_hash_map<std::string_view, std::string_view> before, now;
  for (const Form& form : forms_) {
    const ir::Kernel &then = form.before->kernel, &today = form.now->kernel;
    if (then.split != today.split || then.tiling.any() != today.tiling.any() ||
        ir::may_have_members(then) != ir::may_have_members(today) ||
        most_members(then, traits_) != most_members(today, traits_))
      return false;
    const std::string_view a = form.before->text(), b = form.now->text();
    if (now.try_emplace(a, b).first->second != b || before.try_emplace(b, a).first->second != a) return false;
  }
  return true;
}

std::size_t PlanTemplate::held_bytes() const {
  // A node with its group, its place in a step and its op of the trace.
  constexpr std::size_t kNode = 1000;
  std::size_t bytes = planned_.graph.nodes.size() * kNode;
  for (const Outline& outline : outlines_) bytes += outline.held_bytes();
  return bytes;
}

std::vector<const KernelForm*> PlanTemplate::kernels_now() const {
  std::vector<const KernelForm*> kernels;
  kernels.reserve(forms_.size());
  for (const Form& form : forms_) kernels.push_back(form.now.get());
  return kernels;
}

Plan PlanTemplate::planned_by_outline() {
  Graph& graph = planned_.graph;
  const Grouping& grouping = planned_.grouping;
  std::vector<const KernelForm*> kernels = kernels_now();
  auto known = std::find_if(outlines_.begin(), outlines_.end(),
                            [&](const Outline& outline) { return outline.kernels() == kernels; });
  if (known == outlines_.end()) {
    std::vector<Step> steps;
    if (same_batches()) {
      steps = planned_.steps;
    } else {
      steps = make_steps(grouping);
      batch(graph, grouping, traits_, steps);
      put_updates_last(graph, steps);
    }
    if (outlines_.size() == kMostOutlines) outlines_.pop_back();
    known = outlines_.insert(outlines_.end(), Outline(graph, grouping, std::move(steps), std::move(kernels),
                                                      ArenaLimits(traits_)));
  }
  std::rotate(outlines_.begin(), known, known + 1);
  return outlines_.front().plan(graph, grouping);
}

}  // namespace sinter::plan
