# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Gradient descent reaches the minima slowly: their valley is cubic
#
# *How fast does gradient descent reach the minima of a two-layer network that learns from another, its teacher?*
#
# Slowly. At a minimum every neuron copies a teacher neuron or is zero (proved), and where copies tilt apart the loss grows like the **cube**
# of the distance. So the distance from the minimum falls like the steps to the power **[[Z1.converged:±]]**, hardly faster than one over the steps.
#
# :::{glue:figure} fig_cubic
# :alt: Loss against the tilt of two neurons that copy one teacher neuron, axis from 0. Tilted together, grey: a parabola. Tilted apart, blue: a much flatter curve, like the cube. Marked: on the way of gradient descent the distance is the steps to the power [[Z1.converged:.4f]], as recorded.
#
# Loss when two copies of a teacher neuron tilt away from it, exact: like the square of the tilt if they tilt together, like its cube if they tilt apart and keep their sum.
# :::
#
# **How sure.** The minima and the cube are proved; the speed is measured on [[n(Z1.converged)]] networks ($m = 12$ neurons, $M = 6$ of the teacher, $d = 8$ inputs), recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | the minima “can be analytically characterized” (Lemma 2) | [true, and cubic](#Z1.only) | distance like the loss to the power [[Z1.only:±]] |
# | the closed form of the loss, eqs. (7), (8) | [true](#Z2.monte_carlo) | sampled losses differ by [[100 * Z2.monte_carlo:to]] % |
# | “global minima found by SGD” (sec. 4); here by exact gradient descent | [true in the limit](#Z1.converged) | distance like steps to the power [[Z1.converged:±]] |
#
# **Open.** Nothing.
#
# **For the authors.** Two slips: in the second line of the derivation after (8) the square belongs outside the sum, and “at most $m + 1$ types” should be $M + 1$.

# %% [markdown]
# :::{need}
# You need: linear algebra, gradients and Hessians, expectations over a sphere. No data set: the loss is an exact formula.
# {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $M$, $m$ | neurons of the {term}`teacher <teacher and student>` and of the student |
# | $d$ | input dimension; inputs $x$ are uniform on the unit sphere |
# | $e_j$, $w_i$ | weights of teacher neuron $j$, a unit vector, and of student neuron $i$, row $i$ of the matrix $W$ |
# | $\sigma$ | the ReLU, $\sigma(z) = \max(0, z)$ |
# | $L(W)$ | the loss |
# | $\kappa$, $\theta$ | {term}`arc-cosine kernel <kappa of two rows>`; angle of two weight vectors |
# | $\delta$ | a perturbation of $W$ |
#
# {cite:t}`zhan2025` (Z) study the smallest network in which permutations matter: a ReLU student that learns a teacher with
# orthonormal neurons.

# %% Parameters tags=["parameters"]
networks: int = 100  # networks trained by gradient descent
steps: int = 16_000  # their budget of steps
samples: int = 200_000  # inputs of the Monte Carlo check
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    networks=Integer(2, 100_000),
    steps=Integer(800, 10_000_000),
    samples=Integer(100, 100_000_000),
)

import math

import numpy as np
import torch

from lmc_helpers import claims, figures, seeds
from lmc_helpers.teacher_student import (
    distance_to_minima,
    initial_weights,
    kappa,
    population_gradient,
    population_hessian,
    population_loss,
    sample_minima,
)
from lmc_helpers.teacher_student.gradient_descent import gradient_descent

