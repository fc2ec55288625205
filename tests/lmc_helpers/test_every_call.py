"""Every public function: a batch is the stack of its elements, and a spoiled argument ends in one sentence of ours.

``CALLS`` has valid arguments of one element for each public function that is :func:`checked`. Arguments whose hint has
a batch (``*batch``, ``...``) are drawn once for each element and stacked; the others are shared.
"""

import collections.abc
import dataclasses
import functools
import importlib
import math
import pkgutil
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
from lmc_helpers.identifiability import asymmetric, costs, input_subspace, relaxed_swaps, swaps
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
SYMMETRY, ENDS = MODEL.symmetry(), {"a": A.params, "b": B.params}
MOMENTS = activation_matching.recorded_moments(A, B, X)
GL, SCALING = group_actions.GeneralLinear(), group_actions.Rescaling()
T = torch.linspace(0, 1, 4, dtype=torch.float64)
PATH = converged.ConvergedPath(torch.ones(4, 13), T, T, T)
SCHEME = asymmetric.WAsymmetric(1, 1.0)


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


def square(w):
    return w.square().sum(dim=-1)


def bowl(w):
    return -w.square().sum(dim=-1)


def quartic(t):
    return t.square().sum(dim=-1).square() + t.cos().sum(dim=-1)


def distance(a, b):
    return (a - b).abs().sum(dim=(-2, -1))


