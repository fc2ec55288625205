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
# # Merging in a deeper network
#
# Brea, Şimşek, Illing and Gerstner {cite:p}`brea2019` merge two neurons in the second layer of networks trained on MNIST: two neurons of high cosine similarity, targets that are the logits
# of the network itself, a budget of full-batch gradient descent at every distance. The normalised loss at the end falls with the width, and the accuracy hardly
# suffers. This chapter repeats it on the small digits that ship with scikit-learn. MNIST itself is not decided here.

# %% tags=["parameters"]
teachers: int = 6  # networks per width, as in the paper
images: int = 600  # digits, 1797 are all of them
distances: int = 30  # log-spaced, down to 1/10000; 100 in the paper
steps: int = 60  # budget of gradient descent at every distance
training: int = 400  # steps of training for the teachers
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"]
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    teachers=Integer(2, 1000),
    images=Integer(50, 1797),
    distances=Integer(3, 10_000),
    steps=Integer(1, 1_000_000),
    training=Integer(1, 1_000_000),
)

# %% tags=["hide-input"]
import math

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers.data.digits import digits
from lmc_helpers.error_bars import mean_and_error, slope_and_error
from lmc_helpers.permutation_points.merging import (
    MergePath,
    descent,
    merge_neurons,
)
from lmc_helpers.permutation_points.mlp import MLP
from lmc_helpers.permutation_points.pair import Pair

WIDTHS = {10: "red", 15: "orange", 20: "green", 25: "blue"}
x, labels = digits(images, seed)
factors = torch.logspace(0, -4, distances, dtype=torch.float64)

# %% [markdown]
# ## The experiment
#
# Networks $64 \to H \to H \to 10$ with ReLU, {glue:text}`teachers` for each $H$, trained on the negative log-likelihood (Adam, {glue:text}`training` steps on all
# {glue:text}`images` images). Then the pair of neurons in layer 2 whose parameter vectors have the highest cosine similarity is merged; neurons that are 0 on all images
# are left out. The loss is
#
# $$
# L = \frac{1}{T} \sum_\mu \frac{\| y^\mu - f(x^\mu) \|^2}{10\, \langle y_i^2 \rangle},
# $$
#
# the mean square of the deviation over that of the logits; the paper's is ten times as large, as it sums over the outputs.

# %% tags=["hide-input"]


def train(net: MLP, seed: int) -> torch.Tensor:
    """Teachers (teachers, p), trained side by side."""
    theta = net.initial(teachers, seed).requires_grad_()
    adam = torch.optim.Adam([theta], lr=1e-2)
    for _ in range(training):
        adam.zero_grad()
        outputs = net.forward(theta, x).flatten(0, 1)
        cost = torch.nn.functional.cross_entropy(outputs, labels.repeat(teachers))
        (teachers * cost).backward()
        adam.step()
    return theta.detach()


def most_similar(net: MLP, theta: torch.Tensor) -> tuple[int, int]:
    """Neurons of layer 2 with the highest cosine similarity of their parameter vectors; dead ones do not count."""
    dead = (net.hidden(theta, x, 2) <= 0).all(dim=0)
    rows = torch.stack([theta[net.incoming(2, i)] for i in range(net.sizes[2])])
    unit = torch.nn.functional.normalize(rows, dim=1)
    cosine = (unit @ unit.T).fill_diagonal_(-2)
    cosine[dead] = cosine[:, dead] = -2
    first, second = divmod(int(cosine.argmax()), net.sizes[2])
    return first, second


def accuracy(net: MLP, theta: torch.Tensor) -> torch.Tensor:
    """Share of images that are classified right, (...)."""
    return (net.forward(theta, x).argmax(dim=-1) == labels).double().mean(dim=-1)


def merge(H: int, seed: int, budget: int) -> tuple[MLP, torch.Tensor, MergePath]:
    """Teachers of one width and their paths."""
    net = MLP((64, H, H, 10), "relu")
    theta = train(net, seed)
    y = net.forward(theta, x)  # (teachers, T, 10)
    scale = y.square().mean(dim=(-2, -1))

    def loss(t: torch.Tensor) -> torch.Tensor:
        return (net.forward(t, x) - y).square().mean(dim=(-2, -1)) / scale

    pairs = [most_similar(net, t) for t in theta]
    path = merge_neurons(
        loss, Pair(net, 2, "paper"), theta, pairs, factors, descent(budget, 0.1)
    )
    return net, theta, path


