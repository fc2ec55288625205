# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Low curvature alone does not keep a chord near its curve
#
# *How far can a chord of a curve of minima leave the set of minima, if the curve bends little?*
#
# Farther than Theorem 6.2 of the paper allows, by any factor (proved): on a curve of the paper's own symmetry **[[G11.distance:.1f]] times** as far. If the curve is no longer than half a circle of the largest curvature allowed, the bound is true and sharp (proved).
#
# :::{glue:figure} fig_idea_neck
# :alt: A closed curve of minima shaped like a dumbbell. Half of it, drawn bold, joins the ends of a short chord that crosses the narrow neck; it bends gently and goes far round. No point of the curve enters the circle around the middle of the chord that touches its ends. Beside it three numbers: across such a neck any factor over the bound is reached; on a curve of the paper's symmetry [[G11.distance:.1f]]; on curves no longer than half a circle at most 1.
#
# A curve of minima with a narrow neck; no minimum lies inside the dotted circle. Numbers: distance of the chord's middle from the minima, divided by the bound of Theorem 6.2.
# :::
#
# **How sure.** Proved, with an exact counterexample; [[n(G11.sampled)]] random curves and [[n(G11.sampled_rotations)]] rotations, recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | “the distance to $L^{-1}(c)$ is bounded by” $d_{\max}$ (Thm 6.2, eq. 8) | [false for long curves](#G11.distance) | [[G11.distance:.1f]] times; no limit |
# | The chord's loss is within $C_L d_{\max}$ of the curve's, $C_L$ a Lipschitz constant (eq. 9) | [false for long curves](#G11.loss) | [[G11.loss:.3f]] $C_L d_{\max}$ |
# | “When the group action induces curves with bounded curvature, Theorem 6.2 applies.” (sec. 6.2) | [true of random curves](#G11.sampled), [false of long turns](#G11.sampled_rotations) | rotations by more than half a turn: up to [[G11.sampled_rotations:≤.3f]] times; the curve of row 1: [[G11.distance:.1f]] times |
# | “If the curvatures are small, then there exists an approximately straight line” (sec. 6.2) | [false for long curves](#G11.small) | every path along the chord, within a tenth of its length, reaches [[G11.small:.2f]] of the zero network's loss |
# | “One possible explanation is that there always exists a $\gamma$ … close to the line” (sec. 7) | [true where the line has no rise](#G11.always_flat) | else up to [[G11.always:≤.3f]] of the chord's length away (two square layers) |
#
# **Open.** Nothing.
#
# **For the authors.** In Theorem 6.2 (submitted version) add *of length at most $\pi/\kappa_{\max}$, with $\|w_2 - w_1\| \le 2/\kappa_{\max}$*. For curves that rescale neurons the first condition is superfluous.

# %% [markdown]
# :::{need}
# You need: curves and their curvature (1 over the radius of the best fitting circle), Lipschitz constants, and from [](35_symmetry_curves.ipynb) the curves $\exp(tM) \cdot w$. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $L$, $c$ | the loss; its value on the curve, so that $L^{-1}(c)$ is the level set |
# | $\gamma$, $w_1$, $w_2$ | the curve in the level set; its ends; the straight segment between them is the chord |
# | $D$, $\ell$ | distance $\Vert w_2 - w_1\Vert$ of the ends; length of the curve |
# | $\kappa$, $\kappa_{\max}$ | curvature; the largest on the curve |
# | $d_{\max}$ | the bound of Theorem 6.2, the height of a circular arc of radius $1/\kappa_{\max}$ over a chord of length $D$ |
# | $C_L$ | Lipschitz constant of the loss |
# | $w = (W_1, W_2)$ | weights of two layers; $X$, $Y$ inputs and targets |
# | $M$, $g = \exp M$ | generator and group element: the curve is $\exp(tM) \cdot w = (e^{tM} W_1, W_2 e^{-tM})$ |
# | $J$, $R_\omega$ | $\begin{pmatrix} 0 & -1 \\ 1 & 0 \end{pmatrix}$; the rotation of a plane by the angle $\omega$ |
# | $r$, $a$ | size of the neurons that turn; amount by which another one is rescaled |
#
# ## The bound is the height of an arc
#
# Let $\gamma$ be a smooth curve in $L^{-1}(c)$ from $w_1$ to $w_2$ with curvature at most $\kappa_{\max}$. Theorem 6.2 of Zhao, Dehmamy, Walters & Yu (G) {cite:p}`zhao2025` says that every point $w$ of the chord satisfies G, (8) and (9),
#
# $$
# \begin{aligned}
# \operatorname{dist}(w, L^{-1}(c)) &\le d_{\max} , \\
# |L(w) - c| &\le C_L\, d_{\max} , \\
# d_{\max} = \frac{1}{\kappa_{\max}} \Bigl( 1 - &\sqrt{1 - (\kappa_{\max} D/2)^2} \Bigr) .
# \end{aligned}
# $$
#
# The proof compares $\gamma$ with the circular arc over the same chord. A short curve does stay as close to its chord as that arc. A long one may turn gently, go far round, and come back from another side. The ends then face each other across a neck, and the middle of the chord is as far from the level set as from the ends.

# %% Parameters tags=["parameters"]
orbits: int = 300  # random curves under GL_h, for each magnitude of log g
planar: int = 1500  # random plane curves of bounded curvature
steps: int = 201  # points of each curve
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    orbits=Integer(10, 100_000),
    planar=Integer(10, 1_000_000),
    steps=Integer(51, 10_001),
)

import math

import numpy as np
import torch
from scipy.stats import spearmanr
from torch.linalg import matrix_exp, matrix_norm

from lmc_helpers import claims, figures
from lmc_helpers._chapters.curvature import (
    arc_height,
    chord_bound,
    curvature_bound,
    distance_to_curve,
    lipschitz_loss,
    loop,
    midpoint_distance,
    network_neck,
    orbit_chords,
    planar_neck,
    random_plane_curves,
    turn,
)
from lmc_helpers.orbits.curves import curvature, distance_between_ends
from lmc_helpers.orbits.distance import orbit_distance
from lmc_helpers.seeds import normal_stream

# %% Draw the narrow neck
width, around = 0.1, torch.linspace(0, 2 * math.pi, 1001, dtype=torch.float64)
whole = planar_neck(around, width)[0]
figure, (dumbbell, notes) = figures.panels(2, height=3.2)
dumbbell.plot(*whole.T, color="book:grey", linewidth=1)
dumbbell.plot(*whole[:501].T, color="book:blue", linewidth=2.4)
across = [0, 0, 0], [width, 0, -width]
dumbbell.plot(*across, "o-", color="book:red", markersize=5)
circle = width * around.cos(), width * around.sin()
dumbbell.plot(*circle, ":", color="book:black")
style = dict(ha="center", size=13)
dumbbell.text(0.62, 0.5, "curve", color="book:blue", **style)
dumbbell.text(-0.62, 0.5, "minimum", color="0.35", **style)
dumbbell.text(0, -0.28, "chord", color="#a65300", **style)
factor = claims.recorded("G11.distance")["value"]
lines = (
    ("any factor", "over the bound, across a narrow neck"),
    (f"{factor:.1f} times", "the bound, on a curve of the symmetry"),
    ("at most 1", "if no longer than half a circle"),
)
for place, (number, meaning) in enumerate(lines):
    style = dict(va="center", transform=notes.transAxes)
    notes.text(0, 0.88 - 0.3 * place, number, size=16, weight="bold", **style)
    y = 0.76 - 0.3 * place
    notes.text(0, y, meaning, size=13, color="0.35", **style)
dumbbell.set(aspect=1, xlim=(-1.1, 1.1), ylim=(-0.6, 0.65))
for picture in (dumbbell, notes):
    picture.set_axis_off()
figures.show("fig_idea_neck", figure)

# %% [markdown]
# ## A full turn leaves no trace in the ends
#
# The minimum of a linear network is an {term}`orbit` of $GL_h$, and a symmetry can draw such a curve. Let a group element turn two neurons by a full turn and rescale the third: the turn makes the curve long and its curvature small, and leaves no trace in the ends.
#
# :::{prf:theorem} A symmetry-induced curve that breaks the bound
# :label: thm-turn
# Let $L = \|W_2 W_1 - Y\|$ with $Y = \operatorname{diag}(r^2, r^2, 1)$, a network with three hidden neurons and $X = I$. Let $0 < a < 1$, $r \ge e^a$, $J = \begin{pmatrix} 0 & -1 \\ 1 & 0 \end{pmatrix}$,
#
# $$
# \begin{aligned}
# W_1 &= \operatorname{diag}(r, r, e^{-a}), \\
# W_2 &= \operatorname{diag}(r, r, e^{a}), \\
# M &= 2\pi J \oplus (2a) .
# \end{aligned}
# $$
#
# The curve $\exp(tM) \cdot w = (e^{tM} W_1, W_2 e^{-tM})$, G, (4), lies in the minimum. Its curvature is at most $\bar\kappa = \frac{1}{2r} \sqrt{1 + a^4 \cosh(2a) / (2\pi^4 r^2)}$ and $D = 2\sqrt2 \sinh a$. The midpoint of the chord has the distance
# $\sqrt2\, (\cosh a - 1)$ from the whole minimum. For $r \to \infty$
#
# $$
# \begin{aligned}
# \frac{\operatorname{dist}}{d_{\max}} &\sim \frac{2\sqrt2\, r}{\cosh a + 1} \to \infty, \\[1ex]
# \frac{L}{C_L\, d_{\max}} &\to \sqrt2
# \end{aligned}
# $$
#
# at the midpoint, with the Lipschitz constant $C_L = \sqrt2\, r$ of $L$ on the convex set $K$ of all weights with $\|W_1\|_2, \|W_2\|_2 \le r$, which holds the curve and the chord.
# :::
#
# The proof is under *Evidence*. Computed for $a = 0.1$, with the curvature from a grid:


# %% Evaluate the theorem at the middle of a chord
def at_midpoint(w, M):
    """G, Theorem 6.2 for the midpoints of chords of exp(tM)·w with X = I, (B,) each."""
    X = torch.eye(w[0].shape[-1], dtype=torch.float64).expand(len(M), -1, -1)
    grid = torch.linspace(0, 1, 1001, dtype=torch.float64)  # t
    one = orbit_chords(w, M, X, grid, torch.tensor([0.5]).double())
    V_1, V_2 = (V[:, 0] for V in one.chord)
    d_max = arc_height(one.kappa, one.D)  # G, (8), with the largest κ on the grid
    loss = matrix_norm(V_2 @ V_1 - w[1] @ w[0])
    turns = one.kappa * one.length / math.pi
    return d_max, loss / (one.lipschitz * d_max), turns


# %%
a = 0.1
to_minimum = midpoint_distance(a)  # √2 (cosh a − 1), from the whole minimum
radii = torch.logspace(0.5, 3, 6, dtype=torch.float64)
radii = torch.cat([torch.tensor([10.0]).double(), radii])  # r
bound, loss_ratio, turns = at_midpoint(*turn(radii, a))
by_turn = to_minimum / bound

# %%
claims.check("G11.distance", by_turn[0].item(), n=1)
claims.check("G11.loss", loss_ratio[0].item(), n=1)

# %% Numbers for the text
figures.numbers(turn_bound=f"{bound[0].item():.2e}", turn_turns=turns[0].item())

# %% [markdown]
# At $r = 10$ the midpoint is {glue:text}`by_turn[0].item():.1f` times as far from the minimum as $d_{\max}$ = {glue:text}`turn_bound` allows, the loss is {glue:text}`loss_ratio[0].item():.3f` times $C_L d_{\max}$, and the curve is {glue:text}`turn_turns:.2f` half circles of radius $1/\kappa_{\max}$ long. No principle of choosing the curve helps in general: curves of the principal logarithm can make the same loop ({prf:ref}`prp-loop`), and the distance may be all of $D/2$ ({prf:ref}`thm-neck`, {prf:ref}`prp-half`).
#
# ## What is missing is a limit on the length
#
# :::{prf:theorem} G, Theorem 6.2 with two hypotheses
# :label: thm-spindle
# Let $\gamma$ be a curve of length $\ell$ in $\mathbb R^p$, continuously differentiable and regular, with a tangent that turns by at most $\kappa$ per unit of length (curvature at most $\kappa$), from $w_1$ to $w_2$ at distance $D$.
#
# 1. If $\ell \le \pi/\kappa$ and $D \le 2/\kappa$, every point of the chord has at most the distance $d_{\max}$ from $\gamma$.
# 2. Circular arcs of radius $1/\kappa$ with $\ell \le \pi/\kappa$ attain it. For every $\ell$ between $\pi/\kappa$ and $2\pi/\kappa$ the circular arc of that length violates it.
# 3. Without any hypothesis the distance is at most $D/2$ and at most $\frac12 \sqrt{\ell^2 - D^2}$.
#
# If $\gamma$ lies in $L^{-1}(c)$ and $L$ has the Lipschitz constant $C_L$, then $|L(w) - c|$ is at most $C_L$ times any of these bounds.
# :::
#
# The proof is under *Evidence*: a curve no longer than half a circle lies in every ball of radius $1/\kappa$ that contains its ends. The second hypothesis, $D \le 2/\kappa$, is needed for $d_{\max}$ to be real. Random plane curves with $\kappa_{\max} = 1$, made of circular arcs:

# %% Draw random plane curves and measure their chords
lengths, wander = random_plane_curves(planar, steps, seed)  # (planar, steps, 2)
places = torch.linspace(0, 1, 21, dtype=torch.float64)  # λ
D = distance_between_ends(wander)
on_chord = wander[:, :1] + places[:, None] * (wander[:, -1:] - wander[:, :1])
furthest = distance_to_curve(on_chord, wander).amax(dim=1)  # (planar,)
real = D <= 2
wander_ratio = furthest[real] / arc_height(1.0, D[real])
short = lengths[real] <= math.pi

# %%
claims.check("G11.spindle", wander_ratio[short])

# %% Plot the distance over the length
figure, many = figures.panels(height=3.4)
x = np.linspace(0.02, 1.98, 400)
of_arc = np.sin(math.pi * x / 2) / (1 - np.abs(np.cos(math.pi * x / 2)))
of_arc = np.where(x <= 1, 1, of_arc)
dots = lengths[real] / math.pi, wander_ratio
many.plot(*dots, ".", color="book:purple", markersize=3)
many.plot(x, of_arc, color="book:black", linewidth=1.4)
many.axvline(1, color="book:grey", linewidth=1, linestyle="--")
many.text(0.3, 1.15, "circular arcs", va="bottom")
many.text(0.05, 0.05, "random curves", color="#a3487c")
many.text(1.02, 0.03, "longer than half a circle", color="0.35")
many.set(xlabel=r"length $\cdot\, \kappa_{\max} / \pi$")
many.set(ylabel=r"distance $/\, d_{\max}$", yscale="log", xlim=(0, 2))
many.set(ylim=(0.02, 50))
figures.show("fig_spindle", figure)
figures.numbers(
    planar_violating=100 * (wander_ratio[~short] > 1).double().mean().item()
)

# %% [markdown]
# :::{glue:figure} fig_spindle
# :alt: Ratio of the largest distance of a chord's point from its curve to the bound, on a logarithmic axis, against the length in half circles. Up to length 1 no random curve exceeds 1; beyond, many do, by up to more than 10. The line of the circular arcs is at 1 up to length 1 and jumps above it there.
#
# Largest distance of a chord's point from its curve: {glue:text}`int(short.sum())` random curves with length at most $\pi/\kappa_{\max}$ and {glue:text}`int((~short).sum())` longer ones (profile {glue:text}`profile`).
# :::
#
# In this run {glue:text}`planar_violating:.0f` % of the random curves that are too long violate the bound, and none of the others: the largest ratio is {glue:text}`wander_ratio[short].max().item():.3f`.
#
# ## On rescalings and rotations by at most half a turn the theorem is true as printed
#
# On some orbits the hypothesis on the length is superfluous: there $D < 2/\kappa_{\max}$ holds for short curves only.
#
# :::{prf:theorem} Orbits that obey G, Theorem 6.2
# :label: thm-printed
# Let $\gamma(t) = e^{tA} w$, $0 \le t \le 1$, $Aw \ne 0$, be a curve in $L^{-1}(c)$, where $A$ acts linearly on the weights in $\mathbb R^p$ and
#
# 1. $A$ is symmetric, or
# 2. $A$ is skew with $\|A\|_2 \le \pi$.
#
# If $D < 2/\kappa$ with $\kappa = \kappa_{\max} > 0$, then $\ell \le \frac2\kappa \arcsin \frac{\kappa D}2 < \frac\pi\kappa$. So G, (8) and (9) hold wherever $d_{\max}$ is real.
# :::
#
# :::{prf:proof}
# The tangents have the inner products $\gamma'(s) \cdot \gamma'(t) = (Aw)^\top e^{sA^\top} e^{tA} A w$. For a symmetric $A$ this is $\| e^{(s + t) A/2} A w \|^2 > 0$. For a skew $A$ with the eigenvalues $\pm i \omega_k$ it is $\sum_k |v_k|^2 \cos (\omega_k (t - s))$,
# $v_k$ the components of $Aw$: the speed is constant, $t = \frac12$ is the middle by length, and with $s = \frac12$ all $|\omega_k (t - s)| \le \frac\pi2$. In both cases the unit tangent $T$ has $T \cdot T(s_0) \ge 0$ on all of $\gamma$, $s_0$ the middle by length.
#
# At a distance $\sigma$ along the curve from $s_0$ the tangent has turned by at most $\kappa\sigma$, so that $T \cdot T(s_0) \ge \cos \kappa\sigma$ for $\kappa\sigma \le \frac\pi2$. With $\ell' = \min(\ell, \pi/\kappa)$
#
# $$
# \begin{aligned}
# D &\ge (w_2 - w_1) \cdot T(s_0) = \int T \cdot T(s_0) \\
# &\ge 2 \int_0^{\ell'/2} \cos \kappa\sigma \, d\sigma = \frac2\kappa \sin \frac{\kappa \ell'}2 .
# \end{aligned}
# $$
#
# If $D < 2/\kappa$ the sine is less than 1, so that $\ell' = \ell$, and {prf:ref}`thm-spindle` applies. For $D = 2/\kappa$, $d_{\max} = D/2$.
# :::
#
# Every rescaling of {term}`homogeneous <homogeneous activation>` neurons, in any layers, has a diagonal $A$. On two layers $\exp(tM) \cdot w$ has a symmetric or skew $A$ where $M$ is, with $\|A\|_2 \le \|M\|_2$. What breaks the bound are rotations by more than half a turn, and an $M$ of neither kind. So the sentence that the theorem applies to the curves of a group has two readings:
#
# | Generators $M$ | The bound (8) holds | Largest distance / $d_{\max}$ (recorded) |
# | --- | --- | --- |
# | independent normal entries | [true](#G11.sampled), wherever $d_{\max}$ is real | [[G11.sampled:.4f]], [[n(G11.sampled)]] curves |
# | random skew, up to a full turn | [not always](#G11.sampled_rotations) | [[G11.sampled_rotations:≤.3f]], [[n(G11.sampled_rotations)]] curves |
#
# The first are short, not lucky. Random $w$ with $h = 4$, $W_1$ $4 \times 6$, $W_2$ $5 \times 4$, $X$ $6 \times 7$, normal entries, and $\|M\|$ from 0.1 to 6.4, {glue:text}`orbits` curves each:

# %% Draw random curves of the group
times = torch.linspace(0, 1, steps, dtype=torch.float64)  # t


def along_orbits(w, X, M):
    """What the theorem needs of exp(tM)·w, and the loss on its chord; (B,) each."""
    found = orbit_chords(w, M, X, times, places)._asdict()  # κ_max, ℓ, D, C_L, …
    (W_1, W_2), (V_1, V_2) = w, found.pop("chord")  # V_1 (B, 21, 4, 6)
    Y = W_2 @ W_1 @ X  # (B, 5, 7)
    loss = matrix_norm(V_2 @ V_1 @ X.unsqueeze(-3) - Y.unsqueeze(-3))  # (B, 21)
    g = matrix_exp(M)
    defect = g + torch.linalg.inv(g) - 2 * torch.eye(M.shape[-1])
    shape = places * (1 - places)  # λ (1 − λ)
    closed = shape * matrix_norm(W_2 @ defect @ W_1 @ X)[:, None]
    leading = shape * matrix_norm(W_2 @ (M @ M) @ W_1 @ X)[:, None]
    return found | {
        "loss": loss.amax(dim=1),
        "error": (loss / closed - 1)[:, 1:-1].abs().amax(dim=1),
        "leading": (leading / closed - 1)[:, 1:-1].abs().amin(dim=1),
    }


normal, found = normal_stream(seed, "orbits"), {}
for scale in (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4):  # ‖M‖
    w = normal(orbits, 4, 6), normal(orbits, 5, 4)
    M = normal(orbits, 4, 4)
    M = scale * M / matrix_norm(M)[:, None, None]
    found[scale] = along_orbits(w, normal(orbits, 6, 7), M)

# %% Compare distances with the bound
kappa, D, ell, furthest = (
    torch.cat([f[key] for f in found.values()])
    for key in ("kappa", "D", "length", "distance")
)
real = kappa * D <= 2
as_printed = furthest[real] / arc_height(kappa[real], D[real])
longest = (kappa * ell)[real].max().item() / math.pi  # κ_max ℓ/π
figures.numbers(
    real_curves=int(real.sum()),
    long_curves=int((kappa * ell > math.pi).sum()),
    long_real=int((real & (kappa * ell > math.pi)).sum()),
)

# %%
claims.check("G11.sampled", as_printed)

# %% [markdown]
# In this run it holds on every one of {glue:text}`real_curves` curves by theorem: the largest $\kappa_{\max} \ell / \pi$ among them is {glue:text}`longest:.2f`, so that {prf:ref}`thm-spindle` applies to all. Of the {glue:text}`long_curves` curves with $\kappa_{\max} \ell > \pi$, {glue:text}`long_real` have a real $d_{\max}$.
#
# ## Small curvature does not make a straight path
#
# Between two minima of one orbit the loss on the chord is known exactly, and it knows nothing of the curvature: the same loss occurs with arbitrarily small curvature, farther along the orbit ({prf:ref}`prp-orbit-chord`). Nor need there be a nearly straight path of low loss beside the chord:
#
# :::{prf:proposition} A small curvature and no nearly straight path
# :label: prp-small
# Let $X = Y = I$ be $3 \times 3$, $0 < a < 1.3$, $c = \cosh a$, $\rho \ge 2$, and
#
# $$
# \begin{aligned}
# W_1 &= \operatorname{diag}(\rho, \rho, e^{-a}), \\
# W_2 &= \operatorname{diag}(1/\rho, 1/\rho, e^a), \\
# M &= 2\pi J \oplus (2a) .
# \end{aligned}
# $$
#
# The curve $\exp(tM) \cdot w$ lies in the minimum of $L = \|W_2 W_1 - I\|$, $\kappa_{\max} \le 1/\rho$ and $D = 2 \sqrt2 \sinh a$. Every path between its ends all of whose points are within $\delta \le \sqrt2\, (c - 1)$ of the chord has a point with
#
# $$
# L \ge \bigl( c - \delta/\sqrt2 \bigr)^2 - 1 ,
# $$
#
# for every $\rho$.
# :::
#
# Every path near the chord crosses the plane through its midpoint. The least loss there within $\delta = D/10$, by descent from random points, for $a = 1$:

# %% Find the least loss in the plane across the middle
J = torch.tensor([[0.0, -1.0], [1.0, 0.0]]).double()


def least_in_plane(rho, a, starts=8, steps=800):
    """κ_max D, and the least ‖W_2 W_1 − I‖/‖I‖ at points that paths within D/10 pass."""
    first, second = (
        torch.tensor([r, r, math.exp(b)]).double().diag()
        for r, b in ((rho, -a), (1 / rho, a))
    )
    M = torch.block_diag(2 * math.pi * J, torch.tensor([[2 * a]]).double())
    eye, grid = torch.eye(3).double(), torch.linspace(0, 1, 1001).double()
    f = orbit_chords(
        (first[None], second[None]), M[None], eye[None], grid, grid[500:501]
    )
    middle = torch.cat([V.flatten() for V in f.chord])  # (18,)
    along = torch.zeros(18).double()
    along[8], along[17] = math.sqrt(0.5), -math.sqrt(0.5)
    move = normal_stream(seed, f"plane {rho}")(starts, 18).requires_grad_()
    descent = torch.optim.Adam([move], lr=0.02)
    for step in range(steps):
        descent.param_groups[0]["lr"] = 0.02 * (1 - step / steps)
        flat = move - (move @ along)[:, None] * along
        flat = flat * (f.D / 10 / flat.norm(dim=1, keepdim=True)).clamp(max=1)
        V_1, V_2 = (middle + flat).unflatten(1, (2, 3, 3)).unbind(1)
        loss = matrix_norm(V_2 @ V_1 - eye) / math.sqrt(3)
        descent.zero_grad()
        loss.sum().backward()
        descent.step()
    return (f.kappa * f.D).item(), loss.min().item()


planes = [least_in_plane(rho, 1.0) for rho in (10.0, 100.0, 1000.0)]
bending, least = zip(*planes, strict=True)

# %%
claims.check("G11.small", min(least), n=len(least))

# %% [markdown]
# Paths this close to the line reach {glue:text}`min(least):.2f` of the loss of the zero network, also at $\kappa_{\max} D$ = {glue:text}`min(bending):.4f`.
#
# G, section 7 supposes that “there always exists a $\gamma$ defined in the way above that is close to the line formed by the linear interpolation”, as one possible explanation of lines on which the loss hardly changes. It has two readings:
#
# | Lines | A curve $\gamma$ is close | Distance from the line / $D$ (recorded) |
# | --- | --- | --- |
# | without any change of the loss, two square invertible layers | [true](#G11.always_flat): the line is the curve | 0, [[n(G11.always_flat)]] lines |
# | any two minima of one orbit | [not always](#G11.always) | [[G11.always:.2f]], the middle to every minimum |
#
# ## What it means for merging networks
#
# A known path of low loss says something about the average of its ends if it is short: no longer than half a circle of its own curvature $\kappa$, with ends at most $2/\kappa$ apart. Then the average is off the minimum by at most $d_{\max}$, which for small $\kappa D$ is about $\kappa D^2/8$. A long path, even a gentle one, says nothing. Where a symmetry curve is within a distance $d$ of the line, the loss on the line is at most $C_L\, d$ above that on the curve.
#
# **Read on.** [](35_symmetry_curves.ipynb): the curves. [](34_orbit_distance.ipynb): exact distances of midpoints from an orbit. [](46_chord_deviation.ipynb): chords and curves in another setting.

