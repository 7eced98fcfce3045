// Maps whose values are made once, by whichever thread asks first.
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

  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return slots_.size();
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

  mutable std::mutex mutex_;
  absl::flat_hash_map<Key, std::unique_ptr<Slot>> slots_;
};

/// As OnceMap, but a value lives as long as somebody refers to it, and is made again afterwards.
template <class Key, class Value>
class SharedOnceMap {
 public:
  template <class Make>
  std::shared_ptr<Value> get(const Key& key, Make make) {
    const std::shared_ptr<Slot> slot = slot_of(key);
    std::lock_guard lock(slot->making);
    if (std::shared_ptr<Value> value = slot->value.lock()) return value;
    std::shared_ptr<Value> value = make();
    slot->value = value;
    return value;
  }

 private:
  struct Slot {
    std::mutex making;
    std::weak_ptr<Value> value;
  };

  std::shared_ptr<Slot> slot_of(const Key& key) {
    std::lock_guard lock(mutex_);
    if (slots_.size() >= sweep_at_) {
      // A slot that only the table refers to is no thread's, and so at rest.
      absl::erase_if(slots_, [](const auto& entry) {
        return entry.second.use_count() == 1 && entry.second->value.expired();
      });
      sweep_at_ = 2 * slots_.size() + kFew;
    }
    std::shared_ptr<Slot>& slot = slots_[key];
    if (!slot) slot = std::make_shared<Slot>();
    return slot;
  }

  static constexpr std::size_t kFew = 64;
  std::mutex mutex_;
  std::size_t sweep_at_ = kFew;
  absl::flat_hash_map<Key, std::shared_ptr<Slot>> slots_;
};

}  // namespace sinter::runtime::vulkan
