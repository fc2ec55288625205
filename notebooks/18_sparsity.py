# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Small steps find denser minima than uniform sampling; large, on average, sparser
#
# *Are trained networks sparser than random minima?*
#
# It depends on the steps and on the random minima. By the paper's index (0: all neurons equally long), averaged over widths, small
# steps end **[[-Z9.uniform_least:±]]** below random minima with uniformly random entries, but **[[Z9.uniform_least_equal:±]]** above those with equal entries. Large steps end **[[Z9.uniform_least_large:±]]** above those with uniformly random entries.
#
# :::{glue:figure} fig_sparse
# :alt: PQ index by neuron against the width from 9 to 36, axis from 0. From top to bottom: networks trained with large steps, random minima with uniform entries (exact), networks trained with small steps, random minima with equal entries (exact). At 36 neurons the first two may change places. Written above them, as recorded on average over the widths: small steps lie [[-Z9.uniform_least:±]] below uniform entries and [[Z9.uniform_least_equal:±]] above equal ones, large steps [[Z9.uniform_least_large:±]] above uniform ones.
#
# Sparsity ($M = 6$ teacher neurons, $d = 8$ inputs). Solid: networks trained in this run (large steps: 1.1 times the threshold of chapter 16, like $1/m$, $m$ the width), with 99.9 % intervals. Dashed: random minima, exact; their entries are the lengths of the copies of a teacher neuron. Differences: recorded means over the widths.
# :::
#
# **How sure.** Proved for random minima; training: [[n(Z9.uniform_least_large)]] to [[n(Z9.uniform_least)]] networks at each of five widths, recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | “with a smaller learning rate the PQI of minima is smaller” (sec. 5) | [true at every width](#Z9.smaller_rate) | where least, by [[Z9.smaller_rate:to]] |
# | “the uniformly sampled minima have the smallest PQI” (sec. 5) | [true for equal entries](#Z9.uniform_least_equal), [false for uniform ones, small steps](#Z9.uniform_least) | equal entries: true, by [[Z9.uniform_least_equal:to]]; uniform ones: true with large steps, by [[Z9.uniform_least_large:±]]; false with small ones, by [[-Z9.uniform_least:±]] |
# | “When the learning rate is large, the PQI also increases with the increase in network width” (sec. 5) | [true for a rate like $m^{-1/2}$](#Z9.width) | [[Z9.width:to]] per unit of $\ln m$ more than with small steps; with a rate like $1/m$ [[-Z9.width_inverse:to]] less |
# | “this phenomenon is not evident when the learning rate is low” (sec. 5) | [true](#Z9.width_small) | [[Z9.width_small:±]] per unit of $\ln m$ (evident: 0.01) |
#
# **Open.** Nothing.
#
# **For the authors.** Print *minima with equal entries have the smallest PQI*: for uniform ones it is true only with a large learning rate, on average over widths. State the learning rates of Fig. 5 and how they decay.

# %% [markdown]
# :::{need}
# You need: minima and types ([](12_overlap_theorem.ipynb)), the threshold of the step size ([](16_step_size.ipynb)), moments
# of Dirichlet laws and the Gamma function. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $M$, $m$ | neurons of the {term}`teacher <teacher and student>`, here 6, and of a student |
# | $d$ | input dimension, here 8 |
# | $\mathbf I(x)$, $N$ | PQ index of a vector $x$, and its number of entries |
# | $n_j$ | rows of a student {term}`of type <type>` $j$ |
# | $a$ | parameter of the Dirichlet law of the entries; $c_a$ is a number that depends on it |
# | $S_j$, $s_j$ | sum of the roots of the entries of type $j$, and its mean given $n_j$ |
# | $\eta$, $\eta_0(m)$ | step size, and its threshold at width $m$ |
#
# ## Claims of sparsity need a baseline
#
# The *{term}`PQ index`* of a vector $x$ with $N$ entries is (Z, Definition 7, with $p = \frac12$ and $q = 1$)
#
# $$
# \mathbf I(x) = 1 - \frac1N \cdot \frac{\bigl( \sum_i \sqrt{|x_i|} \bigr)^2}{\sum_i |x_i|}. \tag{Z 11}
# $$
#
# *By neuron*, $x$ are the norms of the rows of $W$. {cite:t}`zhan2025` (Z) compare gradient descent with “uniformly sampled”
# {term}`minima <minimum>`, and give sparsity as a reason for low {term}`barriers <barrier>`.

