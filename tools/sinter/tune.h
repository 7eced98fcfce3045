// `sinter tune`: the choices between variants of kernels that were made by timing.
#pragma once

#include <string>
#include <vector>

namespace tools {

struct TuneOptions {
  std::vector<std::string> sizes;  // "4096x4096x4096" or "200x128x256x6": rows, columns, depth, batches
  std::string dtype = "bf16";
  std::string device;  // empty: Device::best()
};

/// All return the exit code for the process.
int list_tuned();
int show_tuned(const std::string& part);
int run_tuning(const TuneOptions& options);
int clear_tuned();

}  // namespace tools
