// Lowers a group: every node is a function of the loop's coordinates, so a producer is inlined by asking for
// its value through a map, and a view only changes the map.
#include "jit/plan/lower/lower.h"

#include <algorithm>
#include <utility>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/lower/attention.h"
#include "jit/plan/lower/changed_box.h"
#include "jit/plan/lower/chosen_loops.h"
#include "jit/plan/lower/draft_loops.h"
#include "jit/plan/lower/finish.h"
#include "jit/plan/lower/frame_tests.h"
#include "jit/plan/lower/maps/grid.h"
#include "jit/plan/lower/nesting.h"
#include "jit/plan/lower/tiles/few_rows.h"
#include "jit/plan/lower/tiles/tiling.h"

namespace sinter::plan {
namespace {

// A slice_assign that replaces less than this part of its elements reads them all.
constexpr double kWorthSkipping = 4;

// Splitting stops here; each split is one more division per element in kernels whose loops do not join. Of
// volumes in groups, loops go over these, four positions, columns and four elements of windows.
constexpr std::size_t kMostLoops = 8, kMostLoopsOfProducts = 10;

// Over its own dims it would be read and written in order: together neither can be, and whether sizes divide
// each other would decide how positions are found.
constexpr const char* kOtherDims = "results of other dims, whose positions would be found by dividing";

class Lowering : private FrameTests {
 public:
  Lowering(const Graph& graph, const Owners& owners, GroupId id, const Group& group,
           const LowerLimits& limits)
      : FrameTests(graph, owners, id, limits), group_(group) {}

  /// Fills the draft. Returns a split of the domain that would save divisions in some map, if there is one.
  std::optional<LoopSplit> run(const std::vector<LoopSplit>& splits) {
    go_over(choose_loops(graph_, group_, splits, limits_));
    for (NodeId node : group_.stores) store(node);
    draft_.outer_rank = loops_.outer_rank;
    if (draft_.extents.size() >= (draft_.contracts ? kMostLoopsOfProducts : kMostLoops)) return std::nullopt;
    for (const IndexMap& map : draft_.maps)
      if (const auto split = map.helpful_split())
        return LoopSplit{loops_.dim_of_loop[split->first], split->second};
    return std::nullopt;
  }

  Draft take() { return std::move(draft_); }

 private:
  void go_over(ChosenLoops loops) {
    draft_.has_reduction = loops.reduces;
    draft_.repeats = loops.repeats;
    draft_.parts = loops.parts;
    draft_.extents.assign(loops.all.extents.begin(), loops.all.extents.end());
    all_ = intern(IndexMap(loops.all));
    inner_ = intern(IndexMap(loops.inner));
    outer_ = intern(IndexMap(loops.outer));
    products_ = intern(IndexMap(loops.products));
    results_ = intern(IndexMap(loops.results));
    loops_ = std::move(loops);
  }

  /// The map under which each element of a node of the group is visited once.
  MapId map_for(NodeId id) const {
    const std::int64_t numel = node(id).shape.numel();
    if (node(id).has_inner_loops() && numel == loops_.outer_points) return outer_;
    if (numel == loops_.points) return all_;
    if (numel == loops_.outer_points) return outer_;
    throw Cut{"another number of elements"};
  }

  void store(NodeId id) {
    const MapId map = node(id).is(OpClass::Combine)   ? first_of_vectors(id)
                      : node(id).is(OpClass::Partial) ? columns()
                                                      : map_for(id);
    const std::size_t before = draft_.exprs.size();
    const ir::ExprId expr = cast(value(id, map, ir::kNone), node(id).dtype, id);
    if (map == all_ && !has_dims(loops_.domain, node(id).shape) && divides_from(draft_, before))
      throw Cut{kOtherDims};
    draft_.feeds_recipe |= node(id).feeds_recipe;
    draft_.computed.push_back(id);
    draft_.stores.push_back({.buffer = buffer(id, false), .map = number_of(map), .value = expr});
  }

