// Windows that go over images, as pools take them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <sinter/any_tensor.h>

namespace sinter::nn {

/// How windows lie in an input (n, c, sizes ..), of which the last `dims` dimensions have windows.
struct Windows {
  std::array<std::int64_t, 3> kernel{}, stride{}, padding{}, dilation{};
  /// Behind the padding: what the last windows reach over the end.
  std::array<std::int64_t, 3> behind{};
  std::size_t dims = 0;

  bool reaches_over() const {
    return std::any_of(behind.begin(), behind.end(), [](std::int64_t size) { return size != 0; });
  }
  /// From a window's first element to behind its last one.
  std::int64_t reach(std::size_t dim) const { return dilation[dim] * (kernel[dim] - 1) + 1; }
};

/// (n, c, places .., kernel ..); beyond the input lies `around`.
AnyTensor windows_of(const AnyTensor& x, const Windows& w, double around, const Location& where);

/// The axes of windows' elements: behind n, c and the places of the windows.
Axes inside_of(std::size_t dims);

/// The greatest element of each window, (n, c, places ..). Of several that are the greatest, the gradient is
/// the first one's, row-major; NaN is greater than all numbers.
AnyTensor max_of_windows(const AnyTensor& x, const Windows& w, const Location& where);

}  // namespace sinter::nn
