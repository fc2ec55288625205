# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A wide layer has far more permutation points than minima
#
# *How many points with equal neurons (permutation points) are there for each minimum?*
#
# In a layer of $n$ neurons **$(n - 1)/2$** for each minimum if one neuron is superfluous, and about **$n^K / (2^K K!)$** if $K$ are and the layer is wide (proved). The paper's formulas and its bound are right; a constant in a proof is too small by the factor **$e^K$**.
#
# :::{glue:figure} fig_count
# :alt: Permutation points for each minimum against the neurons n of the layer from 2 to 1000, both logarithmic, exact, for K = 1, 2 and 3 superfluous neurons. The curves approach straight lines, n/2, n squared over 8, and n cubed over 48. Dashed lines, the constants of the printed proof, lie lower by the factors 2.7, 7.4 and 20.
#
# Exact counts (solid) and the printed proof's constants (dashed). Both axes are logarithmic.
# :::
#
# **How sure.** Proved; compared in exact arithmetic in [[n(P5.bound)]] cases, up to 200 neurons, recorded. $n_k$: neurons of layer $k$; $T(K, n_k)$: permutation points for each minimum.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | “at least by a factor $\sum_k \frac1{2!^K} \binom{n_k - K}K$ larger” (abstract) | [true](#P5.layers) | equal for $K = 1$ only |
# | $T(1, n_k)$, $T(2, n_k)$, $T(3, n_k)$ (Prop. 1 (i)) | [true](#P5.printed_forms) | exactly; here for every $K$ |
# | “$T(K, n_k) \ge \binom{n_k - K}K \frac1{2!^K}$” (Prop. 1 (ii)) | [true](#P5.bound) | equal for $K \le 1$ only |
# | “$\to c_K n_k^K$ as $n_k \to \infty$” (Lemma 1) | [true](#P6.lemma) | $c_K = 1/(2^K K!)$ |
# | $c_K = e^{-K}/(2^K K!)$ (app. B, (9)) | [too small by $e^K$](#P6.constant) | $(2^K K!\, c_K)^{1/K}$ tends to [[P6.constant:.3f]]; as printed it is $e^{-1} = 0.368$ |
# | “$K n_{k+1}$-dimensional hyperplane” (Prop. 2) | [true, none larger](#P7.dimension) | all [[n(P7.dimension)]] partitions |
#
# **Open.** Nothing.
#
# **For the authors.** In (8) and (9) of appendix B the factor $e^{-K}$ cancels: print $c_K = 1/(2^K K!)$.

# %% Parameters tags=["parameters"]
n_max: int = 100  # exhaustive checks run over all layers up to this width
n_brute: int = 7  # widest layer whose permutation points are enumerated
width: int = 6  # neurons n_k of the layer with equal neurons, Prop. 2
width_next: int = 4  # neurons n_{k+1} of the next layer, Prop. 2
inputs: int = 400  # inputs of the tanh network, Prop. 2
seed: int = 1  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    n_max=Integer(10, 300),
    n_brute=Integer(3, 7),
    width=Integer(3, 10),
    width_next=Integer(1, 20),
    inputs=Integer(100, 100_000),
)

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import torch
from matplotlib import colormaps
from scipy.optimize import least_squares

from lmc_helpers import claims, error_bars, figures, seeds
from lmc_helpers._chapters.permutation_counts import (
    arrangements,
    count_ratio_bound,
    families,
    growth_constant,
    partitions,
    permutation_points,
)
from lmc_helpers.permutation_points import count_ratio

# %% [markdown]
# Brea, Şimşek, Illing & Gerstner (P) {cite:p}`brea2019` call a network a *{term}`permutation point`* of order $K$ if $K$ of its $n$ neurons can be removed without changing the function, because they are copies. Each is a crossing at which some orders of the neurons meet.
#
# :::{need}
# You need: binomial coefficients, generating functions; [](21_merging_neurons.ipynb) and [](22_permutation_points.ipynb) show what permutation points are, but are not needed. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $n$, or $n_k$ | neurons in the layer, or in layer $k$; $n_{k+1}$ in the next one |
# | $K$; $l = n - K$ | order, the number of superfluous neurons; different neurons that are left |
# | $T(K, n)$ | permutation points of order $K$ of one smaller network, for each {term}`minimum <minimum>` |
# | $S(n, l)$ | Stirling number of the second kind, partitions of $n$ elements into $l$ sets |
# | $c_K$, $a_{K,j}$ | constant of the growth with $n$; coefficients of $T(K, n)$ |
# | $\vartheta_i$, $a_i$ | parameter vector and outgoing weights of neuron $i$ |
# | $c$, $\mu$, $a_\perp$ | sum of the outgoing columns of two neurons; how they share it, and what they have besides |
#
# Letters that only *Evidence* uses are explained there.
#
# ## Three neurons, six minima, six permutation points
#
# The smallest example has a scalar input and three neurons without biases, $f(x) = a_1\sigma(w_1 x) + a_2\sigma(w_2 x) + a_3\sigma(w_3 x)$. P, Figs. 6 and 7 draw it with random weights; here it is a network. A {term}`teacher <teacher and student>` with $w = (0.5, 1.2, 2.9)$, $a = (1, 1, 1)$ and $\sigma(z) = \log(1 + e^z)$ labels 61 inputs. A student with three neurons has $3! = 6$ global minima. A student with *two* neurons settles at a positive loss; written with three neurons, one of them doubled, that is a permutation point of order 1, in six arrangements.

# %% Fit two neurons, and write them with three
x = np.linspace(-3, 3, 61)
w_teacher = np.array([0.5, 1.2, 2.9])
y = np.logaddexp(0, np.outer(x, w_teacher)).sum(axis=1)  # (61,)


def residual(parameters: np.ndarray) -> np.ndarray:
    """Student minus teacher; the first half of the parameters are w, the rest a."""
    w, a = np.split(parameters, 2)
    return np.logaddexp(0, np.outer(x, w)) @ a - y


fit = least_squares(
    residual, [0.5, 2.5, 1.5, 1.5], xtol=1e-15, ftol=1e-15, gtol=1e-15
)
v, b = np.split(fit.x, 2)
print(f"two neurons: w = {v.round(3)}, a = {b.round(3)}, loss {2 * fit.cost:.2e}")

vectors, weights = permutation_points(v[:, None], b[None], n=3)
print(np.hstack([vectors[:, :, 0], weights[:, 0]]).round(3))  # w, then a

# %% Plot the counts
from matplotlib.patheffects import withStroke

figure, axis = figures.panels(height=2.7)
ns = np.unique(np.geomspace(2, 1000, 60).round().astype(int)).tolist()
names = {1: "(n - 1)/2", 2: r"\approx n^2/8", 3: r"\approx n^3/48"}
for K, shade in zip(names, ("grey", "green", "blue"), strict=True):
    wide = [n for n in ns if n > K]
    counts = [float(count_ratio(K, n)) for n in wide]
    axis.plot(wide, counts, color=f"book:{shade}", linewidth=2.2)
    printed_c = float(growth_constant(K)) * math.exp(-K)
    far = [n for n in ns if n >= 10]
    low = [printed_c * n**K for n in far]
    axis.plot(far, low, "--", color="book:red", linewidth=1.2)
    says = f"$K = {K}$: ${names[K]}$"
    axis.text(1100, counts[-1], says, color=f"book:{shade}", va="center")
