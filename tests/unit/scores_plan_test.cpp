// Plans of attention on devices with tensor cores: scores stay out of memory, and what stops that.
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/functions/activation.h>
#include <sinter/nn/attention.h>
#include <sinter/sinter.h>

#include "jit/emit/attention/attention.h"
#include "tests/support/matrix_devices.h"
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
  return softmax(scores, -1).cast(x[2].dtype()).matmul(x[2]);
}

Planned forward(const Program& program, const Shape& shape = {2, 3, kLength, 64},
                const ir::DeviceTraits& traits = with_tensor_cores(), DType dtype = DType::bf16) {
  return planned(
      [&](const Device& device) {
        const Inputs x{input(shape, device, dtype), input(shape, device, dtype), input(shape, device, dtype)};
        return std::vector{program(x)};
      },
      traits);
}

/// Of f32.
Planned forward_at(MatmulPrecision precision, const Program& program,
                   const Shape& shape = {2, 3, kLength, 64}) {
  const MatmulPrecisionScope scope(precision);
  return forward(program, shape, with_tensor_cores(), DType::f32);
}

Planned with_gradients(const Program& program, DType dtype = DType::bf16,
                       const Shape& shape = {2, 3, kLength, 64},
                       const ir::DeviceTraits& traits = with_tensor_cores()) {
  const auto trace = [&](const Device& device) {
    const Device training = device.autodiff();
    Inputs x;
    for (int k = 0; k < 3; ++k) x.push_back(input(shape, training, dtype).require_grad());
    const AnyTensor factor = input(shape, training, dtype);  // in memory before the trace begins
    const AnyTensor y = program(x);
    const AnyTensor seed = AnyTensor::mul(y.inner(), factor.inner());
    std::vector<AnyTensor> results =
        gradient(y, std::span<const AnyTensor>(x), {.seed = seed, .differentiable = false});
    results.push_back(y);
    for (AnyTensor& result : results) result = result.inner();
    return results;
  };
  return planned(trace, traits);
}

/// As a layer reads what a product left, and leaves it to the next: the heads of a row side by side.
AnyTensor split(const AnyTensor& rows) { return rows.reshape({2, kLength, 3, 64}).transpose(1, 2); }
AnyTensor joined(const AnyTensor& heads) { return heads.transpose(1, 2).reshape({2 * kLength, 3 * 64}); }
AnyTensor layer(const Inputs& x) { return joined(causal({split(x[0]), split(x[1]), split(x[2])})); }

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

TEST_CASE("scores stay out of memory where each subgroup multiplies by itself") {
  const auto forms = [](const Planned& p) {
    std::vector<ir::Attention> found;
    for (const auto& kernel : p.plan.kernels)
      if (kernel->attention.any()) found.push_back(kernel->attention);
    return found;
  };
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  for (const ir::DeviceTraits& traits : {ampere(), ada()}) {
    for (const DType dtype : {DType::bf16, DType::f16, DType::f32})
      for (const std::int64_t depth : {16, 40, 64, 128, 248}) {
        if (depth > 128 && dtype == DType::f32) continue;  // longer than a kernel keeps rows
        CAPTURE(traits.description);
        CAPTURE(dtype);
        CAPTURE(depth);
        const Planned p = with_gradients(causal, dtype, {2, 3, kLength, depth}, traits);
        CHECK_FALSE(writes_scores(p));
        CHECK(forms(p).size() >= 3);
        for (const auto& kernel : p.plan.kernels) {
          if (!kernel->attention.any()) continue;
          CHECK(kernel->attention.by == ir::Attention::By::Subgroups);
          CHECK(emit::attention_shared_bytes(*kernel) <= traits.tensor_cores.shared_bytes);
        }
      }
    // 16 rows of a subgroup are the least.
    for (const auto& [length, rows] : {std::pair{16, 16}, std::pair{33, 64}, std::pair{400, 128}}) {
      const std::vector<ir::Attention> found = forms(forward(causal, {2, 3, length, 64}, traits));
      REQUIRE(found.size() == 1);
      CHECK(found[0].rows == rows);
      CHECK(found[0].workgroups == 2);
    }
  }
}

