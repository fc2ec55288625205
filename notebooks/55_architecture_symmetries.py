# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Symmetries of convolutions, residual networks and transformers
#
# :::{summary}
# **Question.** Which symmetries do convolutional networks, residual networks and transformers have, and which of them do fixed weights break?
#
# **The papers.**
# Bürgin, Herbst, Lin & Jegelka (I) {cite:p}`buergin2026` list the permutations of ResNets (I, App. F.4), fix entries of them and of transformers, and suspect that symmetries of the {term}`attention heads <head of a transformer>` survive the {term}`masks <mask>` (I, App. G.4).
# Zhan, Li & Wu (Z) {cite:p}`zhan2025` permute the channels of CNNs of depth 16 (Z, Fig. 15).
#
# **What we find.**
# With all the parameters of I's networks, on small images, the permutations are as stated: one of each residual stream and one inside each block {claim}`I16.symmetry`, heads and hidden units of transformers {claim}`I17.symmetry`; a plain CNN of depth 16 has those of each convolution's channels {claim}`Z19.symmetry`. In small networks of the same kinds matching by activations finds a planted one {claim}`I16.planted`.
# Masks of ResNets with the printed numbers of fixed entries, drawn at random and counted by rows, break every permutation of channels in every draw ({glue:text}`masks` in this run) {claim}`I16.broken`; if the fixed entries are 0, they break not one rescaling of a channel {claim}`I16.rescaling`.
# Masks of transformers, drawn likewise, break all permutations {claim}`I17.permutations`; of the linear maps of queries and keys in a head they leave a family of three quarters of the dimensions {claim}`I17.continuous`.
#
# **Why it matters.** A symmetry that is left lets two runs end with one function at different weights, and their average computes another one.
# :::
#
# :::{need}
# You need: convolutions, residual connections, attention; for the theorem on heads the implicit function theorem. {term}`W-asymmetric` networks: [](53_asymmetric_mlps.ipynb). {{ times }}
# :::

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
# ## The idea
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
# :alt: Left, a falling curve of incoming and outgoing weights with the same product, one marked point on it, and two dashed chords between pairs of points. Right, the product along the two chords; it is 1 at both ends and higher between them, more so for the longer chord.
#
# Left: the weights of one unit with the same function, and two lines between networks whose incoming weights differ by the factor $t$. Right: what the unit computes on these lines.
# :::
#
# ## Which permutations
#
# A hidden unit of a perceptron can change places with any other of its layer.
# In a convolution the units are channels.
# In a residual network all blocks of a group read and write one stream, so that its channels move together in every layer that touches it; I, App. F.4 states one such permutation for each of the three block groups and one inside each block.
# In a transformer
# there are the heads of each attention, the hidden units of each feed-forward block (I, App. G.4), and the coordinates of the residual stream.
# A symmetry is here a list of *groups* of units, each with the axes of parameters that move together.
# It is right if a random network computes the same function after its groups were permuted, and complete in its axes if leaving out any one of them changes the function.
#
# Convolutions and attention do not know the size of an image, so that the networks of the papers, with all their parameters, are checked on images of 8 × 8 pixels. Group norm has *one* group, as in the published code: with several, only permutations that keep its groups together commute with it.

# %%
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

# %% [markdown]
# The check is made in float64, with random gains and shifts so that no two units are alike. Axes are left out in small networks of the same shape, which have the same axes (fewer blocks in the transformer).


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
print({key: f"{max(found.values()):.0e}" for key, found in changes.items()})
print({key: f"{value:.0e}" for key, value in left_out.items()}, "left out")

# %%
claims.check(
    "Z19.symmetry",
    max(changes["CNN"].values()),
    rival=left_out["CNN"],
    n=1,
)

