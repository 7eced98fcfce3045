// What files and JSON have in common with records, under the name of configurations.
#pragma once

#include <string>

#include <sinter/error.h>

namespace sinter::config::detail {

/// The result of `action`, whose errors begin with "[record]", and here with "[config]".
auto as_config(const auto& action) {
  try {
    return action();
  } catch (const DataError& error) {
    const std::string message = error.what();
    throw DataError("[config]" + message.substr(message.find(']') + 1));
  }
}

}  // namespace sinter::config::detail
