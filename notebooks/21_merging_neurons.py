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
# # Merging two neurons
#
# Between a network and its copy with two neurons exchanged there is a path on which the two approach each other, become one, and part
# again. Brea, Şimşek, Illing and Gerstner {cite:p}`brea2019` follow it by decreasing the distance of the two parameter vectors and minimising
# the loss over everything else, and say that it ends in a *permutation point*. This chapter follows it twice: with a budget of gradient
# descent at every step, as they do, and with a minimiser that converges. The two end in different places, and a theorem says when.

# %% tags=["parameters"]
teachers: int = 2  # toy networks
distances: int = 25  # log-spaced, down to 1/10000; 200 in the paper
inputs: int = 500  # normal inputs; 1000 in the paper
steps: int = 300  # budget of gradient descent at every distance
newton_steps: int = 60  # budget of the second-order method at every distance
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"]
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    teachers=Integer(1, 1000),
    distances=Integer(6, 10_000),
    inputs=Integer(30, 1_000_000),
    steps=Integer(1, 10_000_000),
    newton_steps=Integer(1, 1_000_000),
)

# %% tags=["hide-input"]
import itertools

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers.permutation_points.hessian import gradient, hessian, inertia
from lmc_helpers.permutation_points.merging import (
    MergePath,
    descent,
    merge_neurons,
    newton,
)
from lmc_helpers.permutation_points.mlp import MLP, squared_loss
from lmc_helpers.permutation_points.newton import minimise
from lmc_helpers.permutation_points.pair import Pair, reduce_pair
from lmc_helpers.seeds import torch_generator

PAIRS = list(itertools.combinations(range(5), 2))
factors = torch.logspace(0, -4, distances, dtype=torch.float64)

# %% [markdown]
# ## Where can a path end?
#
# Let $\vartheta_0 = \vartheta - \frac\delta2 e$ and $\vartheta_1 = \vartheta + \frac\delta2 e$ with $\|e\| = 1$, and let $a_0$, $a_1$ be the outgoing columns. With
# $c = a_0 + a_1$ and $A = \frac\delta2 (a_1 - a_0)$ the two neurons contribute
#
# $$
# c\, \tfrac12 \bigl[ g(s_-) + g(s_+) \bigr] + A\, \tfrac1\delta \bigl[ g(s_+) - g(s_-) \bigr] \;\xrightarrow{\delta \to 0}\; c\, g(s) + A\, (e \cdot z)\, g'(s)
# $$
#
# to the next layer, where $z$ is the input of the layer with a 1 appended, $s = \vartheta \cdot z$ and $s_\pm = s \pm \frac\delta2 e \cdot z$. The limit is a network with
# one neuron less *and a derivative neuron* $(e \cdot z)\, g'(s)$ at the same place. It is a permutation point only if $A = 0$. If not, the output weights $a_{0,1} =
# \frac c2 \mp \frac A\delta$ diverge like $1/\delta$.
#
# Take a strict local minimum of the smaller network with positive definite Hessian, and one of its neurons, with $c \ne 0$. With the derivative $r_\mu$ of the loss
# by the input of the next layer on sample $\mu$, let
#
# $$
# J = \sum_\mu r_\mu z_\mu^\top g'(s_\mu), \qquad D = \sum_\mu (r_\mu \cdot c)\, g''(s_\mu)\, z_\mu z_\mu^\top .
# $$
#
# ```{prf:theorem} Which permutation points end a path
# :label: thm-ends
# Let $g$ be smooth, and consider local minima of the loss at fixed $\delta \to 0$ that come close to the smaller network's minimum with bounded output weights.
#
# 1. If $J \ne 0$ (this needs several outputs) there are none: no path of constrained minima ends at these permutation points.
# 2. For one output, where $J = 0$, there are none either if $D$ is positive definite.
# 3. For one output, if the smallest eigenvalue of $D$ is negative and simple, a path of constrained minima ends at the permutation point, with $a_0 = a_1 = \frac c2$
#    and $e$ the lowest eigenvector of $D$.
# ```
#
# ```{prf:proof}
# Criticality of the smaller network in $\vartheta$ says $c^\top J = 0$, so $J = 0$ for one output.
#
# *1.* Bounded columns mean $A \to 0$. A step in $A$, and a step $\varepsilon$ in $e$, change the loss by $A^\top J e + A^\top J \varepsilon + O(\|A\|^2) + O(\delta^2)$. A local
# minimum needs $J e \to 0$; and the bilinear term with $A = -t J \varepsilon$ gives $-t \|J \varepsilon\|^2 + O(t^2) + O(\delta^2)$, which is negative for small $t$ and
# much smaller $\delta$ unless $J \varepsilon = 0$ for all $\varepsilon \perp e$. Both together say $J = 0$.
#
# *2, 3.* Write $a_0 = (1 - \lambda) c$, $a_1 = \lambda c$, $\vartheta_0 = \vartheta - \lambda \delta e$, $\vartheta_1 = \vartheta + (1 - \lambda) \delta e$. The first-order
# effect of $\delta$ on the function cancels, and the second-order one is $\frac12 \lambda (1 - \lambda)\, \delta^2 c\, g''(s) (e \cdot z)^2$. The loss is
#
# $$
# L_1 + \tfrac12 \lambda (1 - \lambda)\, \delta^2\, e^\top D\, e + O(\delta^3)
# $$
#
# after minimisation over the other parameters, whose Hessian is positive definite and which the pair moves by $O(\delta^2)$ only. Stationarity in $\lambda$ and $e$ means
# $\lambda = \frac12$ and $e$ an eigenvector, with eigenvalue $\kappa$, or $e^\top D e = 0$. The second derivative in $\lambda$ is $-\delta^2 \kappa$, so a minimum needs $\kappa < 0$, and in
# $e$ it needs the lowest eigenvalue. (Where $e^\top D e = 0$ the mixed second derivative in $\lambda$ and $e$ makes a saddle, or $D e = 0$.) If it is simple, the minimum is
# non-degenerate and persists for small $\delta$ by the implicit function theorem.
# ```
#
# For one output the number of negative eigenvalues of $D$ is also the number of negative Hessian eigenvalues at the permutation point
# ([](22_permutation_points.ipynb)). So exact paths end at permutation points that are saddles; those that are local minima repel them, and the output weights run away.
#
# ## The toy of Fig. 1
#
# Two normal inputs, five neurons, one output; student and teacher start equal. {glue:text}`distances` distances, all ten pairs side by side. The teacher has weights of
# scale 2.5 for tanh, so that its neurons differ.

