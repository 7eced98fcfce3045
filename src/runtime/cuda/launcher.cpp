// Arguments of kernels, batched kernels and products.
#include "src/runtime/cuda/launcher.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <sinter/error.h>

#include "jit/emit/attention/attention.h"
#include "jit/emit/attention/lone_rows.h"
#include "jit/emit/contraction/contraction.h"
#include "jit/ir/held_bytes.h"
#include "src/runtime/cuda/libraries/solver.h"
#include "src/runtime/cuda/memory/queues.h"
#include "src/runtime/members.h"

namespace sinter::runtime::cuda {

namespace {

/// The run's workspace, for a launch that needs this much.
DevicePointer workspace_for(std::size_t bytes, const RunMemory& memory) {
  if (bytes > memory.workspace_bytes)
    throw Error("[cuda] a launch needs " + std::to_string(bytes) + " bytes of workspace in a run that has " +
                std::to_string(memory.workspace_bytes));
  return memory.workspace;
}

/// Where the launch's fault words begin.
DevicePointer first_fault(const LaunchArguments& arguments, const RunMemory& memory) {
  return memory.faults + arguments.first_fault * sizeof(std::uint32_t);
}

}  // namespace

std::size_t KernelExecutable::workspace_bytes(std::span<const std::int64_t> ints, std::size_t members) const {
  const bool has_parts = emit::takes_parts(kernel, target);
  if (!has_parts && !emit::has_tiles(kernel, target)) return 0;
  const auto check_counters = [](std::int64_t counters) {
    if (counters > kCounters)
      throw DeviceError("[cuda] a reduction of few results counts " + std::to_string(counters) +
                        " groups; the most are " + std::to_string(kCounters));
  };
  if (kernel.members > 1) {
    std::vector<emit::MemberPlace> places;
    emit::geometry(kernel, target, ints, members, places);
    check_counters(places.back().counters);
    return std::size_t{places.back().partials} * sizeof(std::uint32_t);
  }
  const emit::Geometry geometry = emit::geometry(kernel, target, ints);
  if (!has_parts) return emit::contraction_scratch_bytes(kernel, geometry);
  if (geometry.workgroups == 0) return 0;
  check_counters(emit::counters_of(kernel, geometry));
  return emit::split_scratch_bytes(kernel, geometry, ints);
}

std::size_t KernelExecutable::held_bytes() const {
  // The driver has a copy of the code.
  return sizeof *this + ir::held_bytes(kernel) + ir::held_bytes(members.fields) + 2 * code->bytes();
}

void Launcher::launch(CudaExecutable& executable, const LaunchArguments& arguments, const RunMemory& memory) {
  if (executable.kind != CudaExecutable::Kind::Solver)
    if (Node* node = replays_.next_launch(executable); node && has_maps_for(*node, arguments))
      return launch_again(*node, arguments, memory);
  parameters_.clear();
  switch (executable.kind) {
    case CudaExecutable::Kind::Kernel:
      return launch_kernel(static_cast<KernelExecutable&>(executable), arguments, memory);
    case CudaExecutable::Kind::Product:
      return launch_product(static_cast<ProductExecutable&>(executable), arguments, memory);
    case CudaExecutable::Kind::Passes:
      return launch_passes(static_cast<PassesExecutable&>(executable), arguments, memory);
    case CudaExecutable::Kind::Library:
      return launch_library(static_cast<LibraryExecutable&>(executable), arguments, memory);
    case CudaExecutable::Kind::Solver:
      return launch_solver(static_cast<SolverExecutable&>(executable), arguments, memory);
  }
}

/// False where the node has tensor maps that were made for other addresses or offsets: a replay packs all
/// arguments again.
bool Launcher::has_maps_for(const Node& node, const LaunchArguments& arguments) const {
  if (!node.start.has_maps) return true;
  const std::vector<Patch>& patches = node.parameters.patches();
  return std::all_of(patches.begin(), patches.end(), [&](const Patch& patch) {
    if (patch.source == Patch::Source::Buffer)
      return node.parameters.holds(patch, address_of(arguments.buffers[patch.number]));
    return patch.source != Patch::Source::Int ||
           node.parameters.holds(patch, static_cast<std::uint64_t>(arguments.ints[patch.number]));
  });
}

void Launcher::launch_again(Node& node, const LaunchArguments& arguments, const RunMemory& memory) {
  for (const Patch& patch : node.parameters.patches()) {
    std::uint64_t bits = 0;
    switch (patch.source) {
      case Patch::Source::Buffer: bits = address_of(arguments.buffers[patch.number]); break;
      case Patch::Source::Int: bits = static_cast<std::uint64_t>(arguments.ints[patch.number]); break;
      case Patch::Source::Scalar: bits = bits_of(arguments.scalars[patch.number], patch.dtype); break;
      case Patch::Source::Workspace: bits = memory.workspace; break;
      case Patch::Source::Counters: bits = memory.counters; break;
      case Patch::Source::Faults: bits = first_fault(arguments, memory); break;
    }
    node.write(patch, bits);
  }
  replays_.replay(node);
}

void Launcher::launch_kernel(KernelExecutable& executable, const LaunchArguments& arguments,
                             const RunMemory& memory, DevicePointer sums) {
  const ir::Kernel& kernel = executable.kernel;
  if (kernel.members > 1) return launch_members(executable, arguments, memory);
  const emit::Geometry geometry = emit::geometry(kernel, executable.target, arguments.ints);
  if (geometry.workgroups == 0) return;
  using Source = Patch::Source;
  for (std::uint32_t b = 0; b < arguments.buffers.size(); ++b) {
    parameters_.patch_next({.source = Source::Buffer, .number = b});
    parameters_.push(address_of(arguments.buffers[b]));
  }
  if (sums != 0) parameters_.push(sums);
  const std::uint8_t int_bytes = kernel.wide ? 8 : 4;
  std::size_t moving = 0;
  for (std::uint32_t i = 0; i < arguments.ints.size(); ++i) {
    if (moving < arguments.moving_ints.size() && arguments.moving_ints[moving] == i) {
      parameters_.patch_next({.source = Source::Int, .bytes = int_bytes, .number = i});
      ++moving;
    }
    if (kernel.wide)
      parameters_.push(arguments.ints[i]);
    else
      parameters_.push(static_cast<std::int32_t>(arguments.ints[i]));
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
  if (emit::takes_parts(kernel, executable.target)) {
    parameters_.push(geometry.parts);
    push_shared(executable.workspace_bytes(arguments.ints, 1), memory);
  }
  const bool has_tiles = emit::has_tiles(kernel, executable.target);
  if (has_tiles) {
    parameters_.push(static_cast<std::int32_t>(geometry.cut));
    push_shared(executable.workspace_bytes(arguments.ints, 1), memory);
  }
  push_faults(kernel, arguments, memory);
  const bool has_attention = emit::has_attention(kernel, executable.target);
  const bool has_maps =
      (has_tiles && push_tensor_maps(emit::tensor_maps(kernel, arguments.ints), arguments)) ||
      (has_attention && push_tensor_maps(emit::attention_maps(kernel, arguments.ints), arguments));
  // A launch that began with a library's product is packed again by each replay.
  replays_.start({executable.function, geometry.workgroups, geometry.lanes, geometry.rows,
                  "the launch of a fused kernel", geometry.shared_bytes,
                  (has_attention && kernel.attention.by == ir::Attention::By::Groups) ||
                      (has_tiles && kernel.tiling.workgroups == 1),
                  has_maps},
                 parameters_, sums != 0 ? nullptr : &executable);
}

/// `buffers`: of one member.
TensorMap Launcher::encoded(const emit::TensorMap& map, std::span<const BufferView> buffers) const {
  constexpr int kSwizzle128 = 3, kPromote256 = 3;
  constexpr std::uint32_t kSteps[] = {1, 1, 1, 1, 1};
  const DevicePointer address =
      address_of(buffers[map.buffer]) + static_cast<DevicePointer>(map.offset_bytes);
  TensorMap packed;
  const TensorMapType type = ir::are_bytes(map.dtype)   ? TensorMapType::U8
                             : map.dtype == DType::f32  ? TensorMapType::TF32
                             : map.dtype == DType::bf16 ? TensorMapType::BF16
                                                        : TensorMapType::F16;
  const auto rank = static_cast<unsigned>(map.sizes.size());
  if (const auto& windows = map.windows) {
    check(replays_.api().tensor_map_of_windows(&packed, type, rank, reinterpret_cast<void*>(address),
                                               map.sizes.data(), map.strides.data(), windows->lower,
                                               windows->upper, map.box[0], map.box[1], windows->steps, 0,
                                               kSwizzle128, kPromote256, 0),
          "cuTensorMapEncodeIm2col");
    return packed;
  }
  check(replays_.api().tensor_map(&packed, type, rank, reinterpret_cast<void*>(address), map.sizes.data(),
                                  map.strides.data(), map.box.data(), kSteps, 0, kSwizzle128, kPromote256, 0),
        "cuTensorMapEncodeTiled");
  return packed;
}

/// False: there are none.
bool Launcher::push_tensor_maps(const std::vector<emit::TensorMap>& maps, const LaunchArguments& arguments) {
  for (const emit::TensorMap& map : maps) parameters_.push(encoded(map, arguments.buffers));
  push_window_numbers(maps);
  return !maps.empty();
}

void Launcher::push_window_numbers(const std::vector<emit::TensorMap>& maps) {
  for (const emit::TensorMap& map : maps)
    if (map.windows) parameters_.push(map.windows->numbers);
}

/// Memory that workgroups leave partial results in for the last of them, and counters.
void Launcher::push_shared(std::size_t bytes, const RunMemory& memory) {
  parameters_.patch_next({.source = Patch::Source::Workspace});
  parameters_.push(workspace_for(bytes, memory));
  parameters_.patch_next({.source = Patch::Source::Counters});
  parameters_.push(memory.counters);
}

/// The last parameter of a kernel that has fault words.
void Launcher::push_faults(const ir::Kernel& kernel, const LaunchArguments& arguments,
                           const RunMemory& memory) {
  if (kernel.faults == 0) return;
  const std::size_t end = arguments.first_fault + kernel.faults * arguments.members;
  if (end > memory.fault_count)
    throw Error("[cuda] a launch has fault words up to " + std::to_string(end) + " in a run that has " +
                std::to_string(memory.fault_count));
  parameters_.patch_next({.source = Patch::Source::Faults});
  parameters_.push(first_fault(arguments, memory));
}

void Launcher::launch_members(KernelExecutable& executable, const LaunchArguments& arguments,
                              const RunMemory& memory) {
  const ir::Kernel& kernel = executable.kernel;
  const emit::MemberLayout& layout = executable.members;
  const emit::Geometry geometry =
      emit::geometry(kernel, executable.target, arguments.ints, arguments.members, places_);
  if (geometry.workgroups == 0) return;
  addresses_.clear();
  for (const BufferView& view : arguments.buffers) addresses_.push_back(address_of(view));
  table_.clear();
  pack_members(kernel, layout, arguments, addresses_, places_, table_);
  const bool has_tiles = emit::has_tiles(kernel, executable.target);
  std::vector<emit::TensorMap> maps;  // all members have such, of their own buffers
  if (has_tiles) maps = emit::tensor_maps(kernel, arguments.ints.first(kernel.ints));
  for (std::size_t m = 0; m < arguments.members; ++m)
    for (std::size_t k = 0; k < maps.size(); ++k) {
      const TensorMap map =
          encoded(maps[k], arguments.buffers.subspan(m * kernel.buffers.size(), kernel.buffers.size()));
      std::memcpy(table_.data() + m * layout.bytes + k * sizeof map, &map, sizeof map);
    }
  std::memcpy(parameters_.room(kernel.members * layout.bytes), table_.data(), table_.size());
  for (std::size_t m = 0; m < arguments.members; ++m)
    for (const emit::MemberLayout::Field& field : layout.fields) {
      if (field.letter == 'n') {
        const auto number = static_cast<std::uint32_t>(m * kernel.ints + field.number);
        if (std::binary_search(arguments.moving_ints.begin(), arguments.moving_ints.end(), number))
          parameters_.patch_at({.source = Patch::Source::Int,
                                .bytes = static_cast<std::uint8_t>(field.bytes),
                                .number = number,
                                .offset = static_cast<std::uint32_t>(m * layout.bytes + field.offset)});
        continue;
      }
      const bool is_buffer = field.letter == 'b';
      const std::size_t each = is_buffer ? kernel.buffers.size() : kernel.scalars.size();
      parameters_.patch_at({.source = is_buffer ? Patch::Source::Buffer : Patch::Source::Scalar,
                            .dtype = is_buffer ? DType::f32 : kernel.scalars[field.number],
                            .bytes = static_cast<std::uint8_t>(field.bytes),
                            .number = static_cast<std::uint32_t>(m * each + field.number),
                            .offset = static_cast<std::uint32_t>(m * layout.bytes + field.offset)});
    }
  parameters_.push(static_cast<std::uint32_t>(arguments.members));
  if (has_tiles) parameters_.push(static_cast<std::int32_t>(geometry.cut));
  if (kernel.split || has_tiles)
    push_shared(std::size_t{places_.back().partials} * sizeof(std::uint32_t), memory);
  push_faults(kernel, arguments, memory);
  push_window_numbers(maps);
  replays_.start({executable.function, geometry.workgroups, geometry.lanes, geometry.rows,
                  "the launch of a kernel for several members", geometry.shared_bytes,
                  has_tiles && kernel.tiling.workgroups == 1, !maps.empty()},
                 parameters_, &executable);
}

void Launcher::launch_product(ProductExecutable& executable, const LaunchArguments& arguments,
                              const RunMemory& memory) {
  if (executable.library) {
    LtCall call{executable.library, 1, {}};
    call.addresses.a = address_of(arguments.buffers[0]);
    call.addresses.b = address_of(arguments.buffers[1]);
    call.addresses.result = address_of(arguments.buffers[2]);
    if (const std::size_t bytes = executable.library->workspace_bytes(1); bytes > 0)
      call.addresses.workspace = workspace_for(bytes, memory);
    return replays_.start(call);
  }
  const ProductPlan& plan = executable.plan;
  if (plan.blocks == 0) return;
  if (!executable.product) throw Error("[cuda] a product is launched that was not waited for");
  const DevicePointer a = address_of(arguments.buffers[0]), b = address_of(arguments.buffers[1]);
  const DevicePointer c = address_of(arguments.buffers[2]);
  const DevicePointer parts = plan.splits > 1 ? workspace_for(plan.workspace_bytes(), memory) : 0;
  const DevicePointer to = plan.splits > 1 ? parts : c;

  MatMulProblem matmul = plan.matmul;
  Conv2dProblem conv = plan.conv;
  // Depends on the addresses, so a replay packs all arguments again.
  if (!plan.is_conv) set_vectors(matmul, plan.dtype, a, b, to);
  for (std::int64_t first = 0; first < plan.blocks; first += ProductPlan::kMostBlocks) {
    parameters_.clear();
    // The matrix product of a convolution has a row per channel of the result; that operand is always the
    // second input.
    parameters_.push(plan.is_conv ? b : a);
    parameters_.push(plan.is_conv ? a : b);
    parameters_.push(to);
    matmul.first_block = conv.first_block = first;
    if (plan.is_conv)
      parameters_.push(conv);
    else
      parameters_.push(matmul);
    const auto blocks = static_cast<unsigned>(std::min(plan.blocks - first, ProductPlan::kMostBlocks));
    replays_.start(
        {executable.product, blocks, ProductPlan::kThreads, 1, "the launch of a product", plan.shared_bytes},
        parameters_);
  }
  if (plan.splits == 1) return;

  parameters_.clear();
  parameters_.push(parts);
  parameters_.push(c);
  parameters_.push(plan.result_numel);
  parameters_.push(static_cast<std::int32_t>(plan.splits));
  const std::int64_t blocks = std::min<std::int64_t>((plan.result_numel + 255) / 256, 65535);
  replays_.start(
      {executable.sum_splits, static_cast<unsigned>(blocks), 256, 1, "the launch of a product's second pass"},
      parameters_);
}

void Launcher::launch_library(LibraryExecutable& executable, const LaunchArguments& arguments,
                              const RunMemory& memory) {
  const auto steps = executable.steps(arguments.ints);
  const std::size_t bytes = executable.workspace_bytes(arguments.ints, 1);
  const DevicePointer workspace = bytes > 0 ? workspace_for(bytes, memory) : 0;
  LtCall call{steps->product, executable.kernel.tiling.library, {}};
  const ir::PlainProduct& product = call.product->product();
  const auto address = [&](const ir::PlainMatrix& matrix) {
    return address_of(arguments.buffers[matrix.buffer]) +
           static_cast<DevicePointer>(matrix.offset) * size_of(matrix.dtype);
  };
  call.addresses.a = address(product.a);
  call.addresses.b = address(product.b);
  call.addresses.result = product.has_rest ? workspace : address(product.result);
  if (product.has_bias) call.addresses.bias = address(product.bias);
  if (bytes > steps->sum_bytes()) call.addresses.workspace = workspace + steps->sum_bytes();
  // Its node is captured anew where an address has moved.
  replays_.start(call);
  if (!product.has_rest) return;
  LaunchArguments rest = arguments;
  rest.ints = steps->rest_ints;
  launch_kernel(executable.rest(), rest, memory, workspace);
}

void Launcher::launch_passes(PassesExecutable& executable, const LaunchArguments& arguments,
                             const RunMemory& memory) {
  const PassList& list = executable.list;
  if (list.passes.empty()) return;
  if (executable.functions.empty()) throw Error("[cuda] passes are launched that were not waited for");
  const DevicePointer workspace = workspace_for(list.workspace_bytes, memory);
  const std::size_t first_result = arguments.buffers.size() - list.results;
  const auto address = [&](const PassBuffer& buffer) {
    const auto offset = static_cast<DevicePointer>(buffer.first) * size_of(buffer.dtype);
    switch (buffer.of) {
      case PassBuffer::Of::Operand: return address_of(arguments.buffers[buffer.number]) + offset;
      case PassBuffer::Of::Result:
        return address_of(arguments.buffers[first_result + buffer.number]) + offset;
      case PassBuffer::Of::Workspace: break;
    }
    return workspace + offset;
  };
  // Sums of addresses and numbers, so a replay packs all arguments again.
  for (std::size_t p = 0; p < list.passes.size(); ++p) {
    const Pass& pass = list.passes[p];
    parameters_.clear();
    for (const PassBuffer& buffer : pass.buffers) parameters_.push(address(buffer));
    parameters_.push(static_cast<std::int32_t>(pass.width_bits()));
    parameters_.push(static_cast<std::uint32_t>(pass.tiles()));
    for (const auto& [name, value] : pass.ints) parameters_.push(value);
    replays_.start({executable.functions[p], static_cast<unsigned>(pass.groups()),
                    static_cast<unsigned>(pass.lanes), 1, "the launch of a pass of a library op"},
                   parameters_);
  }
}

void Launcher::launch_solver(SolverExecutable& executable, const LaunchArguments& arguments,
                             const RunMemory& memory) {
  const DevicePointer workspace = workspace_for(executable.bytes, memory);
  replays_.launch_outside();
  executable.solver.launch(executable, arguments, workspace);
}

}  // namespace sinter::runtime::cuda
