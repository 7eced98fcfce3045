// Layout of a trace's picture: launches in a column, values as lines in lanes to the left of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <sinter/explain.h>

namespace sinter::runtime {

/// Height of a line of text in the picture, and the distance of arrows at a box.
inline constexpr int kLineHeight = 14;

/// The line of a value: leaves the box of its launch, runs down a lane, and enters the boxes of its readers.
struct Flow {
  std::string label;
  std::int64_t bytes = 0;
  std::string tip;                   // shape, dtype, op
  std::size_t from = 0;              // index of the writing launch
  std::vector<std::size_t> readers;  // launch indices, ascending
  std::size_t lane = 0;              // 0: nearest to the boxes
  int leaves = 0;                    // y
  std::vector<int> enters;           // y, for each reader
};

struct Box {
  int top = 0, height = 0;
};

struct Layout {
  std::vector<Box> boxes;  // one for each launch
  std::vector<Flow> flows;
  std::size_t lanes = 0;
  int bottom = 0;  // below the last box
};

/// Boxes start at y = `top`; each is at least `least_height` high.
Layout layout_of(const ReportTrace& trace, int top, int least_height, int gap);

}  // namespace sinter::runtime
