"""What chapter *matchers* computes, against independent oracles."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from oracles.draws import labelled, normal
from oracles.networks import numbers, perturbed

from lmc_helpers._chapters import matchers as chapter
from lmc_helpers._chapters.algorithm_1 import compare_matchings
from lmc_helpers.alignment.activation_matching import moments_of
from lmc_helpers.alignment.pairs import ends
from lmc_helpers.alignment.weight_matching import agreement, weight_matching
from lmc_helpers.matching import all_permutations
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import random_permutations
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.vit import ViT
from lmc_helpers.teacher_student import sample_minima


def test_objectives_and_losses_one_by_one():
    a, b = (MLP((4, 3, 3, 3)).initial(seeds, torch.float64) for seeds in ([0, 1], [50, 51]))
    x, y = labelled(17, 4, classes=3, seed=5)
    found = chapter.every_permutation(a, b, x, y)
    for (i, p), (j, q) in itertools.product(enumerate(itertools.permutations(range(3))), repeat=2):
        moved = b.permuted({"0": torch.tensor([p, p]), "1": torch.tensor([q, q])})
        middle = Stack(a.model, {name: (value + moved.params[name]) / 2 for name, value in a.params.items()})
        output = middle.forward(x)
        loss = torch.stack([torch.nn.functional.cross_entropy(one, y) for one in output])
        torch.testing.assert_close(found.loss[:, i, j], loss)
        permutable = {name: value for name, value in moved.params.items() if name != "2.bias"}
        torch.testing.assert_close(found.objective[:, i, j], agreement(a.params, permutable))
    assert found.rank(found.best())[0].tolist() == [0, 0]
    every, place = all_permutations(3), found.loss.flatten(1).argmin(dim=1)
    assert found.rank({"0": every[place // 6], "1": every[place % 6]})[1].tolist() == [0, 0]
    assert all(found.lowest()[g].equal(every[at]) for g, at in (("0", place // 6), ("1", place % 6)))
    place = found.loss.flatten(1).argmax(dim=1)
    assert found.rank({"0": every[place // 6], "1": every[place % 6]})[1].min() > 30  # dead neurons make ties


def test_of_semi_definite_matrices_one_permutation_is_enough():
    """The step of the chapter's proof that matching is hard: max ⟨A, Q B Pᵀ⟩ over P and Q is reached at P = Q."""
    R, S = normal(2, 4, 4, seed=2)
    A, B = R @ R.T, S @ S.T
    every = all_permutations(4)
    value = torch.einsum("ij,qipj->qp", A, B[every][:, :, every])
    torch.testing.assert_close(value.max(), value.diagonal().max())
    shifted = torch.einsum("ij,qipj->qp", A - 20 * torch.eye(4), B[every][:, :, every])  # not semi-definite
    assert shifted.max() > shifted.diagonal().max() + 1


@pytest.mark.parametrize("edges", ["01 12 23 34 40 02", "01 12 23 34 02 13", "01 02 03 04 12 34"])
def test_the_optimum_tells_whether_a_graph_has_a_hamiltonian_cycle(edges):
    """The reduction of the chapter's proof that matching is hard, on graphs with 5 vertices."""
    m, every = 5, all_permutations(5)
    graph, cycle = torch.zeros(2, m, m, dtype=torch.float64)
    for i, j in edges.split():
        graph[int(i), int(j)] = graph[int(j), int(i)] = 1
    for i in range(m):
        cycle[i, i - 1] = cycle[i - 1, i] = 1
    hamiltonian = any(all(graph[p[i], p[i - 1]] for i in range(m)) for p in itertools.permutations(range(m)))
    A, B = (one + m * torch.eye(m, dtype=torch.float64) for one in (graph, cycle))
    value = torch.einsum("ij,qipj->qp", A, B[every][:, :, every]).max().item()
    assert (value == 2 * m + m**3) == hamiltonian == edges.endswith("40 02")


