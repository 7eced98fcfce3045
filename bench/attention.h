// Causal attention over bf16, 8 x 16 heads of 2048 positions of 64 numbers.
#pragma once

#include <functional>

#include <sinter/device.h>

namespace bench {

/// Forward, or forward and the three gradients.
std::function<void()> attention(const sinter::Device& device, bool gradients);

}  // namespace bench
