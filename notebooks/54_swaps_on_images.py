# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
#   lmc: {runs: lmc_helpers._chapters.swaps_on_images.Parameters, networks_of: asymmetric_mlps}
# ---

# %% [markdown]
# # Large fixed weights make swaps of neurons far more expensive
#
# *What would it cost two neurons of a network trained on images to exchange their functions?*
#
# With large fixed weights a swap costs **[[10 ** I15.mnist_scale:.0f]] ([[10 ** I15.mnist_scale:to]]) times** as much, in squared trained weights, as with weights fixed at zero, by the paper's formula in the layer where the factor is least. By ridge regression it costs **[[10 ** I15.mnist_scale_ridge:.0f]] ([[10 ** I15.mnist_scale_ridge:to]]) times** as much.
#
# :::{glue:figure} fig_recorded_swaps
# :alt: Factor by which swaps cost more with large fixed weights than with weights fixed at zero, on a logarithmic axis from 1. W-MLPs by the Mahalanobis estimate [[10 ** I15.mnist_scale:.0f]], by ridge regression [[10 ** I15.mnist_scale_ridge:.0f]], from [[10 ** I15.mnist_scale_ridge:to]]; syre-MLPs by the Mahalanobis estimate [[10 ** I15.mnist_syre:.0f]].
#
# Median size of a swap's cost with large fixed weights (of size $\sigma_F = 1$; W-MLP: some weights are fixed; syre-MLP: every weight has a fixed part) over that with weights fixed at zero, least of three hidden layers, by two estimates. Recorded on MNIST; bars: 99.9 % intervals.
# :::
#
# **How sure.** MNIST, 512 units, 20 of 100 epochs; recorded, [[n(I15.mnist_scale)]] pairs of networks of each kind (ridge: [[n(I15.mnist_scale_ridge)]] others).
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | Fig. 12, {term}`Mahalanobis <Mahalanobis norm>` estimate: larger at $\sigma_F = 1$ | [true](#I15.mnist_scale) | [[10 ** I15.mnist_scale:.0f]] ([[10 ** I15.mnist_scale:to]]) times as large |
# | Fig. 12, ridge regression: larger at $\sigma_F = 1$ | [true](#I15.mnist_scale_ridge) | [[10 ** I15.mnist_scale_ridge:.0f]] ([[10 ** I15.mnist_scale_ridge:to]]) times as large |
# | For realistic dimensions only "astronomically wide" layers have close centres, and so cheap swaps (App. G.2) | [true: hardly any at 512 units](#I15.mnist_diagonal) | [[I15.mnist_diagonal:±]] cheap partners per neuron (layer 1) |
# | Without large fixed weights layers "exhibit low subspace coherence" (coherence is 1 if the subspace contains a coordinate axis; App. G.5) | [open: one seed](#I18.low) | [[I18.low:±]] of its range in layer 2 (low: up to 0.5; “false” takes a second seed) |
# | … "in particular in later layers" | [true](#I18.later) | layer 4 over layer 2: [[I18.later:±]] |
# | With them they "tend to exhibit higher subspace coherence values" (App. G.5) | [true](#I18.higher_w) | [[I18.higher_w:±]] times as high |
#
# **Open.** {term}`Coherence <coherence>` in layer 2: a second seed, 2 core-hours. Ours: whether both estimates rank pairs alike (two thousand networks); whether coherence is alike before training (a thousand untrained networks; large fixed weights: [[I18.start:.2f]] ([[I18.start:to]]) times as high).
#
# **For the authors.** No sentence to change; in App. G.3 say in words what the figures show.

# %% [markdown]
# :::{need}
# You need: [](42_swap_cost.ipynb) for swap costs, [](45_coherence.ipynb) for coherence, principal components. The networks are those of [](53_asymmetric_mlps.ipynb). {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $F$, $D$, $W$ | fixed values, {term}`mask <mask>` and trained weights; a layer applies $F + D \odot W$ (I, (2)) |
# | $\sigma_F$ | scale of the fixed values; 0 fixes weights at zero |
# | $U$, $d$, $k$ | basis of the layer's inputs in $\mathbb R^d$: the $k$ first principal directions, with 90 % of the variance |
# | $v_i$, $r_i$, $a_i$ | fixed part (*{term}`centre <centre of a neuron>`*), trained part and function of neuron $i$ on the inputs; $a_i = v_i + r_i$ |
# | $S_i$ | metric of neuron $i$, $U^\top \operatorname{diag}(d_i)^2 U$, with row $d_i$ of $D$ |
# | $T_{ij}$, $\Delta_{(ij)}$ | what the function of neuron $j$ costs neuron $i$; what their swap costs |
# | $\nu$ | coherence: the largest leverage $(UU^\top)_{\ell\ell}$ of a coordinate, between $k/d$ and 1 |
# | $e$ | place of $\nu$ in its range, $(\nu - k/d)/(1 - k/d)$; *low* up to 0.5 |

# %% Parameters tags=["parameters"]
dataset: str = "mnist"  # or digits, which stand in where MNIST is missing
width: int = 64  # units of each of three hidden layers; 512 in the paper
images: int = 2000  # training images; 54 000 in the published code
epochs: int = 12  # passes through them; 100 in the paper
stages: list = [0, 1, 3]  # epochs before the last one to look at, with 0
batch: int = 64  # not stated in the paper; that of the published code
pairs: int = 6  # pairs of networks with layer norm
looked: int = 2000  # images that subspaces are estimated on
ridge_networks: int = 6  # networks with batch norm, for ridge regression
ridge_pairs: int = 4  # pairs of neurons of each of their layers
ridge_inputs: int = 80  # inputs that the regression sees
shown: int = 32  # neurons of the matrices; 128 in the paper
repeat: bool = True  # train a second seed where a rejection has to be repeated
seed: int = 7053  # of every random number; networks are those of chapter 53
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Flag, Integer, ListOf

chapter.begin(
    globals(),
    dataset=Choice(("mnist", "digits")),
    width=Integer(16, 8192),
    images=Integer(100, 54_000),
    epochs=Integer(2, 10_000),
    stages=ListOf(Integer(0, 10_000)),
    batch=Integer(2, 54_000),
    pairs=Integer(2, 1000),
    looked=Integer(50, 54_000),
    ridge_networks=Integer(2, 1000),
    ridge_pairs=Integer(2, 4096),
    ridge_inputs=Integer(20, 54_000),
    shown=Integer(2, 8192),
    repeat=Flag(),
)

from dataclasses import replace
from functools import cache

import numpy as np
import torch
from matplotlib.patches import Patch
from scipy.stats import beta, spearmanr

from lmc_helpers import claims, figures
from lmc_helpers._chapters.swaps_on_images import (
    HIDDEN_POSITIONS,
    LAYERS,
    POSITIONS,
    Experiment,
    Parameters,
    Swaps,
    fixed_norm,
    layer_parts,
    one_metric_costs,
)
from lmc_helpers.claims.judge import Z_TWO_SIDED
from lmc_helpers.data.images import choose, load
from lmc_helpers.error_bars import extreme, jackknife, over_clusters
from lmc_helpers.identifiability import ridge_swaps, swap_costs

# %% [markdown]
# ## A swap costs more, the farther apart the fixed parts are
#
# Neuron $i$ computes a function with coefficients $a_i = v_i + r_i$, and weight decay charges for the trained part $r_i$ alone. If two neurons exchange their functions, each has to bridge the way from its own centre to the other's function.

# %% Plot two neurons and what they would pay
swap_idea, swap_panels = figures.panels(2, height=3.4)
own_ways = np.array([[0.5, 0.45], [-0.3, 0.75]])  # r_i, trained
for frame, far in zip(swap_panels, (0.0, 1.0), strict=True):
    rest = far * np.array([[-1.0, -0.4], [1.0, -0.2]])  # v_i, fixed
    goal = rest + own_ways  # a_i
    paid = 2 * (rest[0] - rest[1]) @ (goal[0] - goal[1])
    for start_of, end_of, colour, dash, tag in (
        (0, 0, "black", "-", "as they are"),
        (1, 1, "black", "-", "as they are"),
        (0, 1, "purple", "--", "exchanged"),
        (1, 0, "purple", "--", "exchanged"),
    ):
        ends_of = np.array([rest[start_of], goal[end_of]]).T
        frame.plot(*ends_of, dash, color=f"book:{colour}", label=tag)
    frame.plot(*rest.T, "s", color="book:grey", markersize=9, label="centres")
    frame.plot(*goal.T, "o", color="book:red", label="functions")
    kind_of = "far apart" if far else "at one place"
    frame.set(title=rf"centres {kind_of}: $\Delta = {abs(paid):.1f}$")
    frame.set(xlim=(-1.3, 1.3), ylim=(-0.6, 0.9), xticks=[], yticks=[])
    frame.set(aspect="equal")
figures.show("fig_swap_idea", swap_idea, legend=4)

# %% [markdown]
# :::{glue:figure} fig_swap_idea
# :alt: Two centres as squares, two functions as dots, and lines between them. In the first panel both centres are at one place and the ways to the functions are the same after an exchange. In the second the centres are far apart, and the dashed ways after an exchange are much longer than the solid ones.
#
# Two neurons with one metric. The squared lengths of the dashed ways less those of the solid ones are the cost $\Delta$ of an exchange. First panel: no fixed weights. Second: the same trained parts with fixed weights.
# :::
#
# With $T_{ij} = \lVert a_j - v_i \rVert^2_{S_i^{-1}}$ (I, (10)) a swap costs
#
# $$
# \Delta_{(ij)} = T_{ij} + T_{ji} - T_{ii} - T_{jj} ,
# $$
#
# which is I, (14) for a {term}`transposition`; I, (16) splits it into three terms. In ordinary MLPs ($F = 0$, $D = 1$) and in syre-MLPs as the published code has them ($D = 1$; the paper does not state its $\varepsilon$) all neurons have one metric:
#
# :::{prf:proposition} Swap costs with one metric
# :label: prop-one-metric
# If $D = 1$, then $\Delta_{(ij)} = 2 \langle v_i - v_j,\, a_i - a_j \rangle$ for every subspace. In particular all swap costs of an ordinary layer, $F = 0$, are 0.
# :::
#
# :::{prf:proof}
# $S_i = U^\top U = I$, so that
#
# $$
# \begin{aligned}
# \Delta_{(ij)} &= \lVert a_j - v_i \rVert^2 + \lVert a_i - v_j \rVert^2 \\
# &\quad - \lVert a_i - v_i \rVert^2 - \lVert a_j - v_j \rVert^2 \\
# &= 2 \langle a_i, v_i \rangle + 2 \langle a_j, v_j \rangle \\
# &\quad - 2 \langle a_j, v_i \rangle - 2 \langle a_i, v_j \rangle .
# \end{aligned}
# $$
#
# With $F = 0$ all $v_i$ are 0.
# :::
#
# A swap then saves weight where $v_i - v_j$ and $a_i - a_j$ make an angle of more than 90°, and costs little where one of them is short or they are nearly orthogonal. One pair of neurons, by the formula and by I, (16):

# %% The networks, which are trained on first use
name, data_says = choose((dataset, "digits"))
settings = chapter.parameters(Parameters, globals())
first = Experiment(settings, looked)

# %% What is counted, and a second seed
chapter.uses(dataset=load(name).source, images=first.runs["MLP"].data.size)
FIXED = ("W 1", "syre 1")  # with large fixed weights
FREE = ("MLP", "W 0")  # without effective symmetry breaking
if 0 not in stages:
    raise ValueError(f"stages = {stages}; allowed: epochs with 0 among them")
KEPT = [epoch for epoch in sorted(set(stages)) if epoch < epochs]
# with a second seed, trained only where a rejection has to be repeated
other = replace(settings, seed=(seed + 1) % 2**32)
second = Experiment(other, looked)
untrained = Experiment(replace(other, epochs=0, stages=[]), looked)
twice = {"of": first, "again": second if repeat else None, "n": pairs}
ridged = twice | {"n": ridge_networks}


@cache
def swaps_of(experiment: Experiment, key: str) -> Swaps:
    """Swap costs in one network of each pair of a run."""
    return Swaps(experiment, key)


# %% The subspace of the images
C = first.images.covariance  # of the images, (d, d)
variances, directions = torch.linalg.eigh(C)
share = variances.flip(0).cumsum(0) / variances.sum()
k, d = int((share < 0.9).sum()) + 1, len(C)
U = directions.flip(1)[:, :k]  # (d, k), 90 % of the variance
nu = U.square().sum(dim=1).max().item()  # the largest of (UUᵀ)_ll

# %%
# first layer of a syre-MLP: the formula and eq. (16)
syre = swaps_of(first, "syre 1")
F, D, W = layer_parts(syre.stack, 0, 0)  # (m, d), D = 1
v, a = F @ U, (F + W) @ U  # centres and functions, (m, k)
by_formula = 2 * (v[0] - v[1]) @ (a[0] - a[1])
print(f"2 ⟨v_0 − v_1, a_0 − a_1⟩ = {by_formula:.6f}")
print(f"eq. (16): {swap_costs(F, D, W, U)[0, 1]:.6f}")

# %% [markdown]
# ## With large fixed weights most swaps are expensive, without them nearly all are cheap
#
# Networks are trained as in I, App. F.1: *MLPs*, *{term}`W-MLPs <W-asymmetric>`*, whose rows have some entries fixed, at zero or with $\sigma_F = 1$, and *syre-MLPs*, where $F$ with $\sigma_F = 1$ is added to all entries. The paper has two estimates of $T_{ij}$: the *Mahalanobis estimate* above, on the subspace of 90 % of the variance, and a *ridge regression* on the outputs of neuron $j$ ($\beta = 0.01$), in networks with batch norm.

# %% Estimate the swap costs of all networks
NAMES = {
    "MLP": ("MLP", "grey"),
    "W 0": (r"W-MLP, $\sigma_F = 0$", "orange"),
    "W 1": (r"W-MLP, $\sigma_F = 1$", "blue"),
    "syre 1": (r"syre-MLP, $\sigma_F = 1$", "green"),
}


@cache
def ridge_of(experiment: Experiment, key: str) -> list:
    """Ridge swap costs and their parts ‖w‖², layer → 2 × (networks, pairs)."""
    swaps = swaps_of(experiment, f"{key}, batch norm")
    return [swaps.ridge(layer, ridge_pairs, ridge_inputs) for layer in LAYERS]


@cache
def estimated(experiment: Experiment, key: str, kind: str) -> list:
    """Swap costs, layer → (networks, pairs).

    "layer" is eq. (16) for networks with layer norm, "batch" for those with
    batch norm and the pairs of neurons of "ridge", ridge regression; "part" is
    what of the latter is ‖w‖².
    """
    if kind == "layer":
        return [swaps_of(experiment, key).costs(layer) for layer in LAYERS]
    if kind == "batch":
        swaps = swaps_of(experiment, f"{key}, batch norm")
        return [swaps.costs(layer)[:, :ridge_pairs] for layer in LAYERS]
    which = ("ridge", "part").index(kind)
    return [found[which] for found in ridge_of(experiment, key)]


def medians(experiment: Experiment, key: str, kind: str, layer: int):
    """Median sizes of the costs of each network."""
    return estimated(experiment, key, kind)[layer].abs().median(dim=1).values


def ratio(experiment: Experiment, kind: str, layer: int, key: str = "W 1"):
    """log₁₀ of the median sizes over those of σ_F = 0, mean over networks."""
    sizes = (medians(experiment, k, kind, layer) for k in (key, "W 0"))
    return over_clusters((next(sizes) / next(sizes)).log10())


def larger(experiment: Experiment, kind: str, key: str = "W 1") -> tuple:
    """That of the layer where it is least."""
    each = (ratio(experiment, kind, layer, key) for layer in LAYERS)
    return extreme(min, each)


# %% Plot the recorded factors
FACTORS = (
    ("I15.mnist_scale", "W-MLPs, Mahalanobis", "blue"),
    ("I15.mnist_scale_ridge", "W-MLPs, ridge regression", "black"),
    ("I15.mnist_syre", "syre-MLPs, Mahalanobis", "green"),
)
figure, axis = figures.panels(height=2.6)
for row, (part, label, colour) in enumerate(FACTORS):
    figures.recorded(axis, row, part, label, colour, lambda x: 10**x, digits=0)
axis.axvline(1, color="book:black", linewidth=1)
axis.set(xscale="log", xlim=(1, 2500), ylim=(-2.4, 0.85), yticks=[])
axis.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
axis.set_xlabel("times as expensive as with weights fixed at zero")
figures.show("fig_recorded_swaps", figure)

# %% [markdown]
# The figures of I, App. G.3 come without words on what they show; we read “larger” as *at least twice as large, in each of the three hidden layers*.
#
# | What is asked | Measured | We find |
# | --- | --- | --- |
# | $\sigma_F = 1$ over 0, W-MLPs, Mahalanobis (Fig. 12): at least 2 | [[10 ** I15.mnist_scale:to]] | [true](#I15.mnist_scale) |
# | the same by ridge regression: at least 2 | [[10 ** I15.mnist_scale_ridge:to]] | [true](#I15.mnist_scale_ridge) |
# | syre-MLPs, $\sigma_F = 1$, over W-MLPs, 0 (Figs. 12, 19): at least 2 | [[10 ** low(I15.mnist_syre):.0f]] to [[10 ** high(I15.mnist_syre):.0f]] | [true](#I15.mnist_syre) |
# | at $\sigma_F = 0$ "near zero and even negative" costs dominate (Fig. 17; words of Q3): half of the pairs | [[100 * I15.mnist_zero:.0f]] % of the pairs | [true](#I15.mnist_zero) |
# | at $\sigma_F = 1$ no cheap partners in layer 1 (App. G.2, Fig. 18): at most one for ten neurons | [[I15.mnist_diagonal:.0f]] | [true](#I15.mnist_diagonal) |
# | ordinary MLPs: all costs 0 (sec. 4.2, Fig. 16) | 0, to rounding | [true](#I15.symmetric) |
#
# *Cheap* is less than a tenth of the median cost at $\sigma_F = 1$. The two estimates differ by a factor of [[10 ** (I15.mnist_scale - I15.mnist_scale_ridge):.1f]]; [[n(I15.mnist_scale_ridge)]] networks of each kind, with batch norm, do not show that the two order the pairs of neurons alike ({ref}`what ridge regression sees <ridge-sees>`).


# %% Shares and partners
def off_diagonal(matrix: torch.Tensor) -> torch.Tensor:
    """Entries i < j of (…, m, m)."""
    i, j = torch.triu_indices(*matrix.shape[-2:], 1)
    return matrix[..., i, j]


def near_zero(experiment: Experiment) -> tuple[float, float, float]:
    """Share of near zero and negative costs at σ_F = 0, the least layer."""
    zero = estimated(experiment, "W 0", "layer")
    shares = [
        (zero[layer] < medians(experiment, "W 1", "layer", layer)[:, None] / 10)
        for layer in LAYERS
    ]
    found = [over_clusters(s.double()) for s in shares]
    least = 1 / (3 * shares[0].numel())  # a third of a pair
    return extreme(min, ((value, max(error, least)) for value, error in found))


def partners(experiment: Experiment, layer: int) -> tuple[float, float]:
    """Partners below a tenth of the median cost, σ_F = 1."""
    costs = off_diagonal(swaps_of(experiment, "W 1").matrices[layer])
    few = costs < 0.1 * costs.median(dim=1).values[:, None]
    value, error = over_clusters(few.double().mean(dim=1) * (width - 1))
    return value, max(error, 2 / (3 * width * pairs))  # a third of a pair


# %%
claims.check("I15.mnist_scale", lambda e: larger(e, "layer"), **twice)
claims.check("I15.mnist_scale_ridge", lambda e: larger(e, "ridge"), **ridged)
claims.check("I15.mnist_diagonal", lambda e: partners(e, 0), **twice)

# %% [markdown]
# ## Training lowers coherence, and fixed weights hold it up
#
# Masks act on coordinates, so it matters how far the subspace of a layer's inputs leans on single ones. That is its coherence $\nu$ (I, (11)): $k/d$ if it leans on all alike, 1 if it contains a coordinate axis. Where do its curves over training (I, Fig. 21) begin?
#
# :::{prf:proposition} Layer norm does not see the scale of the weights
# :label: prop-norm-scale
# In a network with layer norm (without its $\varepsilon$) and without biases, multiply the weights of each hidden map by a positive number of its own.
# No hidden representation changes, and with them no subspace and no $\nu$.
# In particular, if $D = 1$ and the entries of all $F$ and $W$ are independent, $\mathcal N(0, \sigma_F^2)$ and $\mathcal N(0, 1/d)$, the law of all hidden
# representations before training does not depend on $\sigma_F$.
# :::
#
# :::{prf:proof}
# $h \mapsto (h - \bar h)/\operatorname{sd}(h)$ is the same for $h$ and $c h$, $c > 0$, so that the first hidden representation does not change, and then the next one. $F + W$ has independent entries $\mathcal N(0, \sigma_F^2 + 1/d)$, those of $W$ times $(1 + d \sigma_F^2)^{1/2}$.
# :::
#
# So fixed weights alone do not make a syre network coherent. All kinds start high: $e =$ [[I18.start_high:.2f]] ([[I18.start_high:to]]) or more ({claim}`I18.start_high`). Training then lowers $\nu$ in networks without large fixed weights, to at most [[I18.lowered:±]] of its start ({claim}`I18.lowered`); large fixed weights keep layers near their random features, as I, section 4.5 expects.

# %% Plot the recorded ratios of coherence
RATIOS = (
    ("I18.higher_w", "W-MLPs over those without", "blue"),
    ("I18.higher_syre", "syre-MLPs over those without", "green"),
    ("I18.dimension", "the larger of both, relative to k/d", "red"),
    ("I18.lowered", "without: after training over before", "black"),
    ("I18.later", "without: inputs of layer 4 over layer 2", "black"),
)
figure, axis = figures.panels(height=3.2)
for row, (part, label, colour) in enumerate(RATIOS):
    figures.recorded(axis, row, part, label, colour)
axis.axvline(1, color="book:grey", linewidth=1, linestyle=":")
axis.set(xlim=(0, 2), ylim=(-4.5, 0.95), yticks=[], xticks=[0, 0.5, 1, 1.5, 2])
axis.set_xlabel("ratio of coherences ν (1: no difference)")
figures.show("fig_recorded_coherence", figure)

# %% [markdown]
# :::{glue:figure} fig_recorded_coherence
# :alt: Ratios of coherence, on an axis from 0 to 2. With large fixed weights over those without: W-MLPs [[I18.higher_w:±]], syre-MLPs [[I18.higher_syre:±]]; the larger of both relative to k/d [[I18.dimension:±]]. Without fixed weights: after training over before [[I18.lowered:±]], inputs of layer 4 over layer 2 [[I18.later:±]].
#
# Coherence of the inputs of layers 2 to 4, average unless it says otherwise; without: the larger of MLPs and W-MLPs with $\sigma_F = 0$. Recorded MNIST run, {glue:text}`claims.recorded("I18.later")["n"]` pairs, 20 epochs; bars: 99.9 % intervals.
# :::
#
# The paper's sentence, "variants without effective symmetry breaking … exhibit low subspace coherence, in particular in later layers, while W-asymmetric MLPs and syre-MLPs with large fixed weights both tend to exhibit higher subspace coherence values" (App. G.5), has these readings:
#
# | Reading | Measured | We find |
# | --- | --- | --- |
# | *low*: $e$ at most 0.5 in each hidden layer | [[I18.low:±]] in the inputs of layer 2 | [open](#I18.low): outside, and a second seed was not trained; this reading counts |
# | *low*: beside large fixed weights, which have a tenth more | [[I18.low_beside:±]] times | [true](#I18.low_beside), but it says the same as *higher* below and does not count |
# | *later layers*: layer 4 at most 0.9 of layer 2 | [[I18.later:±]] | [true](#I18.later) |
# | *higher*: W-MLPs, a tenth or more | [[I18.higher_w:±]] times | [true](#I18.higher_w) |
# | *higher*: syre-MLPs, a tenth or more | [[I18.higher_syre:±]] times | [true](#I18.higher_syre) |
# | *over training*: least of all epochs after the first | [[I18.training:±]] times | [true](#I18.training) |
# | "sufficiently incoherent" images (sec. 4.1): $e$ at most 0.5 | [[I18.inputs:.2f]] | [true](#I18.inputs) |
#
# In the recorded run coherence takes [[I18.low:±]] of its range in the inputs of layer 2, and is low in layer 4. With large fixed weights the dimension is higher, too: relative to $k/d$ these representations are only [[I18.dimension:±]] times as coherent as the others ({claim}`I18.dimension`). For masks, by the bound of I, Thm 4.4, $\nu$ itself counts, the paper's quantity.


# %% Lows, leads and layers
def least_low(experiment: Experiment) -> tuple[float, float, float]:
    """The largest (ν − k/d)/(1 − k/d) of a hidden place."""
    values = [experiment.by_pair(key, None, "excess") for key in FREE]
    each = [place for v in values for place in v[:, HIDDEN_POSITIONS].T]
    return extreme(max, map(over_clusters, each))


def lower_than_fixed(experiment: Experiment) -> tuple[float, float, float]:
    """ν with large fixed weights over ν without, the least of both kinds."""
    return extreme(min, (experiment.higher(key) for key in FIXED))


def later(experiment: Experiment) -> tuple[float, float, float]:
    """ν of the inputs of layer 4 over layer 2, the larger of MLP and W-MLP."""
    found = []
    for key in FREE:
        nu = experiment.by_pair(key)
        found.append(jackknife(lambda u, v: u / v, nu[:, 3], nu[:, 1]))
    return extreme(max, found)


def over_training(experiment: Experiment) -> tuple[float, float, float]:
    """The least lead in ν over epochs after the beginning."""
    epochs_after = [epoch for epoch in WHEN if epoch != 0]
    leads = (experiment.higher(k, e) for k in FIXED for e in epochs_after)
    return extreme(min, leads)


def relatively(experiment: Experiment) -> tuple[float, float, float]:
    """The larger of the two leads in ν d/k."""
    leads = (experiment.higher(key, None, "relative") for key in FIXED)
    return extreme(max, leads)


# %%
claims.check("I18.low", least_low, **twice)
claims.check("I18.later", later, **twice)
claims.check("I18.higher_w", lambda e: e.higher("W 1"), **twice)

# %% [markdown]
# ## What it means for merging networks
#
# The more an exchange costs, the more firmly neurons keep their places: with fixed weights of scale 1 it costs more than with zeros, in every layer. What the average of two such networks loses is measured in [](53_asymmetric_mlps.ipynb): nothing at $\sigma_F = 1$, and with zeros alone, where exchanges cost little, nearly as much as between ordinary networks. That costs keep them is not shown by this: where fixed weights are no larger than first random ones, swap costs predict who takes whose place in [[100 * I3.places_predicted:.0f]] of 100 comparisons (chance: 50); but they do so without weight decay, too, and random weights that cost nothing predict it as well ([](42_swap_cost.ipynb), on MNIST).
#
# **Read on.** [](53_asymmetric_mlps.ipynb): what averaging such networks costs. [](44_gaussian_mixture.ipynb): swap costs on data of a dimension that one can choose. [](56_matchers.ipynb): which matching leaves the lowest {term}`barrier`.

# %% [markdown]
# ## Evidence
#
# ### The networks of this page
#
# {glue:text}`data_says` Networks on this page (profile {glue:text}`profile`) have three hidden layers of {glue:text}`width` units and were trained for {glue:text}`epochs` epochs on {glue:text}`first.runs["MLP"].data.size` images; the paper's have 512 units and 100 epochs.
# What its figures show is judged at the printed sizes and after a fifth of the printed epochs or more, and stays open before, with the measurement of this page in the box of the claim; what only we ask is judged wherever the images are MNIST.
#
# There are {glue:text}`pairs` pairs of each kind, made as in [chapter 53](53_asymmetric_mlps.ipynb), where it is said what the paper leaves open.
# A pair shares $F$ and $D$; pairs have masks and seeds of their own, and error bars are over pairs: intervals at two-sided $10^{-3}$, for the images of this page; so are the numbers after ± in the text.
# For ridge regression I, App. F.7 trains networks with batch norm; here these are {glue:text}`ridge_networks` of each kind, with the masks and first weights of the first networks of the pairs. Their norm is fixed in the regression with the mean and variance over the images. {glue:text}`figures.left_out(map(first.result, first.runs))`

# %%
for key in first.runs:
    accuracies = first.result(key).accuracies[-1]
    print(f"{key:20} training accuracy {accuracies.mean():.3f}")

# %% [markdown]
# ### The subspace of the images, and its coherence
#
# $U$ holds the first $k$ principal directions of the inputs' covariance, as few as have 90 % of the variance.
# I, App. F.7 takes them so for {term}`realization costs <realization cost>`, on the whole data set; here they are those of the first {glue:text}`len(first.x)` images.
# I, App. G.5 does not say which subspace it takes; the [published code](https://github.com/vuenc/neuron-identifiability) takes the same one, centred, and so do we.
# The *leverage* $(UU^\top)_{\ell\ell}$ of a coordinate is how much of it lies in the subspace.
# Leverages add up to $k$, so that their largest, $\nu$, is at least $k/d$, and it is 1 if and only if a coordinate axis lies in the subspace.

# %%
print(f"images: k = {k} of d = {d}, ν = {nu:.3f}, k/d = {k / d:.3f}")

# in a uniformly random subspace leverages have the law Beta(k/2, (d − k)/2);
# median of the largest of d independent ones
random_nu = beta.ppf(0.5 ** (1 / d), k / 2, (d - k) / 2)
print(f"a random subspace of that dimension: ν ≈ {random_nu:.3f}")

# %% Plot the leverages of the pixels
lean, lean_axes = figures.panels(2, height=3.6)
pixel_side = round(d**0.5)
for frame, picture, heading in zip(
    lean_axes,
    (first.x.double().mean(dim=0), U.square().sum(dim=1)),
    ("mean image", r"leverage $(UU^\top)_{\ell\ell}$"),
    strict=True,
):
    square = picture.view(pixel_side, pixel_side)
    drawn = frame.imshow(square, cmap="viridis", interpolation="nearest")
    frame.set(xticks=[], yticks=[], title=heading)
    frame.grid(False)
    lean.colorbar(drawn, ax=frame, shrink=0.8)
figures.show("fig_leverages", lean)

# %% [markdown]
# :::{glue:figure} fig_leverages
# :alt: Two pictures of the square of pixels. First, the mean image, bright in the middle. Second, the leverages, high inside the square and near 0 at its sides, where the images hardly vary.
#
# First panel: the mean of all images. Second: how far the subspace of the images leans on each pixel; $\nu$ is the largest value (profile {glue:text}`profile`).
# :::
#
# *Low* and *high* need a scale: $\nu$ lies between $k/d$ and $1$ (I, (11)), and we call it low if it is nearer to the former, $e \le \frac12$. The paper sets its curves beside those of large fixed weights as well; that comparison is {claim}`I18.higher_w` and {claim}`I18.higher_syre`. After I, Thm 4.4 the paper expects real-world inputs and hidden representations to be sufficiently incoherent; here are the inputs.
#
# Coherence is about a subspace and the coordinates that masks act on, not about the information in the data: rotated images carry the same, and by Horn's theorem {cite:p}`horn1954` some rotation gives all coordinates the leverage $k/d$.
# The published code can make such an MNIST, of any coherence (`mnist-coherence`, since bbf0cbe of March 2026), perhaps one of the "MNIST data variants" of I, App. G.5, which does not describe them.
# Here images are as they are.

# %%
excess = (nu - k / d) / (1 - k / d)
claims.check("I18.inputs", excess, n=len(first.x))

# %% [markdown]
# ### Layers with one metric
#
# {prf:ref}`prop-one-metric` is I, (16) itself, with its term (iii) gone and (i) and (ii) added up. That the cost of a fully symmetric layer is invariant is said in I, section 4.2; the Mahalanobis estimate of I, Fig. 16 can show rounding only. The cells look at all layers with one metric.


# %% Look at all layers with one metric
def relative_sizes(key: str) -> torch.Tensor:
    """Largest ``|Δ_ij|/(T_ii + T_jj)`` of each layer of each network."""
    swaps, found = swaps_of(first, key), []
    for place, n in enumerate(swaps.networks):
        for layer in LAYERS:
            _, D, W = layer_parts(swaps.stack, n, layer)
            r = ((D * W) @ swaps.bases[place][layer]).square().sum(dim=1)
            sizes = swaps.matrices[layer][place].abs() / (r[:, None] + r)
            found.append(off_diagonal(sizes).max())
    return torch.stack(found)


misses, of_centres = [], []
for place, n in enumerate(syre.networks):
    for layer in LAYERS:
        F, _, W = layer_parts(syre.stack, n, layer)
        U, costs = syre.bases[place][layer], syre.matrices[layer][place]
        for weights, into in ((W, misses), (0 * W, of_centres)):
            miss = one_metric_costs(F, weights, U) - costs
            into.append((miss.abs().max() / costs.abs().max()).item())

# %%
claims.check(
    "I15.symmetric",
    relative_sizes("MLP").tolist(),
    rival=relative_sizes("W 0").min().item(),
)

claims.check("I15.one_metric", misses, rival=min(of_centres))

# %% [markdown]
# ### Swap costs, measured
#
# I, Fig. 12 has box plots of $\pm|\Delta_{(ij)}|^{1/2}$ for disjoint neighbours $(i, j)$, by architecture and layer: once by I, (16), the *Mahalanobis estimate*, and once by ridge regression on the outputs $h_j(x)$ (I, (254), $\beta = 0.01$) in networks with batch norm:
#
# $$
# \begin{aligned}
# T_{ij} &= \inf_w \bigl\{ \tfrac1\beta\, \mathbb E (h_j - g_i)^2 + \lVert w \rVert^2 \bigr\} , \\
# g_i &= \eta \bigl( \alpha_i (f_i + d_i \odot w)^\top x + \gamma_i \bigr) .
# \end{aligned}
# $$
#
# $\eta$ is GELU, and $\alpha_i$, $\gamma_i$ are the norm of neuron $i$, fixed at its mean and variance over the inputs.
# The paper takes 15 000 steps of AdamW; we solve the exactly reduced problem of {prf:ref}`prop-ridge-reduction`.
# It is not convex; each $T_{ij}$ is the better of two {term}`minima <minimum>`.
# Both estimates for one pair of neurons, and the part of the latter that is $\lVert w \rVert^2$:

# %%
# neurons 0 and 1 of the second layer, W-MLP with σ_F = 1: both estimates
swaps = swaps_of(first, "W 1, batch norm")
parts, inputs = layer_parts(swaps.stack, 0, 1), swaps.moments[0][1]
pair = torch.tensor([[0, 1]])
alpha, gamma = fixed_norm(swaps.stack, 0, 1, inputs)  # α s + γ
subspace = swap_costs(*parts, inputs.basis)[0, 1]
record = {}
swaps.stack.ordinary([0]).forward(first.x, record)
h, gelu = record["0"][0, :ridge_inputs], torch.nn.functional.gelu
F, D, W, alpha, gamma = (t[:2] for t in (*parts, alpha, gamma))
ridge, part = ridge_swaps(F, D, W, h, pair, 0.01, gelu, alpha, gamma)
print(f"subspace {subspace:.2f}, ridge {ridge.item():.2f}", end=", ")
print(f"its part ‖w‖² {part.item():.2f}")

# %% Plot the box plots
figure, axes = figures.panels(3, 2, height=3.3, sharey="row")
for row, kind, words in zip(
    axes, ("layer", "ridge"), ("eq. (16)", "ridge"), strict=True
):
    for layer, axis in enumerate(row):
        costs = [estimated(first, key, kind)[layer].flatten() for key in NAMES]
        boxes = axis.boxplot(
            [(c.sign() * c.abs().sqrt()).numpy() for c in costs],
            widths=0.6,
            patch_artist=True,
            flierprops={"markersize": 3},
            medianprops={"color": "book:black"},
        )
        for box, (_, colour) in zip(boxes["boxes"], NAMES.values(), strict=True):
            box.set_facecolor(f"book:{colour}")
        axis.axhline(0, color="book:black", linewidth=0.8)
        axis.set_yscale("symlog", linthresh=0.1)
        axis.set(xticks=[], title=f"layer {layer + 1}, {words}")
    row[0].set(ylabel=r"$\pm|\Delta_{(ij)}|^{1/2}$")
handles = [Patch(facecolor=f"book:{c}", label=n) for n, c in NAMES.values()]
figure.legend(handles=handles, loc="outside lower center", ncols=4)
figures.show("fig_image_swaps", figure)

# %% [markdown]
# :::{glue:figure} fig_image_swaps
# :alt: Box plots of swap costs in three layers, above by equation 16, below by ridge regression. Above, costs of MLPs are zero, those of W-MLPs with weights fixed at zero are near zero and of both signs, and those with fixed weights of scale one are far larger and positive. Below, all are positive, those of networks with fixed weights the largest.
#
# I, Fig. 12, in the networks of this page (profile {glue:text}`profile`): signed square roots of the swap costs of disjoint neighbours, by layer; above by I, (16) in the first networks of the pairs, with layer norm, below by ridge regression for {glue:text}`ridge_pairs` pairs of neurons of each layer in networks with batch norm, norms fixed.
# The scale is linear below 0.1.
# :::
#
# The authors' [published script](https://github.com/vuenc/neuron-identifiability) for ridge regression differs from what I, App. F.7 describes, and from what we do.
# In the regression its norm is a new one, with mean 0 and variance 1 for all neurons, and a bias is trained; it plots the part $\lVert w \rVert^2$ alone; the regression sees the validation images, here it sees {glue:text}`ridge_inputs` training images; and it takes both estimates from networks with batch norm.
# The second table says by which factor swap costs of W-MLPs are larger at
# $\sigma_F = 1$ than at 0, in four ways of which the last three are from the same networks and neurons (geometric mean over networks, interval).


# %% Show the sizes of swap costs
def sized(values: torch.Tensor) -> str:
    """The mean with two digits."""
    return f"{float(f'{values.mean():.2g}'):g}"


def factor(kind: str, layer: int) -> str:
    """By which factor costs are larger at σ_F = 1, with its interval."""
    if not all(medians(first, k, kind, layer).all() for k in ("W 0", "W 1")):
        return "–"  # a median is 0
    value, error = ratio(first, kind, layer)
    low, high = value - Z_TWO_SIDED * error, value + Z_TWO_SIDED * error
    if high > 9:
        return f"{10**value:.3g} (too few pairs)"
    return "{:.3g} [{:.2g}, {:.2g}]".format(*np.power(10.0, [value, low, high]))


rows = []
for kind, words in (("layer", "I, (16)"), ("ridge", "ridge")):
    for key, (label, _) in list(NAMES.items())[kind == "layer" :]:
        sizes = [sized(medians(first, key, kind, layer)) for layer in LAYERS]
        rows.append([f"{label}, {words}", *sizes])
zero = estimated(first, "W 0", "layer")
negative = [f"{100 * (costs < 0).double().mean():.0f}" for costs in zero]
rows.insert(1, ["of these negative (%)", *negative])
k = [first.by_pair(key, None, "k").mean(dim=0) for key in ("W 0", "W 1")]
dims = [f"{k[0][layer]:.0f}, {k[1][layer]:.0f}" for layer in LAYERS]
first_row = [r"dimension $k$ of the subspace, $\sigma_F = 0$ and $1$", *dims]
figures.table(
    r"median size of $\Delta_{(ij)}$, mean over networks | layer 1 | layer 2 | layer 3",
    [first_row, *rows],
)
WAYS = {"layer": "I, (16), layer norm", "batch": "I, (16), batch norm"}
WAYS |= {"ridge": "ridge, norms fixed", "part": r"its part $\lVert w \rVert^2$"}
figures.table(
    r"size at $\sigma_F = 1$ over that at 0, W-MLP | layer 1 | layer 2 | layer 3",
    ([words, *(factor(kind, n) for n in LAYERS)] for kind, words in WAYS.items()),
)

# %%
claims.check(
    "I15.mnist_any",
    lambda e: [*map(min, larger(e, "layer"), larger(e, "ridge"))],
    **ridged,
)
claims.check("I15.mnist_syre", lambda e: larger(e, "layer", "syre 1"), **twice)
claims.check("I15.mnist_zero", near_zero, **twice)

# %% [markdown]
# ### Who can be swapped with whom
#
# I, Figs. 16 to 19 show the matrices.
# I, App. G.2 expects cheap swaps where the intrinsic dimension is small or the layer extremely wide, and no such thing at realistic sizes.
# The subspaces of this page's layers have the dimensions of the first row above; cheap partners are to be looked for where it is small.

# %% Plot the matrices
figure, axes = figures.panels(3, 3, height=3.2)
for row, key in zip(axes, ("W 0", "W 1", "syre 1"), strict=True):
    matrices, units = (swaps_of(first, one).matrices for one in (key, "W 1"))
    for layer, axis in enumerate(row):
        unit = off_diagonal(units[layer][0]).abs().median()
        cost = (matrices[layer][0] / unit)[:shown, :shown]
        image = axis.imshow(
            cost.sign() * cost.abs().sqrt(),
            cmap="RdBu_r",
            interpolation="nearest",
            vmin=-2,
            vmax=2,
        )
        axis.grid(False)
        axis.set(xticks=[], yticks=[], xlabel="neuron $j$", ylabel="neuron $i$")
        axis.label_outer()
        axis.set_title(f"layer {layer + 1}, {NAMES[key][0]}", fontsize="medium")
label = r"$\pm(|\Delta_{(ij)}|/\mathrm{median})^{1/2}$"
figure.colorbar(image, ax=axes, shrink=0.6, label=label, extend="both")
figures.show("fig_image_matrices", figure)

# %% [markdown]
# :::{glue:figure} fig_image_matrices
# :alt: Nine matrices of swap costs of the first neurons in three layers. Without large fixed weights they are pale throughout. W-MLPs with fixed weights of scale one have a pale diagonal on a red ground, syre-MLPs the same in a darker red.
#
# I, Figs. 17 to 19, by I, (16): swap costs of the first {glue:text}`min(shown, width)` neurons in one network of this page, signed square roots in units of the median cost of W-MLPs with $\sigma_F = 1$ in the same layer, one colour scale for all; colours end at ± 2.
# The matrices of MLPs (I, Fig. 16) are 0, and the second estimate of I, Figs. 16 to 19, ridge regression, has a few pairs of neurons here and no matrices (profile {glue:text}`profile`).
# :::
#
# At $\sigma_F = 1$ a neuron of a W-MLP has, in layers 1, 2 and 3, {glue:text}`partners_0`, {glue:text}`partners_1` and {glue:text}`partners_2` partners whose exchange costs less than a tenth of the median cost (mean over neurons and networks).

# %% [markdown]
# (ridge-sees)=
# ### What ridge regression sees
#
# Fixed norms differ from neuron to neuron, and a regression that may not change them can charge for that: neurons that are interchangeable by I, (16) can have a relaxed swap cost as large as one likes ({prf:ref}`ex-fixed-norms`).
# In an MLP, $F = 0$ and $D = 1$, the regressions of two neurons differ in $\alpha$ and $\gamma$ alone: were these equal, $T_{ij}$ would not depend on $i$ and swaps would cost 0, up to the local minima that are found.
#
# Is it most of what W-MLPs with $\sigma_F = 0$ have in the lower row of {numref}`fig-image-swaps`?
# We had guessed so: then ridge regression with fixed norms would not tell masks from none.
# The medians of MLPs over those of W-MLPs with $\sigma_F = 0$ are {glue:text}`floor_0`, {glue:text}`floor_1` and {glue:text}`floor_2` in layers 1, 2 and 3.
# Where such a ratio is small the regression does see masks ({claim}`I15.ridge_symmetric`).
# Likely reasons, which we have not tested: masks hide directions outside of the principal subspace as well, for which I, (16) charges nothing; and a shift of the norm is cheap where inputs have a mean far from 0, for then the weights can make up for it.
# In layer 1 the regression sees {glue:text}`ridge_inputs` images of {glue:text}`d` pixels; with fewer images than pixels nearly every function can be fitted.
#
# Do the two estimates order the pairs of neurons of one network alike? Their rank correlations are {glue:text}`rank_one` at $\sigma_F = 1$ and {glue:text}`rank_zero` at $\sigma_F = 0$, on average over layers and networks.


# %% Floors and rank correlations
def floor(experiment: Experiment, layer: int) -> tuple[float, float]:
    """Logarithm of the median ridge cost of MLPs over that of W-MLPs, σ_F = 0."""
    sizes = [medians(experiment, key, "ridge", layer) for key in FREE]
    return jackknife(lambda u, v: np.log(u / v), *sizes)


def largest_floor(experiment: Experiment) -> tuple[float, float, float]:
    """The larger ratio of layers 2 and 3; a ratio has a logarithmic interval."""
    ends = extreme(max, (floor(experiment, layer) for layer in LAYERS[1:]))
    return tuple(np.exp(np.clip(ends, -700, 700)).tolist())


def agreement(experiment: Experiment, key: str) -> tuple[float, float]:
    """Rank correlation of both estimates, mean of three layers."""
    ranks = [
        [
            spearmanr(*both).statistic
            for both in zip(
                estimated(experiment, key, "ridge")[layer],
                estimated(experiment, key, "batch")[layer],
                strict=True,
            )
        ]
        for layer in LAYERS
    ]
    value, error = over_clusters(np.mean(ranks, axis=0))
    return value, max(error, 1e-6)


# %%
claims.check("I15.ridge_symmetric", largest_floor, **ridged)

claims.check("I15.mnist_agreement", lambda e: agreement(e, "W 1"), **ridged)

claims.check("I15.mnist_agreement_zero", lambda e: agreement(e, "W 0"), **ridged)

# %% [markdown]
# ### Before the first step
#
# I, Fig. 21 follows the coherence of the layers' inputs over training; {prf:ref}`prop-norm-scale` says where such curves begin.
# So start the syre-MLPs of this page, but for biases in $\pm d^{-1/2}$, which matter less the larger the weights are; weights of MLPs start uniformly. The first hidden layer of random networks, for three scales:

# %%
# first hidden layer of random networks, one matrix G of N(0, 1) entries
G = torch.randn(width, d, generator=torch.Generator().manual_seed(seed))
x = first.x.double()
for sigma in (0.0, 1.0, 5.0):
    weights = G.double() * (sigma**2 + 1 / d) ** 0.5  # the law of F + W
    s = torch.nn.functional.layer_norm(x @ weights.T, (width,))
    hidden = torch.nn.functional.gelu(s)  # (images, width)
    hidden = hidden - hidden.mean(dim=0)
    values, vectors = torch.linalg.eigh(hidden.T @ hidden)
    part = values.flip(0).cumsum(0) / values.sum()
    dimension = int((part < 0.9).sum()) + 1
    leverage = vectors.flip(1)[:, :dimension].square().sum(dim=1)
    print(f"σ_F = {sigma:g}: k = {dimension}, ν = {leverage.max():.6f}")

# %% [markdown]
# How high such values are, on the scale from $k/d$ to 1, is judged by {claim}`I18.start_high`.
# A likely reason, not tested here: GELU units of random weights are weakly correlated, so that the principal directions lie close to the axes of the units that vary most.
# In W-MLPs, whose rows have few large entries, it may be otherwise: on average over the three hidden places $\nu$ before training is that of MLPs times
# {glue:text}`start_one` for W-MLPs with $\sigma_F = 1$ and {glue:text}`start_syre` for syre-MLPs. Where both are near 1, fixed weights and high coherence go together after training by what training does.

# %% Before training, and what training lowers
before = twice | {"again": untrained}  # a second seed without training is cheap
START = {first: 0, untrained: None}  # which of its stages is before training


def at_start(experiment: Experiment, key: str):
    """ν before training over that of MLPs."""
    at = START[experiment]
    hidden = [experiment.hidden(one, at) for one in (key, "MLP")]
    return jackknife(lambda u, v: u / v, *hidden)


def start(experiment: Experiment) -> tuple[float, float, float]:
    """Of both with σ_F = 1 the one farther from 1; the interval holds both."""
    ratios = [at_start(experiment, key) for key in FIXED]
    farthest, _ = max(ratios, key=lambda ratio: abs(np.log(ratio[0])))
    return farthest, extreme(min, ratios)[1], extreme(max, ratios)[2]


def start_high(experiment: Experiment) -> tuple[float, float, float]:
    """(ν − k/d)/(1 − k/d) before training, mean of hidden places, the least kind."""
    at = START[experiment]
    each = (experiment.hidden(key, at, "excess") for key in FREE + FIXED)
    return extreme(min, map(over_clusters, each))


def lowered(experiment: Experiment) -> tuple[float, float, float]:
    """ν at the end over ν before training, the larger of MLP and W-MLP."""
    hidden = ([experiment.hidden(key, at) for at in (None, 0)] for key in FREE)
    return extreme(max, (jackknife(lambda u, v: u / v, *both) for both in hidden))


# %%
claims.check("I18.start", start, **before)
claims.check("I18.start_high", start_high, **before)
claims.check("I18.lowered", lowered, **twice)

# %% [markdown]
# ### Coherence over training

# %% Plot coherence and dimension over epochs
figure, axes = figures.panels(3, 2, height=3.3, sharey="row", sharex=True)
WHEN = [*KEPT, None]
for row, quantity in zip(axes, ("nu", "k"), strict=True):
    for place, axis in zip(range(1, 4), row, strict=True):
        for key, (label, colour) in NAMES.items():
            values = [first.by_pair(key, e, quantity)[:, place] for e in WHEN]
            mean, error = np.transpose([over_clusters(v) for v in values])
            scale = 1 if quantity == "nu" else width
            style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2)
            figures.band(
                axis,
                range(len(WHEN)),
                mean / scale,
                error / scale,
                label=label,
                **style,
            )
        axis.set_xticks(range(len(WHEN)), map(str, [*KEPT, epochs]))
        axis.set(title=f"inputs of {POSITIONS[place]}")
