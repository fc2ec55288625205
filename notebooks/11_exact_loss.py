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
# # Minima and the exact loss
#
# Zhan, Li and Wu {cite:p}`zhan2025` study the smallest network in which permutations matter: a two-layer ReLU student
# that learns a teacher with orthonormal neurons. Its population loss has a closed form, so nothing in the chapters on
# this paper needs a data set, and its minima are known (Lemma 2). This chapter checks both, and asks how gradient
# descent approaches the minima. It arrives slowly: the loss around a minimum grows like the *cube* of the distance.

# %% tags=["parameters", "hide-input"] mystnb={"code_prompt_show": "Parameters"}
networks: int = 100  # networks trained by gradient descent
steps: int = 16_000  # their budget of steps
samples: int = 200_000  # inputs of the Monte Carlo check
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Check the parameters"}
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    networks=Integer(2, 100_000),
    steps=Integer(800, 10_000_000),
    samples=Integer(100, 100_000_000),
)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports"}
import math

import numpy as np
import torch

from lmc_helpers import claims, figures, seeds
from lmc_helpers.teacher_student.gradient_descent import (
    gradient_descent,
    initial_weights,
)
from lmc_helpers.teacher_student.minima import distance_to_minima, sample_minima
from lmc_helpers.teacher_student.population import (
    kappa,
    population_gradient,
    population_hessian,
    population_loss,
)

# %% [markdown]
# ## The loss in closed form
#
# The student $f_W(x) = \sum_{i=1}^m \sigma(w_i \cdot x)$ learns $f^*(x) = \sum_{j=1}^M \sigma(e_j \cdot x)$, $M \le d$, on
# inputs uniform on the unit sphere:
#
# $$
# L(W) = \mathbb E_x \bigl( f_W(x) - f^*(x) \bigr)^2. \tag{3}
# $$
#
# Expanding the square leaves means of products of two ReLUs. They depend on the two norms and on the angle $\theta$
# only (the arc-cosine kernel): $\mathbb E\, \sigma(u \cdot x)\, \sigma(v \cdot x) = \|u\| \|v\|\, \kappa(\cos\theta)$ with
#
# $$
# \kappa(t) = \frac{1}{2\pi d} \Bigl( (\pi - \arccos t)\, t + \sqrt{1 - t^2} \Bigr), \tag{8}
# $$
#
# $$
# L(W) = \sum_{i,i'} \|w_i\| \|w_{i'}\|\, \kappa(\hat w_i \cdot \hat w_{i'})
#   - 2 \sum_{i,j} \|w_i\|\, \kappa(\hat w_i \cdot e_j) + M \kappa(1) + M(M - 1)\, \kappa(0).
# $$
#
# (The second line of the paper's derivation has $\sum_j \sigma(e_j \cdot x)^2$ where the square belongs outside the sum;
# its third line is right.) In code:

# %%
m, M, d = 12, 6, 8
generator = seeds.torch_generator(seed, "W")
W = torch.randn(20, m, d, generator=generator, dtype=torch.float64) / 4

norms = W.norm(dim=-1)  # (20, m)
units = W / norms[..., None]  # (20, m, d)
cosines = units @ units.mT  # (20, m, m)
k_students = norms[:, :, None] * norms[:, None, :] * kappa(cosines, d)
k_teacher = norms[:, :, None] * kappa(units[..., :M], d)  # (20, m, M)
constant = M * kappa(1.0, d) + M * (M - 1) * kappa(0.0, d)
L = k_students.sum(dim=(1, 2)) - 2 * k_teacher.sum(dim=(1, 2)) + constant  # (20,)

exact = population_loss(W, M)  # the same, also at rows that are 0
print(f"first network: L = {L[0]:.6f}, population_loss {exact[0]:.6f}")

# %% [markdown]
# An average over inputs must agree within its error, and must exclude the loss with the misplaced square.


# %%
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

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z2.monte_carlo"}
claims.check(
    "Z2.monte_carlo",
    value,
    stderr=stderr,
    n=samples,
    rival=(misplaced / exact - 1).mean().item(),
    again=lambda: monte_carlo(seed + 1),
)

