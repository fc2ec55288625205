# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Bringing two similar neurons together gets cheap quickly as networks widen
#
# *What does it cost to make two similar neurons alike, and is it cheaper in a wider network?*
#
# Hardly any accuracy (small digits, worst width): a change of **[[-100 * P8.accuracy:±]] points**. The highest loss on the way falls like the width to the power **[[P8.falls:±]]**. On no path do the two become one; with one neuron fewer the loss is **[[2.718281828 ** P8.above:.1f]] times** ([[2.718281828 ** P8.above:to]]) that at its end.
#
# :::{glue:figure} fig_heights
# :alt: First panel, highest loss on the way against the width, both logarithmic, as a share of that at the narrowest of the paper's widths: a straight line that falls with the recorded exponent of [[P8.falls:±]], in a fan that is its interval. Second panel, loss over that at the end of the way: a dot at [[2.718281828 ** P8.above:.1f]] for networks with one neuron fewer, with its interval of [[2.718281828 ** P8.above:to]], right of a dotted line at 1.
#
# Recorded on small digits at the paper's widths, not of this run. First: the power law, 1 at the narrowest width. Second: loss with one neuron fewer, 1 at the end of the way. Shaded, bar: 99.9 % intervals.
# :::
#
# **How sure.** [[n(P8.falls)]] converged paths at the paper's four widths on small digits, the last number on [[n(P8.above)]]; recorded. On MNIST: paths on leading components only (chapter 52).
#
# | We expected | We find | By how much |
# | --- | --- | --- |
# | On digits, too, “the barrier height … decreased” with the width $H$ (Brea et al., sec. 5, of MNIST) | [true](#P8.falls) | like $H$ to the power [[P8.falls:±]] |
# | Accuracy, too, “decreases only marginally” (Fig. 3B) | [true](#P8.accuracy) | it changes by [[-100 * P8.accuracy:±]] points |
# | “in most cases the loss increased monotonically” (sec. 5) | [open](#P8.monotone) | a coarse grid hides falls |
# | Output weights diverge; the pair ends as a neuron and its derivative | [true](#P8.runs_away) | on [[P8.runs_away * n(P8.runs_away):.0f]] of [[n(P8.runs_away)]] paths |
# | One neuron fewer costs more | [true](#P8.above) | [[2.718281828 ** P8.above:.1f]] times ([[2.718281828 ** P8.above:to]]) the path's end |
#
# **Open.** On digits, monotone “in most cases” or not: some ten hours of one core. On MNIST, all three sentences: not run on whole images (chapter 52).
#
# **For the authors.** No sentence to change. How was “until convergence” measured? A budget gives other heights.

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
if widest < narrowest + 3:
    raise ValueError(f"widest = {widest}; allowed: {narrowest + 3} or more")

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
# Brea, Şimşek, Illing & Gerstner (P) {cite:p}`brea2019` merge two neurons in the second layer of networks trained on MNIST, with descent “until convergence” at every distance (P, section 5 and Fig. 3). Here the data are the small digits that ship with scikit-learn, and the minimiser is a second-order one, so that convergence is measured.
#
# :::{need}
# You need: [](21_merging_neurons.ipynb), for {term}`permutation points <permutation point>`, {term}`derivative neurons <derivative neuron>` and $J$. The statements judged here are this book's own, about the digits; MNIST, on which the paper's are judged, is the subject of [](52_permutation_saddles_on_mnist.ipynb). {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $H$ | neurons in each of the two hidden layers |
# | $\delta$, $\delta_0$ | distance of the parameter vectors of the two neurons; at the start |
# | $a_0$, $a_1$ | their outgoing columns |
# | $f$, $x^\mu$, $y^\mu$ | network; the $\mu$-th of $T$ images; its target, the logits of the trained network |
# | $L$ | normalised loss, below |
# | $J$ | matrix of {prf:ref}`thm-ends`, with rank $\rho$; only where it is 0 can a path end at a permutation point |
#
# ## The paper's experiment, on small digits and converged
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

# %% Merge the most similar pair in every network
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
    # the permutation point: one neuron fewer, minimised over what is left
    small, start = reduce_pair(net, path.theta[-1], layer=2)
    loss = normalised_loss(small, y)
    end, norm = damped_newton(
        loss, start, newton_steps if ok[-1] else 0, TOLERANCE
    )
    return Merge(ok, path.only(ok), scores, loss(end).item(), norm <= TOLERANCE)


