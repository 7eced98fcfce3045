// Sorting, counting, indexed writes, scans, images, reductions, copies and products.
#include "bench.h"

namespace function_bench {

void orders(Bench& b) {
  const AnyTensor square = b.floats({4096, 4096}), rows = b.floats({256, 10000}), many = b.floats({1000000}),
                  sorted = many.sort(0).values, whole = b.ints({1000000}, 1000);
  b.row("median", [&] { return Results{square.median(1).values}; });
  b.row("quantile", [&] { return Results{rows.quantile(0.3, 1)}; });
  b.row("sort_axis0", [&] { return Results{square.sort(0).values}; });
  b.row("topk_10", [&] { return Results{square.topk(10, 1).values}; });
  b.row("searchsorted", [&] { return Results{sorted.searchsorted(many)}; });
  b.row("unique", [&] { return Results{whole.unique().values}; });
  b.row("randperm", [&] { return Results{randperm(1000000, many.device())}; });
}

void counts(Bench& b) {
  const AnyTensor many = b.floats({10000000}), whole = b.ints({10000000}, 1000),
                  mask = AnyTensor::greater(many, 0.0), classes = b.ints({100000}, 100);
  b.row("histc", [&] { return Results{many.histc(100, -1, 1)}; });
  b.row("bincount", [&] { return Results{whole.bincount(1000)}; });
  b.row("argwhere", [&] { return Results{mask.argwhere()}; });
  b.row("mask_select", [&] { return Results{many.mask_select(mask)}; });
  b.row("one_hot", [&] { return Results{classes.one_hot(100)}; });
  const AnyTensor weights = AnyTensor::add(b.floats({4096, 1000}), 1.0),
                  long_weights = AnyTensor::add(b.floats({64, 50257}), 1.0);
  b.row("multinomial_1", [&] { return Results{weights.multinomial(1, true)}; });
  b.row("multinomial_10", [&] { return Results{long_weights.multinomial(10, false)}; });
}

void scatters(Bench& b) {
  const AnyTensor to = b.floats({10000, 64}), from = b.floats({100000, 64}),
                  where = b.ints({100000, 64}, 10000), line = b.floats({1000000}),
                  places = b.ints({1000000}, 1000000), square = b.floats({4096, 4096}),
                  columns = b.ints({4096, 4096}, 4096);
  b.row("scatter_add", [&] { return Results{to.scatter_add(0, where, from)}; });
  b.row("scatter_add_1d", [&] { return Results{line.scatter_add(0, places, line)}; });
  b.row("scatter_reduce_max",
        [&] { return Results{to.scatter_reduce(0, where, from, ScatterReduction::Max)}; });
  b.row("take_along_dim", [&] { return Results{square.take_along_dim(columns, 1)}; });
}

void scans(Bench& b) {
  const AnyTensor rows = b.floats({256, 10000}), tall = b.floats({10000, 256}),
                  middle = b.floats({32, 1000, 64}), line = b.floats({10000000});
  b.row("cumsum_1d", [&] { return Results{line.cumsum(0)}; });
  b.row("cumsum_axis0", [&] { return Results{tall.cumsum(0)}; });
  b.row("cumsum_middle", [&] { return Results{middle.cumsum(1)}; });
  b.row("cumprod", [&] { return Results{rows.cumprod(1)}; });
  b.row("logcumsumexp", [&] { return Results{rows.logcumsumexp(1)}; });
}

void images(Bench& b) {
  const AnyTensor x = b.floats({16, 64, 64, 64}), grid = b.floats({16, 64, 64, 2}),
                  small = b.floats({16, 64, 56, 56}), columns = b.floats({16, 576, 3136});
  const WindowOptions windows{.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}};
  b.row("nearest", [&] { return Results{x.interpolate({128, 128}, Interpolation::Nearest)}; });
  b.row("bilinear", [&] { return Results{x.interpolate({128, 128}, Interpolation::Linear)}; });
  b.row("bicubic", [&] { return Results{x.interpolate({128, 128}, Interpolation::Cubic)}; });
  b.row("grid_sample", [&] { return Results{x.grid_sample_2d(grid)}; });
  b.row("pixel_shuffle", [&] { return Results{x.pixel_shuffle(2)}; });
  b.row("unfold", [&] { return Results{small.unfold(windows)}; });
  b.row("fold", [&] { return Results{fold(columns, {56, 56}, windows)}; });
}

void reductions(Bench& b) {
  const AnyTensor x = b.floats({8192, 4096}), square = b.floats({4096, 4096}), line = b.floats({10000000}),
                  vectors = b.floats({65536, 512});
  b.row("norm2", [&] { return Results{x.norm(2, Axes{1})}; });
  b.row("norm3", [&] { return Results{x.norm(3, Axes{1})}; });
  b.row("std", [&] { return Results{x.std(Axes{1})}; });
  b.row("var_axis0", [&] { return Results{x.var(Axes{0})}; });
  b.row("logsumexp", [&] { return Results{x.logsumexp(1)}; });
  b.row("nansum", [&] { return Results{x.nansum(Axes{1})}; });
  b.row("any", [&] { return Results{AnyTensor::greater(x, 2.0).any(Axes{1})}; });
  b.row("argmax_axis0", [&] { return Results{square.argmax(0)}; });
  b.row("max_all", [&] { return Results{line.max()}; });
  b.row("cosine_similarity", [&] { return Results{vectors.cosine_similarity(vectors.roll(1, 0), 1)}; });
}

void copies(Bench& b) {
  const AnyTensor square = b.floats({4096, 4096}), tile = b.floats({64, 64}), points = b.floats({1000000, 3});
  b.row("roll", [&] { return Results{square.roll(1000, 1)}; });
  b.row("triu", [&] { return Results{square.triu()}; });
  b.row("repeat", [&] { return Results{tile.repeat({64, 64})}; });
  b.row("cat_64", [&] { return Results{AnyTensor::cat(std::vector<AnyTensor>(64, tile), 0)}; });
  b.row("cross", [&] { return Results{points.cross(points.roll(1, 0), 1)}; });
  b.row("randn", [&] { return Results{AnyTensor::normal({8192, 4096}, 0, 1, DType::f32, square.device())}; });
}

void products(Bench& b) {
  const AnyTensor rows = b.floats({256, 10000}), tile = b.floats({64, 64}),
                  heads = b.floats({8, 16, 512, 64}), small = b.floats({4096, 16, 16}),
                  given = b.floats({256, 64, 64}), right = b.floats({256, 64, 8});
  AnyTensor definite = AnyTensor::add(given.matmul(given.transpose(1, 2)),
                                      AnyTensor::mul(eye(64, 64, DType::f32, given.device()), 64.0));
  definite.sync();
  b.row("cov", [&] { return Results{rows.cov()}; });
  b.row("corrcoef", [&] { return Results{rows.corrcoef()}; });
  b.row("kron", [&] { return Results{tile.kron(tile)}; });
  b.row("einsum", [&] { return Results{einsum("bhid,bhjd->bhij", std::vector<AnyTensor>{heads, heads})}; });
  b.row("matmul_16", [&] { return Results{small.matmul(small)}; });
  b.row("cholesky", [&] { return Results{linalg::cholesky(definite)}; });
  b.row("solve", [&] { return Results{linalg::solve(definite, right)}; });
}

}  // namespace function_bench
