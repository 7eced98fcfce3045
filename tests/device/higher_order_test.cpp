// Derivatives of gradients, products with Jacobians and Hessians, checkpoints and functions with gradients of
// their own, on every device, against PyTorch.
#include <cmath>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/pytorch/autodiff.h"
#include "tests/support/reference/oracle_backend.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

using namespace sinter;

namespace {

Device training() { return testing::test_device().autodiff(); }

template <std::size_t Rank>
Tensor<Rank> tensor(const std::vector<float>& values, const Shape& shape) {
  return Tensor<Rank>(tensor_of(values, shape, training()));
}
template <std::size_t Rank>
Tensor<Rank> leaf(const std::vector<float>& values, const Shape& shape) {
  return tensor<Rank>(values, shape).require_grad();
}

template <std::size_t Rank>
void check(const Tensor<Rank>& got, const std::vector<float>& expected, double tolerance = 2e-5) {
  check_close(got.dynamic(), expected, tolerance);
}

}  // namespace

TEST_CASE("the gradient penalty of a critic") {
  using namespace reference;
  const auto x = leaf<2>(penalty_x, {4, 5}), w = leaf<2>(penalty_w, {5, 6}), v = leaf<2>(penalty_v, {6, 1});
  const auto critic = x.matmul(w).tanh().matmul(v);
  const Tensor<2> by_x = gradient(critic.sum(), x);
  const auto norms = (by_x.square().sum(1) + 1e-6).sqrt();
  const auto loss = critic.mean() + (norms - 1.0).square().mean() * 10.0;
  check(loss, penalty_out, 1e-4);
  const auto [dx, dw, dv] = gradient(loss, {x, w, v}, {.differentiable = false});
  check(dx, penalty_grad_x, 2e-4);
  check(dw, penalty_grad_w, 2e-4);
  check(dv, penalty_grad_v, 2e-4);
  const Gradients all = loss.backward();  // what gradient() read is still there
  check(*all.get(w), penalty_grad_w, 2e-4);
}

TEST_CASE("the gradient penalty of a critic with a convolution") {
  using namespace reference;
  const auto x = leaf<4>(conv_penalty_x, {2, 2, 5, 6}), k = leaf<4>(conv_penalty_k, {4, 2, 3, 2});
  const auto v = leaf<2>(conv_penalty_v, {4, 1});
  const auto image = x.conv2d(k, {.stride = {1, 2}, .padding = {1, 0}}).sigmoid();
  const auto critic = image.mean({2, 3}).reshape({2, 4}).matmul(v);
  const Tensor<4> by_x = gradient(critic.sum(), x);
  const auto loss = by_x.square().sum();
  check(loss, conv_penalty_out, 1e-4);
  const auto [dx, dk, dv] = gradient(loss, std::tie(x, k, v));
  check(dx, conv_penalty_grad_x, 1e-4);
  check(dk, conv_penalty_grad_k, 1e-4);
  check(dv, conv_penalty_grad_v, 1e-4);
}

