"""The sweep over widths: which runs, which pairs, lines and limits against modules of torch built by hand."""

from itertools import permutations

import numpy as np
import pytest
import torch
from torch import nn

from lmc_helpers.data import images
from lmc_helpers.data.images import load
from lmc_helpers.experiments.width_barriers import (
    ORDERS,
    PLACES,
    Case,
    Lines,
    Pairs,
    elsewhere,
    lines,
    matched_pairs,
    middles,
    rescaled,
    runs,
    sweep,
)
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training.runs import Result

SWEEP = {
    "widths": [3, 5],
    "depths": [2],
    "depth_widths": [4],
    "groups": 2,
    "depth_groups": 3,
    "long_groups": 1,
    "together": 3,
    "epochs": 2,
    "budgets": [1, 3],
    "images": 300,
    "second": [2, 4],
    "seed": 5,
}


ELSEWHERE = {"other": "digits", "other_widths": [7, 9], "other_pairs": 4, "other_epochs": 4, "other_images": 200}
ELSEWHERE |= {"seed": 5}


def result_of(stack, epochs=1, **more):
    zeros = torch.zeros(epochs, len(stack))
    return Result(stack, zeros, zeros, **{"survivors": tuple(range(len(stack)))} | more)


def module_of(params, k):
    """One network of two hidden layers as a torch module."""
    layers = []
    for j in range(3):
        weight, bias = params[f"{j}.weight"][k], params[f"{j}.bias"][k]
        layers += [nn.Linear(weight.shape[1], weight.shape[0]), nn.ReLU()]
        layers[-2].weight.data, layers[-2].bias.data = weight, bias
    return nn.Sequential(*layers[:-1]).to(weight.dtype)


def some_data(model, n=40):
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(n, *model.input_shape, generator=generator, dtype=torch.float64)
    return x, torch.randint(model.classes, (n,), generator=generator)


def test_the_runs_are_those_of_the_appendix():
    found = sweep(dataset="digits", **SWEEP)
    assert list(found) == [
        *(Case(4, m, kind) for kind in ("first", "second") for m in (3, 5)),
        *(Case(2, 4, kind) for kind in ("first", "second")),
        *(Case(4, m, "long") for m in (3, 5)),
    ]
    for case, run in found.items():
        groups, end, keep = (1, 3, (1, 2)) if case.kind == "long" else (2 if case.depth == 4 else 3, 2, ())
        assert run.model.sizes == (64, *[case.width] * (case.depth - 1), 10)
        assert (len(run.seeds), run.descent.epochs, run.keep) == (3 * groups, end, keep)
        assert (run.descent.optimiser, run.descent.rate, run.descent.batch) == ("sgd", 0.05, 100)
        assert (run.data.name, run.data.n, run.model.init) == ("digits", 300, "he")
    seeds = [seed for run in found.values() for seed in run.seeds]
    assert len(seeds) == len(set(seeds))
    there = elsewhere(**ELSEWHERE)
    assert runs(dataset="digits", **SWEEP | ELSEWHERE) == [*found.values(), *there.values()]
    assert [(len(run.seeds), run.data.n, run.descent.epochs) for run in there.values()] == [(8, 200, 4)] * 2
    assert [run.model.sizes for run in there.values()] == [(64, 7, 7, 7, 10), (64, 9, 9, 9, 10)]


def test_the_second_seed_is_the_next_one_on_the_same_images():
    found = sweep(dataset="digits", **SWEEP)
    after = sweep(dataset="digits", **SWEEP | {"seed": 6, "images": 60_000})
    assert found[Case(4, 3, "second")].seeds == after[Case(4, 3, "first")].seeds
    assert {run.data for run in found.values()} == {found[Case(4, 3, "first")].data}
    assert {run.data.n for run in after.values()} == {None}


@pytest.mark.parametrize("depths", [[], [2], [4], [3]])
def test_a_second_seed_is_had_at_the_depths_that_ask_for_it(depths):
    found = sweep(dataset="digits", **SWEEP | {"second": depths})
    assert {case.depth for case in found if case.kind == "second"} == {*depths} & {2, 4}
    both = sweep(dataset="digits", **SWEEP)
    assert all(both[case] == run for case, run in found.items())


def test_networks_may_be_followed_without_more_of_them():
    alone = SWEEP | {"long_groups": 0, "second": []}
    found = sweep(dataset="digits", **alone)
    assert found[Case(4, 3, "long")] == found[Case(4, 3, "first")]
    assert found[Case(4, 3, "long")].keep == (1, 2)
    assert found[Case(2, 4, "first")].descent.epochs == 2
    assert len(runs(dataset="digits", **alone | ELSEWHERE)) == 3 + 2
    same = {"other_widths": [3], "other_pairs": 3, "other_epochs": 2, "other_images": 300}
    assert len(runs(dataset="digits", **alone | {"budgets": []} | ELSEWHERE | same)) == 3  # trained once


