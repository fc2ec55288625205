"""Random networks of an architecture, and their tensors put into torch modules one by one."""

import torch

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
