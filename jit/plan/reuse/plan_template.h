// A plan that serves other sizes: what was decided stays, numbers are filled in again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/group/group.h"
#include "jit/plan/place.h"
#include "jit/plan/plan.h"
#include "jit/plan/reuse/size_checks.h"

namespace sinter::plan {

/// All that became of a trace on the way to its plan.
struct Planned {
  std::unique_ptr<SizeChecks> checks;
  Graph graph;
  Grouping grouping;
  std::vector<Step> steps;
  std::vector<PlanCut> cuts;
  std::vector<HeldValue> held;
  std::vector<trace::Unstored> unstored;
};

/// The numbers of one program (sizes, strides and positions), and what they are in another. One to one; 0, 1
/// and -1 stay themselves, since the planner looks at them.
class Numbers {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = 0xffffffff;

  Numbers();
  /// The number of the first program, which may be new.
  Id id_of(std::int64_t number);
  /// kNone for one that the first program does not have.
  Id find(std::int64_t number) const;

  /// Begins with another program.
  void start();
  /// False where the number is something else there already.
  bool set(Id id, std::int64_t number) {
    if (is_set_[id]) return now_[id] == number;
    is_set_[id] = true;
    now_[id] = number;
    return true;
  }
  /// False where two numbers have become one.
  bool one_to_one() const;
  /// Of a number that was set.
  std::int64_t now(Id id) const { return now_[id]; }
  bool is_set(Id id) const { return is_set_[id]; }

 private:
  absl::flat_hash_map<std::int64_t, Id> ids_;
  std::vector<std::int64_t> now_;
  std::vector<bool> is_set_;
};

/// Plans traces that differ in sizes from the one that it was made of: with the same nodes in the same
/// kernels, in the same order. Lowers each kernel for the sizes at hand, once for all groups that are alike,
/// and places and binds buffers as always.
class PlanTemplate {
 public:
  /// Nothing where decisions do not carry over.
  static std::unique_ptr<PlanTemplate> make(Planned planned, const trace::Trace& trace,
                                            const ir::DeviceTraits& traits, const PlanOptions& options);

  /// Nothing where the trace differs in more than sizes, or where a decision would come out otherwise.
  std::optional<Plan> plan(const trace::Trace& trace);

  /// About how many nodes it holds.
  std::size_t nodes() const { return planned_.graph.nodes.size(); }

 private:
  PlanTemplate(Planned planned, const trace::Trace& trace, const ir::DeviceTraits& traits,
               const PlanOptions& options);

  bool matches(const trace::Trace& trace);
  bool set_numbers(const trace::Trace& trace);
  bool set_cuts();
  std::vector<Step> batched_anew() const;
  bool fill_graph(const trace::Trace& trace);
  bool same_contractions() const;
  bool fill_libraries();
  bool fill_kernels();
  bool same_batches() const;

  const ir::DeviceTraits& traits_;
  const PlanOptions options_;
  const LowerLimits limits_;
  const trace::Trace trace_;                // that it was made of
  Planned planned_;                         // its graph and grouping are filled in for each trace
  std::vector<Numbers::Id> trace_numbers_;  // of `trace_`, in the order in which `numbers_of` lists them
  std::vector<Numbers::Id> node_numbers_;   // the sizes of the nodes
  struct TakesInts {                        // a node that has the ints of its op of the trace
    NodeId node;
    std::uint32_t first_start;      // number of the op's
    std::vector<NodeStart> moving;  // of `trace_`
  };
  std::vector<TakesInts> takes_ints_;
  std::vector<NodeId> products_;  // of which some may become contractions
  struct Form {
    GroupId group;                             // the first that has it
    std::vector<NodeId> stored_later;          // nodes that it computes though they were stored in the end
    std::shared_ptr<const KernelForm> before;  // for `trace_`
    std::shared_ptr<const KernelForm> now{};
  };
  std::vector<Form> forms_;
  std::vector<std::uint32_t> form_of_;          // of each group that is alive
  std::vector<std::uint32_t> first_call_like_;  // of each library op the first with the same sizes
  Numbers numbers_;
};

}  // namespace sinter::plan
