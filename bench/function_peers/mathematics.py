"""Formulas, decompositions of matrices and Fourier transforms."""
import torch

from function_peers.rows import device, floats, leaf, row, with_gradients


def formulas():
    a, c, m, n = floats(32, 256, 256), floats(32, 256, 256), floats(1024, 64), floats(64, 1024)
    heads, points, others, seed = floats(8, 512, 16, 64), floats(4096, 64), leaf(4096, 64), floats(4096, 4096)
    d, vectors = floats(1024, 1024, dtype=torch.float64), floats(4096, 512)
    x, g = leaf(32, 256, 256), floats(32, 256, 256)
    fixed = others.detach()
    row("einsum_batch", lambda: torch.einsum("bij,bjk->bik", a, c))
    row("einsum_chain", lambda: torch.einsum("ij,jk,kl->il", m, n, m))
    row("einsum_heads", lambda: torch.einsum("bnhd,bmhd->bhnm", heads, heads))
    row("einsum_outer_sum", lambda: torch.einsum("bi,bj->ij", vectors, vectors))
    row("einsum_gradient", lambda: with_gradients(torch.einsum("bij,bkj->bik", x, c), [x], g))
    row("cdist", lambda: torch.cdist(points, fixed))
    row("cdist_gradient", lambda: with_gradients(torch.cdist(points, others), [others], seed))
    row("cdist_l1", lambda: torch.cdist(points[:1024], points[1024:2048], 1))
    row("matmul_f64", lambda: d @ d)
    row("matvec", lambda: seed @ seed[:, 3])
    row("outer", lambda: torch.outer(seed[1], seed[2]))


def decompositions():
    given, tall, large, right = floats(64, 32, 32), floats(64, 128, 32), floats(512, 512), floats(512, 64)
    symmetric, sound = given + given.transpose(1, 2), large + 64 * torch.eye(512, device=device)
    many, many_64 = given + 16 * torch.eye(32, device=device), floats(256, 64, 64)
    row("qr", lambda: torch.linalg.qr(tall)[1].abs())
    row("svd", lambda: torch.linalg.svd(given, full_matrices=False)[1])
    row("eigh", lambda: torch.linalg.eigh(symmetric)[0])
    row("inverse", lambda: torch.linalg.inv(many))
    row("det", lambda: torch.linalg.slogdet(many)[1])
    row("lu_64", lambda: torch.linalg.lu(many_64)[2].abs())
    row("inverse_64", lambda: torch.linalg.inv(many_64))
    row("qr_64", lambda: torch.linalg.qr(many_64)[1].abs())
    row("svd_64", lambda: torch.linalg.svd(many_64, full_matrices=False)[1])
    row("eigh_64", lambda: torch.linalg.eigh(many_64 + many_64.transpose(1, 2))[0])
    row("matrix_exp", lambda: torch.linalg.matrix_exp(given))
    row("solve_512", lambda: torch.linalg.solve(sound, right))
    row("inverse_512", lambda: torch.linalg.inv(sound))
    row("triangular_512", lambda: torch.linalg.solve_triangular(sound, right, upper=True))
    row("svd_512", lambda: torch.linalg.svd(large, full_matrices=False)[1])
    row("eigh_512", lambda: torch.linalg.eigh(large + large.t())[0])


def spectra():
    line, image, sound, given = floats(256, 16384), floats(64, 256, 256), floats(16, 160000), leaf(256, 4096)
    real, imag, odd, wave = floats(256, 2049), floats(256, 2049), floats(256, 1000), floats(1 << 20)
    window, many, points = torch.hann_window(512, device=device), torch.complex(real, imag), torch.complex(line, line)

    def gradient():
        y = torch.fft.rfft(given)
        return with_gradients(y.real * real + y.imag * imag, [given], real)

    def frames():
        return torch.stft(sound, 512, 128, window=window, return_complex=True)

    row("fft", lambda: torch.fft.fft(points))
    row("rfft", lambda: torch.fft.rfft(line))
    row("irfft", lambda: torch.fft.irfft(many))
    row("rfft_1m", lambda: torch.fft.rfft(wave))
    row("rfft_1000", lambda: torch.fft.rfft(odd))
    row("rfft2", lambda: torch.fft.rfft2(image))
    row("rfft_gradient", gradient)
    row("stft", frames)
    row("istft", lambda: torch.istft(frames(), 512, 128, window=window))
    row("complex_multiply", lambda: points * points)
    row("complex_abs", lambda: points.abs())
