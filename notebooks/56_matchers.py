# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
#   lmc:
#     runs: lmc_helpers._chapters.matchers.Parameters
# ---

# %% [markdown]
# # Matching by the loss beats matching by weights in narrow networks
#
# *Which way of matching two networks leaves the lowest rise of the loss halfway?*
#
# In plain networks of 48 units per layer, descent on the loss: it leaves **[[X3.straight_through:±]] times** what weight matching leaves. With 512 units weight matching leaves no rise: halfway the loss lies **[[-X3.wide_barrier:±]] nats** below the ends. With large fixed weights the best matching changes accuracy by **[[X3.fixed_weights:±]] points**.
#
# :::{glue:figure} fig_recorded_matchers
# :alt: Rise of the loss halfway that is left, in units of what weight matching leaves, on an axis from 0 to 1.5 with a line at 1. Plain networks: straight-through matching [[X3.straight_through:±]], twenty descents of weight matching [[X3.restarts_barrier:±]], REPAIR after weight matching [[X3.repair_plain:±]]; activations, from the initial weights of He et al., [[X3.start:±]]. With layer norm: activations [[X3.norm_activations:±]], REPAIR after weight matching [[X3.repair_norm:±]].
#
# What is left of the rise halfway, weight matching of the same networks being 1: plain ones, ones from the initial weights of He et al., and with layer norm (LN); 48 units per layer. Recorded MNIST run; bars: 99.9 % intervals.
# :::
#
# **How sure.** Test images of MNIST; [[n(X3.straight_through)]] pairs of narrow, [[n(X3.wide_barrier)]] of wide networks; row 1: [[n(X3.deep_best)]] pairs with five units per layer, all orders, on forty small digits; recorded.
#
# | We expected | We find | By how much |
# | --- | --- | --- |
# | The order nearest in weights is seldom the best | [true](#X3.deep_best) | best in [[100 * X3.deep_best:.0f]] % ([[100 * X3.deep_best:to]]) of pairs |
# | The loss guides better than weights | [true](#X3.straight_through) | [[X3.straight_through:±]] times what weights leave |
# | Restarts change less than a tenth | [open](#X3.restarts_barrier) | [[X3.restarts_barrier:±]] times what one descent leaves |
# | From the initial weights of He et al. matching by activations leaves half or less | [open](#X3.start) | [[X3.start:±]] times what weights leave |
# | With layer norm {term}`REPAIR` changes less than a tenth | [false](#X3.repair_norm) | [[X3.repair_norm:±]] times what is left without it |
# | In wide networks matching by weights leaves no rise | [true](#X3.wide_barrier) | [[X3.wide_barrier:±]] nats (none: 0 or less) |
#
# **Open.** The initial weights of He et al.: 400 pairs, 0.5 core-hours. Restarts: 3500 pairs for a value near the threshold. With layer norm whether activations match better depends on the number of images (Evidence).
#
# **For the authors.** Nothing: no paper is judged here.

# %% [markdown]
# :::{need}
# You need: permutation matrices, linear assignment, correlations. The exact loss of students: [](11_exact_loss.ipynb); the {term}`W-MLPs <W-asymmetric>`: [](53_asymmetric_mlps.ipynb). {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $L$, $W_l$, $b_l$ | number of linear maps of a network, their weights and biases |
# | $h_l$, $\varphi$ | activations after map $l$; the activation function |
# | $\nu_l$, $g_l$, $s_l$ | layer norm, its gain and its shift |
# | $a$, $b$ | the two networks of a pair |
# | $P_l$, $\pi$ | permutation of the units of layer $l$; all of them together |
# | $m$ | units of a hidden layer |
# | $\rho$ | correlation of the activations of two units |
# | $\sigma_F$ | scale of the fixed weights of W-MLPs |

# %% Parameters tags=["parameters"]
dataset: str = "mnist"  # or "digits"
width: int = 48  # units in each of three hidden layers
pairs: int = 12  # pairs of networks of each kind
images: int = 2000  # training images
epochs: int = 10  # passes through them
wide: int = 192  # units a layer of wider networks; 512 in the recorded run
wide_pairs: int = 4  # their pairs, of each of two kinds
matched: int = 200  # training images that matchers and REPAIR see
unseen: int = 1000  # test images that barriers are measured on
restarts: int = 20  # descents of weight matching
steps: int = 30  # of straight-through matching and Sinkhorn re-basin
students: int = 160  # pairs of two-layer students
rows: int = 5  # their neurons
small_pairs: int = 40  # pairs of small networks, 14 400 permutations each
small_epochs: int = 30  # their training
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Integer

chapter.begin(
    globals(),
    dataset=Choice(("digits", "mnist")),
    width=Integer(8, 4096),
    pairs=Integer(4, 1000),
    images=Integer(100, 60_000),
    epochs=Integer(1, 1000),
    wide=Integer(8, 4096),
    wide_pairs=Integer(4, 1000),
    matched=Integer(50, 60_000),
    unseen=Integer(50, 10_000),
    restarts=Integer(4, 1000),
    steps=Integer(1, 10_000),
    students=Integer(4, 100_000),
    rows=Integer(4, 9),
    small_pairs=Integer(2, 100_000),
    small_epochs=Integer(1, 1000),
)

from dataclasses import replace
from functools import cache

import numpy as np

from lmc_helpers import claims, figures
from lmc_helpers._chapters import matchers as matched_pairs
from lmc_helpers._chapters.matchers import (
    HE,
    KINDS,
    WIDE,
    Pairs,
    Parameters,
    compare_students,
    cross_fitted_gain,
    descents,
    every_permutation,
    methods,
)
from lmc_helpers.alignment.activation_matching import recorded_moments
from lmc_helpers.alignment.assignment import assign
from lmc_helpers.alignment.pairs import ends
from lmc_helpers.claims.numerals import plain_with_error
from lmc_helpers.data.images import choose, load
from lmc_helpers.error_bars import mean_and_error, ratio_of_means, share, widening
from lmc_helpers.matching import all_permutations
from lmc_helpers.modules.repair import repair_stacks
from lmc_helpers.networks.segments import along_segments, scores
from lmc_helpers.teacher_student import sample_minima
from lmc_helpers.teacher_student.between_minima import BEST, FLOOR

name, told = choose((dataset, "digits"))
chapter.uses(dataset=load(name).source)

labels = {
    "plain": "plain",
    "layer norm": "layer norm",
    "σ_F = 0": r"W-MLP, $\sigma_F = 0$",
    "σ_F = 1": r"W-MLP, $\sigma_F = 1$",
}

# %% [markdown]
# ## The order of the neurons decides what an average computes
#
# Two networks of three ReLU neurons on the line compute the same function; the second has its neurons in another order, one of them larger inside and smaller outside, another the other way round. Averaged as they are they give something else. Of the six orders one is the best, and even that leaves a little, as the sizes differ.

# %% Plot the line between two networks, for all orders
inner = np.array([[1.0, 0.6], [-1.0, 0.3], [1.5, -0.9]])  # weight, bias
outer, enlarged = np.array([1.0, -1.2, 0.8]), np.array([1.7, 0.7, 1.0])
twin = (enlarged[:, None] * inner)[[1, 2, 0]], (outer / enlarged)[[1, 2, 0]]
line_x, part_of = np.linspace(-1.5, 1.5, 121), np.linspace(0, 1, 41)


