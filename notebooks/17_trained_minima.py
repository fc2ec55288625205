# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Minima that gradient descent finds
#
# :::{summary}
# **Question.** Do trained networks look like random {term}`minima <minimum>`?
#
# **The paper.** Zhan, Li & Wu (Z) {cite:p}`zhan2025` assume so (Z, {term}`Assumption 3`; evidence in Z, Fig. 9), and find {term}`barriers <barrier>` of
# trained networks that peak at $m = 2M$ like those of random minima (Z, Fig. 2). Where they are lower, the paper attributes it
# to sparsity.
#
# **What we find.** From the paper's initial weights the type counts of trained networks are far more even than random ones ({claim}`Z13.counts`). With
# six {term}`teacher <teacher and student>` neurons and step size ½ their barrier peaks at $m =$ {glue:text}`peak`. In every setting tried the peak is not within a neuron of $2M$ ({claim}`Z6.peak`),
# and the barrier falls from $1.5 M$ to $2M$ ({claim}`Z8.second_descent`). It is lowered by even
# counts ({claim}`Z9.even_counts`), below the threshold of the step size with hardly a zero row ({claim}`Z9.few_zero_rows`).
# Among wide networks it was below that of random minima in these settings ({claim}`Z6.lower_from_printed`); by how much is open ({claim}`Z6.slightly`).
# Not recorded at the papers' scale yet: whether from initial weights larger than the paper's it is no longer lower ({claim}`Z6.from_larger`), and from the largest tried higher ({claim}`Z6.from_largest`); the table at $m = 24$ has the numbers of this run.
#
# **Why it matters.** From the initial weights of Z, B.1 networks trained on one task merge better than chance once they are wide enough, because they share
# the work evenly. From larger ones they need not.
# :::
#
# :::{need}
# You need: types, Assumption 3 and the {term}`overlap` ([](12_overlap_theorem.ipynb)), {term}`Algorithm 1` ([](13_algorithm_1.ipynb)),
# variances of binomial and Beta laws. {{ times }}
# :::
#
# Everything that Zhan, Li and Wu prove about overlap and barriers rests on their Assumption 3: the minima that gradient descent
# finds have multinomial type counts and entries uniform on the simplex. Their evidence is a uniformity test with one surplus
# neuron and a picture of sorted entries. Both are repeated here. The test comes out as they say, for a reason that holds for
# every law; the picture depends on the initial weights. What decides is the variance of the type counts: they are far more
# *even* than random ones, and that moves the peak of the barrier away from $m = 2M$ and lowers it there.

# %% Parameters tags=["parameters"]
runs: int = 2500  # networks of the uniformity test, 500 in Z
networks: int = 200  # networks per setting for the variances
pairs: int = 40  # pairs of networks per width, three times as many up to m of 12
steps: int = 3000  # budget of gradient descent
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(
    globals(),
    runs=Integer(50, 1_000_000),
    networks=Integer(10, 1_000_000),
    pairs=Integer(4, 100_000),
    steps=Integer(500, 10_000_000),
)

import math
from functools import cache

import numpy as np
import torch
from scipy import stats

from lmc_helpers import claims, figures
from lmc_helpers._chapters.trained_minima import with_uniform_entries
from lmc_helpers.error_bars import (
    mean_and_error,
    place_of_peak,
    ratio_of_means,
    share,
)
from lmc_helpers.teacher_student import (
    even_sharpness,
    expected_pq,
    initial_weights,
    permuted_and_direct,
    population_loss,
    pq_index,
    snap,
    uniform_barriers,
    zero_rows,
)
from lmc_helpers.teacher_student.gradient_descent import gradient_descent

# %% [markdown]
# ## Why even counts matter
#
# A row of a minimum lies on the ray of one teacher neuron, its *type*. If the $m$ rows of a student were shared out as evenly
# as they can be, all types would have $\lfloor m/M \rfloor$ rows and $m \bmod M$ of them one more. Two such networks differ
# only in *which* types have one more: nothing is left over at the multiples of $M$, and most between them. Under Assumption 3
# the share of rows without a partner is $1 - T(m, M)$, a smooth hill.

# %% Plot the idea: rows without a partner, even and random counts
all_widths = np.arange(6, 37)  # m, M = 6
one_more = all_widths % 6  # types with one more row than the others
even_left = one_more * (1 - one_more / 6) / all_widths
random_left = []  # 1 − T(m, 6), by the double sum over the binomial law
for m_shown in all_widths:
    at = np.arange(m_shown - 5)
    law = stats.binom.pmf(at, m_shown - 6, 1 / 6)
    apart = law @ np.abs(at[:, None] - at) @ law  # E|X − Y|
    random_left.append(6 / (2 * m_shown) * apart)
