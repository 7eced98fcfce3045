// Optimizers: groups of parameters, several optimizers for one model, accumulated gradients, averages of
// weights, rates that change. docs/optimizers.md walks through it.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <utility>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

struct Net {
  sn::nn::Embedding words;
  sn::nn::Linear hidden;
  sn::nn::LayerNorm norm;
  sn::nn::Linear head;

  sn::Tensor<2> forward(const sn::Tensor<1, sn::Int>& x) const {
    return head.forward(sn::gelu(norm.forward(hidden.forward(words.forward(x)))));
  }
};

Net make_net(const sn::Device& device) {
  return {.words = sn::nn::EmbeddingConfig{.n_embedding = 20, .d_model = 8}.init(device),
          .hidden = sn::nn::LinearConfig{.d_in = 8, .d_out = 16}.init(device),
          .norm = sn::nn::LayerNormConfig{.d_model = 16}.init(device),
          .head = sn::nn::LinearConfig{.d_in = 16, .d_out = 5}.init(device)};
}

/// The remainder by 5 of each of the twenty words.
sn::Tensor<0> loss_of(const Net& net) {
  const auto words = sn::Tensor<1, sn::Int>::arange(0, 20, 1, net.head.weight.device());
  return sn::nn::cross_entropy(net.forward(words), words % 5);
}

const char* said(bool yes) { return yes ? "yes" : "no"; }

}  // namespace

void groups(const sn::Device& device) {
  Net net = make_net(device);
  // No decay for vectors; the table of words at a tenth of the rate. Of two patterns that fit the first
  // counts.
  auto adamw = sn::optim::AdamWConfig{.weight_decay = 0.1,
                                      .options = {.groups = {{.pattern = "*.bias", .weight_decay = 0},
                                                             {.pattern = "norm.*", .weight_decay = 0},
                                                             {.pattern = "words.*", .learning_rate = 0.1}},
                                                  .clip_norm = 1}}
                   .init();
  // A rate that rises for 20 steps and falls along a cosine.
  const auto rate = sn::optim::schedule::product(
      {sn::optim::schedule::linear(0, 1, 20), sn::optim::schedule::cosine(0.05, 0, 200)});
  std::cout << sn::optim::schedule::plot(rate, 200, 40, 4);
  for (int step = 0; step < 200; ++step) adamw.step(rate(step), net, loss_of(net).backward());
  std::cout << "learned: " << said(loss_of(net).item() < 0.1) << "\n";
}

void several(const sn::Device& device) {
  Net net = make_net(device);
  // Muon for the matrices in the middle, Adam for all else: each leaves the other its part.
  auto muon = sn::optim::MuonConfig{.options = {.groups = {{.pattern = "hidden.weight"},
                                                           {.pattern = "*", .skip = true}}}}
                  .init();
  auto adam =
      sn::optim::AdamConfig{.options = {.groups = {{.pattern = "hidden.weight", .skip = true}}}}.init();
  for (int step = 0; step < 100; ++step) {
    sn::Gradients gradients = loss_of(net).backward();
    muon.step(0.02, net, std::move(gradients));
    adam.step(0.02, net, std::move(gradients));
  }
  std::cout << "two optimizers learned: " << said(loss_of(net).item() < 0.1) << "\n";
}

void accumulate(const sn::Device& device) {
  Net net = make_net(device);
  auto adam = sn::optim::AdamConfig{}.init();
  auto average = sn::optim::EmaConfig{.decay = 0.9}.init();
  sn::optim::GradientAccumulator sum;
  for (int step = 0; step < 100; ++step) {
    // Four batches for a step, as one of four times the size.
    for (int batch = 0; batch < 4; ++batch) sum.add(loss_of(net).backward(), 1.0 / 4);
    adam.step(0.02, net, sum.take());
    average.update(net);
  }
  std::cout << "the average is as good: " << said(loss_of(average.model(net)).item() < 0.2) << "\n";
}

void plateau() {
  sn::optim::ReduceOnPlateau rate{.rate = 0.1, .factor = 0.5, .patience = 1};
  for (const double loss : {1.0, 0.9, 0.95, 0.92, 0.8})
    std::cout << "loss " << loss << ": rate " << rate.next(loss) << "\n";
}

void mistakes(const sn::Device& device) {
  Net net = make_net(device);
  auto sgd = sn::optim::SgdConfig{.options = {.groups = {{.pattern = "decoder.*"}}}}.init();
  try {
    sgd.step(0.1, net, loss_of(net).backward());
  } catch (const sn::Error& error) {
    const std::string message = error.what();
    std::cout << message.substr(0, message.find(" (")) << "\n";
  }
}

int main() {
  const auto device = sn::Device::best().autodiff();
  device.seed(1);
  groups(device);
  several(device);
  accumulate(device);
  plateau();
  mistakes(device);
}
