// Statements about accumulators.
#include "jit/emit/walker/accumulators.h"

#include <algorithm>

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;

namespace {

constexpr int kTogether = 8;
constexpr const char* kColumns = "sn_handed_over";

/// Where neighbouring lanes read columns, each of the next banks has one.
int columns_stride(int lanes) { return lanes + 8; }

}  // namespace

std::size_t bytes_of_columns(std::size_t variables, int lanes) {
  return variables * sizeof(float) * kVector * static_cast<std::size_t>(columns_stride(lanes));
}

Accumulators::Accumulators(Expressions& e, ir::Schedule schedule, const std::vector<bool>& live)
    : e_(e), k_(e.kernel), schedule_(schedule) {
  std::size_t calls = 0;
  for (std::uint16_t phase = 0; phase <= k_.phases; ++phase)
    calls += joined_together(reductions_of(k_, live, phase)).size();
  comes_again_ = calls == 1 && !k_.split;
}

bool Accumulators::any_part(const InnerWork& work) const {
  return std::any_of(work.reductions.begin(), work.reductions.end(),
                     [&](ExprId id) { return has_part(id) || is_welford(id); });
}

bool Accumulators::has_magnitude(ExprId id) const {
  const Expr& expr = k_.exprs[id];
  return e_.dialect.notes_nan && (expr.op == Op::Max || expr.op == Op::Min) && is_float(expr.dtype);
}

std::string Accumulators::identity(ExprId id) const {
  return e_.dialect.identity(is_welford(id) ? Op::Sum : k_.exprs[id].op, k_.exprs[id].dtype);
}

void Accumulators::declare(const InnerWork& work) {
  for (ExprId id : work.reductions) {
    const std::string zero = e_.zero(dtype(id));
    if (is_welford(id)) e_.out.line(e_.dialect.variables(type_of(dtype(id)), {count(id), mean(id)}, zero));
    e_.out.line(e_.dialect.variable(dtype(id), name(id), identity(id)));
    if (has_magnitude(id)) e_.out.line(e_.dialect.variable(dtype(id), magnitude(id), zero));
  }
}

void Accumulators::restart(const InnerWork& work) {
  for (ExprId id : work.reductions) {
    if (is_welford(id))
      e_.out.line(count(id) + " = " + identity(id) + "; " + mean(id) + " = " + identity(id) + ";");
    e_.out.line(name(id) + " = " + identity(id) + ";");
  }
}

std::vector<std::string> Accumulators::variables(ExprId id) const {
  return is_welford(id) ? std::vector{count(id), mean(id), name(id)} : std::vector{name(id)};
}

void Accumulators::hold_columns(const InnerWork& work, int columns) {
  columns_ = columns;
  for (ExprId id : work.reductions)
    for (const std::string& variable : variables(id))
      e_.out.line(
          e_.dialect.array_of(type_of(dtype(id)), of_columns(variable), columns_, e_.zero(dtype(id))));
}

void Accumulators::begin_columns(const InnerWork& work, int columns) {
  hold_columns(work, columns);
  int all = 0;
  for (ExprId id : work.reductions) all += static_cast<int>(variables(id).size());
  e_.use.shared.push_back({kColumns, DType::f32, all * columns_ * columns_stride(e_.target.workgroup_size)});
}

void Accumulators::add_columns(const InnerWork& work) {
  e_.open_unrolled("k", columns_);
  for (ExprId id : work.reductions) {
    std::vector<std::string> to;
    for (const std::string& variable : variables(id)) to.push_back(of_columns(variable) + "[k]");
    if (is_welford(id))
      add_deviations(id, to, part_pivot(id) + "[k]", part_sum(id) + "[k]", part(id) + "[k]");
    else
      e_.out.line(to[0] + " = " + to[0] + " + " + part(id) + "[k];");
  }
  e_.close();
}

