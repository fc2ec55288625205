"""The last two layers of a network with a homogeneous activation, and their rescaling (chapters 33 and 37).

Zhao, Dehmamy, Walters & Yu, 5.2 and 5.3. The loss L = ``‖Y − W_l σ(W_{l−1} F)‖²`` sees only the last two layers W_l
(o, h) and W_{l−1} (h, d), the features F (d, N) that the layers below make, the targets Y (o, N) and the activation,
σ(cz) = c^k σ(z) for c > 0. The point m · W = (W_l m^{−k}, m W_{l−1}, W_{l−2}, …, W_1) computes the same function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from lmc_helpers.barrier import check_lambdas
from lmc_helpers.seeds import normal

__all__ = ()  # what packages of ours lend each other

SLOPES = (0.0, -0.1, 0.5)  # σ(−1) of the random networks in turn: ReLU, leaky ReLU, partly even
FEATURES = 3  # d of the random networks
Layers = tuple[torch.Tensor, torch.Tensor]


def activation(z: torch.Tensor, k: float, negative: float = 0.0) -> torch.Tensor:
    """σ(z) = z^k for z > 0, ``|z|^k σ(−1)`` for z < 0 and σ(0) = 0: all with σ(cz) = c^k σ(z), c > 0, and σ(1) = 1."""
    side = (z > 0).to(z.dtype) + negative * (z < 0).to(z.dtype)
    return side * z.abs().pow(k)


def rescale(last: torch.Tensor, before: torch.Tensor, m: float | torch.Tensor, k: float) -> Layers:
    """(W_l m^{−k}, m W_{l−1}), or with one factor a neuron (W_l diag(m)^{−k}, diag(m) W_{l−1}): the same function."""
    m = torch.as_tensor(m, dtype=last.dtype)
    m = m if m.ndim else m.expand(last.shape[-1])
    return last * m.pow(-k)[..., None, :], m[..., None] * before


@dataclass(frozen=True)
class HomogeneousNet:
    """The last two layers of a network with a homogeneous activation σ."""

    last: torch.Tensor  # W_l (o, h)
    before: torch.Tensor  # W_{l−1} (h, d)
    F: torch.Tensor  # features (d, N)
    Y: torch.Tensor  # targets (o, N)
    k: float  # degree of σ
    negative: float  # σ(−1)

    @property
    def layers(self) -> Layers:
        """W_l and W_{l−1}."""
        return self.last, self.before

    @property
    def hidden(self) -> torch.Tensor:
        """H = W_{l−1} F, (h, N)."""
        return self.before @ self.F

    def sigma(self, z: torch.Tensor) -> torch.Tensor:
        """σ, entry by entry."""
        return activation(z, self.k, self.negative)

    def output(self, last: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """W_l σ(W_{l−1} F) of given layers, (..., o, N)."""
        return last @ self.sigma(before @ self.F)

    def loss(self, last: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """L = ``‖Y − W_l σ(W_{l−1} F)‖²`` of given layers, (...)."""
        return (self.Y - self.output(last, before)).square().sum(dim=(-2, -1))

    def rescaled(self, m: float | torch.Tensor) -> Layers:
        """m · W, the layers (W_l m^{−k}, m W_{l−1}); m one number, or one a neuron."""
        return rescale(*self.layers, m, self.k)

    def line(self, lambdas: float | Sequence[float] | torch.Tensor, a: Layers, b: Layers) -> torch.Tensor:
        """Losses (..., L) at λ a + (1 − λ) b for one or L values of λ."""
        lam = check_lambdas(lambdas, row=False)[..., None, None]
        mixed = [lam * x.unsqueeze(-3) + (1 - lam) * y.unsqueeze(-3) for x, y in zip(a, b, strict=True)]
        return self.loss(*mixed)

    def with_norm(self, norm: float) -> HomogeneousNet:
        """The same network with W_l and Y multiplied so that ``‖Y‖`` is ``norm``; its loss stays 0 if it was."""
        scale = norm / self.Y.norm()
        return replace(self, last=scale * self.last, Y=scale * self.Y)


def random_net(
    seed: int, purpose: str, k: float, number: int = 0, h: int = 5, o: int = 2, N: int = 4
) -> HomogeneousNet:
    """A random network whose targets are its own outputs, so that its loss is 0.

    Layers and features are standard normal, with 3 features; rows of W_{l−1} are turned so that every neuron, a ReLU
    included, is active on some sample. σ(−1) is 0, −0.1 and 0.5 in turn.
    """
    name, negative = f"{purpose} {k} {number}", SLOPES[number % len(SLOPES)]
    shapes = {"last": (o, h), "before": (h, FEATURES), "F": (FEATURES, N)}
    last, before, F = (normal(shape, seed, f"{name} {part} {shape}") for part, shape in shapes.items())
    before = before * (before @ F).sum(dim=1, keepdim=True).sign()
    return HomogeneousNet(last, before, F, last @ activation(before @ F, k, negative), k, negative)
