# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Symmetry curves keep the loss, but one exponential is not always enough
#
# *A symmetry moves one minimum to another: which curve of constant loss joins the two?*
#
# One exponential, if the group element $g$ has a real logarithm: **[[100 * (1 - G8.logarithm):±]] %** of random $2 \times 2$ matrices (normal entries, positive determinant) have none (exactly $1/\sqrt2 - 1/2$). For these a stretch and a rotation at once, $\exp(tA) \exp(tB)$, always join the two (proved).
#
# :::{glue:figure} fig_two_curves
# :alt: First panel, the plane of the input weights of two neurons with two curves from one point: a spiral, drawn by one exponential, and a stretch with a half turn, drawn by two. Second panel, the share of random matrices of positive determinant without a real logarithm against their size. It rises from 0 at size 1 over [[100 * (1 - G8.logarithm):±]] per cent at size 2, the recorded measurement, to nine in ten at size 32 and on towards all.
#
# First: curves of constant loss in the plane of two neurons' input weights. Second: how often one exponential is not enough, exact and (size 2) recorded.
# :::
#
# **How sure.** Proved; the share on [[n(G8.logarithm)]] matrices, the map on [[n(G9.bound)]] networks and [[n(G10.printed_sizes)]] curves; recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | “every point on $\gamma$ has the same loss value” (eq. 5) | [true](#G8.constant) | to rounding, on [[n(G8.constant)]] curves |
# | “$\gamma$ is a curve that connects the points $w_1$ and $w_2$” (sec. 6.1, eq. 5) | [only if $\log g$ is real](#G8.logarithm) | fails for [[100 * (1 - G8.logarithm):±]] % ($2 \times 2$) |
# | “$\Vert U\sigma(VX) - U'\sigma(V'X)\Vert \le \Vert U\sigma(VX)\Vert$” (Prop. 6.1) | [true](#G9.bound) | at most [[100 * G9.bound:≤.2f]] % of it |
# | “the loss on the curves … remains relatively low” (Fig. 3b, c) | [true, constant](#G10.printed_sizes) | to rounding (proved) |
# | “The starting point of $\gamma$ is a minimum found by SGD.” (sec. 6.1) | [false: it is another minimum](#G10.identity) | under (6), their approximate symmetry, the identity keeps only [[100 * G10.identity:.0f]] % of the directions of the second layer |
# | “connects more points … than only using known symmetries” (sec. 6.1) | [true](#G10.reach) | map (6) reaches [[G10.reach]] dimensions of minima, known symmetries 32 |
#
# **Open.** Nothing.
#
# **For the authors.** After (5) (submitted version) add *if $\log g$ is real, else $\exp(tA) \exp(tB) \cdot w_1$ with $g = \exp(A) \exp(B)$*; after (6) *$\gamma$ starts at $\mathrm{id} \cdot w$, a minimum with the same outputs*.

# %% [markdown]
# :::{need}
# You need: matrix exponentials, eigenvalues, the pseudo-inverse $A^+$. [](31_components.ipynb) has the group $GL_h$ that acts on two layers. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $w = (W_1, W_2)$ | weights of two layers; in the paper's (6) and (7) $V = W_1$, $U = W_2$ |
# | $X$, $Y$ | inputs and targets; the loss is $L = \Vert W_2 \sigma(W_1 X) - Y\Vert$ |
# | $\sigma$ | the activation; the identity for linear layers |
# | $n$, $h$, $k$ | inputs, hidden neurons, samples of the batch |
# | $g$, $M$ | an element of the group $GL_h$, and a matrix with $\exp M = g$ |
# | $A$, $B$ | a skew and a symmetric matrix with $\exp(A) \exp(B) = g$ |
# | $\gamma$ | the curve from $w$ to $g \cdot w$, $0 \le t \le 1$ |
# | $s$, $s_g$ | hidden activations $\sigma(W_1 X)$ and $\sigma(g W_1 X)$, $h \times k$ |
# | $P_g$ | $s_g^+ s_g$, the orthogonal projection onto the row space of $s_g$ |
# | $R_\omega$, $J$ | rotation of a plane by $\omega$; $R_{\pi/2}$ |
#
# ## A symmetry draws curves of constant loss
#
# Two hidden neurons without activation have their input weights in a plane. An {term}`invertible matrix <GL_h>` $g$ may move them, if $g^{-1}$ corrects the output weights. If $g = \exp M$, the way there can be taken in steps, $\exp(tM)$, each of them a symmetry.
#
# In general let a group act on the weights with $L(g \cdot w) = L(w)$. Zhao, Dehmamy, Walters & Yu (G) {cite:p}`zhao2025` consider, for $M$ in the Lie algebra, G, (4) and (5),
#
# $$
# \begin{aligned}
# \gamma_M(t) &= \exp(tM) \cdot w, \\
# \gamma(t) &= \exp(t \log g) \cdot w ,
# \end{aligned}
# $$
#
# where $\gamma(0) = w$ and $\gamma(1) = g \cdot w$. The loss is constant on them, as $\exp(tM)$ belongs to the group. Two groups: $GL_h$ for linear layers, $g \cdot w = (g W_1, W_2 g^{-1})$, and
# positive factors of the $h$ neurons for a {term}`homogeneous <homogeneous activation>` $\sigma$, such as leaky ReLU. The loss along such curves and their chords, for random $g$ with $\det g > 0$ whose eigenvalues are at least $0.04$ away from angle
# $\pi$: on the negative axis $\log g$ is not real, and close to it rounding spoils it.

# %% Parameters tags=["parameters"]
matrices: int = 20000  # sampled group elements for each size
pairs: int = 200  # weights and group elements for each exact check
networks: int = 100  # sigmoid networks of random sizes
steps: int = 300  # steps of gradient descent of each of them
starts: int = 10  # minima from which curves start, for each batch size
curves: int = 10  # curves from each minimum, for each magnitude
training: int = 1500  # steps of gradient descent to each minimum
slope: float = 0.01  # slope of leaky ReLU on the negative side
small: float = 0.5  # smaller magnitude of log g, its spectral radius
large: float = 1.0  # larger magnitude
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer, Real

chapter.begin(
    globals(),
    matrices=Integer(100, 10_000_000),
    pairs=Integer(10, 100_000),
    networks=Integer(10, 100_000),
    steps=Integer(1, 1_000_000),
    starts=Integer(2, 1000),
    curves=Integer(2, 10_000),
    training=Integer(300, 1_000_000),
    slope=Real(0.001, 0.999),
    small=Real(0.001, 10),
    large=Real(0.001, 10),
)

import math
import operator

import numpy as np
import torch
from matplotlib.ticker import NullFormatter
from torch.linalg import matrix_norm

from lmc_helpers import claims, figures
from lmc_helpers._chapters.symmetry_curves import (
    PseudoInverse,
    has_negative_eigenvalue,
    leaky_minimum,
    leaky_relu,
    least_singular_value,
    probability_without_logarithm,
    projection,
    real_logarithm,
    sigmoid_network,
    two_factor_curve,
)
from lmc_helpers.error_bars import QUANTILE, jackknife, over_clusters, share
from lmc_helpers.orbits.curves import (
    chord,
    curvature,
    curve,
    distance_between_ends,
    flatten,
)
from lmc_helpers.orbits.group_actions import GeneralLinear, Rescaling
from lmc_helpers.seeds import normal_stream, numpy_generator