claims.check(
    "I16.symmetry",
    max(changes["ResNet"].values()),
    rival=left_out["ResNet"],
    n=1,
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
# Residual streams are read in {glue:text}`stream_places` places in block groups 1, 2 and 3.
# The $c = 4$ of I, App. F.4 is that of group 1; groups 2 and 3 start with their first sum, one place later.
# The [published code](https://github.com/vuenc/neuron-identifiability) (commit c92eb82) records 4, 3 and 2, all that convolutions read; here the last sum, which the final map reads, counts too.
#
# ### Planted permutations
#
# Does the matching of I, App. F.4 find what there is to find?
# A network and a permuted copy, every group in random order; units are matched by the correlation of their activations, every pixel and every place of a stream a sample.
# The share of units that are put back in their places, of those that are not constant on the samples (silent units of one group cannot be told apart):

# %%
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
# ## The masks of ResNets
#
# In W-ResNets some entries of every map are fixed.
# I, Table 3 prints how many: 12 in the initial convolution, 108, 162 and 216 in the convolutions of the block groups, 18 and 24 in shortcuts, 24 in the final map.
# The text counts them *per input channel (spread randomly over the output channels and kernel dimensions)*.
# The published code (`make_conv_mask`) counts per *output* channel, spread over inputs and kernel: a row of the mask, as I, App. F.1 does for MLPs.
# We take it that this is meant.
# The difference is seen in the initial convolution, which has 3 inputs and 128 outputs: 12 per row are {glue:text}`stem_share` % of its weights; 12 per input are 36 entries for 128 neurons, and at least 92 of them have none.
#
# I, section 3.1 cites a theorem of {cite:t}`lim2024`: masks with pairwise distinct nonzero rows break all architecture-induced symmetries, permutations of hidden units in particular.
# Whatever the reading, there is an exact test for masks that are drawn.
# At $\sigma_F = 0$ a permutation of channels maps the weights that the masks allow onto themselves if and only if it maps the masks onto themselves.
# *Colour refinement* gives all units of a group one colour; it tells two apart if
# the fixed entries on their axes meet different collections of colours; it goes on until nothing splits. A permutation that keeps the masks keeps the colours of each round, by induction. If every unit ends with a colour of its own, the identity is the only one.

# %%
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
print("channels that share a cell:", shared_by)
print("neurons of the initial convolution without fixed entries:", empty)

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
# So the masks drawn here break what they are said to break, in either reading, and $\sigma_F = 0$ is a fair test of *structural* breaking: the {term}`barrier` of I, Fig. 4b at $\sigma_F = 0$ is due to no exact permutation symmetry of the family.
# (That approximate ones remain is the paper's point.)
# The networks that [](57_image_networks.ipynb) trains count by rows.
#
# How much of a channel do two runs share when they start?
# As in [](53_asymmetric_mlps.ipynb), a row with $f$ fixed entries of $d$ has the share $\rho_0 = \sigma_F^2 f / (\sigma_F^2 f + v (d - f))$ of its variance in common, with $v$ the variance of a trained entry: $1/(3d)$ by torch's law, $0.02^2$ in the transformer.

# %%
rows = [
    ("initial convolution, by rows", 2.0, 12, 27, 1 / 81),
    ("initial convolution, by inputs: most rows", 2.0, 0, 27, 1 / 81),
    ("block group 1", 2.0, 108, 1152, 1 / 3456),
    ("transformer, a row of 384", 1.0, 8, 384, VIT.std**2),
]
for words, sigma, f, d, v in rows:
    print(f"{words}: ρ₀ = {sigma**2 * f / (sigma**2 * f + v * (d - f)):.4f}")

# %% [markdown]
# ### What zero masks do not break
#
# A residual block ends an inner channel $i$ with gain $\gamma_i$ and shift $\beta_i$, applies ReLU, and the outer convolution reads it through its column $i$. For $t_i > 0$
#
# $$
# (\gamma_i, \beta_i, W_{\cdot i}) \mapsto (t_i \gamma_i, t_i \beta_i, W_{\cdot i} / t_i)
# $$
#
# leaves the function.
# So it is with the channels of a residual stream, $h \mapsto \operatorname{ReLU}(h' + \dots)$ with $h' = h$ in all blocks but the first ones of groups 2 and 3: $\operatorname{ReLU}$ of $t_i$ times a sum is $t_i$ times that of the sum, so that gains and shifts of all norms that write a channel may be multiplied by $t_i$, if column $i$ of every convolution or final map that reads it is divided by it.
# One rescaling for each channel of each matching point.
#
# Gains and shifts are not masked.
# Entries of $W_{\cdot i}$ that are fixed at 0 stay 0, whatever $t_i$; entries fixed at another value do not stay.
# Zero masks thus keep *all* these rescalings, and nonzero entries in a column fix its $t_i$.
# That ReLU networks have rescalings is noted in I, section 3.1.
# They are no automorphisms of the network's graph, so that the theorem above does not speak of them.
# Alignment by permutations does not undo them.
# How far two runs differ by
# them is not decided here; weight decay prefers one member of each family. The next cell rescales all channels by random $t_i$ between $\frac14$ and 4: of the axes that belong to a group of channels, it multiplies the gains and shifts and divides the columns.

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
    "I16.rescaling",
    max(function_moved, fixed_moved),
    rival=least_change,
    n=1,
)

