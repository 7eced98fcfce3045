// Layers against values and gradients of PyTorch, and their errors.
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>
#include <sinter/record.h>

#include "tests/pytorch/conv_cases.h"
#include "tests/pytorch/module_cases.h"
#include "tests/pytorch/norm_cases.h"

using namespace sinter;

namespace {

using Inputs = const std::vector<AnyTensor>&;

void check(const std::string& name, const reference::Function& function, double tolerance = 2e-5) {
  const reference::Cases* cases = &reference::module_cases;
  for (const reference::Cases* other : {&reference::norm_cases, &reference::conv_cases})
    if (other->count(name)) cases = other;
  reference::check(*cases, name, function, tolerance);
}

template <std::size_t R>
Tensor<R> t(const AnyTensor& x) {
  return Tensor<R>(x);
}
Tensor<1> v(const AnyTensor& x) { return Tensor<1>(x); }

Device training() { return Device::best().autodiff(); }

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

template <std::size_t R>
void check_batch_norm(const std::string& name) {
  // In training the output and the running statistics, one behind the other.
  check(name, [](Inputs x) {
    nn::BatchNorm layer{.weight = v(x[1]),
                        .bias = v(x[2]),
                        .running_mean = Buffer<1>(v(x[3])),
                        .running_var = Buffer<1>(v(x[4])),
                        .epsilon = 1e-4,
                        .momentum = 0.2,
                        .training = true};
    const AnyTensor y = layer.forward(t<R>(x[0])).dynamic();
    const AnyTensor parts[] = {y.reshape({-1}), layer.running_mean.dynamic(), layer.running_var.dynamic()};
    return AnyTensor::cat(parts, 0);
  });
  check(name + "_valid", [](Inputs x) {
    nn::BatchNorm layer{.weight = v(x[1]),
                        .bias = v(x[2]),
                        .running_mean = Buffer<1>(v(x[3])),
                        .running_var = Buffer<1>(v(x[4])),
                        .epsilon = 1e-4,
                        .momentum = 0.2,
                        .training = false};
    return layer.forward(t<R>(x[0])).dynamic();
  });
}

}  // namespace

TEST_CASE("normalisations") {
  check("layer_norm", [](Inputs x) { return nn::LayerNorm{v(x[1]), v(x[2])}.forward(t<3>(x[0])).dynamic(); });
  check("layer_norm_plain", [](Inputs x) {
    return nn::LayerNorm{{}, {}, 0.5}.forward(t<2>(x[0])).dynamic();
  });
  check("rms_norm", [](Inputs x) { return nn::RmsNorm{v(x[1]), 1e-3}.forward(t<3>(x[0])).dynamic(); });
  check("group_norm", [](Inputs x) {
    return nn::GroupNorm{2, v(x[1]), v(x[2])}.forward(t<4>(x[0])).dynamic();
  });
  check("instance_norm", [](Inputs x) { return nn::InstanceNorm{}.forward(t<3>(x[0])).dynamic(); });
  check("instance_norm_affine", [](Inputs x) {
    return nn::InstanceNorm{v(x[1]), v(x[2]), 1e-2}.forward(t<4>(x[0])).dynamic();
  });
  check_batch_norm<2>("batch_norm_1d");
  check_batch_norm<4>("batch_norm_2d");
  check_batch_norm<5>("batch_norm_3d");
  check("local_response_norm", [](Inputs x) {
    return nn::LocalResponseNorm{3, 0.5, 0.75, 2}.forward(t<3>(x[0])).dynamic();
  });
  check("local_response_norm_even", [](Inputs x) {
    return nn::LocalResponseNorm{4, 0.5, 0.6, 1}.forward(t<4>(x[0])).dynamic();
  });
}

