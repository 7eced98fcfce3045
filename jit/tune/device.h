// What the tuner asks of a device: compile variants of one kernel, run them on scratch memory, time them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::tune {

using Time = std::chrono::steady_clock::time_point;

/// Variants of one kernel, all launched with the same arguments but on memory of the trial's own. Called by
/// one thread.
class Trial {
 public:
  enum class State : std::uint8_t { Compiling, Ready, Failed };

  virtual ~Trial() = default;

  /// Waits until all variants are compiled or have failed, at most until `deadline`. They compile side by
  /// side since the trial began, and go on after its end.
  virtual void wait(Time deadline) = 0;
  virtual State state(std::size_t variant) = 0;
  /// Why it could not be compiled.
  virtual std::string failure(std::size_t variant) = 0;

  /// Runs a variant. Returns how its results differ from those of variant 0, beyond rounding; empty where
  /// they do not. Variant 0 is first. Throws Error where the device fails, as the next function does.
  virtual std::string compare(std::size_t variant) = 0;

  /// Nanoseconds of one launch that finds nothing in the second-level cache.
  virtual double time(std::size_t variant) = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  /// The device, its driver and its compiler, as far as times and results depend on them; empty: it cannot
  /// time launches.
  virtual std::string identity() = 0;

  /// Candidates beside the planner's: the ways in which a vendor's library computes the kernel. It is opened
  /// for that, so this is asked only where one of them may be taken. The same at each call.
  virtual std::vector<ir::Tiling> alternatives() { return {}; }

  virtual Time now() { return std::chrono::steady_clock::now(); }

  /// Throws Error where there is no memory for a trial, or `deadline` comes before its operands are made.
  virtual std::unique_ptr<Trial> begin(std::vector<ir::Kernel> variants, Time deadline) = 0;
};

}  // namespace sinter::tune
