// Functions on any module, that is on any struct that holds tensors. What was never given a value, an empty
// handle, stays so.
//
// Functions that give a model give one of its own: where std::shared_ptrs point to parts that others use as
// well, as the model that was copied, it gets copies of those, one for all pointers of a type to the same
// part, but for pointers that a class hides behind a visit_fields of its own. They throw Error where the
// class of such a part cannot be copied: give it clone() const, for instance.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/dtype.h>
#include <sinter/function.h>
#include <sinter/module.h>
#include <sinter/state.h>
#include <sinter/tensor.h>

namespace sinter::nn {
namespace detail {

struct State {
  std::string path;
  AnyTensor tensor;
  bool is_buffer;
};

template <class M>
std::vector<State> state_of(const M& model) {
  std::vector<State> states;
  visit_state(model, [&](const std::string& path, const auto& state) {
    states.push_back({path, state.dynamic(), IsBuffer<std::remove_cvref_t<decltype(state)>>});
  });
  return states;
}

template <class M>
void set_state(M& model, std::vector<State> states) {
  std::size_t at = 0;
  visit_state(model, [&](const std::string&, auto& state) {
    AnyTensor& next = states[at++].tensor;
    if (next.defined()) state = std::remove_cvref_t<decltype(state)>(std::move(next));
  });
}

template <class M>
void set_training(M& model, bool on) {
  visit_leaves<sinter::detail::TrainingLeaf>(model, [&](const std::string&, Training& state) { state = on; });
}

template <class M>
M with_state(M model, std::vector<State> states) {
  sinter::detail::unshare(model);
  set_state(model, std::move(states));
  return model;
}

// Tied parameters stay tied, and leaves stay leaves.
SINTER_API std::vector<State> to_device(std::vector<State> states, const Device& device, Location where);
SINTER_API std::vector<State> to_dtype(std::vector<State> states, DType dtype, Location where);
SINTER_API std::vector<State> set_frozen(std::vector<State> states, bool frozen, std::string_view pattern,
                                         Location where);
SINTER_API std::vector<State> fork(std::vector<State> states, Location where);
SINTER_API std::vector<State> map(std::vector<State> states,
                                  const Function<AnyTensor(const std::string&, const AnyTensor&)>& function,
                                  Location where);
SINTER_API bool equal(const std::vector<State>& a, const std::vector<State>& b, Location where);

}  // namespace detail

/// Says of all layers within the model whether they behave as in training (see Training).
template <class M>
M set_training(M model, bool on) {
  sinter::detail::unshare(model);
  detail::set_training(model, on);
  return model;
}

/// The same model for inference: on the device without autodiff, where no history is recorded, and not in
/// training, whatever device its inputs are on. Values are shared, not copied; buffers go their own ways.
template <class M>
M valid(M model) {
  sinter::detail::unshare(model);
  visit_state(model, [](const std::string&, auto& state) {
    if (state.defined()) state = std::remove_cvref_t<decltype(state)>(state.dynamic().inner());
  });
  detail::set_training(model, false);
  return model;
}

/// The model with its parameters and buffers on another device. Between devices this copies, and waits.
template <class M>
M to_device(M model, const Device& device, Location where = Location::current()) {
  auto states = detail::to_device(detail::state_of(model), device, where);
  return detail::with_state(std::move(model), std::move(states));
}

/// The model with its floating-point parameters in another floating-point dtype. Buffers and integers stay as
/// they are: running statistics are sums, which 16 bits would not hold. Throws DTypeError for a dtype that is
/// none.
template <class M>
M to_dtype(M model, DType dtype, Location where = Location::current()) {
  auto states = detail::to_dtype(detail::state_of(model), dtype, where);
  return detail::with_state(std::move(model), std::move(states));
}

/// The model with those parameters frozen whose paths fit the pattern (see path_matches): they require no
/// gradient, and no optimizer changes them. Throws Error when no path fits.
template <class M>
M freeze(M model, std::string_view pattern = "*", Location where = Location::current()) {
  auto states = detail::set_frozen(detail::state_of(model), true, pattern, where);
  return detail::with_state(std::move(model), std::move(states));
}

/// The opposite of `freeze`: floating-point parameters that fit require a gradient. Throws AutodiffError on a
/// device without autodiff.
template <class M>
M unfreeze(M model, std::string_view pattern = "*", Location where = Location::current()) {
  auto states = detail::set_frozen(detail::state_of(model), false, pattern, where);
  return detail::with_state(std::move(model), std::move(states));
}

/// A model of its own with the values that this one has now: its parameters are other leaves, tied ones tied
/// to each other, so that a thread that is given it can train it while this one is trained, or read. Values
/// are shared until one of both changes them.
template <class M>
M fork(M model, Location where = Location::current()) {
  auto states = detail::fork(detail::state_of(model), where);
  return detail::with_state(std::move(model), std::move(states));
}

/// The model with function(path, value) for each parameter, where values are AnyTensors on the device without
/// autodiff: for initial values, pruning, noise. A parameter that is reached on several paths is asked for
/// once, under the first, and stays tied; leaves stay leaves; buffers are as they were.
///
///   model = nn::map(std::move(model), [](const std::string& path, const AnyTensor& x) {
///     return path_matches("*.bias", path) ? AnyTensor::mul(x, 0.0) : x;
///   });
///
/// Throws ShapeError or DTypeError where the result has another rank or kind.
template <class M, class F>
M map(M model, F&& function, Location where = Location::current()) {
  const auto call = [&](const std::string& path, const AnyTensor& value) -> AnyTensor {
    return function(path, value);
  };
  auto states = detail::map(detail::state_of(model), call, where);
  return detail::with_state(std::move(model), std::move(states));
}

/// Whether two models have the same paths with tensors of the same shapes, dtypes and values. Reads them. NaN
/// differs from NaN.
template <class A, class B>
bool equal(const A& a, const B& b, Location where = Location::current()) {
  return detail::equal(detail::state_of(a), detail::state_of(b), where);
}

}  // namespace sinter::nn