void Accumulators::join_columns(const InnerWork& work, const std::string& number, const std::string& groups) {
  const Dialect& d = e_.dialect;
  const auto u32 = [&](const std::string& text) { return d.cast(Type::U32, text); };
  const std::string columns = u32(std::to_string(columns_)),
                    stride = u32(std::to_string(columns_stride(e_.target.workgroup_size)));
  const auto place = [&](int variable, const std::string& column, const std::string& lane) {
    return std::string(kColumns) + "[(" + u32(std::to_string(variable * columns_)) + " + " + column + ") * " +
           stride + " + " + lane + "]";
  };
  int all = 0;
  e_.open_unrolled("k", columns_);
  for (ExprId id : work.reductions)
    for (const std::string& variable : variables(id))
      e_.out.line(place(all++, u32("k"), number) + " = " + of_columns(variable) + "[k];");
  e_.close();
  e_.out.line(d.workgroup_barrier);
  // A row of lanes with a column each takes what as many rows have as a lane had columns.
  e_.open_unrolled("k", columns_);
  e_.out.line(d.constant(Type::U32, "other",
                         "(" + u32(d.row) + " + " + u32("k") + " * " + u32(d.rows) + ") * " + groups + " + " +
                             u32(d.lane) + " / " + columns));
  all = 0;
  for (ExprId id : work.reductions) {
    std::vector<std::string> taken;
    for (std::size_t v = variables(id).size(); v > 0; --v)
      taken.push_back(place(all++, u32(d.lane) + " % " + columns, "other"));
    if (is_welford(id))
      join_welford(id, taken[0], taken[1], taken[2]);
    else
      e_.out.line(name(id) + " = " + name(id) + " + " + taken[0] + ";");
  }
  e_.close();
  columns_ = 1;
}

void Accumulators::declare_parts(const InnerWork& work, int elements) {
  for (ExprId id : work.reductions) {
    if (!has_part(id) && !is_welford(id)) continue;
    const Type type = type_of(dtype(id));
    const std::string zero = e_.zero(dtype(id));
    const auto declare = [&](const std::string& of) {
      e_.out.line(elements == 1 ? e_.dialect.variable(type, of, zero)
                                : e_.dialect.array_of(type, of, elements, zero));
    };
    declare(part(id));
    if (!is_welford(id)) continue;
    declare(part_sum(id));
    e_.out.line(columns_ > 1 ? e_.dialect.array_of(type, part_pivot(id), elements, zero)
                             : e_.dialect.variable(type, part_pivot(id), zero));
    e_.out.line(e_.dialect.variable(Type::U32, part_count(id), e_.dialect.literal(Type::U32, 0)));
  }
}

std::string Accumulators::sum_of(const std::string& part, int elements) {
  std::vector<std::string> sums;
  for (int i = 0; i < elements; ++i)
    sums.push_back(elements == 1 ? part : part + "[" + std::to_string(i) + "]");
  for (; sums.size() > 1; sums.resize(sums.size() / 2))
    for (std::size_t i = 0; i < sums.size() / 2; ++i)
      sums[i] = "(" + sums[2 * i] + " + " + sums[2 * i + 1] + ")";
  return sums[0];
}

void Accumulators::add_parts(const InnerWork& work, int elements) {
  if (columns_ > 1) return add_columns(work);
  for (ExprId id : work.reductions) {
    if (is_welford(id))
      add_deviations(id, variables(id), part_pivot(id), sum_of(part_sum(id), elements),
                     sum_of(part(id), elements));
    if (has_part(id)) e_.out.line(name(id) + " = " + name(id) + " + " + sum_of(part(id), elements) + ";");
  }
}

/// `exists`: empty where each element of a vector has a value, so that the first one is the part's first. Of
/// columns each has its own part, and all have as many values. Selections, since branches would cost more.
void Accumulators::take_deviation(ExprId id, const std::string& value, const std::string& element,
                                  const std::string& exists) {
  const Dialect& d = e_.dialect;
  const bool of_columns = columns_ > 1;
  const std::string pivot = part_pivot(id) + (of_columns ? element : ""), number = part_count(id),
                    off = "off" + std::to_string(id), squares = part(id) + element,
                    sum = part_sum(id) + element, one = d.literal(Type::U32, 1);
  const std::string zero = d.literal(Type::U32, 0), last = "k == " + std::to_string(columns_ - 1);
  const bool always = exists.empty();
  const std::string first = (!always                           ? exists + " && "
                             : !element.empty() && !of_columns ? "k == 0 && "
                                                               : "") +
                            number + " == " + zero;
  e_.out.line(pivot + " = " + d.choose(first, value, pivot) + ";");
  std::string counted = of_columns ? last : "";
  if (!always) counted += (counted.empty() ? "" : " && ") + exists;
  e_.out.line(number + " += " + (counted.empty() ? one : d.choose(counted, one, zero)) + ";");
  const std::string difference = value + " - " + pivot;
  e_.out.line(
      d.exact(dtype(id), off, always ? difference : d.choose(exists, difference, e_.zero(dtype(id)))));
  e_.out.line(sum + " = " + sum + " + " + off + ";");
  e_.out.line(squares + " = fma(" + off + ", " + off + ", " + squares + ");");
}

