# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
#   lmc: {runs: lmc_helpers._chapters.asymmetric_mlps.Parameters}
# ---

# %% [markdown]
# # MLPs that share large fixed weights can be averaged as they are
#
# *Can networks that share some fixed weights be averaged without matching their neurons?*
#
# Yes, if the fixed weights are large: halfway between two such networks training accuracy changes by **+[[-I11.unaligned:±]] percentage points**. Ordinary networks lose **[[2 * I11.standard:±]] points**, networks with weights fixed at zero **[[2 * I11.zero:±]] points**.
#
# :::{glue:figure} fig_printed_lines
# :alt: Two panels. Change of the training accuracy, in points, along the line between two networks, against the place on the line. First panel, averaged as they are: ordinary networks lose [[2 * I11.standard:±]] points halfway, networks with weights fixed at zero lose [[2 * I11.zero:±]]; networks with large fixed weights stay level, +[[-I11.unaligned:±]], and so do syre-MLPs, +[[-I11.syre:±]]. Second panel, after matching: all four kinds stay level.
#
# Training accuracy less the straight line between those of the ends; as they are, and matched. W-MLP: some weights fixed, of size $\sigma_F$; syre: a fixed part in each. Recorded on MNIST; bars: 99.9 % intervals.
# :::
#
# **How sure.** MNIST, 512 units, 100 epochs; [[n(I11.unaligned)]] pairs of each kind with large fixed weights, [[n(I11.standard)]] of the two others; last row: [[n(I10.one)]] pairs, 20 epochs; recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "unaligned LMC is achieved for large $\sigma_F$" (Q1) | [true of MLPs](#I11.unaligned) | +[[-I11.unaligned:±]] points at $\sigma_F = 1$ |
# | "the LMC barrier is high in standard MLPs" (Q1) | [true](#I11.standard) | [[2 * I11.standard:±]] points lost (high: 4 or more) |
# | "… and $W$-MLPs with $\sigma_F = 0$" (Q1) | [open](#I11.zero) | [[2 * I11.zero:±]] points lost |
# | "All models exhibit reasonably low LMC barriers" (Q1) | [true of MLPs](#I11.aligned) | aligned: at most [[100 * I11.aligned:±]] % of what MLPs lose unaligned |
# | Alignment reduces it at $\sigma_F = 0$ "similarly well as that of standard architectures" (Q1) | [true of MLPs](#I11.similar) | share removed: [[I11.similar:±]] times that of MLPs |
# | For large $\sigma_F$ "the identity permutation is nearly optimal" (Q2, Fig. 3a) | [true](#I10.one) | [[I10.one:±]] (random order: 0, best: 1) |
#
# **Open.** Whether weights fixed at zero cost 4 points or more (6 core-hours); whether decay gives neurons their places, if the start hides the fixed weights (41; 4 core-hours).
#
# **For the authors.** State batch size and initial weights. `measure_lmc_unaligned_aligned.py` (c92eb82, later than Fig. 4c) maximises 1 − |ρ| (ρ: correlation), which does not align.

# %% [markdown]
# :::{need}
# You need: correlations, and the layers of [](41_realization_cost.ipynb). {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $F$, $D$, $W$ | fixed values, {term}`mask <mask>` and trained weights; a layer applies $F + D \odot W$ (I, (2)) |
# | $\sigma_F$ | scale of the fixed values; 0 fixes weights at zero (masks alone) |
# | $d$, $f$ | inputs of a neuron; how many of them have fixed weights |
# | $m$ | neurons of a layer |
# | $c$ | correlation of an input of one run with the same input of the other |
# | $\rho$ | correlation of a neuron of one run with a neuron of the other |
# | $P$, $P^*$, $I$ | a permutation of a layer's neurons, the one that matches them best, the identity |
# | $\mathcal L$ | mean correlation of the pairs that a permutation makes; $\mathcal L_r$ over random ones |
# | $r$ | score of the identity: 0 like a random permutation, 1 like $P^*$ |
# | $x$ | clock of weight decay, 1 when it has brought back half of a row |

# %% Parameters tags=["parameters"]
dataset: str = "mnist"  # or digits, which stand in where MNIST is missing
width: int = 64  # units of each of three hidden layers; 512 in the paper
images: int = 2000  # training images; 54 000 in the published code
looked: int = 2000  # of them, on which units are matched and accuracies taken
epochs: int = 12  # passes through the images
stages: list = [0, 1, 3]  # epochs of I, Fig. 3c before the last one
long_epochs: int = 0  # of I, Fig. 4 once more, 100 in the paper; 0: as above
long_pairs: int = 2  # of these; 8 in the paper
long_free_pairs: int = 2  # of those without large fixed weights; 8 in the paper
long_hidden_pairs: int = 0  # of syre-MLPs whose start hides F, as long
batch: int = 64  # not stated in the paper; that of the published code
pairs: int = 6  # pairs of networks of I, Fig. 4; 8 in the paper
sweep_pairs: int = 6  # pairs of each other variant
sigmas: list = [0.5, 2.0, 5.0]  # scales beside 0 and 1; up to 5 in the paper
shares: list = [0.75, 0.99]  # of fixed entries, for I, Fig. 10
sparse: list = []  # larger shares, without fixed values only
again: list = []  # models to be trained with a second seed beforehand
places: int = 8  # intervals of a line, even
repeat: bool = True  # train a second seed where a rejection has to be repeated
seed: int = 7053  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Flag, Integer, ListOf, Real

chapter.begin(
    globals(),
    dataset=Choice(("mnist", "digits")),
    width=Integer(16, 8192),
    images=Integer(100, 54_000),
    looked=Integer(100, 54_000),
    epochs=Integer(2, 10_000),
    stages=ListOf(Integer(0, 10_000)),
    long_epochs=Integer(2, 10_000, zero=True),
    long_pairs=Integer(2, 1000),
    long_free_pairs=Integer(2, 1000),
    long_hidden_pairs=Integer(2, 1000, zero=True),
    batch=Integer(1, 54_000),
    pairs=Integer(2, 1000),
    sweep_pairs=Integer(2, 1000),
    sigmas=ListOf(Real(0.01, 1000)),
    shares=ListOf(Real(0.01, 0.99)),
    sparse=ListOf(Real(0.01, 0.99), least=0),
    again=ListOf(
        Choice(("MLP", "W 0", "W 1", "syre 1", "sigma", "hidden")), least=0
    ),
    places=Integer(2, 1000, step=2),
    repeat=Flag(),
)

import math
from dataclasses import replace
from itertools import product

import numpy as np
import torch
from scipy.special import ndtr

from lmc_helpers import claims, figures
from lmc_helpers._chapters.asymmetric_mlps import Experiment, Parameters
from lmc_helpers.alignment.activation_matching import recorded_moments
from lmc_helpers.alignment.assignment import assign
from lmc_helpers.alignment.pairs import ends
from lmc_helpers.data.images import choose, load
from lmc_helpers.error_bars import extreme, jackknife, over_clusters
from lmc_helpers.identifiability.printed_networks import CORE, fixed_entries
from lmc_helpers.networks.segments import along_segments

# %% [markdown]
# ## Large fixed values give every neuron a place of its own
#
# In ordinary networks nothing tells neuron $i$ of one run from neuron $j$ of another. Bürgin, Herbst, Lin & Jegelka (I) {cite:p}`buergin2026` give all runs the same $F$ and $D$:
#
# - *W-MLPs* {cite:p}`lim2024`: in each row $f$ entries are fixed, $D = 0$ and $F \sim \mathcal N(0, \sigma_F^2)$; the others are trained, $D = 1$ and $F = 0$. With $\sigma_F = 0$ these are sparse networks.
# - *syre-MLPs*: all entries have $F \sim \mathcal N(0, \sigma_F^2)$ and are trained beside it, $D = 1$ as in the published code (the paper states no $\varepsilon$ for its Table 1).
#
# Then neuron $i$ of one run resembles neuron $i$ of the other before training begins, the more so the larger the values.
#
# :::{prf:proposition} What two runs share at the start
# :label: prop-fixed-places
# Let the $d$ inputs of a layer be uncorrelated with variance 1 in either run, and let input $j$ of one run have the correlation $c$ with input $j$ of the other. Let $f$ entries of a row be fixed and the others be drawn from $\mathcal N(0, 1/d)$. Given $F$, equal neurons of the two runs have, before the activation, the correlation
#
# $$
# \rho = c\, \rho_0 , \qquad \rho_0 = \frac{\sigma_F^2 f}{\sigma_F^2 f + 1 - f/d} ,
# $$
#
# up to the scatter of $F$ in a row, and different neurons 0 on average.
# :::
#
# :::{prf:proof}
# Only the fixed entries are common to both runs, so that the covariance of neuron $i$ with its equal is $c \sum_j F_{ij}^2 \approx c\, \sigma_F^2 f$. In either run the variance is that of the fixed part, $\sigma_F^2 f$, and of $d - f$ trained entries of variance $1/d$. For two different neurons the covariance is $c \sum_j F_{ij} F_{kj}$, whose mean is 0.
# :::
#
# What counts is $\sigma_F^2 f$ against $1 - f/d$, not $\sigma_F$: at the same share of fixed entries a narrower layer needs a larger $\sigma_F$.

# %% Plot correlations at the start, for three scales
units, inputs, fixed_in_row = 24, 512, 64

from lmc_helpers.seeds import numpy_generator