  /// The columns of a row, counted row-major.
  MapId columns() {
    MapStep step = index_map(all_).loops();
    std::int64_t stride = 1;
    for (std::size_t k = step.extents.size(); k-- > 0;) {
      step.strides[k] = k < loops_.outer_rank ? 0 : stride;
      stride *= step.extents[k];
    }
    return intern(IndexMap(std::move(step)));
  }

  /// Where the vectors of a combination begin, one for each row.
  MapId first_of_vectors(NodeId id) {
    const Node& n = node(id);
    const std::size_t row = n.shape.rank() - 2;  // its place among the dims of rows
    if (n.shape.numel() != loops_.outer_points * n.shape[row + 1]) throw Cut{"another number of elements"};
    // As the weights have them: the row behind the dims that it is stored in front of.
    const std::size_t stored_row = row - static_cast<std::size_t>(n.ints[1]);
    const Dims strides = contiguous_layout(n.shape).strides;
    Shape rows;
    ViewLayout layout{Dims::filled(row + 1, 0), 0};
    for (std::size_t d = 0; d <= row; ++d) {
      const std::size_t stored = d == row ? stored_row : d < stored_row ? d : d + 1;
      rows.push_back(n.shape[stored]);
      layout.strides[d] = strides[stored];
    }
    return intern(index_map(outer_).through(rows, layout));
  }

  ir::ExprId value(NodeId id, MapId map, ir::ExprId predicate) {
    const Place place = below_views(id, map);
    compute_operands_first(place, predicate);
    return value_below_views(place, predicate);
  }

  ir::ExprId value_below_views(const Place& at, ir::ExprId predicate) {
    const Node& n = node(at.id);
    if (n.kind == NodeKind::Scalar) {
      ir::Expr expr;
      expr.kind = ir::ExprKind::Scalar;
      expr.dtype = arithmetic_of(n.dtype);
      expr.scalar = scalar(n.scalars[0], expr.dtype);
      return memo(at.id, 0, ir::kNone, [&] { return add(expr, at.id); });
    }
    if (!is_loaded(at.id))
      return memo(at.id, at.map, predicate, [&] { return compute(at.id, at.map, predicate); });
    const MapId map = n.kind == NodeKind::External ? in_memory(at.id, at.map) : at.map;
    if (!is_decided_by(predicate, map) && stays_within(at.id, map)) predicate = ir::kNone;
    return memo(at.id, map, predicate, [&] { return load(at.id, map, predicate); });
  }

  /// Walks an elementwise chain with a stack of its own, operands before their users: a trace may be
  /// thousands of ops deep.
  void compute_operands_first(const Place& root, ir::ExprId predicate) {
    auto open = [&](const Place& place) {
      return node(place.id).is(OpClass::Elementwise) && !is_loaded(place.id) &&
             !memo_.contains({place.id, number_of(place.map), predicate});
    };
    if (!open(root)) return;
    std::vector<std::pair<Place, std::size_t>> todo{{root, 0}};
    while (!todo.empty()) {
      const Node& n = node(todo.back().first.id);
      if (todo.back().second == n.operands.size()) {
        value_below_views(todo.back().first, predicate);
        todo.pop_back();
        continue;
      }
      const Place operand = below_views(n.operands[todo.back().second++], todo.back().first.map);
      if (open(operand)) todo.emplace_back(operand, 0);
    }
  }

  template <class Make>
  ir::ExprId memo(NodeId id, MapId map, ir::ExprId predicate, Make make) {
    const Value key{id, number_of(map), predicate};
    if (auto it = memo_.find(key); it != memo_.end()) return it->second;
    const ir::ExprId expr = make();
    memo_.emplace(key, expr);
    return expr;
  }

