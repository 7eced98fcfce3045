// Chooses the vector direction, the blocks and the row groups by sizes and strides.
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

// Rows up to this long become one block when several phases read them, so that values are computed once.
constexpr std::int64_t kLongestResidentRow = 8192;
// Rows at least this long have blocks of their own; a block packs several shorter ones.
constexpr std::int64_t kShortestRow = 192;

bool inner_store(const ir::Store& store) { return store.level == ir::Level::Inner; }

class BlockingChooser {
 public:
  BlockingChooser(const ir::Kernel& kernel, const Space& space) : kernel_(kernel), space_(space) {}

  Blocking choose(bool resident_rows) {
    choose_direction();
    choose_blocks(resident_rows);
    return blocking_;
  }

 private:
  /// Lanes along the inner or the outer dims: as the kernel's schedule says, unless only the other direction
  /// fills vectors with these sizes and strides.
  void choose_direction() {
    if (kernel_.inner_rank == 0) return;
    std::int64_t along_outer = 0, along_inner = 0;  // loads of consecutive elements
    for (ExprId id = 0; id < kernel_.exprs.size(); ++id) {
      const Expr& e = kernel_.exprs[id];
      if (e.kind != ExprKind::Load || !space_.maps[e.map].affine()) continue;
      if (space_.outer > 0 && space_.maps[e.map].strides[space_.outer - 1] == 1) ++along_outer;
      if (space_.rank() > space_.outer && space_.maps[e.map].strides[space_.rank() - 1] == 1) ++along_inner;
    }
    blocking_.lanes_inner = kernel_.schedule == ir::Schedule::LanesInner;
    if (blocking_.lanes_inner) {
      const bool short_rows = space_.inner_count <= 32 && space_.outer_count >= 32;
      if (short_rows || (along_outer > along_inner && space_.outer_count >= 256))
        blocking_.lanes_inner = false;
    } else {
      const bool few_rows = space_.outer_count < 16 && space_.inner_count >= 64;
      if (few_rows || (along_inner > along_outer && space_.inner_count >= 64)) blocking_.lanes_inner = true;
    }
  }

  void choose_blocks(bool resident_rows) {
    BlockSpace& blocks = blocking_.blocks;
    blocks.first = blocking_.lanes_inner ? space_.outer : 0;
    blocks.last = blocking_.lanes_inner ? space_.rank() : space_.outer;
    const std::int64_t points = blocking_.lanes_inner ? space_.inner_count : space_.outer_count;
    const std::int64_t last = blocks.first == blocks.last ? 1 : space_.extents[blocks.last - 1];
    blocks.by_row = blocks.last - blocks.first <= 1 || last >= kShortestRow;
    std::uint16_t walks = 0;
    for (std::uint16_t phase = 0; phase < kernel_.phases; ++phase) walks += walks_inner(phase) ? 1 : 0;
    blocking_.resident = resident_rows && blocking_.lanes_inner && walks > 1 && points <= kLongestResidentRow;
    blocks.inside = blocks.first;
    if (blocking_.resident)
      blocks.by_row = blocks.last - blocks.first <= 1;
    else if (!blocks.by_row)
      choose_uniform_blocks();
    else if (!blocking_.lanes_inner)
      choose_row_groups();
    blocks.row = blocks.by_row ? last : points;
    if (blocks.by_row && blocks.last > blocks.first) blocks.inside = blocks.last - 1;
    blocking_.row_dims = blocks.by_row
                             ? (blocks.first == blocks.last ? 0 : bits(blocks.last - 1, blocks.last))
                             : bits(blocks.first, blocks.last);
  }

  /// Short rows: blocks of whole last dims and a divisor of the dim before them are uniform: the offsets of
  /// their elements from the first one are the same for every block and computed once.
  void choose_uniform_blocks() {
    constexpr std::int64_t kLeast = 128, kEnough = 384, kMost = 1536;
    BlockSpace& blocks = blocking_.blocks;
    if (space_.outer_count == 0 || space_.inner_count == 0) return;
    std::int64_t size = 1;
    std::size_t k = blocks.last;
    while (k > blocks.first && size * space_.extents[k - 1] <= kMost) size *= space_.extents[--k];
    blocks.steps_inside = space_.extents[k];
    if (k > blocks.first && size < kEnough) {  // a longer block could span elements that are far apart
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
    blocks.uniform = true;
    blocks.block = size;
    blocks.inside = k;
  }

  /// A transposed operand (far apart along rows, adjacent across rows) touches a cache line per element.
  /// Short blocks of several rows, one below the other, are transposed together.
  void choose_row_groups() {
    BlockSpace& blocks = blocking_.blocks;
    if (blocks.last - blocks.first < 2 || kernel_.inner_rank != 0 || space_.outer_count == 0) return;
    for (const Expr& e : kernel_.exprs) {
      if (e.kind != ExprKind::Load || e.predicate != ir::kNone ||
          !needs_transpose(blocks, space_.maps[e.map], size_of(e.dtype)))
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
  Blocking blocking_;
};

}  // namespace

Blocking choose_blocking(const ir::Kernel& kernel, const Space& space, bool resident_rows) {
  return BlockingChooser(kernel, space).choose(resident_rows);
}

std::uint32_t bits(std::size_t first, std::size_t last) {
  std::uint32_t mask = 0;
  for (std::size_t k = first; k < last; ++k) mask |= std::uint32_t{1} << k;
  return mask;
}

bool needs_transpose(const BlockSpace& blocks, const BoundMap& m, std::size_t size) {
  const std::size_t row = blocks.last - 1;
  return m.affine() && size >= 4 && m.strides[row - 1] == 1 && std::abs(m.strides[row]) >= 16;
}

}  // namespace sinter::runtime::host
