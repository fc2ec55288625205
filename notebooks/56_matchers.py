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
#   lmc:
#     runs: lmc_helpers.experiments.matched_pairs.runs
# ---

# %% [markdown]
# # Matchers side by side
#
# Before two networks are averaged, the hidden units of one are put in an order that suits the other. The papers of this book use two ways to find it, Algorithm 1 of Zhan, Li and Wu {cite:p}`zhan2025` and activation matching in Bürgin et al. {cite:p}`buergin2026`;
# readers who merge networks know more: weight matching and straight-through matching {cite:p}`ainsworth2023`, Sinkhorn re-basin {cite:p}`pena2023`, and REPAIR {cite:p}`jordan2023`, which corrects the merged network afterwards. This chapter runs all of them on the same pairs
# and asks which leaves the lowest barrier, at what price, and how far it is from the best permutation where that is known. Every statement that is judged here is the book's own; none counts for or against a paper.
#
# In short: what a matcher maximises is not what one wants to be small.

# %% tags=["parameters", "hide-input"] mystnb={"code_prompt_show": "Parameters"}
dataset: str = "mnist"  # or "digits"
width: int = 64  # units in each of three hidden layers
pairs: int = 12  # pairs of networks of each kind
images: int = 3000  # training images
epochs: int = 12  # passes through them
matched: int = 300  # training images that matchers and REPAIR see
unseen: int = 1000  # test images that barriers are measured on
restarts: int = 20  # descents of weight matching
steps: int = 30  # of straight-through matching and Sinkhorn re-basin
students: int = 120  # pairs of two-layer students
rows: int = 6  # their neurons
small_pairs: int = 40  # pairs of small networks, 14 400 permutations each
small_epochs: int = 30  # their training
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Check the parameters"}
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Integer

chapter.begin(
    globals(),
    dataset=Choice(("digits", "mnist")),
    width=Integer(8, 4096),
    pairs=Integer(4, 1000),
    images=Integer(100, 60_000),
    epochs=Integer(1, 1000),
    matched=Integer(50, 60_000),
    unseen=Integer(50, 10_000),
    restarts=Integer(4, 1000),
    steps=Integer(1, 10_000),
    students=Integer(4, 100_000),
    rows=Integer(4, 9),
    small_pairs=Integer(2, 100_000),
    small_epochs=Integer(1, 1000),
)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports"}
from functools import cache, partial

import numpy as np
import torch
from IPython.display import Markdown, display
from scipy.stats import spearmanr

from lmc_helpers import claims, figures
from lmc_helpers.alignment.methods import methods
from lmc_helpers.alignment.midpoint import data_loss, interpolate
from lmc_helpers.alignment.repair import affine_layers, layer_statistics, repair
from lmc_helpers.alignment.sinkhorn import sinkhorn_rebasin
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.data.images import choose, load
from lmc_helpers.error_bars import mean_and_error, ratio_of_means, share
from lmc_helpers.experiments import matched_pairs
from lmc_helpers.experiments.every_permutation import every_permutation
from lmc_helpers.experiments.matched_pairs import (
    KINDS,
    cross_fitted_gain,
    descents,
    ends,
    match,
)
from lmc_helpers.experiments.matched_students import compare_students
from lmc_helpers.matching import all_permutations
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import random_permutations
from lmc_helpers.networks.segments import along_segments
from lmc_helpers.seeds import torch_generator
from lmc_helpers.teacher_student.matchings import BEST, FLOOR
from lmc_helpers.teacher_student.minima import sample_minima

name, told = choose((dataset, "digits"))
enough = pairs if name == "mnist" else 0  # digits decide nothing about MNIST


def label(kind):
    """The name of a kind with its formula."""
    return kind.replace("σ_F", r"W-MLP, $\sigma_{\mathbf{F}}$")


def table(head: list[str], body: list[list[str]]) -> None:
    """Show a table."""
    lines = [head, ["---"] * len(head), *body]
    display(Markdown("\n".join("| " + " | ".join(row) + " |" for row in lines)))


