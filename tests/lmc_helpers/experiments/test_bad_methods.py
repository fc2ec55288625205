"""Bad arguments for every public method of the room: one sentence that says what is allowed, never a number."""

import math
from dataclasses import replace

import pytest
import torch
from bad_arguments import (
    Choice,
    Flag,
    Integer,
    Number,
    Other,
    Row,
    Tensor,
    methods_without_a_row,
    normal,
    refused,
    rows,
    runs,
)

from lmc_helpers.experiments import asymmetric_mlps, image_layers, image_networks, measured_pairs, mixture_pairs
from lmc_helpers.experiments.asymmetric_mlps import Found, Variant
from lmc_helpers.experiments.averaged_images import Averaged
from lmc_helpers.experiments.chord_pairs import ChordPairs
from lmc_helpers.experiments.every_permutation import every_permutation
from lmc_helpers.experiments.image_swaps import Swaps
from lmc_helpers.experiments.matches import Pairs
from lmc_helpers.experiments.merge_runs import MergeRun, teachers_of_widths
from lmc_helpers.experiments.merged_classifiers import Task, principal
from lmc_helpers.experiments.width_barriers import Lines
from lmc_helpers.experiments.width_curves import Curves
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.permutation_points.mlp import MLP as Flat
from lmc_helpers.permutation_points.pair import PairChart

LIKE_THE_MODEL = "is the model's own"
OTHERS = {
    "averaged_images": dict.fromkeys(("Averaged.draw", "Averaged.map_shape"), LIKE_THE_MODEL),
    "measured_pairs": {"Experiment.together": "takes any number of pairs; a test of its own has them"},
}

COUNT = Integer(8, least=1)
NAMES = {"unknown": "nonsense", "empty": "", "a number": 7, "nothing": None, "a list": ["MLP"]}
EPOCH = {"never": 9, "negative": -1, "a bool": True, "a float": 0.0, "a string": "end", "a list": [0]}
LAYER = {"negative": -1, "too large": 3, "a bool": True, "a float": 0.0, "a string": "0", "a slice": slice(1)}
OF_RUN, WHEN, HIDDEN = Other("W 1", NAMES), Other(0, EPOCH), Other(0, LAYER)
NAME_AND_EPOCH = {"name": OF_RUN, "epoch": WHEN}
QUANTITY = Other("nu", {"unknown": "nonsense", "another field": "d", "empty": "", "a number": 7, "nothing": None})

LAYERS = dict(dataset="digits", width=16, images=60, epochs=1, stages=[0], pairs=2, seed=3)
ASYMMETRIC = asymmetric_mlps.Experiment(2, **LAYERS, sweep_pairs=2, sigmas=[5.0], shares=[0.5])
MEASURED = measured_pairs.Experiment(**LAYERS, sweep_pairs=2, sigmas=[5.0], shares=[0.5], places=2, looked=40)
IMAGES = image_layers.Experiment(40, **LAYERS, ridge_networks=2)
NETWORKS = dict(dataset="digits", widths=[2], resnet=[1, 2, 1], vit=[8, 1, 2], images=60, epochs=[1, 1, 1])
NETWORKS = image_networks.Experiment(2, 40, **NETWORKS, warm_up=0, pairs=2, sweep_pairs=2, sigmas=[], seed=3)

LINE = torch.tensor([[1.0, 0.5, 1.0]])
FOUND = Found(*torch.ones(5, 1, 3), {"none": LINE})
SMALL = Averaged(CNN(2, 2, 1, input_shape=(1, 4, 4)), 2, (1, 8, 8))
SEEN, PARAMS = normal(5, 1, 8, 8), SMALL.initial([1, 2], torch.float64).params
RECORD = Other(None, {"a list": [], "a string": "r", "a number": 1})
FEWER = Other(
    PARAMS, {"one lacks": dict(list(PARAMS.items())[1:]), "single": {n: p.float() for n, p in PARAMS.items()}}
)
PIXELS = Tensor(SEEN, free=(-4,), holes=False, empty=False)

CHORD = ChordPairs(normal(2, 1, 4, 3), normal(2, 1, 4, 3, seed=2), [])
W, A, X = normal(2, 2, 4, 3), normal(2, 2, 5, 4), normal(6, 3)
SINGLE = {"single": X.float()}

STACK = MLP((3, 3, 3, 2)).initial([1, 2], torch.float64)
Y = torch.tensor([0, 1, 1, 0, 1])
EVERY = every_permutation(STACK, STACK, normal(5, 3), Y)
P = torch.tensor([[2, 0, 1], [1, 0, 2]])
ORDERS = {"one lacks": {"0": P}, "one more": {"0": P, "1": P, "2": P}, "repeated": {"0": P, "1": P.clamp(max=1)}}
ORDERS |= {"one pair": {"0": P, "1": P[:1]}, "two units": {"0": P, "1": P[:, :2].clamp(max=1)}, "none": {}}
ORDERS |= {"floats": {"0": P, "1": P.double()}, "NumPy": {"0": P.numpy(), "1": P}, "nothing": None, "a list": [P, P]}
ORDERS |= {
    "meta": {"0": P, "1": P.to("meta")},
    "numbers": {0: P, 1: P},
    "no dict": P,
    "too large": {"0": P, "1": P + 1},
}

