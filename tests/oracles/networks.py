"""Random networks of an architecture, and their tensors put into torch modules one by one."""

import torch
from torch import nn

DOUBLE = torch.float64


def perturbed(model, N=3, seed=5, fixed=None):
    """N networks in float64 with random gains, shifts and biases too."""
    stack = model.initial(range(N), DOUBLE, fixed)
    draw = torch.Generator().manual_seed(seed)
    for name, value in stack.params.items():
        value += 0.2 * torch.randn(value.shape, generator=draw, dtype=DOUBLE) / max(1, value[0, 0].numel()) ** 0.5
        assert len(value) == N, name
    return stack


def numbers(*shape, seed=1):
    return torch.randn(shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed))


def scattered(net, seed):
    """A module in float64 with random parameters and running statistics, of the size of a trained one's."""
    for k, value in enumerate([*net.double().parameters(), *net.buffers()]):
        if value.is_floating_point():
            drawn = numbers(*value.shape, seed=1000 * seed + k) / max(1, value[0].numel()) ** 0.5
            value.data.copy_(drawn.abs() + 0.5 if value.ndim == 1 else drawn)
    return net


def fill(tensors, values):
    """Put tensors (name → parameter of a module) to values, all of them and nothing else."""
    assert set(tensors) == set(values)
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(values[name].reshape(tensor.shape))


def weights_of(layer, name, *kinds):
    """Name → parameter of a torch layer with a weight and perhaps a bias."""
    kinds = kinds or ("weight", "bias")
    own = (layer.weight, layer.bias)
    return {f"{name}.{kind}": tensor for kind, tensor in zip(kinds, own, strict=True) if tensor is not None}


ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "tanh": nn.Tanh}
NORMS = {"layer": nn.LayerNorm, "batch": nn.BatchNorm1d, "running": nn.BatchNorm1d}


class AsymmetricLinear(nn.Module):
    """x ↦ (F + D ⊙ W) x + b."""

    def __init__(self, linear, F, D):
        super().__init__()
        self.linear, self.F, self.D = linear, F, D

    def forward(self, x):
        return nn.functional.linear(x, self.F + self.D * self.linear.weight, self.linear.bias)


def perceptron(stack, i):
    """The i-th network of a stack of MLPs as an nn.Sequential, and its tensors by the stack's names."""
    model, layers, tensors = stack.model, [], {}
    for k, (before, after) in enumerate(zip(model.sizes[:-1], model.sizes[1:], strict=True)):
        linear = nn.Linear(before, after, model.bias, dtype=DOUBLE)
        tensors |= weights_of(linear, str(k))
        pair = stack.fixed.get(f"{k}.weight")
        part = None if pair is None else [each[i * len(each) // len(stack)] for each in pair]
        layers.append(linear if part is None else AsymmetricLinear(linear, *part))
        if k < len(model.sizes) - 2:
            if model.norm != "none":
                norm = NORMS[model.norm](after, dtype=DOUBLE)
                layers.append(norm)
                tensors |= weights_of(norm, str(k), "gain", "shift")
                if model.norm == "running":
                    tensors |= {f"{k}.mean": norm.running_mean, f"{k}.variance": norm.running_var}
            layers.append(ACTIVATIONS[model.activation]())
    fill(tensors, {name: value[i] for name, value in stack.params.items()})
    return nn.Sequential(*layers), tensors


def convolutional(model, pools_after=None):
    """A CNN as an nn.Sequential, and its tensors by our names; a pooling may be the last layer before the mean."""
    pools_after = (model.depth - 2,) * model.pools if pools_after is None else pools_after
    layers, tensors, before = [], {}, model.input_shape[0]
    for k in range(model.depth - 1):
        layers.append(nn.Conv2d(before, model.width, 3, padding=1, bias=model.norm == "none", dtype=DOUBLE))
        tensors |= weights_of(layers[-1], str(k))
        if model.norm == "layer":
            layers.append(nn.GroupNorm(1, model.width, dtype=DOUBLE))
            tensors |= weights_of(layers[-1], str(k), "gain", "shift")
        layers.append(nn.ReLU())
        if k in pools_after:
            layers.append(nn.MaxPool2d(2))
        before = model.width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, model.classes, dtype=DOUBLE)]
    return nn.Sequential(*layers), tensors | weights_of(layers[-1], "head")


class Block(nn.Module):
    def __init__(self, before, after, groups, first_of_a_smaller_image):
        super().__init__()
        stride = 2 if first_of_a_smaller_image else 1
        self.inner = nn.Conv2d(before, after, 3, stride, 1, bias=False, dtype=DOUBLE)
        self.outer = nn.Conv2d(after, after, 3, 1, 1, bias=False, dtype=DOUBLE)
        self.norms = nn.ModuleList(nn.GroupNorm(groups or after, after, dtype=DOUBLE) for _ in range(3))
        self.shortcut = nn.Conv2d(before, after, 1, stride, bias=False, dtype=DOUBLE) if stride == 2 else None

    def forward(self, x):
        middle = torch.relu(self.norms[0](self.inner(x)))
        self.read, self.middle = x.detach(), middle.detach()
        direct = x if self.shortcut is None else self.norms[2](self.shortcut(x))
        return torch.relu(direct + self.norms[1](self.outer(middle)))

    def tensors(self, name):
        maps = {"inner": self.inner, "outer": self.outer} | ({"shortcut": self.shortcut} if self.shortcut else {})
        found = {}
        for (kind, layer), norm in zip(maps.items(), self.norms, strict=False):
            found |= weights_of(layer, f"{name}.{kind}") | weights_of(norm, f"{name}.{kind}", "gain", "shift")
        return found


def residual(model):
    """A ResNet as an nn.Sequential, and its tensors by our names."""
    groups, widths = model.norm_groups, [model.base * model.width * 2**g for g in range(3)]
    stem = nn.Conv2d(model.input_shape[0], widths[0], 3, padding=1, bias=False, dtype=DOUBLE)
    norm, blocks, before = nn.GroupNorm(groups or widths[0], widths[0], dtype=DOUBLE), [], widths[0]
    tensors = weights_of(stem, "stem") | weights_of(norm, "stem", "gain", "shift")
    for g, after in enumerate(widths):
        for b in range(model.blocks):
            blocks.append(Block(before, after, groups, g > 0 and b == 0))
            tensors |= blocks[-1].tensors(f"{g + 1}.{b}")
            before = after
    head = nn.Linear(before, model.classes, dtype=DOUBLE)
    net = nn.Sequential(stem, norm, nn.ReLU(), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), head)
    return net, tensors | weights_of(head, "head")


def as_module(stack, i=0):
    """A network of a stack as a module of torch, and its tensors by our names."""
    if hasattr(stack.model, "sizes"):
        return perceptron(stack, i)
    net, tensors = (convolutional if hasattr(stack.model, "pools") else residual)(stack.model)
    fill(tensors, {name: value[i] for name, value in stack.params.items()})
    return net, tensors
