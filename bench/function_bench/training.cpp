// Layers of sequences, steps of optimizers, and what goes between the host and the device.
#include <cstddef>

#include "bench.h"

namespace function_bench {
namespace {

template <class M>
std::vector<AnyTensor> parameters_of(const M& model) {
  std::vector<AnyTensor> all;
  visit_parameters(model, [&](const std::string&, const auto& tensor) { all.push_back(tensor.dynamic()); });
  return all;
}

/// The layer's result and the gradients of its input and its parameters.
template <class M>
Results trained(const M& layer, const AnyTensor& x, const AnyTensor& seed) {
  std::vector<AnyTensor> of = parameters_of(layer);
  of.push_back(x);
  if constexpr (requires { layer.forward(Tensor<3>(x)).output; })
    return with_gradients(layer.forward(Tensor<3>(x)).output.dynamic(), of, seed);
  else
    return with_gradients(layer.forward(Tensor<3>(x)).dynamic(), of, seed);
}

}  // namespace

void sequences(Bench& b) {
  const Device& plain = b.device();
  const Device device = plain.autodiff();
  const AnyTensor x = b.leaf({32, 64, 256}), seed = b.floats({32, 64, 256}), tokens = b.leaf({16, 256, 512}),
                  tokens_seed = b.floats({16, 256, 512}), long_ = b.floats({16, 256, 512});
  const auto rnn = b.filled(nn::RnnConfig{.d_in = 256, .d_hidden = 256}.init(device));
  const auto gru = b.filled(nn::GruConfig{.d_in = 256, .d_hidden = 256}.init(device));
  const auto lstm = b.filled(nn::LstmConfig{.d_in = 256, .d_hidden = 256}.init(device));
  const auto lstm_plain =
      nn::LstmConfig{.d_in = 512, .d_hidden = 512, .layers = 2, .bidirectional = true}.init(plain);
  const auto attention = b.filled(nn::MultiHeadAttentionConfig{.d_model = 512, .heads = 8}.init(device));
  const nn::TransformerConfig config{
      .d_model = 512, .d_feed_forward = 2048, .heads = 8, .layers = 1, .dropout = 0};
  const auto encoder = b.filled(config.init_encoder(device)), encoder_plain = config.init_encoder(plain);
  b.row("rnn_training", [&] { return trained(rnn, x, seed); });
  b.row("gru_training", [&] { return trained(gru, x, seed); });
  b.row("lstm_training", [&] { return trained(lstm, x, seed); });
  b.row("lstm_2_layers_both_ways",
        [&] { return Results{lstm_plain.forward(Tensor<3>(long_)).output.dynamic()}; });
  b.row("attention_training", [&] { return trained(attention, tokens, tokens_seed); });
  b.row("encoder_layer_training", [&] { return trained(encoder, tokens, tokens_seed); });
  b.row("encoder_layer", [&] { return Results{encoder_plain.forward(Tensor<3>(long_)).dynamic()}; });
}

void steps(Bench& b) {
  constexpr int kParameters = 100;
  std::vector<Tensor<2>> parameters;
  Results given;
  for (int i = 0; i < kParameters; ++i) parameters.push_back(Tensor<2>(b.leaf({256, 256})));
  for (int i = 0; i < kParameters; ++i) given.push_back(b.floats({256, 256}));
  const auto gradients = [&] {
    Gradients all;
    for (int i = 0; i < kParameters; ++i) all.set(parameters[i].dynamic(), given[i]);
    return all;
  };
  const auto row = [&](const char* name, optim::Optimizer optimizer) {
    const std::vector<Tensor<2>> before = parameters;
    b.row(name, [&] {
      optimizer.step(1e-3, parameters, gradients());
      return parameters_of(parameters);
    });
    parameters = before;
  };
  row("sgd_step", optim::SgdConfig{.momentum = 0.9}.init());
  row("adam_step", optim::AdamConfig{}.init());
  row("adamw_step", optim::AdamWConfig{}.init());
  row("rmsprop_step", optim::RmsPropConfig{}.init());
  row("adagrad_step", optim::AdaGradConfig{}.init());
  row("adamw_clipped_step", optim::AdamWConfig{.options = {.clip_norm = 1.0}}.init());
  b.row("clip_by_norm", [&] {
    Gradients all = gradients();
    const Tensor<0> norm = optim::clip_by_norm(all, 1.0);
    Results results;
    for (const Tensor<2>& parameter : parameters) results.push_back(*all.get(parameter.dynamic()));
    results.push_back(norm.dynamic());
    return results;
  });
}

void transfers(Bench& b) {
  const Shape shape{4096, 4096};
  const AnyTensor x = b.floats(shape), few = b.floats({1024});
  const TensorData data = x.to_data();
  std::vector<std::byte> bytes(data.bytes().size());
  b.row("to_device_64mb",
        [&] { return Results{AnyTensor::from_bytes(data.bytes(), shape, DType::f32, b.device())}; });
  b.row("to_host_64mb", [&] {
    x.read_bytes(bytes);
    return Results{x};
  });
  b.row("item", [&] {
    const float value = Tensor<0>(few.sum()).item();
    return Results{AnyTensor::full({}, value, DType::f32, b.device())};
  });
  b.row("100_small_results", [&] {
    Results results;
    for (int i = 0; i < 100; ++i) {
      results.push_back(few * i);
      results.back().sync();
    }
    return results;
  });
}

}  // namespace function_bench
