// The guide's network learns, and from the third training step on nothing is planned or compiled.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/data.h>
#include <sinter/optim.h>

#include "examples/guide/model.h"
#include "tests/support/reference/oracle_backend.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

using namespace sinter;

namespace {

// Ten classes that differ in where a bright square is. Small, because some devices are emulated.
data::LabelledImages squares(std::size_t count) {
  constexpr std::int64_t kSize = 12;
  std::vector<std::uint8_t> pixels(count * kSize * kSize), labels(count);
  for (std::size_t i = 0; i < count; ++i) {
    labels[i] = static_cast<std::uint8_t>(i % 10);
    std::size_t top = labels[i] / 5 * 6, left = labels[i] % 5 * 2;
    for (std::size_t y = 0; y < 5; ++y)
      for (std::size_t x = 0; x < 3; ++x)
        pixels[(i * kSize + top + y) * kSize + left + x] = static_cast<std::uint8_t>(200 + (i + x + y) % 50);
  }
  return data::LabelledImages(kSize, kSize, std::move(pixels), std::move(labels));
}

}  // namespace

TEST_CASE("the guide's network learns, and a known step compiles nothing") {
  Device device = Device::best().autodiff();
  device.seed(7);
  guide::Cnn model = guide::CnnConfig{.hidden = 32, .dropout = 0.1}.init(device);
  auto adam = optim::AdamConfig{}.init();
  data::LabelledImages images = squares(160);
  auto loader = data::DataLoaderConfig{.batch_size = 16, .shuffle = true, .drop_last = true}.init(
      images, data::ImageBatcher{device});

  std::vector<double> losses;
  auto sum = Tensor<0>::from_data(0.0, device.inner());
  std::optional<ForbidCompilation> guard;
  std::size_t step = 0;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    for (auto batch : loader.epoch(epoch)) {
      auto logits = model.forward(batch.images);
      CHECK(logits.shape() == Shape{16, 10});
      auto loss = nn::cross_entropy(logits, batch.labels);
      sum = sum + loss.inner();
      auto gradients = loss.backward();
      CHECK(gradients.size() == 8);
      adam.step(3e-3, model, std::move(gradients));
      if (++step == 2) {
        device.sync();
        guard.emplace();
      }
    }
    losses.push_back(sum.item() / static_cast<double>(loader.batches()));
    sum = Tensor<0>::from_data(0.0, device.inner());
  }
  guard.reset();
  MESSAGE("losses: " << losses[0] << " " << losses[1] << " " << losses[2] << " " << losses[3]);
  CHECK(losses[0] > 1.5);
  CHECK(losses[3] < 0.3 * losses[0]);

  // Without dropout it classifies nearly all of them.
  guide::Cnn still = nn::valid(model);
  auto all = data::DataLoaderConfig{.batch_size = 160}.init(images, data::ImageBatcher{device.inner()});
  for (auto batch : all.epoch()) {
    auto right = still.forward(batch.images).argmax(1).squeeze(1) == batch.labels;
    CHECK(right.cast<Float>().mean().item() > 0.9);
  }
}

namespace {

/// Losses of the first steps from seed 11; weights, dropout and batches are the same on every device.
std::vector<double> first_losses(const Device& plain, const data::LabelledImages& images, std::size_t steps) {
  const Device device = plain.autodiff();
  device.seed(11);
  guide::Cnn model = guide::CnnConfig{.hidden = 32, .dropout = 0.5}.init(device);
  auto adam = optim::AdamConfig{}.init();
  auto loader = data::DataLoaderConfig{.batch_size = 16, .shuffle = true, .drop_last = true}.init(
      images, data::ImageBatcher{device});
  std::vector<double> losses;
  for (auto batch : loader.epoch(0)) {
    auto loss = nn::cross_entropy(model.forward(batch.images), batch.labels);
    auto gradients = loss.backward();
    adam.step(1e-3, model, std::move(gradients));
    losses.push_back(loss.item());
    if (losses.size() == steps) break;
  }
  return losses;
}

}  // namespace

TEST_CASE("every device trains as the oracle and the host do") {
  const data::LabelledImages images = squares(160);
  constexpr std::size_t kSteps = 10, kOracleSteps = 2;  // it computes one element at a time
  const std::vector<double> got = first_losses(Device::best(), images, kSteps);
  // The host is a second opinion for others only, and the oracle for the host too.
  const std::vector<double> oracle =
      first_losses(testing::device_over(testing::make_oracle_backend()), images, kOracleSteps);
  REQUIRE(got.size() == kSteps);
  REQUIRE(oracle.size() == kOracleSteps);
  for (std::size_t i = 0; i < kOracleSteps; ++i) CHECK(got[i] == doctest::Approx(oracle[i]).epsilon(1e-4));
  if (Device::best() == Device::host()) return;
  const std::vector<double> expected = first_losses(Device::host(), images, kSteps);
  REQUIRE(expected.size() == kSteps);
  // Rounding differs in the order of sums only; ten steps of Adam carry it on but little.
  for (std::size_t i = 0; i < kSteps; ++i) CHECK(got[i] == doctest::Approx(expected[i]).epsilon(2e-4));
}