void Accumulators::add_deviations(ExprId id, const std::vector<std::string>& to, const std::string& pivot,
                                  const std::string& sum_of_parts, const std::string& squares_of_parts) {
  const Dialect& d = e_.dialect;
  const auto constant = [&](const std::string& name, const std::string& value) {
    e_.out.line(d.exact(dtype(id), name, value));
  };
  const std::string zero = e_.zero(dtype(id));
  e_.open(d.when(part_count(id) + " > " + d.literal(Type::U32, 0)));
  constant("values", d.cast(type_of(dtype(id)), part_count(id)));
  constant("sum", sum_of_parts);
  constant("above", "sum / values");
  constant("squares", squares_of_parts + " - sum * above");
  constant("centre", pivot + " + above");
  join_welford(id, to, "values", "centre", "(" + d.choose("squares < " + zero, zero, "squares") + ")");
  e_.close();
}

void Accumulators::take(const InnerWork& work, const std::string& element, const std::string& condition) {
  const std::string exists =
      condition.empty() || where_.empty() ? condition + where_ : condition + " && " + where_;
  take_columns(work, element, exists);
  for (ExprId id : work.reductions) {
    const Expr& expr = k_.exprs[id];
    const bool always = exists.empty();
    std::string value = e_.value(expr.args[0]);
    if (is_welford(id)) {
      take_deviation(id, value, element, exists);
      continue;
    }
    if (!always) value = "(" + e_.dialect.choose(exists, value, identity(id)) + ")";
    if (has_magnitude(id)) {
      const std::string r = name(id), all = magnitude(id);
      e_.out.line(r + " = " + (expr.op == Op::Max ? "max(" : "min(") + r + ", " + value + ");");
      e_.out.line(all + " = " + all + " + abs(" + value + ");");
      continue;
    }
    const std::string to = has_part(id) ? part(id) + element : name(id);
    const std::string product = has_part(id) ? with_product(work, expr.args[0], to) : "";
    if (!always && !product.empty()) {
      e_.out.line(to + " = " + e_.dialect.choose(exists, product, to) + ";");
      continue;
    }
    e_.out.line(to + " = " + (product.empty() ? e_.combine(expr.op, expr.dtype, to, value) : product) + ";");
  }
}

void Accumulators::take_columns(const InnerWork& work, const std::string& element,
                                const std::string& exists) {
  for (const ir::Store* partial : work.partials) {
    const ExprId of = k_.exprs[partial->value].args[0];
    const std::string to = column_sum(partial->value) + "[i]" + element, product = with_product(work, of, to),
                      sum = product.empty() ? e_.combine(Op::Sum, DType::f32, to, e_.value(of)) : product;
    e_.out.line(to + " = " + (exists.empty() ? sum : e_.dialect.choose(exists, sum, to)) + ";");
  }
}

void Accumulators::settle(const InnerWork& work) {
  for (ExprId id : work.reductions) {
    if (!has_magnitude(id)) continue;
    const std::string all = magnitude(id), is_nan = "sn_is_nan_" + std::string(name_of(k_.exprs[id].dtype));
    e_.out.line(name(id) + " = " + e_.dialect.choose(is_nan + "(" + all + ")", all, name(id)) + ";");
  }
}

std::string Accumulators::with_product(const InnerWork& work, ExprId id, const std::string& to) const {
  const Expr& expr = k_.exprs[id];
  if (expr.kind != ir::ExprKind::Elementwise || expr.op != Op::Mul ||
      std::find(work.values.begin(), work.values.end(), id) == work.values.end())
    return "";
  return "fma(" + e_.value(expr.args[0]) + ", " + e_.value(expr.args[1]) + ", " + to + ")";
}

void Accumulators::join_welford(ExprId id, const std::string& n, const std::string& mean_of_it,
                                const std::string& m2) {
  join_welford(id, variables(id), n, mean_of_it, m2);
}

