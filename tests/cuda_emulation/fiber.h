// Stacks that take turns in one thread: the lanes of an emulated block. ucontext begins a fiber; afterwards
// _setjmp and _longjmp switch, which change registers alone. swapcontext also asks the system for the mask of
// signals, and took nine tenths of the time of a kernel with barriers.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <memory>

#include <ucontext.h>

// The sanitizers know what swapcontext does to the stack.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SINTER_EMULATION_SWAPS_CONTEXTS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SINTER_EMULATION_SWAPS_CONTEXTS 1
#endif
#endif

namespace sinter_emulation {

class Fiber {
 public:
  static constexpr std::size_t kStackBytes = 128 << 10;

  /// Runs `body`, from its beginning or behind where it paused, until it pauses. It never returns.
  void resume(void (*body)()) {
#ifdef SINTER_EMULATION_SWAPS_CONTEXTS
    if (!is_begun_) begin(body);
    swapcontext(&caller_, &context_);
#else
    if (_setjmp(caller_) != 0) return;
    if (is_begun_) _longjmp(registers_, 1);
    begin(body);
    setcontext(&context_);
#endif
  }

  /// Goes back to resume; called by the fiber itself.
  void pause() {
#ifdef SINTER_EMULATION_SWAPS_CONTEXTS
    swapcontext(&context_, &caller_);
#else
    if (_setjmp(registers_) == 0) _longjmp(caller_, 1);
#endif
  }

  /// The next resume begins `body` anew, wherever it paused.
  void forget() { is_begun_ = false; }

 private:
  void begin(void (*body)()) {
    is_begun_ = true;
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = kStackBytes;
    context_.uc_link = nullptr;
    makecontext(&context_, body, 0);
  }

  bool is_begun_ = false;
  ucontext_t context_{};
#ifdef SINTER_EMULATION_SWAPS_CONTEXTS
  ucontext_t caller_{};
#else
  std::jmp_buf registers_{}, caller_{};
#endif
  std::unique_ptr<char[]> stack_ = std::make_unique<char[]>(kStackBytes);
};

}  // namespace sinter_emulation
