# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # In small tanh networks most pairs of neurons do not merge
#
# *Can two neurons of a network be moved together until they are one, at the lowest loss for every distance?*
#
# Only some pairs can. Minimising at ever smaller distances merged **[[P2.reaches_some:.0f]] of [[n(P2.reaches_some)]] pairs** ([[100 * P2.reaches:.0f]] %) in tanh networks with five neurons; at the merge the loss along the path has a local maximum (proved). For the others some weights grow without bound, or no minimum is found.
#
# :::{glue:figure} fig_outcomes
# :alt: Output weights of two neurons from -4 to 5 against their distance, which falls to the right from 1 to 0.001 of its start, logarithmic. The two weights of one pair start at 1 and become equal; [[P2.reaches_some:.0f]] of [[n(P2.reaches_some)]] pairs do this. Those of another pair start at 1 and -1 and part in inverse proportion to the distance, out of the picture.
#
# One pair in each of two networks (one input, two neurons), computed here; the count is recorded, for networks with five neurons.
# :::
#
# **How sure.** Counted on [[n(P2.reaches) / 10]] networks with one output, recorded (no interval: pairs of one network depend on each other); where a path can end is proved ({prf:ref}`thm-ends`).
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | “a permutation point is finally reached” (sec. 4.1) | [true for some pairs](#P2.reaches_some) | [[P2.reaches_some:.0f]] of [[n(P2.reaches_some)]], not most of them |
# | “must be a saddle point on such a path” (sec. 4.1) | [true](#P2.saddle_on_path) | on all [[n(P2.saddle_on_path)]] continuous paths that arrive (the [[P2.reaches_some:.0f]] are repeated descents, which may jump); at the merge, proved |
# | “the gradient … is parallel to the tangent” (sec. 4.1) | [false](#P2.tangent) | cosine of the two down to [[P2.tangent:.5f]] |
# | “at most one negative eigenvalue” (sec. 4.1) | [false](#P2.negative) | [[P2.negative:.0f]] seen, 3 possible with two inputs |
# | “the same loss” or “higher loss” (Fig. 1) | [true](#P1.same_loss) | both occur in [[P1.same_loss:.0f]] of [[n(P1.same_loss)]] ReLU networks |
# | Losses $6 \cdot 10^{-6}$ and $3 \cdot 10^{-5}$ (Fig. 1) | [open: no weights given](#P1.heights) | [[P1.heights:.0e]] for our weights; 1/16 of it with weights half as large |
#
# **Open.** Whether a higher saddle can come before the end (none was met); first-order saddles with ReLU: more networks, a minute each. Which pairs merge takes a theorem; the losses of Fig. 1 take its weights.
#
# **For the authors.** In sec. 4.1 print *for some pairs*, *the gradient is normal to the surface of constant distance*, and *at most $1 + n_{k-1}$ negative eigenvalues* (with $n_{k-1}$ inputs to the layer).

# %% Parameters tags=["parameters"]
teachers: int = 3  # tanh toys
inputs: int = 200  # normal inputs of a tanh toy
relu_teachers: int = 4  # ReLU toys
relu_inputs: int = 1000  # inputs of a ReLU toy, as in the paper
budget: int = 250  # trial steps along a branch
descent: int = 100  # steps of gradient descent at every distance
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    teachers=Integer(1, 1000),
    inputs=Integer(30, 1_000_000),
    relu_teachers=Integer(1, 1000),
    relu_inputs=Integer(30, 1_000_000),
    budget=Integer(10, 1_000_000),
    descent=Integer(1, 10_000_000),
)

from collections import Counter
from itertools import combinations

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.merging_neurons import (
    KINDS,
    LIMITS,
    count_different,
    equal_norms,
    find_limit,
    minimise_closer,
    path_kind,
    relu_minima,
    rounded_relu,
    seen_limit,
    tops,
)
from lmc_helpers.error_bars import share
from lmc_helpers.permutation_points import (
    MLP,
    PairChart,
    PermutationPoint,
    double_neurons,
    embed,
    equal_loss_exchange,
    gradient,
    inertia,
    minimise,
    reduce_pair,
    squared_loss,
)
from lmc_helpers.permutation_points.hessian import hessian
from lmc_helpers.permutation_points.merging import (
    ENDS,
    Shallow,
    follow_pairs,
    join_problems,
)
from lmc_helpers.permutation_points.pair import ChartLoss
from lmc_helpers.seeds import normal

# %% [markdown]
# Brea, Şimşek, Illing & Gerstner (P) {cite:p}`brea2019` look for a path from a network to its copy with two neurons exchanged. The two approach each other, the loss is minimised over everything else at every distance, and the path ends in a *{term}`permutation point`*, where the two are one. There they change places, and the path goes back.
#
# :::{need}
# You need: gradients, Hessians, Taylor expansion, the implicit function theorem. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $\vartheta_0$, $\vartheta_1$; $\vartheta$ | parameter vectors (incoming weights and bias) of the two neurons; their midpoint |
# | $\delta$, $\delta_0$; $e$ | distance of $\vartheta_0$ and $\vartheta_1$, its value at the start; unit vector from $\vartheta_0$ to $\vartheta_1$ |
# | $a_0$, $a_1$ | outgoing columns of the two neurons; numbers if there is one output |
# | $c$, $A$ | $a_0 + a_1$; $\frac\delta2 (a_1 - a_0)$ |
# | $g$; $z_\mu$, $s_\mu$ | activation; input of the layer on sample $\mu$ with a 1 appended, $\vartheta \cdot z_\mu$ |
# | $L$, $L_1$ | loss; that of a strict minimum of the network with one neuron fewer |
# | $r_\mu$ | derivative of $L$ by the input of the next layer on sample $\mu$ |
# | $J$, $D$, $\kappa$ | two matrices of the merged neuron, defined below; smallest eigenvalue of $D$ |
# | $n_{k-1}$, $n_{k+1}$ | neurons in the layer before (or inputs), and in the next one (or outputs) |
#
# Letters that only *Evidence* uses are explained there.
#
# ## Two neurons become one, or a neuron and its derivative
#
# The smallest example has one input and two tanh neurons without biases, $f(x) = a_0 \tanh(w_0 x) + a_1 \tanh(w_1 x)$. Given $w_0$ and $w_1$, the best output weights are a linear problem, so the loss is a landscape over a plane. Two of its minima are mirror images, and a path between them crosses the diagonal $w_0 = w_1$:

# %% The least loss of two neurons
samples = torch.linspace(-2, 2, 81, dtype=torch.float64)[:, None]


def over_outputs(w_pair, teacher_a):
    """Least loss at the input weights (..., 2), and the output weights."""
    goal = (samples * torch.tensor([0.5, 3.0])).tanh() @ teacher_a[:, None]
    hidden = (samples * w_pair[..., None, :]).tanh()  # (..., T, 2)
    outer = torch.linalg.pinv(hidden) @ goal  # a_0, a_1
    error = (hidden @ outer - goal).square().sum(dim=(-2, -1))
    return error, outer[..., 0]


# %% Plot the smallest example
idea, plane = figures.panels(height=3.2)
outcomes, weights = figures.panels(height=2.4)
ticks = torch.linspace(-0.5, 4.0, 110, dtype=torch.float64)
widths = torch.logspace(0, -3, 90, dtype=torch.float64)
nearby = torch.linspace(-1, 1, 301, dtype=torch.float64)
mesh = torch.stack(torch.meshgrid(ticks + 1e-3, ticks, indexing="xy"), dim=-1)
for sign in (1, -1):
    colour = "book:blue" if sign == 1 else "book:red"
    teacher_a = torch.tensor([1.0, sign], dtype=torch.float64)
    centre, track, both = 1.75, [], []
    for width in 2.5 * widths:
        for window in (0.15, 1e-3, 1e-5):  # finer and finer
            means = centre + window * nearby
            pairs_w = torch.stack([means - width / 2, means + width / 2], dim=-1)
            low, best_a = over_outputs(pairs_w, teacher_a)
            centre = means[low.argmin()]
        track.append(pairs_w[low.argmin()])
        both.append(best_a[low.argmin()])
    weights.semilogx(widths, torch.stack(both), color=colour, linewidth=2.2)
    if sign == 1:
        height_of = over_outputs(mesh, teacher_a)[0].clamp(1e-4, 3).log10()
        plane.contourf(ticks, ticks, height_of, 20, cmap="Greys", alpha=0.7)
        for side in (torch.stack(track), torch.stack(track).flip(-1)):
            plane.plot(*side.T, color=colour, linewidth=2.5)
            plane.plot(*side[0], "o", color=colour)
        plane.plot(*track[-1], "*", color="book:orange", markersize=16)
plane.plot([-0.5, 4], [-0.5, 4], ":", color="book:black")
plane.set(xlabel="$w_0$", ylabel="$w_1$", aspect=1)
plane.grid(False)
figures.show("fig_two_neurons", idea)

merged = claims.recorded("P2.reaches_some")
weights.set(xlim=(1.1, 7e-4), ylim=(-4, 5), ylabel="output weights of the pair")
weights.set_xlabel("distance of the two neurons, over that at the start")
says = f"{merged['value']:.0f} of {merged['n']} pairs: weights become equal"
weights.text(8e-4, 1.25, says, color="book:blue", ha="right", weight="bold")
says = "another pair: they part like 1/distance"
weights.text(8e-4, -2.9, says, color="book:red", ha="right")
figures.show("fig_outcomes", outcomes)

