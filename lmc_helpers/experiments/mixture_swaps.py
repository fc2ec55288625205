"""Swap costs of networks that were trained on Gaussian mixtures (Bürgin et al., section 6, Q3, Fig. 5 and App. G.3).

The costs of eq. (16) use the principal subspace of a layer's inputs with 90 % of the variance. App. G.3 compares them
with relaxed costs, eq. (254): ridge regression on the outputs, for networks whose batch norms stay fixed.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from scipy.stats import spearmanr
from torch.nn.functional import gelu

from lmc_helpers import expect
from lmc_helpers.experiments.mixture_pairs import TrainedPairs
from lmc_helpers.identifiability.costs import swap_costs
from lmc_helpers.identifiability.input_subspace import pca_basis
from lmc_helpers.identifiability.relaxed_swaps import ridge_costs, ridge_swaps
from lmc_helpers.identifiability.swaps import swap_terms

__all__ = [
    "ESTIMATES",
    "LOW",
    "centre_shifts",
    "first_layer_basis",
    "first_layer_costs",
    "layer_estimates",
    "low_partners",
    "neuron_pairs",
    "ridge_matrix",
    "what_orders",
]

EXPLAINED = 0.9  # share of the variance that the subspace holds
BETA = 0.01  # β of the relaxed costs, as in App. G.3
LOW = 0.1  # a swap cost is low if it is below LOW times the median cost at σ_F = 1

#: What :func:`layer_estimates` compares.
ESTIMATES = ("subspace", "ridge", "ridge, norms fixed", "its part ‖w‖²")


def neuron_pairs(m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Indices i < j of all pairs of m neurons, (m(m − 1)/2,) each.

    Examples
    --------
    >>> [indices.tolist() for indices in neuron_pairs(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    expect.integer(m, "m", least=1)
    i, j = torch.triu_indices(m, m, 1)
    return i, j


def first_layer_basis(pairs: TrainedPairs, g: int, centred: bool = True) -> torch.Tensor:
    """Principal directions of the inputs of cluster g that hold 90 % of the variance.

    Parameters
    ----------
    pairs : TrainedPairs
        G clusters.
    g : int
        which one.
    centred : bool
        principal components of the centred inputs, or of the inputs as they are.

    Returns
    -------
    torch.Tensor
        U (d, k), float64.

    Examples
    --------
    >>> from lmc_helpers.experiments.mixture_pairs import Setting, train_pairs
    >>> (pairs,) = train_pairs([Setting(k=2)], clusters=1, seed=1, samples=64, epochs=0)
    >>> first_layer_basis(pairs, 0).shape[0]
    128
    """
    if not isinstance(pairs, TrainedPairs):
        raise ValueError(f"pairs is {type(pairs).__name__}; allowed: TrainedPairs")
    expect.integer(g, "g", least=0, most=len(pairs) - 1)
    expect.one_of(centred, "centred", (True, False))
    return _basis(pairs, g, centred)


@lru_cache(maxsize=256)
def _basis(pairs: TrainedPairs, g: int, centred: bool) -> torch.Tensor:
    X = pairs.x[g].double()
    if centred:
        X = X - X.mean(dim=0)
    return pca_basis(torch.linalg.qr(X, mode="r").R, explained=EXPLAINED)  # XᵀX = RᵀR


def first_layer_costs(pairs: TrainedPairs, when: str | int, centred: bool = True) -> torch.Tensor:
    """Swap costs, eq. (16), of all pairs of neurons in the first layer of the first network of each cluster.

    Parameters
    ----------
    pairs : TrainedPairs
        G clusters.
    when : str or int
        ``"before"`` or ``"after"`` training, or an epoch that was kept.
    centred : bool
        as in :func:`first_layer_basis`.

    Returns
    -------
    torch.Tensor
        (G, m(m − 1)/2), in the order of :func:`neuron_pairs`.

    Examples
    --------
    >>> from lmc_helpers.experiments.mixture_pairs import Setting, train_pairs
    >>> (pairs,) = train_pairs([Setting(k=2)], clusters=2, seed=1, samples=64, epochs=0)
    >>> first_layer_costs(pairs, "before").shape
    torch.Size([2, 2016])
    """
    if not isinstance(pairs, TrainedPairs):
        raise ValueError(f"pairs is {type(pairs).__name__}; allowed: TrainedPairs")
    expect.one_of(centred, "centred", (True, False))
    found = []
    for g in range(len(pairs)):
        cost = swap_costs(*pairs.layer(g, 0, when), first_layer_basis(pairs, g, centred))
        found.append(cost[neuron_pairs(len(cost))])
    return torch.stack(found)


def centre_shifts(pairs: TrainedPairs, when: str | int) -> tuple[torch.Tensor, torch.Tensor]:
    """What the fixed and the trained parts of the first layer contribute to a swap: δ² and ρ² of Thm 4.5.

        δ² = ‖δ_(ij)‖² = 2 ‖v_i − v_j‖²,      ρ² = (‖r_i‖² + ‖r_j‖²)/δ²

    Parameters
    ----------
    pairs : TrainedPairs
        G clusters.
    when : str or int
        ``"before"`` or ``"after"`` training, or an epoch that was kept.

    Returns
    -------
    (torch.Tensor, torch.Tensor)
        (G, m(m − 1)/2) each, in the order of :func:`neuron_pairs`; the theorem assumes ρ <= 1.

    Examples
    --------
    >>> from lmc_helpers.experiments.mixture_pairs import Setting, train_pairs
    >>> (pairs,) = train_pairs([Setting(k=2, sigma=0.0)], clusters=1, seed=1, samples=64, epochs=0)
    >>> delta2, rho2 = centre_shifts(pairs, "before")
    >>> delta2.max().item(), rho2.min().item()
    (0.0, inf)
    """
    if not isinstance(pairs, TrainedPairs):
        raise ValueError(f"pairs is {type(pairs).__name__}; allowed: TrainedPairs")
    shifts, ratios = [], []
    for g in range(len(pairs)):
        F, D, W = pairs.layer(g, 0, when)
        U = first_layer_basis(pairs, g)
        v, r = F.double() @ U, (D * W).double() @ U  # (m, k)
        i, j = neuron_pairs(len(v))
        delta2 = 2 * (v[i] - v[j]).square().sum(dim=1)
        moved = r.square().sum(dim=1)
        shifts.append(delta2)
        ratios.append((moved[i] + moved[j]) / delta2)
    return torch.stack(shifts), torch.stack(ratios)


def low_partners(costs: torch.Tensor, median: torch.Tensor | None = None, m: int = 64) -> torch.Tensor:
    """How many partners a neuron can be swapped with at low cost: less than LOW times the median cost.

    Parameters
    ----------
    costs : torch.Tensor
        (G, m(m − 1)/2) costs of pairs.
    median : torch.Tensor, optional
        (G,) the median cost to compare with; by default that of ``costs``.
    m : int
        neurons.

    Returns
    -------
    torch.Tensor
        (G,), means over the neurons, from 0 to m − 1.

    Examples
    --------
    >>> low_partners(torch.tensor([[0.01, 1.0, 2.0]]), m=3)  # one pair of three neurons
    tensor([0.6667], dtype=torch.float64)
    """
    expect.tensor(costs, "costs", "G n")
    expect.integer(m, "m", least=2)
    if costs.shape[1] != m * (m - 1) // 2:
        raise ValueError(f"costs has shape {tuple(costs.shape)} for m = {m}; allowed: (G, {m * (m - 1) // 2})")
    if median is not None and (not isinstance(median, torch.Tensor) or median.shape != costs.shape[:1]):
        raise ValueError(f"median = {median!r}; allowed: None, or a tensor of {len(costs)} numbers")
    median = costs.median(dim=1).values if median is None else median
    return (costs < LOW * median[:, None]).double().mean(dim=1) * (m - 1)


def what_orders(pairs: TrainedPairs, when: str | int) -> dict[str, torch.Tensor]:
    """What orders the swap costs of the first layers: the fixed parts, the beginning, or training.

    Parameters
    ----------
    pairs : TrainedPairs
        G clusters, σ_F > 0.
    when : str or int
        ``"before"`` or ``"after"`` training, or an epoch that was kept.

    Returns
    -------
    dict of torch.Tensor
        (G,) each: ``"centres"`` and ``"before"``, the rank correlations of the costs with ‖δ_(ij)‖² and with the costs
        before training; ``"ratio"``, the share of pairs with ρ <= 1; ``"dominated"``, the share of pairs whose centre
        term of eq. (16) exceeds the absolute value of the other two together.

    Examples
    --------
    >>> from lmc_helpers.experiments.mixture_pairs import Setting, train_pairs
    >>> (pairs,) = train_pairs([Setting(k=2)], clusters=2, seed=1, samples=64, epochs=0)
    >>> {name: value.shape for name, value in what_orders(pairs, "before").items()}["ratio"]
    torch.Size([2])
    """
    if not isinstance(pairs, TrainedPairs):
        raise ValueError(f"pairs is {type(pairs).__name__}; allowed: TrainedPairs")
    costs, then = first_layer_costs(pairs, when), first_layer_costs(pairs, "before")
    delta2, rho2 = centre_shifts(pairs, when)
    dominated = []
    for g in range(len(pairs)):
        terms = swap_terms(*pairs.layer(g, 0, when), first_layer_basis(pairs, g))
        centre, cross, mismatch = (term[neuron_pairs(len(term))] for term in terms)
        dominated.append((centre > (cross + mismatch).abs()).double().mean())

    def ranks(other: torch.Tensor) -> torch.Tensor:
        return torch.tensor([spearmanr(a, b).statistic for a, b in zip(costs, other, strict=True)])

    return {
        "centres": ranks(delta2),
        "before": ranks(then),
        "ratio": (rho2 <= 1).double().mean(dim=1),
        "dominated": torch.stack(dominated),
    }


def ridge_matrix(
    pairs: TrainedPairs, g: int, neurons: int, inputs: int, norms: bool = True, beta: float = BETA
) -> torch.Tensor:
    """Swap costs of all pairs of neurons in the first layer of one network by ridge regression, as in Fig. 15.

    Parameters
    ----------
    pairs : TrainedPairs
        clusters, trained with batch norm; the first network of cluster ``g`` is taken.
    g : int
        which one.
    neurons : int
        the first so many neurons.
    inputs : int
        how many inputs the regression sees.
    norms : bool
        whether the neuron includes its bias and its batch norm, fixed.
    beta : float
        β.

    Returns
    -------
    torch.Tensor
        (neurons, neurons), symmetric, 0 on the diagonal.

    Examples
    --------
    >>> from lmc_helpers.experiments.mixture_pairs import Setting, train_pairs
    >>> (pairs,) = train_pairs([Setting(k=2)], clusters=1, seed=1, samples=64, epochs=1, norm="batch")
    >>> ridge_matrix(pairs, 0, neurons=3, inputs=20).shape
    torch.Size([3, 3])
    """
    if not isinstance(pairs, TrainedPairs):
        raise ValueError(f"pairs is {type(pairs).__name__}; allowed: TrainedPairs")
    expect.integer(g, "g", least=0, most=len(pairs) - 1)
    expect.integer(neurons, "neurons", least=1)
    expect.integer(inputs, "inputs", least=1)
    expect.one_of(norms, "norms", (True, False))
    expect.number(beta, "beta", least=0)
    first, _ = pairs.ends()
    scale, shift = first.norm_as_affine(0)
    affine = (scale[g], shift[g]) if norms else (None, None)
    every = torch.arange(neurons)
    found = ridge_costs(
        *pairs.layer(g), pairs.x[g, :inputs].double(), torch.cartesian_prod(every, every), beta, gelu, *affine
    )
    T = found.value.view(neurons, neurons)
    own = T.diagonal()
    return T + T.mT - own[:, None] - own


def layer_estimates(
    pairs: TrainedPairs, neurons: torch.Tensor, inputs: int, layers: int = 3, beta: float = BETA
) -> dict[tuple[int, str], torch.Tensor]:
    """Swap costs of some pairs of neurons in the first networks by the four estimates of :data:`ESTIMATES`.

    Parameters
    ----------
    pairs : TrainedPairs
        G clusters, trained with batch norm.
    neurons : torch.Tensor
        (P, 2) indices of neurons, the same in all layers.
    inputs : int
        how many inputs of a layer ridge regression sees; the subspace is that of all of them.
    layers : int
        the first so many linear maps.
    beta : float
        β of the relaxed costs.

    Returns
    -------
    dict of torch.Tensor
        (layer, estimate) → (G, P): eq. (16), relaxed costs without norms, with the norms fixed, and the part ``‖w‖²``
        of the latter.

    Examples
    --------
    >>> from lmc_helpers.experiments.mixture_pairs import Setting, train_pairs
    >>> (pairs,) = train_pairs([Setting(k=2)], clusters=1, seed=1, samples=64, epochs=1, norm="batch")
    >>> found = layer_estimates(pairs, torch.tensor([[0, 1]]), inputs=20, layers=1)
    >>> sorted(found) == sorted((0, name) for name in ESTIMATES)
    True
    """
    if not isinstance(pairs, TrainedPairs):
        raise ValueError(f"pairs is {type(pairs).__name__}; allowed: TrainedPairs")
    expect.tensors({"neurons": neurons})
    if neurons.dtype != torch.long or neurons.shape[1:] != (2,) or not len(neurons):
        raise ValueError(f"neurons has shape {tuple(neurons.shape)}, {neurons.dtype}; allowed: (P, 2), torch.long")
    expect.integer(inputs, "inputs", least=1)
    expect.integer(layers, "layers", least=1)
    expect.number(beta, "beta", least=0)
    first, _ = pairs.ends()
    seen = first.layer_inputs(pairs.x)
    found: dict[tuple[int, str], list[torch.Tensor]] = {}
    for k in range(layers):
        scale, shift = first.norm_as_affine(k)
        for g in range(len(pairs)):
            X = seen[k][g].double()
            layer, some = pairs.layer(g, k), X[:inputs]
            U = pca_basis(X, explained=EXPLAINED, centred=True)
            relaxed, _ = ridge_swaps(*layer, some, neurons, beta, gelu)
            fixed, part = ridge_swaps(*layer, some, neurons, beta, gelu, scale[g], shift[g])
            values = (swap_costs(*layer, U)[tuple(neurons.T)], relaxed, fixed, part)
            for name, value in zip(ESTIMATES, values, strict=True):
                found.setdefault((k, name), []).append(value)
    return {key: torch.stack(values) for key, values in found.items()}
