# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Two neurons made alike in a deeper network
#
# :::{summary}
# **Question.** What does it cost to make two similar neurons alike in a deeper, trained network, and does it cost less in a wider one?
#
# **The paper.** Brea, Şimşek, Illing & Gerstner (P) {cite:p}`brea2019` merge two neurons in the second layer of networks trained on MNIST, with descent "until convergence" at every distance. They report (P, section 5 and Fig. 3) that in
# most cases the loss rises monotonically towards the {term}`permutation point`; that the {term}`barrier`, the loss at the saddle, falls with the width; and that the accuracy hardly suffers.
#
# **What we find.** On the small digits that ship with scikit-learn, with a second-order minimiser whose convergence is measured, the barrier falls with the width ({claim}`P8.falls`) and the accuracy hardly suffers ({claim}`P8.accuracy`).
# On {glue:text}`rising` of {glue:text}`counted` paths the loss never falls from one of {glue:text}`distances` distances to the next; looked at four times as finely, on {glue:text}`rising_finely` ({claim}`P8.monotone`).
# The paths end at a network with a {term}`derivative neuron`, in the mean below the permutation point ({claim}`P8.runs_away`, {claim}`P8.above`).
#
# **Why it matters.** In wide networks two neurons can be made alike cheaply; how cheaply depends on how long one minimises.
# :::
#
# :::{need}
# You need: [](21_merging_neurons.ipynb), for permutation points, derivative neurons and $J$. The statements in this chapter's boxes are this book's own, about the digits; MNIST, on which the paper's are judged, is the subject of
# [](52_permutation_saddles_on_mnist.ipynb). {{ times }}
# :::

# %% Parameters tags=["parameters"]
teachers: int = 4  # networks per width; 6 in the paper
narrowest: int = 4  # smallest of four evenly spaced H; 10 in the paper
widest: int = 8  # largest H; 25 in the paper
images: int = 150  # digits, 1797 are all of them
distances: int = 12  # down to 1/10000; 100 in the paper
newton_steps: int = 40  # budget of the second-order method at every distance
descent: int = 24  # budget of gradient descent at every distance, for comparison
training: int = 300  # steps of training for the teachers
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    teachers=Integer(2, 1000),
    narrowest=Integer(2, 50),
    widest=Integer(5, 100),
    images=Integer(50, 1797),
    distances=Integer(4, 10_000),
    newton_steps=Integer(1, 1_000_000),
    descent=Integer(4, 1_000_000),
    training=Integer(1, 1_000_000),
)

from dataclasses import dataclass

import numpy as np
import torch

from lmc_helpers import claims, error_bars, figures
from lmc_helpers._chapters.deep_merge import train_classifiers
from lmc_helpers.data.digits import digits
from lmc_helpers.error_bars import mean_and_error, slope_and_error
from lmc_helpers.permutation_points import (
    MLP,
    ConvergedPath,
    PairChart,
    accuracy,
    converged_path,
    damped_newton,
    gradient,
    most_similar_neurons,
    reduce_pair,
    squared_loss,
)
from lmc_helpers.permutation_points.pair import ChartLoss

# %% [markdown]
# ## The experiment
#
# Networks $16 \to H \to H \to 10$, {glue:text}`teachers` for each $H$, are trained on the negative log-likelihood (Adam, {glue:text}`training` steps on all {glue:text}`images` images, averaged to
# $4 \times 4$ pixels). P does not say which activation its Fig. 3 uses; it is tanh here, since a minimum on a kink has no small gradient to show that descent has converged. The pair of neurons in layer 2 with the highest cosine
# similarity is merged. The loss is the paper's,
#
# $$
# L = \frac{1}{T} \sum_\mu \frac{\| y^\mu - f(x^\mu) \|^2}{\langle y_i^2 \rangle},
# $$
#
# with the network's own logits $y^\mu$ as targets and the mean over patterns and dimensions in the denominator. The distance $\delta$ of the two parameter vectors falls in logarithmic steps from $\delta_0$ to $10^{-4} \delta_0$, as in the paper; two thirds of them are in
# the first decade here, where the loss changes.

