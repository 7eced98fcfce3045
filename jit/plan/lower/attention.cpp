// Chooses the tiles of attention.
#include "jit/plan/lower/attention.h"

#include <algorithm>
#include <optional>
#include <span>

#include "jit/ir/scores/column_values.h"
#include "jit/ir/scores/score_tile.h"

namespace sinter::plan {
namespace {

// Of a warpgroup, and those that multiply.
constexpr std::int64_t kRows = 64;
constexpr std::int64_t kMostWarpgroups = 2;
// Of a subgroup that multiplies by itself, and of all that do in a workgroup.
constexpr std::int64_t kSubgroupRows = 16, kMostRows = 128;
// Of tiles of 16-bit floats, and what lanes of two workgroups may hold; of f32 those of one.
constexpr std::int64_t kMostColumns = 64, kHalfOfRegisters = 112, kAllRegisters = 176;
// Of f32, whose neighbours are of columns, in a line of shared memory.
constexpr std::int64_t kFewestAcross = 32;
// Bytes that the driver takes of each workgroup's shared memory.
constexpr std::int64_t kReserved = 1024;
// That a lane may hold of sums, scores and weights, beside what it finds them by: more would be spilled while
// tensor cores are writing others.
constexpr std::int64_t kRegisters = 168;
// Bytes of a row that the copy engine brings at once.
constexpr std::int64_t kLine = 128;
constexpr std::int64_t kBarriers = 2048, kSlotAlignment = 1024;
// Dims of a tensor map beside the vector and its own loop, and where columns are put in order on the way.
constexpr std::size_t kMostBatchDims = 3, kMostOrderedBatchDims = 2;
// The copy engine counts by so many bytes; an instruction combines multiples of so many elements.
constexpr std::int64_t kAlignment = 16, kStep = 8;
// Of the longest vectors that one instruction combines, and that a Dot has registers' worth of time for.
constexpr std::int64_t kLongestBytes = 512;
// Of ordinary lanes: words for scores and sums, with which two of the largest workgroups have registers.
constexpr int kHalfOfWords = 80;

class Chooser {
 public:
  Chooser(const Draft& draft, const LowerLimits& limits, const ir::Kernel& kernel)
      : draft_(draft), limits_(limits), kernel_(kernel), loops_(ir::dependence(kernel)) {}

  /// Null where there is a way; else why there is none.
  const char* choose(ir::LoneRows& lone_rows) {
    if (!limits_.lone_rows) return "rows that no lanes go over by themselves";
    if (const char* why = loops()) return why;
    if (const char* why = reductions()) return why;
    std::int64_t longest = kAlignment;
    for (ir::ExprId id = 0; id < kernel_.exprs.size(); ++id) {
      const ir::Expr& expr = kernel_.exprs[id];
      if (expr.kind != ir::ExprKind::Row) continue;
      const auto bytes = static_cast<std::int64_t>(size_of(expr.dtype));
      if (lies_across(id) || !is_aligned(draft_.maps[expr.map], kAlignment / bytes) ||
          extent(id) * bytes % kAlignment != 0 || extent(id) * bytes > kLongestBytes)
        return "rows that lanes do not read in vectors";
      longest = std::max(longest, extent(id) * bytes);
    }
    lone_rows.lanes = 1;
    while (lone_rows.lanes * kAlignment < longest) lone_rows.lanes *= 2;
    return nullptr;
  }
  const char* choose_lanes(ir::Attention& attention) {
    if (const char* why = loops()) return why;
    if (const char* why = reductions()) return why;
    if (const char* why = dots()) return why;
    for (ir::ExprId id = 0; id < kernel_.exprs.size(); ++id) {
      if (kernel_.exprs[id].kind != ir::ExprKind::Row) continue;
      const std::int64_t vector = kAlignment / static_cast<std::int64_t>(size_of(kernel_.exprs[id].dtype));
      if (lies_across(id) || !is_aligned(draft_.maps[kernel_.exprs[id].map], vector) ||
          extent(id) % vector != 0)
        return "rows that lanes do not read in vectors";
    }
    return matrix_tiles(attention) ? nullptr : lane_tiles(attention);
  }
  const char* choose_stripes(ir::Attention& attention) const {
    if (const char* why = loops()) return why;
    if (const char* why = dots()) return why;
    for (const ir::Expr& expr : kernel_.exprs)
      if (expr.kind == ir::ExprKind::Row && !draft_.maps[expr.map].is_affine())
        return "rows that do not lie in straight lines";
    for (const ir::Store& store : kernel_.stores)
      if (store.level == ir::Level::Inner) return "scores that are stored";
    attention = {1, 1, 1, 1, ir::Attention::By::Stripes, 1};
    return nullptr;
  }
  const char* choose(ir::Attention& attention) {
    if (!limits_.tensor_cores.keeps_scores()) return "no tensor cores of which it is known who has a score";
    if (const char* why = loops()) return why;
    if (const char* why = reductions()) return why;
    if (const char* why = rows()) return why;
    return tiles(attention);
  }

