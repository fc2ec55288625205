# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Networks near random features miss targets that one neuron computes
#
# *What can a network not learn if its trained weights stay close to fixed random ones?*
#
# A single steep ReLU (proved). With 41 inputs, networks within the paper's limits miss it by at least **[[I8.trained:≥.2f]]** (**[[100 * I8.trained * 2**0.5 / 41**2:≥.1f]] %** of its norm); the paper guarantees 0.07 for some bias. A target with the paper's largest bias is missed by every network without biases, trained or not, by **[[100 * I8.hardness / (6 * 41**3 + 1):.0f]] %**.
#
# :::{glue:figure} fig_hardness
# :alt: Lower bounds on the error against the dimension from 41 to 140, on a logarithmic axis. For the largest bias the bound for every network without biases rises from [[I8.hardness:≥.0f]] to about a million; for a target without bias and networks near random features it rises from [[I8.trained:≥.2f]] to about a hundred; the constant of the paper's theorem is 0.07.
#
# Proved lower bounds on the $L^2$ error (logarithmic axis) over the number of inputs, and that of Theorem C.10. Dots: recorded.
# :::
#
# **How sure.** Proved (the first except with probability $2^{-d/2}$); evaluated at [[n(I8.trained)]] dimensions, 41 to 140, and compared with least squares on [[n(I8.after)]] and [[n(I8.homogeneous)]] random networks, recorded.
#
# | The paper says | We find | By how much |
# | --- | --- | --- |
# | "cannot approximate certain targets well" (sec. 4.5) | [true, for trained weights too](#I8.trained) | error [[I8.trained:≥.2f]] or more with $d = 41$ inputs |
# | Some bias $b_\star$ forces an error above $1/(10 \sqrt 2)$ (Thm C.10) | [true, for a simpler reason](#I8.hardness) | [[I8.hardness:≥.0f]] or more at $b_\star = 6 d^3 + 1$ |
# | Trained parts $W$ move outputs by $\lVert \alpha \rVert_2 \lVert W \rVert_F$ at most, $\alpha$ the output weights (Lemma C.8) | [true; 1/√2 of it suffices](#I8.stability) | [[I8.stability:≤.4f]] of it at most |
# | The factor $1/\sqrt 2$ is attained (ours) | [true](#I8.sharp_stability) | largest ratio [[I8.sharp_stability:.4f]] |
# | A bound for all output weights at once (ours) | [true](#I8.after) | up to [[100 * I8.after:≤.0f]] % of the least error |
# | A bound from homogeneity alone (ours) | [true](#I8.homogeneous) | up to [[100 * I8.homogeneous:≤.0f]] % of the least error |
#
# **Open.** Larger trained parts, by a proof, not by a run: with $d = 41$ inputs the bound is empty from $\lVert \alpha \rVert_2 \lVert W \rVert_F =$ [[2**0.5 * I8.trained:.0f]] on.
#
# **For the authors.** In Thm C.10 print *with probability at least $1 - \exp(-cd)$ …, for all $\alpha$ and $W$ satisfying …*, with $b_\star = 0$; likewise *for all $\alpha$* in Thm C.9.

# %% Parameters tags=["parameters"]
layers: int = 20  # random networks per setting of the exact checks
seed: int = 7001  # seed of every random number
profile: str = "laptop"  # name of these settings, shown in captions

# %% Check the parameters, and import
from lmc_helpers import chapter
from lmc_helpers.chapter import Integer

chapter.begin(globals(), layers=Integer(4, 10_000))

import math
from itertools import product

import torch

from lmc_helpers import claims, figures
from lmc_helpers._chapters.feature_hardness import (
    error_bound,
    feature_distance,
    high_degree_part,
    homogeneous_distance,
    nearest_features,
    nearest_to_biased,
    radial_variance,
    relu_distance,
)
from lmc_helpers.seeds import torch_generator

