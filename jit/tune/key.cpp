// Makes keys from kernels and sizes.
#include "jit/tune/key.h"

#include <bit>
#include <cstdio>

#include <xxhash.h>

#include <sinter/version.h>

#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/parameters.h"

namespace sinter::tune {
namespace {

/// Without what separates the fields of a store's lines.
std::string plain(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

}  // namespace

std::int64_t bucket_of(std::int64_t size) {
  if (size <= 16) return size;
  const int exponent = std::bit_width(static_cast<std::uint64_t>(size - 1)) - 1;
  const std::int64_t step = std::int64_t{1} << (exponent - 3);
  return (size + step - 1) / step * step;
}

Key key_of(const ir::Kernel& kernel, std::span<const std::int64_t> ints, const std::string& device) {
  ir::Kernel without = kernel;
  without.tiling = {};
  const std::string structure = ir::to_string(without) + layout_of(kernel.tiling);
  const XXH128_hash_t hash = XXH3_128bits(structure.data(), structure.size());
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  Key key;
  key.device = plain(device + ", sinter " SINTER_VERSION_STRING);
  key.kernel = std::string(family_of(kernel.tiling)) + " " + std::string(name_of(kernel.tiling.multiplied)) +
               " " + digits;
  const plan::ProductSizes sizes = plan::product_sizes(kernel, ints);
  key.sizes = std::to_string(bucket_of(sizes.rows)) + "x" + std::to_string(bucket_of(sizes.columns)) + "x" +
              std::to_string(bucket_of(sizes.depth));
  if (sizes.batches > 1) key.sizes += " of " + std::to_string(bucket_of(sizes.batches));
  return key;
}

}  // namespace sinter::tune
