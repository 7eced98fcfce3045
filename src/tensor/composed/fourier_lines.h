// Fourier transforms by the ops of jit/library/fourier.h, with their gradients.
#pragma once

#include <cstdint>

#include <sinter/complex.h>

#include "jit/library/fourier.h"

namespace sinter::tensor {

/// True iff x's device transforms lines of that length, with x's other axes as they are or, where axes behind
/// `axis` keep it from that, with `axis` moved to the end.
bool has_fourier_lines(const AnyTensor& x, std::int64_t length);

/// The transform of both parts, or of the real part alone, along an axis; the inverse is without a factor of
/// its own.
AnyComplex transform_lines(const AnyComplex& x, std::int64_t axis, bool inverse, library::FourierScale scale,
                           const Location& where);
/// The first n / 2 + 1 results of n real numbers.
AnyComplex transform_real_lines(const AnyTensor& x, std::int64_t axis, library::FourierScale scale,
                                const Location& where);
/// The inverse: `length` real numbers.
AnyTensor invert_to_real_lines(const AnyComplex& x, std::int64_t axis, std::int64_t length,
                               library::FourierScale scale, const Location& where);

}  // namespace sinter::tensor
