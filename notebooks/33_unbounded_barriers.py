# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Two networks with one function can have an arbitrarily high barrier
#
# *How high can the loss be on the straight line between two networks that compute the same function?*
#
# As high as one likes, as the paper says (proved). Multiply a layer of the paper's five-layer network by $m$ and divide the next one by it: halfway the norm of the error grows like **$m$**. If the weights are bounded, so is the barrier; {prf:ref}`prop-orbit-bound` gives the least bound.
#
# :::{glue:figure} fig_growth
# :name: fig-growth-of-error
# :alt: Error halfway, relative to the size of the targets, against the scale of one layer from 1 to 10000, both axes logarithmic. Three curves with dots on them, for activations of degree one half, one and two; at the right they are straight lines, steeper for a higher degree. The one of degree one is marked with the recorded power, [[G4.network:.3f]]. A dotted line at 1 marks a network whose output is 0.
#
# Error halfway between a network and the same function with one layer scaled by $m$: closed form (lines) and forward passes (dots; $k = 1$: the paper's network, with its recorded slope from $m = 10^3$ to $10^4$). $k$ is the degree of the activation, 1 for ReLU; both axes are logarithmic.
# :::
#
# **How sure.** Proved for all homogeneous activations, of any degree; [[n(G4.formula)]] lines compared, recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | loss above "any positive number" (Prop. 5.3) | [true](#G4.unbounded) | proved; in all [[n(G4.unbounded)]] cases |
# | it "grows unboundedly" (App. C, Fig. 4) | [true, like $m$](#G4.network) | norm of the error: power [[G4.network:.3f]], $m$ from 10³ to 10⁴ |
# | bounded for bounded weights (Prop. 5.6) | [true](#G7.bound) | the least bound, reached to [[1 - G7.sharp:≤.1e]] |
# | closed form on the line (eq. 14) | [true](#G4.formula) | to [[G4.formula:≤.0e]] |
# | the line $\gamma$ joins minima at loss 0 (proof) | [it does not; a curve does](#G4.segment) | loss [[G4.segment:.3f]] $\lVert Y \rVert^2$ on it, $m = 4$ |
# | $m = (\dots)^k$ gives loss above $b$ (eq. 16) | [wrong exponent](#G4.printed_m) | $-1/k$ is right; the printed $m$ still gives a loss above $b$ if the degree $k \ge 1$, not if $k < 1$ |
#
# **Open.** Nothing.
#
# **For the authors.** In the proof of Prop. 5.3 print $m = (\dots)^{-1/k}$ and the curve $(W_l m^{-kt}, m^t W_{l-1}, \dots)$; in Prop. 5.6 *for every $c > 0$ there exists $b$*.

# %% [markdown]
# :::{need}
# You need: matrices, norms, derivatives. At a minimum of loss 0 the *{term}`barrier`* of a segment is the largest loss on it. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $W_1, \dots, W_l$; $X$, $Y$ | weights; inputs and targets |
# | $F$, $H$ | features that enter layer $l - 1$, $F = f(W_{l-2}, \dots, W_1, X)$; $H = W_{l-1} F$ |
# | $\sigma$, $k$ | activation before the last layer, and its degree: $\sigma(cz) = c^k \sigma(z)$ for $c > 0$ |
# | $\hat Y$, $L$ | output $W_l\, \sigma(H)$; loss $\lVert Y - \hat Y \rVert^2$ |
# | $m$, $m \cdot W$ | scale (a width in chapters 11 to 19), and the rescaled network $(W_l\, m^{-k},\; m\, W_{l-1},\; W_{l-2}, \dots)$ |
# | $\alpha$ | place on the line, 0 at $W$ and 1 at $m \cdot W$ |
# | $\varphi$; $\varphi^*$, $\alpha^*$ | factor of the output at $\alpha$; its maximum on the line, and where it is |
# | $b$, $c$ | a bound on the loss, a bound on the norms of two layers |
# | $\delta$, $\Delta$ | imbalance $\lVert W_{l-1} \rVert^2 - k \lVert W_l \rVert^2$, and a bound on it |

# %% Parameters tags=["parameters"]
networks: int = 10  # random networks for each degree
steps: int = 2000  # gradient steps of the trained network
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(), networks=Integer(10, 10_000), steps=Integer(100, 1_000_000)
)

import itertools
import math
from dataclasses import replace

import torch
from scipy.optimize import brentq

from lmc_helpers import claims, figures
from lmc_helpers._chapters.unbounded_barriers import (
    five_layer_minimum,
    lambda_of_largest_loss,
    largest_factor,
    orbit_bound,
    orbit_interval,
    output_factor,
)
from lmc_helpers.orbits.homogeneous import random_net
from lmc_helpers.seeds import normal_stream, torch_generator

COLOUR = {0.5: "book:orange", 1: "book:blue", 2: "book:red"}
NAME = {0.5: r"$k = \frac{1}{2}$", 1: "$k = 1$", 2: "$k = 2$"}

# %% [markdown]
# ## The straight line cuts across a curve of minima
#
# If the activation before the last layer is {term}`homogeneous <homogeneous activation>`, one layer can be scaled up and the next one down without any change of the function. Zhao, Dehmamy, Walters & Yu (G) {cite:p}`zhao2025`, read in the version submitted for review, move a minimum along this symmetry. The smallest example has two scalar weights and the loss $(1 - W_2 W_1)^2$. Its minimum is a hyperbola, $m$ moves $(W_1, W_2)$ to $(m W_1, W_2/m)$ along it, and the straight line cuts across:

# %% Plot a hyperbola and its chords
idea, (plane, profiles) = figures.panels(2, height=4.3)
ticks = torch.linspace(-0.5, 5, 221, dtype=torch.float64)
heights = (1 - ticks[:, None] * ticks).abs().clamp(max=9)
shading = plane.contourf(ticks, ticks, heights, 18, cmap="Greys", alpha=0.75)
idea.colorbar(shading, ax=plane, shrink=0.9)
arm = torch.linspace(0.2, 5, 300, dtype=torch.float64)
plane.plot(arm, 1 / arm, color="book:black", linewidth=2, label="$W_2 W_1 = 1$")
share = torch.linspace(0, 1, 101, dtype=torch.float64)
for scale, colour in ((4.0, "book:sky"), (4.5**2, "book:purple")):
    across = (1 - share + share * scale) / 4.5, (1 - share + share / scale) * 4.5
    ends = [side[[0, -1]] for side in across]
    plane.plot(*ends, "o-", color=colour, label=f"$m = {scale:g}$")
    profiles.plot(share, (1 - across[0] * across[1]).square(), color=colour)
profiles.axhline(0, color="book:black", linewidth=2)
plane.set(xlabel="$W_1$", ylabel="$W_2$", xlim=(-0.5, 5), ylim=(-0.5, 5))
plane.set(aspect=1, title="$|1 - W_2 W_1|$")
plane.grid(False)
profiles.set(xlabel=r"place on the line $\alpha$", title="$(1 - W_2 W_1)^2$")
figures.show("fig_segment", idea, legend=3)

