// Chooses how many groups are multiplied at once, and puts their weights side by side.
#include "jit/plan/rewrite/convolutions/groups.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/convolutions/images.h"

namespace sinter::plan {
namespace {

// Rows or columns of a tile, and bytes of each that are multiplied at a time.
constexpr std::int64_t kTile = 64, kSlotBytes = 128;
// Bytes that a lane loads at once.
constexpr std::int64_t kVectorBytes = 16;
// What takes longer where lanes find windows themselves (docs/benchmarks/products.md).
constexpr double kByLanes = 2;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// (groups / together, together, o / groups, channels, elements of the kernel): of a weight or of its blocks.
Shape of_blocks(const Shape& weight, std::int64_t groups, std::int64_t together, std::int64_t channels) {
  return {groups / together, together, weight[0] / groups, channels, product_of(kernel_of(weight))};
}

/// The weight (o, channels, ..) with other channels.
Shape with_channels(Shape weight, std::int64_t channels) {
  weight[1] = channels;
  return weight;
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
                       slots =
                           divide_up(shown * together * product_of(kernel_of(weight)) * bytes, kSlotBytes);
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
  const NodeId on_diagonal = in_zeros(to, to.view(Op::Reshape, weight, blocks), Shape{0, 0, 0, 0, 0},
                                      Shape{1, together + 1, 1, 1, 1}, placed);
  const NodeId of_square = to.permute(to.view(Op::Reshape, on_diagonal, square), {0, 1, 3, 2, 4, 5});
  return to.view(Op::Reshape, of_square, with_channels(given, together * given[1]));
}

NodeId blocks_of(Rewriter& to, NodeId weight, std::int64_t groups, std::int64_t together) {
  if (together == 1) return weight;
  const Shape given = to.node(weight).shape;
  const Shape blocks = of_blocks(given, groups, together, given[1] / together);
  Shape placed = blocks, square = blocks;
  placed[1] = together * together;
  square.insert(3, together);
  const NodeId of_square = to.permute(to.view(Op::Reshape, weight, square), {0, 1, 3, 2, 4, 5});
  std::vector<std::int64_t> on_diagonal{0, 0, 0, 0, 0, 1, together + 1, 1, 1, 1};
  const NodeId found =
      to.view(Op::Slice, to.view(Op::Reshape, of_square, placed), blocks, std::move(on_diagonal));
  return to.view(Op::Reshape, found, with_channels(given, blocks[3]));
}

Shape shape_of_matrices(std::int64_t groups, std::int64_t rows, std::int64_t columns) {
  return groups == 1 ? Shape{rows, columns} : Shape{groups, rows, columns};
}

NodeId matrices(Rewriter& to, NodeId x, std::int64_t groups, std::int64_t rows, std::int64_t columns) {
  if (groups > 1) {
    const std::int64_t channels = to.node(x).shape.back() / groups;
    x = to.view(Op::Reshape, x, Shape{rows, columns / channels, groups, channels});
    x = to.permute(x, {2, 0, 1, 3});
  }
  return to.view(Op::Reshape, x, shape_of_matrices(groups, rows, columns));
}

}  // namespace sinter::plan
