// Writes kernels of attention whose ordinary lanes multiply tiles of scores.
#include <string>
#include <utility>

#include "jit/emit/attention/attention_text.h"
#include "jit/emit/attention/score_tiles.h"
#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;

namespace {

constexpr const char* kPart[] = {".x", ".y", ".z", ".w"};
constexpr int kFour = ir::ScoreTile::kFour;

class LaneTilesText : public ScoreTilesText {
 public:
  LaneTilesText(const ir::Kernel& kernel, const Target& target) : ScoreTilesText(kernel, target) {
    e_.use.shared_fours = tile_.pieces();
  }

 private:
  static std::string shared(const std::string& place) { return "sn_tile[" + place + "]"; }
  void four(const std::string& name, const std::string& place) {
    line("const sn_four " + name + " = " + shared(place) + ";");
  }
  int fours_of(ExprId combine) const { return ir::ScoreTile::fours_of_lane(row_of(combine)); }
  DType weight_type(ExprId) const override { return DType::f32; }
  std::string kept_weight(ExprId id, const std::string& number) const override {
    return f32_of(row_of(id).dtype, rounded(row_of(id).dtype, number));
  }

  void declare_sums() override {
    for (const ExprId id : state_.combines) {
      const int fours = rows_of_lane_ * fours_of(id);
      line("sn_four " + name("acc", id) + "[" + text_of(fours) + "];");
      e_.open_unrolled("k", fours);
      line(name("acc", id) + "[k] = SN_FOUR(0.f, 0.f, 0.f, 0.f);");
      e_.close();
    }
  }

  /// Of a vector in memory: 16 bytes.
  static int width(const Expr& row) { return row.dtype == DType::f32 ? kVector : kWideVector; }
  int pieces_of_line(const Expr& row) const override { return row.length / width(row); }
  static std::string piece(ExprId id, const std::string& element) {
    return name("piece", id) + "[" + element + "]";
  }

  void declare_pieces(ExprId id, int count) override {
    line("float " + piece(id, text_of(count * width(expr(id)))) + ";");
  }

  void load_piece(ExprId id) override {
    const Expr& row = expr(id);
    const std::string each = text_of(width(row)), position = e_.position(row.map) + " + part * " + each,
                      to = piece(id, "i * " + each + " + k") + " = ";
    if (!e_.dialect.has_vectors(k_, e_.target)) {
      e_.open_unrolled("k", width(row));
      line(to + f32_of(row.dtype, e_.dialect.read(k_, row.buffer, position + " + k")) + ";");
      e_.close();
      return;
    }
    e_.use.in_vectors.insert(row.buffer);
    line(e_.dialect.declare_vector(row.dtype, width(row), "loaded"));
    const std::string number = e_.dialect.cast(Type::U32, position) + " / " + each + "u";
    line(e_.dialect.load_vector(k_, width(row), row.buffer, e_.dialect.numbers_vectors ? number : position,
                                "loaded"));
    e_.open_unrolled("k", width(row));
    line(to + f32_of(row.dtype, e_.dialect.element(row.dtype, width(row), "loaded")) + ";");
    e_.close();
  }

  void store_piece(ExprId id) override {
    const int fours = width(expr(id)) / kFour;
    const std::string place = text_of(tile_.first(id)) + " + number * " + text_of(tile_.line(expr(id))) +
                              " + part * " + text_of(fours) + " + w";
    e_.open_unrolled("w", fours);
    line(shared(place) + " = is_there ? SN_FOUR" +
         four_of(name("piece", id), "i * " + text_of(fours * kFour) + " + w * 4") +
         " : SN_FOUR(0.f, 0.f, 0.f, 0.f);");
    e_.close();
  }

