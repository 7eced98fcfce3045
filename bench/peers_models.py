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
    """4 layers of width 256 with 4 heads over 128 of 256 tokens; logits of all positions, one below the other."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(256, 256), nn.Embedding(128, 256)
        layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, activation=F.gelu, batch_first=True,
                                           norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 4, norm=nn.LayerNorm(256))
        self.head = nn.Linear(256, 256)
        self.register_buffer("later", torch.ones(128, 128, dtype=torch.bool).triu(1))

    def forward(self, x):
        embedded = self.tokens(x) + self.positions.weight
        return self.head(self.blocks(embedded, self.later)).flatten(0, 1)
