"""Linear maps inside an attention head that keep its function and fixed entries of its weights.

A head sees its queries and keys only through their products, and its values only through the outputs. In one notation,
U (h, d) makes h numbers and V (d', h) reads them,

    (U, V) ↦ (g U, V g⁻¹),      g in GL_h,

with U = W_Q and V = W_Kᵀ, or U = W_V and V = W_O of one head, leaves V U and with it the function as it is; biases of
queries and values go with U. In a W-asymmetric network (Bürgin et al., eq. (2) and App. G.4) some entries of U and V
are fixed. Those g that keep them satisfy at g = I + A, to first order in A,

    (A U)_il = 0 at fixed entries of U,      (V A)_li = 0 at fixed entries of V.

If these n equations are independent, n <= h², the g near I that keep all fixed entries are a manifold of dimension
h² − n exactly (implicit function theorem).
"""

from __future__ import annotations

import torch

from lmc_helpers import expect
from lmc_helpers.networks.model import Fixed, Tensors
from lmc_helpers.networks.vit import ViT

__all__ = ["equations", "kept_map", "move_heads"]

ITERATIONS, ROUNDING = 50, 1e-13


def equations(U: torch.Tensor, V: torch.Tensor, fixed_U: torch.Tensor, fixed_V: torch.Tensor) -> torch.Tensor:
    """The linear equations for A, one row each; its h² entries are taken row by row.

    Parameters
    ----------
    U, V : torch.Tensor
        (h, d) and (d', h).
    fixed_U, fixed_V : torch.Tensor
        bool, of their shapes: which entries are fixed.

    Returns
    -------
    torch.Tensor
        (n, h²), n fixed entries.

    Examples
    --------
    >>> U, V = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.ones(1, 2)
    >>> only = torch.tensor([[True, False], [False, False]])
    >>> equations(U, V, only, torch.zeros(1, 2, dtype=torch.bool)).tolist()  # (A U)_00 = A_00 U_00 + A_01 U_10
    [[1.0, 3.0, 0.0, 0.0]]
    """
    expect.tensor(U, "U")
    expect.tensor(V, "V")
    expect.tensors({"fixed_U": fixed_U, "fixed_V": fixed_V})
    expect.same({"U": U, "V": V}, shape=False)
    if U.ndim != 2 or V.ndim != 2:
        raise ValueError(f"U and V have shapes {tuple(U.shape)} and {tuple(V.shape)}; allowed: (h, d) and (d', h)")
    if not U.numel() or not V.numel():
        raise ValueError(f"U and V have shapes {tuple(U.shape)} and {tuple(V.shape)}; allowed: no axis empty")
    if fixed_U.dtype != torch.bool or fixed_V.dtype != torch.bool:
        raise ValueError(f"the masks are {fixed_U.dtype} and {fixed_V.dtype}; allowed: torch.bool")
    h = len(U)
    if V.shape[-1] != h or fixed_U.shape != U.shape or fixed_V.shape != V.shape:
        shapes = [tuple(part.shape) for part in (U, V, fixed_U, fixed_V)]
        raise ValueError(f"U, V and their masks have shapes {shapes}; allowed: (h, d), (d', h), and those again")
    i, column = fixed_U.nonzero(as_tuple=True)
    row, j = fixed_V.nonzero(as_tuple=True)
    found = U.new_zeros(len(i) + len(j), h, h)
    found[torch.arange(len(i)), i] = U[:, column].mT  # Σ_k A_ik U_kl
    found[len(i) + torch.arange(len(j)), :, j] = V[row]  # Σ_k V_lk A_kj
    return found.flatten(1)


