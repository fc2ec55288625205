"""Bad arguments for every public function: one sentence that says what is allowed, never a number.

Here are the functions behind the doors that list them, and those of the files beside the rooms; the other rooms have
tables of their own.
"""

import importlib
import inspect
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from bad_arguments import (
    Array,
    Choice,
    Flag,
    Function,
    Given,
    Integer,
    Number,
    Other,
    Permutation,
    Row,
    Tensor,
    Tensors,
    Text,
    normal,
    refused,
    rows,
    runs,
)

from lmc_helpers import (
    barrier,
    barrier_kinds,
    claims,
    device,
    error_bars,
    expect,
    general_linear,
    matching,
    overlap,
    seeds,
)
from lmc_helpers.identifiability import coherence, realization_cost, swap_costs
from lmc_helpers.linear_nets import component, path_in_minimum
from lmc_helpers.permutation_points import count_ratio
from lmc_helpers.teacher_student import kappa, population_loss, sample_minima

PACKAGE = Path(importlib.import_module("lmc_helpers").__path__[0])
FOUNDATIONS = (barrier, barrier_kinds, device, error_bars, general_linear, matching, overlap, seeds)


def square_sum(w):
    return w.square().sum(dim=(-2, -1))


def distance(a, b):
    return (a - b).abs().sum(dim=(-2, -1))


eye = torch.eye(2, dtype=torch.float64)
W1, W2 = normal(4, 3), normal(4, 3, seed=2)
MINIMUM = torch.tensor([[0.25, 0.0], [0.75, 0.0], [0.0, 1.0]], dtype=torch.float64)
SEED = Integer(1, least=0, most=2**32 - 1)
COSINES = torch.tensor([0.5, -1.0], dtype=torch.float64)
TOL = Number(1e-9, least=0)
MATRIX = torch.tensor([[2.0, 1.0], [0.0, 1.0]], dtype=torch.float64)

U = torch.linalg.qr(normal(3, 2)).Q
LAYER = {name: Tensor(normal(4, 3, seed=k)) for k, name in enumerate("FDW")} | {"U": Tensor(U)}
GENERATOR = Other(torch.Generator(), {"a seed": 1, "nothing": None, "NumPy's": np.random.default_rng(1)})
PLACES = Other(
    (0.0, 0.5, 1.0),
    {
        "below": (-0.1, 1),
        "above": (0, 1.1),
        "nan": (0, math.nan),
        "empty": (),
        "one number": 0.5,
        "a table": [[0.5]],
        "a string": "0.5",
        "strings": ("a",),
        "nothing": None,
        "complex": (0.5j,),
    },
)
OPTIONAL_DEVICE = Other("cpu", {"unknown": "nonsense", "empty": "", "a number": 7.5, "no numbers": "meta"})
SHAPE = {"empty": (), "zero": (2, 0), "negative": (2, -1), "a fraction": (2, 1.5), "a string": "ab", "nothing": None}

