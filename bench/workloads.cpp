// The benchmark programs, written like a user would: plain ops, no hints.
#include <chrono>
#include <cstdint>
#include <memory>

#include <sinter/sinter.h>

#include "attention.h"
#include "first_step.h"
#include "loops.h"
#include "models/decode.h"
#include "models/recurrent.h"
#include "models/training.h"
#include "models/transformer.h"
#include "models/vision.h"
#include "modules.h"
#include "threads.h"
#include "workload.h"

namespace bench {

namespace sn = sinter;
using sn::Device;
using sn::Tensor;

Tensor<1> gelu_by_ops(const Tensor<1>& x) { return x * ((x * 0.70710678118654752).erf() + 1.0) * 0.5; }

/// A function, like in a program: its local tensors are released when it returns, so the planner need not
/// store them.
Tensor<1> chain(const Tensor<1>& x, const Tensor<1>& a, const Tensor<1>& b) {
  auto y = gelu_by_ops(x) * a + b;
  y = y.tanh() * x.sigmoid() - a * 0.5;
  return sn::where(y > 0.0, y, y * 0.01) + (b.abs() + 1e-3).sqrt();
}

void adam_by_ops(AdamState& state, const Tensor<1>& g) {
  state.m = state.m * 0.9 + g * 0.1;
  state.v = state.v * 0.999 + g * g * 0.001;
  state.p = state.p - state.m / (state.v.sqrt() + 1e-8) * 1e-3;
}

namespace {

constexpr std::int64_t kMi = 1 << 20;

std::int64_t large(const Device& device) { return device.name() == "host" ? 16 * kMi : 64 * kMi; }

/// Computed at setup, so that making the operands is not measured.
template <std::size_t R, class K>
Tensor<R, K> ready(Tensor<R, K> x) {
  x.sync();
  return x;
}

Tensor<1> normal(std::int64_t n, const Device& device, sn::DType dtype) {
  return ready(Tensor<1>::randn({n}, device).to_float(dtype));
}
Tensor<2> normal(std::int64_t rows, std::int64_t columns, const Device& device, sn::DType dtype) {
  return ready(Tensor<2>::randn({rows, columns}, device).to_float(dtype));
}

std::function<void()> gelu(const Device& device, sn::DType dtype) {
  auto x = normal(large(device), device, dtype);
  return [=] { gelu_by_ops(x).sync(); };
}

std::function<void()> gelu_tanh_ab(const Device& device) {
  const std::int64_t n = large(device);
  auto x = ready(Tensor<1>::randn({n}, device)), a = ready(Tensor<1>::randn({n}, device)),
       b = ready(Tensor<1>::randn({n}, device));
  return [=] { (sn::gelu_tanh(x) * a + b).sync(); };
}

std::function<void()> chain20(const Device& device, sn::DType dtype) {
  const std::int64_t n = large(device);
  auto x = normal(n, device, dtype), a = normal(n, device, dtype), b = normal(n, device, dtype);
  return [=] { chain(x, a, b).sync(); };
}

std::function<void()> adam(const Device& device, sn::DType dtype) {
  const std::int64_t n = large(device);
  auto zeros = [&] { return ready(Tensor<1>::zeros({n}, device).to_float(dtype)); };
  auto state = std::make_shared<AdamState>(AdamState{normal(n, device, dtype), zeros(), zeros()});
  auto g = normal(n, device, dtype);
  return [=] {
    adam_by_ops(*state, g);
    state->p.sync();
  };
}

std::function<void()> softmax(const Device& device, sn::DType dtype) {
  const bool host = device.name() == "host";
  auto x = normal(host ? 4096 : 8192, host ? 1024 : 4096, device, dtype);
  return [=] { sn::softmax(x, 1).sync(); };
}

Tensor<2> normalised(const Tensor<2>& x, const Tensor<2>& weight, const Tensor<2>& bias) {
  auto centred = x - x.mean(1);
  return centred * ((centred * centred).mean(1) + 1e-5).rsqrt() * weight + bias;
}

std::function<void()> layernorm(const Device& device, sn::DType dtype) {
  const std::int64_t rows = device.name() == "host" ? 4096 : 8192,
                     columns = device.name() == "host" ? 1024 : 4096;
  auto x = normal(rows, columns, device, dtype);
  auto w = normal(1, columns, device, dtype), b = normal(1, columns, device, dtype);
  return [=] { normalised(x, w, b).sync(); };
}

Tensor<2> gradient_of_gelu_of_layernorm(const Tensor<2>& x, const Tensor<2>& weight, const Tensor<2>& bias) {
  auto loss = sn::gelu(normalised(x, weight, bias)).sum();
  return *loss.backward().get(x);
}

std::function<void()> layernorm_gelu_fwd_bwd(const Device& device, sn::DType dtype) {
  const std::int64_t rows = device.name() == "host" ? 4096 : 8192,
                     columns = device.name() == "host" ? 1024 : 4096;
  auto x = normal(rows, columns, device.autodiff(), dtype).require_grad();
  auto w = normal(1, columns, device, dtype), b = normal(1, columns, device, dtype);
  return [=] { gradient_of_gelu_of_layernorm(x, w, b).sync(); };
}

std::function<void()> sum_all(const Device& device, sn::DType dtype) {
  auto x = normal(large(device), device, dtype);
  return [=] { x.sum().sync(); };
}

std::function<void()> sum_dim0(const Device& device) {
  const bool host = device.name() == "host";
  auto x = ready(Tensor<2>::randn({host ? 4096 : 8192, host ? 1024 : 4096}, device));
  return [=] { x.sum(0).sync(); };
}

std::function<void()> matmul_gelu(const Device& device) {
  auto a = ready(Tensor<2>::randn({1024, 4096}, device)), b = ready(Tensor<2>::randn({4096, 1024}, device)),
       bias = ready(Tensor<2>::randn({1, 1024}, device));
  return [=] { gelu(a.matmul(b) + bias).sync(); };
}

std::function<void()> matmul(const Device& device, std::int64_t m, std::int64_t k, std::int64_t n,
                             sn::DType dtype = sn::DType::f32) {
  auto a = ready(Tensor<2>::randn({m, k}, device).cast(dtype)),
       b = ready(Tensor<2>::randn({k, n}, device).cast(dtype));
  return [=] { a.matmul(b).sync(); };
}

/// Of i8, the sums in f32; the second factor lies along k.
std::function<std::function<void()>(const Device&)> product_of_bytes(std::int64_t rows, std::int64_t size) {
  return [=](const Device& device) -> std::function<void()> {
    const auto bytes = [&](std::int64_t m) {
      sn::AnyTensor made = sn::AnyTensor::normal({m, size}, 0, 20, device).cast(sn::DType::i8);
      made.sync();
      return made;
    };
    const sn::AnyTensor a = bytes(rows), b = bytes(size);
    return [=] {
      const sn::AnyTensor c = a.cast(sn::DType::f32).matmul(b.cast(sn::DType::f32).transpose(0, 1));
      c.sync();  // by when nobody has the casts any more
    };
  };
}

std::function<std::function<void()>(const Device&)> product_of_rows(std::int64_t rows, sn::DType dtype) {
  return [=](const Device& device) { return matmul(device, rows, 4096, 4096, dtype); };
}

struct Cnn {
  sn::nn::Conv2d conv1, conv2;
  sn::nn::AdaptiveAvgPool2d pool;
  sn::nn::Dropout dropout;
  sn::nn::Linear linear1, linear2;

