# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
#   lmc: {runs: lmc_helpers._chapters.image_networks.Parameters}
# ---

# %% [markdown]
# # Convolutions, residual networks and transformers
#
# ```{summary}
# **Question.** Which symmetries do convolutional networks, residual networks and transformers have, and which of them do fixed weights break?
#
# **The papers.**
# Zhan, Li & Wu (Z) {cite:p}`zhan2025` follow the loss between CNNs of depth 16 at several widths (Z, Fig. 15).
# Bürgin, Herbst, Lin & Jegelka (I) {cite:p}`buergin2026` train {term}`W-asymmetric` and syre-ResNets and W-transformers on CIFAR-10 (I, Figs. 3b, 4b, 4d, 9 and 20), and suspect that symmetries of the {term}`attention heads <head of a transformer>` survive the {term}`masks <mask>` (I, App. G.4).
#
# **What we find.**
# At the papers' own sizes, without training: the permutations are as stated {claim}`I16.symmetry` {claim}`I17.symmetry`.
# The printed masks of ResNets break every permutation of channels {claim}`I16.broken` and, if the fixed entries are 0, no rescaling of a channel {claim}`I16.rescaling`.
# Of the linear maps of queries and keys in a head, masks leave a family of three quarters of the dimensions {claim}`I17.continuous`.
# What the papers report of trained networks needs their sizes: ResNets {claim}`I16.unaligned` {claim}`I16.aligned`, transformers {claim}`I17.one`, CNNs {claim}`Z19.peak`.
#
# **Why it matters.** A symmetry that is left lets two runs end with one function at different weights, and their average computes another one.
# ```
#
# ```{need}
# You need: convolutions, residual connections, attention; for the theorem on heads the implicit function theorem. W-asymmetric networks: [](53_asymmetric_mlps.ipynb). {{ times }}
# ```
#
# {glue:text}`data_says` Trained networks on this page (profile {glue:text}`profile`): {glue:text}`sizes` At smaller sizes than the papers' they show the path and **decide nothing about CIFAR-10**; those parts are then open, with a price below.

# %% tags=["parameters", "hide-input"] mystnb={"code_prompt_show": "Parameters"}
dataset: str = "cifar10"  # or mnist, digits, which stand in where it is missing
widths: list = [4, 8, 16]  # channels of three CNNs
resnet: list = [1, 8, 1]  # multiplier, channels at width 1, blocks; 8, 16, 3
vit: list = [24, 2, 2]  # dimension, depth, heads; 384, 8, 6 in the paper
side: int = 2  # CNNs and ResNets see means over squares of so many pixels
images: int = 800  # training images; 45 000 in the published code
epochs: list = [4, 5, 7]  # of CNNs, ResNets, transformers; ?, 100, 200
warm_up: int = 0  # epochs of the ResNets' warm-up; 20 in the paper
batch: int = 16  # images of a step; 128 in the paper and its code
pairs: int = 2  # pairs of networks; 8 in I, Fig. 4
sweep_pairs: int = 2  # pairs of W-ResNets with other scales
sigmas: list = [0.5]  # these scales, beside 0 and 2
together: int = 100  # most pairs of a training run
places: int = 4  # intervals of a line, even
seen: int = 300  # training images for matching and lines
masks: int = 1  # masks drawn at the printed sizes; 0: small sizes only
seed: int = 7055  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Check the parameters, and import"}
from lmc_helpers import chapter
from lmc_helpers.chapter import Choice, Integer, ListOf, Real

chapter.begin(
    globals(),
    dataset=Choice(("cifar10", "mnist", "digits")),
    widths=ListOf(Integer(1, 4096)),
    resnet=ListOf(Integer(1, 64)),
    vit=ListOf(Integer(1, 4096)),
    side=Integer(1, 4),
    images=Integer(50, 45_000),
    epochs=ListOf(Integer(1, 10_000)),
    warm_up=Integer(0, 10_000),
    batch=Integer(1, 45_000),
    pairs=Integer(2, 1000),
    sweep_pairs=Integer(2, 1000),
    sigmas=ListOf(Real(0.01, 1000)),
    together=Integer(1, 1000),
    places=Integer(2, 1000),
    seen=Integer(10, 45_000),
    masks=Integer(0, 100),
)