def kept_map(
    U: torch.Tensor, V: torch.Tensor, fixed_U: torch.Tensor, fixed_V: torch.Tensor, towards: torch.Tensor
) -> torch.Tensor:
    """A map g with (g U) = U and (V g⁻¹) = V at all fixed entries, at a finite distance from the identity.

    Starting at exp(A), with A the part of ``towards`` that solves :func:`equations`, Newton's steps of least norm
    g ← exp(B) g set the fixed entries right.

    Parameters
    ----------
    U, V, fixed_U, fixed_V : torch.Tensor
        as for :func:`equations`, float64.
    towards : torch.Tensor
        (h, h): direction and distance.

    Returns
    -------
    torch.Tensor
        (h, h).

    Examples
    --------
    >>> U, V = torch.eye(3, dtype=torch.float64), torch.ones(1, 3, dtype=torch.float64)
    >>> none = torch.zeros(1, 3, dtype=torch.bool)
    >>> g = kept_map(U, V, torch.eye(3, dtype=torch.bool), none, torch.ones(3, 3, dtype=torch.float64))
    >>> g.diagonal().round(decimals=9).tolist(), round(g[0, 1].item(), 3) != 0  # the diagonal of g U = g stays
    ([1.0, 1.0, 1.0], True)
    """
    expect.tensor(U, "U", "h d", dtype=torch.float64)
    expect.tensor(V, "V", "d' h", dtype=torch.float64)
    expect.tensor(towards, "towards", "h h", dtype=torch.float64)
    if U.ndim != 2 or towards.shape != (len(U), len(U)):
        raise ValueError(f"U and towards have shapes {tuple(U.shape)}, {tuple(towards.shape)}; allowed: (h, d), (h, h)")
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
    """Another member of the family with the same function and fixed entries: a kept map in every head.

    Queries and keys, and values and outputs, of each head of each block are moved by a :func:`kept_map` of their own.

    Parameters
    ----------
    model : ViT
        the architecture.
    params : dict of torch.Tensor
        effective weights of one network, name → (1, …), float64.
    fixed : dict
        name of a map → (F, D), each (1, …); entries with D = 0 are kept.
    size : float
        root mean square of the entries of ``towards``, times the root of the head's size.
    generator : torch.Generator
        of the directions.

    Returns
    -------
    dict of torch.Tensor
        name → (1, …).

    Examples
    --------
    >>> model = ViT(patch=4, dimension=8, depth=1, heads=2, input_shape=(1, 8, 8), std=0.5)
    >>> stack, x = model.initial([1], torch.float64), torch.ones(1, 1, 8, 8, dtype=torch.float64)
    >>> moved = move_heads(model, stack.params, {}, 1.0, torch.Generator().manual_seed(1))
    >>> bool(torch.allclose(model.forward(moved, x), stack.forward(x)))
    True
    """
    if not isinstance(model, ViT):
        raise ValueError(f"model is {type(model).__name__}; allowed: ViT")
    if not isinstance(params, dict) or not params:
        raise ValueError(f"params = {params!r}; allowed: tensors by their names, one or more")
    expect.tensors(params, "params")
    if not isinstance(fixed, dict):
        raise ValueError(f"fixed is {type(fixed).__name__}; allowed: tensors by their names")
    expect.number(size, "size")
    expect.generator(generator, "generator")
    h = model.dimension // model.heads
    moved = {name: value.clone() for name, value in params.items()}

    def trained(name: str) -> torch.Tensor:
        return fixed[name][1] if name in fixed else torch.ones_like(params[name])

    for k in range(model.depth):
        names = {kind: f"{k}.{kind}.weight" for kind in ("query", "key", "value", "out")}
        W = {kind: moved[name][0] for kind, name in names.items()}  # (H, h, d), of outputs (d, H, h)
        held = {kind: trained(name)[0] == 0 for kind, name in names.items()}
        for head in range(model.heads):
            for up, V, held_V in (
                ("query", W["key"][head].mT, held["key"][head].mT),  # scores read W_Kᵀ W_Q
                ("value", W["out"][:, head], held["out"][:, head]),
            ):
                towards = torch.randn(h, h, generator=generator, dtype=torch.float64) * (size / h**0.5)
                g = kept_map(W[up][head], V, held[up][head], held_V, towards)
                V.copy_(torch.linalg.solve(g, V, left=False))  # a view: the weight itself changes
                for part in (W[up][head], moved[f"{k}.{up}.bias"][0, head]):
                    part.copy_(g @ part)
    return moved
