// Launches of kernels and products.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <sinter/error.h>

#include "jit/ir/held_bytes.h"
#include "src/runtime/members.h"
#include "src/runtime/vulkan/device_backend.h"
#include "src/runtime/vulkan/kernels/long_loops.h"

namespace sinter::runtime::vulkan {
namespace {

constexpr std::int64_t kCounters = 1 << 16;
constexpr VkDeviceSize kCounterBytes = kCounters * sizeof(std::uint32_t);
// The counters lie in no pool: they have addresses that no slice has.
constexpr Access kCountersAccess{~std::uint64_t{0} - kCounterBytes, ~std::uint64_t{0}, true};
constexpr std::int64_t kVectorBytes = 16;
constexpr std::uint64_t kBytesOfLane = 4;  // that take as long as starting a lane

std::uint64_t work_of(const emit::Geometry& geometry) {
  return kBytesOfLane * geometry.workgroups * geometry.lanes * geometry.rows;
}

}  // namespace

std::size_t KernelExecutable::workspace_bytes(std::span<const std::int64_t> ints, std::size_t) const {
  if (!emit::takes_parts(kernel, compiler_.target())) return 0;
  std::vector<std::int64_t> reaches;
  reach.compute(ints, reaches);
  if (uses_addresses(reaches)) return 0;
  const emit::Geometry geometry = emit::geometry(kernel, compiler_.target(), ints);
  return geometry.workgroups == 0 ? 0 : emit::split_scratch_bytes(kernel, geometry, ints);
}

std::size_t KernelExecutable::held_bytes() const {
  std::size_t bytes =
      sizeof *this + ir::held_bytes(kernel) + ir::held_bytes(members.fields) + usual_.text->held_bytes();
  for (const auto& row : others_)
    for (const Other& other : row)
      if (other.is_made.load(std::memory_order_acquire))
        bytes += ir::held_bytes(other.kernel) + other.form.text->held_bytes();
  return bytes;
}

bool KernelExecutable::uses_addresses(std::span<const std::int64_t> reaches) const {
  return kernel.members > 1 ||
         (most_bytes_ > 0 && std::any_of(reaches.begin(), reaches.end(), [&](auto bytes) {
            return static_cast<VkDeviceSize>(bytes) > most_bytes_;
          }));
}

const KernelForm& KernelExecutable::form(bool by_address, bool shared_loops) {
  const bool changes = by_address && kernel.members == 1;
  if (!changes && !shared_loops) return usual_;
  Other& other = others_[changes][shared_loops];
  std::call_once(other.once, [&] {
    ir::Kernel& own = other.kernel = kernel;
    own.tiling = {};  // ordinary lanes reach by addresses, and share loops
    if (changes) {
      // Kernels for several members name buffers by addresses; this one is launched for one. They neither
      // hand partial results from group to group nor hold rows.
      own.members = 2;
      own.split = false;
      if (!ir::has_parts(own)) own.row_elements = own.row_lanes = 0;
      own.row_full = false;
      own.tile = ir::Kernel::kNoTile;
    }
    if (shared_loops && own.inner_rank > 0) {
      own.schedule = ir::Schedule::LanesInner;
      own.inner_sizes.clear();
    }
    const emit::Target& target = shared_loops ? compiler_.grouped_target() : compiler_.target();
    other.form = {&own, &target, compiler_.compile(own, target)};
    other.is_made.store(true, std::memory_order_release);
  });
  return other.form;
}

bool VulkanBackend::loops_too_long(const KernelForm& form, std::span<const std::int64_t> ints) const {
  if (!device_.info().is_cpu) return false;
  const emit::Geometry geometry = emit::geometry(*form.kernel, *form.target, ints);
  return rounds_of_lane(*form.kernel, *form.target, geometry, ints) > kMostRounds;
}

/// How a launch runs: a function of its ints. Compiles what is missing.
const KernelForm& VulkanBackend::form_of(KernelExecutable& executable, bool by_address,
                                         std::span<const std::int64_t> ints, std::size_t members) {
  const KernelForm* form = &executable.form(by_address, false);
  for (std::size_t m = 0; m < members; ++m) {
    const std::span<const std::int64_t> own =
        ints.subspan(m * executable.kernel.ints, executable.kernel.ints);
    if (!loops_too_long(*form, own)) continue;
    form = &executable.form(by_address, true);
    if (loops_too_long(*form, own))
      throw DeviceError(
          "[vulkan] a kernel may go round its loops " +
          std::to_string(rounds_of_lane(*form->kernel, *form->target,
                                        emit::geometry(*form->kernel, *form->target, own), own)) +
          " times for one lane; " + device_.info().name + " stops at " + std::to_string(kMostRounds));
  }
  return *form;
}

void VulkanBackend::wait_until_ready(Executable& executable, std::span<const std::int64_t> ints,
                                     std::size_t members) {
  auto* kernel = dynamic_cast<KernelExecutable*>(&executable);
  if (!kernel) return;  // products have one size of workgroup
  std::vector<std::int64_t> reaches;
  if (kernel->kernel.members == 1) kernel->reach.compute(ints, reaches);
  const bool by_address = kernel->uses_addresses(reaches);
  const KernelForm& form = form_of(*kernel, by_address, ints, members);
  std::vector<emit::MemberPlace> places;
  const emit::Geometry geometry = by_address
                                      ? emit::geometry(*form.kernel, *form.target, ints, members, places)
                                      : emit::geometry(*form.kernel, *form.target, ints);
  if (geometry.workgroups > 0) compiler_.pipeline(*form.text, geometry);
  compiler_.save();
}

void VulkanBackend::launch(Executable& executable, const LaunchArguments& arguments) {
  if (!run_) throw DeviceError("[vulkan] a launch outside of a run");
  ++launches_;
  bindings_.clear();
  accesses_.clear();
  words_.clear();
  auto* kernel = dynamic_cast<KernelExecutable*>(&executable);
  if (auto* passes = dynamic_cast<PassesExecutable*>(&executable)) return launch_passes(*passes, arguments);
  if (!kernel) return launch_product(dynamic_cast<ProductExecutable&>(executable), arguments);
  if (kernel->kernel.members == 1) compute_reaches(*kernel, arguments, 0);
  kernel->uses_addresses(reaches_) ? launch_members(*kernel, arguments) : launch_kernel(*kernel, arguments);
}

/// Makes room for a launch before its work has a number: making room may submit. `bytes`: of so many pieces
/// of arguments.
void VulkanBackend::make_room(std::size_t bytes, std::uint32_t arguments,
                              std::initializer_list<const Pipeline*> pipelines) {
  std::uint32_t sets = 0, descriptors = 0;
  for (const Pipeline* pipeline : pipelines) {
    if (pipeline->push) continue;
    ++sets;
    descriptors += pipeline->bindings;
  }
  std::uint64_t value = 0;
  do {
    value = commands_.open_value();
    arguments_.make_room(bytes + arguments * device_.info().storage_alignment);
    commands_.reserve(sets, descriptors);
  } while (commands_.open_value() != value);
}

/// Notes that the open work accesses so many bytes of a buffer; returns how many there are of them.
VkDeviceSize VulkanBackend::note(const BufferView& view, std::int64_t bytes, bool write) {
  const auto there =
      static_cast<std::int64_t>(view.buffer->bytes()) - static_cast<std::int64_t>(view.byte_offset);
  if (there < 0 || (write && bytes > there))
    throw DeviceError("[vulkan] a kernel reaches up to byte " + std::to_string(bytes) + " from byte " +
                      std::to_string(view.byte_offset) + " on of a buffer of " +
                      std::to_string(view.buffer->bytes()));
  // A predicate keeps loads inside the buffer where its map does not. Whole vectors are read at the ends of
  // rows, and even of a buffer that nobody touches one is bound; slices are multiples of them.
  bytes =
      (std::max<std::int64_t>(std::min(bytes, there), 1) + kVectorBytes - 1) / kVectorBytes * kVectorBytes;
  Slice& slice = static_cast<VulkanBuffer&>(*view.buffer).slice;
  const std::uint64_t begin = slice.address + view.byte_offset;
  slice.last_use = commands_.open_value();
  if (write) slice.last_write = slice.last_use;
  accesses_.push_back({begin, begin + static_cast<std::uint64_t>(bytes), write});
  return static_cast<VkDeviceSize>(bytes);
}

/// Binds so many bytes of a buffer and notes the access.
Binding VulkanBackend::bind(const BufferView& view, std::int64_t bytes, bool write) {
  const DeviceInfo& info = device_.info();
  if (view.byte_offset % info.storage_alignment)
    throw DeviceError("[vulkan] a kernel's buffer starts at byte " + std::to_string(view.byte_offset) +
                      ", which is no multiple of the " + std::to_string(info.storage_alignment) + " that " +
                      info.name + " asks for");
  const VkDeviceSize bound = note(view, bytes, write);
  if (bound > info.max_storage_range)
    throw DeviceError("[vulkan] a kernel touches " + std::to_string(bound) +
                      " bytes of one buffer; kernels on " + traits_.name + " (" + info.name + ") reach " +
                      std::to_string(info.max_storage_range) +
                      (info.has_addresses ? "" : ", for want of bufferDeviceAddress"));
  const Slice& slice = static_cast<VulkanBuffer&>(*view.buffer).slice;
  return {slice.buffer, slice.offset + view.byte_offset, bound};
}

/// An input of a product may begin at any element: the binding starts a little before it, and the kernel is
/// told how far.
Binding VulkanBackend::bind_input(const BufferView& view, std::size_t bytes) {
  checked(view, bytes, "a matrix product or convolution");
  return bind_part(view, static_cast<std::int64_t>(bytes), false);
}

/// Binds bytes that may begin anywhere, from an offset on that the device can bind.
Binding VulkanBackend::bind_part(const BufferView& view, std::int64_t bytes, bool write) {
  const std::size_t rest = view.byte_offset % device_.info().storage_alignment;
  return bind({view.buffer, view.byte_offset - rest}, static_cast<std::int64_t>(rest) + bytes, write);
}

Binding VulkanBackend::bind_words(std::span<const std::uint32_t> words) {
  const std::size_t bytes = std::max<std::size_t>(words.size_bytes(), 4);
  const StagingRing::Piece piece = arguments_.take(bytes, device_.info().storage_alignment);
  std::memcpy(piece.data, words.data(), words.size_bytes());
  return {piece.buffer, piece.offset, bytes};
}

Binding VulkanBackend::bind_faults(const ir::Kernel& kernel, const LaunchArguments& arguments) {
  if (!run_->faults) throw DeviceError("[vulkan] a launch has fault words, and its run began with none");
  return run_->faults->bind(arguments.first_fault, kernel.faults * arguments.members);
}

/// The run's memory for partial results.
BufferView VulkanBackend::workspace(std::size_t bytes) const {
  const std::size_t there = run_->workspace ? run_->workspace->bytes() : 0;
  if (bytes > there)
    throw DeviceError("[vulkan] a launch works in " + std::to_string(bytes) +
                      " bytes, and its run began with " + std::to_string(there));
  return {run_->workspace.get(), 0};
}

/// Bytes of each buffer of a member that its kernel touches. What is only read is touched within the buffer,
/// whatever positions the sizes allow: indices and predicates keep to it.
void VulkanBackend::compute_reaches(const KernelExecutable& executable, const LaunchArguments& arguments,
                                    std::size_t member) {
  const ir::Kernel& kernel = executable.kernel;
  executable.reach.compute(arguments.ints.subspan(member * kernel.ints, kernel.ints), reaches_);
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const BufferView& view = arguments.buffers[member * kernel.buffers.size() + i];
    if (!kernel.buffers[i].written && view.byte_offset <= view.buffer->bytes())
      reaches_[i] = std::min(reaches_[i], static_cast<std::int64_t>(view.buffer->bytes() - view.byte_offset));
  }
}

