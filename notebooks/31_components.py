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
# # The components of a linear network's minimum
#
# Zhao, Dehmamy, Walters and Yu {cite:p}`zhao2025` look at linear networks with square invertible weights. Their minimum is a copy of a matrix group, so the
# number of its components is that of the group, and permutations of neurons move a point from one component to another. This chapter checks the count,
# walks inside every component, proves how high the pass between two components is, and corrects the action of the permutations, which is printed in an order that leaves
# the minimum.

# %% tags=["parameters"]
minima: int = 400  # random minima for each depth and width, for the count
pairs: int = 3  # pairs of minima for each component, depth and width
steps: int = 61  # points of a path
lines: int = 400  # pairs of two-layer minima for the straight lines
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"]
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    minima=Integer(200, 1_000_000),
    pairs=Integer(1, 10_000),
    steps=Integer(7, 100_000),
    lines=Integer(100, 1_000_000),
)

# %% tags=["hide-input"]
import itertools

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from lmc_helpers import claims, figures
from lmc_helpers.general_linear import (
    determinant_sign,
    times_inverse,
    path_in_group,
    random_invertible,
)
from lmc_helpers.linear_nets.between import (
    joining_permutations,
    obstruction,
    path_over_obstruction,
    permute_layers,
)
from lmc_helpers.linear_nets.minimum import (
    components,
    from_group,
    loss,
    path_in_minimum,
)
from lmc_helpers.seeds import torch_generator

JOINED = 1e-12  # largest relative loss of a path inside the minimum
CASES = list(itertools.product(range(2, 6), range(1, 9)))  # depth and width
DATA = {
    h: random_invertible((2,), h, torch_generator(seed, f"X and Y {h}"))
    for h in range(1, 9)
}

# %% [markdown]
# ## The minimum is a group
#
# All matrices are $h \times h$, $X$ and $Y$ are invertible, and the loss is
#
# $$
# L(W_1, \dots, W_l) = \|Y - W_l \cdots W_1 X\|^2 .
# $$
#
# ```{prf:theorem} Prop. 4.1 and Cor. 4.2 of the paper
# :label: thm-group
# $(W_1, \dots, W_l) \mapsto (g_1, \dots, g_{l-1}) = (W_1 X, W_2, \dots, W_{l-1})$ is a homeomorphism from $L^{-1}(0)$ to $\mathrm{GL}_h^{l-1}$. So the minimum has $2^{l-1}$ components,
# one for each choice of the signs $c_1 = \operatorname{sgn} \det (W_1 X)$ and $c_i = \operatorname{sgn} \det W_i$, $1 < i < l$.
# ```
#
# ```{prf:proof}
# On $L^{-1}(0)$ the product of all factors is the invertible $Y$, so every factor is invertible, and $W_l$ follows from the others: the inverse map is
#
# $$
# (g_1, \dots, g_{l-1}) \mapsto \bigl( g_1 X^{-1},\; g_2,\; \dots,\; g_{l-1},\; Y g_1^{-1} g_2^{-1} \cdots g_{l-1}^{-1} \bigr) .
# $$
#
# Both are continuous. (Eq. (10) of the paper leaves the order of the last product open; it matters.) $\mathrm{GL}_h$ has two components, and components of a product are
# products of components.
# ```
#
# ```{prf:proposition} A path inside a component
# :label: prop-path
# Let $a, b \in \mathrm{GL}_h$ have determinants of one sign and the polar decompositions $a = Q_a S_a$, $b = Q_b S_b$. There is a skew matrix $K$ with $e^K = Q_a^\top Q_b$, and
# $g(t) = Q_a e^{tK} [(1 - t) S_a + t S_b]$ is a path in $\mathrm{GL}_h$ from $a$ to $b$ whose singular values stay between the least and the largest of $a$ and $b$.
# ```
#
# ```{prf:proof}
# $Q_a^\top Q_b$ is a rotation, so its real Schur form has blocks 1, rotations of planes, and an even number of entries $-1$, which make pairs of half turns; each rotation has a logarithm. The bracket is
# positive definite with eigenvalues between the least of $S_a, S_b$ and the largest, and orthogonal factors do not change singular values.
# ```
#
# With $g_1, \dots, g_{l-1}$ moving like this and $W_l$ given by the homeomorphism, any two points of one component are joined by an explicit curve of loss 0
# ({py:func}`~lmc_helpers.linear_nets.minimum.path_in_minimum`). Random minima are images of random group elements $U e^{\operatorname{diag} \xi}\, V$ with $U, V$ uniform on the orthogonal group and $\xi$ normal, a
# law that has a density everywhere on $\mathrm{GL}_h$.

# %%


