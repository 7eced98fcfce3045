// The benchmarks: named programs, each set up once and then run repeatedly.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sinter/device.h>

namespace bench {

/// One row of the table. `make` sets up the work on a device and returns a function for one repetition, which
/// records and flushes but does not wait; the caller waits after `repetitions` of them.
struct Workload {
  std::string name;
  std::string what;
  int repetitions;        // between two waits
  double per_repetition;  // divisor of a repetition's time: 1, or the number of ops for host_us_per_op
  std::string unit;       // "s", "ms" or "us"; "x" for a ratio
  std::function<std::function<void()>(const sinter::Device&)> make;
  /// Instead of `make`, for rows that time a part of each repetition themselves: returns that part in
  /// seconds (a ratio where that is the unit).
  std::function<std::function<double()>(const sinter::Device&)> make_timed = nullptr;
  enum class Needs { Nothing, OneThreadOfHost, Gpu } needs = Needs::Nothing;
};

const std::vector<Workload>& workloads();

}  // namespace bench
