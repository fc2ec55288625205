# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Your networks
#
# :::{summary}
# **Question.** You have two trained networks of one architecture that nothing in this book was made for. What do the four papers say about them?
#
# **The papers.**
# Zhan, Li & Wu (Z) {cite:p}`zhan2025` put the units of one in the order of the other; Brea et al. (P) {cite:p}`brea2019` let two units of a network meet; Zhao et al. (G) {cite:p}`zhao2025` move along symmetries that do not change the function; Bürgin et al. (I) {cite:p}`buergin2026` price the exchange of two units.
# Each was written for networks of its own.
#
# **What we find.**
# Which units may change places can be read off one forward pass.
# Then every matcher returns the same function {claim}`X9.function`, a planted order is found again in an MLP, a residual CNN and a transformer {claim}`X9.planted`, and in each of them weight matching leaves at most half of the mean direct barrier {claim}`X9.barrier`; in this run {glue:text}`left_says`.
# Units of an asymmetric layer exchange their functions at the price that theory says {claim}`X9.exchange`.
#
# **Why it matters.** One command makes this page for two networks of yours.
# :::
#
# :::{need}
# You need: how to write a network in PyTorch. The word {term}`barrier`: [](62_the_word_barrier.ipynb); the four papers on one pair: [](61_four_lenses.ipynb). {{ times }}
# :::

# %% Parameters tags=["parameters"]
model: str = (
    ""  # your network: "package.module:factory", a function without arguments
)
a: str = ""  # its weights in a .safetensors, .npz or .pt file
b: str = ""  # those of the other network
data: str = (
    ""  # inputs x and targets y in a .safetensors or .npz file; empty: digits
)
loss: str = "cross_entropy"  # or "mse"
layer: str = (
    ""  # whose units meet, are rescaled and priced; empty: the first linear one
)
examples: int = (
    1797  # how many examples are used; half for matching, half for losses
)
pairs: int = 6  # pairs of each architecture that the chapter trains
epochs: int = 12  # of their training
restarts: int = 10  # of weight matching
steps: int = 30  # of the matchers that descend
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Integer, Text

chapter.begin(
    globals(),
    model=Text("'package.module:factory', or nothing"),
    a=Text("a file of weights, or nothing"),
    b=Text("a file of weights, or nothing"),
    data=Text("a file of examples, or nothing"),
    loss=Choice(("cross_entropy", "mse")),
    layer=Text("the name of a layer, or nothing"),
    examples=Integer(20, 10_000_000),
    pairs=Integer(2, 1000),
    epochs=Integer(1, 1000),
    restarts=Integer(1, 1000),
    steps=Integer(1, 10_000),
)

import numpy as np
from torch.nn import functional

import lmc_helpers as lmc
from lmc_helpers import claims, figures
from lmc_helpers._chapters import your_networks as yours
from lmc_helpers.claims.numerals import plain_with_error
from lmc_helpers.identifiability import least_norm_weight
from lmc_helpers.seeds import normal

objective = getattr(functional, {"mse": "mse_loss"}.get(loss, loss))
networks, seen, unseen = yours.networks_and_data(
    model, a, b, data, loss, examples, pairs, epochs, seed
)
shown = next(iter(networks))  # the architecture of the pictures
net_a, net_b = networks[shown][0]
x = seen[0][:2]  # inputs of a trace

# %% [markdown]
# ## Five lines

# %%
matched = lmc.match(net_a, net_b, x, "weights", restarts, seed)
direct = lmc.line(net_a, net_b, objective, unseen)
curve = lmc.line(net_a, matched, objective, unseen)
merged = lmc.repair(net_a, matched, seen)
print(f"barrier {direct.barrier:.3f}, after matching {curve.barrier:.3f}")

# %% Plot the five lines
figure, (left, right) = figures.panels(2)
repaired = objective(merged(unseen[0]), unseen[1]).item()
for found, colour, name in (
    (direct, "red", "as they come"),
    (curve, "blue", "matched by weights"),
):
    left.plot(found.lambdas, found.losses, color=f"book:{colour}", label=name)
    if found.accuracies is not None:
        right.plot(
            found.lambdas, found.accuracies, color=f"book:{colour}", label=name
        )
