// The walk back through a history.
#include "src/autodiff/engine.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <span>
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

using Position = std::uint32_t;
constexpr Position kNowhere = ~Position{0};

/// Ids of one history mostly lie close together, but for leaves that are not new in each step: a table by id
/// takes the place of most comparisons.
void order_latest_first(std::vector<Node*>& nodes) {
  if (nodes.empty()) return;
  std::uint64_t latest = 0;
  for (const Node* node : nodes) latest = std::max(latest, node->id);
  std::vector<Node*> table(2 * nodes.size());
  std::vector<std::pair<std::uint64_t, Node*>> others;
  for (Node* node : nodes) {
    if (const std::uint64_t back = latest - node->id; back < table.size())
      table[back] = node;
    else
      others.emplace_back(back, node);
  }
  std::sort(others.begin(), others.end());
  auto end = std::copy_if(table.begin(), table.end(), nodes.begin(), [](Node* node) { return node; });
  for (const auto& [back, node] : others) *end++ = node;
}

/// The nodes between the results and what is wanted, latest first. Operands are older than their node, so
/// this order visits every node after all of its uses.
class History {
 public:
  struct Entry {
    Node* node;
    std::uint32_t first_operand;  // in operands_
    bool is_wanted;
    bool expands;  // the gradients of the node's operands are computed
  };

  History(const Request& request, const Location& where) : consumes_(!request.keeps_history) {
    absl::flat_hash_set<const Node*> wanted;
    std::uint64_t oldest = request.wanted ? std::numeric_limits<std::uint64_t>::max() : 0;
    if (request.wanted)
      for (const NodeRef& node : *request.wanted) {
        wanted.insert(node.get());
        oldest = std::min(oldest, node->id);
      }
    end_ = std::max(oldest, request.border);

    const std::scoped_lock lock(history_mutex());
    Found found;
    find(request, oldest, wanted, found.nodes, where);
    order_latest_first(found.nodes);
    if (request.wanted) leave_those_that_lead_to(wanted, found.nodes);
    Position count = 0;
    std::size_t operands = 0;
    for (Node* node : found.nodes) {
      if (!node->place) continue;
      node->place = ++count;
      operands += node->inputs().size();
    }
    // Where memory is short, nothing has been claimed yet.
    entries_.reserve(count);
    operands_.reserve(operands);
    held_.reserve(operands);
    results_.reserve(request.results.size());
    for (Node* node : found.nodes)
      if (node->place) claim(node, request.wanted ? wanted.contains(node) : node->leaf);
    for (const auto& [node, gradient] : request.results) results_.push_back(position_of(node.get()));
  }
  /// Also after an exception: what this has claimed can be used by nobody else.
  ~History() {
    if (released_ == entries_.size()) return;
    std::vector<NodeRef> left, ended;
    {
      const std::scoped_lock lock(history_mutex());
      // Until here each of them is held by one that this pass still reads.
      for (std::size_t i = released_; i < entries_.size(); ++i)
        left.push_back(NodeRef::share(entries_[i].node));
      for (const NodeRef& node : left)
        if (node->readers.fetch_sub(1, std::memory_order_acq_rel) == 1 && node->consumed)
          ended.push_back(node);
    }
    for (const NodeRef& node : ended) node->forget();
  }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  const std::vector<Entry>& entries() const { return entries_; }
  /// Where the operands of an entry stand, in their order: kNowhere for those that lead to nothing wanted.
  const Position* operands_of(const Entry& entry) const { return operands_.data() + entry.first_operand; }
  /// The same for the results of the request.
  const std::vector<Position>& results() const { return results_; }

  /// The walk is done with the next node: lets go of what it saved. A consumed node gets no further readers,
  /// and the last one of those that it has forgets.
  void release_next() {
    if (!consumes_) return;
    const Entry& entry = entries_[released_++];
    Node* const node = entry.node;
    if (!entry.expands) {
      node->readers.fetch_sub(1, std::memory_order_acq_rel);
    } else if (node->readers.load(std::memory_order_acquire) == 1) {
      node->readers.store(0, std::memory_order_relaxed);
      for_operands_ahead(
          entry, [&](Node*& operand) { held_.push_back(NodeRef::adopt(std::exchange(operand, nullptr))); });
      node->forget();
    } else {
      // Another pass may be the last to let go of them.
      for_operands_ahead(entry, [&](Node*& operand) { held_.push_back(NodeRef::share(operand)); });
      if (node->readers.fetch_sub(1, std::memory_order_acq_rel) == 1) node->forget();
    }
  }

