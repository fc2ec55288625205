# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Averaging two factorisations of one product can lead arbitrarily far away
#
# *How far is the average of two factorisations of a product from all its factorisations?*
#
# Arbitrarily far, as the paper says (proved). Stretch one factor by $\beta$ and shrink the other, then average with the opposite stretch: the distance grows like **$\beta$**. For $\beta$ near 1 it is of second order in $\beta - 1$, and averaging is harmless.
#
# :::{glue:figure} fig_far
# :alt: Distance from all factorisations against the stretch beta from 1 to 10, both axes linear and the distance from 0. The distance of the average is nearly 0 at first, bends at beta equal to 2 plus the root of 3, and then grows in proportion to beta, marked with the recorded power [[G6.unbounded:.3f]]. Above it, half of the distance between the two factorisations.
#
# Distance of the average of two balanced factorisations of a $3 \times 3$ matrix from all (unit: root of the nuclear norm), exact (line), numerical (dots). Dotted: half that of the two. Dashed: the bend, $2 + \sqrt3$.
# :::
#
# **How sure.** Proved between two bounds that meet as $\beta$ grows; compared at [[n(G6.bounds)]] averages, recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | distance above "any positive number" (Prop. 5.5) | [true, like $\beta$](#G6.unbounded) | power [[G6.unbounded:≥.3f]] or more, [[n(G6.unbounded)]] cases |
# | "far away from the orbit" (sec. 5.3) | [true, with bounds](#G6.bounds) | between two bounds, [[n(G6.bounds)]] midpoints |
# | "cannot approach … simultaneously" (proof) | [true; we supply the estimate](#G6.last_step) | within rounding, [[n(G6.last_step)]] searches |
# | Ours: any average far from the pairs with product 0 is far from all factorisations (the proof uses two special points) | [true](#G6.averages) | no exception in [[n(G6.averages)]] averages |
#
# **Open.** Nothing.
#
# **For the authors.** No sentence to change. The proof may end with $\max(\lVert cI - g \rVert_2, \lVert cI - g^{-1} \rVert_2) \ge c - 1$, where $c = (\beta + \beta^{-1})/2$.

# %% [markdown]
# :::{need}
# You need: singular values, orthogonal projectors, convex functions. Norms are Frobenius norms unless marked; $\lVert \cdot \rVert_2$ is the spectral norm, $\lVert \cdot \rVert_*$ the sum of the singular values. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $W_1$, $W_2$; $m$, $h$, $n$ | factors of sizes $m \times h$ and $h \times n$ |
# | $A$, $S$ | product $W_1 W_2$; all factorisations, $S = \{(X, Z) : X Z = A\}$ |
# | $g$ | invertible $h \times h$ matrix, which takes $(W_1, W_2)$ to $(W_1 g^{-1}, g W_2)$ |
# | $\beta$, $c$ | stretch of one factor; $c = \frac12 (\beta + \beta^{-1})$ |
# | $U$, $V$ | any pair of matrices of these sizes, for example an average |
# | $\operatorname{dist}$, $d_0$ | distance from $S$ in the norm $(\lVert X \rVert^2 + \lVert Z \rVert^2)^{1/2}$; distance from $\{X Z = 0\}$ |
# | $D$, $\Pi$, $\Pi'$ | $W_1^\top W_1 - W_2 W_2^\top$; projectors on its negative eigenvectors, and on the others |
# | $a$ | $\lVert A \rVert_*^{1/2}$ |

# %% Parameters tags=["parameters"]
factorisations: int = 8  # random factorisations of each shape
n_max: int = 3  # largest square matrix
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(globals(), factorisations=Integer(2, 10000), n_max=Integer(2, 6))

import itertools
import math

import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.orbit_distance import (
    balanced_distance,
    balanced_factorisation,
    distance_to_zero_product,
    midpoint_bounds,
)
from lmc_helpers.general_linear import random_invertible
from lmc_helpers.orbits.distance import orbit_distance, stationarity
from lmc_helpers.seeds import torch_generator

# %% [markdown]
# ## The longer the chord of the orbit, the farther its middle
#
# Two weight matrices that are multiplied, as queries and keys in attention are, may be replaced by $(W_1 g^{-1}, g W_2)$ with any invertible $g$. If $A = W_1 W_2$ is invertible, all factorisations of $A$ are one such {term}`orbit`. Zhao, Dehmamy, Walters & Yu (G) {cite:p}`zhao2025`, read in the version submitted for review, take its points for $g = \beta I$ and $g = \beta^{-1} I$. Their middle is
#
# $$
# (c\, W_1, c\, W_2), \qquad c = \tfrac12 (\beta + \beta^{-1}) = \cosh \ln \beta \ge 1 ,
# $$
#
# and half of the line has the length $\sqrt{c^2 - 1}\, \lVert W \rVert$, $\lVert W \rVert^2 = \lVert W_1 \rVert^2 + \lVert W_2 \rVert^2$. With numbers in place of matrices and $A = 1$ it can be drawn:

# %% Plot three chords
idea, plane = figures.panels(height=4.6)
arm = torch.linspace(0.12, 8, 400, dtype=torch.float64)
plane.plot(arm, 1 / arm, color="book:black", linewidth=2, label="$W_1 W_2 = 1$")
unit_one = torch.ones(1, 1, dtype=torch.float64)
for stretch, colour in ((2.0, "sky"), (4.0, "green"), (7.0, "red")):
    tips, colour = [stretch, 1 / stretch], f"book:{colour}"
    middle = torch.full((1, 1, 1), sum(tips) / 2, dtype=torch.float64)
    foot = orbit_distance(middle, middle, unit_one, unit_one)
    label = rf"$\beta = {stretch:g}$"
    plane.plot(tips[::-1], tips, "o-", color=colour, label=label)
    plane.plot(middle.item(), middle.item(), "s", color=colour, markersize=6)
    feet = foot.X.item(), foot.Z.item()
    for across, up in (feet, feet[::-1]):
        ends = [middle.item(), across], [middle.item(), up]
        plane.plot(*ends, "--", color=colour, linewidth=1.2)
plane.set(xlabel="$W_1$", ylabel="$W_2$", aspect="equal")
plane.set(xlim=(0, 7.5), ylim=(0, 7.5))
plane.legend(loc="upper left", bbox_to_anchor=(1.05, 1))
figures.show("fig_midpoints", idea)

# %% [markdown]
# :::{glue:figure} fig_midpoints
# :alt: One branch of a hyperbola with three chords; dashed lines lead from the middle of each chord to the nearest points of the hyperbola, one for the short chord, two for the longer ones.
#
# Chords of the orbit between $g = \beta$ and $\beta^{-1}$, their middle (squares) and the points of the orbit nearest to it (dashed). The longer the chord, the farther its middle.
# :::
#
# G's proof ends: "As $\beta \to \infty$, $g$ and $g^{-1}$ cannot approach $\frac{\beta + \beta^{-1}}2 I$ simultaneously. Therefore, (24) is not bounded." That both cannot *be* $cI$ is true for every $\beta \ne 1$, also where the distance is small; needed is a bound that grows with $c$. The last step of the proof is asserted; we supply the estimate:
#
# :::{prf:lemma} The last step of the proof of G, Prop. 5.5
# :label: lem-both
# For every invertible $g$ and $c \ge 1$
#
# $$
# \max \bigl( \lVert cI - g \rVert_2, \lVert cI - g^{-1} \rVert_2 \bigr) \ge c - 1 ,
# $$
#
# with equality for $g = I$. So if $W_1$ and $W_2$ are invertible, the distance from $S$ is at least $(c - 1) \min \bigl( \sigma_{\min}(W_1), \sigma_{\min}(W_2) \bigr)$, which is unbounded.
# :::
#
# :::{prf:proof}
# Let $x$ be a unit vector and $s = \lVert g x \rVert$. Then $\lVert (cI - g) x \rVert \ge c - s$, and with the unit vector $y = g x / s$, $\lVert (cI - g^{-1}) y \rVert \ge c - 1/s$. One of $s$ and $1/s$ is at most 1. The points of $S$ are
# $(W_1 g^{-1}, g W_2)$, and a product with $W_1$ is at least $\sigma_{\min}(W_1)$ times as long; likewise for $W_2$.
# :::
#
# A search from random $g$, which takes random steps, ever shorter ones, where they lower the larger of the two norms, finds none below $c - 1$:

# %% Search for a closer pair
C_ALL = torch.tensor([1.1, 1.5, 2.5, 5.0, 20.0, 100.0, 500.0]).double()


def both_norms(g, c):
    """max(‖cI − g‖, ‖cI − g⁻¹‖) / (c − 1), spectral norms."""
    ends = c * torch.eye(g.shape[-1]) - torch.stack([g, torch.linalg.inv(g)])
    return torch.linalg.matrix_norm(ends, 2).amax(dim=0) / (c - 1)


both = []  # after each search
for n, c in itertools.product(range(1, n_max + 1), C_ALL):
    generator = torch_generator(seed, f"last step {n} {c}")
    g = random_invertible((40,), n, generator)
    for size in torch.logspace(0, -4, 100, dtype=torch.float64):
        step = torch.randn(g.shape, dtype=g.dtype, generator=generator)
        trial = g @ torch.linalg.matrix_exp(size * step)
        lower = both_norms(trial, c) < both_norms(g, c)
        g = torch.where(lower[:, None, None], trial, g)
    both += both_norms(g, c).tolist()

# %%
claims.check("G6.last_step", both)