# %% [markdown]
# ## Evidence
#
# ### Proof: a symmetry-induced curve that breaks the bound
#
# *Curve.*
# The point at $t$ is $(r R_{2\pi t} \oplus x,\; r R_{-2\pi t} \oplus 1/x)$ with $x = e^{(2t - 1) a}$.
# So $\|\gamma'\| \ge 4\pi r$, $\|\gamma''\|^2 \le (8\pi^2 r)^2 + 16 a^4 \cdot 2 \cosh 2a$, and $\kappa \le \|\gamma''\|/\|\gamma'\|^2$; for large $r$ this is attained up to a factor $1 + O(r^{-2})$.
# The rotations are $I$ at both ends.
#
# *Distance.* The midpoint is $(P, P)$ with $P = \operatorname{diag}(r, r, c)$, $c = \cosh a$. The function
#
# $$
# \begin{aligned}
# G(X, Z) = \;&\|P - X\|^2 + \|P - Z\|^2 \\
# &+ 2 (c - 1) \bigl( (Z X)_{33} - 1 \bigr)
# \end{aligned}
# $$
#
# is the squared distance on the minimum $Z X = Y$.
# It is convex, as $|2 (ZX)_{33}| \le \|X\|^2 + \|Z\|^2$ and $c - 1 < 1$, and stationary at $X = Z = \operatorname{diag}(r, r, 1)$, which is a minimum of the network.
# So the squared distance is the value there, $2 (c - 1)^2$.
# With $d_{\max} \sim \bar\kappa D^2/8 \sim
# \sinh^2(a) / (2r)$ and $\sinh^2 a = (c - 1)(c + 1)$ the first limit follows.
#
# *Loss.*
# At the midpoint $L = c^2 - 1 = \sinh^2 a$.
# In $K$ a change $(\Delta_1, \Delta_2)$ of the weights changes $W_2 W_1$ by at most $r \|\Delta_1\| + r \|\Delta_2\| \le \sqrt2\, r \|\Delta\|$.
# (Composed with the nearest-point projection onto $K$, $L$ is Lipschitz everywhere and the same on the curve and the chord.) ∎
#
# The bound on the distance needs no particular loss: for
# $L = \operatorname{dist}(\cdot, S)$, $S$ the minimum, G, (9) with $C_L = 1$ is G, (8).
#
# ### A loop of the principal logarithm
#
# Both ends are also joined by G, (5) with the principal logarithm, which drops the rotation: $\log \operatorname{diag}(1, 1, e^{2a}) = \operatorname{diag}(0, 0, 2a)$. That curve is short, and the bound holds. But the principal logarithm is not a remedy in general:
#
# :::{prf:proposition} A loop of the principal logarithm
# :label: prp-loop
# Let $0 < a < 1$, $r \ge 10$, $\varepsilon = 0.01/r$, and
#
# $$
# \begin{aligned}
# p(t) &= r\, (s,\; s (1 - 2t),\; \varepsilon,\; \varepsilon t^3)^\top, \\
# s &= t - t^2 .
# \end{aligned}
# $$
#
# Let $X = I$, $Y = (0, 1)$, five hidden neurons, and
#
# $$
# \begin{aligned}
# W_1 &= \begin{pmatrix} p(0) & 0 \\ 0 & e^{-a} \end{pmatrix} \in \mathbb R^{5 \times 2}, \\
# W_2 &= (0, 0, 0, 0, e^a) .
# \end{aligned}
# $$
#
# There is a nilpotent $4 \times 4$ matrix $N$ with $e^{tN} p(0) = p(t)$, and $M = N \oplus (2a)$ is the principal logarithm of $g = \exp M$. The curve $\exp(tM) \cdot w$ has at most the curvature $29/r$, $D^2 = 8 \sinh^2 a + 10^{-4}$, and the midpoint of the chord has the distance $\sqrt2\, (\cosh a - 1)$ from the minimum. So $d_{\max}$ is real for
# $r \ge 14.5\, D$, and $\operatorname{dist}/d_{\max} \to \infty$ for $r \to \infty$.
# :::
#
# :::{prf:proof}
# As a polynomial $p(t) = \sum_j t^j c_j = e^{tN} c_0$ with the nilpotent $N c_j = (j + 1)\, c_{j + 1}$, $c_4 = 0$, and $N \oplus (2a)$ is the principal logarithm of its exponential. With $u = (1 - 2t)^2$
#
# $$
# \begin{aligned}
# \|p'\|^2 &\ge \tfrac14 r^2 (9 u^2 - 2u + 1) \ge \tfrac29 r^2 , \\
# \|\gamma''\|^2 &\le 40 r^2 + 0.0036 + 32 a^4 \cosh 2a ,
# \end{aligned}
# $$
#
# and $\kappa \le \|\gamma''\|/\|\gamma'\|^2 \le 29/r$. The last proof, with $(ZX)_{12}$ for $(ZX)_{33}$, gives the distance: the foot has 1 for both weights of the rescaled neuron, and the loop's weights as they are. $d_{\max} \le \kappa_{\max} D^2/4$.
# :::

# %% Evaluate the loop
by_loop = to_minimum / at_midpoint(*loop(radii, a))[0]

# %%
claims.check("G11.principal", by_loop[-1].item(), n=1)

# %% [markdown]
# At $r = 1000$ the distance is {glue:text}`by_loop[-1].item():.0f` times $d_{\max}$.
#
# ### A narrow neck
#
# On the curves above the distance stays a small part of $D/2$, the distance of the midpoint from the ends. Nothing better than $D/2$ holds for all curves.
#
# The network $f(x) = (u \cdot v)\, x$ has two hidden neurons, input weights $u$ and output weights $v$ in $\mathbb R^2$.
# For one sample $x = 1$ with the target $\delta > 0$ the loss is $L = (u \cdot v - \delta)^2$ on $\mathbb R^4$, and its minimum, a single orbit of $GL_2$, is $\{u \cdot v = \delta\}$.
#
# :::{prf:theorem} No bound better than D/2
# :label: thm-neck
# Let $e = \sqrt{2\delta} < \frac14$, $w = (\sqrt\delta, 0, \sqrt\delta, 0)$, and for $0 \le \varphi \le \pi$
#
# $$
# \begin{aligned}
# u &= \sqrt\delta\, (\cos\varphi, \sin\varphi) - (0, \sin\varphi \cos\varphi) , \\
# v &= \sqrt\delta\, (\cos\varphi, \sin\varphi) + (\sin^2\varphi, 0) .
# \end{aligned}
# $$
#
# This smooth curve lies in the minimum and joins $w$ to $-w$, so that $D = 2e$. Its curvature is at most $\bar\kappa = (2 + e)/(1 - e)^2$, and $\bar\kappa D/2 < 1$. The midpoint 0 of the chord has the distance $e = D/2$ from the minimum, and
#
# $$
# d_{\max} < \bar\kappa e \cdot e < e = \operatorname{dist}(0, L^{-1}(0)).
# $$
#
# The loss $\tilde L = (u \cdot v - \delta)/\sqrt{|u|^2 + |v|^2 + 2\delta}$ is smooth, has the same level set 0 and the Lipschitz constant $C_L = \frac32$ on $\mathbb R^4$. If $e \le 0.18$, $|\tilde L(0)| = e/2 > C_L d_{\max}$.
# :::
#
# :::{prf:proof}
# Write $w = (u, v)$ as the matrix $N = \begin{pmatrix} u_1 & -u_2 \\ v_2 & v_1 \end{pmatrix}$, of the same norm, with $\det N = u \cdot v$.
# The curve is $N(\varphi) = R_\varphi (\sqrt\delta\, I + \sin\varphi\, E)$ with the rotation $R_\varphi$ and $E = \begin{pmatrix} 0 & 1 \\ 0 & 0 \end{pmatrix}$.
# So
# $\det N = \delta$, $N(0) = \sqrt\delta\, I$ and $N(\pi) = -\sqrt\delta\, I$. As $\sin\varphi\, R_\varphi E$ runs over a circle of diameter 1 at unit speed, with an acceleration of norm 2, and $\sqrt\delta\, R_\varphi$ has derivatives of norm $\sqrt{2\delta} = e$,
# $\|\gamma'\| \ge 1 - e$, $\|\gamma''\| \le 2 + e$ and $\kappa \le \|\gamma''\|/\|\gamma'\|^2$. Now $\bar\kappa e < 1$ means $2e + e^2 < (1 - e)^2$, that is $e < \frac14$.
#
# On the minimum $|u|^2 + |v|^2 \ge 2\, u \cdot v = 2\delta = e^2$, with equality at $w$. With $x = \kappa_{\max} e \le \bar\kappa e$, $d_{\max}/e = (1 - \sqrt{1 - x^2})/x$ is increasing in $x$ and less than $x$ for $0 < x < 1$.
#
# Let $r^2 = |u|^2 + |v|^2$ and $s = r^2 + 2\delta$.
# The gradient of $u \cdot v$ has the norm $r$ and $|u \cdot v - \delta| \le s/2$, so $\|\nabla \tilde L\| \le r/\sqrt s + \frac s2\, r/s^{3/2} \le \frac32$.
# Finally $\tilde L(0) = -\delta/\sqrt{2\delta} = -e/2$, and $\frac32 d_{\max} < \frac e2$ holds
# where $(1 - \sqrt{1 - x^2})/x < \frac13$, that is $x < \frac35$, which $\bar\kappa e$ is for $e \le 0.18$.
# :::
#
# The minimum is a nearly flat cone at the scale of the curve; for $\delta \to 0$ the curve becomes a full circle through the tip. This curve is no $\exp(tM) \cdot w$; {prf:ref}`prp-half` has one.
#
# The same happens in a plane: the closed curve of {numref}`fig-idea-neck` is $y^2 = (e + x^2)^2 (1 - x^2)$, $x = \sin\theta$, $y = (e + \sin^2\theta) \cos\theta$, regular also at $e = 0$, so that its curvature is bounded for all $e \le 1$.
# No point of it is closer to 0 than $e$, since with $\xi = x^2$
#
# $$
# \begin{aligned}
# x^2 &+ y^2 - e^2 \\
# &= \xi \bigl( 1 - e^2 + (2e + \xi)(1 - \xi) \bigr) \ge 0 .
# \end{aligned}
# $$

# %% Measure the necks
phi = torch.linspace(0, math.pi, 4001, dtype=torch.float64)


def largest_curvature(point, velocity, acceleration):
    return curvature(velocity, acceleration).max().item()


in_d_max, in_loss = [], []  # distance / d_max and |L̃| / (C_L d_max) at 0
for e in (0.01, 0.001, 0.0001):
    delta = e**2 / 2
    # u·v = δ is a quadric wᵀAw = δ, at least √(δ/λ_max(A)) from 0
    A = torch.kron(
        torch.tensor([[0.0, 0.5], [0.5, 0.0]]).double(), torch.eye(2).double()
    )
    distance = math.sqrt(delta / torch.linalg.eigvalsh(A)[-1])
    points = network_neck(phi, delta)  # γ, γ', γ''
    D = distance_between_ends(points[0])
    d_max = arc_height(largest_curvature(*points), D).item()
    in_d_max.append(distance / d_max)
    height = lipschitz_loss(torch.zeros(4).double(), delta).abs().item()
    in_loss.append(height / (1.5 * d_max))

# %%
claims.check("G11.neck", in_d_max)

