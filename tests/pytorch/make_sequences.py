#!/usr/bin/env python3
"""Values and gradients of losses of sequences, layers of images and pools, written beside this file: by PyTorch, RNN-T as
the sum over all paths, one by one, deformable convolutions by loops. Run by hand when a case is added."""
import itertools
import math

import torch
import torch.nn.functional as F

from reference import case, leaf, values, write


def whole(rows):
    return torch.tensor(rows, dtype=torch.float64)


# CTC: labels that repeat, short inputs, an empty target; padding is no class.
padded = whole([[1, 2, 2, 3], [4, 1, -9, 77], [3, 3, 1, 0], [-1, -1, -1, -1]])
joined = whole([1, 2, 2, 3, 4, 1, 3, 3, 1])
inputs, counts = whole([7, 5, 6, 3]), whole([4, 2, 3, 0])


def ctc(reduction, **options):
    def loss(x, targets, inputs, counts):
        targets = targets.long() if targets.dim() == 1 else targets.long().clamp(0, 4)
        return F.ctc_loss(F.log_softmax(x, 2), targets, inputs.long(), counts.long(), reduction=reduction, **options)
    return loss


for reduction in "none", "mean", "sum":
    case(f"ctc_{reduction}", ctc(reduction), leaf(7, 4, 5), padded, inputs, counts)
case("ctc_joined", ctc("none"), leaf(7, 4, 5), joined, inputs, counts)
case("ctc_joined_mean", ctc("mean"), leaf(7, 4, 5), joined, inputs, counts)
case("ctc_blank", ctc("none", blank=4), leaf(6, 2, 5), whole([[0, 1, 1], [3, 0, 2]]), whole([6, 6]), whole([3, 2]))
# The first target does not fit into its 3 frames: three equal labels need 5.
case("ctc_zero_infinity", ctc("none", zero_infinity=True), leaf(5, 2, 4), whole([[1, 1, 1], [1, 2, 3]]), whole([3, 5]),
     whole([3, 3]))
case("ctc_long", ctc("mean"), leaf(24, 3, 4), whole([[1, 2, 3, 3, 3, 1, 1, 2, 2, 3]] * 3), whole([24, 21, 13]),
     whole([10, 8, 4]))


def rnnt(blank, reduction):
    def loss(x, targets, frames, counts):
        log_p, losses = F.log_softmax(x, -1), []
        for i in range(x.shape[0]):
            t, u, paths = int(frames[i]), int(counts[i]), []
            # A path is the frames, in order, at which the labels are emitted.
            for at in itertools.combinations_with_replacement(range(t), u):
                steps, label = [], 0
                for frame in range(t):
                    while label < u and at[label] == frame:
                        steps.append(log_p[i, frame, label, int(targets[i, label])])
                        label += 1
                    steps.append(log_p[i, frame, label, blank])
                paths.append(sum(steps))
            assert len(paths) == math.comb(t + u - 1, u)
            losses.append(-torch.logsumexp(torch.stack(paths), 0))
        losses = torch.stack(losses)
        return losses if reduction == "none" else losses.mean() if reduction == "mean" else losses.sum()
    return loss


for reduction in "none", "mean", "sum":
    case(f"rnnt_{reduction}", rnnt(-1, reduction), leaf(3, 4, 4, 5), whole([[1, 0, 2], [3, 3, -7], [9, 9, 9]]),
         whole([4, 3, 2]), whole([3, 2, 0]))
case("rnnt_blank", rnnt(1, "none"), leaf(2, 3, 3, 4), whole([[0, 2], [3, 3]]), whole([3, 1]), whole([2, 2]))
write(__file__, "sequence_cases")


