// Reads IDX files, the format that MNIST and its relatives are published in.
#pragma once

#include <cstdint>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/path.h>
#include <sinter/shape.h>

namespace sinter::data {

/// An array of unsigned bytes, row-major.
struct IdxArray {
  Shape shape;
  std::vector<std::uint8_t> values;
};

/// Reads a whole IDX file of unsigned bytes: two zero bytes, the type 0x08, the rank, each size as 32 bits
/// big-endian, then the elements (http://yann.lecun.com/exdb/mnist). Throws DataError where the file is
/// missing, of another format, cut short or too long; the message has the file, the expected and the found
/// value.
SINTER_API IdxArray read_idx(const Path& file);

}  // namespace sinter::data
