// Windows of signals.
#pragma once

#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter {

/// Windows of `size` numbers, f32. Periodic ones continue without a seam when they are repeated, as Fourier
/// transforms want them; the others are symmetric. (Harris, "On the use of windows for harmonic analysis with
/// the discrete Fourier transform", 1978.)
/// 1/2 - 1/2 cos.
SINTER_API Tensor<1> hann_window(std::int64_t size, const Device& device, bool periodic = true,
                                 Location where = Location::current());
/// 0.54 - 0.46 cos.
SINTER_API Tensor<1> hamming_window(std::int64_t size, const Device& device, bool periodic = true,
                                    Location where = Location::current());
/// 0.42 - 0.5 cos + 0.08 cos of twice the angle.
SINTER_API Tensor<1> blackman_window(std::int64_t size, const Device& device, bool periodic = true,
                                     Location where = Location::current());

}  // namespace sinter
