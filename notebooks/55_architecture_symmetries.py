# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Fixed weights break every permutation and leave continuous symmetries
#
# *Which symmetries of residual networks and transformers do the paper's masks of fixed weights break?*
#
# All permutations of channels, heads and hidden units, under the masks drawn. In a ResNet entries fixed at zero leave **every rescaling** of channels (proved); in a transformer fixed entries leave **[[100 * I17.continuous:.0f]] % of the dimensions** of the linear maps between a head's queries and keys.
#
# :::{glue:figure} fig_left_over
# :alt: Four bars on an axis from 0 to 100 per cent, the share of a symmetry that the masks leave. ResNet, permutations of channels: [[I16.broken:.0f]]. ResNet, rescalings of channels with zeros fixed: 100. Transformer, permutations of heads and units: [[I17.permutations:.0f]]. Transformer, linear maps of queries and keys in a head: [[100 * I17.continuous:.0f]].
#
# Share of each symmetry that the masks leave: of units, or of dimensions. Recorded at the printed sizes.
# :::
#
# **How sure.** Exact, on [[n(I16.broken)]] masks of ResNets and [[n(I17.permutations)]] of transformers; the rest proved; recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "permutations of hidden units … are broken" (sec. 3.1, citing Lim et al.) | [true under Table 3](#I16.broken) | [[I16.broken:.0f]] interchangeable channels |
# | Zeros keep rescalings of ReLU channels (ours) | [true of all of them](#I16.rescaling) | proved; outputs equal to [[I16.rescaling:≤.0e]] |
# | "may not fully eliminate head-level equivalences" (App. G.4) | [true of linear maps](#I17.continuous) | [[100 * I17.continuous:.0f]] % of the dimensions left |
# | Permutations of heads are eliminated (ours) | [true](#I17.permutations) | [[I17.permutations:.0f]] interchangeable heads or units |
# | "one such a global permutation" a block group (App. F.4) | [true](#I16.symmetry) | outputs equal to [[I16.symmetry:≤.0e]] |
# | Masks drawn "per input channel" (App. F.2) reach few neurons of the first layer (ours) | [true](#I16.first_layer) | [[I16.first_layer]] of 128 or more are missed, in [[n(I16.first_layer)]] masks (92 by count) |
#
# **Open.** How much these symmetries add to trained networks' barriers: a pair of printed ResNets takes about one GPU hour.
#
# **For the authors.** In App. F.2 print *per output channel (spread randomly over the input channels and kernel dimensions)*; in App. G.4 say that 8 entries are fixed in each row.

# %% [markdown]
# :::{need}
# You need: convolutions, residual connections, attention; for the theorem on heads the implicit function theorem. {term}`W-asymmetric` networks: [](53_asymmetric_mlps.ipynb). {{ times }}
# :::
#
# The networks are those of Bürgin, Herbst, Lin & Jegelka (I) {cite:p}`buergin2026`, who fix entries of ResNets and transformers (I, App. F.2, G.4), and of Zhan, Li & Wu (Z) {cite:p}`zhan2025`, who permute the channels of plain CNNs (Z, Fig. 15).
# A {term}`mask` says which entries are fixed.
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $\sigma_F$ | scale of the fixed entries; 0: they are zeros |
# | $u$, $v$ | weight into and out of one unit |
# | $\lambda$ | place on the line between two networks |
# | $t$, $t_i$ | factor of a rescaling; that of channel $i$ |
# | $\gamma_i$, $\beta_i$ | gain and shift of channel $i$ |
# | $W_{\cdot i}$ | column $i$ of a map: the weights that read channel $i$ |
# | $W_Q$, $b_Q$, $W_K$ | queries with their bias, and keys, of one head |
# | $h$, $n$ | size of a head; number of its fixed entries in $W_Q$ and $W_K$ |
# | $g$, $A$ | invertible $h \times h$ matrix, $g \in \mathrm{GL}_h$; any $h \times h$ matrix |

# %% Parameters tags=["parameters"]
masks: int = 1  # masks drawn at the printed sizes; 0: small sizes only
seed: int = 7055  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(globals(), masks=Integer(0, 100))

