"""All swap costs of a layer of 512 neurons at once against one pair after another."""

import pytest
import torch

from lmc_helpers.device import fix_threads
from lmc_helpers.identifiability.asymmetric import WAsymmetric
from lmc_helpers.identifiability.costs import swap_costs
from lmc_helpers.seeds import torch_generator

NEURONS, INPUTS = 512, 512
DIMENSIONS = [8, 50]  # of the inputs' subspace


def problem(k):
    fix_threads(1)
    generator = torch_generator(1, f"benchmark {k}")
    F, D = WAsymmetric(fixed=64, sigma=1.0).draw((NEURONS, INPUTS), generator)
    W = torch.randn(NEURONS, INPUTS, dtype=torch.float64, generator=generator) / INPUTS**0.5
    U = torch.linalg.qr(torch.randn(INPUTS, k, dtype=torch.float64, generator=generator))[0]
    return F, D, W, U


def batched(F, D, W, U):
    return swap_costs(F, D, W, U)


def pair_by_pair(F, D, W, U):
    """Eq. (16) for one pair after another, with each S_i inverted once."""
    v, r = F @ U, (D * W) @ U
    P = [torch.linalg.inv(U.T @ (d.square()[:, None] * U)) for d in D]
    own = [r[i] @ P[i] @ r[i] for i in range(len(F))]
    costs = torch.zeros(len(F), len(F), dtype=torch.float64)
    for i in range(len(F)):
        for j in range(i):
            x = v[j] - v[i] + r[j]
            y = v[i] - v[j] + r[i]
            costs[i, j] = costs[j, i] = x @ P[i] @ x + y @ P[j] @ y - own[i] - own[j]
    return costs


@pytest.mark.parametrize("k", DIMENSIONS)
@pytest.mark.parametrize("method", [batched, pair_by_pair])
def test_every_pair_of_a_layer(benchmark, k, method):
    benchmark.group = f"{NEURONS} neurons, k = {k}"
    arguments = problem(k)
    result = benchmark.pedantic(method, args=arguments, rounds=3, warmup_rounds=1)
    expected = batched(*arguments) if method is pair_by_pair else pair_by_pair(*arguments)
    torch.testing.assert_close(result, expected, rtol=1e-9, atol=1e-9)
