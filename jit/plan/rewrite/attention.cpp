// Pass: scores that only the softmax of their rows is wanted of stay out of memory.
//
// Scores are a product's elements and what is computed of them point by point; no one sees them. What comes
// of them are numbers of a row (the greatest, a sum) and products in which they are a factor. The product
// becomes a Dot, which kernels compute where they need it, and the products that take scores become Combines.
// The kernel of these (plan/lower/attention.h) goes along a row of scores once: by tiles of many rows, on
// tensor cores or, where nothing may be rounded or these do not keep scores, on ordinary lanes; where there
// are few rows, each row by itself.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "jit/plan/lower/tiles/tiling.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"
#include "jit/plan/score_form.h"

namespace sinter::plan {
namespace {

// The copy engine counts by so many bytes.
constexpr std::int64_t kAlignment = 16;
// The longest vectors that a kernel keeps a tile of, in bytes, and fewest rows and columns that fill one.
constexpr std::int64_t kLongestBytes = 512, kFewest = 16;
// Rows that are gone over each by itself: as many workgroups, or more, are counted.
constexpr std::int64_t kMostLoneRows = 1 << 15;
// Dims before the last two: those of a tensor map, and where columns are put in another order on the way.
constexpr std::size_t kMostBatchDims = 3, kMostOrderedBatchDims = 2;
// Elements of f32 that combined vectors have a multiple of.
constexpr std::int64_t kStep = 8;
// Of ordinary lanes: vectors of two Rows of 48 rows, and of two of 16 columns, with which gradients take less
// time than with scores in memory; and the part of a device's memory from which on scores are too many for
// it.
constexpr std::int64_t kVectorsOfGradients = 128;
// Likewise of 16 rows and of 16 columns, the least that there are, and bytes for their weights.
constexpr std::int64_t kFewestVectors = 64, kBytesOfWeights = 4096;
constexpr double kLargePart = 16;
// Elements of a Row.
constexpr std::int64_t kMostSteps = UINT16_MAX;
// Of stripes, and of those of the product transposed.
constexpr std::int64_t kFewestOfStripe = 128;

bool is_op(const Node& node, Op op) { return node.kind == NodeKind::Op && node.op == op; }

bool is_short(const Node& node, std::size_t along) {
  return node.shape[along] * static_cast<std::int64_t>(size_of(node.dtype)) <= kLongestBytes;
}

/// True iff neighbours in memory are neighbours along dim `along`, and the copy engine can bring them.
bool lies_along(const Graph& graph, NodeId id, std::size_t along) {
  const Node& node = graph.nodes[id];
  if (!is_half(node.dtype) && node.dtype != DType::f32) return false;
  const std::int64_t whole = kAlignment / static_cast<std::int64_t>(size_of(node.dtype));
  const Shape& shape = node.shape;
  const std::optional<StridedView> view = strided_view(graph, id);
  if (!view || shape[along] % whole != 0) return false;
  bool lies = view->layout.strides[along] == 1 && view->layout.offset % whole == 0;
  for (const Moving& part : view->layout.moving) lies &= part.factor % whole == 0;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const std::int64_t stride = view->layout.strides[d];
    const bool is_own = d + 2 >= shape.rank();
    lies &= d == along || shape[d] == 1 || (stride % whole == 0 && (is_own ? stride > 0 : stride >= 0));
  }
  return lies;
}

/// True iff kernels can keep a tile of the vectors along dim `along`.
bool lies_in_rows(const Graph& graph, NodeId id, std::size_t along) {
  return is_short(graph.nodes[id], along) && lies_along(graph, id, along);
}

/// True iff a processor's threads can pack the vectors along dim `along`. Those of one element would look
/// like numbers of rows, and what all rows have in common like a vector of neither rows nor columns.
bool lies_in_steps(const Graph& graph, NodeId id, std::size_t along) {
  const Node& node = graph.nodes[id];
  if (!is_half(node.dtype) && node.dtype != DType::f32) return false;
  const std::optional<StridedView> view = strided_view(graph, id);
  const std::size_t rank = node.shape.rank(), other = rank - 1 + rank - 2 - along;
  return view && node.shape[along] > 1 && node.shape[along] <= kMostSteps && view->layout.strides[other] != 0;
}

/// True iff the vectors lie as kernels of that form bring them.
bool lies_for(const Graph& graph, NodeId id, std::size_t along, ScoreForm form) {
  return form == ScoreForm::Stripes ? lies_in_steps(graph, id, along) : lies_in_rows(graph, id, along);
}

/// True iff vectors along dim `along`, each times a weight, can be added up over dim `summed`. Tensor cores
/// read f32 along the sum alone: what lies otherwise is copied so that it does.
bool combines(const Graph& graph, NodeId id, std::size_t along, std::size_t summed) {
  const Node& node = graph.nodes[id];
  if (is_half(node.dtype)) return lies_in_rows(graph, id, along);
  return node.dtype == DType::f32 && is_short(node, along) && node.shape[along] % kStep == 0 &&
         node.shape[summed] % (kAlignment / 4) == 0 && node.shape.rank() <= 2 + kMostOrderedBatchDims;
}

/// A product whose elements may be scores, or that may take them: of what tensor cores multiply, or any that
/// a library computes otherwise, where ordinary lanes or threads of a processor keep scores.
bool is_product(const Node& n, const ir::DeviceTraits& traits) {
  return (is_op(n, Op::Contract) && n.ints[1] == 0) ||
         ((traits.score_tile_bytes > 0 || traits.fewest_striped > 0) && is_op(n, Op::MatMul));
}

/// Of f32, none of which may be rounded.
bool is_exact(const Graph& graph, const Node& product) {
  return is_op(product, Op::MatMul) ||
         (product.ints[0] == 0 && graph.nodes[product.operands[0]].dtype == DType::f32);
}

/// True iff cooperative matrices multiply tiles of it.
bool is_of_matrices(const Graph& graph, const Node& product, const ir::DeviceTraits& traits) {
  return is_op(product, Op::Contract) &&
         traits.tensor_cores.has_score_matrices(graph.nodes[product.operands[0]].dtype);
}

bool has_many_rows(const Node& n) {
  const std::size_t rank = n.shape.rank();
  return rank >= 2 && n.shape[rank - 2] >= kFewest && n.shape[rank - 1] >= kFewest;
}

/// True iff the elements of a product are too many to be stored where there is another way.
bool is_large(const Node& product, const ir::DeviceTraits& traits) {
  const double bytes = static_cast<double>(product.shape.numel()) * sizeof(float);
  return traits.memory_bytes > 0 && bytes * kLargePart > static_cast<double>(traits.memory_bytes);
}

/// True iff a processor's caches do not hold the elements of a product until they are read.
bool is_many(const Node& product, const ir::DeviceTraits& traits) {
  return static_cast<std::size_t>(product.shape.numel()) * sizeof(float) >= traits.fewest_striped;
}

/// True iff stripes are long, and so are those of gradients: of small ones the work around them is too much.
bool has_long_rows(const Node& product) {
  const std::size_t rank = product.shape.rank();
  return product.shape[rank - 2] >= kFewestOfStripe && product.shape[rank - 1] >= kFewestOfStripe;
}

/// True iff a workgroup shares memory enough for so many vectors of f32, and more bytes.
bool has_room(std::int64_t vectors, std::int64_t length, std::int64_t bytes, const ir::DeviceTraits& traits) {
  constexpr std::int64_t kBetweenVectors = 4;
  return vectors * (length + kBetweenVectors) * 4 + bytes <=
         static_cast<std::int64_t>(traits.score_tile_bytes);
}
bool has_room_for_gradients(const Graph& graph, const Node& product, const ir::DeviceTraits& traits) {
  const Shape& shape = graph.nodes[product.operands[0]].shape;
  return has_room(kVectorsOfGradients, shape[shape.rank() - 1], 0, traits);
}
/// True iff there is a tile, however small, with such vectors along dim `along`.
bool has_room_for_tile(const Node& rows, std::size_t along, const ir::DeviceTraits& traits) {
  return has_room(kFewestVectors, rows.shape[along], kBytesOfWeights, traits);
}

/// How a product's elements are gone over, if they are scores. Where tensor cores multiply, but cannot keep
/// scores, these take less time in memory than ordinary lanes do.
ScoreForm form_of(const Graph& graph, const Node& product, const ir::DeviceTraits& traits) {
  const std::int64_t columns = product.shape[product.shape.rank() - 1];
  if (columns < kFewest) return ScoreForm::None;
  if (traits.fewest_striped > 0) {
    const bool pays = (is_many(product, traits) && has_long_rows(product)) || is_large(product, traits);
    return has_many_rows(product) && pays ? ScoreForm::Stripes : ScoreForm::None;
  }
  if (has_many_rows(product)) {
    if (traits.tensor_cores.keeps_scores() && !is_exact(graph, product)) return ScoreForm::Tiles;
    const bool pays =
        is_exact(graph, product) || is_of_matrices(graph, product, traits) || is_large(product, traits);
    const Node& rows = graph.nodes[product.operands[0]];
    return pays && has_room_for_tile(rows, rows.shape.rank() - 1, traits) ? ScoreForm::LaneTiles
                                                                          : ScoreForm::None;
  }
  return traits.lone_rows && is_op(product, Op::Contract) && product.shape.numel() / columns <= kMostLoneRows
             ? ScoreForm::LoneRows
             : ScoreForm::None;
}

/// All that is asked about the sizes of a product, as bits.
std::uint64_t facts_of(const Graph& graph, NodeId id, const ir::DeviceTraits& traits) {
  const Node& n = graph.nodes[id];
  const std::size_t rank = n.shape.rank();
  auto facts = static_cast<std::uint64_t>(form_of(graph, n, traits));
  for (const bool fact : {has_room_for_gradients(graph, n, traits), is_large(n, traits)})
    facts = facts << 1 | static_cast<std::uint64_t>(fact);
  for (const NodeId factor : n.operands)
    for (const std::size_t along : {rank - 1, rank - 2}) {
      const std::size_t summed = rank - 1 + rank - 2 - along;
      for (const bool fact :
           {lies_in_rows(graph, factor, along), lies_along(graph, factor, along),
            combines(graph, factor, along, summed), has_room_for_tile(graph.nodes[factor], along, traits),
            lies_in_steps(graph, factor, along)})
        facts = facts << 1 | static_cast<std::uint64_t>(fact);
    }
  return facts;
}

/// Which nodes of a graph are scores.
class Scores {
 public:
  Scores(const Graph& graph, const ir::DeviceTraits& traits)
      : graph_(graph),
        traits_(traits),
        forms_(graph.nodes.size(), ScoreForm::None),
        is_refused_(graph.nodes.size(), false) {
    while (find() || refuse_slow()) {
    }
  }

