"""Merges as runs: what the chapter's cells did one after another, a digest that sees everything, a file."""

import itertools
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from oracles.draws import f64
from oracles.perceptrons import at_distance, by_hand
from scipy.optimize import least_squares
from scipy.stats import norm as normal
from scipy.stats import t as student
from torch.autograd.functional import hessian, jacobian

from lmc_helpers._chapters import permutation_saddles_on_mnist as chapter
from lmc_helpers.data.images import load
from lmc_helpers.networks import mlp
from lmc_helpers.permutation_points import MLP, PairChart, embed, reduce_pair

PATHS = {"components": 3, "distances": 4, "products": 60}
WHOLE = {"whole": 70, "whole_products": 80}
SIZES = {"images": 90, "widths": [3, 4], "teachers": 2, "randoms": 1, "epochs": 2}
PARAMETERS = chapter.Parameters("digits", seed=5, **SIZES, **PATHS, **WHOLE)
TEACHING = PARAMETERS.teaching()
RUN = chapter.MergeRun(TEACHING[4], 1, **PATHS)


def outputs(theta, z, net=None):
    """Outputs (T, classes) of a flat network, in NumPy."""
    net = net or MLP((3, 4, 4, 10), "tanh")
    return by_hand(net, torch.as_tensor(theta), torch.as_tensor(z)).numpy()


def test_a_path_of_the_teacher_with_its_own_logits_as_targets():
    found, taught = RUN.result(), TEACHING[4].result()
    images = load("digits", "train", 90, 5)
    x = images.inputs(torch.float64, flat=True).numpy()
    V = np.linalg.svd(x, full_matrices=False)[2][:3].T  # up to the signs of the components
    W = [taught.stack.params[f"{k}.weight"][1].double().numpy() for k in range(3)]
    b = [taught.stack.params[f"{k}.bias"][1].double().numpy() for k in range(3)]
    teacher = np.concatenate([part.ravel() for pair in zip([W[0] @ V, *W[1:]], b, strict=True) for part in pair])
    y = outputs(teacher, x @ V)

    def losses(signs):
        moved = (outputs(theta, x @ V * signs) for theta in found.path.theta.numpy())
        return [np.sum((f - y) ** 2) / len(x) / np.mean(y**2) for f in moved]

    signs = min(itertools.product((1, -1), repeat=3), key=lambda signs: losses(signs)[0])
    assert losses(signs)[0] < 1e-20  # it starts at the teacher
    np.testing.assert_allclose(found.path.loss, losses(signs), rtol=1e-6, atol=1e-10)
    said = [outputs(theta, x @ V * signs).argmax(axis=1) for theta in found.path.theta.numpy()]
    np.testing.assert_allclose(found.accuracy, [np.mean(one == images.y.numpy()) for one in said])

    i, j = found.pair
    rows = np.hstack([W[1], b[1][:, None]])
    first = found.path.theta[:, 16:32].reshape(4, 4, 4)[:, :2].numpy()  # weights of the pair, then their biases
    both = np.concatenate([first, found.path.theta[:, 32:34, None].numpy()], axis=2)
    apart = np.linalg.norm(both[:, 0] - both[:, 1], axis=1)
    np.testing.assert_allclose(apart / np.linalg.norm(rows[i] - rows[j]), [1, 10**-0.5, 0.1, 1e-4], rtol=1e-6)


def test_it_is_computed_once_and_read_whole(monkeypatch):
    first = RUN.result()
    assert RUN.done() and RUN.path().name == f"{RUN.digest}.npz"
    monkeypatch.setattr(chapter, "merge", None)  # nothing is computed again
    again = RUN.result()
    for name in ("theta", "loss", "gradient_norm", "outgoing"):
        assert getattr(again.path, name).equal(getattr(first.path, name))
    assert again.accuracy.equal(first.accuracy) and again.pair == first.pair
    same(again.point, first.point)
    assert again.products == first.products > 0 and again.provenance == first.provenance
    assert again.provenance["seconds"] > 0 and again.provenance["teachers"]["verified"] in (True, False)