TEST_CASE("batch norm trains, is saved, and infers") {
  const Device device = training();
  device.seed(5);
  const nn::BatchNorm layer = nn::BatchNormConfig{.channels = 3, .momentum = 0.5}.init(device);
  CHECK(num_parameters(layer) == 6);
  const auto x = Tensor<2>::normal({64, 3}, 2, 3, device);
  for (int i = 0; i < 8; ++i) layer.forward(x).sync();
  const record::Record record = record::to_record(layer);
  CHECK(record.find("running_mean"));
  CHECK(record.find("running_var"));
  CHECK(record.entries().size() == 4);
  const auto back = record::from_record(nn::BatchNormConfig{.channels = 3}.init(device.inner()), record);
  CHECK_FALSE(back.training);
  // The running statistics have come close to those of the batch: both ways of computing agree.
  const auto trained = values_of(layer.forward(x).dynamic());
  const auto inferred = values_of(back.forward(x.inner()).dynamic());
  double worst = 0;
  for (std::size_t i = 0; i < trained.size(); ++i)
    worst = std::max(worst, static_cast<double>(std::abs(trained[i] - inferred[i])));
  CHECK(worst < 0.05);
  CHECK(values_of(nn::valid(layer).forward(x).dynamic()) ==
        values_of(nn::valid(layer).forward(x.inner()).dynamic()));

  CHECK(
      contains(error_of([&] { layer.forward(x.narrow(0, 0, 1)); }),
               "[batch_norm] in training a channel of the input (1, 3) has 1 elements, expected 2 or more"));
  CHECK(contains(error_of([&] { layer.forward(x.narrow(1, 0, 2)); }),
                 "[batch_norm] axis 1 of the input (64, 2) is not of the layer's size 3"));
}

TEST_CASE("convolutions over one and three dimensions, and transposed") {
  check("conv1d", [](Inputs x) {
    return nn::Conv1d{t<3>(x[1]), v(x[2]), {2}, {1}, {2}, 2}.forward(t<3>(x[0])).dynamic();
  });
  check("conv3d", [](Inputs x) {
    return nn::Conv3d{t<5>(x[1]), v(x[2]), {2, 1, 1}, {1, 0, 1}, {1, 1, 2}}.forward(t<5>(x[0])).dynamic();
  });
  check("conv_transpose1d", [](Inputs x) {
    return nn::ConvTranspose1d{t<3>(x[1]), v(x[2]), {3}, {1}, {2}, {2}}.forward(t<3>(x[0])).dynamic();
  });
  check("conv_transpose2d", [](Inputs x) {
    return nn::ConvTranspose2d{t<4>(x[1]), v(x[2]), {2, 1}, {1, 2}, {1, 1}, {1, 0}, 2}
        .forward(t<4>(x[0]))
        .dynamic();
  });
  check("conv_transpose3d", [](Inputs x) {
    return nn::ConvTranspose3d{t<5>(x[1]), v(x[2]), {2, 2, 2}}.forward(t<5>(x[0])).dynamic();
  });
  // An output_padding of a stride and more, as the dilation allows: what PyTorch gives.
  const auto ones = [](auto... sizes) {
    return Tensor<sizeof...(sizes)>::ones({sizes...}, training().inner());
  };
  check_close(
      conv_transpose1d(ones(1, 1, 3), ones(1, 1, 3), {.padding = {2}, .output_padding = {2}, .dilation = {3}})
          .dynamic(),
      std::vector<float>(7, 1.0f));
  check_close(
      conv_transpose2d(ones(1, 1, 2, 2), ones(1, 1, 2, 2), {.output_padding = {1, 1}, .dilation = {2, 2}})
          .dynamic(),
      {1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0});
  CHECK(conv_transpose3d(ones(1, 1, 2, 2, 2), ones(1, 1, 2, 2, 2),
                         {.output_padding = {1, 1, 1}, .dilation = {2, 2, 2}})
            .sum()
            .item() == 64);
  const Device device = training();
  const auto layer =
      nn::ConvTranspose2dConfig{.channels = {4, 6}, .kernel = {3, 3}, .groups = 2}.init(device);
  CHECK(layer.weight.shape() == Shape{4, 3, 3, 3});
  CHECK(layer.bias->shape() == Shape{6});
  CHECK(nn::Conv3dConfig{.channels = {2, 4}, .kernel = {1, 2, 3}}.init(device).weight.shape() ==
        Shape{4, 2, 1, 2, 3});
  CHECK(contains(
      error_of([&] {
        nn::ConvTranspose1dConfig{.channels = {1, 1}, .kernel = {3}, .output_padding = {1}}.init(device);
      }),
      "an output padding is 1"));
  CHECK(contains(error_of([&] {
                   nn::Conv1dConfig{.channels = {3, 4}, .kernel = {3}, .groups = 2}.init(device);
                 }),
                 "[conv] 2 groups do not divide 3 channels in and 4 out"));
}

