"""The rescaling symmetry of the last two layers and the barrier it makes (Zhao, Dehmamy, Walters & Yu, 5.2 and 5.3).

The loss is L = ``‖Y − W_l σ(W_{l−1} F)‖²``, equation (3), with features F = f(W_{l−2}, …, W_1, X) and an activation
that acts on entries and has σ(cz) = c^k σ(z) for c > 0. For m > 0 the point

    m · W = (W_l m^{−k}, m W_{l−1}, W_{l−2}, …, W_1)

computes the same function, and on the line λ (m · W) + (1 − λ) W the output is multiplied by

    φ(λ) = (1 − λ + λ m^{−k}) (1 − λ + λ m)^k  >=  1        (means of arithmetic and geometry).

From a minimum with loss 0 the loss on the line is (φ(λ) − 1)² ``‖Y‖²``, equation (14). ln φ is strictly concave in λ
for m ≠ 1, so that it has one maximum φ*; φ increases strictly in abs(ln m) on either side of m = 1, and m and 1/m
have the same φ*. With bounded weights m stays in an interval, and the least bound on the loss is that of its ends
(Prop. 5.6).

*After the best permutation* (Prop. 5.4) two minima W and W′ that differ in the last two layers only are compared at
λ W + (1 − λ) P · W′ for all permutations P of the neurons between these layers. Let w_i be the columns of W_l and
ζ_j = σ(h_j) the activations, h_j the rows of H = W_{l−1} F. If W′ is W with neuron j alone rescaled by m, then for
every P, as m → ∞,

    output at the middle = 2^{−(k+1)} m^k w_i ζ_jᵀ (1 + o(1)),      i the neuron that P puts on j,

so that the least loss over P grows like m^{2k} if ζ_j ≠ 0 and no w_i is 0. :func:`fill_outputs` makes the latter true
without leaving the minimum.

Weights are float64, W_l (..., o, h) and W_{l−1} (..., h, d); ``hidden`` is H = W_{l−1} F (..., h, N), on which the loss
depends and which rescales like W_{l−1}. ``‖·‖`` is the Frobenius norm. The paper and chapter 33 write α for
the place λ on the line from W (λ = 0) to m · W (λ = 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from lmc_helpers import expect
from lmc_helpers.barrier import check_places
from lmc_helpers.matching import all_permutations

__all__ = [
    "activation",
    "check_layers",
    "fill_outputs",
    "largest_factor",
    "orbit_bound",
    "orbit_interval",
    "output_factor",
    "permuted_losses",
    "rescale",
]

Activation = Callable[[torch.Tensor], torch.Tensor]


def activation(z: torch.Tensor, k: float, positive: float = 1.0, negative: float = 0.0) -> torch.Tensor:
    """σ(z) = ``|z|^k σ(1)`` for z > 0, ``|z|^k σ(−1)`` for z < 0 and σ(0) = 0.

    These are all functions of one real variable with σ(cz) = c^k σ(z) for c > 0; they are continuous.

    Parameters
    ----------
    z : torch.Tensor
        (...).
    k : float
        degree, finite and > 0.
    positive, negative : float
        σ(1) and σ(−1): 1 and 0 for ReLU, 1 and −0.01 for leaky ReLU with k = 1.

    Returns
    -------
    torch.Tensor
        (...), differentiable where z ≠ 0.

    Examples
    --------
    >>> activation(torch.tensor([-3.0, 0.0, 2.0]), k=2, negative=-1.0)
    tensor([-9.,  0.,  4.])
    """
    if not isinstance(z, torch.Tensor) or not z.is_floating_point() or z.device.type == "meta":
        raise ValueError(f"z is {type(z).__name__} {getattr(z, 'dtype', '')}; allowed: a tensor of floating point")
    if not isinstance(positive, (int, float)) or not isinstance(negative, (int, float)):
        raise ValueError(f"positive = {positive!r}, negative = {negative!r}; allowed: finite numbers")
    _check_degree(k)
    if not (math.isfinite(positive) and math.isfinite(negative)):
        raise ValueError(f"positive = {positive}, negative = {negative}; allowed: finite numbers")
    side = positive * (z > 0).to(z.dtype) + negative * (z < 0).to(z.dtype)
    return side * z.abs().pow(k)


def rescale(
    last: torch.Tensor, before: torch.Tensor, m: float | torch.Tensor, k: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """(W_l m^{−k}, m W_{l−1}), or neuron by neuron (W_l diag(m)^{−k}, diag(m) W_{l−1}): the same function.

    Parameters
    ----------
    last : torch.Tensor
        W_l (..., o, h).
    before : torch.Tensor
        W_{l−1} (..., h, d), or H (..., h, N).
    m : float or torch.Tensor
        one factor > 0, or one a neuron (..., h).
    k : float
        degree of σ, finite and > 0.

    Returns
    -------
    torch.Tensor, torch.Tensor
        the rescaled W_l and W_{l−1}.

    Examples
    --------
    >>> rescale(torch.ones(1, 2), torch.ones(2, 1), torch.tensor([2.0, 4.0]), k=2)
    (tensor([[0.2500, 0.0625]]), tensor([[2.],
            [4.]]))
    """
    expect.reals(m, "m")
    expect.number(k, "k")
    check_layers(last, before)
    _check_degree(k)
    m = torch.as_tensor(m, dtype=last.dtype, device=last.device)
    _check_scale(m)
    if m.ndim and m.shape[-1] != last.shape[-1]:
        raise ValueError(f"m has shape {tuple(m.shape)}; allowed: one number, or one a neuron (..., {last.shape[-1]})")
    m = m if m.ndim else m.expand(last.shape[-1])
    return last * m.pow(-k)[..., None, :], m[..., None] * before


def output_factor(m: float | torch.Tensor, k: float, lam: float | torch.Tensor) -> torch.Tensor:
    """φ, by which the output is multiplied on the line from W to m · W; equation (14).

        φ(λ) = (1 − λ + λ m^{−k}) (1 − λ + λ m)^k

    Parameters
    ----------
    m : float or torch.Tensor
        (...), finite and > 0.
    k : float
        degree of σ, finite and > 0.
    lam : float or torch.Tensor
        place λ in [0, 1], the weight of m · W (the paper's α); it broadcasts with m.

    Returns
    -------
    torch.Tensor
        float64, at least 1 up to rounding.

    Examples
    --------
    (m + 1)²/(4m) at the middle for k = 1:

    >>> output_factor(4.0, 1, 0.5)
    tensor(1.5625, dtype=torch.float64)
    """
    expect.reals(m, "m")
    expect.number(k, "k")
    _check_degree(k)
    m, lam = torch.as_tensor(m, dtype=torch.float64), check_places(lam, row=False)
    _check_scale(m)
    return (1 - lam + lam * m.pow(-k)) * (1 - lam + lam * m).pow(k)


def largest_factor(m: float | torch.Tensor, k: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Where φ is largest on the line, and how large: α* and φ*.

    With A = 1 − m^{−k} and B = m − 1, the derivative of ln φ vanishes at α* = (k/A − 1/B)/(1 + k), where
    φ* = k^k/(1 + k)^{1+k} · ``|A + B|^{1+k}/(|B| |A|^k)``. For k = 1 it is α* = ½ and φ* = (m + 1)²/(4m). For m → 1
    α* → ½, by its series below abs(ln m) max(1, k) = 0.01.

    Parameters
    ----------
    m : float or torch.Tensor
        (...), finite and > 0.
    k : float
        degree of σ, finite and > 0.

    Returns
    -------
    torch.Tensor, torch.Tensor
        α* and φ*, each (...), float64.

    Examples
    --------
    >>> place, value = largest_factor(torch.tensor([4.0, 1e12]), 2)
    >>> round(place[1].item(), 6), bool(value[0] > output_factor(4.0, 2, 0.5))
    (0.666667, True)
    """
    expect.reals(m, "m")
    expect.number(k, "k")
    _check_degree(k)
    m = torch.as_tensor(m, dtype=torch.float64)
    _check_scale(m)
    u = m.log()
    near = u.abs() * max(1.0, k) < 0.01
    away = torch.where(near, torch.ones_like(u), u)
    # α* = (k/A − 1/B)/(1 + k), with x/(1 − e^{−x}) = 1 + x/2 + x²/12 − x⁴/720 + … next to 0
    place = (k / -torch.expm1(-k * away) - 1 / torch.expm1(away)) / (1 + k)
    series = 0.5 + (k - 1) * u / 12 - (k - 1) * (k * k + 1) * u**3 / 720
    place = torch.where(near, series, place).clamp(0, 1)
    return place, output_factor(m, k, place)


def orbit_interval(last: torch.Tensor, before: torch.Tensor, k: float, c: float) -> tuple[float, float]:
    """The open interval of all m with ``‖W_l m^{−k}‖ < c`` and ``‖m W_{l−1}‖ < c``: the bounded orbit of Prop. 5.6.

    Parameters
    ----------
    last, before : torch.Tensor
        W_l (o, h) and W_{l−1} (h, d), not 0.
    k : float
        degree of σ, finite and > 0.
    c : float
        bound on the norms, finite and > 0.

    Returns
    -------
    float, float
        (``‖W_l‖``/c)^{1/k} and c/``‖W_{l−1}‖``.

    Examples
    --------
    >>> orbit_interval(torch.tensor([[1.0]]), torch.tensor([[0.5]]), k=2, c=4.0)
    (0.5, 8.0)
    """
    expect.number(k, "k")
    expect.number(c, "c")
    check_layers(last, before)
    _check_degree(k)
    if not 0 < c < math.inf:
        raise ValueError(f"c = {c}; allowed: a finite number > 0")
    norms = [torch.linalg.vector_norm(W).item() for W in (last, before)]
    if not min(norms) > 0:
        raise ValueError(f"the layers have norms {norms[0]} and {norms[1]}; allowed: norms > 0")
    low, high = (norms[0] / c) ** (1 / k), c / norms[1]
    if not low < high:
        least = (norms[0] * norms[1] ** k) ** (1 / (k + 1))
        raise ValueError(f"c = {c}; allowed: c > {least:.6g}, the least bound that a point of this orbit meets")
    return low, high


def orbit_bound(low: float, high: float, k: float, norm: float, pairs: bool = False) -> float:
    """The least b with L < b on all lines from W to m · W, low < m < high, or on all lines between two such points.

    φ* increases in abs(ln m), so b = (φ*(M) − 1)² ``‖Y‖²`` with M the end that is farthest from 1 in abs(ln m); for
    pairs M = high/low.

    Parameters
    ----------
    low, high : float
        ends of the interval of m, 0 < low < high.
    k : float
        degree of σ, finite and > 0.
    norm : float
        ``‖Y‖``, > 0.
    pairs : bool
        all lines between two members of the orbit, instead of those from W.

    Returns
    -------
    float
        b.

    Examples
    --------
    >>> orbit_bound(0.5, 4.0, k=1, norm=2.0), orbit_bound(0.5, 4.0, k=1, norm=2.0, pairs=True)
    (1.265625, 9.37890625)
    """
    expect.number(low, "low")
    expect.number(high, "high")
    expect.number(k, "k")
    expect.number(norm, "norm")
    expect.one_of(pairs, "pairs", (True, False))
    if not 0 < low < high < math.inf:
        raise ValueError(f"low = {low}, high = {high}; allowed: 0 < low < high")
    if not 0 < norm < math.inf:
        raise ValueError(f"norm = {norm}; allowed: a finite number > 0")
    ends = torch.tensor([high / low] if pairs else [low, high], dtype=torch.float64)
    return (largest_factor(ends, k)[1].max().item() - 1) ** 2 * norm**2


def permuted_losses(
    one: tuple[torch.Tensor, torch.Tensor],
    other: tuple[torch.Tensor, torch.Tensor],
    Y: torch.Tensor,
    sigma: Activation,
    lam: float = 0.5,
) -> torch.Tensor:
    """Losses at λ W + (1 − λ) P · W′ for every permutation P of the last hidden layer; equation (18).

    Parameters
    ----------
    one, other : tuple of torch.Tensor
        (W_l, H) and (W_l′, H′), (o, h) and (h, N), h <= 9.
    Y : torch.Tensor
        targets (o, N).
    sigma : callable
        activation of the entries.
    lam : float
        place λ in [0, 1], the weight of ``one``.

    Returns
    -------
    torch.Tensor
        (h!,), in the order of :func:`lmc_helpers.matching.all_permutations`; neuron i meets neuron p[i].

    Examples
    --------
    Two neurons and the same two in the other order:

    >>> W, H = torch.tensor([[1.0, 3.0]]), torch.tensor([[1.0], [5.0]])
    >>> permuted_losses((W, H), (W.flip(1), H.flip(0)), torch.tensor([[16.0]]), torch.relu)
    tensor([16.,  0.])
    """
    expect.tensors(one, "one")
    expect.tensors(other, "other")
    if len(one) != 2 or len(other) != 2:
        raise ValueError(f"one holds {len(one)} and other {len(other)} tensors; allowed: 2 each, W_l and H")
    expect.tensor(Y, "Y", "o N")
    expect.function(sigma, "sigma")
    expect.number(lam, "lam")
    for pair in (one, other):
        check_layers(*pair)
    if one[0].shape != other[0].shape or one[1].shape != other[1].shape or one[0].ndim != 2:
        shapes = [tuple(t.shape) for t in (*one, *other)]
        raise ValueError(f"the layers have shapes {shapes}; allowed: (o, h) and (h, N), twice the same")
    if Y.shape != (one[0].shape[0], one[1].shape[1]):
        raise ValueError(f"Y has shape {tuple(Y.shape)}; allowed: {(one[0].shape[0], one[1].shape[1])}")
    check_places(lam, row=False)
    P = all_permutations(one[0].shape[1])  # (h!, h)
    last = lam * one[0] + (1 - lam) * other[0][:, P].movedim(0, 1)  # (h!, o, h)
    hidden = lam * one[1] + (1 - lam) * other[1][P]  # (h!, h, N)
    return (Y - last @ sigma(hidden)).square().sum(dim=(-2, -1))


def fill_outputs(last: torch.Tensor, hidden: torch.Tensor, sigma: Activation) -> tuple[torch.Tensor, torch.Tensor]:
    """Give every neuron without an outgoing weight some of those of another, at the same output.

    Neurons whose column of W_l is 0 become copies of the neuron j with the largest ``‖w_j‖ ‖σ(h_j)‖``, and all of them
    share its column evenly. Then no column is 0.

    Parameters
    ----------
    last : torch.Tensor
        W_l (o, h).
    hidden : torch.Tensor
        H = W_{l−1} F (h, N).
    sigma : callable
        activation of the entries.

    Returns
    -------
    torch.Tensor, torch.Tensor
        the new W_l (o, h) and, for each neuron, the row of H and of W_{l−1} that it takes, (h,), long.

    Examples
    --------
    >>> W, rows = fill_outputs(torch.tensor([[0.0, 6.0, 0.0]]), torch.tensor([[-1.0], [2.0], [-1.0]]), torch.relu)
    >>> W, rows
    (tensor([[2., 2., 2.]]), tensor([1, 1, 1]))
    """
    expect.function(sigma, "sigma")
    check_layers(last, hidden)
    if last.ndim != 2:
        raise ValueError(f"W_l has shape {tuple(last.shape)}; allowed: (o, h), one network")
    if hidden.ndim != 2:
        raise ValueError(f"hidden has shape {tuple(hidden.shape)}; allowed: (h, N), one network")
    strength = last.norm(dim=0) * sigma(hidden).norm(dim=1)  # (h,)
    if not (strength > 0).any():
        raise ValueError("no neuron has an outgoing weight and an activation; allowed: a network with an output not 0")
    donor = int(strength.argmax())
    rows = torch.arange(last.shape[1])
    rows[(last == 0).all(dim=0)] = donor
    copies = rows == donor
    return torch.where(copies, last[:, [donor]] / copies.sum(), last), rows


def _check_degree(k: float) -> None:
    if not isinstance(k, (int, float)) or isinstance(k, bool):
        raise ValueError(f"k = {k!r}; allowed: a finite number > 0")
    if not 0 < k < math.inf:
        raise ValueError(f"k = {k}; allowed: a finite number > 0")


def _check_scale(m: torch.Tensor) -> None:
    bad = m[~((m > 0) & torch.isfinite(m))]
    if bad.numel():
        raise ValueError(f"m = {bad.flatten()[0].item()}; allowed: finite numbers > 0")


def check_layers(last: torch.Tensor, before: torch.Tensor) -> None:
    """Raise ValueError unless W_l (..., o, h) and W_{l−1} or H (..., h, d) fit together and are finite."""
    expect.tensor(last, "last", finite=False)
    expect.tensor(before, "before", finite=False)
    if not last.numel() or not before.numel():
        raise ValueError(f"the layers have shapes {tuple(last.shape)}, {tuple(before.shape)}; allowed: no axis empty")
    expect.same({"last": last, "before": before}, shape=False)
    if last.ndim < 2 or before.ndim < 2 or last.shape[-1] != before.shape[-2]:
        raise ValueError(
            f"the layers have shapes {tuple(last.shape)}, {tuple(before.shape)}; allowed: (..., o, h) and (..., h, d)"
        )
    if not (torch.isfinite(last).all() and torch.isfinite(before).all()):
        raise ValueError("a layer holds values that are not finite; allowed: finite weights")
