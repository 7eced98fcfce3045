// Writes what differs from product to product of few rows.
#include "jit/emit/contraction/few_rows.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/emit/contraction/loops.h"
#include "jit/emit/contraction/piece_loads.h"
#include "jit/emit/contraction/subgroups.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/ir/made_of.h"
#include "kernels/embedded.h"

namespace sinter::emit {

using ir::ExprId;

namespace {

constexpr int kPieceBytes = 16;
// Rows (columns) of which the lanes of a subgroup have a piece each at once.
constexpr int kLines = 8;

std::string text_of(int number) { return std::to_string(number); }

/// The text for one factor: the columns' (`is_many`), of which each element is needed once, or the rows'.
class FactorOfFewRows {
 public:
  FactorOfFewRows(Expressions& e, const TiledLoops& loops, bool is_many)
      : e_(e),
        loops_(loops),
        place_(loops, e.kernel.tiling, !is_many),
        factor_(place_.factor),
        is_many_(is_many),
        is_computed_(e.kernel.tiling.computes(factor_)),
        is_unpacked_(is_many && e.kernel.tiling.unpacks()),
        size_(static_cast<int>(size_of(e.kernel.tiling.multiplied))) {}

  bool is_across() const { return !is_computed_ && factor_.across; }
  bool is_rounded() const { return !is_computed_ && !is_half(e_.kernel.tiling.multiplied); }

  /// Where a lane's pieces of the next chunk are, of what is copied.
  void write_declarations() const {
    if (is_computed_) return;
    if (is_across()) {
      const std::vector<std::string> coordinates = e_.coordinates;
      for (const std::size_t loop : loops_.batch) e_.coordinates[loop] = "0";
      count_as_one(place_.own, "0");
      const auto position = [&](const std::string& k) {
        count_as_one(loops_.depth, k);
        return "(" + e_.position(load().map) + ")";
      };
      const std::string first = position("0"), second = position("1");
      e_.out.line("const auto many_across = (" + second + " - " + first + ") * " + text_of(size_) + ";");
      e_.coordinates = coordinates;
    }
    e_.out.line("const unsigned char* " + from() + "[" + text_of(pointers()) + "];");
    if (!is_many_) e_.out.line("bool is_row[" + text_of(pointers()) + "];");
  }

  /// Sets them to the warp's first chunk of a tile. What is beyond the end is the last column once more, as
  /// it is not stored, and no row.
  void write_start() const {
    if (is_computed_) return;
    const std::vector<std::string> coordinates = e_.coordinates;
    e_.open("");
    split_loops(e_, "at.z", loops_.batch);
    e_.open_unrolled("i", pointers());
    e_.out.line("const int own = " + own() + ", from_k = min(depth + quarter * SN_PIECE, size_k - 1);");
    if (!is_many_) e_.out.line("is_row[i] = own < " + place_.end + ";");
    e_.out.line("const int from_own = min(own, " + place_.end + " - " +
                text_of(is_across() ? neighbours() : 1) + ");");
    count_as_one(place_.own, "from_own");
    count_as_one(loops_.depth, "from_k");
    e_.out.line(from() + "[i] = (const unsigned char*)(" + buffer() + " + (" + e_.position(load().map) +
                "));");
    e_.close();
    e_.close();
    e_.coordinates = coordinates;
  }

  /// What a lane brings of a chunk.
  void write_copies() const {
    if (is_unpacked_) return;
    if (is_computed_) return write_part();
    e_.open("if (is_whole)");
    write_whole();
    e_.close();
    e_.open("else");
    write_part();
    e_.close();
  }

