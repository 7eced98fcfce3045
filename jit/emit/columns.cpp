// Each lane walks the elements of kVector neighbouring results, in the part that its group has.
#include "jit/emit/columns.h"

#include "jit/emit/work.h"

namespace sinter::emit {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

constexpr int kChunk = 32;  // as in schedule.cpp: a float sum goes through parts of so many values

bool is_wide_load(const Expressions& e, const Expr& expr) {
  return expr.kind == ExprKind::Load && expr.predicate == ir::kNone && e.is_consecutive(expr.map, 0);
}

class WideColumns {
 public:
  explicit WideColumns(Expressions& e) : e_(e), k_(e.kernel), live_(live_expressions(k_)), work_(work_of(k_, live_, 0)) {}

  void write() {
    const std::string width = std::to_string(kVector), lanes = e_.flat(e_.dialect.lanes), lane = e_.flat(e_.dialect.lane);
    const std::string first = e_.integer(k_.extents[k_.outer_rank]);
    declare_condition();
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (live_[id] && k_.exprs[id].kind == ExprKind::Scalar) e_.define(id);
    line("const " + flat() + " points = " + e_.flat(e_.integer(k_.extents[0])) + ";");
    line("const " + flat() + " part = " + e_.flat(e_.dialect.group) + " % " + e_.flat("parts") + ";");
    line("const u32 unit = u32(" + e_.dialect.group + ") / parts;");
    line("const " + flat() + " f = (" + e_.flat("unit") + " * " + lanes + " + " + lane + ") * " + e_.flat(width) + ";");
    line("const " + flat() + " whole = " + e_.flat(first) + ", length = (whole + parts - 1) / parts;");
    line("const " + flat() + " begin = part * length < whole ? part * length : whole;");
    line("const " + flat() + " end_of_part = length < whole - begin ? begin + length : whole;");
    for (ExprId id : work_.reductions) {
      declare(accumulator(id), type(id), identity(id));
      if (has_moments(id)) {
        declare(count(id), type(id), type(id) + "(0)");
        declare(mean(id), type(id), type(id) + "(0)");
      }
    }
    // Apart, so that the loop of whole vectors has nothing to decide and many loads on their way.
    e_.open("if (vectors && f + " + e_.flat(width) + " <= points)");
    walk_part(true);
    e_.close();
    e_.open("else if (f < points)");
    walk_part(false);
    e_.close();

    for_each_result([&] {
      for_each_partial([&](const std::string& name, DType dtype, const std::string& slot) {
        line(e_.dialect.put_partial(dtype, at(slot, "part"), name + "[k]"));
      });
    });
    for (const std::string& text : e_.dialect.pass_on("unit")) line(text);
    join_parts();
    for_each_result([&] { finish_result(); });
  }

 private:
  void line(const std::string& text) { e_.out.line(text); }
  std::string flat() const { return e_.flat_type; }
  std::string type(ExprId id) const { return std::string(value_type(k_.exprs[id].dtype)); }
  bool has_moments(ExprId id) const { return k_.exprs[id].op == Op::SquaredDeviations; }
  bool has_part(ExprId id) const { return k_.exprs[id].op == Op::Sum && is_float(k_.exprs[id].dtype); }
  std::string accumulator(ExprId id) const { return "r" + std::to_string(id); }
  std::string part(ExprId id) const { return "q" + std::to_string(id); }
  std::string count(ExprId id) const { return accumulator(id) + "_n"; }
  std::string mean(ExprId id) const { return accumulator(id) + "_mean"; }
  std::string identity(ExprId id) const {
    return e_.dialect.identity(has_moments(id) ? Op::Sum : k_.exprs[id].op, k_.exprs[id].dtype);
  }
  std::string at(const std::string& slot, const std::string& part) const {
    return slot + " * " + e_.flat("parts") + " * points + " + part + " * points + (f + k)";
  }

