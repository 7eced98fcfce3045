// Writes loads, points and stores of vectors.
#include "jit/emit/walker/vectors/vectors.h"

#include <algorithm>
#include <utility>

#include "jit/emit/walker/tiles.h"
#include "jit/emit/walker/vectors/vectors_of_windows.h"
#include "jit/ir/made_of.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Schedule;

namespace {

// Above this a vector path would double a text that is long already, and its registers would no longer fit.
constexpr std::size_t kMostVectorExpressions = 80;
// Likewise: an index is split for each element of a vector.
constexpr std::size_t kMostVectorDivisions = 16;

}  // namespace

bool is_small_enough_for_vectors(const ir::Kernel& kernel, const std::vector<bool>& live) {
  return ir::divisions(kernel) <= kMostVectorDivisions &&
         static_cast<std::size_t>(std::count(live.begin(), live.end(), true)) <= kMostVectorExpressions;
}

Vectors::Vectors(Expressions& e, Accumulators& sums, Schedule schedule, const std::vector<bool>& live)
    : e_(e), sums_(sums), k_(e.kernel), dependence_(ir::dependence(e.kernel)) {
  const bool inner = schedule == Schedule::LanesInner;
  const std::size_t rank = inner ? k_.inner_rank : k_.outer_rank;
  if (!e_.dialect.has_vectors(k_, e_.target) || rank == 0) return;
  of_outer_points_ = schedule == Schedule::LanesOuter;
  const bool windows = of_outer_points_ && has_vectors_of_windows(k_, e_.target),
             columns = of_outer_points_ && !windows;
  if (columns && !has_vectors_of_columns(k_, e_.target)) return;
  std::vector<bool> in_vectors = live;
  if (columns)
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      in_vectors[id] = live[id] && k_.exprs[id].level == ir::Level::Inner;
  if (tile_edge(k_, e_.target) > 0 || !k_.flat_maps.empty() || !is_small_enough_for_vectors(k_, in_vectors))
    return;
  along_ = inner ? k_.extents.size() - 1 : k_.outer_rank - 1u;
  if (k_.row_ragged) return;
  std::vector<std::pair<std::size_t, std::size_t>> maps;
  std::set<std::size_t> whole;  // ints
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    const Expr& expr = k_.exprs[id];
    if (!in_vectors[id] || !is_load(id)) continue;
    maps.emplace_back(expr.buffer, expr.map);
    if (expr.predicate == ir::kNone || (dependence_[expr.predicate] >> along_ & 1) == 0) continue;
    framed_.insert(expr.map);
    is_whole_in_vectors(k_, expr.predicate, along_, dependence_, whole);
  }
  for (const ir::Store& store : k_.stores)
    if (!(columns && store.level == ir::Level::Outer) && is_store(store))
      maps.emplace_back(store.buffer, store.map);
  if (maps.empty()) return;
  any_ = true;
  for (auto [buffer, map] : maps) e_.use.in_vectors.insert(buffer);
  std::string condition = e_.vector_condition(maps, along_, columns || rank > 1, std::move(whole));
  if (columns)
    condition += " && " + e_.flat(e_.dialect.lanes) + " % " + e_.flat(std::to_string(e_.width)) +
                 " == " + e_.flat("0");
  e_.out.line(e_.dialect.constant(Type::Bool, "vectors", condition));
}

bool Vectors::is_load(ExprId id) const {
  const Expr& expr = k_.exprs[id];
  if (expr.kind != ExprKind::Load || !e_.is_consecutive(expr.map, along_)) return false;
  if (of_outer_points_) return lies_in_vectors(k_, id, along_, dependence_);
  return expr.predicate == ir::kNone || (dependence_[expr.predicate] >> along_ & 1) == 0;
}

std::string Vectors::place(std::size_t map, const std::string& base) const {
  const bool is_shifted = k_.row_ragged || of_stretch_;  // the row's coordinate is no multiple of the width
  if (e_.dialect.numbers_vectors && !is_shifted)
    return e_.vector_number(map, along_, "vector", framed_.contains(map));
  const std::string own = std::exchange(e_.coordinates[along_], base);
  const std::string text = e_.position(map);
  e_.coordinates[along_] = own;
  return e_.dialect.numbers_vectors ? e_.vector_of(text) : text;
}

bool Vectors::open_bounds(ExprId id) const {
  const ExprId predicate = k_.exprs[id].predicate;
  if (predicate == ir::kNone) return false;
  e_.open("");
  for (ExprId part : ir::made_of(k_, predicate)) e_.define(part);
  e_.open(e_.dialect.when(e_.value(predicate)));
  return true;
}

void Vectors::load(ExprId id, const std::string& base, const std::string& to) const {
  const Expr& expr = k_.exprs[id];
  // Where the bounds are those of whole vectors, the first element speaks for all.
  const std::string own = std::exchange(e_.coordinates[along_], base);
  const bool has_bounds = open_bounds(id);
  e_.coordinates[along_] = own;
  e_.out.line(e_.dialect.load_vector(k_, e_.width, expr.buffer, place(expr.map, base), to));
  if (!has_bounds) return;
  e_.close();
  e_.open(e_.dialect.otherwise());
  e_.open_unrolled("k", e_.width);
  e_.out.line(e_.dialect.set_element(expr.dtype, e_.width, to, e_.zero(expr.dtype)));
  e_.close();
  e_.close();
  e_.close();
}

