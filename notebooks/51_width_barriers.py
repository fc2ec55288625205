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
#   lmc: {runs: lmc_helpers.experiments.width_barriers.runs}
# ---

# %% [markdown]
# # The barrier over the width on MNIST
#
# For two-layer networks with a teacher, Zhan, Li and Wu {cite:p}`zhan2025` prove that the barrier after permutation rises and then falls with the width. Their section 6 looks for the same in four-layer networks on MNIST: "the barrier goes up and then goes down as the width increases, exhibiting a
# peak" (Fig. 7, widths 15 to 100); at width 25 "the effect of permutation is pretty limited" (Fig. 8); the place of the peak "doesn't change according to depths" (Fig. 14). This chapter trains such networks and asks for the two sides of the peak, for its place, and what these depend on: the
# length of the training, the algorithm that looks for the permutation, the depth.
#
# The paper trains "with 10000 epochs" (appendix B.1). Ten thousand epochs of 600 steps are six million steps a network, ten thousand *steps* are 17 epochs. It matters which is meant: we prove that the barrier of the negative log-likelihood has no limit, so that only barriers after equal training can be compared.
#
# {glue:text}`told` The networks on this page (profile {glue:text}`profile`) saw {glue:text}`images` images for {glue:text}`epochs` epochs, {glue:text}`steps` steps. The claims of the paper are about ten thousand steps or more on all 60 000 images of MNIST; with less they stay open here, and the box of a claim shows what a run of that size gave,
# where there is one.

# %% tags=["parameters", "hide-input"] mystnb={"code_prompt_show": "Parameters"}
dataset: str = "mnist"  # mnist or digits; digits stand in for what is not here
images: int = 4000  # training images, 60000 are all of MNIST
epochs: int = 17  # at which all networks are compared
budgets: list = [4]  # further epochs, for networks that are followed
widths: list = [6, 15, 25, 40, 100]  # of four-layer networks
shown: list = [15, 25, 100]  # ends of Fig. 7, and between them the m of Fig. 8
depths: list = [2, 6]  # layers, beside four
depth_widths: list = [6, 15, 40]  # some of the widths, at all depths
pairs: int = 4  # of four-layer networks at each width; 10 in the paper
depth_pairs: int = 4  # of networks of other depths
long_pairs: int = 0  # of networks that are followed; 0: no others
second: bool = False  # train a second seed, for what the first rejects
restarts: int = 10  # of weight matching
measured: int = 1000  # images on which the NLL is taken
seed: int = 7051  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Check the parameters"}
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Flag, Integer, ListOf

chapter.begin(
    globals(),
    dataset=Choice(("mnist", "digits")),
    images=Integer(200, 60_000),
    epochs=Integer(1, 10_000),
    budgets=ListOf(Integer(1, 10_000)),
    widths=ListOf(Integer(2, 1000), 4),
    shown=ListOf(Integer(2, 1000), 3),
    depths=ListOf(Integer(2, 20)),
    depth_widths=ListOf(Integer(2, 1000), 2),
    pairs=Integer(4, 1000),
    depth_pairs=Integer(4, 1000),
    long_pairs=Integer(0, 1000),
    second=Flag(),
    restarts=Integer(2, 1000),
    measured=Integer(100, 10_000),
)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Imports"}
import math
from functools import cache

import numpy as np

from lmc_helpers import claims, figures
from lmc_helpers.data.images import choose, load
from lmc_helpers.error_bars import (
    mean_and_error,
    place_of_peak,
    ratio_of_means,
    slope_and_error,
)
from lmc_helpers.experiments.peaks import ratio_at_peaks
from lmc_helpers.experiments.width_barriers import (
    ORDERS,
    PLACES,
    Case,
    lines,
    matched_pairs,
    middles,
    sweep,
)
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training.prices import price
from lmc_helpers.training.recipes import Descent

