# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Where the barrier peaks
#
# After permutation the barrier rises and then falls with the width $m$. Zhan, Li and Wu {cite:p}`zhan2025` place its maximum
# at $m = 2M$, where their overlap theorem puts the minimum of the overlap, and see it in plots of 20 to 50 pairs a point. This
# chapter derives the limit of many teachers, in which the curve can be computed to any precision. There the
# barrier peaks at $m \approx$ {glue:text}`peak_barrier:.2f` $M$, and its ratio to the direct barrier at
# {glue:text}`peak_ratio:.2f` $M$. Neither is $2M$, nor the minimum of the overlap at {glue:text}`overlap_minimum:.2f` $M$.
# How the barrier depends on the input dimension is a one-line theorem.

# %% tags=["parameters", "hide-input"] mystnb={"code_prompt_show": "Parameters"}
batches: int = 10  # independent repetitions of the limit, for error bars
types: int = 100_000  # sampled types in each
pairs: int = 400  # pairs of minima per width at finite M
M: int = 20  # teachers, finite
M_large: int = 100  # more teachers, fewer pairs; 500 in the paper
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Check the parameters"}
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    batches=Integer(3, 10_000),
    types=Integer(1000, 100_000_000),
    pairs=Integer(4, 100_000),
    M=Integer(2, 500),
    M_large=Integer(2, 500),
    seed=Integer(0, 2**31),
)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports"}
import math

import numpy as np

from lmc_helpers import claims, figures, seeds
from lmc_helpers.error_bars import mean_and_error, ratio_of_means, slope_and_error
from lmc_helpers.teacher_student import overlap
from lmc_helpers.teacher_student.barrier_limit import (
    barrier_limits,
    limit_curves,
    peak_over_batches,
)
from lmc_helpers.teacher_student.between_minima import (
    permuted_and_direct,
    uniform_barriers,
)
from lmc_helpers.teacher_student.minima import sample_minima

# %% [markdown]
# ## The input dimension only scales
#
# ```{prf:proposition} Barrier and input dimension
# :label: prop-dimension
# For minima, $d \cdot B$ does not depend on $d \ge M$, for any pairing of the rows. The ratio of the permuted and the direct
# barrier does not depend on $d$ at all.
# ```
#
# ```{prf:proof}
# All rows on the segment lie in the span of $e_1, \dots, e_M$, so their norms and angles do not involve $d$, and in the loss
# $d$ enters only through the factor $1/d$ of $\kappa$.
# ```
#
# This explains Fig. 11 of the paper exactly, for uniform minima: the barrier decreases with $d$, "while the gap between the permuted
# barrier and the direct barrier remains almost the same" on a logarithmic scale. (The caption of Fig. 12 says "increasing when $d$
# is going up" where $M$ is meant: $d$ is fixed there.)

# %%
dims = [2**k for k in range(2, 8)]
heights = []  # mean barrier after Algorithm 1, M = 4 and m = 8
for d in dims:  # the same minima in every dimension: the seed ignores d
    W1, W2 = sample_minima(8, 4, d, 2 * 20, seed).split(20)  # (20, m, d)
    permuted, direct = permuted_and_direct(W1, W2, M=4)  # (20,) each
    heights.append(permuted.mean().item())
    print(f"d = {d:>3}, d B = {d * heights[-1]:.8f}")
slope = np.polyfit(np.log(dims), np.log(heights), 1)[0]

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z15.dimension"}
claims.check("Z15.dimension", float(slope), n=len(dims))

