// A training step of a small GPT made of the library's layers.
#pragma once

#include <functional>

#include <sinter/device.h>

namespace bench {

/// 4 layers of width 256 with 4 heads, 8 sequences of 128 tokens out of 256, AdamW.
std::function<void()> transformer_step(const sinter::Device& device);

}  // namespace bench
