# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # At permutation points the loss can fall in several directions, or none
#
# *Double one neuron of a minimum (a permutation point): what kind of point is that in the larger network?*
#
# Critical, not always a minimum or first-order saddle (one falling direction). With one output the loss falls in up to **[[P3.at_most_one]] directions** (stated: at most one). With three, as few as **[[P3.zero:.0f]]** direction is flat (stated: $\ge 3$); in the last hidden layer it almost always falls in two or more.
#
# :::{glue:figure} fig_directions
# :alt: Six rows, for one, two and four inputs and one or three outputs, against the number of negative eigenvalues from 0 to 5. A grey band marks 0 and 1, what the paper allows. Dots lie in the band and to its right. Small circles at 0, 1, 2 and 3 in the row of one output and two inputs are points constructed to have these numbers; a diamond at [[P3.at_most_one]] in the row of one output and four inputs is the largest recorded number with one output.
#
# Negative eigenvalues of the Hessian at permutation points: lines, what the theorem allows; area of a dot, share of the points in this run; circles, points constructed to have these numbers (0 is a minimum); diamond, largest recorded number, one output.
# :::
#
# **How sure.** The numbers of directions are proved ({prf:ref}`thm-inertia`; for almost all targets: {prf:ref}`thm-generic-rank`); at [[n(P3.inertia)]] of [[n(P3.critical)]] recorded points the counts are clear of rounding error, and all of these agree. $n_{k-1}$, $n_{k+1}$: neurons of the layers before and after.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "at most one negative eigenvalue" (sec. 4.2) | [false: more occur](#P3.at_most_one) | with one output [[P3.at_most_one]] seen, 5 possible (four inputs); [[P3.reached]] at points that paths reach |
# | "at least $n_{k+1}$ vanishing" ones (sec. 4.2) | [false: at least one](#P3.zero) | down to [[P3.zero:.0f]] of 3 ([[n(P3.zero)]] points); true with one output |
# | "$n_{k+1}$-dimensional hyperplane of critical points" (sec. 4.2) | [false: a part of it](#P4.plateau_critical) | down to [[P4.plateau_critical:.0f]] of 3 dimensions |
# | "a line of critical points" (sec. 4.2) | [true](#P4.line) | gradient at most [[P4.line:≤.0e]], [[n(P4.line)]] points |
# | "equal-loss" permutations (sec. 4.2) | [true, of all neurons](#P4.all) | the loss is constant to [[P4.exchange:≤.1e]] |
# | "critical points" (sec. 4.2) | [true](#P3.critical) | gradient at most [[P3.critical:≤.1e]], [[n(P3.critical)]] points |
#
# **Open.** Nothing.
#
# **For the authors.** Print *0 to $n_{k-1} + 1$ negative eigenvalues*, *at least one that vanishes* and *a plane of equal loss, all of it critical for one output*.

# %% [markdown]
# :::{need}
# You need: Hessians, symmetric matrices; the *{term}`inertia`* of a symmetric matrix is the triple of the numbers of its negative, zero and positive eigenvalues. [](21_merging_neurons.ipynb) shows how one gets to these points. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $k$; $n_{k-1}$, $n_k$, $n_{k+1}$ | the layer whose neuron is doubled; widths of the layer before, of this one, and of the next |
# | $\vartheta$, $c$ | parameter vector (weights and bias) and outgoing weights of the neuron that is doubled |
# | $g$; $z_\mu$, $s_\mu$ | activation; input of layer $k$ on sample $\mu$ with a 1 appended, and $s_\mu = \vartheta \cdot z_\mu$ |
# | $r_\mu$ | derivative of the loss by the input of layer $k + 1$ on sample $\mu$ |
# | $J$, $\rho$ | $\sum_\mu r_\mu z_\mu^\top g'(s_\mu)$, and its rank |
# | $D$; $\nu_-$, $\nu_0$, $\nu_+$ | $\sum_\mu (r_\mu \cdot c)\, g''(s_\mu)\, z_\mu z_\mu^\top$; numbers of its negative, zero and positive eigenvalues on the kernel of $J$ |
# | $H'$ | Hessian of the smaller network |
# | $\vartheta_0$, $\vartheta_1$; $a_0$, $a_1$ | parameter vectors and outgoing weights of the two copies |
# | $\eta$, $\beta$; $\lambda$ | differences: $\vartheta_1 - \vartheta_0$, and half of $a_1 - a_0$; share of $c$ that one copy has |
# | $L$, $L_1$; $\sigma$ | the loss, and its value at the permutation point; exchange of the two copies |
# | $i$ | index of the point, its number of negative eigenvalues |

# %% Parameters tags=["parameters"]
teachers: int = 2  # teachers for each architecture
starts: int = 6  # starts of the smaller network for each teacher
inputs: int = 200  # normal inputs
newton_steps: int = 160  # budget of the second-order method
rounds: int = 6  # teachers for each number of outputs, to go round points
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    teachers=Integer(1, 10_000),
    starts=Integer(2, 10_000),
    inputs=Integer(30, 1_000_000),
    newton_steps=Integer(80, 1_000_000),
    rounds=Integer(1, 10_000),
)

import math
from collections import Counter
from itertools import combinations, product

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.permutation_points import (
    arrival,
    descents,
    distinct,
    positive_outputs,
    replicate,
    separated,
    strict_minima,
    targets_with_curvature,
    way_round,
)
from lmc_helpers.permutation_points import (
    MLP,
    count_ratio,
    double_neurons,
    embed,
    equal_loss_exchange,
    gradient,
    inertia,
    minimise,
    pair_inertia,
    squared_loss,
)
from lmc_helpers.permutation_points.hessian import hessian
from lmc_helpers.permutation_points.merging import (
    ENDS,
    Shallow,
    follow_pairs,
    join_problems,
)
from lmc_helpers.seeds import normal, torch_generator

# %% [markdown]
# ## The second copy brings a block of its own, and two matrices decide it
#
# Paths of P {cite:p}`brea2019` lead two neurons together. Where they meet and share their outgoing weights, a *{term}`permutation point`*, the network computes what a network with one neuron fewer computes. So all that is new there is how the two copies differ: $\eta$, by which their parameter vectors part, and $\beta$, by which outgoing weight moves from one to the other. At a minimum of the smaller network the loss changes to second order by
#
# $$
# \tfrac18\, \eta^\top D\, \eta + \beta^\top J\, \eta ,
# $$
#
# with two matrices that are computed from the smaller network alone, $J = \sum_\mu r_\mu z_\mu^\top g'(s_\mu)$ and $D = \sum_\mu (r_\mu \cdot c)\, g''(s_\mu)\, z_\mu z_\mu^\top$. Two networks with one and the same minimum below, one neuron doubled; only the targets differ:

# %% Plot a saddle and a minimum
line = np.linspace(-2, 2, 81)
single = np.tanh(1.5 * line)  # one neuron, g(wx) with w = 1.5, c = 1
slope_of = 1 - single**2  # g'(wx)
tangents = np.stack([single, line * slope_of], axis=1)  # by c and by w
bend = -2 * single * slope_of * line**2  # g''(wx) x²
bend = bend - tangents @ np.linalg.lstsq(tangents, bend, rcond=None)[0]
apart, parts = np.meshgrid(np.linspace(-1, 1, 81), np.linspace(-0.3, 1.3, 81))
idea, sides = figures.panels(2, height=4, sharey=True)
for side, sign in zip(sides, (-1, 1), strict=True):
    goal = (
        single - 0.4 * sign * bend
    )  # residual 0.4 · sign · bend, D of this sign
    first = np.tanh((1.5 - (1 - parts) * apart)[..., None] * line)
    second = np.tanh((1.5 + parts * apart)[..., None] * line)
    joint = parts[..., None] * first + (1 - parts)[..., None] * second
    rise = ((joint - goal) ** 2).sum(axis=-1) / ((single - goal) ** 2).sum() - 1
    levels = np.linspace(-0.3, 0.3, 25)
    shades = side.contourf(
        apart, parts, rise, levels=levels, cmap="RdBu_r", extend="both"
    )
    side.axvline(0, color="book:black", linewidth=0.8)
    side.plot(0, 0.5, "*", color="book:black", markersize=14)
    side.set(xlabel=r"difference $\eta$ of the two incoming weights")
    side.set_xticks([-1, -0.5, 0, 0.5, 1])
    kind = "positive: a minimum" if sign > 0 else "negative: a saddle"
    side.set_title(f"$D$ {kind}")
    side.text(0.04, 1.16, "plateau", fontsize=10)
    side.grid(False)
idea.colorbar(
    shades, ax=sides, label="loss, relative change", ticks=[-0.3, 0, 0.3]
)
sides[0].set_ylabel(r"share $\lambda$ of the output weight")
figures.show("fig_saddle_or_minimum", idea)

