// What an error says.
#pragma once

#include <string>
#include <string_view>

#include <sinter/error.h>

namespace sinter::testing {

/// The message of the Error that `action` throws; empty where it throws none.
std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace sinter::testing