TABLE = [
    Row(overlap.expected_overlap, {"m": Integer(3, least=2), "M": Integer(2, least=1, most=3)}),
    Row(
        overlap.simulate_overlap,
        {"m": Integer(3, least=2), "M": Integer(2, least=1, most=3), "trials": Integer(9, least=2), "seed": SEED},
    ),
    Row(
        kappa,
        {
            "t": Tensor(torch.tensor([0.5, -1.0]).double(), free=(-1,), few=False, empty=False, number=True),
            "d": Integer(3, least=1),
        },
    ),
    Row(kappa, {"t": Number(0.5, least=-1, most=1), "d": Integer(3, least=1)}),
    Row(population_loss, {"W": Tensor(W1, free=(-1, -2)), "M": Integer(2, least=1, most=3)}),
    Row(
        sample_minima,
        {"m": Integer(4, least=2), "M": Integer(2, least=1, most=3), "d": Integer(3, least=2)}
        | {"n": Integer(2, least=1), "seed": SEED}
        | {
            "law": Other(
                "equal",
                {"unknown": "nonsense", "no parameter": ("dirichlet",), "nan": ("dirichlet", math.nan), "nothing": None}
                | {"zero": ("dirichlet", 0), "a list": ["equal"], "a bool": ("dirichlet", True)},
            )
        },
    ),
    Row(matching.check_permutation, {"p": Permutation(torch.tensor([2, 0, 1]), sized=False)}),
    Row(
        matching.permute,
        {
            "W": Tensor(W1, free=(-1,), batch=False, empty=False, numbers=False),
            "p": Permutation(torch.tensor([2, 0, 1, 3])),
        },
    ),
    Row(matching.row_types, {"W": Tensor(MINIMUM, free=(-1, -2)), "tol": TOL}),
    Row(matching.has_types, {"W": Tensor(MINIMUM, free=(-1, -2)), "tol": TOL}),
    Row(
        matching.algorithm_1,
        {"W1": Tensor(MINIMUM), "W2": Tensor(MINIMUM), "tol": TOL, "sort": Flag(), "leftovers": Choice("order")},
    ),
    Row(matching.weight_matching, {"W1": Tensor(W1), "W2": Tensor(W2)}),
    Row(matching.all_permutations, {"m": Integer(3, least=1, most=9)}),
    Row(
        matching.best_permutation,
        {"W1": Tensor(W1, batch=False), "W2": Tensor(W2, batch=False), "objective": Function(distance)},
    ),
    Row(
        matching.swap_search,
        {"W1": Tensor(W1, batch=False), "W2": Tensor(W2, batch=False), "objective": Function(distance)}
        | {"p": Permutation(torch.tensor([2, 0, 1, 3])), "sweeps": Integer(3, least=0)},
    ),
    Row(matching.correlations, {"a": Tensor(W1, free=(-1,)), "b": Tensor(W2, free=(-1,))}),
    Row(matching.match_activations, {"a": Tensor(W1), "b": Tensor(W2)}),
    Row(
        barrier.check_places,
        {"lambdas": PLACES, "dtype": Other(torch.float64, {"integers": torch.long, "a string": "float64"})}
        | {"device": OPTIONAL_DEVICE, "row": Flag()},
    ),
    *(
        Row(function, {"loss": Function(square_sum), "a": Tensor(W1), "b": Tensor(W2), "lambdas": PLACES})
        for function in (barrier.excess, barrier.loss_barrier)
    ),
    Row(
        barrier.refined_barrier,
        {"loss": Function(square_sum), "a": Tensor(W1), "b": Tensor(W2)}
        | {"coarse": Integer(5, least=2), "steps": Integer(3, least=0)},
    ),
    Row(
        barrier_kinds.barrier_kinds,
        {
            "loss": Tensor(torch.tensor([1.0, 4.0, 3.0]).double()),
            "lambdas": Other((0.0, 0.5, 1.0), PLACES.wrong | {"no half": (0, 0.4, 1), "falling": (1, 0.5, 0)}),
        },
    ),
    Row(
        barrier_kinds.discordance,
        {name: Tensor(torch.tensor([1.0, 3.0, 2.0]).double(), batch=False) for name in ("x", "y")},
    ),
    Row(device.device, {"name": Other("cpu", {"unknown": "nonsense", "empty": "", "a number": 7, "nothing": None})}),
    Row(device.describe, {"where": Other(torch.device("cpu"), {"a string": "cpu", "a number": 7})}),
    Row(device.fix_threads, {"count": Integer(1, least=1)}),
    Row(seeds.seed_sequence, {"seed": SEED, "purpose": Text("a")}),
    Row(seeds.numpy_generator, {"seed": SEED, "purpose": Text("a")}),
    Row(seeds.torch_generator, {"seed": SEED, "purpose": Text("a")}),
    Row(seeds.normal_stream, {"seed": SEED, "purpose": Text("a")}),
    Row(
        seeds.normal,
        {
            "shape": Other((2, 3), {k: v for k, v in SHAPE.items() if k not in ("empty", "zero")}),
            "seed": SEED,
            "purpose": Text("a"),
        },
    ),
    Row(general_linear.rank_tolerance, {"h": Integer(2, least=1)}),
    Row(
        general_linear.require_square,
        {"A": Tensor(MATRIX, numbers=False)},
        lambda A: general_linear.require_square({"A": A}),
    ),
    Row(
        general_linear.require_square,
        {"X": Tensor(MATRIX, batch=False, numbers=False)},
        lambda X: general_linear.require_square({"A": MATRIX}, X=X),
    ),
    Row(
        general_linear.require_finite,
        {"A": Tensor(MATRIX, free=(-1, -2), few=False, empty=False, kinds=False)},
        lambda A: general_linear.require_finite({"A": A}),
    ),
    Row(
        general_linear.require_invertible, {"A": Tensor(MATRIX)}, lambda A: general_linear.require_invertible({"A": A})
    ),
    Row(general_linear.determinant_sign, {"A": Tensor(MATRIX)}),
    Row(general_linear.times_inverse, {"B": Tensor(MATRIX, free=(-2,)), "A": Tensor(MATRIX)}),
    Row(general_linear.haar, {"shape": Other((3, 2), SHAPE | {"wide": (2, 3)}), "generator": GENERATOR}),
    Row(
        general_linear.random_invertible,
        {"batch": Other((2,), {"negative": (-1,), "a number": 2, "a fraction": (1.5,), "a string": "a"})}
        | {"h": Integer(2, least=1), "generator": GENERATOR}
        | {"signs": Other(1, {"two": 2, "zero": 0, "nan": math.nan, "a string": "plus", "too many": torch.ones(3)})},
    ),
    Row(general_linear.polar, {"g": Tensor(MATRIX)}),
    Row(general_linear.rotation_logarithm, {"R": Tensor(eye)}),
    Row(general_linear.path_in_group, {"a": Tensor(MATRIX), "b": Tensor(eye), "steps": Integer(3, least=2)}),
    Row(
        error_bars.mean_and_error,
        {"x": Array([1.0, 2.0, 3.0], free=(-1,))},
        lambda x: error_bars.mean_and_error([[1.0, 2.0], x]),
    ),
    Row(
        error_bars.ratio_of_means,
        {"x": Array([1.0, 2.0, 3.0]), "y": Array([2.0, 4.0, 6.0]), "paired": Flag()},
    ),
    Row(error_bars.slope_and_error, {name: Array([1.0, 2.0, 4.0]) for name in ("x", "y", "stderr")}),
    Row(
        error_bars.power_law,
        {
            "x": Array([1.0, 2.0, 4.0]),
            "samples": Array([[0.9, 1.1], [0.2, 0.3], [0.1, 0.05]], free=(-1,)),
        },
    ),
    Row(
        error_bars.place_of_peak,
        {"x": Array([1.0, 2.0, 3.0]), "samples": Array([[0.0, 0.1], [1.0, 1.1], [0.5, 0.4]], free=(-1,)), "seed": SEED},
    ),
    Row(error_bars.share, {"successes": Integer(3, least=0, most=5), "n": Integer(5, least=3)}),
    Row(
        error_bars.bootstrap,
        {"statistic": Function(np.mean), "values": Array([1.0, 2.0, 3.0], free=(-1,), holes=False), "seed": SEED}
        | {"resamples": Integer(5, least=2)},
    ),
    Row(error_bars.widening, {"G": Integer(5, least=2)}),
    Row(error_bars.over_clusters, {"values": Array([[1.0, 1.0], [3.0, 3.0]], free=(-1, -2), few=False)}),
    Row(
        error_bars.jackknife,
        {"statistic": Function(lambda a, b: a - b), "x": Array([1.0, 2.0, 4.0]), "y": Array([1.0, 1.0, 2.0])},
        lambda statistic, x, y: error_bars.jackknife(statistic, x, y),
    ),
    Row(count_ratio, {"K": Integer(1, least=0, most=2), "n": Integer(3, least=2)}),
    Row(component, {"weights": Tensors([eye, MATRIX, -eye]), "X": Tensor(eye, batch=False)}),
    Row(
        path_in_minimum,
        {"a": Tensors([eye, 2 * eye]), "b": Tensors([-eye, -2 * eye]), "X": Tensor(eye, batch=False)}
        | {"Y": Tensor(2 * eye, batch=False), "steps": Integer(3, least=2)},
    ),
    Row(coherence, {"U": Tensor(U)}),
    Row(
        realization_cost,
        {"a": Tensor(normal(2), few=False), "f": Tensor(normal(3)), "d": Tensor(normal(3)), "U": Tensor(U)},
    ),
    Row(swap_costs, LAYER),
    Row(claims.worst, {"verdicts": Other(["holds"], {"unknown": ["nonsense"], "empty": [], "nothing": None})}),
    Row(claims.best_reading, {"verdicts": Other(["holds"], {"unknown": ["nonsense"], "empty": [], "nothing": None})}),
    Row(
        claims.part,
        {
            "id": Other(
                "Z1.sampled", {"unknown": "Z1.nothing", "no part": "Z1", "empty": "", "nothing": None, "a number": 1}
            )
        }
        | {"folder": Given(None)},
    ),
]

