// How often norms and their gradients go over their data, on a device like a GPU that need not be there.
#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/planned_products.h"

using namespace sinter;
using testing::Planned;

namespace {

ir::DeviceTraits like_a_gpu() {
  ir::DeviceTraits traits;
  traits.lanes = 2048 * 132;
  traits.groups = 4 * 132;
  traits.grid_reductions = true;
  traits.row_lanes = 1024;
  traits.launch_bytes = 64.0 * 1024 * 132;
  return traits;
}

AnyTensor leaf(const Shape& shape, const Device& device) {
  const AnyTensor x = AnyTensor::full(shape, 0.5, DType::f32, device);
  x.sync();
  return x.require_grad();
}

/// The gradients of x, weight and bias of a norm.
template <class Forward>
Planned gradients_of(const Shape& shape, Forward forward) {
  return testing::planned(
      [&](const Device& plain) {
        const Device device = plain.autodiff();
        const AnyTensor x = leaf(shape, device), weight = leaf({shape[1]}, device),
                        bias = leaf({shape[1]}, device), dy = AnyTensor::full(shape, 0.5, DType::f32, device);
        dy.sync();
        const AnyTensor product = AnyTensor::mul(forward(x, weight, bias), dy);
        Gradients found = product.sum(product.all_axes()).backward();
        return std::vector{found.remove(x).value(), found.remove(weight).value(), found.remove(bias).value()};
      },
      like_a_gpu());
}

AnyTensor batch_norm_layer(const AnyTensor& x, const AnyTensor& weight, const AnyTensor& bias) {
  const auto zeros = Tensor<1>::zeros({weight.shape()[0]}, x.device().inner());
  const nn::BatchNorm layer{.weight = Tensor<1>(weight),
                            .bias = Tensor<1>(bias),
                            .running_mean = Buffer<1>(zeros),
                            .running_var = Buffer<1>(zeros),
                            .training = true};
  return layer.forward(Tensor<3>(x)).dynamic();
}

/// Reads of as many bytes as x has, in all launches, and the launches.
struct Passes {
  int launches = 0, reads = 0;
  friend bool operator==(const Passes&, const Passes&) = default;
};

Passes passes_of(const Planned& planned) {
  Passes passes;
  for (const plan::Launch& launch : planned.plan.launches) {
    ++passes.launches;
    const ir::Kernel& kernel = *planned.plan.kernels[std::get<std::uint32_t>(launch.what)];
    std::vector<bool> is_large(kernel.buffers.size());
    for (const ir::Expr& expr : kernel.exprs) {
      if (expr.kind != ir::ExprKind::Load) continue;
      const auto& strides = kernel.maps[expr.map].steps.front().strides;
      is_large[expr.buffer] =
          is_large[expr.buffer] ||
          std::none_of(strides.begin(), strides.end(), [](const ir::IntRef& s) { return s.is_zero(); });
    }
    passes.reads += static_cast<int>(std::count(is_large.begin(), is_large.end(), true));
  }
  return passes;
}

std::string reductions_of(const Planned& planned) {
  std::string text;
  for (const auto& kernel : planned.plan.kernels) text += ir::to_string(*kernel);
  return text;
}

}  // namespace

TEST_CASE("batch norm's gradients go over x three times and over dy twice") {
  // x for mean and variance; both for the sums; both for the gradient of x.
  const Passes expected{3, 5};
  for (const Shape& shape : {Shape{42, 256, 3136}, Shape{32768, 1024, 1}, Shape{1024, 33, 1000}}) {
    const Planned planned = gradients_of(shape, batch_norm_layer);
    const Passes passes = passes_of(planned);
    CAPTURE(to_string(shape));
    CHECK(passes.launches == expected.launches);
    CHECK(passes.reads == expected.reads);
  }
}

TEST_CASE("columns that many workgroups share are cut so that the last of them has little to join") {
  emit::Target target = testing::hopper();
  target.wanted_workgroups = 8 * 132;
  target.large_workgroup_size = 1024;
  const auto shape_of = [&](const Shape& shape, DType dtype, auto reduce) {
    const Planned planned = testing::planned(
        [&](const Device& device) { return std::vector{reduce(testing::input(shape, device, dtype))}; },
        like_a_gpu());
    REQUIRE(planned.plan.launches.size() == 1);
    const ir::Kernel& kernel = *planned.plan.kernels[0];
    REQUIRE(kernel.split);
    const emit::Geometry geometry = emit::geometry(kernel, target, planned.plan.launches[0].ints);
    CHECK(emit::split_scratch_bytes(kernel, geometry, planned.plan.launches[0].ints) <=
          std::size_t{256} * 1024 * geometry.workgroups / geometry.parts);
    return geometry;
  };
  const auto var = [](const AnyTensor& x) { return x.cast(DType::f32).var({0}, 0); };
  const auto sum = [](const AnyTensor& x) { return x.sum(0); };
  // 64 bytes of a row for each workgroup.
  const emit::Geometry narrow = shape_of({16384, 256}, DType::bf16, var);
  CHECK(narrow.lanes <= 64);
  CHECK(narrow.lanes * narrow.rows == 512);
  CHECK(narrow.workgroups >= 128);
  // One sum of a column and few parts are little to join.
  CHECK(shape_of({8192, 4096}, DType::f32, sum).lanes == 256);
}