# %% [markdown]
# :::{glue:figure} fig_saddle_or_minimum
# :alt: Two maps of the loss around a permutation point, against the difference of the two incoming weights and the share of the output weight. In both a vertical line of constant loss. In the first, the loss is lower on both sides of the line's middle and higher beside its ends; in the second, the other way round. A scale of colours from −0.3 to 0.3.
#
# Loss around a permutation point (star), relative to its value there: blue lower, red higher. On the vertical line, the {term}`plateau`, the two neurons are equal and the loss is constant. First panel: a saddle. Second: a minimum.
# :::
#
# :::{prf:theorem} Inertia at a permutation point
# :label: thm-inertia
# Let $g$ be twice continuously differentiable, and the loss as a function of the inputs of layer $k + 1$, too.
# Let $H'$ be the Hessian of the smaller network at a critical point, $\rho = \operatorname{rank} J$, and $(\nu_-, \nu_0, \nu_+)$ the inertia of $D$ on the kernel of $J$.
# The Hessian at the permutation
# point has the inertia
#
# $$
# \begin{aligned}
# \operatorname{In} H' + ( &\rho + \nu_-, \\
# &n_{k+1} - \rho + \nu_0,\; \rho + \nu_+ ) .
# \end{aligned}
# $$
#
# Criticality gives $c^\top J = 0$, so $\rho \le \min(n_{k+1} - 1, n_{k-1} + 1)$ if $c \ne 0$. For $n_{k+1} = 1$ and $c \ne 0$ this says $J = 0$: the inertia added is that of $D$, and one 0.
# :::
#
# :::{prf:proof}
# Put $\vartheta_0 = \vartheta - \frac\eta2$, $\vartheta_1 = \vartheta + \frac\eta2$, $a_0 = \frac c2 - \beta$, $a_1 = \frac c2 + \beta$; this is a linear change of coordinates, in which $(\vartheta, c)$ and the
# other weights are those of the smaller network. The pair contributes
#
# $$
# \begin{aligned}
# c\, g(s) &+ \tfrac18\, c\, g''(s) (\eta \cdot z)^2 \\
# &+ \beta\, g'(s) (\eta \cdot z) + o\bigl( \|\eta\|^2 + \|\beta\|^2 \bigr).
# \end{aligned}
# $$
#
# There is no first-order term in $(\eta, \beta)$, so the Hessian has no mixed block between them and the smaller network, and the loss changes to second order by
# $\frac18 \eta^\top D \eta + \beta^\top J \eta$. The Hessian is congruent to $H' \oplus K$ with
#
# $$
# K = \begin{pmatrix} \frac14 D & J^\top \\ J & 0 \end{pmatrix}.
# $$
#
# Split the space of $\eta$ into the kernel of $J$ and a complement on which $J$ is injective. The complement and the image of $J$ form a hyperbolic block of inertia $(\rho, 0, \rho)$,
# which clears the mixed terms with the kernel by congruence. On the kernel $D$ remains, and $n_{k+1} - \rho$ directions of $\beta$ appear nowhere.
# :::
#
# So a permutation point over a strict minimum has $\rho + \nu_-$ negative eigenvalues and $n_{k+1} - \rho + \nu_0$ vanishing ones. With one output every number of negative ones from 0 to $n_{k-1} + 1$ occurs, even for one and the same smaller network ({prf:ref}`prop-any-number`, {claim}`P3.every_number`). "At most one" is right for scalar input without bias and one output, where $D$ is a number. Theorem 3 of Fukumizu and Amari {cite:p}`fukumizu2000`, which the paper cites for it, tells {term}`minima <minimum>` from saddles by the signs of $D$ and does not count negative eigenvalues.
#
# :::{prf:corollary} What is critical on the plateau
# :label: cor-plateau
# The loss is constant for all $a_0 + a_1 = c$. The gradient there is $a_0^\top J$ in $\vartheta_0$, $a_1^\top J$ in $\vartheta_1$, and 0 elsewhere. So the critical points of the plateau are
# those with $a_0^\top J = 0$: a plane of dimension $n_{k+1} - \rho$, which is at least 1 if $c \ne 0$, and all of it if and only if $J = 0$.
# :::
#
# :::{prf:proof}
# $\nabla_{\vartheta_0} L = \sum_\mu (r_\mu \cdot a_0)\, g'(s_\mu) z_\mu$. The other derivatives are those of the smaller network, and $(c - a_0)^\top J = -a_0^\top J$.
# :::
#
# P's proof says that a shift of output weights with fixed sums "preserves the network function, and criticality", which would give $n_{k+1}$ zero eigenvalues. Criticality is preserved only if $J = 0$. Otherwise the direction $\beta$ of the plateau is coupled to $\eta$ by $J$, and a coupled pair without curvature of its own has one eigenvalue of each sign.
#
# :::{prf:corollary} One output
# :label: cor-one-output
# Let $n_{k+1} = 1$ and $c \ne 0$. Then the Hessian at the permutation point has a zero eigenvalue, and the plateau is a line of critical points, as the paper states. If $H' \succ 0$, the permutation point
# is a local minimum for $D \succ 0$, and a saddle with $\nu_-$ negative directions if $D$ has $\nu_- \ge 1$ negative eigenvalues.
# :::
#
# :::{prf:proof}
# $J = 0$. For $D \succ 0$ write $a_0 = (1 - \lambda) c$, $a_1 = \lambda c$, $\vartheta_0 = \vartheta - \lambda \eta$ and $\vartheta_1 = \vartheta + (1 - \lambda) \eta$. For each $\lambda$ near $\frac12$ the loss as a function of
# $\eta$ and the other weights is critical at $\eta = 0$, at one and the same value, with the Hessian $H' \oplus \lambda (1 - \lambda) D \succ 0$. Both are continuous in $\lambda$, so $\eta = 0$ is a minimum in a neighbourhood whose
# size does not depend on $\lambda$.
# :::
#
# ## The theorem's count is right at every point
#
# {term}`Teachers <teacher and student>` with 6 neurons, students with 2 or 3, minimised to a gradient norm of $10^{-11}$; every neuron of every strict local minimum is doubled. Inputs of dimension 1, 2 and 4, outputs of dimension 1 and 3, two smooth activations, and both layers of a deeper network, if it converges.

# %% Find minima of small networks and double their neurons
ZERO = 1e-9  # relative size up to which an eigenvalue counts as 0
SHALLOW = [
    MLP((n, 2 if n < 4 else 3, m), g)
    for n in (1, 2, 4)
    for m in (1, 3)
    for g in ("tanh", "softplus")
]
DEEP = [MLP((2, 2, 2, 3), "tanh")]
minima, everything = [], []  # of the smaller networks; permutation points
for small in SHALLOW + DEEP:
    hidden = [6 for _ in small.sizes[1:-1]]
    big = MLP((small.sizes[0], *hidden, small.sizes[-1]), small.activation)
    for at in range(seed, seed + teachers):
        x = normal((inputs, small.sizes[0]), at, f"inputs {small.sizes}")
        y = big.forward(big.initial(1, at, scale=2.0)[0], x)  # (T, n_d)
        loss, first = squared_loss(small, x, y), small.initial(starts, at)
        for theta in strict_minima(loss, first, newton_steps, 1e-11, ZERO):
            minima.append((small, theta, x, y))
            everything += double_neurons(small, theta, x, y)
scalar = [p for p in everything if p.net.sizes[p.layer + 1] == 1]
vector = [p for p in everything if p.net.sizes[-1] == 3 and p.net.depth == 2]

slopes = [gradient(p.loss, p.theta).norm().item() for p in everything]
lopsided = []  # three quarters of the first output weight in one copy
for p in vector:
    share = torch.full_like(p.column, 0.5)
    share[0] = 0.75
    moved = p.shared(share * p.column)
    lopsided.append(gradient(p.loss, moved).norm().item())

# %% Leave out points whose count rounding decides
# An eigenvalue between 1e-13 and 1e-7 of the largest: rounding and sloppiness meet
found = everything
hessians = [hessian(p.loss, p.theta) for p in found]  # (p, p) each
clear = [bool(separated(H, low=1e-13, high=1e-7)) for H in hessians]
everything = [p for p, ok in zip(found, clear, strict=True) if ok]
hessians = [H for H, ok in zip(hessians, clear, strict=True) if ok]
kept = set(everything)
scalar, vector = ([p for p in g if p in kept] for g in (scalar, vector))

# %% [markdown]
# One of them by hand, with the most inputs and outputs. $J$ and $D$ come from the smaller network alone, the Hessian from all weights of the larger one. Numbers of negative, zero and positive eigenvalues:

# %%
one = max(everything, key=lambda p: p.J.shape[::-1])
_, s, V = torch.linalg.svd(one.J)  # J (n_{k+1}, n_{k-1} + 1)
rank = int((s > ZERO).sum())  # ρ
kernel = V[rank:].T  # of J, (n_{k-1} + 1, n_{k-1} + 1 - ρ)
nu = inertia(kernel.T @ one.D @ kernel, ZERO)  # (ν₋, ν₀, ν₊)
outputs, p = len(one.J), one.small.size  # In H' = (0, 0, p)
theorem = (rank + nu.negative, outputs - rank + nu.zero, p + rank + nu.positive)
print("theorem:          ", *(int(count) for count in theorem))

