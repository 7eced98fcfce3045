// Shrinks a failing program: drops steps and everything that depends on them, and replaces computed values by
// inputs.
#include <algorithm>

#include "tests/support/programs/program.h"

namespace sinter::testing {
namespace {

/// The program without the marked steps and those that need them, renumbered.
Program without(const Program& program, std::vector<bool> gone) {
  Program smaller;
  std::vector<int> moved(program.steps.size(), -1);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    Step step = program.steps[i];
    for (Argument& argument : step.args) {
      if (argument.step < 0) continue;
      if (moved[static_cast<std::size_t>(argument.step)] < 0) gone[i] = true;
      argument.step = moved[static_cast<std::size_t>(argument.step)];
    }
    if (gone[i]) continue;
    moved[i] = static_cast<int>(smaller.steps.size());
    smaller.steps.push_back(std::move(step));
  }
  return smaller;
}

/// The program with a computed value replaced by an input.
Program with_input(const Program& program, std::size_t at, const ReferenceTensor& value) {
  Program changed = program;
  Step input;
  input.kind = StepKind::Input;
  input.shape = value.shape;
  input.dtype = value.dtype;
  input.seed = at;
  // Integers may be indices: stays within the old range.
  input.range = 1;
  for (const Value& v : value.values) input.range = std::max(input.range, v.integer + 1);
  if (input.range > 1000) input.range = 0;
  changed.steps[at] = input;
  return changed;
}

}  // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& fails, int attempts) {
  const auto accepted = [&](Program candidate) {
    if (attempts-- <= 0 || candidate.steps.empty() || !fails(candidate)) return false;
    program = std::move(candidate);
    return true;
  };
  for (bool again = true; again && attempts > 0;) {
    again = false;
    for (std::size_t length = program.steps.size() / 2; length >= 1; length /= 2)
      for (std::size_t end = program.steps.size(); end >= length && end > 0;) {
        std::vector<bool> gone(program.steps.size(), false);
        for (std::size_t i = end - length; i < end; ++i) gone[i] = true;
        if (accepted(without(program, std::move(gone)))) {
          again = true;
          end = std::min(end, program.steps.size());
        } else {
          end -= std::min(end, length);
        }
      }
    for (std::size_t at = program.steps.size(); at-- > 0;) {
      const Step& step = program.steps[at];
      if (!step.makes_value() || step.kind == StepKind::Input) continue;
      const std::vector<ReferenceTensor> values = evaluate(program, Reference());
      if (accepted(with_input(program, at, values[at]))) again = true;
    }
  }
  return program;
}

}  // namespace sinter::testing