def on_line(order, part):
    """The function at a place of the line, the second network in this order."""
    u, v = (
        (1 - part) * one + part * two[list(order)]
        for one, two in zip((inner, outer), twin, strict=True)
    )
    return np.maximum(u[:, :1] * line_x + u[:, 1:], 0).T @ v


given = (0, 1, 2)
target_f = on_line(given, 0)
lost = {
    tuple(p): [np.square(on_line(p, t) - target_f).mean() for t in part_of]
    for p in all_permutations(3).tolist()
}
special = {
    min(lost, key=lambda p: max(lost[p])): ("blue", "averaged, best order"),
    given: ("red", "averaged as they are"),
}
idea, (graphs, heights) = figures.panels(2, height=3.6)
graphs.plot(line_x, target_f, color="book:black", label="both ends")
for p in sorted(lost, key=lambda p: p in special):
    colour, tag = special.get(p, ("grey", "averaged, other orders"))
    drawn = dict(color=f"book:{colour}", label=tag)
    heights.plot(part_of, lost[p], **drawn)
    graphs.plot(line_x, on_line(p, 0.5), "--", **drawn)
graphs.set(xlabel="input", ylabel="output halfway")
heights.set(xlabel=r"place $\lambda$ on the line", ylabel="mean squared change")
figures.show("fig_idea_orders", idea, legend=2)

# %% [markdown]
# :::{glue:figure} fig_idea_orders
# :alt: First panel, the function of both ends and the functions halfway for six orders of the neurons; that of the best order is close to the ends, that of the networks as they are is not. Second panel, the mean squared change of the function along the line, 0 at both ends; nearly 0 throughout for the best order, and far from it for most others.
#
# First panel: the functions halfway between two networks with the same function. Second: how far the function is from that of the ends along the line, for all six orders.
# :::
#
# A network with $L$ maps computes $h_l = \varphi(\nu_l(W_l h_{l-1} + b_l))$ for $l < L$ and $z = W_L h_{L-1} + b_L$, with $\varphi$ acting on entries and $\nu_l$ a layer norm with gain $g_l$ and shift $s_l$, or nothing. A matcher gives a permutation matrix $P_l$ for each hidden layer; $\pi b$ is
# network $b$ with
#
# $$
# \begin{aligned}
# W_l &\to P_l W_l P_{l-1}^\top, \qquad b_l \to P_l b_l, \\
# g_l &\to P_l g_l, \qquad s_l \to P_l s_l, \\
# P_0 &= P_L = I .
# \end{aligned}
# $$
#
# :::{prf:proposition} The same function
# :label: prop-permuted-function
# $\pi b$ computes the function of $b$.
# :::
#
# :::{prf:proof}
# Let $h_{l-1}$ have become $P_{l-1} h_{l-1}$. Then $W_l h_{l-1} + b_l$ has become $P_l (W_l h_{l-1} + b_l)$, as $P_{l-1}^\top P_{l-1} = I$. Mean and variance over the units of a layer do not depend on their order, gain and shift move with them, and $\varphi$ acts on entries, so that
# $h_l$ has become $P_l h_l$. At the last map $P_L = I$.
# :::
#
# So all $\prod_l m_l!$ networks $\pi b$ are equally good, and only what lies between the ends depends on $\pi$. Measured halfway, at $(a + \pi b)/2$: the **{term}`barrier`**, the cross-entropy there less the mean of the two ends; and the **drop**, the mean accuracy of the ends less the accuracy there, in percentage points.
#
# ## Weight matching maximises something else
#
# Weight matching {cite:p}`ainsworth2023` brings $\pi b$ as near to $a$ as possible, which is to maximise
#
# $$
# \begin{aligned}
# \langle a, \pi b \rangle &= \sum_{l=1}^{L} \bigl\langle W_l^a,\; P_l W_l^b P_{l-1}^\top \bigr\rangle \\
# &\quad + \sum_{l=1}^{L-1} \bigl\langle c_l^a, P_l c_l^b \bigr\rangle + \langle b_L^a, b_L^b \rangle , \\
# c_l &= (b_l, g_l, s_l) ,
# \end{aligned}
# $$
#
# a sum of bilinear assignment problems ($\langle A, B \rangle$ is the sum of the products of all entries). With the others held fixed it is linear in $P_l$; Algorithm 1 of Ainsworth et al. solves one layer after another until nothing is gained, and stops at a local optimum.
#
# :::{prf:proposition} One hidden layer is exact
# :label: prop-one-layer
# For $L = 2$ weight matching is one linear assignment, $\max_p \sum_i S_{i p(i)}$ with $S = W_1^a W_1^{b\top} + c_1^a c_1^{b\top} + W_2^{a\top} W_2^b$: given $S$, the best of all $m!$ permutations is found in $O(m^3)$ operations.
# :::
#
# :::{prf:proof}
# $P_0 = P_2 = I$, and $\langle W_1^a, P W_1^b \rangle = \langle P, W_1^a W_1^{b\top} \rangle$, $\langle W_2^a, W_2^b P^\top \rangle = \langle P, W_2^{a\top} W_2^b \rangle$, and likewise for $c_1$.
# :::
#
# :::{prf:theorem} Two hidden layers are hard
# :label: thm-matching-hard
# For two hidden layers of $m$ units weight matching is NP-hard.
# :::
#
# :::{prf:proof}
# Ainsworth et al. state it for their sums of bilinear assignment problems; here is a short proof.
# Let the first and last maps and all biases be 0, without norms, and let the middle maps be $A = R^2$ and $B = S^2$, positive semi-definite.
# The objective is $\langle A, Q B P^\top \rangle = \langle R Q S, R P S \rangle$.
# By Cauchy and Schwarz it is at most
# the larger of $\lVert R P S \rVert^2 = \langle A, P B P^\top \rangle$ and the same for $Q$, so that its maximum over $(P, Q)$ is $\max_P \langle A, P B P^\top \rangle$.
# Now let $G$ be a simple graph with $m \ge 3$ vertices and adjacency matrix $A_G$, $C$ the cycle through $m$ vertices, and $A = A_G + mI$,
# $B = A_C + mI$, which are diagonally dominant, hence positive definite.
# Then $\langle A, P B P^\top \rangle = \langle A_G, P A_C P^\top \rangle + m^3$, as adjacency matrices have trace 0, and the maximum, at most $2m + m^3$, reaches this if and only if $G$ has a Hamiltonian cycle.
# To tell whether it has one is NP-complete.
# :::
#
# Even the global optimum is not the lowest barrier. Small networks with two hidden layers of {glue:text}`matched_pairs.SMALL` neurons, trained on scikit-learn's digits, have {glue:text}`all_small` orders, all of which can be listed:

# %% Small networks, and all their orders
few = load("digits", n=40, seed=seed)
few_x, few_y = few.inputs(flat=True), few.y
others = load("digits", "test")


settings = chapter.parameters(Parameters, globals())


@cache
def training(seed):
    """The runs of this chapter by their names."""
    return replace(settings, seed=seed).by_name()


@cache
def list_all(seed):
    """Small networks, and objective and loss (P, 5!, 5!) of all their orders."""
    a, b = ends(training(seed)["small"].result())
    return a, b, every_permutation(a, b, few_x, few_y)


a, b, listed = list_all(seed)

matchers = methods(restarts=restarts, steps=steps)
chosen = {
    matcher: run(a, b, few_x, few_y, seed) for matcher, run in matchers.items()
} | {"exact optimum": listed.best()}


def share_of_firsts(ranks):
    """Share of the pairs with rank 0, and its interval."""
    return share(int((ranks == 0).sum()), len(ranks))


