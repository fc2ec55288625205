# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Neurons die where minima without dead neurons become too sharp
#
# *Why does gradient descent with large steps return networks with dead neurons?*
#
# Minima without dead neurons are unstable beyond a closed-form step size (proved). Half of the networks have a
# dead neuron from **[[Z10.place:.2f]]** ([[low(Z10.place):.2f]] to [[high(Z10.place):.2f]]) times that step size on; above it the loss between matched
# networks rises **[[Z17.down:.2f]]** ([[Z17.down:to]]) times as much as below, or less, in four settings.
#
# :::{glue:figure} fig_zero_rows
# :alt: Mean number of zero rows against the step size in units of the computed threshold, from 0.2 to 1.25, axis from 0. Below 1 there are none, in three settings. Beyond 1 the numbers climb, close to the predicted staircases, to between one and four. Marked: half of the networks have a zero row at [[Z10.place:.2f]] ([[low(Z10.place):.2f]] to [[high(Z10.place):.2f]]) times the threshold, as recorded.
#
# Dead neurons (zero rows) by step size, mean over this run's networks of $m$ neurons, with $d$ inputs, for $M$ teacher neurons. Lines: the fewest that a stable minimum can have ({prf:ref}`thm-sharpness`).
# :::
#
# **How sure.** Threshold proved. Recorded: deaths on [[n(Z10.place)]] networks per step size, the loss on [[n(Z17.down)]] pairs (row 5: [[n(Z17.up_reference)]]).
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | “zero rows appear in the solution” (sec. 5) | [true](#Z10.zero_rows) | in at least [[100 * low(Z10.zero_rows):≥.0f]] % of networks at 1.1 times the threshold |
# | “the PQI”, an index of sparsity, “also increases rapidly” (sec. 5) | [true](#Z10.jump) | [[Z10.jump:to]] times as fast as below the threshold, where least |
# | “may be related to the loss landscape” (sec. 5) | [true: stability](#Z10.place) | at [[low(Z10.place):.2f]] to [[high(Z10.place):.2f]] times the threshold in closed form |
# | “beyond this threshold, for example, learning rate $= 2$ here” (sec. 5) | [true at $m = 12$](#Z10.two) | below it at $m = 9$ ($M = 6$, $d = 8$) |
# | the barrier “first goes up” (Fig. 13) | [open](#Z17.up), [false at the sizes of Fig. 2](#Z17.up_reference) | slope at these sizes [[Z17.up_reference:±]]; a rise would be 0.1 or more |
# | “and then goes down” (Fig. 13) | [true](#Z17.down) | to [[Z17.down:.2f]] ([[Z17.down:to]]) of that below the threshold, or lower |
#
# **Open.** The rise at the sizes of Fig. 13: these are not stated, and no number of runs decides.
#
# **For the authors.** Print *beyond $2dM/(m\mu_M)$ minima without zero rows are unstable*, $\mu_M$ as in {prf:ref}`thm-sharpness`, and the sizes of Figs. 6 and 13.

# %% [markdown]
# :::{need}
# You need: the Hessian at a minimum ([](11_exact_loss.ipynb)), {term}`types of <type>` rows ([](12_overlap_theorem.ipynb)), eigenvalues and
# convexity. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $M$ | neurons of the {term}`teacher <teacher and student>` |
# | $m$ | neurons (rows) of a student |
# | $k$ | rows of it that are not zero |
# | $d$ | input dimension |
# | $\eta$ | step size (learning rate), for the loss (Z 3), which has no factor ½ |
# | $\lambda(k)$ | least {term}`sharpness` of a minimum with $k$ rows in use |
# | $\mu_M$ | a number that depends on $M$ alone ({prf:ref}`thm-sharpness`) |
# | $\eta_0$ | the threshold: above it no minimum with $m$ rows in use is stable |
# | $B$ | mean barrier between matched networks |
#
# Beyond a certain learning rate, {cite:t}`zhan2025` (Z) find, solutions are sparse: whole rows of $W$ are zero, and the
# {term}`PQ index` jumps (Z, section 5; Z, Fig. 6). They leave the reason open. This chapter finds it, and follows what it does to the
# {term}`barrier`.

# %% Parameters tags=["parameters"]
networks: int = 40  # networks per step size
steps: int = 3000  # budget of gradient descent
rates: int = 11  # step sizes per setting from half the threshold on
times: int = 1  # as many networks in the first setting, judged by itself
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    networks=Integer(8, 100_000),
    steps=Integer(2000, 10_000_000),
    rates=Integer(8, 200),
    times=Integer(1, 100),
)