  bool any() const {
    return std::any_of(forms_.begin(), forms_.end(), [](ScoreForm form) { return form != ScoreForm::None; });
  }
  /// None: the node is no score.
  ScoreForm operator[](NodeId id) const { return forms_[id]; }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }
  bool is_score(NodeId id) const { return forms_[id] != ScoreForm::None; }
  bool is_product(const Node& n) const { return plan::is_product(n, traits_); }

  /// All that may be scores unless they are refused; true iff some of these turn out to be none.
  bool find() {
    const std::size_t count = graph_.nodes.size();
    // That exponentials are part of, and that such a node is computed of.
    std::vector<bool> has_exponential(count), is_for_exponential(count);
    for (NodeId id = 0; id < count; ++id) {
      forms_[id] = is_refused_[id] ? ScoreForm::None : possible_form(id);
      has_exponential[id] = is_op(node(id), Op::Exp) ||
                            std::any_of(node(id).operands.begin(), node(id).operands.end(),
                                        [&](NodeId k) { return is_score(k) && has_exponential[k]; });
    }
    for (const Result& result : graph_.results) is_refused_[result.node] = true;
    bool refused = false;
    for (NodeId id = static_cast<NodeId>(count); id-- > 0;) {
      is_for_exponential[id] = is_for_exponential[id] || has_exponential[id];
      if (is_score(id) && is_product(node(id)) && !is_for_exponential[id]) is_refused_[id] = true;
      refused |= is_score(id) && is_refused_[id];
      for (NodeId operand : node(id).operands) {
        if (!is_score(operand)) continue;
        if (!takes_scores(id) || (is_score(id) && is_refused_[id])) is_refused_[operand] = true;
        if (is_score(id) && is_for_exponential[id]) is_for_exponential[operand] = true;
      }
    }
    return refused;
  }