# %% [markdown]
# ## The picture
#
# Two networks of one width, trained from different seeds, are two points; the barrier is the highest hill of the loss on the straight line between them, above the chord. Reordering the units of the second network changes no function and may bring it near the first. In the paper's theory the data come from $M$
# teacher neurons. Students of width $m = M$ hold the same neurons in another order, and the right permutation removes the barrier; with a few more, the additional ones have no partner; with many more, all have one nearly. Hence a peak, [at a place between](15_barrier_peak.ipynb) $1.5 M$ and $2.3 M$ that depends
# on how leftovers are paired. MNIST has no teacher and no $M$. What may stand in for it is the width at which networks begin to fit the training images.
#
# ## The networks
#
# ReLU networks with layers of one width, Kaiming–He initial weights, SGD with batches of 100 at the rate 0.05, as in appendix B.1. Each width has {glue:text}`pairs` independent pairs. The loss is the negative log-likelihood (NLL) on training images; lines are taken at
# $\lambda = 0, 0.1, \dots, 1$, as in section 3 of the paper. The paper applies "the algorithms in" Benzing et al. (2022) and Ainsworth et al. (2022) and does not say which one where. We take the weight matching of Ainsworth et al., with one start and the best of {glue:text}`restarts` by its own
# objective, and activation matching.

# %%
cases = sweep(
    dataset=dataset,
    widths=widths,
    depths=depths,
    depth_widths=depth_widths,
    pairs=pairs,
    depth_pairs=depth_pairs,
    long_pairs=long_pairs,
    epochs=epochs,
    budgets=budgets,
    images=images,
    second=second,
    seed=seed,
)
data = cases[Case(4, widths[0], "first")].data
trained = load(data.name, n=data.n, seed=data.seed)
seen, unseen = (
    (some.inputs(flat=True)[:measured], some.y[:measured])
    for some in (trained, load(data.name, "test"))
)  # inputs and labels on which the NLL is taken


def match(case: Case, epoch: int = epochs, orders=ORDERS):
    """The pairs of one run, the second networks in several orders."""
    result = cases[case].result()
    return matched_pairs(result, epoch, seen[0], restarts, seed, orders)


matched = {m: match(Case(4, m, "first")) for m in widths}
first = {m: lines(found, *seen) for m, found in matched.items()}
tested = {m: lines(found, *unseen) for m, found in matched.items()}

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Which claims this run can decide"}
narrow, middle, wide = shown
every = sorted({epochs, *budgets})  # epochs at which networks are followed
range_ = [m for m in widths if narrow <= m <= wide]  # the widths of Fig. 7
inner = range_[1:-1]
whole = data.name == "mnist" and len(trained) == 60_000 and epochs == 17
as_printed = whole and [*shown] == [15, 25, 100] and set(shown) <= set(widths)
n = pairs if as_printed else 0
n_long = (long_pairs or pairs) if as_printed and every[-1] >= 200 else 0
n_narrow = pairs if as_printed and widths[0] == 6 else 0
in_depth = as_printed and {2, 3, 5, 6} <= set(depths) and depth_widths[0] == 6
n_depth = depth_pairs if in_depth else 0


def side(order: str, m: int, of: dict) -> tuple[float, float]:
    """Barrier at one width over that at the peak between the ends of Fig. 7."""
    peak = [of[k].barriers(order) for k in inner]
    return ratio_at_peaks([of[m].barriers(order)], peak)


def place(order: str, at: list, of: dict) -> tuple[float, float]:
    """Width of the largest mean barrier, and its standard error."""
    return place_of_peak(at, [of[m].barriers(order) for m in at], seed)


@cache
def again() -> dict:
    """The lines of the networks with the second seed, where there are some."""
    return {m: lines(match(Case(4, m, "second")), *seen) for m in range_}


# %% [markdown]
# ## Up and down
#
# Two ratios say whether there is a peak: the mean barrier at each end of Fig. 7, divided by that at the highest width between them. The largest of several means is too large by chance, so the highest width is found on one half of the pairs and its height taken on the other.

# %%
up = side("weights", narrow, first)  # below 1 if the barrier rises
down = side("weights", wide, first)  # below 1 if it falls
peak = place("weights", range_, first)
for m in widths:
    direct, permuted = (first[m].barriers(o) for o in ("direct", "weights"))
    low, high = np.quantile(permuted, [0.1, 0.9])
    print(
        f"m = {m:>3}: direct {direct.mean():.3f},  permuted {permuted.mean():.3f}"
        f" ({low:.3f} to {high:.3f})"
    )

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z11.rises, Z11.rises_activations, Z11.falls and Z11.place"}
claims.check(
    "Z11.rises",
    up[0],
    stderr=up[1],
    n=n,
    again=lambda: side("weights", narrow, again()),
)
by_activations = side("activations", narrow, first)
claims.check(
    "Z11.rises_activations",
    by_activations[0],
    stderr=by_activations[1],
    n=n,
    again=lambda: side("activations", narrow, again()),
)
claims.check(
    "Z11.falls",
    down[0],
    stderr=down[1],
    n=n,
    again=lambda: side("weights", wide, again()),
)
claims.check(
    "Z11.place",
    peak[0],
    stderr=peak[1],
    n=n,
    again=lambda: place("weights", range_, again()),
)


