"""Classifiers whose similar neurons are merged (Brea, Şimşek, Illing & Gerstner, section 5, Fig. 3).

The paper trains networks n_0 → H → H → n_3 and merges, in layer 2, two neurons whose parameter vectors have a high
cosine similarity. Targets of the merged network are the outputs before the softmax of the network itself.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from lmc_helpers._typing import Integer, Natural, Positive, PositiveNumber, checked
from lmc_helpers.permutation_points.mlp import MLP

__all__ = ["accuracy", "most_similar_neurons", "train_classifiers"]


@checked
def accuracy(
    net: MLP, theta: Float[Tensor, "*batch p"], x: Float[Tensor, "T n_0"], labels: Int64[Tensor, " T"]
) -> Float[Tensor, " *batch"]:
    """Share of inputs whose largest output is that of their class.

    Examples
    --------
    Outputs tanh(x) and 0, so that the class is 0 for positive inputs:

    >>> net = MLP((1, 1, 2), "tanh")
    >>> theta = torch.tensor([1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    >>> accuracy(net, theta, torch.tensor([[1.0], [2.0], [-1.0], [-2.0]]), torch.tensor([0, 1, 1, 1]))
    tensor(0.7500, dtype=torch.float64)
    """
    return (net.forward(theta, x).argmax(dim=-1) == labels).double().mean(dim=-1)


@checked
def train_classifiers(
    net: MLP,
    x: Float[Tensor, "T n_0"],
    labels: Int64[Tensor, " T"],
    networks: Positive,
    steps: Natural,
    seed: Integer,
    rate: PositiveNumber = 1e-2,
) -> Float[Tensor, "networks p"]:
    """Networks trained side by side on the negative log-likelihood, by Adam with all inputs in every step.

    Starts are those of ``MLP.initial``.

    Examples
    --------
    >>> x = torch.linspace(-1, 1, 9, dtype=torch.float64)[:, None]
    >>> net, labels = MLP((1, 3, 2), "relu"), (x[:, 0] > 0.2).long()
    >>> accuracy(net, train_classifiers(net, x, labels, networks=2, steps=200, seed=1), x, labels).tolist()
    [1.0, 1.0]
    """
    theta = net.initial(networks, seed).requires_grad_()
    adam = torch.optim.Adam([theta], lr=rate)
    for _ in range(steps):
        adam.zero_grad()
        outputs = net.forward(theta, x).flatten(0, 1)
        cost = torch.nn.functional.cross_entropy(outputs, labels.repeat(networks))
        (networks * cost).backward()
        adam.step()
    return theta.detach()


@checked
def most_similar_neurons(
    net: MLP, theta: Float[Tensor, " p"], x: Float[Tensor, "T n_0"], layer: Integer
) -> tuple[int, int]:
    """The two neurons of a layer whose parameter vectors ϑ have the highest cosine similarity.

    Neurons that are 0 on all inputs are left out. Of several such pairs the first in lexicographic order is taken.

    Examples
    --------
    >>> net = MLP((1, 3, 1), "tanh")
    >>> first = (torch.tensor([[1.0], [-2.0], [3.0]]), torch.tensor([0.1, 0.0, 0.2]))  # W, b
    >>> theta = net.join([first, (torch.ones(1, 3), torch.zeros(1))])
    >>> most_similar_neurons(net, theta, torch.ones(2, 1), layer=1)
    (0, 2)
    """
    dead = (net.hidden(theta, x, layer) == 0).all(dim=0)
    if int((~dead).sum()) < 2:
        raise ValueError(f"{int(dead.sum())} of {len(dead)} neurons are 0 on all inputs; allowed: two active ones")
    rows = torch.stack([theta[net.incoming(layer, i)] for i in range(net.sizes[layer])])  # (n_k, n_{k−1} + 1)
    unit = torch.nn.functional.normalize(rows, dim=1)
    cosine = (unit @ unit.T).fill_diagonal_(-2)
    cosine[dead] = cosine[:, dead] = -2
    first, second = divmod(int(cosine.argmax()), net.sizes[layer])
    return first, second