  /// Gradients have several products of one score each. Where little memory is shared, their vectors leave
  /// room for small tiles alone; a processor's threads compute all scores twice, unless a mask of places
  /// leaves out a part. These take longer than scores that are stored. True iff there were such.
  bool refuse_slow() {
    const auto may_be_slow = [](ScoreForm form) {
      return form == ScoreForm::LaneTiles || form == ScoreForm::Stripes;
    };
    if (std::none_of(forms_.begin(), forms_.end(), may_be_slow)) return false;
    const std::size_t count = graph_.nodes.size();
    std::vector<NodeId> set(count);  // of scores that some node computes with each other
    for (NodeId id = 0; id < count; ++id) set[id] = id;
    const auto first = [&](NodeId id) {
      while (set[id] != id) id = set[id] = set[set[id]];
      return id;
    };
    for (NodeId id = 0; id < count; ++id)
      for (const NodeId operand : node(id).operands)
        if (is_score(id) && is_score(operand)) set[first(id)] = first(operand);
    std::vector<std::uint32_t> products(count, 0);
    std::vector<bool> of_places(count), is_masked(count);
    for (NodeId id = 0; id < count; ++id) {
      of_places[id] = is_of_places(id, of_places);
      if (may_be_slow(forms_[id]) && is_product(node(id))) ++products[first(id)];
      if (is_score(id) && is_op(node(id), Op::Where) && of_places[node(id).operands[0]])
        is_masked[first(id)] = true;
    }
    bool refused = false;
    for (NodeId id = 0; id < count; ++id) {
      if (!may_be_slow(forms_[id]) || !is_product(node(id)) || products[first(id)] == 1 ||
          is_large(node(id), traits_))
        continue;
      const bool is_fast = forms_[id] == ScoreForm::Stripes
                               ? is_masked[first(id)]
                               : is_of_matrices(graph_, node(id), traits_) ||
                                     has_room_for_gradients(graph_, node(id), traits_);
      if (!is_fast) is_refused_[id] = refused = true;
    }
    return refused;
  }