from dataclasses import replace

import numpy as np
import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.image_networks import (
    RESNET,
    VIT,
    Experiment,
    Parameters,
    choose_images,
    equations,
    inverse,
    move_heads,
    networks,
    schemes,
    seconds_per_image,
    shared,
    table_3,
)
from lmc_helpers.alignment.activation_matching import activation_matching
from lmc_helpers.barrier import barrier_kinds
from lmc_helpers.error_bars import extreme, jackknife, over_clusters
from lmc_helpers.identifiability.asymmetric import WAsymmetric
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.permutations import permute, random_permutations, verify
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.seeds import torch_generator
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

# %% [markdown]
# ## The idea
#
# A hidden ReLU unit with one input and one output computes $v \operatorname{ReLU}(u x)$.
# For $u > 0$ only the product $u v$ counts, so that all networks on a curve $uv = 1$ are one function.
# A second weight into the unit that is fixed at 0 changes nothing; fixed at another value it pins $u$ and $v$ to one point of the curve.
# Masks of zeros can thus break every permutation of units and leave a continuous symmetry, and the straight line between two equal functions leaves the function.

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot the idea"}
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
# ```{glue:figure} fig_curve_idea
# :alt: Left, a falling curve of incoming and outgoing weights with the same product, one marked point on it, and two dashed chords between pairs of points. Right, the product along the two chords; it is 1 at both ends and higher between them, more so for the longer chord.
#
# Left: the weights of one unit with the same function, and two lines between networks whose incoming weights differ by the factor $t$. Right: what the unit computes on these lines.
# ```
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


# %% tags=["hide-input"] mystnb={"code_prompt_show": "Permute all groups of a network"}
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

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z19.symmetry, I16.symmetry and I17.symmetry"}
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

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I16.planted"}
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

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I16.broken, I16.broken_inputs and I16.first_layer"}
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
# Networks on this page count by rows.
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

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Compare functions and fixed entries"}
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

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I16.rescaling"}
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

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I16.warm_up"}
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

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I17.permutations"}
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
# ```{prf:theorem} What masks leave of a head
# :label: thm-heads
# Let $n$ entries of $W_Q$ and $W_K$ of one head of size $h$ be fixed, at any values, and $n < h^2$.
# If the $n$ linear equations $(A W_Q)_{il} = 0$ and $(A^\top W_K)_{il} = 0$ at the fixed entries, for $A \in \mathbb R^{h \times h}$, are independent, then the $g$ near $I$ that keep the function and all fixed entries are a manifold of dimension $h^2 - n$.
# If they
# are independent for one pair $(W_Q, W_K)$ whose fixed entries are 0, they are for almost all trained entries if the fixed ones are 0, and for almost all values of fixed and trained entries.
# ```
#
# ```{prf:proof}
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
# ```
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

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I17.continuous"}
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

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Compare functions, fixed entries and weights"}
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

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I17.moved"}
claims.check(
    "I17.moved",
    max(function_change, entry_change),
    rival=distance,
    n=little.depth * little.heads,
)

# %% [markdown]
# ## The experiments
#
# The whole path, from training to lines, in batches of {glue:text}`batch`: CNNs by Adam at 0.005, without decay; ResNets by AdamW at 0.01 with decay 0.01 and {glue:text}`warm_up` epochs of warm-up (20 in the paper); transformers by AdamW with a cosine schedule, where the rate 0.001 and the decay 0.01 are ours, as I does not state them.
# On CIFAR-10 ResNets and transformers see flips and crops as in I, App. F.3; CNNs see the images as they are.
# The paper splits at random 80/10/10 %; the published code trains on 90 % of the training images, and so do we, or on a part of them.
# Entries are fixed at the share of each row that they have in the papers.
# In *syre-ResNets* $F \sim \mathcal N(0, \sigma_F^2)$ is added to all entries, with $D = 1$.
# A pair shares $F$ and $D$, pairs do not; the published code has one mask for all networks of a kind.
# Units are matched by the largest sum of correlations, and accuracies on lines taken, on the first {glue:text}`images_used` training images, not augmented.
# (The published script for aligned networks maximises $1 - |\rho|$; [](53_asymmetric_mlps.ipynb), {claim}`I11.published`.)
# Where squares of pixels are averaged, CNNs and ResNets see the averages.
#
# What the papers leave open: the CNNs of Z, Fig. 15 have here 15 convolutions of equal widths and a final map, three poolings, He's law and no norm; transformers start at $\mathcal N(0, 0.02^2)$ and have no dropout and keys without a bias.
# All networks are trained in float32, whatever the device.
# {glue:text}`left_out`

