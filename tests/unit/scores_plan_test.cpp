// Plans of attention on devices with tensor cores: scores stay out of memory, and what stops that.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/functions/activation.h>
#include <sinter/nn/attention.h>
#include <sinter/sinter.h>

#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

constexpr std::int64_t kLength = 256;
using Inputs = std::vector<AnyTensor>;
using Program = std::function<AnyTensor(const Inputs&)>;

AnyTensor causal(const Inputs& x) {
  return nn::detail::attention(x[0], x[1], x[2], {.causal = true}, Location::current());
}
AnyTensor plain(const Inputs& x) {
  const AnyTensor scores = AnyTensor::mul(x[0].matmul(x[1].transpose(2, 3)), 0.125).cast(DType::f32);
  return softmax(scores, -1).cast(DType::bf16).matmul(x[2]);
}

Planned forward(const Program& program, const Shape& shape = {2, 3, kLength, 64},
                const ir::DeviceTraits& traits = with_tensor_cores()) {
  return planned(
      [&](const Device& device) {
        const Inputs x{input(shape, device), input(shape, device), input(shape, device)};
        return std::vector{program(x)};
      },
      traits);
}

Planned with_gradients(const Program& program) {
  const Shape shape{2, 3, kLength, 64};
  return planned([&](const Device& device) {
    const Device training = device.autodiff();
    Inputs x;
    for (int k = 0; k < 3; ++k) x.push_back(input(shape, training).require_grad());
    const AnyTensor factor = input(shape, training);  // in memory before the trace begins
    const AnyTensor y = program(x);
    const AnyTensor seed = AnyTensor::mul(y.inner(), factor.inner());
    std::vector<AnyTensor> results =
        gradient(y, std::span<const AnyTensor>(x), {.seed = seed, .differentiable = false});
    results.push_back(y);
    for (AnyTensor& result : results) result = result.inner();
    return results;
  });
}

std::size_t kernels_of_scores(const Planned& p) {
  std::size_t count = 0;
  for (const plan::Launch& launch : p.plan.launches)
    if (const auto* number = std::get_if<std::uint32_t>(&launch.what))
      count += p.plan.kernels[*number]->attention.any() ? 1 : 0;
  return count;
}

/// True iff some launch writes as many elements as there are scores.
bool writes_scores(const Planned& p) {
  for (const plan::Launch& launch : p.plan.launches)
    for (const plan::ValueUse& use : launch.uses)
      if (use.written && p.plan.shapes[use.value].numel() >= 2 * 3 * kLength * kLength) return true;
  return false;
}

}  // namespace

TEST_CASE("attention is one kernel forward, and three backward, none of which writes scores") {
  for (const Program& program : {Program(causal), Program(plain)}) {
    const Planned p = forward(program);
    CHECK(p.plan.launches.size() == 1);
    CHECK(kernels_of_scores(p) == 1);
    CHECK_FALSE(writes_scores(p));
  }
  const Planned p = with_gradients(causal);
  CHECK(p.plan.launches.size() == 4);  // the result, D, the gradient of q, those of k and v
  CHECK(kernels_of_scores(p) == 3);
  CHECK_FALSE(writes_scores(p));
  // Of plain operations D is a sum over scores, in a kernel of its own.
  const Planned q = with_gradients(plain);
  CHECK(q.plan.launches.size() == 5);
  CHECK(kernels_of_scores(q) == 4);
  CHECK_FALSE(writes_scores(q));
}

TEST_CASE("alike kernels of attention stay launches of their own") {
  ir::DeviceTraits traits = with_tensor_cores();
  traits.batch_bytes = 1 << 15;
  const Planned p = planned(
      [](const Device& device) {
        const Shape shape{1, 2, 192, 64};
        std::vector<Inputs> inputs;  // in memory before the trace begins
        for (int k = 0; k < 3; ++k)
          inputs.push_back({input(shape, device), input(shape, device), input(shape, device)});
        std::vector<AnyTensor> results;
        for (int k = 0; k < 3; ++k) results.push_back(causal(inputs[static_cast<std::size_t>(k)]));
        return results;
      },
      traits);
  CHECK(kernels_of_scores(p) == 3);
  for (const plan::Launch& launch : p.plan.launches) CHECK(launch.members == 1);
}

TEST_CASE("scores that somebody sees, or that are wanted otherwise, are in memory") {
  AnyTensor seen;
  const Planned held = forward([&](const Inputs& x) {
    seen = x[0].matmul(x[1].transpose(2, 3));
    return softmax(seen.cast(DType::f32), -1).cast(DType::bf16).matmul(x[2]);
  });
  CHECK(kernels_of_scores(held) == 0);
  seen = AnyTensor();
  const Planned over_queries = forward([](const Inputs& x) {
    return softmax(x[0].matmul(x[1].transpose(2, 3)).cast(DType::f32), -2).cast(DType::bf16).matmul(x[2]);
  });
  CHECK(kernels_of_scores(over_queries) == 0);
  const Planned no_softmax =
      forward([](const Inputs& x) { return relu(x[0].matmul(x[1].transpose(2, 3))).matmul(x[2]); });
  CHECK(kernels_of_scores(no_softmax) == 0);
  CHECK(kernels_of_scores(forward(causal, {2, 3, kLength, 12})) == 0);   // no multiples of 16 bytes
  CHECK(kernels_of_scores(forward(causal, {1, 1, kLength, 320})) == 0);  // more than registers hold
  CHECK(kernels_of_scores(forward(causal, {2, 3, 8, 64})) == 0);         // fewer than fill a tile
  ir::DeviceTraits without = with_tensor_cores();
  without.tensor_cores = {};
  CHECK(kernels_of_scores(forward(causal, {2, 3, kLength, 64}, without)) == 0);
}
