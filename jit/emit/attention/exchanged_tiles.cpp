// Writes kernels of attention whose subgroups multiply cooperative matrices, of which nobody knows which lane
// has what: scores get to lanes, and weights back, through shared memory, and so do the sums at the end.
//
// Of scores, and of sums, a line of shared memory is a column (an element), with the numbers of all rows side
// by side; so a lane finds those of its rows in neighbouring pieces.
#include <string>

#include "jit/emit/attention/attention_text.h"
#include "jit/emit/attention/matrix_tiles.h"
#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;

namespace {

class ExchangedTilesText : public MatrixTilesText {
 public:
  ExchangedTilesText(const ir::Kernel& kernel, const Target& target)
      : MatrixTilesText(kernel, target),
        blocks_(kernel.attention.rows / kMatrix / (tile_.lanes() / target.subgroup)) {}

 private:
  DType weight_type(ExprId) const override { return dtype_; }
  std::string kept_weight(ExprId, const std::string& number) const override {
    return rounded(dtype_, number);
  }
  /// Between what lanes and their subgroup's matrices do with shared memory.
  void exchange() {
    line(
        "controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, "
        "gl_SemanticsAcquireRelease);");
  }
  void store(const std::string& matrix, const std::string& first) {
    line("coopMatStoreNV(" + matrix + ", sn_tile, " + first + ", " + text_of(tile_.line_of_rows()) +
         ", true);");
  }
  /// A lane's four numbers of a line of all rows, the second of two with half == 1.
  std::string four_of_line(int first, const std::string& line, int half) const {
    return "uintBitsToFloat(sn_tile[" + text_of(first) + " + (" + line + ") * " +
           text_of(tile_.line_of_rows()) + " + first / 4 + " + text_of(half) + "])";
  }

  /// For each of a subgroup's blocks of 16 rows, number i.
  void open_blocks() {
    e_.open_unrolled("i", blocks_);
    line("const int block = int(gl_SubgroupID) * " + text_of(blocks_) + " + i;");
  }
  void declare_sums() override { MatrixTilesText::declare_sums(blocks_); }

  void multiply() override {
    const int columns = k_.attention.columns / kMatrix;
    for (const ExprId id : dots_) {
      const auto [a, b] = factors(id);
      open_blocks();
      line("SN_SUM sums[" + text_of(columns) + "];");
      e_.open_unrolled("j", columns);
      line("sums[j] = SN_SUM(0.0);");
      e_.close();
      e_.open_unrolled("k", ir::ScoreTile::matrices_of(expr(a)));
      line("SN_A a;");
      load_row("a", a);
      e_.open_unrolled("j", columns);
      line("SN_B b;");
      load_column("b", b);
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
    load_vectors("vectors", vectors);
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

  const int blocks_;  // of a subgroup
};

}  // namespace

Source emit_exchanged_attention(const ir::Kernel& kernel, const Target& target) {
  return ExchangedTilesText(kernel, target).write();
}

}  // namespace sinter::emit