# %% Draw two curves, and how often one exponential is not enough
figure, (plane, often) = figures.panels(2, height=3.2)
moments = torch.linspace(0, 1, 101, dtype=torch.float64)
start = tuple(torch.tensor(W).double() for W in ([[1.0], [0.4]], [[1.0, 0.5]]))
turning = torch.tensor([[0.3, -2.0], [2.0, 0.3]], dtype=torch.float64)
two_negative = torch.diag(torch.tensor([-1.0, -2.0], dtype=torch.float64))
spiral = curve(GeneralLinear(), turning, start, moments)[0][..., 0]
half_turn = two_factor_curve(start, two_negative, moments)[0][..., 0]
for bent, colour, name, place in (
    (spiral, "purple", "one exponential", (0.3, 1.4)),
    (half_turn, "blue", "two exponentials", (-0.9, -1.15)),
):
    ink = {"purple": "#a3487c", "blue": "#0072b2"}[colour]
    plane.plot(*bent.T, color=f"book:{colour}", linewidth=2.2)
    plane.plot(*bent[-1], "o", color=f"book:{colour}")
    plane.text(*place, name, color=ink, size=13)
plane.plot(*start[0], "o", color="book:black")
plane.text(1.07, 0.33, "start", size=13)
plane.set(xlabel="weight of neuron 1", ylabel="weight of neuron 2", aspect=1)
plane.set(xlim=(-1.9, 1.9), ylim=(-1.4, 1.6))
every = range(1, 41)
exact = [100 * probability_without_logarithm(h) for h in every]
often.plot(every, exact, color="book:black", linewidth=1.6)
record = claims.recorded("G8.logarithm")
missing = 100 * (1 - record["value"])
half = 50 * (record["high"] - record["low"])
style = dict(color="book:red", markersize=6, capsize=0)
often.errorbar([2], [missing], [half], fmt="o", **style)
name = f"{missing:.1f} ± {half:.1f} % at size 2"
often.text(3.2, missing - 4, name, size=13, color="#a65300")
often.plot([32], [exact[31]], "o", color="book:black", markersize=6)
name = f"{exact[31]:.0f} % at size 32"
often.text(32, exact[31] - 5, name, size=13, ha="center", va="top")
often.set(xlabel="size of $g$", ylabel="no real logarithm, in %")
often.set(xlim=(0, 41), ylim=(0, 100))
figures.show("fig_two_curves", figure)

# %% Follow the loss along curves and chords
normal = normal_stream(seed, "constant loss")
X, Y = normal(6, 7), normal(5, 7)
w = normal(pairs, 4, 6), normal(pairs, 5, 4)  # W_1, W_2
t = torch.linspace(0, 1, 21, dtype=torch.float64)
g = normal(12 * pairs, 4, 4)
angles = torch.linalg.eigvals(g).angle().abs().amax(dim=-1)
g = g[(torch.linalg.det(g) > 0) & (angles < torch.pi - 0.04)][:pairs]
cases = {  # action, log g, activation
    "GL": (GeneralLinear(), real_logarithm(g), lambda z: z),
    "rescaling": (Rescaling(), normal(pairs, 4), leaky_relu(slope)),
}


def change(weights, sigma):
    """Largest relative change of the loss along each curve, (pairs,)."""
    loss = matrix_norm(weights[1] @ sigma(weights[0] @ X) - Y)  # (pairs, 21)
    return (loss / loss[:, :1] - 1).abs().amax(dim=1)


on_curve, on_line = [], []
for action, M, sigma in cases.values():
    path = curve(action, M, w, t)  # exp(tM)·w, G, (4)
    on_curve += change(path, sigma).tolist()
    on_line += change(chord(path, t), sigma).tolist()

# %%
claims.check("G8.constant", on_curve, rival=min(on_line))

# %% [markdown]
# ## One exponential misses a fifth of the group elements
#
# The logarithm in G, (5) has to be real.
#
# :::{prf:theorem} Real logarithms
# :label: thm-logarithm
# Let $g$ be a real invertible $h \times h$ matrix.
#
# 1. If all eigenvalues of $g$ are simple, there is a real $M$ with $\exp M = g$ if and only if none of them is negative.
# 2. If $\det g > 0$, there are a skew $A$ and a symmetric $B$ with $g = \exp(A) \exp(B)$. So $\exp(tA) \exp(tB) \cdot w$ joins $w$ and $g \cdot w$ at constant loss.
# 3. Let $h = 2$ and let $g$ have independent $N(0, 1)$ entries. Given $\det g > 0$, there is no real logarithm with the probability $1/\sqrt 2 - 1/2$.
# :::
#
# :::{prf:proof}
# 1\. Let $\lambda < 0$ be an eigenvalue of $g = \exp M$. The eigenvalues $\mu$ of $M$ with $e^\mu = \lambda$ are $\ln |\lambda| + (2j + 1) \pi i$, none of them real. As $M$ is real, $\mu$ and $\bar\mu$ have the same multiplicity, and both
# belong to $\lambda$, whose multiplicity is therefore even. Conversely, $g$ is similar over $\mathbb R$ to a block diagonal matrix with blocks $\lambda > 0$ and $r R_\omega$, $R_\omega$ the rotation by $\omega$, with the real logarithms $\ln \lambda$
# and $\ln r\, I + \omega J$, where $J = R_{\pi/2}$.
#
# 2\. The polar decomposition is $g = QS$ with $S = (g^\top g)^{1/2}$ positive definite, $S = \exp B$, and $Q$ a rotation as $\det Q > 0$. In an orthonormal basis $Q$ consists of rotations of planes and ones, so that $Q = \exp A$ with $A$ skew.
#
# 3\. Write $a + d = \sqrt2\, z_1$, $a - d = \sqrt2\, z_2$, $b + c = \sqrt2\, z_3$, $b - c = \sqrt2\, z_4$ for the entries $a, b, c, d$: the $z_i$ are independent $N(0, 1)$. The eigenvalues are real if $(a - d)^2 + 4bc = 2(z_2^2 + z_3^2 - z_4^2) \ge 0$, that is if
# $|z_4| \le \varrho/\sqrt2$ with $\varrho^2 = z_2^2 + z_3^2 + z_4^2$. By Archimedes $z_4/\varrho$ is uniform on $[-1, 1]$: the probability is $1/\sqrt2$. Real eigenvalues of different signs mean $\det g < 0$, which has the probability $\frac12$. So both are positive or both negative with the
# probability $1/\sqrt2 - \frac12$, half of it for each as $g$ and $-g$ have the same law. Divide by $P(\det g > 0) = \frac12$.
# :::
#
# Why two suffice: every $g$ of positive determinant is a stretch followed by a rotation, and each of these can be taken in steps. So $\operatorname{diag}(-1, -2)$, with determinant 2, lies on no curve G, (5); a stretch and a half turn reach it. Among the $32 \times 32$ matrices, the size of G, Fig. 3b, c, a share of {glue:text}`exact[31] / 100:.2f` has no real logarithm (`probability_without_logarithm`, exact). A sample for point 3 of the theorem:


# %% Sample matrices with a real logarithm
def share_with_logarithm(seed, h=2):
    """Share with a real logarithm among g with det g > 0, its interval, and n."""
    g = normal_stream(seed, f"logarithm, h = {h}")(matrices, h, h)
    g = g[torch.linalg.det(g) > 0]
    found = (~has_negative_eigenvalue(g)).sum().item()
    return *share(found, len(g)), len(g)


value, low, high, n = share_with_logarithm(seed)

# %%
claims.check(
    "G8.logarithm",
    value,
    interval=(low, high),
    n=n,
    second_seed=lambda: share_with_logarithm(seed + 1)[:3],
)

# %% [markdown]
# The ends of the curves $\exp(tA) \exp(tB) \cdot w$ of its point 2, against $g \cdot w$:


# %% Define the relative distance of two networks
def relative_distance(a, b):
    difference = torch.linalg.vector_norm(flatten(a) - flatten(b), dim=-1)
    return difference / torch.linalg.vector_norm(flatten(b), dim=-1)


# %%
GL, normal = GeneralLinear(), normal_stream(seed, "two factors")
drawn, with_two = [], []
for h in range(2, 9):
    g = normal(pairs, h, h)
    g = g[torch.linalg.det(g) > 0]
    w = normal(len(g), h, 6), normal(len(g), 5, h)
    goal = GL.act(g, w)  # (g W_1, W_2 g⁻¹)
    end = two_factor_curve(w, g, torch.ones(1, dtype=torch.float64))
    with_two += relative_distance((end[0][:, 0], end[1][:, 0]), goal).tolist()
    drawn.append((g, w, goal))

# %%
with_one = []  # exp(Re log g)·w, where g has no real logarithm
for g, w, goal in drawn:
    values, vectors = torch.linalg.eig(g)
    principal = vectors @ torch.diag_embed(values.log()) @ vectors.inverse()
    missed = relative_distance(GL.act(GL.exp(principal.real), w), goal)
    with_one.append(missed[has_negative_eigenvalue(g)])
claims.check("G8.two_factors", with_two, rival=torch.cat(with_one).min().item())

# %% [markdown]
# ## The paper's map keeps the outputs of small batches
#
# For a two-layer network with any activation the paper considers, in the letters used here, the map G, (6)
#
# $$
# \begin{aligned}
# g \cdot (W_1, W_2) = \bigl( &g W_1, \\
# &W_2\, \sigma(W_1 X)\, \sigma(g W_1 X)^+ \bigr)
# \end{aligned}
# $$
#
# with the pseudo-inverse. It announces a bound of the change of the loss and proves one of the outputs: they change by at most their own norm (G, Prop. 6.1 with G, (7)).
#
# :::{prf:proposition} What the map G, (6) does to the outputs
# :label: prp-outputs
# The outputs of $g \cdot w$ are $W_2 s P_g$. The rows of $W_2 s$ split orthogonally into those of $W_2 s P_g$ and of $W_2 s (I - P_g)$, and so do their squared norms. So G, (7) holds, with equality only if all outputs of $g \cdot w$ are 0. With targets $Y$ the
# squared loss of $g \cdot w$ is $\|Y (I - P_g)\|^2 + \|(Y - W_2 s) P_g\|^2$, at most the sum of the squared losses of $w$ and of the network with outputs 0. If $\sigma$ is the identity, the outputs do not change, for all $k$, $n$ and $h$.
# :::
#
# :::{prf:proof}
# $W_2 s s_g^+ s_g = W_2 s P_g$, and $P_g$ is an orthogonal projection. (The printed proof has $(I - P_g)^2 = I - P_g$, which is also true of oblique projections, and those can lengthen; the step needs $P_g^\top = P_g$ besides, which the pseudo-inverse gives.)
# The difference of targets and outputs is
#
# $$
# \begin{aligned}
# Y - W_2 s P_g = \;&Y (I - P_g) \\
# &+ (Y - W_2 s) P_g ,
# \end{aligned}
# $$
#
# and the rows of the two parts are orthogonal. If $\sigma$ is the identity, $s_g = g s$ has the row space of $s$, so $s P_g = s$.
# :::
#
# :::{prf:proposition} When nothing changes
# :label: prp-kept
# The outputs do not change if $s_g$ has rank $k$, which needs $k \le h$. $\mathrm{id} \cdot w = (W_1, W_2 s s^+)$ has the outputs of $w$, and is $w$ for every $W_2$ if and only if $s$ has rank $h$, which needs $k \ge h$. For almost every $W_1$:
#
# | Network | $k \le h$: outputs kept | $k \ge h$: $\mathrm{id} \cdot w = w$ for every $W_2$ |
# | --- | --- | --- |
# | sigmoid, no two columns of $X$ equal up to sign, none 0 | yes | yes |
# | leaky ReLU, $\min(k, h) \le n$, $X$ of rank $\min(k, n)$ | yes | yes |
# | leaky ReLU, $\min(k, h) > n$ | not always | not always |
#
# *Not always*: on the open set where all rows of $g W_1 X$ have the same signs, $s_g$ has at most rank $n$. (It is not empty if no column of $X$ is 0: let the rows of $g W_1$ be near each other.)
# :::
#
# G, Fig. 3a has sigmoid networks with $m$ outputs, $h$ neurons, $n$ inputs and $k$ samples, all uniform in 2, …, 100, and normal data, here trained by {glue:text}`steps` steps of full-batch gradient descent where the paper uses SGD; $g$ has normal entries.
# The outputs before and after the map:


# %% Apply the map to sigmoid networks
def surplus(Z, moved):
    """(‖Z_g‖² + ‖Z − Z_g‖² − ‖Z‖²)/‖Z‖² of outputs Z and Z_g = moved."""
    square = matrix_norm(Z) ** 2
    sides = matrix_norm(moved) ** 2 + matrix_norm(Z - moved) ** 2
    return abs(((sides - square) / square).item())


def change_of_loss(net, w, g, Y):
    """|‖W_2' σ(W_1' X) − Y‖² − ‖W_2 σ(W_1 X) − Y‖²|/‖Y‖² for g·w = (W_1', W_2')."""
    one, other = (matrix_norm(net.output(v) - Y) ** 2 for v in (w, net.act(g, w)))
    return (abs(other - one) / matrix_norm(Y) ** 2).item()


rng = numpy_generator(seed, "sizes of Fig. 3a")
normal = normal_stream(seed, "networks of Fig. 3a")
sizes = rng.integers(2, 101, (networks, 4))  # m, h, n, k
before, after, excess, linear_excess, constant = [], [], [], [], []
of_loss, of_linear = [], []  # changes of the loss over ‖Y‖²
for m, h, n, k in sizes:
    net, w, Y = sigmoid_network((m, h, n, k), steps, normal)
    g = normal(h, h)
    of_loss.append(change_of_loss(net, w, g, Y))
    linear = PseudoInverse(lambda z: z, net.X)
    of_linear.append(change_of_loss(linear, w, g, Y))
    Z = net.output(w)  # W_2 s, (m, k)
    Z_g = net.output(net.act(g, w))  # W_2 s P_g, by the map G, (6)
    before.append(matrix_norm(Z).item())
    after.append(matrix_norm(Z - Z_g).item())
    excess.append(surplus(Z, Z_g))
    linear_excess.append(surplus(Z, net.output(GL.act(g, w))))
    P_g = projection(net.hidden(g @ w[0]))  # (k, k)
    constant.append(P_g.sum().item() / k)
