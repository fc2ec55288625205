# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Large fixed weights make swaps expensive, except on low-dimensional data
#
# *Which neurons of a trained network could exchange their functions at little cost?*
#
# With weights fixed at zero, most: **[[100 * I12.near_zero:±]] %** of swaps cost less than a tenth of the median with large fixed weights. With these a neuron has **[[I12.partners:±]]** cheap partners among 63 on two-dimensional data, and on 32-dimensional data hardly any (**[[I12.diagonal:±]]**).
#
# :::{glue:figure} fig_partners
# :alt: Cheap partners of a neuron, of 63, against the dimension of the data, 2, 8 and 32. With weights fixed at zero [[63 * I12.near_zero:.0f]] or more at each dimension. With large fixed weights after training [[I12.partners:.0f]] at 2 and [[I12.diagonal:.2f]] at 32; before training fewer, falling to none.
#
# Partners with whom a swap costs less than a tenth of the median with large fixed weights. Dots and band, with 99.9 % intervals: recorded, after 39 100 steps; thin line: this run.
# :::
#
# **How sure.** Recorded, [[n(I12.partners)]] pairs of networks ([[n(I15.scale)]] for ridge regression), in a setting from the published code. $\sigma_F$: scale of the fixed weights, 0 if they are fixed at zero; $k$: dimension of the data.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "near zero … dominate" at $\sigma_F = 0$ (Q3) | [true](#I12.near_zero) | [[100 * I12.near_zero:±]] % below a tenth of the median with large fixed weights |
# | "even negative" at $\sigma_F = 0$ (Q3) | [true](#I12.negative) | [[100 * I12.negative:±]] % below 0 |
# | "for $k = 2$, many low-cost swaps exist" (Q3) | [true](#I12.partners) | [[I12.partners:±]] of 63 partners |
# | "only the diagonal remains … for $k = 32$" (Q3) | [true](#I12.diagonal) | at most [[high(I12.diagonal):≤.3f]] partners per neuron |
# | "center-dominated regime ($\sigma_F = 1$)" (Q3): trained parts within the distance of fixed ones | [open: not stated](#I12.regime) | here [[100 * I12.regime:.0f]] % ([[100 * I12.regime:to]]) of pairs |
# | By ridge regression costs are larger, too (Figs. 13, 15) | [open](#I15.scale) | [[10 ** I15.scale:.1f]] ([[10 ** I15.scale:to]]) times; we ask for twice |
#
# **Open.** Whether the paper's networks are centre-dominated: no run can decide that; its setting could. Costs by ridge regression: forty networks, 6 core-hours. Ours: whether training keeps half of the order of the costs (230 networks, a day of one core), and whether ridge regression orders pairs alike (the same forty, at $\sigma_F = 1$; Evidence).
#
# **For the authors.** State the setting of Fig. 5: $\sigma_{\mathrm{sep}}$, $s$, $P$, fixed entries of a row, epochs, norm, layer. In Q3 $\Delta_\pi^{\mathrm{out}}$ is proportional to $\Vert\delta_\pi\Vert^2$, its minimum to $\gamma_{\mathrm{out}}^2$.

# %% Parameters tags=["parameters"]
clusters: int = 8  # independent pairs of networks at each setting
samples: int = 2000  # training samples of each data set
epochs: int = 15  # passes through them
ridge_clusters: int = 3  # networks for the comparison with ridge regression
ridge_samples: int = 1400  # training samples of their data sets
ridge_epochs: int = 10  # passes through them
ridge_pairs: int = 8  # pairs of neurons of each of their layers
ridge_neurons: int = 16  # neurons of the matrices by ridge regression
ridge_inputs: int = 200  # inputs that the regression sees
resume: bool = False  # go on from a run that was stopped (build/runs)
seed: int = 7029  # seed of every random number
precision: str = (
    "float32"  # of the training; float64 where rounding must not show
)
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Flag, Integer

chapter.begin(
    globals(),
    clusters=Integer(2, 1000),
    samples=Integer(200, 1_000_000),
    epochs=Integer(1, 10_000),
    ridge_clusters=Integer(2, 1000),
    ridge_samples=Integer(200, 1_000_000),
    ridge_epochs=Integer(1, 10_000),
    ridge_pairs=Integer(2, 32),
    ridge_neurons=Integer(2, 64),
    ridge_inputs=Integer(50, 1_000_000),
    resume=Flag(),
    precision=Choice(("float32", "float64")),
)

import math
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import torch
from scipy.stats import chi2, spearmanr

from lmc_helpers import claims, figures
from lmc_helpers._chapters.gaussian_mixture import (
    ESTIMATES,
    layer_estimates,
    ridge_matrix,
)
from lmc_helpers.error_bars import over_clusters, share
from lmc_helpers.identifiability import gaussian_mixture as mixture_pairs
from lmc_helpers.identifiability import grams, ridge_swaps, swap_costs, swap_terms
from lmc_helpers.identifiability.gaussian_mixture import (
    SCALED,
    Setting,
    first_layer_basis,
    first_layer_costs,
    hidden_layers,
    low_partners,
    what_orders,
)
from lmc_helpers.matching import match_activations

DIMENSIONS = (2, 8, 32)
m = 64  # neurons of a hidden layer
steps = epochs * math.ceil(samples / 128)
paper_steps = 100 * math.ceil(50_000 / 128)
KEPT = [e for e in (1, 2, 5, 10, 20, 50) if e < epochs]  # epochs to look at
folder = Path(f"build/runs/gaussian_mixture-{profile}-{seed}")


def train_pairs(settings, number, seed, run, **budget):
    """Train pairs; with ``resume`` their states go to a folder of their own."""
    where = folder / run if resume else None
    options = {"precision": precision, "checkpoints": where}
    return mixture_pairs.train_pairs(settings, number, seed, **options, **budget)


# %% [markdown]
# :::{need}
# You need: [](42_swap_cost.ipynb) for swap costs and $\rho$, and [](43_center_gap.ipynb) for the role of $k$. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $F$, $D$, $W$ | fixed weights, {term}`mask` and trained weights of a layer, $F + D \odot W$; rows $f_i$, $d_i$, $w_i$ |
# | $\sigma_F$ | scale of the fixed weights, 0 or 1 |
# | $k$ | dimension of the data |
# | $U$, $S_i$ | orthonormal basis of the inputs; $S_i = U^\top \operatorname{diag}(d_i)^2 U$, on average $\mu I$ |
# | $v_i = U^\top f_i$, $r_i$ | centre of neuron $i$; its trained part $U^\top (d_i \odot w_i)$ |
# | $\Delta_{(ij)}$ | cost of exchanging the functions of neurons $i$ and $j$ |
# | $\rho_{(ij)}$ | size of the trained parts of both over the distance of their centres |
#
# ## In two dimensions some centre is always near
#
# With large fixed weights a swap costs about the squared distance of two centres, which for random centres in $k$ dimensions has the law $\chi^2_k$. In two dimensions small distances are common; in 32 nearly all are about equal.