# %% [markdown]
# :::{glue:figure} fig_two_neurons
# :alt: Least loss over the plane of the two input weights, dark where it is high, symmetric about the diagonal. A curve leads from the minimum above the diagonal to a star on it, and on to the mirror image of the minimum below.
#
# Logarithm of the loss with the best output weights (dark: high), for a teacher with $w = (0.5, 3)$ and $a = (1, 1)$. The path of constrained minima leads from a minimum (dot) to the permutation point (star) and on to the mirror image.
# :::
#
# For $a = (1, -1)$ there is a path, too, but its output weights grow without bound (the picture at the head of this page). In general, with $\vartheta_0 = \vartheta - \frac\delta2 e$ and $\vartheta_1 = \vartheta + \frac\delta2 e$, the two neurons contribute
#
# $$
# \begin{aligned}
# c\, &\tfrac12 \bigl[ g(s_-) + g(s_+) \bigr] + A\, \tfrac1\delta \bigl[ g(s_+) - g(s_-) \bigr] \\
# &\xrightarrow{\delta \to 0}\; c\, g(s) + A\, (e \cdot z)\, g'(s)
# \end{aligned}
# $$
#
# to the next layer, where $s_\pm = s \pm \frac\delta2 e \cdot z$. The limit is a network with one neuron fewer *and a {term}`derivative neuron`* $(e \cdot z)\, g'(s)$ at the same place. It is a permutation point only if $A = 0$. If not, the output weights $a_{0,1} = \frac c2 \mp \frac A\delta$ diverge like $1/\delta$. One pair with $A = \frac12$:

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
# That sets of networks of one size are not closed is known {cite:p}`petersen2021`. Martinelli, van Meegen, Şimşek, Gerstner & Brea {cite:p}`martinelli2025`, three of them authors of the paper, have since shown that descent from random starts often drifts into such *channels to infinity*, at whose end stands a gated linear unit, our derivative neuron; the coordinates are theirs, too. What is added here is which paths of constrained {term}`minima <minimum>` end there.
#
# ## Only some permutation points can end a path
#
# Take a strict local minimum of the smaller network, with loss $L_1$ and positive definite Hessian, and one of its neurons, with $c \ne 0$. Let
#
# $$
# \begin{aligned}
# J &= \sum_\mu r_\mu z_\mu^\top g'(s_\mu), \\
# D &= \sum_\mu (r_\mu \cdot c)\, g''(s_\mu)\, z_\mu z_\mu^\top .
# \end{aligned}
# $$
#
# At $\delta = 0$ the slope of the loss in $A$ is $Je$, and copies with equal weights that part along $e$ change the loss by $\frac18 \delta^2\, e^\top D\, e$ to second order.
#
# :::{prf:theorem} Which permutation points end a path
# :label: thm-ends
# Let $g$ and the loss be smooth, and consider local minima of the loss at fixed $\delta \to 0$ that come close to the smaller network's minimum with bounded output weights.
#
# 1. If $J \ne 0$ (this needs several outputs) there are none: no path of constrained minima ends at these permutation points.
# 2. For one output, where $J = 0$, there are none either if $D$ is positive definite.
# 3. For one output, if the smallest eigenvalue $\kappa$ of $D$ is negative and simple, a path of constrained minima ends at the permutation point, with $a_0 = a_1 = \frac c2$,
#    $e$ the lowest eigenvector of $D$, and $L = L_1 + \frac18 \kappa \delta^2 + O(\delta^4)$.
# :::
#
# Criticality gives $c^\top J = 0$, hence $J = 0$ for one output. The idea of the rest: near the merge the loss is $L_1 + \frac12 \lambda (1 - \lambda)\, \delta^2\, e^\top D\, e$ if the two share $c$ as $(1 - \lambda) c$ and $\lambda c$, and only $\lambda = \frac12$ with the lowest eigenvector is a minimum of that. The whole proof is under *Evidence*.
#
# :::{prf:corollary} The end is the top
# :label: cor-maximum
# Under these hypotheses, for one output and regular $D$, a permutation point that ends a path of constrained minima is a strict local maximum of the loss along the path, and a saddle of
# the loss: the Hessian there has a negative eigenvalue, and by {prf:ref}`thm-inertia` as many as $D$. It is never a minimum along the path.
# :::
#
# :::{prf:proof}
# By the proof of {prf:ref}`thm-ends` $\kappa$ is the lowest eigenvalue of $D$ and negative, since $D e \ne 0$. So $L = L_1 + \frac18 \kappa \delta^2 + o(\delta^2) < L_1$ on the path and on its mirror image, its
# continuation to $-\delta$. With an eigenvector $e$, the quadratic form of the Hessian at the step $(-\frac12 e, \frac12 e)$ of the two parameter vectors is $\frac14 e^\top D e = \frac14 \kappa$.
# :::
#
# This is why a path that ends at a permutation point has a saddle there, as the paper supposes, possibly with others before it. With several outputs $J \ne 0$ at all but special points, and no path of minima ends ({claim}`P2.three_outputs`).
#
# ## Few pairs arrive
#
# The experiment has the sizes of the paper's Fig. 1: two inputs, five neurons, one output, here tanh, so that minima are smooth. The student starts as the {term}`teacher <teacher and student>`, whose weights have scale 2.5, so that its neurons differ. Ten pairs of neurons make ten paths a network. They are computed twice, as curves of constrained critical points, followed through their turning points (*folds*, {prf:ref}`prop-fold`), and as the paper does.

# %% Follow the curves of all pairs
PAIRS = list(combinations(range(5), 2))
TANH, RELU = MLP((2, 5, 1), "tanh"), MLP((2, 5, 1), "relu")


def toy(net: MLP, number: int) -> tuple[Shallow, torch.Tensor]:
    """The loss and the teacher, which is the student's start."""
    theta = net.initial(1, seed + number, scale=2.5)[0]
    x = normal((inputs, 2), seed + number, "inputs of the toy")
    return Shallow(net, x, net.forward(theta, x)), theta


def branches(toys, **settings):
    """The branches of all pairs of all toys, (toys, 10), as one batch."""
    problem = join_problems([p for p, _ in toys for _ in PAIRS])
    starts = torch.stack([theta for _, theta in toys for _ in PAIRS])
    found = follow_pairs(problem, starts, PAIRS * len(toys), **settings)
    return [found[k : k + 10] for k in range(0, len(found), 10)]


# P, section 4.1 as a curve: ∇L = μ ∇δ, from the teacher down to δ_0/10⁴
toys = [toy(TANH, k) for k in range(teachers)]
followed = branches(toys, steps=budget)
counts = {
    name: sum(b.end == name for row in followed for b in row) for name in ENDS
}
print(", ".join(f"{name} {n}" for name, n in counts.items()))
residual = max(b.residual.max().item() for row in followed for b in row)
print(f"largest gradient in the coordinates at fixed δ: {residual:.0e}")

# %% Plot the branches of a toy
kinds_of_end = ("book:blue", "book:red", "book:orange", "book:grey")
colours = dict(zip(ENDS, kinds_of_end, strict=True))
figure, axes = figures.panels(2, height=3.9)
best = max(followed, key=lambda row: sum(b.end == ENDS[0] for b in row))
for b in best:
    at = b.delta / b.delta[0]
    style = dict(color=colours[b.end], linewidth=1.2)
    axes[0].plot(at[1:], b.loss[1:], **style)
    axes[0].plot(at[-1], b.loss[-1], "o", color=colours[b.end], markersize=4)
    axes[1].plot(at, b.outgoing.abs().amax(dim=(1, 2)), **style)
for name in ENDS:
    axes[0].plot([], [], color=colours[name], label=name)
near = torch.logspace(-4, -2, 2)
axes[1].plot(near, 3 / near, ":", color="book:black", label=r"$\propto 1/\delta$")
for axis in axes:
    axis.set(xscale="log", yscale="log", xlim=(4, 0.3e-4))
    axis.set_xlabel(r"distance $\delta/\delta_0$ (falls to the right)")
axes[0].set(ylabel="loss", ylim=(1e-6, None))
axes[1].set_ylabel("larger output weight of the pair")
figures.show("fig_merge", figure, legend=5)

# %% [markdown]
# :::{glue:figure} fig_merge
# :alt: Loss, and larger output weight of the pair, against the distance for the ten pairs of a network, coloured by where the curve ends. Curves that reach the smallest distance do so with bounded output weights or with output weights that grow in inverse proportion to the distance; others turn back at folds or stop at a finite distance.
#
# Curves of constrained critical points of the ten pairs of one network. First panel: loss, with a dot at the end of each curve. Second panel: larger output weight of the pair (profile {glue:text}`profile`).
# :::
#
# The paper's algorithm: “we decrease $\delta$ infinitesimally and perform gradient descent […] until convergence” (sec. 4.1). From the same teachers, at 60 distances, every minimum with a gradient of at most $10^{-9}$:

# %%
ratios = torch.logspace(0, -4, 61, dtype=torch.float64)[1:]
printed = [minimise_closer(p, theta, PAIRS, ratios, 100) for p, theta in toys]
arrived = [row.count(ENDS[0]) for row in printed]  # of the ten pairs of a toy
folded = [b for row in followed for b in row if b.folds]
unbroken = [not b.folds and b.end != ENDS[2] for row in followed for b in row]
straight = [not b.folds and b.end == ENDS[0] for row in followed for b in row]

# %%
n = 10 * teachers
claims.check("P2.reaches_some", float(sum(arrived)), n=n)
claims.check("P2.continuous_some", float(sum(straight)), n=n)

# %% Numbers for the text
same_sign = sum(
    end == ENDS[0] and bool(b.outgoing[0].prod() > 0)
    for row, ends in zip(followed, printed, strict=True)
    for b, end in zip(row, ends, strict=True)
)
figures.numbers(
    pairs=n,
    became_derivative=sum(row.count(ENDS[1]) for row in printed),
    lost=sum(row.count(ENDS[2]) + row.count(ENDS[3]) for row in printed),
    at_point=counts[ENDS[0]],
)

