# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The word *barrier*
#
# :::{summary}
# **Question.** Four papers speak of the {term}`barrier` between two networks. Do they mean the same, and does it matter?
#
# **The papers.**
# Zhan, Li & Wu (Z, (9)) take the highest loss above the chord; Bürgin, Herbst, Lin & Jegelka (I) the accuracy along the line and its middle; Zhao, Dehmamy, Walters & Yu (G) the loss on the line between two {term}`minima <minimum>`; Brea, Şimşek, Illing & Gerstner (P) the loss of a saddle on a curve.
#
# **What we find.**
# If both ends have the same loss, the baselines agree.
# If not, they differ by at most the difference of the ends, and we say exactly how {claim}`X4.baselines` {claim}`X4.between`.
# The middle alone sees at least half of a barrier whose profile is concave {claim}`X4.concave`, and may see nothing of another {claim}`X4.middle_blind`.
# Between students as they are the baseline decides in fewer than one of twenty comparisons which of two pairs is better connected {claim}`X4.seldom`, where we had predicted more {claim}`X4.disagree`; after
# matching in more {claim}`X4.disagree_matched`. Loss and accuracy order classifiers differently in one of twenty or more {claim}`X4.accuracy_order`.
#
# **Why it matters.** A barrier that is reported without its baseline, its places and its loss cannot be compared with another.
# :::
#
# :::{need}
# You need: what a line between two networks is ([](11_exact_loss.ipynb)), and the mean value theorem. {{ times }}
# :::

# %% Parameters tags=["parameters"]
pairs: int = 200  # pairs of two-layer students
classifiers: int = 120  # pairs of perceptrons on the digits
steps: int = 2000  # steps of gradient descent of the first student of a pair
epochs: int = 12  # passes through the digits
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    pairs=Integer(10, 100_000),
    classifiers=Integer(10, 10_000),
    steps=Integer(50, 1_000_000),
    epochs=Integer(1, 10_000),
)

import math

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.the_word_barrier import (
    KINDS,
    barrier_kinds,
    discordance,
)
from lmc_helpers.data.digits import digits
from lmc_helpers.matching import permute, weight_matching
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.segments import along_segments
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.teacher_student import initial_weights, population_loss
from lmc_helpers.teacher_student.gradient_descent import gradient_descent
from lmc_helpers.training.fit import fit
from lmc_helpers.training.recipes import Descent

# %% Plot the idea
figure, axis = figures.panels(height=3.6)
at = np.linspace(0, 1, 200)
line = (
    0.9 - 0.7 * at + 1.1 * np.exp(-((at - 0.33) ** 2) / 0.03) * at * (1 - at) * 4
)
k = int((line - (0.9 - 0.7 * at)).argmax())
peak = int(line.argmax())
axis.plot(at, line, color="book:blue", label="loss on the line")
axis.plot([0, 1], [line[0], line[-1]], "--", color="book:grey", label="chord")
drops = {
    "chord": (at[k], 0.9 - 0.7 * at[k], line[k], "book:orange"),
    "middle": (0.5, 0.55, line[100], "book:green"),
    "worse end": (at[peak] - 0.05, line[0], line[peak], "book:red"),
    "mean of the ends": (
        at[peak] - 0.11,
        line[[0, -1]].mean(),
        line[peak],
        "book:purple",
    ),
    "better end": (at[peak] - 0.17, line[-1], line[peak], "book:sky"),
}
for name, (x, low, high, colour) in drops.items():
    axis.plot([x, x], [low, high], color=colour, linewidth=2.5, label=name)
