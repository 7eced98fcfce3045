// The fully connected layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/tensor.h>

namespace sinter::nn {

namespace detail {
SINTER_API AnyTensor linear(const AnyTensor& x, const AnyTensor& weight, const AnyTensor* bias,
                            Location where);
}  // namespace detail

/// y = x W^T + b. The weight is stored as (d_out, d_in), as in PyTorch, so that PyTorch's files load as they
/// are; the transposed view costs nothing.
struct Linear {
  Tensor<2> weight;               // (d_out, d_in)
  std::optional<Tensor<1>> bias;  // (d_out)

  /// (.., d_in) -> (.., d_out)
  template <std::size_t R>
  requires(R >= 1) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return Tensor<R>(detail::linear(x.any(), weight.any(), bias ? &bias->any() : nullptr, where)); }
};

struct SINTER_API LinearConfig {
  std::int64_t d_in, d_out;
  bool bias = true;

  /// Weight and bias uniform in +-1 / sqrt(d_in), as PyTorch does: K. He et al., "Delving deep into
  /// rectifiers", 2015, with a = sqrt 5. Throws ShapeError when a size is not positive.
  Linear init(const Device& device, Location where = Location::current()) const;
};

}  // namespace sinter::nn