# %% [markdown]
# ## The loss has a closed form
#
# A *student* $f_W(x) = \sum_{i=1}^m \sigma(w_i \cdot x)$ learns a *teacher*
# $f^*(x) = \sum_{j=1}^M \sigma(e_j \cdot x)$ with $M \le d$ neurons on inputs uniform on the unit sphere of $\mathbb R^d$ (any
# orthonormal neurons become these by a rotation, which leaves the law of the inputs as it is):
#
# $$
# L(W) = \mathbb E_x \bigl( f_W(x) - f^*(x) \bigr)^2. \tag{Z 3}
# $$
#
# For any $m$ and $M$, expanding the square leaves means of products of two ReLUs. They depend on the two norms and on the
# angle $\theta$ only: $\mathbb E\, \sigma(u \cdot x)\, \sigma(v \cdot x) = \|u\| \|v\|\, \kappa(\cos\theta)$ with the
# arc-cosine kernel
#
# $$
# \kappa(t) = \tfrac{1}{2\pi d} \bigl( (\pi - \arccos t)\, t + \sqrt{1 - t^2} \bigr). \tag{Z 8}
# $$
#
# With $\hat u = u/\|u\|$ the loss is
#
# $$
# \begin{aligned}
# L(W) = {}& \sum_{i,i'} \|w_i\| \|w_{i'}\|\, \kappa(\hat w_i \cdot \hat w_{i'}) \\
# & - 2 \sum_{i,j} \|w_i\|\, \kappa(\hat w_i \cdot e_j) \\
# & + M \kappa(1) + M(M - 1)\, \kappa(0).
# \end{aligned}
# $$
#
# In code, for twenty random networks:

# %% Draw twenty random networks
m, M, d = 12, 6, 8
generator = seeds.torch_generator(seed, "W")
W = torch.randn(20, m, d, generator=generator, dtype=torch.float64) / 4

# %%
norms = W.norm(dim=-1)  # (20, m)
units = W / norms[..., None]  # (20, m, d)
cosines = units @ units.mT  # (20, m, m)
k_students = norms[:, :, None] * norms[:, None, :] * kappa(cosines, d)
k_teacher = norms[:, :, None] * kappa(units[..., :M], d)  # (20, m, M)
constant = M * kappa(1.0, d) + M * (M - 1) * kappa(0.0, d)
L = k_students.sum(dim=(1, 2)) - 2 * k_teacher.sum(dim=(1, 2)) + constant  # (20,)

# %% Compare with the loss of the package
exact = population_loss(W, M)  # the same, also at rows that are 0
print(f"first network: L = {L[0]:.6f}, population_loss {exact[0]:.6f}")

# %% [markdown]
# An average over sampled inputs must agree within its error, and must exclude the loss with the misplaced square:


# %% Average over sampled inputs
def monte_carlo(seed: int) -> tuple[float, float]:
    """Mean relative deviation of sampled from exact losses, with its error."""
    generator = seeds.torch_generator(seed, "monte carlo")
    x = torch.randn(samples, d, generator=generator, dtype=torch.float64)
    x = x / x.norm(dim=-1, keepdim=True)  # (samples, d), uniform on the sphere
    teacher = torch.relu(x[:, :M]).sum(dim=-1)  # (samples,), f*
    relative = torch.zeros(samples, dtype=torch.float64)
    for w, loss in zip(W, exact, strict=True):  # the same inputs for all networks
        residual = torch.relu(x @ w.T).sum(dim=-1) - teacher  # f_W − f*
        relative += (residual.square() / loss - 1) / len(W)
    return relative.mean().item(), relative.std().item() / math.sqrt(samples)


value, stderr = monte_carlo(seed)
misplaced = exact - M * (M - 1) * kappa(0.0, d)  # Σ_j σ(x_j)², not (Σ_j σ(x_j))²

# %%
claims.check(
    "Z2.monte_carlo",
    value,
    stderr=stderr,
    n=samples,
    rival=(misplaced / exact - 1).mean().item(),
    second_seed=lambda: monte_carlo(seed + 1),
)