zero = torch.zeros(outputs, outputs)
K = torch.cat([torch.cat([one.D / 4, one.J.T], 1), torch.cat([one.J, zero], 1)])
print("block of the pair:", *(int(count) for count in inertia(K, ZERO)))

H = hessian(one.loss, one.theta)
print("Hessian:          ", *(int(count) for count in inertia(H, ZERO)))

# %% Count at all points, and by the theorem
# pair_inertia is the theorem's triple for the doubled neuron
kinds = [inertia(H, ZERO) for H in hessians]
counted = [(int(kind.negative), int(kind.zero)) for kind in kinds]
predicted = [pair_inertia(p.J, p.D, ZERO)[:2] for p in everything]
agree = [a == b for a, b in zip(counted, predicted, strict=True)]
of_point = dict(zip(everything, counted, strict=True))
negatives = [of_point[p][0] for p in scalar]
zeros = [of_point[p][1] for p in vector]
zeros_scalar = [of_point[p][1] for p in scalar]

# %% Plot the finding
groups = {}  # outputs, inputs → numbers of negative eigenvalues
for p, (count, _) in zip(everything, counted, strict=True):
    if p.net.depth == 2:
        groups.setdefault((p.net.sizes[-1], p.net.sizes[0]), []).append(count)
rows = sorted(groups)
figure, axis = figures.panels(height=2.7)
axis.axvspan(-0.5, 1.5, color="book:grey", alpha=0.15, linewidth=0)
axis.text(0.5, -0.75, "paper: ≤ 1", ha="center", fontsize=10)
for row, (m, inputs_of) in enumerate(rows):
    axis.plot([0, inputs_of + 1], [row, row], color="book:grey", linewidth=1)
    for count, points in Counter(groups[m, inputs_of]).items():
        area = 240 * points / len(groups[m, inputs_of])
        colour = "book:blue" if m == 1 else "book:red"
        axis.scatter(count, row, s=area, color=colour, zorder=3)
most, at = claims.recorded("P3.at_most_one")["value"], rows.index((1, 4))
axis.plot(most, at, "D", color="book:black", markersize=9, mfc="none", zorder=4)
axis.text(most, at + 0.8, f"recorded: {most:.0f}", ha="left", fontsize=10)
axis.plot(
    range(4),
    [rows.index((1, 2))] * 4,
    "o",
    color="book:black",
    mfc="white",
    markersize=5,
    zorder=5,
)
axis.text(
    3.15, rows.index((1, 2)) + 0.08, "built: 0 to 3", va="center", fontsize=10
)
axis.set_xticks(range(6))
names = [f"{m} output{'s' * (m > 1)}, {k} input{'s' * (k > 1)}" for m, k in rows]
axis.set_yticks(range(len(rows)), names)
axis.set(xlabel="negative eigenvalues", xlim=(-0.5, 5.6), ylim=(5.5, -1.15))
axis.grid(False)
figures.show("fig_directions", figure)

# %% Numbers for the text
figures.numbers(
    points=len(everything),
    unclear=len(found) - len(everything),
    deep=sum(p.net.depth == 3 for p in everything),
    agree="all" if all(agree) else f"{sum(agree)} of",
    scalar=len(scalar),
)

# %% [markdown]
# The theorem is right at {glue:text}`agree` {glue:text}`points` points of this run, {glue:text}`deep` of them in a deeper network; {glue:text}`unclear` others, with an eigenvalue that double precision cannot tell from 0, are left out. With one output up to {glue:text}`max(negatives, default=0)` eigenvalues are negative here, up to [[P3.at_most_one]] in the recorded run. Points without any, which may be minima of the larger network: {glue:text}`negatives.count(0) or "none"` of the {glue:text}`scalar` with one output.

# %%
rival = min(lopsided, default=1.0)
claims.check("P3.critical", slopes or 0, n=len(slopes), rival=rival)
claims.check("P3.at_most_one", negatives or 1, n=len(negatives))
claims.check("P3.zero", zeros or 3, n=len(zeros))
claims.check("P3.inertia", float(np.mean(agree or [1])), n=len(agree))

# %% [markdown]
# On the plateau the copies stay equal, and their output weights $a_0$ and $c - a_0$ are shared in another way. The gradient there is an affine function of $a_0$; its values at $a_0 = 0$ and at the unit vectors say on which part of the plateau it vanishes, without $J$:

# %% Loss and gradient at random points of the plateau
rng = torch_generator(seed, "splits of the output weights")
changes, alone, slopes_plateau = [], [], {}
for p in everything:
    level = p.loss(p.theta)
    a_0 = torch.randn(len(p.column), dtype=torch.float64, generator=rng)
    moved = p.shared(a_0)  # a_1 = c − a_0
    changes.append(((p.loss(moved) - level) / level).abs().item())
    slopes_plateau[p] = gradient(p.loss, moved).norm().item()
    single = p.theta.clone()  # a_0 moves alone
    single[p.net.outgoing(p.layer, 0)[0]] += 1
    alone.append(((p.loss(single) - level) / level).abs().item())
on_plateau = [slopes_plateau[p] for p in vector]
on_line = [slopes_plateau[p] for p in scalar]

# %% Dimension of the critical part of the plateau
dimensions, critical_set = [], []  # critical part; gradients where a_0ᵀJ = 0
for p in vector:
    origin = gradient(p.loss, p.shared(torch.zeros_like(p.column)))
    units = torch.eye(len(p.column), dtype=torch.float64)
    slopes = torch.stack([gradient(p.loss, p.shared(a)) for a in units]) - origin
    rank = int((torch.linalg.svdvals(slopes) > ZERO).sum())
    dimensions.append(len(p.column) - rank)
    U, s, _ = torch.linalg.svd(p.J)
    free = U[:, int((s > ZERO).sum()) :]  # aᵀJ = 0, (n_{k+1}, n_{k+1} − ρ)
    a_0 = p.column / 2 + free.sum(dim=1)
    critical_set.append(gradient(p.loss, p.shared(a_0)).norm().item())

# %%
claims.check("P4.plateau", changes or 0, n=len(changes), rival=min(alone))
claims.check("P4.plateau_critical", dimensions or 3, n=len(dimensions))
rival = min(on_plateau, default=1.0)
claims.check("P4.line", on_line or 0, n=len(on_line), rival=rival)

