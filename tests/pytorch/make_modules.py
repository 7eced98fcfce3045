#!/usr/bin/env python3
"""Computes with PyTorch what layers must give, and writes it beside this file. Run by hand when a case is added."""
import math

import torch
import torch.nn.functional as F

from reference import case, leaf, values, write

# Normalisations
case("layer_norm", lambda x, w, b: F.layer_norm(x, (5,), w, b, 1e-5), leaf(2, 3, 5), leaf(5), leaf(5))
case("layer_norm_plain", lambda x: F.layer_norm(x, (4,), eps=0.5), leaf(3, 4))
case("rms_norm", lambda x, w: x / (x.square().mean(-1, keepdim=True) + 1e-3).sqrt() * w, leaf(2, 3, 5), leaf(5))
case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b, 1e-5), leaf(2, 4, 3, 2), leaf(4), leaf(4))
case("instance_norm", lambda x: F.instance_norm(x), leaf(2, 3, 5))
case("instance_norm_affine", lambda x, w, b: F.instance_norm(x, weight=w, bias=b, eps=1e-2), leaf(2, 3, 2, 2), leaf(3),
     leaf(3))
for name, shape in ("1d", (5, 3)), ("2d", (3, 2, 2, 3)), ("3d", (2, 2, 2, 2, 2)):
    c = shape[1]
    x, w, b = leaf(*shape), leaf(c), leaf(c)
    mean, var = values(c), values(c).abs() + 0.5
    # The running statistics are part of the output: in training they are moved, and have no gradient.
    def train(x, w, b, mean, var):
        mean, var = mean.clone(), var.clone()
        y = F.batch_norm(x, mean, var, w, b, True, 0.2, 1e-4)
        return torch.cat([y.reshape(-1), mean, var])
    case(f"batch_norm_{name}", train, x, w, b, mean, var)
    case(f"batch_norm_{name}_valid", lambda x, w, b, m, v: F.batch_norm(x, m, v, w, b, False, 0.2, 1e-4),
         x.detach().clone().requires_grad_(), w.detach().clone().requires_grad_(), b.detach().clone().requires_grad_(),
         mean, var)
case("local_response_norm", lambda x: F.local_response_norm(x, 3, 0.5, 0.75, 2.0), leaf(2, 5, 3))
case("local_response_norm_even", lambda x: F.local_response_norm(x, 4, 0.5, 0.6, 1.0), leaf(1, 6, 2, 2))
write(__file__, "norm_cases")

# Convolutions and pools
case("conv1d", lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1, dilation=2, groups=2), leaf(2, 4, 9), leaf(6, 2, 3),
     leaf(6))
case("conv3d", lambda x, w, b: F.conv3d(x, w, b, stride=(2, 1, 1), padding=(1, 0, 1), dilation=(1, 1, 2)),
     leaf(1, 2, 4, 3, 5), leaf(3, 2, 2, 2, 2), leaf(3))
case("conv_transpose1d", lambda x, w, b: F.conv_transpose1d(x, w, b, stride=3, padding=1, output_padding=2, dilation=2),
     leaf(2, 3, 4), leaf(3, 2, 3), leaf(2))
case("conv_transpose2d",
     lambda x, w, b: F.conv_transpose2d(x, w, b, stride=(2, 1), padding=(1, 2), output_padding=(1, 0), groups=2),
     leaf(2, 4, 3, 4), leaf(4, 3, 3, 2), leaf(6))
case("conv_transpose3d", lambda x, w, b: F.conv_transpose3d(x, w, b, stride=2), leaf(1, 2, 2, 2, 2), leaf(2, 1, 2, 1, 2),
     leaf(1))


def distinct(*shape):
    """Without equal elements, so that every maximum has one place."""
    n = torch.Size(shape).numel()
    return ((torch.arange(n) * 37 % n).double() / 8 - n / 16).reshape(shape).requires_grad_()


