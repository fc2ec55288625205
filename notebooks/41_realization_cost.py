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
# # What a function costs a neuron
#
# Bürgin, Herbst, Lin and Jegelka {cite:p}`buergin2026` ask when a neuron's place in a layer tells it apart from the others. Their layers have fixed parts, so that one neuron may need a
# much larger weight than another for the same function on the same inputs. This chapter checks the frame: one layer type for all schemes, the functions that a neuron can compute, the least
# weight that they cost. What remains of that when the inputs lie in a subspace only nearly is the subject of [](47_relaxed_costs.ipynb). One assumption does not survive a ReLU in front of the layer; we prove what takes its place.

# %% tags=["parameters"]
layers: int = 16  # random layers of each shape
neurons: int = 120  # random ReLU neurons on non-negative inputs
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"]
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    layers=Integer(6, 10_000),
    neurons=Integer(20, 100_000),
)

# %% tags=["hide-input"]
import math

import numpy as np
import torch
from scipy.sparse.linalg import lsqr
from scipy.stats import binom
from torch import nn

from lmc_helpers import claims, figures
from lmc_helpers.identifiability.asymmetric import (
    LinearResidual,
    Sparse,
    Syre,
    WAsymmetric,
    WBernoulli,
    asymmetrise,
    linear_maps,
)
from lmc_helpers.identifiability.costs import (
    determined,
    least_norm_weight,
    realization_cost,
    twin_distance,
)
from lmc_helpers.identifiability.gram_concentration import exact_copies
from lmc_helpers.identifiability.input_subspace import (
    class_dimension,
    coherence,
    grams,
)
from lmc_helpers.seeds import torch_generator


def normal(purpose: str, *shape: int) -> torch.Tensor:
    """Standard normal numbers, keyed by the seed and the purpose."""
    generator = torch_generator(seed, purpose)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def relative(x: torch.Tensor, y: torch.Tensor) -> float:
    """Norm of the difference of x and y, relative to that of y."""
    return float((x - y).detach().norm() / y.detach().norm())


# %% [markdown]
# ## One layer type
#
# Every weight $W$ of a network becomes
#
# $$
# W_{\text{eff}} = F + D \odot W
# $$ (eq-effective)
#
# with fixed $F$ and $D$. The schemes of the paper's Table 1 differ in how $F$ and $D$ are drawn ({py:mod}`lmc_helpers.identifiability.asymmetric`). By the chain rule
#
# $$
# \frac{\partial L}{\partial W} = D \odot \frac{\partial L}{\partial W_{\text{eff}}} ,
# $$
#
# so entries with $D = 0$ never learn. Weight decay acts on $W$: it costs $\lVert W \rVert^2 = \sum_{D \ne 0} (W_{\text{eff}} - F)^2 / D^2$ and pulls $W_{\text{eff}}$ towards $F$, not towards 0. This is
# why the norm of $W$, and not that of $W_{\text{eff}}$, is the cost below. One parametrisation ({py:func}`~lmc_helpers.identifiability.asymmetric.asymmetrise`) serves linear, convolutional and attention maps; it is compared
# with plain maps that get $F + D \odot W$ as their weight.

# %% tags=["hide-input"]
SCHEMES = {
    "W-asymmetric": WAsymmetric(fixed=2, sigma=1.0),
    "W-asymmetric, Bernoulli": WBernoulli(p=0.3, sigma=1.0),
    "syre": Syre(sigma=0.5, epsilon=0.4),
    "linear residual": LinearResidual(),
    "sparse": Sparse(fixed=3),
}
BUILD = {
    "linear": lambda: nn.Linear(6, 6),
    "convolution": lambda: nn.Conv2d(3, 3, 3, padding=1),
    "attention": lambda: nn.MultiheadAttention(6, 2, batch_first=True),
}
SHAPE = {"linear": (5, 6), "convolution": (2, 3, 5, 5), "attention": (2, 4, 6)}


