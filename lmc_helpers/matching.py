"""Permutations of neurons: Algorithm 1 of Zhan, Li & Wu, weight matching, brute force, activations.

Weights W (..., m, d) have one neuron in each row. A permutation is an index tensor p (..., m): ``permute(W, p)`` has
row p_i of W in place i. A matching p of W1 and W2 aligns W1 with ``permute(W2, p)``.

Activation matching (Bürgin et al., section 6) takes the Pearson correlations S_ij between the activations of neuron i
of one network and neuron j of another on the same inputs, and the permutation with the largest Σ_i S_ip(i).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from lmc_helpers._typing import Integer, NonNegative, checked, require_finite, returned

__all__ = [
    "CHUNK",
    "LARGEST",
    "SLACK",
    "Leftovers",
    "Objective",
    "algorithm_1",
    "all_permutations",
    "best_permutation",
    "check_permutation",
    "has_types",
    "match_activations",
    "pair_matching",
    "permute",
    "row_types",
    "weight_matching",
]

Leftovers = Literal["order", "in place", "sorted", "opposed"]
Objective = Callable[[Tensor, Tensor], Tensor]  # (m, d), (B, m, d) -> (B,)

LARGEST = 9  # most rows that brute force takes: 9! = 362 880 permutations
CHUNK = 5040  # most permutations that an objective sees at once
SLACK = 1e-12  # relative: values closer than this are rounding, hence tied


@checked
def check_permutation(p: Int64[Tensor, "*batch m"]) -> None:
    """Raise unless every p[..., :] is a permutation of 0 … m − 1."""
    _check_permutation(p)


def _check_permutation(p: Tensor) -> None:
    m = p.shape[-1]
    wrong = (p.sort(dim=-1).values != torch.arange(m, device=p.device)).any(dim=-1)  # (...)
    if wrong.any():
        index = tuple(wrong.nonzero()[0].tolist())
        where = ", ".join([*map(str, index), ":"])
        raise ValueError(f"p[{where}] = {p[index].tolist()} is not a permutation; allowed: each of 0 ... {m - 1} once")


@checked
def permute(W: Float[Tensor, "*batch m d"], p: Int64[Tensor, "*batch m"]) -> Float[Tensor, "*batch m d"]:
    """Take the rows of W in the order p; without leading dimensions this is ``W[p]``.

    Examples
    --------
    >>> permute(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([2, 0, 1])).flatten()
    tensor([3., 1., 2.])
    """
    _check_permutation(p)
    return torch.take_along_dim(W, p[..., None], dim=-2)


def _nearest_ray(W: Tensor, tol: float) -> tuple[Tensor, Tensor, Tensor]:
    """Type, entry (the largest of the row) and distance from the nearest ray of each row; each (..., m)."""
    entry, types = W.max(dim=-1)
    rest = W.scatter(-1, types[..., None], entry.clamp(max=0)[..., None])  # W minus its nearest point of a ray
    return types, entry, torch.linalg.vector_norm(rest, dim=-1)


def _decompose(W: Tensor, tol: float, name: str) -> tuple[Tensor, Tensor, Tensor]:
    """Type, entry and norm of each row; each (..., m)."""
    types, entry, distance = _nearest_ray(W, tol)
    norm = torch.hypot(distance, entry.clamp(min=0))
    wrong = distance > tol  # then it is as far from zero: distance <= norm
    if wrong.any():
        index = tuple(wrong.nonzero()[0].tolist())
        raise ValueError(
            f"row {name}{list(index)} is at distance {distance[index].item():.3g} from the nearest ray "
            f"{{a e_j: a > 0}} and {norm[index].item():.3g} from zero; allowed: at most tol = {tol:g} from one of them"
        )
    return torch.where(norm > tol, types, -1), entry, norm


@checked
def row_types(W: Float[Tensor, "*batch m d"], tol: NonNegative = 1e-9) -> Int64[Tensor, "*batch m"]:
    """Type of each row: j on the ray ``{a e_j: a > 0}``, −1 at zero.

    A row within ``tol`` of zero counts as zero even when it also lies on a ray; ``tol=0`` keeps the smallest entries.

    Examples
    --------
    >>> row_types(torch.tensor([[0.0, 0.5], [0.0, 0.0], [2.0, 0.0]]))
    tensor([ 1, -1,  0])
    """
    require_finite(W=W)
    return _decompose(W, tol, "W")[0]


@checked
def has_types(W: Float[Tensor, "*batch m d"], tol: NonNegative = 1e-9) -> Bool[Tensor, " *batch"]:
    """True for networks whose rows all lie within ``tol`` of a ray or of zero, as ``row_types`` requires."""
    require_finite(W=W)
    return (_nearest_ray(W, tol)[2] <= tol).all(dim=-1)


def _lexsort(first: Tensor, second: Tensor) -> Tensor:
    """Order (..., m) that sorts by ``first``, ties by ``second``, further ties by index."""
    order = second.argsort(dim=-1, stable=True)
    return order.gather(-1, first.gather(-1, order).argsort(dim=-1, stable=True))


def _ranks(kinds: Tensor, value: Tensor, counts: Tensor) -> Tensor:
    """Rank 0, 1, … of each row among the rows of its kind, by ascending value; (..., m)."""
    order = _lexsort(kinds, value)
    place = torch.arange(order.shape[-1], device=order.device).expand_as(order)
    start = counts.cumsum(dim=-1) - counts  # (..., d + 1), the first place of each kind
    return torch.empty_like(order).scatter_(-1, order, place) - start.gather(-1, kinds)


@checked
def algorithm_1(
    W1: Float[Tensor, "*batch m d"],
    W2: Float[Tensor, "*batch m d"],
    tol: NonNegative = 1e-9,
    sort: bool = True,
    leftovers: Leftovers = "order",
) -> Int64[Tensor, "*batch m"]:
    """Match the rows of two minima type by type: Algorithm 1 of Zhan, Li & Wu.

    (1) The rows of each type (the non-zero elements of each column) are sorted in descending order. (2) The k-th row
    of type j of W2 goes to the place of the k-th row of type j of W1, as long as W1 has one. (3) The unassigned rows
    of W2, zero rows included, fill the empty places of W1 one after another. Ties go by row index.

    ``sort=False`` leaves out step (1): the rows of a type stay in row order. ``leftovers`` is the order of step (3).
    ``"order"``: rows and places in row order; ``"in place"``: the same after step (1) has moved the rows of each type,
    the largest to the first place of the type; ``"sorted"``: both by descending norm; ``"opposed"``: places by
    descending, rows by ascending norm.

    Examples
    --------
    Rows 1 of both are the largest of type 0. Row 0 of W2 goes to the only place of type 1, and row 2 is left over:

    >>> W1 = torch.tensor([[0.25, 0.0], [0.75, 0.0], [0.0, 1.0]])
    >>> W2 = torch.tensor([[0.0, 0.6], [1.0, 0.0], [0.0, 0.4]])
    >>> algorithm_1(W1, W2)
    tensor([2, 1, 0])
    """
    require_finite(W1=W1, W2=W2)
    signs = {"order": (0, 0), "in place": (0, 0), "sorted": (-1, -1), "opposed": (-1, 1)}
    m, d = W1.shape[-2:]
    kinds, counts, ranks, norms = [], [], [], []
    for W, name in ((W1, "W1"), (W2, "W2")):
        types, entry, norm = _decompose(W, tol, name)
        kinds.append(types % (d + 1))  # (..., m), zero rows are kind d
        counts.append(kinds[-1].new_zeros(*W.shape[:-2], d + 1).scatter_add_(-1, kinds[-1], torch.ones_like(types)))
        ranks.append(_ranks(kinds[-1], -entry if sort else torch.zeros_like(entry), counts[-1]))
        norms.append(norm)
    orders = []
    for a, b in ((0, 1), (1, 0)):
        left = (kinds[a] == d) | (ranks[a] >= counts[b].gather(-1, kinds[a]))  # the other has no k-th row of type j
        key = (kinds[a] * (m + 1) + ranks[a]).double()  # the same set in W1 and W2 where nothing is left over
        last = signs[leftovers][a] * norms[a].double()
        if leftovers == "in place":  # the k-th largest row of a type moves to the k-th place of the type
            places = kinds[a].argsort(dim=-1, stable=True)
            last = torch.empty_like(last).scatter_(-1, key.argsort(dim=-1), places.double())
        orders.append(_lexsort(left.long(), torch.where(left, last, key)))
    return torch.empty_like(orders[0]).scatter_(-1, *orders)


@checked
def weight_matching(W1: Float[Tensor, "*batch m d"], W2: Float[Tensor, "*batch m d"]) -> Int64[Tensor, "*batch m"]:
    """The permutation that maximises the sum of inner products, equivalently minimises ``‖W1 − permute(W2, p)‖``.

        max_p Σ_i ⟨W1_i, W2_p(i)⟩.

    Solved exactly, as a linear assignment problem for each pair.

    Examples
    --------
    >>> W = torch.tensor([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> weight_matching(W, permute(W, torch.tensor([1, 2, 0])))
    tensor([2, 0, 1])

    The units of a layer of a module and of its copy in another order:

    >>> layer = torch.nn.Linear(4, 3)
    >>> weight_matching(layer.weight, layer.weight[[1, 2, 0]])
    tensor([2, 0, 1])
    """
    require_finite(W1=W1, W2=W2)
    m, d = W1.shape[-2:]
    pairs = zip(W1.double().reshape(-1, m, d), W2.double().reshape(-1, m, d), strict=True)
    p = [linear_sum_assignment((A @ B.T).numpy(force=True), maximize=True)[1] for A, B in pairs]
    return torch.from_numpy(np.array(p, dtype=np.int64).reshape(W1.shape[:-1])).to(W1.device)


@checked
def pair_matching(W1: Float[Tensor, "m d"], W2: Float[Tensor, "m d"]) -> Int64[Tensor, " m"]:
    """The permutation p that minimises ``E|f − f*|`` halfway between the minima W₁ and W₂[p], among all m!.

    Halfway, row i contributes Δ_i = σ(½(u + v)·x) − ½σ(u·x) − ½σ(v·x) <= 0 to f − f*, with u, v its two ends. Nothing
    cancels in the sum, hence it is a linear assignment problem; with c_d = E σ(x₁)::

        E|f − f*| = Σ_i E|Δ_i| = (c_d/2) Σ_i (‖u_i‖ + ‖v_i‖ − ‖u_i + v_i‖).

    The loss is the mean square of the same sum, which this does not minimise exactly (chapter *Algorithm 1*).
    """
    require_finite(W1=W1, W2=W2)
    norm1, norm2 = torch.linalg.vector_norm(W1, dim=-1), torch.linalg.vector_norm(W2, dim=-1)  # (m,)
    together = torch.linalg.vector_norm(W1[:, None] + W2, dim=-1)  # (m, m)
    cost = norm1[:, None] + norm2 - together
    return torch.from_numpy(linear_sum_assignment(cost.numpy(force=True))[1]).to(W1.device)


@checked
def all_permutations(m: Integer) -> Int64[Tensor, "n m"]:
    """All permutations of 0 … m − 1 in lexicographic order."""
    if not 1 <= m <= LARGEST:
        raise ValueError(f"m = {m} is out of reach of all m! permutations; allowed: 1 <= m <= {LARGEST}")
    entries = itertools.chain.from_iterable(itertools.permutations(range(m)))
    return torch.from_numpy(np.fromiter(entries, np.int64, count=math.factorial(m) * m).reshape(-1, m))


def _values(objective: Objective, W1: Tensor, W2: Tensor, P: Tensor) -> Tensor:
    """The objective at ``permute(W2, p)`` for each row p of P (B, m); shape (B,)."""
    chunks = []
    for p in P.split(CHUNK):
        chunks.append(returned("the objective", objective(W1, W2[p]), p.shape[:1]))
    values = torch.cat(chunks)
    if not torch.isfinite(values).all():
        k = int((~torch.isfinite(values)).nonzero()[0])
        raise ValueError(f"the objective is {values[k].item()} at p = {P[k].tolist()}; allowed: finite values")
    return values


def first_minimiser(values: Tensor) -> int:
    """Index of the first value that is tied with the least one."""
    least = values.min()
    return int((values <= least + SLACK * least.abs()).nonzero()[0])


@checked
def best_permutation(W1: Float[Tensor, "m d"], W2: Float[Tensor, "m d"], objective: Objective) -> Int64[Tensor, " m"]:
    """Minimise an objective over all m! permutations of the rows of W2.

    ``objective`` takes W1 (m, d) and a batch of permuted W2 (B, m, d) to (B,) values. Values within relative 1e-12 are
    tied; of tied permutations the first in lexicographic order is taken. m is at most 9.

    Examples
    --------
    >>> def distance(W1, W2):
    ...     return (W1 - W2).abs().sum(dim=(-2, -1))
    >>> W1, W2 = torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([[5.0], [0.0], [2.0]])
    >>> best_permutation(W1, W2, distance)
    tensor([1, 2, 0])
    """
    require_finite(W1=W1, W2=W2)
    P = all_permutations(len(W1)).to(W1.device)  # (m!, m)
    return P[first_minimiser(_values(objective, W1, W2, P))]


def _correlations(a: Tensor, b: Tensor) -> Tensor:
    """Pearson correlations between the activations of the neurons of two networks.

    They are 0 for neurons whose activation is constant.
    """
    require_finite(a=a, b=b)
    unit = []
    for values in (a.double(), b.double()):
        off = values - values.mean(dim=-2, keepdim=True)
        size = torch.linalg.vector_norm(off, dim=-2, keepdim=True)
        scale = torch.linalg.vector_norm(values, dim=-2, keepdim=True)
        constant = size <= 1e-9 * scale
        unit.append(torch.where(constant, 0, off / torch.where(constant, 1, size)))
    return unit[0].mT @ unit[1]


@checked
def match_activations(a: Float[Tensor, "*batch n m"], b: Float[Tensor, "*batch n m"]) -> Int64[Tensor, "*batch m"]:
    """The permutations with the largest sum of correlations between a and the permuted b, max_p Σ_i S_ip(i).

    Examples
    --------
    >>> a = torch.randn(50, 4, generator=torch.Generator().manual_seed(1))
    >>> match_activations(a, a[:, [2, 0, 3, 1]]).tolist()
    [1, 3, 0, 2]
    """
    if a.shape[-2] < 2:
        raise ValueError(f"n = {a.shape[-2]} inputs; allowed: n >= 2")
    S = _correlations(a, b)
    m = S.shape[-1]
    found = [linear_sum_assignment(s, maximize=True)[1] for s in S.reshape(-1, m, m).numpy(force=True)]
    return torch.from_numpy(np.array(found, dtype=np.int64).reshape(S.shape[:-1])).to(a.device)
