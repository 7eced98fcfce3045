// Writes what differs from contraction to contraction by cooperative matrices.
#include "jit/emit/contraction/matrices.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "jit/emit/contraction/blocks.h"
#include "jit/emit/contraction/contraction.h"
#include "jit/emit/contraction/loops.h"
#include "jit/emit/contraction/matrix_scopes.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/vectors/vectors.h"
#include "jit/ir/made_of.h"
#include "jit/ir/products/matrix_tile.h"
#include "jit/ir/products/parts.h"
#include "kernels/embedded.h"

namespace sinter::emit {

using ir::ExprId;

namespace {

constexpr int kPiece = ir::MatrixTile::kPiece;

/// The text for one factor: what a lane loads for the slot, in pieces of eight neighbours.
class Factor {
 public:
  Factor(Expressions& e, const TiledLoops& loops, const ir::MatrixTile& tile, bool is_a)
      : e_(e),
        loops_(loops),
        place_(loops, e.kernel.tiling, is_a),
        factor_(place_.factor),
        is_computed_(e.kernel.tiling.computes(factor_)),
        is_across_(tile.lies_across(factor_)),
        filled_(tile.filled(is_a)),
        lines_(tile.lines(is_a)),
        lanes_(tile.lanes()) {}

  void write() const {
    const int pieces = filled_ * lines_;
    const std::vector<std::string> coordinates = e_.coordinates;
    e_.open_unrolled("i", (pieces + lanes_ - 1) / lanes_);
    if (!is_whole()) e_.out.line(part() + " = uvec4(0u);");
    e_.out.line("const int number = i * " + std::to_string(lanes_) + " + loader, line = number / " +
                std::to_string(filled_) + ", piece = number % " + std::to_string(filled_) + ";");
    const std::string along = std::to_string(kPiece);
    e_.out.line(is_across_
                    ? "const int own = " + place_.start + " + piece * " + along + ", k = depth + line;"
                    : "const int own = " + place_.start + " + line, k = depth + piece * " + along + ";");
    if (is_whole()) {
      write_whole();
    } else {
      const std::string within = pieces % lanes_ == 0 ? "" : "number < " + std::to_string(pieces) + " && ";
      e_.open(e_.dialect.when("brings && " + within + "own < " + place_.end + " && k < size_k"));
      split_loops(e_, "at.z", loops_.batch);
      is_computed_ ? write_computed() : write_elements();
      e_.close();
    }
    e_.close();
    e_.coordinates = coordinates;
  }

  /// What is put into the slot of a piece: a macro of the piece, its line and its number in the line.
  std::string kept() const {
    std::string text = "value";
    if (is_whole()) {
      const std::string own = place_.end + " - " + place_.start, along = "(piece) * 8";
      text = is_across_
                 ? "(kept + (line) < size_k ? cm_first(value, " + own + " - " + along + ") : uvec4(0u))"
                 : "((line) < " + own + " ? cm_first(value, size_k - kept - " + along + ") : uvec4(0u))";
    }
    return define(place_.which == "a" ? "SN_KEPT_A(value, line, piece)" : "SN_KEPT_B(value, line, piece)",
                  text);
  }

 private:
  /// True iff pieces are loaded as they lie: some are beyond the end in part, or altogether, and read what is
  /// there or the last piece. What is kept of them `kept` says.
  bool is_whole() const {
    return is_computed_ ? factor_.pieces && factor_.vector == ir::MatrixTile::kPieceBytes / 2
                        : factor_.lane_bytes == ir::MatrixTile::kPieceBytes;
  }

  std::string part() const { return "part_" + place_.which + "[i]"; }
  const ir::Expr& load() const { return e_.kernel.exprs[factor_.value]; }

  /// Loops that lie as one, the last: its coordinate counts all of them.
  void count_as_one(const std::vector<std::size_t>& loops, const std::string& number) const {
    for (const std::size_t loop : loops) e_.coordinates[loop] = "0";
    e_.coordinates[loops.back()] = e_.index(number);
  }