draws = numpy_generator(seed, "the idea")
mask = draws.random((units, inputs)).argsort(axis=1) < fixed_in_row
idea, frames = figures.panels(3, sharey=True)
for frame, scale in zip(frames, (0, 0.1, 1), strict=True):
    values = scale * draws.normal(size=mask.shape)  # F, the same in both
    two_runs = [
        np.where(mask, values, draws.normal(size=mask.shape) / inputs**0.5)
        for _ in range(2)
    ]
    unit_rows = [
        run / np.linalg.norm(run, axis=1, keepdims=True) for run in two_runs
    ]
    drawn = frame.imshow(
        unit_rows[0] @ unit_rows[1].T, cmap="RdBu_r", vmin=-1, vmax=1
    )
    frame.set(title=rf"$\sigma_F = {scale:g}$", xlabel="unit of the second run")
    frame.set(xticks=[0, 11, 23], xticklabels=[1, 12, 24])
    frame.set(yticks=[0, 11, 23], yticklabels=[1, 12, 24])
    frame.grid(False)
frames[0].set_ylabel("unit of the first run")
idea.colorbar(drawn, ax=list(frames), label="correlation", shrink=0.75)
figures.show("fig_places", idea)

# %% [markdown]
# :::{glue:figure} fig_places
# :alt: Three square tables of correlations between 24 units of one run and 24 units of another. With zero fixed weights all entries are near 0, with scale 0.1 the diagonal is visible, with scale one it is near 1 and everything else near 0.
#
# Correlations of 24 neurons of the first layer at the start of two runs that share 64 of 512 entries in each row, drawn at random. The larger the fixed values, the more neuron $i$ resembles neuron $i$ of the other run, and no other.
# :::
#
# From layer to layer this compounds: if neurons are correlated by $\rho$ and normal, their activations are correlated by some $c(\rho)$, and these are the inputs of the next layer. For the images themselves $c = 1$.

# %% The correlation that GELU passes on
PIXELS = {"mnist": 784, "digits": 64}
name, data_says = choose((dataset, "digits"))
nodes, mass = np.polynomial.hermite_e.hermegauss(60)  # of N(0, 1)
mass = mass / mass.sum()


def passed_on(rho: float) -> float:
    """c(ρ): correlation of GELU(X), GELU(Y), normal X, Y with correlation ρ."""
    other = rho * nodes[:, None] + (1 - rho**2) ** 0.5 * nodes  # Y given X
    first, second = (x * ndtr(x) for x in (nodes, other))  # GELU
    mean = mass @ first
    return (mass @ (first * (second @ mass)) - mean**2) / (
        mass @ first**2 - mean**2
    )


# %%
def at_start(sigma: float, pixels: int, m: int) -> list[tuple[float, float]]:
    """ρ and c after each of the three hidden maps, before training."""
    c, found = 1.0, []
    for f, d in zip(fixed_entries(pixels, m)[:3], (pixels, m, m), strict=True):
        rho = c * sigma**2 * f / (sigma**2 * f + 1 - f / d)  # c ρ₀
        c = passed_on(rho)
        found.append((rho, c))
    return found


for layer, (rho, c) in enumerate(at_start(1, 784, 512)):  # the paper's sizes
    print(f"layer {layer + 1}, σ_F = 1: ρ = {rho:.3f}, c = {c:.3f}")

# %% [markdown]
# The networks, before their first step of training, agree with this to within [[I10.at_start:±]] ({claim}`I10.at_start`, recorded).

# %% The networks, which are trained on first use
settings = chapter.parameters(Parameters, globals())
printed = Experiment.printed()  # stored measurements of the recorded run
first = Experiment(settings)

long = first  # the models of I, Fig. 4, trained for longer
if long_epochs:
    long = Experiment(settings.longer(), settings.long_names)
long_hidden = long if "hidden" in long.runs else first

# %% What is counted
TOP = f"W {max(sigmas):g}"  # the W-MLP with the largest σ_F
LAYERS = range(3)
trained_on = first.runs["MLP"].data.size
n_swept = min(sweep_pairs, pairs)  # pairs of variants beside I, Fig. 4
n_long = {key: len(long.stages(key).pairs) for key in CORE}  # of I, Fig. 4
chapter.uses(dataset=load(name).source, images=trained_on)
chapter.uses(long_epochs=long_epochs or epochs)  # of I, Fig. 4
chapter.uses(sparse=[*shares, *sparse])  # all shares without fixed values

# %% A second seed, and words for numbers
# trained only where a rejection has to be repeated
second = Experiment(settings.second())
long_second = second
if long_epochs:
    long_second = Experiment(settings.second().longer(), CORE)
twice = {"of": first, "again": second if repeat else None, "n": pairs}
swept = twice | {"n": n_swept}
twice_long = {"of": long, "again": long_second if repeat else None}


def unit(experiment: Experiment, key: str) -> float:
    """One unit of all that the pairs of a variant have."""
    return 1 / (3 * width * len(experiment.stages(key).pairs))


def progress(experiment: Experiment, key: str) -> tuple[float, float]:
    """r of a variant, with an error of at least one unit."""
    value, error = experiment.relative(key)
    return value, max(error, unit(experiment, key))


def percent(values) -> str:
    """Mean of pairs as text, with the half-width of its interval."""
    mean, error = over_clusters(values)
    return f"{mean:.1f} ± {3.29 * error:.1f}"


def of_way(key: str) -> str:
    """r of a variant as text, with the half-width of its interval."""
    value, error = first.relative(key)
    return f"{value:.3f} ± {3.29 * error:.3f}"


# %% [markdown]
# ## Halfway, large fixed values lose nothing; zeros lose much
#
# We train networks as in I, App. F.1: three hidden layers of 512 units with layer norm and GELU, AdamW with rate 0.001 and decay 0.01, 64 fixed entries in each row (256 in the last map), 100 epochs. The two networks of a pair share $F$ and $D$, and nothing else. The cell reads the stored measurements of the recorded run.

# %%
for model in ("MLP", "W 0", "W 1", "syre 1"):  # W 0: masks alone
    lost = printed.measured(model).drop()  # accuracy lost halfway, one a pair
    mean, error = over_clusters(lost)
    half = figures.BAND * error
    print(f"{model:7}{mean:5.2f} ± {half:.2f} points lost, {len(lost)} pairs")

# %% Plot the change of the accuracy along the line
WORDS = {  # a curve, and the place, side and digits of its label
    "MLP": ("ordinary\n", "black", "-", (0.56, -6.6), "right", 1),
    "W 0": ("fixed at zero\n", "red", "-", (0.44, -6.6), "left", 1),
    "W 1": ("large fixed weights ", "blue", "-", (0.5, 0.75), "center", 2),
    "syre 1": ("syre ", "green", "--", (0.5, 1.75), "center", 1),
}
places = np.array(printed.lambdas)
middle = len(places) // 2


def change_along(key: str, matched: str) -> np.ndarray:
    """Accuracies of the pairs less the chord between their ends, in points."""
    lines = 100 * printed.measured(key).accuracy[matched].numpy()
    return lines - lines[:, :1] - (lines[:, -1:] - lines[:, :1]) * places


figure, axes = figures.panels(2, height=3.3, sharey=True)
least = 0.0
for axis, matched in zip(axes, ("none", "correlation"), strict=True):
    for key, (words, colour, dash, place, side, digits) in WORDS.items():
        lines = change_along(key, matched)
        value, error = over_clusters(torch.tensor(lines[:, middle]))
        style = dict(color=f"book:{colour}", linewidth=2)
        axis.plot(places, lines.mean(axis=0), dash, **style)
        at = {"MLP": 0.494, "W 0": 0.506}.get(key, 0.5)  # side by side
        figures.band(axis, at, value, error, markersize=5, **style)
        if matched == "none":
            half = figures.BAND * error
            says = f"{words}{value:+.{digits}f} ± {half:.{digits}f}"
            style = dict(color=f"book:{colour}", fontsize=12, va="center")
            axis.text(*place, says.replace("-", "−"), ha=side, **style)
        else:
            least = min(least, value)
    axis.set(xlim=(1, 0), ylim=(-8.4, 2.4), yticks=[0, -2, -4, -6, -8])
    axis.set_xticks([1, 0.5, 0], ["first", "halfway", "second"])
    for word, side in zip(
        axis.get_xticklabels(), ("left", "center", "right"), strict=True
    ):
        word.set_ha(side)
axes[0].set(title="averaged as they are", ylabel="change of accuracy (points)")
axes[1].set_title("averaged after matching")
says = f"all four kinds: {least:.2f} or better".replace("-", "−")
axes[1].text(0.5, -0.8, says, ha="center", va="center", fontsize=12)
figures.show("fig_printed_lines", figure)

# %% [markdown]
# What counts as *connected*? Networks that lose at most 2 points halfway, as many as {cite:t}`frankle2020` allow the test error to rise on the line; a loss is *high* from 4 points on, and *reasonably low* up to half of what ordinary networks lose as they are. These limits were fixed before the run.
#
# The paper's sentence on large fixed values can be asked of three models:
#
# | Model | Run | Change halfway (points) | We find |
# | --- | --- | --- | --- |
# | W-MLP, $\sigma_F = 1$ | 100 epochs, [[n(I11.unaligned)]] pairs | +[[-I11.unaligned:±]] | [true](#I11.unaligned) |
# | syre-MLP, $\sigma_F = 1$ | 100 epochs, [[n(I11.syre)]] pairs | +[[-I11.syre:±]] | [true](#I11.syre) |
# | W-MLP, $\sigma_F = 5$ | 20 epochs, [[n(I11.large)]] pairs | +[[-I11.large:±]] | [not run](#I11.large) for 100 epochs |
#
# With weights fixed at zero (masks alone) the drop is nearly that of ordinary networks. Does it deserve "high"? That is open: the interval, [[2 * I11.zero:to]] points, crosses 4. Eight pairs, as many as the paper has, had decided neither this nor the sentence on standard MLPs; their number was then raised to [[n(I11.zero)]], and two looks can be wrong up to twice as often as one.
#
# Matching by activations, the paper's objective, brings all four models to at most [[100 * I11.aligned:±]] % of the drop of ordinary networks as they are; networks with large fixed weights have nothing left to match. (The newest state of the published script for Fig. 4c maximises $1 - |\rho|$ instead of $\rho$, which is {ref}`no alignment <sign-of-the-objective>`; by its dates the figure was made before.)

