# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
#   lmc: {runs: lmc_helpers._chapters.image_networks.Parameters}
# ---

# %% [markdown]
# # Fixed weights in trained ResNets and transformers: not run, with a price
#
# *Can trained ResNets and transformers with large fixed weights be averaged, as MLPs can?*
#
# Not decided: no network of the papers' sizes was trained for this book, and smaller ones do not decide it. In MLPs on MNIST ordinary networks lose **[[2 * I11.standard:±]] points** of accuracy halfway; with large fixed weights nothing is lost (**[[I11.unaligned:±]]**).
#
# :::{glue:figure} fig_known
# :alt: Five rows on an axis of training accuracy lost halfway, from 0 to 10 points. MLPs on MNIST, recorded: ordinary [[2 * I11.standard:±]], with weights fixed at zero [[2 * I11.zero:±]], with large fixed weights about 0, namely [[I11.unaligned:±]]. ResNets and transformers on CIFAR-10: no value, only a price in GPU hours.
#
# Training accuracy lost halfway between two networks, as trained: recorded for MLPs on MNIST (bars: 99.9 % intervals), not known for ResNets and transformers on CIFAR-10.
# :::
#
# **How sure.** MLPs: [[n(I11.unaligned)]] pairs with large fixed weights, [[n(I11.standard)]] of each other kind; recorded. All else: toy runs.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "unaligned LMC … to some degree in ResNets" (Bürgin et al., Q1, Fig. 4b) | [not run](#I16.unaligned) | needs {glue:text}`gpu_fig4` GPU hours |
# | "reasonably low LMC barriers in the aligned case" (same, Q1, Fig. 4d) | [not run](#I16.aligned) | the same networks |
# | "$\mathcal L(I)$ becomes close to $\mathcal L(P^*)$" (same, Fig. 3b) | [not run](#I16.close) | needs {glue:text}`gpu_six` GPU hours |
# | "pronounced interpolation barrier" of transformers (same, App. G.4) | [not run](#I17.pronounced) | needs {glue:text}`gpu_eight_ViT` GPU hours |
# | "substantially higher midpoint accuracy", $\sigma_F = 1$ (same, App. G.4) | [not run](#I17.one) | needs {glue:text}`gpu_sixteen_ViT` GPU hours |
# | "goes up and then goes down as the width increases" (Zhan et al., Fig. 15) | [not run](#Z19.peak) | {glue:text}`gpu_eight_CNN` GPU hour; widths are not stated |
#
# **Open.** All of it, with six pairs of each other scale of Fig. 3b: about {glue:text}`gpu_all` GPU hours, estimated.
#
# **For the authors.** In App. G.4 of Bürgin et al. state learning rate and weight decay; under Fig. 15 of Zhan et al. the three widths, batches and epochs; in their App. B.5 print *Figure 15* for “Figure 8”.

# %% [markdown]
# :::{need}
# You need: convolutions, residual connections, attention, and their symmetries ([](55_architecture_symmetries.ipynb)). {term}`W-asymmetric` networks: [](53_asymmetric_mlps.ipynb). {{ times }}
# :::
#
# Bürgin, Herbst, Lin & Jegelka (I) {cite:p}`buergin2026` train W-asymmetric and syre-ResNets and W-transformers on CIFAR-10 (I, Figs. 3b, 4b, 4d, 9 and 20).
# Zhan, Li & Wu (Z) {cite:p}`zhan2025` follow the loss between CNNs of depth 16 at several widths (Z, Fig. 15).
# Everything that decides these sentences is prepared here: the networks, their training, matching and lines, criteria and prices.
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $F$, $D$, $W$ | fixed values, {term}`mask <mask>` and trained weights; a map applies $F + D \odot W$ (I, (2)) |
# | $\sigma_F$ | scale of the fixed values; 0 fixes weights at zero |
# | $\lambda$ | place on the line between two networks |
# | $P$, $I$, $P^*$ | a permutation of units; the identity; the best permutation |
# | $\mathcal L(P)$, $\mathcal L_r$ | mean correlation of the units that $P$ pairs; its mean over all permutations |
# | $r$ | score of the identity: 0 if random permutations pair units as well, 1 if no permutation pairs them better |