# %% [markdown]
# :::{need}
# You need: Gaussian inputs, orthogonal polynomials for one proof; from [](41_realization_cost.ipynb) the layer with fixed weights. {{ times }}
# :::
#
# | Letter | Meaning in this chapter |
# | --- | --- |
# | $d$, $m$ | number of inputs $x \sim N(0, I_d)$; number of neurons |
# | $F$, $f_i$ | fixed weights ($m \times d$); their rows, uniform on the sphere |
# | $W$, $w_i$ | trained parts of these weights; their rows |
# | $\alpha$ | output weights of the $m$ neurons |
# | $w_\star$, $b_\star$ | weights and bias of the target $\mathrm{ReLU}(w_\star^\top x + b_\star)$ |
# | $u$ | direction $w_\star/\lVert w_\star \rVert$ |
# | $r$ | length $\lVert x \rVert$ of the input |
# | $\tau_d$ | norm of the part of $\mathrm{ReLU}$ of Hermite degree $d$ or more |
# | $c$, $t$ | constant of the paper's theorem; probability of failure |
# | $\lVert \cdot \rVert$ | of functions, the norm of $L^2$ under the law of $x$ |
#
# ## In high dimension random neurons look past any one direction
#
# A network near random features combines neurons that look in random directions. In high dimension all of these are nearly at right angles to a direction $u$ that is to be learned, so that together they say little about the fine structure along it.

# %% Plot the idea
idea, angles_axis = figures.panels(height=3.0)
places = {3: (-0.98, 0.62), 10: (-0.29, 1.1), 41: (-0.12, 2.2)}
for dims, colour in ((3, "blue"), (10, "orange"), (41, "green")):
    made = torch_generator(seed, f"the idea {dims}")
    looks = torch.randn(20_000, dims, dtype=torch.float64, generator=made)
    along = (looks[:, 0] / looks.norm(dim=1)).numpy()
    style = {"histtype": "step", "density": True, "linewidth": 1.5}
    colour = f"book:{colour}"
    angles_axis.hist(along, 60, range=(-1, 1), color=colour, **style)
    name = f"$d = {dims}$, largest {abs(along).max():.2f}"
    angles_axis.text(*places[dims], name, color=colour, ha="right")
angles_axis.texts[0].set_ha("left")
angles_axis.set(xlabel="$f^\\top u$ of random directions", ylabel="density")
angles_axis.set(xlim=(-1, 1), ylim=(0, 2.8))
figures.show("fig_directions", idea)

# %% [markdown]
# :::{glue:figure} fig_directions
# :name: fig-hard-directions
# :alt: Histograms of the cosine between random directions and a fixed one. Flat for dimension 3, bell-shaped for 10, a narrow bell around 0 for 41.
#
# Cosines of the angles between 20 000 random directions $f$ and a fixed unit vector $u$, and the largest of them.
# :::
#
# ## Small trained parts add little to random features
#
# Bürgin, Herbst, Lin & Jegelka {cite:p}`buergin2026` compare $f_{\mathrm{asym}}(x) = \alpha^\top \mathrm{ReLU}((F + W) x)$ (I, App. C.4) with its random features, $f_0$, which is $f_{\mathrm{asym}}$ with $W = 0$. I, Lemmas C.7 and C.8 bound the distance of the two by $\lVert \alpha \rVert_2 \lVert W \rVert_F$. They hold, with a better constant.
#
# :::{prf:lemma} Stability
# :label: lem-stability
# $\lVert \mathrm{ReLU}((f_i + w_i)^\top x) - \mathrm{ReLU}(f_i^\top x) \rVert \le \lVert w_i \rVert/\sqrt 2$, with equality if $w_i$ is a non-negative multiple of $f_i$. So $\lVert f_{\mathrm{asym}} - f_0 \rVert \le \lVert \alpha \rVert_2\, \lVert W \rVert_F/\sqrt 2$, and this constant is sharp for every $m$.
# :::
#
# :::{prf:proof}
# For numbers $y$, $z$ the squares of $\mathrm{ReLU}(y) - \mathrm{ReLU}(z)$ and $\mathrm{ReLU}(-y) - \mathrm{ReLU}(-z)$ add up to at most $(y - z)^2$, with equality if $yz \ge 0$.
# Average over $x$ and $-x$.
# The second statement is the Cauchy–Schwarz inequality, with equality if all rows of $F$ are equal, $w_i = s_i f_i$, and $s$ is
# proportional to $\alpha \ge 0$.
# :::