before, after, constant = map(np.array, (before, after, constant))
of_loss = np.array(of_loss)
h, k = sizes[:, 1], sizes[:, 3]
ratio, changed = after / before, k > h

# %%
claims.check("G9.bound", ratio)

# %% [markdown]
# About half of the points of a figure like G, Fig. 3a show nothing: with $k \le h$ the change is 0 for sigmoid networks. For the others the largest ratio is {glue:text}`ratio.max():.2f` in this run.
#
# ## On the printed curves the loss is not low but constant
#
# $X$ is $16 \times 8$, $Y$ is $64 \times 8$, $W_1$ is $32 \times 16$ and $W_2$ is $64 \times 32$, as $Y$ requires (the text that was read has $\mathbb R^{32}$ for $W_2$, which may come from its conversion); leaky ReLU. The paper states neither the slope, here {glue:text}`slope`, nor the law of $g$, here $g = \exp M$ with independent normal entries of $M$ of variance
# $r^2/32$, for which $r$ is about the spectral radius; the magnitudes are $r =$ {glue:text}`small` and {glue:text}`large`. {term}`Minima <minimum>` by {glue:text}`training` steps of full-batch gradient descent with momentum, where the paper has SGD. With 8 samples
# their loss is 0, here at most {glue:text}`start_8:≤.0e` of $\|Y\|$. Besides the printed batch, one with 64 samples, more than hidden neurons.


# %% Define random curves of the map
def random_curves(start, magnitude, number, t, normal):
    """Losses over ‖Y‖ on curves, chords and mirrored curves, (number, t); D; least σ."""
    net, w, Y = start
    M = magnitude * normal(number, 32, 32) / math.sqrt(32)
    w = tuple(W.expand(number, -1, -1) for W in w)
    path = curve(net, M, w, t)  # exp(tM)·w by the map G, (6)
    line = chord(path, t)
    mirrored = tuple(2 * b - a for a, b in zip(path, line, strict=True))
    losses = (
        matrix_norm(net.output(v) - Y) / matrix_norm(Y)
        for v in (path, line, mirrored)
    )
    least = least_singular_value(net.hidden(path[0]))  # of σ(exp(tM) W_1 X)
    return *losses, distance_between_ends(flatten(path)), least


# %% Train the networks and draw curves
def minima(k, seed=seed, number=starts, name="minima"):
    """Map, weights and targets of networks trained on k samples."""
    normal = normal_stream(seed, f"{name}, {k} samples")
    return [leaky_minimum(k, slope, training, normal) for _ in range(number)]


def study(k, magnitude, seed=seed, found=None):
    """As random_curves, for all curves of one batch size and magnitude."""
    found = found or minima(k, seed)
    normal = normal_stream(seed, f"curves, {k} samples")
    parts = [random_curves(one, magnitude, curves, t, normal) for one in found]
    return [torch.cat(part) for part in zip(*parts, strict=True)]


at = {k: minima(k) for k in (8, 32, 64)}
magnitudes = (small, large)
runs = {(k, r): study(k, r, found=at[k]) for k in (8, 64) for r in magnitudes}

# %% [markdown]
# With 8 samples: what $\mathrm{id} \cdot w$ keeps of a random $W_2$, $\operatorname{tr}(s s^+)/h$; the change of the loss along each curve, over the highest loss on its chord; and how far the curve is below its chord at every interior point.
# The last two follow from {prf:ref}`prp-kept`: with 8 samples, fewer than the 16 inputs,
# the loss on $\gamma$ is that of the minimum, here 0 up to training. And the dimension of the set of the points $g \cdot w$: the rank of the derivative of $g \mapsto g \cdot w$ at the identity, by central differences.

# %% Measure what the map keeps and reaches
kept = [
    projection(net.hidden(w[0]).T).trace().item() / 32  # s s⁺, (32, 32)
    for net, w, _ in at[8]
]


def along(k):
    """Change of the loss on each curve over the highest loss of its chord."""
    on_curve, on_chord = (
        torch.cat([runs[k, r][i] for r in magnitudes]) for i in (0, 1)
    )
    change = (on_curve - on_curve[:, :1]).abs().amax(dim=1)
    return change / on_chord.amax(dim=1)


def above_chord(on_curve, on_chord, *_):
    """Largest loss of each curve less that of its chord over interior points."""
    return (on_curve - on_chord)[:, 1:-1].amax(dim=1)


surplus_8 = torch.cat([above_chord(*runs[8, r]) for r in magnitudes])


def dimension(net, w, eps=1e-5):
    """Rank of the derivative of g ↦ g·w at g = I."""
    eye = torch.eye(32, dtype=torch.float64)
    E = torch.eye(32**2, dtype=torch.float64).view(-1, 32, 32)  # E_ij
    w = tuple(W.expand(len(E), -1, -1) for W in w)
    ahead, behind = (flatten(net.act(eye + s * E, w)) for s in (eps, -eps))
    J = (ahead - behind) / (2 * eps)  # (1024, 2560)
    return torch.linalg.matrix_rank(J @ J.T, rtol=1e-10, hermitian=True).item()


reached = [dimension(net, w) for net, w, _ in at[8][:2]]

# %%
claims.check("G10.identity", max(kept, key=lambda x: abs(x - 0.25)), n=starts)
claims.check("G10.printed_sizes", along(8), rival=along(64).min().item())
claims.check("G10.reach", reached)

# %% [markdown]
# So $\sigma(g W_1 X)$ has rank 8 at every computed point, and {prf:ref}`prp-kept` applies: the outputs do not change. For the same reason $\gamma$ does not start at the minimum that was found but at
# $\mathrm{id} \cdot w$, at a distance of {glue:text}`np.mean(moved):.2f` of the norm of $w$: the pseudo-inverse projects the rows of $W_2$ onto the space that 8 samples span. Three sentences of the paper name no map, law or symmetry; how they were read:
#
# | The sentence | We find | Measured (recorded) |
# | --- | --- | --- |
# | $\gamma$ starts at the minimum $w$ | [no](#G10.identity): at another with the same outputs | [[100 * G10.identity:.0f]] % of the directions of $W_2$ kept |
# | $\gamma$ “is defined when the map … is continuous” | [it is not](#G10.continuous), where $s_g$ loses rank | the jump grows like 1 over the change of $g$ |
# | more points “than only using known symmetries” | [true](#G10.reach) of rescalings | [[G10.reach]] dimensions, not 32 |
#
# ## What it means for merging networks
#
# A group of symmetries gives curves of constant loss in closed form, at the price of a matrix exponential. They serve networks that differ by a symmetry; networks from different trainings have to be matched with such a $g$ first. The
# pseudo-inverse map reaches more of the minimum, but its curves keep the outputs only on a batch that is no larger than the layer. G, section 7 adds that curves on which train and test accuracy are both constant can come only from an action with a weak
# dependence on data: $GL_h$ on linear layers and rescalings do not use data at all, and the map G, (6) is made from one batch.
#
# **Read on.** [](36_curvature.ipynb): how far the straight line is from such a curve. [](33_unbounded_barriers.ipynb): how high it gets.