  /// Without a branch: a load in one is waited for at its end.
  void write_whole() const {
    const auto inside = [&](const std::string& number, const std::string& end, bool is_along) {
      e_.out.line("const int " + number + "_inside = min(" + number + ", " +
                  (is_along ? "(" + end + " - 1) / 8 * 8" : end + " - 1") + ");");
      return number + "_inside";
    };
    const std::string own = inside("own", place_.end, is_across_), k = inside("k", "size_k", !is_across_);
    split_loops(e_, "at.z", loops_.batch);
    if (is_computed_) {
      split_loops(e_, own, place_.own);
      e_.coordinates[loops_.depth.back()] = "first";
      split_loops(e_, k, loops_.depth);
    } else {
      count_as_one(place_.own, own);
      count_as_one(loops_.depth, k);
    }
    if (load().predicate == ir::kNone) {
      e_.out.line(part() + " = " + piece_at(e_.vector_of(e_.position(load().map))) + ";");
      return;
    }
    // All eight are within bounds or none is. Where none is the buffer's first piece is read, and not kept.
    for (const ExprId id : ir::made_of(e_.kernel, load().predicate)) e_.define(id);
    const std::string within = e_.value(load().predicate);
    const std::string number = within + " ? " + e_.vector_of(e_.position(load().map)) + " : 0u";
    e_.out.line("const uvec4 there = " + piece_at(number) + ";");
    e_.out.line(part() + " = " + within + " ? there : uvec4(0u);");
  }

  void write_elements() const {
    count_as_one(place_.own, "own");
    count_as_one(loops_.depth, "k");
    e_.out.line("const int left = " + (is_across_ ? place_.end + " - own" : std::string("size_k - k")) + ";");
    e_.out.line(e_.dialect.constant(e_.index_type, "first", e_.position(load().map)));
    e_.open_unrolled("j", kPiece);
    put("left > j", e_.dialect.read(e_.kernel, load().buffer, "first + j"));
    e_.close();
  }

  void write_computed() const {
    split_loops(e_, "own", place_.own);
    if (!factor_.pieces) {
      e_.open_unrolled("j", kPiece);
      split_loops(e_, "min(k + j, size_k - 1)", loops_.depth);
      define_value();
      put("k + j < size_k", e_.value(factor_.value));
      e_.close();
      return;
    }
    // The last loop goes on within the piece.
    const std::size_t last = loops_.depth.back();
    const std::string coordinate = std::exchange(e_.coordinates[last], "first");
    split_loops(e_, "k", loops_.depth);
    e_.coordinates[last] = coordinate;
    e_.open_unrolled("j", kPiece);
    e_.out.line(e_.dialect.constant(e_.index_type, coordinate, "first + j"));
    define_value();
    put("", e_.value(factor_.value));
    e_.close();
  }

  /// Eight neighbours in memory, by the number of such a piece.
  std::string piece_at(const std::string& number) const {
    e_.use.in_vectors.insert(load().buffer);
    return "b" + std::to_string(load().buffer) + "_4.at[" + number + "]";
  }

  /// A piece's value number j.
  void put(const std::string& condition, const std::string& bits) const {
    const std::string to = "part_" + place_.which + "[i][j >> 1]";
    const std::string statement = to + " |= (" + bits + ") << (16 * (j & 1));";
    e_.out.line(condition.empty() ? statement : e_.dialect.guarded(e_.dialect.when(condition), statement));
  }

  void define_value() const {
    for (const ExprId id : ir::made_of(e_.kernel, factor_.value)) e_.define(id);
  }

  Expressions& e_;
  const TiledLoops& loops_;
  const FactorPlace place_;
  const ir::TiledFactor& factor_;
  const bool is_computed_, is_across_;
  const int filled_, lines_, lanes_;
};

/// A workgroup of the tile's lanes. Vectors are taken on devices too whose other kernels have none.
Target target_of(const Target& device, const ir::MatrixTile& tile) {
  Target target = device;
  target.workgroup_size = tile.lanes();
  target.vectors = true;
  return target;
}

class Matrices {
 public:
  Matrices(const ir::Kernel& kernel, const Target& target)
      : k_(kernel),
        t_(kernel.tiling),
        tile_(kernel.tiling),
        target_(target_of(target, tile_)),
        loops_(kernel),
        e_(kernel, target_),
        live_(live_behind_sum(kernel)),
        sums_(e_, ir::Schedule::Pointwise, live_),
        vectors_(e_, sums_, ir::Schedule::Pointwise, live_) {}

