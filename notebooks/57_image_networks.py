# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
#   lmc: {runs: lmc_helpers._chapters.image_networks.Parameters}
# ---

# %% [markdown]
# # Trained CNNs, ResNets and transformers
#
# :::{summary}
# **Question.** What do fixed weights make of the lines between trained ResNets and transformers, and does the barrier between CNNs have a peak in the width?
#
# **The papers.**
# Zhan, Li & Wu (Z) {cite:p}`zhan2025` follow the loss between CNNs of depth 16 at several widths (Z, Fig. 15).
# Bürgin, Herbst, Lin & Jegelka (I) {cite:p}`buergin2026` train {term}`W-asymmetric` and syre-ResNets and W-transformers on CIFAR-10 (I, Figs. 3b, 4b, 4d, 9 and 20).
#
# **What we find.**
# The whole path runs, from training to lines, at any size; the printed sizes were not trained, so that what the papers report of ResNets {claim}`I16.unaligned` {claim}`I16.aligned`, of transformers {claim}`I17.one` and of CNNs {claim}`Z19.peak` is open here, each with its price.
# What is decided without training, at the printed sizes, stands in [](55_architecture_symmetries.ipynb).
#
# **Why it matters.** What large fixed weights do in MLPs on MNIST is mostly decided ([](53_asymmetric_mlps.ipynb)). Whether it carries over to the networks that people merge is open.
# :::
#
# :::{need}
# You need: convolutions, residual connections, attention, and their symmetries ([](55_architecture_symmetries.ipynb)). W-asymmetric networks: [](53_asymmetric_mlps.ipynb). {{ times }}
# :::
#
# {glue:text}`data_says` Trained networks on this page (profile {glue:text}`profile`): {glue:text}`sizes` At smaller sizes than the papers' they show the path and **decide nothing about CIFAR-10**; those parts are then open, with a price below.

# %% Parameters tags=["parameters"]
dataset: str = "cifar10"  # or mnist, digits, which stand in where it is missing
widths: list = [4, 8, 16]  # channels of three CNNs
resnet: list = [1, 8, 1]  # multiplier, channels at width 1, blocks; 8, 16, 3
vit: list = [24, 2, 2]  # dimension, depth, heads; 384, 8, 6 in the paper
side: int = 2  # CNNs and ResNets see means over squares of so many pixels
images: int = 800  # training images; 45 000 in the published code
epochs: list = [4, 5, 7]  # of CNNs, ResNets, transformers; ?, 100, 200
warm_up: int = 0  # epochs of the ResNets' warm-up; 20 in the paper
batch: int = 16  # images of a step; 128 in the paper and its code
pairs: int = 2  # pairs of networks; 8 in I, Fig. 4
sweep_pairs: int = 2  # pairs of W-ResNets with other scales
sigmas: list = [0.5]  # these scales, beside 0 and 2
together: int = 100  # most pairs of a training run
places: int = 4  # intervals of a line, even
seen: int = 300  # training images for matching and lines
seed: int = 7055  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Integer, ListOf, Real

chapter.begin(
    globals(),
    dataset=Choice(("cifar10", "mnist", "digits")),
    widths=ListOf(Integer(1, 4096)),
    resnet=ListOf(Integer(1, 64)),
    vit=ListOf(Integer(1, 4096)),
    side=Integer(1, 4),
    images=Integer(50, 45_000),
    epochs=ListOf(Integer(1, 10_000)),
    warm_up=Integer(0, 10_000),
    batch=Integer(1, 45_000),
    pairs=Integer(2, 1000),
    sweep_pairs=Integer(2, 1000),
    sigmas=ListOf(Real(0.01, 1000)),
    together=Integer(1, 1000),
    places=Integer(2, 1000),
    seen=Integer(10, 45_000),
)
if places % 2:
    raise ValueError(f"places = {places}; allowed: even numbers")

from dataclasses import replace

import numpy as np

from lmc_helpers import claims, figures
from lmc_helpers._chapters.image_networks import (
    Experiment,
    Parameters,
    choose_images,
    networks,
)
from lmc_helpers.barrier import barrier_kinds
from lmc_helpers.error_bars import extreme, jackknife, over_clusters
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

