// Buffers: a handle that is replaced under a lock held for a few instructions.
#include <sinter/state.h>

namespace sinter::detail {
namespace {

class Lock {
 public:
  explicit Lock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) flag_.wait(true, std::memory_order_relaxed);
  }
  ~Lock() {
    flag_.clear(std::memory_order_release);
    flag_.notify_one();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace

AnyTensor SharedHandle::get() const {
  Lock lock(locked_);
  return tensor_;
}

void SharedHandle::set(AnyTensor tensor) const {
  // What was there goes after the lock: its release may free memory.
  Lock lock(locked_);
  std::swap(tensor_, tensor);
}

}  // namespace sinter::detail
