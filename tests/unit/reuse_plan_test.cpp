// Plans for new sizes are filled into what is known of their structure: they have to be what would have been
// planned from nothing.
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/plan_comparison.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

const Device plain = Device::null(), device = plain.autodiff();

Tensor<2> matrix(std::int64_t rows, std::int64_t columns) {
  return Tensor<2>::from_data(std::vector<float>(static_cast<std::size_t>(rows * columns), 1.f),
                              {rows, columns}, plain);
}

/// A program of operations chosen by the seed, over matrices of these sizes. Leaves its results held.
std::vector<Tensor<2>> random_program(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::vector<Tensor<2>> whole{matrix(rows, columns), matrix(rows, columns)}, wide{matrix(1, columns)},
      tall{matrix(rows, 1)}, square{matrix(columns, columns)}, held;
  const auto any_whole = [&] { return whole[below(whole.size())]; };
  const std::size_t steps = 4 + below(16);
  for (std::size_t i = 0; i < steps; ++i) {
    const Tensor<2> x = any_whole();
    switch (below(13)) {
      case 0: whole.push_back(x + any_whole()); break;
      case 1: whole.push_back((x * 0.5).exp()); break;
      case 2: whole.push_back(x - wide[below(wide.size())]); break;
      case 3: whole.push_back(x * tall[below(tall.size())]); break;
      case 4: tall.push_back(x.sum(1)); break;
      case 5: wide.push_back(x.mean(0)); break;
      case 6: whole.push_back(x.matmul(square[below(square.size())])); break;
      case 7: square.push_back(x.transpose(0, 1).matmul(any_whole())); break;
      case 8: whole.push_back((x.transpose(0, 1) + 1.0).transpose(0, 1)); break;
      case 9: whole.push_back(softmax(x, 1)); break;
      case 10: wide.push_back(x.narrow(0, rows - 1, 1)); break;
      case 11: whole.push_back(x.reshape({columns, rows}).tanh().reshape({rows, columns})); break;
      case 12: held.push_back(x.sum({0, 1})); break;
    }
    if (below(4) == 0) held.push_back(whole.back());
  }
  held.push_back(whole.back());
  return held;
}

struct Model {
  nn::Linear hidden, out;
  Tensor<2> forward(const Tensor<2>& x) const {
    const auto y = gelu(hidden.forward(x));
    return out.forward((y - y.mean(1)) * (y.square().mean(1) + 1e-5).rsqrt());
  }
};

}  // namespace

TEST_CASE("random programs at new sizes are planned as from nothing") {
  Comparison comparison;
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{24, 40},
                                        {32, 40},
                                        {48, 40},
                                        {33, 40},
                                        {256, 40},
                                        {3000, 40},
                                        {40, 40},
                                        {1, 40},
                                        {2, 40},
                                        {26, 56},
                                        {4096, 512},
                                        {100, 1},
                                        {7, 5}}) {
      const std::vector<Tensor<2>> held = random_program(seed, rows, columns);
      CAPTURE(seed);
      CAPTURE(rows);
      CAPTURE(columns);
      plain.flush();
      if (comparison.differing > 2) return;
    }
  CHECK(comparison.reused() > 200);
}

TEST_CASE("a training step is planned at new batch sizes with what is known of others") {
  Comparison comparison;
  Model model{nn::LinearConfig{.d_in = 20, .d_out = 96}.init(device),
              nn::LinearConfig{.d_in = 96, .d_out = 10}.init(device)};
  auto adam = optim::AdamConfig{}.init();
  for (const std::int64_t batch : {33, 34, 36, 40, 44, 48, 56, 64, 65, 77, 1, 128, 4000}) {
    const auto x = matrix(batch, 20).to_device(device);
    const auto loss = model.forward(x).square().mean({0, 1}).reshape({});
    adam.step(1e-3, model, loss.backward());
  }
  CHECK(comparison.reused() >= 8);
}

