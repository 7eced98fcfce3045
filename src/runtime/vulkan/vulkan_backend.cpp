// The Vulkan backend: what a device is like, its memory, its compiler, and runs.
#include "src/runtime/vulkan/vulkan_backend.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/vulkan/device_backend.h"
#include "src/runtime/vulkan/instance.h"
#include "src/runtime/vulkan/kernels/long_loops.h"
#include "src/runtime/vulkan/kernels/pass_text.h"

namespace sinter::runtime {
namespace vulkan {
namespace {

constexpr VkDeviceSize kArgumentsRing = VkDeviceSize{1} << 20;
constexpr VkDeviceSize kUploadRing = VkDeviceSize{1} << 20;
constexpr VkDeviceSize kMemberBytes = VkDeviceSize{32}
                                      << 10;  // of the arguments of one launch for several members
// A large batch moves as many bytes as so many launches cost: some 2 ms, beside which the 8 us that a GPU
// rests between two batches are little.
constexpr std::uint64_t kLaunchesOfBatch = 1024, kLaunchesOfBatchOnCpu = 64;

std::uint64_t launch_bytes(const DeviceInfo& info) {
  return info.cpu_kernels ? std::uint64_t{1} << 20 : 32 * static_cast<std::uint64_t>(info.lanes);
}

}  // namespace

VulkanBackend::VulkanBackend(int index, const VulkanOptions& options)
    : device_(index, options),
      pool_(device_, static_cast<std::size_t>(base::environment().memory_limit_mib) << 20),
      compiler_(device_),
      commands_(device_, (device_.info().cpu_kernels ? kLaunchesOfBatchOnCpu : kLaunchesOfBatch) *
                             launch_bytes(device_.info())),
      arguments_(device_, commands_, kArgumentsRing, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT),
      uploads_(device_, commands_, kUploadRing, 0),
      staging_(device_, commands_),
      faults_(std::make_shared<FaultMemory>(device_, commands_)),
      traits_(make_traits(index)) {
  if (traits_.tensor_cores.any() && options.matrix_layout) traits_.tensor_cores.layout = find_layout();
}

ir::DeviceTraits VulkanBackend::make_traits(int index) const {
  const DeviceInfo& info = device_.info();
  ir::DeviceTraits traits;
  traits.name = "vulkan:" + std::to_string(index);
  traits.description = info.name;
  traits.is_cpu = info.cpu_kernels;
  traits.has_f64 = info.has_f64;
  traits.has_halves = info.has_halves;
  traits.lanes = info.lanes;
  if (!info.cpu_kernels) traits.groups = info.lanes / 512;
  // Less the arguments, the fault words, and the partial results and counters of split kernels; some drivers
  // name a million, which no kernel should use.
  traits.max_buffers = static_cast<int>(std::min<std::uint32_t>(info.max_storage_buffers - 2, 64)) - 2;
  traits.memory_bytes = info.local_bytes;
  traits.most_buffer_bytes = info.max_allocation;
  if (!info.cpu_kernels) {
    traits.launch_bytes = static_cast<double>(launch_bytes(info));
    traits.work_per_byte = 14;
    traits.wait_bytes = traits.launch_bytes / 8;
  }
  if (info.has_addresses) traits.batch_bytes = kMemberBytes;
  traits.grid_reductions = !info.cpu_kernels;
  traits.reciprocals = true;
  traits.fixed_windows = true;
  traits.joins = info.adds_wide ? ir::DeviceTraits::Joins::UnorderedAll : ir::DeviceTraits::Joins::Unordered;
  traits.flat_vectors = compiler_.target().vectors;
  const emit::Target& target = compiler_.target();
  if (target.vectors && target.workgroup_size >= 256)
    traits.row_lanes = static_cast<int>(std::bit_floor(std::min(info.max_invocations, 1024u)));
  if (traits.row_lanes > 0) {
    traits.short_row_lanes = std::min(target.subgroup, 32);
    traits.max_divisions = 128;  // as for CUDA: NVIDIA's compilers are akin
  }
  // Of few lanes most tiles would be small.
  if (target.has_workgroups && info.max_invocations >= 256 && base::environment().score_tiles)
    traits.score_tile_bytes = info.shared_bytes;
  if (!info.matrices.empty()) {
    constexpr double kProducts = 1024;  // a guess, against which only the ends of tiles are weighed
    traits.tensor_cores = {info.compute_units,
                           info.shared_bytes,
                           false,
                           kProducts,
                           info.matrices,
                           {},  // of matrices; find_layout
                           static_cast<int>(info.subgroup_size),
                           static_cast<int>(info.max_invocations)};
  }
  return traits;
}

Slice VulkanBackend::allocate_slice(std::size_t bytes) {
  const DeviceInfo& info = device_.info();
  if (bytes > info.max_allocation)
    throw DeviceError("[vulkan] a buffer of " + std::to_string(bytes) + " bytes is larger than the " +
                      std::to_string(info.max_allocation) + " that " + traits_.name + " (" + info.name +
                      ") allows");
  if (std::optional<Slice> slice = pool_.try_allocate(bytes)) return *slice;
  // What is in flight may be the last user of whole blocks that could go back and come as one of the right
  // size.
  trim();
  if (std::optional<Slice> slice = pool_.try_allocate(bytes)) return *slice;
  throw DeviceError(
      "[vulkan] " + traits_.name + " (" + info.name + ") has no memory for " + std::to_string(bytes) +
      " bytes more: " + std::to_string(pool_.bytes_in_use()) + " bytes are in use, " +
      std::to_string(pool_.bytes_reserved()) + " held, of " + std::to_string(info.local_bytes) +
      (base::environment().memory_limit_mib
           ? "; SINTER_MEMORY_LIMIT_MIB is " + std::to_string(base::environment().memory_limit_mib)
           : ""));
}

std::shared_ptr<VulkanBuffer> VulkanBackend::allocate_buffer(std::size_t bytes) {
  return std::make_shared<VulkanBuffer>(*this, bytes, pool_, allocate_slice(bytes));
}

BufferRef VulkanBackend::allocate(std::size_t bytes) { return allocate_buffer(bytes); }

std::size_t VulkanBackend::trim() {
  commands_.wait_all();
  const std::size_t staging = staging_.trim();
  return staging + pool_.trim(commands_.completed());
}

/// Names the feature that the device lacks for the kernel's values.
void VulkanBackend::check_dtypes(const ir::Kernel& kernel) const {
  const DeviceInfo& info = device_.info();
  const auto lacks = [&](const std::string& what, const char* feature) {
    throw DTypeError("[vulkan] " + traits_.name + " (" + info.name + ") cannot compute with " + what +
                     ": it lacks " + feature);
  };
  const auto check = [&](DType dtype) {
    if (dtype == DType::f64 && !info.has_f64) lacks("f64", "shaderFloat64");
    if ((dtype == DType::i64 || dtype == DType::u64) && !info.has_i64)
      lacks(std::string(name_of(dtype)), "shaderInt64");
  };
  for (const ir::BufferInfo& buffer : kernel.buffers) {
    check(buffer.dtype);
    if (size_of(buffer.dtype) == 1 && !info.has_bytes)
      lacks("buffers of " + std::string(name_of(buffer.dtype)), "storageBuffer8BitAccess");
    if (size_of(buffer.dtype) == 2 && !info.has_halves)
      lacks("buffers of " + std::string(name_of(buffer.dtype)), "storageBuffer16BitAccess");
  }
  for (const DType dtype : kernel.scalars) check(dtype);
  for (const ir::Expr& expr : kernel.exprs) check(expr.dtype);
  if (kernel.wide && !info.has_i64) lacks("tensors of more than 2147483647 elements", "shaderInt64");
}

std::vector<ExecutableRef> VulkanBackend::compile(std::span<const ir::Kernel* const> kernels) {
  std::vector<ir::Kernel> own;
  for (const ir::Kernel* kernel : kernels) {
    own.push_back(*kernel);
    // Groups cannot wait for each other's results where there are no barriers.
    if (!compiler_.target().has_workgroups) own.back().split = false;
  }
  std::vector<const ir::Kernel*> pointers;
  for (const ir::Kernel& kernel : own) pointers.push_back(&kernel);
  for (const ir::Kernel* kernel : pointers) check_dtypes(*kernel);
  const base::ExitGate::Entry inside(gate());
  require(inside);
  std::uint64_t open = 0;
  {
    const Commands::Lock lock = commands_.lock();
    open = commands_.open_value();
  }
  compiler_.end_unused(open, commands_.completed());
  std::vector<CompiledTextRef> texts = compiler_.compile(pointers);
  compiler_.save();
  const VkDeviceSize most_bytes = device_.info().has_addresses ? device_.info().max_storage_range : 0;
  std::vector<ExecutableRef> result;
  for (std::size_t i = 0; i < own.size(); ++i)
    result.push_back(std::make_shared<KernelExecutable>(own[i], compiler_, std::move(texts[i]), most_bytes));
  return result;
}

ExecutableRef VulkanBackend::prepare(const library::LibraryOp& op) {
  const base::ExitGate::Entry inside(gate());
  require(inside);
  if (pass_table().has(op.kind())) return prepare_passes(op);
  auto executable = std::make_shared<ProductExecutable>();
  executable->plan = product_table().prepare(traits_.name, op, device_.info());
  const ProductPlan& plan = executable->plan;
  const std::uint32_t bindings = plan.by_address ? 1 : 4;
  if (plan.product.groups)
    executable->product = compiler_.compile(plan.product.source, bindings, plan.product.lanes);
  if (plan.combine.groups)
    executable->combine = compiler_.compile(plan.combine.source, bindings, plan.combine.lanes);
  executable->plan.product.source = executable->plan.combine.source = std::string();
  compiler_.save();
  return executable;
}

ExecutableRef VulkanBackend::prepare_passes(const library::LibraryOp& op) {
  const DeviceInfo& info = device_.info();
  auto executable = std::make_shared<PassesExecutable>();
  // More memory than this leaves too few workgroups on a compute unit to hide latencies.
  const PassDevice device{.shared_words = std::min<std::int64_t>(info.shared_bytes / 4, 8192),
                          .adds_wide = info.adds_wide,
                          .adds_floats = info.adds_floats};
  executable->list = pass_table().prepare(traits_.name, op, device);
  PassList& list = executable->list;
  if (!traits_.supports(list.dtype))
    throw DTypeError("[vulkan] " + info.name + " has no " + op.kind().name() + " of " +
                     std::string(name_of(list.dtype)));
  if (needs_int64(list) && !info.has_i64)
    throw DTypeError("[vulkan] " + info.name + " has no integers of 64 bits, which " + op.kind().name() +
                     " of " + std::string(name_of(list.dtype)) + " takes");
  std::erase_if(list.passes, [](const Pass& pass) { return pass.groups() == 0; });
  for (const Pass& pass : list.passes) {
    if (pass.buffers.size() + 1 > info.max_storage_buffers)
      throw DeviceError("[vulkan] " + op.describe() + " takes " + std::to_string(pass.buffers.size() + 1) +
                        " buffers; kernels on " + info.name + " have up to " +
                        std::to_string(info.max_storage_buffers));
    for (const PassBuffer& buffer : pass.buffers)
      if (buffer.first + buffer.numel > std::numeric_limits<std::int32_t>::max())
        throw DeviceError("[vulkan] " + op.describe() + " goes over " + std::to_string(buffer.numel) +
                          " elements of one buffer; Vulkan kernels reach 2147483647");
    if (info.is_cpu && pass.most_rounds > kMostRounds)
      throw DeviceError("[vulkan] " + op.describe() + " may go round its loops " +
                        std::to_string(pass.most_rounds) + " times for one lane; " + info.name +
                        " stops at " + std::to_string(kMostRounds));
    executable->texts.push_back(compiler_.compile(pass_source(list, pass),
                                                  static_cast<std::uint32_t>(pass.buffers.size() + 1),
                                                  static_cast<std::uint32_t>(pass.lanes)));
  }
  compiler_.save();
  return executable;
}

void VulkanBackend::begin(std::unique_ptr<PlanState>*, const RunNeeds& needs) {
  commands_.throw_if_failed();
  if (run_) throw DeviceError("[vulkan] a run begins before the one before it has ended");
  Run run;
  require(run.inside);
  if (needs.workspace_bytes) {
    run.workspace = allocate_buffer(needs.workspace_bytes);
    if (compiler_.target().has_workgroups || traits_.tensor_cores.any()) make_counters();
  }
  if (needs.faults)
    run.faults = std::make_shared<RunFaults>(faults_, needs.faults, device_.info().storage_alignment);
  {
    const Commands::Lock lock = commands_.lock();
    commands_.begin_run();
  }
  run_.emplace(std::move(run));
}

FaultReportRef VulkanBackend::submit() {
  if (!run_) throw DeviceError("[vulkan] there is no run to submit");
  const Run run = std::move(*run_);
  run_.reset();
  const Commands::Lock lock = commands_.lock();
  if (run.faults) run.faults->end_run(commands_.last_value());
  commands_.end_plan();
  return run.faults;
}

void VulkanBackend::abandon() noexcept {
  if (!run_) return;
  // Other runs' launches may follow in the same command buffer, so what was recorded runs.
  const Commands::Lock lock = commands_.lock();
  if (run_->faults) run_->faults->end_run(commands_.last_value());
  run_.reset();
}

void VulkanBackend::synchronize() {
  commands_.wait_all();
  throw_validation_messages();
}

BackendStatistics VulkanBackend::statistics() const {
  BackendStatistics s;
  s.kernels_compiled = compiler_.counts().compiled;
  s.kernels_from_memory = compiler_.counts().from_memory;
  s.kernels_from_disk = compiler_.counts().from_disk;
  s.launches = launches_;
  s.bytes_in_use = pool_.bytes_in_use();
  s.bytes_reserved = pool_.bytes_reserved() + staging_.bytes();
  s.peak_bytes_in_use = pool_.peak_bytes_in_use();
  return s;
}

}  // namespace vulkan

std::unique_ptr<Backend> make_vulkan_backend(int index, const VulkanOptions& options) {
  return std::make_unique<vulkan::VulkanBackend>(index, options);
}

std::unique_ptr<Backend> make_vulkan_backend(int index) {
  VulkanOptions options;
  options.push_descriptors = !base::environment().validation;
  options.cooperative_matrices = base::environment().cooperative_matrices && vulkan::may_validate_matrices();
  options.matrix_layout = base::environment().matrix_layout;
  return make_vulkan_backend(index, options);
}

}  // namespace sinter::runtime
