// Calls what a user would.
#include "attention.h"

#include <vector>

namespace bench {

std::function<void()> attention(const sinter::Device& plain, const Attention& what) {
  namespace sn = sinter;
  const bool gradients = what.gradients;
  const std::int64_t batch = plain.name() == "host" ? 1
                             : what.is_short        ? 64
                                                    : 8,
                     heads = what.is_short ? 6
                             : batch == 1  ? 8
                                           : 16,
                     length = what.is_short ? 256 : 2048;
  const sn::Device device = gradients ? plain.autodiff() : plain;
  std::vector<sn::Tensor<4>> x;  // queries, keys, values, the gradient of the result
  for (int k = 0; k < 4; ++k) {
    x.push_back(sn::Tensor<4>::randn({batch, heads, length, 64}, device).cast(what.dtype));
    if (gradients && k < 3) x.back() = x.back().require_grad();
    x.back().sync();
  }
  return [=] {
    const sn::MatmulPrecisionScope scope(what.precision);
    const auto y = sn::nn::scaled_dot_product_attention(x[0], x[1], x[2], {.causal = what.causal});
    y.sync();
    if (!gradients) return;
    const auto found = sn::gradient(y, {x[0], x[1], x[2]}, {.seed = x[3], .differentiable = false});
    sn::sync(found);
  };
}

}  // namespace bench
