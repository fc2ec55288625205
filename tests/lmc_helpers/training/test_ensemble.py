"""The ensemble against one network at a time in plain torch, and its resumption after a kill."""

import pytest
import torch
from oracles.ensembles import module, train_one

import lmc_helpers.training.ensemble as ensemble
from lmc_helpers.networks.stacked_mlp import Architecture
from lmc_helpers.training.ensemble import Recipe, epoch_order, examples_of, train

DOUBLE = torch.float64


def problem(net, n=23, groups=None, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shape = (n,) if groups is None else (groups, n)
    x = torch.randn(*shape, net.sizes[0], generator=generator, dtype=DOUBLE)
    if net.loss == "mse":
        return x, torch.randn(*shape, net.sizes[-1], generator=generator, dtype=DOUBLE)
    return x, torch.randint(net.sizes[-1], shape, generator=generator)


def masks(net, layers, groups, seed=1):
    generator = torch.Generator().manual_seed(seed)
    fixed = {}
    for k in layers:
        shape = (groups, net.sizes[k + 1], net.sizes[k])
        D = (torch.rand(shape, generator=generator) < 0.6).double()
        fixed[k] = (torch.randn(shape, generator=generator, dtype=DOUBLE) * (1 - D), D)
    return fixed


CASES = [
    # architecture, batch, layers with F and D, groups of F and D, groups of data, decay
    (Architecture((3, 5, 2)), 8, (), 1, None, "all"),
    (Architecture((1, 1, 1), loss="mse", activation="tanh"), 23, (), 1, None, "all"),
    (Architecture((3, 6, 4, 3), activation="gelu", norm="layer"), 7, (0, 1, 2), 2, None, "weights"),
    (Architecture((3, 6, 4, 3), activation="gelu", norm="batch", bias=False), 8, (1,), 4, 2, "all"),
    (Architecture((2, 7, 1), output="ones", loss="mse"), 12, (0,), 2, 4, "all"),
    # no biases before batch norm: their gradient is 0, and Adam would blow its rounding up
    (Architecture((2, 3, 3, 1), output="ones", loss="mse", norm="batch", bias=False), 9, (0, 1), 1, None, "weights"),
]


@pytest.mark.parametrize(("net", "batch", "layers", "groups", "data", "decay"), CASES)
def test_each_network_is_the_one_that_a_plain_loop_trains(net, batch, layers, groups, data, decay):
    recipe = Recipe(epochs=4, batch=batch, rate=0.02, weight_decay=0.3, decay=decay)
    x, y = problem(net, groups=data)
    seeds, fixed = [5, 6, 7, 5], masks(net, layers, groups)
    start = net.initial(seeds, DOUBLE, fixed)
    done = train(start, recipe, x, y, seeds).networks
    outputs = done.forward(x[:1].expand(4, -1, -1) if data else x)
    for i, seed in enumerate(seeds):
        model, names = module(start, i)
        mine = (x, y) if data is None else (x[i * data // 4], y[i * data // 4])
        orders = [epoch_order([seed], 23, epoch)[0] for epoch in range(recipe.epochs)]
        train_one(net, model, names, recipe, *mine, orders)
        for name, expected in names.items():
            torch.testing.assert_close(done.params[name][i], expected.detach(), rtol=1e-8, atol=1e-9)
        with torch.no_grad():
            expected = model(x[0] if data else x)
        torch.testing.assert_close(outputs[i], expected, rtol=1e-7, atol=1e-8)


def test_a_network_does_not_depend_on_its_company():
    net = Architecture((3, 5, 2), norm="layer")
    x, y = problem(net)
    recipe = Recipe(epochs=3, batch=10, rate=0.01)
    together, alone = (train(net.initial(seeds, DOUBLE), recipe, x, y, seeds) for seeds in ([1, 2, 3], [2]))
    for name, value in alone.networks.params.items():
        torch.testing.assert_close(together.networks.params[name][1:2], value, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(together.losses[:, 1:2], alone.losses, rtol=1e-9, atol=0)


def test_float32_follows_float64():
    net = Architecture((3, 8, 2), norm="layer", activation="gelu")
    x, y = problem(net, n=60)
    recipe = Recipe(epochs=5, batch=20)
    single, double = (train(net.initial([1, 2], dtype), recipe, x, y, [1, 2]) for dtype in (torch.float32, DOUBLE))
    assert single.networks.params["0.weight"].dtype == torch.float32
    torch.testing.assert_close(single.losses.double(), double.losses, rtol=1e-4, atol=1e-5)


def test_losses_are_the_means_of_the_batches():
    net = Architecture((2, 3, 1), loss="mse")
    x, y = problem(net, n=5)
    start = net.initial([3], DOUBLE)
    frozen = train(start, Recipe(epochs=1, batch=2, rate=1e-30), x, y, [3])
    torch.testing.assert_close(frozen.losses[0], (start.forward(x)[0] - y).square().mean()[None])


def test_masked_entries_only_decay():
    net = Architecture((3, 4, 2))
    x, y = problem(net)
    D = torch.zeros(1, 4, 3, dtype=DOUBLE)
    start = net.initial([1], DOUBLE, {0: (D, D)})
    done = train(start, Recipe(epochs=2, batch=23, rate=0.1, weight_decay=0.5), x, y, [1]).networks
    torch.testing.assert_close(done.params["0.weight"], start.params["0.weight"] * 0.95**2)
    assert done.fixed[0][0].equal(D)


def test_no_epochs_is_the_initial_network():
    net = Architecture((2, 3, 2))
    x, y = problem(net)
    done = train(net.initial([1, 2]), Recipe(epochs=0, batch=3), x, y, [1, 2]).networks
    assert all(done.params[name].equal(value) for name, value in net.initial([1, 2]).params.items())


@pytest.mark.parametrize("norm", ["none", "batch"])
def test_the_networks_that_it_starts_from_stay_as_they_are_and_training_goes_on_from_any(norm):
    net = Architecture((2, 3, 2), norm=norm)
    x, y = problem(net)
    start, again = net.initial([1, 2]), net.initial([1, 2])
    once = train(start, Recipe(epochs=1, batch=5), x, y, [1, 2]).networks
    for mine, other in ((start.params, again.params), (start.statistics, again.statistics)):
        assert all(mine[name].equal(value) and not mine[name].requires_grad for name, value in other.items())
    further = train(once, Recipe(epochs=1, batch=5, rate=1e-30, weight_decay=0), x, y, [1, 2]).networks
    assert all(further.params[name].equal(value) for name, value in once.params.items())
    assert all(not further.statistics[name].equal(value) for name, value in once.statistics.items())


@pytest.mark.parametrize("norm", ["layer", "batch"])
def test_a_killed_run_continues_with_the_same_numbers(tmp_path, monkeypatch, norm):
    net = Architecture((3, 5, 2), norm=norm)
    x, y = problem(net)
    arguments = (
        net.initial([1, 2, 3], fixed=masks(net, (0,), 1)),
        Recipe(epochs=7, batch=8, rate=0.01),
        x,
        y,
        [1, 2, 3],
    )
    whole = train(*arguments, keep={1, 6})
    path, count = tmp_path / "deep" / "run.npz", iter(range(100))

    def killed(*args, original=ensemble.epoch_order):
        if next(count) == 5:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(ensemble, "epoch_order", killed)
    with pytest.raises(KeyboardInterrupt):
        train(*arguments, keep={1, 6}, checkpoint=path, every=2)
    monkeypatch.undo()
    assert [file.name for file in path.parent.iterdir()] == ["run.npz"]
    seen = []
    original = ensemble.epoch_order
    monkeypatch.setattr(ensemble, "epoch_order", lambda s, n, epoch: seen.append(epoch) or original(s, n, epoch))
    for expected in ([4, 5, 6], []):  # the second time nothing is left to do
        done = train(*arguments, keep={1, 6}, checkpoint=path, every=2)
        assert seen == expected
        seen.clear()
        assert sorted(done.kept) == [1, 6]
        for mine, other in ((done.networks, whole.networks), *((done.kept[e], whole.kept[e]) for e in (1, 6))):
            for part in ("params", "statistics"):
                assert all(getattr(mine, part)[name].equal(value) for name, value in getattr(other, part).items())
        assert done.losses.equal(whole.losses)


def test_kept_networks_are_those_of_shorter_runs():
    net = Architecture((3, 5, 2), norm="batch")
    start, (x, y) = net.initial([1, 2]), problem(net)
    kept = train(start, Recipe(epochs=4, batch=8), x, y, [1, 2], keep=(2, 4)).kept
    for epochs, networks in kept.items():
        alone = train(start, Recipe(epochs=epochs, batch=8), x, y, [1, 2]).networks
        assert all(networks.params[name].equal(value) for name, value in alone.params.items())
        assert all(networks.statistics[name].equal(value) for name, value in alone.statistics.items())
        assert not any(value.requires_grad for value in networks.params.values())
    for wrong in (0, 5):
        with pytest.raises(ValueError, match=f"epochs .{wrong}. to keep; allowed: 1 to 4"):
            train(start, Recipe(epochs=4, batch=8), x, y, [1, 2], keep=(wrong,))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"recipe": Recipe(epochs=2, batch=8, rate=0.02)}, "recipe"),
        ({"net": Architecture((3, 5, 2), activation="gelu")}, "architecture"),
        ({"seeds": [1, 3]}, r"seeds \[1, 2\] there, \[1, 3\] here"),
        ({"x": True}, "data"),
        ({"fixed": True}, "fixed"),
        ({"initial": [3, 4]}, "initial"),
        ({"dtype": DOUBLE}, "dtype"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, change, named):
    net = Architecture((3, 5, 2))
    x, y = problem(net)
    path = tmp_path / "run.npz"
    train(net.initial([1, 2]), Recipe(epochs=2, batch=8), x, y, [1, 2], checkpoint=path)
    before = path.read_bytes()
    fixed = masks(net, (0,), 1) if "fixed" in change else None
    other = change.get("net", net).initial(change.get("initial", [1, 2]), change.get("dtype", torch.float32), fixed)
    with pytest.raises(ValueError, match=f"another run: .*{named}"):
        train(
            other,
            change.get("recipe", Recipe(epochs=2, batch=8)),
            x + 1 if "x" in change else x,
            y,
            change.get("seeds", [1, 2]),
            checkpoint=path,
        )
    assert path.read_bytes() == before


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    net = Architecture((3, 5, 2))
    path = tmp_path / "run.npz"
    for content in (b"", b"half of a file", b"PK\x03\x04 half"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="no checkpoint"):
            train(net.initial([1]), Recipe(epochs=1, batch=8), *problem(net), [1], checkpoint=path)


def test_a_diverging_network_is_named():
    net = Architecture((2, 3, 1), loss="mse")
    x, y = problem(net)
    start = net.initial([4, 8, 9], DOUBLE)
    start.params["1.bias"][1] = 1e200
    with pytest.raises(ValueError, match=r"not finite in epoch 0 for 1 of 3 networks: 1 \(seed 8\)"):
        train(start, Recipe(epochs=1, batch=8), x, y, [4, 8, 9])


def test_order_is_a_permutation_that_changes_with_seed_and_epoch():
    order = epoch_order([1, 2, 1], 50, 0)
    assert order.shape == (3, 50) and order.sort(dim=1).values.equal(torch.arange(50).expand(3, -1))
    assert order[0].equal(order[2]) and not order[0].equal(order[1])
    assert not order.equal(epoch_order([1, 2, 1], 50, 1))


def test_examples_are_shared_values_between_neighbours():
    values = torch.arange(12).view(2, 3, 2)
    chosen = torch.tensor([[0, 2], [1, 1], [2, 0], [0, 0]])
    expected = torch.stack([values[i // 2][chosen[i]] for i in range(4)])
    assert examples_of(values, chosen).equal(expected)


def test_progress_is_shown(capsys):
    net = Architecture((3, 5, 2))
    train(net.initial([1]), Recipe(epochs=2, batch=8), *problem(net), [1], show_progress=True)
    assert "0/2" in capsys.readouterr().err
    train(net.initial([1]), Recipe(epochs=2, batch=8), *problem(net), [1])
    assert not capsys.readouterr().err


NET = Architecture((3, 5, 2))
ONE, BATCH = NET.initial([1]), Architecture((3, 5, 2), norm="batch").initial([1])
X, Y = problem(NET)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Recipe(epochs=-1, batch=1), "epochs = -1"),
        (lambda: Recipe(epochs=1, batch=0), "batch = 0"),
        (lambda: Recipe(epochs=1, batch=1, rate=0), "rate = 0"),
        (lambda: Recipe(epochs=1, batch=1, weight_decay=-1), "weight_decay = -1"),
        (lambda: Recipe(epochs=1, batch=1, decay="biases"), "decay = 'biases'"),
        (lambda: train(ONE, Recipe(1, 8), X[:, :2], Y, [1]), r"inputs \(1, 23, 2\)"),
        (lambda: train(ONE, Recipe(1, 8), X, Y[:-1], [1]), r"targets \(1, 22\)"),
        (lambda: train(ONE, Recipe(1, 8), X, Y, []), "0 seeds of 1 networks"),
        (lambda: train(ONE, Recipe(1, 8), X, Y, [1, 2]), "2 seeds of 1 networks"),
        (lambda: train(NET.initial([1, 2, 3]), Recipe(1, 8), X.expand(2, -1, -1), Y, [1, 2, 3]), "3 networks"),
        (lambda: train(ONE, Recipe(1, 8), X, Y + 1, [1]), "labels torch.int64; allowed: integers from 0 to 1"),
        (lambda: train(ONE, Recipe(1, 8), X, Y.double(), [1]), "labels torch.float64"),
        (lambda: train(ONE, Recipe(1, 8), X / 0, Y, [1]), "an input is not finite"),
        (lambda: NET.initial([1], fixed=masks(NET, (0,), 2)), "F and D of layer 0"),
        (lambda: train(BATCH, Recipe(1, 11), X, Y, [1]), "no batch of 1 example"),
        (lambda: train(ONE, Recipe(1, 8), X, Y, [-1]), r"seeds\[0\] = -1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
