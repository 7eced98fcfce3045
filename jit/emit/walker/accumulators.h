// The variables that reductions are summed up in, and the statements about them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "jit/emit/walker/expressions.h"
#include "jit/emit/walker/work.h"

namespace sinter::emit {

inline constexpr const char* kClusterRank = "rank";

/// Of a workgroup, whose lanes hand their columns over (Accumulators::join_columns): `variables` is how many
/// all reductions are summed up in.
std::size_t bytes_of_columns(std::size_t variables, int lanes);

/// For the reductions of one round. A float sum goes through a part (of some values, or one for each element
/// of a vector) before it goes into its accumulator. Squared deviations are joined by Welford's method ("Note
/// on a method for calculating corrected sums of squares and products", 1962): their count and mean stand
/// beside the sum. Those of a part are sums about its first value, which take no division: as that is one of
/// the values, they are at most as many times too large as there are values in the part.
class Accumulators {
 public:
  /// `live`: expressions that some store needs.
  Accumulators(Expressions& e, ir::Schedule schedule, const std::vector<bool>& live);

  static std::string name(ir::ExprId id) { return "r" + std::to_string(id); }
  bool any_part(const InnerWork& work) const;
  /// What a lane adds up of its columns for a Partial (column_sums.h): [i][k], of its vector or turn i.
  static std::string column_sum(ir::ExprId id) { return "c" + std::to_string(id); }

  // ---- statements
  void declare(const InnerWork& work);
  /// Back to the start, for values that were declared before.
  void restart(const InnerWork& work);
  /// From here to `join_columns` a lane reduces so many neighbouring columns, whose values are the elements
  /// of a vector: all reductions are sums and squared deviations of f32.
  void begin_columns(const InnerWork& work, int columns);
  /// Likewise of columns that no other lane has, until leave_columns: what they are reduced to are the
  /// elements of columns_of.
  void hold_columns(const InnerWork& work, int columns);
  static std::string columns_of(ir::ExprId id) { return of_columns(name(id)); }
  void leave_columns() { columns_ = 1; }
  /// Hands each column to the lanes that have it otherwise: `number` is that of a lane in the workgroup, and
  /// `groups` how many of them share a row.
  void join_columns(const InnerWork& work, const std::string& number, const std::string& groups);
  /// `elements`: how many parts a sum has, one or Expressions::width.
  void declare_parts(const InnerWork& work, int elements);
  void add_parts(const InnerWork& work, int elements);
  /// Takes in the values at hand; `element` is "[k]" where parts are those of a vector's elements.
  /// `exists`: a condition for the text under which there are values at hand; empty: there are.
  void take(const InnerWork& work, const std::string& element, const std::string& exists = "");
  /// From here on values are at hand under this condition for the text; empty: always.
  void take_where(const std::string& condition) { where_ = condition; }
  /// After all values have been taken in.
  void settle(const InnerWork& work);
  /// The accumulator of each lane becomes that of the whole workgroup. Those of one dtype are joined
  /// together, where the language does so.
  void join_workgroup(const std::vector<ir::ExprId>& ids);

  /// The accumulators of the rows of lanes of a workgroup, where there are such, become one.
  void join_rows(ir::ExprId id);
  /// Before the loop over rows that clusters of workgroups hold: names the workgroup's number in its cluster
  /// (`kClusterRank`), and all of a cluster's workgroups wait for each other's memory.
  void begin_cluster();

  // Of kernels whose work several workgroups share: `part` and `f` name the part and the outer point.
  void put_partials(const InnerWork& work);
  /// Takes in what the parts `first`, `first` + `step` and so on of the point have left.
  void join_partials(const InnerWork& work, const std::string& first, const std::string& step);

 private:
  /// Those of the reductions that are joined in one go, in lists.
  std::vector<std::vector<ir::ExprId>> joined_together(const std::vector<ir::ExprId>& ids) const;
  void join_alone(ir::ExprId id);
  void join_several(const std::vector<ir::ExprId>& ids);
  void take_columns(const InnerWork& work, const std::string& element, const std::string& exists);
  void join_cluster(const std::vector<ir::ExprId>& ids, const std::vector<std::string>& values);
  struct Partial {
    std::string name;
    DType dtype;
    std::string slot;
  };
  bool is_welford(ir::ExprId id) const { return k_.exprs[id].op == Op::SquaredDeviations; }
  bool has_part(ir::ExprId id) const { return k_.exprs[id].op == Op::Sum && is_float(k_.exprs[id].dtype); }
  /// Sums up the values' magnitudes beside the greatest or least: no sum of these is NaN unless one of them
  /// is.
  bool has_magnitude(ir::ExprId id) const;
  /// What a lane has of each of its columns, for one of a reduction's variables.
  static std::string of_columns(const std::string& variable) { return variable + "_of"; }
  /// The variables that a reduction is summed up in.
  std::vector<std::string> variables(ir::ExprId id) const;
  void add_columns(const InnerWork& work);
  static std::string magnitude(ir::ExprId id) { return name(id) + "_all"; }
  static std::string part(ir::ExprId id) { return "q" + std::to_string(id); }
  // Of squared deviations: how many values a part has, what is taken off them, and the sums of what is left.
  static std::string part_count(ir::ExprId id) { return part(id) + "_n"; }
  static std::string part_pivot(ir::ExprId id) { return part(id) + "_p"; }
  static std::string part_sum(ir::ExprId id) { return part(id) + "_s"; }
  void take_deviation(ir::ExprId id, const std::string& value, const std::string& element,
                      const std::string& exists);
  /// Takes a part into variables of the reduction: its first value, and the sums of what deviates from it.
  void add_deviations(ir::ExprId id, const std::vector<std::string>& to, const std::string& pivot,
                      const std::string& sum_of_parts, const std::string& squares_of_parts);
  /// The sum of a part's elements: neighbours first, then their sums.
  static std::string sum_of(const std::string& part, int elements);
  static std::string count(ir::ExprId id) { return name(id) + "_n"; }
  static std::string mean(ir::ExprId id) { return name(id) + "_mean"; }
  DType dtype(ir::ExprId id) const { return k_.exprs[id].dtype; }
  std::string identity(ir::ExprId id) const;
  /// The sum of products `to` + `id`, where `id` is a product that is made here: rounded once.
  std::string with_product(const InnerWork& work, ir::ExprId id, const std::string& to) const;
  /// Takes in so many values with that mean and these squared deviations.
  void join_welford(ir::ExprId id, const std::string& n, const std::string& mean_of_it,
                    const std::string& m2);
  /// The same for other variables of a reduction.
  void join_welford(ir::ExprId id, const std::vector<std::string>& variables, const std::string& n,
                    const std::string& mean_of_it, const std::string& m2);
  /// One of them; `element` is "[u]" where several are at hand.
  void join_partial(const InnerWork& work, const std::string& element);
  std::vector<Partial> partials(const InnerWork& work, const std::string& part) const;

  Expressions& e_;
  const ir::Kernel& k_;
  const ir::Schedule schedule_;
  int columns_ = 1;           // that a lane reduces
  std::string where_;         // take_where
  bool comes_again_ = false;  // one call alone joins reductions, over and over
};

}  // namespace sinter::emit
