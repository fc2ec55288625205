# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Inputs that change places
#
# :::{summary}
# **Question.** If the neurons of the layer before change places, what does it cost a layer to compute what it computed?
#
# **The paper.**
# Bürgin, Herbst, Lin & Jegelka (I) {cite:p}`buergin2026` show that with large fixed parts the cost is about the squared shift of the {term}`centres <centre of a neuron>` (I, Theorem 4.7), that this holds for the cheapest exchange of two inputs (I, (26) and Corollary C.6), and that the least shift $\gamma_{\mathrm{in}}$ grows like $\sqrt m$ with the width (I, Theorem 4.8).
#
# **What we find.** All three hold: {claim}`I7.bound` {claim}`I7.minimum` {claim}`I7.root_m`, with sharp constants. One step in the proof of the corollary breaks {claim}`I7.minimum_step`; we give another proof.
#
# **Why it matters.** A permutation of one layer is felt by the next, too. Both costs together decide whether two networks have a reason to agree on an order.
# :::
#
# :::{need}
# You need: [](42_swap_cost.ipynb), which treats the exchange of a layer's own neurons.
# Letters: $\tau$ a permutation of inputs, $R$ all trained parts, $\rho$ their size over that of the shift. {{ times }}
# :::

# %% Parameters tags=["parameters"]
draws: int = 800  # random layers in all; a part of them for each size
layers: int = 20  # random layers per setting of the exact checks
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(globals(), draws=Integer(20, 1_000_000), layers=Integer(4, 10_000))

import math
from itertools import combinations, product

import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.input_shifts import (
    cheaper_share,
    expected_column_distance,
    growth_exponent,
    input_cost,
    input_gap,
    input_shift,
    least_norm_costs,
    least_shift,
    reindexed_metric,
    relative_error_bound,
    sample_layer,
    sample_scaled_gaps,
    transposition,
    transposition_costs,
    transposition_shifts,
)
from lmc_helpers.identifiability import (
    cost_table,
    least_norm_weight,
    output_sensitivity,
)
from lmc_helpers.seeds import torch_generator

# %% [markdown]
# ## The idea
#
# Two inputs of a layer are the coordinates $x_a$ and $x_b$ of its data, which are the rows $U_a$ and $U_b$ of an orthonormal basis. If they nearly agree, their exchange changes nearly nothing. If they differ, every neuron whose fixed weights differ at $a$ and $b$ has to make up for it.

# %% Plot the idea
idea, frames = figures.panels(2, height=3.4)
latent = torch.randn(2, 60, generator=torch_generator(seed, "the idea"))
for frame, degrees in zip(frames, (20, 90), strict=True):
    tilt = math.radians(degrees)
    first, second = (
        latent[0],
        math.cos(tilt) * latent[0] + math.sin(tilt) * latent[1],
    )
    style = dict(markersize=4, label="inputs")
    frame.plot(first, second, "o", color="book:blue", **style)
    style = {"color": "book:orange", "markersize": 4, "label": "exchanged"}
    frame.plot(second, first, "o", fillstyle="none", **style)
    rows_apart = 2 * math.sin(tilt / 2)
    frame.set(title=rf"$\|U_b - U_a\| = {rows_apart:.2f}$ (largest: 1.41)")
    frame.set(xlabel="$x_a$", ylabel="$x_b$", aspect="equal")
    frame.set(
        xlim=(-3.5, 3.5), ylim=(-3.5, 3.5), xticks=[-2, 0, 2], yticks=[-2, 0, 2]
    )
figures.show("fig_exchanged", idea, legend=2)