from dataclasses import replace

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.architecture_symmetries import (
    equations,
    inverse,
    move_heads,
    shared,
)
from lmc_helpers.alignment.activation_matching import activation_matching
from lmc_helpers.identifiability import WAsymmetric
from lmc_helpers.identifiability.printed_networks import (
    RESNET,
    VIT,
    schemes,
    table_3,
)
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.permutations import permute, random_permutations, verify
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.seeds import torch_generator
from lmc_helpers.training.recipes import Descent

# %% [markdown]
# ## Zeros can break a permutation and leave a curve of equal networks
#
# A hidden ReLU unit with one input and one output computes $v \operatorname{ReLU}(u x)$.
# For $u > 0$ only the product $u v$ counts, so that all networks on a curve $uv = 1$ are one function.
# A second weight into the unit that is fixed at 0 changes nothing; fixed at another value it pins $u$ and $v$ to one point of the curve.
# Masks of zeros can thus break every permutation of units and leave a continuous symmetry, and the straight line between two equal functions leaves the function.

# %% Plot the idea
curve_idea, (plane, along) = figures.panels(2, height=3.6)
stretch = np.linspace(0.35, 2.8, 200)
words_zero = "one function: left if the entry is fixed at 0"
plane.plot(stretch, 1 / stretch, color="book:grey", label=words_zero)
words_other = "left if it is fixed at another value"
plane.plot(1, 1, "s", color="book:black", label=words_other)
part_of = np.linspace(0, 1, 101)  # λ
for root, colour in ((1.5, "purple"), (2.0, "red")):
    u_line = (1 - part_of) / root + part_of * root
    v_line = (1 - part_of) * root + part_of / root
    plane.plot(u_line, v_line, "--", color=f"book:{colour}")
    plane.plot(u_line[[0, -1]], v_line[[0, -1]], "o", color=f"book:{colour}")
    words_pair = f"two networks, $t = {root**2:g}$"
    along.plot(part_of, u_line * v_line, color=f"book:{colour}", label=words_pair)
along.axhline(1, color="book:grey", linewidth=1)
plane.set(xlabel="incoming weight $u$", ylabel="outgoing weight $v$")
plane.set(xlim=(0, 2.8), ylim=(0, 2.8), aspect="equal")
along.set(xlabel=r"place $\lambda$ on the line", ylabel="product $uv$")
figures.show("fig_curve_idea", curve_idea, legend=2)

# %% [markdown]
# :::{glue:figure} fig_curve_idea
# :alt: First panel, a falling curve of incoming and outgoing weights with the same product, one marked point on it, and two dashed chords between pairs of points. Second panel, the product along the two chords; it is 1 at both ends and higher between them, more so for the longer chord.
#
# First panel: the weights of one unit with the same function, and two lines between networks whose incoming weights differ by the factor $t$. Second: what the unit computes on these lines.
# :::
#
# ## A residual stream has one permutation, a block one more
#
# A hidden unit of a perceptron can change places with any other of its layer; in a convolution the units are channels.
# In a residual network all blocks of a group read and write one stream, so that its channels move together in every layer that touches it: one permutation for each of three block groups and one inside each block (I, App. F.4).
# A transformer has the heads of each attention, the hidden units of each feed-forward block (I, App. G.4) and the coordinates of its residual stream; a plain CNN has the channels of each convolution.
#
# A symmetry is here a list of *groups* of units, each with the axes of parameters that move together.
# It is right if a random network computes the same function after its groups were permuted, and complete in its axes if leaving out any one of them changes the function.
# Convolutions and attention do not know the size of an image, so that the papers' networks, with all their parameters, are checked on images of 8 × 8 pixels, in float64, with random gains and shifts. Group norm has *one* group, as in the published code: with several, only permutations that keep its groups together commute with it.

# %% List the networks and their groups of units
small_image = (3, 8, 8)
printed = {
    "CNN": CNN(width=64, input_shape=small_image),
    "ResNet": replace(RESNET, input_shape=small_image),
    "ViT": replace(VIT, input_shape=small_image),
}
small = {
    "CNN": CNN(width=16, input_shape=small_image),
    "ResNet": ResNet20(width=1, base=4, input_shape=small_image),
    "ViT": replace(VIT, dimension=24, depth=2, input_shape=small_image),
}
for key, model in printed.items():
    symmetry = model.symmetry()
    print(f"{key}: {model.parameters():,} parameters", end=", ")
    print(f"{len(symmetry.groups)} groups, {sum(symmetry.sizes.values())} units")


