// What a module remembers beside its parameters: buffers, and whether it is in training.
#pragma once

#include <cstddef>
#include <utility>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/detail/spin_lock.h>
#include <sinter/tensor.h>

namespace sinter {
namespace detail {

/// A tensor that several threads may read and replace at once.
class SINTER_API SharedHandle {
 public:
  SharedHandle() = default;
  explicit SharedHandle(AnyTensor tensor) : tensor_(std::move(tensor)) {}
  SharedHandle(const SharedHandle& other) : tensor_(other.get()) {}
  SharedHandle(SharedHandle&& other) noexcept : tensor_(std::move(other.tensor_)) {}
  SharedHandle& operator=(const SharedHandle& other) {
    set(other.get());
    return *this;
  }
  SharedHandle& operator=(SharedHandle&& other) noexcept {
    tensor_ = std::move(other.tensor_);
    return *this;
  }

  AnyTensor get() const;
  void set(AnyTensor tensor) const;

 private:
  mutable AnyTensor tensor_;
  mutable detail::SpinLock lock_;
};

}  // namespace detail

/// A tensor of a module that training changes, but no optimizer: the running statistics of a batch norm. It
/// has no gradient; it is saved and moved with the module, and is not counted among its parameters.
///
/// `set` is const, so that a module's forward() const may change it. Threads may read and set one buffer at
/// once; two that read, compute and set may lose the update of one of them. Copies are independent: a copy of
/// a module has the values of that moment.
template <std::size_t Rank, class Kind = Float>
class Buffer {
 public:
  static constexpr std::size_t kRank = Rank;

  /// Empty: can only be set.
  Buffer() = default;
  explicit Buffer(const Tensor<Rank, Kind>& value) : handle_(value.dynamic().inner()) {}
  /// Throws ShapeError or DTypeError when rank or kind are others.
  explicit Buffer(const AnyTensor& value, Location where = Location::current())
      : Buffer(Tensor<Rank, Kind>(value, where)) {}

  /// On the device without autodiff.
  Tensor<Rank, Kind> value() const { return {detail::trusted, handle_.get()}; }
  /// The value without its history.
  void set(const Tensor<Rank, Kind>& value) const { handle_.set(value.dynamic().inner()); }

  AnyTensor dynamic() const { return handle_.get(); }
  bool defined() const { return handle_.get().defined(); }
  Shape shape() const { return handle_.get().shape(); }

 private:
  detail::SharedHandle handle_;
};

/// Whether a layer behaves as in training: the one thing that dropout, noise and batch norm look at, whatever
/// device their input is on. It has no default: a layer's init(device) sets it, true iff the device has
/// autodiff; nn::valid(model) and nn::set_training(model, bool) change it.
class Training {
 public:
  constexpr Training(bool on) : on_(on) {}
  explicit Training(const Device& device) : on_(device.is_autodiff()) {}
  constexpr operator bool() const { return on_; }

 private:
  bool on_;
};

}  // namespace sinter
