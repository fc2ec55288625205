"""Random networks of an architecture, one by one as modules of torch or by its functions."""

import torch
from torch import nn
from torch.nn import functional as F

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
    """A module in float64 with random parameters and running statistics, of the size of a trained one's; not masks."""
    for k, value in enumerate([*net.double().parameters(), *net.buffers()]):
        if value.is_floating_point() and value.isfinite().all():
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


def by_functions(model, p, x):
    """Outputs of a network of tensors p, what its maps or norms make before each ReLU, and its units by group."""
    return {"CNN": convolutional, "ResNet20": residual, "MLP": layered}[type(model).__name__](model, p, x)


def layered(model, p, x):
    made = []
    for k in range(len(model.sizes) - 1):
        x = F.linear(x, p[f"{k}.weight"], p.get(f"{k}.bias"))
        if k < len(model.sizes) - 2:
            if model.norm == "layer":
                x = F.layer_norm(x, x.shape[1:], p[f"{k}.gain"], p[f"{k}.shift"])
            made.append(x)
            x = ACTIVATIONS[model.activation]()(x)
    return x, made, {}


def pixels(h):
    return h.movedim(1, -1).flatten(0, -2)


def convolutional(model, p, x, pools_after=()):
    made, units = [], {}
    for k in range(model.depth - 1):
        x = F.conv2d(x, p[f"{k}.weight"], p.get(f"{k}.bias"), padding=1)
        if model.norm == "layer":
            x = F.group_norm(x, 1, p[f"{k}.gain"], p[f"{k}.shift"])
        made.append(pixels(x))
        x = x.relu()
        units[str(k)] = pixels(x)
        if k in pools_after:
            x = F.max_pool2d(x, 2)
    return F.linear(x.mean((2, 3)), p["head.weight"], p["head.bias"]), made, units


def residual(model, p, x):
    made, inner, streams = [], {}, {1: [], 2: [], 3: []}

    def layer(name, h, stride=1):
        W = p[f"{name}.weight"]
        h = F.conv2d(h, W, None, stride, W.shape[-1] // 2)
        h = F.group_norm(h, model.norm_groups or len(W), p[f"{name}.gain"], p[f"{name}.shift"])
        made.append(pixels(h))
        return h

    h = layer("stem", x).relu()
    streams[1].append(pixels(h))
    for g in (1, 2, 3):
        for b in range(model.blocks):
            first = g > 1 and b == 0  # of a smaller image
            middle = layer(f"{g}.{b}.inner", h, 1 + first).relu()
            direct = layer(f"{g}.{b}.shortcut", h, 2) if first else h
            h = (direct + layer(f"{g}.{b}.outer", middle)).relu()
            inner[f"inner {g}.{b}"] = pixels(middle)
            streams[g].append(pixels(h))  # read by the next block, and by what follows the group
    units = inner | {f"stream {g}": torch.cat(read) for g, read in streams.items()}
    return F.linear(h.mean((2, 3)), p["head.weight"], p["head.bias"]), made, units