 private:
  std::uint32_t row_loop() const { return 1u << (kernel_.outer_rank - 1u); }
  std::uint32_t column_loop() const { return 1u << kernel_.outer_rank; }
  std::int64_t extent(ir::ExprId row) const { return draft_.indexed.at(row).extent; }

  const char* loops() const {
    if (kernel_.inner_rank != 1 || kernel_.outer_rank < 1 || kernel_.faults > 0)
      return "scores that are not along one loop";
    for (const std::int64_t extent : draft_.extents)
      if (extent <= 0 || extent > INT32_MAX - 65536) return "more scores than are counted";
    return nullptr;
  }

  /// True iff the map divides nothing, and gives multiples of so many elements.
  static bool is_aligned(const IndexMap& map, std::int64_t elements) {
    if (!map.is_affine()) return false;
    const MapStep& step = map.loops();
    bool aligned = step.offset % elements == 0;
    for (const Moving& part : step.moving) aligned &= part.factor % elements == 0;
    for (const std::int64_t stride : step.strides) aligned &= stride % elements == 0;
    return aligned;
  }

  const char* reductions() {
    for (const ir::Expr& expr : kernel_.exprs) {
      if (expr.kind == ir::ExprKind::Reduce &&
          (expr.dtype != DType::f32 || (expr.op != Op::Sum && expr.op != Op::Max)))
        return "another reduction than of sums and maxima";
      scores_ += expr.kind == ir::ExprKind::Dot ? 1 : 0;
      if (expr.kind != ir::ExprKind::Combine) continue;
      const bool is_half_row = is_half(kernel_.exprs[expr.args[1]].dtype);
      sums_ += extent(expr.args[1]) / 2;
      weights_ += is_half_row ? 1 : 2;
      is_ordered_ |= !is_half_row;
    }
    for (const ir::Store& store : kernel_.stores)
      if (store.level == ir::Level::Inner) return "scores that are stored";
    if (kernel_.phases > 3 || (kernel_.phases == 3 && !is_softmax())) return "several rounds over the scores";
    return nullptr;
  }

  /// True iff what is summed in the second round is in proportion to exp(-m), with m the only maximum of the
  /// first, or the greater one of it and a number: exp(x - m), where x is what m is the greatest of, times
  /// what does not depend on m.
  bool is_softmax() const {
    ir::ExprId greatest = ir::kNone;
    for (ir::ExprId id = 0; id < kernel_.exprs.size(); ++id) {
      const ir::Expr& expr = kernel_.exprs[id];
      if (!ir::is_reduced(expr) || summed_phase(expr) != 0) continue;
      if (greatest != ir::kNone || expr.kind != ir::ExprKind::Reduce || expr.op != Op::Max) return false;
      greatest = id;
    }
    if (greatest == ir::kNone) return false;
    for (const ir::Expr& expr : kernel_.exprs)
      if (ir::is_reduced(expr) && summed_phase(expr) == 1 &&
          (expr.op == Op::Max || !is_in_proportion(expr.args[0], greatest)))
        return false;
    return true;
  }

  std::uint16_t summed_phase(const ir::Expr& expr) const { return kernel_.exprs[expr.args[0]].phase; }

  bool is_in_proportion(ir::ExprId id, ir::ExprId greatest) const {
    const ir::Expr& expr = kernel_.exprs[id];
    const auto rest = [&](ir::ExprId other) { return kernel_.exprs[other].phase == 0; };
    if (expr.kind != ir::ExprKind::Elementwise) return false;
    switch (expr.op) {
      case Op::Exp: {
        const ir::Expr& shifted = kernel_.exprs[expr.args[0]];
        return shifted.kind == ir::ExprKind::Elementwise && shifted.op == Op::Sub &&
               shifted.args[0] == kernel_.exprs[greatest].args[0] && is_greatest(shifted.args[1], greatest);
      }
      case Op::Cast: return is_in_proportion(expr.args[0], greatest);
      case Op::Mul:
        return (rest(expr.args[1]) && is_in_proportion(expr.args[0], greatest)) ||
               (rest(expr.args[0]) && is_in_proportion(expr.args[1], greatest));
      default: return false;
    }
  }

