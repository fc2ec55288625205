"""What it costs a layer if its inputs are reindexed (Bürgin et al., section 4.4: eqs. (23) to (28), Thms 4.7, 4.8).

A layer has rows f_i of F, d_i of D, raw trainable rows w_i of W, and inputs on the span of the orthonormal columns of
U (d, k). A permutation τ of the inputs is an index tensor p (d,) with P_τ x = x[p], so that P_τ U = U[p]. The cheapest
weights that compute the old function of the reindexed inputs cost

    Δ_τ^in = Σ_i ‖r_i − δ_i‖²_{(S_i^τ)⁻¹} − ‖r_i‖²_{S_i⁻¹},      r_i = Uᵀ(d_i ⊙ w_i),  δ = F(P_τ − I)U     (eq. (137))

more than the old ones. For transpositions ``‖δ_(ab)‖ = ‖F_:b − F_:a‖ ‖U_b − U_a‖``, eq. (27), and

    γ_in = min ‖δ_(ab)‖   over a ≠ b.
"""

from __future__ import annotations

import math
from itertools import permutations

import torch
from scipy.special import gammaln

from lmc_helpers.identifiability.input_subspace import check_basis, grams
from lmc_helpers.seeds import torch_generator

__all__ = [
    "cheaper_share",
    "expected_column_distance",
    "input_cost",
    "input_gap",
    "input_shift",
    "least_norm_costs",
    "least_shift",
    "reindexed_metric",
    "relative_error_bound",
    "sample_layer",
    "sample_scaled_gaps",
    "transposition",
    "transposition_costs",
    "transposition_shifts",
]


def _check_permutation(p: torch.Tensor, d: int) -> None:
    if p.shape != (d,) or not p.sort().values.equal(torch.arange(d)):
        raise ValueError(f"p = {p.tolist()}; allowed: a permutation of 0, …, {d - 1}")


def _check_layer(U: torch.Tensor, *matrices: torch.Tensor) -> None:
    check_basis(U)
    for matrix in matrices:
        if matrix.ndim != 2 or matrix.shape != (matrices[0].shape[0], U.shape[0]):
            raise ValueError(f"shapes {[tuple(x.shape) for x in matrices]} with U {tuple(U.shape)}; allowed: (m, d)")


def transposition(d: int, a: int, b: int) -> torch.Tensor:
    """The index tensor (d,) that exchanges a and b.

    Parameters
    ----------
    d : int
        number of inputs.
    a, b : int
        two of 0, …, d − 1.

    Examples
    --------
    >>> transposition(4, 1, 3).tolist()
    [0, 3, 2, 1]
    """
    if not (0 <= a < d and 0 <= b < d):
        raise ValueError(f"a = {a}, b = {b}; allowed: 0, …, {d - 1}")
    p = torch.arange(d)
    p[a], p[b] = b, a
    return p


