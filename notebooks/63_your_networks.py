# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown] tags=["of-the-book"]
# # Your networks: in three architectures matching removes most of the barrier
#
# *How much of the barrier between two networks of your own is only the order of their units?*
#
# Most of it, in an MLP, a residual CNN and a transformer of ours. Weight matching reorders one network's units, changes no output and leaves, where it helps least, **[[100 * X9.barrier:.0f]] % ([[100 * X9.barrier:to]])** of the rise of the loss. [One command](../your_networks.md) makes this page for yours.
#
# :::{glue:figure} fig_left
# :alt: Two rows on an axis from 0 to 100 per cent, with a line at 100 for no help and one at one half. Recorded dots with their intervals: matching the units leaves [[100 * X9.barrier:.0f]] ([[100 * X9.barrier:to]]) per cent of the barrier; keeping half of them beside each other leaves [[100 * X9.padding:.0f]] ([[100 * X9.padding:to]]) per cent of what the average of matched networks still loses.
#
# Blue: share of the barrier (largest rise of the loss on the line) that weight matching leaves. Green, another quantity: the average of two matched networks has a higher loss than their ensemble (the mean of their outputs); share of this excess that is left if half of the units are kept side by side (row 5). Recorded after {glue:text}`recorded_epochs` epochs, in the architecture where most is left; bars: 99.9 %. Lines of one pair: next picture.
# :::
#
# **How sure.** Recorded on [[n(X9.barrier)]] pairs of each architecture, trained on small digits; the share is that of the mean barrier over the pairs, in the architecture where it is largest.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | At most half of the rise is left (ours; "likely no loss barrier", which Zhan et al. report, claims more) | [true](#X9.barrier) | [[100 * X9.barrier:.0f]] % ([[100 * X9.barrier:to]]) where most is left |
# | Permutations give "multiple equivalent global minima" (Brea et al., abstract) | [true, to rounding](#X9.function) | in [[n(X9.function)]] matches: one pair of each architecture by four matchers, the others by weights |
# | A random order of units is found again (ours) | [true, every unit](#X9.planted) | in all [[n(X9.planted)]] networks |
# | Equation (16) is "the cost to swap neurons" $i$ and $j$ (Bürgin et al., sec. 4.3) | [true, to rounding](#X9.exchange) | [[n(X9.exchange)]] pairs of units |
# | If half of the units of both are kept side by side and the rest averaged, at most a third of the average's excess loss over the ensemble is left (ours; MLP, CNN) | [true](#X9.padding) | at most [[100 * X9.padding:±]] % |
#
# **Open.** Whether with half of the units kept an eighth or more is left in both ([[100 * X9.padding_law:±]] % where least): 1.6 core-hours. Other architectures: yours, by the command.
#
# **For the authors.** No sentence to change.

# %% [markdown] tags=["of-a-reader"]
# # Your networks: what four papers see in a pair
#
# *Two networks of {glue:text}`model`: how high is the barrier between them, what is left of it in one order of their units, and what do the four papers say of it?*
#
# Every number on this page is of your networks, your loss and your examples; what the papers claim is judged in the book, on networks of its own.

# %% [markdown]
# :::{need}
# You need: how to write a network in PyTorch. The word {term}`barrier`: [](62_the_word_barrier.ipynb); the four papers on one pair: [](61_four_lenses.ipynb). {{ times }}
# :::
#
# :::{try}
# Two networks of your own: a function without arguments that makes one, importable from the folder in which you run the command; two files of weights (safetensors, npz, or a state dict in a `.pt` file, which is read without running code); examples as arrays `x` and `y`, several inputs as arrays by the names of the arguments of `forward`, or a function that makes a DataLoader.
#
#     make chapter NAME=your_networks ARGS="-p model my.nets:make \
#         -p a a.safetensors -p b b.safetensors -p data val.npz"
#
# It says first how long it will take. The table alone, on a page of its own: `python -m lmc_helpers compare my.nets:make a.safetensors b.safetensors val.npz --out report.html`.
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $\lambda$ | place on the straight line between two networks, from 0 to 1 |
# | $p$ | a permutation of units |
# | $m$ | units of a layer |
# | $i$, $j$ | two units of one layer |
# | $F$, $D$, $W$ | fixed values, mask and trained weights of a layer, $W_{\text{eff}} = F + D \odot W$ |
# | $M$, $t$ | rates at which units are rescaled, and how far |
# | $\theta$ | all parameters of a network |
# | $\vartheta$ | share of the pairs of units that are padded |

