// Indexed sums, as operations and gradient rules share them.
#pragma once

#include <cstdint>
#include <string_view>

#include <sinter/any_tensor.h>

namespace sinter::tensor {

/// A tensor of `size` along `axis`, else like `source`: the slices of `source` along `axis`, each added at
/// its number in `index` (rank 1). `source` has elements, `size` is not 0. `op` is named where an index is
/// out of range.
AnyTensor add_slices(std::string_view op, const AnyTensor& index, const AnyTensor& source, std::size_t axis,
                     std::int64_t size, const Location& where);

/// The same with an index of its own for each element: of the shape of `source`.
AnyTensor add_elements(std::string_view op, const AnyTensor& index, const AnyTensor& source, std::size_t axis,
                       std::int64_t size, const Location& where);

/// How often each number below `rows` is in `index` (rank 1): i32 [rows]. `index` has elements, `rows` is not
/// 0.
AnyTensor count_rows(std::string_view op, const AnyTensor& index, std::int64_t rows, const Location& where);

}  // namespace sinter::tensor
