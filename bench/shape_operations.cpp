#include "shape_operations.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <sinter/sinter.h>

#include "shape_convolutions.h"
#include "shape_inputs.h"

namespace bench {
namespace {

using sn::Tensor;

constexpr double kEpsilon = 1e-5;

Tensors of_softmax_backward(const Dims& shape, DType dtype, const Device& device) {
  return {leaf(shape, dtype, device), normal(shape, dtype, device)};
}

Tensors of_layer_norm(const Dims& s, DType dtype, const Device& device) {
  return {normal(s, dtype, device), normal({1, s[1]}, dtype, device), normal({1, s[1]}, dtype, device)};
}

Tensors of_layer_norm_backward(const Dims& s, DType dtype, const Device& device) {
  return {leaf(s, dtype, device), leaf({1, s[1]}, dtype, device), leaf({1, s[1]}, dtype, device),
          normal(s, dtype, device)};
}

Tensors of_rms_norm(const Dims& s, DType dtype, const Device& device) {
  return {normal(s, dtype, device), normal({1, s[1]}, dtype, device)};
}

Tensors of_rms_norm_backward(const Dims& s, DType dtype, const Device& device) {
  return {leaf(s, dtype, device), leaf({1, s[1]}, dtype, device), normal(s, dtype, device)};
}

/// Images by channels: n, channels, elements of an image; weight and bias of each channel.
Tensors of_channel_norm(const Dims& s, DType dtype, const Device& device) {
  return {normal(s, dtype, device), normal({s[1]}, dtype, device), normal({s[1]}, dtype, device)};
}

Tensors of_channel_norm_backward(const Dims& s, DType dtype, const Device& device) {
  return {leaf(s, dtype, device), leaf({s[1]}, dtype, device), leaf({s[1]}, dtype, device),
          normal(s, dtype, device)};
}

Tensors of_cross_entropy(const Dims& s, DType dtype, const Device& device) {
  return {normal(s, dtype, device), indices({s[0]}, s[1], device)};
}

Tensors of_cross_entropy_backward(const Dims& s, DType dtype, const Device& device) {
  return {leaf(s, dtype, device), indices({s[0]}, s[1], device)};
}

Tensors with_row(const Dims& s, DType dtype, const Device& device) {
  return {normal(s, dtype, device), normal({1, s[1]}, dtype, device)};
}

Tensors with_column(const Dims& s, DType dtype, const Device& device) {
  return {normal(s, dtype, device), normal({s[0], 1}, dtype, device)};
}

/// Three pieces that together have the row's shape; two of them have an odd size along the axis.
Tensors pieces(const Dims& shape, std::size_t axis, DType dtype, const Device& device) {
  const std::int64_t part = shape[axis] / 3 | 1;
  Tensors result;
  for (const std::int64_t size : {part, part, shape[axis] - 2 * part}) {
    Dims sizes = shape;
    sizes[axis] = size;
    result.push_back(normal(sizes, dtype, device));
  }
  return result;
}

// Of products the sizes are m, n and k, after that of the batch.

Tensors factors(const Dims& s, DType dtype, const Device& device) {
  return {normal({s[0], s[2]}, dtype, device), normal({s[2], s[1]}, dtype, device)};
}

/// A weight lies [out, in], as in a layer.
Tensors input_and_weight(const Dims& s, DType dtype, const Device& device) {
  return {normal({s[0], s[2]}, dtype, device), normal({s[1], s[2]}, dtype, device)};
}

Tensors of_layer(const Dims& s, DType dtype, const Device& device) {
  Tensors in = input_and_weight(s, dtype, device);
  in.push_back(normal({1, s[1]}, dtype, device));
  return in;
}

/// Factors of 8 bits come with a scale each.
Tensors of_scaled_layer(const Dims& s, DType dtype, const Device& device) {
  Tensors in = input_and_weight(s, dtype, device);
  for (int i = 0; i < 2; ++i) in.push_back(normal({1, 1}, DType::f32, device));
  return in;
}

Tensors of_residual_layer(const Dims& s, DType dtype, const Device& device) {
  Tensors in = of_layer(s, dtype, device);
  in.push_back(normal({s[0], s[1]}, dtype, device));
  return in;
}

/// What the gradient of a weight is the product of: neighbours lie along rows and columns, not along k.
Tensors gradient_and_input(const Dims& s, DType dtype, const Device& device) {
  return {normal({s[2], s[0]}, dtype, device), normal({s[2], s[1]}, dtype, device)};
}

Tensors factors_of_batch(const Dims& s, DType dtype, const Device& device) {
  return {normal({s[0], s[1], s[3]}, dtype, device), normal({s[0], s[3], s[2]}, dtype, device)};
}

// ---- operations; a function's local tensors are gone when it returns, as in a program

Tensor<2> normalised(const Tensor<2>& x, const Tensor<2>& weight, const Tensor<2>& bias) {
  const auto centred = x - x.mean(1);
  return centred * ((centred * centred).mean(1) + kEpsilon).rsqrt() * weight + bias;
}

Tensor<2> rms_normalised(const Tensor<2>& x, const Tensor<2>& weight) {
  return x * ((x * x).mean(1) + kEpsilon).rsqrt() * weight;
}

AnyTensor layer_norm(const Tensors& in) {
  return normalised(Tensor<2>(in[0]), Tensor<2>(in[1]), Tensor<2>(in[2])).dynamic();
}

AnyTensor rms_norm(const Tensors& in) { return rms_normalised(Tensor<2>(in[0]), Tensor<2>(in[1])).dynamic(); }

/// As in training. Nobody reads the running statistics, so that nothing is computed of them.
AnyTensor batch_norm(const Tensors& in) {
  const auto zeros = Tensor<1>::zeros({in[1].shape()[0]}, in[1].device().inner());
  const sn::nn::BatchNorm layer{.weight = Tensor<1>(in[1]),
                                .bias = Tensor<1>(in[2]),
                                .running_mean = sn::Buffer<1>(zeros),
                                .running_var = sn::Buffer<1>(zeros),
                                .training = true};
  return layer.forward(Tensor<3>(in[0])).dynamic();
}

/// A layer's result, then its gradients by the first `count` inputs; the last input is the result's.
Tensors with_gradients(const AnyTensor& result, const Tensors& in, std::size_t count) {
  Tensors all = gradients(result, in, count);
  all.insert(all.begin(), result.detach());
  return all;
}

AnyTensor group_norm_32(const Tensors& in) {
  const sn::nn::GroupNorm layer{.groups = 32, .weight = Tensor<1>(in[1]), .bias = Tensor<1>(in[2])};
  return layer.forward(Tensor<3>(in[0])).dynamic();
}

AnyTensor cross_entropy(const Tensors& in) {
  return sn::nn::cross_entropy(Tensor<2>(in[0]), Tensor<1, sn::Int>(in[1])).dynamic();
}

Tensors cross_entropy_backward(const Tensors& in) {
  const AnyTensor loss = cross_entropy(in);
  return {loss.detach(), loss.backward().remove(in[0]).value()};
}

Tensors with_positions(const sn::AnyIndexed& found) { return {found.values, found.indices}; }

AnyTensor max_pool(const AnyTensor& x, std::int64_t size) {
  return x.windows(2, size, 2).windows(3, size, 2).max({4, 5}).squeeze({4, 5});
}

AnyTensor avg_pool(const AnyTensor& x, std::int64_t size) {
  return sn::nn::AvgPool2d{.kernel = {size, size}, .stride = {{2, 2}}}.forward(Tensor<4>(x)).dynamic();
}

AnyTensor linear(const Tensors& in) { return in[0].matmul(in[1].transpose(0, 1)); }

Tensors of_gated_layer(const Dims& s, DType dtype, const Device& device) {
  Tensors in = input_and_weight(s, dtype, device);
  in.push_back(normal({s[1], s[2]}, dtype, device));
  return in;
}
AnyTensor gated_linear(const Tensors& in) {
  return AnyTensor::mul(sn::silu(linear(in)), linear({in[0], in[2]}));
}

/// Three layers whose results are added up, as are the gradients of what queries, keys and values are made
/// of.
Tensors of_added_layers(const Dims& s, DType dtype, const Device& device) {
  Tensors in;
  for (int k = 0; k < 3; ++k)
    for (const AnyTensor& x : input_and_weight(s, dtype, device)) in.push_back(x);
  return in;
}
AnyTensor added_linears(const Tensors& in) {
  return AnyTensor::add(AnyTensor::add(linear({in[0], in[1]}), linear({in[2], in[3]})),
                        linear({in[4], in[5]}));
}

/// The result is bf16.
AnyTensor scaled_linear(const Tensors& in, sn::MatmulPrecision precision) {
  const sn::MatmulPrecisionScope scope(precision);
  const AnyTensor y = in[0].cast(DType::f32).matmul(in[1].cast(DType::f32).transpose(0, 1));
  return AnyTensor::mul(y, AnyTensor::mul(in[2], in[3])).cast(DType::bf16);
}

/// A weight of 16 bits in fewer, which is multiplied as 16: codes and scales are what is in memory.
Tensors of_quantized_layer(const Dims& s, DType dtype, const Device& device, sn::QuantScheme scheme,
                           sn::QuantGranularity granularity) {
  const AnyTensor weight = normal({s[1], s[2]}, dtype, device);
  const sn::QuantizedTensor q =
      sn::quantize(Tensor<2>(weight), {.scheme = scheme, .granularity = granularity});
  const bool is_float = scheme == sn::QuantScheme::fp8;
  return {normal({s[0], s[2]}, dtype, device), ready(is_float ? q.numbers.dynamic() : q.codes.dynamic()),
          ready(q.scales.dynamic())};
}

AnyTensor quantized_linear(const Tensors& in, sn::QuantScheme scheme, sn::QuantGranularity granularity) {
  const bool is_float = scheme == sn::QuantScheme::fp8;
  sn::QuantizedTensor q{.shape = Shape{in[1].shape()[0], in[0].shape()[1]},
                        .dtype = in[0].dtype(),
                        .options = {.scheme = scheme, .granularity = granularity},
                        .codes = {},
                        .numbers = {},
                        .scales = sn::Buffer<2>(in[2]),
                        .quantized_scales = {}};
  if (is_float)
    q.numbers = sn::Buffer<2>(in[1]);
  else
    q.codes = sn::Buffer<2, sn::Int>(in[1]);
  return in[0].matmul(sn::dequantize(q).transpose(0, 1));
}

/// In row-major order in memory. A view alone is never copied, so the elements are multiplied on their way.
AnyTensor stored(const AnyTensor& view) { return AnyTensor::mul(view, 1.0); }

/// Sums of neighbours in a row: of the two operands, one begins off the vectors' alignment.
AnyTensor add_shifted(const AnyTensor& x) {
  const std::int64_t width = x.shape()[1] - 1;
  return AnyTensor::add(x.narrow(1, 0, width), x.narrow(1, 1, width));
}

// ---- the table

/// Elements that are read by index: each once for each read, but at most all of them.
std::int64_t bytes_by_index(const Tensors& in, const Tensors& results) {
  return std::min(bytes_of({in[0]}), bytes_of(results)) + bytes_of({in[1]});
}

using Inputs = decltype(ShapeOperation::inputs);

ShapeOperation of_one(std::string name, std::size_t sizes,
                      std::function<AnyTensor(const AnyTensor&)> record) {
  return {std::move(name), sizes, one, [=](const Tensors& in) { return Tensors{record(in[0])}; }};
}

ShapeOperation of_several(std::string name, std::size_t sizes, Inputs inputs,
                          std::function<AnyTensor(const Tensors&)> record) {
  return {std::move(name), sizes, std::move(inputs), [=](const Tensors& in) { return Tensors{record(in)}; }};
}

ShapeOperation of_quantized(std::string name, sn::QuantScheme scheme, sn::QuantGranularity granularity) {
  return of_several(
      std::move(name), 3,
      [=](const Dims& s, DType dtype, const Device& device) {
        return of_quantized_layer(s, dtype, device, scheme, granularity);
      },
      [=](const Tensors& in) { return quantized_linear(in, scheme, granularity); });
}

ShapeOperation by_index(std::string name, Inputs inputs, std::function<AnyTensor(const Tensors&)> record) {
  ShapeOperation operation = of_several(std::move(name), 3, std::move(inputs), std::move(record));
  operation.bytes_read = bytes_by_index;
  return operation;
}

ShapeOperation added(std::string name, std::function<AnyTensor(const Dims&, const Device&)> index) {
  return {std::move(name), 3,
          [=](const Dims& s, DType dtype, const Device& device) {
            const AnyTensor rows = ready(AnyTensor::full({s[0], 1}, 0, dtype, device));  // says how many
            return Tensors{normal({s[2], s[1]}, dtype, device), index(s, device), rows};
          },
          [](const Tensors& in) {
            const AnyTensor zeros =
                AnyTensor::full({in[2].shape()[0], in[0].shape()[1]}, 0, in[0].dtype(), in[0].device());
            return Tensors{zeros.index_add(0, in[1], in[0])};
          }};
}

ShapeOperation joined(std::string name, std::size_t axis) {
  return of_several(
      std::move(name), 2,
      [=](const Dims& s, DType dtype, const Device& device) { return pieces(s, axis, dtype, device); },
      [=](const Tensors& in) { return AnyTensor::cat(in, static_cast<std::int64_t>(axis)); });
}

std::vector<ShapeOperation> own_operations() {
  return {
      of_one("softmax", 2, [](const AnyTensor& x) { return sn::softmax(x, 1); }),
      {"softmax_backward", 2, of_softmax_backward,
       [](const Tensors& in) { return gradients(sn::softmax(in[0], 1), in, 1); }},
      of_several("layer_norm", 2, of_layer_norm, layer_norm),
      {"layer_norm_backward", 2, of_layer_norm_backward,
       [](const Tensors& in) { return gradients(layer_norm(in), in, 3); }},
      of_several("rms_norm", 2, of_rms_norm, rms_norm),
      {"rms_norm_backward", 2, of_rms_norm_backward,
       [](const Tensors& in) { return gradients(rms_norm(in), in, 2); }},
      of_several("batch_norm", 3, of_channel_norm, batch_norm),
      {"batch_norm_backward", 3, of_channel_norm_backward,
       [](const Tensors& in) { return gradients(batch_norm(in), in, 3); }},
      {"batch_norm_step", 3, of_channel_norm_backward,
       [](const Tensors& in) { return with_gradients(batch_norm(in), in, 3); }},
      of_several("group_norm_32", 3, of_channel_norm, group_norm_32),
      {"group_norm_32_backward", 3, of_channel_norm_backward,
       [](const Tensors& in) { return gradients(group_norm_32(in), in, 3); }},
      {"group_norm_32_step", 3, of_channel_norm_backward,
       [](const Tensors& in) { return with_gradients(group_norm_32(in), in, 3); }},
      of_several("cross_entropy", 2, of_cross_entropy, cross_entropy),
      {"cross_entropy_backward", 2, of_cross_entropy_backward, cross_entropy_backward},

      of_several("matmul", 3, factors, [](const Tensors& in) { return in[0].matmul(in[1]); }),
      of_several("linear", 3, input_and_weight, linear),
      of_several("weight_gradient", 3, gradient_and_input,
                 [](const Tensors& in) { return in[0].transpose(0, 1).matmul(in[1]); }),
      of_several("matmul_batch", 4, factors_of_batch, [](const Tensors& in) { return in[0].matmul(in[1]); }),
      of_several("linear_gelu", 3, of_layer,
                 [](const Tensors& in) { return sn::gelu(AnyTensor::add(linear(in), in[2])); }),
      of_several("linear_residual", 3, of_residual_layer,
                 [](const Tensors& in) { return AnyTensor::add(AnyTensor::add(linear(in), in[2]), in[3]); }),
      of_several("gated_linear", 3, of_gated_layer, gated_linear),
      of_several("added_linears", 3, of_added_layers, added_linears),
      of_several("scaled_linear", 3, of_scaled_layer,
                 [](const Tensors& in) { return scaled_linear(in, sn::MatmulPrecision::High); }),
      of_several("scaled_linear_fast", 3, of_scaled_layer,
                 [](const Tensors& in) { return scaled_linear(in, sn::MatmulPrecision::Medium); }),
      of_several("scaled_linear_exact", 3, of_scaled_layer,
                 [](const Tensors& in) { return scaled_linear(in, sn::MatmulPrecision::Highest); }),
      of_quantized("linear_int8", sn::QuantScheme::int8, sn::QuantGranularity::channel),
      of_quantized("linear_int8_block", sn::QuantScheme::int8, sn::QuantGranularity::block),
      of_quantized("linear_fp8", sn::QuantScheme::fp8, sn::QuantGranularity::channel),
      of_quantized("linear_int4", sn::QuantScheme::int4, sn::QuantGranularity::block),
      of_quantized("linear_nf4", sn::QuantScheme::nf4, sn::QuantGranularity::block),

      of_one("sum_dim0", 2, [](const AnyTensor& x) { return x.sum(0); }),
      of_one("sum_dim1", 2, [](const AnyTensor& x) { return x.sum(1); }),
      of_one("argmax_dim1", 2, [](const AnyTensor& x) { return x.argmax(1); }),
      of_one("sum_middle", 3, [](const AnyTensor& x) { return x.sum(1); }),
      of_one("max_middle", 3, [](const AnyTensor& x) { return x.max(1); }),
      of_one("sum_dims02", 3,
             [](const AnyTensor& x) {
               return x.sum({0, 2});
             }),
      {"var_mean_dims02", 3, one,
       [](const Tensors& in) {
         return Tensors{in[0].var({0, 2}, 0), in[0].mean({0, 2})};
       }},

      of_one("transpose", 2, [](const AnyTensor& x) { return stored(x.transpose(0, 1)); }),
      of_one("add_transposed", 2, [](const AnyTensor& x) { return AnyTensor::add(x, x.transpose(0, 1)); }),
      of_one("permute_021", 3,
             [](const AnyTensor& x) {
               return stored(x.permute({0, 2, 1}));
             }),
      of_one("permute_0213", 4,
             [](const AnyTensor& x) {
               return stored(x.permute({0, 2, 1, 3}));
             }),
      joined("cat_dim0", 0),
      joined("cat_dim1", 1),
      // rows, columns, indices
      by_index(
          "embedding",
          [](const Dims& s, DType dtype, const Device& device) {
            return Tensors{normal({s[0], s[1]}, dtype, device), indices({s[2]}, s[0], device)};
          },
          [](const Tensors& in) { return in[0].index_select(0, in[1]); }),
      by_index(
          "index_select_dim1",
          [](const Dims& s, DType dtype, const Device& device) {
            return Tensors{normal({s[0], s[1]}, dtype, device), indices({s[2]}, s[1], device)};
          },
          [](const Tensors& in) { return in[0].index_select(1, in[1]); }),
      by_index(
          "gather_dim1",
          [](const Dims& s, DType dtype, const Device& device) {
            return Tensors{normal({s[0], s[1]}, dtype, device), indices({s[0], s[2]}, s[1], device)};
          },
          [](const Tensors& in) { return in[0].gather(1, in[1]); }),

      // rows, columns, indices: slices added to zeros at random rows, or all to one; the gradient of an
      // embedding
      added("index_add", [](const Dims& s, const Device& device) { return indices({s[2]}, s[0], device); }),
      added("index_add_alike",
            [](const Dims& s, const Device& device) {
              return ready(AnyTensor::full({s[2]}, s[0] / 2, DType::i64, device));
            }),

      // Values with their i64 positions, along rows.
      {"sort", 2, one, [](const Tensors& in) { return with_positions(sn::sort(in[0], 1)); }},
      of_one("argsort", 2, [](const AnyTensor& x) { return sn::argsort(x, 1); }),
      {"topk_50", 2, one, [](const Tensors& in) { return with_positions(sn::topk(in[0], 50, 1)); }},
      of_one("cumsum", 2, [](const AnyTensor& x) { return sn::cumsum(x, 1); }),

      // Windows of 2 and 3 in steps of 2, without padding.
      of_one("max_pool_2", 4, [](const AnyTensor& x) { return max_pool(x, 2); }),
      of_one("max_pool_3", 4, [](const AnyTensor& x) { return max_pool(x, 3); }),
      of_one("avg_pool_2", 4, [](const AnyTensor& x) { return avg_pool(x, 2); }),
      of_one("avg_pool_3", 4, [](const AnyTensor& x) { return avg_pool(x, 3); }),

      of_one("gelu", 2, [](const AnyTensor& x) { return sn::gelu(x); }),
      of_several("add", 2, two, [](const Tensors& in) { return AnyTensor::add(in[0], in[1]); }),
      of_several("add_row", 2, with_row, [](const Tensors& in) { return AnyTensor::add(in[0], in[1]); }),
      of_several("mul_column", 2, with_column,
                 [](const Tensors& in) { return AnyTensor::mul(in[0], in[1]); }),
      of_one("add_shifted", 2, add_shifted),
  };
}

const std::vector<ShapeOperation>& operations() {
  static const std::vector<ShapeOperation> all = [] {
    std::vector<ShapeOperation> found = own_operations();
    std::ranges::move(convolutions(), std::back_inserter(found));
    return found;
  }();
  return all;
}

}  // namespace

const ShapeOperation& shape_operation(const std::string& name) {
  std::string names;
  for (const ShapeOperation& operation : operations()) {
    if (operation.name == name) return operation;
    names += " " + operation.name;
  }
  throw sn::Error("[shape-bench] there is no operation \"" + name + "\"; there are:" + names);
}

std::int64_t bytes_of(const Tensors& tensors) {
  std::int64_t sum = 0;
  for (const AnyTensor& tensor : tensors)
    sum += tensor.numel() * static_cast<std::int64_t>(sn::size_of(tensor.dtype()));
  return sum;
}

}  // namespace bench
