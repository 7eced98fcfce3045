// Describes groups so that equal descriptions have equal kernels.
#include "jit/plan/lower/lowerer.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include <xxhash.h>

#include "jit/ir/compare.h"

namespace sinter::plan {
namespace {

/// Who computes a node, as far as lowering a group looks at it.
enum class Role : std::uint64_t { Inline, Own, Memory, Scalar, Table };

Role role_of(const Node& node, Owner owner, GroupId group) {
  if (node.kind == NodeKind::Scalar) return Role::Scalar;
  if (node.kind == NodeKind::External) return Role::Memory;
  if (owner == kInline) return Role::Inline;
  return owner == Owner::kernel(group) ? Role::Own : Role::Memory;
}

std::uint64_t word_of(Role role, std::uint64_t number) {
  return static_cast<std::uint64_t>(role) << 32 | number;
}

}  // namespace

const std::string& KernelForm::text() const {
  if (text_.empty()) text_ = ir::to_string(kernel);
  return text_;
}

bool same_kernels(const std::optional<InPlaceKernel>& a, const std::optional<InPlaceKernel>& b) {
  if (!a || !b) return !a && !b;
  return a->over == b->over && a->places == b->places && ir::is_same(a->kernel, b->kernel);
}

std::vector<MovingNumber> LoweredGroup::moving(bool in_place) const {
  std::vector<MovingNumber> numbers = in_place ? form->in_place->moving : form->moving;
  for (MovingNumber& number : numbers)
    number.parts = number.parts.renamed([&](std::uint32_t place) { return starts[place]; });
  return numbers;
}

std::vector<MovingNumber> by_place(std::vector<MovingNumber> moving, std::vector<std::uint32_t>& starts) {
  for (MovingNumber& number : moving)
    number.parts = number.parts.renamed([&](std::uint32_t start) {
      const auto known = std::find(starts.begin(), starts.end(), start);
      const auto place = static_cast<std::uint32_t>(known - starts.begin());
      if (known == starts.end()) starts.push_back(start);
      return place;
    });
  return moving;
}

Lowerer::Lowerer(const Graph& graph, const LowerLimits& limits)
    : graph_(graph),
      limits_(limits),
      classes_(graph),
      seen_(graph.nodes.size()),
      seen_scalars_{std::vector<Seen>(graph.trace->scalars.size()),
                    std::vector<Seen>(graph.constants.size())},
      seen_starts_(graph.trace->moves.size()) {}

std::variant<LoweredGroup, std::string> Lowerer::lower(const Owners& owners, GroupId id, const Group& group) {
  const auto [it, added] = known_.try_emplace(describe(owners, id, group));
  Known& known = it->second;
  if (added) known = remember(plan::lower(graph_, owners, id, group, limits_));
#ifndef NDEBUG
  if (!added) compare(known, plan::lower(graph_, owners, id, group, limits_));
#endif
  if (!known.form) return known.refusal;
  return recall(known);
}

std::variant<LoweredGroup, std::string> Lowerer::lower(const Owners& owners, GroupId id, const Group& group,
                                                       const LowerLimits& limits) {
  std::variant<Lowered, std::string> result = plan::lower(graph_, owners, id, group, limits);
  if (auto* reason = std::get_if<std::string>(&result)) return std::move(*reason);
  Lowered& lowered = std::get<Lowered>(result);
  LoweredGroup alone;
  alone.form = new_form(lowered, alone.starts);
  alone.buffers = std::move(lowered.buffers);
  alone.scalars = std::move(lowered.scalars);
  alone.computed = std::move(lowered.computed);
  alone.gathers = std::move(lowered.gathers);
  return alone;
}

/// All that lowering looks at, breadth first from what the group stores.
Lowerer::Key Lowerer::describe(const Owners& owners, GroupId id, const Group& group) {
  words_.clear();
  nodes_.clear();
  scalars_.clear();
  starts_.clear();
  ++descriptions_;
  for (const NodeId node : group.stores) place_of(node);
  words_.push_back(group.stores.size());
  for (const NodeId node : group.nodes) words_.push_back(place_of(node));
  words_.push_back(group.nodes.size());
  for (std::size_t place = 0; place < nodes_.size(); ++place) describe_node(owners, id, nodes_[place]);
  const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof words_[0]);
  return {hash.high64, hash.low64};
}

/// Their ranges are part of a node's class.
void Lowerer::describe_starts(const Node& node) {
  for (const NodeStart& start : node.starts) {
    Seen& seen = seen_starts_[start.start.start];
    if (seen.description != descriptions_) {
      seen = {descriptions_, static_cast<Place>(starts_.size())};
      starts_.push_back(start.start.start);
    }
    words_.push_back(seen.place);
  }
}

void Lowerer::describe_node(const Owners& owners, GroupId group, NodeId id) {
  const Node& node = graph_.nodes[id];
  const Role role = role_of(node, owners[id], group);
  if (role == Role::Memory) {
    words_.push_back(word_of(role, classes_.loaded(id)));
    return;
  }
  words_.push_back(word_of(role, classes_.computed(id)));
  for (const ScalarRef scalar : node.scalars) words_.push_back(place_of(scalar));
  describe_starts(node);
  if (role == Role::Scalar) return;
  std::size_t first = 0;
  if (node.is(OpClass::Gather) && owners[node.operands[0]] == kInline) {
    // The table is looked at through all of its views, also through those that are in memory themselves.
    NodeId at = node.operands[0];
    for (; graph_.nodes[at].is(OpClass::View); at = graph_.nodes[at].operands[0]) {
      words_.push_back(word_of(Role::Table, classes_.computed(at)));
      describe_starts(graph_.nodes[at]);
    }
    words_.push_back(word_of(Role::Table, place_of(at)));
    first = 1;
    words_.push_back(place_of(node.operands[0]));
  }
  for (; first < node.operands.size(); ++first) words_.push_back(place_of(node.operands[first]));
}

