# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
#   lmc: {runs: lmc_helpers._chapters.permutation_saddles_on_mnist.Parameters}
# ---

# %% [markdown]
# # Merging neurons costs little on MNIST's leading components, less in wider networks
#
# *Can two neurons of a network trained on MNIST be merged while the loss stays low?*
#
# Yes, on leading principal components: at the worst width accuracy falls by **[[100 * P8.projected_points_accuracy:.2f]] ([[100 * P8.projected_points_accuracy:to]]) points**, and the loss rises steadily on **[[100 * P8.projected_monotone:.0f]] ([[100 * P8.projected_monotone:to]]) %** of paths. On whole images none of [[n(P8.mnist_first_order)]] permutation points of four minima (tanh) is a first-order saddle: the loss falls in **[[P8.mnist_first_order]]** directions or more.
#
# :::{glue:figure} fig_price
# :name: fig-price-of-merge
# :alt: Three factors on the loss with intervals, on an axis from 0, with a line at 1. Width 25 instead of 10: [[2.5 ** P8.projected_falls:.2f]]. The permutation point instead of the end of the path: [[2.718281828459045 ** P8.mnist_above:.2f]]. A random pair instead of the most similar one: [[2.718281828459045 ** P8.mnist_similar:.2f]].
#
# What changes the price of a merge, as a factor on the loss; recorded on leading components. Bars: 99.9 %.
# :::
#
# **How sure.** [[n(P8.projected_monotone)]] paths on 50 principal components, recorded; on whole images, of which the paper speaks, [[n(P8.mnist_first_order)]] points of four minima, one per width ({prf:ref}`thm-inertia`), no paths. Tanh: the paper names no activation.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "some of the permutation points correspond to first-order saddles" on MNIST (abstract) | [open: none found](#P8.mnist_first_order) | [[P8.mnist_first_order]] or more falling directions at all [[n(P8.mnist_first_order)]] points of four minima |
# | "in most cases the loss increased monotonically toward the permutation point" (sec. 5) | [not run](#P8.mnist_monotone) | components: [[100 * P8.projected_monotone:.0f]] % ([[100 * P8.projected_monotone:to]]) of paths |
# | "the barrier height (loss at saddle) decreased with the number $H$ of hidden neurons" (sec. 5) | [not run](#P8.mnist) | components: like $H$ to the power [[P8.projected_falls:.1f]] ([[P8.projected_falls:to]]) |
# | "The accuracy on the training set decreases only marginally" (Fig. 3B) | [not run](#P8.mnist_accuracy) | components: [[100 * P8.projected_points_accuracy:.2f]] ([[100 * P8.projected_points_accuracy:to]]) points at most |
# | "permutation points could indeed be reached in practice" (sec. 6) | [true, by a last step](#P8.mnist_reached_at_last) | components: [[2.718281828459045 ** P8.mnist_above:.2f]] ([[2.718281828459045 ** P8.mnist_above:to]]) times the loss at the path's end |
# | A pair "with high cosine-similarity" (Fig. 3A) is cheaper to merge (ours) | [true](#P8.mnist_similar) | components, random pairs: [[2.718281828459045 ** P8.mnist_similar:.1f]] ([[2.718281828459045 ** P8.mnist_similar:to]]) times the largest loss |
#
# **Open.** Paths on whole images: {glue:text}`hours` core-hours for height and accuracy, {glue:text}`hours_monotone` for the rise.
#
# **For the authors.** Print the activation of Fig. 3, which permutation points on MNIST are “first-order saddles”, and that a path ends below the permutation point.

# %% [markdown]
# :::{need}
# You need: [](21_merging_neurons.ipynb), for permutation points and the ends of paths (its first picture is the idea of a merge); [](24_deep_merge.ipynb) does the same on small digits. Orthonormal bases; second-order methods. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $H$ | width: neurons in each of the two hidden layers |
# | $\delta/\delta_0$ | distance of the two parameter vectors, over that at the start |
# | $x_\mu$, $y^\mu$, $T$ | images, targets, number of images |
# | $L$, $f$ | normalised loss, outputs of the network |
# | $W$, $Q$, $V$, $z_\mu$ | weights of layer 1, orthonormal basis, weights and images written in it |
# | $G$, $\eta$ | gradient, step size |
# | $J$, $D$ | matrices at a {term}`permutation point` that decide on its index ({prf:ref}`thm-inertia`) |
# | $\rho$, $\nu_-$ | rank of $J$; negative eigenvalues of $D$ on its kernel |
# | $s$, $\Delta$, $P$ | step of the minimiser, radius and metric of its trust region |

# %% Parameters tags=["parameters"]
dataset: str = "mnist"  # mnist or digits; digits stand in for what is not here
images: int = 1000  # training images, 60000 are all of MNIST
components: int = 30  # principal components of the images; 0: all
widths: list = [4, 5, 6, 8]  # H; 10, 15, 20, 25 in the paper
teachers: int = 2  # networks per width; 6 in the paper
randoms: int = 1  # of them, in which a random pair is merged, too
epochs: int = 30  # of training for the teachers
distances: int = 8  # down to 1/10000; 100 in the paper
products: int = 400  # with Hessians, budget at every distance
whole: int = 500  # whole images for permutation points without paths; 0: none
whole_products: int = 2000  # with Hessians, budget for one of these
seed: int = 7052  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Integer, ListOf

