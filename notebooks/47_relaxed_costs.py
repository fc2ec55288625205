# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # On symmetric inputs relaxed costs are known within a factor of two
#
# *What does it cost a neuron to compute a function only nearly (its relaxed cost)?*
#
# As errors get more expensive, this cost tends to the cost of computing the function exactly (proved in the paper). For ReLU on symmetric inputs the paper's upper bound is at most **4 times** the cost; two bounds of ours differ at most **twofold**, with [[n(I19.between)]] costs between.
#
# :::{glue:figure} fig_relaxed
# :alt: Cost against beta, one over the price of errors, both axes logarithmic, for two functions. The lower one, which the neuron can compute, tends to its cost without error, a dotted level, as beta falls; the other one grows like one over beta. Dots from minimisation lie in narrow bands of a factor of at most 2; the dashed bound of the paper lies above.
#
# Costs of two ReLU functions on symmetric inputs, one of which the neuron can compute: found by minimisation (dots), our bounds (bands), the paper's bound (dashed).
# :::
#
# **How sure.** Upper bound and limit are proved in the paper, the bounds on symmetric inputs here; compared with [[n(I19.surrogate)]] costs minimised directly on random inputs ([[n(I19.between)]] of them ReLU, symmetric inputs), recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "Explicit upper bound" (Thm E.4, eq. 255) | [true](#I19.surrogate) | costs up to [[100 * I19.surrogate:≤.1f]] % of it |
# | … in closed form (eqs. 256, 257) | [true](#I19.closed_form) | to rounding, [[n(I19.closed_form)]] problems |
# | The cost tends to that without error as errors get expensive (Thm E.5) | [true](#I19.ridgeless_any) | to [[I19.ridgeless_any:≤.0e]], inputs without symmetry |
# | "If $\eta$ is bi-Lipschitz, one can prove a lower bound" (App. E.2, $\eta$ the activation) | [true](#I19.bi_lipschitz) | leaky ReLU, [[n(I19.bi_lipschitz)]] costs |
# | A lower bound, ReLU, symmetric inputs (ours) | [true](#I19.between) | at least half of our upper bound |
# | Functions equal on the projection differ, squared, by $2 (L_1^2 + L_2^2)$ times the variance lost (Prop. E.2) | [true, with room](#I19.coincidence) | $(L_1 + L_2)^2$ suffices; $L_i$: Lipschitz constants |
#
# **Open.** Nothing. Without symmetry no such lower bound exists for ReLU.
#
# **For the authors.** No sentence to change. After Thm E.4 one may add: *For ReLU and inputs distributed like their negatives, the relaxed cost lies between the surrogates with $L^2 = \frac14$ and $L^2 = \frac12$.*

# %% Parameters tags=["parameters"]
distributions: int = 16  # random distributions of the inputs in each dimension
costs: int = 60  # relaxed costs by direct minimisation
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(), distributions=Integer(9, 10_000), costs=Integer(6, 10_000)
)

import math
from itertools import product

import torch
from scipy.stats import spearmanr
from torch import nn

from lmc_helpers import claims, figures
from lmc_helpers._chapters.relaxed_costs import (
    quadratic_surrogate,
    relaxed_cost,
    relu_function_cost,
    ridgeless_limit,
    tail_energy,
)
from lmc_helpers.identifiability import (
    WAsymmetric,
    least_norm_weight,
    realization_cost,
)
from lmc_helpers.seeds import normal, torch_generator

