// The CUDA backend: memory, compiled kernels, launches and copies.
#include "src/runtime/cuda/cuda_backend.h"

#include <algorithm>
#include <string>
#include <utility>

#include <sinter/error.h>

#include "jit/compile/nvrtc.h"
#include "jit/emit/attention/attention.h"
#include "jit/emit/contraction/contraction.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/table.h"
#include "jit/emit/emit.h"
#include "src/base/env.h"
#include "src/runtime/cuda/device_traits.h"
#include "src/runtime/cuda/driver_api.h"
#include "src/runtime/cuda/executables.h"
#include "src/runtime/cuda/launcher.h"
#include "src/runtime/cuda/libraries/lt_products.h"
#include "src/runtime/cuda/libraries/solver.h"
#include "src/runtime/cuda/memory/driver_memory.h"
#include "src/runtime/cuda/memory/fault_words.h"
#include "src/runtime/cuda/memory/memory.h"
#include "src/runtime/cuda/memory/queues.h"
#include "src/runtime/cuda/modules.h"
#include "src/runtime/cuda/pass_text.h"
#include "src/runtime/cuda/replays.h"
#include "src/runtime/cuda/stopwatch.h"

namespace sinter::runtime {
namespace cuda {
namespace {

// The most bytes of parameters of one kernel; before CUDA 12.1 it was 4 KiB.
constexpr std::size_t kMostParameterBytes = 32764;
constexpr std::size_t kMostParameterBytesBefore12_1 = 4096;

class CudaBackend final : public Backend {
 public:
  CudaBackend(int index, std::size_t most_graphs);
  ~CudaBackend() override;

  const ir::DeviceTraits& traits() const override { return traits_; }
  BufferRef allocate(std::size_t bytes) override;
  BufferRef allocate_for_upload(std::size_t bytes) override;
  void upload(const BufferView& to, std::span<const std::byte> data) override;
  std::unique_ptr<Transfer> begin_upload(const BufferView& to, std::span<const std::byte> data) override;
  void download(const BufferView& from, std::span<std::byte> data) override;
  std::unique_ptr<Transfer> begin_download(const BufferView& from, std::span<std::byte> data) override;
  std::size_t trim() override;
  std::vector<ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override;
  LibraryWays library_ways(const ir::PlainProduct& product) noexcept override;
  bool computes(const library::Kind& kind) const override {
    return product_table().has(kind) || pass_table().has(kind) ||
           (library::is_decomposition(kind) && solver() && solver()->has(kind));
  }
  ExecutableRef prepare(const library::LibraryOp& op) override;
  ExecutableRef prepare_passes(const library::LibraryOp& op);
  void wait_until_ready(Executable& executable, std::span<const std::int64_t> ints,
                        std::size_t members) override;
  std::size_t strands() const override { return replays_->most_strands(); }
  void begin(std::unique_ptr<PlanState>* state, const RunNeeds& needs) override;
  void launch(Executable& executable, const LaunchArguments& arguments) override;
  FaultReportRef submit() override;
  void abandon() noexcept override;
  std::string timing_identity() const override { return timing_identity_; }
  double time_launch(Executable& executable, const LaunchArguments& arguments,
                     const RunNeeds& needs) override;
  void synchronize() override;
  BackendStatistics statistics() const override;

 private:
  /// A run that is open, and what it was given.
  struct Run {
    bool open = false;
    RunMemory memory;
    MemoryPool::Block workspace;
    std::shared_ptr<FaultWords::Report> faults;
  };

  explicit CudaBackend(const DriverApi& api) : api_(api) {}
  /// A run belongs to one thread, and `begin` has made the context current there.
  void make_current() const { check(api_.context_set_current(context_), "cuCtxSetCurrent"); }
  void open_device(int index, std::size_t most_graphs);
  std::unique_ptr<KernelExecutable> compile_rest(const ir::Kernel& kernel);
  void check_parameters(const ir::Kernel& kernel) const;
  /// Made when it is first asked for; null where there is no cuSOLVER, or it does not start.
  Solver* solver() const;
  void close_run() noexcept;