# %% [markdown]
# ## At a minimum every neuron copies a teacher neuron
#
# :::{prf:theorem} Z, Lemma 2, from Lin et al. (2024)
# :label: thm-lemma2
# For $M \le m$, $L(W) = 0$ exactly if every row of $W$ is $0$ or a positive multiple of some $e_j$, $j \le M$, and the
# column sums are $\sum_i w_{ij} = 1$ for $j \le M$.
# :::
#
# :::{prf:proof}
# *If:* $\sigma(\alpha x_j) = \alpha \sigma(x_j)$ for $\alpha > 0$, so $f_W = f^*$. *Only if:* $L(W) = 0$ gives $f_W = f^*$
# on the sphere, hence, both being {term}`positively homogeneous <homogeneous activation>`, on $\mathbb R^d$. The function $\sigma(w \cdot x)$ with
# $w \ne 0$ is not differentiable across the hyperplane $w^\perp$, where its slope jumps by $w$. Add the jumps of all rows
# with the same hyperplane. For a hyperplane other than the $e_j^\perp$, $j \le M$, the sum must vanish: with
# $w_i = \alpha_i v$, the jump across $v^\perp$ is $\sum_i |\alpha_i|\, v$, so there are no such rows. For $e_j^\perp$ it gives
# $\sum_i |w_{ij}| = 1$ over the rows $w_i = w_{ij} e_j$. With $s_j$ the sum of $|w_{ij}|$ over the rows with $w_{ij} < 0$,
# what remains is $f_W - f^* = \sum_j s_j (\sigma(-x_j) - \sigma(x_j))$, which is $-\sum_j s_j x_j$: a linear function, which
# vanishes only without negative rows. *Compact*, as the paper adds: the conditions are closed, as 0 is allowed, and
# all entries lie between 0 and 1.
# :::
#
# So there are at most $M + 1$ kinds of rows. A row on the ray of $e_j$ is said
# to have *type* $j$. Minima sampled in [the next chapter](12_overlap_theorem.ipynb)'s way have an exact loss of
# {glue:text}`max(sampled_loss, 1e-15):≤.0e` or less.
#
# ## Where neurons of one type tilt apart the loss grows like the cube
#
# The smallest case shows it: one teacher neuron, two students. The loss is 0 where both students lie on the
# teacher's ray and add up to it.

# %% Plot the picture at the head of the chapter
ray = torch.tensor([1.0, 0.0], dtype=torch.float64)  # the teacher e₁
tilt = torch.linspace(-0.6, 0.6, 121, dtype=torch.float64)[:, None]
up = tilt * torch.tensor([0.0, 1.0], dtype=torch.float64)  # (121, 2)
figure, axis = figures.panels(height=2.7)
for rows, colour, words, at in (
    (
        torch.stack([ray / 2 + up, ray / 2 + up], 1),
        "grey",
        "together: square",
        0.51,
    ),
    (torch.stack([ray / 2 + up, ray / 2 - up], 1), "blue", "apart: cube", 0.65),
):
    values = population_loss(rows, 1)
    axis.plot(tilt, values, color=f"book:{colour}", linewidth=2)
    style = dict(color=f"book:{colour}", fontweight="bold", va="top")
    axis.text(
        at, 0.195 if colour == "grey" else 0.085, f"tilted {words}", **style
    )
power = claims.recorded("Z1.converged")["value"]
words = f"gradient descent:\ndistance ~ steps$^{{{power:.4f}}}$\n(recorded)"
axis.text(0.65, 0.066, words, color="book:blue", va="top")
axis.set(xlabel="tilt of the two neurons off their ray", ylabel="loss")
axis.set(ylim=(0, 0.2), xlim=(-0.6, 1.5))
axis.set_xticks([-0.5, 0, 0.5])
figures.show("fig_cubic", figure)

