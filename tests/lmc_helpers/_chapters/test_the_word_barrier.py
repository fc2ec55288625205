"""What chapter *the word barrier* computes, against SciPy and a simulation."""

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

from lmc_helpers._chapters.the_word_barrier import discordance


def test_discordance_is_kendall_s():
    rng = np.random.default_rng(1)
    for n in (3, 4, 50):
        x, y = rng.normal(size=(2, n))
        found, _ = discordance(torch.tensor(x), torch.tensor(y))
        assert found == pytest.approx((1 - kendalltau(x, y).statistic) / 2)
    ties = torch.tensor([1.0, 1.0, 2.0]), torch.tensor([1.0, 2.0, 3.0])
    assert discordance(*ties)[0] == pytest.approx(1 / 6)
    rng = np.random.default_rng(2)
    x = rng.normal(size=(500, 60))
    y = x + rng.normal(size=(500, 60))
    found = np.array([discordance(torch.tensor(u), torch.tensor(v)) for u, v in zip(x, y, strict=True)])
    assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.12)