  /// True iff the node follows from where its elements are. `known`: of its operands.
  bool is_of_places(NodeId id, const std::vector<bool>& known) const {
    const Node& n = node(id);
    if (n.kind == NodeKind::Scalar || is_op(n, Op::Iota)) return true;
    if (!n.is(OpClass::Elementwise) && !n.is(OpClass::View)) return false;
    return std::all_of(n.operands.begin(), n.operands.end(), [&](NodeId k) { return known[k]; });
  }

  /// By its operands.
  ScoreForm possible_form(NodeId id) const {
    const Node& n = node(id);
    if (n.kind != NodeKind::Op) return ScoreForm::None;
    if (is_product(n)) return form_of_product(n);
    if (!n.is(OpClass::Elementwise) && !(is_transpose(n) && has_many_rows(n))) return ScoreForm::None;
    if (n.dtype == DType::f64) return ScoreForm::None;  // scores are of f32
    ScoreForm form = ScoreForm::None;
    for (const NodeId operand : n.operands) {
      if (!is_score(operand)) continue;
      if (form != ScoreForm::None && form != forms_[operand]) return ScoreForm::None;  // who has both?
      form = forms_[operand];
    }
    return form;
  }

  /// None: its factors do not lie as kernels bring them.
  ScoreForm form_of_product(const Node& n) const {
    const std::size_t rank = n.shape.rank();
    const ScoreForm form = form_of(graph_, n, traits_);
    if (form == ScoreForm::Tiles && rank > 2 + kMostBatchDims) return ScoreForm::None;
    if (is_score(n.operands[0]) || is_score(n.operands[1])) return ScoreForm::None;
    const bool lies = node(n.operands[0]).dtype == node(n.operands[1]).dtype &&
                      lies_for(graph_, n.operands[0], rank - 1, form) &&
                      lies_for(graph_, n.operands[1], rank - 2, form);
    return lies ? form : ScoreForm::None;
  }

