// The host device: memory from a pool; a launch runs before `launch` returns.
#include "src/runtime/host/host_backend.h"

#include <chrono>
#include <cstring>
#include <fstream>
#include <list>
#include <mutex>
#include <new>
#include <string>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/host/attention/stripes.h"
#include "src/runtime/host/buffer.h"
#include "src/runtime/host/machine_code/fatal_errors.h"
#include "src/runtime/host/machine_code/jit_program.h"
#include "src/runtime/host/memory_pool.h"
#include "src/runtime/host/products/library.h"
#include "src/runtime/host/program.h"
#include "src/runtime/host/threads/counter.h"
#include "src/runtime/host/threads/floating_point.h"
#include "src/runtime/host/threads/thread_pool.h"

#if defined(__linux__)
#include <unistd.h>
#endif

namespace sinter::runtime {
namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "processor";
}

std::size_t physical_memory() {
#if defined(__linux__)
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && size > 0) return static_cast<std::size_t>(pages) * static_cast<std::size_t>(size);
#endif
  return 0;
}

// Scores of fewer bytes stay in the caches where they are stored.
constexpr std::size_t kFewestStriped = std::size_t{4} << 20;

/// A copy to or from host memory. Launches are synchronous, so nothing is left to wait for.
class Copy final : public Transfer {
 public:
  Copy(std::byte* to, const std::byte* from, std::size_t bytes) : to_(to), from_(from), bytes_(bytes) {}
  void finish() override {
    if (bytes_ > 0) std::memcpy(to_, from_, bytes_);
  }

 private:
  std::byte* to_;
  const std::byte* from_;
  std::size_t bytes_;
};

class HostBackend final : public Backend {
 public:
  /// `choose`: SINTER_HOST selects the compiler, at the first kernel unless it is `jit`. Otherwise `jit` is
  /// used unless it is null.
  HostBackend(bool choose, host::Jit* jit, bool always)
      : pool_(static_cast<std::size_t>(base::environment().host_threads)),
        chooses_(choose),
        always_compiled_(always),
        jit_(jit) {
    if (!choose && jit == nullptr) reason_ = "there is no compiler";
    if (choose && (always || names_library())) choose_once();
    traits_.name = "host";
    const std::size_t threads = pool_.size();
    traits_.description =
        processor_name() + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    traits_.is_cpu = true;
    // The host splits long reductions with few outer points over its threads itself; the planner need not.
    traits_.lanes = 1;
    traits_.groups = 1;
    traits_.max_buffers = 128;
    traits_.launch_bytes = 32 * 1024;
    traits_.work_per_byte = 4;
    traits_.batch_bytes = std::size_t{1} << 16;
    traits_.memory_bytes = physical_memory();
    const std::size_t limit = static_cast<std::size_t>(base::environment().memory_limit_mib) << 20;
    if (limit > 0 && (traits_.memory_bytes == 0 || limit < traits_.memory_bytes))
      traits_.memory_bytes = limit;
    if (base::environment().score_tiles) traits_.fewest_striped = kFewestStriped;
    traits_.narrow_products = true;
    traits_.long_fourier_lines = true;
    traits_.joins = ir::DeviceTraits::Joins::InOrder;
    traits_.channels_last = host::prefers_channels_last();
  }

  const ir::DeviceTraits& traits() const override { return traits_; }

  BufferRef allocate(std::size_t bytes) override {
    return std::make_shared<host::HostBuffer>(*this, *memory_, bytes);
  }

  void upload(const BufferView& to, std::span<const std::byte> data) override {
    begin_upload(to, data)->finish();
  }
  std::unique_ptr<Transfer> begin_upload(const BufferView& to, std::span<const std::byte> data) override {
    check_range(to, data.size(), "upload");
    return std::make_unique<Copy>(host::data_of(to), data.data(), data.size());
  }

  void download(const BufferView& from, std::span<std::byte> data) override {
    begin_download(from, data)->finish();
  }
  std::unique_ptr<Transfer> begin_download(const BufferView& from, std::span<std::byte> data) override {
    check_range(from, data.size(), "download");
    return std::make_unique<Copy>(data.data(), host::data_of(from), data.size());
  }

  const std::byte* host_memory(const BufferView& from, std::size_t bytes) override {
    check_range(from, bytes, "download");
    return host::data_of(from);
  }

  ThreadPool* threads() override { return &pool_; }

