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
# # The step size and zero neurons
#
# Beyond a certain learning rate, Zhan, Li and Wu {cite:p}`zhan2025` find, gradient descent returns sparse solutions: whole rows
# of $W$ are zero, and the PQ index jumps. They leave the reason open. Here it is: the threshold is the step size at which minima
# *without* zero rows become too sharp to be stable. Sharpness grows with the number of rows in use, and it is known in closed
# form, so the threshold can be computed; rows die until what remains is stable.

# %% tags=["parameters"]
networks: int = 40  # networks per step size
steps: int = 3000  # budget of gradient descent
rates: int = 16  # step sizes per setting
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"]
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    networks=Integer(4, 100_000),
    steps=Integer(200, 10_000_000),
    rates=Integer(8, 200),
)

# %% tags=["hide-input"]
import math

import numpy as np
import torch

from lmc_helpers import claims, figures, seeds
from lmc_helpers.teacher_student.between_minima import permuted_and_direct
from lmc_helpers.teacher_student.gradient_descent import (
    gradient_descent,
    initial_weights,
)
from lmc_helpers.teacher_student.sparsity import (
    even_sharpness,
    pq_index,
    sharpness,
    zero_rows,
)

# %% [markdown]
# ## How sharp a minimum is
#
# Gradient descent $W \leftarrow W - \eta \nabla L(W)$ with the loss (3), which has no factor ½, cannot settle at a minimum whose Hessian has an
# eigenvalue above $2/\eta$: it is linearly unstable there. At a row that is exactly zero the gradient is zero; the row is dead and
# drops out.
#
# ```{prf:theorem} Sharpness counts rows
# :label: thm-sharpness
# At a minimum with $k$ non-zero rows the largest eigenvalue of the Hessian in these rows is at least
#
# $$
# \lambda(k) = \frac{k}{M} \cdot \frac{\mu_M}{d}, \qquad \mu_M = \text{larger eigenvalue of }
# \begin{pmatrix} 1 + \frac{M - 1}{\pi} & \frac{M - 1}{2} \\ \frac12 & \frac M2 + \frac1\pi \end{pmatrix},
# $$
#
# with equality if the $k$ rows are spread evenly over the $M$ types. So every linearly stable minimum has at most
# $k_{\max}(\eta) = 2 d M / (\eta \mu_M)$ non-zero rows, and none of width $m$ is free of zero rows beyond
#
# $$
# \eta_0 = \frac{2 d M}{m\, \mu_M}.
# $$
# ```
#
# ```{prf:proof}
# By {prf:ref}`prop-cubic` the Hessian is $Z K Z^\top$, where $Z$ copies the block of a type to its rows, and $Z^\top Z = N$ is
# diagonal with the counts $n_j$. Its largest eigenvalue is $\lambda_{\max}(K^{1/2} N K^{1/2})$: convex in the counts, as a largest eigenvalue of a
# matrix that is linear in them, and invariant under permutations of the types. So its mean over all permutations of the types, at
# even counts $k/M$, is not larger than the value itself. There it is $\frac kM \lambda_{\max}(K)$. $d K$ commutes with permutations of the types; its
# top eigenvector has non-negative entries (Perron–Frobenius), so it can be taken invariant: $x_j = \alpha e_j + \beta \sum_{i \ne j, i \le M} e_i + \gamma \sum_{i > M} e_i$.
# On $(\alpha, \beta)$ it acts as the matrix above, on $\gamma$ as $\frac{M + 1}{2}$, which is smaller than $\mu_M$.
# ```
#
# ## What gradient descent does
#
# Four settings, {glue:text}`networks` networks each, at {glue:text}`rates` step sizes around $\eta_0$, {glue:text}`steps` steps
# from the paper's initialisation. A row counts as zero if its norm is below $10^{-3}$. Networks that diverge or have not
# reached a loss of $10^{-5}$ are left out.

# %% tags=["hide-input"]
PALETTE = {  # (m, M, d)
    (12, 6, 8): "blue",
    (16, 4, 8): "orange",
    (9, 3, 3): "green",
    (9, 6, 8): "purple",  # the width of the highest barrier, 1.5 M
}
SETTINGS = list(PALETTE)
MORE = 3  # times as many networks in the first setting, for its barrier
relative_rates = np.concatenate(  # in units of η₀
    [[0.2, 0.3, 0.4], np.linspace(0.5, 1.25, rates)]
)


def threshold(m: int, M: int, d: int) -> float:
    """η₀: beyond it no minimum without zero rows is stable."""
    return 2 / even_sharpness(m, M, d)


