// How parameters begin. Random numbers are those of the device's stream: device.seed(seed) begins it anew,
// and the same seed gives the same parameters on every device.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/sizes.h>
#include <sinter/tensor.h>

namespace sinter::nn {

/// What a scale follows from: the number of inputs of an element of the output, of outputs of an element of
/// the input, or their mean. Of a weight (out, in, ..), as layers store it, the fan in is in times the
/// product of the sizes behind it, the fan out is out times that product; a vector has its size as both.
enum class Fan { in, out, mean };

/// A distribution of initial values, for a weight of any shape: the functions of `init` make them, and say
/// what `a` and `b` are.
struct SINTER_API Initializer {
  enum class Kind : std::uint8_t {
    constant,
    uniform,
    normal,
    truncated_normal,
    scaled_uniform,
    scaled_normal,
    orthogonal
  };
  Kind kind;
  double a, b;
  Fan fan = Fan::in;
  double fan_in = 0, fan_out = 0;  // 0: from the shape

  /// f32 values of `shape`. Throws Error where a setting is out of range, ShapeError where the shape does not
  /// suit: orthogonal needs a matrix or more.
  AnyTensor values(const Shape& shape, const Device& device, Location where = Location::current()) const;

  /// The same as a parameter: requires a gradient where the device has autodiff.
  template <std::size_t Rank>
  Tensor<Rank> parameter(const Sizes<Rank>& sizes, const Device& device,
                         Location where = Location::current()) const {
    return Tensor<Rank>(leaf(sizes, device, where));
  }
  /// For a shape whose fans are others than its own: those of a transposed convolution, of a bias.
  Initializer with_fans(double in, double out) const {
    Initializer copy = *this;
    copy.fan_in = in;
    copy.fan_out = out;
    return copy;
  }

 private:
  AnyTensor leaf(const Shape& shape, const Device& device, Location where) const;
};

namespace init {

inline Initializer constant(double value) { return {Initializer::Kind::constant, value, 0}; }
inline Initializer zeros() { return constant(0); }
inline Initializer ones() { return constant(1); }
/// In [low, high).
inline Initializer uniform(double low, double high) { return {Initializer::Kind::uniform, low, high}; }
inline Initializer normal(double mean, double deviation) {
  return {Initializer::Kind::normal, mean, deviation};
}
/// Normal, of which only values within two deviations of the mean are taken (by the inverse of the cumulative
/// distribution, so that none has to be drawn again).
inline Initializer truncated_normal(double mean, double deviation) {
  return {Initializer::Kind::truncated_normal, mean, deviation};
}
/// Variance gain^2 / fan: K. He et al., "Delving deep into rectifiers", 2015. The gain of ReLU is sqrt 2.
inline Initializer kaiming_uniform(double gain = 1.4142135623730951, Fan fan = Fan::in) {
  return {Initializer::Kind::scaled_uniform, gain, 0, fan};
}
inline Initializer kaiming_normal(double gain = 1.4142135623730951, Fan fan = Fan::in) {
  return {Initializer::Kind::scaled_normal, gain, 0, fan};
}
/// Variance gain^2 / mean of the fans: X. Glorot, Y. Bengio, "Understanding the difficulty of training deep
/// feedforward neural networks", 2010.
inline Initializer xavier_uniform(double gain = 1) {
  return {Initializer::Kind::scaled_uniform, gain, 0, Fan::mean};
}
inline Initializer xavier_normal(double gain = 1) {
  return {Initializer::Kind::scaled_normal, gain, 0, Fan::mean};
}
/// What PyTorch's layers begin with: uniform in +-1 / sqrt(fan in), Kaiming's with a gain of 1 / sqrt 3.
inline Initializer lecun_uniform() { return kaiming_uniform(0.5773502691896258); }
/// A matrix, (out, product of the others), whose rows or columns, whichever are fewer, are orthogonal vectors
/// of length `gain`: A. Saxe et al., "Exact solutions to the nonlinear dynamics of learning", 2013. Normal
/// numbers are drawn on the device and made orthogonal here, which waits.
inline Initializer orthogonal(double gain = 1) { return {Initializer::Kind::orthogonal, gain, 0}; }

}  // namespace init
}  // namespace sinter::nn