# %%
settings = chapter.parameters(Parameters, globals())
experiment = Experiment(settings, places, seen)
for key in experiment.runs:
    print(f"{key:14} training accuracy {experiment.accuracy(key):.2f}")


# %% tags=["hide-input"] mystnb={"code_prompt_show": "What is counted"}
chosen, data_says = choose_images(dataset)
chapter.uses(dataset=experiment.source)
n_swept = min(sweep_pairs, pairs)  # pairs of W-ResNets with other scales
TOP = f"W-ResNet {max([2.0, *map(float, sigmas)]):g}"
second = Experiment(replace(settings, seed=(seed + 1) % 2**32), places, seen)


def judged(quantity, repeat: bool = True) -> dict:
    """For claims.check: a quantity of the first experiment, and of a second.

    Where the recipe is ours and not the paper's a rejection is not repeated,
    and stays open.
    """
    value, *error = quantity(experiment)
    judged_by = {"interval": error} if len(error) == 2 else {"stderr": error[0]}
    again = (lambda: quantity(second)) if repeat else None
    return {"value": value, **judged_by, "second_seed": again}


def drop(e: Experiment, key: str, by: str = "none") -> tuple[float, float]:
    """Mean drop of the accuracy half-way, in points."""
    value, error = over_clusters(e.measured(key).drop(by))
    return value, max(error, 100 / len(e.y))  # no less than one image


def known(value: float, error: float) -> tuple[float, float]:
    """A reading with a floor for what is not resolved; 0 over 0 says nothing."""
    if not np.isfinite([value, error]).all():
        return 0.0, 1e6
    return value, max(error, 1e-3)


def ratio(values, others) -> tuple[float, float]:
    """Ratio of two means over pairs."""
    return known(*jackknife(lambda u, v: u / v, values, others))


def progress(e: Experiment, key: str) -> tuple[float, float]:
    """r, averaged over matching points and pairs."""
    return ratio(*e.measured(key).above_random())


# %% [markdown]
# ### CNNs: the loss on the line
#
# Z, Fig. 15 has three panels for three widths, which caption and text do not state (we had the text, not the pictures), at one depth, optimiser and rate.
# Here are three widths, *direct* (as trained) and *permuted* (after {term}`weight matching`), and half-way with the statistics of all units set right ({term}`REPAIR`, [](56_matchers.ipynb)).

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot the loss along the line"}
figure, axes = figures.panels(len(widths), sharey=True)
for axis, width in zip(np.atleast_1d(axes), widths, strict=True):
    lines = experiment.losses(f"CNN {width}")
    for order, colour, fmt in (
        ("direct", "red", "s-"),
        ("permuted", "blue", "o--"),
    ):
        style = dict(
            color=f"book:{colour}", markersize=9 - 4 * (order != "direct")
        )
        mean = lines[order].mean(dim=0)
        axis.plot(experiment.lambdas, mean, fmt, label=order, **style)
        for line in lines[order]:
            style = dict(linewidth=0.6, alpha=0.5)
            axis.plot(experiment.lambdas, line, color=f"book:{colour}", **style)
    style = dict(label="permuted, REPAIR")
    axis.plot([0.5], lines["repaired"].mean(), "D", color="book:green", **style)
    axis.set(xlabel=r"place $\lambda$ on the line", title=f"{width} channels")
np.atleast_1d(axes)[0].set(ylabel="NLL (nats)")
figures.show("fig_cnn_lines", figure, legend=3)