# %% Plot the idea
idea, (by_cost, by_dimension) = figures.panels(2, height=3.4)
q_axis = np.linspace(0, 2.5, 201)
for dims, colour in ((2, "book:blue"), (8, "book:orange"), (32, "book:green")):
    half_way = chi2.ppf(0.5, dims)
    heights_at = half_way * chi2.pdf(q_axis * half_way, dims)
    by_cost.plot(q_axis, heights_at, color=colour)
    place = {2: (0.14, 0.72), 8: (1.5, 0.42), 32: (1.25, 1.1)}[dims]
    by_cost.text(*place, f"$k = {dims}$", color=colour)
by_cost.axvspan(0, 0.1, color="book:grey", alpha=0.3, linewidth=0)
by_cost.set(xlabel="swap cost / median swap cost", ylabel="density")
by_cost.set_ylim(bottom=0)
k_axis = np.arange(1, 21)
below = 63 * chi2.cdf(0.1 * chi2.ppf(0.5, k_axis), k_axis)
by_dimension.plot(k_axis, below, "o-", color="book:black", markersize=4)
by_dimension.set(yscale="log", xlabel="dimension $k$", xticks=[1, 5, 10, 15, 20])
by_dimension.set_ylabel("cheap partners among 64 neurons")
figures.show("fig_cheap_partners", idea)

# %% [markdown]
# :::{glue:figure} fig_cheap_partners
# :alt: First panel, densities of the swap cost in units of its median. For k = 2 the density is highest at 0, for 8 and 32 it is a hump around 1 that leaves out the shaded costs below a tenth. Second panel, the expected number of cheap partners of a neuron falls steeply with k, from over ten at k = 1 to a few millionths at 20.
#
# First: swap costs of random centres by the law $\chi^2_k$; shaded: below a tenth of the median, *low* in this chapter. Second, on a logarithmic axis: how many of 63 other neurons a neuron can be swapped with cheaply, on average ({prf:ref}`prop-partners`).
# :::
#
# :::{prf:proposition} Cheap partners
# :label: prop-partners
# If the costs are $\mu^{-1} \lVert \delta_{(ij)} \rVert^2 = 2 \mu^{-1} \lVert v_i - v_j \rVert^2$ with centres $v_i$ that are independent and $\mathcal N(0, \sigma^2 I_k)$, the probability that a cost is below $q$ times the median cost is
# $\Phi_k(q\, \Phi_k^{-1}(\frac12))$, with the distribution function $\Phi_k$ of $\chi^2_k$; for $k = 2$ it is $1 - 2^{-q}$.
# :::
#
# :::{prf:proof}
# $\lVert v_i - v_j \rVert^2 / 2 \sigma^2$ has the law $\chi^2_k$, and $\Phi_2(t) = 1 - e^{-t/2}$.
# :::

# %%
# cheap partners of a neuron by the law χ²_k: (m − 1) Φ_k(q Φ_k⁻¹(½)), q = 1/10
law = {k: (m - 1) * chi2.cdf(0.1 * chi2.ppf(0.5, k), k) for k in DIMENSIONS}
print({k: f"{partners:.2g}" for k, partners in law.items()})

# %% [markdown]
# With $q = \frac1{10}$ a neuron among 64 has on average {glue:text}`law_2:.1f` such partners for $k = 2$, {glue:text}`law_8:.2f` for $k = 8$ and {glue:text}`law[32] * 1e10:.0f` $\cdot\, 10^{-10}$ for $k = 32$. The rows of $F$ here have few entries that are not 0, at different places, so that the law is an approximation; the networks decide.
#
# ## Trained networks show the paper's picture
#
# Bürgin, Herbst, Lin & Jegelka {cite:p}`buergin2026` (I, Fig. 5) train networks with three hidden layers of 64 neurons on mixtures of five Gaussian classes in $k$ dimensions. Much of the setting is not stated; ours takes the defaults of the [published code](https://github.com/vuenc/neuron-identifiability) (Evidence, *The data set*). The paper's sizes make {glue:text}`paper_steps` steps of training, the recorded run has as many; the networks of this run (profile {glue:text}`profile`) had **{glue:text}`steps`**.
#
# The cost of a swap is (I, (16))
#
# $$
# \begin{aligned}
# \Delta_{(ij)} = {} & \lVert v_j - v_i \rVert^2_{S_i^{-1} + S_j^{-1}} \\
# & + 2 \langle v_j - v_i, S_i^{-1} r_j - S_j^{-1} r_i \rangle \\
# & + \lVert r_j \rVert^2_{S_i^{-1} - S_j^{-1}} + \lVert r_i \rVert^2_{S_j^{-1} - S_i^{-1}} .
# \end{aligned}
# $$
#
# Written out for one pair of neurons of a trained network:

# %% Train the networks
settings = [Setting(k, sigma=sigma) for sigma in (1.0, 0.0) for k in DIMENSIONS]
budget = {"samples": samples, "epochs": epochs}
trained = train_pairs(settings, clusters, seed, "main", keep=KEPT, **budget)
runs = {(p.setting.k, p.setting.sigma): p for p in trained}

# %%
# I, (16) for neurons 0 and 1, k = 8, σ_F = 1, after training
pairs = runs[8, 1.0]
F, D, W = (part.double() for part in pairs.layer(0))  # (m, d)
U = first_layer_basis(pairs, 0)  # (d, k), 90 % of the variance
v, r = F @ U, (D * W) @ U  # centres and trained parts, (m, k)
S = grams(D, U)  # S_i = Uᵀ diag(d_i)² U, (m, k, k)
P0, P1 = torch.linalg.inv(S[:2])
shift = v[1] - v[0]
centre = shift @ (P0 + P1) @ shift
cross = 2 * shift @ (P0 @ r[1] - P1 @ r[0])
mismatch = r[1] @ (P0 - P1) @ r[1] + r[0] @ (P1 - P0) @ r[0]
print(f"Δ = {centre:.4f} + {cross:.4f} + {mismatch:.4f}")
print(f"swap_costs: {swap_costs(F, D, W, U)[0, 1]:.4f}")

