# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which minima are sparse
#
# :::{summary}
# **Question.** Are trained networks sparser than random {term}`minima <minimum>`?
#
# **The paper.** Zhan, Li & Wu (Z) {cite:p}`zhan2025` measure sparsity by the {term}`PQ index`: gradient descent is sparser the larger
# its learning rate, "the uniformly sampled minima have the smallest PQI", and with a large learning rate, but not evidently with a small one, the index
# grows with the width (Z, section 5; Z, Fig. 5).
#
# **What we find.** The first is so ({claim}`Z9.smaller_rate`). The second depends on two choices, the law of the random minima
# and the learning rates: it is so for equal entries ({claim}`Z9.uniform_least_equal`) and, with entries uniform on the
# simplex, for large steps ({claim}`Z9.uniform_least_large`), but the other way round for small ones
# ({claim}`Z9.uniform_least`). With a large learning rate like $m^{-1/2}$ the index grows with the width ({claim}`Z9.width`),
# with one like $1/m$ it does not ({claim}`Z9.width_inverse`), nor with a small one ({claim}`Z9.width_small`); the paper does not say which law is meant.
#
# **Why it matters.** Sparsity is one of the reasons given for low {term}`barriers <barrier>`. It has to be said: sparser than what?
# :::
#
# :::{need}
# You need: minima and types ([](12_overlap_theorem.ipynb)), the threshold of the step size ([](16_step_size.ipynb)), moments
# of Dirichlet laws and the Gamma function. {{ times }}
# :::

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

# %% [markdown]
# ## The index of random minima
#
# The *PQ index* of a vector $x$ with $n$ entries is (Z, Definition 7, with $p = \frac12$ and $q = 1$)
#
# $$
# \mathbf I(x) = 1 - \frac1n \cdot \frac{\bigl( \sum_i \sqrt{|x_i|} \bigr)^2}{\sum_i |x_i|}. \tag{Z 11}
# $$
#
# *By neuron*, $x$ are the norms of the rows of $W$.

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
# :::{prf:theorem} PQ index of random minima
# :label: thm-pq
# Let the type counts be $n_j = 1 + \text{Multinomial}(m - M)$ and the entries of each type Dirichlet with parameter $a$
# (uniform: $a = 1$; equal entries: $a \to \infty$). Let $S_j$ be the sum of the roots of the entries {term}`of type <type>` $j$. The PQ index
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
# For $m = 9$ and $M = 6$ the mean over the counts is a sum over the $6^3$ types of the surplus rows. Beyond that the sum over
# the pairs of counts, each binomial given the other, is short
# ({py:func}`~lmc_helpers.teacher_student.sparsity.expected_pq`). Both, for four laws:

# %%
M, d = 6, 8
widths = [9, 12, 18, 24, 36]


def index_given(n: np.ndarray, a: float) -> np.ndarray:
    """Mean PQ index given the type counts n (..., M), by the theorem."""
    c = poch(a, 0.5)  # Γ(a + ½)/Γ(a)
    second = 1 + (n - 1) * c**2 / a  # E[S_j² | n]
    first = n * c / poch(n * a, 0.5)  # s(n_j)
    mixed = first.sum(axis=-1) ** 2 - (first**2).sum(axis=-1)  # all j ≠ k
    return 1 - (second.sum(axis=-1) + mixed) / (n.sum(axis=-1) * M)


surplus = list(itertools.product(range(M), repeat=9 - M))  # equally likely
counts = [1 + np.bincount(types, minlength=M) for types in surplus]
for a in (0.5, 1, 4, 100):
    enumerated = index_given(np.array(counts), a).mean()
    limit = 1 - poch(a, 0.5) ** 2 / a
    print(
        f"a = {a}: {enumerated:.6f} by enumeration, {expected_pq(9, M, a):.6f}",
        f"exactly; {expected_pq(3000, M, a):.4f} at m = 3000, limit {limit:.4f}",
    )

uniform = np.array([expected_pq(m, M) for m in widths])
equal = np.array([expected_pq(m, M, math.inf) for m in widths])

# %% [markdown]
# So the index of "random minima" can be anything between 0 and 1. Z, B.1 draws entries uniformly on the simplex and calls
# Dirichlet laws and "deterministic equal components" reasonable too. Which minima are the least sparse is a matter of that
# choice; for equal entries and even counts the index is exactly 0, the least possible.
#
# ## What gradient descent finds
#
# $M = 6$, $d = 8$. The paper lets the learning rate decay with the width, by a law that it does not state. Here it is a fixed
# multiple of the threshold $\eta_0(m) = 2dM/(m\mu_M)$ of [the chapter on the step size](16_step_size.ipynb), beyond which rows
# die, or decays like $m^{-1/2}$. There are {glue:text}`networks` networks a point; those that have not reached a loss of
# $10^{-5}$ after {glue:text}`steps` steps, twice as many beyond the threshold, are left out.

# %%
LAWS = {  # step size in units of η₀(m)
    "small": lambda m: 0.2,
    "large": lambda m: 1.1,
    "root": lambda m: 1.1 * math.sqrt(m / 36),
}


