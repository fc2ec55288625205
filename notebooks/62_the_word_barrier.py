# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Which barrier is meant sometimes decides which networks look better connected
#
# *Four papers speak of the barrier between two networks: do they mean the same, and does it matter?*
#
# They do not, and it matters where barriers are low. Measured above the chord or above the worse end, barriers order two pairs of small networks differently in **[[100 * X4.seldom:±]] %** of comparisons, after matching in **[[100 * X4.disagree_matched:±]] %**; barriers of loss and of accuracy disagree in **[[100 * X4.accuracy_order:±]] %**.
#
# :::{glue:figure} fig_idea
# :name: fig-kinds
# :alt: First panel, a loss that falls from a high end to a low end with a bump on the way. Vertical bars of different lengths mark the bump above the chord, above the middle of the chord, above the worse end, above the mean of the ends and above the better end. Second panel, shares of comparisons that two barriers rank differently, with intervals, from 0: unmatched students [[100 * X4.seldom:.1f]] per cent, matched students [[100 * X4.disagree_matched:.1f]], loss against accuracy of classifiers [[100 * X4.accuracy_order:.1f]].
#
# First: one line, five barriers (drawn). Second: how often two of them rank two pairs of networks differently; recorded, bars: 99.9 % intervals.
# :::
#
# **How sure.** Theorems proved; ranks recorded on [[n(X4.seldom)]] pairs of students and [[n(X4.accuracy_order)]] of classifiers.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | Highest loss above the chord, on a grid that is "always sufficient" (Zhan et al., (9) and sec. 2) | [true up to a bound](#X4.grid) | misses at most $K h^2/8$ (proved), $h$ its step, $K$ the curvature |
# | The "midpoint barrier" (Bürgin et al., app. F.5) is at least half of the highest rise, if that is concave (ours) | [true](#X4.concave) | factor [[X4.concave:.2f]] is reached |
# | The midpoint may see nothing of a barrier (ours) | [true](#X4.middle_blind) | an exact example |
# | Unmatched, the chord (Zhan et al.) and the ends (Bürgin et al.) as baselines differ in 5 % or more (ours) | [false](#X4.disagree) | [[100 * X4.disagree:±]] % of comparisons |
# | After matching these baselines differ more often (ours) | [true](#X4.disagree_matched) | [[100 * X4.disagree_matched:±]] % of comparisons |
# | Accuracy (Bürgin et al., Fig. 4) and loss (Zhan et al., Fig. 7) differ (ours) | [true](#X4.accuracy_order) | [[100 * X4.accuracy_order:±]] % of comparisons |
#
# **Open.** Nothing.
#
# **For the authors.** No sentence to change. Print with every barrier which loss, which baseline, which places, and what it is divided by.

# %% [markdown]
# :::{need}
# You need: what a line between two networks is ([](11_exact_loss.ipynb)), and the mean value theorem. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $\lambda$ | place on the straight line between two networks, from 0 to 1 |
# | $l(\lambda)$ | loss at that place |
# | $c(\lambda)$ | the chord, $\lambda\, l(1) + (1 - \lambda)\, l(0)$ |
# | $e$ | loss above the chord, $l - c$ |
# | $\Delta$ | difference of the ends, $\lvert l(1) - l(0) \rvert$ |
# | $B$ | a {term}`barrier`; its index names what it is measured from |
# | $K$, $h$ | bound on the curvature of $l$ from below; distance of neighbouring places |
# | $\tau$ | Kendall's rank correlation |

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
    steps=Integer(400, 1_000_000),
    epochs=Integer(3, 10_000),
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

# %% Five barriers of one line, and three comparisons
at = np.linspace(0, 1, 200)
line = (
    0.9 - 0.7 * at + 1.1 * np.exp(-((at - 0.33) ** 2) / 0.03) * at * (1 - at) * 4
)
k = int((line - (0.9 - 0.7 * at)).argmax())
peak = int(line.argmax())
drops = {
    "chord": (at[k], 0.9 - 0.7 * at[k], line[k], "orange"),
    "middle": (0.56, 0.55, line[100], "green"),
    "worse end": (1.2, line[0], line[peak], "red"),
    "mean": (1.5, line[[0, -1]].mean(), line[peak], "purple"),
    "better end": (1.8, line[-1], line[peak], "blue"),
}
drawn = (
    ("X4.seldom", "chord and worse end,\nunmatched"),
    ("X4.disagree_matched", "chord and worse end,\nmatched"),
    ("X4.accuracy_order", "loss and accuracy"),
)

# %% Draw the barriers, and how often they rank differently
figure, (axis, shares) = figures.panels(2, height=3.6)
axis.plot(at, line, color="book:black")
axis.plot([0, 1], [line[0], line[-1]], "--", color="book:grey")
axis.plot([at[peak], 1.85], [line[peak]] * 2, ":", color="book:grey")
for name, (x, low, high, colour) in drops.items():
    style = dict(color=f"book:{colour}")
    axis.plot(
        [0.5 if name == "middle" else x] * 2, [low, high], linewidth=3, **style
    )
    axis.text(
        x + 0.03, (low + high) / 2 - 0.03, name, va="center", rotation=90, **style
    )
