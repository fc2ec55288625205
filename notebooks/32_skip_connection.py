# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A skip connection joins separate minima and brings runs into one piece
#
# *Does a skip connection join pieces of the minimum that were separate without it?*
#
# Yes, over two layers: four pieces become **three** for single weights, **two** for wider matrices (proved). Training feels it more: with strength 1, and branch weights that start at a tenth of their usual size, **[[100 * G2.trained:.2f]] %** ([[100 * G2.trained:to]]) of pairs end in one piece, instead of a quarter.
#
# :::{glue:figure} fig_skip_components
# :alt: The plane of the first two weights coloured by piece of the minimum, each piece numbered. First panel, without the skip connection: four quadrants, numbered 1 to 4. Second panel, with it: one region around both axes, between the branches of a hyperbola, numbered 1, and two regions beyond the branches, numbered 2 and 3.
#
# The pieces for $1 \times 1$ weights, $W_1$ and $W_2$ those of the branch; white: third weight above 4 in size. With the skip the axes are minima.
# :::
#
# **How sure.** Proved; counted on exact grids, and by walks that never look at signs; training on [[n(G2.trained)]] pairs; recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | “has 4 connected components”, $\varepsilon = 0$ (Prop. 4.3) | [true](#G2.n1_plain) | on all [[n(G2.n1_plain)]] grids ($\varepsilon$: strength of the skip) |
# | “has 3 connected components”, $\varepsilon \neq 0$ (Prop. 4.3) | [true](#G2.n1_positive) | on all [[n(G2.n1_positive) + n(G2.n1_negative)]] grids |
# | “skip connections reduce this number” (abstract) | [true over two layers](#G2.reduces) | to 3 of 4 (single weights), 2 of 4 (wider); over one layer not |
# | “Two components of $S_1$ are connected to $S_0$” (sec. 4.2) | [true](#G2.decomposition) | 2 of 4, in all [[n(G2.decomposition)]] cases ($S_0$: $W_1 = 0$) |
# | With $\varepsilon = 1$ and a branch that starts at a tenth of its size training ends in one piece (ours) | [true](#G2.trained) | [[100 * G2.trained:to]] % of pairs; half from the usual size, a quarter without a skip |
#
# **Open.** Nothing.
#
# **For the authors.** No sentence is false. Clearer in the abstract (submitted version): *skip connections over two layers reduce this number*.

# %% [markdown]
# :::{need}
# You need: determinants, {term}`connected components <component>` (called pieces above), and from [](31_components.ipynb) the pass of {prf:ref}`thm-obstruction`. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $n$, $h$ | width of the stream; neurons in the branch |
# | $W_1$, $W_2$, $W_3$ | the two layers of the branch, the layer after it |
# | $X$, $Y$ | inputs and targets, invertible $n \times n$ matrices |
# | $\varepsilon$ | strength of the skip connection; 0 means none |
# | $L$ | loss $\Vert Y - W_3 (W_2 W_1 + \varepsilon I) X\Vert^2$; the minimum is where it is 0 |
# | $M$ | $W_2 W_1 + \varepsilon I$, what branch and skip connection do together |
# | $s$, $\tau$ | signs of $\det W_1$ and of $\det M$ |
# | $S_1$, $S_0$ | the minima with $W_1 \ne 0$, and those with $W_1 = 0$ |
# | $\sigma_{\min}(Y)$ | least singular value of the targets |
# | $\delta$ | size of the branch at the start of training, 1 the usual one |
# | $B$ | number of blocks in a row, each with its own skip connection |
#
# Zhao, Dehmamy, Walters & Yu (G) {cite:p}`zhao2025` count the components for a three-layer network with weights of size $1 \times 1$ and leave wider ones open. (G, (2) prints the norm without the square; the minimum is the same.)
#
# ## A branch may vanish without losing the signal
#
# Where $M$ is invertible there is one $W_3$ with loss 0, elsewhere none. So the picture is the one of the pairs $(W_1, W_2)$ with an invertible $M$. Without the skip connection neither weight may be 0: four quadrants. With it both may, because the signal takes the other way, and only the hyperbola $W_2 W_1 = -\varepsilon$ separates.

# %% Parameters tags=["parameters"]
fineness: int = 8  # cubes per unit length of the finest grid, a power of two
minima: int = 60  # random minima for each n and each sign of epsilon
walkers: int = 20  # of these are joined blindly
runs: int = 600  # descents for each start
steps: int = 41  # points of each of the five parts of a path
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    fineness=Integer(2, 64),
    minima=Integer(40, 100_000),
    walkers=Integer(10, 1000),
    runs=Integer(100, 100_000),
    steps=Integer(3, 100_000),
)
if fineness & (fineness - 1):
    raise ValueError(f"fineness = {fineness}; allowed: 2, 4, 8, 16, 32 or 64")

import itertools
import math

import numpy as np
import torch
from IPython.display import HTML, display
from matplotlib.colors import to_rgb

from lmc_helpers import claims, figures
from lmc_helpers._chapters.skip_connection import (
    Picture,
    draw,
    minimum_sheets,
    residual_components,
    residual_loss,
    residual_map,
    residual_minimum,
    residual_misfit,
    residual_path,
    surface_classes,
    surface_cubes,
    turntable,
    two_blocks_misfit,
)
from lmc_helpers.error_bars import share
from lmc_helpers.general_linear import (
    determinant_sign,
    random_invertible,
    times_inverse,
)
from lmc_helpers.linear_nets import (
    obstruction,
    path_over_obstruction,
    straight_line,
)
from lmc_helpers.linear_nets.walks import joined_classes, product_misfit
from lmc_helpers.seeds import torch_generator

