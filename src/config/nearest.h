// Suggestions for names that are misspelled.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sinter::config::detail {

/// The known name with the fewest changes; empty where none is near.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

}  // namespace sinter::config::detail
