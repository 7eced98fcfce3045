// Pools of volumes, norms of windows, deformable convolutions, resizing by factors and volumes, windows as
// layers, against PyTorch.
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/nn.h>

#include "tests/pytorch/image_cases.h"
#include "tests/pytorch/pool_cases.h"

using namespace sinter;

namespace {

using Inputs = const std::vector<AnyTensor>&;

void check(const std::string& name, const reference::Function& function, double tolerance = 2e-5) {
  const auto& cases =
      reference::image_cases.count(name) != 0 ? reference::image_cases : reference::pool_cases;
  reference::check(cases, name, function, tolerance);
}

template <std::size_t R, class Layer>
reference::Function of(const Layer& layer) {
  return [layer](Inputs x) { return layer.forward(Tensor<R>(x[0])).dynamic(); };
}

constexpr WindowOptions kWindow{.kernel = {2, 3}, .stride = {1, 2}, .padding = {1, 1}, .dilation = {2, 1}};

}  // namespace

TEST_CASE("pools of volumes") {
  check("max_pool3d",
        of<5>(nn::MaxPool3d{
            .kernel = {2, 3, 2}, .stride = {{1, 2, 2}}, .padding = {1, 1, 0}, .dilation = {1, 1, 2}}));
  check("avg_pool3d", of<5>(nn::AvgPool3d{.kernel = {2, 3, 2}, .stride = {{2, 1, 2}}, .padding = {1, 1, 1}}));
  check("avg_pool3d_inside",
        of<5>(nn::AvgPool3d{.kernel = {2, 2, 2}, .padding = {1, 1, 1}, .count_include_pad = false}));
  check("adaptive_avg_pool3d", of<5>(nn::AdaptiveAvgPool3d{{2, 3, 1}}));
  check("adaptive_avg_pool3d_even", of<5>(nn::AdaptiveAvgPool3d{{2, 2, 1}}));
  check("adaptive_max_pool3d", of<5>(nn::AdaptiveMaxPool3d{{2, 3, 2}}));
  const auto x = Tensor<5>::ones({1, 1, 2, 3, 3}, Device::best());
  CHECK_THROWS_WITH_AS((nn::MaxPool3d{.kernel = {3, 1, 1}}.forward(x)),
                       doctest::Contains("[max_pool3d] a window of 3 does not fit in the 2"), ShapeError);
  CHECK_THROWS_AS((nn::AvgPool3d{.kernel = {1, 0, 1}}.forward(x)), ShapeError);
  CHECK_THROWS_AS((nn::AdaptiveMaxPool3d{{1, 0, 1}}.forward(x)), ShapeError);
}

namespace {

template <std::size_t N, class Pool>
reference::Function with_indices(const Pool& pool, const std::array<std::int64_t, N>& size) {
  return [=](Inputs x) {
    const auto [values, indices] = pool.forward_with_indices(Tensor<N + 2>(x[0]));
    const auto back = nn::MaxUnpool<N>{size}.forward(values, indices);
    return cat({values.flatten(), indices.to_float().flatten(), back.flatten()}, 0).dynamic();
  };
}

}  // namespace

TEST_CASE("where maxima stand, and putting them back") {
  check("max_pool1d_indices", with_indices<1>(nn::MaxPool1d{.kernel = 3, .padding = 1}, {7}));
  check("max_pool2d_indices", with_indices<2>(nn::MaxPool2d{.kernel = {2, 2}}, {4, 6}));
  check("max_pool3d_indices", with_indices<3>(nn::MaxPool3d{.kernel = {2, 2, 1}}, {2, 4, 3}));
  check("max_pool2d_dilated", [](Inputs x) {
    const nn::MaxPool2d pool{.kernel = {2, 3}, .stride = {{1, 2}}, .padding = {1, 1}, .dilation = {2, 1}};
    const Tensor<4> given(x[0]);
    const auto [values, indices] = pool.forward_with_indices(given);
    CHECK(values_of(values.inner().dynamic()) == values_of(pool.forward(given).inner().dynamic()));
    return (indices.to_float() + given.sum() * 0.0).dynamic();
  });
  const auto x = Tensor<3>::ones({1, 1, 4}, Device::best());
  const auto pooled = nn::MaxPool1d{.kernel = 2}.forward_with_indices(x);
  CHECK(pooled.indices.to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{0, 2});  // of equal ones the first
  CHECK_THROWS_AS((nn::MaxUnpool1d{{4}}.forward(x, pooled.indices)), ShapeError);
  CHECK_THROWS_AS((nn::MaxUnpool1d{{2}}.forward(pooled.values, pooled.indices).to_vector<float>()),
                  ShapeError);
  CHECK(nn::Shrink{.lambda = 0.5, .bias = 0.25}.forward(x).to_vector<float>() ==
        std::vector<float>(4, 0.75f));
}

