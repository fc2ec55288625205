"""Losses along lines against one torch network at a time; batches of any size give the same numbers."""

import pytest
import torch
from oracles.networks import DOUBLE, numbers, perturbed
from torch import nn

from lmc_helpers.networks import segments
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.segments import along_segments, scores
from lmc_helpers.networks.vit import ViT

LAMBDAS = [0, 0.3, 0.5, 1]
MODELS = [
    MLP((5, 7, 6, 3), "gelu", "layer"),
    CNN(3, 3, 1, input_shape=(1, 6, 6), classes=3),
    ViT(2, 6, 1, 2, 1, 0.5, (1, 4, 4), 3),
    MLP((5, 7, 3), norm="running"),
]


def example(model, P=2, n=9):
    a, b = (perturbed(model, P, seed=seed) for seed in (1, 2))
    y = torch.randint(3, (P, n), generator=torch.Generator().manual_seed(1))
    return a, b, numbers(P, n, *model.input_shape), y


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("activation", "parameters"), [(2**21, 2**26), (1, 1), (64 * 400, 2**26)])
def test_lines_are_their_networks_one_by_one(monkeypatch, model, shared, activation, parameters):
    monkeypatch.setitem(segments._ACTIVATION, "cpu", activation)
    monkeypatch.setitem(segments._PARAMETERS, "cpu", parameters)
    a, b, x, y = example(model)
    line = along_segments(a, b, *((x[0], y[0]) if shared else (x, y)), LAMBDAS)
    assert line.loss.shape == line.accuracy.shape == (2, 4) and line.loss.dtype == DOUBLE
    for i in range(2):
        inputs, labels = (x[0], y[0]) if shared else (x[i], y[i])
        for j, lam in enumerate(LAMBDAS):
            one, other = ({name: v[i : i + 1] for name, v in end.params.items()} for end in (a, b))
            params = {name: lam * value + (1 - lam) * other[name] for name, value in one.items()}
            outputs = model.forward(params, inputs)[0]
            expected = nn.functional.cross_entropy(outputs, labels).item()
            assert line.loss[i, j].item() == pytest.approx(expected, abs=1e-12)
            assert line.accuracy[i, j] == (outputs.argmax(dim=1) == labels).double().mean()
    for end, at in ((a, 3), (b, 0)):
        own = scores(end, *((x[0], y[0]) if shared else (x, y)))
        torch.testing.assert_close(own.loss[:, 0], line.loss[:, at], rtol=1e-14, atol=0)
        assert own.accuracy[:, 0].equal(line.accuracy[:, at])


def test_lines_run_between_effective_weights():
    model = MLP((5, 7, 3))
    fixed = {"0.weight": (numbers(1, 7, 5), numbers(1, 7, 5, seed=2))}
    a, b = (Stack(model, perturbed(model, 2, seed=seed).params, fixed) for seed in (1, 2))
    x, y = numbers(9, 5), torch.arange(9) % 3
    losses = [along_segments(*ends, x, y, LAMBDAS).loss for ends in ((a, b), (a.ordinary(), b.ordinary()))]
    torch.testing.assert_close(*losses)
    a, _, x, y = example(MODELS[0])
    line = along_segments(a, a, x, y, LAMBDAS)
    torch.testing.assert_close(line.loss, line.loss[:, :1].expand(2, 4))
    p = {"0": torch.tensor([[1, 0, 2, 3, 4, 5, 6]] * 2)}
    torch.testing.assert_close(scores(a.permuted(p), x, y).loss, line.loss[:, :1])
