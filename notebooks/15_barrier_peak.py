# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Matched random minima are hardest to average near twice the teacher's width
#
# *At which width does the loss rise most between two matched random minima?*
#
# Near **$2M$**, twice the teacher's width, but not exactly there, where the paper puts it. With many teacher neurons the maximum lies
# between **[[Z7.peak_of_best:.2f]] $M$** and **[[Z7.peak_of_barrier_sorted:.2f]] $M$**, depending on how unmatched neurons are paired (proved);
# at $2M$ the rise is at worst **[[100 * Z7.height_at_2M:.1f]] %** smaller.
#
# :::{glue:figure} fig_near_twice
# :alt: Four curves of the barrier against the width from M to 4M. Each rises to a flat maximum near 2M and falls slowly. Large unmatched neurons paired with large ones: highest, maximum at [[Z7.peak_of_barrier_sorted:.2f]] M. Sorted in place: [[Z7.peak_of_barrier_in_place:.2f]] M. Random order: [[Z7.peak_of_barrier:.2f]] M. Best permutation: lowest, [[Z7.peak_of_best:.2f]] M. At 2M the highest curve is [[100 * Z7.height_at_2M:.1f]] per cent below its maximum, the others less.
#
# Rise of the loss $B$ ($d$ inputs, many teacher neurons); in brackets, how far $B$ at $2M$ lies below its maximum. Thin: Algorithm 1, which leaves open how neurons without a partner are paired.
# :::
#
# **How sure.** Proved for many teacher neurons. Recorded: [[n(Z6.peak_uniform)]] pairs per width with six, at least [[n(Z6.peak)]] pairs of trained networks per width (row 3), [[n(Z7.gain)]] pairs (row 5).
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | “maximum when $m = 2M$ becomes more evident as the number $M$ … increases” (sec. 4) | [near $2M$, not at it](#Z7.peak_of_best) | at [[Z7.peak_of_best:.2f]] to [[Z7.peak_of_barrier_sorted:.2f]] $M$ (we allow $\pm 0.05 M$) |
# | “reaches its maximum when $m = 2M$”, random minima (Fig. 2) | [true, in the orders of Algorithm 1](#Z6.peak_uniform) | widths 11 to 13 lead 9, 10, 14, 15 by [[100 * (low(Z6.peak_uniform_random) - 1):.1f]] to [[100 * (high(Z6.peak_uniform) - 1):.1f]] %; after the best permutation they trail by [[100 * (1 - high(Z6.peak_uniform_best)):.1f]] to [[100 * (1 - low(Z6.peak_uniform_best)):.1f]] % |
# | the same, trained networks (Fig. 2) | [false](#Z6.peak) | widths 11 to 13 reach [[Z6.peak:.2f]] ([[Z6.peak:to]]) of the largest at 8, 9, 10, 14 |
# | row 1 as a ratio to the barrier before matching (Fig. 3) | [beyond $2M$](#Z7.peak_of_ratio) | at [[Z7.peak_of_ratio:.2f]] to [[Z7.peak_of_ratio_sorted:.2f]] $M$ (Algorithm 1) |
# | “can reduce the barrier by $10^{-2}$” (sec. 4) | [true: *to* $10^{-2}$](#Z7.gain) | [[Z7.gain:±]] of it is left ($M = 20$) |
# | “the barrier is decreasing when $d$ is going up” (Fig. 11) | [true, like $1/d$](#Z15.dimension) | exactly ({prf:ref}`prop-dimension`) |
#
# **Open.** With $M = 6$: is the rise largest where the smallest share of neurons matches, within a neuron of 13 (up to 3.5 core-hours)? After the best permutation, is it at $2M$ at least a tenth below that at $1.5M$ (now [[Z8.second_descent_uniform_best:.3f]] of it, [[Z8.second_descent_uniform_best:to]]; 250 core-hours)?
#
# **For the authors.** Print *near $m = 2M$, for random minima* in sections 1, 4 and 7.

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
from scipy.interpolate import CubicSpline
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
# :::{need}
# You need: Algorithm 1 ([](13_algorithm_1.ipynb)), the unmatched mass ([](14_barrier_rate.ipynb)), Poisson laws. {{ times }}
# :::
#
# ## Wider networks leave more neurons unmatched, but smaller ones
#
# Each neuron of a random {term}`minimum` copies one {term}`teacher <teacher and student>` neuron, its {term}`type`.
# {term}`Algorithm 1` pairs neurons of one type, large with large. Where one network has more copies than the other, the surplus finds no
# partner: these neurons are the *leftovers*. With growing width there are more of them, but each weighs less. What they weigh together
# rises, turns a little above $2M$, and falls.

# %% Exact curves for many teacher neurons
ratios = np.geomspace(1.02, 6, 36)  # r = m/M
costs = {  # g(r) for each order of the leftovers, and after the best permutation
    how: [leftover_cost(r, how) for r in ratios] for how in ORDERS
} | {"best": [np.mean(best_cost(r, cells=500)) for r in ratios]}
cost = {  # as functions of r
    how: CubicSpline(np.r_[1, ratios], np.r_[0, found])
    for how, found in costs.items()
}


def limit(r, how):
    """The limit of d B/M² at m = r M."""
    return cost[how](r) ** 2 / (8 * math.pi)


# %% Plot the idea: number and mass of the leftovers
per_type = [leftover_tail(np.zeros(1), r)[0] for r in ratios]
mass = cost["sorted"](ratios) / (2 - math.sqrt(2))  # g is (2 − √2) × mass
figure, (first, second) = figures.panels(2, height=3.0)
first.plot(ratios, per_type, color="book:blue")
first.set(ylabel="leftovers of a type", xlabel="width $m/M$", ylim=(0, None))
second.plot(ratios, mass, color="book:blue")
top = ratios[mass.argmax()], mass.max()
second.plot(*top, "o", color="book:black")
place = dict(xytext=(0, 7), textcoords="offset points")
second.annotate(
    "largest at {:.2f} $M$".format(limit_peak("sorted")), top, **place
)
second.set(ylabel="their mass", xlabel="width $m/M$", ylim=(0, 0.115))
figures.show("fig_more_smaller", figure)

# %% [markdown]
# :::{glue:figure} fig_more_smaller
# :alt: Two panels against the width from M to 6M. First, the number of leftovers of a type rises steadily from 0 to about 1.2. Second, their mass rises from 0 to a flat maximum of about 0.09 at 2.32 M and falls slowly.
#
# Many teacher neurons, exact. First panel: leftovers of a type in one network. Second panel: their mass, where all neurons of a type have mass 1.
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $M$, $m$ | neurons of the teacher; neurons of each of the two networks |
# | $r$, $\nu$ | relative width $m/M$; $\nu = r - 1$ |
# | $d$ | input dimension, at least $M$ |
# | $B$ | the {term}`barrier`: largest loss on the line between the two networks, after Algorithm 1 unless another permutation is named |
# | $R$ | the places where two unmatched neurons meet |
# | $a_i$, $b_i$ | the weights that meet at place $i$; all weights that copy one teacher neuron add up to 1 |
# | $\rho(a, b)$ | cost of a place, $a + b - \sqrt{a^2 + b^2}$ |
# | $g(r)$ | cost of all places of $R$, per teacher neuron |
#
# Random minima follow {term}`Assumption 3`: the $m - M$ surplus neurons choose their types at random, and the weights of a type are
# uniform on the simplex.
#
# ## The input dimension only scales the barrier
#
# :::{prf:proposition} Barrier and input dimension
# :label: prop-dimension
# For minima, $d \cdot B$ does not depend on $d \ge M$, for any pairing of the neurons. The ratio of the barriers after and before
# matching does not depend on $d$ at all.
# :::
#
# :::{prf:proof}
# All neurons on the segment lie in the span of $e_1, \dots, e_M$, so their norms and angles do not involve $d$, and in the loss
# $d$ enters only through the factor $1/d$ of $\kappa$.
# :::
#
# This explains Z, Fig. 11, for random minima: the barrier decreases with $d$, “while the gap between the permuted barrier and the direct
# barrier remains almost the same” on a logarithmic axis.

# %% Put the same minima into six dimensions
dims = [2**k for k in range(2, 8)]
heights = []  # mean barrier after Algorithm 1, M = 4 and m = 8
for d in dims:  # the same minima in every dimension: the seed ignores d
    W1, W2 = sample_minima(8, 4, d, 2 * 20, seed).split(20)  # (20, m, d)
    permuted, direct = permuted_and_direct(W1, W2, M=4)  # (20,) each
    heights.append(permuted.mean().item())
scaled = np.multiply(dims, heights)
print(f"d B for d from 4 to 128: {scaled.min():.9f} to {scaled.max():.9f}")
slope = np.polyfit(np.log(dims), np.log(heights), 1)[0]

# %%
claims.check("Z15.dimension", float(slope), n=len(dims))

# %% [markdown]
# ## The barrier is the square of what unmatched neurons cost
#
# :::{prf:theorem} The barrier for many teachers
# :label: thm-many-teachers
# Let the two networks follow Assumption 3, $M \to \infty$, $m/M \to r > 1$, $d \ge M$. After Algorithm 1, with leftovers in one of
# the orders below,
#
# $$
# \begin{aligned}
# \frac{d}{M^2}\, B &\to \frac{g(r)^2}{8\pi}, \\
# g(r) &= \lim \frac1M \sum_{i \in R} \rho(a_i, b_i)
# \end{aligned}
# $$
#
# in probability, where $R$ are the unmatched places, $a_i$, $b_i$ the weights that meet there and
# $\rho(a, b) = a + b - \sqrt{a^2 + b^2}$ the cost of such a place, the $\rho_i$ of {prf:ref}`thm-assignment`. The *direct* barrier, of the
# two networks without matching, has the same limit with all neurons in random order in place of $R$.
# :::
#
# :::{prf:proof}
# *Concentration, for every permutation and all pairs of minima.* On the segment every $|\partial_j (f - f^*)| \le 1$ for $j \le M$, and 0 otherwise, because
# the entries of a column are $\ge 0$ and add up to 1. By Poincaré's inequality on the sphere the variance of $f - f^*$ over $x$ is at
# most $M/(d - 1)$. As in [the chapter on the rate](14_barrier_rate.ipynb), $f - f^* = \sum_R \Delta_i(x)$ with all terms $\le 0$.
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
# If large leftovers meet large ones, $g$ is $2 - \sqrt2$ times the mass in the picture above. In every other order $g$ is an integral
# over the law of the leftovers, which is explicit ({prf:ref}`thm-leftovers`, {prf:ref}`prop-in-place`). So nothing is sampled.
#
# ## Where exactly depends on how the unmatched neurons are paired
#
# Line 16 of Algorithm 1 fills the leftovers “sequentially into the empty rows”. The paper leaves their order open:
# Assumption 3 says nothing of the order of the neurons, and line 1 sorts the “non-zero elements of each column … in descending order”.
# This gives three readings, and “the optimal permutation”, taken at its word, a fourth:
#
# - *in random order*: sorting only says which neuron meets which;
# - *sorted in place*: the entries of each column are sorted within the matrix, so that smaller leftovers stand farther down;
# - *large with large*: all rows are sorted;
# - *the best permutation*: the best of all $m!$.


# %%
def g(r, pairing):  # cost of the unmatched neurons: exact, nothing is sampled
    if pairing == "best":
        return np.mean(best_cost(r))
    return leftover_cost(r, pairing)


peak, at_2M = {}, {}
for pairing in ("random", "in place", "sorted", "best"):
    peak[pairing] = limit_peak(pairing)  # m/M at which g is largest
    at_2M[pairing] = 1 - (g(2.0, pairing) / g(peak[pairing], pairing)) ** 2
    print(
        f"{pairing:<8}  largest at {peak[pairing]:.3f} M, "
        f"at 2M lower by {at_2M[pairing]:.1%}"
    )

# %% Plot the barrier for many teacher neurons
NAMES = {
    "random": "in random order",
    "in place": "sorted in place",
    "sorted": "large with large",
    "best": "best permutation",
}
figure, axis = figures.panels(height=2.7)
x = np.linspace(1, 4, 301)  # m/M
for how, (dx, dy, end) in {
    "random": (-4, -17, -4),
    "in place": (4, 6, 4),
    "sorted": (4, 6, 0),
    "best": (-30, -17, 0),
}.items():
    colour = "book:blue" if how == "best" else "book:black"
    width = 2.4 if how == "best" else 1
    axis.plot(x, 1e5 * limit(x, how), color=colour, linewidth=width)
    top = peak[how], 1e5 * limit(peak[how], how)
    axis.plot(*top, "o", color=colour, markersize=5)
    words = f"{peak[how]:.2f} $M$ ({100 * at_2M[how]:.1f} %)"
    style = dict(textcoords="offset points", color=colour, fontsize=10)
    axis.annotate(words, top, xytext=(dx, dy), **style)
    last = 4, 1e5 * limit(4, how)
    axis.annotate(NAMES[how], last, xytext=(4, end - 4), **style)
axis.axvline(2, color="book:grey", linestyle=":", linewidth=1)
axis.set(xlim=(1, 4), ylim=(0, 14), xticks=[1, 2, 3, 4], yticks=[0, 4, 8, 12])
axis.set(xlabel="width $m$ of the two networks", ylabel="$10^5\\, B\\, d/M^2$")
axis.set_xticklabels(["$M$", "$2M$", "$3M$", "$4M$"])
figures.show("fig_near_twice", figure)

# %% Find the peaks of the ratio to the direct barrier
ratio_peak = {how: limit_peak(how, relative=True) for how in ORDERS}

# %%
claims.check("Z7.peak_of_best", peak["best"], n=1)
claims.check("Z7.peak_of_ratio", ratio_peak["random"], n=1)

# %% [markdown]
# | Unmatched neurons meet | $M = 6$: 11 to 13 lead by | many teacher neurons: largest at | at $2M$ lower by | ratio largest at |
# | --- | --- | --- | --- | --- |
# | in random order | [true](#Z6.peak_uniform_random): [[100 * (Z6.peak_uniform_random - 1):.1f]] % ([[100 * (Z6.peak_uniform_random - 1):to]]) | [[Z7.peak_of_barrier:.3f]] $M$ | {glue:text}`100 * at_2M["random"]:.1f` % | [[Z7.peak_of_ratio:.3f]] $M$ |
# | sorted in place | [true](#Z6.peak_uniform): [[100 * (Z6.peak_uniform - 1):.1f]] % ([[100 * (Z6.peak_uniform - 1):to]]) | [[Z7.peak_of_barrier_in_place:.3f]] $M$ | {glue:text}`100 * at_2M["in place"]:.1f` % | [[Z7.peak_of_ratio_in_place:.3f]] $M$ |
# | large with large | [true](#Z6.peak_uniform_sorted): [[100 * (Z6.peak_uniform_sorted - 1):.1f]] % ([[100 * (Z6.peak_uniform_sorted - 1):to]]) | [[Z7.peak_of_barrier_sorted:.3f]] $M$ | {glue:text}`100 * at_2M["sorted"]:.1f` % | [[Z7.peak_of_ratio_sorted:.3f]] $M$ |
# | as the best permutation does | [false](#Z6.peak_uniform_best): [[100 * (Z6.peak_uniform_best - 1):.1f]] % ([[100 * (Z6.peak_uniform_best - 1):to]]) | [[Z7.peak_of_best:.3f]] $M$ | {glue:text}`100 * at_2M["best"]:.1f` % | not drawn in Fig. 3 |
#
# No reading makes every sentence exact: the orders in which Fig. 2 is right have their limit beyond $2M$. But the maximum is so flat
# that the difference does not show on the logarithmic axis of the paper's figure: with many teacher neurons “near $2M$” is right in all
# four readings ({claim}`Z7.height_at_2M`). The ratio to the direct barrier, which Fig. 3 draws, is largest farther to the right, because
# the direct barrier falls with the width; at $2M$ it is {glue:text}`100 * ratio_at_2M["random"]:.1f` to {glue:text}`100 * ratio_at_2M["sorted"]:.1f` % below its maximum.
#
# Our tolerance of $0.05 M$ decides the verdict for the best permutation. It was the first one; for five days it was $0.1 M$, with which
# that reading would be true. The table above says what matters more: the place, and what is lost at $2M$.
#
# Why is the last place left of $2M$? The best permutation is not a question of counting any more:
#
# :::{prf:theorem} The best of all permutations
# :label: thm-best
# For a non-decreasing function $\varphi$ on $[0, 1]$ and a type with the weights $a_1 \ge \dots \ge a_N$ in one network and
# $b_1 \ge \dots \ge b_{N'}$ in the other, let
#
# $$
# V_\varphi = \min_{0 \le k \le \min(N, N')} \Bigl( \sum_{i > k} \varphi(a_i) + \sum_{i > k} \varphi(b_i) \Bigr) .
# $$
#
# In the limit of {prf:ref}`thm-many-teachers`, in probability,
#
# $$
# \begin{aligned}
# \frac d{M^2} \min_p B &\to \frac{g_{\text{best}}(r)^2}{8 \pi}, \\
# g_{\text{best}} &= \max_\varphi \mathbb E V_\varphi
# \end{aligned}
# $$
#
# over all permutations $p$ and all $\varphi$ with $\varphi(a) + \varphi(b) \le \rho(a, b)$ for all $a$, $b$. Some $\varphi$ attains the
# maximum, and for it this permutation attains the limit: match the $k$-th largest neurons of a type if
# $\varphi(a_k) + \varphi(b_k) \ge 0$, and pair all other neurons large with small.
# :::
#
# The proof ({prf:ref}`lem-two-bounds` and after it) bounds every permutation from below by $\varphi(a) + \varphi(b)$ for each unmatched place.
# So the best permutation does not match all that it could: two small neurons of one type may save more as partners of large leftovers.
# The wider the networks, the more it gains, which moves the maximum to the left.
# ## With six teacher neurons the peak after Algorithm 1 is at twelve, give or take one
#
# The curves of random minima in Z, Fig. 2 have $M = 6$, far from the limit. Their maximum is flat, so we compare the largest mean
# barrier at $m = 11$, 12, 13 with the largest at 9, 10, 14, 15, by [[n(Z6.peak_uniform)]] recorded pairs at each width, in the same four
# readings: the second column of the table. In random order, where the lead is smallest, 40 000 pairs had not decided it;
# [[n(Z6.peak_uniform_random)]] are a second look by the same criterion.

# %% Measure barriers of six teacher neurons in four readings
LEFTOVERS = {"random": "order", "in place": "in place", "sorted": "sorted"}


@cache
def permuted_barriers(
    m: int, reading: str, seed: int, n: int = pairs_uniform
) -> np.ndarray:
    """d B after a permutation of n pairs of minima with M = 6, (n,)."""
    W1, W2 = sample_minima(m, 6, 6, 2 * n, seed).split(n)
    if reading == "best":
        both = zip(W1, W2, strict=True)
        p = torch.stack([pair_matching(*pair) for pair in both])
    else:
        p = algorithm_1(W1, W2, leftovers=LEFTOVERS[reading])
    parts = zip(W1.split(2000), permute(W2, p).split(2000), strict=True)
    loss = partial(population_loss, M=6)
    found = [loss_barrier(loss, *ends).numpy() for ends in parts]
    return np.concatenate(found) * 6


def near_over_far(
    reading: str, seed: int, place: int = 12
) -> tuple[float, float]:
    """Largest mean up to one neuron from a width over the largest at the others of 9, …, 15, and its error."""
    largest, near = [], range(place - 1, place + 2)
    for widths in (near, sorted({*range(9, 16)} - {*near})):
        found = (permuted_barriers(m, reading, seed) for m in widths)
        largest.append(max(found, key=np.mean))
    return ratio_of_means(*largest)


near = {how: near_over_far(how, seed) for how in NAMES}

# %%
claims.check("Z6.peak_uniform", *near["in place"], n=pairs_uniform)

# %% [markdown]
# ## Matching leaves a hundredth of the barrier
#
# The paper writes that the best permutation reduces the barrier “by $10^{-2}$”; its figures show a reduction *to* $10^{-2}$, and this is what
# we find at $M = 20$, $m = 2M$. Permutation “also brings more benefits when $M$ is larger”: at $M = 100$ the ratio of the barriers after and before matching
# is [[Z7.benefit:±]] of that at $M = 4$ ({claim}`Z7.benefit`). It has a limit, so that the benefit stops growing.


# %% Measure the barrier after matching over that before
def gain(K: int, n: int, seed: int) -> tuple[float, float]:
    """Mean permuted over mean direct barrier at m = 2K, and its error."""
    permuted, direct = uniform_barriers(2 * K, K, K, n, seed)  # (n,) each
    return ratio_of_means(permuted, direct, paired=True)


ratio, error = gain(M, pairs, seed)

# %%
claims.check(
    "Z7.gain",
    ratio,
    stderr=error,
    n=pairs,
    second_seed=lambda: gain(M, pairs, seed + 1),
)

# %% [markdown]
# ## For random minima, avoid twice the width of the task
#
# Among random minima at least as wide as the teacher, those of about twice its width are the hardest to merge: they have room for
# many neurons without a partner, and these are not yet small. The maximum is broad, so that no fine-tuning of the width helps; a
# few times wider does. Trained networks peak elsewhere ([](17_trained_minima.ipynb)), and narrower ones can be harder still
# ([](19_double_descent.ipynb)); [](51_width_barriers.ipynb) looks for the peak on MNIST.
#
# ## Evidence
#
# ### The law of the leftovers
#
# A further order, *large with small*, is not that of Algorithm 1; it is a comparison here.
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
# The law $S(a)$ by the sum, beside a sample of {glue:text}`types:,` types, at $m = 2M$:

# %% Compare the law with a sample
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
# ### Where the barriers of many teachers peak
#
# The places of the maxima, each of an exact curve ({py:func}`~lmc_helpers.teacher_student.barrier_limit.limit_peak`):

# %% Numbers for the text
peak["opposed"] = limit_peak("opposed")
ratio_at_2M = {  # share by which the ratio at 2M is below its maximum
    how: 1
    - np.divide(*barrier_limits(2.0, how))
    / np.divide(*barrier_limits(ratio_peak[how], how))
    for how in ORDERS
}
figures.numbers(
    overlap_minimum=overlap.minimiser_limit(),
    gap_opposed=float(np.divide(*barrier_limits(2.0, "opposed"))),
)

# %% Show where the barriers peak
names = NAMES | {"opposed": "large with small (not Algorithm 1)"}
rows = [
    [
        names[how],
        f"{peak[how]:.4f} $M$",
        f"{ratio_peak[how]:.4f} $M$" if how in ratio_peak else "not drawn",
    ]
    for how in names
]
head = "unmatched neurons meet | barrier largest at | permuted/direct largest at"
figures.table(head, rows)

# %%
claims.check("Z7.peak_of_barrier", peak["random"], n=1)
claims.check("Z7.peak_of_barrier_in_place", peak["in place"], n=1)
claims.check("Z7.peak_of_barrier_sorted", peak["sorted"], n=1)
claims.check("Z7.peak_of_barrier_opposed", peak["opposed"], n=1)
claims.check("Z7.peak_of_ratio_in_place", ratio_peak["in place"], n=1)
claims.check("Z7.peak_of_ratio_sorted", ratio_peak["sorted"], n=1)
claims.check("Z7.height_at_2M", max(at_2M.values()), n=4)

# %% [markdown]
# At $2M$ the ratio is {glue:text}`100 * ratio_at_2M["random"]:.1f`, {glue:text}`100 * ratio_at_2M["in place"]:.1f` and {glue:text}`100 * ratio_at_2M["sorted"]:.1f` % below its maximum in the three
# orders of Algorithm 1. None of the maxima is at the minimum of the overlap, {glue:text}`overlap_minimum:.3f` $M$: the overlap counts
# neurons, the barrier weighs them.
#
# ### The best permutation
#
# :::{prf:lemma} Two bounds
# :label: lem-two-bounds
# In the limit of {prf:ref}`thm-many-teachers` let $\varphi$ and $V_\varphi$ be as in {prf:ref}`thm-best`.
#
# 1. For every permutation $\frac1M \sum_{i \in R} \rho(a_i, b_i) \ge \frac1M \sum_{\text{types}} V_\varphi$, so that for every $\varepsilon > 0$, with probability tending to 1, $\frac d{M^2} \min_p B \ge (\mathbb E V_\varphi)_+^2/(8\pi) - \varepsilon$.
# 2. Match the $k$-th largest entries of a type, $k \le \min(N, N')$, if $\varphi(a_k) + \varphi(b_k) \ge 0$, and put all other rows into one pool, large with small, equal entries in random order: the quantile $u$ meets the quantile $1 - u$, $b = T(a)$ (with several values at an atom). This is a permutation with $\frac d{M^2} B \to \bar g^2/(8\pi)$, $\bar g$ being the mean of $\rho(a, T(a))$ over the pool times its rows per type.
# 3. If $\varphi(a) + \varphi(T(a)) = \rho(a, T(a))$ almost everywhere in the pool, then $\bar g = \mathbb E V_\varphi$, and both bounds are equal.
#
# All limits are in probability.
# :::
#
# :::{prf:proof}
# *1.* Places with rows of equal types cost nothing, and every other place costs at least $\varphi(a) + \varphi(b)$. If $k$ pairs of a type meet, then, as $\varphi$ does not decrease, the rest costs least if these are the largest entries, hence at least $V_\varphi$. Type counts tend to independent
# $1 + \operatorname{Poisson}(\nu)$, and the mean over types obeys the law of large numbers. By the concentration in the proof of {prf:ref}`thm-many-teachers`, which holds for every permutation, $B \ge L$ halfway is $\frac{M^2}{8 \pi d}$ times the square of the sum, up to $O(M/d)$.
#
# *2.* $\varphi(a_k) + \varphi(b_k)$ decreases in $k$, so the rule takes the first ones and attains $V_\varphi$. Two entries below 1 of one type, one in each network, have a joint density and lie on the decreasing curve $b = T(a)$ with probability 0; the order of equal entries is random. So only $o(M)$ pairs of the pool have equal types, which does not change the limit. The pools of the two networks have equally many rows and the same limit law. At $\lambda$ the sum is $\sum \rho(\lambda a, (1 - \lambda) b)$, which is concave in $\lambda$, and as the coupling of $u$ with $1 - u$ is symmetric, symmetric in the limit: the maximum is halfway.
#
# *3.* Then $\bar g$ is the mean of $\varphi(a) + \varphi(T(a))$ times the rows per type, which is $\mathbb E V_\varphi$.
# :::
#
# These are bounds for every $\varphi$. That they meet for the best one, as {prf:ref}`thm-best` says:
#
# :::{prf:proof}
# Call $\varphi$ feasible if $\varphi(a) + \varphi(b) \le \rho(a, b)$ for all $a$, $b$, let $\varphi^c(a) = \min_b\, [\rho(a, b) - \varphi(b)]$, and let $K$ be the set of the feasible $\varphi$ that do not decrease, have slopes of at most 1, and $\varphi(1) \ge 0$.
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
# So part 3 applies, and parts 1 and 2 give the limit. For any other $\psi$ of the lemma, in $K$ or not, part 1 for $\psi$ and part 2 for $\varphi$ give $\mathbb E V_\psi \le \bar g = \mathbb E V_\varphi$.
# :::
#
# In the pool $\varphi'(a) = \partial_a \rho(a, T(a)) = 1 - a/\sqrt{a^2 + T(a)^2}$, and $\varphi(a) = \frac12 \rho(a, a)$ where $T(a) = a$. Pool and $\varphi$ are found in turn
# ({py:func}`~lmc_helpers.teacher_student.barrier_limit.best_cost`), and the two bounds for them agree within {glue:text}`bounds_apart` of $g$:

# %% Compute the two bounds
places = np.linspace(1.6, 2.4, 5)  # m/M
bounds = np.array([best_cost(r) for r in places])  # g from below and above
for r, (low, high) in zip(places, bounds, strict=True):
    print(f"m = {r:.1f} M: {low:.7f} <= g <= {high:.7f}")

# %% [markdown]
# At finite $M$ the best permutation is a linear assignment ({prf:ref}`thm-assignment`), a test of the limit that shares no code with it. The squared least cost over that of large with small:

# %% Compare the limit with exact assignments
exact, found = [], []  # logarithms, and errors
for r, g_best in zip(places, bounds.mean(axis=1), strict=True):
    costs = halfway_costs(round(r * M_best), M_best, pairs_best, seed)
    ratio, error = ratio_of_means(*costs, paired=True)
    exact.append(2 * math.log(g_best / leftover_cost(r, "opposed")))
    found.append((2 * math.log(ratio), 2 * error / ratio))
    print(f"{r:.1f} M: limit {math.exp(exact[-1]):.4f}, here {ratio**2:.4f}")
apart = np.array(found)[:, 0] - exact
apart_error = np.linalg.norm(np.array(found)[:, 1]) / len(places)

# %%
claims.check("Z7.best_limit", apart.mean(), stderr=apart_error, n=pairs_best)

# %% Plot the best permutation
fine = np.linspace(1.6, 2.4, 100)  # m/M
height = 1e5 * limit(places, "opposed") * np.exp(np.array(found).T[0])
figure, axis = figures.panels(height=3.4)
axis.plot(fine, 1e5 * limit(fine, "opposed"), color="book:grey")
axis.plot(fine, 1e5 * limit(fine, "best"), color="book:blue")
style = dict(color="book:black", fmt="o")
figures.band(axis, places, height, height * np.array(found).T[1], **style)
axis.axvline(peak["best"], color="book:grey", linestyle=":")
style = dict(textcoords="offset points", xytext=(4, -4))
for how, words in (("opposed", "large with small"), ("best", "best permutation")):
    axis.annotate(words, (2.4, 1e5 * limit(2.4, how)), **style)
axis.set(xlabel="$m/M$", ylabel="$10^5\\, B\\, d/M^2$", xlim=(1.58, 2.42))
figures.show("fig_best", figure)

# %% [markdown]
# :::{glue:figure} fig_best
# :alt: Two flat curves of the scaled barrier against the width from 1.6 M to 2.4 M. That of the best permutation lies some five per cent below that of large with small; a dotted line marks its maximum at 1.94 M. Five points with error bars lie on it. The vertical axis does not begin at 0.
#
# The limit of {prf:ref}`thm-best` and that of large with small; points: exact assignments at $M =$ {glue:text}`M_best`, bars ±3.29 standard errors (profile {glue:text}`profile`). The vertical axis does not begin at 0.
# :::
#
# The neurons that have no partner of their type, at $m = 2M$:

# %% Count the neurons left alone
single = np.zeros((2, 20))  # in each network, over M
W1, W2 = sample_minima(2 * M_best, M_best, M_best, 40, seed + 2).split(20)
for k, (a, b) in enumerate(zip(W1, W2, strict=True)):
    for how, p in enumerate((pair_matching(a, b), algorithm_1(a, b))):
        single[how, k] = (a.argmax(dim=1) != b[p].argmax(dim=1)).sum() / M_best
alone = ive(0, 2) + ive(1, 2)  # E (N − N')₊ at ν = 1, I_0 and I_1 over e²
print("best: {:.3f} M, Algorithm 1: {:.3f} M".format(*single.mean(axis=1)))
figures.numbers(
    bounds_apart=f"{((bounds[:, 1] - bounds[:, 0]) / bounds[:, 0]).max():.0e}"
)

# %% [markdown]
# Among {glue:text}`M_best` teachers and {glue:text}`single.shape[1]` pairs the best permutation leaves {glue:text}`single[0].mean():.3f` $M$ neurons of a
# network alone, Algorithm 1 {glue:text}`single[1].mean():.3f` $M$ (in the limit {glue:text}`alone:.3f` $M$). On average it saves
# {glue:text}`100 * (1 - math.exp(np.mean(exact))):.0f` % of the barrier of large with small. [](13_algorithm_1.ipynb) finds the same for some pairs of six neurons.
#
# ### Figure 3 at finite numbers of teachers
#
# Z, Fig. 3 divides the {term}`permuted barrier` by the direct one, for $M = 4, 20, 100, 500$. At finite $M$ the curve lies above its
# limit and keeps its shape. Leftovers stand here in random order.

# %% Measure both barriers at four numbers of teachers
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

# %% Plot the barrier at finite numbers of teachers and its limit
direct = np.array([barrier_limits(r)[1] for r in ratios])
figure, axes = figures.panels(2, height=4.0)
curves = [(limit(ratios, "random"), peak["random"])]
curves.append((curves[0][0] / direct, ratio_peak["random"]))
shown = ratios > 1.15
for axis, (curve, top) in zip(axes, curves, strict=True):
    axis.plot(ratios[shown], curve[shown], color="book:black")
    axis.plot(top, CubicSpline(ratios, curve)(top), "o", color="book:black")
    style = dict(textcoords="offset points", fontsize=9, zorder=5)
    style |= dict(bbox=dict(facecolor="white", edgecolor="none", pad=0.5))
    place = top, CubicSpline(ratios, curve)(top)
    axis.annotate(f"limit: {top:.2f} $M$", place, xytext=(-12, -15), **style)
for K, colour in zip(sizes, ("sky", "green", "purple", "red"), strict=False):
    mean = at[K].mean(axis=2)  # (widths, 2)
    stderr = at[K].std(axis=2, ddof=1) / math.sqrt(count[K])
    x = np.array(widths[K]) / K
    style = dict(color=f"book:{colour}", fmt="o-", linewidth=1)
    figures.band(axes[0], x, mean[:, 0], stderr[:, 0], **style)
    ratio = mean[:, 0] / mean[:, 1]
    figures.band(axes[1], x, ratio, ratio * np.hypot(*(stderr / mean).T), **style)
    style = dict(textcoords="offset points", xytext=(4, -3), fontsize=9)
    for axis, last in zip(axes, (mean[-1, 0], ratio[-1]), strict=True):
        axis.annotate(f"$M = {K}$", (x[-1], last), **style)
for axis in axes:
    axis.axvline(2, color="book:grey", linestyle=":")
    axis.set(xlabel="$m/M$", yscale="log", xlim=(1, 7))
axes[0].set_ylabel("$B\\, d/M^2$ after Algorithm 1")
axes[1].set_ylabel("permuted barrier / direct barrier")
figures.show("fig_peak", figure)

# %% [markdown]
# :::{glue:figure} fig_peak
# :alt: Two panels against m over M on logarithmic vertical axes. First, the scaled permuted barrier for four numbers of teachers lies above its limit and has the same broad maximum, marked at 2.13 M. Second, its ratio to the direct barrier, about one hundredth, with the maximum of its limit at 2.39 M.
#
# First panel: the permuted barrier of random minima, scaled. Second panel: its ratio to the direct barrier, Z, Fig. 3. Finite $M$: {glue:text}`pairs`
# pairs per width for $M = 4$, {glue:text}`max(4, pairs // 4)` for {glue:text}`M`, {glue:text}`max(4, pairs // 20)` for {glue:text}`M_large`,
# {glue:text}`max(4, pairs // 40)` for {glue:text}`M_largest`; bars ±3.29 standard errors (profile {glue:text}`profile`). Limits:
# {prf:ref}`thm-leftovers`, exact; a dot marks the maximum, the dotted line $2M$.
# :::
#
# The change of the ratio at $m = 2M$ between $M = 4$ and {glue:text}`M_large`:


# %% Measure the benefit of more teachers
def benefit(seed: int) -> tuple[float, float]:
    """That ratio at the large number of teachers over that at four."""
    few, many = gain(4, 2 * pairs, seed), gain(M_large, count[M_large], seed)
    ratio = many[0] / few[0]
    return ratio, ratio * math.hypot(few[1] / few[0], many[1] / many[0])


grown = benefit(seed)
print("at many teachers over at four {:.3f} ± {:.3f}".format(*grown))

# %%
claims.check(
    "Z7.benefit", *grown, n=count[M_large], second_seed=lambda: benefit(seed + 1)
)

# %% [markdown]
# ### Six teachers in four readings
#
# The random curves of Z, Fig. 2 have $M = 6$ and $d = 8$. “The barrier reaching its maximum when $m = 2M$” (Z, Figs. 2 and 3) and the second
# descent “once $m$ exceeds approximately $2M$” (Z, section 4) are sentences on one curve, so each is asked in the same four readings: the
# three orders of Algorithm 1, and the best of all $m!$ permutations for the mean error halfway ({prf:ref}`thm-assignment`).


# %% Compare widths in four readings
def at_12_over_9(reading: str, seed: int) -> tuple[float, float]:
    """Mean at m = 2M over that at 1.5 M, and its error."""
    return ratio_of_means(*(permuted_barriers(m, reading, seed) for m in (12, 9)))


rise = {how: at_12_over_9(how, seed) for how in NAMES}
peak_6 = {  # the width of the largest mean
    how: max(range(9, 16), key=lambda m: permuted_barriers(m, how, seed).mean())
    for how in NAMES
}
rows = [
    [
        NAMES[how],
        f"{peak_6[how]}",
        *("{:.3f} ± {:.3f}".format(*found[how]) for found in (near, rise)),
    ]
    for how in NAMES
]
figures.table(
    "unmatched neurons meet | largest at $m$ | $m = 11, 12, 13$ / 9, 10, 14, 15 | $m = 12$ / 9",
    rows,
)

# %%
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

# %% Plot the random curves of Z, Fig. 2
six = [7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 21, 24, 30, 36]  # m
curves = [uniform_barriers(m, 6, 8, pairs_figure, seed) for m in six]
figure, axis = figures.panels(height=3.4)
for k, (name, colour) in enumerate(
    (("after Algorithm 1", "blue"), ("direct", "grey"))
):
    style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2)
    height, spread = mean_and_error([B[k] for B in curves])
    figures.band(axis, six, height, spread, **style)
    last = dict(xytext=(6, -4), textcoords="offset points")
    axis.annotate(name, (36, height[-1]), **last)
