# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Hardness near random features
#
# :::{summary}
# **Question.** Large fixed weights give each neuron its place. What do they take from learning?
#
# **The paper.** Bürgin, Herbst, Lin & Jegelka (I) {cite:p}`buergin2026` argue that a network whose weights stay near fixed random ones cannot approximate certain targets (I, section 4.5), and prove it for a target with a bias (I, Theorem C.10).
#
# **What we find.** The argument is right: we prove it with all constants, for weights that are trained and a target without bias {claim}`I8.trained`. I, Theorem C.10 is true {claim}`I8.hardness`, but for a simple reason: the target may have a bias and the networks have none.
#
# **Why it matters.** Networks that can be averaged without alignment because their weights hardly leave fixed random ones pay for it in what they can learn.
# :::
#
# :::{need}
# You need: Gaussian inputs, orthogonal polynomials for one proof; from [](41_realization_cost.ipynb) the layer with fixed weights.
# Letters: $r = \lVert x \rVert$, $\alpha$ the output weights, $\tau_d$ the norm of the part of ReLU of Hermite degree $d$ or more. {{ times }}
# :::

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
# ## The idea
#
# A network near random features combines neurons that look in random directions. In high dimension all of them are nearly at right angles to a direction $w$ that is to be learned, so that together they say little about the fine structure along it.

# %% Plot the idea
idea, angles_axis = figures.panels(height=3.2)
for dims, colour in ((3, "book:blue"), (10, "book:orange"), (41, "book:green")):
    made = torch_generator(seed, f"the idea {dims}")
    looks = torch.randn(20_000, dims, dtype=torch.float64, generator=made)
    along = (looks[:, 0] / looks.norm(dim=1)).numpy()
    name = f"$d = {dims}$, largest of 20 000: {abs(along).max():.2f}"
    style = {"histtype": "step", "density": True, "linewidth": 1.5, "label": name}
    angles_axis.hist(along, 60, range=(-1, 1), color=colour, **style)
angles_axis.set(xlabel="$f^\\top w$ of random directions", ylabel="density")
angles_axis.set(xlim=(-1, 1), ylim=(0, 4.6))
angles_axis.legend(loc="upper center")
figures.show("fig_directions", idea)

# %% [markdown]
# :::{glue:figure} fig_directions
# :alt: Histograms of the cosine between random directions and a fixed one. Flat for dimension 3, bell-shaped for 10, a narrow bell around 0 for 41.
#
# Cosines of the angles between random directions $f$ and a fixed unit vector $w$, and the largest of them.
# :::
#
# ## Identifiability against feature learning
#
# I, App. C.4 compares $f(x) = \alpha^\top \mathrm{ReLU}((F + W) x)$ with the random features of $F$, rows uniform on the sphere, $x \sim N(0, I_d)$.
# I, Lemmas C.7 and C.8 bound the distance of the two by $\lVert \alpha \rVert_2 \lVert W \rVert_F$; they hold, with a better constant.
# Here $m$ is the number of neurons.
# Norms of functions are those of $L^2$ under this law of $x$; $f_{\mathrm{asym}}$ is $f$, and $f_0$ is $f$ with $W = 0$.
#
# :::{prf:lemma} Stability
# :label: lem-stability
# $\lVert \mathrm{ReLU}((f + w)^\top x) - \mathrm{ReLU}(f^\top x) \rVert \le \lVert w \rVert/\sqrt 2$, with equality if $w$ is a non-negative multiple of $f$. So $\lVert f_{\mathrm{asym}} - f_0 \rVert \le \lVert \alpha \rVert_2\, \lVert W \rVert_F/\sqrt 2$, and this constant is sharp for every $m$.
# :::
#
# :::{prf:proof}
# For numbers $a$, $b$ the squares of $\mathrm{ReLU}(a) - \mathrm{ReLU}(b)$ and $\mathrm{ReLU}(-a) - \mathrm{ReLU}(-b)$ add up to at most $(a - b)^2$, with equality if $ab \ge 0$.
# Average over $x$ and $-x$.
# The second statement is the Cauchy–Schwarz inequality, with equality if all rows of $F$ are equal, $w_i = s_i f_i$, and $s$ is
# proportional to $\alpha \ge 0$.
# :::
#
# The distance of two ReLU neurons, in closed form, in units of $\lVert w \rVert$; then the ratio of the lemma for random networks and for those with equality.

# %%
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
claims.check("I8.sharp_stability", max(stability), n=len(stability))

