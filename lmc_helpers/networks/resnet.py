"""ResNet20 with group norm and a width multiplier (Bürgin et al., App. F.2)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor, nn

from lmc_helpers._typing import Positive, Sizes, checked
from lmc_helpers.networks.layers import Initial, check_image, convolution, pooled_head
from lmc_helpers.networks.model import Model
from lmc_helpers.networks.permutations import Axis, Symmetry

__all__ = ["ResNet20"]


class _Block(nn.Module):
    """h ↦ relu(h' + norm(outer · relu(norm(inner · h)))), with half the pixels where the channels change."""

    def __init__(self, before: int, after: int, groups: int | None) -> None:
        super().__init__()
        stride = 1 if before == after else 2
        self.inner = convolution(before, after, 3, stride, groups).append(nn.ReLU())
        self.outer = convolution(after, after, groups=groups)
        if before != after:
            self.shortcut = convolution(before, after, 1, stride, groups)

    def forward(self, h: Tensor) -> Tensor:
        direct = self.shortcut(h) if hasattr(self, "shortcut") else h
        return (direct + self.outer(self.inner(h))).relu()


@checked
@dataclass(frozen=True)
class ResNet20(Model):
    """A residual network as data: an initial convolution, three block groups, the mean over pixels, a linear map.

    With ``width=8`` the convolutions have 128 channels first and in block group 1, then 256 and 512. A block is
    h ↦ relu(h' + norm(outer · relu(norm(inner · h)))) with two 3 × 3 convolutions without bias. The first block of
    groups 2 and 3 halves the image, and there h' = norm(shortcut · h) with a 1 × 1 convolution; elsewhere h' = h.

    What App. F.2 leaves open is taken from the code of Lim et al. (2024), whose setup it follows: group norm has *one*
    group, hence all channels of an image are normalised together, and the shortcut has a norm of its own. Permutations
    of channels commute with group norm if it has one group, or if every channel is a group; for groups in between only
    those that keep the groups together do, and :meth:`symmetry` refuses such a network.

    Their ordinary networks start by He's law (``init="he"``; their linear bias by torch's, here zero); in their
    asymmetric ones torch's law for convolutions and linear maps remains.
    """

    width: Positive = 8  # multiplier: 16, 32 and 64 times it are the channels of the block groups
    blocks: Positive = 3  # in each group; 3 make the 20 layers
    #: groups of a group norm, which divide the channels; None makes each channel a group
    norm_groups: Positive | None = 1
    init: Initial = "he"  # as of MLP
    base: Positive = 16  # channels of the first block group at width 1, 16 in the papers
    input_shape: Sizes = (3, 32, 32)  # channels, height and width of an image
    classes: Positive = 10

    def __post_init__(self) -> None:
        check_image(self.input_shape, 4)
        if self.norm_groups is not None and self._channels(1) % self.norm_groups:
            raise ValueError(
                f"norm_groups = {self.norm_groups}; allowed: None, or a divisor of {self._channels(1)} channels"
            )

    def _channels(self, group: int) -> int:
        """Channels of block group 1, 2 or 3."""
        return self.base * self.width * 2 ** (group - 1)

    def _blocks(self) -> Iterator[tuple[int, str, int, int]]:
        """Block group, name, channels before and channels after, for each block; a shortcut where the last differ."""
        for group in (1, 2, 3):
            for block in range(self.blocks):
                before = self._channels(group - 1) if group > 1 and not block else self._channels(group)
                yield group, f"{group}.{block}", before, self._channels(group)

    def module(self) -> nn.Module:
        """Block b of block group g is ``"g.b"``."""
        stem = convolution(self.input_shape[0], self._channels(1), groups=self.norm_groups)
        net = nn.Sequential(OrderedDict(stem=stem.append(nn.ReLU())))
        for group in (1, 2, 3):
            ends = [(before, after) for g, _, before, after in self._blocks() if g == group]
            net.add_module(str(group), nn.Sequential(*(_Block(*each, self.norm_groups) for each in ends)))
        return pooled_head(net, self._channels(3), self.classes)

    def widest(self) -> int:
        """Numbers in the largest activation of one input: channels × pixels of block group 1."""
        return max(self._channels(1), self.input_shape[0]) * self.input_shape[1] * self.input_shape[2]

    def units(self) -> dict[str, tuple[str, ...]]:
        """The inner channels of each block and, of a residual stream, all places where it is read.

        These are after the stem, and after every block of its group (4 in group 1 and 3 in the others, with 3 blocks
        each).
        """
        names = [name for _, name, *_ in self._blocks()]
        streams = {f"stream {g}": ("stem",) * (g == 1) + tuple(n for n in names if n[0] == str(g)) for g in (1, 2, 3)}
        return {f"inner {name}": (f"{name}.inner",) for name in names} | streams

    def symmetry(self) -> Symmetry:
        """A group ``"inner g.b"`` for each block and ``"stream g"`` for the residual stream of each block group."""
        if self.norm_groups not in (None, 1):
            raise ValueError(f"norm_groups = {self.norm_groups} keeps no permutation of all channels; allowed: 1, None")

        def made(name: str) -> list[Axis]:  # the axes of the channels that a map makes
            return [Axis(f"{name}.{kind}", 0) for kind in ("weight", "gain", "shift")]

        groups, sizes = {}, {}
        streams = {f"stream {group}": [] if group > 1 else made("stem") for group in (1, 2, 3)}
        for group, name, before, after in self._blocks():
            own = streams[f"stream {group}"]
            read = own if before == after else streams[f"stream {group - 1}"]
            groups[f"inner {name}"] = (*made(f"{name}.inner"), Axis(f"{name}.outer.weight", 1))
            sizes[f"inner {name}"] = sizes[f"stream {group}"] = after
            read.append(Axis(f"{name}.inner.weight", 1))
            own += made(f"{name}.outer")
            if before != after:
                read.append(Axis(f"{name}.shortcut.weight", 1))
                own += made(f"{name}.shortcut")
        streams["stream 3"].append(Axis("head.weight", 1))
        return Symmetry(groups | {stream: tuple(axes) for stream, axes in streams.items()}, sizes)