# %% [markdown]
# The paper's sentences may speak of every permutation point, as its section 4.3 does, or of those alone to which paths of section 4.1 lead. We judge both readings:
#
# | The paper says | Points over any strict minimum | Points that paths reach |
# | --- | --- | --- |
# | "at most one negative eigenvalue" | [false](#P3.at_most_one): up to [[P3.at_most_one]], [[n(P3.at_most_one)]] points | [false](#P3.reached): up to [[P3.reached]], [[n(P3.reached)]] points |
# | "at least $n_{k+1}$ vanishing eigenvalues", three outputs | [false](#P3.zero): down to [[P3.zero:.0f]] | [true](#P3.zero_reached), as $J = 0$ there |
# | "space … of critical points", three outputs | [false](#P4.plateau_critical): down to [[P4.plateau_critical:.0f]] dimension | [true](#P4.plateau_reached), as $J = 0$ there |
#
# Paths that end with bounded output weights end where $J = 0$ ([](21_merging_neurons.ipynb)). With several outputs none was found that does, so the last two entries of that column are measured at points constructed to have $J = 0$ and decide no headline.
#
# ## Two neurons go round each other, below the point
#
# P's paths exchange two neurons where they meet. "There must be a saddle point on such a path $\gamma$, potentially but not necessarily, at the permutation point" (P, section 4.1). Do they have to meet? The *index* of the point decides:
#
# :::{prf:theorem} When two neurons change places below their permutation point
# :label: thm-round
# Let $g$ and the loss be smooth, the smaller network at a minimum with $H' \succ 0$, $c \ne 0$ and $D$ regular on the kernel of $J$. Let $p$ be the permutation point, $L_1$ its loss, $i = \rho + \nu_-$ its index, $\sigma$ the exchange of the two neurons and $N$ the
# space of the negative eigenvectors of $\nabla^2 L(p)$. For all $n \in N$, $\sigma (p + n) = p - n$. In arbitrarily small neighbourhoods of $p$
# 1. $i = 0$: $L \ge L_1$, and $p$ is a local minimum;
# 2. $i = 1$: the set $\{L < L_1\}$ has two components, and $p + n$ and $p - n$ lie in different ones for all small $n \in N$, $n \ne 0$: a path between them within the neighbourhood reaches $L_1$ (one that leaves it need not);
# 3. $i \ge 2$: the set $\{L < L_1\}$ is connected. For orthonormal $n_1, n_2 \in N$ and small $\varepsilon > 0$ the half circle $p + \varepsilon (\cos t \; n_1 + \sin t \; n_2)$, $0 \le t \le \pi$, lies in it and exchanges the two neurons.
#
# So if $i \ge 2$ and gradient flow from $p + \varepsilon n_1$ converges to $\theta$, then $\theta$ and $\sigma \theta$ are joined by a path whose largest loss is smaller than $L_1$; if $\vartheta_0 \ne \vartheta_1$ in $\theta$, by one on which the two neurons never meet.
# :::
#
# :::{prf:proof}
# In the coordinates of the proof of {prf:ref}`thm-inertia`, which are orthogonal, $\sigma$ is $-1$ on $(\eta, \beta)$ and 1 on the rest, and it commutes with the Hessian. On the rest the Hessian is congruent to $H' \succ 0$. So $N$ lies in the space of $(\eta, \beta)$, and $\sigma (p + n) = p - n$.
#
# As $\nu_0 = 0$, the kernel of the Hessian has the dimension $n_{k+1} - \rho$ of the plane of critical points through $p$ ({prf:ref}`cor-plateau`). So near $p$ this plane contains all critical points, and $L$ is Morse–Bott along it: in coordinates $(s, u, v)$, $u \in \mathbb R^i$, it is $L_1 - |u|^2 + |v|^2$. The set
# $\{|u| > |v|\}$ is empty for $i = 0$; otherwise it retracts to the product of a ball and the sphere $S^{i-1}$, which has two components for $i = 1$ and one for $i \ge 2$. For $i = 1$ the points $p \pm n$ have $u$ of opposite signs, as the derivative of $u$ at $p$ does not vanish on $N$: there $|dv(n)|^2 - |du(n)|^2 = \frac12 n^\top \nabla^2 L(p)\, n < 0$.
# On the half circle $L = L_1 + \frac12 n^\top \nabla^2 L(p)\, n + O(\varepsilon^3)$ with $n^\top \nabla^2 L(p)\, n \le -\kappa \varepsilon^2$, $\kappa > 0$.
#
# The path is: the flow from $p + \varepsilon n_1$, backwards; the half circle to $p - \varepsilon n_1 = \sigma (p + \varepsilon n_1)$; and the image of the flow under $\sigma$, at the same losses.
#
# *They need not meet.* The set $\{L < L_1\}$ is open, and $\{\vartheta_0 = \vartheta_1\}$ is a linear subspace, of codimension $\dim \vartheta \ge \rho + \nu_- \ge 2$. So the path, whose ends are not in it, may be replaced by a nearby polygon in general position in $\{L < L_1\}$, which misses it. (The half circle itself does: $\eta = 0$ makes the quadratic form of $K$ vanish, so $\eta \ne 0$ in all $n \in N \setminus \{0\}$.)
# :::
#
# With two weights, two neurons can go round each other, as two people in a plane can and on a line cannot. Under the hypotheses of the theorem a permutation point is what the paper's title calls it, a permutation saddle: at index 1 it is, locally, the pass between two orders; from index 2 on a lower way leads round it ({prf:ref}`thm-price`: how low). In the last hidden layer it is 2 or more from three outputs on, for almost all targets ({prf:ref}`thm-generic-rank`, {claim}`P3.several_outputs`).
#
# Teachers with 4 neurons, students with 3, doubled to 4: the half circle at each permutation point of index 2 or more, and descent from its end in small steps:

# %% Walk round the permutation points of four neurons
RADII = (1e-3, 3e-3, 0.01, 0.03, 0.1, 0.2)
half = torch.linspace(0, math.pi, 65, dtype=torch.float64)
circle = torch.stack([half.cos(), half.sin()], dim=1)  # (65, 2)
passes = []  # outputs, teacher, index, largest loss over L_1 on the way, last one
ways = {}  # outputs, teacher → half circles and descents
for outputs in (1, 2, 3):
    small, big = MLP((2, 3, outputs), "tanh"), MLP((2, 4, outputs), "tanh")
    for at in range(seed, seed + rounds):
        x = normal((inputs, 2), at, f"inputs {small.sizes}")
        y = big.forward(big.initial(1, at, scale=2.0)[0], x)
        loss, first = squared_loss(small, x, y), small.initial(starts, at)
        minimal = strict_minima(loss, first, newton_steps, 1e-11, ZERO)
        found = []  # index, permutation point and half circle, index 2 or more
        for theta in distinct(loss, minimal):
            for p in double_neurons(small, theta, x, y):
                H = hessian(p.loss, p.theta)
                if not separated(H, low=1e-13, high=1e-7):
                    continue
                if (index := int(inertia(H, ZERO).negative)) < 2:
                    passes.append((outputs, at, index, 1.0, 1.0))
                    continue
                n = torch.linalg.eigh(H).eigenvectors[:, :2]  # (p, 2)
                arcs = [p.theta + r * circle @ n.T for r in RADII]
                way = min(arcs, key=lambda way: p.loss(way).max())
                found.append((index, p, way))
        ends = [way[0] for *_, way in found]
        falls = descents(found[0][1].loss, torch.stack(ends)) if found else []
        for (index, p, way), fall in zip(found, falls, strict=True):
            losses = p.loss(torch.cat([fall.flip(0), way])) / p.loss(p.theta)
            top, last = losses.max().item(), losses[0].item()
            ways.setdefault((outputs, at), []).append((p, way, fall))
            passes.append((outputs, at, index, top, last))

# %% Heights of the ways round, and where descent ends
tops = [top - 1 for *_, index, top, _ in passes if index >= 2]
three = [index for outputs, _, index, *_ in passes if outputs == 3]
arrive = {}  # teacher → whether descent ends at loss 0
for outputs, at, index, _, last in passes:
    if outputs == 3 and index >= 2:
        arrive.setdefault(at, []).append(last < 1e-12)
joined = [sum(found) for found in arrive.values()]

# %% Plot one exchange
shown = [w for (outputs, _), found in ways.items() if outputs == 3 for w in found]
p, way, fall = min(
    shown, key=lambda w: w[0].loss(w[1]).max() / w[0].loss(w[0].theta)
)
moved = torch.diff(fall, dim=0, prepend=fall[:1]).norm(dim=1).cumsum(0)
at = torch.searchsorted(moved, torch.linspace(0, 1, 21) ** 2 * moved[-1])
fall = fall[at.clamp(max=len(fall) - 1)]  # (21, p), from the circle down to θ
path = torch.cat([fall.flip(0), way, p.net.swap(fall, 1, 0, 1)])  # θ to σθ
W, height = p.net.split(path)[0][0], p.loss(path) / p.loss(p.theta)
pair = W[:, :2] - W[:, :2].mean(dim=1, keepdim=True)  # (107, 2, 2)
reach = 2.5 * pair[21:-21].abs().max().item()
stops = [*range(21), *range(21, 86, 4), *range(86, 107)]
scene = figures.Moving(
    "stage",
    [str(k) for k in range(len(stops))],
    [f"loss {v:.4f} of that of the point" for v in height[stops].tolist()],
    start=len(stops) // 2 - 2,
)
plane = scene.panel(
    title="input weights less their mean",
    xlabel="$W_{i1}$",
    ylabel="$W_{i2}$",
    xlim=(-reach, reach),
    ylim=(-reach, reach),
    equal=True,
)
for k, colour in enumerate(("red", "blue")):
    plane.draw(*pair[:, k].T, ":", colour)
    plane.draw(pair[stops, k, :1], pair[stops, k, 1:], "o", colour, f"neuron {k}")
plane.draw([0], [0], "x", "black", "permutation point: both here")
side = scene.panel(title="loss over that of the point", xlabel="stage")
side.draw(range(len(stops)), height[stops], "-", "black")
side.draw([0, len(stops) - 1], [1, 1], "--", "grey", "permutation point")
side.draw(np.arange(len(stops))[:, None], height[stops][:, None], "o", "red")
scene.show("fig_round")

# %% Numbers for the text
indices = Counter((outputs, min(index, 2)) for outputs, _, index, *_ in passes)
figures.numbers(
    round_first=", ".join(str(indices[m, 1]) for m in (1, 2, 3)),
    round_more=", ".join(str(indices[m, 2]) for m in (1, 2, 3)),
)

# %% [markdown]
# :::{glue:figure} fig_round
# :alt: First, the input weights of two neurons relative to their mean: they come in from opposite sides, turn round a cross in the middle by half a circle, and leave on the sides from which the other came. Second, the loss along the way, below a dashed line at 1 throughout.
#
# Two neurons of a network with three outputs change places. First panel: their input weights less the mean of the two; at the permutation point both would be in the middle. Second: the loss, 0 at both ends and below that of the permutation point throughout; the way in and the way out are descent (profile {glue:text}`profile`).
# :::
#
# Of this run's {glue:text}`len(passes)` permutation points {glue:text}`round_first` have index 1, with one, two and three outputs, and {glue:text}`round_more` a larger one; on the lowest of the ways the largest loss is {glue:text}`min(top for *_, top, _ in passes):.3f` times that of the point. With three outputs {glue:text}`sum(joined)` of {glue:text}`sum(map(len, arrive.values()))` descents end at loss 0 (recorded: [[P3.round_joins:.0f]], with [[n(P3.round_joins)]] teachers), the others at minima of a larger loss. The paper says of the path that "there is no guarantee that the highest saddle should be the one at the permutation point"; where the index is 2 or more, there are paths on which it is not.