# %% [markdown]
# :::{need}
# You need: [](41_realization_cost.ipynb), ridge regression, eigenvalues of a second-moment matrix. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $x$, $\Sigma$; $\lambda_1 \ge \lambda_2 \ge \dots$ | inputs, $\Sigma = \mathbb E\, x x^\top$; its eigenvalues |
# | $P_k$, $\tau_k$ | projector on the first $k$ eigenvectors; tail energy $\sum_{j > k} \lambda_j$ |
# | $f$, $d$, $D$, $w$ | fixed weights of a neuron, weights of its trained part, $D = \operatorname{diag}(d)$, and that part: it computes $h_w(x) = \eta((f + Dw)^\top x)$ |
# | $h$, $u$ | function to compute; its weights, if $h(x) = \eta(u^\top x)$ |
# | $1/\beta$, $\lVert h \rVert_\beta^2$ | price of an error; the *{term}`relaxed cost`* |
# | $L$, $\ell$ | $\ell\, \lvert s - t \rvert \le \lvert \eta(s) - \eta(t) \rvert \le L\, \lvert s - t \rvert$; $L_1$, $L_2$: Lipschitz constants of $h_1$, $h_2$ |
# | $\rho$, $B$, $Q_L(\beta)$ | $\Sigma^{1/2} (u - f)$, $\Sigma^{1/2} D$; the paper's surrogate, an upper bound of the cost |
# | $g$, $G$ | even part of $\eta$, and its Lipschitz constant |
#
# ## An error puts a ceiling on the cost
#
# A linear neuron sees an input of variance 1 only through a small weight $d$, and is to compute that input. Exactly, this costs $1/d^2$, which is infinite for $d = 0$. With an error at the price $1/\beta$ it costs $1/(d^2 + \beta)$, at most $1/\beta$: the price of not computing it at all.

# %% Plot the idea
idea, price_axis = figures.panels(height=3.2)
seen = torch.logspace(-2.5, 0, 61, dtype=torch.float64)
one_input = torch.ones(1, 1).double()
for price_now, colour in ((1e-9, "black"), (0.001, "blue"), (0.01, "orange")):
    unit = torch.ones(1).double()
    costs_at = [
        quadratic_surrogate(unit, 0 * unit, x[None], one_input, price_now).value
        for x in seen
    ]
    name = rf"$\beta = {price_now}$" if price_now > 1e-6 else "no error allowed"
    price_axis.plot(seen, costs_at, color=f"book:{colour}", label=name)
price_axis.set(xscale="log", yscale="log")
price_axis.set(xlabel="how well the input is seen, $d$")
price_axis.set(ylabel="squared cost", ylim=(0.5, 2e4))
price_axis.legend(loc="upper right")
figures.show("fig_price", idea)