  Source write() {
    e_.out = Writer();  // what `vectors_` has said of vectors, the tiling knows
    e_.dialect.add_functions(e_.target, e_.functions);
    std::string kept;
    const std::string loads = lines_at(3, e_.out, [&] {
      for (const bool is_a : {true, false}) {
        const Factor factor(e_, loops_, tile_, is_a);
        factor.write();
        kept += factor.kept();
      }
    });
    const std::string finish = lines_at(3, e_.out, [&] { write_finish(); });
    Source result;
    result.entry = e_.dialect.entry;
    std::string_view rest = kernels::source("contraction.comp");
    result.text = e_.dialect.preamble(k_, e_.target) +
                  functions_for(loads + finish, e_.dialect, e_.functions) + definitions() + kept;
    const std::string head = e_.dialect.open(k_, e_.target, e_.use) + sizes_of_loops(e_, loops_);
    for (const std::string& text : {head, loads, loads, finish})
      result.text += std::string(next_part(rest)) + text;
    result.text += std::string(rest) + "}\n";
    return result;
  }

 private:
  std::string definitions() const {
    const ir::Tiling::Matrices& of = t_.matrices;
    const bool is_bf16 = t_.multiplied == DType::bf16;
    const auto type = [&](int bits, MatrixUse use, int rows, int columns) {
      return "fcoopmatNV<" + std::to_string(bits) + ", " +
             std::to_string(marked_scope(use, is_bf16 && bits == 16)) + ", " + std::to_string(rows) + ", " +
             std::to_string(columns) + ">";
    };
    std::string text =
        define("SN_BM", t_.rows) + define("SN_BN", t_.columns) + define("SN_BK", tile_.depth()) +
        define("SN_PART_M", t_.subgroup_rows) + define("SN_PART_N", of.columns) + define("SN_M", of.m) +
        define("SN_N", of.n) + define("SN_K", of.k) + define("SN_A", type(16, MatrixUse::A, of.m, of.k)) +
        define("SN_B", type(16, MatrixUse::B, of.k, of.n)) +
        define("SN_SUM", type(32, MatrixUse::Sum, of.m, of.n)) + define("SN_START_B", tile_.pieces(true)) +
        define("SN_SHARED", tile_.shared()) + define("SN_EXCHANGE", tile_.exchange()) +
        define("SN_EXCHANGE_LINE", tile_.exchange_line()) + define("SN_LOADERS", tile_.lanes()) +
        define("SN_BAND", std::max(1, kBandRows / t_.rows)) + define("SN_MANY_PARTS", ir::kManyParts);
    for (const bool is_a : {true, false}) {
      const std::string which = is_a ? "A" : "B";
      text += define("SN_" + which + "_ACROSS", tile_.lies_across(is_a ? t_.a : t_.b) ? "true" : "false") +
              define("SN_LINE_" + which, tile_.line(is_a)) +
              define("SN_FILLED_" + which, tile_.filled(is_a)) +
              define("SN_PIECES_" + which, tile_.filled(is_a) * tile_.lines(is_a));
    }
    return text;
  }

  bool in_vectors() const { return t_.vectors && vectors_.any(); }

  /// What becomes of a row of a subgroup's matrices, whose sums the lanes have exchanged: `row` and `column`
  /// are the first of them.
  void write_finish() {
    InnerWork work;
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (live_[id] && id != t_.sum) work.values.push_back(id);
    for (const ir::Store& store : k_.stores) work.stores.push_back(&store);
    const int width = in_vectors() ? e_.width : 1, of_line = t_.matrices.columns / width;
    const int all = t_.matrices.m * of_line, lanes = t_.matrices.lanes;
    split_loops(e_, "at.z", loops_.batch);
    e_.open_unrolled("turn", (all + lanes - 1) / lanes);
    const std::string each = std::to_string(of_line);
    e_.out.line("const int number = turn * " + std::to_string(lanes) + " + lane, line = number / " + each +
                ", in_line = number % " + each + " * " + std::to_string(width) + ";");
    e_.out.line("const int to_m = row + line, to_n = column + in_line;");
    const std::string within = all % lanes == 0 ? "" : "number < " + std::to_string(all) + " && ";
    e_.open(e_.dialect.when(within + "to_m < size_m && to_n < size_n"));
    split_loops(e_, "to_m", loops_.rows);
    const std::size_t last = loops_.columns.back();
    const std::string own = std::exchange(e_.coordinates[last], in_vectors() ? "y" : e_.coordinates[last]);
    split_loops(e_, "to_n", loops_.columns);
    e_.coordinates[last] = own;
    const std::string line = "exchange + line * " + std::to_string(tile_.exchange_line());
    if (in_vectors()) {
      write_vectors(work, line);
    } else {
      std::string sum = "uintBitsToFloat(cm_slot[" + line + " + (in_line >> 2)][in_line & 3])";
      if (t_.blocks.any()) {
        e_.out.line("float sums[1] = float[1](" + sum + ");");
        write_sums_of_blocks(e_, loops_, "sums", 1);
        sum = "sums[0]";
      }
      e_.define_as(t_.sum, sum);
      for (const ExprId id : work.values) e_.define(id);
      for (const ir::Store* store : work.stores) e_.store(*store);
    }
    e_.close();
    e_.close();
  }

