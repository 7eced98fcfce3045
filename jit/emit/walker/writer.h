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

}  // namespace sinter::emit
