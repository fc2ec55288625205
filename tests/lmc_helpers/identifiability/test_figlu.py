"""The σ-asymmetric activation against loops, and what permutations do to it."""

import itertools
import math

import pytest
import torch

from lmc_helpers.identifiability.asymmetric import FiGLU


def test_it_is_the_formula_entry_by_entry():
    activation = FiGLU(4, seed=3)
    x = torch.randn(2, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    F, found = activation.F.double(), activation(x)
    for a, b, i in itertools.product(range(2), range(5), range(4)):
        gate = sum(F[i, j].item() * x[a, b, j].item() for j in range(4))
        assert found[a, b, i].item() == pytest.approx(x[a, b, i].item() / (1 + math.exp(-gate)), rel=1e-12)


def test_no_permutation_commutes_with_it_but_the_identity():
    activation = FiGLU(4, seed=3)
    x = torch.randn(50, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for p in itertools.permutations(range(4)):
        same = torch.allclose(activation(x[:, p]), activation(x)[:, p])
        assert same == (p == (0, 1, 2, 3))


def test_a_diagonal_gate_acts_neuron_by_neuron_and_commutes():
    activation = FiGLU(3, seed=3)
    activation.F.copy_(2 * torch.eye(3))
    x = torch.randn(9, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(activation(x[:, [2, 0, 1]]), activation(x)[:, [2, 0, 1]])


def test_pairs_share_the_gate_and_layers_do_not():
    assert FiGLU(6, 7, "hidden 1").F.equal(FiGLU(6, 7, "hidden 1").F)
    assert not FiGLU(6, 7, "hidden 1").F.equal(FiGLU(6, 7, "hidden 2").F)
    assert not FiGLU(6, 7).F.equal(FiGLU(6, 8).F)
    F = FiGLU(200, 1).F
    assert F.std().item() == pytest.approx(1, rel=0.03) and abs(F.mean().item()) < 0.02


def test_the_gate_is_not_trained_but_saved():
    activation = FiGLU(3, seed=3)
    assert not list(activation.parameters()) and list(activation.state_dict()) == ["F"]


def test_refuses_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match="m = 0; allowed"):
        FiGLU(0, seed=1)
    with pytest.raises(ValueError, match="2 neurons; allowed: 3"):
        FiGLU(3, seed=1)(torch.zeros(4, 2))