axis.set(xlabel="place on the line", ylabel="loss", xticks=[0, 0.5, 1])
figures.show("fig_idea", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_idea
# :name: fig-kinds
# :alt: A loss that falls from a high end to a low end with a bump on the way. Vertical bars of different lengths mark the bump above the chord, above the middle of the chord, above the worse end, above the mean of the ends and above the better end.
#
# One line, five barriers (a drawn example).
# :::
#
# ## Who means what
#
# | | What is taken | Baseline | Of what |
# | --- | --- | --- | --- |
# | Z, (9) | supremum, on eleven places | the chord | population loss; Z, Fig. 3 divides by the {term}`direct barrier`; negative log-likelihood in Z, Figs. 7, 8 |
# | I, Prop. 5.2 | each place | the chord | loss |
# | I, Fig. 6, App. F.5 | the middle | – | "midpoint barrier" of the squared error |
# | I, Figs. 4, 20; section 6, Q3 | the line; the middle | the ends | accuracy |
# | G, Props. 5.3, 5.4, 5.6 | supremum | zero, which both ends have | squared error |
# | P, sections 4.1 and 5 | the end of a curve, a saddle | the loss of the minima | loss of the {term}`permutation point`; P, Fig. 3 divides it |
#
# Let $l(\lambda)$, $0 \le \lambda \le 1$, be the loss on a line, $c(\lambda) = \lambda\, l(1) + (1 - \lambda)\, l(0)$ its chord and $\Delta = |l(1) - l(0)|$.
# `barrier_kinds` takes the losses at some places of many lines and returns the kinds that are measured on a line:

# %%
for name, says in KINDS.items():
    print(f"{name:>6}  {says}")

# %% [markdown]
# ## Baselines
#
# :::{prf:theorem} Four baselines
# :label: thm-baselines
# With the same places for all of them,
#
# $$
# \begin{aligned}
# B_{\text{mean}} &= B_{\text{worse}} + \tfrac12 \Delta = B_{\text{better}} - \tfrac12 \Delta, \\
# B_{\text{worse}} &\le B_{\text{chord}} \le B_{\text{better}} = B_{\text{worse}} + \Delta ,
# \end{aligned}
# $$
#
# so that $|B_{\text{chord}} - B_{\text{mean}}| \le \frac12 \Delta$. Both bounds on $B_{\text{chord}}$ are sharp.
# :::
#
# :::{prf:proof}
# Mean, worse and better end are constants, which differ by $\frac12 \Delta$, and one constant can be taken out of a supremum.
# As $\min(l(0), l(1)) \le c(\lambda) \le \max(l(0), l(1))$, the excess above the chord lies, at every place, between those above the worse and the better end.
# Where the loss is largest next to the worse end, $B_{\text{chord}}$ comes as near to
# $B_{\text{worse}}$ as one wishes, and next to the better end, to $B_{\text{better}}$.
# :::
#
# Two-layer students with fewer neurons than their {term}`teacher <teacher and student>` have positive loss, and one that was trained longer has less. The loss on the line between two of them is exact:

# %%
M, m, d = 8, 6, 8  # teacher, students, dimension


def students(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Pairs of students (pairs, m, d), the first of a pair trained longer."""
    long, short = initial_weights(m, d, 2 * pairs, seed).split(pairs)
    a = gradient_descent(long, M, rate=0.3, steps=steps).W
    return a, gradient_descent(short, M, rate=0.3, steps=steps // 20).W


places = (torch.arange(101, dtype=torch.float64) / 100).tolist()
at = torch.tensor(places, dtype=torch.float64)  # (L,)


def on_lines(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Exact losses (pairs, L) at λa + (1 − λ)b."""
    return torch.stack([population_loss(x * a + (1 - x) * b, M) for x in at], 1)


a, b = students(seed)
b_matched = permute(b, weight_matching(a, b))
lines = {"direct": on_lines(a, b), "matched": on_lines(a, b_matched)}
found = {name: barrier_kinds(loss, places) for name, loss in lines.items()}
ends = lines["direct"][:, [0, -1]]
delta = ends.diff(dim=1).abs()[:, 0]  # Δ, (pairs,)
print(f"ends {ends.mean(0).numpy().round(4)}, mean Δ {delta.mean():.4f}")
for name, kind in found.items():
    print(name, {k: round(v.mean().item(), 4) for k, v in kind.items()})

deviations, violations = [], []
for kind in found.values():
    scale = kind["better"]
    exact = (kind["mean"] - kind["worse"] - delta / 2).abs() / scale
    below = (kind["worse"] - kind["chord"]) / scale  # allowed: at most 0
    above = (kind["chord"] - kind["worse"] - delta) / scale
    deviations.append(exact.max().item())
    violations.append(torch.maximum(below, above).max().item())

# %%
claims.check("X4.baselines", max(deviations), n=2 * pairs)
claims.check("X4.between", max(violations), n=2 * pairs)

# %% [markdown]
# ## The middle
#
# :::{prf:theorem} What the middle sees
# :label: thm-half-way
# If $e = l - c$ is concave, then $B_{\text{chord}} \le 2\, e(\frac12)$, and $2$ is the best factor; if besides $e(\lambda) = e(1 - \lambda)$, then $B_{\text{chord}} = e(\frac12)$.
# Without concavity $e(\frac12)$ bounds nothing: there are minima of a deep linear network with $e(\frac12) = 0 < B_{\text{chord}}$.
# :::
#
# :::{prf:proof}
# Let $e$ be concave with its largest value $B$ at $\lambda^* \le \frac12$, the other case being the mirror image.
# As $e(1) = 0$, on $[\lambda^*, 1]$ it lies above the line from $(\lambda^*, B)$ to $(1, 0)$, so that $e(\frac12) \ge \frac{1/2}{1 - \lambda^*} B \ge \frac12 B$; a tent with $\lambda^* \to 0$ comes as near as one wishes.
# A concave function that is symmetric has its largest value in the middle.
# For the last statement take $l = (w_1 w_2 w_3 - 1)^2$, $w(0) = (1, 1, 1)$ and $w_i(\lambda) = 1 + \lambda d_i$ where the $d_i$ are the three roots of $t^3 - 15 t^2 - 45 t - 30$, which are real and not 0: the polynomial is negative at $-1$, positive at $-\frac32$, negative at $-4$ and at 0, and positive for large $t$.
# With their elementary symmetric functions
# $15, -45, 30$, in this order, $w_1 w_2 w_3$ is $1 + 15\lambda - 45 \lambda^2 + 30 \lambda^3$, which is $1 + 30\, \lambda (\lambda - \frac12)(\lambda - 1)$: it is 1 at both ends and in the middle, and nowhere else.
# :::

# %%
root = torch.tensor(np.roots([1, -15, -45, -30]).real)  # d₁, d₂, d₃
w = 1 + at[:, None] * root  # (L, 3)
product_line = (w.prod(dim=1) - 1).square()[None]  # l, (1, L)
deep = {k: v.item() for k, v in barrier_kinds(product_line, places).items()}
print({k: float(f"{v:.3g}") for k, v in deep.items()})

tops = torch.linspace(0.01, 0.99, 99, dtype=torch.float64)[:, None]
tents = torch.minimum(at / tops, (1 - at) / (1 - tops))  # concave, (99, L)
tent = barrier_kinds(tents, places)
worst = (tent["chord"] / tent["middle"]).max().item()
print(f"tents: barrier over middle at most {worst:.3f}")

# %%
claims.check("X4.middle_blind", deep["middle"] / deep["chord"], n=len(at))
claims.check("X4.concave", worst, n=len(tops))

# %% [markdown]
# ## Eleven places
#
# :::{prf:theorem} A maximum over places
# :label: thm-grid
# If $l$ is twice differentiable with $l'' \ge -K$, $K \ge 0$, the supremum above the chord exceeds the maximum over places, the ends among them, by at most $K h^2 / 8$, with $h$ the largest distance of neighbours.
# :::
#
# :::{prf:proof}
# $e + \frac K2 \lambda^2$ is convex. Between neighbours $\lambda_1 < \lambda_2$ it lies below the line through its values there, hence $e(\lambda) \le \max(e(\lambda_1), e(\lambda_2)) + \frac K2 (\lambda - \lambda_1)(\lambda_2 - \lambda)$, and the last product is at most $h^2/4$.
# :::
#
# On these lines, with $K$ from the second differences at 101 places, the barrier on Z's grid of eleven places against that at all 101:

# %%
misses, bounds = [], []
for loss in lines.values():
    fine = barrier_kinds(loss, places)["chord"]
    eleven = barrier_kinds(loss[:, ::10], places[::10])["chord"]
    second = loss.diff(n=2, dim=1) / 0.01**2  # l'', (pairs, L − 2)
    K = (-second).clamp(min=0).amax(dim=1)
    misses.append(fine - eleven)
    bounds.append(K * 0.1**2 / 8)
missed, bound = torch.cat(misses), torch.cat(bounds)
relative = (missed / torch.cat([k["chord"] for k in found.values()])).max()

# %%
tight = bound > 0
claims.check("X4.grid", (missed[tight] / bound[tight]).max().item(), n=2 * pairs)

# %% Numbers for the grid
figures.numbers(missed=f"{100 * relative.item():.1f}")

# %% [markdown]
# The grid misses at most {glue:text}`missed` % of a barrier here. The bound needs a second derivative; at a kink of the loss it does not hold.
#
# ## Loss and accuracy
#
# :::{prf:theorem} Errors are bounded by the log-likelihood, not the other way round
# :label: thm-accuracy
# For cross-entropy, the share of wrong answers is at most $l(\lambda) / \ln 2$ at every place.
# So the {term}`barrier of the accuracy <accuracy barrier>`, against any baseline, is at most $(B_{\text{worse}} + \max(l(0), l(1))) / \ln 2$.
# The barrier of the loss alone says nothing: there are lines with $B_{\text{chord}} < \varepsilon$ on which the accuracy falls from 1 to 0 and
# rises again, and lines of constant accuracy with $B_{\text{chord}} > 1/\varepsilon$, for every $\varepsilon > 0$.
# :::
#
# :::{prf:proof}
# A wrong answer gives the right class a probability of at most $\frac12$, hence a loss of at least $\ln 2$, and all losses are positive.
# Accuracies at the ends are at most 1, so that their fall below a baseline is at most the share of wrong answers.
# For the last statement let a network have two classes and the margin $\mu(\lambda)$, the logit of the right class less the other, the same for all inputs:
# $l = \ln(1 + e^{-\mu})$.
# With $\mu = \delta$ at the ends and $-\delta$ in the middle the accuracy falls from 1 to 0, while $B_{\text{chord}} = \ln \frac{1 + e^{\delta}}{1 + e^{-\delta}} = \delta$.
# With $\mu = -1$ at the ends and $-1 - \mu_0$, $\mu_0 > 0$, in the middle no answer is right anywhere, and $B_{\text{chord}} \ge \mu_0/2$, as the derivative of $\ln(1 + e^{z})$ is at least $\frac12$ for $z \ge 0$.
# A parabola through such values has real roots, so that
# both margins are products of two parameters that move on a line.
# :::
#
# Perceptrons with one hidden layer on scikit-learn's digits, trained from different starts in pairs, without any matching:

# %%
net = MLP((64, 24, 10))
images, labels = digits()
inputs, fresh = images[:1200].float(), images[1200:].float()
drawn = numpy_generator(seed, "classifiers").integers(2**31, size=2 * classifiers)
starts = drawn.tolist()
recipe = Descent(epochs, batch=100, optimiser="adamw", rate=1e-2)
nets = fit(net.initial(starts), recipe, inputs, labels[:1200], starts).stack
halves = torch.arange(2 * classifiers).split(classifiers)
first, other = (nets.ordinary(half) for half in halves)
scored = along_segments(first, other, fresh, labels[1200:], places)
nll, wrong = scored.loss.double(), 1 - scored.accuracy.double()  # (n, L)
by_loss, by_error = barrier_kinds(nll, places), barrier_kinds(wrong, places)
print(f"wrong at the ends {wrong[:, [0, -1]].mean():.3f}", end=", ")
print(f"half-way {wrong[:, 50].mean():.3f}, loss {nll[:, 50].mean():.2f}")

# %%
claims.check("X4.error", (wrong * math.log(2) / nll).max().item(), n=classifiers)

# %% [markdown]
# ## Which of two pairs is better connected?
#
# Take two pairs of networks and ask which has the lower barrier. Two kinds of barrier may answer differently; the share of such pairs of pairs is $(1 - \tau)/2$ with Kendall's $\tau$ (`discordance`).

# %%
direct = found["direct"]
table = {
    (one, two): discordance(direct[one], direct[two])[0]
    for one in KINDS
    for two in KINDS
}
by_accuracy = {
    (one, two): discordance(by_loss[one], by_error[two])[0]
    for one in KINDS
    for two in KINDS
}

differ = {
    name: discordance(kind["chord"], kind["worse"])
    for name, kind in found.items()
}


def again() -> tuple[float, float]:
    """The order of fresh pairs."""
    kind = barrier_kinds(on_lines(*students(seed + 1)), places)
    return discordance(kind["chord"], kind["worse"])


accuracy_differs = discordance(by_loss["chord"], by_error["chord"])
print({name: f"{v:.3f} ± {e:.3f}" for name, (v, e) in differ.items()})

# %% Check X4.disagree, X4.seldom and X4.accuracy_order
claims.check("X4.disagree", *differ["direct"], n=pairs, second_seed=again)
claims.check("X4.seldom", *differ["direct"], n=pairs, second_seed=again)
claims.check("X4.disagree_matched", *differ["matched"], n=pairs)
claims.check("X4.accuracy_order", *accuracy_differs, n=classifiers)

# %% Plot the orders
figure, axes = figures.panels(2, height=4.6)
titles = ("students: loss and loss", "digits: loss (rows), accuracy")
for axis, shares, title in zip(axes, (table, by_accuracy), titles, strict=True):
    grid = np.array([[100 * shares[r, c] for c in KINDS] for r in KINDS])
    axis.imshow(grid, cmap="Blues", vmin=0, vmax=60)
    axis.set_xticks(range(len(KINDS)), list(KINDS), rotation=60)
    axis.set_yticks(range(len(KINDS)), list(KINDS))
    for i, j in np.ndindex(grid.shape):
        shade = "white" if grid[i, j] > 35 else "book:black"
        style = dict(va="center", color=shade)
        axis.text(j, i, f"{grid[i, j]:.0f}", ha="center", **style)
    axis.grid(False)
    axis.set_title(title)
figures.show("fig_orders", figure)
figures.numbers(
    chord_worse=f"{100 * differ['direct'][0]:.0f}",
    after_matching=f"{100 * differ['matched'][0]:.0f}",
    chord_middle=f"{100 * table['chord', 'middle']:.0f}",
    loss_accuracy=f"{100 * accuracy_differs[0]:.0f}",
    over_delta=f"{found['direct']['chord'].mean() / delta.mean():.1f}",
    matched_over_delta=f"{found['matched']['chord'].mean() / delta.mean():.1f}",
)

# %% [markdown]
# :::{glue:figure} fig_orders
# :alt: Two matrices of percentages, one row and one column for each kind of barrier. On the left the loss barriers of students among themselves, zero on the diagonal; on the right the loss barriers of digit classifiers against their accuracy barriers.
#
# Percentage of pairs of pairs that two kinds of barrier order differently; 50 would be no relation. Left: {glue:text}`pairs` pairs of students, direct, loss against loss. Right: {glue:text}`classifiers` pairs of classifiers of digits, loss against accuracy (profile {glue:text}`profile`).
# :::
#
# The chord and the worse end disagree about {glue:text}`chord_worse` % of the pairs of pairs of students, where the mean barrier is {glue:text}`over_delta` times the mean $\Delta$, and about {glue:text}`after_matching` % after {term}`weight matching`, where it is {glue:text}`matched_over_delta` times; the chord and the middle about {glue:text}`chord_middle` %; the barrier of the loss and that of the accuracy about {glue:text}`loss_accuracy` % on the digits.
#
# ## Lines and curves
#
# The height of a saddle, in P, is of another kind: the loss at a point of one constructed curve.
# The largest loss on such a curve is at least the infimum of the largest loss over all curves between the two networks.
# That infimum, taken against the worse end, is at most $B_{\text{worse}}$, as the line is a curve, and it may be 0 where $B_{\text{worse}}$ is as large as one likes
# ([](33_unbounded_barriers.ipynb)): so a low way round says nothing about lines, and a high barrier on a line nothing about curves. On how the two meet between a network and its permuted copy see [](22_permutation_points.ipynb) and [](37_permuted_barriers.ipynb).
#
# ## What it means for merging networks
#
# - A report of a barrier needs four words: which loss, which baseline, which places, and whether it was divided by something. If the losses of the ends are given besides, {prf:ref}`thm-baselines` converts one baseline into another, exactly or to within $\Delta$.
# - For the average of two networks it is the middle that counts; it sees at least half of a barrier if the profile is concave, and may see nothing of it if the profile is not. A profile should be shown once before only its middle is reported.
# - Loss and accuracy are different questions. A high loss barrier may come from confident mistakes on few examples or from the scale of the logits.
#
# Read on: [](14_barrier_rate.ipynb), where the barrier of Z is computed exactly; [](56_matchers.ipynb), where matchers are compared by two kinds at once; [](50_accuracy_drops.ipynb) for drops of the accuracy.
#
# ## Exercises
#
# :::{exercise}
# Two networks have losses 0.2 and 0.5, and a paper reports a barrier of 0.1 above the worse end. Which barriers above the chord are possible?
# :::
#
# :::{solution}
# By {prf:ref}`thm-baselines` it lies between $0.1$ and $0.1 + 0.3 = 0.4$; above the mean of the ends it is exactly $0.1 + 0.15 = 0.25$.
# The two bounds are not reached, as the loss is 0.6 at the highest place, which is then no end, and the chord is strictly between 0.2 and 0.5 there; a narrow peak at any place gives all values between.
# :::
#
# :::{exercise}
# Show that the area above the chord is at most $B_{\text{chord}}$ and, for a concave profile, at least half of it. Which profiles give equality?
# :::
#
# :::{solution}
# The first is the mean against the supremum.
# A concave $e$ with $e(\lambda^*) = B$ and $e(0) = e(1) = 0$ lies above the tent with top $(\lambda^*, B)$, whose area is $B/2$, wherever $\lambda^*$ is.
# So $\frac12 B \le \int e \le B$, with equality on the left for tents alone, and on the right only for $e = 0$, as $e$ is continuous with $e(0) = 0$ (a concave profile of a loss that
# is continuous).
# :::
#
# :::{exercise}
# Multiply all logits of two classifiers by $s > 0$. What happens to the barrier of the accuracy, and to that of the loss as $s \to \infty$? (For two networks whose last layers are scaled, and whose hidden layers stay.)
# :::
#
# :::{solution}
# On the line only the last layer is scaled too, by the same $s$, so that all answers stay, and so does the accuracy's barrier.
# The loss of an example divided by $s$ tends to $\max(0, -\mu)$ with its margin $\mu$ (the right logit less the largest other one).
# So $B_{\text{chord}}/s$ tends to the barrier of the mean of $\max(0, -\mu)$, and $B_{\text{chord}}$ grows like $s$
# if that is positive: [](51_width_barriers.ipynb) draws the consequence for networks that are trained on and on.
# :::
#
# :::{try}
# Both students trained for longer, the second still for a twentieth of the steps; does the order still depend on the word?
#
#     make chapter NAME=the_word_barrier ARGS="-p steps 20000 -p pairs 400"
# :::

# %% Versions and time
print(chapter.end())
