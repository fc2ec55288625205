# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Exchanging two neurons joins the separate minima of a linear network
#
# *When can one point of a linear network's minimum be moved to another without the loss rising?*
#
# With $l$ equally wide layers and invertible data the minimum falls into **$2^{l-1}$** pieces; any path between two climbs at least to $\sigma_{\min}(Y)^2$ (proved). Exchanging two neurons leads to another piece at no cost; without it, only **[[100 * G3.probable_direct:±]] %** of pairs of trained three-layer networks share a piece (by chance 25 %).
#
# :::{glue:figure} fig_cube
# :alt: The eight pieces of the minimum of a four-layer network as corners of a cube, each named by three signs. Edges in three colours are exchanges of two neurons in hidden layers 1, 2 and 3; each flips one sign. Beside it the numbers of the answer: 8 pieces; a path without exchanges climbs to the squared least singular value of the targets, an exchange costs 0; two trained three-layer networks share a piece in about a quarter of the pairs.
#
# Four layers of width 2. A corner is named by three signs, one for each hidden layer: that of the determinant of the map from the inputs to it. $\sigma_{\min}(Y)$: least singular value of the targets.
# :::
#
# **How sure.** Proved; counted on [[n(G1.count)]] trained networks, by walks that never look at the determinants' signs; shares from [[n(G3.probable_direct)]] pairs; recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | “$2^{l-1}$ connected components” (Cor. 4.2) | [true](#G1.count) | exactly, for 2 to 5 layers |
# | “all points on the minimum of $L$ are connected up to permutation” (sec. 5.1) | [true, by the action of sec. 4.1](#G3.joined) | all [[n(G3.joined)]] pairs; the action printed in Prop. 5.2 changes $W_l \cdots W_1$ |
# | “with high probability two points in the minimum are connected” (sec. 5, of others' observations) | [true, up to permutation](#G3.probable) | all [[n(G3.probable)]] pairs ([[100 * G3.probable:to]] %); as they are, [[100 * G3.probable_direct:±]] % |
# | Two layers: any $g$ with $\det g < 0$ leads to the other piece (Lemma 5.1) | [true](#G3.lemma) | all [[n(G3.lemma)]] pairs |
# | A minimum that is one orbit has no more components than the symmetry group (Cor. 3.7) | [true; fewer occur](#G1.bound) | one where the group has two: with one hidden neuron more than needed |
#
# **Open.** Nothing.
#
# **For the authors.** Print $(P_1 W_1, P_2 W_2 P_1^{-1}, \dots, W_l P_{l-1}^{-1})$ in Prop. 5.2 (submitted version); where section 2 quotes Freeman & Bruna, add *if the hidden layer is wider than the rank of $Y$*.

# %% [markdown]
# :::{need}
# You need: determinants, singular values, the polar decomposition. A *component* of a set is a largest connected part of it; above it is called a piece. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $l$, $h$ | number of layers; neurons of every layer |
# | $W_1, \dots, W_l$ | the weights, $h \times h$ matrices |
# | $X$, $Y$ | inputs and targets, invertible $h \times h$ matrices |
# | $L$ | loss $\Vert Y - W_l \cdots W_1 X\Vert^2$ (Frobenius norm); the minimum is the set $L^{-1}(0)$ |
# | $\mathrm{GL}_h$ | the invertible $h \times h$ matrices, $g$ or $g_i$ one of them |
# | $c_i$ | sign of $\det g_i$, where $g_1 = W_1 X$ and $g_i = W_i$ for $1 < i < l$ |
# | $d_k$ | orientation of hidden layer $k$: sign of $\det (W_k \cdots W_1 X)$, so $d_k = c_1 \cdots c_k$ |
# | $P_k$ | a permutation matrix that reorders the neurons of hidden layer $k$ |
# | $\sigma_{\min}(Y)$ | least singular value of the targets |
# | $n$, $h_k$, $b$ | if widths differ: inputs; neurons of hidden layer $k$; number of hidden layers with $h_k = n$ |
#
# Zhao, Dehmamy, Walters & Yu (G) {cite:p}`zhao2025` count the {term}`connected components <component>` of the minimum and show that permutations join them. We add what the others cost: the height of the wall, and where training ends.
#
# ## The minimum is a product of groups, and each has two halves
#
# With two layers of width 1 and $X = Y = 1$ the minimum is the hyperbola $W_2 W_1 = 1$: two branches, told apart by the sign of $W_1$. On the way from one to the other some weight is 0, and the network computes 0. The same is true of matrices, with a determinant in place of the weight.

# %% Parameters tags=["parameters"]
descents: int = 3  # for each depth, width and choice of signs at the start
widest: int = 2  # largest width at which minima are joined blindly
runs: int = 4000  # descents from normal weights, for each depth
pairs: int = 3  # pairs of minima for each component, depth and width
steps: int = 61  # points of a path
lines: int = 400  # pairs of two-layer minima for the straight lines
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    descents=Integer(1, 10_000),
    widest=Integer(2, 8),
    runs=Integer(100, 1_000_000),
    pairs=Integer(1, 10_000),
    steps=Integer(7, 100_000),
    lines=Integer(100, 1_000_000),
)

import itertools

import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.components import (
    all_components,
    descend,
    highest_on_line,
    jordan_forms,
    permute_layers,
    random_of_form,
)
from lmc_helpers.error_bars import share
from lmc_helpers.general_linear import (
    determinant_sign,
    path_in_group,
    polar,
    random_invertible,
    rotation_logarithm,
    times_inverse,
)
from lmc_helpers.linear_nets import (
    components,
    from_group,
    loss,
    obstruction,
    path_in_minimum,
    path_over_obstruction,
    straight_line,
)
from lmc_helpers.linear_nets.walks import (
    joined,
    joined_classes,
    product_misfit,
    widths_misfit,
)
from lmc_helpers.seeds import torch_generator

JOINED = 1e-12  # largest relative loss of a path inside the minimum


# %% Components, and the numbers of the answer
corners, generic = all_components(4), torch_generator(seed, "cube")
front = random_invertible((3, 8), 2, generic, corners.T)  # one of each component
oriented = corners.cumprod(dim=-1)  # the orientations (d_1, d_2, d_3)
spot = oriented[:, :2] + oriented[:, 2:] * torch.tensor([0.5, 0.34])  # from aside
record = claims.recorded("G3.probable_direct")
half = (record["high"] - record["low"]) / 2
facts = (
    ("$2^{4-1} = 8$", "pieces, one at each corner"),
    (r"$\sigma_{\mathrm{min}}(Y)^2$", "climb between corners, without exchange"),
    ("0", "climb, if two neurons are exchanged"),
    (
        f"{100 * record['value']:.1f} ± {100 * half:.1f} %",
        "of trained three-layer pairs share a piece",
    ),
)

# %% Draw the components as corners of a cube
figure, (cube, notes) = figures.panels(2, height=3.0)
named = {  # colour of a line, of its name, and the place of the name
    "green": ("#00805c", 0.5, 1.6, "exchange in layer 1"),
    "purple": ("#a3487c", -1.62, -0.4, "in layer 2"),
    "blue": ("#0072b2", -1.12, 1.1, "in layer 3"),
}
for move, (colour, (ink, x, y, name)) in enumerate(named.items()):
    swap = [torch.tensor([1, 0] if k == move else [0, 1]) for k in range(3)]
    moved_to = permute_layers([*front, front[0]], swap)
    moved_to = components(moved_to, torch.eye(2, dtype=torch.float64))
    goal = (moved_to[:, None] == corners).all(dim=-1).long().argmax(dim=-1)
    rods = torch.stack([spot, spot[goal]]).movedim(-1, 0)  # (2, 2, 8)
    cube.plot(*rods, color=f"book:{colour}", linewidth=3)
    style = dict(color=ink, va="center", size=13)
    cube.text(x, y, name, ha="right" if move else "center", **style)
for signs_of, where in zip(oriented, spot, strict=True):
    plate = dict(boxstyle="round", facecolor="white", edgecolor="book:black")
    name = "".join("+" if sign > 0 else "−" for sign in signs_of)
    style = dict(ha="center", va="center", size=12, bbox=plate)
    cube.annotate(name, where.tolist(), **style)
for place, (number, meaning) in enumerate(facts):
    style = dict(va="center", transform=notes.transAxes)
    notes.text(0, 0.92 - 0.25 * place, number, size=16, weight="bold", **style)
    y = 0.81 - 0.25 * place
    notes.text(0, y, meaning, size=13, color="0.35", **style)