def restarts_by_objective(seed):
    """How often the best of several descents has the largest objective of all."""
    a, b, listed = list_all(seed)
    p = matchers["weights, restarts"](a, b, few_x, few_y, seed)
    return share_of_firsts(listed.rank(p)[0])


def optimum_by_loss(seed):
    """How often the largest objective has the lowest loss halfway of all."""
    *_, listed = list_all(seed)
    return share_of_firsts(listed.rank(listed.best())[1])


descended, optimal = restarts_by_objective(seed), optimum_by_loss(seed)

# %% Plot objective and loss of all permutations
at_ends = along_segments(a, b, few_x, few_y, (0, 1)).loss.mean(dim=1)  # (P,)
shown = {
    "weights, restarts": ("s", 13, "blue"),
    "activations": ("D", 8, "green"),
    "straight-through": ("^", 6, "red"),
}
orders = all_permutations(matched_pairs.SMALL)
figure, axes = figures.panels(2, sharey=True)
for k, axis in enumerate(axes):
    objective = listed.objective[k] / listed.objective[k].max()
    barrier = listed.loss[k] - at_ends[k]
    dots = {"markersize": 0.8, "alpha": 0.5, "rasterized": True}
    axis.plot(
        objective.flatten(), barrier.flatten(), "o", color="book:grey", **dots
    )
    for matcher, (marker, size, colour) in shown.items():
        p, q = (
            (chosen[matcher][g][k] == orders).all(1).nonzero() for g in ("0", "1")
        )
        axis.plot(
            objective[p, q].flatten(),
            barrier[p, q].flatten(),
            marker,
            markersize=size,
            markerfacecolor="none",
            markeredgewidth=2,
            color=f"book:{colour}",
            label=matcher,
        )
    low = barrier == barrier.min()
    star = {"color": "book:black", "markersize": 10, "label": "best of all"}
    axis.plot(objective[low], barrier[low], "*", **star)
    axis.set(xlabel="objective / largest objective", title=f"pair {k + 1}")
