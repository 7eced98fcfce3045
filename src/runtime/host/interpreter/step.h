// The instructions that are more than a vector loop: indexed loads and stores, indices, random numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/runtime/host/interpreter/code.h"

namespace sinter::runtime::host {

/// Runs such instructions on one block of points.
struct Step {
  const Code& code;
  std::byte* const* bases;  // of the buffers
  const std::int64_t* at;   // coordinates of the block's first point
  std::int64_t n;           // its points
  std::uint32_t* faults;    // the launch's fault words

  void run(const Instruction& instruction, std::byte** slots) const;

 private:
  void random(const Instruction& i, std::byte* const* slots) const;
  void tile(const Instruction& i, std::byte** slots) const;
  void load(const Instruction& i, std::byte* const* slots) const;
  void load_at(const Instruction& i, std::byte* const* slots) const;
  void in_bounds(const Instruction& i, std::byte* const* slots) const;
  template <class Run>
  void runs(const Instruction& i, Run&& run) const;
};

}  // namespace sinter::runtime::host