REACH = 4  # the grids show [−4, 4]³


# %% Draw the components of single weights
ticks = np.arange(-4 * 16, 4 * 16 + 1) / 16
G1, G2, G3 = np.ix_(ticks, ticks, ticks[::4])
figure, sides = figures.panels(2, height=3.3, sharey=True)
line_colours = ("red", "green", "orange", "blue"), ("blue", "green", "orange")
spots = (
    ((2.4, 2.4), (-2.4, 2.4), (-2.4, -2.4), (2.4, -2.4)),
    ((0, 0), (-2.4, 2.4), (2.4, -2.4)),
)
for side, skip, names, at in zip(
    sides, (0.0, 1.0), line_colours, spots, strict=True
):
    many, parts = surface_classes(G3 * (G2 * G1 + skip) - 1)
    seen = parts.max(axis=2)  # one above each square, −1 for none in the box
    paint = [*(to_rgb(f"book:{name}") for name in names), to_rgb("white")]
    style = dict(origin="lower", extent=(-4, 4, -4, 4), alpha=0.75)
    side.imshow(np.array(paint)[seen].transpose(1, 0, 2), **style)
    side.axhline(0, color="book:black", linewidth=0.6)
    side.axvline(0, color="book:black", linewidth=0.6)
    for number, place in enumerate(at, 1):
        plate = dict(boxstyle="circle", facecolor="white", edgecolor="none")
        style = dict(ha="center", va="center", size=15, weight="bold", bbox=plate)
        side.text(*place, str(number), **style)
    kind = "with" if skip else "without"
    side.set(xlabel="$W_1$", title=f"{kind} skip connection: {many} pieces")
    side.grid(False)
sides[0].set_ylabel("$W_2$")
figures.show("fig_skip_components", figure)

# %% [markdown]
# :::{prf:theorem} G, Prop. 4.3
# :label: thm-skip-one
# Let $n = 1$ and $X, Y \ne 0$. The minimum has four components for $\varepsilon = 0$, and three for $\varepsilon \ne 0$.
# :::
#
# :::{prf:proof}
# The minimum is the graph of $W_3 = Y X^{-1} (W_2 W_1 + \varepsilon)^{-1}$ over the plane without the curve $W_2 W_1 = -\varepsilon$. For $\varepsilon = 0$ this leaves the four open quadrants. For
# $\varepsilon \ne 0$ the curve is a hyperbola: it leaves the set between its branches, which holds the axes and shrinks to 0 along rays, and the two convex sets beyond them.
# :::
#
# An exact count by computer does not use these sets. The function $F = W_3 (W_2 W_1 + \varepsilon) X - Y$ is of degree one in every weight, so the signs at the vertices of a grid tell whether a cube, or a face between two cubes, meets the surface $F = 0$. Cubes with a common face that meets it are put into one class; the number of classes is the number of components, however coarse the grid ({prf:ref}`prop-grid`).


# %% Count components on grids
def F_on_grid(eps, X, Y, extent, per_unit):
    """F = W_3 (W_2 W_1 + ε) X − Y at the vertices of a grid on [−reach, reach]³."""
    W = np.arange(-extent * per_unit, extent * per_unit + 1) / per_unit
    W1, W2, W3 = np.ix_(W, W, W)
    return W3 * (W2 * W1 + eps) * X - Y


DATA = [(1.0, 1.0), (-1.0, 1.0), (2.0, -1.5), (-1.5, -0.75)]  # X and Y
SKIPS = [0.5, 1.0, 1.75, 3.0]
GRIDS = [(REACH, 2**k) for k in range(1, fineness.bit_length())] + [
    (2 * REACH, 2)
]


def counts(skips):
    """Number of components, for all data, skip connections and grids."""
    found = []
    for (X, Y), eps, (b, per_unit) in itertools.product(DATA, skips, GRIDS):
        room = b * min(abs(eps) or b**2, b**2 - abs(eps))
        assert abs(Y / X) < room  # the box is large enough for the proposition
        found.append(surface_classes(F_on_grid(eps, X, Y, b, per_unit))[0])
    return found


plain = counts([0.0])
positive = counts(SKIPS)
negative = counts([-eps for eps in SKIPS])

# %%
claims.check("G2.n1_plain", plain)
claims.check("G2.n1_positive", positive)
claims.check("G2.n1_negative", negative)

# %% [markdown]
# ## For wider matrices four pieces become two
#
# :::{prf:theorem} Two components for n ≥ 2
# :label: thm-skip
# Let $n \ge 2$, $\varepsilon \ne 0$ and $X, Y \in \mathrm{GL}_n$. The minimum of $\|Y - W_3 (W_2 W_1 + \varepsilon I) X\|^2$ has exactly two components, told apart by the sign of $\det (W_2 W_1 + \varepsilon I)$. For $\varepsilon = 0$ it has four.
# :::
#
# Without the skip connection the four components have the signs $s$ and $\tau$ of $\det W_1$ and $\det M$. With it $s$ can change while $\tau$ stays (the rest of the proof is under *Evidence*). For $t \in [-1, 1]$ and a number $b \ne -1$ let
#
# $$
# \begin{aligned}
# W_1 &= \operatorname{diag}(t, 1, \dots, 1), \\
# W_2 &= \varepsilon \operatorname{diag}(0, \dots, 0, b), \\
# M &= \varepsilon \operatorname{diag}(1, \dots, 1, 1 + b) .
# \end{aligned}
# $$
#
# $\det W_1 = t$ changes its sign on this curve, $\det M = \varepsilon^n (1 + b)$ does not depend on $t$, and $b$ gives $\tau$ either value. It needs a second diagonal entry, hence $n \ge 2$: for $n = 1$, $M = \varepsilon$ where $W_1 = 0$, so that only the sign of $\varepsilon$ can be crossed, and three components are left. The curve for $n = 3$ and $\varepsilon = 1$:

# %%
n, eps = 3, 1.0
eye = torch.eye(n, dtype=torch.float64)
W1 = eye.repeat(5, 1, 1)
W1[:, 0, 0] = torch.linspace(-1, 1, 5)  # diag(t, 1, …, 1)
for b in (0.0, -2.0):
    W2 = torch.zeros_like(eye)
    W2[-1, -1] = eps * b  # ε diag(0, …, 0, b)
    M = W2 @ W1 + eps * eye
    for name, A in (("det W_1", W1), ("det M", M)):
        print(f"b = {b:2g}, {name}:", torch.linalg.det(A).tolist())

# %% [markdown]
# As in [](31_components.ipynb) the count looks at no sign: walks inside the minimum lead from each of some random {term}`minima <minimum>` towards the others, and those that arrive join classes. A fifth of the minima have a singular $W_1$; the walks start from those with the smallest $W_3$, the half that is not far away.

# %% Define random minima with a skip connection
CASES = list(itertools.product(range(2, 7), (1.0, -1.0)))  # n and ε


def random_minima(n, eps, count):
    """Minima sorted by the sign of det M, every fifth one with a column 0 in W_1."""
    generator = torch_generator(seed, f"residual {n} {eps}")
    X, Y = random_invertible((2,), n, generator)
    W1, W2 = random_invertible((2, count), n, generator)
    W1[::5, :, 0] = 0
    M = W2 @ W1 + eps * torch.eye(n, dtype=torch.float64)
    order = determinant_sign(M).argsort(stable=True)
    return residual_minimum(W1[order], W2[order], X, Y, eps), X, Y


# %% Join minima by walks that see no sign
def nearest(W, number):
    """So many of the minima, those with the smallest W_3."""
    near = W[2].flatten(1).norm(dim=1).argsort()[:number]
    return [V[near] for V in W]


def blind_classes(W, X, Y, eps):
    """The class of each minimum, by walks that see no sign."""
    points = torch.cat([V.flatten(1) for V in W], dim=1)  # (walkers, p)
    misfit = residual_misfit(X, Y, eps, W[0].shape[1])
    return joined_classes(misfit, points, tries=min(40, walkers))


numbers, mixed = [], 0  # classes; classes that hold minima of both signs
for n, eps in CASES:
    W, X, Y = random_minima(n, eps, 2 * walkers)
    W = nearest(W, walkers)
    classes = blind_classes(W, X, Y, eps)
    numbers.append(len(classes.unique()))
    sign = residual_components(W[0], W[1], eps)[:, 0]
    both = torch.stack([classes, sign], dim=1).unique(dim=0)
    mixed += len(both) - numbers[-1]

# %%
claims.check("G2.n2_components", numbers, n=walkers * len(CASES))

# %% [markdown]
# Other branches behave alike, and several blocks only multiply:
#
# :::{prf:theorem} The count for every branch
# :label: thm-branches
# Let $W_1$ be $h \times n$ and $W_2$ $n \times h$, $\varepsilon \ne 0$ and $X, Y \in \mathrm{GL}_n$. The minimum of $\|Y - W_3 (W_2 W_1 + \varepsilon I) X\|^2$ has three components for $n = h = 1$ and otherwise two, told apart by the sign of $\det (W_2 W_1 + \varepsilon I)$.
#
# With $B$ such blocks in a row in place of one, each with its own branch and $\varepsilon \ne 0$, the numbers are multiplied: $2^B$ components, if no block has $n = h = 1$.
# :::
#
# :::{prf:proof}
# The minimum is a graph over the set $U$ of branches with $\det M \ne 0$, as before; with $B$ blocks over the product of their $U$, as $W_3$ is determined by the product of all $M$. The components of a product are products of components. So let $B = 1$. The case $h = n$ is known.
#
# *$h > n$.* The $W_1$ of rank less than $n$ are an algebraic set of codimension $h - n + 1 \ge 2$; to take them out of the open set $U$ neither cuts nor joins components. What is left lies over the pairs of an injective $W_1$ and an $M \in \mathrm{GL}_n$, the $W_2$ with
# $W_2 W_1 = M - \varepsilon I$ being an affine space of dimension $n (h - n)$ over each. The injective $h \times n$ matrices are connected, and $\mathrm{GL}_n$ has two components.
#
# *$h < n$.* $\det (\varepsilon I_n + W_2 W_1) = \varepsilon^{n - h} \det (\varepsilon I_h + W_1 W_2)$: the same $U$ belongs to the branch $(W_2, W_1)$ with $h$ and $n$ exchanged.
# :::
#
# So three is peculiar to $1 \times 1$: one neuron more in the branch, or one more in the stream, and there are two. The abstract's “skip connections reduce this number” names no kind of skip connection, and has two readings:
#
# | Skip connection | It reduces the number | Share that is left (recorded) |
# | --- | --- | --- |
# | over a branch of two layers | [true, by half for $n \ge 2$](#G2.reduces) | [[G2.reduces]], [[n(G2.reduces)]] minima, $n$ = 2 to 6 |
# | over one layer | [not there](#G2.reduces_one_layer) | all, {prf:ref}`prop-skip-one-layer` |

# %%
claims.check("G2.reduces", [k / 4 for k in numbers], n=walkers * len(CASES))

