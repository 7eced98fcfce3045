// What modules cost over the plain operations that they are made of.
#pragma once

#include <functional>

#include <sinter/device.h>

namespace bench {

/// Time to record layers of an MLP (linear, gelu, layer norm) as modules, of that to record the same
/// operations written out.
std::function<double()> module_overhead(const sinter::Device& device);

}  // namespace bench
