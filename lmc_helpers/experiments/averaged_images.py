"""Networks that see images at a lower resolution: means over squares of pixels, then any architecture."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import avg_pool2d

from lmc_helpers import expect
from lmc_helpers.networks.model import Model, Record, Tensors
from lmc_helpers.networks.permutations import Symmetry

__all__ = ["Averaged"]


@dataclass(frozen=True)
class Averaged(Model):
    """A model of images that are averaged over squares of pixels first; parameters and symmetry are those of the model.

    Parameters
    ----------
    model : Model
        of the small images.
    side : int
        of a square, in pixels; what is left over at the right and at the bottom is cut off.
    input_shape : tuple of int
        channels, height and width of a large image.

    Examples
    --------
    >>> from lmc_helpers.networks.cnn import CNN
    >>> model = Averaged(CNN(width=2, input_shape=(1, 14, 14)), 2, (1, 28, 28))
    >>> model.initial([1]).forward(torch.ones(5, 1, 28, 28)).shape
    torch.Size([1, 5, 10])
    """

    model: Model
    side: int = 2
    input_shape: tuple[int, ...] = (1, 28, 28)

    def __post_init__(self) -> None:
        C, H, W = self.input_shape
        shape = (C, H // max(self.side, 1), W // max(self.side, 1))
        if self.side < 1 or shape != self.model.input_shape:
            raise ValueError(
                f"side = {self.side} of {self.input_shape} gives {shape}; allowed: {self.model.input_shape}"
            )

    @property
    def classes(self) -> int:
        """Number of outputs."""
        return self.model.classes

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of the model."""
        return self.model.shapes()

    def maps(self) -> tuple[str, ...]:
        """Those of the model."""
        return self.model.maps()

    def map_shape(self, name: str) -> tuple[int, ...]:
        """That of the model."""
        return self.model.map_shape(name)

    def widest(self) -> int:
        """That of the model."""
        return self.model.widest()

    def draw(self, generator: torch.Generator) -> Tensors:
        """Initial values of the model."""
        return self.model.draw(generator)

    def symmetry(self) -> Symmetry:
        """That of the model."""
        return self.model.symmetry()

    def averaged(self, x: torch.Tensor) -> torch.Tensor:
        """Images (…, C, H, W) as means over squares."""
        expect.tensor(x, "x", "... n C H W", finite=False, held=False)
        if x.shape[-3:] != (self.input_shape[0], self.input_shape[1], self.input_shape[2]):
            raise ValueError(f"x has shape {tuple(x.shape)}; allowed: (…, n, C, H, W) with images {self.input_shape}")
        return avg_pool2d(x.flatten(0, -4), self.side).unflatten(0, x.shape[:-3])

    def forward(self, params: Tensors, x: torch.Tensor, record: Record | None = None) -> torch.Tensor:
        """Outputs of the model on the averaged images."""
        return self.model.forward(params, self.averaged(x), record)
