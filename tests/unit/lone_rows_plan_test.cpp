// Plans of one token at a time: products of one row with what is in front of them and behind, attention of
// few queries, a cache that is written where it is.
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>
#include <sinter/sinter.h>

#include "jit/emit/attention/lone_rows.h"
#include "jit/plan/traffic.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using Program = std::function<AnyTensor(const Device&)>;

Planned plan_of(const Program& program, const ir::DeviceTraits& traits = with_tensor_cores()) {
  return planned([&](const Device& device) { return std::vector{program(device)}; }, traits);
}

std::vector<const ir::Kernel*> kernels_of(const Planned& p) {
  std::vector<const ir::Kernel*> kernels;
  for (const plan::Launch& launch : p.plan.launches)
    if (const auto* number = std::get_if<std::uint32_t>(&launch.what))
      kernels.push_back(&*p.plan.kernels[*number]);
  return kernels;
}

/// Lanes that share a column where the program is one kernel; 0: it is several, or goes along no rows.
int lanes_of(const Planned& p) {
  return p.plan.launches.size() == 1 && p.libraries == 0 ? kernels_of(p)[0]->lone_rows.lanes : 0;
}

Program attention(const Shape& q, const Shape& k, DType dtype = DType::bf16) {
  return [=](const Device& device) {
    return nn::detail::attention(input(q, device, dtype), input(k, device, dtype), input(k, device, dtype),
                                 {.causal = true, .offset = 7}, Location::current());
  };
}

Program product_of_norm(std::int64_t rows, std::int64_t columns, std::int64_t depth, bool is_across = false) {
  return [=](const Device& device) {
    const AnyTensor x = input({rows, depth}, device);
    const AnyTensor w =
        is_across ? input({depth, columns}, device) : input({columns, depth}, device).transpose(0, 1);
    const AnyTensor gain = input({1, depth}, device);
    const AnyTensor centred = AnyTensor::sub(x, x.mean({1}));
    const AnyTensor deviation = AnyTensor::add(AnyTensor::mul(centred, centred).mean({1}), 1e-5).rsqrt();
    return AnyTensor::mul(AnyTensor::mul(centred, deviation), gain).matmul(w);
  };
}

/// A block of GPT-2 for one new position.
struct Block {
  nn::LayerNorm before_attention, before_mlp;
  nn::Linear qkv, out, up, down;

  Tensor<2> forward(const Tensor<2>& x, std::int64_t heads, nn::KeyValueCache& cache) const {
    const auto parts = qkv.forward(before_attention.forward(x)).reshape({1, 3, heads, 1, -1});
    const auto part = [&](std::int64_t k) { return Tensor<4>(parts(all, k)); };
    const std::int64_t position = cache.position();
    const auto [keys, values] = cache.append(part(1), part(2));
    const auto y =
        nn::scaled_dot_product_attention(part(0), keys, values, {.causal = true, .offset = position});
    const auto z = x + out.forward(y.reshape({1, -1}));
    return z + down.forward(gelu_tanh(up.forward(before_mlp.forward(z))));
  }
};

}  // namespace

TEST_CASE("attention of few queries is one kernel, which goes along the keys") {
  CHECK(lanes_of(plan_of(attention({1, 12, 1, 64}, {1, 12, 256, 64}))) == 8);
  CHECK(lanes_of(plan_of(attention({2, 3, 1, 128}, {2, 3, 17, 128}, DType::f16))) == 16);
  CHECK(lanes_of(plan_of(attention({1, 2, 1, 80}, {1, 2, 100, 80}))) == 16);  // the last lanes have nothing
  CHECK(lanes_of(plan_of(attention({1, 2, 1, 64}, {1, 2, 100, 64}, DType::f32))) == 16);  // exact
  CHECK(lanes_of(plan_of(attention({1, 2, 15, 64}, {1, 2, 100, 64}))) == 8);
  // Several heads of queries share one of keys.
  CHECK(lanes_of(plan_of(attention({8, 4, 64}, {8, 100, 64}))) == 8);
  // Without tensor cores too.
  ir::DeviceTraits without = with_tensor_cores();
  without.tensor_cores = {};
  CHECK(lanes_of(plan_of(attention({1, 12, 1, 64}, {1, 12, 256, 64}), without)) == 8);
}

TEST_CASE("scores that few queries have are stored where lanes would not read keys in vectors") {
  CHECK(lanes_of(plan_of(attention({1, 12, 1, 12}, {1, 12, 256, 12}))) == 0);
  CHECK(lanes_of(plan_of(attention({1, 1, 1, 320}, {1, 1, 256, 320}))) == 0);
  CHECK(lanes_of(plan_of(attention({1, 12, 1, 64}, {1, 12, 8, 64}))) == 0);     // few keys
  CHECK(lanes_of(plan_of(attention({1, 12, 16, 64}, {1, 12, 256, 64}))) == 0);  // enough for tiles
  ir::DeviceTraits without = with_tensor_cores();
  without.lone_rows = false;
  CHECK(lanes_of(plan_of(attention({1, 12, 1, 64}, {1, 12, 256, 64}), without)) == 0);
}

