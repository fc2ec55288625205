# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The barrier descends twice, first to 0 if training succeeds
#
# *How high is the barrier between networks that are narrower than their task needs?*
#
# As matched networks widen, the rise of the loss between them falls twice. With six teacher neurons it is, at width five, **[[Z8.first_descent:.2f]]**
# ([[Z8.first_descent:to]]) of that at width three; at width six it is 0 (proved) if both runs succeed. With twelve only **[[100 * Z8.at_M:.0f]] %** ([[100 * low(Z8.at_M):.0f]] to [[100 * high(Z8.at_M):.0f]]) of runs do.
#
# :::{glue:figure} fig_twice
# :alt: Barrier after matching against the width from 1 to 24 for six teacher neurons, logarithmic axis. It is 0 at one neuron, highest at half the teacher's width, falls to 0 at the teacher's width, rises to a second, much lower peak between one and two times that width, and falls again. Marked: one neuron short it is [[Z8.first_descent:.2f]] ([[Z8.first_descent:to]]) of that at half the width, and with twelve teacher neurons [[100 * low(Z8.at_M):.0f]] to [[100 * high(Z8.at_M):.0f]] % of the runs arrive at equal width, as recorded.
#
# Mean rise of the loss between matched trained networks (the barrier), $M = 6$ teacher neurons; logarithmic axis, 0 at its foot. Bars: 99.9 % intervals of this run; the marked numbers are recorded.
# :::
#
# **How sure.** The zero is proved; the rest measured on [[n(Z8.first_descent)]] to [[n(Z15.trained)]] pairs per width and [[n(Z8.at_M)]] to [[n(Z8.at_M_6)]] runs; recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | “decreases as … up to $m = M$” (sec. 1) | [true](#Z8.first_descent) | at $M - 1$ [[Z8.first_descent:to]] of that at $M/2$ |
# | “student neurons can always match” (Fig. 4) | [true where both reach loss 0](#Z8.zero_at_M) | reached by [[100 * Z8.at_M_6:.1f]] % ([[100 * Z8.at_M_6:to]]) of runs for $M = 6$, by [[100 * Z8.at_M:.0f]] % for 12 |
# | “tend to match different subsets” (sec. 4) | [true](#Z8.subsets) | one neuron short: 5/6 of pairs, by symmetry; counted [[100 * Z8.subsets:to]] % |
# | “first going up and then going down” (Fig. 10) | [true for $M = 6$ and 12](#Z14.up_and_down) | peak [[Z14.up_and_down:to]] times as high as the ends |
# | “way more lower” for larger $M$ (Fig. 10) | [true for $M = 30$](#Z14.lower_30) | [[Z14.lower_30:to]] of random minima's; $M = 12$: open, [[Z14.lower:to]] |
# | “decreasing when $d$ is going up” (Fig. 11; $d$ inputs) | [true](#Z15.trained) | like $d$ to the power [[Z15.trained:to]] |
#
# **Open.** Is the barrier for $M = 12$ below half of random minima's (over a hundred times the pairs)? Does it rise with $M$ (Fig. 12; 36 core-hours), and does the gap to the barrier before matching (up to 8 h)? Is its peak below $2M$ for $M = 12$ (5 h)? Is there one for $M = 30$ (1.5 h)?
#
# **For the authors.** No sentence to change; say in Fig. 4 that the 0 at $m = M$ is for runs that reach loss 0.

# %% [markdown]
# :::{need}
# You need: the loss and its minima ([](11_exact_loss.ipynb)), {term}`Algorithm 1` ([](13_algorithm_1.ipynb)), what trained networks
# look like ([](17_trained_minima.ipynb)). {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $M$, $m$ | neurons of the {term}`teacher <teacher and student>` and of a student |
# | $d$ | input dimension |
# | $e_j$ | the weights of teacher neuron $j$, a unit vector |
# | $w_i$ | the weights of student neuron $i$, row $i$ of the matrix $W$ |
# | $a$, $b$, $c$ | the three numbers that make up $W$ one neuron short |
# | $V$ | the same student with another teacher neuron missing |
# | $L$, $B$ | the loss; the {term}`barrier` between $W$ and $V$ |
#
# {cite:t}`zhan2025` (Z) report a {term}`double descent`: the {term}`barrier after permutation <permuted barrier>` falls to 0 at
# $m = M$, rises to a peak near $2M$ and falls again (Z, section 4, *Double descent*; Z, Fig. 4).

# %% Parameters tags=["parameters"]
pairs: int = 20  # pairs of networks per width, as in the paper
pairs_large: int = 0  # pairs with 30 teachers, 20 in the paper
runs: int = 150  # runs with 12 neurons, for 12 teacher neurons
steps: int = 5000  # budget of gradient descent
every: int = 3  # distance of the widths 6 to 15 of Z, Fig. 11
teachers: int = 4  # most teachers of trained networks in Z, Fig. 12, 16 there
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    pairs=Integer(3, 100_000),
    pairs_large=Integer(3, 10_000, zero=True),
    runs=Integer(20, 1_000_000),
    steps=Integer(1500, 10_000_000),
    every=Integer(1, 9),
    teachers=Integer(4, 16),
)
if pairs_large and steps < 6000:
    raise ValueError(f"steps = {steps}; allowed with pairs_large: 6000 or more")

import math

import numpy as np
import torch
from scipy.optimize import minimize

from lmc_helpers import claims, figures
from lmc_helpers._chapters.double_descent import descend_in_span, peak_over_ends
from lmc_helpers.barrier import loss_barrier
from lmc_helpers.error_bars import (
    mean_and_error,
    place_of_peak,
    ratio_of_means,
    share,
    slope_and_error,
)
from lmc_helpers.matching import best_permutation
from lmc_helpers.teacher_student import (
    even_sharpness,
    initial_weights,
    permuted_and_direct,
    population_gradient,
    population_hessian,
    population_loss,
    uniform_barriers,
)
from lmc_helpers.teacher_student.gradient_descent import gradient_descent

# %% [markdown]
# ## A network that is too narrow leaves teacher neurons out
#
# Networks of $m$ neurons learn $M = 6$ teacher neurons in $d = 8$ dimensions, by gradient descent from the paper's initialisation (Z, B.1). The
# step size is 0.8 of the threshold of [the chapter on it](16_step_size.ipynb), one of those that the paper leaves open. Each matrix in the
# figure is the first one found, with its columns sorted.

