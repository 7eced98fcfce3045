// Counted objects, and the lock of a few instructions, which the public headers name without <atomic>.
#include <atomic>
#include <new>

#include <sinter/detail/shared.h>
#include <sinter/detail/spin_lock.h>

namespace sinter::detail {

struct Owner {
  std::atomic<std::size_t> handles;
  void* object;
  void (*destroy)(void*);
};

Owner* own(void* object, void (*destroy)(void* object)) {
  Owner* const owner = new (std::nothrow) Owner{1, object, destroy};
  if (owner) return owner;
  destroy(object);
  throw std::bad_alloc();
}

void retain(Owner* owner) { owner->handles.fetch_add(1, std::memory_order_relaxed); }

void release(Owner* owner) {
  if (owner->handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  owner->destroy(owner->object);
  delete owner;
}

void SpinLock::lock() {
  const std::atomic_ref<int> locked(locked_);
  while (locked.exchange(1, std::memory_order_acquire) != 0) locked.wait(1, std::memory_order_relaxed);
}

void SpinLock::unlock() {
  const std::atomic_ref<int> locked(locked_);
  locked.store(0, std::memory_order_release);
  locked.notify_one();
}

}  // namespace sinter::detail
