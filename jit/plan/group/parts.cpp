// Looks for kernels of sums over rows beside kernels of rows, and weighs bytes.
#include "jit/plan/group/parts.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <absl/container/flat_hash_map.h>

#include "jit/ir/row_words.h"
#include "jit/plan/rewrite/passes.h"

namespace sinter::plan {
namespace {

// Kernels of rows that the sums of one kernel are tried with, and kernels that are looked at for each
// operand.
constexpr std::size_t kMostTried = 4, kMostReaders = 64;
// Rows that each part has at least, and each group of lanes in it, so that the sums are little beside them.
constexpr std::int64_t kLeastOfPart = 8, kLeastOfGroup = 2;
// Lanes of a workgroup with several rows (emit::Target::workgroup_size).
constexpr std::int64_t kLanesOfShortRows = 256;
// Groups of lanes for each compute unit in DeviceTraits::groups.
constexpr std::int64_t kGroupsOfUnit = 4;
// Where the lanes of a row wait for each other, other rows have to be under way meanwhile: so many
// workgroups, and so many bytes of their rows, for each compute unit.
constexpr std::int64_t kLeastWorkgroups = 2, kLeastBytes = 28 << 10;
// Ragged rows are dealt out by fours.
constexpr std::int64_t kPartsAtOnce = 4;

class Joiner {
 public:
  explicit Joiner(const MergedKernels& kernels)
      : graph_(kernels.graph),
        options_(kernels.options),
        storing_(kernels.storing),
        lowerer_(kernels.lowerer),
        result_(kernels.grouping),
        precedence_(kernels.precedence),
        readers_(kernels.readers) {
    // What is joined from now on stays two kernels.
    for (GroupId g = 0; g < result_.groups.size(); ++g) merged_into_.push_back(precedence_.find(g));
    for (std::size_t c = 0; c < result_.cuts.size(); ++c) {
      const Owner from = result_.owners[result_.cuts[c].producer],
                  to = result_.owners[result_.cuts[c].consumer];
      if (from.is_kernel() && to.is_kernel()) cuts_[std::minmax(from.group, to.group)].push_back(c);
    }
  }

  void run() {
    for (GroupId g = 0; g < result_.groups.size(); ++g) {
      if (!result_.groups[g].alive) continue;
      const std::vector<NodeId> sums = sums_of(g);
      if (sums.empty()) continue;
      for (const Candidate& candidate : kernels_of_rows(g, sums))
        if (try_join(candidate, g, sums)) break;
    }
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }
  double bytes(NodeId id) const {
    return static_cast<double>(node(id).shape.numel()) * static_cast<double>(size_of(node(id).dtype));
  }

  /// Rows and columns of what a sum goes over.
  std::vector<std::int64_t> loops_of(NodeId sum) const {
    const Domain domain = domain_of(graph_, node(sum));
    return rows_and_columns(domain.shape, domain.reduced);
  }

  /// The sums of a kernel that does nothing but add up rows; none of any other kernel.
  std::vector<NodeId> sums_of(GroupId g) const {
    std::vector<NodeId> sums;
    for (const NodeId id : result_.groups[g].nodes)
      if (node(id).has_inner_loops()) sums.push_back(id);
    const ir::Kernel& kernel = result_.kernels[g].kernel();
    const bool only_adds =
        kernel.phases == 2 && !kernel.tiling.any() && !kernel.attention.any() && kernel.faults == 0 &&
        std::all_of(kernel.stores.begin(), kernel.stores.end(),
                    [](const ir::Store& store) { return store.level == ir::Level::Outer; }) &&
        std::all_of(sums.begin(), sums.end(), [&](NodeId sum) {
          return place_for_parts(graph_, sum) != kNoNode && loops_of(sum) == loops_of(sums[0]);
        });
    return only_adds ? sums : std::vector<NodeId>{};
  }

  /// True iff the kernel reduces rows of so many, each of so many columns.
  bool is_of_rows(GroupId g, std::int64_t rows, std::int64_t columns) const {
    const ir::Kernel& kernel = result_.kernels[g].kernel();
    if (kernel.schedule != ir::Schedule::LanesInner || kernel.split || kernel.tiling.any() ||
        kernel.attention.any())
      return false;
    const std::vector<std::int64_t> wanted{rows, columns};
    const std::vector<NodeId>& nodes = result_.groups[g].nodes;
    return std::all_of(nodes.begin(), nodes.end(), [&](NodeId id) {
      return !node(id).has_inner_loops() ||
             (!node(id).is(OpClass::Contract) && !node(id).is(OpClass::Combine) && loops_of(id) == wanted);
    });
  }

  /// A kernel of rows that reads or writes so many bytes of what sums read.
  struct Candidate {
    GroupId rows;
    double shared = 0;
    std::vector<SizeChecks::Term> terms{};
  };

