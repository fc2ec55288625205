"""Students in the plane against the ensemble on all coordinates, a plain loop of torch, and autograd."""

import pytest
import torch

import lmc_helpers.experiments.coherence_students as coherence_students
from lmc_helpers.data.coherence_inputs import exact_copy, latents, random_frame, sample_frame, target
from lmc_helpers.experiments.coherence_students import F5, Students, line_losses, raw_weights, train_students
from lmc_helpers.networks.lines import along_lines
from lmc_helpers.networks.stacked_mlp import Architecture, Networks
from lmc_helpers.training.ensemble import Recipe, epoch_order, train

DOUBLE = torch.float64


def masks(G, m, d, p=0.3, seed=0):
    return (torch.rand(G, m, d, generator=torch.Generator().manual_seed(seed)) < p).double()


def plain_loop(U, D, z, seed, recipe):
    """One student with nn.Parameter, torch.optim.AdamW and autograd on all d coordinates."""
    W = torch.nn.Parameter(raw_weights([seed], *D.shape)[0])
    b = torch.nn.Parameter(torch.zeros(len(D), dtype=DOUBLE))
    groups = [{"params": [W]}, {"params": [b], "weight_decay": recipe.weight_decay if recipe.decay == "all" else 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=recipe.rate, weight_decay=recipe.weight_decay, foreach=False)
    x, y = z @ U.T, target(z)
    for epoch in range(recipe.epochs):
        for batch in epoch_order([seed], len(z), epoch)[0].split(recipe.batch):
            optimiser.zero_grad()
            f = torch.nn.functional.linear(x[batch], D * W, b).relu().sum(dim=1)
            torch.nn.functional.mse_loss(f, y[batch]).backward()
            optimiser.step()
    return W.detach(), b.detach()


@pytest.mark.parametrize("decay", ["all", "weights"])
@pytest.mark.parametrize("chunk", [1, 2**18])
def test_students_are_those_of_a_plain_loop(decay, chunk, monkeypatch):
    monkeypatch.setattr(coherence_students, "CHUNK", chunk)
    recipe = Recipe(epochs=5, batch=16, rate=0.01, weight_decay=0.4, decay=decay)
    z = latents(37, seed=1)  # the last batch is a smaller one
    U = torch.stack([exact_copy(2, 6), random_frame(3, sample_frame(5, 6)), exact_copy(1, 6)])
    D = masks(3, 9, 6)
    D[1] *= 0.5  # factors that are no masks
    seeds = [[1, 2, 3], [3, 4, 1], [5, 6, 7]]
    found = train_students(U, D, z, seeds, recipe, DOUBLE)
    for g in range(3):
        for i, seed in enumerate(seeds[g]):
            W, b = plain_loop(U[g], D[g], z, seed, recipe)
            torch.testing.assert_close(found.W[g, i], W, rtol=1e-9, atol=1e-11)
            torch.testing.assert_close(found.b[g, i], b, rtol=1e-9, atol=1e-11)
            torch.testing.assert_close(found.A[g, i], (D[g] * W) @ U[g], rtol=1e-9, atol=1e-11)


def test_a_given_start_is_that_of_other_seeds():
    """Against a plain loop with the order of the examples from one seed and the weights from another."""
    recipe, z, U, D = Recipe(epochs=3, batch=16, rate=0.01), latents(37, seed=1), exact_copy(2, 6)[None], masks(1, 5, 6)
    start = raw_weights([2, 3], 5, 6)[None]
    found = train_students(U, D, z, [[1, 3]], recipe, DOUBLE, start)
    own = train_students(U, D, z, [[2, 3]], recipe, DOUBLE)
    torch.testing.assert_close(found.W[0, 1], own.W[0, 1], rtol=1e-9, atol=1e-11)
    W = torch.nn.Parameter(start[0, 0].clone())
    b = torch.nn.Parameter(torch.zeros(5, dtype=DOUBLE))
    optimiser = torch.optim.AdamW([W, b], lr=recipe.rate, weight_decay=recipe.weight_decay)
    for epoch in range(recipe.epochs):
        for batch in epoch_order([1], len(z), epoch)[0].split(recipe.batch):
            optimiser.zero_grad()
            f = torch.nn.functional.linear((z @ U[0].T)[batch], D[0] * W, b).relu().sum(dim=1)
            torch.nn.functional.mse_loss(f, target(z)[batch]).backward()
            optimiser.step()
    torch.testing.assert_close(found.W[0, 0], W.detach(), rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(found.b[0, 0], b.detach(), rtol=1e-9, atol=1e-11)
    with pytest.raises(ValueError, match="start has shape"):
        train_students(U, D, z, [[1]], recipe, DOUBLE, start)


def test_students_are_those_of_the_ensemble():
    z, U, D = latents(30, seed=1), exact_copy(3), masks(1, 12, 20)
    net = Architecture((20, 12, 1), output="ones", loss="mse")
    recipe = Recipe(epochs=6, batch=15, rate=0.01)
    initial = {"0.weight": raw_weights([1, 2], 12, 20), "0.bias": torch.zeros(2, 12, dtype=DOUBLE)}
    fixed = {0: (torch.zeros(1, 12, 20, dtype=DOUBLE), D)}
    x, y = z @ U.T, target(z)[:, None]
    done = train(Networks(net, initial, {}, fixed), recipe, x, y, [1, 2]).networks
    found = train_students(U[None], D, z, [[1, 2]], recipe, DOUBLE)
    torch.testing.assert_close(found.W[0], done.params["0.weight"], rtol=1e-8, atol=1e-10)
    assert found.b[0].sub(done.params["0.bias"]).abs().max() < 1e-9
    first, second = (done.ordinary([i]) for i in (0, 1))
    expected = along_lines(first, second, x, y, [0, 0.3, 0.5, 1]).loss
    losses = line_losses(found, torch.tensor([[0, 1]]), z, [0, 0.3, 0.5, 1], DOUBLE)
    torch.testing.assert_close(losses[0], expected)


def test_single_precision_follows_double():
    z, U, D = latents(256, seed=1), exact_copy(4)[None], masks(1, 32, 20)
    recipe = Recipe(epochs=10, batch=128, rate=0.01)
    single, double = (train_students(U, D, z, [[1, 2]], recipe, dtype) for dtype in (torch.float32, DOUBLE))
    assert single.W.dtype == DOUBLE
    torch.testing.assert_close(single.W, double.W, rtol=0, atol=2e-4)


def test_blind_neurons_are_dead_and_unseen_entries_only_decay():
    z, U = latents(64, seed=1), exact_copy(2)[None]
    D = masks(1, 10, 20, p=0.5)
    D[:, :4, :4] = 0  # four neurons that see nothing
    recipe = Recipe(epochs=3, batch=32, rate=0.01, weight_decay=0.5)
    found = train_students(U, D, z, [[1]], recipe, DOUBLE)
    assert (found.b[0, 0, :4] == 0).all() and (found.A[0, 0, :4] == 0).all() and (found.b[0, 0, 4:] != 0).any()
    unseen = (D[0] == 0) | (U[0] == 0).all(dim=1)
    torch.testing.assert_close(found.W[0, 0][unseen], raw_weights([1], 10, 20)[0][unseen] * 0.995**6)


def test_nothing_to_see_and_nothing_to_do():
    z, U = latents(8, seed=1), exact_copy(1)[None]
    found = train_students(U, torch.zeros(1, 3, 20), z, [[1, 2]], Recipe(epochs=2, batch=8))
    assert (found.A == 0).all() and (found.b == 0).all()
    losses = line_losses(found, torch.tensor([[0, 1]]), z, [0.5])
    assert losses.item() == pytest.approx(target(z).square().mean().item(), rel=1e-6)
    start = train_students(U, torch.ones(1, 3, 20), z, [[1, 2]], Recipe(epochs=0, batch=8))
    assert start.W[0].equal(raw_weights([1, 2], 3, 20))


def test_one_neuron_one_latent():
    z, U = latents(40, seed=1), exact_copy(1, 2)[None]
    D = torch.tensor([[[1.0, 0.0]]])
    found = train_students(U, D, z, [[1]], Recipe(epochs=4, batch=40, rate=0.01), DOUBLE)
    W, b = plain_loop(U[0], D[0].double(), z, 1, Recipe(epochs=4, batch=40, rate=0.01))
    torch.testing.assert_close(found.W[0, 0], W, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(found.b[0, 0], b, rtol=1e-9, atol=1e-12)


def test_raw_weights_have_the_paper_s_law():
    W = raw_weights([1], 128, 20)
    assert W.std().item() == pytest.approx(0.05, rel=0.05) and abs(W.mean().item()) < 4.5 * 0.05 / 2560**0.5
    assert (F5.epochs, F5.batch, F5.rate, F5.weight_decay, F5.decay) == (100, 512, 1e-2, 1e-2, "all")


def test_copies_train_like_one_weight_with_a_larger_step():
    """Exact copies: A obeys Adam with gradient ∂L/∂A/√k and step rate · n/√k, written here with autograd on A alone."""
    k, m, rate, decay = 3, 11, 0.01, 0.2
    z, U, D = latents(40, seed=1), exact_copy(k, 6), masks(1, m, 6, p=0.6)
    found = train_students(U[None], D, z, [[4]], Recipe(epochs=7, batch=40, rate=rate, weight_decay=decay), DOUBLE)
    n = torch.stack([D[0, :, 0::2].sum(dim=1), D[0, :, 1::2].sum(dim=1)], dim=1)  # copies seen (m, 2)
    A, b = (D[0] * raw_weights([4], m, 6)[0]) @ U, torch.zeros(m, dtype=DOUBLE)
    states = [
        [v, torch.zeros_like(v), torch.zeros_like(v), scale, step] for v, scale, step in ((A, k**-0.5, n), (b, 1, 1))
    ]
    for t in range(1, 8):
        values = [state[0].detach().requires_grad_() for state in states]
        ((z @ values[0].T + values[1]).relu().sum(dim=1) - target(z)).square().mean().backward()
        for state, value in zip(states, values, strict=True):
            g = value.grad * state[3]
            state[1] = 0.9 * state[1] + 0.1 * g
            state[2] = 0.999 * state[2] + 0.001 * g**2
            direction = state[1] / (1 - 0.9**t) / ((state[2] / (1 - 0.999**t)).sqrt() + 1e-8)
            state[0] = (1 - rate * decay) * value.detach() - rate * state[4] * state[3] * direction
    torch.testing.assert_close(found.A[0, 0], states[0][0], rtol=1e-8, atol=1e-10)
    torch.testing.assert_close(found.b[0, 0], states[1][0], rtol=1e-8, atol=1e-10)


def test_lines_are_the_loss_of_the_mean_network():
    """λ = 1 is the first student of a pair; the middle network is written out on all d coordinates."""
    z, U = latents(101, seed=1), exact_copy(3, 7)
    generator = torch.Generator().manual_seed(0)
    D = masks(2, 5, 7, p=0.5)
    W = torch.randn(2, 3, 5, 7, generator=generator, dtype=DOUBLE)
    b = torch.randn(2, 3, 5, generator=generator, dtype=DOUBLE)
    students = Students(W, b, (D[:, None] * W) @ U)
    losses = line_losses(students, torch.tensor([[0, 2], [1, 1]]), z, [1.0, 0.8, 0.0], DOUBLE)
    assert losses.shape == (2, 2, 3)
    for g in range(2):
        for p, (i, j) in enumerate(((0, 2), (1, 1))):
            for q, lam in enumerate((1.0, 0.8, 0.0)):
                between, bias = (lam * values[g, i] + (1 - lam) * values[g, j] for values in (W, b))
                f = (z @ U.T @ (D[g] * between).T + bias).relu().sum(dim=1)
                assert losses[g, p, q].item() == pytest.approx((f - target(z)).square().mean().item(), rel=1e-12)


U, D, Z = exact_copy(2)[None], masks(1, 4, 20), latents(8, seed=1)
SHORT = Recipe(epochs=1, batch=8)
STUDENTS = Students(torch.zeros(1, 2, 4, 2), torch.zeros(1, 2, 4), torch.zeros(1, 2, 4, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train_students(2 * U, D, Z, [[1]], SHORT), "not orthonormal: UᵀU differs from I by 3"),
        (lambda: train_students(U, D[..., :5], Z, [[1]], SHORT), r"D \(1, 4, 5\)"),
        (lambda: train_students(U, D, Z, [[1], [2]], SHORT), "2 groups of seeds"),
        (lambda: train_students(U, D, Z[:, :1], [[1]], SHORT), r"latents \(8, 1\)"),
        (lambda: train_students(U.expand(2, -1, -1), D.expand(2, -1, -1), Z, [[1], [2, 3]], SHORT), "groups of"),
        (lambda: train_students(U, D, 1e30 * Z, [[1, 7]], SHORT), r"group 0, network 0 \(seed 1\), group 0, network 1"),
        (lambda: line_losses(STUDENTS, torch.tensor([[0, 1]]), Z, [2]), r"lambda = 2\.0; allowed"),
        (lambda: line_losses(STUDENTS, torch.tensor([[0, 1]]), Z, []), "one or more numbers"),
        (lambda: line_losses(STUDENTS, torch.tensor([[0, 2]]), Z, [0]), r"pairs = \[\[0, 2\]\]; allowed"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
