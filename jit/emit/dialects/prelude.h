// The functions that generated text may call, by full name: "sn_" + the name in the op table + "_" + the
// dtype it takes; casts add the dtype they give. Only those that a kernel needs go into its text, after those
// they need themselves.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace sinter::emit {

class Dialect;

/// All functions that `body` calls, directly or through others, each after those it calls. `more` holds
/// functions beyond the language's own. Throws DTypeError for a name that neither has.
std::string functions_for(std::string_view body, const Dialect& dialect,
                          const std::map<std::string, std::string>& more);

}  // namespace sinter::emit
