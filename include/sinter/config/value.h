// JSON values at run time: what a configuration is between the struct and the text.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sinter/detail/api.h>

namespace sinter::config {

/// Null, a truth value, a number, a text, a list or a table of these.
class SINTER_API Value {
 public:
  enum class Kind : std::uint8_t { null, boolean, integer, real, text, list, table };

  Value();
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();
  template <class T>
  requires std::same_as<T, bool> Value(T value) : kind_(Kind::boolean), magnitude_(value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Value(T value)
      : kind_(Kind::integer), is_negative_(value < 0), magnitude_(static_cast<std::uint64_t>(value)) {
    if (is_negative_) magnitude_ = 0 - magnitude_;
  }
  /// JSON has no infinity and no NaN: as texts they are "Infinity", "-Infinity" and "NaN".
  template <std::floating_point T>
  Value(T value) : kind_(Kind::real), real_(static_cast<double>(value)) {}
  Value(std::string text) : kind_(Kind::text), text_(std::move(text)) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  static Value list(std::vector<Value> items = {});
  static Value table();

  /// Throws DataError for what is not JSON, or has a name twice; messages call the text `source`.
  static Value parse(std::string_view json, std::string_view source = "text");
  /// JSON, in lines where `indent` is not negative. Throws DataError where a text is not UTF-8.
  std::string to_text(int indent = 2) const;

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  // Throw DataError where the value is of another kind. A real may also be asked of an integer.
  bool as_boolean() const;
  std::int64_t as_integer() const;
  double as_real() const;
  const std::string& as_text() const;
  /// Sign and absolute value of an integer, which may take 64 bits without its sign.
  bool is_negative() const { return is_negative_; }
  std::uint64_t magnitude() const { return magnitude_; }

  /// Of a list or table. Throw DataError for another kind.
  std::size_t size() const;
  std::span<const Value> items() const;
  std::span<Value> items();
  /// Of a list.
  void push_back(Value item);
  // Of a table, in the order in which they were added.
  const std::vector<std::string>& keys() const;
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  /// Adds null where there is none; makes a table of null.
  Value& operator[](std::string_view key);
  /// Throw DataError where there is no such key, or `to` is one.
  void erase(std::string_view key);
  void rename(std::string_view from, std::string to);

 private:
  void require(Kind kind) const;
  std::size_t place_of(std::string_view key) const;

  Kind kind_ = Kind::null;
  bool is_negative_ = false;
  std::uint64_t magnitude_ = 0;  // a truth value, too
  double real_ = 0;
  std::string text_;
  std::vector<std::string> keys_;
  std::vector<Value> items_;
};

}  // namespace sinter::config
