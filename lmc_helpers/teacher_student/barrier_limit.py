"""The barrier between uniform minima when M → ∞ with m/M = r fixed (Zhan, Li & Wu, Figs. 2–3).

Halfway, every unmatched row contributes a term of one sign, with mean (c_d/2)(a + b − √(a² + b²)) for ends a and b on
different axes, c_d = E σ(x₁) ≈ 1/√(2πd). With many types the sum concentrates around its mean, and

    d B / M² → g(r)²/(8π),    g = lim (1/M) Σ_{unmatched rows} (a + b − √(a² + b²)).

In the limit the counts of a type in the two minima are independent 1 + Poisson(r − 1), the entries of a type are
uniform on the simplex, and the leftover rows of one minimum meet those of the other at random. g is the mean over
types; it is sampled here with as many types as wanted, free of finite-M effects (chapter *Where the barrier peaks*).
The place of the peak is that of a fitted polynomial, :func:`fitted_maximum`, averaged over independent batches.
"""

from __future__ import annotations

import numpy as np

from lmc_helpers.error_bars import over_clusters
from lmc_helpers.seeds import numpy_generator


def _entries(counts: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Type, entry and rank (0 = largest of its type) of every row, type after type; each (Σ counts,)."""
    types = np.repeat(np.arange(len(counts)), counts)
    entries = rng.exponential(size=len(types))
    entries /= np.bincount(types, entries)[types]
    order = np.lexsort((-entries, types))
    first = np.cumsum(counts) - counts
    return types, entries[order], np.arange(len(types)) - first[types]


def _cost(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """2/c_d times the mean error halfway of rows with the ends a and b on different axes."""
    return a + b - np.hypot(a, b)


def barrier_limits(r: float, types: int, seed: int) -> tuple[float, float]:
    """lim d B/M² after Algorithm 1 and for the direct line, sampled with so many types.

    Parameters
    ----------
    r : float
        m/M > 1.
    types : int
        sampled types, at least 1000.
    seed : int
        in [0, 2³²).

    Returns
    -------
    (float, float)
        g²/(8π) after Algorithm 1 and for the rows in random order.

    Raises
    ------
    ValueError
        if r <= 1 or fewer than 1000 types are asked for.

    Examples
    --------
    >>> permuted, direct = barrier_limits(2.0, types=20_000, seed=1)
    >>> 0.006 < permuted / direct < 0.010
    True
    """
    if not r > 1:
        raise ValueError(f"r = m/M = {r}; allowed: r > 1")
    if types < 1000:
        raise ValueError(f"types = {types}; allowed: types >= 1000")
    rng = numpy_generator(seed, f"barrier limit r={r}")
    counts = 1 + rng.poisson(r - 1, size=(2, types))
    (type1, entry1, rank1), (type2, entry2, rank2) = (_entries(c, rng) for c in counts)
    left1 = rng.permutation(entry1[rank1 >= counts[1][type1]])  # the smallest rows of a type find no partner
    left2 = rng.permutation(entry2[rank2 >= counts[0][type2]])
    u = min(len(left1), len(left2))  # they differ by O(√types)
    m = min(len(entry1), len(entry2))
    permuted = _cost(left1[:u], left2[:u]).sum() / types
    direct = _cost(rng.permutation(entry1)[:m], rng.permutation(entry2)[:m]).sum() / types
    return float(permuted**2 / (8 * np.pi)), float(direct**2 / (8 * np.pi))


def limit_curves(ratios, types: int, batches: int, seed: int) -> np.ndarray:
    """:func:`barrier_limits` at several m/M in independent batches.

    Parameters
    ----------
    ratios : sequence of float
        r = m/M > 1, (k,).
    types : int
        sampled types in each batch, at least 1000.
    batches : int
        independent repetitions, at least 1.
    seed : int
        batch number i has the seed ``seed + 1000 i``.

    Returns
    -------
    numpy.ndarray
        (batches, k, 2): permuted and direct.

    Raises
    ------
    ValueError
        if there is no batch, and as :func:`barrier_limits`.

    Examples
    --------
    >>> limit_curves([1.5, 2.0, 3.0], types=1000, batches=4, seed=1).shape
    (4, 3, 2)
    """
    if batches < 1:
        raise ValueError(f"batches = {batches}; allowed: batches >= 1")
    return np.array([[barrier_limits(float(r), types, seed + 1000 * k) for r in ratios] for k in range(batches)])


def fitted_maximum(x: np.ndarray, values: np.ndarray, degree: int = 4) -> float:
    """Where a curve through noisy positive values is largest: the maximum of a polynomial fitted to their logarithms.

    Parameters
    ----------
    x, values : numpy.ndarray
        (k,), k > degree, the peak in the interior.
    degree : int
        of the polynomial in log x.

    Returns
    -------
    float
        the place of the fitted maximum within [x.min(), x.max()].

    Raises
    ------
    ValueError
        if there are too few points, a value is not positive, or the maximum lies at an end.

    Examples
    --------
    >>> x = np.linspace(1, 4, 20)
    >>> round(fitted_maximum(x, np.exp(-np.log(x / 2) ** 2)), 6)
    2.0
    """
    if len(x) <= degree or not (values > 0).all():
        raise ValueError(f"{len(x)} points, smallest value {values.min()}; allowed: over {degree} points, values > 0")
    fit = np.polynomial.Polynomial.fit(np.log(x), np.log(values), degree)
    fine = np.linspace(np.log(x.min()), np.log(x.max()), 20_001)
    best = int(fit(fine).argmax())
    if best in (0, len(fine) - 1):
        raise ValueError(
            f"the largest value is at an end, x = {np.exp(fine[best]):.3g}; allowed: a peak in the interior"
        )
    return float(np.exp(fine[best]))


def peak_over_batches(x: np.ndarray, curves: np.ndarray) -> tuple[float, float]:
    """Place of the peak, the mean of :func:`fitted_maximum` over batches, and its error.

    Parameters
    ----------
    x : numpy.ndarray
        (k,).
    curves : numpy.ndarray
        (batches, k), positive; at least two batches.

    Returns
    -------
    (float, float)
        mean and error. The error is widened, so that 3.29 of them are Student's two-sided 10⁻³ bounds for few batches.

    Raises
    ------
    ValueError
        if there are fewer than two batches, and as :func:`fitted_maximum`.

    Examples
    --------
    >>> x = np.linspace(1, 4, 20)
    >>> place, error = peak_over_batches(x, [np.exp(-np.log(x / top) ** 2) for top in (1.9, 2.0, 2.1)])
    >>> round(place, 4), 0.1 < error
    (2.0, True)
    """
    if len(curves) < 2:
        raise ValueError(f"{len(curves)} batches; allowed: at least 2")
    return over_clusters([fitted_maximum(x, curve) for curve in curves])
