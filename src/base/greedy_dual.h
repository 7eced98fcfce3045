// Which entry of a bounded cache goes first: GreedyDual-Size (Cao and Irani, 1997).
#pragma once

#include <atomic>
#include <cstddef>
#include <set>
#include <utility>

namespace sinter::base {

/// Weighs the entries of one cache. The value of an entry is what it costs to make again for each byte that
/// it holds. Its priority is its value plus the clock at its last use; the clock is the priority of what went
/// last. So what is cheap and large goes before what is dear and small, and what nobody uses goes in the end.
///
/// The cache has a lock of its own around all calls but `use`, and owns the entries.
class GreedyDual {
 public:
  class Entry {
   public:
    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    std::size_t bytes() const { return bytes_; }
    /// Nanoseconds that making it takes.
    double cost() const { return cost_; }
    /// Nanoseconds of making for each byte.
    double value() const { return cost_ / static_cast<double>(bytes_ > 0 ? bytes_ : 1); }
    /// How often it is held.
    std::size_t holds() const { return holds_; }

   private:
    friend class GreedyDual;
    double priority() const { return used_.load(std::memory_order_relaxed) + value(); }

    std::size_t bytes_ = 0;
    double cost_ = 0;
    std::atomic<double> used_{0};  // the clock at its last use
    double queued_ = 0;            // its priority in the queue, no higher than the present one
    std::size_t holds_ = 0;
    // Its node of the queue while it is held, so that only `add` allocates.
    std::set<std::pair<double, Entry*>>::node_type node_;
  };

  explicit GreedyDual(std::size_t limit) : limit_(limit) {}
  GreedyDual(const GreedyDual&) = delete;
  GreedyDual& operator=(const GreedyDual&) = delete;

  std::size_t limit() const { return limit_; }
  /// Of all entries.
  std::size_t bytes() const { return bytes_; }

  /// Any thread may call it at any time, without the cache's lock. Writes only where the clock has moved, as
  /// many threads may use one entry.
  void use(Entry& entry) const {
    const double now = clock_.load(std::memory_order_relaxed);
    if (entry.used_.load(std::memory_order_relaxed) != now) entry.used_.store(now, std::memory_order_relaxed);
  }

  /// The entry counts from now on; who adds it has made room. Where memory runs out nothing has changed.
  void add(Entry& entry, std::size_t bytes, double cost);
  /// The entry counts no more.
  void remove(Entry& entry);
  /// What an entry holds, or costs, has turned out to be something else.
  void revise(Entry& entry, std::size_t bytes, double cost);

  /// An entry that is held is not the next to go. Its last release counts as a use.
  void hold(Entry& entry);
  void release(Entry& entry);

  /// True iff `more` bytes do not fit beside the entries.
  bool lacks_room(std::size_t more) const { return more > limit_ || bytes_ > limit_ - more; }

  /// The entry that goes next, which the caller removes; moves the clock. Null where all are held.
  Entry* next_to_go();

 private:
  void enqueue(Entry& entry);
  void dequeue(Entry& entry);

  const std::size_t limit_;
  std::size_t bytes_ = 0;
  std::atomic<double> clock_{0};
  std::set<std::pair<double, Entry*>> queue_;  // of the entries that are not held
};

}  // namespace sinter::base