TEST_CASE("windows of nothing but -inf have a place in the image, those beside it have none") {
  using Numbers = std::vector<float>;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  const Device device = Device::best().autodiff();
  const auto check_pool = [](const auto& x, const auto& pool, const Numbers& values, const Numbers& indices,
                             const Numbers& gradient) {
    const auto leaf = x.require_grad();
    const auto pooled = pool.forward_with_indices(leaf);
    CHECK(values_of(pooled.values.inner().dynamic()) == values);
    CHECK(values_of(pooled.indices.to_float().dynamic()) == indices);
    CHECK(values_of(pooled.values.sum().backward().get(leaf)->dynamic()) == gradient);
  };
  // As PyTorch has them.
  const Tensor<3> lowest = Tensor<3>::full({1, 1, 4}, kLowest, device);
  check_pool(lowest, nn::MaxPool1d{.kernel = 3, .stride = 1, .padding = 1}, Numbers(4, kLowest), {0, 0, 1, 2},
             {2, 1, 1, 0});
  check_pool(lowest, nn::MaxPool1d{.kernel = 2, .stride = 2, .padding = 1}, Numbers(3, kLowest), {0, 1, 3},
             {1, 1, 0, 1});
  check_pool(lowest, nn::MaxPool1d{.kernel = 2, .stride = 1, .padding = 1, .dilation = 2},
             Numbers(4, kLowest), {1, 0, 1, 2}, {1, 2, 1, 0});
  check_pool(Tensor<3>::zeros({0, 1, 4}, device), nn::MaxPool1d{.kernel = 2, .padding = 1}, {}, {}, {});
  // No element of the image is in these windows.
  const nn::MaxPool2d beside{.kernel = {1, 2}, .stride = {{1, 2}}, .padding = {0, 1}, .dilation = {1, 2}};
  check_pool(Tensor<4>::from_data({{{{1}, {2}, {3}}}}, device), beside, Numbers(3, kLowest), {0, 1, 2},
             {0, 0, 0});
}

TEST_CASE("windows of an uneven pool, fewer or more than elements, and their gradients") {
  const Device device = Device::best().autodiff();
  for (const std::int64_t input : {1, 2, 5, 7, 16, 113})
    for (const std::int64_t output : {1, 2, 3, 7, 9, 200}) {
      CAPTURE(input);
      CAPTURE(output);
      std::vector<float> values(static_cast<std::size_t>(2 * input)),
          seed(static_cast<std::size_t>(2 * output));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 101) - 50;
      for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = static_cast<float>(i * 53 % 89) - 40;
      std::vector<double> want(seed.size(), 0), want_gradient(values.size(), 0);
      for (std::int64_t c = 0; c < 2; ++c)
        for (std::int64_t o = 0; o < output; ++o) {
          const std::int64_t begin = o * input / output, end = ((o + 1) * input + output - 1) / output;
          for (std::int64_t i = begin; i < end; ++i) {
            const auto at = static_cast<std::size_t>(c * input + i),
                       to = static_cast<std::size_t>(c * output + o);
            want[to] += values[at] / static_cast<double>(end - begin);
            want_gradient[at] += seed[to] / static_cast<double>(end - begin);
          }
        }
      const auto x = Tensor<3>::from_data(values, {1, 2, input}, device).require_grad();
      const Tensor<3> y = nn::AdaptiveAvgPool1d{output}.forward(x);
      const Gradients gradients = (y * Tensor<3>::from_data(seed, {1, 2, output}, device)).sum().backward();
      const std::vector<float> have = y.to_vector<float>(), gradient = gradients.get(x)->to_vector<float>();
      REQUIRE(have.size() == want.size());
      for (std::size_t i = 0; i < want.size(); ++i) CHECK(have[i] == doctest::Approx(want[i]).epsilon(1e-5));
      for (std::size_t i = 0; i < want_gradient.size(); ++i)
        CHECK(gradient[i] == doctest::Approx(want_gradient[i]).epsilon(1e-5).scale(10));
    }
}

