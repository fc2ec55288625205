# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Matchings between published networks do not compose
#
# *What do the four papers' questions reveal about trained networks that others have published?*
#
# Among eight networks for molecular energies, matchings by weights, directly and by way of a third network, agree on only **[[100 * X10.compose:.0f]] %** of the first hidden layer's units (carbon atoms). In small networks, of the thousand orders nearest in weights the one with the best midpoint has median rank **[[X10.nearest:.0f]]**.
#
# :::{glue:figure} fig_compose
# :alt: First panel, shares of units that go to the same unit directly and by way of a third network, for three hidden layers, by weights [[100 * X10.compose:.0f]] per cent in the first and less than that in the deeper ones, by activations [[100 * X10.compose_deep:≤.0f]] per cent at most in the deeper ones; all would be 100. Second panel, for 28 pairs of small networks the rank in weights of the order with the best midpoint, among the thousand nearest, on a logarithmic axis; they scatter over the whole range.
#
# First: units that go to the same unit directly and by way of a third network (ANI-1x, carbon atoms); dashed: all. Second, log axis: rank in weights of the best of the thousand nearest orders (madmom, 28 pairs).
# :::
#
# **How sure.** Measured once, on every network: 8 of ANI-1x (molecules), 8 of madmom (music), [[n(X10.nullity)]] of SpliceAI (DNA), [[n(X10.hubs)]] of mhcnuggets (receptors). Only inputs are sampled; criteria were committed before.
#
# | We expected | We find | By how much |
# | --- | --- | --- |
# | Less than half of the units go to the same unit directly and by way of a third network | [true](#X10.compose) | [[100 * X10.compose:.0f]] % of the first hidden layer |
# | The order nearest in weights is not the best at the midpoint | [true](#X10.nearest) | of the thousand nearest the best has median rank [[X10.nearest:.0f]] (by chance 500) |
# | Twenty random starts find the nearest of $(4!)^4$ orders | [false: less often](#X10.optimum) | in [[100 * X10.optimum:.0f]] %, not 90 %, of the pairs |
# | In bidirectional networks it is chance which direction matches which | [false](#X10.reversal) | [[100 * X10.reversal:.0f]] % of the pairs are nearer reversed |
# | The network nearest to all others of its family is the supposed ancestor | [false](#X10.hubs) | in neither of the two families |
# | The last linear maps of SpliceAI can move in 4983 directions without changing an output | [true](#X10.nullity) | of 5379 parameters, in all [[n(X10.nullity)]] networks |
#
# **Open.** Nothing that these files could decide.
#
# **For the authors.** No sentence to change. Report a matched similarity with what matching gives after a random rotation, or in a random order.

# %% [markdown]
# :::{need}
# You need: {term}`weight matching` and matching by activations, [](56_matchers.ipynb); the word {term}`barrier`, [](62_the_word_barrier.ipynb). {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $a$, $b$ | two networks of an ensemble |
# | $\pi$ | an order of the units of $b$, with signs where they are free |
# | $S$ | agreement $\langle a, \pi b \rangle$ of all weights |
# | $D$ | squared distance of the midpoint's output from the mean of both, in units of that of either network |
# | $z_0$ | cosine of two weights as they are, in deviations from that in a random order |
# | $R$, $\rho$ | features of a linear map at all places, with a row of ones; their rank |
# | $V$, $W$ | weights of two linear maps in sequence |
#
# The chapter draws stored numbers. What we knew beforehand is marked (known). `make wild` downloads the archives that are named at the end, reads weights from them without running their code, and measures again.

# %% Parameters tags=["parameters"]
seed: int = (
    7001  # of nothing: the networks are given, and inputs have seeds of their own
)
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter

chapter.begin(globals())

import re

import numpy as np

from lmc_helpers import claims, figures
from lmc_helpers._chapters import networks_from_the_wild as wild

found = wild.measured()
potential, orders = found["potential"], found["orders"]
tuned, rotated, flat = found["tuned"], found["rotations"], found["flat"]


def per_cent(share) -> str:
    """A share in per cent."""
    return f"{100 * float(share):.0f}"