axis.set(xlabel="place on the line", ylabel="loss", xticks=[0, 0.5, 1])
axis.set(xlim=(0, 2.05), ylim=(0, 1.1 * line[peak]))
axis.grid(False)
for row, (part, says) in enumerate(drawn):
    record = claims.recorded(part)
    value, low, high = (100 * record[name] for name in ("value", "low", "high"))
    shares.plot([low, high], [-row] * 2, color="book:blue", linewidth=2)
    shares.plot(value, -row, "o", color="book:blue")
    shares.text(0.1, 0.38 - row, says, va="center", fontsize=10)
    shares.text(
        high + 0.25, -row, f"{value:.1f} %", va="center", color="book:blue"
    )
shares.set(xlim=(0, 13), ylim=(-2.4, 0.8), yticks=[])
shares.set(xlabel="comparisons that are ranked differently, %")
shares.grid(False)
figures.show("fig_idea", figure)

# %% [markdown]
# ## Four papers take different heights
#
# | Where | What is taken | Baseline | Of what |
# | --- | --- | --- | --- |
# | Z, (9) | supremum, on eleven places | the chord | population loss; Z, Fig. 3 divides by the {term}`direct barrier`; negative log-likelihood in Z, Figs. 7, 8 |
# | I, Prop. 5.2 | each place | the chord | loss |
# | I, Fig. 6, App. F.5 | the middle | – | "midpoint barrier" of the squared error |
# | I, Figs. 4, 20; section 6, Q3 | the line; the middle | the ends | accuracy |
# | G, Props. 5.3, 5.4, 5.6 | supremum | zero, which both ends have | squared error |
# | P, sections 4.1 and 5 | the end of a curve, a saddle | the loss of the minima | loss of the {term}`permutation point`; P, Fig. 3 divides it |
#
# `barrier_kinds` takes the losses at some places of many lines and returns the kinds that are measured on a line.
#
# ## Baselines convert into each other, to within the difference of the ends
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
# Two-layer students with fewer neurons than their {term}`teacher <teacher and student>` have positive loss, and one that was trained longer has less. The loss on the line between two of them is exact, and the barriers are these:

# %% Lines between students
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
figures.table(
    "mean barrier | " + " | ".join(KINDS),
    [
        (name, *(f"{kind[k].mean():.4f}" for k in KINDS))
        for name, kind in found.items()
    ],
)

deviations, violations = [], []
for kind in found.values():
    scale = kind["better"]
    exact = (kind["mean"] - kind["worse"] - delta / 2).abs() / scale
    below = (kind["worse"] - kind["chord"]) / scale  # allowed: at most 0
    above = (kind["chord"] - kind["worse"] - delta) / scale
    deviations.append(exact.max().item())
    violations.append(torch.maximum(below, above).max().item())

# %% [markdown]
# ## The middle sees half of the barrier, or nothing
#
# :::{prf:theorem} What the middle sees
# :label: thm-halfway
# If $e = l - c$ is concave, then $B_{\text{chord}} \le 2\, e(\frac12)$, and $2$ is the best factor; if in addition $e(\lambda) = e(1 - \lambda)$, then $B_{\text{chord}} = e(\frac12)$.
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

# %% A line that the middle does not see, and tents
root = torch.tensor(np.roots([1, -15, -45, -30]).real)  # d₁, d₂, d₃
w = 1 + at[:, None] * root  # (L, 3)
product_line = (w.prod(dim=1) - 1).square()[None]  # l, (1, L)
deep = {k: v.item() for k, v in barrier_kinds(product_line, places).items()}
figures.table(
    "the line of the theorem | " + " | ".join(KINDS),
    [("barrier", *(f"{deep[k]:.3g}" for k in KINDS))],
)

tops = torch.linspace(0.01, 0.99, 99, dtype=torch.float64)[:, None]
tents = torch.minimum(at / tops, (1 - at) / (1 - tops))  # concave, (99, L)
tent = barrier_kinds(tents, places)
worst = (tent["chord"] / tent["middle"]).max().item()
print(f"tents: barrier over middle at most {worst:.3f}")

# %%
claims.check("X4.middle_blind", deep["middle"] / deep["chord"], n=len(at))
claims.check("X4.concave", worst, n=len(tops))

# %% [markdown]
# So a profile should be shown once before only its middle is reported. For the average of two networks it is the middle that counts.
#
# ## Loss and accuracy are different questions
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
# A high loss barrier may come from confident mistakes on few examples or from the scale of the logits.
#
# ## Where barriers are low, the word decides the order
#
# Take two pairs of networks and ask which has the lower barrier. Two kinds of barrier may answer differently; the share of such pairs of pairs is $(1 - \tau)/2$ with Kendall's $\tau$ (`discordance`), and $\frac12$ would be no relation.

