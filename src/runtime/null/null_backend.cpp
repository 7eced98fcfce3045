// A backend without memory: counts bytes and launches; reading throws.
#include "src/runtime/null/null_backend.h"

#include <algorithm>
#include <atomic>

#include <sinter/error.h>

namespace sinter::runtime {
namespace {

class NullBuffer : public Buffer {
 public:
  NullBuffer(Backend& backend, std::size_t bytes, std::atomic<std::size_t>& in_use)
      : Buffer(backend, bytes), in_use_(in_use) {
    in_use_ += bytes;
  }
  ~NullBuffer() override { in_use_ -= bytes(); }

 private:
  std::atomic<std::size_t>& in_use_;
};

class NullBackend : public Backend {
 public:
  explicit NullBackend(ir::DeviceTraits traits) : traits_(std::move(traits)) {
    traits_.name = "null";
    traits_.description = "plans, never runs";
    traits_.runs = false;
  }

  const ir::DeviceTraits& traits() const override { return traits_; }
  BufferRef allocate(std::size_t bytes) override {
    BufferRef buffer = std::make_shared<NullBuffer>(*this, bytes, in_use_);
    peak_ = std::max(peak_, in_use_.load());
    return buffer;
  }
  void upload(const BufferView&, std::span<const std::byte>) override {}
  void download(const BufferView&, std::span<std::byte>) override {
    throw DeviceError("[read] the null device plans and never runs, so there is no value to read");
  }
  std::vector<ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override {
    return std::vector<ExecutableRef>(kernels.size(), std::make_shared<Executable>());
  }
  ExecutableRef prepare(const library::LibraryOp&) override { return std::make_shared<Executable>(); }
  void launch(Executable&, const LaunchArguments&) override { ++launches_; }
  void begin(std::unique_ptr<PlanState>*, const RunNeeds&) override {}
  FaultReportRef submit() override { return nullptr; }
  void synchronize() override {}
  BackendStatistics statistics() const override {
    BackendStatistics counts;
    counts.launches = launches_;
    counts.bytes_in_use = in_use_;
    counts.peak_bytes_in_use = peak_;
    return counts;
  }

 private:
  ir::DeviceTraits traits_;
  std::atomic<std::size_t> in_use_{0};
  std::size_t peak_ = 0;
  std::uint64_t launches_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_null_backend(ir::DeviceTraits like) {
  return std::make_unique<NullBackend>(std::move(like));
}

}  // namespace sinter::runtime
