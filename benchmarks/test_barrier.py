"""The structured barrier of two minima against the dense kernel, and the exact loss against Monte Carlo."""

import pytest
import torch

from lmc_helpers.barrier import GRID, loss_barrier
from lmc_helpers.matching import algorithm_1, permute
from lmc_helpers.teacher_student.between_minima import minima_barriers
from lmc_helpers.teacher_student.minima import sample_minima
from lmc_helpers.teacher_student.population import population_loss


@pytest.mark.parametrize("m", [500, 1000, 2000])
@pytest.mark.parametrize("method", ["structured", "dense"])
def test_barrier(benchmark, method, m):
    M = m // 10
    benchmark.group = f"barrier of one pair, m = {m}, M = d = {M}"
    a, b = sample_minima(m, M, M, 2, seed=1)
    b = permute(b, algorithm_1(a, b))
    functions = {
        "structured": lambda: minima_barriers(a, b, M),
        "dense": lambda: loss_barrier(lambda W: population_loss(W, M), a, b, GRID).item(),
    }
    value = benchmark.pedantic(functions[method], rounds=3, warmup_rounds=1)
    assert value == pytest.approx(minima_barriers(a, b, M), abs=1e-9)


def sampled_barrier(a: torch.Tensor, b: torch.Tensor, M: int, inputs: int) -> float:
    """The barrier from sampled inputs, as one measures it without a closed form."""
    x = torch.randn(inputs, a.shape[1], dtype=a.dtype, generator=torch.Generator().manual_seed(0))
    x = x / x.norm(dim=-1, keepdim=True)
    teacher = torch.relu(x[:, :M]).sum(dim=-1)
    mix = [y * a + (1 - y) * b for y in GRID]
    return max((torch.relu(x @ W.T).sum(dim=-1) - teacher).square().mean().item() for W in mix)


@pytest.mark.parametrize("method", ["exact", "Monte Carlo, 1 %", "Monte Carlo, 0.1 %"])
def test_exact_against_monte_carlo(benchmark, method):
    benchmark.group = "barrier of one pair, m = 20, M = 6, d = 8"
    a, b = sample_minima(20, 6, 8, 2, seed=1)
    exact = loss_barrier(lambda W: population_loss(W, 6), a, b, GRID).item()
    functions = {  # the mean square has a relative spread of about 1.5: error² = spread²/inputs
        "exact": lambda: loss_barrier(lambda W: population_loss(W, 6), a, b, GRID).item(),
        "Monte Carlo, 1 %": lambda: sampled_barrier(a, b, 6, 22_500),
        "Monte Carlo, 0.1 %": lambda: sampled_barrier(a, b, 6, 2_250_000),
    }
    value = benchmark.pedantic(functions[method], rounds=3, warmup_rounds=1)
    assert value == pytest.approx(exact, rel=0.05)
