// Callables of one signature: what std::function is, without <functional>, which takes long to compile.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <sinter/error.h>

namespace sinter {

template <class Signature>
class Function;

/// Holds a copy of anything that can be called with Args and whose result converts to R: a function, a
/// lambda, a std::function. Empty by default; to call an empty one throws Error.
template <class R, class... Args>
class Function<R(Args...)> {
 public:
  Function() = default;
  template <class F>
  requires(!std::same_as<std::decay_t<F>, Function> && std::is_invocable_r_v<R, std::decay_t<F>&, Args...> &&
           std::copy_constructible<std::decay_t<F>>) Function(F&& f) {
    if constexpr (!std::is_function_v<std::remove_reference_t<F>> && requires { bool(f == nullptr); })
      if (f == nullptr) return;  // an empty std::function, a null pointer to a function
    held_ = new Held<std::decay_t<F>>(std::forward<F>(f));
  }
  Function(const Function& other) : held_(other.held_ ? other.held_->copy() : nullptr) {}
  Function(Function&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  Function& operator=(Function other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Function() { delete held_; }

  explicit operator bool() const { return held_ != nullptr; }

  R operator()(Args... args) const {
    if (!held_) throw Error("[function] an empty function was called");
    return held_->call(std::forward<Args>(args)...);
  }

 private:
  struct Callable {
    virtual ~Callable() = default;
    virtual R call(Args... args) = 0;
    virtual Callable* copy() const = 0;
  };
  template <class F>
  struct Held final : Callable {
    explicit Held(F f) : function(std::move(f)) {}
    R call(Args... args) override {
      if constexpr (std::is_void_v<R>)
        function(std::forward<Args>(args)...);
      else
        return function(std::forward<Args>(args)...);
    }
    Callable* copy() const override { return new Held(function); }
    F function;
  };

  Callable* held_ = nullptr;
};

}  // namespace sinter
