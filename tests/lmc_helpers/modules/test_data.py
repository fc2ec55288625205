"""Batches as people have them, against one forward pass over tensors; other precisions; a batch's memory."""

import resource
from collections import OrderedDict, UserDict, namedtuple
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from oracles.networks import numbers as normal
from oracles.networks import scattered
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import lmc_helpers as lmc

X, Z, Y = normal(60, 4), normal(60, 3, seed=1), torch.arange(60) % 2


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = nn.Linear(4, 6), nn.Linear(3, 6), nn.Linear(6, 2)

    def forward(self, x, z):
        return self.out(torch.relu(self.a(x) + self.b(z)))


Named = namedtuple("Named", "x z label")
ROWS = list(zip(X, Z, Y, strict=True))


class Stream(IterableDataset):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


FORMS = {
    "in memory": (X, Z, Y),
    "arrays": (X.numpy(), Z.numpy(), Y.numpy()),
    "pair of a tuple": ((X, Z), Y),
    "pair of a mapping": (UserDict(x=X, z=Z), Y),
    "mapping": UserDict(x=X, z=Z, labels=Y),
    "loader of three": DataLoader(TensorDataset(X, Z, Y), 16),
    "loader of pairs": DataLoader([((x, z), y) for x, z, y in ROWS], 16),
    "loader of dicts": DataLoader([{"x": x, "z": z, "target": y, "id": "a"} for x, z, y in ROWS], 16),
    "loader of a stream": DataLoader(Stream(ROWS), 16),
    "loader of named tuples": DataLoader([Named(*row) for row in ROWS], 16),
}


def pair(make=Two, dtype=torch.float64):
    return scattered(make(), 1).to(dtype), scattered(make(), 2).to(dtype)


@pytest.mark.parametrize("form", FORMS)
def test_all_functions_take_batches_as_people_have_them(form):
    a, b = pair()
    data = FORMS[form]
    right = [F.cross_entropy(net(X, Z), Y).item() for net in (b, a)]
    found = lmc.line(a, b, F.cross_entropy, data, [0, 1])
    assert found.losses.tolist() == pytest.approx(right, rel=1e-9)
    assert found.accuracies[1].item() == pytest.approx((a(X, Z).argmax(1) == Y).double().mean().item())
    assert lmc.compare(a, b, F.cross_entropy, data, restarts=1).lines["direct"].losses[-1].item() == pytest.approx(
        right[1]
    )
    for by in ("activations", "straight-through"):
        given = lmc.match(a, b, [X[:4], Z[:4]], by, loss=F.cross_entropy, data=data, steps=1, details=True)[1]
        plain = lmc.match(a, b, (X[:4], Z[:4]), by, loss=F.cross_entropy, data=((X, Z), Y), steps=1, details=True)[1]
        if by == "activations":
            assert given.permutations["a"].equal(plain.permutations["a"])
    layer = lmc.repair(a, b, data).a
    torch.testing.assert_close(layer.weight, lmc.repair(a, b, ((X, Z), Y)).a.weight)
    path = lmc.merge_path(a, "a", 0, 1, F.cross_entropy, data, torch.tensor([1.0]), steps=0)
    assert path.start == pytest.approx(right[1])


def test_data_that_come_once_are_enough_for_a_line():
    a, b = pair()
    found = lmc.line(a, b, F.cross_entropy, DataLoader(Stream(iter(ROWS)), 16), [0, 1])
    assert found.losses[1].item() == pytest.approx(F.cross_entropy(a(X, Z), Y).item(), rel=1e-9)
    for call in (lmc.repair, partial(lmc.compare, loss=F.cross_entropy)):
        with pytest.raises(ValueError, match=r"only once; allowed: .*list\(data\)$"):
            call(a, b, data=DataLoader(Stream(iter(ROWS)), 16))


@pytest.mark.parametrize(
    "data",
    [
        *([X, Z, Y], [(X, Z, Y, ["name"] * 60)], [{"image": X, "depth": Z}], ((X, Z), (Y, Y)), TensorDataset(X, Z, Y)),
        *([[X]], [(X, Y)], {"x": X, "z": Z[:5], "labels": Y}, [(X.float().numpy().astype(str), Z, Y)]),
        *([X, X], ([X, Z], [Y, Y]), ((X, Z), [Y, Y]), ({"x": X, "z": Z, "labels": Y},) * 2, [((X[0], Z[0]), 1.0)]),
    ],
)
def test_other_batches_are_refused_in_one_sentence(data):
    for call in (lmc.repair, partial(lmc.line, loss=F.cross_entropy)):
        with pytest.raises((TypeError, ValueError), match=r"^[^\n]*; allowed: [^\n]*$"):
            call(*pair(), data=data)


