"""Layers of N networks at once: linear maps, convolutions, norms, attention, and the laws of their initial weights.

Vectors of N networks are (N, B, …, m). Images are (B, N·C, H, W), the channels of the networks side by side, so that a
layer of all networks is one grouped convolution or group norm of torch. On a CPU that took from a half (128 channels)
to a tenth (8 channels) of the time of ``unfold`` with a batched product, and about that of a loop over the networks.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import conv2d, group_norm, layer_norm, scaled_dot_product_attention

#: Laws of initial weights: that of torch.nn, He's normal law with zero biases, and a normal law of variance 1/inputs.
Initial = Literal["torch", "he", "normal"]

EPS, MOMENTUM = 1e-5, 0.1  # of norms and running statistics, as in torch.nn


class _Product(torch.autograd.Function):
    """h Wᵀ of each network, with gradients that lie in memory as W does.

    That of ``torch.bmm`` in W is transposed, and to copy it into the order of W takes about as long as the products
    where W is larger than h: on one core a training step at 512 units and batches of 64 took 1.6 times as long.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(h: Tensor, W: Tensor) -> Tensor:
        """(N, B, d) and (N, m, d) → (N, B, m)."""
        return torch.bmm(h, W.mT)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        """Keep h and W for both derivatives."""
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """The slopes in h, (N, B, d), and W, (N, m, d); under autocast all products are of its type."""
        h, W = ctx.saved_tensors
        of_h, of_W = ctx.needs_input_grad
        return (
            torch.bmm(slope, W.to(slope.dtype)).to(h.dtype) if of_h else None,
            torch.bmm(slope.mT, h.to(slope.dtype)).to(W.dtype) if of_W else None,
        )

    @staticmethod
    def jvp(ctx: Any, of_h: Tensor, of_W: Tensor) -> Tensor:
        """The derivative in a direction."""
        h, W = ctx.saved_tensors
        return torch.bmm(of_h, W.mT) + torch.bmm(h, of_W.mT)


