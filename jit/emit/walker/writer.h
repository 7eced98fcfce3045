// Lines of text with indentation.
#pragma once

#include <string>
#include <string_view>

namespace sinter::emit {

class Writer {
 public:
  void line(std::string_view text) { text_.append(2 * depth_, ' ').append(text).append("\n"); }
  /// A line that ends in an opening brace; `close` ends the block.
  void open(std::string_view head) {
    line(head.empty() ? std::string("{") : std::string(head) + " {");
    ++depth_;
  }
  void close(std::string_view tail = "}") {
    --depth_;
    line(tail);
  }
  void indent() { ++depth_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t depth_ = 0;
};

/// What `write` puts into `out`, which is begun anew: lines for a place in a template that is `depth` deep.
template <class Write>
std::string lines_at(int depth, Writer& out, Write write) {
  out = Writer();
  for (int d = 0; d < depth; ++d) out.indent();
  write();
  return out.text();
}

/// A line that defines a name of a template.
inline std::string define(std::string_view name, std::string_view value) {
  return std::string("#define ").append(name).append(" ").append(value).append("\n");
}
inline std::string define(std::string_view name, int value) { return define(name, std::to_string(value)); }

}  // namespace sinter::emit
