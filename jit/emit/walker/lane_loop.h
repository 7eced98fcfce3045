// The loops over all inner points of a lane's outer points.
#pragma once

#include <functional>
#include <string>

#include "jit/emit/walker/loop_text.h"
#include "jit/emit/walker/rounds.h"

namespace sinter::emit {

class LaneLoop : private LoopText {
 public:
  /// Of those that share a lane's inner points, its number and how many there are.
  struct Sharers {
    std::string row, rows;
  };

  LaneLoop(Expressions& e, Rounds& rounds) : LoopText(e), rounds_(rounds) {}

  /// LanesOuter: the last dim goes fastest. A part of a split kernel has those of the first inner dim from
  /// `begin` up to `end_of_part`. `elements`: outer points that a lane takes at once.
  void write(const InnerWork& work, const Sharers& sharers, int elements, const std::function<void()>& point);

 private:
  Rounds& rounds_;
};

}  // namespace sinter::emit