# %% Plot the answer
units = sum(printed["ResNet"].symmetry().sizes.values())
heads_and_units = sum(printed["ViT"].symmetry().sizes.values())
found = {
    id: claims.recorded(id)["value"]
    for id in ("I16.broken", "I17.permutations", "I17.continuous")
}
LEFT_OVER = {  # per cent of a symmetry that the masks leave, and a colour
    "ResNet: permutations\nof channels": (
        100 * found["I16.broken"] / units,
        "blue",
    ),
    "ResNet, zeros fixed:\nrescalings": (100, "red"),  # a proposition
    "Transformer: permutations\nof heads and units": (
        100 * found["I17.permutations"] / heads_and_units,
        "blue",
    ),
    "Transformer: linear maps\nof queries and keys": (
        100 * found["I17.continuous"],
        "red",
    ),
}
figure, axis = figures.panels(height=2.5)
for row, (share, colour) in enumerate(LEFT_OVER.values()):
    axis.barh(row, share, color=f"book:{colour}", height=0.6)
    words = f"{share:.0f} %" if share else "none"
    axis.text(share + 1.5, row, words, color=f"book:{colour}", va="center")
axis.set_yticks(range(len(LEFT_OVER)), LEFT_OVER)
axis.tick_params(axis="y", labelsize="small", length=0)
axis.invert_yaxis()
axis.grid(visible=False, axis="y")
axis.set(xlabel="left by the masks (%)", xlim=(0, 114))
axis.set_xticks(range(0, 101, 25))
figures.show("fig_left_over", figure)


# %% Permute all groups of a network
def change(model, seed: int) -> dict:
    """Relative change of outputs when each group alone and all are permuted."""
    generator = torch_generator(seed, "symmetry at the printed sizes")
    params = {
        name: torch.randn(1, *shape, generator=generator, dtype=torch.float64)
        / max(1, torch.Size(shape[1:]).numel()) ** 0.5
        for name, shape in model.shapes().items()
    }
    x = torch.randn(
        1, *model.input_shape, generator=generator, dtype=torch.float64
    )
    moves = random_permutations(model.symmetry(), 1, generator)
    before = model.forward(params, x)
    changes = {}
    for group in [*moves, "all"]:
        some = moves if group == "all" else {group: moves[group]}
        after = model.forward(permute(params, model.symmetry(), some), x)
        changes[group] = (
            (after - before).abs().max() / before.abs().max()
        ).item()
    return changes


at_print = masks > 0
tested = printed if at_print else small
with torch.no_grad():
    changes = {key: change(model, seed) for key, model in tested.items()}
    checks = {key: verify(model, seed) for key, model in small.items()}
left_out = {key: min(c.left_out.values()) for key, c in checks.items()}
for key, found in changes.items():
    print(f"{key}: outputs change by {max(found.values()):.0e}", end=", ")
    print(f"with one axis left out by {left_out[key]:.0e} or more")

# %%
claims.check(
    "Z19.symmetry", max(changes["CNN"].values()), rival=left_out["CNN"], n=1
)

claims.check(
    "I16.symmetry", max(changes["ResNet"].values()), rival=left_out["ResNet"], n=1
)

claims.check(
    "I17.symmetry",
    max(
        c for group, c in changes["ViT"].items() if group not in ("stream", "all")
    ),
    rival=min(
        effect
        for axis, effect in checks["ViT"].left_out.items()
        if axis not in small["ViT"].symmetry().groups["stream"]
    ),
    n=1,
)

