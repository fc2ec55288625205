# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # In many dimensions even the closest neurons stay apart as layers widen
#
# *How does the smallest distance between the fixed parts of a layer's neurons shrink with its width?*
#
# From 16 to 1024 neurons it falls like the width to the power **[[I6.exponent_2:±]]** if the inputs vary in 2 dimensions, **[[I6.exponent_8:±]]** in 8 and **[[I6.exponent_32:±]]** in 32. In wide layers the powers tend to −1, −1/4 and −1/16, the paper's rate (proved): in many dimensions neurons stay apart.
#
# :::{glue:figure} fig_width
# :alt: Smallest gap against width from 8 neurons up on logarithmic axes, for inputs of 2, 8 and 32 dimensions. The exact curve for 2 follows the dotted rate of the paper, with exponent [[I6.exponent_2:.2f]]; that for 8 falls slightly faster, with exponent [[I6.exponent_8:.2f]], and that for 32 clearly faster, with exponent [[I6.exponent_32:.3f]].
#
# Smallest gap $\gamma_{\mathrm{out}}$ over the scale $\sigma$ of fixed parts, for inputs of $k$ dimensions, on logarithmic axes: its law (lines), the paper's rate from 16 neurons (dotted), recorded exponents.
# :::
#
# **How sure.** Rate, bound and law proved; exponents recorded, [[n(I6.few_exponent)]] layers or more per width.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | The gap of $m$ neurons on $k$-dimensional inputs is at least of order $m^{-2/k}$ (Thm 4.6) | [true](#I6.bound) | fails in at most [[100 * I6.bound:≤.0f]] % (masks: [[100 * I6.masked:≤.0f]] %) of the cases that the theorem allows |
# | "expected scaling behavior" (App. G.2, Fig. 11) | [true in the limit](#I6.scaling) | [[I6.scaling:.3f]] times $-2/k$ at $10^{12}$ neurons |
# | The same from 16 to 1024 neurons, $k = 8$ | [it falls faster](#I6.exponent_8) | [[I6.exponent_8:±]], rate −0.25 |
# | The same from 16 to 1024 neurons, $k = 32$ | [it falls faster](#I6.exponent_32) | [[I6.exponent_32:±]], rate −0.0625 |
# | "vanishes quickly" in one dimension (sec. 4.3) | [true](#I6.line) | exponent [[I6.line:±]] |
# | "decays very slowly" at large $k$ (sec. 4.3) | [true for full rows](#I6.few_exponent) | not with 4 of 128 entries fixed: [[I6.few_exponent:±]] |
#
# **Open.** Nothing.
#
# **For the authors.** In App. G.2 print *we observe the expected scaling for $k = 2$; for larger $k$ it takes wider layers*. In sec. 4.3 the aside on fixed biases needs the relaxed cost of App. E: exact swap costs are infinite there.

# %% Parameters tags=["parameters"]
draws: int = 800  # random layers of one width
in_plane: int = 3200  # the same where centres lie in a plane
widest: int = 4096  # largest width in the figure
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    draws=Integer(20, 1_000_000),
    in_plane=Integer(20, 10_000_000),
    widest=Integer(1024, 65_536),
)

import math
from itertools import product

import numpy as np
import torch
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gammainc, gammaincinv
from scipy.stats import hypergeom

from lmc_helpers import claims, error_bars, figures
from lmc_helpers._chapters.center_gap import (
    PRINTED,
    asymptotic_width,
    ball_probability,
    centre_gap,
    close_probability,
    coincidence_probability,
    coincidence_width,
    expected_log_gap,
    exponent_ceiling,
    gap_quantile,
    largest_constant,
    line_failure,
    local_exponent,
    median_exponent,
    poisson_error,
    sample_fixed,
    sample_gaps,
    sample_masked_gaps,
    separation_bound,
    support_spectra,
    weibull_scale,
    within_reach,
)
from lmc_helpers.identifiability import coherence, exact_copies
from lmc_helpers.seeds import normal, torch_generator

# %% [markdown]
# :::{need}
# You need: [](42_swap_cost.ipynb) for the role of the gap, densities and the union bound. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $m$, $d$ | neurons of the layer, and its inputs |
# | $U$, $k$, $\nu$ | orthonormal basis ($d \times k$) of the subspace that the inputs span, its dimension, its {term}`coherence` |
# | $F$, $\sigma$ | fixed weights with rows $f_i$; their scale |
# | $v_i = U^\top f_i$ | {term}`centre <centre of a neuron>` of neuron $i$ |
# | $\gamma_{\mathrm{out}}$ | the gap, $\sqrt 2 \min_{i \ne j} \lVert v_i - v_j \rVert$ |
# | $p$, $q = 2p - p^2$ | probability that an entry is fixed; that it is fixed in at least one of two rows |
# | $n = m(m-1)/2$, $p_1$, $p_2$ | pairs of centres; probability that two given centres are within $r$; that two are both within $r$ of a third |
# | $a$ | number of fixed entries of a row, where all rows have the same |
#
# ## In many dimensions the least distance is close to the typical one
#
# The closest pair of neurons is the one that is cheapest to exchange, so the gap says how wide a layer may be before its fixed part stops telling neurons apart. In a plane some two of many random points are always close. In many dimensions the distances differ much less, and even the least of them is a sizeable part of the others.

# %% Plot the idea
idea, (plane, spread_of) = figures.panels(2, height=3.4)
cloud = normal((64, 2), seed, "the idea")
distances = torch.cdist(cloud, cloud).fill_diagonal_(math.inf)
nearest = divmod(int(distances.argmin()), 64)
plane.plot(*cloud.T, "o", color="book:grey", markersize=4)
plane.plot(*cloud[list(nearest)].T, "o", color="book:red", markersize=7)
plane.set(title="64 centres, $k = 2$", aspect="equal", xticks=[-2, 0, 2])
plane.set(yticks=[-2, 0, 2], xlabel="$v_1$", ylabel="$v_2$")
for dims, colour in ((2, "book:blue"), (8, "book:orange"), (32, "book:green")):
    apart = torch.pdist(normal((64, dims), seed, f"the idea {dims}")).numpy()
    apart = apart / np.median(apart)
    style = {"histtype": "step", "color": colour, "linewidth": 1.5}
    height = spread_of.hist(apart, 40, range=(0, 2.6), **style)[0].max()
    place = {2: (1.85, 60), 8: (1.45, 150), 32: (1.2, 0.92 * height)}[dims]
    spread_of.text(*place, f"$k = {dims}$", color=colour)
    spread_of.plot(apart.min(), 0, "^", color=colour, markersize=9, clip_on=False)
spread_of.set(xlabel="distance / median distance", ylabel="pairs of 64 centres")
spread_of.set(ylim=(0, None))
figures.show("fig_closest", idea)