# %% [markdown]
# ## What a matcher may do
#
# A network with $L$ maps computes $h_l = \sigma(\nu_l(W_l h_{l-1} + b_l))$ for $l < L$ and $z = W_L h_{L-1} + b_L$, with $\sigma$ acting on entries and $\nu_l$ a layer norm with gain $g_l$ and shift $s_l$, or nothing. A matcher gives a permutation matrix $P_l$ for each hidden layer; $\pi b$ is
# network $b$ with
#
# $$
# W_l \to P_l W_l P_{l-1}^\top, \qquad b_l \to P_l b_l, \quad g_l \to P_l g_l, \quad s_l \to P_l s_l, \qquad P_0 = P_L = I .
# $$
#
# ```{prf:proposition} The same function
# :label: prop-permuted-function
# $\pi b$ computes the function of $b$.
# ```
#
# ```{prf:proof}
# Let $h_{l-1}$ have become $P_{l-1} h_{l-1}$. Then $W_l h_{l-1} + b_l$ has become $P_l (W_l h_{l-1} + b_l)$, as $P_{l-1}^\top P_{l-1} = I$. Mean and variance over the units of a layer do not depend on their order, gain and shift move with them, and $\sigma$ acts on entries, so that
# $h_l$ has become $P_l h_l$. At the last map $P_L = I$.
# ```
#
# So all $\prod_l m_l!$ networks $\pi b$ are equally good, and on the line from $a$ to $\pi b$ only what lies between the ends depends on $\pi$. What is measured on this page, half-way at $(a + \pi b)/2$:
#
# - the **barrier**: the cross-entropy there less the mean of the two ends, which is the value of the chord;
# - the **drop**: the mean accuracy of the ends less the accuracy there, in percentage points.
#
# ## What weight matching maximises
#
# Weight matching brings $\pi b$ as near to $a$ as possible. As $\lVert \pi b \rVert = \lVert b \rVert$, this is to maximise
#
# $$
# \langle a, \pi b \rangle = \sum_{l=1}^{L} \bigl\langle W_l^a,\; P_l W_l^b P_{l-1}^\top \bigr\rangle + \sum_{l=1}^{L-1} \bigl\langle c_l^a, P_l c_l^b \bigr\rangle , \qquad c_l = (b_l, g_l, s_l) .
# $$
#
# Each $P_l$ stands in two of the first terms, once with $P_{l-1}$ and once with $P_{l+1}$: a sum of bilinear assignment problems. With the others held fixed it is linear in $P_l$, and a linear assignment finds the best one exactly. Algorithm 1 of Ainsworth et al. does so
# for one layer after another until nothing is gained; it stops at a local optimum.
#
# ```{prf:proposition} One hidden layer is exact
# :label: prop-one-layer
# For $L = 2$ weight matching is one linear assignment, $\max_p \sum_i S_{i p(i)}$ with $S = W_1^a W_1^{b\top} + c_1^a c_1^{b\top} + W_2^{a\top} W_2^b$: the best of all $m!$ permutations is found in $O(m^3)$ operations.
# ```
#
# ```{prf:proof}
# $P_0 = P_2 = I$, and $\langle W_1^a, P W_1^b \rangle = \langle P, W_1^a W_1^{b\top} \rangle$, $\langle W_2^a, W_2^b P^\top \rangle = \langle P, W_2^{a\top} W_2^b \rangle$.
# ```
#
# ```{prf:theorem} Two hidden layers are hard
# :label: thm-matching-hard
# For two hidden layers of $m$ units weight matching is NP-hard.
# ```
#
# ```{prf:proof}
# Ainsworth et al. state this for their problem; here is a short proof. Let the first and last maps and all biases be 0, and let the middle maps be $A = R^2$ and $B = S^2$, positive semi-definite. The objective is $\langle A, Q B P^\top \rangle = \langle R Q S, R P S \rangle$. By Cauchy and Schwarz it is at most
# the larger of $\lVert R P S \rVert^2 = \langle A, P B P^\top \rangle$ and the same for $Q$, so that its maximum over $(P, Q)$ is $\max_P \langle A, P B P^\top \rangle$. Now let $G$ be a graph with $m$ vertices and adjacency matrix $A_G$, $C$ the cycle through $m$ vertices, and $A = A_G + mI$,
# $B = A_C + mI$, which are diagonally dominant. Then $\langle A, P B P^\top \rangle = \langle A_G, P A_C P^\top \rangle + m^3$, as adjacency matrices have trace 0, and the maximum is $2m + m^3$ if and only if $G$ has a Hamiltonian cycle.
# ```
#
# The step of the proof that two permutations reduce to one, for random positive semi-definite matrices and all $(4!)^2$ pairs:

# %%
generator = torch_generator(seed, "semi-definite matrices")
R, S = torch.randn(2, 4, 4, dtype=torch.float64, generator=generator)
A, B = R @ R.T, S @ S.T
every = all_permutations(4)  # (4!, 4)
moved = B[every][:, :, every]  # (4!, 4, 4!, 4): entry (q_i, p_j) of B
value = torch.einsum("ij,qipj->qp", A, moved)  # ⟨A, Q B Pᵀ⟩
print(f"over P and Q {value.max():.6f}, with P = Q {value.diagonal().max():.6f}")

# %% [markdown]
# Even where the objective's optimum is known, it is not the lowest barrier: the loss half-way is another function of $\pi$. The next two sections measure by how much, on problems so small that all permutations can be listed.
#
# ## Where the best permutation is known
#
# Students with $m$ neurons at random minima of the teacher–student problem have an exact loss (chapter [](11_exact_loss.ipynb)). For one hidden layer weight matching is exact, and [](13_algorithm_1.ipynb) compares it with Algorithm 1 and with a matching that is
# exact for a neighbouring problem (*pair matching*). Here the matchers of deep networks join in. Activation matching pairs units whose activations have the largest correlations.
#
# ```{prf:proposition} Correlations do not see sizes
# :label: prop-blind
# For inputs uniform on the unit sphere and ReLU neurons with weights $u, v \ne 0$ at the angle $\theta$,
#
# $$
# \rho(u, v) = \frac{\kappa(\cos\theta) - c_d^2}{\kappa(1) - c_d^2}, \qquad \kappa(\cos \theta) = \mathbb E\, \sigma(\hat u \cdot x)\, \sigma(\hat v \cdot x), \quad c_d = \mathbb E\, \sigma(x_1) .
# $$
#
# In particular $\rho = 1$ for two neurons of one type, whatever their sizes. In any ReLU network, $\rho$ does not change if a neuron's incoming weights and bias are multiplied by $c > 0$ and its outgoing ones by $1/c$.
# ```
#
# ```{prf:proof}
# $\sigma(u \cdot x) = \lVert u \rVert\, \sigma(\hat u \cdot x)$, and a correlation does not change when its variables are multiplied by positive numbers. The mean of $\sigma(\hat u \cdot x)$ is $c_d$ and its second moment $\kappa(1)$ for every direction.
# ```
#
# So matching by correlation puts as many neurons as possible on their own type, and leaves to chance whether a large one meets a large one. Straight-through matching and Sinkhorn re-basin descend on the exact loss half-way.

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

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Show the table"}
body = []
for matcher in known:
    ratio, error = over(known, matcher, BEST)
    value, low, high = finds_best(known, matcher)
    body.append(
        [
            matcher,
            f"{ratio:.2f} ± {error:.2f}",
            f"{100 * value:.0f} ({100 * low:.0f}–{100 * high:.0f})",
            f"{1000 * seconds[matcher]:.2g}",
        ]
    )
