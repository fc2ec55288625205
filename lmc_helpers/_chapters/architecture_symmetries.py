"""Symmetries that fixed weights leave to an architecture, for the chapter *architecture symmetries*.

F and D of W_eff = F + D ⊙ W are parts of the architecture (Bürgin et al., eq. (2)). Networks and numbers of fixed
entries are those of App. F.2 and G.4, for each row as in the published code.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lmc_helpers._typing import Tensors
from lmc_helpers.networks.model import Fixed
from lmc_helpers.networks.permutations import Permutations, Symmetry
from lmc_helpers.networks.vit import ViT
from lmc_helpers.seeds import numpy_generator

ITERATIONS, ROUNDING = 50, 1e-13


def equations(U: torch.Tensor, V: torch.Tensor, fixed_U: torch.Tensor, fixed_V: torch.Tensor) -> torch.Tensor:
    """The linear equations for A, (n, h²), with the entries of A row by row.

    A head depends on U (h, d) and V (d', h), which are W_Q and W_Kᵀ or W_V and W_O, only through V U, so that (g U, V
    g⁻¹) with g in GL_h has the same function. To first order g = I + A preserves the fixed entries if (A U)_il = 0 and
    (V A)_li = 0 there. If these n <= h² equations are independent, such g near I form a manifold of dimension h² − n.
    """
    h = len(U)
    i, column = fixed_U.nonzero(as_tuple=True)
    row, j = fixed_V.nonzero(as_tuple=True)
    rows = U.new_zeros(len(i) + len(j), h, h)
    rows[torch.arange(len(i)), i] = U[:, column].mT  # Σ_k A_ik U_kl
    rows[len(i) + torch.arange(len(j)), :, j] = V[row]  # Σ_k V_lk A_kj
    return rows.flatten(1)


def preserving_map(
    U: torch.Tensor, V: torch.Tensor, fixed_U: torch.Tensor, fixed_V: torch.Tensor, towards: torch.Tensor
) -> torch.Tensor:
    """A g with (g U) = U and (V g⁻¹) = V at all fixed entries, at a finite distance from the identity."""
    h, size = len(U), U.abs().max() + V.abs().max()
    A = equations(U, V, fixed_U, fixed_V)
    g = torch.linalg.matrix_exp(towards - (torch.linalg.pinv(A) @ (A @ towards.flatten())).view(h, h))
    for _ in range(ITERATIONS):
        gU, Vg = g @ U, torch.linalg.solve(g, V, left=False)
        off = torch.cat([(gU - U)[fixed_U], (V - Vg)[fixed_V]])
        if not off.numel() or off.abs().max() <= ROUNDING * size:
            return g
        step = torch.linalg.lstsq(equations(gU, Vg, fixed_U, fixed_V), -off[:, None], driver="gelsd").solution
        step = step.view(h, h) * min(1.0, 0.5 / step.norm().item())
        g = torch.linalg.matrix_exp(step) @ g
    raise ValueError(
        f"fixed entries are off by {off.abs().max():.1e} after {ITERATIONS} steps; allowed: smaller distances, or "
        "fewer fixed entries"
    )


def move_heads(model: ViT, params: Tensors, fixed: Fixed, size: float, generator: torch.Generator) -> Tensors:
    """Parameters with the same function and fixed entries, moved by a :func:`preserving_map` in every head."""
    h = model.dimension // model.heads
    moved = {name: value.clone() for name, value in params.items()}

    def trained(name: str) -> torch.Tensor:
        return fixed[name][1] if name in fixed else torch.ones_like(params[name])

    for k in range(model.depth):
        names = {kind: f"{k}.{kind}.weight" for kind in ("query", "key", "value", "out")}
        W = {kind: moved[name][0] for kind, name in names.items()}  # (H, h, d), of outputs (d, H, h)
        frozen = {kind: trained(name)[0] == 0 for kind, name in names.items()}
        for head in range(model.heads):
            for up, V, frozen_V in (
                ("query", W["key"][head].mT, frozen["key"][head].mT),  # scores read W_Kᵀ W_Q
                ("value", W["out"][:, head], frozen["out"][:, head]),
            ):
                towards = torch.randn(h, h, generator=generator, dtype=torch.float64) * (size / h**0.5)
                g = preserving_map(W[up][head], V, frozen[up][head], frozen_V, towards)
                V.copy_(torch.linalg.solve(g, V, left=False))  # a view: the weight itself changes
                for part in (W[up][head], moved[f"{k}.{up}.bias"][0, head]):
                    part.copy_(g @ part)
    return moved


def cells(symmetry: Symmetry, fixed: Fixed, values: bool = True) -> dict[str, torch.Tensor]:
    """The stable partition of the units of each group, by colour refinement.

    Two units get different colours if the multisets of the entries of F and D on their axes, each with the colours of
    the units on its other axes, differ; and so on until no colour splits. A permutation that preserves F and D
    preserves every colour, so that it is the identity if all colours differ. The converse is false. Multisets are
    compared by sums of products of 64-bit words; equal ones have equal sums, so that no colour splits without reason.
    """
    edges = {name: _edges(F, D, values) for name, (F, D) in fixed.items()}
    colours = {group: np.zeros(m, dtype=np.int64) for group, m in symmetry.sizes.items()}
    owner = {(axis.name, axis.axis): group for group, axes in symmetry.groups.items() for axis in axes}
    while True:
        finer = {}
        for group, axes in symmetry.groups.items():
            signature = [colours[group]]
            for index_of_axis, place in enumerate(axes):
                name, axis = place.name, place.axis
                if name in edges:
                    index, words, shape = edges[name]
                    product = words.copy()
                    for other in range(len(shape)):
                        if other != axis:
                            label = _labels(name, other, shape[other], owner, colours)
                            product *= label[index[other]]
                    total = np.zeros(symmetry.sizes[group], dtype=np.uint64)
                    np.add.at(total, index[axis], product)
                    signature.append(total * _words(1, f"axis {index_of_axis}")[0])
            stacked = np.stack([part.astype(np.uint64) for part in signature])
            finer[group] = np.unique(stacked, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
        counts = [(len(np.unique(finer[g])), len(np.unique(colours[g]))) for g in finer]
        colours = finer
        if all(new == old for new, old in counts):
            return {group: torch.from_numpy(cell) for group, cell in colours.items()}


def shared(symmetry: Symmetry, fixed: Fixed, values: bool = True) -> int:
    """Number of units that share their cell of :func:`cells`; if 0, only the identity preserves F and D."""
    return sum(int((torch.bincount(cell)[cell] > 1).sum()) for cell in cells(symmetry, fixed, values).values())


def _edges(
    F: torch.Tensor, D: torch.Tensor, values: bool
) -> tuple[tuple[np.ndarray, ...], np.ndarray, tuple[int, ...]]:
    """Indices and words of the entries other than F = 0, D = 1 (an ordinary weight), and the shape."""
    f, d = (part[0].double().numpy() for part in (F if values else 0 * F, D))
    f, d = f + 0.0, d + 0.0  # −0 is the same as 0
    index = np.nonzero((f != 0) | (d != 1))
    bits = _mixed(f[index].view(np.uint64) + np.uint64(1)) + d[index].view(np.uint64)
    return index, _mixed(bits), f.shape


def _labels(name: str, axis: int, size: int, owner: dict, colours: dict[str, np.ndarray]) -> np.ndarray:
    """Words for the indices of an axis: of their colours if it belongs to a group, else of the indices."""
    group = owner.get((name, axis))
    if group is None:
        return _words(size, "index")
    return _words(size, f"colour of {group}")[colours[group]]


def _words(size: int, purpose: str) -> np.ndarray:
    """Odd random 64-bit words, the same for each purpose."""
    drawn = numpy_generator(0, f"words, {purpose}").integers(0, 2**64, size, dtype=np.uint64, endpoint=False)
    return drawn | np.uint64(1)


def _mixed(words: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit words that scatters their bits (the finaliser of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def inverse(permutations: Permutations) -> dict[str, Tensor]:
    """The permutations that undo others, q_{p_i} = i."""
    return {group: p.argsort(dim=-1) for group, p in permutations.items()}