# %% Parameters tags=["parameters"]
dataset: str = "cifar10"  # or mnist, digits, which stand in where it is missing
widths: list = [4, 8, 16]  # channels of three CNNs
resnet: list = [1, 8, 1]  # multiplier, channels at width 1, blocks; 8, 16, 3
vit: list = [24, 2, 2]  # dimension, depth, heads; 384, 8, 6 in the paper
side: int = 2  # CNNs and ResNets see means over squares of so many pixels
images: int = 600  # training images; 45 000 in the published code
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
    widths=ListOf(Integer(1, 4096), 3, 3),
    resnet=ListOf(Integer(1, 64), 3, 3),
    vit=ListOf(Integer(1, 4096), 3, 3),
    side=Integer(1, 4),
    images=Integer(50, 45_000),
    epochs=ListOf(Integer(1, 10_000), 3, 3),
    warm_up=Integer(0, 10_000),
    batch=Integer(1, 45_000),
    pairs=Integer(2, 1000),
    sweep_pairs=Integer(2, 1000),
    sigmas=ListOf(Real(0.01, 1000)),
    together=Integer(1, 1000),
    places=Integer(2, 1000, step=2),
    seen=Integer(10, 45_000),
)

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
from lmc_helpers.error_bars import Undefined, extreme, jackknife, over_clusters
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

