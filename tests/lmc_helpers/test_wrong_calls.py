"""Calls of the right types that mean nothing: each ends in one sentence that names the value and says what is allowed.

Wrong types, dtypes and shapes of every function are in ``test_every_call``.
"""

import math

import pytest
import torch
from oracles.linear import ALMOST, FLAT, FLIP

from lmc_helpers import error_bars, seeds
from lmc_helpers.barrier import check_lambdas, loss_barrier, refined_barrier
from lmc_helpers.data.images import load
from lmc_helpers.general_linear import path_in_group, random_invertible, require_invertible, rotation_logarithm
from lmc_helpers.identifiability import coherence
from lmc_helpers.linear_nets import (
    component,
    from_group,
    loss,
    obstruction,
    path_in_minimum,
    path_over_obstruction,
    straight_line,
)
from lmc_helpers.matching import (
    algorithm_1,
    all_permutations,
    best_permutation,
    check_permutation,
    match_activations,
    permute,
    row_types,
    weight_matching,
)
from lmc_helpers.networks.mlp import MLP as Perceptron
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import Axis, Symmetry, verify
from lmc_helpers.networks.segments import along_segments, scores
from lmc_helpers.orbits.curves import curvature
from lmc_helpers.permutation_points import (
    MLP,
    PairChart,
    converged_path,
    count_ratio,
    damped_newton,
    double_neurons,
    equal_loss_exchange,
    inertia,
    minimise,
    most_similar_neurons,
    squared_loss,
)
from lmc_helpers.permutation_points.hessian import hessian
from lmc_helpers.teacher_student import (
    barrier_limits,
    even_sharpness,
    expected_overlap,
    expected_pq,
    kappa,
    leftover_tail,
    minima_barriers,
    overlap_limit,
    population_hessian,
    population_loss,
    pq_index,
    sample_minima,
    sharpness,
    simulate_overlap,
    snap,
)
from lmc_helpers.teacher_student.gradient_descent import gradient_descent
from lmc_helpers.training.fit import fit
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

W = torch.tensor([[0.25, 0.0], [0.75, 0.0], [0.0, 1.0]], dtype=torch.float64)  # a minimum: m = 3, d = 2
P = torch.tensor([2, 0, 1])
EYE = torch.eye(2, dtype=torch.float64)
NET = MLP((2, 3, 1), "tanh")
THETA, X, Y = NET.initial(1, seed=1)[0], torch.ones(4, 2).double(), torch.ones(4, 1).double()
CHART = PairChart(NET, 1)
RNG = torch.Generator()
NAN = torch.full_like(W, torch.nan)
MODEL, SGD = Perceptron((2, 3, 2)), Descent(1, 2)
ONE = Perceptron((2, 3, 1)).initial([1, 2])
NETS, CLASSES = MODEL.initial([1, 2]), torch.tensor([0, 1, 1, 0])


def square(w):
    return w.square().sum(dim=(-2, -1))


def distance(a, b):
    return (a - b).abs().sum(dim=(-2, -1))


ROWS = Axis("W", 0)


class Odd:
    """One layer of three units, or what claims to be one."""

    input_shape = (2,)

    def __init__(self, shapes=None, axis=ROWS, factor=1.0):
        self.sizes = {"W": (3, 2)} if shapes is None else shapes
        self.axis, self.factor = axis, factor

    def shapes(self):
        return self.sizes

    def symmetry(self):
        return Symmetry({"g": (self.axis,)} if self.axis else {}, {"g": 3} if self.axis else {})

    def forward(self, params, x):
        return self.factor * x[None] @ params["W"].mT


