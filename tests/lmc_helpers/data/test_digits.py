"""The digits against what is known of the data set."""

import pytest
import torch

from lmc_helpers.data.digits import digits


def test_all_digits():
    x, labels = digits()
    assert x.shape == (1797, 64) and x.dtype == torch.float64
    assert torch.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert float(x.max()) == 1 and (16 * x == (16 * x).round()).all()
    x, labels = digits(300, seed=2)
    assert len(torch.unique(x, dim=0)) == 300 and len(labels) == 300
    assert digits(300, seed=2)[0].equal(x) and not digits(300, seed=3)[0].equal(x)
    every = {tuple(row) for row in digits()[0].tolist()}
    assert all(tuple(row) in every for row in x.tolist())
    with pytest.raises(ValueError, match="allowed: 1 <= n <= 1797"):
        digits(1798)
