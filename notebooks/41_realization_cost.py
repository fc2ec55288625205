# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A neuron can compute an affine space of functions, at a price
#
# *What can one neuron compute if parts of its weights are fixed, and at what price?*
#
# An affine space of functions, each costing its distance from the fixed part, as the paper proves: no exception in **[[n(I2.dimension)]]** neurons. For ReLU the paper assumes that inputs occurring with their negatives span the space. Behind another ReLU that fails, but active inputs that span it suffice (proved).
#
# :::{glue:figure} fig_two_ellipses
# :alt: The functions of cost at most one in the plane of a, an upright and a lying ellipse that cross. For epsilon 0.7 they are a little flattened, for 0.2 narrow. A marked function with a_1 = 0 lies inside the upright ellipse of neuron 2, where it costs 0.6 and 0.5, and, for 0.2, far outside the lying one of neuron 1, where it costs 0.9 and 2.5.
#
# Functions with coefficients $a_1$, $a_2$ of cost at most 1 for two neurons (Example 4.3) that each see one number $\varepsilon$ times as strongly as the other; costs of one.
# :::
#
# **How sure.** Proved in the paper, behind a ReLU here; checked on [[n(I2.bijection)]] neurons and [[n(I3.start)]] pairs; recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | Fixed weights and masked trained ones, $F + D \odot W$, cover the four schemes of Table 1 (eq. 2) | [true](#I1.function) | to rounding; linear, convolution, attention |
# | "an affine subspace … of dimension $\mathrm{rank}(M_i)$", $M_i$ what neuron $i$ sees of its inputs (Prop. 4.2) | [true](#I2.dimension) | no exception in [[n(I2.dimension)]] neurons |
# | Full rank: "exactly the same functions" (eq. 7) | [true](#I2.same) | in all [[n(I2.same)]] pairs of neurons |
# | The cost is a {term}`Mahalanobis norm` (eq. 10) | [true](#I3.least_norm) | to [[I3.least_norm:≤.0e]] of an iterative solver |
# | "we expect the results … to extend" beyond Assumption 4.1 | [true, behind a ReLU too](#I2.nonnegative) | proved; checked on [[n(I2.nonnegative)]] |
# | Starting from $F$ identifies neurons, even without weight decay (ours) | [true](#I3.start) | in all [[n(I3.start)]] pairs ([[100 * low(I3.start):≥.1f]] % or more) |
#
# **Open.** Whether weight decay alone identifies neurons within the printed 100 epochs: 4 core-hours ([53](53_asymmetric_mlps.ipynb)).
#
# **For the authors.** After Assumption 4.1 add: *For ReLU it suffices, neuron by neuron, that the inputs in the support with $(Ua)^\top x > 0$ span $\mathcal U$.*

# %% Parameters tags=["parameters"]
layers: int = 16  # random layers of each shape
neurons: int = 120  # random ReLU neurons on non-negative inputs
pairs: int = 3  # pairs of trained networks per setting
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    layers=Integer(6, 10_000),
    neurons=Integer(20, 100_000),
    pairs=Integer(2, 1000),
)

import math
from itertools import permutations, product

import numpy as np
import torch
from scipy.linalg import hadamard
from scipy.sparse.linalg import lsqr
from scipy.stats import binom
from torch import nn

from lmc_helpers import claims, error_bars, figures
from lmc_helpers._chapters.realization_cost import (
    RATE,
    agreement,
    at_half,
    class_dimension,
    determined,
    moves_seen,
    rows_agree,
    sum_of_moves,
    train_syre,
    twin_distance,
    way_to_best,
)
from lmc_helpers.data.digits import digits
from lmc_helpers.identifiability import (
    AsymmetricLayer,
    LinearResidual,
    Sparse,
    Syre,
    WAsymmetric,
    WBernoulli,
    asymmetrise,
    coherence,
    exact_copies,
    grams,
    layer_parts,
    least_norm_weight,
    realization_cost,
)
from lmc_helpers.seeds import normal, torch_generator


def relative(x: torch.Tensor, y: torch.Tensor) -> float:
    """Norm of the difference of x and y, relative to that of y."""
    return float((x - y).detach().norm() / y.detach().norm())


# %% [markdown]
# :::{need}
# You need: orthonormal bases, the pseudo-inverse of a matrix, what a layer of neurons is, and, for the last section, weight decay. No other chapter. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $W$; $F$, $D$ | trained weights of a layer; its fixed parts and factors |
# | $w$; $f_i$, $d_i$ | rows of $W$; of $F$ and $D$, for neuron $i$ |
# | $d$, $k$, $U$ | number of inputs, dimension of their subspace, its orthonormal basis ($d \times k$) |
# | $c$ | coordinates of an input, which is $Uc$ |
# | $\eta$ | activation |
# | $a$ | coefficients of a function $h_a$ of the inputs, $\eta(a^\top c)$ |
# | $v_i$, $M_i$, $S_i$ | centre $U^\top f_i$; $U^\top \operatorname{diag}(d_i)$; Gram matrix $M_i M_i^\top$ |
#  | $Z$, $s$ | random start, and the share of $F$ that the start takes away |
# | $\alpha$, $\lambda$, $N$, $\tau$ | learning rate, weight decay, number of steps, and $-N \ln(1 - \alpha\lambda)$ |
# | $\sigma_F$, $x$ | scale of $F$, and the clock $(e^\tau - s)\, \sigma_F \sqrt d$ |
# | $r$ | how far the identity is from a random permutation (0) to the best one (1) |
#
# ## Two neurons see the same numbers, one strongly and one weakly
#
# Two neurons look at four inputs $(c_1, \varepsilon c_1, c_2, \varepsilon c_2) / \sqrt{1 + \varepsilon^2}$, which hold two numbers $c_1$ and $c_2$, each once large and once small. Neuron 1 sees the first and the last input only, neuron 2 the other two. So either can compute every $\operatorname{ReLU}(a_1 c_1 + a_2 c_2)$, but for $a_2$ neuron 1 has to enlarge the small copy of $c_2$. The functions that it computes with weights of length at most 1 fill an ellipse, which is flat if $\varepsilon$ is small: the picture above.

# %% Plot the idea
idea, frames = figures.panels(2, height=3.0)
ring = np.linspace(0, 2 * math.pi, 181)
for frame, tilt in zip(frames, (0.7, 0.2), strict=True):
    long, short = 1 / math.hypot(1, tilt), tilt / math.hypot(1, tilt)
    for number_of, (wide, tall), colour, place in (
        (1, (long, short), "book:blue", (long + 0.08, -0.06)),
        (2, (short, long), "book:orange", (0.4, 0.86)),
    ):
        x_ring, y_ring = wide * np.cos(ring), tall * np.sin(ring)
        frame.fill(x_ring, y_ring, color=colour, alpha=0.25, linewidth=0)
        frame.plot(x_ring, y_ring, color=colour)
        frame.text(*place, f"neuron {number_of}", color=colour)
    frame.plot(0, 0.5, "o", color="book:black", markersize=6)
    words = f"costs {0.5 / short:.1f} on neuron 1,\n{0.5 / long:.1f} on neuron 2"
    arrow = {"arrowstyle": "-", "color": "book:black", "shrinkB": 4}
    frame.annotate(words, (0, 0.5), (-2.1, 0.7), arrowprops=arrow, fontsize=10)
    frame.set(xlabel="$a_1$", ylabel="$a_2$", aspect="equal")
    frame.set(xlim=(-2.2, 2.0), ylim=(-1.15, 1.15), xticks=[-1, 0, 1])
    frame.set(yticks=[-1, 0, 1], title=rf"$\varepsilon = {tilt}$")
