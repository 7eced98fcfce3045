// Pass: integers that are stored in a dtype of their own are computed in a wider one: those below 32 bits in
// i32, u32 and u64 in i64. Each result is cast back at once, which keeps its low bits, so that it wraps
// around the same wherever it is stored. Kernels load, move, store and cast such integers, and compute none.
//
// What differs for u64, whose numbers do not fit i64, is written with what i64 has (Warren, "Hacker's
// Delight", 2nd edition, sections 2-12 and 9-3).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

constexpr DType kWide = DType::i64;
constexpr std::int64_t kSignBit = std::numeric_limits<std::int64_t>::min();

/// Operations of the elements of one node, which are u64 in i64.
class Unsigned {
 public:
  Unsigned(Rewriter& to, Shape shape) : to_(to), shape_(std::move(shape)) {}

  /// A number of the program as elements: formulas would leave operations of numbers alone otherwise.
  NodeId elements(NodeId id) {
    const Node& given = to_.node(id);
    if (given.kind != NodeKind::Scalar) return id;
    Node full;
    full.op = Op::Full;
    full.dtype = kWide;
    full.shape = shape_;
    full.scalars = given.scalars;
    return to_.add(std::move(full));
  }

  /// Where the signs differ, the one that is negative is the greater.
  NodeId less(NodeId a, NodeId b) { return truth(Op::Xor, signed_less(a, b), is_large(wide(Op::Xor, a, b))); }
  NodeId greatest(NodeId a, NodeId b) { return choose(less(a, b), b, a); }
  NodeId least(NodeId a, NodeId b) { return choose(less(b, a), b, a); }

  /// In the order of u64, as i64; and back.
  NodeId with_other_sign(NodeId a) { return wide(Op::Xor, a, number(kSignBit)); }

  NodeId shifted_right(NodeId a, NodeId count) {
    const NodeId half = halved(a);
    const NodeId rest = wide(Op::ShiftRight, half, wide(Op::Sub, count, number(1)));
    return choose(to_.elementwise(Op::Equal, DType::boolean, {count, number(0)}), a, rest);
  }

  /// 0 where b is 0. Half of a, which fits i64, is divided; the quotient is too small by 1 at most. A large b
  /// goes into a once or not at all.
  NodeId quotient(NodeId a, NodeId b) {
    const NodeId of_half = wide(Op::ShiftLeft, wide(Op::Div, halved(a), b), number(1));
    const NodeId rest = wide(Op::Sub, a, wide(Op::Mul, of_half, b));
    const NodeId small = wide(Op::Add, of_half, count(not_less(rest, b)));
    const NodeId either = choose(is_large(b), count(not_less(a, b)), small);
    return choose(is_zero(b), number(0), either);
  }
  NodeId remainder(NodeId a, NodeId b) {
    const NodeId rest = wide(Op::Sub, a, wide(Op::Mul, quotient(a, b), b));
    return choose(is_zero(b), number(0), rest);
  }

  /// Rounds once: what is cut off by halving stays as the last bit.
  NodeId to_float(NodeId a, DType dtype) {
    const NodeId half = wide(Op::Or, halved(a), wide(Op::And, a, number(1)));
    const NodeId twice = to_.elementwise(Op::Mul, dtype, {to_.cast(half, dtype), to_.constant(2.0, dtype)});
    return to_.elementwise(Op::Where, dtype, {is_large(a), twice, to_.cast(a, dtype)});
  }
  NodeId from_float(NodeId a, DType dtype) {
    const NodeId border = to_.constant(0x1p63, dtype);
    const NodeId above = to_.cast(to_.elementwise(Op::Sub, dtype, {a, border}), kWide);
    const NodeId below = wide(Op::Maximum, to_.cast(a, kWide), number(0));
    const NodeId large = to_.elementwise(Op::LessEqual, DType::boolean, {border, a});
    return choose(large, with_other_sign(above), below);
  }

  NodeId is_zero(NodeId a) { return to_.elementwise(Op::Equal, DType::boolean, {a, number(0)}); }
  NodeId count(NodeId truth) { return to_.cast(truth, kWide); }
  NodeId negated(NodeId truth) { return to_.elementwise(Op::Not, DType::boolean, {truth}); }

 private:
  NodeId number(std::int64_t value) { return to_.constant(value, kWide); }
  NodeId wide(Op op, NodeId a, NodeId b) { return to_.elementwise(op, kWide, {a, b}); }
  NodeId truth(Op op, NodeId a, NodeId b) { return to_.elementwise(op, DType::boolean, {a, b}); }
  NodeId choose(NodeId condition, NodeId a, NodeId b) {
    return to_.elementwise(Op::Where, kWide, {condition, a, b});
  }
  NodeId signed_less(NodeId a, NodeId b) { return truth(Op::Less, a, b); }
  NodeId not_less(NodeId a, NodeId b) { return negated(less(a, b)); }
  NodeId is_large(NodeId a) { return signed_less(a, number(0)); }
  NodeId halved(NodeId a) {
    return wide(Op::And, wide(Op::ShiftRight, a, number(1)),
                number(std::numeric_limits<std::int64_t>::max()));
  }

