// Causal attention, 8 x 16 heads of 2048 positions of 64 numbers.
#pragma once

#include <functional>

#include <sinter/device.h>
#include <sinter/dtype.h>

namespace bench {

/// Forward, or forward and the three gradients. f32 is rounded to tf32 where products may round it.
std::function<void()> attention(const sinter::Device& device, sinter::DType dtype, bool gradients);

}  // namespace bench
