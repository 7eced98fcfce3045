// The gradients of a backward pass, found by leaf.
#include "src/autodiff/gradients.h"

#include <algorithm>

#include <sinter/any_tensor.h>

#include "src/autodiff/node.h"

namespace sinter {

namespace {

auto lower_bound(auto& entries, std::uint64_t leaf) {
  return std::lower_bound(entries.begin(), entries.end(), leaf,
                          [](const Gradients::Entry& entry, std::uint64_t id) { return entry.leaf < id; });
}

/// The id of a leaf's node; 0, which no node has, for a tensor that needs no gradient.
std::uint64_t number_of(const AnyTensor& leaf) {
  const autodiff::Node* node = leaf.node().get();
  if (!node) return 0;
  if (!node->leaf)
    throw AutodiffError(
        "[gradients] the tensor of shape " + to_string(leaf.shape()) +
        " is a result, and gradients are kept for leaves only: call require_grad() on what you compute from");
  return node->id;
}

}  // namespace

AnyTensor* autodiff::find_gradient(Gradients& gradients, const AnyTensor& leaf) {
  const std::uint64_t number = number_of(leaf);
  const auto at = lower_bound(gradients.entries(), number);
  return at == gradients.entries().end() || at->leaf != number || !at->gradient.defined() ? nullptr
                                                                                          : &at->gradient;
}

std::optional<AnyTensor> Gradients::get(const AnyTensor& leaf) const {
  const std::uint64_t number = number_of(leaf);
  const auto at = lower_bound(entries_, number);
  if (at == entries_.end() || at->leaf != number || !at->gradient.defined()) return std::nullopt;
  return at->gradient;
}

std::optional<AnyTensor> Gradients::remove(const AnyTensor& leaf) {
  AnyTensor* gradient = autodiff::find_gradient(*this, leaf);
  if (!gradient) return std::nullopt;
  // Leaves an empty entry: erasing it would move all later ones, for every parameter of a model.
  return std::exchange(*gradient, AnyTensor());
}

std::size_t Gradients::size() const {
  return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(),
                                                [](const Entry& entry) { return entry.gradient.defined(); }));
}

void Gradients::set(const AnyTensor& leaf, AnyTensor gradient) {
  const std::uint64_t number = number_of(leaf);
  if (!number)
    throw AutodiffError("[gradients] a gradient is set for a tensor without require_grad(), of shape " +
                        to_string(leaf.shape()));
  if (gradient.shape() != leaf.shape())
    throw ShapeError("[gradients] a gradient of shape " + to_string(gradient.shape()) +
                     " is set for a leaf of shape " + to_string(leaf.shape()));
  if (gradient.dtype() != leaf.dtype())
    throw DTypeError("[gradients] a gradient of dtype " + std::string(name_of(gradient.dtype())) +
                     " is set for a leaf of dtype " + std::string(name_of(leaf.dtype())));
  const auto at = lower_bound(entries_, number);
  if (at != entries_.end() && at->leaf == number)
    at->gradient = std::move(gradient);
  else
    entries_.insert(at, {number, std::move(gradient)});
}

}  // namespace sinter
