// Tries variants of a kernel on memory of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jit/tune/device.h"
#include "src/runtime/backend.h"
#include "src/runtime/compilations.h"

namespace sinter::runtime {

class Executor;

/// The arguments of a launch without its buffers.
struct TrialArguments {
  std::vector<std::int64_t> ints;
  std::vector<ScalarValue> scalars;
};

/// Throws DeviceError where there is no memory for it, or `deadline` comes before the operands are made.
std::unique_ptr<tune::Trial> begin_trial(Backend& backend, Executor& executor, Compilations& compilations,
                                         std::vector<ir::Kernel> variants, TrialArguments arguments,
                                         tune::Time deadline);

}  // namespace sinter::runtime