TEST_CASE("f32 that may be rounded keeps scores out of memory, and what it combines is copied transposed") {
  // Beside the kernels of 16-bit floats a copy of the values; in the backward pass those of queries, keys and
  // the gradient. D is reduced along other dims than this one is copied along.
  for (const Program& program : {Program(causal), Program(plain)}) {
    const Planned p = forward_at(MatmulPrecision::High, program);
    CHECK(p.plan.launches.size() == 2);
    CHECK(kernels_of_scores(p) == 1);
    CHECK_FALSE(writes_scores(p));
    CHECK(kernels_of_scores(forward_at(MatmulPrecision::Highest, program)) == 0);
    CHECK(kernels_of_scores(forward_at(MatmulPrecision::Tf32x3, program)) == 0);
  }
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  const Planned p = with_gradients(causal, DType::f32);
  CHECK(p.plan.launches.size() == 8);
  CHECK(kernels_of_scores(p) == 3);
  CHECK_FALSE(writes_scores(p));
}

TEST_CASE("f32 that may not be rounded keeps scores out of memory on ordinary lanes") {
  ir::DeviceTraits traits = with_tensor_cores(), plain_gpu;
  traits.score_tile_bytes = std::size_t{227} << 10;
  plain_gpu.grid_reductions = true;
  plain_gpu.score_tile_bytes = std::size_t{96} << 10;
  const auto check = [](const Planned& p, const ir::DeviceTraits& device, std::size_t kernels) {
    CHECK(kernels_of_scores(p) == kernels);
    CHECK_FALSE(writes_scores(p));
    for (const auto& kernel : p.plan.kernels) {
      if (!kernel->attention.any()) continue;
      CHECK(kernel->attention.by == ir::Attention::By::Lanes);
      CHECK(emit::attention_shared_bytes(*kernel) <= device.score_tile_bytes);
    }
  };
  for (const ir::DeviceTraits& device : {traits, plain_gpu}) {
    for (const std::int64_t depth : {4, 36, 64, 128}) {
      CAPTURE(depth);
      const Shape shape{2, 3, kLength, depth};
      check(forward(causal, shape, device, DType::f32), device, 1);
      check(forward(plain, shape, device, DType::f32), device, 1);
      check(with_gradients(causal, DType::f32, shape, device), device, 3);
    }
    check(forward(causal, {2, 3, kLength + 1, 64}, device, DType::f32), device, 1);
    check(forward(causal, {2, 3, 2, kLength, 64}, device, DType::f32), device, 1);
    CHECK(kernels_of_scores(forward(causal, {2, 3, kLength, 132}, device, DType::f32)) == 0);
    CHECK(kernels_of_scores(forward(causal, {2, 3, kLength, 30}, device, DType::f32)) == 0);
  }
  // Tensor cores multiply what may be rounded.
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  const Planned rounded = forward(causal, {2, 3, kLength, 64}, traits, DType::f32);
  REQUIRE(kernels_of_scores(rounded) == 1);
  for (const auto& kernel : rounded.plan.kernels) CHECK_FALSE(ir::has_score_tile(*kernel));
}

TEST_CASE(
    "where little memory is shared gradients of long vectors store their scores, unless these are too many") {
  ir::DeviceTraits traits;
  traits.grid_reductions = true;
  traits.score_tile_bytes = std::size_t{48} << 10;
  CHECK(kernels_of_scores(with_gradients(causal, DType::f32, {2, 3, kLength, 64}, traits)) == 3);
  const Shape shape{2, 3, kLength, 128};
  CHECK(kernels_of_scores(forward(causal, shape, traits, DType::f32)) == 1);
  CHECK(kernels_of_scores(with_gradients(causal, DType::f32, shape, traits)) == 0);
  traits.memory_bytes = 8 << 20;  // of which scores are a fifth
  const Planned large = with_gradients(causal, DType::f32, shape, traits);
  CHECK(kernels_of_scores(large) == 3);
  CHECK_FALSE(writes_scores(large));
}