# %% [markdown]
# The paper says “we can construct permutation paths” and names no exception. Three readings of each of its two statements, recorded:
#
# | Read as a claim about | “decreases continuously until it is zero” | “a permutation point is finally reached” |
# | --- | --- | --- |
# | some pairs | [true](#P2.continuous_some): [[P2.continuous_some:.0f]] of [[n(P2.continuous_some)]] curves arrive without a fold | [true](#P2.reaches_some): [[P2.reaches_some:.0f]] of [[n(P2.reaches_some)]] pairs |
# | most pairs | [false](#P2.continuous_most): [[100 * P2.continuous_most:.0f]] %, half would be needed | [false](#P2.reaches_most): [[100 * P2.reaches_most:.0f]] % |
# | every pair | [false](#P2.continuous): [[100 * P2.continuous:.0f]] % meet neither a fold nor a divergence | [false](#P2.reaches): [[100 * P2.reaches:.0f]] % |
#
# The first reading counts, so both statements hold. But a permutation point from which *a* path starts ($D$ has a negative eigenvalue there) need not be the end of *the* path from a given network. With one output the signs of $a_0$ and $a_1$ exclude many pairs from the outset ({prf:ref}`prop-signs`): they can change only at a critical point of the loss, and at a permutation point $a_0 = a_1$.
#
# ## Elsewhere weights grow without bound at a positive distance
#
# Most curves stop before $\delta = 0$, where some weights have grown beyond bounds. Where these are output weights, the function nearly always converges, in one of three ways: two neurons become a derivative neuron, a neuron outside the pair becomes an exponential function, or one of the pair passes through infinity and returns with the other sign. {prf:ref}`thm-diverge` gives the distance $\delta^*$ and the law, $|\delta - \delta^*|^{-1/2}$ or $|\delta - \delta^*|^{-1}$ with known factors. On [[100 * P2.limits:.0f]] % of [[n(P2.limits)]] recorded curves Newton's method finds this limit without using the curve ({claim}`P2.limits`), and the rates agree to [[100 * P2.limit_law:.2f]] % (median; {claim}`P2.limit_law`).
#
# ## On the way the gradient is normal to the surface of equal distance
#
# The paper's third property (sec. 4.1) is that on the path the gradient is parallel to the tangent and the Hessian has at most one negative eigenvalue, for all $t$. But a constrained minimum has no slope within the surface $\|\vartheta_1 - \vartheta_0\| = \delta$:
#
# :::{prf:proposition} Gradient on the path
# :label: prop-normal
# On a path of constrained minima the gradient is $\frac{dL}{d\delta}$ times $(-e, e)$ in the slots of $\vartheta_0$, $\vartheta_1$, and 0 elsewhere. It is parallel to the
# tangent only where all other parameters rest and the two move by opposite amounts. The Hessian has at most $1 + n_{k-1}$ negative eigenvalues, $n_{k-1}$ being the number of inputs of the layer, and at most one where
# $\frac{dL}{d\delta} \ge 0$.
# :::
#
# :::{prf:proof}
# With $d = \|\vartheta_1 - \vartheta_0\|$, stationarity means $\nabla L = \nu \nabla d$, and $\nabla d = (-e, e)$. Along the path $d$ is the parameter $\delta$, so
# $\frac{dL}{d\delta} = \nabla L \cdot \dot\gamma = \nu\, \nabla d \cdot \dot\gamma = \nu$. The second-order condition is $\nabla^2 L - \nu \nabla^2 d \succeq 0$ on the tangent space, of
# codimension 1. $\nabla^2 d \succeq 0$ has rank $n_{k-1}$, the dimension of the sphere of $e$. So $\nabla^2 L \succeq 0$ on the tangent space if $\nu \ge 0$, else on a subspace of
# codimension at most $n_{k-1}$ in it.
# :::


# %% Gradient, tangent and eigenvalues on the way
def cosine(a, b):  # a gradient may be shorter than the 1e-8 that torch divides by
    return (a @ b).abs() / (a.norm() * b.norm())


first, second = TANH.incoming(1, 0), TANH.incoming(1, 1)
with_tangent, with_normal, negative = [], [], []
for (problem, _), row in zip(toys, followed, strict=True):
    for b in row:
        if b.end != ENDS[0]:
            continue
        minima = (b.negative == 0) & (b.delta < b.delta[0])
        if b.folds:  # the paper's path ends at the first fold
            minima[b.curve.folds[0] + 1 :] = False
        slope, H = problem.gradient_and_hessian(b.theta[minima])  # ∇L and ∇²L
        negative += [] if b.folds else inertia(H, tol=1e-9).negative.tolist()
        k = (b.delta[minima] / b.delta[0] - 0.01).abs().argmin()
        theta, tangent = b.theta[minima][k], b.tangent[minima][k]
        across = torch.zeros_like(theta)  # (−e, e)
        across[second] = theta[second] - theta[first]
        across[first] = -across[second]
        with_tangent.append(cosine(slope[k], tangent))
        with_normal.append(cosine(slope[k], across))

# %%
n = len(with_tangent)
claims.check("P2.tangent", [c.item() for c in with_tangent] or 1.0, n=n)
claims.check("P2.negative", negative or 0.0, n=len(negative))

# %% [markdown]
# Cosines are taken halfway in $\log\delta$, eigenvalues at all minima of curves that run to a permutation point without a fold. A gradient parallel to the tangent belongs to paths of steepest descent; the paper's construction minimises at fixed distance. What it concludes, “there must be a saddle point on such a path”, is true all the same: where the loss has its top at a positive distance, $\frac{dL}{d\delta} = 0$, and with it the gradient.
#
# ## What it means for merging networks
#
# A permutation point connects all orders of the neurons: the largest loss on a path to it bounds the price of exchanging any two. Where two neurons have become alike with bounded output weights, merging them costs the loss at that point. Where the loss can only be kept low by output weights that grow against each other, the network uses the difference of the two, and the pair is not a candidate.
#
# **Read on.** [](22_permutation_points.ipynb): the Hessian at the point where they meet. [](24_deep_merge.ipynb): the same in networks trained on digits. [](52_permutation_saddles_on_mnist.ipynb): on MNIST.
#
# ## Evidence
#
# ### Other readings of the two statements

# %%
n = 10 * teachers
claims.check("P2.continuous", float(np.mean(unbroken)), n=n)
claims.check("P2.continuous_most", float(np.mean(straight)), n=n)
claims.check("P2.reaches", sum(arrived) / n, n=n)
claims.check("P2.reaches_most", sum(arrived) / n, n=n)

# %% [markdown]
# In this run minimisation at 60 distances reaches a permutation point from {glue:text}`sum(arrived)` of {glue:text}`pairs` pairs, of which {glue:text}`same_sign` start with $a_0 a_1 > 0$, and a derivative neuron from {glue:text}`became_derivative`; from {glue:text}`lost` no minimum is found from some distance on. (Tanh neurons are taken with the signs that they have.)
# Of the curves, {glue:text}`at_point` end at a permutation point, {glue:text}`sum(straight)` of them without a fold, and {glue:text}`counts[ENDS[1]]` at a derivative neuron; on {glue:text}`counts[ENDS[2]]` a coordinate grows beyond thirty times the largest weight of the start at another distance, and {glue:text}`counts[ENDS[3]]` have not ended within the budget of steps. {glue:text}`len(folded)` have a fold.
#
# The paper calls the paths “smooth”. That asks no more than “continuous”: both halves are smooth curves, and a corner between two of them is passed smoothly by a motion that stops in it. Later (sec. 4.2) it counts “each of the $n_k (n_k - 1)/2$ different permutation points”, which is why *every pair* is among the readings.
#
# ### The minima as a curve
#
# At distance $\delta$ a constrained minimum solves as many equations as there are coordinates $(\vartheta, e, c, A, \dots)$; with $\log\delta$ there is one unknown more, and the solutions form curves. *Continuation* follows the curve through the start: a step along the tangent, then Newton's method in the plane across it, a smaller step where the tangent turns too much. So every point is a solution, and neighbours are near each other. Where minimisation at fixed $\delta$ differs is a fold:
#
# :::{prf:proposition} Folds
# :label: prop-fold
# Let the Hessian at fixed $\delta$ of a constrained critical point have one zero eigenvalue, with eigenvector $v$, let $\partial_\delta \nabla L \cdot v \ne 0$ and let the third
# derivative of $L$ along $v$ not vanish. Then on one side of this distance no constrained critical point is near, and on the other there are two; where the others are minima in the other
# directions, one is a minimum and one a saddle.
# :::
#
# :::{prf:proof}
# Solve the equations across $v$ for the other coordinates by the implicit function theorem. One equation $\alpha\, \Delta\delta + \beta\, u^2 + \dots = 0$ in the coordinate $u$ along $v$
# is left, with $\alpha, \beta \ne 0$; its derivative by $u$, the remaining eigenvalue, has the sign of $\beta u$.
# :::
#
# When a path of minima meets a fold as $\delta$ decreases, descent at the next distance has to leave the neighbourhood, however small the step: it jumps.
# That ends the curve of minima, not the path: the flow at fixed $\delta$ that leads to the next minimum is a piece of a continuous path, on which the loss falls. What does end a path is a flow without a limit, at a distance where no minimum is left.

# %% Plot a merge, to follow
arriving_first = sorted(
    (b for row in followed for b in row),
    key=lambda b: (b.end != ENDS[0], b.folds, (b.delta / b.delta[0]).min()),
)
one = arriving_first[0]
stops = np.unique(np.linspace(0, len(one.delta) - 1, 41).round().astype(int))
(into, _), (out, _) = TANH.split(one.theta[stops])  # (stops, 5, 2), (stops, 1, 5)
out, near_by = out[:, 0], (one.delta / one.delta[0]).numpy()[stops]
values = one.loss.numpy()[stops]
scene = figures.Moving(
    r"distance $\delta$ over $\delta_0$",
    [f"{x:.2g}" for x in near_by],
    [
        f"output weights ${a0:.2f}$ and ${a1:.2f}$, loss {value:.2g}"
        for (a0, a1), value in zip(out[:, :2].tolist(), values, strict=True)
    ],
    start=len(stops) // 3,
)
plane = scene.panel(title="input weights", xlabel="$W_{i1}$", ylabel="$W_{i2}$")
for k in (0, 1):
    plane.draw(*into[:, k].T, ":", "red")  # the way of each of the pair
for some, colour, name in (
    (into[:, 2:], "blue", "other neurons"),
    (into[:, :2], "red", "the pair"),
):
    rays = torch.stack([0 * some, some, some * np.nan], dim=2).flatten(1, 2)
    plane.draw(rays[..., 0], rays[..., 1], "-", colour, width=0.8)
    plane.draw(some[..., 0], some[..., 1], "o", colour, name)