# %% [markdown]
# ## Far from the origin the orbit looks like the pairs with product 0
#
# As $W$ itself lies in $S$, $\operatorname{dist}(cW) \le (c - 1) \lVert W \rVert$, which is of second order in $\ln \beta$, while the line's length is of first order. For large $c$ the distance is that from a cone, the pairs with product 0:
#
# :::{prf:lemma} Distance to the cone
# :label: lem-cone
# The distance of $(W_1, W_2)$ to $\{X Z = 0\}$ is $d_0$ with
#
# $$
# \begin{aligned}
# d_0^2 &= \tfrac12 \bigl( \lVert W_1 \rVert^2 + \lVert W_2 \rVert^2 - \lVert D \rVert_* \bigr) \\
# &= \lVert W_1 \Pi \rVert^2 + \lVert \Pi' W_2 \rVert^2 ,
# \end{aligned}
# $$
#
# where $\Pi$ is the orthogonal projector on the eigenvectors of $D$ with negative eigenvalues and $\Pi' = I - \Pi$.
# :::
#
# :::{prf:proof}
# If $XZ = 0$ and $\Pi$ projects on the range of $Z$, then $X\Pi = 0$ and $\Pi' Z = 0$, so that $\lVert W_1 - X \rVert \ge \lVert W_1 \Pi \rVert$ and $\lVert W_2 - Z \rVert \ge \lVert \Pi' W_2 \rVert$, with equality for $(W_1 \Pi', \Pi W_2)$. The sum of the squares is
# $\lVert W_2 \rVert^2 + \operatorname{tr}(\Pi D)$, which over all orthogonal projectors is least for the one of the lemma, $\lVert W_2 \rVert^2 + \frac12 (\operatorname{tr} D - \lVert D \rVert_*)$.
# :::
#
# :::{prf:theorem} Distance of midpoints from the orbit
# :label: thm-orbit-distance
# Let $W_1$ be $m \times h$, $W_2$ $h \times n$, $A = W_1 W_2 \ne 0$, $c \ge 1$. Then $0 < d_0^2 \le \lVert A \rVert_*$ and
#
# $$
# \begin{aligned}
# (c^2 - 2)\, d_0^2 &\le \operatorname{dist}(c W_1, c W_2)^2 \\
# &\le \bigl(c - \tfrac1c\bigr)^2 d_0^2 \\
# &= \bigl(c^2 - 2 + c^{-2}\bigr)\, d_0^2 .
# \end{aligned}
# $$
# :::
#
# :::{prf:proof}
# *Above.* With $g = c\, \Pi + c^{-1} \Pi'$, $c W_1 - W_1 g^{-1} = (c - \frac1c) W_1 \Pi$ and $c W_2 - g W_2 = (c - \frac1c) \Pi' W_2$.
#
# *A multiplier.* The lower bound needs a Lagrange multiplier for $XZ = A$: an $m \times n$ matrix $\Gamma$ with $\lVert \Gamma \rVert_2 \le 1$, which makes the function $G$ below convex, and with $\Gamma W_2^\top \Pi = W_1 \Pi$ and
# $\Gamma^\top W_1 \Pi' = W_2^\top \Pi'$, which makes it stationary at the nearest point of the cone. For $D = 0$, $\Pi = 0$, and an orthogonal factor does: $W_1$ and $W_2^\top$ have the same Gram matrix, so some $\Gamma^\top$ of norm 1 maps $W_1$ to $W_2^\top$. In general, by the choice of $\Pi$, $\lVert W_1 x \rVert \le \lVert W_2^\top x \rVert$ for $x$ in the range of $\Pi$ and
# $\lVert W_2^\top y \rVert \le \lVert W_1 y \rVert$ for $y$ in that of $\Pi'$, and $\langle W_1 x, W_1 y \rangle = \langle W_2^\top x, W_2^\top y \rangle$, as $x^\top D y = 0$. So the two equations define $\Gamma$ on $M = W_2^\top \operatorname{range} \Pi$ and $\Gamma^\top$ on
# $N = W_1 \operatorname{range} \Pi'$, both do not increase norms, and $\langle \Gamma x, y \rangle = \langle x, \Gamma^\top y \rangle$ for $x \in M$ and $y \in N$. In orthonormal bases that begin with bases of $M$ and $N$ the first column and the first row of $\Gamma$ are given, and
# {prf:ref}`lem-parrott` completes them.
#
# *Below.* Let
#
# $$
# \begin{aligned}
# G(X, Z) = \;&\lVert c W_1 - X \rVert^2 \\
# &+ \lVert c W_2 - Z \rVert^2 + 2 \langle \Gamma, X Z \rangle .
# \end{aligned}
# $$
#
# Its quadratic part is at least $(\lVert X \rVert - \lVert Z \rVert)^2 \ge 0$, so that $G$ is convex. At $(c W_1 \Pi', c\, \Pi W_2)$ the halves of its gradient are $-c W_1 \Pi + c\, \Gamma W_2^\top \Pi = 0$ and
# $-c\, \Pi' W_2 + c\, \Pi' W_1^\top \Gamma = 0$, and its value is $c^2 d_0^2$, because there $XZ = 0$. So $G \ge c^2 d_0^2$ everywhere. On $S$, $G$ is the squared distance plus $2 \langle \Gamma, A \rangle$, and
#
# $$
# \begin{aligned}
# \langle \Gamma, A \rangle &= \langle \Gamma W_2^\top \Pi, W_1 \Pi \rangle \\
# &\quad + \langle \Gamma^\top W_1 \Pi', W_2^\top \Pi' \rangle \\
# &= \lVert W_1 \Pi \rVert^2 + \lVert \Pi' W_2 \rVert^2 = d_0^2 .
# \end{aligned}
# $$
#
# This is also at most $\lVert A \rVert_*$; and $d_0 = 0$ only if $W_1 W_2 = 0$.
# :::
#
# So $\operatorname{dist} > b$ as soon as $c^2 > 2 + b^2/d_0^2$: G, Prop. 5.5 holds, with every $W$ in $S$, and the distance is $c\, d_0$ less a term of order $1/c$. In units of half of the line it tends to $d_0 / \lVert W \rVert \le 1/\sqrt 2$. The loss $\lVert A - W_1 W_2 \rVert^2$ in the middle is $(c^2 - 1)^2 \lVert A \rVert^2$: it grows like the fourth power of the distance.
#
# The theorem is compared with a minimisation over $g$ (`orbit_distance`): Newton's method on the group, from $2^{h+1} + 2$ starts with both signs of $\det g$.


