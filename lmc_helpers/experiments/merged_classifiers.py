"""Merging two neurons of trained classifiers, with all pixels of their images (Brea et al., section 5, Fig. 3).

Two neurons of layer 2 of a network n_0 → H → H → 10 are moved together, a minimum at every distance, with its own
logits as targets. Most parameters are the weights V of the first layer. It sees the images only through V x, so that
they may be written in any orthonormal basis of their span: :func:`principal` takes that of their second moments, in
which nothing of them is lost and the Hessian is nearly diagonal in V.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.func import jacrev

from lmc_helpers import expect
from lmc_helpers.error_bars import mean_and_error, slope_and_error, widening
from lmc_helpers.networks.model import Stack
from lmc_helpers.permutation_points.classifiers import accuracy
from lmc_helpers.permutation_points.converged import ConvergedPath, follow
from lmc_helpers.permutation_points.mlp import MLP
from lmc_helpers.permutation_points.pair import PairChart, reduce_pair
from lmc_helpers.permutation_points.products import Local, Product, local_squared_loss, output_derivatives, through
from lmc_helpers.permutation_points.truncated import Metric, truncated_newton
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.progress import progress

__all__ = [
    "Merge",
    "Task",
    "core_hours",
    "exponent",
    "flat",
    "merge",
    "permutation_point",
    "principal",
    "random_pair",
    "towards",
]

LAYER = 2  # in which neurons are merged
RANK = 1e-12  # second moments below this fraction of the largest one are rounding
SAMPLE = 1000  # images that the metric of the minimiser is taken from
LEADING = 20  # inputs whose weights the metric holds exactly; with 50 it costs more than it saves
RATE = 5e9  # operations a second, as measured on one busy core in float64: 20 ms for 4000 images, 640 inputs, H = 10


def principal(x: torch.Tensor, components: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Inputs in an orthonormal basis of their span, in which their second moments are diagonal.

    Parameters
    ----------
    x : torch.Tensor
        inputs (T, n).
    components : int
        how many of the basis, at most, those with the largest moments; 0 for all.

    Returns
    -------
    z, Q, moments : torch.Tensor
        coordinates (T, r), basis (n, r) with QᵀQ = 1, second moments (r,), falling. With all components x = z Qᵀ to
        rounding; with fewer z Qᵀ is the projection of x on the leading ones.

    Examples
    --------
    >>> x = torch.tensor([[3.0, 4.0], [-6.0, -8.0]], dtype=torch.float64)
    >>> z, Q, moments = principal(x)
    >>> z.abs().tolist(), moments.tolist()
    ([[5.0], [10.0]], [62.5])
    """
    expect.tensor(x, "x")
    expect.integer(components, "components")
    if not x.numel():
        raise ValueError(f"x has shape {tuple(x.shape)}; allowed: (T, n), no axis empty")
    if x.ndim != 2 or not x.any():
        raise ValueError(f"x has shape {tuple(x.shape)} and largest entry {x.abs().max()}; allowed: (T, n), not 0")
    if components < 0:
        raise ValueError(f"components = {components}; allowed: at least 1, or 0 for all")
    moments, Q = torch.linalg.eigh(x.T @ x / len(x))
    kept = (moments > RANK * moments[-1]).nonzero()[:, 0].flip(0)[: components or None]
    return x @ Q[:, kept], Q[:, kept], moments[kept]


def flat(net: MLP, stack: Stack, Q: torch.Tensor) -> torch.Tensor:
    """Trained perceptrons as flat parameters θ, the first layer in the coordinates of Q: V = W^(1) Q.

    Parameters
    ----------
    net : MLP
        (r, H, H, …, n_d).
    stack : Stack
        N networks (n, H, H, …, n_d).
    Q : torch.Tensor
        (n, r).

    Returns
    -------
    torch.Tensor
        (N, p), float64.
    """
    if not isinstance(net, MLP):
        raise ValueError(f"net is {type(net).__name__}; allowed: MLP")
    if not isinstance(stack, Stack):
        raise ValueError(f"stack is {type(stack).__name__}; allowed: Stack")
    expect.tensor(Q, "Q", "n r")
    if Q.shape != (stack.params["0.weight"].shape[-1], net.sizes[0]):
        raise ValueError(f"Q has shape {tuple(Q.shape)}; allowed: (n, r) of the networks' inputs and of {net.sizes}")
    weights, biases = (
        [stack.params[f"{k}.{part}"].to(torch.float64) for k in range(net.depth)] for part in ("weight", "bias")
    )
    return net.join(list(zip([weights[0] @ Q, *weights[1:]], biases, strict=True)))


