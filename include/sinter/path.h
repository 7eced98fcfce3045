// Names of files as arguments, without the cost of <filesystem> in every program that includes Sinter.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace sinter {

/// The name of a file or folder: made of a text, or of a std::filesystem::path.
class Path {
 public:
  Path(const char* text) : text_(text) {}
  Path(std::string text) : text_(std::move(text)) {}
  Path(std::string_view text) : text_(text) {}
  template <class P>
  requires requires(const P& path) {
    { path.native() } -> std::convertible_to<std::string>;
  }
  Path(const P& path) : text_(path.native()) {}

  const std::string& string() const { return text_; }
  const char* c_str() const { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace sinter