# %% [markdown]
# :::{glue:figure} fig_exchanged
# :alt: Two scatter plots of two inputs and of the same with the inputs exchanged. On the left the points lie near the diagonal, and the exchanged ones are near them; on the right both clouds are round, and points and exchanged points are far apart.
#
# Two inputs of unit length that nearly agree (left) and that are independent (right), before and after an exchange.
# :::
#
# ## What a second position costs
#
# As in [the chapters on costs](41_realization_cost.ipynb), a layer has the weights $F + D \odot W$ with fixed $F$ and $D$, its inputs lie in the span of the orthonormal columns of $U$ ($d \times k$), and costs of neuron $i$ are measured by the metric $S_i = U^\top \operatorname{diag}(d_i)^2 U$.
# If the inputs are reindexed by $\tau$, which moves the rows of $U$ to $P_\tau U$, the centres move by $\delta_\tau = F (P_\tau - I) U$ and the metric $S_i$ becomes $S_i^\tau = (P_\tau U)^\top \operatorname{diag}(d_i)^2\, P_\tau U$, which has the law of $S_i$ if the entries of $d_i$ are independent and equal in law, since then $P_\tau^\top d_i$ has that of $d_i$ (I, footnote 5). With $R = (D \odot W) U$ the cost changes by
#
# $$
# \Delta_\tau^{\mathrm{in}} = \sum_i \lVert R_i - \delta_{\tau, i} \rVert^2_{(S_i^\tau)^{-1}} - \lVert R_i \rVert^2_{S_i^{-1}} ,
# $$
#
# and if all $S_i$ and $S_i^\tau$ are within $\varepsilon$ of $\mu I$, then with $\rho = \lVert R \rVert/\lVert \delta_\tau \rVert$
#
# $$
# \begin{aligned}
# & \Bigl| \frac{\mu\, \Delta_\tau^{\mathrm{in}}}{\lVert \delta_\tau \rVert^2} - 1 \Bigr| \le e(\rho) , \\
# & e(\rho) = 2 \rho + \frac{\varepsilon}{\mu - \varepsilon} \bigl( 1 + 2 \rho + 2 \rho^2 \bigr) ,
# \end{aligned}
# $$
#
# which is the explicit form of I, Theorem 4.7.
# The first term is sharp: for $D = 1$ and $R = \rho\, \delta_\tau$ the cost is $(1 - 2\rho) \lVert \delta_\tau \rVert^2$.
# So under the hypothesis $\rho \le 1$ of the theorem a reindexing may still have a negative cost; for $D = 1$ it is positive if $\rho < \frac12$.
#
# The cost of one reindexing, by the formula and by least-norm weights on random inputs:

# %%
GRID = list(product(range(layers), (0.0, 0.02, 0.1, 0.4)))  # layer, width of D


def layer(number: int, width: float):
    """F, D, W (m, d), U (d, k) and a permutation p (d,) of the inputs."""
    generator = torch_generator(seed, f"layer {number} {width}")
    return sample_layer(5, 12, 4, width, generator)


def squared(v: torch.Tensor, S: torch.Tensor) -> float:
    """Σ_i ‖v_i‖² in the metrics S_i⁻¹; v (m, k), S (m, k, k)."""
    return (v * torch.linalg.solve(S, v[..., None])[..., 0]).sum().item()


F, D, W, U, p = layer(0, 0.1)
delta = F @ (U[p] - U)  # I, (24), (m, k)
R = (D * W) @ U  # (m, k)
S = torch.einsum("dk,id,dl->ikl", U, D**2, U)  # I, (9)
S_moved = torch.einsum("dk,id,dl->ikl", U[p], D**2, U[p])  # I, (23)
cost = squared(R - delta, S_moved) - squared(R, S)  # I, (137)

generator = torch_generator(seed, "inputs 0")
z = torch.randn(40, 4, dtype=torch.float64, generator=generator)
after, before = least_norm_costs(F, D, W, p, z @ U.mT)
print(f"cost {cost:.6f}, by least-norm weights on inputs {after - before:.6f}")

# %% [markdown]
# The same for random layers: the costs against least-norm weights on random inputs, and the bound, also for layers with $R$ parallel to $\delta_\tau$.

