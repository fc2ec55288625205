"""Barriers on functions whose barrier is known."""

import math

import numpy as np
import pytest
import torch
from oracles.draws import normal
from scipy.integrate import trapezoid

from lmc_helpers.barrier import GRID, KINDS, barrier_kinds, check_lambdas, loss_barrier, refined_barrier


def quadratic(w):
    return -w.square().sum(dim=(-2, -1))


def test_a_known_barrier_in_batches():
    a, b = normal(2, 5, 3, 4, 2)
    square = (a - b).square().sum(dim=(-2, -1))  # the loss above the chord of −‖w‖² is λ(1−λ)‖a−b‖²
    assert GRID[0] == 0 and GRID[-1] == 1 and len(GRID) == 11
    torch.testing.assert_close(loss_barrier(quadratic, a, b), square / 4)
    torch.testing.assert_close(loss_barrier(quadratic, a, b, [0.1, 0.3]), 0.21 * square)
    flat = lambda w: -w.square().sum(dim=-1)  # noqa: E731  the networks as vectors
    torch.testing.assert_close(refined_barrier(flat, a.flatten(2), b.flatten(2), coarse=4), square / 4)
    a, b = normal(2, 2, 2)
    tilted = lambda w: quadratic(w) + 7 * w.sum(dim=(-2, -1)) + 5  # noqa: E731
    torch.testing.assert_close(loss_barrier(tilted, a, b), loss_barrier(quadratic, a, b))
    bump = lambda w: (w[..., 0, 0] - a[0, 0]).abs() < 0.2 * (a - b).abs()[0, 0]  # noqa: E731  close to a: λ near 1
    first, last = (loss_barrier(lambda w: bump(w).double(), a, b, [x]) for x in (0.1, 0.9))
    assert last == pytest.approx(0.1) and first == pytest.approx(-0.1)


def test_places_of_any_shape_are_checked_as_a_row_is():
    assert check_lambdas(0.5, row=False).shape == () and check_lambdas([[0.0, 1.0]], row=False).shape == (1, 2)
    for bad in (0.5, [[0.0]], []):
        with pytest.raises(ValueError, match="allowed: one or more numbers in a row"):
            check_lambdas(bad)
    for bad in (1.5, [[0.0, -0.1]], math.nan):
        with pytest.raises(ValueError, match="allowed: 0 <= lambda <= 1"):
            check_lambdas(bad, row=False)
    kinds = list(barrier_kinds(torch.tensor([0.0, 1.0, 0.0]), [0, 0.4, 1]))
    assert kinds == [name for name in KINDS if name != "middle"]


def test_refinement_finds_the_supremum():
    a, b = torch.ones(1, 1, dtype=torch.float64), torch.zeros(1, 1, dtype=torch.float64)
    fine = np.linspace(0, 1, 100_001)
    for top in (0.05, 0.333, 0.95):
        bump = lambda w, top=top: -(((w - top) * 2).abs() ** 1.5).sum(dim=(-2, -1))  # noqa: E731
        values = -(abs(2 * (fine - top)) ** 1.5)  # at λ a + (1 − λ) b = λ
        above = values - fine * values[-1] - (1 - fine) * values[0]
        refined = refined_barrier(bump, a, b)
        assert refined >= loss_barrier(bump, a, b) and refined == pytest.approx(above.max(), abs=1e-9)


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
