// Files as parts of a program.
#pragma once

#include <string>

namespace tools {

struct EmbedOptions {
  std::string file, name, out;
  bool array = false;
};

/// Writes OUT.h and OUT.cpp, which give the file's bytes as NAME(). Throws sinter::Error with the reason.
int embed(const EmbedOptions& options);

}  // namespace tools