# %% [markdown]
# The recipe of I, App. F.2 warms the rate up from $10^{-4}$ to $10^{-2}$ in 20 epochs, by a factor $\gamma = 1.259$ an epoch:

# %%
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
# ## Heads
#
# I, App. G.4 fixes 8 entries in the linear maps of a transformer; we read: in each row.
# (Eight entries in a whole map would leave most hidden units interchangeable.)
# The authors warn that entrywise masks "may not fully eliminate head-level equivalences" and name $\mathrm{GL}_n$ symmetries as a possible reason for the barrier that remains at $\sigma_F = 1$.
# Which of them
# are left can be settled. Permutations of heads are not, at the printed sizes ({claim}`I17.permutations`; in the small networks of the profile `smoke` a row has too few fixed entries for that):

# %%
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
print("units that share a cell:", shared_heads)

# %%
claims.check(
    "I17.permutations",
    max(shared_heads["row"]),
    rival=min(shared_heads["map"]),
    n=masks,
)

# %% [markdown]
# The continuous symmetries are left, to a large part. Those of norms wholly, if the fixed entries are 0: gain and shift of a coordinate may be multiplied by $t \ne 0$, if the columns that read it are divided by $t$. And a head of size $h$ sees queries and keys only through $W_K^\top W_Q$, so that
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
# If they
# are independent for one pair $(W_Q, W_K)$ whose fixed entries are 0, they are for almost all trained entries if the fixed ones are 0, and for almost all values of fixed and trained entries.
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
# The rank of the equations for two heads:

# %%
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
# And these are not only small moves.
# In a small W-transformer with $\sigma_F = 1$, Newton's method walks along the family to a map $g$ far from the identity, for queries and keys and for values and outputs of every head.
# The line from the network to its image leaves the function, although nothing but a symmetry lies between its ends.

# %%
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
print(f", half-way by {half_change:.2f}")

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
figures.numbers(
    stream_places=", ".join(map(str, streams)),
    stem_share=f"{100 * 12 / 27:.0f}",
    rescalings=rescalings,
    distance=f"{100 * distance:.0f}",
    half_change=f"{100 * half_change:.0f}",
)

# %% [markdown]
# ## What we found that the papers do not say
#
# - In the published code the fixed entries of I, Table 3 are per *output* channel. In the words of the text, per input channel, most neurons of the first layer would have none. In both readings the masks break all permutations of channels ({claim}`I16.broken`, {claim}`I16.broken_inputs`).
# - Zero masks leave the rescalings of all {glue:text}`rescalings` channels of matching points ({claim}`I16.rescaling`).
# - Eight fixed entries in a row of 384 break all permutations of heads, of hidden units and of the stream of a transformer ({claim}`I17.permutations`), and leave three quarters of the dimensions of $\mathrm{GL}_{64}$ of queries and keys of a head ({claim}`I17.continuous`), at any $\sigma_F$.
#   In the small transformer above the weights of attention moved by {glue:text}`distance` % along this family and the function not at all, while half-way between
#   the outputs differ by {glue:text}`half_change` %. Whether training wanders along the family, and how much of the barrier of I, Fig. 20 it explains, is open; weight decay, which acts on $W$, prefers some members to others.
#
# ## What it means for merging networks
#
# Aligning two networks by permutations undoes what permutations did, and no more.
# Rescalings in ReLU networks and linear maps in attention heads are continuous families of equal functions; masks leave them in whole or in part, and an average of two members is another function.
# Whoever merges transformers can bring both into a normal form in these families first, or train them with whole columns fixed at values other than 0, as in Exercise 55.2.
#
# **Read on.** [](57_image_networks.ipynb): such networks, trained. [](53_asymmetric_mlps.ipynb): W-asymmetric MLPs on MNIST. [](35_symmetry_curves.ipynb): curves of equal loss along continuous symmetries.
#
# ## Exercises
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