  std::size_t trim() override { return memory_->trim(); }

  std::vector<ExecutableRef> compile(std::span<const ir::Kernel* const> wanted) override {
    std::vector<std::shared_ptr<host::HostExecutable>> programs(wanted.size());
    std::vector<const ir::Kernel*> kernels(wanted.begin(), wanted.end());
    std::list<ir::ScoreStripes> striped;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]->attention.any()) kernels[i] = &striped.emplace_back(*wanted[i]).kernel;
    if (chooses_) choose_once();
    if (jit_ != nullptr) {
      pool_.run(kernels.size(), [&](std::size_t i, std::size_t) {
        try {
          programs[i] = std::make_shared<host::JitProgram>(*kernels[i], *jit_, counts_, always_compiled_);
        } catch (const CompileError& e) {
          if (host::llvm_has_ended()) return;  // the process ends: what is left is interpreted
          if (always_compiled_) throw;
          static std::once_flag said;  // a broken compiler fails for every kernel
          std::call_once(
              said, [&] { base::warn_once(std::string(e.what()) + "; kernels are interpreted instead"); });
        }
      });
    }
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (programs[i] == nullptr) programs[i] = std::make_shared<host::KernelProgram>(*kernels[i], reason_);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (kernels[i] != wanted[i]) {
        programs[i] = host::make_striped(*this, *wanted[i], std::move(striped.front()), programs[i]);
        striped.pop_front();
      }
      programs[i]->use_threads(pool_.size());
    }
    return {programs.begin(), programs.end()};
  }

  bool computes(const library::Kind& kind) const override { return host::library_table().has(kind); }
  ExecutableRef prepare(const library::LibraryOp& op) override {
    auto program = host::library_table().prepare(traits_.name, op);
    program->use_threads(pool_.size());
    return program;
  }

  bool runs_concurrently() const override { return true; }

  void begin(std::unique_ptr<PlanState>*, const RunNeeds& needs) override {
    abandon();
    if (needs.workspace_bytes == 0 && needs.faults == 0) return;
    std::shared_ptr<Faults> faults;
    try {
      if (needs.faults > 0) faults = std::make_shared<Faults>(needs.faults);
    } catch (const std::bad_alloc&) {
      throw DeviceError("[host] no memory left for a run with " + std::to_string(needs.faults) +
                        " fault words");
    }
    // One block for both: the workspace comes first, as it wants the alignment.
    const std::size_t bytes = host::whole_units(needs.workspace_bytes);
    std::byte* const memory = memory_->allocate(bytes + sizeof(Run));
    run_of_thread =
        new (memory + bytes) Run{*this, run_of_thread, {memory, needs.workspace_bytes}, std::move(faults)};
  }

  void launch(Executable& executable, const LaunchArguments& arguments) override {
    launches_.add();
    const DefaultFloatingPoint not_the_callers;
    auto& program = static_cast<host::HostExecutable&>(executable);
    const Run* const run = own_run();
    std::uint32_t* const faults = fault_words(run, program, arguments);
    host::Workers workers(pool_, run == nullptr ? std::span<std::byte>() : run->workspace);
    if (!logs_launches_) return program.run(workers, arguments, faults);
    const auto begin = std::chrono::steady_clock::now();
    program.run(workers, arguments, faults);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    base::log_line("launch", "host: " + program.describe_launch(arguments.ints, arguments.members) + ": " +
                                 std::to_string(time.count()) + " us");
  }

  FaultReportRef submit() override {
    Run** at = &run_of_thread;
    while (*at != nullptr && &(*at)->backend != this) at = &(*at)->outer;
    Run* const run = *at;
    if (run == nullptr) return nullptr;
    *at = run->outer;
    FaultReportRef faults = std::move(run->faults);
    const std::span<std::byte> workspace = run->workspace;
    run->~Run();
    memory_->release(workspace.data(), host::whole_units(workspace.size()) + sizeof(Run));
    return faults;
  }
  void abandon() noexcept override { submit(); }
  void synchronize() override {}

  BackendStatistics statistics() const override {
    const PoolStatistics pool = memory_->statistics();
    BackendStatistics result;
    result.kernels_compiled = counts_.compiled;
    result.kernels_from_memory = counts_.from_memory;
    result.kernels_from_disk = counts_.from_disk;
    result.launches = launches_.total();
    result.bytes_in_use = pool.in_use;
    result.bytes_reserved = pool.reserved;
    result.peak_bytes_in_use = pool.peak_in_use;
    return result;
  }

 private:
  /// The words of a run, which ends before anybody asks.
  class Faults final : public FaultReport {
   public:
    explicit Faults(std::size_t words) : words_(words) {}
    bool done() override { return true; }
    std::span<const std::uint32_t> words() override { return words_; }
    std::span<std::uint32_t> writable() { return words_; }

   private:
    std::vector<std::uint32_t> words_;
  };

  /// What a run needs and has, from `begin` to its end in the same thread.
  struct Run {
    HostBackend& backend;
    Run* outer;  // of another backend, that this thread began before
    std::span<std::byte> workspace;
    std::shared_ptr<Faults> faults;
  };
  // A plain pointer: a tensor may be evaluated after the thread's own objects have ended.
  static inline thread_local Run* run_of_thread = nullptr;
  Run* own_run() const {
    Run* run = run_of_thread;
    while (run != nullptr && &run->backend != this) run = run->outer;
    return run;
  }

  static std::uint32_t* fault_words(const Run* run, const host::HostExecutable& program,
                                    const LaunchArguments& arguments) {
    const std::size_t wanted = program.faults() * arguments.members;
    if (wanted == 0) return nullptr;
    const std::size_t had = run == nullptr || run->faults == nullptr ? 0 : run->faults->words().size();
    if (arguments.first_fault + wanted > had)
      throw DeviceError("[host] a launch with " + std::to_string(wanted) + " fault words from " +
                        std::to_string(arguments.first_fault) + " on, in a run of " + std::to_string(had));
    return run->faults->writable().data() + arguments.first_fault;
  }

  /// A library that the user names has to work.
  static bool names_library() {
    return !base::environment().llvm.empty() && base::environment().host != "interpreter";
  }

  void choose_once() {
    std::call_once(chosen_, [this] { choose_jit(); });
  }
  /// Selects the process's compiler, unless SINTER_HOST excludes it or there is none.
  void choose_jit() {
    const std::string& how = base::environment().host;
    if (how == "interpreter") {
      reason_ = "SINTER_HOST=interpreter";
      return;
    }
    std::string reason;
    jit_ = host::jit(&reason);
    if (jit_ == nullptr && names_library())
      throw DeviceError("[host] SINTER_LLVM names " + base::environment().llvm +
                        ", which does not work: " + reason);
    if (jit_ == nullptr && how == "jit")
      throw DeviceError("[host] SINTER_HOST=jit, but kernels cannot be compiled: " + reason);
    if (jit_ == nullptr) reason_ = reason;
    for (const char* topic : {"compile", "device"}) {
      if (!base::logs(topic)) continue;
      base::log_line(topic, jit_ != nullptr ? "host: kernels are compiled by " + jit_->describe()
                                            : "host: kernels are interpreted: " + reason);
      break;
    }
  }

  static void check_range(const BufferView& view, std::size_t bytes, const char* what) {
    if (view.byte_offset + bytes > view.buffer->bytes())
      throw DeviceError(std::string("[") + what + "] " + std::to_string(bytes) + " bytes at " +
                        std::to_string(view.byte_offset) + " do not fit into a buffer of " +
                        std::to_string(view.buffer->bytes()) + " bytes");
  }

  struct Retire {
    void operator()(MemoryPool* pool) const { MemoryPool::retire(pool); }
  };
  std::unique_ptr<MemoryPool, Retire> memory_{
      new MemoryPool(static_cast<std::size_t>(base::environment().memory_limit_mib) << 20)};
  ThreadPool pool_;
  const bool chooses_, always_compiled_;
  std::once_flag chosen_;                           // before jit_ and reason_ are read, where chooses_
  std::string reason_ = "the compiler refused it";  // why kernels are interpreted
  host::Jit* jit_;
  ir::DeviceTraits traits_;
  Counter launches_;
  compile::OriginCounts counts_;
  const bool logs_launches_ = base::logs("launch");
};

}  // namespace

std::unique_ptr<Backend> make_host_backend() {
  return std::make_unique<HostBackend>(true, nullptr, base::environment().host == "jit");
}

std::unique_ptr<Backend> make_host_backend(host::Jit* jit, bool always) {
  return std::make_unique<HostBackend>(false, jit, always);
}

}  // namespace sinter::runtime