# %% [markdown]
# ## The printed masks break every permutation
#
# In W-ResNets some entries of every map are fixed.
# I, Table 3 prints how many: 12 in the initial convolution, 108, 162 and 216 in the convolutions of the block groups, 18 and 24 in shortcuts, 24 in the final map.
# The text counts them *per input channel (spread randomly over the output channels and kernel dimensions)*.
# The published code (`make_conv_mask`) counts per *output* channel, spread over inputs and kernel: a row of the mask, as I, App. F.1 does for MLPs.
# We take it that this is meant.
# The initial convolution, with 3 inputs and 128 outputs, shows the difference: 12 per row are {glue:text}`100 * 12 / 27:.0f` % of its weights; 12 per input are 36 entries for 128 neurons, and at least 92 of them have none.
#
# I, section 3.1 cites a theorem of {cite:t}`lim2024`: masks with pairwise distinct nonzero rows break all architecture-induced symmetries, permutations of hidden units in particular.
# However the entries are counted, there is an exact test for masks that are drawn.
# At $\sigma_F = 0$ a permutation of channels maps the weights that the masks allow onto themselves if and only if it maps the masks onto themselves.
#
# *Colour refinement* tests that. All units of a group begin with one colour. A fixed entry joins a unit that writes and one that reads. Each round, two units of one colour part if their fixed entries, map by map, join them to different numbers of units of some colour; the rounds end when none parts any more.
# A permutation that keeps the masks keeps the colours of each round, by induction. If every unit ends with a colour of its own, the identity is the only one.

# %% Draw masks of ResNets and count interchangeable channels
model = RESNET if at_print else small["ResNet"]
shared_by = {"row": [], "input": [], "outer": []}
empty = {"row": [], "input": []}
for mask_seed in range(seed, seed + max(masks, 1)):
    for dim, reading in ((0, "row"), (1, "input")):
        table = schemes(model, "w", 0.0)  # only the masks: σ_F = 0
        if at_print:
            table |= {
                name: WAsymmetric(table_3(name), 0.0, dim)
                for name in model.maps()
                if name != "head.weight"
            }
        fixed = model.fixed_parts(table, mask_seed)
        free = fixed["stem.weight"][1][0].flatten(1).all(dim=1)
        empty[reading].append(int(free.sum()))
        shared_by[reading].append(shared(model.symmetry(), fixed))
        if dim == 0:
            by_rows = fixed
    ends_only = {name: fixed[name] for name in ("stem.weight", "head.weight")}
    shared_by["outer"].append(shared(model.symmetry(), ends_only))
for reading, counts in shared_by.items():
    print(f"channels that share a cell, masks by {reading}: {counts}")
for reading, counts in empty.items():
    print(f"first neurons without fixed entries, by {reading}: {counts}")

# %%
claims.check(
    "I16.broken", max(shared_by["row"]), rival=min(shared_by["outer"]), n=masks
)

claims.check(
    "I16.broken_inputs",
    max(shared_by["input"]),
    rival=min(shared_by["outer"]),
    n=masks,
)

claims.check("I16.first_layer", min(empty["input"]), n=masks)

# %% [markdown]
# So the masks break all permutations, counted either way, and $\sigma_F = 0$ is a fair test of *structural* breaking: the {term}`barrier` of I, Fig. 4b at $\sigma_F = 0$ is due to no exact permutation symmetry of the family.
# (That approximate ones remain is the paper's point.)
#
# ## Fixed zeros keep every rescaling
#
# A residual block ends an inner channel $i$ with gain $\gamma_i$ and shift $\beta_i$, applies ReLU, and the outer convolution reads it through its column $i$.
#
# :::{prf:proposition} What zeros leave of a ResNet
# :label: prop-zeros-keep
# Let all fixed entries be 0. For every channel $i$ of a residual stream or inside a block, and every $t_i > 0$, multiply the gains and shifts that write the channel by $t_i$ and divide the columns $W_{\cdot i}$ that read it by $t_i$, so
#
# $$
# (\gamma_i, \beta_i, W_{\cdot i}) \mapsto (t_i \gamma_i, t_i \beta_i, W_{\cdot i} / t_i)
# $$
#
# for an inner channel of a block. The function and all fixed entries stay.
# :::
#
# :::{prf:proof}
# $\operatorname{ReLU}$ of $t_i$ times a number is $t_i$ times that of the number, which settles inner channels.
# A stream is $\operatorname{ReLU}$ of a sum of a norm's output and of the stream before it, or of a second norm's output in the first blocks of groups 2 and 3; with all gains and shifts that write the channel multiplied by $t_i$, every term is, and so is the stream, by induction over blocks.
# Dividing the columns undoes it where the channel is read. Gains and shifts are not masked, and entries of $W_{\cdot i}$ that are 0 stay 0.
# :::
#
# At the printed width there are $4\,(128 + 256 + 512) = 3584$ such channels, 896 of streams and 2688 inside blocks.
# An entry that is fixed at another value than 0 in a column $W_{\cdot i}$ pins its $t_i$.
# I, section 3.1 notes that ReLU networks have rescalings.
# They are no automorphisms of the network's graph, so that the theorem on masks does not speak of them, and alignment by permutations does not undo them.
# The cell rescales all channels at once, by random $t_i$ between $\frac14$ and 4.