# %% tags=["hide-input"] mystnb={"code_prompt_show": "How numbers are written"}
def percent(values) -> str:
    """A mean share in percent, with two digits behind the point."""
    return f"{100 * float(np.mean(values)):.2f}"


def ratio(pair) -> str:
    """A ratio with its standard error."""
    return f"{pair[0]:.2f} ± {pair[1]:.2f}"


def width(pair) -> str:
    """A width with its standard error."""
    return f"{pair[0]:.0f} ± {pair[1]:.0f}"


# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot barriers over the width"}
figure, axes = figures.panels(2, sharey=True)
for axis, of, title in zip(
    axes, (first, tested), ("training images", "test images"), strict=True
):
    for order, colour, label in (
        ("direct", "orange", "direct"),
        ("weights", "blue", "permuted"),
    ):
        values = [of[m].barriers(order) for m in widths]
        bounds = np.quantile(np.stack(values), [0.1, 0.9], axis=1)
        style = dict(color=f"book:{colour}")
        axis.fill_between(widths, *bounds, alpha=0.2, linewidth=0, **style)
        axis.plot(widths, [v.mean() for v in values], label=label, **style)
        figures.band(axis, widths, *mean_and_error(values), **style)
    axis.axvspan(narrow, wide, color="book:grey", alpha=0.08, linewidth=0)
    axis.set(xscale="log", xlabel="width $m$", title=title)
    axis.set_xticks(widths, [str(m) for m in widths])
    axis.minorticks_off()
axes[0].set(ylabel="barrier of the NLL", ylim=(0, None))
figures.legend(figure, columns=2)
figures.show("fig_widths", figure)

# %% [markdown]
# ```{glue:figure} fig_widths
# :name: fig-widths
# :alt: Barrier of the negative log-likelihood against the width on a logarithmic axis, on training images at the left and on test images at the right. Two curves with bands, direct interpolation above and permuted below.
#
# The paper's Fig. 7: means over {glue:text}`pairs` pairs of four-layer networks with bands from the 10th to the 90th percentile, as printed, and bars for the mean at two-sided $10^{-3}$. Grey: the widths of the paper's figure. {glue:text}`where` (profile {glue:text}`profile`).
# ```
#
# Here the barrier after weight matching at $m =$ {glue:text}`narrow` is {glue:text}`up` of that at the peak between the ends, and at $m =$ {glue:text}`wide` it is {glue:text}`down`. The largest mean is at $m =$ {glue:text}`peak`.
#
# A side that rises must exist somewhere: a network of very few units hardly fits anything, its logits are small, and there is little to lose on the way. The question is whether that side lies in the range of the figure. So the sweep begins at $m =$ {glue:text}`narrowest`.

# %%
others = [first[m].barriers("weights") for m in widths[1:]]
start = ratio_at_peaks([first[widths[0]].barriers("weights")], others)
whole_peak = place("weights", widths, first)


# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z11.narrower"}
def narrower() -> tuple[float, float]:
    """The same with the second seed."""
    lowest = lines(match(Case(4, widths[0], "second")), *seen)
    rest = [
        lines(match(Case(4, m, "second")), *seen)
        if m not in range_
        else again()[m]
        for m in widths[1:]
    ]
    return ratio_at_peaks(
        [lowest.barriers("weights")],
        [found.barriers("weights") for found in rest],
    )


claims.check(
    "Z11.narrower", start[0], stderr=start[1], n=n_narrow, again=narrower
)

