"""Modules of the usual architectures, written as their authors would, for ``benchmarks/peers.py``."""

from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F


class ResNet(nn.Module):
    def __init__(self, blocks, width, expansion):
        super().__init__()
        n, layers = width, [nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        for stage, count in enumerate(blocks):
            for k in range(count):
                inner, stride = width * 2**stage, 2 if stage and not k else 1
                layers.append(Residual(n, inner, inner * expansion, stride, expansion > 1))
                n = inner * expansion
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(n, 10))

    def forward(self, x):
        return self.layers(x)


class Residual(nn.Module):
    def __init__(self, n, inner, out, stride, bottleneck):
        super().__init__()
        sizes = [(n, inner, 1), (inner, inner, 3), (inner, out, 1)] if bottleneck else [(n, inner, 3), (inner, out, 3)]
        layers = []
        for k, (i, o, size) in enumerate(sizes):
            step = stride if k == len(sizes) - 2 else 1
            layers += [nn.Conv2d(i, o, size, step, size // 2, bias=False), nn.BatchNorm2d(o), nn.ReLU()]
        self.branch, self.skip = nn.Sequential(*layers[:-1]), nn.Identity()
        if (n, stride) != (out, 1):
            self.skip = nn.Sequential(nn.Conv2d(n, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.branch(x) + self.skip(x))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.norms = heads, nn.ModuleList([nn.LayerNorm(d), nn.LayerNorm(d)])
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (one.view(B, T, self.heads, -1).transpose(1, 2) for one in self.qkv(self.norms[0](x)).split(d, dim=2))
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(z.transpose(1, 2).reshape(B, T, d))
        return x + self.mlp(self.norms[1](x))


class GPT(nn.Module):
    def __init__(self, d, heads, layers, vocabulary, context=1024):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, d), nn.Embedding(context, d)
        self.blocks, self.norm = nn.Sequential(*(Block(d, heads) for _ in range(layers))), nn.LayerNorm(d)
        self.head = nn.Linear(d, vocabulary, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x):
        z = self.words(x) + self.places(torch.arange(x.shape[1], device=x.device))
        return self.head(self.norm(self.blocks(z)))


class ViT(nn.Module):
    def __init__(self, d, heads, layers):
        super().__init__()
        self.patches, self.head = nn.Conv2d(3, d, 8, 8), nn.Linear(d, 10)
        layer = nn.TransformerEncoderLayer(d, heads, 4 * d, 0.0, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(d), enable_nested_tensor=False)
        for p in self.encoder.parameters():  # layers are copies of one
            nn.init.normal_(p, p.ndim == 1, 0.1)

    def forward(self, x):
        return self.head(self.encoder(self.patches(x).flatten(2).transpose(1, 2)).mean(dim=1))


def mlp(width):
    sizes = [784, width, width, width, 10]
    layers = [layer for m, n in pairwise(sizes) for layer in (nn.Linear(m, n), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def vgg16(width):
    """Channels of stage k are width, 2 width, … 8 width; 64 pixels to a side leave maps of 2 × 2 to flatten."""
    n, layers = 3, []
    for k, count in zip((1, 2, 4, 8, 8), (2, 2, 3, 3, 3), strict=True):
        for _ in range(count):
            layers += [nn.Conv2d(n, k * width, 3, padding=1), nn.ReLU()]
            n = k * width
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(
        *layers, nn.Flatten(), nn.Linear(4 * n, n), nn.ReLU(), nn.Linear(n, n), nn.ReLU(), nn.Linear(n, 10)
    )