TEST_CASE("pools") {
  check("max_pool1d", [](Inputs x) { return nn::MaxPool1d{3, 2, 1}.forward(t<3>(x[0])).dynamic(); });
  check("max_pool2d", [](Inputs x) {
    return nn::MaxPool2d{{2, 3}, {{2, 1}}, {1, 1}, {2, 1}}.forward(t<4>(x[0])).dynamic();
  });
  check("avg_pool1d", [](Inputs x) { return nn::AvgPool1d{3, 2, 1}.forward(t<3>(x[0])).dynamic(); });
  check("adaptive_avg_pool1d",
        [](Inputs x) { return nn::AdaptiveAvgPool1d{3}.forward(t<3>(x[0])).dynamic(); });
  check("adaptive_max_pool1d",
        [](Inputs x) { return nn::AdaptiveMaxPool1d{3}.forward(t<3>(x[0])).dynamic(); });
  check("adaptive_max_pool2d", [](Inputs x) {
    return nn::AdaptiveMaxPool2d{{3, 2}}.forward(t<4>(x[0])).dynamic();
  });
  const auto x = Tensor<3>::zeros({1, 1, 4}, Device::best());
  CHECK(contains(error_of([&] { nn::MaxPool1d{.kernel = 3, .dilation = 2}.forward(x); }),
                 "[max_pool2d] a window of 5 does not fit in the 4 elements"));
}

TEST_CASE("embedding, bilinear, and activations with parameters") {
  check("embedding", [](Inputs x) {
    return nn::Embedding{t<2>(x[1])}.forward(Tensor<2, Int>(x[0].cast(DType::i64))).dynamic();
  });
  check("bilinear", [](Inputs x) {
    return nn::Bilinear{t<3>(x[2]), v(x[3])}.forward(t<2>(x[0]), t<2>(x[1])).dynamic();
  });
  check("softplus", [](Inputs x) { return nn::Softplus{}.forward(t<2>(x[0])).dynamic(); });
  check("log_softmax", [](Inputs x) { return nn::LogSoftmax{0}.forward(t<2>(x[0])).dynamic(); });
  check("prelu", [](Inputs x) { return nn::Prelu{v(x[1])}.forward(t<3>(x[0])).dynamic(); });
  check("glu", [](Inputs x) { return nn::Glu{1}.forward(t<2>(x[0])).dynamic(); });
  check("swiglu", [](Inputs x) {
    return nn::SwiGlu{{t<2>(x[1]), v(x[2])}, {t<2>(x[3]), v(x[4])}}.forward(t<2>(x[0])).dynamic();
  });
  const Device device = training();
  const nn::Embedding table = nn::EmbeddingConfig{4, 3}.init(device);
  CHECK(table.forward(Tensor<0, Int>::full({}, 1, device)).shape() == Shape{3});
  const auto outside = Tensor<1, Int>::from_data({0, 4}, device);
  CHECK_THROWS_AS((void)table.forward(outside).inner().to_vector<float>(), ShapeError);
  CHECK(contains(error_of([&] { nn::Glu{}.forward(Tensor<1>::ones({3}, device)); }), "has no two halves"));
  CHECK(contains(error_of([&] {
                   nn::PreluConfig{3}.init(device).forward(Tensor<2>::ones({2, 4}, device));
                 }),
                 "[prelu] slopes of shape (3) for"));
}