void Accumulators::join_welford(ExprId id, const std::vector<std::string>& to, const std::string& n,
                                const std::string& mean_of_it, const std::string& m2) {
  const Dialect& d = e_.dialect;
  e_.out.line("sn_join_welford_" + std::string(name_of(dtype(id))) + "(" + d.changed(to[0]) + ", " +
              d.changed(to[1]) + ", " + d.changed(to[2]) + ", " + n + ", " + mean_of_it + ", " + m2 + ");");
}

std::vector<std::vector<ExprId>> Accumulators::joined_together(const std::vector<ExprId>& ids) const {
  std::vector<std::vector<ExprId>> lists;
  // Of clusters, one at a time: together, with fewer registers than it would like, ptxas of CUDA 13.0 has
  // made code that fails (a row of 50,257 with a maximum and a sum, three blocks to a multiprocessor).
  const bool alone = k_.row_cluster > 1;
  for (ExprId id : ids) {
    const auto with = std::find_if(lists.begin(), lists.end(), [&](const std::vector<ExprId>& list) {
      return !alone && e_.dialect.joins_together && !is_welford(id) && !is_welford(list[0]) &&
             dtype(list[0]) == dtype(id);
    });
    with == lists.end() ? lists.push_back({id}) : with->push_back(id);
  }
  return lists;
}

void Accumulators::join_workgroup(const std::vector<ExprId>& ids) {
  for (const std::vector<ExprId>& list : joined_together(ids))
    list.size() == 1 ? join_alone(list[0]) : join_several(list);
}

void Accumulators::join_alone(ExprId id) {
  const Expr& expr = k_.exprs[id];
  const std::string function =
      "sn_workgroup_" + std::string(name_of(expr.op)) + "_" + std::string(name_of(expr.dtype));
  std::string& text = e_.functions[function];
  const std::vector<std::string> values = variables(id);
  const int lanes = k_.row_elements > 0 ? k_.row_lanes : e_.target.workgroup_size;
  if (text.empty())
    text = is_welford(id)
               ? e_.dialect.workgroup_welford(function, expr.dtype, e_.target, lanes)
               : e_.dialect.workgroup_function(function, expr.op, expr.dtype,
                                               e_.combine(expr.op, expr.dtype, "v", "w"), e_.target, lanes);
  e_.out.line(e_.dialect.workgroup_call(function, expr.dtype, values, e_.lanes(), comes_again_, e_.target));
  if (k_.row_cluster > 1) join_cluster({id}, values);
}

void Accumulators::join_several(const std::vector<ExprId>& ids) {
  const DType type = dtype(ids[0]);
  std::string function = "sn_workgroup";
  std::vector<std::string> combines, values;
  for (ExprId id : ids) {
    const std::string number = std::to_string(values.size());
    function += "_" + std::string(name_of(k_.exprs[id].op));
    combines.push_back(e_.combine(k_.exprs[id].op, type, "v" + number, "w" + number));
    values.push_back(name(id));
  }
  function += "_" + std::string(name_of(type));
  const int lanes = k_.row_elements > 0 ? k_.row_lanes : e_.target.workgroup_size;
  e_.functions[function] =
      e_.dialect.workgroup_function_of_several(function, type, combines, e_.target, lanes);
  e_.out.line(e_.dialect.workgroup_call(function, type, values, e_.lanes(), comes_again_, e_.target));
  if (k_.row_cluster > 1) join_cluster(ids, values);
}

void Accumulators::join_cluster(const std::vector<ExprId>& ids, const std::vector<std::string>& values) {
  const DType type = dtype(ids[0]);
  std::string function = "sn_cluster", join;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string number = std::to_string(i), v = "v" + number;
    function += "_" + std::string(name_of(k_.exprs[ids[i]].op));
    join +=
        (join.empty() ? "" : " ") + v + " = " + e_.combine(k_.exprs[ids[i]].op, type, v, "w" + number) + ";";
  }
  if (is_welford(ids[0]))
    join = "sn_join_welford_" + std::string(name_of(type)) + "(v0, v1, v2, w0, w1, w2);";
  function += "_" + std::string(name_of(type));
  e_.functions[function] = e_.dialect.cluster_function(function, type, values.size(), join, k_.row_cluster);
  e_.out.line(e_.dialect.cluster_call(function, name(ids[0]), values, kClusterRank));
}

