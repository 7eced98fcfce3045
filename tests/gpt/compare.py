#!/usr/bin/env python3
"""Trains examples/gpt and the same network in PyTorch from the same weights on the same batches, and compares the losses.

usage: compare.py PROGRAM [STEPS]     needs python3-torch. Run by hand; exit code 1 where losses differ by more than 0.1 %.

The text has one window of the context's length, so that every batch is the same and known to both.
"""
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F

PROGRAM, STEPS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
LAYERS, HEADS, WIDTH, TOKENS, RATE, WARM_UP = 2, 4, 32, 1000, 1e-3, 10
CONTEXT = TOKENS - TOKENS // 10 - 2
torch.manual_seed(7)


def weights():
    normal = lambda *shape: torch.randn(*shape) * 0.05
    yield "tokens", normal(256, WIDTH)
    yield "positions", normal(CONTEXT, WIDTH)
    for i in range(LAYERS):
        for name in ("before_attention", "before_mlp"):
            yield f"blocks.{i}.{name}.weight", 1 + normal(WIDTH)
            yield f"blocks.{i}.{name}.bias", normal(WIDTH)
        for name, a, b in (("attention.qkv", 1, 3), ("attention.out", 1, 1), ("up", 1, 4), ("down", 4, 1)):
            yield f"blocks.{i}.{name}.weight", normal(a * WIDTH, b * WIDTH)
            yield f"blocks.{i}.{name}.bias", normal(b * WIDTH)
    yield "last.weight", 1 + normal(WIDTH)
    yield "last.bias", normal(WIDTH)


def write(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def forward(p, tokens):
    def norm(name, x):
        return F.layer_norm(x, (WIDTH,), p[name + ".weight"], p[name + ".bias"], 1e-5)

    def dense(name, x):
        return x @ p[name + ".weight"] + p[name + ".bias"]

    x = p["tokens"][tokens] + p["positions"]
    batch, time = tokens.shape
    for i in range(LAYERS):
        at = f"blocks.{i}."
        q, k, v = (part.reshape(batch, time, HEADS, -1).transpose(1, 2)
                   for part in dense(at + "attention.qkv", norm(at + "before_attention", x)).chunk(3, -1))
        scores = q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
        scores = scores.masked_fill(~torch.ones(time, time, dtype=torch.bool).tril(), -1e9)
        x = x + dense(at + "attention.out", (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, time, WIDTH))
        x = x + dense(at + "down", F.gelu(dense(at + "up", norm(at + "before_mlp", x)), approximate="tanh"))
    return norm("last", x) @ p["tokens"].T


def rate(step):
    if step < WARM_UP:
        return RATE * (step + 1) / WARM_UP
    return RATE * (0.55 + 0.45 * math.cos(math.pi * min(1, (step - WARM_UP) / max(1, STEPS - WARM_UP))))


def theirs(parameters, text):
    optimizer = torch.optim.AdamW(parameters.values(), betas=(0.9, 0.95), weight_decay=0.1)
    window = torch.tensor(list(text[:CONTEXT + 1]))
    losses = {}
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        loss = F.cross_entropy(forward(parameters, window[None, :-1]).flatten(0, 1), window[1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses[step + 1] = loss.item()
    return losses


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    text = pathlib.Path(__file__).read_bytes()[:TOKENS]
    (folder / "text.txt").write_bytes(text)
    initial = dict(weights())
    write(folder / "weights", initial)
    output = subprocess.run(
        [PROGRAM, folder / "text.txt", "--from", folder / "weights", "--save", folder / "trained", "--batch", "1", "--context", str(CONTEXT), "--layers",
         str(LAYERS), "--heads", str(HEADS), "--width", str(WIDTH), "--steps", str(STEPS), "--warm-up", str(WARM_UP), "--lr",
         str(RATE), "--report", "10", "--tokens", "0"], stdout=subprocess.PIPE, text=True, check=True).stdout
    ours = {int(step): float(loss) for step, loss in re.findall(r"step (\d+)  loss ([\d.]+)", output)}
    their = theirs({name: tensor.clone().requires_grad_() for name, tensor in initial.items()}, text)

worst = 0
for step, loss in ours.items():
    worst = max(worst, abs(loss - their[step]) / their[step])
    print(f"step {step:4}  ours {loss:.4f}  PyTorch {their[step]:.4f}")
print(f"largest difference {100 * worst:.3f} %")
sys.exit(worst > 1e-3 or len(ours) != STEPS // 10)