table(["matcher", "barrier / best", "finds the best, %", "ms a pair, here"], body)

# %% [markdown]
# Mean barrier over the mean of the best of all $m!$ with its standard error, the share of pairs for which a matcher finds the best (with its interval at two-sided $10^{-3}$), and the time on this machine; {glue:text}`students` pairs with $m =$ {glue:text}`rows`, $M = d = 3$, barriers over the paper's grid of $\lambda$, profile {glue:text}`profile`.

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check X3.algorithm_1, X3.search_finds and X3.blind_to_size"}
again = {}  # the same with a second seed, if it is needed


def repeated(judge):
    """A measurement on fresh pairs."""
    again.setdefault("pairs", compare(seed + 1)[0])
    return judge(again["pairs"])


ratio, error = over(known, "Algorithm 1", BEST)
claims.check(
    "X3.algorithm_1",
    ratio,
    stderr=error,
    n=students,
    again=lambda: repeated(lambda f: over(f, "Algorithm 1", BEST)),
)
value, *interval = finds_best(known, "straight-through")
claims.check(
    "X3.search_finds",
    value,
    interval=tuple(interval),
    n=students,
    again=lambda: repeated(lambda f: finds_best(f, "straight-through")),
)
ratio, error = over(known, "activations", "weights")
claims.check(
    "X3.blind_to_size",
    ratio,
    stderr=error,
    n=students,
    again=lambda: repeated(lambda f: over(f, "activations", "weights")),
)

# %% [markdown]
# ## Two hidden layers, all permutations
#
# MLPs with two hidden layers of {glue:text}`small` ReLU neurons, trained on scikit-learn's digits, have $(5!)^2$ = {glue:text}`all_small` orders of their neurons. For each of them the objective of weight matching, and the training loss half-way:

# %%
few = load("digits", n=60, seed=seed)
few_x, few_y = few.inputs(flat=True), few.y


@cache
def training(seed):
    """The runs of this chapter; the last one is that of the small networks."""
    return matched_pairs.runs(
        dataset=dataset,
        width=width,
        pairs=pairs,
        images=images,
        epochs=epochs,
        small_pairs=small_pairs,
        small_epochs=small_epochs,
        seed=seed,
    )


@cache
def list_all(seed):
    """Small networks, and objective and loss (P, 5!, 5!) of all their orders."""
    a, b = ends(training(seed)[-1].result().stack)
    return a, b, every_permutation(a, b, few_x, few_y)


a, b, listed = list_all(seed)

# %%
matchers = methods(restarts=restarts, steps=steps)
chosen = {
    matcher: run(a, b, few_x, few_y, seed) for matcher, run in matchers.items()
} | {"exact optimum": listed.best()}
places = {matcher: listed.rank(p) for matcher, p in chosen.items()}


def share_of_firsts(ranks):
    """Share of the pairs with rank 0, and its interval."""
    return share(int((ranks == 0).sum()), len(ranks))


def restarts_by_objective(seed):
    """How often the best of several descents has the largest objective of all."""
    a, b, listed = list_all(seed)
    p = matchers["weights, restarts"](a, b, few_x, few_y, seed)
    return share_of_firsts(listed.rank(p)[0])


def optimum_by_loss(seed):
    """How often the largest objective has the lowest loss half-way of all."""
    *_, listed = list_all(seed)
    return share_of_firsts(listed.rank(listed.best())[1])


descended, optimal = restarts_by_objective(seed), optimum_by_loss(seed)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Show the table"}
at_ends = along_segments(a, b, few_x, few_y, (0, 1)).loss.mean(dim=1)  # (P,)
least = listed.loss.flatten(1).amin(dim=1) - at_ends
body = []
for matcher, p in chosen.items():
    height = along_segments(a, b.permuted(p), few_x, few_y, [0.5]).loss[:, 0]
    by = [share_of_firsts(ranks)[0] for ranks in places[matcher]]
    body.append(
        [
            matcher,
            f"{(height - at_ends).mean():.2f}",
            *(f"{100 * value:.0f}" for value in by),
            f"{places[matcher][1].double().median():.0f}",
        ]
    )
body.append(["best of all", f"{least.mean():.2f}", "–", "100", "0"])
table(
    [
        "matcher",
        "barrier",
        "largest objective, %",
        "lowest loss, %",
        "median rank by loss",
    ],
    body,
)

