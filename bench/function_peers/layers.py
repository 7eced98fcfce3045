"""Images, pools, convolutions, losses and normalising layers, most of them with gradients."""
import torch
import torch.nn.functional as F
from torch import nn

from function_peers.rows import device, filled, floats, ints, leaf, row, with_gradients


def image_gradients():
    x, seed, g = leaf(16, 64, 64, 64), floats(16, 64, 128, 128), floats(16, 64, 64, 64)
    grid, volume = leaf(16, 64, 64, 2), floats(4, 16, 32, 32, 32)
    channels, spread = leaf(16, 64, 64, 64), floats(16, 16, 128, 128)
    small, columns, theta = leaf(16, 64, 56, 56), floats(16, 576, 3136), floats(64, 2, 3)
    for name, mode in (("nearest", "nearest"), ("bilinear", "bilinear"), ("bicubic", "bicubic")):
        row(f"{name}_gradient", lambda: with_gradients(F.interpolate(x, (128, 128), mode=mode), [x], seed))
    row("bilinear_down", lambda: F.interpolate(seed, (48, 48), mode="bilinear"))
    row("trilinear", lambda: F.interpolate(volume, (64, 64, 64), mode="trilinear"))
    row("grid_sample_gradient", lambda: with_gradients(F.grid_sample(x, grid, align_corners=False), [x, grid], g))
    row("affine_grid", lambda: F.affine_grid(theta, (64, 3, 256, 256), align_corners=False))
    row("pixel_shuffle_gradient", lambda: with_gradients(F.pixel_shuffle(channels, 2), [channels], spread))
    row("unfold_gradient", lambda: with_gradients(F.unfold(small, 3, padding=1), [small], columns))


def pools():
    x, given = floats(32, 64, 112, 112), leaf(32, 64, 112, 112)
    half, seven = floats(32, 64, 56, 56), floats(32, 64, 7, 7)
    most, where = F.max_pool2d(x, 2, return_indices=True)
    row("max_pool_gradient", lambda: with_gradients(F.max_pool2d(given, 3, 2, 1), [given], half))
    row("avg_pool_gradient", lambda: with_gradients(F.avg_pool2d(given, 3, 2, 1), [given], half))
    row("lp_pool_gradient", lambda: with_gradients(F.lp_pool2d(given, 2, 2), [given], half))
    row("max_pool_indices", lambda: F.max_pool2d(x, 2, return_indices=True))
    row("max_unpool", lambda: F.max_unpool2d(most, where, 2))
    row("adaptive_avg_gradient", lambda: with_gradients(F.adaptive_avg_pool2d(given, 7), [given], seven))
    row("adaptive_avg_uneven", lambda: F.adaptive_avg_pool2d(x, 9))
    row("adaptive_max_gradient", lambda: with_gradients(F.adaptive_max_pool2d(given, 7), [given], seven))


def convolutions():
    sequence, kernel, g = leaf(16, 64, 16384), leaf(64, 64, 9), floats(16, 64, 16384)
    deep, taps, deep_g = leaf(8, 1536, 2048), leaf(1536, 1, 4), floats(8, 1536, 2048)
    image, up, up_g = leaf(16, 128, 32, 32), leaf(128, 64, 4, 4), floats(16, 64, 64, 64)
    wave, wave_up, wave_g = leaf(16, 128, 2048), leaf(128, 64, 8), floats(16, 64, 8192)
    grouped, image_g = leaf(128, 4, 3, 3), floats(16, 128, 32, 32)
    volume, cube, volume_g = leaf(4, 16, 32, 32, 32), leaf(32, 16, 3, 3, 3), floats(4, 32, 32, 32, 32)
    dense, offset = leaf(128, 128, 3, 3), leaf(16, 18, 32, 32)

    def deformed():
        from torchvision.ops import deform_conv2d
        return with_gradients(deform_conv2d(image, offset, dense, padding=1), [image, offset, dense], image_g)

    row("conv1d_long_gradient",
        lambda: with_gradients(F.conv1d(sequence, kernel, padding=4), [sequence, kernel], g))
    row("conv1d_causal_gradient",
        lambda: with_gradients(F.conv1d(F.pad(deep, (3, 0)), taps, groups=1536), [deep, taps], deep_g))
    row("conv_transpose1d_gradient",
        lambda: with_gradients(F.conv_transpose1d(wave, wave_up, stride=4, padding=2), [wave, wave_up], wave_g))
    row("conv_transpose2d_gradient",
        lambda: with_gradients(F.conv_transpose2d(image, up, stride=2, padding=1), [image, up], up_g))
    row("conv2d_groups_gradient",
        lambda: with_gradients(F.conv2d(image, grouped, padding=1, groups=32), [image, grouped], image_g))
    row("conv2d_dilated_gradient",
        lambda: with_gradients(F.conv2d(image, dense, padding=4, dilation=4), [image, dense], image_g))
    row("conv3d_gradient", lambda: with_gradients(F.conv3d(volume, cube, padding=1), [volume, cube], volume_g))
    row("deform_conv2d_gradient", deformed)


def losses():
    x, t, classes = leaf(8192, 1000), floats(8192, 1000), ints(1000, 8192)
    p, q, r, frames = leaf(65536, 256), floats(65536, 256), floats(65536, 256), leaf(200, 64, 64)
    signs = floats(65536).sign()
    texts = ints(63, 64, 32) + 1
    lengths, letters = torch.full((64,), 200, device=device), torch.full((64,), 32, device=device)

    def of(name, loss, by):
        row(name, lambda: with_gradients(loss(), [by]))

    of("cross_entropy_smooth", lambda: F.cross_entropy(x, classes, label_smoothing=0.1), x)
    of("nll", lambda: F.nll_loss(x.log_softmax(1), classes), x)
    of("bce_with_logits", lambda: F.binary_cross_entropy_with_logits(x, (t + 1) * 0.5), x)
    of("kl_divergence", lambda: F.kl_div(x.log_softmax(1), t.softmax(1), reduction="batchmean"), x)
    of("huber", lambda: F.huber_loss(p, q, delta=0.5), p)
    of("smooth_l1", lambda: F.smooth_l1_loss(p, q), p)
    of("triplet_margin", lambda: F.triplet_margin_loss(p, q, r), p)
    of("cosine_embedding", lambda: F.cosine_embedding_loss(p, q, signs), p)
    of("multi_margin", lambda: F.multi_margin_loss(x, classes), x)
    of("gaussian_nll", lambda: F.gaussian_nll_loss(p, q, r.abs() + 0.1), p)
    of("ctc", lambda: F.ctc_loss(frames.log_softmax(2), texts, lengths, letters), frames)


def norms():
    x, rows, g, rows_g = leaf(32, 128, 56, 56), leaf(16, 512, 768), floats(32, 128, 56, 56), floats(16, 512, 768)
    instance = filled(nn.InstanceNorm2d(128, affine=True).to(device))
    layer = filled(nn.LayerNorm(768).to(device))
    row("instance_norm", lambda: with_gradients(instance(x), [x, *instance.parameters()], g))
    row("local_response_norm", lambda: with_gradients(F.local_response_norm(x, 5), [x], g))
    row("layer_norm_gelu", lambda: with_gradients(F.gelu(layer(rows)), [rows, *layer.parameters()], rows_g))
