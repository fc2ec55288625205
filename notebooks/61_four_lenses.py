# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Reordering the neurons removes most of the barrier; scale adds nothing
#
# *How much of the rise of the loss between two networks does each paper explain?*
#
# Most of it is order. Between ReLU networks on small digits, reordering neurons removes **[[100 * (1 - X1.digits_permutation):±]] %** of the rise; rescaling them changes the rest by **[[100 * (X1.digits_scale - 1):±]] %**; one merge of two neurons, through which every order can be reached, is **[[100 * X1.digits_merge:±]] %** as high. With large fixed weights **[[100 * X1.fixed_direct:±]] %** is left without reordering.
#
# :::{glue:figure} fig_answer
# :name: fig-lenses-answer
# :alt: Four shares of the barrier between two ordinary networks, on an axis from 0 to 100 per cent. A network and itself in a random order: [[100 / X1.digits_order:.0f]] per cent. With fixed weights: [[100 * X1.fixed_direct:.0f]]. After reordering: [[100 * X1.digits_permutation:.0f]]. The cheapest merge of two neurons: [[100 * X1.digits_merge:.1f]].
#
# Shares of the barrier between two ordinary networks, recorded on small digits; bars: 99.9 % intervals.
# :::
#
# **How sure.** The theorems are proved; the shares are recorded on [[n(X1.digits_permutation)]] pairs of networks with 12 neurons.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | At most half of the rise is left (ours; "likely no loss barrier", which Zhan et al. report, claims more) | [true](#X1.digits_permutation) | [[100 * X1.digits_permutation:±]] % is left (rescaled, too) |
# | "all permutations of neurons in a given layer can be performed at equal loss" (Brea et al., sec. 1) | [true, at the price of one merge](#X1.digits_merge) | [[100 * X1.digits_merge:±]] % of the barrier |
# | "paths … that lead through a ‘permutation point’" (Brea et al., abstract) | [true; from index 2 on a lower one goes round it](#P3.round) | odd permutations: no path below $(\frac14 - \frac1{2\pi})/d$ for $d$ student and $d$ teacher neurons (proved) |
# | "the error barrier … between two solutions can be arbitrarily large" (Zhao et al., sec. 5.2) | [true, but not between these](#X1.digits_scale) | rescaling changes the rest by [[100 * (X1.digits_scale - 1):±]] % |
# | With half of the incoming weights fixed at most half of the rise is left (ours; for Bürgin et al. see [53](53_asymmetric_mlps.ipynb)) | [true](#X1.fixed_direct) | [[100 * X1.fixed_direct:±]] % of the barrier is left |
# | Swap costs (Bürgin et al., (16)) tell whose place a neuron takes that a matcher moves (this book) | [open, in part](#X1.swap_predicts) | mean rank [[X1.swap_predicts:.3f]] ([[X1.swap_predicts:to]]); chance 0.5, our threshold 1/3 |
#
# **Open.** On which side of a third that rank lies: 8 core-hours. Whether balancing and matching remove a tenth or more with fixed weights: 1.5 core-hours.
#
# **For the authors.** No sentence to change.

# %% [markdown]
# :::{need}
# You need: two-layer ReLU networks and their exact loss ([](11_exact_loss.ipynb)), convex functions, orthogonal projections. Helpful: [](13_algorithm_1.ipynb), [](21_merging_neurons.ipynb), [](33_unbounded_barriers.ipynb), [](42_swap_cost.ipynb). {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $a$, $b$ | two networks, as lists of neurons |
# | $\theta$, $\theta_i$ | a network; its neuron $i$, the row $(u_i, a_i)$ of incoming and outgoing weights |
# | $\sigma$, $x$ | activation, input |
# | $\pi$, $T$ | an order of the neurons; the exchange of $i$ and $j$ |
# | $\lambda$, $L$, $B$ | place on a line, loss, {term}`barrier` |
# | $F$, $\alpha$, $\beta$ | weights that are fixed, and what is trained beside them in $a$ and $b$ |
# | $\Delta_{ij}$, $\delta_{ij}$ | {term}`swap cost`; distance to the networks in which $i$ and $j$ coincide |
# | $\gamma$, $c$, $s$ | weight of the penalty; a rescaling $c = e^s$ |
# | $m$, $M$, $d$ | neurons of a student, of the teacher, input dimension |
# | $p$, $q$, $\varphi$ | norms of two neurons' rows, $\tan\varphi = q/p$ |

# %% Parameters tags=["parameters"]
minima: int = 200  # random minima of the teacher–student problem
students: int = 60  # pairs of trained students
student_steps: int = 4000  # of their gradient descent
pairs: int = 20  # pairs of networks on digits, of each kind
images: int = 300  # digits that they are trained on, and measured on
steps: int = 800  # of their descent
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    minima=Integer(10, 100_000),
    students=Integer(8, 100_000),
    student_steps=Integer(2000, 10_000_000),
    pairs=Integer(4, 10_000),
    images=Integer(50, 1797),
    steps=Integer(150, 1_000_000),
)

import math
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.four_lenses import (
    classifier_loss,
    descend,
    draw_pairs,
    least_blind_loss,
    lost_direction,
    merge_pair,
    mirrored_pass,
    relaxed_strings,
    reordering_path,
    unexplained,
    way_through,
    with_bias,
)
from lmc_helpers.barrier import GRID, loss_barrier, refined_barrier
from lmc_helpers.data.digits import digits
from lmc_helpers.error_bars import mean_and_error, ratio_of_means
from lmc_helpers.identifiability import pca_basis, swap_costs
from lmc_helpers.matching import (
    all_permutations,
    has_types,
    match_activations,
    permute,
    row_types,
    weight_matching,
)
from lmc_helpers.permutation_points import minimise
from lmc_helpers.seeds import normal, torch_generator
from lmc_helpers.teacher_student import (
    initial_weights,
    kappa,
    population_hessian,
    population_loss,
    sample_minima,
)
from lmc_helpers.teacher_student.gradient_descent import gradient_descent

# %% Plot what was found
rows_of_answer = (
    ("X1.digits_order", "one network and itself in a random order"),
    ("X1.fixed_direct", "fixed weights, unmatched"),
    ("X1.digits_permutation", "neurons reordered"),
    ("X1.digits_merge", "cheapest merge of two neurons"),
)
answer, axis = figures.panels(height=2.5)
for row, (part, says) in enumerate(rows_of_answer):
    record = claims.recorded(part)
    ends = [100 * record[name] for name in ("value", "low", "high")]
    if part == "X1.digits_order":  # the barrier over that of a random order
        ends = [1e4 / ends[0], 1e4 / ends[2], 1e4 / ends[1]]
    value, low, high = ends
    colour = "book:blue" if part == "X1.digits_permutation" else "book:black"
    axis.plot([low, high], [-row] * 2, color=colour, linewidth=2)
    axis.plot(value, -row, "o", color=colour, clip_on=False)
    number = f"{value:.0f} %" if value > 1 else f"{value:.1f} %"
    left_of = part == "X1.digits_order"
    words = f"{says}: {number}"
    place = low - 2 if left_of else high + 2
    style = dict(va="center", ha="right" if left_of else "left", color=colour)
    axis.text(place, -row, words, **style)
axis.axvline(100, color="book:grey", linestyle=":")
axis.text(99, -2.6, "two networks, unmatched", color="book:grey", ha="right")
axis.set(xlim=(0, 110), ylim=(-3.5, 0.6), yticks=[])
axis.set(xlabel="barrier, % of that between two ordinary networks")
axis.spines["left"].set_visible(False)
axis.grid(False)
figures.show("fig_answer", answer)

# %% [markdown]
# ## One list of neurons, four questions
#
# A network with one hidden layer is a list of neurons.
# Neuron $i$ is a row $\theta_i = (u_i, a_i)$ of incoming and outgoing weights, and the network computes $\sum_i a_i\, \sigma(u_i \cdot x)$.
# Its function does not change if rows are reordered, $\theta \to \pi\theta$, nor, for ReLU, if a row is rescaled, $(u_i, a_i) \to (c\, u_i, a_i/c)$ with $c > 0$.
# So every
# trained network is one of many, and the line between two of them depends on which ones are taken. The *barrier* between $a$ and $b$ is the largest rise of the loss above the chord,
#
# $$
# \begin{aligned}
# B(a, b) = \max_{0 \le \lambda \le 1} \bigl[ & L(\lambda a + (1 - \lambda) b) \\
# & - \lambda L(a) - (1 - \lambda) L(b) \bigr] .
# \end{aligned}
# $$
#
# | Paper | looks at | asks |
# | --- | --- | --- |
# | **Z** | the line from $a$ to $\pi b$ | How low is $B(a, \pi b)$ for the best order $\pi$? |
# | **P** | networks with $\theta_i = \theta_j$ | How high are they, on a path from $\theta$ to its copy with $i$ and $j$ exchanged? |
# | **G** | curves of rescaled copies | How high is the line between two points of such a curve? |
# | **I** | weights $F$ that are fixed, and the same in all runs | What does it cost neuron $i$ to do the work of $j$? |

# %% Plot the idea
figure, (left, right) = figures.panels(2, height=4.4)
w = torch.linspace(0, 4.2, 120).double()
t = torch.linspace(-3, 3, 60).double()
out = (w[:, None] * t).tanh()  # (120, 60)
error = out[:, None] + out - (t.tanh() + (3 * t).tanh())  # (w_2, w_1, 60)
style = {"colors": "book:grey", "linewidths": 0.7}
left.contour(
    w, w, error.square().mean(dim=2), 0.002 * 3 ** np.arange(7.0), **style
)
left.plot(w, w, color="book:orange", label="P: neurons coincide")
left.plot([0.95, 3.3], [2.5, 0.85], "--", color="book:red", label="direct line")
left.plot(
    [0.95, 0.85], [2.5, 3.3], color="book:blue", label="Z: after reordering"
)
left.plot([0.95, 3.3, 0.85], [2.5, 0.85, 3.3], "o", color="book:black")
left.plot(
    0.45,
    1.9,
    "*",
    color="book:green",
    markersize=12,
    label="I: fixed weights $F$",
)
for x, y, name in (
    (1.05, 2.5, "$a$"),
    (3.4, 0.9, "$b$"),
    (0.95, 3.3, r"$\pi b$"),
):
    left.text(x, y, name)