import math

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.step_size import (
    bootstrap,
    crossing_interval,
    difference_of_shares,
    mean_of_arrived,
    statistics_of_arrived,
)
from lmc_helpers.barrier import loss_barrier, refined_barrier
from lmc_helpers.error_bars import ratio_of_means, share
from lmc_helpers.matching import algorithm_1, permute
from lmc_helpers.teacher_student import (
    even_sharpness,
    initial_weights,
    population_hessian,
    population_loss,
    snap,
    zero_rows,
)
from lmc_helpers.teacher_student.gradient_descent import gradient_descent

# %% [markdown]
# ## Gradient descent cannot stay where a minimum is too sharp
#
# Gradient descent $W \leftarrow W - \eta \nabla L(W)$ cannot settle at a {term}`minimum` whose Hessian has an eigenvalue above $2/\eta$: along its
# eigenvector each step overshoots by more than it gains. The largest eigenvalue is the *sharpness* of the minimum. The fewer rows
# are in use, the lower it is. A row that is exactly zero is dead: gradient descent takes $\sigma'(0) = 0$ at the kink of the
# loss there, so that the row gets no gradient.

# %% Plot the idea: overshooting, and sharpness by rows in use
figure, (left, right) = figures.panels(2, height=2.6)
taken = np.arange(13)
for relative, colour, words, at in (
    (0.9, "blue", r"$\eta\lambda/2 = 0.9$", (0.2, -5.2)),
    (1.1, "red", r"$\eta\lambda/2 = 1.1$", (3.4, 6.4)),
):
    path = (1 - 2 * relative) ** taken  # steps on a parabola of curvature λ
    left.plot(taken, path, "o-", markersize=3, color=f"book:{colour}")
    left.text(*at, words, color=f"book:{colour}")
left.set(xlabel="steps", ylabel="distance")
in_use = np.arange(6, 17)  # rows of a network with M = 6, d = 8
sharp = [even_sharpness(int(rows), 6, 8) for rows in in_use]
right.plot(in_use, sharp, "o", color="book:black")
right.text(11.2, 0.74, "least sharpness", va="top")
for rate in (1.5, 2.0, 2.5):
    right.axhline(2 / rate, color="book:orange")
    style = dict(va="bottom", color="book:red")
    right.text(5.6, 2 / rate + 0.01, rf"$2/\eta$, $\eta = {rate}$", **style)
right.set(xlabel="rows in use", ylabel="largest eigenvalue", ylim=(0, 1.55))
figures.show("fig_edge", figure)