TEST_CASE(
    "a processor's threads keep scores by stripes where these are many, and gradients where a mask pays") {
  ir::DeviceTraits traits;
  traits.is_cpu = true;
  traits.narrow_products = true;
  const Shape shape{2, 3, kLength, 50};  // of any length
  constexpr std::size_t kBytes = 2 * 3 * kLength * kLength * 4;
  traits.fewest_striped = kBytes;
  const auto check = [](const Planned& p, std::size_t kernels) {
    CHECK(kernels_of_scores(p) == kernels);
    CHECK(writes_scores(p) == (kernels == 0));
    for (const auto& kernel : p.plan.kernels)
      if (kernel->attention.any()) CHECK(kernel->attention.by == ir::Attention::By::Stripes);
  };
  for (const DType dtype : {DType::f32, DType::bf16}) {
    CAPTURE(dtype);
    check(forward(plain, shape, traits, dtype), 1);
    check(forward(causal, shape, traits, dtype), 1);
    check(with_gradients(causal, dtype, shape, traits), 3);
    check(with_gradients(plain, dtype, shape, traits), 0);  // all scores would be computed twice
  }
  // Neither are many of few scores each.
  CHECK(kernels_of_scores(forward(plain, {64, 3, 120, 50}, traits, DType::f32)) == 0);
  traits.memory_bytes = 16 * kBytes - 1;
  check(with_gradients(plain, DType::f32, shape, traits), 3);
  CHECK(kernels_of_scores(forward(plain, {64, 3, 120, 50}, traits, DType::f32)) == 1);
  traits.memory_bytes = 0;
  traits.fewest_striped = kBytes + 1;
  check(forward(causal, shape, traits, DType::f32), 0);
  check(with_gradients(causal, DType::f32, shape, traits), 0);
}

TEST_CASE("scores stay out of memory where cooperative matrices multiply, as far as these go") {
  ir::DeviceTraits traits = nvidia();
  traits.score_tile_bytes = std::size_t{48} << 10;
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const std::int64_t depth : {8, 40, 64, 128}) {
      CAPTURE(depth);
      const Planned p = with_gradients(causal, dtype, {2, 3, kLength, depth}, traits);
      CHECK(kernels_of_scores(p) == 3);
      CHECK_FALSE(writes_scores(p));
      for (const auto& kernel : p.plan.kernels) {
        if (!kernel->attention.any()) continue;
        CHECK(kernel->attention.by == ir::Attention::By::Matrices);
        CHECK(emit::attention_shared_bytes(*kernel) <= traits.score_tile_bytes);
        CHECK(emit::attention_lanes(*kernel) % 32 == 0);
      }
    }
  // Where scores stay in registers tiles are as wide as these allow: the results of the rows' gradients, of
  // keys and values, are twice as many.
  ir::DeviceTraits laid = traits;
  laid.tensor_cores.layout = kNvidiaLayout;
  for (const auto& [depth, columns] : {std::pair{64, std::set{32, 64}}, {128, {16, 32, 64}}}) {
    std::set<int> found;
    const Planned p = with_gradients(causal, DType::bf16, {2, 3, kLength, depth}, laid);
    CHECK(kernels_of_scores(p) == 3);
    for (const auto& kernel : p.plan.kernels) {
      if (!kernel->attention.any()) continue;
      CHECK(kernel->attention.layout == kNvidiaLayout);
      CHECK(kernel->attention.rows == 64);
      CHECK(emit::attention_lanes(*kernel) == 128);
      CHECK(emit::attention_shared_bytes(*kernel) <= laid.score_tile_bytes);
      found.insert(kernel->attention.columns);
    }
    CHECK(found == columns);
  }
  // Longer vectors leave no room where ordinary lanes have to multiply them.
  CHECK(kernels_of_scores(forward(causal, {2, 3, kLength, 256}, traits)) == 0);
  // Of matrices of another size it is not known how to make tiles, and ordinary lanes are slower.
  ir::DeviceTraits flat = with_flat_matrices();
  flat.score_tile_bytes = std::size_t{64} << 10;
  const Shape shape{2, 3, kLength, 64};
  CHECK(kernels_of_scores(forward(causal, shape, flat)) == 0);
  CHECK(kernels_of_scores(forward(causal, shape, flat, DType::f32)) == 1);
  flat.memory_bytes = 8 << 20;
  CHECK(kernels_of_scores(forward(causal, shape, flat)) == 1);
}