# %%
claims.check("P3.round", max(tops, default=-1.0), n=len(tops))
claims.check("P3.round_joins", float(sum(joined)), n=len(joined))

# %% [markdown]
# The half circle needs only a critical point and two negative eigenvalues. Even with one output, where the paper's own path leads to such a point, it can be left before it arrives ({prf:ref}`cor-given`, {claim}`P3.round_given`).
#
# ## From one point, every order of the neurons is reached at equal loss
#
# From a permutation point of two neurons the six steps of P, section 4.2 (ii) exchange one of them with any other neuron of the layer ({py:func}`~lmc_helpers.permutation_points.doubling.equal_loss_exchange`). Repeated exchanges generate every permutation: an arrangement says which of the $n_k - 1$ vectors of the smaller network each of the $n_k$ neurons has, and from one arrangement moves of copies reach all the others.

# %% Loss on the six steps, and on the straight line
t = torch.linspace(0, 1, 21, dtype=torch.float64)[:, None]
curves = []  # losses on the six steps and on the straight line, over their start
for p in everything:
    other = p.net.sizes[p.layer] - 1
    path = equal_loss_exchange(p.net, p.theta, p.layer, other)  # (120, p)
    line = path[0] + t * (path[-1] - path[0])
    level = p.loss(p.theta)
    curves.append((p.loss(path) / level, p.loss(line) / level))
on_path = [(path - 1).abs().max().item() for path, _ in curves]
straight = [(line - 1).abs().max().item() for _, line in curves]


# %% Arrangements that moves of copies reach
def reached(n: int) -> int:
    """Arrangements of n neurons on n - 1 vectors that moves of copies reach."""
    start = (0, *range(n - 1))  # neurons 0 and 1 share vector 0
    seen, waiting = {start}, [start]
    while waiting:
        vectors = waiting.pop()
        for i, v in product(range(n), range(n - 1)):
            if vectors.count(vectors[i]) == 2:  # neuron i is a copy
                there = (*vectors[:i], v, *vectors[i + 1 :])
                if there not in seen:
                    seen.add(there)
                    waiting.append(there)
    return len(seen)


shares = [
    reached(n) / float(count_ratio(1, n) * math.factorial(n)) for n in range(2, 7)
]

# %%
claims.check("P4.exchange", on_path or 0, n=len(on_path), rival=min(straight))
claims.check("P4.all", shares)

# %% [markdown]
# So a path from a minimum to the permutation point of lowest loss, these moves, and the path back connect the minimum with all its permuted copies, as P says at the end of section 4.2: the loss on the way is never higher than on that one path. These are the points over one network with a neuron less. Where the paper sums up that "all permutation points in a given layer are connected with equal-loss paths" (P, section 6), it must mean them: other pairs lead to points at other losses ({claim}`P1.same_loss`), as P says in the proof of (ii).
#
# ## What it means for merging networks
#
# A path from a network to a permutation point leads on to every permuted copy, at no more than its largest loss. At the point the way down is in the directions in which $D$ is negative and, with several outputs, in $\rho$ more, which $J$ opens; along the plateau the copies trade output weights for nothing, which is how neurons change places. From index 2 on, two neurons need not meet at all.
#
# **Read on.** [](23_permutation_counts.ipynb): how many such points there are. [](21_merging_neurons.ipynb): paths that lead to them.

# %% [markdown]
# ## Evidence

# %% [markdown]
# ### Earlier work
#
# The line of critical points is what Fukumizu and Amari {cite:p}`fukumizu2000` found; they have $D$, for one output. Doubled neurons with several outputs and with ReLU are the subject of {cite:t}`fukumizu2019`, in deep networks of {cite:t}`petzka2021`, who ask when a minimum becomes a saddle; {cite:t}`zhang2022` show that no number of eigenvalues of one sign falls when a network is embedded in a wider one. {prf:ref}`thm-inertia` says by how much each of them grows.
#
# ### Every number of negative eigenvalues occurs
#
# :::{prf:proposition} Any inertia of $D$
# :label: prop-any-number
# Let the loss be $\frac1{2T} \sum_\mu (f_\mu - y_\mu)^2$, and let a network with one hidden layer and one output have a parameter vector at which the tangents $\partial f / \partial \theta_i$ and the functions $g''(s) z_i z_j$, $i \le j$, are together linearly
# independent on the data, and $c \ne 0$. Then for every number from 0 to $n_{k-1} + 1$ there are targets, as near to its outputs as one likes, for which it is a strict local minimum and the permutation point has so many negative
# eigenvalues, and one 0.
# :::
#
# :::{prf:proof}
# The residuals $r = f - y$ enter the gradient and $D$ linearly. By independence there are residuals orthogonal to all tangents with any symmetric $D$, so one of full rank; multiplied by $\varepsilon$ they give $\varepsilon D$ and
# $H' = \frac1T \sum_\mu \partial f_\mu \partial f_\mu^\top + O(\varepsilon)$, positive definite for small $\varepsilon$. {prf:ref}`thm-inertia` does the rest.
# :::
#
# So a permutation point can be a minimum, and it can go down in all directions of $\eta$: with two inputs and two neurons, residuals are made for it (`targets_with_curvature`).

# %% Make points with prescribed curvature
small = MLP((2, 2, 1), "tanh")
weights = [[1.5, -0.5], [0.5, 1.5]], [0.5, -0.5], [[1.0, -1.0]], [0.0]  # W, b
W, b, V, bias = (torch.tensor(w, dtype=torch.float64) for w in weights)
theta = small.join([(W, b), (V, bias)])
x = normal((inputs, 2), seed, "inputs with made residuals")
made, made_for = [], []  # negative and zero eigenvalues of the Hessian; of what
for negative in range(4):
    D = torch.diag(torch.tensor([-1.0] * negative + [1.0] * (3 - negative)))
    y = targets_with_curvature(small, theta, 0, x, D, size=0.01)  # f - y <= 0.01
    point = double_neurons(small, theta, x, y)[0]
    kind = inertia(hessian(point.loss, point.theta), ZERO)
    made.append((int(kind.negative), int(kind.zero)))
    made_for.append((small, theta, x, y))
print("negative and zero eigenvalues:", *made)

# %%
wanted = [(negative, 1) for negative in range(4)]
off = np.abs(np.subtract(made, wanted)).max(axis=1)
claims.check("P3.every_number", off, n=len(made))

# %% [markdown]
# ### Zeros with one output, valleys, and a step of the proof
#
# With three outputs the gradient at random points of the plateau is at least {glue:text}`min(on_plateau, default=0):≥.1e` in this run; on the part that {prf:ref}`cor-plateau` names it is at most {glue:text}`max(critical_set, default=0):≤.0e`. With one output it is at most {glue:text}`max(on_line, default=0):≤.0e` at random points of the line.

# %%
claims.check("P3.zero_one_output", zeros_scalar or 1, n=len(zeros_scalar))
claims.check("P4.keeps_critical", dimensions or 3, n=len(dimensions))
falling = [negative > 0 for negative, _ in counted]
claims.check("P4.valley", float(np.mean(falling or [0])), n=len(falling))
within = []  # in the dimensions E of the smaller network, (its size, size)
for p, H in zip(everything, hessians, strict=True):
    _, E = embed(
        p.small, torch.eye(p.small.size, dtype=H.dtype), p.layer, p.neuron
    )
    within.append(bool(inertia(E @ H @ E.T, ZERO).negative))
share = float(np.mean(within or [1]))
claims.check(
    "P4.valley_within", share, n=len(within), rival=float(np.mean(falling or [0]))
)

# %% Plot one spectrum
figure, axis = figures.panels(height=3.3)
axis.set_yscale("symlog", linthresh=1e-6)
example = max(scalar, key=lambda p: of_point[p][0])
spectrum = torch.linalg.eigvalsh(hessian(example.small_loss, example.small_theta))
axis.plot(spectrum, "o", color="book:blue", label="smaller network")
spectrum = torch.linalg.eigvalsh(hessian(example.loss, example.theta))
axis.plot(spectrum, "x", color="book:red", label="permutation point")
axis.axhline(0, color="book:black", linewidth=0.8)
axis.set(xlabel="index", ylabel="eigenvalue (linear below $10^{-6}$)")
axis.legend()
figures.show("fig_spectra", figure)

# %% [markdown]
# :::{glue:figure} fig_spectra
# :alt: Sorted Hessian eigenvalues of a small network, all positive, and of its permutation point, some negative.
#
# Spectrum of one example, before and after a neuron is doubled; {glue:text}`sum(map(len, groups.values()))` points with one hidden layer are in {numref}`fig-directions` (profile {glue:text}`profile`).
# :::
#
# ### The loss around one permutation point
#
# The permutation point with one output whose $D$ has the lowest eigenvalue relative to its loss, with $e$ its eigenvector. With the share $\lambda$ of the output weight and the difference $\eta$ of the parameter vectors, $\vartheta_0 = \vartheta - (1 - \lambda) \eta$, $\vartheta_1 = \vartheta + \lambda \eta$, $a_0 = \lambda c$ and $a_1 = (1 - \lambda) c$:

# %% Loss around a permutation point
saddles = [p for p in scalar if of_point[p][0] > 0]
around = min(
    saddles,
    key=lambda p: (torch.linalg.eigvalsh(p.D)[0] / p.loss(p.theta)).item(),
)
e = torch.linalg.eigh(around.D).eigenvectors[:, 0]  # lowest eigenvector of D
differences, shares = np.linspace(-0.6, 0.6, 81), np.linspace(-0.3, 1.3, 81)
eta = torch.from_numpy(differences)[:, None] * e  # (81, n_{k-1} + 1)
surface = []
for share in shares:
    theta = around.shared(share * around.column).repeat(len(eta), 1)
    theta[:, around.net.incoming(around.layer, 0)] -= (1 - share) * eta
    theta[:, around.net.incoming(around.layer, 1)] += share * eta
    surface.append(around.loss(theta).numpy())
surface = np.array(surface) / around.loss(around.theta).item()  # (81, 81)

# %% Plot the loss around the merge and on the exchange, and the card
figure, (left, right) = figures.panels(2, height=4)
depth = 1 - surface.min()
style = dict(cmap="RdBu_r", extend="max")
levels = np.linspace(1 - depth, 1 + depth, 21)
filled = left.contourf(differences, shares, surface, levels=levels, **style)
left.axvline(0, color="book:black", linewidth=0.8)
for share in (0, 1):
    left.axhline(share, color="book:black", linestyle=":", linewidth=0.8)
