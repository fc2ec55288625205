"""Linear networks: determinants by permutations, losses in NumPy, logarithms by SciPy's exponential, closed forms."""

import itertools
import math

import numpy as np
import pytest
import scipy.linalg
import torch

from lmc_helpers.device import torch_generator
from lmc_helpers.linear_nets import (
    component,
    components,
    from_group,
    joining_permutations,
    loss,
    obstruction,
    path_in_minimum,
    path_over_obstruction,
    permute_layers,
    residual_component,
    rotation_logarithm,
    to_group,
)

SIZES = [(2, 1), (3, 1), (2, 2), (2, 5), (3, 3), (4, 2), (5, 8)]


def matrix(values):
    return torch.tensor(values, dtype=torch.float64)


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch_generator(seed, f"linear nets {shape}"))


def data(h, seed=0):
    X, Y = normal(2, h, h, seed=seed) + 2 * torch.eye(h, dtype=torch.float64)
    return X, Y


def minimum(layers, X, Y, seed, signs=None):
    """W_1, …, W_{l−1} by chance or with the signs, W_l by NumPy's inverse and a correction for its rounding."""
    h = len(X)
    inner = [normal(h, h, seed=100 * seed + i).numpy() for i in range(layers - 1)]
    if signs is not None:
        for i, sign in enumerate(signs):
            if leibniz(inner[i]) * (leibniz(X.numpy()) if i == 0 else 1) * sign < 0:
                inner[i][0] *= -1
    rest = X.numpy()
    for W in inner:
        rest = W @ rest
    inverse = np.linalg.inv(rest)
    last = Y.numpy() @ inverse
    last += (Y.numpy() - last @ rest) @ inverse
    return [torch.from_numpy(W) for W in (*inner, last)]


def leibniz(A):
    """The determinant of a small matrix, summed over all permutations."""
    total = 0.0
    for perm in itertools.permutations(range(len(A))):
        inversions = sum(perm[i] > perm[j] for i in range(len(A)) for j in range(i + 1, len(A)))
        total += (-1) ** inversions * math.prod(float(A[i, j]) for i, j in enumerate(perm))
    return total


def by_hand(weights, X, Y):
    """The loss of one network, entry by entry."""
    out = X.numpy()
    for W in weights:
        out = np.einsum("ij,jk->ik", W.numpy(), out)
    return sum(float(d) ** 2 for d in (Y.numpy() - out).ravel())


def at(path, *index):
    return [W[index] for W in path]


def rounding(path, X):
    """(1e-14 h ‖W_l‖ … ‖X‖)², the loss that the rounding of the product explains, at its largest."""
    norms = [torch.linalg.matrix_norm(A, ord=2) for A in path]
    size = torch.stack(torch.broadcast_tensors(*norms)).prod(dim=0) * torch.linalg.matrix_norm(X, ord=2)
    return (1e-14 * len(X) * size.max().item()) ** 2


@pytest.mark.parametrize(("layers", "h"), SIZES)
def test_the_loss_of_a_batch_is_that_of_each_network(layers, h):
    X, Y = data(h)
    weights = [normal(2, 3, h, h, seed=i) for i in range(layers)]
    batch = loss(weights, X, Y)
    assert batch.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert batch[index].item() == pytest.approx(by_hand(at(weights, *index), X, Y), rel=1e-12)


@pytest.mark.parametrize(("layers", "h"), SIZES)
@pytest.mark.parametrize("batch", [(), (3,), (2, 8)])
def test_group_elements_and_minima_are_inverse(layers, h, batch):
    X, Y = data(h)
    g = [normal(*batch, h, h, seed=i) + 3 * torch.eye(h, dtype=torch.float64) for i in range(layers - 1)]
    weights = from_group(g, X, Y)
    assert [W.shape for W in weights] == [(*batch, h, h)] * layers
    for index in np.ndindex(*batch):
        assert by_hand(at(weights, *index), X, Y) < 1e-20
    for there, back in zip(g, to_group(weights, X), strict=True):
        torch.testing.assert_close(back, there, rtol=1e-10, atol=1e-10)


def test_group_of_a_minimum_that_numpy_made():
    X, Y = data(4)
    weights = minimum(4, X, Y, seed=1)
    for made, again in zip(weights, from_group(to_group(weights, X), X, Y), strict=True):
        torch.testing.assert_close(again, made, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("layers", "h"), [(2, 1), (3, 1), (2, 2), (3, 3), (5, 2), (4, 5)])
