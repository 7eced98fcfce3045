// A CUDA device that plans as one with tensor cores, whatever it has: kernels with tiles run by plain loops
// where it has none, so that the emulated driver runs all that stands around them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/runtime/backend.h"
#include "src/runtime/cuda/cuda_backend.h"

namespace sinter::testing {

class TensorCoreBackend final : public runtime::Backend {
 public:
  explicit TensorCoreBackend(std::size_t most_graphs = 16)
      : inner_(runtime::make_cuda_backend(0, most_graphs)), traits_(inner_->traits()) {
    if (!traits_.tensor_cores.any()) traits_.tensor_cores = {132, std::size_t{227} << 10};
  }

  const ir::DeviceTraits& traits() const override { return traits_; }
  runtime::BufferRef allocate(std::size_t bytes) override { return inner_->allocate(bytes); }
  runtime::BufferRef allocate_for_upload(std::size_t bytes) override {
    return inner_->allocate_for_upload(bytes);
  }
  void upload(const runtime::BufferView& to, std::span<const std::byte> data) override {
    inner_->upload(to, data);
  }
  std::unique_ptr<runtime::Transfer> begin_upload(const runtime::BufferView& to,
                                                  std::span<const std::byte> data) override {
    return inner_->begin_upload(to, data);
  }
  void download(const runtime::BufferView& from, std::span<std::byte> data) override {
    inner_->download(from, data);
  }
  std::unique_ptr<runtime::Transfer> begin_download(const runtime::BufferView& from,
                                                    std::span<std::byte> data) override {
    return inner_->begin_download(from, data);
  }
  std::size_t trim() override { return inner_->trim(); }
  std::vector<runtime::ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override {
    return inner_->compile(kernels);
  }
  runtime::LibraryWays library_ways(const ir::PlainProduct& product) noexcept override {
    return inner_->library_ways(product);
  }
  bool computes(const library::Kind& kind) const override { return inner_->computes(kind); }
  runtime::ExecutableRef prepare(const library::LibraryOp& op) override { return inner_->prepare(op); }
  void wait_until_ready(runtime::Executable& executable, std::span<const std::int64_t> ints,
                        std::size_t members) override {
    inner_->wait_until_ready(executable, ints, members);
  }
  void begin(std::unique_ptr<runtime::PlanState>* state, const runtime::RunNeeds& needs) override {
    inner_->begin(state, needs);
  }
  void launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments) override {
    inner_->launch(executable, arguments);
  }
  runtime::FaultReportRef submit() override { return inner_->submit(); }
  void abandon() noexcept override { inner_->abandon(); }
  std::string timing_identity() const override { return inner_->timing_identity(); }
  double time_launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments,
                     const runtime::RunNeeds& needs) override {
    return inner_->time_launch(executable, arguments, needs);
  }
  void synchronize() override { inner_->synchronize(); }
  runtime::BackendStatistics statistics() const override { return inner_->statistics(); }

 private:
  const std::unique_ptr<runtime::Backend> inner_;
  ir::DeviceTraits traits_;
};

}  // namespace sinter::testing
