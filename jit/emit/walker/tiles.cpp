// The loop over tiles.
#include "jit/emit/walker/tiles.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sinter::emit {

namespace {

using ir::ExprId;

// Smaller tiles than the language's where many operands share the workgroup's memory.
constexpr int kLeastEdge = 32;

/// The distance between a tile's lines in elements: such that neighbouring lanes, each in the next line, meet
/// different banks of four bytes.
int pitch_of(int edge, std::size_t element_bytes) {
  return edge + static_cast<int>(element_bytes < 4 ? 4 / element_bytes : 1);
}

// More points than this at once would be a long text.
constexpr std::size_t kMostUnrolledExpressions = 16;
// Elements that a lane has under way before it uses the first: each takes a register.
constexpr std::size_t kMostUnderWay = 64;

class Tiles {
 public:
  Tiles(Expressions& e, const InnerWork& work, const std::vector<bool>& live, int edge)
      : e_(e),
        k_(e.kernel),
        d_(e.dialect),
        work_(work),
        edge_(edge),
        rows_(e.target.workgroup_size / edge),
        across_(k_.tile),
        last_(k_.outer_rank - 1u) {
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (live[id] && ir::lies_along_tile(k_, k_.exprs[id])) staged_.push_back(id);
  }

  void write() {
    declare_arrays();
    const std::string lane = d_.cast(Type::U32, d_.lane);
    e_.out.line(d_.constant(Type::U32, "column", lane + " % " + u32(edge_)));
    e_.out.line(d_.constant(Type::U32, "row", lane + " / " + u32(edge_)));
    line("tiles_across", tiles_along(across_));
    line("tiles_last", tiles_along(last_));
    std::string count = "tiles_across * tiles_last";
    for (std::size_t c = 0; c < last_; ++c)
      if (c != across_) count += " * " + extent(c);
    line("tiles", count);
    e_.open(
        d_.loop(e_.flat_type, "f", e_.flat(d_.grid(k_).workgroup), "tiles", e_.flat(d_.grid(k_).workgroups)));
    find_tile();
    const bool unrolled = work_.values.size() <= kMostUnrolledExpressions;
    const std::vector<ExprId> first = unrolled ? loads_of_lines() : std::vector<ExprId>{};
    load("line", "column", first);
    load("column", "line", staged_);
    put();
    e_.out.line(d_.barrier);
    write_lines("line", "column", unrolled, [&] { compute(first); });
    e_.out.line(d_.barrier);
    e_.close();
  }

 private:
  std::string u32(int number) const { return d_.literal(Type::U32, number); }
  std::string flat(int number) const { return e_.flat(std::to_string(number)); }
  std::string extent(std::size_t c) const { return e_.flat(e_.integer(k_.extents[c])); }
  void line(const std::string& name, const std::string& text) {
    e_.out.line(d_.constant(e_.flat_type, name, text));
  }
  std::string tiles_along(std::size_t c) const {
    return "(" + extent(c) + " + " + flat(edge_ - 1) + ") / " + flat(edge_);
  }
  int pitch(ExprId id) const {
    return pitch_of(edge_, d_.shared_bytes(k_.buffers[k_.exprs[id].buffer].dtype));
  }
  static std::string name(ExprId id) { return "tile" + std::to_string(id); }
  static std::string held(ExprId id) { return "l" + std::to_string(id); }
  int lines() const { return edge_ / rows_; }

  void declare_arrays() {
    for (ExprId id : staged_)
      e_.use.shared.push_back({name(id), k_.buffers[k_.exprs[id].buffer].dtype, edge_ * pitch(id)});
  }

  /// The first coordinates of tile `f`, and its coordinates along the other loops. Neighbouring tiles follow
  /// each other along the last loop.
  void find_tile() {
    e_.out.line(d_.variable(e_.flat_type, "rest", "f"));
    line("first_last", "rest % tiles_last * " + flat(edge_));
    e_.out.line("rest /= tiles_last;");
    line("first_across", "rest % tiles_across * " + flat(edge_));
    e_.out.line("rest /= tiles_across;");
    for (std::size_t c = last_; c-- > 0;) {
      if (c == across_) continue;
      e_.out.line(d_.constant(e_.index_type, e_.coordinates[c], e_.index("rest % " + extent(c))));
      e_.out.line("rest /= " + extent(c) + ";");
    }
  }

  void define_line() {
    e_.out.line(d_.constant(Type::U32, "line", "row + " + d_.cast(Type::U32, "i") + " * " + u32(rows_)));
  }
  void define_coordinates(const std::string& across, const std::string& last) {
    e_.out.line(d_.constant(e_.index_type, e_.coordinates[across_], e_.index(across)));
    e_.out.line(d_.constant(e_.index_type, e_.coordinates[last_], e_.index(last)));
  }