def test_digits_stand_in_for_what_is_not_there(monkeypatch):
    monkeypatch.setattr(images, "available", lambda name: None if name == "digits" else "no network")
    assert {run.data.name for run in runs(dataset="mnist", **SWEEP | ELSEWHERE | {"other": "cifar10"})} == {"digits"}


@pytest.mark.parametrize(("name", "least"), [("groups", 1), ("depth_groups", 1), ("together", 2)])
def test_no_pair_is_refused(name, least):
    with pytest.raises(ValueError, match=f"{name} = {least - 1}; allowed: .*{least}"):
        sweep(dataset="digits", **SWEEP | {name: least - 1})


def test_runs_are_trained_and_compared_at_their_budgets(tmp_path, monkeypatch):
    monkeypatch.setenv("LMC_RUNS", str(tmp_path))
    result, x = sweep(dataset="digits", **SWEEP)[Case(4, 3, "long")].result(), load("digits").inputs(flat=True)[:50]
    early, late = (matched_pairs(result, epoch, x, 1, 1, together=3).first.params["0.weight"] for epoch in (1, 3))
    assert not torch.equal(early, late)
    assert torch.equal(late, result.stack.params["0.weight"][[0, 0, 1]])
    with pytest.raises(ValueError, match="epoch = 4 was not kept; allowed: 1, 2, 3"):
        matched_pairs(result, 4, x, 1, 1, together=3)


def test_every_two_of_a_group_are_a_pair():
    model = MLP((6, 4, 4, 3))
    x, y = some_data(model)
    nets = rescaled(model.initial(range(7), torch.float64), 4.0)  # so that some lines have barriers
    lost = result_of(nets, survivors=(0, 1, 2, 3, 5, 6, 7))  # the second group of three lacks network 4
    pairs = matched_pairs(lost, 1, x, 1, 1, ["direct"], together=3)
    first, second = pairs.first.params["0.weight"], pairs.second["direct"].params["0.weight"]
    assert torch.equal(first, nets.params["0.weight"][[0, 0, 1]])
    assert torch.equal(second, nets.params["0.weight"][[1, 2, 2]])
    assert pairs.each == 3
    whole = lines(matched_pairs(result_of(nets.ordinary(range(6))), 1, x, 1, 1, ["direct"], 3), x, y)
    single = whole.of_pairs("direct")
    ends = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]
    alone = [lines(Pairs(nets.ordinary([i]), {"direct": nets.ordinary([j])}), x, y) for i, j in ends]
    assert single == pytest.approx([line.barriers("direct")[0] for line in alone])
    assert len(set(single)) > 2
    assert whole.barriers("direct") == pytest.approx([single[:3].mean(), single[3:].mean()])
    assert whole.largest("direct")[0] == pytest.approx(whole.loss["direct"][:3].amax(dim=1).mean().item())
    falls = whole.accuracy["direct"].numpy()
    chord = falls[:, :1] + (falls[:, -1:] - falls[:, :1]) * np.array(PLACES)  # λ = 0 is the first place
    assert whole.drops("direct") == pytest.approx((chord - falls).max(axis=1).reshape(2, 3).mean(axis=1))


@pytest.mark.parametrize("each", [2, 0, 1.5])
def test_pairs_are_whole_groups(each):
    with pytest.raises(ValueError, match="allowed"):
        Lines({"direct": torch.zeros(3, 11)}, {}, each=each)


def test_planted_permutations_are_found_in_every_order():
    model = MLP((6, 5, 5, 3))
    nets, x = model.initial([1, 2], torch.float64), some_data(model, 200)[0]
    moved = nets.permuted({"0": torch.tensor([[2, 0, 3, 1, 4]] * 2), "1": torch.tensor([[4, 3, 0, 2, 1]] * 2)})
    both = model.initial([1, 1, 2, 2], torch.float64)
    both = type(both)(model, {k: torch.stack([nets.params[k], moved.params[k]], 1).flatten(0, 1) for k in nets.params})
    pairs = matched_pairs(result_of(both), 1, x, 5, 1)
    for order in ("weights", "activations"):
        for name, value in nets.params.items():
            assert torch.equal(pairs.second[order].params[name], value)
    assert torch.equal(pairs.second["direct"].params["0.weight"], moved.params["0.weight"])


def test_every_order_is_the_same_function():
    model = MLP((6, 4, 4, 3))
    x, _ = some_data(model)
    pairs = matched_pairs(result_of(model.initial([1, 2, 3, 4], torch.float64)), 1, x, 3, 1)
    assert tuple(pairs.second) == ORDERS
    direct = pairs.second["direct"].forward(x)
    assert all(torch.allclose(b.forward(x), direct, atol=1e-12) for b in pairs.second.values())


