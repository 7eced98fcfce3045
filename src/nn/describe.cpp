// The text of a module's tree.
#include <sinter/describe.h>

namespace sinter::detail {
namespace {

std::string title(const std::string& path, std::string_view what) {
  return path.empty() ? std::string(what) : path + ": " + std::string(what);
}

std::string parameters(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " parameter" : " parameters");
}

}  // namespace

std::string unqualified(std::string_view name) {
  std::string text;
  std::vector<std::size_t> starts{0};  // start of the current name, for each open '<'
  int parentheses = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(') ++parentheses;
    if (c == ')') --parentheses;
    if (parentheses == 0 && name.substr(i, 2) == "::") {
      text.resize(starts.back());
      ++i;
      continue;
    }
    if (c == '>' && parentheses == 0 && starts.size() > 1) {
      if (text.back() == ' ') text.pop_back();
      starts.pop_back();
    }
    text += c;
    if (parentheses > 0) continue;
    if (c == '<') starts.push_back(text.size());
    if (c == ',' || c == ' ') starts.back() = text.size();
  }
  return text;
}

ModuleTree::ModuleTree() = default;
ModuleTree::~ModuleTree() = default;

std::size_t ModuleTree::begin(const std::string& path, std::string_view type) {
  lines_.push_back({depth_, title(path, unqualified(type)), 0});
  ++depth_;
  return lines_.size() - 1;
}

void ModuleTree::end(std::size_t line, std::int64_t count) {
  --depth_;
  lines_[line].count = count;
}

void ModuleTree::add_line(const std::string& name, const std::string& shape, std::int64_t count,
                          std::size_t owner, bool is_buffer) {
  if (owner == kNoOwner)
    lines_.push_back({depth_, title((is_buffer ? "buffer " : "") + name, shape), count});
  else
    lines_[owner].text += std::string(is_buffer ? ", buffer " : ", ") + name + ' ' + shape;
}

std::string ModuleTree::text(std::int64_t total) const {
  std::string text;
  for (const Line& line : lines_)
    text += std::string(2 * line.depth, ' ') + line.text + ", " + parameters(line.count) + '\n';
  text += "total: " + parameters(total);
  if (trained_ > 0 && frozen_ > 0) text += ", " + std::to_string(frozen_) + " of them frozen";
  return text + '\n';
}

}  // namespace sinter::detail