  /// One value for each of the lane's results.
  void declare(const std::string& name, const std::string& type, const std::string& value) {
    std::string text = type + " " + name + "[" + std::to_string(kVector) + "] = {" + value;
    for (int k = 1; k < kVector; ++k) text += ", " + value;
    line(text + "};");
  }

  void declare_condition() {
    std::vector<std::pair<std::size_t, std::size_t>> maps;
    for (ExprId id : work_.values)
      if (is_wide_load(e_, k_.exprs[id])) maps.emplace_back(k_.exprs[id].buffer, k_.exprs[id].map);
    line("const bool vectors = " + (maps.empty() ? "false" : e_.vector_condition(maps, 0, false)) + ";");
  }

  // ---- the elements of the part

  void walk_part(bool vectors) {
    const std::size_t last = k_.extents.size() - 1;
    auto from = [&](std::size_t c) { return c == k_.outer_rank ? std::string("begin") : "0"; };
    auto to = [&](std::size_t c) { return c == k_.outer_rank ? std::string("end_of_part") : e_.integer(k_.extents[c]); };
    for (std::size_t c = k_.outer_rank; c < last; ++c) {
      const std::string x = e_.coordinates[c];
      e_.open(std::string("for (") + e_.index_type + " " + x + " = " + e_.index(from(c)) + "; " + x + " < " +
              e_.index(to(c)) + "; ++" + x + ")");
    }
    const std::string chunk = e_.flat(std::to_string(kChunk)), end = e_.flat(to(last));
    e_.open("for (" + flat() + " h = " + e_.flat(from(last)) + "; h < " + end + "; h += " + chunk + ")");
    line("const " + flat() + " left = " + end + " - h, end = h + (left < " + chunk + " ? left : " + chunk + ");");
    for (ExprId id : work_.reductions)
      if (has_part(id)) declare(part(id), type(id), type(id) + "(0)");
    if (!e_.dialect.unroll.empty()) line(e_.dialect.unroll + " 8");
    e_.open("for (" + flat() + " j = h; j < end; ++j)");
    e_.split("j", last, 1);
    write_step(vectors);
    e_.close();
    for_each_of_lane([&] {
      for (ExprId id : work_.reductions)
        if (has_part(id)) line(accumulator(id) + "[k] = " + accumulator(id) + "[k] + " + part(id) + "[k];");
    });
    e_.close();
    for (std::size_t c = k_.outer_rank; c < last; ++c) e_.close();
  }

  /// One element of each of the lane's results; by whole vectors when there are kVector of them.
  void write_step(bool vectors) {
    const std::string own = e_.coordinates[0];
    line(std::string("const ") + e_.index_type + " y = " + e_.index("f") + ";");
    for (ExprId id : work_.values) {
      const Expr& expr = k_.exprs[id];
      if (!vectors || !is_wide_load(e_, expr)) continue;
      const std::string name = "l" + std::to_string(id);
      line(type(id) + " " + name + "[" + std::to_string(kVector) + "];");
      e_.coordinates[0] = "y";
      line("sn_load4_" + std::string(name_of(expr.dtype)) + "(" + name + ", b" + std::to_string(expr.buffer) + " + (" +
           e_.position(expr.map) + "));");
      e_.coordinates[0] = own;
      e_.loaded[id] = name + "[k]";
    }
    auto body = [&] {
      for (ExprId id : work_.values) e_.define(id);
      for (const ir::Store* store : work_.stores) e_.store(*store);
      for (ExprId id : work_.reductions) accumulate(id);
    };
    if (!vectors) {
      for_each_result(body);
    } else {
      for_each_of_lane([&] {
        line(std::string("const ") + e_.index_type + " " + own + " = y + k;");
        body();
      });
    }
    e_.loaded.clear();
  }

