// Loops of one lane, whose points rows of lanes may share.
#include "jit/emit/walker/lane_loop.h"

namespace sinter::emit {

void LaneLoop::write(const InnerWork& work, const Sharers& sharers, int elements,
                     const std::function<void()>& point) {
  const bool has_rows = has_rows_of_lanes(k_, e_.target);
  const std::size_t last = k_.extents.size() - 1, first = k_.outer_rank;
  // Rows of lanes may share the points of all loops.
  const bool as_one = first == last || shares_all_inner_loops(k_, e_.target);
  const std::string begin = k_.split ? "begin" : e_.flat("0"),
                    end = k_.split ? "end_of_part" : count_of(first, as_one ? last - first + 1 : 1);
  // From 0 in steps of 1: of a loop in steps that are not known the compiler takes no rounds together.
  const std::string row = begin + " + " + sharers.row;
  const auto coordinate = [&](const std::string& round) {
    return has_rows ? row + " + " + round + " * " + sharers.rows : round;
  };
  if (has_rows) e_.out.line(constant("rounds", rounds_of(row, end, sharers.rows)));
  const std::string from = has_rows ? e_.flat("0") : begin, to = has_rows ? "rounds" : end;
  if (as_one)
    return rounds_.write(work, from, to, "1", elements, [&] {
      split(coordinate("j"), first, last - first + 1, "");
      point();
    });
  for (std::size_t c = first; c < last; ++c) {
    const bool is_first = c == first;
    const std::string y = "y" + std::to_string(c);
    e_.open(loop(y, is_first ? from : e_.flat("0"), is_first ? to : e_.flat(e_.integer(k_.extents[c])), "1"));
    e_.out.line(
        e_.dialect.constant(e_.index_type, e_.coordinates[c], e_.index(is_first ? coordinate(y) : y)));
  }
  rounds_.write(work, e_.flat("0"), e_.flat(e_.integer(k_.extents[last])), "1", elements, [&] {
    split("j", last, 1, "");
    point();
  });
  for (std::size_t c = first; c < last; ++c) e_.close();
}

}  // namespace sinter::emit
