// JSON and MessagePack from files that nobody vouches for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sinter::record {

using Json = nlohmann::json;
enum class Syntax { json, messagepack };

/// Parses the whole text. Throws DataError for names that appear twice, which parsers resolve differently,
/// and for nesting that would exhaust the stack. Messages call the file `source` and the text `what`.
Json parse_untrusted(std::span<const std::byte> text, Syntax syntax, std::string_view what,
                     std::string_view source);
inline Json parse_untrusted(std::string_view text, std::string_view what, std::string_view source) {
  return parse_untrusted(std::as_bytes(std::span(text)), Syntax::json, what, source);
}

/// As JSON for a message, whatever bytes are in it.
std::string shown(const Json& value);

/// The member `key` of an object. Throws DataError "WHO has no KEY".
const Json& member(const Json& object, const char* key, const std::string& who, std::string_view source);

/// Throws DataError "[record] SOURCE: REASON".
[[noreturn]] void fail(std::string_view source, const std::string& reason);

}  // namespace sinter::record
