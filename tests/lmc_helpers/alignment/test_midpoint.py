"""Losses halfway against networks of torch.nn, and the best of what was seen."""

import torch
from oracles.networks import perceptron

from lmc_helpers.alignment.midpoint import Best, _interpolated, _midpoint_losses, data_loss
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.permutations import identity, random_permutations


def problem(seed=1):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(30, 4, dtype=torch.float64, generator=g), torch.randint(3, (30,), generator=g)


def test_losses_and_gradients_are_those_of_torch():
    model, (x, y) = MLP((4, 6, 3)), problem()
    stack = model.initial([1, 2], torch.float64)
    params = {name: value.clone().requires_grad_() for name, value in stack.params.items()}
    losses = data_loss(model, x, y)(params)
    losses.sum().backward()
    for n in range(2):
        net, tensors = perceptron(stack, n)
        loss = torch.nn.CrossEntropyLoss()(net(x), y)
        loss.backward()
        torch.testing.assert_close(losses[n], loss)
        for name, tensor in tensors.items():
            torch.testing.assert_close(params[name].grad[n], tensor.grad)


def test_half_way_between_a_network_and_itself_shuffled_back_is_the_network():
    model = MLP((4, 6, 5, 3))
    a, loss = model.initial([1, 2], torch.float64), data_loss(model, *problem())
    p = random_permutations(model.symmetry(), 2, torch.Generator().manual_seed(1))
    back = {g: one.argsort(dim=-1) for g, one in p.items()}
    found = _midpoint_losses(a.params, a.permuted(p).params, model.symmetry(), back, loss)
    torch.testing.assert_close(found, loss(a.params))
    apart = _midpoint_losses(a.params, a.permuted(p).params, model.symmetry(), identity(model.symmetry(), 2), loss)
    assert (apart - found).abs().min() > 1e-6
    a, b = {"W": torch.tensor([1.0])}, {"W": torch.tensor([5.0])}
    assert [_interpolated(a, b, lam)["W"].item() for lam in (1, 0, 0.25)] == [1, 5, 4]
    best = Best({"h": torch.tensor([[0, 1], [0, 1]])}, torch.tensor([[2.0, 2.0]]))
    best = best._seen({"h": torch.tensor([[1, 0], [1, 0]])}, torch.tensor([2.0, 1.0]))
    best = best._seen({"h": torch.tensor([[1, 0], [0, 1]])}, torch.tensor([torch.nan, 1.5]))
    assert best.permutations["h"].tolist() == [[0, 1], [1, 0]]
    assert best.losses.shape == (3, 2)