TEST_CASE("third derivatives, with indexed reads and sums") {
  using namespace reference;
  const auto x = leaf<2>(third_x, {3, 4});
  const auto columns = Tensor<1, Int>::from_data({2, 0, 2, 1}, training());
  const auto rows = Tensor<1, Int>::from_data({4, 0, 4}, training());
  const auto weights = Tensor<2>::from_data({{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, training()) / 4.0;
  auto y = log_softmax(x, 1).narrow(1, 1, 1).sum() + (x.index_select(1, columns) * x).prod(1).sum() / 8.0 +
           Tensor<2>::zeros({5, 4}, training()).index_add(0, rows, x.sin()).square().sum();
  for (int order = 0; order < 2; ++order) y = (gradient(y, x) * weights).sum();
  check(y, third_out, 1e-3);
  check(gradient(y, x), third_grad_x, 2e-3);
}

TEST_CASE("products with the Jacobian and the Hessian") {
  using namespace reference;
  const auto x = tensor<2>(product_x, {3, 4}), u = tensor<2>(product_u, {3, 4});
  const auto v = tensor<1>(product_v, {4});
  const auto row_norms = [](const Tensor<2>& x) {
    const auto scale = Tensor<2>::from_data({{1}, {2}, {3}}, x.device().inner());
    return (x.square() * scale).sum(0).reshape({4}).exp().log1p();
  };
  const auto rolled = [](const Tensor<2>& x) { return (x.sin() * x.roll(1, 1)).sum(); };
  for (const Device& device : {training(), training().inner()}) {
    const auto at = x.to_device(device);
    const auto [y, vj] = vjp(row_norms, at, v);
    check(vj, product_vjp, 1e-4);
    const auto [z, ju] = jvp(row_norms, at, u);
    check(ju, product_jvp, 1e-4);
    check(hvp(rolled, at, u), product_hvp, 1e-4);
    CHECK(y.device() == device);
    CHECK(vj.device() == device);
    CHECK(ju.device() == device);
    CHECK_FALSE(ju.requires_grad());
  }
  const auto [value, slope] = jvp([](const AnyTensor& x) { return x.exp(); }, x.dynamic(), u.dynamic());
  check(Tensor<2>(slope) / Tensor<2>(value), product_u, 1e-5);
}

TEST_CASE("a Hessian-vector product is the dense Hessian times the vector") {
  const auto x = tensor<1>({0.5f, -1.25f, 0.75f, 2}, {4}), v = tensor<1>({1, -0.5f, 0.25f, 2}, {4});
  const auto w = leaf<2>({1, 2, 0, 1, 0.5f, 1, 1, 0, 2, 1, 1, 0.25f, 1, 0, 0.5f, 1}, {4, 4});
  const auto f = [&](const Tensor<1>& x) {
    return (x.reshape({1, 4}).matmul(w).tanh() * x.exp().reshape({1, 4})).sum();
  };
  const auto leaf_x = x.require_grad();
  const Tensor<1> slope = gradient(f(leaf_x), leaf_x);
  auto product = Tensor<1>::zeros({4}, training());
  for (std::int64_t i = 0; i < 4; ++i) {
    const Tensor<1> row = gradient(slope.narrow(0, i, 1).sum(), leaf_x);
    product = product + row * v.narrow(0, i, 1);  // symmetric: rows are columns
  }
  const Tensor<1> direct = hvp(f, x, v);
  check(direct, product.detach().to_vector<float>(), 1e-4);
  // f reads w, which has a history: the product can be differentiated by it.
  CHECK(direct.requires_grad());
  const Tensor<2> by_w = gradient(direct.sum(), w), expected = gradient(product.sum(), w);
  check(by_w, expected.detach().to_vector<float>(), 1e-3);
}

TEST_CASE("step functions have gradients of zeros") {
  using namespace reference;
  const auto x = leaf<1>(steps_x, {6});
  const auto y = x.floor() + x.ceil() * x + x.round() + x.trunc() + x.sign() * x.square();
  check(*y.sum().backward().get(x), steps_grad_x);
  CHECK(x.floor().requires_grad());
  const Tensor<1> alone = *x.round().sum().backward().get(x);
  CHECK(alone.to_vector<float>() == std::vector<float>(6, 0.0f));
  CHECK(gradient(x.sign().sum(), x).to_vector<float>() == std::vector<float>(6, 0.0f));
}

TEST_CASE("gradients by results on the way, with seeds, and of several losses over one trunk") {
  const auto x = leaf<1>({1, 2, 3}, {3}), unused = leaf<1>({1}, {1});
  const auto trunk = x * x;
  const auto y = trunk * x;
  const auto seed = tensor<1>({1, 0, -2}, {3});
  const auto list = gradient(y, {x, trunk, unused, y}, {.seed = seed});
  check(list[0], {3, 0, -54}, 1e-5);
  check(list[1], {1, 0, -6}, 1e-5);  // of trunk as a variable, beside x
  check(list[2], {0}, 0);
  check(list[3], {1, 0, -2}, 0);
  const auto first = trunk.sum(), second = trunk.exp().sum();
  check(gradient(first, x), {2, 4, 6});
  check(gradient(second, trunk), trunk.detach().exp().to_vector<float>(), 1e-4);
  check(*first.backward({.keep_history = true}).get(x), {2, 4, 6});
  check(*y.backward({.seed = seed, .differentiable = true}).get(x), {3, 0, -54});
  CHECK(second.backward().get(x).has_value());
}

TEST_CASE("a checkpoint gives the gradients that its function gives, dropout included") {
  Device device = training();
  const auto x = leaf<2>(reference::penalty_x, {4, 5});
  const auto config = nn::LinearConfig{.d_in = 5, .d_out = 5};
  device.seed(3);
  const std::vector<nn::Linear> layers{config.init(device), config.init(device), config.init(device)};
  const nn::Dropout dropout{.probability = 0.5, .training = true};
  const auto block = [&](const Tensor<2>& x, const nn::Linear& layer) {
    return dropout.forward(layer.forward(x).tanh()) + x;
  };
  const auto run = [&](bool checks) {
    device.seed(7);
    auto y = x;
    for (const nn::Linear& layer : layers) {
      if (checks)
        y = checkpoint([&](const Tensor<2>& x) { return block(x, layer); }, y);
      else
        y = block(y, layer);
    }
    const auto loss = (y * y).sum();
    const auto drawn_after = Tensor<1>::rand({3}, device);
    Gradients gradients = loss.backward();
    const auto drawn_later = Tensor<1>::rand({3}, device);
    return std::tuple(loss, std::move(gradients), drawn_after, drawn_later);
  };
  const auto [expected_loss, expected, expected_after, expected_later] = run(false);
  const auto [loss, gradients, after, later] = run(true);
  CHECK(loss.item() == doctest::Approx(expected_loss.item()));
  CHECK(gradients.size() == 7);
  check(*gradients.get(x), expected.get(x)->to_vector<float>(), 1e-5);
  for (const nn::Linear& layer : layers)
    check(*gradients.get(layer.weight), expected.get(layer.weight)->to_vector<float>(), 1e-5);
  // What ran again drew nothing from the thread's stream.
  CHECK(after.to_vector<float>() == expected_after.to_vector<float>());
  CHECK(later.to_vector<float>() == expected_later.to_vector<float>());
}

TEST_CASE("a checkpoint of several inputs and results, nested, differentiated twice") {
  const auto x = leaf<1>({0.5f, 1, 1.5f}, {3}), z = leaf<1>({2, -1, 0.5f}, {3}), w = leaf<1>({1, 2, 3}, {3});
  const auto f = [w](const Tensor<1>& x, const Tensor<1>& z) {
    const auto inner = checkpoint([w](const Tensor<1>& x) { return (x * w).sin(); }, x);
    return std::tuple(inner * z, (z * z * x).exp());
  };
  const auto gradients_of = [&](const std::tuple<Tensor<1>, Tensor<1>>& y) {
    const auto loss = (std::get<0>(y) * std::get<1>(y)).sum();
    const auto [dx, dz, dw] = gradient(loss, {x, z, w});
    const auto [ddx, ddz, ddw] = gradient((dx * dz + dw).sum(), {x, z, w});
    return std::vector{dx, dz, dw, ddx, ddz, ddw};
  };
  const auto expected = gradients_of(f(x * 1.0, z)), got = gradients_of(checkpoint(f, x * 1.0, z));
  for (std::size_t i = 0; i < got.size(); ++i) check(got[i], expected[i].detach().to_vector<float>(), 1e-4);
}

TEST_CASE("a function with a gradient of its own, differentiated twice") {
  const CustomFunction power(
      "power",
      [](Saved& saved, const Tensor<1>& x, const Tensor<1>& scale) {
        const auto y = (x.log() * 3.0).exp();
        saved.keep(x, scale, y);
        return std::tuple(y * 1.0 + 0.0, y, y * scale);
      },
      [](const Saved& saved, const Tensor<1>& a, const Tensor<1>& b, const Tensor<1>& c) {
        const auto x = saved.get<1>(0), scale = saved.get<1>(1), y = saved.get<1>(2);
        const auto slope = y * 3.0 / x;
        return std::tuple((a + b + c * scale) * slope, c * y);
      });
  const auto x = leaf<1>({0.5f, 1, 2}, {3}), scale = leaf<1>({1, -1, 0.5f}, {3});
  const auto [a, b, c] = power(x, scale);
  const auto cube = x * x * x;
  const auto [da, ds] = gradient((a * c).sum(), {x, scale});
  const auto [ea, es] = gradient((cube * cube * scale).sum(), {x, scale});
  check(da, ea.detach().to_vector<float>(), 1e-4);
  check(ds, es.detach().to_vector<float>(), 1e-4);
  const auto [dda, dds] = gradient((da * ds).sum(), {x, scale});
  const auto [eea, ees] = gradient((ea * es).sum(), {x, scale});
  check(dda, eea.detach().to_vector<float>(), 1e-3);
  check(dds, ees.detach().to_vector<float>(), 1e-3);
}

TEST_CASE("gradients go back across devices") {
  const Device other = testing::test_device() == Device::host()
                           ? testing::device_over(testing::make_oracle_backend()).autodiff()
                           : Device::host().autodiff();
  const auto x = leaf<1>({1, 2, 3}, {3});
  const auto w = Tensor<1>::from_data({2, 3, 4}, other).require_grad();
  const auto y = (x * x).to_device(other) * w;
  const auto loss = y.to_device(training()).exp().log().sum();
  const auto [dx, dw] = gradient(loss, {x, w});
  check(dx, {4, 12, 24}, 1e-4);
  check(dw, {1, 4, 9}, 1e-4);
  CHECK(dw.device() == other);
  check(gradient((dx * dx).sum(), x), {32, 144, 384}, 2e-3);
  CHECK_FALSE((x * x).to_device(other.inner()).requires_grad());
  const Gradients gradients = loss.backward();
  check(*gradients.get(x), {4, 12, 24}, 1e-4);
  CHECK(gradients.get(w)->device() == other.inner());
}

TEST_CASE("slices of a sequence, in any order, overlapping, of several axes") {
  const std::int64_t n = 40;
  std::vector<float> numbers, expected;
  for (std::int64_t i = 0; i < n * 3; ++i) numbers.push_back(static_cast<float>((i * 37 % 23) - 11) / 8);
  expected.assign(numbers.size(), 0);
  const auto x = leaf<2>(numbers, {n, 3});
  auto total = Tensor<0>::full({}, 0, training());
  const auto add = [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                       double by) {
    total = total + x.narrow(0, row, rows).narrow(1, column, columns).sum() * by;
    for (std::int64_t i = row; i < row + rows; ++i)
      for (std::int64_t j = column; j < column + columns; ++j)
        expected[static_cast<std::size_t>(i * 3 + j)] += static_cast<float>(by);
  };
  for (std::int64_t i = n; i-- > 0;) add(i * 7 % n, 1, 0, 3, 1 + static_cast<double>(i % 5));
  for (std::int64_t i = 0; i + 4 <= n; i += 3) add(i, 4, 1, 2, 0.5);
  for (int i = 0; i < 3; ++i) add(5, 2, 0, 1, 0.25);
  add(0, n, 2, 1, 2);
  add(7, 0, 0, 3, 1);
  check(*total.backward().get(x), expected, 1e-5);
}

TEST_CASE("the second derivative of a variance goes through its mean") {
  const auto x = leaf<1>({1, 2, 4, 7}, {4}), v = tensor<1>({1, -2, 0.5f, 3}, {4});
  const Tensor<1> by_x = gradient(x.var(), x);
  check(by_x, {-5.f / 3, -1, 1.f / 3, 7.f / 3});
  // 2 / (n - 1) times v less its mean, which is 0.625
  check(gradient((by_x * v).sum(), x), {0.25f, -1.75f, -1.f / 12, 19.f / 12});
}
