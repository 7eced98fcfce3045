// How tensors are printed.
#pragma once

#include <cstdint>
#include <string>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>

namespace sinter {

/// Like NumPy's: rows in brackets, decimal points aligned, then shape, dtype and device, on a line of
/// their own behind several lines.
struct PrintOptions {
  int precision = 8;              // most decimals
  std::int64_t threshold = 1000;  // larger tensors show the corners alone, and only these are read
  std::int64_t edge = 3;          // elements at each end of an axis that is cut
  std::int64_t line_width = 75;   // longer rows are wrapped
  bool facts = true;              // the line with shape, dtype and device
};

SINTER_API std::string to_string(const AnyTensor& tensor, const PrintOptions& options);
/// Those of `std::cout << x` and to_string(x), for the whole process.
SINTER_API PrintOptions print_options();
/// Throws Error for options that make no sense.
SINTER_API void set_print_options(const PrintOptions& options);

}  // namespace sinter