figure, axis = figures.panels(height=3.4)
style = dict(color="book:orange", linewidth=1.2)
axis.plot(all_widths, random_left, "o-", label="Assumption 3", **style)
style = dict(color="book:blue", linewidth=1.2)
axis.plot(all_widths, even_left, "o-", label="counts as even as can be", **style)
axis.set_xticks(range(6, 37, 6))
axis.set(xlabel="student neurons $m$, $M = 6$", ylabel="share without a partner")
figures.show("fig_even", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_even
# :alt: Share of rows without a partner against width. For random counts a smooth hill with its top just beyond twice the number of teachers. For even counts arches that touch zero at every multiple of six, the first one the highest.
#
# Expected share of rows without a partner for $M = 6$, exact. With even counts it is largest between $M$ and $2M$, and 0 at
# $2M$.
# :::
#
# ## The uniformity test
#
# With $m = 6$ and $M = d = 5$ there is one surplus row, so the {term}`type vector <type>` is one of five unit vectors. The paper finds all
# five almost equally often in 500 runs and takes this as confirmation of the multinomial law (Z, Fig. 9a). The numbers of
# runs here:

# %%
RATE = 0.5  # below the threshold of the previous chapter in every setting here
SETTLED = 1e-5  # norm of the gradient; less of it no longer moves the barrier
ENOUGH = 1500  # steps up to m = 14: more move no barrier by a fifth of its error


def train(
    m: int,
    M: int,
    d: int,
    n: int,
    seed: int,
    scale: float | None = None,
    rate: float = RATE,
) -> torch.Tensor:
    """n networks after gradient descent, (n, m, d); smaller steps are more."""
    start = initial_weights(m, d, n, seed, scale)
    most = ENOUGH if m <= 14 and pairs < 100 else steps
    budget = round(min(steps, most) * max(1, RATE / rate))
    return gradient_descent(start, M, rate, budget, tol=SETTLED).W


def counts(W: torch.Tensor, M: int) -> torch.Tensor:
    """Rows of each type, (n, M)."""
    return (snap(W, M) > 0).sum(dim=-2)[..., :M]


surplus = counts(train(6, 5, 5, runs, seed), 5).argmax(dim=1)  # (runs,)
tally = torch.bincount(surplus, minlength=5).tolist()
shares = np.array([share(k, runs) for k in tally])  # (5, 3): share, low, high
print(tally, f"χ² test: p = {stats.chisquare(tally).pvalue:.2f}")

# %%
off = np.abs(shares - 1 / 5)  # (5, 3)
least = np.where(
    np.prod(shares[:, 1:] - 1 / 5, axis=1) < 0, 0, off[:, 1:].min(axis=1)
)
claims.check(
    "Z13.gradient_descent",
    off[:, 0].max(),
    interval=(least.max(), off[:, 1:].max()),
    n=runs,
)

# %% [markdown]
# It is so, and it had to come out like this. The initial law and the loss are invariant under permutations of the first $M$
# coordinates, so the five outcomes are equally likely *whatever* the law of the counts is. A test of the multinomial law needs
# more than one surplus row.
#
# ## The variance of the counts
#
# With $m = 12$, $M = 6$, $d = 8$ a multinomial count has the variance $(m - M)\frac1M(1 - \frac1M)$. That of trained networks,
# relative to it:


# %%
SCALES = {  # initial weights, standard deviation; step size
    ("$1/(md)$", RATE): None,
    (r"$1/\sqrt{md}$", RATE): 96**-0.5,
    (r"$1/\sqrt d$", RATE): 8**-0.5,
    ("$1/(md)$", 0.2): None,
}


def count_variance(
    seed: int, scale: float | None, rate: float
) -> tuple[float, float]:
    """Variance of the type counts over the multinomial one, and its error."""
    found = counts(train(12, 6, 8, networks, seed, scale, rate), 6).double()
    ratio = (found - 2).square().mean(dim=1) / (6 / 6 * (1 - 1 / 6))  # (n,)
    return ratio.mean().item(), ratio.std().item() / math.sqrt(networks)


def count_variances(seed: int) -> list[tuple[float, float]]:
    """The same in every setting."""
    return [count_variance(seed, s, rate) for (_, rate), s in SCALES.items()]


count_ratios = count_variances(seed)
rows = (
    [name, f"{rate}", f"{value:.2f} ± {error:.2f}"]
    for (name, rate), (value, error) in zip(SCALES, count_ratios, strict=True)
)
figures.table(
    "initial weights, standard deviation | step size | variance of the counts / multinomial",
    rows,
)

# %% [markdown]
# The counts vary much less than Assumption 3 says, which Z, section 5 takes to hold "when the learning rate of GD and SGD is
# relatively small"; the step size ½ is about a quarter of the threshold. Neither a smaller one nor initial weights up to
# $1/\sqrt d$ bring the multinomial law back; from the standard deviation 1 and among wide networks it is back, as a table below shows. Where the paper leaves a setting open, a verdict here is one that comes out
# in *every* setting tried: the interval that is judged covers those of all. Where they do not agree, the first setting, the reference, is a reading
# of its own, and the better of the two counts.


# %%
def covering(found: list[tuple[float, float]]) -> tuple[float, float, float]:
    """The first of several values, and the interval that covers those of all."""
    low, high = (
        [v + sign * figures.BAND * e for v, e in found] for sign in (-1, 1)
    )
    return found[0][0], min(low), max(high)


claims.check(
    "Z13.counts",
    *covering(count_ratios),
    n=networks,
    second_seed=lambda: covering(count_variances(seed + 1)),
)

# %% [markdown]
# ## The entries of a type
#
# Z, Fig. 9b: one teacher, $m = d = 10$; the sorted entries of the first column look like sorted exponential variables. If the
# entries are uniform on the simplex, the $j$-th largest has the mean $\frac1m \sum_{k=j}^m \frac1k$, and each has the variance
# of the Beta$(1, m-1)$ law. The "standard error $1/md$" of the initial weights (Z, B.1) can be a standard deviation or a variance, $1/(md)$ or $1/\sqrt{md}$.
# The entries of trained networks from these and from two larger ones:


# %%
@cache
def entries(
    n: int, seed: int, scale: float | None = None, rate: float = RATE
) -> np.ndarray:
    """Entries of the one type, divided by their sum, in falling order; (n, m)."""
    W = snap(train(10, 1, 10, n, seed, scale, rate), 1)[..., 0]
    return (W / W.sum(dim=1, keepdim=True)).sort(descending=True).values.numpy()


def entry_variance(x: np.ndarray) -> tuple[float, float]:
    """Variance of the entries x (n, m) over the uniform one, with error."""
    uniform = stats.beta(1, 9).var()  # one of 10 entries, uniform on the simplex
    ratio = ((x - 1 / 10) ** 2).mean(axis=1) / uniform  # (n,)
    return float(ratio.mean()), float(ratio.std() / math.sqrt(len(ratio)))


by_start = {  # standard deviation of the initial weights → entries
    "1/(md)": entries(networks, seed),
    "1/\\sqrt{md}": entries(networks, seed, 1 / 10),
    "1/\\sqrt{d}": entries(10 * networks, seed, 10**-0.5),
    "1": entries(networks, seed, 1.0),
}
faster = entries(networks, seed, rate=1.9)  # near the threshold 2 of this setting
expected = np.cumsum(1 / np.arange(10, 0, -1))[::-1] / 10
ratios = [entry_variance(x) for x in by_start.values()]

# %% Plot both panels of Z, Fig. 9
figure, (left, right) = figures.panels(2)
x = np.arange(1, 6)
left.bar(x, shares[:, 0], color="book:sky", width=0.6)
bars = np.abs(shares[:, 1:] - shares[:, :1]).T
left.errorbar(x, shares[:, 0], yerr=bars, fmt="none", color="book:black")
left.axhline(1 / 5, color="book:orange", linestyle="--", label="1/5")
left.set(xlabel="type of the surplus row", ylabel="share of the runs")
x = np.arange(1, 11)
for (start, values), colour in zip(
    by_start.items(), ("blue", "sky", "green", "purple"), strict=True
):
    label = f"trained from ${start}$"
    mean, error = mean_and_error(values.T)
    style = dict(color=f"book:{colour}", fmt="o-", linewidth=1)
    figures.band(right, x, mean, error, label=label, **style)
right.plot(x, expected, "k--", label="uniform on the simplex")
right.set(xlabel="place in falling order", ylabel="mean entry of the type")
figures.show("fig_assumption", figure, legend=5)
figures.numbers(
    many=10 * networks,
    **{
        f"entry_{name}": f"{v:.3f} ± {e:.3f}"
        for name, (v, e) in zip(
            ("md", "root_md", "root", "one"), ratios, strict=True
        )
    },
)

# %% [markdown]
# :::{glue:figure} fig_assumption
# :alt: Left, five bars around one fifth. Right, mean sorted entries; those of networks trained from small initial weights fall slowly and nearly on a straight line, those from initial weights of standard deviation one over root d nearly follow the dashed curve of the uniform law, those from larger weights are steeper.
#
# Z, Fig. 9. Left: shares of the five type vectors in {glue:text}`runs` runs ($m = 6$, $M = d = 5$), with intervals at two-sided
# $10^{-3}$. Right: sorted entries ($M = 1$, $m = d = 10$), means over {glue:text}`networks` networks ({glue:text}`many` from
# $1/\sqrt d$) by the standard deviation of their initial weights, and the means for the uniform law (profile
# {glue:text}`profile`).
# :::

# %%
claims.check(
    "Z13.entries",
    *ratios[0],
    n=networks,
    second_seed=lambda: entry_variance(entries(networks, seed + 1)),
)
claims.check(
    "Z13.entries_variance",
    *ratios[1],
    n=networks,
    second_seed=lambda: entry_variance(entries(networks, seed + 1, 1 / 10)),
)

value, stderr = ratios[2]
claims.check("Z13.entries_from_larger", value, stderr=stderr, n=10 * networks)
change, other = entry_variance(faster), ratios[0]
value = change[0] / other[0]
relative = math.hypot(change[1] / change[0], other[1] / other[0])
claims.check("Z13.entries_unstable", value, stderr=value * relative, n=networks)

# %% [markdown]
# The variance of the entries, relative to the uniform law, is {glue:text}`entry_md` from initial weights of standard deviation $1/(md)$ and
# {glue:text}`entry_root_md` from $1/\sqrt{md}$, the two meanings of Z, B.1; {glue:text}`entry_root` from $1/\sqrt d$ and {glue:text}`entry_one` from 1.
# Small initial weights grow together and stay even; at $1/\sqrt d$, which the paper does not mention, its picture comes out nearly as it is printed
# ({claim}`Z13.entries_from_larger`). The paper says of it that "this distribution pattern is not
# stable enough with the changes in learning rate, $m$, $M$, and $d$"; for the learning rate that is so
# ({claim}`Z13.entries_unstable`), and the initial weights belong to the list. How much the variance changes where one of the sizes is doubled:


# %%
def spread(W: torch.Tensor, M: int) -> np.ndarray:
    """Variance of the entries of all types and that of the uniform law, (2, n)."""
    x = snap(W, M)[..., :M]  # (n, m, M)
    rows = (x > 0).sum(dim=1).clamp(min=1)  # of each type (n, M)
    share = x / x.sum(dim=1, keepdim=True)
    found = (share - 1 / rows[:, None]).square().where(x > 0, 0)
    uniform = (rows - 1) / (rows * (rows + 1))  # rows × that of Beta(1, rows − 1)
    return torch.stack([found.sum(dim=(1, 2)), uniform.sum(dim=1)]).numpy()


def doubled(m: int, M: int, d: int, seed: int) -> tuple[float, float]:
    """Larger over smaller of two variances, one at m = d = 10 and M = 1."""
    found = spread(train(m, M, d, networks, seed), M)
    (x, dx), (y, dy) = (
        ratio_of_means(*found, paired=True),
        entry_variance(entries(networks, seed)),
    )
    larger = max(x / y, y / x)
    return larger, larger * math.hypot(dx / x, dy / y)


SIZES = {"m": (20, 1, 10), "M": (10, 2, 10), "d": (10, 1, 20)}
changes = {name: doubled(*sizes, seed) for name, sizes in SIZES.items()}
for name, (value, error) in changes.items():
    print(f"{name} doubled: by a factor of {value:.2f} ± {error:.2f}")

# %%
claims.check(
    "Z13.entries_unstable_m",
    *changes["m"],
    n=networks,
    second_seed=lambda: doubled(*SIZES["m"], seed + 1),
)
claims.check(
    "Z13.entries_unstable_teachers",
    *changes["M"],
    n=networks,
    second_seed=lambda: doubled(*SIZES["M"], seed + 1),
)
claims.check(
    "Z13.entries_unstable_d",
    *changes["d"],
    n=networks,
    second_seed=lambda: doubled(*SIZES["d"], seed + 1),
)

# %% [markdown]
# ## The barrier between trained networks
#
# The *barrier* of a pair is the largest loss on the line between its networks, less that of the ends, on the {term}`paper's grid`
# $\lambda = 0, 0.1, \dots, 1$: *direct*, or *permuted* by Algorithm 1. Z, Fig. 2 shows both for $M = 6$, $d = 8$. The paper does not
# state the learning rate of the figure, nor which meaning of Z, B.1 is right. So there are four settings, the first of them the reference; in the last the step size decays with the width, as in Z, section 5, and crosses the
# threshold of [the previous chapter](16_step_size.ipynb) between $m = 24$ and $m = 36$:

# %%
widths = [7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 21, 24, 30, 36]
SETTINGS = {  # initial weights and step size → what they are at width m
    "$1/(md)$, ½": lambda m: {},
    r"$1/\sqrt{md}$, ½": lambda m: {"scale": (8 * m) ** -0.5},
    "$1/(md)$, 0.2": lambda m: {"rate": 0.2},
    r"$1/(md)$, $\propto m^{-1/2}$": lambda m: {
        "rate": 1.1 * math.sqrt(m / 36) * 2 / even_sharpness(m, 6, 8)
    },
}
FIRST = next(iter(SETTINGS))


@cache
def trained_pairs(m: int, seed: int, setting: str = FIRST) -> torch.Tensor:
    """Pairs of trained networks, (2, n, m, d); more of them where the peak is."""
    n = (3 if m <= 12 else 1) * pairs
    if setting != FIRST:
        n = pairs if m <= 14 else max(4, pairs // 3)
    W = train(m, 6, 8, 2 * n, seed, **SETTINGS[setting](m)).view(2, n, m, 8)
    return W[:, (population_loss(W, 6) < 1e-3).all(dim=0)]  # none has diverged


@cache
def barriers(m: int, seed: int, setting: str = FIRST) -> np.ndarray:
    """Permuted and direct barriers of trained pairs, (2, n)."""
    return permuted_and_direct(*trained_pairs(m, seed, setting), 6).numpy()


def over(m: int, base: int, seed: int) -> list[tuple[float, float]]:
    """Permuted barrier at one width over that at another, in every setting."""
    return [
        ratio_of_means(*(barriers(k, seed, s)[0] for k in (m, base)))
        for s in SETTINGS
    ]


def near_over_far(seed: int) -> list[tuple[float, float]]:
    """The largest mean at m = 11, 12, 13 over that at 8, 9, 10, 14, in every setting."""
    found = []
    for s in SETTINGS:
        near, far = (
            max((barriers(m, seed, s)[0] for m in some), key=np.mean)
            for some in ((11, 12, 13), (8, 9, 10, 14))
        )
        found.append(ratio_of_means(near, far))
    return found


trained = [barriers(m, seed) for m in widths]
uniform = [uniform_barriers(m, 6, 8, 10 * pairs, seed) for m in widths]
peak, peak_error = place_of_peak(widths, [row[0] for row in trained], seed)
print(f"trained networks: peak at m = {peak:.0f} ± {peak_error:.1f}")

# %% [markdown]
# Is the peak at $2M = 12$, up to one neuron? What is left of it there, and farther on? What does the permutation save, and how
# do trained networks compare with minima that follow Assumption 3 (*uniform*)? In each setting:

# %%
near = near_over_far(seed)
second, descends, to_zero = (
    over(*at, seed) for at in ((12, 9), (24, 12), (36, 9))
)
gains = [ratio_of_means(*barriers(12, seed, s), paired=True) for s in SETTINGS]
compared = {  # with uniform minima
    m: [
        ratio_of_means(barriers(m, seed, s)[0], uniform[widths.index(m)][0])
        for s in SETTINGS
    ]
    for m in (8, 9, 10, 11, 12, 13, 14, 18, 24, 36)
}

# %% Show the settings
measured = {
    "$m = 11, 12, 13$ / 8, 9, 10, 14": near,
    "$m = 12$ / 9": second,
    "$m = 24$ / 12": descends,
    "$m = 36$ / 9": to_zero,
    "permuted / direct, $m = 12$": gains,
    "trained / uniform, $m = 18$": compared[18],
    "trained / uniform, $m = 36$": compared[36],
}
rows = [
    [
        words,
        *(
            f"{v:.{3 if v < 0.1 else 2}f} ± {e:.{3 if v < 0.1 else 2}f}"
            for v, e in found
        ),
    ]
    for words, found in measured.items()
]
figures.table(" | ".join(["initial weights, step size", *SETTINGS]), rows)

# %% Plot the barrier of trained networks and of uniform minima, and numbers for the text
figure, axis = figures.panels()
for values, name, colour in (
    ([row[1] for row in trained], "trained, direct", "sky"),
    ([row[1] for row in uniform], "uniform minima, direct", "grey"),
    ([row[0] for row in trained], "trained, after Algorithm 1", "blue"),
    ([row[0] for row in uniform], "uniform minima, after Algorithm 1", "orange"),
):
    style = dict(color=f"book:{colour}", fmt="o-", linewidth=1.2)
    figures.band(axis, widths, *mean_and_error(values), label=name, **style)
for multiple in (12, 18, 24, 30, 36):
    axis.axvline(multiple, color="book:grey", linestyle=":", linewidth=0.8)
axis.set(yscale="log", xlabel="student neurons $m$ (dotted: multiples of $M$)")
axis.set(ylabel="mean barrier")
figures.show("fig_trained", figure, legend=2)
height = {m: row[0].mean() for m, row in zip(widths, trained, strict=True)}
uniform_height = {
    m: row[0].mean() for m, row in zip(widths, uniform, strict=True)
}
figures.numbers(
    uniform_pairs=10 * pairs,
    peak=int(peak),
    peak_ratio=peak / 6,
    drop=float(max(height.values()) / height[12]),
    below=float(uniform_height[12] / height[12]),
    above=float(height[9] / uniform_height[9]),
)

# %% [markdown]
# :::{glue:figure} fig_trained
# :alt: Mean barrier against width on a logarithmic axis. The permuted barrier of trained networks peaks between six and twelve neurons and lies below that of uniform minima for wide networks; that one has a broad maximum near twelve; the two direct barriers are far higher.
#
# Z, Fig. 2: mean barriers for $M = 6$, $d = 8$: {glue:text}`pairs` pairs of trained networks a width, three times as many up to
# $m = 12$ (at most {glue:text}`steps` steps, step size ½), and {glue:text}`uniform_pairs` of minima that follow Assumption 3
# (*uniform*); bars: ±3.29 standard errors (profile {glue:text}`profile`).
# :::

# %%
claims.check(
    "Z6.peak",
    *covering(near),
    n=pairs,
    second_seed=lambda: covering(near_over_far(seed + 1)),
)
claims.check("Z6.gain", *covering(gains), n=pairs)
claims.check(
    "Z8.second_descent",
    *covering(second),
    n=pairs,
    second_seed=lambda: covering(over(12, 9, seed + 1)),
)
claims.check("Z8.descends", *covering(descends), n=max(4, pairs // 3))
claims.check("Z14.to_zero", *covering(to_zero), n=max(4, pairs // 3))

# %% Check Z6.slightly, Z6.similar and Z6.lower_from_printed
n = max(4, pairs // 3)
wide = [found for m in (18, 24, 36) for found in compared[m]]
claims.check("Z6.slightly", *covering(wide), n=n)
claims.check("Z6.lower_from_printed", *covering(wide), n=n)
other = [found for m in compared if m <= 24 for found in compared[m]]
claims.check("Z6.similar", *covering(other), n=n)

wide = [compared[m][0] for m in (18, 24, 36)]  # in the reference setting
claims.check("Z6.slightly_reference", *covering(wide), n=pairs)
other = [found[0] for m, found in compared.items() if m <= 24]
claims.check("Z6.similar_reference", *covering(other), n=pairs)

# %% [markdown]
# In the first setting the peak of trained networks is at $m =$ {glue:text}`peak` $=$ {glue:text}`peak_ratio:.1f` $M$; at $m = 2M = 12$ their barrier
# is already {glue:text}`drop:.1f` times lower. There it is {glue:text}`below:.1f` times below that of uniform minima, at
# $m = 9$ it is {glue:text}`above:.1f` times *above* it. The four settings agree that the peak is not within a neuron of $2M$ and that the barrier falls
# from $1.5 M$ on. The paper says that it is "slightly smaller" than that of uniform minima when $m$ is large, and "very similar"
# (Z, section 4). The two cross, in the first setting before $m = 2M$; from there on the trained one is lower, the more so the wider the networks are
# ({claim}`Z6.slightly`, {claim}`Z6.similar`, for which half a decade on the axis of the figure is "slight").
#
# Larger initial weights than those of Z, B.1 are another matter. At $m = 24$ and step size ½ the larger they are, the less even are the counts;
# the entries stay more even than uniform ones. So the barrier rises to that of uniform minima and beyond:

# %%
LARGER = {r"$1/\sqrt d$": 8**-0.5, "1": 1.0}  # standard deviations
n = pairs if pairs < 40 else max(pairs, 100)  # the barrier has a long tail


def from_scale(scale: float) -> torch.Tensor:
    """Pairs of networks of width 24 from initial weights of any size, (2, n, 24, 8)."""
    return train(24, 6, 8, 2 * n, seed, scale=scale).view(2, n, 24, 8)


names = ("$1/(md)$", r"$1/\sqrt{md}$")  # of the first two settings
at_24 = {
    name: trained_pairs(24, seed, s)
    for name, s in zip(names, SETTINGS, strict=False)
} | {name: from_scale(scale) for name, scale in LARGER.items()}
by_scale = {}  # trained over uniform barrier
rows = []
for name, W in at_24.items():
    flat = W.flatten(0, 1)
    variance = (counts(flat, 6) - 4).double().square().mean(dim=1) / (18 * 5 / 36)
    barrier = permuted_and_direct(*W, 6)[0].numpy()
    by_scale[name] = ratio_of_means(barrier, uniform[widths.index(24)][0])
    found = (
        (variance.mean().item(), variance.std().item() / math.sqrt(len(flat))),
        ratio_of_means(*spread(flat, 6), paired=True),
        by_scale[name],
    )
    shown = ("{:.2f} ± {:.2f}".format(*pair) for pair in found)
    rows.append([name, str(W.shape[1]), *shown])
figures.table(
    "standard deviation | pairs | variance of the counts / multinomial | of the entries / uniform | barrier / uniform",
    rows,
)

# %%
value, stderr = by_scale[r"$1/\sqrt d$"]
claims.check("Z6.from_larger", value, stderr=stderr, n=n)
value, stderr = by_scale["1"]
claims.check("Z6.from_largest", value, stderr=stderr, n=n)

# %% [markdown]
# ## Why the barrier is lower
#
# From $m = 2M$ on the barrier of trained networks lies below that of uniform minima, as the paper says of Z, Fig. 2. It
# attributes this "to the sparsity of the SGD solutions": zero rows match without a barrier (Z, section 5). So they do, as the function of a
# row is linear in $\lambda$ on the way from 0 to it ({claim}`Z9.zero_rows_free`). The paper says that the
# reason is a partial one, "when $m$ is large and the learning rate is high" (Z, section 4), and does not state the learning
# rate of the figure. At the step size ½, which is below the threshold up to $m =$ {glue:text}`last_below`, hardly a row is zero.
#
# Even counts and even entries can be told apart by minima that have the types of trained networks and fresh uniform entries
# (`with_uniform_entries`). At $m = 3M$:

# %%
m = 18
first, second = trained_pairs(m, seed)  # (pairs, m, d) each
mixed = np.mean(  # each pair with ten draws of its entries, (pairs,)
    [
        permuted_and_direct(
            with_uniform_entries(first, 6, seed + 2 * k),
            with_uniform_entries(second, 6, seed + 2 * k + 1),
            6,
        )[0].numpy()
        for k in range(10)
    ],
    axis=0,
)
as_trained, as_uniform = (row[widths.index(m)][0] for row in (trained, uniform))
by_counts = ratio_of_means(mixed, as_uniform)
by_entries = ratio_of_means(as_trained, mixed, paired=True)
print("even counts multiply the barrier by {:.2f} ± {:.2f}".format(*by_counts))
print("even entries multiply it by {:.1f} ± {:.1f}".format(*by_entries))

# %% [markdown]
# The order of the two factors matters. Barriers over that of uniform minima, with equal entries in the middle column:


# %%
def with_equal_entries(W: torch.Tensor) -> torch.Tensor:
    """Minima with the types of W whose entries are equal in each type."""
    alive = (snap(W, 6) > 0).double()
    return alive / alive.sum(dim=-2, keepdim=True).clamp(min=1)


equal = uniform_barriers(m, 6, 8, 10 * pairs, seed, "equal")[0]
even_equal, _ = permuted_and_direct(
    with_equal_entries(first), with_equal_entries(second), 6
).numpy()
by_equal = ratio_of_means(equal, as_uniform)
by_counts_equal = ratio_of_means(even_equal, equal)
cells = (
    by_equal,
    by_counts,
    *(ratio_of_means(x, as_uniform) for x in (even_equal, as_trained)),
)
one, *others = ("{:.2f} ± {:.2f}".format(*cell) for cell in cells)
figures.table(
    "entries | uniform | equal | as trained",
    [["multinomial counts", "1", one, ""], ["counts as trained", *others]],
)

# %% Check Z9.even_counts, Z9.even_entries, Z9.few_zero_rows and Z9.attribution in three readings
claims.check("Z9.even_counts", *by_counts, n=pairs)
claims.check("Z9.even_entries", *by_entries, n=pairs)

LOWER = (18, 21, 24, 30)  # widths where the trained barrier is the lower one


def with_zero_row(seed: int) -> tuple[float, float, float]:
    """Share of trained networks with a zero row, with its interval."""
    hit = [(zero_rows(trained_pairs(m, seed)) > 0).flatten() for m in LOWER]
    return share(int(torch.cat(hit).sum()), sum(map(len, hit)))


value, low, high = with_zero_row(seed)
claims.check(
    "Z9.few_zero_rows", value, interval=(low, high), n=2 * pairs * len(LOWER)
)


def zero_row_at_36(seed: int, setting: str) -> tuple[float, float, float]:
    """Share of networks with a zero row at m = 36, with its interval."""
    hit = (zero_rows(trained_pairs(36, seed, setting)) > 0).flatten()
    return share(int(hit.sum()), len(hit))


zero_at_36 = [zero_row_at_36(seed, s) for s in SETTINGS]
_, lows, highs = zip(*zero_at_36, strict=True)
claims.check(
    "Z9.attribution",
    zero_at_36[0][0],
    interval=(min(lows), max(highs)),
    n=2 * max(4, pairs // 3),
)
claims.check(
    "Z9.attribution_reference",
    *zero_at_36[0],
    n=2 * pairs,
    second_seed=lambda: zero_row_at_36(seed + 1, FIRST),
)
claims.check("Z9.attribution_high", *zero_at_36[-1], n=2 * max(4, pairs // 3))

# %% Numbers for the text
norms = torch.linalg.vector_norm(trained_pairs(18, seed).flatten(0, 1), dim=-1)
figures.numbers(
    with_zero=f"{100 * value:.1f} %",
    zero_slow=f"{max(x[0] for x in zero_at_36[:-1]):.0%}",
    zero_root=f"{zero_at_36[-1][0]:.0%}",
    root_36="{:.2f} ± {:.2f}".format(*compared[36][-1]),
    pq_trained=pq_index(norms).mean().item(),
    pq_uniform=expected_pq(18, 6),
    last_below=math.floor(18 * 2 / even_sharpness(18, 6, 8) / RATE),
    by_counts="{:.2f} ± {:.2f}".format(*by_counts),
    by_entries="{:.1f} ± {:.1f}".format(*by_entries),
    by_equal="{:.1f} ± {:.1f}".format(*by_equal),
    by_counts_equal="{:.2f} ± {:.2f}".format(*by_counts_equal),
)

# %% [markdown]
# The even counts alone multiply the barrier by {glue:text}`by_counts`, the even entries, at these counts, by {glue:text}`by_entries` (± standard
# error). In the other order equal entries multiply it by {glue:text}`by_equal` and even counts, at these entries, by {glue:text}`by_counts_equal`: the
# signs are the same, the sizes are not. Sparsity does lower a barrier, as the paper argues of zero rows; uneven entries, too, leave small rows unmatched. But it is not the cause
# at this step size. {glue:text}`with_zero` of the networks with 18 to 30 rows have a zero row, and by the {term}`PQ index`, a measure
# of sparsity, trained networks are *less* sparse than uniform minima, {glue:text}`pq_trained:.3f` against
# {glue:text}`pq_uniform:.3f` at $m = 18$ ([](18_sparsity.ipynb)); their barrier is lower because their counts agree.
#
# Beyond the threshold, at a high learning rate or, as the threshold falls like $1/m$, at large $m$, rows die. At $m = 36$ at most
# {glue:text}`zero_slow` of the networks of the first three settings have a zero row, and {glue:text}`zero_root` of the last, whose barrier is
# {glue:text}`root_36` of that of uniform minima. There the paper's reason can apply ({claim}`Z9.attribution_high`). So the attribution depends on the
# learning rate that is not stated ({claim}`Z9.attribution`).
#
# ## What we found that the paper does not say
#
# - A uniformity test with one {term}`surplus neuron` holds for every exchangeable law. It says nothing about Assumption 3.
# - From the initial weights of Z, B.1 the type counts of trained minima are much more even than multinomial ones, at every step size tried. Whether the
#   entries of a type look uniform on the simplex is decided by the initial weights.
# - Where, below the threshold, the barrier of trained networks is the lower one, this is because of their counts and in spite of
#   their entries. How much is due to either depends on the order in which they are exchanged.
# - The size of the initial weights decides whether wide trained networks merge better than random minima, like them or worse
#   ({claim}`Z6.from_larger`, {claim}`Z6.from_largest`).
#
# ## What it means for merging networks
#
# Theorems on random minima describe the barrier of networks trained from small weights neither in its peak nor in its size; from the standard
# deviation $1/\sqrt d$ they describe its size at $m = 4M$, where two differences cancel: fewer rows are left over, and those are larger. From small
# weights training shares the work more evenly than chance, so that two networks agree on more of it without having met. From $m = M$ on, with six teachers,
# the barrier is then largest between $M$ and $2M$, where no even share exists, and falls from there on.
#
# Read on: [](19_double_descent.ipynb) follows trained networks below $m = M$; [](51_width_barriers.ipynb) looks for the peak
# on MNIST.
#
# ## Exercises
#
# :::{exercise}
# Counts as even as they can be, $M = 6$: what is their variance relative to the multinomial one at $m = 9$ and at $m = 12$?
# :::
#
# :::{solution}
# At $m = 9$ three types have two rows and three have one, with the variance $\frac14$; the multinomial one is
# $3 \cdot \frac16 \cdot \frac56 = \frac5{12}$. The ratio is $0.6$. At $m = 12$ all types have two rows, and the ratio is 0.
# :::
#
# :::{exercise}
# Let two networks have counts as even as can be, with the types that have one row more drawn at random. Show that the expected
# share of rows without a partner is $\frac sm \bigl( 1 - \frac sM \bigr)$, $s = m \bmod M$. Where between $M$ and $2M$ is it
# largest for large $M$?
# :::
#
# :::{solution}
# A type leaves a row of the first network over if it is among the $s$ types with one row more there and not among those of the
# second: probability $\frac sM (1 - \frac sM)$. There are $M$ types, so $s (1 - \frac sM)$ of the $m$ rows have no partner. With
# $s = xM$, $m = (1 + x) M$ the share is $x (1 - x)/(1 + x)$. Its derivative has the sign of $1 - 2x - x^2$, so that
# $x = \sqrt2 - 1$: the most rows are left over at $m = \sqrt2\, M$. For $M = 6$ the shares at $m = 8$ and $m = 9$ are equal.
# :::
#
# :::{try}
# More pairs at every width:
#
#     make chapter NAME=trained_minima ARGS="-p pairs 200"
# :::

# %% Versions and time
print(chapter.end())