def linear(h: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
    """h ↦ W h + b for each network: (N or 1, …, d), (N, m, d), (N, m) → (N, …, m)."""
    N, between = len(W), h.shape[1:-1]
    out = _Product.apply(h.flatten(1, -2).expand(N, -1, -1), W)  # (N, samples, m)
    if b is not None:
        b = b[:, None].to(out.dtype)
        out = out + b if torch.is_grad_enabled() else out.add_(b)  # to fill new memory takes longer than to add
    return out.view(N, *between, W.shape[1])


def side_by_side(x: Tensor) -> Tensor:
    """Images (N, B, C, H, W) with the channels of the networks side by side, (B, N·C, H, W); shared ones have N = 1."""
    return x.transpose(0, 1).flatten(1, 2)


def convolution(h: Tensor, W: Tensor, b: Tensor | None = None, stride: int = 1, padding: int = 1) -> Tensor:
    """The convolution of each network: (B, N·C or C, H, W), (N, C', C, k, k), (N, C') → (B, N·C', H', W')."""
    groups = h.shape[1] // W.shape[2]  # N, or 1 where all networks read the same images
    return conv2d(h, W.flatten(0, 1), None if b is None else b.flatten(), stride, padding, groups=groups)


def norm_channels(h: Tensor, gain: Tensor, shift: Tensor, groups: int | None = 1) -> Tensor:
    """Group norm of each network, (B, N·C, H, W) with gains (N, C); without groups every channel is one of its own."""
    N, C = gain.shape
    return group_norm(h, N * (C if groups is None else groups), gain.flatten(), shift.flatten(), EPS)


def norm_vectors(h: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    """Layer norm of each network, (N, B, T, d) with gains (N, d)."""
    return torch.addcmul(shift[:, None, None], layer_norm(h, h.shape[-1:], eps=EPS), gain[:, None, None])


def norm_units(
    h: Tensor, gain: Tensor, shift: Tensor, running: tuple[Tensor, Tensor] | None = None, update: bool = False
) -> Tensor:
    """Batch norm of each network, (N, B, m), with the mean and variance of each unit over the samples.

    ``running`` means and variances (N, m) take their place; with ``update`` they are moved by a tenth towards them, in
    place. The variance of B samples that enters is the unbiased one, as in torch.nn.
    """
    if running is not None and not update:
        mean, variance = (part[:, None] for part in running)
    else:
        variance, mean = torch.var_mean(h, dim=1, correction=0, keepdim=True)
    if running is not None and update:
        B = h.shape[1]
        with torch.no_grad():
            running[0].lerp_(mean[:, 0], MOMENTUM)
            running[1].lerp_(variance[:, 0] * (B / (B - 1)), MOMENTUM)
    return torch.addcmul(shift[:, None], (h - mean) * (variance + EPS).rsqrt(), gain[:, None])


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention softmax(q kᵀ/√d) v of H heads, (N, B, H, T, d) each."""
    out = scaled_dot_product_attention(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1))
    return out.unflatten(0, q.shape[:2])


def attention_pattern(q: Tensor, k: Tensor) -> Tensor:
    """The weights softmax(q kᵀ/√d) of attention, (N, B, H, T, T)."""
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)


def as_samples(h: Tensor, N: int) -> Tensor:
    """Images (B, N·C, H, W) with every pixel as a sample, (N, B·H·W, C), without gradient."""
    return h.detach().unflatten(1, (N, -1)).permute(1, 0, 3, 4, 2).flatten(1, 3)


def keep(record: dict | None, name: str, z: Tensor, N: int = 0) -> None:
    """Activations before a nonlinearity where a record asks for them by name: (N, B, m), or of images with an N."""
    if record is not None and name in record:
        record[name] = as_samples(z, N) if N else z.detach()


def initial(shape: tuple[int, ...], fan_in: int, law: Initial, generator: torch.Generator) -> Tensor:
    """Initial values of a weight, or of a bias (one axis), of a map with ``fan_in`` inputs, float64.

    ``"torch"``: uniform in ±1/√fan_in, the law of ``nn.Linear`` and ``nn.Conv2d``; ``"he"``: weights are normal with
    variance 2/fan_in (Kaiming He's law for ReLU) and biases zero; ``"normal"``: weights are normal with variance
    1/fan_in, biases those of ``"torch"``.
    """
    if law == "torch" or (law == "normal" and len(shape) == 1):
        uniform = torch.rand(shape, generator=generator, dtype=torch.float64)
        return (2 * uniform - 1) / math.sqrt(fan_in)
    if len(shape) == 1:
        return torch.zeros(shape, dtype=torch.float64)
    variance = {"he": 2, "normal": 1}[law] / fan_in
    return torch.randn(shape, generator=generator, dtype=torch.float64) * math.sqrt(variance)


def draw_by_law(shapes: dict[str, tuple[int, ...]], law: Initial, generator: torch.Generator) -> dict[str, Tensor]:
    """Initial values of all tensors ``map.kind`` of a network, in the order of their shapes, float64.

    Weights are (outputs, inputs, kernel …); gains and variances are 1, shifts and means 0.
    """
    drawn = {}
    for name, shape in shapes.items():
        layer, _, kind = name.rpartition(".")
        if kind in ("gain", "shift", "mean", "variance"):
            drawn[name] = torch.full(shape, float(kind in ("gain", "variance")), dtype=torch.float64)
        else:
            drawn[name] = initial(shape, math.prod(shapes[f"{layer}.weight"][1:]), law, generator)
    return drawn


def pooled_head(params: dict[str, Tensor], h: Tensor) -> Tensor:
    """The mean over pixels (B, N·C, H, W) and the linear map ``head`` of each network, (N, B, classes)."""
    W = params["head.weight"]
    mean = h.mean(dim=(2, 3)).unflatten(1, (len(W), -1)).transpose(0, 1)  # (N, B, C)
    return linear(mean, W, params["head.bias"])


def check_image(shape: tuple[int, ...], least: int) -> None:
    """Refuse an input shape that is not (channels, height, width) with sides of at least some pixels."""
    if len(shape) != 3 or min(shape[1:]) < least:
        raise ValueError(
            f"input_shape = {shape!r}; allowed: (channels, height, width) with sides of at least {least} pixels"
        )
