// Gradients beyond loss.backward(): of any result with respect to anything, to any order; functions with
// gradients of their own, checkpoints, scopes. docs/autodiff.md shows them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/packs.h>
#include <sinter/function.h>
#include <sinter/tensor.h>

namespace sinter {

/// What `backward` does beside computing gradients.
struct BackwardOptions {
  /// The gradient of the result, of its shape and dtype; empty: 1, for a result of one element.
  detail::Handle seed{};
  /// The history stays, so that it can be differentiated again, as part of another loss for example.
  bool keep_history = false;
  /// The gradients have a history of their own, so that they can be differentiated; what they were computed
  /// from keeps its history, too.
  bool differentiable = false;
};

/// The same for `gradient`.
struct GradientOptions {
  detail::Handle seed{};
  bool keep_history = true;
  bool differentiable = true;
};

/// The gradients of `y` with respect to each of `xs`: leaves, or whatever else `y` was computed from. Zeros
/// for an x that y does not depend on. Throws AutodiffError where y or an x has no history, or where y is not
/// one number and no seed is given.
///
///   const auto [dw, db] = sn::gradient(loss, std::tie(w, b));
///   const auto curvature = sn::gradient(dw.sum(), w);          // a gradient can be differentiated
SINTER_API std::vector<AnyTensor> gradient(const AnyTensor& y, std::span<const AnyTensor> xs,
                                           const GradientOptions& options = {},
                                           Location where = Location::current());
namespace detail {
SINTER_API AnyTensor gradient_of(const AnyTensor& y, const AnyTensor& x, const GradientOptions& options,
                                 const Location& where);
SINTER_API std::vector<AnyTensor> gradients_of(const AnyTensor& y, const std::vector<AnyTensor>& xs,
                                               const GradientOptions& options, const Location& where);
}  // namespace detail
inline AnyTensor gradient(const AnyTensor& y, const AnyTensor& x, const GradientOptions& options = {},
                          Location where = Location::current()) {
  return detail::gradient_of(y, x, options, where);
}
/// Of tensors of any ranks: gradient(loss, {w, b}).
template <std::size_t N>
std::vector<AnyTensor> gradient(const detail::Handle& y, const detail::Handle (&xs)[N],
                                const GradientOptions& options = {}, Location where = Location::current()) {
  std::vector<AnyTensor> list;
  for (const detail::Handle& x : xs) list.push_back(x.tensor);
  return detail::gradients_of(y.tensor, list, options, where);
}
/// Of one typed tensor, or of a tuple of them (std::tie(w, b)): the gradients have their types.
template <std::size_t Rank, class X>
requires(detail::is_typed_pack<X>) detail::Values<X> gradient(const Tensor<Rank>& y, const X& xs,
                                                              const GradientOptions& options = {},
                                                              Location where = Location::current()) {
  const std::vector<AnyTensor> list = detail::pack(xs);
  return detail::unpack<detail::Values<X>>(detail::gradients_of(y.dynamic(), list, options, where));
}
/// Of several tensors of one rank: auto [dq, dk, dv] = gradient(loss, {q, k, v}).
template <std::size_t RankY, std::size_t Rank, std::size_t N>
std::array<Tensor<Rank>, N> gradient(const Tensor<RankY>& y, const Tensor<Rank> (&xs)[N],
                                     const GradientOptions& options = {},
                                     Location where = Location::current()) {
  std::vector<AnyTensor> list;
  for (const Tensor<Rank>& x : xs) list.push_back(x.dynamic());
  list = detail::gradients_of(y.dynamic(), list, options, where);
  std::array<Tensor<Rank>, N> gradients;
  for (std::size_t i = 0; i < N; ++i) gradients[i] = Tensor<Rank>(std::move(list[i]));
  return gradients;
}

// ---- derivatives of functions
//
// `f` takes one tensor, or several where `x` is a tuple of tensors, or a std::vector<AnyTensor>; its result
// is any of the three likewise. It need not know of gradients, and `x` needs no history and no device with
// autodiff. Where x, or what f reads beside it, has a history, the results have one, too.

namespace detail {
using Tensors = std::vector<AnyTensor>;
using TensorFunction = Function<Tensors(const Tensors&)>;
using TensorsPair = std::pair<Tensors, Tensors>;
SINTER_API TensorsPair vjp(const TensorFunction& f, const Tensors& x, const Tensors& v,
                           const Location& where);
SINTER_API TensorsPair jvp(const TensorFunction& f, const Tensors& x, const Tensors& v,
                           const Location& where);
SINTER_API Tensors hvp(const TensorFunction& f, const Tensors& x, const Tensors& v, const Location& where);
}  // namespace detail

/// {f(x), v J}: the product of a vector, of the shape of f(x), with the Jacobian of f at x.
template <class F, class X, class V>
auto vjp(F&& f, const X& x, const V& v, Location where = Location::current()) {
  using Y = detail::ResultOf<F, X>;
  auto [y, product] = detail::vjp(detail::on_packs<X>(f), detail::pack(x), detail::pack(v), where);
  return std::pair<Y, detail::Values<X>>(detail::unpack<Y>(std::move(y)),
                                         detail::unpack<detail::Values<X>>(std::move(product)));
}

/// {f(x), J v}: the derivative of f at x along v, of the shape of x. Costs two backward passes, of which the
/// planner drops what the result does not need.
template <class F, class X, class V>
auto jvp(F&& f, const X& x, const V& v, Location where = Location::current()) {
  using Y = detail::ResultOf<F, X>;
  auto [y, product] = detail::jvp(detail::on_packs<X>(f), detail::pack(x), detail::pack(v), where);
  return std::pair<Y, Y>(detail::unpack<Y>(std::move(y)), detail::unpack<Y>(std::move(product)));
}

/// H v: the product of the Hessian of f at x with a vector of the shape of x; f gives one number.
template <class F, class X, class V>
detail::Values<X> hvp(F&& f, const X& x, const V& v, Location where = Location::current()) {
  return detail::unpack<detail::Values<X>>(
      detail::hvp(detail::on_packs<X>(f), detail::pack(x), detail::pack(v), where));
}

// ---- scopes of the calling thread

/// While it lives, operations that this thread records have no history. Values stay on their device with
/// autodiff: dropout, which asks for that, is active.
///
///   {
///     const sn::NoGrad no_grad;
///     average = average * 0.99 + w * 0.01;
///   }
class SINTER_API NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
  void* met_;
};

