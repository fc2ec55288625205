"""The report of a pair against what its parts give alone."""

import copy
import html
import re
import sys
from functools import partial

import matplotlib
import numpy as np
import pytest
import torch
from oracles.networks import numbers as normal
from oracles.networks import scattered
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss
from torch.utils.data import DataLoader, TensorDataset

from lmc_helpers import compare, curve, line, match, permuted, plane, repair, symmetry

matplotlib.use("agg")


def net(seed):
    made = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)).double()
    for k, value in enumerate([*made.parameters(), *made.buffers()]):
        if value.is_floating_point():
            value.data.copy_(normal(*value.shape, seed=100 * seed + k).abs() + 0.1 * (value.ndim == 1))
    return made


X = normal(50, 4)
Y = torch.arange(50) % 3


def test_rows_are_what_lines_and_repaired_modules_give():
    a, b = net(1), net(2)
    report = compare(a, b, cross_entropy, (X, Y), heights={"permutation point": 0.25})
    rows = {row["pair"]: row for row in report.table()}
    ends = {"direct": b, "matched by weights": match(a, b, X), "matched by activations": match(a, b, X, "activations")}
    for name, end in ends.items():
        found = line(a, end, cross_entropy, (X, Y))
        assert rows[name]["barrier"] == pytest.approx(found.barrier, rel=1e-9)
        assert rows[name]["barrier, error"] == pytest.approx(found.barrier_kinds["chord"].error, rel=1e-9)
        assert rows[name]["accuracy in the middle"] == pytest.approx(found.accuracies[5].item())
        half = repair(a, end, (X, Y))
        losses = [cross_entropy(copy.deepcopy(one).eval()(X), Y).item() for one in (half, a, end)]
        row = rows[f"{name}, REPAIR"]
        assert row["loss in the middle"] == pytest.approx(losses[0], rel=1e-9)
        assert row["middle above the mean of the ends"] == pytest.approx(losses[0] - sum(losses[1:]) / 2, rel=1e-9)
        assert row["middle above the mean of the ends, error"] > 0 and row["barrier"] is None
    assert rows["permutation point"]["barrier"] == 0.25
    assert a.training and b.training


def test_a_planted_order_has_no_barrier():
    a = net(1).eval()
    b = permuted(a, symmetry(a, X), {"0": torch.arange(8).roll(1)})
    rows = {row["pair"]: row for row in compare(a, b, cross_entropy, (X, Y)).table()}
    assert rows["direct"]["barrier"] > 0.01
    assert abs(rows["matched by weights"]["barrier"]) < 1e-12 > abs(rows["matched by activations"]["barrier"])


def test_the_report_is_shown():
    a, b, loader = net(1), net(2), DataLoader(TensorDataset(X, Y), 10, shuffle=True)
    random = torch.get_rng_state()
    report = compare(a, b, cross_entropy, loader, statistics="recomputed")
    assert torch.get_rng_state().equal(random)
    assert "recomputed" in str(report) and str(report).count("±") >= 6
    assert str(report).endswith(str(report.symmetry)) and "left alone by the inputs" in str(report)
    assert f"chord barrier: {report.lines['direct'].barrier:.4g} ±" in str(report.lines["direct"])
    assert report._repr_markdown_().count("\n|") == 7
    figure = report.figure()
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert len(labels) == 4
    assert report.figure(figure.axes[0]) is figure


@pytest.mark.parametrize("statistics", ["interpolated", "recomputed"])
@pytest.mark.parametrize("generator", [None, torch.Generator()])
def test_batches_are_the_same_in_each_pass(generator, statistics):
    """By class weights they count differently, or not at all."""
    loader = DataLoader(TensorDataset(X, Y), 3, shuffle=True, generator=generator)
    a, b, loss = net(1), net(2), nn.CrossEntropyLoss(torch.tensor([1.0, 0.0, 9.0]).double())
    report, half = compare(a, b, loss, loader, statistics=statistics, restarts=1), repair(a, b, (X, Y))
    found, k = report.repaired["direct"], report.lines["direct"].lambdas.tolist().index(0.5)
    assert found.loss.value == pytest.approx(loss(half(X), Y).item(), rel=1e-9)
    assert found.change.value == pytest.approx(found.loss.value - report.lines["direct"].losses[k].item(), rel=1e-9)


def test_batches_that_differ_between_passes_are_refused():
    class Shuffled:  # by random numbers that are not torch's; all batches count alike
        def __init__(self, seed):
            self.random = np.random.default_rng(seed)

        def __iter__(self):
            for part in self.random.permutation(len(X)).reshape(-1, 10):
                yield X[part], Y[part]

    for call in (compare, partial(plane, net(3), places=[0, 1]), partial(curve, steps=1)):
        with pytest.raises(ValueError, match="other batches in each pass"):
            call(net(1), net(2), loss=cross_entropy, data=Shuffled(0))
    assert compare(net(1), net(2), cross_entropy, list(Shuffled(0))).lines["direct"].batch_losses.shape[0] > 1


