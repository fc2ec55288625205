"""Swap costs of W-asymmetric networks on Gaussian mixtures by four estimates, for the chapter *gaussian mixture*."""

from __future__ import annotations

import torch
from torch.nn.functional import gelu

from lmc_helpers.identifiability import pca_basis, ridge_swaps, swap_costs
from lmc_helpers.identifiability.gaussian_mixture import EXPLAINED, TrainedPairs, hidden_layers
from lmc_helpers.identifiability.relaxed_swaps import ridge_costs
from lmc_helpers.networks.layers import EPS
from lmc_helpers.networks.model import Stack

BETA = 0.01  # β of the relaxed costs, as in App. G.3

#: The estimates of :func:`layer_estimates`: eq. (16) with the principal subspace, eq. (254) by ridge regression.
ESTIMATES = ("subspace", "ridge", "ridge, norms fixed", "its part ‖w‖²")


def norm_as_affine(networks: Stack, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Bias and running batch norm after linear map k as one affine map s ↦ α s + γ, (N, m) each, float64."""
    bias, gain, shift, mean, variance = (
        networks.params[f"{k}.{name}"].double() for name in ("bias", "gain", "shift", "mean", "variance")
    )
    alpha = gain * (variance + EPS).rsqrt()
    return alpha, alpha * (bias - mean) + shift


def ridge_matrix(pairs: TrainedPairs, g: int, neurons: int, inputs: int, norms: bool = True) -> torch.Tensor:
    """Swap costs of all pairs of neurons in the first layer of one network by ridge regression, as in Fig. 15."""
    first, _ = pairs.ends()
    scale, shift = norm_as_affine(first, 0)
    affine = (scale[g], shift[g]) if norms else (None, None)
    index = torch.arange(neurons)
    costs = ridge_costs(
        *pairs.layer(g), pairs.x[g, :inputs].double(), torch.cartesian_prod(index, index), BETA, gelu, *affine
    )
    T = costs.value.view(neurons, neurons)
    diagonal = T.diagonal()
    return T + T.mT - (diagonal[:, None] + diagonal)


def layer_estimates(
    pairs: TrainedPairs, neurons: torch.Tensor, inputs: int, layers: int = 3, beta: float = BETA
) -> dict[tuple[int, str], torch.Tensor]:
    """Swap costs of given pairs of neurons in the first networks by the four :data:`ESTIMATES`."""
    first, _ = pairs.ends()
    layer_inputs = [pairs.x, *hidden_layers(first, pairs.x).values()]
    costs: dict[tuple[int, str], list[torch.Tensor]] = {}
    for k in range(layers):
        scale, shift = norm_as_affine(first, k)
        for g in range(len(pairs)):
            X = layer_inputs[k][g].double()
            layer, sample = pairs.layer(g, k), X[:inputs]
            U = pca_basis(X, explained=EXPLAINED, centred=True)
            relaxed, _ = ridge_swaps(*layer, sample, neurons, beta, gelu)
            fixed, part = ridge_swaps(*layer, sample, neurons, beta, gelu, scale[g], shift[g])
            values = (swap_costs(*layer, U)[tuple(neurons.T)], relaxed, fixed, part)
            for name, value in zip(ESTIMATES, values, strict=True):
                costs.setdefault((k, name), []).append(value)
    return {key: torch.stack(values) for key, values in costs.items()}
