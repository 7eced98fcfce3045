"""PyTorch on a CUDA GPU, eager and torch.compile, on the rows of sinter-bench (GPU sizes). usage: peers_gpu.py [ROW ...]

Prints row, eager ms, compiled ms: medians of device time, for the steps wall time without a read between them."""
import math
import statistics
import sys
import time

import torch
import torch.nn.functional as F

from peers_models import Decoder, Guide, mlp

DEVICE = "cuda"
N = 1 << 26


def randn(*shape):
    return torch.randn(*shape, device=DEVICE)


def device_ms(run, warm=10, repeats=30):
    for _ in range(warm):
        run()
    times = []
    for _ in range(repeats):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def wall_ms(run, warm=20, repeats=200):
    for _ in range(warm):
        run()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / repeats * 1e3


def gelu(x):
    return x * (torch.erf(x * math.sqrt(0.5)) + 1) * 0.5


def chain20(x, a, b):
    y = gelu(x) * a + b
    y = torch.tanh(y) * torch.sigmoid(x) - a * 0.5
    return torch.where(y > 0, y, y * 0.01) + torch.sqrt(torch.abs(b) + 1e-3)


def adam(p, m, v, g):
    m = m * 0.9 + g * 0.1
    v = v * 0.999 + g * g * 0.001
    return p - m / (torch.sqrt(v) + 1e-8) * 1e-3, m, v


def softmax(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


def layernorm(x, w, b):
    d = x - x.mean(1, keepdim=True)
    return d * torch.rsqrt((d * d).mean(1, keepdim=True) + 1e-5) * w + b


def layernorm_gelu_fwd_bwd(x, w, b):
    return torch.autograd.grad(F.gelu(layernorm(x, w, b)).sum(), x)


def step_of(model, optimizer, x, y):
    def run():
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return run


def bf16(row):
    function, make = row
    return function, lambda: tuple(x.detach().bfloat16().requires_grad_(x.requires_grad) for x in make())


KERNELS = {
    "gelu": (gelu, lambda: (randn(N),)),
    "chain20": (chain20, lambda: (randn(N), randn(N), randn(N))),
    "adam": (adam, lambda: (randn(N), randn(N), randn(N).abs(), randn(N))),
    "softmax": (softmax, lambda: (randn(8192, 4096),)),
    "layernorm": (layernorm, lambda: (randn(8192, 4096), randn(4096), randn(4096))),
    "layernorm_gelu_fwd_bwd": (layernorm_gelu_fwd_bwd,
                               lambda: (randn(8192, 4096).requires_grad_(), randn(4096), randn(4096))),
    "sum_all": (torch.sum, lambda: (randn(N),)),
    "sum_dim0": (lambda x: x.sum(0), lambda: (randn(8192, 4096),)),
    "matmul_4096": (torch.matmul, lambda: (randn(4096, 4096), randn(4096, 4096))),
}
KERNELS |= {name + "_bf16": bf16(KERNELS[name])
            for name in ("gelu", "chain20", "adam", "softmax", "layernorm", "layernorm_gelu_fwd_bwd", "sum_all")}
STEPS = {
    "cnn_step": (Guide, torch.optim.Adam, lambda: (randn(64, 1, 28, 28), torch.randint(0, 10, (64,), device=DEVICE))),
    "mlp_step": (mlp, torch.optim.AdamW, lambda: (randn(256, 784), torch.randint(0, 10, (256,), device=DEVICE))),
}

# Room for positions, and the first of them; the last one is followed by it.
TOKENS = {"gpt2_decode_bf16": (256, 128), "gpt2_decode_1000_bf16": (1024, 896)}


def captured(step, warm=3):
    """The step as one CUDA graph: a function that runs it."""
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(warm):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def token_of(room, first, compiled):
    """Makes a token, which is the next input: one CUDA graph, with the position in memory."""
    model = Decoder(room).to(DEVICE, torch.bfloat16).requires_grad_(False)
    token, position = (torch.full((1,), value, device=DEVICE) for value in (0, first))
    forward = torch.compile(model, options={"coordinate_descent_tuning": True}) if compiled else model

    def run():
        token.copy_(forward(token, position))
        position.copy_((position + 1 - first) % (room - first) + first)

    with torch.no_grad():
        return captured(run)


if __name__ == "__main__":
    for row in sys.argv[1:] or [*KERNELS, *STEPS, *TOKENS]:
        figures = []
        for compiled in (False, True):
            torch._dynamo.reset()
            prepare = torch.compile if compiled else lambda f: f
            if row in TOKENS:
                figures.append(wall_ms(token_of(*TOKENS[row], compiled), repeats=1000))
            elif row in KERNELS:
                function, make = KERNELS[row]
                function, arguments = prepare(function), make()
                figures.append(device_ms(lambda: function(*arguments)))
            else:
                model, optimizer, make = STEPS[row]
                model = model().to(DEVICE)
                figures.append(wall_ms(step_of(prepare(model), optimizer(model.parameters(), 1e-3), *make())))
        print(f"{row:28s} eager {figures[0]:8.4f} ms   torch.compile {figures[1]:8.4f} ms", flush=True)
