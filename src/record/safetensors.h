// The safetensors format: the header's fields, writing and parsing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/dtype.h>
#include <sinter/shape.h>

namespace sinter::record {

/// Bytes of the header's length at the start of a file.
inline constexpr std::size_t kLengthBytes = 8;
/// The reserved key that holds texts instead of a tensor.
inline constexpr std::string_view kMetadataName = "__metadata__";
/// The text with the checksum: 32 hexadecimal digits, computed with 32 zeros in their place.
inline constexpr std::string_view kChecksumKey = "sinter.checksum";

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

/// The header's text, padded so that the elements start at a multiple of 8.
std::string write_header(const Header& header);

/// Parses and checks: known dtypes, sizes that match the offsets, and tensors that cover `data_bytes` without
/// gap or overlap. Throws DataError; messages call the file `source`.
Header read_header(std::string_view text, std::uint64_t data_bytes, std::string_view source);

/// Checksum of a whole file whose checksum digits start at `digits`, as hexadecimal digits.
std::string checksum(std::span<const std::byte> file, std::size_t digits);
inline constexpr std::size_t kChecksumDigits = 32;

/// The offset of the checksum's digits in the header's text; npos unless it occurs exactly once.
std::size_t find_checksum(std::string_view header);

[[noreturn]] void fail(std::string_view source, const std::string& reason);

}  // namespace sinter::record