ExprId vector_source(const Expressions& e, const InnerWork& work, const ir::Store& store) {
  const ir::Kernel& k = e.kernel;
  const Expr& expr = k.exprs[store.value];
  const bool is_cast = expr.kind == ExprKind::Elementwise && expr.op == Op::Cast &&
                       k.exprs[expr.args[0]].dtype == DType::f32 &&
                       e.dialect.casts_vectors_to(k.buffers[store.buffer].dtype);
  const bool is_here = std::find(work.values.begin(), work.values.end(), store.value) != work.values.end();
  return is_cast && is_here ? expr.args[0] : store.value;
}

void Vectors::write_points(const InnerWork& work, const std::string& base, const HeldRows& rows,
                           const std::vector<ExprId>& taken, const std::vector<ExprId>& loaded) {
  for (ExprId id : work.values) {
    if (!is_load(id)) continue;
    const bool stays = rows.has(id);
    const std::string name = stays ? rows.place(id) : "l" + std::to_string(id);
    if (!stays) e_.out.line(e_.dialect.declare_vector(k_.exprs[id].dtype, e_.width, name));
    if (std::find(loaded.begin(), loaded.end(), id) == loaded.end()) load(id, base, name);
    e_.loaded[id] = e_.element(id, name);
  }
  std::vector<ExprId> stored;
  for (std::size_t s = 0; s < work.stores.size(); ++s) {
    stored.push_back(vector_source(e_, work, *work.stores[s]));
    if (is_store(*work.stores[s]))
      e_.out.line(e_.dialect.declare_vector(k_.exprs[stored[s]].dtype, e_.width, "w" + std::to_string(s)));
  }
  // Neighbours have random numbers of one draw. As `base` is a whole number of vectors, compilers see which
  // draws are the same in bits that are joined; they do not where numbers are added.
  const bool draws = std::any_of(work.values.begin(), work.values.end(), [&](ExprId id) {
    return k_.exprs[id].kind == ExprKind::Random || k_.exprs[id].kind == ExprKind::RandomNormal;
  });
  e_.open_unrolled("k", e_.width);
  e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[along_], base + (draws ? " | k" : " + k")));
  for (ExprId id : taken) {
    e_.define_as(id, e_.element(id, rows.place(id)));
    e_.define_reciprocal(id);
  }
  for (ExprId id : work.values) {
    e_.define(id);
    if (rows.has(id) && !is_load(id)) e_.out.line(e_.set_element(id, rows.place(id)));
  }
  for (std::size_t s = 0; s < work.stores.size(); ++s) {
    if (is_store(*work.stores[s]))
      e_.out.line(e_.set_element(stored[s], "w" + std::to_string(s)));
    else
      e_.store(*work.stores[s]);
  }
  sums_.take(work, "[k]");
  e_.close();
  e_.loaded.clear();
  for (std::size_t s = 0; s < work.stores.size(); ++s) {
    const ir::Store& store = *work.stores[s];
    if (!is_store(store)) continue;
    const std::string where = place(store.map, base), from = "w" + std::to_string(s);
    e_.out.line(stored[s] == store.value
                    ? e_.dialect.store_vector(k_, e_.width, store.buffer, where, from)
                    : e_.dialect.store_cast_vector(k_, e_.width, store.buffer, where, from));
  }
}

/// Each row has elements of its own there.
bool Vectors::is_of_row(std::size_t map) const {
  const std::vector<ir::IntRef>& strides = k_.maps[map].steps.front().strides;
  return e_.is_consecutive(map, along_) &&
         std::any_of(strides.begin(), strides.begin() + k_.outer_rank,
                     [](const ir::IntRef& stride) { return !stride.is_zero(); });
}

bool Vectors::is_shifted(ExprId id) const {
  return is_load(id) && k_.exprs[id].predicate == ir::kNone && is_of_row(k_.exprs[id].map);
}

std::string Vectors::shift_condition() const {
  // Few lanes side by side: their elements are one sector of memory whether in vectors or not.
  if (k_.row_lanes < e_.target.subgroup) return "";
  if (!k_.row_ragged || k_.inner_rank != 1 || !e_.dialect.has_vectors(k_, e_.target)) return "";
  const std::vector<std::pair<std::size_t, std::size_t>> maps = maps_of_rows();
  if (maps.empty()) return "";
  for (auto [buffer, map] : maps) e_.use.in_vectors.insert(buffer);
  return e_.flat(e_.integer(k_.extents.back())) + " + " + std::to_string(e_.width - 1) +
         " <= " + e_.flat(std::to_string(k_.row_elements * k_.row_cluster)) + " * " + e_.flat(e_.lanes()) +
         e_.shift_condition(maps, maps.front().second);
}

