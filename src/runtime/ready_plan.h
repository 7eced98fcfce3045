// A plan with its kernels compiled, ready to be replayed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jit/plan/plan.h"
#include "src/base/greedy_dual.h"
#include "src/runtime/backend.h"
#include "src/runtime/strands.h"
#include "src/trace/fingerprint.h"

namespace sinter::runtime {

class Executor;

/// What plans are found by.
struct PlanKey {
  trace::Fingerprint fingerprint;
  bool fusion = true;
  std::int64_t recipe_bytes = -1;
  friend bool operator==(const PlanKey&, const PlanKey&) = default;
  template <class H>
  friend H AbslHashValue(H h, const PlanKey& key) {
    return H::combine(std::move(h), key.fingerprint, key.fusion, key.recipe_bytes);
  }
};

/// What the cache of plans weighs: a plan or an executable.
struct CacheEntry : base::GreedyDual::Entry {
  enum class What : std::uint8_t { Plan, Executable };
  explicit CacheEntry(What what) : what(what) {}
  const What what;
};

struct ExecutableEntry final : CacheEntry {
  ExecutableEntry(std::string name, ExecutableRef executable)
      : CacheEntry(What::Executable), name(std::move(name)), executable(std::move(executable)) {}
  const std::string name;  // a kernel's text, or a library op with its sizes
  const ExecutableRef executable;
};

struct PlanEntry final : CacheEntry {
  PlanEntry() : CacheEntry(What::Plan) {}
  PlanKey key;
  std::size_t launches = 0;
  std::vector<ExecutableEntry*> executables;  // held as long as the plan is kept
  std::atomic<bool> is_kept{false};
};

struct ReadyPlan : std::enable_shared_from_this<ReadyPlan> {
  explicit ReadyPlan(Executor& executor) : executor(executor) {}
  ~ReadyPlan();
  Executor& executor;
  plan::Plan plan;
  std::vector<ExecutableRef> executables;  // one for each launch of the plan
  std::vector<std::string> tilings;        // likewise: which was chosen by what; empty: nothing to choose
  RunNeeds needs;
  // Only touched with the device's lock:
  std::unique_ptr<PlanState> state;  // of the backend
  std::uint64_t runs = 0;
  std::unique_ptr<const Strands> strands;  // null: one launch after the other
  PlanEntry entry;                         // the cache's
};
using ReadyPlanRef = std::shared_ptr<ReadyPlan>;

}  // namespace sinter::runtime
