// Deals out points.
#include "jit/emit/walker/points.h"

#include "jit/emit/walker/loop_text.h"

namespace sinter::emit {
namespace {

class Points : private LoopText {
 public:
  explicit Points(Expressions& e) : LoopText(e) {}

  void at_once(const std::string& begin, int together, const std::function<void()>& locate,
               const std::function<void()>& point) {
    const Dialect::Grid& grid = e_.dialect.grid(k_);
    const std::string lanes = e_.flat(e_.dialect.lanes), lane = e_.flat(e_.dialect.lane),
                      chunk = "(" + lanes + " * " + e_.flat(std::to_string(together)) + ")";
    e_.open(loop("t", begin + " + " + e_.flat(grid.workgroup) + " * " + chunk, "points",
                 e_.flat(grid.workgroups) + " * " + chunk));
    e_.open(e_.dialect.when("points - t >= " + chunk));
    const auto each = [&] {
      e_.open_unrolled("u", together);
      e_.out.line(constant("f", "t + " + e_.flat("u") + " * " + lanes + " + " + lane));
      locate();
    };
    declare_results(together);
    each();
    e_.stores_into_arrays = true;
    point();
    e_.stores_into_arrays = false;
    e_.close();
    each();
    for (const ir::Store& store : k_.stores) e_.store_from_array(store);
    e_.close();
    e_.close();
    e_.open(e_.dialect.otherwise());
    e_.open(loop("f", "t + " + lane, "points", lanes));
    locate();
    point();
    e_.close();
    e_.close();
    e_.close();
  }

  void declare_results(int together) {
    for (const ir::Store& store : k_.stores)
      e_.out.line(e_.dialect.array(type_of(k_.exprs[store.value].dtype), e_.array_of(store), together));
  }

  void cut_part(bool in_workgroup, bool vectors) {
    const std::string begin = choose("part * length < whole", "part * length", "whole"),
                      end = choose("length < whole - begin", "begin + length", "whole");
    if (in_workgroup) {
      const std::string step = e_.flat(e_.dialect.lanes) + " * " + e_.flat(std::to_string(e_.width));
      e_.out.line(constant("whole", count_of(k_.outer_rank, k_.inner_rank)));
      e_.out.line(constant("step", step));
      e_.out.line(constant("length", "((whole + parts - 1) / parts + step - 1) / step * step"));
      e_.out.line(constant("begin", begin));
      e_.out.line(constant("inner", end));
      if (vectors)
        e_.out.line(constant(
            "inner4",
            choose("vectors", "inner - (inner - begin) % " + e_.flat(std::to_string(e_.width)), "begin")));
      return;
    }
    e_.out.line(constant("whole", shares_all_inner_loops(k_, e_.target)
                                      ? count_of(k_.outer_rank, k_.inner_rank)
                                      : e_.flat(e_.integer(k_.extents[k_.outer_rank]))));
    e_.out.line(constant("length", "(whole + parts - 1) / parts"));
    e_.out.line(constant("begin", begin));
    e_.out.line(constant("end_of_part", end));
  }
};

}  // namespace

void write_points_at_once(Expressions& e, const std::string& begin, int together,
                          const std::function<void()>& locate, const std::function<void()>& point) {
  Points(e).at_once(begin, together, locate, point);
}

void cut_part(Expressions& e, bool in_workgroup, bool vectors) { Points(e).cut_part(in_workgroup, vectors); }

}  // namespace sinter::emit