  ir::ExprId compute(NodeId id, MapId map, ir::ExprId predicate) {
    const Node& n = node(id);
    if (depth_ > kMostNesting) throw Cut{"pads, reductions and indexed reads inside each other, too deep"};
    const Deeper deeper(n.op_class() == OpClass::Elementwise ? nullptr : &depth_);
    ir::Expr expr;
    expr.dtype = arithmetic_of(n.dtype);
    switch (n.op_class()) {
      case OpClass::Elementwise:
        expr.kind = ir::ExprKind::Elementwise;
        expr.op = n.op;
        require_factors(n);
        for (std::size_t k = 0; k < n.operands.size(); ++k)
          expr.args[k] = value(n.operands[k], map, predicate);
        if (n.op == Op::Cast) return cast_as_asked(expr.args[0], n.dtype, id);
        if (n.op == Op::Where) {
          match(expr.args[1], expr.args[2], id);
          expr.dtype = draft_.exprs[expr.args[1]].dtype;
          return add(expr, id);
        }
        for (std::size_t k = 0; k < n.operands.size(); ++k) {
          // Whether two numbers are equal must not depend on which of them was stored: an element and the
          // greatest of all.
          const DType compared = node(n.operands[k]).dtype;
          if (info(n.op).rule == DTypeRule::Compare && is_stored_float(compared))
            expr.args[k] = cast_as_asked(expr.args[k], compared, id);
          expr.args[k] = number(expr.args[k], id);
        }
        return add(expr, id);
      case OpClass::Source: return source(id, map);
      case OpClass::View: {  // a view that is stored: a copy
        const MapId inner =
            n.op == Op::Reshape ? map : intern(index_map(map).through(n.shape, view_layout(graph_, n)));
        return value(n.operands[0], inner, predicate);
      }
      case OpClass::Pad: return n.op == Op::Concat ? concat(id, map, predicate) : pad(id, map, predicate);
      case OpClass::Reduce: return reduce(id, map);
      case OpClass::Contract: return contract(id, map);
      case OpClass::Dot: return dot(id, map);
      case OpClass::Combine: return combine(id, map);
      case OpClass::Partial: return partial(id);
      case OpClass::Gather: return gather(id, map, predicate);
      case OpClass::Join:
      case OpClass::Library:
      case OpClass::Result: break;
    }
    throw std::logic_error("lower: a library op is not part of a fused kernel");
  }

  ir::ExprId source(NodeId id, MapId map) {
    const Node& n = node(id);
    ir::Expr expr;
    expr.dtype = arithmetic_of(n.dtype);
    expr.map = number_of(map);
    switch (n.op) {
      case Op::Full:
        expr.kind = ir::ExprKind::Scalar;
        expr.scalar = scalar(n.scalars[0], expr.dtype);
        expr.map = 0;
        break;
      case Op::Iota: expr.kind = ir::ExprKind::Index; break;
      case Op::Random:
      case Op::RandomNormal:
        expr.kind = n.op == Op::Random ? ir::ExprKind::Random : ir::ExprKind::RandomNormal;
        expr.scalar = scalar_pair(n.scalars[0], n.scalars[1], DType::i64);
        break;
      default: throw std::logic_error("lower: unknown source");
    }
    return add(expr, id);
  }

  ir::ExprId reduce(NodeId id, MapId map) {
    const Node& n = node(id);
    if (owners_[id] != Owner::kernel(id_)) throw Cut{"a reduction of another kernel"};
    const std::int64_t numel = node(n.operands[0]).shape.numel();
    // Of the inner loops alone: one result, which is the same at all outer points.
    const bool is_over_inner = numel == loops_.inner_points && numel != loops_.points;
    if (is_over_inner && n.shape.numel() != 1) throw Cut{"a reduction over a part of the loops"};
    if (!is_over_inner && map != outer_ && !same_points(index_map(map), index_map(outer_)))
      throw Cut{"a reduction's result is used at another place"};
    // The operand is visited at every loop point: same sizes but for ones, so row-major positions agree.
    ir::Expr expr;
    expr.kind = ir::ExprKind::Reduce;
    expr.op = n.op;
    expr.dtype = arithmetic_of(n.dtype);
    expr.args[0] = number(value(n.operands[0], is_over_inner ? inner_ : all_, ir::kNone), id);
    return add(expr, id);
  }

