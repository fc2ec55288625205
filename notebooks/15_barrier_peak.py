# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Where the barrier peaks
#
# :::{summary}
# **Question.** At which width is the {term}`barrier` between two matched networks largest?
#
# **The paper.** Zhan, Li & Wu (Z) {cite:p}`zhan2025`: after permutation the barrier rises with the width $m$ and then falls,
# and its maximum at $m = 2M$ "becomes more evident" as $M$ grows (Z, section 4; Z, Figs. 2 and 3, 20 and 50 pairs a point).
#
# **What we find.** Near $2M$. With many {term}`teacher <teacher and student>` neurons the barrier is largest at
# {glue:text}`peak_barrier:.3f` $M$ ({claim}`Z7.peak_of_barrier`), {glue:text}`peak_place:.3f` $M$ ({claim}`Z7.peak_of_barrier_in_place`) or
# {glue:text}`peak_sorted:.3f` $M$ ({claim}`Z7.peak_of_barrier_sorted`), by the order in which {term}`Algorithm 1` finds its leftovers,
# and after the best permutation at {glue:text}`peak_best:.3f` $M$ ({claim}`Z7.peak_of_best`). At $2M$ it is {glue:text}`below_best` to
# {glue:text}`below_sorted` % below its maximum ({claim}`Z7.height_at_2M`). With six it is largest at $2M$ up to one neuron if columns are
# sorted in place ({claim}`Z6.peak_uniform`), without a descent before ({claim}`Z8.second_descent_uniform_in_place`), and farther
# left after the best permutation ({claim}`Z6.peak_uniform_best`). The ratio to the {term}`direct barrier` peaks later
# ({claim}`Z7.peak_of_ratio`).
#
# **Why it matters.** For random minima the width to avoid is near twice that of the task; to pin it down further one must say how
# the leftovers are paired.
# :::
#
# :::{need}
# You need: Algorithm 1 ([](13_algorithm_1.ipynb)), the unmatched mass ([](14_barrier_rate.ipynb)), Poisson laws; Laguerre
# polynomials appear in a closed form. {{ times }}
# :::

# %% Parameters tags=["parameters"]
types: int = 100_000  # sampled types, to check the law of the leftovers
pairs: int = 400  # pairs of minima per width with four teachers
pairs_figure: int = 200  # pairs per width with six teachers, Z, Fig. 2
pairs_uniform: int = 1200  # pairs per width around its peak
M: int = 20  # teachers of Z, Fig. 3, beside four; a quarter of the pairs
M_large: int = 100  # a twentieth of the pairs
M_largest: int = 500  # a fortieth of the pairs
M_best: int = 100  # teachers of the best permutation
pairs_best: int = 100  # pairs of minima for it, at each of five widths
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    types=Integer(1000, 100_000_000),
    pairs=Integer(4, 100_000),
    pairs_figure=Integer(4, 100_000),
    pairs_uniform=Integer(4, 1_000_000),
    M=Integer(5, 500),
    M_large=Integer(6, 500),
    M_largest=Integer(7, 500),
    M_best=Integer(5, 1000),
    pairs_best=Integer(2, 10_000),
)

import math
from functools import cache, partial

import numpy as np
import torch
from scipy.special import eval_laguerre, factorial, ive

from lmc_helpers import claims, figures, seeds
from lmc_helpers._chapters.barrier_peak import halfway_costs
from lmc_helpers.barrier import loss_barrier
from lmc_helpers.error_bars import mean_and_error, ratio_of_means, slope_and_error
from lmc_helpers.matching import algorithm_1, pair_matching, permute
from lmc_helpers.teacher_student import (
    ORDERS,
    barrier_limits,
    best_cost,
    leftover_cost,
    leftover_tail,
    limit_peak,
    overlap,
    permuted_and_direct,
    population_loss,
    sample_minima,
    uniform_barriers,
)

# %% [markdown]
# ## More leftovers, but smaller ones
#
# Throughout, {term}`minima <minimum>` follow {term}`Assumption 3`: each row is on the ray of one teacher neuron (its *type*), the $m - M$ surplus rows
# choose their types at random, and the entries of a type are uniform on the simplex. Algorithm 1 pairs rows of {term}`one type <type>`,
# large with large; the *leftovers* have no partner of their type. The *permuted* barrier is the largest loss on the line
# after Algorithm 1, on the {term}`paper's grid` $\lambda = 0, 0.1, \dots, 1$; the *direct* one that of the two networks as they come.
#
# Why there is a peak at all: with growing width more rows are left over, but they get smaller.

# %% Plot the idea: number and mass of the leftovers
ratios_shown = np.linspace(1.02, 6, 120)  # m/M
per_type = [leftover_tail(np.zeros(1), x)[0] for x in ratios_shown]
costs = [leftover_cost(x, "sorted") for x in ratios_shown]  # (2 − √2) × mass
mass = np.array(costs) / (2 - math.sqrt(2))
figure, (left, right) = figures.panels(2, height=3.3)
left.plot(ratios_shown, per_type, color="book:blue")
left.set(xlabel="$m/M$", ylabel="leftover rows of a type", ylim=(0, None))
right.plot(ratios_shown, mass, color="book:red")
right.plot(ratios_shown[mass.argmax()], mass.max(), "v", color="book:black")
right.set(xlabel="$m/M$", ylabel="their mass", ylim=(0, None))
figures.show("fig_more_smaller", figure)

# %% [markdown]
# :::{glue:figure} fig_more_smaller
# :alt: Left, the number of leftover rows of a type grows steadily with the width. Right, their mass rises to a maximum a little above twice the number of teachers and falls slowly.
#
# Many teachers, exact ({prf:ref}`thm-leftovers`): leftovers of a type in one network, and their mass,
# of 1 for all rows of a type. The triangle marks the maximum.
# :::
#
# ## The input dimension only scales
#
# :::{prf:proposition} Barrier and input dimension
# :label: prop-dimension
# For minima, $d \cdot B$ does not depend on $d \ge M$, for any pairing of the rows. The ratio of the permuted and the direct
# barrier does not depend on $d$ at all.
# :::
#
# :::{prf:proof}
# All rows on the segment lie in the span of $e_1, \dots, e_M$, so their norms and angles do not involve $d$, and in the loss
# $d$ enters only through the factor $1/d$ of $\kappa$.
# :::
#
# This explains Z, Fig. 11, exactly, for uniform minima: the barrier decreases with $d$, "while the gap between the permuted
# barrier and the direct barrier remains almost the same" on a logarithmic scale. (The caption of Z, Fig. 12 says "increasing
# when $d$ is going up" where $M$ is meant: $d$ is fixed there.) The same minima in six dimensions:

# %%
dims = [2**k for k in range(2, 8)]
heights = []  # mean barrier after Algorithm 1, M = 4 and m = 8
for d in dims:  # the same minima in every dimension: the seed ignores d
    W1, W2 = sample_minima(8, 4, d, 2 * 20, seed).split(20)  # (20, m, d)
    permuted, direct = permuted_and_direct(W1, W2, M=4)  # (20,) each
    heights.append(permuted.mean().item())
    print(f"d = {d:>3}, d B = {d * heights[-1]:.8f}")
slope = np.polyfit(np.log(dims), np.log(heights), 1)[0]

# %%
claims.check("Z15.dimension", float(slope), n=len(dims))

# %% [markdown]
# ## Many teachers
#
# Line 16 of Algorithm 1 fills the leftover rows of $W^{(2)}$ "sequentially into the empty rows". In which order they stand
# depends on that of the rows of a minimum, which Assumption 3 leaves open, and on how line 1 sorts the "non-zero elements of
# each column … in descending order". Three readings:
#
# - *random*: the rows of a minimum stand in random order and the sorting only says which row meets which;
# - *in place*: the entries of each column are sorted within the matrix, so that the smaller leftovers stand farther down;
# - *large with large*: all rows are sorted.
#
# For comparison a fourth, *large with small*, which is not that of Algorithm 1.
#
# :::{prf:theorem} The barrier for many teachers
# :label: thm-many-teachers
# Let $W^{(1)}, W^{(2)}$ follow Assumption 3, $M \to \infty$, $m/M \to r > 1$, $d \ge M$. After Algorithm 1, with leftovers in one of
# the four orders,
#
# $$
# \begin{aligned}
# \frac{d}{M^2}\, B &\to \frac{g(r)^2}{8\pi}, \\
# g(r) &= \lim \frac1M \sum_{i \in R} \rho(a_i, b_i)
# \end{aligned}
# $$
#
# in probability, where $R$ are the unmatched places, $a_i$, $b_i$ the entries that meet there and
# $\rho(a, b) = a + b - \sqrt{a^2 + b^2}$ the price of such a pair, the $\rho_i$ of {prf:ref}`thm-assignment`. The direct barrier has the same
# limit with all rows in random order in place of $R$.
# :::
#
# :::{prf:proof}
# *Concentration, for every permutation and all pairs of minima.* On the segment every $|\partial_j (f - f^*)| \le 1$ for $j \le M$, and 0 otherwise, because
# the entries of a column are $\ge 0$ and add up to 1. By Poincaré's inequality on the sphere the variance of $f - f^*$ over $x$ is at
# most $M/(d - 1)$. As in [the previous chapter](14_barrier_rate.ipynb), $f - f^* = \sum_R \Delta_i(x)$ with all terms $\le 0$.
# With $c_d = \mathbb E\, \sigma(x_1) \sim (2\pi d)^{-1/2}$, uniformly,
#
# $$
# \begin{aligned}
# \mathbb E|\Delta_i| &= c_d\, \rho\bigl(\lambda a_i, (1 - \lambda) b_i\bigr), \\
# \tfrac{d}{M^2} L &= \tfrac{d}{M^2} \Bigl( \sum_R \mathbb E|\Delta_i| \Bigr)^2 + O(\tfrac1M).
# \end{aligned}
# $$
#
# *The mean.* Type counts tend to independent
# $1 + \operatorname{Poisson}(r - 1)$ ([the overlap theorem](12_overlap_theorem.ipynb)), so the empirical law of the leftovers of
# each network and of their places converges, and with it the sum over rows in each of the orders. Its limit is concave in $\lambda$,
# because the root is convex, and symmetric, because the two minima have the same law: the maximum is at $\lambda = \tfrac12$.
# :::
#
# The law of the leftovers has a closed form, so that nothing needs to be sampled.
#
# :::{prf:theorem} The law of the leftovers
# :label: thm-leftovers
# In this limit, with $\nu = r - 1$, the expected number of leftover rows of a type whose entry exceeds $a > 0$ is
#
# $$
# \begin{aligned}
# e^\nu S(a) &= \sum_{2 \le l < 1/a} \!\! (-1)^l e^{-\nu l a} L_{l-2}(\nu)\, y_l, \\
# y_l &= \frac{x_l^l}{l!} + \frac{x_l^{l-1}}{(l-1)!}
# \end{aligned}
# $$
#
# with $x_l = \nu (1 - la)$ and the Laguerre polynomials $L_n$. Hence, with $S(0) = \nu e^{-2\nu} (I_0(2\nu) + I_1(2\nu))$, for leftovers in random order
# and for large with large
#
# $$
# \begin{aligned}
# g_{\text{random}} &= \iint \frac{ab\, S(a) S(b)}{(a^2 + b^2)^{3/2}}\, \frac{da\, db}{S(0)}, \\
# g_{\text{large}} &= (2 - \sqrt2) \int_0^{1/2} S(a)\, da,
# \end{aligned}
# $$
#
# and large with small pairs the quantile $u$ of this law with the quantile $1 - u$. For the direct line
# $S$ is replaced by $e^{-\nu a}(1 + \nu(1 - a))$, $a < 1$, and $S(0)$ by $r$.
# :::
#
# :::{prf:proof}
# Let a type have $N$ rows in one network and $N'$ in the other, both $1 + \operatorname{Poisson}(\nu)$, and let $N_a$ of the $N$ exceed
# $a$. The $N'$ largest are matched, so $(N_a - N')_+$ leftovers exceed $a$. Given $N = n$, any $l$ entries all exceed $a$ with
# probability $(1 - la)_+^{n-1}$; summing over $n$, $\mathbb E \binom{N_a}{l} = e^{-\nu l a} y_l$ for $la < 1$, and 0 otherwise.
# With $h(k) = \mathbb E (k - N')_+$, Newton's formula is $h(N_a) = \sum_l \binom{N_a}{l}\, \Delta^l h(0)$. Here
# $h(0) = \Delta h(0) = 0$ and $\Delta^2 h(k)$ is $P(N' = k + 1) = e^{-\nu} \nu^k/k!$, so that
#
# $$
# \begin{aligned}
# \Delta^l h(0) &= e^{-\nu} \sum_i (-1)^{l-2-i} \tbinom{l-2}{i} \frac{\nu^i}{i!} \\
# &= (-1)^l e^{-\nu} L_{l-2}(\nu).
# \end{aligned}
# $$
#
# The price $\rho$ vanishes on both axes, so for independent ends its mean is the
# integral of $\partial_a \partial_b \rho = ab/(a^2 + b^2)^{3/2}$ against the two tails; for equal ends $\rho = (2 - \sqrt2) a$. $S(0)$ is
# $\tfrac12 \mathbb E|N - N'|$ of the {term}`overlap` theorem, and the tail of all rows is $\mathbb E N_a$, the case $l = 1$.
# :::
#
# :::{prf:proposition} Leftovers of columns sorted in place
# :label: prop-in-place
# With columns sorted in place, $g = \int_0^1 g_u\, du$, where $g_u$ is $g_{\text{random}}$ with $s_u$ in place of $S$. With
# $N \sim 1 + \operatorname{Poisson}(\nu)$ and the $k$-th largest $e_{(k)}$ of $n$ entries that are uniform on the simplex,
#
# $$
# s_u(a) = \sum_{n \ge 2} \sum_{k=1}^n n\, \pi_{nk}\, P(e_{(k)} > a),
# $$
#
# where $\pi_{nk}$ is $P(N = n)$ times $P(\operatorname{Bin}(n - 1, u) = k - 1)$ times $P(N < k)$.
# :::
#
# :::{prf:proof}
# The rows of a type
# stand at independent uniform shares of the height, the $k$-th largest at the $k$-th of them. A row at the share $u$ with $n - 1$ others has
# $k - 1$ of them above it with the binomial probability, and is left over if $N' < k$. So $s_u(a)$ is the density in $u$ of leftovers with
# entries above $a$. It is the same law in both networks, so that leftovers at equal $u$ meet, independently given $u$.
# :::
#
# The law $S(a)$ by the sum, beside a sample of {glue:text}`types_sampled` types, at $m = 2M$:

# %%
r = 2.0  # m = 2M
nu, k = r - 1, np.arange(2, 40)  # k is the l of the theorem
a = np.array([0.0, 0.05, 0.1, 0.2, 0.3])[:, None]  # (5, 1)
x = nu * np.clip(1 - k * a, 0, None)  # (5, k)
terms = (x**k / factorial(k) + x ** (k - 1) / factorial(k - 1)) * np.exp(
    -nu * k * a
)
S = np.exp(-nu) * ((-1.0) ** k * eval_laguerre(k - 2, nu) * terms).sum(axis=1)

rng = seeds.numpy_generator(seed, "one sample of the limit")
mine, other = 1 + rng.poisson(nu, size=(2, types))  # rows of each type
kind = np.repeat(np.arange(types), mine)  # type of each row
e = rng.exponential(size=len(kind))
e /= np.bincount(kind, e)[kind]  # uniform on the simplex of its type
e = e[np.lexsort((-e, kind))]  # type by type, in descending order
rank = np.arange(len(kind)) - (np.cumsum(mine) - mine)[kind]
left = e[rank >= other[kind]]  # the rows without a partner
sampled = (left > a).sum(axis=1) / types
print("S(a)   ", S.round(5), "\nsampled", sampled.round(5))
print("equal to leftover_tail:", np.allclose(S, leftover_tail(a[:, 0], r)))

# %% [markdown]
# The places of the peaks, each the maximum of an exact curve
# ({py:func}`~lmc_helpers.teacher_student.barrier_limit.limit_peak`; *sorted* is large with large, *opposed* large with small):

# %%
peaks = {  # m/M where the barrier, and permuted/direct, is largest
    how: (limit_peak(how), limit_peak(how, relative=True)) for how in ORDERS
}
for how, (of_barrier, of_ratio) in peaks.items():
    print(f"{how:<8} barrier {of_barrier:.4f} M, ratio {of_ratio:.4f} M")

# %% Check where the limits of Z7 peak
claims.check("Z7.peak_of_barrier", peaks["random"][0], n=1)
claims.check("Z7.peak_of_ratio", peaks["random"][1], n=1)
claims.check("Z7.peak_of_barrier_in_place", peaks["in place"][0], n=1)
claims.check("Z7.peak_of_ratio_in_place", peaks["in place"][1], n=1)
claims.check("Z7.peak_of_barrier_sorted", peaks["sorted"][0], n=1)
claims.check("Z7.peak_of_ratio_sorted", peaks["sorted"][1], n=1)
claims.check("Z7.peak_of_barrier_opposed", peaks["opposed"][0], n=1)