  const DriverApi& api_;
  DeviceId device_ = 0;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  ir::DeviceTraits traits_;
  ProductDevice product_device_;
  int multiprocessors_ = 1;
  std::size_t cache_bytes_ = 0;  // of the second level
  std::string timing_identity_;
  emit::Target target_{emit::dialect("cuda")};
  std::size_t most_parameter_bytes_ = kMostParameterBytes;
  std::unique_ptr<Queues> queues_;
  std::unique_ptr<DriverMemory> memory_;
  std::unique_ptr<MemoryPool> pool_;
  std::shared_ptr<FaultWords> fault_words_;
  DevicePointer counters_ = 0;  // kAllCounters; all zero between launches
  std::unique_ptr<Modules> modules_;
  std::unique_ptr<LtProducts> lt_products_;
  std::unique_ptr<Replays> replays_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Stopwatch> stopwatch_;
  mutable std::mutex solver_mutex_;
  mutable bool solver_asked_ = false;
  mutable std::unique_ptr<Solver> solver_;
  Run run_;
};

// With a constructor behind it, so that an error on the way runs the destructor.
CudaBackend::CudaBackend(int index, std::size_t most_graphs) : CudaBackend(*driver()) {
  open_device(index, most_graphs);
}

void CudaBackend::open_device(int index, std::size_t most_graphs) {
  check(api_.device_get(&device_, index), "cuDeviceGet");
  const DeviceFacts facts = facts_of(api_, device_, index);
  const int major = facts.major;
  multiprocessors_ = facts.multiprocessors;
  cache_bytes_ = facts.cache_bytes;
  int version = 0;
  check(api_.driver_version(&version), "cuDriverGetVersion");
  check(api_.primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
  make_current();
  check(api_.stream_create(&stream_, kStreamNonBlocking), "cuStreamCreate");
  queues_ = std::make_unique<Queues>(api_, context_, stream_);
  fault_words_ = std::make_shared<FaultWords>(api_, context_, queues_->timeline());
  check(api_.memory_allocate(&counters_, kAllCounters * sizeof(std::uint32_t)), "cuMemAlloc");
  check(api_.fill_u32(counters_, 0, kAllCounters, stream_), "cuMemsetD32Async");
  memory_ = std::make_unique<DriverMemory>(api_, context_, *queues_);
  pool_ = std::make_unique<MemoryPool>(*memory_,
                                       static_cast<std::size_t>(base::environment().memory_limit_mib) << 20);
  replays_ = std::make_unique<Replays>(api_, context_, stream_, most_graphs,
                                       major >= 9 ? static_cast<unsigned>(multiprocessors_) : 0);

  traits_ = traits_of(api_, facts);
  product_device_ = {multiprocessors_, major >= 8 ? facts.shared_bytes : 0, facts.has_clusters};
  const std::string architecture = compile::cuda_architecture(major, facts.minor);
  modules_ = std::make_unique<Modules>(api_, architecture);
  lt_products_ = std::make_unique<LtProducts>(api_, context_);
  launcher_ = std::make_unique<Launcher>(*replays_);
  stopwatch_ = std::make_unique<Stopwatch>(api_, stream_);
  if (stopwatch_->works())
    timing_identity_ = facts.name + ", " + std::to_string(multiprocessors_) + " multiprocessors, " +
                       architecture + ", driver " + std::to_string(version) + ", NVRTC " +
                       compile::nvrtc_build();
  target_.max_workgroups = (std::int64_t{1} << 31) - 1;
  target_.large_workgroup_size = 1024;
  target_.tile_bytes = std::size_t{48} << 10;  // what all have without being asked for more
  target_.tensor_units = traits_.tensor_cores.compute_units;
  target_.wanted_workgroups = std::int64_t{8} * multiprocessors_;  // blocks of 256 threads: full occupancy
  if (version < 12010 || major < 7) most_parameter_bytes_ = kMostParameterBytesBefore12_1;
  // The argument table of a batched launch is a __grid_constant__ parameter, which Pascal does not have.
  if (major >= 7) traits_.batch_bytes = most_parameter_bytes_ - 16;
  if (base::logs("device"))
    base::log_line("device", traits_.name + ": " + facts.name + ", " + std::to_string(multiprocessors_) +
                                 " multiprocessors, " + architecture + ", driver for CUDA " +
                                 std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) +
                                 ", NVRTC " + compile::nvrtc_version());
}

CudaBackend::~CudaBackend() {
  if (!context_) return;
  api_.context_set_current(context_);
  if (stream_) api_.stream_synchronize(stream_);
  stopwatch_.reset();
  solver_.reset();
  lt_products_.reset();
  replays_.reset();
  modules_.reset();
  pool_.reset();
  if (fault_words_) fault_words_->close();
  queues_.reset();
  if (counters_) api_.memory_free(counters_);
  if (stream_) api_.stream_destroy(stream_);
  api_.primary_context_release(device_);
}

BufferRef CudaBackend::allocate(std::size_t bytes) {
  return std::make_shared<CudaBuffer>(*this, bytes, *pool_, pool_->allocate(bytes));
}

BufferRef CudaBackend::allocate_for_upload(std::size_t bytes) {
  make_current();
  return std::make_shared<CudaBuffer>(
      *this, bytes, *pool_, pool_->allocate(bytes, MemoryPool::Purpose::Upload, queues_->completed()));
}

std::unique_ptr<Transfer> CudaBackend::begin_upload(const BufferView& to, std::span<const std::byte> data) {
  if (data.empty()) return nullptr;
  make_current();
  if (queues_->is_open(to)) queues_->submit();
  return queues_->begin_upload(to, data);
}

void CudaBackend::upload(const BufferView& to, std::span<const std::byte> data) {
  if (const auto transfer = begin_upload(to, data)) transfer->finish();
}

std::unique_ptr<Transfer> CudaBackend::begin_download(const BufferView& from, std::span<std::byte> data) {
  make_current();
  if (queues_->is_open(from)) queues_->submit();
  if (!data.empty()) return queues_->begin_download(from, data);
  synchronize();
  return nullptr;
}

void CudaBackend::download(const BufferView& from, std::span<std::byte> data) {
  if (const auto transfer = begin_download(from, data)) transfer->finish();
}

std::size_t CudaBackend::trim() { return pool_->trim(); }

double CudaBackend::time_launch(Executable& executable, const LaunchArguments& arguments,
                                const RunNeeds& needs) {
  make_current();
  stopwatch_->reserve();
  // Writing twice what the cache holds leaves nothing else there. It takes the device longer than the host
  // needs to submit the launch behind it, so that the time has no gap.
  constexpr std::size_t kLeastBytes = std::size_t{32} << 20;
  const std::size_t words = std::max(2 * cache_bytes_, kLeastBytes) / sizeof(std::uint32_t);
  const BufferRef memory = allocate(words * sizeof(std::uint32_t));
  auto& flushed = static_cast<CudaBuffer&>(*memory);
  runtime::Run run(*this, nullptr, needs);
  queues_->use(flushed, true);
  check(api_.fill_u32(flushed.block.address, 0, words, stream_), "cuMemsetD32Async");
  stopwatch_->start();
  launch(executable, arguments);
  stopwatch_->stop();
  run.submit();
  return stopwatch_->elapsed();
}

void CudaBackend::synchronize() {
  make_current();
  queues_->wait();
}

void CudaBackend::check_parameters(const ir::Kernel& kernel) const {
  const std::size_t bytes = kernel.members > 1 ? kernel.members * emit::member_layout(kernel).bytes + 32
                                               : 8 * (kernel.buffers.size() + kernel.scalars.size() + 1) +
                                                     (kernel.wide ? 8 : 4) * (std::size_t{kernel.ints} + 1);
  if (bytes > most_parameter_bytes_)
    throw DeviceError("[cuda] a kernel with " + std::to_string(bytes) + " bytes of arguments: " +
                      traits_.name + " takes up to " + std::to_string(most_parameter_bytes_));
}

LibraryWays CudaBackend::library_ways(const ir::PlainProduct& product) noexcept {
  try {
    if (!traits_.has_product_library()) return {};
    return {cublaslt()->version, lt_products_->prepare(product)->ways()};
  } catch (const std::exception& error) {
    if (base::logs("tune")) base::log_line("tune", error.what());
    return {};
  }
}

std::vector<ExecutableRef> CudaBackend::compile(std::span<const ir::Kernel* const> kernels) {
  make_current();
  modules_->unload_unused(queues_->timeline());
  std::vector<ModuleRef> codes;
  for (const ir::Kernel* kernel : kernels) {
    const bool is_library = kernel->tiling.library > 0;
    if (!is_library) check_parameters(*kernel);
    codes.push_back(is_library ? nullptr : modules_->request(emit::emit(*kernel, target_).text, false));
  }
  std::vector<ExecutableRef> executables;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i]->tiling.library > 0) {
      executables.push_back(std::make_shared<LibraryExecutable>(
          *kernels[i], *lt_products_, [this](const ir::Kernel& rest) { return compile_rest(rest); }));
      continue;
    }
    const Function function = modules_->function(codes[i], target_.dialect->entry.c_str());
    // What a launch may ask for is a property of the function.
    if (emit::has_attention(*kernels[i], target_))
      check(api_.function_attribute(function, kMostDynamicSharedBytes,
                                    static_cast<int>(emit::attention_shared_bytes(*kernels[i]))),
            "cuFuncSetAttribute");
    if (emit::has_tiles(*kernels[i], target_))
      check(api_.function_attribute(function, kMostDynamicSharedBytes,
                                    static_cast<int>(emit::contraction_shared_bytes(*kernels[i]))),
            "cuFuncSetAttribute");
    executables.push_back(std::make_shared<KernelExecutable>(
        *kernels[i], target_of(api_, *kernels[i], function, target_, multiprocessors_), codes[i], function));
  }
  return executables;
}

