// The Vulkan backend: buffers, kernels and launches on top of memory, pipelines and commands.
#include "src/runtime/vulkan/vulkan_backend.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/members.h"
#include "src/runtime/vulkan/commands.h"
#include "src/runtime/vulkan/compiler.h"
#include "src/runtime/vulkan/device.h"
#include "src/runtime/vulkan/executables.h"
#include "src/runtime/vulkan/instance.h"
#include "src/runtime/vulkan/long_loops.h"
#include "src/runtime/vulkan/memory.h"
#include "src/runtime/vulkan/products.h"
#include "src/runtime/vulkan/reach.h"
#include "src/runtime/vulkan/staging.h"

namespace sinter::runtime {
namespace vulkan {
namespace {

constexpr VkDeviceSize kArgumentsRing = VkDeviceSize{1} << 20;
constexpr std::int64_t kCounters = 1 << 16;
constexpr VkDeviceSize kCounterBytes = kCounters * sizeof(std::uint32_t);
// The counters lie in no pool: they have addresses that no slice has.
constexpr Access kCountersAccess{~std::uint64_t{0} - kCounterBytes, ~std::uint64_t{0}, true};
constexpr VkDeviceSize kMemberBytes = VkDeviceSize{32}
                                      << 10;  // of the arguments of one launch for several members
constexpr VkDeviceSize kUploadRing = VkDeviceSize{16} << 20;
constexpr VkDeviceSize kUploadPiece = VkDeviceSize{4} << 20;
constexpr VkDeviceSize kDownloadStaging = VkDeviceSize{16} << 20;

class VulkanBackend final : public Backend {
 public:
  VulkanBackend(int index, const VulkanOptions& options)
      : device_(index, options),
        pool_(device_, static_cast<std::size_t>(base::environment().memory_limit_mib) << 20),
        compiler_(device_),
        commands_(device_),
        arguments_(device_, commands_, kArgumentsRing, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT),
        fault_(MemoryBlock::make(device_, 256,
                                 VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                 VK_MEMORY_PROPERTY_HOST_CACHED_BIT)) {
    const DeviceInfo& info = device_.info();
    std::memset(fault_->mapped(), 0, sizeof(std::uint32_t));
    traits_.name = "vulkan:" + std::to_string(index);
    traits_.description = info.name;
    traits_.is_cpu = info.cpu_kernels;
    traits_.has_f64 = info.has_f64;
    traits_.has_halves = info.has_halves;
    traits_.lanes = info.lanes;
    if (!info.cpu_kernels) traits_.groups = info.lanes / 512;
    // Less the arguments and the fault word; some drivers name a million, which no kernel should use.
    traits_.max_buffers = static_cast<int>(std::min<std::uint32_t>(info.max_storage_buffers - 2, 64));
    traits_.memory_bytes = info.local_bytes;
    if (!info.cpu_kernels) {
      traits_.launch_bytes = 32.0 * static_cast<double>(info.lanes);
      traits_.work_per_byte = 14;
    }
    if (info.has_addresses) traits_.batch_bytes = kMemberBytes;
    traits_.grid_reductions = !info.cpu_kernels;
    const emit::Target& target = compiler_.target();
    if (target.vectors && target.workgroup_size >= 256) traits_.row_lanes = target.workgroup_size;
    // Less the partial results and counters of split kernels too.
    traits_.max_buffers -= 2;
  }

  const ir::DeviceTraits& traits() const override { return traits_; }
  BufferRef allocate(std::size_t bytes) override;
  std::size_t trim() override {
    commands_.wait_all();
    return pool_.trim();
  }
  void upload(const BufferView& to, std::span<const std::byte> data) override;
  void download(const BufferView& from, std::span<std::byte> data) override;
  std::vector<ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override;
  bool computes(const library::Kind& kind) const override { return product_table().has(kind); }
  ExecutableRef prepare(const library::LibraryOp& op) override;
  void launch(Executable& executable, const LaunchArguments& arguments) override;
  void begin(std::unique_ptr<PlanState>*, const RunNeeds&) override {}
  FaultReportRef submit() override {
    commands_.end_plan();
    return nullptr;
  }
  void synchronize() override;
  BackendStatistics statistics() const override;