case("max_pool1d", lambda x: F.max_pool1d(x, 3, stride=2, padding=1), distinct(2, 2, 7))
case("max_pool2d", lambda x: F.max_pool2d(x, (2, 3), stride=(2, 1), padding=(1, 1), dilation=(2, 1)), distinct(1, 2, 5, 6))
case("avg_pool1d", lambda x: F.avg_pool1d(x, 3, stride=2, padding=1), leaf(2, 2, 7))
case("adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 3), leaf(2, 2, 7))
case("adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 3), distinct(2, 2, 7))
case("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, (3, 2)), distinct(1, 2, 5, 4))
write(__file__, "conv_cases")

# Others
index = torch.tensor([[1, 4, 0], [3, 3, 6]])
case("embedding", lambda i, w: F.embedding(i.long(), w), index.double(), leaf(7, 4))
case("bilinear", lambda a, b, w, c: F.bilinear(a, b, w, c), leaf(4, 3), leaf(4, 2), leaf(5, 3, 2), leaf(5))
case("softplus", lambda x: F.softplus(x), leaf(3, 4))
case("log_softmax", lambda x: F.log_softmax(x, 0), leaf(3, 4))
case("prelu", lambda x, w: F.prelu(x, w), leaf(2, 3, 2), leaf(3))
case("glu", lambda x: F.glu(x, 1), leaf(2, 6))
case("swiglu", lambda x, a, b, c, d: F.silu(F.linear(x, a, b)) * F.linear(x, c, d), leaf(2, 3), leaf(4, 3), leaf(4),
     leaf(4, 3), leaf(4))


def sinusoid(length, d, timescale, offset=0):
    position = torch.arange(offset, offset + length, dtype=torch.float64)[:, None]
    rate = torch.exp(-math.log(timescale) * torch.arange(0, d, 2, dtype=torch.float64) / d)
    table = torch.zeros(length, d, dtype=torch.float64)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return table


def rotary(x, theta, offset, interleaved):
    length, d = x.shape[-2:]
    angle = torch.arange(offset, offset + length, dtype=torch.float64)[:, None] * theta ** (
        -torch.arange(0, d, 2, dtype=torch.float64) / d)
    if interleaved:
        z = torch.view_as_complex(x.reshape(*x.shape[:-1], d // 2, 2).contiguous()) * torch.polar(
            torch.ones_like(angle), angle)
        return torch.view_as_real(z).reshape(x.shape)
    a, b = x[..., : d // 2], x[..., d // 2:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


case("positional_encoding", lambda x: x + sinusoid(5, 6, 10000), leaf(2, 5, 6))
case("positional_encoding_offset", lambda x: x + sinusoid(3, 4, 100, 7), leaf(1, 3, 4))
case("rotary", lambda x: rotary(x, 10000, 0, True), leaf(2, 2, 5, 6))
case("rotary_offset", lambda x: rotary(x, 500, 11, True), leaf(1, 3, 4))
case("rotary_halves", lambda x: rotary(x, 10000, 2, False), leaf(2, 4, 6))
case("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), leaf(2, 8, 2, 3))
case("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), leaf(2, 2, 4, 6))
for mode in "nearest", "bilinear", "bicubic":
    corners = {} if mode == "nearest" else {"align_corners": False}
    case(f"interpolate_{mode}", lambda x: F.interpolate(x, size=(7, 3), mode=mode, **corners), leaf(1, 2, 4, 5))
    if corners:
        case(f"interpolate_{mode}_corners", lambda x: F.interpolate(x, size=(7, 3), mode=mode, align_corners=True),
             leaf(1, 2, 4, 5))
case("interpolate_linear", lambda x: F.interpolate(x, size=7, mode="linear", align_corners=False), leaf(2, 2, 4))
case("cosine_similarity", lambda a, b: F.cosine_similarity(a, b, 1, 1e-8), leaf(3, 4, 2), leaf(3, 4, 2))
case("pairwise_distance", lambda a, b: F.pairwise_distance(a, b, 2.0), leaf(3, 4), leaf(3, 4))
case("pairwise_distance_3", lambda a, b: F.pairwise_distance(a, b, 3.0, 1e-3), leaf(3, 4), leaf(3, 4))
case("quiet_softmax", lambda x: x.exp() / (1 + x.exp().sum(0, keepdim=True)), leaf(3, 4))
case("shrink", lambda x: torch.where(x > 0.5, x - 0.25, torch.where(x < -0.5, x + 0.25, 0.0)), leaf(3, 4))
case("swiglu_halves", lambda x: F.silu(x[:, :3]) * x[:, 3:], leaf(2, 6))
write(__file__, "module_cases")
