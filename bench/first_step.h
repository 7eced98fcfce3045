// Times a process from its start to the end of its first training step.
#pragma once

#include <functional>
#include <string>

#include <sinter/device.h>

namespace bench {

/// Times child processes of this program that run one training step, which is the workload of this name, and
/// exit. `cached`: kernels are on disk; otherwise each child has an empty cache folder.
std::function<double()> first_step(const sinter::Device& device, const std::string& name, bool cached);

/// The work of such a child: one step, waited for.
void run_first_step(const sinter::Device& device, const std::string& name);

}  // namespace bench