# %% [markdown]
# Among all widths from {glue:text}`narrowest` to {glue:text}`wide` the largest mean is at $m =$ {glue:text}`whole_peak`, and the barrier at $m =$ {glue:text}`narrowest` is {glue:text}`start` of it.
#
# ## What ten thousand epochs can mean
#
# Once a network classifies all its training images, SGD lowers the NLL further by making the logits larger, and it never ends. Elsewhere on the line that does harm.
#
# ```{prf:proposition} The NLL barrier has no limit
# :label: prop-logit-scale
# Let $\theta_a$, $\theta_b$ be ReLU networks of $d$ linear maps with $K$ classes, $z_\lambda(x)$ the logits on the line between them, $V_\lambda = \mathbb E \max_k (z_{\lambda, k} - z_{\lambda, y})$ over the training images, and let $S_c$ multiply the weights of map $k$ by $c$ and its biases by $c^k$, $c > 0$. The NLL on the line
# between $S_c \theta_a$ and $S_c \theta_b$ obeys
#
# $$
# V_\lambda \;\le\; c^{-d} N_\lambda(c) \;\le\; V_\lambda + c^{-d} \ln K .
# $$
#
# If both ends classify every training image as labelled, then $c^{-d} B(c) \to \max_\lambda V_\lambda$ as $c \to \infty$. So the barrier $B$ grows without bound as soon as one training image is misclassified at one $\lambda$; if at every $\lambda$ each image has the strictly largest logit at its label, $B(c) \to 0$.
# ```
#
# ```{prf:proof}
# ReLU is positively homogeneous: by induction over the maps, $S_c$ multiplies the units of layer $k$ by $c^k$, and the logits by $c^d$. $S_c$ is linear, so that it takes the line between two networks to the line between their images, $\lambda$ to $\lambda$. Now $N_\lambda(c) = \mathbb E \ln \sum_k e^{c^d (z_k - z_y)}$, and the logarithm of a sum of $K$ exponentials lies
# between the largest exponent and that plus $\ln K$. If the ends classify all images rightly, $V_0 = V_1 = 0$, the chord lies between $0$ and $\ln K$, and the limit of $c^{-d} B(c)$ follows. If an image is misclassified at $\lambda$, then $V_\lambda > 0$. If the smallest gap $\gamma = \min (z_{\lambda, y} - z_{\lambda, k})$ over images, $\lambda \in [0, 1]$ and $k \ne y$ is positive, $N_\lambda(c) \le K e^{-c^d \gamma} \to 0$.
# ```
#
# Growing along $S_c$ is what gradient descent does in the end, up to a slow turn of the direction; how far it gets is a matter of time. So the height of a barrier is that of a network *and a budget*, and curves over the width are comparable only at equal budgets. Even then they do not compare the same thing: wide networks fit sooner, and their logits
# have grown for longer. The accuracy on the line does not depend on $c$, and is shown beside the NLL below. The bounds, in the middle of the direct lines of the trained networks:

# %%
SCALES = (1.0, 4.0, 16.0, 64.0)  # s, factors of the logits
excess, rival = [], []
for m in widths:
    a, b = matched[m].first, matched[m].second["direct"]
    at = middles(a, b, *seen, SCALES)
    s = np.array(SCALES)[:, None]  # (S, 1)
    nll, lost, wrong = (v.numpy() for v in (at.nll, at.lost, at.wrong))
    excess.append((nll / s - lost) * s / math.log(10))  # (S, P), in [0, 1]
    rival.append((nll / s - wrong) * s / math.log(10))
    print(f"m = {m:>3}: N(s)/s = {(nll / s).mean(axis=1).round(3)}, ", end="")
    print(f"V = {lost.mean():.3f}, {100 * wrong.mean():.0f} % wrong")

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z11.scale"}
other = max(np.concatenate(rival).flat, key=abs)
claims.check("Z11.scale", np.concatenate(excess), rival=float(other))

# %% [markdown]
# Now the same networks at several budgets.

# %%
followed = {}  # epoch → width → lines
for epoch in every:
    orders = ("direct", "weights")
    followed[epoch] = {
        m: lines(match(Case(4, m, "long"), epoch, orders), *seen) for m in widths
    }
early, late = followed[every[0]], followed[every[-1]]
growth = {  # of the direct barrier, from the first budget to the last
    m: ratio_of_means(
        late[m].barriers("direct"), early[m].barriers("direct"), paired=True
    )
    for m in widths
}

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z11.rises_long, Z11.falls_long, Z11.place_long, Z11.budget and Z11.grows"}
up_late, down_late = (side("weights", m, late) for m in (narrow, wide))
place_late = place("weights", range_, late)
claims.check("Z11.rises_long", up_late[0], stderr=up_late[1], n=n_long)
claims.check("Z11.falls_long", down_late[0], stderr=down_late[1], n=n_long)
claims.check("Z11.place_long", place_late[0], stderr=place_late[1], n=n_long)

