// What all writers of loops say in the same way.
#pragma once

#include <cstddef>
#include <string>

#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/expressions.h"

namespace sinter::emit {

class LoopText {
 protected:
  explicit LoopText(Expressions& e) : e_(e), k_(e.kernel) {}

  /// Coordinates of `count` dims from the number `from`; in the vector path the last one gets the name of its
  /// base, and the vector its number unless it has one.
  void split(const std::string& from, std::size_t first, std::size_t count, const std::string& base,
             bool is_numbered = false) {
    const std::string own = count ? e_.coordinates[first + count - 1] : "";
    if (!base.empty()) e_.coordinates[first + count - 1] = base;
    e_.split(from, first, count);
    if (base.empty()) return;
    e_.coordinates[first + count - 1] = own;
    if (e_.dialect.numbers_vectors && !is_numbered)
      e_.out.line(e_.dialect.constant(Type::U32, "vector", e_.vector_of(base)));
  }

  std::string count_of(std::size_t first, std::size_t count) const {
    std::string text;
    for (std::size_t c = first; c < first + count; ++c)
      text += (text.empty() ? "" : " * ") + e_.flat(e_.integer(k_.extents[c]));
    return text.empty() ? e_.flat("1") : text;
  }

  std::string constant(const std::string& name, const std::string& text) const {
    return e_.dialect.constant(e_.flat_type, name, text);
  }
  std::string loop(const std::string& i, const std::string& from, const std::string& to,
                   const std::string& step) const {
    return e_.dialect.loop(e_.flat_type, i, from, to, step);
  }
  std::string choose(const std::string& condition, const std::string& yes, const std::string& no) const {
    return e_.dialect.choose(condition, yes, no);
  }
  std::string u32(int number) const { return e_.dialect.literal(Type::U32, number); }

  /// How often a loop from `from` below `to` goes round in steps.
  std::string rounds_of(const std::string& from, const std::string& to, const std::string& step) const {
    const std::string one = e_.flat("1"), count = to + " - (" + from + ")",
                      divided = "(" + count + " + " + step + " - 1) / " + step;
    return choose(from + " >= " + to, e_.flat("0"), "(" + choose(step + " == " + one, count, divided) + ")");
  }

  /// The number of a lane's turn among those of all workgroups that hold a row: they take turns.
  std::string turn_of(const std::string& turn) const {
    if (k_.row_cluster == 1) return turn;
    return "(" + turn + " * " + e_.flat(u32(k_.row_cluster)) + " + " + e_.flat(kClusterRank) + ")";
  }

  /// Rows are whole vectors, which lie so.
  std::string when_whole_vectors() const {
    if (k_.row_full) return e_.dialect.when("vectors");
    return e_.dialect.when("vectors && " + count_of(k_.outer_rank, k_.inner_rank) + " % " +
                           e_.flat(std::to_string(e_.width)) + " == " + e_.flat("0"));
  }

  /// A point by its number in the part.
  std::string of_part(const std::string& number) const {
    return "first + " + number + " * " + e_.flat(std::to_string(k_.part_step));
  }

  /// The lane that stores what is computed once for an outer point.
  std::string when_first_lane() const {
    std::string condition = e_.dialect.lane + " == " + u32(0);
    if (has_short_rows(k_, e_.target)) condition += " && there";
    if (k_.row_cluster > 1) condition += std::string(" && ") + kClusterRank + " == " + u32(0);
    return e_.dialect.when(condition);
  }

  Expressions& e_;
  const ir::Kernel& k_;
};

}  // namespace sinter::emit
