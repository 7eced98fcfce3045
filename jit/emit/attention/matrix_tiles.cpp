// Writes kernels of attention whose subgroups multiply cooperative matrices, of which nobody knows which lane
// has what: scores get to lanes, and weights back, through shared memory, and so do the sums at the end.
//
// A subgroup has blocks of 16 rows, which are those of its lanes: what it exchanges with these waits for no
// other subgroup. Of scores, and of sums, a line of shared memory is a column (an element), with the numbers
// of all rows side by side; so a lane finds those of its rows in neighbouring pieces.
#include <string>
#include <utility>

#include "jit/emit/attention/attention_text.h"
#include "jit/emit/attention/score_tiles.h"
#include "jit/emit/contraction/matrix_scopes.h"
#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;

namespace {

constexpr int kMatrix = ir::ScoreTile::kMatrix, kFour = ir::ScoreTile::kFour, kEight = 8;

class MatrixTilesText : public ScoreTilesText {
 public:
  MatrixTilesText(const ir::Kernel& kernel, const Target& target)
      : ScoreTilesText(kernel, target),
        dtype_(expr(rows_.front()).dtype),
        blocks_(kernel.attention.rows / kMatrix / (tile_.lanes() / target.subgroup)) {
    // Weights are rounded to 16 bits, of which this leaves all.
    e_.functions["sn_exp_f32"] = "SN_FN float sn_exp_f32(float a) { return exp2(a * 1.4426950408889634); }\n";
  }

 private:
  std::string definitions() override {
    const auto type = [&](int bits, MatrixUse use) {
      return "fcoopmatNV<" + text_of(bits) + ", " +
             std::to_string(marked_scope(use, dtype_ == DType::bf16 && bits == 16)) + ", 16, 16>";
    };
    return define("SN_A", type(16, MatrixUse::A)) + define("SN_B", type(16, MatrixUse::B)) +
           define("SN_SUM", type(32, MatrixUse::Sum)) + "shared uvec4 sn_tile[" + text_of(tile_.pieces()) +
           "];\n";
  }

  DType weight_type(ExprId) const override { return dtype_; }
  /// Between what lanes and their subgroup's matrices do with shared memory.
  void exchange() {
    line(
        "controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, "
        "gl_SemanticsAcquireRelease);");
  }
  int matrices(ExprId combine) const { return ir::ScoreTile::matrices_of(row_of(combine)); }
  static std::string at(const std::string& name, const std::string& number) {
    return name + "[" + number + "]";
  }
  /// Statements; `stride`: from one line to the next, `crosses`: lines are columns of the matrix.
  void load(const std::string& matrix, const std::string& first, int stride, bool crosses) {
    line("coopMatLoadNV(" + matrix + ", sn_tile, " + first + ", " + text_of(stride) + ", " +
         (crosses ? "true" : "false") + ");");
  }
  void store(const std::string& matrix, const std::string& first) {
    line("coopMatStoreNV(" + matrix + ", sn_tile, " + first + ", " + text_of(tile_.line_of_rows()) +
         ", true);");
  }
  /// For each of a subgroup's blocks of rows, number i.
  void open_blocks() {
    e_.open_unrolled("i", blocks_);
    line("const int block = int(gl_SubgroupID) * " + text_of(blocks_) + " + i;");
  }
  /// A lane's four numbers of a line of all rows, the second of two with half == 1.
  std::string four_of_line(int first, const std::string& line, int half) const {
    return "uintBitsToFloat(sn_tile[" + text_of(first) + " + (" + line + ") * " +
           text_of(tile_.line_of_rows()) + " + first / 4 + " + text_of(half) + "])";
  }

  void declare_sums() override {
    for (const ExprId id : state_.combines) {
      line("SN_SUM " + name("acc", id) + "[" + text_of(blocks_ * matrices(id)) + "];");
      e_.open_unrolled("k", blocks_ * matrices(id));
      line(name("acc", id) + "[k] = SN_SUM(0.0);");
      e_.close();
    }
  }

  int pieces_of_line(const Expr& row) const override { return tile_.filled(row); }

  void declare_pieces(ExprId id, int count) override {
    line("uvec4 " + name("piece", id) + "[" + text_of(count) + "];");
  }

