// The texts of the hand-written kernel templates in this folder, built into the library.
#pragma once

#include <string_view>

namespace sinter::kernels {

/// The text of a template by its file name, "matmul.cu". Throws std::out_of_range for a name that does not
/// exist.
std::string_view source(std::string_view file_name);

}  // namespace sinter::kernels
