// Elements in another dtype, on the host: devices need not know the dtype of the file.
#include "src/record/cast.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include <sinter/error.h>

#include "src/base/element_type.h"

namespace sinter::record {
namespace {

/// Rounds to f32 such that rounding the result again gives the nearest of the narrower type: what is cut off
/// sets the last bit. S. Boldo, G. Melquiond, "When double rounding is odd", 2005.
float round_to_odd(double value) {
  float near = static_cast<float>(value);
  if (static_cast<double>(near) == value || !std::isfinite(value)) return near;
  if (std::abs(static_cast<double>(near)) > std::abs(value)) near = std::nextafter(near, 0.0f);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) | 1u);
}

template <class To, class From>
To rounded(From value) {
  if constexpr (is_stored_float(dtype_of<To>)) {
    if constexpr (std::is_same_v<From, double>) {
      return To(round_to_odd(value));
    } else {
      return To(static_cast<float>(value));
    }
  } else {
    return static_cast<To>(value);
  }
}

template <class T>
double as_double(T value) {
  if constexpr (is_stored_float(dtype_of<T>))
    return static_cast<float>(value);
  else
    return static_cast<double>(value);
}

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// The converted elements, or the first one that has none in `To`.
template <class To, class From>
std::vector<std::byte> convert(const Bytes& from, std::string& lost) {
  const std::size_t count = from.size() / sizeof(From);
  std::vector<std::byte> to(count * sizeof(To));
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from.data() + i * sizeof value, sizeof value);
    To converted;
    if constexpr (std::is_integral_v<From>) {
      converted = static_cast<To>(value);
      if (!std::in_range<To>(value) && lost.empty()) lost = std::to_string(value);
    } else {
      converted = rounded<To>(value);
      const double before = as_double(value), after = as_double(converted);
      const bool overflows = !std::isfinite(after) && std::isfinite(before);
      // f8_e4m3 has no infinity.
      if ((overflows || std::isnan(after) != std::isnan(before)) && lost.empty()) lost = shown(before);
    }
    std::memcpy(to.data() + i * sizeof converted, &converted, sizeof converted);
  }
  return to;
}

}  // namespace

bool can_cast(DType from, DType to) {
  return from == to || (is_float(from) && is_float(to)) || (is_int(from) && is_int(to));
}

Record::Entry cast(const Record::Entry& entry, DType dtype, std::string_view name, std::string_view source) {
  if (entry.dtype == dtype) return entry;
  const std::string who = "tensor \"" + std::string(name) + "\" of " + std::string(name_of(entry.dtype));
  if (!can_cast(entry.dtype, dtype))
    fail(source, who + " cannot be cast to " + std::string(name_of(dtype)) + ", which is of another kind");
  std::string lost;
  std::vector<std::byte> bytes;
  base::with_element_type(entry.dtype, [&]<class From>(std::type_identity<From>) {
    base::with_element_type(dtype, [&]<class To>(std::type_identity<To>) {
      // Others are of another kind and were refused.
      if constexpr (std::is_integral_v<From> == std::is_integral_v<To>)
        bytes = convert<To, From>(entry.bytes, lost);
    });
  });
  if (!lost.empty())
    fail(source,
         who + " has the value " + lost + ", which " + std::string(name_of(dtype)) + " does not hold");
  return {dtype, entry.shape, std::move(bytes)};
}

}  // namespace sinter::record
