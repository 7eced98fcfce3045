#include "train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace resnet {
namespace {

using Clock = std::chrono::steady_clock;
using sn::data::ImageBatch;

constexpr std::size_t kTestBatch = 500;

sn::data::ImageBatcher batcher(const Images& images, const sn::Device& device) {
  return {device.inner(), images.mean, images.deviation};
}

sn::Tensor<2> logits_of(const Resnet& model, const sn::Tensor<4>& images, bool mixed) {
  std::optional<sn::Autocast> scope;
  if (mixed) scope.emplace();
  return model.forward(images).cast(sn::DType::f32);
}

// Half of them from right to left.
sn::Tensor<4> flipped(const sn::Tensor<4>& images) {
  const auto is_flipped = sn::Tensor<4>::rand({images.shape()[0], 1, 1, 1}, images.device()) < 0.5;
  return sn::where(is_flipped, images.flip(3), images);
}

sn::optim::Optimizer make_optimizer() {
  return sn::optim::SgdConfig{.momentum = 0.9,
                              .weight_decay = 5e-4,
                              .nesterov = true,
                              .options = {.groups = {{.pattern = "*bn?.*", .weight_decay = 0},
                                                     {.pattern = "*.bias", .weight_decay = 0}}}}
      .init();
}

}  // namespace

Images load_images(const std::filesystem::path& folder) {
  Images images{sn::data::Mnist::load(folder), 0, 0, 0};
  double sum = 0, squares = 0, count = 0;
  for (std::size_t i = 0; i < images.sets.train.size(); ++i) {
    const auto [pixels, label] = images.sets.train.get(i);
    images.classes = std::max<std::int64_t>(images.classes, label + 1);
    for (const std::uint8_t pixel : pixels) {
      const double x = pixel / 255.0;
      sum += x;
      squares += x * x;
    }
    count += static_cast<double>(pixels.size());
  }
  for (std::size_t i = 0; i < images.sets.test.size(); ++i)
    images.classes = std::max<std::int64_t>(images.classes, images.sets.test.get(i).label + 1);
  if (count == 0) throw sn::DataError("there are no pixels in the training images of " + folder.string());
  images.mean = sum / count;
  images.deviation = std::sqrt(std::max(squares / count - images.mean * images.mean, 1e-12));
  return images;
}

void train(Resnet& model, const Images& images, const Training& training) {
  const sn::Device device = model.fc.weight.device();
  // A smaller last batch would be a plan of its own; the order of each epoch drops others.
  const auto loader = sn::data::DataLoaderConfig{.batch_size = static_cast<std::size_t>(training.batch),
                                                 .shuffle = true,
                                                 .seed = training.seed,
                                                 .drop_last = true}
                          .init(images.sets.train, batcher(images, device));
  const auto batches = static_cast<std::int64_t>(loader.batches());
  if (batches == 0)
    throw sn::Error("one batch of " + std::to_string(training.batch) + " needs more than " +
                    std::to_string(images.sets.train.size()) + " images");
  const std::int64_t steps = training.epochs * batches;
  const auto rate = sn::optim::schedule::one_cycle(training.learning_rate, std::max<std::int64_t>(1, steps));
  sn::optim::Optimizer sgd = make_optimizer();
  std::int64_t step = 0;
  sn::record::Checkpoint checkpoint;
  checkpoint.module("model", model);
  checkpoint.state("sgd", sgd, device);
  checkpoint.config("step", step);
  checkpoint.random("random", device);
  if (training.resume) {
    checkpoint.load(training.file);
    std::printf("resumed at step %lld\n", static_cast<long long>(step));
  } else {
    std::printf("%s", sn::optim::schedule::plot(rate, std::max<std::int64_t>(1, steps)).c_str());
  }

  const std::int64_t end = training.until > 0 ? std::min(training.until, steps) : steps;
  Clock::time_point since = Clock::now();
  std::int64_t reported = step;
  while (step < end) {
    const auto epoch = loader.epoch(static_cast<std::uint64_t>(step / batches));
    auto at = epoch.begin();
    for (std::int64_t i = 0; i < step % batches; ++i) ++at;  // makes no batch
    do {
      const ImageBatch batch = *at;
      const auto logits =
          logits_of(model, training.flip ? flipped(batch.images) : batch.images, training.mixed);
      const auto loss = sn::nn::cross_entropy(logits, batch.labels);
      sgd.step(rate(step), model, loss.backward());
      ++step;
      ++at;
      if (step % training.report == 0 || step == end) {
        const double value = loss.item();  // waits for the device; nothing else does
        const double seconds = std::chrono::duration<double>(Clock::now() - since).count();
        std::printf("epoch %lld/%lld  step %lld/%lld  loss %.4f  %.0f images/s\n",
                    static_cast<long long>((step - 1) / batches + 1), static_cast<long long>(training.epochs),
                    static_cast<long long>(step), static_cast<long long>(steps), value,
                    static_cast<double>((step - reported) * training.batch) / seconds);
        std::fflush(stdout);
        since = Clock::now();
        reported = step;
      }
      if (step % training.checkpoint == 0 || step == end) checkpoint.save(training.file);
    } while (step < end && step % batches != 0);
    if (step % batches == 0) {
      evaluate(model, images, training.mixed);
      since = Clock::now();
    }
  }
}

void evaluate(const Resnet& model, const Images& images, bool mixed) {
  const Resnet still = sn::nn::valid(model);  // the running statistics of the norms, and no history
  const sn::Device device = still.fc.weight.device();
  const auto loader =
      sn::data::DataLoaderConfig{.batch_size = kTestBatch}.init(images.sets.test, batcher(images, device));
  auto loss = sn::Tensor<0>::full({}, 0, device), right = loss;
  for (const ImageBatch& batch : loader.epoch()) {
    const auto logits = logits_of(still, batch.images, mixed);
    loss = loss + sn::nn::cross_entropy<sn::nn::Reduction::sum>(logits, batch.labels);
    right = right + (logits.argmax(1).squeeze(1) == batch.labels).cast<sn::Float>().sum();
    device.flush();
  }
  const auto count = static_cast<double>(images.sets.test.size());
  if (count == 0)
    std::printf("no test images\n");
  else
    std::printf("test: loss %.4f  accuracy %.2f%%\n", loss.item() / count, 100 * right.item() / count);
  std::fflush(stdout);
}

}  // namespace resnet
