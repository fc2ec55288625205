"""N stacked networks against N plain loops of torch.nn and torch.optim; resumption; networks that diverge."""

import functools
import math

import pytest
import torch
from oracles.draws import labelled
from oracles.networks import perceptron
from torch import nn

import lmc_helpers.training.fit as module
from lmc_helpers.data.images import load
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training.examples import draw_views, epoch_order
from lmc_helpers.training.fit import fit
from lmc_helpers.training.recipes import Descent

SEEDS = [5, 6, 7, 5]
DOUBLE = torch.float64
MODEL = MLP((6, 5, 4, 3), "gelu", "layer")
RUNNING = MLP((6, 5, 4, 3), norm="running")


def problem(n=23, shape=(6,)):
    return labelled(n, *shape, classes=3)


def fixed_parts(G=2, name="1.weight", shape=(4, 5)):
    generator = torch.Generator().manual_seed(1)
    D = (torch.rand(G, *shape, generator=generator) < 0.6).double()
    return {name: (torch.randn(G, *shape, generator=generator, dtype=DOUBLE) * (1 - D), D)}


def plain_loop(net, optimiser, rates, x, y, orders, batch):
    losses, accuracies = [], []
    for rate, order in zip(rates, orders, strict=True):
        for group in optimiser.param_groups:
            group["lr"] = rate
        total, right = 0.0, 0
        for chosen in order.split(batch):
            optimiser.zero_grad()
            outputs = net(x[chosen])
            loss = nn.functional.cross_entropy(outputs, y[chosen])
            loss.backward()
            optimiser.step()
            total += loss.item() * len(chosen)
            right += (outputs.argmax(1) == y[chosen]).sum().item()
        losses.append(total / len(y))
        accuracies.append(right / len(y))
    return losses, accuracies


HEAVY, WARM = {"momentum": 0.9, "weight_decay": 0.1}, {"schedule": "warm-up", "warm_up": 3, "start_rate": 0.001}
CASES = [
    (Descent(5, 8, "sgd", 0.3), torch.optim.SGD, {}),
    (Descent(5, 8, "sgd", 0.1, **HEAVY), torch.optim.SGD, HEAVY),
    (Descent(4, 23, "sgd", 0.1, momentum=0.5, schedule="cosine"), torch.optim.SGD, {"momentum": 0.5}),
    (Descent(5, 11, "adam", 0.01, weight_decay=0.2), torch.optim.Adam, {"weight_decay": 0.2}),
    (Descent(4, 100, "adamw", 0.02, weight_decay=0.3), torch.optim.AdamW, {"weight_decay": 0.3}),
    (Descent(6, 7, "adamw", 0.02, weight_decay=0.3, **WARM), torch.optim.AdamW, {"weight_decay": 0.3}),
]


@pytest.mark.parametrize(("descent", "optimiser", "options"), CASES)
def test_each_network_is_the_one_that_a_plain_loop_trains(descent, optimiser, options):
    x, y = problem()
    stack = MODEL.initial(SEEDS, DOUBLE, fixed_parts())
    done = fit(stack, descent, x, y, SEEDS, precision="float64")
    rates = [descent.rate] * descent.epochs
    if descent.schedule == "cosine":
        rates = [0.1 * 0.5 * (1 + math.cos(math.pi * e / 4)) for e in range(4)]
    if descent.schedule == "warm-up":
        rates = [0.001, 0.001 * 20 ** (1 / 3), 0.001 * 20 ** (2 / 3), 0.02, 0.02, 0.02]
    for i, seed in enumerate(SEEDS):
        net, names = perceptron(stack, i)
        orders = [epoch_order([seed], 23, epoch)[0] for epoch in range(descent.epochs)]
        plain = optimiser(net.parameters(), lr=1.0, **options)
        losses, accuracies = plain_loop(net, plain, rates, x, y, orders, descent.batch)
        for name, expected in names.items():
            torch.testing.assert_close(done.stack.params[name][i], expected.detach(), rtol=1e-9, atol=1e-10)
        assert done.losses[:, i].tolist() == pytest.approx(losses, rel=1e-10)
        assert done.accuracies[:, i].tolist() == pytest.approx(accuracies, rel=1e-12)
    assert done.survivors == (0, 1, 2, 3) and done.diverged == () and done.stack.fixed.keys() == {"1.weight"}