# %% Parameters tags=["parameters"]
networks: int = 40  # networks per width and step size
steps: int = 4000  # budget of gradient descent
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(), networks=Integer(4, 100_000), steps=Integer(500, 10_000_000)
)

import itertools
import math
from functools import cache

import numpy as np
import torch
from scipy.special import poch

from lmc_helpers import claims, figures
from lmc_helpers.error_bars import slope_and_error
from lmc_helpers.teacher_student import (
    even_sharpness,
    expected_pq,
    initial_weights,
    pq_index,
)
from lmc_helpers.teacher_student.gradient_descent import gradient_descent

# %% Plot the idea: three vectors and their PQ index
falling = np.cumsum(1 / np.arange(12, 0, -1))[::-1] / 12  # sorted, means
vectors = {
    "equal entries": np.full(12, 1 / 12),
    "typical of the uniform law": falling,
    "half of them zero": np.repeat([1 / 6, 0], 6),
}
figure, axes = figures.panels(3, height=2.9, sharey=True)
for axis, (title, vector) in zip(axes, vectors.items(), strict=True):
    sparsity = pq_index(torch.from_numpy(vector.copy())).item()
    axis.bar(np.arange(1, 13), vector, color="book:blue")
    axis.set(title=f"{title}: {abs(sparsity):.2f}", xlabel="row")
    axis.set_xticks([1, 4, 8, 12])
axes[0].set_ylabel("norm")
figures.show("fig_index", figure)

# %% [markdown]
# :::{glue:figure} fig_index
# :alt: Three bar charts of twelve norms that add up to 1. Equal ones have the index 0, sorted means of the uniform law an index of about a fifth, six equal ones and six zeros the index one half.
#
# Norms of the rows of minima with one teacher neuron, and their PQ index.
# :::
#
# ## The index of random minima can be anything between 0 and 1
#
# :::{prf:theorem} PQ index of random minima
# :label: thm-pq
# Let the type counts be $n_j = 1 + \text{Multinomial}(m - M)$ and the entries of each type Dirichlet with parameter $a$
# (uniform: $a = 1$; equal entries: $a \to \infty$). Let $S_j$ be the sum of the roots of the entries of type $j$. The PQ index
# by neuron has the mean
#
# $$
# 1 - \frac{1}{mM} \Bigl( \sum_j \mathbb E\, S_j^2 + \sum_{j \ne k} \mathbb E\, s_j s_k \Bigr)
# $$
#
# with $c_a = \Gamma(a + \frac12)/\Gamma(a)$ and, given $n_j = n$, $\mathbb E\, S_j^2 = 1 + (n - 1)\, c_a^2/a$ and
# $s_j = n\, c_a\, \Gamma(na)/\Gamma(na + \frac12)$. As $m \to \infty$ with $M$ fixed it tends to $1 - c_a^2/a$: to
# $1 - \pi/4$ for the uniform law and to 0 for equal entries.
# :::
#
# :::{prf:proof}
# The entries sum to $M$, so the index is $1 - S^2/(mM)$ with $S = \sum_i \sqrt{x_i} = \sum_j S_j$. For one type with $n$
# entries, $\mathbb E\, x_i = \frac1n$, and the moments of the Dirichlet law give
# $\mathbb E \sqrt{x_i} = c_a\, \Gamma(na)/\Gamma(na + \frac12)$ and, for $i \ne k$,
# $\mathbb E \sqrt{x_i x_k} = c_a^2\, \Gamma(na)/\Gamma(na + 1)$, which is $c_a^2/(na)$. Sum over $i$ and $k$; entries of two
# types are independent given the counts. For large $m$ all $n_j \approx m/M$, $s_j^2 \approx n_j c_a^2/a$, and
# $S^2/(mM) \to c_a^2/a$.
# :::
#
# Z, B.1 draws entries uniformly on the simplex and calls Dirichlet laws and “deterministic equal components” reasonable too. So
# which minima are the least sparse is a matter of that choice: wide uniform minima have the index $1 - \pi/4$, which is not small, and
# equal entries with even counts have the index 0, the least possible. The sum of the theorem, given the counts:

# %% Fix the sizes
M, d = 6, 8
widths = [9, 12, 18, 24, 36]


# %%
def index_given(n: np.ndarray, a: float) -> np.ndarray:
    """Mean PQ index given the type counts n (..., M), by the theorem."""
    c = poch(a, 0.5)  # Γ(a + ½)/Γ(a)
    second = 1 + (n - 1) * c**2 / a  # E[S_j² | n]
    first = n * c / poch(n * a, 0.5)  # s(n_j)
    mixed = first.sum(axis=-1) ** 2 - (first**2).sum(axis=-1)  # all j ≠ k
    return 1 - (second.sum(axis=-1) + mixed) / (n.sum(axis=-1) * M)


