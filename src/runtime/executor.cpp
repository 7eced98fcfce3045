// The executor: a plan is made once for each fingerprint and replayed afterwards.
#include "src/runtime/executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <optional>

#include <absl/strings/str_cat.h>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/explain/observe.h"
#include "src/runtime/launch_failure.h"
#include "src/runtime/tuning.h"
#include "src/trace/indexed_ops.h"

namespace sinter::runtime {
namespace {

std::atomic<int> forbidders{0};

using Clock = std::chrono::steady_clock;

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// Bytes of plans and executables that a device keeps.
std::size_t plan_limit() {
  const std::int64_t mib = base::environment().plan_limit_mib;
  return mib == 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(mib) << 20;
}

}  // namespace

Executor::Executor(Backend& backend)
    : backend_(backend),
      cache_(backend.traits().name, plan_limit()),
      planner_(backend.traits()),
      compilations_(backend) {}

bool compilation_forbidden() { return forbidders.load() > 0; }

/// One recorder's: plans that it has used, counts, and memory for arguments. Only the thread that holds the
/// recorder writes here, so that threads do not slow each other down.
class Executor::Own final : public trace::TraceSink::PerRecorder {
 public:
  Own(Executor& executor, base::QuickMutex& running) : running(running), executor_(executor) {
    std::lock_guard lock(executor_.owns_mutex_);
    executor_.owns_.push_back(this);
  }
  ~Own() override {
    std::lock_guard lock(executor_.owns_mutex_);
    std::erase(executor_.owns_, this);
  }