# %% [markdown]
# The gradient is closed too. With $\hat u = u/\|u\|$ and $k(u, v) = \|u\|\|v\|\kappa(\cos\theta)$,
#
# $$
# \frac{\partial k}{\partial u} = \frac{1}{2\pi d} \bigl( (\pi - \theta)\, v + \|v\| \sin\theta\, \hat u \bigr),
# \qquad
# \frac{\partial L}{\partial w_i} = 2 \sum_{i'} \frac{\partial k}{\partial u}(w_i, w_{i'}) - 2 \sum_j \frac{\partial k}{\partial u}(w_i, e_j).
# $$
#
# It stays finite where automatic differentiation of $\arccos$ does not, at parallel rows. The formula and central
# differences of the loss, at random networks:

# %%
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

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z2.gradient"}
claims.check("Z2.gradient", gradient_error, n=len(W))

# %% [markdown]
# ## The minima
#
# ```{prf:theorem} Lemma 2 of the paper, from Lin et al. (2024)
# :label: thm-lemma2
# For $M \le m$, $L(W) = 0$ exactly if every row of $W$ is $0$ or a positive multiple of some $e_j$, $j \le M$, and the
# column sums are $\sum_i w_{ij} = 1$ for $j \le M$.
# ```
#
# ```{prf:proof}
# *If:* $\sigma(\alpha x_j) = \alpha \sigma(x_j)$ for $\alpha > 0$, so $f_W = f^*$. *Only if:* $L(W) = 0$ gives $f_W = f^*$
# on the sphere, hence, both being positively homogeneous, on $\mathbb R^d$. The function $\sigma(w \cdot x)$ with
# $w \ne 0$ is not differentiable across the hyperplane $w^\perp$, where its slope jumps by $w$. Add the jumps of all rows
# with the same hyperplane. For a hyperplane other than the $e_j^\perp$, $j \le M$, the sum must vanish: with
# $w_i = \alpha_i v$, the jump across $v^\perp$ is $\sum_i |\alpha_i|\, v$, so there are no such rows. For $e_j^\perp$ it gives
# $\sum_i |w_{ij}| = 1$ over the rows $w_i = w_{ij} e_j$. What remains is $f_W - f^* = \sum_j \sum_{i: w_{ij} < 0} |w_{ij}|\,
# (\sigma(-x_j) - \sigma(x_j)) = -\sum_j x_j \sum_{i : w_{ij} < 0} |w_{ij}|$, a linear function, which vanishes only without
# negative rows.
# ```
#
# So there are at most $M + 1$ kinds of rows (the paper's "$m + 1$" is a slip). Sampled minima are checked as functions in
# [the chapter on the overlap theorem](12_overlap_theorem.ipynb); here their exact loss is {glue:text}`sampled_loss`
# or less.
#
# ## How gradient descent gets there
#
# We train {glue:text}`networks` networks with $m = 12$, $M = 6$, $d = 8$ from the paper's initialisation, entries
# $N(0, 1/(md)^2)$, by exact gradient descent with step size ½, and measure how far they are from the manifold: the distance of every row to
# its nearest ray, and of the column sums to 1.

# %%
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

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot the distance and the loss on the way"}
figure, (left, right) = figures.panels(2)
left.loglog(stages, distance, color="book:blue", alpha=0.15, linewidth=0.8)
median = np.median(distance, axis=1)  # (stages,)
left.loglog(stages, median, "o-", color="book:black", label="median")
guide = median[-1] * steps / np.array(stages)
left.loglog(stages, guide, "--", color="book:orange", label="1/steps")
left.set(xlabel="steps", ylabel="distance to the manifold")
left.legend()

way = dict(markersize=3, label="networks on their way")
right.loglog(distance[1:].ravel(), losses[1:].ravel(), ".", **way)
span = np.array([near.min(), distance[1].max()])
cube = np.median(losses[-1] / near**3) * span**3
right.loglog(span, cube, "--", color="book:orange", label="distance³")
right.set(xlabel="distance to the manifold", ylabel="loss $L$", xlim=(1e-3, 1e-1))
right.legend()
figures.show("fig_descent", figure)
figures.numbers(
    networks=networks,
    steps=steps,
    profile=profile,
    sampled_loss=f"{max(sampled_loss, 1e-15):.0e}",
    farthest=f"{near.max():.1e}",
    largest_loss=f"{losses[-1].max():.1e}",
    cubic=float(np.median(cubic)),
)

