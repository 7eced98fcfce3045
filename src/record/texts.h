// Texts of a record that say something of its tensors, by these words in front of a tensor's path.
#pragma once

#include <string_view>

namespace sinter::record {

/// The path of the parameter that it is the same as.
inline constexpr std::string_view kTied = "tied.";
/// The shape that codes stand for, of which several are in a byte.
inline constexpr std::string_view kUnpacked = "unpacked.";

}  // namespace sinter::record