/// Of a kernel whose sums a library computes.
std::unique_ptr<KernelExecutable> CudaBackend::compile_rest(const ir::Kernel& kernel) {
  make_current();
  check_parameters(kernel);
  ModuleRef code = modules_->request(emit::emit(kernel, target_).text, false);
  const Function function = modules_->function(code, target_.dialect->entry.c_str());
  return std::make_unique<KernelExecutable>(kernel, target_, std::move(code), function);
}

ExecutableRef CudaBackend::prepare(const library::LibraryOp& op) {
  if (pass_table().has(op.kind())) return prepare_passes(op);
  if (library::is_decomposition(op.kind())) {
    if (!solver()) throw DeviceError("[cuda] " + op.describe() + " needs cuSOLVER: " + solver_problem());
    make_current();
    return solver_->prepare(library::as<library::DecompositionOp>(op));
  }
  auto executable = std::make_shared<ProductExecutable>();
  if ((executable->library = wide_product(op, *lt_products_))) return executable;
  executable->plan = product_table().prepare(traits_.name, op, product_device_);
  const std::string source = std::exchange(executable->plan.source, {});
  if (executable->plan.blocks > 0) executable->code = modules_->request(source, true);
  return executable;
}

Solver* CudaBackend::solver() const {
  const SolverApi* api = solver_api();
  if (!api) return nullptr;
  const std::lock_guard lock(solver_mutex_);
  if (!solver_asked_) {
    solver_asked_ = true;
    make_current();
    try {
      solver_ = std::make_unique<Solver>(api_, *api, context_, stream_);
    } catch (const DeviceError& error) {
      base::warn_once(error.what());
    }
  }
  return solver_.get();
}