places = [place("weights", widths, of) for of in (followed[epochs], late)]
moved = places[1][0] / places[0][0]
moved_error = moved * math.hypot(*(error / at for at, error in places))
claims.check("Z11.budget", moved, stderr=moved_error, n=n_long)
n_grows = n_long if every[0] == epochs else 0
least = min((growth[m] for m in range_), key=lambda pair: pair[0])
claims.check("Z11.grows", least[0], stderr=max(least[1], 1e-9), n=n_grows)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot barriers at several budgets"}
figure, axes = figures.panels(3)
panels = (
    ("direct, NLL", lambda at: at.barriers("direct")),
    ("permuted, NLL", lambda at: at.barriers("weights")),
    ("permuted, accuracy in %", lambda at: 100 * at.drops("weights")),
)
colours = ("sky", "blue", "purple", "black", "red", "green")
for epoch, colour in zip(every, colours, strict=False):
    for axis, (_, read) in zip(axes, panels, strict=True):
        values = [read(followed[epoch][m]) for m in widths]
        style = dict(color=f"book:{colour}")
        axis.plot(
            widths, [v.mean() for v in values], label=f"{epoch} epochs", **style
        )
        figures.band(axis, widths, *mean_and_error(values), **style)
for axis, (title, _) in zip(axes, panels, strict=True):
    axis.set(xscale="log", xlabel="width $m$", title=title, ylim=(0, None))
    axis.set_xticks(widths, [str(m) for m in widths], fontsize="small")
    axis.minorticks_off()
axes[0].set(ylabel="barrier")
figures.legend(figure)
figures.show("fig_budgets", figure)


# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
fits = {
    (m, epoch): cases[Case(4, m, "long")].result().accuracies[epoch - 1].numpy()
    for m in widths
    for epoch in every
}
fitting = [m for m in widths if fits[m, every[-1]].mean() >= 0.999]
_, told = choose((dataset, "digits"))
figures.numbers(
    told=told,
    profile=profile,
    images=len(trained),
    epochs=epochs,
    steps=epochs * math.ceil(len(trained) / 100),
    pairs=pairs,
    restarts=restarts,
    where=trained.title[0].upper() + trained.title[1:],
    narrow=narrow,
    middle=middle,
    wide=wide,
    narrowest=widths[0],
    up=ratio(up),
    down=ratio(down),
    peak=width(peak),
    start=ratio(start),
    whole_peak=width(whole_peak),
    first_budget=every[0],
    last_budget=every[-1],
    growth_narrow=ratio(growth[narrow]),
    growth_wide=ratio(growth[wide]),
    place_early=width(place("weights", widths, early)),
    place_late=width(places[1]),
    fit_narrow=percent(fits[narrow, every[-1]]),
    fit_middle=percent(fits[middle, every[-1]]),
    fit_wide=percent(fits[wide, every[-1]]),
    fitting=f"$m =$ {fitting[0]}" if fitting else "none of the widths",
)

# %% [markdown]
# ```{glue:figure} fig_budgets
# :name: fig-budgets
# :alt: Three panels of barriers against the width for several lengths of training, one curve a budget; the negative log-likelihood of direct lines, that of permuted lines, and the accuracy that is lost on permuted lines.
#
# The same networks after several numbers of epochs. Right: the largest fall of the accuracy below the chord, which $S_c$ does not change; bars: intervals of the means at two-sided $10^{-3}$ (profile {glue:text}`profile`).
# ```
#
# From {glue:text}`first_budget` to {glue:text}`last_budget` epochs the direct barrier is multiplied by {glue:text}`growth_narrow` at $m =$ {glue:text}`narrow` and by {glue:text}`growth_wide` at $m =$ {glue:text}`wide`. The permuted barrier is largest at $m =$ {glue:text}`place_early` after {glue:text}`first_budget` and at $m =$ {glue:text}`place_late` after {glue:text}`last_budget` epochs.
#
# *A counterpart of $M$?* In the theory, students of width $M$ are the narrowest that reach loss 0. After {glue:text}`last_budget` epochs the networks classify {glue:text}`fit_narrow` % ($m =$ {glue:text}`narrow`), {glue:text}`fit_middle` % ($m =$ {glue:text}`middle`) and {glue:text}`fit_wide` % ($m =$ {glue:text}`wide`) of the training images as labelled, and the narrowest that reach 99.9 % are: {glue:text}`fitting`.
# If that width is taken for $M$, the theory has the peak at 1.5 to 2.3 times as many units.
#
# ## Which algorithm finds the permutation
#
# A permutation of three layers of $m$ units is one of $(m!)^3$. Weight matching climbs to a local optimum of the weights' inner product, activation matching pairs units that respond alike, and neither looks at the loss. What they leave of the barrier is therefore a property of the algorithm as well.

