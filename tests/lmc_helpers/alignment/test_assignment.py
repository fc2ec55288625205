"""Assignments against brute force; ends that are no pairs are refused."""

import itertools

import pytest
import torch

from lmc_helpers.alignment import assignment
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


@pytest.mark.parametrize("m", [2, 5, 6])
def test_ties_between_equal_units_are_broken_the_same_way_with_and_without_lapx(m, monkeypatch):
    pytest.importorskip("lap")
    generator, orders = torch.Generator().manual_seed(m), torch.tensor(list(itertools.permutations(range(m))))
    C = torch.randn(50, m, m, generator=generator, dtype=torch.float64)
    copies = torch.randint(m, (2, 50, m), generator=generator)  # rows and columns of which some are equal
    C = C.take_along_dim(copies[0][:, :, None], 1).take_along_dim(copies[1][:, None], 2)
    by_lapx = assign(C)
    monkeypatch.setattr(assignment, "lapjvh", None)
    assert torch.equal(assign(C), by_lapx)
    values = C[:, torch.arange(m), orders].sum(-1)  # (50, m!)
    best = values.amax(dim=1)
    assert torch.allclose(C.take_along_dim(by_lapx[..., None], -1).sum((1, 2)), best)
    tied = [orders[value >= top - 1e-9].tolist() for value, top in zip(values, best, strict=True)]
    assert sum(len(of) > 1 for of in tied) > 25  # the case is there


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
