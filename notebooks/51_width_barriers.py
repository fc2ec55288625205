# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
#   lmc: {runs: lmc_helpers._chapters.width_barriers.Parameters}
# ---

# %% [markdown]
# # On MNIST no middle width shows up as hardest to average
#
# *Is the average of two trained networks worst at some middle width, even after matching?*
#
# No, if matched by activations (ten thousand steps): the loss rises **[[Z11.peak_activations:.2f]] ([[Z11.peak_activations:to]]) times** as much at width 15 as at the worst width between 15 and 100. By weights it is open: **[[Z11.peak:.2f]] ([[Z11.peak:to]]) times** at the worse end; a peak would be 0.9 or less.
#
# :::{glue:figure} fig_found
# :alt: Three intervals on an axis from 0 of the barrier at an end of the widths, divided by the highest barrier at another width. The region up to 0.9 is shaded, a peak would lie there. Widths 15 to 100 matched by activations: [[Z11.peak_activations:.2f]] ([[Z11.peak_activations:to]]). Matched by weights: [[Z11.peak:.2f]] ([[Z11.peak:to]]). Width 6 against all wider ones, matched by weights: [[Z11.narrower:.2f]] ([[Z11.narrower:to]]). None lies wholly in the shaded region.
#
# Barrier (largest rise of the loss) at the higher end of the widths over the highest between; last row: at width 6 over the highest at a larger one. Recorded on MNIST; bars: 99.9 % intervals.
# :::
#
# **How sure.** [[n(Z11.peak)]] groups of four networks per width, ten thousand steps (“10000 epochs”), recorded; each “false” by two seeds. Benzing et al.'s matcher was not run. “Greatly”: twofold; “limited”: half or more left.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "the barrier goes up and then goes down as the width increases" (sec. 6, Fig. 7) | [open (weights)](#Z11.peak), [false (activations)](#Z11.peak_activations) | end over middle: [[Z11.peak:.2f]] ([[Z11.peak:to]]), [[Z11.peak_activations:.2f]] ([[Z11.peak_activations:to]]) |
# | "the role of permutation invariance depends greatly on the model width" (sec. 6, Fig. 8) | [open (activations)](#Z12.depends_activations), [false (weights)](#Z12.depends) | barrier left, width 25 over 100: [[Z12.depends_activations:.2f]] ([[Z12.depends_activations:to]]), [[Z12.depends:.2f]] ([[Z12.depends:to]]) |
# | "When the model width is $m = 25$, the effect of permutation is pretty limited" (sec. 6) | [open (weights)](#Z12.limited), [false (activations)](#Z12.limited_activations) | [[100 * Z12.limited:.0f]] % ([[100 * low(Z12.limited):.0f]] to [[100 * high(Z12.limited):.0f]]), [[100 * Z12.limited_activations:.0f]] % ([[100 * low(Z12.limited_activations):.0f]] to [[100 * high(Z12.limited_activations):.0f]]) left |
# | Unmatched, the {term}`NLL <negative log-likelihood>` is "constantly large for all widths we have examined" (sec. 6) | [true](#Z12.direct) | [[100 * Z12.direct:.0f]] % ([[100 * low(Z12.direct):.0f]] to [[100 * high(Z12.direct):.0f]]) of that of guessing, where least |
# | The peak "doesn't change according to depths, but it got bigger" with the data (Fig. 14) | [open, no peak seen](#Z18.mnist) | two to six layers; CIFAR-10: only an altered copy at hand |
#
# **Open.** A peak by weights: 18 more groups (ten take {glue:text}`hours_steps` core-hours). Rows 2 and 3: 12 and 50 times as many. A rise from width 6: one more group. Row 5: more widths, CIFAR-10's files. 200 epochs: {glue:text}`hours_long` core-hours.
#
# **For the authors.** Print with Fig. 7 which algorithm found the permutation (where it matters most, a factor of [[1 / Z11.matcher:.1f]], [[1 / Z11.matcher:to]]), and whether "10000 epochs" are steps.

# %% [markdown]
# :::{need}
# You need: [](15_barrier_peak.ipynb), which has the peak of the theory, and the logarithm of a sum of exponentials. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $m$ | width: units in each hidden layer |
# | $M$ | neurons of the teacher, in the theory |
# | $\lambda$ | place on the straight line between two networks, from 0 to 1 |
# | $d$ | linear maps of a network, its layers |
# | $K$ | classes |
# | $\theta_a$, $\theta_b$ | the two networks |
# | $z_\lambda(x)$ | logits at the place $\lambda$ for the input $x$; $z_{\lambda, y}$ that of the label |
# | $V_\lambda$ | mean of the largest logit less that of the label |
# | $N_\lambda$ | negative log-likelihood (NLL) of the labels |
# | $S_c$ | multiplies all logits by $c^d$ |
# | $B(c)$ | {term}`barrier` of the NLL after $S_c$: its largest height on the line above the straight line (chord) between its ends |

# %% Parameters tags=["parameters"]
dataset: str = "mnist"  # mnist or digits; digits stand in for what is not here
images: int = 4000  # training images, 60000 are all of MNIST
epochs: int = 17  # at which all networks are compared
budgets: list = [4]  # further epochs, for networks that are followed
widths: list = [6, 15, 25, 40, 100]  # of four-layer networks
shown: list = [15, 25, 100]  # ends of Z, Fig. 7, and the m of Z, Fig. 8
depths: list = [2, 6]  # layers, beside four
depth_widths: list = [6, 15, 25, 40]  # some of the widths, at all depths
groups: int = 4  # of four-layer networks at each width
depth_groups: int = 4  # of networks of other depths
long_groups: int = 0  # of networks that are followed; 0: no others
together: int = 3  # networks in a group, every two of which are a pair
second: list = []  # layers of networks with a second seed, to judge rejections
restarts: int = 10  # of weight matching
measured: int = 1000  # images on which the NLL is taken
other: str = "cifar10"  # cifar10 or digits, another data set
other_widths: list = [6, 15, 40, 100]  # of four-layer networks there
other_pairs: int = 4  # of these, at each width
other_epochs: int = 20  # 20 are ten thousand steps for 50 000 images
other_images: int = 2000  # training images there
seed: int = 7051  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Integer, ListOf

chapter.begin(
    globals(),
    dataset=Choice(("mnist", "digits")),
    images=Integer(400, 60_000),
    epochs=Integer(6, 10_000),
    budgets=ListOf(Integer(1, 10_000)),
    widths=ListOf(Integer(2, 1000), 4),
    shown=ListOf(Integer(2, 1000), 3),
    depths=ListOf(Integer(2, 20)),
    depth_widths=ListOf(Integer(2, 1000), 2),
    groups=Integer(4, 1000),
    depth_groups=Integer(4, 1000),
    long_groups=Integer(4, 1000, zero=True),
    together=Integer(2, 20),
    second=ListOf(Integer(2, 20), 0),
    restarts=Integer(2, 1000),
    measured=Integer(100, 10_000),
    other=Choice(("cifar10", "digits")),
    other_widths=ListOf(Integer(2, 1000), 3),
    other_pairs=Integer(4, 1000),
    other_epochs=Integer(6, 10_000),
    other_images=Integer(400, 50_000),
)
for name, some in (("shown", shown), ("depth_widths", depth_widths)):
    if not {*some} <= {*widths}:
        raise ValueError(f"{name} = {some}; allowed: some of widths = {widths}")
