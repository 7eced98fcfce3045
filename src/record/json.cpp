// Records as JSON, for people: every element as a number.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sinter/error.h>

#include "src/base/element_type.h"
#include "src/record/described.h"
#include "src/record/encodings.h"

namespace sinter::record {
namespace {

constexpr const char *kNan = "NaN", *kInfinity = "Infinity", *kMinusInfinity = "-Infinity";

template <class T>
void put_number(std::string& text, T value) {
  char digits[40];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// As few digits as give the same number again, also to a reader that knows only doubles, and rounds twice.
void put_float(std::string& text, float value) {
  char digits[40];
  const char* end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  double read = 0;
  std::from_chars(digits, end, read);
  if (static_cast<float>(read) == value)
    text.append(static_cast<const char*>(digits), end);
  else
    put_number(text, static_cast<double>(value));
}

void put_element(std::string& text, DType dtype, const std::byte* at) {
  if (dtype == DType::boolean) {
    text += std::to_integer<int>(*at) != 0 ? "true" : "false";
    return;
  }
  double real = 0;
  base::with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, at, sizeof value);
    if constexpr (std::is_integral_v<T>)
      put_number(text, +value);
    else
      real = static_cast<double>(value);
  });
  if (is_int(dtype)) return;
  if (std::isnan(real))
    text += std::string("\"") + kNan + "\"";
  else if (std::isinf(real))
    text += std::string("\"") + (real > 0 ? kInfinity : kMinusInfinity) + "\"";
  else if (real == 0 && std::signbit(real))
    text += "-0.0";  // parsers take -0 for an integer
  else if (dtype == DType::f64)
    put_number(text, real);
  else
    put_float(text, static_cast<float>(real));
}

/// Reads elements of one tensor from JSON; what each may be depends on its dtype.
class Elements {
 public:
  Elements(const TensorInfo& info, std::string_view source) : info_(info), source_(source) {}

  void put(const Json& value, std::byte* at) const {
    if (info_.dtype == DType::boolean) return store(at, static_cast<std::uint8_t>(truth(value)));
    base::with_element_type(info_.dtype, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T>)
        store(at, integer<T>(value));
      else if constexpr (std::is_same_v<T, double>)
        store(at, real(value));
      else
        store(at, narrow<T>(value));
    });
  }

 private:
  template <class T>
  static void store(std::byte* at, T value) {
    std::memcpy(at, &value, sizeof value);
  }
  [[noreturn]] void refuse(const Json& value) const {
    fail(source_, "tensor \"" + info_.name + "\" of " + std::string(name_of(info_.dtype)) +
                      " has the element " + shown(value));
  }
  bool truth(const Json& value) const {
    if (!value.is_boolean()) refuse(value);
    return value.get<bool>();
  }
  template <class T>
  T integer(const Json& value) const {
    const bool fits = value.is_number_unsigned()  ? std::in_range<T>(value.get<std::uint64_t>())
                      : value.is_number_integer() ? std::in_range<T>(value.get<std::int64_t>())
                                                  : false;
    if (!fits) refuse(value);
    return value.get<T>();
  }
  double real(const Json& value) const {
    if (value.is_number()) return value.get<double>();
    constexpr double kInf = std::numeric_limits<double>::infinity();
    if (value == kNan) return std::numeric_limits<double>::quiet_NaN();
    if (value == kInfinity) return kInf;
    if (value == kMinusInfinity) return -kInf;
    refuse(value);
  }
  // What is written is exact, so rounding twice changes nothing; what somebody types may be rounded twice.
  template <class T>
  T narrow(const Json& value) const {
    const double wide = real(value);
    const T narrow(static_cast<float>(wide));
    const auto held = static_cast<float>(narrow);
    if ((std::isfinite(wide) && !std::isfinite(held)) || std::isnan(held) != std::isnan(wide)) refuse(value);
    return narrow;
  }

  const TensorInfo& info_;
  std::string_view source_;
};

}  // namespace

Pieces encode_json(const Record& record) {
  std::string text;
  try {
    text = "{\n\"" + std::string(kFormatKey) + "\": \"" + kFormatName +
           "\",\n\"texts\": " + texts_of(record).dump() + ",\n\"tensors\": {";
    const char* between = "\n";
    for (const auto& [name, entry] : record.entries()) {
      text += between + Json(name).dump() + ": {\"dtype\": \"" + std::string(safetensors_name(entry.dtype)) +
              "\", \"shape\": " + sizes_of(entry.shape).dump() + ", \"data\": [";
      const std::size_t step = size_of(entry.dtype);
      for (std::size_t at = 0; at < entry.bytes.size(); at += step) {
        if (at != 0) text += ", ";
        put_element(text, entry.dtype, entry.bytes.data() + at);
      }
      text += "]}";
      between = ",\n";
    }
  } catch (const Json::exception& error) {
    throw DataError(std::string("[record] a name or text is not UTF-8: ") + error.what());
  }
  text += "\n}\n}\n";
  return {Bytes(std::as_bytes(std::span(text)))};
}

Record decode_json(const Bytes& file, std::string_view source) {
  Json root = parse_untrusted(file, Syntax::json, "the file", source);
  return read_described(root, source, [&](const Json& data, const TensorInfo& info) -> Bytes {
    const std::size_t count = info.end / size_of(info.dtype);
    if (!data.is_array() || data.size() != count)
      fail(source, "tensor \"" + info.name + "\" of shape " + to_string(info.shape) + " has " +
                       std::to_string(count) + " elements, its data is " +
                       (data.is_array() ? "a list of " + std::to_string(data.size()) : "no list"));
    std::vector<std::byte> bytes(info.end);
    const Elements elements(info, source);
    std::size_t at = 0;
    for (const Json& value : data) {
      elements.put(value, bytes.data() + at);
      at += size_of(info.dtype);
    }
    return bytes;
  });
}

}  // namespace sinter::record