TEST_CASE("a layer that was declared and never made says so") {
  const auto x = Tensor<4>::ones({1, 2, 4, 4}, Device::best());
  CHECK(contains(error_of([&] { nn::Linear{}.forward(x); }), "[linear] the weight was never given a value"));
  CHECK(contains(error_of([&] { nn::Conv2d{}.forward(x); }), "[conv2d] the weight was never given a value"));
  CHECK(contains(error_of([&] { nn::Conv1d{}.forward(x.flatten<3>()); }), "[conv] the weight was never"));
  CHECK(
      contains(error_of([&] { nn::ConvTranspose2d{}.forward(x); }), "[conv_transpose] the weight was never"));
  CHECK(
      contains(error_of([&] { nn::DeformConv2d{}.forward(x, x); }), "[deform_conv2d] the weight was never"));
  CHECK(contains(error_of([&] { nn::Embedding{}.forward(Tensor<1, Int>::zeros({1}, Device::best())); }),
                 "[embedding] the weight was never given a value"));
  CHECK(contains(error_of([&] { nn::Bilinear{}.forward(x, x); }), "[bilinear] the weight was never"));
}

TEST_CASE("each activation as a layer is its function, with its numbers in their places") {
  // The functions themselves are held against PyTorch's values by tests/cases.
  const auto x = Tensor<2>::from_data({{-3.5, -1, -0.25, 0}, {0.2, 0.75, 1.5, 7}}, training());
  const auto same = [&](const char* name, const auto& layer, const Tensor<2>& expected) {
    CAPTURE(name);
    CHECK(values_of(layer.forward(x).dynamic()) == values_of(expected.dynamic()));
  };
  same("relu", nn::Relu{}, relu(x));
  same("relu6", nn::Relu6{}, relu6(x));
  same("leaky_relu", nn::LeakyRelu{0.3}, leaky_relu(x, 0.3));
  same("elu", nn::Elu{0.7}, elu(x, 0.7));
  same("celu", nn::Celu{0.7}, celu(x, 0.7));
  same("selu", nn::Selu{}, selu(x));
  same("gelu", nn::Gelu{}, gelu(x));
  same("gelu_tanh", nn::Gelu{.approximate = true}, gelu_tanh(x));
  same("silu", nn::Silu{}, silu(x));
  same("mish", nn::Mish{}, mish(x));
  same("sigmoid", nn::Sigmoid{}, x.sigmoid());
  same("hard_sigmoid", nn::HardSigmoid{}, hard_sigmoid(x));
  same("log_sigmoid", nn::LogSigmoid{}, log_sigmoid(x));
  same("hard_swish", nn::HardSwish{}, hard_swish(x));
  same("softmax", nn::Softmax{0}, softmax(x, 0));
  same("softmax, last axis", nn::Softmax{}, softmax(x, 1));
  same("log_softmax", nn::LogSoftmax{0}, log_softmax(x, 0));
  same("softmin", nn::Softmin{0}, softmin(x, 0));
  same("quiet_softmax", nn::QuietSoftmax{0}, quiet_softmax(x, 0));
  same("softplus", nn::Softplus{2}, softplus(x, 2));
  same("softsign", nn::Softsign{}, softsign(x));
  same("tanh", nn::Tanh{}, x.tanh());
  same("tanhshrink", nn::Tanhshrink{}, tanhshrink(x));
  same("hardtanh", nn::HardTanh{-0.5, 2}, hardtanh(x, -0.5, 2));
  same("hard_shrink", nn::HardShrink{0.3}, hard_shrink(x, 0.3));
  same("soft_shrink", nn::SoftShrink{0.3}, soft_shrink(x, 0.3));
  same("shrink", nn::Shrink{0.3, 0.1}, shrink(x, 0.3, 0.1));
  same("threshold", nn::Threshold{0.1, 20}, threshold(x, 0.1, 20));
  // PyTorch's numbers are the usual ones.
  same("leaky_relu, usual", nn::LeakyRelu{}, leaky_relu(x, 0.01));
  same("elu, usual", nn::Elu{}, elu(x, 1));
  same("celu, usual", nn::Celu{}, celu(x, 1));
  same("softplus, usual", nn::Softplus{}, softplus(x, 1));
  same("hardtanh, usual", nn::HardTanh{}, hardtanh(x, -1, 1));
  same("hard_shrink, usual", nn::HardShrink{}, hard_shrink(x, 0.5));
  same("soft_shrink, usual", nn::SoftShrink{}, soft_shrink(x, 0.5));
  CHECK(values_of(nn::PreluConfig{}.init(training()).weight.dynamic()) == std::vector<float>{0.25f});
}