  void multiply() override {
    for (const ExprId id : dots_) write_dot(id);
  }
  void write_dot(ExprId id) {
    ExprId a = expr(id).args[0], b = expr(id).args[1];
    if (tile_.is_column(a)) std::swap(a, b);
    const std::string dot = name("dot", id), of_row = text_of(tile_.line(expr(a)));
    line("float " + dot + "[" + text_of(scores_) + "];");
    e_.open_unrolled("k", scores_);
    line(dot + "[k] = 0.f;");
    e_.close();
    e_.open("for (int k = 0; k < " + text_of(expr(a).length / kFour) + "; ++k)");
    for (int r = 0; r < rows_of_lane_; ++r)
      four("a" + text_of(r),
           text_of(tile_.first(a)) + " + (" + "first + " + text_of(r) + ") * " + of_row + " + k");
    for (int c = 0; c < columns_of_lane_; ++c) {
      const std::string column = "column" + text_of(c);
      four(column, text_of(tile_.first(b) + c * lanes_of_row_ * tile_.line(expr(b))) + " + t * " +
                       text_of(tile_.line(expr(b))) + " + k");
      for (int r = 0; r < rows_of_lane_; ++r) {
        const std::string score = dot + "[" + text_of(c * rows_of_lane_ + r) + "]";
        std::string sum = score;
        for (const char* part : kPart)
          sum = "fma(a" + text_of(r) + part + ", " + column + part + ", " + sum + ")";
        line(score + " = " + sum + ";");
      }
    }
    e_.close();
  }

  void shrink() override {
    for (const ExprId id : state_.combines) {
      e_.open_unrolled("r", rows_of_lane_);
      e_.open_unrolled("k", fours_of(id));
      for (const char* part : kPart)
        line(name("acc", id) + "[r * " + text_of(fours_of(id)) + " + k]" + part + " *= factor[r];");
      e_.close();
      e_.close();
    }
  }

  void combine(ExprId id) override {
    const ExprId vectors = expr(id).args[1];
    const Expr& row = expr(vectors);
    const int fours = fours_of(id), of_line = row.length / kFour;
    const auto weights = [&](const std::string& column) {
      return text_of(tile_.first_weight()) + " + (" + column + ") * " + text_of(tile_.line_of_weights()) +
             " + first / 4";
    };
    if (id != state_.combines.front()) barrier();  // the weights before have been read
    e_.open_unrolled("c", columns_of_lane_);
    line(shared(weights("c * " + text_of(lanes_of_row_) + " + t")) + " = SN_FOUR" +
         four_of(name("weight", id), "c * " + text_of(rows_of_lane_)) + ";");
    e_.close();
    barrier();
    e_.open("for (int column = 0; column < " + text_of(k_.attention.columns) + "; ++column)");
    four("weights", weights("column"));
    for (int k = 0; k < fours; ++k) {
      const std::string vector = "vector" + text_of(k), number = text_of(k * lanes_of_row_) + " + t";
      // Of the last vectors some lanes have none.
      four(vector,
           text_of(tile_.first(vectors)) + " + column * " + text_of(tile_.line(row)) + " + " +
               ((k + 1) * lanes_of_row_ <= of_line ? number
                                                   : "min(" + number + ", " + text_of(of_line - 1) + ")"));
      for (int r = 0; r < rows_of_lane_; ++r) {
        const std::string sum = name("acc", id) + "[" + text_of(r * fours + k) + "]";
        for (const char* part : kPart)
          line(sum + part + " = fma(weights" + kPart[r] + ", " + vector + part + ", " + sum + part + ");");
      }
    }
    e_.close();
  }

  void write_vectors(const ir::Store& store) override {
    const Expr& combine = expr(store.value);
    const int fours = fours_of(store.value), of_line = row_of(store.value).length / kFour;
    const std::string scale = combine.args[2] == ir::kNone ? "" : " * " + e_.value(combine.args[2]);
    e_.open_unrolled("k", fours);
    line("const int number = k * " + text_of(lanes_of_row_) + " + t;");
    if (of_line % lanes_of_row_ != 0) e_.open("if (number < " + text_of(of_line) + ")");
    line("const sn_four found = " + name("acc", store.value) + "[r * " + text_of(fours) + " + k];");
    line(e_.dialect.constant(e_.index_type, "element",
                             e_.position(store.map) + " + " + e_.index("number * " + text_of(kFour))));
    for (int part = 0; part < kFour; ++part)
      line(e_.dialect.write(k_, store.buffer, "element + " + text_of(part),
                            rounded(combine.dtype, std::string("(found") + kPart[part] + scale + ")")));
    if (of_line % lanes_of_row_ != 0) e_.close();
    e_.close();
  }
};

}  // namespace

Source emit_lane_attention(const ir::Kernel& kernel, const Target& target) {
  return LaneTilesText(kernel, target).write();
}

}  // namespace sinter::emit