if not any(shown[0] < m < shown[-1] for m in widths):
    raise ValueError(f"widths = {widths}; allowed: one between {shown[::2]}")

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from lmc_helpers import claims, figures
from lmc_helpers._chapters.width_barriers import (
    LAMBDAS,
    ORDERS,
    Case,
    Curves,
    Pairs,
    Parameters,
    bounds_of,
    depth_trend,
    lines,
    matched_pairs,
    middles,
    peak_width_ratio,
    ratio_at_peaks,
)
from lmc_helpers.barrier import barrier_kinds
from lmc_helpers.claims.numerals import plain_with_error
from lmc_helpers.data.images import choose, load
from lmc_helpers.error_bars import mean_and_error, ratio_of_means
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.segments import along_segments
from lmc_helpers.training.prices import price
from lmc_helpers.training.recipes import Descent

# %% Plot what was found
found_at = (
    ("Z11.peak_activations", "by activations"),
    ("Z11.peak", "by weights"),
    ("Z11.narrower", "by weights,\nfrom width 6"),
)
answer, axis = figures.panels(height=2.5)
axis.axvspan(0, 0.9, color="book:green", alpha=0.1, linewidth=0)
axis.axvline(1, color="book:grey", linewidth=1)
style = dict(va="center", fontsize=11)
for row, (part, says) in enumerate(found_at):
    seen_there = claims.recorded(part)
    value, low, high = (seen_there[k] for k in ("value", "low", "high"))
    colour = "book:blue" if row == 1 else "book:black"
    axis.plot([low, high], [-row, -row], color=colour, linewidth=2)
    axis.plot(value, -row, "o", color=colour, markersize=7)
    axis.text(0.03, -row, says, color=colour, **style)
    told = f"{value:.2f} ({low:.2f} to {high:.2f})"
    axis.text(high + 0.04, -row, told, color=colour, **style)
axis.text(
    0.45, 0.62, "a peak: 0.9 or less", color="book:green", ha="center", **style
)
axis.text(1.02, 0.62, "1: as high", color="book:grey", **style)
axis.set(xlim=(0, 2.2), ylim=(-2.5, 0.9), xticks=[0, 0.5, 1, 1.5, 2], yticks=[])
axis.set(xlabel="barrier at the higher end, over the highest between")
axis.spines["left"].set_visible(False)
axis.grid(False)
figures.show("fig_found", answer)

# %% [markdown]
# ## A peak needs a side that rises and a side that falls
#
# In the theory of two-layer networks with a {term}`teacher <teacher and student>` of $M$ neurons there is a peak.
# At $m = M$ both networks hold the teacher's neurons in some order, and a permutation removes the barrier.
# A few additional neurons find no partner; of many, nearly all find one that is nearly equal.

# %% Plot the idea
relative_widths = np.linspace(1.02, 6, 34)  # m/M

from lmc_helpers.matching import algorithm_1, permute
from lmc_helpers.teacher_student import (
    barrier_limits,
    losses_between,
    sample_minima,
)

one_end, other_end = sample_minima(m=40, M=20, d=20, n=2, seed=seed).split(1)
moved = permute(other_end, algorithm_1(one_end, other_end))[0]
fine = np.linspace(0, 1, 101)
hill = 1000 * losses_between(one_end[0], moved, 20, fine).numpy()
of_theory = [barrier_limits(r)[0] for r in relative_widths]
idea, (one_line, all_widths) = figures.panels(2)
one_line.plot(fine, hill, color="book:blue")
one_line.plot([0, 1], [0, 0], color="book:grey")
one_line.text(0.2, 0.03 * hill.max(), "chord", color="book:grey")
arrow = dict(arrowstyle="<->", color="book:red")
top = fine[hill.argmax()], hill.max()
one_line.annotate("", top, (top[0], 0), arrowprops=arrow)
one_line.text(top[0] + 0.03, top[1] / 3, "barrier", color="book:red")
one_line.text(0.62, 0.95 * hill.max(), "loss on the line", color="book:blue")
one_line.set(xlabel=r"place $\lambda$ on the line", ylabel="1000 × loss")
label = "barrier, over its largest value"
all_widths.plot(relative_widths, of_theory / np.max(of_theory), color="book:blue")
all_widths.axvline(2, color="book:grey", linestyle=":")
all_widths.text(2.08, 0.05, "$m = 2M$", color="book:grey")
all_widths.set(xlabel="width $m/M$", ylabel=label, ylim=(0, 1.05))
figures.show("fig_width_idea", idea)

# %% [markdown]
# :::{glue:figure} fig_width_idea
# :alt: First panel, a hill of the loss over the line between two networks, with a horizontal chord from end to end and an arrow from it to the top, the barrier. Second panel, the barrier over the width divided by the number of teacher neurons; it rises from 0 to a peak near 2 and falls slowly.
#
# The theory. First: the loss between two minima with $M = 20$, $m = 40$, matched by the paper's Algorithm 1. Second: the barrier after matching over the width, in the limit $M \to \infty$.
# :::
#
# MNIST has no teacher, and no width is known to be its $M$. What remains of the theory is the shape: between the narrowest and the widest networks of Fig. 7, 15 and 100 units per layer, there should be a width at which the barrier is higher than at both.
# One ratio says whether it is: the barrier at the higher of the two ends over that at the width between them where it is highest. We call it a peak if the ratio is at most 0.9.
#
# The largest of several means is too large by chance. So that width is found on one half of the networks and its barrier taken on the other; if anything, this makes the ratio too large, a bias against the paper's sentence.
#
# ## Ten thousand steps, and two matchers from one of the two papers cited
#
# Everything that the paper states is taken over; where it is silent, we choose:
#
# | | The paper | Here |
# | --- | --- | --- |
# | networks | "4-layer", ReLU | four linear maps, three hidden layers of one width |
# | training | SGD, batches of 100, rate 0.05, "10000 epochs" | the same, 17 epochs: ten thousand steps |
# | start | Kaiming He's law | normal weights, biases 0 |
# | pixels | – | standardised by one mean and one deviation |
# | loss on the line | NLL on eleven places | the same, on the first 3000 training images |
# | permutation | "the algorithms in Benzing et al., (2022); Ainsworth et al., (2022)" | weight matching and activation matching, both of Ainsworth et al. |
#
# {term}`Weight matching <weight matching>` {cite:p}`ainsworth2023` climbs to a local optimum of the inner product of the weights, the best of ten starts.
# {term}`Activation matching <activation matching>` pairs the units of a layer by the largest sum of correlations of their responses (Ainsworth et al. take products that are not centred; [](56_matchers.ipynb)).
# Neither looks at the loss. The procedure of Benzing et al. is not run: a verdict here is on the two that are, and that procedure may decide otherwise.
#
# Networks come in independent groups of four, and every two of a group are a pair. Pairs that share a network are not independent, so one sample is the mean over a group.

