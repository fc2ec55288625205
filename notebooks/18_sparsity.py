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
# ---

# %% [markdown]
# # Which minima are sparse
#
# Zhan, Li and Wu {cite:p}`zhan2025` measure sparsity by the PQ index and find that gradient descent is sparser the larger its
# learning rate, and that "the uniformly sampled minima have the smallest PQI". This chapter gives the index of random minima exactly, for
# every law on the simplex that the paper allows. The comparison then depends on two choices: the law, and the step size of
# gradient descent.

# %% tags=["parameters"]
networks: int = 40  # networks per width and step size
steps: int = 4000  # budget of gradient descent
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"]
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(), networks=Integer(4, 100_000), steps=Integer(500, 10_000_000)
)

# %% tags=["hide-input"]
import math

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers.error_bars import slope_and_error
from lmc_helpers.teacher_student.gradient_descent import (
    gradient_descent,
    initial_weights,
)
from lmc_helpers.teacher_student.sparsity import (
    even_sharpness,
    expected_pq,
    pq_index,
)

M, d = 6, 8
widths = [9, 12, 18, 24, 36]
LAWS = {  # step size in units of η₀(m), label, colour
    "small": (lambda m: 0.2, r"$\eta = 0.2\,\eta_0(m)$", "sky"),
    "large": (lambda m: 1.1, r"$\eta = 1.1\,\eta_0(m)$", "red"),
    "root": (
        lambda m: 1.1 * math.sqrt(m / 36),
        r"$\eta \propto m^{-1/2}$",
        "purple",
    ),
}

# %% [markdown]
# ## The index of random minima
#
# ```{prf:theorem} PQ index of random minima
# :label: thm-pq
# Let the type counts be $n_j = 1 + \text{Multinomial}(m - M)$ and the entries of each type Dirichlet with parameter $a$ (uniform: $a = 1$;
# equal entries: $a \to \infty$). The PQ index by neuron with $p = \frac12$, $q = 1$ has the mean
#
# $$
# 1 - \frac{1}{mM} \Bigl( \sum_j \mathbb E\, S_j^2 + \sum_{j \ne k} \mathbb E\, [s(n_j)\, s(n_k)] \Bigr),
# $$
#
# with $c_a = \Gamma(a + \frac12)/\Gamma(a)$, $\mathbb E[S_j^2 \mid n] = 1 + (n - 1)\, c_a^2/a$ and $s(n) = n\, c_a\, \Gamma(na)/\Gamma(na + \frac12)$. As $m \to \infty$
# with $M$ fixed it tends to $1 - c_a^2/a$: to $1 - \pi/4$ for the uniform law and to 0 for equal entries.
# ```
#
# ```{prf:proof}
# The entries sum to $M$, so the index is $1 - S^2/(mM)$ with $S = \sum_i \sqrt{x_i} = \sum_j S_j$. For one type with $n$ entries,
# $\mathbb E\, x_i = \frac1n$, and the moments of the Dirichlet law give $\mathbb E \sqrt{x_i x_k} = c_a^2\, \Gamma(na)/\Gamma(na + 1) = c_a^2/(na)$ and
# $\mathbb E \sqrt{x_i} = c_a\, \Gamma(na)/\Gamma(na + \frac12)$. Sum over $i$ and $k$; entries of two types are independent given the counts.
# For large $m$ all $n_j \approx m/M$, $s(n)^2 \approx n c_a^2/a$, and $S^2/(mM) \to c_a^2/a$.
# ```
#
# So the index of "random minima" can be anything between 0 and 1. B.1 of the paper calls Dirichlet laws and
# "deterministic equal components" reasonable too. Which law is the least sparse is a matter of that choice, and for equal entries and
# even counts the index is exactly 0, the least possible.
#
# ## What gradient descent finds
#
# $M = 6$, $d = 8$. The paper lets the learning rate decay with the width, by a law that it does not state. Here it is a fixed multiple of the threshold
# $\eta_0(m) = 2dM/(m\mu_M)$ of [the chapter on the step size](16_step_size.ipynb), beyond which rows die, or decays like $m^{-1/2}$. {glue:text}`networks` networks a point;
# those that have not reached a loss of $10^{-5}$ after {glue:text}`steps` steps, twice as many beyond the threshold, are left out.

# %% tags=["hide-input"]


def indices(m: int, relative_rate: float, seed: int) -> torch.Tensor:
    """PQ index by neuron of the networks of width m that arrive, (arrived,)."""
    rate = relative_rate * 2 / even_sharpness(m, M, d)
    start = initial_weights(m, d, networks, seed)
    budget = 2 * steps if relative_rate > 1 else steps
    done = gradient_descent(start, M, rate, budget, tol=1e-7)
    arrived = ~done.diverged & (done.loss < 1e-5)
    if arrived.sum() < 2:
        raise ValueError(
            f"{arrived.sum()} of {networks} networks of width {m} arrived in {budget} steps; "
            "allowed: at least 2, so more steps or networks"
        )
    return pq_index(torch.linalg.vector_norm(done.W[arrived], dim=-1))