# %% [markdown]
# Mean barrier on the images that the matchers see, how often a matcher finds the largest objective and the lowest loss half-way of all, and its rank among all orders by the loss, 0 the best. {glue:text}`small_pairs` pairs, profile {glue:text}`profile`.

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check X3.deep_objective and X3.deep_best"}
claims.check(
    "X3.deep_objective",
    descended[0],
    interval=descended[1:],
    n=small_pairs,
    again=lambda: restarts_by_objective(seed + 1),
)
claims.check(
    "X3.deep_best",
    optimal[0],
    interval=optimal[1:],
    n=small_pairs,
    again=lambda: optimum_by_loss(seed + 1),
)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot objective and loss of all permutations"}
shown = {
    "weights, restarts": ("s", "orange"),
    "activations": ("D", "green"),
    "straight-through": ("^", "red"),
}
figure, axes = figures.panels(2, sharey=True)
for k, axis in enumerate(axes):
    objective = listed.objective[k] / listed.objective[k].max()
    barrier = listed.loss[k] - at_ends[k]
    axis.plot(
        objective.flatten(),
        barrier.flatten(),
        ",",
        color="book:grey",
        rasterized=True,
    )
    for matcher, (marker, colour) in shown.items():
        p, q = (
            (chosen[matcher][g][k] == all_permutations(5)).all(1).nonzero()
            for g in ("0", "1")
        )
        axis.plot(
            objective[p, q].flatten(),
            barrier[p, q].flatten(),
            marker,
            color=f"book:{colour}",
            label=matcher,
        )
    axis.set(xlabel="objective / largest objective", title=f"pair {k + 1}")
axes[0].set(ylabel="barrier half-way")
figures.legend(figure)
figures.show("fig_every", figure)

# %% [markdown]
# ```{glue:figure} fig_every
# :name: fig-every
# :alt: Two clouds of dots, the barrier against the objective of weight matching for all 14 400 orders of two pairs. The cloud falls to the right, but at its right end the barriers still spread widely; markers show where three matchers end.
#
# All {glue:text}`all_small` orders of the neurons of two pairs of small networks: the objective of weight matching against the barrier, and where three matchers end (profile {glue:text}`profile`).
# ```
#
# ## The pairs
#
# {glue:text}`told` Four kinds of MLPs with three hidden layers of {glue:text}`width` ReLU units, trained by one recipe, AdamW with the rate $10^{-3}$ and the decay $10^{-2}$ of Bürgin et al., App. F.1, for {glue:text}`epochs` epochs on {glue:text}`images` images: *plain*; with *layer norm*; and, with layer norm too,
# W-asymmetric ones with $\sigma_{\mathbf F} = 0$ and $1$, whose shares of fixed entries are those of F.1, and whose fixed entries the two networks of a pair have in common. They are matched as ordinary networks, with the weights $\mathbf F + \mathbf D \odot \mathbf W$. (The paper's MLPs have GELU; here all four kinds differ in one thing at a time.)
# {glue:text}`pairs` pairs of each. Matchers and REPAIR see {glue:text}`matched` of the training images; barriers are measured on {glue:text}`unseen` test images.

# %%
some = load(name, n=min(matched, training(seed)[0].data.size), seed=seed)
x, y = some.inputs(flat=True), some.y
test = load(name, "test", n=min(unseen, 360 if name == "digits" else 10_000))
fresh = test.inputs(flat=True), test.y


class Matches(dict):
    """Matcher → what it makes of the pairs of a kind, when it is asked for."""

    def __init__(self, kind, seed):
        run = training(seed)[list(KINDS).index(kind)]
        self.seed, (self.a, self.b) = seed, ends(run.result().stack)

    def __missing__(self, matcher):
        run = partial(matchers[matcher], self.a, self.b, x, y, self.seed)
        self[matcher] = match(self.a, self.b, run, x, fresh)
        return self[matcher]


pairs_of = cache(Matches)
found = {
    kind: {matcher: pairs_of(kind, seed)[matcher] for matcher in matchers}
    for kind in KINDS
}


def twice(kind, measure):
    """A measurement, and the same on networks of a second seed if it is needed."""
    return measure(pairs_of(kind, seed)), lambda: measure(
        pairs_of(kind, seed + 1)
    )


# %% [markdown]
# ## The table


# %% tags=["hide-input"] mystnb={"code_prompt_show": "Show the table"}
def winners(of):
    """Matcher → how many pairs it has the lowest barrier for; ties count for each."""
    values = torch.stack([of[matcher].barrier for matcher in matchers])
    wins = (values == values.amin(dim=0)).sum(dim=1).tolist()
    return dict(zip(matchers, wins, strict=True))


def with_error(values):
    """A mean and its standard error as text."""
    mean, error = mean_and_error([values])
    return f"{mean[0]:.3g} ± {error[0]:.1g}"


for kind, of in found.items():
    wins, body = winners(of), []
    for matcher, m in of.items():
        value, low, high = share(wins[matcher], pairs)
        columns = (m.barrier, m.drop, m.repaired_barrier, m.repaired_drop)
        won = f"{wins[matcher]} ({100 * low:.0f}–{100 * high:.0f} %)"
        took = f"{m.seconds:.2g}"
        body.append([matcher, *map(with_error, columns), won, took])
    display(Markdown(f"**{label(kind)}**"))
    head = ["matcher", "barrier", "drop", "barrier, REPAIR", "drop, REPAIR"]
    table([*head, "wins", "s a pair, here"], body)