# %% Train students with too few neurons
ARRIVED = 1e-6  # loss of a run that has reached a global minimum
NEARLY = 1e-5  # the same where the approach is slow, m > M
RELATIVE_RATE = 0.8  # step size in units of the threshold η₀ of the chapter on it


def train(
    m: int, M: int, d: int, n: int, seed: int, budget: int | None = None
) -> torch.Tensor:
    """n networks after gradient descent, (n, m, d)."""
    rate = RELATIVE_RATE * 2 / even_sharpness(m, M, d)
    tol = 1e-5 if m > M else 1e-9  # above M less no longer moves the barrier
    start = initial_weights(m, d, n, seed)
    return gradient_descent(start, M, rate, budget or steps, tol=tol).W


under = {m: train(m, 6, 8, 2 * pairs, seed) for m in range(2, 7)}


# %% Plot the weights
def sorted_columns(W: torch.Tensor) -> np.ndarray:
    """Columns ordered by their largest entry, rows by its place; for the eye."""
    W = W[:, W[:, :6].max(dim=0).values.argsort(descending=True)]
    return W[W.argmax(dim=1).argsort()].numpy()


figure, axes = figures.panels(4, height=2.9)
for m, axis in zip((2, 3, 4, 5), axes, strict=True):
    picture = axis.imshow(
        sorted_columns(under[m][0]), cmap="RdBu_r", vmin=-2.3, vmax=2.3
    )
    axis.set(title=f"$m = {m}$", xlabel="teacher neuron")
    axis.set_xticks(range(6), range(1, 7))
    axis.set_yticks(range(m), range(1, m + 1))
    axis.grid(False)
axes[0].set_ylabel("neuron")
figure.colorbar(picture, ax=axes, shrink=0.8, label="weight")
figures.show("fig_under", figure)

# %% [markdown]
# :::{glue:figure} fig_under
# :alt: Four small heat maps of weight matrices with 2, 3, 4 and 5 neurons for 6 teacher neurons. Most neurons have one large weight; the teacher neurons that no neuron follows are either averaged by one neuron or shared by all.
#
# Weights of students with fewer neurons than the teacher, which has six. Teacher neurons that no neuron follows are averaged by one neuron, or
# shared by all (profile {glue:text}`profile`).
# :::
#
# At $m = M - 1$ each neuron follows one teacher neuron, and *all of them share* the last one:
# $w_i = a\, e_i + b\, e_M + c \sum_{k \ne i, k < M} e_k$.
#
# :::{prf:proposition} One missing teacher, shared
# :label: prop-share
# Among the matrices of this form take the $(a, b, c)$ that minimises the loss. The result is a critical point of the full loss.
# :::
#
# :::{prf:proof}
# Let a permutation of $1, \dots, M - 1$ act on the columns and, in the same way, on the rows; let $x_k \mapsto -x_k$ act for $k > M$. The loss is invariant under this
# compact group, and the matrices of this form are exactly those that the group fixes. The gradient at a fixed point is fixed, so it
# vanishes if it vanishes along the fixed matrices (principle of symmetric criticality).
# :::
#
# Three numbers for each $M$ give this point, and nothing has to be trained:


# %% Build the matrix of the proposition
def shared(abc: np.ndarray, M: int, d: int) -> torch.Tensor:
    """The matrix of the proposition, (M - 1, d)."""
    a, b, c = abc
    W = torch.zeros(M - 1, d, dtype=torch.float64)
    W[:, : M - 1] = c
    W[:, M - 1] = b
    W[torch.arange(M - 1), torch.arange(M - 1)] = a
    return W


# %%
def best_shared(M: int, d: int):
    """The best (a, b, c), with the loss there."""
    return minimize(
        lambda abc: population_loss(shared(abc, M, d), M).item(),
        [1.0, 1 / (M - 1), 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-11, "fatol": 1e-14, "maxiter": 4000},
    )


# %% Check that it is a strict local minimum
best = best_shared(6, 8)
W = shared(best.x, 6, 8)
gradient = population_gradient(W, 6)  # 0 at a critical point
curvature = torch.linalg.eigvalsh(population_hessian(W, 6))
print(f"largest entry of the gradient: {gradient.abs().max().item():.0e}")

# %% Numbers for the text
ends = population_loss(under[5], 6)
figures.numbers(same_loss=f"{(ends - best.fun).abs().max().item():.0e}")

# %% [markdown]
# For $M = 6$ it is a strict local minimum with the loss {glue:text}`best.fun:.6f`; the losses of all runs agree with that within
# {glue:text}`same_loss`. Which teacher neuron is missing is a matter of chance. By symmetry two runs miss different ones
# with the probability $1 - \frac1M = \frac56$, as the paper's words “tend to match different subsets” say.

# %% Find the missing teacher neuron of many runs
at_5 = train(5, 6, 8, 10 * pairs, seed)
missing = at_5[..., :6].max(dim=-2).values.argmin(dim=-1)  # (10 pairs,)
one, other = missing.split(5 * pairs)
differ, low, high = share(int((one != other).sum()), 5 * pairs)

# %%
claims.check("Z8.subsets", differ, interval=(low, high), n=5 * pairs)

# %% [markdown]
# ## One neuron short, the barrier is 0 or one number
#
# The *barrier* of a pair is the largest loss on the line between its networks, less that of its ends, on the {term}`paper's grid`
# of eleven points: *direct*, or *permuted*, after the best of all $m!$ permutations up to $m = 6$ and after Algorithm 1 above.
#
# A single neuron has no barrier at all: all runs end in one point. So below $M$ the barrier first *rises*, to its
# largest value near $m = M/2$, and then falls to 0 at $m = M$. “The first descent appears when $m$ increases
# toward $M$”, says the paper, and that is what {claim}`Z8.first_descent` compares. One neuron short nothing has to be sampled: two runs
# share the same missing teacher neuron, and their barrier is 0, or they do not, and it is one number, {glue:text}`one_short:.4f` for $M = 6$ and
# $d = 8$.
#
# :::{prf:theorem} One neuron short
# :label: thm-one-short
# For $d \ge M \ge 3$ let $W$ be a matrix of least loss among those of {prf:ref}`prop-share` with $a \ge 0$ (any one, if there are several), and let $V$ be $W$ with the columns $M - 1$ and $M$ exchanged. $d\, L(W)$ and $d$ times their barrier $B$ after the best permutation do not depend on $d$, and as $M \to \infty$
#
# $$
# d\, L(W) \to \tfrac14 \bigl( 1 - \tfrac2\pi \bigr), \qquad d\, B \to \tfrac18 - \frac{2 - \sqrt2}{2\pi} .
# $$
# :::
#
# The proof is in Evidence. So for many teacher neurons $d B$ stays bounded one neuron short, while at the peak near $2M$ that of uniform minima grows like $M^2$ ({prf:ref}`thm-many-teachers`).


