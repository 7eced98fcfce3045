// A node of the autodiff graph: how one tracked value was computed, stored until `backward` uses it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include <sinter/any_tensor.h>

#include "src/base/fork.h"
#include "src/trace/op.h"
#include "src/trace/value.h"

namespace sinter::autodiff {

/// Nodes point to the nodes of their operands, never to tensors with history, so there are no cycles. Saved
/// values have no node, for the same reason.
struct Node {
  std::atomic<std::int32_t> owners{1};
  bool leaf = true;
  bool consumed = false;  // a `backward` has used it; guarded by history_mutex
  Op op = Op::Add;
  std::uint8_t operand_count = 0;
  std::uint8_t scalar_mask = 0;  // bit i: operand i is a scalar
  std::uint64_t id = 0;          // in order of creation, so operands have smaller ones
  Location where;
  Shape shape;  // of the result
  DType dtype = DType::f32;
  std::array<Node*, 3> operands{};  // reference-counted; null: needs no gradient
  std::array<trace::ValueRef, 3> saved;
  trace::ValueRef result;  // if the rule needs it
  std::array<Scalar, 3> scalars{Scalar(0), Scalar(0), Scalar(0)};
  std::array<std::int64_t, 3 * kMaxRank + 1> ints{};  // as many as slice_assign, the longest, needs
  Node* next_dead = nullptr;                          // used by release()

  Node();
  ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Releases everything that only `backward` needs.
  void forget();
};

void retain(Node* node);
void release(Node* node);

/// Held while `backward` claims its nodes, so that two threads cannot use the same history.
base::ForkMutex& history_mutex();

/// Makes the node of a recorded op; null when no operand with history gets a gradient from its rule.
AnyTensor::NodeRef track(Op op, std::span<const AnyTensor::Operand> operands,
                         std::span<const std::int64_t> ints, const trace::ValueRef& result,
                         const Location& where);

}  // namespace sinter::autodiff
