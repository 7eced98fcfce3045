// Functions of tensors without gradients.
#include "bench.h"

namespace function_bench {

void more_scans(Bench& b) {
  const AnyTensor rows = b.floats({256, 10000}), tall = b.floats({10000, 256}), line = b.floats({1000000}),
                  whole = b.ints({4096, 1024}, 100), given = b.leaf({256, 10000}), g = b.floats({256, 10000});
  b.row("cummax", [&] {
    const AnyIndexed most = rows.cummax(1);
    return Results{most.values, most.indices};
  });
  b.row("cummax_axis0", [&] { return Results{tall.cummax(0).values}; });
  b.row("cumprod_axis0", [&] { return Results{tall.cumprod(0)}; });
  b.row("logcumsumexp_axis0", [&] { return Results{tall.logcumsumexp(0)}; });
  b.row("logcumsumexp_1d", [&] { return Results{line.logcumsumexp(0)}; });
  b.row("cumsum_i32", [&] { return Results{whole.cumsum(1)}; });
  b.row("cumsum_gradient", [&] { return with_gradients(given.cumsum(1), {given}, g); });
  b.row("cumprod_gradient", [&] { return with_gradients(given.cumprod(1), {given}, g); });
}

void places(Bench& b) {
  const AnyTensor square = b.floats({4096, 4096}), rows = b.ints({4096}, 4096),
                  image = b.floats({1 << 16, 256}), few = b.ints({100000}, 1 << 16),
                  from = b.floats({100000, 256}), line = b.floats({4096}),
                  columns = b.ints({4096, 1024}, 4096), source = b.floats({4096, 1024}),
                  table = b.leaf({50257, 256}), words = b.ints({16, 1024}, 50257),
                  seed = b.floats({16, 1024, 256}), mask = AnyTensor::greater(b.floats({4096, 1}), 0.0);
  b.row("flip_add", [&] { return Results{square.flip({0, 1}) + square}; });
  b.row("tril_add", [&] { return Results{square.tril(-1) + square.triu(1).t()}; });
  b.row("diag_embed", [&] { return Results{line.diag_embed()}; });
  b.row("diagonal_sum", [&] { return Results{linalg::trace(square)}; });
  b.row("transpose_copy", [&] { return Results{square.t() + 0.5}; });
  b.row("repeat_rows", [&] {
    return Results{source.unsqueeze(1).expand({4096, 8, 1024}).reshape({4096 * 8, 1024})};
  });
  b.row("where_broadcast", [&] { return Results{where(mask, square, line.unsqueeze(0))}; });
  b.row("index_select", [&] { return Results{square.index_select(0, rows)}; });
  b.row("index_select_axis1", [&] { return Results{square.index_select(1, rows)}; });
  b.row("index_add", [&] { return Results{image.index_add(0, few, from)}; });
  b.row("scatter", [&] { return Results{square.scatter_fill(1, columns, 2.0)}; });
  b.row("gather_gradient", [&] { return with_gradients(embedding(words, table), {table}, seed); });
  b.row("slice_assign", [&] {
    return Results{square.slice_assign({Range(0, 4096), Range(1024, 2048)}, source)};
  });
  b.row("stack_32",
        [&] { return Results{AnyTensor::stack(std::vector<AnyTensor>(32, source.narrow(0, 0, 512)), 1)}; });
}

void paddings(Bench& b) {
  const AnyTensor x = b.floats({16, 64, 112, 112}), given = b.leaf({16, 64, 112, 112}),
                  seed = b.floats({16, 64, 118, 118});
  const Dims by{0, 0, 3, 3};
  b.row("pad_constant", [&] { return Results{x.pad(by, by, 0.5)}; });
  b.row("pad_reflect", [&] { return Results{x.pad(by, by, PadMode::Reflect)}; });
  b.row("pad_replicate", [&] { return Results{x.pad(by, by, PadMode::Replicate)}; });
  b.row("pad_circular", [&] { return Results{x.pad(by, by, PadMode::Circular)}; });
  b.row("pad_reflect_gradient",
        [&] { return with_gradients(given.pad(by, by, PadMode::Reflect), {given}, seed); });
}

void searches(Bench& b) {
  const AnyTensor many = b.floats({1000000}), square = b.floats({4096, 1024}),
                  whole = b.ints({10000000}, 1000000), limits = b.floats({1000}).sort(0).values,
                  few = b.ints({1000}, 1000000);
  b.row("argsort_1d", [&] { return Results{many.gather(0, many.argsort(0))}; });
  b.row("sort_descending", [&] { return Results{square.sort(1, true).values}; });
  b.row("sort_i32_10m", [&] { return Results{whole.sort(0).values}; });
  b.row("topk_1d", [&] { return Results{many.topk(1000, 0).values}; });
  b.row("kthvalue", [&] { return Results{square.kthvalue(100, 1).values}; });
  b.row("bucketize", [&] { return Results{many.bucketize(limits)}; });
  b.row("unique_10m", [&] {
    const AnyUnique found = whole.unique();
    return Results{found.values, found.inverse, found.counts};
  });
  // isin: PyTorch has it as a function.
  b.row("is_in", [&] {
    const AnyTensor sorted = few.sort(0).values;
    const AnyTensor at = clamp(sorted.searchsorted(whole), 0, 999);
    return Results{AnyTensor::equal(sorted.gather(0, at), whole)};
  });
}

void elements(Bench& b) {
  const AnyTensor x = b.floats({8192, 4096}), half = b.floats({8192, 4096}, DType::f16),
                  brain = b.floats({8192, 4096}, DType::bf16), double_ = b.floats({4096, 2048}, DType::f64),
                  small = b.floats({64}), g = b.floats({8192, 4096}), given = b.leaf({8192, 4096});
  b.row("softplus", [&] { return Results{x.softplus()}; });
  b.row("erf", [&] { return Results{x.erf()}; });
  b.row("pow_tensor", [&] { return Results{pow(x.abs(), g)}; });
  b.row("atan2", [&] { return Results{atan2(x, g)}; });
  b.row("gelu_f16", [&] { return Results{half.gelu()}; });
  b.row("add_mul_f16", [&] { return Results{half * 2 + half}; });
  b.row("softmax_bf16", [&] { return Results{brain.softmax(1)}; });
  b.row("exp_f64", [&] { return Results{double_.exp()}; });
  b.row("mish_gradient", [&] { return with_gradients(given.mish(), {given}, g); });
  b.row("cast_u8", [&] { return Results{((x + 1) * 127).cast(DType::u8)}; });
  b.row("cast_i8_f32", [&] { return Results{(x * 127).cast(DType::i8).cast(DType::f32)}; });
  b.row("tiny_chain_100", [&] {
    AnyTensor y = small;
    for (int i = 0; i < 100; ++i) y = (y * 1.01).sin();
    return Results{y};
  });
  b.row("tiny_reductions_100", [&] {
    AnyTensor y = small;
    for (int i = 0; i < 100; ++i) y = y - y.mean();
    return Results{y};
  });
}

void integers(Bench& b) {
  const AnyTensor x = b.ints({4096, 4096}, 1000000), y = AnyTensor::add(b.ints({4096, 4096}, 1000), 1),
                  bytes = b.ints({8192, 4096}, 255, DType::u8),
                  long_ = b.ints({4096, 4096}, 1000000, DType::i64),
                  bits = AnyTensor::greater(b.floats({8192, 4096}), 0.999), a = b.ints({512, 512}, 100),
                  c = b.ints({512, 512}, 100);
  b.row("remainder_i32", [&] { return Results{x % y}; });
  b.row("floor_divide_i32", [&] { return Results{floor_divide(x, y)}; });
  b.row("div_i64", [&] { return Results{long_ / y.cast(DType::i64)}; });
  b.row("bits_i32", [&] { return Results{((x & 0xff) ^ (y << 3)) | (x >> 5)}; });
  b.row("sum_i32", [&] { return Results{x.sum(Axes{1})}; });
  b.row("sum_u8", [&] { return Results{bytes.sum()}; });
  b.row("max_i64", [&] { return Results{long_.max(Axes{0})}; });
  b.row("any_bool", [&] { return Results{bits.any(Axes{1})}; });
  b.row("all_bool_axis0", [&] { return Results{bits.all(Axes{0})}; });
  b.row("count_nonzero", [&] { return Results{bits.count_nonzero(Axes{1})}; });
  b.row("nonzero", [&] { return Results{bits.nonzero()}; });
  // By sums, which PyTorch does without a kernel on CUDA too.
  b.row("matmul_i32_sums", [&] { return Results{(a.unsqueeze(2) * c.unsqueeze(0)).sum(Axes{1})}; });
}

void draws(Bench& b) {
  const Device& device = b.device();
  const AnyTensor x = b.floats({8192, 4096}), logits = b.floats({4096, 32000});
  b.row("uniform", [&] { return Results{AnyTensor::uniform({8192, 4096}, 0, 1, DType::f32, device)}; });
  b.row("bernoulli", [&] { return Results{bernoulli({8192, 4096}, 0.3, device)}; });
  b.row("randint", [&] { return Results{AnyTensor::randint({8192, 4096}, 0, 1000, DType::i64, device)}; });
  b.row("exponential", [&] {
    return Results{AnyTensor::uniform({8192, 4096}, 0, 1, DType::f32, device).neg().log1p().neg()};
  });
  b.row("randn_f16", [&] { return Results{AnyTensor::normal({8192, 4096}, 0, 1, DType::f16, device)}; });
  b.row("dropout", [&] {
    return Results{nn::detail::dropout(x.to_device(device.autodiff()), 0.1, 2, true, Location::current())};
  });
  b.row("categorical", [&] { return Results{logits.categorical(1)}; });
  b.row("arange", [&] { return Results{AnyTensor::arange(0, 1 << 25, 1, DType::i64, device)}; });
  b.row("linspace", [&] { return Results{linspace(0, 1, 1 << 25, DType::f32, device)}; });
}

void sums(Bench& b) {
  const AnyTensor x = b.floats({8192, 4096}), images = b.floats({32, 256, 56, 56}),
                  tall = b.floats({1 << 20, 16}), given = b.leaf({8192, 4096}), g = b.floats({8192, 1}),
                  wide = b.floats({4, 8388608});
  b.row("sum_last_16", [&] { return Results{tall.sum(Axes{1})}; });
  b.row("sum_first_of_tall", [&] { return Results{tall.sum(Axes{0})}; });
  b.row("sum_wide", [&] { return Results{wide.sum(Axes{1})}; });
  b.row("mean_of_channels", [&] { return Results{images.mean(Axes{0, 2, 3})}; });
  b.row("var_of_channels", [&] { return Results{images.var(Axes{0, 2, 3})}; });
  b.row("norm1", [&] { return Results{x.norm(1, Axes{0})}; });
  b.row("norm_all", [&] { return Results{x.norm(2, x.all_axes())}; });
  b.row("prod", [&] { return Results{x.prod(Axes{1})}; });
  b.row("min_with_indices", [&] {
    const AnyIndexed least = x.min_with_indices(1);
    return Results{least.values, least.indices};
  });
  // renorm: PyTorch has it as a function.
  b.row("renorm", [&] { return Results{x * clamp_max(10.0 / (x.norm(2, Axes{1}) + 1e-7), 1.0)}; });
  b.row("normalize", [&] { return Results{x.normalize(2, Axes{1})}; });
  b.row("norm2_gradient", [&] { return with_gradients(given.norm(2, Axes{1}), {given}, g); });
  b.row("logsumexp_gradient", [&] { return with_gradients(given.logsumexp(1), {given}, g); });
}

}  // namespace function_bench