# %% Drops, and what they are compared with
CONNECTED = 2  # points that the accuracy may drop by


def known(value: float, error: float) -> tuple[float, float]:
    """A reading; 0 over 0 says nothing."""
    return (value, error) if np.isfinite([value, error]).all() else (0.0, 1e6)


def drop(experiment: Experiment, key: str, by: str = "none"):
    """Mean drop of the accuracy halfway, in points."""
    value, error = over_clusters(experiment.measured(key).drop(by))
    return value, max(error, 100 / experiment.images)  # no less than one image


def dropped(experiment: Experiment, *of: tuple[str, str]):
    """Drops of models by ways of matching, pair by pair that all have."""
    drops = ((key, experiment.measured(key).drop(by)) for key, by in of)
    return experiment.on_common_pairs(*drops)


def over_mlp(experiment: Experiment, key: str, by: str = "none"):
    """The drop of a model over that of unaligned MLPs."""
    drops = dropped(experiment, (key, by), ("MLP", "none"))
    return known(*jackknife(lambda u, v: u / v, *drops))


def high(experiment: Experiment, key: str) -> tuple[float, float]:
    """Drop over that of σ_F = 1, or over what counts as connected if larger."""
    low, error = drop(experiment, "W 1")
    if low + 3.29 * error < CONNECTED:  # so that all pairs of the model count
        value, error = drop(experiment, key)
        return value / CONNECTED, error / CONNECTED
    drops = dropped(experiment, (key, "none"), ("W 1", "none"))
    return jackknife(lambda u, v: u / max(v, CONNECTED), *drops)


def largest_aligned(experiment: Experiment) -> tuple[float, float, float]:
    """Of the models of I, Fig. 4c the largest drop, over that of unaligned MLPs."""
    return extreme(
        max, (over_mlp(experiment, key, "correlation") for key in CORE)
    )


def similarly(experiment: Experiment) -> tuple[float, float]:
    """Share of the drop that alignment removes, σ_F = 0 over MLP."""
    ways = ("correlation", "none")
    of = [(key, by) for key in ("W 0", "MLP") for by in ways]
    drops = dropped(experiment, *of)
    return jackknife(lambda u, v, w, z: (1 - u / v) / (1 - w / z), *drops)


# %%
claims.check(
    "I11.unaligned", lambda e: drop(e, "W 1"), **twice_long, n=n_long["W 1"]
)
claims.check(
    "I11.standard", lambda e: high(e, "MLP"), **twice_long, n=n_long["MLP"]
)
claims.check("I11.zero", lambda e: high(e, "W 0"), **twice_long, n=n_long["W 0"])
claims.check("I11.aligned", largest_aligned, **twice_long, n=n_long["W 1"])
claims.check("I11.similar", similarly, **twice_long, n=n_long["W 0"])

# %% [markdown]
# ## With large fixed values the best permutation leaves neurons where they are
#
# Matching two networks means to find the permutation $P^*$ with the largest $\mathcal L$, the mean correlation of the neurons that it pairs. How near is the identity to it? On the scale
#
# $$
# r = \frac{\mathcal L(I) - \mathcal L_r}{\mathcal L(P^*) - \mathcal L_r}
# $$
#
# exchangeable neurons score 0 on average, and neurons with places of their own 1.

# %% Plot the score against the scale of the fixed values
SWEPT = (0, 0.2, 0.5, 1, 2, 5)  # with stored measurements
sweep = Experiment.printed([f"W {s:g}" for s in SWEPT])
figure, axis = figures.panels(height=2.9)
scores = [sweep.relative(f"W {s:g}") for s in SWEPT]
mean, error = np.transpose(scores)
style = dict(color="book:blue", fmt="o-", linewidth=1.6, markersize=5)
figures.band(axis, range(len(SWEPT)), mean, error, **style)
for number, value in enumerate(mean):
    up = 1 if value < 0.9 else -1  # above its point or below
    style = dict(ha="center", va="center", color="book:blue", fontsize=12)
    axis.text(number, value + 0.12 * up, f"{value:.2f}", **style)
for level, word in ((0, "a random permutation"), (1, "the best permutation")):
    axis.axhline(level, color="#555555", linewidth=1, linestyle=":")
    where = dict(ha="right", va="bottom", color="#555555")
    axis.text(len(SWEPT) - 0.75, level + 0.03, word, **where)
axis.set(ylim=(-0.12, 1.25), yticks=[0, 0.5, 1], xlim=(-0.3, len(SWEPT) - 0.7))
axis.set_xticks(range(len(SWEPT)), [f"{s:g}" for s in SWEPT])
axis.set(xlabel=r"scale $\sigma_F$ of the fixed values", ylabel="score $r$")
figures.show("fig_scores", figure)

# %% [markdown]
# :::{glue:figure} fig_scores
# :alt: Score of the identity against the scale of the fixed values, 0, 0.2, 0.5, 1, 2 and 5. It rises from 0.01 at zero through 0.50 at 0.2 and 0.93 at 0.5 to 1.00 at 1 and beyond. Dotted lines mark a random permutation, 0, and the best one, 1.
#
# Score of the identity in W-MLPs of the printed sizes after 20 epochs, averaged over layers and six pairs (I, Fig. 3a in one number). Recorded MNIST run; bars, smaller than the points: 99.9 % intervals.
# :::
#
# Half of the way is reached at $\sigma_F = 0.2$, and at $\sigma_F = 1$ the best permutation itself leaves **[[100 * I10.fixed:±]] %** of the neurons in their place ({claim}`I10.fixed`). What the paper says of its Figs. 3, 7 and 10:
#
# | Statement | Asked of | Measured | We find |
# | --- | --- | --- | --- |
# | "$\mathcal L(I)$ becomes close to $\mathcal L(P^*)$" (Q2) | $\sigma_F = 5$: score at least 0.9 | [[I10.close:±]] | [true](#I10.close) |
# | the same | $\sigma_F = 1$: score at least 0.9 | [[I10.one:±]] | [true](#I10.one) |
# | "random permutations remain significantly lower" (Q2) | $\mathcal L_r / \mathcal L(I)$ at most 0.5, $\sigma_F = 5$ | [[I10.random:±]] | [true](#I10.random) |
# | "this trend holds for all stages of training" (Q2) | least lead of $\sigma_F = 1$ over 0 | [[I10.stages:.2f]] ([[I10.stages:to]]) | [true](#I10.stages) |
# | "consistent across layers" (App. G.1) | the same in each layer, with syre-MLPs and MLPs | [[I14.stages:±]] | [true](#I14.stages) |
# | "does not produce a higher objective" (σ-MLPs, App. G.1) | score at most 0.05 | [[I14.sigma_mlp:±]] | [true](#I14.sigma_mlp) |
# | "sparsity alone … does not yield strong neuron identifiability" (App. G.1) | score at most 0.5, shares up to ¾ | [[I14.sparsity:±]] | [true](#I14.sparsity) |
# | the same | five shares, up to 0.99 | [[I14.sparsest:.2f]] ([[I14.sparsest:to]]) | [true](#I14.sparsest) |

# %%
claims.check("I10.one", lambda e: progress(e, "W 1"), **twice)

# %% [markdown]
# ## The places are there at the start; weight decay alone is slow to bring them
#
# Is it the common start that gives neurons their places, or what a function costs each of them under weight decay? {prf:ref}`thm-start` tells the two apart: let syre-MLPs start at $W = Z - F$, with $Z$ as random as an ordinary start. Such a start hides $F$, with all costs as they are, and only weight decay can bring $F$ back. Without the moves of the optimiser equal rows of two runs would have the cosine $x^2/(1 + x^2)$, half at $x = 1$, where $x$ grows with the number of steps.


# %% Read rows and scores at each epoch, and the clock
def clock(run, epoch: int, d: int) -> float:
    """x = (e^τ − 1) σ_F √d after some epochs, σ_F = 1."""
    steps = epoch * math.ceil(run.data.size / run.descent.batch)  # T
    decay = run.descent.rate * run.descent.weight_decay  # η κ
    return math.expm1(-steps * math.log1p(-decay)) * math.sqrt(d)


printed_hidden = Experiment.printed(("hidden",))
run = printed_hidden.runs["hidden"]
pixels, units = run.model.sizes[:2]


def course_of(experiment: Experiment) -> dict:
    """Epoch → mean cosine of equal rows, and r, (pairs, layers) each."""
    last = experiment.runs["hidden"].descent.epochs
    found, course = experiment.stages("hidden"), {}
    for epoch, measured in found.by_epoch.items():
        up, best = measured.above_random()
        course[last if epoch is None else epoch] = found.rows[epoch], up / best
    return course


course = course_of(printed_hidden)
late = course_of(printed) if "hidden" in printed.runs else {}


