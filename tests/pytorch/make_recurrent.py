#!/usr/bin/env python3
"""Computes with PyTorch what recurrent layers must give. Run by hand when a case is added."""
import torch

from reference import case, leaf, values, write

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
write(__file__, "recurrent_cases")
