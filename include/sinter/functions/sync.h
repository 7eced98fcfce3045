// Computing several tensors at once.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/tensor.h>

namespace sinter {

namespace detail {

/// A tensor of any rank and kind, typed or not, in the list of a call.
class Listed {
 public:
  Listed(const AnyTensor& tensor) : tensor_(&tensor) {}
  template <std::size_t Rank, class Kind>
  Listed(const Tensor<Rank, Kind>& tensor) : tensor_(&tensor.dynamic()) {}

  const AnyTensor& tensor() const { return *tensor_; }

 private:
  const AnyTensor* tensor_;
};

}  // namespace detail

/// Computes the tensors without reading them, and does not wait:
///
///   sn::sync({loss, *gradients.get(model.weight), hidden});
///
/// What all of them need is handed to the devices together, so that a kernel may compute several. `x.sync()`
/// for one after the other asks for the first alone: what others hold is then stored only where that is worth
/// it (docs/performance.md), and else computed anew when they are asked for. Throws what is known to have
/// gone wrong with any of them, and then loses nothing; an index out of range may be found by the device
/// later, and is told when the value is read.
SINTER_API void sync(std::initializer_list<detail::Listed> tensors, Location where = Location::current());
SINTER_API void sync(std::span<const AnyTensor> tensors, Location where = Location::current());
/// Tensors of one rank and kind: a list, or an array such as `gradient` gives.
template <std::size_t Rank, class Kind>
void sync(const std::vector<Tensor<Rank, Kind>>& tensors, Location where = Location::current()) {
  std::vector<AnyTensor> handles;
  for (const Tensor<Rank, Kind>& tensor : tensors) handles.push_back(tensor.dynamic());
  sync(std::span<const AnyTensor>(handles), where);
}
template <std::size_t Rank, class Kind, std::size_t Count>
void sync(const std::array<Tensor<Rank, Kind>, Count>& tensors, Location where = Location::current()) {
  sync(std::vector<Tensor<Rank, Kind>>(tensors.begin(), tensors.end()), where);
}

}  // namespace sinter
