// The rare ways of recycled memory: from the heap, and back to it.
#include "src/base/recycled.h"

#include <new>

namespace sinter::base {
namespace {

// Sanitizers are to see the memory of each object come and go.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

// Without a destructor, so that it may be asked for at any time.
thread_local bool thread_has_ended = false;

}  // namespace

/// Frees what the lists of a thread keep when it ends.
struct FreeList::AtThreadEnd {
  ~AtThreadEnd() {
    thread_has_ended = true;
    for (FreeList* list = lists; list != nullptr; list = list->next_) {
      list->keeps_ = false;
      while (list->first_ != nullptr) {
        void* const memory = list->first_;
        list->first_ = *static_cast<void**>(memory);
        ::operator delete (memory, std::align_val_t{kLine});
      }
      list->count_ = 0;
    }
  }
  FreeList* lists = nullptr;
};

void* FreeList::allocate(std::size_t bytes) { return ::operator new (bytes, std::align_val_t{kLine}); }

void FreeList::give_first(void* memory) noexcept {
  if (kKeeps && !keeps_ && !thread_has_ended) {
    static thread_local AtThreadEnd at_end;
    next_ = at_end.lists;
    at_end.lists = this;
    keeps_ = true;
  }
  ::operator delete (memory, std::align_val_t{kLine});
}

}  // namespace sinter::base