TEST_CASE("activations that PyTorch has no function for") {
  check("quiet_softmax", [](Inputs x) { return nn::QuietSoftmax{0}.forward(t<2>(x[0])).dynamic(); });
  check("shrink", [](Inputs x) { return nn::Shrink{0.5, 0.25}.forward(t<2>(x[0])).dynamic(); });
  check("swiglu_halves", [](Inputs x) { return swiglu(t<2>(x[0]), 1).dynamic(); });
  const auto far = Tensor<2>::from_data({{1000, -1000}, {-1000, -1000}}, training());
  check_close(nn::QuietSoftmax{}.forward(far).dynamic(), {1, 0, 0, 0});
}

TEST_CASE("positions") {
  check("positional_encoding",
        [](Inputs x) { return nn::PositionalEncoding{}.forward(t<3>(x[0])).dynamic(); });
  check("positional_encoding_offset",
        [](Inputs x) { return nn::PositionalEncoding{100}.forward(t<3>(x[0]), 7).dynamic(); });
  check("rotary", [](Inputs x) { return nn::RotaryEncoding{}.forward(t<4>(x[0])).dynamic(); });
  check("rotary_offset", [](Inputs x) { return nn::RotaryEncoding{500}.forward(t<3>(x[0]), 11).dynamic(); });
  check("rotary_halves",
        [](Inputs x) { return nn::RotaryEncoding{.interleaved = false}.forward(t<3>(x[0]), 2).dynamic(); });
  const Device device = training();
  CHECK(contains(error_of([&] { nn::RotaryEncoding{}.forward(Tensor<2>::ones({2, 3}, device)); }), "is odd"));
  // Another position is no other structure.
  const auto x = Tensor<2>::ones({3, 4}, device.inner());
  for (int offset = 1; offset < 3; ++offset) nn::RotaryEncoding{}.forward(x, offset).sync();
  ForbidCompilation guard;
  for (int offset = 3; offset < 6; ++offset) nn::RotaryEncoding{}.forward(x, offset).sync();
}