MATCHERS = {"identity": lambda a, b, x, y, seed: {}, "turned": lambda a, b, x, y, seed: {"0": P}}
PAIRS = Pairs(
    STACK, MLP((3, 3, 3, 2)).initial([3, 4], torch.float64), MATCHERS, (normal(5, 3), Y), (normal(5, 3), Y), 1
)
MATCHER = Other("turned", NAMES)
MANY = {"none": [], "unknown": ["turned", "nonsense"], "one string": "turned", "nothing": None, "a number": 1}

NET = Flat((3, 4, 4, 2), "tanh")
POINTS = principal(normal(60, 3))
THETA = NET.initial(1, seed=1)[0]
TASK = Task(NET, POINTS[0], POINTS[2], NET.forward(NET.initial(1, seed=2)[0], POINTS[0]))
TEACHERS = teachers_of_widths(dataset="digits", images=60, widths=[3], teachers=1, epochs=1, seed=1)[3]
MERGE = MergeRun(TEACHERS, 0, components=2, distances=4, products=5)
CHART = PairChart(NET, 2)
PHI = CHART.coordinates(THETA)
CHARTS = {"a layer": 2, "a string": "paper", "of another net": PairChart(Flat((3, 5, 4, 2), "tanh"), 2), "a net": NET}
OF_NET = Tensor(THETA, batch=False, holes=False)
STOPS = {"products": Integer(1, least=0), "tol": Number(1e-8, least=0)}

(MIXTURE,) = mixture_pairs.train_pairs([mixture_pairs.Setting(k=2)], 2, 1, samples=64, epochs=1, keep=(1,))
ENDS = MIXTURE.ends()
NO_ENDS = {"one": ENDS[0], "three": (*ENDS, ENDS[0]), "all": (MIXTURE.after.ordinary(),) * 2, "none": ()}
NO_ENDS |= {"a string": "ab", "a number": 1, "of a stack": (STACK, STACK), "too few": (ENDS[0], ENDS[1].ordinary([0]))}
STATES = {"unknown": "nonsense", "never": 7, "nothing": None, "a bool": True, "a list": ["after"], "a float": 1.0}

ARCH = torch.tensor([[0.0] * 5 + [1.0] + [0.0] * 5] * 4) * torch.tensor([1.0, 1.1, 0.9, 1.0])[:, None]
BOTH = {"direct": ARCH, "weights": ARCH / 2}
LINES = Lines(BOTH, BOTH)
CURVES = Curves({3: LINES, 6: Lines({"direct": 3 * ARCH, "weights": 2 * ARCH}, BOTH), 12: LINES})
ORDER = Other("weights", NAMES)
WIDTH = Other(
    3, {"unknown": 4, "negative": -3, "a float": 3.0, "a bool": True, "a string": "3", "nothing": None, "a list": [3]}
)
WIDTHS = {"unknown": [3, 4], "none": [], "a number": 3, "a string": "36", "words": ["3"], "nothing": None}
SEED = Integer(1, least=0, most=2**32 - 1)


def swaps(name, **arguments):
    """Costs of a run, whose networks are drawn when the test runs."""
    method = getattr(Swaps(IMAGES, name), "ridge" if "count" in arguments else "costs")
    return method(**arguments)