middle = scene.panel(title="output weights", xlabel=r"$\delta/\delta_0$")
right = scene.panel(title="loss", xlabel=r"$\delta/\delta_0$")
for panel, curves in ((middle, out[:, :2].T), (right, [values])):
    panel.xscale, panel.xlim = "log", (1.6 * near_by[0], 0.6 * near_by[-1])
    for y in curves:
        panel.draw(near_by, y, "-", "red" if panel is middle else "black")
        panel.draw(near_by[:, None], y[:, None], "o", "red")
scene.show("fig_one_merge")
figures.numbers(merge_end=one.end)

# %% [markdown]
# Move the distance: the two neurons approach each other, and the loss rises from that of the teacher. On a curve that ends at a permutation point their output weights become equal, and the loss has its top at the end.
#
# :::{glue:figure} fig_one_merge
# :alt: First panel, the input weights of five neurons as arrows in the plane; two of them move towards each other along dotted curves. Second, the output weights of the two against the distance. Third, the loss against the distance.
#
# One curve, point by point (end: {glue:text}`merge_end`). First panel: the input weights (dotted: the way of the pair). Second: the two output weights. Third: the loss. The distance falls to the right (profile {glue:text}`profile`).
# :::
#
# Is the curve found a curve? Half the step must lead to the same end, without a jump to a curve beside, where the sign of $\det(\nabla F; t)$ of the equations $F$ with the tangent $t$ would change; and one per cent beyond a first fold, a converged minimiser at fixed distance must be far away.

# %% Follow with half the step, and step beyond the folds
ended = [(i, k) for i, row in enumerate(followed) for k in range(10)]
ended = [(i, k) for i, k in ended if followed[i][k].end in ENDS[:2]]
agree = []  # relative differences of the losses at the smallest distance
if ended:
    problem = join_problems([toys[i][0] for i, _ in ended])
    starts = torch.stack([toys[i][1] for i, _ in ended])
    settings = dict(steps=2 * budget, largest=0.15)
    finer = follow_pairs(
        problem, starts, [PAIRS[k] for _, k in ended], **settings
    )
    for (i, k), fine in zip(ended, finer, strict=True):
        agree.append((fine.loss[-1] / followed[i][k].loss[-1] - 1).abs().item())

switches = 0  # on whole branches that reach δ → 0, on others to the first fold
for b in (b for row in followed for b in row):
    whole = b.end in ENDS[:2] or not b.folds
    last = len(b.delta) if whole else b.curve.folds[0]
    switches += int((b.curve.switches < last).sum())
print("changes of orientation:", switches)
chart, jumps = PairChart(TANH, 1), []
for (problem, _), row in zip(toys, followed, strict=True):
    folds = [(b, int(b.curve.folds[0])) for b in row if b.folds]
    if folds:
        at = torch.stack([b.theta[k] for b, k in folds])  # on the minima's side
        phi = chart.coordinates(at)
        beyond = chart.closer(phi, 0.99 * phi[:, -1])
        of_phi = lambda phi, p=problem: p.loss(chart.weights(phi))  # noqa: E731
        there = minimise(of_phi, beyond, 60, tol=1e-9, radius=0.1)
        moved = (chart.unit(there.theta) - phi)[:, :-1].norm(dim=1) / (
            0.01 * phi[:, -1]
        )
        jumps += moved[there.converged].tolist()

# %%
claims.check("P2.followed", [*agree, float(switches)], n=len(agree))
jump = float(np.median(jumps)) if jumps else 0.0
claims.check("P2.jumps", jump, n=len(jumps))

# %% [markdown]
# ### Which permutation points end a path, proved
#
# The proof of {prf:ref}`thm-ends`:
#
# :::{prf:proof}
# Criticality of the smaller network in $\vartheta$ says $c^\top J = 0$, so $J = 0$ for one output.
#
# *1.* Bounded columns mean $A = \frac\delta2 (a_1 - a_0) \to 0$. In the coordinates $(\vartheta, e, c, A, \dots)$ the loss is smooth up to $\delta = 0$, so that a limit of local minima, with some $e$, has gradient 0 and a
# Hessian $\succeq 0$. At $\delta = 0$ the gradient in $A$ is $J e$, so $J e = 0$. At $A = 0$ the loss does not depend on $e$. So on $A$ and $\varepsilon \perp e$ the Hessian is
#
# $$
# \begin{pmatrix} * & J\varepsilon \\ (J\varepsilon)^\top & 0 \end{pmatrix} \succeq 0 ,
# $$
#
# which needs $J \varepsilon = 0$. Both together say $J = 0$.
#
# *2, 3.* Output weights stay bounded, so $\lambda$ does where we write $a_0 = (1 - \lambda) c$, $a_1 = \lambda c$, $\vartheta_0 = \vartheta - \lambda \delta e$, $\vartheta_1 = \vartheta + (1 - \lambda) \delta e$. The first-order
# effect of $\delta$ on the function cancels, and the second-order one is $\frac12 \lambda (1 - \lambda)\, \delta^2 c\, g''(s) (e \cdot z)^2$. The loss is
#
# $$
# L_1 + \tfrac12 \lambda (1 - \lambda)\, \delta^2\, e^\top D\, e + O(\delta^3)
# $$
#
# after minimisation over the other parameters, whose Hessian is positive definite and which the pair moves by $O(\delta^2)$ only. Limits of local minima are stationary points of
# $\lambda (1 - \lambda)\, e^\top D e$ with Hessian $\succeq 0$. Stationarity in $\lambda$ and $e$ means
# $\lambda = \frac12$ and $e$ an eigenvector, with eigenvalue $\kappa$, or $e^\top D e = 0$. In the first case the second derivative in $\lambda$ is $-\delta^2 \kappa$, so that $\kappa \le 0$, and in
# $e$ it needs the lowest eigenvalue. In the second the mixed derivative in $\lambda$ and $e$ makes a saddle, or $D e = 0$. A positive definite $D$ allows neither. If $\kappa < 0$ is simple, the
# minimum is non-degenerate and persists for small $\delta$ by the implicit function theorem. The exchange of the two neurons is $\delta \to -\delta$, so $L$ is even in $\delta$ on it.
# :::
#
# ### The end at a permutation point
#
# For the curves that end there, the smaller network is minimised on its own and gives $L_1$, $D$ and the Hessian at the permutation point. How near to the end one has to look depends on $D$: where its two lowest eigenvalues lie close together, $e$ still turns at distances at which other curves have long arrived. So the values are read at $\delta_0/500$ (at $\delta_0/50$ the worst curve of this run has a cosine of {glue:text}`told[0]` and {glue:text}`told[1]` of the predicted loss). A path goes on into its mirror image, so that $L$ is even in $\delta$; the ratio of $L - L_1$ to $\kappa\delta^2/8$ is $1 + O(\delta^2)$ and is extrapolated in $\delta^2$ from two distances:

# %% Compare the ends with the theorem
ratios, cosines, early, saddles, kinds, gaps, reached = ([] for _ in range(7))
for (problem, _), row in zip(toys, followed, strict=True):
    for b in (b for b in row if b.end == ENDS[0]):
        small, start = reduce_pair(TANH, b.theta[-1:], layer=1)
        merged = squared_loss(small, problem.x, problem.y)
        end = minimise(merged, start, 200, tol=1e-12, radius=0.1)
        point = double_neurons(small, end.theta[0], problem.x, problem.y)[0]
        kappa, vectors = torch.linalg.eigh(point.D)
        far, k, near = (
            (b.delta / b.delta[0] - f).abs().argmin()
            for f in (0.02, 0.004, 0.002)
        )
        joined = b.theta[:, TANH.incoming(1, 1)] - b.theta[:, TANH.incoming(1, 0)]
        cosine = (joined @ vectors[:, 0]).abs() / b.delta  # |cos(e, lowest)|
        delta = b.delta[k]
        predicted = kappa[0] * b.delta**2 / 8  # κδ²/8
        ratio = (b.loss - end.loss[0]) / predicted  # 1 + O(δ²)
        part = b.delta[near] ** 2 / (delta**2 - b.delta[near] ** 2)
        ratios.append((ratio[near] + part * (ratio[near] - ratio[k])).item())
        cosines.append(cosine[near].item())
        early.append((cosine[far].item(), ratio[far].item()))
        H = hessian(point.loss, point.theta)
        saddles.append(int(inertia(H, tol=1e-9).negative))
        kinds.append(path_kind(b.loss))
        mirror = TANH.swap(b.theta, 1, 0, 1)  # the second half of the path
        gap = (mirror - b.theta).norm(dim=1)
        gaps.append((gap[-1] / gap[0]).item())
        reached.append((b, point))
print("(L − L₁)/(κδ²/8), δ → 0:", *([f"{x:.4f}" for x in ratios] or "–"))
print("cos(e, lowest eigenvector of D):", *([f"{x:.8f}" for x in cosines] or "–"))
print("negative eigenvalues at the permutation point:", *(saddles or "–"))
print("losses:", ", ".join(f"{kinds.count(k)} {k}" for k in KINDS))

# %%
n = len(ratios)
claims.check("P2.ends", ratios or 1.0, n=n)
claims.check("P2.direction", cosines or 1.0, n=n)
claims.check("P2.saddle", saddles or 1.0, n=n)
claims.check("P3.reached", saddles or 1.0, n=n)
claims.check("P3.first_order", float(saddles.count(1)), n=n)
claims.check("P2.weak_at_end", saddles or 1.0, n=n)
claims.check("P2.kinds", float(kinds.count(KINDS[2])), n=n)
diverging = [b for row in followed for b in row if b.end == ENDS[1]]
wide = []
for b in diverging:
    gap = (TANH.swap(b.theta, 1, 0, 1) - b.theta).norm(dim=1)
    wide.append((gap[-1] / gap[0]).item())
claims.check("P2.swap", gaps or 0.0, n=n, rival=min(wide, default=1.0))

# %% Numbers for the text
least = np.min(early, axis=0) if early else np.full(2, np.nan)
told = [f"{x:.3f}" if early else "–" for x in least]

