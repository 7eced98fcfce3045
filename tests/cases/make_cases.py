#!/usr/bin/env python3
"""Computes with PyTorch, in double precision, what functions of tensors must give, and writes the cases beside this file.

Run by hand when a case is added (needs python3-torch). A file of the safetensors format holds the cases of a section: for
case K the operands K/in0.., the results K/out0.., the weights of the results in a sum, the gradients of that sum K/grad0..,
the weights of those in a second sum, and its gradients K/second0..; the text K is JSON with the function's name (functions.def) and its attributes. Operands are numbers that f32
has exactly, so that results are exact up to the rounding of f64 for f32 too.
"""
import json
import math
import pathlib
import struct

import torch
import torch.nn.functional as F

inf, nan = math.inf, math.nan
generator = torch.Generator().manual_seed(20261123)
second_generator = torch.Generator().manual_seed(20261125)

cases, texts = [], {}
TYPES = {torch.float64: "F64", torch.float32: "F32", torch.int64: "I64", torch.int32: "I32", torch.bool: "BOOL"}


def numbers(*shape, scale=1.0, low=None, source=generator):
    """Random numbers that f32 has exactly; of which none is near another's corner: multiples of 1/64 plus 1/128."""
    k = torch.randint(-192, 192, shape, generator=source).double()
    x = (k / 64 + 1 / 128) * scale
    return x if low is None else x.abs() + low


def integers(*shape, low=0, high=10):
    return torch.randint(low, high, shape, generator=generator)


def given(*values):
    return torch.tensor(values, dtype=torch.float64)


def second_gradients(key, inputs, leaves, found):
    """The gradients of a sum of gradients, where they have any; PyTorch's decompositions and pools have not all."""
    total, weighted = 0, []
    for x, gradient in zip(leaves, found):
        if gradient is None or not gradient.requires_grad:
            continue
        i = [x is y for y in inputs].index(True)
        weights = numbers(*gradient.shape, source=second_generator)
        weighted.append((f"{key}/second_weights{i}", weights))
        total = total + (gradient * weights).sum()
    if not weighted:
        return
    try:
        second = torch.autograd.grad(total, leaves, allow_unused=True)
    except RuntimeError as error:
        print("no second gradients of case", key, "here:", str(error).splitlines()[0][:100])
        return
    cases.extend(weighted)
    for x, gradient in zip(leaves, second):
        i = [x is y for y in inputs].index(True)
        cases.append((f"{key}/second{i}", torch.zeros_like(x) if gradient is None else gradient.detach()))


def case(function, compute, inputs, gradients=True, second=True, **attributes):
    """One case; `compute` takes the operands. Gradients are those of all operands of floats."""
    key = f"{len(texts):03}"
    inputs = [x.clone() for x in inputs]
    tracked = gradients and any(x.dtype == torch.float64 for x in inputs)
    if tracked:
        inputs = [x.requires_grad_() if x.dtype == torch.float64 else x for x in inputs]
    result = compute(*inputs)
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    for i, x in enumerate(inputs):
        cases.append((f"{key}/in{i}", x.detach()))
    for i, y in enumerate(outputs):
        cases.append((f"{key}/out{i}", y.detach()))
    if tracked:
        total = 0
        for i, y in enumerate(outputs):
            if not y.dtype.is_floating_point or not y.requires_grad:
                continue
            weights = numbers(*y.shape)
            cases.append((f"{key}/weights{i}", weights))
            total = total + (y * weights).sum()
        leaves = [x for x in inputs if x.requires_grad]
        found = torch.autograd.grad(total, leaves, allow_unused=True, create_graph=True) if isinstance(total, torch.Tensor) else []
        for i, x in enumerate(inputs):
            if not x.requires_grad:
                continue
            gradient = found[[l is x for l in leaves].index(True)]
            if gradient is not None:
                cases.append((f"{key}/grad{i}", gradient.detach()))
        if second:
            second_gradients(key, inputs, leaves, found)
    texts[key] = json.dumps({"function": function, **{k: repr(v) if v in (inf, -inf) else v for k, v in attributes.items()}})