# %%
left = {  # share of the direct barrier that an order leaves
    (order, m): ratio_of_means(
        first[m].barriers(order), first[m].barriers("direct"), paired=True
    )
    for order in ORDERS[1:]
    for m in widths
}


def farthest_from_one(order: str, other: str, of: dict) -> tuple[float, float]:
    """Mean barrier of an order over that of another, at the worst width."""
    found = [
        ratio_of_means(of[m].barriers(order), of[m].barriers(other), paired=True)
        for m in range_
    ]
    return max(found, key=lambda pair: abs(math.log(max(pair[0], 1e-9))))


matcher = farthest_from_one("activations", "weights", first)
better = farthest_from_one("weights", "one start", first)

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z11.matcher and Z11.restarts"}
claims.check(
    "Z11.matcher",
    matcher[0],
    stderr=max(matcher[1], 1e-9),
    n=n,
    again=lambda: farthest_from_one("activations", "weights", again()),
)
claims.check(
    "Z11.restarts",
    better[0],
    stderr=max(better[1], 1e-9),
    n=n,
    again=lambda: farthest_from_one("weights", "one start", again()),
)

# %% [markdown]
# ## On the line
#
# The paper's Fig. 8 draws the NLL on the line at three widths, of which the text names one, 25. The role of the permutation "depends greatly on the model width", at 25 it "is pretty limited", and without permutation the NLL is "constantly large for all widths".

# %%
gain = left["weights", middle], left["weights", wide]  # shares that are left


def depends(of: dict) -> tuple[float, float]:
    """The share that is left at the middle width over that at the widest."""
    (a, da), (b, db) = (
        ratio_of_means(
            of[m].barriers("weights"), of[m].barriers("direct"), paired=True
        )
        for m in (middle, wide)
    )
    return a / b, a / b * math.hypot(da / a, db / b)


def limited(of: dict) -> tuple[float, float]:
    """The share that is left at the middle width."""
    m = of[middle]
    return ratio_of_means(
        m.barriers("weights"), m.barriers("direct"), paired=True
    )


def large(of: dict) -> tuple[float, float]:
    """Mean of the largest NLL on direct lines over ln 10, at the lowest width."""
    mean, error = mean_and_error([of[m].largest("direct") for m in range_])
    lowest = int(mean.argmin())
    return mean[lowest] / math.log(10), error[lowest] / math.log(10)


# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z12"}
value, error = depends(first)
claims.check(
    "Z12.depends", value, stderr=error, n=n, again=lambda: depends(again())
)
value, error = limited(first)
claims.check(
    "Z12.limited", value, stderr=error, n=n, again=lambda: limited(again())
)
value, error = large(first)
claims.check("Z12.direct", value, stderr=error, n=n, again=lambda: large(again()))
value, error = depends(late)
claims.check("Z12.depends_long", value, stderr=error, n=n_long)
value, error = limited(late)
claims.check("Z12.limited_long", value, stderr=error, n=n_long)
value, error = large(late)
claims.check("Z12.direct_long", value, stderr=error, n=n_long)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot the NLL on the line"}
figure, axes = figures.panels(3, sharey=True)
for axis, m in zip(axes, shown, strict=True):
    for order, colour, label in (
        ("direct", "orange", "direct"),
        ("weights", "blue", "weight matching"),
        ("activations", "green", "activation matching"),
    ):
        loss = first[m].loss[order].numpy()  # (P, 11)
        style = dict(color=f"book:{colour}")
        bounds = np.quantile(loss, [0.1, 0.9], axis=0)
        axis.fill_between(PLACES, *bounds, alpha=0.2, linewidth=0, **style)
        axis.plot(PLACES, loss.mean(axis=0), label=label, **style)
    axis.axhline(
        math.log(10), color="book:grey", linestyle=":", label="guessing, ln 10"
    )
    axis.set(xlabel=r"$\lambda$", title=f"$m = {m}$")