cube.set(xlim=(-2.6, 1.9), ylim=(-1.62, 1.75))
for picture in (cube, notes):
    picture.set_axis_off()
figures.show("fig_cube", figure)

# %% [markdown]
# :::{prf:theorem} G, Prop. 4.1 and Cor. 4.2
# :label: thm-group
# The map
#
# $$
# \begin{aligned}
# (W_1, \dots, W_l) &\mapsto (g_1, \dots, g_{l-1}) , \\
# g_1 &= W_1 X , \quad g_i = W_i \; (i > 1)
# \end{aligned}
# $$
#
# is a homeomorphism from $L^{-1}(0)$ to $\mathrm{GL}_h^{l-1}$. So the minimum has $2^{l-1}$ components, one for each choice of the signs
# $c_i = \operatorname{sgn} \det g_i$.
# :::
#
# :::{prf:proof}
# On $L^{-1}(0)$ the product of all factors is the invertible $Y$, so every factor is invertible. The inverse map is $W_1 = g_1 X^{-1}$, $W_i = g_i$ for $1 < i < l$, and
#
# $$
# W_l = Y g_1^{-1} g_2^{-1} \cdots g_{l-1}^{-1} .
# $$
#
# Both are continuous. $\mathrm{GL}_h$ has two components, and components of a product are products of components.
# :::
#
# So two minima with the same signs must be joined by a path. It can be written down:
#
# :::{prf:proposition} A path inside a component
# :label: prop-path
# Let $g, g' \in \mathrm{GL}_h$ have determinants of one sign and the polar decompositions $g = Q S$, $g' = Q' S'$. There is a skew matrix $K$ with $e^K = Q^\top Q'$, and
# $g(t) = Q e^{tK} [(1 - t) S + t S']$ is a path in $\mathrm{GL}_h$ from $g$ to $g'$ whose singular values stay between the least and the largest of $g$ and $g'$.
# :::
#
# :::{prf:proof}
# $Q^\top Q'$ is a rotation, so its real Schur form has blocks 1, rotations of planes, and an even number of entries $-1$, which make pairs of half turns; each rotation has a logarithm. The bracket is
# positive definite with eigenvalues between the least of $S, S'$ and the largest, and orthogonal factors do not change singular values.
# :::
#
# With $g_1, \dots, g_{l-1}$ moving like this and $W_l$ given by the theorem, any two points of one component are joined by a curve of loss 0 ({py:func}`~lmc_helpers.linear_nets.minimum.path_in_minimum`). Here it is for three layers of width 4:

# %% Define random minima of given signs
CASES = list(itertools.product(range(2, 6), range(1, 9)))  # depth l and width h
DATA = {
    h: random_invertible((2,), h, torch_generator(seed, f"X and Y {h}"))
    for h in range(1, 9)
}


def random_minima(layers, h, count, purpose, signs=None):
    """W_1, …, W_l, each (count, h, h), of given signs (count, l − 1) or any."""
    generator = torch_generator(seed, f"{purpose} {layers} {h}")
    wanted = None if signs is None else signs.T
    g = random_invertible((layers - 1, count), h, generator, wanted)
    X, Y = DATA[h]
    last = Y
    for g_i in g:
        last = times_inverse(last, g_i)  # W_l = Y g_1⁻¹ … g_{l−1}⁻¹, G, (10)
    return [times_inverse(g[0], X), *g[1:], last]


# %%
h = 4
X, Y = DATA[h]
t = torch.linspace(0, 1, 301, dtype=torch.float64)[:, None, None]
a, b = (
    [W[0] for W in random_minima(3, h, 1, name, torch.ones(1, 2))]
    for name in ("example a", "example b")
)
g = []
for g_a, g_b in ((a[0] @ X, b[0] @ X), (a[1], b[1])):
    (Q_a, S_a), (Q_b, S_b) = polar(g_a), polar(g_b)
    K = rotation_logarithm(Q_a.mT @ Q_b)  # skew, e^K = Q_aᵀ Q_b
    g.append(Q_a @ torch.linalg.matrix_exp(t * K) @ ((1 - t) * S_a + t * S_b))
inside = from_group(g, X, Y)  # W_1, W_2, W_3, each (301, h, h)

# %% [markdown]
# ## Walks that ignore the signs find exactly as many classes
#
# The theorem could be checked with paths that exist because the signs agree; that would prove nothing. So the experiment looks at no sign. Networks are trained by descent from random weights. From one minimum a walk leads towards another: the direction to it is projected on the tangent space of the minimum, a short step
# is taken, and Gauss–Newton steps lead back to loss 0. A step counts only if the loss on its straight edge is at most $10^{-5} \|Y\|^2$, which no wall allows. Two minima are in one class if such walks join them. If two choices of signs were one component, there would be fewer classes than $2^{l-1}$; if one choice had two components, more.


# %% Join trained minima by walks that see no sign
def flat(W):
    """The weights of each network as one row, (networks, l h²)."""
    return torch.cat([V.flatten(1) for V in W], dim=1)


def misfit(layers, h):
    """(W_l … W_1 X − Y)/‖Y‖ and its derivative; the minimum is where it is 0."""
    return product_misfit(layers, *DATA[h])


NARROW = [(layers, h) for layers, h in CASES if h <= min(widest, 6)]
classes, arrived = {}, {}  # number of classes / 2^(l − 1), minima
mixed = 0  # classes that hold minima of different signs
for layers, h in NARROW:
    X, Y = DATA[h]
    # all signs of det W_1, …, det W_l at the start
    signs = all_components(layers + 1).repeat(descents, 1)
    generator = torch_generator(seed, f"descent {layers} {h}")
    start = random_invertible((layers, len(signs)), h, generator, signs.T)
    W, there = descend(list(start), X, Y, steps=300)
    W = [V[there] for V in W]
    found = joined_classes(misfit(layers, h), flat(W), at_once=4)
    number = len(found.unique())
    of_both = torch.cat([found[:, None], components(W, X)], dim=1)
    mixed += len(of_both.unique(dim=0)) - number
    arrived[layers, h] = len(found)
    classes[layers, h] = number / 2 ** (layers - 1)
figures.numbers(
    descended=sum(2**layers for layers, _ in classes) * descents, mixed=mixed
)

# %%
claims.check("G1.count", list(classes.values()), n=sum(arrived.values()))

# %% [markdown]
# In this run {glue:text}`sum(arrived.values())` of {glue:text}`descended` descents arrived at a minimum, and {glue:text}`mixed` classes hold minima of different signs.
#
# ## Between two pieces every path climbs to the same height
#
# :::{prf:theorem} The obstruction
# :label: thm-obstruction
# Let two minima lie in different components. Every path between them holds a point with $L \ge \sigma_{\min}(Y)^2$, and on some path the loss nowhere exceeds $\sigma_{\min}(Y)^2$.
# This is true for the Frobenius norm and for the spectral norm.
# :::
#
# :::{prf:proof}
# *Lower bound.* If $W_1, \dots, W_{l-1}$ were invertible all along the path, no $c_i$ would change. So some factor is singular at some point, and there is a unit vector $v$ with $W_l \cdots W_1 X v = 0$.
# Both norms of $Y - W_l \cdots W_1 X$ are at least the length of its product with $v$, which is $\|Y v\| \ge \sigma_{\min}(Y)$. The path that attains it is under *Evidence*.
# :::
#
# So the height of the wall does not depend on the depth, the layer, the minima or the inputs. (A first hidden layer with as many neurons as inputs has this sign in nonlinear networks, too, and there it prices an exchange of neurons: {prf:ref}`thm-blind`, {prf:ref}`thm-price`.) To change the piece it is enough to fit the targets badly in one direction: flatten that direction at layer $k$, turn it round while nothing sees it, and raise it again. The path for the example above, with $k = 2$:

# %%
h = 4
X, Y = DATA[h]
v = torch.linalg.svd(Y).Vh[-1]  # Y v = σ_min u
C = a[1] @ a[0] @ X  # W_k … W_1 X with k = 2
r, s = C @ v, torch.linalg.solve(C.mT, v)  # sᵀ r = 1


def D(tau):
    """I − (1 − τ) r sᵀ, which multiplies r by τ."""
    return torch.eye(h, dtype=torch.float64) - (1 - tau) * torch.outer(r, s)


