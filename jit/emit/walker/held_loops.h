// Loops over rows that the lanes of a workgroup, or of a cluster of them, hold in registers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/loop_text.h"
#include "jit/emit/walker/rows.h"
#include "jit/emit/walker/vectors.h"

namespace sinter::emit {

class HeldLoops : private LoopText {
 public:
  HeldLoops(Expressions& e, Accumulators& sums, Vectors& vectors)
      : LoopText(e), sums_(sums), vectors_(vectors) {}

  /// Chooses what to hold; `work` is that of each phase.
  void choose_rows(const std::vector<InnerWork>& work);
  bool any() const { return rows_.any(); }

  // ---- statements
  /// Declares what a row is held in. `shifted`: by vectors that begin before a row
  /// (Vectors::shift_condition).
  void declare(bool shifted);
  /// The loop of a phase, unrolled, so that each element has its register.
  void write(const InnerWork& work, std::uint16_t phase, bool shifted);

 private:
  void write_vectors(const InnerWork& work, std::uint16_t phase);
  void write_elements(const InnerWork& work, std::uint16_t phase, bool shifted);
  std::string turn_of(const std::string& turn) const;
  void over_elements(const std::function<void()>& body);
  void over_shifted_vectors(const std::function<void()>& body);
  void over_vectors(const std::function<void()>& body);

  Accumulators& sums_;
  Vectors& vectors_;
  HeldRows rows_;
};

}  // namespace sinter::emit