left.plot(0.5, repaired, "o", color="book:green", label="matched, then REPAIR")
left.set(xlabel=r"place $\lambda$ on the line", ylabel="loss")
right.set(xlabel=r"place $\lambda$ on the line", ylabel="accuracy")
right.set_visible(direct.accuracies is not None)
figures.show("fig_five_lines", figure, legend=3)

# %% [markdown]
# :::{glue:figure} fig_five_lines
# :alt: Loss and accuracy along the line between two networks, once as they come and once with the units of the second put in the order of the first. The second line is much flatter; a point half-way marks the merged network after REPAIR.
#
# Two networks that were trained apart ({glue:text}`shown`), on examples that neither has seen: along the line as they come, along the line after weight matching, and half-way after {term}`REPAIR` (profile {glue:text}`profile`).
# :::
#
# ## Which units may change places
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

# %%
symmetries = {
    name: lmc.symmetry(found[0][0], x) for name, found in networks.items()
}

# %% Table of the groups
figures.table(
    "network | parameters | groups | units | groups inside heads",
    [
        (
            name,
            f"{sum(v.numel() for v in networks[name][0][0].parameters())}",
            f"{len(found.sizes)}",
            f"{sum(found.sizes.values())}",
            f"{len(found.within)}",
        )
        for name, found in symmetries.items()
    ],
)

# %% [markdown]
# Groups of interchangeable units that the trace finds. Units inside attention heads are groups of their own, one for each head: a permutation of the heads moves them first.
#
# ## Every match computes the same function
#
# A matcher may choose badly, but it may not change the network. Each matcher of [](56_matchers.ipynb) is run on a pair of each architecture, and outputs are compared in double precision before and after.

# %%
BY = ("weights", "activations", "straight-through", "sinkhorn")


def change(net, other) -> float:
    """Largest change of an output, relative to the largest, in float64."""
    one, two = (yours.outputs(each, unseen[0]) for each in (net, other))
    return ((one - two).abs().max() / one.abs().max()).item()


def kept_by(by: str, ends) -> float:
    """What a matcher changes in the function of the second network."""
    given = dict(loss=objective, data=seen, steps=steps, restarts=restarts)
    return change(ends[1], lmc.match(*ends, x, by=by, seed=seed, **given))


changes = {
    (name, by): kept_by(by, found[0])
    for name, found in networks.items()
    for by in BY
} | {
    (name, k): kept_by("weights", ends)
    for name, found in networks.items()
    for k, ends in enumerate(found[1:])
}
half = {
    name: change(found[0][1], yours.half_permuted(found[0][1], x, seed))
    for name, found in networks.items()
}

# %%
claims.check(
    "X9.function",
    max(changes.values()),
    n=len(changes),
    rival=min(half.values()),
)

# %% [markdown]
# ## A planted order is found
#
# A network and its copy with every group in a random order, both networks of the {glue:text}`trained_pairs` pairs of each architecture. For one hidden layer weight matching is one assignment and exact; with more it descends, and restarts are part of it.


# %%
def misplaced(net, seed: int) -> list:
    """Shares of units out of place, before and after matching."""
    units = lmc.symmetry(net, x)
    shuffled = lmc.permuted(net, units, yours.random_order(units, seed))
    found = lmc.match(net, shuffled, x, "weights", restarts, seed)
    return [yours.out_of_place(net, one, units) for one in (shuffled, found)]


shares = np.array(
    [
        misplaced(net, seed + k)
        for found in networks.values()
        for k, ends in enumerate(found)
        for net in ends
    ]
)

# %%
claims.check(
    "X9.planted", shares[:, 1].max(), n=len(shares), rival=shares[:, 0].min()
)

# %% [markdown]
# ## Before and after
#
# {glue:text}`trained_pairs` pairs of each architecture, as they come, matched by weights and matched by activations; losses on examples that neither network has seen.

# %%
WAYS = ("as they come", "weights", "activations")


