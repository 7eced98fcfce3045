// `sinter explain`: runs a program and shows how it was planned.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tools {

struct ExplainOptions {
  std::vector<std::string> command;  // the program and its arguments
  std::filesystem::path out;         // empty: the terminal
  std::string format;                // text, json, svg; empty: by the name of `out`, text without one
};

/// Returns the exit code for the process: the program's own; 128 + number when a signal ended it; 127 when it
/// could not be started; 1 when it ended well and there is no report, or the report could not be written.
int explain(const ExplainOptions& options);

}  // namespace tools