SIZES = dict(width=8, pairs=3, images=60, epochs=1, wide=12, wide_pairs=2, small_pairs=2, small_epochs=1)
PARAMETERS = chapter.Parameters(dataset="digits", **SIZES, seed=3)


def test_runs_share_masks_within_pairs_only():
    found = PARAMETERS.by_name()
    assert {kind: len(run.mask_seeds) for kind, run in found.items() if run.scheme} == {"σ_F = 0": 3, "σ_F = 1": 3}
    assert len({seed for run in found.values() for seed in run.seeds}) == 4 * 6 + 3 * 4 + 18
    F, D = found["σ_F = 1"].fixed()["1.weight"]
    assert F.shape == (3, 8, 8) and not D[0].equal(D[1]) and (D == 0).sum(dim=-1).eq(1).all()  # 8 · 64/512
    assert found["σ_F = 0"].fixed()["0.weight"][0].eq(0).all()
    a, b = ends(found["σ_F = 1"].result())
    same = a.params["3.weight"] == b.params["3.weight"]
    assert same.sum(dim=-1).ge(4).all() and same.float().mean() < 0.6  # half of the last rows are fixed

    for name, kind in chapter.WIDE.items():
        wide, narrow = found[name], found[kind]
        assert wide.model.sizes == (64, 12, 12, 12, 10) and narrow.model.sizes == (64, 8, 8, 8, 10)
        assert wide.model.norm == narrow.model.norm and len(wide.seeds) == 4
        assert (wide.descent, wide.data, wide.scheme) == (narrow.descent, narrow.data, narrow.scheme)
    he, plain = found["plain, He"], found["plain"]
    assert he.seeds[:6] == plain.seeds and len(he.seeds) == 24
    assert (
        replace(he, model=plain.model, seeds=plain.seeds).digest
        == plain.digest
        != replace(he, seeds=plain.seeds).digest
    )
    digests = [{run.digest for run in replace(PARAMETERS, seed=seed).runs()} for seed in (3, 4)]
    assert not digests[0] & digests[1]


@pytest.mark.parametrize("d", [2, 3, 8])
def test_correlations_against_samples(d):
    generator = torch.Generator().manual_seed(d)
    W1, W2 = torch.randn(2, 4, d, dtype=torch.float64, generator=generator)
    x = torch.randn(200_000, d, dtype=torch.float64, generator=generator)
    x = x / x.norm(dim=1, keepdim=True)
    sampled = moments_of(torch.relu(x @ W1.T)[None], torch.relu(x @ W2.T)[None]).correlations()[0]
    torch.testing.assert_close(chapter.activation_correlations(W1, W2), sampled, atol=4.5 / 200_000**0.5, rtol=0)


def test_students_as_in_the_chapter_on_algorithm_1():
    W1, W2 = sample_minima(5, 3, 3, 12, seed=3).split(6)
    found, seconds = chapter.compare_students(W1, W2, M=3, steps=3, seed=1)
    before = compare_matchings(W1, W2, M=3)
    for name in ("best of m!", "Algorithm 1", "pair matching"):
        np.testing.assert_allclose(found[name], before.barriers[name], atol=1e-13)
    np.testing.assert_allclose(found["weights"], before.barriers["weight matching"], atol=1e-13)
    assert found.keys() == seconds.keys() and min(seconds.values()) > 0
    better = found["straight-through"] <= found["identity"] + 1e-12
    assert better.mean() > 0.9  # judged halfway, measured at the peak


def ends_of_matches(stack):
    """Networks 0, 2, … and 1, 3, …, as pairs."""
    return stack.ordinary(range(0, len(stack), 2)), stack.ordinary(range(1, len(stack), 2))


def examples(n=40):
    generator = torch.Generator().manual_seed(2)
    return torch.randn(n, 4, generator=generator), torch.randint(3, (n,), generator=generator)


