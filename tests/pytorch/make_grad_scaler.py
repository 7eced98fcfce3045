#!/usr/bin/env python3
"""Adam under a gradient scaler, computed with PyTorch, whose own scaler works on GPUs only: the scale is changed as its
kernel amp_update_scale_ does (aten/src/ATen/native/cuda/AmpKernels.cu). Run by hand when a case is added."""
import math
import pathlib
import textwrap

import torch

from reference import values

STEPS = 30
start, factor = values(7), values(7) / 2
lines = []


def show(kind, name, numbers):
    text = ", ".join(map(str, numbers))
    lines.extend(textwrap.wrap(f"inline const std::vector<{kind}> {name}{{{text}}};", 108, subsequent_indent="    ",
                               break_on_hyphens=False))


class Scaler:
    def __init__(self, scale, growth_interval):
        self.scale, self.tracker, self.skipped = torch.tensor(scale, dtype=torch.float32), 0, 0
        self.growth_interval = growth_interval

    def step(self, optimizer, p):
        inverse = self.scale.double().reciprocal().float()
        found_inf = not torch.isfinite(p.grad).all()
        p.grad *= inverse
        if not found_inf:
            optimizer.step()
        return found_inf

    def update(self, found_inf):
        if found_inf:
            self.scale, self.tracker, self.skipped = self.scale * 0.5, 0, self.skipped + 1
        elif self.tracker + 1 == self.growth_interval:
            grown = self.scale * 2
            if torch.isfinite(grown):
                self.scale = grown
            self.tracker = 0
        else:
            self.tracker += 1


show("double", "start", [repr(float(v)) for v in start])
show("double", "factor", [repr(float(v)) for v in factor])
p = start.float().requires_grad_()
optimizer = torch.optim.Adam([p], lr=0.02, weight_decay=0.1)
# So large that a gradient of 4 is infinite, and that it grows into infinity again.
scaler = Scaler(2.0**127, 4)
scales, trackers, skipped, parameters = [], [], [], []
for step in range(STEPS):
    # Of sum((p * factor)^2) / 2 + 4 cos(step) sum(p), times the scale.
    loss = (p * factor.float()).square().sum() / 2 + p.sum() * (4 * math.cos(step))
    optimizer.zero_grad()
    (loss * scaler.scale).backward()
    scaler.update(scaler.step(optimizer, p))
    scales.append(repr(float(scaler.scale)))
    trackers.append(scaler.tracker)
    skipped.append(scaler.skipped)
    parameters += [f"{v:.9g}" for v in p.tolist()]
show("double", "scales", scales)
show("std::int64_t", "trackers", trackers)
show("std::int64_t", "skipped", skipped)
show("double", "parameters", parameters)

text = ["// Values computed by make_grad_scaler.py in this folder; not edited by hand.", "#pragma once\n",
        "#include <cstdint>", "#include <vector>\n", "// clang-format off", "namespace reference::grad_scaler {\n", *lines,
        "\n}  // namespace reference::grad_scaler\n"]
pathlib.Path(__file__).with_name("grad_scaler.h").write_text("\n".join(text), encoding="utf-8")