left.set(xlabel="weight of neuron 1", ylabel="weight of neuron 2")
u = np.linspace(0.2, 4.2, 200)
right.contour(u, u, (np.outer(u, u) - 1) ** 2, [0.05, 0.3, 1, 3, 9, 30], **style)
right.plot(u, 1 / u, color="book:purple", label="G: the same function")
right.plot([0.3, 3], [1 / 0.3, 1 / 3], "--o", color="book:red", mfc="book:black")
right.plot(1, 1, "D", color="book:sky", label="balanced")
right.set(xlabel="incoming weight $u$", ylabel="outgoing weight $a$")
right.set(ylim=(0.2, 4.2))
figures.show("fig_lenses", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_lenses
# :alt: First panel, contours of the loss of two tanh neurons, symmetric about the diagonal. Two networks a and b lie near the two mirror images of the minimum; the direct line between them crosses the diagonal, where the neurons coincide; the reordered b lies next to a. A star beside the diagonal marks fixed weights, which are nearer to one side. Second panel, a hyperbola of incoming and outgoing weights with one product; a chord between two of its points crosses contours of higher loss, and the balanced point lies where both weights are equal.
#
# First: the loss of a student with two tanh neurons of one weight each, as contours; its mirror is the exchange of the neurons.
# Z moves $b$ across the mirror, P looks at the mirror, and fixed weights $F$ (I) lie on one side of it, so that it is cheaper to be there.
# Second: one ReLU neuron; a rescaled copy has the same function, and the line to it does not (G).
# :::
#
# ## The middle of an exchange is a merge of two neurons
#
# Let $T$ exchange neurons $i$ and $j$. Halfway from $\theta$ to $T\theta$ both are their mean: the line leads through a network in which they coincide, a *merge*. P's {term}`permutation points <permutation point>` are the merges with gradient 0; at minima of the teacher–student problem the middle is the top of Z's barrier.
#
# :::{prf:theorem} The middle of an exchange
# :label: thm-middle
# 1. $\bar\theta = \frac12 (\theta + T\theta)$ is the point of $\{\theta_i = \theta_j\}$ nearest to $\theta$, and computes what some network with $m - 1$ neurons computes. With $L^*_{m-1}$ the infimum of the loss over these,
#
#    $$
#    \begin{aligned}
#    B(\theta, T\theta) &\ge L(\bar\theta) - L(\theta) \\
#    &\ge L^*_{m-1} - L(\theta)
#    \end{aligned}
#    $$
#
#    whichever neurons are exchanged; and what descent finds from $\bar\theta$ among the networks with $\theta_i = \theta_j$ lies between the last two.
# 2. Let $\theta$ be a global minimum $W$ of the {term}`teacher <teacher and student>`–student problem of [](11_exact_loss.ipynb), with rows on the rays of $e_1, \dots, e_M$.
#    The loss rises up to the middle, where the rows $w_i$, $w_j$ act as one row $w_i + w_j$.
#    The barrier is 0 if they lie on one ray.
#    On different rays, with the norms $p, q > 0$ and $\tan \varphi = q/p$,
#
#    $$
#    B = \frac{\varphi\, p^2 + (\tfrac\pi2 - \varphi)\, q^2 - pq}{\pi d} .
#    $$
# :::
#
# :::{prf:proof}
# *1.*
# $T$ is orthogonal and $T^2 = I$, so that $\langle \theta - T\theta, v \rangle = \langle \theta, v - Tv \rangle = 0$ whenever $Tv = v$: the step to the middle is orthogonal to the fixed space, in which $\bar\theta$ lies.
# There $i$ and $j$ compute $(a_i + a_j)\, \sigma(\bar u \cdot x)$ together, as one neuron.
# (Where all outgoing weights are fixed to 1 and $\sigma$ is ReLU,
# $2\sigma(\bar w \cdot x) = \sigma(2 \bar w \cdot x)$.) As $L(T\theta) = L(\theta)$, the chord is constant.
#
# *2.*
# For each $x$ the output $f_\lambda(x)$ is convex in $\lambda$, as $\sigma$ is, symmetric about $\frac12$, and equal to the teacher's $f^*(x)$ at both ends.
# So $f^* - f_\lambda \ge 0$ increases up to $\lambda = \frac12$, and with it the mean of its square.
# In the middle only the error $\sigma(r \cdot x) - \sigma(w_i \cdot x) - \sigma(w_j \cdot x)$ is left, $r = w_i + w_j$; on one ray it is 0.
# Otherwise $\lVert r \rVert \cos\varphi = p$ and $\lVert r \rVert \sin\varphi = q$, and with the kernel of [](11_exact_loss.ipynb), $(\pi - \vartheta) \cos\vartheta + \sin\vartheta$ for two vectors at the angle $\vartheta$, times $\lVert u \rVert \lVert v \rVert / (2\pi d)$,
#
# $$
# \begin{aligned}
# 2\pi d\, B &= 2\pi (p^2 + q^2) + 2pq \\
# &\quad - 2 \bigl[ (\pi - \varphi) p^2 + pq \bigr] \\
# &\quad - 2 \bigl[ (\tfrac\pi2 + \varphi) q^2 + pq \bigr] \\
# &= 2 \varphi p^2 + (\pi - 2\varphi) q^2 - 2pq .
# \end{aligned}
# $$
# :::
#
# For $q \ll p$ this is $q^2/(2d)$ to leading order, the loss of *deleting* the smaller neuron: an exchange of neurons of different types costs about as much as to lose the smaller one.
#
# Is there something lower than the middle? Neurons of one weight must meet, as in the figure above. In two or more dimensions $\{w_1 = w_2\}$ is no wall: two student neurons, with a teacher of two, change places on a path that stays below their lowest merge, halfway pointing in opposite directions ({prf:ref}`prop-no-meeting`).
# But if there are as many neurons as inputs, every path to an odd reordering changes the orientation of the first layer (G) and passes a network that does not see some direction ({prf:ref}`thm-blind`).
# For $d$ student and $d$ teacher neurons this costs more than $\frac1d [\frac14 - \frac1{2\pi}]$. As $d$ grows, the lowest merge comes down to this bound, so that in the limit nothing is cheaper than a merge; every even reordering costs less ({prf:ref}`thm-price`).
#
# ## One merge buys every order
#
# P show that moves at equal loss lead from each permutation point of a layer to all others (section 4.2). For the barrier this has a consequence.
#
# :::{prf:theorem} One merge buys every order
# :label: thm-one-merge
# Let $H_{ij}$ be the largest loss on the straight way from $\theta$ to its merge, the middle $\bar\theta$ of the exchange of $i$ and $j$.
# For every order $\pi$ there is a path from $\theta$ to $\pi\theta$ on which the loss never exceeds $\min_{ij} H_{ij}$.
# So any $a$ and $b$ are joined by a path on which it never exceeds the larger one of
# $\min_{ij} H_{ij}(b)$ and the largest loss on the line from $a$ to $\pi b$.
# :::
#
# :::{prf:proof}
# Go straight to the cheapest merge.
# There $i$ and $j$ have equal incoming weights, so that $j$ can hand its outgoing ones to $i$ at equal loss.
# Now $a_j = 0$ and $u_j$ is free: let it take the incoming weights of any neuron $k$, then its outgoing ones, again at equal loss.
# Now $k$ is free, and stands where $j$ stood.
# Like tiles around a hole, the $m - 1$ neurons reach every
# arrangement over the $m$ places, in particular that of $\pi\bar\theta$ up to the last handing over, which is undone. The straight way from $\pi\bar\theta$ to $\pi\theta$ is the image of the first one. A path from $a$ to $\pi b$ to $b$ is the second statement.
# :::
#
# In the teacher–student problem with $m > M$ a global minimum has two rows on one ray, or a row 0.
# Their merge costs nothing, and so every order is reached at loss 0 (a row hands its length to another one on its ray).
# The barriers of {prf:ref}`thm-middle` are then those of straight lines only; P's heights are 0.
# At $m = M$ no two rows share a ray, and the first merge has a price.
# Between minima whose rows differ in type some barrier is left, whatever the order ({prf:ref}`thm-types`).
#
# ## One quadratic form links three papers
#
# In a layer $F + W$ with fixed part $F$ (I, (2), with $D = 1$ and inputs that span the space) neuron $i$ needs the trained weight $b_j - f_i$ to act as row $j$ of $b$, and the price of this is its square. The *swap cost* of $i$ and $j$ is what their exchange adds to the sum,
#
# $$
# \begin{aligned}
# \Delta_{ij} &= \lVert Tb - F \rVert^2 - \lVert b - F \rVert^2 \\
# &= 2\, \langle b_i - b_j,\, f_i - f_j \rangle .
# \end{aligned}
# $$
#
# :::{prf:theorem} One number
# :label: thm-number
# 1. *I and weight matching.* With $F = a$ the cheapest reassignment of $b$ is weight matching to $a$, and $\Delta_{ij}$ is what an exchange adds to $\lVert a - b \rVert^2$.
# 2. *I and P.* With $F = b$, $\Delta_{ij} = \lVert b - Tb \rVert^2 = 4 \delta_{ij}^2$, where $\delta_{ij}$ is the distance from $b$ to the networks with $b_i = b_j$.
# 3. *The penalty in the middle* is $\lVert \bar b - F \rVert^2 = \lVert b - F \rVert^2 + \frac12 \Delta_{ij} - \delta_{ij}^2$ for every $F$.
# 4. *When fixed weights decide.* If $a = F + \alpha$ and $b = F + \beta$ share $F$, weight matching gains nothing by exchanging $i$ and $j$ as soon as
#
#    $$
#    \Delta_{ij} \ge 2\, \lVert b_i - b_j \rVert\, \lVert \alpha_i - \alpha_j \rVert .
#    $$
# :::
#
# :::{prf:proof}
# *1* is the definition of weight matching, which minimises $\lVert a - \pi b \rVert^2$.
# *2.*
# $\Delta_{ij} = 2 \lVert b_i - b_j \rVert^2 = \lVert b - Tb \rVert^2$, and the distance is half of $\lVert b - Tb \rVert$ by {prf:ref}`thm-middle`.
# *3* is the parallelogram law for $b - F$ and $Tb - F$, whose mean is $\bar b - F$ and whose difference has twice the distance as its norm.
# *4.*
# By *1* with $a = F + \alpha$ the exchange adds
# $\Delta_{ij} + 2 \langle b_i - b_j, \alpha_i - \alpha_j \rangle$; apply Cauchy and Schwarz.
# :::
#
# So three questions meet in one quadratic form.
# Weight matching makes it small over all orders, P asks how far the mirror is, and I asks for fixed weights that make it large, so that a neuron has a place of its own in every run.
# What the *loss* does between is another matter; this is what the rest of the chapter measures.
#
# ## Scale has a normal form
#
# :::{prf:theorem} Balance
# :label: thm-balance
# Let the neurons be ReLU.
#
# 1. The copies $(c\, u, a/c)$ of a neuron with $u, a \ne 0$ contain exactly one *balanced* one, $\lVert u \rVert = \lVert a \rVert$, and it is the one of least norm.
# 2. At a local minimum of $L + \frac\gamma2 \lVert \theta \rVert^2$, $\gamma > 0$, all neurons are balanced.
# 3. Halfway between $\theta$ and its copy rescaled by $c_i = e^{s_i}$ the contribution of neuron $i$ is multiplied by $\cosh^2(s_i/2)$.
# 4. If $b$ is a reordered and rescaled copy of $a$, then $B = 0$ after balancing both and weight matching.
# :::
#
# :::{prf:proof}
# *1.*
# $c^2 \lVert u \rVert^2 + \lVert a \rVert^2 / c^2 \ge 2 \lVert u \rVert \lVert a \rVert$ with equality for $c^2 = \lVert a \rVert / \lVert u \rVert$ only.
# *2.*
# Rescaling keeps $L$; by *1* a neuron that is not balanced can be made smaller, also if $u$ or $a$ is 0 and the other is not.
# *3.*
# $\frac12 (1 + e^{s}) \cdot \frac12 (1 + e^{-s}) = \cosh^2 \frac s2$.
# *4.*
# By *1* the balanced copies are equal up to the
# order, and weight matching brings their distance to 0.
# :::
#
# *2* joins G and I: the penalty that gives I's costs their meaning also takes away the freedom from which G's high barriers come. (Rows with fixed parts are not balanced by it.) *3* is G's (15) for $k = 1$: a barrier without bound needs neurons of very different scale.
#
# ## Order is most of the barrier
#
# Networks of 12 ReLU neurons with biases learn small digits on the cross-entropy with the penalty $\frac\gamma2 \lVert \theta \rVert^2$, until the rate has fallen to 0; in others half of the incoming weights are fixed. Five questions, and the recorded answers:
#
# | Question | Answer | Recorded |
# | --- | --- | --- |
# | What does {term}`weight matching` leave? | [less than half](#X1.digits_permutation) | [[100 * X1.digits_permutation:±]] % |
# | How far apart is a network from itself in a random order? | [as far](#X1.digits_order) | the pairs are [[X1.digits_order:±]] times as far apart |
# | What does scale add? | [nothing to speak of](#X1.digits_scale) | [[100 * (X1.digits_scale - 1):±]] % of what is left |
# | How high is the cheapest merge? | [very low](#X1.digits_merge) | [[100 * X1.digits_merge:±]] % |
# | How high is the line with fixed weights, unmatched? | [less than half](#X1.fixed_direct) | [[100 * X1.fixed_direct:±]] % |
#
# To the line, order is most of the difference there is. In some networks the penalty has left a neuron that does next to nothing, and such a neuron is a free place: hence the cheap merge.

# %% Balance, and match
INPUTS = 65  # 64 pixels and a 1


def balance(theta):
    """The balanced copy of every neuron (u_i, a_i); one that does nothing is 0."""
    u, a = theta[..., :INPUTS], theta[..., INPUTS:]
    size, out = u.norm(dim=-1, keepdim=True), a.norm(dim=-1, keepdim=True)
    geometric = (size * out).sqrt()
    tiny = torch.finfo(theta.dtype).tiny
    parts = (
        u * geometric / size.clamp(min=tiny),
        a * geometric / out.clamp(min=tiny),
    )
    return torch.cat(parts, dim=-1)


def match(a, b):
    """b in the order that brings its weights nearest to those of a."""
    return permute(b, weight_matching(a, b))


# %% Train the networks, and measure their barriers
NEURONS, GAMMA = 12, 1e-3
SIGMAS = (None, 0.3, 1.0)  # no fixed weights, weak ones, strong ones
pixels, labels = digits(images)  # the same ones at every seed
x = with_bias(pixels)  # (images, 65)
loss = classifier_loss(x, labels)


in_float32 = classifier_loss(x.float(), labels)  # to train with


@cache
def after(steps, seed, sigma):
    """Pairs of networks of one kind, after a descent."""
    start = draw_pairs(pairs, NEURONS, 64, seed, sigma)
    return descend(start, in_float32, steps, GAMMA)


def trained(seed, sigma=None):
    """Pairs of networks of one kind, at their end."""
    return after(steps, seed, sigma)


def random_orders(n, seed, purpose):
    """Permutations (n, NEURONS)."""
    generator = torch_generator(seed, purpose)
    return torch.rand(n, NEURONS, generator=generator).argsort(dim=1)


@cache
def barriers_after(steps, seed, sigma):
    """Barriers (pairs,) by what is done to the networks first."""
    a, b = after(steps, seed, sigma).theta.unbind(dim=1)  # (pairs, m, 75)
    other = {
        "as it is": (a, b),
        "a in a random order": (a, permute(a, random_orders(pairs, seed, "own"))),
        "matched": (a, match(a, b)),
        "balanced": (balance(a), balance(b)),
        "balanced, matched": (balance(a), match(balance(a), balance(b))),
    }
    return {
        name: loss_barrier(loss, *ends).numpy() for name, ends in other.items()
    }


def barriers(seed, sigma=None):
    """Barriers between the networks of pairs of one kind, at their end."""
    return barriers_after(steps, seed, sigma)


# %% Swap costs and squared distances
a, b = trained(seed).theta.unbind(dim=1)
p = a.shape[-1]
eye = torch.eye(p, dtype=torch.float64)
costs = swap_costs(a, torch.ones_like(a), b - a, eye)  # Δ_ij, I's (16), F = a
identity, mistaken = [], []
for i, j in combinations(range(NEURONS), 2):
    Tb = b.clone()
    Tb[:, [i, j]] = b[:, [j, i]]
    change = (a - Tb).square().sum(dim=(1, 2)) - (a - b).square().sum(dim=(1, 2))
    identity.append((costs[:, i, j] - change).abs().max())
    mistaken.append(((b - Tb).square().sum(dim=(1, 2)) - change).abs().max())
largest = costs.abs().max()


# %% The cheapest merge
def to_merge(theta, i, j, places=(0.25, 0.5, 0.75, 1)):
    """The largest loss on the straight way to the merge of i and j."""
    middle = merge_pair(theta, i, j)
    return torch.stack([loss(torch.lerp(theta, middle, s)) for s in places]).amax(
        0
    )


def cheapest_merge(theta):
    """The pair with the lowest merge, and the largest loss on the way, (N,)."""
    every = list(combinations(range(NEURONS), 2))
    heights = torch.stack([to_merge(theta, *pair) for pair in every])  # (66, N)
    lowest = heights.min(dim=0)
    return [every[k] for k in lowest.indices], torch.maximum(
        lowest.values, loss(theta)
    )


# %% The questions, as ratios of means
def share(part, whole, *arguments):
    """One mean barrier over another, with its error; the same pairs."""
    found = barriers(*arguments)
    return ratio_of_means(found[part], found[whole], paired=True)


@cache
def merge_heights(seed):
    """Height of the cheapest merge above the network, mean over each pair."""
    theta = trained(seed).theta.flatten(0, 1)
    return (
        (cheapest_merge(theta)[1] - loss(theta))
        .view(pairs, 2)
        .mean(dim=1)
        .numpy()
    )


questions = {
    "permutation": lambda seed: share("balanced, matched", "as it is", seed),
    "order": lambda seed: share("as it is", "a in a random order", seed),
    "scale": lambda seed: share("balanced, matched", "matched", seed),
    "merge": lambda seed: ratio_of_means(
        merge_heights(seed), barriers(seed)["as it is"], paired=True
    ),
}

# %%
permutation, order, _, merge = (ask(seed) for ask in questions.values())
of_pairs = {"of": seed, "again": seed + 1, "n": pairs}
claims.check("X1.digits_permutation", questions["permutation"], **of_pairs)
claims.check("X1.digits_order", questions["order"], **of_pairs)
claims.check("X1.digits_scale", questions["scale"], **of_pairs)
claims.check("X1.digits_merge", questions["merge"], **of_pairs)


# %% Descend below the middle of exchanges
@cache
def exchanges(seed):
    """Heights of the middle of a random exchange, and of the point below it."""
    done = trained(seed)
    chosen = random_orders(2 * pairs, seed, "exchanges").view(pairs, 2, -1)
    i, j = chosen[..., :1], chosen[..., 1:2]  # two neurons of each network
    number = torch.arange(NEURONS).expand(pairs, 2, -1)
    both = ((number == i) | (number == j))[..., None]
    mean = (done.theta * both).sum(dim=2, keepdim=True) / 2
    middle = torch.where(both, mean, done.theta)
    ends = {}
    for name, theta, places in (
        ("free", done.theta, None),
        ("held", middle, number.scatter(2, j, i)),
    ):
        start = replace(done, raw=theta.float())
        ends[name] = descend(start, in_float32, steps, GAMMA, places).theta
    penalised = [
        loss(theta) + GAMMA / 2 * theta.square().sum(dim=(-2, -1))
        for theta in (done.theta, middle, ends["free"], ends["held"])
    ]
    at, top, free, held = (value.mean(dim=1).numpy() for value in penalised)
    return top - at, held - free


def saddle_over_middle(seed):
    middle, below = exchanges(seed)
    return ratio_of_means(below, middle, paired=True)


# %% Rank the swap costs of moved neurons
@cache
def swap_ranks(seed, sigma=0.3):
    """Ranks of the swap costs of moved neurons in [0, 1], and who moved."""
    done = trained(seed, sigma)
    hidden = torch.relu(x @ done.theta[..., :INPUTS].mT)  # (pairs, 2, images, m)
    p = match_activations(hidden[:, 0], hidden[:, 1])  # (pairs, m)
    F, D = (
        part.double()[..., :INPUTS].expand(-1, 2, -1, -1)
        for part in (done.F, done.D)
    )
    raw = done.raw.double()[..., :INPUTS]
    costs = swap_costs(F, D, raw, pca_basis(x)).mean(dim=1)  # (pairs, m, m)
    cost = costs.gather(2, p[..., None])  # of each neuron with its partner
    lower = (costs < cost).sum(dim=2) - (cost[..., 0] > 0).long()  # not itself
    moved = p != torch.arange(NEURONS)
    return (lower / (NEURONS - 2)).numpy(), moved.numpy()


def mean_rank(seed):
    rank, moved = swap_ranks(seed)
    return ratio_of_means(
        (rank * moved).sum(axis=1), moved.sum(axis=1), paired=True
    )


def fixed_over_ordinary(seed):
    fixed, ordinary = (barriers(seed, sigma)["as it is"] for sigma in (1.0, None))
    return ratio_of_means(fixed, ordinary)


def fixed_aligned(seed):
    return share("balanced, matched", "as it is", seed, 1.0)


# %%
by_fixing, after_fixing = fixed_over_ordinary(seed), fixed_aligned(seed)
ranks = mean_rank(seed)
claims.check("X1.fixed_direct", fixed_over_ordinary, **of_pairs)
claims.check("X1.fixed_aligned", fixed_aligned, **of_pairs)
claims.check("X1.swap_predicts", mean_rank, **of_pairs)

# %% [markdown]
# ## Each paper explains a part, and none contradicts another
#
# | Paper | explains of these barriers | leaves open |
# | --- | --- | --- |
# | **Z** | Order: [[100 * (1 - X1.digits_permutation):.1f]] % on digits, [[100 * (1 - X1.students_permutation):.1f]] % between students, and what is left there exactly; for wide students the rate of both ({prf:ref}`thm-direct`), for many teachers the best order's limit ({prf:ref}`thm-best`); how many zero neurons more make two minima one valley, and what fewer leave ({prf:ref}`thm-zero-rows`, {prf:ref}`cor-zero-rows`) | what the best order leaves on digits; neurons kept apart lead from there to the ensemble ({prf:ref}`prop-padding`), by a law that is not proved |
# | **P** | The middle of every exchange; every order for the price of a merge, which a sum of two squares bounds for near neurons ({prf:ref}`thm-height`); which permutation points are passes, those of index 1 ({prf:ref}`thm-round`), and how many ({prf:ref}`thm-by-index`) | how high the straight line is |
# | **G** | Lines between rescaled copies; what an exchange costs at least on any path, by the orientation of the first layer ({prf:ref}`thm-blind`); for one rescaled neuron behind more hidden layers no order of all layers lowers the power of the scale, only its constant, unless it puts that neuron to sleep ({prf:ref}`thm-all-layers`) | nearly all of these barriers; where two descents end is known for linear networks with a skip connection ({prf:ref}`thm-small-branch`), which says nothing of the straight line |
# | **I** | Why fixed weights lower the line, to [[100 * X1.fixed_direct:.0f]] %: they give each neuron a place. In part which neurons move; in chapter 42 random initial weights, which cost nothing, tell that equally well ({claim}`I3.places_unpriced`). A start that hides the fixed weights tells start from cost ({prf:ref}`thm-start`); for costs to show, decay must exceed a least value ({prf:ref}`thm-clocks`) | whether start or cost does it here ({claim}`I3.hidden_printed`) |
#
# None of this contradicts a theorem of the four papers. Their statements are about different lines and paths between the same points:
# an aligned line is low, and from the aligned copy back to the network itself it costs one merge (Z against P);
# with a spare neuron that price is 0, and the barrier of an exchange is not a saddle between minima (P);
# unbounded barriers exist in every {term}`orbit`, but the penalty leads to its balanced point, and from one balanced minimum of two linear layers to another ($X = I$) the barrier is at most the loss of the zero network (G, {prf:ref}`prop-balanced`);
# neurons that weight matching leaves in place can still be matched better (I).
#
# ## Ask for a path, not for a straight line
#
# Most of the barrier comes from insisting on a straight line: on it, neurons meet that have nothing to do with each other. Relabelling them with a matcher, or fixing weights so that each neuron has a place of its own, removes most of it; balance first, for scale costs nothing to remove.
# If a path is enough, the second network can keep its own order: go straight from the first to the matched copy, merge two neurons, rearrange at equal loss, and part them again. The order still has to be found.
#
# **Read on.** [](56_matchers.ipynb) has more matchers and larger networks; [](52_permutation_saddles_on_mnist.ipynb) follows P's merges to convergence; [](53_asymmetric_mlps.ipynb) does I's experiment at more scales of the fixed weights.
#
# ## Evidence
#
# ### All exchanges in random minima
#
# All pairs of neurons of random {term}`minima <minimum>` ({prf:ref}`thm-middle`), the barrier searched along the line:


# %% Exchange all pairs of neurons
def exchange_barrier(p, q, d):
    """B(W, TW) for rows of norms p and q on different rays."""
    phi = torch.atan2(q, p)
    return (phi * p**2 + (math.pi / 2 - phi) * q**2 - p * q) / (math.pi * d)


rows, M = 6, 3  # neurons of students, of the teacher, in d = M dimensions
W = sample_minima(rows, M, M, minima, seed)  # (minima, rows, M)
kinds, norms = row_types(W), W.norm(dim=-1)
found, exact, smaller = [], [], []  # one row an exchange
for i, j in combinations(range(rows), 2):
    swap = torch.arange(rows)
    swap[[i, j]] = swap[[j, i]]
    line = refined_barrier(lambda V: population_loss(V, M), W, W[:, swap])
    formula = exchange_barrier(norms[:, i], norms[:, j], d=M)
    other = kinds[:, i] != kinds[:, j]
    found.append(line)
    exact.append(formula * other)
    smaller.append(norms[:, [i, j]].amin(dim=1) ** 2 / (2 * M) * other)
found, exact, smaller = map(torch.stack, (found, exact, smaller))

# %%
unit = 1 / (2 * M)  # the loss of one teacher neuron
off = (found - exact).abs().max().item() / unit
deleted = (found - smaller).abs().max().item() / unit
claims.check("X1.exchange", off, n=minima, rival=deleted)

# %% [markdown]
# ### The price of an exchange
#
# With as many students as teachers, $m = M$, P's question has an answer of its own: the minima are isolated, and the networks with $w_i = w_j$ are students with one neuron too few.
#
# :::{prf:proposition} The lowest merge of two students
# :label: prop-lowest
# For $m = M = 2$ the least loss with $w_1 = w_2$ is $\frac1d \bigl[ 1 + \frac1\pi - (\frac34 + \frac1\pi)^2 \bigr]$, against $\frac1d \bigl[ \frac12 - \frac1\pi \bigr]$ in the middle of the line.
# :::
#
# :::{prf:proof}
# Together the two are one student $r$, of norm $\rho$, at the angles $\psi, \psi'$ to $e_1, e_2$, and
#
# $$
# \begin{aligned}
# 2\pi d\, L &= \pi \rho^2 - 2\rho\, [J(\psi) + J(\psi')] \\
# &\quad + 2\pi + 2, \\
# J(\psi) &= \sin\psi + (\pi - \psi) \cos\psi .
# \end{aligned}
# $$
#
# $J$ decreases. Both angles are smallest for $r$ in the quadrant of $e_1$ and $e_2$, where $\psi' = \frac\pi2 - \psi$. There $g(\psi) = J(\psi) + J(\psi')$ has
# $g' = (\frac\pi2 + \psi) \cos\psi - (\pi - \psi) \sin\psi$, positive for $\psi < \frac\pi4$: the tangent is convex, so $\tan\psi \le \frac4\pi \psi$, and
#
# $$
# \begin{aligned}
# \tfrac\pi2 + \psi &- \tfrac4\pi \psi (\pi - \psi) \\
# &= \tfrac4\pi (\tfrac\pi4 - \psi)(\tfrac\pi2 - \psi) > 0 .
# \end{aligned}
# $$
#
# So $g \le g(\frac\pi4) = \sqrt2\, (1 + \frac{3\pi}4)$, and the best $\rho$ is $g/\pi$, with
# $2\pi d\, L = 2\pi + 2 - g^2/\pi$.
# :::
#
# Must the two meet? As at P's permutation points of index 2 or more ({prf:ref}`thm-round`) there is a lower way round it:
#
# :::{prf:proposition} Two students change places without meeting
# :label: prop-no-meeting
# For $m = M = 2$ some path from $(e_1, e_2)$ to $(e_2, e_1)$ has no loss above $\frac1d \bigl[ \frac38 - \frac2{\pi^2} \bigr]$, which is less than wherever $w_1 = w_2$. Halfway the students point in opposite directions.
# :::
#
# :::{prf:proof}
# Let $u = (e_1 + e_2)/\sqrt2$ and take $(a u, -b u)$ as the middle. $\sigma(u \cdot x)$ and $\sigma(-u \cdot x)$ are orthogonal, so the best $a$ is $2 J(\frac\pi4)/\pi$, that of {prf:ref}`prop-lowest`, and the best $b$ is $2 J(\frac{3\pi}4)/\pi > 0$, with
#
# $$
# 2\pi d\, L = 2\pi + 2 - \tfrac4\pi \bigl[ J(\tfrac\pi4)^2 + J(\tfrac{3\pi}4)^2 \bigr] = \tfrac{3\pi}4 - \tfrac4\pi .
# $$
#
# So $d\, L < 0.1724$ there, and $d\, L > 0.1770$ wherever $w_1 = w_2$ ({prf:ref}`prop-lowest`). The reflection of the space that exchanges $e_1$ and $e_2$ keeps the middle and the loss. So let one half of the path be the straight line from the middle to $(e_1, e_2)$, the other its mirror image; the loss falls along the line:
#
# On it $w_1 + w_2 = e_1 + e_2$, as $a - b = \sqrt2$. With $\sigma(z) = \frac12 (z + |z|)$, $|p + q| + |p - q| = 2 \max(|p|, |q|)$ and the independent $P, Q = (x_1 \pm x_2)/\sqrt2$ of standard normal inputs, at the place $s \in [0, 1]$
#
# $$
# \begin{gathered}
# d\, L = \tfrac12 \mathbb E (f - F)^2, \quad F = \max(|P|, |Q|), \quad f = \max(|P|, |Z|), \\
# Z = \kappa (1 - s) P + s Q, \quad \kappa = \tfrac{a + b}{\sqrt2} = \tfrac12 + \tfrac2\pi > 1 .
# \end{gathered}
# $$
#
# So $\mathbb E (f - F) f' < 0$ for $0 < s < 1$ is to be shown, with $f' = \partial f/\partial s$. $-(P, Q)$ has the same $f$ and $F$, so let $P > 0$. Let $s_0 = \frac{\kappa - 1}{\kappa + 1}$.
#
# *If $s \ge s_0$,* then $(f - F) f' \le 0$ everywhere, and $< 0$ where $f > F$. For $f$ is convex in $s$ and ends at $F$, so that $f' \le (F - f)/(1 - s)$ where $f \ge F$. Where $f < F$, $F = |Q| > P$. There $f' = 0$ if $|Z| < P$. If $Z < -P$, then $Q < 0$ and $f' = \kappa P - Q > 0$. If $Z > P$, then $f' = Q - \kappa P \ge 0$: otherwise $P < Q < \kappa P$, where $Z \ge Q = F$, or $Q < -P$, where $Z \le (\kappa - (\kappa + 1) s) P \le P$.
#
# *If $0 < s \le s_0$,* let $t = Q/P$, $z = Z/P = \kappa + s (t - \kappa)$, $\mu = \max(1, |t|)$ and $T = \frac{\kappa - 1}s - \kappa \ge 1$. In polar coordinates $\frac\pi2 \mathbb E (f - F) f'$ is the integral of
# $(|z| - \mu)(t - \kappa) \operatorname{sgn}(z)\, 1\{|z| > 1\}$ over $dt/(1 + t^2)^2$. For $t > -T$, where $z > 1$, this is $(z - \mu)(t - \kappa)$, whose integral over all $t$ is $s \int (t - \kappa)^2 = \frac\pi2 (1 + \kappa^2) s$, as with this weight $\int \kappa = \int \mu = \frac\pi4 + 1$. For $t = -\tau < -T$ it is less than that by $(\tau - z)(\tau + \kappa)$ if $|z| \le 1$ and by $2\tau (\tau + \kappa)$ if $z < -1$, both at least $\tau^2 - 1$. Hence
#
# $$
# \begin{aligned}
# \tfrac\pi2 \mathbb E (f - F) f' &\le \tfrac\pi2 (1 + \kappa^2) s - \int_T^\infty \frac{\tau^2 - 1}{(1 + \tau^2)^2}\, d\tau \\
# &< \frac{1}{2 (T + \kappa)} - \frac{T}{1 + T^2} \le 0 ,
# \end{aligned}
# $$
#
# as $s = \frac{\kappa - 1}{T + \kappa}$, $\frac\pi2 (1 + \kappa^2)(\kappa - 1) \approx 0.492 < \frac12$ and $1 + T^2 \le 2T (T + \kappa)$.
# :::
#
# In three dimensions or more they pass each other lower still:
#
# :::{prf:proposition} Through the third dimension
# :label: prop-third
# For $m = M = 2$ and $d \ge 3$ some path from $(e_1, e_2)$ to $(e_2, e_1)$ has no loss above $\frac1d \min_\alpha \bigl[ 1 + \frac1\pi - \frac{4 J(\psi)^2}{\pi (\pi + J(2\alpha))} \bigr] < 0.1473/d$, where $\cos\psi = \cos\alpha / \sqrt2$.
# :::
#
# :::{prf:proof}
# Let $v = (e_1 - e_2)/\sqrt2$ and take the students $\rho\, (\cos\alpha\, u \pm \sin\alpha\, n)$, $n = \sqrt{1 - s^2}\, e_3 + s v$, at the angles $\psi_\pm$ to $e_1$, $\cos\psi_\pm = (\cos\alpha \pm s \sin\alpha)/\sqrt2$. With the best $\rho$,
#
# $$
# 2\pi d\, L = 2\pi + 2 - \frac{2 [J(\psi_+) + J(\psi_-)]^2}{\pi + J(2\alpha)} ,
# $$
#
# which is the formula at $s = 0$, least at $\alpha_0 \approx 0.504$, and 0 at $s = 1$, $\alpha = \frac\pi4$: the minimum. As a function of the cosine $J$ is convex, so that the sum is even and convex in $s$, and from $(0, \alpha_0)$ to $(1, \alpha_0)$ the loss falls.
# At $s = 1$ the sum $J(\frac\pi4 - \alpha) + J(\frac\pi4 + \alpha)$, whose slope is $\sqrt2\, (\alpha \cos\alpha - \frac{3\pi}4 \sin\alpha)$, and $\pi + J(2\alpha)$ fall with $\alpha$. The one at the right and the other at the left end of $[0.5, 0.6]$, $[0.6, 0.68]$ and $[0.68, \frac\pi4]$ bound the loss by $0.13/d$.
# The reflection that exchanges $e_1$ and $e_2$ keeps the point at $s = 0$, so that the mirror image of this half is the other one.
# :::
#
# What bounds the price from below is the sign that separates the components of G's linear networks ({prf:ref}`thm-obstruction`). It asks neither for linearity nor for a special loss:
#
# :::{prf:theorem} Orientation
# :label: thm-blind
# Let the first hidden layer of a network take $z \in \mathbb R^d$ to $g(Wz + b)$ with as many neurons as inputs, $W \in \mathbb R^{d \times d}$; $g$ and what follows are arbitrary.
# Every path in its parameters to a copy with an odd permutation of this layer, or to any network with the other sign of $\det W$, holds a network $f$ that is *blind* to a direction $x \ne 0$: $f(z + tx) = f(z)$ for all $z$ and $t$.
# So if $L = \mathbb E\, (f - y)^2$, the largest loss on the path is at least $\inf_x \mathbb E \operatorname{Var}(y \mid P_x z)$, $P_x$ the projection along $x$ to $x^\perp$. With one neuron more, two matrices $W$ of rank $d$ are joined by matrices of rank $d$.
# :::
#
# :::{prf:proof}
# An odd permutation of the rows changes the sign of $\det W$. Where it is 0, $Wx = 0$ for some $x \ne 0$, and $f(z) = f(P_x z)$, so that $f$ cannot do better than the conditional mean. The last statement is {prf:ref}`thm-widths`.
# :::
#
# The inputs here are random: functions of $P_x z$ may well fit finitely many samples. For the teacher the infimum has a bound, which more and more teachers reach:
#
# :::{prf:theorem} The price of an exchange
# :label: thm-price
# Let $m = M = d$, and let $p_M$ be the infimum, over paths from a global minimum to its copy with two neurons exchanged, of the largest loss.
#
# 1. Every path to an odd reordering reaches a loss above $\frac1d \bigl[ \frac14 - \frac1{2\pi} \bigr]$, also in any other network with $d$ neurons in its first hidden layer, measured against this teacher.
# 2. $d\, p_M \to \frac14 - \frac1{2\pi}$ as $M \to \infty$, and so does $d$ times the lowest loss with $w_1 = w_2$.
# 3. $p_2 = \frac1d \bigl[ \frac38 - \frac2{\pi^2} \bigr]$.
# 4. For $M \ge 3$ every even reordering has a path below $\frac1d \bigl[ \frac32 - \frac9{2\pi} \bigr]$, three quarters of the bound. So at all levels between, the $M!$ orders lie in two pieces of $\{L < \ell\}$, one for each orientation.
# :::
#
# :::{prf:proof}
# *1.*
# Let $z$ be standard normal, which multiplies the loss by $d$, $|x| = 1$, and let $z'$ differ from $z$ along $x$ only, where it is drawn anew. Then $\mathbb E \operatorname{Var}(f^* \mid P_x z) = \mathbb E f^*(z)^2 - \mathbb E f^*(z) f^*(z')$, and $z_i$, $z'_j$ have the covariance $\delta_{ij} - x_i x_j$.
# Two standard normal numbers of covariance $r$ have $\mathbb E\, \sigma \sigma' = \frac r4 + e(r)$, $e(r) = \frac1{2\pi} [\sqrt{1 - r^2} + r \arcsin r] = \sum_k c_k r^{2k}$ with all $c_k > 0$, as $e'' = 1/(2\pi \sqrt{1 - r^2})$. With $q_i = x_i^2$, $\sum q_i = 1$,
#
# $$
# \begin{gathered}
# \mathbb E \operatorname{Var}(f^* \mid P_x z) = \tfrac14 \bigl( \textstyle\sum x_i \bigr)^2 + \sum_{k \ge 1} c_k G_k , \\
# G_k = \sum_i \bigl[ 1 - (1 - q_i)^{2k} \bigr] - \sum_{i \ne j} q_i^k q_j^k .
# \end{gathered}
# $$
#
# Draw $2k$ independent numbers that are $i$ with probability $q_i$. The first sum is the mean number of different ones among them. The second is the probability that the first $k$ agree and the last $k$ agree on another one, in which case there are two. So $G_k \ge 1$, and if $k \ge 2$ equality holds for $x = \pm e_i$ only, where $(\sum x_i)^2 = 1$. Hence the variance is above $\sum_{k \ge 1} c_k = e(1) - e(0) = \frac14 - \frac1{2\pi}$, and so is its minimum over $x$.
#
# *2.*
# Where $w_1 = w_2$ the determinant is 0, so only upper bounds are left. With $n = M - 1$ let $w_1 = (1 - t) e_1$ and $w_i = e_i + \frac tn (e_i + e_1)$, $0 \le t \le 1$. The error is $-t \sigma(z_1) + \sum_{i \ge 2} [\sigma(z_i + h_i) - \sigma(z_i)]$ with $h_i = \frac tn (z_i + z_1)$. Up to $|h_i|$ where $|z_i| \le |h_i|$ a term is $h_i 1\{z_i > 0\}$; the sum of these tends to $t\, [(2\pi)^{-1/2} + \frac12 z_1]$ in mean square, and that of the exceptions to 0, for there $|z_i|, |h_i| \le |z_1|/(n - 1)$. So $d\, L \to t^2\, \mathbb E\, [(2\pi)^{-1/2} - \frac12 |z_1|]^2$ ${} = t^2\, [\frac14 - \frac1{2\pi}]$ uniformly in $t$. At $t = 1$ row 1 is 0. Another row can hand its length over to it at equal loss, halfway the two are equal, and as in {prf:ref}`thm-one-merge` such steps lead to every order; the way back from there is the image of the way to it.
#
# *3.*
# {prf:ref}`prop-no-meeting` is one half. For the other let $\det W = 0$. If both students have one direction, or one is 0, {prf:ref}`prop-lowest` says more. Else they are $av$, $-bv$ with $a, b > 0$, and as in these proofs $2\pi d\, L \ge 2\pi + 2 - [g(v)^2 + g(-v)^2]/\pi$, where $g(v)$ is the sum of $J$ over the angles of $v$ to $e_1$ and $e_2$.
# As $J(\vartheta) = S(\vartheta) + \frac\pi2 \cos\vartheta$ with $S(\vartheta) = \sin\vartheta + (\frac\pi2 - \vartheta) \cos\vartheta = S(\pi - \vartheta)$, the bracket is $Q = 2T^2 + \frac{\pi^2}2 (v_1 + v_2)^2$, where $T$, the sum of $S$, depends on $|v_1|$ and $|v_2|$ only. Let therefore $v_1 \ge v_2 \ge 0$, with the angle $\frac\pi4 - \delta$ to $e_1$. Then
#
# $$
# \begin{aligned}
# 0 \ge T' &= \sqrt2\, \bigl( \tfrac\pi4 \sin\delta - \delta \cos\delta \bigr) \ge -\sqrt2\, (1 - \tfrac\pi4) \sin\delta , \\
# Q' &= 4 T T' + \pi^2 \sin 2\delta \ge \sqrt2 \sin\delta\, \bigl[ \pi^2 - 4 (1 + \tfrac\pi2)(1 - \tfrac\pi4) \bigr] \ge 0
# \end{aligned}
# $$
#
# by the angle, as $T \le 1 + \frac\pi2$, its value at $e_1$. So $Q$ is largest at $\delta = 0$, which is the middle in {prf:ref}`prop-no-meeting`.
#
# *4.*
# Even permutations are products of circles of three. Turn the first three rows about $(1, 1, 1)$ by up to $120°$, with the rotation $R$. As $R$ is orthogonal and keeps $(1, 1, 1)$, $R_{ij}$ and $R_{ij}^2$ have the sum 3 over $i$ and $j$, and so have $\delta_{ij}$ and $\delta_{ij}^2$, so that by *1*
# $d\, L = 2 \sum_{k \ge 2} c_k\, [3 - \sum_{ij} R_{ij}^{2k}]$ ${} < 6 \sum_{k \ge 2} c_k = 6\, (\frac14 - \frac1{2\pi} - \frac1{4\pi})$.
# :::

# %% [markdown]
# What no function that is blind to $x$ can explain, and its least value over random $x$, $e_1 - e_2$ and the multiples of $(M - 1, -\tau, \dots, -\tau)$ with $0 \le \tau \le 2$:


# %% Try directions
tau = torch.linspace(0, 2, 201, dtype=torch.float64)[:, None]
least = {}  # by the number of teachers
for k in (*range(2, 11), 20, 50, 100):
    one = torch.cat([tau**0, -tau.expand(-1, k - 1) / (k - 1)], dim=1)
    pair = torch.tensor([[1, -1] + [0] * (k - 2)])
    drawn = normal((200, k), seed, "directions")
    least[k] = unexplained(torch.cat([one, pair, drawn])).min().item()

# %%
floor, of_pair = 1 / 4 - 1 / (2 * math.pi), 1 / 3 - (math.sqrt(3) - 1) / math.pi
bound, rival = (value / min(least.values()) for value in (floor, of_pair))
claims.check("X1.price_bound", bound, n=len(least), rival=rival)

# %% [markdown]
# For up to {glue:text}`pair_until` teachers the least that is found is along $e_1 - e_2$, $\frac13 - \frac{\sqrt3 - 1}\pi$ or {glue:text}`of_pair:.4f`, against {glue:text}`floor:.4f` of the bound; with more, a single teacher is given up, whose linear part the others take over. The path of the proof, and orientations on paths of random networks with two hidden layers:


# %% Follow the path to the network with a neuron 0
def above_floor(M):
    """M times the excess on the path from the minimum to it, in units of 1/d."""
    eye = torch.eye(M, dtype=torch.float64)
    steps = -eye  # of row 1 to 0, of row i by (e_i + e_1)/(M − 1)
    steps[1:] = (eye[1:] + eye[0]) / (M - 1)
    path = eye + torch.tensor(GRID).double()[:, None, None] * steps
    return M * (M * population_loss(path, M).max().item() - floor)


square, wide = (lost_direction(neurons, 4, seed) for neurons in (4, 5))
excess, alone = max(map(above_floor, least)), 100 * (1 / 2 - floor)

# %%
claims.check("X1.price_limit", excess, n=len(least), rival=alone)
along, across = square.max().item(), wide.median().item()
claims.check("X1.blind", along, n=len(square), rival=across)

# %% The path without a meeting
u = torch.full((2,), 0.5, dtype=torch.float64).sqrt()
lengths = [  # 2 J(ψ)/π
    2 / math.pi * (math.sin(psi) + (math.pi - psi) * math.cos(psi))
    for psi in (math.pi / 4, 3 * math.pi / 4)
]
opposite = torch.stack([lengths[0] * u, -lengths[1] * u])
s = torch.linspace(0, 1, 1001, dtype=torch.float64)[:, None, None]
half_way = torch.lerp(opposite, torch.eye(2, dtype=torch.float64), s)
losses = population_loss(half_way, 2)  # (1001,), d = 2
highest = 3 / 8 - 2 / math.pi**2  # times 1/d
lowest_merge = 1 + 1 / math.pi - (3 / 4 + 1 / math.pi) ** 2

# %%
above = 2 * losses.max().item() / highest - 1
claims.check("X1.no_meeting", above, n=1, rival=lowest_merge / highest - 1)

# %% [markdown]
# With more teachers, the lowest merge by Newton's method on the $m - 1$ students from the middle, for $M$ up to 10, each in $d = M$ dimensions:


# %% Descend below the middle
def merge_ratio(M):
    """Loss that descent finds below the middle, over that of the middle."""
    middle = torch.eye(M, dtype=torch.float64)[1:]
    middle[0, 0] = 1  # the row e_1 + e_2, then e_3, …, e_M

    def rows_of(theta):
        return theta.unflatten(-1, (M - 1, M))

    lowest = minimise(
        lambda theta: population_loss(rows_of(theta), M),
        middle.flatten()[None],
        steps=100,
        tol=1e-13,
        second=lambda theta: population_hessian(rows_of(theta), M),
    )
    return (lowest.loss / population_loss(middle, M)).item()


middle = 1 / 2 - 1 / math.pi  # times 1/d
closed = lowest_merge / middle
ratios = {m: merge_ratio(m) for m in range(2, 11)}

# %%
by_descent, of_three = (abs(ratios[m] / closed - 1) for m in (2, 3))
claims.check("X1.saddle_height", by_descent, n=2, rival=of_three)

# %% [markdown]
# For two, three and four students the passes: critical points blind to $e_1 - e_2$ by Newton's method, with descents from both sides to two orders, mirror images of each other; the least loss at $\det W = 0$; and strings, which descend from a bent line between the two orders. (For two in the plane strings stop at the merge.)


# %% Find passes
alpha = torch.linspace(0.5, 0.51, 10_001, dtype=torch.float64)[:, None]
J, J2 = (
    2 * math.pi * kappa(c, 1) for c in (alpha.cos() / 2**0.5, (2 * alpha).cos())
)
losses = 1 + 1 / math.pi - 4 * J**2 / (math.pi * (math.pi + J2))
third, best = losses.min().item(), alpha[losses.argmin()]
s = torch.linspace(0, 1, 201, dtype=torch.float64)[:, None]
up = torch.lerp(best, s.new_tensor(math.pi / 4), s)
on_way = torch.cat([way_through(best, s), way_through(up, torch.ones_like(s))])

turn = torch.linspace(0, 120, 121).double()[:, None] + torch.tensor([0, 120, 240])
entry = (1 + 2 * turn.deg2rad().cos()) / 3  # (121, 3), rotations about (1, 1, 1)
circle = 3 * population_loss(
    torch.stack([entry.roll(k, 1) for k in range(3)], 1), 3
)

passes = {k: mirrored_pass(k, seed) for k in (2, 3, 4)}
starts = {k: (12 if k == 2 else 2) + minima // 40 for k in passes}
by_search = {k: k * least_blind_loss(k, n, seed) for k, n in starts.items()}
tops = {k: k * relaxed_strings(k, k, 3, seed) / passes[k][0] for k in (3, 4)}
tops["d > 2"] = 3 * relaxed_strings(2, 3, 3, seed) / third

# %%
two, beside = by_search[2] / highest - 1, lowest_merge / highest - 1
claims.check("X1.price_two", abs(two), n=starts[2], rival=beside)
above, beside = (value / third - 1 for value in (on_way.max().item(), highest))
claims.check("X1.third_dimension", above, n=len(on_way), rival=beside)
in_circle, beside = circle.max().item() / floor, passes[3][0] / floor
claims.check("X1.even", in_circle, n=len(circle), rival=beside)
at_merge = {k: ratios[k] * middle / passes[k][0] for k in passes}
off = [by_search[k] / passes[k][0] for k in passes] + list(tops.values())
off += [each for _, index, end in passes.values() for each in (index, 1 + end)]
off, beside = max(abs(each - 1) for each in off), min(at_merge.values()) - 1
claims.check("X1.passes", off, n=len(passes) + len(tops), rival=beside)

# %% Plot the exchange of two neurons
figure, (left, right) = figures.panels(2)
p, q = torch.meshgrid(
    *[torch.linspace(0.005, 1, 200).double()] * 2, indexing="xy"
)
levels = [0.01, 0.03, 0.1, 0.2, 0.3]
lines = left.contour(
    p, q, exchange_barrier(p, q, M) / unit, levels, colors="book:blue"
)
left.clabel(lines, fontsize=9)
left.contour(
    p, q, torch.minimum(p, q) ** 2, levels, colors="book:grey", linestyles=":"
)
left.set(xlabel="norm $p$", ylabel="norm $q$", aspect="equal")
merged = [ratio * middle for ratio in ratios.values()]
right.plot(list(ratios), merged, "o-", color="book:orange")
right.plot(
    passes.keys(), [p[0] for p in passes.values()], "v", color="book:green"
)
right.plot(2, third, "v", color="book:green", mfc="none")
right.axhline(middle, color="book:blue")
right.axhspan(0, floor, color="book:grey", alpha=0.2, linewidth=0)
right.text(6, middle + 0.002, "middle of the line", color="book:blue")
right.plot(3, circle.max(), "^", color="book:green")
right.text(3.3, circle.max(), "circle of three", color="book:green", va="center")
right.text(6.1, 0.126, "lowest merge", color="book:orange")
right.text(4, 0.128, "pass", color="book:green", ha="center", va="top")
right.text(2, 0.142, "$d > 2$", color="book:green", ha="center", va="top")
right.text(10, floor - 0.003, "no exchange stays below", ha="right", va="top")
right.set(xlabel="teachers and students $M = m$", ylabel="$d$ times the loss")
right.set(xlim=(1.3, 10.4), ylim=(0, 0.2))
figures.show("fig_exchange", figure)

# %% [markdown]
# :::{glue:figure} fig_exchange
# :name: fig-one-exchange
# :alt: First panel, contours of the barrier of an exchange over the norms of the two neurons, with dotted corners of the square of the smaller norm next to them. Second panel, d times the loss against the number of teachers: the middle of the line is constant, the lowest merge falls from just below it towards the upper edge of a grey band, and markers of passes for two, three and four teachers lie a little below the merges. A marker of the circle of three lies in the middle of the band.
#
# First: the barrier of an exchange of two neurons of different types ({prf:ref}`thm-middle`), in units of the loss of one teacher neuron; dotted, the loss of deleting the smaller one.
# Second: for $m = M$, what an exchange costs through the middle of the line, through the point that descent finds below it among students of which two coincide, and over the passes ($d = M$; open, two students in more dimensions), and what three neurons cost that move on in a circle; grey, the bound of {prf:ref}`thm-price` (profile {glue:text}`profile`).
# :::
#
# Exact for two, and as far as searches and strings see for three and four, the passes have index 1 and are {glue:text}`saved` % below the lowest merges. For five the point with the same symmetry has index {glue:text}`of_five`: the pass lies lower, and has lost it. With ever more teachers the merges come down to the bound: to go round one gains nothing in the limit, and what P's path through it costs is the price.
#
# ### When alignment removes everything
#
# Z remark that two minima whose rows have equal types can be joined on a line at loss 0. The converse says what is left when they do not. Let $n_j$ and $n'_j$ count the rows of $W$ and $W'$ on ray $j$, without rows 0.
#
# :::{prf:theorem} When the best order leaves nothing
# :label: thm-types
# For global minima $W, W'$ some order $\pi$ has $B(W, \pi W') = 0$ if and only if $\sum_j \max(n_j, n'_j) \le m$. Without rows 0 this says $n = n'$.
# :::
#
# :::{prf:proof}
# As in {prf:ref}`thm-zero-rows`, $\sigma$ is at most its chord, and $B = 0$ if and only if no row meets one of another ray.
# Then at least $\max(n_j, n'_j)$ places hold a row of ray $j$, in one network or the other, and no place serves two rays.
# Conversely pair $\min(n_j, n'_j)$ rows on each ray: $\sum_j \max(n_j, n'_j) - \sum_j n'_j$ rows of $W$ are left, at most the $m - \sum_j n'_j$ rows 0 of $W'$, and likewise for the rows of $W'$.
# :::
#
# Random minima, some of them with a row 0, and all $6!$ orders; the middle tells, as $\sigma$ is its chord there or below:

# %% Try all orders
orders = all_permutations(rows)  # (6!, 6)


def best_line(V, V2, places=GRID):
    """The largest loss on the line from V to V2 in the best of all orders."""
    lines = torch.stack([s * V + (1 - s) * V2[orders] for s in places])
    return population_loss(lines, M).amax(dim=0).min().item()


padded = torch.nn.functional.pad(  # 5 rows and a row 0
    sample_minima(rows - 1, M, M, minima, seed), (0, 0, 0, 1)
)
left_over, needed = [], []
for V, V2 in zip(padded[::2], torch.cat([W, padded])[1::4], strict=True):
    n, n2 = (V > 0).sum(dim=0), (V2 > 0).sum(dim=0)  # rows on each ray
    left_over.append(best_line(V, V2, places=(0.5,)) > 1e-12)
    needed.append(int(torch.maximum(n, n2).sum()) > rows)
wrong = sum(one != other for one, other in zip(left_over, needed, strict=True))

# %%
claims.check("X1.zero", wrong, n=len(needed), rival=sum(left_over))

# %% [markdown]
# ### Students
#
# {glue:text}`students` pairs of students with $m = 6$ neurons learn $M = 3$ teachers by gradient descent on the exact loss.
# Their own losses, at most {glue:text}`1e9 * worst:≤.2g` · 10⁻⁹, are counted with the barrier: the largest loss on the line, direct and in the best of all $6!$ orders.


# %% Train the students
@cache
def trained_students(seed):
    """Largest losses on the lines, direct and best, and whether types agree."""
    start = initial_weights(rows, M, 2 * students, seed)
    done = gradient_descent(start, M, rate=0.5, steps=student_steps)
    V, V2 = done.W.split(students)
    lines = torch.stack([s * V + (1 - s) * V2 for s in GRID])
    direct = population_loss(lines, M).amax(dim=0).numpy()
    best = [best_line(*pair) for pair in zip(V, V2, strict=True)]
    typed = has_types(V, tol=0.02) & has_types(V2, tol=0.02)
    counts = [
        (row_types(W[typed], tol=0.02)[..., None] == torch.arange(M)).sum(dim=1)
        for W in (V, V2)
    ]
    same = (counts[0] == counts[1]).all(dim=1).numpy()
    return direct, np.array(best), typed.numpy(), same, done.loss.max().item()


def best_over_direct(seed):
    direct, best, *_ = trained_students(seed)
    return ratio_of_means(best, direct, paired=True)


def same_over_other(seed):
    _, best, typed, same, _ = trained_students(seed)
    return ratio_of_means(best[typed][same], best[typed][~same])


# %%
of_students = {"of": seed, "again": seed + 1, "n": students}
claims.check("X1.students_permutation", best_over_direct, **of_students)
claims.check("X1.students_types", same_over_other, **of_students)

# %% [markdown]
# What the best order leaves, {glue:text}`students_left` % of the barrier, are types that differ in number ({prf:ref}`thm-types`).
#
# ### Digits
#
# Networks of {glue:text}`NEURONS` ReLU neurons with biases learn {glue:text}`images` of scikit-learn's digits, {glue:text}`pairs` pairs of each kind, on the cross-entropy with the penalty $\frac\gamma2 \lVert \theta \rVert^2$, $\gamma = 10^{-3}$, until the rate has fallen to 0.
# One kind has nothing fixed; in the others half of the incoming weights of
# every neuron are fixed to $\sigma_F\, \mathcal N(0, 1)$ numbers, the same in both networks of a pair, and free of the penalty (I, (2)). Barriers are those of the cross-entropy on the training images, at $\lambda = 0, 0.1, \dots, 1$.
#
# First the theorems, on these networks. The swap costs of I with the other network as the fixed part, and the change of the squared distance:

# %%
off, own = (max(values) / largest for values in (identity, mistaken))
claims.check("X1.swap_identity", off.item(), n=pairs, rival=own.item())

# %% [markdown]
# Networks that are reordered and rescaled at random, $s_i \sim \mathcal N(0, 1)$; and the path of {prf:ref}`thm-one-merge` to a random order, on five points of each leg:

# %% Disguise networks
scale = normal((pairs, NEURONS, 1), seed, "scales").exp()
disguised = torch.cat([a[..., :INPUTS] * scale, a[..., INPUTS:] / scale], dim=-1)
disguised = permute(disguised, random_orders(pairs, seed, "disguise"))
undone = loss_barrier(loss, balance(a), match(balance(a), balance(disguised)))
not_balanced = loss_barrier(loss, a, match(a, disguised))

# %% Follow the path past the cheapest merge
merges, tops = cheapest_merge(a)
excess, straight = [], []
for theta, cheapest, top, order_of in zip(
    a, merges, tops, random_orders(pairs, seed, "orders"), strict=True
):
    corners = reordering_path(theta, INPUTS, cheapest, order_of)
    legs = [
        torch.lerp(corners[:-1], corners[1:], s) for s in (0, 0.25, 0.5, 0.75, 1)
    ]
    excess.append((loss(torch.cat(legs)).max() / top).item() - 1)
    line = torch.stack([torch.lerp(theta, theta[order_of], s) for s in GRID])
    straight.append((loss(line).max() / top).item() - 1)

# %%
claims.check(
    "X1.normal_form",
    undone.max().item(),
    n=pairs,
    rival=not_balanced.mean().item(),
)
claims.check("X1.one_merge", max(excess), n=pairs, rival=np.mean(straight))

# %% [markdown]
# ### Disorder, scale and time
#
# How much disorder does a barrier amount to?
# Between a network and its copy with $k$ of its neurons in a circle (each takes the next one's place) the function is the same at both ends, and only the order differs.
# And what scale does is a matter of how far the descent has come ({prf:ref}`thm-balance`, part 2):

# %% Plot the barriers of the pairs
TOGETHER = range(2, NEURONS + 1)
shuffled = random_orders(pairs, seed, "circles")
disorder = {}
for k in TOGETHER:
    order_k = torch.arange(NEURONS).repeat(pairs, 1)
    order_k.scatter_(1, shuffled[:, :k], shuffled[:, :k].roll(1, dims=1))
    disorder[k] = loss_barrier(loss, a, permute(a, order_k)).numpy()
STAGES = [steps // 8, 3 * steps // 8, steps]
by_stage = {stage: barriers_after(stage, seed, None) for stage in STAGES}

ordinary = by_stage[steps]
styles = {
    "as it is": ("direct", "red", "o"),
    "matched": ("matched", "purple", "s"),
    "balanced, matched": ("balanced and matched", "blue", "D"),
}
figure, (left, right) = figures.panels(2)
mean, error = mean_and_error(list(disorder.values()))
figures.band(left, list(TOGETHER), mean, error, color="book:black")
left.plot(
    list(TOGETHER), mean, color="book:black", label="one network, reordered"
)
for name, (label, colour, marker) in styles.items():
    style = {"color": f"book:{colour}", "label": label}
    if name != "matched":
        left.axhline(ordinary[name].mean(), **style)
    mean, error = mean_and_error([found[name] for found in by_stage.values()])
    figures.band(right, STAGES, mean, error, fmt=marker, color=style["color"])
    right.plot(STAGES, mean, **style)
height = merge_heights(seed).mean()
left.axhline(height, color="book:orange", label="cheapest merge")
left.set(xlabel="neurons out of place", ylabel="mean barrier", ylim=(-0.02, None))
right.set(xlabel="steps of the descent", ylabel="mean barrier", ylim=(0, None))
right.set_xscale("log")
right.set_xticks(STAGES, [str(stage) for stage in STAGES])
right.minorticks_off()
figures.show("fig_pairs", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_pairs
# :alt: First panel, the mean barrier between a network and its reordered copy grows with the number of neurons out of place and crosses the line of matched pairs at few neurons; the direct barrier between two networks is near its upper end, and the cheapest merge near zero. Second panel, mean barriers against the steps of the descent: direct, matched, and balanced and matched.
#
# First: barrier between a network and its copy with $k$ neurons out of place, and between the two networks of a pair. Second: the same pairs after descents of three lengths. Bars are ±3.29 standard errors over {glue:text}`pairs` pairs, profile {glue:text}`profile`.
# :::
#
# Two unmatched networks are {glue:text}`order[0]:.2f` times as far apart as a network and itself in a random order ({claim}`X1.digits_order`): to the line, that is nearly all the difference there is.
# The best order leaves {glue:text}`percent(permutation[0])` % of the barrier, about as much as {glue:text}`as_many` neurons out of place.
# Scale adds {glue:text}`added(STAGES[0])` % to the matched barrier after {glue:text}`STAGES[0]` steps and
# {glue:text}`added(steps)` % after {glue:text}`steps`. The cheapest merge is {glue:text}`percent(merge[0])` % as high as the barrier: in {glue:text}`percent(idle)` % of the networks the penalty has left a neuron that does next to nothing, and such a neuron is a free place.
#
# ### Merges of random neurons
#
# Is a merge of *any* two neurons cheap? For two random ones: the middle of their exchange, and the point below it that descent finds with the two held equal, in the loss with its penalty; against the network itself after as long a second descent.

# %%
claims.check("X1.digits_saddle", saddle_over_middle, **of_pairs)

# %% [markdown]
# The middle of the exchange of two random neurons is {glue:text}`exchange_share` % as high as the {term}`direct barrier`, and the point below it {glue:text}`percent(below / middle_height)` % as high as the middle: a network of one neuron less does nearly as well.
# What an exchange costs on a straight line is not what it costs.
#
# ### Fixed weights
#
# In I's picture they give every neuron a place: the direct barrier should be low, and a matcher should have little to do.
# The swap costs, I, (16) with the principal subspace of the inputs that keeps 90 % of the second moment (as in F.7), should tell whose place a neuron takes that it moves nevertheless.
# For that we take {term}`activation matching`, which does not see the weights, and rank the cost of each moved neuron with its partner among its costs with all others.

# %% Plot the networks with fixed weights
figure, (left, right) = figures.panels(2)
for shift, (name, (label, colour, _)) in zip(
    (-0.27, 0, 0.27), styles.items(), strict=True
):
    mean, error = mean_and_error(
        [barriers(seed, sigma)[name] for sigma in SIGMAS]
    )
    place = np.arange(len(SIGMAS)) + shift
    style = dict(color=f"book:{colour}", label=label)
    left.bar(place, mean, 0.25, yerr=3.29 * error, **style)
left.set_xticks(
    range(3), ["none fixed", r"$\sigma_F = 0.3$", r"$\sigma_F = 1$"], rotation=0
)
left.set(ylabel="mean barrier")
rank, moved = swap_ranks(seed)
bins = np.linspace(0, 1, NEURONS)  # the ranks are multiples of 1/(m − 2)
right.hist(rank[moved], bins, density=True, color="book:green")
right.axhline(1, color="book:black", linestyle=":", linewidth=1)
right.text(0.98, 1.04, "by chance", ha="right")
right.set(xlabel="rank of the swap cost, moved neurons", ylabel="density")
figures.show("fig_fixed", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_fixed
# :alt: First panel, mean barriers, direct, matched, and balanced and matched, for networks without, with weak and with strong fixed weights: the direct bar falls with the strength of the fixed weights, the others rise, and with strong ones the matched bar equals the direct one. Second panel, histogram of ranks of swap costs of moved neurons, falling from low ranks to high ones, beside a dotted line of chance.
#
# First: networks without fixed weights, with weak and with strong ones; bars are ±3.29 standard errors over {glue:text}`pairs` pairs.
# Second: the rank of the swap cost of a moved neuron with its partner, from 0 for the cheapest of its exchanges to 1 for the dearest, $\sigma_F = 0.3$ (profile {glue:text}`profile`).
# :::
#
# With $\sigma_F = 1$ the direct barrier is {glue:text}`percent(by_fixing[0])` % of the ordinary one, and weight matching leaves {glue:text}`percent(stays.double().mean().item())` % of the neurons in their place, as part 4 of {prf:ref}`thm-number` lets one expect: the fixed parts are longer than the trained ones.
# That nothing *could* be gained does not follow.
# Fixed rows are not balanced by the penalty, and after balancing the same
# matching does move some, and leaves {glue:text}`percent(after_fixing[0])` % of the direct barrier ({claim}`X1.fixed_aligned`).
# With $\sigma_F = 0.3$ activation matching moves {glue:text}`percent(moved.mean())` % of the neurons, to partners whose swap cost has the mean rank {glue:text}`rank`, against $\frac12$ by chance: the cost says something about which neurons are exchanged, but does not single them out.


# %% Numbers for the text
def percent(value):
    """A share in per cent, with one digit below ten."""
    return f"{100 * value:.0f}" if abs(value) >= 0.095 else f"{100 * value:.1f}"


def added(stage):
    """What scale adds to the matched barrier."""
    found = by_stage[stage]
    return percent(
        found["matched"].mean() / found["balanced, matched"].mean() - 1
    )


heights = np.array([values.mean() for values in disorder.values()])
left_over_mean = ordinary["balanced, matched"].mean()
u, out = (
    part.norm(dim=-1) for part in trained(seed).theta.split((INPUTS, 10), -1)
)
idle = (u * out < 0.01).any(dim=-1).double().mean().item()
direct_students, best_students, *_, worst = trained_students(seed)
in_place = weight_matching(*trained(seed, 1.0).theta.unbind(dim=1))
stays = in_place == torch.arange(NEURONS)
own = [loss(trained(seed, sigma).theta).mean().item() for sigma in SIGMAS]
middle_height, below = (values.mean() for values in exchanges(seed))

# %% More numbers for the text
figures.numbers(
    as_many=int(np.abs(heights - left_over_mean).argmin()) + 2,
    students_left=percent(best_students.mean() / direct_students.mean()),
    exchange_share=percent(middle_height / ordinary["as it is"].mean()),
    pair_until=max(M for M, value in least.items() if value > of_pair - 1e-9),
    saved=" ".join(f"{100 * (1 - 1 / at):.1f}," for at in at_merge.values())[:-1],
    of_five=mirrored_pass(5, seed)[1],
    rank=f"{ranks[0]:.2f}",
    own_free=f"{own[0]:.3f}",
    own_fixed=f"{own[2]:.3f}",
)

# %% [markdown]
# Scales $e^{s}$ with $s \sim \mathcal N(0, 1)$ leave the barrier {glue:text}`not_balanced.mean().item():.2f` after matching, where 0 could be reached.
# The price of fixed weights is in the loss of the networks themselves, {glue:text}`own_fixed` against {glue:text}`own_free` here, and matched networks with fixed weights have the barrier {glue:text}`barriers(seed, 1.0)["balanced, matched"].mean():.2f`, ordinary ones {glue:text}`left_over_mean:.2f`. Every barrier here is what the deviation from the mean output costs, less the Jensen gap ({prf:ref}`prop-jensen`); for W-MLPs [](53_asymmetric_mlps.ipynb) measures the two apart.
#
# ### Exercises
#
# :::{exercise}
# Show that the barrier of {prf:ref}`thm-middle` is $\frac{q^2}{2d} \bigl( 1 - \frac{8}{3\pi} \frac qp + O(q^3/p^3) \bigr)$ for $q \ll p$, and that it never exceeds the loss $q^2/(2d)$ of deleting the smaller neuron.
# :::
#
# :::{solution}
# With $z = q/p$, $\varphi = z - z^3/3 + O(z^5)$ and $\pi d B/p^2$ is $\varphi + (\frac\pi2 - \varphi) z^2 - z$, that is, $\frac\pi2 z^2 - \frac43 z^3 + O(z^5)$; divide by $\frac\pi2 z^2$.
# For the bound, $\varphi \le z$ gives $\varphi(1 - z^2) \le z (1 - z^2) \le z$ for $z \le 1$, so that $\varphi - z + (\frac\pi2 - \varphi) z^2 \le \frac\pi2 z^2$.
# :::
#
# :::{exercise}
# Let $m = M$ and let all $M$ neurons move on by one place in a circle. Show that the loss in the middle is at least $\frac M4$ times the barrier $A = \frac{\pi - 2}{2\pi d}$ of one exchange, and compute it for $M = 3, \dots, 8$. Is it more than $\frac M4 A$ by a factor that stays bounded?
# :::
#
# :::{solution}
# In the middle the rows are $\frac12 (e_i + e_{i+1})$, and the error is $\frac12 \sum_i g_i$ with $g_i = \sigma(x_i + x_{i+1}) - \sigma(x_i) - \sigma(x_{i+1}) \le 0$ and $\mathbb E\, g_i^2 = A$.
# Products $g_i g_j$ are not negative, so that the mean of the square is at least $\frac14 M A$.
# With $C_1$ the mean of $g_i g_{i+1}$ and $C_2$ that of two terms without a common input, the loss is $\frac M4 \bigl[ A + 2 C_1 + (M - 3) C_2 \bigr]$ for $M \ge 3$, and $C_2/A > 0$ does not depend on $M$:
#
#     for M in range(3, 9):
#         row = torch.eye(M).double()
#         middle = population_loss((row + row.roll(1, 0)) / 2, M)
#         print(M, middle / (M / 4 * exchange_barrier(row[0, 0], row[0, 0], M)))
#
# prints a factor that grows linearly with $M$, so that it is not bounded: neurons out of place add up faster than their number.
# :::
#
# :::{exercise}
# Show that gradient flow on $L + \frac\gamma2 \lVert \theta \rVert^2$ makes $\lVert u_i \rVert^2 - \lVert a_i \rVert^2$ decay like $e^{-2\gamma t}$ for every ReLU neuron, and not at all for $\gamma = 0$.
# :::
#
# :::{solution}
# $L$ does not change under $(c\,u_i, a_i/c)$; its derivative by $c$ at $c = 1$ is $u_i \cdot \partial_{u_i} L - a_i \cdot \partial_{a_i} L = 0$. Along the flow $\dot u_i = -\partial_{u_i} L - \gamma u_i$, and likewise for $a_i$, so that
#
# $$
# \begin{aligned}
# \tfrac{d}{dt} \bigl( \lVert u_i \rVert^2 - \lVert a_i \rVert^2 \bigr) = {}& -2 \bigl( u_i \cdot \partial_{u_i} L - a_i \cdot \partial_{a_i} L \bigr) \\
# & - 2\gamma \bigl( \lVert u_i \rVert^2 - \lVert a_i \rVert^2 \bigr) ,
# \end{aligned}
# $$
#
# where the first bracket is 0.
# :::
#
# :::{try}
# More pairs, and a longer descent:
#
#     make chapter NAME=four_lenses ARGS="-p pairs 60 -p steps 2000"
# :::
#
# ### Versions

# %% Versions and time
print(chapter.end())