  bool is_greatest(ir::ExprId id, ir::ExprId greatest) const {
    const ir::Expr& expr = kernel_.exprs[id];
    if (id == greatest || expr.kind != ir::ExprKind::Elementwise || expr.op != Op::Maximum)
      return id == greatest;
    const ir::ExprId other = expr.args[expr.args[0] == greatest ? 1 : 0];
    return (expr.args[0] == greatest || expr.args[1] == greatest) && kernel_.exprs[other].phase == 0;
  }

  /// What each product and each combination are of.
  const char* dots() const {
    for (const ir::Expr& expr : kernel_.exprs) {
      if (expr.kind == ir::ExprKind::Dot) {
        const std::uint32_t a = own_loops(expr.args[0]), b = own_loops(expr.args[1]);
        if (a + b != row_loop() + column_loop() || a == 0 || b == 0)
          return "a product of other rows and columns";
      }
      if (expr.kind == ir::ExprKind::Combine && own_loops(expr.args[1]) != column_loop())
        return "a combination of what depends on the row";
    }
    return nullptr;
  }

  const char* rows() {
    if (const char* why = dots()) return why;
    for (ir::ExprId id = 0; id < kernel_.exprs.size(); ++id) {
      const ir::Expr& expr = kernel_.exprs[id];
      if (expr.kind == ir::ExprKind::Dot && (lies_across(expr.args[0]) || lies_across(expr.args[1])))
        return "a product of rows whose elements are no neighbours";
      if (expr.kind == ir::ExprKind::Combine &&
          lies_across(expr.args[1]) == is_half(kernel_.exprs[expr.args[1]].dtype))
        return "a combination of rows that do not lie along its sum";
      if (expr.kind == ir::ExprKind::Row)
        if (const char* why = row(id, expr)) return why;
    }
    return nullptr;
  }

  bool lies_across(ir::ExprId row) const { return ir::lies_across(kernel_.exprs[row]); }
  std::uint32_t own_loops(ir::ExprId row) const { return loops_[row] & (row_loop() | column_loop()); }

  /// Adds what the row takes of shared memory.
  const char* row(ir::ExprId id, const ir::Expr& expr) {
    constexpr const char* kRefused = "rows that the copy engine does not bring";
    const Indexed& along = draft_.indexed.at(id);
    const IndexMap& map = draft_.maps[expr.map];
    const auto bytes = static_cast<std::int64_t>(size_of(expr.dtype));
    const std::int64_t whole = kAlignment / bytes;
    const bool is_column = own_loops(id) == column_loop(), across = lies_across(id);
    const std::int64_t columns = draft_.extents[kernel_.outer_rank];
    if (!map.is_affine() || along.extent * bytes > kLongestBytes) return kRefused;
    const MapStep& step = map.loops();
    bool aligned = step.offset % whole == 0;
    for (const Moving& part : step.moving) aligned &= part.factor % whole == 0;
    std::size_t batch = 0;
    for (std::size_t loop = 0; loop < step.strides.size(); ++loop) {
      const std::int64_t stride = step.strides[loop];
      if (across && loop == kernel_.outer_rank)
        aligned &= stride == 1;
      else
        aligned &= stride % whole == 0 && stride >= 0;
      batch += loop + 1 < kernel_.outer_rank && stride != 0;
    }
    if (across)
      aligned &= is_column && along.stride % whole == 0 && along.extent % kStep == 0 && columns % whole == 0;
    else
      aligned &= along.extent % whole == 0;
    if (!aligned || batch > kMostBatchDims) return kRefused;
    if (is_ordered_ && is_column && !across && (batch > kMostOrderedBatchDims || columns % 4 != 0))
      return kRefused;
    (is_column ? column_bytes_ : row_bytes_) +=
        across ? along.extent * bytes : (along.extent * bytes + kLine - 1) / kLine * kLine;
    return nullptr;
  }

