"""Two hidden layers of few neurons: all (m!)² permutations, their objectives and their losses half-way (chapter 56).

With two hidden layers weight matching is a bilinear assignment problem,

    ⟨a, π b⟩ = Σ_i S_ip(i) + Σ_i T_iq(i) + Σ_ij A_ij B_q(i)p(j),

S of what only the first layer moves, T of what only the second one does, A and B the maps between them. For small m
all pairs (p, q) can be listed, and with them the exact optimum, and the loss half-way of every one.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from lmc_helpers import expect
from lmc_helpers.alignment.assignment import matched_sum
from lmc_helpers.matching import all_permutations
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import Permutations

__all__ = ["Every", "every_permutation"]

GROUPS = ("0", "1")


@dataclass(frozen=True, eq=False)
class Every:
    """All permutations of P pairs with two hidden layers of m neurons.

    Parameters
    ----------
    objective : torch.Tensor
        (P, m!, m!), float64: ⟨a, π b⟩ over the permutable parameters; first p of the first layer, then q of the second.
    loss : torch.Tensor
        (P, m!, m!), float64: half-way.
    """

    objective: torch.Tensor
    loss: torch.Tensor

    def rank(self, permutations: Permutations) -> tuple[torch.Tensor, torch.Tensor]:
        """The place of some permutations among all (m!)², 0 for the best: by objective and by loss, (P,) each."""
        expect.listed_permutations(permutations, "permutations", GROUPS, len(self.loss), self.loss.shape[1])
        index = torch.stack([_index(permutations[g]) for g in GROUPS])  # (2, P)
        pair = torch.arange(len(self.loss))
        higher = self.objective > self.objective[pair, *index][:, None, None] * (1 + 1e-12)
        lower = self.loss < self.loss[pair, *index][:, None, None] * (1 - 1e-6)  # losses are of float32 networks
        return higher.sum(dim=(1, 2)), lower.sum(dim=(1, 2))

    def best(self) -> dict[str, torch.Tensor]:
        """The permutations with the largest objective, group → (P, m)."""
        return self._at(self.objective.flatten(1).argmax(dim=1))

    def lowest(self) -> dict[str, torch.Tensor]:
        """The permutations with the lowest loss, group → (P, m)."""
        return self._at(self.loss.flatten(1).argmin(dim=1))

    def _at(self, place: torch.Tensor) -> dict[str, torch.Tensor]:
        """The permutations at flat places (P,), group → (P, m)."""
        n = self.objective.shape[-1]
        every = all_permutations(_width(n))
        return {"0": every[place // n], "1": every[place % n]}


def every_permutation(a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor) -> Every:
    """Objective of weight matching and loss half-way of all permutations of P pairs.

    Parameters
    ----------
    a, b : Stack
        P ordinary MLPs each, with ReLU, biases, no norm and two hidden layers of the same m <= 5 neurons.
    x, y : torch.Tensor
        inputs (n, …) and labels (n,).

    Returns
    -------
    Every
        (m!)² values for each pair.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> nets, x = MLP((2, 3, 3, 2)).initial([1, 2]), torch.randn(10, 2)
    >>> found = every_permutation(nets, nets, x, torch.zeros(10, dtype=torch.long))
    >>> found.loss.shape, [found.best()[g].tolist() for g in ("0", "1")]
    (torch.Size([2, 6, 6]), [[[0, 1, 2], [0, 1, 2]], [[0, 1, 2], [0, 1, 2]]])
    """
    if not isinstance(a, Stack):
        raise ValueError(f"a is {type(a).__name__}; allowed: Stack")
    if not isinstance(b, Stack):
        raise ValueError(f"b is {type(b).__name__}; allowed: Stack")
    expect.tensor(x, "x")
    expect.tensors({"y": y})
    if y.dtype != torch.long or y.shape != x.shape[:1] or y.amin() < 0 or y.amax() >= a.model.classes:
        raise ValueError(f"y has shape {tuple(y.shape)} and {y.dtype}; allowed: a class of each of {len(x)} inputs")
    if x.shape[1:] != a.model.input_shape:
        raise ValueError(f"x has shape {tuple(x.shape)}; allowed: (n, ...), inputs of shape {a.model.input_shape}")
    model = a.model
    if (
        not (isinstance(model, MLP) and (model.activation, model.norm, model.bias) == ("relu", "none", True))
        or model != b.model
        or len(a) != len(b)
        or len(model.sizes) != 4
        or model.sizes[1] != model.sizes[2]
    ):
        raise ValueError(
            f"{len(a)} networks {model} and {len(b)} {b.model}; allowed: P pairs of MLPs with biases, ReLU, no norm and"
            " two hidden layers of one width"
        )
    m = model.sizes[1]
    if m > 5:
        raise ValueError(f"{m} neurons in a layer; allowed: at most 5, with {120**2} permutations")
    every = all_permutations(m)  # (m!, m)
    pairs = [(a.ordinary([k]), b.ordinary([k])) for k in range(len(a))]
    objectives = [_objectives(left, right, every) for left, right in pairs]
    return Every(torch.stack(objectives), torch.stack([_losses(*pair, every, x, y) for pair in pairs]))


def _losses(a: Stack, b: Stack, every: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Losses half-way of one pair for all p (rows) and q (columns), (m!, m!); one pass through the first layer a p."""
    A, B = ({name: value[0] for name, value in end.params.items()} for end in (a, b))
    n, labels = len(every), y.expand(len(every), -1).flatten()
    last = ((A["2.weight"] + B["2.weight"][:, every].movedim(1, 0)) / 2).mT  # (q, m, classes)
    bias = ((A["1.bias"] + B["1.bias"][every]) / 2, (A["2.bias"] + B["2.bias"]) / 2)  # (q, m), (classes,)
    losses = []
    for p in every:
        h = torch.relu(x @ ((A["0.weight"] + B["0.weight"][p]) / 2).mT + (A["0.bias"] + B["0.bias"][p]) / 2)  # (n, m)
        between = (A["1.weight"] + B["1.weight"][every][:, :, p]) / 2  # (q, m, m)
        outputs = torch.relu(h @ between.mT + bias[0][:, None]) @ last + bias[1]  # (q, n, classes)
        each = cross_entropy(outputs.flatten(0, 1), labels, reduction="none")
        losses.append(each.view(n, -1).mean(dim=1, dtype=torch.float64))
    return torch.stack(losses)


