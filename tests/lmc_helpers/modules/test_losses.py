"""Losses of batches against the loss of all data at once, whatever they weigh; what is no such loss is refused."""

import copy
from functools import partial

import pytest
import torch
from oracles.networks import numbers as normal
from oracles.networks import scattered
from torch import nn
from torch.nn import functional as F

import lmc_helpers as lmc
from lmc_helpers.modules.losses import Loss

X = normal(90, 5, seed=3)
Y = (X[:, 0] > 0.3).long() + (X[:, 1] > 1.5).long()  # rare classes
WEIGHTS = torch.tensor([1.0, 5.1, 50.3], dtype=torch.float64)
SHARES = normal(90, 3, seed=5).softmax(1)
REAL, BITS = normal(90, 3, seed=6), (normal(90, 3, seed=7) > 0).double()


def masked(outputs, y):
    each = F.cross_entropy(outputs, y, reduction="none")
    return (each * (y != 0)).sum() / (y != 0).sum()


class Focal(nn.CrossEntropyLoss):
    def forward(self, outputs, y):
        return (1 - outputs.softmax(1).gather(1, y[:, None])[:, 0]).square() * F.cross_entropy(
            outputs, y, reduction="none"
        )


#: Losses and targets; the first lines are torch's, by modules, functions and functions around them.
TORCHS = [
    *((nn.CrossEntropyLoss(weight=WEIGHTS), Y), (nn.CrossEntropyLoss(ignore_index=0), Y)),
    *((nn.CrossEntropyLoss(WEIGHTS, ignore_index=1, label_smoothing=0.2), Y), (nn.CrossEntropyLoss(WEIGHTS), SHARES)),
    *((nn.CrossEntropyLoss(reduction="sum"), Y), (nn.CrossEntropyLoss(WEIGHTS, reduction="sum"), Y)),
    *((nn.CrossEntropyLoss(reduction="none"), Y), (partial(F.cross_entropy, size_average=False), Y)),
    *((partial(F.cross_entropy, ignore_index=2, label_smoothing=0.1), Y), (nn.MultiMarginLoss(weight=WEIGHTS), Y)),
    *((nn.BCEWithLogitsLoss(pos_weight=WEIGHTS), BITS), (nn.BCEWithLogitsLoss(WEIGHTS, reduction="sum"), BITS)),
    *((nn.MSELoss(), REAL), (nn.MSELoss(reduction="sum"), REAL), (nn.MSELoss(reduction="none"), REAL)),
    *((nn.L1Loss(), REAL), (nn.SmoothL1Loss(), REAL), (nn.HuberLoss(), REAL), (nn.MultiLabelSoftMarginLoss(), BITS)),
    *((nn.KLDivLoss(reduction="batchmean"), SHARES), (nn.KLDivLoss(), SHARES), (nn.SoftMarginLoss(), 2 * BITS - 1)),
    *((nn.PoissonNLLLoss(), BITS), (nn.HingeEmbeddingLoss(), 2 * BITS - 1), (nn.MultiLabelMarginLoss(), BITS.long())),
]
OWN = [
    *((lambda o, y: F.nll_loss(o.log_softmax(1), y, WEIGHTS), Y), (lambda o, y: 2 * F.cross_entropy(o, y, WEIGHTS), Y)),
    *((lambda o, y: F.cross_entropy(o, y, WEIGHTS) + F.nll_loss(o, y, WEIGHTS) / 3, Y), (Focal(), Y)),
    *((lambda o, y: F.cross_entropy(o[y > 0], y[y > 0]), Y), (lambda o, y: F.gaussian_nll_loss(o, y, y.exp()), REAL)),
    *((lambda o, y: (o - y).square().mean(), REAL), (lambda o, y: (o - y).square().sum(), REAL)),
    *((lambda o, y: (o - y).square().mean(1), REAL), (lambda o, y: (o - y).abs().mean().item(), REAL)),
    *((Loss(masked, lambda o, y: (y != 0).sum()), Y), (Loss(F.mse_loss, lambda o, y: len(y)), REAL)),
    (lambda o, y: F.triplet_margin_loss(o, y, o.roll(1, 1)), REAL),
    *((lambda o, y, loss=loss: loss(o, y, weight=y.exp()), REAL) for loss in (F.l1_loss, F.mse_loss, F.huber_loss)),
]


def pair(make=lambda: nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 3))):
    return scattered(make(), 1), scattered(make(), 2)


