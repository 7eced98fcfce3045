// Chooses the loops of a kernel.
#include "jit/plan/lower/chosen_loops.h"

#include "jit/plan/lower/finish.h"
#include "jit/plan/lower/inner_loops.h"

namespace sinter::plan {

namespace {

/// All that partial sums are over has as many parts.
void take_parts(const Graph& graph, const Node& sum, std::int64_t& of_all) {
  const auto [domain, columns] = domain_of(graph, sum);
  std::int64_t parts = sum.shape.numel();
  for (std::size_t d = 0; d < domain.rank(); ++d)
    if (columns >> d & 1) parts /= domain[d];
  if (of_all != 0 && of_all != parts) throw Cut{"sums of other parts"};
  of_all = parts;
}

/// The dim of a larger shape without which it is `results`, each of which is needed once for each of its
/// elements; the rank where there is none.
std::size_t repeated_dim(const Shape& shape, const Shape& results) {
  if (shape.rank() != results.rank() + 1) return shape.rank();
  std::size_t dim = 0;
  while (dim < results.rank() && shape[dim] == results[dim]) ++dim;
  for (std::size_t d = dim; d < results.rank(); ++d)
    if (shape[d + 1] != results[d]) return shape.rank();
  return dim;
}

/// Puts a dim that repeats the results of contractions among those of their domain, whose last one is
/// reduced. Gives its place; the domain's rank where the group needs each result once.
std::size_t take_repeats(const Graph& graph, const Group& group, const LowerLimits& limits, Shape& domain,
                         std::int64_t& bits) {
  const std::size_t rank = domain.rank();
  if (limits.tensor_cores.cluster == 1 || rank == 0 || bits != std::int64_t{1} << (rank - 1)) return rank;
  Shape widest;
  for (const NodeId id : group.nodes) {
    const Node& n = graph.nodes[id];
    if (n.has_inner_loops() && !n.is(OpClass::Contract)) return rank;
    std::int64_t none = 0;
    if (const Shape shape = without_ones(n.shape, none); shape.numel() > widest.numel()) widest = shape;
  }
  Shape results;
  for (std::size_t d = 0; d + 1 < rank; ++d) results.push_back(domain[d]);
  const std::size_t dim = repeated_dim(widest, results);
  if (dim >= results.rank() || widest[dim] > kMostRepeats) return rank;  // along the last dim lie vectors
  widest.push_back(domain[rank - 1]);
  domain = widest;
  bits <<= 1;
  return dim;
}

/// Row-major positions that count only loops of which `counts` is true.
template <class Counts>
MapStep positions(const MapStep& all, const Counts& counts) {
  MapStep step = all;
  std::int64_t stride = 1;
  for (std::size_t k = all.extents.size(); k-- > 0;) {
    step.strides[k] = counts(k) ? stride : 0;
    if (counts(k)) stride *= all.extents[k];
  }
  return step;
}

}  // namespace

bool has_dims(const Shape& domain, const Shape& shape) {
  std::int64_t none = 0;
  return without_ones(domain, none) == without_ones(shape, none);
}

ChosenLoops choose_loops(const Graph& graph, const Group& group, const std::vector<LoopSplit>& splits,
                         const LowerLimits& limits) {
  ChosenLoops loops;
  Shape shape;
  std::int64_t bits = 0;
  for (NodeId id : group.nodes) {
    const Node& n = graph.nodes[id];
    if (!n.has_inner_loops()) {
      if (!loops.reduces && n.shape.rank() >= shape.rank()) shape = n.shape;
      continue;
    }
    auto [whole, reduced] = domain_of(graph, n);
    const Shape domain = without_ones(whole, reduced);
    // Partial sums are over the loops that stay, of whatever dims these are.
    const bool along_others = n.is_partial_sum() && loops.reduces &&
                              rows_and_columns(domain, reduced) == rows_and_columns(shape, bits);
    if (loops.reduces && !along_others && (domain != shape || reduced != bits)) {
      // A sum over the loops of a product of one row alone is found for each column anew.
      if (limits.lone_rows && is_over_inner_loops(domain, reduced, shape, bits)) continue;
      if (!limits.lone_rows || !is_over_inner_loops(shape, bits, domain, reduced))
        throw Cut{"reductions over different dimensions"};
    }
    if (n.is_partial_sum()) take_parts(graph, n, loops.parts);
    if (along_others) continue;
    shape = domain;
    bits = reduced;
    loops.reduces = true;
  }
  const std::size_t whole = shape.rank(),
                    repeated = loops.reduces ? take_repeats(graph, group, limits, shape, bits) : whole;
  loops.repeats = repeated < whole;
  loops.points = shape.numel();
  loops.domain = shape;
  std::vector<std::int64_t> sizes(shape.begin(), shape.end()), strides(shape.rank(), 1);
  std::vector<bool> reduced(shape.rank()), repeats(shape.rank());
  for (std::size_t d = 0; d < shape.rank(); ++d) reduced[d] = bits >> d & 1;
  if (loops.repeats) repeats[repeated] = true;
  for (const LoopSplit& split : splits) {
    const auto at = static_cast<std::ptrdiff_t>(split.dim);
    sizes[split.dim] /= split.part;
    sizes.insert(sizes.begin() + at + 1, split.part);
    reduced.insert(reduced.begin() + at, reduced[split.dim]);
    repeats.insert(repeats.begin() + at, repeats[split.dim]);
  }
  strides.assign(sizes.size(), 1);
  for (std::size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  MapStep &all = loops.all, &outer = loops.outer, &inner = loops.inner;
  for (const bool is_inner : {false, true})
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (reduced[d] != is_inner) continue;
      all.extents.push_back(sizes[d]);
      all.strides.push_back(strides[d]);
      loops.dim_of_loop.push_back(d);
      if (!is_inner) ++loops.outer_rank;
    }
  outer.extents = all.extents;
  outer.strides.assign(all.extents.size(), 0);
  std::int64_t step = 1;
  for (std::size_t k = loops.outer_rank; k-- > 0;) {
    outer.strides[k] = step;
    step *= all.extents[k];
  }
  loops.outer_points = step;
  inner = all;
  inner.strides.assign(all.extents.size(), 0);
  step = 1;
  for (std::size_t k = all.extents.size(); k-- > loops.outer_rank;) {
    inner.strides[k] = step;
    step *= all.extents[k];
  }
  loops.inner_points = step;
  loops.products = all;
  loops.results = outer;
  if (!loops.repeats) return loops;
  const auto is_of_product = [&](std::size_t k) { return !repeats[loops.dim_of_loop[k]]; };
  loops.products = positions(all, is_of_product);
  loops.results = positions(all, [&](std::size_t k) { return k < loops.outer_rank && is_of_product(k); });
  return loops;
}

}  // namespace sinter::plan