axes[0].set(ylabel="NLL", ylim=(0, None))
figures.legend(figure, columns=4)
figures.show("fig_lines", figure)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
figures.numbers(
    left_middle=ratio(gain[0]),
    left_wide=ratio(gain[1]),
    other_middle=ratio(left["activations", middle]),
    other_wide=ratio(left["activations", wide]),
    matcher=ratio(matcher),
    better=ratio(better),
    large=f"{large(first)[0]:.2f}",
)

# %% [markdown]
# ```{glue:figure} fig_lines
# :name: fig-lines
# :alt: Three panels, one a width, of the negative log-likelihood along the line. Direct interpolation is an arch; after either matching the arch is lower, by how much depends on the width.
#
# The paper's Fig. 8 after {glue:text}`epochs` epochs: mean NLL on training images with bands from the 10th to the 90th percentile over {glue:text}`pairs` pairs (profile {glue:text}`profile`).
# ```
#
# Weight matching leaves {glue:text}`left_middle` of the direct barrier at $m =$ {glue:text}`middle` and {glue:text}`left_wide` at $m =$ {glue:text}`wide`; activation matching {glue:text}`other_middle` and {glue:text}`other_wide`. At the width where the two differ most the barrier after activation matching is {glue:text}`matcher` of that after weight matching, and restarts
# multiply the latter by {glue:text}`better`. The largest NLL on direct lines is, at its lowest width, {glue:text}`large` of $\ln 10$, the NLL of guessing.
#
# ## Depth
#
# Fig. 14 of the paper plots the width at the peak against the depth. A place says little of a curve that is flat at its top, so we look at the curves.

# %%
layers = sorted([*depths, 4])
curves = {}  # depth → permuted barriers (P,) at each width
for d in layers:
    found = [
        first[m] if d == 4 else lines(match(Case(d, m, "first")), *seen)
        for m in depth_widths
    ]
    curves[d] = [line.barriers("weights") for line in found]


def trend(of: dict) -> tuple[float, float]:
    """Slope of the logarithm of the peak's place in the depth."""
    at, error = np.array(
        [place_of_peak(depth_widths, of[d], seed) for d in layers]
    ).T
    return slope_and_error(layers, np.log(at), error / at)


slope = trend(curves)
shallow = 3 if 3 in layers else layers[0]
taller = ratio_at_peaks(curves[layers[-1]], curves[shallow])


# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z18.mnist and Z18.height"}
@cache
def second_curves() -> dict:
    """Permuted barriers of the second seed, depth → widths."""
    return {
        d: [
            lines(match(Case(d, m, "second")), *seen).barriers("weights")
            for m in depth_widths
        ]
        for d in layers
    }


claims.check(
    "Z18.mnist",
    slope[0],
    stderr=slope[1],
    n=n_depth,
    again=lambda: trend(second_curves()),
)
claims.check(
    "Z18.height",
    taller[0],
    stderr=taller[1],
    n=n_depth,
    again=lambda: ratio_at_peaks(second_curves()[6], second_curves()[3]),
)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot matchers and depths"}
figure, (of_matcher, of_depth) = figures.panels(2)
for order, colour, label in (
    ("one start", "sky", "weight matching, one start"),
    ("weights", "blue", f"best of {restarts} starts"),
    ("activations", "green", "activation matching"),
):
    value, error = np.array([left[order, m] for m in widths]).T
    of_matcher.plot(widths, value, color=f"book:{colour}", label=label)
    figures.band(of_matcher, widths, value, error, color=f"book:{colour}")
of_matcher.set(ylabel="share of the direct barrier", title="matchers, 4 layers")
for d, colour in zip(
    layers, ("orange", "red", "blue", "purple", "black"), strict=False
):
    style = dict(color=f"book:{colour}", linestyle="--")
    mean, error = mean_and_error(curves[d])
    of_depth.plot(depth_widths, mean, label=f"{d} layers", **style)
    figures.band(of_depth, depth_widths, mean, error, color=style["color"])
of_depth.set(ylabel="permuted barrier", title="depths, weight matching")
for axis, at in ((of_matcher, widths), (of_depth, depth_widths)):
    axis.set(xscale="log", xlabel="width $m$", ylim=(0, None))
    axis.set_xticks(at, [str(m) for m in at])
    axis.minorticks_off()