# %% Parameters tags=["parameters"]
model: str = (
    ""  # your network: "package.module:factory", a function without arguments
)
a: str = ""  # its weights in a .safetensors, .npz or .pt file
b: str = ""  # those of the other network
data: str = ""  # a file with inputs x and targets y, or "package.module:function"
loss: str = (
    "cross_entropy"  # of torch.nn.functional, "mse", or "package.module:name"
)
groups: str = ""  # groups of units written by hand, "package.module:name"
layer: str = (
    ""  # whose units meet, are rescaled and priced; empty: the first linear one
)
examples: int = (
    1797  # how many examples are used; half for matching, half for losses
)
pairs: int = 4  # pairs of each architecture that the chapter trains
epochs: int = 12  # of their training
restarts: int = 10  # of weight matching
steps: int = 30  # of the matchers that descend
exchanged: int = 20  # most pairs of units exchanged; of more, drawn ones
minutes: float = (
    60  # a pair of yours that takes longer, as estimated first, is refused
)
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer, Real, Text

chapter.begin(
    globals(),
    model=Text("'package.module:factory', or nothing"),
    a=Text("a file of weights, or nothing"),
    b=Text("a file of weights, or nothing"),
    data=Text("a file of examples, or nothing"),
    loss=Text("a loss of torch.nn.functional, 'mse', or 'package.module:name'"),
    groups=Text("'package.module:name' of an lmc.Symmetry, or nothing"),
    layer=Text("the name of a layer, or nothing"),
    examples=Integer(60, 10_000_000),
    pairs=Integer(2, 1000),
    epochs=Integer(3, 1000),
    restarts=Integer(1, 1000),
    steps=Integer(1, 10_000),
    exchanged=Integer(1, 10_000_000),
    minutes=Real(0, 100_000),
)

import numpy as np

import lmc_helpers as lmc
from lmc_helpers import claims, figures
from lmc_helpers._chapters import your_networks as yours
from lmc_helpers.claims.numerals import plain_with_error
from lmc_helpers.seeds import normal

this = yours.given(model, a, b, data, loss, groups, examples, pairs, epochs, seed)
networks, objective, seen, unseen = (
    this.networks,
    this.loss,
    this.seen,
    this.unseen,
)
shown = next(iter(networks))  # the architecture of the pictures
net_a, net_b = networks[shown][0]
x = yours.few(seen[0], 2)  # inputs of a trace
symmetries = {
    name: this.symmetry(found[0][0]) for name, found in networks.items()
}
layer = yours.layer_of(net_a, symmetries[shown], layer)
if model:
    yours.begin(this, layer, restarts, steps, exchanged, minutes)

# %% [markdown]
# ## The pair in one table
#
# Brea et al. (P) {cite:p}`brea2019` let two units of a network meet at a {term}`permutation point`; Zhao et al. (G) {cite:p}`zhao2025` move along symmetries that do not change the function; Bürgin et al. (I) {cite:p}`buergin2026` price the exchange of two units. `lmc.compare` measures what they speak of, and says what it left alone:

# %% Let two units meet
units = yours.pairs_of_units(net_a, layer)
found_points = {
    name: yours.attempt(yours.meet, this, net_a, layer, two, steps)
    for name, two in units.items()
}
points = {name: one for name, (one, _) in found_points.items() if one}

# %%
report = lmc.compare(
    *(net_a, net_b, objective, unseen, seed, restarts),
    symmetry=this.groups,
    heights={
        f"units {i} and {j} of layer {layer!r} meet": points[name].height
        for name, (i, j) in units.items()
        if name in points
    },
    statistics_data=seen,
    signs=False,
)
report