figures.show("fig_two_ellipses", idea)

# %% [markdown]
# ## One layer type covers all four schemes
#
# Every weight $W$ of a network becomes
#
# $$
# W_{\text{eff}} = F + D \odot W
# $$ (eq-effective)
#
# with fixed $F$ and $D$, entry by entry. Bürgin, Herbst, Lin & Jegelka (I) {cite:p}`buergin2026` bring four schemes into this form (I, Table 1; {py:mod}`lmc_helpers.identifiability.asymmetric`): *{term}`W-asymmetric`* layers fix some entries of each row at random numbers ($D$ is the *{term}`mask`* of the others), *sparse* ones fix them at 0, *{term}`syre`* adds random numbers to all and scales them a little, and a *linear residual* adds the identity.
#
# By the chain rule
#
# $$
# \frac{\partial L}{\partial W} = D \odot \frac{\partial L}{\partial W_{\text{eff}}}
# $$
#
# for a loss $L$, so entries with $D = 0$ never learn. Weight decay acts on $W$ and pulls $W_{\text{eff}}$ towards $F$, not towards 0. So the norm of $W$ is the cost below.
#
# One function ({py:func}`~lmc_helpers.identifiability.asymmetric.asymmetrise`) serves linear, convolutional and attention maps. For each scheme and map its output is that of a plain map with the weight $F + D \odot W$:

# %% The schemes of Table 1, the first with two laws of the mask
SCHEMES = {  # I, Table 1
    "W-asymmetric": WAsymmetric(fixed=2, sigma=1.0),
    "W-asymmetric, Bernoulli": WBernoulli(p=0.3, sigma=1.0),
    "syre": Syre(sigma=0.5, epsilon=0.4),
    "linear residual": LinearResidual(),
    "sparse": Sparse(fixed=3),
}

# %% Three kinds of maps, and what they compute, written out
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


# %% Outputs and gradients against those of a plain map
values, slopes, raw_values, raw_slopes = [], [], [], []
for scheme, kind in product(SCHEMES.values(), BUILD):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = asymmetrise(BUILD[kind]().double(), scheme, seed)
    parts = layer_parts(module)  # name of each weight: F, D, W
    W_eff = {
        name: (F + D * W).detach().requires_grad_()  # I, (2)
        for name, (F, D, W) in parts.items()
    }
    x = normal(SHAPE[kind], seed, f"input {kind}")
    output, direct = run(kind, module, x), plain(kind, W_eff, module, x)
    values.append(relative(output, direct))
    raw = {name: W for name, (_, _, W) in parts.items()}
    raw_values.append(relative(plain(kind, raw, module, x), direct))
    output.square().sum().backward()
    direct.square().sum().backward()
    for name, (_, D, W) in parts.items():
        slope = W_eff[name].grad  # ∂L/∂W_eff
        slopes.append(relative(W.grad, D * slope))  # ∂L/∂W
        if not D.eq(1).all():
            raw_slopes.append(relative(slope, D * slope))

# %%
claims.check("I1.function", values, rival=min(raw_values))

# %% [markdown]
# ## A neuron's functions form an affine space
#
# On inputs $Uc$ a neuron computes $\eta(a^\top c)$ with
#
# $$
# \begin{aligned}
# a &= v_i + M_i w, \\
# v_i &= U^\top f_i, \quad M_i = U^\top \operatorname{diag}(d_i) .
# \end{aligned}
# $$
#
# So $a \in \mathbb R^k$ are the *coefficients* of its function, and $v_i$, the coefficients without trained weights, is the neuron's *{term}`centre <centre of a neuron>`*. I, Prop. 4.2 says that $a$ and the function determine each other: the neuron's class of functions is the affine space $v_i + \operatorname{im} M_i$ of dimension $\operatorname{rank} M_i$.
#
# That a function determines $a$ is I, Lemma C.1. It needs I, Assumption 4.1: the inputs span the subspace, and for ReLU and GELU the inputs that come with their opposites, $c$ and $-c$, span it. For these two activations
#
# $$
# \eta(y) - \eta(-y) = y ,
# $$ (eq-odd)
#
# so the values at $c$ and $-c$ give $a^\top c$, and these numbers give $a$. Here it is, for random layers with one, half or all but two of the entries fixed, on random subspaces and on some that repeat each number:

# %% Random layers
SHAPES = [(3, 5, 2), (4, 9, 3), (5, 12, 4), (4, 6, 6), (3, 8, 1)]  # m, d, k
ETAS = (torch.relu, nn.functional.gelu)