# %% [markdown]
# :::{glue:figure} fig_price
# :alt: Cost of one function against d on logarithmic axes. Without an error it rises like one over d squared as d falls; with a price it levels off, at a thousand for beta 0.001 and at a hundred for beta 0.01.
#
# What it costs a neuron to compute an input that it sees with weight $d$, with and without an error.
# :::
#
# ## The minimum of a quadratic function bounds it from above
#
# Bürgin, Herbst, Lin & Jegelka (I) {cite:p}`buergin2026` define the *relaxed* cost of $h$ as
#
# $$
# \begin{aligned}
# \lVert h \rVert_\beta^2 = \inf_w \Bigl\{ & \tfrac1\beta\, \mathbb E\, (h - h_w)^2 \\
# & + \lVert w \rVert^2 \Bigr\} .
# \end{aligned}
# $$ (eq-relaxed)
#
# For $h(x) = \eta(u^\top x)$ and $L$-Lipschitz $\eta$ it is at most the minimum of a quadratic function (I, Theorem E.4),
#
# $$
# Q_L(\beta) = \rho^\top \Bigl( B B^\top + \frac{\beta}{L^2} I \Bigr)^{-1} \rho ,
# $$ (eq-surrogate)
#
# which equals I, (257), a difference of two terms of order $1/\beta$, without its loss of digits.
# It increases as $\beta \to 0$, to the least $\lVert w \rVert^2$ with which the neuron computes the *linear* function $u^\top x$, or to infinity.
# Where $\eta(u^\top x)$ determines $u^\top x$, as under I, Assumption 4.1, this is the squared {term}`realization cost`, the cost without error.
# Else it may be larger: for one positive input, $f = 0$, $d = 1$, $u = -1$ and ReLU it tends to 1, while the function is 0 and costs nothing.
#
# ## Symmetric inputs bound it from below as well
#
# The paper notes that a lower bound exists for bi-Lipschitz $\eta$: $\mathbb E (h - h_w)^2 \ge \ell^2\, \lVert \rho - B w \rVert^2$, so the relaxed cost is at least $Q_\ell(\beta)$. Leaky ReLU has such an $\ell$, its smaller slope (tested at 0.3, on inputs without symmetry); ReLU and GELU have none, and the example above shows that for ReLU no $Q_\ell$ is a lower bound on all inputs. Under a symmetry like that of I, Assumption 4.1, which demands a spanning set of inputs that holds $-x$ with every $x$ ([](41_realization_cost.ipynb)), there is one.
#
# :::{prf:theorem} Relaxed costs on symmetric inputs
# :label: thm-relaxed-symmetric
# Let $\eta(s) - \eta(-s) = s$ for all $s$, let the even part $g(s) = \frac12 (\eta(s) + \eta(-s))$ be $G$-Lipschitz, and let $x$ and $-x$ have the same law with a finite second moment. Then for all weights $p$ and $q$
#
# $$
# \begin{aligned}
# & \tfrac14 \lVert p - q \rVert_\Sigma^2 \\
# & \quad \le \mathbb E\, \bigl(\eta(p^\top x) - \eta(q^\top x)\bigr)^2 \\
# & \quad \le \bigl(\tfrac14 + G^2\bigr) \lVert p - q \rVert_\Sigma^2 ,
# \end{aligned}
# $$
#
# and the relaxed cost of $\eta(u^\top x)$ lies between the surrogates with $L^2 = \frac14$ and $L^2 = \frac14 + G^2$. For ReLU $G = \frac12$: $L^2 = \frac14$ and $\frac12$.
# :::
#
# :::{prf:proof}
# $\eta(s) = s/2 + g(s)$. With $s = p^\top x$, $t = q^\top x$ the square is the sum of $\frac14 (s - t)^2$, $(g(s) - g(t))^2$ and $(s - t)(g(s) - g(t))$. The last term changes its sign with $x$, so its mean is 0, and $0 \le (g(s) - g(t))^2 \le G^2 (s - t)^2$.
# Put $p = u$, $q = f + Dw$, divide by $\beta$, add $\lVert w \rVert^2$ and take the infimum. For ReLU $g = |\cdot|/2$.
# :::
#
# As $Q_L(\beta)/L^2$ does not increase with $L$, the two bounds for ReLU differ by a factor of at most 2, and the surrogate with $L = 1$ is too large by a factor between 1 and 4 on symmetric inputs. For small $\beta$ the limit of I, Theorem E.5 comes with a rate: both bounds are explicit. The test minimises eq. {eq}`eq-relaxed` directly, for random neurons, targets and prices:


# %% Random distributions of the inputs
def distribution(number: int, d: int, symmetric: bool) -> torch.Tensor:
    """Equally likely inputs (n, d) with a mean and a decaying spectrum."""
    scales = 2.0 ** -torch.arange(d, dtype=torch.float64)
    turn = torch.linalg.qr(normal((d, d), seed, f"turn {number} {d}"))[0]
    x = normal((40, d), seed, f"x {number} {d}")
    X = (x * scales + 0.5 * scales[0]) @ turn
    return torch.cat([X, -X]) if symmetric else X


