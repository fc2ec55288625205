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
# # Permutation points under the Hessian
#
# Take a minimum of a network and double one neuron: both copies have its parameter vector, and they share its output weights. Brea, Şimşek, Illing and Gerstner
# {cite:p}`brea2019` call this a permutation point and say that it is critical, that its Hessian has at most one negative and at least $n_{k+1}$ vanishing eigenvalues, and that it
# lies on an $n_{k+1}$-dimensional plateau of critical points. The first is true. This chapter derives the exact inertia of the Hessian, for any layer, activation and loss,
# and confirms it on many points: there can be several negative eigenvalues, and with several outputs fewer zeros and a smaller critical set.

# %% tags=["parameters"]
teachers: int = 4  # teachers for each architecture
starts: int = 6  # starts of the smaller network for each teacher
inputs: int = 200  # normal inputs
newton_steps: int = 300  # budget of the second-order method
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"]
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    teachers=Integer(1, 10_000),
    starts=Integer(1, 10_000),
    inputs=Integer(30, 1_000_000),
    newton_steps=Integer(10, 1_000_000),
)

# %% tags=["hide-input"]
from collections import Counter
from dataclasses import dataclass

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers.permutation_points.hessian import gradient, hessian, inertia
from lmc_helpers.permutation_points.mlp import MLP, squared_loss
from lmc_helpers.permutation_points.newton import minimise
from lmc_helpers.permutation_points.pair import (
    embed,
    equal_loss_exchange,
    pair_matrices,
)
from lmc_helpers.seeds import torch_generator

ZERO = 1e-9  # relative size below which an eigenvalue counts as 0

# %% [markdown]
# ## The block of the pair
#
# Let $\vartheta$, $c$ be the parameter vector and the outgoing column of the doubled neuron, $z$ the layer's input with a 1 appended, $s = \vartheta \cdot z$, and $r_\mu$ the derivative of the
# loss by the input of layer $k + 1$ on sample $\mu$. As in [the previous chapter](21_merging_neurons.ipynb),
#
# $$
# J = \sum_\mu r_\mu z_\mu^\top g'(s_\mu), \qquad D = \sum_\mu (r_\mu \cdot c)\, g''(s_\mu)\, z_\mu z_\mu^\top .
# $$
#
# ```{prf:theorem} Inertia at a permutation point
# :label: thm-inertia
# Let $H'$ be the Hessian of the smaller network at a critical point, $\rho = \operatorname{rank} J$, and $(\nu_-, \nu_0, \nu_+)$ the inertia of $D$ on the kernel of $J$. The Hessian at the permutation
# point has the inertia
#
# $$
# \operatorname{In} H' + \bigl( \rho + \nu_-,\; n_{k+1} - \rho + \nu_0,\; \rho + \nu_+ \bigr).
# $$
#
# Criticality gives $c^\top J = 0$, so $\rho \le n_{k+1} - 1$ if $c \ne 0$. For one output $J = 0$: the number of negative eigenvalues added is that of $D$, anything from 0 to $n_{k-1} + 1$.
# ```
#
# ```{prf:proof}
# Put $\vartheta_0 = \vartheta - \frac\eta2$, $\vartheta_1 = \vartheta + \frac\eta2$, $a_0 = \frac c2 - \beta$, $a_1 = \frac c2 + \beta$; this is a linear change of coordinates, in which $(\vartheta, c)$ and the
# other weights are those of the smaller network. The pair contributes
#
# $$
# c\, g(s) + \tfrac18\, c\, g''(s) (\eta \cdot z)^2 + \beta\, g'(s) (\eta \cdot z) + \text{third order}.
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
# ```
#
# ```{prf:corollary} What is critical on the plateau
# :label: cor-plateau
# The loss is constant for all $a_0 + a_1 = c$. The gradient there is $a_0^\top J$ in $\vartheta_0$, $a_1^\top J$ in $\vartheta_1$, and 0 elsewhere. So the critical points of the plateau are
# those with $a_0^\top J = 0$: a plane of dimension $n_{k+1} - \rho \ge 1$, and all of it only if $J = 0$.
# ```
#
# ```{prf:proof}
# $\nabla_{\vartheta_0} L = \sum_\mu (r_\mu \cdot a_0)\, g'(s_\mu) z_\mu$. The other derivatives are those of the smaller network, and $(c - a_0)^\top J = -a_0^\top J$.
# ```
#
# So for one output the plateau is a line of critical points, as Fukumizu and Amari {cite:p}`fukumizu2000` found; and the smaller network's minimum becomes a minimum or a saddle of any order up to $n_{k-1} + 1$.
# "At most one negative eigenvalue" holds for scalar input without bias and one output.
#
# ## Many permutation points
#
# Teachers with 6 neurons, students with 2 or 3, minimised to a gradient norm of $10^{-11}$; every neuron of every strict local minimum is doubled. Inputs of dimension 1, 2 and 4, outputs of dimension
# 1 and 3, two smooth activations, and both layers of a deeper network.

