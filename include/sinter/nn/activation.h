// The activation functions of activation.h as layers, and those with parameters of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/functions/activation.h>
#include <sinter/nn/linear.h>
#include <sinter/tensor.h>

namespace sinter::nn {

// The functions without numbers of their own.
#define SINTER_LAYER(Layer, function)                                                   \
  struct Layer {                                                                        \
    template <std::size_t R>                                                            \
    Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const { \
      return function(x, where);                                                        \
    }                                                                                   \
  };
SINTER_LAYER(Relu6, relu6)
SINTER_LAYER(Selu, selu)
SINTER_LAYER(Mish, mish)
SINTER_LAYER(HardSigmoid, hard_sigmoid)
SINTER_LAYER(HardSwish, hard_swish)
SINTER_LAYER(LogSigmoid, log_sigmoid)
SINTER_LAYER(Softsign, softsign)
SINTER_LAYER(Tanhshrink, tanhshrink)
#undef SINTER_LAYER
// Those with one.
#define SINTER_LAYER(Layer, function, Number, name, usual)                              \
  struct Layer {                                                                        \
    Number name = usual;                                                                \
    template <std::size_t R>                                                            \
    Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const { \
      return function(x, name, where);                                                  \
    }                                                                                   \
  };
SINTER_LAYER(Elu, elu, double, alpha, 1)
SINTER_LAYER(Celu, celu, double, alpha, 1)
SINTER_LAYER(HardShrink, hard_shrink, double, lambda, 0.5)
SINTER_LAYER(SoftShrink, soft_shrink, double, lambda, 0.5)
SINTER_LAYER(Softmin, softmin, std::int64_t, axis, -1)
SINTER_LAYER(QuietSoftmax, quiet_softmax, std::int64_t, axis, -1)
#undef SINTER_LAYER

struct HardTanh {
  double low = -1, high = 1;
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return hardtanh(x, low, high, where);
  }
};

struct Shrink {
  double lambda = 0.5, bias = 0;
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return shrink(x, lambda, bias, where);
  }
};

struct Threshold {
  double limit, value;
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return threshold(x, limit, value, where);
  }
};

struct Relu {
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return relu(x, where);
  }
};

struct LeakyRelu {
  double slope = 0.01;
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return leaky_relu(x, slope, where);
  }
};

struct Gelu {
  /// Approximate by tanh instead of computing erf.
  bool approximate = false;
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return approximate ? gelu_tanh(x, where) : gelu(x, where);
  }
};

struct Silu {
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return silu(x, where);
  }
};

struct Sigmoid {
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return x.sigmoid(where);
  }
};

struct Tanh {
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return x.tanh(where);
  }
};

struct Softmax {
  std::int64_t axis = -1;
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return softmax(x, axis, where);
  }
};

struct LogSoftmax {
  std::int64_t axis = -1;
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return log_softmax(x, axis, where);
  }
};

struct Softplus {
  double beta = 1;
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return softplus(x, beta, where);
  }
};

/// x where x > 0, else weight x, with a weight for each channel (axis 1) or one for all. K. He et al.,
/// "Delving deep into rectifiers", 2015.
struct Prelu {
  Tensor<1> weight;  // (channels) or (1)

  /// (n, channels, ..) -> the same. Throws ShapeError when the weight has neither one element nor one for
  /// each channel.
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return prelu(x, weight, where);
  }
};

struct SINTER_API PreluConfig {
  std::int64_t channels = 1;
  double slope = 0.25;
  Prelu init(const Device& device, Location where = Location::current()) const;
};

/// The first half along `axis` times the sigmoid of the second: Y. Dauphin et al., "Language modeling with
/// gated convolutional networks", 2016.
struct Glu {
  std::int64_t axis = -1;
  /// (.., 2 n, ..) -> (.., n, ..). Throws ShapeError when the axis is odd.
  template <std::size_t R>
  requires(R >= 1) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return glu(x, axis, where); }
};

/// silu(x W + b) (x V + c): N. Shazeer, "GLU variants improve transformer", 2020.
struct SwiGlu {
  Linear gate, value;

  /// (.., d_in) -> (.., d_out)
  template <std::size_t R>
  requires(R >= 1) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return silu(gate.forward(x, where), where).mul({value.forward(x, where), where}); }
};

struct SINTER_API SwiGluConfig {
  std::int64_t d_in, d_out;
  bool bias = false;
  SwiGlu init(const Device& device, Location where = Location::current()) const;
};

}  // namespace sinter::nn
