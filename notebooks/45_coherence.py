# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Averaging fails when many neurons see the whole task
#
# *If each neuron sees only some inputs, the same in both networks, when can the two be averaged?*
#
# When few neurons see the whole task. Halfway the loss rises by **[[I13.lmc_copy:±]]** of the target's mean square if 3 of 128 do, by **[[I13.lmc_copy + I13.rise_copy:±]]** if 83 do. Idle neurons cause it: without those that never fire **[[100 * I13.unused:±]] %** is left, without those active on at most 1 % of inputs **[[100 * I13.zeroed:±]] %**.
#
# :::{glue:figure} fig_answer
# :alt: Rise of the loss halfway, from 0 to 0.25, against the number of neurons of 128 that see both numbers. Recorded dots: as trained [[I13.lmc_copy:.3f]] at 3 neurons and [[I13.lmc_copy + I13.rise_copy:.2f]] at 83; with the neurons that never fire set to zero [[100 * I13.unused:.0f]] % of that at 83. Faint lines of this run rise between them.
#
# Rise of the loss halfway (the barrier). Each of two numbers is copied to one input (coherence 1) up to ten (coherence 1/10). Green: neurons that never fire are removed. Dots with 99.9 % bars: recorded, as is the share; faint: this run, few masks.
# :::
#
# **How sure.** Recorded: [[n(I13.lmc_copy)]] masks at one copy, [[n(I13.rise_copy)]] at ten (random frame: [[n(I13.rise_frame)]]), [[n(I13.unused)]] in controls. LMC: linear mode connectivity.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "LMC for high coherence" (Q4) | [true](#I13.lmc_copy) | barrier [[I13.lmc_copy:±]] at one copy |
# | "high midpoint barrier for low coherence" (Q4) | [true](#I13.rise_copy) | [[I13.rise_copy:±]] more at ten copies |
# | "the same trend for a variant" (Q4) | [true](#I13.rise_frame) | [[I13.rise_frame:±]] more at ten pairs |
# | Few copies make "certain directions … more expensive" (Q4) | [true: through the masks](#I13.mediated) | at one copy, with masks that let through as much as at ten: [[100 * I13.mediated:±]] % of row 2's rise |
# | High coherence may "enable effective symmetry breaking" (Q4) | [true of averages, in narrow layers](#I13.width) | barrier at one copy: [[I13.width:±]] higher with 1536 neurons than with 128 |
# | Cause: neurons idle in one run, in use in the other (ours) | [true](#I13.switch) | [[100 * I13.switch:.1f]] % of what the averaged output lacks |
#
# **Open.** Nothing.
#
# **For the authors.** No result to change. Print in Q4 that a number is copied as $a/\sqrt t$ (as in eq. 276), and that rotated pairs are drawn at random (as in eq. 277); $t$ counts copies.

# %% Parameters tags=["parameters"]
outer: int = 5  # masks a point in the paper's experiment
pairs: int = 10  # pairs of students for each of these masks
controls: int = 12  # masks a point in the controls, two pairs each
widest: int = 1536  # neurons of the widest students at coherence 1
seed: int = 7001  # seed of every random number
precision: str = (
    "float32"  # of the training; float64 where rounding must not show
)
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Integer

chapter.begin(
    globals(),
    outer=Integer(2, 1000),
    pairs=Integer(1, 1000),
    controls=Integer(2, 1000),
    widest=Integer(1536, 8192),
    precision=Choice(("float32", "float64")),
)

import math
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import torch
from scipy.stats import binom

from lmc_helpers import claims, figures
from lmc_helpers._chapters.coherence import (
    ENDS_AND_MIDDLE,
    F5,
    TRAINING,
    Point,
    Students,
    align_in_classes,
    are_on,
    bernoulli_masks,
    copies_seen,
    data_sets,
    exact_copy,
    line_losses,
    mask_probability,
    masks_with_counts,
    mean_cost,
    measure_points,
    middle_lacks,
    random_frame,
    rank_law,
    ranks,
    raw_weights,
    relative_anisotropy,
    same_counts,
    sample_frame,
    shares_on,
    student_seeds,
    switch_off,
    target,
    train_students,
    two_state_barrier,
    unequal_copy,
)
from lmc_helpers.barrier import barrier_kinds
from lmc_helpers.error_bars import jackknife, over_clusters
from lmc_helpers.identifiability import leverages

# %% [markdown]
# :::{need}
# You need: [](41_realization_cost.ipynb) for $S_i$, the {term}`realization cost` and the {term}`coherence`. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $a$, $b$ | the two numbers that the task depends on ({term}`latents <latent>`), standard normal; $s = a + b$ |
# | $k$, $\nu = 1/k$ | copies of each latent among the 20 inputs; the coherence |
# | $U_k$ | the $20 \times 2$ matrix that makes the inputs $x = U_k (a, b)^\top$ |
# | $D$, $p$ | the {term}`mask`, 0 or 1; the probability that it lets an input through, 0.15 |
# | $v = 1 - (1 - p)^k$ | probability that a neuron sees a given latent |
# | $W$, $c_i$ | weights; bias of neuron $i$ |
# | $n_a$, $n_b$ | copies of $a$ and of $b$ that a neuron's mask lets through |
# | $N$, $\pi$, $-\beta$ | neurons that see both latents; share of them in use; preactivation of one that is off |
#
# ## With one copy few neurons see both numbers
#
# Two numbers $a$ and $b$ are copied to $k$ of 20 inputs each, and a neuron's mask lets through each input with probability 0.15. With one copy (coherence 1) hardly any neuron sees both numbers; with ten (coherence 1/10) most do.

# %% Plot the idea
sketch, frames = figures.panels(2, height=3.4)
shown = bernoulli_masks(1, 16, 20, 0.15, seed)[0]  # of 16 neurons
for frame, copies in zip(frames, (1, 10), strict=True):
    basis = exact_copy(copies, 20)
    holds = (basis != 0).double()  # which latent an input holds, (20, 2)
    sees = ((shown[:, :, None] * holds).sum(dim=1) > 0).all(dim=1)
    for latent, colour in ((0, "book:blue"), (1, "book:orange")):
        for through, style in ((1, {"alpha": 1}), (0, {"alpha": 0.15})):
            cells_at = ((shown == through) & (holds[:, latent] > 0)).nonzero().T
            rows_at, places_at = cells_at.tolist()
            frame.scatter(
                places_at, rows_at, 30, colour, marker="s", linewidth=0, **style
            )
    here = sees.nonzero().flatten().tolist()
    frame.plot([21] * len(here), here, "k*", markersize=8)
    frame.set(xlabel="input", ylabel="neuron", xticks=[0, 9, 19], yticks=[])
    frame.set(xlim=(-1, 22), ylim=(15.7, -0.7), title=f"{copies} of 10 copies")
    frame.grid(False)
figures.show("fig_masks", sketch)

# %% [markdown]
# :::{glue:figure} fig_masks
# :alt: Two grids of 16 neurons by 20 inputs. With one copy only two columns are coloured, and few of their squares are dark. With ten copies all columns are coloured, blue and orange, and most rows hold a dark square of either colour and a star.
#
# Sixteen neurons and their inputs: blue squares hold $a$, orange ones $b$; dark ones pass the neuron's mask. Stars: neurons that see both numbers.
# :::
#
# Of 128 neurons $128\, v^2$ see both on average, {glue:text}`m * rank_law(1, p0, "exact-copy")[2]:.1f` with one copy and {glue:text}`m * rank_law(10, p0, "exact-copy")[2]:.1f` with ten ({prf:ref}`prop-visibility`). No other neuron can compute the target, $\operatorname{ReLU}(a + b)$ with mean square 1, on its own.
#
# ## The paper's figure reproduces
#
# Bürgin, Herbst, Lin & Jegelka {cite:p}`buergin2026` (I, Fig. 6 and App. F.5) train students
#
# $$
# f(x) = \sum_{i \le 128} \operatorname{ReLU}\bigl((D \odot W)_i\, x + c_i\bigr)
# $$
#
# on 1024 examples of the target for 100 epochs and average pairs of them that share a mask. *Exact copy* (I, (276)) puts $a/\sqrt k$ and $b/\sqrt k$ on $k$ inputs each; *random frame* (I, (277)) puts a rotation of $(a, b)/\sqrt k$, by random angles, on $k$ random pairs of inputs. Both have coherence $1/k$.
#
# The *midpoint barrier* is the test loss halfway between two students less that of the worse one, as in the [published code](https://github.com/vuenc/neuron-identifiability); against the mean of the two, as a maximum along the line or on the training examples it looks the same. One pair at $k = 10$, written out:

# %% The two families of embeddings
m, d, p0 = 128, 20, 0.15
KS = list(range(1, 11))
frame = sample_frame(seed, d)
EMBEDDINGS = {
    "exact copy": [exact_copy(k, d) for k in KS],  # I, (276)
    "random frame": [random_frame(k, frame) for k in KS],  # I, (277)
}
gaps = []
for embeddings in EMBEDDINGS.values():
    for k, U in zip(KS, embeddings, strict=True):  # U (d, 2)
        torch.testing.assert_close(U.T @ U, torch.eye(2).double())  # = I
        nu = leverages(U).max().item()  # max of (UUᵀ)_ℓℓ = ‖u_ℓ‖², I, (11)
        gaps.append(abs(k * nu - 1))

