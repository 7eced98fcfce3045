// Surrounding a tensor by its own elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter {

/// Surrounds each dimension with `before` and `after` elements. Reflect takes fewer elements than the
/// dimension has, Circular at most as many.
SINTER_API AnyTensor pad(const AnyTensor& x, const Dims& before, const Dims& after, PadMode mode,
                         Location where = Location::current());

template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> pad(const Tensor<Rank, Kind>& x, const Sizes<Rank>& before, const Sizes<Rank>& after,
                       PadMode mode, Location where = Location::current()) {
  return {detail::trusted,
          pad(x.dynamic(), static_cast<const Shape&>(before), static_cast<const Shape&>(after), mode, where)};
}

}  // namespace sinter
