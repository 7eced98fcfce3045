"""The networks that peers_cpu.py and peers_gpu.py train: those of sinter-bench."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Guide(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 16, 3)
        self.pool, self.drop = nn.AdaptiveAvgPool2d((8, 8)), nn.Dropout(0.5)
        self.l1, self.l2 = nn.Linear(1024, 512), nn.Linear(512, 10)

    def forward(self, x):
        x = self.drop(self.c1(x))
        x = self.pool(F.relu(self.drop(self.c2(x)))).flatten(1)
        return self.l2(F.relu(self.drop(self.l1(x))))


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 512), nn.GELU(),
                         nn.LayerNorm(512), nn.Linear(512, 10))


class Gpt(nn.Module):
    """Logits of all positions, one below the other. Unless told otherwise 4 layers of width 256 with 4 heads over 128 of
    256 tokens."""

    def __init__(self, tokens=256, length=128, width=256, layers=4, heads=4):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(tokens, width), nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, activation=F.gelu, batch_first=True,
                                           norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(width))
        self.head = nn.Linear(width, tokens, bias=False)
        self.register_buffer("later", torch.ones(length, length, dtype=torch.bool).triu(1))

    def forward(self, x):
        embedded = self.tokens(x) + self.positions.weight
        return self.head(self.blocks(embedded, self.later)).flatten(0, 1)


class DecoderBlock(nn.Module):
    def __init__(self, width, heads, batch, room):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(batch, heads, room, width // heads))

    def forward(self, x, position, seen):
        batch, width = x.shape
        q, k, v = self.qkv(self.before_attention(x)).view(batch, 3, self.heads, 1, -1).unbind(1)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=seen)
        x = x + self.out(y.reshape(batch, width))
        return x + self.down(F.gelu(self.up(self.before_mlp(x)), approximate="tanh"))


class Decoder(nn.Module):
    """GPT-2 for one new token of each sequence, at a position that is a tensor, with room for `room` of them."""

    def __init__(self, room, batch=1, tokens=50304, width=768, layers=12, heads=12):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(tokens, width), nn.Embedding(room, width)
        self.blocks = nn.ModuleList(DecoderBlock(width, heads, batch, room) for _ in range(layers))
        self.last = nn.LayerNorm(width)
        self.register_buffer("places", torch.arange(room))

    def forward(self, token, position):
        seen = (self.places <= position).view(1, 1, 1, -1)
        x = self.tokens(token) + self.positions(position)
        for block in self.blocks:
            x = block(x, position, seen)
        return (self.last(x) @ self.tokens.weight.t()).argmax(1)


def conv(channels_in, channels_out, kernel, stride=1):
    return nn.Conv2d(channels_in, channels_out, kernel, stride, kernel // 2, bias=False)


class Block(nn.Module):
    def __init__(self, channels_in, channels_out, stride):
        super().__init__()
        self.conv1, self.norm1 = conv(channels_in, channels_out, 3, stride), nn.BatchNorm2d(channels_out)
        self.conv2, self.norm2 = conv(channels_out, channels_out, 3), nn.BatchNorm2d(channels_out)
        self.shortcut = nn.Identity()
        if channels_in != channels_out:
            self.shortcut = nn.Sequential(conv(channels_in, channels_out, 1, stride), nn.BatchNorm2d(channels_out))

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


def resnet18():
    """For images of 32 x 32, 10 classes."""
    layers = [conv(3, 64, 3), nn.BatchNorm2d(64), nn.ReLU()]
    channels = 64
    for wider in (64, 128, 256, 512):
        for number in range(2):
            layers.append(Block(channels, wider, 2 if number == 0 and wider != 64 else 1))
            channels = wider
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
