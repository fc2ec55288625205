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

# %% tags=["parameters", "hide-input"] mystnb={"code_prompt_show": "Parameters"}
teachers: int = 2  # toy networks
distances: int = 25  # log-spaced, down to 1/10000; 200 in the paper
inputs: int = 500  # normal inputs; 1000 in the paper
steps: int = 300  # budget of gradient descent at every distance
newton_steps: int = 60  # budget of the second-order method at every distance
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Check the parameters"}
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

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports"}
from itertools import combinations

import numpy as np
import torch
from torch.nn.functional import cosine_similarity

from lmc_helpers import claims, figures
from lmc_helpers.permutation_points.hessian import gradient, hessian, inertia
from lmc_helpers.permutation_points.merging import (
    KINDS,
    count_different,
    descent_minimiser,
    merge_neurons,
    newton_minimiser,
    path_kind,
)
from lmc_helpers.permutation_points.mlp import MLP, squared_loss
from lmc_helpers.permutation_points.newton import minimise
from lmc_helpers.permutation_points.pair import PairChart, reduce_pair
from lmc_helpers.seeds import normal

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

# %%
x = normal((200, 2), seed, "inputs of one pair")
z = torch.cat([x, torch.ones(200, 1)], dim=1)  # (T, n_{k-1} + 1)
s = z @ torch.tensor([1.5, -0.8, 0.3]).double()  # ϑ·z, (T,)
ez = z @ torch.tensor([0.6, 0.8, 0.0]).double()  # e·z
c, A = 1.0, 0.5
limit = c * s.tanh() + A * ez * (1 - s.tanh() ** 2)  # c g(s) + A (e·z) g'(s)
for delta in (1, 0.1, 0.01):
    minus, plus = (s - delta * ez / 2).tanh(), (s + delta * ez / 2).tanh()
    pair = c * (minus + plus) / 2 + A * (plus - minus) / delta  # (T,)
    off, a = (pair - limit).abs().max(), (c / 2 - A / delta, c / 2 + A / delta)
    print(f"δ = {delta}: {off:.0e} from the limit, output weights {a}")

# %% [markdown]
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

# %%
TANH, RELU = MLP((2, 5, 1), "tanh"), MLP((2, 5, 1), "relu")
PAIRS = list(combinations(range(5), 2))
delta = torch.logspace(0, -4, distances, dtype=torch.float64)  # δ/δ_0, (K,)


def toy(net: MLP, number: int, scale: float):
    """Loss, parameters and inputs of one teacher, which is the student's start."""
    theta = net.initial(1, seed + number, scale)[0]
    x = normal((inputs, 2), seed + number, "inputs of the toy")
    return squared_loss(net, x, net.forward(theta, x)), theta, x


# %%
# section 4.1: at every δ minimise L over all θ with ‖ϑ_1 − ϑ_0‖ = δ
paper, centred = PairChart(TANH, 1, "paper"), PairChart(TANH, 1, "centred")
budget = descent_minimiser(steps, rate=0.05)
second_order = newton_minimiser(newton_steps, tol=1e-10)
toys = [toy(TANH, k, 2.5) for k in range(teachers)]
by_descent = [
    merge_neurons(loss, paper, theta, PAIRS, delta, budget)
    for loss, theta, _ in toys
]
exact = [
    merge_neurons(loss, centred, theta, PAIRS, delta, second_order)
    for loss, theta, _ in toys
]

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot the ten paths of a toy"}
figure, axes = figures.panels(2, 2, height=3.7, sharex=True)
names = ("gradient descent, budget", "second order")
for row, path in enumerate((by_descent[0], exact[0])):
    for k, (first, second) in enumerate(PAIRS):
        ok = path.converged[:, k] | (row == 0)  # descent never converges here
        ok[0] = False  # the start has loss 0
        label = f"{first + 1} & {second + 1}" if row == 0 else None
        style = dict(color=f"C{k % 5}", linestyle="-" if k < 5 else "--")
        size = path.outgoing[:, k].amax(dim=1)
        axes[row, 0].plot(delta[ok], path.loss[ok, k], label=label, **style)
        axes[row, 1].plot(delta[ok], size[ok], **style)
    axes[row, 0].set(ylabel=f"loss\n({names[row]})", ylim=(1e-5, 0.05))
    axes[row, 1].set(ylabel="larger output weight", ylim=(0.3, 5e4))
label = r"$\propto 1/\delta$"
axes[1, 1].plot(delta, 3 / delta, ":", color="book:grey", label=label)
for axis in axes.flat:
    axis.set(xscale="log", yscale="log", xlim=(1.2, 0.8e-4))
