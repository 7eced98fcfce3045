// The safetensors format: the header's fields, writing and parsing. Other encodings describe tensors alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/dtype.h>
#include <sinter/record/record.h>
#include <sinter/shape.h>

#include "src/record/untrusted_json.h"

namespace sinter::record {

/// Bytes of the header's length at the start of a file.
inline constexpr std::size_t kLengthBytes = 8;
/// The reserved key that holds texts instead of a tensor.
inline constexpr std::string_view kMetadataName = "__metadata__";
/// The text with the checksum: 32 hexadecimal digits, computed with 32 zeros in their place.
inline constexpr std::string_view kChecksumKey = "sinter.checksum";
inline constexpr std::string_view kNoChecksum = "00000000000000000000000000000000";

/// A tensor in a header; offsets count from the end of the header.
struct TensorInfo {
  std::string name;
  DType dtype;
  Shape shape;
  std::uint64_t begin = 0, end = 0;
};

struct Header {
  std::vector<TensorInfo> tensors;  // by offset, without gaps
  std::map<std::string, std::string, std::less<>> texts;
};

/// The header's text, padded so that the elements start at a multiple of 8. Throws DataError where a name or
/// text is not UTF-8.
std::string write_header(const Header& header);

/// Parses and checks: known dtypes, sizes that match the offsets, and tensors that cover `data_bytes` without
/// gap or overlap. Throws DataError; messages call the file `source`.
Header read_header(std::string_view text, std::uint64_t data_bytes, std::string_view source);

// ---- what a tensor is described by; `who` is "tensor "NAME"" in messages
std::string_view safetensors_name(DType dtype);
DType read_dtype(const Json& tensor, const std::string& who, std::string_view source);
/// Throws where the elements take more bytes than 64 bits count; else `bytes` is how many they take.
Shape read_shape(const Json& tensor, DType dtype, const std::string& who, std::string_view source,
                 std::uint64_t& bytes);
std::map<std::string, std::string, std::less<>> read_texts(const Json& texts, const std::string& who,
                                                           std::string_view source);

/// The value of a bool that is neither 0 nor 1: kernels would differ about it.
std::optional<int> find_bad_bool(const Record::Entry& entry);
/// Throws where there is one.
void check_bools(const Record::Entry& entry, const std::string& name, std::string_view source);

/// A whole file in parts, the elements shared with the record.
using Pieces = std::vector<Bytes>;
Pieces encode_safetensors(const Record& record);
Record decode_safetensors(const Bytes& file, std::string_view source, bool verify);

/// The checksum of what encode_safetensors gives, as hexadecimal digits.
std::string checksum_of(const Record& record);

}  // namespace sinter::record
