// From the start of a process to the end of its first training step.
#pragma once

#include <functional>

#include <sinter/device.h>

namespace bench {

/// Times child processes of this program that do one step of the guide's CNN and end. `cached`: kernels are
/// on disk; else each child has an empty cache folder.
std::function<double()> first_step(const sinter::Device& device, bool cached);

/// What such a child does: one step, waited for.
void run_first_step(const sinter::Device& device);

}  // namespace bench