TEST_CASE("what may not be rounded is not combined on tensor cores by the scores of what may") {
  const Program mixed = [](const Inputs& x) {
    const AnyTensor scores =
        AnyTensor::mul(x[0].cast(DType::bf16).matmul(x[1].cast(DType::bf16).transpose(2, 3)), 0.125);
    return softmax(scores.cast(DType::f32), -1).matmul(x[2]);
  };
  ir::DeviceTraits traits = with_tensor_cores();
  traits.score_tile_bytes = std::size_t{227} << 10;
  for (const auto& [precision, kernels] :
       {std::pair{MatmulPrecision::High, 1}, {MatmulPrecision::Highest, 0}}) {
    const MatmulPrecisionScope scope(precision);
    CHECK(kernels_of_scores(forward(mixed, {2, 3, kLength, 64}, traits, DType::f32)) ==
          static_cast<std::size_t>(kernels));
  }
}

TEST_CASE(
    "copies for attention are joined in one launch where they are small, not where tiles are worth more") {
  ir::DeviceTraits traits = with_tensor_cores();
  traits.batch_bytes = 32 << 10;
  const auto launches = [&](std::int64_t batch) {
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    return planned(
               [&](const Device& device) {
                 Inputs x;
                 for (int k = 0; k < 6; ++k) x.push_back(input({batch, 3, kLength, 64}, device, DType::f32));
                 return std::vector{causal({x[0], x[1], x[2]}), causal({x[3], x[4], x[5]})};
               },
               traits)
        .plan.launches.size();
  };
  CHECK(launches(2) == 3);
  CHECK(launches(16) == 4);
}

TEST_CASE("what is read with the heads of a row side by side is stored so") {
  const Shape rows{2 * kLength, 3 * 64};
  CHECK(forward(layer, rows).plan.launches.size() == 1);
  CHECK(forward_at(MatmulPrecision::High, layer, rows).plan.launches.size() == 2);
  CHECK(with_gradients(layer, DType::bf16, rows).plan.launches.size() == 4);
  // Vectors that somebody sees lie as they are, and are copied.
  AnyTensor seen;
  const auto launches = [&](const std::function<AnyTensor(const AnyTensor&)>& shown) {
    const Planned p = forward(
        [&](const Inputs& x) {
          const AnyTensor heads = causal({split(x[0]), split(x[1]), split(x[2])});
          seen = shown(heads);
          return joined(heads);
        },
        rows);
    CHECK(kernels_of_scores(p) == 1);
    return p.plan.launches.size();
  };
  CHECK(launches([](const AnyTensor& heads) { return heads; }) == 2);
  CHECK(launches([](const AnyTensor& heads) { return heads.transpose(1, 2); }) == 1);
  CHECK(launches([](const AnyTensor& heads) { return heads.transpose(2, 3); }) == 1);
}

TEST_CASE("values of f32 that lie along the keys are not copied") {
  const Planned p = forward_at(MatmulPrecision::High, [](const Inputs& x) {
    return nn::detail::attention(x[0], x[1], x[2].reshape({2, 3, 64, kLength}).transpose(-2, -1), {},
                                 Location::current());
  });
  CHECK(p.plan.launches.size() == 1);
  CHECK(kernels_of_scores(p) == 1);
}

TEST_CASE("scores of f32 whose shapes tensor cores do not take are in memory") {
  const auto kernels = [](const Shape& shape) {
    return kernels_of_scores(forward_at(MatmulPrecision::High, causal, shape));
  };
  CHECK(kernels({2, 3, kLength, 128}) == 1);
  CHECK(kernels({2, 3, kLength, 136}) == 0);  // more than a tile holds
  CHECK(kernels({2, 3, kLength, 60}) == 0);   // no steps of an instruction
  CHECK(kernels({2, 3, kLength + 4, 64}) == 1);
  CHECK(kernels({2, 3, kLength + 1, 64}) == 0);  // no multiple of 16 bytes of keys
  CHECK(kernels({2, 3, 2, kLength, 64}) == 0);   // more dims than a tensor map has
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