# %%
rescaled_model = replace(model, input_shape=small_image)
generator = torch_generator(seed, "rescalings")
stack = rescaled_model.initial([seed], torch.float64, by_rows).ordinary()
scaled, factors = dict(stack.params), []
for group, axes in model.symmetry().groups.items():
    m = model.symmetry().sizes[group]
    t = 4 ** (2 * torch.rand(m, generator=generator, dtype=torch.float64) - 1)
    factors.append(t)
    for place in axes:
        value = scaled[place.name]  # (1, outputs, inputs, …), or (1, m)
        if place.name.endswith(("gain", "shift")):
            scaled[place.name] = t * value
        elif place.axis == 1:  # columns: a map that reads the channels
            scaled[place.name] = value / t.view(-1, *[1] * (value.dim() - 3))

# %% Compare functions and fixed entries
x = torch.randn(2, *small_image, generator=generator, dtype=torch.float64)
with torch.no_grad():
    before = rescaled_model.forward(stack.params, x)
    after = rescaled_model.forward(scaled, x)
fixed_moved = max(
    scaled[name][D == 0].abs().max().item()  # all F are 0
    for name, (_, D) in by_rows.items()
)
function_moved = ((after - before).abs().max() / before.abs().max()).item()
# an entry fixed at F ≠ 0 would become F / t: relative change |1/t − 1|
least_change = (1 / torch.cat(factors) - 1).abs().min().item()
rescalings = sum(map(len, factors))
print(f"function moved by {function_moved:.0e}, {rescalings} rescalings")

# %%
claims.check(
    "I16.rescaling", max(function_moved, fixed_moved), rival=least_change, n=1
)

# %% [markdown]
# ## A head keeps three quarters of its linear maps
#
# I, App. G.4 fixes 8 entries in the linear maps of a transformer; we read: in each row.
# (Eight entries in a whole map would leave most hidden units interchangeable.)
# The authors warn that entrywise masks "may not fully eliminate head-level equivalences" and name $\mathrm{GL}(\mathbb R^n)$ symmetries as a possible reason for the barrier that remains at $\sigma_F = 1$.
# Permutations of heads are not left, at the printed sizes; in the small networks of the profile `smoke` a row has too few fixed entries for that:

# %% Draw masks of transformers and count interchangeable units
transformer = VIT if at_print else small["ViT"]
shared_heads = {"row": [], "map": []}
for mask_seed in range(seed, seed + max(masks, 1)):
    eight = transformer.fixed_parts(schemes(transformer, "w", 0.0), mask_seed)
    shared_heads["row"].append(shared(transformer.symmetry(), eight))
    generator = torch_generator(mask_seed, "eight entries in a map")
    few = {}
    for name, (F, D) in eight.items():
        D = torch.ones_like(D).flatten()
        D[torch.randperm(len(D), generator=generator)[:8]] = 0
        few[name] = (F, D.view_as(F))
    shared_heads["map"].append(shared(transformer.symmetry(), few))
for place, counts in shared_heads.items():
    print(f"units that share a cell, eight entries in a {place}: {counts}")

# %%
claims.check(
    "I17.permutations",
    max(shared_heads["row"]),
    rival=min(shared_heads["map"]),
    n=masks,
)

