// Tensors as text, the way NumPy prints arrays.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ostream>
#include <vector>

#include <sinter/any_tensor.h>

namespace sinter {

namespace {

constexpr std::int64_t kThreshold = 1000;  // larger tensors are summarised by their corners
constexpr std::int64_t kEdge = 3;
constexpr int kPrecision = 8;
constexpr std::size_t kLineWidth = 75;

struct Content {
  Shape shape;
  DType dtype;
  std::vector<std::byte> bytes;
  bool shortened;

  template <class T>
  T at(std::int64_t i) const {
    T value;
    std::memcpy(&value, bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    return value;
  }
};

/// Calls f(i) for the displayed indices of a dimension, and f(-1) where some are omitted.
template <class F>
void for_shown(const Content& content, std::int64_t size, F f) {
  const bool cut = content.shortened && size > 2 * kEdge;
  for (std::int64_t i = 0; i < size; ++i) {
    if (cut && i == kEdge) {
      f(std::int64_t{-1});
      i = size - kEdge;
    }
    f(i);
  }
}

template <class F>
void for_each_shown(const Content& content, std::size_t axis, std::int64_t base, F f) {
  if (axis == content.shape.rank()) {
    f(base);
    return;
  }
  for_shown(content, content.shape[axis], [&](std::int64_t i) {
    if (i >= 0) for_each_shown(content, axis + 1, base * content.shape[axis] + i, f);
  });
}

std::string without_trailing_zeros(std::string text) {
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

/// The shortest text that parses to the same number, with at most kPrecision decimals; always has a point:
/// "1.".
template <class T>
std::string fixed_text(T value) {
  char buffer[400];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed).ptr;
  std::string text(buffer, end);
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text + ".";
  if (text.size() - point - 1 <= kPrecision) return text;
  end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed, kPrecision).ptr;
  return without_trailing_zeros(std::string(buffer, end));
}

template <class T>
std::string scientific_text(T value) {
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
  std::string text(buffer, end);
  const std::size_t e = text.find('e');
  if (e > kPrecision + 3) {
    end =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific, kPrecision).ptr;
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
    switch (content_.dtype) {
      case DType::f32: return real(content_.at<float>(i));
      case DType::f64: return real(content_.at<double>(i));
      case DType::bf16: return real(static_cast<float>(content_.at<bfloat16>(i)));
      case DType::f16: return real(static_cast<float>(content_.at<float16>(i)));
      case DType::i32: return std::to_string(content_.at<std::int32_t>(i));
      case DType::i64: return std::to_string(content_.at<std::int64_t>(i));
      case DType::u8: return std::to_string(content_.at<std::uint8_t>(i));
      case DType::boolean: return content_.at<std::uint8_t>(i) ? "true" : "false";
    }
    return "";
  }

  template <class T>
  std::string real(T value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    return scientific_ ? scientific_text(value) : fixed_text(value);
  }

  const Content& content_;
  bool scientific_ = false;
  std::size_t before_ = 0, after_ = 0;
};

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
  for_shown(content, content.shape[axis], [&](std::int64_t i) {
    const std::string indent(axis + 1, ' ');
    if (!first && axis + 1 == rank) {
      // Wraps rows that are longer than a line.
      if (out.size() - line_start > kLineWidth - axis - 1 - (i < 0 ? 3 : column(0).size())) {
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

}  // namespace

std::string to_string(const AnyTensor& tensor) {
  if (!tensor.defined()) return "(empty tensor)";
  Content content{tensor.shape(), tensor.dtype(), {}, tensor.numel() > kThreshold};
  content.bytes.resize(static_cast<std::size_t>(tensor.numel()) * size_of(content.dtype));
  tensor.read_bytes(content.bytes);
  if (tensor.numel() == 0) return "[] " + to_string(tensor.shape());
  std::string out;
  write(out, content, Column(content), 0, 0);
  return out;
}

std::ostream& operator<<(std::ostream& out, const AnyTensor& tensor) { return out << to_string(tensor); }

}  // namespace sinter