# %% Draw random factors
def random_factors(purpose, number, m, h, n):
    """W_1 (m, h) and W_2 (h, n)."""
    generator = torch_generator(seed, f"{purpose} {number} {m} {h} {n}")
    W1 = torch.randn(m, h, dtype=torch.float64, generator=generator)
    return W1, torch.randn(h, n, dtype=torch.float64, generator=generator)


# %% Shapes, and the nearest points of the orbit
BETA = torch.tensor([100.0, 1000.0]).double()
SHAPES = [(n, n, n) for n in range(1, n_max + 1)] + [(4, 2, 3)]  # m, h, n


def nearest(W1, W2, c):
    """The points of the orbit next to the midpoints (c W_1, c W_2)."""
    scale = c[:, None, None]
    return orbit_distance(scale * W1, scale * W2, W1, W2)


# %%
measured = []  # W_1, W_2 and the distances (7,)
slopes, residuals, at_W = [], [], []
for shape, number in itertools.product(SHAPES, range(factorisations)):
    W1, W2 = random_factors("factors", number, *shape)
    found = nearest(W1, W2, torch.cat([C_ALL, (BETA + 1 / BETA) / 2]))
    measured.append((W1, W2, found.distance[:-2]))
    growth = found.distance[-1] / found.distance[-2]  # from β = 100 to 1000
    slopes.append(growth.log().item() / math.log(10))
    residuals += found.residual[:-2].tolist()  # of Xᵀ(U − X) = (V − Z) Zᵀ
    at_W.append(stationarity(2 * W1, 2 * W2, W1, W2).item())

# %%
claims.check("G6.unbounded", slopes)

# %% [markdown]
# How far the distance is outside the two bounds, in units of $c^2 d_0^2$; inside, the numbers are negative:

# %% Distances against the bounds
violations, rivals = [], []
for W1, W2, distance in measured:
    c, d_0 = C_ALL, distance_to_zero_product(W1, W2)
    low = (c.square() - 2).clamp(min=0).sqrt() * d_0
    high = (c - 1 / c) * d_0
    unit = c.square() * d_0.square()
    below = (low.square() - distance.square()) / unit
    above = (distance.square() - high.square()) / unit
    violations += torch.maximum(below, above).tolist()
    too_much = (c.square() - 1) * d_0.square()  # a lower bound that is wrong
    rivals += ((too_much - distance.square()) / unit).tolist()

# %%
claims.check("G6.bounds", violations, rival=max(rivals))