axis.axvline(12, color="book:grey", linestyle=":")
axis.annotate("$m = 2M$", (12, 5e-3), xytext=(4, 0), textcoords="offset points")
axis.set(yscale="log", xlabel="student neurons $m$", ylabel="mean barrier")
figures.show("fig_six", figure)
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
# :alt: Mean barrier of random minima against width on a logarithmic axis. The direct barrier falls slowly; the permuted one is about a hundred times lower, rises to a broad maximum at about twelve neurons and falls.
#
# The random curves of Z, Fig. 2, $M = 6$, $d = 8$: {glue:text}`pairs_figure` pairs per width, leftovers as they stand; bars ±3.29 standard errors
# (profile {glue:text}`profile`).
# :::
#
# The table has {glue:text}`pairs_uniform:,` pairs per width. By the recorded run the curve is highest within a neuron of $2M$ in the three orders
# of Algorithm 1, and falls in none of them before ({claim}`Z8.second_descent_uniform`). The best permutation saves more, the wider
# the networks are; with six teachers the curve is then highest left of $2M$ by more than a neuron ({claim}`Z6.peak_uniform_best`), and in the
# limit just left of it ({claim}`Z7.peak_of_best`).
#
# This curve “validates both the overlap Theorem 5 and the barrier Theorem 6” (Z, section 4). Beyond its top it falls faster than
# $m^{-1/2}$ ({claim}`Z6.validates_rate`); that its top, which is flat, is within a neuron of the width at which the overlap is least is
# open ({claim}`Z6.validates_overlap`). The curve of trained networks has its top elsewhere ({claim}`Z6.peak`).
#
# For the same reason Algorithm 1 falls behind the best permutation as networks grow:


