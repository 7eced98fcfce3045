"""Sorting, counting, indexed writes, scans, images, reductions, copies and products."""
import torch
import torch.nn.functional as F

from function_peers.rows import device, floats, ints, row


def orders():
    square, rows, many, whole = floats(4096, 4096), floats(256, 10000), floats(1000000), ints(1000, 1000000)
    in_order = many.sort()[0]
    row("median", lambda: square.median(1)[0])
    row("quantile", lambda: rows.quantile(0.3, 1))
    row("sort_axis0", lambda: square.sort(0)[0])
    row("topk_10", lambda: square.topk(10, 1)[0])
    row("searchsorted", lambda: torch.searchsorted(in_order, many))
    row("unique", lambda: whole.unique(return_inverse=True, return_counts=True)[0])
    row("randperm", lambda: torch.randperm(1000000, device=device))


def counts():
    many, whole, classes = floats(10000000), ints(1000, 10000000), ints(100, 100000)
    mask, weights, long_weights = many > 0, floats(4096, 1000) + 1, floats(64, 50257) + 1
    row("histc", lambda: many.histc(100, -1, 1))
    row("bincount", lambda: whole.bincount(minlength=1000))
    row("argwhere", lambda: mask.nonzero())
    row("mask_select", lambda: many.masked_select(mask))
    row("one_hot", lambda: F.one_hot(classes, 100))
    row("multinomial_1", lambda: weights.multinomial(1, True))
    row("multinomial_10", lambda: long_weights.multinomial(10, False))


def scatters():
    to, given, where = floats(10000, 64), floats(100000, 64), ints(10000, 100000, 64)
    line, places, square, columns = floats(1000000), ints(1000000, 1000000), floats(4096, 4096), ints(4096, 4096, 4096)
    row("scatter_add", lambda: to.scatter_add(0, where, given))
    row("scatter_add_1d", lambda: line.scatter_add(0, places, line))
    row("scatter_reduce_max", lambda: to.scatter_reduce(0, where, given, "amax"))
    row("take_along_dim", lambda: square.take_along_dim(columns, 1))


def scans():
    rows, tall, middle, line = floats(256, 10000), floats(10000, 256), floats(32, 1000, 64), floats(10000000)
    row("cumsum_1d", lambda: line.cumsum(0))
    row("cumsum_axis0", lambda: tall.cumsum(0))
    row("cumsum_middle", lambda: middle.cumsum(1))
    row("cumprod", lambda: rows.cumprod(1))
    row("logcumsumexp", lambda: rows.logcumsumexp(1))


def images():
    x, grid, small, columns = floats(16, 64, 64, 64), floats(16, 64, 64, 2), floats(16, 64, 56, 56), floats(16, 576, 3136)
    row("nearest", lambda: F.interpolate(x, (128, 128), mode="nearest"))
    row("bilinear", lambda: F.interpolate(x, (128, 128), mode="bilinear"))
    row("bicubic", lambda: F.interpolate(x, (128, 128), mode="bicubic"))
    row("grid_sample", lambda: F.grid_sample(x, grid, align_corners=False))
    row("pixel_shuffle", lambda: F.pixel_shuffle(x, 2).contiguous())
    row("unfold", lambda: F.unfold(small, 3, padding=1))
    row("fold", lambda: F.fold(columns, (56, 56), 3, padding=1))


def reductions():
    x, square, line, vectors = floats(8192, 4096), floats(4096, 4096), floats(10000000), floats(65536, 512)
    row("norm2", lambda: x.norm(2, 1))
    row("norm3", lambda: x.norm(3, 1))
    row("std", lambda: x.std(1))
    row("var_axis0", lambda: x.var(0))
    row("logsumexp", lambda: x.logsumexp(1))
    row("nansum", lambda: x.nansum(1))
    row("any", lambda: (x > 2).any(1))
    row("argmax_axis0", lambda: square.argmax(0))
    row("max_all", lambda: line.max())
    row("cosine_similarity", lambda: F.cosine_similarity(vectors, vectors.roll(1, 0), 1))


def copies():
    square, tile, points = floats(4096, 4096), floats(64, 64), floats(1000000, 3)
    row("roll", lambda: square.roll(1000, 1))
    row("triu", lambda: square.triu())
    row("repeat", lambda: tile.repeat(64, 64))
    row("cat_64", lambda: torch.cat([tile] * 64))
    row("cross", lambda: torch.linalg.cross(points, points.roll(1, 0)))
    row("randn", lambda: torch.randn(8192, 4096, device=device))


def products():
    rows, tile, heads, small = floats(256, 10000), floats(64, 64), floats(8, 16, 512, 64), floats(4096, 16, 16)
    given, right = floats(256, 64, 64), floats(256, 64, 8)
    definite = given @ given.transpose(1, 2) + 64 * torch.eye(64, device=device)
    row("cov", lambda: torch.cov(rows))
    row("corrcoef", lambda: torch.corrcoef(rows))
    row("kron", lambda: torch.kron(tile, tile))
    row("einsum", lambda: torch.einsum("bhid,bhjd->bhij", heads, heads))
    row("matmul_16", lambda: small @ small)
    row("cholesky", lambda: torch.linalg.cholesky(definite))
    row("solve", lambda: torch.linalg.solve(definite, right))
