// A backend that hands everything to another one: what backends of tests that change a part of it begin with.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "src/runtime/backend.h"

namespace sinter::testing {

/// Without `host_memory` and the timing of launches, which have defaults: a device that has neither is none
/// the worse.
class ForwardingBackend : public runtime::Backend {
 public:
  explicit ForwardingBackend(std::unique_ptr<runtime::Backend> inner) : inner_(std::move(inner)) {}

  const ir::DeviceTraits& traits() const override { return inner_->traits(); }
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
  bool runs_concurrently() const override { return inner_->runs_concurrently(); }
  void wait_until_ready(runtime::Executable& executable, std::span<const std::int64_t> ints,
                        std::size_t members) override {
    inner_->wait_until_ready(executable, ints, members);
  }
  std::size_t strands() const override { return inner_->strands(); }
  void begin(std::unique_ptr<runtime::PlanState>* state, const runtime::RunNeeds& needs) override {
    inner_->begin(state, needs);
  }
  void launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments) override {
    inner_->launch(executable, arguments);
  }
  runtime::FaultReportRef submit() override { return inner_->submit(); }
  void abandon() noexcept override { inner_->abandon(); }
  void synchronize() override { inner_->synchronize(); }
  runtime::BackendStatistics statistics() const override { return inner_->statistics(); }

 protected:
  runtime::Backend& inner() const { return *inner_; }

 private:
  const std::unique_ptr<runtime::Backend> inner_;
};

}  // namespace sinter::testing
