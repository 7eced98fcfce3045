// Chooses how many groups are multiplied at once, and puts their weights side by side.
#include "jit/plan/rewrite/groups.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/images.h"

namespace sinter::plan {
namespace {

// Rows or columns of a tile, and bytes of each that are multiplied at a time.
constexpr std::int64_t kTile = 64, kSlotBytes = 128;
// Bytes that a lane loads at once.
constexpr std::int64_t kVectorBytes = 16;
// What takes longer where lanes find windows themselves (docs/benchmarks/products.md).
constexpr double kByLanes = 2;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// (groups / together, together, o / groups, channels, kh, kw): of a weight or of its blocks.
Shape of_blocks(const Shape& weight, std::int64_t groups, std::int64_t together, std::int64_t channels) {
  return {groups / together, together, weight[0] / groups, channels, weight[2], weight[3]};
}

}  // namespace

std::int64_t groups_at_once(const Shape& weight, std::int64_t groups, std::int64_t bytes, bool by_result,
                            const ir::TensorCores& cores) {
  const std::int64_t results = weight[0] / groups, shown = by_result ? results : weight[1],
                     others = by_result ? weight[1] : results,
                     at_once = cores.has_groups ? kSlotBytes : kVectorBytes;
  std::int64_t best = 1;
  double least = 0;
  for (std::int64_t together = 1; together <= groups; ++together) {
    if (groups % together != 0) continue;
    const std::int64_t tiles = groups / together * divide_up(others * together, kTile),
                       slots = divide_up(shown * together * weight[2] * weight[3] * bytes, kSlotBytes);
    const bool is_brought = shown * together * bytes % at_once == 0;
    const double work = static_cast<double>(tiles) * static_cast<double>(slots) * (is_brought ? 1 : kByLanes);
    if (together == 1 || work < least) best = together, least = work;
  }
  return best;
}

NodeId side_by_side(Rewriter& to, NodeId weight, std::int64_t groups, std::int64_t together) {
  if (together == 1) return weight;
  const Shape given = to.node(weight).shape;
  const Shape blocks = of_blocks(given, groups, together, given[1]);
  // Of a square of blocks those on the diagonal are one more than a line of it apart.
  Shape placed = blocks, square = blocks;
  placed[1] = together * together;
  square.insert(2, together);
  const NodeId on_diagonal = in_zeros(to, to.view(Op::Reshape, weight, blocks), Shape{0, 0, 0, 0, 0, 0},
                                      Shape{1, together + 1, 1, 1, 1, 1}, placed);
  const NodeId of_square = to.permute(to.view(Op::Reshape, on_diagonal, square), {0, 1, 3, 2, 4, 5, 6});
  return to.view(Op::Reshape, of_square, Shape{given[0], together * given[1], given[2], given[3]});
}

NodeId blocks_of(Rewriter& to, NodeId weight, std::int64_t groups, std::int64_t together) {
  if (together == 1) return weight;
  const Shape given = to.node(weight).shape;
  const Shape blocks = of_blocks(given, groups, together, given[1] / together);
  Shape placed = blocks, square = blocks;
  placed[1] = together * together;
  square.insert(3, together);
  const NodeId of_square = to.permute(to.view(Op::Reshape, weight, square), {0, 1, 3, 2, 4, 5, 6});
  std::vector<std::int64_t> on_diagonal{0, 0, 0, 0, 0, 0, 1, together + 1, 1, 1, 1, 1};
  const NodeId found =
      to.view(Op::Slice, to.view(Op::Reshape, of_square, placed), blocks, std::move(on_diagonal));
  return to.view(Op::Reshape, found, Shape{given[0], blocks[3], given[2], given[3]});
}

Shape shape_of_matrices(std::int64_t groups, std::int64_t rows, std::int64_t columns) {
  return groups == 1 ? Shape{rows, columns} : Shape{groups, rows, columns};
}

NodeId matrices(Rewriter& to, NodeId x, std::int64_t groups, std::int64_t rows, std::int64_t columns) {
  if (groups > 1) {
    Shape split = to.node(x).shape;
    const std::size_t last = split.rank() - 1;
    split[last] /= groups;
    split.insert(last, groups);
    std::vector<std::int64_t> axes(split.rank());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    std::rotate(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(last), axes.end() - 1);
    x = to.permute(to.view(Op::Reshape, x, split), std::move(axes));
  }
  return to.view(Op::Reshape, x, shape_of_matrices(groups, rows, columns));
}

}  // namespace sinter::plan