usual = Experiment.printed(("syre 1", "MLP"))  # as many epochs
kept = usual.stages("syre 1").by_epoch.values()
usual_least = min(
    (u / v).min().item() for u, v in (m.above_random() for m in kept)
)

# %% Plot rows and activations against the clock
figure, axes = figures.panels(2, sharey=True)
fine = np.geomspace(0.15, 6 if not late else 40, 200)
style = dict(color="book:black", label="without moves")
axes[0].plot(fine, fine**2 / (1 + fine**2), "--", **style)
for axis in axes:
    axis.set(xlabel=r"clock $x = (e^\tau - 1)\, \sigma_F \sqrt{d}$")
    axis.set(xscale="log", ylim=(-0.1, 1.05))
    at = [0.2, 0.5, 1, 2, 5, *[10, 20, 40] * bool(late)]
    axis.set_xticks(at, [f"{x:g}" for x in at])
    axis.minorticks_off()
for layer, colour in zip(LAYERS, ("black", "grey", "sky"), strict=True):
    seen = {e: both for e, both in (course | late).items() if e}
    x = [clock(run, e, units if layer else pixels) for e in seen]
    for axis, which in zip(axes, (0, 1), strict=True):
        parts = [both[which][:, layer] for both in seen.values()]
        points = np.transpose([over_clusters(part) for part in parts])
        style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2)
        style |= dict(label=f"layer {layer + 1}")
        figures.band(axis, x, *points, **style)
axes[0].set(ylabel="mean cosine", title="equal rows of the weights")
axes[1].set(ylabel="score $r$", title="units: score of the identity")
figures.show("fig_clock_mnist", figure, legend=4)

# %% Numbers of the clock, for the text
at = [clock(run, epoch, units) for epoch in course]
cosines = [parts[0].mean().item() for parts in course.values()]
before_last, last = sorted(course)[-2:]
steps_to = {e: clock(run, e, 1) for e in (last, 100)}  # e^τ − 1
grown = {e: (1 + x) ** 2 - 1 for e, x in steps_to.items()}  # e^(2τ) − 1
inputs_of = np.array([pixels, units, units])
x2 = {e: x**2 * inputs_of for e, x in steps_to.items()}
cosine = course[last][0].mean(dim=0).numpy()
K = (x2[last] / cosine - 1 - x2[last]) / grown[last]  # of the moves
predicted = x2[100] / (1 + x2[100] + K * grown[100])
figures.numbers(
    rows_half=f"{np.interp(0.5, cosines, at):.1f}",
    way_before=f"{printed_hidden.relative('hidden', before_last)[0]:.2f}",
    clock_last=max(course | late),
    clock_x=f"{clock(run, last, units):.1f}",
    moves=", ".join(f"{k:.0f}" for k in K),
    moves_hundred=", ".join(f"{v:.2f}" for v in predicted),
    clock_hundred=f"{clock(run, 100, units):.0f}",
    clock_r=", ".join(f"{v:.2f}" for v in course[last][1].mean(dim=0)),
    hidden_drop=percent(printed_hidden.measured("hidden").drop()),
    hidden_aligned=percent(printed_hidden.measured("hidden").drop("correlation")),
)

# %% [markdown]
# :::{glue:figure} fig_clock_mnist
# :alt: Two panels against the clock on a logarithmic axis, three layers each. First, the mean cosine of equal rows of the weights of two runs rises along a dashed curve and stays below it. Second, how far the identity is on the way to the best permutation stays near 0 and rises late, least in the second layer.
#
# syre-MLPs whose start hides $F$, from {glue:text}`min(e for e in course if e)` to {glue:text}`clock_last` epochs, by layer. First panel: agreement of equal rows of the weights; dashed: without the optimiser's moves. Second panel: score of the identity. Recorded MNIST run, {glue:text}`len(course[0][0])` pairs; bars: 99.9 % intervals.
# :::
#
# After 20 of the printed 100 epochs the clock has passed 4, rows agree, and neurons have not: the score is [[I3.hidden_printed:±]] ({claim}`I3.hidden_printed`), where the usual start has {glue:text}`usual_least:≥.3f` or more at all epochs kept. We had predicted half at $x$ about 1; two seeds reject that ({claim}`I3.clock_printed`). Halfway between two networks {glue:text}`hidden_drop` points are lost after these 20 epochs with the start that hides $F$, and {glue:text}`percent(-usual.measured("syre 1").drop())` gained with the usual one.
#
# So in these epochs a start that shares $F$ gives neurons their places and weight decay does not. That costs have no part is not shown: the score still grows, and what it is after 100 epochs has not been run ({claim}`I3.hidden_hundred`).
#
# ## What it means for merging networks
#
# MLPs on MNIST that share fixed weights which are large beside the trained ones can be averaged as they are, without a search for permutations. Zeros in up to three quarters of a row do not do it: they make layers asymmetric, and leave the neurons without places.
#
# The price is accuracy at the ends, which the paper expects ("strong symmetry breaking comes with reduced feature learning", sec. 4.5) and the {ref}`evidence <does-alignment-help>` measures. Where fixed values identify most neurons but not all, a matching that looks only at activations may take some from their place.
#
# **Read on.** [](54_swaps_on_images.ipynb): what a swap of two neurons costs in such networks. [](57_image_networks.ipynb): residual networks and transformers; [](55_architecture_symmetries.ipynb): what symmetries their masks leave. [](45_coherence.ipynb): when masks alone identify neurons, and when not.

# %% [markdown]
# ## Evidence
#
# ### The networks of this page
#
# {glue:text}`data_says` The networks that this page trains (profile {glue:text}`profile`) have three hidden layers of {glue:text}`width` units and were trained for {glue:text}`epochs` epochs on {glue:text}`n_images` images; the paper's have 512 units and 100 epochs, on the 54 000 images of the published code.
# What the paper states about its own sizes is decided by the recorded run alone; a box shows what was measured here beside it. What it states about {term}`W-MLPs <W-asymmetric>` in general, and most of what only we ask, is judged wherever the images are MNIST.
#
# As in I, App. F.1: layer norm, GELU, AdamW with rate $10^{-3}$ and weight decay 0.01; rows have 64 fixed entries in the first three maps and 256 in the last, at other widths the same share of the inputs, {glue:text}`fixed` here.
# The paper states neither the batch size nor the law of the initial weights; here batches have {glue:text}`batch` images; $W$ starts at $\mathcal N(0, 1/d)$ in asymmetric maps and by torch's law in ordinary ones, as in the published code.
# I, App. F.3 splits at random 80/10/10 %; the code trains on 90 % of MNIST's training images, and so do we, or on a random part of them.
# Units are matched and accuracies taken on {glue:text}`inputs_used` of the images that the networks were trained on.
# For syre the paper has $D^{-2}$ uniform in $[1 - \varepsilon, 1 + \varepsilon]$ (I, Table 1) and does not state $\varepsilon$; we take $\varepsilon = 0$, as the [published code](https://github.com/vuenc/neuron-identifiability) does.
# *σ-MLPs* have ordinary weights and the activation $h \mapsto s(G h) \odot h$ with a fixed matrix $G$ of $\mathcal N(0, 1)$ entries and the logistic function $s$ (*{term}`FiGLU <σ-asymmetric>`*).
#
# A pair shares $F$ and $D$.
# The published code draws one mask for all networks of a kind; here every pair has its own, so that pairs are independent, given the images, which all of them share.
# (Of networks without masks any two are a pair, which would narrow their intervals; the measurements that are stored hold these pairs only.)
# Pair $p$ has the same seeds in all variants; W-MLPs that differ in $\sigma_F$ alone have the same masks and first weights.
# {glue:text}`left_out`
#
# Errors are those of independent pairs, with Student's quantile; numbers after ± are half-widths of intervals at two-sided $10^{-3}$.

# %% [markdown]
# ### One pair, written out
#
# One pair of small W-MLPs with $\sigma_F = 0$, {glue:text}`little` units per layer and twenty epochs.
# $S$ holds the correlations of the units of a layer over all training images, after norm and activation; $P^*$ maximises $\mathcal L(P) = \frac1m \langle P, S \rangle$ (the paper's Q2 has it without $\frac1m$, its script with it), and the mean $\mathcal L_r$ of $\mathcal L$ over all $m!$ permutations is the mean of $S$, where the script draws a hundred.
# The line is followed between $W_{\mathrm{eff}} = F + D \odot W$ as they are, and after the second network's units have been put in the order $P^*$.

# %%
little = min(width, 32)
sizes = dict(width=little, images=min(images, 1000), epochs=20, batch=64)
sizes |= dict(stages=[], pairs=1, sweep_pairs=1, sigmas=[], shares=[])
small = replace(settings, **sizes).training_runs()["W 0"]  # σ_F = 0
shown = load(name, small.data.split, small.data.n, seed)
x, y = shown.inputs(flat=True), shown.y
a, b = ends(small.result())  # one pair, F + D ⊙ W in the place of W

correlations = {
    layer: found.correlations()  # (pairs, m, m)
    for layer, found in recorded_moments(a, b, x).items()
}
best = {layer: assign(S) for layer, S in correlations.items()}  # P*, (pairs, m)

S, p = correlations["0"][0], best["0"][0]
print(f"first layer: L(P*) = {S[range(little), p].mean():.3f}", end=", ")
print(f"L(I) = {S.diagonal().mean():.3f}, L_r = {S.mean():.3f}")

ends_and_middle = (0, 0.5, 1)
for words, other in (("as they are", b), ("matched", b.permuted(best))):
    line = along_segments(a, other, x, y, ends_and_middle)
    print(f"accuracy {words}: {line.accuracy[0].numpy().round(3)}")

