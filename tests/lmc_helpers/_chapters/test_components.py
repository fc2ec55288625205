"""What chapter *components* computes, against independent oracles."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import torch
from oracles.draws import normal
from oracles.linear import at, by_hand, data, leibniz, matrix, minimum

from lmc_helpers._chapters import components as chapter
from lmc_helpers.linear_nets import component, loss, path_in_minimum
from lmc_helpers.seeds import torch_generator

# Descent of linear networks: against a dense Levenberg–Marquardt step, and against closed forms of the minimum


@pytest.mark.parametrize(("layers", "h"), [(2, 1), (3, 2), (4, 3)])
def test_a_step_is_that_of_the_dense_jacobian(layers, h):
    W, X, Y, damping = list(normal(layers, 2, h, h)), normal(h, h, seed=1), normal(h, h, seed=2), 0.3
    moved = chapter._step(W, X, Y, torch.full((2,), damping, dtype=torch.float64))
    for b in range(2):

        def residual(flat):
            product = X
            for W_i in flat.reshape(layers, h, h):
                product = W_i @ product
            return (product - Y).flatten()

        start = torch.stack([M[b] for M in W]).flatten()
        J = torch.autograd.functional.jacobian(residual, start).numpy()
        r = residual(start).numpy()
        step = np.linalg.solve(J.T @ J + damping * np.eye(len(start)), -J.T @ r)  # the other side of the identity
        expected = start.numpy() + step
        assert np.allclose(torch.stack([M[b] for M in moved]).flatten().numpy(), expected, atol=1e-10)


@pytest.mark.parametrize(("layers", "h"), [(2, 1), (3, 4), (5, 3)])
def test_minima_are_reached_and_the_loss_never_rises(layers, h):
    W, X, Y = list(normal(layers, 20, h, h)), normal(h, h, seed=1), normal(h, h, seed=2)
    last = np.inf
    for steps in (1, 3, 10, 300):
        found, arrived = chapter.descend(W, X, Y, steps)
        product = found[0].numpy() @ X.numpy()
        for M in found[1:]:
            product = M.numpy() @ product
        losses = ((product - Y.numpy()) ** 2).sum(axis=(1, 2))
        assert (losses <= last * (1 + 1e-12) + 1e-25).all()
        last = losses
        assert (losses[arrived.numpy()] <= 1e-19 * float(Y.square().sum())).all()
    assert arrived.double().mean() > 0.9


@pytest.mark.parametrize("layers", [2, 3, 5])
def test_all_components_are_all_tuples_of_signs_once(layers):
    signs = chapter.all_components(layers)
    assert signs.shape == (2 ** (layers - 1), layers - 1) and signs.dtype == torch.float64
    assert {tuple(row) for row in signs.tolist()} == set(itertools.product((1, -1), repeat=layers - 1))


@pytest.mark.parametrize(("layers", "h"), [(2, 1), (3, 1), (2, 2), (3, 3), (2, 4)])
def test_the_highest_point_of_a_line_is_never_below_its_singular_places(layers, h):
    X, Y = data(h, seed=h)
    least = np.linalg.eigvalsh(Y.numpy().T @ Y.numpy())[0]
    nets = [minimum(layers, X, Y, seed=s) for s in range(6)]
    fine = torch.linspace(0, 1, 2001, dtype=torch.float64)[:, None, None]
    for a, b in itertools.combinations(nets, 2):
        found = chapter.highest_on_line(a, b, X, Y, matrix([0.0, 0.5, 1.0])).item()
        line = [fine * V + (1 - fine) * W for V, W in zip(a, b, strict=True)]
        losses = by_hand(line, X, Y)
        dets = [np.linalg.det(W.numpy()) for W in line]
        crossings = [k for det in dets for k in np.flatnonzero(det[1:] * det[:-1] < 0)]
        seen = losses[[0, 1000, 2000]].tolist()
        for k in crossings:  # the loss next to the place where a factor is singular
            ends = losses[k : k + 2]
            seen.append(min(ends) - abs(ends[1] - ends[0]))
        assert found >= max(seen) * (1 - 1e-9)
        assert found <= losses.max() * 1.001
        if component(a, X) != component(b, X):
            assert crossings and found >= least * (1 - 1e-9)


def test_a_batch_of_lines_is_many_lines_and_direction_does_not_matter():
    X, Y = data(3, seed=8)
    a, b = (
        [torch.stack(layer) for layer in zip(*[minimum(3, X, Y, seed=s) for s in range(first, first + 4)], strict=True)]
        for first in (0, 10)
    )
    places = torch.linspace(0, 1, 5, dtype=torch.float64)
    together = chapter.highest_on_line(a, b, X, Y, places)
    torch.testing.assert_close(together, chapter.highest_on_line(b, a, X, Y, places), rtol=1e-8, atol=0)
    for k in range(4):
        torch.testing.assert_close(
            chapter.highest_on_line(at(a, k), at(b, k), X, Y, places), together[k], rtol=1e-8, atol=0
        )


@pytest.mark.parametrize(("layers", "h"), [(2, 2), (3, 3), (5, 2), (4, 5)])
def test_permuted_layers_are_products_with_permutation_matrices(layers, h):
    rng = torch_generator(0, "permutations")
    weights = [normal(h, h, seed=i) for i in range(layers)]
    perms = [torch.randperm(h, generator=rng) for _ in range(layers - 1)]
    P = [np.eye(h), *(np.array([[float(p[i] == j) for j in range(h)] for i in range(h)]) for p in perms), np.eye(h)]
    permuted = chapter.permute_layers(weights, perms)
    for i, W in enumerate(weights):
        np.testing.assert_array_equal(permuted[i].numpy(), P[i + 1] @ W.numpy() @ np.linalg.inv(P[i]))
    X, Y = data(h)
    assert by_hand(permuted, X, Y) == pytest.approx(by_hand(weights, X, Y), rel=1e-9)
    batched = chapter.permute_layers([W.expand(2, 3, h, h) for W in weights], perms)
    assert all(many[1, 2].equal(one) for many, one in zip(batched, permuted, strict=True))


@pytest.mark.parametrize("h", [2, 3, 6])
def test_exchanges_of_two_neurons_bring_every_component_into_every_other(h):
    X, Y = data(h, seed=4)
    nets = [minimum(4, X, Y, seed=s, signs=signs) for s, signs in enumerate(itertools.product((1, -1), repeat=3))]
    pairs, joined = list(itertools.product(nets, repeat=2)), []
    for a, b in pairs:
        flips = np.cumprod(np.array(component(a, X)) * component(b, X))
        perms = [torch.tensor([0, 1, *range(2, h)] if flip > 0 else [1, 0, *range(2, h)]) for flip in flips]
        joined.append(chapter.permute_layers(a, perms))
        assert component(joined[-1], X) == component(b, X)
    here, there = (
        [torch.stack(layer) for layer in zip(*ends, strict=True)] for ends in (joined, [b for _, b in pairs])
    )
    assert loss(path_in_minimum(here, there, X, Y, 3), X, Y).max() < 1e-14


@pytest.mark.parametrize("h", [2, 3])
def test_a_permutation_turns_the_orientation_of_its_own_layer_only(h):
    X, Y = data(h, seed=6)
    net = minimum(4, X, Y, seed=1)

    def orientations(weights):
        signs, out = [], X.numpy()
        for W in weights[:-1]:
            out = W.numpy() @ out
            signs.append(np.sign(leibniz(out)))
        return signs

    for layer in range(3):
        for order in itertools.permutations(range(h)):
            perms = [torch.arange(h)] * 3
            perms[layer] = torch.tensor(order)
            odd = leibniz(np.eye(h)[list(order)])
            after = orientations(chapter.permute_layers(net, perms))
            assert after == [s * odd if k == layer else s for k, s in enumerate(orientations(net))]


@pytest.mark.parametrize("h", [1, 2, 4, 5])
def test_jordan_forms_are_counted_by_their_generating_function(h):
    series = np.zeros(h + 1)
    series[0] = 1
    for rows in [*range(1, h + 1)] * 2 + [*range(2, h + 1, 2)] * 2:  # blocks of a real eigenvalue, of a pair
        for n in range(rows, h + 1):
            series[n] += series[n - rows]  # divided by 1 − x^rows
    forms = chapter.jordan_forms(h)
    assert len(forms) == len(set(forms)) == series[h] - 1


@pytest.mark.parametrize("form", chapter.jordan_forms(4))
def test_matrices_of_a_form_have_its_blocks(form):
    for M in chapter.random_of_form(form, 3, torch_generator(8, f"{form}")).numpy():
        groups = {}  # blurred eigenvalues of the upper half plane, by what they are near
        for w in np.linalg.eigvals(M):
            real, turn = abs(w.real) > 0.01, abs(w.imag) > 0.01
            if not turn or w.imag > 0:
                kind = ("complex" if real else "imaginary") if turn else ("real" if real else "zero")
                centre = next((c for k, c in groups if k == kind and abs(c - w) < 2e-3), w)
                groups.setdefault((kind, centre), []).append(w)
        found = []
        for (kind, _), members in groups.items():
            mu, rows = np.mean(members), 2 if kind in ("imaginary", "complex") else 1
            N = M - mu.real * np.eye(4)
            N = N @ N + mu.imag**2 * np.eye(4) if rows == 2 else N
            assert kind in ("zero", "imaginary") or 0.019 < abs(mu.real) < 0.101
            assert rows == 1 or min(abs(mu.imag - 1), abs(mu.imag - 2**0.5)) < 1e-6
            powers = [np.linalg.matrix_power(N, k) for k in range(len(members) + 1)]
            ranks = [np.linalg.matrix_rank(power, tol=1e-11) for power in [*powers, powers[-1]]]
            for size in range(1, len(members) + 1):  # blocks of at least this size, less those of more
                number = (ranks[size - 1] - 2 * ranks[size] + ranks[size + 1]) // rows
                found += [(kind, size)] * int(number)
        assert sorted(found) == sorted(form)


TURN, SHEAR = np.array([[0.0, -1.0], [1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])
NONE = np.zeros((2, 2))
SUBGROUPS = {  # M in a basis, and the power of t with which the barrier grows; none: exponentially
    "two turns": (np.block([[TURN, NONE], [NONE, 2 * TURN]]), 0),
    "a turn twice": (np.block([[TURN, NONE], [NONE, TURN]]), 0),
    "turn and shear": (np.block([[TURN, NONE], [NONE, SHEAR]]), 0),
    "double turn": (np.block([[TURN, np.eye(2)], [NONE, TURN]]), 2),
    "nilpotent of order 3": (np.diag([1.0, 1.0, 0.0], 1), 4),
    "spiral": (np.block([[TURN + 0.1 * np.eye(2), NONE], [NONE, SHEAR]]), None),
    "stretch": (np.diag([0.1, 0, 0, 0]), None),
}


@pytest.mark.parametrize("name", SUBGROUPS)
def test_barriers_along_subgroups_are_those_of_the_proposition(name):
    """The largest loss on a fine line, against sinh² and against its power of t."""
    X, Y = data(4, seed=5)
    W1, W2 = minimum(2, X, Y, seed=7)
    S, (J, power) = data(4, seed=8)[0].numpy(), SUBGROUPS[name]
    M = S @ J @ np.linalg.inv(S)
    fine, largest = torch.linspace(0, 1, 201, dtype=torch.float64)[:, None, None], []
    for first, last in ((2, 20), (20, 200)):
        heights = []
        for t in np.linspace(first, last, 60):
            g, back = (torch.from_numpy(scipy.linalg.expm(s * M)) for s in (t, -t))
            losses = by_hand([W1 + fine * (g - torch.eye(4)) @ W1, W2 + fine * W2 @ (back - torch.eye(4))], X, Y)
            arch = scipy.linalg.sinhm(t * M / 2)
            barrier = np.square(W2.numpy() @ arch @ arch @ W1.numpy() @ X.numpy()).sum()
            assert losses.max() == pytest.approx(barrier, rel=1e-5, abs=1e-8)
            heights.append(barrier)
        largest.append(max(heights))
    grown = np.log10(largest[1] / largest[0])
    assert grown > 6 if power is None else abs(grown - power) < 0.3