def lines(ends) -> dict:
    """The line of a pair, as it comes and matched."""
    one, two = ends
    others = {"as they come": two} | {
        by: lmc.match(one, two, x, by, restarts, seed, data=seen)
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
places = direct.lambdas.numpy()
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

# %% [markdown]
# :::{glue:figure} fig_architectures
# :alt: One panel for each architecture with the loss along the lines of all pairs and their mean, as they come, matched by weights and matched by activations. As they come the loss rises highest; the matched lines are lower, nearly flat in the MLP.
#
# Loss along the lines of {glue:text}`trained_pairs` pairs of each architecture, thin, and their mean, thick (profile {glue:text}`profile`).
# :::

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
    left_over[name] = yours.ratio(
        barriers[name, "weights"], barriers[name, "as they come"]
    )
    row.append(with_error(*left_over[name]))
    body.append(row)
figures.table(
    "network | as they come | weights | activations | left by weights", body
)
figures.numbers(
    shown=shown,
    trained_pairs=len(networks[shown]),
    left_says=", ".join(
        f"{100 * share:.0f} % ({name})" for name, (share, _) in left_over.items()
    ),
)

# %% [markdown]
# Mean barrier, the largest loss above the chord, with its standard error over pairs, and the share of the mean direct barrier that weight matching leaves.

# %%
highest = max(left_over, key=lambda name: left_over[name][0])
if len(networks[highest]) > 1:  # the error is over pairs
    claims.check("X9.barrier", *left_over[highest], n=pairs)

# %% [markdown]
# ## Where two units meet
#
# Brea et al. move two units of a layer together, the loss minimised over everything else. Where they coincide, at a {term}`permutation point`, the network meets its copy with the two exchanged. The largest loss on a path to it bounds from above what an exchange costs; the point's own height does so only where the path stays below it, which P does not promise (section 4.1). Here are two pairs of units of one layer: those whose incoming weights are nearest to each other, and those with the largest ones.

# %%
layer = layer or yours.first_hidden(net_a, x)
groups = symmetries[shown]
units = {
    "nearest": yours.nearest_units(net_a, layer),
    "largest": yours.largest_units(net_a, layer),
}
points = {
    name: lmc.permutation_point(
        net_a, layer, *pair, objective, seen, steps=steps, decay=1e-3
    )
    for name, pair in units.items()
}
straight = {
    name: lmc.line(
        net_a, yours.exchanged(net_a, layer, *pair, groups), objective, seen
    )
    for name, pair in units.items()
}

# %% Table of the heights
figures.table(
    "units | permutation point | straight exchange",
    [
        (
            f"{name}, {i} and {j}",
            f"{points[name].height:.4f}",
            f"{straight[name].barrier:.4f}",
        )
        for name, (i, j) in units.items()
    ],
)
figures.numbers(on_seen=f"{lmc.line(net_a, net_b, objective, seen).barrier:.3f}")

# %% [markdown]
# Loss at the permutation point, above that where a descent from the network ends (both with a penalty of $10^{-3}\lVert\theta\rVert^2/2$, so that there is a minimum; below 0 where the descent to the point went further), and the barrier on the straight line from the network to its copy with the two units exchanged.
# For comparison, the barrier between the two networks as they come is {glue:text}`on_seen` on the same examples.
#
# ## Along a symmetry
#
# Where units pass a ReLU, or nothing, Zhao et al. have a curve of networks with the same function: incoming weights and biases times $e^{tM}$, outgoing ones times $e^{-tM}$. The line between two of its points is not flat.

# %%
M = normal((yours.width(net_a, layer),), seed, "rescaling of the units")
orbit, refused = yours.attempt(lmc.orbit_curve, net_a, layer, M, x)

# %% Table of the orbit
if orbit is None:
    print(refused)
else:
    end = orbit.modules[-1]
    chord = lmc.line(net_a, end, objective, unseen)
    again = lmc.line(net_a, lmc.match(net_a, end, x), objective, unseen)
    figures.table(
        "from the network to the end of its orbit | value",
        [
            ("largest change of an output", f"{change(net_a, end):.0e}"),
            ("length of the curve", f"{orbit.length:.2f}"),
            ("distance of the ends", f"{orbit.distance:.2f}"),
            ("barrier of the chord", f"{chord.barrier:.4f}"),
            ("the same after matching", f"{again.barrier:.4f}"),
        ],
    )

# %% [markdown]
# Matching cannot help here: no unit has changed its place, only its scale.
#
# ## The price of an exchange
#
# Bürgin et al. fix a part of the weights, $W_{\text{eff}} = F + D \odot W$, so that units can be told apart: to compute the function of unit $j$, unit $i$ needs the weights of least norm that make up for the difference of their fixed parts. If $i$ and $j$ exchange their functions, $\lVert W \rVert^2$ changes by the {term}`swap cost` (16). It is a statement about any linear layer of any network.

# %%
fixed = lmc.asymmetrise(net_a, lmc.Syre(sigma=0.3, epsilon=0.5), seed)
F, D, W, U = lmc.asymmetric_layer(fixed, layer, seen[0], explained=1.0)
a_of = (F + D * W) @ U  # coefficients of the units' functions, (m, k)
least = least_norm_weight(a_of, F, D, U)
pair = list(units["largest"])
after = least.clone()
after[pair] = least_norm_weight(a_of[pair[::-1]], F[pair], D[pair], U)
price = after.square().sum() - least.square().sum()
print(f"{price:.6f}, by (16) {lmc.swap_costs(F, D, W, U)[*pair]:.6f}")

# %% [markdown]
# The same for all {glue:text}`exchanged` pairs of units of the first hidden layer of a network of each architecture, with the outputs of the whole network, in which biases and outgoing weights are exchanged too.

# %% Exchange units in each architecture
exchanges = {
    name: yours.exchanges(
        found[0][0],
        yours.first_hidden(found[0][0], x),
        lmc.Syre(sigma=0.3, epsilon=0.5),
        seen[0],
        seed,
    )
    for name, found in networks.items()
}
figures.numbers(exchanged=sum(one.n for one in exchanges.values()))

# %%
claims.check(
    "X9.exchange",
    max(one.error for one in exchanges.values()),
    n=sum(one.n for one in exchanges.values()),
    rival=min(one.plain for one in exchanges.values()),
)

# %% [markdown]
# ## The pair in one table

# %%
report = lmc.compare(
    net_a,
    net_b,
    objective,
    unseen,
    seed,
    restarts,
    heights={
        f"units {i} and {j} of {layer} meet": points[name].height
        for name, (i, j) in units.items()
    },
)
report

# %% [markdown]
# What the papers say of these numbers:
#
# - **Z** proves for random global minima of two-layer networks that the barrier left after matching tends to 0 as the width grows; it may rise first. For other architectures it is an experiment, and this table is one.
# - **P** constructs a path to such a point and back with the two exchanged. The largest loss on that path bounds what this exchange costs; the height in the table is that of the point alone, and neither says anything of the line to another network.
# - **G** says that for a squared loss the line between two points of one orbit can be as high as one likes, although the function is the same everywhere on the curve: rescale before you compare.
# - **I** says why the direct line can be flat: fixed weights give each unit a place, and to leave it costs what (16) says.
#
# ## A pair of yours
#
# :::{try}
# Two networks of your own: a function without arguments that makes one, two files of weights (safetensors, npz, or a state dict in a `.pt` file, which is read without running code), and examples as arrays `x` and `y`.
#
#     make chapter NAME=your_networks ARGS="-p model my.nets:make -p a a.safetensors -p b b.safetensors -p data val.npz"
# :::
#
# ## Exercises
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
# The hidden units of an LSTM can be permuted, but PyTorch runs it as one operation, which the trace refuses. Write the group by hand.
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
# Two networks with batch norm are averaged after matching, and the running statistics with them. Why does the loss half-way fall if the statistics are computed anew on data?
# :::
#
# :::{solution}
# The variance of a unit of the averaged network is not the average of the two variances: where the two units are correlated by $\rho$ and have equal variances, $\frac14(1 + 2\rho + 1) = \frac12(1 + \rho)$ of it is left.
# Divided by the larger average the unit varies too little, and less so in every further layer. Statistics of the averaged network undo it, as REPAIR does for any layer: `line(…, statistics="recomputed")`.
# :::

# %% Versions and time
print(chapter.end())
