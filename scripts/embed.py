"""Writes a C++ file that holds the given text files as strings. usage: embed.py OUT.cpp FILE..."""
import os
import sys

# Compilers promise string literals of 65,536 characters only (and MSVC far fewer), so a text is written in pieces.
PIECE = 2000


def literal(text):
    """C++ string literals, one after the other, that add up to the text."""
    pieces = [text[at:at + PIECE] for at in range(0, len(text), PIECE)] or [""]
    return "\n    ".join('R"kernel(' + piece + ')kernel"' for piece in pieces)


def main():
    out, names = sys.argv[1], sys.argv[2:]
    entries = []
    for name in sorted(names, key=os.path.basename):
        with open(name, encoding="utf-8") as file:
            text = file.read()
        if ')kernel"' in text:
            sys.exit(f'embed.py: {name} contains )kernel", which would end its string')
        entries.append(f'    {{"{os.path.basename(name)}",\n    {literal(text)}}},\n')
    with open(out, "w", encoding="utf-8") as file:
        file.write(f'''#include "kernels/embedded.h"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace sinter::kernels {{

namespace {{
constexpr std::array<std::pair<std::string_view, std::string_view>, {len(entries)}> kTemplates = {{{{
{"".join(entries)}}}}};
}}  // namespace

std::string_view source(std::string_view file_name) {{
  for (const auto& [name, text] : kTemplates) {{
    if (name == file_name) return text;
  }}
  throw std::out_of_range("no kernel template is named \\"" + std::string(file_name) + "\\"");
}}

}}  // namespace sinter::kernels
''')


if __name__ == "__main__":
    main()
