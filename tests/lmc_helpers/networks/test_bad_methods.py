"""Bad arguments for every public method of the room: one sentence that says what is allowed, never a number."""

import numpy as np
import pytest
import torch
from bad_arguments import (
    Integer,
    Number,
    Other,
    Permutation,
    Row,
    Tensor,
    methods_without_a_row,
    normal,
    refused,
    rows,
    runs,
)

from lmc_helpers.identifiability.asymmetric import WAsymmetric
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import verify
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.vit import ViT

SHAPE = (1, 8, 8)
MODEL = MLP((3, 4, 2))
BATCH_NORM = MLP((3, 4, 2), norm="batch")
RUNNING = MLP((3, 4, 2), norm="running")
IMAGES = [
    CNN(2, 2, 1, input_shape=SHAPE),
    ResNet20(1, 1, base=2, input_shape=SHAPE),
    ViT(4, 4, 1, 2, input_shape=SHAPE),
]
STACK = MODEL.initial([1, 2], torch.float64)

GENERATOR = Other(torch.Generator(), {"a seed": 1, "nothing": None, "NumPy's": np.random.default_rng(1)})
SEEDS = {"none": [], "a number": 1, "a string": "12", "nothing": None, "negative": [-1], "too large": [2**32]}
SEEDS |= {"floats": [1.0], "bools": [True], "a table": [[1, 2]], "nan": [float("nan")], "an iterator": iter([1])}
DTYPE = {"integers": torch.long, "bools": torch.bool, "complex": torch.complex64, "a string": "float64"}
DTYPE |= {"nothing": None, "NumPy": np.float64}
PART = torch.ones(1, 4, 3).double()
PAIRS = {"one part": (PART,), "no pair": PART, "NumPy": (PART.numpy(), PART.numpy()), "integers": (PART.long(), PART)}
PAIRS |= {"nan": (PART * torch.nan, PART), "types that differ": (PART, PART.float()), "nothing": None, "a string": "FD"}
PAIRS |= {
    "shapes that differ": (PART, PART[:, :1]),
    "another shape": (PART[:, :2], PART[:, :2]),
    "no axis": (PART[0],) * 2,
}
PAIRS |= {"three for two": (PART.expand(3, -1, -1),) * 2, "meta": (PART.to("meta"),) * 2}
NO_DICT = {"a string": "W", "a number": 1, "a list": [PART, PART]}


def fixed(key, other):
    """F and D of a weight, spoilt, or of one that there is not."""
    return Other(
        {key: (PART, PART)}, {k: {key: v} for k, v in PAIRS.items()} | NO_DICT | {"unknown": {other: (PART, PART)}}
    )


def params_of(model):
    """Parameters of two networks, and what is none of them."""
    good = model.initial([1, 2], torch.float64).params
    key = list(good)[-1]
    wrong = {label: good | {key: value} for label, value in Tensor(good[key], free=(-2,), holes=False).bad()}
    wrong |= {"one lacks": {name: value for name, value in good.items() if name != key}, "none": {}}
    wrong |= {"first lacks": dict(list(good.items())[1:]), "one too many": good | {"x": good[key]}}
    wrong |= {"another type": good | {key: good[key].float()}, "one of three": good | {key: good[key][:1]}}
    wrong |= {"all of meta": {name: value.to("meta") for name, value in good.items()}}
    return Other(good, wrong | {"a string": "W", "nothing": None, "a list": list(good.values())})


def inputs(*shape):
    """Inputs of networks, of whose type they must be; no inputs have no outputs, which is no error."""
    x = normal(*shape)
    spoilt = dict(Tensor(x, free=(-len(shape),), holes=False).bad())
    del spoilt["axis 0 empty"]
    spoilt |= {"single": x.float(), "three for two": x.expand(3, *shape), "two axes too many": x[None, None]}
    return Other(x, spoilt)


RECORD = Other(None, {"a list": [], "a string": "r", "a number": 1, "a flag": True})
X = inputs(5, 3)
INDICES = {"negative": [0, -1], "too large": [0, 2], "none": [], "floats": [0.0], "a number": 0, "a string": "01"}
INDICES |= {"a mask": [True, False], "a table": [[0, 1]], "a dict": {0: 1}, "words": ["a"]}
INDICES |= {
    f"tensor, {label}": value
    for label, value in Permutation(torch.tensor([1, 0]), repeats=True).bad()
    if label in ("floats", "negative", "empty", "no axis", "too long")
}
INDICES |= {"a mask of torch": torch.tensor([True, False]), "meta": torch.tensor([0], device="meta")}
PLACE = {"integers": torch.long, "unknown": "nonsense", "empty": "", "nothing": None, "a number": 0, "meta": "meta"}
PLACE |= {"a tensor of integers": torch.ones(1).long(), "a tensor of meta": torch.ones(1, device="meta")}
PLACE |= {"meta of torch": torch.device("meta"), "NumPy": np.ones(1)}
P = torch.tensor([[2, 0, 1, 3], [1, 0, 2, 3]])
ORDER = dict(Permutation(P).bad()) | {"one network": P[:1], "meta": P.to("meta"), "NumPy": P.numpy()}