for axis in axes[1]:
    axis.set(xlabel="epochs")
axes[0, 0].set(ylabel=r"coherence $\nu$")
axes[1, 0].set(ylabel="dimension $k/d$")
figures.show("fig_image_coherence", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_image_coherence
# :alt: Above, coherence of the inputs of layers 2, 3 and 4 over epochs, one curve for each of four models, with and without fixed weights. Below, the dimension of the subspaces over the number of units, in the same way.
#
# I, Fig. 21b to d: coherence of the inputs of layers 2 to 4 over training (above), and the dimension of the subspaces, $k/d$, its least possible value (below). Networks of this page (profile {glue:text}`profile`); bars: intervals at two-sided $10^{-3}$ over {glue:text}`pairs` pairs.
# :::
#
# At the end, with ten coordinates of the outputs, so that $\nu \ge k/10$ there whatever the network does:

# %% Show the coherence at the end
rows = []
for key, (label, _) in NAMES.items():
    nu, k = (first.by_pair(key, None, what).mean(dim=0) for what in ("nu", "k"))
    both = zip(nu.tolist(), k.tolist(), strict=True)
    rows.append([label, *(f"{a:.2f} ({b:.0f})" for a, b in both)])
head = r"$\nu$ ($k$) | images | layer 2 | layer 3 | layer 4 | outputs"
figures.table(head, rows)

# %%
claims.check("I18.low_beside", lower_than_fixed, **twice)
claims.check("I18.higher_syre", lambda e: e.higher("syre 1"), **twice)
claims.check("I18.training", over_training, **twice)
claims.check("I18.any", lower_than_fixed, **twice)

# %% [markdown]
# ### Coherence and dimension
#
# $\nu$ is at least $k/d$, and training reduces $k$ as well: representations of trained networks have few dimensions, the more so the later the layer.
# How much of what I, Fig. 21 shows is dimension depends on the scale.
# Candès and Recht {cite:p}`candes2009`, to whom the paper refers, take $\nu d/k$, 1 for evenly spread subspaces of every dimension, and at most $d/k$; between its two ends $\nu$ is at $e$, as above.
# What counts for masks, by the bound of I, Thm 4.4, is $\nu$ itself, the paper's quantity.
# Relative to the larger of MLP and W-MLP with $\sigma_F = 0$, on average over the three hidden places, in the networks of this page:


# %% Show leads and ways
def words(value: float, error: float) -> str:
    """A number with the half-width of its interval."""
    digits = 2 if error > 0.003 else 3
    return f"{value:.{digits}f} ± {3.29 * error:.{digits}f}"


def duration(s: float) -> str:
    """Seconds in a unit that suits."""
    units = ((5400, 3600, "hours"), (90, 60, "minutes"), (0, 1, "seconds"))
    unit, word = next((u, word) for least, u, word in units if s >= least)
    return f"{max(1, round(s / unit))} {word}"


def moved(key: str) -> str:
    """How far training moved the effective weights, relative to the start."""
    result = first.result(key)
    before, after = result.kept[0].effective(), result.stack.effective()
    ways = [
        torch.linalg.matrix_norm(after[at] - before[at])
        / torch.linalg.matrix_norm(before[at])
        for at in ("0.weight", "1.weight", "2.weight")
    ]
    by_pair = torch.stack(ways).mean(dim=0).unflatten(0, (-1, 2))
    return words(*over_clusters(by_pair))


LEADS = ("nu", "k", "relative", "excess")
lead = {k: [words(*first.higher(k, None, of)) for of in LEADS] for k in FIXED}
ways = {key: moved(key) for key in NAMES}
figures.table(
    r"at the end | $\nu$ | $k$ | $\nu d/k$ | $e$ | way that training moved the weights",
    (
        [NAMES[key][0], *lead.get(key, [""] * 4), ways[key]]
        for key in (*FIXED, "W 0", "MLP")
    ),
)

# %% [markdown]
# The last column is $\lVert W_{\mathrm{eff}}(\text{end}) - W_{\mathrm{eff}}(0) \rVert_F / \lVert W_{\mathrm{eff}}(0) \rVert_F$, averaged over the three hidden maps: with layer norm only the change relative to the size of the weights matters.
# AdamW moves a weight by about its rate a step, and by at most $(1 - \beta_1)/\sqrt{1 - \beta_2} \approx 3.2$ times that if gradients are rare, whatever its scale, so that a layer with large fixed weights stays near its random features (I, section 4.5 expects that), and these are what is coherent.

# %%
claims.check("I18.dimension", relatively, **twice)

# %% Numbers for the text
for key, word in zip(FIXED, ("one", "syre"), strict=True):
    nu, _, relative, _ = lead[key]
    numbers = {"nu": nu, "relative": relative}
    figures.numbers(**{f"lead_{of}_{word}": x for of, x in numbers.items()})
    start = words(*at_start(first, key))
    figures.numbers(**{f"moved_{word}": ways[key], f"start_{word}": start})
for layer in LAYERS:
    figures.numbers(
        **{
            f"floor_{layer}": f"{np.exp(floor(first, layer)[0]):.2g}",
            f"partners_{layer}": words(*partners(first, layer)),
        }
    )
figures.numbers(
    data_says=data_says,
    images_are="MNIST" if name == "mnist" else "scikit-learn's digits",
    price=duration(
        3600 * sum(run.prices().cpu_hours for run in first.runs.values())
    ),
    rank_one=words(*agreement(first, "W 1")),
    rank_zero=words(*agreement(first, "W 0")),
    end_syre=f"{100 * first.result('syre 1').accuracies[-1].mean():.0f}",
)

# %% [markdown]
# ### What this page cannot decide, and its price
#
# The training of the networks of this page costs about {glue:text}`price` of one core.
# What the figures show at the printed sizes needs 512 units, 54 000 images and a fifth of the printed epochs: the profile `paper` trains that, and `make runs PROFILE=paper LIST=1` says what each run costs.
# The printed 100 epochs cost five times that.
# The recorded run of the profile `paper` has no second seed, except of networks before training, so that what would be a rejection is open there: {claim}`I18.low` lies outside its criterion. A new one trains it (parameter `repeat`).
# The length of training matters here: networks with large fixed weights have learned less in the same time ({glue:text}`100 * first.result("W 1").accuracies[-1].mean():.0f` % of the training images for W-MLPs, {glue:text}`end_syre` % for syre-MLPs, {glue:text}`100 * first.result("MLP").accuracies[-1].mean():.0f` % for MLPs, on this page), and may catch up.
# The "data variants" of I, Fig. 21 are not described in the paper, and not repeated here.
#
# ### What we found that the paper does not say
#
# - With $D = 1$ I, (16) has the closed form of {prf:ref}`prop-one-metric`, so for syre with $\varepsilon = 0$.
# - Before training W-MLPs with $\sigma_F = 1$ are a little more coherent than MLPs, by how much is not decided ({claim}`I18.start`), and training lowers coherence where weights are not fixed ({claim}`I18.lowered`).
#   Networks with large fixed weights stay near their random features, as I, section 4.5 expects; what is measured here is how near: training moves their weights by {glue:text}`moved_one` of their size for W-MLPs and {glue:text}`moved_syre` for syre-MLPs, against {glue:text}`ways["MLP"]` for MLPs.
# - Relative to their dimension representations with large fixed weights are half as coherent as the others on MNIST ({claim}`I18.dimension`). In the networks of this page, on {glue:text}`images_are`, which decide nothing, of a factor {glue:text}`lead_nu_one` for W-MLPs and {glue:text}`lead_nu_syre` for syre-MLPs in $\nu$, {glue:text}`lead_relative_one` and {glue:text}`lead_relative_syre` are left relative to $k/d$.
# - With zeros alone exchanges cost little ({claim}`I15.mnist_zero`); do networks with them lose at least half as much halfway as ordinary ones after 20 epochs? Six pairs do not decide ({claim}`I11.any_zero`).

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# Let $d = 4$ and let the subspace be spanned by $(1, 1, 1, 1)/2$ and $(1, -1, 0, 0)/\sqrt 2$. What are its leverages, its coherence $\nu$ and the number $e$ of this chapter? Name a subspace of the same dimension with $e = 0$, and one with $e = 1$.
# :::
#
# :::{solution}
# The leverages are $\frac14 + \frac12 = \frac34$ twice and $\frac14$ twice; they add up to $k = 2$.
# So $\nu = \frac34$, $k/d = \frac12$ and $e = \frac12$, just low.
# The span of $(1, 1, 1, 1)/2$ and $(1, -1, 1, -1)/2$ has all leverages $\frac12$ and $e = 0$; that of the first two axes has $\nu = 1$ and $e = 1$.
#
#     basis = torch.tensor([[1.0, 1, 1, 1], [2**0.5, -(2**0.5), 0, 0]]).T / 2
#     print(basis.square().sum(dim=1))
# :::
#
# :::{exercise}
# By {prf:ref}`prop-norm-scale` the loss of a layer with layer norm and without biases has $L(cW) = L(W)$ for all $c > 0$.
# Show that $\nabla L(cW) = \nabla L(W)/c$ and $\langle \nabla L(W), W \rangle = 0$.
# Weights $cW$ and $W$ make one step of gradient descent, and one of sign descent ($-\text{rate} \cdot \operatorname{sign} \nabla L$, the first step of Adam).
# How far do they move relative to their size?
# What is $c$ for syre with $\sigma_F = 1$ in a layer of 512 inputs?
# :::
#
# :::{solution}
# Differentiate $L(cW) = L(W)$ by $W$: $c\, \nabla L(cW) = \nabla L(W)$.
# By $c$ at $c = 1$: $\langle \nabla L(W), W \rangle = 0$.
# A step of gradient descent moves $cW$ by $1/c$ of the way of $W$, and relative to its size by $1/c^2$; sign descent moves both by the same way, and relative to its size $cW$ by $1/c$.
# The effective weights of syre have the variance $\sigma_F^2 + 1/d$ in place of $1/d$, so that $c = \sqrt{1 + 512} \approx 22.6$; against the MLPs of this page, whose weights start uniformly with variance $1/(3d)$, it is $\sqrt{3 \cdot 513} \approx 39$.
# With AdamW one expects the network to move by a factor of this order less; the table of this chapter has the measured ways.
# The first claim, in code:
#
#     W, x = torch.randn(5, 7), torch.randn(3, 7)
#     for c in (1.0, 4.0):
#         V = (c * W).requires_grad_()
#         s = torch.nn.functional.layer_norm(x @ V.T, (5,), eps=0)
#         slope, = torch.autograd.grad(s.relu()[:, 0].square().sum(), V)
#         print(c * slope.norm(), (slope * V).sum())
# :::
#
# :::{try}
# Networks twice as wide, on MNIST or the digits; the verdicts of the page stay. Look at the factors of the second table of *Swap costs, measured*:
#
#     make chapter NAME=swaps_on_images ARGS="-p width 128 -p epochs 20 -p images 10000"
# :::

# %% Versions and time
print(chapter.end())
