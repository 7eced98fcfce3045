// Keeps templates, by structure.
#include "jit/plan/reuse/reuse.h"

#include <optional>
#include <utility>

#include <xxhash.h>

#include "jit/plan/rewrite/passes.h"

namespace sinter::plan {
namespace {

// Of all templates that are kept.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
// Of a program that a template is worth being made of.
constexpr std::size_t kMostOps = 50'000;
// Templates of one structure: sizes that fall on other sides of what decisions ask.
constexpr std::size_t kMostOfStructure = 8;
constexpr std::size_t kMostSeen = 4096;

/// Equal for traces that differ in sizes only.
std::uint64_t structure_of(const Skeleton& skeleton, const PlanOptions& options) {
  return XXH3_64bits_withSeed(&options.recipe_bytes, sizeof options.recipe_bytes,
                              skeleton.hash() + options.fusion);
}

}  // namespace

std::vector<PlanReuse::Entry> PlanReuse::take(Structure structure, const SkeletonRef& skeleton) {
  std::vector<Entry> taken;
  SkeletonRef gone = skeleton;  // ends without the lock
  std::lock_guard lock(mutex_);
  last_.swap(gone);
  for (auto at = templates_.begin(); at != templates_.end();) {
    const auto next = std::next(at);
    if (at->structure == structure) {
      taken.push_back(std::move(*at));
      templates_.erase(at);
    }
    at = next;
  }
  return taken;
}

void PlanReuse::give_back(std::vector<Entry> entries) {
  std::vector<Entry> gone;  // ends without the lock
  std::lock_guard lock(mutex_);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
    templates_.push_front(std::move(*entry));
  std::size_t bytes = 0, of_structure = 0;
  for (auto at = templates_.begin(); at != templates_.end();) {
    const auto next = std::next(at);
    const std::size_t held = at->plans->held_bytes();
    bytes += held;
    of_structure += !entries.empty() && at->structure == templates_.front().structure;
    if (bytes > kMostBytes || of_structure > kMostOfStructure) {
      bytes -= held;
      gone.push_back(std::move(*at));
      templates_.erase(at);
    }
    at = next;
  }
}

Plan PlanReuse::plan(const trace::Trace& trace, const PlanOptions& options) {
  SkeletonRef skeleton;
  {
    std::lock_guard lock(mutex_);
    skeleton = last_;
  }
  skeleton = Skeleton::of(trace, skeleton);
  const Structure structure = structure_of(*skeleton, options);
  std::vector<Entry> entries = take(structure, skeleton);
  // They go back whatever happens: a template fills itself in anew each time.
  struct GiveBack {
    PlanReuse& to;
    std::vector<Entry>& entries;
    ~GiveBack() {
      try {
        to.give_back(std::move(entries));
      } catch (const std::bad_alloc&) {  // the structure is planned from nothing next time
      }
    }
  } give_back{*this, entries};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    PlanTemplate& plans = *entries[i].plans;
    const std::uint64_t before = plans.lowered();
    std::optional<Plan> plan = plans.plan(trace, skeleton);
    lowered_.fetch_add(plans.lowered() - before, std::memory_order_relaxed);
    if (!plan) continue;
    std::swap(entries[0], entries[i]);
    reused_.fetch_add(1, std::memory_order_relaxed);
    return std::move(*plan);
  }
  if (trace.ops.size() > kMostOps) return make_plan(trace, traits_, options);
  if (entries.empty()) {
    std::lock_guard lock(mutex_);
    if (seen_once_.size() > kMostSeen) seen_once_.clear();
    if (seen_once_.insert(structure).second) return make_plan(trace, traits_, options);
  }
  Planned kept;
  Plan plan = make_plan(trace, traits_, options, passes(), &kept);
  if (auto made = PlanTemplate::make(std::move(kept), trace, skeleton, traits_, options))
    entries.insert(entries.begin(), Entry{structure, std::move(made)});
  return plan;
}

}  // namespace sinter::plan