 private:
  /// Nodes with a place, which no other pass may see.
  struct Found {
    ~Found() {
      for (Node* node : nodes) node->place = 0;
    }
    std::vector<Node*> nodes;
  };

  void find(const Request& request, std::uint64_t oldest, const absl::flat_hash_set<const Node*>& wanted,
            std::vector<Node*>& found, const Location& where) const {
    const auto meet = [&](Node* node) {
      // A node that is older than all that is wanted does not lead there.
      if (!node || node->place || (node->id < oldest && !request.border)) return;
      found.push_back(node);
      node->place = 1;
    };
    for (const auto& [node, gradient] : request.results) meet(node.get());
    for (std::size_t i = 0; i < found.size(); ++i) {
      Node* const node = found[i];
      if (node->id <= request.border && !wanted.contains(node))
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
  }

  /// Takes their places from the others.
  void leave_those_that_lead_to(const absl::flat_hash_set<const Node*>& wanted, std::vector<Node*>& found) {
    for (auto at = found.rbegin(); at != found.rend(); ++at) {
      bool leads = wanted.contains(*at);
      if ((*at)->id > end_)
        for (Node* operand : (*at)->inputs()) leads = leads || (operand && operand->place);
      if (!leads) (*at)->place = 0;
    }
  }

  /// The operands of an entry that this pass goes on to.
  template <class F>
  void for_operands_ahead(const Entry& entry, F f) {
    const std::span<Node*> operands = entry.node->inputs();
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (operands_[entry.first_operand + k] != kNowhere) f(operands[k]);
  }

  static Position position_of(const Node* node) { return node && node->place ? node->place - 1 : kNowhere; }

  void claim(Node* node, bool is_wanted) {
    Entry entry{node, static_cast<std::uint32_t>(operands_.size()), is_wanted, false};
    if (!node->leaf && node->id > end_) {
      for (Node* operand : node->inputs()) {
        operands_.push_back(position_of(operand));
        entry.expands |= operands_.back() != kNowhere;
      }
    }
    entries_.push_back(entry);
    // Others only let go meanwhile: they add readers with the lock, and none to a node that has been used up
    // but for its gradient.
    if (node->readers.load(std::memory_order_acquire) == 0)
      node->readers.store(1, std::memory_order_relaxed);
    else
      node->readers.fetch_add(1, std::memory_order_relaxed);
    if (consumes_ && entry.expands) node->consumed = true;
  }

  const bool consumes_;
  std::uint64_t end_ = 0;  // the operands of nodes up to this one lead nowhere
  std::vector<Entry> entries_;
  std::vector<Position> operands_, results_;
  std::size_t released_ = 0;
  std::vector<NodeRef> held_;  // by nodes that have been let go of, before
};

/// The sums of gradients at nodes that the walk has not come to; at any time there are few.
class Frontier {
 public:
  explicit Frontier(std::size_t nodes) : sum_at_(nodes, kNowhere) {}
  Pending& at(Position node) {
    std::uint32_t& sum = sum_at_[node];
    if (sum == kNowhere) {
      if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(sums_.size()));
        sums_.emplace_back();
      }
      sum = free_.back();
      free_.pop_back();
    }
    return sums_[sum];
  }
  bool contains(Position node) const { return sum_at_[node] != kNowhere; }
  void erase(Position node) {
    sums_[sum_at_[node]].clear();
    free_.push_back(sum_at_[node]);
  }

 private:
  std::vector<std::uint32_t> sum_at_;  // by node: the place in sums_
  std::vector<Pending> sums_;
  std::vector<std::uint32_t> free_;
};

