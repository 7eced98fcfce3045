// Matrices that decompositions work on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace sinter::runtime::host {

/// Rows of a padded matrix have whole units: the longest vector of any target, in elements of f32.
inline constexpr std::int64_t kUnit = 16;
constexpr std::int64_t whole_units_of(std::int64_t n) { return (n + kUnit - 1) / kUnit * kUnit; }

/// A row-major matrix whose rows begin on cache lines and are followed by zeros, so that kernels need not
/// treat the end of a row apart.
template <class T>
class Padded {
 public:
  Padded(std::int64_t rows, std::int64_t columns) : stride_(stride_of(columns)), count_(rows * stride_) {
    data_.reset(static_cast<T*>(::operator new(static_cast<std::size_t>(count_) * sizeof(T), kLine)));
    clear();
  }

  T* row(std::int64_t i) { return data_.get() + i * stride_; }
  const T* row(std::int64_t i) const { return data_.get() + i * stride_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::int64_t stride() const { return stride_; }
  void clear() { std::fill_n(data_.get(), count_, T{0}); }

 private:
  static constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(T* data) const { ::operator delete(data, kLine); }
  };
  /// Rows of a multiple of 1 KiB would have their columns in few sets of a cache.
  static constexpr std::int64_t stride_of(std::int64_t columns) {
    const std::int64_t whole = whole_units_of(columns);
    return whole * static_cast<std::int64_t>(sizeof(T)) % 1024 == 0 ? whole + kUnit : whole;
  }

  std::int64_t stride_, count_;
  std::unique_ptr<T, Free> data_;
};

}  // namespace sinter::runtime::host
