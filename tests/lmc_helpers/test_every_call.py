"""Every public function: a batch is the stack of its elements, a bad argument ends in one sentence of ours.

``TABLE`` has valid arguments of one element for each public function that is :func:`checked`. Arguments whose hint has
a batch (``*batch``, ``...``) are drawn once for each element and stacked; the others are shared.
"""

import collections.abc
import dataclasses
import functools
import importlib
import inspect
import math
import pkgutil
import types
from typing import get_args

import numpy as np
import pytest
import torch
from oracles import linear

import lmc_helpers
from lmc_helpers import _typing, barrier, error_bars, general_linear, matching, seeds
from lmc_helpers.alignment import activation_matching, assignment
from lmc_helpers.alignment import weight_matching as by_weights
from lmc_helpers.data import digits, images
from lmc_helpers.identifiability import asymmetric, costs, input_subspace, relaxed_swaps
from lmc_helpers.linear_nets import between, minimum
from lmc_helpers.networks import cnn, mlp, model, permutations, resnet, segments, vit
from lmc_helpers.orbits import curves, group_actions
from lmc_helpers.permutation_points import classifiers, converged, counts, doubling, hessian, newton, pair
from lmc_helpers.permutation_points import mlp as perceptron
from lmc_helpers.teacher_student import (
    barrier_limit,
    between_minima,
    gradient_descent,
    minima,
    overlap,
    population,
    sparsity,
)
from lmc_helpers.training import examples, fit, recipes, runs

EYE = torch.eye(3, dtype=torch.float64)
U = torch.linalg.qr(torch.arange(8.0).double().reshape(4, 2).cos())[0]
NET = perceptron.MLP((2, 3, 1), "tanh")
X, Y = torch.arange(10.0).double().reshape(5, 2).sin(), torch.arange(5.0).double()[:, None].cos()
CHART = pair.PairChart(NET, 1)
THETA = NET.initial(1, seed=1)[0]
POINT = doubling.double_neurons(NET, THETA, X, Y)[0]
MODEL = mlp.MLP((2, 3, 2))
A, B = MODEL.initial([1, 2], torch.float64), MODEL.initial([3, 4], torch.float64)
CLASSES, ORDERS = torch.tensor([0, 1, 1, 0, 1]), {"0": torch.tensor([[2, 0, 1], [0, 2, 1]])}
SYMMETRY = MODEL.symmetry()
ENDS = {"a": A.params, "b": B.params, "symmetry": SYMMETRY}
MOMENTS = activation_matching.recorded_moments(A, B, X)
GL, SCALING = group_actions.GeneralLinear(), group_actions.Rescaling()
T = torch.linspace(0, 1, 4, dtype=torch.float64)
PATH = converged.ConvergedPath(torch.ones(4, 13), T, T, T)
SCHEME = asymmetric.WAsymmetric(1, 1.0)
SCHEMES = SCHEME, asymmetric.Sparse(1), asymmetric.Syre(1.0, 0.5), asymmetric.WBernoulli(0.5, 1.0)
DRAWS = asymmetric.LinearResidual().draw, *(scheme.draw for scheme in SCHEMES)