chapter.begin(
    globals(),
    dataset=Choice(("mnist", "digits")),
    images=Integer(50, 60_000),
    components=Integer(0, 784),
    widths=ListOf(Integer(3, 100), 2),
    teachers=Integer(2, 1000),
    randoms=Integer(1, 1000),
    epochs=Integer(1, 1000),
    distances=Integer(4, 10_000),
    products=Integer(1, 1_000_000),
    whole=Integer(0, 60_000),
    whole_products=Integer(1, 1_000_000),
)

import math

import numpy as np
import torch

from lmc_helpers import claims, error_bars, figures
from lmc_helpers._chapters.permutation_saddles_on_mnist import (
    LEADING,
    SAMPLE,
    TOLERANCE,
    WHOLE_TOLERANCE,
    Merged,
    Parameters,
    core_hours,
    exponent,
    merge_distances,
    principal,
)
from lmc_helpers.data.images import choose, load
from lmc_helpers.error_bars import mean_and_error
from lmc_helpers.permutation_points import MLP, embed
from lmc_helpers.seeds import normal
from lmc_helpers.training.runs import DataSpec

# %% Plot the price of a merge
rows_of_answer = (
    ("P8.projected_falls", 2.5, "width 25 instead of 10"),
    ("P8.mnist_above", math.e, "permutation point, not the path's end"),
    ("P8.mnist_similar", math.e, "random pair, not the most similar"),
)
answer, axis = figures.panels(height=2.3)
axis.axvline(1, color="book:grey", linewidth=1)
for row, (part, base, says) in enumerate(rows_of_answer):
    figures.recorded(axis, row, part, says, of=base.__pow__, digits=2)
axis.text(1.03, -2.45, "1: no change", color="book:grey", va="center")
axis.set(xlim=(0, 3.6), ylim=(-2.7, 0.8), yticks=[])
axis.set(xlabel="factor on the loss of the merge")
axis.spines["left"].set_visible(False)
axis.grid(False)
figures.show("fig_price", answer)

# %% [markdown]
# ## Two neurons move together, and all others give way
#
# Brea, Şimşek, Illing & Gerstner (P) {cite:p}`brea2019` merge two similar neurons in layer 2 of networks $784 \to H \to H \to 10$, $H$ from 10 to 25, six for each $H$. In their paths the distance of the two parameter vectors falls in 100 logarithmic steps to $10^{-4}$ of what it was, and at each of them all other parameters descend "until convergence" (P, Fig. 3).
#
# The targets $y^\mu$ are the trained network's own logits, and the loss is that of P, Fig. 3,
#
# $$
# L = \frac{1}{T} \sum_\mu \frac{\| y^\mu - f(x^\mu) \|^2}{\langle y_i^2 \rangle},
# $$
#
# so that $L = 10$ for a network whose outputs are all 0. The paper does not say which activation P, Fig. 3 uses; its toy example, to whose procedure section 5 refers, has ReLU. Here it is tanh, since a minimum on a kink has no small gradient.
#
# We take "until convergence" at its word: a minimum counts where the norm of the gradient, at fixed distance, is at most {glue:text}`TOLERANCE:≤.0e`. That is what costs: on whole images a network has up to {glue:text}`biggest` parameters. So the recorded run follows 24 distances on 10 000 images, written in their first 50 principal components. The *{term}`barrier`* is the largest loss at these distances, a lower bound for the largest loss on the path.
#
# ## The pixels may be written in other coordinates
#
# Nearly all parameters are the weights $W$ of the first layer, and it sees an image only through $W x$. So a basis of the span of the images will do for the pixels:
#
# :::{prf:proposition} Inputs in an orthonormal basis of their span
# :label: prop-span
# Let the columns of $Q$ be orthonormal, let their span contain all images $x_\mu$, and let $z_\mu = Q^\top x_\mu$. For a network with first layer $W$ let $V = W Q$, all else equal; let $L$ and $L'$ be the same differentiable function of their outputs.
#
# 1. $W x_\mu = V z_\mu$: both networks have the same outputs, and $L(W, \cdot) = L'(V, \cdot)$.
# 2. $\frac{\partial L}{\partial W} = \frac{\partial L'}{\partial V} Q^\top$: the norms of the gradients are the same.
# 3. Parameter vectors, distances and cosines of all later layers are the same.
#    At a fixed distance of two neurons there, $(W, \cdot)$ is a local minimum of $L$ if and only if $(W Q, \cdot)$ is one of $L'$, and gradient descent from $W$ passes over into gradient descent with the same step sizes from $W Q$.
# :::
#
# :::{prf:proof}
# $x_\mu = Q Q^\top x_\mu$ gives 1.
# The chain rule gives 2, with $\|G Q^\top\| = \|G\|$ for $Q^\top Q = 1$.
# The map $W \mapsto W Q$ is linear and onto ($V$ is the image of $V Q^\top$), hence continuous and open, it touches no later layer, and $L$ depends on $W$ only through it: local {term}`minima <minimum>` correspond.
# A step of descent is $W - \eta\, G Q^\top$, whose image under the map is $W Q - \eta\, G$.
# :::
#
# So with a basis of the whole span every minimum that is found for $V$, by whatever method, is one for the weights $V Q^\top$ of whole images. Which minimum a path ends in may depend on the method: Newton steps need not end where gradient descent does.
#
# Pixels are standardised by one mean and one deviation, so that the empty ones at the border are constant but not 0; together they add at most one dimension. We take the basis in which the second moments $\langle z z^\top \rangle$ are diagonal, largest first (`principal`).
#
# Fewer vectors than the whole basis, as here, make another, smaller task, which is no longer exact: the paper's sentences about whole images stay open.
#
# ## The loss rises to a height that falls with the width
#
# | P, section 5 and Fig. 3 | On whole images | On leading components, recorded |
# | --- | --- | --- |
# | the loss rises monotonically in most cases | [not run](#P8.mnist_monotone) | [yes](#P8.projected_monotone): [[100 * P8.projected_monotone:.0f]] % ([[100 * P8.projected_monotone:to]]) of paths |
# | the height of the path decreases with $H$ | [not run](#P8.mnist) | [yes](#P8.projected_falls): power [[P8.projected_falls:.1f]] ([[P8.projected_falls:to]]) |
# | the loss at the permutation point decreases with $H$ | – | [yes](#P8.projected_points): power [[P8.projected_points:.1f]] ([[P8.projected_points:to]]) |
# | the accuracy falls marginally, at the end of the path | – | [yes](#P8.projected_accuracy): [[100 * P8.projected_accuracy:.2f]] ([[100 * P8.projected_accuracy:to]]) points |
# | the same at the permutation point | [not run](#P8.mnist_accuracy) | [yes](#P8.projected_points_accuracy): [[100 * P8.projected_points_accuracy:.2f]] ([[100 * P8.projected_points_accuracy:to]]) points |
#
# P expects the decrease "from theoretical results [10]" and says that it "confirmed Freeman and Bruna's findings" (P, sections 5 and 6). Their theorem {cite:p}`freeman2017` bounds the barrier between any two networks with *one* hidden layer of ReLUs, and the bound vanishes with the width.
# It says nothing of two hidden layers, nor of a merge, so the decrease agrees with it in kind but is not an instance of it. What bounds the price of a merge in the last hidden layer is the distance of the two neurons, if neither output column points against the sum of both ({prf:ref}`thm-height`).

