# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # After matching, the barrier falls like the inverse square of the width
#
# *How fast does the rise of the loss between two matched random minima (the barrier) vanish as they widen?*
#
# Like **$m^{-2}$** in the width $m$ on average, not merely like the printed $m^{-1/2}$: proved, and measured with exponent **[[Z5.bound_on_rate:±]]**. No
# permutation has a better rate. Sorting matters: Algorithm 1 leaves the smallest neurons over; without sorting the rate
# is $m^{-1}$.
#
# :::{glue:figure} fig_rate
# :alt: Mean barrier against width, both axes logarithmic. After Algorithm 1 it falls along a straight line, labelled with the recorded exponent [[Z5.bound_on_rate:.2f]]; without sorting along a line half as steep, labelled [[Z5.rate_unsorted:.2f]]. A dashed line of slope minus one half, the printed rate, is much flatter.
#
# Mean barrier of {glue:text}`pairs` pairs ($M = 6$ teacher neurons, $d = 8$ inputs) in this run, bars: 99.9 %; exponents: recorded.
# :::
#
# **How sure.** Proved for $m \to \infty$; measured on [[n(Z5.bound_on_rate)]] pairs per width, recorded. Letters of rows 4 to 6: the paper's.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | the barrier is $O(m^{-1/2})$ (Theorem 6) | [true, even $O(m^{-2})$](#Z5.bound_on_rate) | [[Z5.bound_on_rate:±]] measured ({prf:ref}`thm-rate`) |
# | “For any two solutions … following the Assumption 3” (Theorem 6) | [not for every pair; true on average](#Z5.any_two) | some pairs keep $\frac{\pi - 2}{8 \pi d}$ ({prf:ref}`prop-any-two`) |
# | “can substantially reduce the loss barrier” (sec. 1) | [true, like $m^{-2}$](#Z5.over_direct) | [[Z5.over_direct:±]] measured ({prf:ref}`thm-direct`) |
# | (10): the matched share $\gamma$ is the same for all types | [met only if $\gamma = 1$](#Z5.uniform_share) | the rate holds without it ({prf:ref}`prop-empty`) |
# | $L_{13} \le M \gamma (1 - \gamma) \kappa(1)$ (A.2) | [a factor $M$ is missing](#Z5.cross_block) | up to [[Z5.cross_block:≤.3f]] times the bound ($M = 6$) |
# | the bound of the loss that ends A.2 | [negative for $\gamma$ near 1](#Z5.printed_bound) | mended by {prf:ref}`cor-quadratic` |
#
# **Open.** Two teacher neurons: what matching leaves is [[Z5.gain:±]] of our proved limit; is it within 0.05? 6 core-hours.
#
# **For the authors.** Theorem 6 may say $\mathbb E B = O(m^{-2})$; in A.2 print $B \le M^2 (1 - \gamma)^2/(8d)$, without (10).

# %% Parameters tags=["parameters"]
pairs: int = 150  # pairs of minima at each width
doublings: int = 5  # widths 120, 240, ... after the first
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(globals(), pairs=Integer(4, 100000), doublings=Integer(2, 8))

import math

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from lmc_helpers import claims, figures
from lmc_helpers._chapters.barrier_rate import (
    minima_with_matched_share,
    power_law,
)
from lmc_helpers.barrier import GRID, refined_barrier
from lmc_helpers.error_bars import mean_and_error, ratio_of_means
from lmc_helpers.matching import algorithm_1, permute
from lmc_helpers.seeds import normal
from lmc_helpers.teacher_student import (
    kappa,
    losses_between,
    minima_barriers,
    population_loss,
    sample_minima,
)

# %% [markdown]
# :::{need}
# You need: types and {term}`Assumption 3` ([](12_overlap_theorem.ipynb)), Algorithm 1 ([](13_algorithm_1.ipynb)), the central limit
# theorem, norms in $L^2$. {{ times }}
# :::
#
# ## Algorithm 1 leaves the smallest neurons over
#
# Two random {term}`minima <minimum>` follow Assumption 3: every row (neuron) is on the ray of some
# {term}`teacher <teacher and student>` neuron $e_j$, its *type*, the surplus counts of the types are multinomial, and the entries of a type
# are uniform on the simplex. {term}`Algorithm 1` pairs rows of one type, large with large, until one of the networks has no more of them. Its
# leftovers are the smallest rows:

# %% Plot the idea: what Algorithm 1 leaves over
ones, others = sample_minima(40, 2, 2, 40, seed).split(20)  # (20, 40, 2) each
surplus = ((ones > 0).sum(dim=1) - (others > 0).sum(dim=1))[:, 0].abs()
typical = surplus.argsort()[13]  # a pair with a common difference of counts
entries = [W[typical, :, 0].sort(descending=True).values for W in (ones, others)]
entries = [x[x > 0].numpy() for x in entries]  # of type 1, largest first
paired = min(len(x) for x in entries)
longer = max(entries, key=len)
figure, axis = figures.panels(height=2.8)
for x, side, colour in zip(entries, (1, -1), ("blue", "sky"), strict=True):
    rank = np.arange(1, len(x) + 1)
    axis.bar(rank[:paired], side * x[:paired], color=f"book:{colour}")
    if len(x) > paired:
        axis.bar(rank[paired:], side * x[paired:], color="book:red")
        end = dict(xytext=(0, 8 * side), textcoords="offset points")
        style = dict(ha="right", va="bottom" if side > 0 else "top")
        at = (len(x) + 0.4, side * x[paired])
        axis.annotate("left over", at, color="book:red", **end, **style)
axis.axhline(0, color="book:black", linewidth=1)
top = max(len(x) for x in entries) / 2
for side, words in ((1, "first network"), (-1, "second network")):
    axis.text(top, side * 0.7 * entries[0][0], words, ha="center")
axis.set(xlabel="rows of type 1, sorted", ylabel="entry")
axis.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
figures.show("fig_leftovers", figure)
figures.numbers(left_mass=f"{100 * longer[paired:].sum():.1f} %")

