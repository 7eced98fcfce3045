// The backend of one Vulkan device: its memory, compiler and queue, and the run that is open.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "jit/emit/emit.h"
#include "src/runtime/backend.h"
#include "src/runtime/vulkan/commands.h"
#include "src/runtime/vulkan/device.h"
#include "src/runtime/vulkan/kernels/compiler.h"
#include "src/runtime/vulkan/kernels/executables.h"
#include "src/runtime/vulkan/kernels/products.h"
#include "src/runtime/vulkan/memory/faults.h"
#include "src/runtime/vulkan/memory/memory.h"
#include "src/runtime/vulkan/memory/staging.h"
#include "src/runtime/vulkan/options.h"
#include "src/runtime/vulkan/process_end.h"

namespace sinter::runtime::vulkan {

/// Three files implement it: launches.cpp, transfers.cpp and vulkan_backend.cpp, which has the rest.
class VulkanBackend final : public Backend {
 public:
  VulkanBackend(int index, const VulkanOptions& options);
  /// Waits for what was submitted: it uses the memory that goes next.
  ~VulkanBackend() override { commands_.close(); }

  const ir::DeviceTraits& traits() const override { return traits_; }
  BufferRef allocate(std::size_t bytes) override;
  std::size_t trim() override;
  void upload(const BufferView& to, std::span<const std::byte> data) override;
  std::unique_ptr<Transfer> begin_upload(const BufferView& to, std::span<const std::byte> data) override;
  void download(const BufferView& from, std::span<std::byte> data) override;
  std::unique_ptr<Transfer> begin_download(const BufferView& from, std::span<std::byte> data) override;
  std::vector<ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override;
  bool computes(const library::Kind& kind) const override {
    return product_table().has(kind) || pass_table().has(kind);
  }
  ExecutableRef prepare(const library::LibraryOp& op) override;
  ExecutableRef prepare_passes(const library::LibraryOp& op);
  void wait_until_ready(Executable& executable, std::span<const std::int64_t> ints,
                        std::size_t members) override;
  void begin(std::unique_ptr<PlanState>* state, const RunNeeds& needs) override;
  void launch(Executable& executable, const LaunchArguments& arguments) override;
  FaultReportRef submit() override;
  void abandon() noexcept override;
  void synchronize() override;
  BackendStatistics statistics() const override;

 private:
  struct Run {
    base::ExitGate::Entry inside{gate()};
    std::shared_ptr<VulkanBuffer> workspace;
    std::shared_ptr<RunFaults> faults;
  };

  ir::DeviceTraits make_traits(int index) const;
  std::shared_ptr<VulkanBuffer> allocate_buffer(std::size_t bytes);
  void check_dtypes(const ir::Kernel& kernel) const;
  Slice allocate_slice(std::size_t bytes);
  VulkanBuffer& checked(const BufferView& view, std::size_t bytes, const char* what) const;
  void make_counters();

  ir::MatrixLayout find_layout();
  std::optional<ir::MatrixLayout> ask_for_layout(DType dtype);

  const KernelForm& form_of(KernelExecutable& executable, bool by_address, std::span<const std::int64_t> ints,
                            std::size_t members);
  void compute_reaches(const KernelExecutable& executable, const LaunchArguments& arguments,
                       std::size_t member);
  void check_position(std::int64_t bytes, DType dtype) const;
  void put_addresses(std::vector<std::uint32_t>& words, std::span<const BufferView> views) const;
  bool loops_too_long(const KernelForm& form, std::span<const std::int64_t> ints) const;
  void launch_kernel(KernelExecutable& executable, const LaunchArguments& arguments);
  void bind_parts(const ir::Kernel& kernel, const emit::Geometry& geometry,
                  std::span<const std::int64_t> ints, const Binding& unused);
  void launch_members(KernelExecutable& executable, const LaunchArguments& arguments);
  void launch_product(ProductExecutable& executable, const LaunchArguments& arguments);
  void launch_passes(PassesExecutable& executable, const LaunchArguments& arguments);
  void make_room(std::size_t bytes, std::uint32_t arguments,
                 std::initializer_list<const Pipeline*> pipelines);
  VkDeviceSize note(const BufferView& view, std::int64_t bytes, bool write);
  Binding bind(const BufferView& view, std::int64_t bytes, bool write);
  Binding bind_input(const BufferView& view, std::size_t bytes);
  Binding bind_part(const BufferView& view, std::int64_t bytes, bool write);
  Binding bind_words(std::span<const std::uint32_t> words);
  Binding bind_faults(const ir::Kernel& kernel, const LaunchArguments& arguments);
  BufferView workspace(std::size_t bytes) const;
  void run_pass(std::uint64_t groups, const Pipeline& pipeline, std::uint64_t work);

  Device device_;
  MemoryPool pool_;
  KernelCompiler compiler_;
  Commands commands_;
  StagingRing arguments_;  // of launches
  StagingRing uploads_;    // small ones
  StagingPool staging_;
  std::shared_ptr<FaultMemory> faults_;
  std::unique_ptr<MemoryBlock> counters_;  // of split kernels
  ir::DeviceTraits traits_;
  std::atomic<std::uint64_t> launches_{0};
  std::optional<Run> run_;
  // Of the launch that is being recorded.
  std::vector<std::uint32_t> words_;
  std::vector<Binding> bindings_;
  std::vector<Access> accesses_;
  std::vector<std::int64_t> reaches_;
  std::vector<std::uint64_t> addresses_;
  std::vector<emit::MemberPlace> places_;
  std::vector<std::byte> table_;
};

}  // namespace sinter::runtime::vulkan
