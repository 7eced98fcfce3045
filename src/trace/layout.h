// How a value lies in its buffer.
#pragma once

#include <cstdint>

#include <sinter/shape.h>

namespace sinter::trace {

/// Strides and offset in elements. Strides may be 0 (expanded) or negative (flipped).
struct Layout {
  Dims strides;
  std::int64_t offset = 0;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Row-major without gaps, offset 0.
Layout contiguous_layout(const Shape& shape);
bool is_contiguous(const Shape& shape, const Layout& layout);

/// How a tensor of `shape` lying as `layout` lies when seen as `to` (same number of elements). False when no
/// strides can say it.
bool reshape_layout(const Shape& shape, const Layout& layout, const Shape& to, Layout& result);

}  // namespace sinter::trace