#: (function, arguments that it shares, batched arguments of one element)
CALLS = [
    (barrier.check_lambdas, {"lambdas": T}, None),
    (barrier.loss_barrier, {"loss": bowl}, lambda r: {"a": r(4), "b": r(4)}),
    (barrier.refined_barrier, {"loss": bowl, "coarse": 4, "steps": 6}, lambda r: {"a": r(4), "b": r(4)}),
    (matching.check_permutation, {}, lambda r: {"p": r.order(4)}),
    (matching.permute, {}, lambda r: {"W": r(4, 2), "p": r.order(4)}),
    (matching.row_types, {}, lambda r: {"W": r.minimum()}),
    (matching.has_types, {}, lambda r: {"W": r.minimum()}),
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
    (costs.least_norm_weight, {}, lambda r: {"a": r(2), "f": r(4), "d": r(4), "U": U}),
    (costs.realization_cost, {}, lambda r: {"a": r(2), "f": r(4), "d": r(4), "U": U}),
    (costs.cost_table, {"U": U}, Draw.layer),
    (costs.output_sensitivity, {"table": EYE + 1}, lambda r: {"p": r.order(3)}),
    (costs.swap_costs, {"U": U}, Draw.layer),
    (swaps.swap_terms, {"U": U}, Draw.layer),
    (
        relaxed_swaps.ridge_swaps,
        {**Draw(1).layer(), "X": Draw(2)(6, 4), "beta": 0.5, "activation": torch.tanh, "scale": T[:3], "shift": T[:3]},
        lambda r: {"pairs": r.order(3)[:2]},
    ),
    (input_subspace.AsymmetricLayer, {**Draw(1).layer(), "U": U}, None),
    (input_subspace.leverages, {}, lambda r: {"U": r.rotation()[:, :2]}),
    (input_subspace.coherence, {}, lambda r: {"U": r.rotation()[:, :2]}),
    (input_subspace.exact_copies, {"d": 4, "k": 2, "copies": 2}, None),
    (input_subspace.grams, {}, lambda r: {"D": r(3, 4), "U": U}),
    (input_subspace.pca_basis, {"X": X, "explained": 0.9, "centred": True}, None),
    (asymmetric.FiGLU, {"m": 3, "seed": 1, "name": "one"}, None),
    (asymmetric.FiGLU(3, 1).forward, {}, lambda r: {"x": r(3)}),
    (asymmetric.Sparse, {"fixed": 1, "dim": 0}, None),
    (asymmetric.Syre, {"sigma": 1.0, "epsilon": 0.5}, None),
    (asymmetric.WAsymmetric, {"fixed": 1, "sigma": 1.0, "dim": 0}, None),
    (asymmetric.WBernoulli, {"p": 0.5, "sigma": 1.0}, None),
    *(
        (scheme.draw, {"shape": (4, 2), "generator": torch.Generator()}, None)
        for scheme in (
            asymmetric.LinearResidual(),
            asymmetric.Sparse(1),
            asymmetric.Syre(1.0, 0.5),
            asymmetric.WAsymmetric(1, 1.0),
            asymmetric.WBernoulli(0.5, 1.0),
        )
    ),
    (asymmetric.asymmetrise, {"module": torch.nn.Linear(4, 3), "schemes": SCHEME, "seed": 1}, None),
    (asymmetric.layer_parts, {"module": torch.nn.Linear(4, 3)}, None),
    (between.straight_line, {"lambdas": [0.0, 0.5]}, lambda r: {"a": r.linear(), "b": r.linear()}),
    (between.obstruction, {"Y": EYE}, None),
    (
        between.path_over_obstruction,
        {"X": EYE, "Y": 2 * EYE, "layer": 1, "steps": 4},
        lambda r: {"weights": r.linear()},
    ),
    (minimum.component, {"weights": [EYE, EYE], "X": EYE}, None),
    (minimum.components, {"X": EYE}, lambda r: {"weights": r.linear()}),
    (minimum.from_group, {"X": EYE, "Y": 2 * EYE}, lambda r: {"g": [r.group(), r.group()]}),
    (minimum.loss, {"X": EYE, "Y": EYE}, lambda r: {"weights": r.linear()}),
    (minimum.path_in_minimum, {"X": EYE, "Y": 2 * EYE, "steps": 4}, lambda r: {"a": r.linear(), "b": r.linear()}),
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
    (converged.damped_newton, {"loss": quartic, "theta": THETA, "steps": 2, "tol": 0.1, "project": torch.clone}, None),
    (
        converged.converged_path,
        {
            "loss": quartic,
            "chart": CHART,
            "theta": THETA,
            "pair": (0, 1),
            "distances": torch.tensor([1.0, 0.9]),
            "steps": 2,
            "tol": 0.1,
            "misses": 1,
        },
        None,
    ),
    (counts.count_ratio, {"K": 2, "n": 5}, None),
    (POINT.small_loss, {}, lambda r: {"theta": r(13)}),
    (POINT.shared, {"first": T[:1]}, None),
    (doubling.double_neurons, {"small": NET, "theta": THETA, "x": X, "y": Y}, None),
    (doubling.embed, {"small": NET, "layer": 1, "neuron": 1}, lambda r: {"theta": r(13), "first": r(1)}),
    (doubling.equal_loss_exchange, {"net": POINT.net, "theta": POINT.theta, "layer": 1, "other": 2, "points": 3}, None),
    (doubling.pair_inertia, {"J": EYE[:1], "D": EYE, "tol": 0.1}, None),
    (hessian.gradient, {"loss": quartic}, lambda r: {"theta": r(4)}),
    (hessian.hessian, {"loss": quartic, "chunk": 2}, lambda r: {"theta": r(4)}),
    (hessian.inertia, {"tol": 0.1}, lambda r: {"H": (H := r(3, 3)) + H.mT}),
    (NET.split, {}, lambda r: {"theta": r(13)}),
    (NET.join, {"layers": NET.split(THETA)}, None),
    (NET.forward, {"x": X}, lambda r: {"theta": r(13)}),
    (NET.hidden, {"x": X, "layer": 1}, lambda r: {"theta": r(13)}),
    (NET.incoming, {"layer": 1, "neuron": 2}, None),
    (NET.outgoing, {"layer": 1, "neuron": 2}, None),
    (NET.swap, {"layer": 1, "first": 0, "second": 2}, lambda r: {"theta": r(13)}),
    (NET.initial, {"n": 2, "seed": 1, "scale": 2.0}, None),
    (perceptron.squared_loss, {"net": NET, "x": X, "y": Y}, None),
    (
        newton.minimise,
        {
            "loss": quartic,
            "steps": 3,
            "tol": 0.1,
            "radius": 0.5,
            "project": torch.clone,
            "second": functools.partial(hessian.hessian, quartic),
        },
        lambda r: {"theta": r(4)},
    ),
    (CHART.bring_forward, {"first": 2, "second": 0}, lambda r: {"theta": r(13)}),
    (CHART.distance, {}, lambda r: {"theta": r(13)}),
    (CHART.coordinates, {}, lambda r: {"theta": r(13)}),
    (CHART.weights, {}, lambda r: {"phi": r(14)}),
    (CHART.unit, {}, lambda r: {"phi": r(14)}),
    (CHART.closer, {}, lambda r: {"phi": r(14), "delta": r().exp()}),
    (pair.reduce_pair, {"net": NET, "layer": 1}, lambda r: {"theta": r(13)}),
    (barrier_limit.barrier_limits, {"r": 2.0, "leftovers": "sorted"}, None),
    (barrier_limit.leftover_cost, {"r": 2.0, "leftovers": "sorted"}, None),
    (barrier_limit.leftover_tail, {"a": [0.1, 0.2], "r": 2.0}, None),
    (barrier_limit.best_cost, {"r": 2.0, "cells": 50}, None),
    (barrier_limit.limit_peak, {"leftovers": "sorted", "relative": False}, None),
    (between_minima.losses_between, {"W1": EYE, "W2": EYE, "M": 3, "lambdas": T}, None),
    (between_minima.minima_barriers, {"M": 2, "lambdas": T}, lambda r: {"W1": r.minimum(), "W2": r.minimum()}),
    (between_minima.permuted_and_direct, {"W1": EYE[None], "W2": EYE[None], "M": 3, "chunk": 2}, None),
    (between_minima.uniform_barriers, {"m": 4, "M": 2, "d": 3, "n": 2, "seed": 1, "law": "equal"}, None),
    (gradient_descent.gradient_descent, {"M": 2, "rate": 0.1, "steps": 3, "tol": 0.1}, lambda r: {"W": r(3, 2)}),
    (gradient_descent.initial_weights, {"m": 3, "d": 2, "n": 2, "seed": 1, "scale": 1.0}, None),
    (minima.distance_to_minima, {"M": 2}, lambda r: {"W": r(4, 3)}),
    (minima.sample_minima, {"m": 4, "M": 2, "d": 3, "n": 2, "seed": 1, "law": ("dirichlet", 2)}, None),
    (minima.snap, {"M": 2}, lambda r: {"W": r(4, 3)}),
    (overlap.expected_overlap, {"m": 4, "M": 2}, None),
    (overlap.mean_absolute_difference, {"n": 4, "p": 0.5}, None),
    (overlap.overlap_limit, {"r": 2.0}, None),
    (overlap.simulate_overlap, {"m": 4, "M": 2, "trials": 3, "seed": 1}, None),
    (population.kappa, {"d": 2}, lambda r: {"t": r().sin()}),
    (population.population_loss, {"M": 2}, lambda r: {"W": r(4, 3)}),
    (population.population_gradient, {"M": 2}, lambda r: {"W": r(4, 3)}),
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
    (seeds.numpy_generator, {"seed": 1, "purpose": "a"}, None),
    (seeds.torch_generator, {"seed": 1, "purpose": "a"}, None),
    (seeds.normal, {"shape": (2, 3), "seed": 1, "purpose": "a"}, None),
    (seeds.normal_stream, {"seed": 1, "purpose": "a"}, None),
    (images.choose, {"names": ["digits", "mnist"]}, None),
    (images.available, {"name": "digits"}, None),
    (assignment.assign, {}, lambda r: {"gains": r(3, 3)}),
    (activation_matching.recorded_moments, {"a": A, "b": B, "x": X, "batch": 2}, None),
    (activation_matching.activation_matching, {"a": A, "b": B, "x": X, "objective": "product", "batch": 2}, None),
    (activation_matching.match_moments, {"found": MOMENTS, "objective": "product"}, None),
    (activation_matching.activation_matching(A, B, X).objective, {"permutations": ORDERS}, None),
    (
        by_weights.weight_matching,
        {**ENDS, "symmetry": SYMMETRY, "restarts": 2, "seed": 1, "start": ORDERS, "sweeps": 2},
        None,
    ),
    (cnn.CNN, {"width": 2, "depth": 2, "pools": 1, "input_shape": (1, 4, 4), "classes": 2}, None),
    (mlp.MLP, {"sizes": (2, 3, 2), "activation": "relu", "norm": "none", "init": "torch"}, None),
    (resnet.ResNet20, {"width": 1, "blocks": 1, "base": 2, "input_shape": (1, 8, 8), "classes": 2}, None),
    (
        vit.ViT,
        {"patch": 2, "dimension": 4, "depth": 1, "heads": 2, "ratio": 1, "std": 0.1, "input_shape": (1, 4, 4)},
        None,
    ),
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
    """Every public checked function of the package, its methods among them."""
    for info in pkgutil.walk_packages(lmc_helpers.__path__, "lmc_helpers."):
        if any(part.startswith("_") or part in ("modules", "training") for part in info.name.split(".")[1:]):
            continue
        module = importlib.import_module(info.name)
        for key, value in vars(module).items():
            if getattr(value, "__module__", None) != info.name or key.startswith("_"):
                continue
            for one in vars(value).values() if isinstance(value, type) else [value]:
                if hasattr(one, "__checked__"):
                    yield one


def test_every_public_function_is_in_the_table():
    known = {id(getattr(written(function), "__wrapped__", None)) for function, _, _ in CALLS}
    assert not [f.__qualname__ for f in public() if id(f.__wrapped__) not in known]
    batches = {
        name(f) for f in public() if any(batched(hint) for key, hint in _typing._hints(f).items() if key != "return")
    }
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
