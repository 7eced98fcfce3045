// The CUDA backend: memory, compiled kernels, launches and copies.
#include "src/runtime/cuda/cuda_backend.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <sinter/error.h>

#include "jit/compile/nvrtc.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/table.h"
#include "jit/emit/emit.h"
#include "src/base/env.h"
#include "src/runtime/cuda/driver_api.h"
#include "src/runtime/cuda/driver_memory.h"
#include "src/runtime/cuda/memory.h"
#include "src/runtime/cuda/modules.h"
#include "src/runtime/cuda/parameters.h"
#include "src/runtime/cuda/products.h"
#include "src/runtime/cuda/queues.h"
#include "src/runtime/cuda/replays.h"
#include "src/runtime/members.h"

namespace sinter::runtime {
namespace cuda {
namespace {

// The most bytes of parameters of one kernel; before CUDA 12.1 it was 4 KiB.
constexpr std::size_t kMostParameterBytes = 32764;
constexpr std::size_t kMostParameterBytesBefore12_1 = 4096;
constexpr std::uint32_t kCounters = 1 << 16;
constexpr unsigned kBlocksToFollow = 8;  // per multiprocessor: see Replays

struct CudaExecutable : Executable {
  explicit CudaExecutable(bool is_product) : is_product(is_product) {}
  const bool is_product;
};

struct KernelExecutable final : CudaExecutable {
  KernelExecutable(const ir::Kernel& kernel, Function function)
      : CudaExecutable(false), kernel(kernel), members(emit::member_layout(kernel)), function(function) {}
  const ir::Kernel kernel;
  const emit::MemberLayout members;
  const Function function;
};

/// A matrix product or convolution. It compiles in the background until its first launch: a plan prepares its
/// ops one after the other, and their compilations overlap.
struct ProductExecutable final : CudaExecutable {
  ProductExecutable() : CudaExecutable(true) {}
  ProductPlan plan;
  Modules::Key key;
  Function product = nullptr, sum_splits = nullptr;
};

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
  bool computes(const library::Kind& kind) const override { return product_table().has(kind); }
  ExecutableRef prepare(const library::LibraryOp& op) override;
  void begin(std::unique_ptr<PlanState>* state, const RunNeeds& needs) override;
  void launch(Executable& executable, const LaunchArguments& arguments) override;
  FaultReportRef submit() override;
  void abandon() noexcept override;
  void synchronize() override;
  BackendStatistics statistics() const override;

 private:
  /// Within a run of a plan only one thread calls, and `begin` has made the context current.
  void make_current() const {
    if (!replays_ || !replays_->in_plan()) check(api_.context_set_current(context_), "cuCtxSetCurrent");
  }
  void check_parameters(const ir::Kernel& kernel) const;
  void launch_kernel(KernelExecutable& executable, const LaunchArguments& arguments);
  void launch_members(KernelExecutable& executable, const LaunchArguments& arguments);
  void launch_product(ProductExecutable& executable, const LaunchArguments& arguments);
  void launch_again(Node& node, const LaunchArguments& arguments);
  DevicePointer workspace(std::size_t bytes);
  void release_workspace() noexcept;
  DevicePointer counters();

