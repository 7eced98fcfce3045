// Deformable convolution: the pixels around each point are rows of a table that are looked up, and the rest
// is a product of matrices.
#include <string>

#include <sinter/nn/conv.h>
#include <sinter/nn/deform_conv.h>

#include "src/nn/init.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;

[[noreturn]] void throw_shape(const char* what, const Shape& found, const Shape& expected,
                              const Location& where) {
  throw ShapeError(
      "[deform_conv2d] " + std::string(what) + " " + to_string(found) + " is not " + to_string(expected),
      where);
}

}  // namespace

Tensor<4> DeformConv2d::forward(const Tensor<4>& input, const Tensor<4>& offset,
                                const std::optional<Tensor<4>>& mask, Location where) const {
  detail::require_given("deform_conv2d", weight.dynamic(), where);
  const Shape &in = input.shape(), &kernel = weight.shape();
  const std::int64_t n = in[0], c_in = in[1], h = in[2], w = in[3], c_out = kernel[0], kh = kernel[2],
                     kw = kernel[3];
  if (c_in != kernel[1] * groups || c_in % offset_groups != 0)
    throw ShapeError("[deform_conv2d] the input " + to_string(in) + " does not fit the weight " +
                         to_string(kernel) + " with " + std::to_string(groups) + " groups and " +
                         std::to_string(offset_groups) + " groups of offsets",
                     where);
  const auto out_size = [&](std::size_t i) {
    return (in[i + 2] + 2 * padding[i] - dilation[i] * (kernel[i + 2] - 1) - 1) / stride[i] + 1;
  };
  if (h == 0 || w == 0 || in[2] + 2 * padding[0] < dilation[0] * (kh - 1) + 1 ||
      in[3] + 2 * padding[1] < dilation[1] * (kw - 1) + 1)
    throw ShapeError("[deform_conv2d] the kernel of the weight " + to_string(kernel) +
                         " does not fit into the input " + to_string(in),
                     where);
  const std::int64_t oh = out_size(0), ow = out_size(1), k = kh * kw, og = offset_groups, cg = c_in / og;
  const Shape offsets{n, 2 * og * k, oh, ow}, masks{n, og * k, oh, ow};
  if (offset.shape() != offsets) throw_shape("the offset", offset.shape(), offsets, where);
  if (mask && mask->shape() != masks) throw_shape("the mask", mask->shape(), masks, where);

  const A x = input.dynamic();
  const Device device = x.device().inner();
  const DType dtype = x.dtype();
  // Where the points are: (n, og, kh, kw, oh, ow) each.
  const A moved = offset.dynamic().reshape({n, og, kh, kw, 2, oh * ow}, where);
  const auto usual = [&](std::size_t i) {
    const A inside = A::mul(A::arange(0, kernel[i + 2], 1, device, where), dilation[i], where);
    const A outside = A::mul(A::arange(0, i == 0 ? oh : ow, 1, device, where), stride[i], where);
    const A sum =
        i == 0 ? A::add(inside.reshape({kh, 1, 1, 1}, where), outside.reshape({1, 1, oh, 1}, where), where)
               : A::add(inside.reshape({1, kw, 1, 1}, where), outside.reshape({1, 1, 1, ow}, where), where);
    return A::sub(sum, padding[i], where)
        .cast(dtype, where)
        .expand({kh, kw, oh, ow}, where)
        .reshape({1, 1, kh, kw, oh * ow}, where);
  };
  const auto place = [&](std::size_t i) {
    const A by = moved.narrow(4, static_cast<std::int64_t>(i), 1, where).squeeze(4, where);
    return A::add(by, usual(i), where);
  };
  const A y_at = place(0), x_at = place(1);  // (n, og, kh, kw, oh ow)
  const A top = y_at.floor(where).detach(), left = x_at.floor(where).detach();
  const A down = A::sub(y_at, top, where), right = A::sub(x_at, left, where);

  // Pixels as rows, (n og h w, c / og), of which each corner of each point is one.
  const A table =
      x.reshape({n * og, cg, h * w}, where).transpose(1, 2, where).reshape({n * og * h * w, cg}, where);
  const A first =
      A::mul(A::arange(0, n * og, 1, device, where), h * w, where).reshape({n, og, 1, 1, 1}, where);
  A sampled;
  for (const std::int64_t dy : {0, 1})
    for (const std::int64_t dx : {0, 1}) {
      const A row = A::add(top, dy, where), column = A::add(left, dx, where);
      const auto within = [&](const A& at, std::int64_t size) {
        return A::logical_and(A::greater_equal(at, 0, where), A::less(at, size, where), where);
      };
      const A inside = A::logical_and(within(row, h), within(column, w), where).inner();
      const A pixel = A::add(A::mul(row.inner().cast(DType::i64, where), w, where),
                             column.inner().cast(DType::i64, where), where);
      const A index = A::add(A::where(inside, pixel, 0, where), first, where);
      const A part =
          A::mul(dy == 1 ? down : A::sub(1, down, where), dx == 1 ? right : A::sub(1, right, where), where);
      const A weights = A::where(inside, part, 0.0, where);
      const A values = table.index_select(0, index.reshape({index.numel()}, where), where);
      const A product = A::mul(values, weights.reshape({index.numel(), 1}, where), where);
      sampled = sampled.defined() ? A::add(sampled, product, where) : product;
    }
  A columns = sampled.reshape({n, og, k, oh * ow, cg}, where);
  if (mask) columns = A::mul(columns, mask->dynamic().reshape({n, og, k, oh * ow, 1}, where), where);
  columns = columns.permute({0, 1, 4, 2, 3}, where).reshape({n, groups, kernel[1] * k, oh * ow}, where);
  const A matrix = weight.dynamic().reshape({1, groups, c_out / groups, kernel[1] * k}, where);
  A y = matrix.matmul(columns, where).reshape({n, c_out, oh, ow}, where);
  if (bias) y = detail::biased(y, bias->dynamic().reshape({c_out, 1, 1}, where), where);
  return Tensor<4>(std::move(y));
}

DeformConv2d DeformConv2dConfig::init(const Device& device, Location where) const {
  detail::require_positive("deform_conv2d", "the groups of offsets", offset_groups, where);
  const Conv2d plain = Conv2dConfig{.channels = channels,
                                    .kernel = kernel,
                                    .stride = stride,
                                    .padding = padding,
                                    .dilation = dilation,
                                    .groups = groups,
                                    .bias = bias,
                                    .initializer = initializer}
                           .init(device, where);
  if (channels[0] % offset_groups != 0)
    throw ShapeError("[deform_conv2d] " + std::to_string(offset_groups) +
                         " groups of offsets do not divide " + std::to_string(channels[0]) + " channels",
                     where);
  return {.weight = plain.weight,
          .bias = plain.bias,
          .stride = stride,
          .padding = padding,
          .dilation = dilation,
          .groups = groups,
          .offset_groups = offset_groups};
}

}  // namespace sinter::nn