class Draw:
    """Numbers of one seed."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, *shape):
        return torch.randn(shape, dtype=torch.float64, generator=self.generator)

    def order(self, m):
        return torch.randperm(m, generator=self.generator)

    def minimum(self, m=4, M=2, d=3):
        """A minimum of the teacher–student loss."""
        seed = int(torch.randint(1000, (), generator=self.generator))
        return minima.sample_minima(m, M, d, 1, seed)[0]

    def group(self, h=3):
        """A matrix with a positive determinant."""
        return self(h, h) * 0.2 + torch.eye(h).double()

    def rotation(self, h=3):
        return torch.linalg.matrix_exp((S := self(h, h)) - S.mT)

    def linear(self):
        return linear.minimum(3, EYE, 2 * EYE, int(torch.randint(1000, (), generator=self.generator)), (1, 1))

    def layer(self):
        return {"F": self(3, 4), "D": self(3, 4), "W": self(3, 4)}

    def pair(self):
        return self(3, 2), self(1, 3)


def bowl(w):
    return -w.square().sum(dim=-1)


def quartic(t):
    return t.square().sum(dim=-1).square() + t.cos().sum(dim=-1)


def distance(a, b):
    return (a - b).abs().sum(dim=(-2, -1))


SECOND, FAR = functools.partial(hessian.hessian, quartic), torch.tensor([1.0, 0.9])
NEWTON, DATA, LAYER = {"loss": quartic, "steps": 2, "tol": 0.1}, {"X": EYE, "Y": 2 * EYE}, Draw(1).layer()
RIDGE = dict(LAYER, X=Draw(2)(6, 4), beta=0.5, activation=torch.tanh, scale=T[:3], shift=T[:3])

#: (function or functions, arguments that it shares, batched arguments of one element)
TABLE = [
    (barrier.check_lambdas, {"lambdas": T}, None),
    (barrier.loss_barrier, {"loss": bowl}, lambda r: {"a": r(4), "b": r(4)}),
    (barrier.refined_barrier, {"loss": bowl, "coarse": 4, "steps": 6}, lambda r: {"a": r(4), "b": r(4)}),
    (matching.check_permutation, {}, lambda r: {"p": r.order(4)}),
    (matching.permute, {}, lambda r: {"W": r(4, 2), "p": r.order(4)}),
    ((matching.row_types, matching.has_types), {}, lambda r: {"W": r.minimum()}),
    (matching.algorithm_1, {}, lambda r: {"W1": r.minimum(), "W2": r.minimum()}),
    (matching.weight_matching, {}, lambda r: {"W1": r(4, 2), "W2": r(4, 2)}),
    (matching.pair_matching, {"W1": EYE, "W2": EYE}, None),
    (matching.all_permutations, {"m": 3}, None),
    (matching.best_permutation, {"W1": EYE, "W2": EYE, "objective": distance}, None),
    (matching.match_activations, {}, lambda r: {"a": r(5, 3), "b": r(5, 3)}),
    (general_linear.require_invertible, {}, lambda r: {"matrices": {"A": r.group(), "B": r.group()}}),
    (general_linear.determinant_sign, {}, lambda r: {"A": r(3, 3)}),
    (general_linear.times_inverse, {}, lambda r: {"B": r(2, 3), "A": r(3, 3)}),
    (general_linear.random_invertible, {"batch": (2,), "h": 3, "generator": torch.Generator(), "signs": 1}, None),
    (general_linear.polar, {}, lambda r: {"g": r(3, 3)}),
    (general_linear.rotation_logarithm, {}, lambda r: {"R": r.rotation()}),
    (general_linear.path_in_group, {"steps": 4}, lambda r: {"a": r.group(), "b": r.group()}),
    ((costs.least_norm_weight, costs.realization_cost), {}, lambda r: {"a": r(2), "f": r(4), "d": r(4), "U": U}),
    ((costs.cost_table, costs.swap_costs, costs.swap_terms), {"U": U}, Draw.layer),
    (costs.output_sensitivity, {"table": EYE + 1}, lambda r: {"p": r.order(3)}),
    (relaxed_swaps.ridge_swaps, RIDGE, lambda r: {"pairs": r.order(3)[:2]}),
    (input_subspace.AsymmetricLayer, {**LAYER, "U": U}, None),
    ((input_subspace.leverages, input_subspace.coherence), {}, lambda r: {"U": r.rotation()[:, :2]}),
    (input_subspace.exact_copies, {"d": 4, "k": 2, "copies": 2}, None),
    (input_subspace.grams, {}, lambda r: {"D": r(3, 4), "U": U}),
    (input_subspace.pca_basis, {"X": X, "explained": 0.9, "centred": True}, None),
    (asymmetric.Sparse, {"fixed": 1, "dim": 0}, None),
    (asymmetric.Syre, {"sigma": 1.0, "epsilon": 0.5}, None),
    (asymmetric.WAsymmetric, {"fixed": 1, "sigma": 1.0, "dim": 0}, None),
    (asymmetric.WBernoulli, {"p": 0.5, "sigma": 1.0}, None),
    (DRAWS, {"shape": (4, 2), "generator": torch.Generator()}, None),
    (asymmetric.asymmetrise, {"module": torch.nn.Linear(4, 3), "schemes": SCHEME, "seed": 1}, None),
    (asymmetric.layer_parts, {"module": torch.nn.Linear(4, 3)}, None),
    (between.straight_line, {"lambdas": [0.0, 0.5]}, lambda r: {"a": r.linear(), "b": r.linear()}),
    (between.obstruction, {"Y": EYE}, None),
    (between.path_over_obstruction, {**DATA, "layer": 1, "steps": 4}, lambda r: {"weights": r.linear()}),
    (minimum.component, {"weights": [EYE, EYE], "X": EYE}, None),
    (minimum.components, {"X": EYE}, lambda r: {"weights": r.linear()}),
    (minimum.from_group, DATA, lambda r: {"g": [r.group(), r.group()]}),
    (minimum.loss, {"X": EYE, "Y": EYE}, lambda r: {"weights": r.linear()}),
    (minimum.path_in_minimum, {**DATA, "steps": 4}, lambda r: {"a": r.linear(), "b": r.linear()}),
    (curves.flatten, {}, lambda r: {"w": r.pair()}),
    (curves.curve, {"action": GL, "t": T}, lambda r: {"M": r(3, 3), "w": r.pair()}),
    (curves.chord, {"t": T}, lambda r: {"path": (r(4, 3, 2), r(4, 1, 3))}),
    (curves.derivatives, {"action": SCALING}, lambda r: {"M": r(3), "w": r.pair()}),
    (curves.length, {"action": GL, "nodes": 5}, lambda r: {"M": r(3, 3), "w": r.pair()}),
    (curves.curvature, {}, lambda r: {"velocity": r(3), "acceleration": r(3)}),
    (curves.distance_between_ends, {}, lambda r: {"path": r(4, 3)}),
    (GL.exp, {"t": T}, lambda r: {"M": r(3, 3)}),
    (GL.act, {}, lambda r: {"g": r.group(), "w": r.pair()}),
    (GL.generator, {}, lambda r: {"M": r(3, 3), "w": r.pair()}),
    (SCALING.exp, {"t": 0.5}, lambda r: {"M": r(3)}),
    (SCALING.act, {}, lambda r: {"g": r(3).exp(), "w": r.pair()}),
    (SCALING.generator, {}, lambda r: {"M": r(3), "w": r.pair()}),
    (group_actions.Rescaling, {"degree": 1.0}, None),
    (classifiers.accuracy, {"net": NET, "x": X, "labels": 0 * CLASSES}, lambda r: {"theta": r(13)}),
    (classifiers.most_similar_neurons, {"net": NET, "theta": THETA, "x": X, "layer": 1}, None),
    (PATH.only, {"chosen": T > 0.5}, None),
    (PATH.rises, {"tol": 0.1}, None),
    (converged.damped_newton, {**NEWTON, "theta": THETA, "project": torch.clone}, None),
    (converged.converged_path, dict(NEWTON, chart=CHART, theta=THETA, pair=(0, 1), distances=FAR, misses=1), None),
    (counts.count_ratio, {"K": 2, "n": 5}, None),
    ((POINT.small_loss, NET.split, CHART.distance, CHART.coordinates), {}, lambda r: {"theta": r(13)}),
    (POINT.shared, {"first": T[:1]}, None),
    (doubling.double_neurons, {"small": NET, "theta": THETA, "x": X, "y": Y}, None),
    (doubling.embed, {"small": NET, "layer": 1, "neuron": 1}, lambda r: {"theta": r(13), "first": r(1)}),
    (doubling.equal_loss_exchange, {"net": POINT.net, "theta": POINT.theta, "layer": 1, "other": 2, "points": 3}, None),
    (doubling.pair_inertia, {"J": EYE[:1], "D": EYE, "tol": 0.1}, None),
    (hessian.gradient, {"loss": quartic}, lambda r: {"theta": r(4)}),
    (hessian.hessian, {"loss": quartic, "chunk": 2}, lambda r: {"theta": r(4)}),
    (hessian.inertia, {"tol": 0.1}, lambda r: {"H": (H := r(3, 3)) + H.mT}),
    (NET.join, {"layers": NET.split(THETA)}, None),
    (NET.forward, {"x": X}, lambda r: {"theta": r(13)}),
    (NET.hidden, {"x": X, "layer": 1}, lambda r: {"theta": r(13)}),
    ((NET.incoming, NET.outgoing), {"layer": 1, "neuron": 2}, None),
    (NET.swap, {"layer": 1, "first": 0, "second": 2}, lambda r: {"theta": r(13)}),
    (NET.initial, {"n": 2, "seed": 1, "scale": 2.0}, None),
    (perceptron.squared_loss, {"net": NET, "x": X, "y": Y}, None),
    (newton.minimise, dict(NEWTON, radius=0.5, project=torch.clone, second=SECOND), lambda r: {"theta": r(4)}),
    (CHART.bring_forward, {"first": 2, "second": 0}, lambda r: {"theta": r(13)}),
    ((CHART.weights, CHART.unit), {}, lambda r: {"phi": r(14)}),
    (CHART.closer, {}, lambda r: {"phi": r(14), "delta": r().exp()}),
    (pair.reduce_pair, {"net": NET, "layer": 1}, lambda r: {"theta": r(13)}),
    ((barrier_limit.barrier_limits, barrier_limit.leftover_cost), {"r": 2.0, "leftovers": "sorted"}, None),
    (barrier_limit.leftover_tail, {"a": [0.1, 0.2], "r": 2.0}, None),
    (barrier_limit.best_cost, {"r": 2.0, "cells": 50}, None),
    (barrier_limit.limit_peak, {"leftovers": "sorted", "relative": False}, None),
    (between_minima.losses_between, {"W1": EYE, "W2": EYE, "M": 3, "lambdas": T}, None),
    (between_minima.minima_barriers, {"M": 2, "lambdas": T}, lambda r: {"W1": r.minimum(), "W2": r.minimum()}),
    (between_minima.permuted_and_direct, {"W1": EYE[None], "W2": EYE[None], "M": 3, "chunk": 2}, None),
    (between_minima.uniform_barriers, {"m": 4, "M": 2, "d": 3, "n": 2, "seed": 1, "law": "equal"}, None),
    (gradient_descent.gradient_descent, {"M": 2, "rate": 0.1, "steps": 3, "tol": 0.1}, lambda r: {"W": r(3, 2)}),
    (gradient_descent.initial_weights, {"m": 3, "d": 2, "n": 2, "seed": 1, "scale": 1.0}, None),
    ((minima.distance_to_minima, minima.snap), {"M": 2}, lambda r: {"W": r(4, 3)}),
    (minima.sample_minima, {"m": 4, "M": 2, "d": 3, "n": 2, "seed": 1, "law": ("dirichlet", 2)}, None),
    (overlap.expected_overlap, {"m": 4, "M": 2}, None),
    (overlap.mean_absolute_difference, {"n": 4, "p": 0.5}, None),
    (overlap.overlap_limit, {"r": 2.0}, None),
    (overlap.simulate_overlap, {"m": 4, "M": 2, "trials": 3, "seed": 1}, None),
    (population.kappa, {"d": 2}, lambda r: {"t": r().sin()}),
    ((population.population_loss, population.population_gradient), {"M": 2}, lambda r: {"W": r(4, 3)}),
    (population.population_hessian, {"M": 2}, lambda r: {"W": r(4, 3)}),
    (sparsity.pq_index, {"p": 0.5, "q": 2.0}, lambda r: {"w": r(4)}),
    (sparsity.expected_pq, {"m": 4, "M": 2, "a": 1.0}, None),
    (sparsity.zero_rows, {"threshold": 0.5}, lambda r: {"W": r(4, 3)}),
    (sparsity.sharpness, {"d": 3}, lambda r: {"counts": r.order(3) + 1}),
    (sparsity.even_sharpness, {"k": 4, "M": 2, "d": 3}, None),
    (digits.digits, {"n": 5, "seed": 1}, None),
    (images.load, {"name": "digits", "split": "test", "n": 5, "seed": 1}, None),
    (error_bars.extreme, {"pick": max, "found": [(1.0, 0.1), (2.0, 0.1)]}, None),
    (error_bars.mean_and_error, {"samples": [[1.0, 2.0], [3.0, 4.0]]}, None),
    (error_bars.over_clusters, {"values": [[1.0, 2.0], [3.0, 4.0]]}, None),
    (error_bars.place_of_peak, {"x": [1.0, 2.0], "samples": [[1.0, 2.0], [3.0, 4.0]], "seed": 1}, None),
    (error_bars.ratio_of_means, {"x": [1.0, 2.0], "y": [3.0, 4.0], "paired": True}, None),
    (error_bars.share, {"successes": 1, "n": 3}, None),
    (error_bars.slope_and_error, {"x": [1.0, 2.0], "y": [3.0, 4.0], "stderr": [0.1, 0.2]}, None),
    (error_bars.widening, {"G": 3}, None),
    ((seeds.numpy_generator, seeds.torch_generator, seeds.normal_stream), {"seed": 1, "purpose": "a"}, None),
    (seeds.normal, {"shape": (2, 3), "seed": 1, "purpose": "a"}, None),
    (images.choose, {"names": ["digits", "mnist"]}, None),
    (images.available, {"name": "digits"}, None),
    (assignment.assign, {}, lambda r: {"gains": r(3, 3)}),
    (activation_matching.recorded_moments, {"a": A, "b": B, "x": X, "batch": 2}, None),
    (activation_matching.activation_matching, {"a": A, "b": B, "x": X, "objective": "product", "batch": 2}, None),
    (activation_matching.match_moments, {"found": MOMENTS, "objective": "product"}, None),
    (activation_matching.activation_matching(A, B, X).objective, {"permutations": ORDERS}, None),
    (by_weights.weight_matching, dict(ENDS, restarts=2, seed=1, start=ORDERS, sweeps=2), None),
    (cnn.CNN, {"width": 2, "depth": 2, "pools": 1, "input_shape": (1, 4, 4), "classes": 2}, None),
    (mlp.MLP, {"sizes": (2, 3, 2), "activation": "relu", "norm": "none", "init": "torch"}, None),
    (resnet.ResNet20, {"width": 1, "blocks": 1, "base": 2, "input_shape": (1, 8, 8), "classes": 2}, None),
    (vit.ViT, dict(patch=2, dimension=4, depth=1, heads=2, ratio=1, std=0.1, input_shape=(1, 4, 4)), None),
    (MODEL.forward, {"params": A.params, "x": X}, None),
    (MODEL.initial, {"seeds": [1, 2], "dtype": torch.float64}, None),
    (MODEL.fixed_parts, {"schemes": {"0.weight": SCHEME}, "seed": 1}, None),
    (model.Stack, {"model": MODEL, "params": A.params, "fixed": {}}, None),
    (A.to, {"where": torch.float32}, None),
    (A.forward, {"x": X}, None),
    (A.ordinary, {"which": torch.tensor([0, 1, 1])}, None),
    (A.permuted, {"permutations": ORDERS}, None),
    (permutations.Check({"all": 0.0}, {}, ()).holds, {"rounding": 0.1, "effect": 0.1}, None),
    (permutations.Symmetry, {"groups": {"0": (permutations.Axis("W", 0),)}, "sizes": {"0": 3}, "within": {}}, None),
    (permutations.identity, {"symmetry": SYMMETRY, "N": 2}, None),
    (permutations.permute, {"params": A.params, "symmetry": SYMMETRY, "permutations": ORDERS}, None),
    (permutations.random_permutations, {"symmetry": SYMMETRY, "N": 2, "generator": torch.Generator()}, None),
    (permutations.verify, {"model": MODEL, "seed": 1, "inputs": 2}, None),
    (segments.along_segments, {"a": A, "b": B, "x": X, "y": CLASSES, "lambdas": T}, None),
    (segments.scores, {"stack": A, "x": X, "y": CLASSES}, None),
    (barrier.barrier_kinds, {"lambdas": [0.0, 0.5, 1.0]}, lambda r: {"loss": r(3)}),
]
CALLS = [(one, *rest) for each, *rest in TABLE for one in (each if isinstance(each, tuple) else (each,))]

#: Functions with axes of any number in a hint that are no batch: a model's, or of a loss
UNBATCHED = """alignment.activation_matching.activation_matching alignment.activation_matching.recorded_moments
    identifiability.input_subspace.AsymmetricLayer
    networks.model.Model.forward networks.model.Model.initial networks.model.Stack networks.model.Stack.forward
    networks.segments.along_segments networks.segments.scores permutation_points.mlp.squared_loss"""
SHAPES = [(), (1,), (3,), (2, 3), (0,), (2, 0)]


def written(function):
    """The function that a call of the table checks: of a class, its ``__init__``."""
    function = function.__init__ if isinstance(function, type) else function
    return getattr(function, "__func__", function)


def name(function):
    """Its name with the module."""
    function = written(function)
    return f"{function.__module__}.{function.__qualname__}".removeprefix("lmc_helpers.").removesuffix(".__init__")


def arrays(hint):
    """The hints of tensors inside a hint."""
    hint = _typing._ITEMS.get(hint, hint) if isinstance(hint, collections.abc.Hashable) else hint
    if _typing._is_array(hint):
        return [hint]
    return [array for part in get_args(hint) for array in arrays(part)]


def batched(hint):
    return any(_typing._is_many(word) for array in arrays(hint) for word in array.dim_str.split())


def stacked(items, shape):
    """Trees of tensors as one tree of stacked tensors."""
    one = items[0]
    if isinstance(one, torch.Tensor):
        return torch.stack(items)[: math.prod(shape)].reshape(shape + one.shape)
    if isinstance(one, dict):
        return {key: stacked([item[key] for item in items], shape) for key in one}
    return type(one)(stacked(list(parts), shape) for parts in zip(*items, strict=True))


def mapped(change, value):
    """A tree with its tensors changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(mapped(change, item) for item in value)
    return {key: mapped(change, item) for key, item in value.items()} if isinstance(value, dict) else value


