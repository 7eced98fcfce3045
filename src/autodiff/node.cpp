// Creates, shares and releases nodes.
#include "src/autodiff/node.h"

#include <algorithm>

#include "src/autodiff/rule.h"

namespace sinter::autodiff {

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Node::Node() : id(next_id()) {}

void Node::forget() {
  for (trace::ValueRef& value : saved) value = nullptr;
  result = nullptr;
  for (Node*& operand : operands)
    if (operand) release(std::exchange(operand, nullptr));
}

void retain(Node* node) { node->owners.fetch_add(1, std::memory_order_relaxed); }

// A history may be as long as the program has run. To avoid deep recursion, destructors do not release
// operands: nodes whose last owner is gone are linked into a list and deleted one by one.
void release(Node* node) {
  if (node->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  node->next_dead = nullptr;
  while (node) {
    Node* dead = std::exchange(node, node->next_dead);
    for (Node* operand : dead->operands)
      if (operand && operand->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
        operand->next_dead = std::exchange(node, operand);
    delete dead;
  }
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
  const auto wants = [&](std::size_t i) {
    return operands[i].tensor && operands[i].tensor->requires_grad() && rule.operands[i].gradient;
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!wants(i)) continue;
    differentiable = true;
    needs |= rule.operands[i].needs;
  }
  if (!differentiable) return nullptr;

  auto node = AnyTensor::NodeRef::adopt(new Node);
  node->leaf = false;
  node->op = op;
  node->operand_count = static_cast<std::uint8_t>(operands.size());
  node->where = where;
  node->shape = result->shape;
  node->dtype = result->dtype;
  // Of an Extension, whose attributes may be more, the first one names the kind; that is all its rule reads.
  std::copy_n(ints.begin(), std::min(ints.size(), node->ints.size()), node->ints.begin());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].tensor) {
      node->scalar_mask |= static_cast<std::uint8_t>(1u << i);
      node->scalars[i] = operands[i].scalar;
      continue;
    }
    if (wants(i)) retain(node->operands[i] = operands[i].tensor->node().get());
    if (needs >> i & 1) node->saved[i] = operands[i].tensor->value();
  }
  if (needs & kResult) node->result = result;
  return node;
}

}  // namespace sinter::autodiff
