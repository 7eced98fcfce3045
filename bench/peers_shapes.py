"""PyTorch, eager and torch.compile, on the rows of shape-bench.

usage: peers_shapes.py ROWS [--only SUBSTRING] [--json FILE] [--eager-only] [--graphs] [--part I/N] [--warm]
       peers_shapes.py ROWS --check VALUES      (results beside those of shape-bench --values)

Milliseconds of a call are those of shape-bench: 5 calls and a group to warm up, then groups of 32 calls handed over
in a row between two events, over inputs that no cache holds. Each operation is written as PyTorch does it best: by the
library's own function, backward passes from what the forward pass saves. The compiler knows the sizes of each row
(dynamic=False). --warm compiles into the caches and measures nothing; run it in several processes, one --part each,
then once without."""
import argparse
import gc
import json
import os
import statistics
import sys
import time

# One thread for each process: a row has few kernels. The same in all of them, since settings are part of caches' keys.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import torch
import torch.nn.functional as F

from shape_rows import read_rows

WARM, CALLS, GROUPS = 5, 32, 5  # as in shape_bench.cpp
MI = 1 << 20
EPSILON = 1e-5
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i8": torch.int8}
DTYPES |= {name: getattr(torch, of) for name, of in (("f8_e4m3", "float8_e4m3fn"), ("f8_e5m2", "float8_e5m2"))
           if hasattr(torch, of)}
aten = torch.ops.aten


# ---- inputs, in the order of shape_operations.cpp

def normal(shape, dtype, device):
    x = torch.randn(shape, device=device)
    return (x * 20).to(dtype) if dtype == torch.int8 else x.to(dtype)


def indices(shape, count, device):
    return torch.randint(0, count, shape, device=device)


def one(s, dtype, device):
    return [normal(s, dtype, device)]


def two(s, dtype, device):
    return [normal(s, dtype, device), normal(s, dtype, device)]


def of_layer_norm(s, dtype, device):
    return [normal(s, dtype, device), normal((s[1],), dtype, device), normal((s[1],), dtype, device)]


def of_layer_norm_backward(s, dtype, device):
    return [*of_layer_norm(s, dtype, device), normal(s, dtype, device)]


def of_rms_norm(s, dtype, device):
    return [normal(s, dtype, device), normal((s[1],), dtype, device)]


def of_rms_norm_backward(s, dtype, device):
    return [*of_rms_norm(s, dtype, device), normal(s, dtype, device)]


def of_channel_norm(s, dtype, device):
    return [normal(s, dtype, device), normal((s[1],), dtype, device), normal((s[1],), dtype, device)]


def of_channel_norm_backward(s, dtype, device):
    return [*of_channel_norm(s, dtype, device), normal(s, dtype, device)]


def of_cross_entropy(s, dtype, device):
    return [normal(s, dtype, device), indices((s[0],), s[1], device)]


def with_row(s, dtype, device):
    return [normal(s, dtype, device), normal((1, s[1]), dtype, device)]


def with_column(s, dtype, device):
    return [normal(s, dtype, device), normal((s[0], 1), dtype, device)]


def of_convolution(s, dtype, device):
    n, c, h, w, o = s
    return [normal((n, c, h, w), dtype, device), normal((o, c, 3, 3), dtype, device),
            normal((1, o, 1, 1), dtype, device)]


def of_convolution_backward(s, dtype, device):
    n, c, h, w, o = s
    return [normal((n, c, h, w), dtype, device), normal((o, c, 3, 3), dtype, device),
            normal((n, o, h, w), dtype, device)]


def of_images(sizes, convolve, last=False, backward=False):
    """Images and a weight of the sizes that `sizes` makes of a row's, and what the result's gradient is."""
    def make(s, dtype, device):
        of_image, of_weight = sizes(*s)
        inputs = [normal(of_image, dtype, device), normal(of_weight, dtype, device)]
        if last:
            order = torch.channels_last if len(of_image) == 4 else torch.channels_last_3d
            inputs = [x.to(memory_format=order) for x in inputs]
        if backward:
            inputs.append(torch.randn_like(convolve(*inputs)))
        return inputs
    return make


