"""What holds of every architecture: a stack is its networks one by one, gradients, fixed parts, symmetry, states."""

import math

import pytest
import torch
from oracles.networks import DOUBLE, numbers, perturbed
from torch import nn

from lmc_helpers.identifiability import LinearResidual, Syre, WAsymmetric, asymmetrise, layer_parts
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import random_permutations, verify
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.vit import ViT

IMAGE = (2, 8, 8)
MODELS = {
    "mlp": MLP((5, 7, 6, 3), "gelu", "layer"),
    "mlp without bias": MLP((5, 7, 6, 3), "tanh", bias=False, init="he"),
    "cnn": CNN(4, depth=5, pools=2, input_shape=IMAGE, classes=3),
    "cnn with norm": CNN(3, depth=4, pools=0, norm="layer", init="torch", input_shape=(1, 5, 7), classes=3),
    "resnet": ResNet20(1, blocks=2, base=4, input_shape=IMAGE, classes=3),
    "resnet, one block, instance norm": ResNet20(2, 1, None, "torch", base=2, input_shape=(1, 9, 8), classes=3),
    "vit": ViT(2, dimension=12, depth=2, heads=3, ratio=2, std=0.3, input_shape=(2, 4, 6), classes=3),
    "vit with one head": ViT(4, 6, 1, 1, 1, 0.3, input_shape=(1, 4, 4), classes=3),
}
every = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
INSIDE = {"query.weight": 1, "query.bias": 1, "key.weight": 1, "value.weight": 1, "value.bias": 1, "out.weight": 2}