  /// This lane's points of the tile, one in each of its lines: `across` and `last` say how far they are from
  /// its first one.
  template <class Body>
  void write_lines(const std::string& across, const std::string& last, bool unrolled, Body body) {
    if (unrolled)
      e_.open_unrolled("i", lines());
    else
      e_.open(d_.rounds("i", lines()));
    define_line();
    line("at_across", "first_across + " + e_.flat(across));
    line("at_last", "first_last + " + e_.flat(last));
    e_.open(d_.when("at_across < " + extent(across_) + " && at_last < " + extent(last_)));
    define_coordinates("at_across", "at_last");
    body();
    e_.close();
    e_.close();
  }

  /// What a lane reads where it computes, as far as it has registers for it.
  std::vector<ExprId> loads_of_lines() const {
    std::vector<ExprId> first;
    const auto fits = [&] {
      return (staged_.size() + first.size() + 1) * static_cast<std::size_t>(lines()) <= kMostUnderWay;
    };
    for (ExprId id : work_.values)
      if (k_.exprs[id].kind == ir::ExprKind::Load && k_.exprs[id].predicate == ir::kNone && fits() &&
          std::find(staged_.begin(), staged_.end(), id) == staged_.end())
        first.push_back(id);
    return first;
  }

  /// Brings this lane's elements into registers, all of them under way at once: a branch around each would
  /// have one wait for the other, so that beyond the last point the last one is read again.
  void load(const std::string& across, const std::string& last, const std::vector<ExprId>& ids) {
    if (ids.empty()) return;
    for (ExprId id : ids) e_.out.line(d_.array(type_of(k_.exprs[id].dtype), held(id), lines()));
    const auto within = [&](const std::string& name, const std::string& at, std::size_t c) {
      line(name, at);
      return "min(" + name + ", " + extent(c) + " - " + flat(1) + ")";
    };
    e_.open_unrolled("i", lines());
    define_line();
    const std::string at_across = within("at_across", "first_across + " + e_.flat(across), across_);
    const std::string at_last = within("at_last", "first_last + " + e_.flat(last), last_);
    define_coordinates(at_across, at_last);
    for (ExprId id : ids) {
      const std::string at = e_.position(k_.exprs[id].map);
      e_.out.line(held(id) + "[i] = " + d_.read(k_, k_.exprs[id].buffer, at) + ";");
    }
    e_.close();
  }

  void put() {
    e_.open_unrolled("i", lines());
    define_line();
    for (ExprId id : staged_)
      e_.out.line(name(id) + "[line * " + u32(pitch(id)) + " + column] = " + held(id) + "[i];");
    e_.close();
  }

  void compute(const std::vector<ExprId>& first) {
    for (ExprId id : first) e_.loaded[id] = held(id) + "[i]";
    for (ExprId id : staged_)
      e_.loaded[id] = d_.from_shared(k_.buffers[k_.exprs[id].buffer].dtype,
                                     name(id) + "[column * " + u32(pitch(id)) + " + line]");
    for (ExprId id : work_.values) e_.define(id);
    for (const ir::Store* store : work_.stores) e_.store(*store);
    e_.loaded.clear();
  }

  Expressions& e_;
  const ir::Kernel& k_;
  const Dialect& d_;
  const InnerWork& work_;
  const int edge_, rows_;  // of a tile; of lanes that it takes at once
  const std::size_t across_, last_;
  std::vector<ExprId> staged_;
};

}  // namespace

int tile_edge(const ir::Kernel& kernel, const Target& target) {
  if (kernel.tile == ir::Kernel::kNoTile || !target.has_workgroups) return 0;
  for (int edge = target.dialect->tile_edge; edge >= kLeastEdge; edge /= 2) {
    if (target.workgroup_size % edge != 0) continue;
    std::size_t bytes = 0;
    for (const ir::Expr& expr : kernel.exprs) {
      if (!ir::lies_along_tile(kernel, expr)) continue;
      const std::size_t each = target.dialect->shared_bytes(kernel.buffers[expr.buffer].dtype);
      bytes += each * static_cast<std::size_t>(edge * pitch_of(edge, each));
    }
    if (bytes <= target.tile_bytes) return edge;
  }
  return 0;
}

std::int64_t tile_count(const ir::Kernel& kernel, int edge, std::span<const std::int64_t> ints) {
  std::int64_t tiles = 1;
  for (std::size_t c = 0; c < kernel.outer_rank; ++c) {
    const std::int64_t extent = ints[kernel.extents[c].index];
    tiles *= c == kernel.tile || c + 1 == kernel.outer_rank ? (extent + edge - 1) / edge : extent;
  }
  return tiles;
}

void write_tiles(Expressions& e, const InnerWork& work, const std::vector<bool>& live, int edge) {
  Tiles(e, work, live, edge).write();
}

}  // namespace sinter::emit