# %% tags=["hide-input"]
TANH, RELU = MLP((2, 5, 1), "tanh"), MLP((2, 5, 1), "relu")


def toy(net: MLP, number: int, scale: float):
    """Loss and parameters of one teacher."""
    theta = net.initial(1, seed + number, scale)[0]
    generator = torch_generator(seed + number, "inputs of the toy")
    x = torch.randn(inputs, 2, dtype=torch.float64, generator=generator)
    return squared_loss(net, x, net.forward(theta, x)), theta, x


toys = [toy(TANH, k, 2.5) for k in range(teachers)]
by_descent = [
    merge_neurons(
        loss, Pair(TANH, 1, "paper"), theta, PAIRS, factors, descent(steps, 0.05)
    )
    for loss, theta, _ in toys
]
exact = [
    merge_neurons(
        loss, Pair(TANH, 1), theta, PAIRS, factors, newton(newton_steps, 1e-10)
    )
    for loss, theta, _ in toys
]

# %% tags=["hide-input"]
figure, axes = figures.panels(columns=2, rows=2, height=3.7, squeeze=False)
palette = [
    figures.COLOURS[c] for c in ("blue", "orange", "green", "red", "purple")
]
for row, (path, name) in enumerate(
    ((by_descent[0], "gradient descent, budget"), (exact[0], "second order"))
):
    shown = path.converged | (row == 0)  # gradient descent never converges here
    for k, (first, second) in enumerate(PAIRS):
        ok = shown[:, k].clone()
        ok[0] = False  # the start has loss 0
        style = dict(color=palette[k % 5], linestyle="-" if k < 5 else "--")
        label = f"{first + 1} & {second + 1}"
        size = path.outgoing[:, k].amax(dim=1)
        axes[row, 0].plot(factors[ok], path.loss[ok, k], label=label, **style)
        axes[row, 1].plot(factors[ok], size[ok], **style)
    axes[row, 0].set(yscale="log", ylabel=f"loss\n({name})", ylim=(1e-5, 0.05))
    axes[row, 1].set(yscale="log", ylabel="larger output weight", ylim=(0.3, 5e4))
    for axis in axes[row]:
        axis.set(xscale="log", xlim=(1.2, 0.8e-4))