# %% Plot what composes, and the rank of the best order
figure, (left, right) = figures.panels(2, height=3.2)
for name, colour in (("weights", "blue"), ("activations", "orange")):
    shares = 100 * np.array(potential["C"]["compose"][name])  # (56, 3)
    left.plot([1, 2, 3], shares.mean(axis=0), "o-", color=f"book:{colour}")
    left.text(3.1, shares[:, 2].mean(), f"by {name}", color=f"book:{colour}")
left.axhline(100, color="book:grey", linestyle="--")
left.text(1, 93, "one network in disguise", color="book:grey", va="top")
first = 100 * np.mean(potential["C"]["compose"]["weights"], axis=0)[0]
left.text(1.1, first + 6, f"{first:.0f} %", color="book:blue")
left.set(xlabel="hidden layer", ylabel="units that compose, %", xticks=[1, 2, 3])
left.set(xlim=(0.8, 4.3), ylim=(0, 105))
ranks = np.sort(orders["rank"])
right.plot(np.arange(1, 29), ranks, "o", color="book:blue")
right.axhline(np.median(ranks), color="book:blue", linewidth=1)
said = f"median\n{np.median(ranks):.0f}"
right.text(29, np.median(ranks), said, color="book:blue", va="center")
right.axhline(1, color="book:grey", linestyle="--")
right.set(
    yscale="log", xlabel="pairs, sorted", ylabel="rank in weights, 1: nearest"
)
right.set(xlim=(0, 36), xticks=[1, 28])
figures.show("fig_compose", figure)

# %% [markdown]
# ## Who shares an ancestor?
#
# Every barrier between two networks supposes that they were trained apart. Whether they were can be read off their weights: if two networks are forks of one start, their weights agree as they are, unit by unit, and no order of the units that is drawn at random does as well. So compare the cosine of two weight matrices with that under a hundred random orders of one's units, in deviations, $z_0$: forks have large values, and independent trainings $0 \pm 1$, since what all units share is in both.

# %% Plot the census
figure, axis = figures.panels(height=4.0)
census = found["census"]
for row, (name, values) in enumerate(census.items()):
    fork = min(values) > 6
    axis.plot(values, np.full(len(values), -row), "o", alpha=0.5, markersize=4)
    axis.lines[-1].set_color("book:red" if fork else "book:blue")
    axis.text(-13, -row, name, ha="right", va="center", fontsize=10)
    if fork:
        axis.text(max(values) + 4, -row, "forks", color="book:red", va="center")
axis.axvspan(-3, 3, color="book:grey", alpha=0.2, linewidth=0)
axis.set(xlabel="agreement as they are, $z_0$", yticks=[], xlim=(-12, 102))
axis.grid(False)
figures.show("fig_census", figure)
forks = {name for name, values in census.items() if min(values) > 6}
apart = [value for name in census if name not in forks for value in census[name]]
figures.numbers(
    ensembles=len(census),
    forks=" and ".join(sorted(forks)),
    apart=len(apart),
    farthest=f"{max(map(abs, apart)):.1f}",
)

# %% [markdown]
# :::{glue:figure} fig_census
# :alt: One row for each of ten public ensembles with a point for each pair of networks. In eight of them all points lie around zero, in the grey band or close to it; those of PocketNet and BeatNet lie far to the right.
#
# Each pair of networks of {glue:text}`ensembles` public ensembles, by one weight matrix near the input. Grey: what unrelated pairs give. Some of these are forks (known).
# :::
#
# {glue:text}`forks` are forks of one start each: between them no order of units has to be found, and a low barrier says how far fine-tuning went, nothing of permutations. The {glue:text}`apart` other pairs have $|z_0| \le$ {glue:text}`farthest`.
#
# ## Eight seeds of a potential
#
# ANI-1x predicts energies of molecules as a sum over atoms; each of its eight members has one network 384 – … – 1 for each of four elements, three hidden layers with CELU. Inputs are the environments of atoms in 72 small molecules, each displaced eight times, and the target is the mean output of the eight.

# %% Table of the lines
body = []
for element in "HCNO":
    one, constant = potential[element], potential[element]["constant"]
    halfway = {
        name: np.median(of) / constant for name, of in one["halfway"].items()
    }
    merged = {name: value / constant for name, value in one["merged"].items()}
    body.append(
        (
            f"{element}, {one['environments']} atoms",
            f"{one['worst member'] / constant:.2f}",
            *(
                f"{halfway[k]:.2f}"
                for k in ("as they are", "weights", "activations")
            ),
            *(f"{merged[k]:.2f}" for k in ("averaged", "repaired")),
        )
    )
