// Windows as views.
#include "src/nn/windows.h"

#include <optional>
#include <vector>

namespace sinter::nn {

Axes inside_of(std::size_t dims) {
  Dims axes;
  for (std::size_t i = 0; i < dims; ++i) axes.push_back(static_cast<std::int64_t>(2 + dims + i));
  return Axes(axes);
}

AnyTensor windows_of(const AnyTensor& x, const Windows& w, double around, const Location& where) {
  Dims before{0, 0}, after{0, 0};
  bool padded = false, dilated = false;
  std::vector<Range> ranges(2 + w.dims);
  for (std::size_t i = 0; i < w.dims; ++i) {
    before.push_back(w.padding[i]);
    after.push_back(w.padding[i] + w.behind[i]);
    padded = padded || after[i + 2] != 0;
    dilated = dilated || w.dilation[i] != 1;
    ranges.push_back(Range{0, std::nullopt, w.dilation[i]});
  }
  AnyTensor windows = padded ? x.pad(before, after, around, where) : x;
  for (std::size_t i = 0; i < w.dims; ++i)
    windows = windows.windows(static_cast<std::int64_t>(2 + i), w.dilation[i] * (w.kernel[i] - 1) + 1,
                              w.stride[i], where);
  return dilated ? windows.slice(ranges, where) : windows;
}

}  // namespace sinter::nn
