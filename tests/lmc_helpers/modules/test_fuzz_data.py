"""Losses, parametrised weights, buffers and loaders drawn at random: the loss of all data on the line, or a refusal."""

import copy
import os
import warnings

import pytest
import torch
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from oracles.draws import normal
from torch import nn
from torch.nn.utils import parametrizations, prune
from torch.utils.data import DataLoader

import lmc_helpers as lmc

SEED = os.environ.get("LMC_FUZZ_SEED")  # as in test_fuzz
N, C = 30, 3


class Buffers(nn.Module):
    """Buffers of all kinds; what they add does not depend on weights."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.tensor(0))
        self.register_buffer("shift", torch.linspace(-1, 1, 8).double())
        self.register_buffer("cache", torch.zeros(8).double(), persistent=False)

    def forward(self, h):
        if self.training:
            self.calls += 1
        self.cache = self.shift.sin()
        return h + self.shift + self.cache


class Reshaped(nn.Module):
    """Outputs (n, C), (n, 1), pixels (n, C, 2, 2), or steps (n, 4, C)."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def forward(self, h):
        if self.kind == "pixels":
            return h.unflatten(1, (C, 2, 2))
        return h.unflatten(1, (4, C)) if self.kind == "steps" else h


WIDTH = {"classes": C, "real": C, "one": 1, "bits": C, "shares": C, "pixels": 4 * C, "steps": 4 * C}
MIDDLE = {
    "nothing": nn.Identity,
    "batch": lambda: nn.BatchNorm1d(8),
    "layer": lambda: nn.LayerNorm(8),
    "dropout": lambda: nn.Dropout(0.5),
    "buffers": Buffers,
}
COMPUTED = {
    "plain": lambda layer: layer,
    "pruned": lambda layer: prune.l1_unstructured(layer, "weight", 0.4),
    "weight norm": parametrizations.weight_norm,
    "spectral": parametrizations.spectral_norm,
    "old weight norm": nn.utils.weight_norm,
    "old spectral": nn.utils.spectral_norm,
}


def network(task, middle, computed, number):
    net = nn.Sequential(
        nn.Linear(5, 8), MIDDLE[middle](), nn.Tanh(), nn.Linear(8, WIDTH[task]), Reshaped(task)
    ).double()
    for k, value in enumerate(net.parameters()):
        value.data = normal(*value.shape, seed=10 * number + k) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for layer in (net[0], net[3]):
            COMPUTED[computed](layer)
        net.train()
        for k in range(3):
            net(normal(N, 5, seed=k))
    return net.eval()


def targets(task, ignored):
    rare = normal(N, 4, seed=7)
    if task in ("classes", "pixels", "steps"):
        y = (rare > 0.2).long() + (rare > 1.2).long()
        if ignored is not None:
            y = torch.where(normal(N, 4, seed=8) > 1, ignored, y)
        return {"classes": y[:, 0], "pixels": y.unflatten(1, (2, 2)), "steps": y}[task]
    real = normal(N, WIDTH[task], seed=9)
    return {"bits": (real > 0).double(), "shares": real.softmax(1)}.get(task, real)


def flat(loss):
    return lambda o, y: loss(o.flatten(0, -2), y.flatten())