def deform(stride, padding, dilation, groups, offset_groups):
    def convolve(x, offset, weight, bias, mask=None):
        n, c_in, h, w = x.shape
        c_out, _, kh, kw = weight.shape
        oh = (h + 2 * padding[0] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
        ow = (w + 2 * padding[1] - dilation[1] * (kw - 1) - 1) // stride[1] + 1

        def pixel(i, c, row, column):
            return x[i, c, row, column] if 0 <= row < h and 0 <= column < w else torch.zeros((), dtype=x.dtype)

        out = []
        for i, o, r, s in itertools.product(range(n), range(c_out), range(oh), range(ow)):
            total = bias[o]
            for c in range(weight.shape[1]):
                channel = o // (c_out // groups) * weight.shape[1] + c
                field = channel // (c_in // offset_groups)
                for a, b in itertools.product(range(kh), range(kw)):
                    point = (field * kh + a) * kw + b
                    y = r * stride[0] - padding[0] + a * dilation[0] + offset[i, 2 * point, r, s]
                    z = s * stride[1] - padding[1] + b * dilation[1] + offset[i, 2 * point + 1, r, s]
                    top, left = math.floor(y), math.floor(z)
                    dy, dz = y - top, z - left
                    value = (pixel(i, channel, top, left) * (1 - dy) * (1 - dz)
                             + pixel(i, channel, top, left + 1) * (1 - dy) * dz
                             + pixel(i, channel, top + 1, left) * dy * (1 - dz)
                             + pixel(i, channel, top + 1, left + 1) * dy * dz)
                    total = total + weight[o, c, a, b] * value * (1 if mask is None else mask[i, point, r, s])
            out.append(total)
        return torch.stack(out).reshape(n, c_out, oh, ow)
    return convolve


case("deform_conv2d", deform((1, 1), (1, 1), (1, 1), 1, 1), leaf(1, 2, 4, 5), leaf(1, 18, 4, 5), leaf(2, 2, 3, 3), leaf(2))
case("deform_conv2d_masked", deform((2, 1), (1, 0), (1, 2), 2, 2), leaf(2, 4, 5, 4), leaf(2, 16, 3, 2), leaf(2, 2, 2, 2),
     leaf(2), leaf(2, 8, 3, 2))

case("interpolate_trilinear", lambda x: F.interpolate(x, size=(3, 4, 2), mode="trilinear", align_corners=False),
     leaf(1, 1, 2, 3, 3))
case("upsample_nearest", lambda x: F.interpolate(x, scale_factor=3, mode="nearest"), leaf(1, 2, 3))
case("upsample_bilinear", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True), leaf(1, 2, 2, 3))
window = dict(kernel_size=(2, 3), stride=(1, 2), padding=(1, 1), dilation=(2, 1))
case("unfold", lambda x: F.unfold(x, **window), leaf(1, 2, 4, 5))
case("fold", lambda x: F.fold(x, (4, 5), **window), leaf(1, 12, 12))
write(__file__, "image_cases")


def distinct(*shape):
    """Without equal elements, so that every maximum has one place."""
    n = torch.Size(shape).numel()
    return ((torch.arange(n) * 37 % n).double() / 8 - n / 16).reshape(shape).requires_grad_()


case("max_pool3d", lambda x: F.max_pool3d(x, (2, 3, 2), stride=(1, 2, 2), padding=(1, 1, 0), dilation=(1, 1, 2)),
     distinct(1, 2, 3, 5, 5))
case("avg_pool3d", lambda x: F.avg_pool3d(x, (2, 3, 2), stride=(2, 1, 2), padding=(1, 1, 1)), leaf(1, 2, 3, 4, 5))
case("avg_pool3d_inside", lambda x: F.avg_pool3d(x, 2, padding=1, count_include_pad=False), leaf(1, 1, 3, 4, 3))
case("adaptive_avg_pool3d", lambda x: F.adaptive_avg_pool3d(x, (2, 3, 1)), leaf(1, 2, 3, 4, 5))
case("adaptive_avg_pool3d_even", lambda x: F.adaptive_avg_pool3d(x, (2, 2, 1)), leaf(1, 1, 4, 2, 3))
case("adaptive_max_pool3d", lambda x: F.adaptive_max_pool3d(x, (2, 3, 2)), distinct(1, 2, 3, 4, 5))