halo = [withStroke(linewidth=3, foreground="white")]
says = r"proof's constant: $e^K$ too small"
axis.text(45, 1.3, says, color="book:red", path_effects=halo)
axis.set(xscale="log", yscale="log", xlim=(2, 1000), ylim=(0.1, 1e8))
axis.set_xlabel("neurons $n$ of the layer")
axis.set_ylabel("points for each minimum")
figures.show("fig_count", figure)

# %% Plot the example of Figs. 6 and 7
basis = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])  # (2, 3)
figure, (left, right) = figures.panels(2, height=4.7)
for i, j in ((0, 1), (0, 2), (1, 2)):
    direction = basis @ np.where(np.isin(range(3), (i, j)), 1, -2) / math.sqrt(6)
    left.plot(*np.outer(direction, [-2, 2]), color="book:grey", lw=1)
    place = direction * 2.6 * (0.9 if direction[1] == 0 else 0.86)
    label = f"$w_{i + 1} = w_{j + 1}$"
    left.annotate(label, place, ha="center", va="center", color="book:black")
minima = w_teacher[arrangements(3, 3)]  # (6, 3)
left.plot(*(basis @ minima.T), "o", markersize=8, label="global minimum")
doubled = np.isclose(vectors[:, :, 0], v[0]).sum(axis=1) == 2  # (6,)
for k, colour, marker, size in ((0, "red", "*", 13), (1, "green", "P", 10)):
    points = dict(color=f"book:{colour}", marker=marker, markersize=size, lw=0)
    here = vectors[doubled == (k == 0), :, 0]  # (3, 3)
    label = f"permutation point, $v_{k + 1}$ doubled"
    left.plot(*(basis @ here.T), label=label, **points)
    for odd in range(3):
        middle = np.where(np.arange(3) == odd, b[1 - k], b[k] / 2)
        along = np.delete(np.eye(3), odd, axis=0)
        line = middle[:, None] + np.outer(along[0] - along[1], [-2.3, 2.3])
        label = f"equal loss, $v_{k + 1}$ doubled" if odd == 0 else None
        right.plot(*(basis @ line), color=f"book:{colour}", lw=1.2, label=label)
        right.plot(*(basis @ middle), **points)
left.set_title("input weights, along (1, 1, 1)")
right.set_title("output weights, along (1, 1, 1)")
left.set(xlim=(-2.75, 2.75), ylim=(-2.6, 2.6))
right.set(xlim=(-2.4, 2.4), ylim=(-2.3, 2.3))
for axis in (left, right):
    axis.set_aspect("equal")
    axis.axis("off")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0))
figures.show("fig_hexagon", figure)

# %% [markdown]
# :::{glue:figure} fig_hexagon
# :alt: First panel, three lines through a common centre make six sectors. Each sector holds one global minimum, and each of the six rays between neighbouring sectors holds one permutation point, of the two kinds in turn. Second panel, three lines of one kind form a triangle, and three lines of the other kind a larger one of the same orientation; each line carries its permutation point at the middle of the triangle's side.
#
# The example of P, Figs. 6 and 7, computed; $v_1 < v_2$ are the input weights of the two-neuron network, $b_1$ and
# $b_2$ its output weights. First panel: the space of the three input weights, seen along $(1, 1, 1)$. On each line two weights coincide. Every sector holds one of the 6 minima, and every ray between two sectors one of the 6
# permutation points. Second panel: output weights. Each permutation point lies on its own line of equal loss; all six lines lie in
# the plane $a_1 + a_2 + a_3 = b_1 + b_2$, and where two of them seem to cross, the input weights differ.
# :::
#
# ## A permutation point is a map of the neurons onto fewer
#
# A permutation point of order $K$ has exactly the $l = n - K$ different parameter vectors of a smaller network; copies of one vector share its outgoing weights equally. So to count them is to count maps. The closed form is not new: {cite:t}`simsek2021`, three of them authors of P, count in this way the affine subspaces of critical points that a critical point of a network of width $r$ leaves in one of width $m$, $r!\, S(m, r)$ of them, and by a larger number those of its global minima ({prf:ref}`prop-families`).
#
# :::{prf:theorem} $T(K, n)$ for every $K < n$
# :label: thm-count
# Let $0 \le K < n$, and let $S$ be the Stirling numbers of the second kind. Then
#
# $$
# \begin{aligned}
# T(K, n) &= \frac{(n - K)!\, S(n, n - K)}{n!} \\
# &= [x^K] \Bigl( \frac{e^x - 1}{x} \Bigr)^{n - K} \\
# &= \sum_{j=0}^{K} a_{K,j} \binom{n - K}{j},
# \end{aligned}
# $$
#
# $$
# a_{K,j} = [x^K] \Bigl( \frac{x}{2!} + \frac{x^2}{3!} + \cdots \Bigr)^j .
# $$
#
# Here $a_{K,j} > 0$ for $1 \le j \le K$, with $a_{K,1} = 1/(K + 1)!$ and $a_{K,K} = 2^{-K}$. For fixed $K$, $T(K, n)$ is
# a polynomial in $n$ of degree $K$.
# :::
#
# :::{prf:proof}
# The other layers contribute the same factor $\prod_{i \ne k} n_i!$ to both numbers. In layer $k$ the points are the maps
# of $n$ labelled neurons onto $l$ parameter vectors, $l!\, S(n, l)$ of them. Those that use vector $i$ exactly $s_i$
# times are $n!/(s_1! \cdots s_l!)$. So $T$ is the sum of $1/(s_1! \cdots s_l!)$ over all $s_i \ge 1$ with
# $s_1 + \dots + s_l = n$, which is the coefficient of $x^n$ in $(e^x - 1)^l$. Take $x^l$ out and expand
# $\bigl(1 + (x/2! + x^2/3! + \cdots)\bigr)^l$: the index $j$ counts the vectors that occur more than once.
# :::
#
# :::{prf:corollary} P, Prop. 1, with the case of equality
# :label: cor-proposition-1
# $$
# \begin{aligned}
# T(1, n) &= \tfrac12 \tbinom{n-1}{1} , \\
# T(2, n) &= \tfrac16 \tbinom{n-2}{1} + \tfrac14 \tbinom{n-2}{2} , \\
# T(3, n) &= \tfrac1{24} \tbinom{n-3}{1} + \tfrac16 \tbinom{n-3}{2} \\
# &\quad + \tfrac18 \tbinom{n-3}{3} .
# \end{aligned}
# $$
#
# For all $K < n$, $T(K, n) \ge 2^{-K} \binom{n-K}{K}$, with equality if and only if $K \le 1$.
# :::
#
# :::{prf:proof}
# Read off $a_{2,1} = \tfrac16$, $a_{2,2} = \tfrac14$, $a_{3,1} = \tfrac1{24}$,
# $a_{3,2} = 2 \cdot \tfrac12 \cdot \tfrac16$ and $a_{3,3} = \tfrac18$. The bound is the term $j = K$, and no term is
# negative. For $K \ge 2$ the term $j = 1$ is positive; for $K \le 1$ there is no other term.
# :::
#
# The last form with its coefficients, and {py:func}`~lmc_helpers.permutation_points.counts.count_ratio`, which computes the
# sum with integers and returns a fraction:


# %%
def coefficient(K: int, j: int) -> Fraction:
    """a_{K,j}, the coefficient of x^K in (x/2! + x²/3! + …)^j."""
    if j == 0:
        return Fraction(K == 0)
    first = range(1, K + 1)  # the power of x that the first factor gives
    return sum(
        (coefficient(K - i, j - 1) / math.factorial(i + 1) for i in first),
        start=Fraction(0),
    )


for K in range(6):
    T = sum(coefficient(K, j) * math.comb(6 - K, j) for j in range(K + 1))
    print(K, T, count_ratio(K, 6), count_ratio_bound(K, 6))  # T twice, bound

# %% [markdown]
# Each line has the order $K$, $T(K, 6)$ twice, and the paper's bound. The printed forms and the bound are compared for all $n$ up to {glue:text}`n_max`. The abstract adds up the bounds of all layers; with two hidden layers, $K$ copies in one of them and none in the other, all points are enumerated and divided by the $n_1!\, n_2!$ minima.


# %% Compare the printed forms and the bound
def printed(K: int, n: int, extra: int = 2) -> Fraction:
    """T(K, n) as printed in Prop. 1 (i); extra is the factor 2! of C.2 (ii)."""
    c = [math.comb(n - K, j) for j in range(4)]
    if K == 1:
        return Fraction(c[1], 2)
    if K == 2:
        return Fraction(c[1], 6) + Fraction(c[2], 4)
    return Fraction(c[1], 24) + Fraction(extra * c[2], 12) + Fraction(c[3], 8)


Kn = [(K, n) for n in range(2, n_max + 1) for K in range(1, min(4, n))]
off = [abs(printed(K, n) - count_ratio(K, n)) for K, n in Kn]
without = [abs(printed(K, n, extra=1) - count_ratio(K, n)) for K, n in Kn]

