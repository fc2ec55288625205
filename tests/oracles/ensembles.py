"""One network at a time in plain torch: nn.Module, torch.optim.AdamW, a loop over batches. No shared code."""

import torch
from torch import nn

NORMS = {"layer": nn.LayerNorm, "batch": nn.BatchNorm1d}
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "tanh": nn.Tanh}


class AsymmetricLinear(nn.Module):
    """x ↦ (F + D ⊙ W) x + b."""

    def __init__(self, linear, F, D):
        super().__init__()
        self.linear, self.F, self.D = linear, F, D

    def forward(self, x):
        return nn.functional.linear(x, self.F + self.D * self.linear.weight, self.linear.bias)


class Sum(nn.Module):
    def forward(self, x):
        return x.sum(dim=-1, keepdim=True)


def module(networks, index):
    """An nn.Sequential with the tensors of one network of a stack, and its trained tensors by the stack's names."""
    net, params, fixed = networks.architecture, networks.params, networks.fixed
    layers, names = [], {}
    for k in range(len(net.sizes) - 1):
        if k == len(net.sizes) - 2 and net.output == "ones":
            layers.append(Sum())
            break
        linear = nn.Linear(net.sizes[k], net.sizes[k + 1], bias=net.bias, dtype=params["0.weight"].dtype)
        names[f"{k}.weight"] = linear.weight
        if net.bias:
            names[f"{k}.bias"] = linear.bias
        layers.append(linear)
        if k in fixed:
            F, D = fixed[k]
            place = index * len(F) // len(params["0.weight"])
            layers[-1] = AsymmetricLinear(linear, F[place], D[place])
        if k < len(net.sizes) - 2:
            if net.norm != "none":
                layers.append(NORMS[net.norm](net.sizes[k + 1], dtype=params["0.weight"].dtype))
                names |= {f"{k}.gain": layers[-1].weight, f"{k}.shift": layers[-1].bias}
                if net.norm == "batch":
                    layers[-1].running_mean.copy_(networks.statistics[f"{k}.mean"][index])
                    layers[-1].running_var.copy_(networks.statistics[f"{k}.variance"][index])
            layers.append(ACTIVATIONS[net.activation]())
    with torch.no_grad():
        for name, tensor in names.items():
            tensor.copy_(params[name][index])
    return nn.Sequential(*layers), names


def loss_of(net, outputs, y):
    return nn.functional.mse_loss(outputs, y) if net.loss == "mse" else nn.functional.cross_entropy(outputs, y)


def train_one(net, model, names, recipe, x, y, orders):
    """The usual loop; ``orders`` holds one order of the examples an epoch."""
    weights = [p for n, p in names.items() if n.endswith("weight")]
    others = [p for n, p in names.items() if not n.endswith("weight")]
    if recipe.decay == "all":
        groups = list(names.values())
    else:
        groups = [{"params": weights}, {"params": others, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=recipe.rate, weight_decay=recipe.weight_decay, foreach=False)
    model.train()
    for order in orders:
        for batch in order.split(recipe.batch):
            optimiser.zero_grad()
            loss_of(net, model(x[batch]), y[batch]).backward()
            optimiser.step()
    model.eval()
    return model