# %% [markdown]
# ## Evidence
#
# ### How many group elements lie on one curve
#
# Without the restriction to simple eigenvalues the condition is Culver's {cite:p}`culver1966`: each Jordan block of a negative eigenvalue occurs an even number of times. So $-I_2$ lies on a curve G, (5). In any Lie group, the elements
# that can be joined to the identity are finite products of exponentials; $GL_h$ needs two. For compact connected groups and for the rescalings one suffices.
#
# For other $h$ the probability follows from the generating function of Forrester and Nagao {cite:p}`forrester2007` for the real eigenvalues, a quotient of two Pfaffians
# (`probability_without_logarithm`). It tends to 1: for the 32 hidden neurons of G, Fig. 3b, c it is {glue:text}`exact[31] / 100:.3f`.

# %% Plot the probability of no real logarithm
figure, axis = figures.panels(height=3.8)
sizes, exact_sizes = [2, 3, 4, 5, 6, 8, 10], range(1, 41)
axis.plot(
    exact_sizes,
    [probability_without_logarithm(h) for h in exact_sizes],
    ".-",
    color="book:black",
    linewidth=1,
    label="exact",
)
found = np.array([share_with_logarithm(seed, h)[:3] for h in sizes]).T
shares, low, high = 1 - found[0], 1 - found[2], 1 - found[1]
axis.errorbar(
    sizes,
    shares,
    (shares - low, high - shares),
    fmt="o",
    color="book:red",
    markersize=6,
    markerfacecolor="none",
    label="sampled",
)
axis.set(xlabel="size $h$")
axis.set(ylabel=r"$P(\mathrm{no\ real\ logarithm} \mid \det g > 0)$", ylim=(0, 1))
axis.set(xlim=(0, 41))
axis.legend(loc="lower right")
figures.show("fig_logarithm", figure)

# %% [markdown]
# :::{glue:figure} fig_logarithm
# :alt: Probability that a normal matrix of positive determinant has no real logarithm, against its size. The exact curve rises from 0 at size 1 over a fifth at size 2 towards 1, and the sampled points lie on it.
#
# How many group elements of positive determinant lie on no curve G, (5): normal entries, exact for every $h$ and sampled with {glue:text}`matrices` matrices each, about half of which count; bars: intervals at two-sided $10^{-3}$
# (profile {glue:text}`profile`).
# :::
#
# ### The curvature
#
# :::{prf:proposition} Curvature of a symmetry curve
# :label: prp-curvature
# Let the action be linear with generator $\rho(M) w = \frac{d}{dt} \exp(tM) \cdot w|_{t = 0}$. Then $\gamma' = \rho(M) \gamma$ and $\gamma'' = \rho(M)^2 \gamma$ at every $t$, and
#
# $$
# \kappa = \frac{\sqrt{\|\gamma'\|^2 \|\gamma''\|^2 - \langle \gamma', \gamma'' \rangle^2}}{\|\gamma'\|^3} .
# $$
#
# For $GL_h$
#
# $$
# \begin{aligned}
# \gamma' &= (M W_1, -W_2 M), \\
# \gamma'' &= (M^2 W_1, W_2 M^2) ;
# \end{aligned}
# $$
#
# for factors $\exp(t\mu)$ of the neurons and a $\sigma$ of degree $q$, with $D = \operatorname{diag}(\mu)$,
#
# $$
# \begin{aligned}
# \gamma' &= (D W_1, -q W_2 D), \\
# \gamma'' &= (D^2 W_1, q^2 W_2 D^2) .
# \end{aligned}
# $$
#
# The weights are those at $\gamma(t)$.
# :::
#
# :::{prf:proof}
# $\exp((t + \tau) M) \cdot w = \exp(\tau M) \cdot \gamma(t)$; differentiate in $\tau$, twice, using that $\rho(M)$ is linear. The derivative of $\gamma'/\|\gamma'\|$ is the part of $\gamma''$ normal to $\gamma'$, divided by $\|\gamma'\|$.
# :::
#
# Both closed forms on random weights (the check differentiates the curve twice instead):

# %% Compute the curvature in closed form
normal = normal_stream(seed, "curvature")
w = normal(pairs, 4, 6), normal(pairs, 5, 4)
times = torch.tensor([0.0, 0.4, 1.0], dtype=torch.float64)

M_GL = normal(pairs, 4, 4) / 2
(W_1, W_2), M = curve(GL, M_GL, w, times), M_GL[:, None]  # W_1 (pairs, 3, 4, 6)
velocity = M @ W_1, -W_2 @ M
acceleration = M @ (M @ W_1), W_2 @ M @ M
of_group = curvature(flatten(velocity), flatten(acceleration))  # (pairs, 3)

mu = normal(pairs, 4)
W_1, W_2 = curve(Rescaling(), mu, w, times)
D, D_T = mu[:, None, :, None], mu[:, None, None, :]  # D W_1 and W_2 D, q = 1
velocity = D * W_1, -W_2 * D_T
acceleration = D * (D * W_1), W_2 * D_T * D_T
of_scales = curvature(flatten(velocity), flatten(acceleration))

# %%
by_jvp, constant_speed = [], []  # forward differentiation of exp(tM)·w, twice
for action, M in ((GL, M_GL), (Rescaling(), mu)):
    for time in times:

        def velocity(s, action=action, M=M):
            def place(s):
                return flatten(curve(action, M, w, s[None]))[:, 0]

            return torch.func.jvp(place, (s,), (torch.ones_like(s),))[1]

        first, second = torch.func.jvp(
            velocity, (time,), (torch.ones_like(time),)
        )
        by_jvp.append(curvature(first, second))
        constant_speed.append(second.norm(dim=-1) / first.square().sum(dim=-1))
by_jvp, constant_speed = torch.cat(by_jvp), torch.cat(constant_speed)
closed = torch.cat([of_group.T.flatten(), of_scales.T.flatten()])
claims.check(
    "G8.curvature",
    (closed / by_jvp - 1).abs(),
    rival=(constant_speed / by_jvp - 1).abs().median().item(),
)

