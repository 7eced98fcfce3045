// Names by regular expressions.
#include <algorithm>
#include <regex>
#include <string_view>
#include <utility>

#include <sinter/error.h>
#include <sinter/record/module.h>

#include "src/record/texts.h"

namespace sinter::record {
namespace {

/// Where `part` begins in the key, at its start or behind a dot.
std::size_t find_part(std::string_view key, std::string_view part) {
  const std::size_t at = key.find(part);
  return at == 0 || (at != std::string_view::npos && key[at - 1] == '.') ? at : std::string_view::npos;
}

/// Behind as many components of the name as the part has; 0 where it has fewer.
std::size_t end_of_part(std::string_view name, std::string_view part) {
  std::size_t end = 0;
  for (auto dots = std::count(part.begin(), part.end(), '.'); dots > 0; --dots) {
    const std::size_t dot = name.find('.', end);
    if (dot == std::string_view::npos) return 0;
    end = dot + 1;
  }
  return end;
}

}  // namespace

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
    if (std::string to = renaming(name); !to.empty() || name.empty()) renamed.add(std::move(to), entry);
  for (const auto& [key, text] : texts_) {
    // [PART.]tied.PATH or [PART.]unpacked.PATH
    const std::size_t tied = find_part(key, kTied), unpacked = find_part(key, kUnpacked);
    const std::size_t at = std::min(tied, unpacked);
    if (at == std::string::npos) {
      renamed.set_text(key, text);
      continue;
    }
    const std::string part = key.substr(0, at);
    if (unpacked < tied) {
      std::string to = renaming(part + key.substr(at + kUnpacked.size()));
      if (to.empty()) continue;
      renamed.set_text(std::move(to.insert(end_of_part(to, part), kUnpacked)), text);
      continue;
    }
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
