// The dialects there are: one row for each, in table.cpp.
#pragma once

#include <string_view>
#include <vector>

namespace sinter::emit {

class Dialect;

/// The dialect of that name: "cuda", "glsl". Throws std::invalid_argument that names those there are.
const Dialect& dialect(std::string_view name);

/// All of them, in the order of the table.
std::vector<const Dialect*> dialects();

}  // namespace sinter::emit