@dataclass
class Output(OrderedDict):
    """As of transformers: a mapping whose values are attributes."""

    loss: Any = None
    logits: Any = None

    def __post_init__(self):
        for field in fields(self):
            if (value := getattr(self, field.name)) is not None:
                self[field.name] = value

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        super().__setattr__(name, value)


@dataclass
class Plain:
    logits: torch.Tensor
    states: tuple


class Reader(nn.Module):
    """A small language model with the arguments and outputs of transformers."""

    plain = False

    def __init__(self):
        super().__init__()
        self.e, self.h, self.o = nn.Embedding(9, 6), nn.Linear(6, 6), nn.Linear(6, 9)

    def forward(self, input_ids, attention_mask=None, labels=None):
        h = torch.relu(self.h(self.e(input_ids)))
        logits = self.o(h if attention_mask is None else h * attention_mask[..., None])
        if self.plain:
            return Plain(logits, (h,))
        return Output(None if labels is None else F.cross_entropy(logits.flatten(0, 1), labels.flatten()), logits)


IDS = torch.arange(300).view(60, 5) ** 2 % 9
TARGETS = torch.where((IDS % 3 > 0) & (torch.arange(60)[:, None] > 20), IDS, -100)


def logits(outputs, y):
    return F.cross_entropy(outputs.logits.flatten(0, 1), y.flatten())


@pytest.mark.filterwarnings("ignore:units that stay as merged. e is a Embedding")
@pytest.mark.parametrize("loss", [lambda o, y: o.loss, logits, lambda o, y: 2 * logits(o, y) - o["loss"]])
@pytest.mark.parametrize("kind", ["tokenizer", "loader", "lengths"])
def test_labels_inside_a_batch(kind, loss):
    a, b = pair(Reader)
    parts = zip(IDS.split([24, 30, 6]), TARGETS.split([24, 30, 6]), strict=True)
    data = {
        "tokenizer": UserDict(input_ids=IDS, labels=TARGETS),
        "loader": DataLoader([{"input_ids": x, "labels": y} for x, y in zip(IDS, TARGETS, strict=True)], 16),
        "lengths": [{"input_ids": x[:, : n + 3], "labels": y[:, : n + 3]} for n, (x, y) in enumerate(parts)],
    }[kind]
    whole = data if kind == "lengths" else [{"input_ids": IDS, "labels": TARGETS}]
    every = [[net(one["input_ids"]).logits[one["labels"] >= 0] for one in whole] for net in (b, a)]
    counted = torch.cat([one["labels"][one["labels"] >= 0] for one in whole])
    found = lmc.line(a, b, loss, data, [0, 1])
    assert found.losses.tolist() == pytest.approx(
        [F.cross_entropy(torch.cat(o), counted).item() for o in every], rel=1e-6
    )
    if kind == "loader":
        assert lmc.compare(a, b, loss, data, restarts=1).lines["direct"].losses.equal(lmc.line(a, b, loss, data).losses)


def test_outputs_in_a_dataclass_and_targets_in_a_dict():
    a, b = pair(Reader)
    a.plain = b.plain = True
    loss = lambda out, y: F.cross_entropy(out.logits.mean(1), y["class"]) + out.states[0].square().mean()  # noqa: E731
    data = (dict(input_ids=IDS), {"class": IDS[:, 0], "weight": IDS[:, 1]})
    found = lmc.line(a, b, loss, data, [0, 1])
    assert found.losses.tolist() == pytest.approx([loss(net(IDS), data[1]).item() for net in (b, a)], rel=1e-9)


def test_outputs_are_distributions():
    class Spread(nn.Linear):
        def forward(self, x):
            return torch.distributions.Independent(torch.distributions.Normal(super().forward(x), 0.5), 1)

    a, b = pair(lambda: Spread(4, 3))
    loss = lambda out, z: -out.log_prob(z).mean()  # noqa: E731
    for data in ((X, Z), [(X[:7], Z[:7]), (X[7:], Z[7:])]):
        found = lmc.line(a, b, loss, data, [0, 1])
        assert found.losses.tolist() == pytest.approx([loss(net(X), Z).item() for net in (b, a)], rel=1e-9)


def test_statistics_come_from_other_data():
    make = lambda: nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 2))  # noqa: E731
    a, b = pair(make)
    train, test = DataLoader(TensorDataset(X[:40]), 40), (X[40:], Y[40:])
    found = lmc.line(a, b, F.cross_entropy, test, [0, 1], "recomputed", statistics_data=train)
    right = a.train()(X[:40])
    z = a[0](X[:40])
    a.eval()[1].running_mean, a[1].running_var = z.mean(0).detach(), z.var(0).detach()
    assert found.losses[1].item() == pytest.approx(F.cross_entropy(a(test[0]), test[1]).item(), rel=1e-9) and len(right)
    report = lmc.compare(a, b, F.cross_entropy, test, restarts=1, statistics_data=train)
    merged = lmc.repair(a, b, train)
    assert report.repaired["direct"].loss.value == pytest.approx(F.cross_entropy(merged(test[0]), test[1]).item())
    with pytest.raises(ValueError, match="allowed"):
        lmc.line(a, b, F.cross_entropy, test, statistics_data=train)