# %% [markdown]
# The two halves of a path meet at a permutation point. On a curve that ends at a derivative neuron they do not: their output weights are $2A/\delta$ apart. In this run {glue:text}`saddles.count(1)` of the {glue:text}`at_point` points have exactly one negative eigenvalue and are first-order saddles ({claim}`P3.first_order`, {claim}`P3.reached`).
#
# The paper's Fig. 4 sketches three pictures: the loss rises up to the end, in this run on {glue:text}`kinds.count(KINDS[0])` of {glue:text}`at_point` curves; a saddle may come before, on {glue:text}`kinds.count(KINDS[1])`; the permutation point could be a minimum along the path. The third is excluded by {prf:ref}`cor-maximum` for smooth activations, one output and regular $D$; for several outputs (section 5 of the paper finds “a saddle, and not a minimum” in most cases with ten), for ReLU and for singular $D$ it is left open here.
#
# The paper says that there must be a saddle on such a path, “of weak first order”, and that “there is no guarantee that the highest saddle should be the one at the permutation point”. At a top at a positive distance $\frac{dL}{d\delta} = 0$ and with it the gradient of the loss, and by {prf:ref}`prop-normal` at most one eigenvalue is negative on a path of minima; at the permutation point there may be more. `tops` finds these critical points by Newton's method:

# %% Find the tops before the end
at_tops, highest, higher = [], [], 0  # negative eigenvalues; higher tops
for (problem, _), row in zip(toys, followed, strict=True):
    for b in row:
        minima = b.curve.folds[0] if b.folds else len(b.delta)
        found = tops(problem, b)
        at_tops += [top.negative for top in found if top.place < minima]
        if b.end == ENDS[0]:
            above = [t for t in found if t.loss > 1.001 * b.loss[-1].item()]
            higher += bool(above)
            if not b.folds:
                at_end = saddles[[c is b for c, _ in reached].index(True)]
                one = max(above, key=lambda top: top.loss, default=None)
                highest.append(at_end if one is None else one.negative)
print("negative eigenvalues at tops before the end:", *(at_tops or "–"))

# %%
claims.check("P2.saddle_on_path", highest or 1.0, n=len(highest))
claims.check("P2.weak_at_top", at_tops or 0.0, n=len(at_tops))
unseen = len(reached) * share(0, max(1, len(reached)))[2]  # expected, at most
claims.check(
    "P2.higher_before",
    float(higher),
    interval=(higher, higher + unseen),  # those seen exist
    n=len(reached),
)

# %% Numbers for the text
figures.numbers(
    higher=higher, tops=len(at_tops), tops_most=max(at_tops, default=0)
)

# %% [markdown]
# In this run a top before it is higher on {glue:text}`higher` of the {glue:text}`at_point` curves that end at a permutation point; minima of all curves meet {glue:text}`tops` tops, where at most {glue:text}`tops_most` eigenvalues are negative. In the recorded run there is no higher top on [[n(P2.higher_before)]] curves, too few to exclude one.
#
# :::{prf:corollary} Where a path ends the plateau is critical
# :label: cor-ends-flat
# Let $g$ and the loss be smooth. At a permutation point that ends a path of constrained minima with bounded output weights, for any number of outputs, all $a_0 + a_1 = c$ are critical points, and the Hessian has at least $n_{k+1}$ zero eigenvalues, as P, section 4.2 (i) states. The smaller network need not be a strict minimum.
# :::
#
# :::{prf:proof}
# While $\vartheta_0 = \vartheta_1$, function and loss depend on $a_0 + a_1$ only, and the gradient is $a_0^\top J$ in $\vartheta_0$, $a_1^\top J$ in $\vartheta_1$ and 0 elsewhere, as the smaller network is critical. $J = 0$ by {prf:ref}`thm-ends`, 1, whose proof needs of the limit no more than gradient 0 and a Hessian $\succeq 0$. So this plane, of dimension $n_{k+1}$, consists of critical points, and in its directions the Hessian vanishes.
# :::
#
# ### The signs of the output weights
#
# :::{prf:proposition} The signs of the output weights
# :label: prop-signs
# Let there be one output. On a curve of constrained critical points with finite weights $a_0$ and $a_1$ change their signs only at critical points of the loss itself. So let such a curve start at a minimum and meet no other critical point of the loss before its end. If $a_0 a_1 > 0$ at its start, it does not end at a
# network with a derivative neuron, $A \ne 0$; if $a_0 a_1 < 0$, it does not end at a permutation point with $c \ne 0$, $a_0 = a_1 = \frac c2$.
# :::
#
# :::{prf:proof}
# At fixed distance $\delta > 0$ $\nabla L = \nu\, \nabla \|\vartheta_1 - \vartheta_0\|$ with a number $\nu$. So $a_0 \sum_\mu r_\mu g'(\vartheta_0 \cdot z_\mu)\, z_\mu = \nabla_{\vartheta_0} L = -\nu e$: where $a_0 = 0$, $\nu = 0$, and with it $\nabla L = 0$. The same holds for $a_1$. At a permutation
# point $a_0 a_1 \to \frac{c^2}4 > 0$, at a derivative neuron $\frac{c^2}4 - \frac{A^2}{\delta^2} \to -\infty$.
# :::
#
# That is what tells the two teachers of {numref}`fig-two-neurons` apart. A tanh neuron is the same with all its weights negated; of the two ways to write a pair, only the one with $a_0 a_1 > 0$ can lead straight to a permutation point.
#
# ### Where weights diverge
#
# Most curves stop where some weights have grown beyond bounds, at a distance $\delta^* > 0$. Let there be one output, and biases at the hidden neurons and at the output. Where output weights grow, three limits are seen, in which the function converges and other coordinates stay finite:
#
# 1. two neurons become a derivative neuron: $\vartheta_{i,j} = \vartheta \mp \frac u2 v$ and $a_{i,j} = \frac c2 \mp \frac1u$ contribute $c\, g(s) + (v \cdot z)\, g'(s)$ as $u \to 0$ (for tanh neuron $j$ also with all its weights negated);
# 2. one of the pair becomes linear (elsewhere $b$ would drop out): $\vartheta = (uw, b)$, $a = \frac1u$ and the bias $\beta - \frac1u g(b)$ of the output contribute $\beta + g'(b)\, w \cdot x$;
# 3. a tanh neuron outside the pair becomes an *exponential neuron*: with $a = \frac1u$, the bias $b = \frac12 \log \frac2{uE}$ and $\beta - \frac1u$ at the output,
#
# $$
# \frac{\tanh(w \cdot x + b) - 1}u + \beta = \beta - \frac{E e^{-2 w \cdot x}}{1 + \frac12 u E e^{-2 w \cdot x}} .
# $$
#
# In 1 the sign of $u$ does not matter if both neurons are outside the pair, or are the pair itself with one of the two negated, so that its distance is $2 \|\vartheta\|$; put $\tau = u^2 \ge 0$. In 3 $\tau = u \ge 0$, for $b$ is real ($a < 0$: negate both sides). In these cases $\tau = 0$ is a *boundary*. In 1 if the derivative neuron takes one of the pair and a third neuron, the constraint names only one of the two, and in 2 the output weight $\frac1u$ may have either sign: there so may $\tau = u$, and $\tau = 0$ is a *passage*.
#
# :::{prf:theorem} Where weights diverge
# :label: thm-diverge
# Let there be one output and biases at the hidden neurons and the output, $g$ smooth, $\Lambda(y, \tau; \delta)$ the loss at distance $\delta$ in $\tau$ and other coordinates $y$, near $(y^*, 0; \delta^*)$. Let $y(\delta)$ be a minimum of $\Lambda(\cdot, 0; \delta)$ with positive definite Hessian, $\varphi(\delta) = \partial_\tau \Lambda(y(\delta), 0; \delta)$,
# $\varphi(\delta^*) = 0 \ne \varphi'(\delta^*)$, and $k = \Lambda_{\tau\tau} - \Lambda_{\tau y} \Lambda_{yy}^{-1} \Lambda_{y\tau} > 0$ there. For every $\delta$ near $\delta^*$ there is exactly one local minimum nearby.
#
# 1. At a boundary it has $\tau = -\frac{\varphi'(\delta^*)}k (\delta - \delta^*) + O((\delta - \delta^*)^2)$ where $\varphi(\delta) < 0$. Where $\varphi(\delta) \ge 0$ it has $\tau = 0$, and no network with finite weights nearby is a minimum. The loss of the minimum is $C^1$ in $\delta$.
# 2. At a passage it has this $\tau$ on both sides. Beyond $\delta^*$ the weights are finite again, and those that diverged have changed their signs.
#
# So $|\delta - \delta^*|\, a^2 \to k / |\varphi'(\delta^*)|$ at a boundary with a derivative neuron, and $|\delta - \delta^*|\, |a| \to k / |\varphi'(\delta^*)|$ at one with an exponential neuron and at a passage.
# :::
#
# :::{prf:proof}
# The limits are Taylor's formula and $\tanh s = 1 - 2 e^{-2s} / (1 + e^{-2s})$ with $2 e^{-2b} = uE$; they are smooth in $u$, and what is even in $u$ is smooth in $u^2$. Solve $\Lambda_y = 0$ for $y(\tau, \delta)$ by the implicit function theorem. Local minima nearby are
# those of $\lambda(\tau; \delta) = \Lambda(y(\tau, \delta), \tau; \delta)$, which has $\lambda_\tau(0; \delta) = \varphi(\delta)$ and $\lambda_{\tau\tau} = k + o(1) > 0$, so that $\lambda_\tau$ has exactly one zero, $\tau = -\varphi(\delta)/k + O(\varphi^2)$. If $\tau$ may have either sign, or if this zero is positive, it is the minimum; else $\lambda$ increases on $\tau \ge 0$, and its minimum is at $\tau = 0$.
# The least value is $\lambda(0; \delta) - \varphi^2/2k + O(\varphi^3)$ or $\lambda(0; \delta)$. At a derivative neuron $a^2 = u^{-2} (1 + O(u))$; else $|a| = |u|^{-1}$ or $|u|^{-1} + O(1)$.
# :::
#
# If $\Lambda_{yy}$ is only regular and $k \ne 0$, the same holds for critical points, as after a fold, with $|k|$ in the last line and, at a boundary, on the side where $\varphi k < 0$. To test this, Newton's method looks for the limit itself, at $\tau = 0$, from the last point of a curve (`find_limit` of this chapter's module); the distance $\delta^*$ and $d\tau/d\delta = -\varphi'/k$ that it finds are compared with a cubic through the last points of the curve:

# %% Find the limits without the curves
limits = [
    (b, find_limit(problem, b))
    for (problem, _), row in zip(toys, followed, strict=True)
    for b in row
    if b.end == ENDS[2]
]
unbounded = [(b, end) for b, end in limits if end.kind != LIMITS[3]]
seen = [seen_limit(b, end.tau) for b, end in unbounded]  # δ* and dτ/dδ
places = [end.delta / s[0] for (_, end), s in zip(unbounded, seen, strict=True)]
hit = [abs(place - 1) < 0.01 for place in places]  # no limit: nan
rates = [end.rate / s[1] for (_, end), s in zip(unbounded, seen, strict=True)]
rates = [rate for rate, ok in zip(rates, hit, strict=True) if ok]
print("first ratios of δ*:   ", *([f"{x:.6f}" for x in places[:5]] or "–"))
print("first ratios of dτ/dδ:", *([f"{x:.4f}" for x in rates[:5]] or "–"))

arrivals = [
    (problem, b)
    for (problem, _), row in zip(toys, followed, strict=True)
    for b in row
    if b.end in ENDS[:2]
]
kept = []  # whether the signs are right, where ∇L ≠ 0 on the way
for problem, b in arrivals:
    e = b.theta[:, TANH.incoming(1, 1)] - b.theta[:, TANH.incoming(1, 0)]
    slope = problem.gradient_and_hessian(b.theta)[0][:, TANH.incoming(1, 1)]
    multiplier = (slope * e).sum(dim=1)[1:]  # νδ
    if (multiplier > 0).all() or (multiplier < 0).all():
        kept.append((b.end == ENDS[0]) == bool(b.outgoing[0].prod() > 0))

# %%
claims.check("P2.limits", float(np.mean(hit or [1.0])), n=len(hit))
gap = float(np.median(np.abs(np.subtract(rates, 1)))) if rates else 0.0
claims.check("P2.limit_law", gap, n=len(rates))
claims.check("P2.signs", float(len(kept) - sum(kept)), n=len(kept))

# %% Plot the laws
figure, axis = figures.panels(height=3.9)
shades = dict(zip(LIMITS, ("red", "blue", "orange"), strict=False))
for (b, end), ok in zip(unbounded, hit, strict=True):
    off = (b.delta / end.delta - 1).abs()
    last = slice(int(b.curve.folds[-1]) + 1 if b.folds else 1, None)
    larger = b.outgoing.abs().amax(dim=(1, 2))
    outer = TANH.split(b.theta)[1][0][:, 0].abs().amax(dim=1)
    if ok:
        axis.plot(off[last], outer[last], color=f"book:{shades[end.kind]}", lw=1)
for kind, shade in shades.items():
    axis.plot([], [], color=f"book:{shade}", label=kind)
line = torch.logspace(-7, -1, 2)
for power, style in (("-1", ":"), ("-0.5", "--")):
    name = rf"$|\delta - \delta^*|^{{{power}}}$"
    axis.plot(line, line ** float(power), style, color="book:black", label=name)
axis.set(xscale="log", yscale="log", ylim=(0.5, 300), xlim=(1, 1e-7))
axis.set_xlabel(r"$|\delta - \delta^*|/\delta^*$")
axis.set_ylabel("largest output weight")
figures.show("fig_diverge", figure, legend=3)
named = {kind: sum(end.kind == kind for _, end in limits) for kind in LIMITS}

# %% [markdown]
# :::{glue:figure} fig_diverge
# :alt: The largest output weight against the distance from the limit, in logarithmic scales, one line for each curve. Lines of curves that end at an exponential neuron or a passage rise with slope minus one, those that end at a derivative neuron at a boundary with slope minus one half.
#
# Largest output weight on the last piece of each curve against the distance from its limit, $\delta^*$ found at the limit alone; dotted and dashed: the slopes of {prf:ref}`thm-diverge` (profile {glue:text}`profile`).
# :::
#
# On {glue:text}`len(unbounded)` of the {glue:text}`counts[ENDS[2]]` curves output weights diverge (at the end one exceeds every entry of a parameter vector). By which of them do so, {glue:text}`named[LIMITS[0]]` approach a derivative neuron at a boundary, {glue:text}`named[LIMITS[2]]` an exponential neuron and {glue:text}`named[LIMITS[1]]` a passage, where only the coordinates end; for {glue:text}`sum(hit)` of the {glue:text}`len(unbounded)` the limit itself is found. On the other {glue:text}`named[LIMITS[3]]` the parameter vector of a neuron grows
# with a bounded output weight: it becomes a step, whose size finite data do not see; if it is one of the pair, as on {glue:text}`len(falls)` of them, $\delta$ grows, too. Of the {glue:text}`len(arrivals)` curves that reach $\delta \to 0$, {glue:text}`len(kept)` meet no critical point of the loss on the way, and their ends are those of {prf:ref}`prop-signs`.
# That output weights diverge where two neurons become a derivative neuron is {cite:t}`martinelli2025`'s; the place, the laws at a positive distance and the other limits are added here.
#
# :::{prf:proposition} A step neuron
# :label: prop-step
# Let $g = \tanh$, with finitely many samples. On a curve of constrained critical points let the parameter vector of neuron $i$ grow, $\vartheta_i = R v$, $R \to \infty$, in a direction $v \to v^*$ with $v^* \cdot z_\mu \ne 0$ for all samples, and let all other weights converge, $a_i$ among them. Then the outputs tend to those of a network in which neuron $i$ is a *step*, $a_i \operatorname{sign}(v^* \cdot z)$. If $i$ is not of the pair and $\delta$ stays away from 0, that network is a constrained critical point in its other weights. If $i$ is of the pair,
# $\delta \to \infty$, $\frac{dL}{d\delta} = O(e^{-2 m R})$ for every $m < \min_\mu |v^* \cdot z_\mu|$, and that network is a critical point of the loss itself.
# :::
#
# :::{prf:proof}
# $\tanh(R\, v \cdot z_\mu) - \operatorname{sign}(v^* \cdot z_\mu)$ and $\tanh'(R\, v \cdot z_\mu)$ are $O(e^{-2mR})$. So outputs and derivatives of the loss by the other weights converge to those of that network, and $\nabla_{\vartheta_i} L = O(e^{-2mR})$. On the curve $\nabla L = \nu\, \nabla \|\vartheta_1 - \vartheta_0\|$ with $\nu = \frac{dL}{d\delta}$, which for $i$ of the pair says $|\nu| = \|\nabla_{\vartheta_i} L\| \to 0$. With $\nu$ all of the gradient vanishes.
# :::
#
# If the step settles on a sample, $v^* \cdot z_\mu = 0$ there, and the proposition does not apply. The limit has one neuron fewer if $a_i \to 0$ or the step is constant on the data. That the other weights converge is a hypothesis; for a neuron outside the pair it is open how $R$ grows with $\delta$. Where it is of the pair:

# %% Look at curves on which a neuron becomes a step
diverged = [
    (problem, b)
    for (problem, _), row in zip(toys, followed, strict=True)
    for b in row
    if b.end == ENDS[2]
]
falls, outer_end = [], []  # ‖∇L‖ at the end over its largest; a_i
for (problem, b), (_, end) in zip(diverged, limits, strict=True):
    (W, bias), (a, _) = TANH.split(b.theta[-1])
    i = int(torch.hypot(W.norm(dim=1), bias).argmax())
    if end.kind == LIMITS[3] and i < 2:  # a step, of the pair
        slopes = problem.gradient_and_hessian(b.theta)[0].norm(dim=1)
        falls.append((slopes[-1] / slopes.max()).item())
        outer_end.append(a[0, i].item())
print("gradient at the end over its largest:", *(f"{x:.0e}" for x in falls))
print("output weights of the steps:", *([f"{a:.4f}" for a in outer_end] or "–"))

# %%
claims.check("P2.steps", float(np.median(falls)) if falls else 0.0, n=len(falls))

# %% [markdown]
# ### Several outputs
#
# With three outputs $J \ne 0$ at all but special points, and by {prf:ref}`thm-ends`, 1, no curve of minima ends at such a permutation point.

# %% Follow networks with three outputs
THREE = MLP((2, 5, 3), "tanh")
three = branches([toy(THREE, 50 + k) for k in range(2)], steps=budget)
three_counts = {n: sum(b.end == n for row in three for b in row) for n in ENDS}
print(", ".join(f"{name} {n}" for name, n in three_counts.items()))
at_points = three_counts[ENDS[0]]

# %%
small_distance = sum(three_counts[name] for name in ENDS[:2])
claims.check("P2.three_outputs", float(at_points), n=small_distance)

# %% [markdown]
# Of {glue:text}`sum(three_counts.values())` curves {glue:text}`at_points` end at a permutation point, {glue:text}`three_counts[ENDS[1]]` at a derivative neuron, on {glue:text}`three_counts[ENDS[2]]` weights diverge before, and {glue:text}`three_counts[ENDS[3]]` have not ended.
#
# So P, section 4.2 (i), read of the points that paths reach, is true for any number of outputs and smooth activations ({prf:ref}`cor-ends-flat`), but with several outputs no path was found that reaches one; read of all points made by doubling a neuron, it is not true ([](22_permutation_points.ipynb)). Made for this purpose, networks with three outputs and $J = 0$: the targets are $f + r$, with $r$ orthogonal to $1$, to each $g(s_i)$ and to each entry of $g'(s_i) z$.