figures.table(
    "element | worst member | as they are | by weights | by activations | eight merged | and REPAIR",
    body,
)

# %% [markdown]
# Mean squared error halfway, median over 28 pairs, and of the mean of all eight in one common order (`lmc.merge`), in units of the error of a constant. Matching helps (known), and the mean of eight, each matched with the first, is about as good as a constant (known). In one common order of all eight the mean is better than the worst member for {glue:text}`better_than_worst`, and no better than a constant for {glue:text}`no_better`; {term}`REPAIR` helps for {glue:text}`repair_helps`.
#
# If the eight were one network in different orders, the orders would compose: from $a$ to $c$ directly, or by way of $b$.

# %%
compose = {k: np.mean(of, axis=0) for k, of in potential["C"]["compose"].items()}
claims.check("X10.compose", compose["weights"][0], n=56)

# %% [markdown]
# They do not, although the first layer's matched similarity is more than chance: units of two networks resemble each other a little, each resembles several, and the assignment picks one.
#
# Nor is the order a property of the two networks. Rounding the weights to eight bits already sends {glue:text}`elsewhere` % of the units elsewhere, yet the barrier between the unrounded networks stays within a tenth down to four bits; bfloat16 changes nothing (medians over the 28 pairs of carbon). And which matcher is better? By activations the loss halfway is lower than by weights in {glue:text}`better` of the pairs.

# %%
better = {
    e: np.less(
        potential[e]["halfway"]["activations"], potential[e]["halfway"]["weights"]
    ).mean()
    for e in "HCNO"
}
bits = potential["C"]["bits"]
ratio = {k: np.median(of["ratio"]) for k, of in bits.items()}
gone = {k: per_cent(np.median(of["elsewhere"])) for k, of in bits.items()}
claims.check("X10.bits", ratio["4"], n=28)
claims.check("X10.activations", min(better.values()), n=28)

# %% Table of the rounded weights, and numbers of the potential
averaged = {e: potential[e]["merged"]["averaged"] for e in "HCNO"}
repaired = {e: potential[e]["merged"]["repaired"] for e in "HCNO"}
figures.numbers(
    better_than_worst=", ".join(
        e for e in "HCNO" if averaged[e] < potential[e]["worst member"]
    ),
    no_better=", ".join(
        e for e in "HCNO" if averaged[e] > potential[e]["constant"]
    ),
    repair_helps=", ".join(e for e in "HCNO" if repaired[e] < averaged[e]),
    better=", ".join(f"{e} {per_cent(share)} %" for e, share in better.items()),
    elsewhere=gone["8"],
)
names = ("bfloat16" if k == "16" else f"{k} bits" for k in ratio)
head = "weights rounded to | units that go elsewhere, % | barrier of the unrounded networks, in units of that in their own order"
figures.table(
    head,
    zip(names, gone.values(), (f"{r:.2f}" for r in ratio.values()), strict=True),
)

# %% [markdown]
# ## Networks so small that all orders can be listed
#
# The eight networks `onsets_brnn_pp` of madmom find onsets in a curve by two bidirectional layers of 4 + 4 tanh units. Units of each of the four groups may change places and signs, $(2^4\, 4!)^4 \approx 2 \cdot 10^{10}$ orders in all. Given the first layer's, the forward and the backward group of the second do not meet in $S$, so that the maximum over the rest is two independent searches: $384^2$ cases, and the largest $S$ is exact, and so are the thousand largest.

# %%
exact, starts = np.array(orders["exact"]), np.array(orders["random starts"])
reached = {
    k: np.mean(np.array(orders[k]) > exact - 1e-6)
    for k in ("random starts", "identity")
}
claims.check("X10.optimum", reached["random starts"], n=28)
claims.check("X10.nearest", np.median(orders["rank"]), n=28)
claims.check("X10.surrogate", np.median(orders["rho"]), n=28)