tau = (1 - 3 * t).clamp(min=0) - (3 * t - 2).clamp(min=0)  # 1 to 0, 0, 0 to −1
phi = 1 - 2 * (3 * t - 1).clamp(0, 1)  # 1, 1 to −1, −1
over_the_pass = [a[0].expand(len(t), h, h), D(tau) @ a[1], a[2] @ D(phi)]


# %% Plot the loss along three curves
X, Y = DATA[4]
curves = {  # colour, style, and the weights
    "straight line": ("book:orange", "--", straight_line(b, a, t.flatten())),
    "over the obstruction": ("book:red", "-", over_the_pass),
    "inside the component": ("book:blue", "-", inside),
}
figure, axis = figures.panels(height=3.2)
for colour, style, path in curves.values():
    relative = loss(path, X, Y) / obstruction(Y)
    axis.plot(t.flatten(), relative, style, color=colour, linewidth=2)
top = (loss(curves["straight line"][2], X, Y) / obstruction(Y)).max().item()
axis.text(
    0.5, top * 1.03, "straight line, same piece", color="#8a5f00", ha="center"
)
axis.text(0.5, 1.0 + 0.05 * top, "over the wall", color="book:red", ha="center")
axis.text(0.5, 0.04 * top, "inside the piece", color="book:blue", ha="center")
axis.set(xlabel="place on the path", ylim=(-0.03 * top, 1.2 * top))
axis.set_ylabel(r"loss / $\sigma_{\min}(Y)^2$")
figures.show("fig_linear_paths", figure)

# %% Plot the finding
figure, axis = figures.card()
for name, label in (
    ("over the obstruction", "between components"),
    ("inside the component", "inside a component"),
):
    colour, style, path = curves[name]
    relative = loss(path, X, Y) / obstruction(Y)
    axis.plot(t.flatten(), relative, style, color=colour, label=label)
axis.axhline(1, color="book:black", linestyle=":", linewidth=1)
axis.set(xlabel="place on the path", ylim=(-0.1, 1.75))
axis.set_ylabel(r"loss / $\sigma_{\min}(Y)^2$")
axis.legend(loc="upper right")
figures.keep(figure)

# %% [markdown]
# :::{glue:figure} fig_linear_paths
# :alt: Loss along three curves, in units of the squared least singular value of the targets. Over the wall it rises to exactly 1, stays there for the middle third and falls again. On the straight line between two minima of one piece it is several times higher. Inside the piece it is 0.
#
# Loss along three curves from one minimum, three layers of width 4: into another piece by {prf:ref}`thm-obstruction`, within its own piece by {prf:ref}`prop-path`, and on the straight line within its own piece (profile {glue:text}`profile`).
# :::
#
# ## An exchange of two neurons crosses at no cost
#
# :::{prf:theorem} G, Prop. 5.2, corrected
# :label: thm-hypercube
# The components of the minimum are the vertices $(d_1, \dots, d_{l-1})$ of a hypercube, and the action
#
# $$
# \begin{aligned}
# P \cdot &(W_1, \dots, W_l) \\
# = \bigl( &P_1 W_1,\; P_2 W_2 P_1^{-1},\; \dots, \\
# &P_{l-1} W_{l-1} P_{l-2}^{-1},\; W_l P_{l-1}^{-1} \bigr),
# \end{aligned}
# $$
#
# which leaves $W_l \cdots W_1$ unchanged, multiplies $d_k$ by $\operatorname{sgn} P_k$. So for $h \ge 2$ any two points of the minimum are connected up to permutation: exchange two neurons in every layer whose
# orientation differs. For $h = 1$ there is no permutation but the identity, and no two components are joined.
# :::
#
# :::{prf:proof}
# $(c_k)$ and $(d_k)$ determine each other. The activations of layer $k$ become $P_k W_k \cdots W_1 X$. For $h \ge 2$ there are permutations of either sign, for $h = 1$ only even ones.
# :::
#
# A path over the wall at layer $k$ changes $d_k$, too, and nothing else: an edge of the hypercube is an exchange of two neurons, or a pass. The action that G, Prop. 5.2 displays belongs to a network written in the opposite order, $W_1 W_2 \cdots W_l$; applied to G, (1) it leaves the minimum ({prf:ref}`prop-printed`). Section 4.1 of the paper and its example have the right one, which must be meant; with it the proposition is true and its proof goes through.
#
# Random pairs of minima, joined by the same walks, before and after exchanges in the layers whose orientations differ:


# %% Exchange neurons, and join by walks
def exchanged(a, b, X):
    """P · a, with an exchange of two neurons in every layer whose d_k differ."""
    d_a, d_b = (components(net, X).cumprod(dim=-1) for net in (a, b))
    exchange = torch.tensor([1, 0, *range(2, len(X))])  # d_a, d_b (…, l − 1)
    perms = torch.where((d_a != d_b)[..., None], exchange, torch.arange(len(X)))
    eye = torch.eye(len(X), dtype=torch.float64)
    P = [eye, *eye[perms].unbind(dim=-3), eye]  # I, P_1, …, P_{l−1}, I
    return [P[k + 1] @ W @ P[k].mT for k, W in enumerate(a)]


after, before = [], []  # whether a walk joins a pair
for layers, h in ((layers, h) for layers, h in NARROW if h > 1):
    here, there = (
        random_minima(layers, h, 8 * pairs, f"joined {name}") for name in "ab"
    )
    swapped, walk = exchanged(here, there, DATA[h][0]), misfit(layers, h)
    after.append(joined(walk, flat(swapped), flat(there)))
    before.append(joined(walk, flat(here), flat(there)))
after, before = torch.cat(after).double(), torch.cat(before).double()

# %%
claims.check(
    "G3.joined", after.mean().item(), rival=before.mean().item(), n=len(after)
)

# %% [markdown]
# ## Training ends in every piece equally often
#
# G, section 5 sets out to explain that “with high probability two points in the minimum are connected, i.e. there is a large connected component”. The sentence reports what others observed on other networks. In the paper's own model no piece is larger than another for a descent:
#
# :::{prf:proposition} The component that a descent reaches
# :label: prop-law
# Let the law of the start not change if, for any hidden layer $k$, $(W_k, W_{k+1})$ is replaced by $(F W_k, W_{k+1} F)$ with $F = \operatorname{diag}(-1, 1, \dots, 1)$; independent normal entries are such a law. Let the
# descent commute with this, as gradient descent, with and without mini-batches, and damped Gauss–Newton steps do. Given that it arrives at the minimum, it ends in each of the $2^{l-1}$ components with the same probability, and two independent descents end
# in one component with the probability $2^{-(l-1)}$. For $h \ge 2$ some permutations bring the second into the component of the first, always.
# :::
#
# :::{prf:proof}
# The replacement keeps the loss and flips $d_k$ and no other orientation. Together these maps lead from any component to any other, and they do not change the law of the end. The last sentence is {prf:ref}`thm-hypercube`.
# :::
#
# Descents from independent normal weights of variance $1/h$, $h = 3$: the share of pairs in one component, by their signs, in this run:


# %% Compare the ends of descents
def ends_of_descents(layers, seed, h=3):
    """Minima reached from normal weights, W_1, …, W_l each (arrived, h, h)."""
    generator = torch_generator(seed, f"normal starts {layers}")
    start = torch.randn(
        layers, runs, h, h, dtype=torch.float64, generator=generator
    )
    W, there = descend(list(start / h**0.5), *DATA[h], steps=300)
    return [V[there][: int(there.sum()) // 2 * 2] for V in W]


def share_together(layers, seed):
    """Share of disjoint pairs of descents in one component, its interval, pairs."""
    c = components(ends_of_descents(layers, seed), DATA[3][0])
    together = (c[::2] == c[1::2]).all(dim=-1)
    return *share(int(together.sum()), len(together)), len(together)


together = {layers: share_together(layers, seed) for layers in range(2, 6)}
W = [V[:200] for V in ends_of_descents(3, seed)]
here, there = ([V[i::2] for V in W] for i in (0, 1))
swapped = exchanged(here, there, DATA[3][0])
up_to_order = joined(misfit(3, 3), flat(swapped), flat(there))

# %% [markdown]
# | layers $l$ | 2 | 3 | 4 | 5 |
# | --- | --- | --- | --- | --- |
# | pairs in one component | {glue:text}`together_2:.3f` | {glue:text}`together_3:.3f` | {glue:text}`together_4:.3f` | {glue:text}`together_5:.3f` |
# | $2^{-(l-1)}$ | 0.5 | 0.25 | 0.125 | 0.0625 |
#
# The paper's sentence, carried over to this model, has two readings:
#
# | Two descents are connected | We find | Pairs in one component (recorded) |
# | --- | --- | --- |
# | up to permutation | [true](#G3.probable) | all [[n(G3.probable)]]; [[100 * G3.probable:to]] % |
# | as they are | [false of these networks: one pair in four](#G3.probable_direct) | [[100 * G3.probable_direct:±]] %, as {prf:ref}`prop-law` says |

# %%
value, low, high = share(int(up_to_order.sum()), len(up_to_order))
claims.check("G3.probable", value, interval=(low, high), n=len(up_to_order))

value, low, high, n = together[3]
claims.check(
    "G3.probable_direct",
    value,
    interval=(low, high),
    n=n,
    second_seed=lambda: share_together(3, seed + 1)[:3],
)
figures.numbers(
    **{f"together_{layers}": found[0] for layers, found in together.items()}
)

# %% [markdown]
# ## One more neuron in a layer takes its wall away
#
# The pieces are a matter of exact width. If a hidden layer has more neurons than the inputs need, its orientation is not defined, and nothing separates the two sides:
#
# :::{prf:theorem} Other widths
# :label: thm-widths
# Let $X, Y \in \mathrm{GL}_n$, and let the hidden layers have $h_k \ge n$ neurons, $b$ of them exactly $n$, the bottlenecks.
#
# 1. The minimum has $2^b$ components, told apart by the signs of $\det (W_k \cdots W_1 X)$ at the bottlenecks.
# 2. Every path between different components holds a point with $L \ge \sigma_{\min}(Y)^2$, and on some path the loss nowhere exceeds it.
# 3. Let the law of the start not change if at any bottleneck $(W_k, W_{k+1})$ is replaced by $(F W_k, W_{k+1} F)$, $F = \operatorname{diag}(-1, 1, \dots, 1)$, and let the descent commute with this. Given that they arrive, two independent descents end in one component with the probability $2^{-b}$.
# :::
#
# :::{prf:proof}
# *1.* The $h_k \times n$ matrices $A_k = W_k \cdots W_1 X$, $k < l$, are injective. They determine $W_1 = A_1 X^{-1}$, and leave to the other $W_k$ the affine conditions $W_k A_{k-1} = A_k$ and $W_l A_{l-1} = Y$. So over the tuples of injective matrices the minimum is a bundle of affine spaces of one dimension, and has as many components as these tuples. The injective
# $h_k \times n$ matrices are connected for $h_k > n$, and have two components for $h_k = n$.
#
# *2.* On the way one of these signs changes, so somewhere $A_k v = 0$ with a unit vector $v$, and $L \ge \|Y v\|^2$. At a bottleneck $C = A_k$ is invertible, and the path of {prf:ref}`thm-obstruction` changes its sign and no other.
#
# *3.* The replacement keeps the loss and changes the sign of its bottleneck and no other, so all components are equally likely.
# :::
#
# Trager, Kohn & Bruna {cite:p}`trager2020` count the networks that compute one matrix, for all widths; the first statement is a case of it. With one hidden neuron more the bound of G, Cor. 3.7 is therefore not attained: the group $\mathrm{GL}_h$ still has two components, the minimum one ({prf:ref}`cor-wider`).
#
# ## Averaging asks for more than a curve
#
# For a *curve* between two linear networks of equal widths the only obstacle is a sign in each hidden layer; exchanging two neurons there, or adding one, removes it. A *straight line*, which averaging of weights needs, is another matter. For $l = 2$ its loss is known exactly:
#
# :::{prf:proposition} Straight lines
# :label: prop-straight
# For $l = 2$ let $W = (W_1, W_2)$ be a minimum. Every minimum is $W' = (g W_1, W_2 g^{-1})$ with one $g \in \mathrm{GL}_h$, and
#
# $$
# \begin{aligned}
# &L\bigl( \lambda W' + (1 - \lambda) W \bigr) \\
# &\quad = \lambda^2 (1 - \lambda)^2 \, \bigl\| W_2 (g - I)^2 g^{-1} W_1 X \bigr\|^2 .
# \end{aligned}
# $$
#
# The {term}`barrier`, the largest loss on the line, is a sixteenth of the last factor, at $\lambda = \frac12$. The line lies in the minimum if and only if $(g - I)^2 = 0$; otherwise its ends alone do.
# :::
#
# :::{prf:proof}
# The product of the middle factors is
#
# $$
# \begin{aligned}
# &[(1 - \lambda) I + \lambda g^{-1}]\, [(1 - \lambda) I + \lambda g] \\
# &\quad = I + \lambda (1 - \lambda) (g + g^{-1} - 2 I) ,
# \end{aligned}
# $$
#
# and $g + g^{-1} - 2I = (g - I)^2 g^{-1}$. The outer factors are invertible.
# :::
#
# A permutation of the second network's neurons replaces $g$ by $P g$. It removes most of the barrier if the second network is a permuted copy of the first with noise, and leaves a barrier of the same order at a random point of the component, since $\mathrm{GL}_h$ is much larger than the group of permutations (figure under *Evidence*).
#
# **Read on.** [](32_skip_connection.ipynb): the same count when a {term}`skip connection` is added. [](33_unbounded_barriers.ipynb): how high the straight line can get. [](36_curvature.ipynb): when a straight line stays close to a curve.

# %% [markdown]
# ## Evidence
#
# ### Paths inside components, and over the wall, in every case
#
# Random {term}`minima <minimum>` are images of random group elements $U e^{\operatorname{diag} \xi}\, V$ with $U, V$ uniform on the orthogonal group and $\xi$ normal, a law that has a density everywhere on $\mathrm{GL}_h$. Paths by {prf:ref}`prop-path` in every component, for every depth and width, and for comparison the straight lines between their ends:

# %% Compute paths and straight lines in every component
lambdas = torch.linspace(0, 1, steps, dtype=torch.float64)
on_path, straight = [], []  # largest loss / ‖Y‖²
for layers, h in CASES:
    X, Y = DATA[h]
    signs = all_components(layers).repeat(pairs, 1)  # (pairs 2^(l−1), l − 1)
    here, there = (
        random_minima(layers, h, len(signs), name, signs) for name in "ab"
    )
    path = path_in_minimum(here, there, X, Y, steps)
    line = straight_line(there, here, lambdas)
    for values, curve in ((on_path, path), (straight, line)):
        values.append(loss(curve, X, Y).amax(dim=-1) / Y.square().sum())
on_path, straight = torch.cat(on_path), torch.cat(straight)

# %%
claims.check(
    "G1.path",
    on_path.max().item(),
    rival=straight.median().item(),
    n=len(on_path),
)

# %% [markdown]
# *The path of {prf:ref}`thm-obstruction`.* Let $Y v = \sigma u$ with $\sigma = \sigma_{\min}(Y)$ and unit vectors, choose a layer $k < l$, and put $C = W_k \cdots W_1 X$, $r = C v$, $s = C^{-\top} v$, so that $s^\top r = 1$. The matrix
# $D(\tau) = I - (1 - \tau)\, r s^\top$ multiplies the one direction $r$ by $\tau$ and leaves a complement of it alone. It has determinant $\tau$ and $D(\tau) D(\varphi) = D(\tau \varphi)$, and
#
# $$
# \begin{aligned}
# W_l \cdots W_{k+1}\, &D(\tau)\, W_k \cdots W_1 X \\
# &= Y - (1 - \tau)\, \sigma\, u v^\top .
# \end{aligned}
# $$
#
# Replace $W_k$ by $D(\tau) W_k$ and $W_{k+1}$ by $W_{k+1} D(\varphi)$. The path has three thirds:
#
# 1. $\tau$ falls from 1 to 0, and the loss $(1 - \tau)^2 \sigma^2$ rises;
# 2. $\varphi$ goes from 1 to $-1$, which the product does not see, because $D(\varphi) D(0) = D(0)$;
# 3. $\tau$ falls to $-1$, and the loss $(1 + \tau)^2 \sigma^2$ falls to 0, because $D(-1) D(\tau) = D(-\tau)$.
#
# This ends in the component where $d_k$ and no other orientation has changed its sign. Such steps lead from any component into any other, and {prf:ref}`prop-path` leads to the point. ∎
#
# In every case and layer ({py:func}`~lmc_helpers.linear_nets.between.path_over_obstruction`), and on straight lines from one component to another
# (`highest_on_line` finds their highest point, which may lie where a factor is singular):

# %% Climb over the wall at every layer
between, over, rivals = [], [], []  # largest loss / σ_min(Y)²
for layers, h in CASES:
    X, Y = DATA[h]
    signs = all_components(layers).repeat(pairs, 1)
    shuffled = torch_generator(seed, f"flips {layers} {h}")
    flips = signs[torch.randperm(len(signs), generator=shuffled)]
    here = random_minima(layers, h, len(signs), "a", signs)
    there = random_minima(layers, h, len(signs), "c", signs * flips)
    differ = (flips < 0).any(dim=-1)
    ends = ([W[differ] for W in net] for net in (there, here))
    between.append(highest_on_line(*ends, X, Y, lambdas) / obstruction(Y))
    for k in range(1, layers):
        path = path_over_obstruction(here, X, Y, k, steps)
        over.append(loss(path, X, Y).amax(dim=-1) / obstruction(Y))
    rivals.append(obstruction(times_inverse(Y, X)) / obstruction(Y))
between, over = torch.cat(between), torch.cat(over)
figures.numbers(
    pairs_inside=len(on_path),
    worst_inside=on_path.max(),
    lines_between=len(between),
)

# %%
claims.check("G1.between", between)

nearest = min(rivals, key=lambda ratio: abs(ratio - 1))
claims.check("G1.obstruction", over, rival=nearest)

# %% [markdown]
# On {glue:text}`pairs_inside` paths inside components the loss is at most {glue:text}`worst_inside:≤.0e` $\|Y\|^2$. On {glue:text}`lines_between` straight lines between different components the highest loss is never below $\sigma_{\min}(Y)^2$.
#
# ### The smallest example, and what a component looks like


# %% Plot the minimum of two scalar weights
plane = torch.linspace(-3, 3, 241, dtype=torch.float64)
figure, arms = figures.panels(height=3.6)
ground = (1 - plane[:, None] * plane).square().clamp(max=4)
arms.contourf(plane, plane, ground, 16, cmap="Greys", alpha=0.7)
for side in (1, -1):
    arm = side * torch.linspace(1 / 3, 3, 99)
    arms.plot(arm, 1 / arm, color="book:blue", linewidth=3)
arms.plot([-1, 1], [-1, 1], "--", color="book:red")
arms.plot(0, 0, "o", color="book:red")
arms.text(1.2, 1.0, "$L = 0$", color="book:blue", va="center")
arms.text(0.2, -0.25, "$L = 1$", color="#a65300", va="center")
arms.set(xlabel="$W_1$", ylabel="$W_2$", aspect=1)
arms.grid(False)
figures.show("fig_hyperbola", figure)

# %% Plot what the first layer does on two curves
inputs, targets = DATA[2]
start, goal = (
    random_minima(2, 2, 1, name, torch.ones(1, 1))
    for name in ("letter a", "letter f")
)
grid = torch.linspace(0, 1, 61, dtype=torch.float64)
walks = {
    "inside the component": path_in_minimum(start, goal, inputs, targets, 61),
    "over the pass": path_over_obstruction(start, inputs, targets, 1, 61),
}
F = [[-3, -3, 3, torch.nan, -3, 1], [-5, 5, 5, torch.nan, 0, 0]]
images = {name: (W[0] @ inputs)[0] for name, W in walks.items()}  # (61, 2, 2)
letter = torch.linalg.inv(images["over the pass"][0]) @ torch.tensor(F).double()
signed = {name: torch.linalg.det(W).tolist() for name, W in images.items()}
heights = {
    name: (loss(W, inputs, targets)[0] / obstruction(targets)).numpy()
    for name, W in walks.items()
}
scene = figures.Moving(
    "curve parameter $t$",
    [f"{x:.2f}" for x in grid.tolist()],
    [
        f"$\\det W_1 X$: {here:.2f} inside, {round(there, 2) + 0.0:.2f} over the pass"
        for here, there in zip(*signed.values(), strict=True)
    ],
    start=12,
)
limit = 1.1 * max(
    (W @ letter).nan_to_num().abs().max().item() for W in images.values()
)
for (name, W), colour in zip(images.items(), ("blue", "red"), strict=True):
    panel = scene.panel(title=name, equal=True)
    panel.xlim = panel.ylim = (-limit, limit)
    panel.draw(*(W[0] @ letter), "-", "grey", "at the start")
    panel.draw(*(W @ letter).transpose(0, 1), "-", colour, name, width=2.6)
right = scene.panel(xlabel="$t$", ylabel=r"loss / $\sigma_{\mathrm{min}}(Y)^2$")
for height, colour in zip(heights.values(), ("blue", "red"), strict=True):
    right.draw(grid, height, "-", colour)
    right.draw(grid[:, None], height[:, None], "o", colour)
scene.show("fig_letters")

# %% [markdown]
# :::{glue:figure} fig_hyperbola
# :alt: The loss over the plane of two scalar weights in grey, with the two branches of a hyperbola as its minimum and a dashed path from one to the other through the origin, where the loss is 1.
#
# Two layers of width 1: the minimum has two components, and every path between them passes a point with $L \ge 1$.
# :::
#
# For width 2 one can see what a component is. Move $t$: inside the component the first layer turns and stretches the letter and never mirrors it, at no loss; over the wall it flattens the letter to a segment, which costs $\sigma_{\min}(Y)^2$, and the letter reappears mirrored.
#
# :::{glue:figure} fig_letters
# :alt: Two panels show the image of a letter F under the first layer. Inside the component it is turned and stretched. Over the wall it is flattened to a segment and then mirrored. The third panel shows the loss of both curves: zero inside, and up to one, in units of the squared least singular value of the targets, over the wall.
#
# Two layers of width 2. First and second panel: the image under $W_1 X$ of a figure that is a letter at the start, along the path of {prf:ref}`prop-path` and along that of {prf:ref}`thm-obstruction`, which leads into the other component. Third panel: their losses.
# :::
#
# ### When an orbit has fewer components than its group
#
# An {term}`orbit` $O(w)$ of a continuous action of $G$ has at most as many components as $G$ (G, Cors 3.6 and 3.7): it is the image of $G$ under $g \mapsto g \cdot w$, and the image of a connected
# set is connected. Here the bound is attained, because the action is free. In general the stabiliser, the set of $g$ with $g \cdot w = w$, lowers it.
#
# :::{prf:proposition} Stabilisers join components
# :label: prop-stabiliser
# If the stabiliser of $w$ meets $k$ of the finitely many components of $G$, the orbit has at most $|\pi_0(G)| / k$ components.
# :::
#
# :::{prf:proof}
# The $k$ components are a subgroup $K$ of the finite group $\pi_0(G)$. If a component $C$ meets the stabiliser in $s$, every other component $B$ has $B \cdot w = B s \cdot w = (B C) \cdot w$, since $B s$ and $BC$ are the same
# component. So components in one coset of $K$ have one image, which is connected, and there are $|\pi_0(G)| / k$ cosets.
# :::
#
# :::{prf:corollary} One hidden neuron more than needed
# :label: cor-wider
# Let $X, Y \in \mathrm{GL}_n$ and let the two-layer network have $h \ge n$ hidden neurons. Its minimum is a single orbit of $\mathrm{GL}_h$. It has two components for $h = n$, and one for $h > n$.
# :::
#
# :::{prf:proof}
# At a minimum $W_2 W_1 = Y X^{-1}$, so $\mathbb R^h = \operatorname{im} W_1 \oplus \ker W_2$. For two minima let $g$ send $W_1$ to $W_1'$ and a basis of $\ker W_2$ to one of $\ker W_2'$; then $W_2' g$ and $W_2$ agree on both
# summands, so $W_1' = g W_1$ and $W_2' = W_2 g^{-1}$. For $h > n$ the basis of $\ker W_2'$ may be changed by a reflection: the stabiliser meets both components of $\mathrm{GL}_h$.
# :::
#
# The proof is a recipe for paths: choose the basis so that $\det g > 0$ and let $g$ go to $I$ in $\mathrm{GL}_h$. With $h = n + 1$:


# %% Join minima with one hidden neuron more
def random_wide_minima(n, count):
    """W_1 (count, n + 1, n), and W_2 (count, n, n + 1), a random one that fits."""
    X, Y = DATA[n]
    generator = torch_generator(seed, f"wide {n}")
    W1 = torch.randn(count, n + 1, n, dtype=torch.float64, generator=generator)
    Z = torch.randn(count, n, n + 1, dtype=torch.float64, generator=generator)
    back = torch.linalg.pinv(W1)
    return W1, times_inverse(Y, X) @ back + Z - Z @ W1 @ back


wide_components, wide_loss = [], []
for n in range(1, 7):
    X, Y = DATA[n]
    W1, W2 = random_wide_minima(n, 40)
    kernel = torch.linalg.svd(W2).Vh[:, -1:].mT  # of W_2, (40, n + 1, 1)
    T = torch.cat([W1, kernel], dim=-1)  # im W_1 ⊕ ker W_2
    T[..., -1] *= determinant_sign(T)[:, None]  # the basis of the kernel is free
    g = times_inverse(T[1:], T[:-1])  # takes each minimum to the next, det g > 0
    identity = torch.eye(n + 1, dtype=torch.float64).expand_as(g)
    g = path_in_group(identity, g, steps)  # (39, steps, n + 1, n + 1)
    path = times_inverse(W2[:-1, None], g) @ (g @ W1[:-1, None])  # W_2 g⁻¹ g W_1
    error = (Y - path @ X).square().sum(dim=(-2, -1)).amax(dim=-1)
    relative = error / Y.square().sum()
    wide_loss.append(relative.max().item())
    wide_components.append(1 + int((~(relative < JOINED)).sum()))

# %%
claims.check("G1.bound", wide_components, n=40 * len(wide_components))

# %% [markdown]
# The largest loss on these paths is {glue:text}`max(wide_loss):.0e` $\|Y\|^2$.
#
# ### Layers that are wider than the inputs
#
# :::{prf:corollary} Inputs and targets of lower rank
# :label: cor-rank
# Let $X$ ($n \times N$) and $Y$ ($m \times N$) have the same rank $r \ge 1$ and the same kernel (a loss of 0 needs $\ker X \subseteq \ker Y$), let all hidden layers have $h_k \ge r$ neurons, and let $X = A Z$, the rows of $Z$ an orthonormal basis of the row space of $X$. Then 1, 2 and 3 of {prf:ref}`thm-widths` hold with $r$ for the width $n$ of a bottleneck, $\det (W_k \cdots W_1 A)$ for $\det (W_k \cdots W_1 X)$ and the $r$-th singular value $\sigma_r(Y)$ for $\sigma_{\min}(Y)$.
# :::
#
# :::{prf:proof}
# $Y = B Z$, and $A$ and $B$ are injective. The loss is $\|B - W_l \cdots W_1 A\|^2$ and the singular values of $B$ are those of $Y$, 0 apart. The proof goes through with $A$, $B$ for $X$, $Y$: $W_1$ has the affine condition $W_1 A = A_1$ in place of $A_1 X^{-1}$.
# :::
#
# Walks that see no sign, from minima that descents reach, and the path over the wall, with $\tau$ and $\varphi$ as above:

# %% Ends of descents for mixed widths
MIXED = [
    (2, 2, 3, 2),
    (2, 3, 2, 2, 2),
    (1, 1, 2, 1, 1),
    (2, 4, 3, 2),
    (3, 3, 4, 3),
]


def ends_of_mixed(widths, count, seed):
    """W_1, …, W_l of descents from normal weights of variance 1/fan-in, and X, Y."""
    generator = torch_generator(seed, f"mixed {widths}")
    X, Y = random_invertible((2,), widths[0], generator)
    start = [
        torch.randn(count, o, i, dtype=torch.float64, generator=generator)
        / i**0.5
        for i, o in itertools.pairwise(widths)
    ]
    W, there = descend(start, X, Y, steps=300)
    return [V[there] for V in W], X, Y


# %% Count classes and climb the wall for mixed widths
of_widths, heights, by_inputs, mixed_minima = [], [], [], 0
for widths in MIXED:
    b = widths[1:-1].count(widths[0])
    W, X, Y = ends_of_mixed(widths, 12 * 2**b, seed)
    found = joined_classes(widths_misfit(widths, X, Y), flat(W), at_once=2)
    of_widths.append(len(found.unique()) / 2**b)
    mixed_minima += len(found)
    if b:  # else no wall
        by_inputs.append(obstruction(times_inverse(Y, X)) / obstruction(Y))
    v, C = torch.linalg.svd(Y).Vh[-1], X  # Y v = σ_min u
    for k, V in enumerate(W[:-1]):
        C = V @ C  # A_k
        if widths[k + 1] == widths[0]:
            r, s = C @ v, torch.linalg.inv(C.mT) @ v  # sᵀ r = 1
            rs = (r[:, :, None] * s[:, None])[:, None]  # (B, 1, n, n)
            path = [w[:, None] for w in W]
            path[k] = path[k] - (1 - tau) * rs @ path[k]  # D(τ) W_k
            path[k + 1] = path[k + 1] - (1 - phi) * path[k + 1] @ rs
            product = X
            for w in path:
                product = w @ product
            high = (Y - product).square().sum(dim=(-2, -1)).amax(dim=1)
            heights += (high / obstruction(Y)).tolist()

# %%
claims.check("G1.widths", of_widths, n=mixed_minima)

nearest = min(by_inputs, key=lambda ratio: abs(ratio - 1))
claims.check("G1.wall", heights, rival=nearest)

# %% [markdown]
# And the share of pairs of descents that end in one component, by the signs at the two bottlenecks of a network with 2, 3 and 2 hidden neurons:


# %% Compare the ends of descents for mixed widths
def mixed_together(seed):
    """Share of disjoint pairs in one component, its interval, and their number."""
    W, X, _ = ends_of_mixed((2, 2, 3, 2, 2), runs, seed)
    first = W[0] @ X
    signs = [determinant_sign(A) for A in (first, W[2] @ W[1] @ first)]
    c = torch.stack(signs, dim=1)[: len(first) // 2 * 2]
    same = (c[::2] == c[1::2]).all(dim=1)
    return *share(int(same.sum()), len(same)), len(same)


mixed_share, low, high, n = mixed_together(seed)

# %%
claims.check(
    "G1.law",
    mixed_share,
    interval=(low, high),
    n=n,
    second_seed=lambda: mixed_together(seed + 1)[:3],
)

# %% [markdown]
# The share is {glue:text}`mixed_share:.3f` in this run, near $2^{-2}$; the middle layer does not count.
#
# ### Lemma 5.1: any group element of negative determinant
#
# The statements on permutations need $X$ to be invertible. For $X = Y = \operatorname{diag}(1, 0)$ the minimum of the two-layer network is connected (a first column $w \ne 0$ of $W_1$, an affine space of $W_2$ with $W_2 w = e_1$, a free
# second column), and there is nothing to join. For two minima of one loss $\det X$ cancels, so one may compare the signs of $\det W_1$, as the paper's example does.
#
# :::{prf:lemma} G, Lemma 5.1
# :label: lem-negative
# For $l = 2$ let two minima lie in different components and let $\det g < 0$. Then $g \cdot (W_1, W_2) = (g W_1, W_2 g^{-1})$ lies in the component of the other.
# :::
#
# :::{prf:proof}
# $\det (g W_1 X) = \det g \det (W_1 X)$, and there are two components.
# :::
#
# The paper's example is one: $(I, F)$ and $(F, I)$ with $F = \operatorname{diag}(-1, 1)$ compute $F$ with different signs of $\det W_1$, and the exchange of the two neurons takes the first to a point with $\det W_1 = -1$. Random pairs of minima, those that
# no walk joins, before and after a random $g$:

# %% Move minima by a random group element
brought = {-1: [], 1: []}  # whether a walk leads to the other, by sgn det g
for h in range(1, min(widest, 6) + 1):
    W, other = (random_minima(2, h, 60, f"lemma {name}") for name in "ab")
    walk = misfit(2, h)
    apart = ~joined(walk, flat(W), flat(other))
    W, other = ([V[apart] for V in net] for net in (W, other))
    for sign, after in brought.items():
        generator = torch_generator(seed, f"lemma g {h} {sign}")
        g = random_invertible((len(W[0]),), h, generator, sign)
        moved = [g @ W[0], times_inverse(W[1], g)]  # g · (W_1, W_2)
        after.append(joined(walk, flat(moved), flat(other)))
brought = {sign: torch.cat(after).double() for sign, after in brought.items()}

# %%
claims.check(
    "G3.lemma",
    brought[-1].mean().item(),
    rival=brought[1].mean().item(),
    n=len(brought[-1]),
)

# %% [markdown]
# ### The printed action leaves the minimum
#
# G, Prop. 5.2 says that for $h \ge 2$ and any two minima there are permutations $P_1, \dots, P_{l-1}$ such that
#
# $$
# \begin{aligned}
# \bigl( &W_1 P_1,\; P_1^{-1} W_2 P_2,\; \dots, \\
# &P_{l-2} W_{l-1} P_{l-1},\; P_{l-1} W_l \bigr)
# \end{aligned}
# $$
#
# and $(W_1', \dots, W_l')$ are connected in $L^{-1}(0)$. That permutations connect any two minima is true, with the action of G, section 4.1. The action as displayed belongs to a network $W_1 W_2 \cdots W_l$ (two inverses are
# missing besides): with G, (1) the product of these matrices is not $W_l \cdots W_1$.
#
# :::{prf:proposition} The printed action leaves the minimum
# :label: prop-printed
# Let the permutations not all be the identity. For almost all invertible $W_1, \dots, W_l, X$, and with $Y = W_l \cdots W_1 X$, the printed point has a positive loss, with the missing inverses supplied or
# not. For $h = l = 2$, $X = I$ and $Y = \operatorname{diag}(1, 2)$ no printed point joins the two components.
# :::
#
# :::{prf:proof}
# With the inverses supplied the product is
#
# $$
# P_{l-1}^{-1} W_l\, P_{l-2}^{-1} W_{l-1} P_{l-1} \cdots W_1 P_1 .
# $$
#
# Where it equals $W_l \cdots W_1$ a polynomial vanishes; this happens almost nowhere or everywhere. Say
# everywhere. The two sides are $P_{l-1}^{-1} W_l B$ and $W_l C$, where $B$ and $C$ do not depend on $W_l$. With $W_l = I$, $C = P_{l-1}^{-1} B$, so $P_{l-1}^{-1}$ commutes with every $W_l$, is a multiple of $I$ and, as
# a permutation, equal to $I$. What remains is the same equation for $l - 1$ factors, so all permutations are $I$. Without inverses the argument is the same.
#
# In the example let $(W_1, W_2) = (I, Y)$ and $(W_1', W_2') = (F, Y F)$ with $F = \operatorname{diag}(-1, 1)$, which have different signs. $P_1 = I$ does not change the component. The other permutation exchanges the diagonal entries,
# $P_1^{-1} Y P_1 = P_1 Y P_1 = \operatorname{diag}(2, 1) \ne Y$, and leaves the minimum.
# :::
#
# G, section 4.1 has $g_i W_i g_{i-1}^{-1}$, and so has the example after Lemma 5.1.
#
# The corrected theorem is the case that the end of G, section 5.1 describes: the group has
# several components, so has the orbit, and a permutation leads from one to another. All three are needed: with one neuron more $\mathrm{GL}_h$ still has two components and the orbit one ({prf:ref}`cor-wider`), so that there is nothing for a permutation to do.
#
# The printed action on random minima:


# %% Apply the printed action to random minima
def printed(weights, perms, inverses):
    """W_1 P_1, P_1⁻¹ W_2 P_2, …, with the two missing inverses or without."""
    eye = torch.eye(weights[0].shape[-1], dtype=torch.float64)
    P = [eye, *(eye[p] for p in perms), eye]  # P_0 = I, P_1, …, P_{l−1}, P_l = I
    before = [P_i.mT for P_i in P]
    if not inverses:
        before[-3:-1] = P[-3:-1]  # the last two of P_1, …, P_{l−1}
    return [before[i] @ W @ P[i + 1] for i, W in enumerate(weights)]


generator = torch_generator(seed, "permutations")


def random_permutations(h, number):
    """So many permutations of h neurons, not all the identity."""
    while True:
        perms = [torch.randperm(h, generator=generator) for _ in range(number)]
        if any(not p.equal(torch.arange(h)) for p in perms):
            return perms


printed_loss, corrected_loss = [], []  # loss / ‖Y‖²
for layers, h in ((layers, h) for layers, h in CASES if h > 1):
    X, Y = DATA[h]
    nets = random_minima(layers, h, 12, "action")
    for k in range(12):
        W, perms = [V[k] for V in nets], random_permutations(h, layers - 1)
        points = [printed(W, perms, inverses) for inverses in (True, False)]
        found = [loss(point, X, Y) / Y.square().sum() for point in points]
        printed_loss.append(min(found).item())
        corrected = loss(permute_layers(W, perms), X, Y) / Y.square().sum()
        corrected_loss.append(corrected.item())

# %% [markdown]
# The loss of the printed points is at least {glue:text}`min(printed_loss):≥.0e` $\|Y\|^2$, that of the corrected ones at most {glue:text}`max(corrected_loss):≤.0e` $\|Y\|^2$, over {glue:text}`len(printed_loss)` minima with a random list of permutations each.
#
# With one neuron per layer permutations join nothing; all lists of permutations are tried:

# %% Try all lists of permutations
reached = {1: 0, 2: 0}  # ordered pairs of components that some permutations join
pairs_that_differ = 0
for h, layers in itertools.product(reached, range(2, 6)):
    signs = all_components(layers)
    nets = random_minima(layers, h, len(signs), "reachable", signs)
    seen = [set() for _ in signs]
    orders = [torch.tensor(p) for p in itertools.permutations(range(h))]
    for perms in itertools.product(orders, repeat=layers - 1):
        after = components(permute_layers(nets, list(perms)), DATA[h][0])
        for components_seen, c in zip(seen, after.tolist(), strict=True):
            components_seen.add(tuple(c))
    reached[h] += sum(len(components_seen) - 1 for components_seen in seen)
    pairs_that_differ += len(signs) * (len(signs) - 1) if h == 1 else 0

# %%
claims.check(
    "G3.h1",
    reached[1] / pairs_that_differ,
    rival=reached[2] / pairs_that_differ,
    n=pairs_that_differ,
)

# %% [markdown]
# ### Straight lines: what permutations do for them
#
# A permutation of the second network's neurons replaces $g$ by $P g$, so the best of them looks for a permutation close to $g^{-1}$. If the second network is a permuted copy of the first with noise, there is one. If it is a
# random point of the component, there is none in general, since $\mathrm{GL}_h$ is much larger than the group of permutations. The barriers for width 4, and the least over all 24 permutations:

# %% Draw random points and noisy permuted copies
h = 4
X, Y = DATA[h]
eye = torch.eye(h, dtype=torch.float64)
W1, W2 = random_minima(2, h, lines, "line")
spread = random_invertible((lines,), h, torch_generator(seed, "line g"), 1)
rng = torch_generator(seed, "line noise")
noise = torch.randn(lines, h, h, dtype=torch.float64, generator=rng)
orders = [torch.randperm(h, generator=generator) for _ in range(lines)]
copies = torch.stack([eye[p] for p in orders]) @ torch.linalg.matrix_exp(
    0.1 * noise
)


# %% Compare straight lines with the formula
def last_factor(g, power=2):
    """‖W_2 (g − I)² g⁻¹ W_1 X‖², (…)."""
    bend = times_inverse(torch.linalg.matrix_power(g - eye, power), g)
    return (W2 @ bend @ W1 @ X).square().sum(dim=(-2, -1))


barriers, differences, wrong_power = {}, [], []
for name, g in (
    ("random points", spread),
    ("permuted copies with noise", copies),
):
    line = straight_line([g @ W1, times_inverse(W2, g)], [W1, W2], lambdas)
    direct = loss(line, X, Y)  # (lines, steps)
    for found, power in ((differences, 2), (wrong_power, 1)):
        formula = (lambdas * (1 - lambdas)) ** 2 * last_factor(g, power)[:, None]
        error = (direct - formula).abs().amax(dim=-1)
        found.append(error / direct.amax(dim=-1))
    permuted = [
        last_factor(eye[list(p)] @ g) for p in itertools.permutations(range(h))
    ]
    best = torch.stack(permuted).amin(dim=0)  # over all permutations P of P g
    barriers[name] = [f / 16 / obstruction(Y) for f in (last_factor(g), best)]

# %%
claims.check(
    "G1.straight",
    torch.cat(differences).max().item(),
    rival=torch.cat(wrong_power).median().item(),
    n=2 * lines,
)

# %% Plot the barriers before and after the best permutation
figure, axis = figures.panels(height=4.2)
for (name, (before, after)), colour in zip(
    barriers.items(), ("orange", "black"), strict=True
):
    points = before, after.clamp(min=1e-6)
    axis.loglog(*points, ".", color=f"book:{colour}", label=name, markersize=4)
ends = axis.get_xlim()
axis.plot(ends, ends, color="book:grey", linewidth=0.8)
axis.set_xlabel(r"barrier on the straight line / $\sigma_{\min}(Y)^2$")
axis.set_ylabel("the same, best permutation")
axis.legend()
figures.show("fig_best_permutation", figure)
random_gain, copies_gain = (
    (after / before).median().item() for before, after in barriers.values()
)

# %% [markdown]
# :::{glue:figure} fig_best_permutation
# :alt: Barrier on straight lines before and after the best permutation on logarithmic axes: points of random minima lie little below the diagonal, most of those of permuted copies with noise orders of magnitude below it.
#
# Barrier on the straight line from {glue:text}`lines` minima to a random point of the same component, and to a permuted copy with noise, before and after the best of all permutations; $l = 2$, $h = 4$; line: no change
# (profile {glue:text}`profile`).
# :::
#
# The median of the factor by which the best permutation lowers the barrier is {glue:text}`random_gain:.2f` for random points of one component and {glue:text}`copies_gain:.1e` for noisy permuted copies. What would remove the barrier
# altogether for every pair is $g^{-1}$ itself.
#
# G, section 7 supposes that “a significant part of the linear interpolation is within the minimum with high probability”: here a part of positive length is in the minimum only if all of the line is, which needs
# $(g - I)^2 = 0$ and has probability 0.
#
# ### Bounded barriers without a compact group
#
# G, section 5.2 supposes that the barrier may depend on “the compactness of the symmetry group”. It does so in part:
#
# :::{prf:proposition} When the barrier along a subgroup is bounded
# :label: prop-compact
# For $l = 2$ the barrier on the line from a minimum to $\exp(tM) \cdot W$ is $\| W_2 \sinh^2 (tM/2)\, W_1 X \|^2$. It is bounded in $t$ if and only if all eigenvalues of $M$ lie on the imaginary axis, with Jordan blocks of size 1 for those that are not 0, and of size at most 2 for 0.
# :::
#
# :::{prf:proof}
# In {prf:ref}`prop-straight` $g + g^{-1} - 2I = 4 \sinh^2(tM/2)$ ${} = 2 (\cosh tM - I)$, and the outer factors are invertible, so $\cosh tM$ has to be bounded. On a Jordan block $\mu I + N$ it is $\cosh(t\mu)\, I + t \sinh(t\mu)\, N$ ${} + \frac12 t^2 \cosh(t\mu)\, N^2 + \dots$: not bounded for $\operatorname{Re} \mu \ne 0$, nor for
# $\mu \ne 0$ imaginary and $N \ne 0$; for $\mu = 0$ bounded where $N^2 = 0$.
# :::
#
# All $\exp(tM)$ have a compact closure if and only if the blocks of 0 have size 1, too. So compactness is enough, and not needed: for $M^2 = 0$ the orbit is a straight line in the minimum. The barrier for random $M$ of each of the {glue:text}`len(growth)` real Jordan forms
# of four rows but 0, up to $t = 100$ and from there to 1000:

# %% Follow the barrier along random subgroups
LARGEST = {"zero": 2, "imaginary": 1}  # size of blocks that are allowed
W1, W2 = random_minima(2, 4, 1, "subgroup")  # (1, 4, 4) each
t = torch.linspace(0, 100, 401).double()
t = torch.cat([t, 10 * t[40:]])[:, None, None, None]  # 0 to 100, 100 to 1000
growth = {}  # by Jordan form: how much larger the barrier gets after t = 100
for form in jordan_forms(4):
    rng = torch_generator(seed, f"subgroup {form}")
    M = random_of_form(form, pairs, rng)
    g, back = (torch.linalg.matrix_exp(s * M) for s in (t, -t))
    middle = [(W1 + g @ W1) / 2, (W2 + W2 @ back) / 2]
    height = loss(middle, X, Y) / Y.square().sum()  # (t, pairs)
    early, late = (h.amax(dim=0).clamp(min=1e-6) for h in height.split(401))
    growth[form] = late / early
allowed = {  # whether the proposition calls the barrier bounded
    form: all(size <= LARGEST.get(kind, 0) for kind, size in form)
    for form in growth
}
for form in growth:
    if allowed[form]:
        print(*(f"{kind}, size {size}" for kind, size in form), sep=" · ")

# %%
in_group = {  # whether the subgroup is bounded
    form: allowed[form] and ("zero", 2) not in form for form in growth
}
as_said, as_the_group = (
    [
        (ratio <= 10) == bounded[form]
        for form, ratios in growth.items()
        for ratio in ratios.tolist()
    ]
    for bounded in (allowed, in_group)
)
claims.check(
    "G1.compact",
    sum(as_said) / len(as_said),
    rival=sum(as_the_group) / len(as_said),
    n=len(as_said),
)
ratios = {
    kind: torch.cat([growth[form] for form in growth if allowed[form] == kind])
    for kind in (True, False)
}

# %% [markdown]
# For the {glue:text}`sum(allowed.values())` forms that the proposition allows the barrier grows by a factor of at most {glue:text}`ratios[True].max().item():≤.2f` after $t = 100$, for each of the others by at least {glue:text}`ratios[False].min().item():≥.1f` ({claim}`G1.compact`).
#
# ### Further remarks on the paper
#
# - G, (10) leaves the order of the product $g_1^{-1} \cdots g_{l-1}^{-1}$ open; it matters.
# - G, section 2 reports from Freeman & Bruna {cite:p}`freeman2017` that the minimum of a two-layer linear network is connected. With a hidden layer of equal width it is not, by G, Cor. 4.2; with a wider one it is, by {prf:ref}`cor-wider`.
# - An orbit need not be the whole minimum. Then G, Prop. 3.8 bounds the number of components by the sum over the orbits, which is true, since every component of the minimum holds a component of some orbit, and says something only where the orbits are finitely many. The two examples of G, Prop. A.8 are right: a space may be disconnected with connected orbits, and connected with disconnected ones.
#
# ### Exercises
#
# :::{exercise}
# Let $l = 3$, $h = 2$, $X = Y = I$ and $F = \operatorname{diag}(1, -1)$. Show that $(I, I, I)$ and $(-I, F, -F)$ are minima in different components. Which exchange of neurons takes the first into the component of the second?
# :::
#
# :::{solution}
# $-F \cdot F \cdot (-I) = F^2 = I$, so both are minima. The signs $(c_1, c_2)$ are $(1, 1)$ and $(\det(-I), \det F) = (1, -1)$. The orientations are $(d_1, d_2) = (1, 1)$ and $(1, -1)$: only the second hidden layer differs. Exchange its two
# neurons: $(I, P, P^{-1})$ has the signs $(1, -1)$.
# :::
#
# :::{exercise}
# Let $l = h = 2$, $W_1 = W_2 = X = Y = I$ and let $g$ be the rotation by $\omega$. Find the barrier on the straight line from $(I, I)$ to $(g, g^{-1})$, and the one after the better of the two permutations. For which $\omega$ does a permutation help?
# :::
#
# :::{solution}
# $g + g^{-1} - 2I = 2 (\cos\omega - 1) I$, so by {prf:ref}`prop-straight` the barrier is $\frac1{16} \cdot 2 \cdot 4 (1 - \cos\omega)^2 = \frac12 (1 - \cos\omega)^2$. With the exchange $P$, $Pg$ is a reflection, its own inverse, and $Pg - I$ has the
# eigenvalues $0$ and $-2$: the barrier is $\frac1{16} \|2 (Pg - I)\|^2 = 1$, the height of the pass in {prf:ref}`thm-obstruction`, for $Pg$ lies in the other component. The exchange helps where $\frac12 (1 - \cos\omega)^2 > 1$, that is $\cos\omega < 1 - \sqrt2$. At
# $\omega = \pi$ the line passes through zero weights, with loss $\|Y\|^2 = 2$.
# :::
#
# :::{try}
# More pairs in every component, on finer paths (look at the printed verdicts and at the loss along the paths):
#
#     make chapter NAME=components ARGS="-p pairs 20 -p steps 201"
# :::

# %% Versions and time
print(chapter.end())
