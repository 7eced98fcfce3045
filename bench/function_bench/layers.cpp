// Images, pools, convolutions, losses and normalising layers, most of them with gradients.
#include <optional>

#include "bench.h"

namespace function_bench {

void image_gradients(Bench& b) {
  const AnyTensor x = b.leaf({16, 64, 64, 64}), seed = b.floats({16, 64, 128, 128}),
                  g = b.floats({16, 64, 64, 64}), grid = b.leaf({16, 64, 64, 2}),
                  volume = b.floats({4, 16, 32, 32, 32}), channels = b.leaf({16, 64, 64, 64}),
                  spread = b.floats({16, 16, 128, 128}), small = b.leaf({16, 64, 56, 56}),
                  columns = b.floats({16, 576, 3136}), theta = b.floats({64, 2, 3});
  const WindowOptions windows{.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}};
  const auto gradient_of = [&](Interpolation mode) {
    return with_gradients(x.interpolate({128, 128}, mode), {x}, seed);
  };
  b.row("nearest_gradient", [&] { return gradient_of(Interpolation::Nearest); });
  b.row("bilinear_gradient", [&] { return gradient_of(Interpolation::Linear); });
  b.row("bicubic_gradient", [&] { return gradient_of(Interpolation::Cubic); });
  b.row("bilinear_down", [&] { return Results{seed.interpolate({48, 48}, Interpolation::Linear)}; });
  b.row("trilinear", [&] { return Results{volume.interpolate({64, 64, 64}, Interpolation::Linear)}; });
  b.row("grid_sample_gradient", [&] { return with_gradients(x.grid_sample_2d(grid), {x, grid}, g); });
  b.row("affine_grid", [&] { return Results{affine_grid_2d(theta, {256, 256})}; });
  b.row("pixel_shuffle_gradient",
        [&] { return with_gradients(channels.pixel_shuffle(2), {channels}, spread); });
  b.row("unfold_gradient", [&] { return with_gradients(small.unfold(windows), {small}, columns); });
}

void pools(Bench& b) {
  const Tensor<4> x(b.floats({32, 64, 112, 112})), given(b.leaf({32, 64, 112, 112}));
  const AnyTensor half = b.floats({32, 64, 56, 56}), seven = b.floats({32, 64, 7, 7});
  const nn::MaxPool2d most{.kernel = {3, 3}, .stride = {{2, 2}}, .padding = {1, 1}}, pairs{.kernel = {2, 2}};
  const nn::AvgPool2d mean{.kernel = {3, 3}, .stride = {{2, 2}}, .padding = {1, 1}};
  const nn::LpPool2d power{.p = 2, .kernel = {2, 2}};
  const nn::AdaptiveAvgPool2d adaptive{{7, 7}}, uneven{{9, 9}};
  const nn::AdaptiveMaxPool2d adaptive_most{{7, 7}};
  const nn::PooledWithIndices<4> pooled = pairs.forward_with_indices(x);
  pooled.values.sync();
  pooled.indices.sync();
  b.row("max_pool_gradient",
        [&] { return with_gradients(most.forward(given).dynamic(), {given.dynamic()}, half); });
  b.row("avg_pool_gradient",
        [&] { return with_gradients(mean.forward(given).dynamic(), {given.dynamic()}, half); });
  b.row("lp_pool_gradient",
        [&] { return with_gradients(power.forward(given).dynamic(), {given.dynamic()}, half); });
  b.row("max_pool_indices", [&] {
    const auto both = pairs.forward_with_indices(x);
    return Results{both.values.dynamic(), both.indices.dynamic()};
  });
  b.row("max_unpool", [&] {
    return Results{nn::MaxUnpool2d{{112, 112}}.forward(pooled.values, pooled.indices).dynamic()};
  });
  b.row("adaptive_avg_gradient",
        [&] { return with_gradients(adaptive.forward(given).dynamic(), {given.dynamic()}, seven); });
  b.row("adaptive_avg_uneven", [&] { return Results{uneven.forward(x).dynamic()}; });
  b.row("adaptive_max_gradient",
        [&] { return with_gradients(adaptive_most.forward(given).dynamic(), {given.dynamic()}, seven); });
}