# %% tags=["hide-input"]


@dataclass(frozen=True)
class Point:
    """A permutation point with what the theorem needs."""

    net: MLP
    theta: torch.Tensor
    layer: int
    small: MLP
    small_theta: torch.Tensor
    neuron: int
    loss: object
    J: torch.Tensor
    D: torch.Tensor


def minima(small: MLP, number: int):
    """Strict local minima of the smaller network for one teacher, with inputs and targets."""
    big = MLP(
        (small.sizes[0], *(6 for _ in small.sizes[1:-1]), small.sizes[-1]),
        small.activation,
    )
    generator = torch_generator(seed + number, f"inputs {small.sizes}")
    x = torch.randn(
        inputs, small.sizes[0], dtype=torch.float64, generator=generator
    )
    y = big.forward(big.initial(1, seed + number, 2.0)[0], x)
    loss = squared_loss(small, x, y)
    done = minimise(
        loss, small.initial(starts, seed + number), newton_steps, 1e-11
    )
    kind = inertia(hessian(loss, done.theta), ZERO)
    strict = done.converged & (kind.negative == 0) & (kind.zero == 0)
    return done.theta[strict], x, y


def points_of(small: MLP) -> list[Point]:
    """All permutation points over the minima of all teachers."""
    found = []
    for number in range(teachers):
        thetas, x, y = minima(small, number)

        def of_output(f: torch.Tensor, y=y) -> torch.Tensor:
            return (f - y).square().sum() / (2 * len(y))

        for theta in thetas:
            for layer in range(1, small.depth):
                for neuron in range(small.sizes[layer]):
                    J, D = pair_matrices(
                        small, theta, layer, neuron, x, of_output
                    )
                    net, doubled = embed(small, theta, layer, neuron)
                    loss = squared_loss(net, x, y)
                    found.append(
                        Point(
                            net, doubled, layer, small, theta, neuron, loss, J, D
                        )
                    )
    return found


SHALLOW = [
    MLP((n, 2 if n < 4 else 3, m), g)
    for n in (1, 2, 4)
    for m in (1, 3)
    for g in ("tanh", "softplus")
]
DEEP = [MLP((2, 2, 2, 3), "tanh")]
points = {small: points_of(small) for small in SHALLOW + DEEP}
everything = [point for found in points.values() for point in found]
scalar = [p for p in everything if p.net.sizes[p.layer + 1] == 1]
vector = [p for p in everything if p.net.sizes[-1] == 3 and p.net.depth == 2]

# %% tags=["nbval-check-output"]
slopes = [gradient(p.loss, p.theta).norm().item() for p in everything]


