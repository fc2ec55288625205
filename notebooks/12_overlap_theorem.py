# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Random minima overlap least somewhat beyond twice the teacher's width
#
# *Given a teacher network, at which width do two random minima share the smallest fraction of neurons?*
#
# With many teacher neurons ($M$), at **[[Z3.minimum:.2f]] $M$**, not at $2M$ (proved): a teacher neuron's surplus copies follow a
# Poisson law, not a normal one. The minimum is shallow. At twice the width **[[100 * Z3.limit:.1f]] %** of the neurons find a partner; the paper's
# limit is 71.8 %.
#
# :::{glue:figure} fig_limit
# :alt: Share of neurons that find a partner against the width from M to 6M; the vertical axis begins at 65 %. The exact curve falls from 100 % to 73.5 % at [[Z3.minimum:.2f]] M, marked, and rises slowly; at 2M, marked, it is [[100 * Z3.limit:.1f]] %. The printed curve lies below it and has its minimum, 71.8 %, marked, at 2M.
#
# Share of neurons that find a partner, a copy of the same teacher neuron in the other network, for many teacher neurons; exact. The vertical axis begins at 65 %.
# :::
#
# **How sure.** Proved for large $M$; for every $M$ up to 1000 the minimum is computed exactly. No number on this screen is sampled.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | “overlap proportion will be minimized when $m = 2M$” (sec. 3, on Theorem 5) | [not at $2M$](#Z3.minimum) | at [[Z3.minimum:.4f]] $M$ ({prf:ref}`thm-limit-minimum`) |
# | the limit is $1 - \sqrt{t(1 - t)/\pi}$, $t = M/m$ (eq. 16) | [too low](#Z3.limit) | [[Z3.limit:.4f]] at $2M$, printed 0.7179 ({prf:ref}`thm-limit`) |
# | “decreases first and then increases” (sec. 3) | [true](#Z3.turns_once) | proved for every $M$ ({prf:ref}`thm-unimodal`) |
# | $M = 6$: least at “approximately” $2M = 12$ (sec. 3, on Fig. 1) | [true, within one neuron](#Z3.minimum_at_6) | at [[Z3.minimum_at_6:.0f]] |
# | $M = 20$: least at “approximately” $2M = 40$ (sec. 3, on Fig. 1) | [true, within a fifth](#Z3.minimum_at_20_roughly) | at [[Z3.minimum_at_20:.0f]]: six neurons off, but a flat valley read off a plot |
# | the share $T(m, M) \to 1$ “when $m \to \infty$” (Theorem 5) | [true, like $m^{-1/2}$](#Z3.tends_to_one) | $1 - T \sim \sqrt{(M - 1)/(\pi m)}$ ({prf:ref}`thm-bound`) |
#
# **Open.** Nothing.
#
# **For the authors.** In Theorem 5 print *$m/M = 1 + \nu^*$ with $\nu^* I_1(2\nu^*) = I_0(2\nu^*)$, about [[Z3.minimum:.3f]]*; in (16) the limit of {prf:ref}`thm-limit`; in A.1, before (13), exchange “increases” and “decreases”.

# %% Parameters tags=["parameters"]
M: int = 6  # teacher neurons, left panel of Z, Fig. 1
M_right: int = 20  # teacher neurons, right panel
trials: int = 10_000  # simulated pairs of minima per point, as in the paper
points: int = 30  # widths m per panel
M_max: int = 100  # exhaustive checks run over all teachers up to this size
seed: int = 1  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    M=Integer(2, 1000),
    M_right=Integer(2, 1000),
    trials=Integer(2, 10_000_000),
    points=Integer(4, 1000),
    M_max=Integer(3, 2000),
)

import math

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.special import i0e, i1e
from scipy.stats import binom as binomial
from scipy.stats import poisson

from lmc_helpers import claims, figures, seeds
from lmc_helpers._chapters.overlap_theorem import (
    all_overlaps,
    free_choice_variance,
    minimiser,
    minimiser_shift,
    normal_limit,
    normal_overlap,
    tie_probability,
)
from lmc_helpers.error_bars import ratio_of_means
from lmc_helpers.matching import algorithm_1, pair_matching, permute
from lmc_helpers.teacher_student import (
    expected_overlap,
    minima_barriers,
    overlap,
    sample_minima,
    simulate_overlap,
)

# %% [markdown]
# :::{need}
# You need: binomial and Poisson laws, characteristic functions; the modified Bessel functions $I_0$ and $I_1$ are only
# differentiated. Where the {term}`minima <minimum>` come from: [](11_exact_loss.ipynb). {{ times }}
# :::
#
# ## A neuron finds a partner if the other network has a copy to spare
#
# The student $f_W(x) = \sum_{i=1}^m \sigma(w_i \cdot x)$, $\sigma(z) = \max(0, z)$, learns the {term}`teacher <teacher and student>`
# $f^*(x) = \sum_{j=1}^M \sigma(e_j \cdot x)$ with $M \le d$ and inputs on the unit sphere of $\mathbb R^d$.
#
# :::{prf:definition} Manifold of minima; Z, Lemma 2
# :label: def-manifold
# Let $S_0 = \{0\}$ and $S_j = \{\alpha e_j : \alpha > 0\}$ for $j \le M$. For $m \ge M$ the set $\mathcal M$ of global minima
# holds the matrices $W \in \mathbb R^{m \times d}$ with $w_i \in S_0 \cup \dots \cup S_M$ for all rows $i$ and
# $\sum_{i=1}^m w_{ij} = 1$ for all columns $j \le M$.
# :::
#
# Row $i$ has *type* $j$ if $w_i \in S_j$: it copies teacher neuron $j$. A minimum without zero rows has at least one row
# {term}`of type <type>` $j$, and $\alpha_j$ more. The paper assumes ({term}`Assumption 3`) that the $m - M$ surplus rows choose their types
# at random. Rows of one type are partners. Of the $m$ rows of a minimum
#
# $$
# C = M + \sum_{j=1}^M \min(\alpha^{(1)}_j, \alpha^{(2)}_j),
# \tag{Z 5}
# $$
#
# find one in the other; this share, $C/m$, is the *{term}`overlap`* of the two, and $T(m, M) = \mathbb E\, C/m$ its mean. (The mean number
# $\mathbb E\, C$ only grows with $m$; it is the share that has a valley.)
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $M$, $m$ | neurons of the teacher; neurons of each of the two students |
# | $W$, $w_i$ | weights of a student; its row (neuron) $i$ |
# | $\alpha_j$ | surplus rows of type $j$; $X$ and $Y$ are those of one type in the two networks |
# | $C$, $T$ | rows that find a partner; their mean share |
# | $n$, $p$, $q$ | $m - M$ surplus rows; $1/M$; $1 - 1/M$ |
# | $r$, $t$, $\nu$ | $m/M$; $M/m$; $r - 1$, surplus rows of a type |
# | $I_0$, $I_1$ | modified Bessel functions |

