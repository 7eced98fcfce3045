// Lays out factors of f32 and of 8 bits for tensor cores, and divides those of f32.
#include "jit/plan/rewrite/products/tf32_factors.h"

#include <utility>
#include <vector>

#include "jit/plan/lower/tiles/tiling.h"

namespace sinter::plan {
namespace {

// A factor whose elements are multiplied at least so often is worth a transposed copy: that takes 8 bytes of
// memory for each element of f32, 2 of 8 bits, and saves half of the time that its product takes where lanes
// transpose tiles.
constexpr double kWorthCopy = 512;
// With fewer products for each element that is read or written, memory decides how long the product takes.
constexpr double kWorthSpeed = 128;

// Bytes that the copy engine needs a multiple of, in rows along the sum.
constexpr std::int64_t kWholeRow = 16;

/// How a factor lies, as bits: neighbours in memory are neighbours in a column of it, not in a row; its rows
/// could be read by the copy engine; its columns could, if they were rows; products of a batch share it. What
/// is no strided view will be copied by rows.
enum Lie : std::uint64_t { kByColumns = 1, kWholeRows = 2, kWholeColumns = 4, kRepeated = 8 };
std::uint64_t lie_of(const Graph& graph, NodeId id, const ir::DeviceTraits&) {
  const Shape& shape = graph.nodes[id].shape;
  const std::size_t rank = shape.rank();
  const std::int64_t whole = kWholeRow / static_cast<std::int64_t>(size_of(graph.nodes[id].dtype));
  std::uint64_t lie = 0;
  if (const std::optional<StridedView> view = strided_view(graph, id)) {
    const Dims& strides = view->layout.strides;
    if (strides[rank - 1] != 1 && strides[rank - 2] == 1) lie |= kByColumns;
    for (std::size_t d = 0; d + 2 < rank; ++d)
      if (strides[d] == 0 && shape[d] > 1) lie |= kRepeated;
  }
  if (shape[rank - 1] % whole == 0) lie |= kWholeRows;
  if (shape[rank - 2] % whole == 0) lie |= kWholeColumns;
  return lie;
}

/// The sizes of all that is added up: those of the product and the sum's.
Shape products_of(const Graph& graph, const Node& product) {
  const Shape& left = graph.nodes[product.operands[0]].shape;
  Shape all = product.shape;
  all.push_back(left[left.rank() - 1]);
  return all;
}

/// True iff the sum of the shapes' elements, each so many times, and of the constant is not negative.
bool is_at_least(const Graph& graph, std::vector<SizeChecks::Term> terms, double constant = 0) {
  double sum = constant;
  for (const auto& [shape, times] : terms) sum += times * static_cast<double>(shape.numel());
  if (graph.checks) graph.checks->compare(SizeChecks::Is::AtLeast, std::move(terms), constant, sum >= 0);
  return sum >= 0;
}

/// Tensor cores read f32 and 8 bits along the sum. A factor that lies across it, and is used often, is copied
/// so that it lies along.
NodeId along_the_sum(Rewriter& to, NodeId factor, bool is_left, const Shape& products) {
  const Graph& graph = to.after();
  if (graph.checks) graph.checks->ask(graph, factor, lie_of);
  const std::uint64_t lie = lie_of(graph, factor, {});
  const bool lies_across = ((lie & kByColumns) != 0) == is_left;
  if (!lies_across || (lie & kRepeated) != 0 || (lie & (is_left ? kWholeRows : kWholeColumns)) == 0)
    return factor;
  if (!is_at_least(graph, {{products, 1}, {graph.nodes[factor].shape, -kWorthCopy}})) return factor;
  const DType dtype = graph.nodes[factor].dtype;
  if (is_left) return to.elementwise(Op::Cast, dtype, {factor});
  return to.transpose(to.elementwise(Op::Cast, dtype, {to.transpose(factor)}));
}

/// 1 iff the factor is in memory, as a strided view of what is none of the plan's elementwise results.
std::uint64_t is_plain_view(const Graph& graph, NodeId id, const ir::DeviceTraits&) {
  const std::optional<StridedView> view = strided_view(graph, id);
  if (!view || !view->layout.moving.empty()) return 0;
  const Node& base = graph.nodes[view->base];
  return base.kind == NodeKind::External || base.is(OpClass::Contract) || base.op == Op::MatMul ? 1 : 0;
}

/// True iff a vendor's library is there that computes so large a product of such factors as they lie.
bool has_library(const Graph& graph, const Factors& factors, const Shape& products,
                 const ir::DeviceTraits& traits) {
  if (!traits.has_product_library || ir::are_bytes(graph.nodes[factors.nodes[0]].dtype)) return false;
  for (const NodeId factor : factors.nodes) {
    if (graph.checks) graph.checks->ask(graph, factor, is_plain_view);
    if (is_plain_view(graph, factor, traits) == 0) return false;
  }
  return is_at_least(graph, {{products, 1}}, -kLibraryProducts) && traits.has_product_library();
}

// 13 of the 24 bits of an f32 are cut off, which leaves what tf32 has. Magnitudes from 2^114 on would
// overflow on the way and stay whole.
constexpr double kCutsOff = 8193, kMostCut = 0x1p114;
// With fewer products for each element that is read or written, dividing the factors and three times the
// memory take longer than what is saved.
constexpr double kWorthParts = 384;

/// A factor of shape [.., rows, k] as [.., rows, 3, k]: its low part where the number of the part is
/// `low_at`, else its high one. Seen as [.., rows, 3 k].
NodeId in_parts(Rewriter& to, NodeId id, std::int64_t low_at) {
  const Shape given = to.node(id).shape;
  const std::size_t rank = given.rank();
  const auto with = [&](std::int64_t parts) {
    Shape shape;
    for (std::size_t d = 0; d + 1 < rank; ++d) shape.push_back(given[d]);
    shape.push_back(parts);
    shape.push_back(given[rank - 1]);
    return shape;
  };
  const auto number = [&](double value) { return to.constant(Scalar(value), DType::f32); };
  const auto f32 = [&](Op op, std::vector<NodeId> operands) {
    return to.elementwise(op, DType::f32, std::move(operands));
  };
  const NodeId x = to.view(Op::Expand, to.view(Op::Reshape, id, with(1)), with(3));
  const NodeId scaled = f32(Op::Mul, {x, number(kCutsOff)});
  const NodeId cut = f32(Op::Sub, {scaled, f32(Op::Sub, {scaled, x})});
  const NodeId may_cut = to.elementwise(Op::Less, DType::boolean, {f32(Op::Abs, {x}), number(kMostCut)});
  const NodeId high = f32(Op::Where, {may_cut, cut, x});
  const NodeId low = f32(Op::Where, {may_cut, f32(Op::Sub, {x, cut}), number(0)});

  Node index;
  index.op = Op::Iota;
  index.dtype = DType::i64;
  index.shape = Shape{3};
  Shape of_parts = with(3);
  for (std::size_t d = 0; d < of_parts.rank(); ++d)
    if (d + 2 != of_parts.rank()) of_parts[d] = 1;
  const NodeId part = to.view(Op::Expand, to.view(Op::Reshape, to.add(std::move(index)), of_parts), with(3));
  const NodeId is_low =
      to.elementwise(Op::Equal, DType::boolean, {part, to.constant(Scalar(low_at), DType::i64)});
  Shape side_by_side = given;
  side_by_side[rank - 1] *= 3;
  return to.view(Op::Reshape, f32(Op::Where, {is_low, low, high}), side_by_side);
}

}  // namespace

void lay_along_the_sum(Rewriter& to, const Node& product, Factors& factors, const ir::DeviceTraits& traits) {
  const Graph& graph = to.after();
  const Shape products = products_of(graph, product);
  if (has_library(graph, factors, products, traits)) return;
  if (!is_at_least(graph, {{products, 1},
                           {graph.nodes[factors.nodes[0]].shape, -kWorthSpeed},
                           {graph.nodes[factors.nodes[1]].shape, -kWorthSpeed},
                           {product.shape, -kWorthSpeed}}))
    return;
  for (const std::size_t k : {0, 1}) factors.nodes[k] = along_the_sum(to, factors.nodes[k], k == 0, products);
}

std::optional<Factors> factors_in_parts(Rewriter& to, const Node& product) {
  if (product.dtype != DType::f32 || product.precision != MatmulPrecision::Tf32x3) return std::nullopt;
  const Graph& graph = to.after();
  const NodeId a = product.operands[0], b = product.operands[1];
  const Shape& left = graph.nodes[a].shape;
  if (graph.checks) graph.checks->ask(graph, a, lie_of);
  if ((lie_of(graph, a, {}) & kWholeRows) == 0 || left.rank() >= kMaxRank) return std::nullopt;
  if (!is_at_least(graph, {{products_of(graph, product), 1},
                           {left, -kWorthParts},
                           {graph.nodes[b].shape, -kWorthParts},
                           {product.shape, -kWorthParts}}))
    return std::nullopt;
  return Factors{{in_parts(to, a, 0), to.transpose(in_parts(to, to.transpose(b), 1))}, true};
}

}  // namespace sinter::plan