def run(kind: str, module: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """A module's output."""
    return module(x, x, x)[0] if kind == "attention" else module(x)


def plain(kind: str, weights: dict, module: nn.Module, x: torch.Tensor):
    """The plain map with these weights and the module's biases."""
    if kind == "linear":
        return nn.functional.linear(x, weights["weight"], module.bias)
    if kind == "convolution":
        return nn.functional.conv2d(x, weights["weight"], module.bias, padding=1)
    q, k, v = (x @ weights["in_proj_weight"].T + module.in_proj_bias).chunk(3, -1)
    heads = []
    for part in (slice(0, 3), slice(3, 6)):
        scores = q[..., part] @ k[..., part].mT / math.sqrt(3)
        heads.append(scores.softmax(dim=-1) @ v[..., part])
    out = torch.cat(heads, dim=-1) @ weights["out_proj.weight"].T
    return out + module.out_proj.bias


values, slopes, raw_values, raw_slopes = [], [], [], []
for scheme in SCHEMES.values():
    for kind, build in BUILD.items():
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            module = asymmetrise(build().double(), scheme, seed)
        x = normal(f"input {kind}", *SHAPE[kind])
        raw, effective, multiplier = {}, {}, {}
        for weight, (owner, attribute) in linear_maps(module).items():
            plan = owner.parametrizations[attribute]
            raw[weight] = plan.original
            multiplier[weight] = plan[0].D
            W_eff = plan[0].F + plan[0].D * plan.original
            effective[weight] = W_eff.detach().requires_grad_()
        output = run(kind, module, x)
        direct = plain(kind, effective, module, x)
        values.append(relative(output, direct))
        raw_values.append(relative(plain(kind, raw, module, x), direct))
        output.square().sum().backward()
        direct.square().sum().backward()
        for weight, D in multiplier.items():
            slope = effective[weight].grad
            slopes.append(relative(raw[weight].grad, D * slope))
            if not D.eq(1).all():
                raw_slopes.append(relative(slope, D * slope))

# %% tags=["nbval-check-output"]
claims.check("I1.function", max(values), rival=min(raw_values), n=len(values))

# %% tags=["nbval-check-output"]
claims.check("I1.gradient", max(slopes), rival=min(raw_slopes), n=len(slopes))

# %% tags=["hide-input", "nbval-check-output"]
violations, drawn, uneven = 0, 0, 0
for number in range(layers):
    for name, scheme in SCHEMES.items():
        purpose = f"table {number}"
        F, D = scheme.draw((12, 12), torch_generator(seed, purpose))
        F2, D2 = scheme.draw((12, 12), torch_generator(seed, purpose))
        violations += int((F != F2).sum() + (D != D2).sum())
        drawn += len(F)
        if name == "syre":
            u = D.pow(-2)
            low, high = 1 - scheme.epsilon, 1 + scheme.epsilon
            violations += int(((u < low) | (u > high) | (F == 0)).sum())
        elif name == "linear residual":
            violations += int((F != torch.eye(12)).sum() + (D != 1).sum())
        else:
            violations += int(((D != 0) & ((D != 1) | (F != 0))).sum())
            if name != "sparse":
                violations += int(((D == 0) & (F == 0)).sum())
            else:
                violations += int((F != 0).sum())
            counts = (D == 0).sum(dim=1)
            if name.endswith("Bernoulli"):
                uneven += int((counts != 4).sum())
            else:
                violations += int((counts != scheme.fixed).sum())
claims.check("I1.table", violations, rival=uneven, n=drawn)

# %% [markdown]
# ## The functions of a neuron
#
# Let the inputs span a subspace with orthonormal basis $U$ ($d \times k$), and $x = Uc$. Neuron $i$ computes $\eta(a^\top c)$ with
#
# $$
# a = v_i + M_i w, \qquad v_i = U^\top f_i, \qquad M_i = U^\top \operatorname{diag}(d_i) ,
# $$
#
# where $f_i$, $d_i$, $w$ are its rows of $F$, $D$, $W$. Proposition 4.2 says that $a$ and the function determine each other, so that the neuron's class of functions is the affine space
# $v_i + \operatorname{im} M_i$ of dimension $\operatorname{rank} M_i$. The proof needs Assumption 4.1: the inputs span the subspace if $\eta$ is injective; for ReLU and GELU they contain a set $T = -T$ that spans it. For these two
#
# $$
# \eta(s) - \eta(-s) = s ,
# $$ (eq-odd)
#
# which recovers $a^\top c$ from the values at $\pm c$, and then $a$ by linear algebra. Two classes are equal if and only if $\operatorname{im} M_i = \operatorname{im} M_j$ contains $v_i - v_j$; if both maps have full rank, they are all of $\mathbb R^k$ (eq. 7). The layers below have masks with one, half or all but two of the entries fixed, and random or coherent subspaces.

# %% tags=["hide-input"]
SHAPES = [(3, 5, 2), (4, 9, 3), (5, 12, 4), (4, 6, 6), (3, 8, 1)]  # m, d, k
ACTIVATIONS = {"ReLU": torch.relu, "GELU": nn.functional.gelu}


def basis(purpose: str, d: int, k: int, copies: bool) -> torch.Tensor:
    """A random subspace, or one that holds every latent number d // k times."""
    if copies:
        return exact_copies(d, k, d // k)
    return torch.linalg.qr(normal(purpose, d, k))[0]


def layer(number: int, m: int, d: int, k: int):
    """F, D, W and U of a random layer."""
    purpose = f"layer {number} {m} {d} {k}"
    fixed = (1, d // 2, d - 2)[number % 3]
    scheme = WAsymmetric(fixed=fixed, sigma=1.0)
    F, D = scheme.draw((m, d), torch_generator(seed, purpose))
    D = D * (0.5 + normal(purpose + " scale", m, d).square())
    W = normal(purpose + " W", m, d)
    return F, D, W, basis(purpose + " U", d, k, copies=number % 2 == 1)


everything = [layer(n, *s) for s in SHAPES for n in range(layers)]


def odd(eta, weights: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
    """Values of neurons at the inputs X less those at −X."""
    return eta(weights @ X.T) - eta(-weights @ X.T)


recovered, as_linear, wrong_dimension, wrong_count = [], [], 0, 0
inside = {True: [], False: []}  # by full rank of both neurons
for number, (F, D, W, U) in enumerate(everything):
    (m, d), k = F.shape, U.shape[1]
    C = normal(f"coordinates {number}", 3 * k, k)
    A = (F + D * W) @ U
    eta = list(ACTIVATIONS.values())[number % 2]

    X = C @ U.T
    found = torch.linalg.lstsq(C, odd(eta, F + D * W, X).T).solution.T
    taken = torch.linalg.lstsq(C, eta(A @ C.T).T).solution.T
    recovered += ((found - A).norm(dim=1) / A.norm(dim=1)).tolist()
    as_linear += ((taken - A).norm(dim=1) / A.norm(dim=1)).tolist()
    ranks = class_dimension(D, U)
    for i in range(m):
        some = F[i] + D[i] * normal(f"span {number} {i}", d + 2, d)
        functions = odd(eta, some, X)
        span = torch.linalg.matrix_rank(functions[1:] - functions[0], rtol=1e-9)
        wrong_dimension += int(span != ranks[i])
        wrong_count += int(span != min(k, int((D[i] != 0).sum())))
        for j in range(m):
            if i != j:
                w = least_norm_weight(A[j], F[i], D[i], U)
                full = bool(ranks[i] == k and ranks[j] == k)
                mine = odd(eta, F[i] + D[i] * w, X)
                gap = relative(mine, odd(eta, F[j] + D[j] * W[j], X))
                inside[full].append(gap < 1e-8)  # NaN, outside, is not

# %% tags=["nbval-check-output"]
claims.check(
    "I2.bijection",
    max(recovered),
    rival=float(np.median(as_linear)),
    n=len(recovered),
)

# %% tags=["nbval-check-output"]
claims.check("I2.dimension", wrong_dimension, rival=wrong_count, n=len(recovered))

# %% tags=["nbval-check-output"]
claims.check(
    "I2.same",
    float(np.mean(inside[True])),
    rival=float(np.mean(inside[False])),
    n=len(inside[True]),
)

# %% [markdown]
# ## A ReLU in front
#
# A set $T = -T$ of non-negative inputs is $\{0\}$ or empty. So Assumption 4.1 is never met by a ReLU layer that follows a ReLU, nor by one that reads pixels in $[0, 1]$ (behind a GELU, whose least value is about $-0.17$, $T$ must lie in a small cube), and without it both statements fail: with one positive input coordinate,
# $F = 0$ and $D = 1$, every $a \le 0$ computes the function 0. By its definition this function costs 0, whereas eq. (10) below gives $|a|$.
#
# ```{prf:theorem} Which ReLU neurons are determined
# :label: thm-determined
# Let the inputs $c$ span $\mathbb R^k$, and let $\mathcal A(a)$ be the active ones, $a^\top c > 0$.
#
# 1. $a'$ has the function of $a$ if and only if $a'^\top c = a^\top c$ on $\mathcal A(a)$ and $a'^\top c \le 0$ elsewhere.
# 2. If $\mathcal A(a)$ spans $\mathbb R^k$, then $a$ is determined by its function. For finitely many inputs, none with $a^\top c = 0$, the converse holds.
# 3. If the support of the inputs is the closure of an open set, every $a$ with an active input is determined.
# 4. In that case and for analytic $\eta$ with injective $s \mapsto (\eta(s), \eta(-s))$, GELU for example, every $a$ is determined.
# ```
#
# ```{prf:proof}
# 1 compares $\max(0, a^\top c)$ and $\max(0, a'^\top c)$. By 1, $a' - a$ is orthogonal to $\mathcal A(a)$, which gives the first half of 2. For the second, take $n \ne 0$ orthogonal to $\mathcal A(a)$; on the finitely many other inputs
# $a^\top c$ is bounded away from 0, so that $a + tn$ has the same function for small $t$. In 3, $\mathcal A(a)$ is relatively open in the support, so it contains an open set as soon as it is not empty. In 4, $\eta(a^\top c)$ and
# $\eta(a'^\top c)$ are analytic and agree on an open set, hence on $\mathbb R^k$, which is symmetric.
# ```
#
# Where a neuron is determined, the rest of the paper's argument applies to it without Assumption 4.1: its function costs what eq. (10) says. Every set $T = -T$ that spans has spanning active halves, so
# 2 contains the paper's assumption as long as no input lies on the boundary. The second half of 2 is tested against linear programs that look for another weight with the same function.

# %% tags=["hide-input", "nbval-check-output"]


def after_relu(purpose: str, n: int, k: int) -> torch.Tensor:
    """Outputs of a random ReLU layer of width k, without rows of zeros."""
    mix = normal(purpose + " mix", k, k)
    hidden = (normal(purpose, 4 * n, k) @ mix.T).relu()
    return hidden[hidden.sum(dim=1) > 0][:n]


disagree, as_injective, tested = 0, 0, 0
for k, n in ((2, 4), (3, 6), (4, 10), (5, 15)):
    C = after_relu(f"hidden {k}", n, k)
    A = normal(f"neurons {k}", neurons // 4, k)
    for a, unique in zip(A, determined(A, C).tolist(), strict=True):
        twin = twin_distance(a, C) > 1e-9
        disagree += int(twin == unique)
        as_injective += int(twin == (torch.linalg.matrix_rank(C) == k))
        tested += 1
claims.check("I2.nonnegative", disagree, rival=as_injective, n=tested)

# %% tags=["hide-input"]
k_share, ratios = 8, np.array([1, 1.5, 2, 3, 4, 6, 8, 12, 16])
found = np.empty((12, len(ratios)))  # random layers, sizes
for number, column in np.ndindex(*found.shape):
    purpose = f"share {number} {column}"
    C = after_relu(purpose, int(k_share * ratios[column]), k_share)
    A = normal(purpose + " a", 200, k_share)
    found[number, column] = determined(A, C).double().mean()
shares = found.mean(axis=0)
fine = np.arange(k_share, 16 * k_share + 1)
figure, axes = figures.panels(height=3.6, squeeze=False)
axis = axes[0, 0]
axis.plot(
    fine / k_share,
    binom.sf(k_share - 1, fine, 0.5),
    color="book:blue",
    label="normal inputs, exact",
)
figures.band(
    axis,
    ratios,
    shares,
    found.std(axis=0, ddof=1) / math.sqrt(len(found)),
    color="book:red",
    markersize=5,
    label="outputs of a ReLU layer",
)
axis.axhline(1, color="book:black", linestyle=":", label="Assumption 4.1")
axis.set(
    xlabel="inputs per dimension, $n/k$",
    ylabel="share of neurons\nthat are determined",
    ylim=(-0.03, 1.06),
)
axis.legend(loc="lower right")
figures.show("fig_determined", figure)

# %% [markdown]
# ```{glue:figure} fig_determined
# :name: fig-determined
# :alt: Share of random ReLU neurons that their function determines, against the number of inputs per dimension. For normal inputs it rises from almost zero to one at about four inputs per dimension. For outputs of a ReLU layer it rises more slowly and is still below one at sixteen inputs per dimension.
#
# Random ReLU neurons ($k = 8$, $a$ standard normal) that are determined by their function on $n$ inputs: independent normal inputs, $\Pr(\text{Bin}(n, \frac12) \ge k)$, and outputs of random ReLU layers of width $k$ (12 layers with 200 neurons a point, bars:
# ±3.29 standard errors over layers; profile {glue:text}`profile`).
# ```
#
# For outputs of a ReLU layer it takes many more inputs, because neurons with mostly negative weights are active on few of them. By part 3 of the theorem only those that are dead on the whole
# support remain undetermined in the end.
#
# ## The least weight
#
# The *realization cost* of a function for neuron $i$ is the least $\lVert w \rVert$ with which the neuron computes it. With the Gram matrix $S_i = M_i M_i^\top$ it is
#
# $$
# \lVert h_a \rVert_{\mathcal H_i} = \sqrt{(a - v_i)^\top S_i^{+} (a - v_i)} \quad \text{if } a - v_i \in \operatorname{im} M_i , \qquad +\infty \text{ otherwise},
# $$ (eq-cost)
#
# where $S_i^+$ is the pseudo-inverse; the least weight is $M_i^+ (a - v_i)$. Eq. (10) in the text is stated inside the class. Evaluated outside, the formula is finite: it is the cost of the projection of $a - v_i$, and 0 where $a - v_i$ is orthogonal to the image,
# so that the function that a neuron cannot compute at all is the cheapest. A program that follows eqs. (6), (9), (10) needs the check of the image, which
# {py:func}`~lmc_helpers.identifiability.costs.realization_cost` makes with a relative tolerance of $10^{-10}$.

# %% tags=["hide-input"]
gaps, other_metric, infinite, bare_infinite = [], [], [], []
for number, (F, D, W, U) in enumerate(everything):
    (m, d), k = F.shape, U.shape[1]
    A, S = (F + D * W) @ U, grams(D, U)
    for i in range(m):
        v = F[i] @ U
        other = v + normal(f"target {number} {i}", k)
        poor = class_dimension(D[i : i + 1], U).item() < k
        for a, outside in ((A[i], False), (other, poor)):
            cost = realization_cost(a, F[i], D[i], U).item()
            gap = a - v
            bare = (gap @ torch.linalg.pinv(S[i], rtol=1e-12) @ gap).sqrt()
            if math.isfinite(cost):
                M = (U.T * D[i]).numpy()
                w = lsqr(M, gap.numpy(), atol=0, btol=0, iter_lim=50 * d)[0]
                gaps.append(abs(cost / float(np.linalg.norm(w)) - 1))
                wrong = (gap @ S[i] @ gap).sqrt().item()
                other_metric.append(abs(wrong / cost - 1))
            if outside:
                infinite.append(math.isinf(cost))
                bare_infinite.append(not bool(bare.isfinite()))

# %% tags=["nbval-check-output"]
claims.check("I3.least_norm", max(gaps), rival=min(other_metric), n=len(gaps))

# %% tags=["nbval-check-output"]
claims.check(
    "I3.outside",
    float(np.mean(infinite)),
    rival=float(np.mean(bare_infinite)),
    n=len(infinite),
)

# %% [markdown]
# The paper's Example 4.3: inputs on the plane of $(1, \varepsilon, 0, 0)$ and $(0, 0, 1, \varepsilon)$; neuron 1 sees coordinates 1 and 4, neuron 2 the other two. With normalised basis vectors
#
# $$
# S_1 = \frac{1}{1 + \varepsilon^2} \begin{pmatrix} 1 & \\ & \varepsilon^2 \end{pmatrix}, \qquad
# \lVert h_a \rVert_{\mathcal H_1} = \sqrt{1 + \varepsilon^2}\, \sqrt{a_1^2 + a_2^2 / \varepsilon^2} .
# $$

# %% tags=["hide-input", "nbval-check-output"]
EPS = torch.logspace(-6, 0, 37, dtype=torch.float64)


def example(eps: torch.Tensor) -> torch.Tensor:
    """The basis of Example 4.3, (..., 4, 2)."""
    zero, one = torch.zeros_like(eps), torch.ones_like(eps)
    first = torch.stack([one, eps, zero, zero], dim=-1)
    second = torch.stack([zero, zero, one, eps], dim=-1)
    size = (1 + eps.square()).sqrt()[..., None, None]
    return torch.stack([first, second], dim=-1) / size


SEES = torch.tensor([[1, 0, 0, 1], [0, 1, 1, 0]], dtype=torch.float64)
a = torch.tensor([0.6, 0.8], dtype=torch.float64)  # of both neurons
zero = torch.zeros(4, dtype=torch.float64)
on_1 = realization_cost(a, zero, SEES[0], example(EPS))
on_2 = realization_cost(a, zero, SEES[1], example(EPS))
unscaled = (a[0].square() + a[1].square() / EPS.square()).sqrt()
form = (1 + EPS.square()).sqrt() * unscaled
claims.check(
    "I3.example",
    float((on_1 / form - 1).abs().max()),
    rival=float((on_1 / unscaled - 1).abs().max()),
    n=len(EPS),
)

# %% tags=["hide-input"]
figure, axes = figures.panels(columns=2, height=4.2, squeeze=False)
left, right = axes[0]
angle = torch.linspace(0, 2 * math.pi, 241, dtype=torch.float64)
circle = torch.stack([angle.cos(), angle.sin()])
for eps, style in ((0.7, "-"), (0.2, "--")):
    S = grams(SEES, example(torch.tensor(eps, dtype=torch.float64)))
    for i, colour in ((0, "blue"), (1, "orange")):
        x, y = torch.linalg.cholesky(S[i]) @ circle
        left.plot(
            x,
            y,
            style,
            color=figures.COLOURS[colour],
            label=rf"neuron {i + 1}, $\varepsilon = {eps}$",
        )
left.set(xlabel="$a_1$", ylabel="$a_2$", aspect="equal", xlim=(-1.15, 2.5))
left.set_xticks([-1, -0.5, 0, 0.5, 1])
left.legend(loc="center right", fontsize=9)
right.plot(EPS, on_1, color="book:blue", label="neuron 1")
right.plot(EPS, on_2, color="book:orange", label="neuron 2")
right.axhline(
    0.6,
    color="book:red",
    linestyle=":",
    label=r"neuron 1, $\varepsilon = 0$, bare pseudo-inverse",
)
right.set_xscale("log")
right.set_yscale("log")
right.set(xlabel=r"$\varepsilon$", ylabel="realization cost", xlim=(1e-4, 1))
right.set_ylim(0.3, 3e4)
right.legend(loc="upper right")
figures.show("fig_example", figure)

# %% [markdown]
# ```{glue:figure} fig_example
# :name: fig-example
# :alt: Left, the functions of cost one for each neuron are ellipses in the plane of a; the smaller epsilon, the flatter, and the two neurons' ellipses stand at right angles. Right, the cost of one function on each neuron rises like one over epsilon as epsilon falls; the value of the bare pseudo-inverse at epsilon zero is below one.
#
# Example 4.3. Left: functions of cost 1. Right: cost of $a = (0.6, 0.8)$ for both neurons; at $\varepsilon = 0$ neither can compute it, and the bare pseudo-inverse returns $|a_1|$ for neuron 1 (profile {glue:text}`profile`).
# ```
#
# The coherence of a subspace is $\nu = \max_l (U U^\top)_{ll}$. Since $U U^\top$ is a projection of trace $k$, it lies in $[k/d, 1]$; subspaces with rows of equal length attain the lower end, coordinate subspaces the upper one.

# %% tags=["hide-input", "nbval-check-output"]
violation, other = [], []
for number in range(layers):
    for d, k in ((8, 1), (8, 3), (8, 8), (16, 5)):
        waves = torch.tensor([[1.0, 1.0], [1.0, -1.0]]).double()
        flat = waves
        while len(flat) < d:
            flat = torch.kron(flat, waves)
        for U in (
            torch.linalg.qr(normal(f"nu {number} {d} {k}", d, k))[0],
            torch.eye(d).double()[:, :k],
            flat[
                :,
                torch.randperm(d, generator=torch_generator(seed, str(number)))[
                    :k
                ],
            ]
            / math.sqrt(d),
        ):
            nu = coherence(U).item()
            violation.append(max(k / d - nu, nu - 1))
            other.append(math.sqrt(k / d) - nu)
claims.check("I3.coherence", max(violation), rival=max(other), n=len(violation))

# %% tags=["hide-input"]
figures.numbers(profile=profile, shares_last=f"{100 * shares[-1]:.0f}")

# %% [markdown]
# ## What we found that the paper does not say
#
# - Assumption 4.1 cannot hold for a ReLU layer on non-negative inputs. What decides instead is, for each neuron, whether its active inputs span the subspace ({prf:ref}`thm-determined`); of random neurons behind a ReLU layer {glue:text}`shares_last` % pass at
#   the largest sample of {numref}`fig-determined`. With it, Prop. 4.2 and eq. (10) hold neuron by neuron.
# - Outside the class the bare formula of eq. (10) ranks impossible functions as cheap; Lemma C.2 has the right convention.
#
# ```{admonition} Try it
# :class: tip
# More layers, and more neurons behind a ReLU:
#
#     make chapter NAME=realization_cost ARGS="-p layers 40 -p neurons 400"
# ```

# %% tags=["hide-input"]
print(chapter.end())