OTHERS = {  # what has no row, and why
    "claims": {
        "slug": "any text has a name in the style sheet",
        "symbol": "what is no verdict has no symbol",
        "Contradiction": "an error",
        "LedgerError": "an error",
        "Links": "texts of a page",
        "check": "measurements are refused by tests of the judge",
        "rounded": "takes NaN and infinity on purpose",
        "ledger": "a folder; what its files may hold is tested with the reading",
        **dict.fromkeys(("of_claim", "drawn", "measured", "render"), "takes parts that were read"),
    },
    "figures": dict.fromkeys(
        ("Moving", "band", "card", "keep", "left_out", "legend", "numbers", "panels", "show"),
        "draws, computes no number",
    ),
    "expect": dict.fromkeys(expect.__all__, "refuses, and computes no number"),
}


def public() -> set[tuple[str, str]]:
    """All functions behind the doors, and of the files beside the rooms: (place, name)."""
    found = set()
    for door in sorted(PACKAGE.glob("*/__init__.py")):
        room = importlib.import_module(f"lmc_helpers.{door.parent.name}")
        names = [name for name in getattr(room, "__all__", ()) if callable(getattr(room, name))]
        found |= {(door.parent.name, name) for name in names}
    for file in FOUNDATIONS:
        own = [n for n, f in vars(file).items() if inspect.isfunction(f) and f.__module__ == file.__name__]
        found |= {("", name) for name in [*own, *getattr(file, "__all__", ())] if inspect.isroutine(vars(file)[name])}
    return {(place, name) for place, name in found if not name.startswith("_")}