def test_sentences_say_what_matching_leaves_and_what_is_left_alone():
    a = nn.Sequential(nn.Linear(4, 8, bias=False), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)).double()
    scattered(a, 1)
    b = permuted(a, symmetry(a, X), {"0": torch.arange(8).roll(1), "2": torch.arange(8).roll(3)})
    with pytest.warns(UserWarning, match="0 has no bias"):
        said = compare(a, b, cross_entropy, (10 * X, a(10 * X).argmax(1))).sentences()
    for by in ("weights", "activations"):
        (one,) = [s for s in said if s.startswith(f"Matched by {by}, a barrier")]
        assert " is left of " in one and one.endswith("(0 %)")
    assert "REPAIR leaves 0 alone: it has no bias" in said
    flat = compare(net(1), net(1), cross_entropy, (X, Y)).sentences()
    assert re.fullmatch(r"No clear barrier between a and b as they are: (0|\S+e-\d\d)( ± \S+e-\d\d)?", flat[0])
    assert not any(s.startswith("Matched") for s in flat) and sum("no clear difference" in s for s in flat) == 3


def test_what_activations_do_not_match_is_said():
    class Chosen(nn.Sequential):
        def forward(self, x):
            return self[2]((self[1](x) + self[1](x[self[0](x).topk(5, 0).indices[:, 0]]).mean(0)).tanh())

    a, b = (scattered(Chosen(nn.Linear(4, 1), nn.Linear(4, 5), nn.Linear(5, 3)), seed) for seed in (1, 2))
    with pytest.warns(UserWarning, match="1 runs several times"):
        report = compare(a, b, cross_entropy, [(X, Y)])
    assert set(report.lines) == set(report.repaired) == {"direct", "weights"}
    assert "Not matched by activations: a and b pick other entries by an index" in report.sentences()[0]


@pytest.mark.parametrize("batch", [(X[:0], Y[:0]), (X[:, :3], Y)])
def test_what_the_caller_does_wrong_is_no_sentence_of_the_report(batch):
    with pytest.raises(ValueError, match="; allowed: "):
        compare(net(1), net(2), cross_entropy, (X, Y), statistics_data=[(X, Y), batch])


def rounded(said):
    return re.sub(r"\d\.?\d*e-\d\d$", "0", said)


def test_the_report_says_where_repair_makes_it_worse():
    """Halfway between a and nearly −a in the first layer little is left, as it should; REPAIR makes it large again."""
    a, b = (nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).double() for _ in range(2))
    for u, v in zip(a.parameters(), b.parameters(), strict=True):
        u.data.copy_(normal(*u.shape, seed=u.numel()))
        v.data.copy_(-0.9 * u if u.shape[0] == 8 else u)
    a[2].bias.data.zero_(), b[2].bias.data.zero_()
    report = compare(a, b, mse_loss, (X, 0 * X[:, :1]))
    after = mse_loss(repair(a, b, (X, X))(X), 0 * X[:, :1]).item()
    assert report.lines["direct"].losses[5] < after / 3
    (said,) = [s for s in report.sentences() if s.startswith("REPAIR") and "direct" in s]
    assert said.startswith("REPAIR makes it worse here, direct") and said.endswith(f"and is {after:.4g}")
    report = compare(a, b, mse_loss, (X, repair(a, b, (X, X))(X).detach()))
    assert any(
        s.startswith("REPAIR helps here, direct") and s.endswith("and is 0") for s in map(rounded, report.sentences())
    )


def test_the_page_is_one_file_with_table_figure_and_sentences(monkeypatch):
    report = compare(net(1), net(2), cross_entropy, (X, Y))
    page = report.html("<a> & b")
    assert "<title>&lt;a&gt; &amp; b</title>" in page and "<a>" not in page
    assert page.count("<svg") == page.count("</svg>") == 1 and page.count("<tr>") == 7
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page)
    for said in report.sentences():
        assert html.escape(said) in page
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="allowed"):
        report.figure()


@pytest.mark.parametrize("change", [{"lambdas": [0, 1]}, {"data": (X, Y + 1)}, {"b": nn.Linear(4, 3)}])
def test_bad_input_is_refused(change):
    with pytest.raises((TypeError, ValueError), match="allowed"):
        compare(**{"a": net(1), "b": net(2), "loss": cross_entropy, "data": (X, Y)} | change)
