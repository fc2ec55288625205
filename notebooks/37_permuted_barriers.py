# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # After the best permutation, barriers still grow without bound
#
# *Does the best order of the neurons remove the barriers that scaling makes?*
#
# No (proved). Scale one ReLU neuron up by $m$, its outgoing weights down: after the best permutation the loss halfway grows like **$m^2$**. Even random balanced two-layer linear networks of one orthogonal map are, in the best order, joined without a barrier only at widths exponential in the dimension (proved).
#
# :::{glue:figure} fig_least
# :alt: Loss halfway, relative to the squared size of the targets, against the scale of one neuron from 1 to 100000, both axes logarithmic. Two curves that end as parallel straight lines: the higher one for the order that the copy has, the lower one for the best of 24 orders, marked with the recorded power [[G5.without:.3f]] and on the dotted line of the theorem.
#
# Loss halfway between a network with four hidden neurons and its copy with one neuron scaled by $m$: in its own order, and in the best. Dotted: the theorem. Both axes are logarithmic.
# :::
#
# **How sure.** Proved for every degree $k$ of the activation (ReLU: 1); all orders of up to 8 neurons, up to [[n(G5.without)]] networks, recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "unbounded even with neuron permutations" (sec. 5.2) | [true, like $m^{2k}$](#G5.unbounded) | power [[G5.unbounded:.4f]] · $k$, [[n(G5.unbounded)]] networks |
# | Prop. 5.4, under an additional assumption | [true without it](#G5.without) | power [[G5.without:.4f]] · $k$, one neuron scaled |
# | “lowering the loss barrier by including permutations of other neurons” (sec. 5.2) | [true, power still $2k$](#G5.lowered) | in the best of [[n(G5.lowered)]] networks to [[G5.lowered:.2g]] of it, at every large $m$ alike |
# | Straight lines between balanced linear networks, which sec. 5.1 joins by curves, need great width even in the best order (ours) | [true](#G5.exponential) | [[1 / G5.exponential:≥.1f]] times the bound of {prf:ref}`thm-exponential` or more is left |
# | factor $\frac14$ for every degree (eq. 19) | [for $k = 1$ only](#G5.factor) | $2^{-(k+1)}$: [[G5.factor:.3f]] for $k = 2$ |
#
# **Open.** Nothing.
#
# **For the authors.** Prop. 5.4 holds without its additional assumption if $\sigma$ acts on entries. Its displayed loss needs the primes of eq. (18); eq. (19) has the factor $2^{-(k+1)}$.

# %% [markdown]
# :::{need}
# You need: matrices, norms, and from [](33_unbounded_barriers.ipynb) the rescaling $m \cdot W$ and the {term}`barrier`. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $W$, $W'$; $l$ | two networks that compute the same function, $W = (W_1, \dots, W_l)$; number of layers |
# | $X$, $Y$, $L$ | inputs, targets, loss $\lVert Y - W_l\, \sigma(H) \rVert^2$ |
# | $F$, $H$ | features $f(W_{l-2}, \dots, W_1, X)$, and $H = W_{l-1} F$ with the rows $h_i$ |
# | $\sigma$, $k$ | activation, and its degree: $\sigma(cz) = c^k \sigma(z)$ for $c > 0$ |
# | $m$ | scale of a neuron, or of all neurons of the layer |
# | $w_i$, $\zeta_i$ | outgoing weights and activations of neuron $i$, $\zeta_i = \sigma(h_i)$ |
# | $P$, $L_P$; $B_P$ | permutation of the neurons of $W'$; loss halfway between $W$ and $P \cdot W'$; barrier between them |
# | $h$; $Q$, $Q'$ | number of hidden neurons; frames of two balanced minima, $h \times r$ with orthonormal columns |
# | $r$, $\Sigma$, $s$ | rank of $Y$, its singular values that are not 0, and $\lVert Y \rVert^4 / \lVert Y^\top Y \rVert^2 \le r$ |
# | $b$ | any bound on the loss |

# %% Parameters tags=["parameters"]
networks: int = 10  # random networks for each degree and width
width_max: int = 6  # widest layer for all permutations
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(globals(), networks=Integer(10, 10_000), width_max=Integer(4, 8))

import math

import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.permuted_barriers import (
    fill_outputs,
    idle_net,
    permuted_losses,
)
from lmc_helpers.matching import all_permutations, weight_matching
from lmc_helpers.orbits.homogeneous import (
    HomogeneousNet,
    activation,
    random_net,
    rescale,
)
from lmc_helpers.seeds import normal_stream

# %% [markdown]
# ## The best order undoes another order, but not another scale
#
# A high barrier between two networks may only mean that their neurons stand in different orders. A network with four neurons, and two others that compute the same function: one has its neurons in another order, the other one neuron rescaled besides.

# %% Plot the idea
idea, shown = figures.panels(2, height=3.8, sharey=True)
share = torch.linspace(0, 1, 61, dtype=torch.float64)
base = random_net(seed, "figure", 1, 1, h=4)
shuffled = torch.tensor([2, 0, 3, 1])
for side, scale, title in zip(
    shown,
    (1.0, 5.0),
    ("another order", "... and one neuron rescaled"),
    strict=True,
):
    scales_of = torch.ones(4, dtype=torch.float64)
    scales_of[base.sigma(base.hidden).norm(dim=1).argmax()] = scale
    last = base.last / scales_of  # m^(−k) w_i with k = 1
    before = scales_of[:, None] * base.before  # m times the incoming rows
    lines = {
        tuple(p): base.line(share, (last[:, p], before[p]), base.layers)
        for p in all_permutations(4).tolist()
    }
    least_line = min(lines.values(), key=max)
    for name, values, colour in (
        ("as it is", lines[tuple(shuffled.tolist())], "book:purple"),
        ("best order", least_line, "book:green"),
    ):
        side.plot(share, values / base.Y.square().sum(), color=colour, label=name)
    side.set(xlabel="place on the line", title=title)