# %% Train the networks, or load them
settings = chapter.parameters(Parameters, globals())
cases = settings.sweep()
data = cases[Case(4, widths[0], "first")].data
trained = load(data.name, n=data.n, seed=data.seed)
seen, unseen = (
    (some.inputs(flat=True)[:measured], some.y[:measured])
    for some in (trained, load(data.name, "test"))
)  # inputs and labels on which the NLL is taken


def match(case: Case, epoch: int = epochs, orders=ORDERS):
    """The pairs of one run, the second networks in several orders."""
    found, x = cases[case].result(), seen[0]
    return matched_pairs(found, epoch, x, restarts, seed, orders, together)


BOTH = ("direct", "weights", "activations")


def compare(depth, kind, at, epoch: int = epochs, orders=BOTH) -> Curves:
    """The lines of the networks of one depth on training images."""
    found = {m: match(Case(depth, m, kind), epoch, orders) for m in at}
    return Curves({m: lines(pairs, *seen) for m, pairs in found.items()})


# %% What this run compares
narrow, middle, wide = shown
every = sorted({epochs, *budgets})  # epochs at which networks are followed
range_ = [m for m in widths if narrow <= m <= wide]  # the widths of Z, Fig. 7
inner = range_[1:-1]
chapter.uses(dataset=trained.source, images=len(trained))

# %% [markdown]
# The measurement in four lines: match, follow the lines, compare both ends with the highest width between.

# %%
matched = {m: match(Case(4, m, "first")) for m in widths}
first = Curves({m: lines(found, *seen) for m, found in matched.items()})
tested = Curves({m: lines(found, *unseen) for m, found in matched.items()})
up, down = (first.relative("weights", m, over=inner) for m in (narrow, wide))


# %% How a claim is judged, and a second seed
@cache
def again(depth: int = 4) -> Curves:
    """The lines of the networks with the second seed, where there are some."""
    at, orders = (widths, ORDERS) if depth == 4 else (depth_widths, BOTH)
    return compare(depth, "second", at, orders=orders)


def of(n: int, *readings: tuple[float, float], of_all=max, log=False) -> dict:
    """The largest or least of readings and its interval, for a check."""
    value, low, high = bounds_of(n, *readings, of_all=of_all, log=log)
    return {"value": value, "interval": (low, high), "n": n}


def span(read: Callable[[Curves], list], of_all=max, log=False):
    """The largest or least of readings of curves, with its interval."""
    return lambda c: bounds_of(c.groups, *read(c), of_all=of_all, log=log)


twice = {"of": first, "again": again if 4 in second else None, "n": first.groups}


def ends(order: str) -> Callable[[Curves], list]:
    """Both ends of Z, Fig. 7, each in units of the peak between."""
    return lambda c: [c.relative(order, m, inner) for m in (narrow, wide)]


# %% [markdown]
# ## After ten thousand steps no rising side shows
#
# "10000 epochs" of 600 steps are six million steps a network; ten thousand *steps* are 17 epochs. With the two matchers that are run the sentence has five readings here:
#
# | "10000 epochs" | Matched by | A peak? | Higher end over the highest between |
# | --- | --- | --- | --- |
# | ten thousand steps | weights | [open](#Z11.peak) | [[Z11.peak:.2f]] ([[Z11.peak:to]]) |
# | ten thousand steps | activations | [false](#Z11.peak_activations) | [[Z11.peak_activations:.2f]] ([[Z11.peak_activations:to]]) |
# | 200 epochs | weights | [not run](#Z11.peak_long) | {glue:text}`hours_long` core-hours |
# | 200 epochs | activations | [not run](#Z11.peak_long_activations) | in the same run |
# | 10 000 epochs | weights | [not run](#Z11.peak_printed) | {glue:text}`hours_printed` core-hours |
#
# After activation matching the barrier only falls with the width: at 15 it is higher than at every wider one, with both seeds.
# After weight matching the curve is flat within its errors.
# Narrower networks, which fit hardly anything and have little to lose, might show a rising side; at width 6 none is seen either: [[Z11.narrower:.2f]] ([[Z11.narrower:to]]) times the highest at any wider one ({claim}`Z11.narrower`).

# %%
claims.check("Z11.peak", span(ends("weights")), **twice)
claims.check("Z11.peak_activations", span(ends("activations")), **twice)

# %% [markdown]
# ## It matters more which algorithm looks for the permutation
#
# Where the two matchers differ most, activation matching leaves [[100 * Z11.matcher:.0f]] % ([[100 * Z11.matcher:to]]) of the barrier that weight matching leaves ({claim}`Z11.matcher`). We had expected no difference, which this number rules out ({claim}`Z11.matcher_same`, added since, awaits the next record).
# The verdicts on Fig. 8 depend on the matcher, too. Its sentences are about the share of the {term}`direct barrier`, that between networks in the order in which they were trained, which a permutation leaves:
#
# | Matched by | Share left at $m = 25$: half or more? | Share left at 25 over that at 100: 2 or more? |
# | --- | --- | --- |
# | weights | [open](#Z12.limited): [[100 * Z12.limited:.0f]] % ([[100 * Z12.limited:to]]) | [false](#Z12.depends): [[Z12.depends:.2f]] ([[Z12.depends:to]]) |
# | activations | [false](#Z12.limited_activations): [[100 * Z12.limited_activations:.0f]] % ([[100 * low(Z12.limited_activations):.0f]] to [[100 * high(Z12.limited_activations):.0f]]) | [open](#Z12.depends_activations): [[Z12.depends_activations:.2f]] ([[Z12.depends_activations:to]]) |
#
# The better reading counts for each sentence: weight matching for the "pretty limited" effect, activation matching for the role that "depends greatly on the model width". Neither of the two bears out both; the procedure of Benzing et al. was not run.
# A likely reason is the law of the initial weights, here He's, with six times the variance of torch's default: the weights carry the start, and activations see only what has reached them ({claim}`X3.start`, [](56_matchers.ipynb)).
#
# Without a permutation the paper's sentence holds: even at the width where it is lowest, the largest NLL on the line is [[100 * Z12.direct:.0f]] % ([[100 * low(Z12.direct):.0f]] to [[100 * high(Z12.direct):.0f]]) of that of guessing.

# %%
claims.check(
    "Z12.depends_activations",
    span(lambda c: [c.contrast("activations", middle, wide)]),
    **twice,
)
claims.check(
    "Z12.limited", span(lambda c: [c.remaining(middle, "weights")]), **twice
)


def summits(curves: Curves) -> list[tuple[float, float]]:
    """The largest NLL on direct lines over that of guessing, at each width."""
    mean, error = curves.only(range_).summits("direct") / math.log(10)
    return [*zip(mean.tolist(), error.tolist(), strict=True)]


claims.check("Z12.direct", span(summits, of_all=min), **twice)