# %% [markdown]
# :::{glue:figure} fig_edge
# :alt: First panel, one zigzag that shrinks and one that grows. Second panel, dots on a rising line, the least sharpness against the number of rows in use, axis from 0, and three horizontal lines for three step sizes; a larger step size has a lower line and lets fewer rows pass.
#
# First panel: gradient descent on a parabola of curvature $\lambda$, below and above the limit. Second panel: $M = 6$, $d = 8$. A minimum can be stable only if its
# rows in use lie below the line of the step size.
# :::
#
# ## Every row in use makes a minimum sharper
#
# :::{prf:theorem} Sharpness counts rows
# :label: thm-sharpness
# At a minimum with $k$ non-zero rows the largest eigenvalue of the Hessian in these rows is at least
#
# $$
# \begin{aligned}
# \lambda(k) &= \frac{k}{M} \cdot \frac{\mu_M}{d}, \\
# A_M &= \begin{pmatrix} 1 + \frac{M - 1}{\pi} & \frac{M - 1}{2} \\ \frac12 & \frac M2 + \frac1\pi \end{pmatrix},
# \end{aligned}
# $$
#
# where $\mu_M$ is the larger eigenvalue of $A_M$, with equality if the $k$ rows are spread evenly over the $M$ types. So every linearly stable minimum has at most
# $k_{\max}(\eta) = 2 d M / (\eta \mu_M)$ non-zero rows, and none of width $m$ is free of zero rows beyond
#
# $$
# \eta_0 = \frac{2 d M}{m\, \mu_M}.
# $$
# :::
#
# :::{prf:proof}
# By {prf:ref}`prop-cubic` the Hessian is $Z K Z^\top$, where $Z$ copies the block of a type to its rows, and $Z^\top Z = N$ is
# diagonal with the counts $n_j$. Its largest eigenvalue is $f(n) = \lambda_{\max}(K^{1/2} N K^{1/2})$, as a largest eigenvalue of a
# matrix that is linear in $n$ a convex function of the counts, and a permutation of the types does not change it. The mean of the counts over
# all permutations of the types is the even count $k/M$ for each; so by convexity $f(k/M, \dots, k/M)$ is at most the mean of values that all equal $f(n)$.
# At even counts $f$ is $\frac kM \lambda_{\max}(K)$. $d K$ commutes with permutations of the types; its
# top eigenvector has non-negative entries (Perron–Frobenius), so it can be taken invariant:
#
# $$
# x_j = \alpha e_j + \beta \!\! \sum_{i \ne j, i \le M} \!\! e_i + \gamma \sum_{i > M} e_i.
# $$
#
# On $(\alpha, \beta)$ it acts as $A_M$, on $\gamma$ as $\frac{M + 1}{2}$, which is smaller than $\mu_M$ for $M \ge 2$ and equal
# to it for $M = 1$.
# :::
#
# For $M = 6$, $d = 8$ and $m = 12$ the threshold is {glue:text}`eta_12:.2f`. The cell below computes it in the four settings of this
# chapter by the theorem, and from the full $md \times md$ Hessian at a minimum whose counts are as even as they can be; where $M$
# divides $m$ both agree. With the loss halved, as is common, all thresholds double.

# %% Fix four settings
SETTINGS = [(12, 6, 8), (16, 4, 8), (9, 3, 3), (9, 6, 8)]  # (m, M, d)
eta_0 = {s: 2 / even_sharpness(*s) for s in SETTINGS}

# %%
for m, M, d in SETTINGS:
    matrix = [[1 + (M - 1) / math.pi, (M - 1) / 2], [1 / 2, M / 2 + 1 / math.pi]]
    mu = np.linalg.eigvals(matrix).max()  # μ_M of the theorem
    types = torch.arange(m) % M  # counts as even as they can be
    counts = types.bincount()  # n_j (M,)
    W = torch.eye(M, d, dtype=torch.float64)[types] / counts[types, None]
    hessian = population_hessian(W, M)  # (m d, m d)
    sharpest = torch.linalg.eigvalsh(hessian)[-1]
    print(
        f"m = {m:2}, M = {M}, d = {d}: η₀ = {eta_0[m, M, d]:.4f},",
        f"2dM/(mμ) = {2 * d * M / (m * mu):.4f}, 2/λ_max = {2 / sharpest:.4f}",
    )

# %% [markdown]
# ## Rows die just where the theorem says
#
# In the experiment there are {glue:text}`len(relative_rates)` step sizes around $\eta_0$ in each of four settings; networks start from the paper's
# initialisation (Z, B.1) and take {glue:text}`steps` steps. A row counts as zero if its norm is below
# $10^{-3}$. Networks that diverge or have not reached a loss of $10^{-5}$ are left out; below the threshold hardly one is.
#
# The picture at the head shows the numbers of zero rows: none below $\eta_0$, and beyond it about as many as stability asks for. The
# descent does not diverge there: it loses rows, so that the sharpness of the rows that are left stays at the limit. Why rows die rather
# than the descent diverging is not proved. Half of the networks have a
# zero row at [[Z10.place:.2f]] $\eta_0$ ([[low(Z10.place):.2f]] to [[high(Z10.place):.2f]], one cell of the grid of step sizes) in the setting
# farthest from 1.

# %% Train, and measure the networks that arrive
relative_rates = np.concatenate(  # in units of η₀
    [[0.2, 0.3, 0.4], np.linspace(0.5, 1.25, rates)]
)


def train(setting: tuple[int, int, int], seed: int) -> dict[str, np.ndarray]:
    """Statistics of the networks that arrive, (rates, networks or pairs)."""
    m, M, d = setting
    n = times * networks if setting == SETTINGS[0] else networks
    step_sizes = relative_rates * eta_0[setting]
    start = initial_weights(m, d, n, seed)  # the same at every step size
    each = torch.from_numpy(step_sizes).repeat_interleave(n)
    done = gradient_descent(
        start.repeat(len(step_sizes), 1, 1), M, each, steps, tol=0.0
    )
    arrived = ~done.diverged & (done.loss < 1e-5)  # the others are nan
    rows = [
        statistics_of_arrived(W, landed, M, float(rate))
        for W, landed, rate in zip(
            done.W.split(n), arrived.split(n), step_sizes, strict=True
        )
    ]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