ExecutableRef CudaBackend::prepare_passes(const library::LibraryOp& op) {
  auto executable = std::make_shared<PassesExecutable>();
  executable->results = op.kind().result_count();
  executable->list = pass_table().prepare(traits_.name, op, kPassDevice);
  std::vector<Pass>& passes = executable->list.passes;
  passes.erase(std::remove_if(passes.begin(), passes.end(), [](const Pass& p) { return p.groups() == 0; }),
               passes.end());
  for (const Pass& pass : passes)
    if (pass.groups() > ProductPlan::kMostBlocks)
      throw DeviceError("[cuda] " + op.describe() + " takes " + std::to_string(pass.groups()) +
                        " blocks; a grid has up to " + std::to_string(ProductPlan::kMostBlocks));
  if (!passes.empty())
    executable->code = modules_->request(pass_source(executable->list), executable->list.contracts);
  return executable;
}

void CudaBackend::wait_until_ready(Executable& executable, std::span<const std::int64_t> ints, std::size_t) {
  const CudaExecutable::Kind kind = static_cast<CudaExecutable&>(executable).kind;
  if (kind == CudaExecutable::Kind::Kernel || kind == CudaExecutable::Kind::Solver) return;
  if (kind == CudaExecutable::Kind::Library) {
    static_cast<LibraryExecutable&>(executable).steps(ints);
    return;
  }
  if (kind == CudaExecutable::Kind::Passes) {
    auto& several = static_cast<PassesExecutable&>(executable);
    if (several.list.passes.empty()) return;
    make_current();
    const std::lock_guard lock(several.waiting);
    if (!several.functions.empty()) return;
    std::vector<Function> functions;
    for (const Pass& pass : several.list.passes)
      functions.push_back(modules_->function(several.code, ("sinter_" + pass.name).c_str()));
    several.functions = std::move(functions);
    return;
  }
  auto& product = static_cast<ProductExecutable&>(executable);
  if (product.plan.blocks == 0) return;
  make_current();
  const std::lock_guard lock(product.waiting);
  if (product.product) return;
  product.sum_splits = modules_->function(product.code, "sinter_sum_splits");
  const Function function = modules_->function(product.code, "sinter_product");
  if (product.plan.shared_bytes > 0)
    check(api_.function_attribute(function, kMostDynamicSharedBytes,
                                  static_cast<int>(product.plan.shared_bytes)),
          "cuFuncSetAttribute");
  product.product = function;
}