def _objectives(a: Stack, b: Stack, every: torch.Tensor) -> torch.Tensor:
    """⟨a, π b⟩ of one pair for all p (rows) and q (columns), (m!, m!)."""
    A, B = ({name: value[0].double() for name, value in end.params.items()} for end in (a, b))

    def alone(k: int) -> torch.Tensor:
        """What a layer's neurons are worth to each other without the map between the layers, (m, m)."""
        own = [(A[name], B[name]) for name in A if name.split(".")[0] == str(k) and (k == 0 or name != "1.weight")]
        own += [(A["2.weight"].mT, B["2.weight"].mT)] if k == 1 else []
        return torch.stack([u.reshape(len(u), -1) @ v.reshape(len(v), -1).mT for u, v in own]).sum(dim=0)

    first, second = (matched_sum(alone(k).expand(len(every), -1, -1), every) for k in (0, 1))  # (m!,) each
    between = B["1.weight"][every][:, :, every]  # (m!, m, m!, m): B_q(i)p(j)
    together = torch.einsum("ij,qipj->pq", A["1.weight"], between)
    return first[:, None] + second + together


def _index(p: torch.Tensor) -> torch.Tensor:
    """Places of permutations (P, m) in the list of all, (P,)."""
    return (p.cpu()[:, None] == all_permutations(p.shape[-1])).all(dim=-1).long().argmax(dim=1)


def _width(count: int) -> int:
    """m of m!."""
    m = 1
    while len(all_permutations(m)) < count:
        m += 1
    return m