# %% Load the images, and write them in a basis
name, told = choose((dataset, "digits"))
settings = chapter.parameters(Parameters, globals())
teaching = settings.teaching()  # width → the run of its teachers
data = next(iter(teaching.values())).data  # what the teachers saw
found = load(data.name, data.split, data.n, data.seed)
x, labels = found.inputs(torch.float64, flat=True), found.y  # (T, n), (T,)
z, Q, moments = principal(x)
lost = (x - z @ Q.T).abs().max().item()  # rounding
rank, pixels = z.shape[1], x.shape[1]
z, Q, moments = principal(x, components)  # what is used here
kept = moments.sum().item() / x.square().sum(dim=1).mean().item()

# %% Read the paths
at_width = {H: run.result() for H, run in settings.readings().items()}
every = {H: found.merges[:teachers] for H, found in at_width.items()}

# %% Which paths count
delta = merge_distances(distances)  # δ/δ_0, (K,)
MISSES = distances // 5  # distances at which a path that counts has not
FALLS = 1e-3  # of the largest loss: what counts as a fall, as in chapter 24


def converged(found: Merged) -> torch.Tensor:
    """Distances (K,) at which the minimum has converged."""
    return found.path.gradient_norm <= TOLERANCE


def counts(found: Merged) -> bool:
    """Whether a path has converged, at its end and up to a few distances."""
    ok = converged(found)
    return bool(ok[-1]) and int((~ok).sum()) <= MISSES


def height(found: Merged) -> float:
    """The barrier: the largest loss on the path."""
    return found.path.loss[converged(found)].max().item()


paths = {H: [m for m in row if counts(m)] for H, row in every.items()}
counted = [m for row in paths.values() for m in row]
rising = [m.path.only(converged(m)).rises(FALLS) for m in counted]
barrier = {H: [height(m) for m in row] for H, row in paths.items()}
end = {H: [m.path.loss[-1].item() for m in row] for H, row in paths.items()}
drop = {
    H: [(m.accuracy[0] - m.accuracy[-1]).item() for m in row]
    for H, row in paths.items()
}

# %% Rise, height and accuracy
n, of = len(counted), teachers * len(widths)
share = sum(rising) / max(n, 1)
low = error_bars.share(sum(rising), of)[1]  # if none of the others rose
high = error_bars.share(sum(rising) + of - n, of)[2]  # if all did
slope, slope_error, n_slope = exponent(barrier)


def largest_mean(drops: dict[int, list[float]]) -> tuple[float, tuple, int]:
    """The largest mean over the widths, its interval, and the number of values."""
    several = [one for one in drops.values() if len(one) > 1]
    if not several:
        return 0.0, (-1.0, 1.0), 0
    mean, error = mean_and_error(several)
    count = np.array([len(one) for one in several])
    least = 1 / len(labels) / np.sqrt(count)  # a network changes by an image
    wide = [error_bars.widening(k) for k in count]
    half = error_bars.QUANTILE * np.maximum(error, least) * wide
    around = float((mean - half).max()), float((mean + half).max())
    return float(mean.max()), around, int(count.sum())


