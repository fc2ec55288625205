# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Swapping neurons is costly until training carries them halfway to each other
#
# *With some weights fixed, how much must the others' squared norm grow if neurons exchange functions?*
#
# After little training, by about the summed squared distances of fixed parts of neurons that change places, over $\mu$, the mean share of trained weights (proved). While trained parts are below **half** the distances themselves (**0.366** if shares stray by $\mu/2$), every exchange adds weight; beyond, some may save it.
#
# :::{glue:figure} fig_least
# :name: fig-least-cost
# :alt: Cost of the cheapest exchange, in units of the squared gap, against the number of neurons from 4 to 64. For trained parts of 0.3 of the distance it stays at 0.4, for 0.5 at 0. For 0.7 it falls to −12.8 at 64 neurons, for 0.9 to −25.6, by [[abs(I5.corollary):.1f]] for each neuron.
#
# Weight that the cheapest of all exchanges adds (below 0: saves), exact, in a constructed layer: pairs of neurons are moved towards each other by $\rho$ times the distance of their fixed parts.
# :::
#
# **How sure.** Proved; checked on [[n(I5.theorem)]] exchanges, recorded. $\rho$: trained parts over the distance of fixed ones; $\gamma^2$: the least such sum of squared distances; $\varepsilon$: how far shares stray from $\mu$.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | The cheapest exchange costs $(1 \pm \mathcal O(\rho + \varepsilon/\mu))\, \gamma^2/\mu$ (Cor. C.5) | [true for small ρ](#I5.corollary_small) | for $\rho$ up to 0.5 (0.366 if $\varepsilon = \mu/2$) |
# | … with one constant for all widths and $\rho \le 1$ (eq. 20) | [false if wide](#I5.corollary) | [[I5.corollary:.1f]] $\gamma^2/\mu$ per neuron at $\rho = 0.9$ |
# | Every exchange costs that, with its own sum of squared distances for $\gamma^2$ (Thm 4.5) | [true](#I5.theorem) | relative error up to $2\rho$ at $\varepsilon = 0$, attained |
# | Where no input stands out, shares differ little (Thm 4.4) | [true](#I4.bound) | the constant $\sqrt 2$ is enough |
# | Without decay, initial weights, which cost nothing, predict who changes places as well as fixed ones do (ours) | [true](#I3.places_unpriced) | chance of a right guess differs by [[I3.places_unpriced:±]] |
# | Large costs mean a "unique … assignment" (sec. 4) | [true](#I5.premise) | if “large” means positive |
#
# **Open.** Nothing.
#
# **For the authors.** In eq. (20) and Corollary C.5 replace “$\rho^{\mathrm{out}} \le 1$” by $\rho^{\mathrm{out}} \le \sqrt{\mu - \varepsilon}/(\sqrt{\mu - \varepsilon} + \sqrt{\mu + \varepsilon})$, which is $\frac12$ at $\varepsilon = 0$.

# %% Parameters tags=["parameters"]
layers: int = 24  # random layers of each kind
draws: int = 10_000  # rows of syre of each kind
dataset: str = "mnist"  # or digits, which stand in where MNIST is missing
images: int = 1000  # training images
width: int = 64  # units of each of three hidden layers
epochs: int = 9  # passes through the images
pairs: int = 10  # pairs of trained networks of each kind
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Integer

chapter.begin(
    globals(),
    layers=Integer(4, 10000),
    draws=Integer(1000, 1000000),
    dataset=Choice(("mnist", "digits")),
    images=Integer(100, 54_000),
    width=Integer(8, 8192),
    epochs=Integer(3, 9_999, step=3),
    pairs=Integer(4, 1000, step=2),
)

import math
from itertools import combinations, permutations, product

import numpy as np
import torch

from lmc_helpers import claims, error_bars, figures
from lmc_helpers._chapters.swap_cost import (
    all_masks,
    auc,
    bernstein_bound,
    centre_shift,
    cheapest,
    cheapest_other,
    copies_law,
    copies_mean_square,
    lift,
    mask_moments,
    mask_probabilities,
    places,
    syre_moments,
    syre_pairs,
    variance_parameter,
)
from lmc_helpers.data.images import choose, load
from lmc_helpers.identifiability import (
    AsymmetricLayer,
    Syre,
    WAsymmetric,
    coherence,
    cost_table,
    exact_copies,
    grams,
    leverages,
    output_sensitivity,
    pca_basis,
    swap_costs,
    swap_terms,
)
from lmc_helpers.seeds import normal, torch_generator
from lmc_helpers.training.runs import DataSpec


def subspace(purpose: str, d: int, k: int) -> torch.Tensor:
    """A random orthonormal basis (d, k)."""
    return torch.linalg.qr(normal((d, k), seed, purpose))[0]


# %% [markdown]
# :::{need}
# You need: [](41_realization_cost.ipynb), eigenvalues of symmetric matrices. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $U$, $k$ | orthonormal basis of the inputs' subspace, and its dimension |
# | $v_i = U^\top f_i$ | {term}`centre <centre of a neuron>` of neuron $i$: its fixed part, as the inputs see it |
# | $r_i = U^\top (d_i \odot w_i)$ | its trained part; $a_i = v_i + r_i$ is its function |
# | $S_i = U^\top \operatorname{diag}(d_i)^2 U$ | its Gram matrix, near $\mu I$: $\lVert S_i - \mu I \rVert \le \varepsilon < \mu$ |
# | $\delta_\pi$, $\gamma$ | rows $\delta_i = v_{\pi(i)} - v_i$; the least $\lVert \delta_\pi \rVert$ over permutations $\pi \ne \mathrm{id}$ |
# | $\rho_\pi = \lVert R_\pi \rVert / \lVert \delta_\pi \rVert$ | size of the trained parts of the neurons that $\pi$ moves, over the distances of centres |
# | $T_{ij}$, $\Delta_\pi$ | squared cost of the function of neuron $j$ on neuron $i$; by how much $\pi$ changes their sum |
# | $Z$, $z_j$; $\tau$ | first random weights, and those of neuron $j$ as the inputs see them; time of weight decay, which leaves $e^{-\tau}$ of them |
# | $c$ | weight of $z_j$, relative to that of $v_j$ (1), in predicting which neuron takes a function |
#
# ## A neuron pays for the way from its centre to its function
#
# If centres are far apart and functions stay near them, an exchange makes both ways longer. If training has carried each function past the middle to the other centre, an exchange makes them shorter:

# %% Plot the idea
idea, frames = figures.panels(2, height=3.2)
hubs = np.array([[-1.0, 0.0], [1.0, 0.0]])  # centres; all S_i = I
for frame, ways, name in (
    (frames[0], [[0.3, 0.5], [-0.2, -0.5]], "small trained parts"),
    (frames[1], [[1.5, 0.5], [-1.4, -0.5]], "large trained parts"),
):
    goals = hubs + np.array(ways)  # functions
    price = ((goals[::-1] - hubs) ** 2).sum() - ((goals - hubs) ** 2).sum()
    for order, dash in ((goals, "-"), (goals[::-1], ":")):
        for hub, goal, colour in zip(
            hubs, order, ("blue", "orange"), strict=True
        ):
            frame.plot(*zip(hub, goal, strict=True), dash, color=f"book:{colour}")
    for hub, goal, colour in zip(hubs, goals, ("blue", "orange"), strict=True):
        frame.plot(*hub, "s", color=f"book:{colour}", markersize=9)
        frame.plot(*goal, "o", color=f"book:{colour}", markersize=7)
    sign = "−" if price < 0 else ""
    frame.set(title=f"{name}: swap cost {sign}{abs(price):.1f}", aspect="equal")
    frame.set(xlim=(-1.4, 1.4), ylim=(-0.8, 0.8), xlabel="$a_1$", ylabel="$a_2$")
    frame.set(xticks=[-1, 0, 1], yticks=[-0.5, 0, 0.5])
figures.show("fig_exchange", idea)