def at_once(a, b, lam, loss, x, y):
    """The loss of λ a + (1 − λ) b, from its definition."""
    made = copy.deepcopy(a)
    with torch.no_grad():
        for value, other in zip(made.parameters(), b.parameters(), strict=True):
            value.copy_(lam * value + (1 - lam) * other)
        return torch.as_tensor(loss(made(x), y), dtype=torch.float64).mean().item()


def forms(x, y, order):
    x, y = x[order], y[order]
    return {"in memory": (x, y), "batches": list(zip(x.split([50, 39, 1]), y.split([50, 39, 1]), strict=True))}


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides", "ignore:size_average and reduce")
@pytest.mark.parametrize(("loss", "y"), TORCHS + OWN)
def test_batches_make_up_the_loss_of_all_data(loss, y):
    a, b = pair()
    for form, order in (("in memory", torch.arange(90)), ("batches", Y.argsort())):
        # sorted by class some batches have no label that counts, and one loss an empty mean, which is not a number
        data = forms(X, y, torch.arange(90) if loss is OWN[4][0] else order)[form]
        found = lmc.line(a, b, loss, data, [0, 0.3, 1])
        right = [at_once(a, b, lam, loss, X, y) for lam in (0, 0.3, 1)]
        assert found.losses.tolist() == pytest.approx(right, rel=1e-9)
        assert all(error.error >= 0 for error in found.barrier_kinds.values())


def correlation(outputs, y):
    return -torch.corrcoef(torch.stack([outputs.flatten(), y.flatten()]))[0, 1]


def contrastive(outputs, y):
    return F.cross_entropy(outputs @ y.T, torch.arange(len(y)))


def determination(outputs, y):
    return 1 - (outputs - y).square().sum() / (y - y.mean(0)).square().sum()


def balanced(outputs, y):
    return sum(F.cross_entropy(outputs[y == k], y[y == k]) for k in y.unique()) / len(y.unique())


NO_MEANS = [
    *((lambda o, y: (o - y).square().mean().sqrt(), REAL), (correlation, REAL), (contrastive, REAL), (masked, Y)),
    *((lambda o, y: F.cross_entropy(o, y, WEIGHTS) + 0.1 * o.square().mean(), Y), (lambda o, y: torch.rand(()), Y)),
    *((lambda o, y: F.cross_entropy(o[o[:, 0] > 0], y[o[:, 0] > 0]), Y), (Loss(masked, lambda o, y: len(y)), Y)),
    *(
        (Loss(masked, lambda o, y: -1.0), Y),
        (nn.CrossEntropyLoss(ignore_index=7), 7 + 0 * Y),
        (F.cross_entropy, REAL[:, 0]),
        (determination, REAL),
        (balanced, Y),
    ),
]


@pytest.mark.parametrize(("loss", "y"), NO_MEANS)
def test_what_is_no_mean_of_parts_is_refused(loss, y):
    a, b = pair()
    singly = list(zip(X.split(1), y.split(1), strict=True))
    for data in (*forms(X, y, torch.arange(90)).values(), singly):
        with pytest.raises(ValueError, match=r"^[^\n]*; allowed: [^\n]*$"):
            lmc.line(a, b, loss, data)
    if loss is NO_MEANS[6][0]:  # no example is left out at first
        return
    with pytest.raises(ValueError, match=r"^[^\n]*; allowed: [^\n]*$"):
        lmc.merge_path(a, "0", 0, 1, loss, forms(X, y, torch.arange(90))["batches"], steps=1)