def same(point, other):
    """Two points agree in everything."""
    for name, value in vars(point).items():
        assert torch.equal(torch.as_tensor(value), torch.as_tensor(getattr(other, name))), name


def test_what_the_chapter_reads_is_in_the_merges_and_comes_from_a_kept_file(monkeypatch, tmp_path):
    run = chapter.ReadMerges((RUN, replace(RUN, network=0)))
    found = run.result()
    assert found.trained.equal(TEACHING[4].result().accuracies[-1]) and len(found.merges) == 2
    for read, merge_run in zip(found.merges, run.merges, strict=True):
        whole = merge_run.result()
        assert read.path.loss.equal(whole.path.loss) and read.path.outgoing.equal(whole.path.outgoing)
        assert read.path.gradient_norm.equal(whole.path.gradient_norm) and read.accuracy.equal(whole.accuracy)
        assert (read.pair, read.products) == (whole.pair, whole.products) and read.path.only(read.path.loss > 0)
        same(read.point, whole.point)
    assert run.digest != replace(run, merges=run.merges[:1]).digest and run.needs == tuple(m.path() for m in run.merges)
    monkeypatch.setattr("lmc_helpers.training.cached.recorded", lambda: tmp_path)
    assert run.path().parent != tmp_path
    (tmp_path / run.path().name).write_bytes(run.path().read_bytes())
    monkeypatch.setattr(chapter.MergeRun, "result", None)
    assert run.path().parent == tmp_path and run.result().merges[0].pair == found.merges[0].pair


def test_a_point_on_whole_images_starts_from_the_most_similar_pair_of_a_teacher_of_its_own():
    run = PARAMETERS.whole_points()[4]
    found, task, theta, labels = run.result(), *chapter.taught_task(run.teachers, 0, 0)[:3]
    assert task.net.sizes[0] > 30 and len(task.x) == 70  # all of the span
    W = torch.cat([task.net.split(theta)[1][0], task.net.split(theta)[1][1][:, None]], dim=1)
    cosines = torch.nn.functional.cosine_similarity(W[:, None], W[None], dim=-1).triu(1)
    pair = divmod(int(cosines.where(cosines != 0, -2).argmax()), 4)
    theta = PairChart(task.net, 2).bring_forward(theta, *pair)
    same(found, chapter.permutation_point(task, theta, labels, 80, chapter.WHOLE_TOLERANCE))
    assert run.teachers.seeds[0] not in TEACHING[4].seeds and run.teachers.data.n == 70
    changes = ({}, {"network": 1}, {"products": 81}, {"teachers": TEACHING[4]})
    assert len({replace(run, **change).digest for change in changes}) == len(changes)
    assert replace(PARAMETERS, whole=0).whole_points() == {}


def test_runs_are_those_of_the_chapter():
    points, kept = [*PARAMETERS.whole_points().values()], [*PARAMETERS.readings().values()]
    before = [*TEACHING.values(), *(point.teachers for point in points)]
    assert PARAMETERS.runs() == [*before, *kept, *points]  # merges that take no time are no jobs
    assert {type(point) for point in points} == {chapter.WholePoint}
    assert [run.neurons for run in kept[0].merges] == [3] * 3
    long = replace(PARAMETERS, products=10_000_000)
    found, (similar, random) = long.runs(), long.merges()
    assert found[4:10] == [*similar[3], *random[3], *similar[4], *random[4]]
    assert [run.network for run in similar[3]] == [0, 1] and all(run.seed is None for run in similar[3])
    assert [(run.network, run.seed) for run in random[4]] == [(0, 5)]
    assert replace(PARAMETERS, randoms=9).merges()[1][3][1].network == 1  # at most all of them
    assert len({run.digest for run in found}) == len(found)
    assert [run.model.sizes for run in TEACHING.values()] == [(64, 3, 3, 10), (64, 4, 4, 10)]
    assert len({seed for run in TEACHING.values() for seed in run.seeds}) == 4
    assert replace(PARAMETERS, images=60_000).teaching()[3].data.n is None
    assert replace(PARAMETERS, seed=6).teaching()[3].seeds != TEACHING[3].seeds
    assert set(replace(RUN, seed=3).result().pair) != set(RUN.result().pair)
    zeros = {"network": 0}, {"components": 0}, {"seed": 0}
    changes = ({"teachers": TEACHING[3]}, *zeros, {"distances": 5}, {"products": 61})
    assert len({replace(RUN, **change).digest for change in ({}, *changes)}) == len(changes) + 1


