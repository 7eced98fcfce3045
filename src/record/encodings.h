// The ways in which a record becomes bytes, and back.
#pragma once

#include <string_view>

#include <sinter/record/record.h>

#include "src/record/safetensors.h"

namespace sinter::record {

Pieces encode_messagepack(const Record& record);
Record decode_messagepack(const Bytes& file, std::string_view source, bool verify);
Pieces encode_json(const Record& record);
Record decode_json(const Bytes& file, std::string_view source);

/// Throw DataError where Sinter was built without zlib.
Pieces gzip(const Pieces& pieces);
Bytes gunzip(const Bytes& file, std::string_view source);

/// Any of these, by the format.
Pieces encode(const Record& record, Format format);
Record decode(const Bytes& file, std::string_view source, Format format, bool verify);

}  // namespace sinter::record