# %% Numbers of the midpoints
gain = np.median(np.divide(orders["nearest"], orders["least"]))
figures.numbers(
    gain=f"{gain:.1f}",
    reached=f"{28 * reached['random starts']:.0f}",
    reached_once=f"{28 * reached['identity']:.0f}",
    **{
        name.replace(" ", "_"): f"{np.median(orders[name]):.2f}"
        for name in ("as they are", "nearest", "least")
    },
)

# %% [markdown]
# Without signs, among the $(4!)^4$ orders, the best of twenty random starts is the exact optimum in {glue:text}`reached` of 28 pairs; one ascent from the identity reaches it in {glue:text}`reached_once`. And the nearest order in weights is not the best one. The median $D$ is {glue:text}`as_they_are` for the networks as they are, {glue:text}`nearest` in the nearest order, and {glue:text}`least` in the best of the thousand nearest, {glue:text}`gain` times less (median over pairs).
#
# Exchange the forward and the backward layers, and the network runs on reversed time. It might be the nearer one to another network that saw time run forwards:

# %%
turned = np.mean(np.greater(orders["backwards"], orders["signed"]))
claims.check("X10.reversal", turned, n=28)

# %% [markdown]
# It never is: each direction has learned what is its own, although the architecture does not tell them apart.
#
# ## Is the identity the best order?
#
# mhcnuggets ships 284 networks, one for each allele of the receptors MHC I and II, all of one architecture. They were fine-tuned from one another; we take HLA-A\*02:01 and HLA-DRB1\*01:01, the package's default alleles, for the starts; its paper was not consulted. Correlations of recurrent weights as they are show two families, of {glue:text}`sizes` networks.

# %% Find the hubs
names, family = np.array(tuned["names"]), np.array(tuned["family"])
centre = np.array(tuned["centrality"])
hubs = [names[family == f][centre[family == f].argmax()] for f in (0, 1)]
known = ["HLA-A02:01", "HLA-DRB101:01"]

# %% Plot the families
figure, axis = figures.panels(height=3.6)
to_start = np.where(
    family == 0, tuned["with the first"], tuned["with the second"]
)  # of the own family
for f, colour in ((0, "blue"), (1, "orange")):
    at = to_start[family == f], centre[family == f]
    axis.plot(*at, "o", color=f"book:{colour}", markersize=4, alpha=0.5)
for name, colour in zip(
    (*known, *hubs), ("black", "black", "red", "red"), strict=True
):
    at = to_start[names == name].item(), centre[names == name].item()
    axis.plot(*at, "o", color=f"book:{colour}")
for f, name in enumerate(known):
    axis.text(1.002, centre[names == name].item() - 0.004 + 0.008 * f, name)
axis.set(xlabel="correlation with the start", ylabel="mean with the family")
axis.set(xlim=(None, 1.03))
figures.show("fig_families", figure)
still = np.array(tuned["moved"]) == 0
lead = [
    (centre[names == hub] - centre[names == name]).item()
    for hub, name in zip(hubs, known, strict=True)
]
higher = np.array(tuned["gain of a random start"]) > 1e-9
figures.numbers(
    sizes=" and ".join(str((family == f).sum()) for f in (0, 1)),
    hubs=" and ".join(re.sub(r"(\d\d:\d\d)$", r"*\1", hub) for hub in hubs),
    places=" and ".join(
        str(1 + (centre[family == f] > centre[names == name]).sum())
        for f, name in enumerate(known)
    ),
    behind=f"{max(lead):.0e}",
    still=still.sum() - 1,
    still_far=(still & (family == 1)).sum(),
    higher=higher.sum(),
)

# %% [markdown]
# :::{glue:figure} fig_families
# :alt: Two clouds of networks in two colours, class I and class II. Along the horizontal axis the correlation of a network's recurrent weights with the start of its family, nearly always above 0.85; upwards its mean correlation with the family. The starts lie at 1 on the right, and the hubs on top of them.
#
# Recurrent weights of 284 networks in two families, class I (blue) and II (orange). Red: the hubs, which cover the starts, black.
# :::
#
# For {glue:text}`still` networks the identity is a fixed point of weight matching with HLA-A\*02:01, all in its family and, of the other one, {glue:text}`still_far` (known). There a random start ends higher than an ascent from the identity for {glue:text}`higher` (known).
# The start of a family should be its hub, the network that all others are near to. It nearly is: the two starts are at ranks {glue:text}`places` of their families in mean correlation, {glue:text}`behind` behind the hubs {glue:text}`hubs`, which are all but copies of them.