def random_minima(layers: int, h: int, count: int, purpose: str, signs=None):
    """Minima (count, h, h) per layer, of given signs (count, layers − 1) or not."""
    generator = torch_generator(seed, f"{purpose} {layers} {h}")
    g = random_invertible((layers - 1, count), h, generator)
    if signs is not None:
        g[..., 0, :] *= (signs.T * determinant_sign(g))[..., None]
    return from_group(list(g), *DATA[h])


# %% tags=["nbval-check-output"]
found = {}
for layers, h in CASES:
    X, Y = DATA[h]
    signs = components(random_minima(layers, h, minima, "count"), X)
    found[layers, h] = len({tuple(c) for c in signs.tolist()}) / 2 ** (layers - 1)
claims.check(
    "G1.count",
    max(found.values(), key=lambda ratio: abs(ratio - 1)),
    n=minima * len(CASES),
)

# %% tags=["hide-input"]


def every_component(layers: int, copies: int) -> torch.Tensor:
    """Each tuple of signs, ``copies`` times, (copies 2^(l−1), l − 1)."""
    tuples = list(itertools.product((1, -1), repeat=layers - 1)) * copies
    return torch.tensor(tuples, dtype=torch.float64)


def on_line(a: list, b: list, alphas: torch.Tensor) -> list:
    """The straight line from a to b, layers (..., alphas, h, h)."""
    alphas = alphas[..., None, None]
    return [
        torch.lerp(A[..., None, :, :], B[..., None, :, :], alphas)
        for A, B in zip(a, b, strict=True)
    ]


