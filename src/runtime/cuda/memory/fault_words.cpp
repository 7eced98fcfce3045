// Words by size, cut from chunks of page-locked memory.
#include "src/runtime/cuda/memory/fault_words.h"

#include <algorithm>
#include <bit>

namespace sinter::runtime::cuda {

std::shared_ptr<FaultWords::Report> FaultWords::take(std::uint32_t count) {
  const std::size_t size_class =
      static_cast<std::size_t>(std::bit_width((std::max<std::size_t>(count, 1) - 1) / kLeast));
  auto report = std::make_shared<Report>(shared_from_this(), count, size_class);
  List& free = given_back_[size_class];
  const std::lock_guard lock(mutex_);
  // The latest first: a program that waits for each of its runs has the same words in each, so that its
  // graphs need no update. Else the oldest, which are most likely done.
  auto found = free.end();
  if (!free.empty()) {
    if (is_free(free.back()))
      found = std::prev(free.end());
    else if (is_free(free.front()) || timeline_.done(free.front().point))
      found = free.begin();
  }
  if (found == free.end()) {
    make(size_class);
    found = std::prev(free.end());
  }
  report->words_.splice(report->words_.end(), free, found);
  Words& words = report->words_.front();
  words.point = timeline_.open();
  std::fill_n(words.host, count, 0);
  return report;
}

/// Adds words to the free ones.
void FaultWords::make(std::size_t size_class) {
  const std::size_t bytes = (kLeast << size_class) * sizeof(std::uint32_t);
  if (bytes > left_) {
    const std::size_t wanted = std::max(bytes, kChunkBytes);
    chunks_.reserve(chunks_.size() + 1);
    void* memory = nullptr;
    check(api_.host_allocate(&memory, wanted, kHostMapped), "cuMemHostAlloc");
    DevicePointer address = 0;
    const Result result = api_.host_device_pointer(&address, memory, 0);
    if (result != kSuccess) api_.host_free(memory);
    check(result, "cuMemHostGetDevicePointer");
    chunks_.push_back(memory);
    next_host_ = static_cast<std::uint32_t*>(memory);
    next_device_ = address;
    left_ = wanted;
  }
  given_back_[size_class].push_back({next_host_, next_device_, 0});
  next_host_ += bytes / sizeof(std::uint32_t);
  next_device_ += bytes;
  left_ -= bytes;
}

void FaultWords::give_back(List& words, std::size_t size_class) noexcept {
  const std::lock_guard lock(mutex_);
  List& free = given_back_[size_class];
  free.splice(free.end(), words);
}

void FaultWords::close() noexcept {
  const std::lock_guard lock(mutex_);
  for (void* chunk : chunks_) api_.host_free(chunk);
  chunks_.clear();
}

bool FaultWords::Report::done() {
  if (home_->is_free(words_.front())) return true;
  check(home_->api_.context_set_current(home_->context_), "cuCtxSetCurrent");
  return home_->timeline_.done(words_.front().point);
}

std::span<const std::uint32_t> FaultWords::Report::words() {
  const Words& words = words_.front();
  if (!home_->is_free(words)) {
    check(home_->api_.context_set_current(home_->context_), "cuCtxSetCurrent");
    home_->timeline_.wait_for(words.point);
  }
  return {words.host, count_};
}

}  // namespace sinter::runtime::cuda