  Rewriter& to_;
  const Shape shape_;
};

/// The result of an elementwise operation of u64, or of a comparison of such.
NodeId compute_unsigned(Rewriter& to, Node node) {
  Unsigned u(to, node.shape);
  for (NodeId& operand : node.operands) operand = u.elements(operand);
  const NodeId a = node.operands[0], b = node.operands.back();
  switch (node.op) {
    case Op::Abs: return a;
    case Op::Sign: return u.count(u.negated(u.is_zero(a)));
    case Op::Div: return u.quotient(a, b);
    case Op::Remainder: return u.remainder(a, b);
    case Op::Maximum: return u.greatest(a, b);
    case Op::Minimum: return u.least(a, b);
    case Op::Less: return u.less(a, b);
    case Op::LessEqual: return u.negated(u.less(b, a));
    case Op::ShiftRight: return u.shifted_right(a, b);
    default: return to.add(std::move(node));  // the bits are the same
  }
}

NodeId reduce_unsigned(Rewriter& to, Node node) {
  if (node.op != Op::Max && node.op != Op::Min) return to.add(std::move(node));
  Unsigned before(to, to.node(node.operands[0]).shape), after(to, node.shape);
  node.operands[0] = before.with_other_sign(node.operands[0]);
  return after.with_other_sign(to.add(std::move(node)));
}

/// Floats beyond the least and the greatest number end there.
NodeId from_float(Rewriter& to, NodeId operand, DType dtype) {
  const DType real = arithmetic_of(to.node(operand).dtype), wide = arithmetic_of(dtype);
  if (to.node(operand).dtype != real) operand = to.cast(operand, real);
  if (dtype == DType::u64) return Unsigned(to, to.node(operand).shape).from_float(operand, real);
  const int bits = 8 * static_cast<int>(size_of(dtype));
  const std::int64_t least = is_unsigned(dtype) ? 0 : -(std::int64_t{1} << (bits - 1));
  const std::int64_t greatest = (std::int64_t{1} << (is_unsigned(dtype) ? bits : bits - 1)) - 1;
  const NodeId above = to.elementwise(Op::Maximum, wide, {to.cast(operand, wide), to.constant(least, wide)});
  return to.elementwise(Op::Minimum, wide, {above, to.constant(greatest, wide)});
}

NodeId convert(Rewriter& to, Node node) {
  const NodeId operand = node.operands[0];
  const DType from = to.node(operand).dtype;
  if (is_float(from) && is_stored_int(node.dtype))
    return to.cast(from_float(to, operand, node.dtype), node.dtype);
  if (from == DType::u64 && is_float(node.dtype)) {
    const DType real = arithmetic_of(node.dtype);
    const NodeId value = Unsigned(to, node.shape).to_float(to.cast(operand, kWide), real);
    return real == node.dtype ? value : to.cast(value, node.dtype);
  }
  return to.add(std::move(node));
}

/// The dtype of stored integers that the node is about: an operand's, or else its own.
DType stored_dtype(const Rewriter& to, const Node& node) {
  for (const NodeId operand : node.operands)
    if (is_stored_int(to.node(operand).dtype)) return to.node(operand).dtype;
  return node.dtype;
}

NodeId compute(Rewriter& to, DType stored, Node node) {
  if (stored != DType::u64 || node.is(OpClass::Source)) return to.add(std::move(node));
  return node.is(OpClass::Reduce) ? reduce_unsigned(to, std::move(node))
                                  : compute_unsigned(to, std::move(node));
}

NodeId widen(Rewriter& to, Node node) {
  const DType stored = stored_dtype(to, node);
  if (!is_stored_int(stored)) return to.add(std::move(node));
  if (node.op == Op::Cast) return convert(to, std::move(node));
  const bool computes = (node.is(OpClass::Elementwise) && node.op != Op::Where) || node.is(OpClass::Reduce) ||
                        node.is(OpClass::Source);
  if (!computes) return to.add(std::move(node));  // moves elements
  const DType result = node.dtype;
  for (NodeId& operand : node.operands)
    if (is_stored_int(to.node(operand).dtype)) operand = to.cast(operand, arithmetic_of(stored));
  node.dtype = arithmetic_of(result);
  const NodeId value = compute(to, stored, std::move(node));
  return is_stored_int(result) ? to.cast(value, result) : value;
}

}  // namespace

void widen_integers(Graph& graph, const ir::DeviceTraits&) {
  const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                               [](const Node& node) { return is_stored_int(node.dtype); });
  if (!any) return;
  rewrite(graph, [&](Rewriter& to, NodeId, Node node) {
    // Numbers reach kernels in the dtype that is computed in.
    if (node.kind == NodeKind::Scalar) node.dtype = arithmetic_of(node.dtype);
    if (node.kind != NodeKind::Op) return to.add(std::move(node));
    return widen(to, std::move(node));
  });
}

}  // namespace sinter::plan