# %% [markdown]
# ## Each sentence has a criterion before any network is trained
#
# Each sentence of the papers has a criterion, for the printed sizes, and a price for eight pairs of networks (six in the sweep of $\sigma_F$).
# The *drop* is the training accuracy of the ends less that halfway, and with $\mathcal L$ as in [](53_asymmetric_mlps.ipynb)
#
# $$
# r = \frac{\mathcal L(I) - \mathcal L_r}{\mathcal L(P^*) - \mathcal L_r} .
# $$
#
# | The paper says | Read as | GPU hours | Verdict |
# | --- | --- | --- | --- |
# | "unaligned LMC is achieved for large $\sigma_F$ both in MLPs, and to some degree in ResNets" (I, Q1) | at most half of the drop of ResNets, $\sigma_F = 2$ | {glue:text}`gpu_fig4` | [not run](#I16.unaligned) |
# | "All models exhibit reasonably low LMC barriers in the aligned case" (I, Q1) | at most half of the drop of unaligned ResNets, in four kinds | the same networks | [not run](#I16.aligned) |
# | "alignment reduces the barrier for syre-ResNets" (I, Q1) | by a tenth or more | the same networks | [not run](#I16.syre) |
# | "similarly well as that of standard architectures", $\sigma_F = 0$ (I, Q1) | shares removed within a fifth | the same networks | [not run](#I16.similar) |
# | "$\mathcal L(I)$ becomes close to $\mathcal L(P^*)$" (I, Q2) | $r$ at least 0.9, $\sigma_F = 5$ | {glue:text}`gpu_six` | [not run](#I16.close) |
# | the same | $r$ at least 0.9, $\sigma_F = 2$ | {glue:text}`gpu_eight` | [not run](#I16.two) |
# | "random permutations remain significantly lower" (I, Q2) | $\mathcal L_r / \mathcal L(I)$ at most 0.5, $\sigma_F = 5$ | {glue:text}`gpu_six` | [not run](#I16.random) |
# | "this trend holds for all stages of training" (I, Q2) | $r$ at $\sigma_F = 2$ ahead of 0 by half or more, at all stages | {glue:text}`gpu_sixteen` | [not run](#I16.stages) |
# | "beneficial for LMC to treat each pixel as an independent data sample" (I, App. F.4) | drop lower by a tenth or more | {glue:text}`gpu_eight` | [not run](#I16.pixels) |
# | "sufficient to yield an alignment of low barrier" (I, App. F.4) | a tenth of the images: half of the drop or less | {glue:text}`gpu_eight` | [not run](#I16.tenth) |
# | "the standard transformer exhibits a pronounced interpolation barrier" (I, App. G.4) | a drop of 10 points or more | {glue:text}`gpu_eight_ViT` | [not run](#I17.pronounced) |
# | "closely matches this behavior", $\sigma_F = 0$ (I, App. G.4) | within 5 points halfway | {glue:text}`gpu_sixteen_ViT` | [not run](#I17.zero) |
# | "substantially higher midpoint accuracy", $\sigma_F = 1$ (I, App. G.4) | by 10 points or more | {glue:text}`gpu_sixteen_ViT` | [not run](#I17.one) |
# | "still remains well below the endpoint accuracy" (I, App. G.4) | a drop of 10 points or more, $\sigma_F = 1$ | {glue:text}`gpu_eight_ViT` | [not run](#I17.remains) |
# | "settings such as $\sigma_F = 2$ were harder to train" (I, App. G.4) | accuracy lower by 2 points or more than at 1 | {glue:text}`gpu_eight_ViT` | [not run](#I17.harder) |
# | "The barrier goes up and then goes down as the width increases" (Z, Fig. 15) | higher by a tenth at the middle of three widths | {glue:text}`gpu_eight_CNN` | [not run](#Z19.peak) |
#
# For transformers rate and decay are not stated: a run of ours that meets a criterion counts, and one that misses it leaves the sentence open, as another rate may meet it.
# The widths of Z, Fig. 15 are not stated either, so that one setting decides nothing alone.
#
# ## One path leads from training to the lines
#
# CNNs are trained by Adam at 0.005, without decay; ResNets by AdamW at 0.01 with decay 0.01 and 20 epochs of warm-up; transformers by AdamW with a cosine schedule, where the rate 0.001 and the decay 0.01 are ours. The batches of the papers have 128 images.
# On CIFAR-10 ResNets and transformers see flips and crops as in I, App. F.3; CNNs see the images as they are.
# The paper splits at random 80/10/10 %; the published code trains on 90 % of the training images, and so do we, or on a part of them.
#
# Entries are fixed at the share of each row that they have in the papers ([](55_architecture_symmetries.ipynb)).
# In *syre-ResNets* $F \sim \mathcal N(0, \sigma_F^2)$ is added to all entries, with $D = 1$.
# A pair shares $F$ and $D$, pairs do not; the published code has one mask for all networks of a kind.
# Units are matched by the largest sum of correlations; as I, App. F.4 says, each pixel is a sample.
# (The published script for aligned networks maximises $1 - |\rho|$, with $\rho$ the correlation; [](53_asymmetric_mlps.ipynb), {claim}`I11.published`.)
#
# The CNNs of Z, Fig. 15 have here 15 convolutions of equal widths and a final map, three poolings, He's law and no norm; transformers start at $\mathcal N(0, 0.02^2)$ and have no dropout and keys without a bias.
#
# ## The price is days of one GPU, or years of one core
#
# The hours are estimates, for a core and for a GPU with constants fitted to measurements on a GPU of 2024, with which the estimates agree within a factor of three:

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
    "one pair of | core-hours | GPU hours",
    (
        [words, f"{price[key].cpu_hours:.0f}", f"{price[key].gpu_hours:.1f}"]
        for key, words in PRICED.items()
    ),
)

