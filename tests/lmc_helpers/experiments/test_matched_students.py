"""Exact correlations against sampled ones, and matchers of minima against each other."""

import numpy as np
import pytest
import torch

from lmc_helpers.alignment.activation_matching import moments
from lmc_helpers.experiments.matched_students import activation_correlations, compare_students
from lmc_helpers.teacher_student.matchings import compare_matchings
from lmc_helpers.teacher_student.minima import sample_minima


@pytest.mark.parametrize("d", [2, 3, 8])
def test_correlations_against_samples(d):
    generator = torch.Generator().manual_seed(d)
    W1, W2 = torch.randn(2, 4, d, dtype=torch.float64, generator=generator)
    x = torch.randn(200_000, d, dtype=torch.float64, generator=generator)
    x = x / x.norm(dim=1, keepdim=True)
    sampled = moments(torch.relu(x @ W1.T)[None], torch.relu(x @ W2.T)[None]).correlations()[0]
    torch.testing.assert_close(activation_correlations(W1, W2), sampled, atol=4.5 / 200_000**0.5, rtol=0)


def test_sizes_do_not_matter():
    generator = torch.Generator().manual_seed(1)
    W1, W2 = torch.randn(2, 3, 5, 4, dtype=torch.float64, generator=generator)
    sizes = 0.1 + torch.rand(3, 5, 1, dtype=torch.float64, generator=generator)
    torch.testing.assert_close(activation_correlations(W1, sizes * W2), activation_correlations(W1, W2))


def test_a_dead_neuron_is_refused():
    with pytest.raises(ValueError, match="a row is 0"):
        activation_correlations(torch.eye(2), torch.zeros(2, 2))


def test_students_as_in_the_chapter_on_algorithm_1():
    W1, W2 = sample_minima(5, 3, 3, 12, seed=3).split(6)
    found, seconds = compare_students(W1, W2, M=3, steps=3, seed=1)
    before = compare_matchings(W1, W2, M=3)
    for here, there in (
        ("best of m!", "best of m!"),
        ("Algorithm 1", "Algorithm 1"),
        ("pair matching", "pair matching"),
        ("weights", "weight matching"),
    ):
        np.testing.assert_allclose(found[here], before.barriers[there], atol=1e-13)
    assert found.keys() == seconds.keys() and min(seconds.values()) > 0
    assert (
        found["straight-through"] <= found["identity"] + 1e-12
    ).mean() > 0.9  # judged half-way, measured at the peak
