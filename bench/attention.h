// Attention, 8 x 16 heads (on the host 8) of 2048 positions of 64 numbers, or 64 x 6 of 256.
#pragma once

#include <functional>

#include <sinter/sinter.h>

namespace bench {

struct Attention {
  sinter::DType dtype = sinter::DType::bf16;
  bool gradients = false;  // of queries, keys and values, after the forward pass
  bool causal = true;
  bool is_short = false;                                              // as in the GPT of 10 M parameters
  sinter::MatmulPrecision precision = sinter::MatmulPrecision::High;  // of f32
};

/// Calls what a user would.
std::function<void()> attention(const sinter::Device& device, const Attention& what);

}  // namespace bench