class Mixed(nn.Module):
    """Types are written in its code."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 6), nn.Linear(6, 2)

    def forward(self, x):
        x = x.float() + torch.zeros(1, 4) @ torch.eye(4, dtype=torch.float32)
        h = torch.relu(self.a(x))
        return self.b(h.to(torch.float32)).type(torch.float32)


class Free(Mixed):
    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


def test_types_in_the_code_of_a_module():
    a, b = (scattered(make(), 3).float() for make in (Mixed, Free))
    x, y = X.float(), Y
    for call in (
        lambda net: (
            lmc.permutation_point(net, "a", 0, 1, F.cross_entropy, (x, y), distances=torch.tensor([0.5])).eigenvalues
        ),
        lambda net: lmc.rescale(net, "a", torch.arange(1.0, 7), x).b.weight,
        lambda net: lmc.orbit_curve(net, "a", torch.arange(6.0) / 6, x).curvatures,
        lambda net: lmc.asymmetric_layer(net, "b", x).U,
    ):
        torch.testing.assert_close(call(a), call(b), rtol=1e-6, atol=1e-9)
    assert torch.get_default_dtype() == torch.float32 and not hasattr(a, "reads_double")


class Rounds(Mixed):
    def forward(self, x):
        h = torch.relu(self.a(x.float()))
        return self.b((h.view(torch.int32) // 2**23 if h.dtype == torch.float32 else h).to(x.dtype))


class Complex(Mixed):
    def __init__(self):
        super().__init__()
        self.c = nn.Parameter(torch.ones(6, 6, dtype=torch.cfloat))

    def forward(self, x):
        return self.b((torch.relu(self.a(x)) @ self.c).abs())


def steps(n):
    class Deep(Mixed):
        def forward(self, x):
            h = torch.relu(self.a(x))
            for _ in range(n + int(self.b.bias[0] > 0)):
                h = h + self.d(h).tanh()
            return self.b(h)

    net = scattered(Deep(), 1)
    net.d = nn.Linear(6, 6).double()
    return net


def deeper():
    a, b = steps(1), steps(2)
    lmc.match(a, b, X, "activations", symmetry=lmc.symmetry(a, X))


def sparse():
    net = nn.Linear(4, 2)
    net.register_buffer("graph", torch.eye(4).to_sparse())
    lmc.line(net, net, F.cross_entropy, (X, Y))


FOREIGN = {
    "sparse": sparse,
    "rounds": lambda: lmc.merge_path(Rounds(), "a", 0, 1, F.cross_entropy, (X, Y)),
    "complex": lambda: lmc.merge_path(Complex(), "a", 0, 1, F.cross_entropy, (X, Y)),
    "scripted": lambda: lmc.match(*[torch.jit.script(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)))] * 2, X),
    "scripted, repair": lambda: lmc.repair(
        *[torch.jit.script(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)))] * 2, (X, Y)
    ),
    "exported": lambda: lmc.symmetry(torch.export.export(nn.Linear(4, 2), (X,)).module(), X),
    "entries that are masked": lambda: lmc.line(
        nn.Linear(4, 2), nn.Linear(4, 2), F.cross_entropy, (np.ma.masked_greater(X.numpy(), 1), Y)
    ),
    "lazy": lambda: lmc.symmetry(nn.Sequential(nn.LazyLinear(3), nn.Linear(3, 2)), X),
    "lazy, line": lambda: lmc.line(nn.LazyLinear(2), nn.LazyLinear(2), F.cross_entropy, (X, Y)),
    "other steps": deeper,
    "other width, symmetry": lambda: lmc.symmetry(nn.Linear(5, 2), X),
    "other names": lambda: lmc.symmetry(nn.Linear(5, 2), {"x": X}),
    "no such token": lambda: lmc.symmetry(nn.Embedding(5, 2), torch.tensor([5])),
    "no such output": lambda: lmc.symmetry(nn.Linear(4, 2), X, outputs=lambda out: out["logits"]),
    "other width": lambda: lmc.line(nn.Linear(5, 2), nn.Linear(5, 2), F.cross_entropy, (X, Y)),
}


@pytest.mark.parametrize("call", FOREIGN)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:Lazy modules")
def test_errors_of_torch_are_sentences(call):
    with pytest.raises((TypeError, ValueError), match=r"^[^\n]*; allowed: [^\n]*$"):
        FOREIGN[call]()


def test_packed_sequences_are_one_input():
    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells, self.out = nn.GRU(4, 6), nn.Linear(6, 3)

        def forward(self, packed):
            return self.out(self.cells(packed)[1][-1])

    (a, b), sequences = (scattered(Last(), k) for k in (1, 2)), [normal(n, 4, seed=n) for n in (5, 3, 3, 2, 4)]
    pack = partial(nn.utils.rnn.pack_sequence, enforce_sorted=False)
    data, y = (
        [(pack(sequences[:2]), torch.tensor([0, 2])), (pack(sequences[2:]), torch.tensor([1, 1, 0]))],
        [0, 2, 1, 1, 0],
    )
    each = [F.cross_entropy(b(pack([one])), torch.tensor([k])).item() for one, k in zip(sequences, y, strict=True)]
    assert lmc.line(a, b, F.cross_entropy, data, [0, 1]).losses[0].item() == pytest.approx(sum(each) / 5)
    assert lmc.symmetry(a, data[0][0]).sizes == {"cells.weight_ih_l0": 6}


def test_arrays_and_averages_are_taken():
    net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
    assert lmc.symmetry(net, X.numpy()).sizes == {"0": 6}
    averaged = torch.optim.swa_utils.AveragedModel(net)
    assert lmc.line(net, averaged, F.cross_entropy, (X, Y)).barrier == pytest.approx(0, abs=1e-6)
    a, b = pair(Context)
    with pytest.raises(ValueError, match="others of its batch; allowed"):
        lmc.line(a, b, F.cross_entropy, (X, Y))
    assert lmc.line(a, b, F.cross_entropy, [(X, Y)], [0, 1]).losses[1].item() == pytest.approx(
        F.cross_entropy(a(X), Y).item()
    )
    with pytest.warns(UserWarning, match="c runs on one vector"):
        lmc.repair(a, b, (X, Y))
    lmc.match(a, b, X, "activations", data=[(X, Y)])


def test_examples_that_know_of_each_other_are_not_cut():
    """Nor those that know of earlier ones alone, as steps of a recurrent network do whose first axis is time."""
    x, y = normal(1100, 4), torch.arange(1100) % 2
    for kind in (Context, Summed):
        a, b = pair(kind)
        for call in (
            *(lambda data: lmc.line(a, b, F.cross_entropy, data), lambda data: lmc.repair(a, b, data)),  # noqa: B023
            *(partial(lmc.match, a, b, x[:9], by) for by in ("activations", "straight-through")),
            lambda data: lmc.merge_path(a, "a", 0, 1, F.cross_entropy, data, steps=1),  # noqa: B023
        ):
            more = {"loss": F.cross_entropy, "steps": 1} if isinstance(call, partial) else {}
            with pytest.raises(ValueError, match="others of its batch; allowed"):
                call(data=(x, y), **more)


class Writing(Two):
    def forward(self, x, z):
        return super().forward(x.mul_(0.5).add_(1), z.relu_())


def test_inputs_that_a_network_writes_into_stay():
    a, b = pair(Writing)
    x, z = X.clone(), Z.clone()
    for data in ((x, z, Y), DataLoader(TensorDataset(x, z, Y), 16)):
        right = F.cross_entropy(Two.forward(a, X * 0.5 + 1, Z.relu()), Y).item()
        assert lmc.line(a, b, F.cross_entropy, data, [0, 1]).losses[1].item() == pytest.approx(right, rel=1e-9)
        assert lmc.symmetry(a, (x, z)).sizes == {"a": 6} and lmc.repair(a, b, data) and x.equal(X) and z.equal(Z)


class Summed(Mixed):
    def forward(self, x):
        return self.b(torch.tanh(self.a(x.cumsum(0))))


class Context(Mixed):
    """Examples that know of each other, by a layer that runs on one vector."""

    def __init__(self):
        super().__init__()
        self.c = nn.Linear(4, 6)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x) + self.c(x.mean(0))))


def test_activations_of_parts_are_those_of_the_batch():
    """Also for examples that know of each other, whose batches stay whole; and the memory is that of a part."""
    layers = [nn.Conv2d(3, 16, 3, padding=1)] + [nn.Conv2d(16, 16, 3, padding=1) for _ in range(9)]
    a, b = pair(lambda: nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 2)), torch.float32)
    units, x = lmc.symmetry(a, normal(2, 3, 16, 16).float()), normal(256, 3, 16, 16).float()
    peaks = []
    for data in ([(one, None) for one in x.split(32)], [(x, None)]):
        found = lmc.match(a, b, by="activations", data=data, symmetry=units, details=True)[1]
        peaks.append((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, found.values))
    torch.testing.assert_close(peaks[0][1], peaks[1][1])
    assert peaks[1][0] - peaks[0][0] < 40_000  # kB; all activations of 224 images more are 300,000
