"""Layers of N networks at once: linear maps, convolutions, norms, attention, and the laws of their initial weights.

Vectors of N networks are (N, B, …, m). Images are (B, N·C, H, W), the channels of the networks side by side, so that a
layer of all networks is one grouped convolution or group norm of torch. On a CPU that took from a half (128 channels)
to a tenth (8 channels) of the time of ``unfold`` with a batched product, and about that of a loop over the networks.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn.functional import conv2d, group_norm, layer_norm, scaled_dot_product_attention

from lmc_helpers import expect

__all__ = [
    "INITIAL",
    "as_samples",
    "attention",
    "attention_pattern",
    "check_choice",
    "check_counts",
    "check_image",
    "convolution",
    "draw_by_law",
    "initial",
    "linear",
    "norm_channels",
    "norm_units",
    "norm_vectors",
    "pooled_head",
    "side_by_side",
]

#: Laws of initial weights: that of torch.nn, He's normal law with zero biases, and a normal law of variance 1/inputs.
INITIAL = ("torch", "he", "normal")

EPS, MOMENTUM = 1e-5, 0.1  # of norms and running statistics, as in torch.nn


class _Product(torch.autograd.Function):
    """h Wᵀ of each network, with gradients that lie in memory as W does.

    That of ``torch.bmm`` in W is transposed, and to copy it into the order of W takes about as long as the products
    where W is larger than h: on one core a training step at 512 units and batches of 64 took 1.6 times as long.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(h: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
        """(N, B, d) and (N, m, d) → (N, B, m)."""
        return torch.bmm(h, W.mT)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[torch.Tensor, torch.Tensor], output: torch.Tensor) -> None:
        """Keep h and W for both derivatives."""
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """The slopes in h, (N, B, d), and W, (N, m, d); under autocast all products are of its type."""
        h, W = ctx.saved_tensors
        of_h, of_W = ctx.needs_input_grad
        return (
            torch.bmm(slope, W.to(slope.dtype)).to(h.dtype) if of_h else None,
            torch.bmm(slope.mT, h.to(slope.dtype)).to(W.dtype) if of_W else None,
        )

    @staticmethod
    def jvp(ctx: Any, of_h: torch.Tensor, of_W: torch.Tensor) -> torch.Tensor:
        """The derivative in a direction."""
        h, W = ctx.saved_tensors
        return torch.bmm(of_h, W.mT) + torch.bmm(h, of_W.mT)


def linear(h: torch.Tensor, W: torch.Tensor, b: torch.Tensor | None) -> torch.Tensor:
    """h ↦ W h + b for each network.

    Parameters
    ----------
    h : torch.Tensor
        (N, …, d), or (1, …, d) for all networks.
    W, b : torch.Tensor
        (N, m, d) and (N, m), or no b.

    Returns
    -------
    torch.Tensor
        (N, …, m).

    Examples
    --------
    >>> linear(torch.ones(1, 4, 3), torch.ones(2, 5, 3), torch.ones(2, 5)).unique().item()
    4.0
    """
    N, between = len(W), h.shape[1:-1]
    out = _Product.apply(h.flatten(1, -2).expand(N, -1, -1), W)  # (N, samples, m)
    if b is not None:
        out = out + b[:, None].to(out.dtype)
    return out.view(N, *between, -1)


def side_by_side(x: torch.Tensor) -> torch.Tensor:
    """Images (N, B, C, H, W) with the channels of the networks side by side, (B, N·C, H, W); shared ones have N = 1.

    Examples
    --------
    >>> side_by_side(torch.ones(2, 5, 3, 8, 8)).shape
    torch.Size([5, 6, 8, 8])
    """
    return x.transpose(0, 1).flatten(1, 2)


def convolution(
    h: torch.Tensor, W: torch.Tensor, b: torch.Tensor | None = None, stride: int = 1, padding: int = 1
) -> torch.Tensor:
    """The convolution of each network.

    Parameters
    ----------
    h : torch.Tensor
        (B, N·C, H, W), or (B, C, H, W) for all networks.
    W : torch.Tensor
        (N, C', C, k, k).
    b : torch.Tensor, optional
        (N, C').
    stride, padding : int
        as in torch.

    Returns
    -------
    torch.Tensor
        (B, N·C', H', W').

    Examples
    --------
    >>> convolution(torch.ones(5, 3, 8, 8), torch.ones(2, 4, 3, 3, 3), stride=2).shape
    torch.Size([5, 8, 4, 4])
    """
    groups = h.shape[1] // W.shape[2]  # N, or 1 where all networks read the same images
    return conv2d(h, W.flatten(0, 1), None if b is None else b.flatten(), stride, padding, groups=groups)