@pytest.mark.parametrize("seed", range(4))
def test_the_component_is_the_signs_of_the_determinants(layers, h, seed):
    X, Y = data(h, seed)
    weights = minimum(layers, X, Y, seed)
    signs = [np.sign(leibniz(g)) for g in (weights[0].numpy() @ X.numpy(), *(W.numpy() for W in weights[1:-1]))]
    assert component(weights, X) == tuple(signs)
    assert all(type(sign) is int for sign in component(weights, X))


def test_every_choice_of_signs_is_a_component():
    X, Y = data(3, seed=5)
    X[0] *= -np.sign(leibniz(X.numpy()))  # det X < 0 takes part
    found = set()
    for signs in itertools.product((1, -1), repeat=3):
        weights = minimum(4, X, Y, seed=2, signs=signs)
        assert component(weights, X) == signs
        found.add(signs)
    batch = [torch.stack([minimum(4, X, Y, 2, signs)[i] for signs in sorted(found)]) for i in range(4)]
    assert components(batch, X).tolist() == [list(signs) for signs in sorted(found)]


def test_the_component_survives_an_underflow_of_the_determinant_and_a_bad_condition():
    I = torch.eye(3, dtype=torch.float64)  # noqa: E741
    assert component([1e-200 * I, -1e200 * I, I], I) == (1, -1)
    assert component([torch.diag(matrix([1e12, 1.0, -1.0])), I], I) == (-1,)
    X = torch.diag(matrix([1.0, 1.0, 1e-10]))
    assert component([torch.diag(matrix([1.0, 1.0, -1e-10])), I], X) == (-1,)


@pytest.mark.parametrize("h", range(1, 9))
def test_the_logarithm_is_skew_and_its_exponential_the_rotation(h):
    Q = np.linalg.qr(normal(5, h, h, seed=h).numpy())[0]
    Q[:, 0] *= np.linalg.slogdet(Q)[0][:, None]
    for R in Q:
        K = rotation_logarithm(torch.from_numpy(R)).numpy()
        np.testing.assert_allclose(K, -K.T, atol=1e-13)
        np.testing.assert_allclose(scipy.linalg.expm(K), R, atol=1e-13)
        assert abs(np.linalg.eigvals(K)).max() <= np.pi + 1e-12
    assert rotation_logarithm(torch.from_numpy(Q)).shape == (5, h, h)


@pytest.mark.parametrize("angles", [[np.pi], [np.pi, np.pi], [np.pi, 0.0, np.pi], [1e-9, np.pi - 1e-9], [np.pi, 0.3]])
@pytest.mark.parametrize("extra", [0, 1])
def test_the_logarithm_of_half_turns(angles, extra):
    blocks = [np.array([[np.cos(w), -np.sin(w)], [np.sin(w), np.cos(w)]]) for w in angles]
    plain = scipy.linalg.block_diag(*blocks, *[np.eye(1)] * extra)
    Z = np.linalg.qr(normal(len(plain), len(plain)).numpy())[0]
    for R in (plain, Z @ plain @ Z.T):
        K = rotation_logarithm(torch.from_numpy(R)).numpy()
        np.testing.assert_allclose(scipy.linalg.expm(K), R, atol=1e-13)
        found = np.sort(abs(np.linalg.eigvals(K).imag))
        np.testing.assert_allclose(found, np.sort([*angles, *angles] + [0.0] * extra), atol=1e-7)


def test_half_turns_that_do_not_stand_side_by_side():
    R = np.diag([-1.0, 1.0, -1.0, 1.0, -1.0, -1.0])
    K = rotation_logarithm(torch.from_numpy(R)).numpy()
    np.testing.assert_allclose(scipy.linalg.expm(K), R, atol=1e-14)


@pytest.mark.parametrize(("layers", "h"), [*SIZES, (5, 1), (3, 8), (4, 7), (5, 5)])
@pytest.mark.parametrize("steps", [2, 7, 8])
def test_a_path_stays_in_the_minimum_and_joins_its_ends(layers, h, steps):
    X, Y = data(h, seed=h)
    a = minimum(layers, X, Y, seed=1)
    b = minimum(layers, X, Y, seed=2, signs=component(a, X))
    path = path_in_minimum(a, b, X, Y, steps)
    assert [W.shape for W in path] == [(steps, h, h)] * layers
    bound = rounding(path, X)
    for t in range(steps):
        assert by_hand(at(path, t), X, Y) <= bound <= 1e-8 * Y.square().sum()
        assert component(at(path, t), X) == component(a, X)
    for end, index in ((a, 0), (b, -1)):
        for there, W in zip(end, path, strict=True):
            torch.testing.assert_close(W[index], there, rtol=1e-8, atol=1e-8 * there.abs().max().item())


