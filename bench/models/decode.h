// Text written token by token, with keys and values of earlier positions in a cache.
#pragma once

#include <cstdint>
#include <functional>

#include <sinter/device.h>
#include <sinter/dtype.h>

#include "transformer.h"

namespace bench {

/// GPT-2 of 124 million parameters for one sequence, with room for few positions and for all.
inline constexpr GptSize kGpt2Token{50304, 256, 768, 12, 12, 1}, kGpt2LateToken{50304, 1024, 768, 12, 12, 1};

/// Each call makes one token of each of `size.batch` sequences: the likeliest one, given back as the next
/// input. The cache has room for `size.length` positions; the tokens stand at `first`, first + 1, ... up to
/// the last place, and then at `first` again. Weights are of `dtype`.
std::function<void()> decode_tokens(const sinter::Device& device, const GptSize& size, sinter::DType dtype,
                                    std::int64_t first);

}  // namespace bench
