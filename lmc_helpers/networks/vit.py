"""Vision transformers (Dosovitskiy et al., 2021) in the size of Bürgin et al., App. G.4."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lmc_helpers._typing import Positive, PositiveNumber, Sizes, Tensors, checked
from lmc_helpers.networks.layers import check_image
from lmc_helpers.networks.model import Model
from lmc_helpers.networks.permutations import Axis, Symmetry

__all__ = ["ViT"]


class _Tokens(nn.Module):
    """The class token in front of the patches (B, d, rows, columns), and the embeddings of all places, (B, T, d)."""

    def __init__(self, T: int, d: int) -> None:
        super().__init__()
        self.register_parameter("class", nn.Parameter(torch.zeros(d)))
        self.places = nn.Parameter(torch.zeros(T, d))

    def forward(self, patches: Tensor) -> Tensor:
        first = getattr(self, "class").expand(len(patches), 1, -1)
        return torch.cat([first, patches.flatten(2).mT], dim=1) + self.places


class _Block(nn.Module):
    """Attention softmax(q kᵀ/√(d/H)) v of H heads and an MLP, each added to the stream."""

    def __init__(self, d: int, H: int, hidden: int) -> None:
        super().__init__()
        self.attention = nn.LayerNorm(d)
        self.query, self.key, self.value = nn.Linear(d, d), nn.Linear(d, d, bias=False), nn.Linear(d, d)
        self.pattern, self.out = nn.Softmax(dim=-1), nn.Linear(d, d)
        self.mlp, self.up, self.hidden = nn.LayerNorm(d), nn.Linear(d, hidden), nn.GELU()
        self.down = nn.Linear(hidden, d)
        self.heads = H

    def forward(self, h: Tensor) -> Tensor:
        r = self.attention(h)
        parts = (self.query, self.key, self.value)
        q, k, v = (part(r).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        mixed = self.pattern(q @ k.mT / math.sqrt(q.shape[-1])) @ v  # (B, H, T, d/H)
        h = h + self.out(mixed.transpose(1, 2).flatten(2))
        return h + self.down(self.hidden(self.up(self.mlp(h))))


class _First(nn.Module):
    """The class token (B, d)."""

    def forward(self, h: Tensor) -> Tensor:
        return h[:, 0]


@checked
@dataclass(frozen=True)
class ViT(Model):
    """A vision transformer as data: patches, blocks of attention and of a hidden layer, and a linear map.

    The residual stream h (T tokens of dimension d) starts with a class token and the linear images of the patches, plus
    embeddings of their places. A block adds to it twice,

        h ← h + attention(norm(h)),      h ← h + down · gelu(up · norm(h)),

    with layer norm (pre-norm), and the norm of the class token goes through the head. App. G.4 states the patch size,
    d, the depth, the heads and the MLP ratio; class token, embeddings, norms and GELU are those of Dosovitskiy et al.
    There is no dropout. Weights, class token and embeddings start as N(0, std²), biases at 0.

    Maps of attention have the heads as an axis of their own: ``k.query.weight`` is (H, d/H, d) and ``k.out.weight``
    (d, H, d/H), hence permuting heads is permuting an axis. Keys have no bias: it adds the same number to all scores of
    a query, which softmax does not see.

    In addition to permutations, each head has a continuous symmetry inside its axis of d/H (any invertible map of
    queries, its inverse transpose of keys, likewise values and outputs), which is not in the list.
    """

    patch: Positive = 4  # side of a patch, d, number of blocks, H, and hidden units of a block's MLP over d
    dimension: Positive = 384
    depth: Positive = 8
    heads: Positive = 6
    ratio: Positive = 4
    std: PositiveNumber = 0.02  # of the initial weights
    input_shape: Sizes = (3, 32, 32)  # channels, height and width of an image; the patch divides both sides
    classes: Positive = 10

    def __post_init__(self) -> None:
        check_image(self.input_shape, self.patch)
        if self.dimension % self.heads or any(side % self.patch for side in self.input_shape[1:]):
            raise ValueError(
                f"heads = {self.heads}, dimension = {self.dimension}, patch = {self.patch}, input_shape = "
                f"{self.input_shape}; allowed: heads that divide the dimension, a patch that divides both sides"
            )

    @property
    def tokens(self) -> int:
        """T: the patches and the class token."""
        return 1 + (self.input_shape[1] // self.patch) * (self.input_shape[2] // self.patch)

    def module(self) -> nn.Module:
        """Patches, tokens, blocks, the norm of the class token and the head."""
        d, net = self.dimension, nn.Sequential()
        net.add_module("patch", nn.Conv2d(self.input_shape[0], d, self.patch, self.patch))
        net.add_module("_tokens", _Tokens(self.tokens, d))
        for k in range(self.depth):
            net.add_module(str(k), _Block(d, self.heads, self.ratio * d))
        net.add_module("first", _First())
        net.add_module("norm", nn.LayerNorm(d))
        net.add_module("head", nn.Linear(d, self.classes))
        return net

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The maps of attention with an axis of the heads."""
        d, H, shapes = self.dimension, self.heads, super().shapes()
        for k in range(self.depth):
            for name in ("query.weight", "query.bias", "key.weight", "value.weight", "value.bias"):
                shapes[f"{k}.{name}"] = (H, d // H, *shapes[f"{k}.{name}"][1:])
            shapes[f"{k}.out.weight"] = (d, H, d // H)
        return shapes

    def widest(self) -> int:
        """Numbers in the largest activation of one input: hidden units, or scores of attention, of all tokens."""
        inside = self.tokens * max(self.ratio * self.dimension, self.heads * self.tokens)
        return max(inside, math.prod(self.input_shape))

    def draw(self, generator: torch.Generator) -> Tensors:
        """Weights, class token and embeddings N(0, std²), biases and shifts 0, gains 1."""
        drawn = {}
        for name, shape in self.shapes().items():
            kind = name.rpartition(".")[2]
            if kind in ("bias", "gain", "shift"):
                drawn[name] = torch.full(shape, float(kind == "gain"), dtype=torch.float64)
            else:
                drawn[name] = self.std * torch.randn(shape, generator=generator, dtype=torch.float64)
        return drawn

    def units(self) -> dict[str, tuple[str, ...]]:
        """The stream, h wherever a norm reads it (the last norm reads the class token only), hidden units and heads.

        Of hidden units these are their values after GELU; of heads, their patterns of attention, each pair of tokens a
        sample: the symmetry inside a head does not change them.
        """
        blocks = range(self.depth)
        found = {"stream": (*(f"{k}.{norm}" for k in blocks for norm in ("attention", "mlp")), "norm")}
        for k in blocks:
            found |= {f"heads {k}": (f"{k}.pattern",), f"hidden {k}": (f"{k}.hidden",)}
        return found

    def symmetry(self) -> Symmetry:
        """Groups ``"stream"``, and ``"heads k"`` and ``"hidden k"`` of each block.

        Layer norm acts on all coordinates of a token alike, hence permutations of the stream commute with it.
        """
        stream = [Axis("patch.weight", 0), Axis("patch.bias", 0), Axis("class", 0), Axis("places", 1)]
        groups: dict[str, tuple[Axis, ...]] = {}
        for k in range(self.depth):
            heads = [
                f"{k}.{name}" for name in ("query.weight", "query.bias", "key.weight", "value.weight", "value.bias")
            ]
            groups[f"heads {k}"] = (*(Axis(name, 0) for name in heads), Axis(f"{k}.out.weight", 1))
            groups[f"hidden {k}"] = (Axis(f"{k}.up.weight", 0), Axis(f"{k}.up.bias", 0), Axis(f"{k}.down.weight", 1))
            stream += [Axis(f"{k}.{name}.weight", 2) for name in ("query", "key", "value")]
            stream += [Axis(f"{k}.up.weight", 1)]
            stream += [Axis(f"{k}.{name}.{kind}", 0) for name in ("out", "down") for kind in ("weight", "bias")]
            stream += [Axis(f"{k}.{name}.{kind}", 0) for name in ("attention", "mlp") for kind in ("gain", "shift")]
        stream += [Axis("norm.gain", 0), Axis("norm.shift", 0), Axis("head.weight", 1)]
        counts = {"heads": self.heads, "hidden": self.ratio * self.dimension}
        sizes = {group: counts[group.split()[0]] for group in groups}
        return Symmetry({"stream": tuple(stream)} | groups, {"stream": self.dimension} | sizes)
