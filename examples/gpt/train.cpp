#include "train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <optional>
#include <random>

namespace gpt {
namespace {

using Clock = std::chrono::steady_clock;

double learning_rate(const Training& training, std::int64_t step) {
  if (step < training.warm_up)
    return training.learning_rate * static_cast<double>(step + 1) / static_cast<double>(training.warm_up);
  const double whole = static_cast<double>(std::max<std::int64_t>(1, training.steps - training.warm_up));
  const double done = std::min(1.0, static_cast<double>(step - training.warm_up) / whole);
  return training.learning_rate * (0.55 + 0.45 * std::cos(std::numbers::pi * done));
}

sn::Tensor<0> loss_of(const Gpt& model, const Text::Batch& batch, bool mixed) {
  std::optional<sn::Autocast> scope;
  if (mixed) scope.emplace();
  const sn::Tensor<3> logits = model.forward(batch.input);
  const sn::Shape& s = logits.shape();
  return sn::nn::cross_entropy(logits.reshape({s[0] * s[1], s[2]}), batch.targets);
}

// Each step has random numbers of its own, so that a resumed training sees the batches that it would have.
std::mt19937_64 random_of(const Training& training, std::int64_t step) {
  return std::mt19937_64(training.seed * 1'000'003 + static_cast<std::uint64_t>(step));
}

}  // namespace

Gpt train(Gpt model, const Text& text, const Training& training) {
  sn::optim::Adam adam = sn::optim::AdamWConfig{.beta2 = 0.95, .weight_decay = 0.1}.init();
  std::int64_t step = 0;
  sn::record::Checkpoint checkpoint;
  checkpoint.module("model", model);
  checkpoint.state("adam", adam, model.tokens.device());
  checkpoint.config("step", step);
  if (training.resume) {
    checkpoint.load(training.file);
    std::printf("resumed at step %lld\n", static_cast<long long>(step));
  }
  const std::int64_t context = model.positions.shape()[0];
  Clock::time_point since = Clock::now();
  std::int64_t reported = step;
  const std::int64_t end = training.until > 0 ? std::min(training.until, training.steps) : training.steps;
  while (step < end) {
    std::mt19937_64 random = random_of(training, step);
    const sn::Tensor<0> loss =
        loss_of(model, text.batch(training.batch, context, false, random), training.mixed);
    adam.step(learning_rate(training, step), model, loss.backward());
    ++step;
    if (step % training.report == 0 || step == end) {
      const double value = loss.item();  // waits for the device; nothing else does
      const double seconds = std::chrono::duration<double>(Clock::now() - since).count();
      const double tokens = static_cast<double>((step - reported) * training.batch * context);
      std::printf("step %lld  loss %.4f  %.0f tokens/s\n", static_cast<long long>(step), value,
                  tokens / seconds);
      std::fflush(stdout);
      since = Clock::now();
      reported = step;
    }
    if (step % training.checkpoint == 0 || step == end) checkpoint.save(training.file);
  }
  if (!text.has(context, true)) {
    std::printf("no validation: the text's last tenth is shorter than %lld tokens\n",
                static_cast<long long>(context));
    return model;
  }
  std::mt19937_64 random = random_of(training, -1);
  const double validation =
      loss_of(model, text.batch(training.batch, context, true, random), training.mixed).item();
  std::printf("validation loss %.4f\n", validation);
  return model;
}

}  // namespace gpt