shown[0].set_ylabel(r"loss$\,/\,\|Y\|^2$")
figures.show("fig_best_order", idea, legend=3)

# %% [markdown]
# :::{glue:figure} fig_best_order
# :alt: Loss along straight lines. First, between a network and its permuted copy there is a barrier, which the best order removes. Second, if one neuron is rescaled as well, a barrier remains after the best order.
#
# Loss on the line from a network to a copy of it, with the copy's neurons as they are and in the best of all orders. First panel: the copy is permuted. Second: it is permuted and its strongest neuron is scaled up by 5.
# :::
#
# ## One neuron scaled up is enough, and no order hides it
#
# Zhao, Dehmamy, Walters & Yu (G) {cite:p}`zhao2025`, read in the version submitted for review, compare a minimum $W$ with
#
# $$
# P \cdot W' = (W_l' P,\; P^{-1} W_{l-1}',\; \dots, W_1) :
# $$
#
# $W'$ differs from $W$ in the last two layers, and $P$ permutes the neurons between them. G, Prop. 5.4 assumes in addition that $W_l P\, \sigma(H) \ne 0$ for all $P$. The following theorem does not.
#
# :::{prf:theorem} The barrier after the best permutation
# :label: thm-permuted-barrier
# Let $\sigma$ act on entries with $\sigma(cz) = c^k \sigma(z)$ for $c > 0$ and some $k > 0$, $Y \ne 0$ and $L^{-1}(0) \ne \emptyset$. For every $b$ there are $W, W'$ in one component of $L^{-1}(0)$ that differ in the last two layers only, with
#
# $$
# \begin{aligned}
# &\min_P L_P > b , \\
# &L_P = L\bigl(\tfrac12 W + \tfrac12 P \cdot W'\bigr) .
# \end{aligned}
# $$
#
# More precisely, let $L(W) = 0$, let no column $w_i$ of $W_l$ be 0, and let neuron $j$ have activations $\zeta_j = \sigma(h_j) \ne 0$, with $h_j$ row $j$ of $H$. If $W'$ is $W$ with neuron $j$ alone rescaled, $w_j' = m^{-k} w_j$ and
# $h_j' = m\, h_j$, then
#
# $$
# \begin{aligned}
# &m^{-2k} \min_P L_P \\
# &\quad \to 4^{-(k+1)}\, \min_i \lVert w_i \rVert^2\, \lVert \zeta_j \rVert^2 > 0
# \end{aligned}
# $$
#
# as $m \to \infty$.
# :::
#
# :::{prf:proof}
# *Such a $W$ exists.* At any minimum $Y = \sum_i w_i \zeta_i^\top \ne 0$, so $w_j \ne 0$ and $\zeta_j \ne 0$ for some $j$. A neuron with $w_i = 0$ contributes nothing, and may be given the incoming row of $j$. Now these neurons and $j$
# have the same activations, and only the sum of their columns matters, which is $w_j$: give each of the $q$ of them $w_j/q$. Now no column is 0, the output is the same, and only the last two layers have changed.
#
# *The limit.* Let $P$ put $W'$'s neuron $j$ on neuron $i$ of $W$ and $p(r)$ on each other $r$. The output in the middle is
#
# $$
# \begin{aligned}
# 2^{-(k+1)} \Bigl[ &(w_i + m^{-k} w_j)\, \sigma(h_i + m h_j)^\top \\
# + \sum_{r \ne i} \, &(w_r + w_{p(r)})\, \sigma(h_r + h_{p(r)})^\top \Bigr] .
# \end{aligned}
# $$
#
# The sum does not depend on $m$. By homogeneity and continuity of $\sigma$
#
# $$
# \begin{aligned}
# \sigma(h_i + m h_j) &= m^k \sigma(h_j + h_i/m) \\
# &= m^k (\zeta_j + o(1)) .
# \end{aligned}
# $$
#
# So the output is $2^{-(k+1)} m^k (w_i \zeta_j^\top + o(1))$, and $L_P$ divided by $m^{2k}$ tends to $4^{-(k+1)} \lVert w_i \rVert^2 \lVert \zeta_j \rVert^2$. There are finitely many $P$, and each $i$ occurs. $W$ and $W'$ are joined in
# $L^{-1}(0)$ by the factors $m^t$, $0 \le t \le 1$.
# :::
#
# One neuron that is scaled up is enough, and only a neuron without outgoing weights can hide it. Zero-loss points without the assumption of G, Prop. 5.4: one to three working neurons, and at least as many with neither incoming nor outgoing weights. At these the paper's construction, one scale for all neurons, has a bounded barrier; after the idle neurons have been filled (`fill_outputs`), rescaling one neuron has not. The least loss over all $h!$ permutations of $h$ neurons, at $m = 10^{11}$ and $10^{12}$:


# %% Least loss over permutations, and its leading term
def least(net, m):
    """min over P of L(½ W + ½ P · W'); W' is W rescaled by m, a number or (h,)."""
    W = net.last, net.hidden  # W_l (o, h) and H (h, N)
    other = rescale(*W, m, net.k)  # m^(−k) w_i and m h_i
    return permuted_losses(W, other, net.Y, net.sigma).min().item()


def strongest(net):
    """The neuron j with the largest ‖ζ_j‖."""
    return net.sigma(net.hidden).norm(dim=1).argmax()