TEST_CASE("norms of windows") {
  check("lp_pool2d", of<4>(nn::LpPool2d{.p = 2, .kernel = {2, 3}, .stride = {{1, 2}}}));
  check("lp_pool1d", [](Inputs x) {
    return nn::LpPool1d{.p = 3, .kernel = 2}.forward(abs(Tensor<3>(x[0])) + 0.25).dynamic();
  });
  const auto zeros = Tensor<3>::zeros({1, 1, 4}, Device::best().autodiff()).require_grad();
  const auto y = nn::LpPool1d{.p = 2, .kernel = 2}.forward(zeros);
  check_close(y.sum().backward().get(zeros)->dynamic(), {0, 0, 0, 0});
  CHECK_THROWS_AS((nn::LpPool1d{.p = 0, .kernel = 2}.forward(zeros)), Error);
}

TEST_CASE("windows that reach over the end") {
  const nn::MaxPool2d max{.kernel = {3, 2}, .stride = {{2, 3}}, .padding = {1, 0}, .ceil_mode = true};
  check("max_pool2d_ceil", of<4>(max));
  check("max_pool2d_ceil_dilated",
        of<4>(nn::MaxPool2d{
            .kernel = {2, 3}, .stride = {{3, 2}}, .padding = {1, 1}, .dilation = {2, 1}, .ceil_mode = true}));
  check("max_pool1d_ceil", of<3>(nn::MaxPool1d{.kernel = 3, .stride = 2, .ceil_mode = true}));
  check("max_pool3d_ceil",
        of<5>(nn::MaxPool3d{.kernel = {2, 2, 2}, .padding = {0, 1, 0}, .ceil_mode = true}));
  check("max_pool2d_ceil_indices", [&](Inputs x) {
    const Tensor<4> given(x[0]);
    const auto [values, indices] = max.forward_with_indices(given);
    CHECK(values_of(values.inner().dynamic()) == values_of(max.forward(given).inner().dynamic()));
    return (indices.to_float() + given.sum() * 0.0).dynamic();
  });
  nn::AvgPool2d mean{.kernel = {3, 2}, .stride = {{2, 3}}, .padding = {1, 1}, .ceil_mode = true};
  check("avg_pool2d_ceil", of<4>(mean));
  mean.count_include_pad = false;
  check("avg_pool2d_ceil_inside", of<4>(mean));
  check("avg_pool1d_ceil", of<3>(nn::AvgPool1d{.kernel = 3, .stride = 2, .ceil_mode = true}));
  check("avg_pool3d_ceil",
        of<5>(nn::AvgPool3d{.kernel = {2, 2, 2}, .padding = {0, 1, 0}, .ceil_mode = true}));
  check("lp_pool2d_ceil",
        of<4>(nn::LpPool2d{.p = 2, .kernel = {2, 3}, .stride = {{2, 2}}, .ceil_mode = true}));
  check("lp_pool1d_ceil", [](Inputs x) {
    return nn::LpPool1d{.p = 3, .kernel = 2, .ceil_mode = true}
        .forward(abs(Tensor<3>(x[0])) + 0.25)
        .dynamic();
  });
  // A window that would begin in the padding behind the input is none, and one that fits is no other.
  const auto x = Tensor<3>::ones({1, 1, 3}, Device::best());
  const nn::MaxPool1d wide{.kernel = 2, .stride = 3, .padding = 1, .ceil_mode = true};
  CHECK(wide.forward(x).shape() == Shape{1, 1, 2});
  CHECK(nn::AvgPool1d{.kernel = 3, .ceil_mode = true}.forward(x).to_vector<float>() == std::vector<float>{1});
  // One that is larger than the input is rounded up, too, where a stride is more than it lacks.
  const auto y = Tensor<3>::from_data({{{2, 4}}}, Device::best());
  const nn::MaxPool1d large{.kernel = 3, .stride = 2, .ceil_mode = true};
  CHECK(large.forward(y).to_vector<float>() == std::vector<float>{4});
  const auto [most, place] = large.forward_with_indices(y);
  CHECK(most.to_vector<float>() == std::vector<float>{4});
  CHECK(place.to_vector<std::int64_t>() == std::vector<std::int64_t>{1});
  const auto averages = [&](const nn::AvgPool1d& pool) { return pool.forward(y).to_vector<float>(); };
  CHECK(averages({.kernel = 3, .stride = 2, .ceil_mode = true}) == std::vector<float>{3});
  CHECK(averages({.kernel = 6, .stride = 3, .padding = 1, .ceil_mode = true}) == std::vector<float>{1.5});
  CHECK(averages({.kernel = 6, .stride = 3, .padding = 1, .count_include_pad = false, .ceil_mode = true}) ==
        std::vector<float>{3});
  const nn::LpPool2d norm{.p = 1, .kernel = {2, 4}, .stride = {{2, 3}}, .ceil_mode = true};
  CHECK(norm.forward(Tensor<4>::ones({1, 1, 1, 2}, Device::best())).to_vector<float>() ==
        std::vector<float>{8});
  const nn::MaxPool1d larger{.kernel = 4, .stride = 2, .ceil_mode = true};
  CHECK_THROWS_WITH_AS(larger.forward(y), doctest::Contains("a window of 4 does not fit"), ShapeError);
}