# %%
pixels, labels = digits(images, seed)  # (T, 64) and (T,)
x = pixels.view(-1, 4, 2, 4, 2).mean(dim=(2, 4)).flatten(1)  # (T, 16)
early = 2 * distances // 3  # distances in the first decade
decade = torch.logspace(0, -1, early + 1, dtype=torch.float64)[:-1]
rest = torch.logspace(-1, -4, distances - early, dtype=torch.float64)
delta = torch.cat([decade, rest])  # δ/δ_0, (K,)
WIDTHS = [narrowest + (widest - narrowest) * k // 3 for k in range(4)]
TOLERANCE = 1e-8  # norm of the gradient at which a minimum has converged
MISSES = distances // 5  # distances at which a path that counts has not
FALLS = 1e-3  # of the largest loss: what counts as a fall, as in chapter 52


def normalised_loss(net: MLP, y: torch.Tensor):
    """L as a function of θ (..., p), with targets y (..., T, 10)."""
    return squared_loss(net, x, y, 1 / (len(x) * y.square().mean(dim=(-2, -1))))


@dataclass
class Merge:
    """One pair: the path, and the permutation point below its end."""

    ok: torch.Tensor  # (K,), distances at which the minimum has converged
    path: ConvergedPath  # at these
    scores: torch.Tensor  # training accuracy at these
    point: float  # loss at the permutation point
    point_ok: bool


def merge(net: MLP, theta: torch.Tensor) -> Merge:
    """Merge the most similar neurons of layer 2 of one network."""
    y = net.forward(theta, x)  # logits, (T, 10)
    loss, chart = normalised_loss(net, y), PairChart(net, layer=2)
    pair = most_similar_neurons(net, theta, x, layer=2)
    budget = newton_steps, TOLERANCE
    path = converged_path(loss, chart, theta, pair, delta, *budget, misses=MISSES)
    ok = path.gradient_norm <= TOLERANCE
    scores = accuracy(net, path.theta[ok], x, labels)
    # the permutation point: one neuron less, minimised over what is left
    small, start = reduce_pair(net, path.theta[-1], layer=2)
    loss = normalised_loss(small, y)
    end, norm = damped_newton(
        loss, start, newton_steps if ok[-1] else 0, TOLERANCE
    )
    return Merge(ok, path.only(ok), scores, loss(end).item(), norm <= TOLERANCE)


nets = {H: MLP((16, H, H, 10), "tanh") for H in WIDTHS}
trained = {
    H: train_classifiers(net, x, labels, teachers, training, seed + H)
    for H, net in nets.items()
}
every = {H: [merge(nets[H], theta) for theta in trained[H]] for H in WIDTHS}

# %% [markdown]
# A minimum counts as converged where the norm of the gradient, at fixed distance, is at most {glue:text}`tolerance`. Distances at which it is not are left out; a path counts if these are at most a fifth and the last one is not among them. Barrier, end and
# {term}`drop of the accuracy <accuracy barrier>` for the paths that count:

# %%
paths = {
    H: [m for m in found if m.ok[-1] and (~m.ok).sum() <= MISSES]
    for H, found in every.items()
}
counted = [m for found in paths.values() for m in found]
rising = [m.path.rises(FALLS) for m in counted]  # the loss never falls
strictly = [m.path.rises(1e-6) for m in counted]
barrier, end, drop = {}, {}, {}
for H, found in paths.items():
    barrier[H] = [m.path.loss.max().item() for m in found]
    end[H] = [m.path.loss[-1].item() for m in found]
    drop[H] = [(m.scores[0] - m.scores[-1]).item() for m in found]

# %% Plot loss and accuracy on the paths
figure, (left, right) = figures.panels(2)
for H, colour in zip(WIDTHS, ("red", "orange", "green", "blue"), strict=True):
    style = dict(color=f"book:{colour}", linewidth=1.2)
    left.plot([], [], label=f"$H = {H}$", **style)
    for m in paths[H]:
        left.plot(delta[m.ok][1:], m.path.loss[1:], **style)  # starts at 0
        right.plot(delta[m.ok], m.scores, **style)
for axis in (left, right):
    axis.set(xscale="log", xlabel=r"distance $\delta/\delta_0$")
    axis.set(xlim=(1.2, 0.8e-4))
left.set(yscale="log", ylabel="normalised loss")
right.set(ylabel="training accuracy")
figures.show("fig_deep", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_deep
# :alt: Left, normalised loss against distance for four widths. Right, training accuracy against distance.
#
# P, Fig. 3 on scikit-learn's digits, with $H$ up to {glue:text}`widest`: a pair of similar neurons in layer 2 is merged, every point a minimum at its distance with a gradient of at most
# {glue:text}`tolerance` (profile {glue:text}`profile`).
# :::
#
# ## What a coarse grid hides
#
# Between two distances nothing has been looked at: the loss may fall and rise again, and its top may be missed. So each path that never falls is followed once more, with four times as many distances in the first decade.
# And from one minimum to the next we take a path that is continuous: straight to the start of the next descent, and along its steps; the largest loss on it, the *top*, bounds what the merge costs.

# %%
first_decade = delta[: early + 1].log()  # (early + 1,)
between = torch.linspace(0, 1, 5, dtype=torch.float64)[:-1]
fine = first_decade[:-1, None] + between * first_decade.diff()[:, None]
fine = torch.cat([fine.flatten().exp(), delta[early:]])  # four times as many


def look_closer(net: MLP, theta: torch.Tensor) -> ConvergedPath:
    """The path of one network at the finer distances."""
    loss, chart = normalised_loss(net, net.forward(theta, x)), PairChart(net, 2)
    pair = most_similar_neurons(net, theta, x, layer=2)
    budget = newton_steps, TOLERANCE
    path = converged_path(loss, chart, theta, pair, fine, *budget, misses=MISSES)
    return path.only(path.gradient_norm <= TOLERANCE)


finer = {}  # position among the counted → path
place = 0
for H in WIDTHS:
    for theta, m in zip(trained[H], every[H], strict=True):
        if any(m is one for one in counted):
            if m.path.rises(FALLS):
                finer[place] = look_closer(nets[H], theta)
            place += 1
rising_finely = [
    k in finer and finer[k].rises(FALLS) for k in range(len(counted))
]
tops = [  # over the barrier, at the distances above and at the finer ones
    [(path.top.max() / counted[k].path.loss.max()).item() for k, path in some]
    for some in ([(k, counted[k].path) for k in finer], finer.items())
]

# %% [markdown]
# ## Monotone, lower in wider networks, harmless for the accuracy
#
# The share of paths whose loss never falls, the exponent of the barrier in the width, and the largest mean drop of the accuracy:


# %%
def exponent(of_width: dict[int, list[float]]) -> tuple[float, float]:
    """Slope of ln(mean) in ln H and its standard error; widths with two or more.

    The relative spread is taken to be the same at all widths, for there are few paths.
    """
    widths = [H for H in WIDTHS if len(of_width[H]) > 1]
    if len(widths) < 2:
        return float("nan"), float("nan")  # not run
    mean, error = mean_and_error([of_width[H] for H in widths])
    count = np.array([len(of_width[H]) for H in widths])
    spread = np.average(count * (error / mean) ** 2, weights=count - 1)
    return slope_and_error(np.log(widths), np.log(mean), np.sqrt(spread / count))


n, of = len(counted), teachers * len(WIDTHS)
rose = sum(rising_finely)
share = rose / max(n, 1)
low = error_bars.share(rose, of)[1]  # if none of the others rose
high = error_bars.share(rose + of - n, of)[2]  # if all did
slope, slope_error = exponent(barrier)
end_slope, end_error = exponent(end)

some = [H for H in WIDTHS if len(drop[H]) > 1]
mean, error = mean_and_error([drop[H] for H in some])
worst = int(np.argmax(mean)) if some else 0  # width with the largest mean drop

# %%
claims.check("P8.monotone", share, interval=(low, high), n=n)
n_slope = n if np.isfinite(slope) else 0
claims.check("P8.falls", slope, stderr=slope_error, n=n_slope)
one = 1 / images  # the least that the accuracy of one network can change
least = one / max(1, teachers) ** 0.5
fell = (float(mean[worst]), max(float(error[worst]), least)) if some else (0, 1)
claims.check("P8.top", float(np.median(tops[1] or 1)), n=len(finer))
claims.check("P8.accuracy", *fell, n=n if some else 0)


# %% [markdown]
# {glue:text}`counted` of {glue:text}`all_paths` paths have converged. On {glue:text}`rising` of these the loss never falls from one distance to the next by more than a thousandth of its largest value ({glue:text}`strictly`: by more than a millionth), and on {glue:text}`rising_finely` not at four times as many distances either; the interval of the share allows for either answer on the others.
# The top of the continuous path is {glue:text}`tops` times the barrier (median, largest); on the finer path it is {glue:text}`finer_tops` times: the barriers are right to that factor. Means over those that converged:


# %% Show the means
def mean_of(values: list[float], digits: str = ".1e") -> str:
    """The mean as text, or a dash."""
    return f"{np.mean(values):{digits}}" if values else "–"


point = {H: [m.point for m in paths[H] if m.point_ok] for H in WIDTHS}
points = {H: [100 * v for v in drop[H]] for H in WIDTHS}
rows = {
    "barrier, largest loss on the path": [mean_of(barrier[H]) for H in WIDTHS],
    "loss at the end": [mean_of(end[H]) for H in WIDTHS],
    "loss at the permutation point": [mean_of(point[H]) for H in WIDTHS],
    "drop of the accuracy, points": [mean_of(points[H], ".1f") for H in WIDTHS],
}
head = " | ".join(f"$H = {H}$" for H in WIDTHS)
figures.table(f" | {head}", ([name, *row] for name, row in rows.items()))
figures.numbers(
    tolerance=f"{TOLERANCE:.0e}",
    all_paths=of,
    counted=n,
    rising=sum(rising),
    strictly=sum(strictly),
    rising_finely=rose,
    tops=", ".join(f"{f(tops[0]):.2f}" for f in (np.median, max))
    if finer
    else "–",
    finer_tops=", ".join(f"{f(tops[1]):.2f}" for f in (np.median, max))
    if finer
    else "–",
    end_slope=f"{end_slope:.1f} ± {end_error:.1f}",
)

# %% [markdown]
# ## Where the path ends
#
# The third row is another network than the second. With ten outputs the matrix $J$ of {prf:ref}`thm-ends` is not 0 in general, and then no path of constrained {term}`minima <minimum>` ends at a permutation point with bounded output weights: $a_0$ and $a_1$
# grow like $1/\delta$, and the pair becomes a neuron and a *derivative neuron*. Only where the output weights have been made equal, and everything else minimised again, lies the permutation point of P, section 4.1; it is a minimum
# of the network with one neuron less, and in the mean its loss is higher where this was decided ({claim}`P8.above`).

# %%
size = [m.path.outgoing for m in counted]  # larger output weight
ran_away = [bool(a[-1] > 100 * a[0]) for a in size]
both = [m for m in counted if m.point_ok]
above = [np.log(m.point / m.path.loss[-1].item()) for m in both]
away = error_bars.share(sum(ran_away), n) if n else (0.0, 0.0, 1.0)
enough = len(above) > 1
higher, higher_error = mean_and_error([above]) if enough else ([0.0], [1.0])

# %%
claims.check("P8.runs_away", *away, n=n)
n_above = len(above) if enough else 0
error = float(higher_error[0])
claims.check("P8.above", float(higher[0]), stderr=error, n=n_above)

# %% [markdown]
# Descent that stops earlier ends elsewhere. The next cell spends a budget of gradient descent at every distance, in the paper's coordinates, on all networks of two widths:


# %%
def by_descent(net: MLP, theta: torch.Tensor, budget: int) -> list[float]:
    """Losses at the end after ``budget`` steps at each distance, (teachers,)."""
    loss = normalised_loss(net, net.forward(theta, x))
    chart = PairChart(net, 2, "paper")
    pairs = [most_similar_neurons(net, t, x, layer=2) for t in theta]
    both = zip(theta, pairs, strict=True)
    phi = chart.coordinates(
        torch.stack([chart.bring_forward(t, *p) for t, p in both])
    )
    first = phi[:, -1].clone()
    for distance in delta:
        phi = chart.closer(phi, distance * first)
        for _ in range(budget):
            phi = phi - 0.01 * gradient(ChartLoss(loss, chart), phi)
        phi = chart.unit(phi)
    return loss(chart.weights(phi)).tolist()


budgets = (descent // 4, descent, 4 * descent)
at_budget = {
    (H, budget): by_descent(nets[H], trained[H], budget)
    for H in (WIDTHS[0], WIDTHS[-1])
    for budget in budgets
}

# %% Show the losses at the end
narrow, wide = WIDTHS[0], WIDTHS[-1]
losses = {
    str(b): [np.mean(at_budget[H, b]) for H in (narrow, wide)] for b in budgets
}
losses["converged (paths that count)"] = [
    np.mean(end[H]) if end[H] else float("nan") for H in (narrow, wide)
]
rows = []
for budget, (low, high) in losses.items():
    power = np.log(high / low) / np.log(wide / narrow)
    rows.append([budget, f"{low:.1e}", f"{high:.1e}", f"{power:.1f}"])
head = f"$H = {narrow}$ | $H = {wide}$ | exponent between the two"
figures.table(f"steps at each distance | {head}", rows)

# %% [markdown]
# Both the loss and the exponent of its decrease with the width depend on the budget.
#
# ## What we found that the paper does not say
#
# - The loss at the end of converged paths falls with the exponent {glue:text}`end_slope` in the width; P names none, and its data differ.
# - With several outputs and $J \ne 0$ no path of constrained minima ends at a permutation point with bounded output weights ({prf:ref}`thm-ends`). The converged paths here end at a network with a derivative neuron, in a channel to infinity {cite:p}`martinelli2025` ({claim}`P8.runs_away`). In the mean its end lies below the permutation point ({claim}`P8.above`).
# - A coarse grid hides falls of the loss: the number of paths on which none is seen at the distances looked at is an upper bound for the number on which the loss never falls.
# - The height that is read off after a budget of gradient descent is a statement about the budget as well.
#
# ## What it means for merging networks
#
# To make the two most similar neurons of a wide layer alike costs little. What is left after pruning one of them is the network of the permutation point, whose loss is higher in the mean ({claim}`P8.above`) and whose accuracy was not measured. (No exchange is made here: at a derivative neuron the two do not change places.) A price that is quoted after a fixed number of steps is an upper bound on the way there, and at the merged
# network itself the price is that of a minimum with one neuron less.
#
# **Read on.** [](52_permutation_saddles_on_mnist.ipynb): the same on MNIST. [](21_merging_neurons.ipynb): the theory of the ends. [](51_width_barriers.ipynb): width and straight lines.
#
# ## Exercises
#
# :::{exercise}
# What is the normalised loss of a network whose outputs are all 0? What relative error of the outputs does a loss of $0.1$ mean?
# :::
#
# :::{solution}
# The denominator is $\frac1{10 T} \sum_\mu \|y^\mu\|^2$, so $L = 10\, \sum_\mu \|y^\mu - f(x^\mu)\|^2 / \sum_\mu \|y^\mu\|^2$: 10 for outputs 0. A loss of $0.1$ is a relative squared error of $0.01$, a tenth of the outputs' norm.
# :::
#
# :::{exercise}
# In a network with $H = 4$ and ten outputs a neuron of layer 2 is doubled, over a minimum of the network with three neurons there, and the targets are the logits of a teacher with $H = 4$. How large can $\rho = \operatorname{rank} J$ be? What does {prf:ref}`thm-inertia` then say of the eigenvalues at the permutation point?
# :::
#
# :::{solution}
# The output layer solves a least-squares problem. So the residuals, and the columns of the student's $W^{(3)}$, $c$ among them, lie in the range of the teacher's $W^{(3)}$, of dimension 4. The columns of $J$ are sums of residuals, and $c^\top J = 0$: they lie in a space of dimension 3, and $\rho \le H - 1 = 3$.
# If $\rho = 3$, the kernel of $J$ has dimension $5 - 3 = 2$, and doubling adds $(3 + \nu_-,\; 7 + \nu_0,\; 3 + \nu_+)$ with $\nu_- + \nu_0 + \nu_+ = 2$: at least three negative eigenvalues, whatever $D$ is. Such a point is no end of a path of minima, as {prf:ref}`thm-ends` says.
# :::
#
# :::{try}
# Wider networks:
#
#     make chapter NAME=deep_merge ARGS="-p widest 15 -p teachers 2"
# :::

# %% Versions and time
print(chapter.end())