# %% [markdown]
# A head sees queries and keys only through $W_K^\top W_Q$, so that
#
# $$
# (W_Q, b_Q, W_K) \mapsto (g W_Q,\, g b_Q,\, g^{-\top} W_K)
# $$
#
# keeps the function for all $g \in \mathrm{GL}_h$ (and moves the weights for all $g \neq I$ if $W_Q$ has rank $h$); values and outputs likewise.
#
# :::{prf:theorem} What masks leave of a head
# :label: thm-heads
# Let $n$ entries of $W_Q$ and $W_K$ of one head of size $h$ be fixed, at any values, and $n < h^2$.
# If the $n$ linear equations $(A W_Q)_{il} = 0$ and $(A^\top W_K)_{il} = 0$ at the fixed entries, for $A \in \mathbb R^{h \times h}$, are independent, then the $g$ near $I$ that keep the function and all fixed entries are a manifold of dimension $h^2 - n$.
# If they are independent for one pair $(W_Q, W_K)$ whose fixed entries are 0, they are for almost all trained entries if the fixed ones are 0, and for almost all values of fixed and trained entries.
# :::
#
# :::{prf:proof}
# $g$ keeps the fixed entries if and only if
#
# $$
# \Phi(g) = \begin{pmatrix} (g W_Q - W_Q)_{il} \\ (g^{-\top} W_K - W_K)_{il} \end{pmatrix} ,
# $$
#
# taken at the fixed entries, is 0. $\Phi(I) = 0$, and the derivative at $I$ in the direction $A$ is $\big((A W_Q)_{il}, -(A^\top W_K)_{il}\big)$. If it is onto $\mathbb R^n$, the zeros near $I$ are a manifold of dimension $h^2 - n$ by the implicit
# function theorem.
# Independence means that some minor of order $n$, a polynomial in the entries of $W_Q$ and $W_K$, is not 0.
# One that is not 0 at a pair with zero fixed entries is not the zero polynomial, neither in the trained entries at these zeros nor in all entries, and is 0 on a set of measure 0 only.
# :::
#
# With 8 entries in each row of both, $n = 16 h = 1024$ of $h^2 = 4096$: the masks take a quarter.
# Fixed entries are 0 in the check, so that it speaks for $\sigma_F = 0$ and for almost all fixed values.
# To leave nothing near $I$, 32 entries of each row would have to be fixed, half of $h$, and not at 0: zeros keep all diagonal $g$, whatever their number.

# %% Rank of the equations for two heads
h = transformer.dimension // transformer.heads
kept = []
for head in range(2):
    masked_q, masked_k = (
        eight[f"0.{name}.weight"][1][0, head] == 0 for name in ("query", "key")
    )
    generator = torch_generator(seed, f"head {head}")
    W_Q, W_K = torch.randn(
        2, h, transformer.dimension, generator=generator, dtype=torch.float64
    )
    W_Q, W_K = W_Q.masked_fill(masked_q, 0), W_K.masked_fill(masked_k, 0)
    A = equations(W_Q, W_K.mT, masked_q, masked_k.mT)  # (n, h²)
    spectrum = torch.linalg.eigvalsh(A @ A.mT)
    rank = int((spectrum > 1e-9 * spectrum.max()).sum())
    kept.append((h**2 - rank) / h**2)
    print(f"head {head}: n = {len(A)}, rank {rank}, left {h**2 - rank}")

# %%
claims.check("I17.continuous", min(kept), n=1)

# %% [markdown]
# These are not only small moves. In a small W-transformer the weights of attention moved by {glue:text}`100 * distance:.0f` % along this family and the function not at all, while halfway between the two networks the outputs differ by {glue:text}`100 * half_change:.0f` % (this run; {claim}`I17.moved`).
#
# ## An average of two equal networks is another function
#
# A symmetry that is left lets two runs end with one function at different weights, and their average computes another one.
# Aligning two networks by permutations undoes what permutations did, and no more.
# Rescalings in ReLU networks and linear maps in attention heads are continuous families of equal functions; masks leave them in whole or in part.
# Whoever merges transformers can bring both into a normal form in these families first, or train them with whole columns fixed at values other than 0, as in the second exercise.
# How far two trained runs differ by them is open; weight decay, which acts on the trained weights, prefers some members of each family.
#
# **Read on.** [](57_image_networks.ipynb): such networks, trained. [](53_asymmetric_mlps.ipynb): W-asymmetric MLPs on MNIST. [](35_symmetry_curves.ipynb): curves of equal loss along continuous symmetries.

# %% [markdown]
# ## Evidence
#
# ### Places at which a residual stream is read
#
# Residual streams are read in {glue:text}`stream_places` places in block groups 1, 2 and 3.
# The $c = 4$ of I, App. F.4 is that of group 1; groups 2 and 3 start with their first sum, one place later.
# The [published code](https://github.com/vuenc/neuron-identifiability) (commit c92eb82) records 4, 3 and 2, all that convolutions read; here the last sum, which the final map reads, counts too.
# When axes are left out, networks are small ones of the same shape, which have the same axes (fewer blocks in the transformer).
#
# ### Matching finds planted permutations
#
# This tests the matching of I, App. F.4.
# A network and a permuted copy, every group in random order; units are matched by the correlation of their activations, every pixel and every place of a stream a sample.
# Counted is the share of units that are put back in their places, of those that are not constant on the samples (silent units of one group cannot be told apart).

