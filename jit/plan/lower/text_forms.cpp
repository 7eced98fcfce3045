// Chooses the forms of kernels.
#include "jit/plan/lower/text_forms.h"

#include <algorithm>

namespace sinter::plan {
namespace {

// Elements of a lane's vector; of kernels with 16-bit elements the latter.
constexpr std::int64_t kVector = 4, kWideVector = 8;

bool is_row_major(const IndexMap& map) {
  if (!map.is_affine()) return false;
  const MapStep& step = map.loops();
  std::int64_t stride = 1;
  for (std::size_t k = step.strides.size(); k-- > 0;) {
    if (step.strides[k] != stride) return false;
    stride *= step.extents[k];
  }
  return step.offset >= 0 && step.moving.empty();
}

enum class Window { No, Pieces, Overlapping };

/// Whether the inner loop goes along a dim that an outer loop goes along too, in steps: windows of one size
/// over the dim, or the dim cut into pieces of that size. Such a size belongs to the program like a rank;
/// others, such as a batch's, shall change without another text.
Window window_of(const Draft& draft, const ir::Kernel& kernel, std::size_t loop) {
  Window found = Window::No;
  for (const ir::Expr& expr : kernel.exprs) {
    if (expr.kind != ir::ExprKind::Load) continue;
    const MapStep& step = draft.maps[expr.map].loops();
    const std::int64_t own = step.strides[loop], whole = own * draft.extents[loop];
    for (std::size_t k = 0; k < draft.outer_rank && own > 0; ++k) {
      const std::int64_t outer = step.strides[k];
      if (outer <= 0 || outer % own != 0 || outer > whole) continue;
      if (outer < whole) return Window::Overlapping;
      found = Window::Pieces;
    }
  }
  return found;
}

// Inner points of a lane that are written out; times the expressions of a point, lines of text.
constexpr std::int64_t kMostWindow = 32, kMostOverlapping = 64, kMostWindowExpressions = 512;
// A single loop over pieces may be any short row.
constexpr std::int64_t kMostRow = 4;

}  // namespace

bool has_small_windows(const Draft& draft, const ir::Kernel& kernel) {
  std::int64_t points = 1;
  bool overlap = false;
  for (std::size_t k = draft.outer_rank; k < draft.extents.size(); ++k) {
    const Window window = window_of(draft, kernel, k);
    if (window == Window::No) return false;
    overlap |= window == Window::Overlapping;
    points *= draft.extents[k];
  }
  const auto inner = std::count_if(kernel.exprs.begin(), kernel.exprs.end(),
                                   [](const ir::Expr& expr) { return expr.level == ir::Level::Inner; });
  const std::int64_t most = overlap ? kMostOverlapping : kernel.inner_rank > 1 ? kMostWindow : kMostRow;
  return points >= 1 && points <= most && points * inner <= kMostWindowExpressions;
}

void choose_inner_sizes(const Draft& draft, ir::Kernel& kernel) {
  if (kernel.schedule != ir::Schedule::LanesOuter || kernel.split || !has_small_windows(draft, kernel))
    return;
  for (std::size_t k = draft.outer_rank; k < draft.extents.size(); ++k)
    kernel.inner_sizes.push_back(static_cast<std::uint16_t>(draft.extents[k]));
}

void choose_flat_maps(const Draft& draft, ir::Kernel& kernel) {
  if (kernel.inner_rank > 0 || kernel.outer_rank < 2 || kernel.tile != ir::Kernel::kNoTile) return;
  const bool halves = std::any_of(draft.buffer_dtypes.begin(), draft.buffer_dtypes.end(),
                                  [](DType dtype) { return size_of(dtype) == 2; });
  if (draft.extents.back() % (halves ? kWideVector : kVector) == 0) return;
  std::vector<bool> flat;
  for (const IndexMap& map : draft.maps) flat.push_back(is_row_major(map));
  const std::vector<std::uint32_t> depends = ir::dependence_of_maps(kernel);
  std::size_t in_vectors = 0, element_by_element = 0;  // bytes for each point
  for (const DraftStore& store : draft.stores) {
    if (!flat[store.map]) return;
    in_vectors += size_of(draft.buffer_dtypes[store.buffer]);
  }
  bool any_load = false, any_vector = false;
  for (const ir::Expr& expr : kernel.exprs) {
    // What an index reaches lies anywhere, often in rows.
    if (expr.kind == ir::ExprKind::LoadAt) return;
    if (expr.kind != ir::ExprKind::Load) continue;
    any_load = true;
    const std::size_t bytes = size_of(expr.dtype);
    if (flat[expr.map] && expr.predicate == ir::kNone) {
      in_vectors += bytes;
      any_vector = true;
    } else if (depends[expr.map] + 1 == 1u << draft.outer_rank) {  // each point has an element of its own
      element_by_element += bytes;
    }
  }
  // Neighbouring lanes would no longer read neighbouring elements of the latter.
  if ((any_load && !any_vector) || 2 * element_by_element > in_vectors) return;
  for (std::size_t map = 0; map < flat.size(); ++map)
    if (flat[map]) kernel.flat_maps.push_back(static_cast<std::uint16_t>(map));
}

void add_reciprocals(ir::Kernel& kernel, std::vector<std::int64_t>& ints) {
  for (const std::uint16_t divisor : ir::divisors(kernel)) {
    if (ints[divisor] < 2) continue;
    const ir::Factor factor = ir::reciprocal_of(ints[divisor]);
    const auto multiplier = static_cast<std::uint16_t>(ints.size());
    ints.push_back(factor.multiplier);
    ints.push_back(factor.shift);
    kernel.reciprocals.push_back({divisor, multiplier, static_cast<std::uint16_t>(multiplier + 1)});
  }
}

}  // namespace sinter::plan