# %% Distances of two neurons, and of networks from their random features
# ‖ReLU(u·x) − ReLU(f·x)‖² = |w|²/2 − |u||f| (sin θ − θ cos θ)/π, u = f + w, with
# the angle θ between u and f
f, e = torch.eye(6, dtype=torch.float64)[:2]
for name, w in (
    ("w = f", f),
    ("w ⊥ f", e),
    ("w = −f/2", -f / 2),
    ("w = −2f", -2 * f),
):
    distance = relu_distance(f + w, f) / w.norm()
    print(f"{name}: {distance:.4f} |w|, 1/√2 = {0.5**0.5:.4f}")

stability, supremum = [], []
for number, m in product(range(layers), (1, 2, 5, 16)):
    generator = torch_generator(seed, f"stability {number} {m}")
    F = torch.randn(m, 6, dtype=torch.float64, generator=generator)
    W = torch.randn(m, 6, dtype=torch.float64, generator=generator)
    alpha = torch.randn(m, dtype=torch.float64, generator=generator)
    same, s = F[:1].expand(m, -1), alpha.abs()[:, None]
    for f, w, a in (
        (F, W, alpha),
        (F, s * F, alpha),  # w_i = s_i f_i
        (same, s * same, alpha.abs()),  # all rows of F equal, s ∝ α ≥ 0
    ):
        distance = feature_distance(f, w, a) / w.norm()  # ‖f_asym − f_0‖/‖W‖
        stability.append((distance / a.norm()).item())
        supremum.append((distance / a.abs().max()).item())

# %%
claims.check("I8.stability", stability, rival=max(supremum))

# %% [markdown]
# ## With a large bias, the printed target is out of reach for every network
#
# I, Theorem C.10 takes the target $\mathrm{ReLU}(w_\star^\top x + b_\star)$ with $\lVert w_\star \rVert = d^2$ and $d > 40$. For every $w_\star$ there is a bias with $|b_\star| \le 6 d^3 + 1$ such that for all $\alpha$, $W$ with
# $\lVert \alpha \rVert_\infty < e^{cd}/(48 m d^2)$ and $\lVert \alpha \rVert_2 \lVert W \rVert_F \le 1/(10 \sqrt 2)$ the error exceeds $1/(10 \sqrt 2)$, with probability $1 - e^{-cd}$ over $F$.
#
# The theorem is true. But its networks have no biases, so they are {term}`positively homogeneous <homogeneous activation>`: $f(sx) = s f(x)$ for $s > 0$.
# The target need not be, as $b_\star$ may be chosen. With the largest one, neither the draw of $F$ nor the conditions on $\alpha$ and $W$ are needed:
#
# :::{prf:theorem} Networks without biases
# :label: thm-homogeneous
# Let $x \sim N(0, I_d)$, $b_\star \ge 0$, and $g$ positively homogeneous. With the length $r$ of $x$,
#
# $$
# \begin{aligned}
# & \bigl\lVert g - \mathrm{ReLU}(w_\star^\top x + b_\star) \bigr\rVert \\
# & \quad \ge b_\star \sqrt{\frac{\operatorname{Var} r}{d}} \\
# & \qquad - \bigl\lVert \mathrm{ReLU}(-w_\star^\top x - b_\star) \bigr\rVert , \\
# & \operatorname{Var} r = d - 2\, \frac{\Gamma(\frac{d + 1}{2})^2}{\Gamma(\frac d2)^2} .
# \end{aligned}
# $$
#
# For $\lVert w_\star \rVert = d^2$, $b_\star = 6 d^3 + 1$ and $d > 40$ the right-hand side is more than 40 000: I, Theorem C.10 holds with this $b_\star$ for all $m$, $\alpha$, $W$ and every $F$, however large the weights are and whenever they are chosen.
# :::
#
# :::{prf:proof}
# The map $Q h = h - \frac rd\, \mathbb E[\, r h \mid x/r\, ]$ is the orthogonal projector off the positively homogeneous functions, since $r$ is independent of $x/r$ and $\mathbb E\, r^2 = d$.
# So $\lVert g - h \rVert \ge \lVert Q h \rVert$.
# For $h = \mathrm{ReLU}(w_\star^\top x + b_\star)$, which is $w_\star^\top x + b_\star + \mathrm{ReLU}(-w_\star^\top x - b_\star)$, the first term has $Q w_\star^\top x = 0$,
# the second $Q b_\star = b_\star\, (1 - \frac rd\, \mathbb E\, r)$, of norm $b_\star \sqrt{1 - (\mathbb E\, r)^2/d}$, and the third does not grow under $Q$.
# With $\lVert w_\star \rVert = d^2$ and $b_\star > 6 d^3$ the third term is below $d^2 e^{-9 d^2}$, and $\operatorname{Var} r$ grows with $d$, towards $\frac12$, so that the bound grows with $d$ too.
# :::
#
# In all dimensions from 41 to 140, with the same bound at $b_\star = 0$ for comparison:

# %%
allowed = range(41, 141)  # d; I, Theorem C.10 asks for d > 40
distances = [homogeneous_distance(d, d**2, 6 * d**3 + 1) for d in allowed]
unbiased = max(homogeneous_distance(d, d**2, 0.0) for d in allowed)
claims.check("I8.hardness", distances, rival=unbiased)

# %% [markdown]
# So I, Theorem C.10, which leaves $b_\star$ open (as I, Theorem C.9 does in the form in which it is quoted), does not by itself tell random features from trained ones: with this $b_\star$ it separates networks without biases from a target with one.
# The network with full feature learning to which they are compared, I, (172), has biases.
# The argument of I, section 4.5 needs a target that one neuron without bias computes.
#
# ## Without a bias, the trade-off is real, also for weights chosen after the features
#
# In the printed order of quantifiers $\alpha$ and $W$ are chosen *before* $F$ is drawn, so that for other biases the theorem says nothing about trained weights. Its proof works on one event for all $\alpha$, which I, Theorem C.9, in the order in which it is quoted, does not give.
# (For $b_\star = 0$ one event cannot serve all targets: for $w_\star = d^2 f_1$ the error is 0 with $\alpha_1 = d^2$, which the condition on $\alpha$ allows for large $d$.
# So $w_\star$ is fixed before $F$.)
# The statement that section 4.5 needs is true, for a target without bias and with all constants known:
#
# :::{prf:theorem} Weights that are chosen after the features
# :label: thm-after
# Let $w_\star \in \mathbb R^d$, $d \ge 2$, and $f_1, \dots, f_m$ independent and uniform on the sphere, $0 < t < 1$. With probability at least $1 - t$ over them, for all $\alpha$ and $W$ at once
#
# $$
# \begin{aligned}
# & \Bigl\lVert \sum_i \alpha_i \mathrm{ReLU}((f_i + w_i)^\top x) \\
# & \qquad - \mathrm{ReLU}(w_\star^\top x) \Bigr\rVert \\
# & \quad \ge \tau_d \Bigl( \lVert w_\star \rVert - \frac{2^{1-d}}{t}\, m \lVert \alpha \rVert_\infty \Bigr) \\
# & \qquad - \tfrac{1}{\sqrt 2} \lVert \alpha \rVert_2 \lVert W \rVert_F ,
# \end{aligned}
# $$
#
# where $\tau_d$ is the norm of the part of Hermite degree $d$ and more of $\mathrm{ReLU}$. In particular I, Theorem C.10 holds for $b_\star = 0$ with $c = \frac12 \ln 2$, and $\alpha$ and $W$ may depend on $F$.
# :::
#
# The proof (Evidence) tests the error against the fine structure of the target, its part of degree $d$ and more. Of this a feature $f_i$ holds at most the share $|f_i^\top u|^d$, on average $2^{1-d}$, which is a statement about the features only, so that it holds for all $\alpha$ at once. {prf:ref}`lem-stability` adds $W$.
#
# The error that the theorem guarantees at the printed limits of $\alpha$ and $W$:

# %%
# b⋆ = 0, c = (ln 2)/2 and weights at the printed limits
dimensions = range(41, 141)
limit = 1 / (10 * math.sqrt(2))  # ‖α‖₂ ‖W‖_F
guaranteed, by_size = [], []
for d in dimensions:
    t, length = 2 ** (-d / 2), d**2  # probability of failure, ‖w⋆‖
    mass = 2 ** (d / 2) / (48 * d**2)  # m ‖α‖_∞
    guaranteed.append(error_bound(d, length, mass, t, limit))
    by_size.append((length - mass - limit) / math.sqrt(2))

# %%
claims.check("I8.trained", guaranteed, rival=min(by_size))

# %% Plot the guaranteed errors
figure, axis = figures.panels(height=2.6)
axis.plot(dimensions, distances, color="book:green")
axis.text(
    90, 1e6, "largest bias: every network without biases", color="book:green"
)
axis.plot(dimensions, guaranteed, color="book:blue")
axis.text(90, 110, "no bias: networks near random features", color="book:blue")
axis.axhline(limit, color="book:black", linestyle=":")
axis.text(90, 0.13, r"the paper's bound with some bias, $1/(10\sqrt{2}) = 0.07$")
for text in axis.texts:
    text.set(ha="center", fontsize=10)
for name, digits, colour in (
    ("I8.hardness", 0, "book:green"),
    ("I8.trained", 2, "book:blue"),
):
    least = claims.recorded(name)["value"]  # at d = 41
    axis.plot(41, least, "o", color=colour)
    style = {"ha": "right", "va": "center", "color": colour, "fontsize": 10}
    shown = math.floor(least * 10**digits) / 10**digits  # a lower bound
    said = f"{shown:,.{digits}f}".replace(",", "\u2009")
    axis.text(39.5, least, said, **style)
axis.set(yscale="log", xlabel="number of inputs $d$", xlim=(24, 141))
axis.set(
    ylabel="error at least", ylim=(0.02, 2e7), xticks=[41, 60, 80, 100, 120, 140]
)
axis.set_yticks([1e-1, 1e1, 1e3, 1e5, 1e7])
figures.show("fig_hardness", figure)
figures.numbers(
    growth=math.log(guaranteed[-1] / guaranteed[0])
    / math.log(dimensions[-1] / dimensions[0])
)

# %% [markdown]
# At $d = 41$ it is {glue:text}`guaranteed[0]:≥.2f`, and it grows like $d$ to the power {glue:text}`growth:.2f` up to $d = 140$ (to the power $\frac54$ in the limit); the printed $1/(10 \sqrt 2)$ is far from it.
# "Centre-dominated" is, however, a narrow regime here. A combination of the features with
# the target's norm $d^2/\sqrt 2$ has $\lVert \alpha \rVert_2 \ge d^2/\sqrt m$, and then the hypothesis leaves $\lVert W \rVert_F \le \lVert F \rVert_F/(10 \sqrt 2\, d^2)$.
#
# ## What it means for merging networks
#
# Networks that can be averaged without alignment, because their weights hardly leave fixed random ones, pay for it in what they can learn. As long as the trained parts stay small, such a network remains one of random features, and fine structure along single directions of the data stays out of its reach in high dimension.
# How small the trained parts of networks in use are is another question; [](44_gaussian_mixture.ipynb) finds that they grow with training.
#
# **Read on.** [](43_center_gap.ipynb): how far fixed weights keep neurons apart. [](46_chord_deviation.ipynb): what small trained parts are good for. [](53_asymmetric_mlps.ipynb): networks with fixed weights on MNIST.

# %% [markdown]
# ## Evidence
#
# ### The constant of stability is attained
#
# The ratio of {prf:ref}`lem-stability` reaches $1/\sqrt 2$ for networks with equal rows of $F$ and trained parts along them.

