// Ranks tiles of whole cooperative matrices.
#include "jit/plan/lower/tiles/matrix_tilings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "jit/ir/products/matrix_tile.h"
#include "jit/ir/products/parts.h"

namespace sinter::plan {
namespace {

/// A tile, and the part of it that a subgroup has. `cycles`: what a compute unit takes for kDepth elements of
/// its sum, where it has many tiles, of which it holds `at_once`. Read off one card
/// (docs/benchmarks/products.md), so that on others it only orders the forms.
struct Form {
  std::uint16_t rows, columns;
  std::uint8_t subgroup_rows, subgroup_columns;
  double cycles;
  std::uint8_t at_once;
};
constexpr Form kForms[] = {
    {128, 128, 64, 64, 875, 2}, {64, 128, 64, 32, 617, 3}, {128, 64, 64, 32, 645, 3},
    {128, 64, 32, 32, 771, 2},  {64, 128, 32, 32, 749, 2}, {64, 64, 64, 32, 378, 6},
    {64, 64, 32, 32, 389, 4},   {64, 32, 16, 32, 305, 5},  {32, 64, 32, 16, 272, 5},
    {32, 32, 16, 16, 199, 8},
};
constexpr double kDepth = 32;
// Cycles of kDepth elements however few tiles a unit has: until data have come from memory, and are shared.
constexpr double kLeast = 1300;
// Sums of a subgroup's part, each a matrix: texts are unrolled over them.
constexpr int kMostSums = 16;
// Cycles: until the first data of a tile are there, and of one element that is stored.
constexpr double kStart = 3400, kStore = 0.4;
// Of a tile that several workgroups work on: until the data of a part have come, and of an element of it that
// is written or read.
constexpr double kPart = 1200, kJoin = 0.14;

/// True iff subgroups multiply whole matrices and not too many, lanes are as many as a workgroup may have,
/// and the slot has room.
bool is_possible(const ir::Tiling& tiling, const ir::TensorCores& cores) {
  const ir::Tiling::Matrices& of = tiling.matrices;
  if (tiling.subgroup_rows % of.m != 0 || of.columns % of.n != 0) return false;
  if (tiling.subgroup_rows / of.m * (of.columns / of.n) > kMostSums) return false;
  const ir::MatrixTile tile(tiling);
  return tile.lanes() <= cores.most_lanes && tile.shared_bytes() <= cores.shared_bytes;
}

double cycles(const ir::Tiling& tiling, const Form& form, const ProductSizes& sizes,
              const ir::TensorCores& cores) {
  const auto up = [](std::int64_t size, double of) { return std::ceil(static_cast<double>(size) / of); };
  const double area = double{1} * tiling.rows * tiling.columns, depth = ir::MatrixTile(tiling).depth();
  const double tiles =
      up(sizes.rows, tiling.rows) * up(sizes.columns, tiling.columns) * static_cast<double>(sizes.batches);
  const double rounds = up(sizes.depth, depth);
  const std::int64_t parts =
      ir::tiles_in_parts(static_cast<std::int64_t>(tiles), static_cast<std::int64_t>(rounds),
                         cores.compute_units * form.at_once, false);
  const double of_unit = std::ceil(tiles * static_cast<double>(parts) / cores.compute_units);
  const double round = std::max(kLeast * std::ceil(of_unit / form.at_once), of_unit * form.cycles);
  const double turns = parts > 1 ? static_cast<double>(ir::parts_read_in_turn(parts)) : 0;
  const double joins = parts > 1 ? turns * kPart + (1 + turns) * area * kJoin : 0;
  return kStart + std::ceil(rounds / static_cast<double>(parts)) * depth / kDepth * round + joins +
         of_unit * area * kStore;
}

}  // namespace

std::vector<ir::Tiling> ranked_matrix_tilings(const ir::Tiling& like, const ProductSizes& sizes,
                                              const ir::TensorCores& cores) {
  constexpr int kFewest = 8, kMost = 128;  // 16 bytes of 16 bits each
  std::vector<ir::MatrixShape> shapes;
  for (const ir::MatrixShape& shape : cores.matrices) {
    const auto fits = [&](int size) { return size % kFewest == 0 && size > 0 && size <= kMost; };
    const bool fills_slot = shape.k > 0 && ir::MatrixTile::depth_of(shape.k) % shape.k == 0;
    if (shape.multiplied == like.multiplied && shape.added == DType::f32 && fits(shape.m) && fits(shape.n) &&
        fits(shape.k) && fills_slot)
      shapes.push_back(shape);
  }
  // Larger matrices are fewer instructions.
  const auto size = [](const ir::MatrixShape& shape) { return shape.m * shape.n * shape.k; };
  std::stable_sort(shapes.begin(), shapes.end(),
                   [&](const auto& a, const auto& b) { return size(a) > size(b); });
  std::vector<std::pair<double, ir::Tiling>> found;
  for (const ir::MatrixShape& shape : shapes)
    for (const Form& form : kForms) {
      ir::Tiling tiling = like;
      tiling.rows = form.rows;
      tiling.columns = form.columns;
      tiling.slots = 1;
      tiling.workgroups = form.at_once;
      tiling.subgroup_rows = form.subgroup_rows;
      tiling.matrices = {static_cast<std::uint8_t>(shape.m), static_cast<std::uint8_t>(shape.n),
                         static_cast<std::uint8_t>(shape.k), form.subgroup_columns,
                         static_cast<std::uint8_t>(cores.subgroup_lanes)};
      if (is_possible(tiling, cores)) found.emplace_back(cycles(tiling, form, sizes, cores), tiling);
    }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ir::Tiling> tilings;
  for (auto& [time, tiling] : found)
    if (tilings.size() < kMostTilings) tilings.push_back(tiling);
  return tilings;
}

}  // namespace sinter::plan
