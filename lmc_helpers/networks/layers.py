"""Layers of N networks at once for MLPs, parts of modules with convolutions, and the laws of initial weights."""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

__all__ = ()  # what packages of ours lend each other

#: Laws of initial weights: that of torch.nn, He's normal law with zero biases, and a normal law of variance 1/inputs.
Initial = Literal["torch", "he", "normal"]

EPS, MOMENTUM = 1e-5, 0.1  # of norms and running statistics, as in torch.nn


class _Product(torch.autograd.Function):
    """h Wᵀ of each network, with gradients laid out in memory like W.

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
    """h ↦ W h + b for each network: (N or 1, B, d), (N, m, d), (N, m) → (N, B, m)."""
    out = _Product.apply(h.expand(len(W), -1, -1), W)
    if b is None:
        return out
    b = b[:, None].to(out.dtype)
    return out + b if torch.is_grad_enabled() else out.add_(b)  # to fill new memory takes longer than to add


def convolution(before: int, after: int, size: int = 3, stride: int = 1, groups: int | None = 0) -> nn.Sequential:
    """A convolution with biases, or with a group norm if there are groups; None makes every channel a group."""
    made = nn.Sequential()
    made.add_module("_map", nn.Conv2d(before, after, size, stride, size // 2, bias=groups == 0))
    if groups != 0:
        made.add_module("_norm", nn.GroupNorm(groups or after, after))
    return made


def pooled_head(net: nn.Sequential, channels: int, classes: int) -> nn.Sequential:
    """A network with the mean over pixels and the linear map ``head`` behind it."""
    net.add_module("mean", nn.AdaptiveAvgPool2d(1))
    net.add_module("flat", nn.Flatten())
    net.add_module("head", nn.Linear(channels, classes))
    return net


def norm_vectors(h: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    """Layer norm of each network, (N, B, m) with gains (N, m)."""
    return torch.addcmul(shift[:, None], layer_norm(h, h.shape[-1:], eps=EPS), gain[:, None])


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


def check_image(shape: tuple[int, ...], least: int) -> None:
    """Refuse an input shape that is not (channels, height, width) with sides of at least some pixels."""
    if len(shape) != 3 or min(shape[1:]) < least:
        raise ValueError(
            f"input_shape = {shape!r}; allowed: (channels, height, width) with sides of at least {least} pixels"
        )
