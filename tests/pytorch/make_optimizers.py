#!/usr/bin/env python3
"""Ten steps of optimizers in f64, and learning rates of schedules, computed with PyTorch or from the papers' formulas,
written beside this file. Run by hand when a case is added."""
import math
import pathlib
import textwrap
import warnings

import torch

from reference import values

warnings.simplefilter("ignore")
STEPS = 10
start, scale = values(3, 4), values(3, 4) / 2
lines = []


def show(name, tensor):
    numbers = ", ".join(repr(float(v)) for v in torch.as_tensor(tensor).reshape(-1))
    lines.extend(textwrap.wrap(f"inline const std::vector<double> {name}{{{numbers}}};", 108, subsequent_indent="    ",
                               break_on_hyphens=False))


def gradient(p, step):
    """Of sum((p * scale)^2) / 2 + cos(step) sum(p): not only shrinking."""
    return p * scale**2 + math.cos(step)


show("start", start)
show("scale", scale)

for name, make in {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.1, weight_decay=0.05),
    "sgd_nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.02, eps=1e-3, weight_decay=0.1),
    "adam_amsgrad": lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1, amsgrad=True),
    "adamw_amsgrad": lambda p: torch.optim.AdamW(p, lr=0.02, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1, amsgrad=True),
    "adamax": lambda p: torch.optim.Adamax(p, lr=0.02, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.02, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1),
    "adadelta": lambda p: torch.optim.Adadelta(p, lr=0.9, rho=0.8, eps=1e-3, weight_decay=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.02, alpha=0.9, eps=1e-3, weight_decay=0.1),
    "rmsprop_centered": lambda p: torch.optim.RMSprop(p, lr=0.02, alpha=0.9, eps=1e-3, momentum=0.7, centered=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1, lr_decay=0.1, eps=1e-3, weight_decay=0.1,
                                             initial_accumulator_value=0.2),
}.items():
    p = start.clone().requires_grad_()
    optimizer = make([p])
    for step in range(STEPS):
        p.grad = gradient(p.detach(), step)
        optimizer.step()
    show(name, p.detach())


def run(name, update):
    p, state = start.clone(), {}
    for step in range(STEPS):
        p = update(p, gradient(p, step), state, step + 1)
    show(name, p)


def lion(p, g, state, t, lr=0.02, b1=0.8, b2=0.95, decay=0.1):
    m = state.get("m", torch.zeros_like(p))
    p = p * (1 - lr * decay) - lr * torch.sign(b1 * m + (1 - b1) * g)
    state["m"] = b2 * m + (1 - b2) * g
    return p


def adan(p, g, state, t, lr=0.02, b1=0.9, b2=0.8, b3=0.95, eps=1e-3, decay=0.1):
    zero = torch.zeros_like(p)
    d = g - state.get("g", g)
    state["g"] = g
    state["m"] = m = b1 * state.get("m", zero) + (1 - b1) * g
    state["n"] = n = b2 * state.get("n", zero) + (1 - b2) * d
    state["v"] = v = b3 * state.get("v", zero) + (1 - b3) * (g + b2 * d) ** 2
    step = (m / (1 - b1**t) + b2 * n / (1 - b2**t)) / ((v / (1 - b3**t)).sqrt() + eps)
    return (p - lr * step) / (1 + lr * decay)


def adafactor(p, g, state, t, lr=0.02, decay=-0.8, eps1=1e-3, eps2=1e-3, threshold=0.7, weight_decay=0.1):
    beta = 1 - t**decay
    s = g**2 + eps1
    if p.dim() == 2:
        state["r"] = r = beta * state.get("r", 0) + (1 - beta) * s.mean(1)
        state["c"] = c = beta * state.get("c", 0) + (1 - beta) * s.mean(0)
        u = g / (r[:, None] * c[None, :] / r.mean()).sqrt()
    else:
        state["v"] = v = beta * state.get("v", 0) + (1 - beta) * s
        u = g / v.sqrt()
    u = u / max(1.0, u.square().mean().sqrt().item() / threshold)
    alpha = lr * max(eps2, p.square().mean().sqrt().item())
    return p - alpha * weight_decay * p - alpha * u


