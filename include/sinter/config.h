// Configurations: plain structs from JSON, from the command line, and back.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/config/value.h>
#include <sinter/detail/api.h>
#include <sinter/detail/enum_names.h>
#include <sinter/module.h>
#include <sinter/path.h>

namespace sinter::config {
namespace detail {

using sinter::detail::Map;
using sinter::detail::NamedEnum;
using sinter::detail::Optional;
using sinter::detail::PathPart;

template <class T>
inline constexpr bool kIsText = std::is_same_v<T, std::string>;
/// As std::filesystem::path.
template <class T>
concept FileName = !kIsText<T> && requires(const T& name) {
  { name.native() } -> std::convertible_to<std::string>;
}
&&std::constructible_from<T, std::string>;
/// std::vector, std::deque and the like.
template <class T>
concept List = !kIsText<T> && requires(T & list) {
  list.clear();
  list.push_back(std::declval<typename T::value_type>());
};
/// std::array.
template <class T>
concept FixedList = !List<T> && requires(T & list) {
  typename T::value_type;
  std::tuple_size<T>::value;
  list.begin();
};
template <class T>
concept Table = Map<T> && std::is_same_v<typename T::key_type, std::string>;

template <class T>
concept Struct = sinter::detail::VisitsItself<T> || reflect::Reflectable<T>;

/// What is read, and what is wrong with it: everything, to be told at once.
class SINTER_API Reading {
 public:
  explicit Reading(bool partial) : is_partial(partial) {}

  /// "PATH WHAT"
  void problem(const std::string& what);
  /// "PATH is VALUE, expected WHAT"
  void mistyped(const Value& value, const std::string& expected);
  void unknown(const std::string& key, const std::vector<std::string>& known);
  /// Throws DataError that lists all problems, if there is one.
  void finish(std::string_view source) const;

  // Null where the value does not fit, which is a problem.
  const bool* boolean(const Value& value);
  const Value* integer(const Value& value, std::int64_t low, std::uint64_t high);
  const double* real(const Value& value, double most);
  const std::string* text(const Value& value);
  bool table(const Value& value);
  bool list(const Value& value);
  bool list(const Value& value, std::size_t size);
  /// The index of a name. What is behind the names is given as a number, in the range of the enum's type.
  const std::int64_t* enumerator(const Value& value, const std::string_view* names, std::size_t count,
                                 std::int64_t low, std::uint64_t high);

  std::string path;
  bool is_partial;  // entries may be missing

 private:
  std::vector<std::string> problems_;
  bool truth_ = false;
  double real_ = 0;
  std::int64_t number_ = 0;
};

/// The names of the fields of a struct.
class SINTER_API KnownNames {
 public:
  KnownNames();
  ~KnownNames();
  KnownNames(const KnownNames&) = delete;
  KnownNames& operator=(const KnownNames&) = delete;
  void add(std::string_view name);
  /// A problem for each key of the table that is none of them.
  void check(const Value& table, Reading& reading) const;

