"""PyTorch on this machine's cores, on the rows of sinter-bench (host sizes). usage: peers_cpu.py [--cpu] OUT.json [ROW ...]

--cpu: one thread, and its time on processors instead of that of a clock on the wall.

compare-cpu runs it twice: as Debian ships it, and tuned (see there)."""
import functools
import json
import math
import statistics
import sys
import time
import timeit

import torch
import torch.nn.functional as F

from peers_models import Gpt, Guide, mlp, resnet18

CPU = "--cpu" in sys.argv
clock = time.process_time if CPU else time.perf_counter
torch.set_num_threads(1 if CPU else 2)
torch.manual_seed(0)
MI = 1 << 20


def gelu(x):
    return x * (torch.erf(x * math.sqrt(0.5)) + 1) * 0.5


def gelu_tanh_ab():
    x, a, b = (torch.randn(16 * MI) for _ in range(3))
    return lambda: F.gelu(x, approximate="tanh") * a + b


def chain20():
    x, a, b = (torch.randn(16 * MI) for _ in range(3))

    def run():
        y = gelu(x) * a + b
        y = torch.tanh(y) * torch.sigmoid(x) - a * 0.5
        return torch.where(y > 0, y, y * 0.01) + torch.sqrt(torch.abs(b) + 1e-3)
    return run


def softmax():
    x = torch.randn(4096, 1024)
    return lambda: torch.softmax(x, 1)


def layernorm_gelu_fwd_bwd():
    x = torch.randn(4096, 1024, requires_grad=True)
    w, c = torch.randn(1024), torch.randn(1024)

    def run():
        d = x - x.mean(1, keepdim=True)
        v = (d * d).mean(1, keepdim=True)
        return torch.autograd.grad(F.gelu(d * torch.rsqrt(v + 1e-5) * w + c).sum(), x)
    return run


def product(rows, size, dtype):
    a, b = torch.randn(rows, size).to(dtype), torch.randn(size, size).to(dtype)
    return lambda: a @ b


def product_of_bytes(rows, size):
    """What PyTorch has for 8 bits: weights that were packed before, a scale behind, and results of 8 bits."""
    x = torch.quantize_per_tensor(torch.randn(rows, size), 0.05, 128, torch.quint8)
    w = torch.quantize_per_tensor(torch.randn(size, size), 0.05, 0, torch.qint8)
    packed = torch.ops.quantized.linear_prepack(w, None)
    return lambda: torch.ops.quantized.linear(x, packed, 1.0, 128)


def matmul_gelu():
    a, b, bias = torch.randn(1024, 4096), torch.randn(4096, 1024), torch.randn(1024)
    return lambda: F.gelu(torch.addmm(bias, a, b))


PRODUCTS = {name + suffix: functools.partial(product, rows, size, dtype)
            for name, rows, size in (("matmul_1024", 1024, 1024), ("matmul_64_rows", 64, 4096),
                                     ("matmul_16_rows", 16, 4096), ("matmul_1_row", 1, 4096))
            for suffix, dtype in (("", torch.float32), ("_bf16", torch.bfloat16))}
PRODUCTS |= {name + "_i8": functools.partial(product_of_bytes, rows, size)
             for name, rows, size in (("matmul_1024", 1024, 1024), ("matmul_64_rows", 64, 4096), ("matmul_1_row", 1, 4096))}


def attention(dtype=torch.float32, causal=True, gradients=False):
    q, k, v, seed = (torch.randn(1, 8, 2048, 64).to(dtype) for _ in range(4))
    for x in (q, k, v):
        x.requires_grad_(gradients)
    unseen = torch.ones(2048, 2048, dtype=torch.bool).triu(1)

    def run():
        scores = (q @ k.transpose(-2, -1)) / 8
        if causal:
            scores = scores.masked_fill(unseen, -math.inf)
        y = torch.softmax(scores, -1) @ v
        return torch.autograd.grad(y, (q, k, v), seed) if gradients else y
    return run


ATTENTION = {"attention": functools.partial(attention, torch.bfloat16),
             "attention_fwd_bwd": functools.partial(attention, torch.bfloat16, gradients=True),
             "attention_f32": attention,
             "attention_f32_full": functools.partial(attention, causal=False),
             "attention_f32_fwd_bwd": functools.partial(attention, gradients=True),
             "attention_f32_full_fwd_bwd": functools.partial(attention, causal=False, gradients=True)}


def training_step(model, optimizer, x, y):
    def run():
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return run


def cnn_step():
    model = Guide()
    return training_step(model, torch.optim.Adam(model.parameters(), 1e-3), torch.randn(64, 1, 28, 28),
                         torch.randint(0, 10, (64,)))


def mlp_step():
    model = mlp()
    return training_step(model, torch.optim.AdamW(model.parameters(), 1e-3), torch.randn(256, 784),
                         torch.randint(0, 10, (256,)))


def transformer_step():
    model = Gpt()
    return training_step(model, torch.optim.AdamW(model.parameters(), 1e-3), torch.randint(0, 256, (8, 128)),
                         torch.randint(0, 256, (8 * 128,)))


def char_gpt_step():
    model = Gpt(tokens=96, length=64, width=128)
    return training_step(model, torch.optim.AdamW(model.parameters(), 1e-3), torch.randint(0, 96, (16, 64)),
                         torch.randint(0, 96, (16 * 64,)))


def resnet18_step():
    """By whichever order of an image's dims is faster here."""
    steps = [resnet18_step_in(layout) for layout in (torch.contiguous_format, torch.channels_last)]
    return min(steps, key=lambda step: min(timeit.repeat(step, number=1, repeat=4)))


def resnet18_step_in(layout):
    model, x = resnet18().to(memory_format=layout), torch.randn(16, 3, 32, 32).to(memory_format=layout)
    return training_step(model, torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), x, torch.randint(0, 10, (16,)))


ROWS = {f.__name__: f for f in (gelu_tanh_ab, chain20, softmax, layernorm_gelu_fwd_bwd, cnn_step, mlp_step,
                                transformer_step, char_gpt_step, resnet18_step, matmul_gelu)} | PRODUCTS | ATTENTION


def measure(row, seconds=1.5):
    run = ROWS[row]()
    for _ in range(3):
        run()
    times, start = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < seconds:
        begin = clock()
        run()
        times.append((clock() - begin) * 1e3)
    return statistics.median(times)


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--cpu"]
    wanted = given[1:] or list(ROWS)
    with open(given[0], "w") as out:
        json.dump({row: measure(row) for row in wanted if row in ROWS}, out)