def muon(p, g, state, t, lr=0.02, momentum=0.9, decay=0.1):
    state["b"] = b = momentum * state.get("b", torch.zeros_like(p)) + (1 - momentum) * g
    x = (1 - momentum) * g + momentum * b
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    x = x / x.norm()
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
    x = x.T if tall else x
    return p * (1 - lr * decay) - lr * max(1, p.shape[0] / p.shape[1]) ** 0.5 * x


run("lion", lion)
run("adan", adan)
run("adafactor", adafactor)
run("muon", muon)
run("muon_tall", lambda p, g, s, t: muon(p.T, g.T, s, t).T)


def rates(name, make, lr=0.1, steps=12):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr)
    schedule, out = make(optimizer), []
    for _ in range(steps):
        out.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    show(f"rates_{name}", torch.tensor(out, dtype=torch.float64))


S = torch.optim.lr_scheduler
rates("linear", lambda o: S.LinearLR(o, 0.2, 1.0, 8))
rates("cosine", lambda o: S.CosineAnnealingLR(o, 11, 0.01))
rates("restarts", lambda o: S.CosineAnnealingWarmRestarts(o, 3, 2, 0.01), steps=24)
rates("exponential", lambda o: S.ExponentialLR(o, 0.8))
rates("steps", lambda o: S.StepLR(o, 3, 0.5))
rates("milestones", lambda o: S.MultiStepLR(o, [2, 5, 6], 0.5))
rates("one_cycle", lambda o: S.OneCycleLR(o, 0.1, 12, cycle_momentum=False), steps=11)
rates("noam", lambda o: S.LambdaLR(o, lambda n: 512**-0.5 * min((n + 1) ** -0.5, (n + 1) * 4**-1.5)), lr=2.0)
rates("sequential", lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.25, 1.0, 4), S.ExponentialLR(o, 0.9)], [4]))

metrics = [1.0, 0.9, 0.95, 0.92, 0.91, 0.8999999, 0.93, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6]
optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
plateau, out = S.ReduceLROnPlateau(optimizer, factor=0.5, patience=1, cooldown=1, min_lr=0.01), []
for metric in metrics:
    plateau.step(metric)
    out.append(optimizer.param_groups[0]["lr"])
show("metrics", torch.tensor(metrics, dtype=torch.float64))
show("rates_plateau", torch.tensor(out, dtype=torch.float64))



def bumps(p):
    return ((p * scale) ** 2).sum() / 2 + 0.4 * torch.sin(3 * p).sum()


def rosenbrock(p):
    x = p.reshape(-1)
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


for name, loss, lr, options in [
    ("lbfgs", bumps, 0.3, dict(max_iter=4, history_size=3)),
    ("lbfgs_wolfe", bumps, 1, dict(max_iter=1, history_size=3, line_search_fn="strong_wolfe")),
    ("lbfgs_far", bumps, 3000, dict(max_iter=2, line_search_fn="strong_wolfe")),
    ("lbfgs_rosenbrock", rosenbrock, 1, dict(max_iter=3, max_eval=6, line_search_fn="strong_wolfe")),
]:
    p, losses = start.clone().requires_grad_(), []
    optimizer = torch.optim.LBFGS([p], lr=lr, **options)

    def closure():
        optimizer.zero_grad()
        value = loss(p)
        value.backward()
        return value

    for _ in range(STEPS):
        losses.append(float(optimizer.step(closure)))
    state = optimizer.state[p]
    show(name, p.detach())
    show(f"{name}_losses", torch.tensor(losses + [float(loss(p))], dtype=torch.float64))
    show(f"{name}_counts", torch.tensor([state["n_iter"], state["func_evals"]]))

text = ["// Values computed by make_optimizers.py in this folder; not edited by hand.", "#pragma once\n", "#include <vector>\n",
        "// clang-format off", "namespace reference::ten_steps {\n", *lines, "\n}  // namespace reference::ten_steps\n"]
pathlib.Path(__file__).with_name("optimizer_steps.h").write_text("\n".join(text))