# %% Draw the pair
figure, axis = figures.panels(height=3.4)
report.figure(axis)
axis.get_legend().remove()
figures.show("fig_pair", figure, legend=4)

# %% [markdown]
# :::{glue:figure} fig_pair
# :name: fig-pair-lines
# :alt: Loss along the line between the two networks, as they are and with the units of the second in the order of the first, by weights and by activations, with bands of one standard error. Stars halfway mark the merged networks after REPAIR.
#
# Loss along the lines of the table (network: {glue:text}`shown`), in which ± is one standard error over batches of examples; stars: merged, after REPAIR.
# :::
#
# What the papers say of these numbers:
#
# - **Z** proves for random global minima of two-layer networks that the barrier left after matching tends to 0 as the width grows; it may rise first. For other architectures it is an experiment, and this table is one.
# - **P** constructs a path to a point where two units meet, and back with the two exchanged. The largest loss on that path bounds what this exchange costs; the height in the table is that of the point alone (below 0: the descent to it went further), and neither says anything of the line to another network.
# - **G** says that for a squared loss the line between two points of one orbit can be as high as one likes, although the function is the same everywhere on the curve: rescale before you compare.
# - **I** says why the direct line can be flat: fixed weights give each unit a place, and to leave it costs what (16) says.

# %% Plot what is left, as recorded tags=["of-the-book"]
figure, axis = figures.panels(height=2.1)
for row, (part, name, colour) in enumerate(
    (
        ("X9.barrier", "barrier, units matched by weights", "blue"),
        (
            "X9.padding",
            "excess over the ensemble, half of the units kept",
            "green",
        ),
    )
):
    said = dict(of=lambda share: 100 * share, digits=0)
    figures.recorded(axis, row, part, name, colour, **said)
for end, words, style in ((50, "half", ":"), (100, "no help: 100", "-")):
    axis.axvline(end, color="book:grey", linestyle=style, linewidth=1)
    axis.text(end - 1, -1.5, words, color="book:grey", ha="right", va="center")
axis.set(xlim=(0, 101), ylim=(-1.75, 0.75), yticks=[])
axis.set(xlabel="left, % of what it is without this step")
axis.spines["left"].set_visible(False)
axis.grid(False)
figures.show("fig_left", figure)
epochs_there = claims.recorded("X9.barrier")["parameters"]["epochs"]
figures.numbers(recorded_epochs=epochs_there)