@pytest.mark.parametrize(
    ("model", "sets", "batch", "decay"),
    [
        (MODEL, 2, 7, "weights"),
        # no biases before batch norm: their gradient is 0, and Adam would blow its rounding up
        (MLP((6, 5, 4, 3), "gelu", "running", bias=False), 4, 8, "all"),
        (MLP((6, 5, 4, 3), "tanh", "running", bias=False), 1, 23, "weights"),
    ],
)
def test_sets_of_examples_and_running_statistics(model, sets, batch, decay):
    x, y = (part.unflatten(0, (sets, 23)) for part in problem(23 * sets))
    stack = model.initial(SEEDS, DOUBLE, fixed_parts())
    before = {name: value.clone() for name, value in stack.params.items()}
    descent = Descent(4, batch, "adamw", 0.02, weight_decay=0.3, decay=decay)
    done = fit(stack, descent, x, y, SEEDS, precision="float64")
    assert all(stack.params[name].equal(value) for name, value in before.items())
    for i, seed in enumerate(SEEDS):
        net, names = perceptron(stack, i)
        weights = [value for name, value in names.items() if name.endswith("weight")]
        rest = [value for value in net.parameters() if all(value is not other for other in weights)]
        groups = [{"params": weights}, {"params": rest, "weight_decay": 0.3 if decay == "all" else 0.0}]
        plain = torch.optim.AdamW(groups, lr=1.0, weight_decay=0.3, foreach=False)
        orders = [epoch_order([seed], 23, epoch)[0] for epoch in range(4)]
        mine = i * sets // 4
        losses, _ = plain_loop(net, plain, [0.02] * 4, x[mine], y[mine], orders, batch)
        for name, expected in names.items():
            torch.testing.assert_close(done.stack.params[name][i], expected.detach(), rtol=1e-8, atol=1e-9)
        assert done.losses[:, i].tolist() == pytest.approx(losses, rel=1e-9)
        outputs = done.stack.forward(x[mine])[i]
        torch.testing.assert_close(outputs, net.eval()(x[mine]).detach(), rtol=1e-7, atol=1e-8)
    assert not any(value.requires_grad for value in done.stack.params.values())