# %% [markdown]
# ## A target that no network without biases reaches
#
# I, Theorem C.10 bounds the error for a target $\mathrm{ReLU}(w_\star^\top x + b_\star)$, $\lVert w_\star \rVert = d^2$, from below: for every $w_\star$ there is $b_\star$ with $|b_\star| \le 6 d^3 + 1$ such that for all $\alpha$, $W$ with
# $\lVert \alpha \rVert_\infty < e^{cd}/(48 m d^2)$ and $\lVert \alpha \rVert_2 \lVert W \rVert_F \le 1/(10 \sqrt 2)$, with probability $1 - e^{-cd}$ over $F$, the error exceeds $1/(10 \sqrt 2)$.
# The theorem is true.
# But its networks have no biases, so they are {term}`positively homogeneous <homogeneous activation>`, $f(sx) = s f(x)$ for $s > 0$;
# the target need not be, as $b_\star$ may be chosen, and with the largest one neither the draw of $F$ nor the conditions on $\alpha$ and $W$ are needed:
#
# :::{prf:theorem} Networks without biases
# :label: thm-homogeneous
# Let $x \sim N(0, I_d)$, $b \ge 0$, and $g$ positively homogeneous. With the length $r$ of $x$,
#
# $$
# \begin{aligned}
# & \bigl\lVert g - \mathrm{ReLU}(w^\top x + b) \bigr\rVert \\
# & \quad \ge b \sqrt{\frac{\operatorname{Var} r}{d}} \\
# & \qquad - \bigl\lVert \mathrm{ReLU}(-w^\top x - b) \bigr\rVert , \\
# & \operatorname{Var} r = d - 2\, \frac{\Gamma(\frac{d + 1}{2})^2}{\Gamma(\frac d2)^2} .
# \end{aligned}
# $$
#
# For $\lVert w \rVert = d^2$, $b = 6 d^3 + 1$ and $d > 40$ the right-hand side is more than 40 000: I, Theorem C.10 holds with this $b_\star$ for all $m$, $\alpha$, $W$ and every $F$, however large the weights are and whenever they are chosen.
# :::
#
# :::{prf:proof}
# The map $Q h = h - \frac rd\, \mathbb E[\, r h \mid x/r\, ]$ is the orthogonal projector off the positively homogeneous functions, since $r$ is independent of $x/r$ and $\mathbb E\, r^2 = d$.
# So $\lVert g - h \rVert \ge \lVert Q h \rVert$.
# For $h = \mathrm{ReLU}(w^\top x + b)$, which is $w^\top x + b + \mathrm{ReLU}(-w^\top x - b)$, the first term has $Q w^\top x = 0$,
# the second $Q b = b\, (1 - \frac rd\, \mathbb E\, r)$, of norm $b \sqrt{1 - (\mathbb E\, r)^2/d}$, and the third does not grow under $Q$.
# With $\lVert w \rVert = d^2$ and $b > 6 d^3$ the third term is below $d^2 e^{-9 d^2}$, and $\operatorname{Var} r$ grows with $d$, towards $\frac12$, so that the bound grows with $d$ too.
# :::
#
# So I, Theorem C.10, which leaves $b_\star$ open (as I, Theorem C.9 does in the form in which it is quoted), does not by itself tell random features from trained ones: with this $b_\star$ it separates networks without biases from a target with one.
# The network with full feature learning of I, (172), to which they are compared, has biases.
# For the argument of I, section 4.5 one wants a target that one neuron without bias computes; that is the next section.
# First the size of the bound, and its ratio to the error of least squares over all $\alpha$:

# %%
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
allowed = range(41, 141)
distances = [homogeneous_distance(d, d**2, 6 * d**3 + 1) for d in allowed]
unbiased = max(homogeneous_distance(d, d**2, 0.0) for d in allowed)
claims.check("I8.hardness", distances, rival=unbiased)
claims.check("I8.homogeneous", ratios, rival=min(without_radius))