# %% [markdown]
# "Low cost" and "near zero" need a scale. Here a cost is *low* if it is below a tenth of the median cost at $\sigma_F = 1$ of the same layer, masks and data; negative costs are low.


# %% Count low and negative costs
def measure(k: int, when: str | int, centred: bool = True) -> dict:
    """Statistics of the first layer's swap costs, one for each cluster."""
    high, zero = (  # (clusters, pairs) at σ_F = 1 and 0
        first_layer_costs(runs[k, sigma], when, centred) for sigma in (1.0, 0.0)
    )
    median = high.median(dim=1).values
    return {
        "partners": low_partners(high),  # of a neuron, σ_F = 1
        "near": low_partners(zero, median) / (m - 1),  # share of pairs, σ_F = 0
        "negative": (zero < 0).double().mean(dim=1),
        "least": (high / median[:, None]).amin(dim=1),
    }


after = {k: measure(k, "after") for k in DIMENSIONS}
before = {k: measure(k, "before") for k in DIMENSIONS}


# %% The least of three dimensions
def least(shares) -> tuple[float, dict]:
    """The least mean over clusters of some shares of pairs, and its error.

    Where all pairs of all clusters agree, one pair of each is a sample of its own.
    """
    value, error = min(over_clusters(values) for values in shares)
    ends = share(round(value * clusters), clusters)[1:]
    return value, {"stderr": error} if error else {"interval": ends}


# %%
value, error = least(after[k]["near"] for k in DIMENSIONS)
claims.check("I12.near_zero", value, **error, n=clusters)

value, error = least(after[k]["negative"] for k in DIMENSIONS)
claims.check("I12.negative", value, **error, n=clusters)
claims.check("I12.partners", *over_clusters(after[2]["partners"]), n=clusters)

few = after[32]["partners"]
value, error = over_clusters(few)
# no low pair in any network: as if those that may have some had one each
half = 3.29 * error if few.any() else share(0, clusters)[2] * 2 / m
interval = (max(0.0, value - half), value + half)
claims.check("I12.diagonal", value, interval=interval, n=clusters)


# %% How matrices of costs are drawn
def show_costs(name: str, rows: list, costs, label: str) -> None:
    """Matrices of costs, a row each; colours in units of the median at σ_F = 1."""
    figure, axes = figures.panels(3, len(rows), height=3.2)
    for row, (title, *which) in zip(axes, rows, strict=True):
        for axis, k in zip(row, DIMENSIONS, strict=True):
            cost, unit = costs(k, *which), costs(k, 1.0, *which[1:])
            i, j = np.triu_indices(len(unit), 1)
            cost = cost / np.median(unit[i, j])
            picture = np.sign(cost) * np.sqrt(np.abs(cost))
            style = {"cmap": "RdBu_r", "interpolation": "nearest"}
            image = axis.imshow(picture, vmin=-2, vmax=2, **style)
            axis.grid(False)
            axis.set(xticks=[], yticks=[], xlabel="neuron $j$")
            axis.set(ylabel="neuron $i$")
            axis.label_outer()
            axis.set_title(f"$k = {k}$, {title}", fontsize="medium")
    figure.colorbar(image, ax=axes, shrink=0.6, label=label, extend="both")
    figures.show(name, figure)


# %% Plot the swap costs
def matrix(k: int, sigma: float, when: str) -> np.ndarray:
    """The swap costs of cluster 0."""
    pairs = runs[k, sigma]
    return swap_costs(
        *pairs.layer(0, 0, when), first_layer_basis(pairs, 0)
    ).numpy()


show_costs(
    "fig_mixture_swaps",
    [
        (r"$\sigma_F = 0$, trained", 0.0, "after"),
        (r"$\sigma_F = 1$, before training", 1.0, "before"),
        (r"$\sigma_F = 1$, trained", 1.0, "after"),
    ],
    matrix,
    r"$\pm(|\Delta_{(ij)}|/\mathrm{median})^{1/2}$",
)
figures.numbers(
    steps=steps,
    fixed=", ".join(map(str, SCALED)),
    **{f"law_{k}": law[k] for k in DIMENSIONS},
)

# %% [markdown]
# :::{glue:figure} fig_mixture_swaps
# :alt: Nine matrices of swap costs of 64 neurons for intrinsic dimensions 2, 8 and 32, in units of the median cost with fixed weights. With weights fixed at zero nearly all entries are pale. With large fixed weights many entries are pale for dimension 2, and only the diagonal for dimension 32, before and after training.
#
# Swap costs of the first layer in one cluster of this run, signed square roots in units of the median cost at $\sigma_F = 1$ of the same $k$; low costs lie below 0.3, negative ones included. From the top: $\sigma_F = 0$ after training, $\sigma_F = 1$ before training, and after {glue:text}`steps` steps (profile {glue:text}`profile`).
# :::
#
# At $\sigma_F = 1$ the picture is there before the first step, as the fixed weights, the masks and the data make it. At $\sigma_F = 0$ random weights have costs that are small and never negative on average ({prf:ref}`prop-mean-swap`); negative ones, [[100 * I12.negative:±]] % of them after training, are fluctuations around that mean.

# %% Plot the answer
figure, axis = figures.panels(height=2.6)
record = claims.recorded
near, many, none = (
    record(f"I12.{x}") for x in ("near_zero", "partners", "diagonal")
)
start = [before[k]["partners"].mean() for k in DIMENSIONS]
axis.plot(range(3), start, "o-", color="book:grey", linewidth=1, markersize=3)
axis.text(0.4, 5, "before training", color="book:grey")
for place, some in ((0, many), (2, none)):
    x, low, high = (some[name] for name in ("value", "low", "high"))
    style = dict(color="book:blue", fmt="o", markersize=7)
    axis.errorbar([place], [x], yerr=[[x - low], [high - x]], **style)
    said = f"{x:.0f} with large fixed weights, trained" if x > 1 else f"{x:.2f}"
    axis.text(place + 0.06, x + 3 * (x < 1), said, color="book:blue", va="center")
ends = [(m - 1) * near[name] for name in ("low", "high")]
axis.fill_between([-0.2, 2.2], *ends, color="book:red", alpha=0.15, linewidth=0)
axis.plot([-0.2, 2.2], [(m - 1) * near["value"]] * 2, color="book:red")
said = f"fixed at zero, trained: {(m - 1) * near['value']:.0f} or more"
axis.text(1, 45, said, color="book:red", ha="center")
axis.set_xticks(range(3), [f"$k = {k}$" for k in DIMENSIONS])
axis.set(ylim=(0, 63), xlim=(-0.25, 2.45), xlabel="dimension of the data")
axis.set_ylabel("cheap partners of a neuron,\nof 63")
figures.show("fig_partners", figure)