# %% Plant permutations and match
found_back = {}
for key, model in small.items():
    a = model.initial([seed], torch.float64)
    generator = torch_generator(seed, f"planted {key}")
    planted = random_permutations(model.symmetry(), 1, generator)
    x = torch.randn(
        40, *model.input_shape, generator=generator, dtype=torch.float64
    )
    matched = activation_matching(a, a.permuted(planted), x)
    undo = inverse(planted)  # a.permuted(p).permuted(undo) is a
    right = {g: matched.permutations[g] == undo[g] for g in undo}  # (1, m)
    moves = {g: ~matched.dead[g][0] for g in undo}  # units of a
    kept = torch.cat([right[g][moves[g]] for g in undo])
    found_back[key] = kept.double().mean().item()
    silent = sum(int((~moves[g]).sum()) for g in undo)
    print(f"{key}: {found_back[key]:.3f} of {len(kept)} units; {silent} silent")

# %%
claims.check("I16.planted", min(found_back.values()), n=len(found_back))

# %% [markdown]
# ### Counted by rows, two runs share nearly all of a channel when they start
#
# As in [](53_asymmetric_mlps.ipynb), a row with $f$ fixed entries of $d$ has the share $\rho_0 = \sigma_F^2 f / (\sigma_F^2 f + \tau (d - f))$ of its variance in common, with $\tau$ the variance of a trained entry: $1/(3d)$ by torch's law, $0.02^2$ in the transformer.
# The networks that [](57_image_networks.ipynb) trains count fixed entries by rows.

# %% Shares at the start
rows = [
    ("initial convolution, by rows", 2.0, 12, 27, 1 / 81),
    ("initial convolution, by inputs: most rows", 2.0, 0, 27, 1 / 81),
    ("block group 1", 2.0, 108, 1152, 1 / 3456),
    ("transformer, a row of 384", 1.0, 8, 384, VIT.std**2),
]
for words, sigma, f, d, v in rows:
    print(f"{words}: ρ₀ = {sigma**2 * f / (sigma**2 * f + v * (d - f)):.4f}")

# %% [markdown]
# ### The warm-up of the learning rate
#
# The recipe of I, App. F.2 warms the rate up from $10^{-4}$ to $10^{-2}$ in 20 epochs, by a factor of 1.259 an epoch (written $\gamma$ there):

# %% Ratio of two rates of the warm-up
recipe = Descent(
    100,
    128,
    "adamw",
    1e-2,
    weight_decay=1e-2,
    schedule="warm-up",
    warm_up=20,
    start_rate=1e-4,
)
gamma = recipe.rate_in(1) / recipe.rate_in(0)
print(f"γ = {gamma:.6f}")

# %%
claims.check("I16.warm_up", gamma, n=1)

# %% [markdown]
# ### Far along the family of a head
#
# In a small W-transformer with $\sigma_F = 1$, Newton's method walks along the family of {prf:ref}`thm-heads` to a map $g$ far from the identity, for queries and keys and for values and outputs of every head.
# The line from the network to its image leaves the function, although nothing but a symmetry lies between its ends.
# Layer norms have such families too: if the fixed entries are 0, gain and shift of a coordinate may be multiplied by any number but 0, if the columns that read it are divided by it.

# %% Move the heads of a small transformer
little = replace(small["ViT"], dimension=48, heads=2, std=0.2)
fixed = little.fixed_parts(
    {name: WAsymmetric(2, 1.0) for name in little.maps()}, seed
)
first = little.initial([seed], torch.float64, fixed).ordinary()
generator = torch_generator(seed, "directions")
moved = move_heads(little, first.params, fixed, 0.4, generator)

# %% Compare functions, fixed entries and weights
x = torch.randn(20, *small_image, generator=generator, dtype=torch.float64)
half = {name: (value + moved[name]) / 2 for name, value in first.params.items()}
with torch.no_grad():
    at_first, at_moved, between = (
        little.forward(params, x) for params in (first.params, moved, half)
    )