# %% Make networks with no J
def without_J(seed: int) -> list[PermutationPoint]:
    """The neurons of a minimum with J = 0 and a positive loss, doubled."""
    small, x = MLP((2, 3, 3), "tanh"), normal((60, 2), seed, "inputs")
    theta, one = small.initial(1, seed)[0], torch.ones(60, 1).double()
    (W, b), _ = small.split(theta)
    z, g = torch.cat([x, one], dim=1), (x @ W.T + b).tanh()
    slopes = [(1 - g[:, [i]] ** 2) * z for i in range(3)]  # g'(s_i) z
    Q = torch.linalg.qr(torch.cat([one, g, *slopes], dim=1)).Q
    r = normal((60, 3), seed, "residuals")
    y = small.forward(theta, x) + 0.01 * (r - Q @ (Q.T @ r))
    return double_neurons(small, theta, x, y)


flat = [p for k in range(10) for p in without_J(seed + 100 + k)]
zeros, critical, lowest = [], [], []
for p in flat:
    over = hessian(p.small_loss, p.small_theta)
    lowest.append(torch.linalg.eigvalsh(over)[0].item())
    zeros.append(int(inertia(hessian(p.loss, p.theta), tol=1e-9).zero))
    at_0 = gradient(p.loss, p.shared(torch.zeros(3).double()))
    units = [gradient(p.loss, p.shared(a)) for a in torch.eye(3).double()]
    linear = torch.stack(units) - at_0  # the gradient is affine in a_0
    critical.append(3 - int((torch.linalg.svdvals(linear) > 1e-9).sum()))
print("largest entry of J:", f"{max(p.J.abs().max() for p in flat):.0e}")
print("least eigenvalue of the smaller networks:", f"{min(lowest):.0e}")
for count, points in Counter(zeros).items():
    print(f"zero eigenvalues: {count} at {points} points")

# %%
claims.check("P3.zero_reached", zeros, n=len(zeros))
claims.check("P4.plateau_reached", critical, n=len(critical))

# %% [markdown]
# ### Gradient and tangent
#
# That the gradient is normal to the surface, at the points of {claim}`P2.tangent`:

# %%
claims.check(
    "P2.normal", [c.item() for c in with_normal] or 1.0, n=len(with_normal)
)

# %% [markdown]
# On the last piece of the paper's path, where the two are equal and their output weights are shifted, the tangent lies in the output weights and the gradient, $a_0^\top J$ and $-a_0^\top J$ ({prf:ref}`cor-plateau`), in the parameter vectors: they are orthogonal, unless $J = 0$.
#
# ### A budget of descent
#
# How far does plain gradient descent come with {glue:text}`descent` steps at each of 25 distances? The end is compared with the smaller network, minimised from there.


# %% Descend with a budget
def descend_closer(loss, net: MLP, theta, steps: int) -> torch.Tensor:
    """Descent at 25 distances δ_0, …, δ_0/10⁴ of each pair; θ at the last."""
    chart = PairChart(net, 1, "paper")  # ϑ_1 = ϑ_0 + δe
    pairs = [chart.bring_forward(theta, *pair) for pair in PAIRS]
    phi = chart.coordinates(torch.stack(pairs))
    first = phi[:, -1]  # δ_0
    for ratio in torch.logspace(0, -4, 25, dtype=torch.float64):
        phi = chart.closer(phi, ratio * first)
        for _ in range(steps):
            phi = phi - 0.05 * gradient(ChartLoss(loss, chart), phi)
        phi = chart.unit(phi)
    return chart.weights(phi)


problem, theta = toys[0]
last = descend_closer(problem, TANH, theta, descent)
small, start = reduce_pair(TANH, last, layer=1)
merged = squared_loss(small, problem.x, problem.y)
end = minimise(merged, start, 300, tol=1e-9, radius=0.1)
excess = problem.loss(last) / end.loss - 1
excess = excess[end.converged]

# %%
lag = excess.median().item() if len(excess) else 0.0
claims.check("P2.budget", lag, n=len(excess))

# %% [markdown]
# So P's “until convergence” matters: a budget ends above the permutation point. The gradient in $a_1 - a_0$ is proportional to $\delta$, and descent moves along it ever more slowly, which also hides derivative neurons.
#
# ### ReLU: what Fig. 1 shows
#
# :::{prf:proposition} Zero loss at every distance
# :label: prop-scale
# Let $g(ts) = t\,g(s)$ for $t > 0$, as for ReLU. From a minimum of loss 0, multiply $\vartheta_0$ and $\vartheta_1$ by $t$ and divide $a_0$ and $a_1$ by $t$.
#
# 1. The function and the loss 0 stay, and the distance becomes $t\,\delta_0$. So for every $\delta > 0$ the minimum of the loss at distance $\delta$ is 0.
# 2. If the loss is smooth near these minima and its Hessian vanishes only along their set, gradient flow until convergence, at distances that decrease in small enough steps, stays at loss 0.
# 3. The largest eigenvalue of the Hessian at fixed distance is at least $\omega / t^2$ there, with $\omega$ the largest one of $\langle (a_0\, g'(s_0) + a_1\, g'(s_1))^2 z z^\top \rangle$ at $t = 1$, if the loss is half the mean square.
#    So gradient descent with a fixed step $\eta$ does not stay once $t^2 < \eta \omega / 2$.
# :::
#
# :::{prf:proof}
# *1* is $a\,g(t \vartheta \cdot z)/t = a\,g(\vartheta \cdot z)$.
#
# *2.* On the family the distance has derivative $\delta_0 \ne 0$ by $t$, so that the set of minima crosses the
# surfaces of constant distance transversally, and near the last point there is a minimum of loss 0 on the next surface. There the loss grows quadratically off the set, and
# the flow from nearby ends on it.
#
# *3.* At loss 0 the Hessian is $\langle \partial f\, \partial f^\top \rangle$, and if both parameter vectors move by $v$, which keeps the distance, $f$ changes by $\frac1t (a_0\, g'(s_0) + a_1\, g'(s_1))\, v \cdot z$. Descent leaves a minimum with $\eta\, \lambda_{\max} > 2$.
# :::
#
# P's caption says that “full batch gradient descent on the loss $L$ was performed until convergence”, with the output weights free. Two readings, recorded; the first counts:
#
# | “until convergence” | Does the loss rise? | Loss at $\delta_0/10^4$ |
# | --- | --- | --- |
# | descent with a fixed step, however long | [true](#P1.rises) | [[P1.rises:.1e]] (median of [[n(P1.rises)]] pairs) |
# | the limit of gradient flow | [false](#P1.rises_converged) | [[P1.rises_converged]], 0 but for rounding |
#
# From one teacher at 25 distances, with {glue:text}`descent` steps at each of them and with four times as many:

# %% Descend from a ReLU teacher
theta = RELU.initial(1, seed + 100)[0]
x = normal((relu_inputs, 2), seed + 100, "inputs of the toy")
loss = squared_loss(RELU, x, RELU.forward(theta, x))
zero = []
for t in (1, 0.1, 0.01, 0.001, 1e-4):  # distance t δ_0
    scaled = theta.clone()
    scaled[torch.cat([RELU.incoming(1, 0), RELU.incoming(1, 1)])] *= t
    scaled[torch.cat([RELU.outgoing(1, 0), RELU.outgoing(1, 1)])] /= t
    zero.append(loss(scaled).item())
ends = []  # median loss at δ_0/10⁴
for steps in (descent, 4 * descent):
    last = loss(descend_closer(loss, RELU, theta, steps))
    ends.append(last.median().item())
    print(f"{steps} steps, ten pairs:", *(f"{x:.6f}" for x in last.tolist()))
print(
    f"largest loss as two neurons shrink and output weights grow: {max(zero):.0e}"
)

# %% Check P1.scale, P1.rises in two readings, and P1.heights
claims.check("P1.scale", zero)
claims.check("P1.rises", min(ends), n=len(PAIRS))
claims.check("P1.rises_converged", max(zero), n=len(zero))
low, high = min(ends) / 16, max(ends) * 16  # half the weights, and twice
claims.check("P1.heights", max(ends), interval=(low, high), n=len(PAIRS))

# %% [markdown]
# P does not say from which law the teacher of Fig. 1 was drawn. With $s$ times the weights in both layers its outputs are $s^2$ times as large and the losses $s^4$ times; half and twice our weights already give a range of 256. So no run decides the heights in the figure.
#
# The figure shows what holds at one scale, so we keep the scale fixed: the penalty $\frac18 \sum_i (\|\vartheta_i\|^2 - 1)^2$ is added to the loss. For ReLU it costs nothing, as the norms may be chosen, and keeps
# the permutation point. The empirical loss of a ReLU network is piecewise smooth, with a kink where an input crosses a neuron's line. We follow $g_h(s) = \frac12 (s + \sqrt{s^2 + h^2})$, which differs from ReLU by at most $h/2$
# and whose constrained minima are smooth, at $h = 0.03$; and where numbers are compared, minimise the merged network with $h \to 0$.


# %% Merge all pairs of ReLU networks
def relu_toy(number: int) -> tuple[Shallow, torch.Tensor]:
    """The rounded loss with ‖ϑ_i‖ = 1, and the teacher."""
    theta = equal_norms(RELU, RELU.initial(1, seed + number)[0])
    x = normal((relu_inputs, 2), seed + number, "inputs of the toy")
    y = Shallow(RELU, x, x[:, :1], rounded_relu(0.03)).output(theta)
    return Shallow(RELU, x, y, rounded_relu(0.03), pin=1.0), theta


relu_toys = [relu_toy(100 + k) for k in range(relu_teachers)]
merged, chart = [], PairChart(RELU, 1)  # ten merged networks a toy
for problem, theta in relu_toys:
    pairs = [chart.bring_forward(theta, *pair) for pair in PAIRS]
    small, start = reduce_pair(RELU, torch.stack(pairs), layer=1)  # 2-4-1
    target = RELU.forward(theta, problem.x)
    merged.append(relu_minima(small, start, problem.x, target))  # h → 0