namespace {

/// Kernels that are lowered for a length that was never seen, in a training step of so many layers.
std::uint64_t lowered_for_a_new_length(int layers) {
  const ir::DeviceTraits traits = sharing();
  Comparison comparison({traits});
  struct Layer {
    Tensor<2> scale, up, down;
  };
  std::vector<Layer> weights;
  for (int i = 0; i < layers; ++i) weights.push_back({matrix(1, 24), matrix(24, 96), matrix(96, 24)});
  std::uint64_t last = 0;
  std::uint64_t reused = 0;
  for (const std::int64_t length : {160, 192, 224, 288, 352, 416}) {
    std::vector<Layer> recorded;
    Tensor<2> x = matrix(length, 24).to_device(device);
    for (const Layer& layer : weights) {
      const Layer& w = recorded.emplace_back(Layer{layer.scale.to_device(device).require_grad(),
                                                   layer.up.to_device(device).require_grad(),
                                                   layer.down.to_device(device).require_grad()});
      const Tensor<2> centred = x - x.mean(1);
      const Tensor<2> normed = centred * (centred.square().mean(1) + 1e-5).rsqrt() * w.scale;
      x = x + softmax(gelu(normed.matmul(w.up)), 1).matmul(w.down);
    }
    const Gradients gradients = x.square().mean({0, 1}).reshape({}).backward();
    std::vector<AnyTensor> updated;
    for (std::size_t i = 0; i < weights.size(); ++i)
      for (const auto& [weight, w] : {std::pair{&weights[i].scale, &recorded[i].scale},
                                      {&weights[i].up, &recorded[i].up},
                                      {&weights[i].down, &recorded[i].down}})
        updated.push_back((*weight - *gradients.get(*w) * 0.1).dynamic());
    const std::uint64_t before = comparison.lowered();
    device.flush();
    last = comparison.lowered() - before;
    reused = comparison.reused();
  }
  CHECK(reused >= 2);
  CHECK(comparison.was_reused);
  return last;
}

}  // namespace

TEST_CASE("what a new length costs does not grow with the depth of a network") {
  // Layers are lowered as one, and the updates of weights, which see no length, not at all. Fewer weights are
  // updated by another kernel than many.
  const std::uint64_t of_three = lowered_for_a_new_length(3);
  CHECK(of_three > 0);
  CHECK(of_three <= 20);
  CHECK(lowered_for_a_new_length(12) <= of_three + 4);
}

TEST_CASE("sums that are added up in parts are planned at new sizes as from nothing") {
  Comparison comparison({sharing()});
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{3000, 64},
                                      {4001, 64},
                                      {9000, 64},
                                      {60, 64},
                                      {61, 64},
                                      {700, 64},
                                      {5000, 65},
                                      {5002, 65},
                                      {20000, 2000},
                                      {20001, 2000}}) {
    const Tensor<2> x = matrix(rows, columns).to_device(device).require_grad(),
                    weight = matrix(1, columns).to_device(device).require_grad();
    const Tensor<2> y = x * (x.square().mean(1) + 1e-5).rsqrt() * weight;
    const Gradients gradients =
        (y * matrix(rows, columns).to_device(device)).sum({0, 1}).reshape({}).backward();
    CAPTURE(rows);
    CAPTURE(columns);
    plain.flush();
  }
  CHECK(comparison.kernels_of_parts == 8);
  CHECK(comparison.parts_reused >= 3);
}

TEST_CASE("two sizes that were equal are told apart") {
  // A template of (32, 32) would take both for one number.
  Comparison comparison;
  for (const auto& [rows, columns] :
       {std::pair{32, 32}, {48, 48}, {64, 64}, {48, 64}, {64, 48}, {80, 80}, {80, 96}, {1, 1}, {1, 80}}) {
    const auto x = matrix(rows, columns);
    const auto y = x - x.mean(1), z = y * y.mean(0);
    plain.flush();
  }
  CHECK(comparison.reused() >= 4);
}

