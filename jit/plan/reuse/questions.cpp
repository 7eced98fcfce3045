// Copies what questions look at.
#include "jit/plan/reuse/questions.h"

#include <algorithm>
#include <cstdint>

namespace sinter::plan {
namespace {

// Views of views, beyond which nothing is looked at.
constexpr std::size_t kDeepest = 64;

void describe(const Graph& graph, const Node& node, std::vector<std::int64_t>& words) {
  const auto add = [&](const auto& list) {
    words.push_back(static_cast<std::int64_t>(list.size()));
    words.insert(words.end(), list.begin(), list.end());
  };
  words.push_back(static_cast<std::int64_t>(node.kind) << 32 | static_cast<std::int64_t>(node.op) << 16 |
                  static_cast<std::int64_t>(node.dtype) << 8 |
                  static_cast<std::int64_t>(node.precision) << 1 |
                  static_cast<std::int64_t>(node.channels_last));
  add(node.shape);
  add(node.ints);
  for (const NodeStart& start : node.starts)
    for (const std::int64_t number :
         {std::int64_t{start.dim}, std::int64_t{start.start.start}, start.start.low, start.start.reach})
      words.push_back(number);
  words.push_back(static_cast<std::int64_t>(node.starts.size()));
  if (node.kind != NodeKind::External) return;
  const trace::Layout& layout = graph.trace->layout_of(node.value);
  add(layout.strides);
  words.push_back(layout.offset);
}

}  // namespace

void Questions::ask(const Graph& graph, NodeId id, Question question, const ir::DeviceTraits& traits) {
  graph_.trace = graph.trace;
  graph_.channels_last = graph.channels_last;
  copies_.clear();
  words_.assign(1, static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(question)));
  first_ = static_cast<NodeId>(graph_.nodes.size());
  const NodeId node = copy(graph, id, 0);
  if (known_.insert(words_).second)
    asked_.push_back({node, question, question(graph, id, traits)});
  else
    graph_.nodes.resize(first_);
}

/// Operands come first, as in every graph.
NodeId Questions::copy(const Graph& graph, NodeId id, std::size_t depth) {
  if (const auto known = copies_.find(id); known != copies_.end()) {
    words_.push_back(-1);
    words_.push_back(known->second - first_);
    return known->second;
  }
  Node node = graph.nodes[id];
  const bool shows_another = node.is(OpClass::View) || (node.kind == NodeKind::Op && node.op == Op::Cast);
  is_complete_ &= depth <= kDeepest;
  if (depth > kDeepest || (depth > 0 && !shows_another)) node.operands.clear();
  for (NodeId& operand : node.operands) operand = copy(graph, operand, depth + 1);
  describe(graph, node, words_);
  const NodeId copied = graph_.add(std::move(node));
  copies_.emplace(id, copied);
  return copied;
}

bool Questions::hold(const ir::DeviceTraits& traits) const {
  return is_complete_ && std::all_of(asked_.begin(), asked_.end(), [&](const Asked& asked) {
           return asked.question(graph_, asked.node, traits) == asked.answer;
         });
}

}  // namespace sinter::plan