trained = {setting: train(setting, seed) for setting in SETTINGS}

# %% Plot the picture at the head of the chapter
figure, axis = figures.panels(height=2.6)
fine = np.linspace(relative_rates[0], relative_rates[-1], 1001)
colours = ("blue", "orange", "green")
for (m, M, d), colour in zip(SETTINGS[:3], colours, strict=True):
    style = dict(color=f"book:{colour}", linewidth=1)
    needed = np.maximum(0, m - np.floor(m / fine))  # by the theorem
    axis.plot(fine, needed, **style)
    values = mean_of_arrived(trained[m, M, d]["zeros"])
    axis.plot(relative_rates, values, "o", markersize=4, **style)
    style = dict(color=f"book:{colour}", va="center")
    axis.text(1.28, needed[-1], f"${m = }$, ${M = }$", **style)
place = claims.recorded("Z10.place")
words = "half of the networks\nhave one at {value:.2f} $\\eta_0$\n({low:.2f} to {high:.2f}, recorded)"
arrow = dict(arrowstyle="-", color="book:black", linewidth=0.8)
axis.annotate(
    words.format(**place),
    (place["value"], 0.5),
    (0.93, 2.2),
    ha="right",
    va="center",
    arrowprops=arrow,
)
axis.axvline(1, color="book:grey", linestyle=":", linewidth=1)
axis.text(0.99, 3.6, "threshold $\\eta_0$, proved", ha="right", color="book:grey")
axis.set(xlabel=r"step size $\eta / \eta_0$", ylabel="zero rows, mean")
axis.set(xlim=(0.2, 1.5), ylim=(-0.1, 4.1))
axis.set_xticks([0.2, 0.4, 0.6, 0.8, 1, 1.2])
figures.show("fig_zero_rows", figure)

# %% Numbers for the text
arrived = {s: np.isfinite(trained[s]["zeros"]).sum(axis=1) for s in SETTINGS}
figures.numbers(
    eta_12=eta_0[12, 6, 8],
    fewest=min(int(n[relative_rates < 1].min()) for n in arrived.values()),
)


# %% Compute the share of networks with a zero row on both sides of the threshold
def with_zero_row(setting: tuple[int, int, int]) -> np.ndarray:
    """1 for a network with a zero row, 0 without, nan if it did not arrive."""
    zeros = trained[setting]["zeros"]  # (rates, networks)
    return np.where(np.isnan(zeros), math.nan, zeros > 0)


def share_at(hits: np.ndarray) -> tuple[float, float, float]:
    """Share of the networks that arrive, with its interval."""
    known = hits[np.isfinite(hits)]
    return share(int(known.sum()), len(known))


below = int(np.flatnonzero(relative_rates <= 0.95 + 1e-9)[-1])
above = int(np.flatnonzero(relative_rates >= 1.1 - 1e-9)[0])
jumps_of_share = {}
for setting in SETTINGS[:3]:
    hits = with_zero_row(setting)
    before, after = share_at(hits[below]), share_at(hits[above])
    jumps_of_share[setting] = difference_of_shares(after, before)

# %% Locate the transition
places = {
    s: crossing_interval(relative_rates, with_zero_row(s)) for s in SETTINGS[:3]
}


# %% Compare the slopes of the PQ index on both sides
def jump(pq: np.ndarray) -> float:
    """Slope of the mean PQ index above η₀ over that from η₀/2 up to η₀."""
    y = mean_of_arrived(pq)  # (rates,)
    known, x = np.isfinite(y), relative_rates
    below, above = known & (x >= 0.5) & (x < 0.95), known & (x > 1)
    before, after = (
        np.polyfit(x[side], y[side], 1)[0] for side in (below, above)
    )
    return float(after / before)


jumps = [bootstrap(jump, trained[s]["pq"], seed) for s in SETTINGS[:3]]