TEST_CASE("workgroups share a row of many keys, and leave others alone") {
  const auto geometry = [](const Shape& q, const Shape& k) {
    const Planned p = plan_of(attention(q, k));
    REQUIRE(lanes_of(p) > 0);
    const plan::Launch& launch = p.plan.launches[0];
    emit::Target target = hopper();
    target.wanted_workgroups = 1056;
    return emit::geometry(*kernels_of(p)[0], target, launch.ints);
  };
  CHECK(geometry({1, 12, 1, 64}, {1, 12, 256, 64}).parts == 1);
  CHECK(geometry({1, 12, 1, 64}, {1, 12, 1024, 64}).parts == 4);
  CHECK(geometry({1, 12, 1, 64}, {1, 12, 1024, 64}).workgroups == 48);
  CHECK(geometry({1, 12, 1, 64}, {1, 12, 100000, 64}).parts == 22);
  CHECK(geometry({64, 12, 1, 64}, {64, 12, 1024, 64}).parts == 1);  // rows enough
}

TEST_CASE("a norm in front of a product of one row is part of its kernel") {
  CHECK(plan_of(product_of_norm(1, 2304, 768)).plan.launches.size() == 1);
  // Each element is read by several rows, or each result would repeat too much work.
  CHECK(plan_of(product_of_norm(2, 2304, 768)).plan.launches.size() == 2);
  const Planned large = plan_of(product_of_norm(1, 50304, 768));
  CHECK(large.plan.launches.size() == 2);
  CHECK(large.has_cut("too much work to repeat for each result of a product"));
  // The lanes of a weight that lies across the sum have a column each.
  CHECK(plan_of(product_of_norm(1, 2304, 768, true)).plan.launches.size() == 2);
  // Somebody else reads it.
  const auto held = planned([](const Device& device) {
    const AnyTensor x = input({1, 768}, device), w = input({2304, 768}, device);
    const AnyTensor y = AnyTensor::mul(x, AnyTensor::mul(x, x).mean({1}));
    return std::vector{y, y.matmul(w.transpose(0, 1))};
  });
  CHECK(held.plan.launches.size() == 2);
}

TEST_CASE("a token of a block is six launches, and moves little beside weights and the cache") {
  constexpr std::int64_t kWidth = 256, kHeads = 4, kRoom = 128;
  ir::DeviceTraits traits = with_tensor_cores();
  traits.batch_bytes = 1 << 15;
  const Device device = Device::null();
  const auto linear = [&](std::int64_t in, std::int64_t out) {
    return nn::LinearConfig{.d_in = in, .d_out = out}.init(device);
  };
  const auto norm = [&] { return nn::LayerNormConfig{.d_model = kWidth}.init(device); };
  Block block{norm(),
              norm(),
              linear(kWidth, 3 * kWidth),
              linear(kWidth, kWidth),
              linear(kWidth, 4 * kWidth),
              linear(4 * kWidth, kWidth)};
  visit_parameters(block, [](std::string_view, auto& parameter) {
    parameter = parameter.inner().cast(DType::bf16);
    parameter.sync();
  });
  nn::KeyValueCache cache(kRoom);
  const auto earlier = Tensor<4>(input({1, kHeads, 5, kWidth / kHeads}, device));
  {  // what nobody else holds is written in place
    const auto held = cache.append(earlier, earlier);
    held.first.sync();
    held.second.sync();
  }
  struct LastTrace : runtime::TraceObserver {
    void runs(const runtime::TraceRun& run) override { trace = run.trace; }
    trace::Trace trace;
  } last;
  const Tensor<2> x(input({1, kWidth}, device));
  runtime::add_observer(last);
  block.forward(x, kHeads, cache).sync();
  runtime::remove_observer(last);
  const plan::Plan made = plan::make_plan(last.trace, traits, {});
  // Both norms are in front of products; gelu, biases and residuals behind; the cache is written in place by
  // one launch, and read by one.
  CHECK(made.launches.size() == 6);
  const std::int64_t weights = 12 * kWidth * kWidth + 13 * kWidth, cache_elements = 2 * kRoom * kWidth;
  const std::int64_t moved = plan::traffic_of(made, last.trace).bytes_moved();
  CHECK(moved >= 2 * weights);
  CHECK(moved <= 2 * (weights + cache_elements) + 2 * 32 * kWidth);  // vectors between launches
}