# %% Sample pairs of minima
rng = seeds.numpy_generator(seed, "pairs of minima")
alpha = rng.multinomial(2 * M, np.full(M, 1 / M), size=(2, trials))
C = np.minimum(*alpha).sum(axis=1) + M  # (trials,), Z, eq. (5)
error = C.std(ddof=1) / math.sqrt(trials) / (3 * M)

# %% Plot the idea: the neurons of two minima
own_counts, other_counts = 1 + alpha[:, 0]  # (M,), rows of each type
both_have = np.minimum(own_counts, other_counts)  # (M,), pairs of each type
figure, axis = figures.panels(height=3.3)
types_shown = np.arange(1, M + 1)
for side, of_type, colour in ((-1, own_counts, "blue"), (1, other_counts, "sky")):
    at_type = types_shown + 0.2 * side
    axis.bar(at_type, both_have, 0.36, color=f"book:{colour}")
    axis.bar(
        *(at_type, of_type - both_have, 0.36, both_have),
        **dict(color="white", edgecolor=f"book:{colour}", hatch="////"),
    )
for colour, face, entry in (
    ("blue", "book:blue", "first network, matched"),
    ("sky", "book:sky", "second network, matched"),
    ("grey", "white", "without a partner"),
):
    style = dict(facecolor=face, edgecolor=f"book:{colour}", label=entry)
    axis.bar(1, 0, hatch="////" if face == "white" else None, **style)
