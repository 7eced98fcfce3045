// An intrusive reference-counted pointer, by free functions `retain` and `release`.
#pragma once

#include <utility>

namespace sinter::detail {

/// Owns one reference to a `T`. `retain(T*)` and `release(T*)` are found by argument-dependent lookup, so `T`
/// may be incomplete.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  /// Takes over a reference that the caller owns.
  static Ref adopt(T* pointer) {
    Ref ref;
    ref.pointer_ = pointer;
    return ref;
  }
  /// Adds a reference.
  static Ref share(T* pointer) {
    if (pointer) retain(pointer);
    return adopt(pointer);
  }
  Ref(const Ref& other) : pointer_(other.pointer_) {
    if (pointer_) retain(pointer_);
  }
  Ref(Ref&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Ref() {
    if (pointer_) release(pointer_);
  }

  T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }

 private:
  T* pointer_ = nullptr;
};

}  // namespace sinter::detail