  /// True iff the node may have the scores among its operands.
  bool takes_scores(NodeId id) const {
    const Node& n = node(id);
    if (n.kind != NodeKind::Op) return false;
    if (n.is(OpClass::Elementwise) || is_transpose(n)) return is_score(id);
    if (n.is(OpClass::Reduce)) {
      const std::size_t rank = node(n.operands[0]).shape.rank();
      return (n.op == Op::Sum || n.op == Op::Max) && n.ints[0] == std::int64_t{1} << (rank - 1);
    }
    if (!is_product(n)) return false;
    const std::size_t rank = n.shape.rank();
    const bool first = is_score(n.operands[0]), second = is_score(n.operands[1]);
    if (first == second) return false;
    const ScoreForm form = forms_[n.operands[first ? 0 : 1]];
    const NodeId rows = n.operands[first ? 1 : 0];
    const std::size_t along = first ? rank - 1 : rank - 2, summed = first ? rank - 2 : rank - 1;
    if (form == ScoreForm::Tiles) return !is_exact(graph_, n) && combines(graph_, rows, along, summed);
    if (form == ScoreForm::LaneTiles && !has_room_for_tile(node(rows), along, traits_)) return false;
    return (first || form != ScoreForm::LoneRows) && lies_for(graph_, rows, along, form);
  }

  const Graph& graph_;
  const ir::DeviceTraits& traits_;
  std::vector<ScoreForm> forms_;
  std::vector<bool> is_refused_;
};

/// Rows of f32, which are added up, so that neighbours in memory are in neighbouring rows: what the sum goes
/// along. Others as they are.
NodeId along_the_sum(Rewriter& to, NodeId rows) {
  const std::size_t rank = to.node(rows).shape.rank();
  if (to.node(rows).dtype != DType::f32 || lies_along(to.after(), rows, rank - 2)) return rows;
  return to.transpose(to.elementwise(Op::Cast, DType::f32, {to.transpose(rows)}));
}

/// Of a Dot, and the first of a Combine.
std::vector<std::int64_t> ints_of(ScoreForm form) { return {static_cast<std::int64_t>(form)}; }

/// A number of each row that is the same all along it, of shape (.., m, 1); nothing where the node is none.
std::optional<NodeId> number_of_row(Rewriter& to, NodeId id, const Shape& points) {
  const Node node = to.node(id);
  if (node.kind == NodeKind::Scalar) return id;
  if (!is_op(node, Op::Expand)) return std::nullopt;
  const Node below = to.node(node.operands[0]);
  const std::size_t rank = points.rank();
  if (below.shape.rank() != rank || below.shape[rank - 1] != 1 || !is_float(below.dtype)) return std::nullopt;
  Shape rows = points;
  rows[rank - 1] = 1;
  return below.shape == rows ? node.operands[0] : to.view(Op::Expand, node.operands[0], rows);
}

/// A factor of the weights that is the same all along a row, which they lose; nothing where they have none.
std::optional<NodeId> taken_off(Rewriter& to, NodeId& weights, const Shape& points) {
  const bool turns = is_transpose(to.node(weights));
  const Node product = to.node(turns ? to.node(weights).operands[0] : weights);
  if (!is_op(product, Op::Mul)) return std::nullopt;
  const auto turned = [&](NodeId id) { return turns ? to.transpose(id) : id; };
  for (const std::size_t k : {1, 0}) {
    const NodeId factor = product.operands[k], other = product.operands[1 - k];
    if (to.node(other).shape != product.shape) continue;
    // The numbers of rows of what is turned are those of columns.
    const std::optional<NodeId> number =
        turns && to.node(factor).kind != NodeKind::Scalar ? std::nullopt : number_of_row(to, factor, points);
    if (!number) continue;
    weights = turned(other);
    return number;
  }
  for (const std::size_t k : {0, 1}) {
    NodeId factor = turned(product.operands[k]);
    const NodeId other = turned(product.operands[1 - k]);
    if (to.node(factor).shape != points || to.node(other).shape != points) continue;
    const std::optional<NodeId> number = taken_off(to, factor, points);
    if (!number) continue;
    weights = to.elementwise(Op::Mul, product.dtype, {factor, other});
    return number;
  }
  return std::nullopt;
}

