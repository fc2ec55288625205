"""What the layers of stacked networks see, and the permutation of neurons that makes two networks' activations agree.

Activation matching (Bürgin et al., section 6) takes the Pearson correlations S_ij between the activations of neuron i
of one network and neuron j of another on the same inputs, and the permutation with the largest Σ_i S_ip(i).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment

from lmc_helpers.stacked_mlp import Architecture, Tensors

__all__ = ["correlations", "layer_inputs", "match_activations", "permute_neurons"]


def layer_inputs(architecture: Architecture, params: Tensors, statistics: Tensors, x: torch.Tensor) -> list:
    """Inputs of every linear map of N ordinary networks: x, then the hidden activations after norm and activation.

    Parameters
    ----------
    architecture, params, statistics
        ordinary networks, as :func:`~lmc_helpers.line_evaluation.pick` returns them.
    x : torch.Tensor
        (n, n_0) for all networks, or (N, n, n_0).

    Returns
    -------
    list of torch.Tensor
        (N, n, n_k) for each linear map with weights, k = 0, 1, ….

    Examples
    --------
    The second map reads the hidden layer, so that it gives the outputs:

    >>> net = Architecture((2, 5, 3), bias=False)
    >>> params, x = net.initial([1, 2]), torch.ones(4, 2)
    >>> hidden = layer_inputs(net, params, {}, x)[1]
    >>> bool(torch.allclose(hidden @ params["1.weight"].mT, net.forward(params, {}, x)))
    True
    """
    some = next(iter(params.values()))
    N = len(some)
    inputs = [x.to(some).expand(N, *x.shape[-2:])]
    for k in range(1, architecture.maps):
        m = architecture.sizes[k]
        upto = replace(
            architecture, sizes=(*architecture.sizes[: k + 1], m), output="trained", loss="mse"
        )  # a network that returns its last hidden layer: identity, no bias
        known = {name: value for name, value in params.items() if int(name.split(".")[0]) < k}
        known[f"{k}.weight"] = torch.eye(m, dtype=some.dtype, device=some.device).expand(N, m, m)
        if architecture.bias:
            known[f"{k}.bias"] = torch.zeros(N, m, dtype=some.dtype, device=some.device)
        with torch.no_grad():
            inputs.append(upto.forward(known, statistics, inputs[0]))
    return inputs


def correlations(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Pearson correlations (…, m, m') between columns of a (…, n, m) and of b (…, n, m'); 0 for constant columns.

    Examples
    --------
    >>> a = torch.tensor([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> correlations(a, -a).round(decimals=9).tolist()
    [[-1.0, 0.0], [0.0, 0.0]]
    """
    unit = []
    for values in (a.double(), b.double()):
        off = values - values.mean(dim=-2, keepdim=True)
        size = torch.linalg.vector_norm(off, dim=-2, keepdim=True)
        scale = torch.linalg.vector_norm(values, dim=-2, keepdim=True)
        constant = size <= 1e-9 * scale
        unit.append(torch.where(constant, 0, off / torch.where(constant, 1, size)))
    return unit[0].mT @ unit[1]


def match_activations(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The permutations with the largest sum of correlations between a and the permuted b.

    Parameters
    ----------
    a, b : torch.Tensor
        activations (..., n, m) of two networks on the same inputs.

    Returns
    -------
    torch.Tensor
        (..., m), int64: neuron i of a is matched with neuron p[i] of b.

    Raises
    ------
    ValueError
        if the shapes differ or n < 2.

    Examples
    --------
    >>> a = torch.randn(50, 4, generator=torch.Generator().manual_seed(1))
    >>> match_activations(a, a[:, [2, 0, 3, 1]]).tolist()
    [1, 3, 0, 2]
    """
    if a.shape != b.shape or a.ndim < 2 or a.shape[-2] < 2:
        raise ValueError(f"activations {tuple(a.shape)}, {tuple(b.shape)}; allowed: equal shapes (..., n >= 2, m)")
    S = correlations(a, b)
    m = S.shape[-1]
    found = [linear_sum_assignment(s, maximize=True)[1] for s in S.reshape(-1, m, m).cpu().numpy()]
    return torch.from_numpy(np.stack(found)).reshape(S.shape[:-1])


def permute_neurons(
    params: Tensors, statistics: Tensors, permutations: dict[int, torch.Tensor]
) -> tuple[Tensors, Tensors]:
    """The same functions with the neurons of hidden layers in another order.

    Parameters
    ----------
    params, statistics : dict of torch.Tensor
        N ordinary networks, name → (N, …).
    permutations : dict of torch.Tensor
        linear map k → (N, m): row i of that map becomes its row p[i], with all that belongs to the neuron, and the
        next map's columns follow.

    Returns
    -------
    (dict, dict)
        parameters and statistics.

    Raises
    ------
    ValueError
        if a map has no next one, or a permutation does not fit.

    Examples
    --------
    >>> net = Architecture((2, 3, 2))
    >>> params, x = net.initial([1, 2]), torch.randn(5, 2, generator=torch.Generator().manual_seed(1))
    >>> other, _ = permute_neurons(params, {}, {0: torch.tensor([[2, 0, 1], [1, 0, 2]])})
    >>> bool(torch.allclose(net.forward(params, {}, x), net.forward(other, {}, x), atol=1e-6))
    True
    """
    params, statistics = dict(params), dict(statistics)
    for k, p in permutations.items():
        W, following = params.get(f"{k}.weight"), params.get(f"{k + 1}.weight")
        if W is None or following is None:
            raise ValueError(f"map {k} is no hidden one; allowed: maps whose outputs a later map reads")
        if p.shape != W.shape[:2] or not (p.sort(dim=-1).values == torch.arange(p.shape[-1], device=p.device)).all():
            raise ValueError(f"p of shape {tuple(p.shape)}; allowed: permutations {tuple(W.shape[:2])}")
        p = p.to(W.device)
        for store in (params, statistics):
            for name in [name for name in store if name.split(".")[0] == str(k)]:
                value = store[name]
                store[name] = torch.take_along_dim(value, p.reshape(*p.shape, *[1] * (value.ndim - 2)), dim=1)
        params[f"{k + 1}.weight"] = torch.take_along_dim(params[f"{k + 1}.weight"], p[:, None], dim=2)
    return params, statistics
