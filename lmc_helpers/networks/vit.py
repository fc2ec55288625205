"""Vision transformers (Dosovitskiy et al., 2021) in the size of Bürgin et al., App. G.4."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import gelu

from lmc_helpers._typing import Positive, PositiveNumber, Sizes, Tensors, checked
from lmc_helpers.networks._layers import attention, attention_pattern, check_image, linear, norm_vectors
from lmc_helpers.networks.model import Model, Record
from lmc_helpers.networks.permutations import Axis, Symmetry

__all__ = ["ViT"]


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
    (d, H, d/H), so that permuting heads is permuting an axis. Keys have no bias: it adds the same number to all scores
    of a query, which softmax does not see.

    Besides permutations, each head has a continuous symmetry inside its axis of d/H (any invertible map of queries, its
    inverse transpose of keys, likewise values and outputs), which is no permutation of the list.
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

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The embedding's tensors, those of block k as ``k.…``, and those of the last norm and the head."""
        d, H, m = self.dimension, self.heads, self.ratio * self.dimension
        shapes: dict[str, tuple[int, ...]] = {
            "patch.weight": (d, self.input_shape[0], self.patch, self.patch),
            "patch.bias": (d,),
            "class": (d,),
            "places": (self.tokens, d),
        }
        for k in range(self.depth):
            block: dict[str, tuple[int, ...]] = {
                "attention.gain": (d,), "attention.shift": (d,),
                "query.weight": (H, d // H, d), "query.bias": (H, d // H),
                "key.weight": (H, d // H, d),
                "value.weight": (H, d // H, d), "value.bias": (H, d // H),
                "out.weight": (d, H, d // H), "out.bias": (d,),
                "mlp.gain": (d,), "mlp.shift": (d,),
                "up.weight": (m, d), "up.bias": (m,),
                "down.weight": (d, m), "down.bias": (d,),
            }  # fmt: skip
            shapes |= {f"{k}.{name}": shape for name, shape in block.items()}
        last: dict[str, tuple[int, ...]] = {"norm.gain": (d,), "norm.shift": (d,)}
        return shapes | last | {"head.weight": (self.classes, d), "head.bias": (self.classes,)}

    def maps(self) -> tuple[str, ...]:
        """The linear maps of App. G.4: patches; queries, keys, values, outputs, up and down of each block; the head."""
        return tuple(name for name in self.shapes() if name.endswith(".weight"))

    def map_shape(self, name: str) -> tuple[int, ...]:
        """The maps of attention as d × d matrices, so that a row is an output and not a head."""
        shape = self.shapes()[name]
        return (self.dimension, self.dimension) if len(shape) == 3 else shape

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

    def _outputs(self, params: Tensors, x: Tensor, record: Record | None = None, training: bool = False) -> Tensor:
        """Recorded are activations of the stream, of the hidden units of each block's MLP and of its heads.

        Of the stream, h wherever a norm reads it (the last norm reads the class token only); of hidden units, their
        values after GELU; of heads, their patterns of attention, each pair of tokens a sample: the symmetry inside a
        head does not change them.
        """
        N, p = len(params["class"]), params
        stream: list[Tensor] = []

        def read(h: Tensor, name: str) -> Tensor:
            if record is not None:
                stream.append(h.detach().flatten(1, 2))
            return norm_vectors(h, p[f"{name}.gain"], p[f"{name}.shift"])

        patches = linear(self._patches(x), p["patch.weight"].flatten(2), p["patch.bias"])
        first = p["class"][:, None, None].expand(N, patches.shape[1], 1, -1)
        h = torch.cat([first, patches], dim=2) + p["places"][:, None]  # (N, B, T, d)
        for k in range(self.depth):
            r = read(h, f"{k}.attention")
            q, key, v = (self._heads(r, p, f"{k}.{name}") for name in ("query", "key", "value"))  # (N, B, H, T, d/H)
            if record is not None:
                pattern = attention_pattern(q.detach(), key.detach())  # (N, B, H, T, T)
                record[f"heads {k}"] = pattern.permute(0, 1, 3, 4, 2).flatten(1, 3)
            mixed = attention(q, key, v).transpose(2, 3).flatten(3)  # (N, B, T, d)
            h = h + linear(mixed, p[f"{k}.out.weight"].flatten(2), p[f"{k}.out.bias"])
            hidden = gelu(linear(read(h, f"{k}.mlp"), p[f"{k}.up.weight"], p[f"{k}.up.bias"]))
            if record is not None:
                record[f"hidden {k}"] = hidden.detach().flatten(1, 2)
            h = h + linear(hidden, p[f"{k}.down.weight"], p[f"{k}.down.bias"])
        last = read(h[:, :, :1], "norm")[:, :, 0]  # (N, B, d)
        if record is not None:
            record["stream"] = torch.cat(stream, dim=1)
        return linear(last, p["head.weight"], p["head.bias"])

    def _patches(self, x: Tensor) -> Tensor:
        """Images (N, B, C, H, W) as patches (N, B, T − 1, C·patch²), in rows."""
        cut = x.unflatten(4, (-1, self.patch)).unflatten(3, (-1, self.patch))  # (N, B, C, rows, patch, columns, patch)
        return cut.permute(0, 1, 3, 5, 2, 4, 6).flatten(4).flatten(2, 3)

    def _heads(self, r: Tensor, params: Tensors, name: str) -> Tensor:
        """A map of the stream (N, B, T, d) into the heads, (N, B, H, T, d/H)."""
        bias = params.get(f"{name}.bias")
        out = linear(r, params[f"{name}.weight"].flatten(1, 2), None if bias is None else bias.flatten(1))
        return out.unflatten(-1, (self.heads, -1)).transpose(2, 3)

    def symmetry(self) -> Symmetry:
        """Groups ``"stream"``, and ``"heads k"`` and ``"hidden k"`` of each block.

        Layer norm acts on all coordinates of a token alike, so that permutations of the stream commute with it.
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
