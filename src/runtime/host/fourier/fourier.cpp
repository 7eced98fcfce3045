// Chooses which way lines go.
#include "src/runtime/host/fourier/fourier.h"

#include "src/runtime/host/fourier/passes.h"
#include "src/runtime/host/fourier/program.h"

namespace sinter::runtime::host {
namespace {

/// Lines of which a vector's lanes hold so many fit into a core's second-level cache.
constexpr std::int64_t kShort = 1024;
/// The sides of a matrix of fewer numbers are shorter than vectors.
constexpr std::int64_t kFewestInMatrix = 64;

template <class T>
std::shared_ptr<HostExecutable> make(const library::FourierOp& op) {
  const std::int64_t fewest = fourier::lanes<T>() / 2;
  const bool across =
      op.inner > 1 || op.length < 2 * kFewestInMatrix || (op.length <= kShort && op.lines() >= fewest);
  return across ? fourier::make_across<T>(op) : fourier::make_along<T>(op);
}

}  // namespace

std::shared_ptr<HostExecutable> make_fourier(const library::FourierOp& op) {
  return op.dtype == DType::f64 ? make<double>(op) : make<float>(op);
}

}  // namespace sinter::runtime::host