# %% [markdown]
# ## For balanced factors the distance is exact, and at first they stay nearest
#
# :::{prf:theorem} Balanced factorisations
# :label: thm-balanced-distance
# Let $A$ have rank $h$, so that $S$ is one orbit. If $W_1^\top W_1 = W_2 W_2^\top$, then $d_0^2 = \lVert A \rVert_*$, the largest value, and
#
# $$
# \frac{\operatorname{dist}(cW)^2}{\lVert A \rVert_*} = \begin{cases} 2 (c - 1)^2 & 1 \le c \le 2, \\ c^2 - 2 & c \ge 2 . \end{cases}
# $$
# :::
#
# :::{prf:proof}
# Let $E = W_1^\top W_1 = W_2 W_2^\top$ and $B = g + g^{-\top}$. As $B^\top B = g^\top g + g^{-1} g^{-\top} + 2I$ and $\operatorname{tr}(E g^{-\top}) = \operatorname{tr}(E g^{-1})$,
#
# $$
# \begin{aligned}
# &\lVert W_1 (cI - g^{-1}) \rVert^2 + \lVert (cI - g) W_2 \rVert^2 \\
# &\quad = (c^2 - 2) \operatorname{tr} E + \lVert (B - cI) E^{1/2} \rVert^2 .
# \end{aligned}
# $$
#
# $E$ has the eigenvalues of $(A^\top A)^{1/2}$, so $\operatorname{tr} E = \lVert A \rVert_*$. If $c \ge 2$, $B = cI$ for $g = tI$ with $t + t^{-1} = c$. If $c \le 2$, the singular values of $B$ are $s + s^{-1} \ge 2$ with those $s$ of $g$, so
# $\lVert (B - cI) x \rVert \ge (2 - c) \lVert x \rVert$ for all $x$, with equality at $g = I$, and $c^2 - 2 + (2 - c)^2 = 2 (c - 1)^2$. $D = 0$ gives $d_0$.
# :::
#
# Up to $c = 2$, $\beta = 2 + \sqrt 3$, the nearest point of a balanced orbit is $W$ itself. Beyond it there are many nearest points, all with $g + g^{-\top} = cI$ ({claim}`G6.balanced`). With numbers, the nearest point at $(1, 1)$ divides into two:

# %% Plot a chord of the orbit, to lengthen
stretch = torch.linspace(1.05, 7, 60, dtype=torch.float64)  # β
central = (stretch + 1 / stretch) / 2  # c
feet = nearest(unit_one, unit_one, central)
X, Z = feet.X.flatten(), feet.Z.flatten()
length = feet.distance.numpy()
scene = figures.Moving(
    r"$\beta$",
    [f"{value:.2f}" for value in stretch.tolist()],
    [
        f"the middle ({c:.2f}, {c:.2f}) is {far:.2f} from the orbit"
        for c, far in zip(central.tolist(), length.tolist(), strict=True)
    ],
    start=40,
)
orbit = scene.panel(xlabel="$W_1$", ylabel="$W_2$", equal=True)
orbit.xlim = orbit.ylim = (0, 7.5)
fine = torch.linspace(0.12, 8, 300, dtype=torch.float64)
orbit.draw(fine, 1 / fine, "-", "black", "orbit, $W_1 W_2 = 1$")
chord = torch.stack([stretch, 1 / stretch], dim=1)
orbit.draw(chord, chord.flip(1), "o-", "orange", "chord")
path = torch.stack([X, central, Z], dim=1)
orbit.draw(path, path.flip(1), "o--", "blue", "to the nearest points")
middle = central[:, None]
orbit.draw(middle, middle, "s", "red", "middle of the chord")
growth = scene.panel(xlabel=r"$\beta$", ylabel="distance from the orbit")
growth.draw(stretch, length, "-", "blue", "distance of the middle")
half = (central.square() - 1).sqrt() * math.sqrt(2)
growth.draw(stretch, half, ":", "orange", "half of the chord")
growth.draw([2 + math.sqrt(3)] * 2, [0, 4], "--", "grey", r"$\beta = 2 + √3$")
growth.draw(stretch[:, None], length[:, None], "s", "red")
scene.show("fig_orbit_chord")

# %% Plot the distance of the average
figure, axis = figures.panels(height=2.8)
W1, W2 = random_factors("figure", 0, 3, 3, 3)
A = W1 @ W2
unit = torch.linalg.matrix_norm(A, "nuc").sqrt()
span = torch.linspace(1, 10, 181, dtype=torch.float64)[1:]  # β
c = (span + 1 / span) / 2
away, between = balanced_distance(c, A) / unit, (2 * (c.square() - 1)).sqrt()
axis.plot(span, between, ":", color="book:black")
axis.plot(span, away, color="book:blue")
dots = nearest(*balanced_factorisation(A), c[9::19]).distance / unit
axis.plot(span[9::19], dots, "o", color="book:blue", markersize=4)
bend, power = 2 + math.sqrt(3), claims.recorded("G6.unbounded")["value"]
axis.plot([bend, bend], [0, math.sqrt(2)], "--", color="book:grey", linewidth=1)
axis.text(bend + 0.1, 0.15, r"$\beta = 2 + \sqrt{3}$", color="book:grey")
words = f"  the average:\n  like $\\beta^{{{power:.3f}}}$"
axis.text(10, away[-1], words, color="book:blue", va="center")
axis.text(10, between[-1], "  half of the\n  chord", va="center")
axis.set(
    xlabel=r"stretch $\beta$", ylabel="distance", xlim=(1, 10), ylim=(0, 7.5)
)
axis.set_xticks(range(1, 11))
figures.show("fig_far", figure)