def test_every_public_function_has_a_row():
    rows = {row.function.__name__ for row in TABLE}
    missing = {(place, name) for place, name in public() if name not in rows and name not in OTHERS.get(place, {})}
    assert not missing
    known = {(place, name) for place, names in OTHERS.items() for name in names}
    assert known <= public()


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)


def test_every_room_has_a_table():
    listed = [door.parent.name for door in PACKAGE.glob("*/__init__.py") if "__all__" not in door.read_text("utf-8")]
    without = [room for room in listed if not (Path(__file__).parent / room / "test_bad_arguments.py").exists()]
    assert not without


MIXED = [
    (barrier.loss_barrier, {"a": W1, "b": W2}, {"loss": square_sum}),
    (barrier.excess, {"a": W1, "b": W2}, {"loss": square_sum, "lambdas": (0, 1)}),
    (barrier.refined_barrier, {"a": W1, "b": W2}, {"loss": square_sum}),
    (general_linear.times_inverse, {"A": MATRIX, "B": MATRIX}, {}),
    (general_linear.path_in_group, {"a": MATRIX, "b": eye}, {"steps": 3}),
]


@pytest.mark.parametrize(("function", "pair", "others"), MIXED, ids=lambda value: getattr(value, "__name__", ""))
def test_single_and_double_precision_do_not_mix_silently(function, pair, others):
    for name in pair:
        with pytest.raises((ValueError, TypeError), match="dtype"):
            function(**(pair | {name: pair[name].float()}), **others)
