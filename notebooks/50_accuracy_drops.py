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
# # Drops of the accuracy on Gaussian mixtures
#
# Halfway between two networks that Bürgin, Herbst, Lin and Jegelka {cite:p}`buergin2026` train on Gaussian mixtures, with the same fixed weights, the training accuracy is lower by 46.4, 15.7 and 6.1 percentage points for $k = 2$, 8 and 32 intrinsic dimensions (section 6, Q3; $\sigma_F = 1$). The drops depend on
# numbers that the paper does not state. This chapter shows one choice of them that brings the printed values within reach, and how far each of them moves the drops. Data, networks and their swap costs are those of [the chapter on Gaussian mixtures](44_gaussian_mixture.ipynb).

# %% tags=["parameters", "hide-input"] mystnb={"code_prompt_show": "Parameters"}
clusters: int = 18  # independent pairs of networks with few fixed entries
table_clusters: int = 3  # the same for the table of settings
samples: int = 1400  # training samples of each data set
epochs: int = 15  # passes through them
seed: int = 7029  # seed of every random number
precision: str = (
    "float32"  # of the training; float64 where rounding must not show
)
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Check the parameters"}
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Integer

chapter.begin(
    globals(),
    clusters=Integer(2, 1000),
    table_clusters=Integer(2, 1000),
    samples=Integer(200, 1_000_000),
    epochs=Integer(1, 10_000),
    precision=Choice(("float32", "float64")),
)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports"}
from functools import partial

import torch

from lmc_helpers import claims, figures
from lmc_helpers.error_bars import over_clusters
from lmc_helpers.experiments import mixture_pairs
from lmc_helpers.experiments.mixture_pairs import Setting
from lmc_helpers.networks.lines import along_lines

DIMENSIONS = (2, 8, 32)
PRINTED = {2: 46.4, 8: 15.7, 32: 6.1}  # percentage points
train_pairs = partial(mixture_pairs.train_pairs, dtype=getattr(torch, precision))

# %% [markdown]
# ## A setting within reach
#
# The drop is the mean training accuracy of the two ends less that of the middle, without alignment. The ends cannot do better, on new data, than the most likely class given $x$. If the middle is no worse than chance, a drop of 46.4 points needs
# ends above 66.4 %.
#
# In the *reference setting* of [the chapter on Gaussian mixtures](44_gaussian_mixture.ipynb) (layer norm, the shares of App. F.1 as numbers of fixed entries, normal scales $s_l$, $\sigma_{\mathrm{sep}} = 0.3$) the drops fall short of the printed values at $k = 2$ and $k = 8$; its table shows them, and those at
# $\sigma_F = 0$. Another choice of what is not stated brings them within reach: four fixed entries in every row, batch norm, and for $k = 2$ *thin* noise, $s = (0.05, 1.39)$, the scales that the default seed of the published code gives.

# %%
THIN = (0.05, 1.39)
few = train_pairs(
    [
        Setting(k, fixed=(4,) * 4, scales=THIN if k == 2 else None)
        for k in DIMENSIONS
    ],
    clusters,
    seed,
    samples=samples,
    epochs=epochs,
    norm="batch",
)

# %%
lost = {}
for k, pairs in zip(DIMENSIONS, few, strict=True):
    a, b = pairs.ends()  # ordinary networks, with F + D ⊙ W in the place of W
    accuracy = along_lines(a, b, pairs.x, pairs.y, (0, 0.5, 1)).accuracy
    ends = accuracy[:, [0, 2]].mean(dim=1)  # (clusters,)
    lost[k] = 100 * (ends - accuracy[:, 1])
    print(f"k = {k:2}: a drop of {lost[k].mean():.1f}, printed {PRINTED[k]}")

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
for k, pairs in zip(DIMENSIONS, few, strict=True):
    gain, error = over_clusters(lost[k] - pairs.drops(pairs.aligned()))
    found = {
        "gain": f"{gain:+.1f} ± {3.29 * error:.1f}",
        "drop": lost[k].mean().item(),
        "spread": lost[k].std().item(),
        "end": 100 * pairs.accuracies()[:, [0, 2]].mean().item(),
        "ceiling": pairs.ceiling().mean().item(),
    }
    figures.numbers(**{f"{name}_{k}": value for name, value in found.items()})