# %% Compare with the exact mean over the counts
surplus = list(itertools.product(range(M), repeat=9 - M))  # equally likely
counts = [1 + np.bincount(types, minlength=M) for types in surplus]
for a in (0.5, 1, 4, 100):
    enumerated = index_given(np.array(counts), a).mean()
    limit = 1 - poch(a, 0.5) ** 2 / a
    print(
        f"a = {a}: {enumerated:.6f} by enumeration, {expected_pq(9, M, a):.6f}",
        f"exactly; {expected_pq(1000, M, a):.4f} at m = 1000, limit {limit:.4f}",
    )

uniform = np.array([expected_pq(m, M) for m in widths])
equal = np.array([expected_pq(m, M, math.inf) for m in widths])

# %% [markdown]
# ## Small steps keep the neurons even, large steps kill some
#
# The paper lets the learning rate decay with the width, by a law that it does not state. Here it is a fixed
# multiple of the threshold $\eta_0(m)$ of [the chapter on the step size](16_step_size.ipynb), beyond which rows
# die and which falls like $1/m$, or it decays like $m^{-1/2}$. There are {glue:text}`networks` networks per point in this run; those that have not reached a loss of
# $10^{-5}$ after {glue:text}`steps` steps, twice as many beyond the threshold, are left out.

# %% Train at three laws of the step size
LAWS = {  # step size in units of η₀(m)
    "small": lambda m: 0.2,
    "large": lambda m: 1.1,
    "root": lambda m: 1.1 * math.sqrt(m / 36),
}


@cache  # two laws agree at the largest width
def indices(m: int, relative_rate: float, seed: int) -> torch.Tensor:
    """PQ index by neuron of the networks of width m that arrive, (arrived,)."""
    rate = relative_rate * 2 / even_sharpness(m, M, d)
    start = initial_weights(m, d, networks, seed)
    budget = 2 * steps if relative_rate > 1 else steps
    done = gradient_descent(start, M, rate, budget, tol=1e-7)
    arrived = ~done.diverged & (done.loss < 1e-5)
    if arrived.sum() < 2:
        return torch.tensor([math.nan])
    return pq_index(torch.linalg.vector_norm(done.W[arrived], dim=-1))