# %% [markdown]
# ## The best permutation
#
# "The optimal permutation" may also be meant at its word: the best of all $m!$. Its limit is the largest of a family of lower bounds, which the permutation that fits this bound attains.
#
# :::{prf:theorem} The best of all permutations
# :label: thm-best
# In the limit of {prf:ref}`thm-many-teachers`, with its price $\rho(a, b)$, let $\varphi$ be a non-decreasing function on $[0, 1]$ with $\varphi(a) + \varphi(b) \le \rho(a, b)$ for all $a$, $b$, and for a type with the entries $a_1 \ge \dots \ge a_N$ and $b_1 \ge \dots \ge b_{N'}$ in the two networks let
#
# $$
# V_\varphi = \min_{0 \le k \le \min(N, N')} \Bigl( \sum_{i > k} \varphi(a_i) + \sum_{i > k} \varphi(b_i) \Bigr) .
# $$
#
# 1. For every permutation $\frac1M \sum_{i \in R} \rho(a_i, b_i) \ge \frac1M \sum_{\text{types}} V_\varphi$, so that for every $\varepsilon > 0$, with probability tending to 1, $\frac d{M^2} \min_p B \ge (\mathbb E V_\varphi)_+^2/(8\pi) - \varepsilon$.
# 2. Match the $k$-th largest entries of a type, $k \le \min(N, N')$, if $\varphi(a_k) + \varphi(b_k) \ge 0$, and put all other rows into one pool, large with small, equal entries in random order: the quantile $u$ meets the quantile $1 - u$, $b = T(a)$ (with several values at an atom). This is a permutation with $\frac d{M^2} B \to \bar g^2/(8\pi)$, $\bar g$ being the mean of $\rho(a, T(a))$ over the pool times its rows per type.
# 3. If $\varphi(a) + \varphi(T(a)) = \rho(a, T(a))$ almost everywhere in the pool, then $\bar g = \mathbb E V_\varphi$, and both bounds are equal.
# 4. $\mathbb E V_\varphi$ has a largest value, and some $\varphi$ that attains it is of this kind. So $\frac d{M^2} \min_p B \to (\max_\varphi \mathbb E V_\varphi)^2/(8\pi)$, and no permutation is better in the limit than that of part 2 for this $\varphi$.
#
# All limits are in probability.
# :::
#
# :::{prf:proof}
# *1.* Places with rows of equal types cost nothing, and every other place costs at least $\varphi(a) + \varphi(b)$. If $k$ pairs of a type meet, then, as $\varphi$ does not decrease, the rest costs least if these are the largest entries, hence at least $V_\varphi$. Type counts tend to independent
# $1 + \operatorname{Poisson}(\nu)$, and the mean over types obeys the law of large numbers. By the concentration in the proof of {prf:ref}`thm-many-teachers`, which holds for every permutation, $B \ge L$ half-way is $\frac{M^2}{8 \pi d}$ times the square of the sum, up to $O(M/d)$.
#
# *2.* $\varphi(a_k) + \varphi(b_k)$ decreases in $k$, so the rule takes the first ones and attains $V_\varphi$. Two entries below 1 of one type, one in each network, have a joint density and lie on the decreasing curve $b = T(a)$ with probability 0; the order of equal entries is random. So only $o(M)$ pairs of the pool have equal types, which does not change the limit. The pools of the two networks have equally many rows and the same limit law. At $\lambda$ the sum is $\sum \rho(\lambda a, (1 - \lambda) b)$, which is concave in $\lambda$, and as the coupling of $u$ with $1 - u$ is symmetric, symmetric in the limit: the maximum is half-way.
#
# *3.* Then $\bar g$ is the mean of $\varphi(a) + \varphi(T(a))$ times the rows per type, which is $\mathbb E V_\varphi$.
#
# *4.* Call $\varphi$ feasible if $\varphi(a) + \varphi(b) \le \rho(a, b)$ for all $a$, $b$, let $\varphi^c(a) = \min_b\, [\rho(a, b) - \varphi(b)]$, and let $K$ be the set of the feasible $\varphi$ that do not decrease, have slopes of at most 1, and $\varphi(1) \ge 0$.
# It is convex, and compact by the theorem of Arzelà and Ascoli, as $-1 \le \varphi \le \frac12 \rho(1, 1)$. $V_\varphi$ is concave in $\varphi$, a least of finitely many sums, does not decrease with $\varphi$, and $|V_\varphi - V_\psi| \le (N + N') \max |\varphi - \psi|$; so $\mathbb E V_\varphi$ has a largest value on $K$.
#
# *It is positive.* Let $\varphi(a) = (1 - \frac1{\sqrt 2}) \min(2a - \varepsilon, \varepsilon)$ with $0 < \varepsilon \le 1$. For $b \le a$ we have $\varphi(a) + \varphi(b) \le (2 - \sqrt 2)\, b = \rho(b, b) \le \rho(a, b)$, so $\varphi \in K$. Every $k$ leaves at least $|N - N'|$ rows, so that $\mathbb E V_\varphi \ge \varphi(1) \bigl( \mathbb E |N - N'| - 2 n_\varepsilon \bigr)$, and the expected number $n_\varepsilon$ of entries of both below $\varepsilon$ tends to 0.
#
# *A maximiser without ties.* With $\varphi$ also $\frac12 (\varphi^c + \varphi^{cc})$ is in $K$ and not below $\varphi$: $\varphi^c$ and $\varphi^{cc}$ are both at least $\varphi$, do not decrease and have slopes of at most 1, as $\rho$ has in $a$, and $\varphi^c(a) + \varphi^{cc}(b) \le \rho(a, b)$. So some maximiser is of this form.
# As $\rho(a, b)$ increases strictly in $a$ unless $b = 0$, and $\rho(a, 0) = 0$, $\varphi^c$ increases strictly where the minimum is not at $b = 0$; where it is, $\varphi^c$ has its largest value, $-\varphi(0)$, on an interval up to 1. The same holds for $\varphi^{cc}$, so that the maximiser increases strictly up to some $\alpha \le 1$ and is constant on $[\alpha, 1]$. Then $\varphi(a_k) + \varphi(b_k) = 0$ has probability 0: two entries on the flat part would give $\varphi(1) = 0$ and $V_\varphi \le 0$, against $\mathbb E V_\varphi > 0$; otherwise one of the two is below $\alpha$ and determined by the other, of which it is independent given $N$ and $N'$, and entries below 1 have a density.
#
# *It fits its own pool.* Let $k$ be the number that the rule matches for this maximiser $\varphi$, and $S_k(\psi) = \sum_{i > k} \psi(a_i) + \sum_{i > k} \psi(b_i)$. For $\psi \in K$, $0 < t < 1$, let $k_t$ belong to $(1 - t)\, \varphi + t \psi \in K$. Then
#
# $$
# \begin{aligned}
# \mathbb E V_\varphi & \ge \mathbb E \bigl[ (1 - t)\, S_{k_t}(\varphi) + t\, S_{k_t}(\psi) \bigr] \\
# & \ge (1 - t)\, \mathbb E V_\varphi + t\, \mathbb E S_{k_t}(\psi),
# \end{aligned}
# $$
#
# so that $\mathbb E S_{k_t}(\psi) \le \mathbb E V_\varphi$. Without ties $k_t = k$ almost surely for all small $t$, and as $|S_{k_t}(\psi)| \le N + N'$, $\mathbb E S_k(\psi) \le \mathbb E V_\varphi = \mathbb E S_k(\varphi)$. Let $\mu$ be the limit law of the pool, the same in both networks, a measure with its rows per type as mass: $\varphi$ maximises $2 \int \psi\, d\mu$ on $K$.
# By Kantorovich's duality {cite:p}`villani2009` the least $\int \rho$ of all couplings of $\mu$ with itself is the largest $\int \psi\, d\mu + \int \chi\, d\mu$ with $\psi(a) + \chi(b) \le \rho(a, b)$, attained by functions that do not decrease and have slopes of at most 1.
# As $\rho$ is symmetric their mean is feasible and attains it, too; its integral is not negative, as $\rho \ge 0$, hence its value at 1 is not either, and it is in $K$. So $\mathbb E V_\varphi = 2 \int \varphi\, d\mu$ is the least $\int \rho$. The coupling that attains it is that of $u$ with $1 - u$, as $\partial_a \partial_b \rho > 0$: it is $\bar g$, and $\varphi(a) + \varphi(b) = \rho(a, b)$ almost everywhere in the pool.
#
# So part 3 applies, and parts 1 and 2 give the limit. For any other $\psi$ of the theorem, in $K$ or not, part 1 for $\psi$ and part 2 for $\varphi$ give $\mathbb E V_\psi \le \bar g = \mathbb E V_\varphi$.
# :::
#
# In the pool $\varphi'(a) = \partial_a \rho(a, T(a)) = 1 - a/\sqrt{a^2 + T(a)^2}$, and $\varphi(a) = \frac12 \rho(a, a)$ where $T(a) = a$. Pool and $\varphi$ are found in turn
# ({py:func}`~lmc_helpers.teacher_student.barrier_limit.best_cost`), and the bounds of parts 1 and 2 for them agree within {glue:text}`bounds_apart` of $g$:

# %%
places = np.linspace(1.6, 2.4, 5)  # m/M
bounds = np.array([best_cost(r) for r in places])  # g from below and above
for r, (low, high) in zip(places, bounds, strict=True):
    print(f"m = {r:.1f} M: {low:.7f} <= g <= {high:.7f}")