# %% [markdown]
# ```{glue:figure} fig_descent
# :name: fig-descent
# :alt: Left, the distance to the manifold of minima falls like one over the number of steps for all networks. Right, loss against distance on double logarithmic axes follows a line of slope three.
#
# Left: distance to the manifold of {glue:text}`networks` networks during gradient descent (thin lines). Right: their loss
# against that distance. Profile {glue:text}`profile`.
# ```

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z1.converged"}
claims.check(
    "Z1.converged",
    float(slopes.mean()),
    stderr=float(slopes.std(ddof=1) / math.sqrt(networks)),
    n=networks,
)

# %% [markdown]
# After {glue:text}`steps` steps the farthest network is {glue:text}`farthest` away and the largest loss is
# {glue:text}`largest_loss`. No network is stuck, but none has "converged" in the sense of a small gradient either. The reason
# is the shape of the loss.
#
# ```{prf:proposition} Quadratic across, cubic along
# :label: prop-cubic
# Let $W$ be a minimum without zero rows and with $\alpha_j + 1$ rows of type $j$. The Hessian of $L$ at $W$ depends on the
# types only, not on the entries: its block of rows $i, i'$ is
#
# $$
# \tfrac1d I \quad\text{if } i, i' \text{ have the same type}, \qquad
# \tfrac1d \bigl( \tfrac12 I + \tfrac1\pi (e_j e_{j'}^\top + e_{j'} e_j^\top) \bigr) \quad\text{for types } j \ne j'.
# $$
#
# So it vanishes on the $(m - M)d$-dimensional space of perturbations $\delta$ with $\sum_{i \in \text{type } j} \delta_i = 0$
# for every $j$. If such a perturbation tilts rows off their rays, $L(W + \varepsilon\delta)$ is of order $\varepsilon^3$.
# ```
#
# ```{prf:proof}
# Insert angles $0$ and $\pi/2$ into $\partial^2 k/\partial u \partial v = \frac{1}{2\pi d}[(\pi - \theta) I + \hat u n_u^\top + \hat v n_v^\top]$
# with $n_u = (\hat v - \cos\theta\, \hat u)/\sin\theta$; the terms $\partial^2 k/\partial u^2$ carry $\sin\theta$ and
# cancel between students and teacher, because the rows of each type add up to $e_j$. For the last statement:
# $f_{W + \varepsilon\delta} - f^*$ is 0 wherever no row changes sign, since the changes add up to 0 in each type; the
# signs change only in strips $|x_j| = O(\varepsilon)$, where the difference is $O(\varepsilon)$. The mean of its square is
# $O(\varepsilon^2) \cdot O(\varepsilon)$; it is not smaller, since two rows of one type that tilt differently differ by order $\varepsilon$ on a
# part of the strip of proportional size.
# ```

# %%
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

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
figures.numbers(zero_modes=zero_modes, dimension=30 * d)

# %% [markdown]
# On such a valley floor gradient descent moves like $\dot s = -s^2$, which gives $s \sim 1/\text{steps}$. Measured: the loss
# scales with the distance to the power {glue:text}`cubic:.2f`. At a minimum with $m = 30$, $M = 6$, $d = 8$ the
# Hessian has {glue:text}`zero_modes` zero eigenvalues of {glue:text}`dimension`, as the proposition says.
#
# ## What we found that the paper does not say
#
# - The curvature across the manifold does not depend on how the weight of a type is spread over its rows
#   ({prf:ref}`prop-cubic`): all minima with the same type counts are equally sharp.
# - Gradient descent reaches the manifold only like $1/\text{steps}$. Experiments on "converged" solutions measure networks
#   whose rows are still tilted, and a threshold on the loss is the cube of a threshold on the tilt.
#
# ```{admonition} Try it
# :class: tip
# Four times the steps, on twenty networks:
#
#     make chapter NAME=exact_loss ARGS="-p steps 64000 -p networks 20"
# ```

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Versions and time"}
print(chapter.end())