# %% Check Z10.zero_rows, Z10.place and Z10.jump
value, low, high = min(jumps_of_share.values())
claims.check("Z10.zero_rows", value, interval=(low, high), n=networks)
place, low, high = max(places.values(), key=lambda x: max(1 - x[1], x[2] - 1))
claims.check("Z10.place", place, interval=(low, high), n=networks)
value, error = min(jumps)
claims.check("Z10.jump", value, stderr=error, n=networks)

# %% [markdown]
# The paper's example of a learning rate beyond the threshold is 2; it does not say for which $m$, $M$, $d$. As $\eta_0$ falls like
# $1/m$, some width fits: for $M = 6$, $d = 8$ (as in Z, Fig. 2) the step size 2 is below the threshold at $m = 9$ and beyond it at
# $m = 12$. In the recorded run every network of width 12 had a zero row and none of width 9 ({claim}`Z10.two`).
#
# ## Beyond the threshold the barrier falls; a rise before it is open
#
# The *barrier* is the largest loss on the line between two networks, less that of its ends, here after {term}`Algorithm 1`
# ([](13_algorithm_1.ipynb)). Z, Fig. 13 shows it against the learning rate, up and then down; $m$, $M$, $d$ and the range of
# learning rates are not stated. Here are four settings, the three above and $m = 9$, $M = 6$, near which the barrier is largest
# ([](17_trained_minima.ipynb)).

# %% Plot the barrier against the step size
figure, axis = figures.panels(height=3.4)
colours = ("blue", "orange", "green", "purple")
before = (relative_rates >= 0.5) & (relative_rates <= 0.9)
ends = []  # of the curves, where their labels stand
apart = (-0.009, -0.003, 0.003, 0.009)  # bars stand side by side
for (m, M, d), colour, by in zip(SETTINGS, colours, apart, strict=True):
    heights = trained[m, M, d]["barrier"]  # (rates, pairs)
    heights = heights / np.nanmean(heights[before])
    n = np.isfinite(heights).sum(axis=1)
    kept = n >= 3
    error = np.nanstd(heights[kept], axis=1, ddof=1) / np.sqrt(n[kept])
    mean = mean_of_arrived(heights[kept])
    style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2)
    figures.band(axis, relative_rates[kept] + by, mean, error, **style)
    ends.append((mean[-1], f"${m = }$, ${M = }$, ${d = }$", colour))
at = 0.0
for height, label, colour in sorted(ends):
    at = max(height, at + 0.09 * axis.get_ylim()[1])  # labels do not overlap
    axis.text(1.27, at, label, color=f"book:{colour}", va="center", fontsize=10)
axis.axvline(1, color="book:grey", linestyle=":")
axis.axhline(1, color="book:grey", linewidth=0.8)
axis.set(xlabel=r"step size $\eta / \eta_0$", xlim=(0.17, 1.62), ylim=(0, None))
axis.set_xticks([0.2, 0.4, 0.6, 0.8, 1, 1.2])
axis.set(ylabel=r"$B$ over its mean at 0.5 to 0.9 $\eta_0$")
figures.show("fig_rate_barrier", figure)

# %% [markdown]
# :::{glue:figure} fig_rate_barrier
# :alt: Mean barrier after matching, over its mean between 0.5 and 0.9 of the threshold, against the step size in units of the threshold, axis from 0, for four settings. Below the threshold the curves scatter around 1, some rise and some fall. Beyond it all fall clearly below 1.
#
# Z, Fig. 13: barrier of trained networks after matching against the step size, in units of its mean at 0.5 to 0.9 $\eta_0$; pairs of {glue:text}`networks` networks,
# {glue:text}`times * networks` in the first setting, bars: ±3.29 standard errors (profile {glue:text}`profile`).
# :::
#
# Two numbers describe a curve: its slope below the threshold, that of $\ln B$ in $\eta/\eta_0$ from 0.2 to 0.9, where a rise by 7 % is
# 0.1; and how far it falls beyond, that is $B$ beyond $\eta_0$ over $B$ at 0.5 to 0.9 $\eta_0$.


# %% Compute slopes and drops
def slope(heights: np.ndarray) -> float:
    """Slope of ln(mean barrier) in η/η₀ from 0.2 to 0.9."""
    side = relative_rates < 0.91
    heights = np.maximum(heights, 1e-12)  # rounding; a small sample can be all 0
    mean = mean_of_arrived(heights)  # (rates,)
    return float(np.polyfit(relative_rates[side], np.log(mean)[side], 1)[0])


