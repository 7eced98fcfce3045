// Layers and losses against values and gradients of PyTorch, and the rules of modules.
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>

#include "tests/pytorch/layers.h"
#include "tests/support/values.h"

using namespace sinter;

namespace {

Device training() { return Device::best().autodiff(); }

struct Input {
  AnyTensor tensor;
  const std::vector<float>& gradient;
};

AnyTensor leaf(const std::vector<float>& values, const Shape& shape) {
  return tensor_of(values, shape, training()).require_grad();
}

// Checks an output, and the gradients of sum(output * weights).
void check_case(const AnyTensor& out, const std::vector<float>& expected, const std::vector<float>& weights,
                const std::vector<Input>& inputs) {
  AnyTensor product = AnyTensor::mul(out, tensor_of(weights, out.shape(), training()));
  AnyTensor loss = product.sum(product.all_axes()).reshape({});
  Gradients gradients = loss.backward();
  check_close(out, expected, 2e-5);
  for (const Input& input : inputs) {
    std::optional<AnyTensor> gradient = gradients.get(input.tensor);
    REQUIRE(gradient.has_value());
    CHECK(gradient->shape() == input.tensor.shape());
    check_close(*gradient, input.gradient, 2e-5);
  }
}

struct Net {
  nn::Linear hidden, out;
  nn::Gelu act;
  nn::Dropout dropout;
  Tensor<2> forward(Tensor<2> x) const {
    return out.forward(dropout.forward(act.forward(hidden.forward(x))));
  }
};

Net make_net(const Device& device) {
  return {.hidden = nn::LinearConfig{.d_in = 6, .d_out = 5}.init(device),
          .out = nn::LinearConfig{.d_in = 5, .d_out = 3, .bias = false}.init(device),
          .act = {},
          .dropout = {.probability = 0.5, .training = true}};
}

template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("linear") {
  using namespace reference;
  AnyTensor x = leaf(linear_x, {4, 5}), weight = leaf(linear_weight, {3, 5}), bias = leaf(linear_bias, {3});
  nn::Linear layer{Tensor<2>(weight), Tensor<1>(bias)};
  check_case(layer.forward(Tensor<2>(x)).dynamic(), linear_out, linear_weights,
             {{x, linear_grad_x}, {weight, linear_grad_weight}, {bias, linear_grad_bias}});
}

TEST_CASE("linear on more and fewer dimensions than two") {
  using namespace reference;
  Device device = Device::best();
  nn::Linear layer{Tensor<2>(tensor_of(linear_weight, {3, 5}, device)),
                   Tensor<1>(tensor_of(linear_bias, {3}, device))};
  Tensor<3> y = layer.forward(Tensor<3>(tensor_of(linear_x, {2, 2, 5}, device)));
  CHECK(y.shape() == Shape{2, 2, 3});
  check_close(y.dynamic(), linear_out);
  std::vector<float> row(linear_x.begin(), linear_x.begin() + 5);
  Tensor<1> one = layer.forward(Tensor<1>(tensor_of(row, {5}, device)));
  CHECK(one.shape() == Shape{3});
  check_close(one.dynamic(), {linear_out.begin(), linear_out.begin() + 3});
  CHECK(contains(error_of([&] {
                   layer.forward(Tensor<2>(tensor_of(linear_x, {5, 4}, device)));
                 }),
                 "[linear] the last dimension of the input (5, 4) is not d_in of the weight (3, 5)"));
}

TEST_CASE("a linear layer without inputs gives its bias, at any rank") {
  const Device device = Device::best();
  const nn::Linear layer{Tensor<2>::zeros({3, 0}, device), Tensor<1>::from_data({1, 2, 3}, device)};
  check_close(layer.forward(Tensor<1>::zeros({0}, device)).dynamic(), {1, 2, 3});
  check_close(layer.forward(Tensor<2>::zeros({2, 0}, device)).dynamic(), {1, 2, 3, 1, 2, 3});
  const Tensor<3> y = layer.forward(Tensor<3>::zeros({2, 1, 0}, device));
  CHECK(y.shape() == Shape{2, 1, 3});
  check_close(y.dynamic(), {1, 2, 3, 1, 2, 3});
  CHECK(layer.forward(Tensor<3>::zeros({2, 0, 0}, device)).shape() == Shape{2, 0, 3});
}

TEST_CASE("conv2d") {
  using namespace reference;
  AnyTensor x = leaf(conv_x, {2, 2, 5, 6}), weight = leaf(conv_weight, {3, 2, 3, 3}),
            bias = leaf(conv_bias, {3});
  nn::Conv2d layer{Tensor<4>(weight), Tensor<1>(bias)};
  check_case(layer.forward(Tensor<4>(x)).dynamic(), conv_out, conv_weights,
             {{x, conv_grad_x}, {weight, conv_grad_weight}, {bias, conv_grad_bias}});
}

TEST_CASE("conv2d with stride, padding, dilation and groups") {
  using namespace reference;
  AnyTensor x = leaf(strided_conv_x, {1, 4, 6, 5}), weight = leaf(strided_conv_weight, {6, 2, 3, 2}),
            bias = leaf(strided_conv_bias, {6});
  nn::Conv2d layer{Tensor<4>(weight), Tensor<1>(bias), {2, 1}, {1, 2}, {1, 2}, 2};
  check_case(layer.forward(Tensor<4>(x)).dynamic(), strided_conv_out, strided_conv_weights,
             {{x, strided_conv_grad_x}, {weight, strided_conv_grad_weight}, {bias, strided_conv_grad_bias}});
}

TEST_CASE("average pooling") {
  using namespace reference;
  SUBCASE("counting the padding") {
    AnyTensor x = leaf(avg_pool_x, {1, 2, 5, 6});
    nn::AvgPool2d pool{.kernel = {2, 3}, .stride = {{2, 2}}, .padding = {1, 1}};
    check_case(pool.forward(Tensor<4>(x)).dynamic(), avg_pool_out, avg_pool_weights, {{x, avg_pool_grad_x}});
  }
  SUBCASE("not counting it") {
    AnyTensor x = leaf(avg_pool_inside_x, {1, 2, 5, 6});
    nn::AvgPool2d pool{.kernel = {2, 3}, .stride = {{2, 2}}, .padding = {1, 1}, .count_include_pad = false};
    check_case(pool.forward(Tensor<4>(x)).dynamic(), avg_pool_inside_out, avg_pool_inside_weights,
               {{x, avg_pool_inside_grad_x}});
  }
  SUBCASE("to a size that divides") {
    AnyTensor x = leaf(adaptive_pool_x, {1, 2, 6, 4});
    nn::AdaptiveAvgPool2d pool{.output = {3, 2}};
    check_case(pool.forward(Tensor<4>(x)).dynamic(), adaptive_pool_out, adaptive_pool_weights,
               {{x, adaptive_pool_grad_x}});
  }
  SUBCASE("to a size that does not") {
    AnyTensor x = leaf(uneven_adaptive_pool_x, {1, 2, 5, 7});
    nn::AdaptiveAvgPool2d pool{.output = {3, 4}};
    check_case(pool.forward(Tensor<4>(x)).dynamic(), uneven_adaptive_pool_out, uneven_adaptive_pool_weights,
               {{x, uneven_adaptive_pool_grad_x}});
  }
  SUBCASE("sizes that cannot be") {
    Tensor<4> x(tensor_of(avg_pool_x, {1, 2, 5, 6}, Device::best()));
    CHECK(contains(error_of([&] {
                     nn::AvgPool2d{.kernel = {6, 1}}.forward(x);
                   }),
                   "[avg_pool2d] a window of 6"));
    CHECK(contains(error_of([&] {
                     nn::AvgPool2d{.kernel = {2, 2}, .padding = {2, 0}}.forward(x);
                   }),
                   "padding is 2"));
    CHECK(contains(error_of([&] { nn::AvgPool2d{.kernel = {2, 0}}.forward(x); }), "kernel is 0"));
    CHECK(contains(error_of([&] { nn::AdaptiveAvgPool2d{.output = {0, 1}}.forward(x); }), "output is 0"));
  }
}

TEST_CASE("activations") {
  using namespace reference;
  const Shape shape{3, 4};
  auto check = [&](const std::function<Tensor<2>(Tensor<2>)>& function, const std::vector<float>& values,
                   const std::vector<float>& out, const std::vector<float>& weights,
                   const std::vector<float>& gradient) {
    AnyTensor x = leaf(values, shape);
    check_case(function(Tensor<2>(x)).dynamic(), out, weights, {{x, gradient}});
  };
  check([](auto x) { return nn::Relu().forward(x); }, relu_x, relu_out, relu_weights, relu_grad_x);
  check([](auto x) { return nn::Gelu().forward(x); }, gelu_x, gelu_out, gelu_weights, gelu_grad_x);
  check([](auto x) { return nn::Gelu{.approximate = true}.forward(x); }, gelu_tanh_x, gelu_tanh_out,
        gelu_tanh_weights, gelu_tanh_grad_x);
  check([](auto x) { return nn::Silu().forward(x); }, silu_x, silu_out, silu_weights, silu_grad_x);
  check([](auto x) { return nn::LeakyRelu().forward(x); }, leaky_relu_x, leaky_relu_out, leaky_relu_weights,
        leaky_relu_grad_x);
  check([](auto x) { return softmax(x, 1); }, softmax_x, softmax_out, softmax_weights, softmax_grad_x);
  check([](auto x) { return log_softmax(x, -1); }, log_softmax_x, log_softmax_out, log_softmax_weights,
        log_softmax_grad_x);
}

TEST_CASE("activations at the edges") {
  Device device = Device::best();
  std::vector<float> edge{NAN, -INFINITY, INFINITY, -0.0f};
  auto edges = values_of(relu(Tensor<1>(tensor_of(edge, {4}, device))).dynamic());
  CHECK(std::isnan(edges[0]));
  CHECK(edges[1] == 0);
  CHECK(edges[2] == INFINITY);
  CHECK(edges[3] == 0);
  auto probabilities =
      values_of(softmax(Tensor<1>(tensor_of({1000, 1000, -1000}, {3}, device)), 0).dynamic());
  check_close(probabilities, {0.5, 0.5, 0});
  auto logarithms =
      values_of(log_softmax(Tensor<1>(tensor_of({1000, 1000, -1000}, {3}, device)), 0).dynamic());
  check_close(logarithms, {-0.693147181f, -0.693147181f, -2000.693147f});
}

TEST_CASE("cross-entropy") {
  using namespace reference;
  AnyTensor x = leaf(cross_entropy_x, {4, 5});
  std::vector<std::int64_t> labels{1, 4, 0, 3};
  auto targets = [&] {
    return Tensor<1, Int>(
        AnyTensor::from_bytes(std::as_bytes(std::span(labels)), {4}, DType::i64, Device::best()));
  };
  Tensor<0> loss = nn::cross_entropy(Tensor<2>(x), targets());
  Gradients gradients = loss.dynamic().backward();
  check_close(loss.dynamic(), cross_entropy_out);
  check_close(gradients.get(x).value(), cross_entropy_grad_x);

  SUBCASE("a target that is no class") {
    for (std::int64_t wrong : {-1, 5}) {
      labels[2] = wrong;
      CHECK(std::isnan(values_of(nn::cross_entropy(Tensor<2>(x.inner()), targets()).dynamic())[0]));
    }
  }
  SUBCASE("logits so large that exp overflows") {
    Tensor<2> large(tensor_of({0, 200, 0, 0, -200, 0, 0, 0}, {4, 2}, Device::best()));
    labels = {0, 0, 0, 0};
    check_close(nn::cross_entropy(large, targets()).dynamic(),
                {(200 + std::log(2.0f) + 200 + std::log(2.0f)) / 4});
  }
  SUBCASE("batches of different sizes") {
    labels = {1, 2, 3, 4};
    Tensor<2> three(tensor_of(std::vector<float>(15), {3, 5}, Device::best()));
    CHECK(contains(error_of([&] { nn::cross_entropy(three, targets()); }),
                   "[cross_entropy] logits (3, 5) and targets (4)"));
  }
}

TEST_CASE("mean squared error") {
  using namespace reference;
  AnyTensor x = leaf(mse_x, {3, 4}), y = leaf(mse_y, {3, 4});
  Tensor<0> loss = nn::mse(Tensor<2>(x), Tensor<2>(y));
  Gradients gradients = loss.dynamic().backward();
  check_close(loss.dynamic(), mse_out);
  check_close(gradients.get(x).value(), mse_grad_x);
  check_close(gradients.get(y).value(), mse_grad_y);
  CHECK(contains(error_of([&] { nn::mse(Tensor<1>(x.reshape({12})), Tensor<1>(leaf(linear_bias, {3}))); }),
                 "[mse]"));
}

TEST_CASE("parameters before training") {
  Device device = training();
  device.seed(3);
  nn::Linear linear = nn::LinearConfig{.d_in = 400, .d_out = 50}.init(device);
  nn::Conv2d conv = nn::Conv2dConfig{.channels = {8, 16}, .kernel = {3, 5}, .groups = 4}.init(device);
  CHECK(linear.weight.shape() == Shape{50, 400});
  CHECK(conv.weight.shape() == Shape{16, 2, 3, 5});
  REQUIRE(linear.bias.has_value());
  CHECK(linear.bias->shape() == Shape{50});
  auto check = [](const AnyTensor& tensor, double bound) {
    CHECK(tensor.requires_grad());
    double sum = 0, squares = 0, largest = 0;
    std::vector<float> values = values_of(tensor);
    for (double value : values) {
      sum += value;
      squares += value * value;
      largest = std::max(largest, std::abs(value));
    }
    double count = static_cast<double>(values.size());
    CHECK(largest <= bound);
    CHECK(largest > 0.9 * bound);
    CHECK(std::abs(sum / count) < 5 * bound / std::sqrt(3 * count));
    CHECK(std::sqrt(squares / count) == doctest::Approx(bound / std::sqrt(3)).epsilon(0.15));
  };
  check(linear.weight.dynamic(), 1 / std::sqrt(400.0));
  check(linear.bias->dynamic(), 1 / std::sqrt(400.0));
  check(conv.weight.dynamic(), 1 / std::sqrt(30.0));
  CHECK_FALSE((nn::LinearConfig{.d_in = 2, .d_out = 3, .bias = false}.init(device).bias.has_value()));
  CHECK_FALSE(
      (nn::LinearConfig{.d_in = 2, .d_out = 3}.init(device.inner()).weight.dynamic().requires_grad()));
  CHECK(contains(error_of([&] { nn::LinearConfig{.d_in = 0, .d_out = 3}.init(device); }),
                 "[linear] d_in is 0"));
  CHECK(contains(error_of([&] {
                   nn::Conv2dConfig{.channels = {8, 6}, .kernel = {3, 3}, .groups = 4}.init(device);
                 }),
                 "[conv2d] 4 groups do not divide 8 channels in and 6 out"));
}

TEST_CASE("dropout") {
  Device device = training();
  device.seed(1);
  const std::int64_t count = 20000;
  AnyTensor ones = AnyTensor::full({count}, 1.0f, DType::f32, device).require_grad();
  nn::Dropout dropout{.probability = 0.25, .training = true};
  Tensor<1> y = dropout.forward(Tensor<1>(ones));
  Gradients gradients = y.dynamic().sum(0).reshape({}).backward();
  std::vector<float> values = values_of(y.dynamic());
  std::int64_t dropped = 0;
  for (float value : values) {
    if (value == 0)
      ++dropped;
    else
      CHECK(value == doctest::Approx(1 / 0.75));
  }
  CHECK(static_cast<double>(dropped) / count == doctest::Approx(0.25).epsilon(0.08));
  // The gradient passes where the value did.
  check_close(gradients.get(ones).value(), values);
  // Another call, another mask; the same seed, the same mask.
  CHECK(values_of(dropout.forward(Tensor<1>(ones)).dynamic()) != values);

  SUBCASE("passes everything when it is not in training") {
    CHECK(values_of(nn::valid(dropout).forward(Tensor<1>(ones)).dynamic()) == std::vector<float>(count, 1));
  }
  SUBCASE("probabilities 0 and 1, and others that are none") {
    CHECK(values_of(nn::Dropout{.probability = 0, .training = true}.forward(Tensor<1>(ones)).dynamic()) ==
          std::vector<float>(count, 1));
    CHECK(values_of(nn::Dropout{.probability = 1, .training = true}.forward(Tensor<1>(ones)).dynamic()) ==
          std::vector<float>(count, 0));
    for (const double wrong : {1.5, -0.1, std::nan("")}) {
      const nn::Dropout broken{.probability = wrong, .training = true};
      CHECK_THROWS_AS(broken.forward(Tensor<1>(ones)), Error);
      CHECK_THROWS_AS(nn::DropoutConfig{.probability = wrong}.init(device), Error);
      CHECK_THROWS_AS(nn::ChannelDropoutConfig{.probability = wrong}.init(device), Error);
      CHECK_THROWS_AS(nn::DropPathConfig{.probability = wrong}.init(device), Error);
      CHECK_THROWS_AS(nn::AlphaDropoutConfig{.probability = wrong}.init(device), Error);
    }
    for (const double wrong : {-0.1, std::nan("")})
      CHECK_THROWS_AS(nn::GaussianNoiseConfig{.deviation = wrong}.init(device), Error);
    const nn::MultiHeadAttentionConfig attention{.d_model = 2, .heads = 1, .dropout = 1.5};
    CHECK(contains(error_of([&] { attention.init(device); }),
                   "[dropout] the probability is 1.5, expected 0 to 1"));
  }
}

TEST_CASE("a plain struct is a module") {
  Device device = training();
  Net net = make_net(device);
  CHECK(num_parameters(net) == 6 * 5 + 5 + 5 * 3);
  std::vector<std::string> paths;
  visit_parameters(net, [&](const std::string& path, auto&) { paths.push_back(path); });
  CHECK(paths == std::vector<std::string>{"hidden.weight", "hidden.bias", "out.weight"});

  Tensor<2> x(AnyTensor::normal({4, 6}, 0, 1, device.inner()));
  Net still = nn::valid(net);
  visit_parameters(still, [](const std::string&, auto& parameter) {
    CHECK_FALSE(parameter.dynamic().requires_grad());
    CHECK_FALSE(parameter.dynamic().device().is_autodiff());
  });
  // Without dropout two calls agree; with it they do not.
  CHECK(values_of(still.forward(x).dynamic()) == values_of(still.forward(x).dynamic()));
  CHECK(values_of(net.forward(x).dynamic()) != values_of(net.forward(x).dynamic()));
}
