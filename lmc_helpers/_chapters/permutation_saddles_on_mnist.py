"""Merges of two neurons of trained classifiers, for the chapter *permutation saddles on MNIST*.

Brea et al., section 5, Fig. 3. Two neurons of layer 2 of a network n_0 → H → H → 10 are moved together, with a minimum
at every distance; the targets are the network's own logits. The weights V of the first layer, most of the parameters,
use the images only as V x, so that they may be written in any orthonormal basis of their span. :func:`principal` takes
the eigenbasis of their second moments, which is exact and makes the Hessian nearly diagonal in V.

A path takes minutes and megabytes, so that each is a run with a digest and a file. What the chapter reads of them is
kilobytes: runs of their own, whose files lie with the book if they come from a recorded run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch.func import jacrev

from lmc_helpers.data.images import choose, load
from lmc_helpers.error_bars import mean_and_error, slope_and_error, widening
from lmc_helpers.networks.mlp import MLP as Perceptron
from lmc_helpers.networks.model import Stack
from lmc_helpers.permutation_points import (
    MLP,
    ConvergedPath,
    PairChart,
    accuracy,
    converged_path,
    double_neurons,
    most_similar_neurons,
    pair_inertia,
    reduce_pair,
)
from lmc_helpers.progress import progress
from lmc_helpers.seeds import drawn_seeds, numpy_generator
from lmc_helpers.training.cached import Cached, Kept, provenance
from lmc_helpers.training.description import described
from lmc_helpers.training.prices import BASE_MIB, Price
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

Product = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, eq=False)
class Local:
    """A loss at one point."""

    value: torch.Tensor
    gradient: torch.Tensor  # (p,)
    product: Product  # v (p,) → Hv (p,)


def local_squared_loss(net: MLP, theta: torch.Tensor, x: torch.Tensor, y: torch.Tensor, weight: float) -> Local:
    """L = w Σ_μ ‖f(x_μ) − y_μ‖² at one network.

    Products with the Hessian are derivatives of the gradient along a direction (Pearlmutter's R-operator). Written out
    for z_k = W_k h_{k−1} + b_k, h_k = g(z_k), e_k = ∂L/∂z_k they take, for small networks, a tenth of the time of
    differentiating the gradient's graph.
    """
    layers, h = net.split(theta), [x.mT]  # h_k (n_k, T)
    for W, b in layers[:-1]:
        h.append(torch.tanh(W @ h[-1] + b[:, None]))
    W, b = layers[-1]
    residual = W @ h[-1] + b[:, None] - y.mT
    slope = [1 - h_k.square() for h_k in h[1:]]  # g' = 1 − h², g'' = −2 h g'
    e, back = [2 * weight * residual], []  # e_k and W_kᵀ e_k, last first
    for (W, _), g1 in zip(layers[:0:-1], slope[::-1], strict=True):
        back.append(W.mT @ e[-1])
        e.append(back[-1] * g1)
    e, back = e[::-1], back[::-1]
    bend = [-2 * h_k * u for h_k, u in zip(h[1:], [b * g1 for b, g1 in zip(back, slope, strict=True)], strict=True)]

    def joined(of_weights: list[torch.Tensor], of_biases: list[torch.Tensor]) -> torch.Tensor:
        return torch.cat([part.flatten() for both in zip(of_weights, of_biases, strict=True) for part in both])

    gradient = joined([d @ h_k.mT for d, h_k in zip(e, h, strict=True)], [d.sum(1) for d in e])

    def product(v: torch.Tensor) -> torch.Tensor:
        directions, dz = net.split(v), []
        dh: list[torch.Tensor] = []  # dz: derivatives of z_k, dh: of h_k, k >= 1
        for k, ((dW, db), (W, _)) in enumerate(zip(directions, layers, strict=True)):
            dz.append(dW @ h[k] + db[:, None] + (W @ dh[k - 1] if k else 0))
            if k < len(slope):
                dh.append(dz[k] * slope[k])
        de = [2 * weight * dz[-1]]
        for k in range(len(slope) - 1, -1, -1):
            (W, _), (dW, _) = layers[k + 1], directions[k + 1]
            de.append((dW.mT @ e[k + 1] + W.mT @ de[-1]) * slope[k] + bend[k] * dz[k])
        de = de[::-1]
        of_weights = [d @ h_k.mT for d, h_k in zip(de, h, strict=True)]
        of_weights = [G + e[k] @ dh[k - 1].mT if k else G for k, G in enumerate(of_weights)]
        return joined(of_weights, [d.sum(1) for d in de])

    return Local(weight * residual.square().sum(), gradient, product)


def output_derivatives(net: MLP, theta: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Derivatives of the outputs by the first layer's biases, (T, n_d, H), and by all later layers, (T, n_d, q)."""
    layers, h = net.split(theta), [x]  # h_k (T, n_k)
    for W, b in layers[:-1]:
        h.append(torch.tanh(h[-1] @ W.T + b))
    D, parts = torch.eye(net.sizes[-1]).to(theta).expand(len(x), -1, -1), []  # last layer first
    for k in range(net.depth - 1, 0, -1):
        parts += [D, (D[..., None] * h[k][:, None, None]).flatten(2)]
        D = (D @ layers[k][0]) * (1 - h[k].square())[:, None]
    return D, torch.cat(parts[::-1], dim=-1)


def in_coordinates(chart: Callable[[torch.Tensor], torch.Tensor], phi: torch.Tensor, local: Callable) -> Local:
    """The loss as a function of coordinates: L(C(φ)), its gradient C'ᵀ∇L and products C'ᵀ H C' + ∇L · C''."""
    phi = phi.detach().requires_grad_()
    theta = chart(phi)
    at = local(theta.detach())
    u = at.gradient.detach().clone().requires_grad_()
    (pulled,) = torch.autograd.grad(theta, phi, u, create_graph=True)  # C'(φ)ᵀ u, linear in u

    def product(v: torch.Tensor) -> torch.Tensor:
        bent, pushed = torch.autograd.grad(pulled, (phi, u), v, retain_graph=True, materialize_grads=True)
        (back,) = torch.autograd.grad(theta, phi, at.product(pushed), retain_graph=True)
        return back + bent

    return Local(at.value, pulled.detach(), product)


FORCING = 0.1  # largest ratio of the final to the initial residual of a step
ACCEPT = 1e-4  # least ratio of the actual to the predicted decrease of an accepted step
INVISIBLE = 1e-10  # predicted decreases below this fraction of the loss are lost in rounding of the loss
FAILURES = 30  # rejected steps in a row before the search is given up
REFRESH = 150  # products after which the metric is renewed
SHIFT = 1e-3  # added to the metric's diagonal for curvature outside Gauss–Newton, relative to the diagonal,
FLOOR = 1e-3  # plus this fraction of its mean


@dataclass(frozen=True)
class Metric:
    """The Gauss–Newton matrix of a network, exact in some parameters and a Kronecker product in the others.

    The inputs have diagonal second moments λ_1 >= λ_2 >= …. The blocks are 2 ⟨Jᵀ J⟩/w of V[:, :k] and all later
    parameters, J the derivative of f, and 2 ⟨J_bᵀ J_b⟩ λ_c/w of V[:, c], c >= k, J_b that by the first layer's biases:
    x_c² and J_b count as uncorrelated. The coupling of the blocks is neglected.
    """

    tail: torch.Tensor  # indices (H, n − k) of V[:, k:] among the p parameters
    lead: torch.Tensor  # indices of all other parameters
    lead_factor: torch.Tensor  # lower Cholesky factor of the exact block
    tail_factor: torch.Tensor  # lower Cholesky factor of 2 ⟨J_bᵀ J_b⟩/w, (H, H)
    moments: torch.Tensor  # λ_c of the tail, (n − k,)

    @classmethod
    def of(
        cls,
        by_bias: torch.Tensor,
        by_rest: torch.Tensor,
        x: torch.Tensor,
        moments: torch.Tensor,
        leading: int,
        scale: float,
    ) -> Metric:
        """The metric from derivatives at given inputs; parameters in the order V (H, n), b (H,), later layers."""
        T, n = x.shape
        H = by_bias.shape[-1]
        V_index = torch.arange(H * n).view(H, n)
        of_rest = torch.arange(H * n, H * (n + 1) + by_rest.shape[-1])  # b and the later layers
        by_weights = (by_bias[..., None] * x[:, None, None, :leading]).flatten(2)  # (T, n_d, H k)
        blocks = []
        for J in (torch.cat([by_weights, by_bias, by_rest.to(x)], dim=-1), by_bias):
            J = J.flatten(0, 1)
            block = 2 * J.T @ J / (T * scale)
            block.diagonal().add_(SHIFT * (block.diagonal() + FLOOR * block.diagonal().mean()))
            blocks.append(torch.linalg.cholesky(block))
        return cls(
            V_index[:, leading:],
            torch.cat([V_index[:, :leading].flatten(), of_rest]),
            blocks[0],
            blocks[1],
            moments[leading:],
        )

    def solve(self, v: torch.Tensor) -> torch.Tensor:
        """M⁻¹ v of v (p,)."""
        solution = torch.empty_like(v)
        solution[self.lead] = torch.cholesky_solve(v[self.lead, None], self.lead_factor)[:, 0]
        solution[self.tail] = torch.cholesky_solve(v[self.tail], self.tail_factor) / self.moments
        return solution


@dataclass
class _Step:
    """A step s, the residual g + Hs, and ‖s‖_M², by recurrences."""

    s: torch.Tensor
    residual: torch.Tensor
    square: float
    products: int


def _steihaug(g: torch.Tensor, product: Product, solve: Product, radius: float, forcing: float, products: int) -> _Step:
    """Conjugate gradients for min g·s + s·Hs/2 over ‖s‖_M <= radius."""
    at = _Step(torch.zeros_like(g), g, 0.0, 0)
    y = solve(g)
    ry = first = float(g @ y)
    d, sd, dd = -y, 0.0, ry  # direction, s·Md, d·Md
    while at.products < products and ry > forcing**2 * first:
        Hd = product(d)
        at.products += 1
        curvature = float(d @ Hd)
        length = ry / curvature if curvature > 0 else float("inf")
        outside = curvature <= 0 or at.square + 2 * length * sd + length**2 * dd >= radius**2
        if outside:  # to the boundary: ‖s + length · d‖_M = radius
            length = (-sd + (sd**2 + dd * (radius**2 - at.square)) ** 0.5) / dd
        at.s, at.residual = at.s + length * d, at.residual + length * Hd
        at.square += 2 * length * sd + length**2 * dd
        if outside:
            break
        y = solve(at.residual)
        ry, before = float(at.residual @ y), ry
        d, sd, dd = -y + ry / before * d, ry / before * (sd + length * dd), ry + (ry / before) ** 2 * dd
    return at


def truncated_newton(
    local: Callable[[torch.Tensor], Local],
    phi: torch.Tensor,
    products: int,
    tol: float,
    metric: Callable[[torch.Tensor], Product] | None = None,
) -> tuple[torch.Tensor, float, int]:
    """A minimum by truncated Newton steps, until ‖∇L‖ <= tol: φ, ‖∇L‖ and the number of products.

    A step minimises the model g·s + s·Hs/2 over ‖s‖_M <= Δ by conjugate gradients (Steihaug), until the residual g + Hs
    is small enough or the boundary is reached, possibly along a direction of negative curvature. Only products Hv are
    needed, each as dear as two gradients; the metric M, an approximation of H, decides how many.
    """
    at, used, renewed, failures = local(phi), 0, 0, 0
    first = norm = float(at.gradient.norm())
    radius = max(2 * float(at.value) ** 0.5, 1e-6)  # ‖s‖_M² is twice a decrease of the loss
    solve: Product | None = None
    while norm > tol and used < products and failures < FAILURES:
        if solve is None or (metric and used >= renewed + REFRESH):
            solve, renewed = metric(phi) if metric else torch.clone, used
        forcing = min(FORCING, (norm / first) ** 0.5)
        step = _steihaug(at.gradient, at.product, solve, radius, forcing, products - used)
        used += step.products
        trial = local(phi + step.s)
        predicted = float(-step.s @ (at.gradient + step.residual) / 2)
        if predicted < INVISIBLE * float(at.value):  # use the slopes at both ends
            decrease = float(-step.s @ (at.gradient + trial.gradient) / 2)
        else:
            decrease = float(at.value - trial.value)
        ratio = decrease / predicted if predicted > 0 else -1.0
        if not ratio > 0.25:
            radius = step.square**0.5 / 4
        elif ratio > 0.75 and step.square >= 0.9 * radius**2:
            radius *= 2
        failures = 0 if ratio > ACCEPT else failures + 1
        if not failures:
            phi, at = phi + step.s, trial
            norm = float(at.gradient.norm())
    return phi, norm, used


LAYER = 2  # the layer of the merged neurons
RANK = 1e-12  # second moments below this fraction of the largest are rounding
SAMPLE = 1000  # images for the metric of the minimiser
SMALL = 1e-3  # values of J and D up to this fraction of the largest count as 0
LEADING = 20  # inputs whose weights are exact in the metric; 50 would cost more than they save
RATE = 5e9  # operations a second, measured on one busy core in float64: 20 ms for 4000 images, 640 inputs, H = 10


def principal(x: torch.Tensor, components: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Inputs (T, n) in a basis Q of their span with diagonal second moments; Q and these moments, largest first."""
    moments, Q = torch.linalg.eigh(x.T @ x / len(x))
    leading = (moments > RANK * moments[-1]).nonzero()[:, 0].flip(0)[: components or None]
    return x @ Q[:, leading], Q[:, leading], moments[leading]


def flat(net: MLP, stack: Stack, Q: torch.Tensor) -> torch.Tensor:
    """Trained perceptrons as flat parameters θ, the first layer in the coordinates of Q: V = W^(1) Q."""
    weights, biases = (
        [stack.params[f"{k}.{part}"].to(torch.float64) for k in range(net.depth)] for part in ("weight", "bias")
    )
    return net.join(list(zip([weights[0] @ Q, *weights[1:]], biases, strict=True)))


@dataclass(frozen=True, eq=False)
class Task:
    """The regression of Fig. 3: L = 1/T Σ_μ ‖y_μ − f(x_μ)‖²/⟨y_i²⟩."""

    net: MLP  # the architecture
    x: torch.Tensor  # inputs (T, n_0) in principal coordinates
    moments: torch.Tensor  # their second moments (n_0,)
    y: torch.Tensor  # targets (T, n_d)

    @property
    def scale(self) -> float:
        """⟨y_i²⟩, the mean over inputs and outputs."""
        return self.y.square().mean().item()

    def loss(self, theta: torch.Tensor) -> torch.Tensor:
        """L (...) of networks θ (..., p)."""
        return (self.net.forward(theta, self.x) - self.y).square().sum(dim=(-2, -1)) / (len(self.x) * self.scale)

    def local(self, theta: torch.Tensor) -> Local:
        """L near θ (p,)."""
        return local_squared_loss(self.net, theta, self.x, self.y, 1 / (len(self.x) * self.scale))

    def metric(self, phi: torch.Tensor, chart: PairChart | None = None) -> Metric:
        """The metric of truncated Newton steps at φ = θ, or at coordinates φ of a chart, with δ last and fixed."""
        x, net, first = self.x[:SAMPLE], self.net, self.net.sizes[1] * (self.net.sizes[0] + 1)
        theta, later = phi, phi[first:]
        if chart is not None:
            theta = chart.weights(phi)
        by_bias, by_rest = output_derivatives(net, theta, x)
        if chart is not None:  # the chart leaves the first layer as it is
            upper = PairChart(MLP(net.sizes[1:], net.activation), chart.layer - 1, chart.kind)
            by_rest = by_rest @ jacrev(lambda free: upper.weights(torch.cat([free, later[-1:]])))(later[:-1])
        return Metric.of(by_bias, by_rest, x, self.moments, min(LEADING, x.shape[1]), self.scale)

    def minimise(
        self, phi: torch.Tensor, products: int, tol: float, chart: PairChart | None = None
    ) -> tuple[torch.Tensor, float, int]:
        """A minimum over θ, or over a chart's coordinates at fixed δ: φ, norm of the gradient, number of products."""
        if chart is None:
            return truncated_newton(self.local, phi, products, tol, lambda at: self.metric(at).solve)
        delta = phi[-1:]

        def weights(free: torch.Tensor) -> torch.Tensor:
            return chart.weights(torch.cat([free, delta]))

        def metric(free: torch.Tensor) -> Product:
            return self.metric(torch.cat([free, delta]), chart).solve

        free, norm, used = truncated_newton(
            lambda free: in_coordinates(weights, free, self.local), phi[:-1], products, tol, metric
        )
        return chart.unit(torch.cat([free, delta])), norm, used


@dataclass(frozen=True, eq=False)
class Merge:
    """The path on which a pair of neurons is merged."""

    path: ConvergedPath  # a minimum at each of K distances
    accuracy: torch.Tensor  # (K,), on the labels
    products: int  # number of products with Hessians on the path


def merge_distances(distances: int) -> torch.Tensor:
    """Distances δ/δ_0 from 1 to 1/10000, two thirds of them in the first decade, where the loss changes."""
    early = 2 * distances // 3
    decade = torch.logspace(0, -1, early + 1, dtype=torch.float64)[:-1]
    return torch.cat([decade, torch.logspace(-1, -4, distances - early, dtype=torch.float64)])


def merge(
    task: Task,
    theta: torch.Tensor,
    pair: tuple[int, int],
    distances: torch.Tensor,
    labels: torch.Tensor,
    products: int,
    tol: float,
    show_progress: bool = False,
) -> Merge:
    """Move two neurons of layer 2 together and minimise over all other parameters at every distance (section 4.1)."""
    chart = PairChart(task.net, LAYER)
    theta = chart.bring_forward(theta, *pair)
    first, used, rows = chart.distance(theta), 0, []
    last_two: list[torch.Tensor] = []  # coordinates at the last two distances
    for distance in progress(distances, description="merging", disable=not show_progress):
        delta = distance * first
        ratio = (delta / chart.distance(theta)).clamp(max=1)[None]
        starts = [chart.coordinates(converged_path(task.loss, chart, theta, (0, 1), ratio, 0, tol).theta[0])]
        if len(last_two) > 1:
            before, last = last_two
            starts.append(last + (delta - last[-1]) / (last[-1] - before[-1]) * (last - before))
        start = min(starts, key=lambda at: task.loss(chart.weights(at)).item())
        phi, norm, count = task.minimise(start, products, tol, chart)
        theta, used = chart.weights(phi), used + count
        last_two = [*last_two[-1:], phi]
        columns = [theta[task.net.outgoing(LAYER, i)].norm() for i in (0, 1)]
        rows.append((theta, task.loss(theta), torch.tensor(norm, dtype=torch.float64), max(columns)))
    path = ConvergedPath(*(torch.stack(column) for column in zip(*rows, strict=True)))
    scores = torch.stack([accuracy(task.net, point, task.x, labels) for point in path.theta])
    return Merge(path, scores, used)


@dataclass(frozen=True, eq=False)
class Point:
    """A minimum with one neuron fewer in layer 2, and the permutation points that are its neurons doubled."""

    loss: float
    gradient_norm: float
    accuracy: float
    products: int  # with Hessians, to get there
    rank: torch.Tensor  # ρ of J, a neuron of layer 2 doubled, the merged one first (H − 1,)
    index: torch.Tensor  # ρ + ν₋ (H − 1,)
    singular_values: torch.Tensor  # of J (H − 1, min(n_3, H + 1))


def permutation_point(task: Task, theta: torch.Tensor, labels: torch.Tensor, products: int, tol: float) -> Point:
    """The permutation points next to θ, whose pair is in places 0 and 1."""
    small, start = reduce_pair(task.net, theta, LAYER)
    small_task = Task(small, task.x, task.moments, task.y)
    end, norm, used = small_task.minimise(start, products, tol)
    (W, b), *later = small.split(end)
    upper = MLP(small.sizes[1:], small.activation)  # layer 2 is the first hidden one on the outputs of layer 1
    doubled = [
        point
        for point in double_neurons(upper, upper.join(later), torch.tanh(task.x @ W.T + b), task.y)
        if point.layer == LAYER - 1
    ]
    values = torch.stack([torch.linalg.svdvals(point.J) for point in doubled])
    index = [pair_inertia(one.J / s[0], one.D, SMALL)[0] for one, s in zip(doubled, values, strict=True)]
    right = accuracy(small, end, task.x, labels).item()
    rank = (values > SMALL * values[:, :1]).sum(dim=1)
    return Point(small_task.loss(end).item(), norm, right, used, rank, torch.tensor(index), values)


def random_pair(neurons: int, other_than: tuple[int, int], seed: int, purpose: str) -> tuple[int, int]:
    """A uniform pair of different neurons, other than a given one."""
    pairs = [(i, j) for j in range(neurons) for i in range(j) if {i, j} != set(other_than)]
    return pairs[numpy_generator(seed, purpose).integers(len(pairs))]


def exponent(values: Mapping[int, Sequence[float]]) -> tuple[float, float, int]:
    """Slope of ln(mean) over ln H, its error and the number of values, with few values at each width H."""
    several = [H for H, sample in values.items() if len(sample) > 1]
    if len(several) < 2:
        return 0.0, 1.0, 0
    mean, error = mean_and_error([values[H] for H in several])
    count = np.array([len(values[H]) for H in several])
    spread = np.average(count * (error / mean) ** 2, weights=count - 1)  # squared, relative, of one value
    slope, slope_error = slope_and_error(np.log(several), np.log(mean), np.sqrt(spread / count))
    n = int(count.sum())
    return slope, slope_error * widening(n - len(several) + 1), n


def core_hours(images: int, components: int, widths: Sequence[int], paths: int, distances: int, products: int) -> float:
    """Hours of one core for products with Hessians, of 4 T r H operations each, those of the first layer."""
    return sum(4 * images * components * H * paths * distances * products for H in widths) / RATE / 3600


#: To be raised by hand when a change alters a path, so that older files are not used.
REVISION = 3

TOLERANCE = 1e-5  # norm of the gradient at a converged minimum
WHOLE_TOLERANCE = 1e-4  # on whole images, where the last factor of ten takes many thousand products
POINT_BUDGET = 4  # budgets of one distance for the permutation point, which starts farther from its minimum
PATH = ("theta", "loss", "gradient_norm", "outgoing")  # the fields of ConvergedPath
WORTH_A_JOB_S = 30.0  # a merge of fewer seconds gets no job of its own
COPIES = 6  # largest number of copies of the images in double precision that are in memory


@dataclass(frozen=True, eq=False)
class Merged(Merge):
    """A merged pair of neurons, and the permutation points next to the end of its path."""

    pair: tuple[int, int]  # the neurons of layer 2
    point: Point
    provenance: dict  # date, seconds, threads, versions, commit, and the provenance of the teachers


@dataclass(frozen=True)
class MergeRun(Cached[Merged]):
    """The merge of one pair of neurons: all that the path depends on."""

    teachers: Run  # the training of networks n_0 → H → H → n_d, tanh
    network: int  # index among the teachers that did not diverge
    components: int  # principal components of the images, or 0 for all
    distances: int  # on the path, those of :func:`merge_distances`
    products: int  # budget of products with Hessians at every distance; four times that for the permutation point
    seed: int | None = None  # of a random pair; None: the most similar pair is merged

    @property
    def neurons(self) -> int:
        """H, the number of neurons of layer 2."""
        return _sizes(self.teachers)[LAYER]

    def _identity(self) -> dict:
        return {"run": described(self), "teachers": self.teachers.digest, "revision": REVISION, "tol": TOLERANCE}

    @property
    def title(self) -> str:
        pair, data = "a random" if self.seed is not None else "the most similar", self.teachers.data
        inputs = f"{self.components} components" if self.components else "all pixels"
        return (
            f"merge of {pair} pair of network {self.network} of {len(self.teachers.seeds)}, H = {self.neurons}, on"
            f" {data.name} ({data.size} images, {inputs}), {self.distances} distances"
        )

    def prices(self) -> Price:
        """Core hours if all budgets are used, and memory; it does not use a GPU."""
        data, pixels = self.teachers.data, _sizes(self.teachers)[0]
        inputs = min(self.components or pixels, pixels, data.size)
        hours = core_hours(data.size, inputs, [self.neurons], 1, self.distances + POINT_BUDGET, self.products)
        return Price(hours, hours, BASE_MIB + math.ceil(COPIES * data.size * pixels * 8 / 2**20))

    def _compute(self, show_progress: bool) -> tuple[dict, dict[str, torch.Tensor]]:
        task, theta, labels, taught = taught_task(self.teachers, self.network, self.components, show_progress)
        start = time.perf_counter()
        pair = most_similar_neurons(task.net, theta, task.x, layer=LAYER)
        if self.seed is not None:
            pair = random_pair(self.neurons, pair, self.seed, f"pair of network {self.network}, width {self.neurons}")
        budget = self.products, TOLERANCE
        merged = merge(task, theta, pair, merge_distances(self.distances), labels, *budget, show_progress)
        point = permutation_point(task, merged.path.theta[-1], labels, POINT_BUDGET * self.products, TOLERANCE)
        seconds = time.perf_counter() - start
        tensors = {name: getattr(merged.path, name) for name in PATH} | {"accuracy": merged.accuracy}
        tensors |= {"pair": torch.tensor(pair)} | _of_point(point)
        return provenance(seconds, products=merged.products, teachers=taught), tensors

    def _result(self, provenance: dict, tensors: dict[str, torch.Tensor]) -> Merged:
        path = ConvergedPath(*(tensors[name] for name in PATH))
        accuracy, (i, j) = tensors["accuracy"], tensors["pair"].tolist()
        if any(len(column) != self.distances for column in (*(tensors[name] for name in PATH), accuracy)):
            raise ValueError(f"{len(path.theta)} distances")
        return Merged(path, accuracy, provenance["products"], (i, j), _point(tensors), provenance)


def taught_task(
    teachers: Run, network: int, components: int, show_progress: bool = False
) -> tuple[Task, torch.Tensor, torch.Tensor, dict]:
    """The regression on a teacher's logits, its θ, the labels, and the provenance of the training."""
    trained, data = teachers.result(show_progress), teachers.data
    images = load(data.name, data.split, data.n, data.seed)
    z, Q, moments = principal(images.inputs(torch.float64, flat=True), components)
    net = MLP((len(moments), *_sizes(teachers)[1:]), "tanh")
    theta = flat(net, trained.stack, Q)[network]
    return Task(net, z, moments, net.forward(theta, z)), theta, images.y, trained.provenance


def _of_point(point: Point, prefix: str = "point/") -> dict[str, torch.Tensor]:
    """A point as tensors of a file."""
    return {f"{prefix}{name}": torch.as_tensor(value) for name, value in vars(point).items()}


def _point(tensors: Mapping[str, torch.Tensor], prefix: str = "point/") -> Point:
    """The point in the tensors of a file."""
    found = {field.name: tensors[f"{prefix}{field.name}"] for field in fields(Point)}
    entries: dict[str, Any] = {name: value if value.dim() else value.item() for name, value in found.items()}
    return Point(**entries)


@dataclass(frozen=True, eq=False)
class AtWidth:
    """The merges of one width; their paths have no weights."""

    trained: torch.Tensor  # accuracies of the teachers in training (N,), on whole images
    merges: list[Merged]


@dataclass(frozen=True)
class ReadMerges(Kept[AtWidth]):
    """All merges of one width without their weights."""

    merges: tuple[MergeRun, ...]

    def _identity(self) -> dict:
        return {"read": [run.digest for run in self.merges]}

    @property
    def title(self) -> str:
        return f"losses on {len(self.merges)} paths, H = {self.merges[0].neurons}"

    @property
    def needs(self) -> tuple[Path, ...]:
        return tuple(run.path() for run in self.merges)

    def prices(self) -> Price:
        """Next to nothing, once the merges are there."""
        return Price(1 / 3600, 1 / 3600, BASE_MIB)

    def _compute(self, show_progress: bool) -> tuple[dict, dict[str, torch.Tensor]]:
        trained = self.merges[0].teachers.result(show_progress)
        tensors, origins = {"trained": trained.accuracies[-1].flatten()}, []
        for k, run in enumerate(self.merges):
            found = run.result(show_progress)
            origins.append(found.provenance)
            tensors |= {f"{k}/{name}": getattr(found.path, name) for name in PATH[1:]}
            tensors |= _of_point(found.point, f"{k}/point/")
            tensors |= {f"{k}/accuracy": found.accuracy, f"{k}/pair": torch.tensor(found.pair)}
        return provenance(sum(origin["seconds"] for origin in origins), merges=origins), tensors

    def _result(self, provenance: dict, tensors: dict[str, torch.Tensor]) -> AtWidth:
        found = []
        for k, run in enumerate(self.merges):
            columns = [tensors[f"{k}/{name}"] for name in (*PATH[1:], "accuracy")]
            if any(len(column) != run.distances for column in columns):
                raise ValueError(f"{len(columns[0])} distances")
            path = ConvergedPath(torch.empty(run.distances, 0, dtype=torch.float64), *columns[:3])
            (i, j), origin = tensors[f"{k}/pair"].tolist(), provenance["merges"][k]
            found.append(Merged(path, columns[3], origin["products"], (i, j), _point(tensors, f"{k}/point/"), origin))
        return AtWidth(tensors["trained"], found)


@dataclass(frozen=True)
class WholePoint(Kept[Point]):
    """A minimum with one neuron fewer on whole images, from the most similar pair of a teacher as one neuron."""

    teachers: Run  # the training of networks n_0 → H → H → n_d, tanh
    network: int  # index among the teachers that did not diverge
    products: int  # budget of products with Hessians

    def _identity(self) -> dict:
        return {"run": described(self), "teachers": self.teachers.digest, "revision": REVISION, "tol": WHOLE_TOLERANCE}

    @property
    def title(self) -> str:
        data, H = self.teachers.data, _sizes(self.teachers)[LAYER]
        return f"minimum with one neuron fewer than H = {H} on {data.name} ({data.size} whole images)"

    @property
    def needs(self) -> tuple[Path, ...]:
        return (self.teachers.path(),)

    def prices(self) -> Price:
        """Core hours if the budget is used, and memory; it does not use a GPU."""
        data, (pixels, H, *_) = self.teachers.data, _sizes(self.teachers)
        hours = core_hours(data.size, pixels, [H], 1, 1, self.products)
        return Price(hours, hours, BASE_MIB + math.ceil(COPIES * data.size * pixels * 8 / 2**20))

    def _compute(self, show_progress: bool) -> tuple[dict, dict[str, torch.Tensor]]:
        task, theta, labels, taught = taught_task(self.teachers, self.network, 0, show_progress)
        start = time.perf_counter()
        pair = most_similar_neurons(task.net, theta, task.x, layer=LAYER)
        theta = PairChart(task.net, LAYER).bring_forward(theta, *pair)
        point = permutation_point(task, theta, labels, self.products, WHOLE_TOLERANCE)
        return provenance(time.perf_counter() - start, teachers=taught), _of_point(point)

    def _result(self, provenance: dict, tensors: dict[str, torch.Tensor]) -> Point:
        return _point(tensors)


@dataclass(frozen=True)
class Parameters:
    """The parameters of the chapter on which the teachers and the merges depend."""

    dataset: str
    images: int
    components: int
    widths: Sequence[int]
    teachers: int
    randoms: int
    epochs: int
    distances: int
    products: int
    whole: int
    whole_products: int
    seed: int

    def teaching(self) -> dict[int, Run]:
        """Width → training run of its teachers: tanh, Adam on the negative log-likelihood."""
        return self._trained(self.images, self.teachers, "teachers of width")

    def whole_points(self) -> dict[int, WholePoint]:
        """Width → permutation points on whole images, of a teacher of its own."""
        teaching = self._trained(self.whole, 1, "teacher on whole images, width") if self.whole else {}
        return {H: WholePoint(run, 0, self.whole_products) for H, run in teaching.items()}

    def _trained(self, images: int, teachers: int, purpose: str) -> dict[int, Run]:
        data, runs = DataSpec(choose((self.dataset, "digits"))[0]).at_most(images, self.seed), {}
        for H in self.widths:
            model = Perceptron((math.prod(data.shape), H, H, 10), "tanh")
            seeds = drawn_seeds(self.seed, f"{purpose} {H}", teachers)
            runs[H] = Run(model, Descent(self.epochs, 100, "adam", 3e-3), data, seeds)
        return runs

    def merges(self) -> tuple[dict[int, list[MergeRun]], dict[int, list[MergeRun]]]:
        """Width → merges of the most similar pairs of all teachers, and of random pairs of the first ones."""
        teaching, networks = self.teaching(), range(self.teachers)
        settings = self.components, self.distances, self.products
        similar = {H: [MergeRun(run, k, *settings) for k in networks] for H, run in teaching.items()}
        random = {
            H: [MergeRun(run, k, *settings, self.seed) for k in networks[: self.randoms]] for H, run in teaching.items()
        }
        return similar, random

    def readings(self) -> dict[int, ReadMerges]:
        """Width → what the chapter reads of its merges, those of the most similar pairs first."""
        similar, random = self.merges()
        return {H: ReadMerges((*similar[H], *random[H])) for H in self.widths}

    def runs(self) -> list[Run | MergeRun | ReadMerges | WholePoint]:
        """The runs to be finished before the chapter: teachers, long merges, and what is read of them."""
        readings, points = self.readings(), self.whole_points().values()
        new = [run for run in readings.values() if not run.kept()]
        whole = [point for point in points if not point.kept()]
        long = [merge for run in new for merge in run.merges if _takes_a_while(merge)]
        teachers = [*(run.merges[0].teachers for run in new), *(point.teachers for point in whole)]
        return [*teachers, *long, *readings.values(), *points]


def _takes_a_while(run: MergeRun) -> bool:
    return 3600 * run.prices().cpu_hours >= WORTH_A_JOB_S


def _sizes(run: Run) -> tuple[int, ...]:
    """(n_0, H, H, n_d) of the networks of a run."""
    return cast(Perceptron, run.model).sizes