def highest(a: list, b: list, X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    """Largest loss at equal steps and where a factor is singular."""
    values = [
        torch.linalg.eigvals(torch.linalg.solve(A, B - A))
        for A, B in zip(a, b, strict=True)
    ]
    roots = torch.cat(
        [-1 / v for v in values], dim=-1
    )  # det(A + α (B − A)) vanishes there
    real = (roots.imag.abs() < 1e-9) & (roots.real > 0) & (roots.real < 1)
    singular = torch.where(real, roots.real, 0)
    every = torch.cat([alphas.expand(*singular.shape[:-1], -1), singular], dim=-1)
    return loss(on_line(a, b, every), X, Y).amax(dim=-1)


alphas = torch.linspace(0, 1, steps, dtype=torch.float64)
on_path, straight, between, over, heights = [], [], [], [], []
for layers, h in CASES:
    X, Y = DATA[h]
    size = Y.square().sum()
    signs = every_component(layers, pairs)
    a, b = (random_minima(layers, h, len(signs), name, signs) for name in "ab")
    path = path_in_minimum(a, b, X, Y, steps)
    on_path.append(loss(path, X, Y).amax(dim=-1) / size)
    straight.append(loss(on_line(a, b, alphas), X, Y).amax(dim=-1) / size)
    flips = every_component(layers, pairs)[
        torch.randperm(
            len(signs), generator=torch_generator(seed, f"flips {layers} {h}")
        )
    ]
    differ = (flips < 0).any(dim=-1)
    c = random_minima(layers, h, len(signs), "c", signs * flips)
    ends = ([W[differ] for W in net] for net in (a, c))
    between.append(highest(*ends, X, Y) / obstruction(Y))
    for layer in range(1, layers):
        path = path_over_obstruction(a, X, Y, layer, steps)
        over.append(loss(path, X, Y).amax(dim=-1) / obstruction(Y))
    heights.append(obstruction(times_inverse(Y, X)) / obstruction(Y))
on_path, straight, between, over = map(
    torch.cat, (on_path, straight, between, over)
)

# %% tags=["nbval-check-output"]
claims.check(
    "G1.path",
    on_path.max().item(),
    rival=straight.median().item(),
    n=len(on_path),
)

# %% [markdown]
# The sign tuples show that there are at least $2^{l-1}$ components, as a determinant cannot change its sign on a path inside the minimum; the paths show that there are no more.
#
# ## How high is the pass between two components?
#
# The paper says that different components are not connected. One can say exactly what separates them.
#
# ```{prf:theorem} The obstruction
# :label: thm-obstruction
# Let two minima lie in different components. Every path between them holds a point with $L \ge \sigma_{\min}(Y)^2$, and on some path the loss nowhere exceeds $\sigma_{\min}(Y)^2$.
# This is true for the Frobenius norm and for the spectral norm.
# ```
#
# ```{prf:proof}
# *Lower bound.* If $W_1, \dots, W_{l-1}$ were invertible all along the path, no $c_i$ would change. So some factor is singular at some point, and there is a unit vector $v$ with $W_l \cdots W_1 X v = 0$.
# Both norms of $Y - W_l \cdots W_1 X$ are at least $\|(Y - W_l \cdots W_1 X) v\| = \|Y v\| \ge \sigma_{\min}(Y)$.
#
# *A path.* Let $Y v = \sigma u$ with $\sigma = \sigma_{\min}(Y)$ and unit vectors, choose a layer $k < l$, and put $C = W_k \cdots W_1 X$, $r = C v$, $s = C^{-\top} v$, so that $s^\top r = 1$. The matrix
# $D(\tau) = I - (1 - \tau)\, r s^\top$ has determinant $\tau$ and $D(\tau) D(\varphi) = D(\tau \varphi)$, and
#
# $$
# W_l \cdots W_{k+1}\, D(\tau)\, W_k \cdots W_1 X = Y - (1 - \tau)\, \sigma\, u v^\top .
# $$
#
# Replace $W_k$ by $D(\tau) W_k$ and $W_{k+1}$ by $W_{k+1} D(\varphi)$. First let $\tau$ fall from 1 to 0: the loss is $(1 - \tau)^2 \sigma^2$. Then let $\varphi$ go from 1 to $-1$: the product does not change, because
# $D(\varphi) D(0) = D(0)$. Then let $\tau$ fall to $-1$: the product is that of $D(-\tau)$ and the loss $(1 + \tau)^2 \sigma^2$ falls to 0. This ends in the component where $\det (W_k \cdots W_1 X)$ and no other of these $l - 1$ determinants
# has changed its sign. Such steps lead from any component into any other, and {prf:ref}`prop-path` leads to the point.
# ```
#
# So the height of the pass does not depend on the depth, on the layer, on the minima or on $X$, only on the least singular value of the targets. A bad fit in one direction is enough to change the component.

# %% tags=["nbval-check-output"]
claims.check("G1.between", between.min().item(), n=len(between))

# %% tags=["nbval-check-output"]
farthest = over[(over - 1).abs().argmax()].item()
nearest = min(heights, key=lambda ratio: abs(ratio - 1))
claims.check("G1.obstruction", farthest, rival=nearest, n=len(over))

# %% tags=["hide-input"]
h = 4
X, Y = DATA[h]
signs = torch.ones(1, 2, dtype=torch.float64)
a, b = (
    [W[0] for W in random_minima(3, h, 1, name, signs)]
    for name in ("example a", "example b")
)
fine = torch.linspace(0, 1, 301, dtype=torch.float64)
curves = {
    "straight line": (on_line(a, b, fine), "orange", "--"),
    "over the obstruction": (path_over_obstruction(a, X, Y, 2, 301), "red", "-"),
    "inside the component": (path_in_minimum(a, b, X, Y, 301), "blue", "-"),
}
figure, axes = figures.panels(
    rows=2, height=2.6, sharex=True, height_ratios=(5, 2), squeeze=False
)
upper, lower = axes[:, 0]
for name, (path, colour, style) in curves.items():
    relative = loss(path, X, Y) / obstruction(Y)
    ink = figures.COLOURS[colour]
    upper.plot(fine, relative, style, color=ink, label=name, linewidth=2)
    if name == "inside the component":
        lower.semilogy(fine, relative, style, color=ink)
upper.axhline(1, color="book:black", linestyle=":", linewidth=1)
upper.set(ylabel=r"loss / $\sigma_{\min}(Y)^2$", ylim=(-0.2, None))
lower.set(xlabel="curve parameter $t$", ylabel="inside", ylim=(1e-33, 1e-27))
figure.legend(
    *upper.get_legend_handles_labels(), loc="outside lower center", ncols=3
)
figures.show("fig_linear_paths", figure)
figures.numbers(
    profile=profile,
    pairs_inside=len(on_path),
    worst_inside=f"{on_path.max().item():.0e}",
    lines_between=len(between),
    least_between=between.min().item(),
)

# %% [markdown]
# ```{glue:figure} fig_linear_paths
# :name: fig-linear-paths
# :alt: Loss along three curves. Over the obstruction it rises to exactly the squared least singular value of Y, stays there for the middle third and falls again. On the straight line between two minima of one component it is several times higher. Inside the component it is zero, as a second panel with a logarithmic scale shows: rounding errors some thirty orders of magnitude smaller.
#
# Loss along three curves from one minimum, three layers of width 4: to another minimum of its component by {prf:ref}`prop-path` and on the straight line, and into another component by {prf:ref}`thm-obstruction`
# (profile {glue:text}`profile`).
# ```
#
# On {glue:text}`pairs_inside` paths inside components the loss is at most {glue:text}`worst_inside` $\|Y\|^2$. On {glue:text}`lines_between` straight lines between different components its maximum is at least
# {glue:text}`least_between:.2f` $\sigma_{\min}(Y)^2$.
#
# ## When an orbit has fewer components than its group
#
# Cors 3.6 and 3.7 of the paper say that an orbit $O(w)$ of a continuous action of $G$ has at most as many components as $G$. It is the image of $G$ under $g \mapsto g \cdot w$, and the image of a connected
# set is connected. Here the bound is attained, because the action is free. In general the stabiliser lowers it.
#
# ```{prf:proposition} Stabilisers join components
# :label: prop-stabiliser
# If the stabiliser of $w$ meets $k$ of the finitely many components of $G$, the orbit has at most $|\pi_0(G)| / k$ components.
# ```
#
# ```{prf:proof}
# The $k$ components are a subgroup $K$ of the finite group $\pi_0(G)$. If a component $C$ meets the stabiliser in $s$, every other component $B$ has $B \cdot w = B s \cdot w = (B C) \cdot w$, since $B s$ and $BC$ are the same
# component. So components in one coset of $K$ have one image, which is connected, and there are $|\pi_0(G)| / k$ cosets.
# ```
#
# ```{prf:corollary} One hidden neuron more than needed
# :label: cor-wider
# Let $X, Y \in \mathrm{GL}_n$ and let the two-layer network have $h \ge n$ hidden neurons. Its minimum is a single orbit of $\mathrm{GL}_h$. It has two components for $h = n$, and one for $h > n$.
# ```
#
# ```{prf:proof}
# At a minimum $W_2 W_1 = Y X^{-1}$, so $\mathbb R^h = \operatorname{im} W_1 \oplus \ker W_2$. For two minima let $g$ send $W_1$ to $W_1'$ and a basis of $\ker W_2$ to one of $\ker W_2'$; then $W_2' g$ and $W_2$ agree on both
# summands, so $W_1' = g W_1$ and $W_2' = W_2 g^{-1}$. For $h > n$ the basis of $\ker W_2'$ may be changed by a reflection: the stabiliser meets both components of $\mathrm{GL}_h$.
# ```
#
# The proof is a recipe for paths: choose the basis so that $\det g > 0$ and let $g$ go to $I$ in $\mathrm{GL}_h$.

# %%


def wide_minima(n: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """W_1 (count, n + 1, n), and a random one of all W_2 that fit it."""
    X, Y = DATA[n]
    generator = torch_generator(seed, f"wide {n}")
    W1 = torch.randn(count, n + 1, n, dtype=torch.float64, generator=generator)
    Z = torch.randn(count, n, n + 1, dtype=torch.float64, generator=generator)
    back = torch.linalg.pinv(W1)
    return W1, times_inverse(Y, X) @ back + Z - Z @ W1 @ back


def wide_path(
    W1: torch.Tensor, W2: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Paths from each minimum to the next, (count − 1, steps, …)."""
    kernel = torch.linalg.svd(W2).Vh[:, -1:].mT  # (count, n + 1, 1)
    T = torch.cat([W1, kernel], dim=-1)
    T[..., -1] *= determinant_sign(T)[:, None]
    eye = torch.eye(T.shape[-1], dtype=torch.float64).expand_as(T[1:])
    g = path_in_group(eye, times_inverse(T[1:], T[:-1]), steps)
    before = W2[:-1, None].expand(-1, steps, -1, -1)
    return g @ W1[:-1, None], torch.linalg.solve(g, before, left=False)


def classes(joined: torch.Tensor) -> int:
    """Classes of points in a row when neighbours are joined or not."""
    (low,) = joined.nonzero(as_tuple=True)
    size = len(joined) + 1
    graph = coo_array((np.ones(len(low)), (low, low + 1)), shape=(size, size))
    return connected_components(graph, directed=False)[0]


# %% tags=["nbval-check-output"]
wide_components, wide_loss = [], []
for n in range(1, 7):
    X, Y = DATA[n]
    W1, W2 = wide_minima(n, 40)
    A, B = wide_path(W1, W2)
    relative = (Y - B @ A @ X).square().sum(dim=(-2, -1)).amax(
        dim=-1
    ) / Y.square().sum()
    wide_components.append(classes(relative < JOINED))
    wide_loss.append(relative.max().item())
claims.check("G1.bound", max(wide_components), n=40 * len(wide_components))

# %% [markdown]
# With one neuron more the minimum has a single component (largest loss on these paths: {glue:text}`wide_loss` $\|Y\|^2$), so the bound of Cor. 3.7 is not attained there, and the components of
# {prf:ref}`thm-group` are a matter of exact width.
#
# ## Permutations
#
# Invertibility of $X$ matters twice: without it $W_1$ need not be invertible at a minimum, and the label $c_1$ is the sign of $\det (W_1 X)$. For two minima of one loss
# $\det X$ cancels, so one may compare the signs of $\det W_1$, as the paper's example does. For singular $X$ the statements below can be empty:
# for $X = Y = \operatorname{diag}(1, 0)$ the minimum of the two-layer network is connected, as it consists of a first column $w \ne 0$ of $W_1$, matrices $W_2$ with $W_2 w = e_1$, which form an affine space, and a free second column.
#
# ```{prf:lemma} Lemma 5.1 of the paper
# :label: lem-negative
# For $l = 2$ let two minima lie in different components and let $\det g < 0$. Then $g \cdot (W_1, W_2) = (g W_1, W_2 g^{-1})$ lies in the component of the other.
# ```
#
# ```{prf:proof}
# $\det (g W_1 X) = \det g \det (W_1 X)$, and there are two components.
# ```


# %% tags=["nbval-check-output"]
def share_joined(sign: int) -> float:
    """Share of pairs in different components that such a g joins by a path."""
    joined = []
    for h in range(1, 9):
        X, Y = DATA[h]
        signs = every_component(2, 20)
        a = random_minima(2, h, len(signs), "lemma a", signs)
        b = random_minima(2, h, len(signs), "lemma b", -signs)
        g = random_invertible(
            (len(signs),), h, torch_generator(seed, f"lemma g {h}")
        )
        g[..., 0, :] *= (sign * determinant_sign(g))[:, None]
        moved = [g @ a[0], times_inverse(a[1], g)]
        same = (components(moved, X) == components(b, X)).all(dim=-1)
        if same.any():
            ends = ([W[same] for W in net] for net in (moved, b))
            path = loss(path_in_minimum(*ends, X, Y, steps), X, Y).amax(dim=-1)
            same[same.clone()] = path < JOINED * Y.square().sum()
        joined.append(same)
    return torch.cat(joined).double().mean().item()


claims.check("G3.lemma", share_joined(-1), rival=share_joined(1), n=8 * 40)

# %% [markdown]
# Prop. 5.2 of the paper says that for $h \ge 2$ and any two minima there are permutations $P_1, \dots, P_{l-1}$ such that
#
# $$
# \bigl( W_1 P_1,\; P_1^{-1} W_2 P_2,\; \dots,\; P_{l-2} W_{l-1} P_{l-1},\; P_{l-1} W_l \bigr)
# $$
#
# and $(W_1', \dots, W_l')$ are connected in $L^{-1}(0)$. Two inverses are missing, which is a slip. The order is more than that: with eq. (1) the product of these matrices is not $W_l \cdots W_1$.
#
# ```{prf:proposition} The printed action leaves the minimum
# :label: prop-printed
# Let the permutations not all be the identity. For almost all invertible $W_1, \dots, W_l, X$, and with $Y = W_l \cdots W_1 X$, the printed point has a positive loss, with the missing inverses supplied or
# not. For $h = l = 2$, $X = I$ and $Y = \operatorname{diag}(1, 2)$ no printed point joins the two components, so Prop. 5.2 is false as printed.
# ```
#
# ```{prf:proof}
# With the inverses supplied the product is $P_{l-1}^{-1} W_l\, P_{l-2}^{-1} W_{l-1} P_{l-1} \cdots W_1 P_1$. Where it equals $W_l \cdots W_1$ a polynomial vanishes; this happens almost nowhere or everywhere. Say
# everywhere. The two sides are $P_{l-1}^{-1} W_l B$ and $W_l C$, where $B$ and $C$ do not depend on $W_l$. With $W_l = I$, $C = P_{l-1}^{-1} B$, so $P_{l-1}^{-1}$ commutes with every $W_l$, is a multiple of $I$ and, as
# a permutation, equal to $I$. What remains is the same equation for $l - 1$ factors, so all permutations are $I$. Without inverses the argument is the same.
#
# In the example let $(W_1, W_2) = (I, Y)$ and $(W_1', W_2') = (F, Y F)$ with $F = \operatorname{diag}(-1, 1)$, which have different signs. $P_1 = I$ does not change the component. The other permutation exchanges the diagonal entries,
# $P_1^{-1} Y P_1 = P_1 Y P_1 = \operatorname{diag}(2, 1) \ne Y$, and leaves the minimum.
# ```
#
# The printed order would be right for a product $W_1 W_2 \cdots W_l$. Section 4.1 of the paper has $g_i W_i g_{i-1}^{-1}$, and so has the example after Lemma 5.1. With that action the proposition is true.
#
# ```{prf:theorem} Prop. 5.2, corrected
# :label: thm-hypercube
# Let $d_k = c_1 \cdots c_k$ be the sign of $\det (W_k \cdots W_1 X)$, the orientation of the activations of layer $k$. The components of the minimum are the vertices $(d_1, \dots, d_{l-1})$ of a hypercube, and the action
#
# $$
# P \cdot (W_1, \dots, W_l) = \bigl( P_1 W_1,\; P_2 W_2 P_1^{-1},\; \dots,\; P_{l-1} W_{l-1} P_{l-2}^{-1},\; W_l P_{l-1}^{-1} \bigr),
# $$
#
# which leaves $W_l \cdots W_1$ unchanged, multiplies $d_k$ by $\operatorname{sgn} P_k$. So for $h \ge 2$ any two points of the minimum are connected up to permutation: exchange two neurons in every layer whose
# orientation differs. For $h = 1$ there is no permutation but the identity, and no two components are joined.
# ```
#
# ```{prf:proof}
# $(c_k)$ and $(d_k)$ determine each other. The activations of layer $k$ become $P_k W_k \cdots W_1 X$. For $h \ge 2$ there are permutations of either sign, for $h = 1$ only even ones.
# ```
#
# A path over the obstruction at layer $k$ changes $d_k$ and nothing else, too ({prf:ref}`thm-obstruction`): the edges of the hypercube are exchanges of two neurons, and passes.

# %% tags=["hide-input"]
generator = torch_generator(seed, "permutations")


def printed(weights: list, perms: list, inverses: bool) -> list:
    """The printed point, as it stands or with the two missing inverses."""
    eye = torch.eye(weights[0].shape[-1], dtype=torch.float64)
    P = [eye, *(eye[p] for p in perms), eye]
    left = [Q.mT for Q in P]
    if not inverses:
        left[-2] = P[-2]
        if len(weights) > 2:
            left[-3] = P[-3]
    return [left[i] @ W @ P[i + 1] for i, W in enumerate(weights)]


def random_lists(h: int, number: int, count: int) -> list:
    """``count`` lists of ``number`` permutations, none of them all identities."""
    lists = []
    while len(lists) < count:
        perms = [torch.randperm(h, generator=generator) for _ in range(number)]
        if any(not p.equal(torch.arange(h)) for p in perms):
            lists.append(perms)
    return lists


stays, moved_loss, corrected_loss = [], [], []
for layers, h in CASES:
    if h == 1:
        continue
    X, Y = DATA[h]
    nets = random_minima(layers, h, 12, "action")
    for k, perms in enumerate(random_lists(h, layers - 1, 12)):
        net = [W[k] for W in nets]
        points = [printed(net, perms, inverses) for inverses in (True, False)]
        relative = [
            loss(point, X, Y).item() / Y.square().sum().item() for point in points
        ]
        moved_loss.append(min(relative))
        stays.append(min(relative) < JOINED)
        right = loss(permute_layers(net, perms), X, Y) / Y.square().sum()
        corrected_loss.append(right.item())

# %% tags=["nbval-check-output"]
claims.check("G3.action", float(np.mean(stays)), n=len(stays))

# %% tags=["hide-input"]


def joined_share(layers: int, h: int) -> tuple[int, int, int]:
    """Ordered pairs of components: all, joined, joined without permutations."""
    X, Y = DATA[h]
    signs = every_component(layers, 1)
    nets, goals = (
        random_minima(layers, h, len(signs), name, signs)
        for name in ("joined a", "joined b")
    )
    moved, ends, already = [], [], 0
    for i, j in itertools.product(range(len(signs)), repeat=2):
        a, b = ([W[k] for W in net] for net, k in ((nets, i), (goals, j)))
        already += signs[i].equal(signs[j])
        moved.append(permute_layers(a, joining_permutations(a, b, X)))
        ends.append(b)
    batch = [
        [torch.stack(layer) for layer in zip(*some, strict=True)]
        for some in (moved, ends)
    ]
    same = (components(batch[0], X) == components(batch[1], X)).all()
    path = path_in_minimum(*batch, X, Y, 21) if same else on_line(*batch, alphas)
    below = loss(path, X, Y).amax(dim=-1) < JOINED * Y.square().sum()
    return len(moved), int(below.sum()), already


shares = [joined_share(layers, h) for layers, h in CASES if h > 1]
total, joined, already = map(sum, zip(*shares, strict=True))

# %% tags=["nbval-check-output"]
claims.check("G3.joined", joined / total, rival=already / total, n=total)


# %% tags=["nbval-check-output"]
def reachable(h: int) -> tuple[int, int]:
    """Ordered pairs of different components; those that some permutations join."""
    number = reached = 0
    X = DATA[h][0]
    orders = [torch.tensor(p) for p in itertools.permutations(range(h))]
    for layers in range(2, 6):
        signs = every_component(layers, 1)
        nets = random_minima(layers, h, len(signs), "reachable", signs)
        seen = [set() for _ in signs]
        for perms in itertools.product(orders, repeat=layers - 1):
            for k, c in enumerate(
                components(permute_layers(nets, list(perms)), X).tolist()
            ):
                seen[k].add(tuple(c))
        number += len(signs) * (len(signs) - 1)
        reached += sum(len(s) - 1 for s in seen)
    return number, reached


(number, one), (_, two) = reachable(1), reachable(2)
claims.check("G3.h1", one / number, rival=two / number, n=number)

# %% [markdown]
# The loss of the printed points is at least {glue:text}`least_printed` $\|Y\|^2$, that of the corrected ones at most {glue:text}`most_corrected` $\|Y\|^2$, over {glue:text}`actions` minima with a random list of permutations each.
#
# ## What permutations do for the straight line
#
# Connected by a curve does not mean connected by a straight line. For two layers the loss on the line is known exactly.
#
# ```{prf:proposition} Straight lines
# :label: prop-straight
# For $l = 2$ every minimum is $(g W_1, W_2 g^{-1})$ with one $g \in \mathrm{GL}_h$, and
#
# $$
# \begin{aligned}
# &L\bigl( (1 - \alpha) (W_1, W_2) + \alpha (g W_1, W_2 g^{-1}) \bigr) \\
# &\qquad = \alpha^2 (1 - \alpha)^2 \, \bigl\| W_2\, (g - I)^2 g^{-1}\, W_1 X \bigr\|^2 .
# \end{aligned}
# $$
#
# The barrier is a sixteenth of the last factor, at $\alpha = \frac12$. The line lies in the minimum if and only if $(g - I)^2 = 0$.
# ```
#
# ```{prf:proof}
# $[(1 - \alpha) I + \alpha g^{-1}][(1 - \alpha) I + \alpha g] = I + \alpha (1 - \alpha) (g + g^{-1} - 2 I)$, and $g + g^{-1} - 2I = (g - I)^2 g^{-1}$. The outer factors are invertible.
# ```
#
# A permutation of the second network's neurons replaces $g$ by $P g$, so the best of them looks for a permutation close to $g^{-1}$. If the second network is a permuted copy of the first with noise, there is one. If it is a
# random point of the component, there is none in general, since $\mathrm{GL}_h$ is much larger than the group of permutations. Width 4, all 24 permutations:

# %% tags=["hide-input"]
h = 4
X, Y = DATA[h]
eye = torch.eye(h, dtype=torch.float64)
orders = [torch.tensor(p) for p in itertools.permutations(range(h))]
a = random_minima(2, h, lines, "line")
spread = random_invertible((lines,), h, torch_generator(seed, "line g"))
spread[:, 0] *= determinant_sign(spread)[:, None]  # the same component
noise = torch.randn(
    lines,
    h,
    h,
    dtype=torch.float64,
    generator=torch_generator(seed, "line noise"),
)
shuffle = torch.stack(
    [eye[torch.randperm(h, generator=generator)] for _ in range(lines)]
)
copies = shuffle @ torch.linalg.matrix_exp(0.1 * noise)


def coefficient(g: torch.Tensor, power: int = 2) -> torch.Tensor:
    """The last factor of the proposition, (…)."""
    bend = times_inverse(torch.linalg.matrix_power(g - eye, power), g)
    return (a[1] @ bend @ a[0] @ X).square().sum(dim=(-2, -1))


def measured_line(g: torch.Tensor) -> torch.Tensor:
    """The loss on the straight lines, (lines, steps)."""
    return loss(on_line(a, [g @ a[0], times_inverse(a[1], g)], alphas), X, Y)


shape = (alphas * (1 - alphas)) ** 2
barriers = {}
differences, rivals = [], []
for name, g in (
    ("random points", spread),
    ("permuted copies with noise", copies),
):
    direct = measured_line(g)
    scale = direct.amax(dim=-1)
    differences.append(
        (direct - shape * coefficient(g)[:, None]).abs().amax(dim=-1) / scale
    )
    rivals.append(
        (direct - shape * coefficient(g, 1)[:, None]).abs().amax(dim=-1) / scale
    )
    best = torch.stack([coefficient(eye[p] @ g) for p in orders]).amin(dim=0)
    barriers[name] = (
        coefficient(g) / 16 / obstruction(Y),
        best / 16 / obstruction(Y),
    )

# %% tags=["nbval-check-output"]
claims.check(
    "G1.straight",
    torch.cat(differences).max().item(),
    rival=torch.cat(rivals).median().item(),
    n=2 * lines,
)

# %% tags=["hide-input"]
figure, axes = figures.panels(columns=2, height=4.4, squeeze=False)
left, right = axes[0]
X, Y = DATA[2]
graph = every_component(4, 1)
nets = random_minima(4, 2, len(graph), "graph", graph)
place = {}
for c in graph.tolist():
    d = np.cumprod(c)
    place[tuple(c)] = (d[0] + 0.45 * d[2], d[1] + 0.35 * d[2])
for layer, colour in enumerate(("blue", "orange", "green")):
    perms = [torch.arange(2)] * 3
    perms[layer] = torch.tensor([1, 0])
    after = components(permute_layers(nets, perms), X).tolist()
    for k, (c, other) in enumerate(
        zip(components(nets, X).tolist(), after, strict=True)
    ):
        ends = np.array([place[tuple(c)], place[tuple(other)]])
        label = f"layer {layer + 1}" if k == 0 else None
        left.plot(
            *ends.T,
            color=figures.COLOURS[colour],
            linewidth=3,
            label=label,
            zorder=1,
        )
for c, (x, y) in place.items():
    text = "".join("+" if s > 0 else "−" for s in c)
    box = dict(boxstyle="round", facecolor="white", edgecolor="book:black")
    left.annotate(text, (x, y), ha="center", va="center", bbox=box)
left.set(
    xlim=(-1.9, 1.9),
    ylim=(-1.8, 1.8),
    title="components, $l = 4$: exchanging two neurons",
)
left.set_axis_off()
left.legend(loc="lower center", ncols=3, bbox_to_anchor=(0.5, -0.12))
for (name, (before, after)), colour in zip(
    barriers.items(), ("red", "blue"), strict=True
):
    right.loglog(
        before,
        after.clamp(min=1e-6),
        ".",
        color=figures.COLOURS[colour],
        label=name,
        markersize=4,
    )
low, high = right.get_xlim()
right.plot([low, high], [low, high], color="book:black", linewidth=0.8)
right.set(
    xlabel=r"barrier on the straight line / $\sigma_{\min}(Y)^2$",
    ylabel="the same, best permutation",
    title="$l = 2$, $h = 4$",
)
right.legend()
figures.show("fig_component_graph", figure)
gain = {
    name: (after / before).median().item()
    for name, (before, after) in barriers.items()
}
figures.numbers(
    least_printed=f"{min(moved_loss):.0e}",
    most_corrected=f"{max(corrected_loss):.0e}",
    actions=len(stays),
    lines=lines,
    gain_random=gain["random points"],
    gain_copies=gain["permuted copies with noise"],
    wide_loss=f"{max(wide_loss):.0e}",
)

# %% [markdown]
# ```{glue:figure} fig_component_graph
# :name: fig-component-graph
# :alt: Left, the eight components for four layers as corners of a cube, labelled by three signs; edges in three colours are exchanges of two neurons in layers one, two and three. Right, barrier on straight lines before and after the best permutation on logarithmic axes: points of random minima lie little below the diagonal, those of permuted copies with noise orders of magnitude below it.
#
# Left: the components for $l = 4$, labelled by $(c_1, c_2, c_3)$; each edge is the effect of exchanging two neurons, computed on one minimum of each component with $h = 2$. Right: barrier on the straight line from
# {glue:text}`lines` minima to a random point of the same component, and to a permuted copy with noise, before and after the best of all permutations (profile {glue:text}`profile`).
# ```
#
# The median of the factor by which the best permutation lowers the barrier is {glue:text}`gain_random:.2f` for random points of one component and {glue:text}`gain_copies:.1e` for noisy permuted copies. What would remove the barrier
# altogether for every pair is $g^{-1}$ itself.
#
# ## What we found that the paper does not say
#
# - Two components are separated by a pass of height exactly $\sigma_{\min}(Y)^2$ ({prf:ref}`thm-obstruction`), for every depth, width, $X$ and pair of minima.
# - In the orientations $d_k$ of the hidden layers the components are the vertices of a hypercube, and an odd permutation of a layer walks along one of its edges ({prf:ref}`thm-hypercube`).
# - One hidden neuron more than needed joins the two components of a two-layer network ({prf:ref}`cor-wider`).
# - The straight line between two-layer minima has a loss in closed form, and lies in the minimum only for $(g - I)^2 = 0$ ({prf:ref}`prop-straight`).
#
# ```{admonition} Try it
# :class: tip
# More pairs in every component, on finer paths:
#
#     make chapter NAME=components ARGS="-p pairs 20 -p steps 201"
# ```

# %% tags=["hide-input"]
print(chapter.end())
