// Whole files: read at once, and written atomically.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace sinter::record {

/// Throws DataError with the file and the system's reason.
std::vector<std::byte> read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, std::span<const std::byte> bytes);

}  // namespace sinter::record
