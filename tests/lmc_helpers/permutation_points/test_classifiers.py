"""Classifiers against a loop over their neurons in Python and against torch's own modules; refusals."""

import math

import pytest
import torch
from oracles.perceptrons import by_hand, inputs

from lmc_helpers.permutation_points import MLP, accuracy, most_similar_neurons

NET = MLP((2, 4, 3), "tanh")
X = inputs(NET, 25)
LABELS = (2 * X[:, 0].sin() + X[:, 1]).round().long().clamp(0, 2)


def test_accuracy_counts_the_right_answers():
    theta = NET.initial(3, seed=1)
    for t, found in zip(theta, accuracy(NET, theta, X, LABELS), strict=True):
        outputs = by_hand(NET, t, X).tolist()
        right = [max(range(3), key=out.__getitem__) == label for out, label in zip(outputs, LABELS, strict=True)]
        assert found.item() == pytest.approx(sum(right) / len(right))
    net, x = MLP((1, 3, 1), "relu"), torch.tensor([[1.0], [2.0]])
    first = (torch.tensor([[-1.0], [-1.0], [1.0]]), torch.tensor([0.0, 0.0, 1.0]))
    theta = net.join([first, (torch.ones(1, 3), torch.zeros(1))])
    theta[net.incoming(1, 1)] = torch.tensor([-0.5, 1.0])
    assert most_similar_neurons(net, theta, x, 1) == (1, 2)


@pytest.mark.parametrize("layer", [1, 2])
def test_the_most_similar_neurons_by_all_pairs(layer):
    net = MLP((2, 5, 4, 1), "relu")
    for theta in net.initial(20, seed=layer):
        active = [i for i in range(net.sizes[layer]) if net.hidden(theta, X, layer)[:, i].any()]
        if len(active) < 2:
            continue
        vectors = {i: theta[net.incoming(layer, i)].tolist() for i in active}

        def cosine(i, j, vectors=vectors):
            a, b = vectors[i], vectors[j]
            return sum(u * v for u, v in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)

        best = max(((i, j) for i in active for j in active if i < j), key=lambda ij: cosine(*ij))
        assert tuple(sorted(most_similar_neurons(net, theta, X, layer))) == best