namespace {

/// The gradient of a pool's maxima by the definition: each given number goes to the first of the window's
/// greatest elements that is in the image; NaN is greater than all numbers.
std::vector<float> gradient_of_maxima(const std::vector<float>& image, std::int64_t height,
                                      std::int64_t width, const nn::MaxPool2d& pool,
                                      const std::vector<float>& given, std::int64_t rows,
                                      std::int64_t columns) {
  std::vector<float> gradient(image.size());
  const std::array<std::int64_t, 2> stride = pool.stride.value_or(pool.kernel);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      std::int64_t greatest = -1;
      for (std::int64_t i = 0; i < pool.kernel[0]; ++i)
        for (std::int64_t j = 0; j < pool.kernel[1]; ++j) {
          const std::int64_t y = r * stride[0] - pool.padding[0] + i * pool.dilation[0],
                             x = c * stride[1] - pool.padding[1] + j * pool.dilation[1];
          if (y < 0 || y >= height || x < 0 || x >= width) continue;
          const std::int64_t at = y * width + x;
          const auto value = [&](std::int64_t k) { return image[static_cast<std::size_t>(k)]; };
          if (greatest < 0 || value(at) > value(greatest) ||
              (std::isnan(value(at)) && !std::isnan(value(greatest))))
            greatest = at;
        }
      gradient[static_cast<std::size_t>(greatest)] += given[static_cast<std::size_t>(r * columns + c)];
    }
  return gradient;
}

}  // namespace

TEST_CASE("of several greatest elements the first has the gradient") {
  const Device device = Device::best();
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  constexpr std::int64_t kHeight = 9, kWidth = 11;
  std::vector<float> image;
  for (std::int64_t k = 0; k < kHeight * kWidth; ++k) image.push_back(static_cast<float>(k * 7 % 3));
  image[14] = nan;
  // At two corners, so that what lies around the image comes before it, and behind it.
  for (std::int64_t y = 0; y < kHeight; ++y)
    for (std::int64_t x = 0; x < kWidth; ++x)
      if ((y < 3 && x < 3) || (y > 4 && x > 4)) image[static_cast<std::size_t>(y * kWidth + x)] = -infinity;
  const std::vector<nn::MaxPool2d> pools{
      {.kernel = {3, 3}, .stride = {{2, 2}}, .padding = {1, 1}},
      {.kernel = {2, 2}},
      {.kernel = {3, 2}, .stride = {{1, 1}}, .padding = {1, 0}},
      {.kernel = {1, 1}, .stride = {{3, 2}}},
      {.kernel = {2, 3}, .stride = {{3, 5}}, .padding = {1, 1}},
      {.kernel = {2, 3}, .stride = {{1, 2}}, .padding = {1, 1}, .dilation = {3, 2}},
      {.kernel = {3, 3}, .stride = {{2, 4}}, .padding = {1, 1}, .ceil_mode = true},
      {.kernel = {9, 11}, .stride = {{1, 1}}},
      {.kernel = {3, 2}, .stride = {{1'000'000'007, 1'000'000'009}}, .padding = {1, 1}},
  };
  for (const nn::MaxPool2d& pool : pools) {
    CAPTURE(pool.kernel[0]);
    CAPTURE(pool.kernel[1]);
    const auto x = Tensor<4>::from_data(image, {1, 1, kHeight, kWidth}, device.autodiff()).require_grad();
    const auto y = pool.forward(x);
    const auto [n, channels, rows, columns] = y.dims();
    std::vector<float> given;
    for (std::int64_t k = 0; k < rows * columns; ++k) given.push_back(static_cast<float>(k % 5 + 1));
    const auto seed = Tensor<4>::from_data(given, {1, 1, rows, columns}, device.autodiff()).require_grad();
    const auto dx = gradient(y, x, {.seed = seed});
    CHECK(dx.inner().to_vector<float>() ==
          gradient_of_maxima(image, kHeight, kWidth, pool, given, rows, columns));
    // Each of the given numbers counts once, so what it does to the sum is 1.
    CHECK(gradient(dx.sum(), seed).inner().to_vector<float>() == std::vector<float>(given.size(), 1));
  }
  const auto none = Tensor<4>::zeros({0, 2, 4, 4}, device.autodiff()).require_grad();
  CHECK(gradient(pools[0].forward(none).sum(), none).shape() == none.shape());
  const auto halves = Tensor<4>::ones({2, 3, 6, 6}, device.autodiff()).cast(DType::bf16).require_grad();
  const nn::MaxPool2d overlapping{.kernel = {3, 3}, .stride = {{1, 1}}};
  const auto of_halves = gradient(overlapping.forward(halves).sum(), halves);
  CHECK(of_halves.dtype() == DType::bf16);
  CHECK(of_halves.inner().to_float(DType::f32).sum().item() == 2 * 3 * 4 * 4);
}