  ir::ExprId partial(NodeId id) {
    ir::Expr expr;
    expr.kind = ir::ExprKind::Partial;
    expr.op = Op::Sum;
    expr.dtype = DType::f32;
    expr.args[0] = number(value(node(id).operands[0], all_, ir::kNone), id);
    return add(expr, id);
  }

  /// The sum over all loop points of a row and a column of the product of what its factors have there.
  ir::ExprId contract(NodeId id, MapId map) {
    const Node& n = node(id);
    if (owners_[id] != Owner::kernel(id_)) throw Cut{"a contraction of another kernel"};
    for (std::size_t k = 0; k < 2; ++k) {
      if (!is_computed_here(n.operands[k])) continue;
      // The only row, or a matrix that few rows meet: finish() knows whether lanes compute it beside the
      // other factor.
      const bool is_only_row = n.shape.numel() == n.shape[n.dim_along(1 - k)];
      if (!limits_.lone_rows || (!is_only_row && !has_few_readers(graph_, n, k)) || n.ints[1] != 0)
        throw Cut{"a factor of a product, of which each element is read many times"};
      draft_.computes_factor = true;
    }
    go_over_products(draft_, n);
    if (map != results_ && !same_points(index_map(map), index_map(results_)))
      throw Cut{"a contraction's result is used at another place"};
    ir::Expr product;
    product.kind = ir::ExprKind::Elementwise;
    product.op = Op::Mul;
    product.dtype = arithmetic_of(n.dtype);
    for (std::size_t k = 0; k < 2; ++k)
      product.args[k] =
          cast(number(value(n.operands[k], factor_map(n, k), ir::kNone), id), product.dtype, id);
    ir::Expr sum;
    sum.kind = ir::ExprKind::Reduce;
    sum.op = Op::Sum;
    sum.dtype = product.dtype;
    sum.args[0] = add(product, id);
    if (limits_.alone) sum.args[0] = of_own_group(id, sum.args[0], products_);
    draft_.contracted.push_back(add(sum, id));
    return draft_.contracted.back();
  }

  /// The product's element at `map`, from a row of its first factor and a column of the second.
  ir::ExprId dot(NodeId id, MapId map) {
    const Node& n = node(id);
    const std::size_t last = n.shape.rank() - 1;
    ir::Expr expr;
    expr.kind = ir::ExprKind::Dot;
    go_over_scores(draft_, n);
    expr.dtype = n.dtype;
    expr.args[0] = row(n.operands[0], map, n.shape, last - 1, last - 1, last);
    expr.args[1] = row(n.operands[1], map, n.shape, last, last, last - 1);
    return add(expr, id);
  }

  /// The sum of all rows, each times its weight in this row of weights.
  ir::ExprId combine(NodeId id, MapId map) {
    const Node& n = node(id);
    if (owners_[id] != Owner::kernel(id_)) throw Cut{"a combination of another kernel"};
    if (map != first_of_vectors(id)) throw Cut{"a combination's result is used at another place"};
    const Shape& points = node(n.operands[0]).shape;
    const std::size_t last = points.rank() - 1;
    ir::Expr expr;
    expr.kind = ir::ExprKind::Combine;
    go_over_scores(draft_, n);
    expr.dtype = n.dtype;
    expr.args[0] = number(value(n.operands[0], all_, ir::kNone), id);
    expr.args[1] = row(n.operands[1], all_, points, last, last - 1, last);
    if (n.operands.size() > 2) expr.args[2] = number(value(n.operands[2], outer_, ir::kNone), id);
    return add(expr, id);
  }

  /// True iff what views and frames show is a value that this kernel would compute.
  bool is_computed_here(NodeId id) const {
    while (owners_[id] == kInline && (node(id).is(OpClass::View) || node(id).op == Op::Pad))
      id = node(id).operands[0];
    return node(id).kind == NodeKind::Op && !is_loaded(id);
  }

