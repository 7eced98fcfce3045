// The CUDA backend: memory, compiled kernels and launches on one stream.
#include "src/runtime/cuda/cuda_backend.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <sinter/error.h>

#include "jit/compile/nvrtc.h"
#include "jit/emit/emit.h"
#include "src/base/env.h"
#include "src/runtime/cuda/driver_api.h"
#include "src/runtime/cuda/memory.h"
#include "src/runtime/cuda/modules.h"
#include "src/runtime/cuda/products.h"
#include "src/runtime/members.h"

namespace sinter::runtime {
namespace cuda {
namespace {

// Of one kernel's parameters, from CUDA 12.1 on; older drivers take 4 KiB.
constexpr std::size_t kMostParameterBytes = 32764;
constexpr std::size_t kMostParameterBytesBefore12_1 = 4096;
constexpr std::uint32_t kCounters = 1 << 16;

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(Backend& backend, std::size_t bytes, MemoryPool& pool, MemoryPool::Block block)
      : Buffer(backend, bytes), block(block), pool_(pool) {}
  ~CudaBuffer() override { pool_.release(block); }
  const MemoryPool::Block block;

 private:
  MemoryPool& pool_;
};

DevicePointer address_of(const BufferView& view) {
  return static_cast<const CudaBuffer*>(view.buffer)->block.address + view.byte_offset;
}

struct KernelExecutable final : Executable {
  KernelExecutable(const ir::Kernel& kernel, Function function)
      : kernel(kernel), members(emit::member_layout(kernel)), function(function) {}
  const ir::Kernel kernel;
  const emit::MemberLayout members;
  const Function function;
};

/// Compiled in the background until its first launch: a plan prepares many, one after the other.
struct ProductExecutable final : Executable {
  ProductPlan plan;
  Modules::Key key;
  Function product = nullptr, sum_splits = nullptr;
};

/// The arguments of a launch: their values side by side, and pointers to them. Reused from launch to launch.
class Parameters {
 public:
  void clear() {
    bytes_.clear();
    offsets_.clear();
  }
  /// Room for so many bytes, aligned for anything; undefined where nothing is written.
  std::byte* room(std::size_t bytes) {
    const std::size_t at = (bytes_.size() + 7) / 8 * 8;
    bytes_.resize(at + bytes);
    offsets_.push_back(at);
    return bytes_.data() + at;
  }
  template <class T>
  void push(const T& value) {
    const std::size_t at = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    offsets_.push_back(at);
  }
  void** pointers() {
    pointers_.clear();
    for (std::size_t offset : offsets_) pointers_.push_back(bytes_.data() + offset);
    return pointers_.data();
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> offsets_;
  std::vector<void*> pointers_;
};

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int index);
  ~CudaBackend() override;

  const ir::DeviceTraits& traits() const override { return traits_; }
  BufferRef allocate(std::size_t bytes) override;
  void upload(const BufferView& to, std::span<const std::byte> data) override;
  void download(const BufferView& from, std::span<std::byte> data) override;
  std::vector<ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override;
  ExecutableRef prepare(const ir::LibraryOp& op) override;
  void launch(Executable& executable, const LaunchArguments& arguments) override;
  void submit() override {}  // the driver starts work as it is handed over
  void synchronize() override;
  BackendStatistics statistics() const override;

 private:
  void make_current() const { check(api_.context_set_current(context_), "cuCtxSetCurrent"); }
  void check_parameters(const ir::Kernel& kernel) const;
  void launch_kernel(KernelExecutable& executable, const LaunchArguments& arguments);
  void launch_members(KernelExecutable& executable, const LaunchArguments& arguments);
  void launch_product(ProductExecutable& executable, const LaunchArguments& arguments);
  void start(Function function, std::int64_t blocks, unsigned x, unsigned y, const char* what);
  void throw_faults();
  DevicePointer counters();