# %% Compare Algorithm 1 with the best permutation
def over_best(m: int, reading: str, seed: int) -> tuple[float, float]:
    """Mean after Algorithm 1 over that after the best permutation, and its error."""
    n = pairs_uniform if m == 12 else pairs_wide
    found = (permuted_barriers(m, how, seed, n) for how in (reading, "best"))
    return ratio_of_means(*found, paired=True)


def over_best_anywhere(seed: int) -> tuple[float, float]:
    """The largest ratio at three widths of Z, Fig. 2, leftovers in random order."""
    return max(over_best(m, "random", seed) for m in (12, 24, 36))


pairs_wide = min(pairs_uniform, max(400, pairs_uniform // 6))  # at 24, 36
above = {  # barrier after Algorithm 1 over that of the best permutation
    how: [over_best(m, how, seed) for m in (12, 24, 36)] for how in LEFTOVERS
}
above_limit = {  # with many teachers at m = 2M
    how: (g(2.0, how) / g(2.0, "best")) ** 2 for how in LEFTOVERS
}
rows = [
    [NAMES[how]]
    + ["{:.2f} ± {:.2f}".format(*one) for one in found]
    + [f"{above_limit[how]:.2f}"]
    for how, found in above.items()
]
head = "barrier after Algorithm 1 over the best | $m = 12$ | 24 | 36 | many teachers, $2M$"
figures.table(head, rows)

# %%
claims.check("Z4.near_best_peak", *above["random"][0], n=pairs_uniform)
twice = {"of": seed, "again": seed + 1, "n": pairs_wide}
claims.check("Z4.near_best_figure", over_best_anywhere, **twice)
claims.check("Z4.near_best_many", above_limit["random"], n=1)

# %% [markdown]
# With leftovers in random order, the lowest of the three, it leaves less than twice the barrier at $m = 2M$ ({claim}`Z4.near_best_peak`), and
# more than twice at the right end of Fig. 2 ({claim}`Z4.near_best_figure`) and with many teachers ({claim}`Z4.near_best_many`).
#
# ### The dimension at every width of Figure 11
#
# Z, Fig. 11 has the widths $m = 6, \dots, 15$; [](19_double_descent.ipynb) measures the ratio at each ({claim}`Z15.gap`). The caption of Z,
# Fig. 12 says “increasing when $d$ is going up” where $M$ is meant: $d$ is fixed there.
#
# ### The number of teachers at fixed dimension
#
# Z, Fig. 12 has $d = 64$ and $M = 4, 8, 16$. The barrier increases with $M$, and the ratio of the permuted to the direct one
# falls. At $m = 2M$:

# %% Measure the growth with the number of teachers
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

# %%
claims.check("Z16.increases", growth, stderr=growth_error, n=pairs)
claims.check("Z16.gap", falls, stderr=falls * relative, n=pairs)

# %% [markdown]
# By {prf:ref}`thm-many-teachers` the exponent of $M$ tends to 2; the measured one, {glue:text}`growth:.2f` ± {glue:text}`growth_error:.2f` in this run, is still smaller, as
# $d B/M^2$ falls towards its limit. The ratio has a limit, so the gap, on a logarithmic scale, stops growing: at $m = 2M$ it
# tends to {glue:text}`float(np.divide(*barrier_limits(2.0))):.4f` ({glue:text}`gap_opposed:.4f` with large leftovers on small ones).
#
# ### Exercises
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
# $s^2/(2\nu^2)$, on average $1/(2\nu)$. Hence $g \approx (2 - \sqrt2)/(2\nu)$, and $B$ falls like $\nu^{-2}$, that is like
# $m^{-2}$ at fixed $M$, where it is a theorem: with leftovers in random order $m^2 B$ has a limit law ({prf:ref}`thm-law`), and in this
# order the loss halfway between two teachers' students has one ({prf:ref}`cor-two-teachers`). The approach is slow, with a relative error of order $\nu^{-1/2}$:
#
#     for nu in (2, 5, 9):
#         print(leftover_cost(1 + nu, "sorted") * 2 * nu / (2 - math.sqrt(2)))
# :::
#
# :::{try}
# Ten times the pairs with six teachers:
#
#     make chapter NAME=barrier_peak ARGS="-p pairs_uniform 12000"
#
# Look at the table of the six teachers: the lead of the widths 11 to 13 grows out of its error.
# :::

# %% Versions and time
print(chapter.end())
