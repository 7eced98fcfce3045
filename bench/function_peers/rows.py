"""What the rows of peers_functions.py are made with."""
import math
import sys
import time

import torch

SECONDS, WARM, FEWEST, MOST = 0.2, 3, 3, 50  # as in function_bench.cpp
FAR = 1.1
arguments = [word for word in sys.argv[1:] if word != "--values"]
values = "--values" in sys.argv
device = arguments[0] if arguments else "cuda"
ours, results, inputs = {}, [], 0
if len(arguments) > 1 and arguments[1] != "-":
    for line in open(arguments[1]):
        name, *rest = line.split() or [""]
        if rest and rest[0] != "failed:":
            ours[name] = rest
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def wait():
    if device == "cuda":
        torch.cuda.synchronize()


def seconds(function, calls):
    wait()
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    wait()
    return time.perf_counter() - begin


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result.real, result.imag] if result.is_complex() else [result]
    return [x for part in result if part is not None for x in flat(part)]


def compare(name, tensors):
    """Elements, mean, mean magnitude and a mean with weights by place, as function-bench --values prints them."""
    sums, count = [0.0, 0.0, 0.0], 0
    for x in tensors:
        x = x.detach().double().reshape(-1).cpu()
        at = torch.arange(x.numel())
        for i, y in enumerate((x, x.abs(), x * (at % 17 + at % 101))):
            sums[i] += y.sum().item()
        count += x.numel()
    theirs = [count] + [s / max(count, 1) for s in sums]
    mine = [float(x) for x in ours.get(name, [])]
    # The weights are 58 on average.
    near = len(mine) == 4 and mine[0] == count and all(
        math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-9 + 1e-4 * scale * theirs[2])
        for a, b, scale in zip(mine, theirs, (1, 1, 1, 58)))
    print(f"{name:28s} {'same' if near else 'DIFFERS'} {theirs} {'' if near else mine}", flush=True)


def row(name, function):
    try:
        if values:
            compare(name, flat(function()))
            return
        seconds(function, WARM)
        calls = min(max(int(SECONDS / seconds(function, 1)), FEWEST), MOST)
        theirs = seconds(function, calls) / calls * 1e3
    except Exception as error:  # a function that this PyTorch has not, or no memory
        reason = (str(error).splitlines() or [""])[0]
        print(f"{name:28s} failed: {type(error).__name__}: {reason}", flush=True)
        return
    beside = ""
    if name in ours:
        mine = float(ours[name][0])
        results.append((mine / theirs, name, mine, theirs))
        beside = f" {mine:9.4f} {mine / theirs:6.2f}"
    print(f"{name:28s} {theirs:9.4f}{beside}", flush=True)


def fractions(shape, salt):
    at = torch.arange(math.prod(shape), device=device)
    mixed = (at * 7919 + salt * 104729) % 1000003
    return ((mixed * mixed % 1000003).double() / 1000003).float().reshape(shape)


def drawn(shape):
    global inputs
    inputs += 1
    return fractions(shape, inputs) if values else torch.rand(*shape, device=device)


def begin_subject():
    global inputs
    inputs = 0


def floats(*shape, dtype=torch.float32):
    return (drawn(shape) * 2 - 1).to(dtype)


def ints(end, *shape, dtype=torch.int64):
    return (drawn(shape) * end).to(dtype)


def leaf(*shape):
    return floats(*shape).requires_grad_()


def filled(module):
    """Parameters from -0.1 to 0.1."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(floats(*parameter.shape) * 0.1)
    return module


def with_gradients(y, xs, seed=None):
    return *torch.autograd.grad(y, xs, seed), y.detach()


def print_far():
    """All rows that have one of ours beside them, the farthest first."""
    results.sort(reverse=True)
    for title, chosen in ((f"more than {FAR} of PyTorch's time", [r for r in results if r[0] > FAR]),
                          ("the others", [r for r in results if r[0] <= FAR])):
        if chosen:
            print(f"\n{title}: {len(chosen)} of {len(results)}; ours, PyTorch's, ratio")
        for ratio, name, mine, theirs in chosen:
            print(f"{name:28s} {mine:9.4f} {theirs:9.4f} {ratio:6.2f}")