peak_best = limit_peak("best")
print(f"largest at m = {peak_best:.4f} M")

# %% [markdown]
# At finite $M$ the best permutation is a linear assignment ({prf:ref}`thm-assignment`), a test of the limit that shares no code with it. The squared least cost over that of large with small:

# %%
exact, found = [], []  # logarithms, and errors
for r, g in zip(places, bounds.mean(axis=1), strict=True):
    costs = halfway_costs(round(r * M_best), M_best, pairs_best, seed)
    ratio, error = ratio_of_means(*costs, paired=True)
    exact.append(2 * math.log(g / leftover_cost(r, "opposed")))
    found.append((2 * math.log(ratio), 2 * error / ratio))
    print(f"{r:.1f} M: limit {math.exp(exact[-1]):.4f}, here {ratio**2:.4f}")
apart = np.array(found)[:, 0] - exact
apart_error = np.linalg.norm(np.array(found)[:, 1]) / len(places)

# %%
claims.check("Z7.peak_of_best", peak_best, n=1)
claims.check("Z7.best_limit", apart.mean(), stderr=apart_error, n=pairs_best)

# %% Plot the best permutation
fine = np.linspace(1.6, 2.4, 17)  # m/M
best = [np.mean(best_cost(r, cells=500)) ** 2 / (8 * math.pi) for r in fine]
opposed = {r: barrier_limits(r, "opposed")[0] for r in (*fine, *places)}
height = [opposed[r] for r in places] * np.exp(np.array(found).T[0])
figure, axis = figures.panels(height=3.6)
style = dict(color="book:grey", label="limit, large with small")
axis.plot(fine, [opposed[r] for r in fine], "-.", **style)
style = dict(color="book:black", label="limit, best permutation")
axis.plot(fine, best, **style)
style = dict(color="book:blue", fmt="o", label=f"assignment, $M = {M_best}$")
figures.band(axis, places, height, height * np.array(found).T[1], **style)
axis.axvline(peak_best, color="book:orange", linestyle=":", label="peak")
axis.set(xlabel="$m/M$", ylabel="$d\\, B / M^2$")
figures.show("fig_best", figure, legend=2)

# %% [markdown]
# :::{glue:figure} fig_best
# :alt: Two curves against the width. That of the best permutation lies some five per cent below that of large with small, and its peak is a little left of twice the number of teachers. Five points with error bars lie on it.
#
# The limit of {prf:ref}`thm-best` and that of large with small, with exact assignments at $M =$ {glue:text}`M_best`: their squared least cost over that of large with small times its limit; bars: ±3.29 standard errors (profile {glue:text}`profile`).
# :::
#
# The best permutation does not match all that it could: $\varphi(a_k) + \varphi(b_k) < 0$ for two small rows, which save more as partners of large leftovers. The rows that have no partner of their type, at $m = 2M$:

# %%
single = np.zeros((2, 20))  # in each network, over M
W1, W2 = sample_minima(2 * M_best, M_best, M_best, 40, seed + 2).split(20)
for k, (a, b) in enumerate(zip(W1, W2, strict=True)):
    for how, p in enumerate((pair_matching(a, b), algorithm_1(a, b))):
        single[how, k] = (a.argmax(dim=1) != b[p].argmax(dim=1)).sum() / M_best
limit = ive(0, 2) + ive(1, 2)  # E (N − N')₊ at ν = 1, I_0 and I_1 over e²
print("best: {:.3f} M, Algorithm 1: {:.3f} M".format(*single.mean(axis=1)))
figures.numbers(
    bounds_apart=f"{((bounds[:, 1] - bounds[:, 0]) / bounds[:, 0]).max():.0e}",
    single_best=f"{single[0].mean():.3f}",
    single_algorithm=f"{single[1].mean():.3f}",
    single_limit=f"{limit:.3f}",
    single_pairs=single.shape[1],
)

# %% [markdown]
# Among {glue:text}`M_best` teachers and {glue:text}`single_pairs` pairs the best permutation leaves {glue:text}`single_best` $M$ rows of a network alone, Algorithm 1 {glue:text}`single_algorithm` $M$ (in the limit {glue:text}`single_limit` $M$): what [](13_algorithm_1.ipynb) finds for some pairs of six neurons is so in the mean.