@dataclass(frozen=True, eq=False)
class Task:
    """The regression of Fig. 3: L = 1/T Σ_μ ‖y_μ − f(x_μ)‖²/⟨y_i²⟩.

    Parameters
    ----------
    net : MLP
        the architecture.
    x : torch.Tensor
        inputs (T, n_0) in principal coordinates.
    moments : torch.Tensor
        their second moments (n_0,).
    y : torch.Tensor
        targets (T, n_d).
    """

    net: MLP
    x: torch.Tensor
    moments: torch.Tensor
    y: torch.Tensor

    @property
    def scale(self) -> float:
        """⟨y_i²⟩, the mean over inputs and outputs."""
        return self.y.square().mean().item()

    def loss(self, theta: torch.Tensor) -> torch.Tensor:
        """L of one network θ (p,)."""
        expect.tensor(theta, "theta", "p", finite=False)
        return (self.net.forward(theta, self.x) - self.y).square().sum() / (len(self.x) * self.scale)

    def local(self, theta: torch.Tensor) -> Local:
        """L near θ (p,)."""
        expect.tensor(theta, "theta", "p", dtype=self.x.dtype, finite=False)
        return local_squared_loss(self.net, theta, self.x, self.y, 1 / (len(self.x) * self.scale))

    def metric(self, phi: torch.Tensor, chart: PairChart | None = None) -> Metric:
        """The metric of truncated Newton steps at φ = θ, or at coordinates φ of a chart at fixed δ, its last entry."""
        expect.tensor(phi, "phi", "p", dtype=self.x.dtype, finite=False)
        if chart is not None and (not isinstance(chart, PairChart) or chart.net != self.net):
            raise ValueError(f"chart is {type(chart).__name__}; allowed: None, or a PairChart of this network")
        if len(phi) != (self.net.size if chart is None else self.net.size + 1):
            raise ValueError(f"phi has shape {tuple(phi.shape)}; allowed: ({self.net.size},), with a chart one more")
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
        """A minimum over θ, or over a chart's coordinates at fixed δ; φ, norm of the gradient, products used."""
        expect.tensor(phi, "phi", "p", dtype=self.x.dtype)
        expect.integer(products, "products", least=0)
        expect.number(tol, "tol", least=0)
        if chart is not None and (not isinstance(chart, PairChart) or chart.net != self.net):
            raise ValueError(f"chart is {type(chart).__name__}; allowed: None, or a PairChart of this network")
        if len(phi) != (self.net.size if chart is None else self.net.size + 1):
            raise ValueError(f"phi has shape {tuple(phi.shape)}; allowed: ({self.net.size},), with a chart one more")
        if chart is None:
            return truncated_newton(self.local, phi, products, tol, lambda at: self.metric(at).solve)
        delta = phi[-1:]

        def weights(free: torch.Tensor) -> torch.Tensor:
            return chart.weights(torch.cat([free, delta]))

        def metric(free: torch.Tensor) -> Product:
            return self.metric(torch.cat([free, delta]), chart).solve

        free, norm, used = truncated_newton(
            lambda free: through(weights, free, self.local), phi[:-1], products, tol, metric
        )
        return chart.unit(torch.cat([free, delta])), norm, used


@dataclass(frozen=True, eq=False)
class Merge:
    """One pair of neurons, merged.

    Parameters
    ----------
    path : ConvergedPath
        a minimum at each of K distances.
    accuracy : torch.Tensor
        (K,), share of the images that are classified as their labels say.
    products : int
        products with Hessians, of the whole path.
    """

    path: ConvergedPath
    accuracy: torch.Tensor
    products: int


