"""The networks that peers_cpu.py and peers_gpu.py train: those of sinter-bench."""
import inspect

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
        # PyTorch 1.13, which Debian ships, takes the mask alone.
        knows_causal = "is_causal" in inspect.signature(self.blocks.forward).parameters
        self.hints = {"is_causal": True} if knows_causal else {}

    def forward(self, x):
        embedded = self.tokens(x) + self.positions.weight
        return self.head(self.blocks(embedded, self.later, **self.hints)).flatten(0, 1)


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


def strided_layers():
    """The first of torchvision's, which leave a sixteenth of the pixels."""
    return conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)


def resnet18(strided=False):
    """For images of 32 x 32, 10 classes."""
    layers = list(strided_layers()) if strided else [conv(3, 64, 3), nn.BatchNorm2d(64), nn.ReLU()]
    channels = 64
    for wider in (64, 128, 256, 512):
        for number in range(2):
            layers.append(Block(channels, wider, 2 if number == 0 and wider != 64 else 1))
            channels = wider
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class Bottleneck(nn.Module):
    def __init__(self, channels_in, width, stride):
        super().__init__()
        self.layers = nn.Sequential(conv(channels_in, width, 1), nn.BatchNorm2d(width), nn.ReLU(),
                                    conv(width, width, 3, stride), nn.BatchNorm2d(width), nn.ReLU(),
                                    conv(width, 4 * width, 1), nn.BatchNorm2d(4 * width))
        self.shortcut = nn.Identity()
        if channels_in != 4 * width:
            self.shortcut = nn.Sequential(conv(channels_in, 4 * width, 1, stride), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        return F.relu(self.layers(x) + self.shortcut(x))


def resnet50():
    """As torchvision has it: 1,000 classes."""
    layers = list(strided_layers())
    channels = 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for number in range(blocks):
            layers.append(Bottleneck(channels, width, 2 if number == 0 and width != 64 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


class Vit(nn.Module):
    """ViT-S/16 for images of 224 x 224, 1,000 classes, no dropout."""

    def __init__(self, width=384, layers=12, heads=6):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.first = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, 197, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, activation=F.gelu, batch_first=True,
                                           norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, 1000)

    def forward(self, images):
        words = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat((self.first.expand(len(words), 1, -1), words), 1) + self.positions
        return self.head(self.blocks(x)[:, 0])


def pair(channels_in, channels_out):
    return nn.Sequential(conv(channels_in, channels_out, 3), nn.BatchNorm2d(channels_out), nn.ReLU(),
                         conv(channels_out, channels_out, 3), nn.BatchNorm2d(channels_out), nn.ReLU())


class Unet(nn.Module):
    """From images of three channels to images, through five sizes."""

    def __init__(self, widths=(64, 128, 256, 512, 1024)):
        super().__init__()
        self.down = nn.ModuleList(pair(a, b) for a, b in zip((3, *widths), widths))
        wide = list(zip(widths[:0:-1], widths[-2::-1]))
        self.wider = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in wide)
        self.up = nn.ModuleList(pair(a, b) for a, b in wide)
        self.out = nn.Conv2d(widths[0], 3, 1)

    def forward(self, x):
        levels = [self.down[0](x)]
        for down in self.down[1:]:
            levels.append(down(F.max_pool2d(levels[-1], 2)))
        x = levels.pop()
        for wider, up in zip(self.wider, self.up):
            x = up(torch.cat((levels.pop(), wider(x)), 1))
        return self.out(x)


class Sequences(nn.Module):
    """Ten classes by the last state of an LSTM of two layers."""

    def __init__(self, width=512):
        super().__init__()
        self.lstm, self.head = nn.LSTM(width, width, 2, batch_first=True), nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])