T, over, other = {}, {}, {}  # T(K, n) over its bound, and over binom(n, K)/2^K
for n in range(2, n_max + 1):
    for K in range(1, n // 2 + 1):
        T[K, n] = count_ratio(K, n)
        over[K, n] = T[K, n] / Fraction(math.comb(n - K, K), 2**K)
        other[K, n] = T[K, n] / Fraction(math.comb(n, K), 2**K)

# %% Count with two hidden layers
over_sum = []  # the number of points over the printed sum
for n_1, n_2 in np.ndindex(n_brute, n_brute):
    for K in range(1, min(n_1, n_2) // 2 + 1):
        points = len(arrangements(n_1, n_1 - K)) * math.factorial(n_2)
        points += len(arrangements(n_2, n_2 - K)) * math.factorial(n_1)
        minima_of_both = math.factorial(n_1) * math.factorial(n_2)
        bound = count_ratio_bound(K, n_1) + count_ratio_bound(K, n_2)
        over_sum.append(Fraction(points, minima_of_both) / bound)

# %%
claims.check("P5.printed_forms", off, rival=float(max(without)))
ratios = list(map(float, over.values()))
claims.check("P5.bound", ratios, rival=float(min(other.values())))
claims.check("P5.layers", float(min(over_sum, default=1)), n=len(over_sum))

# %% Numbers for the text
figures.numbers(
    equal=", ".join(map(str, sorted({K for K, n in T if over[K, n] == 1})))
)

# %% [markdown]
# The sum is attained at $K = 1$; for $K \ge 2$ there are more points, also with copies in both layers at once (Exercise 23.2). In one layer, among the orders $K \ge 1$, the bound is attained at $K =$ {glue:text}`equal` only. Near $K = n/2$ it is far from sharp: at $n =$ {glue:text}`n_max` and $K =$ {glue:text}`n_max // 2` it is too small by a factor {glue:text}`float(over[n_max // 2, n_max]):.1e`.
#
# ## In wide layers the count grows as stated, with a larger constant than the proof's
#
# :::{prf:theorem} Growth; P, Lemma 1 with its constant
# :label: thm-growth
# Let $K \ge 1$ be fixed and $n \to \infty$. Then
#
# $$
# \begin{aligned}
# \tfrac{K!}{n^K} \tbinom{n - K}{K} &= 1 - \tfrac{K(3K - 1)}{2n} + O(n^{-2}), \\
# \tfrac{2^K K!}{n^K}\, T(K, n) &= 1 - \tfrac{K(5K + 1)}{6n} + O(n^{-2}).
# \end{aligned}
# $$
#
# So P, Lemma 1 holds with $c_K = 1/(2^K K!)$, $T(K, n)$ grows with the same constant, and the ratio of $T(K, n)$ to its bound is $1 + \tfrac{2K(K - 1)}{3n} + O(n^{-2})$.
# :::
#
# :::{prf:proof}
# $\binom{n-K}{K} = \frac{n^K}{K!} \prod_{i=0}^{K-1} \bigl(1 - \frac{K + i}{n}\bigr)$, and
# $\sum_{i=0}^{K-1} (K + i) = \tfrac12 K(3K - 1)$. In {prf:ref}`thm-count` the terms $j \le K - 2$ are $O(n^{K-2})$. For
# $j = K - 1$, $a_{K,K-1} = (K - 1)\, 2^{-(K-2)}/6$, since one factor gives $x^2/3!$ and the others $x/2!$; with
# $\binom{n-K}{K-1} = \frac{n^{K-1}}{(K-1)!} (1 + O(1/n))$ this term is
# $\frac{n^K}{2^K K!} \bigl( \frac{2K(K-1)}{3n} + O(n^{-2}) \bigr)$. Add the two.
# :::
#
# P's proof of Lemma 1 (appendix B) ends with $c_K = e^{-K}/(2^K K!)$. It applies Stirling's formula and arrives at P, (8), where
#
# $$
# \begin{aligned}
# &\frac{(n/K - 1)^{n-K}}{(n/K - 2)^{n-2K}} \\
# &\quad = \Bigl( \frac nK \Bigr)^K \frac{(1 - K/n)^{n-K}}{(1 - 2K/n)^{n-2K}}
# \end{aligned}
# $$
#
# is replaced by $(n/K)^K$. The last quotient does not tend to 1 but to $e^{-K}/e^{-2K} = e^K$, which cancels the $e^{-K}$ from Stirling's formula. P, Lemma 1 as it stands in section 4.3, and its use there, the exponent, are not affected.
# The constant and the exponents at large $n$:

# %% Constant and exponents at large n
large = 10**6
roots, bound_slopes, slopes = [], [], []
for K in range(1, 5):
    c_K = Fraction(math.comb(large - K, K), 2**K * large**K)
    roots.append(float(c_K * 2**K * math.factorial(K)) ** (1 / K))
    bounds = count_ratio_bound(K, 2 * large), count_ratio_bound(K, large)
    bound_slopes.append(math.log2(bounds[0] / bounds[1]) / K)
    growth = count_ratio(K, 2 * large) / count_ratio(K, large)
    slopes.append(math.log2(growth) / K)
print("K-th root of 2^K K! c_K:", np.round(roots, 6))  # printed: 1/e

# %% Check P6.lemma, P6.growth and P6.constant
claims.check("P6.lemma", bound_slopes)
worst = max(roots, key=lambda r: abs(r - 1))
claims.check("P6.constant", worst, n=len(roots))
claims.check("P6.growth", slopes)

# %% [markdown]
# ## Each point lies in a plane of equal loss, which is no larger than stated
#
# :::{prf:theorem} P, Prop. 2, with the converse
# :label: thm-plane
# Let the $n_k$ neurons of layer $k$ have $l = n_k - K$ different parameter vectors, with activations $b_1, \dots, b_l$. The
# matrices $W^{(k+1)}$ for which, for every neuron $i$ of layer $k + 1$ and every $m \le l$, the sum of $W^{(k+1)}_{ij}$
# over the copies $j$ of vector $m$ has a given value form an affine space of dimension $K n_{k+1}$, on which the network
# computes one function; so every loss is constant there. If $b_1, \dots, b_l$ are linearly independent on the data, no
# other $W^{(k+1)}$ gives the same inputs to layer $k + 1$.
# :::
#
# :::{prf:proof}
# Let $A$ ($n_k \times N$) hold the activations of layer $k$ on $N$ inputs, $B$ ($l \times N$) those of the different
# neurons, and $A = PB$ with $P$ the $0$–$1$ matrix of the map from neurons to vectors. The weights enter the network only
# through $W^{(k+1)} A = (W^{(k+1)} P) B$, and $W^{(k+1)} P$ holds the sums in question. $P$ has rank $l$, as every
# vector occurs, so that $\{\delta : \delta P = 0\}$ has dimension $(n_k - l)\, n_{k+1} = K n_{k+1}$. If $B$ has rank $l$, then
# $\delta P B = 0$ only if $\delta P = 0$.
# :::
#
# This needs no critical point; nor need all of the plane be critical ({prf:ref}`cor-plateau`). The converse is about the inputs of layer $k + 1$. The network's *outputs* could leave more freedom. That they do not is measured in a random tanh network
# with three hidden layers, the second of them layer $k$: for each partition of $n_k =$ {glue:text}`width` neurons into groups of equal ones, count the zero singular values of the Jacobian of the outputs in $W^{(k+1)}$.

# %% Jacobians at all partitions of a layer
generator = seeds.torch_generator(seed, "tanh network")
kind = dict(generator=generator, dtype=torch.float64)
data, target = torch.randn(5, inputs, **kind), torch.randn(2, inputs, **kind)
layers = []  # weights (n_k, n_{k-1}) and biases (n_k, 1)
for rows, columns in ((7, 5), (width, 7), (width_next, width), (2, width_next)):
    draw = torch.randn(rows, columns + 1, **kind)
    layers.append((2 * draw[:, 1:] / math.sqrt(columns), draw[:, :1]))
first, second, third, last = layers


def outputs(W: torch.Tensor, copies: tuple[int, ...]) -> torch.Tensor:
    """Outputs (2, inputs); layer k has copies[m] copies of its neuron m."""
    labels = torch.repeat_interleave(torch.tensor(copies))  # (n_k,)
    hidden = torch.tanh(first[0] @ data + first[1])
    hidden = torch.tanh(second[0][labels] @ hidden + second[1][labels])
    return last[0] @ torch.tanh(W @ hidden + third[1]) + last[1]


spectra, nullity = {}, {}
for copies in partitions(width):
    jacobian = torch.func.jacfwd(outputs)(third[0], copies)
    singular = torch.linalg.svdvals(jacobian.flatten(2).flatten(0, 1))
    spectra[copies] = (singular / singular[0]).numpy()  # (n_k n_{k+1},)
    nullity[copies] = int((spectra[copies] < 1e-9).sum())

order = {copies: width - len(copies) for copies in spectra}  # K
off = [nullity[c] - order[c] * width_next for c in spectra]

# %% [markdown]
# The dimension is $K n_{k+1}$ for all {glue:text}`len(spectra)` partitions, with a clear gap between the singular values that vanish and the others ({numref}`fig-rank`). And along the plane the loss is constant, however far one goes; each displacement here is as long as $W^{(k+1)}$.

# %% Move in the plane, and elsewhere
generator = seeds.torch_generator(seed, "displacements")
in_plane, anywhere = [], []  # relative changes of the loss
for copies in list(spectra)[:-1]:  # the last has K = 0, no copies
    labels = torch.repeat_interleave(torch.tensor(copies))
    P = torch.nn.functional.one_hot(labels).double()  # (n_k, l)
    mean = P @ torch.diag(1 / P.sum(dim=0)) @ P.T  # averages over copies
    W = third[0] @ mean  # copies share their outgoing weights equally
    before = (outputs(W, copies) - target).square().mean()
    for _ in range(10):
        step = torch.randn(W.shape, generator=generator, dtype=W.dtype)
        free = step - step @ mean  # the sums over copies stay: free P = 0
        for delta, changes in ((free, in_plane), (step, anywhere)):
            moved = W + delta * (W.norm() / delta.norm())
            after = (outputs(moved, copies) - target).square().mean()
            changes.append(abs(after / before - 1).item())

# %%
pairs = {copies: sum(math.comb(s, 2) for s in copies) for copies in spectra}
rival = max(abs(pairs[c] - order[c]) * width_next for c in spectra)
farthest = max(off, key=abs)
claims.check("P7.dimension", farthest, n=len(off), rival=rival)
claims.check("P7.equal_loss", in_plane, rival=min(anywhere))

# %% [markdown]
# ## In wide layers the lowest points are low
#
# That there are many says nothing about how high they are. P, section 5 finds barriers that fall with the width, “as expected from theoretical results [10]”; that bound is for any two networks with one hidden layer of ReLUs. For smooth activations there is one for a merge, with its power of the width:
#
# :::{prf:theorem} How high a merge can be
# :label: thm-height
# Let $|g'| \le G$, $|g''| \le B$, the outputs be linear and $L = \frac12 \langle \|f - y\|^2 \rangle$ be 0 at the start. Two neurons of the last hidden layer have the parameter vectors $\vartheta_0$, $\vartheta_1$ and the outgoing columns $a_0 = (1 - \mu)\, c - a_\perp$, $a_1 = \mu\, c + a_\perp$ with $0 \le \mu \le 1$ and $a_\perp \perp c \ne 0$; put
# $\Delta = (\vartheta_1 - \vartheta_0) \cdot z$. While both parameter vectors go straight to $(1 - \mu)\, \vartheta_0 + \mu\, \vartheta_1$ and all else rests,
#
# $$
# L \le \tfrac18 B^2 \mu^2 (1 - \mu)^2 \|c\|^2 \langle \Delta^4 \rangle + \tfrac12 G^2 \|a_\perp\|^2 \langle \Delta^2 \rangle .
# $$
#
# For $a_\perp = 0$ and for $a_\perp \ne 0$ there are tanh networks for which the two sides agree in the limit $\Delta \to 0$.
# No higher are the permutation point to which descent of the merged network leads, and the largest loss on a path from the network to each copy with the neurons of this layer in another order. For one output, $a_0 a_1 > 0$, the price is at most of order $\|\vartheta_1 - \vartheta_0\|^4$, for several at most of order $\|\vartheta_1 - \vartheta_0\|^2$ as the distance falls.
# :::
#
# :::{prf:proof}
# At the part $t$ of the way the two contribute $F(t) = a_0\, g(p) + a_1\, g(q)$ with $p = s_0 + t \mu \Delta$ and $q = s_0 + \Delta - t (1 - \mu) \Delta$, so that $q - p = (1 - t) \Delta$ and
#
# $$
# F' = \mu (1 - \mu)\, c\, \Delta\, [g'(p) - g'(q)] - a_\perp \Delta\, [\mu g'(p) + (1 - \mu) g'(q)] .
# $$
#
# The parts along $c$ and along $a_\perp$ have at most the lengths $\mu (1 - \mu) \|c\| B \Delta^2 (1 - t)$ and $\|a_\perp\| G |\Delta|$, and their integrals $\frac12 \mu (1 - \mu) \|c\| B \Delta^2$ and $\|a_\perp\| G |\Delta|$. They are orthogonal, so that $\|F(t) - F(0)\|^2$ is at most the sum of the squares, and $L$ is half its mean.
# As $\Delta \to 0$, the first is attained if $s_0 \to s$ on all inputs with $|g''(s)| = B$, the second, which prevails where $a_\perp \ne 0$, if $|g'(s)| = G$. Descent lowers the loss. Where the two coincide they exchange output weights, and then places with any neuron, at equal loss ({prf:ref}`thm-one-merge`). One output: $a_\perp = 0$.
# :::
#
# :::{prf:corollary} Why the width helps
# :label: cor-width
# Let there be one output, $|g''| \le B$, $L = 0$, $n$ neurons in the last hidden layer with $\|\vartheta_i\| \le R$ in $\mathbb R^D$ and $|a_i| \le A/n$, and let $B$, $R$, $D$, $A$ and the distribution of $z$, with $\langle \|z\|^4 \rangle < \infty$, not depend on $n$. Then all orders of the neurons are joined at a loss of $O(n^{-2 - 4/D})$; and of $O(n^{-2 - 8/D})$ in probability if the $\vartheta_i$ are drawn independently from one bounded density, independently of the signs of the $a_i$.
# :::
#
# :::{prf:proof}
# At least $n/2$ neurons have output weights of one sign, or 0. If no two of their vectors are nearer than $r$, the balls of radius $\frac r2$ around them are disjoint in one of radius $R + \frac r2$, so $\frac n2 (\frac r2)^D \le (R + \frac r2)^D$; hence two are within $r = O(n^{-1/D})$. For them $\mu (1 - \mu) |c| \le \frac{|c|}4 \le \frac A{2n}$, and $L \le \frac18 B^2 (\frac A{2n})^2 r^4 \langle \|z\|^4 \rangle$.
# Drawn independently, the number of such pairs within $r$ has a mean $m$ of order $n^2 r^D$ and a variance of at most $m + O(n^3 r^{2D})$. With $r^D = C/n^2$ this is $m + O(C^2/n)$, and by Chebyshev's inequality the probability that there is no such pair is $O(1/C)$ as $n \to \infty$.
# :::
#
# The bound is tested on all pairs with $0 \le \mu \le 1$ of random tanh networks with two inputs; two pairs close to a place where $\tanh''$ or $\tanh'$ is largest attain [[100 * P8.merge_bound:.2f]] % of it. The corollary is tested on the closest pair of like sign in layers of {glue:text}`merge_widths` neurons with $a_i = \pm \frac1n$ and normal $\vartheta_i$, $D = 3$, in {glue:text}`len(exponents)` series of networks: the price falls with the exponent [[P8.merge_width:±]], where the corollary has $-2 - \frac83$.

# %% The largest loss on the way of a merge over its bound
rng = seeds.torch_generator(seed, "networks to merge")
kind = dict(generator=rng, dtype=torch.float64)
z = torch.cat([torch.randn(200, 2, **kind), torch.ones(200, 1)], dim=1)
B, t = 4 / 27**0.5, torch.linspace(0, 1, 21).double()[:, None]  # sup |tanh''|


def over_bound(V, a, B=B, G=1):
    """The largest loss on the way of a pair over its bound; V, a (2, …)."""
    c = a[0] + a[1]
    mu = (a[1] @ c) / (c @ c)
    if not 0 <= mu <= 1:
        return torch.nan
    s, gap = z @ V[0], z @ (V[1] - V[0])  # s_0, Δ
    p, q = s + t * mu * gap, s + gap - t * (1 - mu) * gap
    F = p.tanh()[..., None] * a[0] + q.tanh()[..., None] * a[1]
    loss = (F - F[0]).square().sum(dim=-1).mean(dim=1) / 2
    bend = B * mu * (1 - mu) * c.norm() * gap**2 / 2  # along c
    turn = G * (a[1] - mu * c).norm() * gap  # along a_⊥
    return (loss.max() * 2 / (bend**2 + turn**2).mean()).item()


ratios = {1: [], 3: []}  # by the number of outputs
for outputs, found in ratios.items():
    for _ in range(20):
        V, a = 2 * torch.randn(6, 3, **kind), torch.randn(6, outputs, **kind)
        for pair in combinations(range(6), 2):
            found.append(over_bound(V[[*pair]], a[[*pair]]))
    ratios[outputs] = [ratio for ratio in found if ratio == ratio]
near = torch.tensor([[3.0, -2, 4], [1, 5, -3]]).double() / 1000
bent = torch.tensor([0, 0, math.atanh(3**-0.5)]).double()  # |tanh''| = B
sharp = [  # pairs that nearly attain the bound, one output and three
    (near + bent, torch.tensor([[0.4], [0.8]]).double()),
    (near, torch.tensor([[1, 0, 0.4], [0.2, 1, 0]]).double()),
]
attained = [over_bound(*pair) for pair in sharp]
halved = [over_bound(*sharp[0], B=B / 2), over_bound(*sharp[1], G=0.5)]
print("nearly attained:", *(f"{ratio:.4f}" for ratio in attained))

# %% The merge of the closest pair in wider and wider layers
sizes, exponents = 2 ** np.arange(5, 11), []
for _ in range(60):
    prices = []
    for n in sizes:
        V, sign = torch.randn(n, 3, **kind), torch.randn(n, **kind).sign()
        apart = torch.cdist(V, V).fill_diagonal_(torch.inf)
        apart[sign[:, None] != sign] = torch.inf
        i, j = divmod(int(apart.argmin()), int(n))
        off = (z @ V[[i, j]].T).tanh().mean(dim=1)
        off -= (z @ V[[i, j]].mean(dim=0)).tanh()
        prices.append((off * 2 / n).square().mean().item() / 2)
    exponents.append(np.polyfit(np.log(sizes), np.log(prices), 1)[0])
print(f"exponent {np.mean(exponents):.2f}, predicted {-2 - 8 / 3:.2f}")

# %%
every = [ratio for found in ratios.values() for ratio in found]
claims.check(
    "P8.merge_bound",
    max(every + attained),
    rival=min(halved),
    n=len(every + attained),
)
mean, error = error_bars.over_clusters(exponents)
claims.check("P8.merge_width", mean, stderr=error, n=len(exponents))
figures.numbers(
    merge_widths=f"{sizes[0]} to {sizes[-1]}", merge_exponent=f"{mean:.1f}"
)

# %% [markdown]
# In this run the largest ratio of a random pair is {glue:text}`max(every):.2f`, the median {glue:text}`np.median(every):.2f`, and the exponent {glue:text}`merge_exponent`. Where there are ten outputs and $D$ grows with the width, as in [](52_permutation_saddles_on_mnist.ipynb), the theorem holds and the corollary says nothing.
#
# ## What it means for merging networks
#
# Each permutation point is a crossing at which some orders of the neurons meet, at the loss of a smaller network. Where two neurons are alike, or a layer has neurons to spare, the lowest are low, and many ways lead from one order to another. Not all are passes: {prf:ref}`thm-by-index` counts them by the number of their negative eigenvalues.
#
# **Read on.** [](22_permutation_points.ipynb): the curvature at these points. [](24_deep_merge.ipynb): their height in trained networks. [](12_overlap_theorem.ipynb): another count of coinciding neurons.
#
# ## Evidence
#
# ### Three neurons
#
# Are the six points all? The next cell tries all eight ways to give each of three neurons one of the two weights, and asks where the gradient vanishes at the loss of the two-neuron minimum.


# %% Try all ways to give three neurons two weights
def loss(w: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    """Squared error of a softplus network with weights w and a, both (n,)."""
    hidden = torch.nn.functional.softplus(torch.outer(torch.tensor(x), w))
    return (hidden @ a - torch.tensor(y)).square().sum()


found = 0
for labels in np.ndindex(2, 2, 2):  # which of the two weights each neuron has
    labels = np.array(labels)
    copies = (labels[:, None] == labels).sum(axis=1)
    w_and_a = np.array([v[labels], b[labels] / copies])  # (2, 3)
    point = torch.tensor(w_and_a, requires_grad=True)
    height = loss(*point)
    height.backward()
    same = abs(height.item() / (2 * fit.cost) - 1) < 1e-6
    found += same and point.grad.abs().max().item() < 1e-6

# %% [markdown]
# Each of them lies on a line of equal loss: copies may share their output weight in any way. In the space of $(a_1, a_2, a_3)$ a line is known by the neuron that is no copy and its output weight.

# %% Count the lines
lines = set()
for point, a in zip(vectors[:, :, 0], weights[:, 0], strict=True):
    (odd,) = [i for i in range(3) if (point == point[i]).sum() == 1]
    lines.add((odd, a[odd]))
print(f"{len(lines)} lines of equal loss")

# %%
claims.check("P9.six_points", int(found), n=8)
claims.check("P9.lines", len(lines), n=len(vectors))

# %% [markdown]
# The first panel of {numref}`fig-hexagon` is an instance of a general fact about these hyperplanes, the *braid arrangement*.
#
# :::{prf:proposition} Permutation points and faces
# :label: prop-faces
# Let the parameter vectors be scalars. The hyperplanes $w_i = w_j$ cut $\mathbb R^n$ into $n!$ chambers, and each chamber
# holds one arrangement of $n$ different weights. Each of their faces of dimension $n - K$ holds exactly one permutation
# point of order $K$ of a given smaller network. So $T(K, n)$ is the number of faces of codimension $K$ divided by the
# number of chambers.
# :::
#
# :::{prf:proof}
# A face says which coordinates are equal and in which order the different values come. The $n - K$ weights of the smaller
# network can be written into these places in one way.
# :::
#
# ### The definition, enumerated
#
# All points with real weights, enumerated and compared with each other, in exact arithmetic:

# %% Enumerate all points
rng = seeds.numpy_generator(seed, "parameter vectors")
off, unordered = [], []  # differences from T(K, n)
for n in range(1, n_brute + 1):
    for K in range(n):
        smaller = rng.normal(size=(2, n - K))
        points, _ = permutation_points(smaller.T, smaller[:1], n)
        distinct = len(np.unique(points.reshape(len(points), -1), axis=0))
        exact = count_ratio(K, n)
        off.append(abs(Fraction(distinct, math.factorial(n)) - exact))
        unordered.append(exact * (1 - Fraction(1, math.factorial(n - K))))

# %%
claims.check("P5.enumeration", off, rival=float(max(unordered)))

# %% [markdown]
# ### Counted by their index
#
# Not all of them are passes. A permutation point over a strict minimum has an *index*, its number of negative eigenvalues, and with the [inertia of the previous chapter](22_permutation_points.ipynb) the points can be counted by it.
#
# :::{prf:theorem} Permutation points by index
# :label: thm-by-index
# Let a smaller network with $l$ neurons in the layer be a strict minimum, and let doubling its neuron $m$ add $\nu_m = \rho + \nu_-$ negative eigenvalues ({prf:ref}`thm-inertia`). Its permutation points in a layer of $n$ neurons, with $s_m$ copies of neuron $m$ that share its column equally, have the index $\sum_m (s_m - 1)\, \nu_m$, and
#
# $$
# \begin{aligned}
# \sum_{\text{points}} x^{\text{index}} = n!\, [z^n] \prod_{m=1}^l x^{-\nu_m} \bigl( e^{z x^{\nu_m}} - 1 \bigr) .
# \end{aligned}
# $$
#
# So for $K = 1$ there are $\frac{n!}2 \cdot \#\{ m : \nu_m = 1 \}$ first-order saddles among the $\frac{n!}2\, l$ points. For every $K \ge 1$ all points of order $K$ have exactly $K$ negative eigenvalues if and only if all $\nu_m = 1$, and all have no negative eigenvalue if and only if all $\nu_m = 0$.
# :::
#
# :::{prf:proof}
# The index is {prf:ref}`cor-order`. There are $n! / \prod_m s_m!$ points with the copies $s_1, \dots, s_l \ge 1$, $\sum_m s_m = n$, and $\sum_{s \ge 1} \frac{z^s}{s!} x^{(s - 1) \nu} = x^{-\nu} (e^{z x^\nu} - 1)$. For $K = 1$ one $s_m$ is 2. For the last sentence take $s_m = K + 1$ for one $m$: the index is $K \nu_m$.
# :::
#
# The coefficients, one neuron of the smaller network after the other, and the same by listing all points:


# %% Count by index
def by_index(nu: tuple[int, ...], n: int) -> Counter:
    """Index → number of permutation points in a layer of n neurons."""
    points = Counter({(0, 0): 1})  # neurons used and index → ways
    for v in nu:
        more = Counter()
        for (m, index), ways in points.items():
            for s in range(1, n - m + 1):  # copies of this neuron
                more[m + s, index + (s - 1) * v] += ways * math.comb(m + s, s)
        points = more
    return Counter({i: ways for (m, i), ways in points.items() if m == n})


cases = [((0, 1, 3), 5), ((1, 1, 1, 1), 6), ((2, 0), 5), ((9, 9, 9), 7)]
off_index, by_case = [], []  # differences from the list; Index → points
for nu, n in cases:
    copies = [
        np.bincount(points, minlength=len(nu))
        for points in arrangements(n, len(nu))
    ]
    listed = Counter(int((s - 1) @ nu) for s in copies)
    counted = by_index(nu, n)
    by_case.append(counted)
    off_index += [abs(counted[i] - listed[i]) for i in counted | listed]
    print(nu, n, dict(sorted(counted.items())))

# %%
claims.check("P5.by_index", off_index)

# %% Plot the points by their index
figure, axes = figures.panels(4, height=2.6)
colour = {0: "book:green", 1: "book:blue"}
for axis, (nu, n), counted in zip(axes, cases, by_case, strict=True):
    shades = [colour.get(index, "book:grey") for index in counted]
    axis.bar(list(counted), list(counted.values()), color=shades)
    axis.set_title(rf"$\nu = {nu}$, $n = {n}$", fontsize=10)
    middle = (min(counted) + max(counted)) / 2
    axis.set_xticks(list(counted))
    axis.set(xlabel="index", xlim=(middle - 4, middle + 4))
axes[0].set(ylabel="permutation points")
figures.show("fig_by_index", figure)

# %% [markdown]
# :::{glue:figure} fig_by_index
# :alt: Four bar charts of the number of permutation points by index. The first has points of index 0, first-order saddles and higher ones side by side; the second index 2 alone; the third indices 0, 2, 4 and 6; the fourth 36 alone.
#
# The points of the four layers by their index, by {prf:ref}`thm-by-index`: without a negative eigenvalue (green), first-order saddles (blue), higher ones (grey). Nothing here is sampled (profile {glue:text}`profile`).
# :::
#
# The first network has points without a negative eigenvalue, first-order saddles and points of index up to 6 side by side. In the last one every neuron adds the nine negative eigenvalues of a layer before ten outputs ({prf:ref}`cor-round`): none of its points is a first-order saddle.
#
# ### Neurons that do nothing
#
# A neuron without output weights may have any parameter vector, and so may a group of neurons with one vector whose output weights cancel. The six steps of P, section 4.2 (ii) lead through such networks. With them there are more:
#
# :::{prf:proposition} Networks of one function in a wider layer
# :label: prop-families
# Let a network have $r$ neurons in the layer, with different parameter vectors $\vartheta_i$ and columns $c_i \ne 0$. Call *family* a set of networks with $m$ neurons there, each of which either has one of the $\vartheta_i$ or belongs to a group: for each $i$ there are neurons with $\vartheta_i$, and their columns add up to $c_i$; a group has one vector, which is free, and columns that add up to 0. All these networks compute the same function. There are
#
# $$
# \begin{aligned}
# &m!\, [z^m]\, (e^z - 1)^r \exp(e^z - 1) \\
# &\quad = \sum_{u=0}^{m-r} \binom mu\, r!\, S(m - u, r)\, B_u
# \end{aligned}
# $$
#
# families, with the Bell numbers $B_u$. With $q$ groups one is an affine subspace of dimension $(m - r - q)\, n_{k+1} + q\, (n_{k-1} + 1)$, and none lies in another.
# :::
#
# :::{prf:proof}
# If $u$ neurons are in groups, the others are mapped onto the $r$ vectors, in $r!\, S(m - u, r)$ ways with generating function $(e^z - 1)^r$, and the groups are a partition of the $u$ neurons into blocks, with generating function $\exp(e^z - 1)$. In a general network of one family two neurons have the same vector only where this is asked, no group has one of the $\vartheta_i$, and the columns of a proper part of a group, or of some neurons with $\vartheta_i$,
# do not add up to 0. So if it lies in a second family, the groups of this one are groups of the first, and the other neurons have the same $\vartheta_i$ in both.
# :::
#
# {cite:t}`simsek2021` count in this way the global minima of a network wider than the smallest one with loss 0, if that one is unique up to the order of its neurons. At a positive loss a family with a group has the loss of the smaller network, but as a rule not all of it is critical: the derivative by a column of the group is $\sum_\mu r_\mu\, g(\vartheta \cdot z_\mu)$, with the derivatives $r_\mu$ of the loss by the inputs of the next layer, and vanishes for all $\vartheta$ only if they are orthogonal to every neuron. The sum, and the list of all families:


# %% Count all families
def families_formula(r: int, m: int) -> int:
    bell = [1]
    for n in range(m):
        bell.append(sum(math.comb(n, k) * bell[k] for k in range(n + 1)))
    onto = [len(arrangements(m - u, r)) for u in range(m - r + 1)]
    return sum(math.comb(m, u) * n * bell[u] for u, n in enumerate(onto))


off_families, only_copies = [], []
for r in (1, 2, 3):
    for m in range(r, r + 4):
        listed, number = families(r, m), families_formula(r, m)
        off_families.append(abs(len(listed) - number))
        only_copies.append(abs(len(arrangements(m, r)) - number))
        print(f"r = {r}, m = {m}: {number}, {len(arrangements(m, r))} by copies")

# %%
claims.check("P5.families", off_families, rival=float(max(only_copies)))

# %% [markdown]
# ### All orders together

# %% Plot the growth with n and the orders
figure, (left, right) = figures.panels(2)
widths = np.unique(np.geomspace(2, 10_000, 60).round().astype(int)).tolist()
for K, colour in zip(range(1, 5), ("C0", "C1", "C2", "C4"), strict=True):
    ns = [n for n in widths if n > K]
    ratios = [float(count_ratio(K, n) / n**K) for n in ns]
    style = dict(color=colour, lw=1, markersize=4)
    left.loglog(ns, ratios, ".-", label=f"$K = {K}$", **style)
    c = float(growth_constant(K))
    left.axhline(c, color=colour, linestyle=":", lw=1.3)
    left.axhline(c * math.exp(-K), color=colour, linestyle="--", lw=1.3)
left.plot([], [], ":", color="book:grey", label="$1/(2^K K!)$")
style = dict(label="P, appendix B, $e^{-K}/(2^K K!)$")
left.plot([], [], "--", color="book:grey", **style)
left.set(xlabel="neurons $n$", ylabel="$T(K, n)/n^K$", ylim=(1e-5, 1))

exact = [float(count_ratio(K, n_max)) for K in range(n_max)]
right.semilogy(exact, ".-", lw=1, label="exact")
bounds = [float(count_ratio_bound(K, n_max)) for K in range(n_max // 2 + 1)]
right.semilogy(bounds, "--", label=r"bound, $2^{-K}\binom{n-K}{K}$")
style = dict(color="book:black", linestyle=":")
mean_order = n_max - (n_max + 1) / (2 * math.log(2)) + 0.5
right.axvline(mean_order, label="mean order", **style)
right.set(xlabel="order $K$", ylabel=f"$T(K, {n_max})$")
right.set_ylim(1e-3, 10 * max(exact))
for axis in (left, right):
    axis.legend(loc="upper center", ncols=2, bbox_to_anchor=(0.5, -0.16))
figures.show("fig_growth", figure)

# %% [markdown]
# :::{glue:figure} fig_growth
# :alt: First panel, four curves of the count divided by n to the K rise to the dotted lines of the constants of the theorem, far above the dashed lines of those in the printed proof. Second panel, the number of permutation points against their order rises and falls; the bound follows it at small orders and drops far below it towards half the width.
#
# First panel: $T(K, n)/n^K$, exact, with the constants of {prf:ref}`thm-growth` (dotted) and of the proof of P, Lemma 1 (dashed).
# Second panel: $T(K, n)$ of a layer with $n =$ {glue:text}`n_max` neurons, the bound, and the mean order of
# {prf:ref}`prop-all-orders`. Nothing here is sampled (profile {glue:text}`profile`).
# :::
#
# :::{prf:proposition} All orders of one layer
# :label: prop-all-orders
# As $n \to \infty$,
#
# $$
# \begin{aligned}
# &\sum_{K=0}^{n-1} T(K, n) = [x^n] \frac1{2 - e^x} \\
# &\quad = \frac1{2 \ln 2} \Bigl( \frac1{\ln 2} \Bigr)^n \bigl( 1 + O(9^{-n}) \bigr),
# \end{aligned}
# $$
#
# one smaller network for each order; $K = 0$, the minima, is included. (Times $n!$ these are the Fubini numbers.) With the weights $T(K, n)$ the mean of $K$ is
# $\bigl(1 - \tfrac1{2 \ln 2}\bigr) n + \tfrac12 - \tfrac1{2 \ln 2}$ up to an exponentially small error, and its variance is
# $\tfrac{1 - \ln 2}{4 (\ln 2)^2}\, (n + 1) + O(1)$. So the share of the points with $|K/n - 1 + \tfrac1{2 \ln 2}| > \varepsilon$ tends to 0 for every $\varepsilon > 0$.
# :::
#
# :::{prf:proof}
# Let $y = e^x - 1$. By {prf:ref}`thm-count` the first sum is the coefficient of $x^n$ in $\sum_l y^l = 1/(1 - y)$. Its pole nearest to 0 is $x = \ln 2$, with $1/(2 - e^x) = \frac{1}{2h} + O(1)$ for $h = \ln 2 - x \to 0$; the next ones,
# $\ln 2 \pm 2\pi i$, are more than nine times as far. Likewise
#
# $$
# \begin{aligned}
# \sum_l l\, y^l &= \tfrac{y}{(1 - y)^2} = \tfrac1{4h^2} - \tfrac1{4h} + O(1) , \\
# \sum_l l (l - 1)\, y^l &= \tfrac{2 y^2}{(1 - y)^3} \\
# &= \tfrac1{4h^3} - \tfrac5{8h^2} + O(h^{-1}) ,
# \end{aligned}
# $$
#
# where $h^{-2}$ and $h^{-3}$ have the coefficients $(n + 1) (\ln 2)^{-n-2}$ and $\frac12 (n + 1)(n + 2) (\ln 2)^{-n-3}$. The first line makes the mean of $l = n - K$ equal to $\frac{n + 1}{2 \ln 2} - \frac12$, the second gives the variance; the last
# statement is Chebyshev's inequality.
# :::

# %% Add up all orders
by_order = [count_ratio(K, n_max) for K in range(n_max)]  # T(K, n_max)
total = sum(by_order)
mean = sum(K * t for K, t in enumerate(by_order)) / total
predicted = 1 / (2 * math.log(2) * math.log(2) ** n_max)
mean_order = n_max - (n_max + 1) / (2 * math.log(2)) + 0.5
variance = sum((K - mean) ** 2 * t for K, t in enumerate(by_order)) / total

# %% Numbers for the text
figures.numbers(
    mean=float(mean),
    mean_gap=abs(float(mean) - mean_order),
    beyond=float(sum(by_order[n_max // 2 + 1 :]) / total),
)

# %% [markdown]
# At $n =$ {glue:text}`n_max` the exact sum is {glue:text}`float(total):.3e`; in double precision it agrees with the formula to {glue:text}`abs(float(total) / predicted - 1):.0e` of its size, and the mean order {glue:text}`mean:.3f` to {glue:text}`mean_gap:.0e`; the standard deviation is
# {glue:text}`math.sqrt(variance):.1f`. One more neuron multiplies the number of permutation points per minimum by {glue:text}`1 / math.log(2):.3f`; in wide layers a share {glue:text}`1 - 1 / (2 * math.log(2)):.3f` of the neurons are copies on average. The orders beyond $n/2$, which
# P, Prop. 1 leaves out, hold a share {glue:text}`beyond:.0e` of all points.
#
# ### The plane of equal loss

# %% Plot the singular values
figure, axis = figures.panels(height=4.0)
shades = colormaps["viridis"](np.linspace(0, 0.92, width))
for copies, s in spectra.items():
    K = order[copies]
    label = f"$K = {K}$" if copies[1:] == (1,) * (width - K - 1) else None
    at, values = np.arange(1, len(s) + 1), np.maximum(s[::-1], 1e-18)
    style = dict(lw=0.8, markersize=4, color=shades[K], label=label)
    axis.semilogy(at, values, ".-", **style)
for K in range(1, width):
    axis.axvline(K * width_next + 0.5, color="book:grey", linestyle=":", lw=1)
axis.set_xlabel("number of the singular value, from the smallest")
axis.set(ylabel="singular value / largest", ylim=(3e-19, 3))
axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)
figures.show("fig_rank", figure)
figures.numbers(
    kept=min(float(s[s >= 1e-9].min()) for s in spectra.values()),
    dropped=max(float(s[s < 1e-9].max(initial=0)) for s in spectra.values()),
)

# %% [markdown]
# :::{glue:figure} fig_rank
# :alt: Sorted singular values of the Jacobian for all partitions. Each curve jumps from rounding error to values far above it, exactly at K times the width of the next layer.
#
# Singular values of the Jacobian of the outputs in $W^{(k+1)}$, {glue:text}`len(spectra)` partitions of
# $n_k =$ {glue:text}`width` neurons, $n_{k+1} =$ {glue:text}`width_next`, {glue:text}`inputs` inputs. Dotted: the multiples of
# $n_{k+1}$. Values below $10^{-18}$ are drawn there (profile {glue:text}`profile`).
# :::
#
# The smallest singular value above the jump is {glue:text}`kept:.0e` of the largest, the greatest one below it
# {glue:text}`dropped:.0e`: the nullity is $K n_{k+1}$ for every partition.
#
# :::{prf:corollary} No larger
# :label: cor-no-larger
# Let the activation be analytic. If for some widths, inputs and partition one network has a Jacobian in $W^{(k+1)}$ of nullity $K n_{k+1}$, so has almost every network of these widths and this partition.
# Then the set of $W^{(k+1)}$ with the same outputs is, near the permutation point, the plane of P, Prop. 2.
# :::
#
# :::{prf:proof}
# By {prf:ref}`thm-plane` the nullity is never smaller. A minor of the Jacobian of size $(n_k - K)\, n_{k+1}$ is an analytic function of the weights; if it is not 0 at one network, its zeros have measure 0. Where it is not 0, the
# outputs are, by the inverse function theorem, locally injective on a complement of the plane, and they do not depend on the place in the plane.
# :::
#
# ### Exercises
#
# :::{exercise}
# Show $T(n - 1, n) = 1/n!$ and $T(n - 2, n) = (2^n - 2)/n!$. Compute $T(2, 4)$ in two ways.
# :::
#
# :::{solution}
# With one vector there is one map; with two there are $2^n$ maps of $n$ neurons less the two that miss a vector. So $T(2, 4) = 14/24 = \frac7{12}$, and by {prf:ref}`cor-proposition-1` $\frac16 \cdot 2 + \frac14 \cdot 1 = \frac7{12}$.
# :::
#
# :::{exercise}
# Two hidden layers have $n_1 = n_2 = 4$ neurons. How many permutation points of order $K = 2$ are there in all, relative to the minima, if the two copies may lie in different layers? Compare with the sum of the bounds.
# :::
#
# :::{solution}
# Both copies in one layer: $T(2, 4) + T(2, 4) = \frac76$. One in each: $T(1, 4)^2 = (\frac32)^2 = \frac94$, as the choices in the layers are independent. Together $\frac{41}{12}$; the bounds add up to $2 \cdot \frac14 \binom22 = \frac12$.
#
#     from lmc_helpers.permutation_points.counts import count_ratio
#
#     print(2 * count_ratio(2, 4) + count_ratio(1, 4) ** 2)
# :::
#
# ### Run it yourself
#
# :::{try}
# A wider layer with equal neurons, and one neuron after it. The verdicts stay; look at {numref}`fig-rank`, whose jumps move to multiples of 1.
#
#     make chapter NAME=permutation_counts ARGS="-p width 8 -p width_next 1"
# :::

# %% Versions and time
print(chapter.end())