# %%
claims.check("X10.hubs", sum(name in hubs for name in known), n=len(names))

# %% [markdown]
# ## Freedom that is no permutation
#
# SpliceAI's five networks predict splice sites from DNA. Five convolutions of width 1 read the trunk in five places, are added, and are read by a sixth: two linear maps in sequence, which permutation matchers call an axis of 32 channels.
#
# :::{prf:proposition} Flat directions of two linear maps
# :label: prop-wild-flat
# Let logits be $V (W_1 r_1 + \dots + W_k r_k + s) + c$ with parameters $V$, $W_i$, the summands of $s = \sum_i s_i$, and $c$, and let $R$ have the columns $(r_1, \dots, r_k, 1)$ at all places and rank $\rho$. If $V$ has full row rank $m$, the Jacobian of the logits has rank $m \rho$.
# In SpliceAI $m = 3$ and $\rho \le 4 + 4 \cdot 32 = 132$, hence at least $5379 - 396 = 4983$ directions are flat.
# :::
#
# :::{prf:proof}
# The logits are $M R$ with $M = (V W_1, \dots, V W_k, V s + c)$. Moving $W_i$ and $s_i$ alone moves $M$ in all directions $V X$, that is in all, as $V$ is onto. So the derivative of the parameters' map to $M$ is onto, and $M \mapsto M R$ has rank $m\rho$.
# In SpliceAI $r_1$ is the first convolution, of width 1 and without activation, of one-hot bases: $(r_1, 1)$ is a linear map of four numbers.
# :::

# %%
nullity = flat["parameters"] - np.array(flat["jacobian"])
off = np.abs(nullity - 4983)
claims.check("X10.nullity", off.tolist())

# %% [markdown]
# The rank of the Jacobian is computed by automatic differentiation, 396 in each of the five networks. So no further direction is flat: the trunk's other channels are independent on data. A matcher that permutes these 32 channels sees $32!$ points of a continuum of this dimension.
#
# ### Permutations or rotations?
#
# SemiBin codes a contig of DNA by 100 numbers; its twelve networks were trained on twelve habitats. Before and after the code the networks are linear, so that any invertible matrix may act on it. What is left of one habitat's code if that of another is mapped to it by the best matrix of a kind?

# %% Plot flat directions, and what is left
figure, (left, right) = figures.panels(2, height=3.2)
rank = flat["jacobian"]
left.barh(range(1, 6), nullity, color="book:sky")
left.barh(range(1, 6), rank, left=nullity, color="book:red")
left.text(200, 3, "flat", va="center")
left.text(5450, 3, f"rank {rank[2]}", color="book:red", va="center")
left.set(xlabel="directions of 5379", ylabel="network", xlim=(0, 7000))
left.grid(False)
kinds = list(rotated["left"])
styles = {"left": ("blue", "o-"), "left after a rotation": ("red", "s--")}
for name, (colour, style) in styles.items():
    median = [np.median(rotated[name][kind]) for kind in kinds]
    right.plot(range(5), median, style, color=f"book:{colour}")
right.text(1.1, 0.58, "after a random rotation", color="book:red")
right.text(0.2, 0.3, "as they are", color="book:blue")
right.set(xticks=range(5), ylim=(0, 1.05), ylabel="squared norm that is left")
words = ("identity", "orders", "and signs", "rotations", "all matrices")
right.set_xticklabels(words, rotation=20)
figures.show("fig_freedom", figure)


# %% Numbers of the rotations
def share(table: dict) -> np.ndarray:
    """Share of the gain from the identity to rotations that permutations get, by pair."""
    one, two, all_ = (
        np.array(table[k]) for k in ("identity", "permutation", "orthogonal")
    )
    return (one - two) / (one - all_)


real, null = share(rotated["left"]), share(rotated["left after a rotation"])
figures.numbers(
    real=per_cent(np.median(real)),
    null=per_cent(np.median(null)),
    more=(real > null).sum(),
)