/// SPIR-V takes the number of an array's element for a signed one of 32 bits.
void VulkanBackend::check_position(std::int64_t bytes, DType dtype) const {
  const std::int64_t elements = bytes / static_cast<std::int64_t>(size_of(dtype));
  if (elements > std::int64_t{1} << 31)
    throw DeviceError("[vulkan] a kernel reaches element " + std::to_string(elements - 1) +
                      " of a buffer; kernels on " + traits_.name + " reach 2147483647");
}

/// A launch for several members, or for one whose buffers are too large for bindings.
void VulkanBackend::launch_members(KernelExecutable& executable, const LaunchArguments& arguments) {
  const ir::Kernel& kernel = executable.kernel;
  const KernelForm& form = form_of(executable, true, arguments.ints, arguments.members);
  const emit::Geometry geometry =
      emit::geometry(*form.kernel, *form.target, arguments.ints, arguments.members, places_);
  if (geometry.workgroups == 0) return;
  const Pipeline& pipeline = compiler_.pipeline(*form.text, geometry);
  addresses_.clear();
  for (const BufferView& view : arguments.buffers)
    addresses_.push_back(static_cast<VulkanBuffer&>(*view.buffer).slice.device_address + view.byte_offset);
  table_.clear();
  pack_members(kernel, executable.members, arguments, addresses_, places_, table_);
  words_.resize(1 + table_.size() / sizeof(std::uint32_t));
  words_[0] = static_cast<std::uint32_t>(arguments.members);
  std::memcpy(words_.data() + 1, table_.data(), table_.size());

  const Commands::Lock lock = commands_.lock();
  make_room(words_.size() * sizeof(std::uint32_t), 1, {&pipeline});
  bindings_.push_back(bind_words(words_));
  for (std::size_t m = 0; m < arguments.members; ++m) {
    compute_reaches(executable, arguments, m);
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
      check_position(reaches_[i], kernel.buffers[i].dtype);
      note(arguments.buffers[m * kernel.buffers.size() + i], reaches_[i], kernel.buffers[i].written);
    }
  }
  if (kernel.faults > 0) bindings_.push_back(bind_faults(kernel, arguments));
  commands_.dispatch(pipeline, bindings_, accesses_, geometry.workgroups, 1, work_of(geometry));
  commands_.submit_if_large();
}

