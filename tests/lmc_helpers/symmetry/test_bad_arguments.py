"""Bad arguments for every public function of the room: one sentence that says what is allowed, never a number."""

import math

import torch
from bad_arguments import (
    Flag,
    Function,
    Integer,
    Named,
    Number,
    Other,
    Row,
    Tensor,
    Text,
    normal,
    refused,
    rows,
    runs,
    without_a_row,
)

from lmc_helpers.symmetry import chord_bound, curves, group_actions, homogeneous_net, matrix_logarithm, rescaling

GRID = torch.linspace(0, 1, 5, dtype=torch.float64)
M = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
EYE = torch.eye(2, dtype=torch.float64)
W = normal(2, 3), normal(1, 2, seed=2)  # W_1 (h, n) and W_2 (m, h)
MANY = W[0].expand(2, 2, 3).clone(), W[1].expand(2, 1, 2).clone()  # the same twice
LAYERS = normal(2, 3), normal(3, 4, seed=2)  # W_l (o, h) and W_{l−1} (h, d)
TIMES = Tensor(GRID, free=(-1,), batch=False)
FREE = ((-1,), (-2,))  # n and m
ACTION = Other(group_actions.GeneralLinear(), {"a string": "GL", "nothing": None})
LINEAR = Other(ACTION.value, ACTION.wrong | {"not linear": group_actions.PseudoInverse(torch.tanh, EYE)})
SEED = Integer(1, least=0, most=2**32 - 1)
K = Number(2.0, least=0)
POSITIVE = Number(0.5, least=0)
NAMES = {"a string": "n", "nothing": None}
SIZES = {"a zero": (2, 0, 3, 4), "three": (2, 5, 3), "a fraction": (2, 5.5, 3, 4), "nothing": None, "a number": 4}
GROUP = Tensor(M + 2 * EYE)


def factors(*free):
    return Tensor(W[0], free=free)


def numbers(value, least=None):
    """A number or a tensor of them."""
    bad = {"nan": math.nan, "inf": math.inf, "a string": "1", "nothing": None, "complex": 1j}
    bad |= {"a tensor with nan": torch.tensor([1.0, math.nan]), "meta": torch.ones(1, device="meta")}
    return Other(
        value, bad | ({} if least is None else {"too small": least - 0.5, "one too small": GRID + least - 0.5})
    )