# %% Masks, examples and seeds of the experiment
masks = bernoulli_masks(outer, m, d, p0, seed)  # (outer, m, d)
dtype = getattr(torch, precision)
seen, unseen = data_sets(outer, seed)  # (outer, 1024, 2), (outer, 2048, 2)
seeds = student_seeds(outer, pairs, seed)[0][:2]

# %%
U, D = exact_copy(10, d), masks[0]  # (d, 2), (m, d)
students = train_students(U[None], D[None], seen[0], [seeds], F5, dtype)
W, b = students.W[0], students.b[0]  # two students: (2, m, d), biases (2, m)
z = unseen[0]  # test latents
x, y = z @ U.T, target(z)  # inputs (n, d), targets ReLU(a + b) (n,)


def loss(W: torch.Tensor, b: torch.Tensor) -> float:
    f = torch.relu(x @ (D * W).T + b).sum(dim=-1)  # (n,)
    return (f - y).square().mean().item()


ends = [loss(W[0], b[0]), loss(W[1], b[1])]
middle = loss(W.mean(dim=0), b.mean(dim=0))
print(f"midpoint barrier {middle - max(ends):.3f}")

# %% Run the whole experiment
LAMBDAS = [1 - i / 20 for i in range(21)]  # λ = 1 is the first student
measure = partial(measure_points, dtype=dtype)