def test_restarts_find_no_worse_agreement():
    model = MLP((3, 4, 4, 3))
    a, b = (model.initial([1 + end, 3 + end], torch.float64) for end in (0, 1))
    mixed = type(a)(model, {k: torch.stack([a.params[k], b.params[k]], 1).flatten(0, 1) for k in a.params})
    pairs = matched_pairs(result_of(mixed), 1, some_data(model)[0], 30, 1)

    def agreements(second):
        return sum((pairs.first.params[k] * second.params[k]).flatten(1).sum(1) for k in second.params)

    orders = [torch.tensor(p) for p in permutations(range(4))]
    best = torch.full((2,), -torch.inf, dtype=torch.float64)
    for p in orders:
        for q in orders:
            best = best.maximum(agreements(b.permuted({"0": p.repeat(2, 1), "1": q.repeat(2, 1)})))
    assert torch.allclose(agreements(pairs.second["weights"]), best)
    assert (agreements(pairs.second["one start"]) <= best + 1e-12).all()


def test_pairs_with_a_diverged_network_are_left_out():
    model = MLP((6, 4, 4, 3))
    nets = model.initial([0, 1, 3, 4, 5], torch.float64)
    pairs = matched_pairs(result_of(nets, survivors=(0, 1, 3, 4, 5)), 1, some_data(model)[0], 1, 1)
    assert torch.equal(pairs.first.params["0.weight"], nets.params["0.weight"][[0, 3]])
    assert torch.equal(pairs.second["direct"].params["0.weight"], nets.params["0.weight"][[1, 4]])
    with pytest.raises(ValueError, match=r"networks \[1, 2\] did not diverge"):
        matched_pairs(result_of(model.initial([1, 2]), survivors=(1, 2)), 1, some_data(model)[0], 1, 1)


def test_an_unknown_order_is_refused():
    model = MLP((6, 4, 3))
    with pytest.raises(ValueError, match="allowed: direct, one start, weights, activations"):
        matched_pairs(result_of(model.initial([1, 2])), 1, some_data(model)[0], 1, 1, ["best"])


def test_lines_are_those_of_modules_between_the_two():
    model = MLP((6, 5, 4, 3))
    x, y = some_data(model)
    nets = model.initial([1, 2], torch.float64)
    found = lines(Pairs(nets.ordinary([0]), {"direct": nets.ordinary([1])}), x, y)
    expected, right = [], []
    for lam in PLACES:
        z = module_of({k: lam * v[:1] + (1 - lam) * v[1:] for k, v in nets.params.items()}, 0)(x)
        expected.append(nn.CrossEntropyLoss()(z, y).item())
        right.append((z.argmax(dim=1) == y).double().mean().item())
    assert np.allclose(found.loss["direct"][0], expected, atol=1e-12)
    chord = np.linspace(expected[0], expected[-1], 11)
    assert found.barriers("direct")[0] == pytest.approx(max(np.array(expected) - chord))
    assert found.drops("direct")[0] == pytest.approx(max(np.linspace(right[0], right[-1], 11) - right))
    assert found.largest("direct")[0] == pytest.approx(max(expected))


def test_margins_and_scales():
    model = MLP((6, 5, 4, 3))
    x, y = some_data(model)
    nets = model.initial([1, 2], torch.float64)
    a, b = nets.ordinary([0]), nets.ordinary([1])
    found = middles(a, b, x, y, [1.0, 7.0])
    z = module_of({k: (v[:1] + v[1:]) / 2 for k, v in nets.params.items()}, 0)(x)
    gaps = [max(row) - row[label] for row, label in zip(z.tolist(), y.tolist(), strict=True)]
    assert found.lost.item() == pytest.approx(np.mean(gaps))
    assert found.wrong.item() == pytest.approx(np.mean([gap > 0 for gap in gaps]))
    assert found.nll[:, 0].tolist() == pytest.approx([nn.CrossEntropyLoss()(s * z, y).item() for s in (1, 7)])
    with pytest.raises(ValueError, match="allowed: positive numbers"):
        middles(a, b, x, y, [0.0])


def test_scaled_weights_scale_the_logits_of_the_whole_line():
    """The proposition of the chapter: W_k → c W_k and b_k → c^k b_k multiply the logits on the line by c^d."""
    model = MLP((6, 5, 4, 3))
    x, y = some_data(model)
    nets = model.initial([1, 2], torch.float64)
    c = 1.5
    power = {f"{k}.{name}": c ** (k + 1 if name == "bias" else 1) for k in range(3) for name in ("weight", "bias")}
    scaled = type(nets)(model, {name: power[name] * value for name, value in nets.params.items()})
    plain = lines(Pairs(nets.ordinary([0]), {"direct": nets.ordinary([1])}), x, y)
    assert all(torch.allclose(rescaled(nets, c).params[name], value) for name, value in scaled.params.items())
    after = lines(Pairs(scaled.ordinary([0]), {"direct": scaled.ordinary([1])}), x, y)
    a, b = nets.ordinary([0]), nets.ordinary([1])
    middle = middles(a, b, x, y, [c**3]).nll
    assert after.loss["direct"][0, 5].item() == pytest.approx(middle.item())
    assert not torch.allclose(plain.loss["direct"], after.loss["direct"])
    assert torch.equal(plain.accuracy["direct"], after.accuracy["direct"])
