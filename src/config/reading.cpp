// What fits a field of a configuration, and what is said of what does not.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <sinter/config.h>
#include <sinter/error.h>

#include "src/config/nearest.h"

namespace sinter::config::detail {
namespace {

// Of a value that is large, its beginning.
std::string shown(const Value& value) {
  std::string text;
  try {
    text = value.to_text(-1);
  } catch (const DataError&) {
    text = "a text that is not UTF-8";
  }
  constexpr std::size_t kMost = 60;
  if (text.size() <= kMost) return text;
  // Not within a character: bytes that go on with one begin with 10.
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = name.size() / 3 + 1;  // more changes make another name
  for (const std::string& candidate : known) {
    // Levenshtein's distance, row by row.
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i + 1);
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t change = diagonal + (name[i] == candidate[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
      }
    }
    if (row.back() > least || (!best.empty() && row.back() == least)) continue;
    best = candidate;
    least = row.back();
  }
  return best;
}

void Reading::problem(const std::string& what) {
  problems_.push_back((path.empty() ? "the whole" : path) + " " + what);
}

void Reading::mistyped(const Value& value, const std::string& expected) {
  problem("is " + shown(value) + ", expected " + expected);
}

void Reading::unknown(const std::string& key, const std::vector<std::string>& known) {
  const std::string near = nearest(key, known);
  PathPart part(path, std::string_view(key));
  problem("is unknown" + (near.empty() ? "" : ", did you mean " + near + "?"));
}

KnownNames::KnownNames() = default;
KnownNames::~KnownNames() = default;
void KnownNames::add(std::string_view name) { names_.emplace_back(name); }
void KnownNames::check(const Value& table, Reading& reading) const {
  for (const std::string& key : table.keys())
    if (std::find(names_.begin(), names_.end(), key) == names_.end()) reading.unknown(key, names_);
}

void Reading::finish(std::string_view source) const {
  if (problems_.empty()) return;
  std::string text;
  for (const std::string& problem : problems_) text += (text.empty() ? "" : "; ") + problem;
  throw DataError("[config] " + std::string(source) + ": " + text);
}

const bool* Reading::boolean(const Value& value) {
  if (value.kind() != Value::Kind::boolean) {
    mistyped(value, "true or false");
    return nullptr;
  }
  truth_ = value.as_boolean();
  return &truth_;
}

const Value* Reading::integer(const Value& value, std::int64_t low, std::uint64_t high) {
  if (value.kind() != Value::Kind::integer) {
    mistyped(value, "an integer");
    return nullptr;
  }
  const std::uint64_t most = value.is_negative() ? 0 - static_cast<std::uint64_t>(low) : high;
  if (value.magnitude() > most) {
    mistyped(value, "an integer from " + std::to_string(low) + " to " + std::to_string(high));
    return nullptr;
  }
  return &value;
}

const double* Reading::real(const Value& value, double most) {
  if (value.kind() == Value::Kind::integer || value.kind() == Value::Kind::real) {
    real_ = value.as_real();
    if (std::isfinite(real_) && std::abs(real_) > most) {
      mistyped(value, "a number up to " + Value(most).to_text());
      return nullptr;
    }
    return &real_;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string* text = value.kind() == Value::Kind::text ? &value.as_text() : nullptr;
  if (text && *text == "NaN") return &(real_ = std::numeric_limits<double>::quiet_NaN());
  if (text && *text == "Infinity") return &(real_ = kInfinity);
  if (text && *text == "-Infinity") return &(real_ = -kInfinity);
  mistyped(value, "a number");
  return nullptr;
}

const std::string* Reading::text(const Value& value) {
  if (value.kind() == Value::Kind::text) return &value.as_text();
  mistyped(value, "a text");
  return nullptr;
}

bool Reading::table(const Value& value) {
  if (value.kind() == Value::Kind::table) return true;
  mistyped(value, "a table of settings");
  return false;
}

bool Reading::list(const Value& value) {
  if (value.kind() == Value::Kind::list) return true;
  mistyped(value, "a list");
  return false;
}

bool Reading::list(const Value& value, std::size_t size) {
  if (value.kind() == Value::Kind::list && value.size() == size) return true;
  mistyped(value, "a list of " + std::to_string(size));
  return false;
}

const std::int64_t* Reading::enumerator(const Value& value, const std::string_view* names, std::size_t count,
                                        std::int64_t low, std::uint64_t high) {
  if (value.kind() == Value::Kind::integer && (value.is_negative() || value.magnitude() >= count)) {
    if (!integer(value, low, high)) return nullptr;
    return &(number_ =
                 static_cast<std::int64_t>(value.is_negative() ? 0 - value.magnitude() : value.magnitude()));
  }
  std::string known;
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i].empty()) continue;
    if (value.kind() == Value::Kind::text && value.as_text() == names[i])
      return &(number_ = static_cast<std::int64_t>(i));
    known += (known.empty() ? "" : ", ") + std::string(names[i]);
  }
  mistyped(value, known.empty() ? "an enumerator" : "one of " + known);
  return nullptr;
}

}  // namespace sinter::config::detail