@cache
def measure(law: str, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Mean and standard error at every width, and the fewest networks."""
    found = [indices(m, LAWS[law](m), seed) for m in widths]
    mean = np.array([x.mean().item() for x in found])
    stderr = np.array([x.std().item() / math.sqrt(len(x)) for x in found])
    return mean, stderr, min(len(x) for x in found)


trained = {law: measure(law, seed) for law in LAWS}
for law, (mean, stderr, _) in trained.items():
    print(f"{law}: {mean.round(3)}, errors up to {stderr.max():.3f}")
print(f"uniform: {uniform.round(3)}")

# %% Plot the picture at the head of the chapter
figure, axis = figures.panels(height=3.0)
for law, colour in (("large", "red"), ("small", "blue")):
    mean, stderr, _ = trained[law]
    style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.6)
    figures.band(axis, widths, mean, stderr, **style)
for random in (uniform, equal):
    axis.plot(widths, random, "--", color="book:black", linewidth=1.2)
ends = (  # what a curve shows, its height at the right end, colour
    (
        "uniform entries",
        max(uniform[-1], trained["large"][0][-1] + 0.026),
        "black",
    ),
    ("large steps", trained["large"][0][-1], "red"),
    ("small steps", trained["small"][0][-1], "blue"),
    ("equal entries", equal[-1], "black"),
)
for words, height, colour in ends:
    place = dict(xytext=(6, 0), textcoords="offset points", va="center")
    axis.annotate(words, (36, height), color=f"book:{colour}", **place)
axis.text(8.6, 0.396, "recorded, on average over widths:", va="center")
above_uniform = claims.recorded("Z9.uniform_least_large")
below_uniform = claims.recorded("Z9.uniform_least")
above_equal = claims.recorded("Z9.uniform_least_equal")
differences = (  # record, height of its words, colour, the words around the number
    (above_uniform, 0.365, "red", "large: {} above uniform"),
    (below_uniform, 0.334, "blue", "small: {} below uniform"),
    (above_equal, 0.303, "blue", "small: {} above equal"),
)
for found, height, colour, words in differences:
    half = (found["high"] - found["low"]) / 2
    words = words.format(f"{abs(found['value']):.3f} ± {half:.3f}")
    axis.text(8.6, height, words, color=f"book:{colour}", va="center")
axis.set(xlabel="neurons $m$ of the network", ylabel="PQ index by neuron")
axis.set(ylim=(0, 0.42), xlim=(8, 37))
axis.set_xticks([9, 12, 18, 24, 30, 36])
figures.show("fig_sparse", figure)

# %% Compare with random minima, and one law with another
Result = tuple[np.ndarray, np.ndarray, int]  # means, standard errors, networks


def above(random: np.ndarray, result: Result) -> tuple[float, float]:
    """Mean over widths of the trained index less that of random minima."""
    mean, stderr, _ = result
    error = np.sqrt((stderr**2).sum()) / len(widths)
    return float((mean - random).mean()), float(error)


def slope_of_difference(law: str, seed: int) -> tuple[float, float]:
    """Slope in ln m of a law's index less that of small steps, with error."""
    one, other = measure(law, seed), measure("small", seed)
    error = np.hypot(one[1], other[1])
    return slope_and_error(np.log(widths), one[0] - other[0], error)


# %% [markdown]
# “Uniformly sampled” has been read in three ways; what counts is the difference of the index to that of the random minima, on average over the widths.
#
# | Random minima | Step size | Random minima least sparse? | Trained minus random, recorded |
# | --- | --- | --- | --- |
# | uniform entries (Lemma 8) | a fifth of $\eta_0$ | [false](#Z9.uniform_least) | [[Z9.uniform_least:.3f]] ([[Z9.uniform_least:to]]) |
# | uniform entries (Lemma 8) | $1.1\,\eta_0$ | [true](#Z9.uniform_least_large) | [[Z9.uniform_least_large:.3f]] ([[Z9.uniform_least_large:to]]) |
# | equal entries (B.1) | a fifth of $\eta_0$ | [true](#Z9.uniform_least_equal) | [[Z9.uniform_least_equal:.3f]] ([[Z9.uniform_least_equal:to]]) |
#
# Networks trained with small steps have *more even* entries than uniform minima ([](17_trained_minima.ipynb)), hence a
# smaller index. Their entries are not equal, so that minima with equal entries have a smaller index still, and for these the printed
# order holds. For the uniform law, which Lemma 8 takes, it holds beyond the threshold, where rows die, on average over the widths; the widest lie beside the uniform ones. The learning rates of the
# paper's figure are not stated.

# %% Check Z9.uniform_least in three readings, and Z9.smaller_rate
claims.check(
    "Z9.uniform_least",
    *above(uniform, trained["small"]),
    n=trained["small"][2],
    second_seed=lambda: above(uniform, measure("small", seed + 1)),
)
value, error = above(equal, trained["small"])
claims.check("Z9.uniform_least_equal", value, stderr=error, n=trained["small"][2])
value, error = above(uniform, trained["large"])
claims.check("Z9.uniform_least_large", value, stderr=error, n=trained["large"][2])
(high, high_error, n_high), (low, low_error, n_low) = (
    trained["large"],
    trained["small"],
)
least = int((high - low).argmin())
claims.check(
    "Z9.smaller_rate",
    float((high - low)[least]),
    stderr=float(np.hypot(high_error, low_error)[least]),
    n=min(n_high, n_low),
)

# %% [markdown]
# ## The index grows with the width only if the step size outgrows its threshold
#
# The slope of a difference in $\ln m$ tells if the index of one law of the step size grows more with the width than that of
# another. The paper says that the learning rate decays, not how:
#
# | Learning rate | Grows with the width? | Slope in $\ln m$, less that at a fifth of $\eta_0$ |
# | --- | --- | --- |
# | like $m^{-1/2}$, $1.1\,\eta_0$ at $m = 36$ | [true](#Z9.width) | [[Z9.width:.3f]] ([[Z9.width:to]]), recorded |
# | like $1/m$, $1.1\,\eta_0(m)$ | [false](#Z9.width_inverse) | [[Z9.width_inverse:.3f]] ([[Z9.width_inverse:to]]), recorded |
#
# So the paper's statement holds for a learning rate like $m^{-1/2}$, and should for any that decays more slowly than $1/m$: what increases is
# the step size relative to the threshold, which itself falls like $1/m$; a step size that decays more slowly crosses it at
# some width. At a fixed multiple of the threshold nothing increases, at a large one ({claim}`Z9.width_inverse`) or at a small
# one ({claim}`Z9.width_small`; a first record with a third of the networks left this open).


# %% Check Z9.width in two readings
seeds = {"of": seed, "again": seed + 1}
n_root = trained["root"][2]
for_law = {law: lambda s, law=law: slope_of_difference(law, s) for law in LAWS}
claims.check("Z9.width_inverse", for_law["large"], **seeds, n=min(n_high, n_low))
claims.check("Z9.width", for_law["root"], **seeds, n=min(n_root, n_low))

# %% [markdown]
# ## Low barriers do not need sparsity
#
# Uneven rows help a matcher, which can leave the small ones over; zero rows match for free. But low barriers need neither:
# with six teacher neurons, networks trained with small steps from the initial weights of Z, B.1 are less sparse than uniform minima, and yet merge better from about $m = 2M$ on.
#
# Read on: [](17_trained_minima.ipynb) says what lowers their barrier; [](19_double_descent.ipynb) goes to widths below $M$.

# %% [markdown]
# ## Evidence
#
# ### All three laws of the step size

# %% Plot the PQ index against the width
figure, axis = figures.panels()
for law, label, colour in (
    ("small", r"$\eta = 0.2\,\eta_0(m)$", "blue"),
    ("large", r"$\eta = 1.1\,\eta_0(m)$", "red"),
    ("root", r"$\eta \propto m^{-1/2}$", "purple"),
):
    mean, stderr, _ = trained[law]
    style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2)
    figures.band(axis, widths, mean, stderr, label=f"trained, {label}", **style)