def barrier(W: torch.Tensor, arrived: torch.Tensor, M: int) -> np.ndarray:
    """Permuted barriers of pairs of networks, (networks // 2,); nan if one has not arrived."""
    n = len(W) // 2
    both = arrived[:n] & arrived[n : 2 * n]
    heights = np.full(n, math.nan)
    if both.any():
        permuted, _ = permuted_and_direct(W[:n][both], W[n : 2 * n][both], M)
        heights[both.numpy()] = permuted.numpy()
    return heights


def train(setting: tuple[int, int, int], seed: int) -> dict[str, np.ndarray]:
    """Zero rows, PQ index and η·sharpness/2, each (rates, networks), and barriers (rates, networks // 2).

    A network that has not arrived is nan.
    """
    m, M, d = setting
    n = MORE * networks if setting == SETTINGS[0] else networks
    found: dict[str, list] = {"zeros": [], "pq": [], "edge": [], "barrier": []}
    for x in relative_rates:
        rate = float(x * threshold(m, M, d))
        start = initial_weights(m, d, n, seed)
        done = gradient_descent(start, M, rate, steps, tol=0.0)
        arrived = ~done.diverged & (done.loss < 1e-5)
        W = done.W[arrived]
        row = {name: np.full(n, math.nan) for name in ("zeros", "pq", "edge")}
        if len(W):
            types = torch.where(W.norm(dim=-1) < 1e-3, -1, W.argmax(dim=-1))
            counts = torch.stack(
                [(types == j).sum(dim=1) for j in range(M)], dim=1
            )
            row["zeros"][arrived] = zero_rows(W)
            row["pq"][arrived] = pq_index(W.flatten(start_dim=1))
            row["edge"][arrived] = rate / 2 * sharpness(counts.clamp(min=1), d)
        for name, values in row.items():
            found[name].append(values)
        found["barrier"].append(barrier(done.W, arrived, M))
    return {name: np.array(values) for name, values in found.items()}


