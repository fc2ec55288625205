"""Classifiers whose similar neurons are merged (Brea, Şimşek, Illing & Gerstner, section 5, Fig. 3).

The paper trains networks n_0 → H → H → n_3 and merges, in layer 2, two neurons whose parameter vectors have a high
cosine similarity. Targets of the merged network are the outputs before the softmax of the network itself.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from lmc_helpers._typing import Integer, checked, require_finite
from lmc_helpers.permutation_points.mlp import MLP

__all__ = ["accuracy", "most_similar_neurons"]


@checked
def accuracy(
    net: MLP, theta: Float[Tensor, "*batch p"], x: Float[Tensor, "T n_0"], labels: Int64[Tensor, " T"]
) -> Float[Tensor, " *batch"]:
    """Share of inputs whose largest output is that of their class."""
    require_finite(theta=theta, x=x)
    return (net.forward(theta, x).argmax(dim=-1) == labels).double().mean(dim=-1)


@checked
def most_similar_neurons(
    net: MLP, theta: Float[Tensor, " p"], x: Float[Tensor, "T n_0"], layer: Integer
) -> tuple[int, int]:
    """The two neurons of a layer whose parameter vectors ϑ have the highest cosine similarity.

    Neurons that are 0 on all inputs are left out. Of several such pairs the first in lexicographic order is taken.
    """
    require_finite(theta=theta, x=x)
    dead = (net.hidden(theta, x, layer) == 0).all(dim=0)
    if int((~dead).sum()) < 2:
        raise ValueError(f"{int(dead.sum())} of {len(dead)} neurons are 0 on all inputs; allowed: two active ones")
    rows = torch.stack([theta[net.incoming(layer, i)] for i in range(net.sizes[layer])])  # (n_k, n_{k−1} + 1)
    unit = torch.nn.functional.normalize(rows, dim=1)
    cosine = (unit @ unit.T).fill_diagonal_(-2)
    cosine[dead] = cosine[:, dead] = -2
    first, second = divmod(int(cosine.argmax()), net.sizes[layer])
    return first, second
