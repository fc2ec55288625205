"""Classifiers against a loop over their neurons in Python and against torch's own modules; refusals."""

import math

import pytest
import torch
from oracles.perceptrons import by_hand, inputs

from lmc_helpers.permutation_points.classifiers import accuracy, most_similar_neurons, train_classifiers
from lmc_helpers.permutation_points.mlp import MLP

NET = MLP((2, 4, 3), "tanh")
X = inputs(NET, 25)
LABELS = (2 * X[:, 0].sin() + X[:, 1]).round().long().clamp(0, 2)


def test_accuracy_counts_the_right_answers():
    theta = NET.initial(3, seed=1)
    for t, found in zip(theta, accuracy(NET, theta, X, LABELS), strict=True):
        outputs = by_hand(NET, t, X).tolist()
        right = [max(range(3), key=out.__getitem__) == label for out, label in zip(outputs, LABELS, strict=True)]
        assert found.item() == pytest.approx(sum(right) / len(right))


def test_training_is_that_of_a_module_alone():
    theta = train_classifiers(NET, X, LABELS, networks=2, steps=30, seed=4)
    for start, end in zip(NET.initial(2, seed=4), theta, strict=True):
        module = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)).double()
        with torch.no_grad():
            for layer, (W, b) in zip((module[0], module[2]), NET.split(start), strict=True):
                layer.weight.copy_(W)
                layer.bias.copy_(b)
        adam = torch.optim.Adam(module.parameters(), lr=1e-2)
        for _ in range(30):
            adam.zero_grad()
            torch.nn.functional.cross_entropy(module(X), LABELS).backward()
            adam.step()
        torch.testing.assert_close(end, torch.cat([p.detach().flatten() for p in module.parameters()]))
    assert not theta.requires_grad
    assert train_classifiers(NET, X, LABELS, networks=2, steps=0, seed=4).equal(NET.initial(2, seed=4))


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


def test_dead_neurons_are_left_out():
    net, x = MLP((1, 3, 1), "relu"), torch.tensor([[1.0], [2.0]])
    first = (torch.tensor([[-1.0], [-1.0], [1.0]]), torch.tensor([0.0, 0.0, 1.0]))
    theta = net.join([first, (torch.ones(1, 3), torch.zeros(1))])
    with pytest.raises(ValueError, match="2 of 3 neurons are 0 on all inputs; allowed: two active ones"):
        most_similar_neurons(net, theta, x, 1)
    theta[net.incoming(1, 1)] = torch.tensor([-0.5, 1.0])
    assert most_similar_neurons(net, theta, x, 1) == (1, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train_classifiers(NET, X, LABELS, 1, -1, 1), "steps = -1; allowed: steps >= 0"),
        (lambda: train_classifiers(NET, X, LABELS, 1, 1, 1, rate=0.0), "rate = 0.0"),
        (lambda: train_classifiers(NET, X, LABELS, 0, 1, 1), "networks = 0; allowed"),
        (lambda: most_similar_neurons(NET, NET.initial(1, seed=1)[0], X, 2), "layer = 2 is no hidden layer"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