def test_images_are_trained_on_as_they_are_seen():
    """A convolutional network on flipped and cropped bytes, against autograd on views that were made before."""
    images = load("digits", n=30)
    model = CNN(width=3, depth=4, pools=1, input_shape=(1, 8, 8))
    stack, normal = model.initial([1, 2], DOUBLE), (images.mean.tolist(), images.deviation.tolist())
    descent = Descent(2, 8, "sgd", 0.1, augment=("crop", "flip"))
    done = fit(stack, descent, images.x, images.y, [1, 2], normal=normal, precision="float64")
    pixels = images.x.double() / 255
    for i, seed in enumerate([1, 2]):
        params = {name: value[i : i + 1].clone().requires_grad_() for name, value in stack.params.items()}
        for epoch in range(2):
            order, views = epoch_order([seed], 30, epoch)[0], draw_views([seed], 30, epoch, ("crop", "flip"))
            seen = views.of(pixels[order][None])
            seen = (seen - images.mean[:, None, None]) / images.deviation[:, None, None]
            for start in range(0, 30, 8):
                part = slice(start, start + 8)
                outputs = model.forward(params, seen[:, part])[0]
                loss = nn.functional.cross_entropy(outputs, images.y[order[part]])
                gradients = torch.autograd.grad(loss, params.values())
                with torch.no_grad():
                    for value, gradient in zip(params.values(), gradients, strict=True):
                        value -= 0.1 * gradient
        for name, value in params.items():
            torch.testing.assert_close(done.stack.params[name][i], value.detach()[0], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("model", [MODEL, RUNNING])
def test_kept_networks_are_those_of_shorter_runs(model):
    x, y = problem()
    done = fit(model.initial(SEEDS), Descent(4, 10, "adam"), x, y, SEEDS, keep=(0, 2, 4))
    assert list(done.kept) == [0, 2, 4]
    for epochs, stack in done.kept.items():
        short = fit(model.initial(SEEDS), Descent(epochs, 10, "adam"), x, y, SEEDS).stack
        assert all(stack.params[name].equal(value) for name, value in short.params.items())


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_lower_precisions_follow_float64(precision):
    x, y = problem(n=60)
    descent = Descent(4, 20, "adamw", 0.01)
    low, high = (fit(MODEL.initial(SEEDS, DOUBLE), descent, x, y, SEEDS, precision=p) for p in (precision, "float64"))
    assert {value.dtype for value in low.stack.params.values()} == {torch.float32}
    close = {"float32": 1e-5, "bfloat16": 2e-2}[precision]
    torch.testing.assert_close(low.losses, high.losses, rtol=close, atol=0)
    assert not low.losses.equal(high.losses)


class Killed(Exception):
    pass


RESUMED = [
    (MODEL, Descent(3, 5, "sgd", 0.1, momentum=0.9, schedule="cosine")),
    (MODEL, Descent(3, 5, "sgd", 0.1)),
    (MODEL, Descent(3, 5, "adamw", 0.01, weight_decay=0.1, augment=("crop", "flip"))),
    (RUNNING, Descent(3, 5, "adamw", 0.01, weight_decay=0.1)),
]


@functools.cache
def never_killed(model, descent):
    x, y = problem(shape=(1, 2, 3))
    return fit(model.initial(SEEDS, fixed=fixed_parts()), descent, x.float(), y, SEEDS, keep=(0, 1, 3))


@pytest.mark.parametrize(("model", "descent"), RESUMED)
@pytest.mark.parametrize("steps", [1, 4, 5, 9, 14])
def test_a_run_that_was_killed_ends_with_the_same_bits(tmp_path, monkeypatch, model, descent, steps):
    """23 examples make 5 steps an epoch: in the middle of an epoch, at its last step, after it, and before the end."""
    x, y = problem(shape=(1, 2, 3))
    arguments = (model.initial(SEEDS, fixed=fixed_parts()), descent, x.float(), y, SEEDS)
    whole = never_killed(model, descent)
    path, done = tmp_path / "run.npz", []

    def save(*state):
        real(*state)
        done.append(1)
        if len(done) == steps:
            raise Killed

    real = module.save_checkpoint
    monkeypatch.setattr(module, "save_checkpoint", save)
    with pytest.raises(Killed):
        fit(*arguments, keep=(0, 1, 3), checkpoint=path, every_s=0)
    rest = []
    monkeypatch.setattr(module, "save_checkpoint", lambda *state: rest.append(real(*state)))
    again = fit(*arguments, keep=(0, 1, 3), checkpoint=path, every_s=0)
    assert len(rest) == 16 - steps  # those that were left, and the end: it went on, and did not begin anew
    monkeypatch.undo()
    once_more = fit(*arguments, keep=(0, 1, 3), checkpoint=path)  # nothing is left to do
    for found in (again, once_more):
        assert found.losses.equal(whole.losses) and found.accuracies.equal(whole.accuracies)
        for one, other in [(found.stack, whole.stack), *((found.kept[e], whole.kept[e]) for e in (0, 1, 3))]:
            assert all(one.params[name].equal(value) for name, value in other.params.items())
    assert once_more.seconds >= again.seconds > 0


def test_a_checkpoint_belongs_to_its_run(tmp_path):
    x, y = problem()
    path = tmp_path / "run.npz"

    def go(descent=Descent(1, 8), seeds=SEEDS, x=x, **options):  # noqa: B008
        stack = MODEL.initial(SEEDS, fixed=fixed_parts(options.pop("G", 2)))
        return fit(stack, descent, x, y, seeds, checkpoint=path, **options)

    go()
    changes = {
        "descent": {"descent": Descent(1, 8, rate=0.2)},
        "seeds": {"seeds": [5, 6, 7, 8]},
        "data": {"x": x + 1},
        "keep": {"keep": (1,)},
        "precision": {"precision": "float64"},
        "fixed": {"G": 1},
    }
    for name, change in changes.items():
        with pytest.raises(ValueError, match=f"belongs to another run: {name} "):
            go(**change)


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("G", [1, 2, 4])
def test_a_network_that_diverges_is_named_and_disturbs_no_other(tmp_path, optimiser, G):
    x, y = problem()
    model = MLP((6, 5, 4, 3))
    stack = model.initial([1, 2, 3, 4], DOUBLE, fixed_parts(G))
    calm = fit(stack, Descent(3, 8, optimiser, 0.01), x, y, [1, 2, 3, 4], keep=(0, 2), precision="float64")
    stack.params["0.weight"][1] *= 1e200  # its loss is infinite or not a number at once
    done = fit(stack, Descent(3, 8, optimiser, 0.01), x, y, [1, 2, 3, 4], keep=(0, 2), precision="float64")
    assert done.diverged == (2,) and done.survivors == (0, 2, 3) and len(done.stack) == 3
    assert done.losses.shape == done.accuracies.shape == (3, 3)
    torch.testing.assert_close(done.losses, calm.losses[:, [0, 2, 3]], rtol=1e-12, atol=0)
    pairs = [(done.stack, calm.stack), (done.kept[0], calm.kept[0]), (done.kept[2], calm.kept[2])]
    for found, expected in pairs:
        for name, value in found.params.items():
            torch.testing.assert_close(value, expected.params[name][[0, 2, 3]], rtol=1e-12, atol=1e-14)
        outputs = expected.forward(x)[[0, 2, 3]]  # each network still has its own F and D
        torch.testing.assert_close(found.forward(x), outputs, rtol=1e-10, atol=1e-12)


def test_losses_beyond_the_bound_and_parameters_that_overflow_have_diverged():
    x, y = problem()
    stack = MLP((6, 5, 3)).initial([1, 2], DOUBLE)
    stack.params["1.weight"][0] *= 1e9
    done = fit(stack, Descent(2, 23, "sgd", 1e-12), x, y, [1, 2], precision="float64")
    assert done.diverged == (1,) and done.survivors == (1,)
    stack.params["1.bias"][0] = torch.tensor([0.0, 0.0, -1e300])
    done = fit(stack, Descent(1, 23, "sgd", 1e-3, weight_decay=1e12), x, y, [1, 2], precision="float64")
    assert done.diverged == (1,)