def lopsided(p: Point) -> torch.Tensor:
    """The pair with three quarters of the first output weight, and half of the others, in one copy."""
    column = p.small.split(p.small_theta)[p.layer][0][:, p.neuron]
    share = torch.full_like(column, 0.5)
    share[0] = 0.75
    return embed(p.small, p.small_theta, p.layer, p.neuron, share * column)[1]


lopsided_slopes = [gradient(p.loss, lopsided(p)).norm().item() for p in vector]
claims.check(
    "P3.critical", max(slopes), rival=min(lopsided_slopes), n=len(slopes)
)

# %% tags=["hide-input"]


def rank_and_kernel(J: torch.Tensor) -> tuple[int, torch.Tensor]:
    """Rank of J and a basis of its kernel; singular values below 1e-9 of J's scale are 0."""
    _, s, V = torch.linalg.svd(J)
    rank = int((s > 1e-9).sum())
    return rank, V[rank:].T


def predicted(p: Point) -> tuple[int, int]:
    """Negative and zero eigenvalues by the theorem, at a strict minimum of the smaller network."""
    rank, kernel = rank_and_kernel(p.J)
    values = torch.linalg.eigvalsh(kernel.T @ p.D @ kernel)
    small = values.abs() <= ZERO * p.D.abs().max().clamp(min=1e-300)
    negative = int(((values < 0) & ~small).sum())
    return rank + negative, p.J.shape[0] - rank + int(small.sum())


def counted(p: Point) -> tuple[int, int]:
    """Negative and zero eigenvalues of the Hessian itself."""
    found = inertia(hessian(p.loss, p.theta), ZERO)
    return int(found.negative), int(found.zero)


def clear(p: Point) -> bool:
    """Whether no eigenvalue lies between 1e-11 and 1e-7 of the largest, where rounding and sloppiness meet."""
    sizes = torch.linalg.eigvalsh(hessian(p.loss, p.theta)).abs()
    return bool(
        ((sizes <= 1e-11 * sizes.max()) | (sizes >= 1e-7 * sizes.max())).all()
    )


found = len(everything)
everything = [p for p in everything if clear(p)]
scalar, vector = ([p for p in group if clear(p)] for group in (scalar, vector))
by_hessian = {id(p): counted(p) for p in everything}
agree = [by_hessian[id(p)] == predicted(p) for p in everything]

# %% tags=["nbval-check-output"]
claims.check("P3.inertia", float(np.mean(agree)), n=len(agree))

# %% tags=["nbval-check-output"]
negatives = [by_hessian[id(p)][0] for p in scalar]
claims.check("P3.at_most_one", float(max(negatives)), n=len(negatives))

# %% tags=["nbval-check-output"]
zeros = [by_hessian[id(p)][1] for p in vector]
claims.check("P3.zero", float(min(zeros)), n=len(zeros))

# %% tags=["hide-input"]
figure, axes = figures.panels(columns=2, height=3.9, squeeze=False)
left, right = axes[0]
labels = sorted(
    {(p.net.sizes[0], p.net.sizes[-1]) for p in everything if p.net.depth == 2}
)
most = max(count for count, _ in by_hessian.values())
palette = ("grey", "blue", "sky", "orange", "red", "purple", "black", "green")
bottom = np.zeros(len(labels))
for count in range(most + 1):
    shares = []
    for n, m in labels:
        here = [
            by_hessian[id(p)][0]
            for p in everything
            if p.net.depth == 2 and (p.net.sizes[0], p.net.sizes[-1]) == (n, m)
        ]
        shares.append(here.count(count) / max(1, len(here)))
    if not any(shares):
        continue
    left.bar(
        range(len(labels)),
        shares,
        bottom=bottom,
        color=figures.COLOURS[palette[count % len(palette)]],
        label=str(count),
    )
    bottom += shares