@every
def test_a_stack_is_its_networks_one_by_one(model):
    stack, x = perturbed(model), numbers(3, 4, *model.input_shape)
    outputs, shared = stack.forward(x), stack.forward(x[0])
    assert outputs.shape == (3, 4, 3)
    for i in range(3):
        alone = stack.ordinary([i])
        torch.testing.assert_close(outputs[i], alone.forward(x[i])[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(shared[i], alone.forward(x[:1])[0], rtol=0, atol=1e-12)
    torch.testing.assert_close(stack.forward(x[:1]), shared, rtol=0, atol=1e-12)
    assert stack.forward(x[0, :1]).shape == (3, 1, 3)
    assert stack.to(torch.float32).forward(x[0].float()).dtype == torch.float32

    def gradients(part, inputs):
        leaves = {name: value.clone().requires_grad_() for name, value in part.params.items()}
        outputs = Stack(model, leaves).forward(inputs)
        loss = outputs.logsumexp(dim=-1).sum() - outputs[..., 0].sum()
        return torch.autograd.grad(loss, list(leaves.values()))

    together = gradients(stack, x)
    for i in range(3):
        for name, all_of_them, own in zip(model.shapes(), together, gradients(stack.ordinary([i]), x[i]), strict=True):
            torch.testing.assert_close(all_of_them[i], own[0], rtol=0, atol=1e-11, msg=name)


@every
def test_modules_are_the_networks_and_go_back(model):
    name, x = model.maps()[0], numbers(4, *model.input_shape)
    fixed = {name: (numbers(1, *model.shapes()[name]), numbers(1, *model.shapes()[name], seed=2))}
    stack = perturbed(model, fixed=fixed)
    nets, outputs = stack.modules(), stack.forward(x)
    for net, expected in zip(nets, outputs, strict=True):
        torch.testing.assert_close(net(x), expected, rtol=0, atol=1e-12)
    back, effective = Stack.from_modules(model, nets), stack.effective()
    assert all(back.params[name].equal(effective[name]) for name in model.shapes())
    nets[0].get_parameter(next(iter(dict(nets[0].named_parameters())))).data.zero_()
    assert stack.forward(x).equal(outputs)


@every
@pytest.mark.parametrize("G", [1, 2, 4])
def test_an_asymmetric_stack_is_the_ordinary_one_of_its_effective_weights(model, G):
    shapes = {name: (G, *model.shapes()[name]) for name in model.maps()}
    fixed = {name: (numbers(*shape), numbers(*shape, seed=2)) for name, shape in shapes.items()}
    stack, x = perturbed(model, N=4, fixed=fixed), numbers(2, *model.input_shape)
    by_hand = dict(stack.params)
    for name, (F, D) in fixed.items():
        place = [i * G // 4 for i in range(4)]
        by_hand[name] = F[place] + D[place] * stack.params[name]
    torch.testing.assert_close(stack.forward(x), Stack(model, by_hand).forward(x))
    torch.testing.assert_close(stack.ordinary([3, 0]).params, {name: value[[3, 0]] for name, value in by_hand.items()})
    back = Stack.from_state(model, dict(sorted(stack.state().items())))
    assert list(back.params) == list(stack.params) and all(back.params[k].equal(stack.params[k]) for k in back.params)
    assert all(back.fixed[name][part].equal(fixed[name][part]) for name in fixed for part in (0, 1))


@every
def test_the_symmetry_holds_and_is_complete(model):
    check = verify(model)
    assert check.holds()
    last = max(name for name in model.maps() if name.startswith("head") or model.shapes()[name][0] == 3)
    for name, axis in ((place.name, place.axis) for place in check.unpermuted):
        shape, kind = model.shapes()[name], name.split(".", 1)[-1]
        ends = (name in (model.maps()[0],) and axis == 1) or (name.rpartition(".")[0] == last.rpartition(".")[0])
        assert ends or (len(shape) == 4 and axis >= 2) or name == "places" or INSIDE.get(kind) == axis, (name, axis)


@every
def test_permuted_stacks_and_their_recorded_units(model):
    stack, x = perturbed(model), numbers(4, *model.input_shape)
    symmetry = model.symmetry()
    p = random_permutations(symmetry, 3, torch.Generator().manual_seed(1))
    other = stack.permuted(p)
    before, after = {}, {}
    outputs = stack.forward(x, before)
    torch.testing.assert_close(outputs, stack.forward(x), rtol=0, atol=0)
    torch.testing.assert_close(other.forward(x, after), outputs, rtol=0, atol=1e-12)
    assert set(before) == set(symmetry.groups)
    for group, values in before.items():
        assert values.shape[::2] == (3, symmetry.sizes[group]) and not values.requires_grad
        moved = torch.take_along_dim(values, p[group][:, None], dim=2)
        torch.testing.assert_close(after[group], moved, rtol=0, atol=1e-12)


@every
def test_networks_depend_on_their_own_seed(model):
    both, again = model.initial([1, 2]), model.initial([2])
    for name, shape in model.shapes().items():
        assert both.params[name].shape == (2, *shape) and both.params[name][1].equal(again.params[name][0])
    weight = both.params[model.maps()[0]]
    assert weight.dtype == torch.float32 and not weight[0].equal(weight[1])
    assert model.parameters() == sum(math.prod(shape) for shape in model.shapes().values())
    assert set(model.maps()) == {name for name in model.shapes() if name.endswith("weight")}


@every
def test_widest_is_the_largest_activation(model):
    """Every tensor that a forward pass of one network makes, except views of the parameters, is at most as large."""
    largest = 0

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            nonlocal largest
            out = function(*args, **(kwargs or {}))
            tensors = [part for part in (out if isinstance(out, tuple) else [out]) if torch.is_tensor(part)]
            largest = max([largest, *(part.numel() for part in tensors)])
            return out

    stack, x, B = model.initial([1]), torch.ones(50, *model.input_shape), 50
    with Watch(), torch.no_grad():
        stack.forward(x)
    assert model.widest() / 2 <= largest / B <= model.widest()


def test_fixed_parts_are_drawn_as_for_a_torch_module():
    model = MODELS["vit"]
    fixed = model.fixed_parts(dict.fromkeys(model.maps(), WAsymmetric(2, 1.0)), seed=3)
    for name in model.maps():
        F, D = fixed[name]
        assert F.shape == D.shape == (1, *model.shapes()[name]) and F.dtype == DOUBLE
        assert ((D.reshape(model.map_shape(name)) == 0).flatten(1).sum(dim=1) == 2).all()  # two in each row
    alone = model.fixed_parts({"head.weight": WAsymmetric(2, 1.0)}, seed=3)
    assert alone["head.weight"][0].equal(fixed["head.weight"][0])
    stack = model.initial([1, 2], fixed=fixed)
    assert stack.effective()["0.query.weight"].dtype == torch.float32
    conv = MODELS["resnet"].fixed_parts({"stem.weight": WAsymmetric(5, 2.0, dim=1), "head.weight": Syre(1.0, 0.5)}, 1)
    assert (conv["stem.weight"][1][0] == 0).sum(dim=(0, 2, 3)).tolist() == [5, 5]
    torch_net = nn.ModuleDict({str(k): nn.Linear(n, m) for k, (n, m) in enumerate([(5, 7), (7, 6), (6, 3)])})
    theirs = layer_parts(asymmetrise(torch_net, WAsymmetric(2, 1.0), seed=3))
    ours = MODELS["mlp"].fixed_parts(dict.fromkeys(theirs, WAsymmetric(2, 1.0)), seed=3)
    assert all(ours[name][part][0].float().equal(theirs[name][part]) for name in theirs for part in (0, 1))
    residual = model.fixed_parts({"0.query.weight": LinearResidual()}, seed=1)["0.query.weight"][0]
    assert residual.reshape(12, 12).equal(torch.eye(12, dtype=DOUBLE))
