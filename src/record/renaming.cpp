// Names by regular expressions.
#include <regex>
#include <utility>

#include <sinter/error.h>
#include <sinter/record/module.h>

namespace sinter::record {

struct Renaming::Replacements final : Renaming::Names {
  std::vector<std::pair<std::regex, std::string>> all;

  std::string renamed(std::string_view name) const override {
    // std::regex recurses over the text. No path of a module is as long.
    constexpr std::size_t kMostCharacters = 4096;
    if (name.size() > kMostCharacters)
      throw DataError("[record] a name of " + std::to_string(name.size()) +
                      " characters, which begins with \"" + std::string(name.substr(0, 32)) +
                      "\", is too long for patterns");
    std::string text(name);
    for (const auto& [pattern, replacement] : all) text = std::regex_replace(text, pattern, replacement);
    return text;
  }
};

Renaming::Renaming(std::vector<Replacement> replacements) {
  auto names = std::make_shared<Replacements>();
  for (auto& [pattern, replacement] : replacements) {
    try {
      names->all.emplace_back(std::regex(pattern), std::move(replacement));
    } catch (const std::regex_error& error) {
      throw DataError("[record] \"" + pattern + "\" is no regular expression: " + error.what());
    }
  }
  names_ = std::move(names);
}

}  // namespace sinter::record
