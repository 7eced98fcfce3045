// Generated source on disk, for people to read: on request, and when a compiler refuses it.
#pragma once

#include <string>

namespace sinter::compile {

/// Writes the source to the folder of SINTER_DUMP_KERNELS, if set, under a name made of its hash.
void dump_source(const std::string& source, const std::string& extension);

/// Writes source that a compiler refused where the user finds it (the cache folder, else the temporary
/// folder), and says where: the path, or why there is none.
std::string keep_refused_source(const std::string& source, const std::string& extension);

}  // namespace sinter::compile
