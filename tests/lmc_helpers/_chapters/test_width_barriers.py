"""Chapter *width barriers*: cross-fitted heights against a plain loop, without the bias of the largest mean."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from oracles.draws import labelled
from oracles.networks import perceptron
from scipy.stats import t
from torch import nn

from lmc_helpers._chapters import width_barriers as chapter
from lmc_helpers.data.images import load
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.training.runs import Result


def test_each_half_is_measured_at_the_place_that_the_other_chose():
    first = np.array([9.0, 1.0, 9.0, 2.0])  # the half 0, 2 chooses it; 1 and 2 are measured
    second = np.array([5.0, 8.0, 6.0, 8.0])  # the half 1, 3 chooses it; 5 and 6 are measured
    value, error = chapter.ratio_at_peaks([first, second], [np.array([1.0, 2.0, 1.0, 2.0])])
    assert value == pytest.approx((1.5 / 2 + 5.5 / 1) / 2)
    # half variances of the numerators: ½ each, over two samples; the denominators do not vary
    assert error == pytest.approx(np.hypot(0.5 / 2, 0.5 / 1) / 2)


def test_no_bias_where_all_places_are_alike():
    rng = np.random.default_rng(1)
    draws = 2 + rng.standard_normal((400, 9, 20)) / 2
    found = [chapter.ratio_at_peaks(list(draw[:8]), [draw[8]]) for draw in draws]
    values, errors = np.array(found).T
    naive = np.array([draw[:8].mean(axis=1).max() / draw[8].mean() for draw in draws])
    assert abs(values.mean() - 1) < 4 * values.std() / 20
    assert naive.mean() > 1.05
    assert 0.8 < values.std() / np.sqrt((errors**2).mean()) < 1.2


SIZES = dict(widths=[3, 5], depths=[2], depth_widths=[4], groups=2, depth_groups=3, long_groups=1, together=3)
OTHER = dict(other="digits", other_widths=[7, 9], other_pairs=4, other_epochs=4, other_images=200)
TIMES = dict(epochs=2, budgets=[1, 3], second=[2, 4], seed=5)
PARAMETERS = chapter.Parameters(dataset="digits", images=300, **SIZES, **OTHER, **TIMES)


def result_of(stack, epochs=1, **more):
    zeros = torch.zeros(epochs, len(stack))
    return Result(stack, zeros, zeros, **{"survivors": tuple(range(len(stack)))} | more)


def some_data(model, n=40):
    return labelled(n, *model.input_shape, classes=model.classes, seed=3)


def test_the_runs_are_those_of_the_appendix_of_a_second_seed_and_of_longer_training():
    found = PARAMETERS.sweep()
    assert list(found) == [
        *(chapter.Case(4, m, kind) for kind in ("first", "second") for m in (3, 5)),
        *(chapter.Case(2, 4, kind) for kind in ("first", "second")),
        *(chapter.Case(4, m, "long") for m in (3, 5)),
    ]
    for case, run in found.items():
        groups, end, keep = (1, 3, (1, 2)) if case.kind == "long" else (2 if case.depth == 4 else 3, 2, ())
        assert run.model.sizes == (64, *[case.width] * (case.depth - 1), 10)
        assert (len(run.seeds), run.descent.epochs, run.keep) == (3 * groups, end, keep)
        assert (run.descent.optimiser, run.descent.rate, run.descent.batch) == ("sgd", 0.05, 100)
        assert (run.data.name, run.data.n, run.model.init) == ("digits", 300, "he")
    seeds = [seed for run in found.values() for seed in run.seeds]
    assert len(seeds) == len(set(seeds))
    there = PARAMETERS.other_dataset_runs()
    assert PARAMETERS.runs() == [*found.values(), *there.values()]
    assert [(len(run.seeds), run.data.n, run.descent.epochs) for run in there.values()] == [(8, 200, 4)] * 2
    assert [run.model.sizes for run in there.values()] == [(64, 7, 7, 7, 10), (64, 9, 9, 9, 10)]
    both, after = PARAMETERS.sweep(), replace(PARAMETERS, seed=6, images=60_000).sweep()
    assert both[chapter.Case(4, 3, "second")].seeds == after[chapter.Case(4, 3, "first")].seeds
    assert len({run.data for run in both.values()}) == 1 and {run.data.n for run in after.values()} == {None}
    for depths in ([], [2], [4], [3]):
        found = replace(PARAMETERS, second=depths).sweep()
        assert {case.depth for case in found if case.kind == "second"} == {*depths} & {2, 4}
        assert all(both[case] == run for case, run in found.items())
    alone = replace(PARAMETERS, long_groups=0, second=[])
    found = alone.sweep()
    assert found[chapter.Case(4, 3, "long")] == found[chapter.Case(4, 3, "first")]
    assert found[chapter.Case(4, 3, "long")].keep == (1, 2)
    assert found[chapter.Case(2, 4, "first")].descent.epochs == 2
    assert len(alone.runs()) == 3 + 2
    same = {"other_widths": [3], "other_pairs": 3, "other_epochs": 2, "other_images": 300}
    assert len(replace(alone, budgets=[], **same).runs()) == 3  # trained once


def test_runs_are_trained_and_compared_at_their_budgets():
    result, x = PARAMETERS.sweep()[chapter.Case(4, 3, "long")].result(), load("digits").inputs(flat=True)[:50]
    pairs = (chapter.matched_pairs(result, epoch, x, 1, 1, group_size=3) for epoch in (1, 3))
    early, late = (pair.first.params["0.weight"] for pair in pairs)
    assert not torch.equal(early, late)
    assert torch.equal(late, result.stack.params["0.weight"][[0, 0, 1]])


def test_every_two_of_a_group_are_a_pair():
    model = MLP((6, 4, 4, 3))
    x, y = some_data(model)
    nets = chapter.rescaled(model.initial(range(7), torch.float64), 4.0)  # so that some lines have barriers
    lost = result_of(nets, survivors=(0, 1, 2, 3, 5, 6, 7))  # the second group of three lacks network 4
    pairs = chapter.matched_pairs(lost, 1, x, 1, 1, ["direct"], group_size=3)
    first, second = pairs.first.params["0.weight"], pairs.second["direct"].params["0.weight"]
    assert torch.equal(first, nets.params["0.weight"][[0, 0, 1]])
    assert torch.equal(second, nets.params["0.weight"][[1, 2, 2]])
    assert pairs.each == 3
    whole = chapter.lines(chapter.matched_pairs(result_of(nets.ordinary(range(6))), 1, x, 1, 1, ["direct"], 3), x, y)
    single = whole.of_pairs("direct")
    ends = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]
    alone = [chapter.lines(chapter.Pairs(nets.ordinary([i]), {"direct": nets.ordinary([j])}), x, y) for i, j in ends]
    assert single == pytest.approx([line.barriers("direct")[0] for line in alone])
    assert len(set(single)) > 2
    assert whole.barriers("direct") == pytest.approx([single[:3].mean(), single[3:].mean()])
    assert whole.largest("direct")[0] == pytest.approx(whole.loss["direct"][:3].amax(dim=1).mean().item())
    falls = whole.accuracy["direct"].numpy()
    chord = falls[:, :1] + (falls[:, -1:] - falls[:, :1]) * np.array(chapter.LAMBDAS)  # λ = 0 is the first place
    assert whole.drops("direct") == pytest.approx((chord - falls).max(axis=1).reshape(2, 3).mean(axis=1))


def test_planted_permutations_are_found_in_every_order():
    model = MLP((6, 5, 5, 3))
    nets, x = model.initial([1, 2], torch.float64), some_data(model, 200)[0]
    moved = nets.permuted({"0": torch.tensor([[2, 0, 3, 1, 4]] * 2), "1": torch.tensor([[4, 3, 0, 2, 1]] * 2)})
    both = model.initial([1, 1, 2, 2], torch.float64)
    both = type(both)(model, {k: torch.stack([nets.params[k], moved.params[k]], 1).flatten(0, 1) for k in nets.params})
    pairs = chapter.matched_pairs(result_of(both), 1, x, 5, 1)
    for order in ("weights", "activations"):
        for name, value in nets.params.items():
            assert torch.equal(pairs.second[order].params[name], value)
    assert torch.equal(pairs.second["direct"].params["0.weight"], moved.params["0.weight"])


def test_lines_margins_and_scales_are_those_of_modules_between_the_two():
    model = MLP((6, 5, 4, 3))
    x, y = some_data(model)
    nets = model.initial([1, 2], torch.float64)
    found = chapter.lines(chapter.Pairs(nets.ordinary([0]), {"direct": nets.ordinary([1])}), x, y)
    expected, right = [], []
    for lam in chapter.LAMBDAS:
        z = perceptron(Stack(model, {k: lam * v[:1] + (1 - lam) * v[1:] for k, v in nets.params.items()}), 0)[0](x)
        expected.append(nn.CrossEntropyLoss()(z, y).item())
        right.append((z.argmax(dim=1) == y).double().mean().item())
    assert np.allclose(found.loss["direct"][0], expected, atol=1e-12)
    chord = np.linspace(expected[0], expected[-1], 11)
    assert found.barriers("direct")[0] == pytest.approx(max(np.array(expected) - chord))
    assert found.drops("direct")[0] == pytest.approx(max(np.linspace(right[0], right[-1], 11) - right))
    assert found.largest("direct")[0] == pytest.approx(max(expected))
    a, b = nets.ordinary([0]), nets.ordinary([1])
    found = chapter.middles(a, b, x, y, [1.0, 7.0])
    z = perceptron(Stack(model, {k: (v[:1] + v[1:]) / 2 for k, v in nets.params.items()}), 0)[0](x)
    gaps = [max(row) - row[label] for row, label in zip(z.tolist(), y.tolist(), strict=True)]
    assert found.mean_gap.item() == pytest.approx(np.mean(gaps))
    assert found.wrong.item() == pytest.approx(np.mean([gap > 0 for gap in gaps]))
    assert found.nll[:, 0].tolist() == pytest.approx([nn.CrossEntropyLoss()(s * z, y).item() for s in (1, 7)])
    c = 1.5
    power = {f"{k}.{name}": c ** (k + 1 if name == "bias" else 1) for k in range(3) for name in ("weight", "bias")}
    scaled = type(nets)(model, {name: power[name] * value for name, value in nets.params.items()})
    plain = chapter.lines(chapter.Pairs(nets.ordinary([0]), {"direct": nets.ordinary([1])}), x, y)
    assert all(torch.allclose(chapter.rescaled(nets, c).params[name], value) for name, value in scaled.params.items())
    after = chapter.lines(chapter.Pairs(scaled.ordinary([0]), {"direct": scaled.ordinary([1])}), x, y)
    a, b = nets.ordinary([0]), nets.ordinary([1])
    middle = chapter.middles(a, b, x, y, [c**3]).nll
    assert after.loss["direct"][0, 5].item() == pytest.approx(middle.item())
    assert not torch.allclose(plain.loss["direct"], after.loss["direct"])
    assert torch.equal(plain.accuracy["direct"], after.accuracy["direct"])


def arches(heights, ends=0.0):
    """Losses (P, 11) that rise from ``ends`` to a height in the middle."""
    shape = 1 - (2 * torch.linspace(0, 1, 11) - 1).abs()
    return ends + torch.tensor(heights)[:, None] * shape


def curves(direct, weights, ends=0.0):
    """Curves of hand-made barriers, width → heights of the pairs."""
    both = {m: {"direct": arches(direct[m], ends), "weights": arches(weights[m], ends)} for m in direct}
    return chapter.Curves({m: chapter.Lines(loss, {}) for m, loss in both.items()})


WEIGHTS = {3: [1.0, 1.1, 0.9, 1.0], 6: [2.0, 2.2, 1.8, 2.0], 12: [4.0, 4.1, 3.9, 4.0], 24: [1.0, 1.2, 0.8, 1.0]}
DIRECT = {m: [4.0, 4.0, 4.4, 4.0] for m in WEIGHTS}


def test_heights_shares_and_their_contrast_are_taken_against_the_peak_between():
    found = curves(DIRECT, WEIGHTS)
    value, error = found.relative("weights", 3, over=[6, 12])
    # the peak is at 12 for either half; a half of the pairs each, in their order
    assert value == pytest.approx((1.05 / 4.05 + 0.95 / 3.95) / 2)
    assert 0 < error < 0.1
    assert found.relative("weights", 24, over=[6])[0] == pytest.approx((1.1 / 2.1 + 0.9 / 1.9) / 2)
    place, spread = found.peak_width("weights", 1)
    assert place == pytest.approx(math.log(12))
    assert spread >= math.log(24 / 6) / 2 / math.sqrt(12)
    shares = {m: np.mean(WEIGHTS[m]) / np.mean(DIRECT[m]) for m in WEIGHTS}
    for m, share in shares.items():
        assert found.remaining(m, "weights")[0] == pytest.approx(share)
    # even pairs are farthest at 24, where odd ones have 2.2 of 8; odd ones are so at 3, where even ones have 1.9 of 8.4
    assert found.largest_effect("weights", "direct")[0] == pytest.approx((2.2 / 8 + 1.9 / 8.4) / 2)
    value, error = found.contrast("weights", 12, 3)
    assert value == pytest.approx(shares[12] / shares[3])
    (a, da), (b, db) = found.remaining(12, "weights"), found.remaining(3, "weights")
    assert (error / value) ** 2 == pytest.approx((da / a) ** 2 + (db / b) ** 2)
    direct = {3: [2.0, 3.0], 6: [1.0, 1.5]}
    (at_3, at_6), (error_3, error_6) = curves(direct, direct, ends=0.5).summits("direct")
    assert (at_3, at_6) == pytest.approx((3.0, 1.75))  # no chord is taken off
    assert (error_3, error_6) == pytest.approx((0.5, 0.25))


def test_farthest_is_a_factor():
    """A fourth is farther from 1 than a threefold barrier, and a fivefold one farther still."""
    weights = {3: [1.0, 1.0] * 2, 6: [3.0, 3.1] * 2, 12: [0.25, 0.26] * 2}
    direct = {m: [1.0, 1.0, 1.02, 1.02] for m in weights}
    assert curves(direct, weights).largest_effect("weights", "direct")[0] == pytest.approx(0.255 / 1.01, rel=1e-4)
    weights[6] = [5.0, 5.1] * 2
    assert curves(direct, weights).largest_effect("weights", "direct")[0] > 4


def peaked(place, widths=(3, 6, 12, 24, 48)):
    samples = {m: [1.0 if m == place else 0.1] * 4 for m in widths}
    return curves(samples, samples)


def test_peaks_are_compared_by_the_slope_and_the_ratio_of_their_places():
    assert chapter.depth_trend({2: peaked(6), 3: peaked(6), 4: peaked(6)}, "weights", 1)[0] == pytest.approx(0)
    slope, error = chapter.depth_trend({2: peaked(6), 3: peaked(12), 4: peaked(24)}, "weights", 1)
    assert slope == pytest.approx(math.log(2))
    assert error > 0
    assert [peaked(place).peaks("weights") for place in (3, 6, 24, 48)] == [False, True, True, False]
    some = {3: peaked(12), 4: peaked(12), 5: peaked(24)}
    more = {2: peaked(3), 6: peaked(48)}
    assert chapter.depth_trend(some | more, "weights", 1) == chapter.depth_trend(some, "weights", 1)
    assert chapter.depth_trend({3: peaked(12), 4: peaked(12)} | more, "weights", 1) is None
    value, error = chapter.peak_width_ratio(peaked(24), peaked(6), "weights", 1)
    (a, da), (b, db) = (peaked(place).peak_width("weights", 1) for place in (24, 6))
    assert math.exp(value) == pytest.approx(4)
    assert value == pytest.approx(a - b) and error**2 == pytest.approx(da**2 + db**2)
    assert chapter.bounds_of(10, (value, error), log=True)[1] > 0  # of a width, however wide the interval is


def test_pairs_that_share_a_network_are_one_sample():
    """Errors over groups are right where pairs of a group go together; errors over pairs are too small."""
    rng = np.random.default_rng(2)
    covered = {1: 0, 3: 0}  # by the number of pairs that are one sample
    for _ in range(400):
        heights = (1 + rng.normal(0, 0.3, (12, 1)) + rng.normal(0, 0.1, (12, 3))).ravel()
        for each in (1, 3):
            read = chapter.Curves({3: chapter.Lines({"direct": arches(heights.tolist())}, {}, each=each)})
            (value,), (error,) = read.summits("direct")
            covered[each] += abs(value - 1) <= t.isf(0.025, 36 // each - 1) * error
    assert abs(covered[3] - 400 * 0.95) <= 4 * math.sqrt(400 * 0.05 * 0.95)
    assert covered[1] < 0.85 * 400


def test_bounds_are_student_s_and_of_the_largest():
    def half(n):
        return t.isf(0.0005, n - 2)

    value, low, high = chapter.bounds_of(10, (2.0, 0.1))
    assert (value, low, high) == pytest.approx((2.0, 2 - half(10) / 10, 2 + half(10) / 10))
    value, low, high = chapter.bounds_of(10, (2.0, 0.1), (1.5, 0.5))
    assert (value, low, high) == pytest.approx((2.0, 2 - half(10) / 10, 1.5 + half(10) / 2))
    assert chapter.bounds_of(0, (2.0, 0.1)) == chapter.bounds_of(3, (2.0, 0.1))
    value, low, high = chapter.bounds_of(10, (2.0, 0.1), (2.1, 0.5), of_all=min)
    assert (value, low, high) == pytest.approx((2.0, 2.1 - half(10) / 2, 2 + half(10) / 10))
