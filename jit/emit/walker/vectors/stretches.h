// Rows that lanes do not hold and that are no whole vectors, read by vectors all the same.
#pragma once

#include <string>

#include "jit/emit/walker/loop_text.h"
#include "jit/emit/walker/rounds.h"
#include "jit/emit/walker/vectors/vectors.h"

namespace sinter::emit {

/// A stretch is what a row has along its last dim: of a channel of images, one image's part. Its vectors
/// begin at multiples of a vector in memory, the first one up to a vector before the stretch, and the last
/// one goes on behind it; what lies around is left out of sums and results. The vectors of all stretches of a
/// row are counted as one list, its pieces, which lanes deal out, and parts of a split kernel.
class Stretches : private LoopText {
 public:
  Stretches(Expressions& e, Vectors& vectors, Rounds& rounds)
      : LoopText(e), vectors_(vectors), rounds_(rounds) {}

  /// Writes the constant `stretches`, a condition under which rows lie so, and how many pieces there are, if
  /// the kernel has a text for them.
  void define();
  bool any() const { return any_; }

  /// The loop over a lane's pieces, from number `lane` on in steps of `lanes`; and opens the block of what is
  /// to be done where rows do not lie so.
  void write(const InnerWork& work, const std::string& lane, const std::string& lanes);

 private:
  std::string width() const { return e_.flat(std::to_string(e_.width)); }

  Vectors& vectors_;
  Rounds& rounds_;
  bool any_ = false;
};

}  // namespace sinter::emit