# %% [markdown]
# :::{glue:figure} fig_orbit_chord
# :alt: First, one branch of a hyperbola with a chord and dashed lines from the middle of the chord to its nearest points on the hyperbola. Second, the distance of the middle against beta, flat at first and then nearly parallel to half of the chord's length.
#
# Weights of size $1 \times 1$ with $A = 1$. First panel: the chord from $(\beta^{-1}, \beta)$ to $(\beta, \beta^{-1})$ and the numerical nearest points to its middle. Second: the distance; dashed grey, $\beta = 2 + \sqrt 3$.
# :::
#
# Move $\beta$: up to $2 + \sqrt 3$ the distance is of second order in $\ln\beta$; beyond, it grows like the chord.
#
# ## Any average far from the pairs with product 0 is far from the orbit
#
# The lower bound does not need the special midpoints. For two attention heads with one product of queries and keys, $(U, V)$ is their average:
#
# :::{prf:theorem} Any point
# :label: thm-any-point
# Let $S = \{XZ = A\}$ with any $m \times n$ matrix $A \ne 0$, and $a = \lVert A \rVert_*^{1/2}$. Let $U$ be any $m \times h$ and $V$ any $h \times n$ matrix, with the distance $d_0$ from $\{XZ = 0\}$ ({prf:ref}`lem-cone`). Then
#
# $$
# \operatorname{dist}(U, V)^2 \ge \begin{cases} 2 (d_0 - a)^2 & a \le d_0 \le 2a , \\ d_0^2 - 2a^2 & d_0 \ge 2a . \end{cases}
# $$
#
# For $(U, V) = (c W_1, c W_2)$ with a balanced factorisation of rank $h$, $d_0 = ca$, and both are equalities.
# :::
#
# :::{prf:proof}
# Let $\Pi$, $\Gamma$ and $G$ be those of {prf:ref}`thm-orbit-distance` with $(U, V)$ for $(c W_1, c W_2)$; that proof needs no more of the two matrices. Then $G = d_0^2 + Q(w - w_0)$ with $w = (X, Z)$, $w_0 = (U \Pi', \Pi V)$ and the quadratic part
# $Q(w) = \lVert w \rVert^2 + 2 \langle \Gamma, XZ \rangle$, $0 \le Q(w) \le 2 \lVert w \rVert^2$. At $w_1 = (U, V)$, $G = 2 \langle \Gamma, UV \rangle = 2 d_0^2$, so $Q(w_1 - w_0) = d_0^2$.
#
# Let $w \in S$ and $r = \lVert w - w_1 \rVert$. Then $r^2 + 2a^2 \ge r^2 + 2 \langle \Gamma, A \rangle = G \ge d_0^2$, the second bound. If $\sqrt2\, r \le d_0$, the triangle inequality for $Q^{1/2}$ gives $Q(w - w_0) \ge (d_0 - \sqrt2\, r)^2$ and $r^2 + 2a^2 \ge d_0^2 + (d_0 - \sqrt2\, r)^2$, that is
# $(\sqrt2\, d_0 - r)^2 \le 2a^2$ and $r \ge \sqrt2\, (d_0 - a)$. Otherwise $r > d_0/\sqrt2$, which is at least $\sqrt2\, (d_0 - a)$ for $d_0 \le 2a$. The last sentence is {prf:ref}`thm-balanced-distance`.
# :::
#
# So no point with this $d_0 \ge a$ is closer to $S$ than the midpoint of a balanced factorisation of $A$ would be. Averages of two random factorisations of one product, of sizes that differ by up to a factor 100:

# %% Averages of random factorisations
violations_any, rivals_any, shares = [], [], []
SMALL = [shape for shape in SHAPES if shape[1] <= 3]
for shape, number in itertools.product(SMALL, range(factorisations)):
    W1, W2 = random_factors("averages", number, *shape)
    generator = torch_generator(seed, f"average {number} {shape}")
    g = random_invertible((2, 6), shape[1], generator)
    size = torch.logspace(0, 1, 6, dtype=torch.float64)[:, None, None]
    g = torch.stack([g[0] * size, g[1] / size])
    U, V = W1 @ torch.linalg.inv(g).mean(dim=0), g.mean(dim=0) @ W2
    a = torch.linalg.matrix_norm(W1 @ W2, "nuc").sqrt()
    d_0 = distance_to_zero_product(U, V)
    far = d_0 > a
    bound = balanced_distance(d_0[far] / a, W1 @ W2)  # with d_0 = ca
    distance = orbit_distance(U[far], V[far], W1, W2).distance
    for found, lower in (
        (violations_any, bound.square()),
        (rivals_any, d_0[far].square() - a.square()),
    ):
        found += ((lower - distance.square()) / d_0[far].square()).tolist()
    shares += (bound / distance).tolist()

# %%
claims.check("G6.averages", violations_any, rival=max(rivals_any))
figures.numbers(
    averages=len(shares),
    most_of_distance=max(shares),
    half_of_distance=torch.tensor(shares).median().item(),
)