  const DriverApi& api_;
  DeviceId device_ = 0;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  ir::DeviceTraits traits_;
  int multiprocessors_ = 1;
  emit::Target target_;
  std::size_t most_parameter_bytes_ = kMostParameterBytes;
  std::unique_ptr<MemoryPool> pool_;
  std::unique_ptr<StagingRing> staging_;
  DevicePointer counters_ = 0;   // of split kernels; all zero between launches
  DevicePointer fault_ = 0;      // one word: 1 when an index was out of range
  bool fault_possible_ = false;  // a kernel that may set it was launched since it was read
  std::unique_ptr<Modules> modules_;
  Parameters parameters_;
  std::vector<DevicePointer> addresses_;
  std::vector<std::uint32_t> firsts_;
  std::vector<std::byte> table_;
  std::uint64_t launches_ = 0;
};

CudaBackend::CudaBackend(int index) : api_(*driver()) {
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
  pool_ = std::make_unique<MemoryPool>(api_);
  staging_ = std::make_unique<StagingRing>(api_, stream_);
  check(api_.memory_allocate(&fault_, sizeof(std::uint32_t)), "cuMemAlloc");
  check(api_.fill_words(fault_, 0, 1, stream_), "cuMemsetD32Async");

  traits_.name = "cuda:" + std::to_string(index);
  traits_.description = name;
  traits_.lanes = std::int64_t{2048} * multiprocessors_;
  traits_.groups = std::int64_t{4} * multiprocessors_;
  traits_.max_buffers = 64;
  traits_.grid_reductions = true;
  traits_.row_lanes = 1024;
  traits_.memory_bytes = memory;
  traits_.launch_bytes = 64.0 * 1024 * multiprocessors_;  // 2 us at the rate that one multiprocessor moves bytes
  traits_.work_per_byte = 14;
  const std::string architecture = compile::cuda_architecture(major, minor);
  modules_ = std::make_unique<Modules>(api_, architecture);
  target_.language = emit::Language::Cuda;
  target_.max_groups = (std::int64_t{1} << 31) - 1;
  target_.wanted_groups = std::int64_t{8} * multiprocessors_;  // of 256 lanes: full
  if (version < 12010 || major < 7) most_parameter_bytes_ = kMostParameterBytesBefore12_1;
  // The table of members is a __grid_constant__ parameter, which Pascal does not have.
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
  staging_.reset();
  pool_.reset();
  api_.memory_free(fault_);
  if (counters_) api_.memory_free(counters_);
  api_.stream_destroy(stream_);
  api_.primary_context_release(device_);
}

BufferRef CudaBackend::allocate(std::size_t bytes) {
  make_current();
  return std::make_shared<CudaBuffer>(*this, bytes, *pool_, pool_->allocate(bytes, stream_));
}

void CudaBackend::upload(const BufferView& to, std::span<const std::byte> data) {
  if (data.empty()) return;
  make_current();
  staging_->upload(address_of(to), data);
}

void CudaBackend::download(const BufferView& from, std::span<std::byte> data) {
  make_current();
  if (data.empty())
    check(api_.stream_synchronize(stream_), "cuStreamSynchronize");
  else
    staging_->download(address_of(from), data);
  throw_faults();
}

void CudaBackend::synchronize() {
  make_current();
  check(api_.stream_synchronize(stream_), "cuStreamSynchronize");
  throw_faults();
}

void CudaBackend::throw_faults() {
  if (!std::exchange(fault_possible_, false)) return;
  std::uint32_t word = 0;
  staging_->download(fault_, std::as_writable_bytes(std::span(&word, 1)));
  if (word == 0) return;
  check(api_.fill_words(fault_, 0, 1, stream_), "cuMemsetD32Async");
  throw ShapeError("[gather] an index was out of range");
}

DevicePointer CudaBackend::counters() {
  if (!counters_) {
    check(api_.memory_allocate(&counters_, kCounters * sizeof(std::uint32_t)), "cuMemAlloc");
    check(api_.fill_words(counters_, 0, kCounters, stream_), "cuMemsetD32Async");
  }
  return counters_;
}

void CudaBackend::check_parameters(const ir::Kernel& kernel) const {
  const std::size_t bytes = kernel.members > 1
                                ? kernel.members * emit::member_layout(kernel).bytes + 16
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
    executables.push_back(
        std::make_shared<KernelExecutable>(*kernels[i], modules_->function(keys[i], "sinter_kernel")));
  return executables;
}

ExecutableRef CudaBackend::prepare(const ir::LibraryOp& op) {
  auto executable = std::make_shared<ProductExecutable>();
  executable->plan = plan_product(op, multiprocessors_);
  if (executable->plan.blocks > 0) executable->key = modules_->request(executable->plan.source, true);
  return executable;
}

void CudaBackend::start(Function function, std::int64_t blocks, unsigned x, unsigned y, const char* what) {
  check(api_.launch(function, static_cast<unsigned>(blocks), 1, 1, x, y, 1, 0, stream_,
                    parameters_.pointers(), nullptr),
        what);
  ++launches_;
}

void CudaBackend::launch(Executable& executable, const LaunchArguments& arguments) {
  make_current();
  if (auto* kernel = dynamic_cast<KernelExecutable*>(&executable))
    launch_kernel(*kernel, arguments);
  else
    launch_product(static_cast<ProductExecutable&>(executable), arguments);
}

void CudaBackend::launch_kernel(KernelExecutable& executable, const LaunchArguments& arguments) {
  const ir::Kernel& kernel = executable.kernel;
  if (kernel.members > 1) return launch_members(executable, arguments);
  const emit::Geometry geometry = emit::geometry(kernel, target_, arguments.ints);
  if (geometry.groups == 0) return;
  // Taken and given back at once: what uses it next comes later on the same stream.
  MemoryPool::Block partials{};
  if (kernel.split)
    partials = pool_->allocate(emit::split_scratch_bytes(kernel, geometry, arguments.ints), stream_);
  parameters_.clear();
  for (const BufferView& view : arguments.buffers) parameters_.push(address_of(view));
  for (std::int64_t value : arguments.ints) {
    if (kernel.wide)
      parameters_.push(value);
    else
      parameters_.push(static_cast<std::int32_t>(value));
  }
  for (std::size_t s = 0; s < kernel.scalars.size(); ++s) {
    const std::uint64_t bits = bits_of(arguments.scalars[s], kernel.scalars[s]);
    if (kernel.scalars[s] == DType::boolean)
      parameters_.push(bits != 0);
    else if (size_of(kernel.scalars[s]) == 8)
      parameters_.push(bits);
    else
      parameters_.push(static_cast<std::uint32_t>(bits));
  }
  if (kernel.split) {
    if (geometry.groups / geometry.parts > kCounters)
      throw DeviceError("[cuda] a reduction of few results counts " + std::to_string(geometry.groups / geometry.parts) +
                        " groups; the most are " + std::to_string(kCounters));
    parameters_.push(geometry.parts);
    parameters_.push(partials.address);
    parameters_.push(counters());
  }
  if (kernel.fault) {
    parameters_.push(fault_);
    fault_possible_ = true;
  }
  start(executable.function, geometry.groups, geometry.lanes, geometry.rows, "the launch of a fused kernel");
  if (kernel.split) pool_->release(partials);
}

void CudaBackend::launch_members(KernelExecutable& executable, const LaunchArguments& arguments) {
  const ir::Kernel& kernel = executable.kernel;
  const emit::Geometry geometry = emit::geometry(kernel, target_, arguments.ints, arguments.members, firsts_);
  if (geometry.groups == 0) return;
  addresses_.clear();
  for (const BufferView& view : arguments.buffers) addresses_.push_back(address_of(view));
  table_.clear();
  pack_members(kernel, executable.members, arguments, addresses_, firsts_, table_);
  parameters_.clear();
  std::memcpy(parameters_.room(kernel.members * executable.members.bytes), table_.data(), table_.size());
  parameters_.push(static_cast<std::uint32_t>(arguments.members));
  if (kernel.fault) {
    parameters_.push(fault_);
    fault_possible_ = true;
  }
  start(executable.function, geometry.groups, geometry.lanes, geometry.rows, "the launch of a kernel for several members");
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
  // Taken and given back at once: what uses it next comes later on the same stream.
  MemoryPool::Block workspace{};
  if (plan.splits > 1) workspace = pool_->allocate(plan.workspace_bytes(), stream_);
  const DevicePointer to = plan.splits > 1 ? workspace.address : c;

  parameters_.clear();
  // The first operand of a convolution's product is the one with a row per channel of the result: always the
  // second input.
  parameters_.push(plan.is_conv ? b : a);
  parameters_.push(plan.is_conv ? a : b);
  parameters_.push(to);
  if (plan.is_conv) {
    parameters_.push(plan.conv);
  } else {
    set_vectors(plan.matmul, plan.dtype, a, b, to);
    parameters_.push(plan.matmul);
  }
  start(executable.product, plan.blocks, ProductPlan::kThreads, 1, "the launch of a product");
  if (plan.splits == 1) return;

  parameters_.clear();
  parameters_.push(workspace.address);
  parameters_.push(c);
  parameters_.push(plan.result_numel);
  parameters_.push(static_cast<std::int32_t>(plan.splits));
  const std::int64_t blocks = std::min<std::int64_t>((plan.result_numel + 255) / 256, 65535);
  start(executable.sum_splits, blocks, 256, 1, "the launch of a product's second pass");
  pool_->release(workspace);
}

BackendStatistics CudaBackend::statistics() const {
  BackendStatistics s;
  s.kernels_compiled = modules_->compiled();
  s.kernels_from_disk = modules_->from_disk();
  s.launches = launches_;
  s.bytes_in_use = pool_->bytes_in_use();
  s.bytes_reserved = pool_->bytes_reserved();
  s.peak_bytes_in_use = pool_->peak_bytes_in_use();
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
  const int count = cuda_device_count();
  if (index < 0 || index >= count)
    throw DeviceError("[cuda] there is no device cuda:" + std::to_string(index) + ": " +
                      (count == 0 ? cuda_unavailable_reason() : std::to_string(count) + " found"));
  return std::make_unique<cuda::CudaBackend>(index);
}

}  // namespace sinter::runtime