# %% [markdown]
# All pairs are treated in this way, with $\mathcal L$ averaged over layers and pairs in $r$. The *drop* is the training accuracy of the ends less that halfway between them, in percentage points.
#
# ### The identity and the best permutation
#
# I, Q2 asks how large $\sigma_F$ must be for neurons to be {term}`identifiable <identifiability>`.
# It sweeps $\sigma_F$ from 0 to 5, by the published code over 0, .01, .02, .05, .1, .2, .5, 1, 2 and 5 (`checkpoint_directories.py`, ccf9305).
# The figure has the networks of this page.

# %% Plot objectives against σ_F, and over epochs
SCALES = sorted({0.0, 1.0, *map(float, sigmas)})
KEPT = [epoch for epoch in sorted(set(stages)) if epoch < epochs]


def objectives(axes, at: list) -> None:
    """Three curves, averaged over layers, through some places."""
    for part, label, colour in (
        ("optimal", "optimal $P^*$", "blue"),
        ("identity", "identity", "red"),
        ("random", "random, mean over all", "grey"),
    ):
        mean, error = np.transpose([over_clusters(getattr(f, part)) for f in at])
        style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2, label=label)
        figures.band(axes, range(len(at)), mean, error, **style)


figure, panels = figures.panels(3, sharey=True)
objectives(panels[0], [first.measured(f"W {s:g}") for s in SCALES])
panels[0].set(title=f"after {epochs} epochs", xlabel=r"$\sigma_F$")
panels[0].set(ylabel=r"objective $\mathcal{L}$")
panels[0].set_xticks(range(len(SCALES)), [f"{s:g}" for s in SCALES])
for axis, key in ((panels[1], "W 0"), (panels[2], "W 1")):
    objectives(axis, [first.measured(key, epoch) for epoch in [*KEPT, None]])
    axis.set(title=rf"$\sigma_F = {key[2:]}$", xlabel="epochs")
    axis.set_xticks(range(len(KEPT) + 1), map(str, [*KEPT, epochs]))
figures.show("fig_objectives", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_objectives
# :alt: Three panels with three curves each, the objectives of the optimal, the identity and random permutations. First, against the scale of the fixed weights. Second and third, over epochs, with fixed weights zero and of scale one.
#
# W-MLPs of this page (profile {glue:text}`profile`), averaged over layers. First panel: I, Fig. 3a. Second and third: I, Fig. 3c. Bars: intervals at two-sided $10^{-3}$ over pairs.
# :::
#
# Before the first step at $\sigma_F = 1$ the correlations of equal units are {glue:text}`start_measured` after the three hidden layers; {prf:ref}`prop-fixed-places`, with what GELU passes on, gives $c =$ {glue:text}`start_predicted`. It takes inputs to be uncorrelated and pre-activations to be normal, and is too high, a little in the third layer of the printed sizes and more in narrow layers.
# *Close* is not *connected*: on this page $r =$ {glue:text}`entries["W 1"][1]` at $\sigma_F = 1$, with a drop of {glue:text}`entries["W 1"][3]` points.
#
# ### What $P^*$ moves
#
# $\mathcal L(I)$ may be near $\mathcal L(P^*)$ although $P^*$ moves many units, each for a little gain. The sharper question is how many units $P^*$ leaves in their place.


# %% Shares and leads
def in_place(experiment: Experiment, key: str) -> tuple[float, float]:
    """Share of the units that P* leaves in their place."""
    value, error = over_clusters(experiment.measured(key).stays)
    return value, max(error, unit(experiment, key))


def far_below(experiment: Experiment) -> tuple[float, float]:
    """L_r over L(I) at the largest σ_F."""
    found = experiment.measured(TOP)
    return jackknife(lambda u, v: u / v, found.random, found.identity)


def least_lead(experiment: Experiment) -> tuple[float, float, float]:
    """r at σ_F = 1 less that at σ_F = 0, at the epoch where it is least."""
    leads = (experiment.lead("W 1", "W 0", epoch) for epoch in [*KEPT, None])
    return extreme(min, leads)


def off_at_start(experiment: Experiment) -> tuple[float, float, float]:
    """|L(I) − c| before training in the layer where it is largest, σ_F = 1."""
    measured = experiment.measured("W 1", 0).identity  # (pairs, layers)
    predicted = [c for _, c in at_start(1, PIXELS[name], width)]
    found = [over_clusters(values) for values in measured.T]
    off = zip(found, predicted, strict=True)
    return extreme(max, ((abs(mean - c), error) for (mean, error), c in off))


# %%
claims.check("I10.close", lambda e: progress(e, TOP), **swept)
claims.check("I10.random", far_below, **swept)
claims.check("I10.stages", least_lead, **twice)
claims.check("I10.fixed", lambda e: in_place(e, "W 1"), **twice)
kept_start = 0 in KEPT
off = off_at_start if kept_start else lambda e: (1.0, 1.0)
claims.check("I10.at_start", off, **twice | {"n": pairs * kept_start})

# %% [markdown]
# ### The identity with zero fixed weights
#
# With $\sigma_F = 0$ symmetries are not broken effectively (I, App. G.1).
# But the masks still differ from neuron to neuron.
# Is the identity a little better than a random permutation, for no other reason than that both runs may not use the same inputs?
# In an ordinary MLP nothing tells unit $i$ of one run from unit $j$, and $r$ is 0 on average.
#
# If masks leave a trace, it is to be expected in the last hidden layer: in the row of each output half of the entries are 0 in both networks, so that a unit feeds only about half of the classes, the same in both.
# In the first layers a mask hides inputs, which makes two units alike up to a sign, and $r$ is a mean of signed correlations.


# %%
def last_layer(experiment: Experiment) -> tuple[float, float]:
    """r in the last hidden layer, σ_F = 0, with an error of at least one unit."""
    value, error = experiment.relative("W 0", layer=2)
    return value, max(error, unit(experiment, "W 0"))


for key in ("MLP", "W 0"):
    for layer in LAYERS:
        r, error = first.relative(key, layer=layer)
        still = first.measured(key).stays[:, layer].mean() * width
        print(
            f"{key}, layer {layer + 1}: r = {r:.3f} ± {3.29 * error:.3f}",
            end="; ",
        )
        print(f"P* leaves {still:.1f} units (by chance 1)")

# %%
claims.check("I10.better", lambda e: progress(e, "W 0"), **twice)
claims.check("I10.trace", last_layer, **twice)
claims.check("I14.zero", lambda e: progress(e, "W 0"), **twice)

# %% [markdown]
# ### Start or cost
#
# The clock. $W_{\mathrm{eff}} = (1 - e^{-\tau})\, F + e^{-\tau} Z$ and the moves of the optimiser, with $\tau = - T \ln(1 - \eta \kappa)$ after $T$ steps of rate $\eta$ and decay $\kappa$.
# The moves left aside, equal rows of two runs in a map with $d$ inputs have the cosine $x^2/(1 + x^2)$ with $x = (e^\tau - 1)\, \sigma_F \sqrt d$; so do the units of the first map, on average; in later maps this is multiplied by the agreement $c$ of the layer before.

# %%
print("epochs  x, d = 512   rows of weights    r of the units, by layer")
for epoch, parts in (course | late).items():
    numbers = "  ".join(
        " ".join(f"{v:4.2f}" for v in part.mean(dim=0).round(decimals=2) + 0)
        for part in parts
    )
    print(f"{epoch:6} {clock(run, epoch, units) + 0:11.2f}   {numbers}")
print(f"from the usual start r is at least {usual_least:.4f}")


# %% The clock at halfway, and rows
def struck(experiment: Experiment) -> tuple[float, float]:
    """ln x where r = ½ on average over layers; the last epoch if it never is."""
    run, course = experiment.runs["hidden"], course_of(experiment)
    d = run.model.sizes[1]
    x = np.log([clock(run, epoch, d) for epoch in course if epoch])
    r = torch.stack([way.mean(dim=1) for e, (_, way) in course.items() if e])
    found = []
    for way in r.T.numpy():  # of a pair
        late = int((way >= 0.5).argmax()) if way.max() >= 0.5 else len(x) - 1
        if late and way[late] >= 0.5:
            found.append(
                np.interp(0.5, way[late - 1 : late + 1], x[late - 1 :][:2])
            )
        else:
            found.append(x[late])
    value, error = over_clusters(torch.tensor(np.array(found)))
    last = max(course)
    of_an_epoch = math.log(clock(run, last, d) / clock(run, last - 1, d))
    return value, max(error, of_an_epoch)


def rows_agree(experiment: Experiment) -> tuple[float, float]:
    """Mean cosine of equal rows of the weights, in the end."""
    return over_clusters(experiment.stages("hidden").rows[None])


# %%
hidden_again = swept | ({"again": second} if "hidden" in again else {})
claims.check("I3.clock_printed", struck, **hidden_again)
claims.check("I3.hidden_printed", lambda e: progress(e, "hidden"), **hidden_again)

n_hidden = len(long_hidden.stages("hidden").pairs)
once = {"of": long_hidden, "n": n_hidden}  # a pair takes long
claims.check("I3.rows_hundred", rows_agree, **once)
claims.check("I3.hidden_hundred", lambda e: progress(e, "hidden"), **once)

# %% [markdown]
# We had predicted that the units, too, are halfway when $x$ is about 1, as in the experiment of {prf:ref}`thm-start`; see {claim}`I3.clock_printed` and, in other words, {claim}`I3.hidden_printed`. Rows come to agree later than without the moves, half at $x =$ {glue:text}`rows_half` on average; the units far less: at $x =$ {glue:text}`clock_x` $r$ is {glue:text}`clock_r` in the three layers.
# Two likely reasons, not tested apart. Decay was 3 and more there and is 0.01 here: as a step of AdamW moves an entry by about $\eta$ at most, the decayed sum of the moves is at most about $(1 - e^{-\tau})/\kappa$ in an entry, against $(1 - e^{-\tau})\, \sigma_F$ for $F$, a third of it there and up to a hundred times it here, whatever $x$ is; and the moves lie in the few directions in which the images vary, which units follow in small networks ({claim}`I3.units_follow`).
# In later maps equal rows do little while the units before them disagree ($\rho = c \rho_0$).
# After 20 epochs the same networks have from the usual start $r$ of {glue:text}`usual_least:≥.3f` or more at all epochs kept. Halfway between two networks the accuracy drops by {glue:text}`hidden_drop` points with the start that hides $F$, by {glue:text}`percent(usual.measured("syre 1").drop())` with the usual one and by {glue:text}`percent(usual.measured("MLP").drop())` between MLPs; after alignment {glue:text}`hidden_aligned`.
# On average over the layers $r$ still grows, from {glue:text}`way_before` after {glue:text}`before_last` epochs to {glue:text}`printed_hidden.relative("hidden")[0]:.2f` after {glue:text}`last`; a start at $Z - F$ also turns the implicit bias of training, where it is one towards the start, away from $F$; and the usual start without decay was not tried at these sizes.
#
# How does it go on? If moves are stationary and independent in the two runs, equal rows agree by $x^2/(1 + x^2 + K (e^{2\tau} - 1))$ ({prf:ref}`thm-clocks`).
# With $K$ from the rows after {glue:text}`last` epochs, {glue:text}`moves` in the three maps, it is {glue:text}`moves_hundred` after the printed hundred, where $x$ is {glue:text}`clock_hundred` at $d = 512$. So we predicted, before it was measured, that rows then agree to about nine tenths ({claim}`I3.rows_hundred`) and that units are more than half of the way to their places ({claim}`I3.hidden_hundred`): that the start is needed would be a statement about the length of training. The run has not been made.
#
# ### Lines between networks
#
# The script that draws I, Fig. 4a and 4c shows accuracies from 93 to 100.1 %, so that a curve that falls lower would leave the frame.
# A drop may grow with training, so that a small one after fewer than the printed 100 epochs says little: what the paper states about barriers is judged at 100 epochs, and what is so at the sizes of the page is asked apart. (*High* is also to be twice the drop of W-MLPs with $\sigma_F = 1$, where that is more than 4 points.)

# %%
claims.check(
    "I11.syre", lambda e: drop(e, "syre 1"), **twice_long, n=n_long["syre 1"]
)
claims.check("I11.large", lambda e: drop(e, TOP), **swept)

# %% Plot the accuracy along the line, at the sizes of this page
NAMES = {
    "MLP": ("MLP", "black"),
    "W 0": (r"W-MLP, $\sigma_F = 0$", "orange"),
    "W 1": (r"W-MLP, $\sigma_F = 1$", "purple"),
    "syre 1": (r"syre-MLP, $\sigma_F = 1$", "green"),
}


def show_lines(name: str, experiment: Experiment) -> None:
    """I, Fig. 4a and 4c: unaligned and aligned."""
    figure, axes = figures.panels(2, sharey=True)
    for axis, matched, title in (
        (axes[0], "none", "unaligned"),
        (axes[1], "correlation", "aligned"),
    ):
        for key, (label, colour) in NAMES.items():
            lines = 100 * experiment.measured(key).accuracy[matched]
            mean, error = np.transpose([over_clusters(v) for v in lines.T])
            style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2)
            style |= dict(label=label)
            figures.band(axis, experiment.lambdas, mean, error, **style)
        axis.set(xlabel=r"place $\lambda$ on the line", title=title)
    axes[0].set(ylabel="training accuracy (%)")
    figures.show(name, figure, legend=4)


