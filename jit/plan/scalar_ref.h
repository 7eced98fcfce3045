// Numbers that kernels are given as arguments, before it is known what they are.
#pragma once

#include <cstdint>

#include <sinter/dtype.h>

namespace sinter::plan {

/// The place of a number in one of two tables. Numbers of the program differ from run to run, so a plan knows
/// them by place only. Constants are the planner's own and the same in every run.
struct ScalarRef {
  enum class Table : std::uint8_t {
    Trace,  // trace::Trace::scalars
    Plan,   // Graph::constants, later Plan::constants
  };
  Table table = Table::Trace;
  std::uint32_t index = 0;
  friend auto operator<=>(const ScalarRef&, const ScalarRef&) = default;
};

/// A scalar argument of a kernel.
struct ScalarArgument {
  ScalarRef number;
  DType dtype = DType::f32;  // what the number is converted to
};

}  // namespace sinter::plan