axes[0].set(ylabel="barrier halfway")
figures.show("fig_every", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_every
# :alt: Two clouds of dots, the barrier against the objective of weight matching for all 14 400 orders of two pairs. Markers show where three matchers end, and a star the lowest barrier.
#
# All {glue:text}`all_small` orders of the neurons of two pairs of small networks: the objective of weight matching against the barrier, and where three matchers end (this run, profile {glue:text}`profile`).
# :::
#
# The order with the largest objective has the lowest loss of all in only [[100 * X3.deep_best:to]] % of [[n(X3.deep_best)]] recorded pairs. The descent is not to blame: the best of twenty finds the largest objective in [[100 * X3.deep_objective:to]] % ({claim}`X3.deep_objective`).

# %%
claims.check(
    "X3.deep_best",
    *optimal,
    n=small_pairs,
    second_seed=lambda: optimum_by_loss(seed + 1),
)

# %% [markdown]
# ## In narrow networks the loss is the better guide
#
# The other matchers of this chapter look at the networks at work:
#
# - **{term}`activation matching`** {cite:p}`singh2020,ainsworth2023` pairs units that respond alike to the same images, here by the largest sum of correlations, as in Bürgin, Herbst, Lin & Jegelka (I) {cite:p}`buergin2026`;
# - **{term}`straight-through matching`** {cite:p}`ainsworth2023` descends on the loss halfway itself, **{term}`Sinkhorn re-basin`** {cite:p}`pena2023` over doubly stochastic matrices in the place of permutations;
# - **REPAIR** {cite:p}`jordan2023` corrects the merged network afterwards.
#
# The first pair of plain networks of this page, by correlations, written out: one assignment a layer, the loss halfway less that of the chord, and the same after REPAIR.

# %% Images for the matchers, and for the barriers
trained_on = training(seed)["plain"].data.size
chapter.uses(images=trained_on)
some = load(name, n=min(matched, trained_on), seed=seed)
many = load(name, n=min(10_000, trained_on), seed=seed)  # for wide networks
test = load(name, "test", n=min(unseen, 360 if name == "digits" else 10_000))
seen, seen_by_wide, fresh = (
    (data.inputs(flat=True), data.y) for data in (some, many, test)
)

# %%
one, two = (end.ordinary([0]) for end in ends(training(seed)["plain"].result()))
correlations = {
    layer: found.correlations()[0]  # (m, m)
    for layer, found in recorded_moments(one, two, seen[0]).items()
}
order = {layer: assign(S)[None] for layer, S in correlations.items()}

for words, other in (("as they are", two), ("matched", two.permuted(order))):
    at_0, middle, at_1 = along_segments(one, other, *fresh, (0, 0.5, 1)).loss[0]
    merged, _ = repair_stacks(one, other, seen)
    repaired = scores(merged, *fresh).loss[0, 0]
    chord = (at_0 + at_1) / 2
    print(
        f"{words}: barrier {middle - chord:.3f}, {repaired - chord:.3f} repaired"
    )

# %% All pairs, and when a comparison is judged
UNKNOWN = 1e6  # the error of a ratio to a barrier that is none


@cache
def pairs_of(kind, seed):
    """The pairs of a kind; a matcher runs when it is asked for."""
    run, images = training(seed)[kind], seen_by_wide if kind in WIDE else seen
    return Pairs(*ends(run.result()), matchers, images, fresh, seed)


def measured(kind, measure, judged=lambda of: True):
    """A measurement and its error, for a check, and the same on fresh networks."""

    def of_seed(s):
        of = pairs_of(kind, s)
        value, error = measure(of)
        return value, widening(len(of.a)) * error  # Student's quantile, few pairs

    def of_fresh_networks():
        value, error = of_seed(seed + 1)
        return value, error if judged(pairs_of(kind, seed + 1)) else UNKNOWN

    of, (value, error) = pairs_of(kind, seed), of_seed(seed)
    return {
        "value": value,
        "stderr": error,
        "n": len(of.a) if judged(of) else 0,
        "second_seed": of_fresh_networks,
    }


def leaves(of, matcher):
    """Whether it leaves a barrier, beyond the error: a ratio to none means nothing."""
    mean, error = mean_and_error([of[matcher].barrier])
    return bool(mean[0] > figures.BAND * widening(len(of.a)) * error[0])


# %% Comparisons of narrow networks
def compared(kind, above, below):
    """Mean barrier after a matcher over that after another."""
    return measured(
        kind, lambda of: of.ratio(above, below), lambda of: leaves(of, below)
    )


def with_repair(kind):
    """Mean barrier with REPAIR over that without, after weight matching."""
    return measured(
        kind, lambda of: of.repaired("weights"), lambda of: leaves(of, "weights")
    )


# %% Plot what is left, by the recorded run
LEFT = (
    ("X3.straight_through", "straight-through", "blue"),
    ("X3.restarts_barrier", "twenty descents by weights", "black"),
    ("X3.repair_plain", "by weights, then REPAIR", "black"),
    ("X3.start", "activations, from He's start", "green"),
    ("X3.norm_activations", "LN: activations", "red"),
    ("X3.repair_norm", "LN: by weights, then REPAIR", "red"),
)
figure, axis = figures.panels(height=2.65)
for row, (part, label, colour) in enumerate(LEFT):
    figures.recorded(axis, row, part, label, colour)
axis.axvline(1, color="book:black", linewidth=1, linestyle=":")
axis.set(xlim=(0, 1.5), ylim=(-5.5, 0.95), yticks=[], xticks=[0, 0.5, 1, 1.5])
axis.set_xlabel("rise left (1: by weights)")
figures.show("fig_recorded_matchers", figure)

# %% Compare matchers in narrow networks
straight = compared("plain", "straight-through", "weights")
alike = compared("layer norm", "activations", "weights")

# %% The same from He's law
scale = compared(HE, "activations", "weights")


# %% Descents of weight matching
@cache
def optima(seed):
    """Objectives and barriers (R, P) of several descents for each pair."""
    of = pairs_of("plain", seed)
    return descents(of.a, of.b, restarts, fresh, seed)


def rank_correlation(of):
    """Of objective and barrier over the descents: mean over pairs, its error."""
    mean, error = mean_and_error([optima(of.seed).rank_correlations()])
    return float(mean[0]), float(error[0])


ranks = measured("plain", rank_correlation)
gained = compared("plain", "weights, restarts", "weights")

# %% [markdown]
# Recorded on MNIST with 48 units per layer, as ratios of mean barriers on test images:
#
# | Statement | Networks | Measured | We find |
# | --- | --- | --- | --- |
# | straight-through leaves at least a tenth less than weights | plain | [[X3.straight_through:±]] | [true](#X3.straight_through) |
# | activations leave at most half of what weights leave | plain, He's start | [[X3.start:±]] | [open](#X3.start) |
# | activations leave at least a tenth less than weights | layer norm | [[X3.norm_activations:±]] | [open](#X3.norm_activations): depends on the images |
# | twenty descents instead of one change less than a tenth | plain | [[X3.restarts_barrier:±]] | [open](#X3.restarts_barrier) |
# | objective and barrier are little related (rank correlation within ½) | plain | [[X3.objective_barrier:±]] | [true](#X3.objective_barrier) |
#
# Which of weights and activations is better depends on the start: weights that begin large, as by He's law, still carry it after training, and activations see only what has reached them (a likely reason, not tested). [](51_width_barriers.ipynb), whose networks start by He's law, points the same way ({claim}`Z11.matcher`).
#
# Correlations also do not see the *sizes* of neurons:
#
# :::{prf:proposition} Correlations do not see sizes
# :label: prop-blind
# For inputs uniform on the unit sphere and ReLU neurons with weights $u, v \ne 0$ at the angle $\theta$,
#
# $$
# \begin{aligned}
# \rho(u, v) &= \frac{\kappa(\cos\theta) - c_d^2}{\kappa(1) - c_d^2}, \\
# \kappa(\cos \theta) &= \mathbb E\, \varphi(\hat u \cdot x)\, \varphi(\hat v \cdot x), \\
# c_d &= \mathbb E\, \varphi(x_1) ,
# \end{aligned}
# $$
#
# is the correlation of their activations, with $\hat u = u/\lVert u \rVert$.
# In particular $\rho = 1$ for two neurons of one direction, whatever their sizes.
# In any ReLU network without norms, $\rho$ does not change if a neuron's incoming weights and bias are multiplied by $c > 0$ and its outgoing ones by $1/c$.
# :::
#
# :::{prf:proof}
# $\varphi(u \cdot x) = \lVert u \rVert\, \varphi(\hat u \cdot x)$, and a correlation does not change when its variables are multiplied by positive numbers.
# The mean of $\varphi(\hat u \cdot x)$ is $c_d$ and its second moment $\kappa(1)$ for every direction.
# In a network the activation of the rescaled neuron is $c$ times what it was, and all others stay.
# :::
#
# Between students at random minima, where the exact loss is known, this costs a factor of [[X3.blind_to_size:±]] in the barrier against weight matching ({claim}`X3.blind_to_size`).

# %%
claims.check("X3.straight_through", **straight)
claims.check("X3.start", **scale)
claims.check("X3.restarts_barrier", **gained)

# %% [markdown]
# ## REPAIR takes off a quarter, with layer norm too
#
# Without norms the units of a merged network mostly vary less over the data than those of its ends. REPAIR gives every unit the mean and the deviation that are halfway between those of the ends. A layer norm, $n_i = (z_i - \bar z)/\sqrt{v + \varepsilon}$ with mean $\bar z$ and variance $v$ over the $m$ units of one sample, seems to leave nothing to repair. What is true:
#
# :::{prf:proposition} What a layer norm repairs by itself
# :label: prop-norm-repairs
# Let $v > 0$ for almost all inputs. (i) For $\varepsilon = 0$, $z \to c z + d \mathbf 1$ with $c > 0$ does not change $n$, even if $c$ and $d$ depend on the input. (ii) For every network, the ends and the merged ones alike,
#
# $$
# \frac1m \sum_{i=1}^m \bigl( \operatorname{Var} n_i + (\mathbb E\, n_i)^2 \bigr) = \mathbb E\, \frac{v}{v + \varepsilon} \le 1,
# $$
#
# with equality for $\varepsilon = 0$, where $\operatorname{Var}$ and $\mathbb E$ are over the inputs.
# :::
#
# :::{prf:proof}
# (i) $c z_i + d - (c \bar z + d) = c (z_i - \bar z)$, and $v$ becomes $c^2 v$. (ii) For each input $\sum_i n_i^2 = m v / (v + \varepsilon)$. Take means over the inputs, and $\mathbb E\, n_i^2 = \operatorname{Var} n_i + (\mathbb E\, n_i)^2$.
# :::
#
# The norm standardises each input over the units, REPAIR each unit over the inputs: (ii) leaves open how the second moments are shared among the units. Before any measurement we guessed that less than a tenth of the barrier is left for it to do. The guess was wrong: [[X3.repair_norm:±]] of the barrier is left with layer norm, [[X3.repair_plain:±]] without ({claim}`X3.repair_plain`).

# %% Weight matching with REPAIR
repair_plain = with_repair("plain")
repair_norm = with_repair("layer norm")

# %%
claims.check("X3.repair_norm", **repair_norm)

# %% [markdown]
# ## In wide networks, or with large fixed weights, nothing is left to match by the loss
#
# | Statement | Measured | We find |
# | --- | --- | --- |
# | 512 units, plain: weight matching leaves no barrier | [[X3.wide_barrier:±]] nats | [true](#X3.wide_barrier) |
# | 512 units, layer norm: the same | [[X3.wide_norm:±]] nats | [true](#X3.wide_norm) |
# | 512 units, plain: activations leave no less | [[X3.wide_order:±]] nats more | [true](#X3.wide_order) |
# | 512 units, layer norm: the same | [[X3.wide_order_norm:±]] nats more | [true](#X3.wide_order_norm) |
# | $\sigma_F = 1$, 48 units: the best matcher gains at most a point of accuracy | [[X3.fixed_weights:±]] points | [true](#X3.fixed_weights) |
# | $\sigma_F = 0$, 48 units: activations take at least half of the barrier | [[X3.zero_weights:±]] of it is left | [true](#X3.zero_weights) |
#
# Large fixed weights give every unit its place ([](53_asymmetric_mlps.ipynb)), zeros do not.

# %% Match wide networks
ASKED = ("identity", "weights", "activations")  # the others take too long


def mean_of(values):
    """Mean over pairs, and its error, a ten-thousandth at least."""
    mean, error = mean_and_error([values])
    return float(mean[0]), max(float(error[0]), 1e-4)


def by_weights(of):
    """What weight matching leaves."""
    return mean_of(of["weights"].barrier)


def more_by_activations(of):
    """How much more activation matching leaves, pair by pair."""
    return mean_of(of["activations"].barrier - of["weights"].barrier)


wide_plain, wide_norm, turned_plain, turned_norm = (
    measured(kind, quantity)
    for quantity in (by_weights, more_by_activations)
    for kind in WIDE
)

# %%
claims.check("X3.wide_barrier", **wide_plain)

# %% [markdown]
# ## What it means for merging networks
#
# Match by what you want to be small, if you can pay for it. Otherwise match by weights, or by activations, which costs one pass over some images: if the networks started from large weights, by activations; if from small ones, there is little between them in wide networks, and weight matching is enough. Restarts improve the objective; whether they lower the barrier by a tenth is open. REPAIR afterwards is cheap.
#
# **Read on.** [](13_algorithm_1.ipynb): how far Z, Algorithm 1 is from the best order. [](37_permuted_barriers.ipynb): the barrier after the best permutation. [](53_asymmetric_mlps.ipynb): networks that need no matcher.

# %% [markdown]
# ## Evidence
#
# What is judged on this page is the book's own; none of it counts for or against a paper.
# Zhan, Li & Wu (Z) {cite:p}`zhan2025` match two-layer students by their {term}`Algorithm 1`, and deeper networks by "the algorithms in" two papers, Benzing et al. (2022), which is not run here, and {cite:t}`ainsworth2023`, without saying which one where (Z, section 6; [](51_width_barriers.ipynb)).
# Singh and Jaggi compare activations by distances, Ainsworth et al. by products that are not centred: both see sizes, correlations do not. Sinkhorn re-basin takes the loss here at random places of the line.
# In the tables of this page, which this run measured, ± is one standard error over pairs; a ratio to a barrier that is near 0 says nothing.
#
# ### Where the best permutation is known
#
# Students with $m$ neurons at random {term}`minima <minimum>` of the {term}`teacher <teacher and student>`–student problem have an exact loss (chapter [](11_exact_loss.ipynb)).
# For one hidden layer weight matching is exact, and [](13_algorithm_1.ipynb) compares it with Z, Algorithm 1 and with a matching that is
# exact for a neighbouring problem (*pair matching*). Here the matchers of deep networks join in.
#
# At these minima each row of a student has a *type*, the teacher neuron that it is a multiple of.
# Rows of different types are orthogonal, so that $\rho$ has one value for all of them.
# So matching by correlation puts as many neurons as possible on their own type, and does not care whether a large one meets a large one.
# Straight-through matching descends on the exact loss halfway, and since its first projection is weight
# matching, it finds the best at least about as often. Sinkhorn re-basin descends on the exact loss at random $\lambda$, and begins near the identity. The next cell compares all matchers with the best of all $m!$ orders.

# %%
M = 3  # teacher neurons, in d = 3 dimensions


def compare(seed):
    """Barriers (students,) of every matcher, and its seconds a pair."""
    minima = sample_minima(rows, M, M, 2 * students, seed)
    return compare_students(*minima.split(students), M, steps, seed)


def over(found, above, below):
    """Ratio of two mean barriers, and its standard error."""
    return ratio_of_means(found[above], found[below], paired=True)


def finds_best(found, matcher):
    """Share of the pairs with the best barrier, and its interval."""
    hits = found[matcher] <= found[BEST] * (1 + 1e-9) + FLOOR
    return share(int(hits.sum()), len(hits))


known, seconds = compare(seed)
again = cache(lambda: compare(seed + 1)[0])  # fresh pairs, if they are needed

# %% Show the table
body = []
for matcher in known:
    ratio, error = over(known, matcher, BEST)
    value, low, high = finds_best(known, matcher)
    body.append(
        [
            matcher,
            f"{ratio:.2f} ± {error:.2f}",
            f"{100 * value:.0f} ({100 * low:.0f}–{100 * high:.0f})",
            f"{seconds[matcher] / seconds['weights']:.2g}",
        ]
    )
head = "matcher | barrier / best | finds the best, % | time / weight matching"
figures.table(head, body)

# %% [markdown]
# Mean barrier over the mean of the best of all $m!$ with its standard error, the share of pairs for which a matcher finds the best (with its interval at two-sided $10^{-3}$), and the time on this machine relative to weight matching, one assignment.
# {glue:text}`students` pairs with $m =$ {glue:text}`rows`, $M = d = 3$; {glue:text}`steps` steps of the two searches, no verdict on what they reach with more (see *The table*); a barrier is here the largest loss at $\lambda = 0, 0.1, \dots, 1$; profile {glue:text}`profile`.

# %%
twice = {"of": known, "again": again, "n": students}
claims.check("X3.algorithm_1", lambda of: over(of, "Algorithm 1", BEST), **twice)
claims.check(
    "X3.blind_to_size", lambda of: over(of, "activations", "weights"), **twice
)

# %% [markdown]
# ### Two hidden layers, all permutations
#
# MLPs with two hidden layers of {glue:text}`matched_pairs.SMALL` ReLU neurons, trained on scikit-learn's digits (AdamW, rate and decay $10^{-2}$, {glue:text}`small_epochs` epochs), have $(5!)^2$ = {glue:text}`all_small` orders of their neurons.
# For each of them the objective of weight matching, and the training loss halfway, on {glue:text}`len(few_y)` of the images:

# %% Show the table
both = (few_x, few_y), (others.inputs(flat=True), others.y)


def mean_barrier(p, x, y):
    """Halfway on some images, the mean over pairs."""
    middle = along_segments(a, b.permuted(p), x, y, [0.5]).loss
    return (middle[:, 0] - along_segments(a, b, x, y, (0, 1)).loss.mean(1)).mean()


body = []
for matcher, p in (chosen | {"best of all": listed.lowest()}).items():
    places = listed.rank(p)
    row = [f"{mean_barrier(p, *given):.2f}" for given in both]
    row += [f"{100 * share_of_firsts(rank)[0]:.0f}" for rank in places]
    body.append([matcher, *row, f"{places[1].double().median():.0f}"])
figures.table(
    "matcher | barrier | on other images | largest objective, % | lowest loss, % | median rank by loss",
    body,
)

# %% [markdown]
# Mean barrier on the {glue:text}`len(few_y)` images that the matchers see, on which the best of all is chosen too, and on {glue:text}`len(others.y)` that nobody has seen; how often a matcher finds the largest objective and the lowest loss halfway of all, and its rank among all orders by the loss, 0 the best.
# {glue:text}`small_pairs` pairs, profile {glue:text}`profile`.

# %%
claims.check(
    "X3.deep_objective",
    *descended,
    n=small_pairs,
    second_seed=lambda: restarts_by_objective(seed + 1),
)

# %% [markdown]
# ### The pairs
#
# {glue:text}`data_says` Four kinds of MLPs with three hidden layers of {glue:text}`width` ReLU units, trained by one recipe, AdamW with the rate $10^{-3}$ and the decay $10^{-2}$ of I, App. F.1, batches of 128 (which I does not state), for {glue:text}`epochs` epochs on {glue:text}`trained_on` images: *plain*; with *layer norm*; and, with layer norm too,
# W-asymmetric ones with $\sigma_F = 0$ and $1$, whose shares of fixed entries are those of I, App. F.1, and whose fixed entries the two networks of a pair have in common.
# They are matched as ordinary networks, with the weights $F + D \odot W$.
# (The MLPs of I have GELU; here neighbouring kinds differ in one thing at a time.)
# All start by torch's law, uniform with variance $1/(3 \cdot \text{inputs})$; those of [](51_width_barriers.ipynb) start by He's, normal with $2/\text{inputs}$.
# {glue:text}`pairs` pairs of each. {glue:text}`left_out` Matchers and REPAIR see {glue:text}`len(some.y)` of the training images; barriers are measured on {glue:text}`len(test.y)` test images.

# %% [markdown]
# ### The table


# %% Show the table
def entry(values, wins):
    """Mean, its standard error, and wins, as text."""
    mean, error = mean_and_error([values])
    return f"{plain_with_error(mean[0], error[0])} ({wins})"


won = {kind: pairs_of(kind, seed).wins(matchers) for kind in KINDS}
body = []
for m in matchers:
    found = {kind: pairs_of(kind, seed)[m] for kind in KINDS}
    took = sum(found[kind].seconds for kind in KINDS)
    unit = sum(pairs_of(kind, seed)["weights"].seconds for kind in KINDS)
    each = [entry(found[kind].barrier, won[kind][m]) for kind in KINDS]
    body.append([m, *each, f"{took / unit:.2g}"])
figures.table(
    " | ".join(["matcher", *labels.values(), "time / weight matching"]), body
)

# %% [markdown]
# Mean barrier halfway on test images, without REPAIR, with its standard error over pairs; in parentheses for how many of the {glue:text}`pairs` pairs a matcher has the lowest barrier of all, ties counting for each; time on one core of this machine relative to one descent of weight matching.
# Profile {glue:text}`profile`.
# "Activations" are matched by correlation. The script published with I uses another sign; [](53_asymmetric_mlps.ipynb) measures what it does ({claim}`I11.published`).
#
# The two searches on the loss get {glue:text}`steps` steps of Adam on all {glue:text}`len(some.y)` images each and keep the best permutations that they have judged: straight-through matching, at the rate 0.01, judges those of every step, Sinkhorn re-basin, whose matrices have to be rounded to permutations, those of every tenth step and of the end.
# Their authors give them more: `mnist_mlp_ste2.py` of [Ainsworth et al.](https://github.com/samuela/git-re-basin) makes 15 000 steps of gradient descent with momentum on batches of 1000 (250 passes of 60),
# `main_lmc_mlp.py` of [Peña et al.](https://github.com/fagp/sinkhorn-rebasin) 180 of AdamW (20 passes of 9) on the loss halfway.
# Rate ($0.1$), temperature, iterations and start of Sinkhorn re-basin are those of their code; the loss is taken at random places of the line, another cost of theirs, and the gradient goes through the iterations.
# So
# these rows are what is reached at this price, no verdict on the methods.
#
# Most comparisons below are ratios of barriers, and what is claimed is about MNIST and 48 units per layer; of other runs the boxes say what they lack.
# Where a matcher leaves no barrier, halfway is as good as the ends or better, and a ratio means nothing: it is judged only where the mean barrier in the denominator is positive by its interval.
# [](#sec-wide) has what becomes of wide networks.

# %% Plot the barriers
figure, axes = figures.panels(2, 2, height=3.6, sharey=True)
for axis, kind in zip(axes.flat, KINDS, strict=True):
    for shift, quantity, colour, words in (
        (-0.13, "barrier", "blue", "merged"),
        (0.13, "repaired_barrier", "orange", "merged, REPAIR"),
    ):
        values = [getattr(pairs_of(kind, seed)[m], quantity) for m in matchers]
        mean, error = mean_and_error(values)
        axis.errorbar(
            mean,
            np.arange(len(matchers)) + shift,
            xerr=figures.BAND * widening(pairs) * error,
            fmt="o",
            markersize=4,
            color=f"book:{colour}",
            label=words,
        )
    axis.set(title=labels[kind])
    axis.axvline(0, color="book:grey", linewidth=1)
    axis.set_yticks(range(len(matchers)), list(matchers))
axes.flat[0].invert_yaxis()
figures.show("fig_matchers", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_matchers
# :alt: Four panels, one for each kind of network, mean barrier of each matcher with and without REPAIR, with intervals and a line at zero.
#
# Mean barriers halfway on test images; bars: intervals at two-sided $10^{-3}$ over {glue:text}`pairs` pairs (profile {glue:text}`profile`).
# :::
#
# Straight-through matching judges its start, the identity, and its first projection is one descent of weight matching. So halfway, on the images that it sees, it is never worse than either. What is not guaranteed is the same on other images:

# %%
claims.check("X3.norm_activations", **alike)

# %% [markdown]
# Does the law of the initial weights decide between matching by weights and by activations? The plain networks again, from He's law, and {glue:text}`he_pairs` pairs, the first with the same seeds:

# %%
for kind in ("plain", HE):
    of = pairs_of(kind, seed)
    heights = {m: of[m].barrier.mean() for m in ("weights", "activations")}
    print(kind, {m: f"{height:.3f}" for m, height in heights.items()})

# %% [markdown]
# ### Is a higher objective a lower barrier?
#
# One descent of weight matching stops at one of many local optima, and restarts find higher ones.
# That helps only if a higher objective is a lower barrier.
# For each pair of plain networks, {glue:text}`restarts` descents from random orders, their objectives $\langle a, \pi b \rangle / (\lVert a \rVert \lVert b \rVert)$ and their barriers:

# %% Plot objectives and barriers of the descents
figure, (left, right) = figures.panels(2)
for k, colour in enumerate(("blue", "orange", "green", "red")):
    left.plot(
        optima(seed).objective[:, k],
        optima(seed).barrier[:, k],
        "os^D"[k],
        markersize=4,
        color=f"book:{colour}",
        label=f"pair {k + 1}",
    )
left.set(xlabel="objective", ylabel="barrier halfway")
bins = np.linspace(-1, 1, 21)
right.hist(optima(seed).rank_correlations(), bins=bins, color="book:grey")
right.axvline(0, color="book:black", linewidth=1)
right.set(xlabel="rank correlation of a pair", ylabel="pairs")
right.yaxis.get_major_locator().set_params(integer=True)
figures.show("fig_restarts", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_restarts
# :alt: First panel, dots of barrier against objective for the descents of four pairs. Second, a histogram of the rank correlations of all pairs.
#
# First panel: local optima of weight matching for four pairs of plain networks. Second: the rank correlation of objective and barrier for each pair (profile {glue:text}`profile`).
# :::
#
# The rank correlation is {glue:text}`ranks` on average over pairs; $-1$ would say that a higher objective always is a lower barrier, $0$ that the two have nothing to do with each other.
# The best of {glue:text}`restarts` descents has a higher objective than one descent for {glue:text}`higher` of the {glue:text}`pairs` pairs, and
# its mean barrier is {glue:text}`gained` times that of one descent.

# %%
claims.check("X3.objective_barrier", **ranks)

# %% [markdown]
# ### REPAIR
#
# Without norms the units of a merged network mostly vary less over the data than those of its ends: in the first layer they are $(z_a + z_b)/2$, whose deviation is below the mean of the two unless they are perfectly correlated, and further layers work on what is left.
# REPAIR gives every unit of the merged network the mean and the
# deviation that are halfway between those of its ends, $z' = s z + t$, by an affine map that its weights and bias, or the gain and the shift of its norm, absorb.
#
# Jordan et al. study REPAIR for several norms.
# A collapse by a common factor is undone at once, and the second moments cannot all shrink.
# But the norm standardises each input over the units, REPAIR each unit over the inputs: (ii) leaves open how the second moments are shared among the units, and how each one is between variance and mean.
# REPAIR acts after the norm, on
# each unit by itself, and (i) does not undo that. Before any measurement we guessed that little is left for it to do, less than a tenth of the barrier. The guess is {claim}`X3.repair_norm`:

# %%
claims.check("X3.repair_plain", **repair_plain)

# %% Plot what REPAIR corrects
figure, axis = figures.panels()
typical, layers = {}, np.arange(1, 4)
colours = ("blue", "orange", "green", "purple")
for k, (kind, colour) in enumerate(zip(KINDS, colours, strict=True)):
    of = pairs_of(kind, seed)
    _, done = repair_stacks(of.a, of.moved("weights"), seen)
    low, middle, high = np.array(
        [np.nanquantile(one, (0.25, 0.5, 0.75)) for one in done.ratios.values()]
    ).T  # (layers,) each
    typical[kind] = [f"{each.mean():.2f}" for each in (low, middle, high)]
    axis.errorbar(
        layers + 0.1 * (k - 1.5),
        middle,
        (middle - low, high - middle),
        fmt="o",
        color=f"book:{colour}",
        label=labels[kind],
    )
axis.axhline(1, color="book:grey", linewidth=1)
axis.set(xlabel="hidden layer", xticks=layers)
axis.set(ylabel="deviation halfway / that of the ends")
figures.show("fig_repair", figure, legend=2)

# %% [markdown]
# :::{glue:figure} fig_repair
# :alt: Median and quartiles over the units of the ratio of a unit's deviation halfway to that of its ends, for three hidden layers and four kinds of networks, with a line at one.
#
# After weight matching: the deviation of a unit over the inputs before REPAIR sets it, with the earlier layers set already, relative to the mean of its ends. Median and quartiles over the units of all pairs (profile {glue:text}`profile`).
# :::
#
# Half of the units have a deviation halfway of {glue:text}`plain_0` to {glue:text}`plain_2` times what it should be in plain networks, the median is {glue:text}`plain_1`; with layer norms {glue:text}`norm_0` to {glue:text}`norm_2`, and {glue:text}`norm_1` (means over the layers). Where the
# typical unit is right, what is left for REPAIR is the spread of single units, and their means. After weight matching it multiplies the mean barrier by {glue:text}`repair_plain` for plain networks and by {glue:text}`repair_norm` with layer norm.
#
# ### Fixed weights
#
# Fixed weights of $\sigma_F = 1$ are to give every unit its place, so that nothing is left for a matcher to do; those of $\sigma_F = 0$ are not (I, section 6).
# The best of several matchers, if chosen afterwards, is at least as good as the identity by mere luck.
# So it is chosen on one half of the pairs and measured on the other,
# by the {term}`drop of the accuracy <accuracy barrier>`:


# %% What the best matcher gains
def best_gain(of):
    """What the best matcher gains over the identity, in percentage points."""
    gain = cross_fitted_gain({m: of[m].drop for m in matchers})  # (P,)
    mean, error = mean_and_error([gain])
    return float(mean[0]), max(float(error[0]), 0.01)  # less does not matter


gain = measured("σ_F = 1", best_gain)
sparse = compared("σ_F = 0", "activations", "identity")

# %%
claims.check("X3.fixed_weights", **gain)
claims.check("X3.zero_weights", **sparse)

# %% [markdown]
# (sec-wide)=
# ### Wide networks
#
# Ainsworth et al. find that weight matching merges wider networks with less of a barrier; how barriers on MNIST depend on the width is the question of [](51_width_barriers.ipynb).
# Here the first two kinds are trained once more, with {glue:text}`wide` units per layer, {glue:text}`wide_pairs` pairs of each, and matched by the two matchers that do not descend on the loss.
# Correlations of more units take more images to tell: they are taken on 10 000 training images, or all that there are.
# A barrier may be negative: then the merged network has a lower
# loss on images that it has not seen than its ends have on average. Barriers near 0 are compared by their difference, pair by pair. What is claimed is about 512 units, all images of MNIST and ten epochs; of other runs the boxes say what they lack.

# %% Show the table
body = []
for kind in WIDE:
    row = []
    for m in ASKED:
        found = pairs_of(kind, seed)[m]
        for values in (found.barrier, found.repaired_barrier):
            mean, error = mean_and_error([values])
            row.append(plain_with_error(mean[0], error[0]))
    body.append([kind, *row])
head = [f"{m}{after}" for m in ASKED for after in ("", ", REPAIR")]
figures.table(" | ".join(["networks", *head]), body)

# %% [markdown]
# Mean barrier halfway on test images with its standard error, {glue:text}`wide` units per layer, {glue:text}`wide_pairs` pairs of each kind, {glue:text}`epochs` epochs of {glue:text}`trained_on` images; profile {glue:text}`profile`.

# %% Plot narrow beside wide
figure, axes = figures.panels(2)
matched_by = ASKED[1:]  # barriers of the identity are too high for this frame
for axis, (wider, kind) in zip(axes, WIDE.items(), strict=True):
    for shift, of_kind, units, colour in (
        (-0.1, kind, width, "blue"),
        (0.1, wider, wide, "orange"),
    ):
        of = pairs_of(of_kind, seed)
        mean, error = mean_and_error([of[m].barrier for m in matched_by])
        axis.errorbar(
            np.arange(len(matched_by)) + shift,
            mean,
            figures.BAND * widening(len(of.a)) * error,
            fmt="o",
            color=f"book:{colour}",
            label=f"{units} units a layer",
        )
    axis.axhline(0, color="book:grey", linewidth=1)
    axis.set(title=labels[kind], xlim=(-0.5, 1.5), ylabel="barrier halfway")
    axis.set_xticks(range(len(matched_by)), matched_by)
figures.show("fig_wide", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_wide
# :alt: Two panels, without norms and with layer norm, mean barrier after weight matching and after activation matching, for narrow and for wide networks, with intervals and a line at zero.
#
# Mean barriers halfway after two matchers; bars: intervals at two-sided $10^{-3}$ over {glue:text}`pairs` pairs of narrow and {glue:text}`wide_pairs` of wide networks (profile {glue:text}`profile`).
# :::

# %%
claims.check("X3.wide_norm", **wide_norm)

# %% [markdown]
# Among narrow networks with layer norm it depends on the number of training images whether matching by activations leaves less than weight matching ({claim}`X3.norm_activations`). Among wide ones it leaves no less, without norms and with layer norm:

# %%
claims.check("X3.wide_order", **turned_plain)
claims.check("X3.wide_order_norm", **turned_norm)


# %% Numbers for the text
def most(kind):
    """Who wins most often, and how often, as text."""
    number = max(won[kind].values())
    names = ", ".join(m for m in matchers if won[kind][m] == number)
    return f"{names} ({number} of {pairs})"


quantities = {
    "searched": straight,
    "alike": alike,
    "ranks": ranks,
    "gained": gained,
    "repair_plain": repair_plain,
    "repair_norm": repair_norm,
    "gain": gain,
    "sparse": sparse,
    "alike_plain": compared("plain", "activations", "weights"),
}
he_pairs = len(pairs_of(HE, seed).a)
figures.numbers(
    **{
        k: plain_with_error(q["value"], q["stderr"] / widening(pairs))
        for k, q in quantities.items()
    },
    alike_he=plain_with_error(
        scale["value"], scale["stderr"] / widening(he_pairs)
    ),
    blind=plain_with_error(*over(known, "activations", "weights")),
    **{f"most_{k}": most(kind) for k, kind in enumerate(KINDS)},
)

# %% Numbers of the wide networks
of_wide = {"wide_plain": wide_plain, "wide_norm": wide_norm}
of_wide |= {"turned_plain": turned_plain, "turned_norm": turned_norm}
figures.numbers(
    **{
        k: plain_with_error(q["value"], q["stderr"] / widening(wide_pairs))
        for k, q in of_wide.items()
    },
    **{
        f"alone_{k}": plain_with_error(
            *mean_of(pairs_of(kind, seed)["identity"].barrier)
        )
        for k, kind in enumerate(WIDE)
    },
)

# %% Sizes for the text
objectives = [
    pairs_of("plain", seed)[m].objective for m in ("weights, restarts", "weights")
]
figures.numbers(
    data_says=told,
    left_out=figures.left_out(run.result() for run in training(seed).values()),
    named="MNIST" if name == "mnist" else "scikit-learn's digits",
    all_small=len(all_permutations(matched_pairs.SMALL)) ** 2,
    higher=int((objectives[0] > objectives[1] * (1 + 1e-9)).sum()),
    **{f"plain_{k}": text for k, text in enumerate(typical["plain"])},
    **{f"norm_{k}": text for k, text in enumerate(typical["layer norm"])},
)

# %% [markdown]
# ### What this run found
#
# - Where everything is known, in two layers, the exact optimum of weight matching has {glue:text}`plain_with_error(*over(known, "weights", BEST))` times the barrier of the best order.
#   Matching by correlation does not see how large a neuron is; its barrier is {glue:text}`blind` times that of weight matching.
#   With two hidden layers of five neurons the exact optimum
#   of weight matching is the best order for the loss in {glue:text}`100 * optimal[0]:.0f` % of the pairs.
# - With the steps given here, the lowest barrier on {glue:text}`named` is left most often by {glue:text}`most_0` for plain networks, by {glue:text}`most_1` with layer norm, by {glue:text}`most_2` with $\sigma_F = 0$, and by {glue:text}`most_3` with $\sigma_F = 1$.
# - Straight-through matching, which looks at the loss, leaves {glue:text}`searched` times the barrier of weight matching on images that it has not seen (plain networks).
#   Matching by correlation costs one pass over the images and one assignment a layer, and leaves {glue:text}`alike_plain` times the barrier of weight matching
#   for plain networks, {glue:text}`alike` times with layer norm (with few images far less than 1; with all of MNIST the recorded run does not decide whether it is less than 1 by a tenth, {claim}`X3.norm_activations`), and {glue:text}`alike_he` times for plain networks that start by He's law ({claim}`X3.start`).
#   [](51_width_barriers.ipynb), whose networks start by He's law, points the same way, at the width where the two matchers differ most ({claim}`Z11.matcher`).
# - The rank correlation of objective and barrier over the local optima of weight matching is {glue:text}`ranks`. The best of {glue:text}`restarts` descents leaves {glue:text}`gained` times the mean barrier of one descent.
# - Before its gain a layer norm makes the units' second moments right by itself, on average, but not each single unit. After weight matching REPAIR leaves {glue:text}`repair_plain` of the barrier without norms, {glue:text}`repair_norm` with them.
# - With fixed weights of $\sigma_F = 1$ the matcher that is best on one half of the pairs gains {glue:text}`gain` points of accuracy on the other, against the networks as they are; at $\sigma_F = 0$ matching by correlation leaves {glue:text}`sparse` of the barrier.
# - Wide networks, {glue:text}`wide` units per layer: weight matching leaves a barrier of {glue:text}`wide_plain` without norms, where the networks as they are have {glue:text}`alone_0`, and {glue:text}`wide_norm` of {glue:text}`alone_1` with layer norm.
#   The barrier after matching by activations less that after weight matching is {glue:text}`turned_plain` and {glue:text}`turned_norm`.
#
# This page cannot decide whether the order of the matchers is the same for convolutions and residual networks, for networks trained to the end, and for searches with the steps of their authors; where {claim}`X3.restarts_barrier` is open, whether restarts lower the mean barrier by a tenth, for which {glue:text}`pairs` pairs are few then; and, with the few small pairs of the smaller profiles, whether twenty descents find the exact optimum for nine
# of ten. At the profile `paper` the narrow networks have 48 units, the wide ones 512, and all are trained on all of MNIST; `make runs PROFILE=paper LIST=1` says what their training costs.

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# Let $\lVert a \rVert = \lVert b \rVert = 1$ and $s = \langle a, \pi b \rangle$. How long is the merged network $(a + \pi b)/2$, and how far is it from either end? What does weight matching maximise, then? What are the two numbers for $s = 0$ and $s = 1$?
# :::
#
# :::{solution}
# $\lVert a \pm \pi b \rVert^2 = 2 \pm 2 s$, so that the length is $\sqrt{(1 + s)/2}$ and the distance $\sqrt{(1 - s)/2}$; their squares add up to 1. Weight matching makes the merged network as long as possible. For $s = 0$ both are $1/\sqrt 2$, for $s = 1$ the length is 1 and the distance 0.
# :::
#
# :::{exercise}
# Two students at minima for $M = d = 2$ have the rows $a = (s e_1,\; (1 - s) e_1,\; e_2)$ and $b = (e_1,\; t e_2,\; (1 - t) e_2)$, $0 < s, t < \frac12$.
# Which orders does matching by correlation find, and which does weight matching find?
# Show that $|\varphi(s x_1 + t x_2) - s \varphi(x_1) - t \varphi(x_2)|$ is $\min(s |x_1|, t |x_2|)$ where $x_1$ and $x_2$ have opposite signs, and 0 elsewhere.
# By which factor can the loss halfway after matching by correlation exceed that after weight matching, for $s = t = 0.1$?
# :::
#
# :::{solution}
# At most two rows can be paired within their types, one of each; one row of $a$ and one of $b$ of different types are left over.
# Correlations are 1 within a type and have one smaller value otherwise ({prf:ref}`prop-blind`), so that all four such orders are equally good.
# Weight matching has $1 - s$ or $s$ from type 1 and $1 - t$ or $t$ from type 2 and takes the larger ones: $s e_1$ and $t e_2$ are left over.
#
# For $x_1 > 0 > x_2$ the expression is $\varphi(s x_1 - t |x_2|) - s x_1 = -\min(s x_1, t |x_2|)$, for $x_1 < 0 < x_2$ likewise, and for equal signs 0.
# Pairs of one type add up as they should, so that the student halfway misses the teacher by half of this expression, with the sizes of the rows that are left over.
# The loss grows with both sizes, and with the square of a common factor.
# The worst order leaves $0.9\, e_1$ and $0.9\, e_2$ instead of $0.1\, e_1$ and $0.1\, e_2$: the factor is $9^2 = 81$.
# To check:
#
#     import torch
#     from lmc_helpers.matching import all_permutations
#     from lmc_helpers.teacher_student import population_loss
#     a = torch.tensor([[0.1, 0], [0.9, 0], [0, 1]]).double()
#     b = torch.tensor([[1, 0], [0, 0.1], [0, 0.9]]).double()
#     losses = population_loss((a + b[all_permutations(3)]) / 2, 2)
#     print(losses / losses.min())
# :::
#
# :::{try}
# More pairs, and wide networks; the verdicts of the page stay. Look at *The table*, and at the barriers of wide networks:
#
#     make chapter NAME=matchers ARGS="-p pairs 40 -p wide 512 -p wide_pairs 12"
# :::

# %% Versions and time
print(chapter.end())