# %% [markdown]
# :::{glue:figure} fig_segment
# :name: fig-hyperbola-chords
# :alt: First, grey contours of the absolute error of a product of two numbers with the hyperbola of minima and two chords of it; the longer chord passes through much higher error. Second, the loss along the two chords, low on the short one and high on the long one, and zero on the hyperbola.
#
# First panel: the idea of G, Fig. 2, with $X = Y = 1$ and the loss printed there, without a square: two minima of the hyperbola and the segment from the point at the upper left to its rescaling by $m$. Second: the squared loss of G, Prop. 5.3 on the segments; on the
# hyperbola it is 0.
# :::
#
# In general the loss is $L(W) = \lVert Y - W_l\, \sigma(W_{l-1} F) \rVert^2$, and $\sigma$ acts on entries. The paper asks for $\sigma(cz) = c^k \sigma(z)$ for all real $c$, which for $c < 0$ excludes ReLU. Only $c > 0$ is used. The functions with this property are $\sigma(z) = |z|^k \sigma(\pm 1)$, the sign that of $z$, and $\sigma(0) = 0$; they are continuous.
#
# :::{prf:proposition} The line between a point and its rescaling
# :label: prop-rescaled-line
# For every point $W$, whatever its loss, and every $0 \le \alpha \le 1$
#
# $$
# \begin{aligned}
# &L\bigl((1 - \alpha) W + \alpha\, (m \cdot W)\bigr) \\
# &\quad = \lVert Y - \varphi(\alpha)\, \hat Y \rVert^2, \\
# &\varphi(\alpha) = (1 - \alpha + \alpha m^{-k}) (1 - \alpha + \alpha m)^k .
# \end{aligned}
# $$
#
# $\varphi(\alpha) > 1$ for $0 < \alpha < 1$ and $m \ne 1$. The curve $(W_l\, m^{-kt}, m^t\, W_{l-1}, W_{l-2}, \dots)$, $0 \le t \le 1$, has constant loss.
# :::
#
# :::{prf:proof}
# The last layer on the line is $(1 - \alpha + \alpha m^{-k})\, W_l$, the activations are $\sigma((1 - \alpha + \alpha m) H)$, which is $(1 - \alpha + \alpha m)^k \sigma(H)$ since $1 - \alpha + \alpha m > 0$. By the weighted means
# $1 - \alpha + \alpha m^{-k} \ge m^{-k\alpha}$ and $1 - \alpha + \alpha m \ge m^{\alpha}$, strictly inside the segment if $m \ne 1$; the product of the right sides, the second to the power $k$, is 1. On the
# curve the two factors are $m^{-kt}$ and $m^{kt}$.
# :::
#
# At a minimum with loss 0 this is G, (14), $(\varphi(\alpha) - 1)^2 \lVert Y \rVert^2$.
#
# The network of G, Fig. 4 has five layers with leaky ReLU (here with slope 0.01), widths 8, 16, 32, 16, 8, 4, and random $X \in \mathbb R^{8 \times 4}$, $Y \in \mathbb R^{4 \times 4}$. Full-batch gradient descent, where the paper has SGD, brings it close to a minimum ({glue:text}`descended:.1e` after {glue:text}`steps` steps), a few Gauss–Newton steps of least norm down to rounding ({glue:text}`trained.loss(*trained.layers).item():.0e`). The closed form against forward passes on lines from this network and from random ones with $k = \frac12, 1, 2, 3$:

# %% Train the network of G, Fig. 4
trained, descended = five_layer_minimum(seed, steps)

# %% Degrees, scales and places
DEGREES = (0.5, 1, 2, 3)  # k
SCALES = torch.tensor([0.02, 0.2, 3.0, 10.0, 100.0], dtype=torch.float64)  # m
ALPHA = torch.linspace(0, 1, 101, dtype=torch.float64)  # (a,)
numbers = range(networks)


# %%
def error(net, m, k):
    """Forward passes on the line against ‖Y − φ(α) Ŷ‖², by the largest loss."""
    phi = (1 - ALPHA + ALPHA * m**-k) * (1 - ALPHA + ALPHA * m) ** k  # (a,)
    output = net.output(*net.layers)  # Ŷ (o, N)
    form = (net.Y - phi[:, None, None] * output).square().sum(dim=(-2, -1))
    measured = net.line(ALPHA, net.rescaled(m), net.layers)  # (a,)
    return ((measured - form).abs().max() / measured.max()).item()


nets = [random_net(seed, "formula", k, n) for k in DEGREES for n in numbers]
nets.append(trained)
errors = [error(net, m, net.k) for net in nets for m in SCALES]
with_k_1 = [error(net, m, 1) for net in nets for m in SCALES if net.k != 1]

# %%
claims.check("G4.formula", errors, rival=min(with_k_1))

# %% [markdown]
# In `net.line(ALPHA, a, b)` the number $\alpha$ is the weight of `a`, which is $m \cdot W$ here.
#
# ## The barrier grows like a power of the scale
#
# :::{prf:proposition} Place and height of the maximum
# :label: prop-rescaled-peak
# Let $m \ne 1$, $A = 1 - m^{-k}$, $B = m - 1$, which have one sign. $\ln \varphi$ is strictly concave in $\alpha$, with its maximum at
#
# $$
# \begin{aligned}
# \alpha^* &= \frac{kB - A}{A B\, (1 + k)}, \\
# \varphi^* &= \frac{k^k}{(1 + k)^{1 + k}} \cdot \frac{|A + B|^{1 + k}}{|B|\, |A|^k} .
# \end{aligned}
# $$
#
# If $k = 1$, $\alpha^* = \frac12$ for every $m$; if $k \ne 1$, $\alpha^* \ne \frac12$ for every $m$. As $m \to \infty$ $\alpha^* \to \frac{k}{1 + k}$ and $\varphi^* \sim k^k (1 + k)^{-1-k}\, m^k$, while the middle has
# $\varphi(\frac12) \sim 2^{-(k+1)} m^k$. $m$ and $1/m$ have the same $\varphi^*$, and for each $\alpha$ in $(0, 1)$ $\varphi(\alpha)$, so also $\varphi^*$, increases strictly in $|\ln m|$ on either side of $m = 1$.
# :::
#
# :::{prf:proof}
# $\ln \varphi = \ln(1 - A\alpha) + k \ln(1 + B\alpha)$ is strictly concave, and 0 at both ends. Its derivative vanishes where $A (1 + B\alpha) = kB\, (1 - A\alpha)$, which is $\alpha^*$; there
# $1 - A\alpha^* = \frac{A + B}{B (1 + k)} > 0$ and $1 + B\alpha^* = \frac{k (A + B)}{A (1 + k)} > 0$. At $\alpha = \frac12$ the derivative is $2 k \tanh \frac u2 - 2 \tanh \frac{ku}2$ with $u = \ln m$, and $\tanh$ is strictly concave on
# $[0, \infty)$, so that this is 0 for some $u \ne 0$ only if $k = 1$. Exchanging the ends of the line exchanges $m$ and $1/m$. Finally
#
# $$
# \begin{aligned}
# \frac{\partial \ln \varphi}{\partial u} = \;&\frac{k \alpha}{(1 - \alpha) e^{-u} + \alpha} \\
# &- \frac{k \alpha}{(1 - \alpha) e^{ku} + \alpha}
# \end{aligned}
# $$
#
# has the sign of $u$.
# :::
#
# So at a minimum of loss 0 the barrier is exactly $(\varphi^* - 1)^2 \lVert Y \rVert^2$, and it grows like $m^{2k}$. The paper reads the loss in the middle: in G, Prop. 5.3, where a lower bound is all that is needed, and in G, Fig. 4, where $k = 1$ and the middle is the place of the maximum. The error that is printed with Fig. 4, $\lVert W_5 \sigma(\cdots) - Y \rVert$, is the root of the loss of Prop. 5.3, and its slope in $\ln m$ half as large:


# %% Growth of the loss halfway
def middle(net, m):
    """The loss at ½ (W + m · W)."""
    return net.line(0.5, net.rescaled(m), net.layers).item()


near, far = middle(trained, 1e3), middle(trained, 1e4)  # squared
slope_of_square = math.log(far / near) / math.log(10)
slope = math.log(math.sqrt(far) / math.sqrt(near)) / math.log(10)

# %%
claims.check("G4.network", slope, n=1)

# %% Plot the growth
power = claims.recorded("G4.network")["value"]
figure, axis = figures.panels(height=2.8)
span = torch.logspace(0, 4, 121, dtype=torch.float64)[1:]
for k, colour in COLOUR.items():
    net = trained if k == 1 else random_net(seed, "figure", k, 1)
    axis.plot(span, output_factor(span, k, 0.5) - 1, color=colour)
    dots = span[9::10]
    halfway = torch.tensor([middle(net, m) for m in dots.tolist()]).sqrt()
    axis.plot(dots, halfway / net.Y.norm(), "o", color=colour, markersize=4)
    words = "  " + NAME[k] + (f"\n  like $m^{{{power:.3f}}}$" if k == 1 else "")
    last = output_factor(span[-1:], k, 0.5).item() - 1
    axis.text(1e4, last, words, color=colour, va="center", clip_on=False)
axis.axhline(1, color="book:grey", linestyle=":")
axis.text(8e3, 0.25, "output 0", color="book:grey", fontsize=10, ha="right")
axis.set(xscale="log", yscale="log", xlim=(1, 1e4), ylim=(1e-3, 3e7))
axis.set(xlabel="scale $m$ of one layer", ylabel=r"error halfway$\,/\,\|Y\|$")
figures.show("fig_growth", figure)

# %% [markdown]
# The slopes are {glue:text}`slope:.3f` and, with the square, {glue:text}`slope_of_square:.3f` in this run.
#
# ## Bounded weights bound the barrier, and the least bound is known
#
# By G, Prop. 5.6 the barrier is bounded on the part of the {term}`orbit` with $\lVert W_i' \rVert < c$. (Its wording puts $b$ before $c$; one $b$ for all $c$ would contradict G, Prop. 5.3.) The bound itself:
#
# :::{prf:proposition} The least bound
# :label: prop-orbit-bound
# Let $L(W) = 0$ and $c^{k+1} > \lVert W_l \rVert\, \lVert W_{l-1} \rVert^k$. The points $m \cdot W$ with both layers of norm less than $c$ are those with
#
# $$
# \begin{aligned}
# m_- &< m < m_+ , \\
# m_- &= \bigl(\lVert W_l \rVert / c\bigr)^{1/k} , \\
# m_+ &= c / \lVert W_{l-1} \rVert .
# \end{aligned}
# $$
#
# On all lines from $W$ to them $L < b = (\varphi^* - 1)^2 \lVert Y \rVert^2$, with $\varphi^*$ at the end that is farthest from 1 in $|\ln m|$. On all lines between two of them the same holds with $\varphi^*$ at
#
# $$
# m_+/m_- = \bigl(c^{k+1} / (\lVert W_l \rVert \lVert W_{l-1} \rVert^k)\bigr)^{1/k} .
# $$
#
# Neither bound can be improved.
# :::
#
# :::{prf:proof}
# $\lVert m^{-k} W_l \rVert < c$ and $\lVert m W_{l-1} \rVert < c$ are the two inequalities. By {prf:ref}`prop-rescaled-peak` the largest loss on a line is $(\varphi^*(m) - 1)^2 \lVert Y \rVert^2$, which increases strictly and continuously in $|\ln m|$; the ends are not attained, but approached. Two
# members $m_1 \cdot W$ and $m_2 \cdot W = (m_2/m_1) \cdot (m_1 \cdot W)$ have the ratio $m_2/m_1$, and $|\ln (m_2/m_1)| < \ln (m_+/m_-)$.
# :::


# %% Least bounds, and the largest loss on a line
def least_bounds(net, c):
    """m_− and m_+, and the least bounds b on lines from W and between two members."""
    last, before = (W.norm().item() for W in net.layers)
    low, high = (last / c) ** (1 / net.k), c / before
    ends = torch.tensor([low, high], dtype=torch.float64)
    phi = largest_factor(ends, net.k)[1].max().item()  # φ* increases in |ln m|
    phi_pairs = largest_factor(high / low, net.k)[1].item()
    size = net.Y.norm().item()
    return low, high, (phi - 1) ** 2 * size**2, (phi_pairs - 1) ** 2 * size**2


def largest_loss(net, one, other, m):
    """Largest loss on the line from one to other = m · one."""
    places = torch.stack([*ALPHA[::5], largest_factor(m, net.k)[0]])
    return net.line(places, other, one).max().item()


# %% Lines between members of bounded orbits
ratios, by_middle, near_end, crude = [], [], [], []
for k in DEGREES:
    for n in numbers:
        net = random_net(seed, "bounded", k, n)
        size, norms = net.Y.norm().item(), [W.norm().item() for W in net.layers]
        smallest = (norms[0] * norms[1] ** k) ** (1 / (k + 1))
        for stretch in (1.1, 2.0, 5.0, 20.0):
            low, high, b, b_pairs = least_bounds(net, stretch * smallest)
            stream = torch_generator(seed, f"members {k} {n} {stretch}")
            places = torch.rand(8, dtype=torch.float64, generator=stream)
            ms = [low * (1 + 1e-9), high * (1 - 1e-9)]
            ms += (low * (high / low) ** places).tolist()
            members = [net.rescaled(m) for m in ms]
            found = [
                largest_loss(net, net.layers, member, m)
                for m, member in zip(ms, members, strict=True)
            ]
            ratios += [x / b for x in found]
            for m, member in zip(ms[1:], members[1:], strict=True):
                x = largest_loss(net, members[0], member, m / ms[0])
                ratios.append(x / b_pairs)
            near_end.append(max(found[:2]) / b)
            ends = torch.tensor([low, high], dtype=torch.float64)
            if k != 1:
                half = (output_factor(ends, k, 0.5).max().item() - 1) ** 2
                by_middle.append(max(found) / (half * size**2))
            rough = max(1, low**-k) * max(1, high) ** k
            crude.append(max(found[:2]) / ((rough - 1) ** 2 * size**2))

