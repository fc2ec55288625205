"""Minima of the two-layer teacher–student loss: distance to them, and samples by Assumption 3 (Zhan, Li & Wu, B.1).

For m >= M the global minima are the matrices whose rows are each 0 or a positive multiple of one e_j, j <= M, with
column sums 1 for j <= M (Lemma 2). A row on the ray of e_j has *type* j. Minima without rows 0 have α_j + 1 rows of
type j, and Assumption 3 says α ~ Multinomial(m − M; 1/M, …, 1/M), entries of a type uniform on the simplex.
"""

from __future__ import annotations

from math import comb

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Integer, Number, Positive, checked
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.teacher_student.population import check_students

Law = str | tuple[str, float | int]


@checked
def snap(W: Float[Tensor, "*batch m d"], M: Positive) -> Float[Tensor, "*batch m d"]:
    """Each row moved to its nearest point of the rays {a e_j: a >= 0}, j <= M; what its type and entry are.

    Parameters
    ----------
    W
        for example networks that gradient descent has brought close to a minimum.
    M
        teacher neurons, M <= d.

    Returns
    -------
    torch.Tensor
        a row without a positive entry among the first M becomes 0.

    Examples
    --------
    >>> snap(torch.tensor([[0.9, 0.1], [-0.2, -0.1]]), M=2)
    tensor([[0.9000, 0.0000],
            [0.0000, 0.0000]])
    """
    check_students(W, M)
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

    Parameters
    ----------
    W
        students.
    M
        teacher neurons.

    Returns
    -------
    torch.Tensor
        0 on the manifold.

    Examples
    --------
    >>> W = torch.tensor([[1.0, 0.0], [0.0, 0.9]], dtype=torch.float64)
    >>> round(distance_to_minima(W, M=2).item(), 12)
    0.1
    """
    ray = snap(W, M)  # (..., m, d)
    off = (W - ray).square().sum(dim=(-2, -1))
    return torch.sqrt(off + (ray.sum(dim=-2)[..., :M] - 1).square().sum(dim=-1))


@checked
def sample_types(m: Positive, M: Positive, n: Positive, rng: np.random.Generator) -> np.ndarray:
    """Types of the rows of minima under Assumption 3, in random row order.

    Parameters
    ----------
    m, M
        student and teacher neurons, m >= M >= 1.
    n
        number of minima.
    rng
        where the randomness comes from.

    Returns
    -------
    numpy.ndarray
        (n, m), values 0 … M − 1; each type occurs in each minimum.

    Examples
    --------
    >>> types = sample_types(5, 3, 2, np.random.default_rng(1))
    >>> types.shape, [sorted(set(row)) for row in types.tolist()]
    ((2, 5), [[0, 1, 2], [0, 1, 2]])
    """
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
        case ("dirichlet", a) if isinstance(a, (int, float)) and a is not True and 0 < a < float("inf"):
            return float(a)
    raise ValueError(f"law = {law!r} is unknown; allowed: 'exponential', 'equal', ('dirichlet', a) with a > 0")


@checked
def sample_minima(
    m: Positive, M: Positive, d: Positive, n: Positive, seed: Integer, law: Law = "exponential"
) -> Float[Tensor, "n m d"]:
    """Draw n independent global minima without zero rows.

    Type counts are 1 + Multinomial(m − M; 1/M, …, 1/M) (Assumption 3), rows stand in random order, and the entries
    of one type are a point on the simplex: uniform (``"exponential"``: Exp(1) variables divided by their sum,
    Lemma 8), all equal (``"equal"``) or Dirichlet with all parameters a (``("dirichlet", a)``), as B.1 allows.

    Parameters
    ----------
    m, M, d
        student neurons, teacher neurons, input dimension; m >= M >= 1 and d >= M.
    n
        number of minima.
    seed
        in [0, 2³²).
    law
        law of the entries of one type.

    Returns
    -------
    torch.Tensor
        on the CPU.

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


@checked
def free_choice_variance(m: Integer, M: Integer) -> float:
    """Variance of a type count if all m rows choose freely among M types, given that no type stays empty.

    What the words before the formula of Assumption 3 say. With S(r, t) = Σ_i (−1)^i C(t, i) (t − i)^r ways to give each
    of r rows one of t types so that none stays empty, the count k of one type has the probability

        C(m, k) S(m − k, M − 1) / S(m, M),    k = 1, …, m − M + 1,

    against the variance (m − M)(1 − 1/M)/M of the formula.

    Parameters
    ----------
    m, M
        student and teacher neurons, m >= M >= 2.

    Returns
    -------
    float
        the variance.

    Examples
    --------
    Three rows, two types: each count is 1 or 2 with probability ½.

    >>> free_choice_variance(3, 2)
    0.25
    """
    if not m >= M >= 2:
        raise ValueError(f"m = {m}, M = {M}; allowed: m >= M >= 2")

    def onto(rows: int, types: int) -> int:
        return sum((-1) ** i * comb(types, i) * (types - i) ** rows for i in range(types + 1))

    k = np.arange(1, m - M + 2)
    weight = np.array([comb(m, j) * onto(m - j, M - 1) / onto(m, M) for j in k.tolist()])
    return float(weight @ k**2 - (weight @ k) ** 2)


@checked
def minima_with_matched_share(gamma: Number, M: Integer) -> tuple[Tensor, Tensor]:
    """Two minima with m = 3M/2, d = M that Algorithm 1 leaves in place, with the mean matched mass γ.

    Half of the types are split into 2γ − 1, matched, and 2(1 − γ), unmatched, in the first network only, the others in
    the second only. Halfway every type has the matched mass γ.

    Parameters
    ----------
    gamma
        in [¾, 1], so that the unmatched rows are the smaller ones.
    M
        teacher neurons, even, M >= 2.

    Returns
    -------
    (torch.Tensor, torch.Tensor)
        (3M/2, M) each, float64.

    Examples
    --------
    >>> one, other = minima_with_matched_share(0.75, 2)
    >>> one.tolist()
    [[0.5, 0.0], [0.0, 1.0], [0.5, 0.0]]
    >>> other.tolist()
    [[1.0, 0.0], [0.0, 0.5], [0.0, 0.5]]
    """
    if not 0.75 <= gamma <= 1 or M < 2 or M % 2:
        raise ValueError(f"gamma = {gamma}, M = {M}; allowed: 3/4 <= gamma <= 1 and an even M >= 2")
    eye, rest = torch.eye(M, dtype=torch.float64), 2 * (1 - gamma)
    first = (torch.arange(M) < M // 2).double()[:, None]  # (M, 1)
    one = torch.cat([eye * (1 - rest * first), rest * eye[: M // 2]])
    return one, torch.cat([eye * (1 - rest * (1 - first)), rest * eye[M // 2 :]])