  const DriverApi& api_;
  DeviceId device_ = 0;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  ir::DeviceTraits traits_;
  int multiprocessors_ = 1;
  emit::Target target_{emit::dialect("cuda")};
  std::size_t most_parameter_bytes_ = kMostParameterBytes;
  std::unique_ptr<Queues> queues_;
  std::unique_ptr<DriverMemory> memory_;
  std::unique_ptr<MemoryPool> pool_;
  DevicePointer counters_ = 0;   // arrival counters of split kernels; all zero between launches
  DevicePointer fault_ = 0;      // a 32-bit flag: 1 when an index was out of range
  bool fault_possible_ = false;  // a kernel launched since the last submit may set it
  std::unique_ptr<Modules> modules_;
  std::unique_ptr<Replays> replays_;
  std::vector<MemoryPool::Block> workspace_;  // of the current plan or launch; launches use the last one
  Parameters parameters_;
  std::vector<DevicePointer> addresses_;
  std::vector<std::uint32_t> firsts_;
  std::vector<std::byte> table_;
};

CudaBackend::CudaBackend(int index, std::size_t most_graphs) : api_(*driver()) {
  check(api_.device_get(&device_, index), "cuDeviceGet");
  char name[256] = {};
  check(api_.device_name(name, sizeof name - 1, device_), "cuDeviceGetName");
  int major = 0, minor = 0, version = 0;
  check(api_.device_attribute(&multiprocessors_, Attribute::MultiprocessorCount, device_),
        "cuDeviceGetAttribute");
  check(api_.device_attribute(&major, Attribute::ComputeMajor, device_), "cuDeviceGetAttribute");
  check(api_.device_attribute(&minor, Attribute::ComputeMinor, device_), "cuDeviceGetAttribute");
  check(api_.driver_version(&version), "cuDriverGetVersion");
  std::size_t memory = 0;
  check(api_.device_total_memory(&memory, device_), "cuDeviceTotalMem");
  check(api_.primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
  make_current();
  check(api_.stream_create(&stream_, kStreamNonBlocking), "cuStreamCreate");
  queues_ = std::make_unique<Queues>(api_, context_, stream_);
  fault_ = queues_->fault_flag();
  memory_ = std::make_unique<DriverMemory>(api_, *queues_);
  pool_ = std::make_unique<MemoryPool>(*memory_,
                                       static_cast<std::size_t>(base::environment().memory_limit_mib) << 20);
  replays_ =
      std::make_unique<Replays>(api_, context_, stream_, most_graphs,
                                major >= 9 ? kBlocksToFollow * static_cast<unsigned>(multiprocessors_) : 0);

  traits_.name = "cuda:" + std::to_string(index);
  traits_.description = name;
  traits_.lanes = std::int64_t{2048} * multiprocessors_;
  traits_.groups = std::int64_t{4} * multiprocessors_;
  traits_.max_buffers = 64;
  traits_.grid_reductions = true;
  traits_.row_lanes = 1024;
  traits_.memory_bytes = memory;
  traits_.launch_bytes = 64.0 * 1024 * multiprocessors_;  // what the device moves in 2 us
  traits_.work_per_byte = 14;
  const std::string architecture = compile::cuda_architecture(major, minor);
  modules_ = std::make_unique<Modules>(api_, architecture);
  target_.max_workgroups = (std::int64_t{1} << 31) - 1;
  target_.wanted_workgroups = std::int64_t{8} * multiprocessors_;  // blocks of 256 threads: full occupancy
  if (version < 12010 || major < 7) most_parameter_bytes_ = kMostParameterBytesBefore12_1;
  // The argument table of a batched launch is a __grid_constant__ parameter, which Pascal does not have.
  if (major >= 7) traits_.batch_bytes = most_parameter_bytes_ - 16;
  if (base::logs("device"))
    base::log_line("device", traits_.name + ": " + name + ", " + std::to_string(multiprocessors_) +
                                 " multiprocessors, " + architecture + ", driver for CUDA " +
                                 std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) +
                                 ", NVRTC " + compile::nvrtc_version());
}

CudaBackend::~CudaBackend() {
  api_.context_set_current(context_);
  api_.stream_synchronize(stream_);
  modules_.reset();
  pool_.reset();
  queues_.reset();
  if (counters_) api_.memory_free(counters_);
  api_.stream_destroy(stream_);
  api_.primary_context_release(device_);
}

BufferRef CudaBackend::allocate(std::size_t bytes) {
  make_current();
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
  if (queues_->is_open(to)) submit();
  return queues_->begin_upload(to, data);
}

void CudaBackend::upload(const BufferView& to, std::span<const std::byte> data) {
  if (const auto transfer = begin_upload(to, data)) transfer->finish();
}

std::unique_ptr<Transfer> CudaBackend::begin_download(const BufferView& from, std::span<std::byte> data) {
  make_current();
  if (queues_->is_open(from)) submit();
  if (!data.empty()) return queues_->begin_download(from, data);
  synchronize();
  return nullptr;
}

void CudaBackend::download(const BufferView& from, std::span<std::byte> data) {
  if (const auto transfer = begin_download(from, data)) transfer->finish();
}

std::size_t CudaBackend::trim() {
  make_current();
  return pool_->trim();
}

void CudaBackend::synchronize() {
  make_current();
  submit();
  queues_->wait();
  queues_->throw_faults();
}

DevicePointer CudaBackend::counters() {
  if (!counters_) {
    check(api_.memory_allocate(&counters_, kCounters * sizeof(std::uint32_t)), "cuMemAlloc");
    check(api_.fill_u32(counters_, 0, kCounters, stream_), "cuMemsetD32Async");
  }
  return counters_;
}

void CudaBackend::check_parameters(const ir::Kernel& kernel) const {
  const std::size_t bytes = kernel.members > 1 ? kernel.members * emit::member_layout(kernel).bytes + 16
                                               : 8 * (kernel.buffers.size() + kernel.scalars.size() + 1) +
                                                     (kernel.wide ? 8 : 4) * (std::size_t{kernel.ints} + 1);
  if (bytes > most_parameter_bytes_)
    throw DeviceError("[cuda] a kernel with " + std::to_string(bytes) + " bytes of arguments: " +
                      traits_.name + " takes up to " + std::to_string(most_parameter_bytes_));
}

std::vector<ExecutableRef> CudaBackend::compile(std::span<const ir::Kernel* const> kernels) {
  make_current();
  std::vector<Modules::Key> keys;
  for (const ir::Kernel* kernel : kernels) {
    check_parameters(*kernel);
    keys.push_back(modules_->request(emit::emit(*kernel, target_).text, false));
  }
  std::vector<ExecutableRef> executables;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    executables.push_back(std::make_shared<KernelExecutable>(
        *kernels[i], modules_->function(keys[i], target_.dialect->entry.c_str())));
  return executables;
}

ExecutableRef CudaBackend::prepare(const library::LibraryOp& op) {
  auto executable = std::make_shared<ProductExecutable>();
  executable->plan = product_table().prepare(traits_.name, op, multiprocessors_);
  if (executable->plan.blocks > 0) executable->key = modules_->request(executable->plan.source, true);
  return executable;
}

void CudaBackend::begin(std::unique_ptr<PlanState>* state, const RunNeeds&) {
  make_current();
  if (state) replays_->begin(*state);
}

FaultReportRef CudaBackend::submit() {
  replays_->submit();
  release_workspace();
  queues_->submit(std::exchange(fault_possible_, false));
  return nullptr;
}

void CudaBackend::abandon() noexcept {
  replays_->abandon();
  release_workspace();
}

/// Workspace for one launch. The launches of a plan share one block, since they run one after the other.
DevicePointer CudaBackend::workspace(std::size_t bytes) {
  replays_->note_workspace(bytes);
  if (workspace_.empty() || workspace_.back().bytes < bytes) {
    // Deferred launches still use a smaller block: it must not return to the driver before they run.
    if (!replays_->deferred()) release_workspace();
    workspace_.push_back(pool_->allocate(std::max(bytes, replays_->most_workspace())));
    queues_->use(workspace_.back());
  }
  return workspace_.back().address;
}

/// Releases the workspace at once: its next user runs later on the same stream.
void CudaBackend::release_workspace() noexcept {
  for (const MemoryPool::Block& block : workspace_) pool_->release(block);
  workspace_.clear();
}

void CudaBackend::launch(Executable& executable, const LaunchArguments& arguments) {
  make_current();
  const bool is_product = static_cast<CudaExecutable&>(executable).is_product;
  queues_->use(is_product ? nullptr : &static_cast<KernelExecutable&>(executable).kernel, arguments.buffers);
  if (Node* node = replays_->next_launch(executable)) {
    launch_again(*node, arguments);
  } else {
    parameters_.clear();
    if (is_product)
      launch_product(static_cast<ProductExecutable&>(executable), arguments);
    else
      launch_kernel(static_cast<KernelExecutable&>(executable), arguments);
  }
  if (!replays_->in_plan()) release_workspace();
}

void CudaBackend::launch_again(Node& node, const LaunchArguments& arguments) {
  bool changed = false;
  for (const Patch& patch : node.parameters.patches()) {
    std::uint64_t bits = 0;
    switch (patch.source) {
      case Patch::Source::Buffer: bits = address_of(arguments.buffers[patch.number]); break;
      case Patch::Source::Scalar: bits = bits_of(arguments.scalars[patch.number], patch.dtype); break;
      case Patch::Source::Workspace: bits = workspace(node.workspace_bytes); break;
    }
    changed |= node.parameters.set(patch, bits);
  }
  fault_possible_ |= node.may_fault;
  replays_->replay(node, changed);
}

void CudaBackend::launch_kernel(KernelExecutable& executable, const LaunchArguments& arguments) {
  const ir::Kernel& kernel = executable.kernel;
  if (kernel.members > 1) return launch_members(executable, arguments);
  const emit::Geometry geometry = emit::geometry(kernel, target_, arguments.ints);
  if (geometry.workgroups == 0) return;
  using Source = Patch::Source;
  for (std::uint32_t b = 0; b < arguments.buffers.size(); ++b) {
    parameters_.patch_next({.source = Source::Buffer, .number = b});
    parameters_.push(address_of(arguments.buffers[b]));
  }
  for (std::int64_t value : arguments.ints) {
    if (kernel.wide)
      parameters_.push(value);
    else
      parameters_.push(static_cast<std::int32_t>(value));
  }
  for (std::uint32_t s = 0; s < kernel.scalars.size(); ++s) {
    const DType dtype = kernel.scalars[s];
    const std::uint64_t bits = bits_of(arguments.scalars[s], dtype);
    const std::uint8_t bytes = dtype == DType::boolean ? 1 : size_of(dtype) == 8 ? 8 : 4;
    parameters_.patch_next({.source = Source::Scalar, .dtype = dtype, .bytes = bytes, .number = s});
    if (bytes == 1)
      parameters_.push(bits != 0);
    else if (bytes == 8)
      parameters_.push(bits);
    else
      parameters_.push(static_cast<std::uint32_t>(bits));
  }
  std::size_t workspace_bytes = 0;
  if (kernel.split) {
    if (geometry.workgroups / geometry.parts > kCounters)
      throw DeviceError("[cuda] a reduction of few results counts " +
                        std::to_string(geometry.workgroups / geometry.parts) + " groups; the most are " +
                        std::to_string(kCounters));
    workspace_bytes = emit::split_scratch_bytes(kernel, geometry, arguments.ints);
    parameters_.push(geometry.parts);
    parameters_.patch_next({.source = Source::Workspace});
    parameters_.push(workspace(workspace_bytes));
    parameters_.push(counters());
  }
  if (kernel.faults > 0) {
    parameters_.push(fault_);
    fault_possible_ = true;
  }
  replays_->start({executable.function, geometry.workgroups, geometry.lanes, geometry.rows,
                   "the launch of a fused kernel"},
                  parameters_, &executable, workspace_bytes, kernel.faults > 0);
}

void CudaBackend::launch_members(KernelExecutable& executable, const LaunchArguments& arguments) {
  const ir::Kernel& kernel = executable.kernel;
  const emit::MemberLayout& layout = executable.members;
  const emit::Geometry geometry = emit::geometry(kernel, target_, arguments.ints, arguments.members, firsts_);
  if (geometry.workgroups == 0) return;
  addresses_.clear();
  for (const BufferView& view : arguments.buffers) addresses_.push_back(address_of(view));
  table_.clear();
  pack_members(kernel, layout, arguments, addresses_, firsts_, table_);
  std::memcpy(parameters_.room(kernel.members * layout.bytes), table_.data(), table_.size());
  for (std::size_t m = 0; m < arguments.members; ++m)
    for (const emit::MemberLayout::Field& field : layout.fields) {
      if (field.letter == 'n') continue;
      const bool is_buffer = field.letter == 'b';
      const std::size_t each = is_buffer ? kernel.buffers.size() : kernel.scalars.size();
      parameters_.patch_at({.source = is_buffer ? Patch::Source::Buffer : Patch::Source::Scalar,
                            .dtype = is_buffer ? DType::f32 : kernel.scalars[field.number],
                            .bytes = static_cast<std::uint8_t>(field.bytes),
                            .number = static_cast<std::uint32_t>(m * each + field.number),
                            .offset = static_cast<std::uint32_t>(m * layout.bytes + field.offset)});
    }
  parameters_.push(static_cast<std::uint32_t>(arguments.members));
  if (kernel.faults > 0) {
    parameters_.push(fault_);
    fault_possible_ = true;
  }
  replays_->start({executable.function, geometry.workgroups, geometry.lanes, geometry.rows,
                   "the launch of a kernel for several members"},
                  parameters_, &executable, 0, kernel.faults > 0);
}

void CudaBackend::launch_product(ProductExecutable& executable, const LaunchArguments& arguments) {
  ProductPlan& plan = executable.plan;
  if (plan.blocks == 0) return;
  if (!executable.product) {
    executable.product = modules_->function(executable.key, "sinter_product");
    executable.sum_splits = modules_->function(executable.key, "sinter_sum_splits");
  }
  const DevicePointer a = address_of(arguments.buffers[0]), b = address_of(arguments.buffers[1]);
  const DevicePointer c = address_of(arguments.buffers[2]);
  const DevicePointer parts = plan.splits > 1 ? workspace(plan.workspace_bytes()) : 0;
  const DevicePointer to = plan.splits > 1 ? parts : c;

  // The matrix product of a convolution has a row per channel of the result; that operand is always the
  // second input.
  parameters_.push(plan.is_conv ? b : a);
  parameters_.push(plan.is_conv ? a : b);
  parameters_.push(to);
  if (plan.is_conv) {
    parameters_.push(plan.conv);
  } else {
    set_vectors(plan.matmul, plan.dtype, a, b,
                to);  // depends on the addresses, so a replay packs all arguments again
    parameters_.push(plan.matmul);
  }
  replays_->start({executable.product, static_cast<unsigned>(plan.blocks), ProductPlan::kThreads, 1,
                   "the launch of a product"},
                  parameters_);
  if (plan.splits == 1) return;

  parameters_.clear();
  parameters_.push(parts);
  parameters_.push(c);
  parameters_.push(plan.result_numel);
  parameters_.push(static_cast<std::int32_t>(plan.splits));
  const std::int64_t blocks = std::min<std::int64_t>((plan.result_numel + 255) / 256, 65535);
  replays_->start(
      {executable.sum_splits, static_cast<unsigned>(blocks), 256, 1, "the launch of a product's second pass"},
      parameters_);
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