# %%
claims.check("G7.bound", ratios, rival=max(by_middle))

# %% Plot the least bound
figure, axis = figures.panels(height=4.4)
stretches = torch.logspace(0.02, 2, 60, dtype=torch.float64)
for k, colour in COLOUR.items():
    net = random_net(seed, "figure", k, 1)
    norms = [W.norm().item() for W in net.layers]
    smallest = (norms[0] * norms[1] ** k) ** (1 / (k + 1))
    intervals = [
        orbit_interval(*net.layers, k, s * smallest) for s in stretches.tolist()
    ]
    bounds = [orbit_bound(*ends, k, 1.0, pairs=True) for ends in intervals]
    axis.plot(stretches, bounds, color=colour, label=NAME[k])
    stream = torch_generator(seed, f"scatter {k}")
    draws = torch.rand(150, 3, dtype=torch.float64, generator=stream)
    at = 10 ** (0.02 + 1.98 * draws[:, 0])
    highest = []
    for s, *ends in torch.column_stack([at, draws[:, 1:]]).tolist():
        low, high = orbit_interval(*net.layers, k, s * smallest)
        one, other = (
            net.rescaled(low * (high / low) ** math.sin(t * math.pi / 2) ** 2)
            for t in ends
        )
        highest.append(net.line(ALPHA, other, one).max().item())
    highest = torch.tensor(highest) / net.Y.square().sum()
    axis.plot(at, highest, ".", color=colour, markersize=3)
axis.set(xlabel="bound on the norms, in units of the smallest possible one")
axis.set(ylabel=r"largest loss$\,/\,\|Y\|^2$", xscale="log", yscale="log")
axis.set(ylim=(1e-6, None))
axis.legend()
figures.show("fig_bounded", figure)
figures.numbers(members=len(ratios))

# %% [markdown]
# :::{glue:figure} fig_bounded
# :alt: Largest loss on lines between two random members of the bounded orbit against the bound on the norms, on logarithmic axes, for three degrees. All dots lie below the curves of the least bound, some close to them.
#
# Largest loss on the line between two members of the bounded orbit, drawn at random with a preference for its ends (dots), and the least bound (lines), one network for each $k$ (profile {glue:text}`profile`).
# :::
#
# The bound holds for all {glue:text}`members` lines. A bound that is read in the middle, as for $k = 1$, would be exceeded for other $k$, by a factor of up to {glue:text}`max(by_middle):≤.2f`.
#
# ## Two steps of the printed proof need mending; the statement stands
#
# The proof of G, Prop. 5.3 says that $W$ and $m \cdot W$ are connected in $L^{-1}(0)$ by $\gamma(t) = ((1 - t) W_l + t W_l\, m^{-k}, \dots)$. That is the straight line, on which the loss is not 0. They are connected all the same, by the curve of {prf:ref}`prop-rescaled-line` ({claim}`G4.curve`). The other step is the choice of $m$:
#
# :::{prf:proposition} Which m gives a loss above b
# :label: prop-choice-of-m
# Let $L(W) = 0$, $Y \ne 0$, $b > 0$.
#
# 1. $m = \bigl(2^{k+1} (\sqrt b / \lVert Y \rVert + 1) - 1\bigr)^{-1/k}$ gives $L > b$ in the middle of the line.
# 2. The paper prints $m = T^k$, here with $T = 2^{k+1} (\sqrt b / \lVert Y \rVert + 1) - 1$. This gives $L > b$ for all $b$ if $k \ge 1$, so for leaky ReLU. If $k < 1$ it gives $L < b$ for all large $b$, whatever $Y$.
# :::
#
# :::{prf:proof}
# In the middle $\varphi = 2^{-(k+1)} (1 + m^{-k}) (1 + m)^k$, and $L > b$ means $\varphi > 1 + \sqrt b / \lVert Y \rVert$. (1) Here $1 + m^{-k} = 2^{k+1} (\sqrt b/\lVert Y \rVert + 1)$, so
# $\varphi = (1 + \sqrt b/\lVert Y \rVert) (1 + m)^k$.
# (2) With $m = T^k$, $T > 1$: if $k \ge 1$, $(1 + T^k)^k \ge 1 + T^{k^2} \ge 1 + T$, hence $\varphi > 2^{-(k+1)} (1 + T) = 1 + \sqrt b/\lVert Y \rVert$. In general $\varphi \le 2^{-(k+1)} \cdot 2\, (2 T^k)^k = T^{k^2}$, which
# for $k < 1$ is of a smaller order than $\sqrt b$.
# :::
#
# So the equality in G, (16) needs the exponent $-1/k$ for $k$; with the printed one it is an inequality in the right direction for $k \ge 1$.
#
# | Step of the proof (App. C) | We find | Instead |
# | --- | --- | --- |
# | "connected by curve" $\gamma$, third sentence | [the line of eq. (14)](#G4.segment): loss [[G4.segment:.3f]] $\lVert Y \rVert^2$ at $m = 4$, $k = 1$ | $(W_l\, m^{-kt}, m^t\, W_{l-1}, \dots)$, $0 \le t \le 1$ |
# | $m = T^k$ before eq. (16) | [exponent [[G4.printed_m:.1f]]](#G4.printed_m) at $k = 2$ | $m = T^{-1/k}$ |

# %% Loss on the line that should stay in the minimum
on_segment = [
    net.line(ALPHA, net.rescaled(4.0), net.layers).max() / net.Y.square().sum()
    for net in nets
    if net.k == 1
]
worst_on_line = max(on_segment, key=lambda x: abs(x - 81 / 256)).item()

# %% Loss halfway with both choices of the scale
BOUNDS, NORMS = (0.01, 1.0, 100.0, 1e4), (0.1, 1.0, 10.0)  # b, ‖Y‖
corrected, printed = [], []  # loss in the middle, divided by b
for k in DEGREES:
    for norm in NORMS:
        net = random_net(seed, "choice", k, 1).with_norm(norm)
        for b in BOUNDS:
            m = (2 ** (k + 1) * (math.sqrt(b) / norm + 1) - 1) ** (-1 / k)
            corrected.append(middle(net, m) / b)
            m = (2 ** (k + 1) * (math.sqrt(b) / norm + 1) - 1) ** k  # G, (16)
            printed.append(middle(net, m) / b)

