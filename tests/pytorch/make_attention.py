#!/usr/bin/env python3
"""Computes with PyTorch what attention and transformers must give. Run by hand when a case is added."""
import math

import torch
import torch.nn.functional as F

from reference import case, leaf, values, write


def attend(q, k, v, seen=None, bias=0, scale=None, cap=0):
    scores = q @ k.transpose(-2, -1) * (scale or 1 / math.sqrt(q.shape[-1]))
    if cap:
        scores = cap * torch.tanh(scores / cap)
    scores = scores + bias
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    return torch.softmax(scores, -1) @ v


def causal(queries, keys, offset=0):
    return torch.arange(keys)[None, :] <= torch.arange(queries)[:, None] + offset


case("attention", attend, leaf(2, 3, 4), leaf(2, 5, 4), leaf(2, 5, 2))
case("attention_causal", lambda q, k, v: attend(q, k, v, causal(3, 5, 2)), leaf(2, 3, 4), leaf(2, 5, 4), leaf(2, 5, 2))
mask = (values(3, 5) > -1) | (torch.arange(5) == 0)
case("attention_options", lambda q, k, v, m, b: attend(q, k, v, m > 0, b, 0.7, 2.0), leaf(2, 3, 4), leaf(2, 5, 4),
     leaf(2, 5, 2), mask.double(), leaf(3, 5))

D, HEADS = 4, 2
attention = torch.nn.MultiheadAttention(D, HEADS, batch_first=True).double()
weights = [leaf(D, D) for _ in range(4)] + [leaf(D) for _ in range(4)]


def multi_head(q, k, v, *w, **options):
    return F.multi_head_attention_forward(
        q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), D, HEADS, torch.cat(w[0:3]), torch.cat(w[4:7]), None, None,
        False, 0.0, w[3], w[7], need_weights=False, **options)[0].transpose(0, 1)


fresh = lambda: [w.detach().clone().requires_grad_() for w in weights]
case("multi_head", multi_head, leaf(2, 3, D), leaf(2, 5, D), leaf(2, 5, D), *fresh())
padding = torch.tensor([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]]).bool()
case("multi_head_padding", lambda q, k, v, *w: multi_head(q, k, v, *w, key_padding_mask=padding), leaf(2, 3, D),
     leaf(2, 5, D), leaf(2, 5, D), *fresh())

for norm_first in False, True:
    layer = torch.nn.TransformerEncoderLayer(D, HEADS, 3, 0.0, "gelu", batch_first=True, norm_first=norm_first).double()
    names = [n for n, _ in layer.named_parameters()]
    parameters = [leaf(*p.shape) for _, p in layer.named_parameters()]

    def encode(x, *w):
        return torch.nn.utils.stateless.functional_call(layer, dict(zip(names, w)), (x,),
                                                        {"src_mask": ~causal(3, 3)})

    case(f"encoder_{'before' if norm_first else 'after'}", encode, leaf(2, 3, D), *parameters)
layer = torch.nn.TransformerDecoderLayer(D, HEADS, 3, 0.0, "gelu", batch_first=True).double()
names = [n for n, _ in layer.named_parameters()]
parameters = [values(*p.shape) for _, p in layer.named_parameters()]
case("decoder", lambda x, m, *w: torch.nn.utils.stateless.functional_call(
    layer, dict(zip(names, w)), (x, m), {"tgt_mask": ~causal(3, 3)}), leaf(2, 3, D), leaf(2, 4, D), *parameters)
print(names)
write(__file__, "attention_cases")