 private:
  std::vector<std::string> names_;
};

template <class T>
void put(Value& to, const T& from);
template <class T>
void read(T& to, const Value& from, Reading& reading);

template <class T, class F>
void each_field(T& object, F&& f) {
  auto call = [&](std::string_view name, auto& field) { f(name, field); };
  sinter::detail::visit_fields_of(object, call);
}

template <class T>
void put(Value& to, const T& from) {
  if constexpr (std::is_same_v<T, Value>) {
    to = from;
  } else if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>) {
    to = Value(from);
  } else if constexpr (std::is_integral_v<T>) {
    to = Value(from);
  } else if constexpr (std::is_enum_v<T>) {
    const auto number = static_cast<std::underlying_type_t<T>>(from);
    to = Value(static_cast<std::int64_t>(number));
    if constexpr (NamedEnum<T>) {
      const auto& names = sinter::detail::enumerator_names<T>;
      const auto at = static_cast<std::size_t>(number);
      if (at < names.size() && !names[at].empty()) to = Value(names[at]);
    }
  } else if constexpr (kIsText<T>) {
    to = Value(from);
  } else if constexpr (FileName<T>) {
    to = Value(std::string(from.native()));
  } else if constexpr (Optional<T>) {
    to = Value();
    if (from.has_value()) put(to, *from);
  } else if constexpr (List<T> || FixedList<T>) {
    to = Value::list();
    for (const auto& item : from) {
      to.push_back(Value());
      put(to.items().back(), static_cast<const typename T::value_type&>(item));
    }
  } else if constexpr (Table<T>) {
    to = Value::table();
    for (const auto& [key, item] : from) put(to[key], item);
  } else {
    static_assert(
        Struct<T>,
        "a configuration has numbers, texts, enums, std::optional, lists, maps of texts, and structs "
        "of these: aggregates, or classes with SINTER_FIELDS");
    to = Value::table();
    each_field(from, [&](std::string_view name, const auto& field) { put(to[name], field); });
  }
}

template <class T>
void read_fields(T& to, const Value& from, Reading& reading) {
  if (!reading.table(from)) return;
  KnownNames known;
  each_field(to, [&](std::string_view name, auto& field) {
    known.add(name);
    PathPart part(reading.path, name);
    if (const Value* entry = from.find(name))
      read(field, *entry, reading);
    else if (!reading.is_partial)
      reading.problem("is missing");
  });
  known.check(from, reading);
}

template <class T>
void read(T& to, const Value& from, Reading& reading) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, Value>) {
    to = from;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (const bool* value = reading.boolean(from)) to = *value;
  } else if constexpr (std::is_integral_v<T>) {
    if (const Value* value = reading.integer(from, static_cast<std::int64_t>(Limits::min()),
                                             static_cast<std::uint64_t>(Limits::max())))
      to = static_cast<T>(value->is_negative() ? 0 - value->magnitude() : value->magnitude());
  } else if constexpr (std::is_floating_point_v<T>) {
    if (const double* value = reading.real(from, static_cast<double>(Limits::max())))
      to = static_cast<T>(*value);
  } else if constexpr (NamedEnum<T>) {
    using Number = std::numeric_limits<std::underlying_type_t<T>>;
    const auto& names = sinter::detail::enumerator_names<T>;
    if (const std::int64_t* value =
            reading.enumerator(from, names.data(), names.size(), static_cast<std::int64_t>(Number::min()),
                               static_cast<std::uint64_t>(Number::max())))
      to = static_cast<T>(*value);
  } else if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> number{};
    number = static_cast<std::underlying_type_t<T>>(to);
    read(number, from, reading);
    to = static_cast<T>(number);
  } else if constexpr (kIsText<T> || FileName<T>) {
    if (const std::string* value = reading.text(from)) to = T(*value);
  } else if constexpr (Optional<T>) {
    if (from.is_null()) {
      to = T();
    } else {
      typename T::value_type value = to.has_value() ? *to : typename T::value_type{};
      read(value, from, reading);
      to = std::move(value);
    }
  } else if constexpr (List<T>) {
    if (!reading.list(from)) return;
    T items;
    for (std::size_t i = 0; i < from.size(); ++i) {
      PathPart part(reading.path, i);
      typename T::value_type item{};
      read(item, from.items()[i], reading);
      items.push_back(std::move(item));
    }
    to = std::move(items);
  } else if constexpr (FixedList<T>) {
    if (!reading.list(from, to.size())) return;
    for (std::size_t i = 0; i < to.size(); ++i) {
      PathPart part(reading.path, i);
      read(to[i], from.items()[i], reading);
    }
  } else if constexpr (Table<T>) {
    if (!reading.table(from)) return;
    T table;
    for (std::size_t i = 0; i < from.size(); ++i) {
      PathPart part(reading.path, std::string_view(from.keys()[i]));
      read(table[from.keys()[i]], from.items()[i], reading);
    }
    to = std::move(table);
  } else {
    static_assert(Struct<T>, "a configuration does not have this type: see to_value()");
    read_fields(to, from, reading);
  }
}

/// What a text of the command line is for a T: numbers and JSON are parsed, texts are as they are.
SINTER_API Value value_of_number(std::string_view text);
SINTER_API Value value_of_boolean(std::string_view text);
SINTER_API Value value_of_json(std::string_view text, Reading& reading);

template <class T>
Value value_of(std::string_view text, Reading& reading) {
  if constexpr (std::is_same_v<T, bool>) {
    return value_of_boolean(text);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value_of_number(text);
  } else if constexpr (std::is_enum_v<T>) {
    const Value number = value_of_number(text);
    return number.kind() == Value::Kind::integer ? number : Value(text);
  } else if constexpr (kIsText<T> || FileName<T>) {
    return Value(text);
  } else if constexpr (Optional<T>) {
    return text == "null" ? Value() : value_of<typename T::value_type>(text, reading);
  } else {
    return value_of_json(text, reading);
  }
}