# %% [markdown]
# At $e = 0.01$ the midpoint is {glue:text}`in_d_max[0]:.0f` times as far from the minimum as $d_{\max}$, and the loss $\tilde L$ is {glue:text}`in_loss[0]:.0f` times $C_L d_{\max}$. Over the width of the {term}`neck`, and over the size of the turn:

# %% Find the curvature at each width
e_grid = np.geomspace(0.002, 0.2, 25)
families = {  # κ_max at each e
    "network": [largest_curvature(*network_neck(phi, e**2 / 2)) for e in e_grid],
    "plane curve": [largest_curvature(*planar_neck(phi, e)) for e in e_grid],
}

# %% Plot the loop, the ratios and the narrow neck
figure, (way, orbit, necks) = figures.panels(3, height=3.8)
s = (t := torch.linspace(0, 1, 201, dtype=torch.float64)) - t**2
way.plot(s, s * (1 - 2 * t), color="book:orange")
way.plot(0, 0, "o", color="book:red", markersize=4)
way.set(aspect=1, xlim=(-0.03, 0.3), xlabel="$p_1 / r$", ylabel="$p_2 / r$")
way.set(title="the loop")
sizes, limit = radii[1:], 2 * math.sqrt(2) / (math.cosh(a) + 1) * radii[1:]
for ratios, mark, colour, name in (
    (by_turn, "o", "book:purple", "turn, G, (4)"),
    (by_loop, "s", "book:orange", "loop, G, (5)"),
):
    orbit.plot(sizes, ratios[1:], mark, color=colour, markersize=4, label=name)
style = dict(linewidth=1, label="limit of the turn")
orbit.plot(sizes, limit, color="book:black", **style)
orbit.axhline(1, color="book:black", linewidth=1, linestyle=":")
orbit.set(xscale="log", yscale="log", xlabel="size $r$ of the turn")
orbit.set(ylabel=r"distance $/\, d_{\max}$", title="inside an orbit")
orbit.legend()
for (name, kappa), colour in zip(
    families.items(), ("book:green", "book:blue"), strict=True
):
    is_real = np.array(kappa) * e_grid <= 1
    x = torch.tensor(e_grid[is_real])
    ratio = x / arc_height(torch.tensor(kappa)[is_real], 2 * x)
    necks.plot(x, ratio, color=colour, label=name)
necks.axhline(1, color="book:black", linewidth=1)
necks.set(xscale="log", yscale="log", xlabel="half width $e$ of the neck")
necks.set(ylabel=r"distance $/\, d_{\max}$", title="across a neck")
necks.legend()
figures.show("fig_neck", figure)

# %% Plot the finding
figure, axis = figures.card()
full_turn = torch.linspace(0, 2 * math.pi, 1001, dtype=torch.float64)
whole_neck = planar_neck(full_turn, 0.1)[0]
axis.plot(*whole_neck.T, color="book:grey", linewidth=1.2, label="minimum")
axis.plot(*planar_neck(phi, 0.1)[0].T, color="book:blue", label="curve")
style = dict(color="book:red", markersize=4, label="chord")
axis.plot([0, 0], [0.1, -0.1], "o-", **style)
axis.set(aspect=1, xlim=(-1.1, 1.1), ylim=(-0.85, 0.5))
axis.set_axis_off()
axis.legend(loc="lower center", ncols=3, columnspacing=1, handlelength=1.4)
figures.keep(figure)

# %% Numbers for the text
kappa_01 = largest_curvature(*network_neck(phi, 0.1**2 / 2))
figures.numbers(
    kappa_bound_01=curvature_bound(0.1**2 / 2),
    kappa_001=largest_curvature(*network_neck(phi, 0.01**2 / 2)),
)

# %% [markdown]
# :::{glue:figure} fig_neck
# :alt: Three panels. A closed loop like a drop. The ratio of the true distance to the bound grows in proportion to the size of the turn, for both curves inside an orbit. The ratio grows like 1 over the width of the neck.
#
# First panel: the loop of {prf:ref}`prp-loop` from one end to the other, which are both at the dot; the other two coordinates are at most $0.01$. Distance of the chord's midpoint from the whole level set over $d_{\max}$, with the largest curvature on the grid: for the turn and the loop with $a = 0.1$ (second) and across necks (third)
# (profile {glue:text}`profile`).
# :::
#
# The largest curvature stays bounded while the neck closes: for the network it is {glue:text}`kappa_01:.3f` at $e = 0.1$ (the theorem says at most {glue:text}`kappa_bound_01:≤.3f`) and {glue:text}`kappa_001:.3f` at $e = 0.01$, for the plane curve {glue:text}`largest_curvature(*planar_neck(phi, 0.1)):.2f` and {glue:text}`largest_curvature(*planar_neck(phi, 0.01)):.2f`.
# The midpoint is {glue:text}`0.1 / arc_height(kappa_01, 0.2).item():.1f` times as far from the minimum as $d_{\max}$ says for the network at $e = 0.1$.

# %% Plot the neck, to narrow
narrow = np.geomspace(0.5, 0.005, 41)  # half widths e
round_trip = torch.linspace(0, 2 * math.pi, 145, dtype=torch.float64)
outlines = torch.stack([planar_neck(round_trip, value)[0] for value in narrow])
bends = torch.tensor([largest_curvature(*planar_neck(phi, v)) for v in narrow])
width = torch.tensor(narrow)
allowed, is_real = torch.full_like(width, math.nan), bends * width <= 1
allowed[is_real] = arc_height(bends[is_real], 2 * width[is_real])  # d_max
scene = figures.Moving(
    "half width $e$ of the neck",
    [f"{value:.3f}" for value in narrow],
    [
        f"middle {value:.3f} from the level set, bound {height:.4f}"
        if math.isfinite(height)
        else f"middle {value:.3f} from the level set, no bound"
        for value, height in zip(narrow, allowed.tolist(), strict=True)
    ],
    start=14,
)
neck = scene.panel(equal=True, xlim=(-1.15, 1.15), ylim=(-1.15, 1.15))
neck.draw(*outlines.permute(2, 0, 1), "-", "grey", "level set")
half_way = outlines[:, :73]
neck.draw(*half_way.permute(2, 0, 1), "-", "blue", r"curve $\gamma$", width=2.2)
circle = torch.stack([round_trip.cos(), round_trip.sin()])
around = width[:, None, None] * circle  # the nearest points touch it
neck.draw(around[:, 0], around[:, 1], ":", "black", "circle of radius $D/2$")
chord = width[:, None] * torch.tensor([1.0, -1.0]).double()
neck.draw([0, 0], chord, "o-", "red", "chord")
bound_plot = scene.panel(
    xlabel="half width $e$", xscale="log", xlim=(0.6, 0.004), yscale="log"
)
bound_plot.draw(narrow, narrow, "-", "red", "distance of the middle, $D/2$")
bound_plot.draw(narrow, allowed, "-", "green", "bound of the theorem")
for height, colour in ((width, "red"), (allowed, "green")):
    bound_plot.draw(narrow[:, None], height[:, None], "o", colour)
scene.show("fig_narrowing")

# %% [markdown]
# Move $e$: the neck closes, the curvature hardly changes, and the bound $d_{\max}$ becomes ever smaller beside the distance $e = D/2$ at which the level set stays from the middle of the chord.
#
# :::{glue:figure} fig_narrowing
# :alt: A closed curve shaped like a dumbbell with a short chord across its neck and a circle around the chord's middle that the curve does not enter. In the second panel, on logarithmic axes, the distance of the middle falls in proportion to the neck's width, the bound of the theorem with its square.
#
# The plane curve $y^2 = (e + x^2)^2 (1 - x^2)$. First panel: half of it joins the ends of the chord; no point of it lies inside the dotted circle. Second panel: the distance of the chord's middle and $d_{\max}$, with the largest curvature on the grid, where it is real. The neck narrows to the right.
# :::
#
# ### A half turn beside a full one
#
# Orbits under $GL_h$ reach $D/2$, too. Two neurons make half a turn, which changes their signs, and two larger ones a full turn, which leaves no trace and makes the curvature small:
#
# :::{prf:proposition} A half turn beside a full one
# :label: prp-half
# Let $r \ge q > 0$, $W_1 = W_2 = \operatorname{diag}(q, q, r, r)$, $Y = W_2 W_1$, $X = I$ and $M = \pi J \oplus 2\pi J$. The curve $\exp(tM) \cdot w$ in the minimum has $D = 4q$, the constant curvature
#
# $$
# \kappa = \frac{\sqrt{q^2 + 16 r^2}}{2 (q^2 + 4 r^2)}
# $$
#
# and $\kappa D/2 < 1$. The midpoint of the chord has the distance $2q = D/2$ from the whole minimum, and $\operatorname{dist}/d_{\max} \to \infty$ for $r/q \to \infty$.
# :::
#
# :::{prf:proof}
# The point at $t$ is $(q R_{\pi t} \oplus r R_{2\pi t},\; q R_{-\pi t} \oplus r R_{-2\pi t})$, so $\|\gamma'\|^2 = 4\pi^2 (q^2 + 4r^2)$, $\|\gamma''\|^2 = 4\pi^4 (q^2 + 16 r^2)$, and the two are orthogonal. $\kappa D/2 < 1$ says that $q^2 (q^2 + 16 r^2) < (q^2 + 4r^2)^2$, that is $q^2 < 2r^2$.
#
# The midpoint is $(P, P)$ with $P = \operatorname{diag}(0, 0, r, r)$. On the minimum $ZX = Y$ the squared distance from it is
#
# $$
# \begin{aligned}
# G(X, Z) = \;&\|P - X\|^2 + \|P - Z\|^2 \\
# &- 2 (ZX)_{11} - 2 (ZX)_{22} + 4 q^2 ,
# \end{aligned}
# $$
#
# which is convex, as $2 |(ZX)_{11} + (ZX)_{22}| \le \|X\|^2 + \|Z\|^2$, and stationary at $X = Z = W_1$, with the value $4q^2$. Finally $d_{\max} \le \kappa D^2/4 = 4 q^2 \kappa$.
# :::
#
# $M$ is skew with $\|M\|_2 = 2\pi$; rotations by at most half a turn keep to $d_{\max}$ ({prf:ref}`thm-printed`). The curvature from a grid, and the distance by a minimisation over $g$ (`orbit_distance`):