# %% [markdown]
# The bound is up to {glue:text}`most_of_distance:≤.2f` of the distance and in the median {glue:text}`half_of_distance:.2f` of it, over {glue:text}`averages` averages with $d_0 > a$.
#
# ## What it means for merging networks
#
# Two attention heads with the same product of queries and keys may have factors far apart, and their average can be far from every pair of factors with that product. If the two differ by little, $\ln \beta$ small, averaging is harmless: the middle is off by a second-order amount only. So align $g$, not only the order of the neurons, before averaging such layers.
#
# **Read on.** [](33_unbounded_barriers.ipynb): the loss in place of the distance. [](36_curvature.ipynb): what curvature says about chords. [](31_components.ipynb): the components of such orbits.

# %% [markdown]
# ## Evidence

# %% [markdown]
# ### The completion that the theorem needs
#
# :::{prf:lemma} Parrott's completion
# :label: lem-parrott
# Let the first column $(a, p)$ and the first row $(a, b)$ of a block matrix have spectral norm at most 1. There is a last block $q$ with which the whole matrix has spectral norm at most 1.
# :::
#
# :::{prf:proof}
# $p = K (I - a^\top a)^{1/2}$ and $b = (I - a a^\top)^{1/2} L$ with $\lVert K \rVert_2, \lVert L \rVert_2 \le 1$. With $q = -K a^\top L$
#
# $$
# \begin{aligned}
# \begin{pmatrix} a & b \\ p & q \end{pmatrix} &= \begin{pmatrix} I & \\ & K \end{pmatrix} U \begin{pmatrix} I & \\ & L \end{pmatrix} , \\
# U &= \begin{pmatrix} a & (I - a a^\top)^{1/2} \\ (I - a^\top a)^{1/2} & -a^\top \end{pmatrix} ,
# \end{aligned}
# $$
#
# and $U$ is orthogonal.
# :::
#
# ### Both forms of the distance from the cone
#
# $d_0^2$ of {prf:ref}`lem-cone` for a random pair, $4 \times 2$ and $2 \times 3$:

# %% Distance from the cone, twice
W1, W2 = random_factors("cone", 0, 4, 2, 3)
values, Q = torch.linalg.eigh(W1.T @ W1 - W2 @ W2.T)  # of D
Pi = Q[:, values < 0] @ Q[:, values < 0].T
rest = torch.eye(2, dtype=torch.float64) - Pi
closed_form = (W1.norm() ** 2 + W2.norm() ** 2 - values.abs().sum()) / 2
projected = (W1 @ Pi).norm() ** 2 + (rest @ W2).norm() ** 2
print(f"closed form {closed_form:.6f}, by projectors {projected:.6f}")

# %% [markdown]
# ### The minimum over g is stationary
#
# Along $(X e^{-t\eta}, e^{t\eta} Z)$ the distance to $(U, V)$ is stationary if and only if
#
# $$
# X^\top (U - X) = (V - Z) Z^\top .
# $$

# %%
claims.check("G6.stationary", residuals, rival=min(a for a in at_W if a > 0))

# %% [markdown]
# The first-order condition is met to {glue:text}`worst:≤.0e` at the worst of {glue:text}`cases` midpoints of random factorisations.
#
# ### The exact distance of balanced factorisations

# %% Distances of balanced factorisations
exact, at_home = [], []  # relative errors: of the theorem; of W as nearest point
c = torch.tensor([1.1, 1.5, 1.9, 2.5, 5.0, 50.0]).double()
for n, number in itertools.product(range(1, n_max + 1), range(factorisations)):
    generator = torch_generator(seed, f"balanced {number} {n}")
    A = torch.randn(n, n, dtype=torch.float64, generator=generator)
    P, values, Qh = torch.linalg.svd(A)
    W1, W2 = P * values.sqrt(), values.sqrt()[:, None] * Qh  # balanced
    distance = nearest(W1, W2, c).distance
    nuclear = torch.linalg.matrix_norm(A, "nuc")  # ‖A‖_*
    square = torch.where(c < 2, 2 * (c - 1).square(), c.square() - 2) * nuclear
    exact += (distance / square.sqrt() - 1).abs().tolist()
    from_W = (2 * nuclear).sqrt() * (c - 1)
    at_home += (from_W / distance - 1).abs()[c > 2].tolist()

# %%
claims.check("G6.balanced", exact, rival=min(at_home))

# %% [markdown]
# ### Where the distance lies between the bounds

# %% Plot the distances, and numbers for the text
figure, right = figures.panels(height=4.5)
u = torch.logspace(-2, math.log10(math.log(1000)), 29, dtype=torch.float64)
c = torch.cosh(u)
W1, W2 = random_factors("figure", 0, 3, 3, 3)
even = balanced_factorisation(W1 @ W2)
half = (c.square() - 1).sqrt() * math.hypot(*(W.norm().item() for W in even))
low, high = midpoint_bounds(W1, W2, c)
low = torch.where(low > 0, low, math.nan)
unit = torch.linalg.matrix_norm(W1 @ W2, "nuc").sqrt()
for values, style, colour, label in (
    (nearest(*even, c).distance, "o", "blue", "balanced"),
    (balanced_distance(c, W1 @ W2), "-", "blue", None),
    (nearest(W1, W2, c).distance, "s", "orange", "random"),
    (low, "--", "orange", "random, lower bound"),
    (high, "-", "orange", "random, upper bound"),
    (half, ":", "black", "half of the line, balanced"),
):
    right.loglog(
        u, values / unit, style, color=f"book:{colour}", label=label, ms=4
    )
