// Libraries with static objects of their own, which end with the process while threads still want to use
// them.
#pragma once

#include <atomic>
#include <utility>

namespace sinter::base {

/// Stands before such a library: closes when the process ends, before the library's objects do, and waits for
/// those who are inside. An object of static storage duration that is never destroyed.
class ExitGate {
 public:
  using Handler = void (*)();
  /// `at_exit` calls `close` of this gate; `closed` is called once it has closed and nobody is inside.
  explicit ExitGate(Handler at_exit, Handler closed = nullptr) : at_exit_(at_exit), when_closed_(closed) {
    close_with_main_thread();
  }
  ExitGate(const ExitGate&) = delete;
  ExitGate& operator=(const ExitGate&) = delete;

  /// From now on the gate closes before whatever the library has made so far ends: what is registered last
  /// runs first. To be called when the library was opened, and after a call that may have made static
  /// objects.
  void renew() noexcept;
  void close() noexcept;

  /// Closes this gate also when the main thread ends, which comes before everything else that ends: where
  /// exit() begins while a call makes static objects, `renew` would be too late. A gate made after the main
  /// thread has ended is closed from the beginning; a library is therefore opened behind its gate.
  void close_with_main_thread() noexcept;
  /// To be called in each thread that uses the library, of which one may be the main thread.
  static void note_thread();

  /// Whether the library may be used as long as this lives.
  class Entry {
   public:
    explicit Entry(ExitGate& gate) : gate_(gate) {
      gate_.inside_.fetch_add(1);
      if (!gate_.closed_.load()) return;
      gate_.inside_.fetch_sub(1);
      allowed_ = false;
    }
    ~Entry() {
      if (allowed_) gate_.inside_.fetch_sub(1);
    }
    Entry(Entry&& other) noexcept : gate_(other.gate_), allowed_(std::exchange(other.allowed_, false)) {}
    Entry& operator=(Entry&&) = delete;
    explicit operator bool() const { return allowed_; }

   private:
    ExitGate& gate_;
    bool allowed_ = true;
  };

 private:
  const Handler at_exit_, when_closed_;
  std::atomic<bool> closed_{false};
  std::atomic<int> inside_{0};
};

}  // namespace sinter::base
