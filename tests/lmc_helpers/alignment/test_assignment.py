"""Assignments against brute force; ends that are no pairs are refused."""

import itertools

import pytest
import torch

from lmc_helpers.alignment.assignment import _check_ends, assign, matched_sum
from lmc_helpers.networks.permutations import Axis, Symmetry

SYMMETRY = Symmetry({"h": (Axis("W", 0), Axis("V", 1))}, {"h": 3})


def ends(**changes):
    params = {"W": torch.ones(2, 3, 4), "V": torch.ones(2, 5, 3), "c": torch.ones(2, 5)}
    return params | changes


@pytest.mark.parametrize("m", [1, 2, 5])
def test_no_permutation_is_worth_more(m):
    C = torch.randn(2, 3, m, m, generator=torch.Generator().manual_seed(m))
    p = assign(C)
    assert p.shape == (2, 3, m)
    for index in itertools.product(range(2), range(3)):
        rows = C[index].tolist()
        most = max(sum(rows[i][j] for i, j in enumerate(q)) for q in itertools.permutations(range(m)))
        assert matched_sum(C, p)[index].item() == pytest.approx(most)


def test_no_pairs():
    assert assign(torch.zeros(0, 3, 3)).shape == (0, 3)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (ends(), {"W": torch.ones(2, 3, 4)}, "equal names"),
        (ends(c=torch.ones(3, 5)), ends(c=torch.ones(3, 5)), "one P"),
        ({k: v[:0] for k, v in ends().items()}, {k: v[:0] for k, v in ends().items()}, "P >= 1"),
        (ends(V=torch.ones(2, 5, 2)), ends(V=torch.ones(2, 5, 2)), "on axis 1"),
    ],
)
def test_ends_that_are_no_pairs_are_refused(a, b, said):
    with pytest.raises(ValueError, match=said):
        _check_ends(a, b, SYMMETRY)
