"""Layers of sequences, steps of optimizers, and what goes between the host and the device."""
import torch
import torch.nn.functional as F
from torch import nn

from function_peers.rows import device, filled, floats, leaf, row, values, with_gradients


def filled_attention(layer, rest=()):
    """Numbers for the parameters in our order: weight and bias of queries, keys, values and the output."""
    d = layer.embed_dim
    with torch.no_grad():
        for part in range(3):
            layer.in_proj_weight[part * d:(part + 1) * d] = floats(d, d) * 0.1
            layer.in_proj_bias[part * d:(part + 1) * d] = floats(d) * 0.1
        for parameter in (layer.out_proj.weight, layer.out_proj.bias, *rest):
            parameter.copy_(floats(*parameter.shape) * 0.1)


def in_our_order(gradients):
    """Those of queries, keys and values, which PyTorch has in one tensor; not where times are taken."""
    if not values:
        return gradients
    weight, bias, *rest = gradients
    return [x for pair in zip(weight.chunk(3), bias.chunk(3)) for x in pair] + rest


def sequences():
    x, seed, tokens = leaf(32, 64, 256), floats(32, 64, 256), leaf(16, 256, 512)
    tokens_seed, long = floats(16, 256, 512), floats(16, 256, 512)
    rnn = filled(nn.RNN(256, 256, batch_first=True).to(device))
    gru = filled(nn.GRU(256, 256, batch_first=True).to(device))
    lstm = filled(nn.LSTM(256, 256, batch_first=True).to(device))
    both_ways = nn.LSTM(512, 512, 2, batch_first=True, bidirectional=True).to(device)
    attention = nn.MultiheadAttention(512, 8, batch_first=True).to(device)
    encoder = nn.TransformerEncoderLayer(512, 8, 2048, 0, F.gelu, batch_first=True).to(device)
    filled_attention(attention)
    filled_attention(encoder.self_attn, list(encoder.parameters())[4:])
    encoder_plain = nn.TransformerEncoderLayer(512, 8, 2048, 0, F.gelu, batch_first=True).to(device).eval()

    def trained(layer, *given, by):
        y = layer(*given)
        y = y[0] if isinstance(y, tuple) else y
        return with_gradients(y, [*layer.parameters(), given[0]], by)

    @torch.no_grad()
    def evaluated(layer, given):
        return layer(given)

    row("rnn_training", lambda: trained(rnn, x, by=seed))
    row("gru_training", lambda: trained(gru, x, by=seed))
    row("lstm_training", lambda: trained(lstm, x, by=seed))
    row("lstm_2_layers_both_ways", lambda: evaluated(both_ways, long)[0])
    # Without weights, which keep PyTorch from its fused kernel.
    row("attention_training",
        lambda: in_our_order(with_gradients(attention(tokens, tokens, tokens, need_weights=False)[0],
                                            [*attention.parameters(), tokens], tokens_seed)))
    row("encoder_layer_training", lambda: in_our_order(trained(encoder, tokens, by=tokens_seed)))
    row("encoder_layer", lambda: evaluated(encoder_plain, long))


def steps():
    start = [floats(256, 256) for _ in range(100)]
    given = [floats(256, 256) for _ in range(100)]

    def parameters():
        made = [nn.Parameter(x.clone()) for x in start]
        for parameter, gradient in zip(made, given):
            parameter.grad = gradient.clone()
        return made

    def of(name, optimizer, limit=None, **settings):
        mine = parameters()
        rule = optimizer(mine, lr=1e-3, **settings)

        def step():
            if limit:
                nn.utils.clip_grad_norm_(mine, limit)
            rule.step()
            return mine

        row(name, step)

    of("sgd_step", torch.optim.SGD, momentum=0.9)
    of("adam_step", torch.optim.Adam)
    of("adamw_step", torch.optim.AdamW)
    of("rmsprop_step", torch.optim.RMSprop)
    of("adagrad_step", torch.optim.Adagrad)
    of("adamw_clipped_step", torch.optim.AdamW, 1.0)
    mine = parameters()
    row("clip_by_norm", lambda: [(norm := nn.utils.clip_grad_norm_(mine, 1.0)), *(p.grad for p in mine)])


def transfers():
    x, few = floats(4096, 4096), floats(1024)
    host, back = x.cpu(), torch.empty(4096, 4096)
    row("to_device_64mb", lambda: host.to(device, copy=True))
    row("to_host_64mb", lambda: back.copy_(x))
    row("item", lambda: torch.full((), few.sum().item(), device=device))
    row("100_small_results", lambda: [few * i for i in range(100)])