def write(section):
    header, data = {"__metadata__": dict(texts)}, b""
    for name, tensor in cases:
        if torch._is_zerotensor(tensor):  # has no memory
            tensor = torch.zeros(tensor.shape, dtype=tensor.dtype)
        raw = tensor.resolve_neg().contiguous().numpy().tobytes()
        header[name] = {"dtype": TYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = pathlib.Path(__file__).with_name(section + ".safetensors")
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    print(section, len(texts), "cases,", path.stat().st_size, "bytes")
    cases.clear()
    texts.clear()


# ---- arithmetic
SHAPES = [((2, 3), (2, 3)), ((4, 1, 3), (2, 1)), ((5,), ()), ((0, 3), (1, 3)), ((1, 1, 1, 1, 2, 1, 1, 3), (3,))]
for a, b in SHAPES:
    case("add", torch.add, [numbers(*a), numbers(*b)])
    case("sub", torch.sub, [numbers(*a), numbers(*b)])
    case("mul", torch.mul, [numbers(*a), numbers(*b)])
    case("div", torch.div, [numbers(*a), numbers(*b)])
for dtype in (torch.int64, torch.int32):
    a, b = integers(3, 4, low=-9).to(dtype), integers(4, low=1).to(dtype)
    for name, f in (("add", torch.add), ("sub", torch.sub), ("mul", torch.mul), ("remainder", torch.remainder),
                    ("fmod", torch.fmod), ("maximum", torch.maximum), ("minimum", torch.minimum)):
        case(name, f, [a, b])
    case("floor_divide", lambda a, b: torch.div(a, b, rounding_mode="floor"), [a, b])
    case("clamp", lambda x: x.clamp(-3, 4), [a], low=-3, high=4)
SPECIAL = given(0.0, -0.0, 1.0, -1.5, inf, -inf, nan, 3e38, -1e-38, 2.5)
a, b = torch.meshgrid(SPECIAL.float().double(), SPECIAL.float().double(), indexing="ij")
for name, f in (("add", torch.add), ("sub", torch.sub), ("maximum", torch.maximum), ("minimum", torch.minimum)):
    case(name, f, [a.clamp(-1e37, 1e37), b.clamp(-1e37, 1e37)], gradients=False)
case("remainder", torch.remainder, [numbers(4, 5), numbers(5)])
case("fmod", torch.fmod, [numbers(4, 5), numbers(5)])
case("floor_divide", lambda a, b: torch.div(a, b, rounding_mode="floor"), [numbers(4, 5), numbers(5)], gradients=False)
case("pow", torch.pow, [numbers(3, 4, low=0.125), numbers(4)])
case("pow", torch.pow, [given(-2, -1, 0, 0, 3, 2), given(2, 3, 2, 0, 0, -1)], gradients=False)
case("maximum", torch.maximum, [numbers(3, 4), numbers(3, 4)])
case("minimum", torch.minimum, [numbers(3, 4), numbers(4)])
case("maximum", torch.maximum, [given(1, 2, 3), given(1, 5, 3)])
case("clamp", lambda x: x.clamp(-1, 0.5), [torch.cat([numbers(20), given(-1, 0.5, inf, -inf)])], low=-1, high=0.5)
case("clamp", lambda x: x.clamp(-1, 0.5), [given(nan, 7)], gradients=False, low=-1, high=0.5)
case("clamp_min", lambda x, y: x.clamp(min=y), [numbers(3, 4), numbers(3, 4)])
case("clamp_max", lambda x, y: x.clamp(max=y), [numbers(3, 4), numbers(3, 4)])
case("lerp", lambda a, b: torch.lerp(a, b, 0.375), [numbers(3, 4), numbers(3, 4)], weight=0.375)
case("where", torch.where, [integers(3, 4, high=2).bool(), numbers(3, 4), numbers(3, 4)])
for name, f in (("neg", torch.neg), ("abs", torch.abs), ("sign", torch.sign), ("square", torch.square),
                ("recip", torch.reciprocal), ("floor", torch.floor), ("ceil", torch.ceil), ("round", torch.round),
                ("trunc", torch.trunc), ("frac", torch.frac)):
    case(name, f, [numbers(3, 5)])
    if name != "frac":
        case(name, f, [given(0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 1e9, inf, -inf)], gradients=False)
    case(name, f, [torch.zeros(0, dtype=torch.float64)], gradients=False)
case("sqrt", torch.sqrt, [numbers(3, 5, low=0.125)])
case("sqrt", torch.sqrt, [given(0, 4, inf, -1, nan)], gradients=False)
case("rsqrt", torch.rsqrt, [numbers(3, 5, low=0.125)])
case("nan_to_num", lambda x: torch.nan_to_num(x, 7, 8, -9), [given(1, nan, inf, -inf, -2)], nan=7, high=8, low=-9)
write("arithmetic")

# ---- exponentials, logarithms, angles
for name, f in (("exp", torch.exp), ("exp2", torch.exp2), ("expm1", torch.expm1), ("sin", torch.sin), ("cos", torch.cos),
                ("tan", torch.tan), ("atan", torch.atan), ("sinh", torch.sinh), ("cosh", torch.cosh), ("tanh", torch.tanh),
                ("asinh", torch.asinh), ("erf", torch.erf), ("sigmoid", torch.sigmoid), ("sinc", torch.sinc),
                ("deg2rad", torch.deg2rad), ("rad2deg", torch.rad2deg)):
    case(name, f, [numbers(4, 7)], second=name != "sinc")
    if name not in ("deg2rad", "rad2deg", "sinc"):
        case(name, f, [torch.cat([given(0, inf, -inf, nan) if name not in ("sin", "cos", "tan") else given(0, nan),
                                  given(1e-6, -1e-6).float().double()])], gradients=False)
for name, f in (("log", torch.log), ("log2", torch.log2), ("log10", torch.log10), ("log1p", torch.log1p)):
    case(name, f, [numbers(4, 7, low=0.125)])
    case(name, f, [given(0, 1, inf, nan, -2)], gradients=False)
for name, f in (("asin", torch.asin), ("acos", torch.acos), ("atanh", torch.atanh)):
    case(name, f, [numbers(4, 7, scale=0.25)])
    case(name, f, [given(1, -1, 0, nan, 2)], gradients=False)
case("acosh", torch.acosh, [numbers(4, 7, low=1.25)])
case("logit", torch.logit, [numbers(4, 7, scale=0.125, low=0.125)])
case("logaddexp", torch.logaddexp, [numbers(3, 4), numbers(4)])
case("logaddexp", torch.logaddexp, [given(inf, -inf, -inf, 1e4, 0), given(1, -inf, 2, -1e4, nan)], gradients=False)
case("xlogy", torch.xlogy, [numbers(3, 4), numbers(3, 4, low=0.25)])
case("xlogy", torch.xlogy, [given(0, 0, 0, 1), given(0, inf, nan, 0)], gradients=False)
case("atan2", torch.atan2, [numbers(3, 4), numbers(4)])
case("hypot", torch.hypot, [numbers(3, 4), numbers(4)])
write("functions")

# ---- comparisons and logic
for name, f in (("equal", torch.eq), ("not_equal", torch.ne), ("less", torch.lt), ("less_equal", torch.le),
                ("greater", torch.gt), ("greater_equal", torch.ge)):
    case(name, f, [a, b], gradients=False)
    case(name, f, [integers(3, 4, low=-2, high=2), integers(4, low=-2, high=2)])
for name, f in (("is_nan", torch.isnan), ("is_inf", torch.isinf), ("is_finite", torch.isfinite)):
    case(name, f, [SPECIAL.float().double()], gradients=False)
near = given(1, 1, 1e-9, inf, nan, 0, 100).float().double()
beside = given(1 + 2**-18, 1.001, 0, inf, nan, -0.0, 100.0005).float().double()
case("is_close", torch.isclose, [near, beside], gradients=False, equal_nan=False)
case("is_close", lambda a, b: torch.isclose(a, b, equal_nan=True), [near, beside], gradients=False, equal_nan=True)
case("contains_nan", lambda x: x.isnan().any(), [numbers(3, 4)], gradients=False)
case("contains_nan", lambda x: x.isnan().any(), [SPECIAL.float().double()], gradients=False)
write("comparisons")

# ---- reductions
for shape, axes in (((3, 4), [1]), ((3, 4), [0]), ((2, 3, 4), [0, 2]), ((5,), [0]), ((2, 0, 3), [1]), ((1, 7, 1), [-2])):
    x = numbers(*shape)
    empty = 0 in shape
    case("sum", lambda x: x.sum(axes, keepdim=True), [x], axes=axes)
    case("mean", lambda x: x.mean(axes, keepdim=True), [x], gradients=not empty, axes=axes)
    if len(axes) == 1:
        case("prod", lambda x: x.prod(axes[0], keepdim=True), [x], axes=axes)
    if empty:
        continue
    case("max", lambda x: x.amax(axes, keepdim=True), [x], axes=axes)
    case("min", lambda x: x.amin(axes, keepdim=True), [x], axes=axes)
    case("logsumexp", lambda x: x.logsumexp(axes, keepdim=True), [x], axes=axes)
    case("max_abs", lambda x: x.abs().amax(axes, keepdim=True), [x], axes=axes)
    case("count_nonzero", lambda x: (x != 0).sum(axes, keepdim=True), [x.round()], gradients=False, axes=axes)
    for p in (0, 1, 2, 3, 0.5, inf, -inf):
        case("norm", lambda x: torch.linalg.vector_norm(x, p, axes, keepdim=True), [x], gradients=p != 0, axes=axes, p=p)
    if shape[axes[0]] > 1:
        for correction in (0, 1):
            case("var", lambda x: x.var(axes, correction=correction, keepdim=True), [x], axes=axes, correction=correction)
            case("std", lambda x: x.std(axes, correction=correction, keepdim=True), [x], axes=axes, correction=correction)
x = numbers(3, 5)
for axis in (0, 1, -1):
    case("argmax", lambda x: x.argmax(axis, keepdim=True), [x], gradients=False, axis=axis)
    case("argmin", lambda x: x.argmin(axis, keepdim=True), [x], gradients=False, axis=axis)
case("norm", lambda x: torch.linalg.vector_norm(x, 2, [1], keepdim=True), [torch.zeros(2, 3, dtype=torch.float64)], second=False, axes=[1], p=2)
case("normalize", lambda x: F.normalize(x, dim=1), [numbers(3, 4)], p=2, axes=[1])
case("logsumexp", lambda x: x.logsumexp([1], keepdim=True),
     [torch.stack([given(-inf, -inf), given(1, -inf), given(inf, 1), given(1e4, 1e4), given(nan, 1)])], gradients=False, axes=[1])
spots = numbers(3, 4)
spots[0, 1] = spots[2, 3] = nan
case("nansum", lambda x: x.nansum([1], keepdim=True), [spots], axes=[1])
case("nanmean", lambda x: x.nanmean([1], keepdim=True), [spots], axes=[1])
case("sum", lambda x: x.sum([1], keepdim=True), [integers(3, 4, low=-9)], axes=[1])
case("prod", lambda x: x.prod(1, keepdim=True), [integers(3, 4, low=-9)], axes=[1])
case("max", lambda x: x.amax([1], keepdim=True), [integers(3, 4, low=-9)], axes=[1])
case("max", lambda x: x.amax([1], keepdim=True), [torch.stack([given(1, nan), given(-inf, -inf), given(2, 2)])],
     gradients=False, axes=[1])
case("cov", lambda x: torch.cov(x), [numbers(3, 6)], correction=1)
case("corrcoef", torch.corrcoef, [numbers(3, 6)])
write("reductions")

# ---- activation functions
def hard_swish(x):
    """PyTorch's own has 1/6 in single precision."""
    return torch.where(x <= -3, 0 * x, torch.where(x >= 3, x, x * (x + 3) / 6))


ACTIVATIONS = [
    ("relu", F.relu, {}), ("relu6", F.relu6, {}), ("selu", F.selu, {}), ("gelu", F.gelu, {}),
    ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), {}), ("silu", F.silu, {}), ("mish", F.mish, {}),
    ("hard_sigmoid", lambda x: F.relu6(x + 3) / 6, {}), ("hard_swish", hard_swish, {}), ("log_sigmoid", F.logsigmoid, {}),
    ("softsign", F.softsign, {}), ("tanhshrink", F.tanhshrink, {}),
    ("leaky_relu", lambda x: F.leaky_relu(x, 0.125), {"slope": 0.125}),
    ("elu", lambda x: F.elu(x, 0.75), {"alpha": 0.75}), ("celu", lambda x: F.celu(x, 0.75), {"alpha": 0.75}),
    ("softplus", lambda x: F.softplus(x, 2, 60), {"beta": 2}), ("softplus", lambda x: F.softplus(x, 1, 60), {"beta": 1}),
    ("hardtanh", lambda x: F.hardtanh(x, -0.5, 2), {"low": -0.5, "high": 2}),
    ("hard_shrink", lambda x: F.hardshrink(x, 0.75), {"lambda": 0.75}),
    ("soft_shrink", lambda x: F.softshrink(x, 0.75), {"lambda": 0.75}),
    ("threshold", lambda x: F.threshold(x, 0.25, -7), {"limit": 0.25, "value": -7}),
]
# The corners of the functions above, where PyTorch's gradients are as they are.
CORNERS = given(0, 0.25, 0.75, -0.75, -0.5, 2, 6, 3, -3)
FAR = given(30, -30, 100, -100, 1e4, -1e4)
for name, f, attributes in ACTIVATIONS:
    case(name, f, [numbers(5, 7, scale=2)], **attributes)
    case(name, f, [CORNERS], second=False, **attributes)
    if name not in ("tanhshrink", "mish"):
        case(name, f, [FAR], **attributes)
    if name not in ("soft_shrink", "hard_shrink"):
        case(name, f, [given(nan, 1)], gradients=False, **attributes)