def norm_channels(h: torch.Tensor, gain: torch.Tensor, shift: torch.Tensor, groups: int | None = 1) -> torch.Tensor:
    """Group norm of each network.

    Parameters
    ----------
    h : torch.Tensor
        (B, N·C, H, W).
    gain, shift : torch.Tensor
        (N, C).
    groups : int, optional
        of the channels of a network; None makes every channel its own group (instance norm).

    Returns
    -------
    torch.Tensor
        (B, N·C, H, W).

    Examples
    --------
    >>> h = torch.arange(8.0).view(1, 4, 1, 2)
    >>> norm_channels(h, torch.ones(2, 2), torch.zeros(2, 2)).flatten()[:4]
    tensor([-1.3416, -0.4472,  0.4472,  1.3416])
    """
    N, C = gain.shape
    return group_norm(h, N * (C if groups is None else groups), gain.flatten(), shift.flatten(), EPS)


def norm_vectors(h: torch.Tensor, gain: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    """Layer norm of each network.

    Parameters
    ----------
    h : torch.Tensor
        (N, B, T, d).
    gain, shift : torch.Tensor
        (N, d).

    Returns
    -------
    torch.Tensor
        (N, B, T, d).

    Examples
    --------
    >>> h = torch.tensor([1.0, 3.0]).view(1, 1, 1, 2)
    >>> norm_vectors(h, torch.ones(1, 2), torch.ones(1, 2)).round(decimals=3).flatten().tolist()
    [0.0, 2.0]
    """
    return torch.addcmul(shift[:, None, None], layer_norm(h, h.shape[-1:], eps=EPS), gain[:, None, None])


def norm_units(
    h: torch.Tensor,
    gain: torch.Tensor,
    shift: torch.Tensor,
    running: tuple[torch.Tensor, torch.Tensor] | None = None,
    update: bool = False,
) -> torch.Tensor:
    """Batch norm of each network, with the mean and variance of each unit over the samples that are given.

    Parameters
    ----------
    h : torch.Tensor
        (N, B, m).
    gain, shift : torch.Tensor
        (N, m).
    running : (torch.Tensor, torch.Tensor), optional
        means and variances (N, m) to use in place of those of the samples.
    update : bool
        use those of the samples, and move the running ones by a tenth towards them, in place. The variance of B samples
        that enters is the unbiased one, as in torch.nn.

    Returns
    -------
    torch.Tensor
        (N, B, m).

    Examples
    --------
    >>> h = torch.tensor([1.0, 3.0]).view(1, 2, 1)
    >>> norm_units(h, torch.ones(1, 1), torch.ones(1, 1)).round(decimals=3).flatten().tolist()
    [0.0, 2.0]
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


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Attention softmax(q kᵀ/√d) v.

    Parameters
    ----------
    q, k, v : torch.Tensor
        (N, B, H, T, d), H heads.

    Returns
    -------
    torch.Tensor
        (N, B, H, T, d).

    Examples
    --------
    >>> q = torch.zeros(1, 1, 1, 2, 3)
    >>> attention(q, q, torch.tensor([[0.0], [2.0]]).expand(1, 1, 1, 2, 1)).flatten().tolist()
    [1.0, 1.0]
    """
    out = scaled_dot_product_attention(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1))
    return out.unflatten(0, q.shape[:2])


def attention_pattern(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """The weights softmax(q kᵀ/√d) of attention, (N, B, H, T, T).

    Examples
    --------
    >>> attention_pattern(torch.zeros(1, 1, 1, 2, 3), torch.zeros(1, 1, 1, 2, 3)).unique().item()
    0.5
    """
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)


def as_samples(h: torch.Tensor, N: int) -> torch.Tensor:
    """Images of N networks with every pixel as a sample.

    Parameters
    ----------
    h : torch.Tensor
        (B, N·C, H, W).
    N : int
        number of networks.

    Returns
    -------
    torch.Tensor
        (N, B·H·W, C), without gradient.

    Examples
    --------
    >>> as_samples(torch.ones(5, 6, 8, 8), N=2).shape
    torch.Size([2, 320, 3])
    """
    return h.detach().unflatten(1, (N, -1)).permute(1, 0, 3, 4, 2).flatten(1, 3)