right.set(xlabel=r"$\ln \beta$", ylabel=r"distance$\,/\,\|A\|_*^{1/2}$")
right.set_ylim(3e-5, None)
figures.show("fig_orbit", figure, legend=2)
figures.numbers(cases=len(violations), worst=max(residuals))

# %% [markdown]
# :::{glue:figure} fig_orbit
# :alt: Distance of the midpoint against the logarithm of beta on logarithmic axes: quadratic at first, then as fast as the length of the line. Dots lie on the exact curve and between the bounds.
#
# Distance of the midpoint from the orbit for one $3 \times 3$ matrix, numerical minimum (symbols), exact distance (blue line) and the bounds of {prf:ref}`thm-orbit-distance`, the lower one for $c^2 > 2$ (profile {glue:text}`profile`).
# :::

# %% Plot where the distance lies between the bounds
figure, axis = figures.panels()
c = torch.logspace(0.02, 1.3, 40, dtype=torch.float64)
for number in range(min(8, factorisations)):
    W1, W2 = random_factors("between", number, 3, 2, 3)
    d2 = distance_to_zero_product(W1, W2).square()
    place = c.square() * (
        nearest(W1, W2, c).distance.square() / d2 - c.square() + 2
    )
    label = "random" if not number else None
    axis.plot(c, place, "o-", markersize=3, color="book:orange", label=label)
form = balanced_distance(c, torch.eye(2).double()).square() / 2
place = c.square() * (form - c.square() + 2)
axis.plot(c, place, color="book:blue", label="balanced")
axis.axhline(0, color="book:black", linestyle="--", label="lower bound")
axis.axhline(1, color="book:black", linestyle=":", label="upper bound")
axis.set(xscale="log", xlabel="$c$", ylim=(-0.1, 1.15))
axis.set_ylabel(r"$c^2\,(\mathrm{dist}^2/d_0^2 - c^2 + 2)$")
axis.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
figures.show("fig_between", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_between
# :alt: Position of the squared distance between the two bounds against c. All curves start at the upper bound. The balanced curve falls to the lower bound at c equal to two, curves of random factorisations run to limits between the bounds.
#
# Where the squared distance lies between the bounds of {prf:ref}`thm-orbit-distance`: 0 is the lower one, 1 the upper one, for random factorisations of a $3 \times 3$ matrix of rank 2 (dots) and for balanced ones (line) (profile {glue:text}`profile`).
# :::
#
# Balanced factorisations are the farthest for given $A$ and $c$, up to the accuracy $d_0^2/c^2$ of the bounds in the square of the distance.
#
# ### Exercises
#
# :::{exercise}
# Let $W_1 = W_2 = 1$ be numbers. Compute the distance of $(c, c)$ from the hyperbola $xy = 1$ by hand, and compare with {prf:ref}`thm-balanced-distance`.
# :::
#
# :::{solution}
# On the near branch put $s = x + y \ge 2$. With $xy = 1$ the squared distance $(c - x)^2 + (c - y)^2$ is $2c^2 - 2cs + s^2 - 2$, which is $(s - c)^2 + c^2 - 2$. If $c \ge 2$ the least value is $c^2 - 2$, at $s = c$, which two points of the branch have (one for $c = 2$). If $c \le 2$ it is
# at $s = 2$, the point $(1, 1)$: $(2 - c)^2 + c^2 - 2 = 2 (c - 1)^2$. Here $\lVert A \rVert_* = 1$.
# :::
#
# :::{exercise}
# Now let $W_1 = q \ge 1$ and $W_2 = 1/q$. Find $d_0$, and the limit for $\beta \to \infty$ of the distance in units of half of the line. Which factorisations are relatively closest to their orbit?
# :::
#
# :::{solution}
# $D = q^2 - q^{-2} \ge 0$, so $d_0^2 = \frac12 (q^2 + q^{-2} - q^2 + q^{-2}) = q^{-2}$. The distance is $c\, d_0$ up to a term of order $1/c$, half of the line $\sqrt{c^2 - 1}\, (q^2 + q^{-2})^{1/2}$, and the limit is $(1 + q^4)^{-1/2}$. It is $1/\sqrt2$ for
# the balanced factorisation and tends to 0 for the most unbalanced ones.
# :::
#
# ### Run it yourself
#
# :::{try}
# More factorisations, and larger matrices; every verdict stays:
#
#     make chapter NAME=orbit_distance ARGS="-p factorisations 20 -p n_max 4"
#
# Look at {numref}`fig-between`: all curves stay between the two lines.
# :::

# %% Versions and time
print(chapter.end())
