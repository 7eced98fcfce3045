// A vector's first point is split into coordinates once; the next ones are found by counting up. So an index
// costs a comparison for each element instead of a division, and loads of vectors need not wait for either.
#include "jit/emit/walker/vectors/flat_vectors.h"

#include <algorithm>
#include <set>

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

FlatVectors::FlatVectors(Expressions& e, const std::vector<bool>& live) : e_(e), k_(e.kernel) {
  if (k_.flat_maps.empty() || !e_.dialect.has_vectors(k_, e_.target)) return;
  any_ = is_small_enough_for_vectors(k_, live);
  if (!any_) return;
  for (ExprId id = 0; id < k_.exprs.size(); ++id)
    if (live[id] && is_load(id)) loads_.push_back(id);
  for (ExprId id : loads_) e_.use.in_vectors.insert(k_.exprs[id].buffer);
  for (const ir::Store& store : k_.stores) e_.use.in_vectors.insert(store.buffer);
  first_needed_ = k_.outer_rank;
  for (std::size_t map = 0; map < k_.maps.size(); ++map) {
    const std::vector<ir::IntRef>& strides = k_.maps[map].steps.front().strides;
    for (std::size_t c = 0; c < first_needed_ && !is_flat(map); ++c)
      if (!strides[c].is_zero()) first_needed_ = c;
  }
}

bool FlatVectors::is_flat(std::size_t map) const {
  return std::find(k_.flat_maps.begin(), k_.flat_maps.end(), map) != k_.flat_maps.end();
}

bool FlatVectors::is_load(ExprId id) const {
  const Expr& expr = k_.exprs[id];
  return expr.kind == ExprKind::Load && expr.predicate == ir::kNone && is_flat(expr.map);
}

void FlatVectors::write_condition() const {
  const std::string mask = std::to_string(e_.width - 1);
  std::set<std::string> conditions;
  const auto require = [&](std::size_t buffer, std::size_t map) {
    const std::size_t bytes =
        std::min<std::size_t>(16, size_of(k_.buffers[buffer].dtype) * static_cast<std::size_t>(e_.width));
    if (const std::string address = e_.dialect.address(buffer); !address.empty())
      conditions.insert("(" + address + " & " + std::to_string(bytes - 1) + ") == 0");
    if (const ir::IntRef offset = k_.maps[map].steps.front().offset; !offset.is_zero())
      conditions.insert("(" + e_.integer(offset) + " & " + e_.index(mask) + ") == " + e_.index("0"));
  };
  for (ExprId id : loads_) require(k_.exprs[id].buffer, k_.exprs[id].map);
  for (const ir::Store& store : k_.stores) require(store.buffer, store.map);
  std::string text;
  for (const std::string& condition : conditions) text += (text.empty() ? "" : " && ") + condition;
  e_.out.line(e_.dialect.constant(Type::Bool, "vectors", text.empty() ? "true" : text));
}

/// Where the vector lies, as the language counts.
std::string FlatVectors::place(std::size_t map) const {
  const ir::IntRef offset = k_.maps[map].steps.front().offset;
  const bool numbers = e_.dialect.numbers_vectors;
  const std::string point = numbers ? "vector" : e_.index("f");
  if (offset.is_zero()) return point;
  return (numbers ? e_.vector_of(e_.integer(offset)) : e_.integer(offset)) + " + " + point;
}

void FlatVectors::declare_coordinates() const {
  if (first_needed_ == k_.outer_rank) return;
  e_.out.line(e_.dialect.variable(e_.flat_type, "t", "f"));
  for (std::size_t c = k_.outer_rank; c-- > first_needed_;) {
    const std::string first = c > 0 ? "first" + std::to_string(c) : e_.index("t");
    if (c > 0) e_.split_off("t", k_.extents[c], first, c > first_needed_, c);
    e_.out.line(e_.dialect.variable(e_.index_type, e_.coordinates[c], first));
  }
}

/// To the next point.
void FlatVectors::advance() const {
  int open = 0;
  for (std::size_t c = k_.outer_rank; c-- > first_needed_;) {
    const std::string& x = e_.coordinates[c];
    e_.out.line(x + " = " + x + " + " + e_.index("1") + ";");
    if (c == 0) break;  // there is no point beyond its last one
    e_.open(e_.dialect.when(x + " == " + e_.index(e_.integer(k_.extents[c]))));
    e_.out.line(x + " = " + e_.index("0") + ";");
    ++open;
  }
  while (open-- > 0) e_.close();
}

void FlatVectors::write_points(const InnerWork& work) const {
  if (e_.dialect.numbers_vectors) e_.out.line(e_.dialect.constant(Type::U32, "vector", e_.vector_of("f")));
  for (ExprId id : loads_) {
    const std::string name = "l" + std::to_string(id);
    e_.out.line(e_.dialect.declare_vector(k_.exprs[id].dtype, e_.width, name));
    e_.out.line(e_.dialect.load_vector(k_, e_.width, k_.exprs[id].buffer, place(k_.exprs[id].map), name));
    e_.loaded[id] = e_.element(id, name);
  }
  std::vector<ExprId> sources;
  const auto vector = [](std::size_t s) { return "w" + std::to_string(s); };
  for (std::size_t s = 0; s < work.stores.size(); ++s) {
    sources.push_back(vector_source(e_, work, *work.stores[s]));
    e_.out.line(e_.dialect.declare_vector(k_.exprs[sources[s]].dtype, e_.width, vector(s)));
  }
  declare_coordinates();
  e_.open_unrolled("k", e_.width);
  e_.out.line(e_.dialect.constant(e_.index_type, "e", e_.index("f") + " + k"));
  e_.flat_point = "e";
  for (ExprId id : work.values) e_.define(id);
  for (std::size_t s = 0; s < work.stores.size(); ++s) e_.out.line(e_.set_element(sources[s], vector(s)));
  e_.flat_point.clear();
  advance();
  e_.close();
  e_.loaded.clear();
  for (std::size_t s = 0; s < work.stores.size(); ++s) {
    const ir::Store& store = *work.stores[s];
    e_.out.line(sources[s] == store.value
                    ? e_.dialect.store_vector(k_, e_.width, store.buffer, place(store.map), vector(s))
                    : e_.dialect.store_cast_vector(k_, e_.width, store.buffer, place(store.map), vector(s)));
  }
}

}  // namespace sinter::emit