std::vector<std::pair<std::size_t, std::size_t>> Vectors::maps_of_rows() const {
  std::vector<std::pair<std::size_t, std::size_t>> maps;
  if (!e_.dialect.loads_around_rows) return maps;
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    // What lies around a row may be no index.
    if (k_.exprs[id].kind == ExprKind::LoadAt && k_.exprs[id].level == ir::Level::Inner) return {};
    if (is_shifted(id)) maps.emplace_back(k_.exprs[id].buffer, k_.exprs[id].map);
  }
  if (maps.empty()) return maps;
  for (const ir::Store& store : k_.stores)
    if (store.level == ir::Level::Inner && is_of_row(store.map)) maps.emplace_back(store.buffer, store.map);
  return maps;
}

std::string Vectors::stretch_condition() const {
  if (!any_ || of_outer_points_) return "";
  const std::vector<std::pair<std::size_t, std::size_t>> maps = maps_of_rows();
  if (maps.empty()) return "";
  // Of shorter ones too much of each vector lies around them.
  return "!vectors && " + e_.flat(e_.integer(k_.extents.back())) +
         " >= " + e_.flat(std::to_string(2 * e_.width)) + e_.shift_condition(maps, maps.front().second);
}

void Vectors::write_points_of_stretch(const InnerWork& work, const std::string& base,
                                      const std::string& end) {
  of_stretch_ = true;
  for (ExprId id : work.values) {
    if (!is_shifted(id)) continue;
    const std::string name = "l" + std::to_string(id);
    e_.out.line(e_.dialect.declare_vector(k_.exprs[id].dtype, e_.width, name));
    load(id, base, name);
    e_.loaded[id] = e_.element(id, name);
  }
  write_shifted_points(work, base, {}, work.values, {}, end);
  e_.loaded.clear();
  of_stretch_ = false;
}

std::string Vectors::shift() const {
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    if (!is_shifted(id)) continue;
    const std::string own = std::exchange(e_.coordinates[along_], "0");
    const std::string text = e_.position(k_.exprs[id].map);
    e_.coordinates[along_] = own;
    return "(" + text + ") & " + std::to_string(e_.width - 1);
  }
  return "0";
}

void Vectors::write_shifted_points(const InnerWork& work, const std::string& base, const HeldRows& rows,
                                   const std::vector<ExprId>& values, const std::vector<ExprId>& loaded,
                                   const std::string& end) {
  const auto is_vector = [&](const ir::Store& store) { return is_of_row(store.map); };
  std::vector<std::size_t> in_vectors, alone;
  for (std::size_t s = 0; s < work.stores.size(); ++s)
    (is_vector(*work.stores[s]) ? in_vectors : alone).push_back(s);
  const auto vector = [](std::size_t s) { return "w" + std::to_string(s); };
  // As 32 bits without a sign, what comes before the row is beyond its end.
  const std::string element = base + " + k",
                    inside = (k_.wide ? element + " >= 0 && " : "") + e_.flat(element) + " < " + end;
  for (std::size_t s : in_vectors)
    e_.out.line(e_.dialect.declare_vector(k_.exprs[work.stores[s]->value].dtype, e_.width, vector(s)));
  e_.open_unrolled("k", e_.width);
  // Branches would cost more than to compute with what lies around the row: it is left out of sums and
  // results. Other operands are read at the row's first element then. As a number that is never negative,
  // what comes before the row is beyond its end.
  e_.out.line(e_.dialect.constant(Type::Bool, "inside", inside));
  e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[along_],
                                  e_.dialect.choose("inside", element, e_.index("0"))));
  for (ExprId id : loaded) e_.define_as(id, e_.element(id, rows.place(id)));
  for (ExprId id : values) {
    e_.define(id);
    if (rows.has(id)) e_.out.line(e_.set_element(id, rows.place(id)));
  }
  for (std::size_t s : in_vectors) e_.out.line(e_.set_element(work.stores[s]->value, vector(s)));
  sums_.take(work, "[k]", "inside");
  if (!alone.empty()) {
    e_.open(e_.dialect.when("inside"));
    for (std::size_t s : alone) e_.store(*work.stores[s]);
    e_.close();
  }
  e_.close();
  if (in_vectors.empty()) return;
  e_.open(
      e_.dialect.when(base + " >= 0 && " + e_.flat(base + " + " + std::to_string(e_.width)) + " <= " + end));
  for (std::size_t s : in_vectors)
    e_.out.line(e_.dialect.store_vector(k_, e_.width, work.stores[s]->buffer,
                                        place(work.stores[s]->map, base), vector(s)));
  e_.close();
  e_.open(e_.dialect.otherwise());
  e_.open_unrolled("k", e_.width);
  e_.open(e_.dialect.when(inside));
  e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[along_], element));
  for (std::size_t s : in_vectors) {
    const std::string at = e_.position(work.stores[s]->map);
    e_.out.line(
        e_.dialect.write(k_, work.stores[s]->buffer, at, e_.element(work.stores[s]->value, vector(s))));
  }
  e_.close();
  e_.close();
  e_.close();
}

}  // namespace sinter::emit