axes[1, 1].plot(
    factors,
    3 / factors,
    color="book:grey",
    linestyle=":",
    label=r"$\propto 1/\delta$",
)
axes[1, 1].legend()
for axis in axes[1]:
    axis.set_xlabel(r"distance $\delta/\delta_0$")
handles, labels = axes[0, 0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=10, fontsize=9)
figures.show("fig_merge", figure)

# %% [markdown]
# ```{glue:figure} fig_merge
# :name: fig-merge
# :alt: Loss and larger output weight against the distance of the merged pair for all ten pairs. With a budget of gradient descent losses level off at a few common values and the output weights stay bounded; with the second-order method many losses end lower and the output weights grow in inverse proportion to the distance.
#
# Merging each of the ten pairs of a tanh toy; time runs to the right. Top: {glue:text}`steps` steps of gradient descent at each distance. Bottom: minimised by a second-order
# method, distances at which it converged (profile {glue:text}`profile`).
# ```


# %% tags=["hide-input"]
def bounded(path: MergePath) -> torch.Tensor:
    """Whether the output weights stay within 100 times their start, (10,)."""
    size = path.outgoing.amax(dim=2)  # (K, 10)
    return size.amax(dim=0) <= 100 * size[0]


ended = [path.gradient_norm[-1] <= 1e-8 for path in exact]
stays = torch.cat([bounded(p)[e] for p, e in zip(exact, ended, strict=True)])
budget_stays = torch.cat([bounded(path) for path in by_descent])
figures.numbers(
    teachers=teachers,
    distances=distances,
    steps=steps,
    profile=profile,
    ended=len(stays),
    of=10 * teachers,
    stays=int(stays.sum()),
)

# %% tags=["nbval-check-output"]
claims.check(
    "P2.budget", budget_stays.double().mean().item(), n=len(budget_stays)
)

# %% tags=["nbval-check-output"]
share = stays.double().mean().item() if len(stays) else 1.0
claims.check("P2.reaches", share, n=len(stays))

# %% [markdown]
# {glue:text}`ended` of {glue:text}`of` exact paths have converged at the smallest distance; {glue:text}`stays` of these have bounded output weights, as the theorem allows. The others have found
# a derivative neuron. A budget hides it: the gradient in $a_1 - a_0$ is proportional to $\delta$, so gradient descent moves along it ever more slowly.
#
# ## What the paths look like
#
# The gradient of the loss at a constrained minimum is normal to the surface $\|\vartheta_1 - \vartheta_0\| = \delta$:
#
# ```{prf:proposition} Gradient on the path
# :label: prop-normal
# On a path of constrained minima the gradient is $\frac{dL}{d\delta}$ times $(-e, e)$ in the slots of $\vartheta_0$, $\vartheta_1$, and 0 elsewhere. It is parallel to the
# tangent only where all other parameters rest and the two move by opposite amounts. The Hessian has at most $1 + n_{k-1}$ negative eigenvalues, and at most one where
# $\frac{dL}{d\delta} \ge 0$.
# ```
#
# ```{prf:proof}
# With $d = \|\vartheta_1 - \vartheta_0\|$, stationarity means $\nabla L = \mu \nabla d$, and $\nabla d = (-e, e)$. Along the path $d$ is the parameter $\delta$, so
# $\frac{dL}{d\delta} = \nabla L \cdot \dot\gamma = \mu\, \nabla d \cdot \dot\gamma = \mu$. The second-order condition is $\nabla^2 L - \mu \nabla^2 d \succeq 0$ on the tangent space, of
# codimension 1. $\nabla^2 d \succeq 0$ has rank $n_{k-1}$, the dimension of the sphere of $e$. So $\nabla^2 L \succeq 0$ on the tangent space if $\mu \ge 0$, else on a subspace of
# codimension at most $n_{k-1}$ in it.
# ```


# %% tags=["nbval-check-output"]
def cosines(path: MergePath, loss) -> torch.Tensor:
    """|cos| between gradient and tangent halfway, for the steps that converged."""
    k = distances // 2
    ok = path.converged[k - 1 : k + 2].all(dim=0)
    slope = gradient(loss, path.theta[k][ok])
    tangent = (path.theta[k + 1] - path.theta[k - 1])[ok]
    return torch.nn.functional.cosine_similarity(slope, tangent, dim=-1).abs()