#: The call, the error, and how its sentence begins.
CALLS = [
    # not what is meant
    (lambda: PairChart(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh()), 1), TypeError, "net = a module"),
    (lambda: Perceptron([2, 3, 2]), TypeError, "sizes = [2, 3, 2]; allowed: a tuple of integers >= 1"),
    (lambda: fit(MODEL, SGD, X.float(), CLASSES, [1, 2]), TypeError, "stack = MLP("),
    (lambda: Run(MODEL, SGD, "digits", (1,)), TypeError, "data = 'digits'"),
    # shapes
    (lambda: NET.forward(THETA[1:], X), ValueError, "theta has shape (12,)"),
    (lambda: refined_barrier(lambda w: w.sum(dim=0), W, W), ValueError, "the loss has shape (2,) for ends (3, 2)"),
    (lambda: NETS.forward(torch.ones(4, 3)), ValueError, "inputs have shape (4, 3); allowed: (B, 2)"),
    (lambda: Stack(MODEL, {}), ValueError, "parameters {'0.bias': None"),
    # out of range
    (lambda: DataSpec("imagenet"), ValueError, "name = 'imagenet'; allowed: digits, mnist, cifar10"),
    (lambda: load("digits", n=2000), ValueError, "n = 2000 images"),
    (lambda: seeds.torch_generator(-1, "a"), ValueError, "seed = -1; allowed: an integer in [0, 2**32)"),
    (lambda: error_bars.share(3, 2), ValueError, "3 of 2; allowed: 0 <= successes <= n"),
    (lambda: expected_overlap(2, 3), ValueError, "m = 2 student neurons for M = 3"),
    (lambda: population_loss(W, 3), ValueError, "M = 3 teacher neurons in dimension d = 2"),
    (lambda: kappa(2.0, 3), ValueError, "t = 2.0; allowed: -1 <= t <= 1"),
    (lambda: count_ratio(3, 3), ValueError, "order K = 3"),
    (lambda: all_permutations(10), ValueError, "m = 10"),
    (lambda: sample_minima(4, 2, 2, 1, seed=1, law="gamma"), ValueError, "law = 'gamma'"),
    # what the mathematics forbids
    (lambda: verify(Odd({})), ValueError, "0 parameters, 1 groups; allowed: one or more"),
    (lambda: verify(Odd(axis=None)), ValueError, "1 parameters, 0 groups; allowed: one or more"),
    (lambda: verify(Odd(axis=Axis("V", 0))), ValueError, "parameter 'V' has shape None"),
    (lambda: verify(Odd(axis=Axis("W", 1))), ValueError, "parameter 'W' has shape (1, 3, 2)"),
    (lambda: verify(Odd(factor=0.0)), ValueError, "the model returns"),
    (lambda: verify(Odd(factor=math.nan)), ValueError, "the model returns"),
    (lambda: along_segments(ONE, ONE, X.float(), 0 * CLASSES, [0]), ValueError, "networks with 1 output; allowed: two"),
    (lambda: scores(ONE, X.float(), 0 * CLASSES), ValueError, "networks with 1 output; allowed: two classes"),
    (lambda: NETS.permuted({"1": P.expand(2, 3)}), ValueError, "group '1' is unknown; allowed: 0"),
    (lambda: fit(NETS, SGD, X.float(), CLASSES, [1]), ValueError, "1 seeds of 2 networks; allowed: one each"),
    (lambda: permute(W, torch.tensor([0, 0, 1])), ValueError, "p[:] = [0, 0, 1] is no permutation"),
    (lambda: weight_matching(W, NAN), ValueError, "W2[0, 0] = nan; allowed: finite numbers"),
    (lambda: algorithm_1(NAN, W), ValueError, "W1[0, 0] = nan; allowed: finite numbers"),
    (lambda: algorithm_1(W + 1, W), ValueError, "row W1[0] is at distance"),
    (lambda: coherence(W), ValueError, "UᵀU differs from I by"),
    (lambda: minima_barriers(W + 1, W, 2), ValueError, "row 0 of W1 lies on no ray"),
    (lambda: minima_barriers(W, -W, 2), ValueError, "row 0 of W2 lies on no ray"),
    (lambda: minima_barriers(W, NAN, 2), ValueError, "W2[0, 0] = nan"),
    (lambda: snap(W, 3), ValueError, "M = 3 teacher neurons in dimension d = 2"),
    (lambda: sample_minima(4, 5, 5, 1, seed=1), ValueError, "m = 4 student neurons for M = 5"),
    (lambda: sample_minima(6, 5, 4, 1, seed=1), ValueError, "M = 5 teacher neurons in dimension d = 4"),
    (lambda: sample_minima(6, 5, 5, 1, 1, ("dirichlet", -1)), ValueError, "law = ('dirichlet', -1) is unknown"),
    (lambda: overlap_limit(0.9), ValueError, "r = m/M = 0.9; allowed: r >= 1"),
    (lambda: simulate_overlap(6, 3, 1, 0), ValueError, "trials = 1; allowed: trials >= 2"),
    (lambda: barrier_limits(1), ValueError, "r = m/M = 1; allowed: 1 < r <= 10"),
    (lambda: leftover_tail(-0.1, 2), ValueError, "an entry -0.1; allowed: entries >= 0"),
    (lambda: population_hessian(0 * W, 1), ValueError, "W has a row 0"),
    (lambda: gradient_descent(W[None], 3, 0.1, 5), ValueError, "M = 3 teacher neurons in dimension d = 2"),
    (lambda: gradient_descent(NAN[None], 2, 0.1, 5), ValueError, "W[0, 0, 0] = nan"),
    (lambda: pq_index(W, 1, 1), ValueError, "p = 1, q = 1; allowed: 0 < p < q"),
    (lambda: pq_index(0 * W), ValueError, "w has a vector 0"),
    (lambda: expected_pq(3, 4), ValueError, "m = 3, M = 4; allowed: m >= M >= 1"),
    (lambda: expected_pq(3, 2, 0.0), ValueError, "a = 0.0; allowed: a > 0"),
    (lambda: sharpness(torch.tensor([1, 0]), 3), ValueError, "counts = [1, 0]"),
    (lambda: sharpness(torch.tensor([1, 2, 3]), 2), ValueError, "M = 3 types in dimension d = 2"),
    (lambda: even_sharpness(3, 3, 2), ValueError, "M = 3 types in dimension d = 2"),
    (lambda: require_invertible({"Y": torch.ones(2, 2).double()}), ValueError, "Y is singular"),
    (lambda: curvature(0 * W, W), ValueError, "a velocity is 0"),
    (lambda: path_in_group(EYE, torch.diag(torch.tensor([1.0, -1.0])).double(), 3), ValueError, "det a and det b"),
    (lambda: path_in_minimum([EYE, EYE], [EYE, 2 * EYE], EYE, EYE, 3), ValueError, "b has loss"),
    (lambda: most_similar_neurons(NET, THETA, X, 2), ValueError, "layer = 2 is no hidden layer"),
    (lambda: CHART.bring_forward(THETA, 2, 2), ValueError, "neurons 2 and 2 are the same"),
    (
        lambda: damped_newton(lambda t: t.sum() / 0, torch.ones(2).double(), 1, 1e-9),
        ValueError,
        "the loss at the start",
    ),
    (
        lambda: converged_path(square, CHART, THETA, (0, 1), torch.tensor([0.5, 1]), 1, 1e-9),
        ValueError,
        "distances [0.5, 1.0]",
    ),
    (lambda: double_neurons(MLP((2, 3, 1), "relu"), THETA, X, Y), ValueError, "activation 'relu'"),
    (lambda: equal_loss_exchange(NET, THETA, 1, 1), ValueError, "other = 1; allowed: a third neuron"),
    (lambda: equal_loss_exchange(NET, THETA, 1, 2), ValueError, "neurons 0 and 1 are"),
    (lambda: equal_loss_exchange(NET, THETA, 1, 2, points=1), ValueError, "points = 1; allowed: points >= 2"),
    (lambda: hessian(lambda t: t.sum(), THETA[None]), ValueError, "the loss returns a tensor of shape ()"),
    (lambda: hessian(lambda t: t.pow(1.5).sum(dim=-1), 0 * THETA), ValueError, "the Hessian holds values"),
    (lambda: inertia(EYE, tol=1.0), ValueError, "tol = 1.0; allowed: 0 < tol < 1"),
    (lambda: inertia(EYE / 0, tol=0.1), ValueError, "H[0, 0] = inf"),
    (lambda: inertia(torch.ones(2, 2).triu(), tol=0.1), ValueError, "H − Hᵀ has an entry 1.0e"),
    (lambda: minimise(lambda t: t.sum(-1), NAN, 5, 1e-9), ValueError, "a start has a loss"),
    (lambda: minimise(lambda t: t.square().sum(-1), W, 5, 1e-9, project=lambda t: t[0]), ValueError, "project returns"),
    (lambda: MLP((2, 1), "tanh"), ValueError, "sizes = (2, 1)"),
    (lambda: MLP((2, 2.0, 1), "tanh"), ValueError, "sizes = (2, 2.0, 1)"),
    (lambda: MLP((2, 2, 1), "gelu"), ValueError, "activation = 'gelu'"),
    (lambda: NET.join(NET.split(THETA)[:1]), ValueError, "layers have shapes"),
    (lambda: NET.forward(THETA, X.T), ValueError, "x has shape (2, 4)"),
    (lambda: NET.hidden(THETA, X, 2), ValueError, "layer = 2 is no hidden layer"),
    (lambda: NET.incoming(3, 0), ValueError, "layer = 3; allowed: 1 <= layer <= 2"),
    (lambda: NET.incoming(1, 3), ValueError, "neuron = 3 of layer 1"),
    (lambda: NET.swap(THETA, 1, 0, -1), ValueError, "neuron = -1 of layer 1"),
    (lambda: squared_loss(NET, X, Y / 0), ValueError, "y[0, 0] = inf"),
    (lambda: PairChart(NET, 2), ValueError, "layer = 2; allowed: a hidden layer"),
    (lambda: PairChart(MLP((2, 1, 1), "tanh"), 1), ValueError, "layer 1 has one neuron"),
    (lambda: PairChart(NET, 1, "polar"), ValueError, "kind = 'polar'"),
    (lambda: CHART.coordinates(0 * THETA), ValueError, "the pair has distance 0"),
    (lambda: CHART.closer(torch.ones(14), torch.tensor(0.0)), ValueError, "delta = 0.0"),
    (lambda: loss_barrier(square, W, W, []), ValueError, "lambdas has shape (0,)"),
    (lambda: loss_barrier(square, NAN, W), ValueError, "a[0, 0] = nan"),
    (lambda: check_lambdas(0.5), ValueError, "lambdas has shape ()"),
    (lambda: row_types(-W[1:]), ValueError, "row W[0] is at distance 0.75"),
    (lambda: algorithm_1(W, W - 1, tol=0.3), ValueError, "row W2[0] is at distance"),
    (lambda: check_permutation(torch.tensor([[[0, 1], [1, 2]]])), ValueError, "p[0, 1, :] = [1, 2] is no permutation"),
    (lambda: best_permutation(torch.ones(10, 2), torch.ones(10, 2), distance), ValueError, "m = 10 is out of reach"),
    (lambda: best_permutation(W, W, lambda a, b: b.sum()), ValueError, "the objective returns a tensor of shape ()"),
    (lambda: best_permutation(W, W, lambda a, b: b.sum((1, 2)) / 0), ValueError, "the objective is inf at p = [0, 1"),
    (lambda: match_activations(W[:1], W[:1]), ValueError, "n = 1 inputs; allowed: n >= 2"),
    (lambda: require_invertible({"Y": EYE / 0}), ValueError, "Y[0, 0] = inf; allowed: finite numbers"),
    (lambda: random_invertible((3,), 2, RNG, torch.ones(2)), ValueError, "signs have shape (2,)"),
    (lambda: random_invertible((3,), 2, RNG, 0), ValueError, "signs have shape () and values [0.0]"),
    (lambda: rotation_logarithm(FLIP), ValueError, "R has determinant -1"),
    (lambda: rotation_logarithm(2 * EYE), ValueError, "RᵀR − I has an entry 3.0e"),
    (lambda: path_in_group(EYE, EYE, 1), ValueError, "steps = 1; allowed: steps >= 2"),
    (lambda: path_in_group(EYE, ALMOST, 2), ValueError, "b is singular to rounding"),
    (lambda: straight_line([EYE, EYE], [EYE] * 3, [0.5]), ValueError, "a has 2 matrices, b has 3"),
    (lambda: obstruction(FLAT), ValueError, "Y is singular to rounding"),
    (lambda: path_over_obstruction([EYE, EYE], EYE, EYE, 1, 2), ValueError, "steps = 2; allowed: steps >= 3"),
    (lambda: path_over_obstruction([EYE, EYE], EYE, EYE, 2, 3), ValueError, "layer = 2; allowed: 1 <= layer <= 1"),
    (lambda: path_over_obstruction([EYE, FLIP], EYE, EYE, 1, 3), ValueError, "the network has loss 2.0e+00"),
    (lambda: loss([EYE], EYE, EYE), ValueError, "1 matrices W_i; allowed: at least 2"),
    (lambda: component([EYE, ALMOST, EYE], EYE), ValueError, "W_2 is singular to rounding"),
    (lambda: component([EYE / 0, EYE], EYE), ValueError, "W_1[0, 0] = inf"),
    (lambda: from_group([EYE, FLAT], EYE, EYE), ValueError, "g_2 is singular"),
    (lambda: from_group([], EYE, EYE), ValueError, "0 matrices g_i; allowed: at least 1"),
    (lambda: path_in_minimum([EYE, EYE], [EYE, EYE], EYE, EYE, 1), ValueError, "steps = 1; allowed: steps >= 2"),
    (lambda: path_in_minimum([EYE, EYE], [EYE, (1 + 1e-7) * EYE], EYE, EYE, 3), ValueError, "b has loss 1.0e-14 ‖Y‖²"),
    (lambda: path_in_minimum([EYE, EYE], [FLIP, FLIP], EYE, EYE, 3), ValueError, "a lies in component (1,), b in"),
    (lambda: path_in_minimum([EYE, FLAT], [EYE, FLAT], EYE, FLAT, 3), ValueError, "Y is singular"),
]


@pytest.mark.parametrize(("call", "error", "begins"), CALLS, ids=[begins for _, _, begins in CALLS])
def test_a_wrong_call_ends_in_one_sentence(call, error, begins):
    with pytest.raises(error) as caught:
        call()
    sentence = str(caught.value)
    assert type(caught.value) is error and sentence.startswith(begins)
    assert "allowed: " in sentence and sentence.count("\n") < 3 and len(sentence) < 360