/// While it lives, this thread's backward passes look at each gradient, and the first one with a NaN or an
/// infinite element throws AutodiffError that names the operation and its line; so does an operation with a
/// history whose result is NaN. Each operation waits for its values: for finding a fault, not for training.
/// SINTER_ANOMALY=1 does so for a whole program.
class SINTER_API DetectAnomaly {
 public:
  DetectAnomaly();
  ~DetectAnomaly();
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

 private:
  bool before_;
};

// ---- checkpoints

namespace detail {
SINTER_API Tensors checkpoint(TensorFunction f, Tensors inputs);
}

/// fn(inputs...), whose inner values are not kept for the backward pass, which runs the function again
/// instead. Random numbers, such as dropout masks, come out the same. What the function reads beside its
/// inputs, the parameters of a module for example, gets gradients too. The function is copied; it has to do
/// the same each time, and may not call backward() or gradient().
///
///   x = sn::checkpoint([&block](const sn::Tensor<3>& x) { return block.forward(x); }, x);
template <class F, class... Inputs>
auto checkpoint(F fn, const Inputs&... inputs) {
  using Y = std::decay_t<std::invoke_result_t<F&, const Inputs&...>>;
  detail::TensorFunction run = [fn = std::move(fn)](const detail::Tensors& list) mutable {
    return detail::pack(std::apply(fn, detail::unpack<std::tuple<Inputs...>>(list)));
  };
  return detail::unpack<Y>(detail::checkpoint(std::move(run), detail::pack(std::tie(inputs...))));
}

// ---- functions with gradients of their own

/// What a function's forward part keeps for its backward part.
class Saved {
 public:
  /// Inputs and results of the function can be differentiated again where they are kept, as can what had its
  /// history before the call; what the function computes on the way is a constant to second derivatives.
  template <class... T>
  void keep(const T&... tensors) {
    (detail::append(kept_, tensors), ...);
  }
  /// What was kept, in order: saved.get<2>(0) as a Tensor<2>, saved[0] as an AnyTensor.
  const AnyTensor& operator[](std::size_t i) const { return kept_.at(i); }
  template <std::size_t Rank, class Kind = Float>
  Tensor<Rank, Kind> get(std::size_t i) const {
    return Tensor<Rank, Kind>(kept_.at(i));
  }

  std::vector<AnyTensor>& kept() { return kept_; }
  const std::vector<AnyTensor>& kept() const { return kept_; }

 private:
  std::vector<AnyTensor> kept_;
};

namespace detail {
struct FunctionParts {
  std::string name;
  Location where;
  Function<Tensors(Saved&)> forward;
  Function<Tensors(const Saved&, Tensors)> backward;
};
SINTER_API Tensors call(FunctionParts parts, const Tensors& inputs);
}  // namespace detail

/// A function that computes its gradients itself.
///
///   const sn::CustomFunction clip(
///       "clip",
///       [](sn::Saved& saved, const sn::Tensor<1>& x) { saved.keep(x); return sn::minimum(x, 1.0); },
///       [](const sn::Saved& saved, const sn::Tensor<1>& g) { return g; });  // straight through
///   const auto y = clip(x);
///
/// The forward part takes what it is called with, and gives a tensor, a tuple of tensors or a
/// std::vector<AnyTensor>; its operations get no history. The backward part takes the gradient of each
/// result, zeros for one that nothing came of, and gives a gradient for each input, of its shape and dtype;
/// an empty handle is none. Made of differentiable operations, it is differentiated for second derivatives.
template <class Forward, class Backward>
class CustomFunction {
 public:
  CustomFunction(std::string name, Forward forward, Backward backward, Location where = Location::current())
      : name_(std::move(name)), where_(where), forward_(std::move(forward)), backward_(std::move(backward)) {}

  template <class... Inputs>
  auto operator()(const Inputs&... inputs) const {
    using Y = std::decay_t<std::invoke_result_t<const Forward&, Saved&, const Inputs&...>>;
    detail::FunctionParts parts{name_, where_, {}, {}};
    parts.forward = [&](Saved& saved) { return detail::pack(forward_(saved, inputs...)); };
    parts.backward = [backward = backward_](const Saved& saved, detail::Tensors gradients) {
      const auto call = [&](const auto&... g) { return detail::pack(backward(saved, g...)); };
      if constexpr (detail::is_tuple<Y>)
        return std::apply(call, detail::unpack<Y>(std::move(gradients)));
      else
        return call(detail::unpack<Y>(std::move(gradients)));
    };
    return detail::unpack<Y>(detail::call(std::move(parts), detail::pack(std::tie(inputs...))));
  }

 private:
  std::string name_;
  Location where_;
  Forward forward_;
  Backward backward_;
};

}  // namespace sinter
