"""The barrier between uniform minima when M → ∞ with m/M = r fixed, exact (Zhan, Li & Wu, Figs. 2–3).

Halfway, every unmatched row contributes a term of one sign, with mean (c_d/2)(a + b − √(a² + b²)) for ends a and b on
different axes, c_d = E σ(x₁) ≈ 1/√(2πd). With many types the sum concentrates around its mean, and

    d B / M² → g(r)²/(8π),    g = lim (1/M) Σ_{unmatched rows} (a + b − √(a² + b²)).

In the limit the counts of a type in the two minima are independent 1 + Poisson(ν), ν = r − 1, and the entries of a type
are uniform on the simplex. The law of the rows that Algorithm 1 leaves over has a closed form, :func:`leftover_tail`.
How the leftovers of one minimum meet those of the other depends on the order of the rows; g is an integral over that
law for each order (chapter *Where the barrier peaks*): random, one after another with columns sorted in place
(``"in place"``), large with large (``"sorted"``), large with small (``"opposed"``). For the best of all permutations g
is the common value of two optimisation problems, :func:`best_cost`. Nothing is sampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import comb, eval_laguerre, gammaln
from scipy.stats import binom, poisson

from lmc_helpers._typing import Number, Positive, Reals, checked

Order = Literal["random", "in place", "sorted", "opposed"]  # how the leftovers meet
ORDERS = get_args(Order)
SMALLEST = 1e-13  # probability of the largest numbers of rows, left out
TERMS = 60  # of the series; the l-th is at most ν^l/l!
NODES = 60  # Gauss–Legendre nodes in the angle and in the radius
PLACES = 16  # Gauss–Legendre nodes in the height
QUANTILES = 20_000


def _check_ratio(r: float) -> None:
    if not 1 < r <= 10:
        raise ValueError(f"r = m/M = {r}; allowed: 1 < r <= 10")


@checked
def leftover_tail(a: Reals, r: Number) -> np.ndarray:
    """S(a): expected number of rows of a type, with an entry above a, that Algorithm 1 leaves over, for M → ∞.

        S(a) = e^(−ν) Σ_{2 <= l < 1/a} (−1)^l L_{l−2}(ν) e^(−νla) (x^l/l! + x^(l−1)/(l−1)!),   x = ν(1 − la),

    with ν = r − 1 and the Laguerre polynomials L. S(0) = r(1 − T_∞(r)), the unmatched rows per type. S = 0 from a = ½
    on.
    """
    _check_ratio(r)
    a = np.asarray(a, dtype=float)[..., None]  # (..., 1)
    if not (a >= 0).all():
        raise ValueError(f"an entry {a.min()}; allowed: entries >= 0")
    nu, k = r - 1, np.arange(2, TERMS)  # k is the l of the formula
    x = nu * np.clip(1 - k * a, 0, None)  # (..., TERMS − 2)
    with np.errstate(divide="ignore"):
        powers = np.exp(k * np.log(x) - gammaln(k + 1)) + np.exp((k - 1) * np.log(x) - gammaln(k))
    signs = (-1.0) ** k * eval_laguerre(k - 2, nu)
    return np.exp(-nu) * (signs * np.exp(-nu * k * a) * powers).sum(axis=-1)


def _row_tail(a: np.ndarray, r: float) -> np.ndarray:
    """Expected number of rows of a type with an entry above a, for M → ∞: e^(−νa)(1 + ν(1 − a)) for a < 1."""
    nu = r - 1
    return np.where(a < 1, np.exp(-nu * a) * (1 + nu * (1 - a)), 0.0)


def _leftover_tail_at(u: np.ndarray, a: np.ndarray, r: float) -> np.ndarray:
    """Leftover rows (U, A) of a type with an entry above a, per unit of height, at the share u of it, columns in place.

        s(u, a) = Σ_n P(N = n) n Σ_k P(Bin(n − 1, u) = k − 1) P(N < k) P(E_k > a),   N ~ 1 + Poisson(r − 1),

    with E_k the k-th largest entry of a uniform point of the simplex with n entries,

        P(E_k > a) = Σ_{l >= k} (−1)^(l−k) C(l−1, k−1) C(n, l) (1 − la)₊^(n−1).

    The places of the rows of a type are independent and uniform, the largest row comes first, and those without a
    partner come last. The integral over u is :func:`leftover_tail`.
    """
    nu = r - 1
    found = np.zeros((len(u), len(a)))
    for n in range(2, 2 + int(poisson.isf(SMALLEST, nu))):
        k = np.arange(1, n + 1)  # also the l of the formula
        fewer = poisson.cdf(k - 2, nu)  # P(N < k), (n,)
        weight = n * poisson.pmf(n - 1, nu) * binom.pmf(k - 1, n - 1, u[:, None]) * fewer  # (U, n), by k
        signs = (-1.0) ** (k[:, None] + k) * comb(k - 1, k[:, None] - 1) * comb(n, k)  # (n, n), by k and l
        found += weight @ signs @ np.clip(1 - k[:, None] * a, 0, None) ** (n - 1)
    return found


def _independent(tail: Callable[[np.ndarray], np.ndarray], largest: float) -> float:
    """∬ ab/(a² + b²)^(3/2) tail(a) tail(b) da db: E of a + b − √(a² + b²), times the square of the number of rows."""
    node, weight = np.polynomial.legendre.leggauss(NODES)
    angle = (node + 1) * (math.pi / 8)  # (NODES,), the half a > b of the square
    c, s = np.cos(angle), np.sin(angle)
    length = largest / c  # of the ray within the square
    radius = (node + 1) / 2 * length[:, None]  # (angles, radii)
    along = tail(radius * c[:, None]) * tail(radius * s[:, None]) @ weight * length / 2  # (angles,)
    return float(weight @ (c * s * along) * (math.pi / 4))


@checked
def leftover_cost(r: Number, leftovers: Order = "random") -> float:
    """g(r) = lim (1/M) Σ (a + b − √(a² + b²)) over the unmatched places after Algorithm 1.

    Their ends are independent for ``"random"``, g = (1/S(0)) ∬ ab/(a² + b²)^(3/2) S(a) S(b) da db; for ``"in place"`` g
    is the integral over u of the same with s(u, ·) for S; they are equal for ``"sorted"``, g = (2 − √2) ∫ S(a) da, and
    lie at the quantiles u and 1 − u for ``"opposed"``.

    Examples
    --------
    >>> opposed, random, equal = (leftover_cost(2.0, how) for how in ("opposed", "random", "sorted"))
    >>> opposed < random < equal
    True
    """
    _check_ratio(r)
    number = float(leftover_tail(0.0, r))
    if leftovers == "random":
        return _independent(lambda a: leftover_tail(a, r), 0.5) / number
    a = np.linspace(0, 1, 1001 if leftovers == "in place" else 4001) ** 1.5 / 2  # finer near 0
    if leftovers == "in place":
        node, weight = np.polynomial.legendre.leggauss(PLACES)
        tails = _leftover_tail_at((node + 1) / 2, a, r)  # (PLACES, 1001)

        def cost(tail: np.ndarray) -> float:
            return _independent(lambda x: np.asarray(np.interp(x, a, tail)), 0.5) / tail[0]

        each = [cost(tail) for tail in tails]
        return float(weight @ each / 2)
    tail = leftover_tail(a, r)
    if leftovers == "sorted":
        return (2 - math.sqrt(2)) * float(np.trapezoid(tail, a))
    u = (np.arange(QUANTILES) + 0.5) / QUANTILES
    end = np.interp(number * u, tail[::-1], a[::-1])  # quantiles, in descending order
    return number * float((end + end[::-1] - np.hypot(end, end[::-1])).mean())


def _ranked_tails(a: np.ndarray, r: float) -> np.ndarray:
    """P(N >= k and E_k > a) (K, A) for the k-th largest entry E_k of a type with N ~ 1 + Poisson(r − 1) rows."""
    most = 2 + int(poisson.isf(SMALLEST, r - 1))
    found = np.zeros((most, len(a)))
    for n in range(1, most + 1):
        k = np.arange(1, n + 1)  # also the l of P(E_k > a)
        signs = (-1.0) ** (k[:, None] + k) * comb(k - 1, k[:, None] - 1) * comb(n, k)
        found[:n] += poisson.pmf(n - 1, r - 1) * (
            signs @ np.where(k[:, None] * a < 1, 1 - k[:, None] * a, 0) ** (n - 1)
        )
    found[0] -= np.where(a < 1, 0, poisson.pmf(0, r - 1))  # 0⁰ of n = 1
    return found


@checked
def best_cost(r: Number, cells: Positive = 3000) -> tuple[float, float]:
    """Bounds of g(r) for the best of all permutations, from below and from above; they agree up to the cells.

        g = max_φ E V_φ,    V_φ = Σ_{k > min(N, N')} φ + Σ_{k <= min(N, N')} min(0, φ(a_k) + φ(b_k)),

    over monotone φ with φ(a) + φ(b) <= f(a, b) = a + b − √(a² + b²); a_k and b_k are the k-th largest entries of a
    type in the two minima. At the best φ the pairs with φ(a_k) + φ(b_k) < 0 are not matched, and all rows without a
    partner meet large with small, b = T(a), with φ' = ∂_a f(a, T(a)) and φ = f/2 where T(a) = a. Entries lie in
    ``cells`` cells.
    """
    _check_ratio(r)
    edge = np.linspace(0, 1, cells + 1) ** 1.5  # finer near 0
    a, tails = (edge[:-1] + edge[1:]) / 2, _ranked_tails(edge, r)
    tails[:, -1] = 0  # the last cell holds the types with one row
    mass = tails[:, :-1] - tails[:, 1:]  # (K, cells)
    fewer = poisson.cdf(np.arange(len(mass)) - 1, r - 1)[:, None]  # P(N' < k)

    def cost(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x + y - np.hypot(x, y)

    phi, last = cost(a, a) / 2 - 0.05, np.inf
    for _ in range(200):
        limit = np.interp(-phi, phi, a, left=0, right=1)  # pairs with b_k below it stay apart
        apart = 1 - fewer - np.stack([np.interp(limit, edge, tail) for tail in tails])  # P(N' >= k, b_k < limit)
        pool = (mass * (fewer + apart)).sum(axis=0)
        above = pool.sum() - pool.cumsum() + pool / 2
        T = np.interp(pool.sum() - above, above[::-1], a[::-1])
        slope = 1 - a / np.hypot(a, T)
        new = np.concatenate([[0], ((slope[1:] + slope[:-1]) / 2 * np.diff(a)).cumsum()])
        middle = np.interp([0.0], a - T, a)
        new += cost(middle, middle) / 2 - np.interp(middle, a, new)
        change, phi = np.abs(new - phi).max(), (new + phi) / 2
        if change < 1e-12 or change >= last < 1e-9:
            break
        last = change
    phi = phi - max(0.0, max((phi + one - cost(a, x)).max() for x, one in zip(a, phi, strict=True)) / 2)  # feasible
    low = 2 * float((mass * fewer).sum(axis=0) @ phi)
    for of_rank in mass:  # E min(0, φ(a_k) + φ(b_k))
        limit = np.interp(-phi, phi, a, left=0, right=1)
        number, weighed = (np.interp(limit, edge, np.concatenate([[0], v.cumsum()])) for v in (of_rank, of_rank * phi))
        low += float(of_rank @ (phi * number + weighed))
    return low, float(pool @ cost(a, T))


@checked
def barrier_limits(r: Number, leftovers: Order = "random") -> tuple[float, float]:
    """lim d B/M² after Algorithm 1 and for the direct line.

    Both are g²/(8π); on the direct line all rows meet in random order.

    Examples
    --------
    >>> permuted, direct = barrier_limits(2.0)
    >>> permuted < direct / 2
    True
    """
    permuted = leftover_cost(r, leftovers)
    direct = _independent(lambda a: _row_tail(a, r), 1.0) / r
    return permuted**2 / (8 * math.pi), direct**2 / (8 * math.pi)


@checked
def limit_peak(leftovers: Order | Literal["best"] = "random", relative: bool = False) -> float:
    """The r = m/M at which the limit of the permuted barrier is largest.

    ``relative``: of the permuted over the direct barrier instead, the paper's Fig. 3; ``"best"``: after the best of all
    permutations. Exact to five digits.

    Examples
    --------
    >>> round(limit_peak("sorted"), 2)
    2.32
    """

    def fall(r: float) -> float:
        permuted = sum(best_cost(r)) / 2 if leftovers == "best" else leftover_cost(r, leftovers)
        direct = math.sqrt(barrier_limits(r)[1]) if relative else 1.0
        return -math.log(permuted / direct)

    return float(minimize_scalar(fall, bounds=(1.3, 4.0), method="bounded", options={"xatol": 1e-6}).x)
