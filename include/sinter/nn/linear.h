// The fully connected layer, and one of two inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/nn/init.h>
#include <sinter/nn/low_rank.h>
#include <sinter/quantize.h>
#include <sinter/tensor.h>

namespace sinter::nn {

namespace detail {
SINTER_API AnyTensor linear(const AnyTensor& x, const AnyTensor& weight, const AnyTensor* bias,
                            Location where);
/// The weight in x's dtype.
SINTER_API AnyTensor dequantized_for(const AnyTensor& x, const QuantizedTensor& weight, Location where);
SINTER_API AnyTensor bilinear(const AnyTensor& a, const AnyTensor& b, const AnyTensor& weight,
                              const AnyTensor* bias, Location where);
}  // namespace detail

/// y = x W^T + b. The weight is stored as (d_out, d_in), as in PyTorch, so that PyTorch's files load as they
/// are; the transposed view costs nothing.
struct Linear {
  Tensor<2> weight;               // (d_out, d_in); an empty handle where it is quantized
  std::optional<Tensor<1>> bias;  // (d_out)
  std::optional<LowRank> lora = std::nullopt;
  /// The weight in few bits, where nn::quantize (quantize.h) puts it.
  std::optional<QuantizedTensor> quantized = std::nullopt;

  /// (.., d_in) -> (.., d_out)
  template <std::size_t R>
  requires(R >= 1) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const {
    const AnyTensor w =
        quantized ? detail::dequantized_for(x.dynamic(), *quantized, where) : weight.dynamic();
    AnyTensor y = detail::linear(x.dynamic(), w, bias ? &bias->dynamic() : nullptr, where);
    if (lora) y = detail::with_low_rank(y, x.dynamic(), *lora, where);
    return Tensor<R>(std::move(y));
  }

  template <class F>
  void visit_fields(F&& f) {
    visit(*this, f);
  }
  template <class F>
  void visit_fields(F&& f) const {
    visit(*this, f);
  }

 private:
  template <class Self, class F>
  static void visit(Self& self, F& f) {
    if (!self.quantized) f("weight", self.weight);
    f("bias", self.bias);
    f("lora", self.lora);
    f("quantized", self.quantized);
  }
};

struct SINTER_API LinearConfig {
  std::int64_t d_in, d_out;
  bool bias = true;
  /// Of the weight.
  Initializer initializer = init::lecun_uniform();

  /// Weight, unless told otherwise, and bias uniform in +-1 / sqrt(d_in), as PyTorch does: K. He et al.,
  /// "Delving deep into rectifiers", 2015, with a = sqrt 5. Throws ShapeError when a size is not positive.
  Linear init(const Device& device, Location where = Location::current()) const;
};

/// y_k = a^T W_k b + bias_k
struct Bilinear {
  Tensor<3> weight;               // (d_out, d_a, d_b)
  std::optional<Tensor<1>> bias;  // (d_out)

  /// (.., d_a), (.., d_b) -> (.., d_out). Throws ShapeError when the shapes do not fit.
  template <std::size_t R>
  requires(R >= 1) Tensor<R> forward(const Tensor<R>& a, const Tensor<R>& b,
                                     Location where = Location::current())
  const {
    return Tensor<R>(detail::bilinear(a.dynamic(), b.dynamic(), weight.dynamic(),
                                      bias ? &bias->dynamic() : nullptr, where));
  }
};

struct SINTER_API BilinearConfig {
  std::int64_t d_a, d_b, d_out;
  bool bias = true;

  /// Weight and bias uniform in +-1 / sqrt(d_a), as PyTorch does.
  Bilinear init(const Device& device, Location where = Location::current()) const;
};

}  // namespace sinter::nn