# %% Measure half turns beside full ones
M = torch.block_diag(math.pi * J, 2 * math.pi * J).expand(4, 4, 4)
r, q = torch.tensor([1.0, 3.0, 10.0, 30.0]).double(), torch.ones(4).double()
W = torch.diag_embed(torch.stack([q, q, r, r], dim=1))  # (4, h, h)
P = torch.diag_embed(torch.stack([0 * q, 0 * q, r, r], dim=1))
t = torch.linspace(0, 1, 1001, dtype=torch.float64)
f = orbit_chords((W, W), M, torch.eye(4).double().expand(4, 4, 4), t, t[500:501])
feet = [orbit_distance(*2 * [P[i]], *2 * [W[i]]).distance for i in range(4)]
of_half = torch.stack(feet).where(f.kappa * f.D < 2, math.nan) / (f.D / 2)
d_max_of_half = arc_height(f.kappa, f.D) / (f.D / 2)

# %%
claims.check("G11.half", of_half, rival=d_max_of_half.max().item())

# %% [markdown]
# ### Proof: the theorem with two hypotheses
#
# Let $\gamma$ have unit speed, $T = \gamma'$ and $R = 1/\kappa$.
#
# *Claim: with $\ell \le \pi R$, $\gamma$ lies in every ball of radius $R$ that contains both ends.*
# Let $o$ be the centre of such a ball and suppose that $|\gamma - o|$ has a maximum $r_0 > R$, at $s_0$.
# It is no end, so $T(s_0)$ is orthogonal to $n = (\gamma(s_0) - o)/r_0$.
# One of the ends is at most
# $\pi R/2$ away along the curve; reverse the curve if need be, so that it is the last one. At a distance $\sigma \le \pi R/2$ along the curve towards it the tangent has turned by at most $\sigma/R \le \pi/2$. So $T \cdot T(s_0) \ge \cos(\sigma/R)$, and
# $T \cdot n \ge -\sin(\sigma/R)$ because $n$ is orthogonal to $T(s_0)$. Integrate:
#
# $$
# \begin{aligned}
# &(\gamma - o) \cdot T(s_0) \ge R \sin\tfrac\sigma R \ge 0, \\
# &(\gamma - o) \cdot n \ge r_0 - R + R \cos\tfrac\sigma R \ge 0, \\
# &|\gamma - o|^2 \ge R^2 + (r_0 - R)^2 \\
# &\qquad + 2 (r_0 - R) R \cos\tfrac\sigma R > R^2 .
# \end{aligned}
# $$
#
# This holds at the end too, which lies in the ball: a contradiction.
#
# *1.*
# Let $m$ be the middle of the chord and $\nu$ a unit vector orthogonal to it.
# The ball of radius $R$ around $o = m - (R - d_{\max}) \nu$ has both ends on its boundary, since $(R - d_{\max})^2 + D^2/4 = R^2$.
# It contains $\gamma$, so $(\gamma - m) \cdot \nu \le d_{\max}$.
# This holds for every $\nu$: no point of $\gamma$ is
# further than $d_{\max}$ from the line through the chord. The orthogonal projection of $\gamma$ to that line is connected and contains both ends, so every $w$ of the chord is the foot of a point of $\gamma$.
#
# *2.*
# The middle of the chord is $R |\cos(\ell/2R)| = R - d_{\max}$ from the centre of the circle.
# If $\ell \le \pi R$, the nearest point of the arc is its middle, $d_{\max}$ away.
# If $\pi R < \ell < 2\pi R$, the arc misses that side of the circle, and its nearest points are the ends, at $D/2$.
# With $x = D/2R < 1$,
# $d_{\max} = R (1 - \sqrt{1 - x^2}) < R x = D/2$.
#
# *3.* $w$ is at most $D/2$ from the nearer end. A point of $\gamma$ over $w$ at the height $\eta$ has distances from the ends that sum to at most $\ell$ and, by Minkowski's inequality, to at least $\sqrt{D^2 + 4\eta^2}$.
#
# The last statement is the definition of $C_L$. ∎
#
# For small $\kappa D$ the paper approximates $d_{\max} \approx \kappa D^2/8$, which is right: with $x = \kappa D/2$
#
# $$
# d_{\max} = \frac{\kappa D^2}{8} \cdot \frac{2}{1 + \sqrt{1 - x^2}} ,
# $$
#
# so that the relative error is about $x^2/4$. At $D = 2/\kappa$ it is half of $d_{\max}$.
#
# No level set has to satisfy $D \le 2/\kappa$: on the hyperbola $uv = 1$, the minimum of a network with one
# hidden neuron, $\kappa \le 1/\sqrt 2$, and the ends $(a, 1/a)$ and $(1/a, a)$ are further apart than $2\sqrt 2$ for $a > 1 + \sqrt 2$. Circular arcs of radius 1, shorter and longer than half a circle:


# %% Measure circular arcs
def arc(angle, points=4001):
    """A circular arc of radius 1, (points, 2)."""
    s = torch.linspace(-angle / 2, angle / 2, points, dtype=torch.float64)
    return torch.stack([s.sin(), s.cos()], dim=-1)


def middle_distance(path):
    """Distance of the chord's midpoint from the curve."""
    return distance_to_curve((path[:1] + path[-1:]) / 2, path).item()


minor = [arc(a) for a in np.linspace(0.02, 1, 50) * math.pi]  # ℓ ≤ π/κ
major = [arc(a) for a in np.linspace(1.01, 1.9, 50) * math.pi]  # ℓ > π/κ
exact, beyond = (
    np.array([middle_distance(path) for path in arcs]) for arcs in (minor, major)
)
d_max, too_short = (  # (1/κ)(1 − √(1 − (κD/2)²)) with κ = 1
    np.array([arc_height(1, distance_between_ends(path)) for path in arcs])
    for arcs in (minor, major)
)

# %%
D = np.array([distance_between_ends(path).item() for path in minor])
first_order = np.abs(D**2 / 8 / exact - 1)
claims.check("G11.sharp", np.abs(d_max / exact - 1), rival=first_order.max())

small = np.array([0.02, 0.04, 0.08])  # κD with κ = 1
quotient = arc_height(1.0, torch.tensor(small)).numpy() / (small**2 / 8)
claims.check("G11.approximation", quotient, rival=arc_height(1.0, 2.0).item() * 2)

claims.check("G11.length", beyond / too_short)