def towards(distances: int) -> torch.Tensor:
    """Distances δ/δ_0 from 1 to 1/10000, two thirds of them in the first decade, where the loss changes.

    Parameters
    ----------
    distances : int
        K.

    Returns
    -------
    torch.Tensor
        (K,), falling; logarithmic within the first decade and beyond it.

    Examples
    --------
    >>> [round(value, 4) for value in towards(6).tolist()]
    [1.0, 0.5623, 0.3162, 0.1778, 0.1, 0.0001]
    """
    expect.integer(distances, "distances", least=4)
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
    """Move two neurons of layer 2 together and minimise over all else at every distance (section 4.1).

    A distance starts from the last one's minimum as in :func:`~lmc_helpers.permutation_points.converged.follow`, or
    straight on from the last two where that is lower.

    Parameters
    ----------
    task : Task
        what is minimised.
    theta : torch.Tensor
        start (p,), a minimum.
    pair : (int, int)
        neurons of layer 2.
    distances : torch.Tensor
        δ/δ_0 (K,), positive and decreasing.
    labels : torch.Tensor
        classes (T,).
    products : int
        budget of products with Hessians at every distance.
    tol : float
        norm of the gradient at which a minimum has converged.
    show_progress : bool
        show a progress bar where tqdm is installed.

    Returns
    -------
    Merge
        the path, whose gradients say where it has converged.

    Examples
    --------
    >>> x, _, moments = principal(torch.randn(60, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64))
    >>> net = MLP((3, 4, 4, 2), "tanh")
    >>> theta, labels = net.initial(1, seed=1, scale=2.0)[0], torch.zeros(60, dtype=torch.long)
    >>> task = Task(net, x, moments, net.forward(theta, x))
    >>> found = merge(task, theta, (0, 1), torch.tensor([1.0, 0.9, 0.8]), labels, products=1000, tol=1e-8)
    >>> found.path.rises(), bool((found.path.gradient_norm <= 1e-8).all())
    (True, True)
    """
    if not isinstance(task, Task):
        raise ValueError(f"task is {type(task).__name__}; allowed: Task")
    expect.tensor(theta, "theta", "p")
    expect.sizes(pair, "pair", least=0)
    if len(pair) != 2:
        raise ValueError(f"pair = {pair!r}; allowed: two neurons")
    expect.tensor(distances, "distances", "K")
    expect.tensors({"labels": labels})
    expect.integer(products, "products", least=0)
    expect.number(tol, "tol")
    expect.one_of(show_progress, "show_progress", (True, False))
    if distances.amin() <= 0:
        raise ValueError(f"distances hold {distances.amin().item()}; allowed: numbers > 0")
    chart = PairChart(task.net, LAYER)
    theta = chart.bring_forward(theta, *pair)
    first, used, rows = chart.distance(theta), 0, []
    known: list[torch.Tensor] = []  # coordinates at the distances so far
    for distance in progress(distances, description="merging", disable=not show_progress):
        delta = distance * first
        ratio = (delta / chart.distance(theta)).clamp(max=1)[None]
        starts = [chart.coordinates(follow(task.loss, chart, theta, (0, 1), ratio, 0, tol).theta[0])]
        if len(known) > 1:
            before, last = known[-2:]
            starts.append(last + (delta - last[-1]) / (last[-1] - before[-1]) * (last - before))
        start = min(starts, key=lambda at: task.loss(chart.weights(at)).item())
        phi, norm, some = task.minimise(start, products, tol, chart)
        theta, used = chart.weights(phi), used + some
        known = [*known[-1:], phi]
        columns = [theta[task.net.outgoing(LAYER, i)].norm() for i in (0, 1)]
        rows.append((theta, task.loss(theta), torch.tensor(norm, dtype=torch.float64), max(columns)))
    path = ConvergedPath(*(torch.stack(column) for column in zip(*rows, strict=True)))
    scores = torch.stack([accuracy(task.net, one, task.x, labels) for one in path.theta])
    return Merge(path, scores, used)


def permutation_point(
    task: Task, theta: torch.Tensor, labels: torch.Tensor, products: int, tol: float
) -> tuple[float, float, float]:
    """The permutation point beside the end of a path: a minimum of the network with one neuron less.

    Parameters
    ----------
    task : Task
        what is minimised.
    theta : torch.Tensor
        end of the path (p,), the merged neurons of layer 2 in places 0 and 1.
    labels : torch.Tensor
        classes (T,).
    products : int
        budget of products with Hessians.
    tol : float
        norm of the gradient at which it has converged.

    Returns
    -------
    (float, float, float)
        its loss, the norm of its gradient and its accuracy.

    Examples
    --------
    One neuron of layer 2 is not needed, its columns are 0:

    >>> x, _, moments = principal(torch.randn(60, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64))
    >>> net = MLP((3, 4, 4, 2), "tanh")
    >>> theta = net.initial(1, seed=1)[0]
    >>> theta[net.outgoing(2, 1)] = 0
    >>> theta[net.incoming(2, 1)] = theta[net.incoming(2, 0)]
    >>> y = net.forward(theta, x)
    >>> loss, _, share = permutation_point(Task(net, x, moments, y), theta, y.argmax(dim=1), products=50, tol=1e-8)
    >>> loss < 1e-20, share
    (True, 1.0)
    """
    if not isinstance(task, Task):
        raise ValueError(f"task is {type(task).__name__}; allowed: Task")
    expect.tensor(theta, "theta", "p")
    expect.tensors({"labels": labels})
    expect.integer(products, "products", least=0)
    expect.number(tol, "tol")
    small, start = reduce_pair(task.net, theta, LAYER)
    below = Task(small, task.x, task.moments, task.y)
    end, norm, _ = below.minimise(start, products, tol)
    return below.loss(end).item(), norm, accuracy(small, end, task.x, labels).item()