# %% [markdown]
# :::{glue:figure} fig_closest
# :alt: First panel, 64 random points in the plane; the closest two, in red, almost touch. Second panel, histograms of the distances of 64 random points in 2, 8 and 32 dimensions, the narrower the higher the dimension; the least distance is near 0 for 2 dimensions and above half the median for 32.
#
# First: normal centres in the plane, the closest two in red. Second: all distances of 64 normal centres in 2, 8 and 32 dimensions, and the least of each (triangles).
# :::
#
# ## The bound holds, and without a mask it needs no hypothesis
#
# Bürgin, Herbst, Lin & Jegelka {cite:p}`buergin2026` (I, Theorem 4.6) draw entries of $F$ as $B \sigma Y_0$: the scale times a random number $Y_0$ with a density of at most $M_0$, times a {term}`mask` $B$ that is 1 with probability $p$ and 0 otherwise. With probability $1 - \delta$
#
# $$
# \begin{aligned}
# \gamma_{\mathrm{out}} &\ge c\, \frac{\sqrt q}{M_0}\, \sigma V_k^{-1/k} \Bigl( \frac{\delta}{m^2} \Bigr)^{1/k} \\
# &= \Theta(\sigma \sqrt k\, m^{-2/k})
# \end{aligned}
# $$ (eq-separation)
#
# with the volume $V_k$ of the unit ball and absolute constants $c$, $C$, provided that $q \ge C \bigl( \sqrt{q \nu \Lambda} + \nu \Lambda \bigr)$ with $\Lambda = \ln(4 k m^2/\delta)$, which is I, (21).
#
# :::{prf:theorem} Separation without a mask
# :label: thm-separation
# If $p = 1$, {eq}`eq-separation` holds for every $U$, $m \ge 2$ and $\delta \in (0, 1)$ with $c = 2^{1/k}$, so with $c = 1$; I, (21) is not needed.
# :::
#
# :::{prf:proof}
# I, (21) serves to bound the determinant of $U^\top \mathrm{Diag}(\xi)\, U$ from below, where $\xi_\ell = 1$ unless both rows are masked at $\ell$; for $p = 1$ it is $I$. The entries of $f_i - f_j$ are independent with densities below $M = M_0/\sigma$, so $v_i - v_j$ has a density below
# $(C_1 M)^k$ {cite:p}`rudelson2015`, and $C_1 = \sqrt 2$ will do {cite:p}`livshyts2016`. Hence $P(\lVert v_i - v_j \rVert \le t) \le V_k (\sqrt 2 M t)^k$, which for $\sqrt 2\, t = c\, M^{-1} V_k^{-1/k} (\delta/m^2)^{1/k}$ is $c^k \delta/m^2$. There are fewer than $m^2/2$ pairs, so that $c^k \le 2$ will do. (The proof of I, Theorem 4.6 has $c = 1/(2 C_1) = 1/\sqrt 8$, of which a factor $\sqrt 2$ is for the mask.)
# :::
#
# At $d = 128$ and $k = 32$, the sizes of the paper's experiments, (21) is met with no constant with which the theorem can hold, [[I6.hypothesis:.2f]] where $\frac12$ is needed ({prf:ref}`prop-least-constant`). Where it is met the theorem holds, with the $c = 1/\sqrt 8$ of its proof.

# %% Union bounds with and without a mask
inside, outside = [], []  # union bound on P(γ_out <= bound), and P(γ_out = 0); /δ
for d, p, m, delta in product(
    (2**9, 2**12, 2**15, 2**18),
    (1 / 32, 1 / 8, 1 / 2, 0.9),
    (4, 64, 1024),
    (0.05, 0.5),
):
    C = largest_constant(m, 1, delta, 2 * p - p * p, 1 / d)  # of I, (21)
    if 2 * math.sqrt(2) <= C:
        inside.append(line_failure(m, d, p, delta))
for m in (64, 1024, 2**14):
    Lambda, x = math.log(8 * m**2), (1 + math.sqrt(17)) / 8  # x² = (x + 1)/4
    p = 1 - math.sqrt(1 - x**2 * Lambda / 10**6)  # d = 10⁶, δ = ½, C = ¼
    outside.append(2 * coincidence_probability(m, 10**6, p))


def failure(k: int, m: int, delta: float, c: float = PRINTED) -> float:
    """Union bound on P(γ_out < bound), relative to δ."""
    bound = separation_bound(m, k, delta, constant=c)  # I, (22)
    pairs = m * (m - 1) / 2
    return pairs * close_probability(bound / math.sqrt(2), k) / delta


grid = [
    (k, round(m), delta)
    for k in range(1, 65)
    for m in np.geomspace(2, 1e6, 12)
    for delta in (0.001, 0.05, 0.5)
]
failures = [failure(k, m, delta) for k, m, delta in grid]
as_packed = [failure(k, m, d, PRINTED * m ** (1 / k)) for k, m, d in grid]
without_mask = [failure(k, m, delta, 2 ** (1 / k)) for k, m, delta in grid]
too_large = [failure(k, m, delta, 4 * 2 ** (1 / k)) for k, m, delta in grid]

# %%
claims.check("I6.bound", failures, rival=max(as_packed))
claims.check("I6.masked", inside, rival=max(outside))

# %% [markdown]
# ## The gap has a law, and the rate is its limit
#
# For Gaussian $F$ without a mask the centres are independent with the law $N(0, \sigma^2 I_k)$ for every $U$, so that $p_1 = P(\frac k2, r^2/4\sigma^2)$ with the regularised incomplete gamma function $P$.
#
# :::{prf:theorem} Law of the gap
# :label: thm-gap-law
# For all $m$, $k$ and $r$, with $\lambda = n p_1$,
#
# $$
# \begin{aligned}
# & \Bigl| P(\gamma_{\mathrm{out}} > \sqrt 2\, r) - e^{-\lambda} \Bigr| \\
# & \quad \le \min\bigl(1, \tfrac1\lambda\bigr)\, n\, \bigl[ (2m - 3)\, p_1^2 \\
# & \qquad\quad + 2 (m - 2)\, p_2 \bigr] .
# \end{aligned}
# $$
#
# For fixed $k$ and $m \to \infty$ the right-hand side is $O(1/m)$ where $\lambda$ is bounded, and
#
# $$
# P\bigl( \gamma_{\mathrm{out}} > s\, y \bigr) \to e^{-y^k}
# $$
#
# with $s = \sqrt{8 \pi}\, \sigma\, (2/(m^2 V_k))^{1/k}$.
#
# The median $\gamma$ of the law $e^{-\lambda}$ has the local exponent
#
# $$
# \begin{aligned}
# \frac{d \ln \gamma}{d \ln m} &= - \frac{2m - 1}{2 (m - 1)}\, I(z) < - \frac2k , \\
# I(z) &= \int_0^1 s^{k/2 - 1} e^{z (1 - s)}\, ds ,
# \end{aligned}
# $$
#
# $z = \gamma^2/(8 \sigma^2)$, which tends to $-2/k$ as $m \to \infty$; for large $m$ it is $-\frac2k \bigl( 1 + \frac{z}{k/2 + 1} + \dots \bigr)$.
# :::
#
# :::{prf:proof}
# Pairs of centres without a common one are independent.
# The first statement is Theorem 1 of Arratia, Goldstein and Gordon {cite:p}`arratia1989`: a pair has $2(m-2)$ neighbours besides itself, and two neighbouring pairs are close with probability $p_2$.
# For fixed $k$, $p_1$ is below $V_k r^k$ times the peak
# $(4\pi\sigma^2)^{-k/2}$ of the density of $v_i - v_j$, and $p_2 \le p_1 V_k r^k (2 \pi \sigma^2)^{-k/2}$. If $\lambda$ is bounded, $r^k = O(m^{-2})$ and both terms are $O(m^3 m^{-4})$; besides $p_1 \sim V_k r^k (4 \pi \sigma^2)^{-k/2}$, which gives $s$.
# Differentiate $n P(\frac k2, z) = \ln 2$: $d \ln n/d \ln m = (2m-1)/(m-1)$ and $d \ln z/ d\ln P = P/(z P')$, where $P(\frac k2, z)\, \Gamma(\frac k2) = z^{k/2} \int_0^1 s^{k/2-1} e^{-zs}\, ds$ and $z P'\, \Gamma(\frac k2) = z^{k/2} e^{-z}$. As $e^{z(1-s)} > 1$ the integral exceeds $2/k$.
# :::
#
# So the $\Theta$ of I, Theorem 4.6, which there is a statement on the bound, is true for $\gamma_{\mathrm{out}}$ itself for fixed $k$. But the exponent is reached only where $\gamma^2 \ll 8 \sigma^2 (k/2 + 1)$, where the closest pair is much closer than typical pairs are. For $k = 32$ distances concentrate, and that takes very wide layers: the exponent comes within 5 % of $-2/k$ at width {glue:text}`width_8` for $k = 8$, and at about {glue:text}`width_32` million for $k = 32$.