# %% [markdown]
# ## Many teachers
#
# ```{prf:theorem} The barrier for many teachers
# :label: thm-many-teachers
# Let $W^{(1)}, W^{(2)}$ follow Assumption 3, $M \to \infty$, $m/M \to r > 1$, $d \ge M$. After Algorithm 1, with leftovers in random order,
#
# $$
# \frac{d}{M^2}\, B \;\longrightarrow\; \frac{g(r)^2}{8\pi}, \qquad
# g(r) = \lim \frac1M \sum_{i \in R} \Bigl( a_i + b_i - \sqrt{a_i^2 + b_i^2} \Bigr)
# $$
#
# in probability, where $R$ are the unmatched places and $a_i$, $b_i$ the entries that meet there. The direct barrier has the same
# limit with all rows in random order in place of $R$.
# ```
#
# ```{prf:proof}
# As in [the previous chapter](14_barrier_rate.ipynb), $f - f^* = \sum_R \Delta_i(x)$ on the segment, all terms $\le 0$. Given the
# pair, $\Delta_i$ depends on two coordinates of $x$. Coordinates of a uniform point on the sphere are
# asymptotically independent and $N(0, 1/d)$, and each enters a number of terms with bounded moments, so the variance of
# $\sum_R \Delta_i$ over $x$ is $O(M/d)$, while its mean is of order $M/\sqrt d$. Hence
# $L = (\mathbb E \sum_R \Delta_i)^2 (1 + O(1/M))$, with
# $\mathbb E|\Delta_i| = c_d \bigl( \lambda a_i + (1 - \lambda) b_i - \sqrt{\lambda^2 a_i^2 + (1 - \lambda)^2 b_i^2} \bigr)$ and
# $c_d = \mathbb E\, \sigma(x_1) \sim (2\pi d)^{-1/2}$. The sum over rows obeys the law of large numbers. Its limit is concave in $\lambda$,
# because the root is convex, and symmetric, because the two minima have the same law: the maximum is at $\lambda = \tfrac12$. Type counts tend to independent
# $1 + \operatorname{Poisson}(r - 1)$ ([the overlap theorem](12_overlap_theorem.ipynb)).
# ```
#
# One sample of the limit, at $m = 2M$:

# %%
r, rng = 2.0, seeds.numpy_generator(seed, "one sample of the limit")
counts = 1 + rng.poisson(r - 1, size=(2, types))  # rows of each type
left = []
for mine, other in (counts, counts[::-1]):
    kind = np.repeat(np.arange(types), mine)  # type of each row
    x = rng.exponential(size=len(kind))
    x /= np.bincount(kind, x)[kind]  # uniform on the simplex of its type
    x = x[np.lexsort((-x, kind))]  # type by type, in descending order
    rank = np.arange(len(kind)) - (np.cumsum(mine) - mine)[kind]
    left.append(rng.permutation(x[rank >= other[kind]]))  # no partner
u = min(map(len, left))
a, b = (x[:u] for x in left)  # entries that meet at the unmatched places
g = (a + b - np.hypot(a, b)).sum() / types
print(f"d B/M² → {g**2 / (8 * np.pi):.6f} at m = 2M")

# %% [markdown]
# The limit is a mean over independent types, so it can be sampled with as many types as one likes
# ({py:func}`~lmc_helpers.teacher_student.barrier_limit.barrier_limits`). The place of its peak comes from a polynomial of
# degree 4 in $\log r$, fitted to the logarithm of the curve in each of {glue:text}`batches` independent batches.

# %%
ratios = np.geomspace(1.5, 3.4, 14)  # m/M


def peaks(seed: int) -> tuple:
    """Limits, place of the peak of the barrier and of permuted/direct."""
    found = limit_curves(ratios, types, batches, seed)  # (batches, 14, 2)
    permuted, direct = found[..., 0], found[..., 1]
    of_barrier = peak_over_batches(ratios, permuted)
    return found, of_barrier, peak_over_batches(ratios, permuted / direct)


