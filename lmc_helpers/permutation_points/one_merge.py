"""Any order of the neurons for the price of one merge (Brea, Şimşek, Illing & Gerstner, section 4.2; chapter 61).

Where two neurons coincide, one of them can hand its outgoing weights to the other and is spare: its incoming weights
move freely, at equal loss. It takes the incoming weights of a third neuron, then its outgoing ones, and now the third
is spare. So the neurons are moved one by one like the tiles of a puzzle with one hole, into every order, at equal loss.

Neurons are rows θ_i = (u_i, a_i) of networks Σ_i a_i σ(u_i·x).
"""

from __future__ import annotations

import torch

from lmc_helpers.matching import check_permutation

__all__ = ["merged", "reordering_path"]


def merged(theta: torch.Tensor, i: int, j: int) -> torch.Tensor:
    """The middle of the line to the copy with neurons i and j exchanged: both are their mean.

    Parameters
    ----------
    theta : torch.Tensor
        (..., m, p).
    i, j : int
        two neurons.

    Returns
    -------
    torch.Tensor
        (..., m, p).

    Examples
    --------
    >>> merged(torch.tensor([[1.0], [2.0], [5.0]]), 0, 2).flatten().tolist()
    [3.0, 2.0, 3.0]
    """
    middle = theta.clone()
    middle[..., [i, j], :] = theta[..., [i, j], :].mean(dim=-2, keepdim=True)
    return middle


def reordering_path(theta: torch.Tensor, inputs: int, pair: tuple[int, int], p: torch.Tensor) -> torch.Tensor:
    """Corners of a path from θ to ``θ[p]`` that rises on the way to the merge of one pair only.

    It leads straight to the merge, through moves at equal loss to the merge of the reordered network, and straight on.

    Parameters
    ----------
    theta : torch.Tensor
        one network, (m, p).
    inputs : int
        incoming weights of a neuron; the others are outgoing.
    pair : (int, int)
        the neurons that merge.
    p : torch.Tensor
        the order (m,): place k gets neuron p[k].

    Returns
    -------
    torch.Tensor
        (K, m, p), a piecewise straight path.

    Examples
    --------
    >>> theta = torch.tensor([[1.0, 1.0], [2.0, 3.0], [5.0, 7.0]])
    >>> path = reordering_path(theta, 1, (0, 1), torch.tensor([2, 0, 1]))
    >>> path[-1].tolist()
    [[5.0, 7.0], [1.0, 1.0], [2.0, 3.0]]
    >>> x = torch.tensor([2.0])
    >>> (torch.relu(path[1:-1, :, :1] * x) * path[1:-1, :, 1:]).sum(dim=(1, 2)).unique().tolist()
    [82.0]
    """
    i, j = pair
    if theta.ndim != 2 or p.shape != theta.shape[:1]:
        raise ValueError(f"theta {tuple(theta.shape)}, p {tuple(p.shape)}; allowed: (m, p) and (m,)")
    if i == j or not {i, j} <= set(range(len(theta))):
        raise ValueError(f"pair = {pair}; allowed: two neurons of {len(theta)}")
    check_permutation(p)
    corners = [theta, merged(theta, i, j)]

    def move(place: int, part: slice, value: torch.Tensor, empty: int | None = None) -> None:
        there = corners[-1].clone()
        there[place, part] = value
        if empty is not None:
            there[empty, part] = 0
        corners.append(there)

    incoming, outgoing = slice(None, inputs), slice(inputs, None)
    move(i, outgoing, 2 * corners[-1][i, outgoing], empty=j)
    holds, hole = list(range(len(theta))), j  # the neuron in each place; i stands for both that merged
    target = p.tolist()
    while wrong := [k for k, goal in enumerate(target) if k != hole and holds[k] != goal]:
        here = target[hole]
        source = holds.index(here) if here != j else wrong[0]
        move(hole, incoming, corners[-1][source, incoming])
        move(hole, outgoing, corners[-1][source, outgoing], empty=source)
        holds[hole], holds[source] = holds[source], j
        hole = source
    place = target.index(i)
    move(hole, incoming, corners[-1][place, incoming])
    corners += [merged(theta, i, j)[p], theta[p]]
    return torch.stack(corners)