def test_a_path_is_continuous_and_its_factors_stay_as_regular_as_the_ends():
    X, Y = data(4, seed=3)
    a = minimum(3, X, Y, seed=4)
    b = minimum(3, X, Y, seed=5, signs=component(a, X))
    jumps = []
    for steps in (101, 201):
        path = path_in_minimum(a, b, X, Y, steps)
        jumps.append(max((W[1:] - W[:-1]).abs().max().item() for W in path))
        for g, ga, gb in zip((path[0] @ X, path[1]), (a[0] @ X, a[1]), (b[0] @ X, b[1]), strict=True):
            sigma = np.linalg.svd(g.numpy(), compute_uv=False)
            ends = np.linalg.svd(np.stack([ga.numpy(), gb.numpy()]), compute_uv=False)
            assert sigma.min() >= ends.min() * (1 - 1e-10) and sigma.max() <= ends.max() * (1 + 1e-10)
    assert jumps[1] < 0.6 * jumps[0]


def test_a_path_through_half_turns():
    I = torch.eye(5, dtype=torch.float64)  # noqa: E741
    flip = torch.diag(matrix([-1.0, 1.0, -1.0, -1.0, -1.0]))
    path = path_in_minimum([I, I, I], [flip, I, flip], I, I, 9)
    assert loss(path, I, I).max() < 1e-28
    torch.testing.assert_close(path[0][-1], flip, rtol=0, atol=1e-14)