show_lines("fig_asymmetric_lines", first)

# %% [markdown]
# :::{glue:figure} fig_asymmetric_lines
# :alt: Training accuracy along the line between two networks of the sizes of this page, one curve for each of four models, first unaligned, then aligned.
#
# At the sizes of this page (profile {glue:text}`profile`): mean training accuracy over {glue:text}`pairs` pairs after {glue:text}`epochs` epochs. The axis does not start at 0; bars: intervals at two-sided $10^{-3}$.
# :::
#
# Alignment need not help at these sizes: at $\sigma_F = 1$ it changes the drop by {glue:text}`change("W 1")` here, for which *Does alignment always help?* below has a reason.
#
# The same questions at the sizes of this page, where $\sigma_F =$ {glue:text}`max(sigmas):g` stands for large fixed values:

# %%
claims.check("I11.any_unaligned", lambda e: over_mlp(e, TOP), **swept)
claims.check("I11.any_zero", lambda e: over_mlp(e, "W 0"), **twice)
claims.check("I11.any_aligned", largest_aligned, **twice)
claims.check("I11.any_similar", similarly, **twice)

# %% [markdown]
# ### When the middle is better than the ends
#
# A drop below 0 says that the middle is *better* than the ends, as in the recorded run with the largest $\sigma_F$, after 20 epochs ({claim}`I11.large`). For the loss {prf:ref}`prop-jensen` says when: where what the middle loses against the averaged outputs of the ends, the cost of its deviation, is less than what these gain on the ends, the Jensen gap.
# The cell takes both terms of small networks, of {glue:text}`half_width` units and {glue:text}`half_epochs` epochs, and the accuracy of the averaged outputs (for the accuracy the second term may have either sign).

# %%
from lmc_helpers.networks.model import Stack


def half_way(key: str, of: dict) -> list[tuple[float, float]]:
    """Deviation, Jensen gap, and drops of the middle and of averaged outputs."""
    a, b = ends(of[key].result())
    images = load(name, of[key].data.split, of[key].data.n, seed)
    x, y = images.inputs(flat=True), images.y
    middle = {k: (W + b.params[k]) / 2 for k, W in a.params.items()}
    z_a, z_b, z = (
        net.forward(x).double() for net in (a, b, Stack(a.model, middle))
    )
    chord = (z_a + z_b) / 2  # z̄

    def loss(z: torch.Tensor) -> torch.Tensor:  # of each pair
        own = y.expand(len(z), -1)[..., None]
        return -z.log_softmax(dim=-1).gather(-1, own)[..., 0].mean(dim=1)

    def accuracy(z: torch.Tensor) -> torch.Tensor:
        return 100 * (z.argmax(dim=-1) == y).double().mean(dim=1)

    at_ends = (accuracy(z_a) + accuracy(z_b)) / 2
    deviation = loss(z) - loss(chord)
    gap = (loss(z_a) + loss(z_b)) / 2 - loss(chord)  # J
    drops = at_ends - accuracy(z), at_ends - accuracy(chord)
    return [over_clusters(values) for values in (deviation, gap, *drops)]


sizes = dict(width=min(width, 64), images=min(images, 2000))
sizes |= dict(epochs=min(epochs, 12), stages=[], shares=[])
halves = replace(settings, **sizes).training_runs()
rows = [half_way(f"W {s:g}", halves) for s in SCALES]

# %% Show the two terms
figures.table(
    r"$\sigma_F$ | cost of the deviation | Jensen gap | drop of the middle (points) | of the averaged outputs",
    (
        [f"{s:g}"]
        + [f"{mean:.3f} ± {3.29 * e:.3f}" for mean, e in row[:2]]
        + [f"{round(mean, 1) + 0:.1f} ± {3.29 * e:.1f}" for mean, e in row[2:]]
        for s, row in zip(SCALES, rows, strict=True)
    ),
)

# %% [markdown]
# On average over these pairs, as $\sigma_F$ grows, the deviation costs less and the gap is larger, {glue:text}`100 * rows[-1][1][0] / rows[-1][0][0]:.0f` % of that cost at $\sigma_F =$ {glue:text}`max(sigmas):g`, and averaging the outputs makes the ends more accurate, not less: with a small deviation the middle inherits that. (± half-widths of intervals at two-sided $10^{-3}$ over pairs.)
#
# (does-alignment-help)=
# ### Does alignment always help?
#
# Fixed weights and alignment compete: $P^*$ is the best permutation of activations, but a unit that it moves brings its fixed weights along, which then meet other fixed weights.
# Where $P^*$ is the identity nothing happens.
# Where fixed weights identify most neurons but not all, the units that are moved may cost more than they bring.
#
# (sign-of-the-objective)=
# ### The sign of the objective
#
# The script for aligned networks in the newest state of the [published code](https://github.com/vuenc/neuron-identifiability) (`measure_lmc_unaligned_aligned.py`, commit c92eb82) *maximises* $\sum_i (1 - |S_{i p(i)}|)$: it matches units whose activations are as little correlated as they can be.
# With the other sign it would maximise $\sum_i |S_{i p(i)}|$ and match units that respond alike, or oppositely.
# The objective of the text is the sum of the correlations themselves, which the script for Fig. 3 maximises, and which this script maximised, too, from its first version (ae2fd40, February 2026) to f91efa2 of 1 June 2026, days before the paper appeared; the runs that it reads are of December 2025 (`checkpoint_directories.py`, ccf9305).
# So by the dates the sign is a late slip of a script, after the runs, and text and figure agree.
# We take the objective of the text, and follow the lines for both signs of the other.