case("prelu", F.prelu, [numbers(2, 3, 4), numbers(3)])
case("prelu", F.prelu, [numbers(2, 3), numbers(1)])
for axis in (-1, 0):
    case("glu", lambda x: F.glu(x, axis), [numbers(4, 6)], axis=axis)
for shape, axis in (((3, 5), 1), ((3, 5), 0), ((2, 3, 4), 1), ((4, 1), -1)):
    for name, f in (("softmax", F.softmax), ("log_softmax", F.log_softmax), ("softmin", F.softmin)):
        case(name, lambda x: f(x, axis), [numbers(*shape, scale=4)], axis=axis)
case("softmax", lambda x: F.softmax(x, 1), [torch.stack([given(-inf, 1, 2), given(1e4, -1e4, 0)])], gradients=False, axis=1)
write("activations")

# ---- shapes and parts
x = numbers(2, 3, 4)
case("reshape", lambda x: x.reshape(4, -1), [x], sizes=[4, -1])
case("reshape", lambda x: x.reshape(1, 1, 2, 3, 1, 2, 2, 1), [x], sizes=[1, 1, 2, 3, 1, 2, 2, 1])
case("permute", lambda x: x.permute(2, 0, 1), [x], axes=[2, 0, 1])
case("transpose", lambda x: x.transpose(0, -1), [x], a=0, b=-1)
case("expand", lambda x: x.expand(5, 2, 3), [numbers(2, 1)], sizes=[5, 2, 3])
case("squeeze", lambda x: x.squeeze(1), [numbers(2, 1, 3)], axis=1)
case("unsqueeze", lambda x: x.unsqueeze(-2), [x], axis=-2)
case("narrow", lambda x: x.narrow(1, 1, 2), [x], axis=1, start=1, length=2)
case("narrow", lambda x: x.narrow(1, 1, 0), [x], axis=1, start=1, length=0)
case("flip", lambda x: x.flip([0, 2]), [x], axes=[0, 2])
for shift, axis in ((1, 0), (-5, 2), (7, 1)):
    case("roll", lambda x: x.roll(shift, axis), [x], shift=shift, axis=axis)
case("movedim", lambda x: x.movedim(0, 2), [x], **{"from": 0, "to": 2})
case("repeat", lambda x: x.repeat(2, 1, 3), [x], counts=[2, 1, 3])
case("windows", lambda x: x.unfold(2, 3, 1), [x], axis=2, size=3, step=1)
case("windows", lambda x: x.unfold(0, 2, 3), [numbers(9, 2)], axis=0, size=2, step=3)
case("pad_constant", lambda x: F.pad(x, (1, 2, 0, 3), value=0.5), [x], before=[0, 0, 1], after=[0, 3, 2], value=0.5)
for mode in ("reflect", "replicate", "circular"):
    case("pad_" + mode, lambda x: F.pad(x, (1, 2, 2, 1), mode=mode), [numbers(2, 1, 4, 5)], before=[0, 0, 2, 1], after=[0, 0, 1, 2])
case("cat", lambda *x: torch.cat(x, 1), [numbers(2, 3), numbers(2, 0), numbers(2, 2)], axis=1)
case("stack", lambda *x: torch.stack(x, -1), [numbers(2, 3), numbers(2, 3)], axis=-1)
for diagonal in (0, 1, -2, 9):
    case("tril", lambda x: x.tril(diagonal), [numbers(3, 4)], diagonal=diagonal)
    case("triu", lambda x: x.triu(diagonal), [numbers(2, 3, 3)], diagonal=diagonal)
for diagonal in (0, 1, -1, 3, -2):
    case("diagonal", lambda x: x.diagonal(diagonal, -2, -1), [numbers(2, 3, 4)], diagonal=diagonal)
    case("diag_embed", lambda x: x.diag_embed(diagonal), [numbers(2, 3)], diagonal=diagonal)
case("gather", lambda x, i: x.gather(1, i), [numbers(3, 5), integers(3, 4, high=5)], axis=1)
case("index_select", lambda x, i: x.index_select(1, i), [numbers(3, 5), integers(7, high=5)], axis=1)
case("one_hot", lambda i: F.one_hot(i, 6), [integers(2, 3, high=6)], classes=6)
write("shapes")