# %% Random neurons, targets and prices
def problem(number: int) -> tuple:
    """Symmetric inputs X, a neuron's rows f, d and a weight w, a target u, β."""
    size = (3, 4, 6)[number % 3]
    X = distribution(number, size, symmetric=True)
    f, w = normal((2, size), seed, f"neuron {number}")
    generator = torch_generator(seed, f"d {number}")
    d = 0.5 + torch.rand(size, dtype=torch.float64, generator=generator)
    d[number % size] = 0.0 if number % 4 else d[number % size]
    u = f + normal((size,), seed, f"target {number}")
    largest = torch.linalg.eigh(X.T @ X / len(X)).eigenvalues[-1].item()
    return X, f, d, w, u, (0.01, 0.1, 1.0)[(number // 3) % 3] * largest


PROBLEMS = [problem(number) for number in range(costs)]

# %%
between, to_low, to_one = [], [], []  # ratios of the relaxed cost
for X, f, d, _, u, beta in PROBLEMS:
    Sigma = X.T @ X / len(X)
    low, high, one = (
        quadratic_surrogate(u, f, d, Sigma, beta, math.sqrt(L2))
        for L2 in (0.25, 0.5, 1.0)
    )
    starts = torch.stack([one.w, low.w, high.w])
    goal = (X @ u).relu()
    cost = relaxed_cost(goal, X, f, d, beta, torch.relu, starts).value
    between += [float(low.value / cost), float(cost / high.value)]
    to_low.append(float(cost / low.value))
    to_one.append(float(cost / one.value))

# %% The upper bound for GELU, on inputs that are not symmetric
GELU_SLOPE = 0.5 + 0.5 * math.erf(1) + math.exp(-1) / math.sqrt(math.pi)
gelu, upper = nn.functional.gelu, list(to_one)
for X, f, d, _, u, beta in PROBLEMS[::3]:  # inputs that are not symmetric
    X = X[: len(X) // 2]
    Sigma = X.T @ X / len(X)
    one = quadratic_surrogate(u, f, d, Sigma, beta, GELU_SLOPE)
    cost = relaxed_cost(gelu(X @ u), X, f, d, beta, gelu, one.w[None]).value
    upper.append(float(cost / one.value))

# %% The closed form against ridge regression
form, printed_power, L = [], [], 1.5
for X, f, d, _, u, beta in PROBLEMS:
    Sigma, eye = X.T @ X / len(X), torch.eye(len(d)).double()
    alpha, D, r = L**2 / beta, torch.diag(d), u - f
    middle = torch.linalg.inv(eye + alpha * D @ Sigma @ D)
    second = r @ Sigma @ D @ middle @ D @ Sigma @ r
    rows = math.sqrt(alpha / len(X)) * X  # ridge regression of r on the inputs
    stacked, goal = torch.cat([rows * d, eye]), torch.cat([rows @ r, 0 * r])
    w = torch.linalg.lstsq(stacked, goal[:, None]).solution[:, 0]
    least = (stacked @ w - goal).square().sum()
    for power, store in ((alpha**2, form), (alpha**2 / L**2, printed_power)):
        value = alpha * r @ Sigma @ r - power * second  # I, (257)
        store.append(abs(float(value / least) - 1))
    off = quadratic_surrogate(u, f, d, Sigma, beta, L).w - w
    form[-1] = max(form[-1], float(off.norm() / w.norm()))

# %% Relaxed costs for leaky ReLU
leaky, from_below, at_one = nn.LeakyReLU(0.3), [], []
for X, f, d, _, u, beta in PROBLEMS[::3]:
    X = X[: len(X) // 2]
    Sigma = X.T @ X / len(X)
    low, one = (
        quadratic_surrogate(u, f, d, Sigma, beta, slope) for slope in (0.3, 1.0)
    )
    starts = torch.stack([one.w, low.w])
    cost = relaxed_cost(leaky(X @ u), X, f, d, beta, leaky, starts).value
    from_below.append(float(low.value / cost))
    at_one.append(float(one.value / cost))

# %%
claims.check("I19.surrogate", upper, rival=max(to_low))
claims.check("I19.closed_form", form, rival=min(printed_power))
claims.check("I19.bi_lipschitz", from_below, rival=max(at_one))
claims.check("I19.between", between, rival=max(to_low), n=len(to_low))

# %% Relaxed costs of two functions over the prices
X = distribution(0, 4, symmetric=True)
Sigma = X.T @ X / len(X)
f, w = normal((2, 4), seed, "figure")
d = torch.tensor([1.0, 1.0, 0.7, 0.0], dtype=torch.float64)
inside = f + d * w
outside = inside + torch.tensor([0, 0, 0, 0.15])
betas = torch.logspace(-6, 2, 41, dtype=torch.float64).tolist()
curves = {}
for label, u in (("in the class", inside), ("outside", outside)):
    low, high, one = (
        [quadratic_surrogate(u, f, d, Sigma, b, math.sqrt(L2)) for b in betas]
        for L2 in (0.25, 0.5, 1.0)
    )
    goal = (X @ u).relu()
    values = [
        relaxed_cost(goal, X, f, d, b, torch.relu, torch.stack([x.w, y.w])).value
        for b, x, y in list(zip(betas, low, high, strict=True))[::4]
    ]
    ends = [[x.value for x in end] for end in (low, high, one)]
    curves[label] = *ends, values
hard = ridgeless_limit(inside, f, d, Sigma).item()

# %% Plot the answer
figure, axis = figures.panels(height=2.6)
for (low, high, one, values), colour in zip(
    curves.values(), ("book:blue", "book:red"), strict=True
):
    axis.fill_between(betas, low, high, color=colour, alpha=0.3, linewidth=0)
    axis.plot(betas, one, "--", color=colour, linewidth=1.2)
    axis.plot(betas[::4], values, "o", color=colour, markersize=5)
axis.axhline(hard, color="book:black", linestyle=":")
for words, place, colour, side in (
    ("slightly out of reach", (5e-5, 700), "red", "left"),
    ("within the neuron's reach", (1e-6, hard / 4), "blue", "left"),
    ("cost without error", (100, 1.3 * hard), "black", "right"),
    ("bands: a factor 2 at most", (1e-6, 0.02), "black", "left"),
):
    axis.text(*place, words, color=f"book:{colour}", ha=side)
axis.set(xlabel=r"$\beta$ (errors weigh $1/\beta$)", ylabel="squared cost")
axis.set(xscale="log", yscale="log")
figures.show("fig_relaxed", figure)

# %% [markdown]
# ## As errors get more expensive the cost without error returns
#
# For $\beta \to 0$ the relaxed cost tends to the squared realization cost (I, Theorem E.5), on all inputs with a second moment. On symmetric inputs both bounds of {prf:ref}`thm-relaxed-symmetric` do. On others the surrogate may stay away from the relaxed cost even in the limit, and the theorem holds all the same: there the realization cost comes from its definition (`relu_function_cost`).

# %% The limit on symmetric inputs
limits, coarse = [], []
for X, f, d, w, _, _ in PROBLEMS:
    Sigma = X.T @ X / len(X)
    u, largest = f + d * w, torch.linalg.eigh(Sigma).eigenvalues[-1].item()
    hard = ridgeless_limit(u, f, d, Sigma)  # the squared realization cost
    for beta, store in ((1e-9 * largest, limits), (0.1 * largest, coarse)):
        ends = [
            quadratic_surrogate(u, f, d, Sigma, beta, math.sqrt(L2)).value
            for L2 in (0.25, 0.5)
        ]
        store.append(max(abs(float(end / hard) - 1) for end in ends))

# %% The limit on other inputs
any_inputs, surrogate_limits = [], []
for number, (_, f, d, _, _, _) in enumerate(PROBLEMS):
    X = normal((len(d) + 1, len(d)), seed, f"positive {number}").abs()
    X = X + 2 * torch.eye(len(d) + 1, len(d))  # positive, well conditioned
    u = f + d * normal((len(d),), seed, f"in the class {number}")
    hard = relu_function_cost(u, f, d, X)  # I, (8), from its definition
    tight = (X @ u > 0) | ((X @ (f + d * hard.w)).abs() < 1e-9)  # constraints
    s = torch.linalg.svdvals(X[tight] * d) if tight.any() else torch.ones(1)
    price = 1e-6 * s[s > 1e-8].min().item() ** 2 / len(X)
    goal = (X @ u).relu()
    starts = torch.stack([hard.w, 0 * f, (u - f) * d])
    cost = relaxed_cost(goal, X, f, d, price, torch.relu, starts).value
    linear = ridgeless_limit(u, f, d, X.T @ X)
    if hard.value > 1e-2:
        any_inputs.append(abs(float(cost / hard.value) - 1))
        surrogate_limits.append(abs(float(linear / hard.value) - 1))

# %%
claims.check("I19.ridgeless", limits, rival=min(coarse))
claims.check("I19.ridgeless_any", any_inputs, rival=max(surrogate_limits))

# %% [markdown]
# ## Inputs only nearly in a subspace: the next eigenvalue can replace the tail
#
# The exact costs of the paper are for inputs in a subspace. Otherwise the residual is $\mathbb E \lVert x - P_k x \rVert^2 = \tau_k$ (I, Lemma E.1). I, Assumption 3.1 says that $\tau_k = 0$, and for injective $\eta$ Assumption 4.1 that $\tau_{k - 1} > 0$: that $x$ spans all of the subspace.
# Functions with Lipschitz constants $L_1$, $L_2$ that coincide on the projected inputs satisfy
#
# $$
# \begin{aligned}
# \mathbb E\, (h_1 - h_2)^2 &\le (L_1 + L_2)^2\, \tau_k \\
# &\le 2 (L_1^2 + L_2^2)\, \tau_k .
# \end{aligned}
# $$ (eq-coincide)
#
# The paper prints the second bound (I, Prop. E.2), which is the best possible for $L_1 = L_2$. The first holds because $|h_1(x) - h_2(x)| \le (L_1 + L_2) \lVert x - P_k x \rVert$. It is attained if only one direction is left out of the subspace: with the unit vector $n$ in that direction take $h_1 = L_1 n^\top x$ and $h_2 = -L_2 n^\top x$.
#
# For neurons
# $\eta(u_i^\top x)$ that coincide because $P_k(u_1 - u_2) = 0$, $L^2 \lambda_{k+1} \lVert u_1 - u_2 \rVert^2$ is a bound that is never larger than I, (253), $2 L^2 (\lVert u_1 \rVert^2 + \lVert u_2 \rVert^2)\, \tau_k$: it has the next eigenvalue instead of the tail and the difference instead of the sizes.
# Both are equal if the tail has one direction and $u_2 = -u_1$.

# %% Functions that coincide on the projected inputs
SIZES = [(d, k) for d in (3, 5, 8) for k in (1, d - 1)]
coincide, best = [], []  # ratios to the bound of I, Prop. E.2, and to the first
for number, (d, k) in product(range(distributions), SIZES):
    X = distribution(number, d, symmetric=False)
    Sigma = X.T @ X / len(X)
    vectors, tau = torch.linalg.eigh(Sigma).eigenvectors, tail_energy(Sigma)[k]
    L1, L2 = 1.0, (1.0, 0.5)[number % 2]  # h₁ = L₁ nᵀx, h₂ = −L₂ nᵀx
    n = vectors[:, 0]  # the only direction of the tail if k + 1 is d
    gap = ((L1 + L2) * X @ n).square().mean()
    coincide.append(float(gap / (2 * (L1**2 + L2**2) * tau)))
    best.append(float(gap / ((L1 + L2) ** 2 * tau)))
    top = vectors[:, -k:]  # and two ReLU neurons with P_k(u₁ − u₂) = 0
    u1, shift = normal((2, d), seed, f"u {number} {d}")
    u2 = u1 + shift - top @ (top.T @ shift)
    gap = ((X @ u1).relu() - (X @ u2).relu()).square().mean()
    bound = 2 * (u1.square().sum() + u2.square().sum()) * tau
    coincide.append(float(gap / bound))
    lengths = (u1.norm() + u2.norm()).square()
    best.append(float(gap / (lengths * tau)))

# %%
claims.check("I19.coincidence", coincide, rival=2 * max(coincide))

# %% [markdown]
# ## If errors are expensive the tail decides the order of neurons
#
# The paper sweeps $\beta$ over 0.001, 0.01, 0.1 and 1 and reports results for 0.01 (I, App. F.7).
# The effect of this choice on the order of costs can be seen without training: below, for a random layer with its inputs in 8 of 32 dimensions and a tail, the rank correlation of the surrogate costs of all neuron pairs with those of the subspace model, and the share of its median cost that is left.


# %% Sweep the price with and without a tail
def swept(beta: float, tail: float) -> tuple[float, float]:
    """Rank correlation of Q(β) with the costs of I, (10), and their ratio."""
    m, d, k = 24, 32, 8
    basis = torch.linalg.qr(normal((d, d), seed, "sweep"))[0]
    spread = torch.cat([torch.ones(k), tail * torch.ones(d - k)]).double()
    Sigma, U = basis * spread @ basis.T, basis[:, :k]
    F, D = WAsymmetric(4, 1.0).draw((m, d), torch_generator(seed, "sweep F"))
    effective = F + D * normal((m, d), seed, "sweep W") / math.sqrt(d)
    i, j = (~torch.eye(m, dtype=torch.bool)).nonzero().T  # j's function on i
    u = effective[j]
    near = quadratic_surrogate(u, F[i], D[i], Sigma, beta, 0.5).value
    hard = realization_cost(u @ U, F[i], D[i], U).square()
    return spearmanr(near, hard).statistic, (near.median() / hard.median()).item()


print("   β      no tail        tail of 1 %")
for beta in (0.001, 0.01, 0.1, 1.0):
    (exact, part), (order, share) = swept(beta, 0.0), swept(beta, 0.01)
    print(f"{beta:6}  {exact:.3f} {part:6.3f}   {order:.3f} {share:6.3f}")

# %% [markdown]
# (Each pair of columns: rank correlation, and ratio of the medians, with $L^2 = \frac14$, the lower bound of {prf:ref}`thm-relaxed-symmetric`.)
# Without a tail the order does not depend on $\beta$ as long as $\beta$ is well below the variance of the inputs.
# With a tail small $\beta$ makes the neurons pay for directions in which the inputs hardly vary.
#
# ## What it means for merging networks
#
# Whether two networks need an alignment is asked of real layers, whose inputs have a tail.
# Relaxed costs give finite answers there, and on symmetric inputs, for ReLU, ones that are known within a factor of 2.
# But small $\beta$ lets directions decide in which the inputs hardly vary: the order of neurons by cost then says little about the functions that matter.
#
# **Read on.** [](44_gaussian_mixture.ipynb): relaxed costs of trained networks beside exact ones. [](54_swaps_on_images.ipynb): the same on MNIST. [](41_realization_cost.ipynb): the exact cost.

# %% [markdown]
# ## Evidence
#
# ### Tail energy and projected functions
#
# The residual outside the subspace (I, Lemma E.1), and the best constant for functions that coincide on it, {eq}`eq-coincide`:

# %% The residual against the tail energy
tails, centred = [], []
for number, (d, k) in product(range(distributions), SIZES):
    X = distribution(number, d, symmetric=False)
    Sigma = X.T @ X / len(X)
    top = torch.linalg.eigh(Sigma).eigenvectors[:, -k:]  # P_k = top topᵀ
    residual = (X - X @ top @ top.T).square().sum(dim=1).mean()
    tails.append(abs(float(tail_energy(Sigma)[k] / residual) - 1))  # I, Lemma E.1
    covariance = torch.cov(X.T, correction=0)
    centred.append(abs(float(tail_energy(covariance)[k] / residual) - 1))

# %%
claims.check("I19.tail", tails, rival=min(centred))
claims.check("I19.best_constant", max(best), n=len(best))

# %% [markdown]
# Functions that only their projection on the first $k$ eigenvectors puts into the class (I, Corollary E.6) have a relaxed cost of at most
# $\lVert w \rVert^2 + 2\, (\lVert u \rVert^2 + \lVert f + Dw \rVert^2)\, \tau_k/\beta$ with the least weight $w$ that realises the projected function, I, (273).

# %% Costs of functions that are in the class after projection
corollary, first_term = [], []
for X, f, d, _, u, beta in PROBLEMS:
    Sigma, k = X.T @ X / len(X), len(d) - 2
    top = torch.linalg.eigh(Sigma).eigenvectors[:, -k:]
    cost = realization_cost(u @ top, f, d, top)
    if cost.isfinite():
        best = f + d * least_norm_weight(u @ top, f, d, top)
        slope = u.square().sum() + best.square().sum()
        tail = tail_energy(Sigma)[k] / beta
        one = quadratic_surrogate(u, f, d, Sigma, beta).value
        corollary.append(float(one / (cost.square() + 2 * slope * tail)))
        small = quadratic_surrogate(u, f, d, Sigma, beta, 0.5).value
        first_term.append(float(small / cost.square()))

# %%
claims.check("I19.corollary", corollary, rival=max(first_term))

# %% [markdown]
# ### How the numbers were found
#
# The closed form of I, Theorem E.4 is compared as printed in I, (256) and (257) and as computed here with ridge regression, $L = 1.5$. The two functions of the first picture differ by 0.15 in one weight, the neuron's fixed one; their bands lie between the surrogates with $L^2 = \frac14$ and $\frac12$, and the dashed curve is that with $L = 1$ (profile {glue:text}`profile`).
#
# ### Exercises
#
# :::{exercise}
# Derive the cost $\rho^2/(d^2 + \beta/L^2)$ of one input of variance 1 from the quadratic function, {eq}`eq-surrogate`, by hand. What error and what weight does the minimum have at $\beta = d^2$, $L = 1$?
# :::
#
# :::{solution}
# Minimise $\frac{L^2}{\beta} (\rho - d w)^2 + w^2$.
# The derivative vanishes at $w = \frac{L^2 d \rho}{L^2 d^2 + \beta}$; there $\rho - dw = \frac{\beta \rho}{L^2 d^2 + \beta}$, and the value is $\frac{L^2 \rho^2}{L^2 d^2 + \beta}$.
# At $\beta = d^2$ and $L = 1$ $w = \rho/(2d)$: half of the function, for a quarter of the squared weight; error and weight contribute equally.
# :::
#
# :::{exercise}
# How wide is the band of {prf:ref}`thm-relaxed-symmetric` for GELU, $\eta(s) = s\, \Phi(s)$?
# :::
#
# :::{solution}
# $\eta(s) - \eta(-s) = s$, and the even part is $g(s) = s\, (\Phi(s) - \frac12)$ with the derivative $\Phi(s) - \frac12 + s \varphi(s)$, where $\varphi$ is the normal density.
# This is largest where $(2 - s^2)\, \varphi(s) = 0$, at $s = \sqrt 2$: $G \approx 0.4214 + 0.2076 = 0.629$.
# So $L^2$ lies between $\frac14$ and $\frac14 + G^2 \approx 0.646$, and the surrogates differ by a factor of at most 2.6.
# :::
#
# :::{exercise}
# Run the sweep of the last table with a tail of 10 %, `swept(beta, 0.1)`. Which of the four $\beta$ keeps the order of the subspace model best, and how large must $\beta$ be for that?
# :::
#
# :::{solution}
# The largest:
#
#     for beta in (0.001, 0.01, 0.1, 1.0):
#         print(beta, swept(beta, 0.1))
#
# A direction of variance $s$, seen with weight $d$, adds $(u - f)^2/(d^2 + \beta/(L^2 s))$ to $Q_L(\beta)$.
# So it is left out only if $\beta$ is well above $L^2 s\, d^2$, here with $s = 0.1$, $L^2 = \frac14$ and $d = 1$ above $0.025$.
# Below that the tail is paid for, and the median cost is far above that of the subspace model, as the second number shows.
# :::
# :::{try}
# More distributions, and more direct minimisations:
#
#     make chapter NAME=relaxed_costs ARGS="-p distributions 40 -p costs 200"
# :::

# %% Versions and time
print(chapter.end())
