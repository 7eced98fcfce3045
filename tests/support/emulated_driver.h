// Access to the emulated CUDA driver's controls.
#pragma once

#include <dlfcn.h>

#include "tests/cuda_emulation/control.h"

namespace sinter::testing {

/// The emulated driver's controls; null with a real driver.
inline sinter_emulation::Control* emulation() {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  static const auto control = reinterpret_cast<sinter_emulation::ControlFunction>(
      driver ? dlsym(driver, "sinter_emulation_control") : nullptr);
  return control ? control() : nullptr;
}

}  // namespace sinter::testing