  /// What a lane holds of a chunk that it unpacks.
  void write_raw() const {
    if (!is_unpacked_) return;
    e_.open("struct Raw");
    raw().declare(2 * lines());
    e_.close("};");
  }
  void write_fetches() const {
    if (!is_unpacked_) return;
    const std::vector<std::string> coordinates = e_.coordinates;
    split_loops(e_, "at.z", loops_.batch);
    e_.open_unrolled("piece", 2 * lines());
    e_.out.line("const int half = int(piece) / " + text_of(lines()) + ", i = int(piece) % " +
                text_of(lines()) + ";");
    write_first();
    raw().load("raw", "piece");
    e_.close();
    e_.coordinates = coordinates;
  }
  void write_unpacking() const {
    if (!is_unpacked_) return;
    const std::vector<std::string> coordinates = e_.coordinates;
    split_loops(e_, "at.z", loops_.batch);
    e_.open_unrolled("i", lines());
    e_.out.line("const int piece = half * " + text_of(lines()) + " + int(i);");
    const std::string last = write_first();
    // Two floats are rounded by one instruction.
    const ir::Expr& value = e_.kernel.exprs[factor_.value];
    const bool is_rounded_float = value.kind == ir::ExprKind::Elementwise && value.op == Op::Cast &&
                                  is_half(value.dtype) && e_.kernel.exprs[value.args[0]].dtype == DType::f32;
    const ExprId computed = is_rounded_float ? value.args[0] : factor_.value;
    const bool is_float = is_rounded_float || !is_half(e_.kernel.tiling.multiplied);
    e_.out.line(std::string(is_float ? "float" : "unsigned short") + " part[" + text_of(elements()) + "];");
    e_.open_unrolled("j", elements());
    e_.out.line(e_.dialect.constant(e_.index_type, last, "first + int(j)"));
    e_.coordinates[loops_.depth.back()] = last;
    raw().find("raw", "piece", "j");
    for (const ExprId id : ir::made_of(e_.kernel, computed)) e_.define(id);
    raw().forget();
    e_.out.line("part[j] = " + e_.value(computed) + ";");
    e_.close();
    e_.out.line("tc_pack(many.words[i / 2] + i % 2 * 4, part);");
    e_.close();
    e_.out.line("if (depth + SN_CHUNK > size_k)");
    e_.out.line("  tc_clear(many, depth + half * (SN_CHUNK / 2) + quarter * SN_PIECE < size_k);");
    e_.coordinates = coordinates;
  }

 private:
  static constexpr int kLanes = kSubgroupLanes;

  /// Defines `k` and the coordinates of the piece's first element, that of the last loop as `first`; gives
  /// the name that this one has else. What is beyond the ends is read elsewhere.
  std::string write_first() const {
    e_.out.line("const int k = depth + half * (SN_CHUNK / 2) + quarter * SN_PIECE;");
    e_.out.line("const int own = " + own() + ";");
    split_loops(e_, "min(own, " + place_.end + " - 1)", place_.own);
    std::string last = std::exchange(e_.coordinates[loops_.depth.back()], "first");
    split_loops(e_, "min(k, size_k - " + text_of(elements()) + ")", loops_.depth);
    return last;
  }
  PieceLoads raw() const { return PieceLoads(e_, factor_.value, elements()); }

  /// A chunk that the sum has all of: there is nothing to compare, and the next one is as far away as the
  /// last.
  void write_whole() const {
    const std::string size = text_of(size_), count = text_of(is_across() ? elements() : pointers());
    e_.open_unrolled("half", 2);
    e_.open_unrolled("i", is_across() ? elements() : pointers());
    const std::string to = start() + " + ((int(half) * " + count + " + int(i)) * " + text_of(kLanes) +
                           " + lane) * " + text_of(piece());
    const std::string at = is_across()
                               ? "[0] + (long long)many_across * (int(half) * (SN_CHUNK / 2) + int(i))"
                               : "[i] + int(half) * (SN_CHUNK / 2 * " + size + ")";
    e_.out.line((is_many_ ? "" : "if (is_row[i]) ") + function(piece()) + "(" + to + ", " + from() + at +
                ", " + text_of(piece()) + ");");
    e_.close();
    e_.close();
    e_.open_unrolled("i", pointers());
    e_.out.line(from() + "[i] += " + (is_across() ? "(long long)many_across" : size) +
                " * (SN_SHARERS * SN_CHUNK);");
    e_.close();
  }

