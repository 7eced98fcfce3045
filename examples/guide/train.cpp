// Training and testing. Only reading a number for display waits for the device.
#include "train.h"

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>

#include <sinter/optim.h>

#include "progress.h"

namespace guide {
namespace {

using sn::data::DataLoaderConfig;
using sn::data::ImageBatcher;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kTestBatch = 1000;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  char text[200];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

// Running sums of loss and accuracy. They are on the device: adding to them is recorded like any operation,
// and only reading them waits.
class Score {
 public:
  explicit Score(const sn::Device& device)
      : loss_(sn::Tensor<0>::from_data(0.0, device)), correct_(sn::Tensor<0>::from_data(0.0, device)) {}

  void add(const sn::Tensor<0>& loss, const sn::Tensor<2>& logits, const sn::Tensor<1, sn::Int>& labels) {
    auto right = logits.inner().argmax(1).squeeze(1) == labels.inner();
    loss_ = loss_ + loss.inner() * static_cast<double>(labels.shape()[0]);
    correct_ = correct_ + right.cast<sn::Float>().sum();
    images_ += static_cast<std::size_t>(labels.shape()[0]);
  }

  std::size_t images() const { return images_; }
  struct Read {
    double loss, accuracy;
  };
  // Means of both; the accuracy in percent.
  Read read() const {
    double count = static_cast<double>(images_);
    return {loss_.item() / count, 100 * correct_.item() / count};
  }

 private:
  sn::Tensor<0> loss_, correct_;
  std::size_t images_ = 0;
};

Score::Read test(const Cnn& model, const Images& images, const sn::Device& device) {
  Cnn still = sn::nn::valid(model);  // without autodiff, and so without dropout
  auto loader = DataLoaderConfig{.batch_size = kTestBatch}.init(
      images.sets.test, ImageBatcher{device.inner(), images.mean, images.deviation});
  Score score(device.inner());
  for (auto batch : loader.epoch()) {
    auto logits = still.forward(batch.images);
    score.add(sn::nn::cross_entropy(logits, batch.labels), logits, batch.labels);
    device.flush();
  }
  return score.read();
}

}  // namespace

Trained train(const Options& options, const Images& images, const sn::Device& device) {
  device.seed(options.seed);
  Trained result{.model = CnnConfig{}.init(device)};
  Cnn& model = result.model;
  auto adam = sn::optim::AdamConfig{}.init();

  sn::data::LabelledImages set = images.sets.train;
  if (options.images) set = set.first(*options.images);
  // A smaller last batch would be another training step to plan, so it is dropped; the shuffle drops other
  // images each time.
  auto loader =
      DataLoaderConfig{.batch_size = options.batch, .shuffle = true, .seed = options.seed, .drop_last = true}
          .init(set, ImageBatcher{device, images.mean, images.deviation});
  if (loader.batches() == 0)
    throw UsageError("one batch of " + std::to_string(options.batch) + " needs more than " +
                     std::to_string(set.size()) + " images");
  std::printf("training on %zu images of %s, %lld parameters, batches of %zu, on %s (%s)\n", set.size(),
              images.name.c_str(), static_cast<long long>(sn::num_parameters(model)), options.batch,
              device.name().c_str(), device.description().c_str());

  for (std::size_t epoch = 1; epoch <= options.epochs; ++epoch) {
    Progress progress("epoch " + std::to_string(epoch) + "/" + std::to_string(options.epochs),
                      loader.batches());
    Score score(device.inner());
    Clock::time_point start = Clock::now();
    sn::Statistics before = device.statistics();
    std::size_t step = 0;
    for (auto batch : loader.epoch(epoch)) {
      auto logits = model.forward(batch.images);
      auto loss = sn::nn::cross_entropy(logits, batch.labels);
      score.add(loss, logits, batch.labels);
      auto gradients = loss.backward();
      adam.step(options.learning_rate, model, std::move(gradients));
      if (progress.is_due(++step)) {
        auto [mean_loss, accuracy] = score.read();
        progress.show(step, format("loss %.4f  accuracy %.2f%%  %.0f images/s", mean_loss, accuracy,
                                   static_cast<double>(score.images()) / seconds_since(start)));
      }
    }
    auto seen = score.read();
    double seconds = seconds_since(start);
    sn::Statistics after = device.statistics();
    auto tested = test(model, images, device);
    progress.finish(format("loss %.4f  accuracy %.2f%%  %.0f images/s  test: loss %.4f  accuracy %.2f%%",
                           seen.loss, seen.accuracy, static_cast<double>(score.images()) / seconds,
                           tested.loss, tested.accuracy));
    result.steps += step;
    result.measured_steps = step;
    result.test_accuracy = tested.accuracy;
    result.statistics.ops_recorded = after.ops_recorded - before.ops_recorded;
    result.statistics.launches = after.launches - before.launches;
    result.statistics.bytes_in_place = after.bytes_in_place - before.bytes_in_place;
    result.statistics.plans_built = after.plans_built - before.plans_built;
    result.statistics.kernels_compiled = after.kernels_compiled - before.kernels_compiled;
  }
  return result;
}

}  // namespace guide
