// What std::shared_ptr does for an object made here, without <memory>, which takes long to compile.
#pragma once

#include <cstddef>
#include <utility>

#include <sinter/detail/api.h>
#include <sinter/detail/ref.h>

namespace sinter::detail {

/// Counts the handles to an object, and deletes it with the last.
struct Owner;
/// Takes the object over, also where it throws.
SINTER_API Owner* own(void* object, void (*destroy)(void* object));
SINTER_API void retain(Owner* owner);
SINTER_API void release(Owner* owner);

/// A handle to a T, null by default. Copies share it; threads may copy and drop handles at once.
template <class T>
class Shared {
 public:
  Shared() = default;
  /// A copy of `made`, a T or a class derived from it.
  template <class U>
  static Shared of(U made) {
    U* const object = new U(std::move(made));
    Shared shared;
    shared.object_ = object;
    shared.owner_ = Ref<Owner>::adopt(own(object, [](void* last) { delete static_cast<U*>(last); }));
    return shared;
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
  Ref<Owner> owner_;
};

}  // namespace sinter::detail
