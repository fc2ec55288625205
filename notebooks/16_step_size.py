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
seed: int = 1  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"]
from lmc_helpers import chapter
from lmc_helpers.parameters import Choice, Integer

chapter.begin(
    globals(),
    networks=Integer(4, 100_000),
    steps=Integer(200, 10_000_000),
    rates=Integer(8, 200),
    seed=Integer(0, 2**32 - 2),
    profile=Choice(("smoke", "laptop", "paper", "custom")),
)

# %% tags=["hide-input"]
import math

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers.gradient_descent import gradient_descent, initial_weights
from lmc_helpers.sparsity import even_sharpness, pq_index, sharpness, zero_rows

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
# Three settings, {glue:text}`networks` networks each, at {glue:text}`rates` step sizes around $\eta_0$, {glue:text}`steps` steps
# from the paper's initialisation. A row counts as zero if its norm is below $10^{-3}$. Networks that diverge or have not
# reached a loss of $10^{-5}$ are left out.

# %% tags=["hide-input"]
SETTINGS = {
    (12, 6, 8): "blue",
    (16, 4, 8): "orange",
    (9, 3, 3): "green",
}  # (m, M, d)
relative_rates = np.linspace(0.5, 1.25, rates)  # in units of η₀


def threshold(m: int, M: int, d: int) -> float:
    """η₀: beyond it no minimum without zero rows is stable."""
    return 2 / even_sharpness(m, M, d)


def train(setting: tuple[int, int, int], seed: int) -> dict[str, np.ndarray]:
    """Zero rows, PQ index and η·sharpness/2 of the networks that arrive, per step size."""
    m, M, d = setting
    found: dict[str, list] = {
        "zeros": [],
        "sparse": [],
        "pq": [],
        "edge": [],
        "arrived": [],
    }
    for x in relative_rates:
        rate = float(x * threshold(m, M, d))
        done = gradient_descent(
            initial_weights(m, d, networks, seed), M, rate, steps, tol=0.0
        )
        W = done.W[~done.diverged & (done.loss < 1e-5)]
        found["arrived"].append(len(W))
        dead = zero_rows(W)
        types = torch.where(W.norm(dim=-1) < 1e-3, -1, W.argmax(dim=-1))
        counts = torch.stack([(types == j).sum(dim=1) for j in range(M)], dim=1)
        found["zeros"].append(dead.double().mean().item() if len(W) else math.nan)
        found["sparse"].append(
            (dead > 0).double().mean().item() if len(W) else math.nan
        )
        found["pq"].append(
            pq_index(W.flatten(start_dim=1)).mean().item() if len(W) else math.nan
        )
        sharp = (
            sharpness(counts.clamp(min=1), d)
            if len(W)
            else torch.tensor([math.nan])
        )
        found["edge"].append(rate / 2 * sharp.mean().item())
    return {name: np.array(values) for name, values in found.items()}


def transition(shares: np.ndarray) -> float:
    """Step size, in units of η₀, at which half of the networks have a zero row; interpolated."""
    known = np.isfinite(shares)
    x, y = relative_rates[known], shares[known]
    above = np.flatnonzero(y >= 0.5)
    if not len(above) or above[0] == 0:
        raise ValueError(
            f"no transition between {x[0]:.2f} and {x[-1]:.2f} η₀: shares {y}"
        )
    i = above[0]
    return float(np.interp(0.5, y[i - 1 : i + 1], x[i - 1 : i + 1]))


trained = {setting: train(setting, seed) for setting in SETTINGS}

figure, axes = figures.panels(columns=3, width=12, height=3.9)
for (setting, found), colour in zip(
    trained.items(), SETTINGS.values(), strict=True
):
    m, M, d = setting
    style = dict(color=figures.COLOURS[colour], markersize=3)
    label = f"$m = {m}, M = {M}, d = {d}$"
    axes[0, 0].plot(relative_rates, found["zeros"], "o", label=label, **style)
    needed = np.maximum(0, m - m / relative_rates)
    axes[0, 0].plot(
        relative_rates, needed, color=figures.COLOURS[colour], linewidth=1
    )
    axes[0, 1].plot(relative_rates, found["edge"], "o-", linewidth=1, **style)
    axes[0, 2].plot(relative_rates, found["pq"], "o-", linewidth=1, **style)
axes[0, 1].axhline(1, color=figures.COLOURS["black"], linestyle="--")
for axis, name in zip(
    axes[0],
    ("zero rows", r"$\eta \lambda_{\max} / 2$ of the rows alive", "PQ index"),
    strict=True,
):
    axis.axvline(1, color=figures.COLOURS["grey"], linestyle=":")
    axis.set(xlabel=r"step size $\eta / \eta_0$", ylabel=name)
axes[0, 0].legend(fontsize=9)
figures.show("fig_step", figure)
eta = {setting: threshold(*setting) for setting in SETTINGS}
figures.numbers(
    networks=networks,
    rates=rates,
    steps=steps,
    profile=profile,
    eta_12=eta[12, 6, 8],
    eta_16=eta[16, 4, 8],
    eta_9=eta[9, 3, 3],
    half_12=2 * eta[12, 6, 8],
    fewest=min(
        int(found["arrived"][relative_rates < 1].min())
        for found in trained.values()
    ),
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
places = [transition(found["sparse"]) for found in trained.values()]
farthest = max(places, key=lambda x: abs(x - 1))
claims.check("Z10.place", farthest, n=networks)

# %% [markdown]
# The paper's example of the threshold is a learning rate of 2, without the sizes $m$, $M$, $d$. At $m = 12$, $M = 6$, $d = 8$ (the
# paper's $M$ and $d$ of Fig. 2, and $m = 2M$) the transition is at

# %% tags=["nbval-check-output"]
claims.check("Z10.two", places[0] * eta[12, 6, 8], n=networks)

# %% [markdown]
# in the convention of eq. (3). With the loss halved, as is common, all thresholds double, here to
# {glue:text}`half_12:.2f`. Last, the jump of the PQ index: its slope in $\eta$ above the threshold, over that below.

# %% tags=["nbval-check-output"]
jumps = []
for found in trained.values():
    known = np.isfinite(found["pq"])
    below, above = known & (relative_rates < 0.95), known & (relative_rates > 1)
    before = np.polyfit(relative_rates[below], found["pq"][below], 1)[0]
    after = np.polyfit(relative_rates[above], found["pq"][above], 1)[0]
    jumps.append(after / before)
claims.check("Z10.jump", float(min(jumps)), n=networks)

# %% [markdown]
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
