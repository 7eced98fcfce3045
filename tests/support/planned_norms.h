// Plans of the gradients of norms for a GPU that need not be there.
#pragma once

#include <vector>

#include "tests/support/planned_products.h"

namespace sinter::testing {

inline ir::DeviceTraits like_a_gpu() {
  ir::DeviceTraits traits;
  traits.lanes = 2048 * 132;
  traits.groups = 4 * 132;
  traits.grid_reductions = true;
  traits.row_lanes = 1024;
  traits.short_row_lanes = 32;
  traits.row_cluster = 8;
  traits.reciprocals = traits.fixed_windows = traits.flat_vectors = true;
  traits.launch_bytes = 64.0 * 1024 * 132;
  return traits;
}

/// The gradients of x, weight and bias, or of x and weight, given the result's.
inline Planned norm_gradients(const Shape& shape, DType dtype, bool centred) {
  return planned(
      [&](const Device& plain) {
        using A = AnyTensor;
        const Device device = plain.autodiff();
        const auto leaf = [&](const Shape& s) {
          const A x = A::full(s, 0.5, dtype, device);
          x.sync();
          return x.require_grad();
        };
        const A x = leaf(shape), weight = leaf({1, shape[1]}), bias = leaf({1, shape[1]}),
                dy = A::full(shape, 0.5, dtype, device);
        dy.sync();
        A y;
        if (centred) {
          const A off = A::sub(x, x.mean(1));
          y = A::add(A::mul(A::mul(off, A::add(A::mul(off, off).mean(1), 1e-5).rsqrt()), weight), bias);
        } else {
          y = A::mul(A::mul(x, A::add(A::mul(x, x).mean(1), 1e-5).rsqrt()), weight);
        }
        Gradients found = A::mul(y, dy).sum({0, 1}).backward();
        std::vector<A> results{found.remove(x).value(), found.remove(weight).value()};
        if (centred) results.push_back(found.remove(bias).value());
        return results;
      },
      like_a_gpu());
}

}  // namespace sinter::testing