def test_a_match_against_networks_by_hand():
    a, b = ends_of_matches(MLP((4, 5, 5, 3)).initial([1, 2, 3, 4]))
    x, y = examples()
    p = {"0": torch.tensor([[4, 3, 2, 1, 0]] * 2), "1": torch.tensor([[1, 0, 2, 3, 4]] * 2)}
    found = chapter.match(a, b, lambda: p, x, (x, y))
    for k in range(2):
        W = [[end.params[f"{layer}.weight"][k] for layer in range(3)] for end in (a, b)]
        c = [[end.params[f"{layer}.bias"][k] for layer in range(3)] for end in (a, b)]
        first, second = p["0"][k], p["1"][k]
        W[1] = [W[1][0][first], W[1][1][second][:, first], W[1][2][:, second]]
        c[1] = [c[1][0][first], c[1][1][second], c[1][2]]
        middle = [[(u + v) / 2 for u, v in zip(*both, strict=True)] for both in (W, c)]
        losses, rights = [], []
        for weights, biases in ((W[0], c[0]), (W[1], c[1]), middle):
            z = torch.relu(x @ weights[0].T + biases[0])
            z = torch.relu(z @ weights[1].T + biases[1]) @ weights[2].T + biases[2]
            losses.append(torch.nn.functional.cross_entropy(z, y).item())
            rights.append((z.argmax(dim=1) == y).float().mean().item())
        assert found.barrier[k].item() == pytest.approx(losses[2] - (losses[0] + losses[1]) / 2, abs=1e-6)
        assert found.drop[k].item() == pytest.approx(100 * ((rights[0] + rights[1]) / 2 - rights[2]), abs=1e-4)
    assert found.seconds > 0 and not found.repaired_barrier.equal(found.barrier)


def test_descents_end_at_local_optima():
    a, b = ends_of_matches(MLP((4, 6, 6, 3)).initial([1, 2, 3, 4]))
    found = chapter.descents(a, b, 4, examples(), seed=5)
    optima = weight_matching(a.params, b.params, a.model.symmetry(), restarts=200).values  # all that there are
    size = [sum((v[k].double() ** 2).sum() for v in end.params.values()) for end in (a, b) for k in range(2)]
    scale = torch.stack([(size[k] * size[2 + k]).sqrt() for k in range(2)])
    outside = (a.params["2.bias"].double() * b.params["2.bias"].double()).sum(dim=1)  # no permutation moves it
    optima = (optima + outside) / scale  # (200, 2)
    assert ((optima[:, None] - found.objective).abs().amin(dim=0) < 1e-9).all()
    assert len(set(found.objective[:, 0].tolist())) > 1  # the starts differ
    assert found.objective.shape == (4, 2) and found.barrier.isfinite().all()
    objective = torch.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]])
    barrier = torch.tensor([[9.0, 1.0], [5.0, 4.0], [4.0, 2.0], [1.0, 3.0]])
    # ranks 1 4 2 3 against 1 2 3 4: 1 − 6 (0 + 4 + 1 + 1) / (4 · 15)
    assert chapter.Descents(objective, barrier).rank_correlations() == pytest.approx([-1.0, 0.4])


def test_the_choice_does_not_see_its_measurement():
    """Of many equal methods the luckiest lies below the reference; cross-fitted it does not."""
    rng = np.random.default_rng(0)
    values = {str(k): torch.tensor(rng.standard_normal(400)) for k in range(50)}
    values["identity"] = torch.zeros(400, dtype=torch.float64)
    naive = -min(float(one.mean()) for name, one in values.items() if name != "identity")
    gain = chapter.cross_fitted_gain(values)
    assert naive > 0.08 and abs(gain.mean()) < 4.5 / 20
    better = values | {"best": torch.full((400,), -1.0)}
    assert chapter.cross_fitted_gain(better).tolist() == [1.0] * 400


def middle_losses(a, b, p, x, y):
    moved = b.permuted(p)
    middle = a.model.forward({key: (value + moved.params[key]) / 2 for key, value in a.params.items()}, x)
    return torch.stack([torch.nn.functional.cross_entropy(one, y) for one in middle])