def unusual(x):
    """The same tensor in another order of memory, with a gradient if it can have one."""
    axes = tuple(reversed(range(x.ndim)))
    x = x.permute(axes).contiguous().permute(axes)
    return x.requires_grad_() if x.is_floating_point() else x


def leaves(value):
    """The tensors of a result, numbers among them."""
    if isinstance(value, (torch.Tensor, np.ndarray, np.floating, float)):
        return [torch.as_tensor(value)]
    if dataclasses.is_dataclass(value):
        value = vars(value)
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [leaf for item in items for leaf in leaves(item)]


def public():
    """Every promised function of the package but for ``modules``, its methods among them."""
    for info in pkgutil.walk_packages(lmc_helpers.__path__, "lmc_helpers."):
        if any(part.startswith("_") or part == "modules" for part in info.name.split(".")[1:]):
            continue
        module = importlib.import_module(info.name)
        for key in getattr(module, "__all__", vars(module)):
            value = getattr(module, key)
            if getattr(value, "__module__", None) == info.name and not key.startswith("_"):
                yield from filter(inspect.isfunction, vars(value).values() if isinstance(value, type) else [value])


def test_every_public_function_that_takes_tensors_is_checked_and_is_in_the_table():
    functions = list(public())
    takes = [
        f for f in functions if any("Tensor" in str(a.annotation) for a in inspect.signature(f).parameters.values())
    ]
    left = [f.__qualname__ for f in takes if not (hasattr(f, "__checked__") or f.__name__.startswith("_"))]
    assert len(takes) > 60 and left == []
    known = {id(getattr(written(function), "__wrapped__", None)) for function, _, _ in CALLS}
    others = tuple(f"lmc_helpers.{name}" for name in ("training", "progress"))
    checked = [f for f in functions if hasattr(f, "__checked__") and not f.__module__.startswith(others)]
    assert not [f.__qualname__ for f in checked if id(f.__wrapped__) not in known]
    hints = {name(f): [hint for key, hint in _typing._hints(f).items() if key != "return"] for f in checked}
    batches = {key for key, some in hints.items() if any(map(batched, some))}
    assert batches & {name(function) for function, _, element in CALLS if element is None} == set(UNBATCHED.split())