# %%
cost_error, wrong_cost = [], []
for number, width in GRID:
    F, D, W, U, p = layer(number, width)
    generator = torch_generator(seed, f"inputs {number}")
    z = torch.randn(40, 4, dtype=torch.float64, generator=generator)
    after, before = least_norm_costs(F, D, W, p, z @ U.mT)
    cost = input_cost(F, D, W, U, p).item()  # I, (137)
    R, delta = (D * W) @ U, input_shift(F, U, p)
    moved = torch.linalg.solve(reindexed_metric(D, U, p), delta[..., None])
    other_sign = cost + 4 * (R * moved[..., 0]).sum()  # R + δ for R − δ
    cost_error.append(abs(cost - (after - before)) / (after + before))
    wrong_cost.append(abs(other_sign - (after - before)) / (after + before))

# %%
claims.check("I7.cost", cost_error, rival=float(min(wrong_cost)))

# %%
ratios, half = [], []
for number, width in GRID:
    F, D, W, U, p = layer(number, width)
    delta = input_shift(F, U, p)
    S = torch.cat([reindexed_metric(D, U, q) for q in (p, torch.arange(12))])
    mu = 1 + width**2 / 3  # mean of the squares of D
    eye = torch.eye(4, dtype=torch.float64)
    eps = torch.linalg.matrix_norm(S - mu * eye, 2).max().item()
    for weights in (W, 0.05 * W, 0.3 * (delta @ U.mT) / D):
        rho = (((D * weights) @ U).norm() / delta.norm()).item()
        if rho <= 1 and eps < mu / 2:
            cost = input_cost(F, D, weights, U, p).item()
            off = abs(mu * cost / delta.square().sum().item() - 1)
            allowed = relative_error_bound(rho, eps / mu)  # I, (147)
            ratios.append(off / allowed)
            half.append(off / (allowed - rho))  # ρ for 2ρ

# %%
claims.check("I7.bound", ratios, rival=max(half))

# %% [markdown]
# If inputs and neurons are permuted together, the cost is the sum of both, I, (15): $\Delta_{\pi, \tau}(H; \mathcal X) = \Delta^{\mathrm{out}}_\pi\bigl( (\mathrm{id}, \tau) \cdot H; P_\tau \mathcal X \bigr) + \Delta^{\mathrm{in}}_\tau(H; \mathcal X)$.
# The first term belongs to the new positions of the inputs; with the old ones the sum is another number.

# %%
joint_error, old_support = [], []
for number, width in GRID:
    F, D, W, U, p = layer(number, width)
    generator = torch_generator(seed, f"joint {number}")
    pi = torch.randperm(5, generator=generator)
    z = torch.randn(40, 4, dtype=torch.float64, generator=generator)
    A, X = (F + D * W) @ U, z @ U.mT  # a_i (m, k), inputs (n, d)
    after = sum(  # neuron i computes the function of π(i) on the inputs X[:, p]
        (torch.linalg.pinv(X[:, p] * d) @ (z @ a - X[:, p] @ f)).square().sum()
        for f, d, a in zip(F, D, A[pi], strict=True)
    ).item()
    _, before = least_norm_costs(F, D, W, p, X)
    moved = least_norm_weight(A, F, D, U[p])  # (id, τ)·H
    out = output_sensitivity(cost_table(F, D, moved, U[p]), pi).item()
    old = output_sensitivity(cost_table(F, D, W, U), pi).item()
    inner = input_cost(F, D, W, U, p).item()
    joint_error.append(abs(out + inner - (after - before)) / (after + before))
    if not pi.equal(torch.arange(5)):
        old_support.append(abs(old + inner - (after - before)) / (after + before))

# %%
claims.check("I7.joint", joint_error, rival=min(old_support))

