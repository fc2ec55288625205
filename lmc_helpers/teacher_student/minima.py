"""Minima of the two-layer teacher–student loss: distance to them, and samples by Assumption 3 (Zhan, Li & Wu, B.1).

For m >= M the global minima are the matrices whose rows are each 0 or a positive multiple of one e_j, j <= M, with
column sums 1 for j <= M (Lemma 2).
"""

from __future__ import annotations

import numpy as np
import torch

from lmc_helpers.seeds import numpy_generator
from lmc_helpers.teacher_student.population import check_students

Law = str | tuple[str, float]


def distance_to_minima(W: torch.Tensor, M: int) -> torch.Tensor:
    """Size of the violation of Lemma 2: distance to rows of one type with unit column sums.

    Each row is moved to its nearest ray e_j, j <= M, or to 0, and the column sums are then compared with 1:
    √(Σ_i ‖w_i − ray(w_i)‖² + Σ_{j<=M} (Σ_i ray(w_i)_j − 1)²). It is 0 exactly on the manifold, and an upper bound of
    the distance to the manifold up to a constant: if every type occurs, rescaling a column by its sum reaches it.

    Parameters
    ----------
    W : torch.Tensor
        students (..., m, d).
    M : int
        teacher neurons.

    Returns
    -------
    torch.Tensor
        (...), 0 on the manifold.

    Examples
    --------
    >>> W = torch.tensor([[1.0, 0.0], [0.0, 0.9]], dtype=torch.float64)
    >>> round(distance_to_minima(W, M=2).item(), 12)
    0.1
    """
    check_students(W, M)
    best, axis = W[..., :M].max(dim=-1)  # nearest ray: the largest positive entry among the first M
    ray = torch.zeros_like(W).scatter(-1, axis[..., None], best.clamp(min=0)[..., None])
    off = (W - ray).square().sum(dim=(-2, -1))
    return torch.sqrt(off + (ray.sum(dim=-2)[..., :M] - 1).square().sum(dim=-1))


def sample_types(m: int, M: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Types of the m rows of n minima under Assumption 3, in random row order; shape (n, m), values 0 … M − 1."""
    counts = 1 + rng.multinomial(m - M, np.full(M, 1 / M), size=n)  # (n, M), rows sum to m
    types = np.repeat(np.tile(np.arange(M), n), counts.ravel()).reshape(n, m)
    return rng.permuted(types, axis=1)


def _concentration(law: Law) -> float | None:
    """Dirichlet parameter of a law on the simplex; None stands for equal entries."""
    match law:
        case "equal":
            return None
        case "exponential":
            return 1.0
        case ("dirichlet", a) if isinstance(a, (int, float)) and 0 < a < float("inf"):
            return float(a)
    raise ValueError(f"law = {law!r} is unknown; allowed: 'exponential', 'equal', ('dirichlet', a) with a > 0")


def sample_minima(m: int, M: int, d: int, n: int, seed: int, law: Law = "exponential") -> torch.Tensor:
    """Draw n independent global minima without zero rows.

    Type counts are 1 + Multinomial(m − M; 1/M, …, 1/M) (Assumption 3), rows stand in random order, and the entries
    of one type are a point on the simplex: uniform (``"exponential"``: Exp(1) variables divided by their sum,
    Lemma 8), all equal (``"equal"``) or Dirichlet with all parameters a (``("dirichlet", a)``), as B.1 allows.

    Parameters
    ----------
    m, M, d : int
        student neurons, teacher neurons, input dimension; m >= M >= 1 and d >= M.
    n : int
        number of minima, n >= 1.
    seed : int
        in [0, 2³²).
    law : str or tuple
        law of the entries of one type.

    Returns
    -------
    torch.Tensor
        W (n, m, d), float64, on the CPU.

    Raises
    ------
    ValueError
        if a size or the law is not allowed; the message names the value and what is allowed.

    Examples
    --------
    >>> W = sample_minima(m=7, M=3, d=4, n=2, seed=1)
    >>> W.shape, bool(torch.allclose(W.sum(dim=1), torch.tensor([1.0, 1.0, 1.0, 0.0], dtype=W.dtype)))
    (torch.Size([2, 7, 4]), True)
    """
    if M < 1:
        raise ValueError(f"M = {M} teacher neurons; allowed: M >= 1")
    if M > d:
        raise ValueError(f"M = {M} teacher neurons in dimension d = {d}; allowed: M <= d")
    if m < M:
        raise ValueError(f"m = {m} student neurons for M = {M} teacher neurons; minima need m >= M")
    if n < 1:
        raise ValueError(f"n = {n} minima; allowed: n >= 1")
    types, entries = _sample(m, M, n, seed, law)
    W = torch.zeros(n, m, d, dtype=torch.float64)
    W.scatter_(2, torch.from_numpy(types)[..., None], torch.from_numpy(entries)[..., None])
    return W


def _sample(m: int, M: int, n: int, seed: int, law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Types and entries of the rows of n minima, each (n, m)."""
    a = _concentration(law)
    rng = numpy_generator(seed, f"minima m={m} M={M} law={law}")
    types = sample_types(m, M, n, rng)  # (n, m)
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