def convolution_rows(name, sizes, arguments, orders=(False, True)):
    """`arguments`: of torch's convolution, stride to groups, by the operands."""
    def convolve(x, w):
        return aten.convolution(x, w, None, *arguments(x, w))

    def gradients(x, w, g):
        return aten.convolution_backward(g, x, w, None, *arguments(x, w), [True, True, False])[:2]

    rows = {}
    for last in orders:
        order = "_last" if last else ""
        rows[name + order] = Operation(of_images(sizes, convolve, last), convolve)
        rows[name + order + "_backward"] = Operation(of_images(sizes, convolve, last, True), gradients)
    return rows


def around(w):
    return [size // 2 for size in w.shape[2:]]


def dense(x, w, groups=1, stride=1):
    dims = x.dim() - 2
    return [stride] * dims, around(w), [1] * dims, False, [0] * dims, groups


def transposed(x, w):
    before, further = (w.shape[2] - 1) // 2, w.shape[2] % 2
    return [2, 2], [before, before], [1, 1], True, [further, further], 1


def factors(*sizes):
    """Of products; in a row's shape m, n and k are what `sizes` name, after the batch."""
    def make(s, dtype, device):
        return [normal([s["bmnk"[4 - len(s):].index(name)] if name != "1" else 1 for name in names], dtype, device)
                for names in sizes]
    return make


def of_scaled_layer(s, dtype, device):
    """Factors of 8 bits, with a scale each."""
    scale = torch.float64 if dtype == torch.float64 else torch.float32
    return [*factors("mk", "nk")(s, dtype, device), normal((1, 1), scale, device), normal((1, 1), scale, device)]


def pieces(axis):
    def make(s, dtype, device):
        part = s[axis] // 3 | 1
        sizes = [list(s) for _ in range(3)]
        for size, count in zip(sizes, (part, part, s[axis] - 2 * part)):
            size[axis] = count
        return [normal(size, dtype, device) for size in sizes]
    return make


def by_index(shape_of_index, count_of):
    def make(s, dtype, device):
        return [normal(s[:2], dtype, device), indices(shape_of_index(s), count_of(s), device)]
    return make


def added(make_index):
    """Source, index, and a tensor that says how many rows there are."""
    def make(s, dtype, device):
        return [normal((s[2], s[1]), dtype, device), make_index(s, device),
                torch.zeros((s[0], 1), dtype=dtype, device=device)]
    return make


# ---- what forward passes save, and backward passes

def save_softmax(x, dy):
    return torch.softmax(x, 1), dy


def softmax_backward(y, dy):
    return aten._softmax_backward_data(dy, y, 1, y.dtype)


def save_layer_norm(x, weight, bias, dy):
    _, mean, rstd = torch.native_layer_norm(x, [x.shape[1]], weight, bias, EPSILON)
    return x, weight, bias, dy, mean, rstd


def layer_norm_backward(x, weight, bias, dy, mean, rstd):
    return aten.native_layer_norm_backward(dy, x, [x.shape[1]], mean, rstd, weight, bias, [True, True, True])


def rms_norm_by_ops(x, weight):
    y = x.float()
    return (y * torch.rsqrt((y * y).mean(1, keepdim=True) + EPSILON) * weight.float()).to(x.dtype)


def rms_norm(x, weight):
    return F.rms_norm(x, [x.shape[1]], weight, EPSILON)


def save_rms_norm(x, weight, dy):
    return x, weight, dy, torch.rsqrt(x.float().square().mean(1, keepdim=True) + EPSILON)


def rms_norm_backward_by_ops(x, weight, dy, rstd):
    normalised, gradient = x.float() * rstd, dy.float() * weight.float()
    dx = (gradient - normalised * (gradient * normalised).mean(1, keepdim=True)) * rstd
    return dx.to(x.dtype), (dy.float() * normalised).sum(0).to(weight.dtype)


def rms_norm_backward(x, weight, dy, rstd):
    return aten._fused_rms_norm_backward(dy, x, [x.shape[1]], rstd, weight, [True, True])


def batch_norm(x, weight, bias):
    return F.batch_norm(x, None, None, weight, bias, True, 0.1, EPSILON)


def save_batch_norm(x, weight, bias, dy):
    _, mean, rstd = torch.native_batch_norm(x, weight, bias, None, None, True, 0.1, EPSILON)
    return x, weight, bias, dy, mean, rstd


def batch_norm_backward(x, weight, bias, dy, mean, rstd):
    return aten.native_batch_norm_backward(dy, x, weight, None, None, mean, rstd, True, EPSILON, [True, True, True])


def batch_norm_step(x, weight, bias, dy):
    y, mean, rstd = aten.native_batch_norm(x, weight, bias, None, None, True, 0.1, EPSILON)
    return y, *batch_norm_backward(x, weight, bias, dy, mean, rstd)


def save_group_norm(x, weight, bias, dy):
    _, mean, rstd = torch.native_group_norm(x, weight, bias, *x.shape, 32, EPSILON)
    return x, weight, bias, dy, mean, rstd


def group_norm_backward(x, weight, bias, dy, mean, rstd):
    return aten.native_group_norm_backward(dy, x, mean, rstd, weight, *x.shape, 32, [True, True, True])


def group_norm_step(x, weight, bias, dy):
    y, mean, rstd = aten.native_group_norm(x, weight, bias, *x.shape, 32, EPSILON)
    return y, *group_norm_backward(x, weight, bias, dy, mean, rstd)


def save_cross_entropy(x, targets):
    return x, targets, torch.ones((), dtype=x.dtype, device=x.device)


def cross_entropy_backward(x, targets, gradient):
    probabilities = torch.log_softmax(x, 1)
    loss, total = aten.nll_loss_forward(probabilities, targets, None, 1, -100)
    d = aten.nll_loss_backward(gradient, probabilities, targets, None, 1, -100, total)
    return loss, aten._log_softmax_backward_data(d, probabilities, 1, x.dtype)


def index_add(source, index, rows):
    zeros = torch.zeros((rows.shape[0], source.shape[1]), dtype=source.dtype, device=source.device)
    return zeros.index_add(0, index, source)


def scaled_linear(fast):
    def run(x, w, scale_x, scale_w):
        if x.dtype == torch.float64:
            return x @ w.t() * (scale_x * scale_w)
        if x.dtype == torch.int8:
            return (torch._int_mm(x, w.t()) * (scale_x * scale_w)).to(torch.bfloat16)
        return torch._scaled_mm(x, w.t(), scale_a=scale_x, scale_b=scale_w, out_dtype=torch.bfloat16,
                                use_fast_accum=fast)
    return run


def of_quantized_layer(dtype_of_weight):
    """A weight in 8 bits, with a scale for each output."""
    def make(s, dtype, device):
        x, w = factors("mk", "nk")(s, dtype, device)
        stored = (w.double() * 20).round().clamp(-127, 127).to(dtype_of_weight)
        return [x, stored, normal((s[1],), torch.float64 if dtype == torch.float64 else dtype, device)]
    return make


def quantized_linear(x, w, scales):
    return F.linear(x, w.to(x.dtype)) * scales


def of_blocks(codes_of):
    """With a scale for each 64 numbers of a row."""
    def make(s, dtype, device):
        x = normal((s[0], s[2]), dtype, device)
        return [x, codes_of(s, device), normal((s[1], s[2] // 64, 1), dtype, device)]
    return make


def scaled_by_block(numbers, scales):
    rows = scales.shape[0]
    return (numbers.view(rows, -1, 64) * scales).view(rows, -1)


def int8_block_linear(x, w, scales):
    return F.linear(x, scaled_by_block(w.to(x.dtype), scales))


NF4 = (-1, -0.6961928, -0.5250731, -0.3949175, -0.2844414, -0.1847734, -0.0910500, 0, 0.0795803, 0.1609302, 0.2461123,
       0.3379152, 0.4407098, 0.5626170, 0.7229568, 1)


def nf4_linear(x, w, scales):
    table = torch.tensor(NF4, dtype=x.dtype, device=x.device)
    return F.linear(x, scaled_by_block(table[torch.cat((w >> 4, w & 15), 1).int()], scales))


def of_int4_layer(s, dtype, device):
    """PyTorch's own layout, with a scale and a zero for each 64 numbers."""
    x = normal((s[0], s[2]), dtype, device)
    codes = torch.randint(0, 255, (s[1], s[2] // 2), device=device, dtype=torch.uint8)
    packed = torch.ops.aten._convert_weight_to_int4pack(codes, 8)
    return [x, packed, normal((s[2] // 64, s[1], 2), dtype, device)]


def int4_linear(x, w, scales):
    return torch.ops.aten._weight_int4pack_mm(x, w, 64, scales)


class Operation:
    def __init__(self, inputs, run, save=None, compiled=None, indexed=False):
        self.inputs, self.run, self.indexed = inputs, run, indexed
        self.save = save or (lambda *inputs: inputs)  # from inputs to the arguments of `run`; not measured
        self.compiled = compiled or run  # what to compile, where that is better written differently


HAS_RMS_NORM = hasattr(F, "rms_norm")
HAS_RMS_NORM_BACKWARD = hasattr(aten, "_fused_rms_norm_backward")
OPERATIONS = {
    "softmax": Operation(one, lambda x: torch.softmax(x, 1)),
    "softmax_backward": Operation(two, softmax_backward, save_softmax),
    "layer_norm": Operation(of_layer_norm, lambda x, w, b: F.layer_norm(x, [x.shape[1]], w, b, EPSILON)),
    "layer_norm_backward": Operation(of_layer_norm_backward, layer_norm_backward, save_layer_norm),
    "rms_norm": Operation(of_rms_norm, rms_norm if HAS_RMS_NORM else rms_norm_by_ops),
    "rms_norm_backward": Operation(of_rms_norm_backward,
                                   rms_norm_backward if HAS_RMS_NORM_BACKWARD else rms_norm_backward_by_ops,
                                   save_rms_norm, rms_norm_backward_by_ops),
    "batch_norm": Operation(of_channel_norm, batch_norm),
    "batch_norm_backward": Operation(of_channel_norm_backward, batch_norm_backward, save_batch_norm),
    "batch_norm_step": Operation(of_channel_norm_backward, batch_norm_step),
    "group_norm_32": Operation(of_channel_norm, lambda x, w, b: F.group_norm(x, 32, w, b, EPSILON)),
    "group_norm_32_backward": Operation(of_channel_norm_backward, group_norm_backward, save_group_norm),
    "group_norm_32_step": Operation(of_channel_norm_backward, group_norm_step),
    "cross_entropy": Operation(of_cross_entropy, lambda x, t: F.cross_entropy(x, t)),
    "cross_entropy_backward": Operation(of_cross_entropy, cross_entropy_backward, save_cross_entropy),

    "matmul": Operation(factors("mk", "kn"), torch.matmul),
    "linear": Operation(factors("mk", "nk"), F.linear),
    "weight_gradient": Operation(factors("km", "kn"), lambda a, b: torch.matmul(a.t(), b)),
    "matmul_batch": Operation(factors("bmk", "bkn"), torch.matmul),
    "linear_gelu": Operation(factors("mk", "nk", "n"), lambda x, w, b: F.gelu(F.linear(x, w, b))),
    "linear_residual": Operation(factors("mk", "nk", "n", "mn"), lambda x, w, b, y: F.linear(x, w, b) + y),
    "gated_linear": Operation(factors("mk", "nk", "nk"), lambda x, w, v: F.silu(F.linear(x, w)) * F.linear(x, v)),
    "added_linears": Operation(factors("mk", "nk", "mk", "nk", "mk", "nk"),
                               lambda x, w, y, v, z, u: torch.addmm(torch.addmm(F.linear(x, w), y, v.t()), z, u.t())),
    "scaled_linear": Operation(of_scaled_layer, scaled_linear(False)),
    "scaled_linear_fast": Operation(of_scaled_layer, scaled_linear(True)),
    "scaled_linear_exact": Operation(of_scaled_layer, scaled_linear(False)),
    "linear_int8": Operation(of_quantized_layer(torch.int8), quantized_linear),
    "linear_fp8": Operation(of_quantized_layer(torch.float8_e4m3fn), quantized_linear),
    "linear_int8_block": Operation(of_blocks(lambda s, device: torch.randint(-127, 128, s[1:], device=device).to(torch.int8)),
                                   int8_block_linear),
    "linear_int4": Operation(of_int4_layer, int4_linear),
    "linear_nf4": Operation(of_blocks(lambda s, device: torch.randint(0, 256, (s[1], s[2] // 2), device=device)
                                      .to(torch.uint8)), nf4_linear),

    "conv3": Operation(of_convolution, lambda x, w, b: F.conv2d(x, w, padding=1)),
    "conv3_bias_relu": Operation(of_convolution, lambda x, w, b: F.relu(F.conv2d(x, w, padding=1) + b)),
    "conv3_backward": Operation(of_convolution_backward, lambda x, w, g: aten.convolution_backward(
        g, x, w, None, *dense(x, w), [True, True, False])[:2]),

    **convolution_rows("conv", lambda n, c, h, w, o, k, g: ((n, c, h, w), (o, c // g, k, k)),
                       lambda x, w: dense(x, w, groups=x.shape[1] // w.shape[1])),
    **convolution_rows("conv_strided", lambda n, c, h, w, o, k: ((n, c, h, w), (o, c, k, k)),
                       lambda x, w: dense(x, w, stride=2)),
    **convolution_rows("conv_transpose", lambda n, c, h, w, o, k: ((n, c, h, w), (c, o, k, k)), transposed),
    **convolution_rows("conv1d", lambda n, c, l, o, k: ((n, c, l), (o, c, k)), dense, orders=(False,)),
    **convolution_rows("conv3d", lambda n, c, d, h, w, o, k: ((n, c, d, h, w), (o, c, k, k, k)), dense),

    "sum_dim0": Operation(one, lambda x: x.sum(0)),
    "sum_dim1": Operation(one, lambda x: x.sum(1)),
    "argmax_dim1": Operation(one, lambda x: x.argmax(1)),
    "sum_middle": Operation(one, lambda x: x.sum(1)),
    "max_middle": Operation(one, lambda x: x.amax(1)),
    "sum_dims02": Operation(one, lambda x: x.sum((0, 2))),
    "var_mean_dims02": Operation(one, lambda x: torch.var_mean(x, (0, 2), unbiased=False)),

    "transpose": Operation(one, lambda x: x.t().contiguous()),
    "add_transposed": Operation(one, lambda x: x + x.t()),
    "permute_021": Operation(one, lambda x: x.permute(0, 2, 1).contiguous()),
    "permute_0213": Operation(one, lambda x: x.permute(0, 2, 1, 3).contiguous()),
    "cat_dim0": Operation(pieces(0), lambda a, b, c: torch.cat((a, b, c), 0)),
    "cat_dim1": Operation(pieces(1), lambda a, b, c: torch.cat((a, b, c), 1)),
    "embedding": Operation(by_index(lambda s: (s[2],), lambda s: s[0]), lambda x, i: F.embedding(i, x), indexed=True),
    "index_select_dim1": Operation(by_index(lambda s: (s[2],), lambda s: s[1]),
                                   lambda x, i: torch.index_select(x, 1, i), indexed=True),
    "gather_dim1": Operation(by_index(lambda s: (s[0], s[2]), lambda s: s[1]), lambda x, i: torch.gather(x, 1, i),
                             indexed=True),

    "index_add": Operation(added(lambda s, device: torch.randint(s[0], (s[2],), device=device)), index_add),
    "index_add_alike": Operation(added(lambda s, device: torch.full((s[2],), s[0] // 2, device=device)), index_add),

    "sort": Operation(one, lambda x: tuple(torch.sort(x, 1))),
    "argsort": Operation(one, lambda x: torch.argsort(x, 1)),
    "topk_50": Operation(one, lambda x: tuple(torch.topk(x, 50, 1))),
    "cumsum": Operation(one, lambda x: torch.cumsum(x, 1)),

    "max_pool_2": Operation(one, lambda x: F.max_pool2d(x, 2, 2)),
    "max_pool_3": Operation(one, lambda x: F.max_pool2d(x, 3, 2)),
    "avg_pool_2": Operation(one, lambda x: F.avg_pool2d(x, 2, 2)),
    "avg_pool_3": Operation(one, lambda x: F.avg_pool2d(x, 3, 2)),

    "gelu": Operation(one, lambda x: F.gelu(x)),
    "add": Operation(two, lambda x, y: x + y),
    "add_row": Operation(with_row, lambda x, y: x + y),
    "mul_column": Operation(with_column, lambda x, y: x * y),
    "add_shifted": Operation(one, lambda x: x[:, :-1] + x[:, 1:]),
}


# ---- measuring

def bytes_of(tensors):
    return sum(x.numel() * x.element_size() for x in tensors)


def least_bytes(operation, inputs, results):
    read = bytes_of(inputs)
    if operation.indexed:
        read = min(bytes_of(inputs[:1]), bytes_of(results)) + bytes_of(inputs[1:])
    return read + bytes_of(results)


def said(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def as_list(results):
    return list(results) if isinstance(results, (tuple, list)) else [results]


def sets_for(size):
    return 1 if size < 8 * MI else min(32, -(-256 * MI // size))


def times_of(group, device, seconds):
    """Milliseconds of a call, over groups; `group` hands CALLS of them over."""
    times, begin = [], time.perf_counter()
    while len(times) < GROUPS or time.perf_counter() - begin < seconds:
        if device == "cpu":
            start = time.perf_counter()
            group()
            times.append((time.perf_counter() - start) * 1e3 / CALLS)
        else:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            group()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) / CALLS)
    return {"ms": statistics.median(times), "least_ms": min(times)}


def captured(function, sets):
    """A group as one CUDA graph."""
    def group():
        for i in range(CALLS):
            function(*sets[i % len(sets)])
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        group()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        group()
    return graph.replay


def measure(row, arguments):
    operation, device = OPERATIONS[row.operation], arguments.device
    inputs = [operation.inputs(row.shape, DTYPES[row.dtype], device)]
    count = sets_for(bytes_of(inputs[0]))
    if not arguments.warm:
        inputs += [operation.inputs(row.shape, DTYPES[row.dtype], device) for _ in range(count - 1)]
    sets = [operation.save(*one_set) for one_set in inputs]
    figures = {"bytes": least_bytes(operation, inputs[0], as_list(operation.compiled(*sets[0]))), "sets": count,
               "variants": {}}
    del inputs
    for variant in ("eager", "compile"):
        if variant == "eager" and arguments.warm or variant == "compile" and arguments.eager_only:
            continue
        function = operation.run
        try:
            if variant == "compile":
                torch._dynamo.reset()  # one row's guards are tried at each call, not all rows'
                function = torch.compile(operation.compiled, dynamic=False, mode=arguments.mode)
            start = time.perf_counter()
            for i in range(1 if arguments.warm else WARM):
                function(*sets[i % count])
            if variant == "compile":
                figures["compile_s"] = round(time.perf_counter() - start, 2)
            if arguments.warm:
                continue
            place = 0

            def group():
                nonlocal place
                for _ in range(CALLS):
                    function(*sets[place])
                    place = (place + 1) % count
            group()
            figures["variants"][variant] = times_of(group, device, arguments.seconds)
            if arguments.graphs:
                replay = captured(function, sets)
                replay()
                figures["variants"][variant + "_graph"] = times_of(replay, device, arguments.seconds)
        except Exception as error:  # the other variant may work
            figures.setdefault("errors", {})[variant] = said(error)
    return figures


def report(row, figures):
    for variant, error in figures.get("errors", {}).items():
        print(f"{row.name:44s} {variant} failed: {error}", flush=True)
    if figures["variants"]:
        best, times = min(figures["variants"].items(), key=lambda item: item[1]["ms"])
        print(f"{row.name:44s} {times['ms']:10.5f} {times['least_ms']:10.5f} {figures['bytes'] / 1e6:8.2f} "
              f"{figures['bytes'] / times['ms'] / 1e6:8.0f}  {best:14s}", *(
                  f"{variant} {other['ms']:.5f}" for variant, other in figures["variants"].items() if variant != best),
              flush=True)


# ---- results beside Sinter's

def check(rows, path, device):
    """Compares results of shape-bench with what PyTorch computes in f64 from the same inputs. Returns the number of
    rows that differ."""
    with open(path) as file:
        values = json.load(file)
    differing = 0
    for row in rows:
        if row.name not in values:
            print(f"{row.name:44s} is not in {path}")
            differing += 1
            continue
        operation, given = OPERATIONS[row.operation], values[row.name]
        inputs = [torch.tensor(numbers, dtype=like.dtype, device=device).reshape(like.shape)
                  for like, numbers in zip(operation.inputs(row.shape, torch.float64, device), given["inputs"])]
        try:
            results = as_list(operation.run(*operation.save(*inputs)))
            assert len(results) == len(given["results"]), f"{len(given['results'])} results, expected {len(results)}"
            # In 16 bits, what one kernel hands the next is rounded, too; short sums are in two orders.
            tolerance = 2e-5 if row.dtype == "f32" else 6e-2 if "_fast" in row.name else 3e-2
            for i, (result, numbers) in enumerate(zip(results, given["results"])):
                expected = result.flatten().double()
                found = torch.tensor([float("nan") if x is None else x for x in numbers], dtype=torch.float64,
                                     device=device)
                assert len(found) == len(expected), f"result {i} has {len(found)} values, expected {len(expected)}"
                error = ((found - expected).abs() / (1 + expected.abs())).max().item()
                assert error <= tolerance, f"result {i} differs by {error}"
            print(f"{row.name:44s} equal")
        except Exception as error:
            print(f"{row.name:44s} {said(error)}")
            differing += 1
    return differing


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows")
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="rows with this in their name")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--eager-only", action="store_true")
    parser.add_argument("--graphs", action="store_true", help="measure groups captured as CUDA graphs, too")
    parser.add_argument("--tf32", action="store_true", help="products of f32 by tf32, cuDNN's algorithms timed")
    parser.add_argument("--mode", help="torch.compile's, as max-autotune-no-cudagraphs")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every N-th row, from the I-th")
    parser.add_argument("--warm", action="store_true", help="compile, measure nothing")
    parser.add_argument("--seconds", type=float, default=0.1, help="time spent measuring each variant, about (0.1)")
    parser.add_argument("--check", metavar="VALUES", help="compare results with those of shape-bench --values")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if torch.cuda.is_available() else "cpu")
    arguments = parser.parse_args()
    try:
        part, parts = map(int, arguments.part.split("/"))
    except ValueError:
        part, parts = 0, 0
    if not 1 <= part <= parts:
        parser.error(f"--part is {arguments.part}, expected I/N with I from 1 to N")
    if arguments.warm and arguments.eager_only:
        parser.error("--warm compiles and --eager-only does not")
    if arguments.graphs and arguments.device == "cpu":
        parser.error("--graphs needs CUDA")
    return arguments, read_rows(arguments.rows, arguments.only)[part - 1::parts]


def main():
    arguments, rows = parse()
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = arguments.tf32
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(0)
    if arguments.check:
        return 1 if check(rows, arguments.check, arguments.device) else 0
    if not arguments.eager_only:
        import torch._inductor.config as inductor
        if hasattr(inductor, "autotune_local_cache"):
            # Processes that compile side by side would write down what they measured beside each other.
            inductor.autotune_local_cache = False
    name = torch.cuda.get_device_name() if arguments.device == "cuda" else "cpu"
    print(f"{name}, PyTorch {torch.__version__}")
    print(f"{'row':44s} {'median ms':>10s} {'least ms':>10s} {'MB':>8s} {'GB/s':>8s}")
    figures, failed = {}, 0
    for row in rows:
        try:
            figures[row.name] = measure(row, arguments)
        except Exception as error:
            figures[row.name] = {"variants": {}, "errors": {"setup": said(error)}}
        failed += "errors" in figures[row.name]
        report(row, figures[row.name])
        gc.collect()
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"device": name, "torch": torch.__version__, "rows": figures}, file, indent=1)
    if failed:
        print(f"{failed} of {len(rows)} rows failed, wholly or in part")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