# %% Compute the barriers up to equal width
def loss(W: torch.Tensor) -> torch.Tensor:
    return population_loss(W, 6)


def height(a: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Barriers between one network (m, d) and others (n, m, d)."""
    return loss_barrier(loss, a.expand_as(others), others)


def below(W: torch.Tensor) -> np.ndarray:
    """Barriers after the best of all m! permutations, and direct; (2, pairs)."""
    first, second = W.split(len(W) // 2)
    best = [
        height(a, b[best_permutation(a, b, height)][None]).item()
        for a, b in zip(first, second, strict=True)
    ]
    return np.array([best, loss_barrier(loss, first, second).numpy()])


curve = {m: below(W) for m, W in under.items()}
descent, descent_error = ratio_of_means(curve[5][0], curve[3][0])
both = (loss(under[6]) < ARRIVED).reshape(2, pairs).all(dim=0).numpy()
arrived = curve[6][0][both]  # permuted barriers, both runs at loss 0
for m, (permuted, direct) in curve.items():
    print(f"{m = }: {permuted.mean():.1e} permuted, {direct.mean():.1e} direct")
print(f"m = 6, both runs at loss 0: at most {arrived.max(initial=0.0):.0e}")

# %% Check Z8.first_descent and Z8.zero_at_M
claims.check("Z8.first_descent", descent, stderr=descent_error, n=pairs)

highest = float(arrived.max(initial=0.0))
claims.check("Z8.zero_at_M", highest, n=len(arrived))

# %% [markdown]
# ## At the teacher's width the barrier is 0, if training gets there
#
# :::{prf:proposition} Equal width
# :label: prop-equal-width
# For $m = M$ the matrices with loss 0 are the teacher with its rows in some order. Between two of them the best permutation leaves no barrier.
# :::
#
# :::{prf:proof}
# By {prf:ref}`thm-lemma2` (Z, Lemma 2) each of the $M$ types occurs, so each occurs once, with entry 1.
# :::
#
# So a student as wide as its teacher is *able* to match it, and the barrier is 0 *if both runs get there*. In this
# sense the caption of Z, Fig. 4 is right. Read as a statement on what descent
# does, it depends on $M$. Safran and Shamir {cite:p}`safran2018` proved that local minima with positive loss exist for
# $6 \le m = M \le 20$; with twelve teacher neurons many runs end in one.
#
# | “The student neurons can always match teachers” | We find | Runs that reach loss 0, recorded |
# | --- | --- | --- |
# | they are able to | [true](#Z8.zero_at_M), proved | – |
# | every run does, $M = 6$, $d = 8$ | [true](#Z8.at_M_6), nearly | [[100 * Z8.at_M_6:.2f]] % ([[100 * low(Z8.at_M_6):.2f]] to [[100 * high(Z8.at_M_6):.2f]]) of [[n(Z8.at_M_6)]] |
# | every run does, $M = 12$, $d = 20$ | [false](#Z8.at_M) | [[100 * Z8.at_M:.0f]] % ([[100 * low(Z8.at_M):.0f]] to [[100 * high(Z8.at_M):.0f]]) of [[n(Z8.at_M)]] |
#
# For many teacher neurons a curve that falls to 0 at $m = M$ is therefore conditioned on success; the paper does not say whether its curve
# is, nor what its $M$ is. One more neuron helps: at $m = 13$, {glue:text}`one_more` arrive in this run.


# %% Count the runs that arrive at equal width
def share_arrived(W: torch.Tensor, M: int) -> tuple[float, float, float]:
    """Share of networks with loss 0, and its interval."""
    return share(int((population_loss(W, M) < ARRIVED).sum()), len(W))


def at_equal_width(seed: int, m: int = 12, n: int = runs) -> torch.Tensor:
    """Networks with 12 teachers, (n, m, 20)."""
    return train(m, 12, 20, n, seed, 2 * steps)


at_12 = at_equal_width(seed)
arrive_12 = share_arrived(at_12, 12)
runs_6 = 10 * runs if runs >= 500 else 200  # to decide takes 5000
arrive_6 = share_arrived(train(6, 6, 8, runs_6, seed), 6)
for M, (value, low, high) in ((6, arrive_6), (12, arrive_12)):
    print(f"m = M = {M}: share {value:.4f} arrives, [{low:.4f}, {high:.4f}]")

# %% Check Z8.at_M and Z8.at_M_6
claims.check(
    "Z8.at_M",
    *arrive_12,
    n=runs,
    second_seed=lambda: share_arrived(at_equal_width(seed + 1), 12),
)
claims.check("Z8.at_M_6", *arrive_6, n=runs_6)

# %% [markdown]
# ## Above the teacher's width the barrier rises and falls again
#
# Trained networks spread their rows evenly ([](17_trained_minima.ipynb)), so their barrier falls
# before $2M$; the verdicts on that, in four settings of the step size and the initial weights, are in that chapter ({claim}`Z8.second_descent`, {claim}`Z8.descends`), those on
# uniform minima, whose second descent begins near $2M$, in [](15_barrier_peak.ipynb) ({claim}`Z8.second_descent_uniform_in_place`).
# With 6 and with 12 teacher neurons the peak stands above both ends of the curve; with 30 the recorded pairs do not
# separate it from a flat curve. With more teacher neurons the barrier of trained networks is lower, relative to that of uniform minima.

# %% Train students above the teacher's width
decided = pairs_large or steps < 2000  # verdicts rest on them, or they are cheap
more = (3 if decided else 2) * pairs
pairs_12 = more if decided else pairs
SETTINGS = {  # (M, d): widths, budget, pairs
    (6, 8): ((7, 8, 9, 10, 12, 15, 18, 24), steps, more),
    (12, 20): ((14, 16, 18, 20, 24, 36), steps, pairs_12),
    (30, 40): ((35, 45, 60, 90), 4 * steps, pairs_large),
}


def trained_curve(M: int, d: int, seed: int) -> list[np.ndarray]:
    """Permuted and direct barriers (2, n) of arrived pairs, at every width."""
    widths, budget, n = SETTINGS[M, d]
    found = []
    for m in widths:
        W = train(m, M, d, 2 * n, seed, budget)
        arrived = (population_loss(W, M) < NEARLY).reshape(2, n).all(dim=0)
        a, b = W.split(n)  # (n, m, d) each
        found.append(permuted_and_direct(a[arrived], b[arrived], M).numpy())
    return found


def uniform_curve(M: int, d: int) -> list[np.ndarray]:
    """Permuted barriers of 200 pairs of uniform minima at every width."""
    return [uniform_barriers(m, M, d, 200, seed)[0] for m in SETTINGS[M, d][0]]


run = [setting for setting, (*_, n) in SETTINGS.items() if n]
both_ways = {setting: trained_curve(*setting, seed) for setting in run}
uniform = {setting: uniform_curve(*setting) for setting in run}
trained = {s: [found[0] for found in both_ways[s]] for s in run}

# %% Plot the picture at the head of the chapter
both_sides = curve | dict(zip(SETTINGS[6, 8][0], both_ways[6, 8], strict=True))
figure, axis = figures.panels(height=2.8)
LOWEST = 1e-6  # where 0 is drawn
for some in ((2, 3, 4, 5), SETTINGS[6, 8][0]):
    mean, error = mean_and_error([both_sides[m][0] for m in some])
    error = np.array(error)
    ends = np.maximum(mean - figures.BAND * error, LOWEST)
    bars = np.array([mean - ends, figures.BAND * error])
    style = dict(fmt="o-", color="book:blue", markersize=4, elinewidth=1)
    axis.errorbar(some, mean, yerr=bars, **style)
axis.plot([1, 6], [LOWEST, LOWEST], "o", color="book:blue", clip_on=False)
axis.set(yscale="log", ylim=(LOWEST, 1), xlim=(0, 24.5), ylabel="barrier")
axis.set_yticks(
    [LOWEST, 1e-4, 1e-3, 1e-2, 1e-1],
    ["0", *(f"$10^{{-{k}}}$" for k in (4, 3, 2, 1))],
)
axis.set_xticks(
    [1, 3, 6, 12, 18, 24], ["", "$M/2$", "$M$", "$2M$", "$3M$", "$4M$"]
)
axis.set(xlabel="neurons $m$ of each network")
first = claims.recorded("Z8.first_descent")
words = (
    "one short: {value:.2f} of that at $M/2$\n({low:.2f} to {high:.2f}, recorded)"
)
place = (5, float(both_sides[5][0].mean()))
style = dict(textcoords="offset points", va="center")
arrow = dict(arrowstyle="-", color="book:grey", linewidth=0.8, relpos=(0, 0.5))
axis.annotate(words.format(**first), place, (34, 30), arrowprops=arrow, **style)
reached = claims.recorded("Z8.at_M")
words = "0 if both runs arrive: with 12\nteacher neurons {:.0f} % of runs do\n({:.0f} to {:.0f}, recorded)"
words = words.format(*(100 * reached[k] for k in ("value", "low", "high")))
axis.annotate(words, (6, LOWEST), (34, 22), arrowprops=arrow, **style)
figures.show("fig_twice", figure)


# %% Compare with the ends, with more teacher neurons and with uniform minima
def from_to(
    samples: list[np.ndarray], start: int, end: int
) -> tuple[float, float]:
    """Barrier at one width over that at another with 6 teachers, and its error."""
    at = dict(zip(SETTINGS[6, 8][0], samples, strict=True))
    return ratio_of_means(at[end], at[start])


def peak_at_12(samples: list[np.ndarray]) -> tuple[float, float]:
    """m/M of the peak with 12 teachers, and its error."""
    return place_of_peak(np.array(SETTINGS[12, 20][0]) / 12, samples, seed)


def lower(M: int, d: int) -> tuple[float, float]:
    """Trained over uniform barrier, geometric mean over widths, with error."""
    both = zip(trained[M, d], uniform[M, d], strict=True)
    found = [ratio_of_means(x, y) for x, y in both]
    value = math.exp(np.mean([math.log(r) for r, _ in found]))
    relative = math.sqrt(sum((e / r) ** 2 for r, e in found)) / len(found)
    return value, value * relative


second, descends = (from_to(trained[6, 8], *at) for at in ((9, 12), (12, 24)))
over_ends = min(peak_over_ends(trained[s]) for s in ((6, 8), (12, 20)))
peak, ratio = peak_at_12(trained[12, 20]), lower(12, 20)
fewer = lower(6, 8)
falls = ratio[0] / fewer[0]
falls_error = falls * math.hypot(ratio[1] / ratio[0], fewer[1] / fewer[0])
print("2M over 1.5 M, trained: {:.2f} ± {:.2f}".format(*second))
print("4M over 2M, trained: {:.2f} ± {:.2f}".format(*descends))
print("peak over ends, the smaller of two: {:.1f} ± {:.1f}".format(*over_ends))
print("m/M at the peak, 12 teachers: {:.2f} ± {:.2f}".format(*peak))
print("trained over uniform, 12 teachers: {:.2f} ± {:.2f}".format(*ratio))

# %% Check Z14.up_and_down and two readings of Z14.lower
claims.check("Z14.up_and_down", *over_ends, n=pairs_12)
claims.check("Z14.lower", *ratio, n=pairs_12)
claims.check("Z14.lower_with_M", falls, stderr=falls_error, n=pairs_12)

# %% [markdown]
# | The paper, on Fig. 10 | Reading | We find | Recorded |
# | --- | --- | --- | --- |
# | up, then down | $M = 6$ and 12 | [true](#Z14.up_and_down) | peak over the higher end: [[Z14.up_and_down:.1f]] ([[Z14.up_and_down:to]]) |
# | up, then down | $M = 30$ | [open](#Z14.up_and_down_30) | [[Z14.up_and_down_30:.1f]] ([[Z14.up_and_down_30:to]]) |
# | “way more lower” than uniform minima | by half, $M = 12$ | [open](#Z14.lower) | [[Z14.lower:.2f]] ([[Z14.lower:to]]) of it |
# | “way more lower” than uniform minima | by half, $M = 30$ | [true](#Z14.lower_30) | [[Z14.lower_30:.2f]] ([[Z14.lower_30:to]]) of it |
# | “way more lower” than uniform minima | the more, the larger $M$ is | [true](#Z14.lower_with_M) | $M = 12$ over $M = 6$: [[Z14.lower_with_M:.2f]] ([[Z14.lower_with_M:to]]) |
# | largest at $2M$ | $M = 12$ | [open](#Z14.peak), lower | at [[Z14.peak:.2f]] $M$ ([[Z14.peak:to]]) |
#
# ## A width that is too small differs in kind
#
# Permutations repair *where* two networks keep a feature, not *which* features they have. Below the width of the task they
# differ in the second, above it only in the first and in how much each feature is split. The easiest width is exactly $M$, if
# training gets there; one neuron more makes that much more likely, at the price of a small barrier.
#
# Read on: [](17_trained_minima.ipynb) explains the peak of trained networks; [](51_width_barriers.ipynb) looks for the peak on
# MNIST; [](21_merging_neurons.ipynb) follows one neuron as it moves from one role to another.

# %% [markdown]
# ## Evidence
#
# ### One neuron short: the numbers, and the proof
#
# For $M = 6$ the best numbers are $a =$ {glue:text}`best.x[0]:.4f`, $b =$ {glue:text}`best.x[1]:.4f`, $c =$ {glue:text}`best.x[2]:.4f`, and the smallest eigenvalue of the Hessian is
# {glue:text}`curvature[0].item():.2e`. With three teacher neurons the shared point is a saddle; with four, six and twelve it is a minimum. For
# several $M$ the barrier between $W$ and $V$ with their rows as they stand, which is the best order for large $M$ by the proof, and the least eigenvalue of
# the Hessian; and what gradient descent and the best of all $5!$ permutations found for $M = 6$:

# %% Compute the barrier one neuron short
limit = 1 / 8 - (2 - math.sqrt(2)) / (2 * math.pi)
ends = {}  # W and V
for M in (3, 4, 6, 12, 30, 120):
    W = shared(best_shared(M, M + 1).x, M, M + 1)
    V = W[:, [*range(M - 2), M - 1, M - 2, M]]
    ends[M] = W, V
    short = loss_barrier(lambda W, M=M: population_loss(W, M), W, V).item()
    print(f"M = {M}: d B = {(M + 1) * short:.5f}, limit {limit:.5f}", end="")
    if M == 6:
        one_short = 7 * short / 8  # d = 8
    if M <= 12:
        low = torch.linalg.eigvalsh(population_hessian(W, M))[0].item()
        print(f", d times the least eigenvalue {(M + 1) * low:.4f}", end="")
    print()
found = curve[5][0]  # barriers after the best permutation
off = np.minimum(abs(found), abs(found - one_short)).max()
print(f"M = 6, d = 8: 0 or {one_short:.6f}; the runs are at most {off:.0e} off")

# %%
claims.check("Z8.one_short", (M + 1) * short, n=1)

# %% Plot the loss between two students one neuron short
figure, axis = figures.panels(height=3.4)
lam = torch.linspace(0, 1, 81, dtype=torch.float64)
for M, (W, V) in ends.items():
    line = population_loss(W + lam[:, None, None] * (V - W), M)
    axis.plot(lam, (M + 1) * (line - line[0]), label=f"${M = }$")
theta, r = torch.atan2(lam, 1 - lam), torch.hypot(lam, 1 - lam)
square = lam * theta + (1 - lam) * (math.pi / 2 - theta) - r
square = 2 - 2 / math.pi + r**2 - 4 / math.pi * (1 + square)  # E R², the proof
rise = (square - (1 - 2 / math.pi)) / 4
axis.plot(lam, rise, "--", color="book:black", label=r"$M \to \infty$")
axis.set(xlabel=r"$\lambda$", ylabel="$d$ × (loss − loss at the ends)")
figures.show("fig_one_short", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_one_short
# :alt: Loss along the line between two students one neuron short, above that of its ends and times the dimension: one arch for each number of teachers, with its top in the middle; the arches approach the dashed one of the theorem.
#
# The loss on the line from $W$ to $V$ above that of its ends, times $d$, for $d = M + 1$; dashed: the limit, from the proof of {prf:ref}`thm-one-short`. Nothing here is sampled (profile {glue:text}`profile`).
# :::
#
# The theorem is about $M \to \infty$. For a given $M$ the printed number is the barrier of the rows as they stand, which the best order does not exceed. That no order is better is proved for all large enough $M$; for $M \le 7$ all $(M - 1)!$ orders were tried, and none is.
#
# Proof of {prf:ref}`thm-one-short`:
#
# :::{prf:proof}
# For normal $x$, $d L$ is $\mathbb E (f - f^*)^2$. With $\sigma(z) = \frac12 (z + |z|)$ and $R_W = \sum_j |x_j| - \sum_i |w_i \cdot x|$
#
# $$
# d\, L(W) = \tfrac14 \Bigl| \sum_j e_j - \sum_i w_i \Bigr|^2 + \tfrac14 \mathbb E R_W^2, \tag{b}
# $$
#
# as odd and even parts are orthogonal. Let $\mu = \mathbb E |x_1|$, so that $\mu^2 = \frac2\pi$. Limits are for $M \to \infty$, those of functions of $x$ in $L^2$.
#
# *The loss.* At $(a, b, c) = (1 + \frac1M, \frac1M, 0)$ the first term tends to 0 and, by the law of large numbers, $R_W \to |x_M| - \mu$; so at the best $(a, b, c)$
# $\limsup d L \le \frac14 (1 - \mu^2)$. Therefore (b) bounds $(M - 1) b - 1$ and $\mathbb E R_W = \mu (M - (M - 1) |w_1|)$, so that $b = O(\frac1M)$ and $|w_1| = 1 + O(\frac1M)$. As $0 \le \mathbb E |N + s| - \mathbb E |N| \le s^2$ for a normal $N$ of mean 0 and variance at least $\frac12$,
# $\mathbb E (R_W \mid x_M)$ is $|x_M|$ plus a constant, up to $O(M b^2 x_M^2) = O(x_M^2/M)$; hence $\mathbb E R_W^2 \ge 1 - \mu^2 - o(1)$. This is the first limit. Moreover both bounds are attained in it, so that
# the first term of (b) tends to 0 and $R_W - (|x_M| - \mu) \to 0$. The former says $a + (M - 2) c \to 1$, and $|w_1| \to 1$ bounds $a$, hence $Mc$, so that $a^2 \to 1$, $a \to 1$ and $Mc \to 0$.
#
# *The line.* Where $p$ and $q$ have different signs, $|\lambda p + (1 - \lambda) q|$ lacks $2 \min(\lambda |p|, (1 - \lambda) |q|)$ of $\lambda |p| + (1 - \lambda) |q|$, elsewhere nothing. For $i < M - 1$ the values
# $w_i \cdot x$ and $v_i \cdot x$ differ by $(b - c)(x_M - x_{M - 1}) = O(\frac1M)$, so that such a row lacks something only where both are as small, and all of them together lack $o(1)$. The last rows tend to $u = x_{M - 1}$ and $v = x_M$. So $R$ of the line tends to
# $\lambda (|v| - \mu) + (1 - \lambda)(|u| - \mu)$ ${} + \lambda |u| + (1 - \lambda) |v| - |\lambda u + (1 - \lambda) v|$, uniformly in $\lambda$, that is
#
# $$
# R \to |u| + |v| - \mu - |\lambda u + (1 - \lambda) v| ,
# $$
#
# and the first term of (b) to 0, as it is convex. With $\theta = \arctan \frac\lambda{1 - \lambda}$ and $r^2 = \lambda^2 + (1 - \lambda)^2$ the mean square of this is
# $2 - \frac2\pi + r^2 - \frac4\pi \bigl( 1 + \lambda\theta + (1 - \lambda)(\frac\pi2 - \theta) - r \bigr)$. For $\delta = 2\lambda - 1 \in [0, 1]$ its derivative $2\delta - \frac4\pi (2 \arctan\delta + \frac\delta{r^2} - \frac\delta r)$ is
# at most 0, as $\arctan\delta \ge \frac\pi4 \delta$ and $r \le 1$. So it is largest at $\lambda = \frac12$, where it is $\frac32 - (6 - 2\sqrt2)/\pi$; less $1 - \frac2\pi$ and divided by 4 this is the second limit.
#
# *Other permutations.* The type of a row is the teacher whose weight tends to 1. Halfway a place where types $j \ne k$ meet lacks $D_{jk} \to \min(|x_j|, |x_k|)\, 1\{x_j x_k < 0\}$, and $R \to A + \sum D_{jk}$ with $A = \frac12 (|u| + |v|) - \mu$ of mean 0. Types $M - 1$ and $M$ are in one such place each, or in one together: either way
# $\mathbb E A \sum D_{jk} = \mathbb E (|u| - \mu) D_{uv}$, as $D_{jk}$ with other types is independent of $A$. And $\mathbb E (\sum D_{jk})^2$ is least for the one place above. With four places or more $(\mathbb E R)^2 \ge (4\, \mathbb E D_{uv})^2 - o(1)$, which is more than the value above: $\mathbb E D_{uv} = (\sqrt2 - 1)/\sqrt\pi$, so that it is $0.87$ against $0.49$.
# :::
#
# ### Where the other runs stop
#
# Where runs at equal width stop short of loss 0 the gradient is 0, and the smallest eigenvalue of the Hessian says that it is a minimum:

# %% Examine the runs that stop
losses = population_loss(at_12, 12)
settled = population_gradient(at_12, 12).norm(dim=(-2, -1)) < 1e-8
stuck = at_12[settled & (losses > 1e-4)][:8]
lowest = [
    torch.linalg.eigvalsh(population_hessian(W, 12))[0].item() for W in stuck
]
one_more = share_arrived(at_equal_width(seed, 13, min(runs, 50)), 12)
if lowest:
    print(f"smallest eigenvalue at {len(lowest)} of them: {min(lowest):.1e}")

# %% Numbers for the text
figures.numbers(
    share="{:.0f} % ({:.0f} to {:.0f})".format(*(100 * x for x in arrive_12)),
    one_more="{:.0f} % ({:.0f} to {:.0f})".format(*(100 * x for x in one_more)),
    at_6=f"{arrive_6[0]:.1%} of {runs_6}",
    stuck_curvature=f"{min(lowest):.1e}" if lowest else "none",
    stuck_loss=f"{losses[settled].max():.4f}" if settled.any() else "unknown",
)

# %% [markdown]
# In this run {glue:text}`share` of {glue:text}`runs` runs arrive with 12 teacher neurons, with 6 {glue:text}`at_6`. Where the others stop,
# the smallest eigenvalue of the Hessian is at least {glue:text}`stuck_curvature` in the {glue:text}`len(lowest)` that were examined:
# local minima; the largest loss of a run that has settled is {glue:text}`stuck_loss`.
#
# ### The paper's Figures 4 and 10

# %% Plot double descent and the settings of Z, Fig. 10
curve |= dict(zip(SETTINGS[6, 8][0], both_ways[6, 8], strict=True))

figure, (left, right) = figures.panels(2)
for row, name, colour in ((1, "direct", "grey"), (0, "permuted", "blue")):
    mean, error = mean_and_error([curve[m][row] for m in sorted(curve)])
    style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2)
    shown = np.maximum(mean, 1e-7)
    figures.band(left, sorted(curve), shown, error, label=name, **style)
for x, name in ((6, "$M$"), (12, "$2M$")):
    left.axvline(x, color="book:orange", linestyle="--", linewidth=1)
    left.annotate(name, (x, 1), xycoords=("data", "axes fraction"))
left.set(yscale="log", ylim=(5e-8, None), xlabel="student neurons $m$")
left.set(ylabel="mean barrier, $M = 6$, $d = 8$")
for (M, d), colour in zip(run, ("sky", "green", "purple"), strict=False):
    x = np.array(SETTINGS[M, d][0]) / M
    for values, line, name in (
        (trained[M, d], "o-", "trained"),
        (uniform[M, d], "x:", "uniform"),
    ):
        style = dict(color=f"book:{colour}", fmt=line, linewidth=1.2)
        label = f"{name}, ${M = }$, ${d = }$"
        figures.band(right, x, *mean_and_error(values), label=label, **style)
right.set(yscale="log", xlabel="$m/M$", ylabel="mean barrier after Algorithm 1")
figures.show("fig_double", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_double
# :alt: First panel, barrier against width on a logarithmic axis; the permuted one falls to zero at six neurons, rises to a peak between six and twelve and falls again. Second panel, permuted barriers of trained networks and of uniform minima against m over M for several numbers of teacher neurons; the trained curves peak between 1 and 2 and lie below the uniform ones further right.
#
# First panel: double descent, Z, Fig. 4; {glue:text}`pairs` pairs per width up to $M$, {glue:text}`more` above; the lowest point
# stands for 0. Second panel: Z, Fig. 10; as many pairs of trained networks with 6 teacher neurons, {glue:text}`pairs_12` with 12 and {glue:text}`pairs_large` with 30 (left to profile paper), and 200 of uniform minima. Above $M$ only pairs that arrive count. Bars: ±3.29 standard errors (profile
# {glue:text}`profile`).
# :::
#
# The place of the peak with 12 teacher neurons; one half of the pairs chooses the places and the other half measures there:


# %% Check Z14.peak
def peak_again() -> tuple[float, float]:
    """The place of the peak with a second seed."""
    return peak_at_12([found[0] for found in trained_curve(12, 20, seed + 1)])


claims.check("Z14.peak", *peak, n=pairs_12, second_seed=peak_again)

# %% [markdown]
# With 30 teacher neurons gradient descent needs four times as many steps, {glue:text}`4 * steps` in all; runs that large are part of the
# profile `paper`, and their results stand on the [scoreboard](../scoreboard.md).

# %% Check Z14.up_and_down_30 and Z14.lower_30
large = (30, 40)
value, error = peak_over_ends(trained[large]) if pairs_large else (1.0, 0.0)
fewest = min(len(x) for x in trained[large]) if pairs_large else 0
claims.check("Z14.up_and_down_30", value, stderr=error, n=fewest)

value, error = lower(*large) if pairs_large else (1.0, 0.0)
claims.check("Z14.lower_30", value, stderr=error, n=fewest)

# %% Numbers for the text
figures.numbers(
    **{f"lower_{M}": "{:.2f} ± {:.2f}".format(*lower(M, d)) for M, d in run}
)

# %% [markdown]
# In this run the ratio of the trained to the uniform barrier, geometric mean over the widths (± standard error), is {glue:text}`lower_6`
# with 6 teacher neurons and {glue:text}`lower_12` with 12. The caption of Z, Fig. 10 calls this “partly due to the sparsity of
# solution”; below the threshold of the step size, as here, hardly a row dies, and with 6 teacher neurons the even counts are the cause
# ([](17_trained_minima.ipynb)).
#
# ### The input dimension
#
# The last two questions are not about double descent. They stand here because they, too, are about networks of every width around $2M$, uniform and trained.
#
# Z, Fig. 11 has $M = 4$, $m = 6, \dots, 15$ and $d = 4, 16, 64, 128$; "the barrier is decreasing when $d$ is going up, while the
# gap between the permuted barrier and the {term}`direct barrier` remains almost the same". For uniform minima the barrier is exactly
# proportional to $1/d$, and the ratio of the two barriers is constant ([](15_barrier_peak.ipynb)). For trained networks the law
# of the counts could depend on $d$ through the initialisation. Descent in all dimensions runs in one batch: the rows' parts off
# the teacher's axes span at most $m$ directions and never leave them
# (`descend_in_span`). The exponents of $d$ at $m = 8$:

# %% Measure barriers in several input dimensions
DIMS = (4, 16, 64, 128)
Heights = dict[int, np.ndarray]  # input dimension → permuted and direct (2, n)


def trained_in(dims: tuple[int, ...], m: int, M: int, n: int) -> Heights:
    """Barriers of n pairs of trained networks in several dimensions."""
    starts = [initial_weights(m, d, 2 * n, seed) for d in dims]
    ends = descend_in_span(starts, M, RELATIVE_RATE, steps // 2, tol=1e-5)
    barriers = (permuted_and_direct(*W.split(n), M).numpy() for W in ends)
    return dict(zip(dims, barriers, strict=True))


def uniform_in(dims: tuple[int, ...], m: int, M: int, n: int) -> Heights:
    """Barriers of n pairs of uniform minima, the same ones in every dimension."""
    return {d: uniform_barriers(m, M, d, n, seed) for d in dims}


widths = range(6, 16, every)
curves_trained = {m: trained_in(DIMS, m, 4, pairs) for m in widths}
curves_uniform = {m: uniform_in(DIMS, m, 4, 5 * pairs) for m in widths}
powers = tuple(2**k for k in range(2, 8))
at_8 = trained_in(powers, 8, 4, 5 * pairs)  # the profile of Fig. 11e
mean, error = mean_and_error([at_8[d][0] for d in powers])
slope, slope_error = slope_and_error(np.log(powers), np.log(mean), error / mean)
gaps = [ratio_of_means(*at_8[d], paired=True) for d in powers]
gap, gap_error = np.array(gaps).T  # permuted over direct (6,)
gap_slope, gap_slope_error = slope_and_error(
    np.log(powers), np.log(gap), gap_error / gap
)
print(f"barrier: d^({slope:.2f} ± {slope_error:.2f})")
print(f"permuted/direct: d^({gap_slope:.2f} ± {gap_slope_error:.2f})")

# %% Plot Z, Fig. 11
LINES = (  # row of the barriers, trained or uniform, colour
    (1, "trained", "sky"),
    (1, "uniform", "grey"),
    (0, "trained", "blue"),
    (0, "uniform", "orange"),
)


def draw(axis, x, by_place: dict[str, list[np.ndarray]]) -> None:
    """Four curves: direct and permuted, trained and uniform."""
    for row, law, colour in LINES:
        values = [heights[row] for heights in by_place[law]]
        name = f"{law}, {'direct' if row else 'permuted'}"
        style = dict(color=f"book:{colour}", fmt="o-", linewidth=1)
        known = list(x)[: len(values)]
        figures.band(axis, known, *mean_and_error(values), label=name, **style)
    axis.set(yscale="log")


both = {"trained": curves_trained, "uniform": curves_uniform}
figure, axes = figures.panels(3, rows=2, height=3.2, sharey=True)
for d, axis in zip(DIMS, axes.flat, strict=False):
    draw(axis, widths, {k: [c[m][d] for m in widths] for k, c in both.items()})
    axis.set(title=f"$d = {d}$", xlabel="student neurons $m$")
at = {"trained": at_8, "uniform": uniform_in(powers, 8, 4, 5 * pairs)}
draw(axes[1, 1], powers, {k: list(v.values()) for k, v in at.items()})
axes[1, 1].set(title="$m = 8$", xscale="log", xlabel="input dimension $d$")
axes[1, 2].remove()
for axis in axes[:, 0]:
    axis.set_ylabel("mean barrier")
figures.show("fig_dimension", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_dimension
# :alt: Five panels with four curves each on a logarithmic axis. In each of four panels by input dimension the two direct barriers lie some thirty to two hundred times above the two permuted ones, and all four keep their distances while they fall together as the dimension grows. The fifth panel, at eight neurons, shows four parallel falling lines against the dimension.
#
# Z, Fig. 11, $M = 4$: mean barriers of {glue:text}`pairs` pairs of trained networks ({glue:text}`5 * pairs` in the last panel) and
# {glue:text}`5 * pairs` pairs of uniform minima; bars: ±3.29 standard errors (profile {glue:text}`profile`).
# :::

# %% Check Z15.trained, Z15.trained_gap and Z15.gap
claims.check("Z15.trained", slope, stderr=slope_error, n=5 * pairs)
claims.check("Z15.trained_gap", gap_slope, stderr=gap_slope_error, n=5 * pairs)

ratios = {  # permuted over direct at every dimension
    m: [np.divide(*curves_uniform[m][d].mean(axis=1)) for d in DIMS]
    for m in widths
}
exponents = [np.polyfit(np.log(DIMS), np.log(r), 1)[0] for r in ratios.values()]
claims.check("Z15.gap", exponents)

# %% [markdown]
# ### The number of teacher neurons
#
# Z, Fig. 12 has $M = 4, 8, 16$ at $d = 64$. The exponent of $M$ in the permuted barrier, and how the gap to the direct one
# changes from 4 to 16 teacher neurons, at equal $m/M$:

# %% Measure barriers with several numbers of teacher neurons
RELATIVE = (1.25, 1.5, 2, 2.5, 3, 4)  # m/M
teachers_uniform = {
    M: [uniform_barriers(int(r * M), M, 64, 10 * pairs, seed) for r in RELATIVE]
    for M in (4, 8, 16)
}
teachers_trained = {
    M: [trained_in((64,), int(r * M), M, pairs)[64] for r in RELATIVE]
    for M in (4, 8, 16)
    if M <= teachers
}


def growth(found: dict[int, list[np.ndarray]], k: int) -> tuple[float, float]:
    """Exponent in M of the permuted barrier at one m/M, and its error."""
    mean, error = mean_and_error([found[M][k][0] for M in found])
    return slope_and_error(np.log([*found]), np.log(mean), error / mean)


def gap_of(found: dict[int, list[np.ndarray]], k: int) -> tuple[float, float]:
    """Permuted over direct with most teachers over that with 4, and its error."""
    (x, dx), (y, dy) = (
        ratio_of_means(*found[M][k], paired=True) for M in (max(found), 4)
    )
    return x / y, x / y * math.hypot(dx / x, dy / y)


growths, gap_ratios = (
    [of(teachers_uniform, k) for k in range(6)] for of in (growth, gap_of)
)
for r, g, f in zip(RELATIVE, growths, gap_ratios, strict=True):
    print(f"m = {r:.2f} M: M^({g[0]:.2f} ± {g[1]:.2f}), gap times {f[0]:.2f}")

# %% Plot Z, Fig. 12
figure, axes = figures.panels(3, sharey=True)
for M, axis in zip((4, 8, 16), axes, strict=True):
    found = {"uniform": teachers_uniform[M]}
    drawn = found | {"trained": teachers_trained.get(M, found["uniform"][:0])}
    draw(axis, [r * M for r in RELATIVE], drawn)
    axis.set(title=f"$M = {M}$", xlabel="student neurons $m$")
axes[0].set_ylabel("mean barrier")
figures.show("fig_teachers", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_teachers
# :alt: Three panels for four, eight and sixteen teachers with mean barriers against width on a common logarithmic axis. Direct barriers rise strongly with the number of teachers, permuted ones less, so that the distance between them grows.
#
# Z, Fig. 12, $d = 64$: mean barriers of {glue:text}`10 * pairs` pairs of uniform minima and {glue:text}`pairs` pairs of trained
# networks, which have at most {glue:text}`max(teachers_trained)` teacher neurons; bars: ±3.29 standard errors (profile {glue:text}`profile`).
# :::


# %% Check what Figure 12 says
def least(found: list[tuple[float, float]]) -> tuple[float, float]:
    """The value with the lowest end, and its error."""
    return min(found, key=lambda g: g[0] - figures.BAND * g[1])


def most(found: list[tuple[float, float]]) -> tuple[float, float]:
    """The value with the highest end, and its error."""
    return max(found, key=lambda g: g[0] + figures.BAND * g[1])


claims.check("Z16.at_every_width", *least(growths), n=10 * pairs)
claims.check("Z16.gap_at_every_width", *most(gap_ratios), n=10 * pairs)

whole = teachers == 16  # all three panels
value = (0.0, 1.0)  # not run
if whole:
    value = least([growth(teachers_trained, k) for k in range(6)])
claims.check("Z16.trained", *value, n=pairs if whole else 0)
if whole:
    value = most([gap_of(teachers_trained, k) for k in range(6)])
claims.check("Z16.trained_gap", *value, n=pairs if whole else 0)

# %% [markdown]
# The caption's statements are asked at every width: the barrier grows with $M$ ({claim}`Z16.at_every_width`), the permuted one
# more slowly than the direct one ({claim}`Z16.gap_at_every_width`); for trained networks, of which only runs with 16 teacher neurons
# can tell, the recorded run decides neither ({claim}`Z16.trained`, {claim}`Z16.trained_gap`).
#
# ### Exercises
#
# :::{exercise}
# A student with one neuron, for $M$ teacher neurons: find the best $w = a\, (e_1 + \dots + e_M)$, and show that it is a critical point. What is
# the barrier between two runs that end there?
# :::
#
# :::{solution}
# The cosine of $w$ with each $e_j$ is $t = 1/\sqrt M$. With $\rho = \|w\|$ the loss is
# $\rho^2 \kappa(1) - 2 \rho M \kappa(t) + L(0)$, least at $\rho = M\kappa(t)/\kappa(1)$ with the value
# $L(0) - M^2 \kappa(t)^2/\kappa(1)$, where $L(0) = M\kappa(1) + M(M - 1)\kappa(0)$. As in {prf:ref}`prop-share`, the vectors of
# this form are those that the permutations of the first $M$ coordinates and the reflections of the others fix, so that it is
# a critical point of the full loss. Two runs that end in the same point have no barrier. For $M = 6$, $d = 8$ the value is
# $0.2928$, where runs of gradient descent end:
#
#     W = gradient_descent(initial_weights(1, 8, 5, seed), 6, 0.5, 4000, tol=1e-9).W
#     print(population_loss(W, 6))
# :::
#
# :::{exercise}
# Suppose that each of the $m \le M$ neurons of a student follows a teacher neuron of its own, and that two students choose these at random.
# What share of the neurons has a partner in the other network?
# :::
#
# :::{solution}
# The teacher neuron that a neuron follows is among the $m$ of the other network with probability $m/M$, which is the expected share: it
# grows linearly to 1 at $m = M$. For $m = M - 1$ the two networks lack the same teacher with probability $1/M$.
# :::
#
# :::{try}
# More runs at $m = M$, which keeps the verdicts of this page. Look at the share of runs that arrive.
#
#     make chapter NAME=double_descent ARGS="-p runs 1000"
# :::
#
# ### Versions and time

# %% Versions and time
print(chapter.end())