def drop(heights: np.ndarray) -> float:
    """Mean barrier of all pairs beyond η₀ over that from 0.5 η₀ to 0.9 η₀."""
    below = (relative_rates >= 0.5) & (relative_rates <= 0.9)
    above = relative_rates > 1
    return float(np.nanmean(heights[above]) / np.nanmean(heights[below]))


def least_drop(found: dict) -> tuple[float, float]:
    """The drop of the setting where the barrier falls least, with its error."""
    return max(bootstrap(drop, found[s]["barrier"], seed) for s in SETTINGS)


def slopes_of(found: dict) -> np.ndarray:
    """The slope in each of the four settings, and its standard error; (4, 2)."""
    return np.array(
        [bootstrap(slope, found[s]["barrier"], seed) for s in SETTINGS]
    )


def mean_slope(slopes: np.ndarray) -> tuple[float, float]:
    """Mean of the slopes, and its standard error."""
    error = np.linalg.norm(slopes[:, 1]) / len(slopes)
    return float(slopes[:, 0].mean()), float(error)


def covering(slopes: np.ndarray) -> tuple[float, float, float]:
    """The mean slope, and the interval that covers those of all settings."""
    half = figures.BAND * slopes[:, 1]
    low, high = (slopes[:, 0] - half).min(), (slopes[:, 0] + half).max()
    return mean_slope(slopes)[0], float(low), float(high)


# %% Check Z17.up and Z17.down
def again() -> tuple[float, float, float]:
    """The slopes with a second seed."""
    return covering(slopes_of({s: train(s, seed + 1) for s in SETTINGS}))


slopes = slopes_of(trained)
fewest_pairs = networks // 2
claims.check("Z17.up", *covering(slopes), n=fewest_pairs, second_seed=again)
claims.check("Z17.down", *least_drop(trained), n=fewest_pairs)

# %% [markdown]
# | The paper (Z, Fig. 13) | Reading | We find | Recorded |
# | --- | --- | --- | --- |
# | “first goes up” | in all four settings | [open](#Z17.up) | slopes from [[low(Z17.up):.2f]] to [[high(Z17.up):.2f]] |
# | “first goes up” | in the first setting, the sizes of Fig. 2 | [false](#Z17.up_reference) | slope [[Z17.up_reference:±]], [[n(Z17.up_reference)]] pairs |
# | “then goes down” | in all four settings | [true](#Z17.down) | where it falls least, to [[Z17.down:.2f]] ([[Z17.down:to]]) |
#
# The recorded slope is [[Z17.no_rise:.2f]] ([[Z17.no_rise:to]]) on average over the four settings, so on average there is no rise by 7 % or more; that
# statement is this book's ({claim}`Z17.no_rise`), and a mean hides a setting that differs. The setting of Fig. 13 is not
# stated, so the paper's sentence stays open.
#
# The fall is there in every setting: beyond the threshold rows die, and a zero row costs nothing whatever it meets. Z, section 5
# argues so: zero rows “will incur no barrier when pairing” ({prf:ref}`thm-zero-rows`).
#
# ## A fixed step size becomes large as networks grow
#
# The threshold falls like one over the width, so the step size decides how many neurons a wide network really uses. Dead neurons match each other, and any leftover row, without
# loss. That the networks are smaller is not enough: below the threshold the barrier rises from 12 rows to 9 or 10.
#
# Read on: [](17_trained_minima.ipynb) measures how evenly trained networks share their rows, and what that does to the barrier;
# [](18_sparsity.ipynb) compares the sparsity of trained and random minima.

# %% [markdown]
# ## Evidence
#
# ### Zero rows, sharpness and sparsity against the step size
#
# Sparsity is measured by the *PQ index* of a vector $x$ with $n$ entries (Z, Definition 7, with $p = \frac12$, $q = 1$),
#
# $$
# \mathbf I(x) = 1 - \frac1n \cdot \frac{\bigl( \sum_i \sqrt{|x_i|} \bigr)^2}{\sum_i |x_i|}.
# $$
#
# It is 0 for equal entries and $1 - k/n$ for $k$ equal entries and zeros; here, as in Z, Fig. 6, $x$ are all entries of $W$.

