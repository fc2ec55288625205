"""Swap costs of networks that were trained on Gaussian mixtures (Bürgin et al., section 6, Q3, Fig. 5 and App. G.3).

The costs of eq. (16) use the principal subspace of a layer's inputs with 90 % of the variance. App. G.3 compares them
with relaxed costs, eq. (254): ridge regression on the outputs, for networks whose batch norms stay fixed.
"""

from __future__ import annotations

import torch
from torch.nn.functional import gelu

from lmc_helpers.experiments.mixture_pairs import TrainedPairs
from lmc_helpers.identifiability.costs import swap_costs
from lmc_helpers.identifiability.input_subspace import pca_basis
from lmc_helpers.identifiability.relaxed_swaps import ridge_swaps

__all__ = ["ESTIMATES", "centre_shifts", "first_layer_basis", "first_layer_costs", "layer_estimates", "neuron_pairs"]

EXPLAINED = 0.9  # share of the variance that the subspace holds
BETA = 0.01  # β of the relaxed costs, as in App. G.3

#: What :func:`layer_estimates` compares.
ESTIMATES = ("subspace", "ridge", "ridge, norms fixed", "its part ‖w‖²")


def neuron_pairs(m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Indices i < j of all pairs of m neurons, (m(m − 1)/2,) each.

    Examples
    --------
    >>> [indices.tolist() for indices in neuron_pairs(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
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
    return pca_basis(pairs.x[g], explained=EXPLAINED, centred=centred)


def first_layer_costs(pairs: TrainedPairs, when: str, centred: bool = True) -> torch.Tensor:
    """Swap costs, eq. (16), of all pairs of neurons in the first layer of the first network of each cluster.

    Parameters
    ----------
    pairs : TrainedPairs
        G clusters.
    when : str
        ``"before"`` or ``"after"`` training.
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
    found = []
    for g in range(len(pairs)):
        cost = swap_costs(*pairs.layer(g, 0, when), first_layer_basis(pairs, g, centred))
        found.append(cost[neuron_pairs(len(cost))])
    return torch.stack(found)


def centre_shifts(pairs: TrainedPairs, when: str) -> tuple[torch.Tensor, torch.Tensor]:
    """What the fixed and the trained parts of the first layer contribute to a swap: δ² and ρ² of Thm 4.5.

        δ² = ‖δ_(ij)‖² = 2 ‖v_i − v_j‖²,      ρ² = (‖r_i‖² + ‖r_j‖²)/δ²

    Parameters
    ----------
    pairs : TrainedPairs
        G clusters.
    when : str
        ``"before"`` or ``"after"`` training.

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


def layer_estimates(
    pairs: TrainedPairs, neurons: torch.Tensor, inputs: int, layers: int = 3
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

    Returns
    -------
    dict of torch.Tensor
        (layer, estimate) → (G, P): eq. (16), relaxed costs without norms, with the norms fixed, and the part ``‖w‖²``
        of the latter.

    Raises
    ------
    ValueError
        if the networks have no batch norm.

    Examples
    --------
    >>> from lmc_helpers.experiments.mixture_pairs import Setting, train_pairs
    >>> (pairs,) = train_pairs([Setting(k=2)], clusters=1, seed=1, samples=64, epochs=1, norm="batch")
    >>> found = layer_estimates(pairs, torch.tensor([[0, 1]]), inputs=20, layers=1)
    >>> sorted(found) == sorted((0, name) for name in ESTIMATES)
    True
    """
    first, _ = pairs.ends()
    seen = first.layer_inputs(pairs.x)
    found: dict[tuple[int, str], list[torch.Tensor]] = {}
    for k in range(layers):
        scale, shift = first.norm_as_affine(k)
        for g in range(len(pairs)):
            X = seen[k][g].double()
            layer, some = pairs.layer(g, k), X[:inputs]
            U = pca_basis(X, explained=EXPLAINED, centred=True)
            relaxed, _ = ridge_swaps(*layer, some, neurons, BETA, gelu)
            fixed, part = ridge_swaps(*layer, some, neurons, BETA, gelu, scale[g], shift[g])
            values = (swap_costs(*layer, U)[tuple(neurons.T)], relaxed, fixed, part)
            for name, value in zip(ESTIMATES, values, strict=True):
                found.setdefault((k, name), []).append(value)
    return {key: torch.stack(values) for key, values in found.items()}