  const char* tiles(ir::Attention& attention) {
    value_bytes_ = 4 * static_cast<std::int64_t>(ir::column_values(kernel_, loops_).size());
    const std::int64_t all = draft_.extents[kernel_.outer_rank - 1u];
    if (limits_.tensor_cores.has_groups) {
      for (std::int64_t groups = std::min(kMostWarpgroups, (all + kRows - 1) / kRows); groups > 0; --groups)
        if (tiles_of(groups * kRows, attention)) return nullptr;
    } else {
      std::int64_t most = kSubgroupRows;
      while (most < std::min(all, kMostRows)) most *= 2;
      // Of fewer rows columns are copied more often; with one slot nothing is computed meanwhile.
      for (const std::int64_t slots : {2, 1})
        for (std::int64_t rows = most; rows >= kSubgroupRows; rows /= 2)
          if (subgroup_tiles_of(rows, slots, attention)) return nullptr;
    }
    return "more sums than registers hold";
  }

  struct TileSize {
    std::uint16_t rows, columns;
  };

  /// The first of these tiles that registers and shared memory have room for, with `lanes` a divisor of those
  /// of its workgroup; false: there is none.
  bool shared_tile(ir::Attention::By by, std::span<const TileSize> sizes, int lanes, ir::Attention& attention,
                   const ir::MatrixLayout& layout = {}, bool holds_rows = false) const {
    const std::int64_t all = draft_.extents[kernel_.outer_rank - 1u];
    ir::Kernel tiled = kernel_;
    for (const TileSize size : sizes) {
      if (size.rows > 16 && size.rows >= 2 * all) continue;  // most of it would be empty
      tiled.attention = {size.rows, size.columns, 1, 1, by, 1, layout};
      const ir::ScoreTile tile(tiled);
      if (tile.bytes() > limits_.score_tile_bytes || tile.words_of_lane() > ir::ScoreTile::kMostWords ||
          tile.lanes() % lanes != 0 || (holds_rows && !tile.holds_rows()))
        continue;
      attention = tiled.attention;
      if (by == ir::Attention::By::Lanes && tile.words_of_lane() <= kHalfOfWords &&
          2 * tile.bytes() <= limits_.score_tile_bytes)
        attention.workgroups = 2;
      return true;
    }
    return false;
  }

  /// False: no cooperative matrices multiply all products, or there is no room for a tile.
  bool matrix_tiles(ir::Attention& attention) const {
    std::optional<DType> multiplied;
    for (const ir::Expr& expr : kernel_.exprs) {
      if (expr.kind != ir::ExprKind::Row) continue;
      if (!is_half(expr.dtype) || multiplied.value_or(expr.dtype) != expr.dtype) return false;
      multiplied = expr.dtype;
    }
    if (!multiplied || !limits_.tensor_cores.has_score_matrices(*multiplied)) return false;
    const ir::TensorCores& cores = limits_.tensor_cores;
    constexpr auto kBy = ir::Attention::By::Matrices;
    if (cores.layout.is_known()) {
      // More columns at a time, where the rows' vectors still stay in registers
      // (docs/benchmarks/attention.md).
      constexpr TileSize kLaid[] = {{64, 64}, {64, 32}, {64, 16}, {32, 32}, {16, 16}};
      for (const bool holds_rows : {true, false})
        if (shared_tile(kBy, kLaid, cores.subgroup_lanes, attention, cores.layout, holds_rows)) return true;
      return false;
    }
    constexpr TileSize kSizes[] = {{64, 64}, {64, 32}, {32, 32}, {32, 16}, {16, 16}};
    return shared_tile(kBy, kSizes, cores.subgroup_lanes, attention);
  }

  /// More rows before more columns, as all columns are brought for each tile of rows. Twice as many rows as
  /// 64 bring nothing: fewer workgroups are under way then (docs/benchmarks/attention.md).
  const char* lane_tiles(ir::Attention& attention) const {
    constexpr TileSize kSizes[] = {{64, 64}, {64, 32}, {64, 16}, {48, 16},
                                   {32, 32}, {32, 16}, {16, 32}, {16, 16}};
    if (shared_tile(ir::Attention::By::Lanes, kSizes, 1, attention)) return nullptr;
    return "more sums than registers hold, or vectors than shared memory";
  }