# %% Train the networks and merge in each
nets = {H: MLP((16, H, H, 10), "tanh") for H in WIDTHS}
trained = {
    H: train_classifiers(net, x, labels, teachers, training, seed + H)
    for H, net in nets.items()
}
every = {H: [merge(nets[H], theta) for theta in trained[H]] for H in WIDTHS}

# %% [markdown]
# A minimum counts as converged where the norm of the gradient, at fixed distance, is at most {glue:text}`TOLERANCE:≤.0e`. Distances at which it is not are left out; a path counts if these are at most a fifth and the last one is not among them. In this run {glue:text}`n` of {glue:text}`of` paths count.

# %% Select the paths that count
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
    for m in paths[H]:
        left.plot(delta[m.ok][1:], m.path.loss[1:], **style)  # starts at 0
        right.plot(delta[m.ok], m.scores, **style)
    if paths[H]:
        height = np.mean([m.path.loss[-1].item() for m in paths[H]])
        left.text(
            0.7e-4, height, f"$H = {H}$", color=f"book:{colour}", va="center"
        )
for axis in (left, right):
    axis.set(
        xscale="log", xlabel=r"distance $\delta/\delta_0$ (falls to the right)"
    )
    axis.set(xlim=(1.2, 0.8e-4))
left.set(yscale="log", ylabel="normalised loss")
right.set(ylabel="training accuracy")
figures.show("fig_deep", figure)

# %% [markdown]
# :::{glue:figure} fig_deep
# :alt: First panel, normalised loss against the distance, one curve a network in the colour of its width: it rises to a plateau, lower for wider networks. Second panel, training accuracy against the distance: nearly flat.
#
# As P, Fig. 3, on scikit-learn's digits: loss (first panel) and training accuracy (second panel, in the same colours; its axis does not begin at 0) while a pair in layer 2 is merged (profile {glue:text}`profile`).
# :::
#
# ## The barrier falls with the width, the accuracy hardly changes
#
# The *{term}`barrier`* of a path is its largest loss. Its mean falls by a power of the width; the {term}`drop of the accuracy <accuracy barrier>` is taken at the end of the path.


# %% Exponents in the width, and the largest drop
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
slope, slope_error = exponent(barrier)
end_slope, end_error = exponent(end)

some = [H for H in WIDTHS if len(drop[H]) > 1]
mean, error = mean_and_error([drop[H] for H in some])
worst = int(np.argmax(mean)) if some else 0  # width with the largest mean drop

# %%
n_slope = n if np.isfinite(slope) else 0
claims.check("P8.falls", slope, stderr=slope_error, n=n_slope)
one = 1 / images  # the least that the accuracy of one network can change
least = one / max(1, teachers) ** 0.5
fell = (float(mean[worst]), max(float(error[worst]), least)) if some else (0, 1)
claims.check("P8.accuracy", *fell, n=n if some else 0)

# %% [markdown]
# The recorded widths are the paper's. A power of $-[[abs(P8.falls):.1f]]$ means that twice the width divides the barrier by about [[2 ** abs(P8.falls):.0f]].
#
# ## A coarse grid hides falls of the loss
#
# On {glue:text}`sum(rising)` of this run's {glue:text}`n` paths the loss never falls from one of {glue:text}`distances` distances to the next by more than a thousandth of its largest value ({glue:text}`sum(strictly)`: by more than a millionth). But between two distances nothing has been looked at. So each of these paths is followed once more, with four times as many distances in the first decade.

# %% Look four times as finely
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

# %% The share of paths on which the loss never falls
rose = sum(rising_finely)
share = rose / max(n, 1)
low = error_bars.share(rose, of)[1]  # if none of the others rose
high = error_bars.share(rose + of - n, of)[2]  # if all did

# %%
claims.check("P8.monotone", share, interval=(low, high), n=n)

