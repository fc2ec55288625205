"""Lines between networks against one nn.Module a place."""

import pytest
import torch
from oracles.ensembles import loss_of, module

import lmc_helpers.networks.lines as line_evaluation
from lmc_helpers.networks.lines import along_lines, barriers, evaluate
from lmc_helpers.networks.stacked_mlp import Architecture, Networks
from lmc_helpers.training.ensemble import Recipe, train

DOUBLE = torch.float64
LAMBDAS = [0, 0.25, 0.5, 1]


@pytest.mark.parametrize("chunk", [1, 2**20])
@pytest.mark.parametrize(
    "net",
    [
        Architecture((3, 5, 2), norm="layer"),
        Architecture((3, 5, 4, 3), norm="batch", activation="gelu"),
        Architecture((3, 6, 1), loss="mse", output="ones"),
    ],
)
def test_lines_are_those_of_one_network_at_a_time(net, chunk, monkeypatch):
    monkeypatch.setattr(line_evaluation, "CHUNK", chunk)
    x = torch.randn(11, 3, dtype=DOUBLE, generator=torch.Generator().manual_seed(1))
    y = x[:, :1] if net.loss == "mse" else torch.arange(11) % net.sizes[-1]
    D = (torch.rand(1, net.sizes[1], 3, generator=torch.Generator().manual_seed(2)) < 0.5).double()
    fixed = {0: (torch.ones_like(D) * (1 - D), D)}
    done = train(net.initial([1, 2, 3], DOUBLE, fixed), Recipe(epochs=3, batch=4, rate=0.05), x, y, [1, 2, 3]).networks
    pairs = torch.combinations(torch.arange(3))
    line = along_lines(*(done.ordinary(pairs[:, end]) for end in (0, 1)), x, y, LAMBDAS)
    assert line.loss.shape == (3, 4)
    for p, (i, j) in enumerate(pairs.tolist()):
        for q, t in enumerate(LAMBDAS):
            params, statistics = (
                {name: (t * v[i] + (1 - t) * v[j])[None] for name, v in part.items()}
                for part in (done.params, done.statistics)
            )
            model, _ = module(Networks(net, params, statistics, done.fixed), 0)
            with torch.no_grad():
                outputs = model.eval()(x)
            torch.testing.assert_close(line.loss[p, q], loss_of(net, outputs, y))
            if net.loss != "mse":
                right = (outputs.argmax(dim=1) == y).double().mean()
                torch.testing.assert_close(line.accuracy[p, q], right)
    assert net.loss != "mse" or line.accuracy is None


def test_each_pair_may_have_examples_of_its_own():
    net = Architecture((2, 3, 2))
    ends = [net.initial(seeds, DOUBLE) for seeds in ([1, 2], [3, 4])]
    x, y = torch.randn(2, 5, 2, dtype=DOUBLE), torch.tensor([[0, 1, 0, 1, 1], [1, 1, 0, 0, 0]])
    line = along_lines(*ends, x, y, LAMBDAS)
    for p in range(2):
        one = along_lines(*(end.ordinary([p]) for end in ends), x[p], y[p], LAMBDAS)
        torch.testing.assert_close(line.loss[p], one.loss[0])


def test_a_line_from_a_network_to_itself_is_flat():
    net = Architecture((2, 3, 2))
    end = net.initial([1], DOUBLE)
    loss = along_lines(end, end, torch.randn(5, 2), torch.zeros(5, dtype=torch.long), LAMBDAS).loss
    torch.testing.assert_close(loss, loss[:, :1].expand(-1, 4))


def test_the_first_network_is_at_1():
    a, b = (Architecture((2, 3, 2)).initial([seed], DOUBLE) for seed in (1, 2))
    x, y = torch.randn(5, 2, dtype=DOUBLE, generator=torch.Generator().manual_seed(1)), torch.tensor([0, 1, 0, 1, 1])
    line = along_lines(a, b, x, y, [0, 0.3, 1])
    assert line.loss[0, 0].equal(evaluate(b, x, y)[0][0]) and line.loss[0, 2].equal(evaluate(a, x, y)[0][0])
    torch.testing.assert_close(along_lines(b, a, x, y, [0.7]).loss[0, 0], line.loss[0, 1])


def test_networks_with_fixed_parts_are_evaluated_with_their_effective_weights():
    net = Architecture((2, 3, 2))
    F, D = torch.randn(2, 1, 3, 2, dtype=DOUBLE, generator=torch.Generator().manual_seed(1)).unbind()
    networks = net.initial([1, 2], DOUBLE, {0: (F, D)})
    x, y = torch.randn(5, 2, dtype=DOUBLE, generator=torch.Generator().manual_seed(2)), torch.tensor([0, 1, 0, 1, 1])
    loss, accuracy = evaluate(networks, x, y)
    for i in range(2):
        outputs = module(networks, i)[0](x)
        torch.testing.assert_close(loss[i], loss_of(net, outputs, y).detach())
        assert accuracy[i].item() == (outputs.argmax(dim=1) == y).double().mean().item()


def test_barriers_by_hand():
    loss = torch.tensor([[1.0, 5.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0]])
    found = barriers(loss, [0, 0.25, 0.5, 1])
    assert found.middle_mean.tolist() == [0.0, 0.0] and found.middle_worse.tolist() == [-1.0, 0.0]
    assert found.peak_chord.tolist() == [3.5, 0.0] and found.peak_worse.tolist() == [2.0, 0.0]


NET = Architecture((2, 3, 2))
END = NET.initial([1])
X, Y = torch.ones(4, 2), torch.tensor([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: along_lines(END, NET.initial([1, 2]), X, Y, [0]), "allowed: equal architectures and numbers"),
        (lambda: along_lines(END, Architecture((2, 4, 2)).initial([1]), X, Y, [0]), "allowed: equal architectures"),
        (lambda: along_lines(END, END, X, Y, [0, 1.5]), r"lambda = 1.5; allowed"),
        (lambda: along_lines(END, END, X, Y, []), r"lambdas has shape \(0,\)"),
        (lambda: along_lines(END, END, X, Y[:3], [0]), r"targets \(1, 3\)"),
        (lambda: evaluate(END, X[:, :1], Y), r"inputs \(1, 4, 1\)"),
        (lambda: barriers(torch.ones(2, 2), [0, 1]), "with 0, 0.5 and 1"),
        (lambda: barriers(torch.ones(2, 2), [0, 0.5, 1]), r"losses \(2, 2\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
