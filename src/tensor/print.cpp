// Tensors as text, the way NumPy prints arrays. Of large ones only the corners are read that are shown.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <mutex>
#include <ostream>
#include <vector>

#include <sinter/complex.h>
#include <sinter/print.h>

#include "src/base/element_type.h"

namespace sinter {

namespace {

/// The elements that are shown.
struct Content {
  Shape shape;  // of what is shown
  DType dtype;
  PrintOptions options;
  std::array<bool, kMaxRank> cut{};  // of each axis: whether elements are left out behind the first `edge`
  std::vector<std::byte> bytes;

  template <class T>
  T at(std::int64_t i) const {
    T value;
    std::memcpy(&value, bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    return value;
  }
};

/// Calls f(i) for the indices of an axis, and f(-1) where elements are left out.
template <class F>
void for_shown(const Content& content, std::size_t axis, F f) {
  for (std::int64_t i = 0; i < content.shape[axis]; ++i) {
    if (content.cut[axis] && i == content.options.edge) f(std::int64_t{-1});
    f(i);
  }
}

template <class F>
void for_each_shown(const Content& content, std::size_t axis, std::int64_t base, F f) {
  if (axis == content.shape.rank()) {
    f(base);
    return;
  }
  for_shown(content, axis, [&](std::int64_t i) {
    if (i >= 0) for_each_shown(content, axis + 1, base * content.shape[axis] + i, f);
  });
}

/// Zeros behind the point, which is added where there is none, do not count.
std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text + ".";
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

/// The shortest text that parses to the same number, with at most `precision` decimals; always has a point:
/// "1.".
template <class T>
std::string fixed_text(T value, int precision) {
  char buffer[400];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed).ptr;
  std::string text(buffer, end);
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text + ".";
  if (text.size() - point - 1 <= static_cast<std::size_t>(precision)) return text;
  end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed, precision).ptr;
  return without_trailing_zeros(std::string(buffer, end));
}

template <class T>
std::string scientific_text(T value, int precision) {
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
  std::string text(buffer, end);
  const std::size_t e = text.find('e');
  if (e > static_cast<std::size_t>(precision) + 3) {
    end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific, precision).ptr;
    text.assign(buffer, end);
  }
  return text;
}

/// The texts of all displayed elements, padded so that decimal points align.
class Column {
 public:
  explicit Column(const Content& content) : content_(content) {
    if (is_float(content.dtype)) choose_notation();
    std::size_t widest = 0;
    for_each_shown(content, 0, 0, [&](std::int64_t i) {
      const std::string text = plain(i);
      const std::size_t point = text.find('.');
      if (point == std::string::npos) {
        widest = std::max(widest, text.size());
      } else {
        before_ = std::max(before_, point);
        after_ = std::max(after_, text.size() - point);
      }
    });
    before_ = std::max(before_, widest - std::min(widest, after_));
  }

  std::string operator()(std::int64_t i) const {
    const std::string text = plain(i);
    const std::size_t point = text.find('.');
    if (point == std::string::npos) return std::string(before_ + after_ - text.size(), ' ') + text;
    return std::string(before_ - point, ' ') + text + std::string(after_ - (text.size() - point), ' ');
  }

 private:
  double number(std::int64_t i) const {
    switch (content_.dtype) {
      case DType::f32: return content_.at<float>(i);
      case DType::bf16: return content_.at<bfloat16>(i);
      case DType::f16: return content_.at<float16>(i);
      case DType::f8_e4m3: return content_.at<float8_e4m3>(i);
      case DType::f8_e5m2: return content_.at<float8_e5m2>(i);
      default: return content_.at<double>(i);
    }
  }

  void choose_notation() {
    double largest = 0, smallest = HUGE_VAL;
    for_each_shown(content_, 0, 0, [&](std::int64_t i) {
      const double x = std::abs(number(i));
      if (!std::isfinite(x) || x == 0) return;
      largest = std::max(largest, x);
      smallest = std::min(smallest, x);
    });
    scientific_ = largest > 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
  }

  std::string plain(std::int64_t i) const {
    if (content_.dtype == DType::boolean) return content_.at<std::uint8_t>(i) ? "true" : "false";
    return base::with_element_type(content_.dtype, [&]<class T>(std::type_identity<T>) {
      const T value = content_.at<T>(i);
      if constexpr (is_stored_float(dtype_of<T>))
        return real(static_cast<float>(value));
      else if constexpr (is_float(dtype_of<T>))
        return real(value);
      else
        return std::to_string(value);
    });
  }

  template <class T>
  std::string real(T value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    const int precision = content_.options.precision;
    return scientific_ ? scientific_text(value, precision) : fixed_text(value, precision);
  }

  const Content& content_;
  bool scientific_ = false;
  std::size_t before_ = 0, after_ = 0;
};

/// The texts of complex numbers: real part, sign, imaginary part.
class ComplexColumn {
 public:
  /// `imag` has the magnitudes of the imaginary parts.
  ComplexColumn(const Content& real, const Content& imag, const std::vector<bool>& negative)
      : real_(real), imag_(imag), negative_(negative) {}

  std::string operator()(std::int64_t i) const {
    const std::string text = imag_(i);
    const std::size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ') + 1;
    return real_(i) + (negative_[static_cast<std::size_t>(i)] ? '-' : '+') + text.substr(begin, end - begin) +
           'j' + std::string(text.size() - (end - begin), ' ');
  }

 private:
  Column real_, imag_;
  const std::vector<bool>& negative_;
};

