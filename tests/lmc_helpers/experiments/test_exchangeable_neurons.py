"""Classes of neurons against counting by hand, and matching within them against all permutations."""

from itertools import permutations

import pytest
import torch

from lmc_helpers.data.coherence_inputs import exact_copy, random_frame, sample_frame
from lmc_helpers.experiments.coherence_students import Students
from lmc_helpers.experiments.exchangeable_neurons import align_in_classes, copies_seen, masks_with_counts

DOUBLE = torch.float64


def test_counts_of_random_masks():
    U = exact_copy(3, 8)
    D = (torch.rand(2, 5, 8, generator=torch.Generator().manual_seed(1)) < 0.5).double()
    found = copies_seen(U, D)
    for g in range(2):
        for i in range(5):
            a, b = (sum(int(D[g, i, j]) for j in places) for places in ((0, 2, 4), (1, 3, 5)))
            assert found[g, i].tolist() == [a, b]
    with pytest.raises(ValueError, match="exact copies"):
        copies_seen(random_frame(2, sample_frame(1, 8)), D)


def test_masks_have_their_counts_at_places_of_their_own():
    counts = [(0, 4), (1, 3), (4, 4), (2, 2)]
    D = masks_with_counts(counts, G=200, k=4, d=10, seed=3)
    assert (copies_seen(exact_copy(4, 10), D) == torch.tensor(counts)).all()
    assert not D[..., 8:].any() and ((D == 0) | (D == 1)).all()
    often = D[:, 3, :8].mean(dim=0)  # every place half of the time
    assert ((often - 0.5).abs() < 0.15).all()
    assert D.equal(masks_with_counts(counts, G=200, k=4, d=10, seed=3))
    for wrong in ([(5, 1)], [(-1, 1)]):
        with pytest.raises(ValueError, match="allowed: counts from 0 to k"):
            masks_with_counts(wrong, G=1, k=4, d=10, seed=3)
    with pytest.raises(ValueError, match="2k <= d"):
        masks_with_counts([(1, 1)], G=1, k=6, d=10, seed=3)


def test_matching_is_the_best_within_the_classes():
    generator = torch.Generator().manual_seed(4)
    A = torch.randn(2, 4, 6, 2, dtype=DOUBLE, generator=generator)
    b = torch.randn(2, 4, 6, dtype=DOUBLE, generator=generator)
    copies = torch.tensor([[[1, 2]] * 4 + [[2, 1]] * 2, [[1, 1]] * 3 + [[3, 3]] + [[1, 0]] * 2])
    found = align_in_classes(Students(A, b, A), copies)
    full = torch.cat([A, b[..., None]], dim=-1)
    for g in range(2):
        allowed = [
            p for p in permutations(range(6)) if all((copies[g, i] == copies[g, j]).all() for i, j in enumerate(p))
        ]
        for i in (0, 2):
            best = min(((full[g, i] - full[g, i + 1, list(p)]).square().sum().item(), p) for p in allowed)[1]
            assert found.A[g, i].equal(A[g, i]) and found.b[g, i].equal(b[g, i])
            assert found.A[g, i + 1].equal(A[g, i + 1, list(best)]) and found.b[g, i + 1].equal(b[g, i + 1, list(best)])


def test_refusals():
    A = torch.zeros(1, 3, 2, 2, dtype=DOUBLE)
    with pytest.raises(ValueError, match="allowed: even groups"):
        align_in_classes(Students(A, A[..., 0], A), torch.ones(1, 2, 2))
