// Memory of objects that come and go with every operation.
#pragma once

#include <cstddef>

namespace sinter::base {

/// Memory of ended objects of one type, kept for the next ones of one thread. Constant initialisation, and no
/// destructor: objects of static storage may end after this thread's own.
class FreeList {
 public:
  /// Memory of `bytes`, at the begin of a cache line.
  void* take(std::size_t bytes) {
    void* const memory = first_;
    if (memory == nullptr) return allocate(bytes);
    first_ = *static_cast<void**>(memory);
    --count_;
    // The next object is mostly made one operation later: its lines come while the program does this one.
    for (std::size_t line = 0; first_ != nullptr && line < bytes && line < kPrefetched; line += kLine)
      __builtin_prefetch(static_cast<std::byte*>(first_) + line, 1);
    return memory;
  }
  void give(void* memory, std::size_t bytes) noexcept {
    // An object may be made by one thread and end in another: without a limit the second would keep ever
    // more.
    if (count_ >= kMostBytes / bytes || !keeps_) return give_first(memory);
    *static_cast<void**>(memory) = first_;
    first_ = memory;
    ++count_;
  }

 private:
  struct AtThreadEnd;
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20, kLine = 64, kPrefetched = 3 * kLine;

  static void* allocate(std::size_t bytes);
  void give_first(void* memory) noexcept;

  void* first_ = nullptr;
  std::size_t count_ = 0;
  bool keeps_ = false;  // the thread's end is going to free what is kept
  FreeList* next_ = nullptr;
};

/// The base of a type whose objects' memory is recycled.
template <class T>
class Recycled {
 public:
  static void* operator new(std::size_t bytes) { return list.take(bytes); }
  static void operator delete(void* memory) noexcept { list.give(memory, sizeof(T)); }

 private:
  static constinit inline thread_local FreeList list;
};

}  // namespace sinter::base