  void accumulate(ExprId id) {
    const Expr& expr = k_.exprs[id];
    const std::string value = e_.value(expr.args[0]);
    if (has_moments(id)) return join_moments(id, type(id) + "(1)", value, type(id) + "(0)");
    const std::string to = (has_part(id) ? part(id) : accumulator(id)) + "[k]";
    line(to + " = " + e_.combine(expr.op, expr.dtype, to, value) + ";");
  }

  void join_moments(ExprId id, const std::string& n, const std::string& mean_of_it, const std::string& m2) {
    line("sn_join_moments_" + std::string(name_of(k_.exprs[id].dtype)) + "(" + count(id) + "[k], " + mean(id) + "[k], " +
         accumulator(id) + "[k], " + n + ", " + mean_of_it + ", " + m2 + ");");
  }

  // ---- the results

  template <class Body>
  void for_each_of_lane(Body body) {
    line(e_.dialect.unroll);
    e_.open("for (int k = 0; k < " + std::to_string(kVector) + "; ++k)");
    body();
    e_.close();
  }

  /// For each of the lane's results that there is, its coordinate defined.
  template <class Body>
  void for_each_result(Body body) {
    for_each_of_lane([&] {
      e_.open("if (f + k < points)");
      line(std::string("const ") + e_.index_type + " " + e_.coordinates[0] + " = " + e_.index("f") + " + k;");
      body();
      e_.close();
    });
  }

  template <class Visit>
  void for_each_partial(Visit visit) const {
    int slot = 0;
    for (ExprId id : work_.reductions) {
      const DType dtype = k_.exprs[id].dtype;
      auto next = [&](const std::string& name) { visit(name, dtype, e_.flat(std::to_string(slot++))); };
      if (has_moments(id)) {
        next(count(id));
        next(mean(id));
      }
      next(accumulator(id));
    }
  }

  /// The parts of each result in their order: those of all the lane's results side by side, so that many loads are on
  /// their way.
  void join_parts() {
    for_each_of_lane([&] {
      for (ExprId id : work_.reductions) {
        line(accumulator(id) + "[k] = " + identity(id) + ";");
        if (has_moments(id)) line(count(id) + "[k] = " + identity(id) + "; " + mean(id) + "[k] = " + identity(id) + ";");
      }
    });
    if (!e_.dialect.unroll.empty()) line(e_.dialect.unroll + " 8");
    e_.open("for (" + flat() + " p = 0; p < parts; ++p)");
    for_each_result([&] {
      for_each_partial([&](const std::string& name, DType dtype, const std::string& slot) {
        line(e_.dialect.define(dtype) + "p_" + name + " = " + e_.dialect.get_partial(dtype, at(slot, "p")) + ";");
      });
      for (ExprId id : work_.reductions) {
        const std::string r = accumulator(id);
        if (has_moments(id))
          join_moments(id, "p_" + count(id), "p_" + mean(id), "p_" + r);
        else
          line(r + "[k] = " + e_.combine(k_.exprs[id].op, k_.exprs[id].dtype, r + "[k]", "p_" + r) + ";");
      }
    });
    e_.close();
  }

  void finish_result() {
    for (std::uint16_t phase = 0; phase < 2; ++phase)
      for (ExprId id = 0; id < k_.exprs.size(); ++id) {
        const Expr& expr = k_.exprs[id];
        if (!live_[id] || expr.level == ir::Level::Inner || expr.phase != phase) continue;
        if (expr.kind == ExprKind::Reduce)
          line(e_.dialect.define(expr.dtype) + e_.value(id) + " = " + accumulator(id) + "[k];");
        else
          e_.define(id);
      }
    for (const ir::Store& store : k_.stores)
      if (store.level == ir::Level::Outer) e_.store(store);
  }

  Expressions& e_;
  const ir::Kernel& k_;
  const std::vector<bool> live_;
  const InnerWork work_;
};

}  // namespace

void write_wide_columns(Expressions& e) { WideColumns(e).write(); }

}  // namespace sinter::emit