# %% Plot the drops against σ_F, and what is lost at the ends
figure, (left, right) = figures.panels(2)


def against_scales(axes, found: list, number: int, **style) -> None:
    """Means over pairs at each σ_F, with bars, side by side with others."""
    mean, error = np.transpose(found)
    at = np.arange(len(SCALES)) + 0.05 * (number - 1)
    figures.band(axes, at, mean, error, linewidth=1.2, **style)


matchings = (
    ("none", "unaligned", "red", "o-"),
    ("correlation", r"by the largest $\rho$", "blue", "o-"),
    ("absolute", r"by the largest $|\rho|$", "sky", "s--"),
    ("published", r"by the largest $1 - |\rho|$", "grey", "o-"),
)
for number, (by, label, colour, fmt) in enumerate(matchings):
    drops = [drop(first, f"W {s:g}", by) for s in SCALES]
    style = dict(color=f"book:{colour}", label=label, fmt=fmt)
    against_scales(left, drops, number, **style)
left.set_ylabel("drop of the accuracy halfway (points)")
lines = [100 * first.measured(f"W {s:g}").accuracy["none"] for s in SCALES]
of_ends = [over_clusters(line[:, [0, -1]]) for line in lines]
half_way = [over_clusters(line[:, line.shape[1] // 2]) for line in lines]
style = dict(color="book:black", label="accuracy of the ends", fmt="o-")
against_scales(right, of_ends, 1, **style)
style = dict(color="book:red", label="halfway, unaligned", fmt="s--")
against_scales(right, half_way, 2, **style)
right.set(ylabel="training accuracy (%)", ylim=(0, 105))
for axis in (left, right):
    axis.set_xlabel(r"$\sigma_F$")
    axis.set_xticks(range(len(SCALES)), [f"{s:g}" for s in SCALES])
figures.show("fig_alignment", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_alignment
# :alt: First panel, the drop of the accuracy halfway against the scale of the fixed weights, unaligned, aligned by the correlation or its absolute value, and matched by the published objective. Second panel, training accuracy of the ends and halfway against the scale.
#
# W-MLPs of this page (profile {glue:text}`profile`). First panel: drops without alignment and with three matchings; the newest script maximises $1 - |\rho|$. Second panel: what the ends and the middle reach. Bars: intervals at two-sided $10^{-3}$ over pairs.
# :::

# %% Show accuracies and drops
labels = {key: label for key, (label, _) in NAMES.items()}
labels |= {TOP: rf"W-MLP, $\sigma_F = {max(sigmas):g}$", "sigma": "σ-MLP"}
order = ("MLP", "W 0", "W 1", TOP, "syre 1", "sigma")
entries, drops = {}, ("none", "correlation", "absolute", "published")
for key in order:
    found = first.measured(key)
    ends = percent(100 * found.accuracy["none"][:, [0, -1]])
    row = [ends, of_way(key), percent(100 * found.stays)]
    entries[key] = row + [percent(found.drop(by)) for by in drops]
figures.table(
    r" | training accuracy (%) | $r$ | units that $P^*$ leaves in place (%) | drop, unaligned | by $\rho$ | by $\lvert\rho\rvert$ | by $1 - \lvert\rho\rvert$",
    ([labels[key], *entries[key]] for key in order),
)

# %% [markdown]
# (Drops in points; ± half-widths of intervals at two-sided $10^{-3}$ over pairs, profile {glue:text}`profile`.)


# %% The other sign, and what alignment costs
def other_sign(experiment: Experiment) -> tuple[float, float]:
    """Drop of MLPs by |ρ| less that by ρ, over that of unaligned ones."""
    found = experiment.measured("MLP")
    drops = [found.drop(by) for by in ("absolute", "correlation", "none")]
    return jackknife(lambda u, v, w: (u - v) / w, *drops)


def harm(experiment: Experiment) -> tuple[float, float, float]:
    """What alignment costs, in points, at the σ_F where it costs most."""
    costs = []
    for sigma in SCALES:
        found = experiment.measured(f"W {sigma:g}")
        value, error = over_clusters(found.drop("correlation") - found.drop())
        costs.append((value, max(error, 100 / experiment.images)))
    return extreme(max, costs)


# %%
claims.check("I11.published", lambda e: drop(e, "W 1", "published"), **twice)

claims.check("I11.minimised", other_sign, **twice)
claims.check("I11.harmless", harm, **swept)

# %% [markdown]
# ### Layer by layer, and other ways to break the symmetry
#
# I, App. G.1 looks at each layer over epochs and finds "the patterns … consistent across layers" (I, Fig. 7); against $\sigma_F$ it plots each layer without saying what it shows (I, Fig. 8).
# It looks at σ-asymmetric MLPs, which break symmetries less effectively than W-asymmetric ones as far as unaligned connectivity goes, and where the identity is found to be no better than random permutations, and at the share of fixed entries (I, Fig. 10): sparsity alone, without fixed weights, does not yield strong identifiability.
# The text does not say which shares are taken, nor of which maps; the published code lists .01, .02, .05, .1 to .9, .95, .97 and .99 (`checkpoint_directories.py`, ccf9305). Here a share is that of every row of all four.

# %% Plot r layer by layer, over epochs
figure, panels = figures.panels(3, sharey=True)
for layer, axis in enumerate(panels):
    for number, (key, (label, colour)) in enumerate(NAMES.items()):
        ways = [first.relative(key, epoch, layer) for epoch in [*KEPT, None]]
        at = np.arange(len(ways)) + 0.06 * (number - 2)  # side by side
        style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2)
        mean, error = np.transpose(ways)
        figures.band(axis, at, mean, error, label=label, **style)
    value, error = first.relative("sigma", layer=layer)
    style = dict(color="book:sky", fmt="D", label="σ-MLP, at the end")
    figures.band(axis, [len(KEPT) + 0.12], [value], [error], **style)
    axis.set(xlabel="epochs", title=f"after layer {layer + 1}", ylim=(-0.3, 1.1))
    axis.set_xticks(range(len(KEPT) + 1), map(str, [*KEPT, epochs]))
panels[0].set_ylabel("$r$, identity on the way to $P^*$")
figures.show("fig_stages", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_stages
# :alt: Three panels, one a hidden layer, with how far the identity is on the way to the best permutation over epochs, one curve for each of four models, and a point for the σ-MLP.
#
# I, Fig. 7 in one number, $r$, for the networks of this page (profile {glue:text}`profile`). Bars: intervals at two-sided $10^{-3}$ over pairs.
# :::

# %% Plot r layer by layer, against σ_F and shares
figure, (left, right) = figures.panels(2, sharey=True)
COLOURS = ("black", "grey", "sky")
for layer, colour in zip(LAYERS, COLOURS, strict=True):
    ways = [first.relative(f"W {s:g}", layer=layer) for s in SCALES]
    style = dict(color=f"book:{colour}", linewidth=1.2)
    word = f"after layer {layer + 1}"
    mean, error = np.transpose(ways)
    at = np.arange(len(SCALES)) + 0.05 * (layer - 1)  # side by side
    figures.band(left, at, mean, error, fmt="o-", label=word, **style)
    for sigma, fmt in ((0, "o--"), (1, "s-")):
        some = [*shares, *sparse] if sigma == 0 else shares
        keys = ["MLP", *(f"share {s:g}, {sigma}" for s in some)]
        mean, error = np.transpose(
            [first.relative(key, layer=layer) for key in keys]
        )
        at = np.array([0, *some]) + 0.01 * (layer - 1)
        figures.band(right, at, mean, error, fmt=fmt, **style)
for fmt, label in (
    ("o--", r"shares, $\sigma_F = 0$"),
    ("s-", r"shares, $\sigma_F = 1$"),
):
    right.plot([], [], fmt, color="book:black", markersize=3, label=label)
left.set(xlabel=r"$\sigma_F$", ylabel="$r$, identity on the way to $P^*$")
left.set_ylim(-0.3, 1.1)
left.set_xticks(range(len(SCALES)), [f"{s:g}" for s in SCALES])
right.set(xlabel="share of fixed entries in every row")
marked = [*shares, *sparse]
right.set_xticks([0, *marked], ["MLP", *(f"{s:g}" for s in marked)])
figures.show("fig_layers", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_layers
# :alt: First panel, how far the identity is on the way to the best permutation against the scale of the fixed weights, one curve for each of three layers. Second panel, the same against the share of fixed entries, with fixed values of scale one and zero.
#
# First panel: I, Fig. 8 in one number, W-MLPs with the entries of I, App. F.1. Second panel: I, Fig. 10, shares of fixed entries; without any the network is an MLP (whose weights start by torch's law, not by $\mathcal N(0, 1/d)$). Bars as before (networks of this page, profile {glue:text}`profile`).
# :::


# %% Layers, stages, shares
def least_layer(experiment: Experiment) -> tuple[float, float, float]:
    """Lead of the largest σ_F over σ_F = 0 in the layer where it is least."""
    leads = (experiment.lead(TOP, "W 0", layer=layer) for layer in LAYERS)
    return extreme(min, leads)


def least_stage(experiment: Experiment) -> tuple[float, float, float]:
    """Least lead of σ_F = 1 over none, of kinds, layers and epochs."""
    kinds = product(("W 1", "syre 1"), ("MLP", "W 0"))
    at = product(kinds, [*KEPT, None], LAYERS)
    return extreme(
        min, (experiment.lead(*pair, e, layer) for pair, e, layer in at)
    )


def masks_alone(experiment: Experiment, most: float = 1) -> tuple[float, ...]:
    """r of sparse networks, at the share up to the most where it is largest."""
    some = [f for f in (*shares, *sparse) if f <= most]
    if experiment is not first:  # a rejection is repeated where it was found
        some = [max(some, key=lambda f: first.relative(f"share {f:g}, 0")[0])]
    return extreme(max, (experiment.relative(f"share {f:g}, 0") for f in some))


def as_effective(experiment: Experiment) -> tuple[float, float]:
    """The drop of W-MLPs with σ_F = 1 over that of σ-MLPs, unaligned."""
    drops = dropped(experiment, ("W 1", "none"), ("sigma", "none"))
    return known(*jackknife(lambda u, v: u / v, *drops))


# %%
claims.check("I14.stages", least_stage, **twice)
claims.check("I14.layers", least_layer, **swept)

claims.check("I14.sigma_mlp", lambda e: progress(e, "sigma"), **twice)
claims.check("I14.sigma_any", lambda e: progress(e, "sigma"), **swept)
claims.check("I14.sigma_lmc", as_effective, **swept)

claims.check("I14.sparsity", lambda e: masks_alone(e, 0.75), **swept)
claims.check("I14.sparsest", masks_alone, **swept)
claims.check("I14.sparsity_any", masks_alone, **swept)


# %% Numbers for the text
def change(key: str) -> str:
    """By how much alignment changes the drop."""
    found = first.measured(key)
    value, error = over_clusters(found.drop("correlation") - found.drop())
    number = f"{value:+.1f} ± {3.29 * error:.1f} points"
    clear = abs(value) > 3.29 * error
    return f"{number} ({'beyond' if clear else 'within'} the error)"


def duration(s: float) -> str:
    """Seconds in a unit that suits."""
    units = ((5400, 3600, "h"), (90, 60, "min"), (0, 1, "s"))
    unit, word = next((u, word) for least, u, word in units if s >= least)
    return f"{max(1, round(s / unit))} {word}"


start = first.measured("W 1", 0).identity.mean(dim=0) if 0 in KEPT else ()
figures.numbers(
    data_says=data_says,
    n_images=f"{trained_on:,}".replace(",", " "),
    inputs_used=f"{first.images:,}".replace(",", " "),
    half_width=sizes["width"],
    half_epochs=sizes["epochs"],
    fixed=", ".join(map(str, fixed_entries(PIXELS[name], width))),
    **{f"{by}_MLP": entries["MLP"][3 + k] for k, by in enumerate(drops)},
    start_measured=", ".join(f"{c:.3f}" for c in start) or "not kept",
    start_predicted=", ".join(
        f"{c:.3f}" for _, c in at_start(1, PIXELS[name], width)
    ),
)

# %% Numbers of networks
every = {
    run.digest: run for one in (first, long) for run in one.runs.values()
}.values()
seconds = 3600 * sum(run.prices().cpu_hours for run in every)
figures.numbers(
    left_out=figures.left_out(
        one.stages(key)
        for one in dict.fromkeys((first, long))
        for key in one.runs
    ),
    line_pairs=" and ".join(
        str(len(printed.stages(key).pairs)) for key in ("MLP", "W 1")
    ),
)

# %% [markdown]
# ### What this page cannot decide, and its price
#
# The training of the networks of this page takes about {glue:text}`duration(seconds)` of one core.
# What is read of the paper's own sizes needs 512 units, all images, batches of 64 and 20 epochs; what it states about barriers needs the printed 100 epochs, as a drop may grow with training.
# At the profile `paper` all networks are trained for 20 epochs, in jobs that run side by side, and those of I, Fig. 4 again for the printed 100; `make runs PROFILE=paper LIST=1` says what each of them costs.
# The drops of networks without fixed weights differ much from pair to pair. At 100 epochs we first looked at eight pairs, as many as the paper has; they left {claim}`I11.standard` and {claim}`I11.zero` undecided.
# After this look, with the criteria fixed before it and unchanged, the number of their pairs was raised to {glue:text}`len(printed.stages("MLP").pairs)` (`long_free_pairs`), the first eight of them the same. The stored lines of {numref}`fig-printed-lines` have {glue:text}`line_pairs` pairs, without and with fixed values, after {glue:text}`printed.runs["MLP"].descent.epochs` epochs.
# What is measured of a model is a run of its own (`MeasuredPairs`), so that they can be made one by one.
# Curves cannot be compared number by number: the paper prints no table of them, and how much the mask matters is not said.
#
# ### What we found that the paper does not say
#
# - What {prf:ref}`prop-fixed-places` loses in a narrow layer is lost again in the next. We did not test how the scale that is needed depends on the width after training.
# - Weight decay brings hidden fixed values back into the rows of the weights, half at $x =$ {glue:text}`rows_half` where {prf:ref}`thm-start` says 1 without the moves, but within these epochs not the units to their places ({numref}`fig-clock-mnist`, {claim}`I3.hidden_printed`).
# - Fixed weights may have a price.
#   The paper expects it, and says of ViTs that $\sigma_F = 2$ was "harder to train" (I, App. G.4).
#   (Of ViTs it adds that more $\sigma_F$ "should not be interpreted as a monotonic improvement in practice"; this is about its tuning, without numbers, and there is nothing to judge.)
#   Here it is measured for MLPs: after the same {glue:text}`epochs` epochs the networks of this page with $\sigma_F =$ {glue:text}`max(sigmas):g` reach {glue:text}`entries[TOP][0]` % of the training images, those with $\sigma_F = 0$ {glue:text}`entries["W 0"][0]` %.
#   A small drop is to be read beside the height of the ends.
# - Does alignment ever cost more than half a point at the printed sizes? Six pairs do not decide ({claim}`I11.harmless`); it may where fixed values identify many neurons but not all.
#   Here it changes the drop by {glue:text}`change("W 1")` at $\sigma_F = 1$, and by {glue:text}`change(TOP)` at $\sigma_F =$ {glue:text}`max(sigmas):g`.
#   $P^*$ {term}`matches activations <activation matching>`; a unit that it moves takes its fixed weights away from their equals in the other network.
# - Masks alone may leave a trace, in the last hidden layer, through the zeros of the output map; six pairs do not decide ({claim}`I10.trace`).
# - The largest $1 - |\rho|$, as in the newest state of the published script, costs W-MLPs with $\sigma_F = 1$ [[I11.published:±]] points in the recorded run ({claim}`I11.published`).
#   On this page it leaves MLPs with a drop of {glue:text}`published_MLP` points, where it is {glue:text}`none_MLP` unaligned, {glue:text}`correlation_MLP` by $\rho$ and {glue:text}`absolute_MLP` by $|\rho|$; at $\sigma_F = 1$ it is {glue:text}`entries["W 1"][6]`, and {glue:text}`entries["W 1"][3]` unaligned.
#   The barriers of I, Fig. 4c are low, so that it was not made with this sign, as the history of the script says, too.

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# For which $\sigma_F$ is $\rho_0 = \frac12$? Compare a map between hidden layers of the paper's networks ($d = 512$, $f = 64$) with one of the same share of fixed entries and $d = 64$.
# :::
#
# :::{solution}
# $\rho_0 = \frac12$ means that the fixed part has the variance of the trained one, $\sigma_F^2 f = 1 - f/d$, so that
#
# $$
# \sigma_F = \sqrt{\frac1f - \frac1d} .
# $$
#
# For $d = 512$, $f = 64$ this is $\sqrt{7/512} \approx 0.117$; for $d = 64$, $f = 8$ it is $\sqrt{7/64} \approx 0.331$, larger by $\sqrt{512/64} = \sqrt8$. At a fixed share $f/d$ the scale that is needed goes like $1/\sqrt d$.
# :::
#
# :::{exercise}
# For a matrix $S$ of correlations ($m \times m$) and $\mathcal L(P) = \frac1m \sum_i S_{i p(i)}$, show that the mean of $\mathcal L$ over all $m!$ permutations is the mean of the entries of $S$.
# Let $S = \rho I + N$ with $|N_{ij}| \le \varepsilon$ for all entries.
# For which $\rho$ is the identity certainly the best permutation?
# Can $P^*$ move all units if $\rho > 0$ is smaller?
# :::
#
# :::{solution}
# $p(i)$ takes each value in the same number $(m - 1)!$ of permutations; so the mean of $S_{i p(i)}$ is the mean of row $i$.
#
# Let $p$ move the units of a set of $k$ units. Then
#
# $$
# m \bigl( \mathcal L(I) - \mathcal L(P) \bigr) = k \rho + \sum_{i \text{ moved}} \bigl( N_{ii} - N_{i p(i)} \bigr) \ge k (\rho - 2\varepsilon) .
# $$
#
# For $\rho > 2\varepsilon$ this is positive for all $k > 0$: the identity is the only best permutation.
# For $\rho < 2\varepsilon$ it can: with $N_{ii} = -\varepsilon$, $N_{i p(i)} = \varepsilon$ for a cyclic shift $p$, and $N = 0$ elsewhere, the shift is best.
# But then $\mathcal L(P^*) - \mathcal L(I) \le 2\varepsilon - \rho$ is small if $\varepsilon$ is, which is why this chapter counts the units that stay as well.
# :::
# :::{try}
# The networks of this page twice as wide, with MNIST or with the digits; the verdicts of the page stay. Look at the drop at $\sigma_F = 1$ in the table of *Does alignment always help?*, which falls with the width:
#
#     make chapter NAME=asymmetric_mlps ARGS="-p width 128 -p epochs 20 -p images 10000"
# :::

# %% Versions and time
print(chapter.end())
