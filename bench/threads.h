// Several threads on one device.
#pragma once

#include <functional>

#include <sinter/device.h>

namespace bench {

/// Small evaluations in `threads` threads at once, each of its own values: seconds for one evaluation, of all
/// threads together.
std::function<double()> evaluations(const sinter::Device& device, int threads);

/// A known step of 1,500 small operations, alone or beside a thread that evaluates shapes that nobody has
/// seen.
std::function<double()> step_beside(const sinter::Device& device, bool beside);

}  // namespace bench