# %% [markdown]
# :::{glue:figure} fig_leftovers
# :alt: Sorted entries of one type as bars, those of one network upwards and those of the other downwards. One network has a few more; these are its smallest entries, marked left over.
#
# Rows of one type in two minima with $m = 40$, $M = 2$. The longer column leaves {glue:text}`100 * (1 - paired / len(longer)):.0f` % of its rows over, but
# only {glue:text}`left_mass` of its mass.
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $M$, $m$, $d$ | neurons of the teacher; of each of the two networks; input dimension, $d \ge M$ |
# | $B$ | the {term}`barrier`: largest loss on the line between the two networks (both have loss 0) |
# | $\lambda$ | place on that line |
# | $R$ | unmatched places: row $i$ has the ends $a_i e_p$ and $b_i e_q$, $p \ne q$ |
# | $A$, $A'$ | unmatched mass of the two networks, $\sum_R a_i$ and $\sum_R b_i$ |
# | $\gamma$ | matched mass: $M(1 - \gamma)$ is the unmatched mass, on average over the two networks |
# | $s_j$ | surplus: rows of type $j$ in the first network less those in the second |
# | $\sigma$, $c_d$ | the ReLU; $\mathbb E\, \sigma(x_1)$ |
# | $f$, $f^*$ | the network at $\lambda$; the teacher |
#
# ## The loss is quadratic in what is left over
#
# On the line between $W^{(1)}$ and the permuted $W^{(2)}$, a matched row stays on its ray and causes no error. Let $R$ be the
# unmatched places; there row $i$ has the ends $a_i e_p$ and $b_i e_q$, $p \ne q$. At $\lambda$ the network is
# $f^* + \sum_{i \in R} \Delta_i$,
#
# $$
# \begin{aligned}
# \Delta_i = {}& \sigma(\lambda a_i x_p + (1 - \lambda) b_i x_q) \\
# & - \lambda a_i \sigma(x_p) - (1 - \lambda) b_i \sigma(x_q),
# \end{aligned}
# $$
#
# $$
# -\min\bigl(\lambda a_i |x_p|, (1 - \lambda) b_i |x_q|\bigr) \le \Delta_i \le 0. \tag{a}
# $$
#
# The *barrier* $B(W^{(1)}, W^{(2)}_p)$ is the largest loss on the line; the ends themselves have loss 0.
# So the loss is *quadratic* in the unmatched mass. With $A = \sum_R a_i$ and $A' = \sum_R b_i$:
#
# :::{prf:proposition} The barrier and the unmatched mass
# :label: prop-mass
# For any permutation, with $c_d = \mathbb E\, \sigma(x_1)$,
#
# $$
# \begin{aligned}
# B &\le \frac1{2d} \Bigl( \frac{A A'}{A + A'} \Bigr)^2, \\
# B &\ge \Bigl( \tfrac{2 - \sqrt 2}{2}\, c_d \sum_{i \in R} \min(a_i, b_i) \Bigr)^2.
# \end{aligned}
# $$
# :::
#
# :::{prf:proof}
# *Upper bound.* $\Delta_i$ vanishes unless $x_p x_q < 0$, and then (a) holds; $\mathbb E x_p^2 1_{x_p x_q < 0} = \frac1{2d}$. So by the
# triangle inequality in $L^2$, $\|\sum \Delta_i\|$ is at most $\lambda A/\sqrt{2d}$ and at most $(1 - \lambda) A'/\sqrt{2d}$.
# The smaller of $\lambda A$ and $(1 - \lambda) A'$ is at most $A A'/(A + A')$.
#
# *Lower bound.* At $\lambda = \frac12$ no two terms cancel, so by Jensen's inequality
# $B \ge (\mathbb E \sum |\Delta_i|)^2$, and
#
# $$
# \begin{aligned}
# \mathbb E|\Delta_i| &= \tfrac{c_d}{2} \bigl( a_i + b_i - \sqrt{a_i^2 + b_i^2} \bigr) \\
# &\ge \tfrac{c_d}{2} (2 - \sqrt 2) \min(a_i, b_i).
# \end{aligned}
# $$
# :::
#
# ## So the barrier falls like $m^{-2}$, and no permutation does better
#
# :::{prf:theorem} The rate; sharpens Z, Theorem 6
# :label: thm-rate
# Let $M \ge 2$ and $d \ge M$ be fixed and let $W^{(1)}, W^{(2)}$ follow Assumption 3. As $m \to \infty$:
#
# 1. after Algorithm 1, $\mathbb E B = O(m^{-2})$;
# 2. no permutation does better: for every $\varepsilon > 0$ there is $c > 0$ such that with probability at least $1 - \varepsilon$ the
#    smallest barrier of all $m!$ permutations is at least $c\, m^{-2}$;
# 3. if rows of one type are matched without sorting, or if the entries of a type are all equal, $\mathbb E B$ is of order $m^{-1}$.
# :::
#
# :::{prf:proof}
# Type $j$ has $n_j$ rows in one network and $n_j - s_j$ in the other, where $n_j \approx m/M$ and, by the central limit theorem,
# $s_j$ is of order $\sqrt m$ with $\mathbb E s_j^4 = O(m^2)$.
#
# *1.* The $s$ smallest of $n$ entries that are uniform on the simplex are $\sum_{i < k} Y_i/(n - i)$, $k \le s$, with $Y$ again
# uniform on the simplex (Rényi's representation of exponential spacings). Their sum
# $\sum_{i < s} \frac{s - i}{n - i} Y_i$ is at most $\frac sn \sum_{i < s} Y_i$, whose second moment is
# $\frac{s^2}{n^2} \cdot \frac{s(s + 1)}{n(n + 1)}$. So $\mathbb E A^2$ is of order $\mathbb E s^4/n^4 = O(m^{-2})$, and {prf:ref}`prop-mass` with $A A'/(A + A') \le A$ gives the claim.
#
# *2.* Any permutation leaves at least $u = \frac12 \sum_j s_j$ places unmatched. The minima $\min(a_i, b_i)$ are $u$ different
# ones of the $2m$ entries of both networks, so their sum is at least that of the $u$ smallest. Entries have a bounded density near 0 on the scale
# $M/m$, so that the $k$-th smallest of all is of order $k/m^2$ and the sum of order $u^2/m^2$, that is $1/m$, up to a factor that
# stays away from 0 with high probability. Insert this in the lower bound.
#
# *3.* Then the leftover rows of a type are typical rows, or equal ones: $A$ and $A'$ are of order $s/n$, that is $m^{-1/2}$, and so is
# $\sum \min(a_i, b_i)$.
# :::
#
# The barrier on the {term}`paper's grid` $\lambda = 0, 0.1, \dots, 1$, exactly, for widths up to several thousand
# ({py:func}`~lmc_helpers.teacher_student.between_minima.minima_barriers` needs only the few pairs of rows that share an axis),
# and the exponent of $m$ in its mean over the upper widths:

# %% Measure barriers and unmatched mass at all widths
widths = [120 * 2**k for k in range(doublings + 1)]  # m


def barriers(
    seed: int, law: str = "exponential", sort: bool = True
) -> np.ndarray:
    """Barriers and 1 − γ at all widths, (2, widths, pairs), M = 6 and d = 8."""
    rows = []
    for m in widths:
        found = []
        for k in range(0, pairs, 100):  # a hundred pairs at a time
            n = min(100, pairs - k)
            W1, W2 = sample_minima(m, 6, 8, 2 * n, seed + k, law).split(n)
            W2 = permute(W2, algorithm_1(W1, W2, sort=sort))
            left = (W1 + W2) * ((W1 > 0) != (W2 > 0))  # unmatched entries
            free = left.sum(dim=(1, 2)).numpy() / 12  # of 2 M, (n,)
            found.append([minima_barriers(W1, W2, M=6), free])
        rows.append(np.concatenate(found, axis=1))
    return np.stack(rows, axis=1)


def exponent(B: np.ndarray) -> tuple[float, float]:
    """Exponent of m over the upper widths, and its error."""
    return power_law(widths[-4:], B[-4:])


matched, unmatched = barriers(seed)  # unmatched mass 1 − γ

# %%
measured = {
    "Algorithm 1": matched,
    "without sorting": barriers(seed, sort=False)[0],
    "equal entries": barriers(seed, law="equal")[0],
}
rates = {case: exponent(B) for case, B in measured.items()}
for case, (rate, error) in rates.items():
    print(f"{case:<16} m^({rate:.2f} ± {error:.2f})")
print("1 − γ            m^({:.2f} ± {:.2f})".format(*exponent(unmatched)))

# %% Plot the barrier against the width
figure, axis = figures.panels(height=2.7)
for case, colour, part in (
    ("Algorithm 1", "blue", "Z5.bound_on_rate"),
    ("without sorting", "black", "Z5.rate_unsorted"),
):
    style = dict(color=f"book:{colour}", linewidth=1.6, fmt="o-")
    mean, error = mean_and_error(measured[case])
    figures.band(axis, widths, mean, error, **style)
    record = claims.recorded(part)
    half = (record["high"] - record["low"]) / 2
    words = f"{case}:\n$m^{{{record['value']:.2f} \\pm {half:.2f}}}$"
    place = dict(xytext=(6, -8), textcoords="offset points")
    axis.annotate(words, (widths[-1], mean[-1]), color=f"book:{colour}", **place)
m = np.array(widths, dtype=float)
printed = measured["Algorithm 1"][0].mean() * (m / m[0]) ** -0.5
axis.plot(m, printed, "--", color="book:red")
place = dict(xytext=(6, -6), textcoords="offset points", color="book:red")
axis.annotate("printed: $m^{-1/2}$", (m[-1], printed[-1]), **place)
axis.set(xscale="log", yscale="log", xlabel="width $m$ of the two networks")
axis.set(ylabel="mean barrier")
axis.set_xticks(widths, [str(m) for m in widths])
axis.minorticks_off()
figures.show("fig_rate", figure)

# %% Keep the picture of the finding
figure, axis = figures.card()
style = dict(color="book:blue", fmt="o-", linewidth=1.4)
B = mean_and_error(measured["Algorithm 1"])
figures.band(axis, widths, *B, label="measured", **style)
style = dict(color="book:orange", label=r"printed, $m^{-1/2}$")
axis.plot(widths, printed, "--", **style)
axis.set(xscale="log", yscale="log", xlabel="width $m$", ylabel="barrier")
axis.set_xticks(widths[::2], [str(m) for m in widths[::2]])
axis.minorticks_off()
axis.legend(loc="lower left")
figures.keep(figure)

# %%
claims.check("Z5.bound_on_rate", *rates["Algorithm 1"], n=pairs)

