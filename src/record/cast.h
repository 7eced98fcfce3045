// Elements of a record in another dtype.
#pragma once

#include <string_view>

#include <sinter/record/record.h>

#include "src/record/untrusted_json.h"

namespace sinter::record {

/// True iff both are floats, or both integers, or both the same.
bool can_cast(DType from, DType to);

/// Throws DataError where a value has none in `dtype`; messages call the entry `name`.
Record::Entry cast(const Record::Entry& entry, DType dtype, std::string_view name, std::string_view source);

}  // namespace sinter::record