# %% [markdown]
# ```{glue:figure} fig_cnn_lines
# :alt: Negative log-likelihood along the line between two plain CNNs of depth 16 for three widths, direct and after weight matching, with a mark half-way for repaired statistics.
#
# Z, Fig. 15 at the widths of this page: mean negative log-likelihood (NLL) over pairs (thick) and each pair (thin) on training images (profile {glue:text}`profile`).
# ```
#
# Half-way the NLL is {glue:text}`middle_loss` nats at the largest width, and that of a guess that ignores the image is $\ln 10 =$ {glue:text}`guess`; ends near that value are networks that have hardly left the guess themselves.
# Units of an average vary less than those of its ends; without norms this adds up over fifteen layers, until little of the image is left.
# REPAIR restores the variation, and by itself not the function.
# None of this is a
# statement on Z, Fig. 15, whose widths, lengths of training and norms its caption and the text do not state.


# %%
def peak(e: Experiment) -> tuple[float, float]:
    """How far the middle width's barrier is above both others, relative."""
    heights = [
        barrier_kinds(e.losses(f"CNN {width}")["permuted"], e.lambdas)["chord"]
        for width in widths
    ]

    def lead(low, middle, high) -> float:
        return float(1 - max(low.mean(), high.mean()) / middle.mean())

    value, error = jackknife(lead, heights[0], heights[-2], heights[-1])
    return value, max(error, 1e-3)


# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check Z19.peak"}
claims.check("Z19.peak", **judged(peak, repeat=False), n=pairs)

# %% [markdown]
# ### ResNets: accuracy on the line, and where the identity stands
#
# Let $\mathcal L(P)$ be the mean correlation of the units that a permutation $P$ pairs, $\mathcal L_r$ its mean over all permutations and $P^*$ the best one. As in [](53_asymmetric_mlps.ipynb),
#
# $$
# r = \frac{\mathcal L(I) - \mathcal L_r}{\mathcal L(P^*) - \mathcal L_r}
# $$
#
# says how far the identity is on the way from random permutations to the best.
# A *matching point* is a group of channels that move together: a residual stream, or the inner channels of a block.
# The *drop* is the accuracy of the ends less that half-way.
# I, Fig. 3c follows $\mathcal L$ of W-ResNets over training as well, "for all stages"; that has no part here, since networks are kept at their end only (for MLPs: {claim}`I10.stages`).
# Nor have two remarks of I, App. F.4 on ResNets of the printed sizes: that pixels as samples are "beneficial for LMC", and that a tenth of the training images is "sufficient to yield an alignment of low barrier"; we do as it says.

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot accuracies and r"}
NAMES = {
    "ResNet": ("ResNet", "black"),
    "W-ResNet 0": (r"W, $\sigma_F = 0$", "orange"),
    "W-ResNet 2": (r"W, $\sigma_F = 2$", "blue"),
    "syre-ResNet 2": (r"syre, $\sigma_F = 2$", "green"),
}
figure, axes = figures.panels(3)
for axis, by, title in (
    (axes[0], "none", "unaligned"),
    (axes[1], "correlation", "aligned"),
):
    for key, (label, colour) in NAMES.items():
        lines = 100 * experiment.measured(key).accuracy[by]
        style = dict(color=f"book:{colour}", label=label)
        axis.plot(experiment.lambdas, lines.mean(dim=0), "o-", **style)
    axis.set(xlabel=r"place $\lambda$", title=title, ylim=(0, 103))
axes[0].set(ylabel="training accuracy (%)")
scales = sorted({0.0, 2.0, *map(float, sigmas)})
points = list(experiment.measured("ResNet").above_random()[0][0])
for place in range(len(points)):
    ways = []
    for s in scales:
        u, v = experiment.measured(f"W-ResNet {s:g}").above_random()
        ways.append((u[:, place].mean() / v[:, place].mean()).item())
    colour = "purple" if place >= len(points) - 3 else "sky"
    label = "streams" if place >= len(points) - 3 else "inner layers"
    style = dict(color=f"book:{colour}", label=label)
    axes[2].plot(range(len(scales)), ways, "o-", **style)
ways = [progress(experiment, f"W-ResNet {s:g}")[0] for s in scales]
axes[2].plot(range(len(scales)), ways, color="book:black", lw=3, label="all")
axes[2].set(xlabel=r"$\sigma_F$", ylabel="$r$", title="matching points")
axes[2].set_xticks(range(len(scales)), [f"{s:g}" for s in scales])
figures.show("fig_resnets", figure, legend=6)

