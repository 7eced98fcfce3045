// Creates, shares and releases nodes.
#include "src/autodiff/node.h"

#include <algorithm>

#include "jit/library/kinds.h"
#include "src/autodiff/recording.h"
#include "src/autodiff/rule.h"

namespace sinter::autodiff {

namespace {

std::atomic<std::uint64_t> last_id{0};

/// The list of nodes to be deleted, where this thread is deleting some. Without a destructor: histories may
/// end later than the objects of the thread.
thread_local Node** dying = nullptr;

/// Nobody can add to a last reference, so that one needs no exclusive access.
bool gives_up_last(Node& node) {
  return node.owners.load(std::memory_order_acquire) == 1 ||
         node.owners.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

}  // namespace

Node::Node() : id(last_id.fetch_add(1, std::memory_order_relaxed) + 1) {}

std::uint64_t newest_id() { return last_id.load(std::memory_order_relaxed); }

std::string_view Node::name() const {
  if (leaf) return "require_grad";
  if (call) return call->name;
  if (result_of_call) return operands[0] ? operands[0]->name() : "function";
  if (op == Op::Extension) return library::kind_of(op, std::span(ints).first(1)).name();
  return name_of(op);
}

void Node::forget() {
  for (trace::ValueRef& value : saved) value = nullptr;
  result = nullptr;
  if (call) call->backward = nullptr;
  for (Node*& operand : inputs())
    if (operand) release(std::exchange(operand, nullptr));
}

void retain(Node* node) { node->owners.fetch_add(1, std::memory_order_relaxed); }

// A history may be as long as the program has run. To avoid deep recursion, destructors do not release
// operands: nodes whose last owner is gone are linked into a list and deleted one by one. What a call holds
// may be the last owner of further nodes, which then join the list that is being worked through.
void release(Node* node) {
  if (!gives_up_last(*node)) return;
  if (dying) {
    node->next_dead = std::exchange(*dying, node);
    return;
  }
  node->next_dead = nullptr;
  dying = &node;
  while (node) {
    Node* dead = std::exchange(node, node->next_dead);
    for (Node* operand : dead->inputs())
      if (operand && gives_up_last(*operand)) operand->next_dead = std::exchange(node, operand);
    delete dead;
  }
  dying = nullptr;
}

base::ForkMutex& history_mutex() {
  static base::ForkMutex& mutex = *new base::ForkMutex;  // never destroyed: threads may go back late
  return mutex;
}

AnyTensor::NodeRef track(Op op, std::span<const AnyTensor::Operand> operands,
                         std::span<const std::int64_t> ints, const trace::ValueRef& result,
                         const Location& where) {
  const Rule& rule = rule_of(op);
  std::uint8_t needs = 0;
  bool differentiable = false;
  // Of an Extension, which may have more operands than a node, all rules are one; those of the last place
  // share it.
  static constexpr std::size_t kLast = std::tuple_size_v<decltype(Node::operands)> - 1;
  const auto place_of = [](std::size_t i) { return std::min(i, kLast); };
  const auto wants = [&](std::size_t i) {
    return operands[i].tensor && operands[i].tensor->requires_grad() && rule.operands[place_of(i)].gradient;
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!wants(i)) continue;
    differentiable = true;
    needs |= rule.operands[place_of(i)].needs;
  }
  if (!differentiable) return nullptr;
  const Recording& now = recording();
  for (std::size_t i = 0; now.met && i < operands.size(); ++i)
    if (wants(i)) now.met->add(operands[i].tensor->node().get());
  if (!now.keeps_history) return nullptr;

  auto node = AnyTensor::NodeRef::adopt(new Node);
  node->leaf = false;
  node->op = op;
  node->operand_count = static_cast<std::uint8_t>(std::min(operands.size(), kLast + 1));
  node->where = where;
  node->shape = result->shape;
  node->dtype = result->dtype;
  node->device = result->device;
  // Of an Extension, whose attributes may be more, the first one names the kind; that is all its rule reads.
  std::copy_n(ints.begin(), std::min(ints.size(), node->ints.size()), node->ints.begin());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].tensor) {
      node->set_scalar(i, operands[i].scalar);
      continue;
    }
    Node*& place = node->operands[place_of(i)];
    if (wants(i) && !place) retain(place = operands[i].tensor->node().get());
    if (i <= kLast && needs >> i & 1) node->saved[i] = operands[i].tensor->value();
  }
  if (needs & kResult) node->result = result;
  if (finds_anomalies()) check_result(*node, AnyTensor(result, nullptr, false));
  return node;
}

AnyTensor::NodeRef track_call(std::string name, std::span<Node* const> operands,
                              std::span<const AnyTensor> results, Call::Backward backward,
                              const Location& where) {
  if (std::none_of(operands.begin(), operands.end(), [](Node* operand) { return operand; })) return nullptr;
  const Recording& now = recording();
  for (Node* operand : operands)
    if (operand && now.met) now.met->add(operand);
  if (!now.keeps_history) return nullptr;
  auto node = AnyTensor::NodeRef::adopt(new Node);
  node->leaf = false;
  node->where = where;
  node->call = std::make_unique<Call>();
  node->call->name = std::move(name);
  node->call->backward = std::move(backward);
  for (const AnyTensor& result : results) {
    node->call->results.push_back({result.shape(), result.dtype()});
    node->call->devices.push_back(result.value()->device);
  }
  node->call->operands.assign(operands.begin(), operands.end());
  for (Node* operand : operands)
    if (operand) retain(operand);
  return node;
}

AnyTensor result_of_call(const AnyTensor::NodeRef& call, std::size_t k, const trace::ValueRef& value) {
  if (!call || !is_float(value->dtype)) return AnyTensor(value, nullptr, true);
  auto node = AnyTensor::NodeRef::adopt(new Node);
  node->leaf = false;
  node->operand_count = 1;
  node->result_of_call = static_cast<std::uint16_t>(k + 1);
  node->where = call->where;
  node->shape = value->shape;
  node->dtype = value->dtype;
  node->device = value->device;
  retain(node->operands[0] = call.get());
  return AnyTensor(value, std::move(node), true);
}

}  // namespace sinter::autodiff
