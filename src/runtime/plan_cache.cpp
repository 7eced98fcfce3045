// Keeps plans and executables within their limit.
#include "src/runtime/plan_cache.h"

#include <algorithm>

#include <absl/strings/str_cat.h>

#include "jit/ir/held_bytes.h"
#include "jit/plan/held_bytes.h"
#include "src/base/env.h"

namespace sinter::runtime {
namespace {

// Room is made for some more than is asked for, so that not each new plan ends an old one: whoever keeps
// references looks all of them up again when one is gone.
constexpr std::size_t kSlack = 16;  // the part of the limit

std::size_t bytes_of(const PlanCache::Part& part) {
  // The entry, its place in the table and in the queue, and the name.
  return sizeof(ExecutableEntry) + 128 + ir::held_bytes(part.name) + part.executable->held_bytes();
}

std::size_t bytes_of(const ReadyPlan& ready) {
  std::size_t bytes =
      sizeof(ReadyPlan) + 256 + plan::held_bytes(ready.plan) + ir::held_bytes(ready.executables);
  // What devices keep of a plan from run to run: its arguments.
  for (const plan::Launch& launch : ready.plan.launches)
    bytes += 128 + 24 * (launch.buffers.size() + launch.ints.size() + launch.scalars.size());
  return bytes;
}

}  // namespace

/// What has left the cache: it ends without the lock, as the end of driver objects takes the device's.
struct PlanCache::Gone {
  std::vector<ReadyPlanRef> plans;
  std::vector<std::unique_ptr<ExecutableEntry>> executables;
  std::vector<std::string> lines;
  ~Gone() {
    for (const std::string& line : lines) base::log_line("plan", line);
  }
};

std::string PlanCache::describe(const CacheEntry& entry) const {
  std::string what;
  if (entry.what == CacheEntry::What::Plan) {
    what = absl::StrCat("a plan of ", static_cast<const PlanEntry&>(entry).launches, " launches");
  } else {
    const std::string& name = static_cast<const ExecutableEntry&>(entry).name;
    what = "\"" + name.substr(0, name.find('\n')) + "\"";
  }
  return absl::StrCat(device_, ": ", what, " of ", entry.bytes(), " bytes");
}

ReadyPlanRef PlanCache::find(const PlanKey& key) {
  std::lock_guard lock(mutex_);
  const auto it = plans_.find(key);
  return it == plans_.end() ? nullptr : it->second;
}

ExecutableEntry* PlanCache::find_entry(std::string_view name) {
  const auto it = executables_.find(name);
  return it == executables_.end() ? nullptr : it->second.get();
}

bool PlanCache::find(Part& part) {
  std::lock_guard lock(mutex_);
  ExecutableEntry* const entry = find_entry(part.name);
  if (!entry) return false;
  order_.use(*entry);
  part.executable = entry->executable;
  part.cost = entry->cost();
  return true;
}

ExecutableEntry& PlanCache::add_entry(const Part& part, std::size_t bytes) {
  auto made = std::make_unique<ExecutableEntry>(part.name, part.executable);
  ExecutableEntry& entry = *made;
  executables_.try_emplace(entry.name, std::move(made));
  try {
    order_.add(entry, bytes, part.cost);
  } catch (...) {
    executables_.erase(entry.name);
    throw;
  }
  return entry;
}

void PlanCache::add(Part& part) {
  const std::size_t bytes = bytes_of(part);
  Gone gone;
  std::lock_guard lock(mutex_);
  if (ExecutableEntry* const entry = find_entry(part.name)) {
    part.executable = entry->executable;
    part.cost = std::max(part.cost, entry->cost());
    return;
  }
  make_room(bytes, gone);
  if (!order_.lacks_room(bytes)) add_entry(part, bytes);
}

/// Does what can be done: what is held stays.
void PlanCache::make_room(std::size_t bytes, Gone& gone) {
  if (!order_.lacks_room(bytes) || bytes > order_.limit()) return;
  const std::size_t wanted = std::min(bytes + order_.limit() / kSlack, order_.limit());
  while (order_.lacks_room(wanted)) {
    auto* const entry = static_cast<CacheEntry*>(order_.next_to_go());
    if (!entry) return;
    drop(*entry, gone);
  }
}

void PlanCache::drop(CacheEntry& entry, Gone& gone) {
  if (base::logs("plan"))
    gone.lines.push_back(absl::StrCat("dropped ", describe(entry), ": it is worth ", entry.value(),
                                      " ns of making for a byte, the least of ", plans_.size(), " plans and ",
                                      executables_.size(), " executables of ", order_.bytes(),
                                      " bytes; the limit is ", order_.limit()));
  if (entry.what == CacheEntry::What::Executable) {
    const auto at = executables_.find(static_cast<ExecutableEntry&>(entry).name);
    gone.executables.push_back(std::move(at->second));
    order_.remove(entry);
    executables_.erase(at);
    return;
  }
  auto& plan = static_cast<PlanEntry&>(entry);
  const auto at = plans_.find(plan.key);
  gone.plans.push_back(at->second);
  order_.remove(entry);
  for (ExecutableEntry* const executable : plan.executables) order_.release(*executable);
  plan.executables.clear();
  plans_.erase(at);
  plan.is_kept.store(false, std::memory_order_relaxed);
  dropped_.fetch_add(1, std::memory_order_release);
}

void PlanCache::keep(const PlanKey& key, const ReadyPlanRef& ready, double cost,
                     std::span<const Part> parts) {
  std::vector<std::size_t> bytes_of_parts;
  std::size_t all = bytes_of(*ready);
  const std::size_t own = all;
  for (const Part& part : parts) all += bytes_of_parts.emplace_back(bytes_of(part));
  Gone gone;
  PlanEntry& entry = ready->entry;
  if (all > order_.limit()) {
    if (base::logs("plan"))
      gone.lines.push_back(absl::StrCat(device_, ": a plan of ", ready->plan.launches.size(),
                                        " launches is not kept: it holds ", all, " bytes with ", parts.size(),
                                        " executables; the limit is ", order_.limit()));
    return;
  }
  entry.key = key;
  entry.launches = ready->plan.launches.size();
  entry.executables.reserve(parts.size());

  std::lock_guard lock(mutex_);
  if (plans_.contains(key)) return;
  const auto let_go = [&] {
    for (ExecutableEntry* const executable : entry.executables) order_.release(*executable);
    entry.executables.clear();
  };
  try {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      ExecutableEntry* executable = find_entry(parts[p].name);
      if (executable) {
        // It may hold more by now: code for more sizes.
        order_.revise(*executable, bytes_of_parts[p], std::max(executable->cost(), parts[p].cost));
      } else {
        make_room(bytes_of_parts[p], gone);
        executable = &add_entry(parts[p], bytes_of_parts[p]);
      }
      order_.hold(*executable);
      entry.executables.push_back(executable);
    }
    make_room(own, gone);
    plans_.try_emplace(key, ready);
    // A plan that goes lets its kernels go: it is worth what both are together, by its share in them.
    double worth = cost, weight = static_cast<double>(own);
    for (const ExecutableEntry* const executable : entry.executables) {
      worth += executable->cost() / static_cast<double>(executable->holds());
      weight += static_cast<double>(executable->bytes()) / static_cast<double>(executable->holds());
    }
    try {
      order_.add(entry, own, worth / weight * static_cast<double>(own));
      entry.is_kept.store(true, std::memory_order_relaxed);
    } catch (...) {
      plans_.erase(key);
      throw;
    }
  } catch (...) {
    let_go();
    throw;
  }
}

PlanCache::Counts PlanCache::counts() {
  std::lock_guard lock(mutex_);
  return {plans_.size(), executables_.size(), order_.bytes(), dropped_.load(std::memory_order_relaxed)};
}

}  // namespace sinter::runtime
