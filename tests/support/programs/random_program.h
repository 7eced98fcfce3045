// Random programs: every operation over a pool of live handles, with patterns of real programs (updates of a
// variable, normalisation, views of views) and cases that are hard for a planner (aliases, handles dropped
// early or late, values read and flushed in the middle).
#pragma once

#include <cstdint>

#include "tests/support/programs/program.h"

namespace sinter::testing {

struct RandomProgramOptions {
  int steps = 25;
  bool f64 = true;     // the device has f64
  bool i64 = true;     // its library ops compute with integers: those of the oracle take doubles
  bool wild = false;   // infinities and NaN may occur
  bool large = false;  // now and then a tensor of thousands of elements
  bool smooth =
      false;  // floats are f64, none of them random on the device, and inputs are such that no two are equal
};

Program random_program(std::uint64_t seed, const RandomProgramOptions& options);

}  // namespace sinter::testing
