// The walk back through a history.
#include "src/autodiff/engine.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <sinter/autocast.h>

#include "src/autodiff/pending.h"
#include "src/autodiff/recording.h"
#include "src/autodiff/rule.h"
#include "src/runtime/device_core.h"

namespace sinter::autodiff {

namespace {

/// The nodes between the results and what is wanted, latest first. Operands are older than their node, so
/// this order visits every node after all of its uses.
class History {
 public:
  History(const Request& request, const Location& where) : consumes_(!request.keeps_history) {
    std::uint64_t oldest = request.wanted ? std::numeric_limits<std::uint64_t>::max() : 0;
    if (request.wanted)
      for (const NodeRef& node : *request.wanted) {
        wanted_.insert(node.get());
        oldest = std::min(oldest, node->id);
      }
    end_ = std::max(oldest, request.border);

    const std::scoped_lock lock(history_mutex());
    std::vector<Node*> found = find(request, oldest, where);
    if (request.wanted) leave_those_that_lead_to_wanted(found);
    nodes_.reserve(found.size());
    for (Node* node : found) {
      nodes_.push_back(NodeRef::share(node));
      node->readers.fetch_add(1, std::memory_order_relaxed);
      if (consumes_ && expands(node)) node->consumed = true;
    }
  }
  /// Also after an exception: what this has claimed can be used by nobody else.
  ~History() {
    std::vector<NodeRef> ended;
    {
      const std::scoped_lock lock(history_mutex());
      for (std::size_t i = released_; i < nodes_.size(); ++i)
        if (nodes_[i]->readers.fetch_sub(1, std::memory_order_acq_rel) == 1 && nodes_[i]->consumed)
          ended.push_back(nodes_[i]);
    }
    for (const NodeRef& node : ended) node->forget();
  }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  const std::vector<NodeRef>& nodes() const { return nodes_; }
  bool is_wanted(const Node* node) const { return wanted_.contains(node); }
  bool leads_to_wanted(const Node* node) const { return leading_.empty() || leading_.contains(node); }
  /// The gradients of the node's operands are computed.
  bool expands(Node* node) const {
    if (node->leaf || node->id <= end_) return false;
    const auto inputs = node->inputs();
    return std::any_of(inputs.begin(), inputs.end(), [&](Node* n) { return n && leads_to_wanted(n); });
  }
  /// The walk is done with the next node: lets go of what it saved. A consumed node gets no further readers,
  /// and the last one of those that it has forgets.
  void release_next() {
    if (!consumes_) return;
    Node* node = nodes_[released_++].get();
    const bool forgets = expands(node);
    if (node->readers.fetch_sub(1, std::memory_order_acq_rel) == 1 && forgets) node->forget();
  }

 private:
  std::vector<Node*> find(const Request& request, std::uint64_t oldest, const Location& where) const {
    absl::flat_hash_set<Node*> seen;
    std::vector<Node*> open, found;
    const auto meet = [&](Node* node) {
      // A node that is older than all that is wanted does not lead there.
      if (node && (node->id >= oldest || request.border) && seen.insert(node).second) open.push_back(node);
    };
    for (const auto& [node, gradient] : request.results) meet(node.get());
    while (!open.empty()) {
      Node* node = open.back();
      open.pop_back();
      found.push_back(node);
      if (node->id <= request.border && !is_wanted(node))
        throw AutodiffError(
            "[" + std::string(request.op) +
                "] when the function ran again it read a tensor with a history that it had not "
                "read the first time, of shape " +
                to_string(node->shape) + "; it has to do the same each time",
            where);
      if (node->id <= end_) continue;
      if (node->consumed)
        throw AutodiffError("[" + std::string(request.op) +
                                "] the history of this tensor, or of a part of it, was used up by an earlier "
                                "backward(): call that one as backward({.keep_history = true}), or add the "
                                "losses up and call backward() once",
                            where);
      for (Node* operand : node->inputs()) meet(operand);
    }
    std::sort(found.begin(), found.end(), [](const Node* a, const Node* b) { return a->id > b->id; });
    return found;
  }

  void leave_those_that_lead_to_wanted(std::vector<Node*>& found) {
    for (auto at = found.rbegin(); at != found.rend(); ++at) {
      bool leads = is_wanted(*at);
      if ((*at)->id > end_)
        for (Node* operand : (*at)->inputs()) leads = leads || (operand && leading_.contains(operand));
      if (leads) leading_.insert(*at);
    }
    std::erase_if(found, [&](Node* node) { return !leading_.contains(node); });
  }

  const bool consumes_;
  std::uint64_t end_ = 0;                              // the operands of nodes up to this one lead nowhere
  absl::flat_hash_set<const Node*> wanted_, leading_;  // empty: all
  std::vector<NodeRef> nodes_;
  std::size_t released_ = 0;
};

class Walk {
 public:
  Walk(const Request& request, const Location& where)
      : request_(request), history_(request, where), anomalies_(finds_anomalies()) {
    for (const auto& [node, gradient] : request.results)
      if (node) pending_[node.get()].add(gradient, where);
  }

  std::vector<Reached> run() {
    std::vector<Reached> reached;
    for (const NodeRef& node : history_.nodes()) {
      if (node->call)
        visit_call(node);
      else
        visit(node, reached);
      history_.release_next();
    }
    std::reverse(reached.begin(), reached.end());
    return reached;
  }