def test_pairs_measure_what_a_matcher_reaches():
    a, b = ends_of_matches(MLP((4, 6, 6, 3), norm="layer").initial(range(10)))
    (x, y), seen = examples(), examples(30)
    of = chapter.Pairs(a, b, chapter.methods(restarts=2, steps=2), seen, (x, y), seed=3)
    losses = {name: middle_losses(a, b, of[name].permutations, x, y) for name in ("identity", "weights")}
    ends_of = [middle_losses(end, end, keep(end), x, y) for end in (a, b)]
    barrier = {name: loss - (ends_of[0] + ends_of[1]) / 2 for name, loss in losses.items()}
    assert of["weights"] is of["weights"]
    torch.testing.assert_close(of["weights"].barrier, barrier["weights"].double(), atol=1e-6, rtol=0)
    value, error = of.ratio("weights", "identity")
    assert value == pytest.approx((barrier["weights"].mean() / barrier["identity"].mean()).item(), rel=1e-4)
    assert error > 0 and of.ratio("weights", "weights") == (1.0, 0.0)
    better = int((barrier["weights"] <= barrier["identity"]).sum())
    assert of.wins(["identity", "weights"])["weights"] == better
    repaired = of["weights"].repaired_barrier.mean() / of["weights"].barrier.mean()
    assert of.repaired("weights")[0] == pytest.approx(repaired.item())
    assert of.moved("weights").params["0.gain"].equal(b.permuted(of["weights"].permutations).params["0.gain"])


def keep(stack):
    return {g: torch.arange(m).repeat(len(stack), 1) for g, m in stack.model.symmetry().sizes.items()}


QUICK = chapter.methods(restarts=3, steps=3, batch=7)
MODELS = [
    MLP((6, 7, 6, 3), norm="layer"),
    CNN(4, 4, pools=1, input_shape=(2, 4, 4), classes=3),
    ResNet20(1, 1, base=3, input_shape=(2, 8, 8), classes=3),
    ViT(patch=2, dimension=6, depth=2, heads=3, ratio=2, input_shape=(2, 4, 4), classes=3),
]


def of_a_model(model, n=12):
    return numbers(n, *model.input_shape), torch.arange(n) % 3


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", QUICK)
def test_the_permuted_networks_are_the_same_functions(name, model):
    a, b = perturbed(model, 2, seed=1), perturbed(model, 2, seed=2)
    x, y = of_a_model(model)
    p = QUICK[name](a, b, x, y, 1)
    assert {g: tuple(one.shape) for g, one in p.items()} == {g: (2, m) for g, m in model.symmetry().sizes.items()}
    torch.testing.assert_close(b.permuted(p).forward(x), b.forward(x), rtol=1e-10, atol=1e-10)
    again = QUICK[name](a, b, x, y, 1)
    assert all(one.equal(again[g]) for g, one in p.items())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", ["weights, restarts", "activations"])
def test_planted_permutations_are_found_in_every_architecture(name, model):
    a, (x, y) = perturbed(model, 2), of_a_model(model, 60)
    planted = random_permutations(model.symmetry(), 2, torch.Generator().manual_seed(3))
    p = chapter.methods(restarts=20)[name](a, a.permuted(planted), x, y, 1)
    assert all(p[g].equal(one.argsort(dim=-1)) for g, one in planted.items())


@pytest.mark.parametrize("name", [name for name in QUICK if name not in ("identity", "random", "Sinkhorn")])
def test_planted_permutations_of_a_small_network_are_found_at_once(name):
    model = MLP((6, 7, 6, 3))
    start = model.initial([1], torch.float64)
    a, (x, _) = Stack(model, {key: 3 * value for key, value in start.params.items()}), of_a_model(model, 40)
    planted = random_permutations(model.symmetry(), 1, torch.Generator().manual_seed(2))
    p = QUICK[name](a, a.permuted(planted), x, a.forward(x)[0].argmax(dim=1), 1)
    assert all(p[g].equal(one.argsort(dim=-1)) for g, one in planted.items())
