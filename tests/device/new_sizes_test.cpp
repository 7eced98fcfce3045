// A training step with a new batch size compiles nothing; one with a new sequence length little.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/runtime/explain/observe.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

/// A step of training with so many examples, each as long (where the model has lengths).
using TrainingStep = std::function<void(std::int64_t batch, std::int64_t length)>;

Tensor<2> normalised(const Tensor<2>& x) {
  const auto centred = x - x.mean(1);
  return centred * ((centred * centred).mean(1) + 1e-5).rsqrt();
}

Tensor<1, Int> labels(std::int64_t count, const Device& device) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i * 7 % 5);
  return Tensor<1, Int>::from_data(numbers, {count}, device);
}

struct Mlp {
  nn::Linear hidden, out;
  nn::Dropout dropout;
  Tensor<2> forward(const Tensor<2>& x) const {
    return out.forward(dropout.forward(normalised(gelu(hidden.forward(x)))));
  }
};

struct Cnn {
  nn::Conv2d conv1, conv2;
  nn::AvgPool2d pool;
  nn::Linear out;
  bool batch_norm;
  Tensor<2> forward(const Tensor<4>& x) const {
    auto y = relu(conv1.forward(x));
    if (batch_norm) {
      const auto centred = y - y.mean({0, 2, 3});
      y = centred * (centred.square().mean({0, 2, 3}) + 1e-5).rsqrt();
    }
    y = pool.forward(y);
    return out.forward(relu(conv2.forward(y)).flatten<2>());
  }
};

/// One block of a transformer over (batch, length, width), and a class for each example.
struct Transformer {
  static constexpr std::int64_t kWidth = 24, kHeads = 3;
  nn::Linear query, key, value, joined, wide, narrow, out;

  Tensor<4> heads(const Tensor<2>& x, std::int64_t batch, std::int64_t length) const {
    return x.reshape({batch, length, kHeads, kWidth / kHeads}).permute({0, 2, 1, 3});
  }
  Tensor<2> forward(const Tensor<3>& x) const {
    const std::int64_t batch = x.shape()[0], length = x.shape()[1];
    const Tensor<2> flat = x.reshape({batch * length, kWidth}), y = normalised(flat);
    const Device plain = x.device().inner();
    const auto at = Tensor<1, Int>::arange(0, length, plain);
    const auto is_later = at.unsqueeze(0) > at.unsqueeze(1);
    auto scores = heads(query.forward(y), batch, length)
                      .matmul(heads(key.forward(y), batch, length).permute({0, 1, 3, 2})) *
                  0.35355;
    scores = where(is_later.unsqueeze(0).unsqueeze(0), -1e9, scores);
    const auto mixed = softmax(scores, 3).matmul(heads(value.forward(y), batch, length));
    const auto with = flat + joined.forward(mixed.permute({0, 2, 1, 3}).reshape({batch * length, kWidth}));
    const auto all = with + narrow.forward(gelu(wide.forward(normalised(with))));
    return out.forward(all.reshape({batch, length, kWidth}).mean(1).reshape({batch, kWidth}));
  }
};

nn::Linear linear(std::int64_t in, std::int64_t out, const Device& device) {
  return nn::LinearConfig{.d_in = in, .d_out = out}.init(device);
}

template <class Model, class Optimizer, class Input>
TrainingStep steps_of(Model model, Optimizer optimizer, Input input) {
  return [model = std::make_shared<Model>(std::move(model)),
          optimizer = std::make_shared<Optimizer>(std::move(optimizer)),
          input](std::int64_t batch, std::int64_t length) {
    const auto x = input(batch, length);
    const auto loss = nn::cross_entropy(model->forward(x), labels(batch, x.device().inner()));
    optimizer->step(1e-3, *model, loss.backward());
    CHECK(std::isfinite(loss.item()));
  };
}

TrainingStep mlp(const Device& device) {
  return steps_of(Mlp{linear(12, 32, device), linear(32, 5, device), {.probability = 0.25, .training = true}},
                  optim::AdamWConfig{}.init(), [=](std::int64_t batch, std::int64_t) {
                    return Tensor<2>::randn({batch, 12}, device);
                  });
}
TrainingStep cnn(const Device& device, bool batch_norm) {
  return steps_of(Cnn{nn::Conv2dConfig{.channels = {1, 4}, .kernel = {3, 3}}.init(device),
                      nn::Conv2dConfig{.channels = {4, 6}, .kernel = {3, 3}}.init(device),
                      {.kernel = {2, 2}},
                      linear(6 * 3 * 3, 5, device),
                      batch_norm},
                  optim::SgdConfig{.momentum = 0.9}.init(), [=](std::int64_t batch, std::int64_t) {
                    return Tensor<4>::randn({batch, 1, 12, 12}, device);
                  });
}
TrainingStep transformer(const Device& device) {
  constexpr std::int64_t kWidth = Transformer::kWidth;
  return steps_of(Transformer{linear(kWidth, kWidth, device), linear(kWidth, kWidth, device),
                              linear(kWidth, kWidth, device), linear(kWidth, kWidth, device),
                              linear(kWidth, 2 * kWidth, device), linear(2 * kWidth, kWidth, device),
                              linear(kWidth, 5, device)},
                  optim::AdamConfig{}.init(), [=](std::int64_t batch, std::int64_t length) {
                    return Tensor<3>::randn({batch, length, kWidth}, device);
                  });
}