def test_a_loss_that_reads_the_modules_themselves_is_refused():
    """A penalty on their weights would stay the same on the way; a module may give it beside its outputs."""
    a, b = pair()
    for net, calls in ((a, 5), (b, 4)):
        loss = lambda o, y, net=net: F.cross_entropy(o, y) + 0.1 * net[0].weight.square().sum()  # noqa: E731
        for call in (
            lambda: lmc.line(a, b, loss, (X, Y)),  # noqa: B023
            lambda: lmc.compare(a, b, loss, [(X, Y)]),  # noqa: B023
            lambda: lmc.plane(b, a, scattered(copy.deepcopy(a), 3), loss, (X, Y), [0, 1]),  # noqa: B023
            lambda: lmc.match(a, b, X, "sinkhorn", loss=loss, data=(X, Y)),  # noqa: B023
            lambda: lmc.merge_path(a, "0", 0, 1, loss, (X, Y), steps=1),  # noqa: B023
        )[:calls]:
            with pytest.raises(ValueError, match=r"reads '0\.weight' of a given module[^\n]*; allowed: "):
                call()

    class Own(nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def forward(self, x):
            return self.net(x), self.net[0].weight.square().sum()

    loss = lambda o, y: F.cross_entropy(o[0], y) + 0.1 * o[1]  # noqa: E731
    found = lmc.line(Own(a), Own(b), loss, (X, Y), [0, 0.5, 1])
    assert found.losses.tolist() == pytest.approx([at_once(Own(a), Own(b), lam, loss, X, Y) for lam in (0, 0.5, 1)])


@pytest.mark.parametrize(("loss", "y"), NO_MEANS[:4])
def test_it_may_take_all_data_in_one_batch(loss, y):
    a, b = pair()
    found = lmc.line(a, b, loss, [(X, y)], [0, 0.5, 1])
    assert found.losses.tolist() == pytest.approx([at_once(a, b, lam, loss, X, y) for lam in (0, 0.5, 1)], rel=1e-9)


@pytest.mark.parametrize("by", ["line", "match"])
@pytest.mark.parametrize("noise", [lambda o: F.dropout(o, 0.1), lambda o, calls=[]: calls.append(1) or o * len(calls)])
def test_a_loss_that_is_another_at_every_call_is_refused(noise, by):
    (a, b), loss, data = pair(), lambda o, y: F.mse_loss(noise(o), y), [(X, REAL)]
    with pytest.raises(ValueError, match=r"^the loss is another at every call; allowed"):
        lmc.line(a, b, loss, data) if by == "line" else lmc.match(a, b, X, "sinkhorn", loss=loss, data=data, steps=1)


def test_means_of_sequences_do_not_weigh_by_their_lengths():
    def each(o, y):
        return F.cross_entropy(o.mT, y, reduction="none")

    (a, b), data = pair(), [(normal(n, t, 5), torch.arange(n * t).view(n, t) % 3) for n, t in ((3, 7), (4, 2), (1, 5))]
    sequences = sum(each(b(x), y).mean(1).sum().item() for x, y in data) / 8
    assert lmc.line(a, b, lambda o, y: each(o, y).mean(1), data, [0, 1]).losses[0].item() == pytest.approx(sequences)
    tokens = sum(each(b(x), y).sum().item() for x, y in data) / (21 + 8 + 5)
    for loss in (lambda o, y: each(o, y).mean(), each, lambda o, y: F.cross_entropy(o.mT, y)):
        assert lmc.line(a, b, loss, data, [0, 1]).losses[0].item() == pytest.approx(tokens)
    masks = lambda o, y: ((y < 2) * each(o, y)).sum(1) / (y < 2).sum(1)  # noqa: E731
    with pytest.raises(ValueError, match=r"^batches of different shapes may weigh differently"):
        lmc.line(a, b, lambda o, y: masks(o, y).mean(), data)


def test_equal_outputs_do_not_hide_weights():
    """A network with one output for all inputs has the same loss, whatever the weights."""
    a, b = pair()
    nn.init.zeros_(b[2].weight)
    nn.init.zeros_(b[2].bias)
    each = lambda o, y: F.cross_entropy(o, y, reduction="none") * WEIGHTS[y]  # noqa: E731
    for one, two in ((a, b), (b, a)):
        with pytest.raises(ValueError, match="allowed"):
            lmc.line(one, two, lambda o, y: each(o, y).sum() / WEIGHTS[y].sum(), (X, Y))


def test_accuracy_is_by_outputs_that_the_loss_wants_large():
    """Not by distances, outputs in another order, embeddings or numbers."""
    a, b = pair()
    centres, hinge = 3 * REAL[:3], nn.MultiMarginLoss()
    for good in (
        lambda o, y: F.cross_entropy(o / 3, y),
        lambda o, y: hinge(o, y),
        lambda o, y: -o.gather(1, y[:, None]),
    ):
        found = lmc.line(a, b, lambda o, y, good=good: good(o, y).mean(), (X, Y), [0, 1])
        assert found.accuracies[1].item() == pytest.approx((a(X).argmax(1) == Y).double().mean().item())
    for other in (
        *(lambda o, y: F.cross_entropy(-o, y), lambda o, y: F.cross_entropy(o.flip(1), y)),
        *(lambda o, y: (o - centres[y]).square().mean(), lambda o, y: (o[:, 0] - y).square()),
    ):
        assert lmc.line(a, b, other, (X, Y), [0, 1]).accuracies is None


@pytest.mark.parametrize(
    "loss", [lambda o, y: (o.argmax(1) != y).double().mean(), lambda o, y: (o - 1).abs().mean().item()]
)
def test_a_descent_on_a_loss_without_a_gradient_is_refused(loss):
    a, b = pair()
    for call in (
        lambda: lmc.curve(a, b, loss, (X, Y)),
        lambda: lmc.match(a, b, X, "sinkhorn", loss=loss, data=(X, Y)),
        lambda: lmc.merge_path(a, "0", 0, 1, loss, (X, Y), steps=1),
    ):
        with pytest.raises(ValueError, match="no gradient by the weights; allowed"):
            call()


@pytest.mark.parametrize("changes", [lambda o, y: y.clamp_(1), lambda o, y: o.neg_()])
def test_a_loss_that_writes_into_what_it_is_given_is_refused(changes):
    a, b = pair()
    with pytest.raises(ValueError, match="the loss writes into outputs or targets; allowed"):
        lmc.line(a, b, lambda o, y: changes(o, y).sum() * 0 + F.cross_entropy(o, y), [(X, Y.clone())])


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    "loss",
    [F.mse_loss, nn.L1Loss(), lambda o, y: (o - y).square().mean(), lambda o, y: (o - y).square().mean(0).view(-1)],
)
def test_targets_that_broadcast_are_refused(loss, swap):
    a, b = pair(lambda: nn.Sequential(nn.Linear(5, 1), nn.Flatten(0) if swap else nn.Identity()))
    y = X[:, :1] if swap else X[:, 0]
    for data in [*forms(X, y, torch.arange(90)).values(), [(X, y)]]:
        with pytest.raises(ValueError, match=r"outputs \(\d+,.*targets \(\d+,[^\n]*; allowed"):
            lmc.line(a, b, loss, data)