  struct Count {
    std::atomic<std::uint64_t> value{0};
    void add(std::uint64_t n) {  // there is one writer
      value.store(value.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    std::uint64_t get() const { return value.load(std::memory_order_relaxed); }
  };
  Count traces, plans_built, plans_found, launches, bytes_in_place;

  /// Held by the recorder's thread while it runs a trace; else by whoever lets go of its plans.
  base::QuickMutex& running;
  absl::flat_hash_map<PlanKey, ReadyPlanRef> plans;
  std::atomic<std::uint64_t> dropped{0};  // PlanCache::dropped when `plans` was right

  std::vector<BufferView> views;
  std::vector<std::int64_t> ints;
  std::vector<ScalarValue> scalars;
  std::vector<BufferRef> outputs, arena;

 private:
  Executor& executor_;
};

std::unique_ptr<trace::TraceSink::PerRecorder> Executor::attach(base::QuickMutex& running) {
  return std::make_unique<Own>(*this, running);
}

ReadyPlan::~ReadyPlan() { executor.end(*this); }

void Executor::end(ReadyPlan& ready) {
  if (is_lost()) {
    // The driver is not there to end them.
    [[maybe_unused]] PlanState* const stays = ready.state.release();
    [[maybe_unused]] const auto* const stay = new std::vector(std::move(ready.executables));
    return;
  }
  if (!ready.state) return;
  const auto lock = this->lock();
  ready.state.reset();
}

void Executor::before_fork() {
  making_mutex_.lock();
  owns_mutex_.lock();
  cache_.before_fork();
  planner_.before_fork();
  in_doubt_.before_fork();
  device_mutex_.lock();
}

void Executor::after_fork() {
  device_mutex_.unlock();
  in_doubt_.after_fork();
  planner_.after_fork();
  cache_.after_fork();
  owns_mutex_.unlock();
  making_mutex_.unlock();
}

void Executor::lose() {
  lost_.store(true);
  compilations_.lose();
}

void Executor::require_present() const {
  if (!is_lost()) return;
  throw DeviceError(
      "[device] " + backend_.traits().name +
      " was in use when this process was forked, and its driver does not survive that: use the host "
      "here, or fork before the first use of the device");
}

Statistics Executor::counts() {
  Statistics sum;
  const PlanCache::Counts kept = cache_.counts();
  sum.plans_dropped = kept.plans_dropped;
  sum.plan_bytes = kept.bytes;
  std::lock_guard lock(owns_mutex_);
  for (const Own* own : owns_) {
    sum.traces += own->traces.get();
    sum.plans_built += own->plans_built.get();
    sum.plans_found += own->plans_found.get();
    sum.launches += own->launches.get();
    sum.bytes_in_place += own->bytes_in_place.get();
  }
  return sum;
}

void Executor::run(trace::Flushed& flushed, PerRecorder& of_recorder) {
  require_present();
  Own& own = static_cast<Own&>(of_recorder);
  own.traces.add(1);
  bool built = false;
  ReadyPlanRef passing;
  ReadyPlan& ready = find_or_make(flushed, own, passing, built);
  (built ? own.plans_built : own.plans_found).add(1);
  if (observed())
    tell_observers({flushed.trace, flushed.fingerprint, ready.plan, backend_.traits(), ready.executables,
                    ready.tilings, built, base::environment().fusion});
  launch(ready, flushed, own);
}

/// The recorder's own reference keeps a known plan alive while it runs, so that threads which run the same
/// plan share no counter; `passing` keeps one that came now.
ReadyPlan& Executor::find_or_make(const trace::Flushed& flushed, Own& own, ReadyPlanRef& passing,
                                  bool& built) {
  const base::Environment& environment = base::environment();
  const PlanKey key{flushed.fingerprint, environment.fusion, environment.recipe_bytes};
  if (own.dropped.load(std::memory_order_relaxed) != cache_.dropped()) forget_dropped(own);
  if (const auto it = own.plans.find(key); it != own.plans.end()) {
    cache_.use(*it->second);
    return *it->second;
  }
  passing = find_shared_or_make(key, flushed.trace, built);
  if (own.dropped.load(std::memory_order_relaxed) != cache_.dropped()) forget_dropped(own);
  cache_.use(*passing);
  if (passing->entry.is_kept.load(std::memory_order_relaxed)) own.plans.try_emplace(key, passing);
  return *passing;
}

/// Lets go of what recorders that do not run now refer to; the others do it at their next run.
void Executor::forget_dropped(Own& own) {
  std::vector<absl::flat_hash_map<PlanKey, ReadyPlanRef>> gone;  // ends without locks
  std::lock_guard lock(owns_mutex_);
  gone.reserve(owns_.size());
  const std::uint64_t dropped = cache_.dropped();
  for (Own* const each : owns_) {
    if (each->dropped.load(std::memory_order_relaxed) == dropped) continue;
    std::unique_lock<base::QuickMutex> resting;
    if (each != &own && !(resting = std::unique_lock(each->running, std::try_to_lock)).owns_lock()) continue;
    gone.push_back(std::move(each->plans));
    each->plans.clear();
    each->dropped.store(dropped, std::memory_order_relaxed);
  }
}

/// Of several threads that want the same new plan one makes it, and the others wait for it.
ReadyPlanRef Executor::find_shared_or_make(const PlanKey& key, const trace::Trace& trace, bool& built) {
  std::promise<ReadyPlanRef> promise;
  std::shared_future<ReadyPlanRef> made_by_other;
  {
    std::lock_guard lock(making_mutex_);
    if (ReadyPlanRef known = cache_.find(key)) return known;
    if (const auto it = in_the_making_.find(key); it != in_the_making_.end()) {
      made_by_other = it->second;
    } else {
      if (compilation_forbidden())
        throw Error("[plan] a trace of " + std::to_string(trace.ops.size()) +
                    " operations has no plan yet, and compilation is forbidden here");
      in_the_making_[key] = promise.get_future().share();
    }
  }
  if (made_by_other.valid()) return made_by_other.get();
  const auto made = [&] {  // from here on it is in the cache, or too large for that
    std::lock_guard lock(making_mutex_);
    in_the_making_.erase(key);
  };
  try {
    ReadyPlanRef ready = make(key, trace);
    made();
    promise.set_value(ready);
    built = true;
    return ready;
  } catch (...) {
    made();
    promise.set_exception(std::current_exception());
    throw;
  }
}

ReadyPlanRef Executor::make(const PlanKey& key, const trace::Trace& trace) {
  const auto start = Clock::now();
  auto ready = std::make_shared<ReadyPlan>(*this);
  plan::PlanOptions options;
  options.fusion = key.fusion;
  options.recipe_bytes = key.recipe_bytes;
  ready->plan = planner_.plan(trace, options);
  const double planning = nanoseconds_since(start);
  ready->tilings = choose_tilings(ready->plan, trace, *this, backend_, compilations_);
  const std::vector<PlanCache::Part> parts = prepare_executables(*ready);
  if (base::logs("plan"))
    base::log_line("plan", absl::StrCat(backend_.traits().name, ": planned in ", planning * 1e-6,
                                        " ms, prepared in ", (nanoseconds_since(start) - planning) * 1e-6,
                                        " ms: ", plan::to_string(ready->plan, trace)));
  if (base::logs("ir"))
    for (std::size_t k = 0; k < ready->plan.kernels.size(); ++k)
      base::log_line("ir", absl::StrCat("kernel ", k, "\n", ready->plan.kernels[k].text()));
  cache_.keep(key, ready, planning, parts);
  return ready;
}

/// The plan's kernels, known or compiled now: a part for each.
std::vector<PlanCache::Part> Executor::compile(const plan::Plan& plan) {
  std::vector<PlanCache::Part> parts;
  std::vector<const ir::Kernel*> wanted;
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    parts.push_back({.name = plan.kernels[k].text()});
    if (cache_.find(parts.back())) continue;
    wanted.push_back(&*plan.kernels[k]);
    places.push_back(k);
  }
  const auto start = Clock::now();
  std::vector<ExecutableRef> compiled = backend_.compile(wanted);
  const double each = nanoseconds_since(start) / static_cast<double>(std::max<std::size_t>(places.size(), 1));
  for (std::size_t i = 0; i < places.size(); ++i) {
    PlanCache::Part& part = parts[places[i]];
    part.executable = std::move(compiled[i]);
    part.cost = each;
    part.is_new = true;
    cache_.add(part);  // another thread may have compiled the same: all use what came first
  }
  return parts;
}

/// Gives each launch its executable. Returns all of them, each once.
std::vector<PlanCache::Part> Executor::prepare_executables(ReadyPlan& ready) {
  const plan::Plan& plan = ready.plan;
  std::vector<PlanCache::Part> parts = compile(plan);
  // Places among the parts: by ops, which launches may share, and by names.
  absl::flat_hash_map<const library::LibraryOp*, std::size_t> known_ops;
  absl::flat_hash_map<std::string, std::size_t> libraries;
  std::vector<std::size_t> part_of;  // of each launch
  for (const plan::Launch& launch : plan.launches) {
    if (const auto* kernel = std::get_if<std::uint32_t>(&launch.what)) {
      part_of.push_back(*kernel);
      continue;
    }
    const library::LibraryOp& op = *std::get<library::LibraryOpRef>(launch.what);
    if (const auto same = known_ops.find(&op); same != known_ops.end()) {
      part_of.push_back(same->second);
      continue;
    }
    std::string name = absl::StrCat(op.kind().name(), " ", op.key());
    const auto [known, is_new] = libraries.try_emplace(name, parts.size());
    part_of.push_back(known->second);
    known_ops.emplace(&op, known->second);
    if (!is_new) continue;
    parts.push_back({.name = std::move(name)});
    PlanCache::Part& part = parts.back();
    if (cache_.find(part)) continue;
    const auto start = Clock::now();
    part.executable = backend_.prepare(op);
    part.cost = nanoseconds_since(start);
    part.is_new = true;
    cache_.add(part);
  }
  ready.needs.faults = plan.faults;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const plan::Launch& launch = plan.launches[i];
    PlanCache::Part& part = parts[part_of[i]];
    Executable& executable = *ready.executables.emplace_back(part.executable);
    const auto start = Clock::now();
    backend_.wait_until_ready(executable, launch.ints, launch.members);
    if (part.is_new) part.cost += nanoseconds_since(start);
    ready.needs.workspace_bytes =
        std::max(ready.needs.workspace_bytes, executable.workspace_bytes(launch.ints, launch.members));
  }
  return parts;
}

/// With the device's lock held. Many plans never run again: the first run is one launch after the other.
const Strands* Executor::strands_of_run(ReadyPlan& ready) {
  const std::size_t most = backend_.strands();
  if (most > 1 && ++ready.runs == 2) {
    ready.strands = strands_of(ready.plan, ready.executables, most);
    if (ready.strands && base::logs("plan"))
      base::log_line("plan",
                     absl::StrCat(backend_.traits().name, ": ", ready.plan.launches.size(), " launches in ",
                                  ready.strands->order.strand_count, " strands, the longest chain has ",
                                  plan::longest_chain(ready.strands->order)));
  }
  return ready.strands.get();
}

void Executor::launch(ReadyPlan& ready, trace::Flushed& flushed, Own& own) {
  const plan::Plan& plan = ready.plan;
  struct Clear {  // nothing is kept alive by memory for arguments
    Own& own;
    ~Clear() {
      own.outputs.clear();
      own.arena.clear();
    }
  } clear{own};
  auto buffer_of = [&](const plan::Binding& binding) -> BufferRef& {
    switch (binding.space) {
      case plan::Binding::Space::Input: return flushed.buffers[binding.index];
      case plan::Binding::Space::Output: return own.outputs[binding.index];
      case plan::Binding::Space::Temporary: break;
    }
    return own.arena[binding.index];
  };
  auto base_of = [&](const plan::Binding& binding) {
    return binding.space == plan::Binding::Space::Input ? flushed.bases[binding.index] : 0;
  };
  const std::vector<std::int64_t>& starts = flushed.trace.starts;
  auto ints_of = [&](const plan::Launch& launch) -> std::span<const std::int64_t> {
    if (launch.moving_ints.empty()) return launch.ints;
    own.ints.assign(launch.ints.begin(), launch.ints.end());
    for (std::size_t k = 0; k < launch.moving_ints.size(); ++k)
      own.ints[launch.moving_ints[k]] += launch.moving_parts[k].at(starts);
    return own.ints;
  };
  const Strands* strands = nullptr;
  Workspaces workspaces;
  auto strand_of = [&](std::size_t i) { return strands ? strands->order.strands[i] : std::size_t{0}; };
  auto needs = [&] {
    workspaces = strands ? strands->workspaces : Workspaces{{ready.needs.workspace_bytes}};
    for (std::size_t i = 0; !flushed.trace.moves.empty() && i < plan.launches.size(); ++i)
      if (const plan::Launch& launch = plan.launches[i]; !launch.moving_ints.empty())
        workspaces.need(strand_of(i), ready.executables[i]->workspace_bytes(ints_of(launch), launch.members));
    return RunNeeds{workspaces.from(Workspaces::kStrands), ready.needs.faults,
                    strands ? &strands->order : nullptr};
  };
  std::vector<std::pair<std::uint32_t, std::exception_ptr>> failures;  // of library ops, by node
  auto start = [&](std::size_t i) {
    const plan::Launch& launch = plan.launches[i];
    own.views.clear();
    for (const plan::Binding& binding : launch.buffers)
      own.views.push_back(
          {buffer_of(binding).get(), binding.byte_offset + static_cast<std::size_t>(base_of(binding))});
    for (const plan::MovingNumber& moving : launch.moving_bytes)
      own.views[moving.place].byte_offset += static_cast<std::size_t>(moving.parts.at(starts));
    own.scalars.clear();
    for (const plan::ScalarArgument& argument : launch.scalars)
      own.scalars.push_back(to_argument(plan.scalar(argument.number, flushed.trace), argument.dtype));
    flushed.started = true;
    try {
      const std::size_t strand = strand_of(i);
      backend_.launch(*ready.executables[i],
                      {own.views, ints_of(launch), own.scalars, launch.members, launch.first_fault,
                       launch.moving_ints, static_cast<std::uint32_t>(strand), workspaces.from(strand)});
    } catch (const LaunchFailure& failure) {
      failures.emplace_back(launch.node, failure.reason());
    }
  };

  std::vector<FaultReportRef> reports;
  {
    const auto lock = this->lock();
    for (std::size_t bytes : plan.output_bytes) own.outputs.push_back(backend_.allocate(bytes));
    for (std::size_t bytes : plan.arena_bytes) own.arena.push_back(backend_.allocate(bytes));
    if (!base::logs("launch")) {
      strands = strands_of_run(ready);
      std::optional<Run> run;
      try {
        run.emplace(backend_, &ready.state, needs());
      } catch (const DeviceError&) {
        // Workspaces of several strands may take the memory that there is not: from here on there is one.
        if (!strands) throw;
        if (base::logs("plan"))
          base::log_line("plan",
                         backend_.traits().name + ": no memory for several strands, from here on one");
        strands = nullptr;
        run.emplace(backend_, &ready.state, needs());
        ready.strands.reset();
      }
      for (std::size_t i = 0; i < plan.launches.size(); ++i) start(i);
      if (FaultReportRef report = run->submit()) reports.push_back(std::move(report));
    } else {
      // One launch at a time: slower as a whole, but each line is the time of its own work.
      for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        Run run(backend_, nullptr, needs());
        start(i);
        if (FaultReportRef report = run.submit()) reports.push_back(std::move(report));
        backend_.synchronize();
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
        base::log_line("launch", absl::StrCat(absl::Dec(i, absl::kZeroPad3), " ", took.count(), " us  ",
                                              plan::describe(plan.launches[i], flushed.trace)));
      }
    }
  }
  own.launches.add(plan.launches.size());
  own.bytes_in_place.add(plan.in_place_bytes);
  for (const plan::Placement& placement : plan.placements) {
    trace::Value& value = *flushed.values[placement.value];
    trace::Value::Stored& stored = value.store();
    stored.buffer = buffer_of(placement.memory);
    stored.layout = placement.layout;
    stored.layout.offset += placement.layout.moving.at(starts);
    stored.layout.offset += base_of(placement.memory) / static_cast<std::int64_t>(size_of(value.dtype));
  }
  if (!plan.unstored.empty()) flushed.unstored = {ready.shared_from_this(), &plan.unstored};
  note_faults(ready, flushed, std::move(reports));
  // The first one last: a value that came of several is told of that.
  for (auto failure = failures.rbegin(); failure != failures.rend(); ++failure) {
    const std::vector<bool> reached = plan.origins.reached({}, {}, {&failure->first, 1});
    for (std::size_t p = 0; p < reached.size(); ++p)
      if (reached[p]) flushed.values[plan.placements[p].value]->failure = failure->second;
  }
}