def arguments_of(function, shared, element, seed=0):
    """Valid arguments; where a hint has a batch of one axis only, a batch of one."""
    one = element(Draw(seed)) if element else {}
    return shared | (one if has_batch(function, one) else mapped(lambda x: x[None], one))


def has_batch(function, names):
    return any(batched(hint) for key, hint in _typing._hints(written(function)).items() if key in names)


def of_dtype(value, dtype):
    return mapped(lambda x: x.to(dtype) if x.is_floating_point() else x, value)


BATCHES = [call for call in CALLS if call[2] is not None]


@pytest.mark.parametrize(("function", "shared", "element"), BATCHES, ids=[name(call[0]) for call in BATCHES])
def test_a_batch_is_the_stack_of_its_elements(function, shared, element):
    elements = [element(Draw(seed)) for seed in range(6)]
    hints = _typing._hints(written(function))
    any_shape = has_batch(function, elements[0])
    exact = "Float64" in str([arrays(hints[key]) for key in elements[0]]) or function == POINT.small_loss
    for dtype, tol in ((torch.float64, 1e-9), (torch.float32, 1e-4))[: 1 if exact else 2]:
        alone = [leaves(function(**of_dtype(arguments_of(function, shared, element, k), dtype))) for k in range(6)]
        for shape in SHAPES if any_shape else [(1,), (3,)]:
            arguments = mapped(unusual, of_dtype(shared | stacked(elements, shape), dtype))
            before = mapped(torch.clone, arguments)
            together = leaves(function(**arguments))
            assert all(a.equal(b) for a, b in zip(leaves(arguments), leaves(before), strict=True))
            for found, wanted in zip(together, stacked(alone, shape), strict=True):
                wanted = wanted if any_shape else wanted.squeeze(len(shape))
                torch.testing.assert_close(found.detach(), wanted, rtol=10 * tol, atol=tol, equal_nan=True)


SPOILED_TENSORS = {
    "the other kind": lambda x: (10 * x).long() if x.is_floating_point() else x.double(),
    "complex": lambda x: x.to(torch.complex128),
    "truths": lambda x: x > 0,
    "an axis less": lambda x: x[0] if x.ndim else None,
    "an axis more": lambda x: x[None].expand(2, *x.shape),
    "empty": lambda x: x[..., :0] if x.ndim else None,
    "empty first": lambda x: x[:0] if x.ndim else None,
    "nan": lambda x: x * math.nan,
    "inf": lambda x: x * math.inf,
    "negative": lambda x: -1 - 1 * x,
    "large": lambda x: x + 100,
    "half": lambda x: x.half(),
    "single": lambda x: x.float(),
    "without numbers": lambda x: x.to("meta"),
    "array": lambda x: x.numpy(),
    "list": lambda x: x.tolist(),
    "sparse": lambda x: x.to_sparse() if x.ndim else None,
}
SPOILED = {
    **{repr(value): value for value in (None, "nonsense", True, -1, 0, 1.5, math.nan, math.inf, {}, (), [])},
    "an object": object(),
    "a tensor": EYE,
    "an array": np.eye(3),
}
NO_ARGUMENT = {"None", "'nonsense'", "an object", "a module", "complex", "sparse", "without numbers", "array"}
SPOILED_FUNCTIONS = {
    "returns none": lambda *_: None,
    "returns a number": lambda *_: 1.0,
    "returns its argument": lambda x, *_: x,
    "returns a matrix": lambda *_: EYE,
    "returns nan": lambda x, *_: x[..., 0] * math.nan if isinstance(x, torch.Tensor) else torch.tensor([math.nan] * 2),
}