# %% [markdown]
# ### Proof: when nothing changes
#
# Rank $k$ means $P_g = I$. $s s^+ s = s$, and the projection $s s^+$ of $\mathbb R^h$ is the identity if and only if $s$ has rank $h$.
#
# *Sigmoid.*
# Along almost every line through 0 the preactivations of a neuron are $a_1 t, \dots, a_k t$ with different $|a_j| > 0$.
# The functions $\sigma(a_j t)$ have their first poles at $t = \pm i \pi / |a_j|$, so they are linearly independent, and so are the $k$ analytic functions $W \mapsto \sigma(W x_j)$ of a row.
# The determinant of $k$ rows is then an analytic function that is not 0, and vanishes on a null set only. If $k \ge h$, take $h$ of the columns.
#
# *Leaky ReLU.* On $c = \min(k, h) \le n$ independent columns of $X$, $Z = g W_1 X$ takes any value in $\mathbb R^{h \times c}$, with a null set of $W_1$ over each null set of $Z$ (a surjective linear map).
# The matrices of rank less than $c$ are a null set, and so is
# its preimage under $\sigma$ entry by entry, which is injective with a locally Lipschitz inverse. Where all rows of $g W_1 X$ have the same signs, $s_g$ is $g W_1 X$ times a diagonal matrix. ∎
#
# ### Where the map is continuous, and what it reaches
#
# :::{prf:proposition} Continuity and reach
# :label: prp-reach
# The map is continuous in $g$ where $s_g$ keeps its rank and, if $s$ has rank $k$, for general $W_2$ not where the rank falls. Where the table of {prf:ref}`prp-kept` says that outputs are kept, and for general $W_1$, the $g$ for which $s_g$ has a rank below $k$
# have at least the codimension $h - k + 1$. If $s_g$ has rank $k$ for almost every $g$ and $W_1$ has rank $n \le h$, the points $g \cdot w$ with the outputs of $w$ make a set of dimension $h n$. Rescalings of the neurons give $h$.
# :::
#
# :::{prf:proof}
# $s_g^+$ is continuous on matrices of one rank, and the least non-zero singular value of $s_g$ tends to 0 where the rank falls.
# With its right singular vector $u$, $\|W_2 s\, s_g^+\| \ge \|W_2 s u\|$ over that value, which is unbounded unless $W_2 s u \to 0$; and $s u \ne 0$ for all $u \ne 0$ if $s$ has rank $k$.
# A rank below $k$
# means that the rows of $s_g$ lie in one hyperplane of $\mathbb R^k$: $k - 1$ parameters for it and, by the independence in the last proof, one equation for each of the $h$ rows.
#
# The first weights $g W_1$ take all values of rank $n$ in $\mathbb R^{h \times n}$, and determine the second ones.
# :::
#
# The paper says that $\gamma$ is defined when the map is continuous and $\mathrm{id} \cdot w = w$ for all $w$, and that the map does not keep the loss in general if $k > h$. The second is true. As to the first:
#
# - The pseudo-inverse is not continuous. Where outputs are kept a curve $\exp(tM) \cdot w$ in general position avoids the breaks if $k < h$, as at the sizes of G, Fig. 3b, c, and may meet them if $k = h$.
# - $\mathrm{id} \cdot w = w$ for all $w$ calls for $k \ge h$, constant loss in general for $k \le h$. With $k < h$ the map is an action on the weights with $W_2 = W_2 s s^+$, and the outputs are constant, where $s_g$ has rank $k$.
#
# The bound G, (7) is the change that $W_2 = 0$ would make. For the loss itself, which the paper announces: $\|W_2 \sigma(W_1 X) - Y\|$ changes by at most as much as the outputs, and its square rises by at most $\|Y\|^2$. So the points of $\gamma$ have bounded
# loss, as G says.
#
# A break of leaky ReLU with slope $\frac14$, $X = W_1 = W_2 = I_2$: for an invertible $g_\varepsilon$ the hidden neurons are $s_g$,
#
# $$
# \begin{aligned}
# g_\varepsilon &= \begin{pmatrix} 1 & -1 \\ -4 & \frac14 + \varepsilon \end{pmatrix} , \\
# s_g &= \begin{pmatrix} 1 & -\frac14 \\ -1 & \frac14 + \varepsilon \end{pmatrix} ,
# \end{aligned}
# $$
#
# and $s_g$ has determinant $\varepsilon$. The change of $W_2$ when a tiny $\varepsilon$ becomes 0:


# %% Measure a break of the map
def second_weights(eps):
    """W_2 of g_ε·w, (2, 2)."""
    eye = torch.eye(2, dtype=torch.float64)
    g = torch.tensor([[1, -1], [-4, 0.25 + eps]], dtype=torch.float64)
    return PseudoInverse(leaky_relu(0.25), eye).act(g, (eye, eye))[1]


jumps = []  # change of W_2 by the change ε of g, over ‖W_2‖ at ε = 0
for eps in (2.0**-10, 2.0**-20, 2.0**-30):
    jump = matrix_norm(second_weights(eps) - second_weights(0.0))
    jumps.append((jump / matrix_norm(second_weights(0.0))).item())

# %%
claims.check("G10.continuous", min(jumps), n=len(jumps))

# %% [markdown]
# ### Outputs and losses under the map
#
# On the sigmoid networks of the argument:

# %%
claims.check("G9.pythagoras", excess, rival=np.median(linear_excess))
of_larger, of_smaller = (
    (of_loss[batch] > 1e-9).mean().item() for batch in (changed, ~changed)
)
claims.check("G9.larger_batch", of_larger, rival=of_smaller, n=changed.sum())
claims.check("G9.linear", of_linear, rival=np.median(of_loss[changed]))
claims.check("G9.zero", ratio[~changed], rival=ratio[changed].min())

# %% [markdown]
# Leaky ReLU with $n = 2$ positive inputs, $k = 5$ samples and $h = 8$ neurons, so that $n < k \le h$; weights and $g$ with normal entries, one of each a network:


# %% Apply the map to leaky ReLU
def leaky_changes(seed):
    """Relative changes of the outputs by the map G, (6), one for each network."""
    normal, found = normal_stream(seed, "leaky ReLU, n < k"), []
    for _ in range(pairs):
        net = PseudoInverse(leaky_relu(slope), normal(2, 5).abs())
        w = normal(8, 2), normal(3, 8)
        Z, Z_g = net.output(w), net.output(net.act(normal(8, 8), w))
        found.append((matrix_norm(Z - Z_g) / matrix_norm(Z)).item())
    return np.array(found)


def share_changed(seed):
    """Share of the networks whose outputs change by more than a thousandth."""
    return share(int((leaky_changes(seed) > 1e-3).sum()), pairs)


of_leaky, (leaky, low, high) = leaky_changes(seed), share_changed(seed)

# %%
claims.check(
    "G9.leaky",
    leaky,
    interval=(low, high),
    n=pairs,
    second_seed=lambda: share_changed(seed + 1),
)

# %% Plot the changes of the outputs
figure, (left, right) = figures.panels(2, height=4)
floor = 0.1
dots = np.maximum(after, floor), before
label = r"$k \leq h$: no change, drawn at the floor"
left.plot(*(x[changed] for x in dots), "o", markersize=4, label="$k > h$")
left.plot(*(x[~changed] for x in dots), "x", color="book:red", label=label)
span = np.array([floor, 2 * before.max()])
left.plot(span, span, color="book:black", linewidth=1, label="$y = x$")
left.set(xscale="log", yscale="log")
left.set(xlabel=r"change $\|W_2\sigma(W_1X) - W_2'\sigma(W_1'X)\|$")
left.set(ylabel=r"$\|W_2\sigma(W_1X)\|$", xlim=(floor / 1.5, span[1]))
left.set(ylim=(before.min() / 2, span[1]))
left.set_yticks([2, 5, 10, 20, 50], ["2", "5", "10", "20", "50"])
left.yaxis.set_minor_formatter(NullFormatter())
right.plot((h / k)[changed], ratio[changed], "o", markersize=4)
x = np.linspace(0, 1, 200)
label = r"$\sqrt{1 - h/k}$, random subspace"
right.plot(x, np.sqrt(1 - x), color="book:black", linewidth=1, label=label)
right.set(xlabel="$h/k$", ylabel="change, relative", xlim=(0, 1), ylim=(0, 1.2))
right.legend(loc="upper right")
figure.legend(
    *left.get_legend_handles_labels(), loc="outside lower left", ncols=3
)
figures.show("fig_bound", figure)
figures.numbers(
    to_random=(ratio[changed] / np.sqrt(1 - (h / k)[changed])).max(),
    constant=np.mean(constant[changed]),
    mean_hk=np.mean((h / k)[changed]),
)