# %% [markdown]
# Means over pairs with standard errors: barrier and drop half-way, without and with REPAIR; for how many of the {glue:text}`pairs` pairs a matcher has the lowest barrier without REPAIR (ties count for each; interval of the share at two-sided $10^{-3}$); seconds on one core of this machine.
# "Activations" are matched by correlation; "as published" is explained below, in *What the sign does*. Profile {glue:text}`profile`.

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot the barriers"}
figure, axes = figures.panels(2, 2, height=3.6, sharey=True)
for axis, (kind, of) in zip(axes.flat, found.items(), strict=True):
    for shift, quantity, colour, words in (
        (-0.13, "barrier", "blue", "merged"),
        (0.13, "repaired_barrier", "orange", "merged, REPAIR"),
    ):
        values = [getattr(m, quantity) for m in of.values()]
        mean, error = mean_and_error(values)
        axis.errorbar(
            mean,
            np.arange(len(of)) + shift,
            xerr=figures.BAND * error,
            fmt="o",
            markersize=4,
            color=f"book:{colour}",
            label=words,
        )
    axis.set(title=label(kind), xlabel="barrier half-way")
    axis.set_yticks(range(len(of)), list(of))
axes.flat[0].invert_yaxis()
figures.legend(figure)
figures.show("fig_matchers", figure)

# %% [markdown]
# ```{glue:figure} fig_matchers
# :name: fig-matchers
# :alt: Four panels, one for each kind of network, mean barrier of eight matchers with and without REPAIR. Identity, random and as published are high for plain networks; with fixed weights of scale one the identity is as low as any matcher.
#
# Mean barriers half-way on test images, with ± 3.29 standard errors over {glue:text}`pairs` pairs (profile {glue:text}`profile`).
# ```
#
# Straight-through matching judges its start, the identity, and its first projection is one descent of weight matching. So on the images that it sees, half-way, it is never worse than either. What is not guaranteed is the same on other images:


# %%
def ratio(above, below):
    """How to measure a matcher's mean barrier over another's, with its error."""
    return lambda of: ratio_of_means(
        of[above].barrier, of[below].barrier, paired=True
    )


def wins_of(of):
    """Share of the pairs that straight-through matching wins, and its interval."""
    return share(winners(of)["straight-through"], pairs)


searched, searched_again = twice("plain", ratio("straight-through", "weights"))
won, won_again = twice("plain", wins_of)
alike, alike_again = twice("layer norm", ratio("activations", "weights"))

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check X3.straight_through, X3.wins and X3.norm_activations"}
claims.check(
    "X3.straight_through",
    searched[0],
    stderr=searched[1],
    n=enough,
    again=searched_again,
)
claims.check("X3.wins", won[0], interval=won[1:], n=enough, again=won_again)
claims.check(
    "X3.norm_activations",
    alike[0],
    stderr=alike[1],
    n=enough,
    again=alike_again,
)

# %% [markdown]
# None of this rests on networks that changed their function. The largest change of an output of a permuted network, relative to the largest output, in float64, over all pairs and matchers; and the change if the columns of the last map stayed where they were:


# %%
def largest_change(b, p, leave=None):
    """Largest change of an output of b in another order, relative."""
    b = b.to(torch.float64)
    moved = b.permuted(p)
    if leave:
        moved = Stack(b.model, moved.params | {leave: b.params[leave]})
    outputs = b.forward(x.double())
    return (moved.forward(x.double()) - outputs).abs().max() / outputs.abs().max()


b = pairs_of("plain", seed).b
changes = [
    largest_change(b, m.permutations).item() for m in found["plain"].values()
]
wrong = largest_change(b, found["plain"]["random"].permutations, "3.weight")

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check X3.same_function"}
claims.check("X3.same_function", changes, rival=wrong.item())

# %% [markdown]
# ## Is a higher objective a lower barrier?
#
# One descent of weight matching stops at one of many local optima, and restarts find higher ones. That helps only if a higher objective is a lower barrier. For each pair of plain networks, {glue:text}`restarts` descents from random orders, their objectives $\langle a, \pi b \rangle / (\lVert a \rVert \lVert b \rVert)$ and their barriers:


# %%
@cache
def optima(seed):
    """Objectives and barriers (R, P) of several descents for each pair."""
    of = pairs_of("plain", seed)
    return descents(of.a, of.b, restarts, fresh, seed)


def rank_correlations(seed):
    """Of objective and barrier over the descents of each pair."""
    both = optima(seed).objective.T, optima(seed).barrier.T
    return [spearmanr(*values).statistic for values in zip(*both, strict=True)]


def mean_rank_correlation(seed):
    """Its mean over pairs and standard error."""
    mean, error = mean_and_error([rank_correlations(seed)])
    return float(mean[0]), float(error[0])


def higher(of):
    """Share of the pairs in which restarts find a higher objective."""
    one, best = (of[m].objective for m in ("weights", "weights, restarts"))
    return share(int((best > one * (1 + 1e-9)).sum()), pairs)


