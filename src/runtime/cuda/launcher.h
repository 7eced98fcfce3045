// Packs the arguments of launches, or writes what changed to the nodes of a plan that was recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/emit/contraction/contraction.h"
#include "src/runtime/backend.h"
#include "src/runtime/cuda/executables.h"
#include "src/runtime/cuda/parameters.h"
#include "src/runtime/cuda/replays.h"

namespace sinter::runtime::cuda {

/// The device memory of a run beside its buffers, all of it had before the first launch.
struct RunMemory {
  DevicePointer workspace = 0;
  std::size_t workspace_bytes = 0;
  DevicePointer counters = 0;  // arrival counters of split kernels; all zero between launches
  DevicePointer faults = 0;    // the run's fault words
  std::uint32_t fault_count = 0;

  /// What one launch has of it. Those of one strand share workspace and counters, since they run one after
  /// the other.
  RunMemory of(const LaunchArguments& launch) const {
    RunMemory part = *this;
    part.workspace += launch.workspace_from;
    part.workspace_bytes -= launch.workspace_from;
    part.counters += sizeof(std::uint32_t) * kCounters * launch.strand;
    return part;
  }
};

struct SolverExecutable;

class Launcher {
 public:
  explicit Launcher(Replays& replays) : replays_(replays) {}
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  /// One launch of the open run of `replays`.
  void launch(CudaExecutable& executable, const LaunchArguments& arguments, const RunMemory& memory);

 private:
  /// `sums`: one more buffer, of a kernel for what is left of a library's product; 0: there is none.
  void launch_kernel(KernelExecutable& executable, const LaunchArguments& arguments, const RunMemory& memory,
                     DevicePointer sums = 0);
  void launch_members(KernelExecutable& executable, const LaunchArguments& arguments,
                      const RunMemory& memory);
  void launch_product(ProductExecutable& executable, const LaunchArguments& arguments,
                      const RunMemory& memory);
  void launch_library(LibraryExecutable& executable, const LaunchArguments& arguments,
                      const RunMemory& memory);
  void launch_passes(PassesExecutable& executable, const LaunchArguments& arguments, const RunMemory& memory);
  void launch_solver(SolverExecutable& executable, const LaunchArguments& arguments, const RunMemory& memory);
  void push_shared(std::size_t bytes, const RunMemory& memory);
  void push_faults(const ir::Kernel& kernel, const LaunchArguments& arguments, const RunMemory& memory);
  TensorMap encoded(const emit::TensorMap& map, std::span<const BufferView> buffers) const;
  bool push_tensor_maps(const std::vector<emit::TensorMap>& maps, const LaunchArguments& arguments);
  void push_window_numbers(const std::vector<emit::TensorMap>& maps);
  bool has_maps_for(const Node& node, const LaunchArguments& arguments) const;
  void launch_again(Node& node, const LaunchArguments& arguments, const RunMemory& memory);

  Replays& replays_;
  // Reused to save allocations.
  Parameters parameters_;
  std::vector<DevicePointer> addresses_;
  std::vector<emit::MemberPlace> places_;
  std::vector<std::byte> table_;
};

}  // namespace sinter::runtime::cuda