def segmenting():
    return nn.Sequential(nn.Conv2d(2, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 4, 1))


@pytest.mark.parametrize("ignored", [255, 0])
def test_pixels_that_are_not_labelled_count_nowhere(ignored):
    a, b = pair(segmenting)
    x, y = normal(30, 2, 4, 4), torch.arange(480).view(30, 4, 4) * 7 % 4
    y[:, : (y.shape[1] // 2)] = ignored
    y[:9] = ignored  # whole images
    counted = y != ignored
    right = (a(x).argmax(1) == y)[counted].double().mean().item()
    loss = partial(F.cross_entropy, ignore_index=ignored)
    own = lambda o, y: (F.cross_entropy(o, y, reduction="none", ignore_index=ignored)).sum() / (y != ignored).sum()  # noqa: E731
    hidden = lambda o, y: F.cross_entropy(o, y * (y < 4), reduction="none").mul(y != ignored).flatten(1).sum(1)  # noqa: E731
    for each in (
        nn.CrossEntropyLoss(ignore_index=ignored),
        loss,
        lambda o, y: loss(o, y) * 2,
        Loss(own, lambda o, y: (y != ignored).sum()),
    ):
        found = lmc.line(a, b, each, (x, y), [0, 1])
        assert found.losses[1].item() == pytest.approx(at_once(a, b, 1, each, x, y), rel=1e-9)
        assert found.accuracies[1].item() == pytest.approx(right)
    found = lmc.line(a, b, hidden, (x, y), [0, 1])  # which pixels count is not known
    assert (
        found.losses[1].item() == pytest.approx(at_once(a, b, 1, hidden, x, y), rel=1e-9) and found.accuracies is None
    )


@pytest.mark.parametrize("loss", [nn.CrossEntropyLoss(WEIGHTS, ignore_index=1), nn.CrossEntropyLoss(reduction="sum")])
def test_paths_and_descents_have_the_loss_of_all_data(loss):
    a, b = pair()
    order = Y.argsort()
    batches = list(zip(X[order].split(30), Y[order].split(30), strict=True))
    path = lmc.merge_path(a, "0", 0, 1, loss, batches, torch.tensor([1.0]), steps=1, decay=0.1)
    size = sum(value.square().sum() for value in a.parameters())
    assert path.start == pytest.approx((loss(a(X), Y) + 0.05 * size).item(), rel=1e-9)
    for by in ("straight-through", "sinkhorn"):
        made, how = lmc.match(a, b, X, by, loss=loss, data=batches, steps=2, details=True)
        assert how.values.min().item() == pytest.approx(at_once(a, made, 0.5, loss, X, Y), rel=1e-9)
