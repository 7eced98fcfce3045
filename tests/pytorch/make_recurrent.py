#!/usr/bin/env python3
"""Computes with PyTorch what recurrent layers must give. Run by hand when a case is added."""
import torch
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from reference import case, leaf, values, write

packed = []
for name, make, options in (("rnn", torch.nn.RNN, {}), ("rnn_relu", torch.nn.RNN, {"nonlinearity": "relu"}),
                            ("lstm", torch.nn.LSTM, {}), ("gru", torch.nn.GRU, {})):
    for layers, both in (((2, True),) if make is torch.nn.LSTM else ((1, False),)):
        layer = make(3, 2, layers, batch_first=True, bidirectional=both, **options).double()
        inputs = [leaf(2, 3, 3), leaf(layers * (1 + both), 2, 2), leaf(layers * (1 + both), 2, 2)]
        weights = [leaf(*p.shape) for _, p in layer.named_parameters()]

        def run(x, h, c, *w):
            lstm = make is torch.nn.LSTM
            call = {"rnn": torch._VF.rnn_tanh, "rnn_relu": torch._VF.rnn_relu, "lstm": torch._VF.lstm,
                    "gru": torch._VF.gru}[name]
            y, *state = call(x, (h, c) if lstm else h, list(w), True, layers, 0.0, True, both, True)
            last = torch.cat([s.reshape(-1) for s in (state if lstm else (*state, c))])
            return torch.cat([y.reshape(-1), last])

        case(f"{name}_{layers}", run, *inputs, *weights)

        def run_packed(x, h, c, *w, lstm=make is torch.nn.LSTM, layers=layers, both=both):
            """Sequences of 1 and 3 elements."""
            call = torch._VF.lstm if lstm else torch._VF.gru
            data, sizes, order, back = pack_padded_sequence(x, [1, 3], batch_first=True, enforce_sorted=False)
            h, c = h[:, order], c[:, order]
            y, *state = call(data, sizes, (h, c) if lstm else h, list(w), True, layers, 0.0, True, both)
            y, _ = pad_packed_sequence(PackedSequence(y, sizes, order, back), batch_first=True)
            last = torch.cat([s[:, back].reshape(-1) for s in (state if lstm else (*state, c))])
            return torch.cat([y.reshape(-1), last])

        if name in ("lstm", "gru"):
            packed.append((f"{name}_packed", run_packed, inputs + weights))
# Behind the others, whose numbers stay what they were.
for name, run, inputs in packed:
    case(name, run, *(x.detach().clone().requires_grad_() for x in inputs))
write(__file__, "recurrent_cases")
