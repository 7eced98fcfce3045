// A backend without memory: launches are counted, reading throws.
#include "src/runtime/null/null_backend.h"

#include <sinter/error.h>

namespace sinter::runtime {
namespace {

class NullBackend : public Backend {
 public:
  explicit NullBackend(ir::DeviceTraits traits) : traits_(std::move(traits)) {
    traits_.name = "null";
    traits_.description = "plans, never runs";
    traits_.runs = false;
  }

  const ir::DeviceTraits& traits() const override { return traits_; }
  BufferRef allocate(std::size_t bytes) override { return std::make_shared<Buffer>(*this, bytes); }
  void upload(const BufferView&, std::span<const std::byte>) override {}
  void download(const BufferView&, std::span<std::byte>) override {
    throw DeviceError("[read] the null device plans and never runs, so there is no value to read");
  }
  std::vector<ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override {
    return std::vector<ExecutableRef>(kernels.size(), std::make_shared<Executable>());
  }
  ExecutableRef prepare(const ir::LibraryOp&) override { return std::make_shared<Executable>(); }
  void launch(Executable&, const LaunchArguments&) override { ++statistics_.launches; }
  void submit() override {}
  void synchronize() override {}
  BackendStatistics statistics() const override { return statistics_; }

 private:
  ir::DeviceTraits traits_;
  BackendStatistics statistics_;
};

}  // namespace

std::unique_ptr<Backend> make_null_backend(ir::DeviceTraits like) { return std::make_unique<NullBackend>(std::move(like)); }

}  // namespace sinter::runtime