TEST_CASE("sizes by factors, volumes, windows as layers") {
  check("interpolate_trilinear", of<5>(nn::Interpolate3d{{3, 4, 2}, Interpolation::Linear}));
  check("upsample_nearest", of<3>(nn::Upsample{3}));
  check("upsample_bilinear", of<4>(nn::Upsample{2, Interpolation::Linear, true}));
  check("unfold", of<4>(nn::Unfold{kWindow}));
  check("fold", of<3>(nn::Fold{{4, 5}, kWindow}));
  CHECK_THROWS_AS((nn::Upsample{0}.forward(Tensor<3>::ones({1, 1, 2}, Device::best()))), Error);
  CHECK(nn::same_padding<2>({3, 5}, {2, 1}) == std::array<std::int64_t, 2>{2, 2});
  CHECK_THROWS_WITH_AS((nn::same_padding<1>({4})),
                       doctest::Contains("a kernel of 4 with dilation 1 has no middle"), ShapeError);
}

TEST_CASE("deformable convolutions") {
  const auto layer = [](Inputs x, nn::DeformConv2d settings) {
    settings.weight = Tensor<4>(x[2]);
    settings.bias = Tensor<1>(x[3]);
    std::optional<Tensor<4>> mask;
    if (x.size() > 4) mask = Tensor<4>(x[4]);
    return settings.forward(Tensor<4>(x[0]), Tensor<4>(x[1]), mask).dynamic();
  };
  check("deform_conv2d", [&](Inputs x) { return layer(x, {.weight = {}, .bias = {}, .padding = {1, 1}}); });
  check("deform_conv2d_masked", [&](Inputs x) {
    return layer(x, {.weight = {},
                     .bias = {},
                     .stride = {2, 1},
                     .padding = {1, 0},
                     .dilation = {1, 2},
                     .groups = 2,
                     .offset_groups = 2});
  });
}

TEST_CASE("a deformable convolution without offsets is a convolution, and checks its arguments") {
  const Device device = Device::best();
  device.seed(3);
  const nn::DeformConv2dConfig config{.channels = {4, 6},
                                      .kernel = {3, 2},
                                      .stride = {1, 2},
                                      .padding = {1, 0},
                                      .groups = 2,
                                      .offset_groups = 4};
  const auto layer = config.init(device);
  const auto x = Tensor<4>::randn({2, 4, 5, 7}, device);
  const auto offset = Tensor<4>::zeros({2, 48, 5, 3}, device);
  const nn::Conv2d plain{
      .weight = layer.weight, .bias = layer.bias, .stride = {1, 2}, .padding = {1, 0}, .groups = 2};
  check_close(layer.forward(x, offset).dynamic(), values_of(plain.forward(x).dynamic()), 1e-5);
  // Far outside, and where the offset is no number, there is nothing but the bias.
  for (const double far : {-100.0, 1e30, std::nan("")}) {
    const auto y = layer.forward(x, offset + far);
    if (!std::isnan(far))
      check_close((y - layer.bias->reshape({1, 6, 1, 1})).dynamic(), std::vector<float>(180, 0));
  }
  CHECK_THROWS_WITH_AS(layer.forward(x, offset.narrow(1, 0, 24)),
                       doctest::Contains("the offset (2, 24, 5, 3) is not (2, 48, 5, 3)"), ShapeError);
  CHECK_THROWS_WITH_AS(layer.forward(x, offset, offset), doctest::Contains("the mask"), ShapeError);
  CHECK_THROWS_AS(layer.forward(x.narrow(2, 0, 0), offset), ShapeError);
  CHECK_THROWS_AS(
      (nn::DeformConv2dConfig{.channels = {4, 6}, .kernel = {3, 3}, .offset_groups = 3}.init(device)),
      ShapeError);
}
