// Functions on the state of a module.
#include <algorithm>
#include <map>
#include <utility>

#include <sinter/error.h>
#include <sinter/nn/module.h>

namespace sinter {

bool path_matches(std::string_view pattern, std::string_view path) {
  // Where it does not go on, the last star takes one character more.
  std::size_t p = 0, i = 0, star = std::string_view::npos, after = 0;
  while (i < path.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after = i;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == path[i])) {
      ++p, ++i;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      i = ++after;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

void detail::throw_not_copied(const std::string& path) {
  throw Error(
      "[module] " + (path.empty() ? "the model is" : "\"" + path + "\" is") +
      " a shared pointer to an object that other pointers lead to as well, which cannot be copied: give "
      "its class a copy constructor, or clone() const where other classes derive from it");
}

bool detail::SeenOnce::add(const Identity& identity) {
  const auto at = std::lower_bound(seen_.begin(), seen_.end(), identity);
  if (at != seen_.end() && *at == identity) return false;
  seen_.insert(at, identity);
  return true;
}

namespace nn::detail {
namespace {

/// Replaces each tensor by function(state), a parameter with several paths once.
template <class Function>
std::vector<State> each_once(std::vector<State> states, Function&& function) {
  std::map<std::pair<const void*, const void*>, AnyTensor> known;
  const std::vector<State> old = states;  // pointers of `known` stay taken
  for (std::size_t i = 0; i < states.size(); ++i) {
    const AnyTensor& tensor = old[i].tensor;
    if (!tensor.defined()) continue;
    if (old[i].is_buffer) {
      states[i].tensor = function(old[i]);
      continue;
    }
    auto [at, is_new] = known.try_emplace({tensor.value().get(), tensor.node().get()});
    if (is_new) at->second = function(old[i]);
    states[i].tensor = at->second;
  }
  return states;
}

AnyTensor leaf_like(const AnyTensor& tensor, const AnyTensor& old, const Location& where) {
  return old.requires_grad() && tensor.device().is_autodiff() ? tensor.require_grad(where) : tensor;
}

}  // namespace

std::vector<State> to_device(std::vector<State> states, const Device& device, Location where) {
  return each_once(std::move(states), [&](const State& state) {
    const Device target = state.is_buffer ? device.inner() : device;
    return leaf_like(state.tensor.detach().to_device(target, where), state.tensor, where);
  });
}

std::vector<State> to_dtype(std::vector<State> states, DType dtype, Location where) {
  if (!is_float(dtype))
    throw DTypeError("[to_dtype] " + std::string(name_of(dtype)) + " is no floating-point dtype", where);
  return each_once(std::move(states), [&](const State& state) {
    const AnyTensor& tensor = state.tensor;
    if (state.is_buffer || !is_float(tensor.dtype()) || tensor.dtype() == dtype) return tensor;
    return leaf_like(tensor.detach().cast(dtype, where), tensor, where);
  });
}

std::vector<State> set_frozen(std::vector<State> states, bool frozen, std::string_view pattern,
                              Location where) {
  // A parameter with several paths fits if one of them does.
  std::map<const void*, bool> fits;
  bool any = false;
  for (const State& state : states) {
    if (state.is_buffer || !state.tensor.defined() || !path_matches(pattern, state.path)) continue;
    fits[state.tensor.value().get()] = true;
    any = true;
  }
  if (!any)
    throw Error("[" + std::string(frozen ? "freeze" : "unfreeze") +
                    "] no parameter's path fits the pattern \"" + std::string(pattern) + "\"",
                where);
  return each_once(std::move(states), [&](const State& state) {
    const AnyTensor& tensor = state.tensor;
    if (state.is_buffer || !fits.count(tensor.value().get()) || !is_float(tensor.dtype())) return tensor;
    return frozen ? tensor.detach() : tensor.requires_grad() ? tensor : tensor.require_grad(where);
  });
}

std::vector<State> fork(std::vector<State> states, Location where) {
  return each_once(std::move(states), [&](const State& state) {
    return state.tensor.requires_grad() ? state.tensor.detach().require_grad(where) : state.tensor;
  });
}

std::vector<State> map(std::vector<State> states,
                       const Function<AnyTensor(const std::string&, const AnyTensor&)>& function,
                       Location where) {
  return each_once(std::move(states), [&](const State& state) {
    const AnyTensor& tensor = state.tensor;
    if (state.is_buffer) return tensor;
    const AnyTensor next = function(state.path, tensor.inner());
    if (!next.defined())
      throw Error("[map] of the parameter " + state.path + " the function made nothing", where);
    return leaf_like(next.detach().to_device(tensor.device(), where), tensor, where);
  });
}

bool equal(const std::vector<State>& a, const std::vector<State>& b, Location where) {
  if (a.size() != b.size()) return false;
  AnyTensor same;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const AnyTensor &x = a[i].tensor, &y = b[i].tensor;
    if (a[i].path != b[i].path || x.defined() != y.defined()) return false;
    if (!x.defined()) continue;
    if (x.shape() != y.shape() || x.dtype() != y.dtype()) return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].tensor.defined() || a[i].tensor.numel() == 0) continue;
    const AnyTensor x = a[i].tensor.inner();
    const AnyTensor y = b[i].tensor.to_device(x.device(), where);
    const AnyTensor equal = AnyTensor::equal(x, y, where);
    const AnyTensor all = equal.all(equal.all_axes(), where).reshape({}, where);
    same = same.defined() ? AnyTensor::logical_and(same, all.to_device(same.device(), where), where) : all;
  }
  return !same.defined() || Tensor<0, Bool>(same).item(where);
}

}  // namespace nn::detail
}  // namespace sinter