  /// In 4 bytes each: what a lane holds of sums, scores and weights.
  std::int64_t registers(std::int64_t columns) const {
    return sums_ + scores_ * columns / 2 + weights_ * columns / 4;
  }
  /// Of a slot, which begins at a multiple of kSlotAlignment.
  std::int64_t slot_bytes(std::int64_t columns) const {
    return columns * column_bytes_ +
           (columns * value_bytes_ + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  }

  /// False: there is no room for so many rows, and slots of columns.
  bool subgroup_tiles_of(std::int64_t rows, std::int64_t slots, ir::Attention& attention) const {
    const auto shared = static_cast<std::int64_t>(limits_.tensor_cores.shared_bytes);
    for (const std::int64_t columns : {128, 64, 32, 16}) {
      if (columns > kMostColumns && !is_ordered_) continue;
      if (columns < kFewestAcross && is_ordered_) continue;
      const std::int64_t bytes = rows * row_bytes_ + slots * slot_bytes(columns);
      if (registers(columns) > (is_ordered_ ? kAllRegisters : kRegisters - columns / 4) || bytes > shared)
        continue;
      // While one waits at a barrier another one multiplies. Of f32 wider tiles bring more, whose registers
      // leave room for one alone.
      const bool has_two = !is_ordered_ && registers(columns) <= kHalfOfRegisters &&
                           2 * (bytes + kReserved) <= shared + kReserved;
      attention = {static_cast<std::uint16_t>(rows), static_cast<std::uint16_t>(columns),
                   static_cast<std::uint8_t>(slots), 1,
                   ir::Attention::By::Subgroups,     static_cast<std::uint8_t>(has_two ? 2 : 1)};
      return true;
    }
    return false;
  }

  /// False: there is no room for so many rows.
  bool tiles_of(std::int64_t rows, ir::Attention& attention) const {
    const auto shared = static_cast<std::int64_t>(limits_.tensor_cores.shared_bytes);
    for (const std::int64_t columns : {128, 64, 32}) {
      // Wider tiles have more numbers on the way.
      if (registers(columns) > kRegisters - columns / 8) continue;
      // With two, the next rows come in while the last scores of these are computed; more columns under way
      // are worth more than that.
      for (const std::int64_t row_slots : {2, 1}) {
        const std::int64_t room = shared - kBarriers - row_slots * rows * row_bytes_;
        const std::int64_t slots = room / slot_bytes(columns);
        if (slots < 1 + row_slots) continue;
        attention = {static_cast<std::uint16_t>(rows), static_cast<std::uint16_t>(columns),
                     static_cast<std::uint8_t>(std::min<std::int64_t>(slots, 4)),
                     static_cast<std::uint8_t>(row_slots)};
        return true;
      }
    }
    return false;
  }

  const Draft& draft_;
  const LowerLimits& limits_;
  const ir::Kernel& kernel_;
  const std::vector<std::uint32_t> loops_;
  std::int64_t sums_ = 0;                          // registers
  std::int64_t scores_ = 0, weights_ = 0;          // products; weights, in units of 16 bits
  bool is_ordered_ = false;                        // columns come in the order that weights of f32 need
  std::int64_t row_bytes_ = 0, column_bytes_ = 0;  // of a row, a column
  std::int64_t value_bytes_ = 0;                   // of the numbers that a column has
};

}  // namespace

void go_over_scores(Draft& draft, const Node& node) {
  const auto form = static_cast<ScoreForm>(node.ints[0]);
  if (draft.scores != ScoreForm::None && draft.scores != form) throw Cut{"scores of another form"};
  draft.scores = form;
}

bool choose_attention(const Draft& draft, const LowerLimits& limits, ir::Kernel& kernel) {
  bool has_dots = false, combines = false;
  for (const ir::Expr& expr : kernel.exprs) {
    has_dots |= expr.kind == ir::ExprKind::Dot;
    combines |= expr.kind == ir::ExprKind::Combine;
  }
  if (!combines && (!has_dots || kernel.inner_rank == 0)) {
    if (has_dots && draft.scores == ScoreForm::Stripes) throw Cut{"scores of no rows"};
    return has_dots;
  }
  Chooser chooser(draft, limits, kernel);
  const bool by_stripes = draft.scores == ScoreForm::Stripes;
  const char* why = by_stripes                             ? chooser.choose_stripes(kernel.attention)
                    : draft.scores == ScoreForm::LoneRows  ? chooser.choose(kernel.lone_rows)
                    : draft.scores == ScoreForm::LaneTiles ? chooser.choose_lanes(kernel.attention)
                                                           : chooser.choose(kernel.attention);
  if (why && (combines || by_stripes)) throw Cut{why};
  return true;
}

}  // namespace sinter::plan