# %% [markdown]
# :::{glue:figure} fig_exchange
# :alt: Two squares, the centres, and two dots, the functions, twice. In the first panel each dot is near its own square, and the dotted ways to the other square are longer. In the second each dot lies beyond the middle, and the dotted ways are shorter.
#
# Two neurons with $S_i = I$: centres (squares), functions (dots), the ways from a centre to its own function (solid) and to the other one (dotted). The swap cost is the sum of the squared dotted ways less that of the solid ones.
# :::
#
# ## One table prices every exchange
#
# Bürgin, Herbst, Lin & Jegelka {cite:p}`buergin2026` (I) measure what neuron $i$ pays for the function of neuron $j$ by the least weights that do it,
#
# $$
# T_{ij} = (a_j - v_i)^\top S_i^{+} (a_j - v_i) ,
# $$
#
# infinite where it is impossible ({py:func}`~lmc_helpers.identifiability.costs.cost_table`). If neuron $i$ takes the function of neuron $\pi(i)$, the squared cost of the layer changes by
#
# $$
# \Delta_\pi = \sum_i \bigl( T_{i \pi(i)} - T_{ii} \bigr) ,
# $$ (eq-table)
#
# the paper's output sensitivity. It is linear in the permutation matrix, so the cheapest of all $m!$ exchanges is a linear assignment problem and can be found exactly, beyond the {term}`transpositions <transposition>` whose costs the paper measures.
#
# For a swap of neurons $i$ and $j$, I, (16) splits the change into three terms,
#
# $$
# \begin{aligned}
# \Delta_{(ij)} = {} & \underbrace{\lVert v_j - v_i \rVert^2_{S_i^{-1} + S_j^{-1}}}_{\text{centre}} \\
# & + \underbrace{2 \langle v_j - v_i,\, S_i^{-1} r_j - S_j^{-1} r_i \rangle}_{\text{cross}} \\
# & + \underbrace{\lVert r_j \rVert^2_{S_i^{-1} - S_j^{-1}} + \lVert r_i \rVert^2_{S_j^{-1} - S_i^{-1}}}_{\text{metric mismatch}} ,
# \end{aligned}
# $$
#
# where $\lVert x \rVert_A^2 = x^\top A x$. It agrees with least squares to rounding on random layers.


# %% Random layers
def random_layer(number: int, m: int, d: int, k: int, spread: float):
    """A layer with trained parts of any size against the centres."""
    purpose = f"layer {number} {m} {d} {k} {spread}"
    generator = torch_generator(seed, purpose + " D")
    D = torch.rand(m, d, dtype=torch.float64, generator=generator)
    generator = torch_generator(seed, purpose + " size")
    size = torch.rand(1, dtype=torch.float64, generator=generator).item()
    return AsymmetricLayer(
        F=normal((m, d), seed, purpose + " F"),
        D=1 + spread * (D - 0.5),
        W=10 ** (3 * size - 2) * normal((m, d), seed, purpose + " W"),
        U=subspace(purpose + " U", d, k),
    )


# %% The three terms against least squares
def squared_cost(a: torch.Tensor, f: torch.Tensor, d: torch.Tensor, U):
    """T: the squared least norm of w with Uᵀ(f + d ⊙ w) = a, least squares."""
    M = U.T * d
    w = np.linalg.lstsq(M.numpy(), (a - U.T @ f).numpy(), rcond=None)[0]
    return float(w @ w)


exact, without_mismatch = [], []
for number, size in product(range(layers), ((2, 3, 1), (4, 9, 3), (5, 5, 5))):
    F, D, W, U = random_layer(number, *size, spread=1.0)
    A = (F + D * W) @ U  # a_i, (m, k)
    terms = torch.stack(swap_terms(F, D, W, U))  # I, (16), (3, m, m)
    for i, j in combinations(range(len(F)), 2):
        change = sum(
            squared_cost(A[q], F[p], D[p], U) - squared_cost(A[p], F[p], D[p], U)
            for p, q in ((i, j), (j, i))  # T_pq − T_pp
        )
        scale = terms[:, i, j].abs().sum().item()
        exact.append(abs(terms[:, i, j].sum().item() - change) / scale)
        less = terms[:2, i, j].sum().item()
        without_mismatch.append(abs(less - change) / scale)

# %%
claims.check("I5.identity", exact, rival=float(np.median(without_mismatch)))

# %% [markdown]
# The paper's premise is that large costs of all nontrivial permutations are equivalent to there being a unique cheapest assignment of functions to neurons (I, section 4). Costs greater than 0 are. Positive costs of all swaps are not enough (Exercise 42.3), and two neurons that differ little have a unique cheapest assignment while their swap costs next to nothing.

# %% Unique assignments and positive costs
triangle = 2 * math.pi * torch.arange(3).double() / 3
differ, by_swaps = 0, 0  # layers where the answers differ; if only swaps count
for number in range(layers):
    corners, turned = (
        torch.stack([t.cos(), t.sin()], dim=1)
        for t in (triangle, triangle + (number + 0.5) / layers * math.pi / 2)
    )
    plain = AsymmetricLayer(
        corners, torch.ones(3, 2), turned - corners, torch.eye(2)
    )
    for layer in (plain, random_layer(number, 4, 12, 3, 0.6)):
        F, D, W, U = layer
        A, m = (F + D * W) @ U, len(F)
        T = [
            [squared_cost(a, f, d, U) for a in A]
            for f, d in zip(F, D, strict=True)
        ]
        orders = torch.tensor(list(permutations(range(m))))
        complexity = [
            sum(T[i][j] for i, j in enumerate(p)) for p in orders.tolist()
        ]
        unique = complexity[0] < min(complexity[1:])
        table = cost_table(*layer)
        differ += unique != bool(
            (output_sensitivity(table, orders)[1:] > 0).all()
        )
        swaps = swap_costs(*layer)[~torch.eye(m, dtype=torch.bool)]
        by_swaps += unique != bool((swaps > 0).all())

# %%
claims.check("I5.premise", differ, n=2 * layers, rival=by_swaps)

# %% [markdown]
# ## On incoherent inputs all neurons measure costs alike
#
# If all $S_i$ were $\mu I$, only the centres would tell neurons apart. I, Theorem 4.4 bounds $\lVert S_i - \mu I \rVert$ for random masks by the order $\sqrt \nu$ in the {term}`coherence` $\nu$ of the inputs. Its proof gives the constant $C = \sqrt 2$. Over all $2^{12}$ masks of 12 inputs, on random, coherent and flat subspaces, the bound is exceeded at most [[100 * I4.bound:≤.1f]] % as often as the theorem allows, and for inputs that hold copies of a few numbers the order $\sqrt \nu$ cannot be improved (Evidence).
#
# ## While fixed parts dominate, their distance is the price
#
# :::{prf:theorem} The centre-dominated regime
# :label: thm-center-dominated
# Let $\lVert S_i - \mu I \rVert \le \varepsilon < \mu$ for all $i$ and $e(\rho) = 2\rho + \dfrac{\varepsilon}{\mu - \varepsilon} \bigl( 1 + 2\rho + 2\rho^2 \bigr)$.
#
# 1. If $\delta_\pi \ne 0$, then $\bigl| \mu \Delta_\pi / \lVert \delta_\pi \rVert^2 - 1 \bigr| \le e(\rho_\pi)$. For $\varepsilon = 0$ and every $\rho$, and for $\rho = 0$ and every $\varepsilon < \mu$, there are layers with equality.
#    In the first term of $e$ the norm of $R_\pi$ may be replaced by that of $Q_\pi R$, each $r_i$ less its mean over the cycle of $\pi$ on which $i$ lies (I, (85)).
# 2. $\gamma = \min_{i \ne j} \lVert \delta_{(ij)} \rVert$ ${} = \sqrt 2 \min_{i \ne j} \lVert v_j - v_i \rVert$.
# 3. If $\gamma > 0$ and $\rho_{(ij)} \le \rho$ for all pairs with $\rho \le \rho^* = \dfrac{\sqrt{\mu - \varepsilon}}{\sqrt{\mu - \varepsilon} + \sqrt{\mu + \varepsilon}}$, then $\bigl| \mu \min_{\pi \ne \mathrm{id}} \Delta_\pi / \gamma^2 - 1 \bigr| \le e(\rho)$, and the minimum is not negative.
#    For $\varepsilon = 0$ the condition is $\rho \le \frac12$; it holds whenever $e(\rho) \le 1$.
# 4. For $\varepsilon = 0$, every $\rho \in (\frac12, 1]$ and even $m$ there are layers with $\rho_{(ij)} \le \rho$ for all pairs and $\mu \min_\pi \Delta_\pi \le \frac m2 (1 - 2\rho)\, \gamma^2 < 0$.
# :::
#
# Part 1 is I, Theorem 4.5. In words: an exchange costs $\lVert \delta_\pi \rVert^2/\mu$, up to a relative error of twice the relative size of the trained parts and a term for unequal metrics. The proof is in Evidence.

# %% Layers in the centre-dominated regime
REGIME = []  # layers with ε < μ/2, and their μ and ε
for number, spread, (d, k) in product(
    range(layers), (0.0, 0.2, 0.6, 1.2), ((6, 1), (12, 3))
):
    layer = random_layer(number, 4, d, k, spread)
    values = torch.linalg.eigvalsh(grams(layer.D, layer.U))
    low, high = values.min().item(), values.max().item()
    if low > 0 and (high - low) / 2 < (low + high) / 4:
        REGIME.append((layer, (low + high) / 2, (high - low) / 2))


# %% Part 1 for all permutations of four neurons
def error(rho, eps: float, mu: float, factor: float = 2.0):
    """The bound e(ρ) of the theorem."""
    return factor * rho + eps / (mu - eps) * (1 + factor * rho + 2 * rho**2)