Lowerer::Place Lowerer::place_of(NodeId id) {
  Seen& seen = seen_[id];
  if (seen.description != descriptions_) {
    seen = {descriptions_, static_cast<Place>(nodes_.size())};
    nodes_.push_back(id);
  }
  return seen.place;
}

Lowerer::Place Lowerer::place_of(ScalarRef scalar) {
  Seen& seen = seen_scalars_[scalar.table == ScalarRef::Table::Plan][scalar.index];
  if (seen.description != descriptions_) {
    seen = {descriptions_, static_cast<Place>(scalars_.size())};
    scalars_.push_back(scalar);
  }
  return seen.place;
}

/// By places, for groups that are like the one at hand.
Lowerer::Known Lowerer::remember(std::variant<Lowered, std::string> result) {
  Known known;
  if (auto* reason = std::get_if<std::string>(&result)) {
    known.refusal = std::move(*reason);
    return known;
  }
  Lowered& lowered = std::get<Lowered>(result);
  const auto place = [&](NodeId id) {
    if (seen_[id].description != descriptions_)
      throw std::logic_error("lower: a kernel has a node that the description of its group lacks");
    return seen_[id].place;
  };
  const std::size_t described = starts_.size();
  known.form = new_form(lowered, starts_);
  if (starts_.size() > described)
    throw std::logic_error("lower: a kernel has a start that the description of its group lacks");
  known.buffers = std::move(lowered.buffers);
  for (BufferUse& use : known.buffers) use.node = place(use.node);
  for (const ScalarArgument& scalar : lowered.scalars)
    known.scalars.emplace_back(place_of(scalar.number), scalar.dtype);
  for (const NodeId id : lowered.computed) known.computed.push_back(place(id));
  for (const NodeId id : lowered.gathers) known.gathers.push_back(place(id));
  return known;
}

/// For the group at hand.
LoweredGroup Lowerer::recall(const Known& known) const {
  LoweredGroup group;
  group.form = known.form;
  group.buffers = known.buffers;
  for (BufferUse& use : group.buffers) use.node = nodes_[use.node];
  group.scalars.reserve(known.scalars.size());
  for (const auto& [place, dtype] : known.scalars) group.scalars.push_back({scalars_[place], dtype});
  group.starts = starts_;
  group.computed.reserve(known.computed.size());
  for (const Place place : known.computed) group.computed.push_back(nodes_[place]);
  std::sort(group.computed.begin(), group.computed.end());
  group.gathers.reserve(known.gathers.size());
  for (const Place place : known.gathers) group.gathers.push_back(nodes_[place]);
  return group;
}

/// Throws where the group at hand was lowered to something else than what is known.
void Lowerer::compare(const Known& known, const std::variant<Lowered, std::string>& result) const {
  const auto require = [](bool equal, const char* what) {
    if (!equal)
      throw std::logic_error("lower: of two groups that were described alike, the second has other " +
                             std::string(what));
  };
  const auto* lowered = std::get_if<Lowered>(&result);
  require((lowered != nullptr) == (known.form != nullptr), "limits");
  if (lowered == nullptr) return require(std::get<std::string>(result) == known.refusal, "reasons");
  const LoweredGroup group = recall(known);
  require(ir::to_string(lowered->kernel) == group.form->text(), "text");
  require(lowered->ints == group.ints(), "sizes");
  require(lowered->moving == group.moving(), "moving numbers");
  require(
      std::equal(lowered->buffers.begin(), lowered->buffers.end(), group.buffers.begin(), group.buffers.end(),
                 [](const BufferUse& a, const BufferUse& b) {
                   return a.node == b.node && a.read == b.read && a.written == b.written;
                 }),
      "buffers");
  require(
      std::equal(lowered->scalars.begin(), lowered->scalars.end(), group.scalars.begin(), group.scalars.end(),
                 [](const ScalarArgument& a, const ScalarArgument& b) {
                   return a.number == b.number && a.dtype == b.dtype;
                 }),
      "scalars");
  require(lowered->computed == group.computed, "operations");
  require(lowered->gathers == group.gathers, "indexed reads");
  require(same_kernels(lowered->in_place, group.form->in_place), "text in place");
  if (!lowered->in_place) return;
  require(lowered->in_place->ints == group.form->in_place->ints, "sizes in place");
  require(lowered->in_place->moving == group.moving(true), "moving numbers in place");
}

/// `starts`: those of the group, by place.
std::shared_ptr<const KernelForm> Lowerer::new_form(Lowered& lowered, std::vector<std::uint32_t>& starts) {
  const auto form = std::make_shared<KernelForm>();
  form->number = forms_++;
  form->kernel = std::move(lowered.kernel);
  form->ints = std::move(lowered.ints);
  form->moving = by_place(std::move(lowered.moving), starts);
  form->in_place = std::move(lowered.in_place);
  if (form->in_place) form->in_place->moving = by_place(std::move(form->in_place->moving), starts);
  return form;
}

}  // namespace sinter::plan