# %% [markdown]
# ## This holds on average, not for any two minima
#
# Z, Theorem 6 says “for any two solutions” that follow Assumption 3. This is a law, and on average over it, hence with
# probability tending to 1, the theorem holds. At its word it does not:
#
# :::{prf:proposition} Not every pair
# :label: prop-any-two
# Let all surplus rows be of type 1 in $W^{(1)}$ and of type 2 in $W^{(2)}$, and the entries of a type equal. Then after Algorithm 1
#
# $$
# B = \Bigl( \frac{m - M}{m - M + 1} \Bigr)^2 \frac{\pi - 2}{8 \pi d},
# $$
#
# which does not go to 0. At every $m$ Assumption 3 gives pairs with at least half of this barrier with a positive probability.
# :::
#
# :::{prf:proof}
# One row of each type is matched. With $n = m - M + 1$ the $n - 1$ others of type 1 meet those of type 2, all with the
# entry $\frac1n$. As $\sigma$ is homogeneous, $f - f^*$ is $\frac{n - 1}n \Delta$ with
# $\Delta = \sigma(\lambda x_1 + (1 - \lambda) x_2) - \lambda \sigma(x_1) - (1 - \lambda) \sigma(x_2)$. If $x_1 x_2 < 0$,
# $|\Delta| = \min(\lambda |x_1|, (1 - \lambda) |x_2|)$, else $\Delta = 0$. In polar coordinates of the plane of $x_1$, $x_2$, with
# $\mathbb E (x_1^2 + x_2^2) = \frac2d$,
#
# $$
# \mathbb E \Delta^2 = \frac2{\pi d} \int_0^{\pi/2} \min\bigl( \lambda \cos\theta, (1 - \lambda) \sin\theta \bigr)^2 d\theta .
# $$
#
# Its derivative in $\lambda$ has the sign of $q(\frac\pi2 - t) - q(t)$ with $\tan t = \frac{\lambda}{1 - \lambda}$ and
# $q(t) = \frac{1}{\sin t} \int_0^t \sin^2$, which increases. So the maximum is at $\lambda = \frac12$, and there
# $\mathbb E \Delta^2 = \frac{1}{\pi d} \int_0^{\pi/4} \sin^2 = \frac{\pi - 2}{8 \pi d}$. The types have
# positive probability, the barrier is continuous in the entries, and these have a density.
# :::

# %% Build such pairs
stay = []  # barriers of such pairs, d = 8
for m in widths:
    n = m - 5  # rows of the type that has all surplus rows
    ends = []
    for more in (0, 1):
        types = torch.cat([torch.arange(6), torch.full((m - 6,), more)])
        W = torch.eye(6, 8, dtype=torch.float64)[types]
        ends.append(W / W.sum(dim=0).clamp(min=1))
    W2 = permute(ends[1], algorithm_1(*ends))
    stay.append(float(minima_barriers(ends[0], W2, M=6)))
    formula = ((n - 1) / n) ** 2 * (math.pi - 2) / (8 * math.pi * 8)
    print(f"m = {m:>5}: barrier {stay[-1]:.8f}, {formula:.8f} by the formula")

# %%
slope = np.polyfit(np.log(widths), np.log(stay), 1)[0]
claims.check("Z5.any_two", float(slope), n=1)

# %% [markdown]
# ## Without matching the barrier stays
#
# "First, we prove that applying permutations can substantially reduce the loss barrier of LMC, compared to direct linear
# interpolation without permutation" (Z, section 1). Theorem 6 bounds the barrier *after* the permutation from above. Nothing in the paper
# bounds the {term}`direct barrier` from below, so that the comparison is measured there (Z, Figs. 2 and 3), not proven. It is true, and a
# lower bound makes it a theorem:
#
# :::{prf:theorem} The direct barrier stays
# :label: thm-direct
# Let $M \ge 2$ and $d \ge M$ be fixed and let $W^{(1)}, W^{(2)}$ follow Assumption 3, with their rows in independent random orders. As $m \to \infty$, for the direct barrier $B$ between the two as they are,
#
# $$
# d\, B \to D_M = \frac1{M^2}\, \mathbb E \Bigl( \sum_{x_p > 0 > x_q} \frac{|x_p| |x_q|}{|x_p| + |x_q|} \Bigr)^2 > 0
# $$
#
# in probability, with independent standard normal $x_1, \dots, x_M$, and halfway $d\, L \to D_M$ as well. So with {prf:ref}`thm-rate`, for every $\varepsilon > 0$ there are $0 < c < C$ such that for all large $m$, with probability at least $1 - \varepsilon$, the barrier after Algorithm 1 is between $c\, m^{-2}$ and $C\, m^{-2}$ times the direct one.
# :::

# %% Compare the direct line with its limit
x = normal((2000, 6), seed, "inputs for the direct line")  # (T, M)


def limit(x: torch.Tensor) -> torch.Tensor:
    """The squared sum of the theorem over M², (T,)."""
    up, down = x.clamp(min=0)[:, :, None], (-x).clamp(min=0)[:, None]
    return (up * down / (up + down).clamp(min=1e-9)).sum((1, 2)) ** 2 / 36


def halfway(m: int, n: int) -> np.ndarray:
    """d L halfway between n pairs as they are, (n,)."""
    W1, W2 = sample_minima(m, 6, 8, 2 * n, seed + 1).split(n)
    found = []
    for A, B in zip(W1[:, :, :6], W2[:, :, :6], strict=True):
        a, b = x @ A.T, x @ B.T  # (T, m): a_i x_p and b_i x_q
        lacks = (torch.minimum(a.abs(), b.abs()) * (a * b < 0)).sum(dim=1) / 2
        found.append(lacks.square().mean().item())
    return np.array(found)


direct = np.stack([halfway(m, 10) for m in widths])  # (widths, 10)
off = direct[-1] / limit(x).mean().item() - 1  # at the same inputs
D_6 = limit(normal((400_000, 6), seed, "inputs for the limit"))
(down, down_error), (flat, flat_error) = exponent(matched), exponent(direct)
against = down - flat, math.hypot(down_error, flat_error)
print(f"d L halfway at m = {widths[-1]}: {direct[-1].mean():.4f}")
print(f"D_6: {D_6.mean():.4f}")

# %%
claims.check("Z5.over_direct", *against, n=pairs)

# %% [markdown]
# ## The printed proof needs mending, the theorem does not
#
# Z, A.2 assumes (Z 10): after Algorithm 1, the matched rows of type $j$ have the same mass $\gamma_j^{(k)} = \gamma$ for every
# $j$ in both networks $k = 1, 2$. “We need to assume the following approximation”, says the paper.
#
# :::{prf:proposition} Assumption (Z 10) is empty
# :label: prop-empty
# After Algorithm 1, $\max(\gamma_j^{(1)}, \gamma_j^{(2)}) = 1$ for every type. So (Z 10) holds with $\gamma = 1$ only, for
# equal type vectors, where the barrier is 0.
# :::
#
# :::{prf:proof}
# Algorithm 1 matches rows of type $j$ until one of the networks has no more of them. All rows of type $j$ of that network are
# matched, and their entries add up to 1. If $\gamma = 1$ in both, no row is unmatched.
# :::
#
# As an approximation it fails in what counts, the small share $1 - \gamma$, which is 0 for one of the two networks. If $\gamma$ is read as the
# mean matched mass, four of the printed steps hold and two do not:
#
# | Step of A.2 | We find | By how much |
# | --- | --- | --- |
# | norms of unmatched rows (17, 18) | [true](#Z5.row_norms) | least ratio [[Z5.row_norms:.3f]], $\sqrt2/2$ allowed |
# | two unmatched rows, $L_{12} \le M^2 (1 - \gamma)^2 \kappa(1)$ | [true](#Z5.unmatched_block) | at most [[Z5.unmatched_block:≤.3f]] of it |
# | unmatched and matched, $L_{13} \le M \gamma (1 - \gamma) \kappa(1)$ | [$M^2$ in place of $M$](#Z5.cross_block) | up to [[Z5.cross_block:≤.3f]] times ({prf:ref}`prop-cross`) |
# | rows and teachers, lower bound of $L_3$ | [true](#Z5.teacher_block) | least ratio [[Z5.teacher_block:.4f]] |
# | the bound of the loss | [below the barrier](#Z5.printed_bound) | for every even $M$ from 4 to 20 |
# | $1 - \gamma = O(m^{-1/2})$, without an argument | [true, like $m^{-1}$](#Z5.gamma_rate) | [[Z5.gamma_rate:±]] measured |
#
# {prf:ref}`prop-mass` gives more, and without (Z 10):
#
# :::{prf:corollary} A quadratic bound; corrects Z, A.2
# :label: cor-quadratic
# With $\gamma$ the mean of the matched masses over types and networks, $B \le \dfrac{M^2 (1 - \gamma)^2}{8d}$ for any permutation.
# :::
#
# :::{prf:proof}
# $A + A' = 2M(1 - \gamma)$, so $A A'/(A + A')$, which is at most $\frac14 (A + A')$, is at most $\frac12 M(1 - \gamma)$ in
# {prf:ref}`prop-mass`.
# :::

