"""Classifiers whose similar neurons are merged (Brea, Şimşek, Illing & Gerstner, section 5, Fig. 3).

The paper trains networks n_0 → H → H → n_3 and merges, in layer 2, two neurons whose parameter vectors have a high
cosine similarity. Targets of the merged network are the outputs before the softmax of the network itself.
"""

from __future__ import annotations

import torch

from lmc_helpers.permutation_points.mlp import MLP

__all__ = ["accuracy", "most_similar_neurons", "train_classifiers"]


def accuracy(net: MLP, theta: torch.Tensor, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Share of inputs whose largest output is that of their class.

    Parameters
    ----------
    net : MLP
        the architecture; one output a class.
    theta : torch.Tensor
        (..., p).
    x : torch.Tensor
        inputs (T, n_0).
    labels : torch.Tensor
        classes (T,), long.

    Returns
    -------
    torch.Tensor
        (...), float64 in [0, 1].

    Examples
    --------
    Outputs tanh(x) and 0, so that the class is 0 for positive inputs:

    >>> net = MLP((1, 1, 2), "tanh")
    >>> theta = torch.tensor([1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    >>> accuracy(net, theta, torch.tensor([[1.0], [2.0], [-1.0], [-2.0]]), torch.tensor([0, 1, 1, 1]))
    tensor(0.7500, dtype=torch.float64)
    """
    _check_labels(x, labels)
    return (net.forward(theta, x).argmax(dim=-1) == labels).double().mean(dim=-1)


def train_classifiers(
    net: MLP, x: torch.Tensor, labels: torch.Tensor, networks: int, steps: int, seed: int, rate: float = 1e-2
) -> torch.Tensor:
    """Networks trained side by side on the negative log-likelihood, by Adam with all inputs in every step.

    Parameters
    ----------
    net : MLP
        the architecture; one output a class.
    x : torch.Tensor
        inputs (T, n_0).
    labels : torch.Tensor
        classes (T,), long.
    networks : int
        how many; their starts are ``MLP.initial``.
    steps : int
        steps of Adam.
    seed : int
        seed of the starts.
    rate : float
        learning rate.

    Returns
    -------
    torch.Tensor
        (networks, p).

    Examples
    --------
    >>> x = torch.linspace(-1, 1, 9, dtype=torch.float64)[:, None]
    >>> net, labels = MLP((1, 3, 2), "relu"), (x[:, 0] > 0.2).long()
    >>> accuracy(net, train_classifiers(net, x, labels, networks=2, steps=200, seed=1), x, labels).tolist()
    [1.0, 1.0]
    """
    _check_labels(x, labels)
    if steps < 0 or not rate > 0:
        raise ValueError(f"steps = {steps}, rate = {rate}; allowed: steps >= 0 and rate > 0")
    theta = net.initial(networks, seed).requires_grad_()
    adam = torch.optim.Adam([theta], lr=rate)
    for _ in range(steps):
        adam.zero_grad()
        outputs = net.forward(theta, x).flatten(0, 1)
        cost = torch.nn.functional.cross_entropy(outputs, labels.repeat(networks))
        (networks * cost).backward()
        adam.step()
    return theta.detach()


def most_similar_neurons(net: MLP, theta: torch.Tensor, x: torch.Tensor, layer: int) -> tuple[int, int]:
    """The two neurons of a layer whose parameter vectors ϑ have the highest cosine similarity.

    Neurons that are 0 on all inputs are left out.

    Parameters
    ----------
    net : MLP
        the architecture.
    theta : torch.Tensor
        one network (p,).
    x : torch.Tensor
        inputs (T, n_0).
    layer : int
        hidden layer k, 1 <= k < d.

    Returns
    -------
    (int, int)
        different neurons, the first pair in lexicographic order.

    Examples
    --------
    >>> net = MLP((1, 3, 1), "tanh")
    >>> first = (torch.tensor([[1.0], [-2.0], [3.0]]), torch.tensor([0.1, 0.0, 0.2]))  # W, b
    >>> theta = net.join([first, (torch.ones(1, 3), torch.zeros(1))])
    >>> most_similar_neurons(net, theta, torch.ones(2, 1), layer=1)
    (0, 2)
    """
    if theta.ndim != 1:
        raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (p,), one network")
    dead = (net.hidden(theta, x, layer) == 0).all(dim=0)
    if int((~dead).sum()) < 2:
        raise ValueError(f"{int(dead.sum())} of {len(dead)} neurons are 0 on all inputs; allowed: two active ones")
    rows = torch.stack([theta[net.incoming(layer, i)] for i in range(net.sizes[layer])])  # (n_k, n_{k−1} + 1)
    unit = torch.nn.functional.normalize(rows, dim=1)
    cosine = (unit @ unit.T).fill_diagonal_(-2)
    cosine[dead] = cosine[:, dead] = -2
    first, second = divmod(int(cosine.argmax()), net.sizes[layer])
    return first, second


def _check_labels(x: torch.Tensor, labels: torch.Tensor) -> None:
    if labels.shape != (len(x),):
        raise ValueError(f"labels have shape {tuple(labels.shape)}; allowed: ({len(x)},), one class an input")
