"""Bad arguments for every public function of the room: one sentence that says what is allowed, never a number."""

import functools
import math

import torch
from bad_arguments import (
    Array,
    Choice,
    Flag,
    Function,
    Given,
    Integer,
    Labels,
    Many,
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

from lmc_helpers.data.coherence_inputs import exact_copy, latents
from lmc_helpers.experiments import (
    asymmetric_mlps,
    chord_pairs,
    coherence_points,
    coherence_students,
    every_permutation,
    exchangeable_neurons,
    extremes,
    four_lenses,
    image_layers,
    image_networks,
    image_swaps,
    matched_pairs,
    matched_students,
    matches,
    measured_pairs,
    merge_runs,
    merged_classifiers,
    mixture_pairs,
    mixture_swaps,
    peaks,
    switched_neurons,
    visibility,
    width_barriers,
    width_curves,
)
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.permutation_points.mlp import MLP as Flat
from lmc_helpers.teacher_student.minima import sample_minima
from lmc_helpers.training.ensemble import Recipe
from lmc_helpers.training.runs import Result

NO_OBJECT = {"a string": "nets", "nothing": None, "a number": 1}
SEED = Integer(1, least=0, most=2**32 - 1)
COUNT, EPOCHS = Integer(2, least=1), Integer(1, least=0)
DATASET = Other("digits", {"unknown": "nonsense", "empty": "", "nothing": None, "a number": 1})
SEQUENCE = {"a number": 1, "nothing": None, "a string": "1", "words": ["a"], "nan": [math.nan], "a table": [[1]]}
WIDTHS, SIGMAS, STAGES = (Other(value, SEQUENCE) for value in ([4], [0.5], [0]))
SEEDS = Many([1, 2], SEED)
DTYPE = Other(torch.float64, {"integers": torch.long, "a string": "float64", "nothing": None})
PROBABILITY, POSITIVE = Number(0.5, least=0, most=1), Number(0.5, least=0)
MODEL = MLP((3, 4, 4, 2))
STACK = MODEL.initial([1, 2], torch.float64)
STACKS = Other(STACK, NO_OBJECT)
PARTNERS = Other(STACK, NO_OBJECT | {"one": STACK.ordinary([0]), "wide": MLP((3, 5, 5, 2)).initial([1, 2])})
X, Y = Tensor(normal(5, 3)), Labels(torch.tensor([0, 1, 1, 0, 1]), 2)
MANY_X = Tensor(normal(5, 3), free=(-2,))
UNSEEN = Other(
    (X.value, Y.value), NO_OBJECT | {"one": (X.value,), "words": ("x", "y"), "no labels": (X.value, X.value)}
)
PLACES = Array([0.0, 0.5, 1.0], free=(-1,))
RESULT = Other(Result(STACK, torch.zeros(1, 2), torch.zeros(1, 2), survivors=(0, 1)), NO_OBJECT)
U, D, Z = exact_copy(2, d=4), torch.ones(2, 8, 4).double(), latents(64, seed=1)
BASIS, MASKS = Tensor(U, free=(-1,)), Tensor(D[0], free=(-2,))
STUDENTS = coherence_students.Students(D[None], D[None, :, :, 0], D[None, :, :, :2])
STUDENT = Other(STUDENTS, NO_OBJECT)
LATENTS = Tensor(Z, free=(-2,), batch=False)
SHORT = Other(Recipe(1, 64), NO_OBJECT)
MOMENTS = image_layers.Moments(torch.zeros(3).double(), torch.eye(3).double())
NAN = image_layers.Moments(MOMENTS.mean, MOMENTS.covariance * math.nan)
KNOWN = Other(None, {"a string": "x", "a number": 1})
FEW = Other(1, {"too many": 2, "negative": -1, "a bool": True, "a fraction": 0.5, "nothing": None, "a string": "0"})
NET = Flat((3, 4, 4, 2), "tanh")
POINTS = merged_classifiers.principal(normal(60, 3))
THETA = NET.initial(1, seed=1)[0]
TASK = Other(merged_classifiers.Task(NET, POINTS[0], POINTS[2], NET.forward(THETA, POINTS[0])), NO_OBJECT)
PAIR = {"one": (0,), "three": (0, 1, 2), "a fraction": (0, 0.5), "negative": (0, -1), "nothing": None, "a number": 1}
READINGS = {"nothing": None, "none": [], "no errors": [1.0, 2.0], "no number": [(float("nan"), 0.1)]}
BARRIERS = NO_OBJECT | {
    "width 0": {0: [1.0, 2.0]},
    "half a width": {1.5: [1.0, 2.0]},
    "a barrier of 0": {2: [0.0, 1.0]},
    "a negative barrier": {2: [-1.0, 1.0]},
    "no number": {2: [float("nan"), 1.0]},
    "one number": {2: 1.0},
}
STEPS = {"distances": Integer(4, least=4), "products": Integer(1, least=1)}
MINIMA = sample_minima(4, 2, 2, 6, seed=1)
TWO, COPIES = torch.tensor([[0, 1], [1, 0]]), torch.ones(1, 8, 2, dtype=torch.long)
START = four_lenses.draw_pairs(2, 3, 4, seed=1)
TIED = torch.arange(3).expand(2, 2, 3)
SAMPLES = Array([[1.0, 1.0, 3.0, 3.0], [1.0, 2.0, 3.0, 4.0]], free=(-1, -2), few=False)
ARCH = width_barriers.Lines({"direct": torch.zeros(2, 11)}, {})
SIZES = {"width": COUNT, "images": COUNT, "epochs": EPOCHS, "stages": STAGES, "pairs": COUNT, "seed": SEED}
WIDE = (
    {"dataset": DATASET, "widths": WIDTHS, "depths": Other([2], SEQUENCE), "depth_widths": WIDTHS, "groups": COUNT}
    | {"depth_groups": COUNT, "long_groups": Integer(0, least=0), "together": Integer(2, least=2), "epochs": EPOCHS}
    | {"budgets": Other([2], SEQUENCE), "images": COUNT, "second": Other([2], SEQUENCE), "seed": SEED}
)
ELSEWHERE = {"other": DATASET, "other_widths": WIDTHS, "other_pairs": COUNT, "other_epochs": EPOCHS}
ELSEWHERE |= {"other_images": COUNT, "seed": SEED}
TEACHERS = {"dataset": DATASET, "images": COUNT, "widths": WIDTHS, "teachers": COUNT, "epochs": EPOCHS, "seed": SEED}
TEACHING = list(
    merge_runs.teachers_of_widths(dataset="digits", images=90, widths=[4], teachers=2, epochs=1, seed=1).values()
)
NETWORKS = {
    "widths": WIDTHS,
    "resnet": Other([1, 2, 1], NO_OBJECT | {"two": [1, 2], "a zero": [1, 0, 1]}),
    "vit": Other([8, 1, 2], NO_OBJECT | {"two": [8, 1], "a zero": [8, 0, 2]}),
    "side": COUNT,
}
VIT = image_networks.VIT


@functools.cache
def mixture(norm="layer"):
    (pairs,) = mixture_pairs.train_pairs([mixture_pairs.Setting(k=2)], 2, 1, samples=64, epochs=0, norm=norm)
    return pairs


TRAINED = Other(mixture(), NO_OBJECT)
WHEN = Other("before", {"unknown": "nonsense", "never": 7, "nothing": None})

OTHERS = {
    "chord_pairs": {"cross_entropy": "a step of a descent; labels are checked before"},
    "measured_pairs": {
        "measurements": "takes the arguments of runs, whose row has them",
        "long_settings": "puts settings together, refused where they are used",
        "recorded": "has no arguments",
    },
}

TABLE = [
    Row(
        asymmetric_mlps.fixed_entries,
        {"pixels": COUNT, "width": COUNT, "share": Other(0.5, {"too large": 1.5, "nan": math.nan, "a string": "1"})},
    ),
    Row(asymmetric_mlps.variants, {"sigmas": SIGMAS, "shares": SIGMAS}),
    Row(
        asymmetric_mlps.runs,
        SIZES
        | {"dataset": DATASET, "sweep_pairs": COUNT, "sigmas": SIGMAS, "shares": SIGMAS, "batch": COUNT}
        | {"stages": Other([0], SEQUENCE | {"negative": [-1], "a fraction": [0.5]})},
    ),
    Row(
        asymmetric_mlps.ends,
        {"result": RESULT, "epoch": Other(None, {"not kept": 7, "a string": "end", "negative": -1})},
    ),
    Row(
        asymmetric_mlps.measure,
        {"a": STACKS, "b": PARTNERS, "x": X, "y": Y, "published": Flag()}
        | {"lambdas": Other((0, 0.5, 1), SEQUENCE | {"even": (0, 0.4, 0.6, 1), "above": (0, 0.5, 1.5)})},
    ),
    Row(
        chord_pairs.train_pairs,
        {"images": Tensor(normal(5, 3), free=(-1,), batch=False), "labels": Labels(Y.value, 10)}
        | {"scales": Other([0.0, 1.0], SEQUENCE | {"none": []}), "networks": COUNT, "hidden": COUNT}
        | {"fixed": Integer(1, least=0, most=2), "steps": COUNT, "seed": SEED},
    ),
    Row(coherence_points.student_seeds, {"G": COUNT, "pairs": COUNT, "seed": SEED}),
    Row(
        coherence_points.measure_points,
        {"cells": Other([(U, D)], NO_OBJECT | {"none": [], "not orthonormal": [(2 * U, D)]}), "pairs": COUNT}
        | {"seed": SEED, "lambdas": PLACES, "recipe": SHORT, "dtype": DTYPE},
    ),
    Row(coherence_students.raw_weights, {"seeds": SEEDS, "m": COUNT, "d": COUNT}),
    Row(
        coherence_students.train_students,
        {"U": Tensor(U.expand(2, 4, 2).clone(), batch=False), "D": Tensor(D, free=(-2,), batch=False), "z": LATENTS}
        | {"seeds": Other([[1, 2], [1, 2]], NO_OBJECT | {"one group": [[1, 2]], "negative": [[1, -2], [1, 2]]})}
        | {"recipe": SHORT, "dtype": DTYPE, "start": Other(None, {"a number": 1, "another shape": D})},
    ),
    Row(
        coherence_students.line_losses,
        {"students": STUDENT, "z": LATENTS, "lambdas": PLACES, "dtype": DTYPE}
        | {
            "pairs": Other(
                TWO, NO_OBJECT | {"negative": TWO - 1, "no student": TWO + 1, "none": TWO[:0], "floats": TWO / 2}
            )
        },
    ),
    Row(every_permutation.every_permutation, {"a": STACKS, "b": PARTNERS, "x": X, "y": Y}),
    Row(exchangeable_neurons.copies_seen, {"U": Tensor(U, batch=False), "D": MASKS}),
    Row(
        exchangeable_neurons.masks_with_counts,
        {
            "counts": Other(
                [(1, 2), (2, 2)],
                NO_OBJECT
                | {
                    "too many": [(1, 9)],
                    "a fraction": [(0.5, 1)],
                    "three": [(1, 1, 1)],
                    "negative": [(0, -1)],
                    "none": [],
                },
            )
        }
        | {"G": COUNT, "k": Integer(2, least=2, most=2), "d": Integer(5, least=4), "seed": SEED},
    ),
    Row(
        exchangeable_neurons.align_in_classes,
        {"students": STUDENT}
        | {"copies": Other(COPIES, NO_OBJECT | {"floats": COPIES.double(), "another shape": COPIES[:, :3]})},
    ),
    Row(four_lenses.with_bias, {"x": Tensor(normal(5, 3), free=(-1, -2), batch=False)}),
    Row(
        four_lenses.classifier_loss,
        {"x": Tensor(normal(5, 3), free=(-1,), batch=False)}
        | {"labels": Other(Y.value, NO_OBJECT | {"floats": Y.value.double(), "ignored by torch": Y.value - 100})},
    ),
    Row(
        four_lenses.draw_pairs,
        {"pairs": COUNT, "neurons": COUNT, "inputs": COUNT, "seed": SEED}
        | {"sigma": Other(None, {"nan": math.nan, "a string": "1"})},
    ),
    Row(
        four_lenses.descend,
        {"start": Other(START, NO_OBJECT), "loss": Function(lambda theta: theta.square().sum(dim=(-2, -1)))}
        | {"steps": EPOCHS, "decay": POSITIVE, "show_progress": Flag(False)}
        | {"places": Other(TIED, {"one network": TIED[:1], "floats": TIED.double(), "a list": TIED.tolist()})},
    ),
    Row(
        image_layers.runs,
        SIZES | {"width": Integer(16, least=16), "dataset": DATASET, "ridge_networks": COUNT, "batch": COUNT},
    ),
    Row(image_layers.layer_moments, {"stack": STACKS, "n": FEW, "x": MANY_X, "images": KNOWN}),
    Row(image_layers.principal_basis, {"moments": Other(MOMENTS, NO_OBJECT | {"nan": NAN})}),
    Row(image_layers.coherences, {"stack": STACKS, "x": MANY_X, "images": KNOWN}),
    Row(image_networks.table_3, {"name": Text("stem.weight")}),
    Row(image_networks.entries, {"model": Other(VIT, NO_OBJECT | {"another": MODEL})}),
    Row(
        image_networks.schemes,
        {"model": Other(VIT, NO_OBJECT | {"another": MODEL}), "kind": Choice("w"), "sigma": Number(1.0)},
    ),
    Row(
        image_networks.schemes,
        {"model": Other(VIT, NO_OBJECT)},
        lambda model: image_networks.schemes(model, "syre", 1.0),
    ),
    Row(
        image_networks.networks,
        NETWORKS
        | {"shape": Other((1, 8, 8), NO_OBJECT | {"two": (8, 8), "a zero": (1, 0, 8)}), "patch": COUNT}
        | {"side": Integer(1, least=1)},
    ),
    Row(image_networks.choose_images, {"dataset": DATASET}),
    Row(image_networks.variants, {"widths": WIDTHS, "sigmas": SIGMAS}),
    Row(
        image_networks.runs,
        NETWORKS
        | {"dataset": DATASET, "images": COUNT, "warm_up": EPOCHS, "pairs": COUNT, "sweep_pairs": Integer(2, least=0)}
        | {"epochs": Other([2, 2, 2], NO_OBJECT | {"two": [1, 1], "negative": [1, -1, 1]}), "sigmas": SIGMAS}
        | {"side": Given(1), "together": COUNT, "batch": COUNT, "seed": SEED},
    ),
    Row(image_networks.seconds_per_image, {"model": Other(MODEL, NO_OBJECT), "images": COUNT}),
    Row(
        image_swaps.layer_parts,
        {"stack": STACKS, "n": FEW, "layer": Integer(0, least=0, most=2)},
    ),
    Row(image_swaps.neighbours, {"m": Integer(5, least=2)}),
    Row(
        image_swaps.one_metric_costs,
        {"F": Tensor(normal(4, 3), batch=False), "W": Tensor(normal(4, 3), batch=False)}
        | {"U": Tensor(normal(3, 2), free=(-1,), batch=False)},
    ),
    Row(
        image_swaps.fixed_norm,
        {"stack": Other(MLP((3, 4, 4, 2), norm="batch").initial([1, 2], torch.float64), NO_OBJECT | {"no norm": STACK})}
        | {"n": FEW, "layer": Integer(0, least=0, most=1), "inputs": Other(MOMENTS, NO_OBJECT)},
    ),
    Row(
        matched_pairs.runs,
        {"dataset": DATASET, "width": COUNT, "pairs": COUNT, "images": COUNT, "epochs": EPOCHS, "seed": SEED}
        | {"wide": COUNT, "wide_pairs": COUNT, "small_pairs": COUNT, "small_epochs": EPOCHS},
    ),
    Row(matched_students.activation_correlations, {name: Tensor(normal(4, 3)) for name in ("W1", "W2")}),
    Row(
        matched_students.compare_students,
        {name: Tensor(one.clone(), batch=False) for name, one in zip(("W1", "W2"), MINIMA.split(3), strict=True)}
        | {"M": Integer(2, least=1, most=2), "steps": EPOCHS, "seed": SEED},
    ),
    Row(
        measured_pairs.runs,
        SIZES
        | {"dataset": DATASET, "sweep_pairs": COUNT, "sigmas": SIGMAS, "shares": SIGMAS, "batch": COUNT}
        | {"stages": Other([0], SEQUENCE | {"negative": [-1], "a fraction": [0.5]})}
        | {"places": Other(2, {"odd": 3, "none": 0, "a fraction": 2.5, "a bool": True, "a string": "2"})}
        | {"looked": COUNT, "long_epochs": EPOCHS, "long_pairs": COUNT},
    ),
    Row(
        matches.match,
        {"a": STACKS, "b": PARTNERS, "matcher": Function(dict), "x": MANY_X, "unseen": UNSEEN}
        | {"chord": Other(None, {"words": ("a", "b"), "a number": 1})},
    ),
    Row(matches.descents, {"a": STACKS, "b": PARTNERS, "number": COUNT, "unseen": UNSEEN, "seed": SEED}),
    Row(
        matches.cross_fitted_gain,
        {
            "values": Other(
                {"identity": torch.tensor([3.0, 3.0]), "a": torch.tensor([1.0, 2.0])},
                NO_OBJECT
                | {
                    "nan": {"identity": torch.ones(2), "a": torch.tensor([1.0, math.nan])},
                    "one": {"identity": torch.ones(2)},
                }
                | {"nan of the reference": {"identity": torch.ones(2) * math.nan, "a": torch.ones(2)}},
            )
        }
        | {"reference": Choice("identity")},
    ),
    Row(merge_runs.teachers_of_widths, TEACHERS),
    Row(merge_runs.runs, TEACHERS | {"components": Integer(2, least=0), "randoms": Integer(1, least=0)} | STEPS),
    Row(
        merge_runs.merges,
        {"teaching": Other(TEACHING, {"nothing": None, "a number": 1, "numbers": [1]})}
        | {"components": Integer(2, least=0), "randoms": Integer(1, least=0), "seed": Integer(0, least=0)}
        | STEPS,
    ),
    Row(merged_classifiers.towards, {"distances": STEPS["distances"]}),
    Row(
        merged_classifiers.principal,
        {"x": Tensor(normal(6, 3), free=(-1, -2), batch=False), "components": Integer(2, least=0)},
    ),
    Row(
        merged_classifiers.flat,
        {"net": Other(NET, NO_OBJECT), "stack": STACKS, "Q": Tensor(torch.eye(3).double(), batch=False)},
    ),
    Row(
        merged_classifiers.merge,
        {"task": TASK, "theta": Tensor(THETA, batch=False), "pair": Other((0, 1), PAIR)}
        | {"distances": Other(torch.ones(1).double(), NO_OBJECT | {"zero": torch.zeros(1).double()})}
        | {"labels": Other(torch.zeros(60, dtype=torch.long), NO_OBJECT), "products": Integer(1, least=0)}
        | {"tol": Number(1e-8, least=0), "show_progress": Flag(False)},
    ),
    Row(
        merged_classifiers.permutation_point,
        {
            "task": TASK,
            "theta": Tensor(THETA, batch=False),
            "labels": Other(torch.zeros(60, dtype=torch.long), NO_OBJECT),
            "products": Integer(1, least=0),
            "tol": Number(1e-8, least=0),
        },
    ),
    Row(
        extremes.extreme,
        {"pick": Other(max, {"a name": "max", "another": sum}), "found": Other([(1.0, 0.1)], READINGS)},
    ),
    Row(merged_classifiers.exponent, {"found": Other({2: [1.0, 2.0], 4: [1.0, 2.0]}, BARRIERS)}),
    Row(
        merged_classifiers.random_pair,
        {"neurons": Integer(4, least=3), "other_than": Other((0, 1), PAIR), "seed": SEED, "purpose": Text("a")},
    ),
    Row(
        merged_classifiers.core_hours,
        {name: COUNT for name in ("images", "components", "paths", "distances", "products")} | {"widths": WIDTHS},
    ),
    Row(
        mixture_pairs.train_pairs,
        {"settings": Other([mixture_pairs.Setting(k=2)], NO_OBJECT | {"none": []}), "clusters": COUNT, "seed": SEED}
        | {"samples": Integer(64, least=1), "epochs": EPOCHS, "batch": COUNT, "norm": Choice("layer"), "dtype": DTYPE}
        | {"keep": Other((), {"too late": [9], "a number": 1, "nothing": None, "a string": "1"})}
        | {"checkpoints": Other(None, {"a number": 0})},
    ),
    Row(mixture_swaps.neuron_pairs, {"m": Integer(3, least=1)}),
    Row(mixture_swaps.first_layer_basis, {"pairs": TRAINED, "g": FEW, "centred": Flag()}),
    Row(mixture_swaps.first_layer_costs, {"pairs": TRAINED, "when": WHEN, "centred": Flag()}),
    Row(mixture_swaps.centre_shifts, {"pairs": TRAINED, "when": WHEN}),
    Row(
        mixture_swaps.low_partners,
        {"costs": Tensor(normal(2, 6).abs(), free=(-2,), batch=False), "m": Integer(4, least=2, most=4)}
        | {"median": Other(None, {"a number": 1.0, "another length": torch.ones(3)})},
    ),
    Row(mixture_swaps.what_orders, {"pairs": TRAINED, "when": WHEN}),
    Row(
        mixture_swaps.ridge_matrix,
        {"pairs": Other(mixture("batch"), NO_OBJECT | {"layer norm": mixture()}), "g": FEW, "neurons": COUNT}
        | {"inputs": Integer(20, least=1), "norms": Flag(), "beta": Number(1.0, least=0)},
    ),
    Row(
        mixture_swaps.layer_estimates,
        {"pairs": Other(mixture("batch"), NO_OBJECT | {"layer norm": mixture()}), "layers": Integer(1, least=1)}
        | {"neurons": Other(torch.tensor([[0, 1]]), NO_OBJECT | {"floats": torch.ones(1, 2), "none": TIED[:0, 0, :2]})}
        | {"inputs": Integer(20, least=1), "beta": Number(1.0, least=0)},
    ),
    Row(peaks.ratio_at_peaks, {"upper": SAMPLES, "lower": SAMPLES}),
    Row(switched_neurons.are_on, {"students": STUDENT, "z": LATENTS}),
    Row(
        switched_neurons.switch_off,
        {"students": STUDENT}
        | {"on": Other(STUDENTS.b > 0, NO_OBJECT | {"floats": STUDENTS.b, "another shape": STUDENTS.b[0] > 0})},
    ),
    Row(switched_neurons.middle_lacks, {"students": STUDENT, "z": LATENTS}),
    Row(switched_neurons.two_state_barrier, {"N": Number(4.0, least=0), "on": PROBABILITY, "beta": POSITIVE}),
    Row(visibility.bernoulli_masks, {"G": COUNT, "m": COUNT, "d": COUNT, "p": PROBABILITY, "seed": SEED}),
    Row(visibility.ranks, {"U": BASIS, "D": MASKS}),
    Row(visibility.rank_law, {"k": COUNT, "p": PROBABILITY, "family": Choice("exact-copy")}),
    Row(visibility.mask_probability, {"k": COUNT, "v": PROBABILITY}),
    *(
        Row(function, {"k": COUNT, "p": PROBABILITY})
        for function in (visibility.relative_anisotropy, visibility.mean_cost, visibility.same_counts)
    ),
    Row(width_barriers.sweep, WIDE),
    Row(width_barriers.elsewhere, ELSEWHERE),
    Row(width_barriers.runs, WIDE | ELSEWHERE),
    Row(
        width_barriers.matched_pairs,
        {"result": RESULT, "epoch": Integer(1, least=1, most=1), "x": MANY_X, "restarts": COUNT, "seed": SEED}
        | {"orders": Other(("direct", "activations"), NO_OBJECT | {"unknown": ("direct", "nonsense")})}
        | {"together": Integer(2, least=2)},
    ),
    Row(
        width_barriers.lines,
        {"pairs": Other(width_barriers.Pairs(STACK, {"direct": STACK}), NO_OBJECT), "x": X, "y": Y},
    ),
    Row(width_barriers.rescaled, {"stack": STACKS, "c": Number(2.0)}),
    Row(
        width_barriers.middles,
        {"a": STACKS, "b": PARTNERS, "x": X, "y": Y, "scales": Other([1.0], SEQUENCE | {"negative": [-1.0]})},
    ),
    Row(
        width_curves.bounds_of,
        {
            "n": Integer(20, least=0),
            "reading": Other((0.5, 0.1), {"nan": (math.nan, 0.1), "a number": 1, "nothing": None}),
            "of_all": Other(max, {"another": sum, "a name": "max", "nothing": None}),
        },
        lambda n, reading, of_all: width_curves.bounds_of(n, reading, of_all=of_all),
    ),
    Row(
        width_curves.depth_trend,
        {"curves": Other({3: width_curves.Curves({3: ARCH})}, NO_OBJECT), "order": Text("direct"), "seed": SEED},
    ),
    Row(
        width_curves.place_ratio,
        {name: Other(width_curves.Curves({3: ARCH, 4: ARCH}), NO_OBJECT) for name in ("upper", "lower")}
        | {"order": Text("direct"), "seed": SEED},
    ),
]


def test_every_public_function_has_a_row():
    assert not without_a_row("experiments", TABLE, OTHERS)


@rows(TABLE)
def test_the_valid_call_runs_and_bad_ones_are_refused(row):
    runs(row)
    refused(row)
