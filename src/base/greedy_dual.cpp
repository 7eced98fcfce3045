// The queue of a bounded cache's entries.
#include "src/base/greedy_dual.h"

#include <algorithm>
#include <utility>

namespace sinter::base {
namespace {

// Each new entry moves the clock by so little that it weighs nothing, but of equal entries the one used last
// stays.
constexpr double kTick = 1e-6;

}  // namespace

void GreedyDual::enqueue(Entry& entry) {
  entry.queued_ = entry.priority();
  entry.node_.value() = {entry.queued_, &entry};
  queue_.insert(std::move(entry.node_));
}

void GreedyDual::dequeue(Entry& entry) { entry.node_ = queue_.extract({entry.queued_, &entry}); }

void GreedyDual::add(Entry& entry, std::size_t bytes, double cost) {
  entry.bytes_ = bytes;
  entry.cost_ = cost;
  const double now = clock_.load(std::memory_order_relaxed) + kTick;
  entry.queued_ = now + entry.value();
  queue_.emplace(entry.queued_, &entry);
  entry.used_.store(now, std::memory_order_relaxed);
  clock_.store(now, std::memory_order_relaxed);
  bytes_ += entry.bytes_;
}

void GreedyDual::remove(Entry& entry) {
  if (entry.holds_ == 0) dequeue(entry);
  entry.node_ = {};
  bytes_ -= entry.bytes_;
}

void GreedyDual::revise(Entry& entry, std::size_t bytes, double cost) {
  if (entry.holds_ == 0) dequeue(entry);
  bytes_ = bytes_ - entry.bytes_ + bytes;
  entry.bytes_ = bytes;
  entry.cost_ = cost;
  if (entry.holds_ == 0) enqueue(entry);
}

void GreedyDual::hold(Entry& entry) {
  if (entry.holds_ == 0) dequeue(entry);
  ++entry.holds_;
}

void GreedyDual::release(Entry& entry) {
  use(entry);
  if (--entry.holds_ == 0) enqueue(entry);
}

GreedyDual::Entry* GreedyDual::next_to_go() {
  while (!queue_.empty()) {
    Entry& first = *queue_.begin()->second;
    if (first.priority() > first.queued_) {  // used since
      dequeue(first);
      enqueue(first);
      continue;
    }
    clock_.store(std::max(clock_.load(std::memory_order_relaxed), first.queued_), std::memory_order_relaxed);
    return &first;
  }
  return nullptr;
}

}  // namespace sinter::base