# %% [markdown]
# :::{glue:figure} fig_bound
# :name: fig-bound-6-1
# :alt: First panel, norm of the outputs against their change on logarithmic axes; all points lie above the diagonal, and those with at most as many samples as hidden neurons have no change. Second panel, relative change against h over k; it falls to 0 and stays below the square root of 1 minus h over k.
#
# First panel: G, Fig. 3a, {glue:text}`networks` networks, of which {glue:text}`int((~changed).sum())` have $k \le h$. Second panel: relative change of the others, and its root mean square $\sqrt{1 - h/k}$ for a uniformly random row space of dimension $h$, as the mean of $P_g$ is then $(h/k) I$ (profile {glue:text}`profile`).
# :::
#
# For $k \le h$ the change is 0 for sigmoid networks, for leaky ReLU it is not: in the example with $n < k \le h$ a share of {glue:text}`leaky:.2f` of the random $g$ changes the outputs, by up to
# {glue:text}`of_leaky.max():≤.2f` of their norm. For $k > h$ the largest ratio is {glue:text}`ratio.max():.2f`, at most {glue:text}`to_random:≤.2f` times what a random row space gives. The row space of $\sigma(g W_1 X)$ is not random: it holds
# {glue:text}`constant:.2f` of the squared length of a constant vector on average, where a random one would hold the mean of $h/k$, {glue:text}`mean_hk:.2f`.
#
# ### Curves and chords of G, Fig. 3b, c
#
# Each curve lies below its chord at every interior point:

# %%
mirrored = torch.cat([above_chord(*runs[8, r][2:0:-1]) for r in magnitudes])
claims.check("G10.straight", surplus_8, rival=mirrored.max().item())

# %% [markdown]
# Curves from one minimum are not independent: the errors below are those of means over minima, with Student's quantile.


# %% Define means over minima
def per_start(values):
    """The values of the curves from each minimum, (starts, curves)."""
    return values.reshape(starts, curves).numpy()


def surplus_over_line(found):
    """Largest mean loss on curves less that on chords, and standard error."""
    gap = torch.cat([(c - s)[:, 1:-1] for c, s, *_ in found], dim=1)
    return over_clusters(per_start(gap[:, gap.mean(dim=0).argmax()]))


def barrier_ratio(found):
    """Ratio of the mean highest losses on chords, and its standard error."""
    low, high = (on_chord.amax(dim=1) for _, on_chord, *_ in found)
    return jackknife(operator.truediv, per_start(high), per_start(low))


def distance_ratio(found):
    """Ratio of the mean distances of the ends, and its standard error."""
    low, high = (D for *_, D, _ in found)
    return jackknife(operator.truediv, per_start(high), per_start(low))


# %%
def of_batch(k: int) -> dict:
    """Curves of both magnitudes for batches of k, and those of a second seed."""
    return {
        "of": [runs[k, r] for r in magnitudes],
        "again": lambda: [study(k, r, seed + 1) for r in magnitudes],
        "n": starts * curves,
    }


claims.check("G10.large_batch", surplus_over_line, **of_batch(64))
claims.check("G10.magnitude", barrier_ratio, **of_batch(8))
claims.check("G10.half_again", barrier_ratio, **of_batch(8))
claims.check("G10.distance", distance_ratio, **of_batch(8))

# %% Plot the loss on curves and chords
figure, axes = figures.panels(2, height=4)
for axis, r, letter in zip(axes, magnitudes, "bc", strict=True):
    for k, colour in ((8, "book:red"), (64, "book:blue")):
        for losses, name, style in zip(
            runs[k, r], (r"$\gamma$", "line"), ("-", "--"), strict=False
        ):
            mean, error = zip(
                *(over_clusters(per_start(v)) for v in losses.T), strict=True
            )
            figures.band(
                axis,
                t,
                mean,
                error,
                fmt=style,
                linewidth=1.4,
                color=colour,
                label=f"{name}, {k} samples",
            )
    axis.set(xlabel="$t$", ylabel=r"loss / $\|Y\|$")
    axis.set(title=f"({letter}) magnitude {r:g}", ylim=(-0.03, None))
    axis.autoscale(axis="y")
figures.show("fig_curves", figure, legend=4)

# %% Numbers for the text
moved = [
    relative_distance(net.act(torch.eye(32).double(), w), w).item()
    for net, w, _ in at[8]
]
start_8 = max(runs[8, r][0][:, 0].max().item() for r in magnitudes)
figures.numbers(
    least_rank=min(runs[8, r][4].min().item() for r in magnitudes),
    end_64=runs[64, large][0][:, -1].mean().item(),
    start_64=runs[64, large][0][:, 0].mean().item(),
)

# %% [markdown]
# :::{glue:figure} fig_curves
# :alt: Two panels with the loss on the curve and on the straight line for 8 and 64 samples at two magnitudes; with 8 samples the curve is flat at 0 under a hump of the line, with 64 samples the curve rises and the line has a higher hump.
#
# G, Fig. 3b, c with 8 samples as printed and with 64: mean of {glue:text}`starts * curves` curves from {glue:text}`starts` minima, bars: intervals at two-sided $10^{-3}$ over the minima, since curves from one minimum are not independent (profile {glue:text}`profile`).
# :::
#
# With 8 samples the loss on $\gamma$ is not low but exactly that of the minimum: $\sigma(g W_1 X)$ has rank 8 at every computed point, its least singular value is {glue:text}`least_rank:.2f`, and {prf:ref}`prp-kept` applies.
# The map reaches a set of dimension {glue:text}`max(reached)` of the $2560 - 512 = 2048$ dimensions of the minimum, where the rescalings of the 32 neurons reach 32: a quarter, and the other 1536 are the $W_2 + N$ with $N \sigma(W_1 X) = 0$. The paper does not say how large the
# “significant part” is for which symmetries account. At these sizes no symmetry is needed to connect the minima with $\sigma(W_1 X)$ of rank 8: leaky ReLU, entry by entry, maps the matrices $W_1 X$, which are all of $\mathbb R^{32 \times 8}$, one to one and
# continuously in both directions; $32 \times 8$ matrices of rank 8 are connected, and over each lies an affine space of $W_2$. That all sublevel sets are connected for layers wider than the number of samples is shown by Nguyen
# {cite:p}`nguyen2019,nguyen2021`.
#
# The ends of $\gamma$ are further apart at the larger magnitude, {glue:text}`runs[8, large][3].mean().item():.1f` against {glue:text}`runs[8, small][3].mean().item():.1f`, as the paper says.
#
# Other batch sizes: the share of curves below their chord, and the loss at the two ends.