template <class Column>
void write(std::string& out, const Content& content, const Column& column, std::size_t axis,
           std::int64_t base) {
  const std::size_t rank = content.shape.rank();
  if (axis == rank) {
    out += column(base);
    return;
  }
  out += "[";
  bool first = true;
  std::size_t line_start = out.size();
  const std::size_t width = static_cast<std::size_t>(content.options.line_width);
  for_shown(content, axis, [&](std::int64_t i) {
    const std::string indent(axis + 1, ' ');
    if (!first && axis + 1 == rank) {
      // Wraps rows that are longer than a line.
      const std::size_t next = axis + 1 + (i < 0 ? 3 : column(0).size());
      if (out.size() - line_start + next > width) {
        out += "\n" + indent;
        line_start = out.size();
      } else {
        out += " ";
      }
    } else if (!first) {
      out += std::string(rank - axis - 1, '\n') + indent;
    }
    first = false;
    if (i < 0)
      out += "...";
    else
      write(out, content, column, axis + 1, base * content.shape[axis] + i);
  });
  out += "]";
}

/// The first and last `edge` elements of each axis of a tensor that is too large to be shown whole.
AnyTensor corners(const AnyTensor& tensor, Content& content) {
  const std::int64_t edge = content.options.edge;
  AnyTensor shown = tensor;
  if (tensor.numel() <= content.options.threshold) return shown;
  for (std::size_t i = 0; i < content.shape.rank(); ++i) {
    const std::int64_t size = content.shape[i];
    const auto axis = static_cast<std::int64_t>(i);
    if (size <= 2 * edge) continue;
    content.cut[i] = true;
    const AnyTensor ends[] = {shown.narrow(axis, 0, edge), shown.narrow(axis, size - edge, edge)};
    shown = AnyTensor::cat(ends, axis);
  }
  return shown;
}

void check(const PrintOptions& options) {
  if (options.precision < 0 || options.precision > 100 || options.threshold < 0 || options.edge < 1 ||
      options.line_width < 1)
    throw Error("[print] precision " + std::to_string(options.precision) + ", threshold " +
                std::to_string(options.threshold) + ", edge " + std::to_string(options.edge) +
                " and line width " + std::to_string(options.line_width) + " are not options for printing");
}

struct ProcessOptions {
  std::mutex mutex;
  PrintOptions options;
};
ProcessOptions& process_options() {
  static ProcessOptions& instance = *new ProcessOptions;  // threads may print while the process ends
  return instance;
}

}  // namespace

PrintOptions print_options() {
  std::lock_guard lock(process_options().mutex);
  return process_options().options;
}

void set_print_options(const PrintOptions& options) {
  check(options);
  std::lock_guard lock(process_options().mutex);
  process_options().options = options;
}

std::string to_string(const AnyTensor& tensor) { return to_string(tensor, print_options()); }

namespace {

/// The elements of a tensor that are shown, read.
Content content_of(const AnyTensor& tensor, const PrintOptions& options) {
  Content content{tensor.shape(), tensor.dtype(), options, {}, {}};
  const AnyTensor shown = corners(tensor.detach(), content);
  content.shape = shown.shape();
  content.bytes.resize(static_cast<std::size_t>(shown.numel()) * size_of(content.dtype));
  shown.read_bytes(content.bytes);
  return content;
}

/// "(2, 3) f32 host", of which `kind` begins the dtype.
std::string facts_of(const std::string& out, const AnyTensor& tensor, const char* kind) {
  const char* apart = out.find('\n') == std::string::npos ? " " : "\n";
  return apart + to_string(tensor.shape()) + " " + kind + std::string(name_of(tensor.dtype())) + " " +
         tensor.device().name();
}

}  // namespace

std::string to_string(const AnyTensor& tensor, const PrintOptions& options) {
  check(options);
  if (!tensor.defined()) return "(empty tensor)";
  const Content content = content_of(tensor, options);
  std::string out;
  if (tensor.numel() == 0)
    out = "[]";
  else
    write(out, content, Column(content), 0, 0);
  if (options.facts) out += facts_of(out, tensor, "");
  return out;
}

std::string to_string(const AnyComplex& x) {
  if (!x.defined()) return "(empty tensor)";
  const PrintOptions options = print_options();
  // Both parts at once, so that one read is waited for.
  Content both = content_of(AnyTensor::stack(std::vector{x.real, x.imag}, 0), options);
  const std::size_t half = both.bytes.size() / 2;
  Content real = both, imag = both;
  for (Content* part : {&real, &imag}) {
    part->shape.erase(0);
    std::copy(both.cut.begin() + 1, both.cut.end(), part->cut.begin());
    part->bytes.assign(both.bytes.begin() + (part == &imag ? static_cast<std::ptrdiff_t>(half) : 0),
                       both.bytes.begin() + static_cast<std::ptrdiff_t>(part == &imag ? 2 * half : half));
  }
  // The sign of the imaginary part stands between the two.
  const std::size_t bytes = size_of(imag.dtype);
  std::vector<bool> negative;
  for (std::size_t i = bytes; i <= imag.bytes.size(); i += bytes) {  // the last byte has the sign
    std::byte& last = imag.bytes[i - 1];
    negative.push_back((last & std::byte{0x80}) != std::byte{0});
    last &= std::byte{0x7f};
  }
  std::string out;
  if (x.numel() == 0)
    out = "[]";
  else
    write(out, real, ComplexColumn(real, imag, negative), 0, 0);
  if (options.facts) out += facts_of(out, x.real, "complex ");
  return out;
}

std::ostream& operator<<(std::ostream& out, const AnyTensor& tensor) { return out << to_string(tensor); }

}  // namespace sinter