  Tensor<2> forward(const Tensor<4>& images) const {
    auto x = dropout.forward(conv1.forward(images));
    x = pool.forward(sn::relu(dropout.forward(conv2.forward(x))));
    return linear2.forward(sn::relu(dropout.forward(linear1.forward(x.flatten<2>()))));
  }
};

struct LayerNorm {
  Tensor<1> weight, bias;
  Tensor<2> forward(const Tensor<2>& x) const {
    return normalised(x, weight.unsqueeze(0), bias.unsqueeze(0));
  }
};

struct Mlp {
  sn::nn::Linear linear1, linear2, linear3;
  LayerNorm norm1, norm2;
  Tensor<2> forward(const Tensor<2>& x) const {
    auto y = norm1.forward(sn::gelu(linear1.forward(x)));
    return linear3.forward(norm2.forward(sn::gelu(linear2.forward(y))));
  }
};

/// Learns to tell ten classes apart.
template <class Model, class Input>
std::function<void()> classifier_step(Model model, sn::optim::Adam adam, Input x, Tensor<1, sn::Int> y) {
  return training_step(std::move(model), std::move(adam), 1e-3, std::nullopt,
                       [=](const Model& network) { return sn::nn::cross_entropy(network.forward(x), y); });
}

Tensor<1, sn::Int> labels(std::int64_t count, const Device& device) {
  return ready((Tensor<1>::rand({count}, device) * 10.0).floor().to_int());
}

std::function<void()> cnn_step(const Device& plain) {
  const Device device = plain.autodiff();
  Cnn model{sn::nn::Conv2dConfig{.channels = {1, 8}, .kernel = {3, 3}}.init(device),
            sn::nn::Conv2dConfig{.channels = {8, 16}, .kernel = {3, 3}}.init(device),
            {.output = {8, 8}},
            {.probability = 0.5, .training = true},
            sn::nn::LinearConfig{.d_in = 1024, .d_out = 512}.init(device),
            sn::nn::LinearConfig{.d_in = 512, .d_out = 10}.init(device)};
  return classifier_step(std::move(model), sn::optim::AdamConfig{}.init(),
                         ready(Tensor<4>::randn({64, 1, 28, 28}, device)), labels(64, device));
}

std::function<void()> mlp_step(const Device& plain) {
  const Device device = plain.autodiff();
  auto norm = [&] {
    return LayerNorm{Tensor<1>::ones({512}, device).require_grad(),
                     Tensor<1>::zeros({512}, device).require_grad()};
  };
  Mlp model{sn::nn::LinearConfig{.d_in = 784, .d_out = 512}.init(device),
            sn::nn::LinearConfig{.d_in = 512, .d_out = 512}.init(device),
            sn::nn::LinearConfig{.d_in = 512, .d_out = 10}.init(device), norm(), norm()};
  return classifier_step(std::move(model), sn::optim::AdamWConfig{}.init(),
                         ready(Tensor<2>::randn({256, 784}, device)), labels(256, device));
}

GptSize char_gpt(const Device& device) { return device.name() == "host" ? kCharGptOfHost : kCharGpt; }

constexpr int kTinyOps = 1000;
// Of f32 that is not rounded.
constexpr Attention kExactAttention{.dtype = sn::DType::f32, .precision = sn::MatmulPrecision::Highest};

std::function<void()> tiny_ops(const Device& device) {
  auto x = ready(Tensor<1>::randn({16}, device));
  return [=] {
    auto y = x;
    for (int i = 0; i < kTinyOps; ++i) y = y + 1.0;
    y.sync();
  };
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The host runs launches in the calling thread, so host overhead is measured on the null device instead.
Device asynchronous(const Device& device) { return device.name() == "host" ? Device::null() : device; }

std::function<double()> recording(const Device& given) {
  const Device device = asynchronous(given);
  auto x = ready(Tensor<1>::zeros({16}, device));
  return [=] {
    auto y = x;
    const double seconds = seconds_of([&] {
      for (int i = 0; i < kTinyOps; ++i) y = y + x;
    });
    y.sync();
    return seconds;
  };
}

std::function<double()> replay(const Device& given) {
  const Device device = asynchronous(given);
  std::vector<Tensor<1>> inputs;
  for (int i = 0; i < 10; ++i) inputs.push_back(ready(Tensor<1>::zeros({16}, device)));
  return [=] {
    // Ten different kernels, and ten results.
    std::vector<Tensor<1>> kept;
    for (int i = 0; i < 10; ++i) {
      auto y = inputs[static_cast<std::size_t>(i)] + 1.0;
      for (int k = 0; k < 9; ++k) y = k < i ? y * 0.5 : y + 0.5;
      kept.push_back(y);
    }
    return seconds_of([&] { device.flush(); });
  };
}

using Make = std::function<void()> (*)(const Device&, sn::DType);
std::function<std::function<void()>(const Device&)> f32(Make make) {
  return [=](const Device& device) { return make(device, sn::DType::f32); };
}
std::function<std::function<void()>(const Device&)> bf16(Make make) {
  return [=](const Device& device) { return make(device, sn::DType::bf16); };
}

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> rows = {
        {"gelu", "x * (erf(x / sqrt 2) + 1) / 2 by ops", 32, 1, "ms", f32(gelu)},
        {"gelu_tanh_ab", "gelu(x) * a + b, tanh form", 16, 1, "ms", gelu_tanh_ab},
        {"chain20", "about 20 elementwise ops, 3 in, 1 out", 16, 1, "ms", f32(chain20)},
        {"adam", "Adam by ops, 4 in, 3 out", 16, 1, "ms", f32(adam)},
        {"softmax", "softmax by ops over rows", 64, 1, "ms", f32(softmax)},
        {"layernorm", "layer norm by ops over rows", 64, 1, "ms", f32(layernorm)},
        {"layernorm_gelu_fwd_bwd", "layer norm and gelu, forward and backward to x", 64, 1, "ms",
         f32(layernorm_gelu_fwd_bwd)},
        {"gelu_bf16", "gelu, bf16", 32, 1, "ms", bf16(gelu)},
        {"chain20_bf16", "chain20, bf16", 16, 1, "ms", bf16(chain20)},
        {"adam_bf16", "adam, bf16", 16, 1, "ms", bf16(adam)},
        {"softmax_bf16", "softmax, bf16", 64, 1, "ms", bf16(softmax)},
        {"layernorm_bf16", "layernorm, bf16", 64, 1, "ms", bf16(layernorm)},
        {"layernorm_gelu_fwd_bwd_bf16", "layernorm_gelu_fwd_bwd, bf16", 64, 1, "ms",
         bf16(layernorm_gelu_fwd_bwd)},
        {"sum_all", "sum of all elements", 64, 1, "ms", f32(sum_all)},
        {"sum_all_bf16", "sum_all, bf16", 64, 1, "ms", bf16(sum_all)},
        {"sum_dim0", "sum over rows", 64, 1, "ms", sum_dim0},
        {"matmul_1024", "1024^3 f32", 8, 1, "ms",
         [](const Device& device) { return matmul(device, 1024, 1024, 1024); }},
        {"matmul_1024_bf16", "1024^3 bf16", 8, 1, "ms",
         [](const Device& device) { return matmul(device, 1024, 1024, 1024, sn::DType::bf16); }},
        {"matmul_1024_i8", "1024^3 i8, sums in f32", 8, 1, "ms", product_of_bytes(1024, 1024)},
        {"matmul_gelu", "gelu of 1024 x 4096 x 1024 and a bias, f32", 4, 1, "ms", matmul_gelu},
        {"matmul_4096", "4096^3 f32", 2, 1, "ms",
         [](const Device& device) { return matmul(device, 4096, 4096, 4096); }},
        {"matmul_64_rows", "64 x 4096 x 4096 f32", 8, 1, "ms", product_of_rows(64, sn::DType::f32)},
        {"matmul_64_rows_bf16", "the same, bf16", 8, 1, "ms", product_of_rows(64, sn::DType::bf16)},
        {"matmul_64_rows_i8", "the same, i8, sums in f32", 8, 1, "ms", product_of_bytes(64, 4096)},
        {"matmul_16_rows", "16 x 4096 x 4096 f32", 8, 1, "ms", product_of_rows(16, sn::DType::f32)},
        {"matmul_16_rows_bf16", "the same, bf16", 8, 1, "ms", product_of_rows(16, sn::DType::bf16)},
        {"matmul_1_row", "1 x 4096 x 4096 f32", 8, 1, "ms", product_of_rows(1, sn::DType::f32)},
        {"matmul_1_row_bf16", "the same, bf16", 8, 1, "ms", product_of_rows(1, sn::DType::bf16)},
        {"matmul_1_row_i8", "the same, i8, sums in f32", 8, 1, "ms", product_of_bytes(1, 4096)},
        {"cnn_step", "guide's CNN, batch 64, training step", 50, 1, "ms", cnn_step},
        {"mlp_step", "784-512-512-10 with layer norms, batch 256, AdamW step", 20, 1, "ms", mlp_step},
        {"transformer_step", "GPT of 4 layers of width 256, 8 x 128 tokens, AdamW step", 5, 1, "ms",
         [](const Device& device) { return transformer_step(device, kSmallGpt); }},
        {"char_gpt_step", "GPT of 10 M parameters, 64 x 256 characters (host: 0.8 M, 16 x 64), AdamW step",
         10, 1, "ms", [](const Device& device) { return transformer_step(device, char_gpt(device)); }},
        {"char_gpt_bf16_step", "char_gpt_step under Autocast", 10, 1, "ms",
         [](const Device& device) { return transformer_step(device, char_gpt(device), sn::DType::bf16); }},
        {"attention", "causal attention, bf16, 8 x 16 heads (host: 8), 2048 x 64", 32, 1, "ms",
         [](const Device& device) { return attention(device, {}); }},
        {"attention_fwd_bwd", "attention with its gradients", 32, 1, "ms",
         [](const Device& device) { return attention(device, {.gradients = true}); }},
        {"attention_256", "attention, 64 x 6 heads (host: 6), 256 x 64", 32, 1, "ms",
         [](const Device& device) { return attention(device, {.is_short = true}); }},
        {"attention_256_fwd_bwd", "attention_256 with its gradients", 32, 1, "ms",
         [](const Device& device) { return attention(device, {.gradients = true, .is_short = true}); }},
        {"attention_tf32", "attention, f32 rounded to tf32", 32, 1, "ms",
         [](const Device& device) { return attention(device, {.dtype = sn::DType::f32}); }, nullptr,
         Workload::Needs::Gpu},
        {"attention_tf32_fwd_bwd", "attention_tf32 with its gradients", 32, 1, "ms",
         [](const Device& device) { return attention(device, {.dtype = sn::DType::f32, .gradients = true}); },
         nullptr, Workload::Needs::Gpu},
        {"attention_f32", "attention, f32 that is not rounded", 32, 1, "ms",
         [](const Device& device) { return attention(device, kExactAttention); }},
        {"attention_f32_full", "the same without a mask", 32, 1, "ms",
         [](const Device& device) {
           Attention what = kExactAttention;
           what.causal = false;
           return attention(device, what);
         }},
        {"attention_f32_fwd_bwd", "attention_f32 with its gradients", 32, 1, "ms",
         [](const Device& device) {
           Attention what = kExactAttention;
           what.gradients = true;
           return attention(device, what);
         }},
        {"attention_f32_full_fwd_bwd", "attention_f32_full with its gradients", 32, 1, "ms",
         [](const Device& device) {
           Attention what = kExactAttention;
           what.gradients = true;
           what.causal = false;
           return attention(device, what);
         }},
        {"record_us_per_op", "one elementwise op recorded (host: null device)", 4, kTinyOps, "us", nullptr,
         recording},
        {"replay_us_100_ops",
         "a known trace of 100 ops and 10 launches, from flush to handed over (host: null device)", 100, 1,
         "us", nullptr, replay},
        {"first_step_cold_s", "process start to the end of the CNN's first step, nothing cached", 1, 1, "s",
         nullptr, [](const Device& device) { return first_step(device, "cnn_step", false); }},
        {"first_step_warm_s", "the same with kernels on disk", 1, 1, "s", nullptr,
         [](const Device& device) { return first_step(device, "cnn_step", true); }},
        {"resnet18_step", "ResNet-18, 32 x 32 images (host: 16, else 256), SGD step", 10, 1, "ms",
         [](const Device& device) { return resnet18_step(device); }},
        {"resnet18_bf16_step", "resnet18_step under Autocast", 10, 1, "ms",
         [](const Device& device) { return resnet18_step(device, sn::DType::bf16); }},
        {"resnet18_strided_step", "the same with torchvision's first layers, which leave 8 x 8 pixels", 10, 1,
         "ms", [](const Device& device) { return resnet18_step(device, std::nullopt, true); }},
        {"resnet18_strided_bf16_step", "resnet18_strided_step under Autocast", 10, 1, "ms",
         [](const Device& device) { return resnet18_step(device, sn::DType::bf16, true); }},
        {"resnet18_first_step_cold_s", "process start to the end of ResNet-18's first step, nothing cached",
         1, 1, "s", nullptr, [](const Device& device) { return first_step(device, "resnet18_step", false); }},
        {"resnet18_first_step_warm_s", "the same with kernels on disk", 1, 1, "s", nullptr,
         [](const Device& device) { return first_step(device, "resnet18_step", true); }},
        {"gpt2_step", "GPT-2 of 124 M parameters, 8 x 1024 tokens, AdamW step", 10, 1, "ms",
         [](const Device& device) { return transformer_step(device, kGpt2); }, nullptr, Workload::Needs::Gpu},
        {"gpt2_bf16_step", "gpt2_step under Autocast", 10, 1, "ms",
         [](const Device& device) { return transformer_step(device, kGpt2, sn::DType::bf16); }, nullptr,
         Workload::Needs::Gpu},
        {"gpt2_first_step_cold_s", "process start to the end of GPT-2's first step in bf16, nothing cached",
         1, 1, "s", nullptr, [](const Device& device) { return first_step(device, "gpt2_bf16_step", false); },
         Workload::Needs::Gpu},
        {"gpt2_first_step_warm_s", "the same with kernels on disk", 1, 1, "s", nullptr,
         [](const Device& device) { return first_step(device, "gpt2_bf16_step", true); },
         Workload::Needs::Gpu},
        {"resnet50_bf16_step", "ResNet-50 under Autocast, 64 images of 224 x 224, SGD step", 10, 1, "ms",
         [](const Device& device) { return resnet50_step(device, sn::DType::bf16); }, nullptr,
         Workload::Needs::Gpu},
        {"vit_bf16_step", "ViT-S/16 under Autocast, 64 images of 224 x 224, AdamW step", 10, 1, "ms",
         [](const Device& device) { return vit_step(device, sn::DType::bf16); }, nullptr,
         Workload::Needs::Gpu},
        {"unet_step", "U-Net of 31 M parameters, 16 images of 64 x 64, AdamW step", 10, 1, "ms",
         [](const Device& device) { return unet_step(device); }, nullptr, Workload::Needs::Gpu},
        {"unet_bf16_step", "unet_step under Autocast", 10, 1, "ms",
         [](const Device& device) { return unet_step(device, sn::DType::bf16); }, nullptr,
         Workload::Needs::Gpu},
        {"lstm_step", "LSTM of 2 x 512, 64 sequences of 128, AdamW step", 10, 1, "ms",
         [](const Device& device) { return lstm_step(device); }, nullptr, Workload::Needs::Gpu},
        {"lstm_bf16_step", "lstm_step under Autocast", 10, 1, "ms",
         [](const Device& device) { return lstm_step(device, sn::DType::bf16); }, nullptr,
         Workload::Needs::Gpu},
        {"gpt2_decode_bf16", "GPT-2 of 124 M parameters in bf16, one token, room for 256 positions", 32, 1,
         "ms", [](const Device& device) { return decode_tokens(device, kGpt2Token, sn::DType::bf16, 128); }},
        {"gpt2_decode_1000_bf16", "the same after 896 to 1,023 tokens", 32, 1, "ms",
         [](const Device& device) { return decode_tokens(device, kGpt2LateToken, sn::DType::bf16, 896); }},
        {"evaluation_1_thread", "two small ops, recorded and run, again and again", 1, 1, "us", nullptr,
         [](const Device& device) { return evaluations(device, 1); }},
        {"evaluation_2_threads", "the same in two threads: time for one evaluation, of both together", 1, 1,
         "us", nullptr, [](const Device& device) { return evaluations(device, 2); }},
        {"evaluation_4_threads", "the same in four threads", 1, 1, "us", nullptr,
         [](const Device& device) { return evaluations(device, 4); }},
        {"step_1500_ops", "a known step of 1,500 small ops", 1, 1, "ms", nullptr,
         [](const Device& device) { return step_beside(device, false); }},
        {"step_beside_new_shapes", "the same beside a thread that evaluates ever new shapes", 1, 1, "ms",
         nullptr, [](const Device& device) { return step_beside(device, true); }},
        {"module_overhead", "an MLP recorded as modules, of the same as plain operations (host: null device)",
         20, 1, "x", nullptr, [](const Device& device) { return module_overhead(asynchronous(device)); }},
        {"host_us_per_op", "one tiny op, recorded and run", 4, kTinyOps, "us", tiny_ops},
    };
    for (Workload& row : loop_rows()) rows.push_back(std::move(row));
    return rows;
  }();
  return all;
}

}  // namespace bench