  /// The map under which the factor (.., m, k) or (.., k, n) is visited at the points (.., m, n, k), or where
  /// m stands in front of other dims.
  MapId factor_map(const Node& contraction, std::size_t which) {
    const Domain domain = domain_of(graph_, contraction);
    const std::size_t rank = domain.shape.rank(), m = contraction.dim_along(0), n = contraction.dim_along(1),
                      k = rank - 1;
    const Dims from = contiguous_layout(node(contraction.operands[which]).shape).strides;
    trace::Layout layout{Dims::filled(rank, 0), 0};
    std::size_t leading = 0;
    for (std::size_t d = 0; d < n; ++d)
      if (d != m) layout.strides[d] = from[leading++];
    layout.strides[which == 0 ? m : k] = from[leading];
    layout.strides[which == 0 ? k : n] = from[leading + 1];
    return intern(index_map(products_).through(domain.shape, layout));
  }

  /// Elements put on a grid in a larger shape, with a number (pad) or another value (slice_assign) around
  /// them. Each side is read only where it is wanted.
  ir::ExprId pad(NodeId id, MapId map, ir::ExprId predicate) {
    const Node& n = node(id);
    const bool assigns = n.op == Op::SliceAssign;
    const NodeId placed = n.operands[assigns ? 1 : 0];
    const Grid grid(n.shape, node(placed).shape, n.ints, n.starts);
    const ir::ExprId on_grid = in_bounds(id, grid, map);
    if (assigns && n.ints.back() != 0 && ++pieces_ > kMostPieces) throw Cut{"too many pieces"};
    const MapId below = intern(grid.below(index_map(map)));
    if (on_grid == ir::kNone) return value(placed, below, predicate);
    ir::Expr where;
    where.op = Op::Where;
    where.args[0] = on_grid;
    where.args[1] = value(placed, below, both(id, predicate, on_grid));
    // What is not loaded is 0.
    const ir::Expr& inside = draft_.exprs[where.args[1]];
    if (graph_.pads_with_zeros(n) && inside.kind == ir::ExprKind::Load && inside.predicate != ir::kNone)
      return where.args[1];
    if (assigns) {
      where.args[2] = value(n.operands[0], map, around(id, on_grid, predicate));
    } else {
      ir::Expr fill;
      fill.kind = ir::ExprKind::Scalar;
      const DType dtype = draft_.exprs[where.args[1]].dtype;
      fill.dtype = is_stored_int(dtype) ? arithmetic_of(dtype) : dtype;
      fill.scalar = scalar(n.scalars[0], fill.dtype);
      where.args[2] = add(fill, id);
    }
    match(where.args[1], where.args[2], id);
    where.dtype = draft_.exprs[where.args[1]].dtype;
    const ir::ExprId chosen = add(where, id);
    if (n.is_unseen_around) draft_.chosen_where_seen.insert(chosen);
    return chosen;
  }

  /// Pieces one behind the other, each of which is read only where it is.
  ir::ExprId concat(NodeId id, MapId map, ir::ExprId predicate) {
    const Node& n = node(id);
    const auto dim = static_cast<std::size_t>(n.ints[0]);
    const std::size_t rank = n.shape.rank();
    std::vector<std::int64_t> ints(2 * rank, 0);  // starts and steps
    std::fill(ints.begin() + static_cast<std::ptrdiff_t>(rank), ints.end(), std::int64_t{1});
    if ((pieces_ += n.operands.size() - 1) > kMostPieces) throw Cut{"too many pieces"};
    ir::ExprId joined = ir::kNone;
    for (const NodeId piece : n.operands) {
      const Grid grid(n.shape, node(piece).shape, ints, {});
      const ir::ExprId on_grid = in_bounds(id, grid, map);
      // Who reads a slice of one piece alone asks nothing.
      const ir::ExprId inside = on_grid == ir::kNone ? predicate : both(id, predicate, on_grid);
      const ir::ExprId own = value(piece, intern(grid.below(index_map(map))), inside);
      ints[dim] += node(piece).shape[dim];
      if (joined == ir::kNone || on_grid == ir::kNone) {
        joined = own;
        continue;
      }
      ir::Expr where;
      where.op = Op::Where;
      where.args[0] = on_grid;
      where.args[1] = own;
      where.args[2] = joined;
      match(where.args[1], where.args[2], id);
      where.dtype = draft_.exprs[where.args[1]].dtype;
      joined = add(where, id);
    }
    return joined;
  }

