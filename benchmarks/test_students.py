"""The students of the coherence experiment as one batched computation against one network at a time in plain torch.

Both train the same networks and are compared in float64 over the first epochs, before rounding errors grow.
"""

from dataclasses import replace

import pytest
import torch
from torch import nn

from lmc_helpers._chapters.coherence import (
    F5,
    bernoulli_masks,
    exact_copy,
    latents,
    raw_weights,
    target,
    train_students,
)
from lmc_helpers.device import fix_threads
from lmc_helpers.training._examples import epoch_order

THREADS = min(2, torch.get_num_threads())  # OMP_NUM_THREADS=1 for one core

M, D = 128, 20
STUDENTS = 20


def loop(modules, x, y, seeds, recipe, loss):
    """The usual loop, one network after another."""
    for model, seed in zip(modules, seeds, strict=True):
        optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=recipe.weight_decay)
        for epoch in range(recipe.epochs):
            for batch in epoch_order([seed], len(x), epoch)[0].to(x.device).split(recipe.batch):
                optimiser.zero_grad()
                loss(model(x[batch]), y[batch]).backward()
                optimiser.step()
    return modules


class Student(nn.Module):
    """x ↦ Σ_i ReLU((D ⊙ W)_i · x + b_i)."""

    def __init__(self, W, b, D):
        super().__init__()
        self.W, self.b, self.D = nn.Parameter(W), nn.Parameter(b), D

    def forward(self, x):
        return nn.functional.linear(x, self.D * self.W, self.b).relu().sum(dim=1)


def coherence_problem(k):
    fix_threads(THREADS)
    return latents(1024, seed=1), exact_copy(k, D), bernoulli_masks(1, M, D, 0.15, seed=2)[0]


def batched_students(k, recipe, dtype):
    z, U, mask = coherence_problem(k)
    return train_students(U[None], mask[None], z, [list(range(STUDENTS))], recipe, dtype).W[0]


def students_one_by_one(k, recipe, dtype):
    z, U, mask = coherence_problem(k)
    x, y, zero = (z @ U.T).to(dtype), target(z).to(dtype), torch.zeros(M, dtype=dtype)
    W = raw_weights(range(STUDENTS), M, D).to(dtype)
    models = [Student(w.clone(), zero.clone(), mask.to(dtype)) for w in W]
    loop(models, x, y, range(STUDENTS), recipe, nn.functional.mse_loss)
    return torch.stack([model.W.detach() for model in models]).double()


@pytest.mark.parametrize("k", [1, 10])
@pytest.mark.parametrize("method", [batched_students, students_one_by_one])
def test_students(benchmark, k, method):
    benchmark.group = f"{STUDENTS} coherence students, {k} copies"
    benchmark.pedantic(method, args=(k, F5, torch.float32), rounds=2, warmup_rounds=1)
    short = replace(F5, epochs=5)
    both = [f(k, short, torch.float64) for f in (batched_students, students_one_by_one)]
    torch.testing.assert_close(*both, rtol=1e-8, atol=1e-9)
