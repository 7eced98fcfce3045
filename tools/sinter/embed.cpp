// Writes sources with a file's content. The assembler copies the file by itself, which takes no time and no
// memory of the compiler's; where there is none that can, an array has its bytes.
#include "embed.h"

#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sinter/error.h>

namespace tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBegin = "// Made by `sinter embed`.\n";

bool is_name(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (const char c : name)
    if (c != '_' && !std::isalnum(static_cast<unsigned char>(c))) return false;
  return true;
}

// Within a string of C++, within one of the assembler's.
std::string escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') throw sinter::Error("the name of the file to embed has a line break");
    if (c == '\\' || c == '"') escaped += "\\\\\\";
    escaped += c;
  }
  return escaped;
}

std::string bytes_of(const fs::path& file, std::size_t& count) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) throw sinter::Error("\"" + file.string() + "\" cannot be read");
  count = bytes.size();
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    text += std::to_string(static_cast<unsigned>(static_cast<unsigned char>(bytes[i]))) +
            (i % 24 == 23 ? ",\n" : ",");
  return text;
}

std::string by_assembler(const fs::path& file, const std::string& name) {
  const std::string begin = "sinter_embedded_" + name, end = begin + "_end";
  return "asm(\".section .rodata\\n\"\n"
         "    \".balign 64\\n\"\n"
         "    \".global " +
         begin + "\\n\"\n    \".hidden " + begin +
         "\\n\"\n"
         "    \".global " +
         end + "\\n\"\n    \".hidden " + end +
         "\\n\"\n"
         "    \"" +
         begin +
         ":\\n\"\n"
         "    \".incbin \\\"" +
         escaped(fs::absolute(file).string()) +
         "\\\"\\n\"\n"
         "    \"" +
         end +
         ":\\n\"\n"
         "    \".byte 0\\n\"\n"
         "    \".previous\\n\");\n\n"
         "extern \"C\" const std::byte " +
         begin + "[], " + end +
         "[];\n\n"
         "std::span<const std::byte> " +
         name + "() { return {" + begin + ", " + end + "}; }\n";
}

std::string by_array(const fs::path& file, const std::string& name) {
  std::size_t count = 0;
  const std::string bytes = bytes_of(file, count);
  return "namespace {\nalignas(64) constexpr unsigned char kBytes[] = {\n" + bytes + "0};\n}\n\n" +
         "std::span<const std::byte> " + name + "() {\n  return std::as_bytes(std::span(kBytes).first(" +
         std::to_string(count) + "));\n}\n";
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw sinter::Error("\"" + file.string() + "\" cannot be written");
}

}  // namespace

int embed(const EmbedOptions& options) {
  if (!fs::is_regular_file(options.file))
    throw sinter::Error("\"" + options.file + "\" is not a regular file");
  if (!is_name(options.name))
    throw sinter::Error("\"" + options.name + "\" cannot be the name of a function: letters, digits and _");
  const fs::path stem = options.out.empty() ? fs::path(options.name) : fs::path(options.out);
  fs::path header = stem, source = stem;
  header += ".h";
  source += ".cpp";
  const std::string content =
      options.array ? by_array(options.file, options.name) : by_assembler(options.file, options.name);
  write(header, std::string(kBegin) + "#pragma once\n\n#include <cstddef>\n#include <span>\n\n" +
                    "/// The bytes of " + fs::path(options.file).filename().string() +
                    ", which are part of the program.\nstd::span<const std::byte> " + options.name + "();\n");
  write(source, std::string(kBegin) + "#include \"" + header.filename().string() + "\"\n\n" + content);
  std::printf("%s %s\n", header.string().c_str(), source.string().c_str());
  return 0;
}

}  // namespace tools