# %% Match real pairs
real = {}  # m → pairs as Algorithm 1 matches them, (40, m, 6) each
larger = []  # the larger of the two masses of each type
for m in (12, 24, 60, 240):
    W1, W2 = sample_minima(m, 6, 6, 80, seed).split(40)
    real[m] = W1, permute(W2, algorithm_1(W1, W2))
    same = (real[m][0] > 0) & (real[m][1] > 0)  # (40, m, 6)
    masses = torch.stack([(W * same).sum(dim=1) for W in real[m]])  # (2, 40, 6)
    larger.append(masses.amax(dim=0).min().item())
    print(f"m = {m:>3}, mean γ = {masses.mean():.4f}, larger ≥ {larger[-1]:.12f}")

# %%
claims.check("Z5.uniform_share", larger, n=160)


# %% Divide each step by its printed bound
def steps(W: torch.Tensor, apart: torch.Tensor, M: int = 6) -> torch.Tensor:
    """Σ|w_i| over I_r, L12, L13 and L3 over their printed bounds, (4, n)."""
    norm = W.norm(dim=-1)  # (n, m)
    unit = W / norm[..., None]
    K = norm[:, :, None] * norm[:, None] * kappa(unit @ unit.mT, 6)  # (n, m, m)
    rest, one, zero = apart.double(), kappa(1.0, 6), kappa(0.0, 6)  # rest: I_r
    free = (W * rest[..., None]).sum(dim=(1, 2)) / M  # (n,), 1 − γ
    L12 = torch.einsum("ni,nij,nj->n", rest, K, rest)
    L13 = torch.einsum("ni,nij,nj->n", rest, K, 1 - rest)
    L3 = (norm[..., None] * kappa(unit, 6)).sum(dim=(1, 2))
    bound_3 = (1 - free) * M * (one + (M - 1) * zero)
    bound_3 = bound_3 + math.sqrt(0.5) * M**2 * free * zero
    rows = (rest * norm).sum(dim=1) / (M * free), L12 / (M**2 * free**2 * one)
    return torch.stack([*rows, L13 / (M * free * (1 - free) * one), L3 / bound_3])


found = []
for W1, W2 in real.values():
    apart = ((W1 > 0) != (W2 > 0)).any(dim=2)  # (40, m), unmatched places
    some = apart.any(dim=1)  # pairs that do not match altogether
    for x in GRID[1:-1]:
        line = x * W1 + (1 - x) * W2
        found.append(steps(line[some], apart[some]))
norms, L12, L13, L3 = torch.cat(found, dim=1).numpy()
for step, ratio in {"norms": norms, "L12": L12, "L13": L13, "L3": L3}.items():
    print(f"{step:<5} {ratio.min():.3f} … {ratio.max():.3f}")

# %%
claims.check("Z5.cross_block", L13)


# %% Compare the printed bound with an example
def printed_bound(gamma: float | np.ndarray, M: int, d: int) -> np.ndarray:
    """The final bound of Z, A.2."""
    one, zero, rest = kappa(1.0, d).item(), kappa(0.0, d).item(), 1 - gamma
    square = rest**2 * ((M**2 + M) * one + (M**2 - M) * zero)
    return square + rest * (M * gamma * one - math.sqrt(2) * M**2 * zero)


def mended_bound(gamma: float | np.ndarray, M: int, d: int) -> np.ndarray:
    """The same with L₁₃ ≤ M²γ(1 − γ)κ(1), counted twice."""
    one, zero, rest = kappa(1.0, d).item(), kappa(0.0, d).item(), 1 - gamma
    square = rest**2 * ((M**2 + M) * one + (M**2 - M) * zero)
    return square + rest * M**2 * (2 * gamma * one - math.sqrt(2) * zero)


below = []  # printed bound less the barrier of a pair with γ = 0.99
for K in range(4, 21, 2):
    W1, W2 = minima_with_matched_share(0.99, K)
    assert (algorithm_1(W1, W2) == torch.arange(len(W1))).all()
    height = minima_barriers(W1, W2, M=K)
    below.append(float(printed_bound(0.99, K, K) - height))
    if K == 6:
        print(f"M = 6: barrier {height:.1e}, bound {below[-1] + height:.1e}")
print(f"below the barrier for M = 4, 6, …, 20: {max(below) < 0}")

# %%
claims.check("Z5.printed_bound", below)

# %% [markdown]
# ## A merge pays for the mass of unmatched neurons, not for their number
#
# What a merge costs is the *mass* of the neurons without a partner ({prf:ref}`prop-mass`). The {term}`overlap` counts them instead:
# their share falls like $m^{-1/2}$, so that it predicts neither the rate nor the place of the peak ([](15_barrier_peak.ipynb)). Networks in
# which unequal neurons share a job merge better than networks of equal ones, if the small ones are left over.
# [](17_trained_minima.ipynb) measures the barrier between networks that gradient descent has trained.
#
# The rate is “crucially independent of the input dimension”: so it is, and between minima the barrier even falls like $1/d$, exactly
# ({prf:ref}`prop-dimension`). The $O(m^{-1/(2d+4)})$ of Entezari et al., which the paper sets beside it, is about networks at
# initialisation and any data, not about minima of a teacher's task.
#
# ## Evidence
#
# ### Rates without sorting, and of the unmatched mass
#
# The last step of the printed proof, “$O(1 - \gamma) = O(m^{-1/2})$”, holds, and more is true: by the proof of {prf:ref}`thm-rate`
# $\mathbb E A = O(m^{-1})$ with sorting, and so is $\mathbb E (1 - \gamma)$.

# %%
claims.check("Z5.rate_unsorted", *rates["without sorting"], n=pairs)
claims.check("Z5.gamma_rate", *exponent(unmatched), n=pairs)

# %% [markdown]
# ### A segment between two minima

# %% Plot a segment, to walk along
many = sample_minima(12, 2, 2, 200, seed).split(100)  # (100, m, d) each
sorted_up = permute(many[1], algorithm_1(*many))
unsorted = permute(many[1], algorithm_1(*many, sort=False))
halfway = population_loss((many[0] + sorted_up) / 2, 2)  # (100,)
pick = int(halfway.argsort()[50])
first, places = many[0][pick], np.linspace(0, 1, 41)
lines = {  # λ W⁽¹⁾ + (1 − λ) W⁽²⁾, (41, m, d)
    name: torch.stack([x * first + (1 - x) * other[pick] for x in places])
    for name, other in (
        ("before matching", many[1]),
        ("without sorting", unsorted),
        ("Algorithm 1", sorted_up),
    )
}
on_line = {name: population_loss(W, 2).numpy() for name, W in lines.items()}
scene = figures.Moving(
    "place $\\lambda$ on the segment",
    [f"{x:.3g}" for x in places],
    [
        f"loss {came:.5f} before matching, {ranked:.6f} after"
        for came, _, ranked in zip(*on_line.values(), strict=True)
    ],
    start=20,
)
colours = dict(zip(lines, ("orange", "green", "blue"), strict=True))
ends = dict(xlim=(-0.05, 0.75), ylim=(-0.05, 0.75), equal=True)
for name in ("before matching", "Algorithm 1"):
    panel = scene.panel(title=name, xlabel="$w_{i1}$", ylabel="$w_{i2}$", **ends)
    rays = torch.stack([0 * lines[name], lines[name], lines[name] * math.nan])
    rays = rays.permute(1, 2, 0, 3).flatten(1, 2)  # from the origin to each row
    panel.draw(rays[..., 0], rays[..., 1], "-", colours[name], width=0.8)
    panel.draw(*lines[name].permute(2, 0, 1), "o", colours[name])
right = scene.panel(xlabel="place $\\lambda$", ylabel="loss $L$", xlim=(0, 1))
right.yscale, right.ylim = "log", (1e-7, 0.1)
for name, loss in on_line.items():
    right.draw(places, loss, "-", colours[name], name)
    right.draw(places[:, None], loss[:, None], "o", colours[name])
scene.show("fig_rate_segment")
alone = ((many[0] > 0) != (sorted_up > 0)).any(dim=2).sum(dim=1)  # (100,)