found, of_barrier, of_ratio = peaks(seed)
print("peak of the barrier at m = {:.3f} ± {:.3f} M".format(*of_barrier))
print("peak of permuted/direct at m = {:.3f} ± {:.3f} M".format(*of_ratio))

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z7.peak_of_barrier and Z7.peak_of_ratio"}
claims.check(
    "Z7.peak_of_barrier",
    of_barrier[0],
    stderr=of_barrier[1],
    n=batches * types,
    again=lambda: peaks(seed + 500)[1],
)
claims.check(
    "Z7.peak_of_ratio",
    of_ratio[0],
    stderr=of_ratio[1],
    n=batches * types,
    again=lambda: peaks(seed + 500)[2],
)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
figures.numbers(
    batches=batches,
    types=f"{types:,}",
    pairs=pairs,
    M=M,
    M_large=M_large,
    pairs_large=max(3, pairs // 20),
    profile=profile,
    peak_barrier=of_barrier[0],
    peak_ratio=of_ratio[0],
    overlap_minimum=overlap.minimiser_limit(),
    gap_limit=float(np.divide(*barrier_limits(2.0, types, seed))),
)

# %% [markdown]
# ## Finite $M$
#
# The paper's Fig. 3 normalises the permuted barrier by the direct one. At finite $M$ the curve lies above its limit and keeps its shape.

# %%
sizes = sorted({4, M, M_large})
count = {K: max(3, pairs // 20) if K > 20 else pairs for K in sizes}
widths = {
    K: sorted({round(r * K) for r in np.geomspace(1.2, 6, 10 if K <= 20 else 6)})
    for K in sizes
}
at = {}  # d B/M² of all pairs with d = M, (widths, 2, pairs)
for K in sizes:
    B = [uniform_barriers(m, K, K, count[K], seed) for m in widths[K]]
    at[K] = np.array(B) / K

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot the barrier at finite M and its limit"}
limit = found.mean(axis=0)  # (14, 2)
figure, (left, right) = figures.panels(2, height=4.4)
for K, colour in zip(sizes, ("sky", "green", "purple"), strict=False):
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
for axis, curve, place in (
    (left, limit[:, 0], of_barrier[0]),
    (right, limit[:, 0] / limit[:, 1], of_ratio[0]),
):
    axis.plot(ratios, curve, color="book:black", label=r"limit $M \to \infty$")
    axis.axvline(2, color="book:orange", linestyle="--", label="$m = 2M$")
    style = dict(linestyle=":", label="peak of the limit")
    axis.axvline(place, color="book:black", **style)
    axis.set(xlabel="$m/M$", yscale="log")
left.set_ylabel("$d\\, B / M^2$ after Algorithm 1")
right.set_ylabel("permuted barrier / direct barrier")
figures.legend(figure)
figures.show("fig_peak", figure)

# %% [markdown]
# ```{glue:figure} fig_peak
# :name: fig-peak
# :alt: Two panels against m over M. Left, the scaled permuted barrier for several numbers of teachers and its limit rise to a broad maximum near two and fall. Right, the ratio to the direct barrier, about one hundredth, peaks further right.
#
# Left: the permuted barrier of uniform minima, scaled. Right: its ratio to the direct barrier, the paper's Fig. 3. Finite $M$:
# {glue:text}`pairs` pairs a width ({glue:text}`pairs_large` for $M =$ {glue:text}`M_large`), bars ±3.29 standard errors. Limit: {glue:text}`batches` × {glue:text}`types` types
# (profile {glue:text}`profile`).
# ```
#
# The paper says that the best permutation reduces the barrier "by $10^{-2}$". At $M = 20$ and $m = 40$, near the worst width:

# %%
permuted, direct = uniform_barriers(40, 20, 20, pairs, seed)  # (pairs,) each
ratio, error = ratio_of_means(permuted, direct, paired=True)
print(f"permuted/direct {ratio:.5f} ± {error:.5f}")

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z7.gain"}
claims.check(
    "Z7.gain",
    ratio,
    stderr=error,
    n=pairs,
    again=lambda: ratio_of_means(
        *uniform_barriers(40, 20, 20, pairs, seed + 1), paired=True
    ),
)

# %% [markdown]
# ## The number of teachers at fixed dimension
#
# Figure 12 of the paper has $d = 64$ and $M = 4, 8, 16$. The barrier increases with $M$, and the ratio of the permuted to the direct one falls:

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

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z16.increases and Z16.gap"}
claims.check("Z16.increases", growth, stderr=growth_error, n=pairs)
claims.check("Z16.gap", falls, stderr=falls * relative, n=pairs)

# %% [markdown]
# The growth is that of {prf:ref}`thm-many-teachers`, $M^2/d$ for many teachers. The ratio has a limit, so the gap, on a logarithmic scale, stops
# growing: at $m = 2M$ it tends to {glue:text}`gap_limit:.4f`.
#
# ## What we found that the paper does not say
#
# - With many teachers the barrier is the *square* of a mean over types ({prf:ref}`thm-many-teachers`). It has a limit curve,
#   with a peak that can be located as precisely as one likes.
# - Three places that the paper identifies are different: the minimum of the overlap ({glue:text}`overlap_minimum:.3f` $M$), the peak
#   of the permuted barrier ({glue:text}`peak_barrier:.3f` $M$) and the peak of its ratio to the direct one ({glue:text}`peak_ratio:.3f`
#   $M$). "About $2M$" is a fair description of the second.
# - For uniform minima $d$ only scales the barrier, by exactly $1/d$ ({prf:ref}`prop-dimension`).
#
# ```{admonition} Try it
# :class: tip
# Eight teachers, more pairs:
#
#     make chapter NAME=barrier_peak ARGS="-p M 8 -p pairs 2000"
# ```

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Versions and time"}
print(chapter.end())