ORDERS = torch.tensor(list(permutations(range(4))))  # (24, 4)
P = torch.eye(4).double()[ORDERS]  # (24, 4, 4)
powers = [torch.linalg.matrix_power(P, t) for t in range(12)]  # P¹² = I
Q = (torch.eye(4).double() - torch.stack(powers).mean(dim=0))[1:]  # I, (79)


def finer(rho, own, eps: float, mu: float, factor: float = 2.0):
    """The bound I, (85): of R, ``own`` = ‖Q_π R‖/‖δ_π‖ in the first term."""
    return error(rho, eps, mu) - 2 * rho + factor * own


ratios, halved, finer_ratios, finer_halved = [], [], [], []
for (F, D, W, U), mu, eps in REGIME:
    v, r = F @ U, (D * W) @ U  # (4, k)
    change = output_sensitivity(cost_table(F, D, W, U), ORDERS)[1:]  # Δ_π
    shift = (v[ORDERS] - v).square().sum(dim=(1, 2))[1:]  # ‖δ_π‖²
    moved = (ORDERS != torch.arange(4)).double()[1:]
    rho = (moved @ r.square().sum(dim=1) / shift).sqrt()  # ρ_π
    off = (mu * change / shift - 1).abs()
    ratios += (off / error(rho, eps, mu)).tolist()
    halved += (off / error(rho, eps, mu, factor=1.0)).tolist()
    own = ((Q @ r).square().sum(dim=(1, 2)) / shift).sqrt()
    finer_ratios += (off / finer(rho, own, eps, mu)).tolist()
    finer_halved += (off / finer(rho, own, eps, mu, 1.0)).tolist()

extremal = {}  # ρ and sign → distance of μ Δ/‖δ‖² from 1; ε = 0, μ = 0.7
for rho, sign in product((0.01, 0.1, 0.3, 0.5, 1.0), (1.0, -1.0)):
    F = torch.tensor([[0.0], [1.0]]).double()
    D = torch.full_like(F, math.sqrt(0.7))
    W = sign * rho * torch.tensor([[-1.0], [1.0]]).double() / math.sqrt(0.7)
    swap = swap_costs(F, D, W, torch.eye(1))[0, 1].item()
    extremal[rho, sign] = abs(0.7 * swap / 2 - 1)  # ‖δ‖² = 2
    swap = swap_costs(F, D, W + 3, torch.eye(1))[0, 1].item()  # a drift of both
    finer_ratios.append(abs(0.7 * swap / 2 - 1) / (2 * rho))
ratios += [off / error(rho, 0.0, 0.7) for (rho, _), off in extremal.items()]
halved += [off / error(rho, 0.0, 0.7, 1.0) for (rho, _), off in extremal.items()]

# %%
claims.check("I5.theorem", ratios, rival=max(halved))

# %% [markdown]
# ## Beyond halfway, exchanging many neurons pays
#
# I, Corollary C.5, (20) in the text, is part 3 with a weaker hypothesis: it asks for $\rho \le 1$ only, and concludes that the minimum is $(1 \pm \mathcal O(\rho + \varepsilon/\mu))\, \gamma^2/\mu$. For $\rho \le \rho^*$ it holds. Its proof takes the minimum of $(1 - e)\, \lVert \delta_\pi \rVert^2$ as if $1 - e$ were positive.
#
# Beyond, take pairs of neurons whose centres are 1 apart, the pairs far from each other, and let training move both of a pair towards each other by $\rho > \frac12$, as in {numref}`fig-exchange`. Each function is then cheaper on the other neuron, every pair that is exchanged saves $2 (2\rho - 1)$, and $m/2$ pairs save without bound while $\gamma$ stays. With $\rho = 1$ the exchanged layer needs no trained weights at all.


# %% The gap of part 2
def gap(v: torch.Tensor) -> float:
    """γ of part 2 for centres v (m, k)."""
    return math.sqrt(2) * torch.pdist(v).min().item()


