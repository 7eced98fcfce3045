#!/usr/bin/env python3
"""Computes with PyTorch what layers, losses and optimizers must give, and writes it as C++ headers beside this file.

Run by hand when a case is added (needs python3-torch).
"""
import pathlib

import torch
import torch.nn.functional as F

# Inputs are multiples of 1/64, which every binary format represents exactly.
state = 12345


def values(*shape):
    global state
    out = []
    for _ in range(torch.Size(shape).numel()):
        state = (state * 1103515245 + 12345) % 2**31
        out.append(((state >> 16) % 257 - 128) / 64)
    return torch.tensor(out, dtype=torch.float64).reshape(shape)


def leaf(*shape):
    return values(*shape).requires_grad_()


shown = []


def write(header):
    """Writes what was shown since the last header."""
    lines = ["// Values computed with PyTorch by make_values.py in this folder; not edited by hand.", "#pragma once\n",
             "#include <vector>\n", "// clang-format off", "namespace reference {\n", *shown,
             "}  // namespace reference\n"]
    pathlib.Path(__file__).with_name(header).write_text("\n".join(lines))
    shown.clear()


def show(name, tensor):
    numbers = [f"{v:.9g}" for v in tensor.detach().reshape(-1).tolist()]
    numbers = [n if any(c in n for c in ".en") else n + ".0" for n in numbers]
    line, lines = "   ", []
    for n in numbers:
        if len(line) + len(n) + 2 > 108:
            lines.append(line)
            line = "   "
        line += f" {n},"
    lines.append(line)
    shown.append(f"inline const std::vector<float> {name}{{  // {tuple(tensor.shape)}\n" +
                 "\n".join(lines).rstrip(",") + "};\n")


def case(name, out, inputs):
    """The output of a layer, and the gradient of sum(out * weights) for each input."""
    weights = values(*out.shape)
    (out * weights).sum().backward()
    for key, tensor in inputs.items():
        show(f"{name}_{key}", tensor)
    show(f"{name}_out", out)
    show(f"{name}_weights", weights)
    for key, tensor in inputs.items():
        show(f"{name}_grad_{key}", tensor.grad)


x, w, b = leaf(4, 5), leaf(3, 5), leaf(3)
case("linear", F.linear(x, w, b), {"x": x, "weight": w, "bias": b})

x, w, b = leaf(2, 2, 5, 6), leaf(3, 2, 3, 3), leaf(3)
case("conv", F.conv2d(x, w, b), {"x": x, "weight": w, "bias": b})

x, w, b = leaf(1, 4, 6, 5), leaf(6, 2, 3, 2), leaf(6)
case("strided_conv", F.conv2d(x, w, b, stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2),
     {"x": x, "weight": w, "bias": b})

x = leaf(1, 2, 5, 6)
case("avg_pool", F.avg_pool2d(x, (2, 3), stride=(2, 2), padding=(1, 1)), {"x": x})
x = leaf(1, 2, 5, 6)
case("avg_pool_inside", F.avg_pool2d(x, (2, 3), stride=(2, 2), padding=(1, 1), count_include_pad=False), {"x": x})
x = leaf(1, 2, 6, 4)
case("adaptive_pool", F.adaptive_avg_pool2d(x, (3, 2)), {"x": x})
x = leaf(1, 2, 5, 7)
case("uneven_adaptive_pool", F.adaptive_avg_pool2d(x, (3, 4)), {"x": x})

for name, function in {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "leaky_relu": F.leaky_relu,
                       "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
                       "softmax": lambda x: F.softmax(x, 1), "log_softmax": lambda x: F.log_softmax(x, 1)}.items():
    x = leaf(3, 4)
    case(name, function(x), {"x": x})

x = leaf(4, 5)
labels = torch.tensor([1, 4, 0, 3])
loss = F.cross_entropy(x, labels)
loss.backward()
show("cross_entropy_x", x)
show("cross_entropy_out", loss)
show("cross_entropy_grad_x", x.grad)

