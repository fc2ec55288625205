"""Batches that each network of a stack sees, normalised, flipped and cropped, by (seed, epoch) only.

Images stay bytes (uint8) where they are until their batch comes: rows are gathered as bytes and then converted, which
moves a quarter of the memory. Flips and crops (Bürgin et al., F.3) are drawn for an epoch at once, hence a run resumed
in the middle of an epoch sees what it would have seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lmc_helpers.seeds import torch_generator

__all__ = ()  # what packages of ours lend each other

#: Mean and deviation of each channel, in units of 255.
Normal = tuple[Sequence[float], Sequence[float]]

PADDING = 4  # black pixels on each side of an image before it is cropped


@dataclass(frozen=True, eq=False)
class Views:
    """Flips and shifts of the n examples of N networks.

    Row i, column j of a view is row i + moved_0, column j + moved_1 of the image (flipped first), black outside.
    """

    flipped: Tensor  # (N, n) bool: left and right are exchanged
    moved: Tensor  # (N, n, 2) long, in [−4, 4]

    def part(self, chosen: slice, device: torch.device | str | None = None) -> Views:
        """The views of some of the examples, on a device; where they are, if none is given."""
        return Views(self.flipped[:, chosen].to(device), self.moved[:, chosen].to(device))

    def of(self, images: Tensor) -> Tensor:
        """The views of images (N, n, C, H, W), numbers of any type."""
        N, n, C, H, W = images.shape
        rows = torch.arange(H, device=images.device) + self.moved[..., 0, None]  # (N, n, H)
        columns = torch.arange(W, device=images.device) + self.moved[..., 1, None]  # (N, n, W)
        inside = ((0 <= rows) & (rows < H))[..., :, None] & ((0 <= columns) & (columns < W))[..., None, :]
        columns = torch.where(self.flipped[..., None], W - 1 - columns, columns)
        places = rows.clamp(0, H - 1)[..., :, None] * W + columns.clamp(0, W - 1)[..., None, :]  # (N, n, H, W)
        taken = images.flatten(-2).gather(-1, places.view(N, n, 1, H * W).expand(-1, -1, C, -1))
        return taken.view(images.shape) * inside[:, :, None]


def draw_views(seeds: Sequence[int], n: int, epoch: int, augment: Sequence[str]) -> Views:
    """The views of n examples in one epoch, by (seed, epoch) only; the i-th is that of the i-th example of the epoch.

    Only augmentations named in ``augment`` are applied.
    """
    drawn = {}
    for seed in dict.fromkeys(seeds):
        flip, crop = (torch_generator(seed, f"{word} of the examples in epoch {epoch}") for word in ("flip", "crop"))
        flipped = torch.randint(2, (n,), generator=flip).bool()
        moved = torch.randint(-PADDING, PADDING + 1, (n, 2), generator=crop)
        drawn[seed] = flipped & ("flip" in augment), moved * ("crop" in augment)
    flips, moves = zip(*(drawn[seed] for seed in seeds), strict=True)
    return Views(torch.stack(flips), torch.stack(moves))


def epoch_order(seeds: Sequence[int], n: int, epoch: int) -> Tensor:
    """The order (N, n) in which each network sees n examples in one epoch; it depends on (seed, epoch) only."""
    purpose = f"order of the examples in epoch {epoch}"
    drawn = {seed: torch.randperm(n, generator=torch_generator(seed, purpose)) for seed in dict.fromkeys(seeds)}
    return torch.stack([drawn[seed] for seed in seeds])


class Examples:
    """Examples that N networks share, each in its own order.

    Inputs x are floats (n, …) as they are, or images (n, C, H, W), uint8, with mean and deviation of each channel; or
    (G, n, …), G sets of as many examples, of which networks 0 … N/G − 1 share the first one, and so on. Labels y are
    (n,) or (G, n), from 0 to classes − 1. The networks take as many entries as one of x has, in their own shape.
    """

    def __init__(
        self,
        x: Tensor,
        y: Tensor,
        shape: tuple[int, ...],
        classes: int,
        normal: Normal | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.sets = len(y) if y.ndim == 2 else 1
        if y.ndim == 2 and x.shape[:2] == y.shape:
            x, y = x.flatten(0, 1), y.flatten()
        if x.ndim < 2 or not len(x) or math.prod(x.shape[1:]) != math.prod(shape):
            raise ValueError(f"inputs have shape {tuple(x.shape)}; allowed: (n, …) with the entries of {shape}, n >= 1")
        if y.dtype != torch.long or y.shape != x.shape[:1] or int(y.min()) < 0 or int(y.max()) >= classes:
            raise ValueError(
                f"labels are {y.dtype} of shape {tuple(y.shape)}; allowed: torch.int64, ({len(x)},), 0 to {classes - 1}"
            )
        if (x.dtype == torch.uint8) != (normal is not None) or not (normal or x.is_floating_point()):
            raise ValueError(
                f"inputs are {x.dtype} with normal = {normal}; allowed: torch.uint8 with mean and deviation of each "
                "channel, or floats without"
            )
        self.x, self.y, self.shape, self.dtype = x.contiguous(), y.to(x.device), shape, dtype
        self.affine = None if normal is None else self._affine(*normal)

    def _affine(self, mean: Sequence[float], deviation: Sequence[float]) -> tuple[Tensor, Tensor]:
        """Factor and shift of (x/255 − mean) / deviation, one per channel."""
        m, d = (torch.as_tensor(part, dtype=torch.float64) for part in (mean, deviation))
        channels = self.x.shape[1:2] if self.x.ndim == 4 else ()
        if m.shape != channels or d.shape != channels or not (d > 0).all():
            raise ValueError(
                f"normal = {(mean, deviation)} for images {tuple(self.x.shape)}; allowed: (n, C, H, W), a mean and a "
                "deviation > 0 of each channel"
            )
        factor, shift = (part.to(self.x.device, self.dtype)[:, None, None] for part in (1 / (255 * d), -m / d))
        return factor, shift

    def __len__(self) -> int:
        return len(self.y) // self.sets

    def batches(
        self, seeds: Sequence[int], epoch: int, batch: int, augment: Sequence[str] = (), first: int = 0
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Inputs (N, B, …) and labels (N, B) of one epoch from batch ``first`` on; the last one may be smaller."""
        n = len(self)
        order = epoch_order(seeds, n, epoch).to(self.x.device)  # (N, n)
        order += torch.arange(len(seeds), device=order.device)[:, None] * self.sets // len(seeds) * n  # of its set
        views = draw_views(seeds, n, epoch, augment).part(slice(None), self.x.device) if augment else None
        for start in range(first * batch, n, batch):
            part = slice(start, start + batch)
            chosen = order[:, part]
            yield self.inputs(chosen, views and views.part(part)), self.y[chosen]

    def inputs(self, chosen: Tensor, views: Views | None = None) -> Tensor:
        """Normalised inputs (N, B, …) of examples (N, B), counted through all sets, and how images are seen."""
        rows = self.x.index_select(0, chosen.flatten())  # (N B, …), whole rows, still bytes where images are
        if views is not None:
            rows = views.of(rows.view(*chosen.shape, *rows.shape[1:])).flatten(0, 1)
        values = rows.to(self.dtype)
        if self.affine is not None:
            factor, shift = self.affine
            values = values.mul_(factor).add_(shift)
        return values.view(*chosen.shape, *self.shape)