# %% Sample the gap, and compare with its law
ANCHOR, END = 16, 1024  # widths; the paper anchors its rate at 16
NUMBER = {2: in_plane, 8: draws, 32: max(draws // 4, 20)}  # layers for each k


def law(gamma: float, m: int, k: int) -> float:
    """P(γ_out > γ) up to the error of the theorem, σ = 1."""
    p1 = gammainc(k / 2, gamma**2 / 8)  # two given centres within γ/√2
    return math.exp(-m * (m - 1) / 2 * p1)


sample = {
    k: [sample_gaps(m, k, n, seed) for m in (ANCHOR, END)]
    for k, n in NUMBER.items()
}
print("  k   median γ   its limit   law   proven error   share of samples above")
for k, (_, gaps) in sample.items():
    median = gap_quantile(0.5, END, k)
    limit = weibull_scale(END, k) * math.log(2) ** (1 / k)  # s y, e^(−y^k) = ½
    error = poisson_error(median / math.sqrt(2), END, k)
    share = (gaps > median).double().mean().item()
    print(
        f"{k:3} {median:10.4f} {limit:11.4f} {law(median, END, k):5.2f}"
        f" {error:14.3f} {share:24.2f}"
    )


# %%
def exponent(m: int, k: int) -> float:
    """Local exponent of the median gap in units of −2/k, by its integral."""
    z = gap_quantile(0.5, m, k) ** 2 / 8
    integral, _ = quad(lambda s: s ** (k / 2 - 1) * math.exp(z * (1 - s)), 0, 1)
    return (2 * m - 1) / (m - 1) * integral / 2 / (2 / k)


for k in sample:
    at = [f"{m}: {exponent(m, k):.2f}" for m in (16, 64, 1024, 10**6)]
    print(f"k = {k}, exponent in units of −2/k at width {', '.join(at)}")


# %% Measure the exponent between two widths
def measured_exponent(k: int, seed: int) -> tuple[float, float]:
    """Exponent of the median γ_out between both widths, and its standard error."""
    gaps = [
        sample_gaps(m, k, NUMBER.get(k, 4 * draws), seed) for m in (ANCHOR, END)
    ]
    return median_exponent(*gaps, END / ANCHOR)


measured = {k: median_exponent(*sample[k], END / ANCHOR) for k in sample}
ceiling = {k: exponent_ceiling(ANCHOR, END, k) for k in sample}
by_median = {
    k: math.log(gap_quantile(0.5, END, k) / gap_quantile(0.5, ANCHOR, k))
    / math.log(END / ANCHOR)
    for k in sample
}
for k, (value, error) in measured.items():
    print(
        f"k = {k:2}: −2/k = {-2 / k:.4f}, proven ≤ {ceiling[k]:.4f}, "
        f"law {by_median[k]:.4f}, measured {value:.4f} ± {3.29 * error:.4f}"
    )

# %%
far = [local_exponent(10**12, k) / (-2 / k) for k in NUMBER]
start = local_exponent(16, 32) / (-2 / 32)
claims.check("I6.scaling", far, rival=start)
claims.check(
    "I6.exponent_2",
    *measured[2],
    n=NUMBER[2],
    second_seed=lambda: measured_exponent(2, seed + 1),
)
claims.check(
    "I6.exponent_8",
    *measured[8],
    n=NUMBER[8],
    second_seed=lambda: measured_exponent(8, seed + 1),
)
claims.check(
    "I6.exponent_32",
    *measured[32],
    n=NUMBER[32],
    second_seed=lambda: measured_exponent(32, seed + 1),
)

# %% [markdown]
# The paper says of I, Fig. 11, which anchors the asymptotic rate at $m = 16$, that the expected scaling is observed. Four readings:
#
# | Reading | Verdict | Exponent | Rate $-2/k$ |
# | --- | --- | --- | --- |
# | as the limit for wide layers (Fig. 11's "asymptotic") | [true](#I6.scaling) | [[I6.scaling:.3f]] of the rate at $m = 10^{12}$, worst $k$ | |
# | between $m = 16$ and 1024, $k = 2$ | [true](#I6.exponent_2) | [[I6.exponent_2:±]] | −1 |
# | the same, $k = 8$ | [false as printed](#I6.exponent_8) | [[I6.exponent_8:±]] | −0.25 |
# | the same, $k = 32$ | [false as printed](#I6.exponent_32) | [[I6.exponent_32:±]] | −0.0625 |
#
# For $k = 8$ and 32 the exponent between these widths is proved to lie below the rate, at most {glue:text}`most_8:≤.4f` and {glue:text}`most_32:≤.4f` ({prf:ref}`prop-exponent`). This does not contradict I, Theorem 4.6, which bounds the gap from below up to a constant, and the paper's conclusion stands: close centres are plausible only for small $k$ or extremely wide layers.

# %% Sample the gaps over the widths
widths = [2**j for j in range(3, int(math.log2(widest)) + 1)]
logs = {
    k: [
        sample_gaps(m, k, max(4, min(draws, 20_000 // m)), seed).log()
        for m in widths
    ]
    for k in NUMBER
}
centres = {k: np.exp([x.mean().item() for x in logs[k]]) for k in logs}
spreads = {k: np.exp([x.std().item() for x in logs[k]]) for k in logs}
by_law = {
    k: np.array([math.exp(expected_log_gap(m, k)) for m in widths]) for k in logs
}

# %% Plot the answer
figure, axis = figures.panels(height=2.7)
for (k, y), colour in zip(
    by_law.items(), ("blue", "orange", "green"), strict=True
):
    axis.plot(widths, y, color=f"book:{colour}")
    anchored = y[widths.index(ANCHOR)] * (np.array(widths) / ANCHOR) ** (-2 / k)
    axis.plot(widths, anchored, ":", color=f"book:{colour}")
    fall = claims.recorded(f"I6.exponent_{k}")["value"]
    said = f"$k = {k}$: {fall:.3f}\n(rate {-2 / k:g})".replace("-", "−")
    axis.text(widths[-1] * 1.15, y[-1], said, color=f"book:{colour}", va="center")
axis.set(xscale="log", yscale="log", xlabel="neurons $m$")
ticks = [m for m in (16, 128, 1024, 16384) if m <= widths[-1]]
axis.set_xticks(ticks, [str(m) for m in ticks])
axis.minorticks_off()
axis.set_ylabel(r"smallest gap $\gamma_{\mathrm{out}}/\sigma$")
axis.set_ylim(bottom=by_law[2][-1] / 3)
figures.show("fig_width", figure)

# %% [markdown]
# ## In one dimension wide layers hold near copies
#
# Inputs that vary in one dimension are the other extreme: "$\gamma_{\mathrm{out}}$ vanishes quickly as $m$ grows, so there are many approximate symmetries in wide layers" (I, section 4.3). The gap falls like $m^{-2}$, and in a layer of 512 neurons a centre has [[I6.line_pairs:±]] others within a hundredth of the median distance of two centres, and {glue:text}`near_2:.3f` if $k = 2$.

# %% One dimension
WIDTH = 512  # of the paper's networks on MNIST
hundredth = 2 * math.sqrt(gammaincinv(1 / 2, 1 / 2)) / 100  # of a median distance
near = []  # other centres within that of a centre, the mean of a layer
for v in normal((draws, WIDTH), seed, "one dimension").numpy():
    v.sort()
    right = np.searchsorted(v, v + hundredth, side="right")  # each pair once
    near.append(2 * (right - np.arange(1, WIDTH + 1)).mean())
near_2 = (WIDTH - 1) * (-math.expm1(-math.log(2) / 100**2))  # k = 2, exact
line_exponent = measured_exponent(1, seed)
partners = error_bars.over_clusters(near)
print(f"k = 1: exponent {line_exponent[0]:.3f} ± {3.29 * line_exponent[1]:.3f}")
print(f"near others: {partners[0]:.3f} for k = 1, {near_2:.3f} for k = 2")

# %%
claims.check(
    "I6.line",
    *line_exponent,
    n=4 * draws,
    second_seed=lambda: measured_exponent(1, seed + 1),
)
claims.check("I6.line_pairs", *partners, n=draws, rival=near_2)

# %% [markdown]
# ## Few fixed entries set the rate instead of the inputs
#
# The layers of the paper's experiments fix the same number of entries in every row, 8 in its transformers (I, App. G.4). If that number is small against $k$, it sets the exponent, not the dimension of the inputs:
#
# :::{prf:theorem} Few fixed entries
# :label: thm-few
# Let each of $m \ge 2$ rows $f_i$ of $F$ have $a \ge 1$ independent entries $\mathcal N(0, \sigma^2)$ at places that do not depend on their values, and 0 elsewhere.
#
# 1. Wherever the entries are, and for every $U$, $\gamma_{\mathrm{out}} \le \sqrt 2\, (\lVert f_i \rVert + \lVert f_j \rVert)$ for any two rows. So
#    $P(\gamma_{\mathrm{out}} > 2 \sqrt 2\, \sigma t) \le P\bigl( \mathrm{Bin}(m, P(\tfrac a2, \tfrac{t^2}2)) \le 1 \bigr)$,
#    and $\gamma_{\mathrm{out}}$ is of the order $\sigma m^{-1/a}$ at most.
# 2. Let the places of each row be uniform, independently of the other rows, $n = m(m-1)/2$, $p_1(r) = P(\lVert v_1 - v_2 \rVert \le r)$ and $D(r) = d \ln p_1/d \ln r$. Then $D(r) < \min(k, 2a)$ for all $r > 0$. From here on let any $k$ rows of $U$ be linearly independent. Then $D(r) \to \min(k, a)$ as $r \to 0$.
#    The distance $r$ with $n p_1(r) = \ln 2$ has the local exponent $-\frac{2m - 1}{(m - 1) D(r)}$ in $m$: below $-2/\min(k, 2a)$ at every width, with the limit $-2/\min(k, a)$.
#    For fixed $d$ and $m \to \infty$, $P(\gamma_{\mathrm{out}} > \sqrt 2\, r) = e^{-n p_1(r)} + O(1/m)$ where $n p_1$ is bounded.
# :::
#
# The reason is plain: two rows with small entries are close whatever the inputs are. I, Theorem 4.6 is not contradicted, as its hypothesis (21) cannot hold there. But "if $k$ is reasonably large, $m^{-2/k}$ decays very slowly" does not speak of such layers: with 8 entries the gap falls at least as $m^{-1/8}$ for every $k$. With 4 of 128 entries fixed and $k = 32$ the measured exponent is [[I6.few_exponent:±]], where $-2/k = -0.0625$.

# %% The law with few fixed entries
few, frame = torch_generator(seed, "few entries"), normal((128, 32), seed, "few")
frame = torch.linalg.qr(frame).Q  # U, (d, k)
spectra = {
    a: [support_spectra(frame, a, j, 40, few).numpy() for j in range(a + 1)]
    for a in (1, 2, 4, 8, 16)
}


def chance(r: float, a: int) -> np.ndarray:
    """p₁(r), and its derivative in ln r, for a fixed entries in each row."""
    weights = hypergeom(128, a, a).pmf(range(a + 1))  # of |S₁ ∩ S₂|
    found = [np.mean(ball_probability(mu, r), axis=1) for mu in spectra[a]]
    return weights @ np.array(found)


def typical(m: int, a: int) -> float:
    """r with n p₁(r) = ln 2."""
    target = math.log(4) / (m * (m - 1))
    return brentq(lambda r: math.log(chance(r, a)[0] / target), 1e-6, 4)


# %% Sample layers with few fixed entries
few_exponents, dimensions, lowest, over, over_one = {}, {}, {}, [], []
few_law = {}  # exponents of the distance with n p₁ = ln 2
print(" a  −2/min(k,2a)  −2/min(k,a)   n p₁ = ln 2     measured")
for a in spectra:
    at = [chance(r, a) for r in np.geomspace(1e-4, 2, 20)]
    dimensions[a] = [slope / p1 for p1, slope in at]  # D(r)
    p1, slope = chance(1e-6, a)
    lowest[a] = slope / p1
    layers = [
        sample_masked_gaps(m, 128, 32, max(draws // 10, 16), a, few)
        for m in (ANCHOR, END)
    ]
    few_exponents[a] = median_exponent(layers[0][0], layers[1][0], END / ANCHOR)
    for gaps, lengths in layers:  # lengths of the two shortest rows
        over += (gaps / lengths.sum(dim=1) / math.sqrt(2)).tolist()
        over_one += (gaps / lengths[:, 0] / math.sqrt(8)).tolist()
    few_law[a] = math.log(typical(END, a) / typical(ANCHOR, a)) / math.log(64)
    value, error = few_exponents[a]
    print(
        f"{a:2}{-2 / min(32, 2 * a):14.4f}{-2 / min(32, a):13.4f}{few_law[a]:14.4f}"
        f"{value:13.4f} ± {3.29 * error:.4f}"
    )

# %%
claims.check("I6.few_exponent", *few_exponents[4], n=max(draws // 10, 16))

# %% [markdown]
# ## What it means for merging networks
#
# Fixed parts keep the centres of a layer's neurons apart as long as its inputs vary in many dimensions and each row has many fixed entries: for $k$ in the tens the distance of the closest two centres stays a sizeable part of the typical one at the widths in use. Whether that identifies the neurons after training is another question: the theorem behind it needs centres that still dominate, and after a long training they need not ({claim}`I12.out_of_regime`).
#
# Where the inputs, or the fixed parts themselves, vary in one or two dimensions only, wide layers hold neurons that are nearly interchangeable, and two networks with the same fixed part may still need an alignment.
#
# **Read on.** [](44_gaussian_mixture.ipynb): {term}`swap costs <swap cost>` of trained networks for $k = 2$, 8 and 32. [](48_input_shifts.ipynb): the gap for a layer's inputs. [](49_feature_hardness.ipynb): what fixed parts take from learning.

# %% [markdown]
# ## Evidence
#
# ### What the bound needs
#
# The constant $C$ of I, (21) is not printed. I, Lemma C.3 gives $C = 2 \sqrt 2$. No proof can go below a half:
#
# :::{prf:proposition} The least constant
# :label: prop-least-constant
# For $C < \frac12$ I, Theorem 4.6 is false: with $k = 1$ there are $d$, $p$, $m$ and $\delta$ that meet I, (21) while $\gamma_{\mathrm{out}} = 0$ with probability above $\delta$. For $d = 128$, $k = 32$ no $m \ge 2$, $\delta < 1$, $p$ and $U$ meet I, (21) with $C \ge \frac12$.
# :::
#
# :::{prf:proof}
# Choose $x < 1$ with $x^2 \ge C x + C$, which is possible as $1 > 2C$, and $\delta = \frac12$, $U = d^{-1/2} (1, \dots, 1)^\top$, $\nu = 1/d$, $q = x^2 \Lambda/d$.
# This meets I, (21).
# A row of $F$ vanishes with probability $(1 - p)^d = (1 - q)^{d/2}$, which for large $d$ is near $e^{-x^2 \Lambda/2} = (8 m^2)^{-x^2/2}$.
# The
# expected number of such rows grows like $m^{1 - x^2}$, so for large $m$ two of them vanish with probability near 1.
# For the second part $\Lambda \ge \ln 512$ and $\nu \ge \frac14$; the largest $C$, $q/(\sqrt{q \nu \Lambda} + \nu \Lambda)$, increases with $q \le 1$, and $\nu \Lambda \ge 1.55$ leaves $C < 0.36$.
# :::


# %% The largest constant with which the hypothesis is met
def met(d: int, k: int) -> list[float]:
    """The largest C with which layers with d inputs and k dimensions meet I, (21)."""
    found = []
    random = torch.linalg.qr(normal((d, k), seed, f"frame {d} {k}"))[0]
    for U in (random, exact_copies(d, k, d // k), torch.eye(d)[:, :k]):
        nu = coherence(U).item()  # random, flat and coordinate subspaces
        for p, m in ((1 / 8, 64), (1 / 2, 64), (1.0, 1024), (1.0, 16), (1.0, 2)):
            for delta in (0.1, 0.5, 0.99):
                Lambda, q = math.log(4 * k * m**2 / delta), 2 * p - p * p
                found.append(q / (math.sqrt(q * nu * Lambda) + nu * Lambda))
    return found


largest_C = {k: met(128, k) for k in (2, 32)}
for k, found in largest_C.items():
    print(f"d = 128, k = {k:2}: (21) is met up to C = {max(found):.2f} at best")

# %%
claims.check("I6.hypothesis", largest_C[32], rival=max(largest_C[2]))

# %% [markdown]
# With a mask, $k = 1$ and a flat $U$ the difference of two centres is normal given the number of entries that are not masked, so that the union bound over pairs can be computed exactly: for layers that meet I, (21) with the proof's $C = 2 \sqrt 2$, and for layers that meet it with $C = \frac14$ only.

# %%
claims.check("I6.unmasked", without_mask, rival=max(too_large))

# %% Numbers for the text
C_example, m_example, d_example = 0.4, 10_000, 100_000
x_example = (C_example + math.sqrt(C_example**2 + 4 * C_example)) / 2
q_example = x_example**2 * math.log(8 * m_example**2) / d_example
figures.numbers(
    C_mnist=largest_constant(512, 2, 0.1, 2 / 8 - 1 / 64, 2 / 512),
    C_met=largest_constant(m_example, 1, 0.5, q_example, 1 / d_example),
    vanish=coincidence_probability(
        m_example, d_example, 1 - math.sqrt(1 - q_example)
    ),
    width_128=f"{coincidence_width(128, 1 / 8) / 1e7:.1f}",
    width_512=f"{coincidence_width(512, 1 / 8) / 1e29:.0f}",
)

# %% [markdown]
# With $m = 64$ and $d = 128$, as in the paper's experiments with Gaussian mixtures, and $\delta = 0.1$, I, (21) without a mask holds up to $C =$ {glue:text}`largest_constant(64, 2, 0.1, 1, 2 / 128):≥.2f` for $k = 2$, {glue:text}`largest_constant(64, 8, 0.1, 1, 8 / 128):≥.2f` for $k = 8$ and {glue:text}`largest_constant(64, 32, 0.1, 1, 32 / 128):≥.2f` for $k = 32$; the proof's own $C = 2 \sqrt 2$ is not reached
# for any of them.
# For the hidden layers of its networks on MNIST ($d = m = 512$, an eighth of the entries fixed) it is {glue:text}`C_mnist:.2f` even for $k = 2$.
# Without a mask the theorem's bound holds all the same, by {prf:ref}`thm-separation`; for the masked layers this says nothing, neither with independent entries nor with the same number of fixed entries in each row, as in the paper's experiments ({prf:ref}`thm-few`).
# In the example of the
# proposition ($C =$ {glue:text}`C_met:.2f`, $m = 10^4$, $d = 10^5$, $\delta = 0.5$) $\gamma_{\mathrm{out}} = 0$ with probability {glue:text}`vanish:.2f`.
#
# The theorem's masks are independent for every entry. Then whole rows may vanish, and the gap is 0 in layers that are wide enough, whatever $\sigma$ is:
#
# :::{prf:proposition} Masked centres
# :label: prop-masked
# Let $p < 1$ and let no row of $U$ be 0.
# Then $\gamma_{\mathrm{out}} = 0$ if and only if two rows of $F$ vanish, up to probability 0.
# This happens with probability $P(\mathrm{Bin}(m, (1 - p)^d) \ge 2)$, which for fixed $d$ tends to 1 as $m \to \infty$.
# If instead every row has the same number, at least 1, of fixed entries, $\gamma_{\mathrm{out}} > 0$ almost surely for every $m$.
# :::
#
# :::{prf:proof}
# Given the masks, $v_i - v_j = \sum_{\ell \in S} u_\ell X_\ell$, where $S$ is the union of their supports and the $X_\ell$ have densities. If $S$ is not empty, this vanishes with probability 0, as $u_\ell \ne 0$. With a fixed number of entries $S$ is never empty.
# :::
#
# For $p = \frac18$ the probability reaches one half at a width of {glue:text}`width_128` $\cdot 10^7$ for $d = 128$ and of {glue:text}`width_512` $\cdot 10^{29}$ for $d = 512$, so it matters in no network; and the paper's own networks fix the same number of entries in every row (I, App. F.1).

# %% Masked layers whose gap is zero
p, d, m, n = 0.25, 12, 64, 4 * draws
generator = torch_generator(seed, "subspace for masks")
frame = torch.randn(d, 2, dtype=torch.float64, generator=generator)
U = torch.linalg.qr(frame).Q  # (d, k)
F = sample_fixed(m, d, n, p, 1.0, seed, "masks")  # (n, m, d)
closed = centre_gap(F @ U) == 0  # γ_out = 0, (n,)
vanished = (F == 0).all(dim=2).sum(dim=1)  # rows of F, (n,)
chance = coincidence_probability(m, d, p)  # P(Bin(m, (1 − p)^d) ≥ 2)
print(f"γ_out = 0 in {closed.double().mean():.3f} of {n} layers, {chance:.3f}")

# %%
claims.check(
    "I6.coincidence",
    (closed != (vanished >= 2)).sum().item(),
    n=n,
    rival=(closed != (vanished >= 1)).sum().item(),
)

# %% [markdown]
# ### Fixed biases
#
# What if $F$ varies in one direction only? Then $\gamma_{\mathrm{out}}$ is that of $k = 1$ (Exercise 43.3), and the paper adds that this "likely also explains the empirical observation of Lim et al. (2024b) that fixing biases does not effectively break symmetries" (I, section 4.3).
# Theorems 4.5 and 4.6 need that the neurons can represent the same functions, which fixed biases take from them:
#
# :::{prf:proposition} Fixed biases
# :label: prop-biases
# Let the inputs be $x = (\tilde x, 1)$, with no $y$ for which $y^\top \tilde x = 1$ on all of them, and let each neuron have trained weights and a fixed bias $g_i$, so that $d_i = (1, \dots, 1, 0)$. If $g_i \ne g_j$, neurons $i$ and $j$ have no coefficients in common, hence no function that determines its coefficients, and a swap of the two costs $+\infty$ if one of their two functions does.
# If $\eta$ is injective, every function does; if it is ReLU, those of neurons whose active inputs span the subspace ({prf:ref}`thm-determined`).
# :::
#
# :::{prf:proof}
# $e = (0, \dots, 0, 1)$ lies in the span of the $x$, for otherwise some $(y, -1)$ would be orthogonal to all of them; so $U U^\top e = e$. All coefficients $\alpha = U^\top (f_i + d_i \odot w)$ of neuron $i$ have $e^\top U \alpha = e^\top (f_i + d_i \odot w) = g_i$, and those of neuron $j$ have $g_j$. If the function of $j$ determines its coefficients, $i$ cannot compute it, and its cost there is $+\infty$ by I, (8); what both functions cost at home is finite.
# :::
#
# So $M_i$ has rank $k - 1$, and hypothesis (18) of I, Theorem 4.5 fails. With an injective $\eta$ fixed biases would, by the exact costs, break symmetries completely.
# ReLU neurons with few active inputs may have a function in common: on $\tilde x = 0$ and 1 those with weight and bias $(2, -1)$ and $(3, -2)$ both compute 0 and 1, and their swap costs nothing. (Assumption 4.1 of the paper never holds here for ReLU or GELU: with $x$ its negative is not an input.)
# What may make fixed biases ineffective beyond that is small *error*, which is not tested here: a neuron may compute nearly the function of another one, off by the difference of two biases, and by the relaxed cost I, (254) that has the price $(g_i - g_j)^2/\beta$ at most ([](47_relaxed_costs.ipynb)), which is small where two biases are close.

# %% Which neurons can compute which functions
reach = {True: [], False: []}  # by "the active inputs span": can i compute h_j?
for number in range(40):
    inputs = normal((7, 3), seed, f"inputs {number}")  # x̃
    W = normal((4, 3), seed, f"trained {number}")
    bias = normal((4,), seed, f"biases {number}")
    for j in range(4):
        s = inputs @ W[j] + bias[j]  # what neuron j computes, before its ReLU
        active = torch.cat([inputs, torch.ones(7, 1).double()], dim=1)[s > 0]
        spans = bool(torch.linalg.matrix_rank(active, rtol=1e-10) == 4)
        for i in set(range(4)) - {j}:
            reach[spans].append(within_reach(s, inputs, bias[i].item()))
for spans, found in reach.items():
    words = "spanning" if spans else "few"
    print(
        f"{words} active inputs: {sum(found)} of {len(found)} in reach of others"
    )

# %%
n = len(reach[True])
claims.check("I6.biases", sum(reach[True]), n=n, rival=sum(reach[False]))

# %% [markdown]
# ### The exponent between two widths
#
# The bound of {prf:ref}`thm-separation` is smaller than the $\delta$-quantile by a factor near 2, that of the printed proof by one near $4 \sqrt 2 \cdot 2^{1/k}$. The limit law is known for short distances in general {cite:p}`silverman1978`. At a finite width a bound can be proven:
#
# :::{prf:proposition} The exponent between two widths
# :label: prop-exponent
# Let $3 \le m_0 < m_1$, $n_i = m_i (m_i - 1)/2$, and let $r_0$, $r_1$ solve
#
# $$
# \begin{aligned}
# n_0\, p_1(r_0) - (n_0 - 1)\, p_2(r_0) &= \tfrac12 , \\
# e^{-n_1 p_1(r_1)} + \text{error}(r_1) &= \tfrac12 ,
# \end{aligned}
# $$
#
# with the error of {prf:ref}`thm-gap-law` at $m_1$. Then the median of $\gamma_{\mathrm{out}}$ at $m_1$ is at most $r_1/r_0$ times that at $m_0$. For $m_0 = 16$, $m_1 = 1024$ and $k = 8$ and 32 its exponent $\ln(r_1/r_0)/\ln(m_1/m_0)$ is below $-2/k$.
# :::
#
# :::{prf:proof}
# By Hunter's form of the union bound the probability of at least one of $n_0$ events is at most the sum of theirs less the sum of $P(A_e \cap A_f)$ over the edges of a tree on the events.
# Pairs of centres are joined to a tree of pairs with a common centre, where $P(A_e \cap A_f) = p_2$.
# So $P(\gamma_{\mathrm{out}} > \sqrt 2\, r_0) \ge \frac12$ at $m_0$, and
# {prf:ref}`thm-gap-law` gives $P(\gamma_{\mathrm{out}} > \sqrt 2\, r_1) \le \frac12$ at $m_1$. The numbers are computed below (`exponent_ceiling`).
# :::


# %% The mean logarithm of the gap in a plane
def mean_log(gaps: torch.Tensor) -> tuple[float, float]:
    """Mean of ln(γ m/4) for k = 2, where s = 4/m, and its standard error."""
    x = (gaps * END / 4).log()
    return x.mean().item(), x.std().item() / math.sqrt(len(x))


# %%
value, error = mean_log(sample[2][1])
claims.check(
    "I6.limit",
    value,
    stderr=error,
    n=NUMBER[2],
    second_seed=lambda: mean_log(sample_gaps(END, 2, NUMBER[2], seed + 1)),
)

# %% Plot the gaps, their law and its exponent
figure, (left, right) = figures.panels(2, height=4.6)
far = np.geomspace(8, 1e10, 60)
middle = math.sqrt(ANCHOR * END)
for place, ((k, y), marker) in enumerate(zip(by_law.items(), "os^", strict=True)):
    color, title = f"C{place}", f"$k = {k}$"
    point = {"color": color, "marker": marker, "label": title}
    edges = centres[k] / spreads[k], centres[k] * spreads[k]
    left.fill_between(widths, *edges, color=color, alpha=0.25, linewidth=0)
    left.plot(widths, centres[k], **point, linestyle="", markersize=5)
    left.plot(widths, y, color=color, linewidth=1.2)
    anchored = y[widths.index(ANCHOR)] * (np.array(widths) / ANCHOR) ** (-2 / k)
    left.plot(widths, anchored, ":", color=color)
    c = 2 ** (1 / k)
    bound = [separation_bound(m, k, 0.1, constant=c) for m in widths]
    left.plot(widths, bound, "--", color=color, linewidth=1)
    exact = [local_exponent(round(m), k) / (-2 / k) for m in far]
    right.plot(far, exact, color=color, linewidth=1.2)
    value, error = (x * k / 2 for x in measured[k])
    ends = -value - figures.BAND * error, -value + figures.BAND * error
    right.fill_between([ANCHOR, END], *ends, color=color, alpha=0.25, lw=0)
    right.plot([ANCHOR, END], [-value] * 2, color=color, linewidth=2.5)
    right.plot(middle, -value, marker, color=color, markersize=6)
for style, title in (("-", "law"), (":", "$m^{-2/k}$"), ("--", "lower bound")):
    left.plot([], [], style, color="book:black", label=title)
left.set(xscale="log", yscale="log")
left.set(xlabel="width $m$", ylabel=r"$\gamma_{\mathrm{out}}/\sigma$")
right.axhline(1, color="book:black", linewidth=1, linestyle=":")
right.set(xscale="log", xlabel="width $m$")
right.set(ylabel="exponent, in units of $-2/k$")
figures.show("fig_gap", figure, legend=6)


# %% Numbers for the text
def proven_error(k: int) -> float:
    """Error of the law at its median, m of 1024, rounded up."""
    r = gap_quantile(0.5, END, k) / math.sqrt(2)
    return math.ceil(1000 * poisson_error(r, END, k)) / 1000


figures.numbers(
    width_8=asymptotic_width(8, 0.05),
    width_32=f"{asymptotic_width(32, 0.05) / 1e6:.0f}",
    **{f"law_{k}": by_median[k] for k in (8, 32)},
    **{f"most_{k}": ceiling[k] for k in (8, 32)},
    **{f"offset_{k}": measured[k][0] - by_median[k] for k in (8, 32)},
    **{f"offset_error_{k}": 3.29 * measured[k][1] for k in (8, 32)},
)

# %% [markdown]
# :::{glue:figure} fig_gap
# :alt: First panel, smallest gap against width on logarithmic axes for k of 2, 8 and 32. Points lie on the solid curves of the law. The dotted line of the asymptotic rate, anchored at width 16, agrees for k of 2, lies slightly above for 8 and clearly above for 32. Dashed lower bounds lie far below. Second panel, local exponent in units of minus 2 over k, decreasing to 1: at once for 2, around width 100 for 8, and slowly for 32, where it is still above 1 at width ten billion. Thick segments from width 16 to 1024, with bands, show the measured exponents.
#
# First: the quantity of I, Fig. 11, with Gaussian $F$.
# Points and bands: mean and standard deviation of $\ln \gamma_{\mathrm{out}}$; solid: the law of {prf:ref}`thm-gap-law`; dotted: $m^{-2/k}$ anchored at $m = 16$; dashed: the bound of {prf:ref}`thm-separation` with $\delta = 0.1$.
# Second: local exponent of the median; thick, with points: the measured
# exponent between $m = 16$ and 1024, with its 99.9 % interval (profile {glue:text}`profile`).
# :::
#
# For $k = 2$ the exponent agrees with the rate from $m = 16$ on. The law of {prf:ref}`thm-gap-law` gives {glue:text}`law_8:.4f` and {glue:text}`law_32:.4f` for $k = 8$ and 32,
# and the exponents measured in this run less these are {glue:text}`offset_8:.4f` ± {glue:text}`offset_error_8:.4f` and {glue:text}`offset_32:.4f` ± {glue:text}`offset_error_32:.4f`; a small difference is to be expected, because at $m = 16$ pairs with a common centre matter.
# At $m = 1024$ the proved error of its distribution function at the median is at most {glue:text}`proven_error(8):≤.3f` and {glue:text}`proven_error(32):≤.3f`. At $m = 16$ the local exponent of the law for $k = 32$ is {glue:text}`start:.2f` times $-2/k$.
#
# ### Few fixed entries
#
# Proof of {prf:ref}`thm-few`:
#
# :::{prf:proof}
# *1.* $\lVert v_i - v_j \rVert \le \lVert v_i \rVert + \lVert v_j \rVert \le \lVert f_i \rVert + \lVert f_j \rVert$, as $U$ has orthonormal columns. The lengths are independent and $\lVert f_i \rVert^2/\sigma^2$ is a $\chi^2_a$ variable, below $t^2$ with probability $P(\frac a2, \frac{t^2}2) \sim t^a/(2^{a/2}\, \Gamma(\frac a2 + 1))$, so two of $m$ rows are of the length $O(\sigma m^{-1/a})$.
#
# *2.* Given both sets of places, $v_1 - v_2$ is normal with the covariance $\sigma^2 Q$, $Q = \sum_\ell c_\ell\, u_\ell u_\ell^\top$, where $c_\ell$ is the number of the sets that contain $\ell$. The rank $\rho$ of $Q$ is at most $\min(k, 2a)$, and for independent rows the smaller of $k$ and the size of the union, so at least $\min(k, a)$. On the range of $Q$ the density falls along rays from 0, so that $s^{-\rho} P_Q(s r)$, the integral of the density at $s x$ over the ball of radius $r$, has a negative derivative in $s$,
# where $P_Q(r)$ is the probability of the ball; hence $r P_Q' < \min(k, 2a)\, P_Q$ (for $Q = 0$ the left-hand side is 0), and the mean over places gives the first statement. As $r \to 0$, $P_Q/r^\rho$ and $r P_Q'/(\rho\, r^\rho)$ tend to the same positive number, so the least rank prevails: $\kappa = \min(k, a)$, taken if both sets are equal.
# Differentiate $\ln n + \ln p_1 = \ln \ln 2$.
#
# For the last statement, as in {prf:ref}`thm-gap-law`: given the third centre, and its own places, a centre is normal of rank $\kappa$, and within $r$ with probability $O(r^\kappa)$. So $p_2 = O(r^\kappa)\, p_1$. Since $p_1 \ge c\, r^\kappa$ for small $r$, $r^\kappa = O(m^{-2})$ where $n p_1$ is bounded, and both terms of the error are $O(1/m)$.
# :::
#
# With repeated rows of $U$, or rows of zeros, such as those of pixels at the border of MNIST's images, the limit of $D$ may be less: centres may be closer still, and with $a$ rows of zeros some coincide.
#
# For $2a < k$ the independent masks of I, Theorem 4.6 with $p = a/d$ have $q \le 2a/d < k/d \le \nu$, and I, (21) would need $C \Lambda < 1$, while $\Lambda \ge \ln 48$ for $k \ge 3$ and $C \ge \frac12$ ({prf:ref}`prop-least-constant`).

# %%
claims.check("I6.few_rows", over, rival=max(over_one))
claims.check(
    "I6.few_dimension",
    [D / min(32, 2 * a) for a, found in dimensions.items() for D in found],
    rival=max(D / min(32, a) for a, found in dimensions.items() for D in found),
)
claims.check(
    "I6.few_limit",
    [D / min(32, a) for a, D in lowest.items()],
    rival=max(D / min(32, 2 * a) for a, D in lowest.items()),
)

# %% Plot the exponents against the number of fixed entries
figure, axis = figures.panels(height=3.6)
fixed = np.array(list(spectra))
style = dict(color="book:grey", linestyle=":")
axis.plot(fixed, 2 / np.minimum(32, fixed), label="limit", **style)
style = dict(color="book:black", linestyle="--")
axis.plot(fixed, 2 / np.minimum(32, 2 * fixed), label="bound", **style)
style = dict(color="book:orange", linestyle="", marker="x")
axis.plot(
    fixed, [-x for x in few_law.values()], label="$n p_1 = \\ln 2$", **style
)
values, errors = np.transpose(list(few_exponents.values()))
figures.band(axis, fixed, -values, errors, color="book:blue", label="measured")
axis.set(xscale="log", xlabel="fixed entries $a$")
axis.set(yscale="log", ylabel="−exponent in $m$")
axis.set_xticks(fixed, fixed)
axis.set_yticks(2 / fixed, 2 / fixed)
axis.minorticks_off()
figures.show("fig_few", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_few
# :alt: Exponent of the gap against the number of fixed entries of a row, from one to sixteen, its sign changed, on logarithmic axes. The measured exponents and those of the law lie between the dotted line of the limit and the dashed one of the bound, half as high: near the bound for two and four entries, between the two for one and eight, near the limit for sixteen.
#
# The exponent of the gap between $m = 16$ and 1024, its sign changed, with $a$ of 128 entries fixed and $k = 32$ (dots, with 99.9 % intervals). Crosses: the same for the distance with $n p_1 = \ln 2$, which by {prf:ref}`thm-few` lies above $2/\min(k, 2a)$ (dashed) and tends to $2/\min(k, a)$ (dotted) (profile {glue:text}`profile`).
# :::
#
# Without a common place two such centres can be close only if both are near 0, so that at these widths close pairs come in clumps, and the median tends to lie a little above the distance with $n p_1 = \ln 2$, more so in narrow layers, and its exponent a little below. With a single entry the widest layers nearly follow the limit: their closest rows mostly share its place.
#
# ### Exercises
#
# :::{exercise}
# Let $\sigma = 1$ and $m = 64$. At which distance $r$ is one pair of centres closer than $r$ to be expected, for $k = 1$ and for $k = 2$? Use that $v_i - v_j \sim \mathcal N(0, 2 I_k)$ and small $r$.
# :::
#
# :::{solution}
# There are $n = 2016$ pairs. For $k = 1$ the density at 0 is $(4 \pi)^{-1/2}$, so $p_1 \approx r/\sqrt \pi$ and $r = \sqrt \pi/n \approx 0.0009$. For $k = 2$ $p_1 = 1 - e^{-r^2/4} \approx r^2/4$ and $r = 2/\sqrt n \approx 0.045$, fifty times as far.
# :::
#
# :::{exercise}
# What is the median of $\gamma_{\mathrm{out}}$ for $k = 2$ by the limit of {prf:ref}`thm-gap-law`? Compare with the law at $m = 1024$ and with `sample[2][1]`.
# :::
#
# :::{solution}
# $V_2 = \pi$, so $s = \sqrt{8 \pi}\, \sigma \sqrt{2/(\pi m^2)} = 4 \sigma/m$, and $e^{-y^2} = \frac12$ at $y = \sqrt{\ln 2}$: the median is $4 \sqrt{\ln 2}\; \sigma/m \approx 3.33\, \sigma/m$. After the cells of this chapter:
#
#     print(4 * math.sqrt(math.log(2)) / 1024, gap_quantile(0.5, 1024, 2))
#     print(sample[2][1].median())
# :::
#
# :::{exercise}
# Let all rows of $F$ be multiples of one vector, $f_i = g_i u$ with $g_i \sim \mathcal N(0, \sigma^2)$ and $U^\top u \ne 0$, and $D = 1$. What are the law of $\gamma_{\mathrm{out}}$ and its exponent, for any $k$? The paper expects this of fixed biases, and that they do not break symmetries effectively for this reason. Does its theory of costs say so?
# :::
#
# :::{solution}
# $v_i - v_j = (g_i - g_j)\, U^\top u$, so $\gamma_{\mathrm{out}} = \lVert U^\top u \rVert \cdot \sqrt 2 \min \lvert g_i - g_j \rvert$: the law is that of $k = 1$ with $\sigma$ replaced by $\sigma \lVert U^\top u \rVert$, and the exponent tends to $-2$, whatever the dimension of the inputs is.
#
# A bias is the weight of an input that is constant, but a *fixed* one is not trained: $d_i = 0$ there. By {prf:ref}`prop-biases` a swap of neurons with different biases then costs $+\infty$ if one of their functions determines its coefficients, unless the other inputs represent a constant.
# :::
# :::{try}
# More draws and wider layers, every verdict kept; look at `I6.exponent_32`:
#
#     make chapter NAME=center_gap ARGS="-p draws 4000 -p widest 16384"
# :::

# %% Versions and time
print(chapter.end())
