// How scores that stay out of memory are gone over: the first int of each Dot and Combine.
#pragma once

#include <cstdint>

namespace sinter::plan {

enum class ScoreForm : std::uint8_t {
  None,       // they are stored
  Tiles,      // by tiles of rows and columns, on tensor cores
  LaneTiles,  // by tiles that lanes share, which round nothing, or cooperative matrices multiply
  LoneRows,   // few rows, each by itself
  Stripes,    // by whole rows, of which a processor's thread has some at a time
};

}  // namespace sinter::plan