  /// Of `width` neighbours at a time, the first of which has the last coordinate y.
  void write_vectors(const InnerWork& work, const std::string& line) {
    HeldRows sums;
    sums.held = {t_.sum};
    sums.slots = {0};
    const std::string name = sums.name(t_.sum);
    e_.out.line("const int i = 0;");
    e_.out.line("const u32 vector = u32(y) >> " + std::to_string(e_.width == kWideVector ? 3 : 2) + ";");
    e_.out.line("float " + name + "[1][" + std::to_string(e_.width) + "];");
    e_.open_unrolled("w", e_.width / 4);
    e_.out.line("const vec4 four = uintBitsToFloat(cm_slot[" + line + " + (in_line >> 2) + w]);");
    for (int c = 0; c < 4; ++c)
      e_.out.line(name + "[0][4 * w + " + std::to_string(c) + "] = four[" + std::to_string(c) + "];");
    e_.close();
    write_sums_of_blocks(e_, loops_, name + "[0]", e_.width);
    vectors_.write_points(work, "y", sums, {t_.sum}, {});
  }

  const ir::Kernel& k_;
  const ir::Tiling& t_;
  const ir::MatrixTile tile_;
  const Target target_;
  const TiledLoops loops_;
  Expressions e_;
  const std::vector<bool> live_;
  Accumulators sums_;
  Vectors vectors_;
};

}  // namespace

Source emit_matrices(const ir::Kernel& kernel, const Target& target) {
  return Matrices(kernel, target).write();
}

std::string matrix_extensions() {
  return "#extension GL_NV_cooperative_matrix : require\n"
         "#extension GL_KHR_memory_scope_semantics : require\n"
         "#extension GL_KHR_shader_subgroup_basic : require\n"
         "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n";
}

std::int64_t matrix_rounds(const ir::Kernel& kernel, const Geometry& shape,
                           std::span<const std::int64_t> ints) {
  if (shape.workgroups == 0) return 0;
  const ir::Tiling& t = kernel.tiling;
  const ir::MatrixTile tile(t);
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t depth = points_of(kernel, TiledLoops(kernel).depth, ints), parts = shape.parts;
  // What the pieces of a slot and the matrices of a part take.
  std::int64_t of_slot = 0, of_part = std::int64_t{t.subgroup_rows / t.matrices.m} *
                                      (t.matrices.columns / t.matrices.n + 1);
  for (const bool is_a : {true, false})
    of_slot += up(std::int64_t{tile.filled(is_a)} * tile.lines(is_a), tile.lanes()) * (2 + kPiece);
  of_slot += tile.depth() / t.matrices.k * (of_part + t.matrices.columns / t.matrices.n + 1);
  const std::int64_t joins = parts > 1 ? (3 + ir::parts_read_in_turn(parts)) * of_part + parts : 0;
  const std::int64_t ends =
      joins + of_part + std::int64_t{t.subgroup_rows} * t.matrices.columns / t.matrices.lanes * 4;
  return up(tiles_of(kernel, ints) * parts, shape.workgroups) *
         ((up(up(depth, tile.depth()), parts) + 2) * (1 + of_slot) + ends);
}

}  // namespace sinter::emit
