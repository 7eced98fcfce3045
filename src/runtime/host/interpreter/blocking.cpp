// Chooses direction, blocks and groups of rows by sizes and strides.
#include "src/runtime/host/interpreter/blocking.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace sinter::runtime::host {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

// Rows up to this long are one block when several phases walk them, so that nothing is computed twice.
constexpr std::int64_t kLongestKeptRow = 8192;
// Rows at least this long are cut into blocks of their own; shorter ones are packed into blocks together.
constexpr std::int64_t kShortestRow = 192;

bool inner_store(const ir::Store& store) { return store.level == ir::Level::Inner; }

class LayoutChooser {
 public:
  LayoutChooser(const ir::Kernel& kernel, const Space& space) : kernel_(kernel), space_(space) {}

  Layout choose(bool keep_rows) {
    choose_direction();
    choose_blocks(keep_rows);
    return layout_;
  }

 private:
  /// Lanes along the inner dims or along the outer ones: as the kernel says, unless the sizes or strides say
  /// that only the other way fills vectors.
  void choose_direction() {
    if (kernel_.inner_rank == 0) return;
    std::int64_t along_outer = 0, along_inner = 0;  // loads of consecutive elements
    for (ExprId id = 0; id < kernel_.exprs.size(); ++id) {
      const Expr& e = kernel_.exprs[id];
      if (e.kind != ExprKind::Load || !space_.maps[e.map].affine()) continue;
      if (space_.outer > 0 && space_.maps[e.map].strides[space_.outer - 1] == 1) ++along_outer;
      if (space_.rank() > space_.outer && space_.maps[e.map].strides[space_.rank() - 1] == 1) ++along_inner;
    }
    layout_.lanes_inner = kernel_.schedule == ir::Schedule::LanesInner;
    if (layout_.lanes_inner) {
      const bool short_rows = space_.inner_count <= 32 && space_.outer_count >= 32;
      if (short_rows || (along_outer > along_inner && space_.outer_count >= 256)) layout_.lanes_inner = false;
    } else {
      const bool few_rows = space_.outer_count < 16 && space_.inner_count >= 64;
      if (few_rows || (along_inner > along_outer && space_.inner_count >= 64)) layout_.lanes_inner = true;
    }
  }

  void choose_blocks(bool keep_rows) {
    BlockSpace& blocks = layout_.blocks;
    blocks.first = layout_.lanes_inner ? space_.outer : 0;
    blocks.last = layout_.lanes_inner ? space_.rank() : space_.outer;
    const std::int64_t points = layout_.lanes_inner ? space_.inner_count : space_.outer_count;
    const std::int64_t last = blocks.first == blocks.last ? 1 : space_.extents[blocks.last - 1];
    blocks.by_row = blocks.last - blocks.first <= 1 || last >= kShortestRow;
    std::uint16_t walks = 0;
    for (std::uint16_t phase = 0; phase < kernel_.phases; ++phase) walks += walks_inner(phase) ? 1 : 0;
    layout_.keep = keep_rows && layout_.lanes_inner && walks > 1 && points <= kLongestKeptRow;
    blocks.inside = blocks.first;
    if (layout_.keep)
      blocks.by_row = blocks.last - blocks.first <= 1;
    else if (!blocks.by_row)
      choose_alike_blocks();
    else if (!layout_.lanes_inner)
      choose_row_groups();
    blocks.row = blocks.by_row ? last : points;
    if (blocks.by_row && blocks.last > blocks.first) blocks.inside = blocks.last - 1;
    layout_.row_dims = blocks.by_row ? (blocks.first == blocks.last ? 0 : bits(blocks.last - 1, blocks.last))
                                     : bits(blocks.first, blocks.last);
  }

  /// Short rows: blocks of whole last dims and a divisor of the dim before them lie alike, so that where
  /// their elements are relative to the first one has to be found out only once.
  void choose_alike_blocks() {
    constexpr std::int64_t kLeast = 128, kEnough = 384, kMost = 1536;
    BlockSpace& blocks = layout_.blocks;
    if (space_.outer_count == 0 || space_.inner_count == 0) return;
    std::int64_t size = 1;
    std::size_t k = blocks.last;
    while (k > blocks.first && size * space_.extents[k - 1] <= kMost) size *= space_.extents[--k];
    blocks.steps_inside = space_.extents[k];
    if (k > blocks.first && size < kEnough) {  // more would join what may lie apart
      std::int64_t divisor = kMost / size;
      while (space_.extents[k - 1] % divisor != 0) --divisor;
      if (divisor > 1) {
        size *= divisor;
        blocks.steps_inside = divisor;
        --k;
      }
    }
    if (size < kLeast &&
        size < std::accumulate(space_.extents.begin() + static_cast<std::ptrdiff_t>(blocks.first),
                               space_.extents.begin() + static_cast<std::ptrdiff_t>(blocks.last),
                               std::int64_t{1}, std::multiplies<>()))
      return;
    blocks.alike = true;
    blocks.block = size;
    blocks.inside = k;
  }

  /// A map that jumps along rows but walks from row to row (a transposed operand) touches a cache line per
  /// element. Short blocks of some rows, one below the other, are turned together.
  void choose_row_groups() {
    BlockSpace& blocks = layout_.blocks;
    if (blocks.last - blocks.first < 2 || kernel_.inner_rank != 0 || space_.outer_count == 0) return;
    for (const Expr& e : kernel_.exprs) {
      if (e.kind != ExprKind::Load || e.predicate != ir::kNone ||
          !turns(blocks, space_.maps[e.map], size_of(e.dtype)))
        continue;
      std::int64_t group = 16;
      while (space_.extents[blocks.last - 2] % group != 0) --group;
      if (group >= 4) blocks.group = group;
      return;
    }
  }

  bool walks_inner(std::uint16_t phase) const {
    for (const Expr& e : kernel_.exprs)
      if (e.kind == ExprKind::Reduce && e.phase == phase + 1) return true;
    for (const ir::Store& store : kernel_.stores)
      if (store.phase == phase && inner_store(store)) return true;
    return false;
  }

  const ir::Kernel& kernel_;
  const Space& space_;
  Layout layout_;
};

}  // namespace

Layout choose_layout(const ir::Kernel& kernel, const Space& space, bool keep_rows) {
  return LayoutChooser(kernel, space).choose(keep_rows);
}

std::uint32_t bits(std::size_t first, std::size_t last) {
  std::uint32_t mask = 0;
  for (std::size_t k = first; k < last; ++k) mask |= std::uint32_t{1} << k;
  return mask;
}

bool turns(const BlockSpace& blocks, const BoundMap& m, std::size_t size) {
  const std::size_t row = blocks.last - 1;
  return m.affine() && size >= 4 && m.strides[row - 1] == 1 && std::abs(m.strides[row]) >= 16;
}

}  // namespace sinter::runtime::host
