"""What the middle lacks, against outputs written out; the two-state barrier against neurons in two states."""

import math

import pytest
import torch
from scipy.integrate import quad

from lmc_helpers.experiments.coherence_students import Students
from lmc_helpers.experiments.switched_neurons import are_on, middle_lacks, switch_off, two_state_barrier

DOUBLE = torch.float64


def students(G, r, m, seed=0):
    generator = torch.Generator().manual_seed(seed)
    A = torch.randn(G, r, m, 2, dtype=DOUBLE, generator=generator)
    return Students(A.clone(), torch.randn(G, r, m, dtype=DOUBLE, generator=generator), A)


def outputs(A, b, z):
    """One neuron after another."""
    return sum(torch.clamp(z[:, 0] * a[0] + z[:, 1] * a[1] + c, min=0) for a, c in zip(A, b, strict=True))


def test_the_middle_lacks_the_sum_of_all_terms():
    some, z = students(2, 4, 5), torch.randn(300, 2, dtype=DOUBLE, generator=torch.Generator().manual_seed(9))
    found = middle_lacks(some, z)
    assert found.shape == (2, 2, 5) and (found >= 0).all()
    for g in range(2):
        for pair in range(2):
            A, b = some.A[g, 2 * pair : 2 * pair + 2], some.b[g, 2 * pair : 2 * pair + 2]
            ends = (outputs(A[0], b[0], z) + outputs(A[1], b[1], z)) / 2
            lacking = ends - outputs(A.mean(dim=0), b.mean(dim=0), z)
            assert found[g, pair].sum().item() == pytest.approx(lacking.mean().item())


def test_unused_neurons_do_not_change_a_student():
    some, z = students(1, 2, 6, seed=3), torch.rand(200, 2, dtype=DOUBLE)
    some.b[0, :, :3] = -50
    on = are_on(some, z)
    assert not on[..., :3].any()
    on[..., 3:] = True
    rest = switch_off(some, on)
    assert not rest.W[0, :, :3].any() and rest.W[..., 3:, :].equal(some.W[..., 3:, :])
    for i in range(2):
        before, after = (outputs(x.A[0, i], x.b[0, i], z) for x in (some, rest))
        assert before.equal(after)
    assert not middle_lacks(rest, z)[..., :3].any()


def test_on_means_positive_on_more_than_a_quarter():
    A = torch.tensor([[[[1.0, 0.0]]]], dtype=DOUBLE)
    z = torch.tensor([[1.0, 0], [-1, 0], [-1, 0], [-1, 0]], dtype=DOUBLE)
    some = Students(A, torch.zeros(1, 1, 1, dtype=DOUBLE), A)
    assert not are_on(some, z).any() and are_on(some, z[:3]).all()


@pytest.mark.parametrize(("N", "on", "beta"), [(20, 0.5, 0.02), (20, 0.2, 0.3), (50, 0.8, 1.0)])
def test_two_states_by_their_neurons(N, on, beta):
    """Neurons in two states, on and off in shares that π prescribes, and the mean over s by quadrature."""
    used = round(on * N)
    stay = round(on * used)  # on in both

    def square(s):
        c = max(s, 0) / used
        middle = stay * c + 2 * (used - stay) * max((s / used - beta) / 2, 0)
        return (middle - max(s, 0)) ** 2 * math.exp(-s * s / 4) / math.sqrt(4 * math.pi)

    exact = quad(square, 0, used * beta, limit=200)[0] + quad(square, used * beta, 60, limit=200)[0]
    share = stay / used  # the share of those on that stay on
    assert two_state_barrier(N, used / N, beta) * ((1 - share) / (1 - used / N)) ** 2 == pytest.approx(exact, rel=1e-6)


def test_two_states_grow_with_the_number_up_to_a_limit():
    values = [two_state_barrier(N, 0.3, 0.1) for N in (0, 1, 3, 10, 100, 10_000)]
    assert values[0] == 0 and values == sorted(values) and values[-1] == pytest.approx(0.49)
    assert two_state_barrier(0.1, 0.3, 0.1) == pytest.approx(0.49 * 0.003**2 / 2, rel=0.01)
    assert two_state_barrier(80, 1, 0.1) == 0


def test_refusals():
    with pytest.raises(ValueError, match="allowed: pairs"):
        middle_lacks(students(1, 3, 2), torch.zeros(4, 2, dtype=DOUBLE))
    for bad in ((-1, 0.5, 0.1), (1, 1.5, 0.1), (1, 0.5, -0.1)):
        with pytest.raises(ValueError, match="allowed: N >= 0"):
            two_state_barrier(*bad)
