// Plans for new sizes of programs whose passes ask how operands lie: attention of 16 bits on tensor cores,
// and convolutions. They have to be what would have been planned from nothing.
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/nn/attention.h>
#include <sinter/sinter.h>

#include "tests/support/plan_comparison.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

const Device plain = Device::null(), device = plain.autodiff();

AnyTensor blank(const Shape& shape, DType dtype, const Device& on = device) {
  const AnyTensor x = AnyTensor::full(shape, 0, dtype, on);
  x.sync();
  return x;
}

/// Attention with the gradients of all operands, over heads that lie side by side in memory.
void attend(std::int64_t batch, std::int64_t length, std::int64_t keys, std::int64_t width, bool causal,
            DType dtype = DType::bf16) {
  constexpr std::int64_t kHeads = 4;
  const auto heads = [&](std::int64_t count) {
    return blank({batch, count, kHeads * width}, dtype).require_grad();
  };
  const std::vector<AnyTensor> x{heads(length), heads(keys), heads(keys)};
  const AnyTensor factor = blank({batch, kHeads, length, width}, dtype);
  const auto seen = [&](const AnyTensor& of, std::int64_t count) {
    return of.reshape({batch, count, kHeads, width}).permute({0, 2, 1, 3});
  };
  const AnyTensor y = nn::detail::attention(seen(x[0], length), seen(x[1], keys), seen(x[2], keys),
                                            {.causal = causal}, Location::current());
  const AnyTensor seed = AnyTensor::mul(y.inner(), factor.inner());
  std::vector<AnyTensor> results =
      gradient(y, std::span<const AnyTensor>(x), {.seed = seed, .differentiable = false});
  results.push_back(y);
  plain.flush();
}

struct Cnn {
  nn::Conv2d first, second;
  nn::Linear out;
  Tensor<2> forward(const Tensor<4>& x) const {
    const auto y = relu(first.forward(x)), centred = y - y.mean({0, 2, 3});
    const auto z = centred * (centred.square().mean({0, 2, 3}) + 1e-5).rsqrt();
    return out.forward(relu(second.forward(z) + z).mean({2, 3}).reshape({x.shape()[0], 24}));
  }
};

void train(Cnn& model, optim::Adam& adam, std::int64_t batch, std::int64_t size) {
  const auto x = Tensor<4>::zeros({batch, 3, size, size}, device);
  x.sync();
  adam.step(1e-3, model, model.forward(x).square().mean({0, 1}).reshape({}).backward());
}

ir::DeviceTraits with_channels_last(ir::DeviceTraits traits) {
  traits.channels_last = true;
  return traits;
}

}  // namespace

TEST_CASE("attention on tensor cores is planned at new lengths as from nothing") {
  for (const bool causal : {false, true}) {
    Comparison comparison({contracting()});
    for (const std::int64_t length : {64, 96, 128, 136, 200, 256, 320, 1000, 1001, 1024, 2048, 56, 40}) {
      CAPTURE(causal);
      CAPTURE(length);
      attend(2, length, length, 64, causal);
      if (comparison.differing > 0) return;
    }
    CHECK(comparison.reused() >= 8);
    // Another batch, too, and other keys than queries.
    for (const auto& [batch, length, keys] : {std::tuple{3, 264, 264}, {5, 272, 272}, {7, 280, 280}})
      attend(batch, length, keys, 64, causal);
    CHECK(comparison.was_reused);
  }
}

TEST_CASE("attention over f32 that may be rounded is planned at new lengths as from nothing") {
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  Comparison comparison({contracting()});
  const auto has_kernel_of_scores = [&](std::int64_t length) {
    comparison.kernels_of_scores = 0;
    attend(2, length, length, 64, true, DType::f32);
    CHECK(comparison.differing == 0);
    return comparison.kernels_of_scores > 0;
  };
  for (const std::int64_t length : {64, 96, 128, 132, 200, 256, 320, 1000, 1024, 2048}) {
    CAPTURE(length);
    CHECK(has_kernel_of_scores(length));
  }
  CHECK(comparison.reused() >= 6);
  CHECK_FALSE(has_kernel_of_scores(1001));  // no multiple of 16 bytes
  CHECK_FALSE(comparison.was_reused);
  CHECK(has_kernel_of_scores(1004));
}

TEST_CASE("attention is planned from nothing where its scores go to memory at the new length") {
  Comparison comparison({contracting()});
  const auto has_kernel_of_scores = [&](std::int64_t length, std::int64_t width) {
    comparison.kernels_of_scores = 0;
    attend(2, length, length + 8, width, false);
    return comparison.kernels_of_scores > 0;
  };
  CHECK(has_kernel_of_scores(64, 64));
  CHECK(has_kernel_of_scores(96, 64));
  CHECK(has_kernel_of_scores(128, 64));
  CHECK(comparison.was_reused);
  CHECK_FALSE(has_kernel_of_scores(8, 64));  // too few rows for a tile
  CHECK_FALSE(comparison.was_reused);
  CHECK(has_kernel_of_scores(160, 64));
  CHECK(comparison.was_reused);
  CHECK_FALSE(has_kernel_of_scores(160, 60));  // vectors that the copy engine does not bring
  CHECK(has_kernel_of_scores(168, 72));
  CHECK(comparison.differing == 0);
}

TEST_CASE("a training step with convolutions is planned at new sizes with what is known of others") {
  Comparison comparison({with_channels_last(cutting()), with_channels_last(sharing()), cutting()});
  Cnn model{nn::Conv2dConfig{.channels = {3, 24}, .kernel = {3, 3}, .padding = {1, 1}}.init(device),
            nn::Conv2dConfig{.channels = {24, 24}, .kernel = {3, 3}, .padding = {1, 1}}.init(device),
            nn::LinearConfig{.d_in = 24, .d_out = 10}.init(device)};
  auto adam = optim::AdamConfig{}.init();
  for (const auto& [batch, size] : {std::pair<std::int64_t, std::int64_t>{4, 12},
                                    {5, 12},
                                    {6, 14},
                                    {7, 14},
                                    {8, 16},
                                    {9, 17},
                                    {33, 20},
                                    {1, 20},
                                    {64, 28},
                                    {65, 28},
                                    {11, 1}}) {
    CAPTURE(batch);
    CAPTURE(size);
    train(model, adam, batch, size);
    if (comparison.differing > 0) return;
  }
  CHECK(comparison.reused() >= 12);
}