DISTANCES = torch.tensor([1.0, 0.9, 0.8], dtype=torch.float64)


@pytest.fixture(scope="module")
def merged():
    generator = torch.Generator().manual_seed(1)
    x, _, moments = chapter.principal(torch.randn(80, 3, generator=generator, dtype=torch.float64))
    net = MLP((3, 3, 4, 2), "tanh")
    theta, labels = net.initial(1, seed=1, scale=2.0)[0], torch.randint(2, (80,), generator=generator)
    task = chapter.Task(net, x, moments, net.forward(theta, x))
    return task, theta, labels, chapter.merge(task, theta, (3, 1), DISTANCES, labels, 2000, 1e-8)


def test_inputs_in_the_basis_of_their_span():
    x = load("digits", n=30, seed=1).inputs(torch.float64, flat=True)
    z, Q, moments = chapter.principal(x)
    U, S, _ = np.linalg.svd(x.numpy(), full_matrices=False)
    rank = int((S > 1e-6 * S[0]).sum())
    assert z.shape == (30, rank) and rank < 64
    np.testing.assert_allclose(moments, S[:rank] ** 2 / 30, rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(z @ Q.T, x)
    torch.testing.assert_close(Q.T @ Q, torch.eye(rank, dtype=torch.float64))
    few, basis, _ = chapter.principal(x, 4)
    best = (U[:, :4] * S[:4]) @ (U[:, :4].T @ x.numpy() / S[:4, None])
    np.testing.assert_allclose(few @ basis.T, best, atol=1e-9)


def test_in_these_coordinates_networks_and_norms_of_gradients_stay():
    x = load("digits", n=30, seed=1).inputs(torch.float64, flat=True)
    stack = mlp.MLP((64, 3, 3, 10), "tanh").initial([1, 2])
    z, Q, _ = chapter.principal(x)
    net = MLP((z.shape[1], 3, 3, 10), "tanh")
    theta = chapter.flat(net, stack, Q)
    for k in range(2):
        W = [stack.params[f"{i}.weight"][k].double().requires_grad_() for i in range(3)]
        b = [stack.params[f"{i}.bias"][k].double() for i in range(3)]
        out = torch.tanh(torch.tanh(x @ W[0].T + b[0]) @ W[1].T + b[1]) @ W[2].T + b[2]
        (of_pixels,) = torch.autograd.grad(out.square().sum(), W[0])
        t = theta[k].clone().requires_grad_()
        torch.testing.assert_close(net.forward(t, z), out, atol=1e-9, rtol=0)
        reduced = torch.autograd.grad(net.forward(t, z).square().sum(), t)[0][: 3 * z.shape[1]]
        torch.testing.assert_close(reduced.norm(), of_pixels.norm())


def test_the_end_is_a_minimum_at_its_distance(merged):
    task, _, _, found = merged
    first, second = (task.net.incoming(2, i).numpy() for i in (0, 1))
    at, y = found.path.theta[-1].numpy(), task.y.numpy()
    delta = np.linalg.norm(at[second] - at[first])
    assert (found.path.gradient_norm <= 1e-8).all() and found.products > 0

    def residuals(free):
        moved = at_distance(free, first, second, delta)
        return (outputs(moved, task.x, task.net) - y).ravel() / np.sqrt(len(y) * np.mean(y**2))

    start = at + 1e-3 * np.random.default_rng(0).normal(size=at.shape)
    best = least_squares(residuals, start, xtol=1e-15, ftol=1e-15, gtol=1e-14)
    assert 2 * best.cost == pytest.approx(found.path.loss[-1].item(), rel=1e-5)


@pytest.mark.parametrize("charted", [False, True])
def test_the_metric_is_the_gauss_newton_matrix(merged, charted):
    task, theta, _, _ = merged
    chart = PairChart(task.net, 2) if charted else None
    phi = chart.coordinates(theta) if charted else theta
    free = phi[:-1] if charted else phi

    def charted_outputs(free):
        at = chart.weights(torch.cat([free, phi[-1:]])) if charted else free
        return task.net.forward(at, task.x)

    J = jacobian(charted_outputs, free).flatten(0, 1)
    M = 2 * J.T @ J / (len(task.x) * task.y.square().mean())
    M.diagonal().add_(chapter.SHIFT * (M.diagonal() + chapter.FLOOR * M.diagonal().mean()))
    v = M @ torch.linspace(-1, 1, len(free), dtype=torch.float64)
    expected = torch.linspace(-1, 1, len(free), dtype=torch.float64)
    torch.testing.assert_close(task.metric(phi, chart).solve(v), expected, rtol=1e-6, atol=1e-6)


def test_the_permutation_point_is_a_minimum_of_the_smaller_network(merged):
    task, _, labels, found = merged
    theta = found.path.theta[-1]
    found_point = chapter.permutation_point(task, theta, labels, 3000, 1e-7)
    loss, share = found_point.loss, found_point.accuracy
    assert found_point.gradient_norm <= 1e-7 and 0 < found_point.products <= 3000
    assert loss > found.path.loss[-1]  # one neuron less

    def residuals(flat):
        return outputs(flat, task.x, MLP((3, 3, 3, 2), "tanh")) - task.y.numpy()

    (V, v), (W, w), (A, a) = ((M.numpy(), c.numpy()) for M, c in task.net.split(theta))
    W, w = np.vstack([W[:2].mean(axis=0), W[2:]]), np.append(w[:2].mean(), w[2:])
    A = np.hstack([A[:, :2].sum(axis=1, keepdims=True), A[:, 2:]])  # the two neurons as one
    start = np.concatenate([part.ravel() for part in (V, v, W, w, A, a)])
    best = least_squares(lambda flat: residuals(flat).ravel(), start, xtol=1e-15, ftol=1e-15, gtol=1e-12)
    assert loss == pytest.approx(2 * best.cost / (80 * task.scale), rel=1e-5)
    guessed = (residuals(best.x) + task.y.numpy()).argmax(axis=1)
    assert share == pytest.approx(np.mean(guessed == labels.numpy()))


def test_the_index_at_every_permutation_point_is_that_of_the_hessian(merged):
    task, _, labels, found = merged
    point = chapter.permutation_point(task, found.path.theta[-1], labels, 5000, 1e-9)
    small, start = reduce_pair(task.net, found.path.theta[-1], 2)
    end, norm, _ = chapter.Task(small, task.x, task.moments, task.y).minimise(start, 5000, 1e-9)
    assert norm <= 1e-9 and point.index.shape == point.rank.shape == (3,)
    for neuron in range(3):  # the doubled network's own Hessian
        net, theta = embed(small, end, 2, neuron)
        larger = chapter.Task(net, task.x, task.moments, task.y)
        values = torch.linalg.eigvalsh(hessian(larger.loss, theta))
        assert int((values < -1e-7 * values[-1]).sum()) == point.index[neuron]
        assert int((values.abs() <= 1e-7 * values[-1]).sum()) == 2 - point.rank[neuron]
    assert point.singular_values.shape == (3, 2)


def test_random_pairs_are_all_others():
    drawn = {chapter.random_pair(4, (2, 0), 1, f"draw {k}") for k in range(60)}
    assert drawn == {(0, 1), (0, 3), (1, 2), (1, 3), (2, 3)}


@pytest.mark.parametrize("K", [4, 5, 8, 24, 100])
def test_two_thirds_of_the_distances_are_in_the_first_decade(K):
    found = chapter.merge_distances(K).numpy()
    assert len(found) == K and found[0] == 1 and found[-1] == pytest.approx(1e-4)
    assert (np.diff(found) < 0).all() and (found > 0.1 + 1e-12).sum() == 2 * K // 3
    early, late = np.log10(found[: 2 * K // 3 + 1]), np.log10(found[2 * K // 3 :])
    np.testing.assert_allclose(np.diff(early), np.diff(early)[0])
    np.testing.assert_allclose(np.diff(late), np.diff(late)[0])


def test_exponent_is_that_of_a_power_law():
    scatter = np.array([0.8, 1.0, 1.2])
    found = {H: (5 * H**-0.7 * scatter).tolist() for H in (2, 4, 16)} | {64: [1.0]}  # one value says nothing
    slope, error, n = chapter.exponent(found)
    assert (slope, n) == (pytest.approx(-0.7, abs=1e-12), 9)
    for few in ({}, {3: [1.0, 2.0]}, {3: [1.0, 2.0], 5: [1.0]}):
        assert chapter.exponent(few) == (0.0, 1.0, 0)
    # relative deviation 0.2 of a value, of a mean of three over √3; least squares in ln H; 6 degrees of freedom
    x = np.log([2, 4, 16])
    plain = 0.2 / np.sqrt(3) / np.sqrt(((x - x.mean()) ** 2).sum())
    assert error == pytest.approx(plain * student.ppf(0.9995, 6) / normal.ppf(0.9995), rel=1e-6)


def test_exponent_covers_the_truth():
    """Few values a width, spread in proportion: the interval at two-sided 10⁻³ misses about one time in a thousand."""
    draws, misses = np.random.default_rng(1), 0
    for _ in range(2000):
        found = {H: (H**-1.0 * np.exp(0.3 * draws.normal(size=3))).tolist() for H in (4, 5, 6, 8)}
        slope, error, _ = chapter.exponent(found)
        misses += abs(slope + 1) > 3.2905 * error
    assert misses <= 12


def plain_of_products(sizes, x, y, weight):
    """The loss with torch's own layers in the order of the flat parameters."""

    def loss(theta):
        out, at = x, 0
        for k, (before, after) in enumerate(pairwise(sizes)):
            W, b = theta[at : at + before * after].view(after, before), theta[at + before * after :][:after]
            at += after * (before + 1)
            out = torch.nn.functional.linear(out, W, b)
            out = out if k == len(sizes) - 2 else out.tanh()
        return weight * ((out - y) ** 2).sum()

    return loss


def problem(sizes, T, seed=0):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=generator)  # noqa: E731
    return MLP(sizes, "tanh").initial(1, seed=1)[0], draw(T, sizes[0]), draw(T, sizes[-1]), draw


@pytest.mark.parametrize(("sizes", "T"), [((2, 3, 2), 7), ((3, 4, 2, 2), 11), ((1, 1, 1), 1), ((2, 3, 1, 2, 1), 5)])
def test_value_gradient_and_products_are_those_of_autograd(sizes, T):
    theta, x, y, draw = problem(sizes, T)
    loss = plain_of_products(sizes, x, y, 0.3)
    at = chapter.local_squared_loss(MLP(sizes, "tanh"), theta, x, y, 0.3)
    torch.testing.assert_close(at.value, loss(theta))
    torch.testing.assert_close(at.gradient, jacobian(loss, theta))
    H = hessian(loss, theta)
    for _ in range(3):
        v = draw(len(theta))
        torch.testing.assert_close(at.product(v), H @ v)


def test_coordinates_of_a_pair_at_fixed_distance():
    sizes = (3, 4, 3, 2)
    theta, x, y, draw = problem(sizes, 9)
    chart = PairChart(MLP(sizes, "tanh"), 2)
    phi = chart.coordinates(theta)
    phi[chart.net.incoming(2, 1)] *= 1.7  # a direction of another length

    def weights(free):
        return chart.weights(torch.cat([free, phi[-1:]]))

    at = chapter.in_coordinates(weights, phi[:-1], lambda t: chapter.local_squared_loss(chart.net, t, x, y, 0.3))
    loss = plain_of_products(sizes, x, y, 0.3)
    torch.testing.assert_close(at.gradient, jacobian(lambda free: loss(weights(free)), phi[:-1]))
    H, v = hessian(lambda free: loss(weights(free)), phi[:-1]), draw(len(theta))
    for _ in range(2):
        torch.testing.assert_close(at.product(v), H @ v)


def near(loss):
    """A loss of a few parameters as a Local, by autograd."""

    def local(theta):
        H = hessian(loss, theta)
        return chapter.Local(loss(theta), jacobian(loss, theta), lambda v: H @ v)

    return local


def test_minima_are_found_from_indefinite_starts_within_the_budget():
    form = f64(1, 10, 1e4)
    bowl = near(lambda t: t @ (form * t) / 2 - t.sum())
    end, norm, used = chapter.truncated_newton(bowl, torch.ones(3).double(), 90, 1e-9)
    torch.testing.assert_close(end, 1 / form)
    assert norm <= 1e-9 and used < 90
    wells = near(lambda t: (t[0] ** 2 - 1) ** 2 + t[1] ** 2)
    end, _, _ = chapter.truncated_newton(wells, f64(0.1, 1.0), 100, 1e-10)
    torch.testing.assert_close(end, f64(1, 0), atol=1e-8, rtol=0)
    rosenbrock = near(lambda t: (1 - t[0]) ** 2 + 100 * (t[1] - t[0] ** 2) ** 2)
    end, _, _ = chapter.truncated_newton(rosenbrock, f64(-1.2, 1.0), 200, 1e-10)
    torch.testing.assert_close(end, f64(1, 1))
    assert chapter.truncated_newton(rosenbrock, f64(-1.2, 1.0), 7, 1e-10)[2] <= 7
    assert chapter.truncated_newton(near(lambda t: t.square().sum()), f64(3, 4), 0, 1e-9)[1:] == (10, 0)
    form = torch.logspace(0, 6, 30, dtype=torch.float64)
    local = near(lambda t: t @ (form * t) / 2)
    start = torch.ones(30).double()
    _, norm, used = chapter.truncated_newton(local, start, 200, 1e-6, lambda at: lambda v: v / form)
    assert norm <= 1e-6 and used <= 3
    assert chapter.truncated_newton(local, start, 3, 1e-6)[1] > 1e-6


def test_the_metric_is_the_matrix_that_it_says():
    generator = torch.Generator().manual_seed(3)
    T, outputs, H, n, q, k, scale = 40, 3, 2, 4, 5, 1, 0.7
    b = torch.randn(T, outputs, H, dtype=torch.float64, generator=generator)
    rest = torch.randn(T, outputs, q, dtype=torch.float64, generator=generator)
    x = torch.randn(T, n, dtype=torch.float64, generator=generator)
    moments = x.square().mean(dim=0)
    p = H * n + H + q
    M = np.zeros((p, p))
    kept = [i * n + c for i in range(H) for c in range(n) if c < k] + list(range(H * n, p))
    for t in range(T):
        for o in range(outputs):
            row = np.concatenate([np.outer(b[t, o], x[t]).ravel(), b[t, o], rest[t, o]])
            M[np.ix_(kept, kept)] += 2 * np.outer(row[kept], row[kept]) / (T * scale)
            for i in range(H):
                for j in range(H):
                    for c in range(k, n):
                        M[i * n + c, j * n + c] += 2 * float(b[t, o, i] * b[t, o, j] * moments[c]) / (T * scale)
    metric = chapter.Metric.of(b, rest, x, moments, k, scale)
    v = torch.randn(p, dtype=torch.float64, generator=generator)
    found = metric.solve(v).numpy()
    assert np.linalg.norm(M @ found - v.numpy()) < 0.02 * np.linalg.norm(v)  # but for the shift of the diagonal
    whole = chapter.Metric.of(b, rest, x, moments, n, scale)
    assert whole.tail.numel() == 0 and whole.solve(v).shape == (p,)