/// weights (.., m, n) times rows (.., n, e), of a product of `dtype`. What is the same for a whole row of
/// weights is multiplied by afterwards: so the sum of exponentials that they are divided by may still be on
/// its way.
NodeId combined(Rewriter& to, NodeId weights, NodeId rows, ScoreForm form, DType dtype) {
  const Shape points = to.node(weights).shape;
  const std::size_t rank = points.rank();
  std::vector<NodeId> factors;
  while (const std::optional<NodeId> number = taken_off(to, weights, points)) factors.push_back(*number);
  Node node;
  node.op = Op::Combine;
  node.dtype = is_half(dtype) ? dtype : DType::f32;
  node.ints = ints_of(form);
  node.ints.push_back(0);
  node.shape = points;
  node.shape[rank - 1] = to.node(rows).shape[rank - 1];
  node.operands = {weights, form == ScoreForm::Tiles ? along_the_sum(to, rows) : rows};
  if (!factors.empty()) {
    // Numbers of rows first, as two scalars have no product that is a scalar.
    std::stable_partition(factors.begin(), factors.end(),
                          [&](NodeId id) { return to.node(id).kind != NodeKind::Scalar; });
    NodeId scale = factors[0];
    const bool is_scalar = to.node(scale).kind == NodeKind::Scalar;
    for (std::size_t k = 1; k < factors.size(); ++k) {
      NodeId& product = is_scalar ? node.operands[0] : scale;
      product = to.elementwise(Op::Mul, DType::f32, {product, factors[k]});
    }
    node.operands.push_back(scale);
  }
  return to.add(std::move(node));
}

/// The combination that views with its last two dims the other way around, or that is the node itself, as
/// 16-bit floats; nothing for other nodes.
std::optional<NodeId> rounded(Rewriter& to, NodeId id, DType dtype) {
  const bool turns = is_transpose(to.node(id));
  Node node = to.node(turns ? to.node(id).operands[0] : id);
  if (!is_op(node, Op::Combine) || node.dtype != DType::f32 || !is_half(dtype)) return std::nullopt;
  node.dtype = dtype;
  const NodeId combined = to.add(std::move(node));
  return turns ? to.transpose(combined) : combined;
}

}  // namespace

void keep_scores(Graph& graph, const ir::DeviceTraits& traits) {
  if (graph.checks)
    for (NodeId id = 0; id < graph.nodes.size(); ++id)
      if (is_product(graph.nodes[id], traits)) graph.checks->ask(graph, id, facts_of);
  const Scores scores(graph, traits);
  if (!scores.any()) return;
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    const Node& before = to.before().nodes[id];
    const bool is_score = scores[id] != ScoreForm::None;
    if (is_product(node, traits)) {
      if (is_score) {
        node.op = Op::Dot;
        node.dtype = DType::f32;
        node.ints = ints_of(scores[id]);
        return to.add(std::move(node));
      }
      const ScoreForm first = scores[before.operands[0]], second = scores[before.operands[1]];
      if (first != ScoreForm::None)
        return combined(to, node.operands[0], node.operands[1], first, node.dtype);
      // (A W)^T = W^T A^T
      if (second != ScoreForm::None)
        return to.transpose(
            combined(to, to.transpose(node.operands[1]), to.transpose(node.operands[0]), second, node.dtype));
    }
    if (is_op(node, Op::Cast)) {
      // Scores have the digits of the sums that they come of.
      if (is_score && is_float(node.dtype) && is_float(to.node(node.operands[0]).dtype))
        return node.operands[0];
      if (const std::optional<NodeId> half = rounded(to, node.operands[0], node.dtype)) return *half;
    }
    return to.add(std::move(node));
  });
}

}  // namespace sinter::plan