# %% [markdown]
# Eight pairs of the four ResNets of I, Fig. 4 are {glue:text}`gpu_fig4` GPU hours; with six pairs of each other scale of the sweep of I, Fig. 3b, eight pairs of transformers and of CNNs it is {glue:text}`gpu_all`, in jobs of one pair each.
# The two smallest networks of the table would show, for small ResNets and transformers at least, whether fixed weights do to them what they do to MLPs; no part asks for it yet.
# A part of I, Figs. 3 and 4 that missed its criterion would ask for a second set of its networks.
# First check that the images are there (`python -m lmc_helpers.data.images cifar10`); without them others stand in. Then
#
#     make runs PROFILE=paper EXECUTOR=slurm
#
# trains all networks ([](../cluster)), and `make chapter NAME=image_networks PROFILE=paper`, on a machine with a GPU, follows the lines.

# %% Plot what is known
KNOWN = {  # a part, the factor to points, and a colour
    "MLP, ordinary": ("I11.standard", 2, "black"),
    "MLP, weights fixed at zero": ("I11.zero", 2, "red"),
    "MLP, large fixed weights": ("I11.unaligned", 1, "blue"),
}
WAITING = {
    "ResNet, four kinds": 4 * 8 * gpu["ResNet"],
    "transformer, three kinds": 3 * 8 * gpu["ViT"],
}
figure, axis = figures.panels(height=2.6)
for row, (part, factor, colour) in enumerate(KNOWN.values()):
    found = claims.recorded(part)
    low, middle, high = (factor * found[k] for k in ("low", "value", "high"))
    style = dict(color=f"book:{colour}", fmt="o", markersize=7)
    reach = [[middle - low], [high - middle]]
    axis.errorbar([middle], [row], xerr=reach, **style)
    digits = 2 if abs(middle) < 1 else 1
    says = f"{middle:.{digits}f} ± {(high - low) / 2:.{digits}f}"
    style = dict(color=f"book:{colour}", va="center")
    axis.text(high + 0.2, row, says.replace("-", "−"), **style)
for row, hours in enumerate(WAITING.values(), start=len(KNOWN)):
    axis.axhspan(row - 0.35, row + 0.35, color="book:grey", alpha=0.15)
    says = f"not known: {hours:.0f} GPU hours"
    axis.text(4.8, row, says, color="book:black", ha="center", va="center")
axis.set_yticks(range(len(KNOWN) + len(WAITING)), [*KNOWN, *WAITING])
axis.tick_params(axis="y", labelsize="small", length=0)
axis.grid(visible=False, axis="y")
axis.invert_yaxis()
axis.set(xlabel="training accuracy lost halfway (points)", xlim=(-0.4, 10))
figures.show("fig_known", figure)

# %% [markdown]
# ## Permutations may not be all that stands between two networks
#
# Aligning two networks by permutations undoes what permutations did, and no more: the rescalings and the maps inside heads of [](55_architecture_symmetries.ipynb) stay, and the barrier that is left at the printed sizes may be due to them.
# Large fixed weights in MLPs on MNIST give neurons their places ([](53_asymmetric_mlps.ipynb)). The step from there to the networks that people merge waits for these hours.
#
# **Read on.** [](53_asymmetric_mlps.ipynb): the same experiments with MLPs on MNIST. [](56_matchers.ipynb): what different matchers reach.

# %% [markdown]
# ## Evidence
#
# {glue:text}`data_says` Trained networks on this page (profile {glue:text}`profile`): {glue:text}`sizes` At smaller sizes than the papers' they show the path and **decide nothing about CIFAR-10**.
#
# ### Training in this run
#
# Batches have {glue:text}`batch` images, and ResNets {glue:text}`warm_up` epochs of warm-up; units are matched, and accuracies on lines taken, on the first {glue:text}`len(experiment.y)` training images, not augmented.
# Where squares of pixels are averaged, CNNs and ResNets see the averages.
# All networks are trained in float32, whatever the device.
# {glue:text}`left_out`

# %% Train, or find the trained networks
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
    """Mean drop of the accuracy halfway, in points."""
    value, error = over_clusters(e.measured(key).drop(by))
    return value, max(error, 100 / len(e.y))  # no less than one image


def known(value: float, error: float) -> tuple[float, float]:
    """A reading with a floor for what is not resolved; 0 over 0 says nothing."""
    if not np.isfinite([value, error]).all():
        return 0.0, 1e6
    return value, max(error, 1e-3)