  /// Pieces that fill a row's last matrix.
  bool has_more(const Expr& row) const { return row.length / kEight < tile_.filled(row); }

  void load_piece(ExprId id) override {
    const Expr& row = expr(id);
    const std::string part =
        has_more(row) ? "min(part, " + text_of(row.length / kEight - 1) + ")" : std::string("part");
    const std::string position = e_.position(row.map) + " + " + e_.index(part + " * " + text_of(kEight)),
                      to = name("piece", id) + "[i]";
    if (e_.dialect.has_vectors(k_, e_.target)) {
      e_.use.in_vectors.insert(row.buffer);
      line(to + " = b" + std::to_string(row.buffer) + "_4.at[" + e_.vector_of(position) + "];");
      return;
    }
    e_.open_unrolled("k", kFour);
    const auto element = [&](const char* which) {
      return e_.dialect.read(k_, row.buffer, position + " + 2 * k" + which);
    };
    line(to + "[k] = " + element("") + " | " + element(" + 1") + " << 16;");
    e_.close();
  }

  void store_piece(ExprId id) override {
    const Expr& row = expr(id);
    const std::string more = has_more(row) ? " && part < " + text_of(row.length / kEight) : "";
    line("sn_tile[" + text_of(tile_.first(id)) + " + number * " + text_of(tile_.line(row)) +
         " + part] = is_there" + more + " ? " + name("piece", id) + "[i] : uvec4(0u);");
  }

  void multiply() override {
    const int columns = k_.attention.columns / kMatrix;
    for (const ExprId id : dots_) {
      ExprId a = expr(id).args[0], b = expr(id).args[1];
      if (tile_.is_column(a)) std::swap(a, b);
      open_blocks();
      line("SN_SUM sums[" + text_of(columns) + "];");
      e_.open_unrolled("j", columns);
      line("sums[j] = SN_SUM(0.0);");
      e_.close();
      e_.open_unrolled("k", ir::ScoreTile::matrices_of(expr(a)));
      line("SN_A a;");
      load("a", text_of(tile_.first(a)) + " + block * " + text_of(kMatrix * tile_.line(expr(a))) + " + k * 2",
           tile_.line(expr(a)), false);
      e_.open_unrolled("j", columns);
      line("SN_B b;");
      load("b", text_of(tile_.first(b)) + " + j * " + text_of(kMatrix * tile_.line(expr(b))) + " + k * 2",
           tile_.line(expr(b)), true);
      line("sums[j] = coopMatMulAddNV(a, b, sums[j]);");
      e_.close();
      e_.close();
      e_.open_unrolled("j", columns);
      store("sums[j]", text_of(tile_.first_score(id)) + " + j * " + text_of(kMatrix * tile_.line_of_rows()) +
                           " + block * 4");
      e_.close();
      e_.close();
    }
    exchange();
    for (const ExprId id : dots_) {
      line("float " + name("dot", id) + "[" + text_of(scores_) + "];");
      e_.open_unrolled("c", columns_of_lane_);
      for (int half = 0; half < 2; ++half) {
        e_.open("");
        line("const vec4 four = " + four_of_line(tile_.first_score(id), "c * 16 + t", half) + ";");
        for (int k = 0; k < kFour; ++k)
          line(name("dot", id) + "[c * 8 + " + text_of(half * kFour + k) + "] = four[" + text_of(k) + "];");
        e_.close();
      }
      e_.close();
    }
    exchange();  // weights come in the place of scores
  }

  /// Matrices are divided element by element: by what becomes larger. Most tiles have no greater score than
  /// those before.
  void shrink() override {
    if (state_.combines.empty()) return;
    line("float changes = 0.f;");
    e_.open_unrolled("r", rows_of_lane_);
    line("changes = factor[r] == 1.f ? changes : 1.f;");
    e_.close();
    for (int mask = lanes_of_row_; mask < e_.target.subgroup; mask *= 2)
      line("changes = max(changes, " + e_.dialect.of_lane("changes", mask, e_.target) + ");");
    e_.open("if (changes != 0.f)");
    for (int half = 0; half < 2; ++half)
      line("sn_tile[" + text_of(tile_.first_factor()) + " + t * " + text_of(tile_.line_of_rows()) +
           " + first / 4 + " + text_of(half) + "] = floatBitsToUint(1.0 / vec4" +
           four_of("factor", text_of(half * kFour)) + ");");
    e_.close();
  }