 private:
  void visit(const NodeRef& node, std::vector<Reached>& reached) {
    const auto at = pending_.find(node.get());
    if (at == pending_.end()) return;
    Pending sum = std::move(at->second);
    pending_.erase(at);
    Term gradient = sum.take(node->shape, node->where);
    if (anomalies_ && sum.is_sum()) check_gradient(*node, kSumOfGradients, gradient.tensor());
    if (request_.wanted ? history_.is_wanted(node.get()) : node->leaf)
      reached.push_back({node, gradient.is_zero() ? zeros(node->shape, node->dtype, node->device, node->where)
                                                  : gradient.tensor()});
    if (!history_.expands(node.get())) return;
    if (node->result_of_call) {
      Call& call = *node->operands[0]->call;
      std::vector<Term>& gradients = of_calls_[node->operands[0]];
      gradients.resize(call.results.size(), Term::zero());
      const std::size_t k = node->result_of_call - 1u;
      // A second handle to the result, as a gradient with a history may have one, has a node of its own.
      if (gradients[k].is_zero())
        gradients[k] = std::move(gradient);
      else if (!gradient.is_zero())
        gradients[k] = gradients[k] + gradient;
      return;
    }
    const Rule& rule = rule_of(node->op);
    const MatmulPrecisionScope precision(node->precision);
    for (std::size_t i = 0; i < node->operand_count; ++i) {
      if (!node->operands[i] || !history_.leads_to_wanted(node->operands[i])) continue;
      Term part = gradient.is_zero()
                      ? Term::zero()
                      : rule.operands[i].gradient(Step(*node, gradient, request_.differentiable));
      if (!part.tensor().defined() && !part.is_zero()) continue;
      if (anomalies_ && !part.is_zero()) check_gradient(*node, i, part.tensor());
      pending_[node->operands[i]].add(std::move(part), node->where);
    }
  }

  void visit_call(const NodeRef& ref) {
    Node& node = *ref;
    const auto at = of_calls_.find(&node);
    if (at == of_calls_.end() || !history_.expands(&node)) return;
    std::vector<Term> terms = std::move(at->second);
    of_calls_.erase(at);
    Call& call = *node.call;
    std::vector<AnyTensor> parts(call.operands.size());
    if (!std::all_of(terms.begin(), terms.end(), [](const Term& term) { return term.is_zero(); })) {
      std::vector<AnyTensor> gradients(terms.size());
      for (std::size_t k = 0; k < terms.size(); ++k) {
        if (!is_float(call.results[k].dtype)) continue;
        gradients[k] = terms[k].is_zero()
                           ? zeros(call.results[k].shape, call.results[k].dtype, call.devices[k], node.where)
                           : std::move(terms[k]).take();
      }
      const MatmulPrecisionScope precision(node.precision);
      const RecordingScope scope(request_.differentiable && recording().keeps_history);
      parts = call.backward(ref, std::move(gradients), request_.differentiable);
      if (parts.size() != call.operands.size())
        throw AutodiffError("[" + call.name + "] its backward function gave " + std::to_string(parts.size()) +
                                " gradients for " + std::to_string(call.operands.size()) + " inputs",
                            node.where);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Node* operand = call.operands[i];
      if (!operand || !history_.leads_to_wanted(operand)) continue;
      Term part = Term::zero();
      if (parts[i].defined()) {
        check_part(node, i, *operand, parts[i]);
        if (anomalies_) check_gradient(node, i, parts[i]);
        part = Term(request_.differentiable ? std::move(parts[i]) : parts[i].inner(), node.where);
      }
      pending_[operand].add(std::move(part), node.where);
    }
  }

  static void check_part(const Node& node, std::size_t i, const Node& operand, const AnyTensor& part) {
    const std::string what = "[" + node.call->name + "] its backward function gave for input " +
                             std::to_string(i) + " a gradient of ";
    if (part.shape() != operand.shape)
      throw ShapeError(
          what + "shape " + to_string(part.shape()) + ", and the input has " + to_string(operand.shape),
          node.where);
    if (part.dtype() != operand.dtype)
      throw DTypeError(what + "dtype " + std::string(name_of(part.dtype())) + ", and the input has " +
                           std::string(name_of(operand.dtype)),
                       node.where);
    if (part.value()->device != operand.device)
      throw DeviceError(
          what + "device " + part.device().name() + ", and the input is on " + operand.device->name(),
          node.where);
  }

  AnyTensor zeros(const Shape& shape, DType dtype, runtime::DeviceCore* core, const Location& where) const {
    return AnyTensor::full(shape, 0, dtype, Device(core, request_.differentiable), where);
  }

  const Request& request_;
  History history_;
  const bool anomalies_;
  absl::flat_hash_map<Node*, Pending> pending_;
  absl::flat_hash_map<Node*, std::vector<Term>> of_calls_;
};

}  // namespace

std::vector<Reached> differentiate(const Request& request, const Location& where) {
  const Autocast as_they_are(std::nullopt);  // gradients have the dtypes of what they are gradients of
  return Walk(request, where).run();
}

}  // namespace sinter::autodiff