fall, around, n_fall = largest_mean(drop)  # of the accuracy

# %%
chapter.uses(dataset=found.source, images=len(labels))
chapter.uses(components=len(moments) if len(moments) < rank else 0)
interval = low, high
claims.check("P8.mnist_monotone", share, interval=interval, n=n)
claims.check("P8.mnist", slope, stderr=slope_error, n=n_slope)

# %% [markdown]
# ## The path ends below the permutation point
#
# With ten outputs the matrix $J$ of {prf:ref}`thm-ends` is not 0 in general.
# Then the path of constrained minima does not end at a permutation point with bounded output weights; on this page it ends, as measured below, at a network with a *{term}`derivative neuron`*, whose output weights diverge.
# On such a path, a channel to infinity {cite:p}`martinelli2025`, two neurons are not exchanged.
# The paper's route leads on to equal output weights, to
# the permutation point of P, section 4.1: a minimum of the network with one neuron fewer, the two merged neurons being one.
# The paper calls both the "loss at saddle" (P, section 5) and the "loss at the permutation point" (P, section 6) the barrier.
# The run minimises at the permutation point, too (`permutation_point`), from the end of the path with the mean of the two parameter vectors and the sum of their columns.
#
# P concludes from the rise of the loss that "the permutation point is a saddle, and not a minimum", and states in the abstract that it is a "first-order" one. With one output the first would follow ({prf:ref}`cor-maximum`).
# With ten, where no path ends there, it is $J$ and $D$ that decide: by {prf:ref}`thm-inertia` the Hessian at the permutation point has at least $\rho + \nu_-$ negative eigenvalues, $\rho = \operatorname{rank} J$. So it is a saddle if $J \ne 0$, and of first order only if $\rho + \nu_- \le 1$. From $\rho = 2$ on a small half circle around it exchanges the two neurons at losses below its own ({prf:ref}`thm-round`, whose half circle needs only the critical point and two negative eigenvalues that $J$ brings); whether descent from there leads to the trained network is not looked at here. On whole images the least $\rho + \nu_-$ is [[P8.mnist_first_order]], over all neurons of four minima, one per width ([open](#P8.mnist_first_order): the paper states neither the activation nor which points); singular values of $J$ below a thousandth of the largest count as 0. For almost all targets no network has such a point at all: $\rho = 9$ wherever the functions of {prf:ref}`thm-generic-rank`, in its form for the last hidden layer, are independent; the targets here are a teacher's outputs, so that $\rho$ is counted. At a critical point $\rho \le 9$, as $c^\top J = 0$ for the neuron's column $c$ of output weights; a tenth singular value above the threshold only shows that the gradient was not exactly 0.

# %% Compare with random pairs
others = {H: found.merges[teachers:] for H, found in at_width.items()}
both = [
    (H, height(every[H][k]), height(other))
    for H in widths
    for k, other in enumerate(others[H])
    if counts(every[H][k]) and counts(other)
]
gain = [float(np.log(high / low)) for _, low, high in both]

# %% Compare with permutation points
reached = {  # paths whose permutation point has converged as well
    H: [m for m in row if m.point.gradient_norm <= TOLERANCE]
    for H, row in paths.items()
}
top = {H: [m.point.loss for m in row] for H, row in reached.items()}
points = [
    (m.path.loss[-1].item(), m.point.loss)
    for row in reached.values()
    for m in row
]
above = [float(np.log(high / low)) for low, high in points]
top_slope, top_error, n_top = exponent(top)
top_drop = {
    H: [m.accuracy[0].item() - m.point.accuracy for m in row]
    for H, row in reached.items()
}
top_fall, top_around, n_top_fall = largest_mean(top_drop)
apart = [
    (m.path.outgoing[-1] / m.path.outgoing[0]).item() for m in counted
]  # the larger output weight, over its start


# %% The index at permutation points
def found_at(minima: list, tolerance: float) -> tuple[list[int], list[int]]:
    """ρ and ρ + ν₋ at all permutation points over the minima that have converged."""
    good = [point for point in minima if point.gradient_norm <= tolerance]
    ranks = [int(rank) for point in good for rank in point.rank]
    return ranks, [int(index) for point in good for index in point.index]


merges_of = [m.point for found in at_width.values() for m in found.merges]
ranks, indices = found_at(merges_of, TOLERANCE)
on_whole = {H: run.result() for H, run in settings.whole_points().items()}
_, whole_indices = found_at([*on_whole.values()], WHOLE_TOLERANCE)
saddles = [index for index in whole_indices if index]


def average(values: list[float]) -> tuple[float, float, int]:
    """Mean, widened error and number; without two values nothing is known."""
    if len(values) < 2:
        return 0.0, 1.0, 0
    return *error_bars.over_clusters(values), len(values)


# %%
claims.check("P8.mnist_accuracy", top_fall, interval=top_around, n=n_top_fall)
gained, error, n_gain = average(gain)
claims.check("P8.mnist_similar", gained, stderr=error, n=n_gain)
growth = min(apart, default=0.0)
claims.check("P8.mnist_reached", growth, n=len(apart))
chapter.uses(whole=min(whole, DataSpec(data.name).size))
least_of_saddles = float(min(saddles, default=0))
claims.check("P8.mnist_first_order", least_of_saddles, n=len(saddles))