/// Memory for what workgroups leave to the last of them, and counters. Where they share nothing they touch
/// neither, and have `unused` in both places.
void VulkanBackend::bind_parts(const ir::Kernel& kernel, const emit::Geometry& geometry,
                               std::span<const std::int64_t> ints, const Binding& unused) {
  const std::size_t partials = emit::split_scratch_bytes(kernel, geometry, ints);
  if (partials == 0) {
    bindings_.insert(bindings_.end(), 2, unused);
    return;
  }
  if (const std::int64_t counters = emit::counters_of(kernel, geometry); counters > kCounters)
    throw DeviceError("[vulkan] a reduction of few results counts " + std::to_string(counters) +
                      " groups; the most are " + std::to_string(kCounters));
  bindings_.push_back(bind(workspace(partials), static_cast<std::int64_t>(partials), true));
  bindings_.push_back({counters_->buffer(), 0, kCounterBytes});
  accesses_.push_back(kCountersAccess);
}

void VulkanBackend::launch_kernel(KernelExecutable& executable, const LaunchArguments& arguments) {
  const ir::Kernel& kernel = executable.kernel;
  const KernelForm& form = form_of(executable, false, arguments.ints, 1);
  const emit::Geometry geometry = emit::geometry(*form.kernel, *form.target, arguments.ints);
  if (geometry.workgroups == 0) return;
  const Pipeline& pipeline = compiler_.pipeline(*form.text, geometry);
  pack_words(kernel, arguments, words_);
  const bool takes_parts = emit::takes_parts(*form.kernel, *form.target);
  if (takes_parts) words_.push_back(geometry.parts);

  const Commands::Lock lock = commands_.lock();
  make_room(words_.size() * sizeof(std::uint32_t), 1, {&pipeline});
  const Binding words = bind_words(words_);
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
    bindings_.push_back(bind(arguments.buffers[i], reaches_[i], kernel.buffers[i].written));
  bindings_.push_back(words);
  if (takes_parts) bind_parts(*form.kernel, geometry, arguments.ints, words);
  if (kernel.faults > 0) bindings_.push_back(bind_faults(kernel, arguments));
  commands_.dispatch(pipeline, bindings_, accesses_, geometry.workgroups, 1, work_of(geometry));
  commands_.submit_if_large();
}