ranks = mean_rank_correlation(seed)
raised, raised_again = twice("plain", higher)
gained, gained_again = twice("plain", ratio("weights, restarts", "weights"))

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check X3.restarts_objective, X3.restarts_barrier and X3.objective_barrier"}
claims.check(
    "X3.restarts_objective",
    raised[0],
    interval=raised[1:],
    n=enough,
    again=raised_again,
)
claims.check(
    "X3.restarts_barrier",
    gained[0],
    stderr=gained[1],
    n=enough,
    again=gained_again,
)
claims.check(
    "X3.objective_barrier",
    ranks[0],
    stderr=ranks[1],
    n=enough,
    again=lambda: mean_rank_correlation(seed + 1),
)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot objectives and barriers of the descents"}
figure, (left, right) = figures.panels(2)
for k, colour in enumerate(("blue", "orange", "green", "red")):
    left.plot(
        optima(seed).objective[:, k],
        optima(seed).barrier[:, k],
        "o",
        markersize=4,
        color=f"book:{colour}",
        label=f"pair {k + 1}",
    )
left.set(xlabel="objective", ylabel="barrier half-way")
left.legend()
right.hist(
    rank_correlations(seed), bins=np.linspace(-1, 1, 21), color="book:grey"
)
right.axvline(0, color="book:black", linewidth=1)
right.set(xlabel="rank correlation of a pair", ylabel="pairs")
figures.show("fig_restarts", figure)

# %% [markdown]
# ```{glue:figure} fig_restarts
# :name: fig-restarts
# :alt: Left, dots of barrier against objective for the descents of four pairs, a cloud with little slope for each. Right, a histogram of the rank correlations of all pairs.
#
# Left: local optima of weight matching for four pairs of plain networks. Right: the rank correlation of objective and barrier for each pair (profile {glue:text}`profile`).
# ```
#
# The best of {glue:text}`restarts` descents has a higher objective than one descent for {glue:text}`higher` % of the pairs, and its mean barrier is {glue:text}`gained` times that of one descent.
#
# ## REPAIR
#
# Averaged units vary less over the data than the units of the ends: where two matched units are not perfectly correlated, the deviation of $(z_a + z_b)/2$ is below the mean of theirs, and the loss adds up from layer to layer. REPAIR gives every unit of the merged network the mean and the deviation
# that are half-way between those of its ends, $z' = s z + t$, by an affine map that its weights and bias, or the gain and the shift of its norm, absorb.
#
# A layer norm, $n_i = (z_i - \bar z)/\sqrt{v + \varepsilon}$ with mean $\bar z$ and variance $v$ over the $m$ units of one sample, seems to leave nothing to repair. What is true:
#
# ```{prf:proposition} What a layer norm repairs by itself
# :label: prop-norm-repairs
# Let $v > 0$ for almost all inputs. (i) For $\varepsilon = 0$, $z \to c z + d \mathbf 1$ with $c > 0$ does not change $n$, even if $c$ and $d$ depend on the input. (ii) For every network, the ends and the merged ones alike,
#
# $$
# \frac1m \sum_{i=1}^m \bigl( \operatorname{Var} n_i + (\mathbb E\, n_i)^2 \bigr) = \mathbb E\, \frac{v}{v + \varepsilon} \le 1, \qquad \text{with equality for } \varepsilon = 0,
# $$
#
# where $\operatorname{Var}$ and $\mathbb E$ are over the inputs.
# ```
#
# ```{prf:proof}
# (i) $c z_i + d - (c \bar z + d) = c (z_i - \bar z)$, and $v$ becomes $c^2 v$. (ii) For each input $\sum_i n_i^2 = m v / (v + \varepsilon)$. Take means over the inputs, and $\mathbb E\, n_i^2 = \operatorname{Var} n_i + (\mathbb E\, n_i)^2$.
# ```
#
# So a collapse by a common factor is undone at once, and the second moments of the units cannot all collapse. But the norm standardises each input over the units, REPAIR each unit over the inputs. The *variances* may still change, if the squared means make up for it: what all inputs have in common survives the
# average, what tells them apart may not. REPAIR acts after the norm, on each unit by itself, and (i) does not undo that. How much is left for it to do has to be measured.


# %%
def moments(stack, layer):
    """Var n_i and (E n_i)² of a layer's normalised units, (P, m) each."""
    gain, shift = (stack.params[key] for key in (layer.scale, layer.shift))
    bare = {layer.scale: torch.ones_like(gain), layer.shift: 0 * shift}
    mean, deviation = layer_statistics(stack.model, stack.params | bare, layer, x)
    return deviation**2, mean**2


of = pairs_of("layer norm", seed)
a = of.a
b = of.b.permuted(found["layer norm"]["weights"].permutations)
half = {key: (value + b.params[key]) / 2 for key, value in a.params.items()}
normed = {
    (where, layer.name): moments(stack, layer)
    for where, stack in (("a", a), ("b", b), ("half", Stack(a.model, half)))
    for layer in affine_layers(a.model)
}
off = [
    ((variance + squares).mean(dim=1) - 1).abs().max().item()
    for variance, squares in normed.values()
]


def repaired(of):
    """Mean barrier with REPAIR over that without, after weight matching."""
    m = of["weights"]
    return ratio_of_means(m.repaired_barrier, m.barrier, paired=True)


repaired_plain, plain_again = twice("plain", repaired)
repaired_norm, norm_again = twice("layer norm", repaired)

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check X3.norm_moments, X3.repair_plain and X3.repair_norm"}
alone = [(v.mean(dim=1) - 1).abs().max().item() for v, _ in normed.values()]
claims.check("X3.norm_moments", off, rival=max(alone))