TEST_CASE("rearrangements and interpolation") {
  check("pixel_shuffle", [](Inputs x) { return nn::PixelShuffle{2}.forward(t<4>(x[0])).dynamic(); });
  check("pixel_unshuffle", [](Inputs x) { return nn::PixelUnshuffle{2}.forward(t<4>(x[0])).dynamic(); });
  const auto resize = [&](const char* name, Interpolation mode, bool corners) {
    check(name, [=](Inputs x) {
      return nn::Interpolate2d{{7, 3}, mode, corners}.forward(t<4>(x[0])).dynamic();
    });
  };
  resize("interpolate_nearest", Interpolation::Nearest, false);
  resize("interpolate_bilinear", Interpolation::Linear, false);
  resize("interpolate_bilinear_corners", Interpolation::Linear, true);
  resize("interpolate_bicubic", Interpolation::Cubic, false);
  resize("interpolate_bicubic_corners", Interpolation::Cubic, true);
  check("interpolate_linear", [](Inputs x) {
    return nn::Interpolate1d{7, Interpolation::Linear}.forward(t<3>(x[0])).dynamic();
  });
  const Tensor<3> x = Tensor<3>::ones({3, 2, 2}, Device::best());
  CHECK(contains(error_of([&] { nn::PixelShuffle{2}.forward(x); }), "3 channels"));
  CHECK(contains(error_of([&] { nn::PixelShuffle{std::int64_t{1} << 32}.forward(x); }),
                 "[pixel_shuffle] a size does not fit into 64 bits: 4294967296 * 4294967296"));
  CHECK(nn::Identity{}.forward(x).dynamic().value().get() == x.dynamic().value().get());
  CHECK(nn::Flatten<2>{}.forward(x).shape() == Shape{3, 4});
}

TEST_CASE("similarity") {
  check("cosine_similarity",
        [](Inputs x) { return nn::CosineSimilarity{}.forward(t<3>(x[0]), t<3>(x[1])).dynamic(); });
  check("pairwise_distance",
        [](Inputs x) { return nn::PairwiseDistance{}.forward(t<2>(x[0]), t<2>(x[1])).dynamic(); });
  check("pairwise_distance_3", [](Inputs x) {
    return nn::PairwiseDistance{3, 1e-3}.forward(t<2>(x[0]), t<2>(x[1])).dynamic();
  });
  // Of equal vectors, no distance and no NaN in the gradient.
  for (const double p : {2.0, 3.0}) {
    const auto a = Tensor<2>::from_data({{1, 2}, {3, 4}}, training()).require_grad();
    const auto b = Tensor<2>::from_data({{1, 2}, {3, 5}}, training());
    const auto distance = nn::PairwiseDistance{p, 0}.forward(a, b);
    check_close(distance.dynamic(), {0, 1});
    check_close(distance.sum().backward().get(a)->dynamic(), {0, 0, 0, -1});
  }
}

namespace {

struct Spread {
  double mean = 0, deviation = 0, least = 0, largest = 0;
};
Spread spread_of(const AnyTensor& x) {
  Spread s;
  const std::vector<float> values = values_of(x);
  const double n = static_cast<double>(values.size());
  for (const double value : values) {
    s.mean += value / n;
    s.least = std::min(s.least, value);
    s.largest = std::max(s.largest, value);
  }
  for (const double value : values) s.deviation += (value - s.mean) * (value - s.mean) / n;
  s.deviation = std::sqrt(s.deviation);
  return s;
}

}  // namespace

TEST_CASE("noise in training") {
  const Device device = training();
  device.seed(2);
  const auto x = Tensor<3>::ones({8, 16, 20}, device);
  const nn::ChannelDropout channels = nn::ChannelDropoutConfig{.probability = 0.5}.init(device);
  const std::vector<float> y = values_of(channels.forward(x).dynamic());
  int dropped = 0;
  for (std::size_t row = 0; row < 8 * 16; ++row) {
    for (std::size_t i = 0; i < 20; ++i) REQUIRE(y[row * 20 + i] == y[row * 20]);
    CHECK((y[row * 20] == 0 || y[row * 20] == 2));
    dropped += y[row * 20] == 0;
  }
  CHECK(dropped > 32);
  CHECK(dropped < 96);
  const std::vector<float> path = values_of(nn::DropPath{0.5, true}.forward(x).dynamic());
  for (std::size_t i = 0; i < path.size(); ++i) REQUIRE(path[i] == path[i / 320 * 320]);
  // Alpha dropout preserves mean 0 and deviation 1.
  const auto normal = Tensor<1>::normal({40000}, 0, 1, device);
  const Spread alpha = spread_of(nn::AlphaDropout{0.3, true}.forward(normal).dynamic());
  CHECK(alpha.mean == doctest::Approx(0).epsilon(0.03));
  CHECK(alpha.deviation == doctest::Approx(1).epsilon(0.03));
  const Spread noisy = spread_of(nn::GaussianNoise{0.5, true}.forward(normal).dynamic());
  CHECK(noisy.deviation == doctest::Approx(std::sqrt(1.25)).epsilon(0.03));
  CHECK(values_of(nn::GaussianNoise{0.5, false}.forward(normal).dynamic()) == values_of(normal.dynamic()));
}