# %%
def least_ratio(m: int, rho: float) -> float:
    """μ min Δ_π/γ² for part 4: m/2 far pairs of centres at distance 1, μ = 1."""
    place = 100.0 * torch.arange(m // 2, dtype=torch.float64)
    F = torch.stack([place, place + 1], dim=1).reshape(m, 1)
    W = rho * torch.tensor([1.0, -1.0]).double().repeat(m // 2)[:, None]
    U = torch.eye(1).double()
    _, least = cheapest_other(cost_table(F, torch.ones_like(F), W, U))
    return least / gap(F @ U) ** 2


widths = np.array([4, 8, 16, 32, 64])
falling = np.array([least_ratio(int(m), 0.9) for m in widths])
slope = float(np.polyfit(widths, falling, 1)[0])

# %% Parts 3 and 4 on layers within the bound
corollary = []
for (F, D, W, U), mu, eps in REGIME:
    v, size = F @ U, ((D * W) @ U).square().sum(dim=1)
    apart = torch.cdist(v, v).square().fill_diagonal_(math.inf)
    rho = ((size[:, None] + size) / (2 * apart)).sqrt().max().item()  # all pairs
    most = 1 / (1 + math.sqrt((mu + eps) / (mu - eps)))  # ρ*
    for scale in (1.0, min(1.0, 0.2 / rho), most / rho):
        if scale * rho <= most * (1 + 1e-12):
            e = error(scale * rho, eps, mu)
            _, least = cheapest_other(cost_table(F, D, scale * W, U))
            corollary.append(abs(mu * least / gap(v) ** 2 - 1) / e)
corollary += [
    off / error(rho, 0.0, 0.7) for (rho, _), off in extremal.items() if rho <= 0.5
]

# %%
claims.check("I5.corollary", slope, n=len(widths))
claims.check("I5.corollary_small", corollary, rival=2 * max(corollary))

# %% Plot the answer
figure, axis = figures.panels(height=2.6)
for rho, colour in ((0.3, "green"), (0.5, "black"), (0.7, "blue"), (0.9, "red")):
    values = [least_ratio(int(w), rho) for w in widths]
    around = dict(markersize=9, markerfacecolor="none") if rho == 0.3 else {}
    style = dict(color=f"book:{colour}", markersize=4) | around
    axis.plot(widths, values, "o-", **style)
    place = values[-1] + (1.6 if rho == 0.3 else -1.6 if rho == 0.5 else 0)
    style = dict(color=f"book:{colour}", va="center")
    said = rf"$\rho = {rho}$: {values[-1]:.1f}".replace("-", "−")
    axis.text(65.5, place, said, **style)
axis.axhline(0, color="book:grey", linewidth=0.8)
fall = claims.recorded("I5.corollary")["value"]
said = f"{fall:.1f} per neuron".replace("-", "−")
axis.text(42, -24, said, color="book:red", ha="right")
axis.set_xticks(widths, [str(w) for w in widths])
axis.set(xlabel="neurons $m$", xlim=(0, 80), ylim=(-29, 4))
axis.set_ylabel("cheapest exchange\n(units of $\\gamma^2/\\mu$)")
figures.show("fig_least", figure)

# %% [markdown]
# So one constant cannot do for all layers with $\rho \le 1$, as it may not depend on $m$. Two readings of the sentence:
#
# | Reading of $\mathcal O$ in Corollary C.5 | Verdict | Measured |
# | --- | --- | --- |
# | for small $\rho + \varepsilon/\mu$; here $\rho \le \rho^*$, with the error $e$ | [true](#I5.corollary_small) | at most [[I5.corollary_small:≤.3f]] of $e$, [[n(I5.corollary_small)]] layers |
# | one constant for all widths and $\rho \le 1$ | [false as printed](#I5.corollary) | slope [[I5.corollary:.1f]] in $m$ at $\rho = 0.9$, where 0 is allowed |
#
# The condition $\rho \le \rho^*$ is sufficient; for $\varepsilon = 0$ no larger $\rho$ will do. For $\varepsilon \le \mu/2$ it lies between 0.366 and $\frac12$, and tends to 0 as $\varepsilon \to \mu$.
#
# ## Large fixed weights make the ratio constant, but not one
#
# In I, Theorem 4.5 $\rho_\pi$ falls like $1/\sigma_F$ when fixed weights of scale $\sigma_F$ grow, but $\mathcal O(\varepsilon/\mu)$ stays. The ratio $\mu \Delta_\pi / \lVert \delta_\pi \rVert^2$ tends to a limit between $\frac{\mu}{\mu + \varepsilon}$ and $\frac{\mu}{\mu - \varepsilon}$ that is known exactly ({prf:ref}`thm-large-sigma`). For {term}`W-asymmetric` layers it is above 1 on average: centres are large where a neuron sees little, and there swaps are expensive.
#
# ## Swap costs tell who changes places, and so do weights that cost nothing
#
# Are neurons exchanged because it is cheap, "by virtue of the optimizer favoring solutions of small weight norm" (I, section 4)? Take two runs that share $F$, with $D = 1$, and match their neurons. The functions $a_i$ of the first, in the order $\pi$, cost $\sum_i \lVert a_i - v_{\pi(i)} \rVert^2$, a constant less $2 \sum_i \langle a_i, v_{\pi(i)} \rangle$: a price prefers places $j$ with large $\langle a_i, v_j \rangle$. But $F$ is a part of the start, too, which is $F + Z$, and $Z$ has no price. Give both one law.
#
# :::{prf:proposition} Without weight decay fixed weights are a part of the start, and no more
# :label: prop-exchangeable
# Let $D = 1$, and let the entries of $F$ and of the first weights $Z$ be independent, in each map with one law. Train by steps made from gradients, without weight decay. Given the network at all times, $(F, Z)$ has the law of $(Z, F)$. So $\langle a_i, z_j \rangle$ tells as well as $\langle a_i, v_j \rangle$ where the functions $a_i$ of another network are found in this one, if that network shares neither $F$ nor $Z$.
# :::
#
# :::{prf:proof}
# The gradients with respect to $W$ and to $F + W$ are the same, so that $F + W$ depends on $F + Z$ alone. To exchange $F$ and $Z$ keeps the sum and the law.
# :::
#
# An implicit preference of gradient steps for small norms cannot tell $F$ from $Z$ either. Decay for a time $\tau$ leaves $F + e^{-\tau} Z$ and what was learned ({prf:ref}`thm-start`). Let $c$ be the weight of $z_j$, relative to that of $v_j$ (1), in predicting which neuron takes a function. If decay only makes networks forget, $c = e^{-\tau}$; if functions go where they cost least, $c$ is smaller; if they stay where they were learned, larger.
#
# :::{glue:figure} fig_places_taken
# :alt: Relative weight of the first random weights in predicting which neuron takes a function, against the time of weight decay from 0 to 2.5. It begins at 1 and falls; the recorded value after the decay of the printed 100 epochs is [[I3.places_kept:±]]. A dashed curve shows what decay leaves of the weights; in the recorded run it lies below.
#
# Relative weight of the first random weights (fixed ones: 1) in predicting which neuron takes a function, in the first layers of MLPs where $F$ and $Z$ have one law; dashed: what decay leaves of them; at 0 costs alone would decide. Blue: recorded, [[n(I3.places_kept)]] clusters of two pairs on MNIST; orange: {glue:text}`pairs` pairs of this page (profile {glue:text}`profile`). Bars: 99.9 % intervals.
# :::
#
# | Asked of MLPs with 64 neurons per layer on MNIST, first layer | Recorded | We find |
# | --- | --- | --- |
# | Swap costs in one run predict who takes a place better than chance (0.5), *without* decay | [[I3.places_predicted:±]] | [true](#I3.places_predicted) |
# | $\langle a_i, v_j \rangle$ predicts it no better than $\langle a_i, z_j \rangle$ | difference [[I3.places_unpriced:±]] | [true](#I3.places_unpriced) |
# | $c$ at the $\tau$ of the printed 100 epochs: no less than decay leaves, {glue:text}`math.exp(-PRINTED):.2f` | [[I3.places_kept:±]] | [true](#I3.places_kept) |
# | after three times that decay $\langle a_i, v_j \rangle$ predicts better | difference [[I3.places_late:±]] | [true](#I3.places_late) |
#
# So here swap costs predict swaps, but not because a swap has a price: fixed weights are where neurons start. Decay brings functions to cheap neurons no faster than it makes networks forget where they began, and more slowly if anything. In these networks prices explain where weight decay ends, not the way there. Where $F$ is much larger than $Z$, start and price name the same places, and only a start that hides $F$ tells them apart ([](53_asymmetric_mlps.ipynb)).
#
# ## What it means for merging networks
#
# Fixed parts make the given order the cheapest as long as training stays close to them: with equal metrics every exchange has a positive cost as long as trained parts are less than half the distance between any two centres. A layer whose functions have moved further may be cheaper in another order, and two runs may then settle on different ones. One linear assignment in the cost table says whether that is so: of {glue:text}`layers` random layers of 16 neurons with untrained weights no swap had a negative cost in {glue:text}`swaps_say`, and the identity was the best of all permutations in {glue:text}`all_say` (this run).
#
# **Read on.** [](43_center_gap.ipynb): how close the closest two centres are. [](44_gaussian_mixture.ipynb): {term}`swap costs <swap cost>` of trained networks. [](54_swaps_on_images.ipynb): the same on images.

# %% [markdown]
# ## Evidence
#
# ### One table for all permutations
#
# $\sum_i T_{ii}$ is the square of the paper's global cost, I, (8) with the Frobenius norm of $W$, which is no norm of the layer's function (I, footnote 2). "Uniformly large" costs are a stronger condition than positive ones. The premise was tested on layers of four neurons and on the triangles of Exercise 42.3.
#
# ### Proof of the theorem
#
# :::{prf:proof}
# *Part 1* is I, (87): $\Delta_\pi = \sum_i \lVert \delta_i + r_{\pi(i)} \rVert^2_{S_i^{-1}} - \lVert r_i \rVert^2_{S_i^{-1}}$ over the moved neurons, and $\lVert S_i^{-1} - \mu^{-1} I \rVert \le \varepsilon / (\mu (\mu - \varepsilon))$. With $S_i = \mu I$ the sum is
# $\mu^{-1} \bigl( \lVert \delta_\pi \rVert^2 + 2 \langle \delta_\pi, P_\pi R_\pi \rangle \bigr)$, whose second term is at most $2 \rho_\pi \lVert \delta_\pi \rVert^2$; the error is at most $\varepsilon/(\mu(\mu - \varepsilon))$ times $\lVert \delta_\pi + P_\pi R_\pi \rVert^2 + \lVert R_\pi \rVert^2$.
# The rows of $\delta_\pi$ add up to 0 on each cycle, so that $\langle \delta_\pi, P_\pi R_\pi \rangle$ does not change when each $r_i$ loses its mean over its cycle.
# Equality: two neurons,
# $r_j = \rho\, (v_j - v_i) = -r_i$ and $S_i = \mu I$; or $r_i = r_j = 0$ and $S_i = S_j = (\mu - \varepsilon) I$.
#
# *Part 2.* A permutation other than the identity has a cycle of length $\ell \ge 2$, whose rows contribute at least $\ell \min \lVert v_j - v_i \rVert^2 \ge 2 \min \lVert v_j - v_i \rVert^2$, which a swap attains.
#
# *Part 3.*
# $\lVert r_i \rVert^2 + \lVert r_j \rVert^2 \le 2 \rho^2 \lVert v_j - v_i \rVert^2$ for all pairs; summed along the cycles of $\pi$ it gives $\rho_\pi \le \rho$.
# The closest pair gives $\mu \min \Delta_\pi \le (1 + e)\, \gamma^2$.
# As $S_i^{-1}$ lies between $(\mu \pm \varepsilon)^{-1} I$ and $\lVert \delta_\pi + P_\pi R_\pi \rVert \ge (1 - \rho_\pi) \lVert \delta_\pi \rVert$,
#
# $$
# \begin{aligned}
# \mu \Delta_\pi &\ge \ell(\rho)\, \lVert \delta_\pi \rVert^2 , \\
# \ell(\rho) &= \frac{\mu (1 - \rho)^2}{\mu + \varepsilon} - \frac{\mu \rho^2}{\mu - \varepsilon} \\
# &\ge 1 - e(\rho) ,
# \end{aligned}
# $$
#
# where the last step is $\frac{\mu}{\mu \pm \varepsilon} = 1 \mp \frac{\varepsilon}{\mu \pm \varepsilon}$. Because $\ell(\rho) \ge 0$ is $\rho \le \rho^*$, and $\lVert \delta_\pi \rVert \ge \gamma$, this is at least $\ell(\rho)\, \gamma^2$.
#
# *Part 4.* One input coordinate, $D = \sqrt \mu$: pairs of centres at distance $g$, the pairs far from each other, and in each pair $r_j = -\rho\, (v_j - v_i) = -r_i$. Then $\rho_{(ij)} = \rho$ in a pair and less between pairs, $\gamma^2 = 2 g^2$, and exchanging all pairs costs
# $\mu^{-1} \frac m2 \bigl( 2 g^2 - 4 \rho g^2 \bigr) = \mu^{-1} \frac m2 (1 - 2\rho)\, \gamma^2$.
# :::
#
# For a swap $\lVert Q_\pi R \rVert = \lVert r_i - r_j \rVert/\sqrt 2$, so with equal metrics what training does to both neurons alike costs nothing.
# Only if the trained parts add up to 0 on every cycle of moved neurons is $\lVert Q_\pi R \rVert$ as large as $\lVert R_\pi \rVert$. In the other term of I, (85) $R_\pi$ has to stay: if $r_i = r_j = r$, then $Q_\pi R = 0$, while the swap costs $\lVert v_j - v_i \rVert^2_{S_i^{-1} + S_j^{-1}} + 2 \langle v_j - v_i, (S_i^{-1} - S_j^{-1})\, r \rangle$, which is not bounded in $r$ unless $S_i^{-1} (v_j - v_i) = S_j^{-1} (v_j - v_i)$.
#
# Part 1 was compared for all permutations of four neurons and for the layers with equality: $\lvert \mu \Delta_\pi/\lVert \delta_\pi \rVert^2 - 1 \rvert$ in units of $e(\rho_\pi)$ is at most 1, and so it is with $Q_\pi R$.

# %%
claims.check("I5.finer", finer_ratios, rival=max(finer_halved))

# %% [markdown]
# Part 2: $\gamma$ by its formula, and as the least $\lVert \delta_\pi \rVert$ over all permutations.

# %% The gap over all permutations
differences, more_than_two = [], []
for number, (m, k) in product(range(layers), ((3, 1), (4, 2), (6, 3))):
    F = normal((m, 5), seed, f"gap {number} {m}")
    U = subspace(f"gap {number}", 5, k)
    orders = torch.tensor(list(permutations(range(m))))[1:]
    sizes = torch.stack([centre_shift(F, U, p).norm() for p in orders])
    differences.append(abs(sizes.min().item() / gap(F @ U) - 1))
    moved = (orders != torch.arange(m)).sum(dim=1)
    more_than_two.append(abs(sizes[moved > 2].min().item() / gap(F @ U) - 1))

# %%
claims.check("I5.gap", differences, rival=min(more_than_two))

# %% [markdown]
# ### How nearly equal the metrics are
#
# If all $S_i$ were $\mu I$, only the centres would tell neurons apart. Let the entries of $d_i^2$ be independent with mean $\mu$, variance $\sigma^2$ and distance at most $b$ from $\mu$, and let $u_l$ be the rows of $U$, so that $\nu = \max_l \lVert u_l \rVert^2$ and
#
# $$
# S - \mu I = \sum_l \bigl( d_l^2 - \mu \bigr)\, u_l u_l^\top .
# $$
#
# :::{prf:proposition} The second moment of the deviation
# :label: prp-gram-moment
# $\mathbb E\, (S - \mu I)^2 = \sigma^2 \sum_l \lVert u_l \rVert^2 u_l u_l^\top$. Its norm is $\sigma^2 v(U)$ with $\nu^2 \le v(U) \le \nu$, and
#
# $$
# \begin{aligned}
# \mathbb E\, \lVert S - \mu I \rVert_F^2 &= \sigma^2 \sum_l \lVert u_l \rVert^4, \\
# \mathbb E\, \lVert S - \mu I \rVert^2 &\ge \sigma^2\, v(U) .
# \end{aligned}
# $$
#
# For {term}`masks <mask>` with a fixed number of zeros in uniform places, as in the paper's experiments, $\mathbb E\, \lVert S - \mu I \rVert_F^2$ ${} = \sigma^2 \bigl( d \sum_l \lVert u_l \rVert^4 - k \bigr)/(d - 1)$, which is not larger.
# :::
#
# :::{prf:proof}
# Independent centred terms: only $(u_l u_l^\top)^2 = \lVert u_l \rVert^2 u_l u_l^\top$ remains. $\sum_l u_l u_l^\top = I$ gives $v \le \nu$, and the quadratic form at $u_l / \lVert u_l \rVert$ gives $v \ge \lVert u_l \rVert^4$. The norm of a mean is at most the mean of the norms.
# With a fixed number of zeros the covariance of two entries is $-\sigma^2/(d - 1)$, and $\sum_{l,\,l'} (u_l^\top u_{l'})^2 = \lVert U U^\top \rVert_F^2 = k$; and $\sum_l \lVert u_l \rVert^4 \le \sum_l \lVert u_l \rVert^2 = k$.
# :::
#
# I, Theorem 4.4 bounds the deviation with probability $1 - \delta$. Its proof by the matrix Bernstein inequality gives the constants, with $\Lambda = \ln(2k/\delta)$:
#
# $$
# \lVert S - \mu I \rVert \le \sqrt{2 \sigma^2 \nu \Lambda} + \tfrac23\, b\, \nu \Lambda ,
# $$ (eq-bernstein)
#
# so $C = \sqrt 2$ is enough. The inequality needs only the norm of $\mathbb E\,(S - \mu I)^2$, so $\nu$ may be replaced by $v(U)$ in the root. For inputs that hold each latent number $t$ times, $\nu = v = 1/t$ and $S$ is diagonal with independent means of $t$ entries, so that
# $\mathbb E\, \lVert S - \mu I \rVert^2 \ge \sigma^2 \nu$, with equality for $k = 1$: the order $\sqrt \nu$ cannot be improved.
#
# For $d = 12$ all $2^{12}$ masks can be enumerated. We find the exact probability that the deviation exceeds the bound, in units of the allowed $\delta$, on random, coherent and flat subspaces; and the second moments.

# %% The bounds, and how often masks exceed them
MASKS = all_masks(12)  # (4096, 12)
RATES, DELTAS = (0.1, 0.3, 0.5), (0.5, 0.1, 0.01)


def bounds(U: torch.Tensor, p: float, delta: float) -> list[torch.Tensor]:
    """The bound for masks with P(0) = p; v(U) for ν, with the root of I, (63)."""
    x, nu, v = mask_moments(p), coherence(U), variance_parameter(U)
    log = math.log(2 * U.shape[1] / delta)  # Λ
    third = x.distance * nu * log / 3  # b ν Λ/3
    root = (2 * x.variance * nu * log).sqrt()
    refined = (third.square() + 2 * x.variance * v * log).sqrt()
    return [root + 2 / 3 * x.distance * nu * log, third + refined]


def exceedance(U: torch.Tensor, ends: tuple, p: float, delta: float):
    """P(‖S − μI‖ > bound)/δ for both bounds, and for half of them."""
    mu, weights = 1 - p, mask_probabilities(MASKS, p)
    deviation = torch.maximum(ends[1] - mu, mu - ends[0])
    return [
        (weights[deviation > share * bound].sum() / delta).item()
        for share in (1.0, 0.5)
        for bound in bounds(U, p, delta)
    ]


def extremes(U: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Least and largest eigenvalues of S over all masks."""
    values = torch.linalg.eigvalsh(grams(MASKS, U))
    return values[:, 0], values[:, -1]


# %% Subspaces: random, coherent, flat, and the worst of some trials
SUBSPACES = []  # (number, U)
for number in range(layers):
    heavy = normal((12, 3), seed, f"heavy {number}").pow(5)
    tries = [normal((12, 2), seed, f"try {number} {t}").pow(3) for t in range(6)]
    tries = [torch.linalg.qr(x)[0] for x in tries]
    half = [exceedance(U, extremes(U), RATES[1], DELTAS[2])[2] for U in tries]
    found = [
        *(subspace(f"all {number} {k}", 12, k) for k in (1, 3, 6)),
        torch.linalg.qr(heavy)[0],
        exact_copies(12, 3, 1 + number % 4),
        tries[half.index(max(half))],
    ]
    SUBSPACES += [(number, U) for U in found]

# %% All masks of twelve inputs
exceed = []  # both bounds, and half of them
for _, U in SUBSPACES:
    ends = extremes(U)
    exceed += [exceedance(U, ends, p, q) for p, q in product(RATES, DELTAS)]

moments_exact, other_moment = [], []
for number, U in SUBSPACES:
    k, leverage = U.shape[1], leverages(U)  # ‖u_l‖²
    S, eye = grams(MASKS, U), torch.eye(U.shape[1]).double()
    p = RATES[number % 3]
    square = (S - (1 - p) * eye).square().sum(dim=(1, 2))
    mean = (mask_probabilities(MASKS, p) @ square).item()
    form = (p * (1 - p) * leverage.square().sum()).item()
    moments_exact.append(abs(form / mean - 1))
    if leverage[leverage > 0].std() > 1e-6:
        wrong = p * (1 - p) * k * coherence(U).item()
        other_moment.append(abs(wrong / mean - 1))
    fixed = 2 + number % 4  # the same with a fixed number of zeros
    p = fixed / 12
    chosen = S[(MASKS == 0).sum(dim=1) == fixed]
    mean = (chosen - (1 - p) * eye).square().sum(dim=(1, 2)).mean().item()
    form = p * (1 - p) * (12 * leverage.square().sum() - k).item() / 11
    moments_exact.append(abs(form - mean) / (p * (1 - p)))

# %%
printed, refined, half, refined_half = zip(*exceed, strict=True)
claims.check("I4.bound", printed, rival=max(half))
claims.check("I4.refined", refined, rival=max(refined_half))
claims.check("I4.moment", moments_exact, rival=min(other_moment))

# %% [markdown]
# The theorem covers other laws of $D$.
# In {term}`syre` $d^2 = 1/u$ with $u$ uniform on $(1 - \epsilon, 1 + \epsilon)$, so that $\mu = \operatorname{artanh}(\epsilon)/\epsilon$, $\sigma^2 = 1/(1 - \epsilon^2) - \mu^2$ and $b = 1/(1 - \epsilon) - \mu$.
# Here the masks cannot be enumerated, and rows are drawn.


# %% Draw rows of syre
def syre_exceedance(eps: float, U: torch.Tensor, n: int, seed: int) -> np.ndarray:
    """Draws with ‖S − μI‖ beyond the bound, and beyond a third of it, by δ."""
    moments, generator = syre_moments(eps), torch_generator(seed, f"syre {eps}")
    _, D = Syre(sigma=1.0, epsilon=eps).draw((n, len(U)), generator)
    ends = torch.linalg.eigvalsh(grams(D, U))  # of S = Uᵀ diag(d)² U, (n, k)
    off = (ends - moments.mean).abs().amax(dim=1)  # ‖S − μI‖
    bound = torch.stack([bernstein_bound(U, moments, q) for q in (0.5, 0.1)])
    return np.array(
        [(off > share * bound[:, None]).sum(1) for share in (1, 1 / 3)]
    )


settings = list(
    product((0.4, 0.9), (subspace("syre", 12, 3), exact_copies(12, 1, 12)))
)
beyond = np.array([syre_exceedance(e, U, draws, seed) for e, U in settings])

# %%
found = [
    [x / q for x in error_bars.share(int(count), draws)]
    for counts in beyond[:, 0]
    for count, q in zip(counts, (0.5, 0.1), strict=True)
]
value, low, high = max(found, key=lambda x: x[2])
third = (beyond[:, 1] / draws / [0.5, 0.1]).max()
claims.check("I4.syre", value, interval=(low, high), n=draws, rival=third)

# %% [markdown]
# For exact copies the slope of $\ln \mathbb E\, \lVert S - \mu I \rVert^2$ in $\ln \nu$ follows from the exact law (`copies_law`).

# %% The slope for exact copies
slopes = [
    math.log(copies_mean_square(20, k, 0.3) / copies_mean_square(2000, k, 0.3))
    / math.log(100)  # the coherence is 1/20 and 1/2000
    for k in (1, 2, 8)
]

# %%
claims.check("I4.sharp", slopes)

# %% Plot the deviation against the coherence
p, delta = 0.3, 0.01
counts = np.unique(np.round(np.geomspace(2, 400, 40)).astype(int))
figure, axis = figures.panels(height=4.4)
for k, colour in ((2, "book:blue"), (32, "book:orange")):
    laws = [copies_law(int(c), k, p) for c in counts]
    quantiles = [x[np.searchsorted(law, 1 - delta)] for x, law in laws]
    roots = [math.sqrt(copies_mean_square(int(c), k, p)) for c in counts]
    bases = [exact_copies(k * int(c), k, int(c)) for c in counts]
    bound = [bernstein_bound(U, mask_moments(p), delta).item() for U in bases]
    for values, style, label in (
        (bound, "--", f"bound, $k = {k}$"),
        (quantiles, "-", f"99 % quantile, exact, $k = {k}$"),
        (roots, ":", f"root mean square, exact, $k = {k}$"),
    ):
        axis.plot(1 / counts, values, style, color=colour, label=label)
    below = int(np.argmax(np.array(bound) < 1 - p))
    figures.numbers(
        **{
            f"nu_{k}": float(1 / counts[below]),
            f"slack_{k}": float((1 - p) / quantiles[below]),
        }
    )
    of_layer = [
        bernstein_bound(U, mask_moments(p), delta / 64).item() for U in bases
    ]
    below = int(np.argmax(np.array(of_layer) < 1 - p))
    figures.numbers(**{f"nu_layer_{k}": float(1 / counts[below])})
axis.axhline(1 - p, color="book:black", linewidth=1)
axis.text(0.0027, 0.75, r"$\mu$: full rank below", fontsize=10)
axis.set(xscale="log", yscale="log")
axis.set(xlabel=r"coherence $\nu$", ylabel=r"$\|S - \mu I\|$")
figures.show("fig_gram", figure, legend=2)

# %% [markdown]
# :::{glue:figure} fig_gram
# :alt: Deviation of the Gram matrix from its mean against the coherence on logarithmic axes. Exact quantiles and root mean squares fall like the root of the coherence; the bound lies above the quantiles by a factor that shrinks as the coherence falls. The bound falls below mu between about 0.05 and 0.1.
#
# Masks with 30 % zeros, inputs with exact copies: I, Theorem 4.4 with $\delta = 0.01$ and the constants of eq. {eq}`eq-bernstein`, and the exact law of $\lVert S - \mu I \rVert$ (profile {glue:text}`profile`).
# :::
# Where the bound is below $\mu$, $M_i = U^\top \operatorname{diag}(d_i)$ has full rank. For one neuron the bound guarantees that with probability 99 % from $\nu =$ {glue:text}`nu_2:.3f` downwards for $k = 2$, where the quantile itself is {glue:text}`slack_2:.1f` times smaller than $\mu$, and from {glue:text}`nu_32:.3f` for $k = 32$, where it is
# {glue:text}`slack_32:.1f` times smaller.
# The next sections ask this of all $m$ neurons at once, I, (18). By a union bound $\ln(2mk/\delta)$ takes the place of $\Lambda$ (I, footnote 4); for 64 neurons the guarantee then begins at $\nu =$ {glue:text}`nu_layer_2:.3f` and {glue:text}`nu_layer_32:.3f`.

# %% [markdown]
# ### What the ratio tends to
#
# In I, Theorem 4.5 $\rho_\pi$ falls like $1/\sigma_F$ when the fixed weights grow, but $O(\varepsilon/\mu)$ stays. So the ratio $\mu \Delta_\pi / \lVert \delta_\pi \rVert^2$ need not tend to 1.
#
# :::{prf:theorem} Large fixed weights
# :label: thm-large-sigma
# Let $F = \sigma_F F_0$ with $D$, $W$ and $\pi$ fixed, $\delta_\pi \ne 0$. As $\sigma_F \to \infty$
#
# $$
# \begin{aligned}
# \frac{\mu\, \Delta_\pi}{\lVert \delta_\pi \rVert^2} &\longrightarrow \lambda_\pi = \mu\, \frac{\sum_i \delta_i^\top S_i^{-1} \delta_i}{\sum_i \lVert \delta_i \rVert^2} , \\
# \lambda_\pi &\in \Bigl[ \frac{\mu}{\mu + \varepsilon}, \frac{\mu}{\mu - \varepsilon} \Bigr] ,
# \end{aligned}
# $$
#
# with an error of at most $\dfrac{2 \mu}{\mu - \varepsilon}\, \rho_\pi + \dfrac{2 \mu \varepsilon}{\mu^2 - \varepsilon^2}\, \rho_\pi^2$. Both ends of the interval are attained.
# :::
#
# :::{prf:proof}
# Written out,
#
# $$
# \begin{aligned}
# \Delta_\pi = \sum_i {}& \lVert \delta_i \rVert^2_{S_i^{-1}} + 2 \langle \delta_i, S_i^{-1} r_{\pi(i)} \rangle \\
# & + \lVert r_{\pi(i)} \rVert^2_{S_i^{-1}} - \lVert r_i \rVert^2_{S_i^{-1}} .
# \end{aligned}
# $$
#
# The second terms add up to at most $2 \rho_\pi \lVert \delta_\pi \rVert^2/(\mu - \varepsilon)$. The others lie between $\lVert R_\pi \rVert^2/(\mu \pm \varepsilon)$ in each of two sums,
# so they differ by at most $\rho_\pi^2 \lVert \delta_\pi \rVert^2 \bigl( \frac{1}{\mu - \varepsilon} - \frac{1}{\mu + \varepsilon} \bigr)$.
# The ends of the interval belong to $S_i = (\mu \pm \varepsilon) I$.
# :::
#
# :::{prf:proposition} Mean centre terms
# :label: prop-centre-means
# Let $F$ have independent normal entries of variance $\sigma_F^2$, all of them (syre) or those with $D = 0$, where $D$ is 0 or 1 (W-asymmetric). Let $D$ be given, $S_i$ and $S_j$ of full rank, $A = 2I - S_i - S_j$ and $B = S_i^{-1} + S_j^{-1}$. The means over $F$ are
#
# | Scheme | centre term | $\lVert \delta_{(ij)} \rVert^2$ |
# | --- | --- | --- |
# | syre | $2 \sigma_F^2 \operatorname{tr} B$ | $4 \sigma_F^2 k$ |
# | W-asymmetric | $\sigma_F^2 \operatorname{tr}(BA)$ | $2 \sigma_F^2 \operatorname{tr} A$ |
#
# For syre the mean of $\lambda_{(ij)}$ is $\frac{\mu}{2k} \operatorname{tr} B$.
# Over independent $D$ of full rank with $\mathbb E\, S_i = \mu I$ this is more than 1, unless $S_i = \mu I$ almost surely.
# :::
#
# :::{prf:proof}
# For syre $v_j - v_i$ is normal with covariance $2 \sigma_F^2 I$; in a W-asymmetric row the fixed entries are those with $d = 0$, so that
# $v_i$ has the covariance $\sigma_F^2\, U^\top \operatorname{diag}(1 - d_i)\, U = \sigma_F^2 (I - S_i)$.
# An isotropic $\delta$ gives $\mathbb E\, \delta^\top S^{-1} \delta / \lVert \delta \rVert^2 = \operatorname{tr} S^{-1}/k$, and $\mathbb E \operatorname{tr} S^{-1} > \operatorname{tr}\, (\mathbb E S)^{-1}$ by strict convexity.
# :::
#
# :::{prf:corollary} Masked fixed weights cost more
# :label: cor-masked-weights
# Over independent masks of full rank with the same law and $\mathbb E\, S_i = \mu I$ the mean centre term of W-asymmetric weights exceeds that of fixed weights of the same variance at as many places, drawn with the law of the masks but independently of them, by
#
# $$
# 2 \sigma_F^2 \bigl( \mu\, \mathbb E \operatorname{tr} S^{-1} - k \bigr) \ge 0 .
# $$
# :::
#
# :::{prf:proof}
# For independent $S_i$, $S_j$ with the law of $S$ the mean of $\operatorname{tr}\bigl( (S_i^{-1} + S_j^{-1})(2I - S_i - S_j) \bigr)$ is $2 (\mathbb E \operatorname{tr} S^{-1} - k) + 2 (1 - \mu)\, \mathbb E \operatorname{tr} S^{-1}$, and with the mean covariance $(1 - \mu) I$ of fixed weights at other places in the place of $I - S_i$ it is $4 (1 - \mu)\, \mathbb E \operatorname{tr} S^{-1}$. The difference is as stated, and not negative by the same convexity.
# :::
#
# So in W-asymmetric layers centres are large where a neuron sees little; there $S_i$ is small and the swap expensive.
# That makes swaps more expensive on average over the masks, though not for every pair: if each of two latent numbers is copied 20 times, one neuron sees 10 copies of the first and 1 of the second, and the other 10 and 20, then
# the mean centre term over the mean of $\lVert \delta_{(ij)} \rVert^2$ is {glue:text}`pair_masked:.2f` for W-asymmetric weights and {glue:text}`pair_free:.2f` for fixed weights at places that do not depend on the mask.


# %% The limit of the ratio
def limit_ratio(F, D, U, p, mu: float) -> float:
    """λ_π of the theorem."""
    shift = centre_shift(F, U, p)  # δ_i, (m, k)
    weighted = torch.linalg.solve(grams(D, U), shift[..., None])[..., 0]
    return float(mu * (shift * weighted).sum() / shift.square().sum())


far, from_one = [], []
for number, (d, k) in product(range(layers), ((6, 1), (12, 3), (24, 4))):
    F, D, W, U = random_layer(number, 5, d, k, spread=1.2)
    table = cost_table(1e7 * F, D, W, U)
    for draw in range(3):
        generator = torch_generator(seed, f"{number} {d} {draw}")
        p = torch.randperm(5, generator=generator)
        if not p.equal(torch.arange(5)):
            shift = 1e7 * centre_shift(F, U, p).norm().item()
            ratio = output_sensitivity(table, p).item() / shift**2  # μ = 1
            far.append(abs(ratio - limit_ratio(F, D, U, p, 1.0)))
            from_one.append(abs(ratio - 1))

# %%
claims.check("I5.limit", far, rival=max(from_one))

# %% [markdown]
# The mean centre term of a W-asymmetric pair over its fixed weights, with $\sigma_F = 1$ and the masks held. The term is quadratic in the fixed weights, which are independent with mean 0, so that its mean is the sum of its values where one of them is 1 and the others are 0:

# %% Mean centre terms
means, naive = [], []  # relative differences from the closed form
for number, (d, k, fixed) in product(
    range(layers), ((12, 2, 4), (24, 3, 8), (24, 3, 16))
):
    U = subspace(f"mean {number} {d} {fixed}", d, k)
    generator = torch_generator(seed, f"mean masks {number} {d} {fixed}")
    _, D = WAsymmetric(fixed, 1.0).draw((2, d), generator)
    S = grams(D, U)
    both = torch.linalg.inv(S).sum(dim=0)  # B = S_i⁻¹ + S_j⁻¹
    room = 2 * torch.eye(k).double() - S.sum(dim=0)  # A = 2I − S_i − S_j
    closed = torch.trace(both @ room).item()
    mean = 0.0
    for entry in (D == 0).nonzero():
        F = torch.zeros_like(D)
        F[tuple(entry)] = 1
        mean += swap_terms(F, D, 0 * F, U)[0][0, 1].item()
    means.append(abs(mean / closed - 1))
    naive.append(abs(2 * torch.trace(room).item() / (1 - fixed / d) / closed - 1))

# %%
claims.check("I5.limit_mean", means, rival=min(naive))

# %% Plot the ratio against the size of the fixed weights
figure, left = figures.panels(height=3.6)
m, d = 32, 128
U, W = subspace("figure", d, 8), normal((m, d), seed, "figure W") / math.sqrt(d)
i, j = torch.triu_indices(m, m, 1)
sigmas = torch.logspace(-1, 2, 30, dtype=torch.float64)
levels = torch.tensor([0.05, 0.5, 0.95]).double()
for fixed, colour in ((16, "book:blue"), (64, "book:orange"), (96, "book:red")):
    generator = torch_generator(seed, f"figure {fixed}")
    F, D = WAsymmetric(fixed, 1.0).draw((m, d), generator)
    mu, shift = 1 - fixed / d, 2 * torch.cdist(F @ U, F @ U).square()[i, j]
    curve = [
        (mu * swap_costs(s * F, D, W, U)[i, j] / (s**2 * shift)).quantile(levels)
        for s in sigmas
    ]
    low, middle, high = torch.stack(curve, dim=1)
    left.fill_between(sigmas, low, high, color=colour, alpha=0.08, lw=0)
    left.plot(sigmas, middle, color=colour, label=f"{fixed} of {d} fixed")
    left.plot(sigmas, low, color=colour, linewidth=0.6)
    left.plot(sigmas, high, color=colour, linewidth=0.6)
    centre = swap_terms(F, D, W, U)[0][i, j]
    left.axhline((mu * centre / shift).median(), color=colour, linestyle=":")
left.axhline(1, color="book:black", linewidth=1)
label = r"$\mu\,\Delta_{(ij)}\,/\,\|\delta_{(ij)}\|^2$"
left.set(xscale="log", xlabel=r"$\sigma_F$", ylabel=label, ylim=(0, 3))
left.legend(loc="upper right")
figures.show("fig_ratio", figure)

# %% Numbers for the text
swaps_say, all_say = 0, 0  # layers whose identity is best among swaps, among all
for number in range(layers):
    generator = torch_generator(seed, f"optimal {number}")
    F, D = WAsymmetric(16, 1.0).draw((16, 64), generator)
    W = normal((16, 64), seed, f"optimal W {number}") / 8
    layer = AsymmetricLayer(0.5 * F, D, W, subspace(f"optimal {number}", 64, 4))
    swaps_say += swap_costs(*layer).min().item() >= 0
    all_say += cheapest(cost_table(*layer))[1] == 0
S = torch.tensor([[10, 1], [10, 20]]).double() / 20  # diagonals of S_i and S_j
both, room = (1 / S).sum(dim=0), (1 - S).sum(dim=0)
figures.numbers(
    pair_masked=float(both @ room / (2 * room.sum())),
    pair_free=float(both.mean() / 2),
    swaps_say=swaps_say,
    all_say=all_say,
)

# %% [markdown]
# :::{glue:figure} fig_ratio
# :alt: Ratio of swap cost to centre distance against the size of the fixed weights, for three numbers of fixed entries. The bands shrink as the fixed weights grow, and the medians tend to dotted lines above one, the higher the more entries are fixed.
#
# All pairs of a W-asymmetric layer with 32 neurons, 128 inputs, $k = 8$; medians and 5–95 % bands (thin lines), with the median limits of {prf:ref}`thm-large-sigma` (dotted; profile {glue:text}`profile`).
# :::
#
# So the factor between $\Delta_\pi$ and $\lVert \delta_\pi \rVert^2$ is $1/\mu$ only for nearly isotropic metrics.
#
# ### Who takes whose place
#
# {glue:text}`data_says` The networks are those of [](53_asymmetric_mlps.ipynb) (layer norm, GELU, AdamW with rate 0.001, batches of 64), narrower, with $\sigma_F = d^{-1/2}$ in maps of $d$ inputs, the law of the first weights. We look at the first layer, whose inputs both networks have in common, in the subspace of 90 % of the variance. The two networks of a pair share $F$; pairs share nothing but the images. For exchanges, a *moved* neuron is one that activation matching does not leave in place, and the other moved ones are what the place is compared with:


# %% Train the pairs, and count the time of weight decay
name, data_says = choose((dataset, "digits"))
spec = DataSpec(name, "train90").at_most(images, seed)
x = load(name, spec.split, spec.n, spec.seed).inputs(flat=True)
chapter.uses(dataset=load(name).source, images=spec.size)
basis = pca_basis(x, centred=True)
PRINTED = -100 * math.ceil(54_000 / 64) * math.log1p(-1e-5)  # τ, 100 epochs
free, charged = (
    syre_pairs(spec, width, pairs, epochs, tau, seed) for tau in (0, 3 * PRINTED)
)

# %%
# moved neurons of two networks that share F, no weight decay
met = places(free, x, basis)  # new places p (pairs, m); a, v, z (pairs, m, k)
moved = met.p != torch.arange(width)
among = moved[:, :, None] & moved[:, None] & ~torch.eye(width, dtype=torch.bool)
G = met.v @ met.a.mT  # ⟨v_i, a_j⟩
own = G.diagonal(dim1=1, dim2=2)
found = {
    "swap cost": G + G.mT - own[:, :, None] - own[:, None],  # −Δ_(ij)/2
    "fixed weights": met.a @ met.v.mT,
    "first random weights": met.a @ met.z.mT,
    "the whole start": met.a @ (met.v + met.z).mT,
}
found = {label: auc(score, met.p, among) for label, score in found.items()}
print(f"{100 * moved.double().mean():.0f} % of the neurons moved")
for label, rank in found.items():
    print(f"{label:21}{100 * rank.nanmean():.0f} % below the new place")


# %% Means over pairs
def over_pairs(values: torch.Tensor) -> tuple[float, float]:
    """Mean and error over pairs in which neurons moved; one pair says nothing."""
    values = values[values.isfinite()]
    return error_bars.over_clusters(values) if len(values) > 1 else (0.5, 1e6)


lead = found["fixed weights"] - found["first random weights"]

# %%
by_cost = over_pairs(found["swap cost"])
claims.check("I3.places_predicted", *by_cost, n=pairs)
claims.check("I3.places_unpriced", *over_pairs(lead), n=pairs)

# %% [markdown]
# Both scores hold what the second neuron has from the beginning, so that a rank beyond chance says nothing about prices; their comparison does. Where the networks share $F$, it is measured; where they share nothing, {prf:ref}`prop-exchangeable` says what it is without prices. For $c$ the first network is therefore that of the pair half of all pairs on, all neurons count, and two pairs are one cluster; $c$ is the mean of $\langle a_i, z_j \rangle$ at the place $j$ of function $i$, less that over all $j$, over the same with $v_j$, for $a_i$ of unit length.


# %% What first weights count, over the time of decay
def clusters(values: torch.Tensor) -> np.ndarray:
    """Of pairs, and of those half of all pairs on: (pairs / 2, 2)."""
    return values.reshape(2, -1).T.numpy()


thirds = [(free, None, 0.0), (charged, None, 3 * PRINTED)]
thirds[1:1] = [(charged, n * epochs // 3, n * PRINTED) for n in (1, 2)]
counts = []
for run, epoch, _ in thirds:
    far = places(run, x, basis, epoch, other=pairs // 2)
    a = far.a / far.a.norm(dim=-1, keepdim=True)
    scores = [a @ weights.mT for weights in (far.z, far.v)]
    lifts = [clusters(lift(score, far.p)) for score in scores]
    counts.append(error_bars.jackknife(lambda u, v: u / v, *lifts))
every = torch.ones(pairs, width, width, dtype=torch.bool)
of_first, of_fixed = (clusters(auc(score, far.p, every)) for score in scores)

# %%
claims.check("I3.places_kept", *counts[1], n=pairs // 2)
late = error_bars.over_clusters(of_fixed - of_first)  # at the end
claims.check("I3.places_late", *late, n=pairs // 2)

# %% Plot the count over the time of decay
figure, axis = figures.panels(height=2.8)
taus = [tau for *_, tau in thirds]
fine = np.linspace(0, taus[-1], 100)
axis.plot(fine, np.exp(-fine), "--", color="book:black")
axis.text(2.5, 1.12, "dashed: what decay leaves", ha="right")
style = dict(color="book:orange", fmt="o-", linewidth=1.2)
figures.band(axis, taus, *np.transpose(counts), **style)
record = claims.recorded("I3.places_kept")
style = dict(color="book:blue", zorder=4)
axis.plot([PRINTED] * 2, [record["low"], record["high"]], linewidth=2, **style)
axis.plot(PRINTED, record["value"], "o", markersize=7, **style)
axis.set(xlabel=r"time of decay $\tau$", ylabel="relative weight $c$")
axis.set(xlim=(-0.1, 2.6), ylim=(-0.2, 1.3), yticks=[0, 0.5, 1])
figures.show("fig_places_taken", figure)
figures.numbers(data_says=data_says)

# %% [markdown]
# ### Exercises
#
#
# :::{exercise}
# One input coordinate, $D = 1$, two neurons with centres $0$ and $1$ and trained parts $\rho$ and $-\rho$. Compute the swap cost from the table $T$. When is it negative?
# :::
#
# :::{solution}
# The functions are $\rho$ and $1 - \rho$. So $T_{11} = T_{22} = \rho^2$, $T_{12} = T_{21} = (1 - \rho)^2$, and $\Delta = 2 (1 - \rho)^2 - 2 \rho^2 = 2 (1 - 2 \rho)$, negative for $\rho > \frac12$. These are the layers with equality in part 1 of {prf:ref}`thm-center-dominated`.
# :::
#
# :::{exercise}
# All $S_i = I$. Show that $\Delta_{(ij)} = 2 \langle v_i - v_j, a_i - a_j \rangle$, and that for $k = 1$ non-negative swap costs do certify the identity.
# :::
#
# :::{solution}
# $\lVert a_j - v_i \rVert^2 + \lVert a_i - v_j \rVert^2$ ${} - \lVert a_i - v_i \rVert^2 - \lVert a_j - v_j \rVert^2$ holds every square once with each sign; the products that are left are $2 \langle v_i, a_i - a_j \rangle - 2 \langle v_j, a_i - a_j \rangle$.
#
# In general $\Delta_\pi = 2 \sum_i \langle v_i, a_i - a_{\pi(i)} \rangle$.
# For $k = 1$ non-negative swap costs say that two neurons with different centres have their functions in the same order as their centres.
# By the rearrangement inequality $\sum_i v_i a_{\pi(i)}$ is then largest for the identity.
# :::
#
# :::{exercise}
# Let the centres of three neurons be the corners of an equilateral triangle around 0 with $\lVert v_i \rVert = 1$, $S_i = I$, and let every function be its centre, turned by an angle $\theta$ between $0°$ and $180°$.
# For which $\theta$ are all swap costs positive while a cycle of all three neurons is cheaper than the identity?
# :::
#
# :::{solution}
# By Exercise 42.2 a swap costs $2 \lVert v_i - v_j \rVert^2 \cos \theta = 6 \cos \theta$, which is positive for $\theta < 90°$.
# The cycle turns every function by $-120°$ relative to its neuron and costs $3 \cdot 2\, (\cos \theta - \cos(\theta - 120°))$, which is negative for $\theta > 60°$.
# So the answer is $60° < \theta < 90°$.
# At $75°$:
#
#     t = 2 * math.pi * torch.arange(3).double() / 3
#     F = torch.stack([t.cos(), t.sin()], dim=1)
#     t = t + math.radians(75)
#     W = torch.stack([t.cos(), t.sin()], dim=1) - F
#     layer = AsymmetricLayer(F, 0 * F + 1, W, torch.eye(2).double())
#     print(swap_costs(*layer), cheapest(cost_table(*layer)))
# :::
# :::{try}
# More layers, every verdict kept; look at the ratios of `I5.theorem`:
#
#     make chapter NAME=swap_cost ARGS="-p layers 60 -p draws 100000"
# :::

# %% Versions and time
print(chapter.end())