# ---- scans, sorts, searches, indexed writes
def distinct(*shape):
    """Numbers of which no two are equal."""
    count = math.prod(shape)
    return ((torch.randperm(count, generator=generator).double() - count // 2) / 16 + 1 / 128).reshape(shape)


for shape, axis in (((7,), 0), ((3, 5), 1), ((4, 3, 2), 0), ((2, 0, 3), 1), ((2, 1), -1)):
    case("cumsum", lambda x: x.cumsum(axis), [numbers(*shape)], axis=axis)
    case("cumprod", lambda x: x.cumprod(axis), [numbers(*shape)], axis=axis)
    case("logcumsumexp", lambda x: x.logcumsumexp(axis), [numbers(*shape)], axis=axis)
    if 0 not in shape:
        case("cummax", lambda x: list(x.cummax(axis)), [numbers(*shape)], axis=axis)
        case("cummin", lambda x: list(x.cummin(axis)), [numbers(*shape)], axis=axis)
        case("median", lambda x: list(x.median(axis, keepdim=True)), [distinct(*shape)], axis=axis)
        case("quantile", lambda x: x.quantile(0.375, axis, keepdim=True), [distinct(*shape)], axis=axis, q=0.375)
        case("max_with_indices", lambda x: list(x.max(axis, keepdim=True)), [distinct(*shape)], axis=axis)
        case("min_with_indices", lambda x: list(x.min(axis, keepdim=True)), [distinct(*shape)], axis=axis)
        case("kthvalue", lambda x: list(x.kthvalue(1, axis, keepdim=True)), [distinct(*shape)], axis=axis, k=1)
        case("topk", lambda x: list(x.topk(1, axis)), [distinct(*shape)], axis=axis, k=1, largest=True)
    for descending in (False, True):
        case("sort", lambda x: list(x.sort(dim=axis, descending=descending, stable=True)), [distinct(*shape)], axis=axis,
             descending=descending)
    case("argsort", lambda x: x.argsort(dim=axis, stable=True), [integers(*shape, high=3)], axis=axis)
case("topk", lambda x: list(x.topk(4, 1, largest=False)), [distinct(3, 9)], axis=1, k=4, largest=False)
case("kthvalue", lambda x: list(x.kthvalue(3, 1, keepdim=True)), [distinct(3, 9)], axis=1, k=3)
case("sort", lambda x: list(x.sort(stable=True)), [given(1, nan, -inf, inf, 0, -1)], gradients=False, axis=-1, descending=False)
case("cumsum", lambda x: x.cumsum(1), [integers(3, 4, low=-9)], axis=1)
for right in (False, True):
    edges = given(-1, 0, 0.5, 2)
    case("searchsorted", lambda s, v: torch.searchsorted(s, v, right=right), [edges, given(-2, 0, 0.25, 2, 3)], gradients=False, right=right)
    case("bucketize", lambda v, s: torch.bucketize(v, s, right=right), [given(-2, 0, 0.25, 2, 3), edges], gradients=False, right=right)
case("nonzero", lambda x: x.nonzero(), [integers(3, 4, low=-1, high=2)])
case("nonzero", lambda x: x.nonzero(), [torch.zeros(2, 3, dtype=torch.int64)])
case("mask_select", torch.masked_select, [numbers(3, 4), integers(3, 4, high=2).bool()])
case("unique", lambda x: list(torch.unique(x, return_inverse=True, return_counts=True)), [integers(3, 5, low=-2, high=3)])
case("bincount", lambda x: x.bincount(), [integers(20, high=6)])
case("histc", lambda x: x.histc(5, -1, 1.5), [numbers(40)], gradients=False, bins=5, low=-1, high=1.5)
place = torch.stack([torch.randperm(5, generator=generator)[:3] for _ in range(4)], 1)
case("scatter", lambda x, i, s: x.scatter(0, i, s), [numbers(5, 4), place, numbers(3, 4)], axis=0)
case("scatter_add", lambda x, i, s: x.scatter_add(0, i, s), [numbers(5, 4), integers(3, 4, high=5), numbers(3, 4)], axis=0)
case("index_add", lambda x, i, s: x.index_add(1, i, s), [numbers(3, 5), integers(7, high=5), numbers(3, 7)], axis=1)
case("index_copy", lambda x, i, s: x.index_copy(1, i, s), [numbers(3, 5), torch.tensor([4, 0]), numbers(3, 2)], axis=1)
case("index_fill", lambda x, i: x.index_fill(0, i, 1.5), [numbers(3, 2), torch.tensor([2, 2])], axis=0, value=1.5)
case("take", torch.take, [numbers(3, 4), integers(2, 3, high=12)])
case("take_along_dim", lambda x, i: torch.take_along_dim(x, i, 1), [numbers(3, 4), integers(3, 6, high=4)], axis=1)
write("indices")

# ---- products
for a, b in (((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (3, 4, 2)), ((3, 0), (0, 2)), ((1, 17), (17, 1))):
    case("matmul", torch.matmul, [numbers(*a), numbers(*b)])
case("dot", torch.dot, [numbers(7), numbers(7)])
case("outer", torch.outer, [numbers(3), numbers(4)])
case("matvec", torch.mv, [numbers(3, 4), numbers(4)])
case("linalg::trace", torch.trace, [numbers(3, 4)])
case("cross", lambda a, b: torch.cross(a, b, dim=1), [numbers(2, 3, 4), numbers(2, 3, 4)], axis=1)
case("kron", torch.kron, [numbers(2, 3), numbers(3, 2)])
case("cosine_similarity", lambda a, b: F.cosine_similarity(a, b, 1), [numbers(3, 5), numbers(3, 5)], axis=1)
for formula, shapes in (("ij,jk->ik", [(3, 4), (4, 5)]), ("bik,bkj->bij", [(2, 3, 4), (2, 4, 5)]), ("ii->", [(4, 4)]),
                        ("ii->i", [(4, 4)]), ("ij->ji", [(3, 4)]), ("i,j->ij", [(3,), (4,)]), ("ij->", [(3, 4)]),
                        ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]), ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
                        ("ij,jk,kl->il", [(2, 8), (8, 3), (3, 5)]), ("ijk,k->ij", [(2, 3, 4), (4,)]),
                        ("ab,cd", [(2, 3), (4, 2)]), ("i,i", [(5,), (5,)]), ("bij,bij->b", [(2, 3, 4), (2, 3, 4)]),
                        ("...i->...", [(2, 3, 4)]), ("aBc,cB->aB", [(2, 3, 4), (4, 3)])):
    case("einsum", lambda *x: torch.einsum(formula, *x), [numbers(*s) for s in shapes], formula=formula)
case("einsum", lambda a, b: torch.einsum("ij,jk->ik", a, b), [integers(3, 4, low=-5), integers(4, 2, low=-5)], formula="ij,jk->ik")
write("products")

# ---- decompositions
def well(*shape):
    """Matrices far from singular."""
    return (numbers(*shape) / 4 + torch.eye(shape[-2], shape[-1]) * 2).float().double()


def magnitudes(parts):
    return [part.abs() for part in parts]


for n, batch in ((1, ()), (3, ()), (4, (2, 1)), (2, (0,)), (0, ())):
    a, b = well(*batch, n, n), numbers(*batch, n, 2)
    ok = a.numel() > 0
    case("linalg::solve", torch.linalg.solve, [a, b], gradients=ok)
    case("linalg::inverse", torch.linalg.inv, [a], gradients=ok)
    case("linalg::det", torch.linalg.det, [a], gradients=ok)
    if n > 0:
        case("linalg::slogdet", lambda a: list(torch.linalg.slogdet(a)), [a], gradients=ok)
    case("linalg::cholesky", torch.linalg.cholesky, [(a @ a.mT).float().double()], gradients=ok)
    if ok:
        case("linalg::lu", lambda a: list(torch.linalg.lu(a)), [a])
        case("linalg::eigh", lambda a: magnitudes(torch.linalg.eigh(a + a.mT)), [a])
        case("linalg::matrix_exp", torch.linalg.matrix_exp, [a])
        case("linalg::matrix_power", lambda a: torch.linalg.matrix_power(a, 5), [a], power=5)
        case("linalg::matrix_power", lambda a: torch.linalg.matrix_power(a, -2), [a], power=-2)
        for upper in (False, True):
            case("linalg::triangular_solve", lambda a, b: torch.linalg.solve_triangular(a, b, upper=upper), [a, b], upper=upper)
case("linalg::matrix_exp", torch.linalg.matrix_exp, [numbers(3, 3) * 4])
case("linalg::matrix_power", lambda a: torch.linalg.matrix_power(a, 0), [well(3, 3)], gradients=False, power=0)
for shape in ((3, 3), (2, 5, 3), (3, 5)):
    a = well(*shape)
    case("linalg::svd", lambda a: magnitudes(torch.linalg.svd(a, full_matrices=False)), [a])
    case("linalg::qr", lambda a: magnitudes(torch.linalg.qr(a)), [a], gradients=shape[-2] >= shape[-1])
    case("linalg::pinv", torch.linalg.pinv, [a])
case("linalg::lstsq", lambda a, b: torch.linalg.lstsq(a, b).solution, [well(5, 3), numbers(5, 2)])
case("linalg::eig", lambda a: (lambda w: [w.sum(-1, keepdim=True).real, (w * w).sum(-1, keepdim=True).real,
                                          (w ** 3).sum(-1, keepdim=True).real, w.abs().sum(-1, keepdim=True)])(torch.linalg.eigvals(a)),
     [numbers(2, 4, 4)], gradients=False)
write("decompositions")

# ---- convolutions and images
for stride, padding, dilation, groups in ((1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 1), (3, 1, 2, 4)):
    options = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
    case("conv1d", lambda x, w: F.conv1d(x, w, **options), [numbers(2, 4, 9), numbers(4, 4 // groups, 3)], **options)
    case("conv2d", lambda x, w: F.conv2d(x, w, **options), [numbers(1, 4, 7, 8), numbers(4, 4 // groups, 3, 2)], **options)
    case("conv3d", lambda x, w: F.conv3d(x, w, **options), [numbers(1, 4, 5, 6, 7), numbers(4, 4 // groups, 2, 3, 2)], **options)
for stride, padding, output_padding, dilation, groups in ((1, 0, 0, 1, 1), (2, 1, 1, 1, 2), (1, 1, 0, 2, 1), (3, 0, 2, 1, 4)):
    options = dict(stride=stride, padding=padding, output_padding=output_padding, groups=groups, dilation=dilation)
    case("conv_transpose1d", lambda x, w: F.conv_transpose1d(x, w, **options), [numbers(2, 4, 5), numbers(4, 2, 3)], **options)
    case("conv_transpose2d", lambda x, w: F.conv_transpose2d(x, w, **options), [numbers(1, 4, 3, 4), numbers(4, 2, 3, 2)], **options)
    case("conv_transpose3d", lambda x, w: F.conv_transpose3d(x, w, **options),
         [numbers(1, 4, 3, 2, 3), numbers(4, 1, 2, 3, 2)], **options)
for kernel, stride, padding, dilation in (([2, 3], [1, 1], [0, 0], [1, 1]), ([3, 2], [2, 1], [1, 1], [1, 2])):
    options = dict(kernel=kernel, stride=stride, padding=padding, dilation=dilation)
    torch_options = dict(kernel_size=kernel, stride=stride, padding=padding, dilation=dilation)
    columns = F.unfold(torch.zeros(1, 2, 6, 7, dtype=torch.float64), **torch_options).shape
    case("unfold", lambda x: F.unfold(x, **torch_options), [numbers(1, 2, 6, 7)], **options)
    case("fold", lambda x: F.fold(x, (6, 7), **torch_options), [numbers(*columns)], sizes=[6, 7], **options)
case("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), [numbers(1, 8, 3, 2)], factor=2)
case("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 3), [numbers(1, 2, 6, 3)], factor=3)
for sizes in ([5, 9], [7, 3], [1, 12]):
    x = numbers(1, 2, 4, 6)
    case("interpolate_nearest", lambda x: F.interpolate(x, sizes, mode="nearest"), [x], sizes=sizes)
    for align in (False, True):
        case("interpolate_linear", lambda x: F.interpolate(x, sizes, mode="bilinear", align_corners=align), [x], sizes=sizes,
             align_corners=align)
        case("interpolate_cubic", lambda x: F.interpolate(x, sizes, mode="bicubic", align_corners=align), [x], sizes=sizes,
             align_corners=align)
case("interpolate_linear", lambda x: F.interpolate(x, [7], mode="linear"), [numbers(2, 3, 4)], sizes=[7], align_corners=False)
for outside, padding_mode in enumerate(("zeros", "border", "reflection")):
    for align in (False, True):
        for nearest in (False, True):
            case("grid_sample_2d",
                 lambda x, g: F.grid_sample(x, g, mode="nearest" if nearest else "bilinear", padding_mode=padding_mode,
                                            align_corners=align),
                 [numbers(2, 2, 4, 5), numbers(2, 3, 3, 2, scale=0.5)], outside=outside, align_corners=align, nearest=nearest)
for align in (False, True):
    case("affine_grid_2d", lambda t: F.affine_grid(t, [2, 1, 3, 4], align_corners=align), [numbers(2, 2, 3)], sizes=[3, 4],
         align_corners=align)
write("images")

# ---- Fourier transforms
def parts(y):
    return [y.real, y.imag]


NORMS = ("backward", "ortho", "forward")
for n, axis, norm in ((1, 0, 0), (2, 0, 0), (8, 0, 1), (30, 0, 2), (64, 0, 0), (67, 0, 1), (70, 0, 0), (128, 0, 2), (134, 0, 0), (5, 1, 0)):
    shape = (3, n, 2) if axis else (n,)
    real, imag = numbers(*shape), numbers(*shape)
    case("fft", lambda a, b: parts(torch.fft.fft(torch.complex(a, b), dim=axis, norm=NORMS[norm])), [real, imag], axis=axis, norm=norm)
    case("ifft", lambda a, b: parts(torch.fft.ifft(torch.complex(a, b), dim=axis, norm=NORMS[norm])), [real, imag], axis=axis, norm=norm)
    case("rfft", lambda a: parts(torch.fft.rfft(a, dim=axis, norm=NORMS[norm])), [real], axis=axis, norm=norm)
for n in (1, 2, 7, 8, 66):
    case("irfft", lambda a, b: torch.fft.irfft(torch.complex(a, b), n, dim=-1), [numbers(2, n // 2 + 1), numbers(2, n // 2 + 1)],
         axis=-1, norm=0, length=n)
for name, f in (("fftn", torch.fft.fftn), ("ifftn", torch.fft.ifftn)):
    case(name, lambda a, b: parts(f(torch.complex(a, b), dim=(0, 2))), [numbers(3, 2, 4), numbers(3, 2, 4)], axes=[0, 2])
for size, hop, center in ((8, 2, True), (8, 4, False), (6, 5, True)):
    window = torch.hann_window(size, dtype=torch.float64).float().double() + 0.25
    x = numbers(2, 20)
    case("stft", lambda x, w: parts(torch.stft(x, size, hop, window=w, center=center, return_complex=True)), [x, window],
         size=size, hop=hop, center=center)
    spectrum = torch.stft(x, size, hop, window=window, center=center, return_complex=True)
    spectrum = [part.float().double() for part in parts(spectrum)]
    case("istft", lambda a, b, w: torch.istft(torch.complex(a, b), size, hop, window=w, center=center), [*spectrum, window],
         size=size, hop=hop, center=center)
for n in (1, 7, 8):
    case("fftfreq", lambda: torch.fft.fftfreq(n, 0.25, dtype=torch.float64), [], n=n, spacing=0.25)
    case("rfftfreq", lambda: torch.fft.rfftfreq(n, 0.25, dtype=torch.float64), [], n=n, spacing=0.25)
write("fourier")

# ---- made of numbers
for start, stop, step in ((0, 5, 1), (1, -2, -0.5), (0, 1, 0.125), (3, 3, 1), (0, 1, 0.3)):
    case("arange", lambda: torch.arange(start, stop, step, dtype=torch.float64), [], start=start, stop=stop, step=step)
for start, stop, count in ((0, 1, 5), (-3, 4, 8), (2, 2, 3), (1, 9, 1), (0, 1, 0), (5, -5, 2)):
    case("linspace", lambda: torch.linspace(start, stop, count, dtype=torch.float64), [], start=start, stop=stop, count=count)
case("logspace", lambda: torch.logspace(-2, 2, 5, 10, dtype=torch.float64), [], start=-2, stop=2, count=5, base=10)
case("eye", lambda: torch.eye(3, 5, dtype=torch.float64), [], rows=3, columns=5)
for name, f in (("hann_window", torch.hann_window), ("hamming_window", torch.hamming_window), ("blackman_window", torch.blackman_window)):
    for size, periodic in ((8, True), (9, False), (1, True), (1, False), (0, False)):
        case(name, lambda: f(size, periodic=periodic, dtype=torch.float64), [], size=size, periodic=periodic)
write("creation")

# ---- parts, masks, grids
x = numbers(2, 3, 5)
case("chunk", lambda x: list(x.chunk(3, 2)), [x], count=3, axis=2)
case("split", lambda x: list(x.split(2, -1)), [x], size=2, axis=-1)
case("select", lambda x: x.select(1, -2), [x], axis=1, index=-2)
case("flatten", lambda x: x.flatten(), [x])
case("slice", lambda x: x[:, 1:3, ::2], [x], starts=[0, 1, 0], stops=[2, 3, 5], steps=[1, 1, 2])
case("slice", lambda x: x.flip(0, 2)[:, :, ::2], [x], starts=[-1, 0, -1], stops=[-3, 3, -6], steps=[-1, 1, -2])
case("slice", lambda x: x[:, 3:9, 1:1], [x], starts=[0, 3, 1], stops=[2, 9, 1], steps=[1, 1, 1])


def assigned(x, value):
    y = x.clone()
    y[:, 1:3, ::2] = value
    return y


case("slice_assign", assigned, [x, numbers(2, 1, 3)], starts=[0, 1, 0], stops=[2, 3, 5], steps=[1, 1, 2])
case("slice_fill", lambda x: assigned(x, 0.75), [x], starts=[0, 1, 0], stops=[2, 3, 5], steps=[1, 1, 2], value=0.75)
case("mask_where", lambda x, m, y: torch.where(m, y, x), [x, integers(2, 3, 5, high=2).bool(), numbers(3, 5)])
case("mask_fill", lambda x, m: x.masked_fill(m, -1.5), [x, integers(2, 3, 5, high=2).bool()], value=-1.5)
for diagonal in (0, 2, -1, 7):
    shape = dict(rows=3, columns=4, diagonal=diagonal)
    ones = torch.ones(3, 4, dtype=torch.bool)
    case("tril_mask", lambda: ones.tril(diagonal), [], **shape)
    case("triu_mask", lambda: ones.triu(diagonal), [], **shape)
    case("diag_mask", lambda: ones.tril(diagonal) & ones.triu(diagonal), [], **shape)
for indexing in ("ij", "xy"):
    case("meshgrid", lambda *x: list(torch.meshgrid(*x, indexing=indexing)), [numbers(3), numbers(2), numbers(4)],
         cartesian=indexing == "xy")
case("cartesian_grid", lambda: torch.cartesian_prod(torch.arange(2), torch.arange(3), torch.arange(4)).reshape(2, 3, 4, 3), [],
     sizes=[2, 3, 4])
case("full_like", lambda x: torch.full_like(x, 2.5), [x], gradients=False, value=2.5)
case("zeros_like", torch.zeros_like, [integers(2, 3)])
case("ones_like", torch.ones_like, [x], gradients=False)
case("expand_as", lambda x, y: x.expand_as(y), [numbers(3, 1), numbers(2, 3, 4)])
write("parts")

# ---- logic and bits
p, q = integers(3, 4, high=2).bool(), integers(4, high=2).bool()
a, b = integers(3, 4, low=-9, high=9), integers(4, low=-9, high=9)
for name, f in (("logical_and", torch.bitwise_and), ("logical_or", torch.bitwise_or), ("logical_xor", torch.bitwise_xor)):
    case(name, f, [p, q])
    case(name, f, [a, b])
    case(name, f, [a.to(torch.int32), b.to(torch.int32)])
case("logical_not", torch.bitwise_not, [p])
case("logical_not", torch.bitwise_not, [a])
for name, f in (("shift_left", torch.bitwise_left_shift), ("shift_right", torch.bitwise_right_shift)):
    case(name, f, [a, b.abs()])
for axis in (0, 1):
    case("any", lambda x: x.any(axis, keepdim=True), [p], axes=[axis])
    case("all", lambda x: x.all(axis, keepdim=True), [p | p.flip(0)], axes=[axis])
case("any", lambda x: x.any(1, keepdim=True), [torch.zeros(2, 0, dtype=torch.bool)], axes=[1])
case("all", lambda x: x.all(1, keepdim=True), [torch.zeros(2, 0, dtype=torch.bool)], axes=[1])
case("sum", lambda x: x.sum([1], keepdim=True), [p], axes=[1])
case("prod", lambda x: x.prod(1, keepdim=True), [p], axes=[1])
# Axes without elements.
empty = torch.zeros(0, 3, dtype=torch.float64)
for name, f in (("softmax", F.softmax), ("log_softmax", F.log_softmax), ("softmin", F.softmin)):
    case(name, lambda x: f(x, 0), [empty], gradients=False, axis=0)
case("logsumexp", lambda x: x.logsumexp([0], keepdim=True), [empty], gradients=False, axes=[0])
write("logic")

# ---- indexed writes that join, coordinates
REDUCTIONS = ("sum", "prod", "amax", "amin")
for number, reduction in enumerate(REDUCTIONS):
    for include_self in (True, False):
        case("scatter_reduce", lambda x, i, s: x.scatter_reduce(1, i, s, reduction, include_self=include_self),
             [distinct(3, 5), integers(3, 7, high=5), distinct(3, 7) + 1 / 256], axis=1, reduction=number, include_self=include_self)
        if reduction != "sum":
            case("index_reduce", lambda x, i, s: x.index_reduce(0, i, s, reduction, include_self=include_self),
                 [distinct(4, 3), integers(6, high=4), distinct(6, 3) + 1 / 256], axis=0, reduction=number, include_self=include_self)
case("scatter_fill", lambda x, i: x.scatter(1, i, 0.25), [numbers(3, 5), integers(3, 2, high=5)], axis=1, value=0.25)
at = torch.tensor([[0, 2], [1, 1], [2, 0]])
case("gather_nd", lambda x, i: x[i[:, 0], i[:, 1]], [numbers(3, 4, 2), at])
case("gather_nd", lambda x, i: x[i[:, 0]], [numbers(3, 4), integers(5, 1, high=3)])
case("scatter_nd", lambda x, i, s: x.index_put((i[:, 0], i[:, 1]), s), [numbers(3, 4, 2), at, numbers(3, 2)])
twice = torch.cat([at, at[1:]])
case("scatter_nd_add", lambda x, i, s: x.index_put((i[:, 0], i[:, 1]), s, accumulate=True), [numbers(3, 4, 2), twice, numbers(5, 2)])
for number, reduction in enumerate(REDUCTIONS):
    case("scatter_nd_reduce",
         lambda x, i, s: x.flatten(0, 1).index_reduce(0, i[:, 0] * 4 + i[:, 1], s, reduction).reshape(x.shape)
         if reduction != "sum" else x.index_put((i[:, 0], i[:, 1]), s, accumulate=True),
         [distinct(3, 4, 2), twice, distinct(5, 2) + 1 / 256], reduction=number)
write("writes")

# ---- statistics and activations of several results
# Not near 0, where the second derivative by PyTorch's formula is a small difference of large numbers.
case("sinc", torch.sinc, [numbers(4, 7, low=0.25)])
for axes in ([1], [0, 2]):
    case("var_mean", lambda x: list(torch.var_mean(x, axes, unbiased=True, keepdim=True)), [numbers(3, 4, 5)], axes=axes)
    case("std_mean", lambda x: list(torch.std_mean(x, axes, unbiased=True, keepdim=True)), [numbers(3, 4, 5)], axes=axes)
case("histogram", lambda x: list(torch.histogram(x, 5, range=(-1.0, 1.5))), [numbers(40)], gradients=False, bins=5, low=-1, high=1.5)
for axis in (-1, 0):
    case("swiglu", lambda x: F.silu(x.chunk(2, axis)[0]) * x.chunk(2, axis)[1], [numbers(4, 6)], axis=axis)
for scale in (1, 4):
    case("quiet_softmax", lambda x: x.exp() / (1 + x.exp().sum(1, keepdim=True)), [numbers(3, 5, scale=scale)], axis=1)
case("shrink", lambda x: torch.where(x > 0.75, x - 0.25, torch.where(x < -0.75, x + 0.25, 0 * x)), [numbers(5, 7)], bias=0.25,
     **{"lambda": 0.75})


def lanczos(x, sizes, align):
    """By its formula: windowed sinc of 3 lobes, weights scaled to sum to 1, each axis by itself."""
    for axis, to in ((2, sizes[0]), (3, sizes[1])):
        size = x.shape[axis]
        at = torch.arange(to, dtype=torch.float64)
        at = at * ((size - 1) / (to - 1) if to > 1 else 0) if align else (at + 0.5) * size / to - 0.5
        near = at.floor()[:, None] + torch.arange(-2, 4)
        distance = at[:, None] - near
        weights = torch.sinc(distance) * torch.sinc(distance / 3) * (distance.abs() < 3)
        weights = weights / weights.sum(1, keepdim=True)
        table = torch.zeros(to, size, dtype=torch.float64).scatter_add(1, near.clamp(0, size - 1).long(), weights)
        x = torch.movedim(torch.movedim(x, axis, -1) @ table.T, -1, axis)
    return x


for sizes in ([5, 9], [7, 3], [1, 12]):
    for align in (False, True):
        case("interpolate_lanczos", lambda x: lanczos(x, sizes, align), [numbers(1, 2, 4, 6)], sizes=sizes, align_corners=align)
write("more")

# ---- layers as functions of their parameters
case("linear", F.linear, [numbers(2, 3, 4), numbers(5, 4), numbers(5)])
case("embedding", F.embedding, [integers(2, 3, high=6), numbers(6, 4)])
for n, size in ((1, (9,)), (2, (5, 6)), (3, (4, 5, 4))):
    x = distinct(1, 2, *size)
    for stride, padding, ceil_mode in ((2, 1, False), (3, 0, True)):
        options = dict(stride=stride, padding=padding, ceil_mode=ceil_mode)
        case(f"max_pool{n}d", lambda x: getattr(F, f"max_pool{n}d")(x, 3, **options), [x], **options)
        case(f"max_pool{n}d_with_indices", lambda x: list(getattr(F, f"max_pool{n}d")(x, 3, return_indices=True, **options)), [x],
             **options)
        case(f"avg_pool{n}d", lambda x: getattr(F, f"avg_pool{n}d")(x, 3, **options), [x], **options)
    for output in ([3] * n, [1] * n, [5] * n):
        case(f"adaptive_avg_pool{n}d", lambda x: getattr(F, f"adaptive_avg_pool{n}d")(x, output), [x], output=output)
        case(f"adaptive_max_pool{n}d", lambda x: getattr(F, f"adaptive_max_pool{n}d")(x, output), [x], output=output)
        case(f"adaptive_max_pool{n}d_with_indices",
             lambda x: list(getattr(F, f"adaptive_max_pool{n}d")(x, output, return_indices=True)), [x], output=output)
case("layer_norm", lambda x, w, b: F.layer_norm(x, (4,), w, b), [numbers(3, 4), numbers(4), numbers(4)])
case("rms_norm", lambda x, w: x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * w, [numbers(3, 4), numbers(4)])
case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), [numbers(2, 4, 3), numbers(4), numbers(4)], groups=2)
case("instance_norm", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), [numbers(2, 4, 5), numbers(4), numbers(4)])
case("batch_norm", lambda x, m, v, w, b: (x - m.detach()[:, None]) / (v.detach()[:, None] + 1e-5).sqrt() * w[:, None] + b[:, None],
     [numbers(2, 4, 5), numbers(4), numbers(4, low=0.25), numbers(4), numbers(4)])


def attention(q, k, v, bias, causal, scale, softcap):
    scores = q @ k.mT * scale
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    scores = scores + bias
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -inf)
    return scores.softmax(-1) @ v


for causal, scale, softcap in ((False, 0.5, 0), (True, 0.25, 0), (True, 0.5, 2)):
    case("scaled_dot_product_attention", lambda q, k, v, b: attention(q, k, v, b, causal, scale, softcap),
         [numbers(2, 5, 4), numbers(2, 5, 4), numbers(2, 5, 3), numbers(2, 5, 5)], causal=causal, scale=scale, softcap=softcap)
write("layers")

# ---- complex numbers: real and imaginary parts of operands one after the other
COMPLEX_TERMS = (("add", torch.add), ("sub", torch.sub), ("mul", torch.mul), ("div", torch.div))
for a, b in (((2, 3), (2, 3)), ((4, 1, 3), (2, 1)), ((0, 3), (1, 3))):
    for name, f in COMPLEX_TERMS:
        case("complex " + name, lambda a, b, c, d: parts(f(torch.complex(a, b), torch.complex(c, d))),
             [numbers(*a), numbers(*a), numbers(*b), numbers(*b)])
        case("complex " + name, lambda a, b, c: parts(f(torch.complex(a, b), c)), [numbers(*a), numbers(*a), numbers(*b)], real="right")
        case("complex " + name, lambda a, b, c: parts(f(c, torch.complex(a, b))), [numbers(*a), numbers(*a), numbers(*b)], real="left")
for name, f in COMPLEX_TERMS:
    z = complex(1.5, -0.25)
    case("complex " + name, lambda a, b: parts(f(torch.complex(a, b), z)), [numbers(3, 4), numbers(3, 4)], number=[1.5, -0.25])
# Far from 1, where squares of parts overflow or vanish; each in a case of its own, as errors count by the largest.
for a, b in ((complex(3e25, 1e25), complex(-2e25, 3e25)), (complex(3e-25, 1e-25), complex(0, -3e-25)), (complex(1, 2), complex(4e-20, 1e20))):
    a, b = [[x.float().double() for x in (given(z.real), given(z.imag))] for z in (a, b)]
    case("complex div", lambda a, b, c, d: parts(torch.complex(a, b) / torch.complex(c, d)), [*a, *b], gradients=False)
    case("complex abs", lambda a, b: torch.complex(a, b).abs(), b, second=False)
for name, f in (("abs", torch.abs), ("angle", torch.angle)):
    case("complex " + name, lambda a, b: f(torch.complex(a, b)), [numbers(3, 4), numbers(3, 4)])
for name, f in (("conj", lambda z: z.conj().resolve_conj()), ("exp", torch.exp), ("log", torch.log), ("sqrt", torch.sqrt),
                ("square", torch.square), ("recip", torch.reciprocal), ("sin", torch.sin), ("cos", torch.cos), ("tan", torch.tan),
                ("sinh", torch.sinh), ("cosh", torch.cosh), ("tanh", torch.tanh)):
    case("complex " + name, lambda a, b: parts(f(torch.complex(a, b))), [numbers(4, 5), numbers(4, 5)])
case("complex sqrt", lambda a, b: parts(torch.sqrt(torch.complex(a, b))), [given(4, -4, 0, 0, -9), given(0, 0, 2, -2, 0)],
     gradients=False)
case("complex tanh", lambda a, b: parts(torch.tanh(torch.complex(a, b))), [given(-90, 30, 700), given(1, -2, 0.5)], gradients=False)
for power in (2.0, 0.5, -1.5):
    case("complex pow", lambda a, b: parts(torch.complex(a, b) ** power), [numbers(3, 4), numbers(3, 4)], power=power)
case("complex pow", lambda a, b, c, d: parts(torch.complex(a, b) ** torch.complex(c, d)), [numbers(3, 4) for _ in range(4)])
case("complex polar", lambda a, b: parts(torch.polar(a, b)), [numbers(3, 4, low=0.25), numbers(3, 4)])
for a, b in (((3, 4), (4, 5)), ((2, 3, 4), (4, 5))):
    case("complex matmul", lambda a, b, c, d: parts(torch.complex(a, b) @ torch.complex(c, d)),
         [numbers(*a), numbers(*a), numbers(*b), numbers(*b)])
case("complex matmul", lambda a, b, c: parts(torch.complex(a, b) @ torch.complex(c, torch.zeros_like(c))),
     [numbers(3, 4), numbers(3, 4), numbers(4, 2)], real="right")
case("complex sum", lambda a, b: parts(torch.complex(a, b).sum([1], keepdim=True)), [numbers(3, 4), numbers(3, 4)], axes=[1])
case("complex mean", lambda a, b: parts(torch.complex(a, b).mean([1], keepdim=True)), [numbers(3, 4), numbers(3, 4)], axes=[1])
case("complex cumsum", lambda a, b: parts(torch.complex(a, b).cumsum(1)), [numbers(3, 4), numbers(3, 4)], axis=1)
case("complex equal", lambda a, b, c, d: torch.complex(a, b) == torch.complex(c, d),
     [given(1, 1, 2, nan), given(0, 1, 0, 1), given(1, 1, 1, nan), given(0, 2, 0, 1)], gradients=False)
case("complex is_close", lambda a, b, c, d: torch.isclose(torch.complex(a, b), torch.complex(c, d)),
     [x.float().double() for x in (given(1, 1, inf, nan, 3), given(0, 1, 0, 1, 4), given(1 + 2**-18, 1, inf, nan, 3), given(0, 1.001, 0, 1, 4))],
     gradients=False)
case("complex where", lambda m, a, b, c, d: parts(torch.where(m, torch.complex(a, b), torch.complex(c, d))),
     [integers(3, 4, high=2).bool(), *[numbers(3, 4) for _ in range(4)]])
case("complex cat", lambda a, b, c, d: parts(torch.cat([torch.complex(a, b), torch.complex(c, d)], 1)),
     [numbers(2, 3), numbers(2, 3), numbers(2, 1), numbers(2, 1)], axis=1)
case("complex stack", lambda a, b, c, d: parts(torch.stack([torch.complex(a, b), torch.complex(c, d)], 0)),
     [numbers(2, 3) for _ in range(4)], axis=0)
case("complex view_as_complex", lambda x: parts(torch.view_as_complex(x)), [numbers(3, 4, 2)])
case("complex view_as_real", lambda a, b: torch.view_as_real(torch.complex(a, b)), [numbers(3, 4), numbers(3, 4)])
for axes in ([0, 2], [1]):
    case("rfftn", lambda x: parts(torch.fft.rfftn(x, dim=axes)), [numbers(3, 2, 4)], axes=axes)
case("irfftn", lambda a, b: torch.fft.irfftn(torch.complex(a, b), s=[3, 5], dim=[0, 2]), [numbers(3, 2, 3), numbers(3, 2, 3)],
     axes=[0, 2], length=5)
write("complex")

# ---- special functions
case("ndtr", torch.special.ndtr, [numbers(4, 7)])
case("ndtr", torch.special.ndtr, [given(0, inf, -inf, nan)], gradients=False)
write("special")

# ---- neighbours
for shape, times, axis in (((7,), 1, -1), ((3, 5, 2), 1, 1), ((4, 6), 3, 0), ((2, 3), 0, 1), ((2, 3), 5, 1), ((0, 4), 1, 0), ((1,), 1, 0)):
    case("diff", lambda x: torch.diff(x, times, axis), [numbers(*shape)], gradients=times < shape[axis], times=times, axis=axis)
case("diff", lambda x: torch.diff(x, 2, 1), [integers(3, 5)], times=2, axis=1)
for shape, count, axis in (((3,), 2, 0), ((2, 3, 4), 3, 1), ((2, 3), 1, -1), ((2, 3), 0, 0), ((0, 3), 2, 1), ((4, 2), 5, -2)):
    case("repeat_interleave", lambda x: x.repeat_interleave(count, axis), [numbers(*shape)], gradients=count > 0 and 0 not in shape,
         count=count, axis=axis)
write("neighbours")