@st.composite
def losses(draw, task, ignored):
    """A loss that is a mean over what counts, or a sum."""
    weights = draw(st.sampled_from([None, torch.tensor([1.0, 5.0, 50.0]).double()]))
    reduction = draw(st.sampled_from(["mean", "mean", "sum", "none"]))
    own = draw(st.booleans())
    if task in ("classes", "pixels", "steps"):
        if task == "steps" and reduction == "none":
            reduction = "mean"
        more = {} if ignored is None else {"ignore_index": ignored}
        loss = nn.CrossEntropyLoss(
            weights, reduction=reduction, label_smoothing=draw(st.sampled_from([0.0, 0.1])), **more
        )
        if task == "steps":
            return flat(loss)
        return (lambda o, y: 3 * loss(o, y)) if own and reduction != "none" else loss
    kinds = {
        "bits": [
            nn.BCEWithLogitsLoss(weights, reduction),
            nn.BCEWithLogitsLoss(pos_weight=weights, reduction=reduction),
        ],
        "shares": [nn.CrossEntropyLoss(weights, reduction=reduction), nn.KLDivLoss(reduction="batchmean")],
    }.get(task, [getattr(nn, kind)(reduction=reduction) for kind in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")])
    loss = draw(st.sampled_from(kinds))
    return (lambda o, y: loss(o, y) / 2) if own and loss.reduction != "none" else loss


@st.composite
def loaders(draw, x, y):
    """The data in batches of unequal sizes, in one of the forms that people have."""
    order = torch.tensor(draw(st.permutations(range(N)))) if draw(st.booleans()) else torch.arange(N)
    x, y = x[order], y[order]
    cuts = sorted(draw(st.sets(st.integers(1, N - 1), max_size=4)))
    parts = [(x[i:j], y[i:j]) for i, j in zip([0, *cuts], [*cuts, N], strict=True)]
    form = draw(st.sampled_from(["whole", "pairs", "lists", "dicts", "iterator", "loader", "loader of dicts"]))
    return form, {
        "whole": lambda: (x, y),
        "pairs": lambda: parts,
        "lists": lambda: [list(one) for one in parts],
        "dicts": lambda: [{"input": one, "labels": two, "name": "a"} for one, two in parts],
        "iterator": lambda: iter(parts),
        "loader": lambda: DataLoader(list(zip(x, y, strict=True)), len(parts[0][0])),
        "loader of dicts": lambda: DataLoader(
            [{"input": one, "target": two} for one, two in zip(x, y, strict=True)], 7, drop_last=False
        ),
    }[form]()


def on_the_line(a, b, lam):
    """λ a + (1 − λ) b by the weights that the two compute with and their statistics."""

    def effective(layer):
        if hasattr(layer, "weight_orig") and hasattr(layer, "weight_mask"):
            return layer.weight_orig * layer.weight_mask
        return layer.weight

    made = network("real", "nothing", "plain", 0)
    made[1], made[3], made[4] = copy.deepcopy(a[1]), nn.Linear(8, b[3].out_features).double(), copy.deepcopy(a[4])
    with torch.no_grad():
        for net in (a, b):
            net(normal(N, 5))
        for k in (0, 3):
            made[k].weight = nn.Parameter(lam * effective(a[k]) + (1 - lam) * effective(b[k]))
            made[k].bias = nn.Parameter(lam * a[k].bias + (1 - lam) * b[k].bias)
        pairs = zip(made[1].state_dict().values(), a[1].state_dict().values(), b[1].state_dict().values(), strict=True)
        for value, one, two in pairs:
            if value.is_floating_point():
                value.copy_(lam * one + (1 - lam) * two)
    return made.eval()


@pytest.mark.filterwarnings("ignore:.*batchmean", "ignore:.*deprecated")
@pytest.mark.parametrize("draws", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_drawn_losses_and_data(draws):
    refused = []

    @settings(
        max_examples=draws, derandomize=SEED is None, database=None, deadline=None, suppress_health_check=HealthCheck
    )
    @given(st.data())
    def has_the_loss_of_all_data(data):
        draw = data.draw
        task, middle, computed = (draw(st.sampled_from(list(one))) for one in (WIDTH, MIDDLE, COMPUTED))
        ignored = draw(st.sampled_from([None, -100, 255, 0]))
        x, y, loss = normal(N, 5), targets(task, ignored), draw(losses(task, ignored))
        (a, b), (form, given) = (network(task, middle, computed, k) for k in (1, 2)), draw(loaders(x, y))
        try:
            found = lmc.line(a, b, loss, given, [0, 0.3, 1])
        except ValueError as error:
            assert "; allowed: " in str(error)
            refused.append(f"{task}, {middle}, {computed}, {form}, {loss}: {error}")
            return
        for k, lam in enumerate((0, 0.3, 1)):
            made = on_the_line(a, b, lam)
            with torch.no_grad():
                right = loss(made(x), y).double().mean().item()
            assert found.losses[k].item() == pytest.approx(right, rel=1e-8, abs=1e-12), (middle, computed, form, loss)
            if found.accuracies is not None:
                counted = y != (-100 if ignored is None else ignored)
                outputs = made(x)
                right = (outputs.argmax(-1 if task == "steps" else 1) == y)[counted].double().mean().item()
                assert found.accuracies[k].item() == pytest.approx(right), (task, form, loss)

    (has_the_loss_of_all_data if SEED is None else seed(int(SEED))(has_the_loss_of_all_data))()
    assert len(refused) <= draws / 10, refused