claims.check(
    "X3.repair_plain",
    repaired_plain[0],
    stderr=repaired_plain[1],
    n=enough,
    again=plain_again,
)
claims.check(
    "X3.repair_norm",
    repaired_norm[0],
    stderr=repaired_norm[1],
    n=enough,
    again=norm_again,
)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot what REPAIR corrects"}
figure, (left, right) = figures.panels(2)
typical = {}  # median deviation relative to the ends, mean over layers
for kind, colour in zip(
    KINDS, ("blue", "orange", "green", "purple"), strict=True
):
    of = pairs_of(kind, seed)
    done = repair(of.a, of.b.permuted(of["weights"].permutations), x)
    middle = [one.nanmedian().item() for one in done.ratios.values()]
    typical[kind] = f"{np.mean(middle):.2f}"
    left.plot(
        range(1, 4), middle, "o-", color=f"book:{colour}", label=label(kind)
    )
left.axhline(1, color="book:grey", linewidth=1)
left.set(
    xlabel="hidden layer",
    xticks=range(1, 4),
    ylabel="deviation half-way / that of the ends",
)
left.legend()
for where, colour, words in (
    ("a", "blue", "ends"),
    ("half", "red", "half-way"),
):
    parts = [
        value.mean().item()
        for (place, _), (value, _) in normed.items()
        if place == where
    ]
    right.plot(range(1, 4), parts, "o-", color=f"book:{colour}", label=words)
right.set(
    xlabel="hidden layer",
    xticks=range(1, 4),
    ylabel="mean variance of normalised units",
    ylim=(0, 1),
)
right.legend()
figures.show("fig_repair", figure)

# %% [markdown]
# ```{glue:figure} fig_repair
# :name: fig-repair
# :alt: Left, median ratio of a unit's deviation half-way to that of its ends for three hidden layers and four kinds of networks, below one. Right, mean variance of the normalised units of networks with layer norm, for the ends and half-way; the rest to one is the squared mean.
#
# After weight matching. Left: the deviation of a unit over the inputs before REPAIR sets it, with the earlier layers set already, relative to the mean of its ends; median over units and pairs. Right: networks with layer norm, the mean of $\operatorname{Var} n_i$ over units and pairs; by (ii) what is missing to 1 is the mean of $(\mathbb E\, n_i)^2$ (profile {glue:text}`profile`).
# ```
#
# A typical unit's deviation half-way is {glue:text}`typical_plain` times what it should be in plain networks and {glue:text}`typical_norm` times with layer norms: what the norm cannot undo is left for single units and for their means. After weight matching REPAIR multiplies the mean barrier by
# {glue:text}`repair_plain` for plain networks and by {glue:text}`repair_norm` with layer norm.
#
# ## What the sign does
#
# Bürgin et al. define activation matching by the largest sum of correlations (section 6), and their script for the objectives of Fig. 3 computes that. The script for the lines of aligned networks in the [code that they have published](https://github.com/vuenc/neuron-identifiability)
# (`measure_lmc_unaligned_aligned.py`, commit c92eb82) calls another mode, which *maximises* $\sum_i (1 - \lvert \rho_{i p(i)} \rvert)$: as a cost to be minimised this would match by $\lvert \rho \rvert$, maximised it matches units that have as little as possible to do with each other. Whether Fig. 4 (c) was
# made by this version we do not know, and its low aligned barriers speak against it. In the table above the two are "activations" and "activations, as published". The second is no alignment:

# %%
published = "activations, as published"
backwards, backwards_again = twice("plain", ratio(published, "random"))
spoilt, spoilt_again = twice("σ_F = 1", ratio(published, "identity"))

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check X3.published_sign and X3.published_fixed"}
claims.check(
    "X3.published_sign",
    backwards[0],
    stderr=backwards[1],
    n=enough,
    again=backwards_again,
)
claims.check(
    "X3.published_fixed",
    spoilt[0],
    stderr=spoilt[1],
    n=enough,
    again=spoilt_again,
)

# %% [markdown]
# Its mean barrier is {glue:text}`backwards` times that of random orders for plain networks, and {glue:text}`spoilt` times that of the networks as they are for $\sigma_{\mathbf F} = 1$. Who uses the script should replace the mode by `PearsonCorrelationWithZeroForConstant`, which stands beside it in a comment.
#
# ## Fixed weights
#
# Fixed weights of $\sigma_{\mathbf F} = 1$ are to give every unit its place, so that nothing is left for a matcher to do; those of $\sigma_{\mathbf F} = 0$ are not (Bürgin et al., section 6). The best of seven matchers is at least as good as the identity by mere luck. So it is chosen on one half of the pairs and measured on the other:


# %%
def best_gain(of):
    """What the best matcher gains over the identity, in percentage points."""
    gain = cross_fitted_gain({name: of[name].drop for name in matchers})  # (P,)
    mean, error = mean_and_error([gain])
    return float(mean[0]), max(float(error[0]), 0.01)  # less does not matter


gain, gain_again = twice("σ_F = 1", best_gain)
sparse, sparse_again = twice("σ_F = 0", ratio("activations", "identity"))
print(f"gain at σ_F = 1: {gain[0]:.2f} points")

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check X3.fixed_weights and X3.zero_weights"}
claims.check(
    "X3.fixed_weights", gain[0], stderr=gain[1], n=enough, again=gain_again
)
claims.check(
    "X3.zero_weights", sparse[0], stderr=sparse[1], n=enough, again=sparse_again
)