# %% [markdown]
# :::{prf:proposition} Quadratic across, cubic along
# :label: prop-cubic
# Let $W$ be a minimum without zero rows. The Hessian of $L$ at $W$ depends on the types of the rows only, not on the
# entries: its block of two rows of the same type is $\tfrac1d I$, that of two rows of types $j \ne j'$ is
#
# $$
# \tfrac1d \bigl( \tfrac12 I + \tfrac1\pi (e_j e_{j'}^\top + e_{j'} e_j^\top) \bigr).
# $$
#
# So it vanishes on the $(m - M)d$-dimensional space of perturbations $\delta$ with $\sum_{i \in \text{type } j} \delta_i = 0$
# for every $j$. If such a perturbation tilts rows off their rays, $L(W + \varepsilon\delta)$ is of order $\varepsilon^3$.
# :::
#
# :::{prf:proof}
# Insert angles $0$ and $\pi/2$ into
#
# $$
# 2\pi d\, \partial_u \partial_v k = (\pi - \theta) I + \hat u n_u^\top + \hat v n_v^\top,
# $$
#
# $n_u = (\hat v - \cos\theta\, \hat u)/\sin\theta$; the terms $\partial^2 k/\partial u^2$ carry $\sin\theta$ and
# cancel between students and teacher, because the rows of each type add up to $e_j$. For the last statement:
# $f_{W + \varepsilon\delta} - f^*$ is 0 wherever no row changes sign, since the changes add up to 0 in each type; the
# signs change only in strips $|x_j| = O(\varepsilon)$, where the difference is $O(\varepsilon)$. The mean of its square is
# $O(\varepsilon^2) \cdot O(\varepsilon)$; it is not smaller, since two rows of one type that tilt differently differ by order $\varepsilon$ on a
# part of the strip of proportional size.
# :::
#
# With the types of a minimum with 30 rows the Hessian can be put together from the proposition; {glue:text}`zero_modes` of its
# {glue:text}`30 * d` eigenvalues are zero, just $(m - M)d$. The curvature across the valley does not depend on how the
# weight of a type is spread over its rows: all minima with the same type counts are equally sharp, which [](16_step_size.ipynb) uses.
#
# ## So gradient descent arrives like one over the steps
#
# On a cubic valley floor gradient descent moves like $\dot s = -s^2$ for the distance $s$, which gives $s \sim 1/\text{steps}$. To see
# it, train {glue:text}`networks` networks with $m = 12$, $M = 6$, $d = 8$ from the paper's initialisation (Z, B.1), entries
# $N(0, 1/(md)^2)$, by exact gradient descent with step size ½. Their distance to the minima is that of every
# row to its nearest ray and of the column sums to 1.

# %% Train, and measure the distance at five stages
minima = sample_minima(30, M, d, 1000, seed)  # (1000, 30, d)
sampled_loss = population_loss(minima, M).abs().max().item()