# %% [markdown]
# ## What is left is as hard to pass as before
#
# :::{prf:corollary} The obstruction with a skip connection
# :label: cor-skip-obstruction
# Let two minima lie in different components, for any $n$ and $\varepsilon$. Every path between them holds a point with a loss of at least $\sigma_{\min}(Y)^2$, and on some path the loss nowhere exceeds it.
# :::
#
# :::{prf:proof}
# *Lower bound.* The pairs $(W_1, W_2)$ of the two minima lie in different components of $U = \{\det M \ne 0\}$, so the path holds a point with $\det M = 0$, and there is a unit vector $v$ with $W_3 M X v = 0$. The loss is at least $\|Y v\|^2 \ge \sigma_{\min}(Y)^2$.
#
# *A path.* Every component holds points with $\det W_1 \ne 0$. Keep $W_1$, and let $M$ and $W_3$ follow the path of {prf:ref}`thm-obstruction` for the two-layer network $W_3 M X$, with $W_2 = (M - \varepsilon I) W_1^{-1}$. It changes $\tau$ at the
# height $\sigma_{\min}(Y)^2$. For $\varepsilon \ne 0$ this is enough: to get from one component of $\tau = -\operatorname{sgn} \varepsilon$ to the other for $n = 1$, cross over, change the sign of $W_1$, and cross back. For $\varepsilon = 0$ it is {prf:ref}`thm-obstruction` itself.
# :::
#
# ## Training from a small branch stays on one side
#
# “We leave the connection between the topology of the minimum and the optimization and generalization properties of neural networks to future work”, says G, section 4.2. Without the skip connection each of the four components is reached with the same probability, so that two descents end in one with
# the probability $\frac14$ ({prf:ref}`prop-law`). With it the start decides:
#
# :::{prf:theorem} Training from a small branch
# :label: thm-small-branch
# Let $X, Y \in \mathrm{GL}_n$, $\varepsilon \ne 0$, a branch of any width $h$, and let gradient flow start at $(\delta A, \delta B, C)$. For all small enough $\delta$ it converges to a minimum, and $\det M$ keeps the sign of $\varepsilon^n$ all along. So if $A, B, C$ are random,
# the probability that two such flows end in one component tends to 1 as $\delta \to 0$.
# :::
#
# The idea: at a small branch the layer $W_3$ learns alone, fast enough that the residual is gone before the branch has grown to the size of $\varepsilon$; so $M$ stays near $\varepsilon I$ and never becomes singular (proof under *Evidence*). A skip connection does not so much join what training reaches as keep training on one side.
#
# Gradient descent with $X = I$ and, for each $n$, one random $Y$, from normal weights of variance $1/n$, those of the branch multiplied by $\delta$, until the loss is below half the wall $\sigma_{\min}(Y)^2$, after
# which a flow cannot leave its component. The share of pairs of descents in one component, in this run:


# %% Compare the ends of descents
def ends_of_descents(n, eps, delta, seed):
    """W_1, W_2, W_3 of descents that have come below the wall, X = I."""
    Y = random_invertible((), n, torch_generator(seed, f"targets {n}"))
    generator = torch_generator(seed, f"training {n} {eps} {delta}")
    W = torch.randn(3, runs, n, n, dtype=torch.float64, generator=generator)
    W = W / n**0.5 * torch.tensor([delta, delta, 1]).view(3, 1, 1, 1)
    eye, rate = torch.eye(n, dtype=torch.float64), torch.full((runs, 1, 1), 0.1)
    value = residual_loss(W, eye, Y, eps)
    for _ in range(20_000):
        if (value < obstruction(Y) / 2).all():
            break
        M = residual_map(W[0], W[1], eps)
        R = W[2] @ M - Y
        N = W[2].mT @ R
        gradient = torch.stack([W[1].mT @ N, N @ W[0].mT, R @ M.mT])
        trial = W - rate * gradient
        after = residual_loss(trial, eye, Y, eps)
        lower = after < value
        W = torch.where(lower[:, None, None], trial, W)
        value = torch.where(lower, after, value)
        rate = rate * torch.where(lower, 1.1, 0.5)[:, None, None]
    return W[:, value < obstruction(Y) / 2]


