"""Matching by the correlations of activations, against numpy and brute force."""

import itertools

import numpy as np
import pytest
import torch

from lmc_helpers.matching import correlations, match_activations


def test_correlations_are_numpys():
    draw = torch.Generator().manual_seed(2)
    a, b = torch.randn(2, 30, 4, generator=draw), torch.randn(2, 30, 3, generator=draw)
    S = correlations(a, b)
    for i in range(2):
        together = np.corrcoef(a[i].double().numpy().T, b[i].double().numpy().T)[:4, 4:]
        assert np.allclose(S[i], together, atol=1e-12)


def test_constant_neurons_have_correlation_0():
    a = torch.randn(20, 3, generator=torch.Generator().manual_seed(3))
    a[:, 1] = 0.1  # not a multiple of 2⁻ⁿ: its mean is rounded
    assert correlations(a, a)[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("m", [1, 2, 5])
def test_matching_is_the_best_permutation(m):
    draw = torch.Generator().manual_seed(m)
    a, b = torch.randn(3, 12, m, generator=draw), torch.randn(3, 12, m, generator=draw)
    found = match_activations(a, b)
    for i in range(3):
        S = np.corrcoef(a[i].double().numpy().T, b[i].double().numpy().T)[:m, m:]
        best = max(itertools.permutations(range(m)), key=lambda p: sum(S[r, p[r]] for r in range(m)))
        assert tuple(found[i].tolist()) == best


def test_planted_permutations_are_found():
    draw = torch.Generator().manual_seed(8)
    a = torch.randn(3, 40, 6, generator=draw)
    p = torch.stack([torch.randperm(6, generator=draw) for _ in range(3)])
    moved = torch.take_along_dim(a, p[:, None], dim=2)
    assert torch.equal(match_activations(a, moved), p.argsort(dim=1))


def test_errors():
    with pytest.raises(ValueError, match="equal shapes"):
        match_activations(torch.zeros(4, 2), torch.zeros(4, 3))
    with pytest.raises(ValueError, match="n >= 2"):
        match_activations(torch.zeros(1, 2), torch.zeros(1, 2))