# how many of the ten merged losses are different, against the tolerance
different, same_function = [], []
for (problem, theta), end in zip(relu_toys, merged, strict=True):
    ok, values = end.settled(1e-3), end.loss
    tolerances = (1e-2, 1e-3, 1e-4)
    clusters = [count_different(values[ok], tol) for tol in tolerances]
    print(f"{int(ok.sum())} of ten settled; different losses:", *clusters)
    different.append((clusters[1], int(ok.sum())))
    f = small.forward(end.theta, problem.x)[..., 0]  # (10, T)
    error = (f - RELU.forward(theta, problem.x)[:, 0]).norm(dim=1)
    for i, k in combinations(torch.nonzero(ok)[:, 0].tolist(), 2):
        if abs(values[i] / values[k] - 1) < 1e-3:
            same_function.append(((f[i] - f[k]).norm() / error[i]).item())
both = sum(1 < count < n for count, n in different)  # some equal, some not

# %%
claims.check("P1.same_loss", float(both), n=relu_teachers)
near = float(np.median(same_function)) if same_function else 0.0
claims.check("P1.same_configuration", near, n=len(same_function))

# %% Follow the curves of one ReLU network
# the branches of one toy, and the smaller networks at their ends
problem, teacher = relu_toys[0]
arcs = follow_pairs(problem, teacher, PAIRS, steps=budget)
relu_ends = [sum(b.end == name for b in arcs) for name in ENDS]
at_point = torch.tensor([b.end == ENDS[0] for b in arcs])
last = torch.stack([b.theta[-1 if b.end == ENDS[0] else 0] for b in arcs])
small, start = reduce_pair(RELU, last, layer=1)
rounded = Shallow(small, problem.x, problem.y, problem.g, pin=1.0)
end = minimise(rounded, start, 300, 1e-10, radius=0.1)
# the Hessian where a branch ends: the rounded loss, norms held at 1
relu_index = []
for k in torch.nonzero(at_point & end.converged)[:, 0].tolist():
    _, doubled = embed(small, end.theta[k], layer=1, neuron=0)
    H = hessian(problem, doubled[None])[0]
    relu_index.append(int(inertia(H, tol=1e-9).negative))
print("negative eigenvalues where a branch ends:", *(relu_index or "–"))

# A, B: two pairs with one permutation point; C: a pair with another one
usable = torch.nonzero(end.converged)[:, 0]
nearest = torch.stack([(b.delta / b.delta[0]).min() for b in arcs])
nearest = nearest - at_point.double()  # these first, then by distance
usable = usable[nearest[usable].argsort()]
twins = [
    (int(i), int(k))
    for i, k in combinations(usable, 2)
    if abs(end.loss[i] / end.loss[k] - 1) < 1e-3
]
pair_of_twins = twins[0] if twins else (0, 1)
others = (end.loss / end.loss[pair_of_twins[0]] - 1).abs() > 1e-2
others = [int(k) for k in usable if others[k]] or [2]
chosen = [*pair_of_twins, others[0]]

# %% Check P3.first_order with ReLU
first_order_relu = float(relu_index.count(1))
claims.check("P3.first_order_relu", first_order_relu, n=len(relu_index))


# %% Plot three pairs of a ReLU toy, and numbers for the text
def directions(net: MLP, theta: torch.Tensor) -> np.ndarray:
    """W/b of every neuron, cut at ±4, (n, 2)."""
    (W, b), _ = net.split(theta)
    return (W / b[:, None]).clamp(-4, 4).numpy()


figure, axes = figures.panels(3, 2, height=3.4)
for name, (above, below), k in zip("ABC", axes.T, chosen, strict=True):
    drawn = (
        (directions(RELU, teacher), "book:black", "teacher"),
        (directions(small, end.theta[k]), "book:green", "merged"),
    )
    for tips, colour, label in drawn:
        above.plot(*tips.T, "o", color=colour, label=label)
        rays = np.stack([0 * tips, tips])  # from the origin, (2, n, 2)
        above.plot(rays[..., 0], rays[..., 1], color=colour, linewidth=0.8)
    above.set(xlim=(-4.3, 4.3), ylim=(-4.3, 4.3))
    above.set(xlabel="$W_{i1}/b_i$", ylabel="$W_{i2}/b_i$")
    b = arcs[k]
    below.plot(b.delta[1:] / b.delta[0], b.loss[1:], color="book:black", lw=1.2)
    below.plot(b.delta[-1] / b.delta[0], b.loss[-1], "o", color=colours[b.end])
    if end.converged[k]:
        level = end.loss[k].item()
        below.axhline(level, color="book:green", linestyle="--", lw=1.5)
    top = 1.3 * max(b.loss.max().item(), end.loss[k].item())
    below.set(xscale="log", xlim=(2, 0.2e-4), ylim=(0, top))
    below.ticklabel_format(style="sci", axis="y", scilimits=(0, 0))
    below.set(xlabel=r"distance $\delta/\delta_0$", ylabel="loss")
    one, other = PAIRS[k]
    above.set_title(f"{name}: neurons {one + 1} and {other + 1}")
    below.set_title(f"{name}: the branch")
figures.show("fig_toy", figure, legend=3)
figures.numbers(
    different=", ".join(str(count) for count, _ in different),
    settled=", ".join(str(n) for _, n in different),
)

# %% [markdown]
# :::{glue:figure} fig_toy
# :alt: Three pairs of a ReLU network. First row, the weight vectors divided by their biases, of the teacher and of the merged network; A and B show the same merged network, C another one. Second row, the loss along the curve of each pair against the distance, with the loss of the minimised merged network as a dashed line.
#
# P, Fig. 1 with $\|\vartheta_i\|$ held at 1 and rounded ReLU, $h = 0.03$: two pairs with one configuration (A, B) and one with another (C). Rays: weight vectors over biases (cut at ±4). Curves: loss along the curve of
# the pair, with a dot at its end or where the budget ends (colours as in {numref}`fig-merge`); dashed, the merged network, minimised from the end of the curve, or from the pair's mean where the curve ends elsewhere ({glue:text}`relu_inputs` inputs, profile {glue:text}`profile`).
# :::
#
# Of the ten curves of this network {glue:text}`relu_ends[0]` end at a permutation point, {glue:text}`relu_ends[1]` at a derivative neuron, and {glue:text}`relu_ends[2] + relu_ends[3]` diverge or have not ended
# within the budget of steps; points with exactly one negative eigenvalue: {glue:text}`relu_index.count(1)` ({claim}`P3.first_order_relu`). The merged networks of all networks, {glue:text}`settled` of ten minimised to a change below $10^{-3}$, have {glue:text}`different` different losses: some pairs end at one configuration, others at different ones, as the paper says.
#
# ### The lowest permutation point
#
# P, section 4.2 remarks that the lowest permutation point would connect all minima. That is true whenever a path from the teacher reaches it: the exchange of any two neurons at its loss ([](22_permutation_points.ipynb)) leads to permuted copies of the point, and the
# permuted path leads down to the permuted minimum. For the tanh curves that end at a permutation point, and an exchange with each other neuron:

# %% Go from the teacher to its copies over each point
excess, joints = [], []  # of the whole path, over the branch alone
for b, point in reached:
    for other in (2, 3, 4):
        across = equal_loss_exchange(TANH, point.theta, 1, other)
        back = TANH.swap(b.theta, 1, 1, other).flip(0)  # the permuted branch
        whole = torch.cat([b.theta, across, back])
        top = point.loss(whole).max() / point.loss(b.theta).max()
        excess.append(abs(top.item() - 1))
        far = (back[-1] - b.theta[0]).norm()
        apart = (across[0] - b.theta[-1]).norm(), (back[0] - across[-1]).norm()
        joints.append((max(apart) / far).item())
print("gaps where the three pieces join:", *([f"{x:.5f}" for x in joints] or "–"))

# %%
claims.check("P2.lowest", (excess + joints) or 0.0, n=len(excess))

# %% [markdown]
# This way costs the largest loss on the curve, which is that of the point only where the curve has no higher maximum before. It is an upper bound for the price of an exchange: another path may be lower. P calls such paths “low-loss” and gives no bound; how low they are in trained networks is measured in [](24_deep_merge.ipynb) and [](52_permutation_saddles_on_mnist.ipynb).
#
# ### Exercises
#
# :::{exercise}
# The first visible cell prints how far the pair is from its limit. Why does this fall by a factor of about 100 when $\delta$ falls by 10?
# :::
#
# :::{solution}
# With $h = \frac\delta2 e \cdot z$, Taylor's formula gives
#
# $$
# \begin{aligned}
# \tfrac12 [g(s + h) + g(s - h)] &= g(s) + \tfrac12 h^2 g''(s) + \dots , \\
# \tfrac1{2h} [g(s + h) - g(s - h)] &= g'(s) + \tfrac16 h^2 g^{(3)}(s) + \dots
# \end{aligned}
# $$
#
# Both errors are of order $\delta^2$.
# :::
#
# :::{exercise}
# Let $D$ have the simple negative eigenvalues $\kappa_1 < \kappa_2 < \dots < \kappa_p$, all of them, with one output. Which curves of constrained critical points end at the permutation point with bounded output weights, and how many negative directions
# at fixed $\delta$ has each?
# :::
#
# :::{solution}
# By the expansion in the proof of {prf:ref}`thm-ends`, stationary points of $\lambda (1 - \lambda)\, e^\top D e$ have $\lambda = \frac12$ and an eigenvector $e_i$, since $e^\top D e \ne 0$. The second derivative in $\lambda$ is $-\delta^2 \kappa_i > 0$. On the sphere
# $e^\top D e$ falls from $e_i$ towards $e_1, \dots, e_{i-1}$ and rises towards the others. So for each $i$ a curve ends there along $e_i$ (and its mirror image along $-e_i$), with $L = L_1 + \frac18 \kappa_i \delta^2$ and $i - 1$ negative directions; only the first
# consists of minima.
# :::
#
# :::{try}
# Longer curves: fewer of them have not ended. The verdicts stay; look at {numref}`fig-merge`.
#
#     make chapter NAME=merging_neurons ARGS="-p budget 600"
# :::

# %% Versions and time
print(chapter.end())
