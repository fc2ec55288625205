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