# %% [markdown]
# ## Transpositions
#
# For {term}`transpositions <transposition>` $\delta_{(ab)} = (F_{:,a} - F_{:,b})(U_b - U_a)^\top$ has rank one, which gives identity I, (27), $\lVert \delta_{(ab)} \rVert = \lVert F_{:,b} - F_{:,a} \rVert\, \lVert U_b - U_a \rVert$; $\gamma_{\mathrm{in}}$ is the least of these norms over $a \ne b$.
# For Gaussian $F$ the distance of two columns has the mean
#
# $$
# \mathbb E\, \lVert F_{:,b} - F_{:,a} \rVert = 2 \sigma\, \frac{\Gamma(\frac{m+1}{2})}{\Gamma(\frac m2)} \approx \sigma \sqrt{2m} ,
# $$
#
# and $\lVert F_{:,b} - F_{:,a} \rVert^2/2\sigma^2$ is $\chi^2_m$ exactly.
#
# :::{prf:proposition} The constant of I, Theorem 4.8
# :label: prop-root-two
# For Gaussian $F$ and every $U$ with distinct rows $\gamma_{\mathrm{in}}/(\sigma \sqrt m\, \min_{a \ne b} \lVert U_b - U_a \rVert) \to \sqrt 2$ in probability as $\ln d/m \to 0$ and $m \to \infty$.
# :::
#
# :::{prf:proof}
# By I, (27) the ratio lies between $\min_{a \ne b} \lVert F_{:,b} - F_{:,a} \rVert/(\sigma \sqrt m)$ and the same quotient for the one pair with the nearest rows of $U$.
# The latter is $\sqrt{2 \chi^2_m/m} \to \sqrt 2$, whatever $d$ is.
# For $0 < t < 1$, $P(\chi^2_m < (1 - t) m) \le e^{-m t^2/4}$, and the union bound over fewer than $d^2/2$ pairs tends to 0 if $\ln d/m \to 0$.
# :::
#
# So the upper bound in I, (28) needs no condition on $d$. With a {term}`mask` $\sigma^2$ is to be read as the variance $p \sigma_F^2$ of an entry. The identity, then the growth with $m$:

# %%
identity, wrong_identity = [], []
for number, width in GRID:
    F, D, W, U, p = layer(number, width)
    shifts = transposition_shifts(F, U)  # ‖F_:b − F_:a‖ ‖U_b − U_a‖, (d, d)
    for a, b in ((0, 1), (2, 7), (3, 11)):
        swapped = transposition(12, a, b)
        size = torch.linalg.matrix_norm(F @ (U[swapped] - U))
        identity.append(abs(shifts[a, b] / size - 1).item())
        other = (F[:, a] - F[:, b]).norm() * (U[a] + U[b]).norm()
        wrong_identity.append(abs(other / size - 1).item())

# %%
claims.check("I7.identity", identity, rival=min(wrong_identity))