# %% Plot the intersection of balls
figure, lens = figures.panels(height=3.6)
half = 0.85
height, opening, q = math.sqrt(1 - half**2), math.asin(half), math.asin(half / 2)
s = np.linspace(-opening, opening, 200)
x, y = np.sin(s), np.cos(s) - height
lens.fill_between(x, y, -y, color="book:sky", alpha=0.35, label="spindle")
lens.plot(x, y, label="arc, shorter than half a circle")
s = np.linspace(opening, 2 * math.pi - opening, 300)
x, y = np.sin(s), np.cos(s) - height
lens.plot(x, y, color="book:red", label="arc, longer")
s = np.linspace(-q, q, 100)
x, y = np.sin(s) - half / 2, np.cos(s) - math.cos(q)
lens.plot(x, y, color="book:green", label="another curve")
lens.plot(-x, -y, color="book:green")
lens.plot([-half, half], [0, 0], "ko-", linewidth=1, markersize=4)
lens.set(aspect=1, xlim=(-1.8, 1.8), ylim=(-1.7, 0.7))
figures.show("fig_lens", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_lens
# :alt: A lens between two arcs over a chord, which contains an S-shaped curve but not the longer arc of the circle.
#
# The intersection of all balls of radius 1 through both ends holds every curve of curvature at most 1 that is no longer than half a circle.
# :::
#
# ### Symmetric generators and rotations
#
# Both factors of {prf:ref}`thm-logarithm` obey the printed theorem, the stretch
# $\exp(tB)$ and, with the principal logarithm, the rotation $\exp(tA)$. What breaks it are rotations by more (a circle beyond its half, {prf:ref}`thm-turn`), and an $M$ of neither kind ({prf:ref}`prp-loop`). Random curves with $h = 4$, $W_1$ $4 \times 6$ and $W_2$ $5 \times 4$:

# %% Draw curves of symmetric and skew generators
normal = normal_stream(seed, "symmetric and skew")
kinds = {}  # κ_max D/2, κ_max ℓ/π and distance / d_max, (B,) each
for kind, sign, largest in (
    ("symmetric", 1, 3.2),
    ("rotations, at most half turns", -1, math.pi),
    ("rotations, at most full turns", -1, 2 * math.pi),
):
    A = normal(orbits, 4, 4)
    M = A + sign * A.mT
    size = largest * torch.linspace(0.05, 1, orbits, dtype=torch.float64)
    M *= (size / matrix_norm(M, 2))[:, None, None]  # ‖M‖_2 = size
    X = torch.eye(6, dtype=torch.float64).expand(orbits, -1, -1)
    w = normal(orbits, 4, 6), normal(orbits, 5, 4)
    f = orbit_chords(w, M, X, times, places)
    across = f.kappa * f.D / 2
    d_max = arc_height(f.kappa, f.D.where(across < 1, math.nan))
    kinds[kind] = across, f.kappa * f.length / math.pi, f.distance / d_max
as_printed, beyond_half = (
    torch.cat([kinds[kind][2] for kind in chosen])
    for chosen in (list(kinds)[:2], list(kinds)[2:])
)
as_printed = as_printed[as_printed.isfinite()]  # D < 2/κ_max

# %%
claims.check(
    "G11.printed", as_printed, rival=beyond_half.nan_to_num().max().item()
)

# %% Plot lengths over distances
figure, axis = figures.panels(height=4.2)
for (kind, (across, turns, _)), mark, colour in zip(
    kinds.items(), "^os", ("blue", "green", "orange"), strict=True
):
    style = dict(color=f"book:{colour}", markersize=3, label=kind)
    axis.plot(across, turns, mark, **style)
x = np.linspace(0, 1, 200)
axis.plot(x, np.arcsin(x) * 2 / math.pi, color="book:black", linewidth=1)
axis.fill_between([0, 1], 1, 2, color="book:red", alpha=0.12, linewidth=0)
axis.set(xlim=(0, 1.5), ylim=(0, 2), xlabel=r"$\kappa_{\max} D / 2$")
axis.set(ylabel=r"length $\cdot\, \kappa_{\max} / \pi$")
axis.legend(loc="lower right", fontsize=9)
figures.show("fig_printed", figure)
figures.numbers(
    printed_curves=len(as_printed), printed_worst=as_printed.max().item()
)

# %% [markdown]
# :::{glue:figure} fig_printed
# :alt: Scatter plot of length times curvature over pi against half the distance times curvature. Curves with symmetric generators and rotations by at most half a turn stay under an arcsine curve and out of the shaded corner; rotations by more fill it.
#
# Random curves $\exp(tM) \cdot w$. Shaded: $d_{\max}$ is real and the curve too long for {prf:ref}`thm-spindle`. Black: circular arcs, the longest curves of {prf:ref}`thm-printed` at their $D$
# (profile {glue:text}`profile`).
# :::
#
# On the {glue:text}`printed_curves` curves of the first two kinds with $D < 2/\kappa_{\max}$ no point of the chord is further than {glue:text}`printed_worst:≤.3f` $d_{\max}$ from the curve; on rotations by up to a full turn some are {glue:text}`beyond_half.nan_to_num().max().item():.0f` times as far. There another part of the minimum may be closer than the curve. The distance of the midpoint from the whole minimum, where the curve is further than $d_{\max}$ from its chord:

# %% Measure the distance from the whole minimum
from_all = beyond_half.clone()  # distance from the whole minimum / d_max
for i in (beyond_half > 1).nonzero()[:, 0].tolist():
    V_1, V_2 = (V[i, 10] for V in f.chord)  # the midpoint
    from_all[i] = orbit_distance(V_2, V_1, w[1][i], w[0][i]).distance / d_max[i]
rotations = from_all[from_all.isfinite()]  # D < 2/κ_max

# %%
claims.check("G11.sampled_rotations", rotations.max().item(), n=len(rotations))

# %% [markdown]
# Of the {glue:text}`len(rotations)` rotations with $D < 2/\kappa_{\max}$ {glue:text}`int((rotations > 1).sum())` have a midpoint further than $d_{\max}$ from every minimum, by up to {glue:text}`rotations.max().item():≤.2f` times.
#
# ### The loss on chords of an orbit
#
# For curves $\exp(tM) \cdot w$ under $GL_h$ the closed curvature of {prf:ref}`prp-curvature` makes $d_{\max}$ computable. The loss on the chord needs no bound:
#
# :::{prf:proposition} The chord between two minima of one orbit
# :label: prp-orbit-chord
# Let $Y = W_2 W_1 X$. On the chord from $w = (W_1, W_2)$ to $g \cdot w = (g W_1, W_2 g^{-1})$
#
# $$
# \begin{aligned}
# &\|W_2(\lambda) W_1(\lambda) X - Y\| = \lambda (1 - \lambda)\, \| B \| , \\
# &B = W_2 (g + g^{-1} - 2I) W_1 X .
# \end{aligned}
# $$
#
# The loss does not change if $w$ is replaced by $(q W_1, W_2/q)$, $q > 0$, another minimum of the orbit, whereas $\kappa_{\max} \to 0$ as $q \to \infty$ if $M W_1 \ne 0$ and $g = \exp M$.
# :::
#
# :::{prf:proof}
# The product of the middle factors is
#
# $$
# \begin{aligned}
# &\bigl( (1 - \lambda) I + \lambda g^{-1} \bigr) \bigl( (1 - \lambda) I + \lambda g \bigr) \\
# &\quad = I + \lambda (1 - \lambda) (g + g^{-1} - 2I) ,
# \end{aligned}
# $$
#
# as $(1 - \lambda)^2 + \lambda^2 = 1 - 2\lambda (1 - \lambda)$. The factors $q$ and $1/q$ cancel. On the new curve $\|\gamma'\| \ge q\, \|M e^{tM} W_1\|$, and
# $\kappa \le \|\gamma''\|/\|\gamma'\|^2 \le \|M\|_2/\|\gamma'\|$ because $\gamma''$ arises from $\gamma'$ by multiplication with $\pm M$. $\|M e^{tM} W_1\|$ is continuous in $t$ and nowhere 0.
# :::
#
# So a small curvature alone says nothing about the {term}`barrier`: along the orbit the same barrier comes with arbitrarily small curvature.
# (Not with any: if also $W_2 M \ne 0$, $\kappa_{\max} \to 0$ for $q \to 0$ too, and it has a maximum between.)
# What the theorem bounds it by is $C_L d_{\max}$, and $D$ and $C_L$ grow as $\kappa_{\max}$ falls.
#
# G, section 6.2 speaks also of nearly straight paths, and here there is one for large $q$, if $g$ has no negative eigenvalue: $(q g_\lambda W_1, W_2 g_\lambda^{-1}/q)$ with $g_\lambda = (1 - \lambda) I + \lambda g$, of loss 0. In general there is none, even if $\kappa_{\max} D$ is small too ({prf:ref}`prp-small`).
#
# For the random curves of the argument the constant $C_L$ with
#
# $$
# \begin{aligned}
# C_L^2 = \;&\max_{\text{ends}} \|W_1 X\|_2^2 \\
# &+ \max_\gamma \|W_2\|_2^2\, \|X\|_2^2
# \end{aligned}
# $$
#
# bounds the difference quotients of the loss between points of the chord and of $\gamma$. The loss where both hypotheses hold:

# %% Compare the loss with its bound
for f in found.values():
    short_enough = f["kappa"] * f["length"] <= math.pi
    f["valid"] = short_enough & (f["kappa"] * f["D"] <= 2)
together = {
    key: torch.cat([f[key] for f in found.values()]) for key in found[0.1]
}
valid = together["valid"]
d_max = arc_height(together["kappa"][valid], together["D"][valid])  # G, (8)
in_bound = together["loss"][valid] / (together["lipschitz"][valid] * d_max)

# %%
claims.check("G11.orbit_loss", in_bound)

least_leading = together["leading"].min().item()
claims.check("G11.exact", together["error"], rival=least_leading)

# %% Plot distances and hypotheses
figure, (left, right) = figures.panels(2, height=4)
quantiles, conditions = {}, []
for scale, f in found.items():
    turning = (f["kappa"] * f["length"] / math.pi).median()
    across = (f["kappa"] * f["D"] / 2).median()
    conditions.append((turning, across, f["valid"].double().mean()))
    if f["valid"].any():
        k, D, d = (f[key][f["valid"]] for key in ("kappa", "D", "distance"))
        quantiles[scale] = np.quantile(d / arc_height(k, D), [0.05, 0.5, 0.95])
low, mid, high = np.array(list(quantiles.values())).T
left.plot(list(quantiles), mid, "o-", markersize=4)
left.fill_between(list(quantiles), low, high, color="book:blue", alpha=0.2)
left.set(xscale="log", xlabel=r"$\|M\|$", ylabel=r"distance $/\, d_{\max}$")
left.set(ylim=(0, 1.05))
for values, style, colour, label in zip(
    zip(*conditions, strict=True),
    ("o-", "^-", "s--"),
    ("book:blue", "book:green", "book:red"),
    (
        r"$\kappa_{\max} \ell / \pi$, median",
        r"$\kappa_{\max} D / 2$, median",
        "share with both at most 1",
    ),
    strict=True,
):
    right.plot(
        list(found), values, style, color=colour, markersize=4, label=label
    )
right.axhline(1, color="book:black", linewidth=1)
right.set(xscale="log", xlabel=r"$\|M\|$", ylim=(0, 2.5))
right.legend(loc="upper left")
figures.show("fig_orbits", figure)

# %% [markdown]
# :::{glue:figure} fig_orbits
# :alt: First panel, ratio of distance to bound against the magnitude, near 1 for small magnitudes and lower for large ones. Second panel, curvature times length and curvature times chord, which grow with the magnitude, and the share of curves that satisfy the hypotheses, which falls from 1 to 0.
#
# Largest distance of the chord from the curve over $d_{\max}$, median and 5 to 95 % of the curves with both hypotheses, and the hypotheses (profile {glue:text}`profile`).
# :::
#
# One pair of minima with $\|M\| = 0.4$, moved along its orbit by $(q W_1, W_2/q)$:

# %% Move one pair along its orbit
normal = normal_stream(seed, "one orbit")
W_1, W_2, X, M = (
    normal(1, 4, 6),
    normal(1, 5, 4),
    normal(1, 6, 7),
    normal(1, 4, 4),
)
M = 0.4 * M / matrix_norm(M)
qs = np.geomspace(0.1, 10, 21)
moved = [along_orbits((q * W_1, W_2 / q), X, M) for q in qs]
moved = {key: torch.cat([f[key] for f in moved]) for key in moved[0]}

# %% Plot the loss on chords
figure, (left, right) = figures.panels(2, height=4)
estimate = together["lipschitz"] * chord_bound(
    together["kappa"], together["D"], together["length"]
)
for group, colour, label in (
    (valid, "book:blue", r"$d_{\max}$"),
    (~valid, "book:orange", r"$D/2$ or $\sqrt{\ell^2 - D^2}/2$"),
):
    points = estimate[group], together["loss"][group]
    left.plot(*points, ".", markersize=2, color=colour, label=label)
span = [estimate.min(), estimate.max()]
left.plot(span, span, color="book:black", linewidth=1)
left.set(xscale="log", yscale="log", xlabel="$C_L$ times the bound")
left.set(ylabel="highest loss on the chord")
left.legend(loc="upper left", markerscale=4, fontsize=9)
bound = chord_bound(moved["kappa"], moved["D"], moved["length"])
for values, colour, label in (
    (moved["kappa"], "book:red", r"$\kappa_{\max}$"),
    (moved["loss"], "book:black", "highest loss on the chord"),
    (moved["lipschitz"] * bound, "book:blue", "$C_L$ times the bound"),
):
    right.plot(qs, values, color=colour, label=label)
right.set(xscale="log", yscale="log", xlabel="$q$, place on the orbit")
right.legend(fontsize=9)
figures.show("fig_orbit_loss", figure)

# %% Numbers for the text
one = found[0.4]
deviation = arc_height(one["kappa"], one["D"].clamp(max=2 / one["kappa"]))
for name, values in zip(
    ("kappa", "chord", "dmax"), (one["kappa"], one["D"], deviation), strict=True
):
    rank = spearmanr(values, one["loss"]).statistic
    figures.numbers(**{f"rank_{name}": rank})

# %% [markdown]
# :::{glue:figure} fig_orbit_loss
# :alt: First panel, highest loss on the chord against its bound, all points below the diagonal. Second panel, along an orbit the curvature changes by powers of ten while the loss on the chord stays constant.
#
# Loss of all {glue:text}`len(valid)` curves, and one pair of minima with $\|M\| = 0.4$ moved along its orbit (profile {glue:text}`profile`).
# :::
#
# {glue:text}`int(valid.sum())` of the {glue:text}`len(valid)` curves satisfy both hypotheses.
# For small $\|M\|$ the bound on the distance is nearly attained, median ratio {glue:text}`mid[0]:.3f`, since a short curve is an arc.
# The bound on the loss is loose: for nine curves in ten it is between {glue:text}`1 / in_bound.quantile(0.95).item():.1f` and
# {glue:text}`1 / in_bound.quantile(0.05).item():.1f` times the highest loss on the chord. At $\|M\| = 0.4$ the rank correlation of that loss over pairs of minima is {glue:text}`rank_kappa:.2f` with $\kappa_{\max}$, {glue:text}`rank_chord:.2f` with $D$ and {glue:text}`rank_dmax:.2f` with $d_{\max}$.
#
# ### Proof: no nearly straight path
#
# As for {prf:ref}`thm-turn`, $\|\gamma'\|^2 \ge 8 \pi^2 \rho^2$ and $\|\gamma''\|^2 \le 32 \pi^4 (\rho^2 + \rho^{-2}) + 32 a^4 \cosh 2a \le 64 \pi^4 \rho^2$ for $\rho \ge 2$, so that $\kappa \le 1/\rho$.
#
# The path meets the plane through the midpoint of the chord that is orthogonal to it, at a point within $\delta$ of the midpoint. The chord has the direction $(1, -1)$ in the entries $(W_1)_{33}$ and $(W_2)_{33}$ and keeps all others. So both are $c + x$ at that point, where $|x| \le \delta/\sqrt2$, the squares of the changes of the other entries sum to at most $\delta^2 - 2x^2$, and
#
# $$
# \begin{aligned}
# L &\ge (W_2 W_1)_{33} - 1 \\
# &\ge (c + x)^2 - \tfrac12 (\delta^2 - 2x^2) - 1 .
# \end{aligned}
# $$
#
# The right-hand side increases in $x$ for $x \ge -c/2$, where $-\delta/\sqrt2 \ge 1 - c$ lies since $c < 2$. At $x = -\delta/\sqrt2$ it is $(c - \delta/\sqrt2)^2 - 1$. ∎
#
# ### Curves close to a line
#
# Where the loss on the line does not change at all, between two minima of square invertible layers, $(g - I)^2 = 0$ ({prf:ref}`prop-straight`), so that $\log g = g - I$, $\exp(\pm t \log g) = I \pm t (g - I)$, and the line is the curve. For arbitrary minima of one orbit there need not be a close curve:
#
# :::{prf:corollary} No curve near the middle
# :label: cor-no-curve
# Let $w$ be a pair with product $A \ne 0$, $d_0 > 0$ its distance from all pairs with product 0, and $c = (\beta + \beta^{-1})/2$ with $\beta > 0$. All minima in the orbit of $w$, and with them all curves there, are at least $\sqrt{\max(c^2 - 2, 0)}\, d_0$ away from the middle of the line from $\beta \cdot w$ to $\beta^{-1} \cdot w$.
# :::
#
# :::{prf:proof}
# The middle is $c\, w$, and {prf:ref}`thm-orbit-distance` gives its distance.
# :::
#
# Its distance from all of them, by a minimisation over $g$ for balanced $w$, $n = 3$ and $\beta = 100$, and the distance of lines without loss from their curves, both over $D$:

# %% Measure lines far from and close to curves
normal = normal_stream(seed, "always a curve")
P, values, Q = torch.linalg.svd(normal(20, 3, 3))
root, beta = values.sqrt(), 100.0
W_1, W_2 = root[..., None] * Q, P * root[..., None, :]  # balanced
c, size = (
    (beta + 1 / beta) / 2,
    (beta - 1 / beta) * root.norm(dim=1) * math.sqrt(2),
)
no_curve = [
    (
        orbit_distance(c * W_2[i], c * W_1[i], W_2[i], W_1[i]).distance / size[i]
    ).item()
    for i in range(20)
]


def from_curve(N):
    """Largest distance of the chord from exp(t log(I + N))·w over D, N³ = 0; (B,)."""
    w = normal(len(N), 4, 4), normal(len(N), 4, 4)
    eye = torch.eye(4).double().expand(len(N), -1, -1)
    f = orbit_chords(w, N - N @ N / 2, eye, times, places)
    return f.distance / f.D


basis = normal(40, 4, 4)
flags = torch.zeros(40, 4, 4).double()
flags[:20, 0, 2:], flags[:20, 1, 2:] = normal(20, 2), normal(20, 2)  # N² = 0
flags[20:, 0, 1], flags[20:, 1, 2] = 1, 1  # N² ≠ 0, N³ = 0
flat, bent = from_curve(basis @ flags @ torch.linalg.inv(basis)).split(20)

# %%
claims.check("G11.always", max(no_curve), n=len(no_curve))

claims.check(
    "G11.always_flat", flat.max().item(), rival=bent.min().item(), n=len(flat)
)

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# A circular arc of radius 1 has the opening angle $2\theta$, $0 < \theta < \pi$. Express $D$, $d_{\max}$ and the distance of the chord's midpoint from the arc by $\theta$. When does the bound hold?
# :::
#
# :::{solution}
# $D = 2 \sin\theta$, so $d_{\max} = 1 - |\cos\theta|$. The midpoint is $|\cos\theta|$ away from the centre. For $\theta \le \frac\pi2$ the nearest point is the middle of the arc, at $1 - \cos\theta = d_{\max}$: equality. For $\theta > \frac\pi2$ the nearest points are
# the ends, at $\sin\theta$. As $\sin^2\theta = (1 - |\cos\theta|)(1 + |\cos\theta|) > d_{\max}^2$, the bound fails.
# :::
#
# :::{exercise}
# Let $h = 1$, $w = (q, 1/q)$ and $g > 1$ a number, $X = 1$. Compute the highest loss on the chord from $w$ to $g \cdot w$, and $\kappa_{\max}$ on the orbit between them for $q > 1$. What happens to $\kappa_{\max}$, $D$, $C_L$ and $C_L d_{\max}$ as $q \to \infty$?
# :::
#
# :::{solution}
# By {prf:ref}`prp-orbit-chord` the highest loss is $\frac14 (g + g^{-1} - 2) = \frac{(g - 1)^2}{4g}$ for every $q$. The curvature of the hyperbola is $2 (x^2 + y^2)^{-3/2}$, largest at the start: $\kappa_{\max} = 2 (q^2 + q^{-2})^{-3/2} \sim 2 q^{-3}$. $D \sim q (g - 1)$ and
# $C_L \sim q g$, the largest norm of a point. So $\kappa_{\max} D \to 0$, $d_{\max} \sim \frac18 \kappa_{\max} D^2 \sim \frac{(g - 1)^2}{4q}$, and $C_L d_{\max} \to \frac14 g (g - 1)^2$: the bound stays, $g^2$ times too large, while the curvature vanishes.
# :::
#
# :::{try}
# More curves on a finer grid, with all verdicts as here (look at the distances over the length of random plane curves):
#
#     make chapter NAME=curvature ARGS="-p orbits 1000 -p steps 801"
# :::

# %% Versions and time
print(chapter.end())