stages = [steps // 2**k for k in (4, 3, 2, 1, 0)]
W_t = initial_weights(m, d, networks, seed)
distance, losses = [], []  # (networks,) at each stage
for more in np.diff([0, *stages]).tolist():
    W_t = gradient_descent(W_t, M, rate=0.5, steps=more, tol=0.0).W
    distance.append(distance_to_minima(W_t, M).numpy())
    losses.append(population_loss(W_t, M).numpy())
distance, losses = np.array(distance), np.array(losses)  # (stages, networks)

far, near = distance[-3], distance[-1]  # over the last factor 4 of the steps
slopes = np.log(near / far) / math.log(4)  # (networks,)
cubic = np.log(losses[-1] / losses[-3]) / np.log(near / far)
with_loss = 1 / cubic  # exponent of the distance in the loss, (networks,)

# %% Plot the distance and the loss on the way
figure, (left, right) = figures.panels(2)
left.loglog(stages, distance, color="book:blue", alpha=0.15, linewidth=0.8)
median = np.median(distance, axis=1)  # (stages,)
left.loglog(stages, median, "o-", color="book:black", label="median")
guide = median[-1] * steps / np.array(stages)
left.loglog(stages, guide, "--", color="book:orange", label="1/steps")
left.set(xlabel="steps", ylabel="distance to the manifold")
left.legend()

style = dict(markersize=3, label="networks on their way")
right.loglog(distance[1:].ravel(), losses[1:].ravel(), ".", **style)
span = np.array([near.min(), distance[1].max()])
cube = np.median(losses[-1] / near**3) * span**3
right.loglog(span, cube, "--", color="book:orange", label="distance³")
right.set(xlabel="distance to the manifold", ylabel="loss $L$", xlim=(1e-3, 1e-1))
right.legend()
figures.show("fig_descent", figure)
figures.numbers(largest_loss=f"{losses[-1].max():.1e}")

# %% [markdown]
# :::{glue:figure} fig_descent
# :alt: First panel, the distance to the manifold of minima against the number of steps for all networks, double logarithmic, beside a line of slope minus one. Second panel, loss against distance on double logarithmic axes, beside a line of slope three.
#
# First panel: distance to the manifold of {glue:text}`networks` networks during gradient descent (thin lines). Second panel: their loss
# against that distance. Profile {glue:text}`profile`.
# :::

# %% Check Z1.converged and Z1.only
claims.check(
    "Z1.converged",
    float(slopes.mean()),
    stderr=float(slopes.std(ddof=1) / math.sqrt(networks)),
    n=networks,
)
claims.check(
    "Z1.only",
    float(with_loss.mean()),
    stderr=float(with_loss.std(ddof=1) / math.sqrt(networks)),
    n=networks,
)

# %% [markdown]
# After {glue:text}`steps` steps of this run the farthest network is {glue:text}`near.max():.1e` away and the largest loss is
# {glue:text}`largest_loss`. No network is stuck, and none has arrived. A threshold on the loss is the cube of a threshold
# on the tilt of the rows.
#
# ## “Trained to convergence” means close to a minimum, not on it
#
# The minima form one family: which teacher neurons the rows follow, and how each is split. Two minima with the same types
# in the same places are joined by a line of minima; a permutation can put the types in place if their counts agree. Trained
# networks come close to this picture slowly, so that experiments on “converged” solutions measure rows that are still
# tilted.
#
# Read on: [](12_overlap_theorem.ipynb) asks how often the counts of two minima agree.

# %% [markdown]
# ## Evidence
#
# ### The loss around the smallest set of minima

# %% Plot the loss around the minima of two rows
weight, height = np.meshgrid(np.linspace(-0.5, 1.5, 81), np.linspace(-1, 1, 81))
mine = torch.from_numpy(np.stack([weight, height], axis=-1))  # (81, 81, 2), w₁
plane = torch.stack([mine, ray - mine], dim=-2)  # w₁ + w₂ = e₁
figure, axis = figures.panels(height=3.6)
values = population_loss(plane, 1).clamp(min=1e-12).log10()
drawn = axis.contourf(
    weight, height, values, levels=np.arange(-5, 0.1, 0.5), extend="min"
)
figure.colorbar(drawn, ax=axis, label="$\\log_{10} L$")
axis.plot([0, 1], [0, 0], color="white", linewidth=3)
axis.set(xlabel="first entry of $w_1$", ylabel="second entry of $w_1$")
axis.grid(False)
figures.show("fig_floor", figure)

# %% [markdown]
# :::{glue:figure} fig_floor
# :alt: Contours of the loss around a white segment on which it is 0, dark along the segment and brighter away from it.
#
# The loss for $M = 1$, $d = 2$ where $w_1 + w_2 = e_1$, exact; white: the minima.
# :::
#
# ### The gradient in closed form
#
# With $k(u, v) = \|u\|\|v\|\kappa(\cos\theta)$ and $k_u$ its gradient in $u$,
#
# $$
# \begin{aligned}
# k_u &= \tfrac{1}{2\pi d} \bigl( (\pi - \theta)\, v + \|v\| \sin\theta\, \hat u \bigr), \\
# \tfrac{\partial L}{\partial w_i} &= 2 \sum_{i'} k_u(w_i, w_{i'}) - 2 \sum_j k_u(w_i, e_j).
# \end{aligned}
# $$
#
# It stays finite where automatic differentiation of $\arccos$ does not, at parallel rows. The formula and central
# differences of the loss, at random networks:

# %% Compare the gradient with central differences
teacher = torch.eye(M, d, dtype=torch.float64).expand(len(W), M, d)
V = torch.cat([W, teacher], dim=1)  # (20, m + M, d), students and teachers
sign = torch.cat([torch.ones(m), -torch.ones(M)]).double()  # (m + M,)
size = V.norm(dim=-1)  # (20, m + M)
theta = torch.arccos((units @ (V / size[..., None]).mT).clamp(-1, 1))
along = ((math.pi - theta) * sign) @ V  # (20, m, d), Σ ± (π − θ) v
radial = (theta.sin() * sign) @ size[..., None] * units  # Σ ± ‖v‖ sin θ û
by_formula = (along + radial) / (math.pi * d)  # (20, m, d)
closed = population_gradient(W, M)
print("equal to population_gradient:", torch.allclose(by_formula, closed))

h = 1e-5
step = h * torch.eye(m * d, dtype=torch.float64).reshape(-1, 1, m, d)
numeric = (population_loss(W + step, M) - population_loss(W - step, M)) / (2 * h)
closed = closed.flatten(start_dim=1).T  # (m d, 20), as the central differences
gradient_error = ((numeric - closed).norm() / closed.norm()).item()

# %%
claims.check("Z2.gradient", gradient_error, n=len(W))

# %% [markdown]
# ### The Hessian from the types
#
# The Hessian put together from the types by {prf:ref}`prop-cubic`, beside the exact one, at a minimum with 30 rows:

# %% Put the Hessian together from the types
types = minima[0].argmax(dim=1)  # (30,), j of each row
e = torch.eye(d, dtype=torch.float64)[types]  # (30, d), e_j
outer = e[:, None, :, None] * e[None, :, None, :]  # (30, 30, d, d), e_j e_j'ᵀ
eye = torch.eye(d, dtype=torch.float64)
same = (types[:, None] == types)[..., None, None]
blocks = torch.where(same, eye, eye / 2 + (outer + outer.mT) / math.pi) / d
by_types = blocks.transpose(1, 2).reshape(30 * d, 30 * d)
hessian = population_hessian(minima[0], M)  # (30 d, 30 d)
print("equal to population_hessian:", torch.allclose(by_types, hessian))
zero_modes = int((torch.linalg.eigvalsh(hessian).abs() < 1e-12).sum())
print(f"{zero_modes} zero eigenvalues, (m - M) d = {(30 - M) * d}")

# %% [markdown]
# In this run the loss of the networks scales with their distance to the power {glue:text}`float(np.median(cubic)):.2f` (median).
#
# ### Slips of the paper
#
# The second line of the derivation in Z, section 4, has $\sum_j \sigma(e_j \cdot x)^2$ where the square belongs outside
# the sum; its third line is right. The “$m + 1$” after Z, Lemma 2, is $M + 1$.
#
# ### Exercises
#
# :::{exercise}
# What is the loss of the student that is 0 everywhere?
# :::
#
# :::{solution}
# Only the teacher's terms are left: $L(0) = M\kappa(1) + M(M - 1)\kappa(0)$. As $\kappa(1) = \frac1{2d}$ and
# $\kappa(0) = \frac1{2\pi d}$, this is $\frac{M}{2d} \bigl( 1 + \frac{M - 1}{\pi} \bigr)$, for $M = 6$, $d = 8$ about
# $0.972$. A check:
#
#     population_loss(torch.zeros(3, 8, dtype=torch.float64), 6)
# :::
#
# :::{exercise}
# Let $M = 1$, $d = 2$, and let two rows tilt apart from the minimum $w_1 = w_2 = \frac12 e_1$, to $(\frac12, t)$ and
# $(\frac12, -t)$ with $t > 0$. Show that the loss is $\frac{4}{3\pi} t^3$ to leading order.
# :::
#
# :::{solution}
# Write $x = (c, s)$. Where $|c| \ge 2t|s|$ both rows are on or both are off, and $f_W = \sigma(c) = f^*$. Elsewhere one row
# is on, so $f_W = t|s| + \frac12 c$ and $f_W - f^* = t|s| - \frac12|c|$. Hence
# $L = \mathbb E \bigl(t|s| - \frac12|c|\bigr)_+^2$. The unit circle meets the strip in four arcs, on which $|s| \approx 1$
# and $|c|$ is the angle $\psi$ from the second axis up to higher orders:
#
# $$
# L \approx \frac{4}{2\pi} \int_0^{2t} \bigl( t - \tfrac12\psi \bigr)^2 d\psi = \frac2\pi \cdot \frac{2t^3}{3}.
# $$
#
# A check, which prints $0.4244 \approx \frac{4}{3\pi}$:
#
#     W = torch.tensor([[0.5, 1e-3], [0.5, -1e-3]], dtype=torch.float64)
#     print(population_loss(W, 1) / 1e-9)
# :::
#
# :::{try}
# Four times the steps, which keeps the verdicts of this page. Look at the last panel: the points follow the line of the cube further down.
#
#     make chapter NAME=exact_loss ARGS="-p steps 64000"
# :::
#
# ### Versions and time

# %% Versions and time
print(chapter.end())