# %% [markdown]
# ```{glue:figure} fig_resnets
# :alt: Left and middle, training accuracy on the line between ResNets of four kinds, unaligned and aligned. Right, how far the identity is on the way to the best permutation against the scale of the fixed weights, one thin curve for every matching point and a thick one for all of them.
#
# I, Figs. 4b and 4d, and Figs. 3b and 9 in one number: mean training accuracy over pairs; $r$ of W-ResNets, for each matching point and for all of them (profile {glue:text}`profile`).
# ```


# %%
def far_below(e: Experiment) -> tuple[float, float]:
    """L_r over L(I) at the largest σ_F."""
    found = e.measured(TOP)
    return ratio(found.random, found.identity)


def least_lead(e: Experiment) -> tuple[float, float, float]:
    """r at σ_F = 2 less that at 0, at the matching point where it is least."""
    parts = [
        part
        for s in (2, 0)
        for part in e.measured(f"W-ResNet {s}").above_random()
    ]
    leads = [
        jackknife(lambda u, v, w, z: u / v - w / z, *(p[:, k] for p in parts))
        for k in range(parts[0].shape[1])
    ]
    return extreme(min, (known(*lead) for lead in leads))


def worst_aligned(e: Experiment) -> tuple[float, float, float]:
    """Largest aligned drop of four models over that of unaligned ResNets."""
    plain = e.measured("ResNet").drop()
    aligned = (e.measured(key).drop("correlation") for key in NAMES)
    return extreme(max, (ratio(drops, plain) for drops in aligned))


def similarly(e: Experiment) -> tuple[float, float]:
    """Share of the drop that alignment removes, σ_F = 0 over ResNet."""
    found = [e.measured(key) for key in ("W-ResNet 0", "ResNet")]
    drops = [one.drop(by) for one in found for by in ("correlation", "none")]
    value, error = jackknife(lambda u, v, w, z: (1 - u / v) / (1 - w / z), *drops)
    return value, max(error, 1e-3)


# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I16.close, I16.random, I16.two, I16.layers, I16.unaligned and I16.aligned"}
claims.check("I16.close", **judged(lambda e: progress(e, TOP)), n=n_swept)
claims.check("I16.random", **judged(far_below), n=n_swept)
claims.check("I16.two", **judged(lambda e: progress(e, "W-ResNet 2")), n=pairs)
claims.check("I16.layers", **judged(least_lead), n=pairs)

claims.check(
    "I16.unaligned",
    **judged(
        lambda e: ratio(
            e.measured("W-ResNet 2").drop(), e.measured("ResNet").drop()
        )
    ),
    n=pairs,
)

claims.check("I16.aligned", **judged(worst_aligned), n=pairs)

# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I16.syre and I16.similar"}
claims.check(
    "I16.syre",
    **judged(
        lambda e: ratio(
            e.measured("syre-ResNet 2").drop("correlation"),
            e.measured("syre-ResNet 2").drop(),
        )
    ),
    n=pairs,
)

claims.check("I16.similar", **judged(similarly), n=pairs)

# %% [markdown]
# ### Transformers: accuracy on the line

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Plot accuracies of transformers"}
TRANSFORMERS = {
    "ViT": ("ViT", "black"),
    "W-ViT 0": (r"W, $\sigma_F = 0$", "orange"),
    "W-ViT 1": (r"W, $\sigma_F = 1$", "blue"),
}
figure, axis = figures.panels(1)
for key, (label, colour) in TRANSFORMERS.items():
    lines = 100 * experiment.measured(key).accuracy["none"]
    style = dict(color=f"book:{colour}")
    axis.plot(experiment.lambdas, lines.mean(dim=0), "o-", label=label, **style)
    for line in lines:
        axis.plot(experiment.lambdas, line, linewidth=0.6, alpha=0.5, **style)
axis.set(xlabel=r"place $\lambda$ on the line", ylabel="training accuracy (%)")
axis.set(ylim=(0, 103))
axis.legend(loc="best")
figures.show("fig_transformers", figure)

# %% [markdown]
# ```{glue:figure} fig_transformers
# :alt: Training accuracy on the line between two transformers, ordinary ones, and with zero and nonzero fixed weights.
#
# I, Fig. 20 at the sizes of this page: mean training accuracy over pairs (thick) and each pair (thin), unaligned (profile {glue:text}`profile`).
# ```


