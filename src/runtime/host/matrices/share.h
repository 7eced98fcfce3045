// Work that is shared among threads where it is worth it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/runtime/host/threads/thread_pool.h"

namespace sinter::runtime::host {

/// Calls work(piece) for each piece, by this thread alone where `operations`, of all pieces together, take no
/// longer than waking another thread.
template <class Work>
void share(ThreadPool& pool, std::int64_t operations, std::int64_t pieces, const Work& work) {
  constexpr std::int64_t kFewestShared = 1 << 19;
  if (operations >= kFewestShared)
    return pool.run(static_cast<std::size_t>(pieces),
                    [&](std::size_t piece, std::size_t) { work(static_cast<std::int64_t>(piece)); });
  for (std::int64_t piece = 0; piece < pieces; ++piece) work(piece);
}

}  // namespace sinter::runtime::host
