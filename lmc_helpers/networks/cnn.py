"""Plain convolutional networks, after Fig. 15 of Zhan, Li & Wu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import nn

from lmc_helpers._typing import Natural, Positive, Sizes, checked
from lmc_helpers.networks.layers import Initial, check_image, convolution, pooled_head
from lmc_helpers.networks.model import Model

__all__ = ["CNN"]


@checked
@dataclass(frozen=True)
class CNN(Model):
    """Convolutions 3 × 3 with ReLU, max pooling between them, the mean over pixels, and a linear map.

    Fig. 15 of Zhan, Li & Wu says "CNN, with depth 16, optimizer Adam and learning rate 0.005" and no more. We choose,
    after VGG: depth counts the maps with weights, here 15 convolutions and the linear one; every convolution has the
    same number of channels, the *width* of the figure; a 2 × 2 max pooling ends each of ``pools`` equal parts
    (32 → 16 → 8 → 4 pixels); the mean over the remaining pixels replaces VGG's hidden linear layers; weights start by
    He's law, the paper's choice for its MLPs (App. B.1). There is no norm, since the paper names none.
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

    def module(self) -> nn.Module:
        """Layer k makes the channels of group ``"k"``, before a pooling."""
        L, net, groups = self.depth - 1, nn.Sequential(), 1 if self.norm == "layer" else 0
        ends = {(j + 1) * L // self.pools - 1 for j in range(self.pools)}  # convolutions before a pooling
        for k in range(L):
            layer = convolution(self.width if k else self.input_shape[0], self.width, groups=groups)
            net.add_module(str(k), layer.append(nn.ReLU()))
            if k in ends:
                net.add_module(f"pool {k}", nn.MaxPool2d(2))
        return pooled_head(net, self.width, self.classes)

    def widest(self) -> int:
        """Numbers in the largest activation of one input: width × pixels."""
        return max(self.width, self.input_shape[0]) * self.input_shape[1] * self.input_shape[2]
