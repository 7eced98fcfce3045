// Writes the loops over pieces of stretches.
#include "jit/emit/walker/vectors/stretches.h"

#include <string>

namespace sinter::emit {

void Stretches::define() {
  // Rows of one dim that lanes hold are whole vectors, or have a text of their own (row_ragged).
  if (has_short_rows(k_, e_.target) || (k_.row_elements > 0 && k_.inner_rank == 1)) return;
  const std::string condition = vectors_.stretch_condition();
  if (condition.empty()) return;
  any_ = true;
  e_.out.line(e_.dialect.constant(Type::Bool, "stretches", condition));
  // As many as there are wherever it begins.
  const std::string length = e_.flat(e_.integer(k_.extents.back()));
  e_.out.line(constant("of_stretch",
                       "(" + length + " + " + e_.flat(std::to_string(2 * e_.width - 2)) + ") / " + width()));
  const std::string all = count_of(k_.outer_rank, k_.inner_rank - 1u) + " * of_stretch";
  if (!k_.split) {
    e_.out.line(constant("pieces", all));
    return;
  }
  e_.out.line(constant("all_pieces", all));
  e_.out.line(constant("of_part", "(all_pieces + parts - 1) / parts"));
  e_.out.line(constant("first_piece", choose("part * of_part < all_pieces", "part * of_part", "all_pieces")));
  e_.out.line(constant("pieces",
                       choose("of_part < all_pieces - first_piece", "first_piece + of_part", "all_pieces")));
}

void Stretches::write(const InnerWork& work, const std::string& lane, const std::string& lanes) {
  const std::size_t first = k_.outer_rank, others = k_.inner_rank - 1u;
  const std::string length = e_.integer(k_.extents.back());
  e_.open(e_.dialect.when("stretches"));
  rounds_.write(work, (k_.split ? "first_piece + " : "") + lane, "pieces", lanes, e_.width, [&] {
    if (others > 0) {
      e_.out.line(constant("s", "j / of_stretch"));
      split("s", first, others, "");
    }
    const std::string number = others > 0 ? "(j - s * of_stretch)" : "j";
    e_.out.line(e_.dialect.constant(e_.index_type, "y",
                                    e_.index(number + " * " + width()) + " - (" + vectors_.shift() + ")"));
    e_.open(e_.dialect.when("y < " + e_.index(length)));
    vectors_.write_points_of_stretch(work, "y", e_.flat(length));
    e_.close();
  });
  e_.close();
  e_.open(e_.dialect.otherwise());
}

}  // namespace sinter::emit