# %% Lines between classifiers
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
print(f"halfway {wrong[:, 50].mean():.3f}, loss {nll[:, 50].mean():.2f}")

# %%
direct = found["direct"]
differ = {
    name: discordance(kind["chord"], kind["worse"])
    for name, kind in found.items()
}
accuracy_differs = discordance(by_loss["chord"], by_error["chord"])


# %% The order of fresh pairs
def again() -> tuple[float, float]:
    """The order of fresh pairs."""
    kind = barrier_kinds(on_lines(*students(seed + 1)), places)
    return discordance(kind["chord"], kind["worse"])


print({name: f"{v:.3f} ± {e:.3f}" for name, (v, e) in differ.items()})

# %% [markdown]
# Unmatched students have a barrier much higher than the difference $\Delta$ of their ends, so that the baseline seldom decides. After {term}`weight matching` the barrier is low beside $\Delta$, and it decides more often.
# By {prf:ref}`thm-baselines` nothing else could make it matter.

# %%
claims.check("X4.seldom", *differ["direct"], n=pairs, second_seed=again)
claims.check("X4.disagree_matched", *differ["matched"], n=pairs)
claims.check("X4.accuracy_order", *accuracy_differs, n=classifiers)

# %% [markdown]
# ## A report of a barrier needs four words
#
# Which loss, which baseline, which places, and divided by what. If the losses of the ends are given too, {prf:ref}`thm-baselines` converts one baseline into another, exactly or to within $\Delta$.
#
# The height of a saddle, in P, is of another kind: the loss at a point of one constructed curve.
# The largest loss on such a curve is at least the infimum of the largest loss over all curves between the two networks.
# That infimum, taken against the worse end, is at most $B_{\text{worse}}$, as the line is a curve, and it may be 0 where $B_{\text{worse}}$ is as large as one likes
# ([](33_unbounded_barriers.ipynb)): so a low way round says nothing about lines, and a high barrier on a line nothing about curves. On how the two meet between a network and its permuted copy see [](22_permutation_points.ipynb) and [](37_permuted_barriers.ipynb).
#
# **Read on.** [](14_barrier_rate.ipynb), where the barrier of Z is computed exactly; [](56_matchers.ipynb), where matchers are compared by two kinds at once; [](50_accuracy_drops.ipynb) for drops of the accuracy.
#
# ## Evidence
#
# ### The kinds of barrier in code

# %% The kinds
for name, says in KINDS.items():
    print(f"{name:>6}  {says}")

# %% [markdown]
# ### The identities on all lines

# %%
claims.check("X4.baselines", max(deviations), n=2 * pairs)
claims.check("X4.between", max(violations), n=2 * pairs)

# %% [markdown]
# ### Eleven places
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

# %% Eleven places against 101
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

# %% [markdown]
# The grid misses at most {glue:text}`100 * relative.item():≤.1f` % of a barrier here. The bound needs a second derivative; at a kink of the loss it does not hold.
#
# ### Errors and the log-likelihood
#
# Perceptrons with one hidden layer on scikit-learn's digits, trained from different starts in pairs, without any matching:

# %%
claims.check("X4.error", (wrong * math.log(2) / nll).max().item(), n=classifiers)

# %% [markdown]
# ### The prediction that failed
#
# We had predicted that the baseline decides in one of twenty comparisons or more, also between unmatched students. It does so seldom:

# %%
claims.check("X4.disagree", *differ["direct"], n=pairs, second_seed=again)

# %% [markdown]
# ### All kinds against all

# %% Count the comparisons
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

# %% [markdown]
# :::{glue:figure} fig_orders
# :alt: Two matrices of percentages, one row and one column for each kind of barrier. First the loss barriers of students among themselves, zero on the diagonal; second the loss barriers of digit classifiers against their accuracy barriers.
#
# Percentage of pairs of pairs that two kinds of barrier order differently; 50 would be no relation. First: {glue:text}`pairs` pairs of unmatched students, loss against loss. Second: {glue:text}`classifiers` pairs of classifiers of digits, loss against accuracy (profile {glue:text}`profile`).
# :::
#
# The chord and the worse end disagree about {glue:text}`100 * differ["direct"][0]:.0f` % of the pairs of pairs of students, where the mean barrier is {glue:text}`found["direct"]["chord"].mean() / delta.mean():.1f` times the mean $\Delta$, and about {glue:text}`100 * differ["matched"][0]:.0f` % after weight matching, where it is {glue:text}`found["matched"]["chord"].mean() / delta.mean():.1f` times; the chord and the middle about {glue:text}`100 * table["chord", "middle"]:.0f` %; the barrier of the loss and that of the accuracy about {glue:text}`100 * accuracy_differs[0]:.0f` % on the digits.
#
# ### Exercises
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
#
# ### Versions

# %% Versions and time
print(chapter.end())