# %% [markdown]
# ## Weights that are chosen after the features
#
# In the printed order of quantifiers $\alpha$ and $W$ are chosen *before* $F$ is drawn, so that for other biases the theorem says nothing about trained weights; its proof works on one event for all $\alpha$, which I, Theorem C.9, in the order in which it is quoted, does not give.
# (For $b_\star = 0$ one event cannot serve all targets: for $w_\star = d^2 f_1$ the error is 0 with $\alpha_1 = d^2$, which the condition on $\alpha$ allows for large $d$.
# So $w_\star$ is fixed before $F$.)
# The statement that I, section 4.5 needs is true, for a target without bias and with all constants known:
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
# :::{prf:proof}
# Let $w = w_\star/\lVert w_\star \rVert$ and $\mathrm{ReLU} = \sum_l a_l h_l$ in orthonormal Hermite polynomials, $\psi = \tau_d^{-1} \sum_{l \ge d} a_l h_l(w^\top x)$, a unit vector. Then $\langle \mathrm{ReLU}(w_\star^\top x), \psi \rangle = \lVert w_\star \rVert \tau_d$, and, as
# $\mathbb E\, h_l(f^\top x)\, h_l(w^\top x) = (f^\top w)^l$,
#
# $$
# \begin{aligned}
# & \bigl| \langle \mathrm{ReLU}(f_i^\top x), \psi \rangle \bigr| \\
# & \quad = \tau_d^{-1} \Bigl| \sum_{l \ge d} a_l^2\, (f_i^\top w)^l \Bigr| \\
# & \quad \le \tau_d\, | f_i^\top w |^d .
# \end{aligned}
# $$
#
# By duality the error of $f_0$ is at least $\lVert w_\star \rVert \tau_d - \lVert \alpha \rVert_\infty \tau_d \sum_i | f_i^\top w |^d$, for all $\alpha$ at once: the sum depends on the features only. Its mean is $m$ times
#
# $$
# \mathbb E\, | f^\top w |^d = \frac{\Gamma(\frac{d+1}{2})\, \Gamma(\frac d2)}{\sqrt \pi\; \Gamma(d)} = 2^{1-d}
# $$
#
# by the duplication formula; Markov's inequality and {prf:ref}`lem-stability` give the bound.
# With $t = 2^{-d/2}$ and $m \lVert \alpha \rVert_\infty \le 2^{d/2}/(48 d^2)$ it is at least $\tau_d (d^2 - \frac{1}{24 d^2}) - \frac1{20}$.
# Here $\tau_d \ge a_l$ for the even $l \in \{d, d+1\}$, and $a_l^2 l^3$ does not decrease from $l = 4$ on, because
# $a_{l+2}^2/a_l^2 = (l-1)^2/((l+1)(l+2))$; so $a_l^2 \ge 64\, a_4^2\, l^{-3} = \frac{4}{3\pi}\, l^{-3}$, and $\tau_d d^2 \ge 0.65\, d^2 (d+1)^{-3/2} > \frac12$ for $d \ge 4$.
# :::
#
# The bound grows like $d^{5/4}$ (below); the printed $1/(10 \sqrt 2)$ is far from it. "Centre-dominated" is, however, a narrow regime here: a combination of the features with
# the target's norm $d^2/\sqrt 2$ has $\lVert \alpha \rVert_2 \ge d^2/\sqrt m$, and then the hypothesis leaves $\lVert W \rVert_F \le \lVert F \rVert_F/(10 \sqrt 2\, d^2)$.
#
# The bound with measured correlations, against the error of least squares over all $\alpha$:

# %%
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

# %% Plot the guaranteed error
figure, axis = figures.panels(height=3.6)
label = r"$b_\star = 6d^3 + 1$, every network without biases"
axis.plot(dimensions, distances, "--", color="book:green", label=label)
label = r"$b_\star = 0$, near random features"
axis.plot(dimensions, guaranteed, color="book:blue", label=label)
style = {"color": "book:black", "linestyle": ":", "label": "Thm C.10"}
axis.axhline(limit, **style)
axis.set(yscale="log", xlabel="dimension $d$")
axis.set_ylabel("lower bound on the error")
axis.set_ylim(0.03, 3e6)
axis.legend(loc="lower right", bbox_to_anchor=(1, 0.1))
figures.show("fig_hardness", figure)
figures.numbers(
    least_41=guaranteed[0],
    distance_41=f"{distances[0]:.0f}",
    growth=math.log(guaranteed[-1] / guaranteed[0])
    / math.log(dimensions[-1] / dimensions[0]),
)