# %% [markdown]
# ## The experiments
#
# The whole path, from training to lines, in batches of {glue:text}`batch`: CNNs by Adam at 0.005, without decay; ResNets by AdamW at 0.01 with decay 0.01 and {glue:text}`warm_up` epochs of warm-up (20 in the paper); transformers by AdamW with a cosine schedule, where the rate 0.001 and the decay 0.01 are ours, as I does not state them.
# On CIFAR-10 ResNets and transformers see flips and crops as in I, App. F.3; CNNs see the images as they are.
# The paper splits at random 80/10/10 %; the published code trains on 90 % of the training images, and so do we, or on a part of them.
# Entries are fixed at the share of each row that they have in the papers.
# In *syre-ResNets* $F \sim \mathcal N(0, \sigma_F^2)$ is added to all entries, with $D = 1$.
# A pair shares $F$ and $D$, pairs do not; the published code has one mask for all networks of a kind.
# Units are matched by the largest sum of correlations, and accuracies on lines taken, on the first {glue:text}`images_used` training images, not augmented.
# (The published script for aligned networks maximises $1 - |\rho|$; [](53_asymmetric_mlps.ipynb), {claim}`I11.published`.)
# Where squares of pixels are averaged, CNNs and ResNets see the averages.
#
# What the papers leave open: the CNNs of Z, Fig. 15 have here 15 convolutions of equal widths and a final map, three poolings, He's law and no norm; transformers start at $\mathcal N(0, 0.02^2)$ and have no dropout and keys without a bias.
# All networks are trained in float32, whatever the device.
# {glue:text}`left_out`

# %%
settings = chapter.parameters(Parameters, globals())
experiment = Experiment(settings, places, seen)
for key in experiment.runs:
    print(f"{key:14} training accuracy {experiment.accuracy(key):.2f}")


# %% What is counted
chosen, data_says = choose_images(dataset)
chapter.uses(dataset=experiment.source)
n_swept = min(sweep_pairs, pairs)  # pairs of W-ResNets with other scales
TOP = f"W-ResNet {max([2.0, *map(float, sigmas)]):g}"
second = Experiment(replace(settings, seed=(seed + 1) % 2**32), places, seen)
twice = {"of": experiment, "again": second}
once = {"of": experiment, "n": pairs}  # our recipe: a rejection stays open


def drop(e: Experiment, key: str, by: str = "none") -> tuple[float, float]:
    """Mean drop of the accuracy half-way, in points."""
    value, error = over_clusters(e.measured(key).drop(by))
    return value, max(error, 100 / len(e.y))  # no less than one image


def known(value: float, error: float) -> tuple[float, float]:
    """A reading with a floor for what is not resolved; 0 over 0 says nothing."""
    if not np.isfinite([value, error]).all():
        return 0.0, 1e6
    return value, max(error, 1e-3)


def ratio(values, others) -> tuple[float, float]:
    """Ratio of two means over pairs."""
    return known(*jackknife(lambda u, v: u / v, values, others))


def progress(e: Experiment, key: str) -> tuple[float, float]:
    """r, averaged over matching points and pairs."""
    return ratio(*e.measured(key).above_random())


# %% [markdown]
# ### CNNs: the loss on the line
#
# Z, Fig. 15 has three panels for three widths, which caption and text do not state (we had the text, not the pictures), at one depth, optimiser and rate.
# Here are three widths, *direct* (as trained) and *permuted* (after {term}`weight matching`), and half-way with the statistics of all units set right ({term}`REPAIR`, [](56_matchers.ipynb)).

# %% Plot the loss along the line
figure, axes = figures.panels(len(widths), sharey=True)
for axis, width in zip(np.atleast_1d(axes), widths, strict=True):
    lines = experiment.losses(f"CNN {width}")
    for order, colour, fmt in (
        ("direct", "red", "s-"),
        ("permuted", "blue", "o--"),
    ):
        style = dict(
            color=f"book:{colour}", markersize=9 - 4 * (order != "direct")
        )
        mean = lines[order].mean(dim=0)
        axis.plot(experiment.lambdas, mean, fmt, label=order, **style)
        for line in lines[order]:
            style = dict(linewidth=0.6, alpha=0.5)
            axis.plot(experiment.lambdas, line, color=f"book:{colour}", **style)
    style = dict(label="permuted, REPAIR")
    axis.plot([0.5], lines["repaired"].mean(), "D", color="book:green", **style)
    axis.set(xlabel=r"place $\lambda$ on the line", title=f"{width} channels")
