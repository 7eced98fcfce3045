// A module with layers of several kinds, trained with groups of parameters, a schedule and an average of its
// weights, and by an optimizer of one's own; low-rank matrices, L-BFGS and a loss of sequences.
// docs/modules.md walks through it.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <utility>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

struct Block {
  sn::nn::Linear linear;
  sn::nn::BatchNorm norm;
  sn::nn::Dropout dropout;
  sn::Tensor<2> forward(const sn::Tensor<2>& x) const {
    return dropout.forward(sn::gelu(norm.forward(linear.forward(x))));
  }
};

struct Net {
  Block block;
  sn::nn::Linear head;
  sn::Tensor<2> forward(const sn::Tensor<2>& x) const { return head.forward(block.forward(x)); }
};

Net make_net(const sn::Device& device) {
  return {.block = {.linear = sn::nn::LinearConfig{.d_in = 4, .d_out = 16}.init(device),
                    .norm = sn::nn::BatchNormConfig{.channels = 16}.init(device),
                    .dropout = sn::nn::DropoutConfig{.probability = 0.1}.init(device)},
          .head = sn::nn::LinearConfig{.d_in = 16, .d_out = 1}.init(device)};
}

// An optimizer is a rule for one parameter.
struct SignDescent : sn::optim::Rule {
  const char* name() const override { return "sign_descent"; }
  sn::AnyTensor update(sn::optim::Update& u) const override {
    const auto step = sn::AnyTensor::mul(u.gradient().sign(), u.learning_rate());
    return sn::AnyTensor::sub(u.parameter(), step);
  }
};

struct Frames {
  sn::Tensor<3> logits;
};

}  // namespace

void train(const sn::Device& device) {
  Net net = make_net(device);
  std::cout << sn::describe(net);
  const auto x = sn::Tensor<2>::randn({64, 4}, device.inner());
  const auto y = x.narrow(1, 0, 1) * x.narrow(1, 1, 1);
  const auto loss = [&](const Net& model) { return sn::nn::huber(model.forward(x), y.to_device(device)); };

  auto adamw = sn::optim::AdamWConfig{.weight_decay = 0.01,
                                      .options = {.groups = {{.pattern = "*.bias", .weight_decay = 0}},
                                                  .clip_norm = 1}}
                   .init();
  const auto rate = sn::optim::schedule::cosine(2e-2, 0, 200);
  std::cout << sn::optim::schedule::plot(rate, 200, 40, 4);
  auto average = sn::optim::EmaConfig{.decay = 0.9}.init();
  const double before = loss(sn::nn::valid(net)).item();
  for (int step = 0; step < 200; ++step) {
    adamw.step(rate(step), net, loss(net).backward());
    average.update(net);
  }
  // valid() leaves training: no dropout, and the running statistics of the norm.
  const Net still = sn::nn::valid(average.model(net));
  std::cout << "learned " << (loss(still).item() < 0.5 * before ? "something" : "nothing") << "\n";
}

void freeze(const sn::Device& device) {
  const Net start = make_net(device);
  Net net = sn::nn::freeze(start, "block.*");
  sn::optim::Optimizer descent(SignDescent{});
  const auto x = sn::Tensor<2>::ones({8, 4}, device.inner());
  descent.step(0.1, net, net.forward(x).square().mean().backward());
  std::cout << "the frozen layer is "
            << (sn::nn::equal(net.block.linear, start.block.linear) ? "the same" : "new") << ", the head is "
            << (sn::nn::equal(net.head, start.head) ? "the same" : "new") << "\n";
}

void fine_tune(const sn::Device& device) {
  const Net start = make_net(device);
  Net net = sn::nn::add_lora(start, {"block.linear"}, {.rank = 2});
  std::cout << sn::describe(net);
  const auto x = sn::Tensor<2>::randn({64, 4}, device.inner());
  auto adam = sn::optim::AdamConfig{}.init();
  for (int step = 0; step < 50; ++step)
    adam.step(1e-2, net, sn::nn::mse(net.forward(x), x.narrow(1, 0, 1).to_device(device)).backward());
  const sn::record::Record small = sn::nn::lora_record(net);
  for (const auto& [path, entry] : small.entries())
    std::cout << path << " " << to_string(entry.shape) << "\n";
  const Net merged = sn::nn::valid(sn::nn::merge_lora(net));
  const auto difference = merged.forward(x) - sn::nn::valid(net).forward(x);
  std::cout << "merged, it is " << (difference.abs().max().item() < 1e-4 ? "the same" : "another")
            << " function\n";
}

void fit(const sn::Device& device) {
  sn::nn::Linear line = sn::nn::LinearConfig{.d_in = 3, .d_out = 1}.init(device);
  const auto x = sn::Tensor<2>::randn({100, 3}, device.inner());
  const auto y = (x * 2.0).sum(1) + 1.0;
  auto lbfgs = sn::optim::LbfgsConfig{.strong_wolfe = true}.init();
  lbfgs.step(1, line, [&](const sn::nn::Linear& at) { return sn::nn::mse(at.forward(x), y); });
  std::cout << "after one step of L-BFGS the bias is "
            << (std::abs(line.bias->sum().item() - 1) < 1e-3 ? 1 : 0) << "\n";
}

void align(const sn::Device& device) {
  // 12 frames of 5 classes, of which 0 is the blank; which frames the labels 1, 3, 3 are at is not known.
  auto frames = Frames{sn::Tensor<3>::zeros({12, 1, 5}, device).require_grad()};
  const auto labels = sn::Tensor<2, sn::Int>::from_data({{1, 3, 3}}, device.inner());
  const auto lengths = [&](int n) { return sn::Tensor<1, sn::Int>::full({1}, n, device.inner()); };
  auto adam = sn::optim::AdamConfig{}.init();
  for (int step = 0; step < 60; ++step) {
    const auto loss = sn::nn::ctc(sn::log_softmax(frames.logits, 2), labels, lengths(12), lengths(3));
    adam.step(0.3, frames, loss.backward());
  }
  std::int64_t before = 0;
  std::cout << "read off the frames:";
  for (const std::int64_t best : frames.logits.inner().argmax(2).to_vector<std::int64_t>()) {
    if (best != 0 && best != before) std::cout << " " << best;
    before = best;
  }
  std::cout << "\n";
}

int main() {
  const auto device = sn::Device::best().autodiff();
  device.seed(1);
  train(device);
  freeze(device);
  fine_tune(device);
  fit(device);
  align(device);
}
