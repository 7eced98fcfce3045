// backward(): computes the gradients of all leaves from the gradient of one number.
#include <algorithm>
#include <mutex>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include "src/autodiff/node.h"
#include "src/autodiff/rule.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

using autodiff::Node;
using autodiff::Term;
using NodeRef = AnyTensor::NodeRef;

/// The nodes of a result's history, latest first. Operands are older than their node, so this order visits
/// every node after all of its uses. The destructor releases the nodes' saved values, also after an
/// exception.
class History {
 public:
  History(Node* root, const Location& where) {
    const std::scoped_lock lock(autodiff::history_mutex());
    absl::flat_hash_set<Node*> seen{root};
    std::vector<Node*> open{root};
    std::vector<Node*> found;
    while (!open.empty()) {
      Node* node = open.back();
      open.pop_back();
      if (node->consumed)
        throw AutodiffError(
            "[backward] the history of this tensor, or of a part of it, was used by an earlier backward(); "
            "compute it again, or add the losses up and call backward() once",
            where);
      found.push_back(node);
      for (Node* operand : node->operands)
        if (operand && seen.insert(operand).second) open.push_back(operand);
    }
    std::sort(found.begin(), found.end(), [](const Node* a, const Node* b) { return a->id > b->id; });
    nodes_.reserve(found.size());
    for (Node* node : found) {
      nodes_.push_back(NodeRef::share(node));
      if (!node->leaf) node->consumed = true;
    }
  }
  ~History() {
    for (const NodeRef& node : nodes_)
      if (!node->leaf) node->forget();
  }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  const std::vector<NodeRef>& nodes() const { return nodes_; }

 private:
  std::vector<NodeRef> nodes_;
};

void check_differentiable(const AnyTensor& result, const Location& where) {
  const trace::Value& value = tensor::value_of("backward", result, where);
  if (!result.on_autodiff())
    throw AutodiffError("[backward] device " + result.device().name() +
                            " was used without autodiff, so nothing remembers where this value came from; "
                            "make the parameters "
                            "on device.autodiff()",
                        where);
  if (!is_float(value.dtype))
    throw AutodiffError(
        "[backward] gradients are taken of f32, f64, bf16 or f16, not " + std::string(name_of(value.dtype)),
        where);
  if (value.shape.numel() != 1)
    throw AutodiffError("[backward] gradients are taken of one number, not of shape " +
                            to_string(value.shape) + "; reduce it first, as in loss.mean().backward()",
                        where);
  if (!result.requires_grad())
    throw AutodiffError(
        "[backward] the tensor has no history: nothing that it was computed from has require_grad()", where);
}

}  // namespace

Gradients AnyTensor::backward(Location where) const {
  check_differentiable(*this, where);
  History history(node_.get(), where);
  absl::flat_hash_map<Node*, Term> pending;
  pending.emplace(node_.get(), Term::ones(full(shape(), 1, dtype(), device().inner(), where), where));
  Gradients gradients;
  for (const NodeRef& node : history.nodes()) {
    const auto at = pending.find(node.get());
    if (at == pending.end()) continue;
    Term gradient = std::move(at->second);
    pending.erase(at);
    if (node->leaf) {
      gradients.entries().push_back({node->id, std::move(gradient).take()});
      continue;
    }
    const autodiff::Rule& rule = autodiff::rule_of(node->op);
    for (std::size_t i = 0; i < node->operand_count; ++i) {
      if (!node->operands[i]) continue;
      Term part = rule.operands[i].gradient(autodiff::Step(*node, gradient));
      if (!part.tensor().defined()) continue;
      Term& total = pending[node->operands[i]];
      total = total.tensor().defined() ? total.at(node->where) + part : std::move(part);
    }
    node->forget();
  }
  std::reverse(gradients.entries().begin(), gradients.entries().end());
  return gradients;
}

AnyTensor AnyTensor::require_grad(Location where) const {
  const trace::Value& value = tensor::value_of("require_grad", *this, where);
  if (!autodiff_)
    throw AutodiffError("[require_grad] device " + device().name() +
                            " was used without autodiff; make the tensor on device.autodiff()",
                        where);
  if (!is_float(value.dtype))
    throw AutodiffError("[require_grad] gradients exist for f32, f64, bf16 and f16, not for " +
                            std::string(name_of(value.dtype)),
                        where);
  auto node = NodeRef::adopt(new Node);
  node->where = where;
  node->shape = value.shape;
  node->dtype = value.dtype;
  return AnyTensor(value_, std::move(node), true);
}

AnyTensor AnyTensor::detach() const { return AnyTensor(value_, nullptr, autodiff_); }
AnyTensor AnyTensor::inner() const { return AnyTensor(value_, nullptr, false); }

}  // namespace sinter