void CudaBackend::begin(std::unique_ptr<PlanState>* state, const RunNeeds& needs) {
  make_current();
  queues_->reserve();
  Run run;
  run.memory.counters = counters_;
  if (needs.faults > 0) {
    run.faults = fault_words_->take(needs.faults);
    run.memory.faults = run.faults->device();
    run.memory.fault_count = needs.faults;
  }
  if (needs.workspace_bytes > 0) {
    run.workspace = pool_->allocate(needs.workspace_bytes);
    run.memory.workspace = run.workspace.address;
    run.memory.workspace_bytes = run.workspace.bytes;
  }
  run.open = true;
  run_ = std::move(run);
  try {
    if (run_.workspace.range) queues_->use(run_.workspace);
    replays_->begin(state, needs.order);
  } catch (...) {
    close_run();
    throw;
  }
}

FaultReportRef CudaBackend::submit() {
  replays_->submit();
  queues_->submit();
  FaultReportRef faults = std::move(run_.faults);
  close_run();
  return faults;
}

void CudaBackend::abandon() noexcept {
  replays_->abandon();
  close_run();
}

/// The workspace is free at once: its next user runs later on the same stream.
void CudaBackend::close_run() noexcept {
  if (run_.workspace.range) pool_->release(run_.workspace);
  run_ = {};
}

void CudaBackend::launch(Executable& executable, const LaunchArguments& arguments) {
  if (!run_.open) throw Error("[cuda] a launch outside of a run");
  auto& what = static_cast<CudaExecutable&>(executable);
  switch (what.kind) {
    case CudaExecutable::Kind::Kernel:
      queues_->use(static_cast<KernelExecutable&>(what).kernel, arguments.buffers);
      break;
    case CudaExecutable::Kind::Library:
      queues_->use(static_cast<LibraryExecutable&>(what).kernel, arguments.buffers);
      break;
    case CudaExecutable::Kind::Product: queues_->use(arguments.buffers, 1); break;
    case CudaExecutable::Kind::Passes:
      queues_->use(arguments.buffers, static_cast<PassesExecutable&>(what).results);
      break;
    case CudaExecutable::Kind::Solver:
      queues_->use(arguments.buffers, static_cast<SolverExecutable&>(what).op.kind().result_count());
      break;
  }
  launcher_->launch(what, arguments, run_.memory.of(arguments));
}

BackendStatistics CudaBackend::statistics() const {
  BackendStatistics s;
  s.kernels_compiled = modules_->counts().compiled;
  s.kernels_from_memory = modules_->counts().from_memory;
  s.kernels_from_disk = modules_->counts().from_disk;
  s.launches = replays_->starts();
  s.graphs_built = replays_->graphs_built();
  s.graph_launches = replays_->graph_launches();
  const MemoryPool::Counts memory = pool_->counts();
  s.bytes_in_use = memory.in_use;
  s.bytes_reserved = memory.reserved;
  s.peak_bytes_in_use = memory.peak_in_use;
  return s;
}

}  // namespace
}  // namespace cuda

int cuda_device_count() {
  if (!cuda_unavailable_reason().empty()) return 0;
  int count = 0;
  cuda::check(cuda::driver()->device_count(&count), "cuDeviceGetCount");
  return count;
}

std::string cuda_unavailable_reason() {
  if (!cuda::driver()) return cuda::driver_problem();
  if (!compile::has_nvrtc()) return compile::nvrtc_unavailable_reason();
  return "";
}

std::unique_ptr<Backend> make_cuda_backend(int index) {
  // Programs in their steady state have few plans, and each graph holds memory of the driver's.
  constexpr std::size_t kMostGraphs = 256;
  return make_cuda_backend(index, base::environment().cuda_graphs ? kMostGraphs : 0);
}

std::unique_ptr<Backend> make_cuda_backend(int index, std::size_t most_graphs) {
  const int count = cuda_device_count();
  if (index < 0 || index >= count)
    throw DeviceError("[cuda] there is no device cuda:" + std::to_string(index) + ": " +
                      (count == 0 ? cuda_unavailable_reason() : std::to_string(count) + " found"));
  return std::make_unique<cuda::CudaBackend>(index, most_graphs);
}

}  // namespace sinter::runtime
