// A plan that serves other sizes: what was decided stays, numbers are filled in again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "jit/plan/group/group.h"
#include "jit/plan/place.h"
#include "jit/plan/plan.h"
#include "jit/plan/reuse/known_trace.h"
#include "jit/plan/reuse/numbers.h"
#include "jit/plan/reuse/outline.h"
#include "jit/plan/reuse/size_checks.h"
#include "jit/plan/reuse/sized_graph.h"

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

/// Plans traces that differ in sizes from the one that it was made of: with the same nodes in the same
/// kernels, in the same order. Lowers each kernel for the sizes at hand, once for all groups that are alike,
/// and places and binds buffers as always.
class PlanTemplate {
 public:
  /// Nothing where decisions do not carry over.
  static std::unique_ptr<PlanTemplate> make(Planned planned, const trace::Trace& trace, SkeletonRef skeleton,
                                            const ir::DeviceTraits& traits, const PlanOptions& options);

  /// Nothing where the trace differs in more than sizes, or where a decision would come out otherwise.
  std::optional<Plan> plan(const trace::Trace& trace, const SkeletonRef& skeleton);

  /// Kernels that were lowered so far, as they see sizes that had changed.
  std::uint64_t lowered() const { return lowered_; }
  /// About how much memory it takes.
  std::size_t held_bytes() const;

 private:
  PlanTemplate(Planned planned, const trace::Trace& trace, SkeletonRef skeleton,
               const ir::DeviceTraits& traits, const PlanOptions& options);

  bool matches(const trace::Trace& trace, const SkeletonRef& skeleton);
  bool set_cuts();
  bool fill_graph();
  bool fill_libraries();

  struct Form;
  void note_numbers(Form& form, Lowerer& lowerer);
  bool has_new_numbers(Form& form) const;
  bool fill_kernels();
  bool fill_kernel(Form& form);
  void forget_kernels(Form& form);
  std::vector<const KernelForm*> kernels_now() const;
  bool same_batches() const;
  Plan planned_by_outline();

  const ir::DeviceTraits& traits_;
  const PlanOptions options_;
  const LowerLimits limits_;
  Numbers numbers_;
  const KnownTrace known_;  // that it was made of
  Planned planned_;         // its graph and grouping are filled in for each trace
  std::unique_ptr<SizedGraph> sized_, sized_questions_;  // of these graphs
  struct Form {
    GroupId group;                             // the first that has it
    std::vector<NodeId> stored_later;          // nodes that it computes though they were stored in the end
    std::shared_ptr<const KernelForm> before;  // for `known_`
    // What it is lowered to, by kernel: their arguments are those of the sizes that they were last filled
    // for.
    std::vector<std::shared_ptr<KernelForm>> kernels{};
    std::shared_ptr<KernelForm> now{};  // one of `kernels`
    // The numbers that lowering looks at, and what they were when `now` was made; nothing where it looks at
    // more than these.
    std::optional<std::vector<Numbers::Id>> numbers{};
    std::vector<std::int64_t> numbers_then{};
  };
  std::vector<Form> forms_;
  std::vector<std::uint32_t> filled_first_;  // all forms, in the order in which they are filled in
  std::uint32_t kernels_made_ = 0;
  std::uint64_t lowered_ = 0;
  std::vector<Outline> outlines_;               // what was used last comes first
  std::vector<std::uint32_t> form_of_;          // of each group that is alive
  std::vector<std::uint32_t> first_call_like_;  // of each library op the first with the same sizes
};

}  // namespace sinter::plan