# %% [markdown]
# ## The height of the barrier belongs to a length of training
#
# Once a network classifies all its training images, SGD lowers the NLL further by making the logits larger, and this never ends.
# Elsewhere on the line larger logits do harm.
#
# :::{prf:proposition} The NLL barrier has no scale of its own
# :label: prop-logit-scale
# Let $\theta_a$, $\theta_b$ be ReLU networks of $d$ linear maps with $K$ classes, the units of $\theta_b$ in any fixed order, and $z_\lambda(x)$ the logits at the place $\lambda$ of the line between them. Over the training images let
#
# $$
# V_\lambda = \mathbb E \max_k (z_{\lambda, k} - z_{\lambda, y}) \ge 0 .
# $$
#
# For $c > 0$ let $S_c$ multiply the weights of map $k$ by $c$ and its biases by $c^k$. The NLL $N_\lambda(c)$ on the line between $S_c \theta_a$ and $S_c \theta_b$ and its barrier $B(c)$ obey
#
# $$
# \begin{aligned}
# V_\lambda &\le c^{-d} N_\lambda(c) \le V_\lambda + c^{-d} \ln K , \\
# c^{-d} B(c) &\to \max_\lambda \bigl( V_\lambda - \lambda V_1 - (1 - \lambda) V_0 \bigr)
# \end{aligned}
# $$
#
# as $c \to \infty$. Let both ends classify every training image as labelled. Then $B(c)$ grows without bound as soon as, for one training image at one $\lambda$, another logit is larger than the label's; if for every image at every $\lambda$ the label's is strictly the largest, $B(c) \to 0$.
# :::
#
# :::{prf:proof}
# ReLU is {term}`positively homogeneous <homogeneous activation>`: by induction over the maps, $S_c$ multiplies the units of layer $k$ by $c^k$, and the logits by $c^d$.
# $S_c$ is linear, so that it takes the line between two networks to the line between their images, $\lambda$ to $\lambda$.
# Now $N_\lambda(c) = \mathbb E \ln \sum_k e^{c^d (z_k - z_y)}$, and the logarithm of a sum of $K$ exponentials lies
# between the largest exponent and that plus $\ln K$.
# The chord of $c^{-d} N$ lies as close to that of $V$, and the limit of $c^{-d} B(c)$ follows, uniformly in $\lambda$.
# If the ends classify all images rightly, $V_0 = V_1 = 0$ and the limit is $\max_\lambda V_\lambda$, positive as soon as one logit is larger than the label's.
# If the smallest gap
# $\gamma = \min (z_{\lambda, y} - z_{\lambda, k})$ over images, $\lambda \in [0, 1]$ and $k \ne y$ is positive (it is a minimum over a compact set, of continuous functions), $0 \le B(c) \le \max_\lambda N_\lambda(c) \le K e^{-c^d \gamma} \to 0$.
# :::
#
# Training follows no such curve exactly. But the height of a barrier belongs to a pair *and a length of training*, and a wide network, which may fit sooner, has let its logits grow for longer.
# The accuracy on the line does not depend on $c$.
# So a curve after ten thousand steps says nothing of one after six million, and the readings that were not run remain open.
#
# ## Depth raises the barrier and shows no peak
#
# Six layers have a largest barrier [[Z18.height:.1f]] ([[Z18.height:to]]) times that of three ({claim}`Z18.height`).
# After weight matching the barrier of two to six layers was largest at the narrowest width, 6 units, at every depth.
# A curve whose means only fall has no peak whose place could depend on the depth, or on the data set.

# %% Follow the lines at several depths
layers = sorted([*depths, 4])
deep = {  # depth → curves
    d: compare(d, "first", depth_widths) if d != 4 else first.only(depth_widths)
    for d in layers
}

slope = depth_trend(deep, "weights", seed)
other_slope = depth_trend(deep, "activations", seed)
shallow = 3 if 3 in layers else layers[0]


def height(at: dict[int, Curves]) -> tuple[float, float]:
    """The peak of the deepest networks over that of the shallow ones."""
    above, below = (at[d].barriers("weights") for d in (layers[-1], shallow))
    return ratio_at_peaks(above, below)


taller = height(deep)

# %% How the places of peaks are compared
n_depth = min(c.groups for c in deep.values())


def deep_again() -> dict[int, Curves]:
    """Curves with the second seed, depth → curves."""
    return {d: again(d).only(depth_widths) for d in layers}


def trend_over(at: dict[int, Curves], order: str) -> tuple[float, ...]:
    """The slope with its interval; without three peaks nothing is known."""
    found = depth_trend(at, order, seed)
    return bounds_of(n_depth, found) if found else (0.0, -math.inf, math.inf)


of_depths = {"of": deep, "again": deep_again if {*layers} <= {*second} else None}

# %%
claims.check(
    "Z18.mnist",
    lambda at: trend_over(at, "weights"),
    **of_depths,
    n=n_depth if slope else 0,
)

# %% Train and follow networks on another data set
runs_there = settings.other_dataset_runs()
spec = runs_there[other_widths[0]].data
there = load(spec.name, n=spec.n, seed=spec.seed)
x, y = there.inputs(flat=True)[:measured], there.y[:measured]


def on_others(run) -> Pairs:
    """The pairs of one run on the other data set."""
    return matched_pairs(run.result(), other_epochs, x, restarts, seed, BOTH)


harder = Curves({m: lines(on_others(r), x, y) for m, r in runs_there.items()})
wider = {  # place there over place here, if there are two peaks
    order: peak_width_ratio(harder, first, order, seed)
    if harder.peaks(order) and first.peaks(order)
    else None
    for order in BOTH[1:]
}

# %% How places on two data sets are compared
chapter.uses(other=there.source, other_images=len(there))


def compared(order: str) -> dict:
    """The ratio of two places for a check; without two peaks nothing was measured."""
    found = wider[order]
    known = {"value": math.nan, "n": 0}
    return of(harder.groups, found, log=True) if found else known


# %%
claims.check("Z18.complexity", **compared("weights"))

# %% [markdown]
# ## Say how long, and matched by which algorithm
#
# Before one says that networks of some width merge badly, one has to say how long they were trained and which algorithm looked for the permutation.
# Where the NLL grows without end, the accuracy on the line is the safer thing to compare.
#
# **Read on.** [](56_matchers.ipynb): the matchers side by side. [](17_trained_minima.ipynb): do trained two-layer networks look like the {term}`minima <minimum>` of the theory? [](62_the_word_barrier.ipynb): what else is called a barrier.
#
# ## Evidence
#
# {glue:text}`data_says` Figures and numbers of this page that do not say "recorded" are of this copy's run (profile {glue:text}`profile`): {glue:text}`len(trained)` images of {glue:text}`trained.title`, {glue:text}`epochs` epochs, {glue:text}`steps` steps; {glue:text}`groups` groups of {glue:text}`together` networks, {glue:text}`pairs` pairs at each width; the NLL is taken on {glue:text}`len(seen[1])` images.
# The paper's claims are about all 60 000 images of the canonical files and ten thousand steps or more; another run shows curves and leaves these claims open.
#
# ### Widths in this run


# %% How numbers are written
def ratio(pair) -> str:
    """A ratio or a slope with its standard error."""
    return plain_with_error(*pair) if pair[1] > 0 else f"{pair[0]:.3g}"


def width(pair) -> str:
    """A width with its relative standard error, from their logarithms."""
    return f"{math.exp(pair[0]):.0f} (± {100 * pair[1]:.0f} %)"