  /// From most of it to least.
  std::vector<Candidate> kernels_of_rows(GroupId g, const std::vector<NodeId>& sums) const {
    const std::vector<std::int64_t> loops = loops_of(sums[0]);
    std::vector<Candidate> found;
    const auto add = [&](GroupId other, NodeId id) {
      if (other == g || !result_.groups[other].alive || !is_of_rows(other, loops[1], loops[2])) return;
      auto known =
          std::find_if(found.begin(), found.end(), [&](const Candidate& c) { return c.rows == other; });
      if (known == found.end()) known = found.insert(known, {other});
      known->shared += bytes(id);
      known->terms.push_back({node(id).shape, static_cast<double>(size_of(node(id).dtype))});
    };
    for (const BufferUse& use : result_.kernels[g].buffers) {
      if (!use.read) continue;
      std::vector<GroupId> users;
      if (result_.owners[use.node].is_kernel()) users.push_back(result_.owners[use.node].group);
      const std::vector<GroupId>& readers = readers_[use.node];
      for (std::size_t r = 0; r < std::min(readers.size(), kMostReaders); ++r)
        users.push_back(merged_into_[readers[r]]);
      std::sort(users.begin(), users.end());
      users.erase(std::unique(users.begin(), users.end()), users.end());
      for (const GroupId user : users)
        if (uses(user, use.node)) add(user, use.node);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.shared > b.shared; });
    if (found.size() > kMostTried) found.resize(kMostTried);
    return found;
  }

  bool uses(GroupId g, NodeId id) const {
    const std::vector<BufferUse>& buffers = result_.kernels[g].buffers;
    return std::any_of(buffers.begin(), buffers.end(), [&](const BufferUse& use) { return use.node == id; });
  }

  bool reads_of(GroupId reader, GroupId writer) const {
    const std::vector<BufferUse>& buffers = result_.kernels[reader].buffers;
    return std::any_of(buffers.begin(), buffers.end(), [&](const BufferUse& use) {
      return use.read && result_.owners[use.node] == Owner::kernel(writer);
    });
  }

  /// Says why the two are apart, in place of what was said when they were tried as one.
  bool note(GroupId rows, GroupId columns, const std::string& reason) {
    std::vector<std::size_t>& cuts = cuts_[std::minmax(rows, columns)];
    if (cuts.empty()) {
      cuts.push_back(result_.cuts.size());
      result_.cuts.push_back({result_.groups[rows].nodes[0], result_.groups[columns].nodes[0], ""});
    }
    for (const std::size_t cut : cuts) result_.cuts[cut].reason = reason;
    return false;
  }

  bool try_join(const Candidate& candidate, GroupId columns, const std::vector<NodeId>& sums) {
    const GroupId rows = candidate.rows;
    const bool is_much = candidate.shared > options_.launch_bytes;
    if (graph_.checks)
      graph_.checks->compare(SizeChecks::Is::More, candidate.terms, -options_.launch_bytes, is_much);
    if (!is_much) return false;
    note_columns(node(node(sums[0]).operands[0]), node(sums[0]).ints[0]);
    if (reads_of(rows, columns) || !precedence_.may_join(precedence_.find(rows), precedence_.find(columns)))
      return note(rows, columns, "sums over rows that what comes before the rows' kernel waits for");
    const Group before = result_.groups[rows];
    const std::int64_t known = parts_of(rows);
    const std::vector<NodeId> operands = put_parts(rows, sums);
    const std::optional<std::string> refusal = why_not(rows, columns, sums, operands, known);
    if (refusal) {
      take_parts_back(rows, before, sums, operands);
      return note(rows, columns, *refusal);
    }
    drop_unread(rows, columns);
    const LoweredGroup of_rows = lowered(rows), of_columns = lowered(columns);
    for (const BufferUse& use : of_rows.buffers)
      if (use.read) readers_[use.node].push_back(rows);
    result_.kernels[rows] = of_rows;
    result_.kernels[columns] = of_columns;
    precedence_.join(precedence_.find(columns), precedence_.find(rows));
    note(rows, columns, "sums over all rows, of which the rows' kernel adds up parts");
    return true;
  }

  /// The sums read parts, which the kernel of rows stores; gives what they read before.
  std::vector<NodeId> put_parts(GroupId rows, const std::vector<NodeId>& sums) {
    Group& group = result_.groups[rows];
    const std::int64_t known = parts_of(rows), parts = known > 0 ? known : kPartsAtOnce;
    std::vector<NodeId> operands;
    for (const NodeId sum : sums) {
      const NodeId place = place_for_parts(graph_, sum), operand = node(sum).operands[0];
      operands.push_back(operand);
      Shape shape = node(operand).shape;
      for (std::size_t d = 0; d < shape.rank(); ++d)
        if (node(sum).ints[0] >> d & 1) shape[d] = 1;
      graph_.nodes[place].shape = shape;
      graph_.nodes[place].operands = {operand};
      graph_.nodes[sum].operands[0] = place;
      result_.owners[place] = Owner::kernel(rows);
      group.stores.push_back(place);
      group.nodes.push_back(place);
    }
    std::sort(group.stores.begin(), group.stores.end());
    std::sort(group.nodes.begin(), group.nodes.end());
    set_parts(sums, parts);
    return operands;
  }