  /// Any chunk.
  void write_part() const {
    const std::vector<std::string> coordinates = e_.coordinates;
    e_.open("");
    split_loops(e_, "at.z", loops_.batch);
    e_.open_unrolled("half", 2);
    e_.open_unrolled("i", is_across() ? elements() : lines());
    const std::string number = "(int(half) * " + text_of(is_across() ? elements() : lines()) + " + int(i))";
    const std::string place = number + " * " + text_of(kLanes) + " + lane";
    e_.out.line("const int k = depth + int(half) * (SN_CHUNK / 2) + quarter * SN_PIECE" +
                std::string(is_across() ? " + int(i);" : ";"));
    e_.out.line("const int own = " + own() + ";");
    if (is_computed_) {
      write_computed((is_many_ ? std::string("into") : "into + " + text_of(many_bytes())) + " + (" + place +
                     ") * " + text_of(kPieceBytes));
    } else {
      const std::string left =
          is_across() ? text_of(neighbours()) : "min(size_k - k, " + text_of(elements()) + ")";
      e_.out.line("const int bytes = own < " + place_.end + " && k < size_k ? " + left + " * " +
                  text_of(size_) + " : 0;");
      e_.out.line("const int from_own = bytes > 0 ? own : 0, from_k = bytes > 0 ? k : 0;");
      count_as_one(place_.own, "from_own");
      count_as_one(loops_.depth, "from_k");
      e_.out.line(function(piece()) + "(" + start() + " + (" + place + ") * " + text_of(piece()) + ", " +
                  buffer() + " + (" + e_.position(load().map) + "), bytes);");
    }
    e_.close();
    e_.close();
    e_.close();
    e_.coordinates = coordinates;
  }

  const ir::Expr& load() const { return e_.kernel.exprs[factor_.value]; }
  /// Of a slot, in front of the rows' factor.
  int many_bytes() const { return e_.kernel.tiling.unpacks() ? 0 : e_.kernel.tiling.columns * kSlotBytes; }
  int elements() const { return kPieceBytes / size_; }     // of a piece
  int lines() const { return place_.size / kLines; }       // pieces of a lane in half a chunk
  int neighbours() const { return place_.size / kLines; }  // across the sum: columns of a lane
  int pointers() const { return is_across() ? 1 : lines(); }
  int piece() const { return is_across() ? neighbours() * size_ : kPieceBytes; }

  std::string buffer() const { return "b" + text_of(load().buffer); }
  std::string from() const { return is_many_ ? "many_from" : "few_from"; }
  std::string start() const { return is_many_ ? std::string("to") : "to + " + text_of(many_bytes()); }
  /// The row (column) of a lane's piece.
  std::string own() const {
    return place_.start + " + " +
           (is_across() ? "line * " + text_of(neighbours()) : "int(i) * " + text_of(kLines) + " + line");
  }

  std::string function(int piece) const {
    if (is_across()) return piece == kPieceBytes ? "tc_copy_16" : "tc_copy_only_" + text_of(piece);
    const bool is_near = !is_many_ && e_.kernel.tiling.near_rows && factor_.lane_bytes == kPieceBytes;
    return (is_near ? "tc_copy_near_" : "tc_copy_") + text_of(factor_.lane_bytes);
  }

  /// Loops that lie as one, the last: its coordinate counts all of them.
  void count_as_one(const std::vector<std::size_t>& loops, const std::string& number) const {
    for (const std::size_t loop : loops) e_.coordinates[loop] = "0";
    e_.coordinates[loops.back()] = e_.index(number);
  }

  /// What is beyond the ends is read elsewhere: rows and columns of it are not stored, and of k it counts as
  /// 0.
  void write_computed(const std::string& to) const {
    split_loops(e_, "min(own, " + place_.end + " - 1)", place_.own);
    const std::string type = is_half(e_.kernel.tiling.multiplied) ? "unsigned short" : "float";
    e_.out.line(type + " part[" + text_of(elements()) + "];");
    e_.open_unrolled("j", elements());
    split_loops(e_, "min(k + int(j), size_k - 1)", loops_.depth);
    for (const ExprId id : ir::made_of(e_.kernel, factor_.value)) e_.define(id);
    e_.out.line("part[j] = k + int(j) < size_k ? " + e_.value(factor_.value) + " : (" + type + ")0;");
    e_.close();
    e_.out.line("tc_put(" + to + ", part);");
  }

