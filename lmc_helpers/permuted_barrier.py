"""The barrier after the best permutation of the last hidden layer (Zhao, Dehmamy, Walters & Yu, Prop. 5.4).

Two minima W and W′ that differ in the last two layers only are compared at (1 − α) W + α P · W′ for all permutations P
of the neurons between these layers. Let w_i be the columns of W_l and ζ_j = σ(h_j) the activations, h_j the rows of
H = W_{l−1} F. If W′ is W with neuron j alone rescaled by m (:mod:`lmc_helpers.rescaling`), then for every P, as m → ∞,

    output at the middle = 2^{−(k+1)} m^k w_i ζ_jᵀ (1 + o(1)),      i the neuron that P puts on j,

so that the least loss over P grows like m^{2k} if ζ_j ≠ 0 and no w_i is 0. :func:`fill_outputs` makes the latter true
without leaving the minimum.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from lmc_helpers.matching import all_permutations
from lmc_helpers.rescaling import check_layers

__all__ = ["fill_outputs", "permuted_losses"]

Activation = Callable[[torch.Tensor], torch.Tensor]


def permuted_losses(
    one: tuple[torch.Tensor, torch.Tensor],
    other: tuple[torch.Tensor, torch.Tensor],
    Y: torch.Tensor,
    sigma: Activation,
    alpha: float = 0.5,
) -> torch.Tensor:
    """Losses at (1 − α) W + α P · W′ for every permutation P of the last hidden layer; equation (18).

    Parameters
    ----------
    one, other : tuple of torch.Tensor
        (W_l, H) and (W_l′, H′), (o, h) and (h, N), h <= 9.
    Y : torch.Tensor
        targets (o, N).
    sigma : callable
        activation of the entries.
    alpha : float
        place on the line, in [0, 1].

    Returns
    -------
    torch.Tensor
        (h!,), in the order of :func:`lmc_helpers.matching.all_permutations`; neuron i meets neuron p[i].

    Raises
    ------
    ValueError
        if the shapes do not fit, a weight is not finite, h > 9, or α lies outside [0, 1].

    Examples
    --------
    Two neurons and the same two in the other order:

    >>> W, H = torch.tensor([[1.0, 3.0]]), torch.tensor([[1.0], [5.0]])
    >>> permuted_losses((W, H), (W.flip(1), H.flip(0)), torch.tensor([[16.0]]), torch.relu)
    tensor([16.,  0.])
    """
    for pair in (one, other):
        check_layers(*pair)
    if one[0].shape != other[0].shape or one[1].shape != other[1].shape or one[0].ndim != 2:
        shapes = [tuple(t.shape) for t in (*one, *other)]
        raise ValueError(f"the layers have shapes {shapes}; allowed: (o, h) and (h, N), twice the same")
    if Y.shape != (one[0].shape[0], one[1].shape[1]):
        raise ValueError(f"Y has shape {tuple(Y.shape)}; allowed: {(one[0].shape[0], one[1].shape[1])}")
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha = {alpha}; allowed: 0 <= alpha <= 1")
    P = all_permutations(one[0].shape[1])  # (h!, h)
    last = (1 - alpha) * one[0] + alpha * other[0][:, P].movedim(0, 1)  # (h!, o, h)
    hidden = (1 - alpha) * one[1] + alpha * other[1][P]  # (h!, h, N)
    return (Y - last @ sigma(hidden)).square().sum(dim=(-2, -1))


def fill_outputs(last: torch.Tensor, hidden: torch.Tensor, sigma: Activation) -> tuple[torch.Tensor, torch.Tensor]:
    """Give every neuron without an outgoing weight some of those of another, at the same output.

    Neurons whose column of W_l is 0 become copies of the neuron j with the largest ``‖w_j‖ ‖σ(h_j)‖``, and all of them
    share its column evenly. Then no column is 0.

    Parameters
    ----------
    last : torch.Tensor
        W_l (o, h).
    hidden : torch.Tensor
        H = W_{l−1} F (h, N).
    sigma : callable
        activation of the entries.

    Returns
    -------
    torch.Tensor, torch.Tensor
        the new W_l (o, h) and, for each neuron, the row of H and of W_{l−1} that it takes, (h,), long.

    Raises
    ------
    ValueError
        if the shapes do not fit, a weight is not finite, or no neuron has both an outgoing weight and an activation.

    Examples
    --------
    >>> W, rows = fill_outputs(torch.tensor([[0.0, 6.0, 0.0]]), torch.tensor([[-1.0], [2.0], [-1.0]]), torch.relu)
    >>> W, rows
    (tensor([[2., 2., 2.]]), tensor([1, 1, 1]))
    """
    check_layers(last, hidden)
    if last.ndim != 2:
        raise ValueError(f"W_l has shape {tuple(last.shape)}; allowed: (o, h), one network")
    strength = last.norm(dim=0) * sigma(hidden).norm(dim=1)  # (h,)
    if not (strength > 0).any():
        raise ValueError("no neuron has an outgoing weight and an activation; allowed: a network with an output not 0")
    donor = int(strength.argmax())
    rows = torch.arange(last.shape[1])
    rows[(last == 0).all(dim=0)] = donor
    copies = rows == donor
    return torch.where(copies, last[:, [donor]] / copies.sum(), last), rows
