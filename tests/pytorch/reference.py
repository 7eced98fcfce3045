"""Numbers for tests: inputs that every format holds exactly, and cases written as a C++ header."""
import pathlib
import textwrap

import torch

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


def numbers(tensor):
    out = []
    for v in tensor.detach().double().reshape(-1).tolist():
        text = f"{v:.9g}"
        out.append(text if any(c in text for c in ".en") else text + ".0")
    return "{" + ", ".join(out) + "}"


def shape(tensor):
    return "{" + ", ".join(map(str, tensor.shape)) + "}"


cases = []


def case(name, function, *inputs):
    """Of an output y = function(*inputs): y, numbers w, and the gradients of sum(y * w) for inputs that require one."""
    out = function(*inputs)
    w = values(*out.shape)
    (out * w).sum().backward()
    rows = ", ".join(f"{{{shape(x)}, {numbers(x)}, {numbers(x.grad) if x.requires_grad else '{}'}}}" for x in inputs)
    text = f'{{"{name}", {{{{{rows}}}, {shape(out)}, {numbers(out)}, {numbers(w)}}}}},'
    cases.append("\n".join(textwrap.wrap(text, 109, break_on_hyphens=False, break_long_words=False)))


def write(script, name):
    """Writes the cases beside the script, as the map `reference::NAME`."""
    file = pathlib.Path(script)
    lines = [f"// Values computed with PyTorch by {file.name} in this folder; not edited by hand.", "#pragma once\n",
             '#include "tests/support/reference_case.h"\n', "// clang-format off", "namespace reference {\n",
             f"inline const Cases {name}{{\n", *cases, "};\n", "}  // namespace reference\n"]
    file.with_name(f"{name}.h").write_text("\n".join(lines))
    cases.clear()
