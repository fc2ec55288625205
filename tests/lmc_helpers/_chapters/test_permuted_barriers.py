"""What chapter *permuted barriers* computes: loops over permutation matrices, the leading term, forward passes."""

import itertools
import math

import numpy as np
import pytest
import torch
from oracles.notebooks import on_the_page
from scipy.stats import ortho_group

from lmc_helpers._chapters.permuted_barriers import fill_outputs, idle_net, permuted_losses
from lmc_helpers.matching import all_permutations
from lmc_helpers.orbits.homogeneous import activation, random_net, rescale
from lmc_helpers.seeds import normal_stream, torch_generator


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch_generator(seed, f"rescaling {shape}"))


def relu(z):
    return z.clamp(min=0)


@pytest.mark.parametrize(("o", "h", "N", "lam"), [(1, 1, 1, 0.5), (2, 2, 3, 0.5), (3, 4, 2, 0.3)])
def test_losses_are_those_of_permutation_matrices(o, h, N, lam):
    one, other, Y = (normal(o, h), normal(h, N)), (normal(o, h, seed=1), normal(h, N, seed=1)), normal(o, N)
    expected = []
    for p in itertools.permutations(range(h)):
        P = np.zeros((h, h))  # (P⁻¹ H)_i = H_p(i)
        P[list(p), range(h)] = 1
        last = lam * one[0].numpy() + (1 - lam) * other[0].numpy() @ P
        hidden = lam * one[1].numpy() + (1 - lam) * np.linalg.inv(P) @ other[1].numpy()
        expected.append(((Y.numpy() - last @ np.maximum(hidden, 0)) ** 2).sum())
    np.testing.assert_allclose(permuted_losses(one, other, Y, relu, lam).numpy(), expected, rtol=1e-12)


def test_losses_ignore_the_order_of_the_other_network():
    one, other, Y = (normal(2, 4), normal(4, 3)), (normal(2, 4, seed=1), normal(4, 3, seed=1)), normal(2, 3)
    p = torch.tensor([2, 0, 3, 1])
    shuffled = permuted_losses(one, (other[0][:, p], other[1][p]), Y, relu)
    torch.testing.assert_close(shuffled.sort().values, permuted_losses(one, other, Y, relu).sort().values)


@pytest.mark.parametrize("k", [0.5, 1, 2])
def test_one_rescaled_neuron_cannot_hide_unless_a_column_is_zero(k):
    def sigma(z):
        return activation(z, k, negative=-0.3)

    last, hidden = normal(2, 4), normal(4, 3)
    Y = last @ sigma(hidden)
    m = 1e8
    beta = torch.tensor([1.0, m, 1.0, 1.0], dtype=torch.float64)
    least = permuted_losses((last, hidden), rescale(last, hidden, beta, k), Y, sigma).min()
    leading = (m / 2) ** (2 * k) / 4 * last.square().sum(dim=0).min() * sigma(hidden[1]).square().sum()
    assert (least / leading).item() == pytest.approx(1, abs=1e-2)
    last[:, 3] = 0
    Y = last @ sigma(hidden)
    assert permuted_losses((last, hidden), rescale(last, hidden, beta, k), Y, sigma).min() < 100


@pytest.mark.parametrize("dead", [[], [0], [1, 3], [0, 1, 2]])
def test_filled_outputs_leave_the_function(dead):
    net = random_net(1, "fill", 1, h=4)
    net.last[:, dead] = 0
    full = fill_outputs(net)
    assert full.last.any(dim=0).all()
    torch.testing.assert_close(full.output(*full.layers), net.output(*net.layers))
    kept = [i for i in range(4) if i not in dead]
    assert full.before[kept].equal(net.before[kept]) and len(full.before[dead].unique(dim=0)) <= 1


@pytest.mark.parametrize(("working", "h"), [(1, 1), (1, 4), (3, 4)])
def test_idle_neurons_have_no_weights_and_the_loss_is_0(working, h):
    net = idle_net(1, 0.5, working, h, number=2)
    assert net.last.any(dim=0).tolist() == [True] * working + [False] * (h - working)
    assert net.before.any(dim=1).tolist() == [True] * working + [False] * (h - working)
    z = net.before.numpy() @ net.F.numpy()
    np.testing.assert_allclose(net.last.numpy() @ (np.where(z > 0, 1, net.negative) * np.abs(z) ** 0.5), net.Y)