void Accumulators::begin_cluster() {
  const std::string number = e_.dialect.cast(Type::U32, e_.dialect.workgroup),
                    all = e_.dialect.literal(Type::U32, k_.row_cluster);
  e_.out.line(e_.dialect.constant(Type::U32, kClusterRank, number + " % " + all));
  for (ExprId id = 0; id < k_.exprs.size(); ++id)
    if (k_.exprs[id].kind == ir::ExprKind::Reduce)
      e_.out.line(e_.dialect.cluster_memory(name(id), dtype(id), is_welford(id) ? 3 : 1, k_.row_cluster));
  e_.out.line(e_.dialect.cluster_begin);
}

void Accumulators::join_rows(ExprId id) {
  if (!has_rows_of_lanes(k_, e_.target)) return;
  const Expr& expr = k_.exprs[id];
  const std::string function =
      "sn_rows_" + std::string(name_of(expr.op)) + "_" + std::string(name_of(expr.dtype));
  std::string& text = e_.functions[function];
  if (text.empty())
    text =
        e_.dialect.row_function(function, expr.op, expr.dtype,
                                is_welford(id) ? "" : e_.combine(expr.op, expr.dtype, "v", "w"), e_.target);
  const Dialect& d = e_.dialect;
  e_.out.line(function + "(" +
              (is_welford(id) ? d.changed(count(id)) + ", " + d.changed(mean(id)) + ", " : "") +
              d.changed(name(id)) + ");");
}

std::vector<Accumulators::Partial> Accumulators::partials(const InnerWork& work,
                                                          const std::string& part) const {
  std::vector<Partial> all;
  for (ExprId id : work.reductions) {
    auto add = [&](const std::string& of) {
      const std::string slot = e_.flat(std::to_string(all.size())) + " * " + e_.flat("parts") +
                               " * points + " + part + " * points + f";
      all.push_back({of, k_.exprs[id].dtype, slot});
    };
    if (is_welford(id)) {
      add(count(id));
      add(mean(id));
    }
    add(name(id));
  }
  return all;
}

void Accumulators::put_partials(const InnerWork& work) {
  for (const Partial& p : partials(work, "part"))
    e_.out.line(e_.dialect.put_partial(p.dtype, p.slot, words_of_partial(k_), p.name));
}

void Accumulators::join_partials(const InnerWork& work, const std::string& first, const std::string& step) {
  const Dialect& d = e_.dialect;
  const std::string parts = e_.flat("parts"), one = e_.flat("1"),
                    together = e_.flat(std::to_string(kTogether));
  e_.open("");
  e_.out.line(
      d.constant(e_.flat_type, "joins",
                 d.choose(first + " < " + parts,
                          "(" + parts + " - " + first + " + " + step + " - 1) / " + step, e_.flat("0"))));
  // Several are asked for before one is waited for.
  e_.open(d.loop(e_.flat_type, "g", e_.flat("0"), "joins", together));
  const std::vector<Partial> all = partials(work, "p");
  for (const Partial& p : all) e_.out.line(d.array(type_of(p.dtype), "p_" + p.name, kTogether));
  e_.open_unrolled("u", kTogether);
  const std::string number = "g + " + e_.flat("u");
  e_.out.line(d.constant(e_.flat_type, "p",
                         first + " + (" + d.choose(number + " < joins", number, "g") + ") * " + step));
  for (const Partial& p : all)
    e_.out.line("p_" + p.name + "[u] = " + d.get_partial(p.dtype, p.slot, words_of_partial(k_)) + ";");
  e_.close();
  e_.open_unrolled("u", kTogether);
  e_.open(d.when(number + " < joins"));
  join_partial(work, "[u]");
  e_.close();
  e_.close();
  e_.close();
  e_.close();
}

void Accumulators::join_partial(const InnerWork& work, const std::string& element) {
  for (ExprId id : work.reductions) {
    const std::string r = name(id);
    if (is_welford(id))
      join_welford(id, "p_" + count(id) + element, "p_" + mean(id) + element, "p_" + r + element);
    else
      e_.out.line(r + " = " + e_.combine(k_.exprs[id].op, k_.exprs[id].dtype, r, "p_" + r + element) + ";");
  }
}

}  // namespace sinter::emit
