// Formulas, decompositions of matrices and Fourier transforms.
#include <tuple>

#include "bench.h"

namespace function_bench {
namespace {

using Tensors = std::vector<AnyTensor>;

/// The distances of all rows of `a` and `b`, as a product of matrices, which is how PyTorch does many.
AnyTensor distances(const AnyTensor& a, const AnyTensor& b) {
  const AnyTensor squares = a.square().sum(Axes{1}) + b.square().sum(Axes{1}).t() - 2 * a.matmul(b.t());
  return clamp_min(squares, 1e-12).sqrt();
}

}  // namespace

void formulas(Bench& b) {
  const AnyTensor a = b.floats({32, 256, 256}), c = b.floats({32, 256, 256}), m = b.floats({1024, 64}),
                  n = b.floats({64, 1024}), heads = b.floats({8, 512, 16, 64}), points = b.floats({4096, 64}),
                  others = b.leaf({4096, 64}), seed = b.floats({4096, 4096}),
                  d = b.floats({1024, 1024}, DType::f64), vectors = b.floats({4096, 512}),
                  x = b.leaf({32, 256, 256}), g = b.floats({32, 256, 256});
  b.row("einsum_batch", [&] { return Results{einsum("bij,bjk->bik", Tensors{a, c})}; });
  b.row("einsum_chain", [&] { return Results{einsum("ij,jk,kl->il", Tensors{m, n, m})}; });
  b.row("einsum_heads", [&] { return Results{einsum("bnhd,bmhd->bhnm", Tensors{heads, heads})}; });
  b.row("einsum_outer_sum", [&] { return Results{einsum("bi,bj->ij", Tensors{vectors, vectors})}; });
  b.row("einsum_gradient", [&] { return with_gradients(einsum("bij,bkj->bik", Tensors{x, c}), {x}, g); });
  b.row("cdist", [&] { return Results{distances(points, others.detach())}; });
  b.row("cdist_gradient", [&] { return with_gradients(distances(points, others), {others}, seed); });
  b.row("cdist_l1", [&] {
    return Results{(points.narrow(0, 0, 1024).unsqueeze(1) - points.narrow(0, 1024, 1024).unsqueeze(0))
                       .abs()
                       .sum({2}, drop)};
  });
  b.row("matmul_f64", [&] { return Results{d.matmul(d)}; });
  b.row("matvec", [&] { return Results{seed.matvec(seed.select(1, 3))}; });
  b.row("outer", [&] { return Results{seed.select(0, 1).outer(seed.select(0, 2))}; });
}

void decompositions(Bench& b) {
  const AnyTensor given = b.floats({64, 32, 32}), tall = b.floats({64, 128, 32}),
                  large = b.floats({512, 512}), right = b.floats({512, 64}),
                  symmetric = given + given.transpose(1, 2), many_64 = b.floats({256, 64, 64});
  const AnyTensor sound = large + eye(512, 512, DType::f32, large.device()) * 64,
                  many = given + eye(32, 32, DType::f32, large.device()) * 16;
  for (const AnyTensor& x : {symmetric, sound, many}) x.sync();
  b.row("qr", [&] { return Results{std::get<1>(linalg::qr(tall)).abs()}; });
  b.row("svd", [&] { return Results{std::get<1>(linalg::svd(given))}; });
  b.row("eigh", [&] { return Results{std::get<0>(linalg::eigh(symmetric))}; });
  b.row("inverse", [&] { return Results{linalg::inverse(many)}; });
  b.row("det", [&] { return Results{linalg::slogdet(many).second}; });
  b.row("lu_64", [&] { return Results{std::get<2>(linalg::lu(many_64)).abs()}; });
  b.row("inverse_64", [&] { return Results{linalg::inverse(many_64)}; });
  b.row("qr_64", [&] { return Results{std::get<1>(linalg::qr(many_64)).abs()}; });
  b.row("svd_64", [&] { return Results{std::get<1>(linalg::svd(many_64))}; });
  b.row("eigh_64", [&] { return Results{std::get<0>(linalg::eigh(many_64 + many_64.transpose(1, 2)))}; });
  b.row("matrix_exp", [&] { return Results{linalg::matrix_exp(given)}; });
  b.row("solve_512", [&] { return Results{linalg::solve(sound, right)}; });
  b.row("inverse_512", [&] { return Results{linalg::inverse(sound)}; });
  b.row("triangular_512", [&] { return Results{linalg::triangular_solve(sound, right, true)}; });
  b.row("svd_512", [&] { return Results{std::get<1>(linalg::svd(large))}; });
  b.row("eigh_512", [&] { return Results{std::get<0>(linalg::eigh(large + large.t()))}; });
}

void spectra(Bench& b) {
  const Device& device = b.device();
  const AnyTensor line = b.floats({256, 16384}), image = b.floats({64, 256, 256}),
                  sound = b.floats({16, 160000}), given = b.leaf({256, 4096}), real = b.floats({256, 2049}),
                  imag = b.floats({256, 2049}), odd = b.floats({256, 1000}), wave = b.floats({1 << 20});
  const AnyTensor window = hann_window(512, device).dynamic();
  const StftOptions frames{.size = 512, .hop = 128};
  const AnyComplex many{real, imag}, points{line, line};
  const auto parts = [](const AnyComplex& x) { return Results{x.real, x.imag}; };
  b.row("fft", [&] { return parts(fft(points)); });
  b.row("rfft", [&] { return parts(rfft(line)); });
  b.row("irfft", [&] { return Results{irfft(many)}; });
  b.row("rfft_1m", [&] { return parts(rfft(wave)); });
  b.row("rfft_1000", [&] { return parts(rfft(odd)); });
  b.row("rfft2", [&] { return parts(rfftn(image, Axes{1, 2})); });
  b.row("rfft_gradient", [&] {
    const AnyComplex y = rfft(given);
    return with_gradients(y.real * real + y.imag * imag, {given}, real);
  });
  b.row("stft", [&] { return parts(stft(sound, window, frames)); });
  b.row("istft", [&] { return Results{istft(stft(sound, window, frames), window, frames)}; });
  b.row("complex_multiply", [&] { return parts(points * points); });
  b.row("complex_abs", [&] { return Results{abs(points)}; });
}

}  // namespace function_bench