@pytest.mark.parametrize(("k", "negative"), [(1, -0.1), (2, 0.5)])
def test_all_layers_are_permuted_as_by_matrices(k, negative):
    given = dict(torch=torch, activation=activation, rescale=rescale, P4=all_permutations(4))
    _, layers_rescaled = on_the_page("37_permuted_barriers", "over_layers", "layers_rescaled", **given)
    (least,), (leading,) = layers_rescaled(normal_stream(3, "layers"), k, negative, [1e5])
    normal = normal_stream(3, "layers")
    X, W1, W2, W3 = (normal(*shape).numpy() for shape in ((3, 5), (4, 3), (4, 4), (2, 4)))

    def sigma(z):
        return np.where(z > 0, 1, negative) * np.abs(z) ** k

    active = sigma(W2 @ sigma(W1 @ X))
    scale = np.where(np.arange(4) == np.linalg.norm(active, axis=1).argmax(), 1e5, 1.0)
    V2, V3, Y = scale[:, None] * W2, W3 * scale**-k, W3 @ active
    orders = [np.eye(4)[list(p)] for p in itertools.permutations(range(4))]
    losses = {}
    for (one, P), (_, Q) in itertools.product(enumerate(orders), enumerate(orders)):
        hidden = sigma((W2 + Q @ V2 @ P.T) / 2 @ sigma((W1 + P @ W1) / 2 @ X))
        losses.setdefault(one, []).append(np.sum((Y - (W3 + V3 @ Q.T) / 2 @ hidden) ** 2))
    every = [min(losses[0]), min(map(min, losses.values()))]  # the first order is the identity
    np.testing.assert_allclose(least.numpy(), every, rtol=1e-9)
    np.testing.assert_allclose(leading.numpy(), every, rtol=1e-2)


@pytest.mark.parametrize(("n", "h"), [(1, 2), (3, 3), (2, 5)])
def test_barriers_of_balanced_minima_are_those_of_products_along_the_line(n, h):
    (barrier,) = on_the_page("37_permuted_barriers", "barrier")
    Q, other = (ortho_group.rvs(h, random_state=k)[:, :n] for k in (1, 2))
    Y = ortho_group.rvs(n, random_state=3) if n > 1 else np.ones((1, 1))
    grid = np.linspace(0, 1, 41)[:, None, None]
    for P in (np.eye(h)[list(p)] for p in itertools.permutations(range(h))):
        middle = (grid * Y @ Q.T + (1 - grid) * Y @ (P @ other).T) @ (grid * Q + (1 - grid) * (P @ other))
        losses = ((Y - middle) ** 2).sum(axis=(1, 2)) / (Y**2).sum()
        assert barrier(torch.from_numpy(Q), torch.from_numpy(P @ other)) == pytest.approx(losses.max(), abs=1e-12)
        assert losses[20] == pytest.approx(losses.max(), abs=1e-12)
    assert barrier(torch.from_numpy(Q), torch.from_numpy(Q)) == 0


def test_a_hundredth_of_the_frames_may_lie_below_the_bound():
    """Chernoff's bound for all permutations, the mean of the singular values, and the tail of one permutation."""
    (least_left,) = on_the_page("37_permuted_barriers", "least_left", math=math)
    rng = np.random.default_rng(4)
    for n, h in ((40, 40), (60, 90)):
        tau = 1 - 2 * math.sqrt(least_left(n, h))
        values = np.linalg.svd(rng.normal(size=(200, h, n)), compute_uv=False)
        mu = h / math.sqrt(h + n + 1)  # Hölder
        assert mu < values.mean() and (values**4).mean() == pytest.approx(h * (h + n + 1), rel=0.02)
        assert math.factorial(h) * math.exp(-(mu**2) * tau**2 * n / 2) == pytest.approx(0.01)
    assert least_left(4, 1000) == 0  # nothing is said, rather than a square of a negative number
    drawn = ortho_group.rvs(9, size=20_000, random_state=5)
    traces = np.trace(drawn[:, :6, :6], axis1=1, axis2=2)  # of variance 6/9
    for t in (0.5, 1, 2):
        mean = np.exp(t * traces).mean()
        assert math.exp(0.9 * t**2 / 2 * 6 / 9) < mean < math.exp(t**2 / 2 * 6 * 16 / 81)
