"""What chapter *the word barrier* computes, against SciPy, a simulation and a loop over places."""

import numpy as np
import pytest
import torch
from scipy.integrate import trapezoid
from scipy.stats import kendalltau

from lmc_helpers._chapters.the_word_barrier import KINDS, barrier_kinds, discordance


def test_discordance_is_kendall_s():
    rng = np.random.default_rng(1)
    for n in (3, 4, 50):
        x, y = rng.normal(size=(2, n))
        found, _ = discordance(torch.tensor(x), torch.tensor(y))
        assert found == pytest.approx((1 - kendalltau(x, y).statistic) / 2)
    ties = torch.tensor([1.0, 1.0, 2.0]), torch.tensor([1.0, 2.0, 3.0])
    assert discordance(*ties)[0] == pytest.approx(1 / 6)


def test_the_error_of_a_discordance_is_its_spread():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(500, 60))
    y = x + rng.normal(size=(500, 60))
    found = np.array([discordance(torch.tensor(u), torch.tensor(v)) for u, v in zip(x, y, strict=True)])
    assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.12)


# ---------- kinds of barrier


@pytest.mark.parametrize("places", [[0, 0.5, 1], [0, 0.1, 0.5, 0.6, 1], np.linspace(0, 1, 21).tolist()])
def test_each_kind_is_what_its_name_says(places):
    loss = np.random.default_rng(len(places)).normal(size=(3, 2, len(places)))
    found = barrier_kinds(torch.tensor(loss), places)
    assert list(found) == list(KINDS)
    for index in np.ndindex(3, 2):
        line = loss[index]
        chord = [lam * line[-1] + (1 - lam) * line[0] for lam in places]
        expected = {
            "chord": max(value - c for value, c in zip(line, chord, strict=True)),
            "mean": max(line) - 0.5 * (line[0] + line[-1]),
            "worse": max(line) - max(line[0], line[-1]),
            "better": max(line) - min(line[0], line[-1]),
            "middle": line[places.index(0.5)] - 0.5 * (line[0] + line[-1]),
            "area": trapezoid(line - np.array(chord), places),
        }
        for name, value in expected.items():
            assert found[name][index].item() == pytest.approx(value, abs=1e-12), name


def test_ends_of_equal_loss_make_all_baselines_equal():
    line = torch.tensor([0.25, 0.5, 3.0, 0.25])
    found = barrier_kinds(line, [0, 0.4, 0.5, 1])
    assert {found[name].item() for name in ("chord", "mean", "worse", "better", "middle")} == {2.75}
