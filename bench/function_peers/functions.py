"""Functions of tensors without gradients."""
import torch
import torch.nn.functional as F

from function_peers.rows import device, floats, ints, leaf, row, with_gradients


def more_scans():
    rows, tall, line = floats(256, 10000), floats(10000, 256), floats(1000000)
    whole, given, g = ints(100, 4096, 1024, dtype=torch.int32), leaf(256, 10000), floats(256, 10000)
    row("cummax", lambda: rows.cummax(1))
    row("cummax_axis0", lambda: tall.cummax(0)[0])
    row("cumprod_axis0", lambda: tall.cumprod(0))
    row("logcumsumexp_axis0", lambda: tall.logcumsumexp(0))
    row("logcumsumexp_1d", lambda: line.logcumsumexp(0))
    row("cumsum_i32", lambda: whole.cumsum(1, dtype=torch.int32))
    row("cumsum_gradient", lambda: with_gradients(given.cumsum(1), [given], g))
    row("cumprod_gradient", lambda: with_gradients(given.cumprod(1), [given], g))


def places():
    square, rows, image = floats(4096, 4096), ints(4096, 4096), floats(1 << 16, 256)
    few, given, line = ints(1 << 16, 100000), floats(100000, 256), floats(4096)
    columns, source = ints(4096, 4096, 1024), floats(4096, 1024)
    table, words, seed = leaf(50257, 256), ints(50257, 16, 1024), floats(16, 1024, 256)
    mask = floats(4096, 1) > 0

    def assigned():
        y = square.clone()
        y[:, 1024:2048] = source
        return y

    row("flip_add", lambda: square.flip(0, 1) + square)
    row("tril_add", lambda: square.tril(-1) + square.triu(1).t())
    row("diag_embed", lambda: line.diag_embed())
    row("diagonal_sum", lambda: square.trace())
    row("transpose_copy", lambda: (square.t() + 0.5).contiguous())
    row("repeat_rows", lambda: source.repeat_interleave(8, 0))
    row("where_broadcast", lambda: torch.where(mask, square, line))
    row("index_select", lambda: square.index_select(0, rows))
    row("index_select_axis1", lambda: square.index_select(1, rows))
    row("index_add", lambda: image.index_add(0, few, given))
    row("scatter", lambda: square.scatter(1, columns, 2.0))
    row("gather_gradient", lambda: with_gradients(F.embedding(words, table), [table], seed))
    row("slice_assign", assigned)
    row("stack_32", lambda: torch.stack([source[:512]] * 32, 1))


def paddings():
    x, given, seed = floats(16, 64, 112, 112), leaf(16, 64, 112, 112), floats(16, 64, 118, 118)
    row("pad_constant", lambda: F.pad(x, (3, 3, 3, 3), value=0.5))
    row("pad_reflect", lambda: F.pad(x, (3, 3, 3, 3), "reflect"))
    row("pad_replicate", lambda: F.pad(x, (3, 3, 3, 3), "replicate"))
    row("pad_circular", lambda: F.pad(x, (3, 3, 3, 3), "circular"))
    row("pad_reflect_gradient", lambda: with_gradients(F.pad(given, (3, 3, 3, 3), "reflect"), [given], seed))


def searches():
    many, square, whole = floats(1000000), floats(4096, 1024), ints(1000000, 10000000, dtype=torch.int32)
    limits, few = floats(1000).sort()[0], ints(1000000, 1000, dtype=torch.int32)
    row("argsort_1d", lambda: many.gather(0, many.argsort(0)))
    row("sort_descending", lambda: square.sort(1, True)[0])
    row("sort_i32_10m", lambda: whole.sort()[0])
    row("topk_1d", lambda: many.topk(1000)[0])
    row("kthvalue", lambda: square.kthvalue(100, 1)[0])
    row("bucketize", lambda: torch.bucketize(many, limits))
    row("unique_10m", lambda: whole.unique(return_inverse=True, return_counts=True))
    row("is_in", lambda: torch.isin(whole, few))