def orders(key, *others):
    """Permutations of a group, spoilt, or of one that there is not."""
    wrong = {label: {key: value} for label, value in ORDER.items() if label != "too long"}
    wrong |= {f"of {other!r}": {other: P} for other in others}
    return Other({key: P}, wrong | {"no dict": P, "nothing": None, "a string": "p", "a list": [P]})


NAME = Other("0.weight", {"unknown": "nonsense", "empty": "", "a number": 7, "nothing": None, "a list": ["0.weight"]})
STATE = STACK.state()
STATES = {
    f"weight, {label}": STATE | {"params/0.weight": value}
    for label, value in (("NumPy", PART.numpy()), ("nothing", None), ("meta", PART.to("meta")), ("another shape", PART))
}
STATES |= {"one lacks": dict(list(STATE.items())[1:]), "no kind": {"W": PART}, "a number as name": STATE | {1: PART}}
STATES |= {"F alone": STATE | {"F/0.weight": PART}, "none": {}, "nothing": None, "a list": [PART], "a string": "W"}
SCHEMES = {"unknown": {"W": WAsymmetric(1, 1.0)}, "a number as name": {1: WAsymmetric(1, 1.0)}, "a list": ["0.weight"]}
SCHEMES |= {"no scheme": {"0.weight": "w"}, "a class": {"0.weight": 1}, "nothing": None, "a string": "0.weight"}
CHECK = verify(MODEL)

OTHERS = {
    "model": dict.fromkeys(
        ("Model.draw", "Model.forward", "Model.training_outputs", "Scheme.draw"), "says what others do"
    ),
    "permutations": {"Permutable.forward": "says what others do"},
}

TABLE = [
    *(Row(model.draw, {"generator": GENERATOR}) for model in (MODEL, *IMAGES)),
    *(
        Row(model.forward, {"params": params_of(model), "x": inputs(5, *model.input_shape), "record": RECORD})
        for model in (MODEL, BATCH_NORM, RUNNING, *IMAGES)
    ),
    Row(RUNNING.training_outputs, {"params": params_of(RUNNING), "x": inputs(5, 3)}),
    Row(MODEL.batched, {"params": params_of(MODEL), "x": X}),
    *(
        Row(
            model.initial,
            {"seeds": Other([1, 2], SEEDS), "dtype": Other(torch.float64, DTYPE), "fixed": fixed(key, other)},
        )
        for model, key, other in ((MODEL, "0.weight", "0.bias"),)
    ),
    Row(MODEL.map_shape, {"name": NAME}),
    Row(IMAGES[-1].map_shape, {"name": Other("class", NAME.wrong)}),
    Row(
        MODEL.fixed_parts,
        {"schemes": Other({"0.weight": WAsymmetric(1, 1.0)}, SCHEMES), "seed": Integer(1, least=0, most=2**32 - 1)},
    ),
    Row(STACK.forward, {"x": X, "record": RECORD}),
    Row(STACK.to, {"where": Other(torch.float32, PLACE)}),
    Row(STACK.ordinary, {"which": Other([0, 1, 1], INDICES)}),
    Row(STACK.permuted, {"permutations": orders("0", "1", 0)}),
    Row(Stack.from_state, {"model": Other(MODEL, NO_DICT | {"nothing": None}), "state": Other(STATE, STATES)}),
    Row(CHECK.holds, {"rounding": Number(1e-10, least=0), "effect": Number(1e-6, least=0)}),
    Row(IMAGES[1].channels, {"group": Integer(1, least=1, most=3)}),
]


def test_every_public_method_has_a_row():
    assert not methods_without_a_row("networks", TABLE, OTHERS)


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)


def test_an_index_may_be_of_numpy_or_a_range():
    for which in (range(2), np.arange(2), torch.arange(2), [np.int64(0), 1]):
        assert len(STACK.ordinary(which)) == 2


def test_gradients_pass_through_the_checks_under_vmap():
    def loss(params, x):
        return MODEL.forward({name: value[None] for name, value in params.items()}, x).square().sum()

    one = torch.func.vmap(torch.func.grad(loss), in_dims=(0, None))(STACK.params, X.value)
    assert {name: value.shape for name, value in one.items()} == {name: v.shape for name, v in STACK.params.items()}


def test_what_is_refused_of_a_type_of_parameters_is_named():
    with pytest.raises(ValueError, match=r"x is torch.float32 on cpu and '0.weight' torch.float64"):
        STACK.forward(X.value.float())