  /// Where a slice_assign reads what is around its grid: under the grid too, as whole vectors are faster, but
  /// where a good part of the elements is replaced. Parts of a concatenation are tested already.
  ir::ExprId around(NodeId id, ir::ExprId on_grid, ir::ExprId predicate) {
    const Node& n = node(id);
    const bool unseen = n.ints.back() != 0;
    if (unseen || static_cast<double>(node(n.operands[1]).shape.numel()) * kWorthSkipping <
                      static_cast<double>(n.shape.numel()))
      return predicate;
    ir::Expr outside;
    outside.op = Op::Not;
    outside.dtype = DType::boolean;
    outside.args[0] = on_grid;
    return both(id, predicate, add(outside, id));
  }

  ir::ExprId gather(NodeId id, MapId map, ir::ExprId predicate) {
    const Node& n = node(id);
    const std::int64_t axis = n.ints[0];
    const NodeId operand = n.operands[0];
    // A table that was copied lies without gaps, whatever it is a view of.
    const std::optional<StridedView> table =
        owners_[operand] == kInline ? strided_view(graph_, operand)
                                    : StridedView{operand, contiguous_layout(node(operand).shape)};
    if (!table) throw Cut{"a table seen through a reshape that strides cannot express"};
    const Node& base = node(table->base);
    if (base.kind != NodeKind::External &&
        (owners_[table->base] == kInline || owners_[table->base] == Owner::kernel(id_)))
      throw Cut{"a table that this kernel computes"};
    ViewLayout layout = table->layout;
    layout.strides[axis] = 0;
    ir::Expr expr;
    expr.kind = ir::ExprKind::LoadAt;
    expr.dtype = n.dtype;
    expr.args[0] = value(n.operands[1], map, predicate);
    expr.predicate = predicate;
    expr.buffer = buffer(table->base, true);
    expr.map = number_of(intern(index_map(map).through(n.shape, layout)));
    const ir::ExprId added = add(expr, id);
    draft_.indexed[added] = {table->layout.strides[axis], node(n.operands[0]).shape[axis], id};
    return added;
  }

  const Group& group_;
  ChosenLoops loops_;
  int depth_ = 0;
  std::size_t pieces_ = 0;  // of concatenations, but for the first of each
  MapId all_ = 0, outer_ = 0, inner_ = 0, products_ = 0, results_ = 0;
  absl::flat_hash_map<Value, ir::ExprId, HashOfValue> memo_{48};  // grows where operations are many
};

}  // namespace

std::variant<Lowered, std::string> lower(const Graph& graph, const Owners& owners, GroupId group_id,
                                         const Group& group, const LowerLimits& limits) {
  try {
    std::vector<LoopSplit> splits;
    while (true) {
      Lowering lowering(graph, owners, group_id, group, limits);
      const std::optional<LoopSplit> split = lowering.run(splits);
      if (!split) {
        Draft draft = lowering.take();
        std::optional<ChangedBox> box = changed_box(draft);
        Lowered lowered = finish(std::move(draft), limits);
        if (lowered.ints.size() > limits.max_ints) throw Cut{"too many sizes and strides"};
        if (box) lowered.in_place = in_place_kernel(std::move(*box), lowered, limits);
        return lowered;
      }
      splits.push_back(*split);
    }
  } catch (Cut& cut) {
    return std::move(cut.reason);
  }
}

}  // namespace sinter::plan
