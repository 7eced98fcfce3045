// Between the parts of the emulated driver.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "control.h"

namespace sinter_emulation {

constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidImage = 200, kLaunchFailed = 719;

/// A kernel of a loaded module: what cuModuleGetFunction gives.
struct Function {
  void (*run)(void**);
  std::vector<std::size_t> parameter_bytes;
};

Control& control();

/// Runs the threads of a grid, one after the other.
int run_grid(const Function& function, const unsigned (&grid)[3], const unsigned (&block)[3],
             void** arguments);

/// The graph functions by name.
const std::map<std::string, void*>& graph_functions();

}  // namespace sinter_emulation