angles = torch.cat([cosines(p, toys[k][0]) for k, p in enumerate(exact)])
claims.check(
    "P2.tangent", angles.median().item() if len(angles) else 1.0, n=len(angles)
)


# %% tags=["nbval-check-output"]
def negatives(path: MergePath, loss) -> torch.Tensor:
    """Negative Hessian eigenvalues at every converged step after the first."""
    return inertia(
        hessian(loss, path.theta[1:][path.converged[1:]]), 1e-9
    ).negative


counts = torch.cat([negatives(p, toys[k][0]) for k, p in enumerate(exact)])
claims.check(
    "P2.negative", float(counts.max()) if len(counts) else 0.0, n=len(counts)
)

# %% [markdown]
# Exchanging the two neurons, parameter vectors and output weights, leaves the loss as it is, so that the second half of the path is the mirror image of the first:

# %% tags=["nbval-check-output"]
changes, halves = [], []
for path, (loss, _, _) in zip(exact, toys, strict=True):
    theta = path.theta[1:]
    swapped = TANH.swap(theta, 1, 0, 1)
    half = theta.clone()
    for here, there in ((0, 1), (1, 0)):
        half[..., TANH.incoming(1, here)] = theta[..., TANH.incoming(1, there)]
    changes.append(((loss(swapped) - loss(theta)) / loss(theta)).abs().max())
    halves.append(((loss(half) - loss(theta)) / loss(theta)).abs().median())
claims.check(
    "P2.swap",
    max(changes).item(),
    rival=torch.stack(halves).median().item(),
    n=10 * teachers,
)


# %% [markdown]
# Fig. 4 of the paper sketches three kinds of path: the loss rises up to the end; it has a maximum and a minimum before it rises to the end; it falls into the end. On the exact paths, where at
# least nine distances in ten converged:


# %% tags=["hide-input"]
def kind(losses: torch.Tensor) -> str:
    """Kind of one path, by the signs of the changes that exceed 1e-5 of the largest loss."""
    change = np.diff(losses.numpy())
    signs = np.sign(change[np.abs(change) > 1e-5 * losses.max().item()])
    if not len(signs) or (signs > 0).all():
        return "monotone"
    return "minimum at the end" if signs[-1] < 0 else "intermediate maximum"


drawn = [
    (path.loss[path.converged[:, k], k], factors[path.converged[:, k]])
    for path, ok in zip(exact, ended, strict=True)
    for k in range(10)
    if ok[k] and path.converged[:, k].double().mean() >= 0.9
]
kinds = [kind(losses) for losses, _ in drawn]
NAMES = ("monotone", "intermediate maximum", "minimum at the end")
figure, axes = figures.panels(columns=3, height=3.2, squeeze=False)
for axis, name in zip(axes[0], NAMES, strict=True):
    axis.set(
        title=name, xscale="log", xlim=(1.2, 0.8e-4), xlabel=r"$\delta/\delta_0$"
    )
    if name in kinds:
        losses, at = drawn[kinds.index(name)]
        axis.plot(at, losses, "o-", markersize=3, color="book:blue")
    else:
        axis.text(
            0.5, 0.5, "none in this run", transform=axis.transAxes, ha="center"
        )
axes[0, 0].set_ylabel("loss")
figures.show("fig_kinds", figure)
figures.numbers(
    **{"kind_" + name.split()[0]: kinds.count(name) for name in NAMES}
)

# %% [markdown]
# ```{glue:figure} fig_kinds
# :name: fig-kinds
# :alt: Three panels with the loss against the distance for one exact path of each kind.
#
# One exact path of each kind, the paper's Fig. 4 (profile {glue:text}`profile`).
# ```

# %% tags=["nbval-check-output"]
claims.check("P2.kinds", float(len(set(kinds))), n=len(kinds))

# %% [markdown]
# Monotone: {glue:text}`kind_monotone`; with an intermediate maximum: {glue:text}`kind_intermediate`; with a minimum at the end: {glue:text}`kind_minimum`.
#
# ## Which pairs end at the same loss
#
# With ReLU, as in the paper. Where gradient descent has stopped, the pair is replaced by one neuron and the smaller network minimised to the end. Its loss is that of the permutation point.