# %% [markdown]
# On {glue:text}`rose` the loss does not fall there either. So the number of paths on which no fall is seen is an upper bound, and the question stays open until the finer distances are run at the recorded size.
#
# ## The path ends beside the permutation point
#
# With ten outputs $J \ne 0$ in general, and then no path of constrained {term}`minima <minimum>` ends at a permutation point with bounded output weights ({prf:ref}`thm-ends`): $a_0$ and $a_1$ grow like $1/\delta$, and the pair becomes a neuron and a derivative neuron, in a channel to infinity {cite:p}`martinelli2025`. Only where the output weights have been made equal, and everything else minimised again, lies the permutation point of P, section 4.1; it is a minimum of the network with one neuron fewer.

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
# ## What it means for merging networks
#
# To make the two most similar neurons of a wide layer alike costs little accuracy. What is left after pruning one of them is the network of the permutation point, whose loss is higher on average and whose accuracy was not measured. (No exchange is made here: at a derivative neuron the two do not change places.) A price that is quoted after a fixed number of steps is an upper bound on the way there.
#
# **Read on.** [](52_permutation_saddles_on_mnist.ipynb): the same on MNIST. [](21_merging_neurons.ipynb): the theory of the ends. [](51_width_barriers.ipynb): width and straight lines.
#
# ## Evidence
#
# ### How high the tops between the distances are
#
# From one minimum to the next we take a path that is continuous: straight to the start of the next descent, and along its steps; the largest loss on it, the *top*, bounds what the merge costs.

# %%
claims.check("P8.top", float(np.median(tops[1] or 1)), n=len(finer))

# %% [markdown]
# In this run the top is {glue:text}`tops` times the barrier (median, largest); on the finer path it is {glue:text}`finer_tops` times: the barriers are right to that factor.
#
# ### Means over the paths that count


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
    tops=", ".join(f"{f(tops[0]):.2f}" for f in (np.median, max))
    if finer
    else "–",
    finer_tops=", ".join(f"{f(tops[1]):.2f}" for f in (np.median, max))
    if finer
    else "–",
    end_slope=f"{end_slope:.1f} ± {end_error:.1f}"
    if np.isfinite(end_slope)
    else "–",
)

# %% Plot the recorded law and the recorded price of one neuron fewer
steep, fewer = claims.recorded("P8.falls"), claims.recorded("P8.above")
first, last = (steep["parameters"][name] for name in ("narrowest", "widest"))
recorded_widths = np.geomspace(first, last, 50)
figure, (left, right) = figures.panels(2, height=2.7)
powers = [(recorded_widths / first) ** steep[k] for k in ("low", "value", "high")]
left.fill_between(recorded_widths, *powers[::2], color="book:blue", alpha=0.2)
left.plot(recorded_widths, powers[1], color="book:blue")
half = (steep["high"] - steep["low"]) / 2
says = f"power −{-steep['value']:.1f} ± {half:.1f}"
style = dict(color="book:blue", weight="bold", transform=left.transAxes)
left.text(0.06, 0.1, says, **style)
ticks = [first + (last - first) * k // 3 for k in range(4)]
left.set(xscale="log", yscale="log", xlabel="neurons in each hidden layer")
left.set(ylabel="highest loss on the way")
left.set_xticks(ticks, ticks)
left.minorticks_off()
factors = [np.exp(fewer[name]) for name in ("low", "value", "high")]
right.plot(factors[::2], [0, 0], color="book:red", linewidth=2)
right.plot(factors[1], 0, "o", color="book:red", markersize=7)
says = f"one neuron fewer: {factors[1]:.1f} times"
style = dict(color="book:red", weight="bold", ha="center")
right.text(factors[1], 0.25, says, **style)
right.axvline(1, color="book:black", linestyle=":")
right.text(1.05, -0.7, "end of the way")
right.set(xlim=(0.5, 3.2), ylim=(-1, 1), yticks=[])
right.set_xlabel("loss, over that at the end of the way")
figures.show("fig_heights", figure)

# %% [markdown]
# The exponent of the loss at the end is {glue:text}`end_slope` in this run (standard error); P names none, and its data differ.
#
# ### A budget of descent ends elsewhere
#
# A budget of gradient descent at every distance, in the paper's coordinates, on all networks of two widths:


# %% Descend with a budget
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
    written = f"{low:.1e}", f"{high:.1e}", f"{power:.1f}"
    rows.append([budget, *("–" if "nan" in one else one for one in written)])
head = f"$H = {narrow}$ | $H = {wide}$ | exponent between the two"
figures.table(f"steps at each distance | {head}", rows)

# %% [markdown]
# Both the loss and the exponent of its decrease with the width depend on the budget: the height that is read off after a budget of gradient descent is a statement about the budget as well.
#
# ### Exercises
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
# ### Run it yourself
#
# :::{try}
# Wider networks; the verdicts stay. Look at {numref}`fig-deep`, and at how many paths still converge.
#
#     make chapter NAME=deep_merge ARGS="-p widest 12"
# :::

# %% Versions and time
print(chapter.end())
