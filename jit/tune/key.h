// What a choice between a kernel's variants holds for.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "jit/ir/kernel.h"

namespace sinter::tune {

struct Key {
  std::string device;  // with its driver, the compiler and this library's version
  std::string kernel;  // family, dtypes, and a hash of all that the kernel is but for sizes and tiles
  std::string sizes;   // of the product, in buckets: "4096x4096x4096", "200x128x256 of 6"
  friend auto operator<=>(const Key&, const Key&) = default;

  /// In one line for people.
  std::string text() const { return kernel + ", " + sizes + ", on " + device; }
};

/// `device`: what a backend says of itself. `ints`: of a launch.
Key key_of(const ir::Kernel& kernel, std::span<const std::int64_t> ints, const std::string& device);

/// The largest size that shares the choice: eight buckets between a power of two and the next, each size up
/// to 16 for itself.
std::int64_t bucket_of(std::int64_t size);

}  // namespace sinter::tune