# %% Plot zero rows, sharpness and PQ index
figure, axes = figures.panels(3)
PANELS = {
    "zeros": "zero rows",
    "edge": r"$\eta \lambda_{\max} / 2$ of the rows alive",
    "pq": "PQ index",
}
for (m, M, d), colour in zip(
    SETTINGS[:3], ("blue", "orange", "green"), strict=True
):
    style = dict(color=f"book:{colour}", markersize=3, linewidth=1)
    for axis, name in zip(axes, PANELS, strict=True):
        values = mean_of_arrived(trained[m, M, d][name])
        line = "o" if name == "zeros" else "o-"
        axis.plot(
            relative_rates,
            values,
            line,
            label=f"${m = }, {M = }, {d = }$",
            **style,
        )
    fine = np.linspace(relative_rates[0], relative_rates[-1], 1001)
    needed = np.maximum(0, m - np.floor(m / fine))
    axes[0].plot(fine, needed, color=f"book:{colour}", linewidth=1)
axes[1].axhline(1, color="book:black", linestyle="--")
for axis, label in zip(axes, PANELS.values(), strict=True):
    axis.axvline(1, color="book:grey", linestyle=":")
    axis.set(xlabel=r"step size $\eta / \eta_0$", ylabel=label)
figures.show("fig_step", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_step
# :alt: Three panels against the step size in units of the computed threshold. First, no zero rows below one and a growing number above, close to the predicted staircases. Second, the scaled sharpness rises to one and then falls a little. Third, the PQ index rises slowly and then steeply beyond one.
#
# First panel: mean number of zero rows; lines: the least number that a stable minimum can have, $m - \lfloor m \eta_0/\eta \rfloor$.
# Second panel: sharpness of the rows alive in units of the stability limit (dashed). Third panel: PQ index of $W$. Step sizes in units of
# the computed threshold $\eta_0$ (dotted), which is {glue:text}`eta_12:.3f`, {glue:text}`eta_0[16, 4, 8]:.3f` and
# {glue:text}`eta_0[9, 3, 3]:.3f` in the three settings (profile {glue:text}`profile`).
# :::
#
# Below the threshold at least {glue:text}`fewest` of this run's {glue:text}`networks` networks arrive at every step size. The sharpness there is that of evenly spread rows: the type counts of these
# networks are far more regular than multinomial ones ([](17_trained_minima.ipynb)). Beyond the threshold $\eta\lambda_{\max}/2$ stays below 1 on average. Further up gradient descent does diverge.
#
# The place of the transition is known to one cell of the grid of step sizes, from the last one at which surely fewer than half of the networks have a zero row to
# the first one at which surely more have. The jump of the PQ index is measured by its slope in $\eta$ above the threshold, over that below. In this run, with intervals, and ± standard error:

# %% Show shares, places and slopes
rows = []
for (m, M, d), (value, error) in zip(SETTINGS[:3], jumps, strict=True):
    hits = with_zero_row((m, M, d))
    before, after = (share_at(hits[side])[0] for side in (below, above))
    place, low, high = places[m, M, d]
    cells = f"{m}, {M}, {d}", f"{before:.3f}", f"{after:.3f}"
    where = f"{place:.3f} ({low:.3f} to {high:.3f})"
    rows.append([*cells, where, f"{value:.1f} ± {error:.1f}"])
figures.table(
    r"$m$, $M$, $d$ | share with a zero row at $0.95\,\eta_0$ | at $1.1\,\eta_0$ | half have one at, in $\eta_0$ | slope of the PQ index beyond / below",
    rows,
)

# %% [markdown]
#
# ### The step size 2 at two widths

# %% Train at the step size 2
at_2 = {}  # share of networks with a zero row at η = 2, with its interval
for m in (9, 12):
    done = gradient_descent(
        initial_weights(m, 8, networks, seed), 6, 2.0, 2 * steps, tol=1e-9
    )
    landed = done.W[~done.diverged & (done.loss < 1e-5)]
    at_2[m] = share(int((zero_rows(landed) > 0).sum()), len(landed))
    print(f"{m = :2}: {at_2[m][0]:.2f} of {len(landed)} networks have a zero row")

# %% Check Z10.two
value, low, high = difference_of_shares(at_2[12], at_2[9])
claims.check("Z10.two", value, interval=(low, high), n=networks)

# %% [markdown]
# For $M = 6$, $d = 8$ the threshold is {glue:text}`eta_12:.3f` at $m = 12$; with the loss halved it would be {glue:text}`2 * eta_0[12, 6, 8]:.2f`.
#
# ### Slopes and drops in each setting
#
# In this run (± standard error, by resampling the pairs, which start from the same weights at every step size):

# %% Show slopes and drops
rows = []
for m, M, d in SETTINGS:
    barriers = trained[m, M, d]["barrier"]
    pairs_of = [bootstrap(found, barriers, seed) for found in (slope, drop)]
    landed = np.isfinite(trained[m, M, d]["zeros"])[relative_rates > 1]
    measured = [f"{value:.2f} ± {error:.2f}" for value, error in pairs_of]
    rows.append([f"{m}, {M}, {d}", *measured, f"{100 * landed.mean():.0f} %"])
figures.table(
    r"$m$, $M$, $d$ | slope of $\ln B$ in $\eta/\eta_0$, up to 0.9 | $B$ beyond $\eta_0$ / below | runs beyond $\eta_0$ that arrive",
    rows,
)
figures.numbers(mean_slope="{:.2f} ± {:.2f}".format(*mean_slope(slopes)))

# %% Check Z17.up_reference and Z17.no_rise
claims.check(
    "Z17.up_reference",
    *slopes[0],
    n=times * networks // 2,
    second_seed=lambda: bootstrap(
        slope, train(SETTINGS[0], seed + 1)["barrier"], seed
    ),
)
claims.check("Z17.no_rise", *mean_slope(slopes), n=fewest_pairs)

# %% [markdown]
# Beyond the threshold the barrier $B$ is a mean over the runs that arrive, up to $1.25\,\eta_0$. This run's mean slope is
# {glue:text}`mean_slope` (± standard error). The caption of Fig. 13 counts as borne out if the barrier rises by 7 % in all settings
# ({claim}`Z17.up`) or in the first ({claim}`Z17.up_reference`), and as rejected if it does in none.
#
# ### The grid on which barriers are taken
#
# All barriers are taken on the grid $0, 0.1, \dots, 1$ of the line, which “is always sufficient” (Z, section 2), by a
# proposition between minima ({prf:ref}`prop-places`). Between networks at the step size ½, in the first setting:

# %% Compare the supremum with the largest value on the grid
done = gradient_descent(initial_weights(12, 8, networks, seed), 6, 0.5, steps)
half = networks // 2
one, other = done.W[:half], done.W[half : 2 * half]
other = permute(other, algorithm_1(snap(one, 6), snap(other, 6)))
found = [
    barrier(lambda W: population_loss(W, 6), one, other)
    for barrier in (refined_barrier, loss_barrier)
]
supremum, error = ratio_of_means(*found, paired=True)
print(f"supremum over the largest on the grid {supremum:.4f} ± {error:.4f}")

# %%
claims.check("Z5.grid_trained", supremum - 1, stderr=error, n=half)

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# One teacher neuron, $m$ students: what is the threshold?
# :::
#
# :::{solution}
# All rows have one type, and every block of the Hessian is $\frac1d I$ ({prf:ref}`prop-cubic`). Its largest eigenvalue is
# $m/d$, so $\eta_0 = 2d/m$; in the theorem, $\mu_1 = 1$. With $m = d = 10$, as in Z, Fig. 9b, it is 2.
# :::
#
# :::{exercise}
# Show that $\eta_0 \approx 4d/m$ for many teachers. How many rows can a network with $M = 6$, $d = 8$ keep in use at the step
# size ½?
# :::
#
# :::{solution}
# $\frac1M A_M$ tends to a triangular matrix with the eigenvalues $\frac1\pi$ and $\frac12$. So $\mu_M/M \to \frac12$, and
# $\eta_0 = 2dM/(m\mu_M) \to 4d/m$. The second question asks for $k_{\max}(\frac12) = 2dM/(\frac12 \mu_M)$, which is 46:
#
#     print(math.floor(2 / 0.5 / (even_sharpness(6, 6, 8) / 6)))
# :::
#
# :::{try}
# A finer grid of step sizes with more networks, which keeps the verdicts of this page. Look at the first picture: the jump is seen more sharply.
#
#     make chapter NAME=step_size ARGS="-p rates 31 -p networks 100"
# :::
#
# ### Versions and time

# %% Versions and time
print(chapter.end())