left.set_xticks(range(len(labels)), [f"{n} in\n{m} out" for n, m in labels])
left.set(ylabel="share of permutation points")
handles, names = left.get_legend_handles_labels()
figure.legend(
    handles,
    names,
    title="negative eigenvalues (left)",
    loc="outside lower left",
    ncols=len(names),
)
left.grid(False)
example = max(scalar, key=lambda p: by_hessian[id(p)][0])
spectra = {
    "smaller network": hessian(
        lambda t: example.loss(
            embed(example.small, t, example.layer, example.neuron)[1]
        ),
        example.small_theta,
    ),
    "permutation point": hessian(example.loss, example.theta),
}
for (name, H), colour, marker in zip(
    spectra.items(), ("blue", "red"), ("o", "x"), strict=True
):
    values = torch.linalg.eigvalsh(H)
    right.plot(
        range(len(values)),
        values,
        marker,
        color=figures.COLOURS[colour],
        label=name,
    )
right.axhline(0, color="book:black", linewidth=0.8)
right.set_yscale("symlog", linthresh=1e-6)
right.set(xlabel="index", ylabel="eigenvalue (linear below $10^{-6}$)")
right.legend()
figures.show("fig_spectra", figure)
figures.numbers(
    points=len(everything),
    unclear=found - len(everything),
    deep=sum(len(points[small]) for small in DEEP),
    agree="all" if all(agree) else sum(agree),
    most_scalar=max(negatives),
    none=sum(count == 0 for count in negatives),
    scalar=len(scalar),
    profile=profile,
    critical=f"{max(slopes):.0e}",
)

# %% [markdown]
# ```{glue:figure} fig_spectra
# :name: fig-spectra
# :alt: Left, stacked bars of the number of negative eigenvalues for six combinations of input and output dimension; more inputs and more outputs give more. Right, sorted Hessian eigenvalues of a small network, all positive, and of its permutation point with several negative ones.
#
# Left: number of negative Hessian eigenvalues at permutation points over strict minima, {glue:text}`points` points in all. Right: spectrum of one example, before and after a neuron is doubled
# (profile {glue:text}`profile`).
# ```
#
# The theorem gives the right numbers at {glue:text}`agree` of these points, which include up to {glue:text}`deep` in a deeper network; {glue:text}`unclear` others with an eigenvalue that
# could be 0 or not in double precision are left out. With one output up to {glue:text}`most_scalar` eigenvalues are negative. Number of the
# {glue:text}`scalar` points with one output that have none, and so may be minima of the larger network: {glue:text}`none`.
#
# ## ReLU hides the curvature
#
# For ReLU $g'' = 0$ at all samples that do not lie on a kink, so $D = 0$, and for one output the whole block of the pair vanishes: $n_{k-1} + 2$ zero eigenvalues. Each neuron adds one for the
# scaling $(\vartheta, a) \to (t \vartheta, a/t)$, which leaves its function unchanged.

# %% tags=["hide-input"]
relu = []
relu_small = MLP((2, 3, 1), "relu")
for number in range(teachers):
    generator = torch_generator(seed + number, "inputs of the ReLU students")
    x = torch.randn(inputs, 2, dtype=torch.float64, generator=generator)
    big = MLP((2, 6, 1), "relu")
    y = big.forward(big.initial(1, seed + number)[0], x)
    loss = squared_loss(relu_small, x, y)
    done = minimise(
        loss, relu_small.initial(starts, seed + number), newton_steps, 1e-10
    )
    kind = inertia(hessian(loss, done.theta), ZERO)
    alive = torch.stack(
        [(relu_small.hidden(t, x, 1) > 0).any(dim=0).all() for t in done.theta]
    )
    for theta in done.theta[done.converged & alive & (kind.negative == 0)]:
        before = int(inertia(hessian(loss, theta), ZERO).zero)
        net, doubled = embed(relu_small, theta, 1, 0)
        after = inertia(hessian(squared_loss(net, x, y), doubled), ZERO)
        relu.append((before, int(after.negative), int(after.zero)))