TEST_CASE("initial values") {
  const Device device = training();
  namespace init = nn::init;
  device.seed(7);
  const Shape shape{60, 20, 5};
  const auto check_spread = [&](const nn::Initializer& initializer, double deviation, double bound) {
    const AnyTensor x = initializer.values(shape, device);
    const Spread s = spread_of(x);
    CHECK(s.mean == doctest::Approx(0).epsilon(0.06 * deviation));
    CHECK(s.deviation == doctest::Approx(deviation).epsilon(0.04));
    CHECK(s.largest <= bound);
    CHECK(s.least >= -bound);
  };
  // fan in 100, fan out 300
  const double far = 1e9;
  check_spread(init::uniform(-2, 2), 2 / std::sqrt(3.0), 2);
  check_spread(init::normal(0, 0.5), 0.5, far);
  check_spread(init::kaiming_uniform(), std::sqrt(2.0 / 100), std::sqrt(6.0 / 100));
  check_spread(init::kaiming_normal(1, nn::Fan::out), std::sqrt(1.0 / 300), far);
  check_spread(init::xavier_uniform(2), 2 * std::sqrt(1.0 / 200), 2 * std::sqrt(3.0 / 200) * 1.000001);
  check_spread(init::xavier_normal(), std::sqrt(1.0 / 200), far);
  // Of a normal cut at two deviations: 0.8796.
  check_spread(init::truncated_normal(0, 3), 3 * 0.87962566, 6);
  CHECK(values_of(init::constant(4).values({2}, device)) == std::vector<float>{4, 4});
  CHECK(values_of(init::ones().values({1}, device)) == std::vector<float>{1});

  for (const Shape& size : {Shape{6, 4}, Shape{4, 6}, Shape{3, 2, 2}, Shape{1, 1}}) {
    const AnyTensor x = init::orthogonal(2).values(size, device.inner());
    const std::int64_t rows = size[0], columns = size.numel() / rows;
    const AnyTensor matrix = x.reshape({rows, columns}), turned = matrix.transpose(0, 1);
    const AnyTensor square = rows <= columns ? matrix.matmul(turned) : turned.matmul(matrix);
    std::vector<float> expected(static_cast<std::size_t>(square.numel()), 0);
    const std::int64_t n = std::min(rows, columns);
    for (std::int64_t i = 0; i < n; ++i) expected[static_cast<std::size_t>(i * n + i)] = 4;
    check_close(square, expected);
  }
  CHECK_THROWS_AS(init::orthogonal().values({3}, device), ShapeError);
  CHECK_THROWS_WITH_AS(
      init::orthogonal().values({4, std::int64_t{1} << 59}, device),
      doctest::Contains("no memory left for the 2305843009213693952 numbers of shape (4, 5764"), Error);
  CHECK_THROWS_AS(init::normal(0, -1).values({3}, device), Error);

  // The same seed, the same parameters.
  const auto make = [&] {
    device.seed(9);
    return nn::LinearConfig{.d_in = 5, .d_out = 4, .initializer = init::xavier_normal()}.init(device);
  };
  CHECK(nn::equal(make(), make()));
  CHECK(make().weight.requires_grad());
}