def with_indices(pool, unpool, size, **options):
    def function(x):
        values, indices = pool(x, return_indices=True, **options)
        back = unpool(values, indices, **{k: v for k, v in options.items() if k != "dilation"}, output_size=size)
        return torch.cat([values.reshape(-1), indices.double().reshape(-1), back.reshape(-1)])
    return function


case("max_pool1d_indices", with_indices(F.max_pool1d, F.max_unpool1d, (7,), kernel_size=3, stride=3, padding=1),
     distinct(2, 2, 7))
case("max_pool2d_indices", with_indices(F.max_pool2d, F.max_unpool2d, (4, 6), kernel_size=(2, 2), stride=(2, 2)),
     distinct(1, 2, 4, 6))
case("max_pool3d_indices", with_indices(F.max_pool3d, F.max_unpool3d, (2, 4, 3), kernel_size=(2, 2, 1), stride=(2, 2, 1)),
     distinct(1, 2, 2, 4, 3))
case("max_pool2d_dilated", lambda x: F.max_pool2d(x, (2, 3), stride=(1, 2), padding=(1, 1), dilation=(2, 1),
                                                 return_indices=True)[1].double() + 0 * x.sum(), distinct(1, 2, 5, 6))
case("lp_pool2d", lambda x: F.lp_pool2d(x, 2, (2, 3), stride=(1, 2)), leaf(1, 2, 4, 5))
case("lp_pool1d", lambda x: F.lp_pool1d(x.abs() + 0.25, 3, 2), leaf(2, 2, 5))
# The last windows reach over the end, or would begin behind it.
case("max_pool2d_ceil", lambda x: F.max_pool2d(x, (3, 2), stride=(2, 3), padding=(1, 0), ceil_mode=True),
     distinct(1, 2, 6, 6))
case("max_pool2d_ceil_dilated", lambda x: F.max_pool2d(x, (2, 3), stride=(3, 2), padding=(1, 1), dilation=(2, 1),
                                                      ceil_mode=True), distinct(1, 2, 6, 6))
case("max_pool1d_ceil", lambda x: F.max_pool1d(x, 3, stride=2, ceil_mode=True), distinct(2, 2, 8))
case("max_pool3d_ceil", lambda x: F.max_pool3d(x, 2, stride=2, padding=(0, 1, 0), ceil_mode=True),
     distinct(1, 2, 3, 4, 5))
case("max_pool2d_ceil_indices", lambda x: F.max_pool2d(x, (3, 2), stride=(2, 3), padding=(1, 0), ceil_mode=True,
                                                      return_indices=True)[1].double() + 0 * x.sum(),
     distinct(1, 2, 6, 6))
case("avg_pool2d_ceil", lambda x: F.avg_pool2d(x, (3, 2), stride=(2, 3), padding=(1, 1), ceil_mode=True),
     leaf(1, 2, 6, 6))
case("avg_pool2d_ceil_inside", lambda x: F.avg_pool2d(x, (3, 2), stride=(2, 3), padding=(1, 1), ceil_mode=True,
                                                     count_include_pad=False), leaf(1, 2, 6, 6))
case("avg_pool1d_ceil", lambda x: F.avg_pool1d(x, 3, stride=2, ceil_mode=True), leaf(2, 2, 8))
case("avg_pool3d_ceil", lambda x: F.avg_pool3d(x, 2, stride=2, padding=(0, 1, 0), ceil_mode=True), leaf(1, 2, 3, 4, 5))
case("lp_pool2d_ceil", lambda x: F.lp_pool2d(x, 2, (2, 3), stride=(2, 2), ceil_mode=True), leaf(1, 2, 5, 6))
case("lp_pool1d_ceil", lambda x: F.lp_pool1d(x.abs() + 0.25, 3, 2, ceil_mode=True), leaf(2, 2, 5))
write(__file__, "pool_cases")