figures.numbers(
    relu=len(relu),
    relu_kinds="; ".join(
        f"{before} zeros before, {zero} after, {negative} negative ({count} points)"
        for (before, negative, zero), count in sorted(Counter(relu).items())
    )
    or "none",
)

# %% [markdown]
# Two inputs, three neurons, one output, {glue:text}`relu` minima that converged: {glue:text}`relu_kinds`. The theorem says three before (scalings) and $3 + 4$ after.
#
# ## The plateau

# %% tags=["nbval-check-output"]
rng = torch_generator(seed, "splits of the output weights")


def split(p: Point, first: torch.Tensor) -> torch.Tensor:
    """The point of the plateau with a given column in the first copy."""
    return embed(p.small, p.small_theta, p.layer, p.neuron, first)[1]


def change(p: Point, theta: torch.Tensor) -> float:
    """Relative change of the loss."""
    return ((p.loss(theta) - p.loss(p.theta)) / p.loss(p.theta)).abs().item()


changes, alone, slopes_plateau = [], [], {}
for p in everything:
    column = p.small.split(p.small_theta)[p.layer][0][:, p.neuron]
    first = torch.randn(len(column), dtype=torch.float64, generator=rng)
    moved = split(p, first)
    changes.append(change(p, moved))
    single = p.theta.clone()
    single[p.net.outgoing(p.layer, 0)[0]] += 1
    alone.append(change(p, single))
    slopes_plateau[id(p)] = gradient(p.loss, moved).norm().item()
claims.check("P4.plateau", max(changes), rival=min(alone), n=len(changes))

# %% tags=["nbval-check-output"]
on_plateau = [slopes_plateau[id(p)] for p in vector]
claims.check("P4.plateau_critical", min(on_plateau), n=len(on_plateau))

# %% tags=["hide-input"]
critical_set = []
for p in vector:
    U, s, _ = torch.linalg.svd(p.J)
    free = U[:, int((s > 1e-9).sum()) :]  # a with aᵀJ = 0
    column = p.small.split(p.small_theta)[p.layer][0][:, p.neuron]
    first = column / 2 + free @ torch.ones(free.shape[1], dtype=torch.float64)
    critical_set.append(gradient(p.loss, split(p, first)).norm().item())
figures.numbers(
    on_line=f"{max(critical_set):.0e}",
    off_line=f"{min(on_plateau):.0e}",
    scalar_plateau=f"{max(slopes_plateau[id(p)] for p in scalar):.0e}",
)

# %% [markdown]
# With three outputs the gradient at random points of the plateau is at least {glue:text}`off_line`; on the part that {prf:ref}`cor-plateau` names it is at most {glue:text}`on_line`. With one output it is at
# most {glue:text}`scalar_plateau` on the whole line.
#
# ## Exchanging any two neurons at equal loss
#
# From a permutation point of two neurons the six steps of section 4.2 (ii) exchange one of them with any other neuron of the layer
# ({py:func}`~lmc_helpers.permutation_points.pair.equal_loss_exchange`):

# %% tags=["nbval-check-output"]
on_path, straight, curves = [], [], []
for p in everything:
    other = p.net.sizes[p.layer] - 1
    path = equal_loss_exchange(p.net, p.theta, p.layer, other)
    t = torch.linspace(0, 1, 21, dtype=torch.float64)[:, None]
    line = path[0] + t * (path[-1] - path[0])
    level = p.loss(p.theta)
    curves.append((p.loss(path) / level, p.loss(line) / level))
    on_path.append((curves[-1][0] - 1).abs().max().item())
    straight.append((curves[-1][1] - 1).abs().max().item())
claims.check("P4.exchange", max(on_path), rival=min(straight), n=len(on_path))

