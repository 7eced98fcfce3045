// Reads IDX files. Checks every size against the file's length before it allocates memory.
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>

#include <sinter/data/idx.h>
#include <sinter/error.h>

namespace sinter::data {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& reason) {
  throw DataError("[idx] \"" + file.string() + "\": " + reason);
}

std::string hex(std::uint8_t byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace

IdxArray read_idx(const Path& name) {
  const std::filesystem::path file(name.string());
  std::error_code error;
  auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail(file, "there is no such file");
  if (!std::filesystem::is_regular_file(status)) fail(file, "this is not a regular file");
  std::uint64_t size = std::filesystem::file_size(file, error);
  if (error) fail(file, "its size cannot be read: " + error.message());
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(file, std::string("it cannot be opened: ") + std::strerror(errno));

  auto read = [&](std::uint8_t* out, std::uint64_t count) {
    stream.read(reinterpret_cast<char*>(out), static_cast<std::streamsize>(count));
    if (static_cast<std::uint64_t>(stream.gcount()) != count) fail(file, "it cannot be read to its end");
  };

  std::array<std::uint8_t, 4> magic;
  if (size < magic.size())
    fail(file, "an IDX file has at least 4 bytes, this one has " + std::to_string(size));
  read(magic.data(), magic.size());
  if (magic[0] == 0x1f && magic[1] == 0x8b)
    fail(file, "this file is packed with gzip and must be unpacked first");
  if (magic[0] != 0 || magic[1] != 0)
    fail(file, "an IDX file starts with 0x00 0x00, this one with " + hex(magic[0]) + " " + hex(magic[1]));
  if (magic[2] != 0x08)
    fail(file, "the element type is " + hex(magic[2]) + ", expected 0x08 (unsigned bytes)");
  std::size_t rank = magic[3];
  if (rank == 0 || rank > kMaxRank)
    fail(file, "the number of dimensions is " + std::to_string(rank) + ", expected 1 to " +
                   std::to_string(kMaxRank));

  std::uint64_t header = 4 + 4 * rank;
  if (size < header)
    fail(file, "the header takes " + std::to_string(header) + " bytes, the file has " + std::to_string(size));
  IdxArray array;
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    std::array<std::uint8_t, 4> bytes;
    read(bytes.data(), bytes.size());
    std::uint64_t dimension = std::uint64_t{bytes[0]} << 24 | std::uint64_t{bytes[1]} << 16 |
                              std::uint64_t{bytes[2]} << 8 | std::uint64_t{bytes[3]};
    array.shape.push_back(static_cast<std::int64_t>(dimension));
    // An overflowing product is larger than any file, so the comparison below fails as it should.
    if (__builtin_mul_overflow(count, dimension, &count)) count = std::numeric_limits<std::uint64_t>::max();
  }
  if (count != size - header)
    fail(file, "the sizes " + to_string(array.shape) + " need " + std::to_string(count) +
                   " bytes of elements, there are " + std::to_string(size - header));
  array.values.resize(count);
  read(array.values.data(), count);
  return array;
}

}  // namespace sinter::data