# %% [markdown]
# ## Long training leaves the theorem's regime, but not the order
#
# I, Theorem 4.5 gives $\Delta_{(ij)} \approx 2 \mu^{-1} \lVert v_i - v_j \rVert^2$ for pairs with $\rho_{(ij)} \le 1$, and I, section 4.3 calls a layer *centre-dominated* if the centre term dominates I, (16).
# Before training both hold at $\sigma_F = 1$. Then $F$ stays and $W$ moves, and nothing holds large trained parts back: layer norm takes the common scale of $F + D \odot W$ away, and the decay of AdamW, $10^{-5}$ of a weight a step, needs about $10^5$ steps.

# %% What orders the costs, epoch by epoch
# rank correlations, shares of ρ ≤ 1 and of centre terms that dominate, by epoch
course = {
    k: {at: what_orders(runs[k, 1.0], at) for at in ("before", *KEPT, "after")}
    for k in DIMENSIONS
}
for k in DIMENSIONS:
    at_end = [f"{n} {x.mean():.2f}" for n, x in course[k]["after"].items()]
    print(f"k = {k:2} after {steps} steps:", ", ".join(at_end))

# %%
value, error = least(course[k]["after"]["ratio"] for k in DIMENSIONS)
claims.check("I12.regime", value, **error, n=clusters)  # no second seed
claims.check("I12.out_of_regime", value, **error, n=clusters)

value, error = least(course[k]["after"]["centres"] for k in DIMENSIONS)
claims.check("I12.centers", value, **error, n=clusters)

