// The programs. Sizes are those of small models: large enough that no special case for tiny sizes applies.
#include "tests/support/programs/known_programs.h"

#include <memory>

#include <sinter/sinter.h>

namespace sinter::testing {
namespace {

template <std::size_t R>
Tensor<R> data(const Sizes<R>& sizes, const Device& device) {
  const Shape& shape = sizes;
  return Tensor<R>::from_data(std::vector<float>(static_cast<std::size_t>(shape.numel())), sizes, device);
}

template <std::size_t R>
Tensor<R> parameter(const Sizes<R>& sizes, const Device& device) {
  return data<R>(sizes, device.autodiff()).require_grad();
}

Tensor<1, Int> labels(std::int64_t count, const Device& device) {
  return Tensor<1, Int>::from_data(std::vector<std::int64_t>(static_cast<std::size_t>(count)), {count},
                                   device);
}

// ---- by ops

std::function<std::any()> gelu_by_ops(const Device& device) {
  const auto x = data<2>({512, 256}, device);
  return [=]() -> std::any { return x * ((x * 0.70710678118654752).erf() + 1.0) * 0.5; };
}

std::function<std::any()> chain(const Device& device) {
  const auto x = data<2>({512, 256}, device), row = data<2>({1, 256}, device);
  return [=]() -> std::any {
    Tensor<2> y = x;
    for (int i = 0; i < 15; ++i) y = (y * 1.5 + row).tanh();
    return y;
  };
}

std::function<std::any()> softmax_rows(const Device& device) {
  const auto x = data<2>({512, 256}, device);
  return [=]() -> std::any { return softmax(x, 1); };
}

std::function<std::any()> cross_entropy(const Device& device) {
  const auto x = parameter<2>({512, 256}, device);
  const auto y = labels(512, device);
  return [=]() -> std::any {
    auto loss = nn::cross_entropy(x, y);
    return std::make_pair(loss, *loss.backward().get(x));
  };
}

Tensor<2> normalised(const Tensor<2>& x, const Tensor<1>& weight, const Tensor<1>& bias) {
  const auto centred = x - x.mean(1);
  return centred * (centred.square().mean(1) + 1e-5).rsqrt() * weight.unsqueeze(0) + bias.unsqueeze(0);
}

std::function<std::any()> layer_norm(const Device& device) {
  const auto x = data<2>({512, 256}, device);
  const auto weight = data<1>({256}, device), bias = data<1>({256}, device);
  return [=]() -> std::any { return normalised(x, weight, bias); };
}

std::function<std::any()> layer_norm_gelu(const Device& device) {
  const auto x = parameter<2>({512, 256}, device);
  const auto weight = data<1>({256}, device), bias = data<1>({256}, device);
  return [=]() -> std::any { return *gelu(normalised(x, weight, bias)).sum().backward().get(x); };
}

std::function<std::any()> layer_norm_gelu_affine(const Device& device) {
  const auto x = parameter<2>({512, 256}, device);
  const auto weight = parameter<1>({256}, device), bias = parameter<1>({256}, device);
  return [=]() -> std::any {
    auto gradients = gelu(normalised(x, weight, bias)).sum().backward();
    return std::make_tuple(*gradients.get(x), *gradients.get(weight), *gradients.get(bias));
  };
}

std::function<std::any()> rms_norm(const Device& device) {
  const auto x = data<2>({512, 256}, device);
  const auto weight = data<1>({256}, device);
  return [=]() -> std::any { return x * (x.square().mean(1) + 1e-6).rsqrt() * weight.unsqueeze(0); };
}

std::function<std::any()> batch_norm(const Device& device) {
  const auto x = data<4>({64, 64, 28, 28}, device);
  const auto weight = data<4>({1, 64, 1, 1}, device), bias = data<4>({1, 64, 1, 1}, device);
  return [=]() -> std::any {
    const auto centred = x - x.mean({0, 2, 3});
    return centred * (centred.square().mean({0, 2, 3}) + 1e-5).rsqrt() * weight + bias;
  };
}

std::function<std::any()> sum_of_everything(const Device& device) {
  const auto x = data<1>({1 << 20}, device);
  return [=]() -> std::any { return (x * x).sum(); };
}

std::function<std::any()> sum_of_columns(const Device& device) {
  const auto x = data<2>({4096, 1024}, device);
  return [=]() -> std::any { return (x * 0.5).exp().sum(0); };
}

std::function<std::any()> in_place(const Device& device) {
  auto x = std::make_shared<Tensor<1>>(data<1>({1 << 16}, device));
  return [=]() -> std::any {
    *x = *x * 2.0 + 1.0;
    return *x;
  };
}

/// At a position that moves: the launch goes over that alone.
std::function<std::any()> cache_write(const Device& device) {
  auto cache = std::make_shared<Tensor<3>>(data<3>({8, 512, 64}, device));
  auto position = std::make_shared<std::int64_t>(0);
  const Tensor<3> key = data<3>({8, 1, 64}, device);
  return [=]() -> std::any {
    const std::int64_t at = *position;
    *position += 3;
    (*cache)(all, s(at, at + 1)) = key * 2.0;
    return std::any();
  };
}

std::function<std::any()> cat_of_computed(const Device& device) {
  std::vector<Tensor<2>> inputs;
  for (int i = 0; i < 8; ++i) inputs.push_back(data<2>({64, 32 + i}, device));
  return [=]() -> std::any {
    std::vector<Tensor<2>> pieces;
    for (const auto& x : inputs) pieces.push_back(x.tanh() * 2.0);
    return Tensor<2>::cat(pieces, 1);
  };
}

// ---- optimizers and models

struct Parameters {
  std::vector<Tensor<2>> matrices;
  std::vector<Tensor<1>> vectors;
};

std::function<std::any()> adam(const Device& device) {
  auto model = std::make_shared<Parameters>();
  for (int i = 0; i < 100; ++i) {
    const std::int64_t rows = i < 50 ? 8 + i : 64;
    model->matrices.push_back(parameter<2>({rows, 32}, device));
    model->vectors.push_back(parameter<1>({rows}, device));
  }
  auto optimizer = std::make_shared<optim::Adam>(optim::AdamConfig{}.init());
  return [=]() -> std::any {
    Tensor<0> loss = model->matrices[0].sum();
    for (const auto& matrix : model->matrices) loss = loss + (matrix * matrix).sum();
    for (const auto& vector : model->vectors) loss = loss + (vector * vector).sum();
    auto gradients = loss.backward();
    // Counts only the update.
    device.sync();
    device.reset_statistics();
    optimizer->step(1e-3, *model, std::move(gradients));
    return {};
  };
}

struct LayerNorm {
  Tensor<1> weight, bias;
  Tensor<2> forward(const Tensor<2>& x) const { return normalised(x, weight, bias); }
};
struct Block {
  nn::Linear linear;
  LayerNorm norm;
  Tensor<2> forward(const Tensor<2>& x) const { return norm.forward(gelu(linear.forward(x))); }
};
struct Blocks {
  Block b0, b1, b2, b3;
  Tensor<2> forward(const Tensor<2>& x) const { return b3.forward(b2.forward(b1.forward(b0.forward(x)))); }
};

std::function<std::any()> blocks_step(const Device& plain) {
  const Device device = plain.autodiff();
  auto block = [&] {
    return Block{nn::LinearConfig{.d_in = 256, .d_out = 256}.init(device),
                 {parameter<1>({256}, plain), parameter<1>({256}, plain)}};
  };
  auto model = std::make_shared<Blocks>(Blocks{block(), block(), block(), block()});
  auto optimizer = std::make_shared<optim::Adam>(optim::AdamConfig{}.init());
  const auto x = data<2>({128, 256}, device), y = data<2>({128, 256}, device);
  return [=]() -> std::any {
    auto loss = nn::mse(model->forward(x), y);
    auto gradients = loss.backward();
    optimizer->step(1e-3, *model, std::move(gradients));
    return loss;
  };
}

struct Table {
  Tensor<2> rows;
};

/// The gradient of the table is written nowhere: the optimizer picks its rows from the sums.
std::function<std::any()> embedding_step(const Device& plain) {
  const auto model = std::make_shared<Table>(Table{parameter<2>({5000, 64}, plain)});
  auto optimizer = std::make_shared<optim::Adam>(optim::AdamConfig{}.init());
  const auto tokens = labels(256, plain);
  const auto y = data<2>({256, 64}, plain.autodiff());
  return [=]() -> std::any {
    auto loss = nn::mse(model->rows.index_select(0, tokens), y);
    auto gradients = loss.backward();
    optimizer->step(1e-3, *model, std::move(gradients));
    return loss;
  };
}

struct Cnn {
  nn::Conv2d conv1, conv2;
  nn::AdaptiveAvgPool2d pool;
  nn::Dropout dropout;
  nn::Linear linear1, linear2;
  Tensor<2> forward(const Tensor<4>& images) const {
    auto x = dropout.forward(conv1.forward(images));
    x = pool.forward(relu(dropout.forward(conv2.forward(x))));
    return linear2.forward(relu(dropout.forward(linear1.forward(x.flatten<2>()))));
  }
};

std::function<std::any()> cnn_step(const Device& plain) {
  const Device device = plain.autodiff();
  auto model = std::make_shared<Cnn>(Cnn{nn::Conv2dConfig{.channels = {1, 8}, .kernel = {3, 3}}.init(device),
                                         nn::Conv2dConfig{.channels = {8, 16}, .kernel = {3, 3}}.init(device),
                                         {.output = {8, 8}},
                                         {.probability = 0.5, .training = true},
                                         nn::LinearConfig{.d_in = 1024, .d_out = 512}.init(device),
                                         nn::LinearConfig{.d_in = 512, .d_out = 10}.init(device)});
  auto optimizer = std::make_shared<optim::Adam>(optim::AdamConfig{}.init());
  const auto images = data<4>({64, 1, 28, 28}, device);
  const auto targets = labels(64, plain);
  return [=]() -> std::any {
    auto loss = nn::cross_entropy(model->forward(images), targets);
    auto gradients = loss.backward();
    optimizer->step(1e-3, *model, std::move(gradients));
    return loss;
  };
}

}  // namespace

const std::vector<KnownProgram>& known_programs() {
  static const std::vector<KnownProgram> programs = {
      {"gelu", 1, gelu_by_ops},
      {"chain30", 1, chain},
      {"softmax", 1, softmax_rows},
      {"cross_entropy_forward_backward", 2, cross_entropy},
      {"layer_norm", 1, layer_norm},
      {"layer_norm_gelu_forward_backward", 1, layer_norm_gelu},
      {"layer_norm_gelu_forward_backward_affine", 2, layer_norm_gelu_affine},
      {"rms_norm", 1, rms_norm},
      {"batch_norm", 2, batch_norm},
      {"sum_of_squares", 1, sum_of_everything},
      {"sum_of_columns", 1, sum_of_columns},
      {"in_place", 1, in_place},
      {"cache_write", 1, cache_write},
      {"cat_8_computed", 1, cat_of_computed},
      {"adam_200_parameters", 4, adam},
      {"embedding_step", 6, embedding_step},
      {"linear_gelu_layer_norm_4_step", 40, blocks_step},
      {"guide_cnn_step", 25, cnn_step},
  };
  return programs;
}

}  // namespace sinter::testing
