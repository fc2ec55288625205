"""Barriers after the best permutation, for the chapter *permuted barriers*.

Zhao, Dehmamy, Walters & Yu, Prop. 5.4: two minima W and W′ that differ in the last two layers only are compared at λ
W + (1 − λ) P · W′ for all permutations P of the neurons between these layers. If W′ is W with only neuron j rescaled by
m, then for every P, as m → ∞,

    output at the middle = 2^{−(k+1)} m^k w_i ζ_jᵀ (1 + o(1)),      i the neuron that P maps to j,

with the columns w_i of W_l and ζ_j = σ(h_j), h_j the rows of H = W_{l−1} F. So the least loss over P grows like m^{2k}
if ζ_j ≠ 0 and no w_i is 0, which :func:`fill_outputs` achieves without leaving the minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from lmc_helpers.matching import all_permutations
from lmc_helpers.orbits.homogeneous import FEATURES, HomogeneousNet, Layers, random_net

Activation = Callable[[torch.Tensor], torch.Tensor]


def permuted_losses(a: Layers, b: Layers, Y: torch.Tensor, sigma: Activation, lam: float = 0.5) -> torch.Tensor:
    """Losses (h!,) at λ (W_l, H) + (1 − λ) P · (W_l′, H′) for every permutation P of the h neurons; equation (18)."""
    P = all_permutations(a[0].shape[1])  # (h!, h); neuron i is paired with neuron p[i]
    last = lam * a[0] + (1 - lam) * b[0][:, P].movedim(0, 1)  # (h!, o, h)
    hidden = lam * a[1] + (1 - lam) * b[1][P]  # (h!, h, N)
    return (Y - last @ sigma(hidden)).square().sum(dim=(-2, -1))


def fill_outputs(net: HomogeneousNet) -> HomogeneousNet:
    """Give every neuron without outgoing weights a share of those of another, at equal output.

    Neurons whose column of W_l is 0 become copies of the neuron j with the largest ``‖w_j‖ ‖σ(h_j)‖``, and all of them
    share its column equally. Then no column is 0.
    """
    donor = int((net.last.norm(dim=0) * net.sigma(net.hidden).norm(dim=1)).argmax())
    rows = torch.arange(net.last.shape[1])
    rows[(net.last == 0).all(dim=0)] = donor
    copies = rows == donor
    last = torch.where(copies, net.last[:, [donor]] / copies.sum(), net.last)
    return replace(net, last=last, before=net.before[rows])


def idle_net(seed: int, k: float, working: int, h: int, number: int = 0) -> HomogeneousNet:
    """A network of h neurons with loss 0, of which h − ``working`` have no incoming and outgoing weights."""
    net = random_net(seed, f"idle {working} of {h}", k, number, h=working)
    last, before = net.last.new_zeros(len(net.last), h), net.before.new_zeros(h, FEATURES)
    last[:, :working], before[:working] = net.layers
    return replace(net, last=last, before=before)