# %% [markdown]
# ## A planted permutation
#
# The easiest test of a matcher: $b$ is $a$ with its units in another order, and the matcher shall find it. Weight matching may fail, for its descent may stop early. Sinkhorn re-basin replaces $P_l$ by a doubly stochastic matrix, and takes a step on the loss at $(a + \pi b)/2$. At the planted permutations this is the loss of $a$ itself; but a soft
# $\pi b$ is no network of $b$'s function, and may have less. With the place on the line drawn at random in each step (*random*) $\pi b$ itself has to be good, too; *distance* takes $\lVert a - \pi b \rVert^2$, without images. Each gets {glue:text}`longer` steps. A loss does not see units that hardly matter, so that
# the order may be wrong where the loss half-way is nearly right; the excess is printed beside. Below 0 it says that another order than the planted one has less.

# %%
a = pairs_of("plain", seed).a
symmetry, loss = a.model.symmetry(), data_loss(a.model, x, y)
planted = torch_generator(seed, "planted permutations")
b = a.permuted(random_permutations(symmetry, pairs, planted))
both = a.params, b.params, symmetry
longer = {"steps": 3 * steps, "seed": seed}
answers = {"weights": weight_matching(*both, seed=seed)} | {
    cost: sinkhorn_rebasin(*both, loss, cost=cost, **longer)
    for cost in ("midpoint", "random", "distance")
}


def recovered(answer):
    """Networks (P,) that are a again, in every number."""
    moved = b.permuted(answer.permutations).params
    same = [(moved[k] == a.params[k]).flatten(1).all(1) for k in moved]
    return torch.stack(same).all(dim=0)


hits = {key: int(recovered(answer).sum()) for key, answer in answers.items()}
for key, answer in answers.items():
    merged = interpolate(a.params, b.permuted(answer.permutations).params)
    excess = (loss(merged) - loss(a.params)).mean()  # 0 if found
    print(f"{key:<9} found {hits[key]} of {pairs}, excess loss {excess:.4f}")

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check X3.planted_weights and X3.planted_sinkhorn"}
value, *interval = share(hits["weights"], pairs)
claims.check("X3.planted_weights", value, interval=tuple(interval), n=enough)
value, *interval = share(hits["midpoint"], pairs)
claims.check("X3.planted_sinkhorn", value, interval=tuple(interval), n=enough)


# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
def times(ratio):
    """A ratio and its standard error as text."""
    return f"{ratio[0]:.2f} ± {ratio[1]:.2f}"


figures.numbers(
    profile=profile,
    told=told,
    students=students,
    rows=rows,
    longer=3 * steps,
    small=matched_pairs.SMALL,
    all_small=len(all_permutations(matched_pairs.SMALL)) ** 2,
    small_pairs=small_pairs,
    width=width,
    epochs=epochs,
    images=training(seed)[0].data.size,
    pairs=pairs,
    matched=len(y),
    unseen=len(test.y),
    restarts=restarts,
    higher=f"{100 * raised[0]:.0f}",
    gained=times(gained),
    searched=times(searched),
    alike=times(alike),
    repair_plain=times(repaired_plain),
    repair_norm=times(repaired_norm),
    typical_plain=typical["plain"],
    typical_norm=typical["layer norm"],
    backwards=times(backwards),
    spoilt=times(spoilt),
    gain=times(gain),
    sparse=times(sparse),
    ranks=times(ranks),
    exact_first=f"{100 * optimal[0]:.0f}",
    optimum=times(over(known, "weights", BEST)),
    blind=times(over(known, "activations", "weights")),
)

# %% [markdown]
# ## What we found
#
# - Where everything is known, in two layers, the exact optimum of weight matching has {glue:text}`optimum` times the barrier of the best order. Matching by correlation does not see how large a neuron is; its barrier is {glue:text}`blind` times that of weight matching. With two hidden layers of five neurons the exact optimum
#   of weight matching is the best order for the loss in {glue:text}`exact_first` % of the pairs only.
# - A higher objective says little about the barrier of a single order: the rank correlation over local optima is {glue:text}`ranks`. The best of {glue:text}`restarts` descents leaves {glue:text}`gained` times the mean barrier of one descent.
# - Straight-through matching, which looks at the loss, leaves {glue:text}`searched` times the barrier of weight matching on images that it has not seen (plain networks). With layer norms matching by correlation leaves {glue:text}`alike` times that of weight matching, and costs one pass.
# - A layer norm makes the units' second moments right by itself, on average, but not their variances. REPAIR leaves {glue:text}`repair_plain` of the barrier without norms, {glue:text}`repair_norm` with them.
# - With fixed weights of $\sigma_{\mathbf F} = 1$ the best matcher gains {glue:text}`gain` points of accuracy, at $\sigma_{\mathbf F} = 0$ matching by correlation leaves {glue:text}`sparse` of the barrier.
#
# Numbers with ± are standard errors over pairs. What this page cannot decide: whether the order of the matchers is the same for residual networks, for convolutions, and for networks trained to the end; the networks of the profile {glue:text}`profile` are those described above, in *The pairs*. Those of the profile `paper` have 512 units and all of
# MNIST; `make runs PROFILE=paper LIST=1` says what it costs to train them.
#
# ```{admonition} Try it
# :class: tip
# Wider networks:
#
#     make chapter NAME=matchers ARGS="-p width 256 -p pairs 16 -p epochs 20"
# ```

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Versions and time"}
print(chapter.end())
