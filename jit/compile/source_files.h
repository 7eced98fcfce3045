// Generated source on disk, for people to read: on request, and when a compiler refuses it.
#pragma once

#include <cstddef>
#include <string>

namespace sinter::compile {

inline constexpr std::size_t kMostRefusedSources = 64;

/// Writes the source to the folder of SINTER_DUMP_KERNELS, if set, under a name made of its hash.
void dump_source(const std::string& source, const std::string& extension);

/// Writes source that a compiler refused where the user finds it (the folder "refused" of the cache, else the
/// temporary folder), and says where: the path, or why there is none. A process writes at most
/// `kMostRefusedSources`, and the folder keeps that many, the newest.
std::string keep_refused_source(const std::string& source, const std::string& extension);

}  // namespace sinter::compile
