// The activation functions of activation.h as layers. They hold no tensors.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/activation.h>
#include <sinter/tensor.h>

namespace sinter::nn {

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

}  // namespace sinter::nn
