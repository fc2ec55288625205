"""The exact batched Hessian against the usual double-backward loop.

Ten 2-5-1 networks on T = 1000 samples, p = 21. The loop differentiates one network at a time, row by row of the
Hessian; the results agree. The rows of a group are to be read as ratios.
"""

import pytest
import torch

from lmc_helpers.permutation_points.hessian import hessian
from lmc_helpers.permutation_points.mlp import MLP, squared_loss
from lmc_helpers.seeds import torch_generator


def batched(loss, theta: torch.Tensor) -> torch.Tensor:
    return hessian(loss, theta)


def row_by_row(loss, theta: torch.Tensor) -> torch.Tensor:
    done = []
    for t in theta:
        t = t.clone().requires_grad_()
        (g,) = torch.autograd.grad(loss(t), t, create_graph=True)
        done.append(torch.stack([torch.autograd.grad(entry, t, retain_graph=True)[0] for entry in g]))
    return torch.stack(done)


@pytest.mark.parametrize("activation", ["softplus", "tanh"])
@pytest.mark.parametrize("method", [batched, row_by_row], ids=lambda f: f.__name__)
def test_hessian(benchmark, method, activation):
    torch.set_num_threads(1)  # the tensors are small: a second thread costs more than it brings
    benchmark.group = f"Hessian, ten 2-5-1 {activation} networks, T = 1000"
    net, generator = MLP((2, 5, 1), activation), torch_generator(1, "benchmark Hessian")
    x = torch.randn(1000, 2, dtype=torch.float64, generator=generator)
    loss, theta = squared_loss(net, x, torch.sin(2 * x[:, :1]) * x[:, 1:]), net.initial(10, seed=1)
    done = benchmark.pedantic(method, args=(loss, theta), rounds=5, warmup_rounds=1)
    torch.testing.assert_close(done, batched(loss, theta), rtol=1e-10, atol=1e-12)