figures.legend(figure)
figures.show("fig_depths", figure)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
tops = {d: place_of_peak(depth_widths, curves[d], seed) for d in layers}
falls = {d: np.mean(curves[d][-1]) / np.mean(curves[d][-2]) for d in layers}
figures.numbers(
    shallowest=layers[0],
    deepest=layers[-1],
    shallow=shallow,
    top_shallow=width(tops[layers[0]]),
    top_deep=width(tops[layers[-1]]),
    taller=ratio(taller),
    last_width=depth_widths[-1],
    width_before=depth_widths[-2],
    fall_shallow=f"{falls[layers[0]]:.2f}",
    fall_deep=f"{falls[layers[-1]]:.2f}",
)

# %% [markdown]
# ```{glue:figure} fig_depths
# :name: fig-depths
# :alt: Left, share of the direct barrier that three matchers leave, against the width. Right, permuted barrier against the width for several depths, dashed lines.
#
# Left: the share of the direct barrier that is left after weight matching from one start, from the best of {glue:text}`restarts`, and after activation matching. Right: permuted barriers of networks of several depths. Bars: intervals at two-sided $10^{-3}$ (profile {glue:text}`profile`).
# ```
#
# The largest mean is at $m =$ {glue:text}`top_shallow` with {glue:text}`shallowest` layers and at $m =$ {glue:text}`top_deep` with {glue:text}`deepest`. The height at the peak with {glue:text}`deepest` layers is {glue:text}`taller` times that with {glue:text}`shallow`. From $m =$ {glue:text}`width_before` to {glue:text}`last_width` the barrier is multiplied by
# {glue:text}`fall_shallow` with {glue:text}`shallowest` and by {glue:text}`fall_deep` with {glue:text}`deepest` layers.
#
# ## What this page cannot decide
#
# What the rest would cost, twenty networks at each width, on one core:


# %%
def hours(models: list, descent: Descent, examples: int) -> float:
    """Hours of one core for twenty networks of each model."""
    return sum(price(model, descent, examples, 20).cpu_hours for model in models)


def sgd(number: int) -> Descent:
    """The recipe of appendix B.1."""
    return Descent(number, 100, "sgd", 0.05)


mnist = [
    MLP((784, m, m, m, 10), init="he") for m in (15, 20, 25, 30, 40, 60, 80, 100)
]
cifar = [
    MLP((3072, *[m] * (d - 1), 10), init="he")
    for d in (2, 3, 4, 5, 6)
    for m in (15, 20, 25, 30, 40, 60, 80, 100, 150, 200)
]
convolutions = [CNN(width=m) for m in (8, 16, 32, 64)]
adam = Descent(100, 128, "adam", 0.005)
cost = {
    "ten thousand epochs": hours(mnist, sgd(10_000), 60_000),
    "perceptrons on CIFAR-10": hours(cifar, sgd(20), 50_000),
    "convolutions on CIFAR-10": hours(convolutions, adam, 50_000),
}

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
figures.numbers(
    **{f"hours_{k}": f"{value:.0f}" for k, value in enumerate(cost.values())}
)

# %% [markdown]
# - *The literal ten thousand epochs* (Z11.rises_printed), widths 15 to 100: {glue:text}`hours_0` hours.
# - *The other half of Fig. 14* (Z18.complexity): the peak "got bigger as our dataset became more complex", from MNIST to CIFAR-10. Perceptrons of 2 to 6 layers up to width 200 on CIFAR-10, 20 epochs: {glue:text}`hours_1` hours.
# - *Fig. 15* (Z19): a "CNN, with depth 16, optimizer Adam and learning rate 0.005" on CIFAR-10, whose widths, channels, batches and epochs are not printed. With 8 to 64 channels, batches of 128 and 100 epochs: {glue:text}`hours_2` hours, hence work for a GPU.
#
# ## What we found that the paper does not say
#
# - The NLL barrier has no limit ({prf:ref}`prop-logit-scale`): as training goes on it grows without bound, or vanishes. A curve over the width belongs to a budget.
# - How much a permutation removes depends on the algorithm that looks for it, which the paper does not name, as well as on the width.
# - Whether there is a rising side depends on where one begins to look; the boxes above say what holds in the range of the figure.
#
# ```{admonition} Try it
# :class: tip
# Narrower networks, more pairs:
#
#     make chapter NAME=width_barriers ARGS="-p pairs 8 -p images 2000"
# ```

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Versions and time"}
print(chapter.end())