scale = at_first.abs().max()
function_change = ((at_moved - at_first).abs().max() / scale).item()
half_change = ((between - at_first).abs().max() / scale).item()
entry_change = max(
    (moved[name] - first.params[name])[D == 0].abs().max().item()
    for name, (_, D) in fixed.items()
)
attention = [
    f"{k}.{name}.weight"
    for k in range(little.depth)
    for name in ("query", "key", "value", "out")
]
distance = (
    sum((moved[n] - first.params[n]).square().sum() for n in attention).sqrt()
    / sum(first.params[n].square().sum() for n in attention).sqrt()
).item()
print(
    f"weights moved by {distance:.2f}, outputs by {function_change:.0e}", end=""
)
print(f", halfway by {half_change:.2f}")

# %%
claims.check(
    "I17.moved",
    max(function_change, entry_change),
    rival=distance,
    n=little.depth * little.heads,
)

# %% Numbers for the text
streams = [
    RESNET.blocks + (group == 1) for group in (1, 2, 3)
]  # places where a norm or a sum is read
figures.numbers(stream_places=", ".join(map(str, streams)))

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# Two residual networks are equal, but that in the second the inner channels of one block are rescaled by $t_i > 0$, $(\gamma_i, \beta_i, W_{\cdot i}) \mapsto (t_i \gamma_i, t_i \beta_i, W_{\cdot i}/t_i)$.
# By which factor does their average multiply what channel $i$ contributes to the outer convolution?
# For which $t_i$ is the factor at most 1.01?
# What does the group norm behind the outer convolution make of it if all $t_i$ are equal, and if they differ?
# Can a permutation of channels help?
# :::
#
# :::{solution}
# Gain and shift become $(1 + t_i)/2$ times what they were, and so does the ReLU of the channel; its column becomes $(1 + 1/t_i)/2$ times what it was. The factor is
#
# $$
# \frac{(1 + t_i)(1 + 1/t_i)}{4} = 1 + \frac{(t_i - 1)^2}{4 t_i} .
# $$
#
# It is never below 1, and $\frac{25}{16}$ for $t_i = 4$.
# It is at most 1.01 if $|\sqrt{t_i} - 1/\sqrt{t_i}| \le 0.2$, that is $0.819 \le t_i \le 1.221$.
# If all $t_i$ are equal, what the outer convolution puts out is multiplied by one factor, the same for all channels and pixels, which the norm behind it divides out (up to its $\varepsilon$): the average computes the same function.
# If they differ, channels are added up in other proportions, and the norm does not undo that.
# A permutation cannot either: units are in their right order already.
# :::
#
# :::{exercise}
# Masks fix the same $s$ columns in every row of $W_Q$ of a head of size $h$, and nothing in $W_K$. Which $g \in \mathrm{GL}_h$ keep the fixed entries if they are all 0? Which if they are random numbers, for $s < h$ and for $s = h$? Compare with the masks of {prf:ref}`thm-heads`.
# :::
#
# :::{solution}
# Let $W_S$ be the $h \times s$ matrix of the fixed columns.
# $g$ keeps them if and only if $(g - I) W_S = 0$.
# For $W_S = 0$ all $g$ do, however many columns are fixed; the equations are not independent.
# For random entries $W_S$ has rank $s$, and the rows of $g - I$ are any vectors orthogonal to its columns: $h(h - s)$ dimensions, and for $s = h$ only $g = I$.
# So $h^2$ fixed entries that are placed with regard to the head leave nothing, near $I$ or far from it.
# Fewer in $W_Q$ alone never do, as linear equations for $g$ leave a subspace.
# In code:
#
#     size, s = 4, 2
#     Q, K = torch.randn(2, size, 6)
#     at = torch.zeros(size, 6, dtype=torch.bool)
#     at[:, :s] = True
#     for value in (1, 0):  # random numbers, zeros
#         fixed_Q = torch.where(at, value * Q, Q)
#         A = equations(fixed_Q, K.mT, at, torch.zeros_like(at).mT)
#         print(size**2 - torch.linalg.matrix_rank(A).item())
# :::
#
# :::{try}
# More masks:
#
#     make chapter NAME=architecture_symmetries ARGS="-p masks 4"
# :::

# %% Versions and time
print(chapter.end())
