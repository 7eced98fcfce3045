// Collects the functions that a text calls.
#include "jit/emit/dialects/prelude.h"

#include <set>

#include <sinter/error.h>

#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

namespace {

class Collector {
 public:
  Collector(const Dialect& dialect, const std::map<std::string, std::string>& more)
      : dialect_(dialect), more_(more) {}

  void collect(std::string_view text, std::string_view self) {
    for (std::size_t at = text.find("sn_"); at != std::string_view::npos; at = text.find("sn_", at)) {
      const std::size_t begin = at;
      while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
        ++at;
      const bool starts_here = begin == 0 || !(std::isalnum(static_cast<unsigned char>(text[begin - 1])) ||
                                               text[begin - 1] == '_');
      const std::string_view name = text.substr(begin, at - begin);
      if (starts_here && at < text.size() && text[at] == '(' && name != self) add(name);
    }
  }

  std::string result;

 private:
  void add(std::string_view name) {
    if (!seen_.emplace(name).second) return;
    auto found = more_.find(std::string(name));
    const std::string_view text = found != more_.end() ? found->second : dialect_.function(name);
    if (text.empty())
      throw DTypeError("[emit] this device has no function for " + std::string(name.substr(3)) +
                       " (op_dtype)");
    collect(text, name);
    result += text;
  }

  const Dialect& dialect_;
  const std::map<std::string, std::string>& more_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace

std::string functions_for(std::string_view body, const Dialect& dialect,
                          const std::map<std::string, std::string>& more) {
  Collector collector(dialect, more);
  collector.collect(body, "");
  return collector.result;
}

}  // namespace sinter::emit
