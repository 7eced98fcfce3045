// The fault words of runs: page-locked host memory that kernels write to, so that a run needs neither a copy
// nor a clearing on the stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "src/runtime/backend.h"
#include "src/runtime/cuda/driver_api.h"
#include "src/runtime/cuda/memory/timeline.h"

namespace sinter::runtime::cuda {

/// Hands out words, and takes back those whose report is gone; they are used again once their run has ended.
/// Reports own it together with the backend, as the last of them may outlive the backend by a moment.
class FaultWords : public std::enable_shared_from_this<FaultWords> {
 public:
  FaultWords(const DriverApi& api, Context context, Timeline& timeline)
      : api_(api), context_(context), timeline_(timeline) {}
  FaultWords(const FaultWords&) = delete;
  FaultWords& operator=(const FaultWords&) = delete;

  class Report;

  /// Words for the run that is open now, all zero. Called with the device's lock held and the context
  /// current. Throws DeviceError when there is no memory.
  std::shared_ptr<Report> take(std::uint32_t count);

  /// Frees the memory, before the backend ends. Later reports must not be asked.
  void close() noexcept;

 private:
  struct Words {
    std::uint32_t* host = nullptr;
    DevicePointer device = 0;
    std::uint64_t point = 0;  // the last run that had them
  };
  using List = std::list<Words>;  // nodes move between lists without allocating

  static constexpr std::size_t kLeast = 16;  // words: a cache line
  static constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

  bool is_free(const Words& words) { return words.point <= timeline_.known_completed(); }
  void make(std::size_t size_class);
  void give_back(List& words, std::size_t size_class) noexcept;

  const DriverApi& api_;
  const Context context_;
  Timeline& timeline_;
  std::mutex mutex_;                 // of the lists
  std::array<List, 32> given_back_;  // by size, kLeast times a power of two; the latest last
  std::vector<void*> chunks_;
  std::uint32_t* next_host_ = nullptr;  // the rest of the last chunk
  DevicePointer next_device_ = 0;
  std::size_t left_ = 0;  // bytes
};

class FaultWords::Report final : public FaultReport {
 public:
  Report(std::shared_ptr<FaultWords> home, std::uint32_t count, std::size_t size_class)
      : home_(std::move(home)), count_(count), size_class_(size_class) {}
  ~Report() override { home_->give_back(words_, size_class_); }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  bool done() override;
  std::span<const std::uint32_t> words() override;

  DevicePointer device() const { return words_.front().device; }
  std::uint32_t count() const { return count_; }

 private:
  friend class FaultWords;
  const std::shared_ptr<FaultWords> home_;
  const std::uint32_t count_;
  const std::size_t size_class_;
  List words_;  // one
};

}  // namespace sinter::runtime::cuda