np.atleast_1d(axes)[0].set(ylabel="NLL (nats)")
figures.show("fig_cnn_lines", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_cnn_lines
# :alt: Negative log-likelihood along the line between two plain CNNs of depth 16 for three widths, direct and after weight matching, with a mark half-way for repaired statistics.
#
# Z, Fig. 15 at the widths of this page: mean negative log-likelihood (NLL) over pairs (thick) and each pair (thin) on training images (profile {glue:text}`profile`).
# :::
#
# Half-way the NLL is {glue:text}`middle_loss` nats at the largest width, and that of a guess that ignores the image is $\ln 10 =$ {glue:text}`guess`; ends near that value are networks that have hardly left the guess themselves.
# Units of an average vary less than those of its ends; without norms this adds up over fifteen layers, until little of the image is left.
# REPAIR restores the variation, and by itself not the function: at the largest width the mean NLL half-way after matching is {glue:text}`repaired` nats with it and {glue:text}`unrepaired` without, so that it makes this average {glue:text}`repair_makes` here.
# None of this is a
# statement on Z, Fig. 15, whose widths, lengths of training and norms its caption and the text do not state.


# %%
def peak(e: Experiment) -> tuple[float, float]:
    """How far the middle width's barrier is above both others, relative."""
    heights = [
        barrier_kinds(e.losses(f"CNN {width}")["permuted"], e.lambdas)["chord"]
        for width in widths
    ]

    def lead(low, middle, high) -> float:
        top = max(middle.mean(), 1e-3)  # nats; less is not resolved
        return float(1 - max(low.mean(), high.mean()) / top)

    value, error = jackknife(lead, heights[0], heights[-2], heights[-1])
    return value, max(error, 1e-3)


# %%
claims.check("Z19.peak", peak, **once)

# %% [markdown]
# ### ResNets: accuracy on the line, and where the identity stands
#
# Let $\mathcal L(P)$ be the mean correlation of the units that a permutation $P$ pairs, $\mathcal L_r$ its mean over all permutations and $P^*$ the best one. As in [](53_asymmetric_mlps.ipynb),
#
# $$
# r = \frac{\mathcal L(I) - \mathcal L_r}{\mathcal L(P^*) - \mathcal L_r}
# $$
#
# says how far the identity is on the way from random permutations to the best.
# A *matching point* is a group of channels that move together: a residual stream, or the inner channels of a block.
# The *drop* is the accuracy of the ends less that half-way.
# I, Fig. 3c follows $\mathcal L$ of W-ResNets over training as well, "for all stages" {claim}`I16.stages`; networks are kept at their end only here (for MLPs: {claim}`I10.stages`).
# As I, App. F.4 says, each pixel is a sample, which is found "beneficial for LMC" {claim}`I16.pixels`; a tenth of the training images is found "sufficient to yield an alignment of low barrier" {claim}`I16.tenth`.

# %% Plot accuracies and r
NAMES = {
    "ResNet": ("ResNet", "black"),
    "W-ResNet 0": (r"W, $\sigma_F = 0$", "orange"),
    "W-ResNet 2": (r"W, $\sigma_F = 2$", "blue"),
    "syre-ResNet 2": (r"syre, $\sigma_F = 2$", "green"),
}
figure, axes = figures.panels(3)
for axis, by, title in (
    (axes[0], "none", "unaligned"),
    (axes[1], "correlation", "aligned"),
):
    for key, (label, colour) in NAMES.items():
        lines = 100 * experiment.measured(key).accuracy[by]
        style = dict(color=f"book:{colour}", label=label)
        axis.plot(experiment.lambdas, lines.mean(dim=0), "o-", **style)
    axis.set(xlabel=r"place $\lambda$", title=title, ylim=(0, 103))
axes[0].set(ylabel="training accuracy (%)")
scales = sorted({0.0, 2.0, *map(float, sigmas)})
points = list(experiment.measured("ResNet").above_random()[0][0])
for place in range(len(points)):
    ways = []
    for s in scales:
        u, v = experiment.measured(f"W-ResNet {s:g}").above_random()
        ways.append((u[:, place].mean() / v[:, place].mean()).item())
    colour = "purple" if place >= len(points) - 3 else "sky"
    label = "streams" if place >= len(points) - 3 else "inner layers"
    style = dict(color=f"book:{colour}", label=label)
    axes[2].plot(range(len(scales)), ways, "o-", **style)
ways = [progress(experiment, f"W-ResNet {s:g}")[0] for s in scales]
axes[2].plot(range(len(scales)), ways, color="book:black", lw=3, label="all")
axes[2].set(xlabel=r"$\sigma_F$", ylabel="$r$", title="matching points")
axes[2].set_xticks(range(len(scales)), [f"{s:g}" for s in scales])
figures.show("fig_resnets", figure, legend=6)

# %% [markdown]
# :::{glue:figure} fig_resnets
# :alt: Left and middle, training accuracy on the line between ResNets of four kinds, unaligned and aligned. Right, how far the identity is on the way to the best permutation against the scale of the fixed weights, one thin curve for every matching point and a thick one for all of them.
#
# I, Figs. 4b and 4d, and Figs. 3b and 9 in one number: mean training accuracy over pairs; $r$ of W-ResNets, for each matching point and for all of them (profile {glue:text}`profile`).
# :::


# %%
def far_below(e: Experiment) -> tuple[float, float]:
    """L_r over L(I) at the largest σ_F."""
    found = e.measured(TOP)
    return ratio(found.random, found.identity)


def least_lead(e: Experiment) -> tuple[float, float, float]:
    """r at σ_F = 2 less that at 0, at the matching point where it is least."""
    parts = [
        part
        for s in (2, 0)
        for part in e.measured(f"W-ResNet {s}").above_random()
    ]
    leads = [
        jackknife(lambda u, v, w, z: u / v - w / z, *(p[:, k] for p in parts))
        for k in range(parts[0].shape[1])
    ]
    return extreme(min, (known(*lead) for lead in leads))


def worst_aligned(e: Experiment) -> tuple[float, float, float]:
    """Largest aligned drop of four models over that of unaligned ResNets."""
    plain = e.measured("ResNet").drop()
    aligned = (e.measured(key).drop("correlation") for key in NAMES)
    return extreme(max, (ratio(drops, plain) for drops in aligned))


def left(e: Experiment, key: str) -> tuple[float, float]:
    """Share of the drop that alignment leaves."""
    found = e.measured(key)
    return ratio(found.drop("correlation"), found.drop())


def similarly(e: Experiment) -> tuple[float, float]:
    """Share of the drop that alignment removes, σ_F = 0 over ResNet."""
    found = [e.measured(key) for key in ("W-ResNet 0", "ResNet")]
    drops = [one.drop(by) for one in found for by in ("correlation", "none")]
    value, error = jackknife(lambda u, v, w, z: (1 - u / v) / (1 - w / z), *drops)
    return value, max(error, 1e-3)


# %%
claims.check("I16.close", lambda e: progress(e, TOP), **twice, n=n_swept)
claims.check("I16.random", far_below, **twice, n=n_swept)
claims.check("I16.two", lambda e: progress(e, "W-ResNet 2"), **twice, n=pairs)
claims.check("I16.layers", least_lead, **twice, n=pairs)

claims.check(
    "I16.unaligned",
    lambda e: ratio(e.measured("W-ResNet 2").drop(), e.measured("ResNet").drop()),
    **twice,
    n=pairs,
)

claims.check("I16.aligned", worst_aligned, **twice, n=pairs)

# %%
claims.check("I16.syre", lambda e: left(e, "syre-ResNet 2"), **twice, n=pairs)

claims.check("I16.similar", similarly, **twice, n=pairs)

# %%
claims.check("I16.tenth", lambda e: left(e, "ResNet"), **twice, n=pairs)
not_run = dict(value=0.0, stderr=1.0, n=0)  # no network of this page says it
claims.check("I16.stages", **not_run)
claims.check("I16.pixels", **not_run)

# %% [markdown]
# ### Transformers: accuracy on the line

# %% Plot accuracies of transformers
TRANSFORMERS = {
    "ViT": ("ViT", "black"),
    "W-ViT 0": (r"W, $\sigma_F = 0$", "orange"),
    "W-ViT 1": (r"W, $\sigma_F = 1$", "blue"),
}
figure, axis = figures.panels(1)
for key, (label, colour) in TRANSFORMERS.items():
    lines = 100 * experiment.measured(key).accuracy["none"]
    style = dict(color=f"book:{colour}")
    axis.plot(experiment.lambdas, lines.mean(dim=0), "o-", label=label, **style)
    for line in lines:
        axis.plot(experiment.lambdas, line, linewidth=0.6, alpha=0.5, **style)
axis.set(xlabel=r"place $\lambda$ on the line", ylabel="training accuracy (%)")
axis.set(ylim=(0, 103))
axis.legend(loc="best")
figures.show("fig_transformers", figure)

# %% [markdown]
# :::{glue:figure} fig_transformers
# :alt: Training accuracy on the line between two transformers, ordinary ones, and with zero and nonzero fixed weights.
#
# I, Fig. 20 at the sizes of this page: mean training accuracy over pairs (thick) and each pair (thin), unaligned (profile {glue:text}`profile`).
# :::


# %%
def higher(e: Experiment, key: str) -> tuple[float, float]:
    """Accuracy half-way less that of ordinary transformers, in points."""
    middle = [
        100 * e.measured(one).accuracy["none"][:, places // 2]
        for one in (key, "ViT")
    ]
    value, error = over_clusters(middle[0] - middle[1])
    return value, max(error, 100 / len(e.y))


# %%
claims.check("I17.pronounced", lambda e: drop(e, "ViT"), **once)

claims.check("I17.zero", lambda e: higher(e, "W-ViT 0"), **once)

claims.check("I17.one", lambda e: higher(e, "W-ViT 1"), **once)

claims.check("I17.remains", lambda e: drop(e, "W-ViT 1"), **once)

claims.check("I17.harder", **not_run)

# %% Show accuracies and drops
labels = {"ResNet": "ResNet"}
labels |= {f"W-ResNet {s}": rf"W-ResNet, $\sigma_F = {s}$" for s in (0, 2)}
labels |= {"syre-ResNet 2": r"syre-ResNet, $\sigma_F = 2$", "ViT": "ViT"}
labels |= {f"W-ViT {s}": rf"W-ViT, $\sigma_F = {s}$" for s in (0, 1)}
rows = []
for key, label in labels.items():
    found = experiment.measured(key)
    ends = 100 * found.accuracy["none"][:, [0, -1]].mean()
    drops = [f"{found.drop(by).mean():.0f}" for by in ("none", "correlation")]
    rows.append(
        [label, f"{ends:.0f}", f"{progress(experiment, key)[0]:.2f}", *drops]
    )
head = "ends (%) | $r$ | drop, unaligned (points) | aligned"
figures.table(f"means over {pairs} pairs | {head}", rows)

# %% [markdown]
# Below the printed sizes these are numbers of a path that runs, not of the papers, whether they resemble the figures or not.
# For transformers $r$ is taken over heads, hidden units and coordinates of the stream, which alignment by activations moves; it cannot undo a map inside a head.
# That settings such as $\sigma_F = 2$ "were harder to train" (I, App. G.4) no network of this page tests {claim}`I17.harder`.
#
# ## What the printed sizes cost
#
# Estimated hours of one core, and of a GPU by constants that were fitted to measurements on one of 2024, to which the estimates agree within a factor of three:

# %% Show the prices
train = DataSpec("cifar10", "train90")
big = networks((3, 32, 32), 4, [128], (8, 16, 3), (384, 8, 6))
descents = {
    "ResNet": Descent(
        100,
        128,
        "adamw",
        1e-2,
        weight_decay=1e-2,
        schedule="warm-up",
        warm_up=20,
        start_rate=1e-4,
    ),
    "ViT": Descent(200, 128, "adamw", 1e-3, schedule="cosine"),
    "CNN 128": Descent(20, 128, "adam", 5e-3),
}
price = {
    key: Run(big[key], descent, train, (0, 1)).prices()
    for key, descent in descents.items()
}
gpu = {key.split()[0]: p.gpu_hours for key, p in price.items()}
half = networks((3, 32, 32), 4, [16], (1, 16, 3), (96, 4, 3), side=2)
price |= {
    f"small {key}": Run(half[key], descents[key], train, (0, 1)).prices()
    for key in ("ResNet", "ViT")
}
PRICED = {
    "ResNet": "ResNet20, width 8, 100 epochs",
    "ViT": "transformer of I, App. G.4, 200 epochs",
    "CNN 128": "CNN of depth 16, 128 channels, 20 epochs",
    "small ResNet": "ResNet20, 16 to 64 channels, 16 × 16 pixels, 100 epochs",
    "small ViT": "transformer of dimension 96 and depth 4, 200 epochs",
}
figures.table(
    "a pair of | cores | GPU",
    (
        [words, f"{price[key].cpu_hours:.0f}", f"{price[key].gpu_hours:.1f}"]
        for key, words in PRICED.items()
    ),
)

# %% [markdown]
# Eight pairs of the four ResNets of I, Fig. 4 are {glue:text}`gpu_fig4` GPU hours; with six pairs of each other scale of the sweep of I, Fig. 3b, eight pairs of transformers and of CNNs it is {glue:text}`gpu_all`, in jobs of one pair each.
# The two smallest networks of the table would show, for small ResNets and transformers at least, whether fixed weights do to them what they do to MLPs; no part asks for it yet.
# A part of I, Figs. 3 and 4 that missed its criterion would ask for a second set of its networks.
# The one command is
#
#     make runs PROFILE=paper EXECUTOR=slurm
#
# after `python -m lmc_helpers.data.images cifar10` has said that the images are there, for otherwise others stand in
# ([](../cluster)), and then `make chapter NAME=image_networks PROFILE=paper` on a machine with a GPU, which follows the lines.

# %% Numbers for the text
largest = experiment.losses(f"CNN {widths[-1]}")
without = largest["permuted"][:, places // 2].mean()
with_repair = largest["repaired"].mean()
figures.numbers(
    data_says=data_says,
    left_out=figures.left_out(
        run.result() for listed in experiment.runs.values() for run in listed
    ),
    sizes=f"CNNs of {', '.join(map(str, widths))} channels, ResNets of "
    f"{2 + 6 * resnet[2]} layers with {resnet[0] * resnet[1]} to "
    f"{4 * resnet[0] * resnet[1]} channels, transformers of dimension {vit[0]} "
    f"and depth {vit[1]}, {pairs} pairs of each, trained on {images} images.",
    middle_loss=f"{largest['direct'][:, places // 2].mean():.2f}",
    guess=f"{np.log(10):.2f}",
    repaired=f"{with_repair:.2f}",
    unrepaired=f"{without:.2f}",
    repair_makes="worse" if with_repair > without else "better",
    gpu_fig4=f"{4 * 8 * gpu['ResNet']:.0f}",
    gpu_all=f"{(4 * 8 + 4 * 6) * gpu['ResNet'] + 3 * 8 * gpu['ViT'] + 8 * gpu['CNN']:.0f}",
    images_used=len(experiment.y),
    gpu_six=f"{6 * gpu['ResNet']:.0f}",
    gpu_eight=f"{8 * gpu['ResNet']:.0f}",
    gpu_sixteen=f"{2 * 8 * gpu['ResNet']:.0f}",
    gpu_eight_ViT=f"{8 * gpu['ViT']:.0f}",
    gpu_sixteen_ViT=f"{2 * 8 * gpu['ViT']:.0f}",
    gpu_eight_CNN=f"{8 * gpu['CNN']:.0f}",
)

# %% [markdown]
# ## What it means for merging networks
#
# Aligning two networks by permutations undoes what permutations did, and no more: the rescalings and the maps inside heads of [](55_architecture_symmetries.ipynb) stay, and the barrier that is left at the printed sizes may be due to them.
#
# **Read on.** [](53_asymmetric_mlps.ipynb): the same experiments with MLPs on MNIST. [](56_matchers.ipynb): what different matchers reach.
#
# ## Exercises
#
# :::{exercise}
# At a matching point of $m$ channels every channel of one network has correlation $c > 0$ with one channel of the other, its partner, and 0 with all others. The identity pairs a share $s$ of the channels with their partners. What is $r$?
# :::
#
# :::{solution}
# $\mathcal L(P^*) = c$, $\mathcal L(I) = s c$, and a random permutation pairs one channel in $m$ with its partner, $\mathcal L_r = c/m$. So
#
# $$
# r = \frac{s - 1/m}{1 - 1/m} = 1 - \frac{m (1 - s)}{m - 1} ,
# $$
#
# whatever $c$: nearly the share itself, and 0 where $s$ is what chance gives.
# :::
#
# :::{try}
# More images and longer training:
#
#     make chapter NAME=image_networks ARGS="-p images 5000 -p epochs [10,10,20]"
# :::

# %% Versions and time
print(chapter.end())