# %% Numbers for the text
at_2M = {  # share by which the barrier at 2M is below its maximum
    how: 1 - (leftover_cost(2.0, how) / leftover_cost(peaks[how][0], how)) ** 2
    for how in ORDERS
}
at_2M["best"] = 1 - (np.mean(best_cost(2.0)) / np.mean(best_cost(peak_best))) ** 2
ratio_at_2M = {  # the same for the ratio to the direct barrier
    how: 1
    - np.divide(*barrier_limits(2.0, how))
    / np.divide(*barrier_limits(peaks[how][1], how))
    for how in ORDERS
}
figures.numbers(
    types_sampled=f"{types:,}",
    pairs_M=max(4, pairs // 4),
    pairs_large=max(4, pairs // 20),
    pairs_largest=max(4, pairs // 40),
    peak_barrier=peaks["random"][0],
    peak_place=peaks["in place"][0],
    below_random=f"{100 * at_2M['random']:.1f}",
    below_place=f"{100 * at_2M['in place']:.1f}",
    below_sorted=f"{100 * at_2M['sorted']:.1f}",
    below_best=f"{100 * at_2M['best']:.1f}",
    ratio_random=f"{100 * ratio_at_2M['random']:.1f}",
    ratio_place=f"{100 * ratio_at_2M['in place']:.1f}",
    ratio_sorted=f"{100 * ratio_at_2M['sorted']:.1f}",
    peak_sorted=peaks["sorted"][0],
    peak_best=peak_best,
    better=f"{100 * (1 - math.exp(np.mean(exact))):.0f}",
    overlap_minimum=overlap.minimiser_limit(),
    gap_limit=float(np.divide(*barrier_limits(2.0))),
    gap_opposed=float(np.divide(*barrier_limits(2.0, "opposed"))),
)

# %%
judged = ("random", "in place", "sorted", "best")
claims.check("Z7.height_at_2M", max(at_2M[how] for how in judged), n=4)

# %% Show where the barriers peak
ORDER_NAMES = {
    "random": "in random order",
    "in place": "sorted in place",
    "sorted": "large with large",
    "opposed": "large with small (not Algorithm 1)",
}
rows = [
    [words, *(f"{peak:.4f} $M$" for peak in peaks[how])]
    for how, words in ORDER_NAMES.items()
]
rows.append(["by the best permutation", f"{peak_best:.4f} $M$", ""])
head = "leftovers meet | barrier peaks at | permuted/direct peaks at"
figures.table(head, rows)

# %% [markdown]
# The barrier at $2M$ is {glue:text}`below_random`, {glue:text}`below_place` and {glue:text}`below_sorted` % lower than at the peak
# in the first three orders and {glue:text}`below_best` % after the best permutation ({claim}`Z7.height_at_2M`), less than a logarithmic
# axis shows; the ratio to the direct barrier, which Z, Fig. 3 draws, {glue:text}`ratio_random`, {glue:text}`ratio_place` and
# {glue:text}`ratio_sorted` %. So "near $2M$" is right; in the orders of Algorithm 1 the exact place is to the right of
# it, and does not come closer as $M$ grows. "The barrier after the best permutation", taken at its word, peaks for many teachers
# a little below $2M$; the paper draws it after Algorithm 1.
#
# ## Finite $M$
#
# Z, Fig. 3 divides the {term}`permuted barrier` by the direct one, for $M = 4, 20, 100, 500$. At finite $M$ the curve lies above its
# limit and keeps its shape. Leftovers stand here in random order.

# %%
sizes = sorted({4, M, M_large, M_largest})
shares = {4: 1, M: 4, M_large: 20, M_largest: 40}
count = {K: max(4, pairs // shares[K]) for K in sizes}
widths = {
    K: sorted({round(r * K) for r in np.geomspace(1.2, 6, 10 if K <= 20 else 6)})
    for K in sizes
}
at = {}  # d B/M² of all pairs with d = M, (widths, 2, pairs)
for K in sizes:
    B = [uniform_barriers(m, K, K, count[K], seed) for m in widths[K]]
    at[K] = np.array(B) / K

# %% Plot the barrier at finite M and its limit
ratios = np.geomspace(1.2, 6, 40)  # m/M
figure, (left, right) = figures.panels(2, height=4.4)
for K, colour in zip(sizes, ("sky", "green", "purple", "red"), strict=False):
    mean = at[K].mean(axis=2)  # (widths, 2)
    stderr = at[K].std(axis=2, ddof=1) / math.sqrt(count[K])
    x = np.array(widths[K]) / K
    style = dict(
        color=f"book:{colour}", fmt="o-", linewidth=1, label=f"$M = {K}$"
    )
    figures.band(left, x, mean[:, 0], stderr[:, 0], **style)
    ratio = mean[:, 0] / mean[:, 1]
    relative = np.hypot(*(stderr / mean).T)
    figures.band(right, x, ratio, ratio * relative, **style)
for how, line in zip(ORDERS, ("-", (0, (1, 1)), "--", "-."), strict=True):
    limit = np.array([barrier_limits(r, how) for r in ratios])  # (40, 2)
    for axis, curve, place in (
        (left, limit[:, 0], peaks[how][0]),
        (right, limit[:, 0] / limit[:, 1], peaks[how][1]),
    ):
        name = {
            "in place": "sorted in place",
            "sorted": "large with large",
            "opposed": "large with small",
        }
        label = f"limit, {name.get(how, how)}"
        style = dict(color="book:black", linestyle=line, label=label)
        axis.plot(ratios, curve, **style)
        top = np.interp(place, ratios, curve)
        axis.plot(place, top, "v", color="book:black", label="peak of the limit")
for axis in (left, right):
    axis.axvline(2, color="book:orange", linestyle=":", label="$m = 2M$")
    axis.set(xlabel="$m/M$", yscale="log")
left.set_ylabel("$d\\, B / M^2$ after Algorithm 1")
right.set_ylabel("permuted barrier / direct barrier")
figures.show("fig_peak", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_peak
# :alt: Two panels against m over M. Left, the scaled permuted barrier for four numbers of teachers and its limit in four orders of the leftovers rise to broad maxima near two and fall. Right, the ratio to the direct barrier, about one hundredth, peaks further right.
#
# Left: the permuted barrier of uniform minima, scaled. Right: its ratio to the direct barrier, Z, Fig. 3. Finite $M$: {glue:text}`pairs`
# pairs a width for $M = 4$, {glue:text}`pairs_M` for {glue:text}`M`, {glue:text}`pairs_large` for {glue:text}`M_large`,
# {glue:text}`pairs_largest` for {glue:text}`M_largest`; bars ±3.29 standard errors (profile {glue:text}`profile`). Limits:
# {prf:ref}`thm-leftovers`, exact.
# :::
#
# The paper says that the best permutation reduces the barrier "by $10^{-2}$", and that it "brings more benefits when $M$ is
# larger" (Z, section 4). The ratio at $m = 2M$ for $M =$ {glue:text}`M`, and its change between $M = 4$ and
# {glue:text}`M_large`:


# %%
def gain(K: int, n: int, seed: int) -> tuple[float, float]:
    """Mean permuted over mean direct barrier at m = 2K, and its error."""
    permuted, direct = uniform_barriers(2 * K, K, K, n, seed)  # (n,) each
    return ratio_of_means(permuted, direct, paired=True)


def benefit(seed: int) -> tuple[float, float]:
    """That ratio at the large number of teachers over that at four."""
    few, many = gain(4, 2 * pairs, seed), gain(M_large, count[M_large], seed)
    ratio = many[0] / few[0]
    return ratio, ratio * math.hypot(few[1] / few[0], many[1] / many[0])


ratio, error = gain(M, pairs, seed)
grown = benefit(seed)
print(f"permuted/direct {ratio:.5f} ± {error:.5f}")
print("at many teachers over at four {:.3f} ± {:.3f}".format(*grown))

# %%
claims.check(
    "Z7.gain",
    ratio,
    stderr=error,
    n=pairs,
    second_seed=lambda: gain(M, pairs, seed + 1),
)
claims.check(
    "Z7.benefit",
    *grown,
    n=count[M_large],
    second_seed=lambda: benefit(seed + 1),
)

# %% [markdown]
# ## Six teachers
#
# The uniform curves of Z, Fig. 2 have $M = 6$ and $d = 8$, far from the limit. (The curves of trained networks are in
# [the chapter on trained minima](17_trained_minima.ipynb).) The maximum is flat. Is it at $2M = 12$, up to one neuron? Does the
# barrier fall before? "The barrier reaching its maximum when $m = 2M$" (Z, Figs. 2 and 3) and the second descent "once $m$ exceeds
# approximately $2M$" (Z, section 4) are sentences on one curve, so each is asked in the same four readings: the three orders of
# Algorithm 1, and the best of all $m!$ permutations for the mean error halfway ({prf:ref}`thm-assignment`).

# %%
READINGS = {  # of the permutation → order of the leftovers of Algorithm 1
    "random": "order",
    "in place": "in place",
    "sorted": "sorted",
    "best": None,
}


@cache
def permuted_barriers(
    m: int, reading: str, seed: int, n: int = pairs_uniform
) -> np.ndarray:
    """d B after a permutation of n pairs of minima with M = 6, (n,)."""
    W1, W2 = sample_minima(m, 6, 6, 2 * n, seed).split(n)
    if reading == "best":
        p = torch.stack(
            [pair_matching(*pair) for pair in zip(W1, W2, strict=True)]
        )
    else:
        p = algorithm_1(W1, W2, leftovers=READINGS[reading])
    parts = zip(W1.split(2000), permute(W2, p).split(2000), strict=True)
    loss = partial(population_loss, M=6)
    return (
        np.concatenate([loss_barrier(loss, *ends).numpy() for ends in parts]) * 6
    )


def near_over_far(
    reading: str, seed: int, place: int = 12
) -> tuple[float, float]:
    """Largest mean up to one neuron from a width over the largest at the others of 9, …, 15, and its error."""
    largest, near = [], range(place - 1, place + 2)
    for widths in (near, sorted({*range(9, 16)} - {*near})):
        found = (permuted_barriers(m, reading, seed) for m in widths)
        largest.append(max(found, key=np.mean))
    return ratio_of_means(*largest)


def at_12_over_9(reading: str, seed: int) -> tuple[float, float]:
    """Mean at m = 2M over that at 1.5 M, and its error."""
    return ratio_of_means(*(permuted_barriers(m, reading, seed) for m in (12, 9)))


def over_best(m: int, reading: str, seed: int) -> tuple[float, float]:
    """Mean after Algorithm 1 over that after the best permutation, and its error."""
    n = pairs_uniform if m == 12 else pairs_wide
    found = (permuted_barriers(m, how, seed, n) for how in (reading, "best"))
    return ratio_of_means(*found, paired=True)


def over_best_anywhere(seed: int) -> tuple[float, float]:
    """The largest ratio at three widths of Z, Fig. 2, leftovers in random order."""
    return max(over_best(m, "random", seed) for m in (12, 24, 36))


pairs_wide = min(pairs_uniform, max(400, pairs_uniform // 6))  # at 24, 36
near = {how: near_over_far(how, seed) for how in READINGS}
rise = {how: at_12_over_9(how, seed) for how in READINGS}
peak_6 = {  # the width of the largest mean
    how: max(range(9, 16), key=lambda m: permuted_barriers(m, how, seed).mean())
    for how in READINGS
}

# %% Show one curve in four readings
limits = {how: f"{peaks[how][0]:.3f} $M$" for how in ORDERS} | {
    "best": f"{peak_best:.3f} $M$"
}
rows = [
    [
        ORDER_NAMES.get(how, "the best permutation"),
        f"{peak_6[how]}",
        *("{:.3f} ± {:.3f}".format(*found[how]) for found in (near, rise)),
        limits[how],
    ]
    for how in READINGS
]
figures.table(
    "leftovers meet | $M = 6$: largest at $m$ | $m = 11, 12, 13$ / 9, 10, 14, 15 | $m = 12$ / 9 | many teachers: peak at",
    rows,
)

# %% Check Z6.peak_uniform and Z8.second_descent_uniform in four readings
claims.check("Z6.peak_uniform", *near["in place"], n=pairs_uniform)
claims.check("Z6.peak_uniform_random", *near["random"], n=pairs_uniform)
claims.check("Z6.peak_uniform_sorted", *near["sorted"], n=pairs_uniform)
claims.check(
    "Z6.peak_uniform_best",
    *near["best"],
    n=pairs_uniform,
    second_seed=lambda: near_over_far("best", seed + 1),
)
claims.check("Z8.second_descent_uniform", *rise["random"], n=pairs_uniform)
claims.check(
    "Z8.second_descent_uniform_in_place", *rise["in place"], n=pairs_uniform
)
claims.check("Z8.second_descent_uniform_sorted", *rise["sorted"], n=pairs_uniform)
claims.check("Z8.second_descent_uniform_best", *rise["best"], n=pairs_uniform)

# %% [markdown]
# How far above the best permutation is Algorithm 1, here and with many teachers?

# %%
above = {  # barrier after Algorithm 1 over that of the best permutation
    how: [over_best(m, how, seed) for m in (12, 24, 36)]
    for how in READINGS
    if how != "best"
}
above_limit = {  # with many teachers at m = 2M
    how: (leftover_cost(2.0, how) / np.mean(best_cost(2.0))) ** 2 for how in above
}
for how, found in above.items():
    here = ", ".join("{:.2f} ± {:.2f}".format(*one) for one in found)
    print(f"{how:<8} {here}; many teachers {above_limit[how]:.3f}")

# %%
claims.check("Z4.near_best_peak", *above["random"][0], n=pairs_uniform)
twice = {"of": seed, "again": seed + 1, "n": pairs_wide}
claims.check("Z4.near_best_figure", over_best_anywhere, **twice)
claims.check("Z4.near_best_many", above_limit["random"], n=1)

# %% Plot the uniform curves of Z, Fig. 2
six = [7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 21, 24, 30, 36]  # m
curves = [uniform_barriers(m, 6, 8, pairs_figure, seed) for m in six]
figure, axis = figures.panels()
for k, (name, colour) in enumerate(
    (("after Algorithm 1", "blue"), ("direct", "grey"))
):
    style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2)
    height, spread = mean_and_error([B[k] for B in curves])
    figures.band(axis, six, height, spread, label=f"uniform, {name}", **style)
axis.axvline(12, color="book:orange", linestyle=":", label="$m = 2M$")
axis.set(yscale="log", xlabel="student neurons $m$", ylabel="mean barrier")
figures.show("fig_six", figure, legend=3)
figures.numbers(peak_best_6=peak_6["best"])
wide = [m for m in six if m >= 18]
after, errors = mean_and_error([curves[six.index(m)][0] for m in wide])
fall = slope_and_error(np.log(wide), np.log(after), errors / after)

# %%
claims.check(
    "Z6.validates_overlap",
    *near_over_far("in place", seed, place=13),
    n=pairs_uniform,
)
claims.check("Z6.validates_rate", *fall, n=pairs_figure)

# %% [markdown]
# :::{glue:figure} fig_six
# :alt: Mean barrier of uniform minima against width on a logarithmic axis. The direct barrier falls slowly; the permuted one is about a hundred times lower, rises to a broad maximum at about twelve neurons and falls.
#
# The uniform curves of Z, Fig. 2, $M = 6$, $d = 8$: {glue:text}`pairs_figure` pairs a width, leftovers as they stand; bars ±3.29 standard errors
# (profile {glue:text}`profile`).
# :::
#
# The table has {glue:text}`pairs_uniform:,` pairs a width. Within a neuron of $2M$ the curve is highest with columns sorted in place
# ({claim}`Z6.peak_uniform`), with large leftovers on large ones ({claim}`Z6.peak_uniform_sorted`) and in random order, where its top is
# flattest ({claim}`Z6.peak_uniform_random`). In none of these does it fall before ({claim}`Z8.second_descent_uniform`). The best permutation saves the
# more the wider the networks are; with six teachers the curve is then highest left of $2M$ by more than a neuron
# ({claim}`Z6.peak_uniform_best`; in this run at $m =$ {glue:text}`peak_best_6`), and in the limit just left of it ({claim}`Z7.peak_of_best`). So no
# reading makes all three sentences exact: those in which Fig. 2 is right have their limit beyond $2M$.
#
# For the same reason Algorithm 1 falls behind the best permutation as networks grow: with leftovers in random order, the lowest of the
# three, it leaves less than twice the barrier at $m = 2M$ ({claim}`Z4.near_best_peak`) and more than twice at the right end of Fig. 2 ({claim}`Z4.near_best_figure`) and with many teachers
# ({claim}`Z4.near_best_many`).
#
# This curve "validates both the overlap Theorem 5 and the barrier Theorem 6" (Z, section 4). Beyond its top the curve of uniform minima
# falls faster than $m^{-1/2}$ ({claim}`Z6.validates_rate`); whether its top, which is flat, is within a neuron of the width at which the
# overlap is least is open ({claim}`Z6.validates_overlap`). The curve of trained networks has its top elsewhere ({claim}`Z6.peak`).
#
# ## The number of teachers at fixed dimension
#
# Z, Fig. 12 has $d = 64$ and $M = 4, 8, 16$. The barrier increases with $M$, and the ratio of the permuted to the direct one
# falls. At $m = 2M$:

# %%
by_teachers = {  # m = 2M, d = 64
    K: uniform_barriers(2 * K, K, 64, pairs, seed) for K in (4, 8, 16)
}
after, errors = mean_and_error([B[0] for B in by_teachers.values()])  # (3,)
growth, growth_error = slope_and_error(
    np.log(list(by_teachers)), np.log(after), errors / after
)
gap_4, gap_16 = (  # permuted/direct and its error
    ratio_of_means(*by_teachers[K], paired=True) for K in (4, 16)
)
falls = gap_16[0] / gap_4[0]
relative = math.hypot(gap_16[1] / gap_16[0], gap_4[1] / gap_4[0])
print(f"barrier M^({growth:.2f} ± {growth_error:.2f}), ratio times {falls:.2f}")

# %% Numbers for the text
figures.numbers(growth=f"{growth:.2f} ± {growth_error:.2f}")

# %%
claims.check("Z16.increases", growth, stderr=growth_error, n=pairs)
claims.check("Z16.gap", falls, stderr=falls * relative, n=pairs)

# %% [markdown]
# By {prf:ref}`thm-many-teachers` the exponent of $M$ tends to 2; the measured one, {glue:text}`growth`, is still smaller, as
# $d B/M^2$ falls towards its limit. The ratio has a limit, so the gap, on a logarithmic scale, stops growing: at $m = 2M$ it
# tends to {glue:text}`gap_limit:.4f` ({glue:text}`gap_opposed:.4f` with large leftovers on small ones).
#
# ## What we found that the paper does not say
#
# - With many teachers the barrier is the *square* of a mean over types ({prf:ref}`thm-many-teachers`), and its limit curve is
#   explicit ({prf:ref}`thm-leftovers`).
# - None of the peaks is the minimum of the overlap at {glue:text}`overlap_minimum:.3f` $M$: the overlap counts rows, the barrier
#   weighs them.
# - The barrier of the best of all permutations has a limit, the largest of a family of lower bounds, which one rule of matching attains ({prf:ref}`thm-best`, {claim}`Z7.best_limit`). That permutation saves {glue:text}`better` % of the barrier of large with small, and for that leaves more rows without a partner of their type than Algorithm 1.
# - For uniform minima $d$ only scales the barrier, by exactly $1/d$ ({prf:ref}`prop-dimension`).
#
# ## What it means for merging networks
#
# Among random minima at least as wide as the teacher, those of about twice its width are the hardest to merge: they have room for
# many neurons without a partner, and these are not yet small. The maximum is broad, so that no fine tuning of the width helps; a
# few times wider does. Trained networks peak elsewhere, and narrower ones can be harder still.
#
# Read on: [](17_trained_minima.ipynb) finds the peak of trained networks elsewhere; [](19_double_descent.ipynb) follows the
# barrier below $m = M$; [](51_width_barriers.ipynb) looks for the peak on MNIST.
#
# ## Exercises
#
# :::{exercise}
# Just above $m = M$, with leftovers large with large: show that $d B/M^2 \approx (2 - \sqrt2)^2\, \nu^2/(128 \pi)$ for small
# $\nu = m/M - 1$.
# :::
#
# :::{solution}
# To first order in $\nu$ a type leaves a row over only if it has two rows in one network and one in the other, which has
# the probability $\nu$ for each network. The leftover is the smaller of two uniform entries that add up to 1, with mean
# $\frac14$. So $\int S = \nu/4$, $g = (2 - \sqrt2)\, \nu/4$, and $d B/M^2 \to g^2/(8\pi)$. A check, which prints $0.146$ twice:
#
#     print(leftover_cost(1.001, "sorted") / 0.001, (2 - math.sqrt(2)) / 4)
# :::
#
# :::{exercise}
# Far above $M$: what is $g$ for large $\nu$, with leftovers large with large? Compare with the rate of {prf:ref}`thm-rate`.
# :::
#
# :::{solution}
# A type has about $\nu$ rows, and $s = (N - N')_+$ are left over in one network. $N - N'$ has variance $2\nu$, so that
# $\mathbb E s^2 = \nu$. The $k$-th smallest of $\nu$ entries is about $k/\nu^2$, so the $s$ smallest add up to about
# $s^2/(2\nu^2)$, in the mean $1/(2\nu)$. Hence $g \approx (2 - \sqrt2)/(2\nu)$, and $B$ falls like $\nu^{-2}$, that is like
# $m^{-2}$ at fixed $M$, where it is a theorem: with leftovers in random order $m^2 B$ has a limit law ({prf:ref}`thm-law`), and in this
# order the loss half-way between two teachers' students has one ({prf:ref}`cor-two-teachers`). The approach is slow, with a relative error of order $\nu^{-1/2}$:
#
#     for nu in (2, 5, 9):
#         print(leftover_cost(1 + nu, "sorted") * 2 * nu / (2 - math.sqrt(2)))
# :::
#
# :::{try}
# Eight teachers, more pairs:
#
#     make chapter NAME=barrier_peak ARGS="-p M 8 -p pairs 2000"
# :::

# %% Versions and time
print(chapter.end())