TABLE = [
    Row(chord_bound.curvature, {"velocity": Tensor(normal(2)), "acceleration": Tensor(normal(2, seed=2))}),
    Row(chord_bound.arc_height, {"kappa": numbers(0.5, 0), "chord": numbers(4.0, 0)}),
    Row(chord_bound.chord_bound, {"kappa": numbers(0.5, 0), "chord": numbers(1.0, 0), "length": numbers(2.0, 0)}),
    Row(chord_bound.distance_between_ends, {"path": Tensor(normal(5, 2), free=(-1, -2))}),
    Row(
        chord_bound.distance_to_curve,
        {"points": Tensor(normal(3, 2), free=(-2,)), "curve": Tensor(normal(5, 2), free=(-2,))},
    ),
    Row(
        chord_bound.random_plane_curves,
        {"number": Integer(2, least=1), "steps": Integer(9, least=7), "seed": SEED, "pieces": Integer(6, least=1)},
    ),
    Row(
        chord_bound.network_neck,
        {"phi": Tensor(GRID, free=(-1,), few=False, empty=False), "delta": POSITIVE, "size": POSITIVE},
    ),
    Row(chord_bound.curvature_bound, {"delta": Number(0.02, least=0), "size": POSITIVE}),
    Row(chord_bound.lipschitz_loss, {"w": Tensor(normal(4)), "delta": POSITIVE}),
    Row(
        chord_bound.planar_neck,
        {"theta": Tensor(GRID, free=(-1,), few=False, empty=False), "e": Number(0.5, least=0, most=1)},
    ),
    Row(curves.flatten, {"w": Named(W, {"numbers": False, "empty": False}, free=FREE)}),
    Row(
        curves.curve,
        {"action": ACTION, "M": Tensor(M), "w": Named(W, free=FREE), "t": TIMES},
    ),
    Row(
        curves.chord,
        {"path": Named((normal(5, 2, 3), normal(5, 1, 2)), free=FREE), "t": TIMES},
    ),
    Row(curves.two_factor_curve, {"w": Named(W, free=FREE), "g": GROUP, "t": TIMES}),
    Row(curves.derivatives, {"action": LINEAR, "M": Tensor(M), "w": Named(W, free=FREE)}),
    Row(curves.length, {"action": LINEAR, "M": Tensor(M), "w": Named(W, free=FREE), "nodes": Integer(3, least=1)}),
    Row(group_actions.projection, {"s": Tensor(W[0], free=(-1, -2))}),
    Row(
        homogeneous_net.random_net,
        {"seed": SEED, "purpose": Text("a"), "k": K, "number": Integer(0, least=0)}
        | {name: Integer(2, least=1) for name in "hoN"},
    ),
    Row(
        homogeneous_net.idle_net,
        {"seed": SEED, "k": K, "working": Integer(2, least=1, most=3), "h": Integer(3, least=2)}
        | {"number": Integer(0, least=0)},
    ),
    Row(
        homogeneous_net.place_of_largest_loss,
        {"net": Other(homogeneous_net.random_net(1, "a", 2.0), NAMES)}
        | {"m": Tensor(GRID + 2, free=(-1,), batch=False), "steps": Integer(3, least=1)},
    ),
    Row(
        homogeneous_net.place_of_largest_loss,
        {"m": Other(GRID + 2, {"one": GRID, "negative": GRID - 2})},
        lambda m: homogeneous_net.place_of_largest_loss(homogeneous_net.random_net(1, "a", 2.0), m),
    ),
    Row(homogeneous_net.five_layer_minimum, {"seed": SEED, "steps": Integer(1, least=1)}),
    *(
        Row(function, {"g": GROUP})
        for function in (
            matrix_logarithm.has_negative_eigenvalue,
            matrix_logarithm.real_logarithm,
            matrix_logarithm.two_exponentials,
        )
    ),
    Row(matrix_logarithm.probability_without_logarithm, {"h": Integer(3, least=1, most=100)}),
    Row(
        rescaling.activation,
        {"z": Tensor(W[0], free=(-1, -2), few=False, empty=False, numbers=False)}
        | {"k": K, "positive": Number(1.0), "negative": Number(0.0)},
    ),
    Row(
        rescaling.rescale,
        {"last": Tensor(LAYERS[0], free=(-2,)), "before": Tensor(LAYERS[1], free=(-1,)), "m": numbers(2.0, 0), "k": K},
    ),
    Row(
        rescaling.output_factor,
        {"m": numbers(2.0, 0), "k": K, "lam": Other(0.5, numbers(0.5, 0).wrong | {"too large": 1.5})},
    ),
    Row(rescaling.largest_factor, {"m": numbers(2.0, 0), "k": K}),
    Row(
        rescaling.orbit_interval,
        {
            "last": Tensor(LAYERS[0], free=(-2,)),
            "before": Tensor(LAYERS[1], free=(-1,)),
            "k": K,
            "c": Number(9.0, least=0),
        },
    ),
    Row(
        rescaling.orbit_bound,
        {
            "low": Number(0.5, least=0, most=2),
            "high": Number(2.0, least=0.5),
            "k": K,
            "norm": POSITIVE,
            "pairs": Flag(),
        },
    ),
    Row(
        rescaling.permuted_losses,
        {"one": Named(LAYERS), "other": Named(LAYERS), "Y": Tensor(normal(2, 4), batch=False)}
        | {"sigma": Function(torch.relu), "lam": Number(0.5, least=0, most=1)},
    ),
    Row(
        rescaling.fill_outputs,
        {"last": Tensor(LAYERS[0], free=(-2,), batch=False), "hidden": Tensor(LAYERS[1], free=(-1,), batch=False)}
        | {"sigma": Function(torch.relu)},
    ),
    Row(rescaling.check_layers, {"last": Tensor(LAYERS[0], free=(-2,)), "before": Tensor(LAYERS[1], free=(-1,))}),
]


def test_every_public_function_has_a_row():
    assert not without_a_row("symmetry", TABLE, {})


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)