 private:
  Slice allocate_slice(std::size_t bytes);
  VulkanBuffer& checked(const BufferView& view, std::size_t bytes, const char* what) const;
  Binding bind(const BufferView& view, std::int64_t bytes, bool write);
  Binding bind_input(const BufferView& view, std::size_t bytes);
  Binding bind_words(std::span<const std::uint32_t> words);
  CompiledText& share_loops(KernelExecutable& executable, std::span<const std::int64_t> ints,
                            emit::Geometry& geometry);
  bool loops_too_long(const ir::Kernel& kernel, const emit::Geometry& geometry,
                      std::span<const std::int64_t> ints) const;
  void launch_kernel(KernelExecutable& executable, const LaunchArguments& arguments);
  void launch_members(KernelExecutable& executable, const LaunchArguments& arguments);
  void launch_product(ProductExecutable& executable, const LaunchArguments& arguments);
  void make_counters();
  void run_pass(const ProductPass& pass, CompiledText& text);
  void throw_faults();

  Device device_;
  MemoryPool pool_;
  KernelCompiler compiler_;
  Commands commands_;
  StagingRing arguments_;
  std::unique_ptr<StagingRing> uploads_;  // made at first use: a device that shares memory may never need it
  std::unique_ptr<MemoryBlock> downloads_;
  std::unique_ptr<MemoryBlock> counters_;  // of split kernels
  std::unique_ptr<MemoryBlock> fault_;     // one word: 1 when an index was out of range
  ir::DeviceTraits traits_;
  std::uint64_t launches_ = 0;
  std::vector<std::uint32_t> words_;
  std::vector<Binding> bindings_;
  std::vector<Access> accesses_;
  std::vector<std::int64_t> reaches_;
  std::vector<std::uint64_t> addresses_;
  std::vector<std::uint32_t> firsts_;
  std::vector<std::byte> table_;
};

Slice VulkanBackend::allocate_slice(std::size_t bytes) {
  const DeviceInfo& info = device_.info();
  if (bytes > info.max_allocation)
    throw DeviceError("[vulkan] a buffer of " + std::to_string(bytes) + " bytes is larger than the " +
                      std::to_string(info.max_allocation) + " that " + traits_.name + " (" + info.name +
                      ") allows");
  if (std::optional<Slice> slice = pool_.try_allocate(bytes)) return *slice;
  // What is in flight may be the last user of whole blocks that could go back and come as one of the right
  // size.
  commands_.wait_all();
  pool_.trim();
  if (std::optional<Slice> slice = pool_.try_allocate(bytes)) return *slice;
  throw DeviceError(
      "[vulkan] " + traits_.name + " (" + info.name + ") has no memory for " + std::to_string(bytes) +
      " bytes more: " + std::to_string(pool_.bytes_in_use()) + " bytes are in use, " +
      std::to_string(pool_.bytes_reserved()) + " held, of " + std::to_string(info.local_bytes) +
      (base::environment().memory_limit_mib
           ? "; SINTER_MEMORY_LIMIT_MIB is " + std::to_string(base::environment().memory_limit_mib)
           : ""));
}

BufferRef VulkanBackend::allocate(std::size_t bytes) {
  return std::make_shared<VulkanBuffer>(*this, bytes, pool_, allocate_slice(bytes));
}

VulkanBuffer& VulkanBackend::checked(const BufferView& view, std::size_t bytes, const char* what) const {
  if (view.byte_offset > view.buffer->bytes() || bytes > view.buffer->bytes() - view.byte_offset)
    throw DeviceError(std::string("[vulkan] ") + what + " needs " + std::to_string(bytes) +
                      " bytes from byte " + std::to_string(view.byte_offset) + " on of a buffer of " +
                      std::to_string(view.buffer->bytes()));
  return static_cast<VulkanBuffer&>(*view.buffer);
}

void VulkanBackend::upload(const BufferView& to, std::span<const std::byte> data) {
  if (data.empty()) return;
  Slice& slice = checked(to, data.size(), "an upload").slice;
  if (slice.mapped && slice.last_use <= commands_.completed()) {
    std::memcpy(slice.mapped + to.byte_offset, data.data(), data.size());
    return;
  }
  if (!uploads_) uploads_ = std::make_unique<StagingRing>(device_, commands_, kUploadRing, 0);
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t bytes = std::min<std::size_t>(data.size() - at, kUploadPiece);
    const StagingRing::Piece piece = uploads_->take(bytes, 16);
    std::memcpy(piece.data, data.data() + at, bytes);
    const std::uint64_t begin = slice.address + to.byte_offset + at;
    const Access access{begin, begin + bytes, true};
    slice.last_use = commands_.open_value();
    commands_.copy(piece.buffer, piece.offset, slice.buffer, slice.offset + to.byte_offset + at, bytes,
                   {&access, 1});
    at += bytes;
    if (at < data.size()) commands_.submit();  // the device copies one piece while the next is written
  }
}

void VulkanBackend::download(const BufferView& from, std::span<std::byte> data) {
  Slice& slice = checked(from, data.size(), "a download").slice;
  if (slice.mapped || data.empty()) {
    commands_.wait_all();
    if (!data.empty()) std::memcpy(data.data(), slice.mapped + from.byte_offset, data.size());
  } else {
    if (!downloads_)
      downloads_ =
          MemoryBlock::make(device_, kDownloadStaging,
                            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                            VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    for (std::size_t at = 0; at < data.size();) {
      const std::size_t bytes = std::min<std::size_t>(data.size() - at, kDownloadStaging);
      const std::uint64_t begin = slice.address + from.byte_offset + at;
      const Access access{begin, begin + bytes, false};
      slice.last_use = commands_.open_value();
      commands_.copy(slice.buffer, slice.offset + from.byte_offset + at, downloads_->buffer(), 0, bytes,
                     {&access, 1});
      commands_.wait_all();
      std::memcpy(data.data() + at, downloads_->mapped(), bytes);
      at += bytes;
    }
  }
  throw_validation_messages();
  throw_faults();
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
  const std::vector<CompiledText*> texts = compiler_.compile(pointers);
  std::vector<ExecutableRef> result;
  for (std::size_t i = 0; i < own.size(); ++i)
    result.push_back(std::make_shared<KernelExecutable>(own[i], *texts[i]));
  return result;
}

ExecutableRef VulkanBackend::prepare(const library::LibraryOp& op) {
  auto executable = std::make_shared<ProductExecutable>();
  executable->plan = product_table().prepare(traits_.name, op, device_.info());
  const ProductPlan& plan = executable->plan;
  constexpr std::uint32_t kBindings = 4;
  if (plan.product.groups)
    executable->product = &compiler_.compile(plan.product.source, kBindings, plan.product.lanes);
  if (plan.combine.groups)
    executable->combine = &compiler_.compile(plan.combine.source, kBindings, plan.combine.lanes);
  return executable;
}

void VulkanBackend::launch(Executable& executable, const LaunchArguments& arguments) {
  ++launches_;
  bindings_.clear();
  accesses_.clear();
  words_.clear();
  if (auto* kernel = dynamic_cast<KernelExecutable*>(&executable))
    launch_kernel(*kernel, arguments);
  else
    launch_product(dynamic_cast<ProductExecutable&>(executable), arguments);
}

/// Binds so many bytes, notes the access and marks the buffer as used by the open work.
Binding VulkanBackend::bind(const BufferView& view, std::int64_t bytes, bool write) {
  const DeviceInfo& info = device_.info();
  const auto there =
      static_cast<std::int64_t>(view.buffer->bytes()) - static_cast<std::int64_t>(view.byte_offset);
  if (there < 0 || (write && bytes > there))
    throw DeviceError("[vulkan] a kernel reaches up to byte " + std::to_string(bytes) + " from byte " +
                      std::to_string(view.byte_offset) + " on of a buffer of " +
                      std::to_string(view.buffer->bytes()));
  if (view.byte_offset % info.storage_alignment)
    throw DeviceError("[vulkan] a kernel's buffer starts at byte " + std::to_string(view.byte_offset) +
                      ", which is no multiple of the " + std::to_string(info.storage_alignment) + " that " +
                      info.name + " asks for");
  // A predicate keeps loads inside the buffer where its map does not. Bytes come in words, and even of a
  // buffer that nobody touches one word is bound.
  bytes = (std::max<std::int64_t>(std::min(bytes, there), 1) + 3) / 4 * 4;
  if (static_cast<VkDeviceSize>(bytes) > info.max_storage_range)
    throw DeviceError("[vulkan] a kernel touches " + std::to_string(bytes) +
                      " bytes of one buffer; kernels on " + traits_.name + " (" + info.name + ") reach " +
                      std::to_string(info.max_storage_range));
  Slice& slice = static_cast<VulkanBuffer&>(*view.buffer).slice;
  const std::uint64_t begin = slice.address + view.byte_offset;
  slice.last_use = commands_.open_value();
  accesses_.push_back({begin, begin + static_cast<std::uint64_t>(bytes), write});
  return {slice.buffer, slice.offset + view.byte_offset, static_cast<VkDeviceSize>(bytes)};
}

/// An input of a product may begin at any element: the binding starts a little before it, and the kernel is
/// told how far.
Binding VulkanBackend::bind_input(const BufferView& view, std::size_t bytes) {
  checked(view, bytes, "a matrix product or convolution");
  const std::size_t rest = view.byte_offset % device_.info().storage_alignment;
  return bind({view.buffer, view.byte_offset - rest}, static_cast<std::int64_t>(rest + bytes), false);
}

Binding VulkanBackend::bind_words(std::span<const std::uint32_t> words) {
  const std::size_t bytes = std::max<std::size_t>(words.size_bytes(), 4);
  const StagingRing::Piece piece = arguments_.take(bytes, device_.info().storage_alignment);
  std::memcpy(piece.data, words.data(), words.size_bytes());
  return {piece.buffer, piece.offset, bytes};
}

CompiledText& VulkanBackend::share_loops(KernelExecutable& executable, std::span<const std::int64_t> ints,
                                         emit::Geometry& geometry) {
  if (!executable.shared_kernel) {
    executable.shared_kernel = std::make_unique<ir::Kernel>(executable.kernel);
    if (executable.kernel.inner_rank > 0) executable.shared_kernel->schedule = ir::Schedule::LanesInner;
  }
  const ir::Kernel& kernel = *executable.shared_kernel;
  geometry = emit::geometry(kernel, compiler_.grouped_target(), ints);
  if (const std::int64_t rounds = rounds_of_lane(kernel, compiler_.grouped_target(), geometry, ints);
      rounds > kMostRounds)
    throw DeviceError("[vulkan] a kernel may go round its loops " + std::to_string(rounds) +
                      " times for one lane; " + device_.info().name + " stops at " +
                      std::to_string(kMostRounds));
  if (!executable.shared_text) executable.shared_text = &compiler_.compile_grouped(kernel);
  return *executable.shared_text;
}

bool VulkanBackend::loops_too_long(const ir::Kernel& kernel, const emit::Geometry& geometry,
                                   std::span<const std::int64_t> ints) const {
  return device_.info().is_cpu && rounds_of_lane(kernel, compiler_.target(), geometry, ints) > kMostRounds;
}

void VulkanBackend::launch_members(KernelExecutable& executable, const LaunchArguments& arguments) {
  const ir::Kernel& kernel = executable.kernel;
  const emit::Target* target = &compiler_.target();
  CompiledText* text = &executable.text;
  for (std::size_t m = 0; m < arguments.members; ++m) {
    const std::span<const std::int64_t> ints = arguments.ints.subspan(m * kernel.ints, kernel.ints);
    emit::Geometry alone = emit::geometry(kernel, compiler_.target(), ints);
    if (!loops_too_long(kernel, alone, ints)) continue;
    text = &share_loops(executable, ints, alone);
    target = &compiler_.grouped_target();
  }
  const ir::Kernel& shared = text == &executable.text ? kernel : *executable.shared_kernel;
  const emit::Geometry geometry = emit::geometry(shared, *target, arguments.ints, arguments.members, firsts_);
  if (geometry.workgroups == 0) return;
  const Pipeline& pipeline = compiler_.pipeline(*text, geometry.lanes);
  addresses_.clear();
  for (const BufferView& view : arguments.buffers)
    addresses_.push_back(static_cast<VulkanBuffer&>(*view.buffer).slice.device_address + view.byte_offset);
  table_.clear();
  pack_members(kernel, executable.members, arguments, addresses_, firsts_, table_);
  words_.resize(1 + table_.size() / sizeof(std::uint32_t));
  words_[0] = static_cast<std::uint32_t>(arguments.members);
  std::memcpy(words_.data() + 1, table_.data(), table_.size());
  // Taking words may submit: only then is it known which work this launch belongs to.
  bindings_.push_back(bind_words(words_));
  for (std::size_t m = 0; m < arguments.members; ++m) {
    executable.reach.compute(arguments.ints.subspan(m * kernel.ints, kernel.ints), reaches_);
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
      bind(arguments.buffers[m * kernel.buffers.size() + i], reaches_[i], kernel.buffers[i].written);
  }
  if (kernel.faults > 0) bindings_.push_back({fault_->buffer(), 0, sizeof(std::uint32_t)});
  commands_.dispatch(pipeline, bindings_, accesses_, geometry.workgroups, 1);
}

void VulkanBackend::launch_kernel(KernelExecutable& executable, const LaunchArguments& arguments) {
  const ir::Kernel& kernel = executable.kernel;
  if (kernel.members > 1) return launch_members(executable, arguments);
  emit::Geometry geometry = emit::geometry(kernel, compiler_.target(), arguments.ints);
  if (geometry.workgroups == 0) return;
  CompiledText* text = &executable.text;
  if (loops_too_long(kernel, geometry, arguments.ints))
    text = &share_loops(executable, arguments.ints, geometry);
  const Pipeline& pipeline = compiler_.pipeline(*text, geometry.lanes);
  pack_words(kernel, arguments, words_);
  std::shared_ptr<VulkanBuffer> partials;
  if (kernel.split) {
    make_counters();  // now: filling them may submit
    words_.push_back(geometry.parts);
    const std::size_t bytes = emit::split_scratch_bytes(kernel, geometry, arguments.ints);
    partials = std::make_shared<VulkanBuffer>(*this, bytes, pool_, allocate_slice(bytes));
  }
  // Taking words may submit: only then is it known which work this launch belongs to.
  const Binding words = bind_words(words_);
  executable.reach.compute(arguments.ints, reaches_);
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    bindings_.push_back(bind(arguments.buffers[i], reaches_[i], kernel.buffers[i].written));
  bindings_.push_back(words);
  if (kernel.split) {
    if (geometry.workgroups / geometry.parts > kCounters)
      throw DeviceError("[vulkan] a reduction of few results counts " +
                        std::to_string(geometry.workgroups / geometry.parts) + " groups; the most are " +
                        std::to_string(kCounters));
    bindings_.push_back(bind({partials.get(), 0}, static_cast<std::int64_t>(partials->bytes()), true));
    bindings_.push_back({counters_->buffer(), 0, kCounterBytes});
    accesses_.push_back(kCountersAccess);
  }
  if (kernel.faults > 0) bindings_.push_back({fault_->buffer(), 0, sizeof(std::uint32_t)});
  commands_.dispatch(pipeline, bindings_, accesses_, geometry.workgroups, 1);
}

/// Counters are all zero between launches.
void VulkanBackend::make_counters() {
  if (counters_) return;
  counters_ = MemoryBlock::make(device_, kCounterBytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
  const StagingRing::Piece zeros = arguments_.take(kCounterBytes, device_.info().storage_alignment);
  std::memset(zeros.data, 0, kCounterBytes);
  commands_.copy(zeros.buffer, zeros.offset, counters_->buffer(), 0, kCounterBytes, {&kCountersAccess, 1});
}

void VulkanBackend::run_pass(const ProductPass& pass, CompiledText& text) {
  const DeviceInfo& info = device_.info();
  const auto x = static_cast<std::uint32_t>(std::min<std::uint64_t>(pass.groups, info.max_groups[0]));
  const std::uint64_t y = (pass.groups + x - 1) / x;
  if (y > info.max_groups[1])
    throw DeviceError("[vulkan] " + std::to_string(pass.groups) + " groups are more than " + info.name +
                      " can launch");
  commands_.dispatch(compiler_.pipeline(text, pass.lanes), bindings_, accesses_, x,
                     static_cast<std::uint32_t>(y));
}

void VulkanBackend::launch_product(ProductExecutable& executable, const LaunchArguments& arguments) {
  const ProductPlan& plan = executable.plan;
  if (!executable.product) return;
  std::shared_ptr<VulkanBuffer> partial;
  if (executable.combine)
    partial =
        std::make_shared<VulkanBuffer>(*this, plan.partial_bytes, pool_, allocate_slice(plan.partial_bytes));
  const BufferView partial_view{partial.get(), 0};
  const BufferView output = arguments.buffers[2];
  const auto of_partial = static_cast<std::int64_t>(plan.partial_bytes);
  const auto of_output = static_cast<std::int64_t>(plan.output_bytes);

  const BufferView a = arguments.buffers[plan.inputs[0]], b = arguments.buffers[plan.inputs[1]];
  const auto first_element = [&](const BufferView& view) {
    return static_cast<std::uint32_t>(view.byte_offset % device_.info().storage_alignment /
                                      plan.element_bytes);
  };
  words_ = plan.product.words;
  words_[kFirstElementWord] = first_element(a);
  words_[kFirstElementWord + 1] = first_element(b);
  Binding words = bind_words(words_);
  bindings_ = {bind_input(a, plan.input_bytes[0]), bind_input(b, plan.input_bytes[1]),
               partial ? bind(partial_view, of_partial, true) : bind(output, of_output, true), words};
  run_pass(plan.product, *executable.product);
  if (!executable.combine) return;

  accesses_.clear();
  words = bind_words(plan.combine.words);
  const Binding sums = bind(partial_view, of_partial, false);
  bindings_ = {sums, sums, bind(output, of_output, true), words};
  run_pass(plan.combine, *executable.combine);
}

void VulkanBackend::throw_faults() {
  std::uint32_t fault = 0;
  std::memcpy(&fault, fault_->mapped(), sizeof fault);
  if (!fault) return;
  std::memset(fault_->mapped(), 0, sizeof fault);
  throw ShapeError("[gather] an index was out of range on " + traits_.name);
}

void VulkanBackend::synchronize() {
  commands_.wait_all();
  throw_validation_messages();
  throw_faults();
}

BackendStatistics VulkanBackend::statistics() const {
  BackendStatistics s;
  s.kernels_compiled = compiler_.counts().compiled;
  s.kernels_from_memory = compiler_.counts().from_memory;
  s.kernels_from_disk = compiler_.counts().from_disk;
  s.launches = launches_;
  s.bytes_in_use = pool_.bytes_in_use();
  s.bytes_reserved = pool_.bytes_reserved();
  s.peak_bytes_in_use = pool_.peak_bytes_in_use();
  return s;
}

}  // namespace
}  // namespace vulkan

std::unique_ptr<Backend> make_vulkan_backend(int index, const VulkanOptions& options) {
  return std::make_unique<vulkan::VulkanBackend>(index, options);
}

std::unique_ptr<Backend> make_vulkan_backend(int index) {
  VulkanOptions options;
  options.push_descriptors = !base::environment().validation;
  return make_vulkan_backend(index, options);
}

}  // namespace sinter::runtime