  /// Of a kernel that adds up some sums already; 0: it adds up none.
  std::int64_t parts_of(GroupId rows) const {
    for (const NodeId id : result_.groups[rows].nodes)
      if (node(id).is_partial_sum()) return node(id).shape[first_reduced(node(id))];
    return 0;
  }

  static std::size_t first_reduced(const Node& partial) {
    return static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(partial.ints[0])));
  }

  void set_parts(const std::vector<NodeId>& sums, std::int64_t parts) {
    for (const NodeId sum : sums) {
      Node& partial = graph_.nodes[node(sum).operands[0]];
      partial.shape[first_reduced(partial)] = parts;
    }
  }

  void take_parts_back(GroupId rows, const Group& before, const std::vector<NodeId>& sums,
                       const std::vector<NodeId>& operands) {
    result_.groups[rows] = before;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const NodeId parts = node(sums[i]).operands[0];
      graph_.nodes[sums[i]].operands[0] = operands[i];
      graph_.nodes[parts].operands.clear();
      graph_.nodes[parts].shape = node(sums[i]).shape;
      result_.owners[parts] = kInline;
    }
  }

  /// Chooses the number of parts too.
  std::optional<std::string> why_not(GroupId rows, GroupId columns, const std::vector<NodeId>& sums,
                                     const std::vector<NodeId>& operands, std::int64_t known) {
    const std::variant<LoweredGroup, std::string> tried = try_lower(rows);
    if (const auto* reason = std::get_if<std::string>(&tried)) return *reason;
    const LoweredGroup& of_rows = std::get<LoweredGroup>(tried);
    const std::int64_t columns_of_row = loops_of(node(sums[0]).operands[0]).back();
    if (waits_for_rows(of_rows.kernel(), columns_of_row))
      return "sums over rows, beside which too few rows would be under way";
    const std::int64_t most = choose_parts(of_rows.kernel(), node(operands[0]), node(sums[0]).ints[0]);
    if (most == 0) return "sums over rows, too few of them to keep the device busy in parts";
    // Sums that are there already have their parts, and all of these have to be under way at once.
    if (known > most) return "sums over rows, beside which too few rows would be under way";
    const std::int64_t parts = known > 0 ? known : most;
    set_parts(sums, parts);
    const std::variant<LoweredGroup, std::string> rest = try_lower(columns);
    if (const auto* reason = std::get_if<std::string>(&rest)) return *reason;
    if (!pays(rows, columns, of_rows, std::get<LoweredGroup>(rest)))
      return "sums over rows, whose parts would take most of what reading once spares";
    if (graph_.checks) graph_.checks->write(parts);
    return std::nullopt;
  }

  /// A form that does not last: parts may still be put back.
  std::variant<LoweredGroup, std::string> try_lower(GroupId g) {
    return lowerer_.lower(result_.owners, g, result_.groups[g], options_.limits);
  }

  LoweredGroup lowered(GroupId g) {
    return std::get<LoweredGroup>(lowerer_.lower(result_.owners, g, result_.groups[g]));
  }

  /// Groups of lanes with a part each that a compute unit holds at once.
  std::int64_t groups_of_unit(const ir::Kernel& kernel) const {
    const std::int64_t words = ir::words_of_row(kernel, kernel.row_elements);
    return std::max<std::int64_t>(ir::lanes_at_once(words) / lanes_of(kernel), 1);
  }
  bool has_short_rows(const ir::Kernel& kernel) const {
    return kernel.row_lanes <= options_.limits.short_row_lanes;
  }
  std::int64_t lanes_of(const ir::Kernel& kernel) const {
    return has_short_rows(kernel) ? kLanesOfShortRows : kernel.row_lanes;
  }

  bool waits_for_rows(const ir::Kernel& kernel, std::int64_t columns) const {
    if (has_short_rows(kernel)) return false;  // each subgroup goes on by itself
    std::int64_t bytes = 0;
    for (const ir::Expr& expr : kernel.exprs)
      if (ir::is_load_of_row(kernel, expr)) bytes += columns * static_cast<std::int64_t>(size_of(expr.dtype));
    const std::int64_t groups = groups_of_unit(kernel);
    return groups < kLeastWorkgroups || groups * bytes / kernel.row_cluster < kLeastBytes;
  }

  /// As many as the device has room for at once, or fewer, so that each lane has some rows. 0: so few that
  /// most of the device would be idle.
  std::int64_t choose_parts(const ir::Kernel& kernel, const Node& operand, std::int64_t reduced) const {
    const std::int64_t units = std::max<std::int64_t>(options_.limits.groups / kGroupsOfUnit, 1);
    const std::int64_t at_once = lanes_of(kernel) / kernel.row_lanes;
    for (std::int64_t groups = groups_of_unit(kernel); groups > 0; groups /= 2) {
      const std::int64_t parts = units * groups / kernel.row_cluster / kPartsAtOnce * kPartsAtOnce;
      if (parts == 0) break;
      const bool enough = has_rows(operand, reduced, parts * std::max(kLeastOfPart, at_once * kLeastOfGroup));
      if (enough) return parts;
    }
    return 0;
  }

  bool has_rows(const Node& operand, std::int64_t reduced, std::int64_t least) const {
    Shape rows;
    for (std::size_t d = 0; d < operand.shape.rank(); ++d)
      if (reduced >> d & 1) rows.push_back(operand.shape[d]);
    const bool enough = rows.numel() >= least;
    if (graph_.checks)
      graph_.checks->compare(SizeChecks::Is::AtLeast, {{rows, 1}}, -static_cast<double>(least), enough);
    return enough;
  }

  /// How a row is held, and with that how many parts there are, follows from the number of columns.
  void note_columns(const Node& operand, std::int64_t reduced) const {
    if (!graph_.checks) return;
    Shape columns;
    for (std::size_t d = 0; d < operand.shape.rank(); ++d)
      if (!(reduced >> d & 1)) columns.push_back(operand.shape[d]);
    graph_.checks->compare(SizeChecks::Is::Equal, {{columns, 1}}, -static_cast<double>(columns.numel()),
                           true);
  }

  /// True iff what is not read any more is more than what is read in its place, and than parts are written
  /// and read, by as much as a launch is worth: lanes that hold sums are fewer.
  bool pays(GroupId rows, GroupId columns, const LoweredGroup& of_rows,
            const LoweredGroup& of_columns) const {
    double spared = 0;
    std::vector<SizeChecks::Term> terms;
    const auto count = [&](const LoweredGroup& kernel, double times) {
      for (const BufferUse& use : kernel.buffers) {
        const bool is_part = node(use.node).is(OpClass::Partial);
        if (!use.read && !(is_part && use.written)) continue;
        spared += times * bytes(use.node);
        terms.push_back({node(use.node).shape, times * static_cast<double>(size_of(node(use.node).dtype))});
      }
    };
    count(result_.kernels[columns], 1);
    count(result_.kernels[rows], 1);
    count(of_columns, -1);
    count(of_rows, -1);
    const bool pays = spared > options_.launch_bytes;
    if (graph_.checks)
      graph_.checks->compare(SizeChecks::Is::More, std::move(terms), -options_.launch_bytes, pays);
    return pays;
  }

  /// What only the sums have read of the rows' results is not written any more.
  void drop_unread(GroupId rows, GroupId columns) {
    Group& group = result_.groups[rows];
    const LoweredGroup of_columns = std::get<LoweredGroup>(try_lower(columns));
    const auto is_read = [&](NodeId id) {
      if (storing_[id] == Storing::Required || node(id).is(OpClass::Partial)) return true;
      const auto reads = [&](const BufferUse& use) { return use.node == id && use.read; };
      if (std::any_of(of_columns.buffers.begin(), of_columns.buffers.end(), reads)) return true;
      return std::any_of(readers_[id].begin(), readers_[id].end(), [&](GroupId reader) {
        const GroupId now = merged_into_[reader];
        return now != rows && now != columns && uses(now, id);
      });
    };
    std::vector<NodeId> stores;
    for (const NodeId id : group.stores) {
      if (is_read(id)) {
        stores.push_back(id);
      } else if (!node(id).has_inner_loops()) {
        group.nodes.erase(std::find(group.nodes.begin(), group.nodes.end(), id));
        result_.owners[id] = kInline;
      }
    }
    group.stores = std::move(stores);
  }

  Graph& graph_;
  const GroupOptions& options_;
  const std::vector<Storing>& storing_;
  Lowerer& lowerer_;
  Grouping& result_;
  Precedence& precedence_;
  std::vector<std::vector<GroupId>>& readers_;
  std::vector<GroupId> merged_into_;  // by groups as they were made
  absl::flat_hash_map<std::pair<GroupId, GroupId>, std::vector<std::size_t>> cuts_;  // between two
};

}  // namespace

void add_up_in_parts(const MergedKernels& kernels) {
  const LowerLimits& limits = kernels.options.limits;
  if (limits.row_lanes > 0 && limits.grid_reductions) Joiner(kernels).run();
}

}  // namespace sinter::plan
