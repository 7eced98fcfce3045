// Training steps of recurrent networks.
#pragma once

#include <functional>
#include <optional>

#include <sinter/device.h>
#include <sinter/dtype.h>

namespace bench {

/// An LSTM of two layers of 512 over 64 sequences of 128 vectors of 512, ten classes by the last state,
/// AdamW.
std::function<void()> lstm_step(const sinter::Device& device,
                                std::optional<sinter::DType> autocast = std::nullopt);

}  // namespace bench
