// A node of the autodiff graph: how one tracked value was computed, stored until `backward` uses it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <sinter/any_tensor.h>

#include "src/base/fork.h"
#include "src/base/recycled.h"
#include "src/trace/allowances.h"
#include "src/trace/op.h"
#include "src/trace/value.h"

namespace sinter::autodiff {

struct Node;

/// A function that computes its gradients itself instead of by the rule of an op: a program's own, a
/// checkpoint, a copy between devices. Its results have nodes of their own, whose operand is the node with
/// the call.
struct Call {
  /// Gradients of the operands (empty: none) from those of the results (empty: of a dtype without gradients).
  /// `node`: that of the call. `differentiable`: what it gives is to have a history.
  using Backward = std::function<std::vector<AnyTensor>(
      const AnyTensor::NodeRef& node, std::vector<AnyTensor> gradients, bool differentiable)>;

  std::string name;
  std::vector<Node*> operands;  // reference-counted; null: needs no gradient
  std::vector<trace::TensorType> results;
  std::vector<runtime::DeviceCore*> devices;  // of the results
  Backward backward;
};

/// Nodes point to the nodes of their operands, never to tensors with their own history, so there are no
/// cycles. Saved values have no node, for the same reason: a gradient that is to have a history finds the
/// nodes of operands in `operands`, and that of the result is the node itself.
///
/// What every pass reads stands in front. Integers and scalars are only written where there are some: memory
/// that is not touched costs nothing.
struct Node : base::Recycled<Node> {
  std::atomic<std::int32_t> owners{1};
  std::atomic<std::int32_t> readers{0};  // backward passes at work that read it
  std::uint64_t id = 0;                  // in order of creation, so operands have smaller ones
  bool leaf = true;
  bool consumed = false;  // a `backward` has used it up; guarded by history_mutex
  Op op = Op::Add;
  std::uint8_t operand_count = 0;
  std::uint8_t scalar_mask = 0;      // bit i: operand i is a scalar
  trace::Allowances allowed;         // for its gradients
  std::uint16_t result_of_call = 0;  // k + 1: result k of the call at operands[0]
  std::array<Node*, 3> operands{};   // reference-counted; null: needs no gradient
  std::unique_ptr<Call> call;        // instead of an op
  Node* next_dead = nullptr;         // used by release()

  std::array<trace::ValueRef, 3> saved;
  trace::ValueRef result;  // if the rule needs it
  runtime::DeviceCore* device = nullptr;
  Location where;
  std::uint32_t place = 0;  // used by a pass while it holds history_mutex; else 0
  DType dtype = DType::f32;
  Shape shape;  // of the result

  std::array<std::int64_t, 3 * kMaxRank + 1> ints;        // as many as slice_assign, the longest, needs
  alignas(Scalar) std::byte scalars[3 * sizeof(Scalar)];  // those of scalar_mask

  Node();
  ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void set_scalar(std::size_t operand, Scalar scalar) {
    scalar_mask |= static_cast<std::uint8_t>(1u << operand);
    new (scalars + operand * sizeof(Scalar)) Scalar(scalar);
  }
  const Scalar& scalar(std::size_t operand) const {
    return *std::launder(reinterpret_cast<const Scalar*>(scalars + operand * sizeof(Scalar)));
  }

  std::span<Node*> inputs() { return call ? std::span<Node*>(call->operands) : std::span<Node*>(operands); }
  /// The op's name, or the function's.
  std::string_view name() const;

  /// Releases everything that only `backward` needs.
  void forget();
};

void retain(Node* node);
void release(Node* node);

/// Nodes that this thread has made so far have no larger id, and those that it will make have.
std::uint64_t newest_id();

/// Held while a backward pass claims its nodes, so that two threads cannot use up the same history.
base::ForkMutex& history_mutex();

/// Makes the node of a recorded op; null when no operand with history gets a gradient from its rule, and
/// where the thread keeps no history.
AnyTensor::NodeRef track(Op op, std::span<const AnyTensor::Operand> operands,
                         std::span<const std::int64_t> ints, const trace::ValueRef& result,
                         const Location& where);

/// Makes the node of a call; null where no operand has a history (all are null) or the thread keeps none.
AnyTensor::NodeRef track_call(std::string name, std::span<Node* const> operands,
                              std::span<const AnyTensor> results, Call::Backward backward,
                              const Location& where);
/// A handle to `value`, result k of the call: with a node where its dtype has gradients.
AnyTensor result_of_call(const AnyTensor::NodeRef& call, std::size_t k, const trace::ValueRef& value);

}  // namespace sinter::autodiff
