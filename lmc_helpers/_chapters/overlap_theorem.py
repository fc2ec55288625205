"""The overlap T(m, M) of type counts, approximations and its minimiser, for the chapter *overlap theorem*."""

from __future__ import annotations

import math
from math import comb

import numpy as np
from scipy.special import i0e, i1e

from lmc_helpers.teacher_student import mean_absolute_difference, minimiser_limit
from lmc_helpers.teacher_student.overlap import chebyshev_nodes


def free_choice_variance(m: int, M: int) -> float:
    """The variance of a type count under independent choices.

    That is the wording of Assumption 3: all m rows choose independently among M types, conditioned on no type being
    empty. The paper's formula has the variance (m − M)(1 − 1/M)/M instead. With the number S(r, t) = Σ_i (−1)^i C(t, i)
    (t − i)^r of maps from r rows onto t types, a type counts k rows with probability C(m, k) S(m − k, M − 1)/S(m, M).
    """

    def onto(rows: int, types: int) -> int:
        return sum((-1) ** i * comb(types, i) * (types - i) ** rows for i in range(types + 1))

    k = np.arange(1, m - M + 2)
    weight = np.array([comb(m, j) * onto(m - j, M - 1) / onto(m, M) for j in k.tolist()])
    return float(weight @ k**2 - (weight @ k) ** 2)


def all_overlaps(M: int, most: int) -> np.ndarray:
    """T(m, M) for m = M, …, most: E|X − Y| grows with n by 2p(1−p) P(X = Y), which obeys Legendre's recursion."""
    s, ties = 2 * (M - 1) / M**2, [0.0, 1.0]  # 2p(1−p); P(X = Y) for n − 1, after a 0
    for n in range(most - M):
        ties.append(((2 * n + 1) * (1 - s) * ties[-1] - n * (1 - 2 * s) * ties[-2]) / (n + 1))
    return 1 - s * M / 2 * np.cumsum(ties[:-1]) / np.arange(M, most + 1)


def normal_overlap(m: int, M: int) -> float:
    """T(m, M) with the normal approximation of E|X − Y|, eq. (15) before its limit: strictly below T for m > M >= 2."""
    return 1 - math.sqrt((m - M) * (M - 1) / math.pi) / m


def normal_limit(t: float) -> float:
    """The limit printed in eq. (16), 1 − √(t(1 − t)/π) with t = M/m."""
    return 1 - math.sqrt(t * (1 - t) / math.pi)


def minimiser_shift() -> float:
    """The c in argmin T(·, M) = ⌈r* M + c + O(1/M)⌉: the first order of h in 1/M at the root ν* of its limit.

    With u = 1 − cos θ and ⟨f⟩ = (1/π) ∫₀^π f e^(−2νu) dθ, h/(2p(1−p)M) = H₀(ν) + H₁(ν)/M + … and c = −H₁/H₀':

        H₀ = (1 + ν)⟨1⟩ − ½G,  H₁ = 2ν(1 + ν)(⟨u⟩ − ⟨u²⟩) − ½G + ν(⟨1⟩ − ⟨u⟩),  G = 2νe^(−2ν)(I₀ + I₁).
    """
    nu = minimiser_limit() - 1
    I0, I1 = i0e(2 * nu), i1e(2 * nu)
    I2 = I0 - I1 / nu
    one, u, u2 = I0, I0 - I1, 1.5 * I0 - 2 * I1 + 0.5 * I2
    G = 2 * nu * (I0 + I1)
    H1 = 2 * nu * (1 + nu) * (u - u2) - G / 2 + nu * (one - u)
    slope = 2 * I1 * (1 - nu**2)  # H₀' where I₀ = ν I₁
    return float(-H1 / slope)


def tie_probability(n: int, p: float) -> float:
    """P(X = Y) for independent X, Y ~ Bin(n, p): (1/π) ∫₀^π φ(θ) dθ, exact up to rounding."""
    return float(np.mean(np.exp(n * np.log1p(-2 * p * (1 - p) * chebyshev_nodes(n)))))


def minimiser(M: int) -> int:
    """The smallest m at which T(·, M) is minimal.

    T(m + 1, M) < T(m, M) exactly when h(n) = 2p(1−p)(n + M) P(X = Y) − ``E|X − Y|`` > 0, n = m − M, and h is strictly
    decreasing: T falls, then rises, and the first n with h(n) <= 0 is found by bisection.
    """
    p = 1 / M

    def rises(n: int) -> bool:
        gain, deficit = 2 * p * (1 - p) * (n + M) * tie_probability(n, p), mean_absolute_difference(n, p)
        return gain <= deficit * (1 + 1e-13)  # the slack is rounding: M = 2 is an exact tie

    low, high = 0, 2 * M  # T falls at n = 0
    while not rises(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if rises(middle) else (middle, high)
    return M + high
