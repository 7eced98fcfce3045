// The executor: a plan is made once for each fingerprint and replayed afterwards.
#include "src/runtime/executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>

#include <absl/strings/str_cat.h>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/explain/observe.h"

namespace sinter::runtime {
namespace {

// Programs have few distinct traces, but one whose shapes keep changing must not grow without bound.
constexpr std::size_t kMostPlans = 1024;

std::atomic<int> forbidders{0};

ScalarValue convert(const Scalar& scalar, DType dtype) {
  ScalarValue value;
  value.dtype = dtype;
  if (is_float(dtype))
    value.real = scalar.as_double();
  else if (dtype == DType::boolean)
    value.integer = scalar.as_double() != 0;
  else
    value.integer = scalar.as_int();
  return value;
}

}  // namespace

bool compilation_forbidden() { return forbidders.load() > 0; }

/// One recorder's: plans that it has used, counts, and memory for arguments. Only the thread that holds the
/// recorder writes here, so that threads do not slow each other down.
class Executor::Own final : public trace::TraceSink::PerRecorder {
 public:
  explicit Own(Executor& executor) : executor_(executor) {
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

  absl::flat_hash_map<Key, ReadyRef> plans;
  std::uint64_t dropped = 0;  // Executor::dropped_ when `plans` was right

  std::vector<BufferView> views;
  std::vector<ScalarValue> scalars;
  std::vector<BufferRef> outputs, arena;

 private:
  Executor& executor_;
};

std::unique_ptr<trace::TraceSink::PerRecorder> Executor::attach() { return std::make_unique<Own>(*this); }

Executor::Ready::~Ready() {
  if (!state) return;
  if (executor.is_lost()) {
    [[maybe_unused]] PlanState* const stays = state.release();  // its driver is not there to end it
    return;
  }
  const auto lock = executor.lock();
  state.reset();
}

void Executor::before_fork() {
  plans_mutex_.lock();
  executables_mutex_.lock();
  owns_mutex_.lock();
  in_doubt_.before_fork();
  device_mutex_.lock();
}

void Executor::after_fork() {
  device_mutex_.unlock();
  in_doubt_.after_fork();
  owns_mutex_.unlock();
  executables_mutex_.unlock();
  plans_mutex_.unlock();
}

void Executor::lose() { lost_.store(true); }

void Executor::require_present() const {
  if (!is_lost()) return;
  throw DeviceError(
      "[device] " + backend_.traits().name +
      " was in use when this process was forked, and its driver does not survive that: use the host "
      "here, or fork before the first use of the device");
}

Statistics Executor::counts() {
  Statistics sum;
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
  const ReadyRef ready = find_or_make(flushed, own, built);
  (built ? own.plans_built : own.plans_found).add(1);
  if (observed())
    tell_observers({flushed.trace, flushed.fingerprint, ready->plan, backend_.traits(), ready->executables,
                    built, base::environment().fusion});
  launch(*ready, flushed, own);
}

Executor::ReadyRef Executor::find_or_make(const trace::Flushed& flushed, Own& own, bool& built) {
  const base::Environment& environment = base::environment();
  const Key key{flushed.fingerprint, environment.fusion, environment.recipe_bytes};
  if (const std::uint64_t dropped = dropped_.load(std::memory_order_relaxed); own.dropped != dropped) {
    own.plans.clear();
    own.dropped = dropped;
  }
  ReadyRef& ready = own.plans[key];
  if (!ready) {
    try {
      ready = find_shared_or_make(key, flushed.trace, built);
    } catch (...) {
      own.plans.erase(key);
      throw;
    }
  }
  // Written only where it changes: many threads read it.
  const std::uint64_t now = made_.load(std::memory_order_relaxed);
  if (ready->last_used.load(std::memory_order_relaxed) != now)
    ready->last_used.store(now, std::memory_order_relaxed);
  return ready;
}

/// Of several threads that want the same new plan one makes it, and the others wait for it.
Executor::ReadyRef Executor::find_shared_or_make(const Key& key, const trace::Trace& trace, bool& built) {
  std::promise<ReadyRef> promise;
  std::shared_future<ReadyRef> made_by_other;
  {
    std::lock_guard lock(plans_mutex_);
    if (const auto it = plans_.find(key); it != plans_.end()) return it->second;
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
  try {
    ReadyRef ready = make(trace, key);
    keep(key, ready);
    promise.set_value(ready);
    built = true;
    return ready;
  } catch (...) {
    {
      std::lock_guard lock(plans_mutex_);
      in_the_making_.erase(key);
    }
    promise.set_exception(std::current_exception());
    throw;
  }
}

void Executor::keep(const Key& key, const ReadyRef& ready) {
  ReadyRef oldest;  // ends without the lock
  std::lock_guard lock(plans_mutex_);
  ready->last_used.store(++made_, std::memory_order_relaxed);
  if (plans_.size() >= kMostPlans) {
    const auto at = std::min_element(plans_.begin(), plans_.end(), [](const auto& a, const auto& b) {
      return a.second->last_used.load(std::memory_order_relaxed) <
             b.second->last_used.load(std::memory_order_relaxed);
    });
    oldest = std::move(at->second);
    plans_.erase(at);
    ++dropped_;
  }
  plans_[key] = ready;
  in_the_making_.erase(key);
}

Executor::ReadyRef Executor::make(const trace::Trace& trace, const Key& key) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  auto ready = std::make_shared<Ready>(*this);
  plan::PlanOptions options;
  options.fusion = key.fusion;
  options.recipe_bytes = key.recipe_bytes;
  ready->plan = plan::make_plan(trace, backend_.traits(), options);
  const auto planned = Clock::now();

  std::vector<std::string> texts;
  for (const ir::Kernel& kernel : ready->plan.kernels) texts.push_back(ir::to_string(kernel));
  prepare_executables(*ready, texts);
  if (base::logs("plan")) {
    auto ms = [](auto duration) { return std::chrono::duration<double, std::milli>(duration).count(); };
    base::log_line("plan", absl::StrCat(backend_.traits().name, ": planned in ", ms(planned - start),
                                        " ms, prepared in ", ms(Clock::now() - planned),
                                        " ms: ", plan::to_string(ready->plan, trace)));
  }
  if (base::logs("ir"))
    for (std::size_t k = 0; k < texts.size(); ++k)
      base::log_line("ir", absl::StrCat("kernel ", k, "\n", texts[k]));
  return ready;
}

void Executor::prepare_executables(Ready& ready, const std::vector<std::string>& texts) {
  const plan::Plan& plan = ready.plan;
  std::vector<ExecutableRef> kernels(texts.size());
  std::vector<const ir::Kernel*> wanted;
  std::vector<std::size_t> places;
  {
    std::lock_guard lock(executables_mutex_);
    for (std::size_t k = 0; k < texts.size(); ++k) {
      if (const auto it = kernels_.find(texts[k]); it != kernels_.end()) {
        kernels[k] = it->second;
        continue;
      }
      wanted.push_back(&plan.kernels[k]);
      places.push_back(k);
    }
  }
  std::vector<ExecutableRef> compiled = backend_.compile(wanted);
  {
    // Another thread may have compiled the same: all use what came first.
    std::lock_guard lock(executables_mutex_);
    for (std::size_t i = 0; i < places.size(); ++i)
      kernels[places[i]] = kernels_.try_emplace(texts[places[i]], std::move(compiled[i])).first->second;
  }
  for (const plan::Launch& launch : plan.launches) {
    if (const auto* kernel = std::get_if<std::uint32_t>(&launch.what)) {
      ready.executables.push_back(kernels[*kernel]);
      continue;
    }
    const library::LibraryOp& op = *std::get<library::LibraryOpRef>(launch.what);
    const std::string name = absl::StrCat(op.kind().name(), " ", op.key());
    ExecutableRef executable;
    {
      std::lock_guard lock(executables_mutex_);
      if (const auto it = libraries_.find(name); it != libraries_.end()) executable = it->second;
    }
    if (!executable) {
      executable = backend_.prepare(op);
      std::lock_guard lock(executables_mutex_);
      executable = libraries_.try_emplace(name, std::move(executable)).first->second;
    }
    ready.executables.push_back(std::move(executable));
  }
  ready.needs.faults = plan.faults;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const plan::Launch& launch = plan.launches[i];
    Executable& executable = *ready.executables[i];
    backend_.wait_until_ready(executable, launch.ints, launch.members);
    ready.needs.workspace_bytes =
        std::max(ready.needs.workspace_bytes, executable.workspace_bytes(launch.ints, launch.members));
  }
}

namespace {

/// A run on the backend, abandoned where an exception leaves before `submit`.
class Run {
 public:
  Run(Backend& backend, std::unique_ptr<PlanState>* state, const RunNeeds& needs) : backend_(backend) {
    backend.begin(state, needs);
  }
  ~Run() {
    if (!ended_) backend_.abandon();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  FaultReportRef submit() {
    FaultReportRef report = backend_.submit();
    ended_ = true;
    return report;
  }

 private:
  Backend& backend_;
  bool ended_ = false;
};

}  // namespace

void Executor::launch(Ready& ready, trace::Flushed& flushed, Own& own) {
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
  auto start = [&](std::size_t i) {
    const plan::Launch& launch = plan.launches[i];
    own.views.clear();
    for (const plan::Binding& binding : launch.buffers)
      own.views.push_back({buffer_of(binding).get(), binding.byte_offset});
    own.scalars.clear();
    for (const plan::ScalarArgument& argument : launch.scalars)
      own.scalars.push_back(convert(plan.scalar(argument.number, flushed.trace), argument.dtype));
    flushed.started = true;
    backend_.launch(*ready.executables[i],
                    {own.views, launch.ints, own.scalars, launch.members, launch.first_fault});
  };

  std::vector<FaultReportRef> reports;
  {
    const auto lock = this->lock();
    for (std::size_t bytes : plan.output_bytes) own.outputs.push_back(backend_.allocate(bytes));
    for (std::size_t bytes : plan.arena_bytes) own.arena.push_back(backend_.allocate(bytes));
    if (!base::logs("launch")) {
      Run run(backend_, &ready.state, ready.needs);
      for (std::size_t i = 0; i < plan.launches.size(); ++i) start(i);
      if (FaultReportRef report = run.submit()) reports.push_back(std::move(report));
    } else {
      // One launch at a time: slower as a whole, but each line is the time of its own work.
      for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        Run run(backend_, nullptr, ready.needs);
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
    value.buffer = buffer_of(placement.memory);
    value.layout = placement.layout;
  }
  flushed.unstored = plan.unstored;
  note_faults(ready, flushed, std::move(reports));
}

/// Tells the values of the run that they are in doubt: for indices of its own, or with inputs that are.
void Executor::note_faults(Ready& ready, trace::Flushed& flushed, std::vector<FaultReportRef> reports) {
  const plan::Plan& plan = ready.plan;
  std::vector<RunFaults::Input> inputs;
  const bool looks = in_doubt_.settle_ended() || flushed.has_failed_inputs;
  for (trace::ValueId id = 0; looks && id < flushed.values.size(); ++id) {
    const trace::Value& value = *flushed.values[id];
    if (!flushed.trace.values[id].external) continue;
    if (value.failure)
      inputs.push_back({id, std::make_shared<KnownFailure>(value.failure), id});
    else if (value.doubt && (!value.doubt->done() || value.doubt->failure_of(value.pending_id)))
      inputs.push_back({id, value.doubt, value.pending_id});
  }
  if (reports.empty() && inputs.empty()) return;
  std::vector<RunFaults::Place> places;
  for (std::uint32_t word = 0; word < plan.faults; ++word) {
    const trace::OpRecord& record = flushed.trace.ops[plan.origins.record_of(word)];
    places.push_back({record.file, record.line});
  }
  const auto doubt =
      std::make_shared<RunFaults>(std::shared_ptr<const plan::Plan>(ready.shared_from_this(), &plan),
                                  std::move(reports), std::move(inputs), std::move(places));
  const bool is_known = doubt->done();
  for (const plan::Placement& placement : plan.placements) {
    trace::Value& value = *flushed.values[placement.value];
    if (!is_known)
      value.doubt = doubt;
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
