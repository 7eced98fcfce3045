// Padding by a tensor's own elements: views of its ends, joined with it.
#include <string>
#include <vector>

#include <sinter/functions/padding.h>

#include "src/tensor/check.h"

namespace sinter {

namespace {

using A = AnyTensor;

/// `count` elements to stand before the first (or behind the last) one of an axis of `size`.
AnyTensor beyond(const AnyTensor& x, std::int64_t axis, std::int64_t size, std::int64_t count, bool before,
                 PadMode mode, const Location& where) {
  switch (mode) {
    case PadMode::Reflect:
      return x.narrow(axis, before ? 1 : size - 1 - count, count, where).flip(axis, where);
    case PadMode::Replicate: {
      Dims sizes = x.shape();
      sizes[static_cast<std::size_t>(axis)] = count;
      return x.narrow(axis, before ? 0 : size - 1, 1, where).expand(sizes, where);
    }
    case PadMode::Circular: break;
  }
  return x.narrow(axis, before ? size - count : 0, count, where);
}

}  // namespace

AnyTensor pad(const AnyTensor& x, const Dims& before, const Dims& after, PadMode mode, Location where) {
  const Shape shape = tensor::value_of("pad", x, where).shape;
  bool fits = before.rank() == shape.rank() && after.rank() == shape.rank();
  for (std::size_t i = 0; fits && i < shape.rank(); ++i) {
    fits = before[i] >= 0 && after[i] >= 0;
    const std::int64_t longest = std::max(before[i], after[i]);
    if (mode == PadMode::Reflect) fits = fits && (longest == 0 || longest < shape[i]);
    if (mode == PadMode::Circular) fits = fits && longest <= shape[i];
    if (mode == PadMode::Replicate) fits = fits && (longest == 0 || shape[i] > 0);
  }
  if (!fits) {
    constexpr const char* kNames[] = {"reflected", "replicated", "circular"};
    throw ShapeError("[pad] " + to_string(before) + " before and " + to_string(after) +
                         " after do not pad shape " + to_string(shape) + " by " +
                         kNames[static_cast<int>(mode)] + " elements",
                     where);
  }
  AnyTensor result = x;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    std::vector<AnyTensor> pieces;
    if (before[i] > 0) pieces.push_back(beyond(result, axis, shape[i], before[i], true, mode, where));
    pieces.push_back(result);
    if (after[i] > 0) pieces.push_back(beyond(result, axis, shape[i], after[i], false, mode, where));
    if (pieces.size() > 1) result = A::cat(pieces, axis, where);
  }
  return result;
}

}  // namespace sinter