# %% [markdown]
# :::{glue:figure} fig_hardness
# :alt: Lower bounds on the error against the dimension, on a logarithmic axis. For the largest bias the bound for every network without biases rises from tens of thousands to about a million; for a target without bias and networks near random features it rises from about twenty to about a hundred; the constant of the theorem is below a tenth.
#
# Lower bounds on the error for targets with $\lVert w_\star \rVert = d^2$: with the largest bias for every network without biases ({prf:ref}`thm-homogeneous`), without bias for weights at the limits of I, Theorem C.10 ({prf:ref}`thm-after`), and the bound of I, Theorem C.10, $1/(10 \sqrt 2)$.
# :::
#
# At $d = 41$ the error that {prf:ref}`thm-after` guarantees is {glue:text}`least_41:.1f`, and it grows like $d^a$ with $a =$ {glue:text}`growth:.2f` up to $d = 140$.
#
# ## What we found that the paper does not say
#
# - With the bias $b_\star = 6 d^3 + 1$ that it allows, I, Theorem C.10 holds for every network without biases, trained or not: such a network misses the target by at least {glue:text}`distance_41` at $d = 41$ ({prf:ref}`thm-homogeneous`).
#   With $b_\star$ left open it does not by itself show the trade-off of I, section 4.5.
# - The trade-off is real: for a target without bias the theorem holds in the order that its use requires, with weights that are trained, by a short proof ({prf:ref}`thm-after`).
# - The stability lemmas hold with the constant $1/\sqrt 2$, which is sharp.
#
# ## What it means for merging networks
#
# There is a price for neurons that keep their places by force of fixed weights: as long as the trained parts stay small, the network remains one of random features, and single directions of the data stay out of its reach in high dimension.
# How small the trained parts of networks in use are is another question; [](44_gaussian_mixture.ipynb) finds that they grow with training.
#
# **Read on.** [](43_center_gap.ipynb): how far fixed weights keep neurons apart. [](46_chord_deviation.ipynb): what small trained parts are good for. [](53_asymmetric_mlps.ipynb): networks with fixed weights on MNIST.
#
# ## Exercises
#
# :::{exercise}
# Show without integrals that $\lVert \mathrm{ReLU}(f^\top x) \rVert = \lVert f \rVert/\sqrt 2$, and with it that $w = -f$ attains the bound of {prf:ref}`lem-stability`, too. Is $-f$ a non-negative multiple of $f$?
# :::
#
# :::{solution}
# $\mathrm{ReLU}(s)^2 + \mathrm{ReLU}(-s)^2 = s^2$, and $x$ and $-x$ have one law, so the mean square is half of $\mathbb E (f^\top x)^2 = \lVert f \rVert^2$.
# For $w = -f$ the difference is $\mathrm{ReLU}(f^\top x)$, of norm $\lVert w \rVert/\sqrt 2$.
# It is no non-negative multiple: the lemma says "if", not "only if".
# What is needed is that $(f + w)^\top x$ and $f^\top x$ never have opposite signs, that is $w = s f$ with $s \ge -1$.
# :::
#
# :::{exercise}
# Check $\mathbb E\, |f^\top w|^d = 2^{1-d}$ for $d = 2$ and $d = 3$ by hand. For how many random directions is $\sum_i |f_i^\top w|^d = 1$ to be expected for $d = 41$?
# :::
#
# :::{solution}
# $d = 2$: $\mathbb E \cos^2 = \frac12$. $d = 3$: $f^\top w$ is uniform on $[-1, 1]$, and the mean of $|t|^3$ is $\frac14$. For $d = 41$ it takes $2^{40} \approx 10^{12}$ directions.
# :::
#
# :::{exercise}
# Which positively homogeneous function is nearest to the constant $b > 0$ in $L^2$ under $x \sim N(0, I_d)$, and how far is it? What does the distance tend to for large $d$?
# :::
#
# :::{solution}
# $g(x) = r\, a(x/r)$ with the length $r$, which is independent of $x/r$.
# For each direction $\mathbb E (r a - b)^2 = a^2 d - 2ab\, \mathbb E\, r + b^2$ is least at $a = b\, \mathbb E\, r/d$, where it is $b^2 (1 - (\mathbb E\, r)^2/d) = b^2 \operatorname{Var}(r)/d$.
# So $g = b\, (\mathbb E\, r/d)\, \lVert x \rVert$, at the distance $b \sqrt{\operatorname{Var}(r)/d} \approx b/\sqrt{2d}$, as $\operatorname{Var}(r) \to \frac12$: in high dimension all inputs have nearly one length, and a bias is nearly homogeneous.
# :::
# :::{try}
# More random networks:
#
#     make chapter NAME=feature_hardness ARGS="-p layers 200"
# :::

# %% Versions and time
print(chapter.end())