def initial(shape: tuple[int, ...], fan_in: int, law: str, generator: torch.Generator) -> torch.Tensor:
    """Initial values of a weight or a bias of a map with ``fan_in`` inputs.

    Parameters
    ----------
    shape : tuple of int
        of the tensor; one axis is that of a bias.
    fan_in : int
        inputs of an output unit, kernel places included.
    law : str
        ``"torch"``: uniform in ±1/√fan_in, the law of ``nn.Linear`` and ``nn.Conv2d``; ``"he"``: weights are normal
        with variance 2/fan_in (Kaiming He's law for ReLU) and biases zero; ``"normal"``: weights are normal with
        variance 1/fan_in, biases those of ``"torch"``.
    generator : torch.Generator
        on the CPU.

    Returns
    -------
    torch.Tensor
        float64.

    Examples
    --------
    >>> W = initial((50, 40), 40, "he", torch.Generator().manual_seed(1))
    >>> round(W.std().item() ** 2 * 40, 1)
    2.0
    """
    expect.sizes(shape, "shape")
    expect.integer(fan_in, "fan_in", least=1)
    expect.one_of(law, "law", INITIAL)
    expect.generator(generator, "generator")
    if law == "torch" or (law == "normal" and len(shape) == 1):
        uniform = torch.rand(shape, generator=generator, dtype=torch.float64)
        return (2 * uniform - 1) / math.sqrt(fan_in)
    if len(shape) == 1:
        return torch.zeros(shape, dtype=torch.float64)
    variance = {"he": 2, "normal": 1}[law] / fan_in
    return torch.randn(shape, generator=generator, dtype=torch.float64) * math.sqrt(variance)


def draw_by_law(shapes: dict[str, tuple[int, ...]], law: str, generator: torch.Generator) -> dict[str, torch.Tensor]:
    """Initial values of all tensors of a network whose weights are (outputs, inputs, kernel …).

    Parameters
    ----------
    shapes : dict
        name → shape, the name ``map.kind`` with the kind weight, bias, gain, shift, mean or variance.
    law : str
        of weights and biases, as in :func:`initial`; gains and variances are 1, shifts and means 0.
    generator : torch.Generator
        on the CPU.

    Returns
    -------
    dict of torch.Tensor
        float64, drawn in the order of ``shapes``.

    Examples
    --------
    >>> drawn = draw_by_law({"0.weight": (2, 4), "0.bias": (2,), "0.gain": (2,)}, "he", torch.Generator())
    >>> drawn["0.weight"].shape, drawn["0.bias"].tolist(), drawn["0.gain"].tolist()
    (torch.Size([2, 4]), [0.0, 0.0], [1.0, 1.0])
    """
    if not isinstance(shapes, dict):
        raise ValueError(f"shapes is {type(shapes).__name__}; allowed: shapes by their names")
    expect.one_of(law, "law", INITIAL)
    expect.generator(generator, "generator")
    drawn = {}
    for name, shape in shapes.items():
        layer, _, kind = name.rpartition(".")
        if kind in ("gain", "shift", "mean", "variance"):
            drawn[name] = torch.full(shape, float(kind in ("gain", "variance")), dtype=torch.float64)
        else:
            drawn[name] = initial(shape, math.prod(shapes[f"{layer}.weight"][1:]), law, generator)
    return drawn


def pooled_head(params: dict[str, torch.Tensor], h: torch.Tensor) -> torch.Tensor:
    """The mean over pixels and the linear map ``head`` of each network.

    Parameters
    ----------
    params : dict of torch.Tensor
        with ``head.weight`` (N, classes, C) and ``head.bias`` (N, classes).
    h : torch.Tensor
        (B, N·C, H, W).

    Returns
    -------
    torch.Tensor
        (N, B, classes).

    Examples
    --------
    >>> params = {"head.weight": torch.ones(2, 7, 3), "head.bias": torch.zeros(2, 7)}
    >>> pooled_head(params, torch.ones(5, 6, 8, 8)).shape
    torch.Size([2, 5, 7])
    """
    W = params["head.weight"]
    mean = h.mean(dim=(2, 3)).unflatten(1, (len(W), -1)).transpose(0, 1)  # (N, B, C)
    return linear(mean, W, params["head.bias"])


def check_image(shape: tuple[int, ...], least: int) -> None:
    """Refuse an input shape that is not (channels, height, width) with sides of at least some pixels.

    Examples
    --------
    >>> check_image((3, 4, 4), 8)
    Traceback (most recent call last):
    ValueError: input_shape = (3, 4, 4); allowed: (channels, height, width) with sides of at least 8 pixels
    """
    whole = isinstance(shape, tuple) and len(shape) == 3 and all(type(n) is int and n >= 1 for n in shape)
    if not whole or min(shape[1:]) < least:
        raise ValueError(
            f"input_shape = {shape!r}; allowed: (channels, height, width) with sides of at least {least} pixels"
        )


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is none of the allowed ones.

    Examples
    --------
    >>> check_choice("norm", "batch", ("none", "layer"))
    Traceback (most recent call last):
    ValueError: norm = 'batch' is unknown; allowed: none, layer
    """
    if value not in allowed:
        raise ValueError(f"{name} = {value!r} is unknown; allowed: {', '.join(allowed)}")


def check_counts(**values: int) -> None:
    """Refuse a number that is no integer >= 1.

    Examples
    --------
    >>> check_counts(width=0)
    Traceback (most recent call last):
    ValueError: width = 0; allowed: an integer >= 1
    """
    for name, value in values.items():
        if type(value) is not int or value < 1:
            raise ValueError(f"{name} = {value!r}; allowed: an integer >= 1")