class Walk {
 public:
  Walk(const Request& request, const Location& where)
      : request_(request),
        history_(request, where),
        pending_(history_.entries().size()),
        anomalies_(finds_anomalies()) {
    for (std::size_t k = 0; k < request.results.size(); ++k)
      if (const Position at = history_.results()[k]; at != kNowhere)
        pending_.at(at).add(request.results[k].second, where);
  }

  std::vector<Reached> run() {
    std::vector<Reached> reached;
    for (Position at = 0; at < history_.entries().size(); ++at) {
      const History::Entry& entry = history_.entries()[at];
      if (entry.node->call)
        visit_call(entry);
      else if (pending_.contains(at))
        visit(entry, take(at), reached);
      history_.release_next();
    }
    std::reverse(reached.begin(), reached.end());
    return reached;
  }

 private:
  Term take(Position at) {
    const Node& node = *history_.entries()[at].node;
    Pending& sum = pending_.at(at);
    Term gradient = sum.take(node.shape, node.where);
    if (anomalies_ && sum.is_sum()) check_gradient(node, kSumOfGradients, gradient.tensor());
    pending_.erase(at);
    return gradient;
  }

  void visit(const History::Entry& entry, Term gradient, std::vector<Reached>& reached) {
    Node& node = *entry.node;
    if (entry.is_wanted)
      reached.push_back({NodeRef::share(&node), gradient.is_zero()
                                                    ? zeros(node.shape, node.dtype, node.device, node.where)
                                                    : gradient.tensor()});
    if (!entry.expands) return;
    if (node.result_of_call) {
      Call& call = *node.operands[0]->call;
      std::vector<Term>& gradients = of_calls_[node.operands[0]];
      gradients.resize(call.results.size(), Term::zero());
      const std::size_t k = node.result_of_call - 1u;
      // A second handle to the result, as a gradient with a history may have one, has a node of its own.
      if (gradients[k].is_zero())
        gradients[k] = std::move(gradient);
      else if (!gradient.is_zero())
        gradients[k] = gradients[k] + gradient;
      return;
    }
    const Rule& rule = rule_of(node.op);
    const trace::AllowanceScope allowed(node.allowed);
    gradient = std::move(gradient).at(node.where);
    const Step step(node, gradient, request_.differentiable);
    const Position* const operands = history_.operands_of(entry);
    for (std::size_t i = 0; i < node.operand_count; ++i) {
      if (operands[i] == kNowhere) continue;
      Term part = gradient.is_zero() ? Term::zero() : rule.operands[i].gradient(step);
      if (!part.tensor().defined() && !part.is_zero()) continue;
      if (anomalies_ && !part.is_zero()) check_gradient(node, i, part.tensor());
      pending_.at(operands[i]).add(std::move(part), node.where);
    }
  }

  void visit_call(const History::Entry& entry) {
    Node& node = *entry.node;
    const auto at = of_calls_.find(&node);
    if (at == of_calls_.end() || !entry.expands) return;
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
      const trace::AllowanceScope allowed(node.allowed);
      const RecordingScope scope(request_.differentiable && recording().keeps_history);
      parts = call.backward(NodeRef::share(&node), std::move(gradients), request_.differentiable);
      if (parts.size() != call.operands.size())
        throw AutodiffError("[" + call.name + "] its backward function gave " + std::to_string(parts.size()) +
                                " gradients for " + std::to_string(call.operands.size()) + " inputs",
                            node.where);
    }
    const Position* const operands = history_.operands_of(entry);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (operands[i] == kNowhere) continue;
      Term part = Term::zero();
      if (parts[i].defined()) {
        check_part(node, i, *call.operands[i], parts[i]);
        if (anomalies_) check_gradient(node, i, parts[i]);
        part = Term(request_.differentiable ? std::move(parts[i]) : parts[i].inner(), node.where);
      }
      pending_.at(operands[i]).add(std::move(part), node.where);
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
  Frontier pending_;
  const bool anomalies_;
  absl::flat_hash_map<Node*, std::vector<Term>> of_calls_;
};

}  // namespace

std::vector<Reached> differentiate(const Request& request, const Location& where) {
  const Autocast as_they_are(std::nullopt);  // gradients have the dtypes of what they are gradients of
  return Walk(request, where).run();
}

}  // namespace sinter::autodiff
