// The executor: a plan is made once for each fingerprint and replayed afterwards.
#include "src/runtime/executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>

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

void Executor::run(trace::Flushed& flushed) {
  std::lock_guard lock(mutex_);
  ++counts_.traces;
  const std::uint64_t built = counts_.plans_built;
  Ready& ready = find_or_make(flushed);
  if (observed())
    tell_observers({flushed.trace, flushed.fingerprint, ready.plan, backend_.traits(), ready.executables,
                    counts_.plans_built != built, base::environment().fusion});
  launch(ready, flushed);
}

Executor::Ready& Executor::find_or_make(const trace::Flushed& flushed) {
  const Key key{flushed.fingerprint, base::environment().fusion};
  if (auto it = plans_.find(key); it != plans_.end()) {
    ++counts_.plans_found;
    it->second->last_used = ++clock_;
    return *it->second;
  }
  if (compilation_forbidden())
    throw Error("[plan] a trace of " + std::to_string(flushed.trace.ops.size()) +
                " operations has no plan yet, and compilation is forbidden here");
  std::unique_ptr<Ready> ready = make(flushed.trace, key.fusion);
  ++counts_.plans_built;
  ready->last_used = ++clock_;
  if (plans_.size() >= kMostPlans) evict_oldest();
  return *(plans_[key] = std::move(ready));
}

std::unique_ptr<Executor::Ready> Executor::make(const trace::Trace& trace, bool fusion) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  auto ready = std::make_unique<Ready>();
  plan::PlanOptions options;
  options.fusion = fusion;
  ready->plan = plan::make_plan(trace, backend_.traits(), options);
  const auto planned = Clock::now();

  std::vector<const ir::Kernel*> wanted;
  std::vector<std::string> texts, wanted_texts;
  for (const ir::Kernel& kernel : ready->plan.kernels) {
    texts.push_back(ir::to_string(kernel));
    if (kernels_.contains(texts.back())) continue;
    wanted.push_back(&kernel);
    wanted_texts.push_back(texts.back());
  }
  std::vector<ExecutableRef> compiled = backend_.compile(wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) kernels_[wanted_texts[i]] = std::move(compiled[i]);

  for (const plan::Launch& launch : ready->plan.launches) {
    if (const auto* kernel = std::get_if<std::uint32_t>(&launch.what)) {
      ready->executables.push_back(kernels_.at(texts[*kernel]));
      continue;
    }
    const library::LibraryOp& op = *std::get<library::LibraryOpRef>(launch.what);
    ExecutableRef& executable = libraries_[absl::StrCat(op.kind().name(), " ", op.key())];
    if (!executable) executable = backend_.prepare(op);
    ready->executables.push_back(executable);
  }
  for (std::size_t i = 0; i < ready->executables.size(); ++i) {
    const plan::Launch& launch = ready->plan.launches[i];
    const auto* kernel = std::get_if<std::uint32_t>(&launch.what);
    backend_.wait_until_ready(*ready->executables[i]);
    ready->needs.workspace_bytes = std::max(
        ready->needs.workspace_bytes, ready->executables[i]->workspace_bytes(launch.ints, launch.members));
    if (kernel)
      ready->needs.faults += static_cast<std::uint32_t>(ready->plan.kernels[*kernel].faults * launch.members);
  }
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

void Executor::launch(Ready& ready, trace::Flushed& flushed) {
  const plan::Plan& plan = ready.plan;
  const bool timed = base::logs("launch");
  // Pairs `begin` with `abandon` where an exception leaves before `submit`. SINTER_LOG=launch skips `begin`:
  // a launch has to run at once to be timed.
  struct Run {
    Run(Backend& backend, Ready& ready, std::vector<BufferRef>& outputs, bool timed)
        : backend(backend), outputs(outputs) {
      backend.begin(timed ? nullptr : &ready.state, ready.needs);
    }
    ~Run() {
      if (!submitted) backend.abandon();
      outputs.clear();
    }
    Backend& backend;
    std::vector<BufferRef>& outputs;
    bool submitted = false;
  } run(backend_, ready, outputs_, timed);

  for (std::size_t bytes : plan.output_bytes) outputs_.push_back(backend_.allocate(bytes));
  BufferRef arena;
  if (plan.arena_bytes > 0) arena = backend_.allocate(plan.arena_bytes);

  auto buffer_of = [&](const plan::Binding& binding) -> BufferRef& {
    switch (binding.space) {
      case plan::Binding::Space::Input: return flushed.buffers[binding.index];
      case plan::Binding::Space::Output: return outputs_[binding.index];
      case plan::Binding::Space::Temporary: break;
    }
    return arena;
  };
  std::uint32_t fault = 0;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const plan::Launch& launch = plan.launches[i];
    std::chrono::steady_clock::time_point start;
    if (timed) start = std::chrono::steady_clock::now();
    views_.clear();
    for (const plan::Binding& binding : launch.buffers)
      views_.push_back({buffer_of(binding).get(), binding.byte_offset});
    scalars_.clear();
    for (const plan::ScalarArgument& argument : launch.scalars)
      scalars_.push_back(convert(plan.scalar(argument.number, flushed.trace), argument.dtype));
    backend_.launch(*ready.executables[i], {views_, launch.ints, scalars_, launch.members, fault});
    if (const auto* kernel = std::get_if<std::uint32_t>(&launch.what))
      fault += static_cast<std::uint32_t>(plan.kernels[*kernel].faults * launch.members);
    if (!timed) continue;
    backend_
        .synchronize();  // one launch at a time: slower as a whole, but each line is the time of its own work
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    base::log_line("launch", absl::StrCat(absl::Dec(i, absl::kZeroPad3), " ", took.count(), " us  ",
                                          plan::describe(launch, flushed.trace)));
  }
  backend_.submit();
  run.submitted = true;
  counts_.launches += plan.launches.size();
  counts_.bytes_in_place += plan.in_place_bytes;

  for (const plan::Placement& placement : plan.placements) {
    trace::Value& value = *flushed.values[placement.value];
    value.buffer = buffer_of(placement.memory);
    value.layout = placement.layout;
  }
}

void Executor::evict_oldest() {
  auto oldest = plans_.begin();
  for (auto it = plans_.begin(); it != plans_.end(); ++it)
    if (it->second->last_used < oldest->second->last_used) oldest = it;
  plans_.erase(oldest);
}

}  // namespace sinter::runtime

namespace sinter {

ForbidCompilation::ForbidCompilation() { ++runtime::forbidders; }
ForbidCompilation::~ForbidCompilation() { --runtime::forbidders; }

}  // namespace sinter