def mean(values: np.ndarray) -> np.ndarray:
    """Mean over the networks that arrive, (rates,); nan where none does."""
    known = np.isfinite(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(count, total / np.maximum(count, 1), math.nan)


def transition(zeros: np.ndarray) -> float:
    """Step size, in units of η₀, at which half of the networks have a zero row; interpolated."""
    shares = mean(np.where(np.isnan(zeros), math.nan, zeros > 0))
    known = np.isfinite(shares)
    x, y = relative_rates[known], shares[known]
    above = np.flatnonzero(y >= 0.5)
    if not len(above) or above[0] == 0:
        raise ValueError(
            f"no transition between {x[0]:.2f} and {x[-1]:.2f} η₀: shares {y}"
        )
    i = above[0]
    return float(np.interp(0.5, y[i - 1 : i + 1], x[i - 1 : i + 1]))


def jump(pq: np.ndarray) -> float:
    """Slope of the mean PQ index above the threshold over that from half of it up to it."""
    y = mean(pq)
    known = np.isfinite(y)
    below = known & (relative_rates >= 0.5) & (relative_rates < 0.95)
    above = known & (relative_rates > 1)
    before, after = (
        np.polyfit(relative_rates[side], y[side], 1)[0] for side in (below, above)
    )
    return float(after / before)


def with_error(statistic, values: np.ndarray) -> tuple[float, float]:
    """A statistic and its standard error from 500 bootstrap samples of the networks."""
    rng = seeds.numpy_generator(seed, "bootstrap")
    n = values.shape[1]
    again = [statistic(values[:, rng.integers(n, size=n)]) for _ in range(500)]
    return statistic(values), float(np.std(again))


trained = {setting: train(setting, seed) for setting in SETTINGS}

figure, axes = figures.panels(columns=3, height=3.9, squeeze=False)
for setting in SETTINGS[:3]:
    m, M, d = setting
    found, colour = trained[setting], figures.COLOURS[PALETTE[setting]]
    style = dict(color=colour, markersize=3)
    label = f"$m = {m}, M = {M}, d = {d}$"
    axes[0, 0].plot(
        relative_rates, mean(found["zeros"]), "o", label=label, **style
    )
    needed = np.maximum(0, m - m / relative_rates)
    axes[0, 0].plot(relative_rates, needed, color=colour, linewidth=1)
    axes[0, 1].plot(
        relative_rates, mean(found["edge"]), "o-", linewidth=1, **style
    )
    axes[0, 2].plot(relative_rates, mean(found["pq"]), "o-", linewidth=1, **style)
axes[0, 1].axhline(1, color="book:black", linestyle="--")
for axis, name in zip(
    axes[0],
    ("zero rows", r"$\eta \lambda_{\max} / 2$ of the rows alive", "PQ index"),
    strict=True,
):
    axis.axvline(1, color="book:grey", linestyle=":")
    axis.set(xlabel=r"step size $\eta / \eta_0$", ylabel=name)
axes[0, 0].legend(fontsize=9)
figures.show("fig_step", figure)
eta = {setting: threshold(*setting) for setting in SETTINGS}
arrived = {
    setting: np.isfinite(found["zeros"]).sum(axis=1)
    for setting, found in trained.items()
}
figures.numbers(
    networks=networks,
    rates=rates + 3,
    steps=steps,
    profile=profile,
    eta_12=eta[12, 6, 8],
    eta_16=eta[16, 4, 8],
    eta_9=eta[9, 3, 3],
    half_12=2 * eta[12, 6, 8],
    fewest=min(int(n[relative_rates < 1].min()) for n in arrived.values()),
)

# %% [markdown]
# ```{glue:figure} fig_step
# :name: fig-step
# :alt: Three panels against the step size in units of the computed threshold. Left, no zero rows below one and a growing number above, close to the predicted lines. Middle, the scaled sharpness rises to one and then falls a little. Right, the PQ index rises slowly and then steeply beyond one.
#
# Left: mean number of zero rows; lines: the least number that makes a minimum stable, $m - k_{\max}(\eta)$. Middle: sharpness of the rows alive
# in units of the stability limit. Right: PQ index of $W$. Step sizes in units of the computed threshold $\eta_0$, which is
# {glue:text}`eta_12:.3f`, {glue:text}`eta_16:.3f` and {glue:text}`eta_9:.3f` in the three settings (profile {glue:text}`profile`).
# ```
#
# Below the threshold at least {glue:text}`fewest` networks arrive at every step size. The transition sits where the theorem puts it, in all three settings:

# %% tags=["nbval-check-output"]


def farthest(found: dict[tuple, dict[str, np.ndarray]]) -> tuple[float, float]:
    """The transition farthest from 1 in the first three settings, and its error."""
    places = [with_error(transition, found[s]["zeros"]) for s in SETTINGS[:3]]
    return max(places, key=lambda place: abs(place[0] - 1))


place, error = farthest(trained)
claims.check("Z10.place", place, stderr=error, n=networks)

# %% [markdown]
# The paper's example of the threshold is a learning rate of 2, without the sizes $m$, $M$, $d$. At $m = 12$, $M = 6$, $d = 8$ (the
# paper's $M$ and $d$ of Fig. 2, and $m = 2M$) the transition is at

# %% tags=["nbval-check-output"]
place, error = with_error(transition, trained[12, 6, 8]["zeros"])
scale = eta[12, 6, 8]
claims.check("Z10.two", scale * place, stderr=scale * error, n=networks)

# %% [markdown]
# in the convention of eq. (3). With the loss halved, as is common, all thresholds double, here to
# {glue:text}`half_12:.2f`. Last, the jump of the PQ index: its slope in $\eta$ above the threshold, over that below.

# %% tags=["nbval-check-output"]
jumps = [with_error(jump, trained[setting]["pq"]) for setting in SETTINGS[:3]]
value, error = min(jumps)
claims.check("Z10.jump", value, stderr=error, n=networks)

# %% [markdown]
# ## The barrier
#
# Figure 13 of the paper shows the permuted barrier between networks against the learning rate, up and then down, in a setting that is not stated. Here
# are four, the three above and $m = 9$, $M = 6$, where the barrier is largest ([](17_trained_minima.ipynb)).

# %% tags=["hide-input"]
figure, axes = figures.panels(height=4.4, squeeze=False)
axis = axes[0, 0]


def barrier_curve(found: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """Step sizes with at least 3 pairs, their mean barriers and standard errors."""
    heights = found["barrier"]
    n = np.isfinite(heights).sum(axis=1)
    kept = n >= 3
    error = np.nanstd(heights[kept], axis=1, ddof=1) / np.sqrt(n[kept])
    return relative_rates[kept], mean(heights[kept]), error


for setting, colour in PALETTE.items():
    m, M, d = setting
    style = dict(color=figures.COLOURS[colour], fmt="o-", linewidth=1.2)
    label = f"$m = {m}, M = {M}, d = {d}$"
    figures.band(axis, *barrier_curve(trained[setting]), label=label, **style)
axis.axvline(1, color="book:grey", linestyle=":")
axis.set(
    yscale="log",
    xlabel=r"step size $\eta / \eta_0$",
    ylabel="mean barrier after Algorithm 1",
)
figure.legend(loc="outside lower center", ncols=2)
figures.show("fig_rate_barrier", figure)

# %% [markdown]
# ```{glue:figure} fig_rate_barrier
# :name: fig-rate-barrier
# :alt: Mean permuted barrier against the step size in units of the threshold, on a logarithmic axis, for four settings.
#
# The paper's Fig. 13: permuted barrier of trained networks against the step size; pairs of {glue:text}`networks` networks, three times as many in the first setting, bars: ±3.29 standard
# errors (profile {glue:text}`profile`).
# ```


# %% tags=["nbval-check-output"]
def slope(heights: np.ndarray) -> float:
    """Slope of ln(mean barrier) in η/η₀ from 0.2 to 0.9."""
    side = relative_rates < 0.91
    heights = np.maximum(heights, 1e-12)  # rounding; a small sample can be all 0
    return float(
        np.polyfit(relative_rates[side], np.log(mean(heights))[side], 1)[0]
    )


def drop(heights: np.ndarray) -> float:
    """Mean barrier of all pairs beyond the threshold over that from half of it up to 0.9 of it."""
    below = (relative_rates >= 0.5) & (relative_rates <= 0.9)
    above = relative_rates > 1
    return float(np.nanmean(heights[above]) / np.nanmean(heights[below]))


def mean_slope(found: dict) -> tuple[float, float]:
    """Mean of the slopes of the four settings, and its standard error."""
    slopes = [with_error(slope, found[s]["barrier"]) for s in SETTINGS]
    value, error = np.mean(slopes, axis=0)[0], np.linalg.norm(slopes, axis=0)[1]
    return float(value), float(error / len(slopes))


value, error = mean_slope(trained)
claims.check(
    "Z17.up",
    value,
    stderr=error,
    n=(MORE + 3) * networks // 2,
    again=lambda: mean_slope({s: train(s, seed + 1) for s in SETTINGS}),
)

# %% tags=["nbval-check-output"]
value, error = with_error(drop, trained[12, 6, 8]["barrier"])
claims.check(
    "Z17.down",
    value,
    stderr=error,
    n=MORE * networks // 2,
    again=lambda: with_error(drop, train((12, 6, 8), seed + 1)["barrier"]),
)

# %% tags=["hide-input"]
figures.numbers(mean_slope="{:.2f} ± {:.2f}".format(*mean_slope(trained)))
for m, M, d in SETTINGS:
    heights = trained[m, M, d]["barrier"]
    figures.numbers(
        **{
            f"{statistic.__name__}_{m}_{M}": "{:.2f} ± {:.2f}".format(
                *with_error(statistic, heights)
            )
            for statistic in (slope, drop)
        }
    )

# %% [markdown]
# In the four settings (± standard error, by resampling the pairs, which start from the same weights at every step size):
#
# | $m$, $M$, $d$ | slope of $\ln$ barrier in $\eta/\eta_0$ up to 0.9 | barrier beyond the threshold / below |
# | --- | --- | --- |
# | 12, 6, 8 | {glue:text}`slope_12_6` | {glue:text}`drop_12_6` |
# | 16, 4, 8 | {glue:text}`slope_16_4` | {glue:text}`drop_16_4` |
# | 9, 3, 3 | {glue:text}`slope_9_3` | {glue:text}`drop_9_3` |
# | 9, 6, 8 | {glue:text}`slope_9_6` | {glue:text}`drop_9_6` |
#
# The barrier falls at the threshold, where rows begin to die: pairs of zero rows match. Below it the barrier is nearly flat, with a mean slope of {glue:text}`mean_slope`; whether the rise that
# the caption of Fig. 13 speaks of can be excluded takes the pairs of the `paper` profile, whose result stands on the scoreboard.
#
# ## What we found that the paper does not say
#
# - The threshold is the edge of stability of minima without zero rows, $\eta_0 = 2dM/(m\mu_M)$ ({prf:ref}`thm-sharpness`). It is
#   inversely proportional to the width: a fixed learning rate becomes "large" as the network grows.
# - Beyond it gradient descent does not have to diverge. It loses rows, somewhat more than stability asks for, so that
#   $\eta\lambda_{\max}/2$ stays below 1.
# - Below it the sharpness is that of evenly spread rows: the type counts of these networks are far more regular than
#   multinomial ones. [The next chapter](17_trained_minima.ipynb) measures that.
# - Why unstable rows die, rather than the descent diverging, is not proven here; further up it does diverge.
#
# ```{admonition} Try it
# :class: tip
# A finer grid of step sizes:
#
#     make chapter NAME=step_size ARGS="-p rates 31 -p networks 100"
# ```

# %% tags=["hide-input"]
print(chapter.end())
