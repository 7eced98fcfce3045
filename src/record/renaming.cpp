// Names by regular expressions.
#include <map>
#include <regex>
#include <utility>

#include <sinter/error.h>
#include <sinter/record/module.h>

namespace sinter::record {

struct Renaming::Replacements final : Renaming::Names {
  std::vector<std::pair<std::regex, std::string>> all;

  std::string renamed(std::string_view name) const override {
    // std::regex recurses over the text, also on threads with small stacks. No path of a module is as long.
    constexpr std::size_t kMostCharacters = 1024;
    if (name.size() > kMostCharacters)
      throw DataError("[record] a name of " + std::to_string(name.size()) +
                      " characters, which begins with \"" + std::string(name.substr(0, 32)) +
                      "\", is too long for patterns");
    std::string text(name);
    try {
      for (const auto& [pattern, replacement] : all) text = std::regex_replace(text, pattern, replacement);
    } catch (const std::regex_error& error) {
      throw DataError("[record] \"" + std::string(name) + "\" cannot be renamed: " + error.what());
    }
    return text;
  }
};

Renaming::Renaming(std::initializer_list<Replacement> replacements)
    : Renaming(std::vector<Replacement>(replacements)) {}

Renaming::Renaming(std::vector<Replacement> replacements) {
  Replacements names;
  for (auto& [pattern, replacement] : replacements) {
    try {
      names.all.emplace_back(std::regex(pattern), std::move(replacement));
    } catch (const std::regex_error& error) {
      throw DataError("[record] \"" + pattern + "\" is no regular expression: " + error.what());
    }
  }
  names_ = sinter::detail::Shared<const Names>::of(std::move(names));
}

void Record::rename_all(const Renaming& renaming) {
  Record renamed;
  for (const auto& [name, entry] : entries_)
    if (std::string to = renaming(name); !to.empty()) renamed.add(std::move(to), entry);
  for (const auto& [key, text] : texts_) {
    // [PART.]tied.PATH
    constexpr std::string_view kTied = "tied.";
    const std::size_t at = key.find(kTied);
    if (at == std::string::npos || (at != 0 && key[at - 1] != '.')) {
      renamed.set_text(key, text);
      continue;
    }
    const std::string part = key.substr(0, at);
    const auto within = [&](const std::string& path) {
      std::string to = renaming(part + path);
      if (!to.empty() && !to.starts_with(part))
        throw DataError("[record] \"" + part + path + "\", which is tied to another, would leave \"" + part +
                        "\"");
      return to.empty() ? to : to.substr(part.size());
    };
    const std::string path = within(key.substr(at + kTied.size()));
    if (!path.empty()) renamed.set_text(part + std::string(kTied) + path, within(text));
  }
  *this = std::move(renamed);
}

}  // namespace sinter::record
