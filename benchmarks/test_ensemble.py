"""Many small networks as one batched computation against one network at a time in plain torch.

Both ways train the same networks: the batched one is compared with the loop in float64 over the first epochs, where
rounding has not yet grown.
"""

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
from lmc_helpers.data.digits import digits
from lmc_helpers.device import device, fix_threads
from lmc_helpers.networks.stacked_mlp import Architecture
from lmc_helpers.training.ensemble import Recipe, epoch_order, train

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
THREADS = min(2, torch.get_num_threads())  # OMP_NUM_THREADS=1 for one core

# (a) students of the coherence experiment ----------------------------------------------------------------------

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


class Masked(nn.Module):
    """x ↦ (F + D ⊙ W) x + b."""

    def __init__(self, W, b, F, D):
        super().__init__()
        self.W, self.b = nn.Parameter(W), nn.Parameter(b)
        self.register_buffer("F", F)
        self.register_buffer("D", D)

    def forward(self, x):
        return nn.functional.linear(x, self.F + self.D * self.W, self.b)


class Student(Masked):
    def forward(self, x):
        return super().forward(x).relu().sum(dim=1)


def coherence_problem(k):
    fix_threads(THREADS)
    return latents(1024, seed=1), exact_copy(k, D), bernoulli_masks(1, M, D, 0.15, seed=2)[0]


def students_together(k, recipe, dtype):
    z, U, mask = coherence_problem(k)
    found = train_students(U[None], mask[None], z, [list(range(STUDENTS))], recipe, dtype)
    return found.W[0]


def students_one_by_one(k, recipe, dtype):
    z, U, mask = coherence_problem(k)
    x, y, zero = (z @ U.T).to(dtype), target(z).to(dtype), torch.zeros(M, dtype=dtype)
    W = raw_weights(range(STUDENTS), M, D).to(dtype)
    models = [Student(w.clone(), zero.clone(), torch.zeros_like(w), mask.to(dtype)) for w in W]
    loop(models, x, y, range(STUDENTS), recipe, nn.functional.mse_loss)
    return torch.stack([model.W.detach() for model in models]).double()


@pytest.mark.parametrize("k", [1, 10])
@pytest.mark.parametrize("way", [students_together, students_one_by_one])
def test_students(benchmark, k, way):
    benchmark.group = f"{STUDENTS} coherence students, {k} copies"
    benchmark.pedantic(way, args=(k, F5, torch.float32), rounds=2, warmup_rounds=1)
    short = Recipe(epochs=5, batch=F5.batch, rate=F5.rate, weight_decay=F5.weight_decay)
    both = [f(k, short, torch.float64) for f in (students_together, students_one_by_one)]
    torch.testing.assert_close(*both, rtol=1e-8, atol=1e-9)


# (b) W-MLPs on digits ------------------------------------------------------------------------------------------

NET = Architecture((64, 64, 64, 64, 10), activation="gelu", norm="layer")
SEEDS = range(16)
BATCHES = [16, 64]  # the smaller the batch, the more of the loop's time is overhead
FIXED = 8  # entries of a row that are fixed


def digits_problem(where, dtype):
    fix_threads(THREADS)
    x, y = (part.to(device(where)) for part in digits())
    fixed = {}
    for k in range(NET.maps):
        shape = (1, NET.sizes[k + 1], NET.sizes[k])
        generator = torch.Generator().manual_seed(k)
        mask = (torch.rand(shape, generator=generator).argsort(dim=-1) >= FIXED).to(dtype)
        fixed[k] = (torch.randn(shape, generator=generator).to(dtype) * (1 - mask), mask)
    return x.to(dtype), y, fixed


def nets_together(where, batch, dtype):
    x, y, fixed = digits_problem(where, dtype)
    done = train(NET.initial(SEEDS, dtype, fixed), Recipe(1, batch), x, y, SEEDS).networks
    return done.params["0.weight"].double().cpu()


def as_modules(params, fixed, where):
    models = []
    for i in range(len(params["0.weight"])):
        layers = []
        for k in range(NET.maps):
            layers.append(Masked(params[f"{k}.weight"][i], params[f"{k}.bias"][i], *(part[0] for part in fixed[k])))
            if k < NET.maps - 1:
                layers += [nn.LayerNorm(NET.sizes[k + 1], dtype=params["0.weight"].dtype), nn.GELU()]
        models.append(nn.Sequential(*layers).to(where))
    return models


def nets_one_by_one(where, batch, dtype):
    x, y, fixed = digits_problem(where, dtype)
    models = as_modules(NET.initial(SEEDS, dtype).params, fixed, device(where))
    loop(models, x, y, SEEDS, Recipe(1, batch), nn.functional.cross_entropy)
    return torch.stack([model[0].W.detach() for model in models]).double().cpu()


@pytest.mark.parametrize("where", DEVICES)
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("way", [nets_together, nets_one_by_one])
def test_digits(benchmark, where, batch, way):
    benchmark.group = f"{len(SEEDS)} W-MLPs on digits, batches of {batch}, {where}"
    benchmark.pedantic(way, args=(where, batch, torch.float32), rounds=3, warmup_rounds=1)
    both = [f(where, batch, torch.float64) for f in (nets_together, nets_one_by_one)]
    torch.testing.assert_close(*both, rtol=1e-5, atol=1e-7)