def put(values) -> str:
    """Widths in words."""
    return ", ".join(map(str, values)) if values else "none"


# %% Barriers at each width
up_otherwise, down_otherwise = ends("activations")(first)  # below 1: up, down
peak = first.only(range_).peak_width("weights", seed)
for m in widths:
    direct, weights, activations = (
        first.at[m].barriers(order).mean()
        for order in ("direct", "weights", "activations")
    )
    print(
        f"m = {m:>3}: barrier {direct:.2f} direct, {weights:.2f} after weight "
        f"matching, {activations:.2f} after activation matching"
    )

# %% Plot barriers over the width
from lmc_helpers.error_bars import widening


def bars(values) -> tuple[np.ndarray, np.ndarray]:
    """Means over groups and their errors, by Student's quantile."""
    mean, error = mean_and_error(values)
    return mean, error * [widening(len(v)) for v in values]


ticks = {m: str(m) for m in widths[:: 1 + len(widths) // 7]}
WAYS = (
    ("direct", "orange", "direct"),
    ("weights", "blue", "weight matching"),
    ("activations", "green", "activation matching"),
)
figure, axes = figures.panels(2, sharey=True)
for axis, curves, title in zip(
    axes, (first, tested), ("training images", "test images"), strict=True
):
    for order, colour, label in WAYS:
        values = curves.barriers(order)
        pairs = [line.of_pairs(order) for line in curves.at.values()]
        bounds = np.transpose([np.quantile(v, [0.1, 0.9]) for v in pairs])
        style = dict(color=f"book:{colour}")
        axis.fill_between(widths, *bounds, alpha=0.2, linewidth=0, **style)
        axis.plot(widths, [v.mean() for v in pairs], label=label, **style)
        beside = dict(direct=0.98, weights=1.0, activations=1.02)[order]
        figures.band(axis, beside * np.array(widths), *bars(values), **style)
    axis.axvspan(narrow, wide, color="book:grey", alpha=0.08, linewidth=0)
    axis.set(xscale="log", xlabel="width $m$", title=title)
    axis.set_xticks([*ticks], [*ticks.values()])
    axis.minorticks_off()
axes[0].set(ylabel="barrier of the NLL", ylim=(0, None))
figures.show("fig_widths", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_widths
# :alt: Barrier of the negative log-likelihood against the width on a logarithmic axis, on training images in the first panel and on test images in the second. Three curves with bands, one for direct interpolation and one for each matcher.
#
# {glue:text}`where` after {glue:text}`epochs` epochs, as in Z, Fig. 7: means over {glue:text}`pairs` pairs of four-layer networks with bands from the 10th to the 90th percentile, as printed, and bars for the mean at two-sided $10^{-3}$ (Student's quantile, over groups).
# Grey: $m =$ {glue:text}`narrow` to {glue:text}`wide`, in a run in full the widths of Z, Fig. 7 (profile {glue:text}`profile`).
# :::
#
# In units of the peak between the ends, the barrier after weight matching is {glue:text}`ratio(up)` at $m =$ {glue:text}`narrow` and {glue:text}`ratio(down)` at $m =$ {glue:text}`wide`; its largest mean is at $m =$ {glue:text}`width(peak)`.
# After activation matching the two ends are at {glue:text}`ratio(up_otherwise)` and {glue:text}`ratio(down_otherwise)` of its own peak.
# Behind ± stands one standard error, over groups.
# Weight matching is one of the algorithms that the paper names; activation matching by correlations is a variant of another.
# Either may bear out the peak, with both sides after the same one: what is judged is the higher end.
#
# The place of the peak, "consistent with the peak value in Figure 7" at 25 (sec. 6), which the recorded run did not judge with an interval of its logarithm:

# %%
claims.check(
    "Z11.place",
    span(lambda c: [c.only(range_).peak_width("weights", seed)], log=True),
    **twice,
)
claims.check(
    "Z11.place_activations",
    span(lambda c: [c.only(range_).peak_width("activations", seed)], log=True),
    **twice,
)

# %% The narrowest width of all
start = first.relative("weights", widths[0], over=widths[1:])
whole_peak = first.peak_width("weights", seed)

# %%
claims.check(
    "Z11.narrower",
    span(lambda c: [c.relative("weights", widths[0], widths[1:])]),
    **twice,
)

# %% [markdown]
# Among the widths from {glue:text}`widths[0]` to {glue:text}`widths[-1]` the largest mean of this run is at $m =$ {glue:text}`width(whole_peak)`, and the barrier at $m =$ {glue:text}`widths[0]` is {glue:text}`ratio(start)` of the largest at any other width.
#
# ### Growing logits in the middle of the line
#
# The cell computes $N$ and $V$ in the middle of the direct lines between the trained networks, scaled by $S_c$ with $c^d = s$; $N/s$ falls towards $V$, as {prf:ref}`prop-logit-scale` says:

# %% Scale the logits
SCALES = (1.0, 4.0, 16.0, 64.0)  # s, factors of the logits
few = [part[:1000] for part in seen]
excess, rival = [], []
for m in widths:
    a, b = matched[m].first, matched[m].second["direct"]
    at = middles(a, b, *few, SCALES)
    s = np.array(SCALES)[:, None]  # (S, 1)
    nll, lost, wrong = (v.numpy() for v in (at.nll, at.mean_gap, at.wrong))
    excess.append((nll / s - lost) * s / math.log(10))  # (S, P), in [0, 1]
    rival.append((nll / s - wrong) * s / math.log(10))
    print(f"m = {m:>3}: N(s)/s = {(nll / s).mean(axis=1).round(3)}, ", end="")
    print(f"V = {lost.mean():.3f}, {100 * wrong.mean():.0f} % wrong")

# %%
excess, rival = (
    np.concatenate([v.ravel() for v in values]) for values in (excess, rival)
)
claims.check("Z11.scale", excess, rival=float(max(rival, key=abs)))

# %% [markdown]
# ### Several lengths of training
#
# The same networks at several budgets: the barriers of all widths, and by how much the direct one grows.

# %% Follow the networks over the epochs
followed = {  # epoch → curves
    epoch: first
    if (epoch, long_groups) == (epochs, 0)
    else compare(4, "long", widths, epoch)
    for epoch in every
}
early, now, late = (followed[epoch] for epoch in (every[0], epochs, every[-1]))
growth = {  # of the direct barrier, from the first budget to the last
    m: ratio_of_means(
        late.at[m].barriers("direct"), early.at[m].barriers("direct"), paired=True
    )
    for m in widths
}

# %% Plot barriers at several budgets
figure, axes = figures.panels(3)
panels = (
    ("direct, NLL", lambda line: line.barriers("direct")),
    ("weight matching, NLL", lambda line: line.barriers("weights")),
    ("weight matching, accuracy", lambda line: 100 * line.drops("weights")),
)
colours = ("grey", "black", "red", "purple", "sky", "green")
for k, (epoch, colour) in enumerate(zip(every, colours, strict=False)):
    beside = 1.03**k * np.array(widths)  # so that bars do not hide bars
    for axis, (_, read) in zip(axes, panels, strict=True):
        values = [read(line) for line in followed[epoch].at.values()]
        style = dict(color=f"book:{colour}")
        mean = [v.mean() for v in values]
        axis.plot(beside, mean, label=f"{epoch} epochs", **style)
        figures.band(axis, beside, *bars(values), **style)
for axis, (title, _) in zip(axes, panels, strict=True):
    axis.set(xscale="log", xlabel="width $m$", title=title, ylim=(0, None))
    axis.set_xticks([*ticks], [*ticks.values()])
    axis.minorticks_off()
axes[0].set(ylabel="barrier")
axes[2].set(ylabel="percentage points")
figures.show("fig_budgets", figure, legend=3)

# %% Numbers for the text
_, told = choose((dataset, "digits"))
figures.numbers(
    steps=epochs * math.ceil(len(trained) / 100),
    pairs=groups * math.comb(together, 2),
    where=trained.title[0].upper() + trained.title[1:],
)

# %% Numbers for the text
from lmc_helpers.teacher_student import limit_peak

fits = {
    m: late.at[m].accuracy["direct"][:, [0, -1]].mean().item() for m in widths
}
fitting = [m for m in widths if fits[m] >= 0.999]
top, top_error = late.peak_width("weights", seed)
over_M = math.exp(top) / fitting[0] if fitting else None
of_limit = [
    limit_peak(how) for how in ("random", "in place", "sorted", "opposed")
]
figures.numbers(
    counterpart=f"Here it is $m =$ {put(fitting[:1])}, and the largest mean barrier after "
    f"weight matching stands at {over_M:.1f} (± {100 * top_error:.0f} %) times that width."
    if over_M
    else "No width here reaches 99.9 %, so that the peak cannot be compared with M."
)

# %% [markdown]
# :::{glue:figure} fig_budgets
# :alt: Three panels of barriers against the width for several lengths of training, one curve a length; the negative log-likelihood of direct lines, that of permuted lines, and the accuracy that is lost on permuted lines.
#
# The same networks after several numbers of epochs. First and second: barrier of the NLL. Third: the largest fall of the accuracy below the chord, which $S_c$ does not change; bars: intervals of the means at two-sided $10^{-3}$ (profile {glue:text}`profile`).
# :::
#
# From {glue:text}`every[0]` to {glue:text}`every[-1]` epochs the direct barrier is multiplied by {glue:text}`ratio(growth[narrow])` at $m =$ {glue:text}`narrow` and by {glue:text}`ratio(growth[wide])` at $m =$ {glue:text}`wide`.
# After weight matching it is largest at $m =$ {glue:text}`width(early.peak_width("weights", seed))` after {glue:text}`every[0]` and at $m =$ {glue:text}`width(late.peak_width("weights", seed))` after {glue:text}`every[-1]` epochs.
#
# *A counterpart of $M$?*
# In the theory, students of width $M$ are the narrowest that reach loss 0.
# Of the first {glue:text}`len(seen[1])` training images, the networks classify after {glue:text}`every[-1]` epochs {glue:text}`100 * fits[narrow]:.2f` % ($m =$ {glue:text}`narrow`), {glue:text}`100 * fits[middle]:.2f` % ($m =$ {glue:text}`middle`) and {glue:text}`100 * fits[wide]:.2f` % ($m =$ {glue:text}`wide`) as labelled.
# If the narrowest width that reaches 99.9 % is taken for $M$, the theory of two-layer networks would put the peak at {glue:text}`min(of_limit):.1f` to {glue:text}`max(of_limit):.1f` $M$, by the order in which leftovers are matched, large with small among them ([](15_barrier_peak.ipynb)).
# {glue:text}`counterpart`
#
# The claims of Z, Fig. 7 after 200 epochs, and two of ours on the length of the training; a run that does not follow its networks for so long leaves them open:

# %%
n_long = late.groups
claims.check("Z11.peak_long", **of(n_long, *ends("weights")(late)))
claims.check(
    "Z11.peak_long_activations", **of(n_long, *ends("activations")(late))
)
place_late = late.only(range_).peak_width("weights", seed)
claims.check("Z11.place_long", **of(n_long, place_late, log=True))

moved_to = peak_width_ratio(late, now, "weights", seed)
claims.check("Z11.budget", **of(n_long, moved_to, log=True))
growths = {  # of the direct barrier, from the printed budget to the last
    m: ratio_of_means(
        late.at[m].barriers("direct"), now.at[m].barriers("direct"), paired=True
    )
    for m in range_
}
claims.check("Z11.grows", **of(n_long, *growths.values(), of_all=min))

# %% [markdown]
# ### On the line, in this run
#
# Z, Fig. 8 draws the NLL on the line at three widths, of which the text names one, 25.

# %% Shares of the direct barrier that are left
gain = {m: first.remaining(m, "weights") for m in (middle, wide)}  # shares left
otherwise = {m: first.remaining(m, "activations") for m in (middle, wide)}
in_range = first.only(range_)
matcher = in_range.largest_effect("activations", "weights")
better = in_range.largest_effect("weights", "one start")

# %% Plot the NLL on the line
figure, axes = figures.panels(3, sharey=True)
for axis, m in zip(axes, shown, strict=True):
    for order, colour, label in WAYS:
        loss = first.at[m].loss[order].numpy()  # (P, 11)
        style = dict(color=f"book:{colour}")
        bounds = np.quantile(loss, [0.1, 0.9], axis=0)
        axis.fill_between(LAMBDAS, *bounds, alpha=0.2, linewidth=0, **style)
        axis.plot(LAMBDAS, loss.mean(axis=0), label=label, **style)
    style = dict(label="guessing, ln 10")
    axis.axhline(math.log(10), color="book:grey", linestyle=":", **style)
    axis.set(xlabel=r"$\lambda$", title=f"$m = {m}$")
axes[0].set(ylabel="NLL", ylim=(0, None))
figures.show("fig_lines", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_lines
# :alt: Three panels, one a width, of the negative log-likelihood along the line. Three arches with bands, one for direct interpolation and one for each matcher; a dotted line at the value of guessing.
#
# As Z, Fig. 8, after {glue:text}`epochs` epochs: mean NLL on training images with bands from the 10th to the 90th percentile over {glue:text}`pairs` pairs (profile {glue:text}`profile`).
# :::
#
# Of the direct barrier, weight matching leaves {glue:text}`ratio(gain[middle])` at $m =$ {glue:text}`middle` and {glue:text}`ratio(gain[wide])` at $m =$ {glue:text}`wide`; activation matching leaves {glue:text}`ratio(otherwise[middle])` and {glue:text}`ratio(otherwise[wide])`.
# Among the widths from {glue:text}`narrow` to {glue:text}`wide`, where the two differ most, the barrier after activation matching is {glue:text}`ratio(matcher)`
# of that after weight matching; and restarts multiply the barrier after weight matching, where they matter most, by {glue:text}`ratio(better)`.
# That width is found on one half of the groups and the ratio taken on the other.
# The largest NLL on direct lines is, at the width where it is lowest, {glue:text}`ratio(min(summits(first)))` of $\ln 10$, the NLL of guessing.
#
# Ten restarts of weight matching leave [[Z11.restarts:.2f]] ([[Z11.restarts:to]]) of the barrier that one start leaves, at the width where they matter most and as recorded: at most a third is gone, and perhaps less than a tenth.

# %%
claims.check(
    "Z12.depends", span(lambda c: [c.contrast("weights", middle, wide)]), **twice
)
claims.check(
    "Z12.limited_activations",
    span(lambda c: [c.remaining(middle, "activations")]),
    **twice,
)
claims.check(
    "Z11.matcher",
    span(lambda c: [c.only(range_).largest_effect("activations", "weights")]),
    **twice,
)
claims.check(
    "Z11.matcher_same",
    span(lambda c: [c.only(range_).largest_effect("activations", "weights")]),
    **twice,
)
claims.check(
    "Z11.restarts",
    span(lambda c: [c.only(range_).largest_effect("weights", "one start")]),
    **twice,
)

# %% [markdown]
# ### Eleven places
#
# All barriers are taken at eleven points of the line, "always sufficient" by the paper, which points to this figure (Z, section 2).
# Four times as many intervals find more by


# %% Follow the lines at 41 places
def missed(m: int, order: str) -> tuple[float, float]:
    """Mean barrier at 41 points over that at 11, less 1, and its error."""
    pairs, places = matched[m], [k / 40 for k in range(41)]
    line = along_segments(pairs.first, pairs.second[order], *seen, places)
    fine = barrier_kinds(line.loss.double(), places)["chord"].numpy()
    of_groups = fine.reshape(first.groups, -1).mean(axis=1)
    coarse = first.at[m].barriers(order)
    ratio, error = ratio_of_means(of_groups, coarse, paired=True)
    return ratio - 1, error


found = [missed(m, order) for m in shown for order in BOTH]
print(f"{100 * max(found)[0]:.1f} % at most, on average over the pairs")

# %%
claims.check("Z12.grid", **of(first.groups, *found))

# %% [markdown]
# ### After 200 epochs
#
# The same three statements for a run of 200 epochs. Of several readings the best counts for a sentence of the paper, and two sentences may be borne out by different matchers:

# %%
contrasts = (late.contrast(way, middle, wide) for way in BOTH[1:])
claims.check("Z12.depends_long", **of(n_long, next(contrasts)))
claims.check("Z12.depends_long_activations", **of(n_long, next(contrasts)))
claims.check("Z12.limited_long", **of(n_long, late.remaining(middle, "weights")))
claims.check("Z12.direct_long", **of(n_long, *summits(late), of_all=min))

# %% [markdown]
# ### Depth, in this run
#
# Z, Fig. 14 plots the width at the peak against the depth. A place says little of a curve that is flat at its top, so we look at the curves. One that is highest at an end of the widths shows no peak; the slope of the place over the depth is taken over the other depths, if they are three or more.

# %%
claims.check(
    "Z18.mnist_activations",
    lambda at: trend_over(at, "activations"),
    **of_depths,
    n=n_depth if other_slope else 0,
)
claims.check(
    "Z18.height",
    lambda at: bounds_of(n_depth, height(at)),
    **of_depths,
    n=n_depth,
)

# %% Plot barriers at several depths, and numbers for the text
figure, axes = figures.panels(3)
ticks = {m: str(m) for m in depth_widths[:: 1 + len(depth_widths) // 6]}
for axis, (order, _, title) in zip(axes, WAYS, strict=True):
    colours = ("sky", "purple", "black", "red", "grey")
    for k, (d, colour) in enumerate(zip(layers, colours, strict=False)):
        beside = 1.03**k * np.array(depth_widths)
        style = dict(color=f"book:{colour}")
        mean, error = bars(deep[d].barriers(order))
        axis.plot(beside, mean, label=f"{d} layers", **style)
        figures.band(axis, beside, mean, error, **style)
    axis.set(xscale="log", xlabel="width $m$", title=title, ylim=(0, None))
    axis.set_xticks([*ticks], [*ticks.values()])
    axis.minorticks_off()
axes[0].set(ylabel="barrier of the NLL")
figures.show("fig_depths", figure, legend=5)
tops = {
    order: ", ".join(width(deep[d].peak_width(order, seed)) for d in layers)
    for order in BOTH
}


def trend(matcher: str, found: tuple[float, ...] | None) -> str:
    """How the place of the peak changes with the depth, in words."""
    if not found:
        return f"After {matcher} matching fewer than three depths have a peak."
    return (
        f"After {matcher} matching the logarithm of the peak's place changes by "
        f"{ratio(found)} a layer."
    )


figures.numbers(
    trends=" ".join(map(trend, ("weight", "activation"), (slope, other_slope)))
)

# %% [markdown]
# :::{glue:figure} fig_depths
# :alt: Barrier against the width for networks of several depths, one curve a depth, in three panels: on the direct line, after weight matching and after activation matching.
#
# Networks of several depths, $m$ units in each hidden layer, {glue:text}`depth_groups` groups at each width, and {glue:text}`groups` with four layers. Bars: intervals of the means at two-sided $10^{-3}$ (profile {glue:text}`profile`).
# :::
#
# With {glue:text}`put(layers)` layers the largest mean is at $m =$ {glue:text}`tops["weights"]` after weight matching, at {glue:text}`tops["activations"]` after activation matching and at {glue:text}`tops["direct"]` on the direct line.
# {glue:text}`trends` The largest mean with {glue:text}`layers[-1]` layers is {glue:text}`ratio(taller)` times that with {glue:text}`shallow`, both found as above, on halves.
#
# ### Another data set, in this run
#
# The other half of Z, Fig. 14: the peak's place "got bigger as our dataset became more complex" (Z, B.4), from MNIST to CIFAR-10.
# Four-layer networks by the same recipe, {glue:text}`other_pairs` pairs at each width, {glue:text}`other_epochs` epochs of {glue:text}`len(there)` images.
# {glue:text}`two_sets` Places are compared if both curves have their largest mean between their first and their last width.

# %%
claims.check("Z18.complexity_activations", **compared("activations"))

# %% Plot both data sets, and numbers for the text
figure, axes = figures.panels(2, sharey=True)
both_sets = (
    (f"first: {trained.title}", first, "blue"),
    (f"second: {there.title}", harder, "red"),
)
drawn = sorted({*widths, *other_widths})[
    :: 1 + len({*widths, *other_widths}) // 9
]
for axis, (order, _, title) in zip(axes, WAYS[1:], strict=True):
    for name, curves, colour in both_sets:
        style = dict(color=f"book:{colour}")
        mean, error = bars(curves.barriers(order))
        axis.plot(curves.widths, mean, label=name, **style)
        figures.band(axis, curves.widths, mean, error, **style)
    axis.set(xscale="log", xlabel="width $m$", title=title)
    axis.set_xticks(drawn, map(str, drawn))
    axis.minorticks_off()
axes[0].set(ylabel="barrier of the NLL", ylim=(0, None))
figures.show("fig_data_sets", figure, legend=3)
_, told_there = choose((other, "digits"))
here = trained.title
all_runs = {*cases.values(), *runs_there.values()}
figures.numbers(
    left_out=figures.left_out(run.result() for run in all_runs),
    both_sets=here if here == there.title else f"{here} and on {there.title}",
    two_sets=f"These are {here}, as above, so that nothing is compared."
    if here == there.title
    else f"These are {there.title}; the networks above saw {here}.",
    data_says=told
    if told_there == told
    else f"{told} Another data set: {told_there}",
)

# %% [markdown]
# :::{glue:figure} fig_data_sets
# :alt: Barrier against the width for four-layer networks on two data sets, one curve each; after weight matching in the first panel, after activation matching in the second.
#
# Four-layer networks on {glue:text}`both_sets`. Bars: intervals of the means at two-sided $10^{-3}$ (profile {glue:text}`profile`).
# :::
#
# After weight matching the largest mean stands at $m =$ {glue:text}`width(first.peak_width("weights", seed))` on the first of the two and at $m =$ {glue:text}`width(harder.peak_width("weights", seed))` on the second; after activation matching at {glue:text}`width(first.peak_width("activations", seed))` and {glue:text}`width(harder.peak_width("activations", seed))`.
# Other images than CIFAR-10, or files of it that are not the canonical ones, decide nothing about the paper's sentence.
#
# {glue:text}`left_out` This counts every network of the page.
#
# ### What the open readings cost
#
# Nine parts of the claims are about trainings of 200 epochs, which stand for "10000 epochs" as a training that has ended. They
# wait for {glue:text}`hours_long` core-hours. The cell prices all the rest on one core, forty networks at each width, that is ten groups of four or twenty pairs:


# %% Hours of one core
def hours(models: list, number: int, examples: int) -> float:
    """Hours of one core for forty networks of each model, by Z, B.1."""
    sgd = Descent(number, 100, "sgd", 0.05)
    return sum(price(model, sgd, examples, 40).cpu_hours for model in models)


fig_7 = (15, 20, 25, 30, 40, 60, 80, 100)
finer = (6, 9, 12, *fig_7, 150, 200)
mnist = [MLP((784, m, m, m, 10), init="he") for m in fig_7]
deeper = [MLP((784, *[m] * (d - 1), 10)) for m in finer for d in (2, 3, 5, 6)]
cifar = {  # networks of d maps
    d: [MLP((3072, *[m] * (d - 1), 10), init="he") for m in finer]
    for d in (2, 3, 4, 5, 6)
}
cost = {
    "steps": hours(mnist, 17, 60_000),
    "long": hours(mnist, 200, 60_000),
    "printed": hours(mnist, 10_000, 60_000),
    "deeper": hours(deeper, 17, 60_000),
    "cifar": hours(cifar[4], 20, 50_000),
    "cifar_all": sum(hours(nets, 20, 50_000) for nets in cifar.values()),
}

# %% Numbers for the text
figures.numbers(
    **{f"hours_{k}": f"{v:.{0 if v > 10 else 1}f}" for k, v in cost.items()}
)

# %% [markdown]
# - *Z, Fig. 7 at full size*, widths 15 to 100: {glue:text}`hours_steps` hours for ten thousand steps, {glue:text}`hours_long` for 200 epochs, {glue:text}`hours_printed` for the literal ten thousand epochs ({claim}`Z11.peak_printed`).
#   Profile `paper` trains more groups and narrower networks, too, for ten thousand steps, and as many with another seed, which repeat what the first reject.
#   `make chapter NAME=width_barriers PROFILE=paper ARGS="-p budgets [60,200] -p long_groups 10 -p second [2,3,4,5,6]"` follows ten groups for 200 epochs as well, and trains the other depths with another seed.
# - *Z, Fig. 14, depth* ({claim}`Z18.mnist`, {claim}`Z18.mnist_activations`): the place of a peak is known to within the distance of neighbouring widths only.
#   With more of them, at each depth but four layers: at most {glue:text}`hours_deeper` hours; `-p widths [6,9,12,15,20,25,30,40,60,80,100] -p depth_widths [6,9,12,15,20,25,30,40,60,80,100]`.
# - *Z, Fig. 14, the other data set* ({claim}`Z18.complexity`, {claim}`Z18.complexity_activations`): four-layer perceptrons up to width 200 on CIFAR-10, 20 epochs, that is ten thousand steps: {glue:text}`hours_cifar` hours; `-p other_pairs 20 -p other_widths [6,9,12,15,20,25,30,40,60,80,100,150,200]`.
#   All of 2 to 6 layers: {glue:text}`hours_cifar_all` hours.
#
# ### Exercises
#
# :::{exercise}
# One image, two classes.
# At both ends the label's logit is larger than the other by $\gamma > 0$; in the middle of the line it is smaller by $\gamma/2$, or, in a second pair of networks, larger by $\gamma/2$.
# All logits are multiplied by $s$.
# Find the height $H(s)$ of the NLL in the middle above the chord in both cases.
# How does it behave as $s \to \infty$, and where is it largest?
# :::
#
# :::{solution}
# With a gap $g$ the NLL is $\ln(1 + e^{-sg})$. In the first case
#
# $$
# H(s) = \ln(1 + e^{s\gamma/2}) - \ln(1 + e^{-s\gamma})
# $$
#
# increases without bound, and $H(s)/s \to \gamma/2 = V_{1/2}$, as {prf:ref}`prop-logit-scale` says.
# In the second case put $u = e^{-s\gamma/2}$, so that $H = \ln \frac{1 + u}{1 + u^2}$: this is 0 at $s = 0$ ($u = 1$) and tends to 0 as $s \to \infty$ ($u \to 0$).
# The derivative vanishes where $1 + u^2 = 2u(1 + u)$, at $u = \sqrt2 - 1$, with $H = \ln \frac{1 + \sqrt2}{2} \approx 0.19$.
# So a barrier may rise and then vanish while the networks, up to the scale of their logits, remain the same.
# :::
#
# :::{exercise}
# Does $S_c$ change the permutations that the two matchers look for? Activation matching maximises, in each hidden layer, the sum of the correlations of matched units. Weight matching maximises the inner product of all parameters of the first network with those of the reordered second one.
# :::
#
# :::{solution}
# Activation matching: no. All units of layer $k$ respond $c^k$ times as strongly, and correlations do not change.
#
# Weight matching: no if there are no biases, or if there is one hidden layer.
# Without biases all inner products are multiplied by $c^2$.
# With one hidden layer the biases that are reordered are those of the first map, which are multiplied by $c$ as weights are; the output's biases add a constant.
# With more hidden layers, yes: the biases of map $k$ contribute with the factor $c^{2k}$, the weights with $c^2$.
# If in the second hidden layer the weights prefer one order by $g > 0$ and the biases another by $h > 0$, the second one wins as soon as $c^4 h > c^2 g$.
# So the {term}`permuted barrier` of one and the same pair, up to $S_c$, can change with the matcher's choice as well as with the logits.
# :::
# :::{try}
# Fewer images, more groups:
#
#     make chapter NAME=width_barriers ARGS="-p groups 8 -p images 2000"
# :::
#
# ### Versions

# %% Versions and time
print(chapter.end())