axis.plot(widths, uniform, "--", color="book:black", label="uniform law, exact")
axis.plot(widths, equal, ":", color="book:black", label="equal entries, exact")
axis.set(xlabel="student neurons $m$", ylabel="PQ index by neuron")
axis.set(ylim=(0, None))
figures.show("fig_pq", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_pq
# :alt: PQ index by neuron against width for three laws of the step size, with the exact curves of uniform and of equal entries. Networks trained with small steps lie far below the uniform curve. Beyond the threshold the index lies above that curve for narrow networks and beside it for wide ones. With the slowly decaying step size it rises with the width.
#
# Z, Fig. 5: PQ index by neuron of trained networks and, exactly, of random minima; bars: ±3.29 standard errors of at least
# {glue:text}`min(n for *_, n in trained.values())` networks (profile {glue:text}`profile`).
# :::

# %% Check Z9.width_small
claims.check(
    "Z9.width_small",
    lambda mean: slope_and_error(np.log(widths), mean, low_error),
    of=low,
    n=n_low,
)

# %% [markdown]
# ### The theorem, by enumeration and exactly
#
# For $m = 9$ and $M = 6$ the mean over the counts is a sum over the $6^3$ types of the surplus rows. Beyond that the sum over
# the pairs of counts, each binomial given the other, is short
# ({py:func}`~lmc_helpers.teacher_student.sparsity.expected_pq`). Both, for four laws, were printed below the cell of the theorem.
#
# ### Exercises
#
# :::{exercise}
# Show that $k$ equal entries and $N - k$ zeros have the PQ index $1 - k/N$. Which share of zero rows gives a network with
# otherwise equal rows the index of wide uniform minima?
# :::
#
# :::{solution}
# With entries $c$ the fraction in (Z 11) is $(k \sqrt c)^2/(kc) = k$. Wide uniform minima have the index $1 - \pi/4$, so that
# the share of zeros is $1 - \pi/4 \approx 21$ %.
# :::
#
# :::{exercise}
# What is the PQ index of many independent copies of a random variable $X \ge 0$? Derive the limits of {prf:ref}`thm-pq` from it.
# :::
#
# :::{solution}
# By the law of large numbers $\frac1N \sum_i \sqrt{x_i} \to \mathbb E \sqrt X$ and $\frac1N \sum_i x_i \to \mathbb E X$, so the
# index tends to $1 - (\mathbb E \sqrt X)^2/\mathbb E X$: the variance of $\sqrt X$ over the mean of $X$. The entries of a
# Dirichlet law are Gamma variables with parameter $a$ divided by their sum, which does not change the index. As
# $\mathbb E X = a$ and $\mathbb E \sqrt X = c_a$, it is $1 - c_a^2/a$. With $a = 1$, $c_1 = \Gamma(\frac32) = \sqrt\pi/2$.
# :::
#
# :::{try}
# More networks at every point, trained for twice as long, which keeps the verdicts of this page. Look at the first picture: its bars shrink.
#
#     make chapter NAME=sparsity ARGS="-p networks 100 -p steps 8000"
# :::
#
# ### Versions and time

# %% Versions and time
print(chapter.end())