namespace {

/// Layers of products of 16 bits with what may follow them, and the gradients' products.
std::vector<AnyTensor> products(std::int64_t rows, std::int64_t depth, std::int64_t columns,
                                std::int64_t batch = 0) {
  const auto input = [](const Shape& shape) {
    const AnyTensor x = AnyTensor::full(shape, 0, DType::bf16, plain);
    x.sync();
    return x;
  };
  const Shape of_x = batch ? Shape{batch, rows, depth} : Shape{rows, depth};
  const AnyTensor x = input(of_x), w = input({depth, columns}), bias = input({1, columns}),
                  v = input({columns, depth});
  AnyTensor y = x;
  std::vector<AnyTensor> held;
  for (int layer = 0; layer < 3; ++layer) {
    const AnyTensor hidden = gelu(AnyTensor::add(y.matmul(w), bias));
    y = AnyTensor::add(hidden.matmul(v), y);
    held.push_back(y.transpose(-2, -1).matmul(hidden));  // of a weight
  }
  held.push_back(y);
  held.push_back(softmax(y.matmul(y.transpose(-2, -1)), -1));  // of attention
  held.push_back(y.cast(DType::f32).matmul(v.transpose(0, 1).cast(DType::f32)));
  return held;
}

/// A trace with these held at its end.
void flush(const std::vector<AnyTensor>&) { plain.flush(); }

}  // namespace

TEST_CASE("products on tensor cores are planned at new sizes as from nothing") {
  Comparison comparison({contracting()});
  for (const std::int64_t batch : {0, 2, 3})
    for (const auto& [depth, columns] :
         {std::pair<std::int64_t, std::int64_t>{64, 256}, {72, 248}, {768, 3072}, {100, 256}, {64, 100}})
      for (const std::int64_t rows : {33, 40, 48, 72, 80, 1000, 1024, 4096, 8192, 1, 2, 34, 56}) {
        CAPTURE(batch);
        CAPTURE(depth);
        CAPTURE(columns);
        CAPTURE(rows);
        flush(products(rows, depth, columns, batch));
        if (comparison.differing > 2) return;
      }
  CHECK(comparison.reused() > 60);
  CHECK(comparison.tiles_reused.size() > 2);
}

TEST_CASE("products that clusters share, and whose results are needed several times, at new sizes") {
  ir::DeviceTraits traits = contracting();
  traits.tensor_cores.cluster = 8;
  Comparison comparison({traits});
  for (const std::int64_t gates : {4, 3})
    for (const std::int64_t rows : {64, 72, 200, 17, 4, 3, 512, 16, 8192, 96}) {
      CAPTURE(gates);
      CAPTURE(rows);
      const auto input = [](const Shape& shape, DType dtype) {
        const AnyTensor x = AnyTensor::full(shape, 0, dtype, plain);
        x.sync();
        return x;
      };
      const Shape all{rows, gates, 512};
      const AnyTensor x = input({rows, 2048}, DType::bf16), w = input({2048, 512}, DType::bf16),
                      factors = input(all, DType::f32);
      const AnyTensor later = x.matmul(w).cast(DType::f32).reshape({rows, 1, 512});
      flush({AnyTensor::mul(later.expand(all), factors).cast(DType::bf16)});
    }
  CHECK(comparison.reused() > 4);
}

TEST_CASE("a product that tensor cores cannot take any more, or take otherwise, is planned from nothing") {
  Comparison comparison({contracting()});
  const auto plan = [&](std::int64_t depth) {
    comparison.tiles.clear();
    const AnyTensor x = AnyTensor::full({96, depth}, 0, DType::bf16, plain),
                    w = AnyTensor::full({depth, 160}, 0, DType::bf16, plain);
    x.sync();
    w.sync();
    flush({x.matmul(w).exp()});
    return std::pair{comparison.was_reused, !comparison.tiles.empty()};
  };
  CHECK(plan(64) == std::pair{false, true});
  CHECK(plan(72) == std::pair{false, true});  // the template is made of it
  CHECK(plan(80) == std::pair{true, true});
  CHECK(plan(100).second);  // rows of 200 bytes: lanes bring them
  CHECK(plan(108).second);
  CHECK(plan(1) == std::pair{false, false});  // nothing to add up
  CHECK(plan(88) == std::pair{true, true});
}

