#!/usr/bin/env python3
"""Weights in few bits, computed with NumPy in f32, written beside this file. NF4's numbers come from their definition: T.
Dettmers et al., "QLoRA: efficient finetuning of quantized LLMs", 2023, section 3, with the offset of the authors' program
(create_normal_map of bitsandbytes). Run by hand when a case is added."""
import math
import pathlib
import statistics
import textwrap

import numpy as np

ROWS, COLUMNS, BLOCK = 5, 37, 16
lines = []


def show(kind, name, numbers):
    text = ", ".join(map(str, numbers))
    lines.extend(textwrap.wrap(f"inline const std::vector<{kind}> {name}{{{text}}};", 108, subsequent_indent="    ",
                               break_on_hyphens=False))


def normal_float():
    quantile, offset = statistics.NormalDist().inv_cdf, 0.9677083
    upper = [quantile(p) for p in np.linspace(offset, 0.5, 9)[:-1]]
    lower = [-quantile(p) for p in np.linspace(offset, 0.5, 8)[:-1]]
    numbers = sorted(upper + [0.0] + lower)
    return np.array(numbers) / max(numbers)


def blocks(x, size):
    """Slices of a row, the last of which may be shorter."""
    return [slice(i, min(i + size, len(x))) for i in range(0, len(x), size)]


def in_eight_bits(scales):
    flat = scales.reshape(-1)
    mean = flat.mean(dtype=np.float32)
    rest, out = flat - mean, np.empty_like(flat)
    for part in blocks(flat, 256):
        step = np.abs(rest[part]).max() / np.float32(127)
        codes = np.zeros_like(rest[part]) if step == 0 else np.round(rest[part] / step)
        out[part] = np.maximum(codes * step + mean, 0)
    return out.reshape(scales.shape)


def quantized(w, scheme, granularity, double=False):
    """What the codes stand for, and the scales as they were before they had 8 bits."""
    limit = {"int8": 127, "int4": 7, "nf4": 1}[scheme]
    if granularity == "tensor":
        groups = [[slice(0, COLUMNS)]] * ROWS
        scales = np.full((1, 1), np.abs(w).max(), np.float32)
    else:
        groups = [blocks(w[0], BLOCK if granularity == "block" else COLUMNS)] * ROWS
        scales = np.array([[np.abs(row[part]).max() for part in groups[0]] for row in w], np.float32)
    scales = (scales / np.float32(limit)).astype(np.float32)
    decoded = in_eight_bits(scales) if double else scales
    out = np.empty_like(w)
    for r in range(ROWS):
        for g, part in enumerate(groups[r]):
            at = (0, 0) if granularity == "tensor" else (r, g)
            units = w[r, part] / scales[at] if scales[at] != 0 else np.zeros_like(w[r, part])
            if scheme == "nf4":
                table = normal_float().astype(np.float32)
                units = table[np.abs(units[:, None] - table[None, :]).argmin(axis=1)]
            else:
                units = np.clip(np.round(units), -limit, limit)
            out[r, part] = units * decoded[at]
    return out


# No multiples of anything, so that no quotient is halfway between two codes; one block is zeros.
w = np.array([[math.sin(1.7 * (COLUMNS * r + c)) * math.exp(math.cos(0.3 * c + r)) for c in range(COLUMNS)]
              for r in range(ROWS)], dtype=np.float32)
w[2, 16:32] = 0
show("double", "normal_float", [repr(float(v)) for v in normal_float()])
show("float", "weight", [f"{v:.9g}f" if "." in f"{v:.9g}" else f"{v:.1f}f" for v in w.reshape(-1).tolist()])
for scheme in ("int8", "int4", "nf4"):
    for granularity in ("tensor", "channel", "block"):
        out = quantized(w, scheme, granularity)
        show("float", f"{scheme}_{granularity}", [f"{v:.8e}f" for v in out.reshape(-1).tolist()])
show("float", "nf4_double", [f"{v:.8e}f" for v in quantized(w, "nf4", "block", True).reshape(-1).tolist()])

text = ["// Values computed by make_quantization.py in this folder; not edited by hand.", "#pragma once\n",
        "#include <vector>\n", "// clang-format off", "namespace reference::quantization {\n", *lines,
        "\n}  // namespace reference::quantization\n"]
pathlib.Path(__file__).with_name("quantization.h").write_text("\n".join(text), encoding="utf-8")