def input_shift(F: torch.Tensor, U: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """δ_τ^in = F(P_τ − I)U, eq. (24).

    Parameters
    ----------
    F : torch.Tensor
        fixed part (m, d).
    U : torch.Tensor
        orthonormal columns (d, k).
    p : torch.Tensor
        permutation (d,).

    Returns
    -------
    torch.Tensor
        (m, k).

    Examples
    --------
    >>> F, U = torch.tensor([[1.0, 5.0]]), torch.tensor([[1.0], [0.0]])
    >>> input_shift(F, U, torch.tensor([1, 0]))
    tensor([[4.]])
    """
    _check_layer(U, F)
    _check_permutation(p, U.shape[0])
    return F @ (U[p] - U)


def transposition_shifts(F: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """``‖δ_(ab)^in‖_F = |F_:b − F_:a| |U_b − U_a|`` for all a, b, by identity (27).

    Parameters
    ----------
    F : torch.Tensor
        fixed part (m, d).
    U : torch.Tensor
        orthonormal columns (d, k).

    Returns
    -------
    torch.Tensor
        (d, d), 0 on the diagonal.

    Examples
    --------
    >>> F, U = torch.tensor([[1.0, 5.0]]), torch.tensor([[1.0], [0.0]])
    >>> transposition_shifts(F, U)
    tensor([[0., 4.],
            [4., 0.]])
    """
    _check_layer(U, F)
    exact = "donot_use_mm_for_euclid_dist"
    return torch.cdist(F.mT, F.mT, compute_mode=exact) * torch.cdist(U, U, compute_mode=exact)


def input_gap(F: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """γ_in = min over a ≠ b of ``‖δ_(ab)^in‖_F``, below eq. (26).

    Parameters
    ----------
    F : torch.Tensor
        fixed part (m, d).
    U : torch.Tensor
        orthonormal columns (d, k).

    Returns
    -------
    torch.Tensor
        a number.

    Examples
    --------
    >>> input_gap(torch.tensor([[1.0, 5.0]]), torch.tensor([[1.0], [0.0]])).item()
    4.0
    """
    shifts = transposition_shifts(F, U)
    d = len(shifts)
    if d < 2:
        raise ValueError(f"d = {d} inputs; allowed: d >= 2")
    return shifts[~torch.eye(d, dtype=torch.bool)].min()


def least_shift(F: torch.Tensor, U: torch.Tensor) -> tuple[float, tuple[int, ...]]:
    """The smallest ``‖δ_τ^in‖_F`` over all d! − 1 permutations τ ≠ id, and the first τ that takes it (footnote 6).

    Parameters
    ----------
    F : torch.Tensor
        fixed part (m, d), d <= 8.
    U : torch.Tensor
        orthonormal columns (d, k).

    Returns
    -------
    (float, tuple of int)
        size and permutation.

    Examples
    --------
    >>> least_shift(torch.tensor([[1.0, 5.0]]), torch.tensor([[1.0], [0.0]]))
    (4.0, (1, 0))
    """
    _check_layer(U, F)
    d = U.shape[0]
    if not 2 <= d <= 8:
        raise ValueError(f"d = {d}; allowed: 2 <= d <= 8")
    every = torch.tensor(list(permutations(range(d))))[1:]  # (d! − 1, d)
    sizes = torch.linalg.matrix_norm(F @ (U[every] - U))
    first = int(sizes.argmin())
    return sizes[first].item(), tuple(every[first].tolist())


def reindexed_metric(D: torch.Tensor, U: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """S_i^τ = Uᵀ P_τᵀ Diag(d_i)² P_τ U, eq. (23), for every row of D; with the identity S_i of eq. (9).

    Parameters
    ----------
    D : torch.Tensor
        (m, d).
    U : torch.Tensor
        (d, k).
    p : torch.Tensor
        permutation (d,).

    Returns
    -------
    torch.Tensor
        (m, k, k), float64.

    Examples
    --------
    >>> reindexed_metric(torch.tensor([[2.0, 3.0]]), torch.tensor([[1.0], [0.0]]), torch.tensor([1, 0]))
    tensor([[[9.]]], dtype=torch.float64)
    """
    _check_layer(U, D)
    _check_permutation(p, U.shape[0])
    return grams(D, U[p])


def input_cost(F: torch.Tensor, D: torch.Tensor, W: torch.Tensor, U: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """Δ_τ^in, eq. (137): the change of the squared realization cost if the inputs are reindexed by τ.

    Parameters
    ----------
    F, D, W : torch.Tensor
        fixed part, scales and raw trainable weights (m, d).
    U : torch.Tensor
        orthonormal columns (d, k).
    p : torch.Tensor
        permutation (d,).

    Returns
    -------
    torch.Tensor
        a number; it may be negative.

    Examples
    --------
    One neuron that ignores its second input; after the exchange it has to read it: 3² more.

    >>> one, U = torch.ones(1, 2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    >>> F = torch.tensor([[3.0, 0.0]], dtype=torch.float64)
    >>> input_cost(F, one, 0 * one, U, torch.tensor([1, 0])).item()
    18.0
    """
    _check_layer(U, F, D, W)
    r = (D * W) @ U
    total = torch.zeros((), dtype=F.dtype)
    for sign, vectors, S in (
        (1, r - input_shift(F, U, p), reindexed_metric(D, U, p)),
        (-1, r, reindexed_metric(D, U, torch.arange(U.shape[0]))),
    ):
        low = torch.linalg.eigvalsh(S)
        if not (low[:, 0] > 1e-12 * low[:, -1]).all():
            raise ValueError("some S_i or S_i^τ is singular; allowed: D and U with which every neuron has full rank")
        total = total + sign * (vectors * torch.linalg.solve(S, vectors[..., None])[..., 0]).sum()
    return total


def transposition_costs(F: torch.Tensor, D: torch.Tensor, W: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Δ_(ab)^in for all pairs a < b of inputs, in the order of ``torch.triu_indices``; eq. (26) is on their minimum.

    Parameters and errors are those of :func:`input_cost`.

    Returns
    -------
    torch.Tensor
        (d(d − 1)/2,).

    Examples
    --------
    >>> one, U = torch.ones(1, 2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    >>> transposition_costs(torch.tensor([[3.0, 0.0]]).double(), one, 0 * one, U).tolist()
    [18.0]
    """
    d = U.shape[0]
    pairs = torch.triu_indices(d, d, 1).T.tolist()
    return torch.stack([input_cost(F, D, W, U, transposition(d, a, b)) for a, b in pairs])


def least_norm_costs(
    F: torch.Tensor, D: torch.Tensor, W: torch.Tensor, p: torch.Tensor, X: torch.Tensor
) -> tuple[float, float]:
    """Squared realization costs of a layer's function after and before its inputs are reindexed, neuron by neuron.

    Each neuron's cheapest weight comes from a pseudo-inverse on sampled inputs, without U; the difference is Δ_τ^in
    where the inputs span the subspace.

    Parameters
    ----------
    F, D, W : torch.Tensor
        fixed part, scales and raw trainable weights (m, d).
    p : torch.Tensor
        permutation (d,).
    X : torch.Tensor
        inputs (n, d).

    Returns
    -------
    (float, float)
        Σ_i ``‖w_i‖²`` with which the layer computes the old outputs, on the reindexed inputs and on the old ones.

    Examples
    --------
    >>> one, X = torch.ones(1, 2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    >>> F = torch.tensor([[3.0, 0.0]], dtype=torch.float64)
    >>> after, before = least_norm_costs(F, one, 0 * one, torch.tensor([1, 0]), X)
    >>> round(after, 9), before
    (18.0, 0.0)
    """
    costs = [0.0, 0.0]
    for f, d, w in zip(F, D, W, strict=True):
        target = X @ (f + d * w)  # what the neuron computed
        for which, inputs in enumerate((X[:, p], X)):
            pinv = torch.linalg.pinv(inputs * d, rtol=1e-10)
            costs[which] += (pinv @ (target - inputs @ f)).square().sum().item()
    return costs[0], costs[1]


def sample_layer(
    m: int, d: int, k: int, width: float, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A random layer whose metrics are near a multiple of the identity, and a random permutation of its inputs.

    F is N(0, 1), D is uniform on 1 ± ``width``, so that E d² = 1 + width²/3, W is N(0, 0.09), and U the
    orthonormalised frame of a Gaussian matrix.

    Parameters
    ----------
    m, d, k : int
        neurons, inputs and dimension of the subspace.
    width : float
        in [0, 1).
    generator : torch.Generator
        of everything.

    Returns
    -------
    (torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor)
        F, D, W (m, d), U (d, k), float64, and p (d,).

    Examples
    --------
    >>> F, D, W, U, p = sample_layer(5, 12, 4, 0.1, torch.Generator().manual_seed(1))
    >>> D.shape, U.shape, bool(((D - 1).abs() <= 0.1).all())
    (torch.Size([5, 12]), torch.Size([12, 4]), True)
    """

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    noise = torch.rand(m, d, dtype=torch.float64, generator=generator)
    U = torch.linalg.qr(normal(d, k)).Q
    p = torch.randperm(d, generator=generator)
    return normal(m, d), 1 + width * (2 * noise - 1), 0.3 * normal(m, d), U, p


def sample_scaled_gaps(m: int, d: int, k: int, n: int, seed: int) -> torch.Tensor:
    """γ_in/(√m min ‖U_b − U_a‖) of n layers with Gaussian F of σ = 1 and random U; Thm 4.8 bounds it.

    Parameters
    ----------
    m, d, k : int
        neurons, inputs (at least 2) and dimension of the subspace.
    n : int
        layers.
    seed : int
        of F and U.

    Returns
    -------
    torch.Tensor
        (n,), float64; near √2 where ln d is small against m.

    Examples
    --------
    >>> bool(((sample_scaled_gaps(4000, 4, 2, n=3, seed=1) - math.sqrt(2)).abs() < 0.1).all())
    True
    """
    generator = torch_generator(seed, f"input gaps {m}")
    values = []
    for _ in range(n):
        U = torch.linalg.qr(torch.randn(d, k, dtype=torch.float64, generator=generator)).Q
        F = torch.randn(m, d, dtype=torch.float64, generator=generator)
        values.append(input_gap(F, U) / torch.pdist(U).min() / math.sqrt(m))
    return torch.stack(values)


def cheaper_share(m: int, d: int, k: int, n: int, seed: int) -> tuple[float, float]:
    """In what share of random layers some permutation of the inputs is cheaper than every transposition (footnote 6).

    Parameters
    ----------
    m, d, k : int
        neurons, inputs (at most 8) and dimension of the subspace; F is Gaussian and U random.
    n : int
        layers.
    seed : int
        of F and U.

    Returns
    -------
    (float, float)
        share and its standard error.

    Examples
    --------
    With two inputs there is one permutation, a transposition:

    >>> cheaper_share(3, 2, 1, n=10, seed=1)
    (0.0, 0.0)
    """
    generator = torch_generator(seed, f"footnote {m}")
    count = 0
    for _ in range(n):
        U = torch.linalg.qr(torch.randn(d, k, dtype=torch.float64, generator=generator)).Q
        F = torch.randn(m, d, dtype=torch.float64, generator=generator)
        count += least_shift(F, U)[0] < input_gap(F, U).item() * (1 - 1e-9)
    share = count / n
    return share, math.sqrt(share * (1 - share) / n)


def relative_error_bound(rho: float, ratio: float) -> float:
    """The right-hand side of eq. (147), a bound on ``|μ Δ_τ^in/‖δ_τ^in‖² − 1|``: Thm 4.7 with its constants.

        2ρ + ε/(μ − ε) (1 + 2ρ + 2ρ²)

    Parameters
    ----------
    rho : float
        ρ = ‖R‖/‖δ_τ^in‖.
    ratio : float
        ε/μ in [0, 1), where all S_i and S_i^τ are within ε of μI.

    Examples
    --------
    >>> relative_error_bound(0.1, 0.0)
    0.2
    """
    if not (rho >= 0 and 0 <= ratio < 1):
        raise ValueError(f"rho = {rho}, ratio = {ratio}; allowed: rho >= 0, 0 <= ratio < 1")
    return 2 * rho + ratio / (1 - ratio) * (1 + 2 * rho + 2 * rho**2)


def expected_column_distance(m: int, sigma: float = 1.0) -> float:
    """E ``|F_:b − F_:a|`` = 2σ Γ((m+1)/2)/Γ(m/2) for Gaussian columns of length m.

    Parameters
    ----------
    m : int
        number of neurons, at least 1.
    sigma : float
        σ_F > 0.

    Examples
    --------
    >>> abs(expected_column_distance(1) - 2 / math.sqrt(math.pi)) < 1e-15
    True
    """
    if not (m >= 1 and sigma > 0):
        raise ValueError(f"m = {m}, sigma = {sigma}; allowed: m >= 1, sigma > 0")
    return 2 * sigma * math.exp(float(gammaln((m + 1) / 2) - gammaln(m / 2)))