# %%
def higher(e: Experiment, key: str) -> tuple[float, float]:
    """Accuracy half-way less that of ordinary transformers, in points."""
    middle = [
        100 * e.measured(one).accuracy["none"][:, places // 2]
        for one in (key, "ViT")
    ]
    value, error = over_clusters(middle[0] - middle[1])
    return value, max(error, 100 / len(e.y))


# %% tags=["hide-input", "nbval-check-output"] mystnb={"code_prompt_show": "Check I17.pronounced, I17.zero, I17.one and I17.remains"}
claims.check(
    "I17.pronounced", **judged(lambda e: drop(e, "ViT"), repeat=False), n=pairs
)

claims.check(
    "I17.zero", **judged(lambda e: higher(e, "W-ViT 0"), repeat=False), n=pairs
)

claims.check(
    "I17.one", **judged(lambda e: higher(e, "W-ViT 1"), repeat=False), n=pairs
)

claims.check(
    "I17.remains", **judged(lambda e: drop(e, "W-ViT 1"), repeat=False), n=pairs
)

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Show accuracies and drops"}
labels = {"ResNet": "ResNet"}
labels |= {f"W-ResNet {s}": rf"W-ResNet, $\sigma_F = {s}$" for s in (0, 2)}
labels |= {"syre-ResNet 2": r"syre-ResNet, $\sigma_F = 2$", "ViT": "ViT"}
labels |= {f"W-ViT {s}": rf"W-ViT, $\sigma_F = {s}$" for s in (0, 1)}
rows = []
for key, label in labels.items():
    found = experiment.measured(key)
    ends = 100 * found.accuracy["none"][:, [0, -1]].mean()
    drops = [f"{found.drop(by).mean():.0f}" for by in ("none", "correlation")]
    rows.append(
        [label, f"{ends:.0f}", f"{progress(experiment, key)[0]:.2f}", *drops]
    )
head = "ends (%) | $r$ | drop, unaligned (points) | aligned"
figures.table(f"means over {pairs} pairs | {head}", rows)

# %% [markdown]
# Below the printed sizes these are numbers of a path that runs, not of the papers, whether they resemble the figures or not.
# For transformers $r$ is taken over heads, hidden units and coordinates of the stream, which alignment by activations moves; it cannot undo a map inside a head.
# That settings such as $\sigma_F = 2$ "were harder to train" (I, App. G.4) is not tested here.
#
# ## What the printed sizes cost
#
# {glue:text}`measured` Estimated hours of one core, and of a GPU by constants that were fitted to measurements on one of 2024, to which the estimates agree within a factor of three:

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Show the prices"}
train = DataSpec("cifar10", "train90")
big = networks((3, 32, 32), 4, [128], (8, 16, 3), (384, 8, 6))
descents = {
    "ResNet": recipe,
    "ViT": Descent(200, 128, "adamw", 1e-3, schedule="cosine"),
    "CNN 128": Descent(20, 128, "adam", 5e-3),
}
price = {
    key: Run(big[key], descent, train, (0, 1)).prices()
    for key, descent in descents.items()
}
gpu = {key.split()[0]: p.gpu_hours for key, p in price.items()}
if at_print:
    here = seconds_per_image(big["ResNet"], 2)
    told = price["ResNet"].cpu_hours * 3600 / (2 * train.size * 100)
    measured = (
        f"Forwards and backwards, a ResNet20 of width 8 takes {here:.2g} s for "
        f"one image on a core of the machine of this run; the estimate, whose "
        f"constants are those of another machine, has {told:.2g} s."
    )
else:
    measured = "Estimated, not measured, at this profile."
PRICED = {
    "ResNet": "ResNet20, width 8, 100 epochs",
    "ViT": "transformer of I, App. G.4, 200 epochs",
    "CNN 128": "CNN of depth 16, 128 channels, 20 epochs",
}
figures.table(
    "a pair of | cores | GPU",
    (
        [words, f"{price[key].cpu_hours:.0f}", f"{price[key].gpu_hours:.1f}"]
        for key, words in PRICED.items()
    ),
)

# %% [markdown]
# Eight pairs of the four ResNets of I, Fig. 4 are {glue:text}`gpu_fig4` GPU hours; with six pairs of each other scale of the sweep of I, Fig. 3b, eight pairs of transformers and of CNNs it is {glue:text}`gpu_all`, in jobs of one pair each.
# A part of I, Figs. 3 and 4 that missed its criterion would ask for a second set of its networks.
# The one command is
#
#     make runs PROFILE=paper EXECUTOR=slurm
#
# after `python -m lmc_helpers.data.images cifar10` has said that the images are there, for otherwise others stand in
# ([](../cluster)), and then `make chapter NAME=image_networks PROFILE=paper` on a machine with a GPU, which follows the lines.

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Numbers for the text"}
streams = [
    RESNET.blocks + (group == 1) for group in (1, 2, 3)
]  # places where a norm or a sum is read
figures.numbers(
    data_says=data_says,
    left_out=figures.left_out(
        run.result() for listed in experiment.runs.values() for run in listed
    ),
    measured=measured,
    sizes=f"CNNs of {', '.join(map(str, widths))} channels, ResNets of "
    f"{2 + 6 * resnet[2]} layers with {resnet[0] * resnet[1]} to "
    f"{4 * resnet[0] * resnet[1]} channels, transformers of dimension {vit[0]} "
    f"and depth {vit[1]}, {pairs} pairs of each, trained on {images} images.",
    stream_places=", ".join(map(str, streams)),
    middle_loss=f"{experiment.losses(f'CNN {widths[-1]}')['direct'][:, places // 2].mean():.2f}",
    guess=f"{np.log(10):.2f}",
    stem_share=f"{100 * 12 / 27:.0f}",
    gpu_fig4=f"{4 * 8 * gpu['ResNet']:.0f}",
    gpu_all=f"{(4 * 8 + 4 * 6) * gpu['ResNet'] + 3 * 8 * gpu['ViT'] + 8 * gpu['CNN']:.0f}",
    rescalings=rescalings,
    images_used=len(experiment.y),
    distance=f"{100 * distance:.0f}",
    half_change=f"{100 * half_change:.0f}",
    gpu_six=f"{6 * gpu['ResNet']:.0f}",
    gpu_eight=f"{8 * gpu['ResNet']:.0f}",
    gpu_sixteen=f"{2 * 8 * gpu['ResNet']:.0f}",
    gpu_eight_ViT=f"{8 * gpu['ViT']:.0f}",
    gpu_sixteen_ViT=f"{2 * 8 * gpu['ViT']:.0f}",
    gpu_eight_CNN=f"{8 * gpu['CNN']:.0f}",
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
# **Read on.** [](53_asymmetric_mlps.ipynb): the same experiments with MLPs on MNIST. [](56_matchers.ipynb): what different matchers reach. [](35_symmetry_curves.ipynb): curves of equal loss along continuous symmetries.
#
# ## Exercises
#
# ```{exercise}
# Two residual networks are equal, but that in the second the inner channels of one block are rescaled by $t_i > 0$, $(\gamma_i, \beta_i, W_{\cdot i}) \mapsto (t_i \gamma_i, t_i \beta_i, W_{\cdot i}/t_i)$.
# By which factor does their average multiply what channel $i$ contributes to the outer convolution?
# For which $t_i$ is the factor at most 1.01?
# What does the group norm behind the outer convolution make of it if all $t_i$ are equal, and if they differ?
# Can a permutation of channels help?
# ```
#
# ```{solution}
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
# ```
#
# ```{exercise}
# Masks fix the same $s$ columns in every row of $W_Q$ of a head of size $h$, and nothing in $W_K$. Which $g \in \mathrm{GL}_h$ keep the fixed entries if they are all 0? Which if they are random numbers, for $s < h$ and for $s = h$? Compare with the masks of {prf:ref}`thm-heads`.
# ```
#
# ```{solution}
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
# ```
#
# ```{try}
# More images and longer training:
#
#     make chapter NAME=image_networks ARGS="-p images 5000 -p epochs [10,10,20]"
# ```

# %% tags=["hide-input"] mystnb={"code_prompt_show": "Versions and time"}
print(chapter.end())
