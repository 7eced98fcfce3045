// JSON values, between nlohmann's and the public ones.
#include <algorithm>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include <sinter/config/value.h>
#include <sinter/error.h>

#include "src/config/as_config.h"
#include "src/record/untrusted_json.h"

namespace sinter::config {
namespace {

using Ordered = nlohmann::ordered_json;

const char* name_of(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::null: return "null";
    case Value::Kind::boolean: return "true or false";
    case Value::Kind::integer: return "an integer";
    case Value::Kind::real: return "a number";
    case Value::Kind::text: return "a text";
    case Value::Kind::list: return "a list";
    case Value::Kind::table: return "a table";
  }
  return "?";
}

Value from(const record::Json& json) {
  switch (json.type()) {
    case record::Json::value_t::boolean: return json.get<bool>();
    case record::Json::value_t::number_integer: return json.get<std::int64_t>();
    case record::Json::value_t::number_unsigned: return json.get<std::uint64_t>();
    case record::Json::value_t::number_float: return json.get<double>();
    case record::Json::value_t::string: return json.get<std::string>();
    case record::Json::value_t::array: {
      Value list = Value::list();
      for (const auto& item : json) list.push_back(from(item));
      return list;
    }
    case record::Json::value_t::object: {
      Value table = Value::table();
      for (const auto& [key, item] : json.items()) table[key] = from(item);
      return table;
    }
    default: return {};
  }
}

Ordered to_json(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::null: return nullptr;
    case Value::Kind::boolean: return value.as_boolean();
    case Value::Kind::integer:
      if (value.is_negative()) return value.as_integer();
      return value.magnitude();
    case Value::Kind::real: {
      const double real = value.as_real();
      if (std::isnan(real)) return "NaN";
      if (std::isinf(real)) return real > 0 ? "Infinity" : "-Infinity";
      return real;
    }
    case Value::Kind::text: return value.as_text();
    case Value::Kind::list: {
      Ordered list = Ordered::array();
      for (const Value& item : value.items()) list.push_back(to_json(item));
      return list;
    }
    case Value::Kind::table: {
      Ordered table = Ordered::object();
      for (std::size_t i = 0; i < value.size(); ++i) table[value.keys()[i]] = to_json(value.items()[i]);
      return table;
    }
  }
  return nullptr;
}

}  // namespace

Value::Value() = default;
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

Value Value::list(std::vector<Value> items) {
  Value list;
  list.kind_ = Kind::list;
  list.items_ = std::move(items);
  return list;
}

Value Value::table() {
  Value table;
  table.kind_ = Kind::table;
  return table;
}

Value Value::parse(std::string_view json, std::string_view source) {
  return detail::as_config([&] { return from(record::parse_untrusted(json, "the text", source)); });
}

std::string Value::to_text(int indent) const {
  try {
    return to_json(*this).dump(indent);
  } catch (const Ordered::exception& error) {
    throw DataError(std::string("[config] a text is not UTF-8: ") + error.what());
  }
}

void Value::require(Kind kind) const {
  if (kind_ == kind) return;
  std::string text = to_json(*this).dump(-1, ' ', true, Ordered::error_handler_t::replace);
  throw DataError("[config] the value is " + text + ", expected " + name_of(kind));
}

bool Value::as_boolean() const {
  require(Kind::boolean);
  return magnitude_ != 0;
}

std::int64_t Value::as_integer() const {
  require(Kind::integer);
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (magnitude_ > kMost + (is_negative_ ? 1 : 0))
    throw DataError("[config] the value is " + to_text() + ", which takes more than 64 bits with its sign");
  return static_cast<std::int64_t>(is_negative_ ? 0 - magnitude_ : magnitude_);
}

double Value::as_real() const {
  if (kind_ == Kind::integer)
    return is_negative_ ? -static_cast<double>(magnitude_) : static_cast<double>(magnitude_);
  require(Kind::real);
  return real_;
}

const std::string& Value::as_text() const {
  require(Kind::text);
  return text_;
}

std::size_t Value::size() const { return items().size(); }

std::span<const Value> Value::items() const {
  if (kind_ != Kind::table) require(Kind::list);
  return items_;
}

std::span<Value> Value::items() {
  if (kind_ != Kind::table) require(Kind::list);
  return items_;
}

void Value::push_back(Value item) {
  require(Kind::list);
  items_.push_back(std::move(item));
}

const std::vector<std::string>& Value::keys() const {
  require(Kind::table);
  return keys_;
}

std::size_t Value::place_of(std::string_view key) const {
  require(Kind::table);
  return static_cast<std::size_t>(std::find(keys_.begin(), keys_.end(), key) - keys_.begin());
}

const Value* Value::find(std::string_view key) const {
  const std::size_t place = place_of(key);
  return place < keys_.size() ? &items_[place] : nullptr;
}

Value* Value::find(std::string_view key) {
  const std::size_t place = place_of(key);
  return place < keys_.size() ? &items_[place] : nullptr;
}

Value& Value::operator[](std::string_view key) {
  if (kind_ == Kind::null) kind_ = Kind::table;
  if (Value* found = find(key)) return *found;
  items_.emplace_back();
  keys_.emplace_back(key);
  return items_.back();
}

void Value::erase(std::string_view key) {
  const std::size_t place = place_of(key);
  if (place == keys_.size()) throw DataError("[config] there is no entry \"" + std::string(key) + "\"");
  keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(place));
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(place));
}

void Value::rename(std::string_view from, std::string to) {
  const std::size_t place = place_of(from);
  if (place == keys_.size()) throw DataError("[config] there is no entry \"" + std::string(from) + "\"");
  if (from != to && find(to)) throw DataError("[config] there is an entry \"" + to + "\" already");
  keys_[place] = std::move(to);
}

}  // namespace sinter::config