TABLE = [
    *(
        Row(method, {"pixels": COUNT, "width": COUNT})
        for method in (Variant("w", 1.0).model, Variant("w", 1.0).schemes, Variant("syre", 1.0).schemes)
    ),
    Row(FOUND.drop, {"matched": Choice("none")}),
    Row(ASYMMETRIC.result, {"name": OF_RUN}),
    Row(ASYMMETRIC.found, NAME_AND_EPOCH),
    Row(ASYMMETRIC.way, NAME_AND_EPOCH | {"layer": HIDDEN}),
    Row(ASYMMETRIC.lead, NAME_AND_EPOCH | {"other": Other("W 0", NAMES), "layer": HIDDEN}),
    Row(MEASURED.measurements["W 1"].result, {"show_progress": Flag(False)}),
    Row(MEASURED.measured, {"name": OF_RUN}),
    Row(MEASURED.found, NAME_AND_EPOCH),
    Row(MEASURED.lead, NAME_AND_EPOCH | {"other": Other("W 0", NAMES), "layer": HIDDEN}),
    Row(SMALL.averaged, {"x": replace(PIXELS, counted=True)}),
    Row(SMALL.forward, {"params": FEWER, "x": PIXELS, "record": RECORD}),
    Row(
        CHORD.outputs,
        {"W": Tensor(W, batch=False, holes=False, free=(-3,)), "A": Tensor(A, batch=False, holes=False, free=(-2,))}
        | {"x": Tensor(X, batch=False, holes=False, free=(-2,))},
    ),
    Row(CHORD.outputs, {"x": Other(X, SINGLE)}, lambda x: CHORD.outputs(W, A, x)),
    Row(EVERY.rank, {"permutations": Other({"0": P, "1": P}, ORDERS)}),
    Row(IMAGES.result, {"name": OF_RUN}),
    Row(IMAGES.coherences, NAME_AND_EPOCH),
    *(
        Row(method, NAME_AND_EPOCH | {"quantity": QUANTITY})
        for method in (IMAGES.by_pair, IMAGES.hidden, IMAGES.higher)
    ),
    *(Row(method, {"name": Other("CNN 2", NAMES)}) for method in (NETWORKS.accuracy, NETWORKS.found, NETWORKS.losses)),
    Row(Swaps.costs, {"layer": Integer(0, least=0, most=2)}, lambda layer: swaps("W 1", layer=layer)),
    Row(
        Swaps.ridge,
        {"layer": Integer(0, least=0, most=2), "count": Integer(2, least=1, most=8)}
        | {"inputs": Integer(20, least=1, most=40), "beta": Number(0.01, least=0)},
        lambda **arguments: swaps("W 1, batch norm", **arguments),
    ),
    Row(PAIRS.moved, {"name": MATCHER}),
    Row(PAIRS.ratio, {"above": MATCHER, "below": MATCHER}),
    Row(PAIRS.repaired, {"name": MATCHER}),
    Row(PAIRS.wins, {"names": Other(["identity", "turned"], MANY)}),
    Row(MERGE.result, {"show_progress": Flag(False)}),
    Row(TASK.loss, {"theta": OF_NET}),
    Row(TASK.local, {"theta": OF_NET}),
    Row(TASK.metric, {"phi": OF_NET, "chart": Other(None, CHARTS)}),
    Row(TASK.metric, {"phi": Tensor(PHI, batch=False, holes=False), "chart": Other(CHART, CHARTS)}),
    Row(TASK.minimise, {"phi": Tensor(THETA, batch=False), "chart": Other(None, CHARTS)} | STOPS),
    Row(TASK.minimise, {"phi": Tensor(PHI, batch=False), "chart": Other(CHART, CHARTS)} | STOPS),
    Row(
        MIXTURE.layer,
        {"g": Integer(1, least=0, most=1), "k": Integer(0, least=0, most=3), "when": Other(1, STATES)},
    ),
    *(Row(method, {"ends": Other(ENDS, NO_ENDS)}) for method in (MIXTURE.accuracies, MIXTURE.drops)),
    *(
        Row(method, {"order": ORDER})
        for one, names in (
            (LINES, ("of_pairs", "barriers", "drops", "largest")),
            (CURVES, ("barriers", "peaks", "summits")),
        )
        for method in (getattr(one, name) for name in names)
    ),
    Row(CURVES.only, {"widths": Other([3, 12], WIDTHS | {"falling": [12, 3]})}),
    Row(CURVES.relative, {"order": ORDER, "m": WIDTH, "over": Other([6, 12], WIDTHS)}),
    Row(CURVES.place, {"order": ORDER, "seed": SEED}),
    Row(CURVES.left, {"m": WIDTH, "order": ORDER, "base": Other("direct", NAMES)}),
    Row(CURVES.farthest, {"order": ORDER, "base": Other("direct", NAMES)}),
    Row(CURVES.contrast, {"order": ORDER, "m": WIDTH, "other": WIDTH}),
]


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMC_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield


def test_every_public_method_has_a_row():
    assert not methods_without_a_row("experiments", TABLE, OTHERS)


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)


def test_networks_without_batch_norm_have_no_ridge():
    with pytest.raises(ValueError, match="allowed"):
        swaps("W 1", layer=0, count=2, inputs=20, beta=0.01)


def test_rows_that_are_not_the_pairs_of_a_variant_are_refused():
    for parts in ([("W 1", torch.ones(3))], [("nonsense", torch.ones(2))], []):
        with pytest.raises(ValueError, match="allowed"):
            MEASURED.together(*parts)


def test_an_epoch_that_was_looked_at_is_not_found_under_another_name():
    """True is 1 and 0.0 is 0 for a dict, which would give what was found before."""
    assert math.isfinite(ASYMMETRIC.found("W 1", 0).optimal.mean())
    for other in (False, 0.0):
        for experiment in (ASYMMETRIC, MEASURED):
            with pytest.raises(ValueError, match="epoch"):
                experiment.found("W 1", other)