TEST_CASE("a batch norm that a program writes out by var and mean is as its layer") {
  const auto by_hand = [](const AnyTensor& x, const AnyTensor& weight, const AnyTensor& bias) {
    using A = AnyTensor;
    const A centred = A::sub(x, x.mean({0, 2}));
    const A y = A::mul(centred, A::add(x.var({0, 2}, 0), 1e-5).rsqrt());
    const Shape channels{weight.shape()[0], 1};
    return A::add(A::mul(y, weight.reshape(channels)), bias.reshape(channels));
  };
  const Shape shape{42, 256, 3136};
  CHECK(passes_of(gradients_of(shape, by_hand)) == passes_of(gradients_of(shape, batch_norm_layer)));
}

TEST_CASE("group norm's gradients take a kernel for groups and one for channels") {
  const auto norm = [](const AnyTensor& x, const AnyTensor& weight, const AnyTensor& bias) {
    const nn::GroupNorm layer{.groups = 32, .weight = Tensor<1>(weight), .bias = Tensor<1>(bias)};
    return layer.forward(Tensor<3>(x)).dynamic();
  };
  for (const Shape& shape : {Shape{64, 512, 1024}, Shape{256, 2048, 49}}) {
    CAPTURE(to_string(shape));
    CHECK(passes_of(gradients_of(shape, norm)) == Passes{2, 4});
  }
}

TEST_CASE("a factor of all terms scales their sum, and equal sums are one") {
  const auto sums = [](bool factors) {
    return testing::planned(
        [&](const Device& device) {
          const AnyTensor x = testing::input({64, 4096}, device, DType::f32),
                          row = testing::input({64, 1}, device, DType::f32);
          using A = AnyTensor;
          if (!factors) return std::vector{x.sum(1)};
          return std::vector{x.sum(1), A::mul(x, row).sum(1), A::mul(A::mul(row, x).neg(), row.exp()).sum(1)};
        },
        like_a_gpu());
  };
  const auto count = [](const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find("reduce sum", at)) != std::string::npos; ++at) ++n;
    return n;
  };
  CHECK(count(reductions_of(sums(false))) == 1);
  CHECK(count(reductions_of(sums(true))) == 1);
}

TEST_CASE("few results of a kernel with much work for each element are shared out, others are not") {
  const auto launches = [](int operations) {
    return passes_of(testing::planned(
                         [&](const Device& device) {
                           using A = AnyTensor;
                           const A x = testing::input({1024, 256}, device, DType::f32);
                           A y = x;
                           for (int i = 0; i < operations; ++i) y = A::mul(A::add(y, 0.5), x);
                           return std::vector{A::mul(y, y.sum(0))};
                         },
                         like_a_gpu()))
        .launches;
  };
  CHECK(launches(2) == 1);
  CHECK(launches(40) == 2);
}

TEST_CASE("rows of ragged stretches are held by single elements where a lane has few") {
  const auto is_ragged = [](std::int64_t groups) {
    const Planned planned = testing::planned(
        [&](const Device& device) {
          const nn::GroupNorm layer{
              .groups = groups, .weight = Tensor<1>(testing::input({2048}, device, DType::f32)), .bias = {}};
          return std::vector{
              layer.forward(Tensor<3>(testing::input({256, 2048, 49}, device, DType::f32))).dynamic()};
        },
        like_a_gpu());
    REQUIRE(planned.plan.kernels.size() == 1);
    REQUIRE(planned.plan.kernels[0]->row_elements > 0);
    return planned.plan.kernels[0]->row_ragged;
  };
  CHECK(is_ragged(32));
  CHECK_FALSE(is_ragged(4));
}

TEST_CASE("of a 16-bit row with weights of its stretches a lane holds the row alone") {
  const Planned planned = testing::planned(
      [](const Device& device) {
        const nn::GroupNorm layer{.groups = 32,
                                  .weight = Tensor<1>(testing::input({256}, device)),
                                  .bias = Tensor<1>(testing::input({256}, device))};
        return std::vector{layer.forward(Tensor<3>(testing::input({64, 256, 1024}, device))).dynamic()};
      },
      like_a_gpu());
  REQUIRE(planned.plan.kernels.size() == 1);
  const std::string text = emit::emit(*planned.plan.kernels[0], testing::hopper()).text;
  CHECK(text.find("h0[") != std::string::npos);
  CHECK(text.find("h1[") == std::string::npos);
}
