"""What the check of a signature costs: a checked call against the function without the check."""

import pytest
import torch

from lmc_helpers.barrier import loss_barrier
from lmc_helpers.matching import permute
from lmc_helpers.teacher_student.minima import sample_minima
from lmc_helpers.teacher_student.population import kappa

W, OTHER = sample_minima(20, 6, 8, 2, seed=1)
P = torch.arange(20).flip(0)


def square_sum(weights):
    return weights.square().sum(dim=(-2, -1))


CALLS = {
    "permute": (permute, (W, P)),
    "kappa": (kappa, (0.5, 3)),
    "loss_barrier": (loss_barrier, (square_sum, W, OTHER)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("method", ["checked", "bare"])
def test_a_call(benchmark, method, name):
    benchmark.group = name
    function, arguments = CALLS[name]
    assert benchmark(function if method == "checked" else function.__wrapped__, *arguments).isfinite().all()