def together(n, eps, delta, seed):
    """Share of disjoint pairs of descents in one component, its interval, pairs."""
    W = ends_of_descents(n, eps, delta, seed)
    W = W[:, : W.shape[1] // 2 * 2]
    component = residual_components(W[0], W[1], eps)
    same = (component[::2] == component[1::2]).all(dim=-1)
    return *share(int(same.sum()), len(same)), len(same)


STARTS = [(0.0, 1.0), (1.0, 1.0), (1.0, 0.5), (1.0, 0.1), (0.1, 0.1)]  # ε and δ
found = {(n, *at): together(n, *at, seed) for n in (2, 4) for at in STARTS}

# %% [markdown]
# | Size | no skip | $\varepsilon = 1$, $\delta = 1$ | $\delta = 0.5$ | $\delta = 0.1$ | $\varepsilon = 0.1$, $\delta = 0.1$ |
# | --- | --- | --- | --- | --- | --- |
# | $n = 2$ | {glue:text}`together_2_0:.2f` | {glue:text}`together_2_1:.2f` | {glue:text}`together_2_2:.2f` | {glue:text}`together_2_3:.2f` | {glue:text}`together_2_4:.2f` |
# | $n = 4$ | {glue:text}`together_4_0:.2f` | {glue:text}`together_4_1:.2f` | {glue:text}`together_4_2:.2f` | {glue:text}`together_4_3:.2f` | {glue:text}`together_4_4:.2f` |
#
# For $\varepsilon = 1$ a tenth of the usual size is small enough in nearly all runs; for $\varepsilon = 0.1$ it is not. The $\delta$ of the proof is of the order $e^{-J}$, where $J$ grows like $|\varepsilon|^{-3}$.

# %%
value, low, high, pairs = found[4, 1.0, 0.1]
claims.check(
    "G2.trained",
    value,
    interval=(low, high),
    n=pairs,
    rival=found[4, 0.0, 1.0][0],
    second_seed=lambda: together(4, 1.0, 0.1, seed + 1)[:3],
)
figures.numbers(
    **{
        f"together_{n}_{i}": found[n, *at][0]
        for n in (2, 4)
        for i, at in enumerate(STARTS)
    }
)

# %% [markdown]
# ## What it means for merging networks
#
# A residual branch can be switched off on the way from one network to another, because the skip connection carries the signal meanwhile. So more pairs of networks are joined by a curve of loss 0, here, unless $n = h = 1$, all with one sign of
# $\det (W_2 W_1 + \varepsilon I)$, and training from small enough branches finds such pairs. About the straight line between them this says nothing.
#
# **Read on.** [](31_components.ipynb): deeper networks, and what permutations of neurons do. [](57_image_networks.ipynb): residual networks on images.

# %% [markdown]
# ## Evidence
#
# ### The count on a grid is exact
#
# The function
#
# $$
# F = W_3 (W_2 W_1 + \varepsilon) X - Y
# $$
#
# is of degree one in every weight, so on a cube it takes its least and its largest value at vertices. Whether a cube, or a face between two cubes, meets the surface $F = 0$ can be read off the signs at its vertices, without a
# tolerance. Cubes with a common face that meets the surface are put into one class (`surface_classes`).
#
# :::{prf:proposition} The count is exact
# :label: prop-grid
# Let 0 be a grid point on every axis and the box be $[-b, b]^3$ with $|Y/X| < b\, |\varepsilon|$ and $b^2 > |\varepsilon| + |Y/X|/b$, or $\varepsilon = 0$ and $b^3 > |Y/X|$. The number of classes of
# cubes is the number of components of the minimum, however coarse the grid.
# :::
#
# :::{prf:proof}
# *Inside one cube the surface is connected.* In a cube $W_3$ has one sign, so the surface there is a graph over the points of a rectangle at which $W_1 W_2$ lies in some interval. The rectangle lies in one closed quadrant; by
# reflection let it be $W_1, W_2 \ge 0$. If the interval holds no number $\le 0$, the points make a convex set in the coordinates $\ln W_1, \ln W_2$. If it does, they are the points with $W_1 W_2$ below some bound, and each is joined to the vertex next to
# 0 by lowering $W_1$ and then $W_2$.
#
# *Classes are components of the surface in the box.* Joined cubes hold connected pieces with a common point. If two pieces have a common point, cubes around it lead from one to the other through faces that hold it.
#
# *The box cuts no component in two and misses none.* In the box $|W_2 W_1 + \varepsilon| \ge c = |Y/X|/b$. For $\varepsilon > 0$ the part $W_1 W_2 \ge c - \varepsilon$ of the square shrinks to 0 along rays because $c < \varepsilon$, and
# $W_1 W_2 \le -c - \varepsilon$ gives one convex set in each of two quadrants, not empty because $b^2 > \varepsilon + c$. For $\varepsilon < 0$ reflect $W_1$, and for $\varepsilon = 0$ there is one such set in each quadrant.
# :::
#
# The counts above are for several data, skip connections and grids. All numbers are multiples of a small power of two, so that the values at the vertices have no rounding errors. The finest grid has {glue:text}`(2 * REACH * fineness) ** 3:,` cubes.
#
# ### The paper's decomposition
#
# In the paper's words, the points with $W_1 \ne 0$ are a set $S_1$ with four components, and for $\varepsilon \ne 0$ a line $S_0$ with $W_1 = 0$ and $W_3 = Y (\varepsilon X)^{-1}$ is added, which joins two of them.
#
# The same grids show the paper's decomposition. The plane $W_1 = 0$ cuts the box into two halves with two components each, which are the {glue:text}`of_S1:.0f` of $S_1$; in each half one of the two touches the plane, in the line $S_0$.

# %% Count the components on either side of the line
of_S1, touching = [], []  # components of S_1; those whose closure meets W_1 = 0
for (X, Y), eps, sign in itertools.product(DATA, SKIPS, (1, -1)):
    F = F_on_grid(sign * eps, X, Y, REACH, fineness)
    zero = len(F) // 2  # W_1 = 0
    number = meet = 0
    for half in (F[zero:], F[zero::-1]):  # away from W_1 = 0
        here, classes = surface_classes(half)
        number += here
        meet += len(set(classes[0][surface_cubes(half[0])].tolist()))
    of_S1.append(number)
    touching.append(meet)

# %%
claims.check("G2.decomposition", touching)

# %% Plot the two surfaces
extent = 3.0
colours = [figures.COLOURS[name] for name in ("blue", "orange", "green", "red")]
pictures = [
    Picture(title, list(zip(minimum_sheets(eps, extent), colours, strict=False)))
    for title, eps in (
        ("without: W₃W₂W₁ = 1", 0.0),
        ("with: W₃(W₂W₁ + 1) = 1", 1.0),
    )
]
figure, axes = figures.panels(2, height=5, subplot_kw={"projection": "3d"})
for axis, picture in zip(axes, pictures, strict=True):
    draw(axis, picture, ("$W_1$", "$W_2$", "$W_3$"), extent)
figures.show("fig_minimum_surfaces", figure)
figures.numbers(of_S1=float(max(of_S1, key=lambda number: abs(number - 4))))

# %% [markdown]
# :::{glue:figure} fig_minimum_surfaces
# :alt: Two surfaces in three dimensions. Without the skip connection, four separate curved sheets, one over each quadrant of the plane of the first two weights. With it, one large saddle-shaped sheet through the middle and two separate sheets in opposite corners.
#
# G, Fig. 1: the minimum for $n = 1$, $X = Y = 1$, without a skip connection and with $\varepsilon = 1$, cut off at $\pm 3$; one colour a component.
# :::
#
# The same surfaces to turn, by dragging or with the arrow keys:

# %% Show the surfaces to turn
alt = "The two surfaces above, turned by dragging or with the arrow keys."
display(HTML(turntable(pictures, ("W₁", "W₂", "W₃"), extent, alt)))

# %% [markdown]
# ### Proof: two components for n ≥ 2
#
# Let $M = W_2 W_1 + \varepsilon I$. At the minimum $W_3 M X = Y$, so $M$ is invertible and $W_3 = Y X^{-1} M^{-1}$. So the minimum is the graph of a continuous function over the open set
#
# $$
# U = \{ (W_1, W_2) : \det M \ne 0 \}
# $$
#
# and homeomorphic to it. On the part $U_0$ with $\det W_1 \ne 0$ the map $(W_1, W_2) \mapsto (W_1, M)$ is a homeomorphism onto $\mathrm{GL}_n \times \mathrm{GL}_n$, with inverse $W_2 = (M - \varepsilon I) W_1^{-1}$. So $U_0$ has four components $V_{s, \tau}$, with
# $s = \operatorname{sgn} \det W_1$ and $\tau = \operatorname{sgn} \det M$.
#
# *At most four, each with some $V_{s, \tau}$ in it.* $U$ is open in a Euclidean space, so its components are open. The zeros of the polynomial $\det W_1$ have no interior, so every component of $U$ meets $U_0$, and holds every $V_{s, \tau}$ that
# it meets.
#
# *At least two.* $\tau$ is continuous on $U$.
#
# *$V_{+, \tau}$ and $V_{-, \tau}$ are joined.* The curve of the argument, with $b = 0$ and $b = -2$, lies in $U$ and does so.
#
# For $\varepsilon = 0$, $\det M \ne 0$ says that $\det W_1 \ne 0$, so $U = U_0$. ∎
#
# ### Paths inside a component
#
# This proof is turned into explicit paths by `residual_path`: lift the singular values of $W_1$ a little, go to the corner $W_1 = \operatorname{diag}(\pm 1, 1, \dots, 1)$, $M = \varepsilon \operatorname{diag}(1, \dots, 1, \pm 1)$ in
# $\mathrm{GL}_n \times \mathrm{GL}_n$, cross there if the other end has another sign of $\det W_1$, and come back. On the random minima of the argument:

# %% Compute paths between minima of one sign
on_path, on_line = [], []  # largest loss / ‖Y‖²
for n, eps in CASES:
    W, X, Y = random_minima(n, eps, minima)
    label = residual_components(W[0], W[1], eps)  # the sign of det M
    same = (label[1:] == label[:-1]).all(dim=-1)  # neighbours in the row
    a, b = [V[:-1][same] for V in W], [V[1:][same] for V in W]
    path = residual_path(a, b, X, Y, eps, steps)
    line = straight_line(b, a, torch.linspace(0, 1, 21, dtype=torch.float64))
    for found, curve in ((on_path, path), (on_line, line)):
        highest = residual_loss(curve, X, Y, eps).amax(dim=-1)
        found.append(highest / Y.square().sum())
on_path, on_line = torch.cat(on_path), torch.cat(on_line)

# %%
claims.check(
    "G2.n2_path",
    on_path.max().item(),
    rival=float(np.median(on_line)),
    n=len(on_path),
)

# %% [markdown]
# ### Branches of other widths, and several blocks
#
# Without skip connections the $2B + 1$ layers of $B$ blocks have $2^{2B}$ components if all are $n \times n$ ({prf:ref}`thm-group`). The walks, for branches of other widths, from equally many minima of either sign:

# %% Count classes for other branches
branches = []  # classes
for (n, h), eps in itertools.product(
    [(1, 2), (1, 3), (2, 1), (2, 3), (3, 2), (4, 1)], (1.0, -1.0)
):
    generator = torch_generator(seed, f"branch {n} {h} {eps}")
    X, Y = random_invertible((2,), n, generator)
    W1, W2 = torch.randn(
        2, 20 * walkers, h * n, dtype=torch.float64, generator=generator
    )
    W1, W2 = W1.unflatten(1, (h, n)), W2.unflatten(1, (n, h))
    sign = determinant_sign(residual_map(W1, W2, eps))
    both = []
    for s in (1, -1):
        some = (V[sign == s][: 2 * walkers] for V in (W1, W2))
        both.append(nearest(residual_minimum(*some, X, Y, eps), walkers))
    W = [torch.cat(pair) for pair in zip(*both, strict=True)]
    branches.append(len(blind_classes(W, X, Y, eps).unique()))

# %%
claims.check("G2.branches", branches, n=2 * walkers * len(branches))

# %% [markdown]
# The same for two blocks with the widths $h_1$ and $h_2$, one with $\varepsilon = 1$ and one with $\varepsilon = -1$, from equally many minima for each pair of signs. If $n = h_1 = 1$, there are $3 \cdot 2$ components.

# %% Count classes for two blocks
eps, blocks, walked = (1.0, -1.0), [], 0  # classes / (2 or 3) · (2 or 3)
for n, *widths in [(1, 1, 2), (1, 2, 3), (2, 1, 2)]:
    generator = torch_generator(seed, f"two blocks {n} {widths}")
    X, Y = random_invertible((2,), n, generator)
    W = [
        torch.randn(200 * walkers, *s, dtype=torch.float64, generator=generator)
        for h in widths
        for s in ((h, n), (n, h))
    ]
    M_1, M_2 = (residual_map(*W[2 * b : 2 * b + 2], eps[b]) for b in (0, 1))
    W.append(times_inverse(times_inverse(Y, X), M_2 @ M_1))
    both = torch.stack([determinant_sign(M) for M in (M_1, M_2)], dim=1)
    far, chosen = W[4].flatten(1).norm(dim=1), []
    for signs in itertools.product((1, -1), repeat=2):
        some = (both == torch.tensor(signs)).all(dim=1).nonzero()[: 2 * walkers]
        chosen.append(some[far[some[:, 0]].argsort()[:walkers], 0])
    points = torch.cat([V[torch.cat(chosen)].flatten(1) for V in W], dim=1)
    misfit = two_blocks_misfit(X, Y, eps, widths)
    number = len(joined_classes(misfit, points, tries=10).unique())
    blocks.append(number / math.prod(3 if n == h == 1 else 2 for h in widths))
    walked += len(points)

# %%
claims.check("G2.blocks", blocks, n=walked)

# %% [markdown]
# ### A skip connection over one layer
#
# :::{prf:proposition} A skip connection over one layer
# :label: prop-skip-one-layer
# Let $X, Y \in \mathrm{GL}_n$, $l \ge 2$, and let $W_k + \varepsilon I$ stand for one layer $W_k$ of a linear network of $l$ layers, all $n \times n$. The minimum has $2^{l-1}$ components for every $\varepsilon$.
# :::
#
# :::{prf:proof}
# The translation $W_k \mapsto W_k + \varepsilon I$ takes the minimum to that without a skip connection, of which {prf:ref}`thm-group` speaks.
# :::

# %% Count classes with a translated layer
of_translated = []  # classes / 2, two layers
for n, eps in itertools.product(range(1, 5), (1.0, -1.0)):
    generator = torch_generator(seed, f"one layer {n} {eps}")
    X, Y, W1 = random_invertible((3, walkers), n, generator)
    X, Y, shift = X[0], Y[0], eps * torch.eye(n, dtype=torch.float64)
    W2 = times_inverse(times_inverse(Y, X), W1 + shift)
    near = W2.flatten(1).norm(dim=1).argsort()[: walkers // 2]
    points = torch.cat([W1[near].flatten(1), W2[near].flatten(1)], dim=1)
    r, derivative = product_misfit(2, X, Y)
    added = torch.cat([shift.flatten(), torch.zeros(n * n)])
    misfit = (
        lambda p, r=r, added=added: r(p + added),
        lambda p, d=derivative, added=added: d(p + added),
    )
    found = joined_classes(misfit, points, tries=min(40, walkers))
    of_translated.append(len(found.unique()) / 2)

# %%
claims.check(
    "G2.reduces_one_layer", of_translated, n=walkers // 2 * len(of_translated)
)

# %% [markdown]
# ### The wall, and a path that goes round it
#
# The pass of {prf:ref}`cor-skip-obstruction`, for random minima:

# %% Climb over the wall
height, rivals = [], []  # largest loss / σ_min(Y)²
for n, eps in itertools.product(range(1, 7), (1.0, -1.0)):
    generator = torch_generator(seed, f"obstruction {n} {eps}")
    X, Y, W1, W2 = random_invertible((4, 20), n, generator)
    X, Y = X[0], Y[0]
    eye = torch.eye(n, dtype=torch.float64)
    M, W3 = W2 @ W1 + eps * eye, residual_minimum(W1, W2, X, Y, eps)[2]
    M, W3 = path_over_obstruction([M, W3], X, Y, 1, steps)  # of W_3 M X
    W1 = W1[:, None].expand(M.shape)
    W2 = times_inverse(M - eps * eye, W1)
    crossed = determinant_sign(M[:, 0]) * determinant_sign(M[:, -1]) < 0
    highest = residual_loss([W1, W2, W3], X, Y, eps).amax(dim=-1)
    height.append((highest / obstruction(Y))[crossed])
    rivals.append(obstruction(times_inverse(Y, X)) / obstruction(Y))
height = torch.cat(height)

# %%
claims.check(
    "G2.obstruction", height, rival=min(rivals, key=lambda ratio: abs(ratio - 1))
)

# %% [markdown]
# A path between two minima with $n = 3$, $\varepsilon = 1$, $\tau = -1$ and different signs of $\det W_1$:

# %% Find a path between two signs
W, X, Y = random_minima(3, 1.0, minima)
below = determinant_sign(residual_map(W[0], W[1], 1.0)) == -1  # τ = −1
ends = [(below & (determinant_sign(W[0]) == s)).nonzero() for s in (1, -1)]
if not all(map(len, ends)):
    raise ValueError(
        f"minima = {minima}: those with τ = −1 have one sign of det W_1; "
        "allowed: more, so that both are there"
    )
start, goal = (found[0, 0] for found in ends)
path = residual_path([V[start] for V in W], [V[goal] for V in W], X, Y, 1.0, 60)
curves = {
    r"$\det W_1$": torch.linalg.det(path[0]),
    r"$\det (W_2 W_1 + I)$": torch.linalg.det(residual_map(*path[:2], 1.0)),
    "loss": residual_loss(path, X, Y, 1.0),
}


# %% Plot the path
figure, axis = figures.panels(height=3.4)
labels = zip(("black", "purple", "blue"), (0.0, 0.05, 0.05), strict=True)
for (name, values), (colour, lift) in zip(curves.items(), labels, strict=True):
    t = np.linspace(0, 1, len(values))
    axis.plot(t, values, color=f"book:{colour}", linewidth=2)
    style = dict(color=f"book:{colour}", va="center")
    axis.text(1.02, float(values[-1]) + lift, name, **style)
axis.set(xlabel="place on the path", xlim=(0, 1.35))
axis.set_xticks([0, 0.5, 1])
figures.show("fig_skip_path", figure)
figures.numbers(paths=len(on_path), mixed=mixed, worst_path=on_path.max())

# %% [markdown]
# :::{glue:figure} fig_skip_path
# :alt: Along a path between two minima with three by three weights the determinant of the first weight changes its sign while that of the residual map stays negative and the loss stays zero.
#
# A path by {prf:ref}`thm-skip` between two minima with $\tau = -1$ and different signs of $\det W_1$, for $n = 3$ and $\varepsilon = 1$; the loss on it is at most {glue:text}`curves["loss"].max():≤.0e` (profile {glue:text}`profile`).
# :::
#
# On {glue:text}`paths` paths between random minima with one sign of $\det (W_2 W_1 + \varepsilon I)$ the loss is at most {glue:text}`worst_path:≤.0e` $\|Y\|^2$; {glue:text}`mixed` of the classes that walks have found hold both signs.
#
# ### Proof: training from a small branch
#
# Let $R = W_3 M X - Y$, $N = W_3^\top R X^\top$, $q = \|W_1\|^2 + \|W_2\|^2$ and $\rho = \|R\|$ at the start. In a suitable unit of time
#
# $$
# \begin{aligned}
# \dot W_1 &= -W_2^\top N, \quad \dot W_2 = -N W_1^\top, \\
# \dot W_3 &= -R X^\top M^\top, \\
# \dot q &= -4 \operatorname{tr} (W_1^\top W_2^\top N) \le 2 q\, \|N\| .
# \end{aligned}
# $$
#
# While $q \le |\varepsilon|$, $\|M - \varepsilon I\| \le \frac q2 \le \frac{|\varepsilon|}2$, so that $\sigma_{\min}(M) \ge \frac{|\varepsilon|}2$. Then the gradient with respect to $W_3$ alone makes $\|R\|$ fall at least like $\rho\, e^{-ct}$ with
# $c = \frac14 \varepsilon^2 \sigma_{\min}(X)^2$. It follows that
#
# $$
# \begin{aligned}
# \|W_3\| &\le K = \|C\| + \tfrac{3 |\varepsilon|}2 \|X\|_2\, \tfrac\rho c, \\
# \int \|N\| &\le J = K\, \|X\|_2\, \tfrac\rho c, \quad q \le q(0)\, e^{2J} .
# \end{aligned}
# $$
#
# $\rho$, and so $J$, is bounded for $|\delta| \le 1$, and $q(0) = \delta^2 (\|A\|^2 + \|B\|^2)$. If $q(0)\, e^{2J} < |\varepsilon|$, $q$ never gets to $|\varepsilon|$, so all this is true for ever: $R \to 0$, the weights, whose speeds are integrable, converge, and no matrix between $\varepsilon I$ and $M$ is singular. The minima at which $\det M$ has the sign of $\varepsilon^n$ are one component, for $n = h = 1$ too ({prf:ref}`thm-branches`, {prf:ref}`thm-skip-one`). ∎
#
# G, section 7 sums up that the components of “full-rank multilayer networks with and without skip connections” are counted. What the paper counts with a skip connection is one branch with $1 \times 1$ weights; {prf:ref}`thm-branches` adds branches of other widths and several blocks.
#
# ### Exercises
#
# :::{exercise}
# Let $n = 1$, $X = Y = 1$, $\varepsilon = 1$. Find $W_3$ for $(W_1, W_2) = (1, 1)$, $(-1, -1)$ and $(2, -1)$. Which of these minima can be joined without loss? Give a curve.
# :::
#
# :::{solution}
# $W_3 = 1/(W_2 W_1 + 1)$ is $\frac12$, $\frac12$ and $-1$. The first two are joined by $(s, s, 1/(s^2 + 1))$, $1 \ge s \ge -1$, through $(0, 0, 1)$. In the third $W_2 W_1 + 1$ has the other sign, so every path to it passes a
# point with $W_2 W_1 + 1 = 0$ and loss 1. Without the skip connection the first two would lie in different quadrants, too.
# :::
#
# :::{exercise}
# For $n \ge 2$ minima with different signs of $\det W_1$ and one sign of $\det (W_2 W_1 + \varepsilon I)$ are joined for every $\varepsilon \ne 0$, but not for $\varepsilon = 0$. What happens to the paths as $\varepsilon \to 0$? Show that each of them holds a point with
# $\|W_3\|_2 \ge \sigma_{\min}(Y X^{-1}) / |\varepsilon|$.
# :::
#
# :::{solution}
# On a path there is a point with $\det W_1 = 0$, so a unit vector $v$ with $W_1 v = 0$ and $M v = \varepsilon v$. As $W_3 = Y X^{-1} M^{-1}$, $W_3 v = Y X^{-1} v / \varepsilon$, whose length is at least
# $\sigma_{\min}(Y X^{-1}) / |\varepsilon|$. The bridge is there for every $\varepsilon \ne 0$, but it moves to infinity.
# :::
#
# :::{try}
# A finer grid and more minima, with the verdicts of this page (look at the printed counts):
#
#     make chapter NAME=skip_connection ARGS="-p fineness 16 -p minima 200"
# :::

# %% Versions and time
print(chapter.end())
