// Random programs draw every operation of the table that a program can record by its operands alone.
#include "tests/support/programs/random_program.h"

#include <array>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/programs/drawn_ops.h"

namespace sinter::testing {

TEST_CASE("every elementwise row and every reduction of the op table is drawn") {
  std::array<int, kOpCount> drawn{};
  for (std::uint64_t seed = 0; seed < 600; ++seed)
    for (const Step& step : random_program(seed, {}).steps)
      if (step.kind == StepKind::Unary || step.kind == StepKind::Binary || step.kind == StepKind::Reduce)
        ++drawn[static_cast<std::size_t>(step.op)];
  for (const OpInfo& row : kOps) {
    const Domain domain = domain_of(row.op);
    const bool may_be = row.op_class == OpClass::Elementwise || row.op_class == OpClass::Reduce;
    if (!may_be || domain == Domain::PlannersOwn || domain == Domain::StepOfItsOwn) continue;
    CHECK_MESSAGE(drawn[static_cast<std::size_t>(row.op)] > 0, std::string(row.name), " was never drawn");
  }
}

TEST_CASE("every library op of the op table is recorded by some step that is drawn") {
  std::array<int, static_cast<std::size_t>(StepKind::Flush) + 1> drawn{};
  std::array<int, kOpCount> scans{};
  for (std::uint64_t seed = 0; seed < 600; ++seed)
    for (const Step& step : random_program(seed, {}).steps) {
      ++drawn[static_cast<std::size_t>(step.kind)];
      if (step.kind == StepKind::Scan) ++scans[static_cast<std::size_t>(step.op)];
    }
  for (const OpInfo& row : kOps) {
    if (row.op_class != OpClass::Library) continue;
    for (const StepKind kind : steps_of_library(row.op)) {
      INFO(std::string(row.name));
      CHECK(drawn[static_cast<std::size_t>(kind)] > 0);
      if (kind == StepKind::Scan) CHECK(scans[static_cast<std::size_t>(row.op)] > 0);
    }
  }
  for (const StepKind kind : {StepKind::MaxPool, StepKind::AvgPool})
    CHECK(drawn[static_cast<std::size_t>(kind)] > 0);
}

}  // namespace sinter::testing
