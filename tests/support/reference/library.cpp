// The oracle's matrix product and convolution: the sums of their definitions.
#include <cmath>
#include <stdexcept>

#include "tests/support/reference/ir_reference.h"

namespace sinter::testing {

LibraryResult reference_matmul(const library::MatMulOp& op, std::span<const double> a,
                               std::span<const double> b) {
  LibraryResult c;
  for (std::int64_t batch = 0; batch < op.batch; ++batch)
    for (std::int64_t i = 0; i < op.m; ++i)
      for (std::int64_t j = 0; j < op.n; ++j) {
        double sum = 0, magnitude = 0;
        for (std::int64_t k = 0; k < op.k; ++k) {
          const double term = a[batch * op.a_batch + i * op.a_row + k * op.a_column] *
                              b[batch * op.b_batch + k * op.b_row + j * op.b_column];
          sum += term;
          magnitude += std::abs(term);
        }
        c.values.push_back(sum);
        c.magnitudes.push_back(magnitude);
      }
  return c;
}

std::int64_t input_numel(const library::Conv2dOp& op) { return op.n * op.c_in * op.h * op.w; }
std::int64_t weight_numel(const library::Conv2dOp& op) {
  return op.c_out * (op.c_in / op.groups) * op.kh * op.kw;
}
std::int64_t output_numel(const library::Conv2dOp& op) { return op.n * op.c_out * op.oh * op.ow; }

namespace {

// Calls body(x, weight, y) with the positions of every product that the convolution is made of.
template <class Body>
void for_each_product(const library::Conv2dOp& op, const Body& body) {
  const std::int64_t in = op.c_in / op.groups, out = op.c_out / op.groups;
  for (std::int64_t n = 0; n < op.n; ++n)
    for (std::int64_t co = 0; co < op.c_out; ++co)
      for (std::int64_t oy = 0; oy < op.oh; ++oy)
        for (std::int64_t ox = 0; ox < op.ow; ++ox)
          for (std::int64_t ci = 0; ci < in; ++ci)
            for (std::int64_t ky = 0; ky < op.kh; ++ky)
              for (std::int64_t kx = 0; kx < op.kw; ++kx) {
                const std::int64_t y = oy * op.stride[0] - op.padding[0] + ky * op.dilation[0];
                const std::int64_t x = ox * op.stride[1] - op.padding[1] + kx * op.dilation[1];
                if (y < 0 || y >= op.h || x < 0 || x >= op.w) continue;
                const std::int64_t channel = co / out * in + ci;
                body(((n * op.c_in + channel) * op.h + y) * op.w + x,
                     ((co * in + ci) * op.kh + ky) * op.kw + kx,
                     ((n * op.c_out + co) * op.oh + oy) * op.ow + ox);
              }
}

}  // namespace

LibraryResult reference_conv2d(const library::Conv2dOp& op, std::span<const double> first,
                               std::span<const double> second) {
  using Direction = library::Conv2dOp::Direction;
  LibraryResult result;
  const auto resize = [&](std::int64_t numel) {
    result.values.resize(numel);
    result.magnitudes.resize(numel);
  };
  const auto add = [&](std::int64_t at, double term) {
    result.values[at] += term;
    result.magnitudes[at] += std::abs(term);
  };
  switch (op.direction) {
    case Direction::Forward:
      resize(output_numel(op));
      for_each_product(op,
                       [&](std::int64_t x, std::int64_t w, std::int64_t y) { add(y, first[x] * second[w]); });
      break;
    case Direction::BackwardInput:
      resize(input_numel(op));
      for_each_product(op,
                       [&](std::int64_t x, std::int64_t w, std::int64_t y) { add(x, first[y] * second[w]); });
      break;
    case Direction::BackwardWeight:
      resize(weight_numel(op));
      for_each_product(op,
                       [&](std::int64_t x, std::int64_t w, std::int64_t y) { add(w, first[x] * second[y]); });
      break;
  }
  return result;
}

runtime::LibraryTable<Evaluate(const library::LibraryOp&)>& reference_table() {
  using Direction = library::Conv2dOp::Direction;
  using Operands = std::span<const std::span<const double>>;
  const auto matmul = [](const library::LibraryOp& any) -> Evaluate {
    return [op = library::as<library::MatMulOp>(any)](Operands operands) {
      return reference_matmul(op, operands[0], operands[1]);
    };
  };
  const auto conv2d = [](const library::LibraryOp& any) -> Evaluate {
    return [op = library::as<library::Conv2dOp>(any)](Operands operands) {
      return reference_conv2d(op, operands[0], operands[1]);
    };
  };
  static auto* table = new runtime::LibraryTable<Evaluate(const library::LibraryOp&)>{
      {&library::matmul(), matmul},
      {&library::conv2d(Direction::Forward), conv2d},
      {&library::conv2d(Direction::BackwardInput), conv2d},
      {&library::conv2d(Direction::BackwardWeight), conv2d},
  };
  return *table;
}

}  // namespace sinter::testing
