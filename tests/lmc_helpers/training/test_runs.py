"""Runs: a digest that sees everything, a file that is read or made, and numbers that are pinned."""

import multiprocessing
import os
import time
from dataclasses import dataclass, replace

import pytest
import torch

import lmc_helpers.training.runs as module
from lmc_helpers.data.images import NAMES, SPLITS, load
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training import cached
from lmc_helpers.training.fit import fit
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run


def kept(folder) -> list[str]:
    """What lies in a folder besides lock files."""
    return [name for name in os.listdir(folder) if not name.endswith(".lock")]


@dataclass(frozen=True)
class Half:
    """F = scale everywhere, D is 0 or 1."""

    scale: float = 0.5

    def draw(self, shape, generator):
        D = (torch.rand(shape, generator=generator, dtype=torch.float64) < 0.5).double()
        return self.scale * (1 - D), D


MODEL = MLP((64, 5, 10))
DATA = DataSpec("digits", n=50, seed=3)
DESCENT = Descent(3, 20, "adam", 0.01)
RUN = Run(MODEL, DESCENT, DATA, (1, 2), keep=(0, 2), precision="float64")
MASKED = replace(RUN, scheme=Half(), mask_seeds=(7, 8), seeds=(1, 2, 3, 4))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("LMC_RUNS", str(tmp_path))
    return tmp_path


def same(a, b):
    stacks = [(a.stack, b.stack), *((a.kept[epoch], b.kept[epoch]) for epoch in a.kept)]
    assert list(a.kept) == list(b.kept) and a.survivors == b.survivors and a.diverged == b.diverged
    assert a.losses.equal(b.losses) and a.accuracies.equal(b.accuracies)
    for one, other in stacks:
        assert one.model == other.model and one.state().keys() == other.state().keys()
        assert all(value.equal(other.state()[name]) for name, value in one.state().items())


def test_a_run_is_fit_on_its_data(here):
    images = load("digits", n=50, seed=3)
    for run in (RUN, MASKED):
        assert not run.done()
        first = run.result()
        assert run.done() and run.path() == here / f"{run.digest}.npz"
        same(first, run.result())
        fixed = {}
        if run is MASKED:
            pairs = [MODEL.fixed_parts({"0.weight": Half(), "1.weight": Half()}, seed) for seed in (7, 8)]
            fixed = {name: tuple(torch.cat([pair[name][k] for pair in pairs]) for k in (0, 1)) for name in pairs[0]}
        start = MODEL.initial(run.seeds, torch.float64, fixed)
        plain = fit(start, DESCENT, images.inputs(torch.float64), images.y, run.seeds, keep=(0, 2), precision="float64")
        assert list(first.kept) == [0, 2] and first.stack.fixed.keys() == fixed.keys()
        torch.testing.assert_close(first.losses, plain.losses, rtol=1e-10, atol=0)
        torch.testing.assert_close(first.stack.effective(), plain.stack.effective(), rtol=1e-9, atol=1e-11)
        assert first.kept[0].params["0.weight"].equal(start.params["0.weight"])
    assert sorted(kept(here)) == sorted(run.path().name for run in (RUN, MASKED))


PINNED = [
    (
        replace(RUN, data=DataSpec("digits")),
        [[1.2974337259, 1.5971604206], [0.4785924919, 0.9133652838], [0.3280076276, 0.6976257029]],
    ),
    (
        Run(
            CNN(width=4, depth=4, pools=1, input_shape=(1, 8, 8)),
            Descent(2, 20, "sgd", 0.1, momentum=0.9, augment=("flip", "crop"), schedule="cosine"),
            DataSpec("digits", n=200),
            (1, 2),
            precision="float64",
        ),
        [[2.3735377968, 2.3485716764], [2.3078239911, 2.2957461127]],
    ),
]


@pytest.mark.parametrize(("run", "losses"), PINNED)
def test_the_numbers_of_tiny_runs(run, losses):
    """If this fails, what runs compute has changed: raise REVISION, and then change these numbers."""
    assert module.REVISION == 1
    assert run.result().losses.tolist() == [pytest.approx(row, rel=1e-6) for row in losses]


CHANGES = {
    "model": MLP((64, 5, 10), "gelu"),
    "descent": replace(DESCENT, weight_decay=1e-9),
    "data": DataSpec("digits", n=50, seed=4),
    "seeds": (2, 1),
    "scheme": Half(0.25),
    "mask_seeds": (7, 9),
    "keep": (0,),
    "precision": "float32",
}


def test_the_digest_sees_every_field_and_the_revision_and_nothing_else(monkeypatch):
    assert CHANGES.keys() == set(Run.__dataclass_fields__)
    runs = [MASKED, *(replace(MASKED, **{name: value}) for name, value in CHANGES.items())]
    assert len({run.digest for run in runs}) == len({hash(run) for run in runs}) == len(runs)
    a = replace(MASKED, scheme={"0.weight": Half(), "1.weight": Half(1.0)})
    b = replace(MASKED, scheme={"1.weight": Half(1.0), "0.weight": Half()})
    assert a.digest == b.digest and a == b and hash(a) == hash(b)
    assert replace(RUN, keep=(2, 0, 2)).digest == RUN.digest
    assert replace(RUN, mask_seeds=(5,)).digest == RUN.digest == replace(RUN, scheme={}).digest
    assert replace(RUN, descent=replace(DESCENT, weight_decay=0)).digest == RUN.digest
    monkeypatch.setattr(module, "REVISION", 2)
    assert replace(RUN).digest != RUN.digest