  void combine(ExprId id) override {
    const ExprId vectors = expr(id).args[1];
    const Expr& row = expr(vectors);
    if (id != state_.combines.front()) exchange();  // the weights before have been read
    e_.open_unrolled("c", columns_of_lane_);
    line("uvec4 eight;");
    for (int k = 0; k < kFour; ++k) {
      const auto weight = [&](int which) {
        return name("weight", id) + "[c * 8 + " + text_of(2 * k + which) + "]";
      };
      line("eight[" + text_of(k) + "] = " + weight(0) + " | " + weight(1) + " << 16;");
    }
    line("sn_tile[" + text_of(tile_.first_weight()) + " + (c * 16 + t) * " +
         text_of(tile_.line_of_weights()) + " + first / 8] = eight;");
    e_.close();
    exchange();
    open_blocks();
    if (is_softmax(k_)) {
      e_.open("if (changes != 0.f)");
      line("SN_SUM less_of_rows;");
      load("less_of_rows", text_of(tile_.first_factor()) + " + block * 4", tile_.line_of_rows(), true);
      e_.open_unrolled("e", matrices(id));
      const std::string sum = at(name("acc", id), "i * " + text_of(matrices(id)) + " + e");
      line(sum + " = " + sum + " / less_of_rows;");
      e_.close();
      e_.close();
    }
    e_.open_unrolled("k", k_.attention.columns / kMatrix);
    line("SN_A weights;");
    load("weights",
         text_of(tile_.first_weight()) + " + k * " + text_of(kMatrix * tile_.line_of_weights()) +
             " + block * 2",
         tile_.line_of_weights(), true);
    e_.open_unrolled("e", matrices(id));
    line("SN_B vectors;");
    load("vectors",
         text_of(tile_.first(vectors)) + " + k * " + text_of(kMatrix * tile_.line(row)) + " + e * 2",
         tile_.line(row), false);
    const std::string sum = at(name("acc", id), "i * " + text_of(matrices(id)) + " + e");
    line(sum + " = coopMatMulAddNV(weights, vectors, " + sum + ");");
    e_.close();
    e_.close();
    e_.close();
  }

  void finish_sums() override {
    barrier();  // vectors have been combined
    for (const ExprId id : state_.combines) {
      open_blocks();
      e_.open_unrolled("e", matrices(id));
      store(at(name("acc", id), "i * " + text_of(matrices(id)) + " + e"),
            text_of(tile_.first_sum(id)) + " + e * " + text_of(kMatrix * tile_.line_of_rows()) +
                " + block * 4");
      e_.close();
      e_.close();
    }
    exchange();
  }

  void write_vectors(const ir::Store& store) override {
    const Expr& combine = expr(store.value);
    const int length = row_of(store.value).length;
    const std::string scale = combine.args[2] == ir::kNone ? "" : " * " + e_.value(combine.args[2]);
    e_.open_unrolled("k", (length + kMatrix - 1) / kMatrix);
    line("const int element = k * 16 + t;");
    if (length % kMatrix != 0) e_.open("if (element < " + text_of(length) + ")");
    line("const float found = uintBitsToFloat(sn_tile[" + text_of(tile_.first_sum(store.value)) +
         " + element * " + text_of(tile_.line_of_rows()) + " + first / 4 + r / 4][r % 4]);");
    line(e_.dialect.write(k_, store.buffer, e_.position(store.map) + " + " + e_.index("element"),
                          rounded(combine.dtype, "(found" + scale + ")")));
    if (length % kMatrix != 0) e_.close();
    e_.close();
  }

  const DType dtype_;
  const int blocks_;  // of a subgroup
};

}  // namespace

Source emit_matrix_attention(const ir::Kernel& kernel, const Target& target) {
  return MatrixTilesText(kernel, target).write();
}

}  // namespace sinter::emit
