"""Parameters that pass: those of every architecture, on torch's meta too; one that does not fit is named."""

import pytest
import torch

from lmc_helpers import expect
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.vit import ViT

MODELS = [MLP((2, 3, 2)), CNN(2, 2, 1, input_shape=(1, 4, 4)), ResNet20(width=1, base=2, blocks=1), ViT()]
NET = MODELS[0]
X = torch.ones(5, 2, dtype=torch.float64)
PARAMS = {name: torch.ones(3, *shape, dtype=torch.float64) for name, shape in NET.shapes().items()}
PAIR = (torch.zeros(3, 2), torch.ones(3, 2))


class Scheme:
    def draw(self, shape, generator): ...


ALLOWED = [
    lambda: expect.parameter("1.bias", "name", NET),
    lambda: expect.parameters(PARAMS, "params", NET, X),
    lambda: expect.parameters({name: p * torch.nan for name, p in PARAMS.items()}, "params", NET, X),
    lambda: expect.fixed_parts(None, "fixed"),
    lambda: expect.fixed_parts({"0.weight": PAIR}, "fixed"),
    lambda: expect.schemes({}, "schemes"),
    lambda: expect.schemes({"0.weight": Scheme()}, "schemes"),
]


def test_what_is_allowed_passes_and_gives_nothing():
    assert [call() for call in ALLOWED] == [None] * len(ALLOWED)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_parameters_of_every_architecture_pass(model, device):
    params = {name: torch.empty(2, *shape, device=device) for name, shape in model.shapes().items()}
    expect.parameters(params, "params", model, torch.empty(2, 1, *model.input_shape, device=device))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, "params = None; allowed: tensors by their names"),
        ({n: p for n, p in PARAMS.items() if n != "0.bias"}, "params lacks '0.bias'; allowed: all parameters"),
        (PARAMS | {"gain": X}, "params holds 'gain'; allowed: parameters of the architecture only"),
        (PARAMS | {"0.bias": None}, r"params\['0.bias'\] = None; allowed: a tensor of floating point"),
        (PARAMS | {"0.bias": torch.ones(3, 3).long()}, r"params\['0.bias'\] has dtype torch.int64"),
        (PARAMS | {"0.bias": torch.ones(3, 4).double()}, r"params\['0.bias'\] has shape \(3, 4\); allowed: \(3, 3\)"),
        (PARAMS | {"0.bias": PARAMS["0.bias"][:2]}, r"params\['0.bias'\] has shape \(2, 3\); allowed: \(3, 3\)"),
        ({n: p[:0] for n, p in PARAMS.items()}, r"has shape \(0, 3, 2\); allowed: \('N', 3, 2\)"),
        (PARAMS | {"0.bias": PARAMS["0.bias"].float()}, r"params\['0.bias'\] is torch.float32 on cpu and '0.weight'"),
        (PARAMS | {"0.bias": PARAMS["0.bias"].to("meta")}, r"params\['0.bias'\] is torch.float64 on meta and"),
    ],
)
def test_parameters_that_do_not_fit_are_named(values, message):
    with pytest.raises(ValueError, match=message):
        expect.parameters(values, "params", NET, X)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (None, "x = None; allowed"),
        (X.long(), "x has dtype torch.int64"),
        (X.float(), "x is torch.float32 on cpu and '0.weight' torch.float64 on cpu"),
        (X.to("meta"), "x is torch.float64 on meta"),
    ],
)
def test_inputs_that_do_not_fit_are_named(x, message):
    with pytest.raises(ValueError, match=message):
        expect.parameters(PARAMS, "params", NET, x)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([PAIR], r"fixed = .*; allowed: None, or pairs of tensors by the names"),
        ({"0.weight": PAIR[0]}, r"fixed\['0.weight'\] = .*; allowed: a pair of tensors, F and D"),
        ({"0.weight": (*PAIR, PAIR[0])}, r"fixed\['0.weight'\] = "),
        ({"0.weight": (PAIR[0], PAIR[1] / 0)}, "D of '0.weight' holds inf; allowed: finite numbers"),
        ({"0.weight": (PAIR[0].double(), PAIR[1])}, "F of '0.weight' has dtype torch.float64 and D of '0.weight'"),
    ],
)
def test_fixed_parts_that_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        expect.fixed_parts(values, "fixed")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], r"schemes = \[\]; allowed: schemes by the names of weights"),
        ({0: Scheme()}, "schemes holds 0; allowed: schemes by the names"),
        ({"0.weight": "w"}, r"schemes\['0.weight'\] = 'w'; allowed: a scheme"),
    ],
)
def test_schemes_that_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        expect.schemes(values, "schemes")


def test_a_name_that_is_unknown_is_told_with_all_names():
    with pytest.raises(ValueError, match=r"name = 'gain'; allowed: '0\.weight', '0\.bias', '1\.weight', '1\.bias'"):
        expect.parameter("gain", "name", NET)