def measure(law: str, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Mean and standard error at every width, and the smallest number behind them."""
    relative_rate = LAWS[law][0]
    found = [indices(m, relative_rate(m), seed) for m in widths]
    mean = np.array([x.mean().item() for x in found])
    stderr = np.array([x.std().item() / math.sqrt(len(x)) for x in found])
    return mean, stderr, min(len(x) for x in found)


trained = {law: measure(law, seed) for law in LAWS}
uniform = np.array([expected_pq(m, M) for m in widths])
equal = np.array([expected_pq(m, M, math.inf) for m in widths])

figure, axes = figures.panels(height=4.6, squeeze=False)
axis = axes[0, 0]
for law, (_, label, colour) in LAWS.items():
    mean, stderr, _ = trained[law]
    style = dict(color=figures.COLOURS[colour], fmt="o-", linewidth=1.2)
    figures.band(axis, widths, mean, stderr, label=f"trained, {label}", **style)
for values, name, line in (
    (uniform, "uniform law, exact", "--"),
    (equal, "equal entries, exact", ":"),
):
    axis.plot(widths, values, line, color="book:black", label=name)
axis.set(
    xlabel="student neurons $m$", ylabel="PQ index by neuron", ylim=(0, None)
)
figure.legend(loc="outside lower center", ncols=3)
figures.show("fig_pq", figure)
figures.numbers(
    networks=networks,
    steps=steps,
    profile=profile,
    fewest=min(n for *_, n in trained.values()),
)

# %% [markdown]
# ```{glue:figure} fig_pq
# :name: fig-pq
# :alt: PQ index by neuron against width for three laws of the step size, with the exact curves of uniform and of equal entries. Networks trained with small steps lie far below the uniform curve. Beyond the threshold the index lies above that curve for narrow networks and beside it for wide ones. With the slowly decaying step size it rises with the width.
#
# The paper's Fig. 5: PQ index by neuron of trained networks and, exactly, of random minima; bars: ±3.29 standard errors of at least
# {glue:text}`fewest` networks (profile {glue:text}`profile`).
# ```


# %% tags=["nbval-check-output"]
def below_uniform(
    result: tuple[np.ndarray, np.ndarray, int],
) -> tuple[float, float]:
    """Mean over widths of the trained index less the uniform one, and its error."""
    mean, stderr, _ = result
    return (
        float((mean - uniform).mean()),
        float(np.sqrt((stderr**2).sum()) / len(widths)),
    )


value, error = below_uniform(trained["small"])
claims.check(
    "Z9.uniform_least",
    value,
    stderr=error,
    n=trained["small"][2],
    again=lambda: below_uniform(measure("small", seed + 1)),
)

# %% [markdown]
# Networks trained with small steps have *more even* entries than uniform minima ([the previous chapter](17_trained_minima.ipynb)),
# hence a smaller index. The two statements on the step size:

# %% tags=["nbval-check-output"]
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


# %% tags=["nbval-check-output"]
def slopes(
    large: tuple[np.ndarray, np.ndarray, int],
    small: tuple[np.ndarray, np.ndarray, int],
) -> tuple[float, float]:
    """Slope in ln m at the large rate less that at the small one, and its error."""
    error = np.hypot(large[1], small[1])
    return slope_and_error(np.log(widths), large[0] - small[0], error)


value, error = slopes(trained["large"], trained["small"])
claims.check(
    "Z9.width_inverse",
    value,
    stderr=error,
    n=min(n_high, n_low),
    again=lambda: slopes(measure("large", seed + 1), measure("small", seed + 1)),
)


# %% tags=["nbval-check-output"]
value, error = slopes(trained["root"], trained["small"])
claims.check(
    "Z9.width",
    value,
    stderr=error,
    n=min(trained["root"][2], n_low),
    again=lambda: slopes(measure("root", seed + 1), measure("small", seed + 1)),
)

# %% [markdown]
# So the increase with the width is that of the step size relative to the threshold, which itself falls like $1/m$: a step size that decays
# more slowly crosses it at some width. At a fixed multiple of the threshold nothing increases.
#
# ## What we found that the paper does not say
#
# - The index of random minima is known exactly ({prf:ref}`thm-pq`); its limit $1 - \pi/4$ for the uniform law is not small, and a reader may
#   choose any value by choosing the law.
# - Gradient descent with small steps lies *below* the uniform law: it is the least sparse of the two.
#
# ```{admonition} Try it
# :class: tip
# More networks at every point:
#
#     make chapter NAME=sparsity ARGS="-p networks 100 -p steps 8000"
# ```

# %% tags=["hide-input"]
print(chapter.end())