  Expressions& e_;
  const TiledLoops& loops_;
  const FactorPlace place_;
  const ir::TiledFactor& factor_;
  const bool is_many_, is_computed_, is_unpacked_;
  const int size_;  // of an element
};

class FewRows {
 public:
  FewRows(const ir::Kernel& kernel, const Target& target)
      : k_(kernel), t_(kernel.tiling), loops_(kernel), e_(kernel, target), live_(live_behind_sum(kernel)) {}

  Source write() {
    e_.dialect.add_functions(e_.target, e_.functions);
    const FactorOfFewRows few(e_, loops_, false), many(e_, loops_, true);
    const std::string places =
        lines_at(1, e_.out, [&] { many.write_declarations(), few.write_declarations(); });
    const std::string starts = lines_at(2, e_.out, [&] { many.write_start(), few.write_start(); });
    const std::string copies = lines_at(2, e_.out, [&] { many.write_copies(), few.write_copies(); });
    const std::string raw = lines_at(0, e_.out, [&] { many.write_raw(); });
    const std::string fetches = lines_at(2, e_.out, [&] { many.write_fetches(); });
    const std::string unpacking = lines_at(2, e_.out, [&] { many.write_unpacking(); });
    const std::string finish = lines_at(3, e_.out, [&] { write_finish(); });
    const auto is_set = [](bool condition) { return condition ? 1 : 0; };
    Source result;
    result.entry = e_.dialect.entry;
    const std::string pair = "sn_pair_" + std::string(name_of(t_.multiplied));
    const bool has_pairs = t_.unpacks() && is_half(t_.multiplied);
    result.text = e_.dialect.preamble(k_, e_.target) +
                  functions_for(copies + unpacking + finish + (has_pairs ? " " + pair + "(" : ""), e_.dialect,
                                e_.functions) +
                  (has_pairs ? define("SN_PAIR", pair) : "") + raw + define("SN_FEW", t_.rows) +
                  define("SN_MANY", t_.columns) + define("SN_SHARERS", t_.sharers) +
                  define("SN_SLOTS", t_.slots) + define("SN_CHUNK", slot_elements(t_)) +
                  define("SN_PIECE", slot_elements(t_) * kPieceBytes / kSlotBytes) +
                  define("SN_MANY_ACROSS", is_set(many.is_across())) +
                  define("SN_UNPACKS", is_set(t_.unpacks())) +
                  define("SN_ROUND_MANY", is_set(many.is_rounded())) +
                  define("SN_ROUND_FEW", is_set(few.is_rounded())) + multiplication(t_.multiplied);
    std::string_view rest = kernels::source("contraction_few_rows.cu");
    result.text += kernels::source("lane_copies_sm80.inc");
    result.text += next_part(rest);
    result.text += e_.dialect.open(k_, e_.target, e_.use) + sizes_of_loops(e_, loops_);
    for (const std::string& text : {places, starts, copies, fetches, unpacking, finish}) {
      result.text += next_part(rest);
      result.text += text;
    }
    result.text += std::string(rest) + "}\n";
    return result;
  }

 private:
  /// What is computed of the sum at to_m, to_n.
  void write_finish() {
    split_loops(e_, "at.z", loops_.batch);
    split_loops(e_, "to_m", loops_.rows);
    split_loops(e_, "to_n", loops_.columns);
    e_.define_as(t_.sum, "sum");
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (live_[id] && id != t_.sum) e_.define(id);
    for (const ir::Store& store : k_.stores) e_.store(store);
  }

  const ir::Kernel& k_;
  const ir::Tiling& t_;
  const TiledLoops loops_;
  Expressions e_;
  const std::vector<bool> live_;
};

}  // namespace

Source emit_few_rows(const ir::Kernel& kernel, const Target& target) {
  return FewRows(kernel, target).write();
}

}  // namespace sinter::emit