/// Counters are all zero between launches.
void VulkanBackend::make_counters() {
  if (counters_) return;
  auto counters = MemoryBlock::make(device_, kCounterBytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
  const Commands::Lock lock = commands_.lock();
  commands_.fill_with_zeros(counters->buffer(), kCounterBytes, {&kCountersAccess, 1});
  counters_ = std::move(counters);
}

void VulkanBackend::run_pass(std::uint64_t groups, const Pipeline& pipeline, std::uint64_t work) {
  const DeviceInfo& info = device_.info();
  const auto x = static_cast<std::uint32_t>(std::min<std::uint64_t>(groups, info.max_groups[0]));
  const std::uint64_t y = (groups + x - 1) / x;
  if (y > info.max_groups[1])
    throw DeviceError("[vulkan] " + std::to_string(groups) + " groups are more than " + info.name +
                      " can launch");
  commands_.dispatch(pipeline, bindings_, accesses_, x, static_cast<std::uint32_t>(y), work);
}

/// The addresses of a, b and c take the place of the last words.
void VulkanBackend::put_addresses(std::vector<std::uint32_t>& words,
                                  std::span<const BufferView> views) const {
  std::size_t at = words.size() - kAddressWords;
  for (const BufferView& view : views) {
    const VkDeviceAddress address =
        static_cast<VulkanBuffer&>(*view.buffer).slice.device_address + view.byte_offset;
    words[at++] = static_cast<std::uint32_t>(address);
    words[at++] = static_cast<std::uint32_t>(address >> 32);
  }
}

void VulkanBackend::launch_product(ProductExecutable& executable, const LaunchArguments& arguments) {
  const ProductPlan& plan = executable.plan;
  if (!executable.product) return;
  const Pipeline& product = compiler_.pipeline(*executable.product, plan.product.lanes);
  const Pipeline* combine =
      executable.combine ? &compiler_.pipeline(*executable.combine, plan.combine.lanes) : nullptr;
  const BufferView output = arguments.buffers[2];
  const BufferView sums = combine ? workspace(plan.partial_bytes) : output;
  const std::size_t bytes_of_sums = combine ? plan.partial_bytes : plan.output_bytes;
  const BufferView a = arguments.buffers[plan.inputs[0]], b = arguments.buffers[plan.inputs[1]];
  const auto first_element = [&](const BufferView& view) {
    return static_cast<std::uint32_t>(view.byte_offset % device_.info().storage_alignment /
                                      plan.element_bytes);
  };
  words_ = plan.product.words;
  if (plan.by_address) {
    put_addresses(words_, std::array{a, b, sums});
  } else {
    words_[kFirstElementWord] = first_element(a);
    words_[kFirstElementWord + 1] = first_element(b);
  }

  const Commands::Lock lock = commands_.lock();
  const std::size_t words_of_both = words_.size() + plan.combine.words.size();
  if (combine)
    make_room(words_of_both * sizeof(std::uint32_t), 2, {&product, combine});
  else
    make_room(words_of_both * sizeof(std::uint32_t), 1, {&product});
  const auto work = static_cast<std::uint64_t>(plan.operations / traits_.work_per_byte);
  const auto write = [&](const BufferView& view, std::size_t bytes) {
    if (!plan.by_address) {
      bindings_.push_back(bind(view, static_cast<std::int64_t>(bytes), true));
    } else {
      checked(view, bytes, "a matrix product or convolution");
      note(view, static_cast<std::int64_t>(bytes), true);
    }
  };
  const auto read = [&](const BufferView& view, std::size_t bytes) {
    if (!plan.by_address) {
      bindings_.push_back(bind_input(view, bytes));
    } else {
      checked(view, bytes, "a matrix product or convolution");
      note(view, static_cast<std::int64_t>(bytes), false);
    }
  };
  read(a, plan.input_bytes[0]);
  read(b, plan.input_bytes[1]);
  write(sums, bytes_of_sums);
  bindings_.push_back(bind_words(words_));
  run_pass(plan.product.groups, product, work);
  if (combine) {
    accesses_.clear();
    bindings_.clear();
    words_ = plan.combine.words;
    if (plan.by_address) put_addresses(words_, std::array{sums, sums, output});
    read(sums, plan.partial_bytes);
    read(sums, plan.partial_bytes);
    write(output, plan.output_bytes);
    bindings_.push_back(bind_words(words_));
    run_pass(plan.combine.groups, *combine, 0);
  }
  commands_.submit_if_large();
}

void VulkanBackend::launch_passes(PassesExecutable& executable, const LaunchArguments& arguments) {
  const PassList& list = executable.list;
  const std::size_t first_result = arguments.buffers.size() - list.results;
  const Commands::Lock lock = commands_.lock();
  for (std::size_t p = 0; p < list.passes.size(); ++p) {
    const Pass& pass = list.passes[p];
    const Pipeline& pipeline =
        compiler_.pipeline(*executable.texts[p], static_cast<std::uint32_t>(pass.lanes));
    bindings_.clear();
    accesses_.clear();
    words_.assign(pass.buffers.size(), 0);
    words_.push_back(static_cast<std::uint32_t>(pass.width_bits()));
    words_.push_back(static_cast<std::uint32_t>(pass.tiles()));
    for (const auto& [name, value] : pass.ints) words_.push_back(static_cast<std::uint32_t>(value));
    make_room(words_.size() * sizeof(std::uint32_t), 1, {&pipeline});
    std::uint64_t bytes = 0;
    for (std::size_t b = 0; b < pass.buffers.size(); ++b) {
      const PassBuffer& buffer = pass.buffers[b];
      const std::size_t size = size_of(buffer.dtype);
      BufferView view = buffer.of == PassBuffer::Of::Operand ? arguments.buffers[buffer.number]
                        : buffer.of == PassBuffer::Of::Result
                            ? arguments.buffers[first_result + buffer.number]
                            : workspace(list.workspace_bytes);
      view.byte_offset += static_cast<std::size_t>(buffer.first) * size;
      words_[b] = static_cast<std::uint32_t>(view.byte_offset % device_.info().storage_alignment / size);
      const std::int64_t all = buffer.numel * static_cast<std::int64_t>(size);
      bindings_.push_back(bind_part(view, all, buffer.written));
      bytes += static_cast<std::uint64_t>(all);
    }
    bindings_.push_back(bind_words(words_));
    const auto groups = static_cast<std::uint64_t>(pass.groups());
    run_pass(groups, pipeline, bytes + kBytesOfLane * groups * static_cast<std::uint64_t>(pass.lanes));
  }
  commands_.submit_if_large();
}

}  // namespace sinter::runtime::vulkan