# %% Exponent that solves equation 16
k, exponents = 2, []
for b in BOUNDS:
    for norm in NORMS:
        target = math.sqrt(b) / norm + 1
        log_m = brentq(
            lambda u, target=target: 2**-3 * (1 + math.exp(-k * u)) - target,
            -50,
            50,
            xtol=1e-14,
        )
        exponents.append(log_m / math.log(2**3 * target - 1))
worst = max(exponents, key=lambda e: abs(e + 0.5))

# %%
claims.check("G4.unbounded", corrected, rival=min(printed))
claims.check("G4.segment", worst_on_line, n=len(on_segment))
claims.check("G4.printed_m", worst, n=len(exponents))

# %% [markdown]
# With the printed $m$ the loss is below $b$ in {glue:text}`sum(ratio < 1 for ratio in printed)` of {glue:text}`len(printed)` cases, all with $k < 1$. (In the text that was read, G, (16) and (17) have $\lVert Y \rVert^2$ where $\lVert Y \rVert_2$ closes them exactly. That may be the conversion of an index; it is read as $\lVert Y \rVert_2$ here.)
#
# ## Gradient flow from balanced weights reaches no two rescalings of one network
#
# G, section 5.2 names "implicit bias" as a possible reason why such barriers are not seen in practice: "only a small part of the minima is reachable by stochastic gradient descent". In these models it is one, for gradient flow:
#
# :::{prf:proposition} What gradient flow conserves
# :label: prop-imbalance
# Gradient flow of any differentiable function of the output $W_l\, \sigma(W_{l-1} F)$, $F$ of the lower layers, conserves $\lVert r_j \rVert^2 - k \lVert w_j \rVert^2$ for every neuron $j$ with incoming weights $r_j$ and outgoing weights $w_j$, as long as $\sigma$ is differentiable at its preactivations. So it conserves the imbalance
# $\delta = \lVert W_{l-1} \rVert^2 - k \lVert W_l \rVert^2$.
#
# Let $L(W) = 0$, $Y \ne 0$, and $|\delta| \le \Delta$ at $W$ and at $m \cdot W$. The barrier between the two is at most $(\varphi^* - 1)^2 \lVert Y \rVert^2$ with the $\varphi^*$ of $m = e^{u_+ - u_-}$, where
#
# $$
# \begin{aligned}
# s\, \bigl( e^{2 u_\pm} - e^{-2k u_\pm} \bigr) &= \pm \Delta , \\
# s^{k+1} &= k\, \lVert W_l \rVert^2 \lVert W_{l-1} \rVert^{2k} .
# \end{aligned}
# $$
#
# For $k = 1$ this is $\frac14 \bigl( \sqrt{1 + \Delta^2 / 4s^2} - 1 \bigr)^2 \lVert Y \rVert^2$, $s = \lVert W_l \rVert \lVert W_{l-1} \rVert$. Both are attained on every orbit.
# :::
#
# :::{prf:proof}
# By Euler's theorem $z\, \sigma'(z) = k\, \sigma(z)$, so $\langle r_j, \partial L/\partial r_j \rangle = k \langle w_j, \partial L/\partial w_j \rangle$: both terms change at the same rate.
#
# $s$ is the same on the whole orbit, and one of its points has $\lVert W_{l-1} \rVert^2 = k \lVert W_l \rVert^2 = s$. Its rescaling by $e^u$ has $\delta = s\, (e^{2u} - e^{-2ku})$, which increases in $u$. So both points have $u_- \le u \le u_+$, and $|\ln m| \le u_+ - u_-$, with equality at the ends; the rest is
# {prf:ref}`prop-rescaled-peak`. For $k = 1$, $\delta = 2s \sinh 2u$, so $\ln m = \operatorname{arsinh} (\Delta/2s)$ and $\varphi^* - 1 = \frac{(m - 1)^2}{4m} = \frac12 (\cosh \ln m - 1)$.
# :::
#
# So there is no barrier of this kind for $\Delta = 0$: two minima that gradient flow reaches from weights at which every neuron has the number 0 are not rescalings of each other, by one $m$ or by one for each neuron ({claim}`G4.conserved`, {claim}`G4.imbalance`). For two linear layers balanced minima are the only minima that gradient flow reaches from balanced weights; between them the barrier is at most $\lVert Y \rVert^2$ for all widths if $X = I$ ({prf:ref}`prop-balanced`, {claim}`G4.balanced_any`), and for other inputs at most a number that depends on the condition of $Y X^{-1}$ ({prf:ref}`prop-inputs`, {claim}`G4.inputs`). Permutations take no more than a part of it away, unless the width is exponential in the rank ({prf:ref}`thm-exponential`).
#
# ## What it means for merging networks
#
# A high barrier need not mean that two networks differ: their layers may only be scaled differently, and their average can be arbitrarily bad although both compute the same function. This part of a barrier is an artefact of the coordinates. Bring the layers of both networks to agreed norms before averaging, which changes no function and leaves one $m$. How high a barrier is says little as long as the scales are free.
#
# As G says, the layer-wise connectivity of {cite:t}`adilova2024` is not contradicted: on a line that changes $W_l$ alone the loss is convex, hence 0 between two minima.
#
# **Read on.** [](37_permuted_barriers.ipynb): what permutations of the neurons can do about it. [](34_orbit_distance.ipynb): the same question for distances in place of losses. [](35_symmetry_curves.ipynb): curves of constant loss in place of lines.

# %% [markdown]
# ## Evidence

# %% [markdown]
# ### The curve stays in the minimum
#
# On the curve of {prf:ref}`prop-rescaled-line` the outputs stay at $Y$. For $k \ne 1$ they do not if the last layer is divided by $m^t$ instead of $m^{kt}$.

# %% Outputs on the curve
inside, outside = [], []  # ‖output − Y‖/‖Y‖
for net in nets:
    for m in SCALES.tolist():
        for t in ALPHA[::5].tolist():
            last, before = net.rescaled(m**t)  # W_l m^(−kt), m^t W_{l−1}
            miss = net.output(last, before) - net.Y
            inside.append((miss.norm() / net.Y.norm()).item())
        if net.k != 1:
            miss = net.output(net.last / m, m * net.before) - net.Y
            outside.append((miss.norm() / net.Y.norm()).item())

# %%
claims.check("G4.curve", inside, rival=min(outside))

# %% [markdown]
# ### The loss need not be 0 anywhere
#
# :::{prf:corollary} Any critical point
# :label: cor-critical-line
# If the derivative of $L$ by $W_l$ vanishes at $W$, the loss on the line is $L(W) + (\varphi(\alpha) - 1)^2 \lVert \hat Y \rVert^2$. So G, Prop. 5.3 needs no $L^{-1}(0) \ne \emptyset$: above every critical point with
# $\hat Y \ne 0$ the barrier is unbounded.
# :::
#
# :::{prf:proof}
# Along $(1 + \varepsilon) W_l$ the derivative is $-2 \langle R, \hat Y \rangle = 0$ with $R = Y - \hat Y$. In $\lVert R - (\varphi - 1) \hat Y \rVert^2$ the mixed term vanishes.
# :::
#
# The same comparison at critical points with a loss that is not 0:


# %% Loss on lines from critical points
def rise_error(net, m):
    """Forward passes against L(W) + (φ(α) − 1)² ‖Ŷ‖², by the largest loss."""
    rise = (output_factor(m, net.k, ALPHA) - 1).square()  # (a,)
    size = net.output(*net.layers).square().sum()  # ‖Ŷ‖²
    form = net.loss(*net.layers) + rise * size
    measured = net.line(ALPHA, net.rescaled(m), net.layers)
    return ((measured - form).abs().max() / measured.max()).item()


at_critical, elsewhere = [], []
for k in DEGREES:
    for n in numbers:
        net = random_net(seed, "residual", k, n, h=3, N=8)
        net = replace(net, Y=normal_stream(seed, f"targets {k} {n} (2, 8)")(2, 8))
        Z = net.sigma(net.hidden)  # (h, N)
        best = torch.linalg.lstsq(Z.T, net.Y.T, driver="gelsd").solution.T
        critical = replace(net, last=best)  # ∂L/∂W_l = 0
        at_critical += [rise_error(critical, m) for m in SCALES]
        elsewhere += [rise_error(net, m) for m in SCALES]

# %%
claims.check("G4.nonzero", at_critical, rival=min(elsewhere))

# %% [markdown]
# ### The loss is largest in the middle for degree 1 only
#
# For $k \ne 1$ the maximum of $\varphi$ is larger than its value in the middle by a factor that tends to $2^{k+1} k^k (1 + k)^{-1-k}$. Here the place of the maximum comes from the derivative of the measured loss, by bisection:

# %% Place of the largest loss
far = torch.logspace(-2, 2, 21, dtype=torch.float64)
far = far[far.log().abs() > 0.5]  # m
gaps, from_half = [], []
for k in DEGREES:
    # α* = (kB − A)/(AB(1 + k)) with A = 1 − m^(−k), B = m − 1
    star, _ = largest_factor(far, k)
    place = lambda_of_largest_loss(random_net(seed, "peak", k, 1), far)
    gaps += (place - star).abs().tolist()
    if k != 1:
        from_half += (place - 0.5).abs().tolist()

# %%
claims.check("G7.place", gaps, rival=min(from_half))

# %% Plot the loss on lines
figure, right = figures.panels(height=4.0)
m, few = 20.25, ALPHA[::5]
for k, colour in COLOUR.items():
    net = random_net(seed, "figure", k, 1)
    place, value = largest_factor(m, k)
    form = (output_factor(m, k, ALPHA) - 1) / (value - 1)
    right.plot(ALPHA, form, color=colour, label=NAME[k])
    measured = net.line(few, net.rescaled(m), net.layers).sqrt() / net.Y.norm()
    right.plot(few, measured / (value - 1), "o", color=colour, markersize=4)
    right.plot(place, 1, "*", color=colour, markersize=14)