TEST_CASE("attention whose scores stay out of memory from some length on is planned as from nothing") {
  ir::DeviceTraits traits = cutting();
  traits.fewest_striped = 4 * 160 * 160 * 4;
  traits.memory_bytes = std::size_t{16} * 4 * 400 * 400 * 4;
  Comparison comparison({traits});
  for (const bool causal : {false, true})
    for (const bool gradients : {false, true})
      for (const std::int64_t length : {200, 208, 40, 48, 120, 176, 500, 512, 640, 216, 520, 1, 16}) {
        CAPTURE(causal);
        CAPTURE(gradients);
        CAPTURE(length);
        const Device& of = gradients ? device : plain;
        std::vector<Tensor<3>> x;
        for (int k = 0; k < 3; ++k) {
          x.push_back(Tensor<3>::full({4, length, 24}, 0.5, of));
          if (gradients) x.back() = x.back().require_grad();
          x.back().sync();
        }
        const auto y = nn::scaled_dot_product_attention(x[0], x[1], x[2], {.causal = causal});
        std::vector<Tensor<3>> held{y};
        if (gradients) {
          const auto found =
              gradient(y.square().sum({0, 1, 2}), {x[0], x[1], x[2]}, {.differentiable = false});
          held.insert(held.end(), found.begin(), found.end());
        }
        plain.flush();
        if (comparison.differing > 2) return;
      }
  CHECK(comparison.reused() > 20);
}

TEST_CASE("products of another precision take no plan of a product") {
  Comparison comparison({contracting()});
  for (const std::int64_t rows : {96, 128, 160, 192, 224})
    for (const auto precision : {MatmulPrecision::Highest, MatmulPrecision::High, MatmulPrecision::Medium}) {
      comparison.tiles.clear();
      const AnyTensor x = AnyTensor::full({rows, 64}, 0, DType::f32, plain),
                      w = AnyTensor::full({64, 160}, 0, DType::f32, plain);
      x.sync();
      w.sync();
      const MatmulPrecisionScope scope(precision);
      flush({x.matmul(w)});
      CHECK(comparison.tiles.empty() == (precision == MatmulPrecision::Highest));
    }
}

TEST_CASE("starts that move are planned at new sizes as from nothing") {
  Comparison comparison({contracting(), sharing(), cutting()});
  for (const std::int64_t rows : {24, 32, 48, 33, 256, 3000, 40, 9, 8, 10})
    for (const std::int64_t wanted : {1, 0, 2}) {
      const std::int64_t start = std::min(wanted, rows - 8);
      const AnyTensor half = AnyTensor::full({rows, 64}, 0, DType::bf16, plain),
                      weights = AnyTensor::full({64, 128}, 0, DType::bf16, plain);
      std::vector<Tensor<2>> caches{matrix(rows, 40), matrix(rows, 40), matrix(rows, 40)};
      half.sync();
      weights.sync();
      plain.flush();
      std::vector<AnyTensor> held;
      Tensor<2> sum = matrix(8, 40);
      plain.flush();
      for (Tensor<2>& cache : caches) {  // like layers, each with a start of its own
        const Tensor<2> seen = cache.narrow(0, start, 8);
        held.push_back(seen.matmul(sum.transpose(0, 1)).dynamic());
        sum = sum + seen.exp();
        cache = cache.slice_assign({Range{start, start + 8}}, sum);
        held.push_back(cache.matmul(sum.transpose(0, 1)).dynamic());
        held.push_back(cache.dynamic());
      }
      held.push_back(sum.dynamic());
      held.push_back(half.narrow(0, start, 8).matmul(weights).exp());
      held.push_back(half.narrow(1, start, 56).matmul(weights.narrow(0, 0, 56)));  // between vectors
      CAPTURE(rows);
      CAPTURE(start);
      caches.clear();
      flush(held);
      if (comparison.differing > 2) return;
    }
  CHECK(comparison.reused() >= 12);
  CHECK(comparison.moving_reused > 0);
}