/// Kernels that a device has not had before: by their texts, and by what it compiled or had in its caches, as
/// one text may be compiled in several forms.
class NewKernels : public runtime::TraceObserver {
 public:
  explicit NewKernels(const Device& device) : device_(device) { add_observer(*this); }
  ~NewKernels() override { remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override {
    for (const ir::Kernel& kernel : run.plan.kernels) {
      std::string text = ir::to_string(kernel);
      if (!texts_.insert(text).second) continue;
      ++count_;
      last_ += std::move(text);
    }
  }
  /// How many `work` needs; `last` shows their texts.
  std::uint64_t of(const std::function<void()>& work) {
    const auto prepared = [&] {
      const Statistics counts = device_.statistics();
      return counts.kernels_compiled + counts.kernels_from_memory + counts.kernels_from_disk;
    };
    count_ = 0;
    last_.clear();
    const std::uint64_t before = prepared();
    work();
    device_.sync();
    return std::max(count_, prepared() - before);
  }
  const std::string& last() const { return last_; }

 private:
  Device device_;
  std::set<std::string> texts_;
  std::uint64_t count_ = 0;
  std::string last_;
};

/// Where each kernel takes long to compile, one model tells enough.
std::vector<std::pair<std::string, TrainingStep>> models(const Device& device) {
  const Device learning = device.autodiff();
  std::vector<std::pair<std::string, TrainingStep>> all = {{"cnn", cnn(learning, false)}};
  if (compiles_slowly(device)) return all;
  all.emplace_back("mlp", mlp(learning));
  all.emplace_back("transformer", transformer(learning));
  return all;
}

}  // namespace

TEST_CASE("a training step with a new batch size compiles nothing") {
  const Device device = test_device();
  for (const auto& [name, step] : models(device)) {
    NewKernels kernels(device);
    // Even and odd; and twice, as the first step of training is another program than those after it.
    for (int round = 0; round < 2; ++round)
      for (const std::int64_t batch : {32, 48, 33}) kernels.of([&, run = step] { run(batch, 20); });
    for (const std::int64_t batch : {40, 36, 42, 45}) {
      const std::uint64_t some = kernels.of([&, run = step] { run(batch, 20); });
      CHECK_MESSAGE(some == 0, name << ", batch " << batch << ":\n" << kernels.last());
    }
    // Another amount of work is shared among workgroups in another way, and a prime number not at all.
    std::uint64_t all = 0;
    for (const std::int64_t batch : {17, 64, 47, 20}) all += kernels.of([&, run = step] { run(batch, 20); });
    CHECK_MESSAGE(all <= 8, name);
  }
}

TEST_CASE(
    "kernels of their own have a few classes of small batches, and of batches that are normalised over") {
  const Device device = test_device();
  const TrainingStep step = cnn(device.autodiff(), true);
  NewKernels kernels(device);
  for (int round = 0; round < 2; ++round) kernels.of([&] { step(32, 0); });
  const std::int64_t sizes[] = {32, 48, 33, 17, 9, 5, 2, 1};
  std::uint64_t all = 0;
  for (const std::int64_t batch : sizes) all += kernels.of([&] { step(batch, 0); });
  CHECK(all <= 32);
  const std::uint64_t plans = device.statistics().plans_built;
  for (const std::int64_t batch : sizes) CHECK(kernels.of([&] { step(batch, 0); }) == 0);
  CHECK(device.statistics().plans_built == plans);
}

TEST_CASE("a new sequence length compiles what only its class of lengths has") {
  const Device device = test_device();
  if (compiles_slowly(device)) return;
  const TrainingStep step = transformer(device.autodiff());
  NewKernels kernels(device);
  for (int round = 0; round < 2; ++round)
    for (const std::int64_t batch : {32, 48, 33}) kernels.of([&] { step(batch, 20); });
  // The host has a second form of a kernel with short rows, whose lanes run over two loops. It is compiled
  // when there is enough to do for the vectors of this processor.
  const std::uint64_t forms = device.name() == "host" ? 2 : 0;
  std::uint64_t all = 0;
  for (const std::int64_t length : {24, 28, 29, 17, 40, 60}) {
    const std::uint64_t some = kernels.of([&] { step(32, length); });
    all += some;
    CHECK_MESSAGE(some <= 8, "length " << length << ":\n" << kernels.last());
    const std::uint64_t more = kernels.of([&] { step(40, length); });
    CHECK_MESSAGE(more <= forms, "length " << length << ":\n" << kernels.last());
  }
  CHECK(all <= 12);
}

}  // namespace sinter::testing
