"""PyTorch's training steps on a CUDA GPU at their best, on the rows of sinter-bench. usage: peers_steps.py [--warm] [ROW ..]

A step is one CUDA graph: forward, loss, backward and a fused optimizer. Model and loss are eager or compiled by
torch.compile, images lie channels first or last, compiled the way that is faster eager; products are tf32, and bf16
under autocast for rows of that name. Prints the row, ms of the best form and of each: wall time of many steps without a
read between them. --warm compiles all forms and measures nothing: several processes may do so side by side."""
import statistics
import sys
import time
import warnings

import torch
import torch.nn.functional as F

from peers_gpu import captured
from peers_models import Gpt, Sequences, Unet, Vit, resnet18, resnet50

warnings.filterwarnings("ignore")
torch.set_float32_matmul_precision("high")
torch.backends.cudnn.benchmark = True


def images(count, pixels, classes):
    return lambda: (torch.randn(count, 3, pixels, pixels), torch.randint(0, classes, (count,)))


def tokens(of, batch, length):
    return lambda: (torch.randint(0, of, (batch, length)), torch.randint(0, of, (batch * length,)))


def adamw(parameters):
    return torch.optim.AdamW(parameters, 1e-3, fused=True, capturable=True)


def sgd(parameters):
    return torch.optim.SGD(parameters, 0.1, momentum=0.9, fused=True)


# model, loss, optimizer, data, whether it has images within
MODELS = {
    "resnet18": (resnet18, F.cross_entropy, sgd, images(256, 32, 10), True),
    "resnet18_strided": (lambda: resnet18(True), F.cross_entropy, sgd, images(256, 32, 10), True),
    "resnet50": (resnet50, F.cross_entropy, sgd, images(64, 224, 1000), True),
    "vit": (Vit, F.cross_entropy, adamw, images(64, 224, 1000), False),
    "unet": (Unet, F.mse_loss, adamw, lambda: (torch.randn(16, 3, 64, 64), torch.randn(16, 3, 64, 64)), True),
    "lstm": (Sequences, F.cross_entropy, adamw, lambda: (torch.randn(64, 128, 512), torch.randint(0, 10, (64,))), False),
    "char_gpt": (lambda: Gpt(96, 256, 384, 6, 6), F.cross_entropy, adamw, tokens(96, 64, 256), False),
    "gpt2": (lambda: Gpt(50304, 1024, 768, 12, 12), F.cross_entropy, adamw, tokens(50304, 8, 1024), False),
}


def step_ms(loss_of, optimizer, bf16, seconds):
    def step():
        with torch.autocast("cuda", torch.bfloat16, enabled=bf16):
            loss = loss_of()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)

    replay = captured(step, warm=5)
    times, start = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(10):
            replay()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 100)
    return statistics.median(times)


def form_ms(row, layout, compiled, seconds):
    name, bf16 = row.removesuffix("_step").removesuffix("_bf16"), row.endswith("_bf16_step")
    make, loss, optimizer, data, _ = MODELS[name]
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = make().cuda().to(memory_format=layout)
    x, y = (part.cuda() for part in data())
    if x.ndim == 4:
        x = x.to(memory_format=layout)
    loss_of = torch.compile(lambda: loss(model(x), y)) if compiled else lambda: loss(model(x), y)
    return step_ms(loss_of, optimizer(model.parameters()), bf16, seconds)


def measure(row, seconds):
    has_images = MODELS[row.removesuffix("_step").removesuffix("_bf16")][-1]
    layouts = {"": torch.contiguous_format} | ({" channels last": torch.channels_last} if has_images else {})
    times = {"eager" + form: form_ms(row, layout, False, seconds) for form, layout in layouts.items()}
    faster = min(layouts, key=lambda form: times["eager" + form])
    for form, layout in layouts.items():
        if form == faster or seconds == 0:
            times["compiled" + form] = form_ms(row, layout, True, seconds)
    return times


if __name__ == "__main__":
    warm = "--warm" in sys.argv
    given = [argument for argument in sys.argv[1:] if argument != "--warm"]
    for row in given or [name + suffix for name in MODELS for suffix in ("_step", "_bf16_step")]:
        times = measure(row, 0 if warm else 2)
        if not warm:
            forms = "  ".join(f"{form} {time:.3f}" for form, time in times.items())
            print(f"{row:28s} {min(times.values()):8.3f}   {forms}", flush=True)
