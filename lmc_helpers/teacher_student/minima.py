"""Minima of the two-layer teacher–student loss: distance to them, and samples by Assumption 3 (Zhan, Li & Wu, B.1).

For m >= M the global minima are the matrices whose rows are each 0 or a positive multiple of one e_j, j <= M, with
column sums 1 for j <= M (Lemma 2). A row on the ray of e_j has *type* j. Minima without rows 0 have α_j + 1 rows of
type j, and Assumption 3 reads α ~ Multinomial(m − M; 1/M, …, 1/M), entries of a type uniform on the simplex.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Integer, Positive, checked, require_finite
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.teacher_student.population import _check_teacher

Law = str | tuple[str, float | int]


@checked
def snap(W: Float[Tensor, "*batch m d"], M: Positive) -> Float[Tensor, "*batch m d"]:
    """Each row moved to its nearest point of the rays {a e_j: a >= 0}, j <= M: the point of its type and entry.

    A row without a positive entry among the first M becomes 0.
    """
    _check_teacher(M, W.shape[-1])
    require_finite(W=W)
    entry, types = W[..., :M].max(dim=-1)
    return torch.zeros_like(W).scatter(-1, types[..., None], entry.clamp(min=0)[..., None])


@checked
def distance_to_minima(W: Float[Tensor, "*batch m d"], M: Positive) -> Float[Tensor, " *batch"]:
    """Size of the violation of Lemma 2: distance to rows of one type with unit column sums.

    Each row is moved to its nearest point ray(w_i) of a ray e_j, j <= M, or to 0 (:func:`snap`), and the column sums
    are then compared with 1:

        √(Σ_i ‖w_i − ray(w_i)‖² + Σ_{j<=M} (Σ_i ray(w_i)_j − 1)²).

    It is 0 exactly on the manifold, and an upper bound of the distance to the manifold up to a constant: if every type
    occurs, rescaling a column by its sum reaches it.
    """
    ray = snap(W, M)  # (..., m, d)
    off = (W - ray).square().sum(dim=(-2, -1))
    return torch.sqrt(off + (ray.sum(dim=-2)[..., :M] - 1).square().sum(dim=-1))


def _types(m: int, M: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Types (n, m) of the rows of minima under Assumption 3, in random row order."""
    counts = 1 + rng.multinomial(m - M, np.full(M, 1 / M), size=n)  # (n, M), rows sum to m
    types = np.repeat(np.tile(np.arange(M), n), counts.ravel()).reshape(n, m)
    return rng.permuted(types, axis=1)


def _concentration(law: Law) -> float | None:
    """Dirichlet parameter of a law on the simplex; None for equal entries."""
    match law:
        case "equal":
            return None
        case "exponential":
            return 1.0
        case ("dirichlet", a) if isinstance(a, (int, float)) and a is not True and 0 < a < float("inf"):
            return float(a)
    raise ValueError(f"law = {law!r} is unknown; allowed: 'exponential', 'equal', ('dirichlet', a) with a > 0")


@checked
def sample_minima(
    m: Positive, M: Positive, d: Positive, n: Positive, seed: Integer, law: Law = "exponential"
) -> Float[Tensor, "n m d"]:
    """Draw n independent global minima without zero rows.

    Type counts are 1 + Multinomial(m − M; 1/M, …, 1/M) (Assumption 3), rows are in random order, and the entries of one
    type are a point on the simplex: uniform (``"exponential"``: Exp(1) variables divided by their sum, Lemma 8), all
    equal (``"equal"``) or Dirichlet with all parameters a (``("dirichlet", a)``), as B.1 allows.

    Examples
    --------
    >>> W = sample_minima(m=7, M=3, d=4, n=2, seed=1)
    >>> W.shape, bool(torch.allclose(W.sum(dim=1), torch.tensor([1.0, 1.0, 1.0, 0.0], dtype=W.dtype)))
    (torch.Size([2, 7, 4]), True)
    """
    if M > d:
        raise ValueError(f"M = {M} teacher neurons in dimension d = {d}; allowed: M <= d")
    if m < M:
        raise ValueError(f"m = {m} student neurons for M = {M} teacher neurons; allowed: m >= M")
    types, entries = _sample(m, M, n, seed, law)
    W = torch.zeros(n, m, d, dtype=torch.float64)
    W.scatter_(2, torch.from_numpy(types)[..., None], torch.from_numpy(entries)[..., None])
    return W


def _sample(m: int, M: int, n: int, seed: int, law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Types and entries of the rows of n minima, each (n, m)."""
    a = _concentration(law)
    rng = numpy_generator(seed, f"minima m={m} M={M} law={law}")
    types = _types(m, M, n, rng)  # (n, m)
    if a is None:
        log_entries = np.zeros((n, m))
    else:  # Gamma(a) = Gamma(a + 1) U^(1/a), in logarithms: small a does not underflow
        log_entries = np.log(rng.gamma(a + 1, size=(n, m))) + np.log1p(-rng.random((n, m))) / a
    group = types + M * np.arange(n)[:, None]  # (n, m): one group for each type of each minimum
    largest = np.full(n * M, -np.inf)
    np.maximum.at(largest, group, log_entries)
    entries = np.exp(log_entries - largest[group])
    entries /= np.bincount(group.ravel(), entries.ravel(), minlength=n * M)[group]
    return types, entries
