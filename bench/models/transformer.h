// Training steps of GPTs made of the library's layers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <sinter/device.h>
#include <sinter/dtype.h>

namespace bench {

struct GptSize {
  std::int64_t tokens, length, width, layers, heads, batch;
};

/// 4 layers of width 256 with 4 heads, 8 sequences of 128 tokens out of 256.
inline constexpr GptSize kSmallGpt{256, 128, 256, 4, 4, 8};
/// 0.8 million parameters, 16 sequences of 64 characters: for the host.
inline constexpr GptSize kCharGptOfHost{96, 64, 128, 4, 4, 16};
/// 10 million parameters, 64 sequences of 256 characters.
inline constexpr GptSize kCharGpt{96, 256, 384, 6, 6, 64};
/// GPT-2 of 124 million parameters, 8 sequences of 1,024 tokens.
inline constexpr GptSize kGpt2{50304, 1024, 768, 12, 12, 8};

/// Forward, backward and AdamW. `autocast` is the dtype of products and of what goes between them; without
/// it all is f32.
std::function<void()> transformer_step(const sinter::Device& device, const GptSize& size,
                                       std::optional<sinter::DType> autocast = std::nullopt);

}  // namespace bench
