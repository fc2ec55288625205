"""Permutations of hidden neurons: products with permutation matrices, determinants by permutations."""

import itertools

import numpy as np
import pytest
import torch
from oracles.linear import I2, by_hand, data, leibniz, matrix, minimum, normal

from lmc_helpers.linear_nets.between import joining_permutations, permute_layers
from lmc_helpers.linear_nets.minimum import component, loss, path_in_minimum
from lmc_helpers.seeds import torch_generator


@pytest.mark.parametrize(("layers", "h"), [(2, 2), (3, 3), (5, 2), (4, 5)])
def test_permuted_layers_are_products_with_permutation_matrices(layers, h):
    rng = torch_generator(0, "permutations")
    weights = [normal(h, h, seed=i) for i in range(layers)]
    perms = [torch.randperm(h, generator=rng) for _ in range(layers - 1)]
    P = [np.eye(h), *(np.array([[float(p[i] == j) for j in range(h)] for i in range(h)]) for p in perms), np.eye(h)]
    permuted = permute_layers(weights, perms)
    for i, W in enumerate(weights):
        np.testing.assert_array_equal(permuted[i].numpy(), P[i + 1] @ W.numpy() @ np.linalg.inv(P[i]))
    X, Y = data(h)
    assert by_hand(permuted, X, Y) == pytest.approx(by_hand(weights, X, Y), rel=1e-9)
    batched = permute_layers([W.expand(2, 3, h, h) for W in weights], perms)
    assert all(many[1, 2].equal(one) for many, one in zip(batched, permuted, strict=True))


@pytest.mark.parametrize("h", [2, 3, 6])
def test_permutations_bring_every_component_into_every_other(h):
    X, Y = data(h, seed=4)
    nets = [minimum(4, X, Y, seed=s, signs=signs) for s, signs in enumerate(itertools.product((1, -1), repeat=3))]
    for a, b in itertools.product(nets, repeat=2):
        joined = permute_layers(a, joining_permutations(a, b, X))
        assert component(joined, X) == component(b, X)
        assert loss(path_in_minimum(joined, b, X, Y, 3), X, Y).max() < 1e-14


@pytest.mark.parametrize("h", [2, 3])
def test_a_permutation_turns_the_orientation_of_its_own_layer_only(h):
    X, Y = data(h, seed=6)
    net = minimum(4, X, Y, seed=1)

    def orientations(weights):
        signs, out = [], X.numpy()
        for W in weights[:-1]:
            out = W.numpy() @ out
            signs.append(np.sign(leibniz(out)))
        return signs

    for layer in range(3):
        for order in itertools.permutations(range(h)):
            perms = [torch.arange(h)] * 3
            perms[layer] = torch.tensor(order)
            odd = leibniz(np.eye(h)[list(order)])
            after = orientations(permute_layers(net, perms))
            assert after == [s * odd if k == layer else s for k, s in enumerate(orientations(net))]


def test_one_neuron_has_no_permutation_that_helps():
    one = matrix([[1.0]])
    assert [p.tolist() for p in joining_permutations([one, one], [2 * one, one / 2], one)] == [[0]]
    with pytest.raises(ValueError, match=r"h = 1 and the components \(1,\) and \(-1,\) differ"):
        joining_permutations([one, one], [-one, -one], one)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: permute_layers([I2, I2], []), "0 permutations for 2 layers; allowed: 1"),
        (lambda: permute_layers([I2, I2], [torch.tensor([0, 0])]), r"permutation 1 is \[0, 0\]; allowed"),
        (lambda: joining_permutations([I2, I2], [I2] * 3, I2), "allowed: the same"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