# %%
claims.check("I8.sharp_stability", max(stability), n=len(stability))

# %% [markdown]
# ### The bound from homogeneity against least squares
#
# The bound of {prf:ref}`thm-homogeneous` over the error of least squares over all $\alpha$ on random features, for biases of the printed size against $\lVert w_\star \rVert$. Before that, the size of the bound at the least dimension of I, Theorem C.10.

# %% Bound from homogeneity, and least squares on random features
d, length = 41, 41**2  # the least dimension of I, Theorem C.10, and ‖w⋆‖
bias = 6 * d**3 + 1  # the largest allowed b⋆
left = math.sqrt(radial_variance(d) / d)  # of b⋆, off the homogeneous functions
print(f"every network without biases errs by at least {bias * left:.0f}")

ratios, without_radius = [], []
for number, d, m in product(range(layers), (2, 3, 5), (4, 32, 128)):
    generator = torch_generator(seed, f"bias {number} {d} {m}")
    f = torch.randn(m, d, dtype=torch.float64, generator=generator)
    w = torch.randn(d, dtype=torch.float64, generator=generator)  # w⋆
    bias = 6 * d * float(w.norm())  # b⋆/‖w⋆‖ as in I, Theorem C.10, but for 1/d²
    bound = homogeneous_distance(d, float(w.norm()), bias)
    _, error = nearest_to_biased(f, w, bias)  # least squares over all α
    ratios.append(bound / error)
    without_radius.append(bias / error)

# %%
claims.check("I8.homogeneous", ratios, rival=min(without_radius))

# %% [markdown]
# ### Proof of the theorem on weights chosen after the features
#
# :::{prf:proof}
# Of {prf:ref}`thm-after`. Let $\mathrm{ReLU} = \sum_l a_l p_l$ in orthonormal Hermite polynomials and $\psi = \tau_d^{-1} \sum_{l \ge d} a_l p_l(u^\top x)$, a unit vector. Then $\langle \mathrm{ReLU}(w_\star^\top x), \psi \rangle = \lVert w_\star \rVert \tau_d$, and, as
# $\mathbb E\, p_l(f_i^\top x)\, p_l(u^\top x) = (f_i^\top u)^l$,
#
# $$
# \begin{aligned}
# & \bigl| \langle \mathrm{ReLU}(f_i^\top x), \psi \rangle \bigr| \\
# & \quad = \tau_d^{-1} \Bigl| \sum_{l \ge d} a_l^2\, (f_i^\top u)^l \Bigr| \\
# & \quad \le \tau_d\, | f_i^\top u |^d .
# \end{aligned}
# $$
#
# By duality the error of $f_0$ is at least $\lVert w_\star \rVert \tau_d - \lVert \alpha \rVert_\infty \tau_d \sum_i | f_i^\top u |^d$, for all $\alpha$ at once: the sum depends on the features only. Its mean is $m$ times
#
# $$
# \mathbb E\, | f_i^\top u |^d = \frac{\Gamma(\frac{d+1}{2})\, \Gamma(\frac d2)}{\sqrt \pi\; \Gamma(d)} = 2^{1-d}
# $$
#
# by the duplication formula; Markov's inequality and {prf:ref}`lem-stability` give the bound.
# With $t = 2^{-d/2}$ and $m \lVert \alpha \rVert_\infty \le 2^{d/2}/(48 d^2)$ it is at least $\tau_d (d^2 - \frac{1}{24 d^2}) - \frac1{20}$.
# Here $\tau_d \ge a_l$ for the even $l \in \{d, d+1\}$, and $a_l^2 l^3$ does not decrease from $l = 4$ on, because
# $a_{l+2}^2/a_l^2 = (l-1)^2/((l+1)(l+2))$; so $a_l^2 \ge 64\, a_4^2\, l^{-3} = \frac{4}{3\pi}\, l^{-3}$, and $\tau_d d^2 \ge 0.65\, d^2 (d+1)^{-3/2} > \frac12$ for $d \ge 4$.
# :::
#
# ### The bound for all output weights against least squares
#
# The bound of this proof with the correlations $\sum_i |f_i^\top u|^d$ measured, over the error of least squares over all $\alpha$:

# %% Bound for all output weights, and least squares
after, no_correlation = [], []
for number, d, m in product(range(layers), range(2, 7), (1, 4, 16, 64, 128)):
    generator = torch_generator(seed, f"features {number} {d} {m}")
    f = torch.randn(m, d, dtype=torch.float64, generator=generator)
    w = torch.randn(d, dtype=torch.float64, generator=generator)  # w⋆
    f = f / f.norm(dim=-1, keepdim=True)
    alpha, error = nearest_features(f, w)  # least squares over all α
    tau = high_degree_part(d)  # τ_d
    correlations = (f @ (w / w.norm())).abs().pow(d).sum()  # Σ |f_i·w|^d
    bound = tau * w.norm() - tau * (correlations * alpha.abs().max())
    error = error.clamp(min=1e-6)
    after.append((bound / error).item())
    no_correlation.append((tau * w.norm() / error).item())

# %%
claims.check("I8.after", after, rival=max(no_correlation))

# %% [markdown]
# ### Exercises
#
# :::{exercise}
# Show without integrals that $\lVert \mathrm{ReLU}(f^\top x) \rVert = \lVert f \rVert/\sqrt 2$, and with it that $w = -f$ attains the bound of {prf:ref}`lem-stability`, too. Is $-f$ a non-negative multiple of $f$?
# :::
#
# :::{solution}
# $\mathrm{ReLU}(s)^2 + \mathrm{ReLU}(-s)^2 = s^2$, and $x$ and $-x$ have one law, so the mean square is half of $\mathbb E (f^\top x)^2 = \lVert f \rVert^2$.
# For $w = -f$ the difference is $\mathrm{ReLU}(f^\top x)$, of norm $\lVert w \rVert/\sqrt 2$.
# It is not a non-negative multiple: the lemma says "if", not "only if".
# What is needed is that $(f + w)^\top x$ and $f^\top x$ never have opposite signs, that is $w = s f$ with $s \ge -1$.
# :::
#
# :::{exercise}
# Check $\mathbb E\, |f_i^\top u|^d = 2^{1-d}$ for $d = 2$ and $d = 3$ by hand. For how many random directions is $\sum_i |f_i^\top u|^d = 1$ to be expected for $d = 41$?
# :::
#
# :::{solution}
# $d = 2$: $\mathbb E \cos^2 = \frac12$. $d = 3$: $f_i^\top u$ is uniform on $[-1, 1]$, and the mean of its cubed absolute value is $\frac14$. For $d = 41$ it takes $2^{40} \approx 10^{12}$ directions.
# :::
#
# :::{exercise}
# Which positively homogeneous function is nearest to the constant $b > 0$ in $L^2$ under $x \sim N(0, I_d)$, and how far is it? What does the distance tend to for large $d$?
# :::
#
# :::{solution}
# $g(x) = r\, q(x/r)$ with the length $r$, which is independent of $x/r$.
# For each direction $\mathbb E (r q - b)^2 = q^2 d - 2qb\, \mathbb E\, r + b^2$ is least at $q = b\, \mathbb E\, r/d$, where it is $b^2 (1 - (\mathbb E\, r)^2/d) = b^2 \operatorname{Var}(r)/d$.
# So $g = b\, (\mathbb E\, r/d)\, \lVert x \rVert$, at the distance $b \sqrt{\operatorname{Var}(r)/d} \approx b/\sqrt{2d}$, as $\operatorname{Var}(r) \to \frac12$: in high dimension all inputs have nearly one length, and a bias is nearly homogeneous.
# :::
# :::{try}
# Ten times the random networks; the largest ratios of the bounds to least squares, `I8.after` and `I8.homogeneous`, keep their verdicts:
#
#     make chapter NAME=feature_hardness ARGS="-p layers 200"
# :::

# %% Versions and time
print(chapter.end())