right.axvline(0.5, color="book:grey", linestyle=":")
right.set(xlabel=r"place on the line $\alpha$")
right.set(ylabel=r"$\sqrt{L}$, in units of its maximum", ylim=(0, 1.08))
figures.show("fig_place", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_place
# :name: fig-place-of-maximum
# :alt: Root of the loss along the line for three degrees, dots on curves, stars at the maxima: left of the middle for degree one half, in the middle for degree one, right of it for degree two.
#
# Root of the loss on the line at $m = 20.25$, relative to its maximum, forward passes (dots), closed form (lines) and $\alpha^*$ (stars) (profile {glue:text}`profile`).
# :::

# %% [markdown]
# ### The lines from the network of Figure 4

# %% Plot the loss on lines and its growth
from matplotlib import colormaps

figure, (left, right) = figures.panels(2)
dense = torch.sin(torch.linspace(0, math.pi / 2, 201).double()).square()
shades = colormaps["viridis"](torch.linspace(0, 0.85, 5).tolist())
for m, shade in zip((1.5, 4.0, 16.0, 64.0, 256.0), shades, strict=True):
    values = trained.line(dense, trained.rescaled(m), trained.layers)
    left.plot(dense, values, color=shade, label=f"$m = {m:g}$")
left.set(xlabel=r"place on the line $\alpha$", yscale="log")
left.set(ylabel=r"$\|$output$\, -\, Y\|^2$")
left.set(ylim=(1e-3, 3e8))
left.legend(ncols=3, loc="upper center")
span = torch.logspace(-3, 4, 141, dtype=torch.float64)
dots = span[::10]
for (k, colour), marker in zip(COLOUR.items(), "so^", strict=True):
    net = trained if k == 1 else random_net(seed, "figure", k, 1)
    label = NAME[k] + (", G, Fig. 4" if k == 1 else "")
    highest = (largest_factor(span, k)[1] - 1).square()
    right.plot(span, highest, color=colour, label=label)
    half = (output_factor(span, k, 0.5) - 1).square()
    right.plot(span, half, "--", color=colour)
    measured = torch.tensor([middle(net, m) for m in dots.tolist()])
    measured = measured / net.Y.square().sum()
    right.plot(dots, measured, marker, color=colour, markersize=4)
right.set(xlabel="scale $m$", ylabel=r"loss$\,/\,\|Y\|^2$", xscale="log")
right.set(yscale="log", ylim=(1e-6, None))
right.plot([], [], "--", color="book:grey", label="in the middle")
right.legend(loc="upper center")
figures.show("fig_network", figure)

# %% [markdown]
# :::{glue:figure} fig_network
# :alt: First, loss along the line of the trained five-layer network for five scales, flat-topped and growing by orders of magnitude with the scale. Second, largest loss and loss in the middle against the scale on logarithmic axes for degrees one half, one and two; straight lines at both ends, the middle below the maximum except for degree one.
#
# First panel: the network of G, Fig. 4, squared loss on the line from the minimum to its rescalings; the paper's figure has the root. Second: the maximum over the line (solid), the loss in the middle by the closed form (dashed) and by forward passes (symbols); $k = 1$ is the
# network of G, Fig. 4 (profile {glue:text}`profile`).
# :::
#
# ### The least bound is reached at the ends of the orbit

# %%
claims.check("G7.sharp", near_end, rival=max(crude))

# %% [markdown]
# ### What gradient flow conserves
#
# The rates of change, and the largest barriers between members of an orbit with imbalances of at most $\Delta$:

# %% Rates of change under gradient flow
rates, with_one = [], []  # of ‖r_j‖² − k‖w_j‖², and with 1 for k
for k, n in itertools.product(DEGREES, range(networks)):
    net = random_net(seed, "flow", k, n)
    targets = normal_stream(seed, f"flow {k} {n}")(*net.Y.shape)
    last, before = (W.clone().requires_grad_() for W in net.layers)
    value = (net.output(last, before) - targets).square().sum()
    by_last, by_before = torch.autograd.grad(value, (last, before))
    r, w = (before * by_before).sum(dim=1), (last * by_last).sum(dim=0)
    size = before.norm(dim=1) * by_before.norm(dim=1)
    size = size + k * last.norm(dim=0) * by_last.norm(dim=0)
    rates += (2 * (r - k * w).abs() / size).tolist()
    with_one += (2 * (r - w).abs() / size).tolist() if k != 1 else []

# %% Largest barriers between members with bounded imbalance
to_bound, to_bound_1 = [], []  # barrier over the bound, and over that of k = 1


def end(k, x):
    """The u with e^(2u) − e^(−2ku) = x."""
    return brentq(lambda u: math.exp(2 * u) - math.exp(-2 * k * u) - x, -9, 9)


for k, n, x in itertools.product(DEGREES, range(networks), (0.1, 1.0, 10.0)):
    net = random_net(seed, "flow", k, n)
    b, a = (W.norm().item() for W in net.layers)  # ‖W_l‖ and ‖W_{l−1}‖
    s = (k * b**2 * a ** (2 * k)) ** (1 / (k + 1))  # Δ = x s
    low, high = end(k, -x), end(k, x)
    some = [high, *torch.linspace(low - 0.5, high + 0.5, 41).tolist()]
    first, found = math.exp(low) * s**0.5 / a, []
    for m in (math.exp(u) * s**0.5 / a for u in some):
        last, before = net.rescaled(m)
        if abs(before.norm() ** 2 - k * last.norm() ** 2) <= x * s * (1 + 1e-9):
            pair = net.rescaled(first), (last, before)
            found.append(largest_loss(net, *pair, m / first))
    highest = max(found) / net.Y.square().sum().item()
    phi = largest_factor(math.exp(high - low), k)[1].item()
    to_bound.append(highest / (phi - 1) ** 2)
    if k != 1:
        of_1 = (math.sqrt(1 + x**2 / 4) - 1) ** 2 / 4
        to_bound_1.append(highest / of_1)

# %%
claims.check("G4.conserved", rates, rival=torch.tensor(with_one).median().item())
nearest_1 = min(to_bound_1, key=lambda ratio: abs(ratio - 1))
claims.check("G4.imbalance", to_bound, rival=nearest_1)

# %% [markdown]
# ### Balanced minima of two linear layers
#
# For two linear layers the minimum is more than one orbit of rescalings, and what is left is bounded:
#
# :::{prf:proposition} Balanced minima
# :label: prop-balanced
# Let $Y \ne 0$ be any matrix, of rank $r$, with the singular value decomposition $Y = U \Sigma V^\top$, $\Sigma \in \mathrm{GL}_r$, and $X = I$. With $h \ge r$ hidden neurons the minima $W_2 W_1 = Y$ with $W_1 W_1^\top = W_2^\top W_2$ are
#
# $$
# W_1 = Q\, \Sigma^{1/2} V^\top, \quad W_2 = U \Sigma^{1/2} Q^\top, \quad Q^\top Q = I ,
# $$
#
# $Q$ being $h \times r$. Between those of $Q$ and $Q'$ the barrier is at most $\lVert Y \rVert^2$, the loss of the zero network, with equality for $Q' = -Q$ alone. Gradient flow of $\lVert Y - W_2 W_1 \rVert^2$ conserves $W_1 W_1^\top - W_2^\top W_2$; if from a balanced start it converges to a minimum, that is one of these.
# :::
#
# :::{prf:proof}
# With $R = W_2 W_1 - Y$, $\dot W_1 = -W_2^\top R$ and $\dot W_2 = -R\, W_1^\top$, both terms have the derivative $-W_2^\top R\, W_1^\top - W_1 R^\top W_2$.
#
# At a balanced minimum $Y^\top Y = W_1^\top W_2^\top W_2 W_1 = (W_1^\top W_1)^2$. Positive roots are unique, so $W_1^\top W_1 = V \Sigma V^\top$ and $W_1 = Q\, \Sigma^{1/2} V^\top$ with orthonormal columns of $Q$; in the same way $W_2 = U \Sigma^{1/2} \tilde Q^\top$. From $W_2 W_1 = Y$ follows $\tilde Q^\top Q = I$, and so $\tilde Q = Q$. The converse is plain.
#
# With $Q_\lambda = (1 - \lambda) Q + \lambda Q'$, $Q_\lambda^\top Q_\lambda = I - 4 \lambda (1 - \lambda) K$, $K = \frac14 (Q - Q')^\top (Q - Q')$, $0 \le K \le I$. So the loss at $\lambda$ is $16 \lambda^2 (1 - \lambda)^2 \lVert \Sigma^{1/2} K \Sigma^{1/2} \rVert^2$, at most
# $\lVert \Sigma \rVert^2 = \lVert Y \rVert^2$, since $0 \le \Sigma^{1/2} K \Sigma^{1/2} \le \Sigma$. Equality needs $K = I$.
# :::

# %% Loss halfway between balanced minima
normal = normal_stream(seed, "balanced")
Y, A, B = normal(3, 100 * networks, 4, 4)
U, s, Vh = torch.linalg.svd(Y)
W_1, W_2 = s.sqrt()[..., None] * Vh, U * s.sqrt()[:, None]  # balanced
of_kind = {}  # loss in the middle / ‖Y‖²
for kind, g in (("orthogonal", torch.linalg.qr(A).Q), ("any", B)):
    middle = (W_2 + W_2 @ torch.linalg.inv(g)) / 2 @ (W_1 + g @ W_1) / 2
    loss = (Y - middle).square().sum(dim=(-2, -1))
    of_kind[kind] = loss / Y.square().sum(dim=(-2, -1))

# %%
one_in_ten = of_kind["any"].quantile(0.9).item()
claims.check("G4.balanced", of_kind["orthogonal"], rival=one_in_ten)

# %% [markdown]
# The median over random $Y$ and $q$, $h = 4$, is {glue:text}`of_kind["orthogonal"].median().item():.2f` $\lVert Y \rVert^2$.
#
# For other widths and ranks, with the opposite frame $Q' = -Q$ once for each:

# %% Balanced minima of other widths and ranks
normal = normal_stream(seed, "balanced, any width")
highest, others = [], []  # largest loss on lines / ‖Y‖² for each size
lambdas = torch.linspace(0, 1, 21, dtype=torch.float64)[:, None, None, None]
for m, r, h in itertools.product((3, 5), (1, 2, 3), range(3, 9)):
    U, s, Vh = torch.linalg.svd(
        normal(10, m, r) @ normal(10, r, 3), full_matrices=False
    )
    U, s, Vh = U[..., :r], s[:, :r].sqrt()[..., None], Vh[:, :r]
    Q, other = torch.linalg.qr(normal(2, 10, h, r)).Q
    other[0] = -Q[0]
    frame = (1 - lambdas) * Q + lambdas * other  # (21, 10, h, r)
    product = U @ (s * (frame.mT @ frame) * s.mT) @ Vh  # W_2 W_1 at λ
    loss = (product[0] - product).square().sum(dim=(-2, -1)).amax(dim=0)
    loss = loss / product[0].square().sum(dim=(-2, -1))
    highest.append(loss.max().item())
    others.append(loss[1:].max().item())

# %%
claims.check("G4.balanced_any", highest, rival=max(others), n=10 * len(highest))

# %% [markdown]
# ### Other inputs can make the barrier larger
#
# :::{prf:proposition} Balanced minima with other inputs
# :label: prop-inputs
# Let $X, Y \in \mathrm{GL}_h$ and $W_2 W_1 X = Y$ with $h \times h$ weights and $W_1 W_1^\top = W_2^\top W_2$. Gradient flow still conserves $W_1 W_1^\top - W_2^\top W_2$. The other balanced minima are $(q W_1, W_2 q^\top)$, $q$ orthogonal. With the ratio $\kappa$ of the largest to the least singular value of $Y X^{-1}$, the barrier is at most $\frac14 (\kappa^{1/2} + \kappa^{-1/2})^2\, \lVert Y \rVert^2$. For $h \ge 2$ no smaller number
# holds for all $X$ with the same $Y X^{-1}$.
# :::
#
# :::{prf:proof}
# By {prf:ref}`prop-balanced` for $Y X^{-1}$ the balanced minima are as said, with $q = Q' Q^{-1}$; let $S = W_1 W_1^\top = W_2^\top W_2$, so that $W_1 = S^{1/2} V$ with an orthogonal $V$, and $K = \frac14 (2I - q - q^\top)$. By {prf:ref}`prop-straight` the barrier is $\lVert W_2 K W_1 X \rVert^2 = \lVert E\, S V X \rVert^2$ with $E = S^{1/2} K S^{-1/2}$, and $\lVert S V X \rVert = \lVert Y \rVert$; the eigenvalues of $S$ are the singular values of $Y X^{-1}$. $\lVert E \rVert_2$ is convex in $K$, and the $K$ with $0 \le K \le I$ are means of orthogonal projectors. For a projector $K$ other than 0 and $I$, $E$ is a projector, too, with the norm
# $1/\sin\theta$, $\theta$ the least angle between its range $S^{1/2} \operatorname{im} K$ and its kernel $S^{1/2} \ker K$. By Wielandt's inequality $\cos\theta \le \frac{\kappa - 1}{\kappa + 1}$, so $\lVert E \rVert_2 \le \frac12 (\kappa^{1/2} + \kappa^{-1/2})$.
#
# For $q = I - 2 v v^\top$, $K = v v^\top$ and $\lVert E \rVert_2 = \lVert S^{1/2} v \rVert\, \lVert S^{-1/2} v \rVert$, which is this number if $v$ is $1/\sqrt2$ times the sum of unit eigenvectors to the largest and the least eigenvalue. The barrier comes close where all columns of $S V X$ are nearly multiples of $S^{-1/2} v$.
# :::


# %% Barriers with other inputs
def middle_with_inputs(W_1, W_2, X, q):
    """The loss in the middle over the bound, and over ‖Y‖², Y = W_2 W_1 X."""
    A = W_2 @ W_1
    halfway = (W_2 + W_2 @ q.mT) @ (W_1 + q @ W_1) / 4
    loss = ((A - halfway) @ X).square().sum(dim=(-2, -1))
    loss = loss / (A @ X).square().sum(dim=(-2, -1))
    values = torch.linalg.svdvals(A)
    kappa = values[..., 0] / values[..., -1]
    return loss / ((kappa.sqrt() + 1 / kappa.sqrt()) / 2) ** 2, loss


normal = normal_stream(seed, "inputs")
A, B, X = normal(3, 100 * networks, 4, 4)
U, s, Vh = torch.linalg.svd(A)
W_1, W_2 = s.sqrt()[..., None] * Vh, U * s.sqrt()[:, None]
anyhow = middle_with_inputs(W_1, W_2, X, torch.linalg.qr(B).Q)
root = torch.diag(torch.tensor([8.0, 3.0, 2.0, 1.0]).double().sqrt())  # S^(1/2)
v = torch.tensor([1.0, 0.0, 0.0, 1.0]).double() / math.sqrt(2)
eye = torch.eye(4, dtype=torch.float64)
X = torch.linalg.matrix_power(root, -3) @ torch.outer(v, v) + 1e-4 * eye
close = middle_with_inputs(root, root, X, eye - 2 * torch.outer(v, v))
over_bound, over_Y = (
    torch.cat([x, y[None]]) for x, y in zip(anyhow, close, strict=True)
)

# %%
claims.check(
    "G4.inputs",
    over_bound.max().item(),
    rival=over_Y.max().item(),
    n=len(over_bound),
)

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# Let $k = 1$, as for ReLU. Write the barrier between $W$ and $m \cdot W$ with $u = \ln m$, and find the $m > 1$ at which it is as high as the loss of a network with output 0.
# :::
#
# :::{solution}
# In the middle $\varphi = \frac14 (1 + 1/m)(1 + m) = \frac{(1 + m)^2}{4m}$, so $\varphi - 1 = \frac{(m - 1)^2}{4m} = \sinh^2 \frac u2$ and the barrier is $\sinh^4 (\frac u2)\, \lVert Y \rVert^2$. It is $\lVert Y \rVert^2$ where $(m - 1)^2 = 4m$, at
# $m = 3 + 2\sqrt2$.
# :::
#
# :::{exercise}
# Show for general $k$ that $(\varphi^* - 1)^2 = \bigl( \frac{k (k + 1)}{8} \bigr)^2 u^4 + O(u^5)$ as $u = \ln m \to 0$: near a minimum the barrier of the rescaling is of fourth order. Check it with
# `largest_factor`.
# :::
#
# :::{solution}
# The expansion $\alpha x + \frac12 \alpha (1 - \alpha) x^2 + O(x^3)$ of $\ln(1 - \alpha + \alpha e^x)$ is needed with $x = -ku$, and $k$ times with $x = u$. The first-order terms cancel and $\ln \varphi = \frac12 k (k + 1)\, \alpha (1 - \alpha)\, u^2 + O(u^3)$. The largest
# value of $\alpha (1 - \alpha)$ is $\frac14$, so $\varphi^* - 1 = \frac18 k (k + 1)\, u^2 + O(u^3)$.
#
#     for k in (0.5, 1, 2):
#         value = largest_factor(math.exp(0.01), k)[1].item()
#         print((value - 1) / 0.01**2, k * (k + 1) / 8)
# :::
#
# ### Run it yourself
#
# :::{try}
# More networks, and a minimum after more steps; every verdict stays:
#
#     make chapter NAME=unbounded_barriers ARGS="-p networks 20 -p steps 10000"
#
# Look at {numref}`fig-growth-of-error`: the dots stay on the lines.
# :::

# %% Versions and time
print(chapter.end())