runs = {H: merge(H, seed + H, steps) for H in WIDTHS}
ends = {H: path.loss[-1].numpy() for H, (_, _, path) in runs.items()}
scores = {
    H: torch.stack([accuracy(net, t) for t in path.theta])
    for H, (net, _, path) in runs.items()
}  # (K, teachers) each

figure, axes = figures.panels(columns=2, height=4.2, squeeze=False)
left, right = axes[0]
for H, colour in WIDTHS.items():
    _, _, path = runs[H]
    style = dict(color=figures.COLOURS[colour], linewidth=1.2)
    for k in range(teachers):
        label = f"$H = {H}$" if k == 0 else None
        left.plot(factors[1:], path.loss[1:, k], label=label, **style)
        right.plot(factors, scores[H][:, k], **style)
for axis in (left, right):
    axis.set(
        xscale="log", xlabel=r"distance $\delta/\delta_0$", xlim=(1.2, 0.8e-4)
    )
left.set(yscale="log", ylabel="normalised loss")
right.set(ylabel="training accuracy")
left.legend()
figures.show("fig_deep", figure)

# %% [markdown]
# ```{glue:figure} fig_deep
# :name: fig-deep
# :alt: Left, normalised loss against distance for four widths, six networks each; the loss rises while the neurons approach and levels off, lower for wider networks. Right, training accuracy against distance.
#
# The paper's Fig. 3 on scikit-learn's digits: a pair of similar neurons in layer 2 is merged, {glue:text}`steps` steps of gradient descent at each of {glue:text}`distances`
# distances (profile {glue:text}`profile`).
# ```

# %% tags=["nbval-check-output"]


def exponent(ends: dict[int, np.ndarray]) -> tuple[float, float]:
    """Slope of ln(mean end loss) in ln H and its standard error."""
    mean, error = mean_and_error(list(ends.values()))
    return slope_and_error(np.log(list(ends)), np.log(mean), error / mean)


value, error = exponent(ends)
claims.check("P8.falls", value, stderr=error, n=teachers * len(WIDTHS))

# %% tags=["nbval-check-output"]
drops = {
    H: (accuracy(*runs[H][:2]) - score[-1]).numpy() for H, score in scores.items()
}
worst = max(drops, key=lambda H: drops[H].mean())
claims.check(
    "P8.accuracy",
    float(drops[worst].mean()),
    stderr=float(drops[worst].std(ddof=1) / math.sqrt(teachers)),
    n=teachers * len(WIDTHS),
)

# %% [markdown]
# ## The budget
#
# With ten outputs $J \ne 0$ in general, and with a smooth activation no path of exact constrained minima would end at these permutation points ({prf:ref}`thm-ends`). What the picture shows depends on the budget. The mean loss at
# the end, for $H = 10$ and 25, with other numbers of steps:

# %% tags=["hide-input"]
budgets = (max(1, steps // 4), steps, 4 * steps)
at_budget = {
    (H, budget): ends[H].mean()
    if budget == steps
    else merge(H, seed + H, budget)[2].loss[-1].mean().item()
    for H in (10, 25)
    for budget in budgets
}
figures.numbers(
    teachers=teachers,
    training=training,
    images=images,
    steps=steps,
    distances=distances,
    profile=profile,
    **{f"budget_{k}": budget for k, budget in enumerate(budgets)},
    **{
        f"end_{H}_{k}": f"{at_budget[H, budget]:.1e}"
        for H in (10, 25)
        for k, budget in enumerate(budgets)
    },
    **{f"drop_{H}": f"{100 * drops[H].mean():.1f}" for H in WIDTHS},
)

# %% [markdown]
# | steps at each distance | $H = 10$ | $H = 25$ |
# | --- | --- | --- |
# | {glue:text}`budget_0` | {glue:text}`end_10_0` | {glue:text}`end_25_0` |
# | {glue:text}`budget_1` | {glue:text}`end_10_1` | {glue:text}`end_25_1` |
# | {glue:text}`budget_2` | {glue:text}`end_10_2` | {glue:text}`end_25_2` |
#
# Mean drop of the accuracy, in points: {glue:text}`drop_10` for $H = 10$, {glue:text}`drop_15` for 15, {glue:text}`drop_20` for 20 and {glue:text}`drop_25` for 25.
#
# ## What we found that the paper does not say
#
# - "Until convergence" is not reached by budgets of this size, and the height that is read off depends on the budget. Its decrease with the width does not.
#
# ```{admonition} Try it
# :class: tip
# A larger budget:
#
#     make chapter NAME=deep_merge ARGS="-p steps 1000 -p teachers 2"
# ```

# %% tags=["hide-input"]
print(chapter.end())
