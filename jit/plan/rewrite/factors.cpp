// Finds what tensor cores can multiply.
#include "jit/plan/rewrite/factors.h"

#include <utility>
#include <vector>

namespace sinter::plan {
namespace {

/// A factor of 16 bits as it lies in memory.
struct HalfFactor {
  NodeId cast_from = kNoNode;
  std::vector<NodeId> permutes;  // above the cast, the last one first
};

/// What is cast to f32, under the permutes that stand above the cast; nothing where it has no 16 bits.
std::optional<HalfFactor> half_factor(const Graph& graph, NodeId id) {
  HalfFactor factor;
  for (; graph.nodes[id].kind == NodeKind::Op && graph.nodes[id].op == Op::Permute;
       id = graph.nodes[id].operands[0])
    factor.permutes.push_back(id);
  const Node& node = graph.nodes[id];
  if (node.kind != NodeKind::Op || node.op != Op::Cast || node.dtype != DType::f32) return std::nullopt;
  factor.cast_from = node.operands[0];
  if (!is_half(graph.nodes[factor.cast_from].dtype)) return std::nullopt;
  return factor;
}

/// Both factors, where they have one dtype of 16 bits.
std::optional<std::array<HalfFactor, 2>> half_factors(const Graph& graph, const Node& product) {
  std::optional<HalfFactor> a = half_factor(graph, product.operands[0]),
                            b = half_factor(graph, product.operands[1]);
  if (!a || !b || graph.nodes[a->cast_from].dtype != graph.nodes[b->cast_from].dtype) return std::nullopt;
  return std::array{std::move(*a), std::move(*b)};
}

// Elements of 16 bits that the copy engine brings at once: where rows have no multiple of them, lanes do.
constexpr std::int64_t kVector = 8;

/// Whether the copy engine could read rows of what a cast of a transpose is of.
std::uint64_t has_whole_rows(const Graph& graph, NodeId cast, const ir::DeviceTraits&) {
  const Node& view = graph.nodes[graph.nodes[cast].operands[0]];
  const Shape& lies = graph.nodes[view.operands[0]].shape;
  return lies[lies.rank() - 1] % kVector == 0;
}

/// A weight that is cast for a product is often transposed first. What is stored is the cast of the weight as
/// it lies, which is read and written along its rows, and serves products with its transpose as well: those
/// see the cast of the transpose through another permute.
NodeId cast_as_it_lies(Rewriter& to, const NodeId given) {
  const Graph& graph = to.after();
  std::vector<NodeId> permutes;
  NodeId id = given;
  for (; to.node(id).is(OpClass::View) && to.node(id).op == Op::Permute; id = to.node(id).operands[0])
    permutes.push_back(id);
  const Node cast = to.node(id);
  if (cast.kind != NodeKind::Op || cast.op != Op::Cast || !is_transpose(to.node(cast.operands[0])))
    return given;
  if (graph.checks) graph.checks->ask(graph, id, has_whole_rows);
  if (has_whole_rows(graph, id, {}) == 0) return given;
  const Node view = to.node(cast.operands[0]);
  id = to.view(view.op, to.cast(view.operands[0], cast.dtype), view.shape, view.ints);
  for (; !permutes.empty(); permutes.pop_back()) id = to.permute(id, to.node(permutes.back()).ints);
  return id;
}

/// The node that is multiplied instead.
NodeId below_cast(Rewriter& to, const HalfFactor& factor) {
  NodeId id = cast_as_it_lies(to, factor.cast_from);
  for (auto permute = factor.permutes.rbegin(); permute != factor.permutes.rend(); ++permute) {
    const Node node = to.node(*permute);
    id = to.view(node.op, id, node.shape, node.ints);
  }
  return id;
}

}  // namespace

bool has_factors(const Graph& graph, const Node& product, const ir::TensorCores& cores) {
  if (product.dtype != DType::f32) return false;
  if (const auto halves = half_factors(graph, product))
    return cores.multiplies(graph.nodes[(*halves)[0].cast_from].dtype);
  if (!may_be_rounded(product.precision)) return false;
  return cores.multiplies(product.precision == MatmulPrecision::Medium ? DType::bf16 : DType::f32);
}

std::optional<Factors> factors_of(Rewriter& to, const Node& product, const ir::TensorCores& cores) {
  if (!has_factors(to.after(), product, cores)) return std::nullopt;
  if (const auto halves = half_factors(to.after(), product))
    return Factors{{below_cast(to, (*halves)[0]), below_cast(to, (*halves)[1])}, false};
  Factors factors{{product.operands[0], product.operands[1]}, true};
  if (product.precision == MatmulPrecision::Medium) {
    factors.rounds = false;
    for (NodeId& factor : factors.nodes) factor = to.cast(factor, DType::bf16);
  }
  return factors;
}

NodeId contraction(Rewriter& to, const Factors& factors, NodeId a, NodeId b, const Shape& shape,
                   std::int64_t inlined) {
  Node node;
  node.op = Op::Contract;
  node.dtype = DType::f32;
  node.shape = shape;
  node.operands = {a, b};
  node.ints = {factors.rounds ? 1 : 0, inlined};
  return to.add(std::move(node));
}

}  // namespace sinter::plan