def spoiled(value):
    """Description → an argument, spoiled: the whole, or the last item of a collection."""
    yield from SPOILED.items()
    if isinstance(value, torch.Tensor):
        yield from ((word, change(value)) for word, change in SPOILED_TENSORS.items())
    elif isinstance(value, collections.abc.Callable):
        yield from SPOILED_FUNCTIONS.items()
    else:
        yield "a module", torch.nn.Linear(2, 2)
    if type(value) in (list, tuple) and value:
        yield from ((f"item {word}", type(value)([*value[:-1], one])) for word, one in spoiled(value[-1]))
    if isinstance(value, dict) and value:
        *_, key = value
        yield from ((f"item {word}", value | {key: one}) for word, one in spoiled(value[key]))
        yield "an unknown name", value | {"nonsense": value[key]}


def end(function, arguments, key=""):
    """How a call ends: "refused" in a sentence of ours that names the argument, "finite", "nan", or an error."""
    try:
        result = function(**arguments)
    except (TypeError, ValueError) as error:
        sentence = str(error)
        return "refused" if "allowed: " in sentence and key in sentence and len(sentence) < 500 else repr(error)
    except Exception as error:
        return repr(error)
    return "nan" if any(leaf.isnan().any() for leaf in leaves(result)) else "finite"


#: Last word of a description → how the call may end: NaN is refused or carried along, never made a number
ENDS = {"nan": {"refused", "nan"}, "inf": {"refused", "nan", "finite"}}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "shared", "element"), CALLS, ids=[name(call[0]) for call in CALLS])
def test_a_spoiled_argument_ends_in_one_sentence(function, shared, element):
    arguments = arguments_of(function, shared, element)
    assert end(function, arguments) == "finite"
    for key, value in arguments.items():
        for word, bad in spoiled(value):
            named = key if word in NO_ARGUMENT else ""
            allowed = ENDS.get(word.split()[-1], {"refused", "finite"})
            assert end(function, arguments | {key: bad}, named) in allowed, (key, word)


SIZES, AXES = {"W": (3, 2)}, (permutations.Axis("W", 0),)


def odd(sizes=SIZES, axes=AXES, factor=1.0):
    """A model of one layer of three units, or what claims to be one."""
    symmetry = permutations.Symmetry(*({"g": axes}, {"g": 3}) if axes else ({}, {}))
    return types.SimpleNamespace(
        input_shape=(2,),
        shapes=lambda: sizes,
        symmetry=lambda: symmetry,
        forward=lambda params, x: factor * x[None] @ params["W"].mT,
    )


FLIP, ALMOST = (torch.diag(torch.tensor([1.0, 1.0, last], dtype=torch.float64)) for last in (-1.0, 2.0**-52))
FLAT = torch.ones_like(EYE)
DOUBLED, SGD = [EYE, 2 * EYE], recipes.Descent(1, 2)
SINGLE = mlp.MLP((2, 3, 1)).initial([1, 2], torch.float64)
TWO = {"groups": {"0": AXES, "1": (permutations.Axis("V", 0),)}, "sizes": {"0": 3, "1": 3}}
DRAWN, DEAD = {"generator": torch.Generator()}, perceptron.MLP((2, 3, 1), "relu")
NORMED = mlp.MLP((2, 3, 2), norm="running").initial([1, 2])
WARM, PIXELS = {"schedule": "warm-up"}, torch.ones(5, 3, 2, 2, dtype=torch.uint8)
PARTS = {n: (torch.ones(n, 3, 2),) * 2 for n in (0, 1, 2)}
RUN = runs.Run(mlp.MLP((64, 5, 10)), SGD, runs.DataSpec("digits", n=50), (1, 2))
#: Arguments of functions that ``TABLE`` does not have
TRAINING = [
    (fit.fit, {"stack": A, "descent": SGD, "x": X, "y": CLASSES, "seeds": [1, 2]}, None),
    (recipes.Descent, {"epochs": 3, "batch": 2, "rate": 0.1}, None),
    (examples.Examples, {"x": PIXELS, "y": CLASSES, "shape": (12,), "classes": 2, "normal": ([0] * 3, [1] * 3)}, None),
    (runs.Run, vars(RUN), None),
    (runs.DataSpec, {"name": "digits"}, None),
]

