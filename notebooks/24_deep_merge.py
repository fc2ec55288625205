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

# %% tags=["parameters", "hide-input"] mystnb={"code_prompt_show": "Parameters"}
teachers: int = 6  # networks per width, as in the paper
images: int = 600  # digits, 1797 are all of them
distances: int = 30  # log-spaced, down to 1/10000; 100 in the paper
steps: int = 60  # budget of gradient descent at every distance
training: int = 400  # steps of training for the teachers
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Check the parameters"}
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

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports"}
import math

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers.data.digits import digits
from lmc_helpers.error_bars import mean_and_error, slope_and_error
from lmc_helpers.permutation_points.classifiers import (
    accuracy,
    most_similar_neurons,
    train_classifiers,
)
from lmc_helpers.permutation_points.merging import (
    MergePath,
    descent_minimiser,
    merge_neurons,
)
from lmc_helpers.permutation_points.mlp import MLP
from lmc_helpers.permutation_points.pair import PairChart

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

# %%
x, labels = digits(images, seed)  # (T, 64) and (T,)
delta = torch.logspace(0, -4, distances, dtype=torch.float64)  # δ/δ_0, (K,)


def merge(net: MLP, theta: torch.Tensor, budget: int) -> MergePath:
    """Merge the most similar neurons of layer 2 of every teacher, (teachers, p)."""
    y = net.forward(theta, x)  # logits, (teachers, T, 10)
    scale = y.square().mean(dim=(-2, -1))  # ⟨y_i²⟩

    def loss(t: torch.Tensor) -> torch.Tensor:
        return (net.forward(t, x) - y).square().mean(dim=(-2, -1)) / scale

    pairs = [most_similar_neurons(net, t, x, layer=2) for t in theta]
    chart, minimiser = PairChart(net, 2, "paper"), descent_minimiser(budget, 0.1)
    return merge_neurons(loss, chart, theta, pairs, delta, minimiser)


# %%
WIDTHS = (10, 15, 20, 25)
nets = {H: MLP((64, H, H, 10), "relu") for H in WIDTHS}
trained, paths, scores = {}, {}, {}
for H, net in nets.items():
    theta = train_classifiers(net, x, labels, teachers, training, seed + H)
    trained[H], paths[H] = theta, merge(net, theta, steps)
    right = [accuracy(net, t, x, labels) for t in paths[H].theta]
    scores[H] = torch.stack(right)  # (K, teachers)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot loss and accuracy on the paths"}
figure, (left, right) = figures.panels(2)
for H, colour in zip(WIDTHS, ("red", "orange", "green", "blue"), strict=True):
    style = dict(color=f"book:{colour}", linewidth=1.2)
    lines = left.plot(delta[1:], paths[H].loss[1:], **style)
    lines[0].set_label(f"$H = {H}$")
    right.plot(delta, scores[H], **style)
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

# %%
ends = {H: path.loss[-1].numpy() for H, path in paths.items()}  # (teachers,)
mean, error = mean_and_error(list(ends.values()))
# slope of ln(mean loss at the end) in ln H
slope, slope_error = slope_and_error(np.log(WIDTHS), np.log(mean), error / mean)
drops = {
    H: (accuracy(nets[H], trained[H], x, labels) - scores[H][-1]).numpy()
    for H in WIDTHS
}
worst = max(drops, key=lambda H: drops[H].mean())

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check P8.falls and P8.accuracy"}
n = teachers * len(WIDTHS)
claims.check("P8.falls", slope, stderr=slope_error, n=n)
error = float(drops[worst].std(ddof=1) / math.sqrt(teachers))
claims.check("P8.accuracy", float(drops[worst].mean()), stderr=error, n=n)

# %% [markdown]
# ## The budget
#
# With ten outputs $J \ne 0$ in general, and with a smooth activation no path of exact constrained minima would end at these permutation points ({prf:ref}`thm-ends`). What the picture shows depends on the budget. The mean loss at
# the end, for $H = 10$ and 25, with other numbers of steps:

# %%
budgets = (max(1, steps // 4), steps, 4 * steps)
at_budget = {}
for H in (10, 25):
    for budget in budgets:
        same = budget == steps
        path = paths[H] if same else merge(nets[H], trained[H], budget)
        at_budget[H, budget] = path.loss[-1].numpy().mean()

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
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

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Versions and time"}
print(chapter.end())