def random_layer(number: int, m: int, d: int, k: int) -> AsymmetricLayer:
    """A layer on a random subspace, or one that holds k numbers d // k times."""
    purpose = f"layer {number} {m} {d} {k}"
    fixed = (1, d // 2, d - 2)[number % 3]
    scheme = WAsymmetric(fixed=fixed, sigma=1.0)
    F, D = scheme.draw((m, d), torch_generator(seed, purpose))
    D = D * (0.5 + normal((m, d), seed, purpose + " scale").square())
    W = normal((m, d), seed, purpose + " W")
    if number % 2:
        U = exact_copies(d, k, d // k)
    else:
        U = torch.linalg.qr(normal((d, k), seed, purpose + " U"))[0]
    return AsymmetricLayer(F, D, W, U)


everything = [random_layer(n, *s) for s in SHAPES for n in range(layers)]
COORDINATES = [  # C (3k, k) of the inputs X = C Uᵀ
    normal((3 * x.U.shape[1], x.U.shape[1]), seed, f"coordinates {number}")
    for number, x in enumerate(everything)
]
CASES = [
    (number, layer, C, ETAS[number % 2])
    for number, (layer, C) in enumerate(zip(everything, COORDINATES, strict=True))
]


# %% Values less those at the opposite inputs
def odd(eta, weights: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
    """Values of neurons at the inputs X less those at −X."""
    return eta(weights @ X.T) - eta(-weights @ X.T)


# %%
recovered, as_linear = [], []
for _, layer, C, eta in CASES:  # I, Prop. 4.2: from the function back to a
    F, D, W, U = layer  # (m, d), (m, d), (m, d), (d, k)
    A = (F + D * W) @ U  # a_i = v_i + M_i w_i, (m, k)
    values = odd(eta, F + D * W, C @ U.T)  # a·c
    found = torch.linalg.lstsq(C, values.T).solution.T
    taken = torch.linalg.lstsq(C, eta(A @ C.T).T).solution.T
    recovered += ((found - A).norm(dim=1) / A.norm(dim=1)).tolist()
    as_linear += ((taken - A).norm(dim=1) / A.norm(dim=1)).tolist()

# %% [markdown]
# The dimension of a class is that of the span of many functions of the neuron; it is $\operatorname{rank} M_i$ for each. Two classes are equal if and only if $\operatorname{im} M_i = \operatorname{im} M_j$ contains $v_i - v_j$. If both maps have full rank $k$, both are all of $\mathbb R^k$ (I, (7)): neuron $i$ can then compute every function of neuron $j$, although it sees other inputs.

# %% Dimensions of the classes
wrong_dimension, wrong_count = 0, 0
for number, (F, D, _, U), C, eta in CASES:
    ranks = class_dimension(D, U)  # of M_i
    for i, (f, d) in enumerate(zip(F, D, strict=True)):
        w = normal((len(d) + 2, len(d)), seed, f"span {number} {i}")
        functions = odd(eta, f + d * w, C @ U.T)
        span = torch.linalg.matrix_rank(functions[1:] - functions[0], rtol=1e-9)
        wrong_dimension += int(span != ranks[i])
        wrong_count += int(span != min(U.shape[1], int((d != 0).sum())))

# %% Functions of one neuron on another
same = {True: [], False: []}  # by full rank of both neurons
for _, (F, D, W, U), C, eta in CASES:
    A, ranks = (F + D * W) @ U, class_dimension(D, U)
    for i, j in permutations(range(len(F)), 2):
        w = least_norm_weight(A[j], F[i], D[i], U)  # the function of j, on i
        mine = odd(eta, F[i] + D[i] * w, C @ U.T)
        gap = relative(mine, odd(eta, F[j] + D[j] * W[j], C @ U.T))
        full = bool(ranks[i] == ranks[j] == U.shape[1])
        same[full].append(gap < 1e-8)  # NaN, outside, is not

# %%
claims.check("I2.bijection", recovered, rival=float(np.median(as_linear)))
claims.check("I2.dimension", wrong_dimension, rival=wrong_count, n=len(recovered))
shares = {full: float(np.mean(x)) for full, x in same.items()}
claims.check("I2.same", shares[True], rival=shares[False], n=len(same[True]))

# %% [markdown]
# ## Behind a ReLU, active inputs take the place of the assumption
#
# The paper calls its Assumption 4.1 "intentionally stronger for non-injective activations" and expects the results to extend to weaker ones. They do, and they have to: no non-negative input but 0 has an opposite that is non-negative, so no ReLU layer that follows a ReLU meets the assumption, nor does one that reads pixels in $[0, 1]$. Without it I, Prop. 4.2 and (10) may fail: with one positive input coordinate, $F = 0$ and $D = 1$, every $a \le 0$ computes the function 0. By its definition this function costs 0, whereas I, (10) gives $|a|$.
#
# :::{prf:theorem} Which ReLU neurons are determined
# :label: thm-determined
# Let the inputs $c$ span $\mathbb R^k$, and let $\mathcal A(a)$ be the active ones, $a^\top c > 0$.
#
# 1. $a'$ has the function of $a$ if and only if $a'^\top c = a^\top c$ on $\mathcal A(a)$ and $a'^\top c \le 0$ elsewhere.
# 2. If $\mathcal A(a)$ spans $\mathbb R^k$, then $a$ is determined by its function. For finitely many inputs, none with $a^\top c = 0$, the converse holds.
# 3. If the support of the inputs is the closure of an open set, every $a$ with an active input is determined.
# 4. In that case and for analytic $\eta$ with injective $y \mapsto (\eta(y), \eta(-y))$, GELU for example, every $a$ is determined.
# :::
#
# :::{prf:proof}
# 1 compares $\max(0, a^\top c)$ and $\max(0, a'^\top c)$. By 1, $a' - a$ is orthogonal to $\mathcal A(a)$, which gives the first half of 2. For the second, take $b \ne 0$ orthogonal to $\mathcal A(a)$; on the finitely many other inputs
# $a^\top c$ is bounded away from 0, so that $a + y b$ has the same function for small $y$. In 3, $\mathcal A(a)$ is relatively open in the support, so it contains an open set as soon as it is not empty. In 4, $\eta(a^\top c)$ and
# $\eta(a'^\top c)$ are analytic and agree on an open set, hence on $\mathbb R^k$, which is symmetric.
# :::
#
# Where a neuron is determined, the rest of the paper's argument applies to it: its function costs what I, (10) says. Linear programs that look for another weight with the same function agree with part 2 on all random neurons. Of those behind a ReLU layer {glue:text}`shares_last` % are determined at the largest sample of {numref}`fig-determined` (Evidence).


# %% Active inputs against linear programs
def after_relu(purpose: str, n: int, k: int) -> torch.Tensor:
    """Outputs of a random ReLU layer of width k, without rows of zeros."""
    mix = normal((k, k), seed, purpose + " mix")
    hidden = (normal((4 * n, k), seed, purpose) @ mix.T).relu()
    return hidden[hidden.sum(dim=1) > 0][:n]


disagree, as_injective, tested = 0, 0, 0
for k, n in ((2, 4), (3, 6), (4, 10), (5, 15)):
    C = after_relu(f"hidden {k}", n, k)  # (n, k)
    for a in normal((neurons // 4, k), seed, f"neurons {k}"):
        active = C[C @ a > 0]
        unique = torch.linalg.matrix_rank(active, rtol=1e-10) == k  # part 2
        twin = twin_distance(a, C) > 1e-9  # by linear programs
        disagree += int(twin == unique)
        as_injective += int(twin == (torch.linalg.matrix_rank(C) == k))
        tested += 1

# %%
claims.check("I2.nonnegative", disagree, rival=as_injective, n=tested)

# %% [markdown]
# ## The price is the distance from the centre, in the neuron's own metric
#
# The *{term}`realization cost`* of a function for neuron $i$ is the least $\lVert w \rVert$ with which the neuron computes it. With the Gram matrix $S_i = M_i M_i^\top$ it is
#
# $$
# \lVert h_a \rVert_{\mathcal H_i} = \sqrt{(a - v_i)^\top S_i^{+} (a - v_i)}
# $$
#
# if $a - v_i \in \operatorname{im} M_i$, and $+\infty$ otherwise (I, (10) and Lemma C.2). Here $S_i^+$ is the pseudo-inverse, and the least weight is $M_i^+ (a - v_i)$.
#
# Programs must test for $+\infty$: outside the class the formula is finite, and 0 where $a - v_i$ is orthogonal to the image, so that an impossible function would be the cheapest. {py:func}`~lmc_helpers.identifiability.costs.realization_cost` checks the image with a relative tolerance of $10^{-10}$. An iterative solver for the least weight agrees with it:

# %% Costs against an iterative solver
gaps, other_metric, infinite, bare_infinite = [], [], [], []
for number, (F, D, W, U) in enumerate(everything):
    A, S = (F + D * W) @ U, grams(D, U)  # (m, k), (m, k, k)
    full = class_dimension(D, U) == U.shape[1]
    for i, (f, d) in enumerate(zip(F, D, strict=True)):
        v = f @ U
        drawn = v + normal((U.shape[1],), seed, f"target {number} {i}")
        for a, outside in ((A[i], False), (drawn, not full[i])):
            cost = realization_cost(a, f, d, U).item()  # with the check
            gap = a - v
            inverse = torch.linalg.pinv(S[i], rtol=1e-12)
            bare = (gap @ inverse @ gap).sqrt()  # I, (10), without it
            if math.isfinite(cost):
                M = (U.T * d).numpy()
                w = lsqr(M, gap, atol=0, btol=0, iter_lim=50 * len(d))[0]
                gaps.append(abs(cost / float(np.linalg.norm(w)) - 1))
                wrong = (gap @ S[i] @ gap).sqrt().item()
                other_metric.append(abs(wrong / cost - 1))
            if outside:
                infinite.append(math.isinf(cost))
                bare_infinite.append(not bare.isfinite())

# %%
claims.check("I3.least_norm", gaps, rival=min(other_metric))

# %% [markdown]
# In I, Example 4.3, the picture at the top, the inputs lie on the plane of $(1, \varepsilon, 0, 0)$ and $(0, 0, 1, \varepsilon)$; neuron 1 sees coordinates 1 and 4, neuron 2 the other two. With normalised basis vectors
#
# $$
# \begin{aligned}
# S_1 &= \frac{1}{1 + \varepsilon^2} \begin{pmatrix} 1 & 0 \\ 0 & \varepsilon^2 \end{pmatrix}, \\
# \lVert h_a \rVert_{\mathcal H_1} &= \sqrt{1 + \varepsilon^2}\, \sqrt{a_1^2 + a_2^2 / \varepsilon^2} .
# \end{aligned}
# $$
#
# Move $\varepsilon$: as it falls, the ellipses become flat in different directions, and the price of one function on each of them grows like $1/\varepsilon$.


# %% Example 4.3
def example(eps: torch.Tensor) -> torch.Tensor:
    """The basis of I, Example 4.3, (..., 4, 2)."""
    zero, one = torch.zeros_like(eps), torch.ones_like(eps)
    first = torch.stack([one, eps, zero, zero], dim=-1)
    second = torch.stack([zero, zero, one, eps], dim=-1)
    size = (1 + eps.square()).sqrt()[..., None, None]
    return torch.stack([first, second], dim=-1) / size


EPS = torch.logspace(-6, 0, 37, dtype=torch.float64)
SEES = torch.tensor([[1, 0, 0, 1], [0, 1, 1, 0]], dtype=torch.float64)  # d_1, d_2
a = torch.tensor([0.6, 0.8], dtype=torch.float64)
on_1, on_2 = (realization_cost(a, torch.zeros(4), d, example(EPS)) for d in SEES)
unscaled = (a[0].square() + a[1].square() / EPS.square()).sqrt()
form = (1 + EPS.square()).sqrt() * unscaled

# %% Plot Example 4.3, to move
thin = torch.logspace(0, -2, 41, dtype=torch.float64)  # ε
price = [realization_cost(a, torch.zeros(4), d, example(thin)) for d in SEES]
masked = SEES[:, None, :, None] * example(thin)  # (neurons, ε, 4, 2)
shapes = torch.linalg.cholesky(masked.mT @ masked)  # of S_i
turn = torch.linspace(0, 2 * math.pi, 73, dtype=torch.float64)
ring = torch.stack([turn.cos(), turn.sin()])
ellipses = shapes @ ring  # of cost 1, (neurons, ε, 2, points)
scene = figures.Moving(
    r"$\varepsilon$",
    [f"{eps:.2g}" for eps in thin.tolist()],
    [
        f"$a$ costs {one:.2f} on neuron 1 and {two:.2f} on neuron 2"
        for one, two in zip(*(p.tolist() for p in price), strict=True)
    ],
    start=14,
)
plane = scene.panel(xlabel="$a_1$", ylabel="$a_2$", equal=True)
plane.xlim = plane.ylim = (-1.1, 1.1)
axis = scene.panel(xlabel=r"$\varepsilon$", ylabel="cost of $a$", xscale="log")
axis.xlim, axis.ylim, axis.yscale = (1.2, 0.008), (1, 100), "log"
for i, colour in enumerate(("blue", "orange")):
    x, y = ellipses[i].transpose(0, 1)
    plane.draw(x, y, "-", colour, f"neuron {i + 1}", width=2.2)
    axis.draw(thin, price[i], "-", colour)
    axis.draw(thin[:, None], price[i][:, None], "o", colour)
plane.draw([0, a[0]], [0, a[1]], "o-", "red", "$a$")
scene.show("fig_ellipses")

# %% [markdown]
# :::{glue:figure} fig_ellipses
# :alt: First, two ellipses in the plane of a, equal circles at epsilon one, which become flat at right angles to each other as epsilon falls, and the vector a. Second, the cost of a on each neuron against epsilon on logarithmic axes, which rises as epsilon falls.
#
# Example 4.3. First: the functions of cost 1 of each neuron, and $a = (0.6, 0.8)$. Second: what $a$ costs; $\varepsilon$ falls to the right.
# :::
#
# How much of the inputs' variation a single coordinate can hold is the *{term}`coherence`* of the subspace, $\nu = \max_l (U U^\top)_{ll}$ (I, (11)); in the example it is $1/(1 + \varepsilon^2)$.
#
# ## A shared start identifies neurons before their prices do
#
# "In a symmetric layer, this assignment is determined by the initialization. By effective symmetry breaking we mean that, instead, architectural asymmetries bias training towards a consistent assignment" (I, section 4): under weight decay, or the implicit preference of training for small norms, each function goes to the neuron on which it costs least. But two runs that share $F$ also *start* alike, at $F + D \odot W_0$. To tell the two reasons apart, start at $W_0 = Z - F$. Then the start does not know $F$, while all costs are what they were.
#
# :::{prf:theorem} Start or cost
# :label: thm-start
# Let $D = 1$, $W_0 = Z - s F$ with $0 \le s \le 1$ and independent entries of $Z$, $\mathcal N(0, 1/d)$, and of $F$, $\mathcal N(0, \sigma_F^2)$. Two runs share $F$ and the data, and nothing else; the other maps and the biases start independently of $F$, the next map, and the layer's own biases if it has any, with independent and identically distributed entries.
# Let a step be $W \leftarrow (1 - \alpha \lambda)\, W - u_t$, $0 \le \alpha \lambda < 1$, where $u_t$ is made from gradients, entry by entry, as in AdamW, and let $\tau = - N \ln(1 - \alpha \lambda)$. Then after $N$ steps
#
# $$
# W_{\mathrm{eff}} = (1 - s e^{-\tau})\, F + e^{-\tau} Z - \sum_{t=1}^N (1 - \alpha \lambda)^{N - t}\, u_t .
# $$
#
# 1. For $s = 1$ and $\lambda = 0$ the fixed part has no influence: two runs that share $F$ are two independent runs of the ordinary network, and neuron $i$ of one resembles all neurons of the other alike, on average.
# 2. Without the moves $u_t$, the mean product of row $i$ in one run and row $i$ in the other over their mean square (over the draws of $Z$, summed over entries) is, up to the fluctuation of $\lVert f_i \rVert^2$ about $\sigma_F^2 d$,
#    $\rho = \frac{x^2}{1 + x^2}$ with $x = (e^\tau - s)\, \sigma_F \sqrt d$. For $s = 1$ it is $\frac12$ when $\tau = \ln \bigl( 1 + \frac{1}{\sigma_F \sqrt d} \bigr)$; for $s = 0$ it is at least $\sigma_F^2 d/(\sigma_F^2 d + 1)$ from the start, with decay or without.
# :::
#
# :::{prf:proof}
# Unroll the steps; $(1 - \alpha \lambda)^N W_0 = e^{-\tau} (Z - s F)$. The gradients with respect to $W$ and $W_{\mathrm{eff}}$ are the same.
# *1.* $W_{\mathrm{eff}}$ starts at $Z$ and moves by $-u_t$, so that $F$ does not occur. To renumber the neurons of one run renumbers the rows of its $Z$, its biases and the columns of its next map, which leaves the law of the pair as it is; so the law of what neurons $i$ and $j$ have in common depends on neither.
# *2.* Given $F$ the mean product of the rows is $(1 - s e^{-\tau})^2 \lVert f_i \rVert^2$ and their mean square $(1 - s e^{-\tau})^2 \lVert f_i \rVert^2 + e^{-2\tau}$, summed over entries. Divide by $e^{-2\tau}$.
# :::
#
# So $x$ is a clock. With the usual start it stands at $\sigma_F \sqrt d$ already; with the start that hides $F$ the costs must tell neurons apart, and need decay for a time $\tau \approx 1/(\sigma_F \sqrt d)$ (if this is small). The moves $u_t$ are a second clock, and below a decay of about $\alpha \ell/(2 \sigma_F^2)$ rows never agree by half, if a move lasts $\ell$ steps ({prf:ref}`thm-clocks`, {claim}`I3.least_decay`). Two-layer networks on small digits are trained for {glue:text}`STAGES[-1]` steps; with the mean correlation $q(\pi)$ of hidden units matched by $\pi$, and its mean $\bar q$ over all permutations, $r = (q(I) - \bar q)/(q(\pi^*) - \bar q)$.
#
# :::{glue:figure} fig_clock
# :alt: Share of the way from random to best permutations against the clock on a logarithmic axis. Networks that start with F hidden lie near zero while the clock is below a tenth and rise to one between a third and three, for two sizes of F. The usual start lies at one at the right from the beginning. The dashed curve of the theorem rises at the same place.
#
# How far the identity is on the way to the best permutation, against the clock; dashed: $\rho$ of {prf:ref}`thm-start` (means over {glue:text}`pairs` pairs; clocks below $10^{-4}$ are drawn there; profile {glue:text}`profile`).
# :::
#
# | Start, decay, networks | We find | Recorded, with 99.9 % intervals |
# | --- | --- | --- |
# | usual, none, small | [true: identified](#I3.start) | $r \ge 0.9$ in [[100 * I3.start:.0f]] ([[100 * I3.start:to]]) % of [[n(I3.start)]] pairs |
# | $F$ hidden, the paper's rate and decay, small | [true: not identified](#I3.hidden) | $r =$ [[I3.hidden:±]] after 300 steps |
# | $F$ hidden, strong decay, small | [true: identified at $x \approx 1$](#I3.clock) | $r = \frac12$ at $x =$ [[2.718281828459045 ** I3.clock:.2f]] ([[2.718281828459045 ** I3.clock:to]]) |
# | $F$ hidden, all as printed, a fifth of the epochs | [our prediction fails](#I3.clock_printed) | not by $x =$ [[2.718281828459045 ** I3.clock_printed:.1f]], where the runs end |
# | the same | [true: not halfway](#I3.hidden_printed) | $r =$ [[I3.hidden_printed:±]], [[n(I3.hidden_printed)]] pairs; said after they were seen |
# | the same, all 100 epochs: halfway or more | [not run](#I3.hidden_hundred) | – |
#
# With the usual start the neurons are identified before the first step. With $F$ hidden and the paper's rate and decay, $10^{-3}$ and 0.01, nothing identifies them, at {glue:text}`exact_1` % training accuracy: all costs are in place, but have had no time. Under strong decay they do what the paper says, when the clock says.
#
# At the printed sizes it would strike after about {glue:text}`-math.log1p(512**-0.5) / math.log1p(-1e-5):.0f` steps, the moves left aside. [Trained there](53_asymmetric_mlps.ipynb), rows of weights agree, but functions do not within a fifth of the epochs. Two seeds reject our prediction.


# %% Train pairs from both starts
def clock(sigma: float, share: float, decay: float, step: int) -> float:
    """x = (e^τ − s) σ_F √d of the theorem."""
    tau = -step * math.log1p(-RATE * decay)
    return (math.exp(tau) - share) * sigma * math.sqrt(images.shape[1])


images, labels = digits()
images = (images - images.mean(dim=0)).float()
images /= images.std()
SETTINGS = {  # σ_F, share s of F that the start takes away, weight decay
    "usual start, no decay": (1.0, 0.0, 0.0),
    "F hidden, decay 0.01": (1.0, 1.0, 0.01),
    "F hidden, decay 3": (1.0, 1.0, 3.0),
    "F hidden, decay 10, σ_F = ¼": (0.25, 1.0, 10.0),
}
STAGES = [0, 3, 6, 12, 25, 50, 100, 150, 200, 300]  # steps
weights, accuracy = train_syre(
    images, labels, list(SETTINGS.values()), pairs, STAGES, seed
)
way = torch.tensor(
    [
        [[way_to_best(pair, images) for pair in setting] for setting in stage]
        for stage in weights
    ]
)  # r, (stages, settings, pairs)
print("after training:                  x        r   accuracy")
for i, (name, setting) in enumerate(SETTINGS.items()):
    x, r = clock(*setting, STAGES[-1]), way[-1, i].mean().item()
    print(f"{name:28}{x:7.3f} {r:8.3f} {accuracy[-1, i]:10.3f}")

# %%
value, *interval = error_bars.share((way[-1, 0] >= 0.9).sum().item(), pairs)
claims.check("I3.start", value, interval=interval, n=pairs)
claims.check("I3.hidden", *error_bars.over_clusters(way[-1, 1]), n=pairs)
times = np.array([clock(*SETTINGS["F hidden, decay 3"], t) for t in STAGES[1:]])
struck = [at_half(np.log(times), course) for course in way[1:, 2].T.numpy()]
claims.check("I3.clock", *error_bars.over_clusters(struck), n=pairs)

# %% Plot r against the clock
figure, axis = figures.panels(height=3.6)
fine = np.geomspace(1e-4, 30, 200)
axis.plot(
    fine, fine**2 / (1 + fine**2), "--", color="book:black", label=r"$\rho$"
)
for i, (name, setting) in enumerate(SETTINGS.items()):
    at = [max(clock(*setting, t), 1e-4) for t in STAGES]
    axis.plot(
        at,
        way[:, i].mean(dim=1),
        "o-",
        markersize=5,
        label=name.replace("σ_F", r"$\sigma_F$"),
    )
axis.set(xlabel=r"clock $x = (e^\tau - s)\, \sigma_F \sqrt{d}$", ylabel="$r$")
axis.set(xscale="log", ylim=(-0.15, 1.08))
axis.legend(loc="center left")
figures.show("fig_clock", figure)

# %% Numbers for the text
figures.numbers(
    **{f"exact_{i}": f"{100 * a:.0f}" for i, a in enumerate(accuracy[-1])}
)

# %% [markdown]
# ## An average keeps what has one place in both networks
#
# If a function is much cheaper on one neuron than on all others, weight decay draws it to that neuron in every run: that is the paper's premise. Two networks then hold it in the same place, and their average keeps it without alignment. That neurons *can* compute the same functions does not matter; the cost does.
#
# **Read on.** [](42_swap_cost.ipynb): what it costs two neurons to exchange their functions. [](45_coherence.ipynb): what masks alone do to trained networks. [](47_relaxed_costs.ipynb): inputs that lie in a subspace only nearly.

# %% [markdown]
# ## Evidence
#
# ### Layers: gradients, and the laws of Table 1
#
# Weight decay costs $\lVert W \rVert^2$, which is at least $\sum_{D \ne 0} (W_{\text{eff}} - F)^2 / D^2$, with equality where $W = 0$ at the fixed entries.
#
# That masks with pairwise distinct rows break all permutations is a theorem of Lim et al., and that syre removes reflections almost surely one of Ziyin et al. (I, section 3.1); the paper cites both, and here they are used, not tested, but for the masks of [](55_architecture_symmetries.ipynb).
#
# The gradients of all schemes and maps obey the chain rule:

# %%
claims.check("I1.gradient", slopes, rival=min(raw_slopes))

# %% [markdown]
# I, Table 1 itself: where entries are fixed, what $F$ holds there, and how large $D$ is elsewhere.


# %% Entries that break a scheme's line
def broken(scheme, F: torch.Tensor, D: torch.Tensor) -> int:
    """Entries and rows of F and D that break a scheme's line of I, Table 1."""
    fixed = (D == 0).sum(dim=1)  # in each row
    match scheme:
        case Syre(epsilon=e):
            u = D.pow(-2)
            return int(((u < 1 - e) | (u > 1 + e) | (F == 0)).sum())
        case LinearResidual():
            return int((F != torch.eye(len(F))).sum() + (D != 1).sum())
        case Sparse():
            wrong = (F != 0).sum() + ((D != 0) & (D != 1)).sum()
            return int(wrong + (fixed != scheme.fixed).sum())
    wrong = torch.where(D == 0, F == 0, (D != 1) | (F != 0)).sum()
    if isinstance(scheme, WAsymmetric):
        wrong = wrong + (fixed != scheme.fixed).sum()
    return int(wrong)


# %% Draws of F and D against Table 1
violations, drawn, uneven = 0, 0, 0
for number, scheme in product(range(layers), SCHEMES.values()):
    (F, D), (F2, D2) = (
        scheme.draw((12, 12), torch_generator(seed, f"table {number}"))
        for _ in range(2)
    )
    violations += int((F != F2).sum() + (D != D2).sum()) + broken(scheme, F, D)
    drawn += len(F)
    if isinstance(scheme, WBernoulli):
        uneven += int(((D == 0).sum(dim=1) != 4).sum())
claims.check("I1.table", violations, rival=uneven, n=drawn)

# %% [markdown]
# ### Random neurons behind a ReLU are determined by more inputs
#
# Inputs that come with their opposites and span have spanning active halves, so part 2 of {prf:ref}`thm-determined` contains the paper's assumption as long as no input lies on the boundary. Behind a GELU, whose least value is about $-0.17$, inputs with opposites must lie in a small cube.

# %% Plot the share of neurons that are determined
k_share, ratios = 8, np.array([1, 1.5, 2, 3, 4, 6, 8, 12, 16])
found = np.empty((12, len(ratios)))  # random layers, sizes
for number, column in np.ndindex(*found.shape):
    purpose = f"share {number} {column}"
    C = after_relu(purpose, int(k_share * ratios[column]), k_share)
    A = normal((200, k_share), seed, purpose + " a")
    found[number, column] = determined(A, C).double().mean()
shares = found.mean(axis=0)
stderr = found.std(axis=0, ddof=1) / math.sqrt(len(found))
fine = np.arange(k_share, 16 * k_share + 1)
exact = binom.sf(k_share - 1, fine, 0.5)
figure, axis = figures.panels(height=3.6)
axis.plot(fine / k_share, exact, label="normal inputs, exact")
style = {"color": "book:red", "markersize": 5, "label": "outputs of a ReLU layer"}
figures.band(axis, ratios, shares, stderr, **style)
axis.axhline(1, color="book:black", linestyle=":", label="Assumption 4.1")
axis.set(xlabel="inputs per dimension, $n/k$")
axis.set(ylabel="share of neurons\nthat are determined", ylim=(-0.03, 1.06))
axis.legend(loc="lower right")
figures.show("fig_determined", figure)
figures.numbers(shares_last=f"{100 * shares[-1]:.0f}")

# %% [markdown]
# :::{glue:figure} fig_determined
# :alt: Share of random ReLU neurons that their function determines, against the number of inputs per dimension. For normal inputs it rises from almost zero to one at about four inputs per dimension. For outputs of a ReLU layer it rises more slowly and is still below one at sixteen inputs per dimension.
#
# Random ReLU neurons ($k = 8$, $a$ standard normal) that are determined by their function on $n$ inputs: independent normal inputs, $\Pr(\text{Bin}(n, \frac12) \ge k)$, and outputs of random ReLU layers of width $k$ (12 layers with 200 neurons per point, bars:
# ±3.29 standard errors over layers; profile {glue:text}`profile`).
# :::
#
# For outputs of a ReLU layer it takes many more inputs, because neurons with mostly negative weights are active on few of them. By part 3 of {prf:ref}`thm-determined` only those that are dead on the whole support remain undetermined in the end.
#
# ### Functions outside the class, and Example 4.3
#
# Outside the class the formula of I, (10) is the cost of the projection of $a - v_i$ to the image.

# %%
share, bare_share = (float(np.mean(x)) for x in (infinite, bare_infinite))
claims.check("I3.outside", share, rival=bare_share, n=len(infinite))

# %%
wrong = float((on_1 / unscaled - 1).abs().max())
claims.check("I3.example", (on_1 / form - 1).abs(), rival=wrong)

# %% Plot Example 4.3
figure, axis = figures.panels(height=3.6)
axis.plot(EPS, on_1, label="neuron 1")
axis.plot(EPS, on_2, label="neuron 2")
label = r"neuron 1, $\varepsilon = 0$, without the case $+\infty$"
axis.axhline(0.6, color="book:red", linestyle=":", label=label)
axis.set(
    xlabel=r"$\varepsilon$", xscale="log", xlim=(1e-4, 1),
    ylabel="realization cost", yscale="log", ylim=(0.3, 3e4),
)  # fmt: skip
axis.legend(loc="upper right")
figures.show("fig_example", figure)

# %% [markdown]
# :::{glue:figure} fig_example
# :alt: The cost of one function on each neuron rises like one over epsilon as epsilon falls; the value of the formula without the case of infinite cost at epsilon zero is below one.
#
# I, Example 4.3: cost of $a = (0.6, 0.8)$ on both neurons. At $\varepsilon = 0$ neither can compute it, and the formula without the case $+\infty$ gives $|a_1|$ for neuron 1 (profile {glue:text}`profile`).
# :::
#
# ### Coherence lies between $k/d$ and 1
#
# Since $U U^\top$ is a projection of trace $k$, $\nu$ lies in $[k/d, 1]$. Subspaces with rows of equal length attain the lower end, coordinate subspaces the upper one.

# %% Coherence of random, coordinate and flat subspaces
violation, other = [], []
for number, (d, k) in product(range(layers), ((8, 1), (8, 3), (8, 8), (16, 5))):
    columns = torch.randperm(d, generator=torch_generator(seed, str(number)))[:k]
    for U in (
        torch.linalg.qr(normal((d, k), seed, f"nu {number} {d} {k}"))[0],
        torch.eye(d).double()[:, :k],
        torch.tensor(hadamard(d)).double()[:, columns] / math.sqrt(d),
    ):
        nu = coherence(U).item()  # the largest diagonal entry of U Uᵀ
        violation.append(max(k / d - nu, nu - 1))
        other.append(math.sqrt(k / d) - nu)

# %%
claims.check("I3.coherence", violation, rival=max(other))

# %% [markdown]
# ### Two clocks: weight decay and the optimiser's moves
#
# What decay brings back, $F$, is the same in both runs; what the optimiser does in the meantime is not.
#
# :::{prf:theorem} Two clocks
# :label: thm-clocks
# In {prf:ref}`thm-start` let $\lambda > 0$ and $\gamma = 1 - \alpha \lambda$. Measure rows by $\langle v, w \rangle = v^\top Q w$ with $Q$ positive semidefinite of trace $d$: $Q = I$, or the inputs' covariance. Let the moves of row $i$, given $F$, have mean 0, be uncorrelated with the $Z$ of both runs and the moves of the other, and be stationary, $\mathbb E \langle u_t, u_{t + k} \rangle = \alpha^2 d\, g(k)$, with finite $G = \sum_k |k\, g(k)|$. Put
#
# $$
# \begin{aligned}
# \ell &= \sum_{k = -\infty}^{\infty} g(k) , \\
# K &= \frac{\alpha^2 d\, \ell}{1 - \gamma^2} \approx \frac{\alpha d\, \ell}{2 \lambda} , \\
# \rho(\tau) &= \frac{x^2}{1 + x^2 + K (e^{2\tau} - 1)} .
# \end{aligned}
# $$
#
# 1. This is what $\rho$ of {prf:ref}`thm-start` becomes. The term with $K$ is exact if moves at different times are uncorrelated, and otherwise off by at most $\alpha^2 d\, G\, e^{2\tau}$.
# 2. For $s = 1$, $\rho(\tau)$ grows to $1/(1 + \kappa)$ with $\kappa = K/(\sigma_F^2 d) \approx \lambda^*/\lambda$, $\lambda^* = \alpha \ell/(2 \sigma_F^2)$. It never is $\frac12$ if $\kappa \ge 1$; otherwise it is when
#    $e^\tau = (1 + p)/(1 - \kappa)$, where $p > 0$ and $p^2 = \kappa^2 + (1 - \kappa)/(\sigma_F^2 d)$.
# :::
#
# :::{prf:proof}
# *1.* Let $S = \sum_{j < N} \gamma^j u_{N - j}$ be the sum in {prf:ref}`thm-start`. As $\operatorname{tr} Q = d$, $F$ and $Z$ contribute what they do there; $S$ adds nothing to the mean product, and to the mean square
# $\mathbb E \lVert S \rVert^2 = \alpha^2 d \sum_{|k| < N} g(k) A_k$ with $A_k = \sum_{j < N - |k|} \gamma^{2j + |k|}$. Here $A_0 = (1 - \gamma^{2N})/(1 - \gamma^2)$, and
# $A_0 - A_k = (1 - \gamma^{|k|})(1 + \gamma^{2N - |k|})/(1 - \gamma^2)$ lies between 0 and $|k|$, as $1 - \gamma^{|k|} \le |k| (1 - \gamma)$ and $\gamma^{2N - |k|} \le \gamma$. For $|k| \ge N$ let $A_k = 0$: $A_0 \le N \le |k|$. So $\mathbb E \lVert S \rVert^2$ is $\alpha^2 d\, \ell A_0 = K (1 - e^{-2\tau})$, up to $\alpha^2 d\, G$. Divide by $e^{-2\tau}$.
# *2.* With $y = e^\tau$, $\frac1\rho - 1 = \frac1{\sigma_F^2 d\, (y - 1)^2} + \kappa\, \frac{y + 1}{y - 1}$, which falls to $\kappa$. It is 1 where $(1 - \kappa) y^2 - 2y + 1 + \kappa - 1/(\sigma_F^2 d) = 0$. This is negative at $y = 1$, so for $\kappa < 1$ one root is larger than 1.
# :::
#
# So the start is forgotten after a time $\tau$ of about $1/(\sigma_F \sqrt d)$, but rows of wide layers agree by half only at about $\ln \frac{1 + \kappa}{1 - \kappa}$, if this is later, and below $\lambda^*$ never. A move lasts $\ell$ steps: one, if Adam's gradients are independent noise of constant size, whatever the momentum, which only spreads them; more, if they persist; fewer, if they undo each other or many entries rest. The double sum over pairs of steps keeps to the bound:

# %% Double sums over pairs of steps
ratios, as_fixed = [], []
for c, decay, steps in product((0.9, 0.5, -0.5), (0.1, 1, 10), (30, 300, 3000)):
    gamma = 1 - RATE * decay
    decayed = gamma ** np.arange(steps)
    k = abs(np.arange(1 - steps, steps))
    exact = (c**k * np.correlate(decayed, decayed, "full")).sum()  # E‖S‖² / α²d
    K, G = (1 + c) / (1 - c) / (1 - gamma**2), 2 * abs(c) / (1 - abs(c)) ** 2
    ratios.append(abs(K * (1 - gamma ** (2 * steps)) - exact) / G)
    as_fixed.append(abs(K * (1 - gamma**steps) ** 2 - exact) / G)
claims.check("I3.noise_clock", ratios, rival=max(as_fixed))

# %% [markdown]
# Moves are stationary if training does not end. So nine labels of ten are redrawn at every step, with a small $F$, $\sigma_F = \frac1{32}$, and a larger rate, so that $\lambda^*$ is within reach. The number $\ell$ is read off once, from the rows at decay 2 and $\tau = 3$, and the theorem predicts all others:


# %% Train at several decays
def trained(decay, times, sigma, rate=RATE, redrawn=0.0):
    """τ after a number of steps, and the rows then, (stages, pairs, 2, m, d)."""
    step = -math.log1p(-rate * decay)  # of τ
    steps = [round(tau / step) for tau in times]
    of = {"redrawn": redrawn, "rate": rate}
    setting = (sigma, 1.0, decay)
    W, _ = train_syre(images, labels, [setting], pairs, steps, seed, **of)
    return step * np.array(steps), W[:, 0]


SMALL, FAST, TIMES = 1 / 32, 0.004, (0.5, 1, 1.5, 2, 2.5, 3)  # σ_F, α, τ
noisy = {v: trained(v, TIMES, SMALL, FAST, 0.9) for v in (0.5, 1, 2, 4)}
TO = np.log1p(np.array([0.5, 1, 2, 4]) / 8)  # x = ½, 1, 2, 4
quiet = {v: trained(v, TO, 1.0) for v in (0.3, 1, 3)}  # labels as they are
d = images.shape[1]
covariance = (images.T @ images).double()
covariance *= d / covariance.trace()
ALIKE = torch.eye(d).double()

# %%
rows = {v: rows_agree(W, ALIKE).numpy() for v, (_, W) in noisy.items()}
K = moves_seen(noisy[2][0][-1], rows[2][-1].mean(), SMALL, d)
memory = K / sum_of_moves(FAST, 2, d, 1)  # ℓ
least = FAST * memory / (2 * SMALL**2)  # λ*
gaps, still = [], []
for decay in (0.5, 1, 4):
    taus, K = noisy[decay][0], sum_of_moves(FAST, decay, d, memory)
    for tau, rho in list(zip(taus, rows[decay], strict=True))[1::2]:
        gaps.append(rho - agreement(tau, SMALL, d, K).item())  # (pairs,)
        still.append(rho.mean() - agreement(tau, SMALL, d, 0.0).item())
worst = max(gaps, key=lambda gap: abs(gap.mean()))
found = error_bars.over_clusters(worst)
claims.check("I3.one_number", *found, n=pairs, rival=min(still))
either = np.minimum(0.5 - rows[0.5][-1], rows[4][-1] - 0.5)
claims.check("I3.least_decay", *error_bars.over_clusters(either), n=pairs)

# %% Units, and rows in two norms, labels as they are
print("decay     x   rows   in the images' norm   units      ℓ")
seen, lasting, places = {}, {}, []
for decay, (taus, W) in quiet.items():
    r = np.array([[way_to_best(pair, images) for pair in w] for w in W])
    seen[decay] = *(rows_agree(W, Q).numpy() for Q in (ALIKE, covariance)), r
    places.append([list(map(at_half, v.T, r.T)) for v in seen[decay][:2]])
    for tau, (rho, as_seen, way) in zip(
        taus, np.mean(seen[decay], 2).T, strict=True
    ):
        K = moves_seen(tau, rho, 1.0, d)
        lasting[decay] = K / sum_of_moves(RATE, decay, d, 1)  # in the end
        of_x = f"{decay:5} {math.expm1(tau) * math.sqrt(d):5.1f}"
        print(
            of_x, f"{rho:6.2f} {as_seen:21.2f} {way:7.2f} {lasting[decay]:6.1f}"
        )

# %%
spread = np.ptp(places, axis=0)  # over decays, (norms, pairs)
found = error_bars.over_clusters(spread[1])
claims.check("I3.units_follow", *found, n=pairs, rival=spread[0].mean())

# %% Compare moves with F and with those of the other run
F, Z = weights[0, 0] - weights[0, 1], weights[0, 1]  # σ_F = 1
gone = math.exp(-noisy[2][0][-1])
S = (1 - gone) * SMALL * F + gone * Z - noisy[2][1][-1]  # of the moves
with_F = torch.cosine_similarity(S, F, dim=-1).mean().item()
with_other = torch.cosine_similarity(S[:, 0], S[:, 1], dim=-1).mean().item()

# %% Plot rows against time, and units against rows
figure, (left, right) = figures.panels(2)
fine = np.linspace(0.01, 3.1, 100)
left.plot(fine, agreement(fine, SMALL, d, 0.0), "--", color="book:black")
left.text(1.9, 0.75, "without moves", ha="right")
for decay, colour in zip(noisy, ("red", "orange", "green", "blue"), strict=True):
    style = {"color": f"book:{colour}", "label": rf"$\lambda = {decay:g}$"}
    K = sum_of_moves(FAST, decay, d, memory)
    left.plot(noisy[decay][0], rows[decay].mean(axis=1), "o", **style)
    left.plot(fine, agreement(fine, SMALL, d, K), color=style["color"])
left.set(xlabel=r"time $\tau$", ylabel=r"agreement of equal rows")
left.legend()
for (decay, (alike, as_seen, r)), colour in zip(
    seen.items(), ("purple", "sky", "grey"), strict=True
):
    style = {"color": f"book:{colour}", "markersize": 5}
    label = rf"$\lambda = {decay:g}$"
    right.plot(as_seen.mean(axis=1), r.mean(axis=1), "o-", label=label, **style)
    right.plot(alike.mean(axis=1), r.mean(axis=1), "o:", mfc="none", **style)
right.set(xlabel="agreement of equal rows", ylabel="score of the identity, $r$")
right.legend()
figures.show("fig_two_clocks", figure)

# %% [markdown]
# :::{glue:figure} fig_two_clocks
# :alt: First, agreement of equal rows against time at four decays. The points lie near solid curves that level off, the lower the smaller the decay, two of them below a half; a dashed curve without the moves rises to almost one. Second, the units' score against the agreement of rows at three decays. Solid curves, in the images' norm, nearly coincide; dotted ones, with all directions alike, lie apart.
#
# First: agreement of equal rows while labels are redrawn, and the theorem with one $\ell$. Second: units against rows, labels as they are; filled: rows in the norm of the images' covariance, open: all directions alike (means over {glue:text}`pairs` pairs; profile {glue:text}`profile`).
# :::
#
# With $\ell =$ {glue:text}`memory:.2f`, $\lambda^*$ is {glue:text}`least:.1f`, and all decays and times agree with the theorem to {glue:text}`abs(worst.mean()):.2f`; without the moves they would differ by up to {glue:text}`-min(still):≤.2f`. Its hypotheses hold nearly: the sums of the moves of two runs have the mean cosine {glue:text}`with_other:.2f`, with $F$ {glue:text}`with_F:.2f`, as training comes to depend on $F$.
#
# With labels as they are, gradients persist: $\ell$ is {glue:text}`lasting[3]:.0f` at decay 3, $x = 4$, but {glue:text}`lasting[0.3]:.0f` at decay 0.3, where training ends before; then moves end, and no one number will do. Units follow rows in the norm of the images' covariance, in which moves are larger. At the printed sizes, $K$ of the rows is small beside $d$ ([53](53_asymmetric_mlps.ipynb)), so that the printed decay is far above $\lambda^*$, and rows agree; our prediction for the printed 100 epochs, made from this formula, is still to be tested.

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# In I, Example 4.3 let $\varepsilon = \frac12$. What does $a = (0, 1)$ cost on neuron 1, and what on neuron 2? What is the quotient for any $\varepsilon$?
# :::
#
# :::{solution}
# On neuron 1 $\sqrt{1 + \varepsilon^2}/\varepsilon = \sqrt 5 \approx 2.24$, on neuron 2 $\sqrt{1 + \varepsilon^2} = \sqrt 5/2 \approx 1.12$. The quotient is $1/\varepsilon$. To check it after the cells of this chapter:
#
#     basis = example(torch.tensor(0.5).double())
#     a = torch.tensor([0.0, 1.0]).double()
#     print([realization_cost(a, torch.zeros(4), d, basis) for d in SEES])
# :::
#
# :::{exercise}
# Let the inputs of a ReLU neuron with $F = 0$ and $D = 1$ be $c = (1, 0)$, $(0, 1)$ and $(1, 1)$, and $a = (1, -2)$. Which coefficients have the same function? What does the function cost by its definition, and what does I, (10) give for $a$?
# :::
#
# :::{solution}
# Only $(1, 0)$ is active: $a^\top c$ is $1$, $-2$ and $-1$. By part 1 of {prf:ref}`thm-determined` $a'$ has the same function if and only if $a'_1 = 1$, $a'_2 \le 0$ and $a'_1 + a'_2 \le 0$, that is $a' = (1, y)$ with $y \le -1$. The least norm is that of $(1, -1)$, so the function costs $\sqrt 2$;
# I, (10) gives $|a| = \sqrt 5$. The active input does not span the plane, and the assumption of I, Prop. 4.2 is not met.
# :::
#
# :::{exercise}
# A mask fixes $q$ entries of a row, and $q \nu < 1$. Show that the neuron can still compute every function, and that
#
# $$
# \lVert a - v_i \rVert \le \lVert h_a \rVert_{\mathcal H_i} \le \frac{\lVert a - v_i \rVert}{\sqrt{1 - q \nu}} .
# $$
# :::
#
# :::{solution}
# Let $u_l$ be the rows of $U$.
# As $\sum_l u_l u_l^\top = U^\top U = I$, $S_i = I - \sum_{l \text{ fixed}} u_l u_l^\top$.
# So $S_i \preceq I$, and as each $u_l u_l^\top$ has the norm $\lVert u_l \rVert^2 \le \nu$, $S_i \succeq (1 - q \nu) I$, which is positive.
# Then $M_i$ has full rank, $S_i^+ = S_i^{-1}$ lies between $I$ and $(1 - q \nu)^{-1} I$, and
# the cost is $\sqrt{(a - v_i)^\top S_i^{-1} (a - v_i)}$. In the example $q = 2$ and $\nu \ge \frac12$: the condition is never met.
# :::
#
# :::{try}
# More layers, and more neurons behind a ReLU:
#
#     make chapter NAME=realization_cost ARGS="-p layers 40 -p neurons 400"
# :::

# %% Versions and time
print(chapter.end())
