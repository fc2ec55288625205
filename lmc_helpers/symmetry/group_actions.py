"""Group elements that move the weights of two neighbouring layers (Zhao, Dehmamy, Walters & Yu, sections 5 and 6).

An action turns g and w = (W_1, W_2) into g·w. Here are three of the paper's:

- :class:`GeneralLinear`, g in GL_h: (g W_1, W_2 g⁻¹), which keeps W_2 W_1 (linear layers);
- :class:`Rescaling`, g > 0 in R^h: (diag(g) W_1, W_2 diag(g)^(−k)), which keeps W_2 σ(W_1 X) if σ(c x) = c^k σ(x) for
  c > 0;
- :class:`PseudoInverse`, g in GL_h: (g W_1, W_2 σ(W_1 X) σ(g W_1 X)⁺), equation (6), there with (U, V) = (W_2, W_1); in
  general neither an action nor a symmetry.

Each has ``exp(M, t)``, the group element exp(tM), and ``act(g, w)``. The first two act linearly on w, and
``generator(M, w)`` is the linear map d/dt exp(tM)·w at t = 0.

Weights are a tuple (W_1, W_2) of float64 tensors (..., h, n) and (..., m, h); inputs X are (n, k), one a column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from lmc_helpers import expect

__all__ = ["GeneralLinear", "PseudoInverse", "Rescaling", "Weights", "projection"]

Weights = tuple[torch.Tensor, torch.Tensor]
EPS = torch.finfo(torch.float64).eps


def _check_weights(w: Weights) -> None:
    """Raise ValueError unless w = (W_1, W_2) with as many rows of W_1 as columns of W_2."""
    expect.tensors(w, "w")
    shapes = [tuple(W.shape) for W in w]
    if len(w) != 2 or any(W.ndim < 2 for W in w) or w[0].shape[-2] != w[1].shape[-1]:
        raise ValueError(f"weights have the shapes {shapes}; allowed: (..., h, n) and (..., m, h)")
    if any(W.dtype != torch.float64 for W in w):
        raise ValueError(f"weights have the types {[W.dtype for W in w]}; allowed: torch.float64")
    expect.tensor(w[0], "W_1", "... h n")
    expect.tensor(w[1], "W_2", "... m h")


def _check_square(name: str, g: torch.Tensor, h: int) -> None:
    expect.tensor(g, name, finite=False)
    if g.ndim < 2 or tuple(g.shape[-2:]) != (h, h) or g.dtype != torch.float64:
        raise ValueError(f"{name} has shape {tuple(g.shape)} and {g.dtype}; allowed: (..., {h}, {h}), torch.float64")
    if not g.isfinite().all():
        raise ValueError(f"{name} has an entry that is not finite; allowed: finite numbers")


def _inverse(g: torch.Tensor) -> torch.Tensor:
    """g⁻¹, or ValueError if ``‖g‖ ‖g⁻¹‖ >= 1/(16 h ε)`` for one g of the batch, singular to rounding."""
    inverse, info = torch.linalg.inv_ex(g)
    with torch.no_grad():
        condition = torch.linalg.matrix_norm(g) * torch.linalg.matrix_norm(inverse)
        good = (info == 0) & (condition < 1 / (16 * g.shape[-1] * EPS))
    if not good.all():
        worst = condition[~good].flatten()[0].item()
        raise ValueError(f"g is singular to rounding: ‖g‖ ‖g⁻¹‖ = {worst:.1e}; allowed: invertible g")
    return inverse


@dataclass(frozen=True)
class GeneralLinear:
    """GL_h on two neighbouring linear layers: g·(W_1, W_2) = (g W_1, W_2 g⁻¹).

    Examples
    --------
    >>> W = torch.eye(2, dtype=torch.float64)
    >>> first, second = GeneralLinear().act(4 * W, (W, W))
    >>> first[0, 0].item(), second[0, 0].item()
    (4.0, 0.25)
    """

    def exp(self, M: torch.Tensor, t: torch.Tensor | float = 1.0) -> torch.Tensor:
        """exp(tM).

        Parameters
        ----------
        M : torch.Tensor
            an element of the Lie algebra, (..., h, h).
        t : torch.Tensor or float
            a number, or a grid (steps,).

        Returns
        -------
        torch.Tensor
            (..., h, h) or (..., steps, h, h).
        """
        return torch.linalg.matrix_exp(_times(t, M, 2))

    def act(self, g: torch.Tensor, w: Weights) -> Weights:
        """g·w.

        Parameters
        ----------
        g : torch.Tensor
            (..., h, h), invertible.
        w : tuple of torch.Tensor
            (W_1, W_2).

        Returns
        -------
        tuple of torch.Tensor
            (..., h, n) and (..., m, h).
        """
        _check_weights(w)
        _check_square("g", g, w[0].shape[-2])
        # not torch.linalg.solve: its second derivative in nested forward mode is half of what it should be (torch 2.13)
        return g @ w[0], w[1] @ _inverse(g)

    def generator(self, M: torch.Tensor, w: Weights) -> Weights:
        """(M W_1, −W_2 M), the velocity of exp(tM)·w at t = 0.

        Parameters
        ----------
        M : torch.Tensor
            an element of the Lie algebra, (..., h, h).
        w : tuple of torch.Tensor
            (W_1, W_2).

        Returns
        -------
        tuple of torch.Tensor
            (..., h, n) and (..., m, h).

        Examples
        --------
        >>> W = torch.eye(2, dtype=torch.float64)
        >>> [V[0, 1].item() for V in GeneralLinear().generator(torch.ones(2, 2).double(), (W, W))]
        [1.0, -1.0]
        """
        _check_weights(w)
        _check_square("M", M, w[0].shape[-2])
        return M @ w[0], -w[1] @ M


@dataclass(frozen=True)
class Rescaling:
    """One positive factor a neuron: g·(W_1, W_2) = (diag(g) W_1, W_2 diag(g)^(−k)).

    Parameters
    ----------
    degree : float
        k with σ(c x) = c^k σ(x) for c > 0; 1 for ReLU and leaky ReLU.

    Examples
    --------
    >>> W = torch.eye(2, dtype=torch.float64)
    >>> first, second = Rescaling(degree=2).act(torch.tensor([2.0, 1.0]).double(), (W, W))
    >>> first.diagonal().tolist(), second.diagonal().tolist()
    ([2.0, 1.0], [0.25, 1.0])
    """

    degree: float = 1.0

    def __post_init__(self) -> None:
        expect.number(self.degree, "degree")
        if not (math.isfinite(self.degree) and self.degree > 0):
            raise ValueError(f"degree = {self.degree}; allowed: a finite number > 0")

    def exp(self, M: torch.Tensor, t: torch.Tensor | float = 1.0) -> torch.Tensor:
        """exp(tM), entry by entry.

        Parameters
        ----------
        M : torch.Tensor
            logarithms of the factors, (..., h).
        t : torch.Tensor or float
            a number, or a grid (steps,).

        Returns
        -------
        torch.Tensor
            (..., h) or (..., steps, h).
        """
        return torch.exp(_times(t, M, 1))

    def act(self, g: torch.Tensor, w: Weights) -> Weights:
        """g·w.

        Parameters
        ----------
        g : torch.Tensor
            (..., h), positive.
        w : tuple of torch.Tensor
            (W_1, W_2).

        Returns
        -------
        tuple of torch.Tensor
            (..., h, n) and (..., m, h).
        """
        _check_weights(w)
        self._check_vector("g", g, w)
        if not (g > 0).all():
            raise ValueError(f"g has the factor {g.min().item():g}; allowed: positive factors")
        return g[..., :, None] * w[0], w[1] * g[..., None, :] ** -self.degree

    def generator(self, M: torch.Tensor, w: Weights) -> Weights:
        """(diag(M) W_1, −k W_2 diag(M)), the velocity of exp(tM)·w at t = 0.

        Parameters
        ----------
        M : torch.Tensor
            logarithms of the factors, (..., h).
        w : tuple of torch.Tensor
            (W_1, W_2).

        Returns
        -------
        tuple of torch.Tensor
            (..., h, n) and (..., m, h).

        Examples
        --------
        >>> one = torch.ones(1, 1, dtype=torch.float64)
        >>> [V.item() for V in Rescaling(degree=2).generator(3 * one[0], (one, one))]
        [3.0, -6.0]
        """
        _check_weights(w)
        self._check_vector("M", M, w)
        return M[..., :, None] * w[0], -self.degree * w[1] * M[..., None, :]

    def _check_vector(self, name: str, g: torch.Tensor, w: Weights) -> None:
        expect.tensor(g, name, finite=False)
        h = w[0].shape[-2]
        if g.ndim < 1 or g.shape[-1] != h or g.dtype != torch.float64 or not g.isfinite().all():
            raise ValueError(f"{name} has shape {tuple(g.shape)} and {g.dtype}; allowed: (..., {h}), finite, float64")


def projection(s: torch.Tensor) -> torch.Tensor:
    """s⁺ s, the orthogonal projection of R^k onto the row space of s, from its right singular vectors.

    Parameters
    ----------
    s : torch.Tensor
        (..., h, k). Singular values up to max(h, k) ε σ_max count as 0.

    Returns
    -------
    torch.Tensor
        (..., k, k).

    Examples
    --------
    >>> projection(torch.tensor([[3.0, 0.0], [6.0, 0.0]], dtype=torch.float64)).abs()
    tensor([[1., 0.],
            [0., 0.]], dtype=torch.float64)
    """
    expect.tensor(s, "s", "... h k")
    _, sigma, V = torch.linalg.svd(s, full_matrices=False)
    kept = (sigma > max(s.shape[-2:]) * EPS * sigma[..., :1]).to(V)
    return V.mT @ (kept[..., :, None] * V)


@dataclass(frozen=True)
class PseudoInverse:
    """The map (6) of a two-layer network and its inputs: g·(W_1, W_2) = (g W_1, W_2 σ(W_1 X) σ(g W_1 X)⁺).

    Parameters
    ----------
    activation : callable
        σ, entry by entry.
    X : torch.Tensor
        inputs (n, k), float64.

    Examples
    --------
    With one sample the output is kept for every σ, but the identity moves W_2.

    >>> X = torch.ones(1, 1, dtype=torch.float64)
    >>> w = torch.ones(2, 1, dtype=torch.float64), torch.tensor([[2.0, 0.0]], dtype=torch.float64)
    >>> moved = PseudoInverse(torch.tanh, X).act(torch.eye(2, dtype=torch.float64), w)
    >>> [round(x, 12) for x in moved[1][0].tolist()]
    [1.0, 1.0]
    """

    activation: Callable[[torch.Tensor], torch.Tensor]
    X: torch.Tensor

    def __post_init__(self) -> None:
        expect.function(self.activation, "activation")
        expect.tensor(self.X, "X", finite=False)
        if self.X.ndim != 2 or self.X.dtype != torch.float64:
            raise ValueError(f"X has shape {tuple(self.X.shape)} and {self.X.dtype}; allowed: (n, k) and torch.float64")
        expect.tensor(self.X, "X", "n k")

    def hidden(self, W_1: torch.Tensor) -> torch.Tensor:
        """σ(W_1 X), (..., h, k)."""
        expect.tensor(W_1, "W_1", "... h n", dtype=torch.float64)
        if W_1.shape[-1] != len(self.X):
            raise ValueError(f"W_1 has shape {tuple(W_1.shape)}; allowed: (..., h, {len(self.X)})")
        return self.activation(W_1 @ self.X)

    def output(self, w: Weights) -> torch.Tensor:
        """W_2 σ(W_1 X), (..., m, k)."""
        _check_weights(w)
        return w[1] @ self.hidden(w[0])

    def exp(self, M: torch.Tensor, t: torch.Tensor | float = 1.0) -> torch.Tensor:
        """exp(tM), as :meth:`GeneralLinear.exp`."""
        return GeneralLinear().exp(M, t)

    def act(self, g: torch.Tensor, w: Weights) -> Weights:
        """g·w.

        Parameters
        ----------
        g : torch.Tensor
            (..., h, h), invertible.
        w : tuple of torch.Tensor
            (W_1, W_2).

        Returns
        -------
        tuple of torch.Tensor
            (..., h, n) and (..., m, h).
        """
        Z = self.output(w)  # (..., m, k)
        _check_square("g", g, w[0].shape[-2])
        _inverse(g)
        moved = g @ w[0]
        s = self.hidden(moved)
        return moved, Z @ torch.linalg.pinv(s, rtol=max(s.shape[-2:]) * EPS)


def _times(t: torch.Tensor | float, M: torch.Tensor, dims: int) -> torch.Tensor:
    """t M for a number, or for a grid (steps,) with the steps before the last ``dims`` dimensions of M."""
    expect.tensor(M, "M", "... h")
    expect.reals(t, "t")
    if dims == 2 and (M.ndim < 2 or M.shape[-1] != M.shape[-2] or not M.shape[-1]):
        raise ValueError(f"M has shape {tuple(M.shape)}; allowed: (..., h, h)")
    t = torch.as_tensor(t, dtype=torch.float64, device=M.device)
    if t.ndim > 1:
        raise ValueError(f"t has shape {tuple(t.shape)}; allowed: a number or a grid (steps,)")
    if not t.isfinite().all():
        raise ValueError(f"t holds {t[~t.isfinite()][0].item()}; allowed: finite numbers")
    return t * M if t.ndim == 0 else t.reshape(-1, *[1] * dims) * M.unsqueeze(-1 - dims)