x, y = leaf(3, 4), leaf(3, 4)
loss = F.mse_loss(x, y)
loss.backward()
show("mse_x", x)
show("mse_y", y)
show("mse_out", loss)
show("mse_grad_x", x.grad)
show("mse_grad_y", y.grad)
write("layers.h")

# Three steps on the loss sum((p * scale)^2) / 2, whose gradient is p * scale^2.
start, scale = values(7), values(7)
show("optim_start", start)
show("optim_scale", scale)
for name, make in {
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adam_decay": lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1),
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.1, weight_decay=0.05),
    "sgd_nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
}.items():
    p = start.clone().requires_grad_()
    optimizer = make([p])
    for step in range(3):
        optimizer.zero_grad()
        ((p * scale) ** 2).sum().div(2).backward()
        optimizer.step()
        show(f"{name}_{step + 1}", p)

write("optimizers.h")


def derivatives(name, value, inputs):
    """A number that depends on gradients, and its own gradient for each input."""
    show(f"{name}_out", value)
    for key, grad in zip(inputs, torch.autograd.grad(value, inputs.values())):
        show(f"{name}_grad_{key}", grad)


# Second derivatives: the gradient penalty of a critic (WGAN-GP), dense and with convolutions.
x, w, v = leaf(4, 5), leaf(5, 6), leaf(6, 1)
for key, tensor in {"x": x, "w": w, "v": v}.items():
    show(f"penalty_{key}", tensor)
critic = torch.tanh(x @ w) @ v
(by_x,) = torch.autograd.grad(critic.sum(), x, create_graph=True)
penalty = ((by_x.square().sum(1) + 1e-6).sqrt() - 1).square().mean()
derivatives("penalty", critic.mean() + 10 * penalty, {"x": x, "w": w, "v": v})

x, k, v = leaf(2, 2, 5, 6), leaf(4, 2, 3, 2), leaf(4, 1)
for key, tensor in {"x": x, "k": k, "v": v}.items():
    show(f"conv_penalty_{key}", tensor)
critic = torch.sigmoid(F.conv2d(x, k, stride=(1, 2), padding=(1, 0))).mean((2, 3)) @ v
(by_x,) = torch.autograd.grad(critic.sum(), x, create_graph=True)
derivatives("conv_penalty", by_x.square().sum(), {"x": x, "k": k, "v": v})

# Third derivatives of a softmax's cross-entropy, and of indexed reads and sums.
x = leaf(3, 4)
show("third_x", x)
table = torch.tensor([2, 0, 2, 1])
y = (F.log_softmax(x, 1)[:, 1].sum() + (x[:, table] * x).prod(1).sum() / 8
     + torch.zeros(5, 4, dtype=torch.float64).index_add(0, torch.tensor([4, 0, 4]), x.sin()).square().sum())
for order in range(2):
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    y = (gradient * torch.arange(1, 13).reshape(3, 4) / 4).sum()
derivatives("third", y, {"x": x})

# Products with the Jacobian and the Hessian.
x, u, v = leaf(3, 4), leaf(3, 4), leaf(4)
for key, tensor in {"x": x, "u": u, "v": v}.items():
    show(f"product_{key}", tensor)


def row_norms(x):
    return (x.square() * torch.tensor([[1.0], [2.0], [3.0]], dtype=torch.float64)).sum(0).exp().log1p()


from torch.autograd.functional import hvp, jvp, vjp  # noqa: E402
show("product_vjp", vjp(row_norms, x, v)[1])
show("product_jvp", jvp(row_norms, x, u)[1])
show("product_hvp", hvp(lambda x: (x.sin() * x.roll(1, 1)).sum(), x, u)[1])

# Step functions have zeros for gradients.
x = leaf(6)
show("steps_x", x)
y = x.floor() + x.ceil() * x + x.round() + x.trunc() + x.sign() * x.square()
(gradient,) = torch.autograd.grad(y.sum(), x)
show("steps_grad_x", gradient)
write("autodiff.h")
