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
  loops.points = shape.numel();
  loops.domain = shape;
  std::vector<std::int64_t> sizes(shape.begin(), shape.end()), strides(shape.rank(), 1);
  std::vector<bool> reduced(shape.rank());
  for (std::size_t d = 0; d < shape.rank(); ++d) reduced[d] = bits >> d & 1;
  for (const LoopSplit& split : splits) {
    const auto at = static_cast<std::ptrdiff_t>(split.dim);
    sizes[split.dim] /= split.part;
    sizes.insert(sizes.begin() + at + 1, split.part);
    reduced.insert(reduced.begin() + at, reduced[split.dim]);
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
  return loops;
}

}  // namespace sinter::plan