# %% Read off the loss halfway
curve = report.lines["weights"]
places = curve.lambdas.numpy()
merged_loss = curve.losses[len(places) // 2].item()
repaired = report.repaired["weights"]
figures.numbers(
    shown=shown,
    merged_loss=f"{merged_loss:.3f}",
    repaired_loss=f"{repaired.loss.value:.3f}",
    repair_helps=repaired.effect,
)

# %% [markdown]
# Halfway the matched line has the loss {glue:text}`merged_loss`; after REPAIR, which restores the statistics of every unit, it has {glue:text}`repaired_loss`: here it {glue:text}`repair_helps`.

# %% [markdown] tags=["of-the-book"]
# ## Five lines for any pair
#
# What the table rests on: match, follow the line before and after, merge. It is the experiment of Zhan et al. (Z) {cite:p}`zhan2025` on MNIST, for two networks of any architecture.

# %% tags=["of-the-book"]
matched = lmc.match(net_a, net_b, x, "weights", restarts, seed, signs=False)
before = lmc.line(net_a, net_b, objective, unseen)
after = lmc.line(net_a, matched, objective, unseen)
merged = lmc.repair(net_a, matched, seen)
print(f"barrier {before.barrier:.3f}, after matching {after.barrier:.3f}")

# %% [markdown]
# ## Units are found by following axes
#
# A group of units is *interchangeable* if every permutation of it, applied to all parameters at once, leaves the function of the network as it is.
# For this book's own architectures the groups are written by hand. Those of any other module are found by following its axes.
#
# :::{prf:proposition} Groups from a trace
# :label: prop-trace
# Let a network be a composition of operations, and let some axes of its tensors be labelled by one permutation $p$ such that every operation commutes with $p$: permuting the labelled axes of its arguments permutes those of its result, or leaves the result as it is where the result has none.
# If no axis of the inputs and outputs is labelled, permuting the labelled axes of the parameters does not change the function.
# :::
#
# :::{prf:proof}
# By induction over the operations in the order in which they run, every intermediate tensor of the permuted network is that of the network with its labelled axes permuted. The outputs have none.
# :::
#
# So the trace begins with a label of its own for every axis and unites labels where an operation needs it:
#
# | operation | what it needs |
# | --- | --- |
# | $y = Wx$, convolution, attention scores | the axis that is summed over has one label in both factors |
# | $x + y$, $x \odot y$, activations | equal labels, axis by axis |
# | concatenation, slices | labels of the parts, one after the other |
# | flattening, heads | products of labels: channel × pixel, head × unit |
# | norms | gain and shift have the label of what they act on |
# | inputs, outputs, pixels, positions, sorting | no label: the axis is fixed |
#
# What it cannot follow it refuses, with the name of the module and the operation.

# %% Table of the groups
figures.table(
    "network | parameters | groups | units | groups inside heads",
    [
        (
            name,
            f"{yours.parameters_of(networks[name][0][0])}",
            f"{len(found.sizes)}",
            f"{sum(found.sizes.values())}",
            f"{len(found.within)}",
        )
        for name, found in symmetries.items()
    ],
)

# %% [markdown]
# Groups of interchangeable units that the trace finds. Units inside attention heads are groups of their own, one for each head: a permutation of the heads moves them first.

# %% [markdown] tags=["of-the-book"]
# ## Every match keeps the function and finds a planted order

# %% [markdown] tags=["of-a-reader"]
# ## What must hold for every pair

# %% [markdown]
# A matcher may choose badly, but it may not change the network. Each matcher of [](56_matchers.ipynb) is run on a pair of each architecture, and outputs are compared in double precision before and after.
# Then a network is compared with its copy in which every group stands in a random order. For one hidden layer weight matching is one assignment and exact; with more it descends, and restarts are part of it.

# %% Match by four matchers
BY = ("weights", "activations", "straight-through", "sinkhorn")


def kept_by(by: str, ends) -> float:
    """What a matcher changes in the function of the second network."""
    given = dict(loss=objective, data=seen, steps=steps, restarts=restarts)
    given |= dict(seed=seed, symmetry=this.groups, signs=False)
    made = lmc.match(*ends, x, by=by, **given)
    return yours.change(ends[1], made, unseen[0])


movable = {
    name: found for name, found in networks.items() if symmetries[name].groups
}
kept = {
    (name, by): yours.attempt(kept_by, by, found[0])
    for name, found in movable.items()
    for by in BY
} | {
    (name, k): yours.attempt(kept_by, "weights", ends)
    for name, found in movable.items()
    for k, ends in enumerate(found[1:])
}
changes = {key: one for key, (one, why) in kept.items() if not why}


# %% Plant an order and look for it
def misplaced(net, seed: int) -> list:
    """Shares of units out of place, before and after matching."""
    units = this.symmetry(net)
    shuffled = lmc.permuted(net, units, yours.random_order(units, seed))
    given = "weights", restarts, seed, this.groups
    found = lmc.match(net, shuffled, x, *given, signs=False)
    return [yours.out_of_place(net, one, units) for one in (shuffled, found)]


shares = np.array(
    [
        misplaced(net, seed + k)
        for found in movable.values()
        for k, ends in enumerate(found)
        for net in ends
    ]
)

# %% tags=["of-the-book"]
half = [
    yours.change(
        found[0][1], yours.half_permuted(found[0][1], symmetries[name]), unseen[0]
    )
    for name, found in networks.items()
]
claims.check(
    "X9.function", max(changes.values()), n=len(changes), rival=min(half)
)

# %% tags=["of-the-book"]
claims.check(
    "X9.planted", shares[:, 1].max(), n=len(shares), rival=shares[:, 0].min()
)

# %% What holds for this pair tags=["of-a-reader"]
figures.table(
    "of your networks | measured | right",
    [
        (
            f"largest change of an output, matched by {by}",
            f"{one:.0e}",
            "rounding",
        )
        for (_, by), one in changes.items()
    ]
    + [(f"matched by {by}", why, "") for (_, by), (_, why) in kept.items() if why]
    + [
        ("units not put back in place", f"{shares[:, 1].max():.1%}", "0")
        for _ in movable
    ]
    or [("units that can be exchanged", "none", "")],
)

# %% [markdown] tags=["of-the-book"]
# ## Matching leaves less than half of the barrier
#
# So it is in the recorded run, on [[n(X9.barrier)]] pairs of each architecture: [[100 * X9.barrier:.0f]] % ([[100 * X9.barrier:to]]) in the architecture where matching by weights helps least. In this run (profile {glue:text}`profile`, {glue:text}`epochs` epochs of training instead of the recorded {glue:text}`recorded_epochs`) it leaves {glue:text}`left_says`.

# %% [markdown] tags=["of-a-reader"]
# ## What matching leaves of the barrier

# %% [markdown]
# Pairs of each architecture ({glue:text}`trained_pairs`) are followed unmatched, matched by weights and matched by activations, with losses on examples that neither network has seen.

# %% Follow all lines
WAYS = ("unmatched", "weights", "activations")


def lines(ends) -> dict:
    """The line of a pair, unmatched and matched."""
    one, two = ends
    if one is net_a:
        return dict(zip(WAYS, report.lines.values(), strict=True))
    others = {"unmatched": two} | {
        by: lmc.match(*(one, two, x, by, restarts, seed), data=seen, signs=False)
        for by in WAYS[1:]
    }
    return {
        way: lmc.line(one, other, objective, unseen)
        for way, other in others.items()
    }


found_lines = {
    name: [lines(ends) for ends in found] for name, found in networks.items()
}
barriers = {
    (name, way): np.array([one[way].barrier for one in found])
    for name, found in found_lines.items()
    for way in WAYS
}

# %% Plot the lines
figure, axes = figures.panels(max(len(networks), 2), height=3.8, squeeze=False)
for axis in axes[0, len(networks) :]:
    axis.set_visible(False)
tones = dict(zip(WAYS, ("red", "blue", "green"), strict=True))
for axis, (name, found) in zip(axes[0], found_lines.items(), strict=False):
    for way in WAYS:
        table = np.array([one[way].losses.numpy() for one in found])
        colour = f"book:{tones[way]}"
        axis.plot(places, table.T, color=colour, alpha=0.15, linewidth=0.6)
        axis.plot(places, table.mean(axis=0), color=colour, label=way)
    axis.set(xlabel=r"place $\lambda$ on the line", title=name)
axes[0, 0].set_ylabel("loss")
figures.show("fig_architectures", figure, legend=3)

# %% Table of the barriers
body, left_over = [], {}


def with_error(value: float, error: float) -> str:
    """A number with its error; one pair has none."""
    finite = np.isfinite(error)
    return plain_with_error(value, error) if finite else f"{value:.3g}"


for name in networks:
    row = [name]
    for way in WAYS:
        row.append(with_error(*yours.mean(barriers[name, way])))
    if barriers[name, "unmatched"].mean() > 0:
        left_over[name] = yours.ratio(
            barriers[name, "weights"], barriers[name, "unmatched"]
        )
    row.append(with_error(*left_over[name]) if name in left_over else "")
    body.append(row)
figures.table(
    "network | unmatched | weights | activations | left by weights", body
)
figures.numbers(
    trained_pairs=len(networks[shown]),
    left_says=", ".join(
        f"{100 * share:.0f} % ({name})" for name, (share, _) in left_over.items()
    )
    or "nothing, since there is none",
)

# %% [markdown]
# Mean barrier in this run, the largest loss above the chord, with its standard error over pairs, and the share of the mean barrier without matching that weight matching leaves.

# %% tags=["of-the-book"]
highest = max(left_over, key=lambda name: left_over[name][0])
claims.check("X9.barrier", *left_over[highest], n=pairs)

# %% [markdown] tags=["of-the-book"]
# ## Asymmetric units exchange their functions at a known price

# %% [markdown] tags=["of-a-reader"]
# ## The price of an exchange, if a part of the weights were fixed

# %% [markdown]
# Bürgin et al. fix a part of the weights, $W_{\text{eff}} = F + D \odot W$, so that units can be told apart: to compute the function of unit $j$, unit $i$ needs the weights of least norm that make up for the difference of their fixed parts. If $i$ and $j$ exchange their functions, $\lVert W \rVert^2$ changes by the {term}`swap cost` (16). It is a statement about any linear layer of any network. It is tried on {glue:text}`exchanges_tried` pairs of units of the first hidden layer, with the outputs of the whole network, in which biases and outgoing weights are exchanged too. {glue:text}`exchanges_say`

# %% Exchange units in each architecture
scheme = lmc.Syre(sigma=0.3, epsilon=0.5)
tried = {
    name: yours.attempt(
        yours.exchanges,
        *(found[0][0], first, scheme, seen[0], seed),
        symmetries[name],
        exchanged,
    )
    for name, found in networks.items()
    if (first := yours.layer_of(found[0][0], symmetries[name], ""))
}
exchanges = {name: one for name, (one, _) in tried.items() if one}
refused = [why for one, why in tried.values() if not one]
if not tried:
    refused = ["no linear layer makes units that can be exchanged"]
figures.numbers(
    exchanges_tried=sum(one.n for one in exchanges.values()),
    exchanges_say=" ".join(f"Left out: {why}." for why in refused),
)

# %% tags=["of-the-book"]
claims.check(
    "X9.exchange",
    max(one.error for one in exchanges.values()),
    n=sum(one.n for one in exchanges.values()),
    rival=min(one.plain for one in exchanges.values()),
)

# %% What the exchanges change tags=["of-a-reader"]
figures.table(
    "by an exchange of two units | measured",
    [
        row
        for one in exchanges.values()
        if one.n
        for row in (
            ("at the price (16), largest error", f"{one.error:.0e}"),
            ("by trained weights, smallest change", f"{one.plain:.2g}"),
        )
    ],
)

# %% [markdown]
# ## Evidence
#
# ### The lines of all pairs
#
# :::{glue:figure} fig_architectures
# :alt: One panel for each architecture with the loss along the lines of all pairs and their mean, unmatched, matched by weights and matched by activations. Each has its colour.
#
# Loss along the lines of {glue:text}`trained_pairs` pairs of each architecture, thin, and their mean, thick (profile {glue:text}`profile`).
# :::
#
# Of the mean barrier without matching weight matching leaves, in this run, {glue:text}`left_says`.
#
# ### From the average to the ensemble
#
# Between random minima zero rows in the places that neurons without a partner would meet remove the barrier (Z, section 5; {prf:ref}`thm-zero-rows`). Trained units are never quite alike. What does the same for them leads from the average of two networks to their *ensemble*, whose outputs are the average of theirs:
#
# :::{prf:proposition} Padding
# :label: prop-padding
# *Pad* some pairs of matched units of an MLP or a CNN with batch norm: in the place of one unit there are two, which in $a$ are its own unit and one with the incoming weights and statistics of that of $b$, read by nothing but such copies; in $b$ it is the other way round. Neither function changes. If all pairs are padded, the network at $\lambda$ has the outputs $\lambda f_a + (1 - \lambda) f_b$, so that a loss that is convex in the outputs has no barrier.
# :::
#
# :::{prf:proof}
# A unit of the network itself reads no copy, so that it computes what it did. If all are padded, a unit of $a$ and its copy in $b$ have the same weights, hence the same on the whole line, and read units of $a$ only: there, too, it computes what it does in $a$. The same holds for $b$. The last layer reads the units of $a$ with $\lambda$ times the weights of $a$, those of $b$ with $1 - \lambda$ times theirs.
# :::
#
# So every pair of networks has a least share of padded units that leaves no barrier: its units without a partner, as a number. {py:func}`~lmc_helpers.modules.merge.pad` pads the pairs first whose weights are farthest apart:

# %% Pad units
PADDED = (0, 0.25, 0.5, 0.75, 1)


def padded_barriers(ends) -> list:
    """Loss halfway above the chord by the share, and for a random half."""
    (one, two), groups = ends, this.symmetry(ends[0])
    two = lmc.match(one, two, x, "weights", restarts, seed, groups, signs=False)
    drawn = yours.random_order(groups, seed)
    half = {g: p[0, : round(p.shape[1] / 2)] for g, p in drawn.items()}
    wider = [lmc.pad(one, two, x, share, groups) for share in PADDED]
    wider.append(lmc.pad(one, two, x, half, groups))
    tops = (lmc.line(*pair, objective, unseen, [0, 0.5, 1]) for pair in wider)
    return [float(top.losses[1] - top.losses[::2].mean()) for top in tops]


padded, says = {}, []
for name, found in networks.items():
    made, why = yours.attempt(lambda: np.array([*map(padded_barriers, found)]))  # noqa: B023
    if why:
        says.append(f"Left out: {name}; {why}.")
        continue
    padded[name] = made - made[:, 4:5]  # above the ensemble
    none_from = np.interp(0, -made[:, :5].mean(axis=0), PADDED)
    says.append(f"{name}: no barrier from {100 * none_from:.0f} % on.")
figures.numbers(padding_says=" ".join(says))

# %% Plot what padding leaves
figure, axis = figures.panels(height=2.8)
for (name, lost), colour in zip(padded.items(), ("blue", "green"), strict=False):
    shares = [yours.ratio(of, lost[:, 0])[0] for of in lost.T]
    style = dict(color=f"book:{colour}")
    axis.plot(PADDED, shares[:5], "o-", label=name, **style)
    axis.plot(0.5, shares[5], "x", label=f"{name}, at random", **style)
at = np.linspace(0, 1, 50)[:, None]
axis.plot(at, (1 - at) ** [2, 4], ":", color="book:grey")
axis.set(xlabel=r"padded share $\vartheta$", ylabel="loss left")
figures.show("fig_padding", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_padding
# :alt: What is left of the loss halfway above that of the ensemble, against the share of padded pairs of units: a falling line for each architecture beside two dotted curves, the square and the fourth power of the share that is not padded. Crosses: a random half.
#
# Loss halfway above that of the ensemble, relative to that without padding, over all pairs of networks; dotted: $(1 - \vartheta)^2$ and $(1 - \vartheta)^4$ (profile {glue:text}`profile`).
# :::
#
# {glue:text}`padding_says` Between random minima, whose leftovers are their smallest neurons, the fourth power is left ({prf:ref}`cor-zero-rows`).

# %% tags=["of-the-book"]
of_half = [yours.ratio(of[:, 2], of[:, 0]) for of in padded.values()]
of_random = [yours.ratio(of[:, 2], of[:, 5]) for of in padded.values()]
claims.check("X9.padding", *max(of_half), n=pairs)
claims.check("X9.padding_law", *min(of_half), n=pairs)
claims.check("X9.padding_order", *max(of_random), n=pairs)

# %% [markdown]
# ### Where two units meet
#
# Brea et al. move two units of a layer together, the loss minimised over everything else. Where they coincide, the network meets its copy with the two exchanged. The largest loss on a path to it bounds from above what an exchange costs; the point's own height does so only where the path stays below it, which P does not promise (section 4.1). Here are two pairs of units of one layer: those whose incoming weights are nearest to each other, and those with the largest ones.

# %% Table of the heights
straight = {
    name: lmc.line(
        net_a,
        yours.exchanged(net_a, layer, *two, symmetries[shown]),
        objective,
        seen,
    )
    for name, two in units.items()
    if name in points
}
figures.table(
    "units | permutation point | straight exchange",
    [
        (
            f"{name}, {i} and {j}",
            f"{points[name].height:.4f}",
            f"{straight[name].barrier:.4f}",
        )
        if name in points
        else (f"{name}, {i} and {j}", found_points[name][1], "")
        for name, (i, j) in units.items()
    ]
    or [("none: no layer makes units", "", "")],
)
figures.numbers(on_seen=f"{lmc.line(net_a, net_b, objective, seen).barrier:.3f}")

# %% [markdown]
# Loss at the permutation point, above that where a descent from the network ends (both with a penalty of $10^{-3}\lVert\theta\rVert^2/2$, so that there is a minimum; below 0 where the descent to the point went further), and the barrier on the straight line from the network to its copy with the two units exchanged.
# For comparison, the barrier between the two networks without matching is {glue:text}`on_seen` on the same examples, which the networks have seen; the table of the pair has others.
#
# ### Along a symmetry
#
# Where units pass a ReLU, or nothing, Zhao et al. have a curve of networks with the same function: incoming weights and biases times $e^{tM}$, outgoing ones times $e^{-tM}$. The line between two of its points need not be flat.

# %% Move along the orbit
orbit, refused = None, "no layer makes units that can be exchanged"
if layer:
    M = normal((yours.width(net_a, layer),), seed, "rescaling of the units")
    orbit, refused = yours.attempt(
        lmc.orbit_curve, net_a, layer, M, x, symmetry=this.groups
    )

# %% Table of the orbit
if orbit is None:
    print(refused)
    figures.numbers(orbit_says="No such curve through this layer.")
else:
    end = orbit.modules[-1]
    chord = lmc.line(net_a, end, objective, unseen)
    ordered = lmc.match(net_a, end, x, symmetry=this.groups, signs=False)
    again = lmc.line(net_a, ordered, objective, unseen)
    largest = yours.change(net_a, end, unseen[0])
    figures.table(
        "from the network to the end of its orbit | value",
        [
            ("largest change of an output", f"{largest:.0e}"),
            ("length of the curve", f"{orbit.length:.2f}"),
            ("distance of the ends", f"{orbit.distance:.2f}"),
            ("barrier of the chord", f"{chord.barrier:.4f}"),
            ("the same after matching", f"{again.barrier:.4f}"),
        ],
    )
    figures.numbers(
        orbit_says="Matching cannot help here: no unit has changed its place, only its scale."
    )

# %% [markdown]
# {glue:text}`orbit_says`
#
# ### The price of one exchange

# %% Price one exchange
price, why = yours.attempt(
    yours.price, net_a, layer, units.get("largest"), scheme, seen[0], seed
)
print(why or "{:.6f}, by (16) {:.6f}".format(*price))

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# Group norm with $G$ groups normalises each block of $m/G$ channels by itself. Which permutations of $m$ channels between two convolutions leave the function as it is?
# :::
#
# :::{solution}
# Those that map blocks to blocks: any order of the $G$ blocks, and within each block any order of its channels, $G! \, ((m/G)!)^G$ in all.
# The trace finds a group of $G$ blocks and, inside it, one group of $m/G$ channels for each. Heads of attention and the units inside them are the same kind of pair.
# :::
#
# :::{exercise}
# The hidden units of an LSTM can be permuted, which the trace finds. Write the group by hand and compare.
# :::
#
# :::{solution}
# The four gates are stacked: along their first axis the weights hold $4m$ rows, the unit $u$ of gate $o$ at $o m + u$.
#
#     axes = [lmc.Axis(f"lstm.{name}", 0, outer=4) for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")]
#     axes += [lmc.Axis("lstm.weight_hh_l0", 1), lmc.Axis("head.weight", 1)]
#     units = lmc.Symmetry({"units": tuple(axes)}, {"units": m})
#
# `lmc.verify(net, x, units)` runs the network with them permuted, and `match`, `compare` and the others take `symmetry=units`.
# :::
#
# :::{exercise}
# Two networks with batch norm are averaged after matching, and the running statistics with them. Why does the loss halfway fall if the statistics are computed anew on data?
# :::
#
# :::{solution}
# The variance of a unit of the averaged network is not the average of the two variances: where the two units are correlated by $\rho$ and have equal variances, $\frac14(1 + 2\rho + 1) = \frac12(1 + \rho)$ of it is left.
# Divided by the larger average the unit varies too little, and less so in every further layer. Statistics of the averaged network undo it, as REPAIR does for any layer: `line(…, statistics="recomputed")`.
# :::
#
# ### Versions

# %% Versions and time
print(chapter.end())