def indices(m: int, relative_rate: float, seed: int) -> torch.Tensor:
    """PQ index by neuron of the networks of width m that arrive, (arrived,)."""
    rate = relative_rate * 2 / even_sharpness(m, M, d)
    start = initial_weights(m, d, networks, seed)
    budget = 2 * steps if relative_rate > 1 else steps
    done = gradient_descent(start, M, rate, budget, tol=1e-7)
    arrived = ~done.diverged & (done.loss < 1e-5)
    if arrived.sum() < 2:
        raise ValueError(
            f"{arrived.sum()} of {networks} networks of width {m} arrived in "
            f"{budget} steps; allowed: at least 2, so more steps or networks"
        )
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
figures.numbers(fewest=min(n for *_, n in trained.values()))

# %% [markdown]
# :::{glue:figure} fig_pq
# :alt: PQ index by neuron against width for three laws of the step size, with the exact curves of uniform and of equal entries. Networks trained with small steps lie far below the uniform curve. Beyond the threshold the index lies above that curve for narrow networks and beside it for wide ones. With the slowly decaying step size it rises with the width.
#
# Z, Fig. 5: PQ index by neuron of trained networks and, exactly, of random minima; bars: ±3.29 standard errors of at least
# {glue:text}`fewest` networks (profile {glue:text}`profile`).
# :::
#
# The mean over the widths of the difference to random minima decides who is sparser; the slope of a difference in $\ln m$,
# whether the index of one law of the step size grows more with the width than that of another:

# %%
Result = tuple[np.ndarray, np.ndarray, int]  # means, standard errors, networks


def above(random: np.ndarray, result: Result) -> tuple[float, float]:
    """Mean over widths of the trained index less that of random minima."""
    mean, stderr, _ = result
    error = np.sqrt((stderr**2).sum()) / len(widths)
    return float((mean - random).mean()), float(error)


def slope_of_difference(one: Result, other: Result) -> tuple[float, float]:
    """Slope in ln m of one law's index less that of the other, with error."""
    error = np.hypot(one[1], other[1])
    return slope_and_error(np.log(widths), one[0] - other[0], error)


# %% Check Z9.uniform_least and its other readings
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

# %% [markdown]
# The caption of Z, Fig. 5 calls its random minima uniform samples from the manifold. Networks trained with small steps have
# *more even* entries than uniform minima ([the previous chapter](17_trained_minima.ipynb)), hence a smaller index; their entries
# are not equal, so that minima with equal entries have a smaller index still, and for these the printed order holds. For the
# uniform law, which Z, Lemma 8 takes, it holds on the mean over the widths beyond the threshold. The learning rates of the
# paper's figure are not stated.
#
# The statements on the step size:

# %%
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


def slope_again(law: str) -> tuple[float, float]:
    """The slope with a second seed."""
    return slope_of_difference(measure(law, seed + 1), measure("small", seed + 1))


claims.check(
    "Z9.width_inverse",
    *slope_of_difference(trained["large"], trained["small"]),
    n=min(n_high, n_low),
    second_seed=lambda: slope_again("large"),
)
claims.check(
    "Z9.width",
    *slope_of_difference(trained["root"], trained["small"]),
    n=min(trained["root"][2], n_low),
    second_seed=lambda: slope_again("root"),
)
claims.check(
    "Z9.width_small", *slope_and_error(np.log(widths), low, low_error), n=n_low
)

# %% [markdown]
# So the paper's statement holds for a learning rate like $m^{-1/2}$, and should for any that decays more slowly than $1/m$: the increase with the width is that of
# the step size relative to the threshold, which itself falls like $1/m$, and a step size that decays more slowly crosses it at
# some width. At a fixed multiple of the threshold nothing increases, at a large one ({claim}`Z9.width_inverse`) or at a small one ({claim}`Z9.width_small`).
#
# ## What we found that the paper does not say
#
# - The index of random minima is known exactly ({prf:ref}`thm-pq`); its limit $1 - \pi/4$ for the uniform law is not small.
# - Gradient descent with small steps lies between minima with equal entries and the uniform law.
#
# ## What it means for merging networks
#
# Uneven rows help a matcher, which can leave the small ones over; zero rows match for free. But low barriers need neither:
# with six {term}`teacher <teacher and student>` neurons
# networks trained with small steps from the initial weights of Z, B.1 are less sparse than uniform minima, and yet merge better from about $m = 2M$ on.
#
# Read on: [](17_trained_minima.ipynb) says what lowers their barrier; [](19_double_descent.ipynb) goes to widths below $M$.
#
# ## Exercises
#
# :::{exercise}
# Show that $k$ equal entries and $n - k$ zeros have the PQ index $1 - k/n$. Which share of zero rows gives a network with
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
# By the law of large numbers $\frac1n \sum_i \sqrt{x_i} \to \mathbb E \sqrt X$ and $\frac1n \sum_i x_i \to \mathbb E X$, so the
# index tends to $1 - (\mathbb E \sqrt X)^2/\mathbb E X$: the variance of $\sqrt X$ over the mean of $X$. The entries of a
# Dirichlet law are Gamma variables with parameter $a$ divided by their sum, which does not change the index. As
# $\mathbb E X = a$ and $\mathbb E \sqrt X = c_a$, it is $1 - c_a^2/a$. With $a = 1$, $c_1 = \Gamma(\frac32) = \sqrt\pi/2$.
# :::
#
# :::{try}
# More networks at every point:
#
#     make chapter NAME=sparsity ARGS="-p networks 100 -p steps 8000"
# :::

# %% Versions and time
print(chapter.end())
