"""Plain convolutional networks, after Fig. 15 of Zhan, Li & Wu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import max_pool2d

from lmc_helpers._typing import Natural, Positive, Sizes, Tensors, checked
from lmc_helpers.networks._layers import (
    Initial,
    as_samples,
    check_image,
    convolution,
    draw_by_law,
    keep,
    norm_channels,
    pooled_head,
    side_by_side,
)
from lmc_helpers.networks.model import Model, Record
from lmc_helpers.networks.permutations import Axis, Symmetry

__all__ = ["CNN"]


@checked
@dataclass(frozen=True)
class CNN(Model):
    """Convolutions 3 × 3 with ReLU, max pooling between them, the mean over pixels, and a linear map.

    Fig. 15 of Zhan, Li & Wu says "CNN, with depth 16, optimizer Adam and learning rate 0.005" and no more. We choose,
    after VGG: depth counts the maps with weights, here 15 convolutions and the linear one; every convolution has the
    same number of channels, the *width* of the figure; a 2 × 2 max pooling ends each of ``pools`` equal parts
    (32 → 16 → 8 → 4 pixels); the mean over the remaining pixels takes the place of VGG's hidden linear layers; weights
    start by He's law, the paper's choice for its MLPs (App. B.1). There is no norm, since the paper names none.
    """

    width: Positive = 64
    depth: Positive = 16
    pools: Natural = 3
    #: "layer": group norm with one group before each ReLU, in the place of biases
    norm: Literal["none", "layer"] = "none"
    init: Initial = "he"  # as of MLP
    input_shape: Sizes = (3, 32, 32)  # channels, height and width of an image; a side has at least 2^pools pixels
    classes: Positive = 10

    def __post_init__(self) -> None:
        if self.depth < 2 or self.pools >= self.depth:
            raise ValueError(f"depth = {self.depth}, pools = {self.pools}; allowed: depth >= 2, 0 <= pools < depth")
        check_image(self.input_shape, 2**self.pools)

    @property
    def convolutions(self) -> int:
        """The number of convolutions, depth − 1."""
        return self.depth - 1

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """For convolution k ``k.weight``, with ``k.bias``, or with ``k.gain`` and ``k.shift``; then the head's."""
        shapes: dict[str, tuple[int, ...]] = {}
        for k in range(self.convolutions):
            shapes[f"{k}.weight"] = (self.width, self.width if k else self.input_shape[0], 3, 3)
            for name in ("bias",) if self.norm == "none" else ("gain", "shift"):
                shapes[f"{k}.{name}"] = (self.width,)
        return shapes | {"head.weight": (self.classes, self.width), "head.bias": (self.classes,)}

    def maps(self) -> tuple[str, ...]:
        """All convolutions and the head."""
        return tuple(name for name in self.shapes() if name.endswith(".weight"))

    def widest(self) -> int:
        """Numbers in the largest activation of one input: width × pixels."""
        return max(self.width, self.input_shape[0]) * self.input_shape[1] * self.input_shape[2]

    def draw(self, generator: torch.Generator) -> Tensors:
        """Weights and biases by the law ``init``, gains 1, shifts 0."""
        return draw_by_law(self.shapes(), self.init, generator)

    def _outputs(self, params: Tensors, x: Tensor, record: Record | None = None, training: bool = False) -> Tensor:
        """Recorded are the channels after each ReLU, before a pooling."""
        N, L = len(params["head.weight"]), self.convolutions
        ends = {(j + 1) * L // self.pools - 1 for j in range(self.pools)}  # convolutions before a pooling
        h = side_by_side(x)  # (B, N·C, H, W)
        for k in range(L):
            h = convolution(h, params[f"{k}.weight"], params.get(f"{k}.bias"))
            if self.norm == "layer":
                h = norm_channels(h, params[f"{k}.gain"], params[f"{k}.shift"])
            keep(record, f"{k}.bias" if self.norm == "none" else f"{k}.shift", h, N)
            h = h.relu()
            if record is not None:
                record[str(k)] = as_samples(h, N)
            h = max_pool2d(h, 2) if k in ends else h
        return pooled_head(params, h)

    def symmetry(self) -> Symmetry:
        """A group ``"k"`` for the channels of each convolution."""
        L, groups = self.convolutions, {}
        for k in range(L):
            rows = [Axis(name, 0) for name in self.shapes() if name.split(".")[0] == str(k)]
            groups[str(k)] = (*rows, Axis(f"{k + 1}.weight" if k < L - 1 else "head.weight", 1))
        return Symmetry(groups, dict.fromkeys(groups, self.width))