# %% [markdown]
# | percentage points | $k = 2$ | $k = 8$ | $k = 32$ |
# |---|---|---|---|
# | drop printed | 46.4 | 15.7 | 6.1 |
# | drop here, four fixed entries, batch norm, thin noise | {glue:text}`drop_2:.1f` | {glue:text}`drop_8:.1f` | {glue:text}`drop_32:.1f` |
# | its standard deviation between clusters | {glue:text}`spread_2:.1f` | {glue:text}`spread_8:.1f` | {glue:text}`spread_32:.1f` |
# | accuracy of the ends | {glue:text}`end_2:.1f` | {glue:text}`end_8:.1f` | {glue:text}`end_32:.1f` |
# | accuracy of the most likely class | {glue:text}`ceiling_2:.1f` | {glue:text}`ceiling_8:.1f` | {glue:text}`ceiling_32:.1f` |
# | alignment lowers the drop by | {glue:text}`gain_2` | {glue:text}`gain_8` | {glue:text}`gain_32` |
#
# (Alignment with ± 3.29 standard errors over {glue:text}`clusters` clusters; profile {glue:text}`profile`.) The tolerances below are three standard deviations between clusters, since the printed values are means over two pairs, which may well share one structure.

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I12.drop_2"}
value, error = over_clusters(lost[2])
claims.check("I12.drop_2", value, stderr=error, n=clusters)

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I12.drop_8"}
value, error = over_clusters(lost[8])
claims.check("I12.drop_8", value, stderr=error, n=clusters)

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I12.drop_32"}
value, error = over_clusters(lost[32])
claims.check("I12.drop_32", value, stderr=error, n=clusters)

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I12.order_low"}
value, error = over_clusters(lost[2] - lost[8])
claims.check("I12.order_low", value, stderr=error, n=clusters)

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I12.order_high"}
value, error = over_clusters(lost[8] - lost[32])
claims.check("I12.order_high", value, stderr=error, n=clusters)

# %% [markdown]
# ## What the drops depend on
#
# One factor at a time, with fewer clusters than above (profile {glue:text}`profile`: {glue:text}`samples` samples, {glue:text}`table_clusters` pairs each), always $\sigma_F = 1$.

# %%
FACTORS = {
    "reference": {},
    r"$\sigma_{\mathrm{sep}} = 0$": {"separation": 0.0},
    r"$\sigma_{\mathrm{sep}} = 1$": {"separation": 1.0},
    r"$\sigma_{\mathrm{sep}} = 3$": {"separation": 3.0},
    "equal scales $s_l = 1$": {"scales": 1.0},
    "thin noise ($k = 2$)": {"scales": THIN},
    "2 fixed entries a row": {"fixed": (2,) * 4},
    "half of the entries fixed": {"fixed": (64, 32, 32, 32)},
    "uniform initial weights": {"initial": "uniform"},
}
OTHERS = {  # trained apart: what all networks of an ensemble share
    "no norm": {"norm": "none"},
    "batch norm": {"norm": "batch"},
    "twice the epochs": {"epochs": 2 * epochs},
}


# %% tags=["hide-input"] mystnb={"code_prompt_show": "Train the networks"}
def variant(k: int, change: dict) -> Setting | None:
    """The reference setting with one change, None where it says nothing."""
    change = dict(change)
    if change.get("scales") == 1.0:
        change["scales"] = (1.0,) * k
    elif "scales" in change and k != 2:
        return None
    return Setting(k, **change)


table: dict[tuple[str, int], torch.Tensor] = {}
cells = {
    (name, k): variant(k, change)
    for name, change in FACTORS.items()
    for k in DIMENSIONS
}
cells = {key: value for key, value in cells.items() if value}
budget = {"samples": samples, "epochs": epochs}
found = train_pairs(cells.values(), table_clusters, seed, **budget)
for key, pairs in zip(cells, found, strict=True):
    table[key] = pairs.drops()
