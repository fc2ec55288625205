"""What chapter *coherence* computes, against independent oracles."""

import itertools
import math

import pytest
import torch
from scipy.integrate import quad

from lmc_helpers._chapters import coherence as chapter
from lmc_helpers.identifiability import leverages
from lmc_helpers.seeds import normal
from lmc_helpers.training.examples import epoch_order
from lmc_helpers.training.recipes import Descent


def latents(n, seed):
    """n standard normal pairs (a, b)."""
    return normal((n, 2), seed, "latents")


def families(d):
    frame = chapter.sample_frame(3, d)
    return [lambda k: chapter.exact_copy(k, d), lambda k: chapter.random_frame(k, frame)]


@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("family", [0, 1])
def test_columns_are_orthonormal_and_the_coherence_is_one_over_k(d, family):
    for k in range(1, d // 2 + 1):
        U = families(d)[family](k)
        assert U.shape == (d, 2)
        torch.testing.assert_close(U.T @ U, torch.eye(2, dtype=torch.float64), rtol=0, atol=1e-14)
        projection = U @ torch.linalg.inv(U.T @ U) @ U.T  # does not depend on the basis
        torch.testing.assert_close(leverages(U), projection.diagonal())
        assert leverages(U).max().item() == pytest.approx(1 / k, abs=1e-14)
        assert int((leverages(U) > 0).sum()) == 2 * k


def test_exact_copies_and_random_frames_entry_by_entry():
    U = chapter.exact_copy(3, 8)
    for row in range(1, 9):  # counted from 1, as the paper does
        for column in (1, 2):
            copied = row <= 6 and row % 2 == column % 2
            assert U[row - 1, column - 1].item() == (1 / math.sqrt(3) if copied else 0)
    frame = chapter.Frame(torch.tensor([4, 0, 3, 1, 2]), torch.tensor([0.3, 2.0], dtype=torch.float64))
    U = chapter.random_frame(2, frame)
    for r, angle in enumerate((0.3, 2.0)):
        rows = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
        for place, expected in zip((2 * r, 2 * r + 1), rows, strict=True):
            found = U[frame.permutation[place]].tolist()
            assert found == pytest.approx([value / math.sqrt(2) for value in expected])
    assert U[2].tolist() == [0, 0]


@pytest.mark.parametrize(("k", "nu"), [(2, 0.5), (2, 0.9), (5, 0.2), (5, 0.7), (5, 1.0)])
def test_unequal_copies(k, nu):
    U = chapter.unequal_copy(k, nu, 11)
    torch.testing.assert_close(U.T @ U, torch.eye(2, dtype=torch.float64), rtol=0, atol=1e-14)
    assert leverages(U).max().item() == pytest.approx(nu, abs=1e-14)
    same = chapter.exact_copy(k, 11) if nu < 1 else chapter.exact_copy(1, 11)
    assert ((U != 0) == (same != 0)).all()
    torch.testing.assert_close(chapter.unequal_copy(k, 1 / k, 11), chapter.exact_copy(k, 11))


def test_the_draw_is_reused_for_all_k():
    frame = chapter.sample_frame(9)
    for k in range(1, 10):
        small, large = (chapter.random_frame(n, frame) * math.sqrt(n) for n in (k, k + 1))
        used = frame.permutation[: 2 * k]
        torch.testing.assert_close(small[used], large[used])
    assert not chapter.sample_frame(10).permutation.equal(frame.permutation)
    assert ((frame.angles >= 0) & (frame.angles < math.pi)).all()


def adamw(weight_decay=0.01, **options):
    return Descent(optimiser="adamw", weight_decay=weight_decay, **options)


RECIPE = adamw(epochs=2, batch=512, rate=0.01)
DOUBLE = torch.float64


def masks(G, m, d, seed=0, p=0.4):
    return (torch.rand(G, m, d, generator=torch.Generator().manual_seed(seed)) < p).double()


def test_points_are_those_of_students_trained_one_at_a_time():
    G, m, d, pairs, seed = 2, 6, 8, 2, 5
    frames = torch.stack([chapter.random_frame(2, chapter.sample_frame(g, d)) for g in range(G)])
    cells = [(chapter.exact_copy(3, d), masks(G, m, d)), (frames, masks(G, m, d, seed=1))]
    lambdas = [1.0, 0.75, 0.5, 0.0]
    points = chapter.measure_points(cells, pairs, seed, lambdas, RECIPE, DOUBLE)
    z, unseen = chapter.data_sets(G, seed)  # a mask has its own
    assert z.shape == (G, 1024, 2) and unseen.shape == (G, 2048, 2) and not z[0].equal(z[1])
    seeds = chapter.student_seeds(G, pairs, seed)
    assert len({s for group in seeds for s in group}) == 2 * G * pairs
    assert seeds != chapter.student_seeds(G, pairs, seed + 1)
    for point, (U, D) in zip(points, cells, strict=True):
        assert point.test.shape == (G, pairs, 4) and point.train.shape == (G, pairs, 3)
        seen = 0
        for g in range(G):
            u = U if U.ndim == 2 else U[g]
            seen += sum(int(torch.linalg.matrix_rank(row[:, None] * u) == 2) for row in D[g])
            for i in range(pairs):
                pair, given = seeds[g][2 * i : 2 * i + 2], (u[None], D[g][None], z[g])
                ends = [chapter.train_students(*given, [[s]], RECIPE, DOUBLE) for s in pair]
                both = (unseen[g], lambdas, point.test), (z[g], chapter.ENDS_AND_MIDDLE, point.train)
                for data, places, found in both:
                    for lam, loss in zip(places, found[g, i].tolist(), strict=True):
                        W = lam * ends[0].W[0, 0] + (1 - lam) * ends[1].W[0, 0]
                        b = lam * ends[0].b[0, 0] + (1 - lam) * ends[1].b[0, 0]
                        f = (data @ u.T @ (D[g] * W).T + b).relu().sum(dim=1)
                        assert loss == pytest.approx((f - chapter.target(data)).square().mean().item(), rel=1e-5)
        assert point.both == pytest.approx(seen / G)


def plain_loop(U, D, z, seed, recipe, start=None):
    """One student with nn.Parameter, torch.optim.AdamW and autograd on all d coordinates."""
    W = torch.nn.Parameter((chapter.raw_weights([seed], *D.shape)[0] if start is None else start).clone())
    b = torch.nn.Parameter(torch.zeros(len(D), dtype=DOUBLE))
    groups = [{"params": [W]}, {"params": [b], "weight_decay": recipe.weight_decay if recipe.decay == "all" else 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=recipe.rate, weight_decay=recipe.weight_decay, foreach=False)
    x, y = z @ U.T, chapter.target(z)
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
    monkeypatch.setattr(chapter, "CHUNK", chunk)
    recipe = adamw(epochs=5, batch=16, rate=0.01, weight_decay=0.4, decay=decay)
    z = latents(37, seed=1)  # the last batch is a smaller one
    frame = chapter.random_frame(3, chapter.sample_frame(5, 6))
    U = torch.stack([chapter.exact_copy(2, 6), frame, chapter.exact_copy(1, 6)])
    D = masks(3, 9, 6, p=0.3)
    D[1] *= 0.5  # factors that are no masks
    seeds = [[1, 2, 3], [3, 4, 1], [5, 6, 7]]
    found = chapter.train_students(U, D, z, seeds, recipe, DOUBLE)
    for g in range(3):
        for i, seed in enumerate(seeds[g]):
            W, b = plain_loop(U[g], D[g], z, seed, recipe)
            torch.testing.assert_close(found.W[g, i], W, rtol=1e-9, atol=1e-11)
            torch.testing.assert_close(found.b[g, i], b, rtol=1e-9, atol=1e-11)
            torch.testing.assert_close(found.A[g, i], (D[g] * W) @ U[g], rtol=1e-9, atol=1e-11)


def test_a_given_start_is_that_of_other_seeds():
    """The order of the examples is that of one seed, the weights are those of another."""
    recipe, z = adamw(epochs=3, batch=16, rate=0.01), latents(37, seed=1)
    U, D, start = chapter.exact_copy(2, 6)[None], masks(1, 5, 6, p=0.3), chapter.raw_weights([2, 3], 5, 6)[None]
    found = chapter.train_students(U, D, z, [[1, 3]], recipe, DOUBLE, start)
    for i, seed in enumerate((1, 3)):
        W, b = plain_loop(U[0], D[0], z, seed, recipe, start[0, i])
        torch.testing.assert_close(found.W[0, i], W, rtol=1e-9, atol=1e-11)
        torch.testing.assert_close(found.b[0, i], b, rtol=1e-9, atol=1e-11)


def test_blind_neurons_are_dead_and_unseen_entries_only_decay():
    z, U = latents(64, seed=1), chapter.exact_copy(2)[None]
    D = masks(1, 10, 20, p=0.5)
    D[:, :4, :4] = 0  # four neurons that see nothing
    recipe = adamw(epochs=3, batch=32, rate=0.01, weight_decay=0.5)
    found = chapter.train_students(U, D, z, [[1]], recipe, DOUBLE)
    assert (found.b[0, 0, :4] == 0).all() and (found.A[0, 0, :4] == 0).all() and (found.b[0, 0, 4:] != 0).any()
    unseen = (D[0] == 0) | (U[0] == 0).all(dim=1)
    torch.testing.assert_close(found.W[0, 0][unseen], chapter.raw_weights([1], 10, 20)[0][unseen] * 0.995**6)


def test_weights_masks_and_the_target_have_their_laws():
    W = chapter.raw_weights([1], 128, 20)
    assert W.std().item() == pytest.approx(0.05, rel=0.05) and abs(W.mean().item()) < 4.5 * 0.05 / 2560**0.5
    masks = [chapter.bernoulli_masks(10, 128, 20, p, seed=3) for p in (0.15, 0.5)]
    assert masks[0].mean().item() == pytest.approx(0.15, abs=4.5 * (0.15 * 0.85 / 25_600) ** 0.5)
    assert (masks[1] >= masks[0]).all() and set(masks[0].unique().tolist()) == {0.0, 1.0}
    assert chapter.bernoulli_masks(10, 128, 20, 0.15, seed=3).equal(masks[0])
    z = latents(200_000, seed=4)
    assert chapter.target(z).square().mean().item() == pytest.approx(1, abs=4.5 * math.sqrt(5 / 200_000))
    assert chapter.target(z).mean().item() == pytest.approx(1 / math.sqrt(math.pi), abs=0.01)


def test_counts_of_random_masks():
    U = chapter.exact_copy(3, 8)
    D = (torch.rand(2, 5, 8, generator=torch.Generator().manual_seed(1)) < 0.5).double()
    found = chapter.copies_seen(U, D)
    for g in range(2):
        for i in range(5):
            a, b = (sum(int(D[g, i, j]) for j in places) for places in ((0, 2, 4), (1, 3, 5)))
            assert found[g, i].tolist() == [a, b]
    counts = [(0, 4), (1, 3), (4, 4), (2, 2)]
    D = chapter.masks_with_counts(counts, G=200, k=4, d=10, seed=3)
    assert (chapter.copies_seen(chapter.exact_copy(4, 10), D) == torch.tensor(counts)).all()
    assert not D[..., 8:].any() and ((D == 0) | (D == 1)).all()
    often = D[:, 3, :8].mean(dim=0)  # every place half of the time
    assert ((often - 0.5).abs() < 0.15).all()
    assert D.equal(chapter.masks_with_counts(counts, G=200, k=4, d=10, seed=3))


def test_matching_is_the_best_within_the_classes():
    generator = torch.Generator().manual_seed(4)
    A = torch.randn(2, 4, 6, 2, dtype=DOUBLE, generator=generator)
    b = torch.randn(2, 4, 6, dtype=DOUBLE, generator=generator)
    copies = torch.tensor([[[1, 2]] * 4 + [[2, 1]] * 2, [[1, 1]] * 3 + [[3, 3]] + [[1, 0]] * 2])
    found = chapter.align_in_classes(chapter.Students(A, b, A), copies)
    full = torch.cat([A, b[..., None]], dim=-1)
    for g in range(2):
        allowed = [p for p in itertools.permutations(range(6)) if copies[g].equal(copies[g, list(p)])]
        for i in (0, 2):
            best = min(((full[g, i] - full[g, i + 1, list(p)]).square().sum().item(), p) for p in allowed)[1]
            assert found.A[g, i].equal(A[g, i]) and found.b[g, i].equal(b[g, i])
            assert found.A[g, i + 1].equal(A[g, i + 1, list(best)]) and found.b[g, i + 1].equal(b[g, i + 1, list(best)])


def students(G, r, m, seed=0):
    generator = torch.Generator().manual_seed(seed)
    A = torch.randn(G, r, m, 2, dtype=DOUBLE, generator=generator)
    return chapter.Students(A.clone(), torch.randn(G, r, m, dtype=DOUBLE, generator=generator), A)


def outputs(A, b, z):
    """One neuron after another."""
    return sum(torch.clamp(z[:, 0] * a[0] + z[:, 1] * a[1] + c, min=0) for a, c in zip(A, b, strict=True))


def test_the_middle_lacks_the_sum_of_all_terms():
    some, z = students(2, 4, 5), torch.randn(300, 2, dtype=DOUBLE, generator=torch.Generator().manual_seed(9))
    found = chapter.middle_lacks(some, z)
    assert found.shape == (2, 2, 5) and (found >= 0).all()
    for g in range(2):
        for pair in range(2):
            A, b = some.A[g, 2 * pair : 2 * pair + 2], some.b[g, 2 * pair : 2 * pair + 2]
            ends = (outputs(A[0], b[0], z) + outputs(A[1], b[1], z)) / 2
            lacking = ends - outputs(A.mean(dim=0), b.mean(dim=0), z)
            assert found[g, pair].sum().item() == pytest.approx(lacking.mean().item())


def test_unused_neurons_do_not_change_a_student():
    some, z = students(1, 2, 6, seed=3), torch.rand(200, 2, dtype=DOUBLE)
    some.b[0, :, :3] = -50
    on = chapter.are_on(some, z)
    assert not on[..., :3].any()
    on[..., 3:] = True
    rest = chapter.switch_off(some, on)
    assert not rest.W[0, :, :3].any() and rest.W[..., 3:, :].equal(some.W[..., 3:, :])
    for i in range(2):
        before, after = (outputs(x.A[0, i], x.b[0, i], z) for x in (some, rest))
        assert before.equal(after)
    assert not chapter.middle_lacks(rest, z)[..., :3].any()


def test_on_means_positive_on_more_than_a_quarter():
    A = torch.tensor([[[[1.0, 0.0]]]], dtype=DOUBLE)
    z = torch.tensor([[1.0, 0], [-1, 0], [-1, 0], [-1, 0]], dtype=DOUBLE)
    some = chapter.Students(A, torch.zeros(1, 1, 1, dtype=DOUBLE), A)
    assert not chapter.are_on(some, z).any() and chapter.are_on(some, z[:3]).all()


@pytest.mark.parametrize(("N", "on", "beta"), [(20, 0.5, 0.02), (20, 0.2, 0.3), (50, 0.8, 1.0)])
def test_two_states_by_their_neurons(N, on, beta):
    """Neurons in two states, on and off in shares that π prescribes, and the mean over s by quadrature."""
    used = round(on * N)
    stay = round(on * used)  # on in both

    def square(s):
        c = max(s, 0) / used
        middle = stay * c + 2 * (used - stay) * max((s / used - beta) / 2, 0)
        return (middle - max(s, 0)) ** 2 * math.exp(-s * s / 4) / math.sqrt(4 * math.pi)

    exact = quad(square, 0, used * beta, limit=200)[0] + quad(square, used * beta, 60, limit=200)[0]
    share = stay / used  # the share of those on that stay on
    barrier = chapter.two_state_barrier(N, used / N, beta)
    assert barrier * ((1 - share) / (1 - used / N)) ** 2 == pytest.approx(exact, rel=1e-6)


def test_two_states_grow_with_the_number_up_to_a_limit():
    values = [chapter.two_state_barrier(N, 0.3, 0.1) for N in (0, 1, 3, 10, 100, 10_000)]
    assert values[0] == 0 and values == sorted(values) and values[-1] == pytest.approx(0.49)
    assert chapter.two_state_barrier(0.1, 0.3, 0.1) == pytest.approx(0.49 * 0.003**2 / 2, rel=0.01)
    assert chapter.two_state_barrier(80, 1, 0.1) == 0


def all_masks(d, p):
    """Every mask of d entries with its probability."""
    masks = torch.tensor(list(itertools.product([0.0, 1.0], repeat=d)), dtype=torch.float64)
    seen = masks.sum(dim=1)
    return masks, p**seen * (1 - p) ** (d - seen)


@pytest.mark.parametrize("p", [0.0, 0.15, 0.6, 1.0])
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("family", ["exact-copy", "random-frame"])
def test_rank_law_by_enumeration(k, p, family):
    U = chapter.exact_copy(k, 8) if family == "exact-copy" else chapter.random_frame(k, chapter.sample_frame(2, 8))
    masks, weight = all_masks(8, p)
    by_svd = torch.tensor([torch.linalg.matrix_rank(mask[:, None] * U) for mask in masks])
    assert chapter.ranks(U, masks).equal(by_svd)
    for rank, expected in enumerate(chapter.rank_law(k, p, family)):
        assert weight[by_svd == rank].sum().item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("k", "p"), [(1, 0.15), (2, 0.4), (4, 0.15), (3, 1.0)])
def test_mean_cost_and_anisotropy_by_enumeration(k, p):
    U = chapter.exact_copy(k, 2 * k)
    masks, weight = all_masks(2 * k, p)
    S = torch.stack([U.T @ torch.diag(mask**2) @ U for mask in masks])
    both = torch.linalg.matrix_rank(S) == 2
    one = torch.ones(2, dtype=torch.float64)
    cost = torch.stack([one @ torch.linalg.inv(s) @ one for s in S[both]])
    assert chapter.mean_cost(k, p) == pytest.approx((weight[both] @ cost / weight[both].sum()).item())
    first = S[:, 0, 0]
    mean = weight @ first
    variance = weight @ (first - mean) ** 2
    assert mean.item() == pytest.approx(p)
    assert chapter.relative_anisotropy(k, p) == pytest.approx((variance / mean**2).item(), abs=1e-12)


@pytest.mark.parametrize(("k", "p"), [(1, 0.15), (3, 0.4)])
def test_same_counts_by_enumeration(k, p):
    masks, weight = all_masks(2 * k, p)
    counts = torch.stack([masks[:, 0::2].sum(dim=1), masks[:, 1::2].sum(dim=1)], dim=1)
    both = (counts > 0).all(dim=1)
    weight, counts = weight[both] / weight[both].sum(), counts[both]
    equal = (counts[:, None] == counts).all(dim=-1).double()
    assert chapter.same_counts(k, p) == pytest.approx((weight @ equal @ weight).item())


@pytest.mark.parametrize("v", [0.0, 1e-9, 0.15, 0.8, 1.0])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_mask_probability_inverts_the_visibility(k, v):
    assert 1 - (1 - chapter.mask_probability(k, v)) ** k == pytest.approx(v, rel=1e-6)
