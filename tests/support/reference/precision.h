// The accuracy that tests ask of a device.
#pragma once

namespace sinter::testing {

/// The assumed accuracy of a device. Adding, subtracting, multiplying, rounding, comparing and casting are
/// always exact: a kernel of only these must give the oracle's bits when `round_f32` is on.
struct Precision {
  bool round_f32 = true;          // round each f32 value as a device does; else only where it is stored
  double division_ulps = 3;       // div, recip, sqrt, rsqrt
  double math_ulps = 8;           // exp, log and the like
  double pow_ulps = 16;           // plus 2 for each power of two in the result
  double wave_absolute = 1e-6;    // sin and cos of f32 beyond pi / 4, in addition
  double normal_absolute = 1e-5;  // of normal random numbers
  double sum_relative = 4e-6;     // of f32 sums, relative to the sum of |terms|
  double sum_relative_f64 = 1e-13;
  double math_relative_f64 = 1e-12;
  bool flushes_denormals = false;  // f32 numbers below 2^-126 may be flushed to 0

  /// Absolute tolerance of inexact f32 operations.
  double smallest() const { return flushes_denormals ? 1.2e-38 : 1e-44; }
};

}  // namespace sinter::testing