axis.set(xlabel="type: the teacher neuron that a row follows", ylabel="rows")
axis.set_xticks(types_shown)
axis.yaxis.get_major_locator().set_params(integer=True)
figures.show("fig_overlap", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_overlap
# :alt: Two bars for each of the types, one for each network. Where the bars of a type have different heights, the surplus of the higher one is hatched; it has no partner.
#
# One pair of minima. Rows of one type are paired until one of the networks has no more of them. Here
# {glue:text}`int(both_have.sum())` of {glue:text}`3 * M` find a partner.
# :::
#
# ## The expected share is a finite sum
#
# The $\alpha_j$ are dependent, but expectations add up. With $X, Y \sim \operatorname{Bin}(n, p)$
# independent and $\min(x, y) = \tfrac12 (x + y - |x - y|)$, the paper obtains
#
# $$
# T(m, M) = 1 - \frac{M}{2m}\, \mathbb E |X - Y|. \tag{Z 13}
# $$
#
# It goes on by simulation and by a normal approximation. Neither is needed.
#
# :::{prf:proposition} $\mathbb E|X - Y|$ as a finite sum
# :label: prop-exact
# Let $q = 1 - p$ and $\varphi(\theta) = \bigl(1 - 2pq(1 - \cos\theta)\bigr)^n$. For $n \ge 1$ and every $N \ge n/2$, with
# $\theta_k = (2k - 1)\pi/(2N)$,
#
# $$
# \begin{aligned}
# \mathbb E|X - Y| &= \frac1\pi \int_0^\pi \frac{1 - \varphi(\theta)}{1 - \cos\theta}\, d\theta \\
# &= \frac1N \sum_{k=1}^N \frac{1 - \varphi(\theta_k)}{1 - \cos\theta_k}.
# \end{aligned}
# $$
# :::
#
# :::{prf:proof}
# $\varphi$ is the characteristic function of $X - Y$, and real. For integers $k$,
# $|k| = \frac1\pi \int_0^\pi \frac{1 - \cos k\theta}{1 - \cos\theta}\, d\theta$ (the Fejér kernel has mean 1). Take
# expectations with $k = X - Y$. The quotient is a polynomial of degree $n - 1$ in $\cos\theta$, and the
# Gauss–Chebyshev rule with $N$ nodes integrates degree $2N - 1$ without error.
# :::
#
# All terms are positive, so nothing cancels: {py:func}`~lmc_helpers.teacher_student.overlap.expected_overlap` is exact up to rounding in
# $O(m)$ operations. In three lines, beside the double sum over the binomial law that it replaces:

# %%
n, p = 2 * M, 1 / M  # m = 3M
theta = (2 * np.arange(1, n // 2 + 1) - 1) * np.pi / (2 * (n // 2))  # (n/2,)
u = 1 - np.cos(theta)
by_nodes = np.mean((1 - (1 - 2 * p * (1 - p) * u) ** n) / u)

j = np.arange(n + 1)
by_double_sum = (
    np.abs(j[:, None] - j) @ binomial.pmf(j, n, p) @ binomial.pmf(j, n, p)
)
print(
    f"E|X - Y| by nodes {by_nodes:.14f}, by the double sum {by_double_sum:.14f}"
)
print(f"T({3 * M}, {M}) = {expected_overlap(3 * M, M):.14f}")

# %% [markdown]
# ## Every curve has one valley
#
# :::{prf:theorem} $T$ falls, then rises
# :label: thm-unimodal
# For every $M \ge 2$ there is an $m^*(M) > M$ such that $T(\cdot, M)$ is strictly decreasing on $M, \dots, m^*$ and
# increasing, strictly but for at most one tie $T(m^* + 1, M) = T(m^*, M)$, from $m^*$ on.
# :::
#
# :::{prf:proof}
# With $n$ surplus rows let $a_n = \mathbb E|X - Y|$ and $c_n = P(X = Y)$. One more row in each network changes $X - Y$ by 1 and by $-1$ with
# probability $pq$ each, which on average changes its size only where $X = Y$: $a_{n+1} = a_n + 2pq\, c_n$. By (Z 13), $T(m + 1, M) < T(m, M)$ exactly if
# $a_{n+1}/(n + 1 + M) > a_n/(n + M)$, that is, if $h(n) = 2pq\,(n + M)\, c_n - a_n > 0$. By the same relation,
#
# $$
# \begin{aligned}
# & h(n + 1) - h(n) \\
# & \quad = 2pq\,(n + 1 + M)(c_{n+1} - c_n),
# \end{aligned}
# $$
#
# which is negative because $c_n = \frac1\pi\int_0^\pi \varphi(\theta)\, d\theta$ decreases strictly in $n$. So $h$ decreases
# strictly; $h(0) = 2pqM > 0$, and since $T \to 1$ it becomes negative.
# :::
#
# The text under Theorem 5 says the same; the sentence of A.1 before (Z 13) has the words
# the other way round (“initially increases monotonically and then decreases”). A tie occurs at $M = 2$: $T(4, 2) = T(5, 2)$.

# %% Compute the valleys of all teachers
curves = {  # T(m, K) for m = K, …, 20 K
    K: all_overlaps(K, 20 * K) for K in range(2, M_max + 1)
}
first_steps = [K * float(T[1] - T[0]) for K, T in curves.items()]
signs = {K: np.sign(np.diff(T)) for K, T in curves.items() if K > 2}
turns = [int((np.diff(sign) != 0).sum()) for sign in signs.values()]

# %%
claims.check("Z3.turns_once", turns)

# %% [markdown]
# ## With many teacher neurons the counts are Poisson, not normal
#
# The second half of Z, Theorem 5 lets $M \to \infty$ with $M/m \to t$. The proof standardises $X$ and $Y$ and calls on a
# central limit theorem (Z 14), which yields $T \to 1 - \sqrt{t(1 - t)/\pi}$ (Z 16), smallest at $t = \tfrac12$. But
# $X \sim \operatorname{Bin}(m - M, 1/M)$ counts rare events: its mean $(m - M)/M \to \nu$ stays bounded, and
# $X$ tends to a Poisson variable.

# %% Plot the laws of one count
figure, axis = figures.panels(height=2.8)
k = np.arange(8)
law = binomial.pmf(k, 1000, 1 / 1000)
axis.bar(k - 0.2, law, 0.4, color="book:blue")
axis.bar(k + 0.2, poisson.pmf(k, 1), 0.4, color="book:sky")
z = np.linspace(-1.5, 7, 300)
density = np.exp(-((z - 1) ** 2) / 2) / math.sqrt(2 * math.pi)
axis.plot(z, density, "--", color="book:black")
axis.text(1.8, 0.38, "Bin(1000, 1/1000) and, pale, Poisson(1)", fontsize=10)
axis.text(2.2, 0.21, "N(1, 1), dashed", fontsize=10)
axis.set(xlabel="surplus rows of one type, $m = 2M$, $M = 1000$")
axis.set(ylabel="probability", ylim=(0, 0.45))
figures.show("fig_laws", figure)

# %% Plot the exact and the printed limit
r = np.linspace(1, 6, 400)
r_star = overlap.minimiser_limit()
limit = [overlap.overlap_limit(v) for v in r]
printed = [normal_limit(1 / v) for v in r]
figure, axis = figures.panels(height=2.7)
axis.plot(r, printed, "--", color="book:red")
axis.plot(r, limit, color="book:blue", linewidth=2.4)
lowest = (2, normal_limit(0.5)), (r_star, overlap.overlap_limit(r_star))
at_2M = overlap.overlap_limit(2)
axis.plot(2, at_2M, "o", color="book:blue", markersize=4)
besides = "", f" (at $2M$ {100 * at_2M:.1f} %)"
for (x, y), colour, down, beside in zip(
    lowest, ("red", "blue"), (-16, 36), besides, strict=True
):
    axis.plot(x, y, "o", color=f"book:{colour}")
    axis.annotate(
        f"{x:.2f} $M$, {100 * y:.1f} %{beside}",
        *((x, y), (-14, down)),
        **dict(textcoords="offset points", color=f"book:{colour}", fontsize=10),
    )
for curve, words, colour in (
    (printed, "as printed", "red"),
    (limit, "exact", "blue"),
):
    end = dict(xytext=(4, -9 if colour == "red" else 3), color=f"book:{colour}")
    axis.annotate(words, (6, curve[-1]), textcoords="offset points", **end)
axis.set(xlim=(1, 6), ylim=(0.65, 1), xlabel="width $m$ of the two networks")
axis.set(ylabel="share that finds a partner", xticks=range(1, 7))
axis.set_xticklabels(["$M$", *(f"${k}M$" for k in range(2, 7))])
axis.yaxis.set_major_formatter("{x:.0%}")
figures.show("fig_limit", figure)

# %% Keep the picture of the finding
figure, axis = figures.card()
axis.plot(r, printed, "--", color="book:orange", label="as printed")
axis.plot(r, limit, color="book:blue", label="exact")
axis.plot(2, min(printed), "v", color="book:orange", markersize=9)
axis.plot(r_star, min(limit), "v", color="book:blue", markersize=9)
axis.set(
    xlabel="student's width / teacher's width", ylabel="share with a partner"
)
axis.legend()
figures.keep(figure)

# %% [markdown]
# :::{glue:figure} fig_laws
# :alt: Probabilities of 0 to 7 surplus rows of one type. The bars of the binomial and of the Poisson law coincide: 0.37, 0.37, 0.18, 0.06, … The normal density, a dashed bell around 1, does not: it is 0.24 at 0 and goes on below 0.
#
# The law of one count at $m = 2M$: binomial and Poisson bars coincide, the normal density does not.
# :::
#
# :::{prf:theorem} The limit; corrects Z, eq. (16)
# :label: thm-limit
# Let $M \to \infty$, $m/M \to r \ge 1$ and $\nu = r - 1$. Then $T(m, M) \to T_\infty(r)$,
#
# $$
# \begin{aligned}
# T_\infty(r) &= 1 - \frac{\nu}{1 + \nu}\, g(2\nu), \\
# g(x) &= e^{-x} \bigl( I_0(x) + I_1(x) \bigr),
# \end{aligned}
# $$
#
# with modified Bessel functions $I_0$, $I_1$. For $0 < t = 1/r < 1$ the printed limit is strictly smaller,
# $1 - \sqrt{t(1 - t)/\pi} < T_\infty(1/t)$, and $1 - T_\infty(1/t) \sim \sqrt{t(1 - t)/\pi}$ as $t \to 0$.
# :::
#
# :::{prf:proof}
# In {prf:ref}`prop-exact`, $n = \nu M + o(M)$ and $p = 1/M$ give $\varphi(\theta) \to e^{-2\nu(1 - \cos\theta)}$, and
# $0 \le (1 - \varphi)/(1 - \cos\theta) \le 2npq$ is bounded. With $u = 1 - \cos\theta$, by dominated convergence $\mathbb E|X - Y| \to G(\nu)$,
#
# $$
# \begin{aligned}
# G(\nu) &= \frac1\pi \int_0^\pi \frac{1 - e^{-2\nu u}}{u}\, d\theta, \\
# G'(\nu) &= \frac2\pi \int_0^\pi e^{-2\nu u}\, d\theta \\
# &= 2 e^{-2\nu} I_0(2\nu).
# \end{aligned}
# $$
#
# $G(0) = 0$, and the derivative of $2\nu\, g(2\nu)$ is the same, because $I_0' = I_1$ and
# $I_1'(x) = I_0(x) - I_1(x)/x$. Insert $G$ into (Z 13), with $M/m \to 1/(1 + \nu)$.
#
# Now $1 - T_\infty = \frac{\sqrt\nu}{1 + \nu} \cdot \sqrt\nu\, g(2\nu)$, and the printed deficit is $\sqrt{t(1 - t)/\pi} = \frac{\sqrt\nu}{1 + \nu} \cdot \frac1{\sqrt\pi}$. The factor
# $\sqrt\nu\, g(2\nu)$ has the derivative $\frac{e^{-2\nu}}{2\sqrt\nu} (I_0(2\nu) - I_1(2\nu)) > 0$ and the limit
# $1/\sqrt\pi$ as $\nu \to \infty$, since $e^{-x} I_k(x) \sim 1/\sqrt{2\pi x}$.
# :::
#
# (Z 16) survives as a lower bound, and as the leading term when the student is much wider than the teacher. At the
# other end it has the wrong order: just above $m = M$ the deficit $1 - T$ grows like $\nu$, not like $\sqrt\nu$. The two
# limits at $m = 2M$, beside exact values:

# %%
nu = 1.0  # m = 2M, t = 1/2
limit_2 = 1 - nu / (1 + nu) * (i0e(2 * nu) + i1e(2 * nu))  # i0e(x) = e^(−x) I₀(x)
printed_2 = 1 - math.sqrt(0.5 * (1 - 0.5) / math.pi)  # Z, eq. (16)
large = 10_000
at_2 = {K: expected_overlap(2 * K, K) for K in (10, 100, 1000, large)}
for K, T in at_2.items():
    print(f"T({2 * K}, {K}) = {T:.6f}")
print(f"limit {limit_2:.6f}, printed limit {printed_2:.6f}")

# %%
claims.check("Z3.limit", at_2[large], n=1)

# %% [markdown]
# ## So the bottom moves from $2M$ to $2.29 M$
#
# :::{prf:theorem} Minimum of the limit; corrects Z, Theorem 5
# :label: thm-limit-minimum
# $T_\infty$ has exactly one minimum on $[1, \infty)$, at $r^* = 1 + \nu^*$, where $\nu^*$ is the only positive root of
#
# $$
# \nu\, I_1(2\nu) = I_0(2\nu).
# $$
# :::
#
# :::{prf:proof}
# With $g$ as above, $g'(x) = -e^{-x} I_1(x)/x$, so that
#
# $$
# \begin{aligned}
# & \frac{d}{d\nu} \frac{\nu\, g(2\nu)}{1 + \nu} \\
# & \quad = \frac{e^{-2\nu}}{(1 + \nu)^2} \bigl( I_0(2\nu) - \nu I_1(2\nu) \bigr).
# \end{aligned}
# $$
#
# The ratio $I_1/I_0$ increases from 0 to 1, hence $\nu I_1/I_0$ increases from 0 to $\infty$ and passes 1 once.
# :::
#
# Numerically $\nu^* =$ {glue:text}`r_star - 1:.6f` and
# $T_\infty(r^*) =$ {glue:text}`overlap.overlap_limit(r_star):.4f`, where the paper's limit has the minimum {glue:text}`normal_limit(0.5):.4f`. For finite $M$ the
# bottom is $\lceil r^* M + c + O(1/M) \rceil$ with $c =$ {glue:text}`shift:.4f` ({prf:ref}`thm-finite-minimum`).

# %% Find the bottom for every number of teachers
nu = brentq(lambda nu: nu * i1e(2 * nu) - i0e(2 * nu), 1, 2, xtol=1e-14)  # ν*
theta = (np.arange(200) + 0.5) * np.pi / 200
u = 1 - np.cos(theta)
weight = np.exp(-2 * nu * u)  # ⟨f⟩ is the mean of f · weight
one, mean_u, mean_u2 = (np.mean(f * weight) for f in (1, u, u**2))
G = 2 * nu * (i0e(2 * nu) + i1e(2 * nu))
H_1 = 2 * nu * (1 + nu) * (mean_u - mean_u2) - G / 2 + nu * (one - mean_u)
c = -H_1 / (2 * i1e(2 * nu) * (1 - nu**2))

sizes = np.arange(2, 1001)
bottoms = np.array([minimiser(int(K)) for K in sizes])  # exact m*(M)
predicted = np.ceil((1 + nu) * sizes + c)
for K in (6, 20, 1000):
    print(f"M = {K}: m* = {bottoms[K - 2]}, ⌈r* M + c⌉ = {predicted[K - 2]:.0f}")

# %%
claims.check("Z3.minimum", minimiser(large) / large, n=1)

# %% [markdown]
# ## In the paper's figure the valley is too flat to see it
#
# Z, Fig. 1 simulates $10^4$ pairs per point. The normal approximation before its limit (Z 15) misses the points, the exact value does not.

# %% Simulate Z, Fig. 1
widths = {
    K: np.unique(np.linspace(K, 6 * K, points).round().astype(int))
    for K in (M, M_right)
}


def simulate(seed: int) -> dict[int, np.ndarray]:
    """Mean and error at every width of both panels, M → (points, 2)."""
    return {
        K: np.array(
            [simulate_overlap(int(m), K, trials, seed) for m in widths[K]]
        )
        for K in widths
    }


simulated = simulate(seed)

# %% Plot Z, Fig. 1
figure, axes = figures.panels(2, height=3.4, sharey=True)
for axis, K in zip(axes, (M, M_right), strict=True):
    ms = np.arange(K, 6 * K + 1)
    exact = np.array([expected_overlap(int(m), K) for m in ms])
    normal = [normal_overlap(int(m), K) for m in ms]
    axis.plot(ms, exact, color="book:blue")
    axis.plot(ms, normal, "--", color="book:red")
    figures.band(axis, widths[K], *simulated[K].T, color="book:black")
    axis.axvline(2 * K, color="book:grey", linestyle=":")
    axis.plot(minimiser(K), exact.min(), "o", color="book:blue")
    place = dict(textcoords="offset points", fontsize=10)
    axis.annotate("$2M$", (2 * K, 0.97), xytext=(4, 0), **place)
    words, at = f"bottom at {minimiser(K)}", (minimiser(K), exact.min())
    axis.annotate(words, at, xytext=(-4, 14), color="book:blue", **place)
    low = (ms[len(ms) // 2], normal[len(ms) // 2])
    axis.annotate("normal", low, xytext=(4, -14), color="book:red", **place)
    axis.set(title=f"$M = {K}$", xlabel="student neurons $m$")
axes[0].set_ylabel("expected share $T(m, M)$")
figures.show("fig_simulation", figure)

# %% [markdown]
# :::{glue:figure} fig_simulation
# :alt: Two panels of overlap against width. Simulated points lie on the exact curve, which falls to about three quarters just beyond twice the teacher's width and then rises; the normal approximation runs visibly below. The vertical axis does not begin at 0.
#
# Z, Fig. 1, for $M =$ {glue:text}`M` and $M =$ {glue:text}`M_right`; points: {glue:text}`trials` simulated pairs with bars of ±3.29 standard
# errors (profile {glue:text}`profile`), blue: exact. The vertical axis does not begin at 0.
# :::
#
# The paper reads its figure as “reaching its minimum value when $m$ is approximately equal to $2M$”. How near is approximately?
#
# | $M$ | $2M$ | exact bottom | to one neuron | to a fifth | pairs per point that tell $2M$ from the bottom |
# | --- | --- | --- | --- | --- | --- |
# | 6 | 12 | [[Z3.minimum_at_6:.0f]] | [true](#Z3.minimum_at_6) | true | {glue:text}`in_words(pairs_needed(12, 6))` |
# | 20 | 40 | [[Z3.minimum_at_20:.0f]] | [false](#Z3.minimum_at_20) | [true](#Z3.minimum_at_20_roughly) | {glue:text}`in_words(pairs_needed(40, 20))` |
#
# The second tolerance was added when the place was known; both stand here. At $M = 20$ the bottom lies only
# {glue:text}`depth_40:.4f` below the value at $m = 40$: the eye does not see it, although the paper's $10^4$ pairs do tell the two apart.

# %%
claims.check("Z3.minimum_at_6", bottoms[6 - 2], n=1)
claims.check("Z3.minimum_at_20", bottoms[20 - 2], n=1)
claims.check("Z3.minimum_at_20_roughly", bottoms[20 - 2], n=1)

# %% [markdown]
# ## Very wide networks match completely, but slowly
#
# From $(\mathbb E|X - Y|)^2 \le \operatorname{Var}(X - Y)$ the paper concludes
# $T \ge 1 - \sqrt{2(m - M)(M - 1)}/(2m) \to 1$ for fixed $M$ (Z, A.1). That is right, and more is true.
#
# :::{prf:theorem} Speed, and the normal approximation as a bound
# :label: thm-bound
# For all $m > M \ge 2$,
#
# $$
# 1 - T < \frac1m \sqrt{\frac{(m - M)(M - 1)}{\pi}},
# $$
#
# and $1 - T(m, M) \sim \sqrt{(M - 1)/(\pi m)}$ as $m \to \infty$ with $M$ fixed. So the normal approximation (Z 15),
# before its limit is taken, is a strict lower bound of $T$.
# :::

# %% Measure the speed
slopes = []  # of log(1 − T) against log m
for K in (2, 6, 20, 100):
    low, high = (1 - expected_overlap(k * K, K) for k in (500, 1000))
    slopes.append(math.log(high / low) / math.log(2))

# %%
claims.check("Z3.tends_to_one", slopes)

# %% [markdown]
# ## For merging: the hardest width is a fixed multiple of what the task needs
#
# The picture that the authors draw stands: matching is hardest at a fixed multiple of the width that the task needs, and
# nearly perfect far beyond. But far is far: the unmatched share falls only like $m^{-1/2}$. The overlap counts neurons,
# not their weights. What a merge pays is the *barrier*, which vanishes much faster ([](14_barrier_rate.ipynb)) and peaks elsewhere
# ([](15_barrier_peak.ipynb)). [](17_trained_minima.ipynb) asks whether trained networks have such types.
#
# ## Evidence
#
# ### The minima that are sampled
#
# One minimum with $m = 8$, $M = 3$, $d = 4$; Assumption 3 lets $\alpha$ follow
# $\operatorname{Multinomial}(m - M; \tfrac1M, \dots, \tfrac1M)$ and makes the entries of one type uniform on the simplex. Every such matrix is
# a minimum, as $\sigma$ is {term}`positively homogeneous <homogeneous activation>`: the rows of type $j$ add up to
# $\sum_i w_{ij}\, \sigma(x_j) = \sigma(e_j \cdot x)$. That there are no *other* minima is proven in [](11_exact_loss.ipynb).

# %% Sample one minimum
W = sample_minima(m=8, M=3, d=4, n=1, seed=seed)[0]  # (m, d)
print(np.array2string(W.numpy(), precision=3, suppress_small=True))

# %% [markdown]
# The loss is zero there, for every input distribution. Sampled minima, compared with the teacher as functions:

# %% Compare sampled minima with the teacher
minima = sample_minima(m=20, M=6, d=8, n=1000, seed=seed)  # (n, m, d)
generator = seeds.torch_generator(seed, "inputs")
x = torch.randn(500, 8, generator=generator, dtype=torch.float64)
x = x / x.norm(dim=-1, keepdim=True)  # (500, d), uniform on the sphere
students = torch.relu(x @ minima.mT).sum(dim=-1)  # (n, 500), f_W
teacher = torch.relu(x[:, :6]).sum(dim=-1)  # (500,), f*
deviation = ((students - teacher).abs().amax() / teacher.abs().amax()).item()

# %%
claims.check("Z1.sampled", deviation, n=len(minima))

# %% [markdown]
# The words before the formula of Assumption 3, “each neuron is equally likely to be assigned to each type”, could be read
# otherwise; the paper sets the parameter to $m - M$ “to tackle the constraint that each type has at least one neuron”. If all $m$ rows chose freely, and choices that leave a type empty were rejected, the type counts would vary
# more. The book follows the formula, as the paper's proofs and Z, B.1 do; the variance of the counts, divided by that of
# the formula, shows that its sampler does:


# %% Measure the variance of the type counts
def variance_ratio(
    seed: int, n: int = 20_000, m: int = 10, M: int = 5
) -> tuple[float, float]:
    """Variance of the type counts over that of Bin(m − M, 1/M), and its error."""
    rows = sample_minima(m, M, M, n, seed, law="equal") > 0  # (n, m, M)
    spread = (rows.sum(dim=1).double() - m / M).square().mean(dim=-1)  # (n,)
    ratio = spread / ((m - M) / M * (1 - 1 / M))
    return ratio.mean().item(), ratio.std().item() / math.sqrt(n)


ratio, ratio_stderr = variance_ratio(seed)
free = free_choice_variance(10, 5) / (5 / 5 * (1 - 1 / 5))  # the words
print(f"sampler {ratio:.3f} ± {ratio_stderr:.3f}, formula 1, words {free:.3f}")

# %%
claims.check(
    "Z13.sampler",
    ratio,
    stderr=ratio_stderr,
    n=20_000,
    rival=free,
    second_seed=lambda: variance_ratio(seed + 1),
)

# %% [markdown]
# [](17_trained_minima.ipynb) tests by gradient descent whether trained networks have such types, and finds that they have not.
#
# If the type vectors of two minima are equal, $C = m$, and after a permutation that pairs the types all points between them are minima.
# “There is little chance” of that, says the paper (Z, section 3). The
# chance is $\sum_\alpha P(\alpha)^2 = n!^2 M^{-2n} [x^n] \bigl( \sum_k x^k/k!^2 \bigr)^M$:


# %% Compute how often two type vectors are equal
def same_types(m: int, M: int) -> float:
    """Probability that two minima have equal type vectors."""
    n = m - M
    one = [1 / math.factorial(k) ** 2 for k in range(n + 1)]
    power = np.array([1.0])
    for _ in range(M):
        power = np.convolve(power, one)[: n + 1]
    return float(power[n]) * (math.factorial(n) / M**n) ** 2


chances = {(m, K): same_types(m, K) for m, K in ((7, 6), (12, 6), (40, 20))}
for (m, K), chance in chances.items():
    print(f"m = {m}, M = {K}: equal type vectors with probability {chance:.2g}")

# %%
claims.check("Z3.same_types", max(chances[12, 6], chances[40, 20]), n=1)

# %% [markdown]
# ### The simulation against the exact value
#
# Over all points of both panels of Z, Fig. 1, the mean of the simulated $1 - T$ relative to the exact one, and to the normal
# approximation:

# %% Compare simulation, exact value and normal approximation
surplus = [(int(m), K) for K in widths for m in widths[K][1:]]  # at m = M, 0 = 0
deficit = np.array([1 - expected_overlap(m, K) for m, K in surplus])
normal = np.array([1 - normal_overlap(m, K) for m, K in surplus])


def deviation_from_exact(simulated: dict[int, np.ndarray]) -> tuple[float, float]:
    """Mean relative deviation of the simulated 1 − T, and its error."""
    mean, stderr = np.concatenate([simulated[K][1:] for K in widths]).T
    error = np.linalg.norm(stderr / deficit) / len(deficit)
    return float(((1 - mean) / deficit - 1).mean()), float(error)


value, stderr = deviation_from_exact(simulated)
rival = float((normal / deficit - 1).mean())
print(f"simulated 1 - T over the exact one, less 1: {value:.4f} ± {stderr:.4f}")
print(f"normal approximation over the exact one, less 1: {rival:.4f}")

# %%
claims.check(
    "Z3.exact",
    value,
    stderr=stderr,
    n=trials * len(surplus),
    rival=rival,
    second_seed=lambda: deviation_from_exact(simulate(seed + 1)),
)

# %% [markdown]
# ### The bound of the speed
#
# The proof of {prf:ref}`thm-bound`:
#
# :::{prf:proof}
# Write $D_n = X - Y$, $a_n = \mathbb E|D_n|$, $c_n = P(D_n = 0)$ and $c'_n = P(D_n = 1)$. One more trial changes $D$ by
# $+1$ or $-1$ with probability $pq$ each, which changes $|D|$ on average only if $D = 0$:
#
# $$
# a_{n+1} = a_n + 2pq\, c_n, \quad c_{n+1} = (1 - 2pq)\, c_n + 2pq\, c'_n. \tag{a}
# $$
#
# Integrating $\frac1\pi \int \frac{1 - \varphi}{1 - \cos\theta}$ by parts, with antiderivative $-\cot(\theta/2)$ of
# $1/(1 - \cos\theta)$, gives $a_n = 2npq\, (c_{n-1} + c'_{n-1})$. Now $c_{n-1} \ge c'_{n-1}$, because
# $\frac1\pi\int_0^\pi \varphi\, (1 - \cos\theta)\, d\theta \ge 0$, and $4pq \le 1$; so by (a)
#
# $$
# \begin{aligned}
# & 2c_n - (c_{n-1} + c'_{n-1}) \\
# & \quad = (1 - 4pq)\,(c_{n-1} - c'_{n-1}) \ge 0,
# \end{aligned}
# $$
#
# that is $a_n \le 4npq\, c_n$. Hence $a_{n+1} = a_n + 2pq\, c_n$ is at least $a_n \bigl(1 + \tfrac1{2n}\bigr)$, which is
# more than $a_n \sqrt{1 + 1/n}$: the sequence $a_n/\sqrt n$ increases strictly. For fixed $p$ the central limit theorem does apply, and with bounded second
# moments $a_n/\sqrt n \to 2\sqrt{pq/\pi}$. So $a_n < 2\sqrt{npq/\pi}$; insert $pq = (M - 1)/M^2$ into (Z 13).
# :::
#
# The deficit $1 - T$ over the paper's bound, for all teachers up to $M =$ {glue:text}`M_max`, stays below
# $\sqrt{2/\pi} \approx$ {glue:text}`math.sqrt(2 / math.pi):.4f`:

# %% Divide the deficit by the paper's bound
ratios = {}  # 1 − T over the paper's bound
for K, T in curves.items():
    m = np.arange(K + 1, 20 * K + 1)
    ratios[K] = (1 - T[1:]) / (np.sqrt(2 * (m - K) * (K - 1)) / (2 * m))
largest = [float(one.max()) for one in ratios.values()]
sharpest = max(largest)
print(f"largest ratio {sharpest:.6f}, √(2/π) = {math.sqrt(2 / math.pi):.6f}")

# %%
claims.check("Z3.variance_bound", largest)

# %% [markdown]
# ### Along the valley
#
# Move the width: both laws spread, and $T$ is the mean of the orange one, the rows that find a partner, over the mean of the blue one.

# %% Plot the valley, to walk along
along = np.unique(np.linspace(M, 6 * M, 31).round().astype(int))  # widths m
rows = np.arange(1, 16)  # of one type
trials_each, chance = (along - M)[:, None], 1 / M
enough = binomial.sf(rows - 2, trials_each, chance)  # P(at least r rows)
more = binomial.sf(rows - 1, trials_each, chance)
floor = np.array([expected_overlap(int(size), M) for size in along])
means = np.stack([along / M, floor * along / M], axis=1)  # of one, of the fewer
scene = figures.Moving(
    "student neurons $m$",
    [str(size) for size in along],
    [
        f"of {one:.2f} rows of a type {fewer:.2f} find a partner: $T$ = {share:.3f}"
        for (one, fewer), share in zip(means, floor, strict=True)
    ],
    start=int(floor.argmin()),
)
laws = scene.panel(xlabel="rows of one type", ylabel="probability", ylim=(0, 1))
for law, shift, colour, label, place in (
    (enough - more, -0.2, "blue", "in one network", means[:, :1]),
    (enough**2 - more**2, 0.2, "orange", "the fewer of two", means[:, 1:]),
):
    laws.draw(rows + shift, law, "bars", colour, label, width=0.4)
    laws.draw(place.repeat(2, axis=1), [0, 1], "--", colour, f"mean, {label}")
curve = scene.panel(xlabel="student neurons $m$", ylabel="overlap $T(m, M)$")
widest_first = np.arange(M, 6 * M + 1)
every = [expected_overlap(int(size), M) for size in widest_first]
curve.draw(widest_first, every, "-", "black", "$T$, (Z 13)")
curve.draw([2 * M] * 2, [min(every), 1], ":", "grey", "$m = 2M$")
curve.draw(along[:, None], floor[:, None], "o", "red", "this width")
scene.show("fig_valley")

# %% [markdown]
# :::{glue:figure} fig_valley
# :alt: First panel, the law of the number of rows of one type in one network, and of the smaller number of two networks, with their means. Second panel, the expected overlap against the width, a valley whose bottom lies beyond twice the teacher's width, with a dot at the width that is shown.
#
# Along the valley for $M =$ {glue:text}`M`. First panel: the number of rows of one type in one network, $1 + X$, and in that of two networks which has fewer, $1 + \min(X, Y)$; dashed, their means, $m/M$ and $T m/M$. Second panel: the quotient of the two means. Exact.
# :::
#
# The sign of $h$ in {prf:ref}`thm-unimodal` gives the bottom $m^*(M)$:

# %% Find the bottom by its sign
n, p = np.arange(4 * M), 1 / M
a = [overlap.mean_absolute_difference(int(k), p) for k in n]  # E|X − Y|
ties = [tie_probability(int(k), p) for k in n]  # P(X = Y)
h = 2 * p * (1 - p) * (n + M) * np.array(ties) - a
print(f"h decreases: {(np.diff(h) < 0).all()}")
print(f"m*({M}) = {M + int((h <= 1e-12).argmax())}")

# %%
claims.check("Z3.falls_first", max(first_steps), n=len(first_steps))

# %% [markdown]
# ### How fast the limit is reached
#
# The exact values approach the limit like $1/M$: over $1 \le m/M \le 6$ the largest distance is {glue:text}`gaps[100]:.4f` for
# $M = 100$ and {glue:text}`gaps[1000]:.5f` for $M = 1000$. The printed limit stays off by up to {glue:text}`float(np.max(np.subtract(limit, printed))):≤.3f`.

# %% Measure how far finite numbers are from the limit
gaps = {
    K: max(
        abs(
            expected_overlap(round(v * K), K)
            - overlap.overlap_limit(round(v * K) / K)
        )
        for v in r[::20]
    )
    for K in (100, 1000)
}

# %% [markdown]
# ### The bottom for finite $M$
#
# :::{prf:theorem} Minimum for finite $M$
# :label: thm-finite-minimum
# For $M \ge 2$ the smallest minimiser is $M$ plus the least $n$ with $h(n) \le 0$, $h$ from {prf:ref}`thm-unimodal`, and
#
# $$
# \begin{aligned}
# m^*(M) &= \bigl\lceil r^* M + c + O(1/M) \bigr\rceil, \\
# c &= \frac{e^{2\nu^*} H_1(\nu^*)}{2\, I_1(2\nu^*) \bigl((\nu^*)^2 - 1\bigr)},
# \end{aligned}
# $$
#
# where, with $u = 1 - \cos\theta$ and $\langle f \rangle = \frac1\pi \int_0^\pi f\, e^{-2\nu u}\, d\theta$,
#
# $$
# \begin{aligned}
# H_1 = {}& 2\nu(1 + \nu)\bigl(\langle u \rangle - \langle u^2 \rangle\bigr) \\
# & - \tfrac12 G + \nu \bigl(\langle 1 \rangle - \langle u \rangle\bigr).
# \end{aligned}
# $$
# :::
#
# :::{prf:proof}
# The first statement is {prf:ref}`thm-unimodal`. With $n = \nu M$, up to terms of order $M^{-2}$, uniformly in $\theta$ and on
# compact sets of $\nu$,
#
# $$
# \begin{aligned}
# \log\varphi &\approx -2\nu u + \tfrac{2\nu}{M} (u - u^2), \\
# \frac{h}{2pqM} &\approx H_0 + \tfrac1M H_1,
# \end{aligned}
# $$
#
# the second since $c_n \approx \langle 1 \rangle + \frac{2\nu}{M} (\langle u \rangle - \langle u^2 \rangle)$,
# $a_n \approx G - \frac{2\nu}{M} (\langle 1 \rangle - \langle u \rangle)$ and
# $h/(2pqM) = (1 + \nu)\, c_n - a_n/(2(1 - \frac1M))$. Here $H_0 = e^{-2\nu}(I_0 - \nu I_1)$, whose derivative at its root is
# $2 e^{-2\nu} I_1 (1 - \nu^2) < 0$, since $\nu^* > 1$. So $h$ changes sign at $n = \nu^* M + c + O(1/M)$.
# :::

# %% Plot the place of the minimum
spread = {}  # standard deviation of one pair's overlap at the minimum
for K in (6, 20):
    at_bottom = simulate_overlap(minimiser(K), K, trials, seed)
    spread[K] = at_bottom[1] * math.sqrt(trials)

figure, (first, second) = figures.panels(2, height=3.4)
first.semilogx(sizes, bottoms / sizes, ".", markersize=3, color="book:blue")
first.axhline(2, color="book:red", linestyle="--")
first.axhline(r_star, color="book:black", linewidth=1)
place = dict(textcoords="offset points", fontsize=10)
first.annotate("Z, Theorem 5", (60, 2), xytext=(0, 5), **place)
first.annotate("$r^*$, the limit", (60, r_star), xytext=(0, 7), **place)
first.set(xlabel="teacher neurons $M$", ylabel="$m^*(M)/M$", ylim=(1.95, 2.4))
ms = np.arange(20, 101)
depth = np.array([expected_overlap(int(m), 20) for m in ms])
second.plot(ms, depth - depth.min(), ".-", markersize=3, color="book:blue")
for power, colour in ((4, "book:sky"), (6, "book:green")):
    height = figures.BAND * spread[20] * math.sqrt(2 / 10**power)
    second.axhspan(0, height, color=colour, alpha=0.3)
    words = f"not told apart by $10^{power}$ pairs"
    second.annotate(words, (59, height), xytext=(0, 3), **place)
second.set(xlabel="student neurons $m$, $M = 20$", ylabel="$T$ above its minimum")
second.set(ylim=(0, 0.02), xlim=(20, 100))
figures.show("fig_minimum", figure)


# %% Count the pairs that tell two widths apart
def pairs_needed(m: int, K: int) -> float:
    """Pairs a point that tell T(m, K) from its minimum at two-sided 10⁻³."""
    gap = expected_overlap(m, K) - expected_overlap(minimiser(K), K)
    return 2 * (figures.BAND * spread[K] / gap) ** 2


def in_words(count: float) -> str:
    """A large number as people say it."""
    known = float(f"{count:.2g}")  # two digits
    return f"{known / 1e6:,.0f} million" if count >= 1e6 else f"{known:,.0f}"


figures.numbers(
    shift=minimiser_shift(),
    depth_40=expected_overlap(40, 20) - expected_overlap(46, 20),
)

# %% [markdown]
# :::{glue:figure} fig_minimum
# :alt: First panel, the minimiser divided by M scatters between 2 and 2.34 for small M and settles at 2.29, above the printed 2; the vertical axis begins at 1.95. Second panel, the valley for twenty teachers is so flat that ten thousand pairs cannot tell its bottom from widths several neurons away.
#
# First panel: $m^*(M)/M$, exact for every $M$ from 2 to 1000, against $r^*$ and the printed 2; its vertical axis begins at 1.95. Second panel: the
# valley at $M = 20$, with the differences that a simulation of $10^4$ or $10^6$ pairs per point cannot resolve at two-sided $10^{-3}$
# (spread measured with {glue:text}`trials` pairs, profile {glue:text}`profile`).
# :::
#
# The formula $\lceil r^* M + c \rceil$ gives the exact minimiser for {glue:text}`int((bottoms == predicted).sum())` of the {glue:text}`len(sizes)` values $M = 2, \dots, 1000$;
# $c$ shifts it by less than a neuron, the same for every $M$. At $M = 20$ about {glue:text}`in_words(pairs_needed(40, 20))` pairs per point tell the bottom from
# $m = 40$, fewer than the paper's $10^4$; to tell it from $m = 45$ takes {glue:text}`in_words(pairs_needed(45, 20))`.
#
# (“If $P = 0.5$, say, then half of the neurons cannot be matched”, Z, section 3: no width has so low a share on average.)
#
# ### Zero rows
#
# The paper's global minima may have zero rows, too, which “will incur no barrier when pairing” (Z, section 5). How many does it take
# to remove the whole {term}`barrier`, the largest loss on the line between the two networks? The overlap says so exactly:
#
# :::{prf:theorem} How many zero rows remove the barrier
# :label: thm-zero-rows
# Give each of two minima without zero rows, of $m$ rows and $M \ge 2$ types, $z$ zero rows. Some order of the rows leaves no
# barrier if and only if
#
# $$
# z \ge m - C = \sum_j \bigl( \alpha^{(1)}_j - \alpha^{(2)}_j \bigr)_+ .
# $$
#
# Under Assumption 3 the mean of this number is $m (1 - T(m, M)) \sim \sqrt{(M - 1)\, m/\pi}$ as $m \to \infty$.
# :::
#
# :::{prf:proof}
# On the segment between $a e_p$ and $b e_q$, $a, b \ge 0$, $\sigma(w \cdot x)$ is at most the chord, as $\sigma$ is convex. It is the
# chord for every $x$ if $p = q$ or $ab = 0$; otherwise it is below it where $x_p > 0 > x_q$. Both ends compute $f^*$, so there is no
# barrier if and only if every place has rows of one type or a zero row. At most $C$ places have two rows of one type. The other rows of
# $W^{(1)}$, $m - C$ or more, need zero rows of $W^{(2)}$; and $m - C$ in each network suffice for all rows without a partner.
# The mean is that of $C$, and its order that of {prf:ref}`thm-bound`.
# :::
#
# (Teachers in any directions will do, with rays as types; but outgoing weights of both signs could cancel. With zero rows there before: {prf:ref}`thm-types`. What fewer leave: {prf:ref}`cor-zero-rows`.)
# For pairs with $m = 12$ and $M = 6$, by the pairing with the least mean error halfway ({prf:ref}`thm-assignment`), which is 0 if and
# only if there is no barrier:


# %% Add zero rows to pairs of minima
def padded(W: torch.Tensor, z: int) -> torch.Tensor:
    """A network (m, d) with z zero rows more."""
    return torch.cat([W, torch.zeros(z, W.shape[-1], dtype=W.dtype)])


def height_with(a: torch.Tensor, b: torch.Tensor, z: int) -> float:
    """The barrier after pair matching, z zero rows in each network."""
    a, b = padded(a, z), padded(b, z)
    return float(minima_barriers(a, b[pair_matching(a, b)], M=6))


left, enough, lacking = [], [], []  # barriers relative to that without zero rows
for a, b in zip(*sample_minima(12, 6, 6, 200, seed + 1).split(100), strict=True):
    lacks = (a > 0).sum(dim=0) - (b > 0).sum(dim=0)  # (M,), surplus of the types
    if (z := int(lacks.clamp(min=0).sum())) > 0:
        before = height_with(a, b, 0)
        left.append(z)
        enough.append(height_with(a, b, z) / before)
        lacking.append(height_with(a, b, z - 1) / before)
print(f"{np.mean(left):.2f} zero rows leave at most {max(enough):.0e} of it,")
print(f"one less leaves {min(lacking):.0e} or more")

# %% [markdown]
# The paper goes on that “this sparsity is indeed beneficial” (Z, section 5). At the same width, with zero rows in the place of others
# and rows in random order, after {term}`Algorithm 1`:


# %% Put zero rows in the place of others
def with_zero_rows(n: int, seed: int) -> np.ndarray:
    """Barriers of pairs of 18 rows and 6 zero rows, and of 24 rows, (2, n)."""
    heights = []
    for rows in (18, 24):
        W = sample_minima(rows, 6, 6, 2 * n, seed)
        W = torch.cat([W, W.new_zeros(2 * n, 24 - rows, 6)], dim=1)
        order = seeds.torch_generator(seed, f"places of {rows} rows")
        places = torch.rand(2 * n, 24, generator=order).argsort(dim=1)
        a, b = W.take_along_dim(places[..., None], dim=1).split(n)
        heights.append(minima_barriers(a, permute(b, algorithm_1(a, b)), M=6))
    return np.stack(heights)


beneficial = ratio_of_means(*with_zero_rows(200, seed + 2))
print("a quarter of 24 rows 0: barrier times {:.2f} ± {:.2f}".format(*beneficial))

# %%
claims.check("Z9.zero_rows_free", enough, rival=float(min(lacking)))
claims.check("Z9.beneficial", *beneficial, n=200)

# %% [markdown]
# Zero rows absorb rows without a partner. Fewer rows alone would not do: without its zero rows the smaller network is nearer to the
# peak of the barrier ([](15_barrier_peak.ipynb)).
#
# ### Exercises
#
# :::{exercise}
# Compute $T(3, 2)$, $T(4, 2)$ and $T(5, 2)$ by hand from (Z 13).
# :::
#
# :::{solution}
# Here $p = \frac12$ and $X - Y + n$ is $\operatorname{Bin}(2n, \frac12)$. So $\mathbb E|X - Y|$ is $\frac12$ for $n = 1$,
# $\frac34$ for $n = 2$ and $\frac{15}{16}$ for $n = 3$. With $M/(2m) = 1/m$ this gives
# $T(3, 2) = 1 - \frac13 \cdot \frac12 = \frac56$, $T(4, 2) = 1 - \frac14 \cdot \frac34 = \frac{13}{16}$ and
# $T(5, 2) = 1 - \frac15 \cdot \frac{15}{16} = \frac{13}{16}$: the tie of {prf:ref}`thm-unimodal`.
# :::
#
# :::{exercise}
# Show that $T(M + 1, M) = 1 - \frac{M - 1}{M(M + 1)}$: this is what the first {term}`surplus neuron` costs.
# :::
#
# :::{solution}
# For $n = 1$ both $X$ and $Y$ are 0 or 1, so $\mathbb E|X - Y|$ is $P(X \ne Y) = 2pq$, $pq = (M - 1)/M^2$. Insert this into (Z 13)
# with $m = M + 1$. In words: with probability $1 - \frac1M$ the two surplus rows have different types, and then one row of
# $M + 1$ has no partner.
# :::
#
# :::{exercise}
# Let one of the two networks have *even* types, two rows of each, and let the other follow Assumption 3. What share of
# neurons is matched at $m = 2M$ as $M \to \infty$? Compare with $T_\infty(2)$.
# :::
#
# :::{solution}
# The other network has $1 + N$ rows of a type, where $N$ tends to a Poisson variable with mean $\nu = 1$. Of the two even
# rows $\min(1 + N, 2)$ are matched, which is $2$ unless $N = 0$. The share is
# $\frac12 \bigl(2 - P(N = 0)\bigr) = 1 - \frac1{2e} \approx 0.816$, more than $T_\infty(2) \approx 0.738$. A check:
#
#     counts = 1 + np.random.default_rng(0).multinomial(2000, np.full(2000, 1 / 2000), 200)
#     print(np.minimum(counts, 2).sum(axis=1).mean() / 4000)
#
# Two networks with even types match completely.
# :::
#
# :::{try}
# Nine teachers instead of six, fewer trials:
#
#     make chapter NAME=overlap_theorem ARGS="-p M 9 -p trials 5000"
#
# Look at Z, Fig. 1: the first panel has its bottom at 20, beyond $2M = 18$.
# :::

# %% Versions and time
print(chapter.end())
