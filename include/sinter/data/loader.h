// Walks a data set in batches, in order or shuffled.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <sinter/detail/api.h>

namespace sinter::data {

/// Anything with a size and items by index.
template <class T>
concept Dataset = requires(const T& dataset, std::size_t index) {
  { dataset.size() } -> std::convertible_to<std::size_t>;
  dataset.get(index);
};

/// Makes one batch from the items at the given indices.
template <class B, class D>
concept Batcher = requires(const B& batcher, const D& dataset, std::span<const std::size_t> indices) {
  { batcher(dataset, indices) } -> std::movable;
};

/// The indices 0 to count - 1, in order or shuffled. The same seed gives the same order with every compiler
/// and standard library (Fisher-Yates shuffle over SplitMix64).
SINTER_API std::vector<std::size_t> make_order(std::size_t count, bool shuffle, std::uint64_t seed);

template <Dataset D, Batcher<D> B>
class DataLoader;

struct SINTER_API DataLoaderConfig {
  std::size_t batch_size = 1;
  bool shuffle = false;
  std::uint64_t seed = 0;
  /// Skip the last batch if it is not full.
  bool drop_last = false;

  /// The loader refers to the data set, which must outlive it. Throws DataError when batch_size is 0.
  template <Dataset D, Batcher<D> B>
  DataLoader<D, B> init(const D& dataset, B batcher) const {
    check();
    return DataLoader<D, B>(*this, dataset, std::move(batcher));
  }
  template <Dataset D, Batcher<D> B>
  DataLoader<D, B> init(const D&& dataset,
                        B batcher) const = delete;  // the loader would refer to a temporary

  void check() const;
  /// The indices of a batch.
  std::span<const std::size_t> part(const std::vector<std::size_t>& order, std::size_t batch) const;
};

/// for (auto batch : loader.epoch(0)) ...
template <Dataset D, Batcher<D> B>
class DataLoader {
 public:
  DataLoader(const DataLoaderConfig& config, const D& dataset, B batcher)
      : config_(config), dataset_(&dataset), batcher_(std::move(batcher)) {}

  /// Number of batches in one epoch.
  std::size_t batches() const {
    std::size_t full = dataset_->size() / config_.batch_size;
    bool partial = dataset_->size() % config_.batch_size != 0 && !config_.drop_last;
    return full + (partial ? 1 : 0);
  }

  /// One pass over the data set: a range that makes each batch on dereference. Refers to this loader.
  class Epoch {
   public:
    using Batch =
        decltype(std::declval<const B&>()(std::declval<const D&>(), std::span<const std::size_t>()));

    class Iterator {
     public:
      using value_type = Batch;
      using difference_type = std::ptrdiff_t;

      Iterator(const Epoch* epoch, std::size_t at) : epoch_(epoch), at_(at) {}
      /// Makes the batch anew at each call; the caller may move from it.
      Batch operator*() const { return epoch_->make(at_); }
      Iterator& operator++() {
        ++at_;
        return *this;
      }
      void operator++(int) { ++at_; }
      friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

     private:
      const Epoch* epoch_;
      std::size_t at_;
    };

    Iterator begin() const { return Iterator(this, 0); }
    Iterator end() const { return Iterator(this, loader_->batches()); }

   private:
    friend class DataLoader;
    Epoch(const DataLoader* loader, std::vector<std::size_t> order)
        : loader_(loader), order_(std::move(order)) {}

    Batch make(std::size_t batch) const {
      return loader_->batcher_(*loader_->dataset_, loader_->config_.part(order_, batch));
    }

    const DataLoader* loader_;
    std::vector<std::size_t> order_;
  };

  /// Shuffles differently for each `index`; the same index and seed always give the same order.
  Epoch epoch(std::uint64_t index = 0) const {
    return Epoch(this, make_order(dataset_->size(), config_.shuffle, config_.seed * 1000003 + index));
  }

 private:
  DataLoaderConfig config_;
  const D* dataset_;
  B batcher_;
};

}  // namespace sinter::data
