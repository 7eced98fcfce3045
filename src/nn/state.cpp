// Buffers: a handle that is replaced under a lock held for a few instructions.
#include <mutex>

#include <sinter/state.h>

namespace sinter::detail {

AnyTensor SharedHandle::get() const {
  const std::lock_guard lock(lock_);
  return tensor_;
}

void SharedHandle::set(AnyTensor tensor) const {
  // What was there goes after the lock: its release may free memory.
  const std::lock_guard lock(lock_);
  std::swap(tensor_, tensor);
}

}  // namespace sinter::detail