def one_neuron(net, m):
    """Scales (h,) of the neurons: m for the strongest, 1 for the others."""
    scales = torch.ones(net.last.shape[1], dtype=torch.float64)
    scales[strongest(net)] = m
    return scales


def leading_term(net, m, of_columns=torch.min):
    """m^(2k) 4^(−(k+1)) min_i ‖w_i‖² ‖ζ_j‖²."""
    zeta = net.sigma(net.hidden)[strongest(net)].square().sum()  # ‖ζ_j‖²
    columns = net.last.square().sum(dim=0)  # ‖w_i‖² (h,)
    return (m / 2) ** (2 * net.k) / 4 * zeta * of_columns(columns)


# %% Degrees, and the power of the growth
DEGREES = (0.5, 1, 2, 3)  # k


def growth(losses, k):
    """Slope of ln L in ln m from 10¹¹ to 10¹², divided by k."""
    return math.log(losses[1] / losses[0]) / math.log(10) / k


# %%
idle = [
    idle_net(seed, k, working, h, n)
    for k in DEGREES
    for working in (1, 2, 3)
    for h in range(2 * working, width_max + 1)
    for n in range(networks // 2)
]
filled = [fill_outputs(net) for net in idle]  # no column of W_l is 0
of_one = [
    [least(net, one_neuron(net, m)) for m in (1e11, 1e12)] for net in filled
]
without = [growth(pair, net.k) for pair, net in zip(of_one, filled, strict=True)]
to_leading = [
    (pair[1] / leading_term(net, 1e12)).item()
    for pair, net in zip(of_one, filled, strict=True)
]

# %%
one_scale = [growth((least(net, 1e11), least(net, 1e12)), net.k) for net in idle]
claims.check("G5.without", without, rival=round(max(one_scale), 6))

# %% Plot the growth with the scale
span = torch.logspace(0, 5, 61, dtype=torch.float64)[1:]  # m
size = base.Y.square().sum()
own, best = [], []
for m in span.tolist():
    W = base.last, base.hidden
    other = rescale(*W, one_neuron(base, m), base.k)
    found = permuted_losses(W, other, base.Y, base.sigma) / size  # (24,)
    own.append(found[0].item())  # the first permutation is the identity
    best.append(found.min().item())
power = claims.recorded("G5.without")["value"]
figure, axis = figures.panels(height=2.8)
axis.plot(span, own, color="book:red")
axis.plot(span, best, color="book:blue")
axis.plot(span[20:], leading_term(base, span[20:]) / size, "k:")
axis.text(span[-1], own[-1], "  own order", color="book:red", va="bottom")
words = f"  best order:\n  like $m^{{{power:.3f}}}$"
axis.text(span[-1], best[-1], words, color="book:blue", va="top")
axis.set(xscale="log", yscale="log", xlim=(1, 1e5), ylim=(1e-4, None))
axis.set(xlabel="scale $m$ of one neuron", ylabel=r"loss halfway$\,/\,\|Y\|^2$")
figures.show("fig_least", figure)

# %% [markdown]
# ## Permutations of the other layers lower the barrier, but in general not its growth
#
# The permutation of G, Prop. 5.4 moves the neurons of one layer, "which does not rule out the possibility of lowering the loss barrier by including permutations of other neurons".
#
# :::{prf:theorem} The barrier after the best permutation of all hidden layers
# :label: thm-all-layers
# Let the network be $W_l\, \sigma(W_{l-1} \cdots \sigma(W_1 X))$, $l \ge 3$, $\sigma$, $W$ and $W'$ as in the second part of {prf:ref}`thm-permuted-barrier`, $\omega_j$ the incoming weights of neuron $j$ in $W_{l-1}$, and let $P = (P_1, \dots, P_{l-1})$ permute all hidden layers of $W'$, here by
#
# $$
# P \cdot W' = (W_l' P_{l-1}^{-1},\; P_{l-1} W_{l-1}' P_{l-2}^{-1},\; \dots,\; P_1 W_1') ,
# $$
#
# with $P_{l-1}$ for the $P^{-1}$ of before. Let $\bar F_P$ be the features that
# layers 1 to $l - 2$ of $\frac12 W + \frac12 P \cdot W'$ make of $X$. As $m \to \infty$
#
# $$
# \begin{aligned}
# m^{-2k} \min_P L_P \to\; &4^{-(k+1)}\, \min_i \lVert w_i \rVert^2 \\
# &\cdot \min_P \lVert \sigma(\omega_j P_{l-2}^{-1} \bar F_P) \rVert^2 .
# \end{aligned}
# $$
# :::
#
# :::{prf:proof}
# $\bar F_P$ depends on $P_1, \dots, P_{l-2}$ and not on $m$. Let $P_{l-1}$ put neuron $j$ on neuron $i$. With $h = \omega_j P_{l-2}^{-1} \bar F_P$ its inputs in the middle are $\frac12 (\omega_i + m\, \omega_j P_{l-2}^{-1}) \bar F_P = \frac m2 (h + O(\frac1m))$ and its outgoing weights
# $\frac12 (w_i + m^{-k} w_j)$, while the other neurons do not depend on $m$. As in the last proof the output is $2^{-(k+1)} m^k (w_i\, \sigma(h)^\top + o(1))$. There are finitely many $P$, and each $i$ occurs with all $P_1, \dots, P_{l-2}$.
# :::
#
# With $P_1, \dots, P_{l-2} = I$ the last factor is the $\lVert \zeta_j \rVert^2$ of before. So other layers can lower the constant and leave the power of $m$, unless some $P$ makes $\sigma(h) = 0$. For leaky ReLU this means $h = 0$, true on a null set of $\omega_j$ only, if
# $\bar F_P \ne 0$. For ReLU it can be so on an open set: for $W_1 X = (1, 0)^\top$, $W_2 = (2, -3)$, $W_3 = 1$ the exchange in the first layer has $h = -\frac12$ and the loss $\lVert Y \rVert^2$ for every $m$.
#
# Random networks of three layers with 4 neurons in both hidden layers and 5 samples, no ReLU, and all $24^2$ permutations:

# %% Least losses over the permutations of two layers
P4 = all_permutations(4)


def over_layers(W, V, X, Y, sigma):
    """L(½ W + ½ P · V) for all P_1 and P_2, (24, 24), and F̄_P, (24, 4, N)."""
    F = sigma((W[0] + V[0][P4]) / 2 @ X)  # the middle of layer 1
    second = V[1][P4][:, :, P4].movedim(2, 0)  # P_2 V_2 P_1⁻¹
    hidden = sigma((W[1] + second) / 2 @ F[:, None])
    last = (W[2] + V[2][:, P4].movedim(1, 0)) / 2
    return (Y - last @ hidden).square().sum(dim=(-2, -1)), F


def layers_rescaled(normal, k, negative, scales):
    """Least losses over P_2 and over P_1 and P_2, their leading terms; (m, 2) each."""

    def sigma(z):
        return activation(z, k, negative)

    X, W = normal(3, 5), (normal(4, 3), normal(4, 4), normal(2, 4))
    zeta = sigma(W[1] @ sigma(W[0] @ X))
    Y, j = W[2] @ zeta, zeta.norm(dim=1).argmax()
    found = []
    for m in scales:
        of = torch.ones(4, dtype=torch.float64)
        of[j] = m  # of the strongest neuron of layer 2
        V = W[0], *rescale(W[2], W[1], of, k)[::-1]
        losses, F = over_layers(W, V, X, Y, sigma)
        found.append(torch.stack([losses[0].min(), losses.min()]))  # P4[0] = id
    h = (W[1][j][P4][:, None] @ F)[:, 0]  # ω_j P_1⁻¹ F̄_P, (24, N)
    sizes = sigma(h).square().sum(dim=1)
    weakest = W[2].square().sum(dim=0).min()  # min ‖w_i‖²
    constants = weakest / 4 ** (k + 1) * torch.stack([sizes[0], sizes.min()])
    powers = torch.tensor(scales, dtype=torch.float64)[:, None] ** (2 * k)
    return torch.stack(found), powers * constants


normal = normal_stream(seed, "all layers")
of_layers, by_last, lowered = [], [], []
for k in DEGREES:
    for n in range(networks):
        losses, leading = layers_rescaled(normal, k, (-0.1, 0.5)[n % 2], [1e12])
        of_layers.append((losses[0, 1] / leading[0, 1]).item())
        by_last.append((losses[0, 1] / leading[0, 0]).item())
        lowered.append((losses[0, 1] / losses[0, 0]).item())

# %%
claims.check("G5.layers", of_layers, rival=sum(by_last) / len(by_last))
claims.check("G5.lowered", min(lowered), n=len(lowered))

# %% Plot the least loss over the permutations of two layers
scales = torch.logspace(0, 5, 41, dtype=torch.float64).tolist()
normal = normal_stream(seed, "all layers, shown")
nine = [layers_rescaled(normal, 1, -0.1, scales) for _ in range(9)]
nine.sort(key=lambda net: (net[1][-1, 0] / net[1][-1, 1]).item())
losses, leading = nine[4]
relu_input = torch.tensor([[1, 0], [0.5, 0.5]]).double()  # F̄_P for both P_1
from_relu = []
for m in scales:
    row = torch.tensor([[2 + 2 * m, -3 - 3 * m], [2 - 3 * m, -3 + 2 * m]]) / 2
    output = (1 + 1 / m) / 2 * (row * relu_input).sum(dim=1).relu()
    from_relu.append((2 - output).square().min().item())
figure, (left, right) = figures.panels(2)
for column, colour, name in (
    (0, "book:sky", "permutations of the last layer"),
    (1, "book:green", "of both hidden layers"),
):
    left.loglog(scales, losses[:, column], color=colour, label=name)
    left.loglog(scales[20:], leading[20:, column], "k:")
left.loglog(scales, from_relu, color="book:purple", label="of both, ReLU example")
left.plot([], [], "k:", label="theorem, leading term")
left.set(xlabel="scale $m$", ylabel=r"$\min_P$ loss", ylim=(1e-4, None))
left.legend(loc="upper left", fontsize=9)
by_degree = 1 / torch.tensor(lowered).view(len(DEGREES), networks)
for k, factors in zip(DEGREES, by_degree.sort().values, strict=True):
    share = (torch.arange(networks) + 0.5) / networks
    right.plot(share, factors, ".-", label=f"$k = {k}$")
right.set(yscale="log", xlabel="share of the networks")
right.set(ylabel="factor by which both layers lower it")
right.legend(loc="upper left")
figures.show("fig_all_layers", figure)

# %% [markdown]
# :::{glue:figure} fig_all_layers
# :alt: First, least loss over permutations against the scale on logarithmic axes: two parallel rising lines, the lower one for permutations of both hidden layers, both on their dotted leading terms; the ReLU example has a plateau. Second, sorted factors by which permuting both layers lowers the loss, from little more than 1 to many powers of ten, larger for larger degrees.
#
# First panel: loss in the middle of the line from a leaky ReLU network, the one of nine with the median factor, to a copy with one rescaled neuron, $k = 1$; and the ReLU example. Second: by what factor permutations of the first layer lower the least loss at $m = 10^{12}$ (profile {glue:text}`profile`).
# :::
#
# For $k = 1$ the first layer's permutations divide the least loss by {glue:text}`by_degree[1].median().item():.0f`, median of {glue:text}`networks` networks of this run: the last layer alone shows little of what matching all layers can do; the growth with the scale stays here, without ReLU.
#
# ## Where scales agree, a straight line needs exponentially many neurons
#
# G, section 5.1 joins all minima of linear networks by curves of loss 0, "up to permutation". Straight lines ask for more, even between minima whose scales agree:
#
# :::{prf:theorem} Straight lines between wide linear networks
# :label: thm-exponential
# Let $X = I$, $Y \ne 0$ of rank $r$ with the singular values $\Sigma$, $h \ge r$, and $s = \lVert Y \rVert^4 / \lVert Y^\top Y \rVert^2$, which is $r$ if all of $\Sigma$ are equal. Let $B_P$ be the barrier between the balanced minimum with the frame $Q$ and $P$ times that with the frame $Q'$ ({prf:ref}`prop-balanced`), $Q$ uniformly distributed and independent of $Q'$. The loss is largest in the middle. For $0 < \delta < 1$, with probability at least $1 - \delta$,
#
# $$
# \begin{aligned}
# &\min_P B_P \ge \tfrac14 (1 - \tau)_+^2\, \lVert Y \rVert^2 , \\
# &\tau^2 = 2 \Bigl( 1 + \frac{r + 1}h \Bigr) \frac{\ln h! + \ln \frac1\delta}{h s} .
# \end{aligned}
# $$
#
# For orthogonal $Y$, $n \times n$, and $n \to \infty$ this is $\frac14 \bigl( 1 - \sqrt{2 \ln h / n} - o(1) \bigr)_+^2 \lVert Y \rVert^2$, uniformly in $h$. If $Y$ is fixed, $Q'$ is uniform, too, and $h \to \infty$, $\min_P B_P$ tends to 0 in probability. With an element of $\mathrm O_h$ in place of $P$ the barrier can always be made 0.
# :::
#
# :::{prf:proof}
# $P$ makes $Q'$ to $P Q'$, and $g Q' = Q$ for some $g \in \mathrm O_h$. By the proof of {prf:ref}`prop-balanced` the loss at $\lambda$ is $16 \lambda^2 (1 - \lambda)^2 \lVert A \rVert^2$, $A = \Sigma^{1/2} K \Sigma^{1/2}$, $K = \frac14 (Q - P Q')^\top (Q - P Q')$. So $B_P = \lVert A \rVert^2 \ge \langle A, \Sigma \rangle^2 / \lVert \Sigma \rVert^2$ and
#
# $$
# \begin{aligned}
# \langle A, \Sigma \rangle = \operatorname{tr} K \Sigma^2 &= \tfrac12 \lVert \Sigma \rVert^2 - \tfrac12 \langle Q, N_P \rangle , \\
# N_P &= P Q' \Sigma^2 .
# \end{aligned}
# $$
#
# *One permutation.* Fix $Q'$. Let $G = QS$, $S = (G^\top G)^{1/2}$, be $h \times r$ with independent standard normal entries: $Q$ is uniform and independent of $S$, and $\mathbb E S = \mu I$, as $G$ and $Go$ have one law for $o \in \mathrm O_r$. By Jensen's inequality for the expectation given $Q$
#
# $$
# \mathbb E\, e^{t \mu \langle Q, N_P \rangle} \le \mathbb E\, e^{t \langle G, N_P \rangle} = e^{t^2 \lVert N_P \rVert^2 / 2} .
# $$
#
# As $\lVert N_P \rVert^2 = \lVert \Sigma^2 \rVert^2 = \lVert \Sigma \rVert^4 / s$, Markov's inequality gives $\langle Q, N_P \rangle > \tau \lVert \Sigma \rVert^2$ a probability of at most $e^{-\mu^2 \tau^2 s / 2}$.
#
# *All of them.* By Hölder's inequality $(\mathbb E \operatorname{tr} S^2)^3 \le (\mathbb E \operatorname{tr} S)^2\, \mathbb E \operatorname{tr} S^4$, that is $(hr)^3 \le (\mu r)^2\, hr (h + r + 1)$ and $\mu^2 \ge h / (1 + \frac{r + 1}h)$. With the $\tau$ of the theorem $h!\, e^{-\mu^2 \tau^2 s / 2} \le \delta$.
#
# *Limits.* Take $\delta = \frac1n$; $\ln h! \le h \ln h$. For $n \le h \le n^2$, $\tau = O(\sqrt{\ln n / n})$; for $h > n^2$ the first bracket is $1 + O(\frac1n)$. For fixed $Y$, $B_P \le \lVert \Sigma \rVert_2^2\, \lVert K \rVert^2$ and $\lVert K \rVert \le \frac14 \lVert Q - P Q' \rVert^2$, whose minimum over $P$ is the squared Wasserstein distance between the empirical laws of the rows of $\sqrt h\, Q$ and $\sqrt h\, Q'$. Both tend to the normal law, as $\sqrt h\, Q = G (G^\top G / h)^{-1/2}$.
# :::
#
# Gradient flow commutes with $\mathrm O_h$. So from balanced starts whose law $\mathrm O_h$ leaves as it is, it ends at uniform frames, if at a minimum. For orthogonal $Y$ the permutation of largest overlap $\langle Q, P Q' \rangle$ is an assignment problem:


# %%
def barrier(Q, other):
    """Barrier over ‖Y‖² between balanced minima of orthogonal Y; frames (h, n)."""
    K = (Q - other).T @ (Q - other) / 4
    return K.square().sum().item() / len(K)


def least_left(n, h, part=1.0):
    """¼ (1 − τ)₊² of the theorem for orthogonal Y, δ = 0.01; a part of ln h!."""
    logs = part * math.lgamma(h + 1) + math.log(100)
    tau = math.sqrt(2 * (1 + (n + 1) / h) * logs / (h * n))
    return max(1 - tau, 0) ** 2 / 4


normal = normal_stream(seed, "frames")
found = []  # n, h, barrier over ‖Y‖² before and after
for n, octaves in ((4, 8), (16, 6), (64, 4), (256, 2)):
    for h in [n * 2**k for k in range(octaves + 1)] * (networks // 10):
        Q, R = torch.linalg.qr(normal(2, h, n))  # R_ii > 0 makes Q uniform
        Q, other = Q * R.diagonal(dim1=1, dim2=2).sign()[:, None]
        best = other[weight_matching(Q, other)]
        found.append((n, h, barrier(Q, other), barrier(Q, best)))

# %%
ratios = [least_left(n, h) / after for n, h, _, after in found]
halved = max(least_left(n, h, 0.5) / after for n, h, _, after in found)
claims.check("G5.exponential", ratios, rival=halved)
few = [sides for n, h, *sides in found if n == 4 and h >= 256]
claims.check("G5.narrow", [b for _, b in few], rival=min(a for a, _ in few))

# %% Plot what the best permutation leaves
figure, axis = figures.panels(height=3.2)
for n, colour in ((4, "green"), (16, "blue"), (64, "purple"), (256, "red")):
    wide = [h for m, h, *_ in found if m == n]
    place = [math.log(h) / n for h in wide]
    before, after = zip(*[sides for m, _, *sides in found if m == n], strict=True)
    axis.plot(place, before, "o", color=f"book:{colour}", mfc="none", alpha=0.6)
    axis.plot(place, after, "o", color=f"book:{colour}", label=f"$n = {n}$")
    line = sorted(set(zip(place, (least_left(n, h) for h in wide), strict=True)))
    axis.plot(*zip(*line, strict=True), color=f"book:{colour}")
axis.set(xscale="log", xlabel=r"$\ln h\,/\,n$", ylabel=r"barrier$\,/\,\|Y\|^2$")
axis.set(ylim=(0, None))
figures.show("fig_exponential", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_exponential
# :alt: Barrier over the squared size of the targets against the logarithm of the number of hidden neurons divided by n, for n = 4, 16, 64 and 256. Open circles near one quarter or above, before the permutation; dots below them, which fall with the width, to 0 for n = 4; curves of the bound below the dots, well above 0 for n = 64 and 256.
#
# Barrier between balanced minima of two linear layers with random frames, $h$ from $n$ to 1024: before (circles) and after (dots) the permutation of largest overlap, and the theorem's lower bound for every permutation (lines, $\delta = 0.01$; profile {glue:text}`profile`).
# :::
#
# ## The paper's construction needs its assumption, and one factor its degree
#
# The proof of G, Prop. 5.4 takes $W' = m \cdot W$, one scale for all neurons, and assumes that $W_l P\, \sigma(H) \ne 0$ for all $P$. Then the loss grows like $m^{2k}$ for every $P$ and each degree $k$:

# %% Growth under the paper's assumption
growths = []
for k in DEGREES:
    for h in range(2, width_max + 1):
        for n in range(networks):
            net = random_net(seed, "assumption", k, n, h=h)
            growths.append(growth((least(net, 1e11), least(net, 1e12)), k))


# %% Factor of the output halfway
def middle_output(net, m, p):
    """Output at ½ (W + P · (m · W)), (o, N); neuron i meets neuron p_i."""
    H = net.hidden
    last, hidden = rescale(net.last, H, m, net.k)  # m^(−k) W_l, m H
    return (net.last + last[:, p]) / 2 @ net.sigma((H + hidden[p]) / 2)


factors, m = [], 3.0
for n in range(networks):
    net = random_net(seed, "factor", 2, n, h=4)
    H = net.hidden
    for p in P4:
        out = middle_output(net, m, p)
        # W_l (I + m^(−k) P) σ((I + m P⁻¹) H), G, (19)
        bare = (net.last + m**-2 * net.last[:, p]) @ net.sigma(H + m * H[p])
        factors.append(((out * bare).sum() / bare.square().sum()).item())

# %%
claims.check("G5.unbounded", growths)
worst = max(factors, key=lambda x: abs(x - 1 / 8))
claims.check("G5.factor", worst, n=len(factors))

# %% [markdown]
# The construction needs the assumption. Let two neurons have $W_l = (1, 0)$, $H = (1, 0)^\top$, $Y = 1$, for ReLU or a linear activation, and let $P$ exchange them. In the middle $\bar W_l = \frac12 (1, m^{-1})$, $\sigma(\bar H) = \frac12 (1, m)^\top$, and the output is $\frac12$ for every $m$: the large activation meets the zero weight ({claim}`G5.counterexample`).
#
# With $W' = m \cdot W$ the output in the middle of the line is $2^{-(k+1)}\, W_l (I + m^{-k} P)\, \sigma\bigl((I + m P^{-1}) H\bigr)$. The factor is $\frac14$, as G, (19) has it, for $k = 1$ only. The conclusion does not depend on it.
#
# ## What it means for merging networks
#
# Matching the neurons of two networks removes what their order has caused. Where their scales have caused a barrier, it can lower the height, but in general not the growth with the scale. For {term}`homogeneous <homogeneous activation>` activations bring every neuron to one norm of its incoming weights first; then match. Between two random balanced minima of linear layers of rank 1000 no permutation of a million neurons brings the barrier below {glue:text}`least_left(1000, 10**6):≥.2f` $\lVert Y \rVert^2$ ($Y$ orthogonal; with probability 0.99 at least, {prf:ref}`thm-exponential`), while a rotation of the hidden layer leaves nothing.
#
# **Read on.** [](33_unbounded_barriers.ipynb): the barrier before permutations. [](12_overlap_theorem.ipynb): random networks in which the best permutation does help. [](56_matchers.ipynb): ways to find a good permutation.

# %% [markdown]
# ## Evidence

# %% [markdown]
# ### The printed statement lacks its primes
#
# The displayed loss of G, Prop. 5.4 lacks the primes, in both prints: as it stands it compares $W$ with $P \cdot W$, and at $P = I$ it is $L(W) = 0$. With the primes, which stand in the same sentence and in G, (18), it says what chapter 37 judges. The text after G, Prop. 5.4 says that the permutation is restricted to the first two layers; it is to the last two.
#
# ### The leading term of one rescaled neuron

# %%
by_mean = [
    (pair[1] / leading_term(full, 1e12, torch.mean)).item()
    for pair, full, net in zip(of_one, filled, idle, strict=True)
    if net.last.any(dim=0).sum() > 1
]
claims.check("G5.leading", to_leading, rival=sum(by_mean) / len(by_mean))

# %% Plot the least loss over permutations
span = torch.logspace(0, 5, 41, dtype=torch.float64)  # m
wide = torch.logspace(0, 8, 81, dtype=torch.float64)
idle_one, generic = idle_net(seed, 1, 2, 4), random_net(seed, "figure", 1, 1, h=4)
full = fill_outputs(idle_one)
curves = {
    "all neurons, assumption holds": [least(generic, m) for m in span],
    "all neurons, assumption fails": [least(idle_one, m) for m in span],
    "one neuron, idle ones filled": [
        least(full, one_neuron(full, m)) for m in span
    ],
}
of_Y = [net.Y.square().sum() for net in (generic, idle_one, idle_one)]
ratios = {}  # least loss over permutations by its leading term
for k in (1, 0.5, 2):
    net = fill_outputs(idle_net(seed, k, 2, 5))
    values = torch.tensor([least(net, one_neuron(net, m)) for m in wide])
    ratios[k] = values / leading_term(net, wide)

figure, (left, right) = figures.panels(2)
for (label, values), size, colour in zip(
    curves.items(), of_Y, ("green", "purple", "sky"), strict=True
):
    values = torch.tensor(values) / size
    left.plot(span, values, color=f"book:{colour}", label=label)
form = leading_term(full, span[20:]) / of_Y[1]
left.plot(span[20:], form, "k:", label="theorem, leading term")
left.set(xlabel="scale $m$", ylabel=r"$\min_P$ loss$\,/\,\|Y\|^2$", xscale="log")
left.set(yscale="log", ylim=(1e-4, None))
left.legend(loc="upper left")
for k, name, colour in (
    (0.5, r"$k = \frac{1}{2}$", "book:orange"),
    (1, "$k = 1$", "book:blue"),
    (2, "$k = 2$", "book:red"),
):
    right.plot(wide, ratios[k], color=colour, label=name)
right.axhline(1, color="book:black", linestyle=":")
right.set(xlabel="scale $m$", ylabel=r"$\min_P$ loss$\,/\,$leading term")
right.set(xscale="log", ylim=(0, 1.5))
right.legend(loc="lower right")
figures.show("fig_permuted", figure)

# %% [markdown]
# :::{glue:figure} fig_permuted
# :alt: First, least loss over permutations against the scale on logarithmic axes: a straight rise where the assumption holds, a plateau where it fails, and a straight rise again when idle neurons are filled and one neuron is rescaled, on the dotted leading term. Second, ratio to the leading term for three degrees, tending to one.
#
# First panel: loss in the middle after the best of all $4!$ permutations, $k = 1$. Second: the same for one rescaled neuron among five, divided by the leading term of {prf:ref}`thm-permuted-barrier`
# (profile {glue:text}`profile`).
# :::
#
# ### Without the assumption, one scale for all neurons may be hidden
#
# The least loss for the example with $W_l = (1, 0)$, and with a second outgoing weight of 0.01 in place of 0:


# %% Least loss of the example
def with_outgoing(weight):
    """The example with the outgoing weights (1, weight)."""
    one = torch.ones(1, 1, dtype=torch.float64)
    last = torch.tensor([[1, weight]], dtype=torch.float64)
    before = torch.tensor([[1], [0]], dtype=torch.float64)
    return HomogeneousNet(last, before, one, one, k=1, negative=0.0)


scales = torch.logspace(-6, 6, 49, dtype=torch.float64).tolist()
hidden_barrier = [least(with_outgoing(0.0), m) for m in scales]
open_barrier = [least(with_outgoing(0.01), m) for m in scales]

# %%
highest, n = max(hidden_barrier), len(hidden_barrier)
claims.check("G5.counterexample", highest, rival=max(open_barrier), n=n)

# %% [markdown]
# ### The constants of the printed proof
#
# With $W' = m \cdot W$ the middle of the line is
#
# $$
# \begin{aligned}
# \bar W_l &= \tfrac12 W_l (I + m^{-k} P), \\
# \bar H &= \tfrac12 (I + m P^{-1}) H, \\
# \text{output} &= 2^{-(k+1)}\, W_l (I + m^{-k} P) \\
# &\qquad \sigma\bigl((I + m P^{-1}) H\bigr) .
# \end{aligned}
# $$
#
# :::{prf:proposition} The middle of the line after a permutation
# :label: prop-permuted-expansion
# Let $L(W) = 0$, $k = 1$, and $m |(P^{-1} H)_{ij}| > |H_{ij}|$ wherever $(P^{-1} H)_{ij} \ne 0$. Put $S = \sigma'(P^{-1} H) \circ H$, with the entry $\sigma(H_{ij})$ where $(P^{-1} H)_{ij} = 0$. Then
#
# $$
# \begin{aligned}
# &Y - \text{output} = -\tfrac m4\, W_l P^{-1} \sigma(H) \\
# &\quad + \tfrac34 Y - \tfrac14 W_l S - \tfrac1{4m} W_l P S .
# \end{aligned}
# $$
#
# For $P = I$ the constant is $\frac12 Y$. For $k > 1$ the term after $m^k$ is in general of the order $m^{k-1}$.
# :::
#
# :::{prf:proof}
# Let $x = (P^{-1} H)_{ij}$, $y = H_{ij}$. If $x \ne 0$, $mx + y$ has the sign of $x$, and
#
# $$
# \begin{aligned}
# \sigma(mx + y) &= \sigma'(x) (mx + y) \\
# &= m\, \sigma(x) + \sigma'(x)\, y .
# \end{aligned}
# $$
#
# If $x = 0$ it is $\sigma(y)$. So $\sigma((I + m P^{-1}) H) = m P^{-1} \sigma(H) + S$, which is multiplied by $\frac14 W_l (I + P/m)$; $W_l \sigma(H) = Y$. For $P = I$, $S = \sigma(H)$. For other $k$ and $x \ne 0$
#
# $$
# \begin{aligned}
# &m^k \sigma(x + y/m) \\
# &\quad = m^k \sigma(x) + m^{k-1} \sigma'(x)\, y + O(m^{k-2}) .
# \end{aligned}
# $$
# :::
#
# G, (21) has the constant $\frac34 Y$: in G, (20) the limit is taken before the multiplication by $m^k$. As an equation of limits, which are infinite, G, (21) says nothing false; read as the first two orders it does. With $1 - 2^{-(k+1)}$ for $\frac34$ it is right for $k < 1$ if no entry of $H$ is 0. The leading term, which carries the conclusion,
# is right.
#
# The constant in $Y$ for $P = I$, and the whole expansion for all $P$:

# %% Constant and expansion
constants, m = [], 2.0**20
for n in range(networks):
    net = random_net(seed, "constant", 1, n)
    halfway = [
        (a + b) / 2 for a, b in zip(net.layers, net.rescaled(m), strict=True)
    ]
    rest = net.Y - net.output(*halfway) + m / 4 * net.Y
    constants.append(((rest * net.Y).sum() / net.Y.square().sum()).item())

expansion, printed_constant = [], []
for n in range(networks):
    net = random_net(seed, "expansion", 1, n, h=4)
    H, W_l, Y = net.hidden, net.last, net.Y
    Z = net.sigma(H)  # (h, N)
    for p in P4:
        m = 4 * (H / H[p]).abs().max().item()
        S = torch.func.jvp(net.sigma, (H[p],), (H,))[1]  # σ′(P⁻¹H) ∘ H
        rest = Y - middle_output(net, m, p) + m / 4 * W_l @ Z[p]
        rest = rest + W_l[:, p] @ S / (4 * m)
        constant = 0.75 * Y - W_l @ S / 4
        expansion.append(((rest - constant).norm() / Y.norm()).item())
        printed_constant.append(((rest - 0.75 * Y).norm() / Y.norm()).item())

# %%
worst = max(constants, key=lambda x: abs(x - 0.5))
claims.check("G5.constant", worst, n=len(constants))
claims.check("G5.expansion", expansion, rival=min(printed_constant))

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# In the example with $W_l = (1, 0)$ and $H = (1, 0)^\top$, what is the loss in the middle for $P = I$ and for the exchange, if $m \cdot W$ scales both neurons? Which order is best for large $m$?
# :::
#
# :::{solution}
# For $P = I$ the output is $\frac14 (1 + m^{-1})(1 + m) = \frac{(1 + m)^2}{4m}$, which grows like $m/4$, and the loss is $\bigl( \frac{(m - 1)^2}{4m} \bigr)^2$. For the exchange the output is $\frac12$ and the loss $\frac14$. For large $m$ the exchange is best: it
# hides the barrier behind the idle neuron.
# :::
#
# :::{exercise}
# In {prf:ref}`thm-permuted-barrier` let every neuron have $\lVert w_i \rVert = \lVert \zeta_i \rVert = 1$ and $k = 1$. For which $m$, roughly, does the loss after the best permutation exceed $\lVert Y \rVert^2$? What if one neuron has $\lVert w_i \rVert = \varepsilon$?
# :::
#
# :::{solution}
# The leading term is $m^2/16$, so $m$ has to be about $4 \lVert Y \rVert$. With a neuron of outgoing norm $\varepsilon$ the best permutation puts the scaled neuron on it, the leading term is $\varepsilon^2 m^2/16$, and $m$ has to be about
# $4 \lVert Y \rVert / \varepsilon$: a weak neuron hides the barrier for longer, but not for ever.
# :::
#
# ### Run it yourself
#
# :::{try}
# More networks, and all permutations of seven neurons, seven times as many; every verdict stays:
#
#     make chapter NAME=permuted_barriers ARGS="-p networks 20 -p width_max 7"
#
# Look at {numref}`fig-all-layers`: with more networks the factors spread further, the two lines stay parallel.
# :::

# %% Versions and time
print(chapter.end())
