// What a kernel's code will look like, decided before any text is written: lanes, which values each phase
// makes, which are kept from one phase to the next, what it all costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/emit/llvm/emit.h"

namespace sinter::emit {

struct LlvmShape {
  /// An inner value that a later phase reads from memory instead of computing it again.
  struct Kept {
    ir::ExprId id = 0;
    std::uint16_t phase = 0;  // that computes it
    std::size_t offset = 0;   // bytes before its own, for each inner point
  };

  int lanes = 1;
  int rest_lanes = 1;          // of the loop over what whole vectors leave of a row
  bool one_body = false;       // for whole vectors and the rest of a row: branches at loads and stores
  bool fetches_ahead = false;  // loads ask for what later ones will read
  // By phase: values to make in the order of the kernel, results to reduce to, whether there is an inner
  // loop.
  std::vector<std::vector<ir::ExprId>> outer, inner, reductions;
  std::vector<bool> walks;
  std::vector<Kept> kept;
  std::size_t scratch_bytes = 0;  // for each inner point
  bool gathers = false;
  double point_cost = 0, inner_cost = 0;

  bool keeps() const { return !kept.empty(); }
  const Kept* kept_of(ir::ExprId id) const {
    for (const Kept& k : kept)
      if (k.id == id) return &k;
    return nullptr;
  }
};

LlvmShape llvm_shape(const ir::Kernel& kernel, const LlvmTarget& target, LlvmLoops loops);

}  // namespace sinter::emit
