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

}  // namespace

/// Equal for traces that differ in sizes only; a template looks closer.
PlanReuse::Structure PlanReuse::structure_of(const trace::Trace& trace, const PlanOptions& options) const {
  std::vector<std::uint64_t> words;
  words.reserve(trace.ops.size() * 2 + 4);
  words.push_back(trace.values.size());
  words.push_back(static_cast<std::uint64_t>(options.recipe_bytes) << 1 | options.fusion);
  for (const trace::OpRecord& op : trace.ops) {
    words.push_back(static_cast<std::uint64_t>(op.op) << 56 | static_cast<std::uint64_t>(op.again) << 55 |
                    static_cast<std::uint64_t>(op.operands[0].bits) << 8 | op.int_count);
    words.push_back(static_cast<std::uint64_t>(op.operands[1].bits) << 32 | op.operands[2].bits);
  }
  return XXH3_64bits(words.data(), words.size() * sizeof words[0]);
}

std::vector<PlanReuse::Entry> PlanReuse::take(Structure structure) {
  std::vector<Entry> taken;
  std::lock_guard lock(mutex_);
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
  const Structure structure = structure_of(trace, options);
  std::vector<Entry> entries = take(structure);
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
    std::optional<Plan> plan = entries[i].plans->plan(trace);
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
  if (auto made = PlanTemplate::make(std::move(kept), trace, traits_, options))
    entries.insert(entries.begin(), Entry{structure, std::move(made)});
  return plan;
}

}  // namespace sinter::plan