/// Tells the values of the run that they are in doubt: for indices of its own, or with inputs that are.
void Executor::note_faults(ReadyPlan& ready, trace::Flushed& flushed, std::vector<FaultReportRef> reports) {
  const plan::Plan& plan = ready.plan;
  std::vector<RunFaults::Input> inputs;
  const bool looks = in_doubt_.settle_ended() || flushed.has_failed_inputs;
  for (trace::ValueId id = 0; looks && id < flushed.values.size(); ++id) {
    const trace::Value& value = *flushed.values[id];
    if (!flushed.trace.values[id].external) continue;
    if (value.failure)
      inputs.push_back({id, std::make_shared<KnownFailure>(value.failure), id});
    else if (const auto& doubt = value.stored().doubt;
             doubt && (!doubt->done() || doubt->failure_of(value.pending_id)))
      inputs.push_back({id, doubt, value.pending_id});
  }
  if (reports.empty() && inputs.empty()) return;
  std::vector<RunFaults::Place> places;
  for (std::uint32_t word = 0; word < plan.faults; ++word) {
    const trace::OpRecord& record = flushed.trace.ops[plan.origins.record_of(word)];
    const std::span<const std::int64_t> ints = flushed.trace.ints_of(record);
    const char* const op = trace::kIndexedOps[ints.size() > 1 ? ints[1] : 0];
    const bool by_one =
        !std::string_view(op).ends_with("_nd") && !std::string_view(op).starts_with("scatter_nd");
    const Shape& table = flushed.trace.values[flushed.trace.operands_of(record)[0].index()].shape;
    places.push_back({op, record.file, record.line, by_one ? table[static_cast<std::size_t>(ints[0])] : -1});
  }
  const auto doubt =
      std::make_shared<RunFaults>(std::shared_ptr<const plan::Plan>(ready.shared_from_this(), &plan),
                                  std::move(reports), std::move(inputs), std::move(places));
  const bool is_known = doubt->done();
  for (const plan::Placement& placement : plan.placements) {
    trace::Value& value = *flushed.values[placement.value];
    if (!is_known)
      value.stored().doubt = doubt;
    else if (std::exception_ptr failure = doubt->failure_of(placement.value))
      value.failure = std::move(failure);
  }
  if (!is_known) in_doubt_.add(doubt);
}

}  // namespace sinter::runtime

namespace sinter {

ForbidCompilation::ForbidCompilation() { ++runtime::forbidders; }
ForbidCompilation::~ForbidCompilation() { --runtime::forbidders; }

}  // namespace sinter