# %% [markdown]
# Move $\lambda$ from one minimum to the other: a matched row stays on its axis, and only rows that leave the axes cost anything. Before matching these are many, large ones among them; Algorithm 1 leaves few, and small ones.
#
# :::{glue:figure} fig_rate_segment
# :alt: Two panels show the twelve weight vectors of a network between two minima as dots joined to the origin: before matching, many long ones point between the axes; after Algorithm 1 nearly all lie on the axes. The third panel shows the loss along the segment for both and for matching without sorting; after Algorithm 1 it is lowest by far.
#
# The segment between two minima with $m = 12$, $M = d = 2$, of a hundred pairs the one with the median loss halfway after Algorithm 1, which leaves {glue:text}`int(alone[pick])` places unmatched. First and second panel: the rows of $\lambda W^{(1)} + (1 - \lambda) W^{(2)}_p$. Third panel: the exact loss.
# :::
#
# ### The direct barrier
#
# The proof of {prf:ref}`thm-direct`:
#
# :::{prf:proof}
# Let row $i$ be $a_i e_p$ in one network and $b_i e_q$ in the other. If $p = q$ or $x_p x_q \ge 0$, then $\sigma$ is linear on the segment between $a_i x_p$ and $b_i x_q$. If $x_p > 0 > x_q$, then halfway $\sigma = \frac12 (a_i |x_p| - b_i |x_q|)_+$, which is
# $\frac12 \min(a_i |x_p|, b_i |x_q|)$ less than the mean of the ends, and likewise with the signs exchanged. As both ends compute $f^*$,
#
# $$
# f^* - f = \frac12 \sum_i \min(a_i |x_p|, b_i |x_q|)\, 1\{x_p x_q < 0\} .
# $$
#
# Uniform entries of a type are $Y_i / \sum Y$ with independent exponential $Y_i$, and $\sum Y$ over the rows of a type is $\frac mM (1 + o(1))$. Types and entries of the two networks are independent, so by the law of large numbers the sum tends in probability, for every $x$, to
# $m \cdot \frac1{M^2} \sum_{p, q} \frac Mm \mathbb E \min(Y |x_p|, Y' |x_q|)\, 1\{x_p x_q < 0\}$. As $\mathbb P(uY > t, vY' > t) = e^{-t/u - t/v}$, the mean of the minimum is $\frac{uv}{u + v}$; and every pair of a positive and a negative coordinate occurs twice. So
# $f^* - f \to \frac1M \sum_{x_p > 0 > x_q} \frac{|x_p| |x_q|}{|x_p| + |x_q|}$. Both sides are at most $\sum_j |x_j|$, so the mean squares converge, too; and for a function that is homogeneous of degree 2, $d$ times the mean over the sphere is the normal mean: $d\, L \to D_M$ halfway.
#
# At $\lambda$ the same argument, with $\lambda u$ and $(1 - \lambda) v$ in place of $\frac u2$ and $\frac v2$, gives the limit $\frac1M \sum_{x_p > 0 > x_q}$ $\lambda (1 - \lambda)\, uv \bigl( \frac1{\lambda u + (1 - \lambda) v} + \frac1{(1 - \lambda) u + \lambda v} \bigr)$ with $u = |x_p|$, $v = |x_q|$.
# It is symmetric in $\lambda$ and, as a sum of means of minima of linear functions, concave: largest at $\frac12$ for every $x$. As $f$ is Lipschitz in $\lambda$ with the constant $2 \sum_j |x_j|$, the mean squares converge uniformly in $\lambda$, so that $d\, B \to D_M$. {prf:ref}`thm-rate`, 1 with Markov's inequality and 2 do the rest.
# :::

# %%
mean, error = mean_and_error(off[None])
claims.check("Z5.direct_limit", float(mean[0]), stderr=float(error[0]), n=10)

# %% [markdown]
# ### The law of the barrier in wide networks
#
# Where the direct barrier tends to a constant, the permuted one tends to 0 with a law of its own. In the limit it depends on the networks by the
# *surplus* only: $s_p$ is the number of rows of type $p$ in $W^{(1)}$ less that in $W^{(2)}$.
#
# :::{prf:theorem} The limit law of $m^2 B$; sharpens Z, Theorem 6
# :label: thm-law
# Let $M \ge 2$ and $d \ge M$ be fixed and let $W^{(1)}, W^{(2)}$ follow Assumption 3, with their rows in independent random orders.
# For $D \in \mathbb R^M$ with $\sum_p D_p = 0$ let $S = \sum_{D_p > 0} D_p$, $\Lambda(0) = 0$ and, for $D \ne 0$,
#
# $$
# \begin{aligned}
# \Lambda(D) &= M^4 \max_\lambda \mathbb E\, g_\lambda(x)^2, \\
# g_\lambda(x) &= \sum_{D_p > 0 > D_q} \frac{D_p |D_q|}{S}\, h\bigl( \lambda D_p |x_p|, (1 - \lambda) |D_q| |x_q| \bigr)\, 1\{x_p x_q < 0\},
# \end{aligned}
# $$
#
# where $x_1, \dots, x_M$ are independent standard normal and $h(u, v) = \frac12 \ell - \frac{\ell^2}{6 \ell'}$, with $\ell \le \ell'$ the two of $u$ and $v$.
# As $m \to \infty$, after Algorithm 1, its leftovers put into the empty places in the order of the rows,
#
# $$
# m^2 d\, B - \Lambda(s/\sqrt m) \to 0 \text{ in probability}, \qquad m^2 d\, B \to \Lambda(G) \text{ in law and in mean},
# $$
#
# with $G$ normal with mean 0 and covariance $\frac2M (I - \frac1M 1 1^\top)$.
# :::
#
# :::{prf:proof}
# *The leftovers.* The entries of a type are $Y_i / \sum Y$ with independent exponential $Y_i$, and the $k$-th smallest of $n$ such $Y$ is
# $\sum_{i < k} Z_i/(n - i)$ with exponential $Z$ again. As $n$ and $\sum Y$ are $\frac mM (1 + o(1))$, the law of large numbers gives
# $m^{3/2} a_{(k)} - M^2 k/\sqrt m \to 0$ in probability, uniformly in $k \le C \sqrt m$. So with $D = s/\sqrt m$ the $\sqrt m\, |D_p|$ leftovers of type $p$,
# times $m^{3/2}$, fill $[0, M^2 |D_p|]$ evenly.
#
# *The sum.* Leftovers of types with $D_p > 0$ are in $W^{(1)}$, those with $D_q < 0$ in $W^{(2)}$, $S \sqrt m$ each, and the random orders join them by a
# bijection that is uniform given the entries. A place takes from $f$ the amount $|\Delta_i| = \min(\lambda a_i |x_p|, (1 - \lambda) b_i |x_q|)\, 1\{x_p x_q < 0\}$, of order $m^{-3/2}$. The mean
# over the bijections of $m (f^* - f)$ is $\frac{m}{S \sqrt m}$ times the sum over all pairs of leftovers; it tends to $M^2 g_\lambda(x)$, as for independent $U$, $V$ that are uniform on $[0, 1]$
# $\mathbb E \min(uU, vV) = \int_0^\ell (1 - \frac tu)(1 - \frac tv)\, dt = h(u, v)$. The variance over the bijections is that of $S \sqrt m$ terms of order
# $m^{-1/2}$, with correlations of order $m^{-1/2}$, hence $O(m^{-1/2})$.
#
# *The loss.* $m(f^* - f)$ is at most $m A \sum_j |x_j|$ and as a function of $\lambda$ Lipschitz with the constant $m (A + A') \sum_j |x_j|$, where $m A$ and $m A'$ are bounded
# in probability. So the mean squares converge, uniformly in $\lambda$; $d$ times the mean over the sphere is the normal mean. This is the first claim. By the central
# limit theorem $s/\sqrt m \to G$ in law, and $\Lambda$ is continuous where $S > 0$: the second. As in the proof of
# {prf:ref}`thm-rate`, $\mathbb E A^4$ is of order $\mathbb E s^8/n^8 = O(m^{-4})$, so that by {prf:ref}`prop-mass` $m^2 B$ is bounded in $L^2$ and the means converge.
# :::
#
# In which order the leftovers fill the empty places is a matter of reading ([](15_barrier_peak.ipynb)). With two teachers its worth has a closed form:
#
# :::{prf:corollary} Two teachers, and what the order of the leftovers is worth
# :label: cor-two-teachers
# In {prf:ref}`thm-law` let $M = 2$ and join the leftovers in one of three orders. Then halfway $m^2 d\, L \to \beta N^4$ in law and in mean, with $N$ standard normal, and
#
# $$
# \beta = \begin{cases}
# \frac{\pi - 2}{8 \pi} & \text{large with large}, \\
# \frac1{12} + \frac1\pi \bigl( \frac1{18} - \frac{\ln 2}3 \bigr) & \text{in random order}, \\
# \frac{4 - \pi}{16 \pi} & \text{large with small}.
# \end{cases}
# $$
#
# Relative to the direct barrier $B$ of the same pair, $m^2 L/B \to c\, N^4$ in law, with $c = \frac{2(\pi - 2)}{4 - \pi} \approx 2.66$, $c \approx 1.61$ and $c = 1$.
# :::
#
# :::{prf:proof}
# $D_2 = -D_1$, so that all leftovers of a network are of one type and $m(f^* - f) \to 2 D_1^2\, h(|x_1|, |x_2|)\, 1\{x_1 x_2 < 0\}$, as $h$ is homogeneous. In the other two orders $V = U$ and $V = 1 - U$ in the
# proof of {prf:ref}`thm-law`, and $h$ is $\frac12 \ell$ and $\frac{uv}{2(u + v)}$. $D_1$ tends to $N/\sqrt2$, so $\beta = \frac12 \mathbb E\, h(|x_1|, |x_2|)^2$, which in polar
# coordinates is $\frac2\pi \int_0^{\pi/2} h(\cos\theta, \sin\theta)^2 d\theta$. The integrals are elementary. The means converge as in that proof. For $M = 2$ the sum in $D_M$ of {prf:ref}`thm-direct` is one term if $x_1 x_2 < 0$ and none otherwise, so that $D_2$ is the third $\beta$, and $c = \beta/D_2$.
# :::
#
# So halfway large with large costs 2.66 times as much as large with small; and as $N^4$ has the mean 3 and the median 0.21, most pairs are left with far less than the mean. The limits against exact losses, with eight times as many neurons:

# %% Compare the law with exact barriers
wide, n = 8 * widths[-1], max(2, pairs // 3)


def law(D: torch.Tensor, x: torch.Tensor) -> float:
    """Λ(D) of the theorem from inputs x (T, M), on the paper's grid of λ."""
    up, down = D[D > 0, None], -D[D < 0]  # (P, 1), (Q,)
    left, right = x[:, D > 0, None], x[:, None, D < 0]  # (T, P, 1), (T, 1, Q)
    squares = []
    for t in GRID:
        u, v = t * up * left.abs(), (1 - t) * down * right.abs()
        low, high = torch.minimum(u, v), torch.maximum(u, v)
        h = (low / 2 - low**2 / (6 * high)) * (left * right < 0)
        g = (up * down * h).sum(dim=(1, 2)) / up.sum()
        squares.append(g.square().mean().item())
    return len(D) ** 4 * max(squares)


def wide_pairs(M: int, order: str, at: tuple = GRID) -> tuple:
    """m² d times the largest loss of n pairs (n,), and s/√m (n, M); d = M."""
    found, D = [], []
    for k in range(0, n, 10):
        count = min(10, n - k)
        W1, W2 = sample_minima(wide, M, M, 2 * count, seed + 2 + k).split(count)
        W2 = permute(W2, algorithm_1(W1, W2, tol=0, leftovers=order))
        found.append(wide**2 * M * minima_barriers(W1, W2, M, at))
        D.append(((W1 > 0).sum(dim=1) - (W2 > 0).sum(dim=1)) / math.sqrt(wide))
    return np.concatenate(found), torch.cat(D).double()


reached, D = wide_pairs(6, "order")
x = normal((n, 2000, 6), seed, "inputs for the law")
relative = reached / [law(*pair) for pair in zip(D, x, strict=True)] - 1
betas = {  # order of the leftovers → β
    "sorted": (math.pi - 2) / (8 * math.pi),
    "order": 1 / 12 + (1 / 18 - math.log(2) / 3) / math.pi,
    "opposed": (4 - math.pi) / (16 * math.pi),
}
two = {order: wide_pairs(2, order, (0.5,)) for order in betas}
for order, (L, D) in two.items():
    found = L.sum() / (4 * D[:, 0] ** 4).sum().item()
    print(f"{order:<8} β = {found:.4f}, by the corollary {betas[order]:.4f}")

# %%
mean, error = mean_and_error(relative[None])
claims.check("Z5.law", float(mean[0]), stderr=float(error[0]), n=n)
worth = ratio_of_means(two["sorted"][0], two["opposed"][0], paired=True)
claims.check("Z5.order_of_leftovers", *worth, n=n)

# %% [markdown]
# By the recorded run, with [[n(Z5.law)]] pairs, exact barriers are [[1 + Z5.law:±]] times those of the law on average, and large with large costs
# [[Z5.order_of_leftovers:±]] times as much as large with small. This run has {glue:text}`wide_pairs` pairs at $m =$ {glue:text}`wide`, and finds
# {glue:text}`of_law` and {glue:text}`worth`. The law itself is broad, as $\Lambda$ is of degree 4 in the surplus:

# %% Plot the law
G = normal((pairs, 6), seed, "surplus in the limit")
G = (G - G.mean(dim=1, keepdim=True)) / math.sqrt(3)
laws = [law(g, x[k % n]) for k, g in enumerate(G)]
figure, axis = figures.panels(height=3.2)
for values, colour, label, height in (
    (8 * widths[0] ** 2 * matched[0], "sky", f"$m = {widths[0]}$", 0.3),
    (8 * widths[-1] ** 2 * matched[-1], "blue", f"$m = {widths[-1]}$", 0.55),
    (laws, "black", "limit", 0.8),
):
    axis.ecdf(values, color=f"book:{colour}")
    place = dict(textcoords="offset points", color=f"book:{colour}")
    at = (np.quantile(values, height), height)
    axis.annotate(label, at, xytext=(-70, 4), **place)
axis.set(xscale="log", xlabel="$m^2 d\\, B$", ylabel="share of pairs below")
figures.show("fig_law", figure)
figures.numbers(
    wide_pairs=n,
    of_law=f"{1 + relative.mean():.2f} ± {float(error[0]):.2f}",
    worth="{:.2f} ± {:.2f}".format(*worth),
)

# %% [markdown]
# :::{glue:figure} fig_law
# :alt: Three cumulative distribution functions on a logarithmic axis, of the scaled barrier at two widths and of its limit. They nearly agree.
#
# The law of $m^2 d\, B$ after Algorithm 1, $M = 6$, $d = 8$: {glue:text}`pairs` pairs at two widths, and as many draws of
# $\Lambda(G)$, whose mean is {glue:text}`np.mean(laws):.1f` (profile {glue:text}`profile`).
# :::
#
# ### Zero rows for a share of the leftovers
#
# As many zero rows as rows without a partner take off what is left ({prf:ref}`thm-zero-rows`). With fewer, the largest leftovers come first:
#
# :::{prf:corollary} Zero rows for a share of the leftovers
# :label: cor-zero-rows
# Let $0 < \vartheta < 1$. In {prf:ref}`thm-law` let zero rows, as many more in each network as it takes, meet a share $\vartheta$ of the leftovers of every type, and the others one another in random order.
#
# 1. If these are the largest, $m^2 d\, B - (1 - \vartheta)^4 \Lambda(s/\sqrt m) \to 0$ in probability: $(1 - \vartheta)^4$ of the barrier is left.
# 2. If they are drawn at random, $(1 - \vartheta)^2$ of it is left.
# 3. No order has a better power: for every $\varepsilon > 0$ there is $c > 0$, the same for all $\vartheta$, such that for large $m$ with probability at least $1 - \varepsilon$ every order of networks with no more than $\vartheta \sum_j (s_j)_+$ zero rows each leaves at least $c\, (1 - \vartheta)^4 m^{-2}$.
# :::
#
# :::{prf:proof}
# Zero rows cost nothing whatever they meet, and do not change the ends. *1.* The $(1 - \vartheta) \sqrt m\, |D_p|$ leftovers that remain of type $p$, times $m^{3/2}$, fill $[0, M^2 (1 - \vartheta) |D_p|]$ evenly, so that the proof of {prf:ref}`thm-law` goes on with $(1 - \vartheta) D$ for $D$. As $h$ is homogeneous, $g_\lambda$ is of degree 2 in $D$, and $\Lambda$ of degree 4. *2.* They fill $[0, M^2 |D_p|]$ as before, with $1 - \vartheta$ of the density: there are $1 - \vartheta$ times as many places, of the same law, and the loss is quadratic.
# *3.* At least $k = (1 - \vartheta) \sum_j (s_j)_+$ places hold rows of two types (proof of {prf:ref}`thm-zero-rows`), and as in {prf:ref}`thm-rate`, 2, the sum of their minima is that of the $k$ smallest of $2m$ entries or more. With probability as near to 1 as one likes the $i$-th smallest is at least a constant times $i/m^2$ for all $i$ at once, so that the sum is at least another one times $k^2/m^2$, and $\sum_j (s_j)_+$ is of order $\sqrt m$. Insert this in {prf:ref}`prop-mass`.
# :::


# %% Give zero rows to leftovers
def spared(W1: torch.Tensor, W2: torch.Tensor, share: float, largest: bool):
    """Matched minima (m, d) with zero rows for a share of their leftovers."""
    left, ends = ((W1 > 0) != (W2 > 0)).any(dim=1), []
    for W in (W1, W2):
        rows = W[left]  # in random order
        kind, place = (rows > 0).double(), torch.arange(len(rows))
        size = rows.sum(dim=1) if largest else place
        rank = (kind @ kind.T * (size > size[:, None])).sum(dim=1)  # in its type
        free = rank + 0.5 < share * kind.sum(dim=0) @ kind.T
        ends.append((W[~left], rows[~free], rows[free]))
    (one, met1, free1), (two, met2, free2) = ends
    met1, met2 = pad_sequence([met1, met2]).unbind(1)  # as shares are rounded
    other = torch.cat([two, met2, 0 * free1, free2])
    return torch.cat([one, met1, free1, 0 * free2]), other


SHARES = (0, 0.25, 0.5, 0.75)
spared_heights = np.empty((2, len(SHARES), n))
for k in range(n):
    W1, W2 = sample_minima(wide, 6, 6, 2, seed + 1000 + k)
    W2 = permute(W2, algorithm_1(W1, W2, tol=0))
    for way, at in np.ndindex(2, len(SHARES)):
        pair = spared(W1, W2, SHARES[at], largest=way == 0)
        spared_heights[way, at, k] = minima_barriers(*pair, M=6)

# %% Measure the gain of two teachers
angle = 2 * math.pi * (torch.arange(512, dtype=torch.float64) + 0.5) / 512
circle = torch.stack([angle.cos(), angle.sin()])  # (2, 512)
gains, fourth = [], []  # m² L/B and N⁴
for k in range(n):
    W1, W2 = sample_minima(wide, 2, 2, 2, seed + 2000 + k)
    lacks = circle.relu().sum(dim=0) - ((W1 + W2) / 2 @ circle).relu().sum(dim=0)
    matched_2 = permute(W2, algorithm_1(W1, W2, tol=0, leftovers="opposed"))
    low = minima_barriers(W1, matched_2, 2, (0.5,))
    gains.append(wide**2 * low / lacks.square().mean().item())
    fourth.append(4 * int((W1 > 0)[:, 0].sum() - (W2 > 0)[:, 0].sum()) ** 4)
fourth = np.array(fourth) / wide**2

# %% Plot what zero rows leave
left_by = [  # of the mean barrier, and its error, (shares, 2)
    np.array([ratio_of_means(of, found[0], paired=True) for of in found[1:]])
    for found in spared_heights
]
figure, axis = figures.panels(height=2.7)
x = np.linspace(0, 0.8, 100)
for found, power, colour, words in zip(
    *(left_by, (4, 2), ("blue", "orange"), ("for the largest", "at random")),
    strict=True,
):
    style = dict(color=f"book:{colour}")
    axis.plot(x, (1 - x) ** power, label=words, **style)
    figures.band(axis, SHARES[1:], *found.T, fmt="o", **style)
axis.set(xlabel="share of the leftovers that meet zero rows")
axis.set(ylabel="barrier left", yscale="log")
figures.show("fig_spared", figure, legend=2)


# %%
def power_of_half(ratio: float, error: float) -> tuple[float, float]:
    """The exponent of ½ in what half of the leftovers leave, and its error."""
    return -math.log2(ratio), error / ratio / math.log(2)


claims.check("Z5.zero_rows", *power_of_half(*left_by[0][1]), n=n)
claims.check("Z5.zero_rows_random", *power_of_half(*left_by[1][1]), n=n)
claims.check("Z5.gain", *ratio_of_means(gains, fourth, paired=True), n=n)

# %% [markdown]
# :::{glue:figure} fig_spared
# :alt: Share of the barrier that is left against the share of the leftovers that meet zero rows, on a logarithmic axis. Points for the largest leftovers lie on the curve of the fourth power, points for leftovers at random on that of the square.
#
# Mean barrier of {glue:text}`wide_pairs` pairs, $M = 6$, $m =$ {glue:text}`wide`, relative to that without zero rows; lines: {prf:ref}`cor-zero-rows`; bars: 99.9 % (profile {glue:text}`profile`).
# :::
#
# ### The steps of the printed bound
#
# What is left of the argument if $\gamma$ is read as the mean matched mass? At the point $\lambda$ let $\gamma$ be this mean for
# $W = \lambda W^{(1)} + (1 - \lambda) W^{(2)}$, so that the entries of the unmatched rows $I_r$ add up to $M(1 - \gamma)$:
#
# $$
# \tfrac{\sqrt2}2 M(1 - \gamma) \le \sum_{I_r} |w_i| \le M(1 - \gamma). \tag{Z 17, 18}
# $$
#
# The loss is a sum of terms $|w_i| |w_{i'}|\, \kappa(\tilde w_i \cdot \tilde w_{i'})$ over pairs of rows, minus $2 L_3$, plus
# a constant. Here $\kappa$ is the kernel (Z 8) of [the chapter on the loss](11_exact_loss.ipynb), with
# $\kappa(1) = \pi \kappa(0) = \frac1{2d}$, and $\tilde w = w/|w|$. The constant, $L_2 = M \kappa(1) + M(M - 1) \kappa(0)$ over pairs of teachers, is exact; of $L_1$, the sum over pairs of rows,
# two parts are estimated, and so is $L_3$:
#
# - $L_{12}$, the terms of two unmatched rows;
# - $L_{13}$, those of an unmatched and a matched row;
# - $L_3$, the sum of $|w_i|\, \kappa(\tilde w_i \cdot e_j)$ over all rows and teachers.
#
# $$
# \begin{aligned}
# L_{12} &\le M^2 (1 - \gamma)^2 \kappa(1), \\
# L_{13} &\le M \gamma (1 - \gamma) \kappa(1), \\
# L_3 &\ge M\gamma\kappa(1) + M(M - 1)\gamma\kappa(0) \\
# & \quad {} + \tfrac{\sqrt2}2 M^2 (1 - \gamma)\kappa(0).
# \end{aligned}
# $$
#
# Each quantity divided by its printed bound, on the real runs, at all points of the grid:

# %%
claims.check("Z5.row_norms", norms)
claims.check("Z5.unmatched_block", L12)
claims.check("Z5.teacher_block", L3)

# %% [markdown]
# :::{prf:proposition} The terms between unmatched and matched rows
# :label: prop-cross
# If at the point $\lambda$ the matched mass of every type is $\gamma \in (0, 1)$, then $L_{13} \le M^2 \gamma (1 - \gamma) \kappa(1)$, and for
# $M \ge 5$ the printed $L_{13} \le M \gamma (1 - \gamma) \kappa(1)$ is false.
# :::
#
# :::{prf:proof}
# $\kappa \le \kappa(1)$, the unmatched norms add up to at most $M(1 - \gamma)$ and the matched ones to $M\gamma$. With equal masses
# $L_{13} = \gamma \sum_{i \in I_r} \sum_j |w_i| \kappa(\tilde w_i \cdot e_j)$, which is $\gamma$ times the last sum of the paper's estimate of $L_3$, hence at least
# $\frac{\sqrt2}2 M^2 \gamma (1 - \gamma) \kappa(0)$; and $\kappa(1) = \pi \kappa(0)$, so this is more than the printed bound if $M > \sqrt2\, \pi \approx 4.4$.
# :::
#
# In the last display of Z, A.2, $2 L_{13}$ enters as $L_{13}$, so that the loss is bounded by
#
# $$
# \begin{aligned}
# & (1 - \gamma)^2 \bigl[ (M^2 + M)\kappa(1) + (M^2 - M)\kappa(0) \bigr] \\
# & {} + (1 - \gamma) \bigl[ M \gamma \kappa(1) - \sqrt2 M^2 \kappa(0) \bigr].
# \end{aligned}
# $$
#
# The last bracket is negative as soon as $M > \pi/\sqrt2 \approx 2.2$ and $\gamma$ is close to 1: a
# negative upper bound of a square. With both slips mended the bracket is
# $2 M^2 \gamma \kappa(1) - \sqrt2 M^2 \kappa(0)$, positive for $\gamma > 1/(\sqrt2\, \pi) \approx 0.23$. If the matched masses $\gamma_j$ of the types differ and $\gamma$ is their mean, the terms of two matched rows exceed the printed ones by
#
# $$
# (\kappa(1) - \kappa(0)) \sum_j (\gamma_j - \gamma)^2 \le (\kappa(1) - \kappa(0))\, M(M - 1)(1 - \gamma)^2 ,
# $$
#
# which is of second order: the bound stays $O(1 - \gamma)$ as claimed.
#
# An example in which Algorithm 1 leaves every row in its place, with matched mass $\gamma$ of every type at
# $\lambda = \frac12$: half of the types are split into $2\gamma - 1$ and $2(1 - \gamma)$ in $W^{(1)}$ only, the others in
# $W^{(2)}$ only. The bound of Z, A.2 is smaller than its barrier:

# %% Plot the bounds
gammas = 1 - np.geomspace(1e-3, 0.25, 40)
rest = 1 - gammas
examples = [minima_with_matched_share(g, 6) for g in gammas]
true_loss = [minima_barriers(*pair, M=6) for pair in examples]
figure, axis = figures.panels(height=3.6)
for W1, W2 in real.values():
    left = (W1 + W2) * ((W1 > 0) != (W2 > 0))  # (40, m, 6), unmatched entries
    share = left.sum(dim=(1, 2)) / 12  # 1 − γ
    style = dict(color="book:grey", markersize=3)
    axis.plot(share, minima_barriers(W1, W2, M=6), ".", **style)
for bound, line, colour, label, up in (
    (true_loss, ".", "black", "the example", -12),
    (36 * rest**2 / 48, "-", "green", "$M^2(1-\\gamma)^2/(8d)$", 2),
    (mended_bound(gammas, 6, 6), "-", "red", "A.2, mended", 4),
    (printed_bound(gammas, 6, 6), "--", "orange", "A.2, printed", -6),
):
    axis.plot(rest, bound, line, color=f"book:{colour}")
    end = dict(xytext=(5, up), textcoords="offset points", fontsize=9)
    axis.annotate(label, (rest[-1], bound[-1]), color=f"book:{colour}", **end)
axis.set(xscale="log", xlabel="unmatched share $1 - \\gamma$, mean")
axis.set(ylabel="barrier, and bounds of it")
axis.set_yscale("symlog", linthresh=1e-5)
figures.show("fig_bound", figure)

# %% [markdown]
# :::{glue:figure} fig_bound
# :alt: Bounds against the unmatched share. The printed bound is negative below a share of about one fifth; the mended bound and the quadratic one lie above the barriers of the example and of a cloud of real runs, the quadratic one with the same slope.
#
# The printed bound of Z, A.2, the mended one (equal masses) and the quadratic one, with $\gamma$ the mean matched mass; the exact barriers
# of the example and, grey, of real runs of Algorithm 1 ($m = 12, 24, 60, 240$); $M = d = 6$. The vertical axis is linear between
# $\pm 10^{-5}$.
# :::
#
# How tight the two bounds of {prf:ref}`prop-mass` are, on one hundred pairs with $m = 240$:

# %% Measure how tight the two bounds are
W1, W2 = sample_minima(240, 6, 8, 200, seed).split(100)  # (100, m, d)
W2 = permute(W2, algorithm_1(W1, W2))
off = (W1 > 0) != (W2 > 0)  # entries of unmatched places
A, A_other = ((W * off).sum(dim=(1, 2)).numpy() for W in (W1, W2))  # (100,)
smaller = torch.minimum(W1.sum(dim=2), W2.sum(dim=2)) * off.any(dim=2)  # (100, m)
c_d = math.gamma(8 / 2) / (2 * math.sqrt(math.pi) * math.gamma(9 / 2))  # E σ(x₁)
lower = ((2 - math.sqrt(2)) / 2 * c_d * smaller.sum(dim=1).numpy()) ** 2
upper = (A * A_other / (A + A_other)) ** 2 / (2 * 8)
heights = minima_barriers(W1, W2, M=6)
tightness = heights / upper
print(f"barrier / upper bound: {tightness.min():.2f} … {tightness.max():.2f}")
print(f"lower bound / barrier: at most {(lower / heights).max():.2f}")

# %% [markdown]
# At $m = 240$ the barrier is between {glue:text}`tightness.min():.2f` and {glue:text}`tightness.max():.2f` times the upper bound of
# {prf:ref}`prop-mass`.
#
# ### What the grid misses
#
# The paper takes the barrier on the grid $\lambda = 0, 0.1, \dots, 1$ and finds "in practice, this discretization is always
# sufficient" (Z, section 2). Between minima a step is a matter of proof:
#
# :::{prf:proposition} The grid between two minima
# :label: prop-places
# Let $n \ge 2$. Between two minima, their rows in any order, the largest loss at $\lambda = 0, \frac1n, \dots, 1$ is at least
# $(1 - \frac1n)^2$ times the supremum.
# :::
#
# :::{prf:proof}
# For every $x$ the function $h = f^* - f$ of $\lambda$ is $\ge 0$, and concave, as $f$ is a sum of convex functions of linear ones. So for
# $\frac kn \le \lambda \le \frac{k + 1}n$ it is at least $\frac k{n \lambda} h(\lambda)$ at $\frac kn$ and
# at least $\frac{n - k - 1}{n (1 - \lambda)} h(\lambda)$ at $\frac{k + 1}n$. The first factor falls with $\lambda$ and the second
# rises; at $\lambda = \frac k{n - 1}$ both are $1 - \frac1n$. So the larger one, whose place does not depend on $x$, is never less,
# and the loss is the mean of $h^2$.
# :::
#
# With eleven places the supremum is at most $1/0.81$ times what the grid finds. On twenty pairs at each of four widths:

# %% Refine the grid
missed = []  # supremum over the largest loss on the grid, less 1
for pair in (*[real[m] for m in (12, 24, 60)], (W1, W2)):
    ends = [W[:20] for W in pair]
    fine = refined_barrier(lambda W: population_loss(W, 6), *ends).numpy()
    coarse = [
        losses_between(a, b, 6, GRID).max() for a, b in zip(*ends, strict=True)
    ]
    missed.extend((fine / np.array(coarse) - 1)[np.array(coarse) > 1e-13])

# %%
claims.check("Z5.grid", missed)

# %% [markdown]
# It misses {glue:text}`100 * np.mean(missed):.2f` % on average and {glue:text}`100 * max(missed):.2f` % at worst. For trained networks, whose ends have a loss,
# this is measured ({claim}`Z5.grid_trained`; on MNIST {claim}`Z12.grid`); [](62_the_word_barrier.ipynb) has a bound for smooth lines.
#
# ### Exercises
#
# :::{exercise}
# Let $m = 3$, $M = 2$. One network has rows $1 - a$ and $a \le \frac12$ of type 1 and one row of type 2, the other one row of
# type 1 and rows $1 - b$ and $b \le \frac12$ of type 2. Bound the barrier after Algorithm 1 for $a = b = 0.1$, and the barrier
# if the two large rows were left over.
# :::
#
# :::{solution}
# Algorithm 1 leaves $a$ and $b$ over, and they meet. {prf:ref}`prop-mass` with $A = A' = 0.1$ gives
# $B \le \frac1{2d} \cdot 0.05^2 = 1/(800 d)$. With $A = A' = 0.9$ in their place the bound is $81$ times as large.
# :::
#
# :::{exercise}
# Let the entries of a type follow the Dirichlet law with parameter $\alpha$ instead ($\alpha = 1$: uniform). Which rate do you
# expect after Algorithm 1?
# :::
#
# :::{solution}
# $n$ entries are $\frac1n$ times variables of mean about 1, with a density near 0 that is of order $x^{\alpha - 1}$. So the
# $k$-th smallest entry is of order $\frac1n (k/n)^{1/\alpha}$, and the sum of the $s \sim \sqrt n$ smallest is of order
# $\frac sn (s/n)^{1/\alpha} \sim n^{-1/2 - 1/(2\alpha)}$. The barrier is quadratic in it: $m^{-1 - 1/\alpha}$. For $\alpha = 1$
# this is $m^{-2}$, and as $\alpha \to \infty$ it tends to the $m^{-1}$ of equal entries. (Zero rows for the largest share $\vartheta$ of the leftovers leave $(1 - \vartheta)^{2 + 2/\alpha}$ of it.) A check, whose numbers stay nearly
# constant:
#
#     rng = np.random.default_rng(0)
#     for n in (10**3, 10**4, 10**5):
#         x = np.sort(rng.gamma(4, size=(40, n)), axis=1)
#         left = x[:, : round(n**0.5)].sum(axis=1) / x.sum(axis=1)
#         print((left**2).mean() * n ** (1 + 1 / 4))
# :::
#
# :::{try}
# Networks four times as wide, more than twice the pairs:
#
#     make chapter NAME=barrier_rate ARGS="-p doublings 7 -p pairs 400"
#
# Look at the picture of the first screen: the exponents of this run come nearer to $-2$ and $-1$.
# :::

# %% Versions and time
print(chapter.end())