def test_provenance(monkeypatch):
    monkeypatch.setenv("LMC_COMMIT", "abc123")
    found = RUN.result().provenance
    assert found["commit"] == "abc123" and found["threads"] == 1 and found["seconds"] > 0
    assert found["versions"]["torch"] == torch.__version__ and found["verified"] is True and found["diverged"] == []
    assert "CPU" in found["device"] and found["date"].endswith("+00:00")
    cheap = RUN.resources()
    assert cheap["cores"] == 1 and cheap["gpu"] is False and cheap["minutes"] <= 2 and cheap["memory_mib"] < 2000
    dear = Run(MLP(), Descent(2000, 100, "adamw"), DataSpec("mnist"), tuple(range(20)))
    assert dear.prices().cpu_hours > module.GPU_HOURS and dear.resources()["gpu"] is True
    assert dear.resources()["minutes"] < 60 * dear.prices().cpu_hours


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t | {"losses": t["losses"][:2]},
        lambda t: t | {"survivors": t["survivors"][:1]},
        lambda t: t | {"final/params/0.bias": torch.zeros(2, 6)},
        lambda t: {name: value for name, value in t.items() if "0.bias" not in name},
        lambda t: {name: value for name, value in t.items() if not name.startswith("kept 2")},
        lambda t: {name: value for name, value in t.items() if name != "accuracies"},
        lambda t: t | {"more": torch.zeros(1)},
    ],
)
def test_tensors_that_do_not_fit_are_refused(monkeypatch, change):
    real = cached.write

    def wrong(path, run, provenance, tensors):
        real(path, run, provenance, change(tensors))

    monkeypatch.setattr(cached, "write", wrong)
    with pytest.raises(ValueError, match=r"cannot be read .* delete it"):
        RUN.result()


def test_a_killed_run_goes_on_and_leaves_nothing(here, monkeypatch):
    import lmc_helpers.training.fit as fitting

    whole = RUN.result()
    RUN.path().unlink()
    real, saved = fitting.save_checkpoint, []

    def killed(*state):
        real(*state)
        saved.append(1)
        if len(saved) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "EVERY_S", 0.0)
    monkeypatch.setattr(fitting, "save_checkpoint", killed)
    with pytest.raises(KeyboardInterrupt):
        RUN.result()
    assert kept(here) == [f".{RUN.digest}.checkpoint.npz"] and not RUN.done()
    saved.clear()
    with pytest.raises(KeyboardInterrupt):
        RUN.result()  # five more steps, from the fifth on
    monkeypatch.setattr(fitting, "save_checkpoint", real)
    same(RUN.result(), whole)
    assert kept(here) == [f"{RUN.digest}.npz"]


def ask(folder, log, again):
    real = module.fit

    def counted(*arguments, **options):
        with open(log, "a") as file:
            file.write(f"{os.getpid()}\n")
        again.wait(60)
        return real(*arguments, **options)

    module.fit = counted
    os.environ["LMC_RUNS"] = str(folder)
    RUN.result()


def test_of_two_processes_one_trains(here):
    context = multiprocessing.get_context("fork")
    event, log = context.Event(), here / "log"
    processes = [context.Process(target=ask, args=(here / "runs", log, event)) for _ in range(3)]
    for process in processes:
        process.start()
    for _ in range(6000):  # until one of them trains
        if log.exists():
            break
        time.sleep(0.01)
    event.set()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert len(log.read_text().split()) == 1
    assert kept(here / "runs") == [f"{RUN.digest}.npz"]


def test_networks_that_diverge_are_counted(monkeypatch):
    real = MLP.initial

    def spoilt(self, seeds, *arguments, **options):
        stack = real(self, seeds, *arguments, **options)
        stack.params["0.weight"][2] *= 1e300
        return stack

    with monkeypatch.context() as patch:
        patch.setattr(MLP, "initial", spoilt)
        first = MASKED.result()
    assert first.diverged == (3,) and first.survivors == (0, 1, 3) and len(first.stack) == 3
    assert first.provenance["diverged"] == [3] and first.losses.shape == (3, 3)
    same(MASKED.result(), first)


def test_where_all_diverge_nothing_is_left(here, monkeypatch):
    monkeypatch.setattr(module, "EVERY_S", 0.0)
    run = replace(RUN, descent=Descent(60, 20, "sgd", 1e12), keep=())
    with pytest.raises(ValueError, match=r"all 2 networks diverged by epoch \d+ \(seeds 1, 2\); allowed: .*rate"):
        run.result()
    assert kept(here) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("split", SPLITS)
def test_sizes_of_data_sets(name, split):
    spec = DataSpec(name, split)
    if name == "digits":
        assert spec.size == len(load(name, split))
    assert DataSpec(name, split, n=spec.size).size == spec.size
    with pytest.raises(ValueError, match=f"allowed: 1 to {spec.size}"):
        DataSpec(name, split, n=spec.size + 1)