for axis in axes[1]:
    axis.set_xlabel(r"distance $\delta/\delta_0$")
figures.legend(figure, columns=6)
figures.show("fig_merge", figure)

# %% [markdown]
# ```{glue:figure} fig_merge
# :name: fig-merge
# :alt: Loss and larger output weight against the distance of the merged pair for all ten pairs. With a budget of gradient descent losses level off at a few common values and the output weights stay bounded; with the second-order method many losses end lower and the output weights grow in inverse proportion to the distance.
#
# Merging each of the ten pairs of a tanh toy; time runs to the right. Top: {glue:text}`steps` steps of gradient descent at each distance. Bottom: minimised by a second-order
# method, distances at which it converged (profile {glue:text}`profile`).
# ```


# %%
# which larger output weights stay within 100 times their start?
ended = [path.gradient_norm[-1] <= 1e-8 for path in exact]  # (10,) each
stays = torch.cat([p.bounded(100)[e] for p, e in zip(exact, ended, strict=True)])
budget_stays = torch.cat([path.bounded(100) for path in by_descent])

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check P2.budget and P2.reaches"}
share = budget_stays.double().mean().item()
claims.check("P2.budget", share, n=len(budget_stays))
share = stays.double().mean().item() if len(stays) else 1.0
claims.check("P2.reaches", share, n=len(stays))

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
figures.numbers(
    teachers=teachers,
    distances=distances,
    steps=steps,
    profile=profile,
    ended=len(stays),
    of=10 * teachers,
    stays=int(stays.sum()),
)

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


# %%
k = distances // 2  # halfway in log δ
first, second = TANH.incoming(1, 0), TANH.incoming(1, 1)  # ϑ_0 and ϑ_1 in θ
with_tangent, with_normal = [], []
for path, (loss, _, _) in zip(exact, toys, strict=True):
    ok = path.converged[k - 1 : k + 2].all(dim=0)
    theta = path.theta[k, ok]  # (B, p)
    slope = gradient(loss, theta)  # ∇L, (B, p)
    tangent = path.theta[k + 1, ok] - path.theta[k - 1, ok]
    across = torch.zeros_like(theta)  # (−e, e), the normal of ‖ϑ_1 − ϑ_0‖ = δ
    across[:, second] = theta[:, second] - theta[:, first]
    across[:, first] = -across[:, second]
    with_tangent.append(cosine_similarity(slope, tangent, dim=-1).abs())
    with_normal.append(cosine_similarity(slope, across, dim=-1).abs())
with_tangent, with_normal = torch.cat(with_tangent), torch.cat(with_normal)
print("|cos| of the gradient with the tangent:", with_tangent.numpy().round(3))
print("|cos| of the gradient with the normal:", with_normal.numpy().round(3))

# %%
negative = []  # eigenvalues of ∇²L at the converged steps after the first
for path, (loss, _, _) in zip(exact, toys, strict=True):
    H = hessian(loss, path.theta[1:][path.converged[1:]])  # (B, p, p)
    negative.append(inertia(H, tol=1e-9).negative)
negative = torch.cat(negative)

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check P2.tangent and P2.negative"}
n = len(with_tangent)
claims.check("P2.tangent", with_tangent.median().item() if n else 1.0, n=n)
n = len(negative)
claims.check("P2.negative", negative if n else 0.0, n=n)

# %% [markdown]
# Exchanging the two neurons, parameter vectors and output weights, leaves the loss as it is, so that the second half of the path is the mirror image of the first:

# %%
changes, halves = [], []
for path, (loss, _, _) in zip(exact, toys, strict=True):
    theta = path.theta[1:]  # (K - 1, 10, p)
    swapped = TANH.swap(theta, 1, 0, 1)  # ϑ_0 ↔ ϑ_1 and a_0 ↔ a_1
    half = theta.clone()  # ϑ_0 ↔ ϑ_1 alone
    half[..., first], half[..., second] = theta[..., second], theta[..., first]
    changes.append(((loss(swapped) - loss(theta)) / loss(theta)).abs().max())
    halves.append(((loss(half) - loss(theta)) / loss(theta)).abs().median())

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check P2.swap"}
rival = torch.stack(halves).median().item()
claims.check("P2.swap", torch.stack(changes), n=10 * teachers, rival=rival)


# %% [markdown]
# Fig. 4 of the paper sketches three kinds of path: the loss rises up to the end; it has a maximum and a minimum before it rises to the end; it falls into the end. On the exact paths, where at
# least nine distances in ten converged:


# %%
drawn = []  # losses and distances of the paths
for path, ok in zip(exact, ended, strict=True):
    for pair in range(10):
        at = path.converged[:, pair]  # (K,)
        if ok[pair] and at.double().mean() >= 0.9:
            drawn.append((path.loss[at, pair], delta[at]))
kinds = [path_kind(losses) for losses, _ in drawn]  # by the signs of the changes

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot one path of each kind"}
figure, axes = figures.panels(3, height=3.2)
for axis, name in zip(axes, KINDS, strict=True):
    axis.set(title=name, xscale="log", xlim=(1.2, 0.8e-4))
    axis.set(xlabel=r"$\delta/\delta_0$", ylabel="loss")
    if name in kinds:
        losses, at = drawn[kinds.index(name)]
        axis.plot(at, losses, "o-", markersize=3)
    else:
        place = dict(transform=axis.transAxes, ha="center")
        axis.text(0.5, 0.5, "none in this run", **place)
figures.show("fig_kinds", figure)
figures.numbers(
    **{"kind_" + name.split()[0]: kinds.count(name) for name in KINDS}
)

# %% [markdown]
# ```{glue:figure} fig_kinds
# :name: fig-kinds
# :alt: Three panels with the loss against the distance for one exact path of each kind.
#
# One exact path of each kind, the paper's Fig. 4 (profile {glue:text}`profile`).
# ```

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check P2.kinds"}
claims.check("P2.kinds", float(len(set(kinds))), n=len(kinds))

# %% [markdown]
# Monotone: {glue:text}`kind_monotone`; with an intermediate maximum: {glue:text}`kind_intermediate`; with a minimum at the end: {glue:text}`kind_minimum`.
#
# ## Which pairs end at the same loss
#
# With ReLU, as in the paper. Where gradient descent has stopped, the pair is replaced by one neuron and the smaller network minimised to the end. Its loss is that of the permutation point.

# %%
relu_toys = [toy(RELU, 100 + k, 1.0) for k in range(max(4, teachers))]
chart = PairChart(RELU, 1, "paper")
relu_paths, merged = [], []
for loss, theta, x in relu_toys:
    path = merge_neurons(loss, chart, theta, PAIRS, delta, budget)
    small, start = reduce_pair(RELU, path.theta[-1], layer=1)  # 2-4-1
    small_loss = squared_loss(small, x, RELU.forward(theta, x))
    end = minimise(small_loss, start, 10 * newton_steps, tol=1e-9, radius=0.1)
    relu_paths.append(path)
    merged.append(end)
different = [count_different(end.loss, tol=1e-6) for end in merged]  # of ten

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check P1.same_loss"}
coincide = np.mean([1 < count < 10 for count in different])
claims.check("P1.same_loss", float(coincide), n=len(different))


# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot three pairs of a ReLU toy"}
def directions(net: MLP, theta: torch.Tensor) -> np.ndarray:
    """W/b of every neuron, cut at ±4, (n, 2)."""
    (W, b), _ = net.split(theta)
    return (W / b[:, None]).clamp(-4, 4).numpy()


end, teacher = merged[0], directions(RELU, relu_toys[0][1])
order = end.loss.argsort()
figure, axes = figures.panels(3, 2, height=3.4)
for (above, below), k in zip(axes.T, order[[0, 1, -1]], strict=True):
    student = directions(small, end.theta[k])
    for ends, name in ((teacher, "teacher"), (student, "merged")):
        colour = "book:blue" if name == "teacher" else "book:red"
        above.plot(*ends.T, "o", color=colour, label=name)
        rays = np.stack([0 * ends, ends])  # from the origin, (2, n, 2)
        above.plot(rays[..., 0], rays[..., 1], color=colour, linewidth=0.8)
    first, second = PAIRS[k]
    above.set(xlim=(-4.3, 4.3), ylim=(-4.3, 4.3))
    above.set(xlabel="$W_{i1}/b_i$", ylabel="$W_{i2}/b_i$")
    below.plot(delta, relu_paths[0].loss[:, k], color="book:black")
    below.axhline(end.loss[k].item(), color="book:red", linestyle="--", lw=1)
    below.set(xscale="log", xlim=(1.2, 0.8e-4), ylim=(0, None))
    below.set(xlabel=r"distance $\delta/\delta_0$", ylabel="loss")
    for axis in (above, below):
        axis.set_title(f"{first + 1} & {second + 1}")
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

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Versions and time"}
print(chapter.end())
