"""The matchers under one signature, by their names, so that a chapter compares them in one loop.

Each takes P pairs of ordinary networks a and b, examples x and y, and a seed, and gives group → p (P, m): a is aligned
with ``b.permuted(p)``. Some ignore the examples or the seed.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from lmc_helpers._typing import Natural, Positive, checked
from lmc_helpers.alignment.activation_matching import activation_matching
from lmc_helpers.alignment.midpoint import Best, data_loss
from lmc_helpers.alignment.sinkhorn import sinkhorn_rebasin
from lmc_helpers.alignment.straight_through import straight_through
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import identity, random_permutations
from lmc_helpers.seeds import torch_generator

__all__ = ["Method", "methods"]

#: a, b (P networks each), inputs x (n, …), labels y (n,), seed → group → p (P, m).
Method = Callable[[Stack, Stack, Tensor, Tensor, int], dict[str, Tensor]]


@checked
def methods(restarts: Positive = 10, steps: Natural = 100, batch: Positive = 256) -> dict[str, Method]:
    """Matchers by their names, the references "identity" and "random" first.

    Parameters
    ----------
    restarts
        of weight matching with restarts.
    steps
        of straight-through matching and of Sinkhorn re-basin; each takes the loss on all examples that are given.
    batch
        inputs of a pass that records activations.

    Examples
    --------
    >>> import torch
    >>> from lmc_helpers.networks.mlp import MLP
    >>> a = MLP((2, 3, 2)).initial([1])
    >>> b = a.permuted({"0": torch.tensor([[2, 0, 1]])})
    >>> methods()["weights"](a, b, torch.ones(4, 2), torch.zeros(4, dtype=torch.long), 1)["0"].tolist()
    [[1, 2, 0]]
    """

    def weights(count: int) -> Method:
        return lambda a, b, x, y, seed: (
            weight_matching(a.params, b.params, a.model.symmetry(), count, seed).permutations
        )

    def by_loss(search: Callable[..., Best]) -> Method:
        return lambda a, b, x, y, seed: (
            search(
                a.params, b.params, a.model.symmetry(), data_loss(a.model, x, y), steps=steps, seed=seed
            ).permutations
        )

    def random(a: Stack, b: Stack, x: Tensor, y: Tensor, seed: int) -> dict[str, Tensor]:
        return random_permutations(a.model.symmetry(), len(a), torch_generator(seed, "random permutations"))

    return {
        "identity": lambda a, b, x, y, seed: identity(a.model.symmetry(), len(a)),
        "random": random,
        "weights": weights(1),
        "weights, restarts": weights(restarts),
        "activations": lambda a, b, x, y, seed: activation_matching(a, b, x, batch=batch).permutations,
        "straight-through": by_loss(straight_through),
        "Sinkhorn": by_loss(sinkhorn_rebasin),
    }