/// Sets what is at `path` below the object; false where there is nothing of that path.
template <class T>
bool set(T& to, std::string_view path, std::string_view text, Reading& reading) {
  if (path.empty()) {
    read(to, value_of<T>(text, reading), reading);
    return true;
  }
  const std::size_t dot = path.find('.');
  const std::string_view first = path.substr(0, dot);
  const std::string_view rest = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  if (dot != std::string_view::npos && rest.empty()) return false;
  bool found = false;
  [[maybe_unused]] const auto within = [&](auto& item) { found = set(item, rest, text, reading); };
  if constexpr (Optional<T>) {
    typename T::value_type value = to.has_value() ? *to : typename T::value_type{};
    found = set(value, path, text, reading);
    if (found) to = std::move(value);
  } else if constexpr (Table<T>) {
    within(to[std::string(first)]);
  } else if constexpr ((List<T> && !std::is_same_v<T, std::vector<bool>>) || FixedList<T>) {
    std::size_t index = 0;
    for (auto& item : to)
      if (std::to_string(index++) == first) within(item);
  } else if constexpr (Struct<T>) {
    each_field(to, [&](std::string_view name, auto& field) {
      if (name == first) within(field);
    });
  }
  return found;
}

/// Splits arguments, calls `set(path, text)` for each setting, and gives the others.
class SINTER_API Arguments {
 public:
  Arguments(int count, const char* const* arguments);

  struct Setting {
    std::string path, text;
  };
  std::vector<Setting> settings;
  std::vector<std::string> others;
};

SINTER_API std::vector<std::string> arguments_of(const Value& value);
SINTER_API void unknown_setting(const std::string& path, const Value& known, Reading& reading);
SINTER_API std::string read_text(const Path& file);
SINTER_API void write_text(const std::string& text, const Path& file);
SINTER_API std::string quoted(const Path& file);

template <class T>
void read_json(T& config, std::string_view json, bool partial, std::string_view source) {
  Reading reading(partial);
  T read = config;
  detail::read(read, Value::parse(json, source), reading);
  reading.finish(source);
  config = std::move(read);
}

}  // namespace detail

/// A configuration is a struct of numbers, truth values, texts, names of files, enums (by name: enumerators
/// from 0 to 63), std::optional (null), std::vector and std::array, maps of texts to these, and structs of
/// these: aggregates of up to 32 fields, or classes with SINTER_FIELDS. It can be copied and has a default.
///
///   struct Training { Model model; double rate = 1e-3; std::optional<double> clip; };
///   auto training = sn::config::load<Training>("train.json");
///   auto files = sn::config::parse_arguments(training, argc, argv);      // --model.layers=12
template <class T>
Value to_value(const T& config) {
  Value value;
  detail::put(value, config);
  return value;
}

/// Throws DataError that lists all entries that are missing, unknown, or of another type or range, each with
/// its path and value.
template <class T>
T from_value(const Value& value, std::string_view source = "config") {
  detail::Reading reading(false);
  T config{};
  detail::read(config, value, reading);
  reading.finish(source);
  return config;
}

/// JSON with the fields in their order.
template <class T>
std::string to_json(const T& config, int indent = 2) {
  return to_value(config).to_text(indent);
}

/// As from_value. Throws DataError for what is not JSON, too.
template <class T>
T from_json(std::string_view json, std::string_view source = "config") {
  T config{};
  detail::read_json(config, json, false, source);
  return config;
}

/// Changes what the JSON has, and leaves the other fields; otherwise as from_json. Changes nothing when it
/// throws. Lists are replaced as a whole.
template <class T>
void update(T& config, std::string_view json, std::string_view source = "config") {
  detail::read_json(config, json, true, source);
}

/// Files of JSON; written as a whole or not at all. Throw DataError with the file.
template <class T>
T load(const Path& file) {
  return from_json<T>(detail::read_text(file), detail::quoted(file));
}
template <class T>
void save(const T& config, const Path& file) {
  detail::write_text(to_json(config) + "\n", file);
}

/// Applies the arguments --PATH=VALUE, in their order, and returns the others: those that do not begin with
/// two dashes, and all behind "--". --PATH alone is true. Texts, names of files and enumerators are written
/// as they are, "null" empties a std::optional; lists, maps and structs are JSON, of which a path also names
/// a part: --layers.0.width=64, --labels.cat=1. Throws DataError that lists all that does not fit, and
/// changes nothing then.
template <class T>
std::vector<std::string> parse_arguments(T& config, int argc, const char* const* argv) {
  detail::Arguments arguments(argc, argv);
  detail::Reading reading(true);
  T changed = config;
  for (const auto& [path, text] : arguments.settings) {
    reading.path = path;
    if (path.empty() || !detail::set(changed, path, text, reading))
      detail::unknown_setting(path, to_value(config), reading);
  }
  reading.finish("command line");
  config = std::move(changed);
  return std::move(arguments.others);
}

/// Every setting as parse_arguments takes it, with its value: for a program's --help. A map with a key that
/// cannot be part of a path, as it is empty or has a dot or "=", is JSON; throws DataError where the
/// configuration itself is such a map.
template <class T>
std::vector<std::string> to_arguments(const T& config) {
  return detail::arguments_of(to_value(config));
}

}  // namespace sinter::config