# %% [markdown]
# :::{glue:figure} fig_freedom
# :name: fig-wild-freedom
# :alt: First panel, five equal bars of 5379 directions, all but the last 396 of them flat. Second panel, squared norm that is left, for the identity, orders, orders with signs, rotations and all matrices. The identity leaves all of it, orders a half, rotations a quarter, all matrices a tenth. After a random rotation of one code the points for orders lie barely higher.
#
# First: SpliceAI. Second: SemiBin, medians over 66 pairs of habitats, codes of 1000 random contigs, centred, with the best factor.
# :::
#
# Permutations seem to explain {glue:text}`real` % of what rotations do. But after a random rotation of one code, which destroys any correspondence of units, they explain {glue:text}`null` %: with a hundred units to choose from, an assignment finds that much in any two codes with a few large directions. They explain more than after the rotation in {glue:text}`more` of 66 pairs. Most of it is chance (known); how much was not known:

# %%
claims.check("X10.rotations", np.median(real - null), n=66)
claims.check("X10.orthogonal", np.median(rotated["left"]["orthogonal"]), n=66)

# %% [markdown]
# **Read on.** [](56_matchers.ipynb) for the matchers on networks of this book, [](63_your_networks.ipynb) for two of yours, [](21_merging_neurons.ipynb) and [](35_symmetry_curves.ipynb) for flat directions.
#
# ## Evidence
#
# ### Guesses of less weight

# %%
deep = [compose[k][layer] for k in compose for layer in (1, 2)]
claims.check("X10.compose_deep", max(deep), n=56)
claims.check("X10.identity_start", reached["identity"], n=28)
claims.check("X10.families", len(set(family)), n=len(names))

# %% [markdown]
# ### What was known, and how our numbers agree
#
# Some of these questions had been answered for us by other code before. Ours gives the same where no order of sweeps is involved: activations leave {glue:text}`known_activations` of the carbon pairs' barrier (known: 0.23), and the identity stays for {glue:text}`still` networks (known: 147).
# Weight matching differs. It leaves {glue:text}`known_weights` of the barrier with the best of twenty orders of the sweeps and {glue:text}`known_again` with the best of twenty others (known: 0.36, with twenty more): the local optima are nearly as good as one another and leave other barriers. A random start ends higher for {glue:text}`higher` networks of mhcnuggets than the best of four ascents from the identity (known: 115, against one ascent).

# %% Numbers that were known
carbon = potential["C"]["barrier"]
left_by = {
    k: np.median(np.divide(carbon[k], carbon["as they are"])) for k in carbon
}
figures.numbers(
    known_activations=f"{left_by['activations']:.2f}",
    known_weights=f"{left_by['weights']:.2f}",
    known_again=f"{left_by['weights again']:.2f}",
)

# %% [markdown]
# ### Packages, and their licences
#
# Weights are read as arrays: those of pickles and torch files by an unpickler that makes nothing but arrays, tensors and containers. Of the files nothing is kept but the numbers that are drawn here. `pip` runs the set-up script of madmom's source archive when it downloads it.
#
# The networks are those of ANI-1x (Smith et al. 2018), madmom (Böck et al. 2016), MHCnuggets (Shao et al. 2020; Copyright Johns Hopkins University 2015, all rights reserved), SpliceAI (Jaganathan et al. 2019), SemiBin (Pan et al. 2022), ADMET-AI (Swanson et al. 2024), PocketNet and BeatNet (Heydari et al. 2021); the molecules are in ASE (Larsen et al. 2017). Those of madmom and MHCnuggets are for non-commercial use.

# %% Table of the packages
figures.table("package | version | licence | SHA-256", wild.packages())

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# Let $\rho$ be the rank in {prf:ref}`prop-wild-flat` and let $V$ have rank $v < m$. Show that the rank of the Jacobian is $v\rho$ plus at most $(m - v)\,(h + 1)$, with $h$ channels between the two maps.
# :::
#
# :::{solution}
# The directions $V X$ fill the columns in the range of $V$, and give $v\rho$. Modulo this range only $V$ itself and $c$ move $M$: by $X (W_1, \dots, W_k, s)$, whose rows lie in a space of dimension at most $h$, plus multiples of the last row, for each of $m - v$ components.
# :::
#
# :::{try}
# Measure again, in about a quarter of an hour of one core and a quarter of a gigabyte:
#
#     make wild
# :::
#
# ### Versions

# %% Versions and time
print(chapter.end())
