// The sum of the gradients that have come to a value so far.
#pragma once

#include <vector>

#include "src/autodiff/term.h"

namespace sinter::autodiff {

/// Gradients of whole values are added at once. Those of parts wait until all have come: n slices of a
/// sequence are then joined in work that grows like the sequence, where n sums of n padded slices grow like
/// its square.
class Pending {
 public:
  void add(Term term, const Location& where);
  /// The sum, of `shape`; Term::zero() where only zeros came.
  Term take(const Shape& shape, const Location& where);
  /// Forgets what was taken; memory for parts is kept for the next sum.
  void clear() {
    whole_ = Term();
    parts_.clear();
    count_ = 0;
  }
  /// More than one came.
  bool is_sum() const { return count_ > 1; }

  struct Part {
    Dims start;
    AnyTensor value;
  };

 private:
  Term whole_;
  std::vector<Part> parts_;
  std::size_t count_ = 0;
};

}  // namespace sinter::autodiff