# %% Plot what training does to the order
figure, axes = figures.panels(3, height=2.8)
at = {"before": 0, **{e: e * steps // epochs for e in KEPT}, "after": steps}
LOOKED = (
    ("ratio", r"share of pairs with $\rho \leq 1$"),
    ("before", "rank correlation with the start"),
    ("partners", "low-cost partners"),
)
for axis, (name, label) in zip(axes, LOOKED, strict=True):
    for k, colour in zip(DIMENSIONS, ("C0", "C1", "C2"), strict=True):
        if name == "partners":
            some = [low_partners(first_layer_costs(runs[k, 1.0], e)) for e in at]
        else:
            some = [course[k][e][name] for e in at]
        where, style = list(at.values()), {"color": colour, "label": f"$k = {k}$"}
        axis.plot(where, [x.mean() for x in some], "o-", markersize=3, **style)
        ends = ([f(x.tolist()) for x in some] for f in (min, max))
        axis.fill_between(where, *ends, color=colour, alpha=0.2, linewidth=0)
    axis.set_xscale("symlog", linthresh=steps / epochs)
    axis.set(xlabel="training steps", title=label)
figures.show("fig_mixture_order", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_mixture_order
# :alt: Three panels over the number of training steps, for intrinsic dimensions 2, 8 and 32. The share of pairs with ratio at most 1 and the rank correlation with the costs before training fall, and the number of low-cost partners grows, most for dimension 2.
#
# $\sigma_F = 1$, first layer: share of the pairs that I, Theorem 4.5 is about, rank correlation of the costs with those before training, and partners at low cost, by training steps; means and ranges of {glue:text}`clusters` clusters of this run (profile {glue:text}`profile`).
# :::
#
# After 39 100 steps only [[100 * I12.regime:±]] % of the pairs still meet $\rho \le 1$ in the worst of the three dimensions, in our setting. As the paper's setting is not stated, this decides nothing about its networks. The costs still follow the distances of the centres, with a rank correlation of [[I12.centers:±]] or more.
#
# A second estimate of the costs, by ridge regression, gives medians that are [[10 ** I15.scale:to]] times as large at $\sigma_F = 1$ as at 0 for $k = 8$, in the layer where the ratio is least; six networks do not decide whether that is twice (Evidence, *Ridge regression*).
#
# ## What it means for merging networks
#
# Before training the centres and the inputs of the layer show which exchanges are cheap. After a long training the costs still follow the distances of the centres; whether half of their order is that before training is not decided ({claim}`I12.order`).
#
# If the inputs vary in few dimensions, many neurons with random centres are nearly interchangeable, whatever the scale of the fixed weights, and an alignment may have something to gain.
# If they vary in many, few are, as long as training is not so long that the trained parts outgrow the fixed ones.
#
# **Read on.** [](50_accuracy_drops.ipynb): what the same networks lose halfway between two of them, and other settings. [](54_swaps_on_images.ipynb): swap costs on MNIST. [](47_relaxed_costs.ipynb): relaxed costs.

# %% [markdown]
# ## Evidence
#
# ### The data set, and what is not said of it
#
# A sample of class $c$ is (I, (278))
#
# $$
# \begin{aligned}
# x &= P\, Q_c (\mu_c + \varepsilon), \\
# \mu_c &\sim \mathcal N(0, \sigma_{\mathrm{sep}}^2 I_k), \\
# \varepsilon &\sim \mathcal N\bigl(0, \operatorname{diag}(s_1^2, \dots, s_k^2)\bigr),
# \end{aligned}
# $$
#
# with orthogonal $Q_c$ and a $128 \times k$ matrix $P$. There are five classes and 50 000 samples, and the networks have three hidden layers of 64 neurons.
#
# Not stated are $\sigma_{\mathrm{sep}}$, $s$, the law of $P$, the number of fixed entries of $F$ in a row (the counts of I, App. F.1, 64 and in the last layer 256, are those of width 512: rows of width 64 have no
# 256 entries), the number of epochs, the batch size and the law of the initial weights; which layer I, Fig. 5 shows; and whether its networks have layer norm (I, App. F.1) or batch norm (I, App. F.7).
# The [code that the authors have published](https://github.com/vuenc/neuron-identifiability) has no settings of this experiment, but
# it has defaults: $\sigma_{\mathrm{sep}} = 0.3$, $s_l \sim \mathcal N(0, 1)$, $P$ with orthonormal columns, batches of 128, 100 epochs, $W \sim \mathcal N(0, 1/\text{inputs})$, layer norm, centred principal components; its matrices are those of the first layer. Its history points to batch norm for I, Fig. 5 ([](50_accuracy_drops.ipynb)).
#
# :::{prf:proposition} The rotation turns the noise only
# :label: prop-mixture-rotation
# If the $Q_c$ are independent of the $\mu_c$, then $(Q_c \mu_c, Q_c)_c$ has the law of $(\mu_c, Q_c)_c$. So the data have the law of $P(\mu_c + Q_c \varepsilon)$.
# :::
#
# :::{prf:proof}
# Given the $Q_c$, the vectors $Q_c \mu_c$ are independent with law $\mathcal N(0, \sigma_{\mathrm{sep}}^2 Q_c Q_c^\top) = \mathcal N(0, \sigma_{\mathrm{sep}}^2 I)$, the law of the $\mu_c$, which does not depend on $Q$.
# :::
#
# For $\sigma_{\mathrm{sep}} = 0$ the classes have one mean and differ in the orientation of their noise, if the $s_l$ differ; with equal $s_l$ they are then equal.
#
# The *reference setting* of this chapter: these defaults, with the shares of I, App. F.1 as numbers of fixed entries, {glue:text}`fixed` in the rows of the four layers.
# One structure (centres, rotations, scales, $P$, masks and $F$) is a cluster with one pair of networks, so that clusters are independent; the law of $s$ is the same for
# all $k$, and all $k$ and $\sigma_F$ use the same masks. Error bars are over clusters, with Student's quantile. Networks are trained in {glue:text}`precision`.
#
# The published code keeps a tenth of the samples for validation, `val_split` in its settings of this data set, and would make 35 200 steps. What the length of training decides stays open below the paper's length, and a claim shows what a run of that length gave, where there is one.
#
# ### Swap costs of random weights
#
# :::{prf:proposition} Mean swap cost of random weights
# :label: prop-mean-swap
# Let the $S_i$ be invertible and the entries of $W$ independent of each other, of $F$, $D$ and $U$, with mean 0 and variance $\tau^2$. Then
#
# $$
# \begin{aligned}
# \mathbb E\, \Delta_{(ij)} = {} & \lVert v_j - v_i \rVert^2_{S_i^{-1} + S_j^{-1}} \\
# & + \tau^2 \sum_l \bigl( \lambda_l + \lambda_l^{-1} - 2 \bigr) ,
# \end{aligned}
# $$
#
# where $\lambda_1, \dots, \lambda_k$ are the eigenvalues of $S_i^{-1} S_j$. Both terms are at least 0, and the second is 0 only if $S_i = S_j$.
# :::
#
# :::{prf:proof}
# $r_i = M_i w_i$ with $M_i = U^\top \operatorname{diag}(d_i)$, so $\mathbb E r_i = 0$ and $\mathbb E r_i r_i^\top = \tau^2 S_i$. The {term}`cross term` is linear in $r_i$ and $r_j$ and has mean 0. The last two terms have the mean
# $\tau^2 (\operatorname{tr} S_i^{-1} S_j - k) + \tau^2 (\operatorname{tr} S_j^{-1} S_i - k)$. The $\lambda_l$ are positive, and $\lambda + \lambda^{-1} \ge 2$ with equality at 1; $S_i^{-1} S_j$ is similar to a symmetric matrix, so all $\lambda_l = 1$ only if it is $I$.
# :::
#
# This mean against an exact one, for the layer of the written-out pair:

# %% The mean over the weights, exactly
# the mean of Δ over W with variance τ² = 1/128, neighbours (i, i + 1)
shifts, _, _ = swap_terms(F, D, 0 * F, U)  # ‖v_j − v_i‖² in S_i⁻¹ + S_j⁻¹, (m, m)
lam = torch.linalg.eigvals(torch.linalg.solve(S[:-1], S[1:])).real  # (m − 1, k)
mean = shifts.diagonal(offset=1) + (lam + 1 / lam - 2).sum(dim=1) / 128

# a swap cost is quadratic in W, without products of two neurons, so that its
# exact mean needs its values at 0 and at ± unit vectors only
at_zero = swap_costs(F, D, torch.zeros_like(F), U).diagonal(offset=1)
exact = at_zero.clone()
for unit in torch.eye(128, dtype=torch.float64):
    for W in (unit.expand(F.shape), -unit.expand(F.shape)):
        moved = swap_costs(F, D, W, U).diagonal(offset=1) - at_zero
        exact += moved / 2 / 128
mean_error = (exact / mean - 1).abs().max().item()
print(f"largest relative difference of the two means: {mean_error:.0e}")

# %% [markdown]
# For $\sigma_F = 0$ the first term vanishes and the second is of second order in $S_i - S_j$, which I, Theorem 4.4 makes small, times $\tau^2 = 1/128$: near zero costs. Negative ones are fluctuations around this mean. If $k = 1$ and $W$ is Gaussian,
# $\Delta = (r_j^2 - r_i^2)(S_i^{-1} - S_j^{-1})$ with $r_i^2 / S_i$ and $r_j^2 / S_j$ independent and of one law, so that with $\zeta = \max(S_i / S_j, S_j / S_i)$
#
# $$
# \mathbb P(\Delta_{(ij)} < 0) = 1 - \tfrac{2}{\pi} \arctan \sqrt{\zeta} ,
# $$
#
# the probability that the quotient of two independent squared normal variables exceeds $\zeta$: almost one half when $S_i \approx S_j$, however small the costs.

# %% The share of negative costs in one dimension
# k = 1 and F = 0: the share of negative costs
line = U[:, :1]
S1 = grams(D, line).flatten()
ratio = torch.maximum(S1[:-1] / S1[1:], S1[1:] / S1[:-1])  # ζ ≥ 1
formula = (1 - 2 / np.pi * ratio.sqrt().arctan()).mean().item()
draw = torch.Generator().manual_seed(seed)
negative = [
    swap_costs(0 * F, D, torch.randn(F.shape, generator=draw), line) < 0
    for _ in range(400)
]
signs = torch.stack([x.diagonal(offset=1) for x in negative])
signs = signs.double().mean().item()
print(f"share of negative costs {signs:.3f}, by the formula {formula:.3f}")

# %% [markdown]
# ### What orders the costs
#
# What moves the weights on is the gradient, which goes to 0 where the classes can be separated and need not where they overlap, as at $k = 2$.

# %%
value, error = least(course[k]["after"]["dominated"] for k in DIMENSIONS)
claims.check("I12.dominated", value, **error, n=clusters)  # no second seed

value, error = least(course[k]["after"]["before"] for k in DIMENSIONS)
claims.check("I12.order", value, **error, n=clusters)

# %% [markdown]
# Means over {glue:text}`clusters` clusters, before training → after {glue:text}`steps` steps. First what I, Fig. 5 shows, then, for $\sigma_F = 1$, what orders the costs: rank correlations of the costs, and shares of pairs.

# %% Show the means before and after training
early = {k: before[k] | course[k]["before"] for k in DIMENSIONS}
late = {k: after[k] | course[k]["after"] for k in DIMENSIONS}
ROWS = {
    "near": r"$\sigma_F = 0$: share of low costs",
    "negative": r"$\sigma_F = 0$: share of negative costs",
    "partners": r"$\sigma_F = 1$: low-cost partners",
    "least": r"$\sigma_F = 1$: least cost over the median",
    "centres": "correlation with the centres' distances",
    "before": "correlation with the costs before training",
    "ratio": r"pairs with $\rho_{(ij)} \le 1$",
    "dominated": "pairs with the centre term above the others",
}
rows = []
for name, label in ROWS.items():
    stages = [late] if name in ("before", "dominated") else [early, late]
    row = [label]
    for k in DIMENSIONS:
        digits = 1 if (name, k) == ("partners", 2) else 2
        means = [f"{at[k][name].mean():.{digits}f}" for at in stages]
        row.append(" → ".join(means))
    rows.append(row)
by_law = [f"{law[2]:.1f}", f"{law[8]:.2f}", f"{law[32]:.0e}"]
rows.insert(3, [r"by the law $\Phi_k$", *by_law])
figures.table(" | $k = 2$ | $k = 8$ | $k = 32$", rows)

# %% Numbers for the text
plain = {k: measure(k, "after", centred=False) for k in DIMENSIONS}
moved = max(
    abs((after[k][name] - plain[k][name]).mean().item())
    for k in DIMENSIONS
    for name in ("near", "negative", "partners")
)
for k in DIMENSIONS:
    sizes = {first_layer_basis(runs[k, 1.0], g).shape[1] for g in range(clusters)}
    ends = dict.fromkeys((min(sizes), max(sizes)))
    figures.numbers(**{f"dims_{k}": " to ".join(map(str, ends))})
figures.numbers(shift=moved)

# %% [markdown]
# The principal subspace of 90 % of the variance, in which costs are measured, has {glue:text}`dims_2` dimensions for $k = 2$, {glue:text}`dims_8` for $k = 8$ and {glue:text}`dims_32` for $k = 32$.
# Whether the components are centred changes none of the shares and numbers of low and negative costs by more than {glue:text}`shift:≤.2f`.
#
# ### What an alignment gains
#
# Where exchanges are cheap, networks that are trained apart may hold their neurons in different orders, and an alignment helps their average; where they are costly, the fixed weights have aligned them already. The *drop* is the mean training accuracy of the two ends less that of the middle.

# %% The drop halfway, as trained and aligned
# λ = 0, ½, 1 on the line between the two networks of each pair, k = 8, σ_F = 0
pairs = runs[8, 0.0]
accuracy = pairs.accuracies()  # (clusters, 3)
drop = 100 * ((accuracy[:, 0] + accuracy[:, 2]) / 2 - accuracy[:, 1])

# the second network's neurons in the order that activations match best
a, b = pairs.ends()
hidden = [hidden_layers(end, pairs.x) for end in (a, b)]  # layer → activations
matched = {k: match_activations(hidden[0][k], hidden[1][k]) for k in hidden[0]}
aligned = pairs.drops((a, b.permuted(matched)))
print(f"drop {drop.mean():.1f} points, after alignment {aligned.mean():.1f}")

# %% Show what the alignment gains
columns = []
for k in DIMENSIONS:
    high, zero = runs[k, 1.0], runs[k, 0.0]
    drops = [pairs.drops() for pairs in (high, zero)]
    ends = 100 * high.accuracies()[:, [0, 2]]
    means = [drops[0].mean(), drops[0].std(), drops[1].mean(), ends.mean()]
    column = [f"{x:.1f}" for x in (*means, high.ceiling().mean())]
    for drop, pairs in zip(drops, (high, zero), strict=True):
        gain, error = over_clusters(drop - pairs.drops(pairs.aligned()))
        column.append(f"{gain:+.1f} ± {3.29 * error:.1f}")
    columns.append(column)
labels = (
    *(r"drop, $\sigma_F = 1$", "its standard deviation between clusters"),
    *(r"drop, $\sigma_F = 0$", r"accuracy of the ends, $\sigma_F = 1$"),
    "accuracy of the most likely class",
    *(r"alignment lowers the drop by, $\sigma_F = 1$", r"$\sigma_F = 0$"),
)
head = "percentage points | $k = 2$ | $k = 8$ | $k = 32$"
figures.table(head, zip(labels, *columns, strict=True))

# %% [markdown]
# Alignment permutes effective weights (I, footnote 7), with the permutations that maximise the sum of the Pearson correlations of activations, layer by layer. Its benefit is shown with its 99.9 % interval over clusters.
# [The chapter on the drops](50_accuracy_drops.ipynb) compares them with the printed ones.
#
# ### Ridge regression instead of a subspace
#
# I, App. G.3 estimates {term}`realization costs <realization cost>` a second time, as {term}`relaxed costs <relaxed cost>`, I, (254),
#
# $$
# \begin{aligned}
# T_{ij} &= \inf_w \Bigl\{ \tfrac1\beta\, \mathbb E \bigl( h_j(x) - h_i(w; x) \bigr)^2 \\
# & \qquad\quad + \lVert w \rVert^2 \Bigr\} , \\
# \Delta_{(ij)} &= T_{ij} + T_{ji} - T_{ii} - T_{jj},
# \end{aligned}
# $$
#
# with $\beta = 0.01$, for networks with batch norm, whose parameters belong to the neuron and stay fixed: $h_i(w; x) = \eta(\alpha_i (f_i + d_i \odot w)^\top x + \gamma_i)$. The paper runs 15 000 steps of AdamW. Here the problem is reduced exactly.
#
# :::{prf:proposition} Reduction to k unknowns
# :label: prop-ridge-reduction
# Let $x = Uz$, and $S_i = U^\top \operatorname{diag}(d_i)^2 U = E \Lambda E^\top$ with invertible diagonal $\Lambda$. Then
#
# $$
# \begin{aligned}
# T_{ij} = \inf_c \Bigl\{ & \tfrac1\beta\, \mathbb E \bigl( h_j - h(c) \bigr)^2 \\
# & + \lVert c \rVert^2 \Bigr\}
# \end{aligned}
# $$
#
# with $h(c) = \eta\bigl( \alpha_i (v_i + E \Lambda^{1/2} c)^\top z + \gamma_i \bigr)$.
# :::
#
# :::{prf:proof}
# $f_i + d_i \odot w$ enters through $U^\top(f_i + d_i \odot w) = v_i + M_i w$ only, $M_i = U^\top \operatorname{diag}(d_i)$. Removing from $w$ its part in the kernel of $M_i$ leaves this unchanged and shortens $w$, so that one may take $w = M_i^\top q$, and as
# $M_i^\top q = 0$ for $q \perp \operatorname{range} E$, $q = E \Lambda^{-1/2} c$. Then $M_i w = S_i q = E \Lambda^{1/2} c$ and $\lVert w \rVert^2 = q^\top S_i q = \lVert c \rVert^2$.
# :::
#
# This is solved by the Levenberg–Marquardt method from two starts. Without norms, $\alpha = 1$ and $\gamma = 0$, $T_{ij}$ is at most the squared realization cost of I, (10) on the whole span, as the weight that realises $h_j$
# is one candidate. With fixed norms this fails: neuron $i$ need not be able to compute $h_j$ at all.
#
# :::{prf:example} Neurons that are interchangeable, and are not
# :label: ex-fixed-norms
# Let $F = 0$, $D = 1$, so that the layer is symmetric and all swap costs of I, (16) are 0, and let $x$ be $\pm 1$ with probability ½, $\eta = \mathrm{id}$, $\alpha = 1$, $\gamma_1 = 0$, $\gamma_2 = \gamma$. Then $T_{ij} - T_{jj} = \gamma^2 / \beta$ for $i \ne j$, and
# the swap cost of the two neurons is $2 \gamma^2 / \beta > 0$ for every $w_1$, $w_2$: the mean of the error is $\gamma_i - \gamma_j$ whatever $w$ is, and its product with $x$ has the same minimum for both neurons.
# :::
#
# So relaxed costs with fixed norms add the mismatch of the norms, over $\beta$, to what I, (16) measures. With numbers:

# %% The example of fixed norms in numbers
# the example with β = 0.01, γ = 0.7 and weights 0.3 and −2
F, D, W = torch.zeros(2, 1), torch.ones(2, 1), torch.tensor([[0.3], [-2.0]])
x, pair = torch.tensor([[1.0], [-1.0]]), torch.tensor([[0, 1]])
alpha, gamma = torch.ones(2), torch.tensor([0.0, 0.7], dtype=torch.float64)
relaxed, _ = ridge_swaps(F, D, W, x, pair, 0.01, torch.nn.Identity())
fixed, part = ridge_swaps(
    F, D, W, x, pair, 0.01, torch.nn.Identity(), alpha, gamma
)
print(f"without norms {abs(relaxed.item()):.4f}, with fixed {fixed.item():.4f}")
print(f"2 γ²/β = {2 * 0.7**2 / 0.01:.4f}, part ‖w‖² {abs(part.item()):.4f}")

# %% Train the networks and estimate their swap costs
neighbours = torch.arange(2 * ridge_pairs).view(-1, 2)  # (0, 1), (2, 3), …
LAYERS = {2: 1, 8: 3, 32: 1}  # how many layers are compared
ridge_budget = {
    "samples": ridge_samples,
    "epochs": ridge_epochs,
    "norm": "running",
}
normed = {
    (p.setting.k, p.setting.sigma): p
    for p in train_pairs(settings, ridge_clusters, seed, "ridge", **ridge_budget)
}


def estimates(normed: dict) -> dict:
    """Swap costs by (k, σ_F, layer, estimate), (clusters, pairs)."""
    return {
        (*key, layer, name): value
        for key, pairs in normed.items()
        for (layer, name), value in layer_estimates(
            pairs, neighbours, ridge_inputs, LAYERS[key[0]]
        ).items()
    }


swaps = estimates(normed)

# %% Scales and agreement of the estimates
PLACES = [(k, layer) for k in DIMENSIONS for layer in range(LAYERS[k])]


def scale(swaps: dict, name: str = ESTIMATES[2]) -> dict:
    """log10 of the ratio of median sizes, σ_F = 1 over 0, in each cluster."""
    found = {}
    for k, layer in PLACES:
        high, low = (
            swaps[k, sigma, layer, name].abs().median(dim=1).values
            for sigma in (1.0, 0.0)
        )
        found[k, layer] = (high / low).log10()
    return found


def agreement(
    swaps: dict, sigma: float, name: str = ESTIMATES[2]
) -> torch.Tensor:
    """Rank correlations with the subspace estimate, (clusters,), k = 8."""
    ranks = [
        [
            spearmanr(*both).statistic
            for both in zip(
                *(swaps[8, sigma, layer, n] for n in (ESTIMATES[0], name)),
                strict=True,
            )
        ]
        for layer in range(3)
    ]
    return torch.tensor(ranks).mean(dim=0)


# %%
ratios = scale(swaps)
value, error = min(over_clusters(ratios[8, layer]) for layer in range(3))
claims.check("I15.scale", value, stderr=error, n=ridge_clusters)

value, error = min(over_clusters(ratios[k, 0]) for k in (2, 32))
claims.check("I15.scale_first", value, stderr=error, n=ridge_clusters)

value, error = over_clusters(agreement(swaps, 1.0))
claims.check("I15.agreement", value, stderr=error, n=ridge_clusters)

value, error = over_clusters(agreement(swaps, 0.0))
claims.check("I15.agreement_zero", value, stderr=error, n=ridge_clusters)


# %% Plot the matrices by ridge regression
@cache
def by_ridge(k: int, sigma: float) -> np.ndarray:
    """Swap costs of cluster 0 by ridge regression with fixed norms."""
    return ridge_matrix(normed[k, sigma], 0, ridge_neurons, ridge_inputs).numpy()


show_costs(
    "fig_mixture_ridge_swaps",
    [(r"$\sigma_F = 0$", 0.0), (r"$\sigma_F = 1$", 1.0)],
    by_ridge,
    r"$\pm(|\Delta_{(ij)}|/\mathrm{median})^{1/2}$",
)

# %% Plot the four estimates
figure, axes = figures.panels(3, 2, height=3.2)
for row, sigma in zip(axes, (0.0, 1.0), strict=True):
    for layer, axis in enumerate(row):
        values = [swaps[8, sigma, layer, name].flatten() for name in ESTIMATES]
        boxes = axis.boxplot(
            [(v.sign() * v.abs().sqrt()).numpy() for v in values],
            widths=0.6,
            patch_artist=True,
            flierprops={"markersize": 3},
            medianprops={"color": "book:black"},
        )
        colours = ("blue", "sky", "orange", "purple")
        for box, colour in zip(boxes["boxes"], colours, strict=True):
            box.set_facecolor(f"book:{colour}")
        axis.axhline(0, color="book:black", linewidth=0.8)
        title = rf"layer {layer + 1}, $\sigma_F = {sigma:g}$"
        axis.set(xticks=[], title=title, ylabel=r"$\pm|\Delta_{(ij)}|^{1/2}$")
figure.legend(boxes["boxes"], ESTIMATES, loc="outside lower center", ncols=4)
figures.show("fig_mixture_ridge", figure)

# %% [markdown]
# :::{glue:figure} fig_mixture_ridge_swaps
# :alt: Six matrices of swap costs by ridge regression for intrinsic dimensions 2, 8 and 32, with weights fixed at zero and with large ones, in units of the median with fixed weights.
#
# As in {numref}`fig-mixture-swaps`, by ridge regression with the norms fixed (I, Fig. 15): first {glue:text}`ridge_neurons` neurons of the first layer, networks with batch norm after {glue:text}`ridge_epochs * math.ceil(ridge_samples / 128)` steps (profile {glue:text}`profile`).
# :::
#
# :::{glue:figure} fig_mixture_ridge
# :alt: Box plots of swap costs in three layers for four estimates. With weights fixed at zero the subspace estimate and ridge regression without norms are near zero and of both signs, ridge regression with fixed norms is large and positive. With large fixed weights all four are positive.
#
# Swap costs (signed square roots) of disjoint pairs of neighbours by layer (I, Fig. 13), networks with batch norm, $k = 8$: I, (16) with the principal subspace, relaxed costs without norms, with the norms fixed, and the latter's part $\lVert w \rVert^2$ (profile {glue:text}`profile`).
# :::

# %% Compare the estimates
columns = []
for name in ESTIMATES:
    below = [
        torch.stack([swaps[8, sigma, layer, name] < 0 for layer in range(3)])
        for sigma in (0.0, 1.0)
    ]
    ranks = [agreement(swaps, sigma, name) for sigma in (0.0, 1.0)]
    columns.append([f"{x.double().mean():.2f}" for x in (*below, *ranks)])
labels = (
    *(r"negative, $\sigma_F = 0$", r"negative, $\sigma_F = 1$"),
    *(
        r"rank correlation with the first column, $\sigma_F = 0$",
        r"$\sigma_F = 1$",
    ),
)
names = "subspace | ridge | ridge, norms fixed"
head = rf"$k = 8$ | {names} | its part $\lVert w \rVert^2$"
figures.table(head, zip(labels, *columns, strict=True))
scales = [scale(swaps, name) for name in ESTIMATES[:3]]
rows = []
for k, layer in PLACES:
    ratios = [float(f"{10 ** by[k, layer].mean():.2g}") for by in scales]
    rows.append([f"$k = {k}$, layer {layer + 1}", *(f"{r:g}" for r in ratios)])
figures.table(rf"median size at $\sigma_F = 1$ over that at 0 | {names}", rows)
for place, beta in enumerate((0.001, 0.1, 1.0)):
    high, low = (
        layer_estimates(normed[8, sigma], neighbours, ridge_inputs, 1, beta=beta)
        for sigma in (1.0, 0.0)
    )
    first = (0, ESTIMATES[2])
    ratio = high[first].median() / low[first].median()
    figures.numbers(**{f"beta_{place}": ratio.item()})

# %% [markdown]
# First table: means over three layers and {glue:text}`ridge_clusters` networks; the regression sees {glue:text}`ridge_inputs` inputs.
# The paper prints the figures and does not say how far the two estimates agree.
# What both are drawn for is the difference that $\sigma_F$ makes, in the second table; the claims above say what is decided of it.
#
# (Geometric means over clusters.
# In the authors' published code the batch norm of this step is a new one, with mean 0 and variance 1; that is the column without norms, up to a bias that it also trains.)
# With $\beta = 0.001$, 0.1 and 1, the other values of I, App. F.7, the ratio with fixed norms at $k = 8$ in the first layer is {glue:text}`beta_0:.1f`, {glue:text}`beta_1:.1f` and {glue:text}`beta_2:.1f`.
#
# If the norms are fixed, the ridge estimate measures how different they are, too ({prf:ref}`ex-fixed-norms`).
#
# ### Exercises
#
# :::{exercise}
# By the law of {prf:ref}`prop-partners` with 64 neurons: below which share $q$ of the median cost does a neuron have one partner on average, for $k = 2$ and for $k = 32$?
# :::
#
# :::{solution}
# $63\, \Phi_k(q\, \Phi_k^{-1}(\frac12)) = 1$. For $k = 2$ $1 - 2^{-q} = 1/63$, so $q = -\log_2(62/63) \approx 0.023$: the cheapest swap of a neuron costs about a fortieth of a typical one. For $k = 32$ it costs half of it:
#
#     print([chi2.ppf(1 / 63, k) / chi2.ppf(0.5, k) for k in (2, 32)])
# :::
#
# :::{exercise}
# Let $k = 1$, $F = 0$, $W$ Gaussian with variance $\tau^2$ and $S_i = 1.21\, S_j$. What is the mean swap cost, and with which probability is it negative? Why does the one not exclude the other?
# :::
#
# :::{solution}
# The mean is $\tau^2 (1.21 + 1/1.21 - 2) \approx 0.036\, \tau^2$ by {prf:ref}`prop-mean-swap`, and the probability $1 - \frac2\pi \arctan 1.1 \approx 0.47$.
# The cost is $(r_j^2 - r_i^2)(S_i^{-1} - S_j^{-1})$.
# As $S_i^{-1} < S_j^{-1}$, it is positive if $r_i^2 > r_j^2$; $r_i$ has the larger variance, but only a little.
# So both signs are almost equally likely, and the mean is small against the typical size.
# :::
#
# :::{exercise}
# Show that for a layer without masks ($D = 1$) and with $F = 0$ every swap cost is 0, whatever the weights are, and that this holds for the relaxed costs without norms, too.
# :::
#
# :::{solution}
# All $S_i = I$ and $v_i = 0$, so all three terms of I, (16) vanish. Without norms $h_i(w; x) = \eta(w^\top x)$ does not depend on $i$. So $T_{ij} = T_{jj}$ for all $i$ and $j$, and $T_{ij} + T_{ji} - T_{ii} - T_{jj} = 0$.
# :::
# :::{try}
# More pairs, trained for longer, the verdicts that a run of this length may judge kept; look at `I12.partners`:
#
#     make chapter NAME=gaussian_mixture ARGS="-p clusters 16 -p epochs 60 -p resume true"
# :::

# %% Versions and time
if resume:  # the run is whole: nothing to go on from
    shutil.rmtree(folder, ignore_errors=True)
print(chapter.end())
