// Scans and values with their positions, as operations and gradient rules share them.
#pragma once

#include <string_view>

#include <sinter/functions/scan.h>

#include "jit/library/scan.h"

namespace sinter::tensor {

/// A scan of a tensor that has elements, is of a dtype that can be scanned and has `axis`. Positions are i32.
AnyTensor scan_along(library::ScanKind kind, const AnyTensor& x, std::size_t axis, ScanOptions options,
                     const Location& where);

/// The elements of `x` at the positions in `index` (of x's rank) along `axis`, with the history of a gather.
AnyTensor picked(const AnyTensor& x, std::size_t axis, const AnyTensor& index, const Location& where);

}  // namespace sinter::tensor