# %% [markdown]
# ## A path bounds the price of an exchange; no straight line follows it
#
# Two networks that are permuted copies of each other are joined by paths through permutation points, one exchange of two neurons after the other. To make two neurons alike, which is not yet an exchange, costs less for the most similar pair than for a random one.
# Averaging the weights of the two goes straight and finds no such way: the other parameters do not make room for the merge.
#
# **Read on.** [](22_permutation_points.ipynb): the Hessian at a permutation point. [](54_swaps_on_images.ipynb): what a swap of two neurons costs where fixed weights tell them apart. [](56_matchers.ipynb): straight lines on images after a permutation.
#
# ## Evidence
#
# {glue:text}`data_says` Figures and numbers of this page that do not say "recorded" are of this copy's run (profile {glue:text}`profile`): {glue:text}`len(labels)` images, their first {glue:text}`used` principal components, {glue:text}`distances` distances.
#
# ### The images in other coordinates

# %% Plot images in other coordinates
there = choose((dataset, "digits"))[0]

pictures = load(there, n=min(images, DataSpec(there).size), seed=seed)
pictures = pictures.inputs(torch.float64, flat=True)  # (T, n)
places, basis, sizes = principal(pictures)
share_of = 100 * sizes.cumsum(0) / sizes.sum()
first_of, side = components or len(sizes), int(pictures.shape[1] ** 0.5)
back = places[:4, :first_of] @ basis[:, :first_of].T
idea, (curve, digits) = figures.panels(2, height=3.3)
curve.plot(range(1, len(sizes) + 1), share_of, color="book:blue")
curve.axvline(first_of, color="book:red", linestyle=":", label="used here")
curve.set(xscale="log", xlabel="principal components", ylim=(0, 103))
curve.set_ylabel("share of squared length (%)")
curve.legend(loc="lower right")
frame = [side // 4, side // 4, side // 2, side // 8]  # white, for the names
rows = [
    [torch.nn.functional.pad(x.reshape(side, side), frame) for x in some]
    for some in (pictures[:4], back)
]
canvas = torch.cat([torch.cat(row, dim=1) for row in rows])
digits.imshow(canvas, cmap="Greys", vmin=0, vmax=pictures.max())
for row, name in enumerate(("whole", "the components used here")):
    place = row * len(canvas) / 2 + side / 4
    digits.text(side // 4, place, name, va="center")
digits.set_axis_off()
figures.show("fig_components", idea)

# %% [markdown]
# :::{glue:figure} fig_components
# :alt: First panel, the share of the images' squared length in their leading principal components over the number of components, a curve that rises to 100 per cent; a dotted line marks the number used here. Second panel, four handwritten digits, in the upper row whole, in the lower one as the components used here show them, a little blurred.
#
# The images of this run in an orthonormal basis of their span, sorted by second moments (profile {glue:text}`profile`).
# :::
#
# These {glue:text}`len(labels)` images of {glue:text}`pixels` pixels span {glue:text}`rank` dimensions; written in them and back they differ by {glue:text}`lost:.0e`.
# On this page the images are projected on the first {glue:text}`used` of these, which hold {glue:text}`100 * kept:.0f` % of $\langle \|x\|^2 \rangle$.
# That is another, smaller task and no longer exact.
# Fewer components mean fewer parameters, so that fewer images, too, give many more equations than unknowns.
#
# ### Teachers
#
# {glue:text}`teachers` networks for each $H$ are trained on all pixels of the {glue:text}`len(labels)` images, on the negative log-likelihood (Adam at the rate {glue:text}`first_run.descent.rate`, batches of 100, {glue:text}`epochs` epochs).

# %% Show sizes and accuracies
sizes = {H: MLP((len(moments), H, H, 10), "tanh").size for H in widths}
starts = {H: np.mean([m.accuracy[0] for m in row]) for H, row in every.items()}
rows = {
    "parameters": [str(sizes[H]) for H in widths],
    "accuracy in training, whole images": [
        f"{at_width[H].trained.mean():.2f}" for H in widths
    ],
    "accuracy at the start of the paths": [f"{starts[H]:.2f}" for H in widths],
}
by_width = " | " + " | ".join(f"$H = {H}$" for H in widths)
figures.table(by_width, ([name, *row] for name, row in rows.items()))

# %% [markdown]
# ### A minimum at every distance
#
# [Chapter 24](24_deep_merge.ipynb) forms the Hessian; with thousands of parameters and many images that is out of reach.
# Its products with a vector cost as much as two gradients.
# So a step $s$ minimises the quadratic model of the loss by conjugate gradients, inside a trust region $\|s\|_P \le \Delta$ (Steihaug's method): directions of negative curvature are
# followed to its border, and near a minimum the steps are Newton's.
# The metric $P$ is the Gauss–Newton matrix of the first {glue:text}`sample` images at most, in two blocks without the entries that couple them:
#
# - the later layers and the weights of the first {glue:text}`leading` components, exactly;
# - the other weights of the first layer, as a Kronecker product.
#
# Where a minimum lies does not depend on $P$.
# Coordinates of the pair and starts are those of chapter 24.
#
# A minimum counts as converged where the norm of the gradient, at fixed distance, is at most {glue:text}`TOLERANCE:≤.0e`.
# Distances at which it is not are left out; a path counts if these are at most a fifth and the last one is not among them.
# Two thirds of the distances are in the first decade, where the loss changes.
# The *barrier* is the largest loss at these distances; between them the path was not looked at, so that it is a lower bound for the largest loss on the path.
# Each path is a run of its own (`MergeRun`): its file is read, or `merge` follows it. What this page reads of them, all but the weights, is another one (`ReadMerges`).

# %% Plot loss and accuracy on the paths
figure, (left, right) = figures.panels(2)
COLOURS = ("red", "orange", "green", "blue", "purple", "grey")
for k, H in enumerate(widths):
    style = dict(color=f"book:{COLOURS[k % len(COLOURS)]}", linewidth=1.2)
    left.plot([], [], label=f"$H = {H}$", **style)
    for m in paths[H]:
        ok = converged(m)
        left.plot(delta[ok][1:], m.path.loss[ok][1:], **style)  # starts at 0
        right.plot(delta[ok], m.accuracy[ok], **style)
for axis in (left, right):
    axis.set(xscale="log", xlabel=r"distance $\delta/\delta_0$")
    axis.set(xlim=(1.2, 0.8e-4))
left.set(yscale="log" if counted else "linear", ylabel="normalised loss")
right.set(ylabel="training accuracy")
figures.show("fig_mnist_paths", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_mnist_paths
# :alt: First panel, normalised loss against distance for several widths, one curve for each path. Second panel, training accuracy against distance on the same paths.
#
# P, Fig. 3 on {glue:text}`data`, with $H$ up to {glue:text}`max(widths)`: the two most similar neurons of layer 2 are merged, every point a minimum at its distance with a gradient of at most {glue:text}`TOLERANCE:≤.0e` (profile {glue:text}`profile`).
# :::
#
# ### Rise, height and accuracy
#
# The cell counts the rising paths, fits the slope of $\ln$ mean barrier over $\ln H$ (`exponent`), and takes the largest mean {term}`drop of the accuracy <accuracy barrier>`.
# There are few paths of each width: the relative spread of the barriers is taken to be the same at all of them, and errors are widened from the normal to Student's quantile; the drop of the accuracy is bounded at every width.

# %%
claims.check("P8.projected_monotone", share, interval=interval, n=n)
claims.check("P8.projected_falls", slope, stderr=slope_error, n=n_slope)
claims.check("P8.projected_accuracy", fall, interval=around, n=n_fall)

# %% [markdown]
# {glue:text}`n` of {glue:text}`of` paths have converged; on {glue:text}`sum(rising)` of these the loss never falls by more than a thousandth of its largest value from one distance to the next. [Chapter 24](24_deep_merge.ipynb) shows that a coarse grid hides falls: this is an upper bound for the paths on which the loss never falls.
#
# ### The choice of the pair, and the end of the path
#
# The paper merges a pair "with high cosine-similarity" (P, Fig. 3).
# In {glue:text}`randoms` of the networks of each width we merge a random other pair as well, and compare the barriers within the same network.
# Similarity is taken with its sign, as in the paper; as tanh is odd, a neuron is the same function with all its weights negated, and a random pair may be alike up to that sign.
#
# Every minimum with one neuron fewer in layer 2 holds $H - 1$ permutation points, one for each neuron that is doubled. `found_at` collects, over all minima that have converged, $\rho$, the number of singular values of $J$ above a thousandth of the largest, and the index $\rho + \nu_-$ that the doubled neuron adds by {prf:ref}`thm-inertia`, with $\nu_-$ the negative eigenvalues of $D$ on the kernel of $J$, in the same sense. The minima are those of all merges; and, on {glue:text}`min(whole, DataSpec(data.name).size)` whole images, one for each width, from the most similar pair of another teacher as one neuron, with a gradient of at most {glue:text}`whole_tolerance`:

# %%
higher, error, n_above = average(above)
claims.check("P8.mnist_above", higher, stderr=error, n=n_above)
claims.check("P8.projected_points", top_slope, stderr=top_error, n=n_top)
claims.check(
    "P8.projected_points_accuracy", top_fall, interval=top_around, n=n_top_fall
)
claims.check("P8.mnist_reached_at_last", len(points), n=len(counted))
lowest, flat = min(indices, default=0), 10 - min(ranks, default=10)
claims.check("P8.projected_index", float(lowest), n=len(indices))
claims.check("P8.mnist_flat", float(flat), n=len(ranks))
least = float(min(whole_indices, default=0))
claims.check("P8.mnist_saddle", least, n=len(whole_indices))

# %% [markdown]
# On the plateau of a doubled neuron, whose output weights are shared in another way, the loss is the same, whatever the weights ({claim}`P4.plateau`); here they are random:

# %% Share the output weights of a doubled neuron in another way
small = MLP((len(moments), widths[-1], widths[-1] - 1, 10), "tanh")
theta = small.initial(40, seed)
net, point = embed(small, theta, 2, 0)  # with half of the column each
shared = normal((40, 10), seed, "output weights of one of two neurons")
moved, alone = embed(small, theta, 2, 0, shared)[1], point.clone()
alone[:, net.outgoing(2, 0)] = shared
labels_at = torch.nn.functional.one_hot(labels[:1000], 10)
level, same, other = (
    (net.forward(at, z[:1000]) - labels_at).square().sum(dim=(1, 2))
    for at in (point, moved, alone)
)

# %%
claims.check(
    "P8.mnist_plateau",
    (same / level - 1).abs().max().item(),
    n=len(level),
    rival=(other / level - 1).abs().min().item(),
)

# %% [markdown]
# Means over the paths that converged; at the permutation point they are of another network than at the end:


# %% Show the means
def mean_of(values: list[float], digits: str = ".1e", unit: float = 1) -> str:
    """The mean as text, or a dash."""
    return f"{unit * np.mean(values):{digits}}" if len(values) else "–"


rows = {
    "barrier, largest loss on the path": [mean_of(barrier[H]) for H in widths],
    "loss at the end": [mean_of(end[H]) for H in widths],
    "loss at the permutation point": [mean_of(top[H]) for H in widths],
    "drop of the accuracy at the end, points": [
        mean_of(drop[H], ".1f", 100) for H in widths
    ],
    "drop at the permutation point, points": [
        mean_of(top_drop[H], ".1f", 100) for H in widths
    ],
}
figures.table(by_width, ([name, *row] for name, row in rows.items()))

# %% Plot pairs and permutation points
figure, (left, right) = figures.panels(2)
for H, low, high in both:
    left.plot([H, H], [low, high], color="book:grey", linewidth=0.8)
for H, values in barrier.items():
    left.plot([H] * len(values), values, "o", color="book:black")
left.plot([], [], "o", color="book:black", label="most similar pair")
style = dict(color="book:grey", label="random pair")
left.plot([H for H, *_ in both], [high for *_, high in both], "s", **style)
left.set(xlabel="width $H$", ylabel="barrier", xticks=widths)
left.set(yscale="log" if counted else "linear")
if points:
    ends, tops = np.array(points).T
    line = [min(ends.min(), tops.min()), max(ends.max(), tops.max())]
    right.plot(line, line, color="book:grey", linewidth=0.8, label="equal losses")
    right.plot(ends, tops, "D", color="book:sky", label="one network (right)")
    right.set(xscale="log", yscale="log")
right.set(xlabel="loss at the end", ylabel="loss at the permutation point")
figures.show("fig_mnist_pairs", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_mnist_pairs
# :alt: First panel, barriers of the most similar and of random pairs against the width, in the same networks. Second panel, the loss at the permutation point against that at the end of the path, with the diagonal.
#
# First: barriers of the most similar pair and of a random one, lines join those of one network. Second: the permutation point is another network than the end of the path (profile {glue:text}`profile`).
# :::
#
# ### Whole images
#
# The minima with one neuron fewer on whole images:


# %% Show the minima on whole images
def span(values: torch.Tensor) -> str:
    """The least and the largest number as text."""
    least, most = int(values.min()), int(values.max())
    return f"{least}" if least == most else f"{least} to {most}"


per_width = {
    "gradient": lambda point: f"{point.gradient_norm:.0e}",
    "products with the Hessian": lambda point: str(point.products),
    "loss": lambda point: f"{point.loss:.1e}",
    r"$\rho$": lambda point: span(point.rank),
    r"index $\rho + \nu_-$": lambda point: span(point.index),
}
figures.table(
    " | " + " | ".join(f"$H = {H}$" for H in on_whole),
    ([name, *map(says, on_whole.values())] for name, says in per_width.items()),
)

# %% Numbers for the text
first_run = next(iter(teaching.values()))
norms = torch.cat([m.path.gradient_norm for r in every.values() for m in r])
usual = round(
    np.mean([m.products / distances for r in every.values() for m in r])
)
half = error_bars.QUANTILE * average(gain)[1] if n_gain >= 5 else np.nan
ratios = np.exp([gained, gained - half, gained + half])
figures.numbers(
    data_says=told,
    used=len(moments),
    rank=rank,
    leading=min(LEADING, len(moments)),
    data="MNIST" if data.name == "mnist" else "scikit-learn's digits",
    biggest=MLP((784, 25, 25, 10), "tanh").size,
    ratio=f"{ratios[0]:.2g}" if n_gain else "–",
    ratio_around="[{:.2g}, {:.2g}]".format(*ratios[1:])
    if n_gain >= 5
    else "from too few networks for an interval",
    higher=f"{np.exp(higher):.1f}" if n_above else "–",
)

# %% Numbers of the permutation points
figures.numbers(
    whole_index=span(torch.tensor(whole_indices)) if whole_indices else "–",
    whole_tolerance=f"{WHOLE_TOLERANCE:.0e}",
    grown=f"{np.median(apart):.0e}" if apart else "–",
    grown_least=f"{growth:.0e}" if apart else "–",
    sample=SAMPLE,
)

# %% Prices
needed = max((point.products for point in on_whole.values()), default=0)
dear = max(needed, usual, 1)  # products for a minimum, or more
PAPER = 784, [10, 15, 20, 25]  # pixels, and widths of P, Fig. 3
figures.numbers(
    hours=f"{core_hours(20_000, *PAPER, 3, 13, dear):.0f}",
    hours_monotone=f"{core_hours(20_000, *PAPER, 3, 39, dear):.0f}",
    dear=dear,
)

# %% [markdown]
# ### What this run found
#
# - The images may be written in an orthonormal basis of their span: losses, minima and accuracies on the paper's paths depend on nothing more ({prf:ref}`prop-span`).
# - {glue:text}`int((norms <= TOLERANCE).sum())` of {glue:text}`len(norms)` minima have a gradient of at most {glue:text}`TOLERANCE:≤.0e`, with {glue:text}`usual` products with the Hessian for each distance on average.
# - The barrier of a random pair is {glue:text}`ratio` times that of the most similar one in the same network ({glue:text}`ratio_around`; geometric mean over {glue:text}`len(gain)` networks, interval at two-sided $10^{-3}$): {claim}`P8.mnist_similar`.
# - At the {glue:text}`len(indices)` permutation points over the minima found the doubled neuron adds {glue:text}`lowest` to {glue:text}`max(indices, default=0)` negative eigenvalues ({claim}`P8.projected_index`), and the critical part of the plateau has at most {glue:text}`flat` of its ten dimensions ({claim}`P8.mnist_flat`, {prf:ref}`cor-plateau`), on all of which the loss is the same ({claim}`P8.mnist_plateau`); at {glue:text}`len(whole_indices)` on whole images it adds {glue:text}`whole_index` ({claim}`P8.mnist_first_order`).
# - Where the paths end: the output weights of the pair have grown by a factor of {glue:text}`grown` (median; least {glue:text}`grown_least`; bounded at a permutation point: {claim}`P8.mnist_reached`), and the minimum of the merged network lies {glue:text}`higher` times as high (geometric mean; {claim}`P8.mnist_above`). From {glue:text}`len(points)` ends a minimisation with the two neurons as one converges ({claim}`P8.mnist_reached_at_last`).
#   Descent that stops earlier ends elsewhere ([chapter 24](24_deep_merge.ipynb)).
#
# What this page cannot decide are the statements on paths with whole images at $H$ from 10 to 25.
# The most expensive minimum on whole images took {glue:text}`needed` products with the Hessian (of a budget of {glue:text}`whole_products`), where {glue:text}`usual` did on average with the leading components.
# With {glue:text}`dear` products for a minimum, on all 784 pixels, the design of P, Fig. 3 (60 000 images, 100 distances, 6 {term}`teachers <teacher and student>` at each width) would cost {glue:text}`core_hours(60_000, *PAPER, 6, 100, dear):.0f` hours of one core in double precision. Less decides:
# 20 000 images still give many equations for each weight, and with 3 teachers at each width 12 rising paths of 12 are most. Then 12 distances and the permutation point, for barrier and accuracy, cost {glue:text}`hours` hours, and 38 distances, 25 of them in the first decade as in the paper, for the rise, {glue:text}`hours_monotone`. Larger networks may need more products.
#
# ### Exercises
#
# :::{exercise}
# Many pixels at the border are the same in all images. Show that all constant pixels together add at most one dimension to the span of the images, and none if they are 0. How many weights of the first layer are superfluous if $T$ images of $n$ pixels span $r$ dimensions?
# :::
#
# :::{solution}
# Write $x_\mu = (u_\mu, w)$ with the varying pixels $u_\mu$ and the constant ones $w$, the same for all $\mu$.
# Every linear combination $\sum_\mu t_\mu x_\mu$ lies in the sum of $\{(u, 0)\}$ with $u$ in the span of the $u_\mu$, and of the line through $(0, w)$, which is 0 if $w$ is.
# By {prf:ref}`prop-span` a first layer of $H$ neurons needs $H r$ weights instead of $H n$; $H (n - r)$ are superfluous: outputs and loss do not depend on $W (1 - Q Q^\top)$.
# :::
#
# :::{exercise}
# Add weight decay $\beta \|W\|^2$, $\beta > 0$, to the loss. Is $W \mapsto W Q$ still a correspondence of local minima, and what does gradient descent do with the part of $W$ that no image sees?
# :::
#
# :::{solution}
# Write $W = V Q^\top + R$ with $V = W Q$ and $R Q = 0$. Then $\|W\|^2 = \|V\|^2 + \|R\|^2$ and
#
# $$
# L(W) + \beta \|W\|^2 = \bigl[ L'(V) + \beta \|V\|^2 \bigr] + \beta \|R\|^2 .
# $$
#
# The two terms have no variable in common.
# So $W$ is a local minimum if and only if $R = 0$ and $V$ is a local minimum of the bracket: there is now one $W$ for each $V$, namely $V Q^\top$, where there was a whole affine space of them.
# A step of descent with rate $\eta$ multiplies $R$ by $1 - 2\eta\beta$ and moves $V$ as descent on the bracket does; $R$ decays and has no effect on the outputs.
# :::
#
# :::{try}
# More components of more images:
#
#     make chapter NAME=permutation_saddles_on_mnist ARGS="-p images 5000 -p components 100 -p teachers 4"
# :::
#
# ### Versions

# %% Versions and time
print(chapter.end())