# %% tags=["hide-input"]
figure, axes = figures.panels(columns=2, height=4, squeeze=False)
left, right = axes[0]
around = max(
    (p for p in scalar if by_hessian[id(p)][0] > 0),
    key=lambda p: -torch.linalg.eigvalsh(p.D)[0].item() / p.loss(p.theta).item(),
)
lowest = torch.linalg.eigh(around.D).eigenvectors[:, 0]
column = around.small.split(around.small_theta)[around.layer][0][:, around.neuron]
differences, splits = np.linspace(-0.6, 0.6, 81), np.linspace(-0.3, 1.3, 81)
surface = []
for share in splits:
    base = split(around, share * column)
    batch = base.repeat(len(differences), 1)
    eta = torch.from_numpy(differences)[:, None] * lowest
    batch[:, around.net.incoming(around.layer, 0)] -= (1 - share) * eta
    batch[:, around.net.incoming(around.layer, 1)] += share * eta
    surface.append(around.loss(batch).numpy())
surface = np.array(surface) / around.loss(around.theta).item()
depth = 1 - surface.min()
levels = np.linspace(1 - depth, 1 + depth, 21)
filled = left.contourf(
    differences, splits, surface, levels=levels, cmap="RdBu_r", extend="max"
)
left.axvline(0, color="book:black", linewidth=0.8)
for share in (0, 1):
    left.axhline(share, color="book:black", linestyle=":", linewidth=0.8)
left.plot(0, 0.5, "*", color="book:black", markersize=14)
left.set(
    xlabel=r"difference of the parameter vectors along $e$",
    ylabel="share of the output weight",
)
left.grid(False)
figure.colorbar(
    filled, ax=left, label="loss / its value at the star", format="%.3f"
)
for k, colour in ((0, "blue"), (len(curves) // 2, "orange"), (-1, "green")):
    path, line = curves[k]
    right.plot(
        np.linspace(0, 6, len(path)),
        path,
        color=figures.COLOURS[colour],
        linewidth=2.5,
    )
    right.plot(
        np.linspace(0, 6, len(line)), line, "--", color=figures.COLOURS[colour]
    )
right.set(yscale="log", xlabel="step of the exchange", ylabel="loss / its start")
right.plot([], [], color="book:black", linewidth=2.5, label="six steps")
right.plot([], [], "--", color="book:black", label="straight line")
right.legend()
figures.show("fig_around", figure)

# %% [markdown]
# ```{glue:figure} fig_around
# :name: fig-around
# :alt: Left, loss around a permutation point as colour, against the difference of the two parameter vectors and the share of the output weight; a vertical line of constant loss at difference zero, lower loss to both sides of its middle and higher loss to both sides of its ends. Right, loss along the six-step exchange, constant, and along the straight line, up to many times higher.
#
# Left: the loss around a merge, the paper's Fig. 5A; the line at difference 0 is the plateau, the star the permutation point. Right: loss
# on the six-step exchange and on the straight line between its ends, three examples (profile {glue:text}`profile`).
# ```
#
# The left picture shows {prf:ref}`thm-inertia` at work: to second order the loss is $\frac12 \lambda (1 - \lambda)\, e^\top D e\, \delta^2$ with the share $\lambda$, so a direction that goes down between
# the two copies goes up outside.
#
# ## What we found that the paper does not say
#
# - The number of negative eigenvalues is $\rho + \nu_-$ ({prf:ref}`thm-inertia`): up to $n_{k-1} + 1$ with one output. A permutation point can also be a minimum.
# - With several outputs most of the $n_{k+1}$ flat directions are flat to first order only: they belong to hyperbolic pairs. What stays critical is a plane of dimension $n_{k+1} - \rho$
#   ({prf:ref}`cor-plateau`).
# - ReLU has none of this curvature at finite data; its permutation points look flatter than those of smooth networks.
#
# ```{admonition} Try it
# :class: tip
# More teachers:
#
#     make chapter NAME=permutation_points ARGS="-p teachers 20"
# ```

# %% tags=["hide-input"]
print(chapter.end())
