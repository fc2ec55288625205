"""Merges as runs: what the chapter's cells did one after another, a digest that sees everything, a file."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

import lmc_helpers.experiments.merge_runs as module
from lmc_helpers.data.images import load
from lmc_helpers.experiments.merge_runs import MergeRun, merges, runs, teachers_of_widths
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

SETTINGS = {"dataset": "digits", "images": 90, "widths": [3, 4], "teachers": 2, "epochs": 2, "seed": 5}
PATHS = {"components": 3, "distances": 4, "products": 60}
TEACHING = teachers_of_widths(**SETTINGS)
RUN = MergeRun(TEACHING[4], 1, **PATHS)


@pytest.fixture(scope="module", autouse=True)
def here(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMC_RUNS", str(tmp_path_factory.mktemp("runs")))
        yield


def outputs(theta, z, H):
    """Outputs (T, 10) of a flat network in NumPy: W then b, layer after layer."""
    x, at = z, 0
    for k, (n, m) in enumerate(((z.shape[1], H), (H, H), (H, 10))):
        W = theta[at : at + n * m].reshape(m, n)
        x = x @ W.T + theta[at + n * m : at + n * m + m]
        at, x = at + n * m + m, np.tanh(x) if k < 2 else x
    assert at == len(theta)
    return x


def test_a_path_of_the_teacher_with_its_own_logits_as_targets():
    found, taught = RUN.result(), TEACHING[4].result()
    images = load("digits", "train", 90, 5)
    x = images.inputs(torch.float64, flat=True).numpy()
    V = np.linalg.svd(x, full_matrices=False)[2][:3].T  # up to the signs of the components
    W = [taught.stack.params[f"{k}.weight"][1].double().numpy() for k in range(3)]
    b = [taught.stack.params[f"{k}.bias"][1].double().numpy() for k in range(3)]
    teacher = np.concatenate([part.ravel() for pair in zip([W[0] @ V, *W[1:]], b, strict=True) for part in pair])
    y = outputs(teacher, x @ V, 4)

    def losses(signs):
        moved = (outputs(theta, x @ V * signs, 4) for theta in found.path.theta.numpy())
        return [np.sum((f - y) ** 2) / len(x) / np.mean(y**2) for f in moved]

    signs = min(itertools.product((1, -1), repeat=3), key=lambda signs: losses(signs)[0])
    assert losses(signs)[0] < 1e-20  # it starts at the teacher
    np.testing.assert_allclose(found.path.loss, losses(signs), rtol=1e-6, atol=1e-10)
    said = [outputs(theta, x @ V * signs, 4).argmax(axis=1) for theta in found.path.theta.numpy()]
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
    monkeypatch.setattr(module, "merge", None)  # nothing is computed again
    again = RUN.result()
    for name in ("theta", "loss", "gradient_norm", "outgoing"):
        assert getattr(again.path, name).equal(getattr(first.path, name))
    assert again.accuracy.equal(first.accuracy) and again.pair == first.pair and again.point == first.point
    assert again.products == first.products > 0 and again.provenance == first.provenance
    assert again.provenance["seconds"] > 0 and again.provenance["teachers"]["verified"] in (True, False)


def test_the_random_pair_is_another_one():
    other = replace(RUN, seed=3)
    assert set(other.result().pair) != set(RUN.result().pair)
    assert other.digest != RUN.digest


def test_a_digest_sees_everything():
    others = [
        replace(RUN, teachers=TEACHING[3]),
        replace(RUN, teachers=replace(TEACHING[4], seeds=(1, 2))),
        replace(RUN, network=0),
        replace(RUN, components=0),
        replace(RUN, distances=5),
        replace(RUN, products=61),
        replace(RUN, seed=0),
        replace(RUN, seed=1),
    ]
    assert len({run.digest for run in [RUN, *others]}) == len(others) + 1
    assert len({run.title for run in [RUN, *others]}) >= 5
    assert replace(RUN) == RUN and hash(replace(RUN)) == hash(RUN)


def test_a_damaged_file_is_named():
    run = replace(RUN, products=20)
    run.result()
    path, whole = run.path(), run.path().read_bytes()
    provenance, tensors = module.read(path, run._identity())
    RUN.result()
    for damaged in (whole[:-200], RUN.path().read_bytes(), b""):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=f"{path.name}.*delete it and run again"):
            run.result()
    for missing in (tensors | {"loss": tensors["loss"][:-1]}, {k: v for k, v in tensors.items() if k != "pair"}):
        module.write(path, run._identity(), provenance, missing)
        with pytest.raises(ValueError, match=f"{path.name}.*delete it and run again"):
            run.result()
    path.write_bytes(whole)
    assert run.result().products <= 20 * 4


def test_a_teacher_that_diverged_is_refused():
    lost = replace(TEACHING[4], descent=Descent(2, 100, "sgd", 3e38))
    with pytest.raises(ValueError, match="diverged"):
        MergeRun(lost, 1, **PATHS).result()


def test_prices_grow_with_what_is_computed():
    cost = RUN.prices()
    assert cost.cpu_hours == pytest.approx(4 * 90 * 3 * 4 * (4 + 4) * 60 / 5e9 / 3600)
    assert replace(RUN, components=0).prices().cpu_hours == pytest.approx(64 / 3 * cost.cpu_hours)
    large = MergeRun(
        Run(MLP((784, 25, 25, 10), "tanh"), Descent(1, 100), DataSpec("mnist"), (1,)), 0, 0, 100, 1000
    ).resources()
    assert large["minutes"] > 60 and large["memory_mib"] > 60_000 * 784 * 8 / 2**20
    assert not large["gpu"] and large["cores"] == 1


def test_runs_are_those_of_the_chapter():
    assert runs(**SETTINGS, **PATHS, randoms=1) == list(TEACHING.values())  # merges that take no time are no jobs
    long = PATHS | {"products": 10_000_000}
    found = runs(**SETTINGS, **long, randoms=1)
    similar, random = merges(TEACHING.values(), **long, randoms=1, seed=5)
    assert found[:2] == list(TEACHING.values())
    assert found[2:] == [*similar[3], *similar[4], *random[3], *random[4]]
    assert [run.network for run in similar[3]] == [0, 1] and all(run.seed is None for run in similar[3])
    assert [(run.network, run.seed) for run in random[4]] == [(0, 5)]
    assert merges(TEACHING.values(), **PATHS, randoms=9)[1][3][1].network == 1  # at most all of them
    assert len({run.digest for run in found}) == len(found)


def test_teachers_differ():
    assert [run.model.sizes for run in TEACHING.values()] == [(64, 3, 3, 10), (64, 4, 4, 10)]
    assert all(run.data.n == 90 and len(set(run.seeds)) == 2 for run in TEACHING.values())
    assert TEACHING[3].seeds != TEACHING[4].seeds
    assert teachers_of_widths(**SETTINGS | {"images": 60_000})[3].data.n is None
    assert teachers_of_widths(**SETTINGS | {"seed": 6})[3].seeds != TEACHING[3].seeds


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"teachers": None}, "teachers is None"),
        ({"teachers": replace(TEACHING[4], model=MLP((64, 4, 4, 10)))}, "two hidden layers of tanh"),
        ({"teachers": replace(TEACHING[4], model=MLP((64, 4, 10), "tanh"))}, "two hidden layers of tanh"),
        ({"network": 2}, "network = 2; allowed: an integer"),
        ({"network": -1}, "network = -1"),
        ({"components": -1}, "components = -1"),
        ({"distances": 3}, "distances = 3"),
        ({"products": 0}, "products = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"seed": 0.5}, "seed = 0.5"),
    ],
)
def test_bad_values_are_named(wrong, match):
    with pytest.raises(ValueError, match=match):
        replace(RUN, **wrong)