# %%
# γ_in/(√m min ‖U_b − U_a‖) for Gaussian F, σ = 1, and random U: d = 32, k = 8
number = max(draws // 4, 10)


def gaps(m: int, seed: int) -> torch.Tensor:
    return sample_scaled_gaps(m, 32, 8, number, seed)


def root_slope(low: torch.Tensor, high: torch.Tensor) -> tuple[float, float]:
    """Exponent of γ_in in m between 128 and 2048, and its standard error."""
    slope, error = growth_exponent(low, high, 2048 / 128)
    return 0.5 + slope, error


def constant(x: torch.Tensor) -> tuple[float, float]:
    """Mean at m = 2048 and its standard error."""
    return x.mean().item(), x.std().item() / math.sqrt(len(x))


sample = {m: gaps(m, seed) for m in (2**j for j in range(1, 12))}
for m in (2, 32, 128, 2048):
    print(f"m = {m:4}: mean {constant(sample[m])[0]:.2f}")

# %%
claims.check(
    "I7.root_m",
    *root_slope(sample[128], sample[2048]),
    n=number,
    second_seed=lambda: root_slope(gaps(128, seed + 1), gaps(2048, seed + 1)),
)
claims.check(
    "I7.constant",
    *constant(sample[2048]),
    n=number,
    second_seed=lambda: constant(gaps(2048, seed + 1)),
)

# %% [markdown]
# I, Corollary C.6 (I, (26) in the text) says that the cheapest transposition costs $(1 \pm O(\rho + \varepsilon/\mu))\, \gamma_{\mathrm{in}}^2/\mu$ if $\rho_{(ab)} \le \rho \le 1$ for all pairs.
# It is true.
# Its proof takes the minimum of the lower bounds $(1 - e)\, \lVert \delta_{(ab)} \rVert^2$ of I, Theorem 4.7; where $e > 1$ these *fall* with $\lVert \delta_{(ab)} \rVert$, so that they do not give the result.
# (For permutations of the neurons the same step leads to a
# [statement that holds for small $\rho$ only](42_swap_cost.ipynb).) Here all transpositions move the same $R$, and that saves the corollary:
#
# :::{prf:theorem} The cheapest exchange of two inputs
# :label: thm-input-minimum
# Let all $S_i$ and $S_i^{(ab)}$ be within $\varepsilon < \mu$ of $\mu I$ and $\lVert R \rVert = \rho\, \gamma_{\mathrm{in}}$ with $\rho \le 1$, $\gamma_{\mathrm{in}} > 0$.
# Then $\bigl| \mu \min_{a \ne b} \Delta^{\mathrm{in}}_{(ab)}/\gamma_{\mathrm{in}}^2 - 1 \bigr| \le e(\rho)$ with $e(\rho) = 2 \rho + \frac{\varepsilon}{\mu - \varepsilon} (1 + 2 \rho + 2 \rho^2)$.
# :::
#
# :::{prf:proof}
# The closest pair gives the upper bound by I, Theorem 4.7. For every pair, with $x = \lVert \delta_{(ab)} \rVert \ge \gamma_{\mathrm{in}} \ge \lVert R \rVert$,
#
# $$
# \begin{aligned}
# \mu\, \Delta^{\mathrm{in}}_{(ab)} \ge {} & \frac{\mu}{\mu + \varepsilon} \bigl( x - \lVert R \rVert \bigr)^2 \\
# & - \frac{\mu}{\mu - \varepsilon} \lVert R \rVert^2 ,
# \end{aligned}
# $$
#
# which increases with $x$, so that it is least at $x = \gamma_{\mathrm{in}}$. There it is $\gamma_{\mathrm{in}}^2$ times
#
# $$
# \begin{aligned}
# & \tfrac{\mu}{\mu + \varepsilon} (1 - \rho)^2 - \tfrac{\mu}{\mu - \varepsilon} \rho^2 \\
# & \quad = 1 - 2 \rho - \tfrac{\varepsilon}{\mu + \varepsilon} (1 - \rho)^2 - \tfrac{\varepsilon}{\mu - \varepsilon} \rho^2 \\
# & \quad \ge 1 - e(\rho) .
# \end{aligned}
# $$
# :::
#
# Below, for $R$ parallel to the shift of the closest pair, which is the worst case, and for random $R$.

# %%
minimum, single, step = [], [], []
for (number, width), rho in product(GRID, (0.2, 0.7, 1.0)):
    F, D, W, U, _ = layer(number, width)
    F, D, W = F[:, :8], D[:, :8], W[:, :8]  # eight inputs, 28 pairs
    U = torch.linalg.qr(U[:8]).Q
    shifts = transposition_shifts(F, U)
    gamma = shifts[~torch.eye(8, dtype=torch.bool)].min()  # γ_in
    a, b = divmod(int((shifts + 9e9 * torch.eye(8)).argmin()), 8)
    closest = (F @ (U[transposition(8, a, b)] - U) @ U.mT) / D
    pairs = [transposition(8, *ab) for ab in combinations(range(8), 2)]
    S = reindexed_metric(D, U, torch.stack([torch.arange(8), *pairs]))
    ends = torch.linalg.eigvalsh(S)
    mu, eps = (ends.max() + ends.min()) / 2, (ends.max() - ends.min()) / 2
    for weights in (W, closest):
        weights = weights * rho * gamma / ((D * weights) @ U).norm()
        off = mu * transposition_costs(F, D, weights, U).min() / gamma**2 - 1
        e = relative_error_bound(rho, (eps / mu).item())
        minimum.append((off.abs() / e).item())
        single.append((off.abs() / (e - rho)).item())
    if e > 1:  # (1 − e)‖δ‖² over all pairs, less that of the closest
        step.append(((1 - e) * ((shifts.max() / gamma) ** 2 - 1)).item())

# %%
claims.check("I7.minimum", minimum, rival=max(single))
claims.check("I7.minimum_step", step)

# %% [markdown]
# ## Other permutations
#
# I, footnote 6 says that the minimum over all permutations need not coincide with that over transpositions. It is so, and it may even be 0:
#
# :::{prf:proposition} Permutations that cost nothing
# :label: prop-footnote
# There are $F$ and $U$ with all columns of $F$ and all rows of $U$ distinct, so that $\gamma_{\mathrm{in}} > 0$, and $\delta_\tau = 0$ for some $\tau \ne \mathrm{id}$. If $F^\top F$ is a multiple of the identity, transpositions are the cheapest permutations.
# :::
#
# :::{prf:proof}
# Take $m = k = 1$, $F = (0, 1, 3, 5)$ and $U \propto (0, 2, 4, 3)^\top$. For $\tau = (1\,2)(3\,4)$
#
# $$
# \begin{aligned}
# \delta_\tau \propto {} & (F_1 - F_2)(U_2 - U_1) \\
# & + (F_3 - F_4)(U_4 - U_3) \\
# = {} & (-1) \cdot 2 + (-2) \cdot (-1) = 0 .
# \end{aligned}
# $$
#
# If $F^\top F \propto I$, $\lVert \delta_\tau \rVert^2$ is proportional to $\sum_a \lVert U_{\tau(a)} - U_a \rVert^2$, and every $\tau \ne \mathrm{id}$ moves at least two rows, each by at least the least distance of two rows.
# :::
#
# So for wide layers with independent entries, where $F^\top F/m$ is near a multiple of the identity, the footnote's caution becomes unnecessary.

# %%
F = torch.tensor([[0.0, 1.0, 3.0, 5.0]], dtype=torch.float64)  # (m, d)
U = torch.tensor([[0.0], [2.0], [4.0], [3.0]], dtype=torch.float64)  # (d, k)
U = U / U.norm()
least, which = least_shift(F, U)  # over all 23 permutations
gap = input_gap(F, U).item()  # γ_in, over transpositions
print(f"least shift {least:.1e} at τ = {which}, γ_in = {gap:.3f}")

# %%
claims.check("I7.footnote", least / gap, n=1)

# %% Plot the input gap and the share of cheaper permutations
figure, (left, right) = figures.panels(2)
heights, few = list(sample), max(draws // 8, 10)
means, errors = zip(*(constant(x[:few]) for x in sample.values()), strict=True)
title = r"$\gamma_{\mathrm{in}}$, mean"
figures.band(left, heights, means, errors, color="book:blue", label=title)
one_pair = [expected_column_distance(m) / math.sqrt(m) for m in heights]
left.plot(heights, one_pair, color="book:orange", label="one pair, exact")
dotted = {"color": "book:black", "linewidth": 1, "linestyle": ":"}
left.axhline(1, **dotted, label="interval of eq. (170)")
left.axhline(math.sqrt(3), **dotted)
unit = r"(\sigma \sqrt{m}\; \min \|U_b - U_a\|)"
left.set(xscale="log", xlabel="neurons $m$", ylim=(0, 2))
left.set_ylabel(rf"$\gamma_{{\mathrm{{in}}}}\,/\,{unit}$")
left.legend(loc="lower right")
counts = [1, 2, 4, 8, 16, 32, 64]
found = [cheaper_share(m, 5, 2, max(draws // 2, 20), seed) for m in counts]
joined = {"color": "book:green", "fmt": "o-", "linewidth": 1.2}
figures.band(right, counts, *zip(*found, strict=True), **joined)
right.set(xscale="log", xlabel="neurons $m$", ylim=(0, None))
right.set_ylabel("share of random layers")
figures.show("fig_inputs", figure)

# %% [markdown]
# :::{glue:figure} fig_inputs
# :alt: Left, scaled smallest input gap against the number of neurons. It rises from below the dotted interval between 1 and the root of 3 to the root of 2, below the exact curve for one pair at small widths. Right, share of random layers in which another permutation than a transposition is the cheapest, falling with the number of neurons.
#
# Left: $\gamma_{\mathrm{in}}$ for Gaussian $F$, $d = 32$, $k = 8$ (±3.29 standard errors), with the exact mean for one pair of columns.
# Right: how often some permutation is cheaper than every transposition, over random layers with $d = 5$, $k = 2$ (±3.29 standard errors; profile {glue:text}`profile`).
# :::
#
# ## What we found that the paper does not say
#
# - I, Theorem 4.7 gives a positive cost where its error is below 1, which takes $\rho < \frac12$; for larger $\rho$ the cost may be negative.
# - I, Corollary C.6 holds for all $\rho \le 1$, by another proof than the printed one ({prf:ref}`thm-input-minimum`).
# - The constant of I, Theorem 4.8 is $\sqrt 2$ for wide layers, and its upper bound needs no condition on the number of inputs ({prf:ref}`prop-root-two`).
# - A permutation of the inputs that is no transposition may cost nothing where every transposition costs something; for wide layers transpositions are the cheapest ({prf:ref}`prop-footnote`).
#
# ## What it means for merging networks
#
# A permutation of a hidden layer costs twice: its own neurons leave their centres, and the next layer gets its inputs in another order.
# For given inputs the second cost grows with the number of neurons of the next layer, like $\gamma_{\mathrm{in}}^2 \sim m$. If the permuted layer grows as well and its outputs keep their dimension $k$, the rows of $U$ shrink like $\sqrt{k/d}$, which works against this. Inputs that are nearly copies of each other can be exchanged for little in any case.
#
# **Read on.** [](42_swap_cost.ipynb): the first of the two costs. [](43_center_gap.ipynb): the gap $\gamma_{\mathrm{out}}$. [](53_asymmetric_mlps.ipynb): networks with fixed weights, trained.
#
# ## Exercises
#
# :::{exercise}
# One neuron, two inputs, $F = (1, 3)$ and $U = (2, 1)^\top/\sqrt 5$. Find $\delta_{(12)}$ and check identity (27) of the paper. Which $R$ makes the exchange of the inputs free if $D = 1$?
# :::
#
# :::{solution}
# $FU = 5/\sqrt 5$, with the inputs exchanged $7/\sqrt 5$, so $\delta = 2/\sqrt 5$; and $|F_2 - F_1|\, |U_2 - U_1| = 2 \cdot 1/\sqrt 5$. The cost $(R - \delta)^2 - R^2$ vanishes at $R = \delta/2 = 1/\sqrt 5$.
# :::
#
# :::{exercise}
# The paper notes $\lVert U_b - U_a \rVert \le 2 \sqrt \nu$. Show that also $\lVert U_b - U_a \rVert \le \sqrt 2$, with equality if and only if $e_b - e_a$ lies in the span of the inputs. When is this the better bound?
# :::
#
# :::{solution}
# $U_b - U_a = U^\top (e_b - e_a)$, and $U^\top$ is an orthogonal projection followed by an isometry, so it does not lengthen $e_b - e_a$, whose length is $\sqrt 2$, and keeps its length only on the span. It is the better bound for $\nu > \frac12$.
# :::
#
# :::{exercise}
# Let $D = 1$ and $R = 0$. Show that no permutation of the inputs has a negative cost, and that the cost of $\tau$ and that of $\tau^{-1}$ may differ. Which have the same?
# :::
#
# :::{solution}
# $\Delta_\tau^{\mathrm{in}} = \lVert F (P_\tau - I) U \rVert^2 \ge 0$.
# With $P_{\tau^{-1}} = P_\tau^\top$ the other cost is $\lVert F (P_\tau^\top - I) U \rVert^2$.
# They agree for $\tau = \tau^{-1}$, so for all exchanges, but not for a cycle: for $F = (1, 0, 0)$ and $U = (0, 2, 1)^\top/\sqrt 5$ a cycle puts $U_2$ or $U_3$ in the place of $U_1$, and the costs are $\frac45$ and $\frac15$.
# :::
# :::{try}
# More random layers:
#
#     make chapter NAME=input_shifts ARGS="-p draws 4000 -p layers 100"
# :::

# %% Versions and time
print(chapter.end())
