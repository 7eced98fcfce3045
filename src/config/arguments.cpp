// Settings as arguments of a program, and as files.
#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include <sinter/config.h>
#include <sinter/error.h>

#include "src/config/as_config.h"
#include "src/config/nearest.h"
#include "src/record/file.h"

namespace sinter::config::detail {
namespace {

/// Whether the key can be a part of a path.
bool fits_path(const std::string& key) {
  return !key.empty() && key.find_first_of(".=") == std::string::npos;
}

/// A table with a key that cannot is one argument, as JSON.
void list(const Value& value, const std::string& path, std::vector<std::string>& arguments) {
  const bool has_entries = value.kind() == Value::Kind::table && value.size() > 0;
  if (has_entries && (path.empty() || std::all_of(value.keys().begin(), value.keys().end(), fits_path))) {
    for (std::size_t i = 0; i < value.size(); ++i)
      list(value.items()[i], path.empty() ? value.keys()[i] : path + "." + value.keys()[i], arguments);
    return;
  }
  const std::string text = value.kind() == Value::Kind::text ? value.as_text() : value.to_text(-1);
  if (!path.empty()) arguments.push_back("--" + path + "=" + text);
}

}  // namespace

Value value_of_number(std::string_view text) {
  const char *begin = text.data(), *end = begin + text.size();
  const auto parsed = [&](auto& number) {
    const auto [at, error] = std::from_chars(begin, end, number);
    return error == std::errc() && at == end;
  };
  std::int64_t integer = 0;
  std::uint64_t large = 0;
  double real = 0;
  if (parsed(integer)) return integer;
  if (parsed(large)) return large;
  // from_chars also reads "inf" and "nan"; those are spelled as in JSON.
  const bool is_digits = text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  if (is_digits && parsed(real)) return real;
  return Value(text);
}

Value value_of_boolean(std::string_view text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return Value(text);
}

Value value_of_json(std::string_view text, Reading& reading) {
  try {
    return Value::parse(text);
  } catch (const DataError&) {
    reading.problem("is not JSON");
    return Value(text);
  }
}

Arguments::Arguments(int count, const char* const* arguments) {
  bool ended = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (ended || !argument.starts_with("--")) {
      others.emplace_back(argument);
    } else if (argument == "--") {
      ended = true;
    } else {
      const std::size_t equals = argument.find('=');
      const std::string_view path =
          argument.substr(2, equals == std::string_view::npos ? equals : equals - 2);
      const std::string_view text = equals == std::string_view::npos ? "true" : argument.substr(equals + 1);
      settings.push_back({std::string(path), std::string(text)});
    }
  }
}

std::vector<std::string> arguments_of(const Value& value) {
  if (value.kind() == Value::Kind::table)  // which as a whole has no path that JSON could be given for
    for (const std::string& key : value.keys())
      if (!fits_path(key))
        throw DataError("[config] the key \"" + key + "\" cannot be part of an argument's path");
  std::vector<std::string> arguments;
  list(value, "", arguments);
  return arguments;
}

void unknown_setting(const std::string& path, const Value& known, Reading& reading) {
  std::vector<std::string> paths, arguments;
  list(known, "", arguments);
  for (const std::string& argument : arguments) paths.push_back(argument.substr(2, argument.find('=') - 2));
  const std::string near = nearest(path, paths);
  reading.problem("is no setting" + (near.empty() ? "" : ", did you mean " + near + "?"));
}

std::string read_text(const Path& file) {
  const record::Bytes bytes = as_config([&] { return record::read_file(file, false); });
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void write_text(const std::string& text, const Path& file) {
  const record::Bytes bytes(std::as_bytes(std::span(text)));
  as_config([&] {
    record::PendingFile pending(file);
    pending.write({&bytes, 1});
    pending.publish();
  });
}

std::string quoted(const Path& file) { return "\"" + file.string() + "\""; }

}  // namespace sinter::config::detail