# %% Curves with other batch sizes
t_few = torch.linspace(0, 1, 11, dtype=torch.float64)
few = max(1, curves // 2)  # curves from each minimum
ends = torch.tensor([0.0, 1.0], dtype=torch.float64)
scan, counts = [0.05, 0.1, 0.2, 0.5], [8, 16, 24, 32, 40, 48, 64, 96, 128]
lower, at_end = {}, []
for k in (8, 64, 256):
    found = at[k] if k in at else minima(k, name="minimum")
    normal = normal_stream(seed, f"scan, {k} samples")
    for r in scan:
        flags = [
            above_chord(*random_curves(one, r, few, t_few, normal)) < 0
            for one in found
        ]
        lower[k, r] = over_clusters(torch.stack(flags).double())
for k in counts:
    found = at[k][0] if k in at else minima(k, number=1, name="minimum")[0]
    normal = normal_stream(seed, f"ends, {k} samples")
    first, second = (
        random_curves(found, r, curves, ends, normal)[0].mean(dim=0)
        for r in magnitudes
    )
    at_end.append((first[0], first[1], second[1]))

# %% Plot the batch sizes
figure, (left, right) = figures.panels(2, height=4)
for k, colour, marker, size in (
    (8, "book:red", "o", 9),
    (64, "book:blue", "s", 6),
    (256, "book:green", "^", 4),
):
    mean, error = np.array([lower[k, r] for r in scan]).T
    ends_of = np.clip([mean - QUANTILE * error, mean + QUANTILE * error], 0, 1)
    style = dict(markersize=size, color=colour, label=f"{k} samples")
    left.errorbar(scan, mean, abs(ends_of - mean), fmt=marker + "-", **style)
left.set(xscale="log", xlabel="magnitude")
left.set(ylabel="share of curves below the line", ylim=(0, 1.05))
left.set_xticks(scan, [f"{r:g}" for r in scan])
left.set_xticks([], minor=True)
left.legend(loc="lower right")
names = r"$\gamma(0)$", *(rf"$\gamma(1)$, magnitude {r:g}" for r in magnitudes)
for values, label, colour in zip(
    zip(*at_end, strict=True), names, ("grey", "sky", "purple"), strict=True
):
    style = dict(color=f"book:{colour}", label=label)
    right.plot(counts, values, "o-", markersize=4, **style)
right.axvline(32, color="book:black", linewidth=1, linestyle=":")
right.set(xlabel="samples $k$", ylabel=r"loss / $\|Y\|$")
right.legend(loc="lower right")
figures.show("fig_batches", figure)

# %% Poles where k is h, and the map applied twice
fine = torch.linspace(0, 1, 101, dtype=torch.float64)
normal, breaks = normal_stream(seed, "curves, 32 samples"), []
for net, w, _ in at[32]:
    M = small * normal(curves, 32, 32) / math.sqrt(32)
    signs = torch.linalg.det(net.hidden(GL.exp(M, fine) @ w[0])).sign()
    breaks.append((signs != signs[:, :1]).any(dim=1))
composed = {}  # relative distance of g_2·(g_1·w) and (g_2 g_1)·w
for k in (8, 64):
    net, w, _ = at[k][0]
    normal = normal_stream(seed, f"composition, {k} samples")
    g_1, g_2 = (GL.exp(small * normal(32, 32) / math.sqrt(32)) for _ in range(2))
    twice = net.act(g_2, net.act(g_1, w))
    composed[k] = relative_distance(twice, net.act(g_2 @ g_1, w)).item()

# %% [markdown]
# :::{glue:figure} fig_batches
# :alt: First panel, the share of curves that lie below the line everywhere, for three numbers of samples against the magnitude. Second panel, the loss at the ends is 0 up to 32 samples; beyond, it rises, more at the far end.
#
# First panel: share of curves that lie below the chord at every interior point, {glue:text}`starts * few` curves from {glue:text}`starts` minima each; bars as above, none where all curves do. Second panel: mean loss at the two ends of
# {glue:text}`curves` curves from one minimum for each number of samples; dotted: as many as hidden neurons (profile {glue:text}`profile`).
# :::
#
# With 64 samples, at the larger magnitude, the loss rises from {glue:text}`start_64:.2f` to {glue:text}`end_64:.2f` of the loss of the zero network, and at these magnitudes the mean over curves is below the chord.
# For single curves nothing is proved where $k > h$: with 256 samples the smallest share, over the magnitudes, of
# curves that are below it everywhere is {glue:text}`min(lower[256, r][0] for r in scan):.2f` of {glue:text}`starts * few`. Applied twice, the map G, (6) is that of the product if and only if $W_2 s (I - P_{g_1})\, s_{g_2 g_1}^+ = 0$, so wherever $s_{g_1}$ has rank $k$; it differs by {glue:text}`composed[64]:.2f` of the weights with 64 samples and by {glue:text}`composed[8]:.0e` with 8.
#
# At $k = h$, where the map could both keep the outputs and fix $w$, the pseudo-inverse has poles: $\det \sigma(\exp(tM) W_1 X)$ changes its sign on a share of {glue:text}`torch.cat(breaks).double().mean().item():.2f` of the curves with 32 samples and the
# smaller magnitude, and there $\gamma$ runs to infinity.
#
# ### Exercises
#
# :::{exercise}
# Find a real logarithm of $-I_2$. Show that $\operatorname{diag}(-1, -2)$ has none, and write it as a product of two exponentials.
# :::
#
# :::{solution}
# With $J = \begin{pmatrix} 0 & -1 \\ 1 & 0 \end{pmatrix}$, $\exp(\pi J) = -I_2$. The eigenvalues $-1$ and $-2$ are simple and negative, so {prf:ref}`thm-logarithm` excludes a real logarithm. With
# $B = \operatorname{diag}(0, \ln 2)$, $\exp(\pi J) \exp(B) = -\operatorname{diag}(1, 2)$: a stretch, then a half turn.
# :::
#
# :::{exercise}
# Let $h = 1$ and $w = (x, y)$ with $xy = 1$. Compute the curvature of $(e^t x, e^{-t} y)$ at $t = 0$ by {prf:ref}`prp-curvature`. Where on the hyperbola is it largest?
# :::
#
# :::{solution}
# $\gamma' = (x, -y)$, $\gamma'' = (x, y)$. With $s = x^2 + y^2$ both have the squared norm $s$, and $s^2 - (x^2 - y^2)^2 = 4 x^2 y^2 = 4$, so $\kappa = 2 s^{-3/2}$. As $s \ge 2xy = 2$, it is largest at $(1, 1)$, where $\kappa = 1/\sqrt2$, and tends to 0 along the arms.
# :::
#
# :::{exercise}
# Let $k = 1$ and $s = \sigma(W_1 X) \ne 0$. What are $\mathrm{id} \cdot w$ and its outputs? Which $W_2$ stay?
# :::
#
# :::{solution}
# $s^+ = s^\top / \|s\|^2$, so $\mathrm{id} \cdot w = (W_1, W_2 s s^\top / \|s\|^2)$. Its output is $W_2 s$, as before. The rows of $W_2$ are projected onto the line of $s$; those that are multiples of $s^\top$ stay.
# :::
#
# :::{try}
# More curves, another slope (look at the loss on curves and chords):
#
#     make chapter NAME=symmetry_curves ARGS="-p curves 50 -p slope 0.2"
# :::

# %% Versions and time
print(chapter.end())
