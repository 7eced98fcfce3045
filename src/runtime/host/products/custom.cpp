// Kernels that a program brought along, on the host: pieces of their threads, handed out to ours.
#include "src/runtime/host/products/custom.h"

#include <algorithm>
#include <exception>

#include "src/runtime/host/buffer.h"
#include "src/runtime/launch_failure.h"

namespace sinter::runtime::host {
namespace {

// Threads of one call at least, so that handing out costs little beside them.
constexpr std::int64_t kLeastPiece = 1024;

class CustomProgram final : public HostExecutable {
 public:
  explicit CustomProgram(const library::CustomOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe(); }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    std::vector<KernelArguments::Buffer> buffers;
    for (const std::vector<library::TensorType>* types : {&op_.operands, &op_.results})
      for (const auto& [shape, dtype] : *types)
        buffers.push_back(
            {data_of(arguments.buffers[buffers.size()]), static_cast<std::size_t>(shape.numel()), dtype});
    const std::span all(buffers);
    const KernelArguments given(all.first(op_.operands.size()), all.subspan(op_.operands.size()), op_.sizes);
    const std::int64_t pieces = std::clamp<std::int64_t>(op_.threads / kLeastPiece, 1,
                                                         static_cast<std::int64_t>(workers.pool().size()));
    const auto run_piece = [&](std::size_t piece, std::size_t) {
      const auto at = [&](std::int64_t p) {
        return op_.threads / pieces * p + std::min(p, op_.threads % pieces);
      };
      const std::int64_t begin = at(static_cast<std::int64_t>(piece)),
                         end = at(static_cast<std::int64_t>(piece) + 1);
      if (begin < end) op_.custom->source().host(given, begin, end);
    };
    try {
      workers.pool().run(static_cast<std::size_t>(pieces), run_piece);
    } catch (...) {
      throw LaunchFailure(std::current_exception());
    }
  }

 private:
  const library::CustomOp op_;
};

}  // namespace

std::shared_ptr<HostExecutable> make_custom(const library::CustomOp& op) {
  return std::make_shared<CustomProgram>(op);
}

}  // namespace sinter::runtime::host