JUDGED = (1, 2, 5, 10)  # k of exact copies that claims compare
few_pairs = max(1, pairs // 5)  # elsewhere


def points_at(ks, family: str, number: int) -> dict[int, Point]:
    cells = [(EMBEDDINGS[family][k - 1], masks) for k in ks]
    return dict(zip(ks, measure(cells, number, seed, LAMBDAS), strict=True))


others = [k for k in KS if k not in JUDGED]
found = points_at(JUDGED, "exact copy", pairs)
found |= points_at(others, "exact copy", few_pairs)
copy = [found[k] for k in KS]
rotated = list(points_at(KS, "random frame", few_pairs).values())
(undecayed,) = measure(
    [(exact_copy(10, d), masks)],
    few_pairs,
    seed,
    recipe=replace(F5, decay="weights"),
)


def midpoint_barrier(point: Point, data: str = "test") -> np.ndarray:
    """L at the middle less the larger one of the ends, (masks, pairs)."""
    losses = getattr(
        point, data
    )  # (masks, pairs, places), λ = 1 first, λ = 0 last
    middle = losses[..., losses.shape[-1] // 2]
    return (middle - losses[..., [0, -1]].amax(dim=-1)).numpy()


# %% Plot Fig. 6 and the loss along the line
def clustered(points: list[Point]) -> np.ndarray:
    """Mean midpoint barriers and their errors, (2, points)."""
    return np.transpose([over_clusters(midpoint_barrier(p)) for p in points])


figure, (left, right) = figures.panels(2)
for points, name, colour, shift in (
    (copy, "exact copy", "book:blue", -0.06),
    (rotated, "random frame", "book:orange", 0.06),
):
    x, (mean, error) = np.array(KS) + shift, clustered(points)
    spread = np.array([midpoint_barrier(p).std(ddof=1) for p in points])
    style = dict(color=colour, linewidth=0, alpha=0.15)
    left.fill_between(x, mean - spread, mean + spread, **style)
    style = dict(color=colour, fmt="o-", linewidth=1.2)
    figures.band(left, x, mean, error, label=name, **style)
left.set(xlabel=r"copies $k = 1/\nu$", ylabel="midpoint barrier", xticks=KS)
left.legend(loc="upper left")
left.set_ylim(bottom=0)
for k, colour in ((1, "sky"), (2, "green"), (4, "purple"), (10, "red")):
    losses = copy[k - 1].test.mean(dim=(0, 1))
    label = rf"$\nu = 1/{k}$" if k > 1 else r"$\nu = 1$"
    right.plot(LAMBDAS, losses, color=f"book:{colour}", label=label)
right.set(xlabel=r"place $\lambda$ on the line", ylabel="test loss")
right.legend(loc="upper right")
right.set_ylim(bottom=0)
figures.show("fig_coherence", figure)

# %% [markdown]
# :::{glue:figure} fig_coherence
# :alt: First panel, midpoint barrier against the number of copies from 1 to 10 for exact copies and random frames. Both curves start near zero at one copy and rise; the random frame rises earlier and bends. Second panel, test loss along the line for four coherences, flat at coherence 1 and an arch that is higher the lower the coherence.
#
# I, Fig. 6 from {glue:text}`trainings` trainings. First: mean midpoint barrier; bands ± one standard deviation over pairs, as in the paper, bars 99.9 % intervals from the means of {glue:text}`outer` masks. Second: mean test loss along the line, exact copy (profile {glue:text}`profile`).
# :::
#
# At one copy students fit the target wherever some neuron of their mask can, with a mean loss of [[I13.fit:±]], so that this is connectivity between solutions.

# %% The barriers that claims compare
at = {k: midpoint_barrier(copy[k - 1]) for k in (1, 2, 5, 10)}  # (masks, pairs)
rise, late_rise = at[10] - at[1], at[10] - at[5]

many = bernoulli_masks(10 * controls, m, d, p0, seed + 3)
(sharpest,) = measure_points([(exact_copy(1, d), many)], 1, seed, dtype=dtype)
at_one = midpoint_barrier(sharpest)  # (10 controls, 1)
somebody = (ranks(exact_copy(1, d), many) == 2).any(dim=1)  # in these masks
fitted = sharpest.test[somebody][..., [0, -1]]

# %%
claims.check("I13.lmc_copy", *over_clusters(at_one), n=len(many))
claims.check("I13.rise_copy", *over_clusters(rise), n=outer)

# %% A new random frame for each mask
frames = [sample_frame((seed + 1 + g) % 2**32, d) for g in range(controls)]
D = bernoulli_masks(controls, m, d, p0, seed + 1)
high, low = (
    midpoint_barrier(point)
    for point in measure(
        [(torch.stack([random_frame(k, f) for f in frames]), D) for k in (1, 10)],
        2,
        seed,
    )
)

# %%
claims.check("I13.rise_frame", *over_clusters(low - high), n=controls)

# %% [markdown]
# ## What counts is how many neurons see both
#
# At a fixed $p$ the number of copies sets both the coherence and the probability $v$ that a neuron sees a latent. If $p$ is set to $1 - (1 - v)^{1/k}$, a latent is seen equally often at every coherence, and the two can be moved apart: three coherences, and the three values of $v$ of the paper's experiment at $k = 1$, 4 and 10.

# %% Train at fixed probabilities of seeing a latent
GRID = (1, 4, 10)
LEVELS = [1 - (1 - p0) ** j for j in GRID]


def grid(places: list[tuple[int, float]], seed: int) -> dict:
    """Exact copies of coherence 1/k, each latent seen with probability v."""
    cells = []
    for k, v in places:
        p = mask_probability(k, v)  # 1 − (1 − v)^(1/k)
        masks = bernoulli_masks(controls, m, d, p, seed + 2)
        cells.append((exact_copy(k, d), masks))
    return dict(zip(places, measure(cells, 2, seed), strict=True))


points = grid([(k, v) for v in LEVELS for k in GRID], seed)

# %% Shares of the rise
SEEN, RARE = LEVELS[-1], LEVELS[0]


def share(changed: tuple[int, float], points: dict) -> tuple[float, float]:
    """Rise from (1, RARE) to one corner, relative to the rise to (10, SEEN)."""
    corners = [changed, (10, SEEN), (1, RARE)]
    return jackknife(
        lambda corner, end, start: (corner - start) / (end - start),
        *(midpoint_barrier(points[place]) for place in corners),
    )


by_coherence = share((10, RARE), points)  # k changes, v does not
by_visibility = share((1, SEEN), points)  # v changes, k does not

# %%
claims.check("I13.mediated", *by_visibility, n=controls)

# %% Plot the barrier with one of the two held fixed
figure, (left, right) = figures.panels(2)
looks = ("sky", "top"), ("green", "bottom"), ("red", "bottom")
for v, (colour, side) in zip(LEVELS, looks, strict=True):
    style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2)
    at_v = clustered([points[k, v] for k in GRID])
    figures.band(left, GRID, *at_v, **style)
    label = dict(color=f"book:{colour}", va=side)
    left.text(10.3, at_v[0][-1], f"$v = {v:.2f}$", **label)
style = dict(color="book:black", linestyle="--")
left.plot(KS, clustered(copy)[0], **style)
left.text(1.1, 0.155, "the paper's, $p = 0.15$", color="book:black")
left.set(xlabel=r"copies $k = 1/\nu$", ylabel="midpoint barrier", xticks=KS)
left.set(xlim=(0.5, 12.7))
left.set_ylim(bottom=-0.03)
at_k = {k: [points[k, v] for v in LEVELS] for k in GRID}
for some, name, colour, mark in (
    (copy, "exact copy", "blue", "o"),
    (rotated, "random frame", "orange", "s"),
    (at_k[1], r"control, $\nu = 1$", "red", "^"),
    (at_k[4], r"control, $\nu = 1/4$", "green", "v"),
    (at_k[10], r"control, $\nu = 1/10$", "purple", "D"),
):
    style = dict(color=f"book:{colour}", fmt=mark, markersize=5)
    seen = [point.both for point in some]
    figures.band(right, seen, *clustered(some), label=name, **style)
right.set(xlabel="neurons that see both latents (rank 2)")
right.set(ylabel="midpoint barrier")
right.set_ylim(top=1.5 * right.get_ylim()[1])
right.legend(loc="upper left", ncols=2)
figures.show("fig_controls", figure)

# %% [markdown]
# :::{glue:figure} fig_controls
# :alt: First panel, midpoint barrier against the number of copies for three fixed probabilities of seeing a latent. The three curves are nearly flat and far apart, while the dashed curve at fixed p crosses from the lowest to the highest. Second panel, midpoint barrier against the number of neurons that see both latents: exact copies, random frames and all controls fall on one rising curve.
#
# First: coherence varied at a fixed probability $v$ that a neuron sees a latent (lines), and the paper's experiment, where both vary (dashed). Second: all points against the mean number of neurons that see both latents. Bars: 99.9 % intervals (profile {glue:text}`profile`).
# :::
#
# Of the paper's rise [[100 * I13.direct:±]] % remains if only the coherence falls and $v$ stays; [[100 * I13.mediated:±]] % appears if $v$ rises at coherence 1. So the coherence acts through what masks let neurons see. This is the effect that the paper describes, at its strongest: at coherence 1 reading out $a + b$ is infinitely expensive for nearly all neurons.
#
# The coherence alone does not decide. With the masks of ten copies and one copy enlarged to $\nu = 0.9$, the same neurons see both latents as at $\nu = 1/10$, and [[100 * I13.unequal:±]] % of the barrier is left (Evidence, *The same masks*). With the two masks of I, Example 4.3, too, the barrier is no lower where one direction is twenty times more expensive and the coherence is $400/401$, nearly 1, than where it is ½ (Evidence, *Two masks*).
#
# ## The barrier is made of neurons that only one network uses
#
# Why does it matter how many neurons can do the job? A neuron that sees both latents ends in one of two states: *on*, with weights along $(1, 1)$, or *off*, with small weights and a negative bias. Here is one that is on in one run and off in the other, and what becomes of it halfway.

# %% Plot a neuron that is on in one run only
figure, axis = figures.panels(height=2.6)
s_axis, off = np.linspace(-2, 3, 201), -0.8  # s = a + b; −β
between = np.maximum((s_axis + off) / 2, 0)
for height, colour, dash, place, label in (
    (
        np.maximum(s_axis, 0) / 2,
        "black",
        "--",
        (1.3, 0.85),
        "mean of the two outputs",
    ),
    (between, "red", "-", (3.1, 0.05), "output of the\nmean neuron"),
):
    axis.plot(s_axis, height, dash, color=f"book:{colour}")
    axis.text(*place, label, color=f"book:{colour}", ha="right")
lost_there = np.maximum(s_axis, 0) / 2
axis.fill_between(s_axis, between, lost_there, color="book:red", alpha=0.15)
axis.set(xlabel="$s = a + b$", ylabel="output")
figures.show("fig_one_only", figure)

# %% [markdown]
# :::{glue:figure} fig_one_only
# :alt: Output against s. The mean of the outputs of both neurons rises from s = 0 with slope one half; the output of the mean neuron rises only from s = 0.8, with the same slope, so that it lies below by 0.4 from there on.
#
# One run has the neuron at the preactivation $s$, the other at $-\beta = -0.8$ everywhere. Averaged, it gives $\mathrm{ReLU}\bigl(\frac{s - \beta}{2}\bigr)$, less than half of $\mathrm{ReLU}(s)$ by $\frac12 \min(s, \beta)$ where $s > 0$.
# :::
#
# :::{prf:proposition} What the middle lacks
# :label: prop-middle
# Let $h_i$ and $h_i'$ be the preactivations of neuron $i$ in two students at an input, $f_A = \sum_i \mathrm{ReLU}(h_i)$ and $f_B = \sum_i \mathrm{ReLU}(h_i')$.
#
# 1. The student in the middle is $f_{1/2} = \frac12 (f_A + f_B) - \sum_i g_i$ with $g_i = \frac12 \min(\lvert h_i \rvert, \lvert h_i' \rvert)$ if $h_i h_i' < 0$ and $g_i = 0$ otherwise. If both students equal the target, the midpoint barrier is $\mathbb E (\sum_i g_i)^2$.
# 2. A neuron that is not positive on any input may be replaced by 0 without changing its student. Then its $g_i$ is 0.
# 3. *Two states.* In each run let a share $\pi$ of $N$ neurons be on, with preactivation $s/(\pi N)$, and the others off, with $-\beta < 0$ at every input, and let a share $\pi$ of those that are on in one run be on in the other, as if each run chose on its own.
#    Then both students equal the target, and the barrier is $(1 - \pi)^2\, \mathbb E \min(s_+, \pi N \beta)^2$. At fixed $\pi < 1$ and $\beta$ it increases with $N$, from $\frac12 (1 - \pi)^2 (\pi N \beta)^2$ to leading order for small $\pi N \beta$, to $(1 - \pi)^2$.
# :::
#
# :::{prf:proof}
# (1) If $h$ and $h'$ have one sign, $\mathrm{ReLU}\bigl(\frac{h + h'}{2}\bigr) = \frac12 (\mathrm{ReLU}(h) + \mathrm{ReLU}(h'))$.
# If $h > 0 > h'$, it is $\frac12 \max(h - \lvert h' \rvert, 0) = \frac12 h - \frac12 \min(h, \lvert h' \rvert)$.
# (2) is clear.
# (3) $2 (1 - \pi) \pi N$ neurons are on in one run only, and $g_i = \frac12 \min\bigl(\frac{s_+}{\pi N}, \beta\bigr)$ at each, in sum
# $(1 - \pi) \min(s_+, \pi N \beta)$. As $s$ is normal with variance 2, $s > \pi N \beta$ has a probability that tends to $\frac12$ as $\pi N \beta \to 0$, and $\mathbb E\, s_+^2 = 1$.
# :::
#
# The terms $g_i$ have one sign, so nothing cancels. Where few neurons carry the target, each carries much, and averaging it with one that is off takes away at most $\beta/2$. Where many do, each carries little, and the bias of one that is off swallows all of the half that is left.
#
# The proposition names the cure: a neuron that never fires may be set to 0 without changing its student.

# %% Train the pairs of the controls
PAIRS = torch.tensor([[0, 1], [2, 3]])
U, masks = exact_copy(10, d), bernoulli_masks(controls, m, d, p0, seed + 2)
seen, unseen = data_sets(controls, seed)
seeds = student_seeds(controls, 2, seed)  # four students a mask


def run(U, D, start=None, seeds=seeds) -> Students:
    """Students of I, App. F.5 on each mask of D (G, m, d), from given starts."""
    U = U.expand(len(D), -1, -1)
    return train_students(U, D, seen, seeds, F5, dtype, start)


swept = {k: run(exact_copy(k, d), masks) for k in (1, 2, 4, 7, 10)}
own = swept[10]
on = are_on(own, unseen)  # positive on over a quarter of the examples


def barrier_of(students: Students) -> np.ndarray:
    """Midpoint barriers of the pairs (0, 1) and (2, 3), (masks, 2)."""
    losses = line_losses(students, PAIRS, unseen, ENDS_AND_MIDDLE)
    return (losses[..., 1] - losses[..., [0, 2]].amax(dim=-1)).numpy()


# %%
fires = shares_on(own, unseen)  # share of the test examples, (masks, 4, m)
bare = switch_off(own, fires > 0)  # the neurons that never fire at 0
as_trained, without = barrier_of(own).mean(), barrier_of(bare).mean()
print(f"barrier {as_trained:.3f}; never-firing neurons at 0: {without:.3f}")

# %% [markdown]
# What else decides? We give the second student of a pair the start or the order of examples of the first, match neurons within classes that nothing tells apart, and set neurons to 0:
#
# | Changed at ten copies | Barrier left |
# | --- | --- |
# | same order of the examples | {glue:text}`100 * left_over["one order"][0]:.0f` % (this run) |
# | same signs of the initial weights | [[100 * I13.signs:±]] % |
# | neurons matched within classes of equal $(n_a, n_b)$ | [[100 * I13.aligned:±]] % |
# | neurons that never fire at 0: no student changes | [[100 * I13.unused:±]] % |
# | same initial weights | [[100 * I13.start:±]] % |
# | neurons that fire on at most 1 % of the inputs at 0 | [[100 * I13.zeroed:±]] % |
#
# So the initial weights, mostly their signs, decide which neurons a run uses, and [[100 * I13.switch:.1f]] % of what the middle lacks sits at neurons that are on in one run only (on more than a quarter of the inputs). In the random frame the same cure works: {glue:text}`barrier_of(framed).mean():.3f` falls to {glue:text}`frame_zeroed` in this run.

# %% Change one thing at a time
first = [0, 0, 2, 2]  # the first student of each one's pair
start = torch.stack([raw_weights(group, m, d) for group in seeds])
orders = [[group[i] for i in first] for group in seeds]
STUDENTS = {
    "as trained": own,
    "one order": run(U, masks, start, orders),
    "same signs": run(U, masks, start.abs() * start[:, first].sign()),
    "one start": run(U, masks, start[:, first]),
    "matched": align_in_classes(own, copies_seen(U, masks)),
    "never on at 0": switch_off(own, shares_on(own, unseen) > 0),
    "hardly on at 0": switch_off(own, shares_on(own, unseen) > 0.01),
}
heights = {name: barrier_of(some) for name, some in STUDENTS.items()}

# %% What is left, and where it sits
lacks = middle_lacks(own, unseen)  # (masks, 2, m)
changed = on[:, 0::2] ^ on[:, 1::2]
value, error = jackknife(
    lambda part, whole: part / whole,
    (lacks * changed).sum(dim=-1).numpy(),
    lacks.sum(dim=-1).numpy(),
)
rival = changed.double().mean() / (ranks(U, masks) == 2).double().mean()
left_over = {
    name: jackknife(
        lambda some, whole: some / whole, heights[name], heights["as trained"]
    )
    for name in heights
}

# %%
claims.check("I13.switch", value, stderr=error, n=controls, rival=rival.item())
claims.check("I13.unused", *left_over["never on at 0"], n=controls)
claims.check("I13.zeroed", *left_over["hardly on at 0"], n=controls)

# %% What the first picture draws
sees = [m * rank_law(k, p0, "exact-copy")[2] for k in KS]  # neurons of 128
bare = {k: switch_off(s, shares_on(s, unseen) > 0) for k, s in swept.items()}
record = claims.recorded
one_copy, rise_10, never = (
    record(f"I13.{x}") for x in ("lmc_copy", "rise_copy", "unused")
)
top = {x: one_copy[x] + rise_10[x] for x in ("value", "low", "high")}

# %% Plot the answer
figure, axis = figures.panels(height=2.5)
faint = dict(linewidth=1, alpha=0.4)
axis.plot(sees, clustered(copy)[0], color="book:blue", **faint)
heights_bare = [barrier_of(s).mean() for s in bare.values()]
axis.plot([sees[k - 1] for k in bare], heights_bare, color="book:green", **faint)
for x, some, factor, colour in (
    (sees[0], one_copy, 1, "blue"),
    (sees[-1], top, 1, "blue"),
    (sees[-1], never, top["value"], "green"),
):
    ends = [
        [(some["value"] - some["low"]) * factor],
        [(some["high"] - some["value"]) * factor],
    ]
    style = dict(color=f"book:{colour}", fmt="o", markersize=7)
    axis.errorbar([x], [some["value"] * factor], yerr=ends, **style)
axis.text(sees[0] - 1, 0.045, f"{one_copy['value']:.4f}", color="book:blue")
axis.text(
    sees[-1] + 1.5,
    top["value"],
    f"{top['value']:.2f}",
    color="book:blue",
    va="center",
)
left = f"{100 * never['value']:.0f} % of it"
axis.text(
    sees[-1] + 1.5,
    never["value"] * top["value"],
    left,
    color="book:green",
    va="center",
)
style = dict(ha="right", va="center")
axis.text(81, top["value"], "as trained", color="book:blue", **style)
axis.text(81, 0.018, "never-firing at 0", color="book:green", **style)
axis.set(xlabel="neurons of 128 that see both numbers")
axis.set(ylabel="rise of the loss halfway", xlim=(0, 93), ylim=(0, 0.26))
figures.show("fig_answer", figure)

# %% [markdown]
# ## Many neurons are enough; interchangeable ones are not needed
#
# Does a neuron swap roles with an *exchangeable* partner, one of equal counts, or is it enough that a run picks some of many? At ten copies we prescribe the counts $(n_a, n_b)$: 9 or 81 neurons that see both latents, all with equal counts, in classes of nine, or each with counts of its own. And at coherence 1 and the paper's $p$ we widen the students.

# %% Prescribed counts, and wider students
counts = {  # (neurons, exchangeable partners of each): counts (n_a, n_b)
    (9, 0): list(product((2, 5, 8), repeat=2)),
    (9, 8): 9 * [(5, 5)],
    (81, 0): list(product(range(1, 10), repeat=2)),
    (81, 8): 9 * list(product((2, 5, 8), repeat=2)),
    (81, 80): 81 * [(5, 5)],
}
prescribed = {
    key: run(U, masks_with_counts(some, controls, 10, d, seed + 4))
    for key, some in counts.items()
}
designed = {key: barrier_of(some) for key, some in prescribed.items()}
WIDTHS = [m * j for j in (1, 4, 12, 28) if m * j <= widest]
wide = {
    w: measure(
        [(exact_copy(1, d), bernoulli_masks(controls, w, d, p0, seed + 5))],
        1,
        seed,
    )[0]
    for w in WIDTHS
}

# %%
value, error = over_clusters(designed[81, 8] - designed[9, 8])
claims.check("I13.number", value, stderr=error, n=controls)
value, error = jackknife(
    lambda none, some: none / some, designed[81, 0], designed[81, 8]
)
claims.check("I13.partners", value, stderr=error, n=controls)
value, error = over_clusters(
    midpoint_barrier(wide[12 * m]) - midpoint_barrier(wide[m])
)
claims.check("I13.width", value, stderr=error, n=controls)

# %% The middle as a function of a + b, and the two-state model
edges = np.linspace(-2.5, 3.5, 25)
bins = np.digitize(unseen.sum(dim=-1).numpy(), edges)  # (masks, n)
z3 = torch.cat([unseen, torch.ones(*unseen.shape[:2], 1)], dim=-1)
profiles, model, sees_both, lines = {}, {}, {}, {}
for k, some in swept.items():
    params = torch.cat([some.A, some.b[..., None]], dim=-1)  # (G, 4, m, 3)
    middles = params.unflatten(1, (2, 2)).mean(dim=2)  # (G, 2, m, 3)
    outputs = [
        (z @ pair.mT).relu().sum(dim=-1).mean(dim=0)
        for z, pair in zip(z3, middles, strict=True)
    ]
    outputs = torch.stack(outputs).numpy()  # (G, n)
    profiles[k] = [outputs[bins == j].mean() for j in range(1, len(edges))]
    both = (ranks(exact_copy(k, d), masks) == 2)[:, None].expand_as(some.b)
    used = are_on(some, unseen)
    if not (both & ~used).any():
        raise ValueError(
            f"controls = {controls}: at k = {k} no neuron that sees both "
            "latents is off; allowed: more masks, so that some is"
        )
    sees_both[k] = both.sum().item() / (4 * controls)
    state = used[both].double().mean().item(), -some.b[both & ~used].mean().item()
    model[k] = two_state_barrier(sees_both[k], *state)
    lines[k] = barrier_of(some), barrier_of(switch_off(some, used)), *state
figures.numbers(
    on_few=are_on(prescribed[9, 8], unseen).double().mean().item(),
    on_many=are_on(prescribed[81, 8], unseen).double().mean().item(),
)

# %% Barriers by the number of neurons that see both latents
at_width = {some.both: midpoint_barrier(some) for some in wide.values()}
fig_6, at_zero = ({sees_both[k]: lines[k][i] for k in lines} for i in (0, 1))
of_partners = {
    j: {n: height for (n, some), height in designed.items() if some == j}
    for j in (0, 8, 80)
}
series = [
    (fig_6, 0, "Fig. 6, exact copy", "blue", "o-"),
    (at_zero, 0, "the same, off at 0", "grey", "x-"),
    (at_width, 0, r"width, $\nu = 1$", "orange", "^-"),
    (of_partners[0], 4, "no partners", "green", "s"),
    (of_partners[8], 8, "8 partners", "purple", "D"),
    (of_partners[80], 12, "80 partners", "red", "v"),
]

# %% Plot barriers by the number of neurons
figure, axis = figures.panels(height=3.6)
for values, shift, label, colour, mark in series:
    if label == "the same, off at 0":
        continue  # in the table of the two-state model
    places = [n + (n == 81) * shift for n in values]  # set apart
    x = np.transpose([over_clusters(y) for y in values.values()])
    style = dict(color=f"book:{colour}", fmt=mark, linewidth=1.2, markersize=5)
    figures.band(axis, places, *x, label=label, **style)
style = dict(color="book:black", label="two states")
axis.plot(list(sees_both.values()), list(model.values()), ":", **style)
axis.set(xlabel="neurons that see both latents", ylabel="midpoint barrier")
axis.set_ylim(bottom=0)
figures.show("fig_number", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_number
# :alt: Midpoint barrier against the number of neurons that see both latents: the paper's points, wider students at coherence 1 and students with prescribed counts rise together, with partners or without. The dotted two-state model rises with them and lies above.
#
# Midpoint barrier against the number of neurons that see both latents (markers of prescribed counts are set apart at 81). Dotted: {prf:ref}`prop-middle` (3) with the measured $N$, $\pi$ and $\beta$, nothing fitted. Bars: 99.9 % intervals (profile {glue:text}`profile`).
# :::
#
# With 8 partners each, 81 neurons have a barrier that is higher by [[I13.number:±]] than that of 9; without any partner [[100 * I13.partners:±]] % of it is there. At coherence 1 a barrier of [[I13.width:±]] more appears when students have 1536 neurons instead of 128. So partners are not needed, and the number of neurons is enough: of few neurons a run uses nearly all (in this run a share of {glue:text}`on_few:.2f` of the 9), of many a smaller share ({glue:text}`on_many:.2f` of the 81), and each carries less against the bias of one that is off.
#
# ## What it means for merging networks
#
# A small barrier does not show that neurons have been identified. At coherence 1 a layer of this width has so few neurons that can serve the target that both runs use nearly all of them; the masks do not tell these few apart, and a wider layer with the same coherence is no longer linearly connected.
#
# What a permutation would mend may be mended without one. Here it pays to clear neurons that hardly ever fire before averaging; this was tried on one task with two latents.
#
# **Read on.** [](46_chord_deviation.ipynb): the deviation in the middle, with fixed weights. [](42_swap_cost.ipynb): Theorem 4.4 of the paper on coherence. [](54_swaps_on_images.ipynb): the coherence of images and hidden layers.

# %% [markdown]
# ## Evidence
#
# ### The experiment
#
# The latents $(a, b)$ are normal, the target's mean square is 1, and the inputs are $x = U_k (a, b)^\top \in \mathbb R^{20}$. Masks are Bernoulli(0.15), $W \sim \mathcal N(0, 0.05^2)$ and $c = 0$ at the start. Students minimise the mean squared error of 1024 examples in batches of 512 by AdamW with rate and decay $10^{-2}$, which here decays $W$ and $c$; the published code does not decay $c$ and draws a new frame with every mask. Each student shuffles its examples in every epoch with a seed of its own. As in the code, a mask has data of its own, the same at all coherences. A point has {glue:text}`outer` masks and {glue:text}`pairs` pairs of students a mask where claims compare it, exact copies with $k = 1$, 2, 5 and 10, and {glue:text}`few_pairs` elsewhere.
#
# I, App. F.5 leaves open what its *midpoint barrier* is. Here, unless said otherwise, it is
#
# $$
# L\bigl(\tfrac12 (\theta_A + \theta_B)\bigr) - \max\bigl(L(\theta_A), L(\theta_B)\bigr)
# $$
#
# with the loss $L$ on 2048 test examples. Pairs that share a mask are not independent, so claims are judged on the means of masks, with Student's quantile ({py:func}`~lmc_helpers.error_bars.over_clusters`). The seeds of students are the same at all points, so that differences between points are paired.
#
# :::{prf:proposition} Coherence of the embeddings
# :label: prop-embedding-coherence
# Both families satisfy $U_k^\top U_k = I$, and their coherence $\nu = \max_\ell (U_k U_k^\top)_{\ell\ell}$ is $1/k$.
# :::
#
# :::{prf:proof}
# $U_k^\top U_k = \sum_\ell u_\ell u_\ell^\top$ over the rows. A pair of coordinates contributes $R R^\top / k = I/k$ with an orthogonal $2 \times 2$ matrix $R$, the identity for exact copies, and there are $k$ pairs. The leverage
# $(U_k U_k^\top)_{\ell\ell} = \lVert u_\ell \rVert^2$ is $1/k$ on the $2k$ coordinates in use and 0 elsewhere.
# :::

# %%
claims.check("I13.nu", gaps)

# %% [markdown]
# The barriers by each definition:


# %% The barrier by other definitions
def loss_of_ends(point: Point) -> float:
    return point.test[..., [0, -1]].mean().item()


rows = []
for name, family in (("exact copy", copy), ("random frame", rotated)):
    for k, nu in ((1, "1"), (5, "1/5"), (10, "1/10")):
        point = family[k - 1]
        kinds = barrier_kinds(point.test.flip(-1), LAMBDAS[::-1])
        on_test = (midpoint_barrier(point), kinds["middle"], kinds["chord"])
        on_train = midpoint_barrier(point, "train")
        numbers = [f"{B.mean():.3f}" for B in (*on_test, on_train)]
        last = f"{loss_of_ends(point):.4f}"
        rows.append([rf"{name}, $\nu = {nu}$", *numbers, last])
figures.table(
    " | test, worse end | test, mean of ends | test, maximum above the chord | training, worse end | loss of the ends",
    rows,
)
figures.numbers(
    trainings=2 * sum(midpoint_barrier(p).size for p in (*copy, *rotated))
)

# %% [markdown]
# The barrier of exact copies at $\nu = 1/10$ has several values on these pages, by masks and seeds: of one pair, written out with the experiment; over {glue:text}`outer` masks in this table (recorded: [[I13.lmc_copy + I13.rise_copy:±]]); over {glue:text}`controls` other masks, two pairs each, {glue:text}`heights["as trained"].mean():.3f`, where one thing is changed at a time and where copies have unequal sizes.
# With undecayed $c$ the first number for exact copies at $\nu = 1/10$ is {glue:text}`midpoint_barrier(undecayed).mean():.3f`. At $\nu = 1$ few neurons see anything, training is cheap and masks differ much, so there we take {glue:text}`len(many)` masks, one pair each.
# With probability {glue:text}`(1 - p0**2) ** m:.3f` no neuron of a mask sees both latents; a student is then a sum $g(a) + h(b)$, which the target is not, so whether students fit is judged on the other masks.

# %%
claims.check("I13.goes_on", *over_clusters(late_rise), n=outer)
claims.check("I13.fit", *over_clusters(fitted), n=len(fitted))

# %% [markdown]
# The paper keeps its frame for all $k$; whether it also serves all masks is not said, and the published code draws one with every mask. The claims on the random frame take a new frame for each of {glue:text}`controls` masks, two pairs per mask.

# %%
value, error = jackknife(lambda high, low: high / low, high, low)
claims.check("I13.lmc_frame", value, stderr=error, n=controls)

# %% [markdown]
# In the random frame a neuron of rank 1 sees a mixture of the latents, which may lie near $a + b$, so that more neurons can serve the target than see both: over these frames the barrier of a mask at $\nu = 1$ is {glue:text}`high.mean():.3f` on average, between {glue:text}`high.mean(axis=1).min():.3f` and {glue:text}`high.mean(axis=1).max():.3f`.
#
# ### What a mask lets through

# %% Plot what a mask lets through, and the barrier
frames = torch.stack(EMBEDDINGS["exact copy"])  # (k, d, 2)
carried = frames.square().mT  # of a and of b, on each coordinate
first_mask = bernoulli_masks(outer, m, d, p0, seed)[0]  # (m, d)
through = (
    first_mask @ frames.square()
).numpy()  # (S_i)_aa and (S_i)_bb, (k, m, 2)
kinds = (through > 0).sum(axis=-1)  # how many latents each neuron sees, (k, m)
order = np.arange(m)
apart = np.stack([order * 0.618034 % 1, order * 0.754878 % 1], axis=1) - 0.5
dots = through + 0.045 * apart  # equal places set apart
barrier = np.array([midpoint_barrier(point).mean() for point in copy])
scene = figures.Moving(
    r"copies $1/\nu$",
    [str(k) for k in KS],
    [
        f"{(kind == 2).sum()} of {m} neurons see both, barrier {height:.3f}"
        for kind, height in zip(kinds, barrier, strict=True)
    ],
)
bars = scene.panel(title="embedding", xlabel="coordinate", ylabel="leverage")
bars.ylim, places = (0, 1.05), np.arange(1, d + 1)
for latent, colour, name in ((0, "blue", "$a$"), (1, "orange", "$b$")):
    bars.draw(places, carried[:, latent], "bars", colour, name, width=0.8)
cloud = scene.panel(title="neurons of one mask", equal=True)
cloud.xlabel, cloud.ylabel = "share of $a$ seen", "share of $b$ seen"
cloud.xlim = cloud.ylim = (-0.06, 1.06)
for kind, colour, name in (
    (0, "grey", "sees nothing"),
    (1, "sky", "sees one latent"),
    (2, "red", "sees both"),
):
    x, y = np.where((kinds == kind)[..., None], dots, np.nan).transpose(2, 0, 1)
    cloud.draw(x, y, "o", colour, name)
rising = scene.panel(title="midpoint barrier", xlabel=r"copies $1/\nu$")
rising.draw(KS, barrier, "o-", "black", width=1.2)
rising.draw(np.array(KS)[:, None], barrier[:, None], "o", "red")
scene.show("fig_through_masks")

# %% [markdown]
# Move the coherence $\nu$: with one copy of each latent nearly every neuron of the mask sees one latent or none; with more copies more neurons see both, and the barrier rises with their number.
#
# :::{glue:figure} fig_through_masks
# :alt: First panel, bars of the leverage of the twenty coordinates: one coordinate for each latent at coherence one, ten low ones at coherence one tenth. Second, the 128 neurons of a mask by how much of each latent they see: most in a corner or on the axes at first, then more and more inside. Third, the mean midpoint barrier rises with the number of copies.
#
# Exact copy. First: on which coordinates the embedding puts $a$ and $b$. Second: $(S_i)_{aa}$ and $(S_i)_{bb}$ of the neurons of the first mask, equal places set apart. Third: mean midpoint barrier of the experiment (profile {glue:text}`profile`).
# :::
#
# ### What neurons see
#
# I, App. F.5 says that the experiment isolates the dependence on the coherence, and so it does: $k$ is set, everything else is fixed. What a neuron sees follows from $k$.
#
# :::{prf:proposition} What neurons see
# :label: prop-visibility
# Let the mask be Bernoulli($p$) and $v = 1 - (1 - p)^k$.
#
# 1. *Exact copy.* $S_i = \operatorname{Diag}(n_a, n_b)/k$ with independent binomial counts. A neuron sees both latents with probability $v^2$, exactly one with $2v(1 - v)$, none with $(1 - v)^2$. Given that it sees both, the squared realization cost I, (10) of
#    the target's direction $(1, 1)$ has the mean $2k\, \mathbb E[n^{-1} \mid n \ge 1]$; otherwise the direction cannot be realised.
# 2. *Random frame.* For almost all angles the rank of $S_i$ is the number of seen coordinates or 2, whichever is less: 0 with probability $(1 - p)^{2k}$, 1 with $2kp(1 - p)^{2k - 1}$.
# 3. A neuron that sees nothing is 0 on all inputs, during and after training.
# 4. The relative variance of $(S_i)_{aa}$ in the exact-copy family is $(1 - p)/(pk)$. If $v$ is held fixed, it increases with $k$ from $(1 - v)/v$ to $1/\ln\frac{1}{1 - v}$ only.
# :::
#
# :::{prf:proof}
# (1) $S_i = \sum_\ell D_{i\ell} u_\ell u_\ell^\top$ with $u_\ell = e_a/\sqrt k$ or $e_b/\sqrt k$, and $(1, 1) S_i^{-1} (1, 1)^\top = k(n_a^{-1} + n_b^{-1})$. (2) Two rows are parallel for a null set of angles. (3) It starts with preactivation $c_i = 0$
# on every input. With $\operatorname{ReLU}'(0) = 0$, as in torch, all its gradients are 0, so that $c_i$ stays 0 and $W_i$ only decays. (4) The variance of $n_a/k$ is $p(1 - p)/k$, its mean $p$. With
# $1 - p = (1 - v)^\nu$ the quotient is $\nu/\bigl((1 - v)^{-\nu} - 1\bigr)$, which decreases in $\nu$ from $1/\ln\frac{1}{1 - v}$ to $(1 - v)/v$ at $\nu = 1$.
# :::
#
# Exact copies, by the formulas of the proposition and by counting in a hundred masks:

# %% Count what neurons see in a hundred masks
hundred = bernoulli_masks(100, m, d, p0, seed)
for k in (1, 4, 10):
    v = 1 - (1 - p0) ** k
    n = np.arange(1, k + 1)
    weight = binom.pmf(n, k, p0)  # of n copies seen
    cost = 2 * k * (weight / n).sum() / weight.sum()  # 2k E[1/n | n ≥ 1]

    DU = hundred[..., None] * exact_copy(k, d)  # (100, m, d, 2)
    S = DU.mT @ DU  # S_i = Uᵀ Diag(d_i)² U, I, (9); (100, m, 2, 2)
    rank = (torch.linalg.eigvalsh(S) > 1e-12).sum(dim=-1)  # (100, m)
    shares = [(rank == r).double().mean().item() for r in range(3)]
    costs = torch.linalg.inv(S[rank == 2]).sum(dim=(-2, -1))  # (1, 1) S⁻¹ (1, 1)ᵀ
    print(f"k = {k:2}: sees both {v * v:.3f}, {shares[2]:.3f};", end=" ")
    print(f"one {2 * v * (1 - v):.3f}, {shares[1]:.3f};", end=" ")
    print(f"squared cost {cost:.2f}, {costs.mean().item():.2f}")

# %% [markdown]
# From $\nu = 1$ to $\nu = 1/10$ the mean number of neurons that see both latents rises from {glue:text}`m * rank_law(1, p0, "exact-copy")[2]:.1f` to {glue:text}`m * rank_law(10, p0, "exact-copy")[2]:.1f` of 128 (random frame: to {glue:text}`m * rank_law(10, p0, "random-frame")[2]:.1f`). For those that can realise the target's direction, the mean squared cost *rises* as the coherence falls, from {glue:text}`cost_1:.1f` to {glue:text}`cost_10:.1f`.
#
# :::{prf:proposition} Copies train like one weight
# :label: prop-copies
# Exact copy. Let $A_i = \sum_\ell D_{i\ell} W_{i\ell} u_\ell$ be what neuron $i$ applies to $(a, b)$. Under AdamW with rate $\eta$ and decay $\kappa$
#
# $$
# \begin{aligned}
# A_{ia}(t + 1) = {} & (1 - \eta\kappa)\, A_{ia}(t) \\
# & - \eta\, \frac{n_a}{\sqrt k}\, r_t
# \end{aligned}
# $$
#
# from $A_{ia}(0) \sim \mathcal N(0,\, 0.05^2\, n_a/k)$, with Adam's direction $r_t$ for the gradients $k^{-1/2}\, \partial L/\partial A_{ia}$.
# Hence the law of the trained functions depends on the mask through the counts $(n_a, n_b)$ only, and neurons with equal counts are exchangeable: to permute their
# $(A_i, c_i)$ changes neither the function nor the law of training, though their masks may differ.
#
# If no mask lets through more than one copy of a latent, and $W$ has the rate $\sqrt k\, \eta$, the decay $\kappa/\sqrt k$, Adam's $\epsilon/\sqrt k$ and initial standard deviation $0.05 \sqrt k$, then the students are those of $k = 1$: the same functions, lines and barriers at every coherence $1/k$.
# :::
#
# :::{prf:proof}
# All seen copies of $a$ have the gradient $\partial L/\partial W_{i\ell} = k^{-1/2}\, \partial L/\partial A_{ia}$, hence equal moments at all times and equal directions $r_t$. Sum the updates of $W_{i\ell}/\sqrt k$ over them. The function and all gradients depend on
# $(A, c)$ only, and the recursion and the initial law are the same for equal counts. For $n_a, n_b \le 1$ and the changed settings the factors $\sqrt k$ cancel in the step, the decay and the initial law, and in Adam's direction.
# :::
#
# Two students on one mask and the same data are independent, so that to permute one of them within the classes of equal counts does not change the law of the pair: matching the neurons by their numbers, as one does without alignment, is as good as matching at random within each class. How many such partners does a neuron have that sees both latents?

# %% Count exchangeable partners
partners = [
    (m - 1) * rank_law(k, p0, "exact-copy")[2] * same_counts(k, p0) for k in KS
]
print("1/ν     ", *(f"{k:5}" for k in KS))
print("partners", *(f"{n:5.1f}" for n in partners))

# %% Numbers for the text
for name, v in zip(("rare", "middle", "seen"), LEVELS, strict=True):
    change = midpoint_barrier(points[10, v]) - midpoint_barrier(points[1, v])
    text = "{:+.3f} ± {:.3f}".format(*over_clusters(change))
    figures.numbers(**{f"change_{name}": text})
figures.numbers(cost_1=mean_cost(1, p0), cost_10=mean_cost(10, p0))

# %% [markdown]
# Not only the number of neurons that see both but also the number of their exchangeable partners is larger at $\nu = 1/10$ than at $\nu = 1$, though two such neurons have equal counts with probability {glue:text}`same_counts(1, p0):.0f` at $\nu = 1$ and {glue:text}`same_counts(10, p0):.2f` at $\nu = 1/10$.
# But the number of partners is largest at {glue:text}`KS[int(np.argmax(partners))]` copies and falls again, while the barrier goes on rising.
#
# ### Coherence at a fixed visibility
#
# At fixed $p$ the probability $v = 1 - (1 - p)^{1/\nu}$ that a neuron sees a latent is a function of $\nu$. It is no rival of the coherence but stands between it and the barrier. How much of the effect does visibility explain?
# The grid above has {glue:text}`controls` masks per point, two pairs per mask. The rise of the paper's experiment is that from $(\nu, v) = (1, 0.15)$ to $(\frac1{10}, 1 - 0.85^{10})$. What remains of it when $v$ stays at 0.15 is the direct effect of the coherence, and what appears at $\nu = 1$ when only $v$ rises is the part that visibility carries.
#
# The paper asks how the coherence *controls* the effectiveness of symmetry breaking, and varies it at fixed $p$; that something of its effect is left at fixed $v$ it does not claim.
# And at $(\frac1{10}, 0.15)$ the students fit less well than at $(1, 0.15)$: each latent reaches a neuron by one small copy, whose steps are smaller by $\sqrt{10}$ ({prf:ref}`prop-copies`). So we train that corner once more, at the rate $\sqrt{10}\,\eta$ and the decay $\kappa/\sqrt{10}$.

# %% Train one corner with larger steps
k, p = 10, mask_probability(10, RARE)
D = bernoulli_masks(controls, m, d, p, seed + 2)
recipe = replace(F5, rate=F5.rate * k**0.5, weight_decay=F5.weight_decay / k**0.5)
(faster,) = measure([(exact_copy(k, d), D)], 2, seed, recipe=recipe)
when_fitted = share((k, RARE), points | {(k, RARE): faster})

corners = {"(1, .15)": points[1, RARE], "(1/10, .15)": points[k, RARE]}
for corner, point in (corners | {"the same, faster": faster}).items():
    print(f"{corner}: loss of the ends {loss_of_ends(point):.4f}")

# %%
claims.check("I13.direct", *by_coherence, n=controls)
claims.check("I13.direct_fitted", *when_fitted, n=controls)

# %% [markdown]
# In this run, at fixed $v$ the barrier changes by {glue:text}`change_rare`, {glue:text}`change_middle` and {glue:text}`change_seen` from $\nu = 1$ to $\nu = 1/10$ (standard errors), and at fixed coherence it follows the number of neurons that see both latents.
#
# This does not contradict I, Theorem 4.4.
# Its bound on $\lVert S_i - \mu_D I \rVert$ is, relative to $\mu_D = p$, of the order of the square root of $\sigma_D^2\, \nu / \mu_D^2 = (1 - p)\nu/p$, which is the relative variance of {prf:ref}`prop-visibility`; at fixed $v$ it does not fall with $\nu$ but rises as $\nu$ falls, the more the larger $v$ is.
# At fixed $p$, as in the paper, it falls with $\nu$. In I, Fig. 6 and in these controls anisotropy and visibility cannot be told apart; with the same masks, below, they can.
#
# ### Why more neurons raise the barrier
#
# Two explanations suggest themselves.
# *Exchange*: a neuron swaps roles with one of its exchangeable partners from run to run, so that the number of partners counts.
# *Switching*: a run uses only some of the neurons that could serve and switches the others off; which ones it uses changes from run to run, with
# partners or without; and all that is used in one run only is missing in the middle. The criteria of the claims on it were committed, after a pilot with other seeds, before these runs.
#
# Without $F$ the term $-g_i$ is the deviation $\xi_i$ from the chord in the middle, which [](46_chord_deviation.ipynb) treats. For one pair at $\nu = 1/10$:

# %% What the middle of one pair lacks
u, v = (unseen[0] @ own.A[0, i].T + own.b[0, i] for i in (0, 1))  # (n, m)
g = torch.minimum(u.abs(), v.abs()) * (u * v < 0) / 2
mean = (u.relu() + v.relu()).sum(dim=1) / 2  # of the outputs of the ends
middle = ((u + v) / 2).relu().sum(dim=1)
one_only = on[0, 0] ^ on[0, 1]  # neurons that are on in one run only
print(f"mean of the ends {mean.mean():.3f}, middle {middle.mean():.3f}")
print(f"sum of g {g.sum(dim=1).mean():.3f}", end=", ")
print(f"at neurons on in one run only {g[:, one_only].sum(dim=1).mean():.3f}")

# %% [markdown]
# A run has two sources of chance, its initial weights and the order of its examples. We give the second student of a pair the one or the other of the first, or only the signs of its initial weights. And we {term}`repair` pairs after training: by the best matching within classes of equal counts, and by setting to 0 the neurons that are hardly ever on. Those that are never on are the ones of {prf:ref}`prop-middle` (2), and to clear them changes no student on these examples; those that are on for a few inputs do a little, and a bias of theirs does harm in the middle all the same.


# %% Clear neurons that are on at most so often
def of_ends(students: Students) -> torch.Tensor:
    """Losses of the students, (masks, 2, 2)."""
    return line_losses(students, PAIRS, unseen, [1, 0])


print("cleared if on at most   barrier left   largest change of a loss")
for most in (0, 0.01, 0.03, 0.1, 0.25):
    some = switch_off(own, shares_on(own, unseen) > most)
    left = barrier_of(some).mean() / heights["as trained"].mean()
    change = (of_ends(some) - of_ends(own)).abs()
    print(f"{most:22.0%} {left:14.3f} {change.max():26.1e}")

# %% The price of clearing
change = (of_ends(STUDENTS["hardly on at 0"]) - of_ends(own)).abs()
value, error = jackknife(
    lambda some, whole: some / whole,
    change.flatten(1).numpy(),
    heights["as trained"],
)

# %%
claims.check("I13.zeroed_ends", value, stderr=error, n=controls)
claims.check("I13.start", *left_over["one start"], n=controls)
claims.check("I13.signs", *left_over["same signs"], n=controls)
claims.check("I13.aligned", *left_over["matched"], n=controls)

# %% Plot the finding
figure, axis = figures.card()
style = dict(color="book:blue", fmt="o-", linewidth=1.2, label="as trained")
figures.band(axis, KS, *clustered(copy), **style)
bare = over_clusters(heights["hardly on at 0"])
style = dict(color="book:red", fmt="D", markersize=5, label="hardly on at 0")
figures.band(axis, KS[-1:], *np.array(bare)[:, None], **style)
axis.set(xlabel=r"copies of each input, $1 / \nu$", ylabel="barrier halfway")
axis.set_xticks(KS[::3])
axis.legend(loc="upper left")
figures.keep(figure)

# %% Plot the middle, and interventions
figure, (left, right) = figures.panels(2)
centres = (edges[1:] + edges[:-1]) / 2
left.plot(
    centres, np.maximum(centres, 0), "--", color="book:black", label="target"
)
for k, colour in ((1, "sky"), (4, "purple"), (10, "red")):
    label = rf"$\nu = 1/{k}$" if k > 1 else r"$\nu = 1$"
    left.plot(centres, profiles[k], color=f"book:{colour}", label=label)
left.set(xlabel="$s = a + b$", ylabel="output in the middle")
left.legend(loc="upper left")
names = list(heights)[::-1]
some = np.transpose([over_clusters(heights[name]) for name in names])
right.barh(names, some[0], xerr=3.29 * some[1], color="book:sky")
right.set(xlabel=r"midpoint barrier at $\nu = 1/10$")
words = {
    "one order": "same order",
    "one start": "same start",
    "never on at 0": "never on: to 0",
    "hardly on at 0": "on ≤ 1 %: to 0",
}
right.set_yticks(range(len(names)), [words.get(name, name) for name in names])
figures.show("fig_switch", figure)

# %% Numbers for the text
A = (masks[:, None] * start) @ U  # at the start, (masks, 4, m, 2)
both = (ranks(U, masks) == 2)[:, None].expand_as(on)
framed = run(random_frame(10, frame), masks)
steps = F5.epochs * TRAINING // F5.batch
bare = switch_off(framed, shares_on(framed, unseen) > 0.01)
figures.numbers(
    up=on[both & (A > 0).all(dim=-1)].double().mean().item(),
    down=on[both & (A < 0).all(dim=-1)].double().mean().item(),
    flat=barrier_of(replace(own, A=own.A * on[..., None])).mean(),
    zero_change=f"{change.max().item():.1g}",
    frame_zeroed=f"{abs(barrier_of(bare).mean()):.1g}",
    steps=steps,
)

# %% [markdown]
# :::{glue:figure} fig_switch
# :alt: First panel, the output in the middle against a plus b. At coherence 1 it follows the target; at lower coherence it lies below it, the more the lower the coherence, and leaves zero only later. Second panel, bars of the barrier at coherence one tenth: as high with one order of the examples, much lower with the same signs of the initial weights, after matching within classes and with neurons that are never on set to zero, and nearly zero with one start or with neurons that are hardly ever on set to zero.
#
# First: mean output of the student in the middle, exact copy. Second: interventions at $\nu = 1/10$: same order of the examples, same signs of the initial weights or same weights, matching within classes, neurons set to 0.
# {glue:text}`controls` masks per point, bars: 99.9 % intervals (profile {glue:text}`profile`).
# :::
#
# By rows the two-state model of {prf:ref}`prop-middle` (3) and the barriers that it is about, exact copy (off: on at most a quarter of the inputs):

# %% Show the two-state model and what it is about
rows = []
for k, (as_trained, zeroed, used, bias) in lines.items():
    N, tau = sees_both[k], used * bias * sees_both[k]
    lost = 4 * two_state_barrier(2 * used * N, 0.5, bias)  # E min(s₊, τ)²
    nu = rf"$\nu = 1/{k}$" if k > 1 else r"$\nu = 1$"
    of_model = [N, used, bias, tau, (1 - used) ** 2, lost, model[k]]
    numbers = [*of_model, as_trained.mean(), abs(zeroed.mean())]
    digits = (1, 2, 2, 2, 3, 2, 3, 3, 4)
    rows.append(
        [nu, *(f"{x:.{d}f}" for x, d in zip(numbers, digits, strict=True))]
    )
figures.table(
    r" | $N$ | $\pi$ | $\beta$ | $\pi N \beta$ | $(1 - \pi)^2$ | $\mathbb E \min(s_+, \pi N \beta)^2$ | their product | measured | off at 0",
    rows,
)

# %% [markdown]
# The measurements support switching and rule out exchange.
# A neuron that sees both latents ends in one of two states: on, with weights along $(1, 1)$ and bias 0, or off, with small weights and the bias $-\beta$.
# The initial weights decide which: a neuron whose initial $A_i$ has two positive entries ends on with probability {glue:text}`up:.2f`, one with two negative entries with {glue:text}`down:.2f`.
# Of few neurons a run uses nearly all, so that there is little to miss; of many it uses a smaller share, and of what one run alone uses more is lost, since the bias of a neuron that is off hardly falls while the weight of one that is on falls like $1/(\pi N)$.
#
# The model is too high mostly because a neuron that is off keeps small weights along $(1, 1)$, which bring its preactivation nearer to 0 where $s$ is large: with these weights at 0 and the biases kept the barrier at $\nu = 1/10$ would be {glue:text}`flat:.2f`.
# With the neurons that are on at most 1 % of the inputs at 0, weights and biases, nothing of it is left, while no student's loss changes by more than {glue:text}`zero_change`; the line may as well be drawn at a quarter. Those that are never on leave {glue:text}`heights["never on at 0"].mean():.3f` of {glue:text}`heights["as trained"].mean():.3f`.
# A neuron that is never on has no gradient, and the decay alone would take it to 0, but in all {glue:text}`steps` steps it only shrinks it to {glue:text}`(1 - F5.rate * F5.weight_decay) ** steps:.2f` of its size. So training ends long before it finds the cheapest way to be unused, the one that the realization cost counts.
#
# Matching within classes repairs without being the cause: it leaves {glue:text}`heights["matched"].mean():.3f`, but 81 neurons each with counts of its own, so without exact partners, have a barrier of {glue:text}`designed[81, 0].mean():.2f`, those with 8 partners {glue:text}`designed[81, 8].mean():.2f`, those with 80 {glue:text}`designed[81, 80].mean():.2f`, and 9 neurons with 8 partners each only {glue:text}`designed[9, 8].mean():.3f`.
# At $\nu = 1$, with {glue:text}`WIDTHS[-1]` neurons, of which {glue:text}`wide[WIDTHS[-1]].both:.0f` see both latents, it is {glue:text}`midpoint_barrier(wide[WIDTHS[-1]]).mean():.2f`.
#
# ### The same masks
#
# One can also leave all masks unchanged, and with them the set of neurons that see both latents, and change the size of the copies: with ten copies of each latent, one of squared size $\nu$ and nine that share $1 - \nu$, the coherence is $\nu$ for any $\nu \ge 1/10$, and
# $p = 0.15$. What changes then is the cost of what a neuron sees, and with it the anisotropy: $(S_i)_{aa}$ is a sum of independent terms, and its relative variance
#
# $$
# \frac{1 - p}{p} \Bigl( \nu^2 + \frac{(1 - \nu)^2}{9} \Bigr)
# $$
#
# rises from {glue:text}`variance_low:.2f` at $\nu = 1/10$ to {glue:text}`variance_high:.2f` at $\nu = 0.9$, near the {glue:text}`relative_anisotropy(1, p0):.2f` of $\nu = 1$, where the nine copies have vanished and the experiment is that of $k = 1$.
# So both the coherence and the anisotropy that I, Theorem 4.4 bounds change here, and the set of neurons that see both latents stays.

# %% Train with copies of unequal size
NUS = (0.1, 0.3, 0.6, 0.9, 0.99, 0.999, 1.0)
same = bernoulli_masks(controls, m, d, p0, seed + 2)
cells = [(unequal_copy(10, nu, d), same) for nu in NUS]
sized = dict(zip(NUS, measure(cells, 2, seed), strict=True))
kept = jackknife(  # the barrier at ν = 0.9 over that at ν = 1/10
    lambda high, low: high / low,
    midpoint_barrier(sized[0.9]),
    midpoint_barrier(sized[0.1]),
)

# %%
value, error = kept
rival = at[2].mean() / at[10].mean()
claims.check("I13.unequal", value, stderr=error, n=controls, rival=rival)

# %% [markdown]
# ### Two masks
#
# Finally, high coherence alone does not make neurons {term}`identifiable <identifiability>`.
# In I, Example 4.3 the inputs are $(a, \varepsilon a, b, \varepsilon b)/\sqrt{1 + \varepsilon^2}$, $\nu = 1/(1 + \varepsilon^2)$, and the masks are $(1, 0, 0, 1)$ and $(0, 1, 1, 0)$: each neuron sees one latent at a cost that is $1/\varepsilon$ times that of the
# other ([](41_realization_cost.ipynb) draws them). Let one half of 128 neurons have the first mask and the other half the second, and train as before.

# %% Train with two masks
EPSILONS = (0.0, 0.005, 0.02, 0.05, 0.2, 1.0)
two = torch.tensor([[1, 0, 0, 1], [0, 1, 1, 0]]).double()
D = two.repeat_interleave(m // 2, dim=0)  # (m, 4)
cells = []
for eps in EPSILONS:
    column = torch.tensor([1.0, eps], dtype=torch.float64) / math.hypot(1, eps)
    U = torch.block_diag(column[:, None], column[:, None])  # (4, 2)
    cells.append((U, D.expand(controls, -1, -1)))

halves = dict(zip(EPSILONS, measure(cells, 1, seed), strict=True))
sharp, even = midpoint_barrier(halves[0.05]), midpoint_barrier(halves[1.0])

# %%
value, error = over_clusters(sharp - even)
claims.check("I13.two_masks", value, stderr=error, n=controls, rival=-even.mean())

# %% Plot copies of unequal size and two masks
figure, (left, right) = figures.panels(2)
unequal, masked = [sized[nu] for nu in NUS], [halves[e] for e in EPSILONS]
for axis, x, some in (
    (left, [*(1 - np.array(NUS[:-1])), 2e-4], unequal),
    (right, [0.002, *EPSILONS[1:]], masked),
):
    style = dict(color="book:red", fmt="o-", linewidth=1.2, markersize=4)
    figures.band(axis, x, *clustered(some), label="midpoint barrier", **style)
    style = dict(color="book:black", linewidth=1.2, markersize=4)
    ends = [loss_of_ends(point) for point in some]
    axis.plot(x, ends, "s--", label="loss of the ends", **style)
    axis.set(xscale="log", ylabel="test loss", ylim=(-0.02, None))
left.set_xticks(
    [2e-4, 1e-3, 1e-2, 1e-1, 0.9], ["1", "0.999", "0.99", "0.9", "0.1"]
)
left.invert_xaxis()
left.set(xlabel=r"coherence $\nu$ (axis: $1 - \nu$)")
left.set(title="ten copies, the same masks")
right.set_xticks([0.002, *EPSILONS[1:]], ["0", *(f"{e:g}" for e in EPSILONS[1:])])
right.set(xlabel=r"$\varepsilon$, with $\nu = 1/(1 + \varepsilon^2)$")
right.set(title="two masks (Example 4.3)")
for axis in (left, right):
    axis.minorticks_off()
figures.show("fig_two_masks", figure, legend=2)

# %% Numbers for the text
figures.numbers(
    variance_low=relative_anisotropy(1, p0) * (0.1**2 + 0.9**2 / 9),
    variance_high=relative_anisotropy(1, p0) * (0.9**2 + 0.1**2 / 9),
)

# %% [markdown]
# :::{glue:figure} fig_two_masks
# :alt: First panel, midpoint barrier and loss of the ends against coherence for unequal copies; the barrier falls slowly up to coherence 0.99 and to near zero beyond. Second panel, midpoint barrier and loss of the ends against epsilon on a logarithmic axis. The loss of the ends falls to zero as epsilon grows to one twentieth; the barrier is large everywhere and largest in between.
#
# First: ten copies of unequal size, {glue:text}`controls` masks, the same at all points, two pairs each. Second: the masks of I, Example 4.3, {glue:text}`controls` pairs per point. Bars: 99.9 % intervals (profile {glue:text}`profile`).
# :::
#
# With the same masks, first panel, the barrier is {glue:text}`midpoint_barrier(sized[0.1]).mean():.2f` at $\nu = 1/10$ and {glue:text}`midpoint_barrier(sized[0.9]).mean():.2f` at $\nu = 0.9$. Most of it is lost only closer to $\nu = 1$, where the small copies cost too much for the steps that training makes.
#
# With two masks, second panel, at $\varepsilon = 1/20$, the coherence is $400/401$, the students fit, and the barrier is {glue:text}`sharp.mean():.2f`, against {glue:text}`even.mean():.2f` at $\varepsilon = 1$.
# The reason is plain: there are 64 neurons of each kind, and each run chooses anew which of them it uses.
# The masks decide which *kinds* of neurons exist; within a kind
# nothing identifies a neuron. At $\varepsilon = 0$ no neuron sees both latents, a student is a sum $g(a) + h(b)$, which the target is not (loss {glue:text}`loss_of_ends(halves[0.0]):.2f`), and even then there is a barrier of {glue:text}`midpoint_barrier(halves[0.0]).mean():.2f`.
#
# ### Exercises
#
# :::{exercise}
# How many of 128 neurons see both latents on average, for $p = 0.15$ and $k = 1$, 4 and 10 exact copies? For which $p$ would as many see both at $k = 1$ as do at $p = 0.15$ and $k = 10$?
# :::
#
# :::{solution}
# $128\, v^2$ with $v = 1 - 0.85^k$: $2.9$, $29.2$ and $82.6$. At $k = 1$ $v = p$, so $p = 1 - 0.85^{10} \approx 0.80$.
# :::
#
# :::{exercise}
# Compute $\mathbb E \min(s_+, \pi N \beta)^2$ for $s \sim \mathcal N(0, 2)$ and with it the barrier of two states, {prf:ref}`prop-middle` (3). What is it for $\pi = \frac12$ and many neurons?
# :::
#
# :::{solution}
# With $\tau = \pi N \beta$, $q = \tau/\sqrt 2$ and the normal density $\varphi$ and distribution function $\Phi$ the part $0 < s < \tau$ gives $2 \bigl( \Phi(q) - \frac12 - q \varphi(q) \bigr)$ by partial integration, and the part $s > \tau$ gives $\tau^2 (1 - \Phi(q))$.
# The barrier is $(1 - \pi)^2$ times the sum.
# For $N \to \infty$ the sum tends to 1, and for $\pi = \frac12$ a quarter of the target's mean square is lost.
# To compare:
#
#     from scipy.stats import norm
#     tau = 0.5 * 40 * 0.1
#     q = tau / math.sqrt(2)
#     mean = 2 * (norm.cdf(q) - 0.5 - q * norm.pdf(q)) + tau**2 * norm.sf(q)
#     print(0.25 * mean, two_state_barrier(40, 0.5, 0.1))
# :::
#
# :::{exercise}
# In the model of two states each run has $\pi N$ neurons on.
# Which permutations of the second student's neurons remove the barrier?
# How small is the barrier of the best permutation if the runs have $N_A > N_B$ neurons on, with preactivations $s/N_A$ and $s/N_B$, and no bias is in the way ($\beta = 0$)?
# :::
#
# :::{solution}
# All that map neurons that are on to neurons that are on: then $h_i$ and $h_i'$ have one sign at every neuron, and all $g_i$ are 0.
# With $\beta = 0$ every $g_i = \frac12 \min(\lvert h_i \rvert, 0) = 0$ where one student is off, for every permutation: there is no barrier at all.
# What is lost in the middle is lost to the biases, not to the numbers.
# :::
# :::{try}
# Fewer pairs for each of more masks; the judged barriers keep their verdicts, with narrower intervals. Look at `I13.rise_copy`:
#
#     make chapter NAME=coherence ARGS="-p outer 20 -p pairs 2"
# :::

# %% Versions and time
print(chapter.end())