def elements():
    x, half = floats(8192, 4096), floats(8192, 4096, dtype=torch.float16)
    brain, double = floats(8192, 4096, dtype=torch.bfloat16), floats(4096, 2048, dtype=torch.float64)
    small, g, given = floats(64), floats(8192, 4096), leaf(8192, 4096)

    def chain():
        y = small
        for _ in range(100):
            y = (y * 1.01).sin()
        return y

    def tiny_reductions():
        y = small
        for _ in range(100):
            y = y - y.mean()
        return y

    row("softplus", lambda: F.softplus(x))
    row("erf", lambda: x.erf())
    row("pow_tensor", lambda: x.abs() ** g)
    row("atan2", lambda: torch.atan2(x, g))
    row("gelu_f16", lambda: F.gelu(half))
    row("add_mul_f16", lambda: half * 2 + half)
    row("softmax_bf16", lambda: brain.softmax(1))
    row("exp_f64", lambda: double.exp())
    row("mish_gradient", lambda: with_gradients(F.mish(given), [given], g))
    row("cast_u8", lambda: ((x + 1) * 127).to(torch.uint8))
    row("cast_i8_f32", lambda: (x * 127).to(torch.int8).float())
    row("tiny_chain_100", chain)
    row("tiny_reductions_100", tiny_reductions)


def integers():
    x, y = ints(1000000, 4096, 4096, dtype=torch.int32), ints(1000, 4096, 4096, dtype=torch.int32) + 1
    small, wide = ints(255, 8192, 4096, dtype=torch.uint8), ints(1000000, 4096, 4096)
    bits = floats(8192, 4096) > 0.999
    a, c = ints(100, 512, 512, dtype=torch.int32), ints(100, 512, 512, dtype=torch.int32)
    row("remainder_i32", lambda: x % y)
    row("floor_divide_i32", lambda: x // y)
    row("div_i64", lambda: torch.div(wide, y.long(), rounding_mode="trunc"))
    row("bits_i32", lambda: ((x & 0xFF) ^ (y << 3)) | (x >> 5))
    row("sum_i32", lambda: x.sum(1))
    row("sum_u8", lambda: small.sum())
    row("max_i64", lambda: wide.amax(0))
    row("any_bool", lambda: bits.any(1))
    row("all_bool_axis0", lambda: bits.all(0))
    row("count_nonzero", lambda: bits.count_nonzero(1))
    row("nonzero", lambda: bits.nonzero())
    row("matmul_i32_sums", lambda: (a.unsqueeze(2) * c.unsqueeze(0)).sum(1))


def draws():
    x, logits = floats(8192, 4096), floats(4096, 32000)
    row("uniform", lambda: torch.rand(8192, 4096, device=device))
    row("bernoulli", lambda: torch.empty(8192, 4096, dtype=torch.bool, device=device).bernoulli_(0.3))
    row("randint", lambda: torch.randint(0, 1000, (8192, 4096), device=device))
    row("exponential", lambda: torch.empty(8192, 4096, device=device).exponential_())
    row("randn_f16", lambda: torch.randn(8192, 4096, dtype=torch.float16, device=device))
    row("dropout", lambda: F.dropout(x, 0.1))
    row("categorical", lambda: logits.softmax(1).multinomial(1))
    row("arange", lambda: torch.arange(0, 1 << 25, device=device))
    row("linspace", lambda: torch.linspace(0, 1, 1 << 25, device=device))


def sums():
    x, several, tall = floats(8192, 4096), floats(32, 256, 56, 56), floats(1 << 20, 16)
    given, g, wide = leaf(8192, 4096), floats(8192, 1), floats(4, 8388608)
    row("sum_last_16", lambda: tall.sum(1))
    row("sum_first_of_tall", lambda: tall.sum(0))
    row("sum_wide", lambda: wide.sum(1))
    row("mean_of_channels", lambda: several.mean((0, 2, 3)))
    row("var_of_channels", lambda: several.var((0, 2, 3)))
    row("norm1", lambda: x.norm(1, 0))
    row("norm_all", lambda: x.norm())
    row("prod", lambda: x.prod(1))
    row("min_with_indices", lambda: x.min(1))
    row("renorm", lambda: x.renorm(2, 0, 10))
    row("normalize", lambda: F.normalize(x, dim=1))
    row("norm2_gradient", lambda: with_gradients(given.norm(2, 1, True), [given], g))
    row("logsumexp_gradient", lambda: with_gradients(given.logsumexp(1, True), [given], g))