for name, change in OTHERS.items():
    base = [Setting(k) for k in DIMENSIONS]
    found = train_pairs(base, table_clusters, seed, **(budget | change))
    for k, pairs in zip(DIMENSIONS, found, strict=True):
        table[name, k] = pairs.drops()
TOGETHER = "4 fixed, batch norm, thin"
table |= {(TOGETHER, k): lost[k] for k in DIMENSIONS}

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot the drops"}
figure, axes = figures.panels(3, height=5.6, sharey=True)
names = [*FACTORS, *OTHERS, TOGETHER]
for axis, k, colour in zip(axes, DIMENSIONS, ("C0", "C1", "C2"), strict=True):
    for place, name in enumerate(names):
        if (name, k) in table:
            drops = table[name, k]
            grey = {"color": "book:grey", "markersize": 4}
            axis.plot(drops, [place] * len(drops), ".", **grey)
            axis.plot(drops.mean(), place, "o", color=colour, markersize=7)
    axis.axvline(PRINTED[k], linestyle="--", color="book:black")
    axis.set(title=f"$k = {k}$", xlabel="drop (points)")
axes[0].set_yticks(range(len(names)), names)
axes[0].invert_yaxis()
figures.show("fig_mixture_drops", figure)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
for k in DIMENSIONS:
    drops = {name: x for (name, where), x in table.items() if where == k}
    means = {name: x.mean().item() for name, x in drops.items()}
    found = {
        "most": max(means.values()),
        "pair": max(x.max().item() for x in drops.values()),
        "two": means["2 fixed entries a row"],
        "half": means["half of the entries fixed"],
        "far": means[r"$\sigma_{\mathrm{sep}} = 3$"],
    }
    figures.numbers(**{f"{name}_{k}": value for name, value in found.items()})
figures.numbers(
    profile=profile,
    clusters=clusters,
    samples=samples,
    table_clusters=table_clusters,
    thin=table["thin noise ($k = 2$)", 2].mean().item(),
)

# %% [markdown]
# ```{glue:figure} fig_mixture_drops
# :name: fig-mixture-drops
# :alt: Drops of the accuracy for three intrinsic dimensions and thirteen settings. The number of fixed entries and the separation of the classes move them most; the printed values are dashed lines.
#
# Drops of single pairs (dots) and their means (circles) when one factor differs from the reference setting; last row: the setting of the claims above. Dashed: the printed values, means of two pairs (profile {glue:text}`profile`).
# ```
#
# The largest mean drops over these settings are {glue:text}`most_2:.1f`, {glue:text}`most_8:.1f` and {glue:text}`most_32:.1f` points for $k = 2$, 8 and 32, the largest of single pairs {glue:text}`pair_2:.1f`, {glue:text}`pair_8:.1f` and {glue:text}`pair_32:.1f`. With two
# fixed entries a row the means are {glue:text}`two_2:.1f`, {glue:text}`two_8:.1f` and {glue:text}`two_32:.1f`, with half of them fixed {glue:text}`half_2:.1f`, {glue:text}`half_8:.1f` and {glue:text}`half_32:.1f`; with $\sigma_{\mathrm{sep}} = 3$ they are
# {glue:text}`far_2:.1f`, {glue:text}`far_8:.1f` and {glue:text}`far_32:.1f`, and with thin noise {glue:text}`thin:.1f` for $k = 2$. So neither the values nor the order of $k = 2$ and $k = 8$ is a property of $k$ alone: for small separations the classes of
# $k = 2$ overlap so much that there is little accuracy to lose.
#
# ## What we found that the paper does not say
#
# - The drops depend on the number of fixed entries, on the separation and on the shape of the classes as much as on $k$. Some choice of these gives the printed values, within what structures differ; the choice is not stated.
# - Where few entries are fixed, so that the drop is large at $\sigma_F = 1$ too, alignment lowers it.
#
# ```{admonition} Try it
# :class: tip
# More pairs, trained for longer:
#
#     make chapter NAME=accuracy_drops ARGS="-p clusters 32 -p epochs 60"
# ```

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Versions and time"}
print(chapter.end())