def test_batched_paths_are_those_of_each_network():
    X, Y = data(3, seed=9)
    a = [minimum(3, X, Y, seed=s) for s in range(4)]
    b = [minimum(3, X, Y, seed=10 + s, signs=component(one, X)) for s, one in enumerate(a)]
    stack = lambda nets: [torch.stack(layer).reshape(2, 2, 3, 3) for layer in zip(*nets, strict=True)]  # noqa: E731
    path = path_in_minimum(stack(a), stack(b), X, Y, 3)
    over = path_over_obstruction(stack(a), X, Y, layer=1, steps=3)
    assert {W.shape for W in (*path, *over)} == {(2, 2, 3, 3, 3)}
    for s in range(4):
        alone = path_in_minimum(a[s], b[s], X, Y, 3)
        over_alone = path_over_obstruction(a[s], X, Y, layer=1, steps=3)
        for many, one in zip((*path, *over), (*alone, *over_alone), strict=True):
            torch.testing.assert_close(many[divmod(s, 2)], one, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("h", [1, 2, 5])
def test_no_product_with_a_singular_factor_is_closer_than_the_obstruction(h):
    X, Y = data(h, seed=2)
    expected = np.linalg.eigvalsh(Y.numpy().T @ Y.numpy())[0]
    assert obstruction(Y) == pytest.approx(expected, rel=1e-9)
    for seed in range(20):  # least squares over W_2 once W_1 is singular
        W1 = normal(h, h, seed=seed).numpy()
        W1[0] = 0
        W2 = Y.numpy() @ np.linalg.pinv(W1 @ X.numpy())
        assert np.square(Y.numpy() - W2 @ W1 @ X.numpy()).sum() >= expected * (1 - 1e-9)


@pytest.mark.parametrize(("layers", "h"), SIZES)
@pytest.mark.parametrize("steps", [3, 4, 5, 31])
def test_a_path_over_the_obstruction_changes_two_signs_and_climbs_no_more(layers, h, steps):
    X, Y = data(h, seed=h)
    start = minimum(layers, X, Y, seed=3)
    before = component(start, X)
    least = np.linalg.eigvalsh(Y.numpy().T @ Y.numpy())[0]
    for layer in range(1, layers):
        path = path_over_obstruction(start, X, Y, layer, steps)
        assert [W.shape for W in path] == [(steps, h, h)] * layers
        losses = np.array([by_hand(at(path, i), X, Y) for i in range(steps)])
        t = np.linspace(0, 1, steps)
        height = np.clip(np.minimum(3 * t, 3 - 3 * t), 0, 1) ** 2
        error = rounding(path, X) ** 0.5  # of the distance to Y, which is at most the square root of least
        np.testing.assert_allclose(losses, height * least, rtol=1e-12, atol=2 * error * least**0.5 + error**2)
        assert losses.max() == pytest.approx(least, rel=1e-6) and losses[-1] < 1e-12 * Y.square().sum()
        after = component(at(path, -1), X)
        assert after == tuple(-s if i in (layer, layer + 1) else s for i, s in enumerate(before, start=1))
        for i in range(layers):
            torch.testing.assert_close(path[i][0], start[i], rtol=1e-12, atol=1e-12)
            assert i in (layer - 1, layer) or path[i].eq(start[i]).all()
    assert max(np.linalg.norm(W[-1] - W[0]) for W in path) > 0


def test_the_end_of_one_path_is_the_start_of_the_next_until_all_components_are_seen():
    X, Y = data(2, seed=1)
    net, seen = minimum(4, X, Y, seed=1), set()
    for layer in (1, 2, 3, 1, 2, 1, 3, 2, 1):
        seen.add(component(net, X))
        net = at(path_over_obstruction(net, X, Y, layer, 3), -1)
        back = minimum(4, X, Y, seed=7, signs=component(net, X))
        assert loss(path_in_minimum(net, back, X, Y, 3), X, Y).max() < 1e-16
    assert len(seen) >= 4


@pytest.mark.parametrize(("layers", "h"), [(2, 2), (3, 3), (5, 2), (4, 5)])
def test_permuted_layers_are_products_with_permutation_matrices(layers, h):
    rng = torch_generator(0, "permutations")
    weights = [normal(h, h, seed=i) for i in range(layers)]
    perms = [torch.randperm(h, generator=rng) for _ in range(layers - 1)]
    P = [np.eye(h), *(np.array([[float(p[i] == j) for j in range(h)] for i in range(h)]) for p in perms), np.eye(h)]
    permuted = permute_layers(weights, perms)
    for i, W in enumerate(weights):
        np.testing.assert_array_equal(permuted[i].numpy(), P[i + 1] @ W.numpy() @ np.linalg.inv(P[i]))
    X, Y = data(h)
    assert by_hand(permuted, X, Y) == pytest.approx(by_hand(weights, X, Y), rel=1e-9)
    batched = permute_layers([W.expand(2, 3, h, h) for W in weights], perms)
    assert all(many[1, 2].equal(one) for many, one in zip(batched, permuted, strict=True))


@pytest.mark.parametrize("h", [2, 3, 6])
def test_permutations_bring_every_component_into_every_other(h):
    X, Y = data(h, seed=4)
    nets = [minimum(4, X, Y, seed=s, signs=signs) for s, signs in enumerate(itertools.product((1, -1), repeat=3))]
    for a, b in itertools.product(nets, repeat=2):
        joined = permute_layers(a, joining_permutations(a, b, X))
        assert component(joined, X) == component(b, X)
        assert loss(path_in_minimum(joined, b, X, Y, 3), X, Y).max() < 1e-14


def test_one_neuron_has_no_permutation_that_helps():
    one = matrix([[1.0]])
    assert [p.tolist() for p in joining_permutations([one, one], [2 * one, one / 2], one)] == [[0]]
    with pytest.raises(ValueError, match=r"h = 1 and the components \(1,\) and \(-1,\) differ"):
        joining_permutations([one, one], [-one, -one], one)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("eps", [0.7, -1.3, 0.0])
def test_the_residual_component_is_a_sign_of_a_determinant(n, eps):
    for seed in range(6):
        W1, W2 = normal(2, n, n, seed=seed)
        assert residual_component(W1, W2, eps) == np.sign(leibniz(W2.numpy() @ W1.numpy() + eps * np.eye(n)))


@pytest.mark.parametrize("sign", [1, -1])
def test_the_residual_net_passes_a_singular_first_layer_at_both_signs(sign):
    W2 = torch.diag(matrix([0.0, sign - 1.0]))  # W_2 W_1 + I = diag(1, sign) for all t
    for t in (-1.0, 0.0, 1.0):
        assert residual_component(torch.diag(matrix([t, 1.0])), W2, 1.0) == sign


I2 = torch.eye(2, dtype=torch.float64)
FLIP = torch.diag(matrix([1.0, -1.0]))
FLAT = matrix([[1.0, 2.0], [2.0, 4.0]])
ALMOST = matrix([[1.0, 1.0], [1.0, 1.0 + 2**-50]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: loss([I2], I2, I2), "1 matrices W_i; allowed: at least 2"),
        (lambda: loss([I2, I2[:1]], I2, I2), r"W_2 has shape \(1, 2\); allowed: \(2, 2\)"),
        (lambda: loss([I2[:1], I2], I2, I2), r"W_1 has shape \(1, 2\); allowed: \(..., h, h\)"),
        (lambda: loss([I2, I2], torch.ones(2, 3, dtype=torch.float64), I2), r"X has shape \(2, 3\); allowed: \(2, 2\)"),
        (lambda: loss([I2, I2], I2, I2.float()), "Y has dtype torch.float32; allowed: torch.float64"),
        (lambda: component([FLAT, I2], I2), "W_1 is singular to rounding, σ_min = .* allowed: σ_min > 7.1e-15 σ_max"),
        (lambda: component([I2, ALMOST, I2], I2), "W_2 is singular to rounding"),
        (lambda: component([I2, I2, 0 * I2], I2), "W_3 is singular to rounding"),
        (lambda: component([I2, I2], FLAT), "X is singular to rounding"),
        (lambda: component([I2 * math.nan, I2], I2), "W_1 holds nan; allowed: finite values"),
        (lambda: component([I2[None], I2[None]], I2), r"shape \(1, 2, 2\); allowed: one network"),
        (lambda: component([torch.ones(0, 0), torch.ones(0, 0)], I2), "allowed: .* h >= 1"),
        (lambda: components([torch.stack([I2, FLAT])] * 2, I2), "W_1 is singular"),
        (lambda: to_group([I2, FLAT, I2], I2), "W_2 is singular"),
        (lambda: from_group([], I2, I2), "0 matrices g_i; allowed: at least 1"),
        (lambda: from_group([I2, FLAT], I2, I2), "g_2 is singular"),
        (lambda: from_group([I2], FLAT, I2), "X is singular"),
        (lambda: rotation_logarithm(FLIP), "determinant -1; allowed: rotations"),
        (lambda: rotation_logarithm(2 * I2), "allowed: orthogonal matrices"),
        (lambda: rotation_logarithm(I2.float()), "torch.float32; allowed"),
        (lambda: path_in_minimum([I2, I2], [I2, I2], I2, I2, 1), "steps = 1; allowed: steps >= 2"),
        (lambda: path_in_minimum([I2, 2 * I2], [I2, I2], I2, I2, 3), "a has loss 1.0e\\+00 ‖Y‖²; allowed: a minimum"),
        (lambda: path_in_minimum([I2, I2], [I2, (1 + 1e-7) * I2], I2, I2, 3), "b has loss 1.0e-14 ‖Y‖²"),
        (lambda: path_in_minimum([I2, I2], [FLIP, FLIP], I2, I2, 3), r"component \(1,\), b in \(-1,\); allowed"),
        (lambda: path_in_minimum([I2] * 3, [FLIP, FLIP, I2], I2, I2, 3), r"component \(1, 1\), b in \(-1, -1\)"),
        (lambda: path_in_minimum([I2, I2], [I2, I2], FLAT, I2, 3), "X is singular"),
        (lambda: path_in_minimum([I2, FLAT], [I2, FLAT], I2, FLAT, 3), "Y is singular"),
        (lambda: path_in_minimum([I2, I2], [I2] * 3, I2, I2, 3), "a has 2 matrices .* b has 3 .*; allowed: the same"),
        (lambda: obstruction(FLAT), "Y is singular"),
        (lambda: obstruction(torch.ones(2, 2, 2)), r"Y has shape \(2, 2, 2\); allowed: \(h, h\)"),
        (lambda: path_over_obstruction([I2, I2], I2, I2, 1, 2), "steps = 2; allowed: steps >= 3"),
        (lambda: path_over_obstruction([I2, I2], I2, I2, 0, 3), "layer = 0; allowed: 1 <= layer <= 1"),
        (lambda: path_over_obstruction([I2, I2], I2, I2, 2, 3), "layer = 2; allowed: 1 <= layer <= 1"),
        (lambda: path_over_obstruction([I2, FLIP], I2, I2, 1, 3), "the network has loss 2.0e\\+00 ‖Y‖²"),
        (lambda: permute_layers([I2, I2], []), "0 permutations for 2 layers; allowed: 1"),
        (lambda: permute_layers([I2, I2], [torch.tensor([0, 0])]), r"permutation 1 is \[0, 0\]; allowed"),
        (lambda: joining_permutations([I2, I2], [I2] * 3, I2), "allowed: the same"),
        (lambda: residual_component(I2, -I2, 1.0), "singular value 0.0e\\+00; allowed"),
        (lambda: residual_component(I2, I2, math.inf), "eps = inf; allowed: a finite number"),
        (lambda: residual_component(I2[None], I2[None], 1.0), "allowed: one network"),
        (lambda: residual_component(I2, I2 * math.nan, 1.0), "W_2 holds nan"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