def ratio(values, others) -> tuple[float, float]:
    """Ratio of two means over pairs."""
    try:
        return known(*jackknife(lambda u, v: u / v, values, others))
    except Undefined:
        return known(np.nan, np.nan)


def progress(e: Experiment, key: str) -> tuple[float, float]:
    """r, averaged over matching points and pairs."""
    return ratio(*e.measured(key).above_random())


# %% [markdown]
# ### CNNs: the loss on the line
#
# Z, Fig. 15 has three panels for three widths, which caption and text do not state (we had the text, not the pictures), at one depth, optimiser and rate.
# Here are three widths, *direct* (as trained) and *permuted* (after {term}`weight matching`), and halfway with the statistics of all units set right ({term}`REPAIR`, [](56_matchers.ipynb)).

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
# :alt: Negative log-likelihood along the line between two plain CNNs of depth 16 for three widths, direct and after weight matching, with a mark halfway for repaired statistics.
#
# Z, Fig. 15 at the widths of this page: mean negative log-likelihood (NLL) over pairs (thick) and each pair (thin) on training images (profile {glue:text}`profile`).
# :::
#
# Halfway the NLL is {glue:text}`middle_loss` nats at the largest width, and that of a guess that ignores the image is $\ln 10 =$ {glue:text}`np.log(10):.2f`; ends near that value are networks that have hardly left the guess themselves.
# Units of an average vary less than those of its ends; without norms this adds up over fifteen layers, until little of the image is left.
# REPAIR restores the variation, and by itself not the function: at the largest width the mean NLL halfway after matching is {glue:text}`with_repair:.2f` nats with it and {glue:text}`without:.2f` without, so that it makes this average {glue:text}`repair_makes` here.
# None of this is a statement on Z, Fig. 15, whose widths, lengths of training and norms its caption and the text do not state.


# %% Lead of the middle width
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
# ### ResNets: accuracy on the line, and the score of the identity
#
# A *matching point* is a group of channels that move together: a residual stream, or the inner channels of a block.
# I, Fig. 3c follows $\mathcal L$ of W-ResNets over training as well; networks are kept at their end only here (for MLPs: {claim}`I10.stages`).

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
# :alt: First and second panel, training accuracy on the line between ResNets of four kinds, unaligned and aligned. Third, the score of the identity against the scale of the fixed weights, one thin curve for every matching point and a thick one for all of them.
#
# I, Figs. 4b and 4d, and Figs. 3b and 9 in one number: mean training accuracy over pairs; third panel: $r$ of W-ResNets, for each matching point and for all of them (profile {glue:text}`profile`).
# :::


# %% Readings of the ResNets' figures
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


# %% Reading of the transformers' figure
def higher(e: Experiment, key: str) -> tuple[float, float]:
    """Accuracy halfway less that of ordinary transformers, in points."""
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
# No network of this page has $\sigma_F = 2$ in a transformer {claim}`I17.harder`.

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
    repair_makes="worse" if with_repair > without else "better",
    gpu_fig4=f"{4 * 8 * gpu['ResNet']:.0f}",
    gpu_all=f"{(4 * 8 + 4 * 6) * gpu['ResNet'] + 3 * 8 * gpu['ViT'] + 8 * gpu['CNN']:.0f}",
    gpu_six=f"{6 * gpu['ResNet']:.0f}",
    gpu_eight=f"{8 * gpu['ResNet']:.0f}",
    gpu_sixteen=f"{2 * 8 * gpu['ResNet']:.0f}",
    gpu_eight_ViT=f"{8 * gpu['ViT']:.0f}",
    gpu_sixteen_ViT=f"{2 * 8 * gpu['ViT']:.0f}",
    gpu_eight_CNN=f"{8 * gpu['CNN']:.0f}",
)

# %% [markdown]
# ### Exercises
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