left.plot(0, 0.5, "*", color="book:black", markersize=14)
left.set_xlabel(r"difference of the parameter vectors along $e$")
left.set_ylabel("share of the output weight")
left.grid(False)
label = "loss / its value at the star"
figure.colorbar(filled, ax=left, label=label, format="%.3f")
examples = curves[0], curves[len(curves) // 2], curves[-1]
for (path, line), colour in zip(examples, ("C0", "C1", "C2"), strict=True):
    steps = np.linspace(0, 6, len(path)), np.linspace(0, 6, len(line))
    right.plot(steps[0], path, color=colour, linewidth=2.5)
    right.plot(steps[1], line, "--", color=colour)
right.set(yscale="log", xlabel="step of the exchange", ylabel="loss / its start")
right.plot([], [], color="book:black", linewidth=2.5, label="six steps")
right.plot([], [], "--", color="book:black", label="straight line")
right.legend(loc="upper center", ncols=2, bbox_to_anchor=(0.5, -0.16))
figures.show("fig_around", figure)

figure, axis = figures.card()
style = dict(cmap="RdBu_r", extend="max")
axis.contourf(differences, shares, surface, levels=levels, **style)
axis.axvline(0, color="book:black", linewidth=0.8)
style = dict(color="book:black", linestyle="", markersize=14)
axis.plot(0, 0.5, "*", label="permutation point", **style)
axis.set_xlabel("difference of the two neurons")
axis.set_ylabel("share of the output")
axis.grid(False)
axis.legend(loc="lower center", bbox_to_anchor=(0.5, 0.98))
figures.keep(figure)

# %% [markdown]
# :::{glue:figure} fig_around
# :alt: First, loss around a permutation point as colour, against the difference of the two parameter vectors and the share of the output weight; a vertical line of constant loss at difference zero, lower loss to both sides of its middle and higher loss to both sides of its ends. Second, loss along the six-step exchange, constant, and along the straight line, up to many times higher.
#
# First panel: the loss around a merge, P, Fig. 5A; the line at difference 0 is the plateau, the star the permutation point. Second: loss
# on the six-step exchange and on the straight line between its ends, three examples (profile {glue:text}`profile`).
# :::
#
# To second order the loss changes by $\frac12 \lambda (1 - \lambda)\, e^\top D e\, \delta^2$ at the distance $\delta$ along $e$, so a direction that goes down for shares between 0 and 1 goes up outside ({prf:ref}`thm-inertia`).
#
# ### The rank of $J$ for almost all targets
#
# :::{prf:theorem} The rank of $J$ for almost all targets
# :label: thm-generic-rank
# One hidden layer with biases, squared loss, $g$ twice continuously differentiable, inputs $z_1, \dots, z_T$, and an affine subspace $A \subseteq \mathbb R^{n_{k+1}}$ of dimension $q \ge 1$. For all targets $(y_1, \dots, y_T) \in A^T$ outside a null set: at every critical point of the smaller network at which the functions $1$, $g(s_i)$ and $g'(s_i) z_a$, for all neurons $i$ and entries $a$ of $z$, are linearly independent on the data, every neuron with $c \ne 0$ has
#
# $$
# \rho = \min(q - 1,\; n_{k-1} + 1) .
# $$
#
# So from $q = 3$ on, no permutation point that repeats such a neuron is a first-order saddle, and for $A = \mathbb R^{n_{k+1}}$ the critical part of its plateau has the dimension $\max(1, n_{k+1} - n_{k-1} - 1)$.
# :::
#
# :::{prf:proof}
# *All outputs.* Let $u$ be orthogonal to the directions of $A$. Then $u \cdot y_\mu$ does not depend on $\mu$, and $u \cdot r_\mu$ is a combination of $1$ and $g(s_i)$. The derivatives by biases and weights of the outputs say that it is orthogonal to these functions on the data. So $u \cdot r_\mu = 0$, and by independence $u \cdot c_i = 0$: in coordinates of $A$ this is a critical point of a network with $q$ outputs. Let $A = \mathbb R^q$.
#
# *No idle neurons.* Leaving out the neurons with $c_i = 0$ changes no residual and no other $J_i$, and what is left is critical, with fewer functions. Numbers of neurons are finitely many, so let all $c_i \ne 0$.
#
# *Dimensions.* The parameters $\theta \in \mathbb R^p$ with $c_i \ne 0$ and independent functions form an open set. For each of them $y \mapsto (\sum_\mu r_\mu,\, \sum_\mu r_\mu g(s_{i\mu}),\, J_i)_i$ is affine and onto, as its entries are inner products of one output's residuals with independent functions. The gradient consists of the first two kinds of entries and of $J_i^\top c_i$. Choose a neuron, here $J$ and $c$, and a rank $\rho < \min(q - 1, n_{k-1} + 1)$. Let the rows of $J'$ be those of $J$ in an orthonormal basis of $c^\perp$, smooth in $c$ locally. As $c_i \ne 0$, $y \mapsto (\nabla L, J')$ is onto, too, so $(\theta, y) \mapsto (\nabla L, J')$ is a submersion, and continuously differentiable. The matrices $J'$, $(q - 1) \times (n_{k-1} + 1)$, of rank $\rho$ form a manifold of codimension $(q - 1 - \rho)(n_{k-1} + 1 - \rho) \ge 1$. So the $(\theta, y)$ with $\nabla L = 0$ and $\operatorname{rank} J = \rho$ form a manifold of dimension at most $p + Tq - p - 1 < Tq$, and its projection to the targets is a null set. The last statements follow by {prf:ref}`thm-inertia` and {prf:ref}`cor-plateau`.
# :::
#
# The count is the same in the last hidden layer of a deeper network, with the layer below it for $z$: for almost all targets $\rho = \min(n_{k+1} - 1,\, n_{k-1} + 1)$ at every critical point of the smaller network where all $c_i \ne 0$ and where, with unit vectors $e_o$ of outputs and parameters $\psi_b$ of the layers below, the functions $e_o$, $e_o\, g(s_i)$, $e_o\, g'(s_i) z_a$ and $\sum_i c_i\, g'(s_i)\, w_i^\top \partial z / \partial \psi_b$ are linearly independent on the data (parameters on which no output depends are left out). The gradient then has one more kind of entry, the inner product of the residuals with the last functions, and $y \mapsto (\nabla L, J')$ is onto as before.
#
# "Almost all" cannot be left out, nor can independence. Where the entries of the targets sum to 1, as those of class probabilities do, $q = n_{k+1} - 1$: first-order saddles are possible with three classes, and with two $J = 0$. (One-hot labels and the outputs of teachers are null sets; for the former $\rho \le n_{k+1} - 2$ is sure.) If two neurons of the smaller network agree, $c_1^\top J = c_2^\top J = 0$, and $\rho \le n_{k+1} - 2$ unless $c_1$ and $c_2$ are parallel. Targets of teachers with noise, and their softmax:


# %% Ranks of J, and numbers of negative eigenvalues that the pair adds
def ranks_and_indices(n, m, seed, of_targets):
    """Singular values of J, and ρ + ν₋, for neurons at strict minima; n inputs."""
    small, big = MLP((n, 2, m), "tanh"), MLP((n, 6, m), "tanh")
    x = normal((inputs, n), seed, f"inputs {small.sizes}")
    noise = normal((inputs, m), seed, f"noise {small.sizes}")
    y = big.forward(big.initial(1, seed, scale=2.0)[0], x) + 0.1 * noise
    loss, first = (
        squared_loss(small, x, of_targets(y)),
        small.initial(starts, seed),
    )
    found = strict_minima(loss, first, newton_steps, 1e-11, ZERO)
    points = [
        p for t in found for p in double_neurons(small, t, x, of_targets(y))
    ]
    adds = [int(pair_inertia(p.J, p.D, ZERO)[0]) for p in points]
    return [torch.linalg.svdvals(p.J) for p in points], adds


KINDS = {
    "noisy targets": lambda y: y,
    "their softmax": lambda y: y.softmax(dim=1),
}
spectra, adds = {}, {}  # by kind, and numbers of inputs and outputs
for kind, n, m in product(KINDS, (1, 2), (3, 4)):
    if (n, m) != (1, 3):
        for at in range(seed, seed + teachers):
            found = ranks_and_indices(n, m, at, KINDS[kind])
            spectra.setdefault((kind, n, m), []).extend(found[0])
            adds.setdefault((kind, n, m), []).extend(found[1])


def with_rank(kind, less):
    """Whether ρ is min(n_{k+1} − less, n_{k−1} + 1), for each neuron of a kind."""
    return [
        int((s > ZERO).sum()) == min(m - less, n + 1)
        for (of, n, m), found in spectra.items()
        for s in found
        if of == kind
    ]


# %%
noisy, summed = KINDS
of_rank = {
    (kind, less): float(np.mean(with_rank(kind, less) or [1]))
    for kind in KINDS
    for less in (1, 2)
}
count = len(with_rank(noisy, 1))
claims.check("P3.generic", of_rank[noisy, 1], n=count, rival=of_rank[summed, 1])
count = len(with_rank(summed, 2))
claims.check("P3.sums", of_rank[summed, 2], n=count, rival=of_rank[summed, 1])

# %% Plot the singular values of J
figure, sides = figures.panels(2, height=3.2, sharey=True)
names = [f"{n} in, {m} out" for of, n, m in spectra if of == noisy]
for side, kind in zip(sides, KINDS, strict=True):
    rows = [found for (of, *_), found in spectra.items() if of == kind]
    for row, found in enumerate(rows):
        for s in found:
            places = row + 0.2 * (torch.arange(len(s)) - (len(s) - 1) / 2)
            side.plot(
                places, s.clamp(min=1e-18), ".", color="book:blue", alpha=0.5
            )
    side.axhline(ZERO, color="book:black", linestyle=":", linewidth=0.8)
    side.set(yscale="log", title=kind, ylim=(3e-19, 10))
    side.set_xticks(range(len(names)), names)
sides[0].set_ylabel("singular values of $J$")
figures.show("fig_ranks", figure)

# %% [markdown]
# :::{glue:figure} fig_ranks
# :alt: Singular values of J on a logarithmic axis, for one input and four outputs, two inputs and three outputs, two inputs and four outputs. For noisy targets two, two and three of them lie far above a dotted line and the others near rounding. For their softmax two, one and two.
#
# Singular values of $J$ for each neuron at a strict minimum; those below the dotted line are 0 but for rounding (profile {glue:text}`profile`).
# :::
#
# The fewest negative eigenvalues that a pair adds with two inputs and three outputs: {glue:text}`min(adds[noisy, 2, 3], default="none")` for noisy targets and {glue:text}`min(adds[summed, 2, 3], default="none")` for their softmax.
#
# ### When two neurons must meet, and when they need not
#
# :::{prf:corollary} Several outputs, or one weight
# :label: cor-round
# If $\rho \ge 2$ for a neuron, no permutation point over a strict minimum that repeats it is a first-order saddle. With one hidden layer and squared loss that is so for almost all targets from $n_{k+1} = 3$ on ({prf:ref}`thm-generic-rank`). If a neuron has one scalar weight and no bias, the index over a minimum is at most 1, and every path from $\theta$ to
# $\sigma \theta$ passes a point with $\vartheta_0 = \vartheta_1$: its largest loss is at least the infimum of the loss of networks with one neuron fewer.
# :::
#
# :::{prf:proof}
# $i \ge \rho$. (With cross-entropy $\mathbf 1^\top J = 0$ at the last layer, so that $\rho \le n_{k+1} - 2$ if $c$ is not parallel to $\mathbf 1$.) One weight: $\rho \le 1$, and $\rho = 1$ leaves no kernel for $\nu_-$; $\vartheta_0 - \vartheta_1 \in \mathbb R$ changes its sign on the path.
# :::
#
# On a line the points where two neurons meet separate the two orders. At index 0, where $J = 0$ and $D \succ 0$, the point is a minimum.

# %%
claims.check("P3.several_outputs", min(three, default=2), n=len(three))

# %% [markdown]
# ### With one output, a path may be left before it arrives
#
# Nothing says that descent from the half circle ends at a network that one has in mind. Where, with one output, the path of the paper leads from the network itself to the point, it can be left before it arrives:
#
# :::{prf:corollary} A network whose path arrives
# :label: cor-given
# Under the hypotheses of {prf:ref}`thm-ends`, with one output, let $D$ have the eigenvalues $\kappa_1 < \kappa_2 \le \dots$ with $\kappa_2 < 0$ and eigenvectors $e_1, e_2, \dots$, and let a curve $\gamma$ lead from a network $\theta$ to the permutation point $p$, at its end as the path of {prf:ref}`thm-ends`, 3. At distance $\delta$ on it let $m = \frac12 (\gamma + \sigma \gamma)$, let $e$ be the direction of $\vartheta_1 - \vartheta_0$ and $f$ that of the part of $e_2$ across $e$. The half circle
#
# $$
# m + \cos t \; (\gamma - m) + \sin t \; \tfrac\delta2 (-f, f), \qquad 0 \le t \le \pi,
# $$
#
# the last term in the slots of $\vartheta_0, \vartheta_1$, leads from $\gamma$ to $\sigma \gamma$, the two neurons always $\delta$ apart, and its largest loss is $L_1 + \frac18 \kappa_2 \delta^2 + O(\delta^4)$. So if $L < L_1$ on $\gamma$ before $p$, then $\theta$ and $\sigma \theta$ are joined by a path whose largest loss is smaller than $L_1$: $\gamma$ down to a small $\delta$, the half circle, and $\sigma \gamma$ back.
# :::
#
# :::{prf:proof}
# Near $p$ the curve is smooth in $\delta$, and the exchange is $\delta \to -\delta$ (proof of {prf:ref}`thm-ends`). So $m$ is even in $\delta$, $m = p + O(\delta^2)$, and $\gamma - m$ is odd, with $\eta = \delta e$, $e = e_1 + O(\delta^2)$ and $\beta = O(\delta)$; also $f = e_2 + O(\delta^2)$. $L$ is even in $(\eta, \beta)$, and $J = 0$. Hence on the half circle $L = L_1 + \frac18 \eta^\top D\, \eta + O(\delta^4)$ with
# $\eta = \delta (\cos t \; e + \sin t \; f)$, which is $L_1 + \frac18 \delta^2 (\kappa_1 \cos^2 t + \kappa_2 \sin^2 t) + O(\delta^4)$, largest near $t = \frac\pi2$.
# :::
#
# The teachers with one output from above, their output weights made positive ({prf:ref}`prop-signs`), and the branch of every pair, as in [the previous chapter](21_merging_neurons.ipynb). Where it ends at a point of index 2 or more it is left at several distances; minimising over all but $\vartheta_1 - \vartheta_0$ at every angle (`way_round` of this chapter's module) only lowers the half circle.

# %% Follow the branch of every pair, and leave it for a half circle
four, pairs = MLP((2, 4, 1), "tanh"), list(combinations(range(4), 2))
problems, given = [], []
for at in range(seed, seed + rounds):
    x = normal((inputs, 2), at, f"inputs {(2, 3, 1)}")
    theta = positive_outputs(four, four.initial(1, at, scale=2.0)[0])
    problems += [Shallow(four, x, four.forward(theta, x))] * len(pairs)
    given += [theta] * len(pairs)
joint = join_problems(problems)
branches = follow_pairs(joint, torch.stack(given), pairs * rounds, steps=250)

LEFT_AT = (0.25, 0.1, 0.03, 0.01, 0.003)  # δ/δ_0
kappas, tops = [], []  # of arrivals: eigenvalues of D; largest loss over L_1, − 1
for problem, b in zip(problems, branches, strict=True):
    if b.end == ENDS[0]:
        p = arrival(four, b.theta[-1], problem.x, problem.y, newton_steps)
        kappa, e = torch.linalg.eigh(p.D)
        kappas.append(kappa)
        L_1 = p.loss(p.theta)
        if kappa[1] < 0 and (b.loss[:-1] < L_1).all():
            heights = []
            for share in LEFT_AT:
                k = int((b.delta / b.delta[0] - share).abs().argmin())
                way = way_round(p.loss, four, b.theta[: k + 1], e[:, 1])
                heights.append((p.loss(way).max() / L_1 - 1).item())
            tops.append(min(heights))
print("largest loss over L₁, − 1:", *(f"{top:.1e}" for top in tops))

# %%
claims.check("P3.round_given", max(tops, default=-1.0), n=len(tops))

# %% Numbers for the text
figures.numbers(
    given_two=sum(bool(kappa[1] < 0) for kappa in kappas),
    given_below=sum(top < 0 for top in tops),
)

# %% [markdown]
# Of {glue:text}`len(branches)` pairs {glue:text}`len(kappas)` arrive at a permutation point, {glue:text}`given_two` of them at one of index 2 or more, and {glue:text}`given_below` of these are joined to the exchanged network below it; in the recorded run all [[n(P3.round_given)]] are. So the points at which the paper's own paths arrive need not be passes either ({claim}`P3.reached`).
#
# The half circle itself needs only a critical point and two negative eigenvalues of the block $K$, which has $\rho$ of them or more; the rest of the Hessian does not matter. On MNIST, images projected on their leading components, the doubled neuron adds two negative eigenvalues or more at every permutation point that was found, and so it does on whole images ({claim}`P8.projected_index`, [](52_permutation_saddles_on_mnist.ipynb)). So near these, too, two neurons can change places below the point without meeting; we did not look whether descent leads from there to the trained network.
#
# ### Neurons that occur more than twice
#
# A permutation point of order $K$ repeats neurons of a network with $K$ neurons fewer. P, section 4.3 says that it is critical, "possibly a saddle of order $K$ or less".
#
# :::{prf:corollary} Inertia at order $K$
# :label: cor-order
# Let neuron $m$ of layer $k$ of the smaller network occur $s_m$ times, with equal shares $c_m / s_m$, $\sum_m (s_m - 1) = K$. The inertia at the permutation point is $\operatorname{In} H'$ plus, for every $m$, $s_m - 1$ times the triple that
# {prf:ref}`thm-inertia` adds when neuron $m$ is doubled. Over a minimum, with one output, the number of negative eigenvalues lies between 0 and $K (n_{k-1} + 1)$.
# :::
#
# :::{prf:proof}
# Let the copies of neuron $m$ have $\vartheta_m + \eta_i$ and $\frac{c_m}{s_m} + \beta_i$ with $\sum_i \eta_i = 0$, $\sum_i \beta_i = 0$; their means are the coordinates of the smaller network. They contribute, up to second order,
#
# $$
# \begin{aligned}
# c_m g(s) &+ \frac{c_m}{2 s_m} g''(s) \sum_i (\eta_i \cdot z)^2 \\
# &+ g'(s) \sum_i \beta_i (\eta_i \cdot z) .
# \end{aligned}
# $$
#
# Nothing is of first order, so there are no mixed terms with the smaller network nor, since the neurons of a layer add, with the copies of another one. In an orthonormal basis of the vectors with sum 0 the form splits into $s_m - 1$ blocks
# $\bigl(\begin{smallmatrix} D_m / s_m & J_m^\top \\ J_m & 0 \end{smallmatrix}\bigr)$.
# :::
#
# With {prf:ref}`prop-any-number`, a neuron $K + 1$ times gives every multiple of $K$ from 0 to $K (n_{k-1} + 1)$, so saddles of order $K$ or less are possible. As a bound $K$ is too low in general. $K = 2$: the neuron with made residuals tripled, and,
# over the strict minima of the network with four inputs and one output from above, two neurons doubled or one of them tripled.

# %% Points of order two
made_two = []  # negative eigenvalues, the neuron with made residuals tripled
for small, theta, x, y in made_for:
    net, many = replicate(small, theta, 1, (3, 1))
    H = hessian(squared_loss(net, x, y), many)
    made_two.append(int(inertia(H, ZERO).negative))
print("made:", *made_two)

order_two, predicted_two = [], []  # negative and zero eigenvalues, K = 2
chosen = [m for m in minima if m[0] == MLP((4, 3, 1), "tanh")]
for small, theta, x, y in chosen:
    doubled = double_neurons(small, theta, x, y)
    blocks = np.array([pair_inertia(p.J, p.D, ZERO)[:2] for p in doubled])
    for copies in ((1, 2, 2), (2, 1, 2), (2, 2, 1), (3, 1, 1), (1, 1, 3)):
        net, many = replicate(small, theta, 1, copies)
        H = hessian(squared_loss(net, x, y), many)
        if separated(H, low=1e-13, high=1e-7):
            kind = inertia(H, ZERO)
            order_two.append((int(kind.negative), int(kind.zero)))
            predicted_two.append(tuple((np.array(copies) - 1) @ blocks))
negatives_two = [negative for negative, _ in order_two]
agree_two = [a == b for a, b in zip(order_two, predicted_two, strict=True)]

# %%
n = len(order_two)
low = sum(1 <= count <= 2 for count in made_two)
claims.check("P3.order", low, n=len(made_two))
claims.check("P3.above_order", max(negatives_two, default=2), n=n)
claims.check("P3.order_inertia", float(np.mean(agree_two or [1])), n=n)

# %% Numbers for the text
figures.numbers(
    order_points=n,
    order_counts=", ".join(
        f"{count} at {times} point{'s' * (times > 1)}"
        for count, times in sorted(Counter(negatives_two).items())
    )
    or "none",
)

# %% [markdown]
# {glue:text}`order_points` points over {glue:text}`len(chosen)` minima. Numbers of negative eigenvalues at $K = 2$: {glue:text}`order_counts`.
#
# ### ReLU hides the curvature
#
# For ReLU $g'' = 0$ at all samples that do not lie on a kink. {prf:ref}`thm-inertia` holds where none does, with $D = 0$, and for one output the whole block of the pair vanishes: $n_{k-1} + 2$ zero eigenvalues. Each neuron adds one for the
# scaling $(\vartheta, a) \to (t \vartheta, a/t)$, which leaves its function unchanged.

# %% Double a neuron of ReLU networks
small, big = MLP((2, 3, 1), "relu"), MLP((2, 6, 1), "relu")
relu = []  # zeros before; negative and zero eigenvalues after
for at in range(seed, seed + teachers):
    x = normal((inputs, 2), at, "inputs of the ReLU students")
    y = big.forward(big.initial(1, at)[0], x)
    loss = squared_loss(small, x, y)
    done = minimise(loss, small.initial(starts, at), newton_steps, 1e-10)
    alive = (small.hidden(done.theta, x, 1) > 0).any(dim=1).all(dim=1)  # (B,)
    before = inertia(hessian(loss, done.theta), ZERO)
    kept = done.converged & alive & (before.negative == 0)
    for theta, zeros_before in zip(
        done.theta[kept], before.zero[kept], strict=True
    ):
        net, doubled = embed(small, theta, layer=1, neuron=0)
        after = inertia(hessian(squared_loss(net, x, y), doubled), ZERO)
        relu.append((int(zeros_before), int(after.negative), int(after.zero)))

# %% Numbers for the text
figures.numbers(
    relu_kinds="; ".join(
        f"{before} zeros before, {zero} after, {negative} negative at {count}"
        for (before, negative, zero), count in sorted(Counter(relu).items())
    )
    or "none"
)

# %% [markdown]
# Two inputs, three neurons, one output, {glue:text}`len(relu)` minima that converged: {glue:text}`relu_kinds`. Three of those before belong to the scalings; the theorem adds 4. So with one output ReLU has none of this curvature at finite data, and its permutation points look flatter than those of smooth networks; with several outputs $J$ still adds $\rho$ negative eigenvalues.
#
# ### Exercises
#
# :::{exercise}
# How many negative, zero and positive eigenvalues does doubling a neuron add (a) with one output and $D = \operatorname{diag}(-2, 1, 3)$; (b) with two inputs, three outputs, $\operatorname{rank} J = 2$ and $D$ positive on the kernel of $J$?
# :::
#
# :::{solution}
# (a) $J = 0$: $(1, 1, 2)$. (b) $n_{k-1} + 1 = 3$, so the kernel of $J$ has dimension 1 and $(\nu_-, \nu_0, \nu_+) = (0, 0, 1)$: $(2 + 0,\; 3 - 2 + 0,\; 2 + 1) = (2, 1, 3)$. The sums are the numbers of new parameters, $3 + 1$ and $3 + 3$.
# :::
#
# :::{exercise}
# Let there be one output, $H' \succ 0$ and $D$ regular with $\nu_-$ negative eigenvalues. Which kind of point is the point of the plateau with $a_0 = (1 - \lambda) c$ and $a_1 = \lambda c$, for $0 < \lambda < 1$ and for $\lambda$ outside $[0, 1]$? Compare with {numref}`fig-saddle-or-minimum`.
# :::
#
# :::{solution}
# In the coordinates of the proof of {prf:ref}`cor-one-output` the Hessian is $H' \oplus \lambda (1 - \lambda) D \oplus 0$. Inside it has $\nu_-$ negative eigenvalues, outside $n_{k-1} + 1 - \nu_-$. So for $D \succ 0$ the plateau is a line of minima between two rays of saddles, for
# $D \prec 0$ a line of saddles between two rays of minima: the two pictures.
# :::
#
# ### Run it yourself
#
# :::{try}
# Ten times the teachers:
#
#     make chapter NAME=permutation_points ARGS="-p teachers 20"
#
# Look at {numref}`fig-directions`: with more points larger numbers of negative eigenvalues appear, but none beyond the lines.
# :::

# %% Versions and time
print(chapter.end())
