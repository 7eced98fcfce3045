// Sorting and searching, as operations share them.
#pragma once

#include <cstdint>
#include <string_view>

#include <sinter/any_tensor.h>

namespace sinter::tensor {

/// Without a history, in an order that library ops know: truth values as i32, u64 as i64 with the other sign.
AnyTensor comparable(const AnyTensor& x, const Location& where);

/// Positions along `axis` of the first `keep` elements in order (i32), of x's rank. x has elements; keep is 1
/// or more.
AnyTensor order_along(const AnyTensor& x, std::size_t axis, std::int64_t keep, bool descending,
                      const Location& where);

/// Places (i32) of values [rows, count] in sorted [rows, length] or [length], of one dtype; neither is empty.
AnyTensor places_in(const AnyTensor& sorted, const AnyTensor& values, bool right, const Location& where);

/// Where a mask [n] is true, as i64 [count]: flushes and waits for the count. Throws ShapeError for masks
/// that are too long.
AnyTensor positions_where(std::string_view op, const AnyTensor& mask, const Location& where);

}  // namespace sinter::tensor
