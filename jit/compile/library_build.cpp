// Reads the build ids of what the loader has mapped.
#include "jit/compile/library_build.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include <link.h>
#include <sys/stat.h>

namespace sinter::compile {

namespace {

/// The text of a build id among the notes of an object; empty where there is none.
std::string build_id_in(const std::byte* notes, std::size_t bytes) {
  constexpr std::size_t kAlign = 4;
  auto padded = [](std::size_t size) { return (size + kAlign - 1) / kAlign * kAlign; };
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes, sizeof head);
    const std::size_t name_at = sizeof head, id_at = name_at + padded(head.n_namesz);
    const std::size_t next = id_at + padded(head.n_descsz);
    if (next > bytes) break;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(notes + name_at, "GNU", 4) == 0) {
      constexpr char kDigits[] = "0123456789abcdef";
      std::string text;
      for (std::size_t i = 0; i < head.n_descsz; ++i) {
        const auto byte = std::to_integer<unsigned>(notes[id_at + i]);
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
      }
      return text;
    }
    notes += next;
    bytes -= next;
  }
  return "";
}

std::string file_of(const dl_phdr_info& object) {
  // The program itself has no name in this list.
  std::error_code error;
  const std::filesystem::path path = object.dlpi_name == nullptr || *object.dlpi_name == 0
                                         ? std::filesystem::path("/proc/self/exe")
                                         : std::filesystem::path(object.dlpi_name);
  const std::filesystem::path resolved = std::filesystem::canonical(path, error);
  return error ? path.string() : resolved.string();
}

std::string build_of(const dl_phdr_info& object) {
  const std::string file = file_of(object);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const std::byte*>(object.dlpi_addr + part.p_vaddr);
    if (const std::string id = build_id_in(notes, part.p_memsz); !id.empty())
      return std::filesystem::path(file).filename().string() + " build " + id;
  }
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return file;
  return file + " of " + std::to_string(status.st_size) + " bytes, changed " +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

bool holds(const dl_phdr_info& object, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && at >= begin && at < begin + part.p_memsz) return true;
  }
  return false;
}

/// Calls `visit(object)` for each loaded object until it returns true.
template <class Visit>
void for_each_object(Visit&& visit) {
  ::dl_iterate_phdr([](dl_phdr_info* object, std::size_t,
                       void* context) { return (*static_cast<Visit*>(context))(*object) ? 1 : 0; },
                    &visit);
}

}  // namespace

std::string build_of(const void* address) {
  std::string result;
  for_each_object([&](const dl_phdr_info& object) {
    if (!holds(object, address)) return false;
    result = build_of(object);
    return true;
  });
  return result;
}

bool in_one_object(const void* a, const void* b) {
  bool result = false;
  for_each_object([&](const dl_phdr_info& object) { return result = holds(object, a) && holds(object, b); });
  return result;
}

std::string builds_of_loaded(std::initializer_list<std::string_view> prefixes) {
  std::vector<std::string> builds;
  for_each_object([&](const dl_phdr_info& object) {
    const std::string name = std::filesystem::path(file_of(object)).filename().string();
    if (std::any_of(prefixes.begin(), prefixes.end(),
                    [&](std::string_view p) { return name.starts_with(p); }))
      builds.push_back(build_of(object));
    return false;
  });
  std::sort(builds.begin(), builds.end());
  std::string text;
  for (const std::string& build : builds) text += (text.empty() ? "" : ", ") + build;
  return text;
}

}  // namespace sinter::compile