# %% tags=["hide-input"]
relu_toys = [toy(RELU, 100 + k, 1.0) for k in range(max(4, teachers))]
relu_paths = [
    merge_neurons(
        loss, Pair(RELU, 1, "paper"), theta, PAIRS, factors, descent(steps, 0.05)
    )
    for loss, theta, _ in relu_toys
]


def merged_losses(path: MergePath, theta: torch.Tensor, x: torch.Tensor):
    """Losses of the merged networks after minimisation, (10,), and their parameters."""
    small, start = reduce_pair(RELU, path.theta[-1], 1)
    loss = squared_loss(small, x, RELU.forward(theta, x))
    done = minimise(loss, start, 10 * newton_steps, 1e-9, radius=0.1)
    return done.loss, small, done.theta


def clusters(losses: torch.Tensor) -> int:
    """Number of different values, relative difference 1e-6."""
    x = np.sort(losses.numpy())
    return 1 + int((np.diff(x) > 1e-6 * x[1:]).sum())


merged = [
    merged_losses(path, theta, x)
    for path, (_, theta, x) in zip(relu_paths, relu_toys, strict=True)
]
different = [clusters(losses) for losses, *_ in merged]

# %% tags=["nbval-check-output"]
coincide = np.mean([1 < count < 10 for count in different])
claims.check("P1.same_loss", float(coincide), n=len(different))

# %% tags=["hide-input"]
losses, small, ends = merged[0]
_, theta, _ = relu_toys[0]
order = losses.argsort()
shown = (order[0], order[1], order[-1])
figure, axes = figures.panels(columns=3, rows=2, height=3.4, squeeze=False)


def directions(net: MLP, theta: torch.Tensor) -> np.ndarray:
    """W/b of every neuron, (n, 2)."""
    (W, b), _ = net.split(theta)
    return (W / b[:, None]).numpy()


for column, k in enumerate(shown):
    axis = axes[0, column]
    for points, colour, name in (
        (directions(RELU, theta), "blue", "teacher"),
        (directions(small, ends[k]), "red", "merged"),
    ):
        inside = np.clip(points, -4, 4)
        axis.plot(*inside.T, "o", color=figures.COLOURS[colour], label=name)
        for x, y in inside:
            axis.plot(
                [0, x], [0, y], color=figures.COLOURS[colour], linewidth=0.8
            )
    first, second = PAIRS[k]
    axis.set(
        title=f"{first + 1} & {second + 1}",
        xlabel="$W_{i1}/b_i$",
        xlim=(-4.3, 4.3),
        ylim=(-4.3, 4.3),
    )
    axis = axes[1, column]
    axis.plot(factors, relu_paths[0].loss[:, k], color="book:black")
    axis.axhline(
        losses[k].item(),
        color="book:red",
        linestyle="--",
        linewidth=1,
    )
    axis.set(xscale="log", xlabel=r"distance $\delta/\delta_0$", ylim=(0, None))
    axis.invert_xaxis()
axes[0, 0].set_ylabel("$W_{i2}/b_i$")
axes[1, 0].set_ylabel("loss")
axes[0, 0].legend(fontsize=9)
figures.show("fig_toy", figure)
figures.numbers(different=", ".join(map(str, different)))

# %% [markdown]
# ```{glue:figure} fig_toy
# :name: fig-toy
# :alt: Three pairs of a ReLU toy. Top, the weight vectors divided by their biases, of the teacher and of the merged network. Bottom, the loss against the distance, with the loss of the minimised merged network as a dashed line.
#
# The paper's Fig. 1 for the two pairs with the lowest loss and the one with the highest. Top: weight vectors over biases (cut at ±4). Bottom: loss on the path; dashed, the permutation
# point (profile {glue:text}`profile`).
# ```
#
# The ten pairs of the teachers end at {glue:text}`different` different losses.
#
# ## What we found that the paper does not say
#
# - The limit of exact constrained minimisation is a network with one neuron less and a derivative neuron. It is a permutation point only in the third case of {prf:ref}`thm-ends`.
# - With a budget of gradient descent the paths end near permutation points, as in the paper; minimised further, they need not.
# - The gradient is normal to the surfaces of constant distance ({prf:ref}`prop-normal`), not parallel to the path.
#
# ```{admonition} Try it
# :class: tip
# More distances:
#
#     make chapter NAME=merging_neurons ARGS="-p distances 100 -p teachers 1"
# ```

# %% tags=["hide-input"]
print(chapter.end())
