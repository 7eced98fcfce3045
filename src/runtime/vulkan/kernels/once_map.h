// A map whose values are made once, by whichever thread asks first.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include <absl/container/flat_hash_map.h>

namespace sinter::runtime::vulkan {

/// Values are never removed and never move. Thread-safe.
template <class Key, class Value>
class OnceMap {
 public:
  /// Gives the key's value; `make` returns it where there is none. Threads that want the same value wait for
  /// the one that makes it, others do not. After an exception in `make` the next thread tries again.
  template <class Make>
  Value& get(const Key& key, Make make) {
    Slot& slot = slot_of(key);
    if (Value* value = slot.value.load(std::memory_order_acquire)) return *value;
    std::lock_guard lock(slot.making);
    if (!slot.owner) {
      slot.owner = std::make_unique<Value>(make());
      slot.value.store(slot.owner.get(), std::memory_order_release);
    }
    return *slot.owner;
  }

 private:
  struct Slot {
    std::atomic<Value*> value{nullptr};
    std::mutex making;
    std::unique_ptr<Value> owner;
  };

  Slot& slot_of(const Key& key) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<Slot>& slot = slots_[key];
    if (!slot) slot = std::make_unique<Slot>();
    return *slot;
  }

  std::mutex mutex_;
  absl::flat_hash_map<Key, std::unique_ptr<Slot>> slots_;
};

}  // namespace sinter::runtime::vulkan