void convolutions(Bench& b) {
  const AnyTensor sequence = b.leaf({16, 64, 16384}), kernel = b.leaf({64, 64, 9}),
                  g = b.floats({16, 64, 16384}), deep = b.leaf({8, 1536, 2048}), taps = b.leaf({1536, 1, 4}),
                  deep_g = b.floats({8, 1536, 2048}), image = b.leaf({16, 128, 32, 32}),
                  up = b.leaf({128, 64, 4, 4}), up_g = b.floats({16, 64, 64, 64}),
                  wave = b.leaf({16, 128, 2048}), wave_up = b.leaf({128, 64, 8}),
                  wave_g = b.floats({16, 64, 8192}), grouped = b.leaf({128, 4, 3, 3}),
                  image_g = b.floats({16, 128, 32, 32}), volume = b.leaf({4, 16, 32, 32, 32}),
                  cube = b.leaf({32, 16, 3, 3, 3}), volume_g = b.floats({4, 32, 32, 32, 32}),
                  dense = b.leaf({128, 128, 3, 3}), offset = b.leaf({16, 18, 32, 32});
  const ConvOptions<1> same{.padding = {4}}, causal{.groups = 1536};
  const ConvTransposeOptions<2> twice{.stride = {2, 2}, .padding = {1, 1}};
  const ConvTransposeOptions<1> four_times{.stride = {4}, .padding = {2}};
  b.row("conv1d_long_gradient", [&] {
    return with_gradients(conv1d(sequence, kernel, same), {sequence, kernel}, g);
  });
  b.row("conv1d_causal_gradient", [&] {
    return with_gradients(conv1d(deep.pad(Dims{0, 0, 3}, Dims{0, 0, 0}, 0), taps, causal), {deep, taps},
                          deep_g);
  });
  b.row("conv_transpose1d_gradient", [&] {
    return with_gradients(conv_transpose1d(wave, wave_up, four_times), {wave, wave_up}, wave_g);
  });
  b.row("conv_transpose2d_gradient", [&] {
    return with_gradients(conv_transpose2d(image, up, twice), {image, up}, up_g);
  });
  b.row("conv2d_groups_gradient", [&] {
    return with_gradients(conv2d(image, grouped, {.padding = {1, 1}, .groups = 32}), {image, grouped},
                          image_g);
  });
  b.row("conv2d_dilated_gradient", [&] {
    return with_gradients(conv2d(image, dense, {.padding = {4, 4}, .dilation = {4, 4}}), {image, dense},
                          image_g);
  });
  b.row("conv3d_gradient", [&] {
    return with_gradients(conv3d(volume, cube, {.padding = {1, 1, 1}}), {volume, cube}, volume_g);
  });
  // torchvision has it as a function; where it is not installed, there is nothing beside it.
  b.row("deform_conv2d_gradient", [&] {
    const nn::DeformConv2d layer{.weight = Tensor<4>(dense), .bias = std::nullopt, .padding = {1, 1}};
    return with_gradients(layer.forward(Tensor<4>(image), Tensor<4>(offset)).dynamic(),
                          {image, offset, dense}, image_g);
  });
}

void losses(Bench& b) {
  const AnyTensor x = b.leaf({8192, 1000}), t = b.floats({8192, 1000}), classes = b.ints({8192}, 1000),
                  p = b.leaf({65536, 256}), q = b.floats({65536, 256}), r = b.floats({65536, 256}),
                  frames = b.leaf({200, 64, 64}), signs = b.floats({65536}).sign();
  const Tensor<2> X(x), T(t), P(p), Q(q), R(r);
  const Tensor<1, Int> Y(classes);
  const auto share = [](const AnyTensor& v) { return Tensor<2>((v + 1) * 0.5); };
  const auto of = [](const auto& loss, const AnyTensor& by) { return with_gradients(loss.dynamic(), {by}); };
  // 64 texts of 32 of the classes 1 to 63, for which there are 200 frames.
  const Tensor<2, Int> texts(AnyTensor::add(b.ints({64, 32}, 63), 1));
  const Tensor<1, Int> lengths(AnyTensor::full({64}, 200, DType::i32, b.device())),
      letters(AnyTensor::full({64}, 32, DType::i32, b.device()));
  b.row("cross_entropy_smooth", [&] { return of(nn::cross_entropy(X, Y, {.label_smoothing = 0.1}), x); });
  b.row("nll", [&] { return of(nn::nll(Tensor<2>(x.log_softmax(1)), Y), x); });
  b.row("bce_with_logits", [&] { return of(nn::binary_cross_entropy_with_logits(X, share(t)), x); });
  b.row("kl_divergence", [&] {
    return of(
        nn::kl_divergence<nn::Reduction::batch_mean>(Tensor<2>(x.log_softmax(1)), Tensor<2>(t.softmax(1))),
        x);
  });
  b.row("huber", [&] { return of(nn::huber(P, Q, 0.5), p); });
  b.row("smooth_l1", [&] { return of(nn::smooth_l1(P, Q), p); });
  b.row("triplet_margin", [&] { return of(nn::triplet_margin(P, Q, R), p); });
  b.row("cosine_embedding", [&] { return of(nn::cosine_embedding(P, Q, Tensor<1>(signs)), p); });
  b.row("multi_margin", [&] { return of(nn::multi_margin(X, Y), x); });
  b.row("gaussian_nll", [&] { return of(nn::gaussian_nll(P, Q, Tensor<2>(r.abs() + 0.1)), p); });
  b.row("ctc",
        [&] { return of(nn::ctc(Tensor<3>(frames.log_softmax(2)), texts, lengths, letters), frames); });
}

void norms(Bench& b) {
  const Tensor<4> x(b.leaf({32, 128, 56, 56}));
  const Tensor<3> rows(b.leaf({16, 512, 768}));
  const AnyTensor g = b.floats({32, 128, 56, 56}), rows_g = b.floats({16, 512, 768});
  const Device device = b.device().autodiff();
  const auto instance = b.filled(nn::InstanceNormConfig{.channels = 128, .affine = true}.init(device));
  const auto layer = b.filled(nn::LayerNormConfig{.d_model = 768}.init(device));
  const nn::LocalResponseNorm local{.size = 5};
  b.row("instance_norm", [&] {
    return with_gradients(instance.forward(x).dynamic(),
                          {x.dynamic(), instance.weight->dynamic(), instance.bias->dynamic()}, g);
  });
  b.row("local_response_norm", [&] { return with_gradients(local.forward(x).dynamic(), {x.dynamic()}, g); });
  b.row("layer_norm_gelu", [&] {
    return with_gradients(layer.forward(rows).dynamic().gelu(),
                          {rows.dynamic(), layer.weight->dynamic(), layer.bias->dynamic()}, rows_g);
  });
}

}  // namespace function_bench
