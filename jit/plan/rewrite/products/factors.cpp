// Finds what tensor cores can multiply.
#include "jit/plan/rewrite/products/factors.h"

#include <utility>
#include <vector>

#include "jit/plan/rewrite/convolutions/images.h"
#include "jit/plan/rewrite/passes.h"

namespace sinter::plan {
namespace {

bool is_op(const Node& node, Op op) { return node.kind == NodeKind::Op && node.op == op; }

// So many products of -128 and -128 an i32 has room for.
constexpr double kMostInteger = 0x1p17;

/// True iff such a number is a float of 16 bits as well.
bool is_of_8_bits(DType dtype) { return is_f8(dtype) || dtype == DType::i8; }

/// The node that is cast, where `id` is what becomes a float: an i8 is computed in i32 (widen_integers).
NodeId below_widening(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (!is_op(node, Op::Cast) || node.dtype != DType::i32) return id;
  return graph.nodes[node.operands[0]].dtype == DType::i8 ? node.operands[0] : id;
}

/// A factor of 16 or 8 bits as it lies in memory.
struct StoredFactor {
  NodeId cast_from = kNoNode;
  std::vector<NodeId> permutes;  // above the cast, the last one first
  DType dtype = DType::bf16;
};

/// What is cast to f32, under the permutes that stand above the cast; nothing where it is neither a float of
/// 16 or 8 bits nor an i8. What has 8 bits may have been cast to a float of 16 first, which changes no
/// number.
std::optional<StoredFactor> stored_factor(const Graph& graph, NodeId id) {
  StoredFactor factor;
  const auto skip_permutes = [&](std::vector<NodeId>& permutes) {
    for (; is_op(graph.nodes[id], Op::Permute); id = graph.nodes[id].operands[0]) permutes.push_back(id);
  };
  skip_permutes(factor.permutes);
  const Node& node = graph.nodes[id];
  if (!is_op(node, Op::Cast) || node.dtype != DType::f32) return std::nullopt;
  factor.cast_from = id = below_widening(graph, node.operands[0]);
  factor.dtype = graph.nodes[id].dtype;
  if (!is_half(factor.dtype) && !is_of_8_bits(factor.dtype)) return std::nullopt;
  std::vector<NodeId> permutes = factor.permutes;
  skip_permutes(permutes);
  const Node& below = graph.nodes[id];
  if (!is_op(below, Op::Cast) || !is_half(below.dtype)) return factor;
  const NodeId byte = below_widening(graph, below.operands[0]);
  if (is_of_8_bits(graph.nodes[byte].dtype)) factor = {byte, std::move(permutes), graph.nodes[byte].dtype};
  return factor;
}

/// Both factors, where they have one dtype of 16 bits, or one or both of them 8.
std::optional<std::array<StoredFactor, 2>> both_stored(const Graph& graph, const Node& product) {
  std::optional<StoredFactor> a = stored_factor(graph, product.operands[0]),
                              b = stored_factor(graph, product.operands[1]);
  if (!a || !b || (a->dtype != b->dtype && !is_of_8_bits(a->dtype) && !is_of_8_bits(b->dtype)))
    return std::nullopt;
  return std::array{std::move(*a), std::move(*b)};
}

/// What such factors are multiplied as.
DType multiplied_as(const Graph& graph, const std::array<StoredFactor, 2>& factors, const Node& product,
                    const ir::TensorCores& cores) {
  const DType a = factors[0].dtype, b = factors[1].dtype;
  if (!is_of_8_bits(a) || !is_of_8_bits(b)) return is_of_8_bits(a) ? b : a;
  if (!is_op(product, Op::MatMul) || is_f8(a) != is_f8(b) || !cores.multiplies(a)) return DType::f16;
  if (is_f8(a)) return may_be_rounded(product.precision) ? a : DType::f16;
  const Shape& left = graph.nodes[product.operands[0]].shape;
  const Shape depth{left[left.rank() - 1]};
  const bool has_room = static_cast<double>(depth.numel()) < kMostInteger;
  if (graph.checks) graph.checks->compare(SizeChecks::Is::AtLeast, {{depth, 1}}, -kMostInteger, !has_room);
  return has_room ? a : DType::f16;
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

/// True iff tiles of ordinary lanes are faster than library ops for a product of f32 that may not be rounded:
/// for none of matrices, which these read without finding windows first, nor for small convolutions
/// (docs/benchmarks/products.md).
bool suits_lanes(const Graph& graph, const Node& product, const ir::TensorCores& cores) {
  // With fewer channels of results most of a tile is empty; with so many tiles of 64 x 64 for each unit there
  // is work for all of its lanes, however short the sums.
  constexpr double kFewestChannels = 16, kManyTiles = 4 * 64 * 64;
  if (!is_convolution(product)) return false;
  if (cores.fewest_exact == 0) return true;
  // Groups side by side are multiplied by zeros as well, which ordinary lanes have no time for.
  if (attributes_of(product).groups > 1) return false;
  const auto operand = [&](std::size_t k) -> const Shape& { return graph.nodes[product.operands[k]].shape; };
  const bool is_weight = gives_weight(product);
  const Shape& weight = is_weight ? product.shape : operand(1);
  Shape products = is_weight ? operand(1) : gives_image(product) ? operand(0) : product.shape;
  products.push_back(weight[1]);
  const Shape kernel(kernel_of(weight));
  const auto taps = static_cast<double>(kernel.numel());
  if (graph.checks) graph.checks->compare(SizeChecks::Is::Equal, {{kernel, 1}}, -taps, true);
  const auto are_enough = [&](const Shape& shape, double fewest, double times = 1) {
    const bool outcome = times * static_cast<double>(shape.numel()) >= fewest;
    if (graph.checks) graph.checks->compare(SizeChecks::Is::AtLeast, {{shape, times}}, -fewest, outcome);
    return outcome;
  };
  const Shape channels{weight[gives_image(product) || is_weight ? 1 : 0]};
  if (!is_weight && !are_enough(channels, kFewestChannels)) return false;
  if (are_enough(products, cores.fewest_exact, taps)) return true;
  return !is_weight && are_enough(product.shape, kManyTiles * cores.compute_units);
}

/// The node that is multiplied instead.
NodeId below_cast(Rewriter& to, const StoredFactor& factor) {
  NodeId id = cast_as_it_lies(to, factor.cast_from);
  for (auto permute = factor.permutes.rbegin(); permute != factor.permutes.rend(); ++permute) {
    const Node node = to.node(*permute);
    id = to.view(node.op, id, node.shape, node.ints);
  }
  return id;
}

}  // namespace

std::optional<Factors> stored_factors(Rewriter& to, const Node& product) {
  const auto stored = both_stored(to.after(), product);
  if (!stored) return std::nullopt;
  return Factors{{below_cast(to, (*stored)[0]), below_cast(to, (*stored)[1])}, false};
}

bool has_factors(const Graph& graph, const Node& product, const ir::TensorCores& cores) {
  if (product.dtype != DType::f32) return false;
  if (const auto stored = both_stored(graph, product))
    return cores.multiplies(multiplied_as(graph, *stored, product, cores));
  if (!may_be_rounded(product.precision)) return cores.has_exact() && suits_lanes(graph, product, cores);
  return cores.multiplies(product.precision == MatmulPrecision::Medium ? DType::bf16 : DType::f32);
}

std::optional<Factors> factors_of(Rewriter& to, const Node& product, const ir::TensorCores& cores) {
  if (!has_factors(to.after(), product, cores)) return std::nullopt;
  if (const auto stored = both_stored(to.after(), product)) {
    const DType dtype = multiplied_as(to.after(), *stored, product, cores);
    Factors factors = *stored_factors(to, product);
    factors.rounds = is_f8(dtype) && product.precision == MatmulPrecision::Medium;
    for (NodeId& factor : factors.nodes)
      if (is_half(dtype) && to.node(factor).dtype != dtype) factor = to.cast(factor, dtype);
    return factors;
  }
  Factors factors{{product.operands[0], product.operands[1]}, may_be_rounded(product.precision)};
  if (product.precision == MatmulPrecision::Medium) {
    factors.rounds = false;
    for (NodeId& factor : factors.nodes) factor = to.cast(factor, DType::bf16);
  }
  return factors;
}

NodeId contraction(Rewriter& to, const Factors& factors, NodeId a, NodeId b, const Shape& shape,
                   const ContractionForm& form) {
  Node node;
  node.op = Op::Contract;
  node.dtype = DType::f32;
  node.shape = shape;
  node.operands = {a, b};
  const ir::Tiling::Blocks& blocks = form.blocks;
  if (blocks.any()) node.scalars = to.node(to.constant(0, DType::f32)).scalars;  // where no tiles compute it
  node.ints = {factors.rounds ? 1 : 0, form.inlined, form.passed, blocks.count, blocks.depth, blocks.columns};
  return to.add(std::move(node));
}

}  // namespace sinter::plan