def random_pair(neurons: int, other_than: tuple[int, int], seed: int, purpose: str) -> tuple[int, int]:
    """Two different neurons, all pairs but one being equally likely.

    Parameters
    ----------
    neurons : int
        at least three.
    other_than : (int, int)
        the pair that is left out.
    seed : int
        seed of the draw.
    purpose : str
        what the draw is for, so that no two are the same.

    Returns
    -------
    (int, int)
        in increasing order.

    Examples
    --------
    >>> random_pair(3, (0, 1), 1, "example") in [(0, 2), (1, 2)]
    True
    """
    expect.integer(neurons, "neurons")
    expect.sizes(other_than, "other_than", least=0)
    if len(other_than) != 2:
        raise ValueError(f"other_than = {other_than!r}; allowed: two neurons")
    if neurons < 3:
        raise ValueError(f"{neurons} neurons; allowed: at least 3, so that there is another pair")
    pairs = [(i, j) for j in range(neurons) for i in range(j) if {i, j} != set(other_than)]
    return pairs[numpy_generator(seed, purpose).integers(len(pairs))]


def exponent(found: Mapping[int, Sequence[float]]) -> tuple[float, float, int]:
    """The slope of ln(mean) over ln H, with few values at each width H.

    Their relative spread is taken to be the same at all widths: the mean of the squared ones, weighted by degrees of
    freedom. All widths weigh the same in the least squares; those with fewer than two values are left out.

    Parameters
    ----------
    found : mapping
        H → positive values, losses for example.

    Returns
    -------
    (float, float, int)
        slope, its standard error widened to Student's quantile, and the number of values; (0, 1, 0) if there are two
        values at fewer than two widths.

    Examples
    --------
    >>> slope, error, n = exponent({2: [0.9, 1.1], 8: [0.45, 0.55]})
    >>> round(slope, 9), n
    (-0.5, 4)
    """
    if not isinstance(found, Mapping):
        raise ValueError(f"found is {type(found).__name__}; allowed: a mapping from widths to values")
    for H, values in found.items():
        expect.integer(H, "H", least=1)
        expect.array(values, f"found[{H}]", "n", empty=True)
        if len(values) and min(values) <= 0:
            raise ValueError(f"found[{H}] holds {min(values)}; allowed: numbers > 0")
    several = [H for H, values in found.items() if len(values) > 1]
    if len(several) < 2:
        return 0.0, 1.0, 0
    mean, error = mean_and_error([found[H] for H in several])
    count = np.array([len(found[H]) for H in several])
    spread = np.average(count * (error / mean) ** 2, weights=count - 1)  # squared, relative, of one value
    slope, slope_error = slope_and_error(np.log(several), np.log(mean), np.sqrt(spread / count))
    n = int(count.sum())
    return slope, slope_error * widening(n - len(several) + 1), n


def core_hours(images: int, components: int, widths: Sequence[int], paths: int, distances: int, products: int) -> float:
    """Hours of one core for the products with Hessians: 4 T r H operations each, what the first layer takes.

    Parameters
    ----------
    images, components : int
        T and r.
    widths : sequence of int
        H.
    paths, distances : int
        pairs of each width, distances of each path.
    products : int
        at each distance.

    Returns
    -------
    float
        hours; another machine may differ by a factor of 2 or 3.

    Examples
    --------
    >>> round(core_hours(4000, 640, [10], paths=1, distances=1, products=180_000), 2)
    1.02
    """
    expect.integer(images, "images", least=1)
    expect.integer(components, "components", least=1)
    expect.integer(paths, "paths", least=1)
    expect.integer(distances, "distances", least=1)
    expect.integer(products, "products", least=1)
    expect.array(widths, "widths", "k", empty=True)
    return sum(4 * images * components * H * paths * distances * products for H in widths) / RATE / 3600