#: Error → (function, arguments that mean nothing beside those of ``TABLE``, how the sentence begins)
WRONG = {
    TypeError: [
        (pair.PairChart, {"net": torch.nn.Tanh(), "layer": 1}, "net = a module"),
        (mlp.MLP, {"sizes": [2, 3, 2]}, "sizes = [2, 3, 2]; allowed: a tuple of integers >= 1"),
        (fit.fit, {"stack": MODEL}, "stack = MLP("),
        (runs.Run, {"data": "digits"}, "data = 'digits'"),
    ],
    ValueError: [
        (barrier.check_lambdas, {"lambdas": 0.5}, "lambdas has shape ()"),
        (barrier.loss_barrier, {"lambdas": []}, "lambdas has shape (0,)"),
        (barrier.loss_barrier, {"a": math.nan * T}, "a[0] = nan"),
        (barrier.refined_barrier, {"loss": lambda w: w.sum(dim=0), "a": U, "b": U}, "the loss has shape (2,) for ends"),
        (matching.check_permutation, {"p": torch.tensor([[[0, 1], [1, 2]]])}, "p[0, 1, :] = [1, 2] is not a"),
        (matching.permute, {"p": torch.tensor([0, 0, 1, 2])}, "p[:] = [0, 0, 1, 2] is not a permutation"),
        (matching.row_types, {"W": -0.75 * EYE}, "row W[0] is at distance 0.75"),
        (matching.algorithm_1, {"W1": EYE + 1, "W2": EYE}, "row W1[0] is at distance"),
        (matching.algorithm_1, {"W1": EYE, "W2": EYE - 1, "tol": 0.3}, "row W2[0] is at distance"),
        (matching.all_permutations, {"m": 10}, "m = 10"),
        (matching.best_permutation, {"W1": torch.ones(10, 2), "W2": torch.ones(10, 2)}, "m = 10 is out of reach"),
        (matching.best_permutation, {"objective": lambda a, b: b.sum()}, "the objective returns a tensor of shape ()"),
        (matching.best_permutation, {"objective": lambda a, b: b.sum((1, 2)) / 0}, "the objective is inf at p = [0, 1"),
        (matching.match_activations, {"a": EYE[:1], "b": EYE[:1]}, "n = 1 inputs; allowed: n >= 2"),
        (general_linear.require_invertible, {"matrices": {"Y": FLAT}}, "Y is singular"),
        (general_linear.require_invertible, {"matrices": {"Y": EYE / 0}}, "Y[0, 0] = inf; allowed: finite numbers"),
        (general_linear.random_invertible, {"signs": torch.ones(3)}, "signs have shape (3,)"),
        (general_linear.random_invertible, {"signs": 0}, "signs have shape () and values [0.0]"),
        (general_linear.rotation_logarithm, {"R": FLIP}, "R has determinant -1"),
        (general_linear.rotation_logarithm, {"R": 2 * EYE}, "RᵀR − I has an entry 3.0e"),
        (general_linear.path_in_group, {"b": FLIP}, "det a and det b"),
        (general_linear.path_in_group, {"steps": 1}, "steps = 1; allowed: steps >= 2"),
        (general_linear.path_in_group, {"b": ALMOST}, "b is singular to rounding"),
        (input_subspace.coherence, {"U": EYE + 1}, "UᵀU differs from I by"),
        (between.straight_line, {"b": DOUBLED}, "a has 3 matrices, b has 2"),
        (between.obstruction, {"Y": FLAT}, "Y is singular to rounding"),
        (between.path_over_obstruction, {"steps": 2}, "steps = 2; allowed: steps >= 3"),
        (between.path_over_obstruction, {"layer": 3}, "layer = 3; allowed: 1 <= layer <= 2"),
        (between.path_over_obstruction, {"weights": [EYE, FLIP]}, "the network has loss 9.2e-01"),
        (minimum.loss, {"weights": [EYE]}, "1 matrices W_i; allowed: at least 2"),
        (minimum.component, {"weights": [EYE, ALMOST, EYE]}, "W_2 is singular to rounding"),
        (minimum.component, {"weights": [EYE / 0, EYE]}, "W_1[0, 0] = inf"),
        (minimum.from_group, {"g": [EYE, FLAT]}, "g_2 is singular"),
        (minimum.from_group, {"g": []}, "0 matrices g_i; allowed: at least 1"),
        (minimum.path_in_minimum, {"steps": 1}, "steps = 1; allowed: steps >= 2"),
        (minimum.path_in_minimum, {"a": DOUBLED, "b": [EYE, 3 * EYE]}, "b has loss 2.5e-01 ‖Y‖²"),
        (minimum.path_in_minimum, {"a": DOUBLED, "b": [EYE, (2 + 2e-7) * EYE]}, "b has loss 1.0e-14 ‖Y‖²"),
        (minimum.path_in_minimum, {"a": DOUBLED, "b": [FLIP, 2 * FLIP]}, "a lies in component (1,), b in"),
        (minimum.path_in_minimum, {"a": [EYE, FLAT], "b": [EYE, FLAT], "Y": FLAT}, "Y is singular"),
        (curves.curvature, {"velocity": 0 * EYE[0]}, "a velocity is 0"),
        (perceptron.MLP, {"sizes": (2, 1), "activation": "tanh"}, "sizes = (2, 1)"),
        (perceptron.MLP, {"sizes": (2, 2.0, 1), "activation": "tanh"}, "sizes = (2, 2.0, 1)"),
        (perceptron.MLP, {"sizes": (2, 2, 1), "activation": "gelu"}, "activation = 'gelu'"),
        (perceptron.squared_loss, {"y": Y / 0}, "y[0, 0] = inf"),
        (NET.join, {"layers": NET.split(THETA)[:1]}, "layers have shapes"),
        (NET.forward, {"theta": THETA[1:]}, "theta has shape (12,)"),
        (NET.forward, {"x": X.T}, "x has shape (2, 5)"),
        (NET.hidden, {"layer": 2}, "layer = 2 is not a hidden layer"),
        (NET.incoming, {"layer": 3}, "layer = 3; allowed: 1 <= layer <= 2"),
        (NET.incoming, {"neuron": 3}, "neuron = 3 of layer 1"),
        (NET.swap, {"second": -1}, "neuron = -1 of layer 1"),
        (pair.PairChart, {"net": NET, "layer": 2}, "layer = 2; allowed: a hidden layer"),
        (pair.PairChart, {"net": perceptron.MLP((2, 1, 1), "tanh"), "layer": 1}, "layer 1 has one neuron"),
        (pair.PairChart, {"net": NET, "layer": 1, "kind": "polar"}, "kind = 'polar'"),
        (CHART.bring_forward, {"second": 2}, "neurons 2 and 2 are the same"),
        (CHART.coordinates, {"theta": 0 * THETA}, "the pair has distance 0"),
        (CHART.closer, {"delta": 0 * T[0]}, "delta = 0.0"),
        (classifiers.most_similar_neurons, {"layer": 2}, "layer = 2 is not a hidden layer"),
        (converged.damped_newton, {"loss": lambda t: t.sum() / 0}, "the loss at the start"),
        (converged.converged_path, {"distances": torch.tensor([0.5, 1])}, "distances [0.5, 1.0]"),
        (counts.count_ratio, {"K": 5}, "order K = 5"),
        (doubling.double_neurons, {"small": perceptron.MLP((2, 3, 1), "relu")}, "activation 'relu'"),
        (doubling.equal_loss_exchange, {"other": 1}, "other = 1; allowed: a third neuron"),
        (doubling.equal_loss_exchange, {"net": NET, "theta": THETA}, "neurons 0 and 1 are"),
        (doubling.equal_loss_exchange, {"points": 1}, "points = 1; allowed: points >= 2"),
        (hessian.hessian, {"loss": torch.sum, "theta": THETA[None]}, "the loss returns a tensor of shape ()"),
        (hessian.hessian, {"loss": lambda t: t.pow(1.5).sum(dim=-1), "theta": 0 * THETA}, "the Hessian holds values"),
        (hessian.inertia, {"tol": 1.0}, "tol = 1.0; allowed: 0 < tol < 1"),
        (hessian.inertia, {"H": EYE / 0}, "H[0, 0] = inf"),
        (hessian.inertia, {"H": FLAT.triu()}, "H − Hᵀ has an entry 1.0e"),
        (newton.minimise, {"theta": math.nan * EYE}, "a start has a loss"),
        (newton.minimise, {"project": lambda t: t[0]}, "project returns"),
        (barrier_limit.barrier_limits, {"r": 1}, "r = m/M = 1; allowed: 1 < r <= 10"),
        (barrier_limit.leftover_tail, {"a": -0.1}, "an entry -0.1; allowed: entries >= 0"),
        (between_minima.minima_barriers, {"W1": EYE + 1, "W2": EYE}, "row 0 of W1 lies on no ray"),
        (between_minima.minima_barriers, {"W1": EYE, "W2": -EYE}, "row 0 of W2 lies on no ray"),
        (between_minima.minima_barriers, {"W1": EYE, "W2": math.nan * EYE}, "W2[0, 0] = nan"),
        (gradient_descent.gradient_descent, {"W": math.nan * EYE[None]}, "W[0, 0, 0] = nan"),
        (gradient_descent.gradient_descent, {"M": 3}, "M = 3 teacher neurons in dimension d = 2"),
        (minima.sample_minima, {"law": "gamma"}, "law = 'gamma'"),
        (minima.sample_minima, {"law": ("dirichlet", -1)}, "law = ('dirichlet', -1) is unknown"),
        (minima.sample_minima, {"m": 1}, "m = 1 student neurons for M = 2"),
        (minima.sample_minima, {"M": 4}, "M = 4 teacher neurons in dimension d = 3"),
        (minima.snap, {"M": 4}, "M = 4 teacher neurons in dimension d = 3"),
        (overlap.expected_overlap, {"M": 5}, "m = 4 student neurons for M = 5"),
        (overlap.overlap_limit, {"r": 0.9}, "r = m/M = 0.9; allowed: r >= 1"),
        (overlap.simulate_overlap, {"trials": 1}, "trials = 1; allowed: trials >= 2"),
        (population.kappa, {"t": 2.0}, "t = 2.0; allowed: -1 <= t <= 1"),
        (population.population_loss, {"M": 4}, "M = 4 teacher neurons in dimension d = 3"),
        (population.population_hessian, {"W": 0 * EYE}, "W has a row 0"),
        (sparsity.pq_index, {"p": 1, "q": 1}, "p = 1, q = 1; allowed: 0 < p < q"),
        (sparsity.pq_index, {"w": 0 * T}, "w has a vector 0"),
        (sparsity.expected_pq, {"M": 5}, "m = 4, M = 5; allowed: m >= M >= 1"),
        (sparsity.expected_pq, {"a": 0.0}, "a = 0.0; allowed: a > 0"),
        (sparsity.sharpness, {"counts": torch.tensor([1, 0])}, "counts = [1, 0]"),
        (sparsity.sharpness, {"d": 2}, "M = 3 types in dimension d = 2"),
        (sparsity.even_sharpness, {"d": 1}, "M = 2 types in dimension d = 1"),
        (runs.DataSpec, {"name": "imagenet"}, "name = 'imagenet'; allowed: digits, mnist, cifar10"),
        (images.load, {"n": 2000}, "n = 2000 images"),
        (error_bars.share, {"successes": 4}, "4 of 3; allowed: 0 <= successes <= n"),
        (seeds.torch_generator, {"seed": -1}, "seed = -1; allowed: an integer in [0, 2**32)"),
        (model.Stack, {"params": {}}, "parameters {'0.bias': None"),
        (A.forward, {"x": EYE}, "inputs have shape (3, 3); allowed: (B, 2)"),
        (A.permuted, {"permutations": {"1": ORDERS["0"]}}, "group '1' is unknown; allowed: 0"),
        (fit.fit, {"seeds": [1]}, "1 seeds of 2 networks"),
        (fit.fit, {"x": X / 0}, "x holds values that are not finite"),
        (fit.fit, {"keep": [4]}, "epochs [4] to keep; allowed: 0 to 1"),
        (fit.fit, {"descent": recipes.Descent(1, 2, augment=("flip",))}, "augment = ('flip',) of inputs (5, 2)"),
        (fit.fit, {"stack": NORMED, "descent": recipes.Descent(1, 4)}, "5 examples in batches of 4 with"),
        (fit.fit, {"x": X.expand(3, 5, 2), "y": CLASSES.expand(3, 5)}, "3 sets of examples for 2 networks"),
        (recipes.Descent, {"momentum": 1}, "momentum = 1.0"),
        (recipes.Descent, {"optimiser": "adam", "momentum": 0.9}, "momentum = 0.9 of adam"),
        (recipes.Descent, WARM, "warm_up = 0 from start_rate = 0.0"),
        (recipes.Descent, {**WARM, "warm_up": 2, "start_rate": 0.2}, "warm_up = 2 from start_rate = 0.2"),
        (recipes.Descent, {"warm_up": 2}, "warm_up = 2, start_rate = 0.0 with the schedule 'constant'"),
        (recipes.Descent, {"augment": ("flip", "flip")}, "augment = ('flip', 'flip')"),
        (recipes.Descent, {"augment": ("rotate",)}, "augment = ('rotate',)"),
        (examples.Examples, {"x": PIXELS[:0], "y": CLASSES[:0]}, "inputs have shape (0, 3, 2, 2)"),
        (examples.Examples, {"shape": (13,)}, "inputs have shape (5, 3, 2, 2)"),
        (examples.Examples, {"y": CLASSES[:3]}, "labels are torch.int64 of shape (3,)"),
        (
            examples.Examples,
            {"y": CLASSES + 1},
            "labels are torch.int64 of shape (5,); allowed: torch.int64, (5,), 0 t",
        ),
        (examples.Examples, {"y": CLASSES.int()}, "labels are torch.int32"),
        (examples.Examples, {"normal": None}, "inputs are torch.uint8 with normal = None"),
        (examples.Examples, {"x": PIXELS.float()}, "inputs are torch.float32 with normal"),
        (examples.Examples, {"x": PIXELS.long(), "normal": None}, "inputs are torch.int64"),
        (examples.Examples, {"normal": ([0] * 2, [1] * 2)}, "normal = "),
        (examples.Examples, {"normal": ([0] * 3, [1, 1, 0])}, "normal = "),
        (runs.Run, {"seeds": ()}, "seeds = (); allowed: integers"),
        (runs.Run, {"seeds": (-1,)}, "seeds = (-1,); allowed"),
        (runs.Run, {"scheme": SCHEME, "mask_seeds": (1, 2, 3)}, "3 mask_seeds of 2 networks; allowed: a divisor"),
        (runs.Run, {"scheme": SCHEME, "mask_seeds": ()}, "mask_seeds = (); allowed"),
        (runs.Run, {"scheme": {"5.weight": SCHEME}}, "schemes of ['5.weight']; allowed: 0.weight, 1.weight"),
        (runs.Run, {"keep": (4,)}, "epochs [4] to keep; allowed: 0 to 1"),
        (runs.DataSpec, {"name": "mnist", "split": "all"}, "split = 'all'"),
        (input_subspace.pca_basis, {"X": FLAT[:, :2]}, "the inputs have no variation"),
        (input_subspace.pca_basis, {"X": 0 * X, "centred": False}, "the inputs have no variation"),
        (input_subspace.pca_basis, {"explained": 0.0}, "explained = 0 leaves no direction"),
        (input_subspace.exact_copies, {"copies": 3}, "d = 4, k = 2, copies = 3; allowed: k · copies <= d"),
        (costs.swap_terms, {"D": torch.eye(4)[:1].expand(3, 4)}, "some M_i = Uᵀ diag(d_i) is rank deficient"),
        (GL.act, {"g": FLAT}, "g is singular to rounding"),
        (GL.act, {"g": ALMOST}, "g is singular to rounding"),
        (SCALING.act, {"g": 0 * T[:3] - 2}, "g has the factor -2; allowed"),
        (classifiers.most_similar_neurons, {"net": DEAD, "theta": 0 * THETA}, "3 of 3 neurons are 0 on all inputs"),
        (error_bars.ratio_of_means, {"x": [1.0, 2.0, 3.0]}, "samples of 3 and 2 values; allowed: paired"),
        (error_bars.slope_and_error, {"x": [1.0, 1.0]}, "shapes (2,), (2,), (2,)"),
        (error_bars.slope_and_error, {"y": [1.0, 2.0, 3.0]}, "shapes (2,), (3,), (2,)"),
        (error_bars.place_of_peak, {"samples": [[1.0]]}, "2 places and 1 samples"),
        (error_bars.place_of_peak, {"x": [2.0, 1.0]}, "places [2.0, 1.0]"),
        (barrier.barrier_kinds, {"lambdas": [0, 0.5, 0.9]}, "losses (3,) at lambdas"),
        (barrier.barrier_kinds, {"lambdas": [0.1, 0.5, 1]}, "losses (3,) at lambdas"),
        (barrier.barrier_kinds, {"lambdas": [0, 1, 0.5]}, "losses (3,) at lambdas"),
        (barrier.barrier_kinds, {"lambdas": [0, 0.5]}, "losses (3,) at lambdas"),
        (images.choose, {"names": ()}, "no data set is named"),
        (images.load, {"n": 0}, "n = 0 images; allowed: an integer from 1 to 360"),
        (segments.along_segments, {"b": mlp.MLP((2, 4, 2)).initial([1, 2])}, "the ends are 2 networks"),
        (segments.along_segments, {"b": B.ordinary([0])}, "the ends are 2 networks"),
        (segments.scores, {"y": CLASSES[:3]}, "labels have shape (1, 3)"),
        (segments.scores, {"y": CLASSES + 1}, "labels 1 to 2; allowed: integers 0 to 1"),
        (activation_matching.activation_matching, {"x": X[:1]}, "groups with samples {'0': 1}"),
        (activation_matching.recorded_moments, {"b": B.ordinary([0])}, "2 networks MLP"),
        (mlp.MLP, {"sizes": (2, 3)}, "sizes = (2, 3)"),
        (cnn.CNN, {"depth": 1}, "depth = 1"),
        (cnn.CNN, {"depth": 3, "pools": 3}, "depth = 3, pools = 3"),
        (cnn.CNN, {"input_shape": (3, 1, 8)}, "input_shape = (3, 1, 8)"),
        (resnet.ResNet20, {"norm_groups": 3}, "norm_groups = 3; allowed: None, or a divisor of 2 channels"),
        (resnet.ResNet20, {"input_shape": (3, 32, 3)}, "input_shape = (3, 32, 3)"),
        (vit.ViT, {"heads": 3}, "heads = 3, dimension = 4"),
        (vit.ViT, {"patch": 3}, "heads = 2, dimension = 4, patch = 3"),
        (vit.ViT, {"input_shape": (3, 1, 1)}, "input_shape = (3, 1, 1)"),
        (model.Stack, {"params": {**A.params, "0.bias": A.params["0.bias"][:1]}}, "parameters {'0.bias': (1, 3)}"),
        (model.Stack.from_state, {"model": MODEL, "state": {"other/x": EYE}}, "tensor 'other/x' is unknown"),
        (model.Stack.from_state, {"model": MODEL, "state": {**A.state(), "F/0.weight": EYE}}, "F of ['0.weight']"),
        (model.Stack.from_state, {"model": MODEL, "state": {"params/0.bias": EYE}}, "parameters {"),
        (MODEL.initial, {"fixed": {"0.bias": PARTS[1]}}, "F and D of '0.bias'"),
        (MODEL.initial, {"fixed": {"1.weight": PARTS[1]}}, "F and D of '1.weight'"),
        (MODEL.initial, {"seeds": [1, 2, 3], "fixed": {"0.weight": PARTS[2]}}, "F and D of '0.weight'"),
        (MODEL.initial, {"fixed": {"0.weight": PARTS[0]}}, "F and D of '0.weight'"),
        (
            MODEL.initial([1], fixed={"0.weight": PARTS[1]}).permuted,
            {"permutations": {}},
            "weights 0.weight have fixed",
        ),
        (permutations.Symmetry, {"sizes": {"b": 5}}, "groups ['0'], sizes of ['b']"),
        (
            permutations.Symmetry,
            {"groups": {"0": AXES, "1": AXES}, "sizes": {"0": 3, "1": 3}},
            "Axis(name='W', axis=0) o",
        ),
        (permutations.Symmetry, {"groups": {"0": (*AXES, permutations.Axis("W", 0, 2))}}, "Axis(name='W', axis=0) of"),
        (permutations.Symmetry, {"sizes": {"0": 0}}, "group '0' has 0 units; allowed: one or more"),
        (permutations.Symmetry, {**TWO, "within": {"0": ("1", 0)}}, "group '0' is within unit 0 of '1'"),
        (permutations.Symmetry, {**TWO, "within": {"1": ("0", 3)}}, "group '1' is within unit 3 of '0'"),
        (permutations.Symmetry, {"groups": {"0": ()}}, "groups ['0'] have none"),
        (permutations.permute, {"permutations": {"0": 0 * ORDERS["0"]}}, "p[0, :] = [0, 0, 0] is not a permutation"),
        (asymmetric.WAsymmetric(8, 1.0).draw, {**DRAWN, "shape": (4, 7)}, "fixed = 8; allowed: 0 to 7"),
        (asymmetric.WAsymmetric(5, 1.0, 1).draw, {**DRAWN, "shape": (4, 7)}, "fixed = 5; allowed: 0 to 4"),
        (asymmetric.Syre, {"epsilon": 1.0}, "epsilon = 1, so that D is unbounded"),
        (asymmetric.LinearResidual().draw, {**DRAWN, "shape": (4, 7)}, "shape = (4, 7); allowed: outputs a multiple"),
        (asymmetric.LinearResidual().draw, {**DRAWN, "shape": (2,) * 4}, "shape = (2, 2, 2, 2)"),
        (seeds.torch_generator, {"purpose": ""}, "purpose = ''"),
        (permutations.verify, {"model": odd({})}, "0 parameters, 1 groups; allowed: one or more"),
        (permutations.verify, {"model": odd(axes=())}, "1 parameters, 0 groups; allowed: one or more"),
        (permutations.verify, {"model": odd(axes=(permutations.Axis("V", 0),))}, "parameter 'V' has shape None"),
        (permutations.verify, {"model": odd(axes=(permutations.Axis("W", 1),))}, "parameter 'W' has shape (1, 3, 2)"),
        (permutations.verify, {"model": odd(factor=0.0)}, "the model returns"),
        (permutations.verify, {"model": odd(factor=math.nan)}, "the model returns"),
        (segments.along_segments, {"a": SINGLE, "b": SINGLE, "y": 0 * CLASSES}, "networks with 1 output; allowed: two"),
        (segments.scores, {"stack": SINGLE, "y": 0 * CLASSES}, "networks with 1 output; allowed: two classes"),
    ],
    error_bars.Undefined: [
        (error_bars.mean_and_error, {"samples": [[1.0, 2.0], [1.0]]}, "a sample of shape (1,)"),
        (error_bars.ratio_of_means, {"x": [1.0], "paired": False}, "a sample of shape (1,)"),
        (error_bars.ratio_of_means, {"y": [1.0, -1.0]}, "the mean of y is 0"),
        (error_bars.ratio_of_means, {"y": [5e-324, -5e-324], "paired": False}, "the mean of y is 0"),
        (error_bars.over_clusters, {"values": [1.0]}, "1 clusters; allowed: at least 2"),
    ],
}
WRONG_CALLS = [(error, *call) for error, calls in WRONG.items() for call in calls]


@pytest.mark.parametrize(("error", "function", "wrong", "begins"), WRONG_CALLS, ids=[call[-1] for call in WRONG_CALLS])
def test_a_wrong_call_ends_in_one_sentence(error, function, wrong, begins):
    arguments = next((arguments_of(*call) for call in CALLS + TRAINING if call[0] == function), {})
    with pytest.raises(error) as caught:
        function(**arguments | wrong)
    sentence = str(caught.value)
    assert type(caught.value) is error and sentence.startswith(begins)
    assert "allowed: " in sentence and sentence.count("\n") < 3 and len(sentence) < 360
