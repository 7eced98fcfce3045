// Loops over rows that the lanes of a workgroup, or of a cluster of them, hold in registers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/loop_text.h"
#include "jit/emit/walker/rows.h"
#include "jit/emit/walker/vectors/vectors.h"

namespace sinter::emit {

/// What a lane has of a row: vectors, vectors that begin before the row (Vectors::shift_condition), or single
/// elements.
enum class HeldForm : std::uint8_t { Vectors, Shifted, Elements };

class HeldLoops : private LoopText {
 public:
  HeldLoops(Expressions& e, Accumulators& sums, Vectors& vectors)
      : LoopText(e), sums_(sums), vectors_(vectors) {}

  /// Chooses what to hold; `work` is that of each phase.
  void choose_rows(const std::vector<InnerWork>& work);
  bool any() const { return rows_.any(); }

  // ---- statements
  /// Declares what a row is held in.
  void declare(HeldForm form);
  /// The loop of a phase, unrolled, so that each element has its register.
  void write(const InnerWork& work, std::uint16_t phase, HeldForm form);

 private:
  void write_vectors(const InnerWork& work, std::uint16_t phase);
  void write_elements(const InnerWork& work, std::uint16_t phase, bool shifted);
  std::vector<ir::ExprId> loads_before(const InnerWork& work, std::uint16_t phase);
  bool has_whole_rows() const;
  void over_elements(const std::function<void()>& body);
  void over_shifted_vectors(const std::function<void()>& body);
  void over_vectors(const std::function<void()>& body);

  Accumulators& sums_;
  Vectors& vectors_;
  HeldRows rows_;
};

}  // namespace sinter::emit
