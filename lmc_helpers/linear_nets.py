"""Linear networks of invertible weights: the components of the minimum and paths (Zhao, Dehmamy, Walters & Yu).

The loss is L(W_1, …, W_l) = ``‖Y − W_l … W_1 X‖²`` with all matrices h × h, X and Y invertible. At L = 0 every factor
is invertible and W_l follows from the others, so that the minimum is homeomorphic to GL_h^{l−1} (Prop. 4.1),

    (W_1, …, W_l)  ↔  (g_1, …, g_{l−1}) = (W_1 X, W_2, …, W_{l−1}),    W_l = Y g_1⁻¹ g_2⁻¹ … g_{l−1}⁻¹,

and has 2^{l−1} components, one for each choice of the signs of det g_i (Cor. 4.2). A path between two of them holds a
point where a factor is singular. There W_l … W_1 X has rank < h and L >= σ_min(Y)² (Eckart & Young), a bound that
:func:`path_over_obstruction` attains.

Weights are a list [W_1, …, W_l] of float64 tensors (..., h, h), l >= 2; X and Y are (h, h).
"""

from __future__ import annotations

import math
from itertools import accumulate
from operator import mul

import scipy.linalg
import torch

__all__ = [
    "component",
    "components",
    "from_group",
    "joining_permutations",
    "loss",
    "obstruction",
    "path_in_minimum",
    "path_over_obstruction",
    "permute_layers",
    "residual_component",
    "rotation_logarithm",
    "to_group",
]

#: a minimum has L <= AT_MINIMUM · ‖Y‖²
AT_MINIMUM = 1e-16


def loss(weights: list[torch.Tensor], X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    """L = ``‖Y − W_l … W_1 X‖²``, the squared Frobenius norm; equation (1).

    Parameters
    ----------
    weights : list of torch.Tensor
        W_1, …, W_l, each (..., h, h).
    X, Y : torch.Tensor
        inputs and targets (h, h).

    Returns
    -------
    torch.Tensor
        (...), differentiable.

    Raises
    ------
    ValueError
        if there are fewer than two weights, the shapes do not fit or a tensor is not float64.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> loss([I, 3 * I], I, 2 * I)
    tensor(2., dtype=torch.float64)
    """
    _check_shapes(weights, X=X, Y=Y)
    return (Y - _product(weights, X)).square().sum(dim=(-2, -1))


def to_group(weights: list[torch.Tensor], X: torch.Tensor) -> list[torch.Tensor]:
    """(g_1, …, g_{l−1}) = (W_1 X, W_2, …, W_{l−1}) in GL_h^{l−1}; Prop. 4.1.

    Parameters
    ----------
    weights : list of torch.Tensor
        W_1, …, W_l, each (..., h, h); the last one is not used.
    X : torch.Tensor
        inputs (h, h).

    Returns
    -------
    list of torch.Tensor
        l − 1 matrices (..., h, h).

    Raises
    ------
    ValueError
        if the shapes do not fit, or X or one of W_1, …, W_{l−1} is singular to rounding.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> [float(g[0, 0]) for g in to_group([I, 3 * I, I], 5 * I)]
    [5.0, 3.0]
    """
    _check_shapes(weights, X=X)
    _check_regular(X=X, **_named(weights[:-1]))
    return [weights[0] @ X, *weights[1:-1]]


def from_group(g: list[torch.Tensor], X: torch.Tensor, Y: torch.Tensor) -> list[torch.Tensor]:
    """The minimum with W_1 = g_1 X⁻¹, W_i = g_i and W_l = Y g_1⁻¹ … g_{l−1}⁻¹, by solves; inverse of :func:`to_group`.

    Parameters
    ----------
    g : list of torch.Tensor
        l − 1 >= 1 invertible matrices (..., h, h).
    X, Y : torch.Tensor
        inputs and targets (h, h).

    Returns
    -------
    list of torch.Tensor
        W_1, …, W_l, each (..., h, h), with loss 0 up to rounding.

    Raises
    ------
    ValueError
        if the shapes do not fit or a matrix is singular to rounding.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> [float(W[0, 0]) for W in from_group([5 * I, 3 * I], 5 * I, 30 * I)]
    [1.0, 3.0, 2.0]
    """
    _check_shapes(g, "g", least=1, X=X, Y=Y)
    _check_regular(X=X, Y=Y, **_named(g, "g"))
    last = Y
    for factor in g:
        last = _divide(last, factor)
    return [_divide(g[0], X), *g[1:], last]


def components(weights: list[torch.Tensor], X: torch.Tensor) -> torch.Tensor:
    """Signs of det(W_1 X), det W_2, …, det W_{l−1}, which tell the components of the minimum apart (Cor. 4.2).

    A matrix counts as singular if σ_min <= 16 h ε σ_max with ε = 2⁻⁵², where rounding may decide the sign.

    Parameters
    ----------
    weights : list of torch.Tensor
        W_1, …, W_l, each (..., h, h).
    X : torch.Tensor
        inputs (h, h).

    Returns
    -------
    torch.Tensor
        (..., l − 1), int64, entries 1 and −1.

    Raises
    ------
    ValueError
        if the shapes do not fit, or X or a weight, W_l included, is singular to rounding: no minimum has such a factor.

    Examples
    --------
    >>> I = torch.eye(3, dtype=torch.float64)
    >>> components([torch.stack([I, -I]), torch.stack([-I, I]), torch.stack([I, I])], -I)
    tensor([[-1, -1],
            [ 1,  1]])
    """
    _check_shapes(weights, X=X)
    _check_regular(X=X, **_named(weights))
    first, *others = (_sign(W) for W in weights[:-1])
    return torch.stack([first * _sign(X), *others], dim=-1).long()


def component(weights: list[torch.Tensor], X: torch.Tensor) -> tuple[int, ...]:
    """The component of the minimum that one network lies in: :func:`components` without a batch.

    Parameters
    ----------
    weights : list of torch.Tensor
        W_1, …, W_l, each (h, h).
    X : torch.Tensor
        inputs (h, h).

    Returns
    -------
    tuple of int
        l − 1 signs, 1 or −1.

    Raises
    ------
    ValueError
        if the weights are a batch, the shapes do not fit, or X or a weight is singular to rounding.

    Examples
    --------
    >>> I = torch.eye(3, dtype=torch.float64)
    >>> component([I, -I, I, I], I)
    (1, -1, 1)
    """
    _check_shapes(weights, X=X)
    if weights[0].ndim != 2:
        raise ValueError(f"W_1 has shape {tuple(weights[0].shape)}; allowed: one network, (h, h)")
    return tuple(components(weights, X).tolist())


def rotation_logarithm(R: torch.Tensor) -> torch.Tensor:
    """A real skew K with exp K = R and all angles in [0, π], from the real Schur form R = Z T Zᵀ.

    T has blocks 1, −1 and [[cos ω, −sin ω], [sin ω, cos ω]]. As det R = 1, the −1 come in pairs; each is a rotation
    by π. K = Z J Zᵀ with J = [[0, −ω], [ω, 0]] in place of each rotation.

    Parameters
    ----------
    R : torch.Tensor
        rotations (..., h, h).

    Returns
    -------
    torch.Tensor
        (..., h, h).

    Raises
    ------
    ValueError
        if R is not square float64, not orthogonal to 1e-10, or a reflection.

    Examples
    --------
    >>> K = rotation_logarithm(-torch.eye(2, dtype=torch.float64))
    >>> K.abs()
    tensor([[0.0000, 3.1416],
            [3.1416, 0.0000]], dtype=torch.float64)
    """
    if R.ndim < 2 or R.shape[-1] != R.shape[-2] or R.shape[-1] < 1 or R.dtype != torch.float64:
        raise ValueError(f"R has shape {tuple(R.shape)} and {R.dtype}; allowed: (..., h, h) and torch.float64")
    h = R.shape[-1]
    error = (R.mT @ R - torch.eye(h).to(R)).abs().amax(dim=(-2, -1))
    if not (error <= 1e-10).all():
        raise ValueError(f"RᵀR − I has an entry {error.max().item():.1e}; allowed: orthogonal matrices, to 1e-10")
    if (_sign(R) < 0).any():
        raise ValueError("R has determinant -1; allowed: rotations, which have determinant 1")
    return torch.stack([_logarithm(one) for one in R.detach().reshape(-1, h, h)]).reshape(R.shape)


def path_in_minimum(
    a: list[torch.Tensor], b: list[torch.Tensor], X: torch.Tensor, Y: torch.Tensor, steps: int
) -> list[torch.Tensor]:
    """A path from a to b on which the loss is 0 up to rounding, if both lie in one component (Prop. 4.1).

    Each g_i of :func:`to_group` has a polar decomposition g = Q S, Q orthogonal and S symmetric positive definite. With
    K the logarithm of the rotation Q_aᵀ Q_b, g(t) = Q_a exp(t K) [(1 − t) S_a + t S_b] stays invertible, as positive
    definite matrices are convex; W_l(t) follows by :func:`from_group`.

    Parameters
    ----------
    a, b : list of torch.Tensor
        two minima, W_1, …, W_l, each (..., h, h), of the same shapes.
    X, Y : torch.Tensor
        inputs and targets (h, h).
    steps : int
        points of the path at equal distances of t, both ends included; at least 2.

    Returns
    -------
    list of torch.Tensor
        l tensors (..., steps, h, h); the ends are a and b up to rounding.

    Raises
    ------
    ValueError
        if steps < 2, the shapes do not fit, X or Y is singular to rounding, a or b has a loss above 1e-16 ``‖Y‖²``, or
        the two lie in different components.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> path = path_in_minimum([I, 2 * I], [-I, -2 * I], I, 2 * I, steps=5)
    >>> path[0].shape, bool(loss(path, I, 2 * I).max() < 1e-28)
    (torch.Size([5, 2, 2]), True)
    """
    if steps < 2:
        raise ValueError(f"steps = {steps}; allowed: steps >= 2")
    _check_pair(a, b)
    _check_minimum("a", a, X, Y)
    _check_minimum("b", b, X, Y)
    here, there = components(a, X), components(b, X)  # (..., l − 1)
    differ = (here != there).any(dim=-1)
    if differ.any():
        raise ValueError(
            f"a lies in component {tuple(here[differ][0].tolist())}, b in {tuple(there[differ][0].tolist())}; "
            "allowed: two minima of one component"
        )
    t = torch.linspace(0, 1, steps, dtype=X.dtype, device=X.device)[:, None, None]
    return from_group([_join(*pair, t) for pair in zip(to_group(a, X), to_group(b, X), strict=True)], X, Y)


def obstruction(Y: torch.Tensor) -> float:
    """σ_min(Y)²: every path between different components of the minimum reaches this loss, and one no more than it.

    On the way a determinant changes its sign. Where it is 0, W_l … W_1 X has rank < h, and by Eckart & Young no such
    matrix is closer to Y than σ_min(Y). For the path see :func:`path_over_obstruction`.

    Parameters
    ----------
    Y : torch.Tensor
        targets (h, h), invertible.

    Returns
    -------
    float
        the loss.

    Raises
    ------
    ValueError
        if Y is not a square float64 matrix or singular to rounding.

    Examples
    --------
    >>> obstruction(torch.diag(torch.tensor([3.0, -0.5], dtype=torch.float64)))
    0.25
    """
    if Y.ndim != 2:
        raise ValueError(f"Y has shape {tuple(Y.shape)}; allowed: (h, h)")
    _check_shapes([Y], "Y", least=1)
    _check_regular(Y=Y)
    return torch.linalg.svdvals(Y)[-1].item() ** 2


def path_over_obstruction(
    weights: list[torch.Tensor], X: torch.Tensor, Y: torch.Tensor, layer: int, steps: int
) -> list[torch.Tensor]:
    """A path to the component where det W_k and det W_{k+1} have changed signs, k = ``layer``; max L = σ_min(Y)².

    Let Y v = σ_min u and r = C v, s = C⁻ᵀ v with C = W_k … W_1 X. As sᵀr = 1, the matrix D(τ) = I − (1 − τ) r sᵀ
    multiplies the direction r by τ, det D(τ) = τ, and W_l … W_{k+1} D(τ) C = Y − (1 − τ) σ_min u vᵀ. With the weights
    W_k(τ) = D(τ) W_k and W_{k+1}(φ) = W_{k+1} D(φ) the path has three thirds:

    1. τ goes from 1 to 0, the loss (1 − τ)² σ_min² rises;
    2. φ goes from 1 to −1, which the product does not see, because D(φ) D(0) = D(0);
    3. τ goes from 0 to −1, the loss (1 + τ)² σ_min² falls to 0, because D(−1) D(τ) = D(−τ).

    Of the signs that :func:`component` gives, those at k and k + 1 change for k < l − 1, and only the last for
    k = l − 1. These changes compose to every one, so σ_min(Y)² is the barrier between any two components.

    Parameters
    ----------
    weights : list of torch.Tensor
        a minimum, W_1, …, W_l, each (..., h, h).
    X, Y : torch.Tensor
        inputs and targets (h, h).
    layer : int
        k, 1 <= k <= l − 1.
    steps : int
        points of the path, both ends included; at least 3, so that one lies in the second third.

    Returns
    -------
    list of torch.Tensor
        l tensors (..., steps, h, h), all but W_k and W_{k+1} constant. The last point is a minimum up to the rounding
        of the product, some 1e-16 ``‖W_l‖ … ‖W_1‖ ‖X‖`` for its own weights, which grow with the condition of C.

    Raises
    ------
    ValueError
        if steps < 3, there is no such layer, the shapes do not fit, X or Y is singular to rounding, or the weights have
        a loss above 1e-16 ``‖Y‖²``.

    Examples
    --------
    >>> I = torch.eye(3, dtype=torch.float64)
    >>> path = path_over_obstruction([I, I, 2 * I], I, 2 * I, layer=2, steps=7)
    >>> component([W[0] for W in path], I), component([W[-1] for W in path], I)
    ((1, 1), (1, -1))
    >>> round(loss(path, I, 2 * I).max().item(), 12), round(obstruction(2 * I), 12)
    (4.0, 4.0)
    """
    if steps < 3:
        raise ValueError(f"steps = {steps}; allowed: steps >= 3")
    _check_minimum("the network", weights, X, Y)
    if not 1 <= layer < len(weights):
        raise ValueError(f"layer = {layer}; allowed: 1 <= layer <= {len(weights) - 1}")
    v = torch.linalg.svd(Y).Vh[-1]  # (h,)
    C = _product(weights[:layer], X)  # (..., h, h)
    s = torch.linalg.solve(C.mT, v[:, None].expand(*C.shape[:-1], 1))  # (..., h, 1)
    r = (C @ v)[..., None]
    projection = (r @ s.mT / (s.mT @ r))[..., None, :, :]  # r sᵀ, (..., 1, h, h); sᵀr = 1 up to rounding

    t = torch.linspace(0, 1, steps, dtype=X.dtype, device=X.device)[:, None, None]
    tau = (1 - 3 * t).clamp(0, 1) - (3 * t - 2).clamp(0, 1)
    phi = 1 - 2 * (3 * t - 1).clamp(0, 1)
    eye = torch.eye(len(X)).to(X)
    path = [W[..., None, :, :].expand(*W.shape[:-2], steps, -1, -1) for W in weights]
    path[layer - 1] = (eye - (1 - tau) * projection) @ path[layer - 1]
    path[layer] = path[layer] @ (eye - (1 - phi) * projection)
    return path


def permute_layers(weights: list[torch.Tensor], perms: list[torch.Tensor]) -> list[torch.Tensor]:
    """(P_1 W_1, P_2 W_2 P_1⁻¹, …, W_l P_{l−1}⁻¹), the same function with its hidden neurons in another order.

    The paper prints (W_1 P_1, P_1⁻¹ W_2 P_2, …) in Prop. 5.2, which has another product W_l … W_1.

    Parameters
    ----------
    weights : list of torch.Tensor
        W_1, …, W_l, each (..., h, h).
    perms : list of torch.Tensor
        l − 1 permutations (h,), int64; row j of P_i W is row ``perms[i - 1][j]`` of W.

    Returns
    -------
    list of torch.Tensor
        l tensors (..., h, h).

    Raises
    ------
    ValueError
        if the shapes do not fit, their number is not l − 1, or one is no permutation.

    Examples
    --------
    >>> W = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    >>> first, second = permute_layers([W, W], [torch.tensor([1, 0])])
    >>> bool(torch.equal(second @ first, W @ W)), first[0].tolist()
    (True, [3.0, 4.0])
    """
    _check_shapes(weights)
    h = weights[0].shape[-1]
    if len(perms) != len(weights) - 1:
        raise ValueError(f"{len(perms)} permutations for {len(weights)} layers; allowed: {len(weights) - 1}")
    for i, perm in enumerate(perms, start=1):
        if perm.ndim != 1 or sorted(perm.tolist()) != list(range(h)):
            raise ValueError(f"permutation {i} is {perm.tolist()}; allowed: each of 0, ..., {h - 1} once")
    rows = [W[..., perm, :] for W, perm in zip(weights[:-1], perms, strict=True)]
    return [rows[0], *(W[..., perm] for W, perm in zip([*rows[1:], weights[-1]], perms, strict=True))]


def joining_permutations(a: list[torch.Tensor], b: list[torch.Tensor], X: torch.Tensor) -> list[torch.Tensor]:
    """Permutations that bring a into the component of b; Prop. 5.2, which needs h >= 2.

    From sgn(P_i) sgn(P_{i−1}) sgn det g_i(a) = sgn det g_i(b), sgn P_i is the product of the first i sign changes. An
    even P_i is the identity here, an odd one exchanges neurons 0 and 1.

    Parameters
    ----------
    a, b : list of torch.Tensor
        two networks, W_1, …, W_l, each (h, h).
    X : torch.Tensor
        inputs (h, h).

    Returns
    -------
    list of torch.Tensor
        l − 1 permutations (h,), int64, for :func:`permute_layers`.

    Raises
    ------
    ValueError
        if the shapes do not fit, X or a weight is singular to rounding, or h = 1 and the components differ.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> flip = torch.diag(torch.tensor([1.0, -1.0], dtype=torch.float64))
    >>> perms = joining_permutations([I, I, I], [flip, I, flip], I)
    >>> [perm.tolist() for perm in perms], component(permute_layers([I, I, I], perms), I)
    ([[1, 0], [1, 0]], (-1, 1))
    """
    _check_pair(a, b)
    here, there = component(a, X), component(b, X)
    h = len(X)
    if h == 1 and here != there:
        raise ValueError(f"h = 1 and the components {here} and {there} differ; allowed: h >= 2 or equal components")
    even = torch.arange(h, device=X.device)
    odd = torch.cat([even[:2].flip(0), even[2:]])
    return [even if sign > 0 else odd for sign in accumulate(map(mul, here, there), mul)]


def residual_component(W1: torch.Tensor, W2: torch.Tensor, eps: float) -> int:
    """Sign of det(W_2 W_1 + ε I), for the residual network W_3 (W_2 W_1 X + ε X) of equation (2).

    At the minimum W_3 = Y X⁻¹ (W_2 W_1 + ε I)⁻¹, so that the minimum is homeomorphic to the pairs (W_1, W_2) with
    det(W_2 W_1 + ε I) ≠ 0. For ε ≠ 0 and n >= 2 it has two components, one for each sign: the pairs with det W_1 ≠ 0
    have four, those of (W_1, W_2 W_1 + ε I) in GL_n × GL_n, and W_1 may pass a singular matrix at either sign of the
    second determinant. For n = 1 it may do so only at sgn ε; the other sign has two components, told apart by the sign
    of W_1, and the minimum three (Prop. 4.3). For ε = 0 there are four.

    Parameters
    ----------
    W1, W2 : torch.Tensor
        (n, n), float64.
    eps : float
        ε, the factor of the skip connection.

    Returns
    -------
    int
        1 or −1.

    Raises
    ------
    ValueError
        if the shapes do not fit, ε is not finite, or W_2 W_1 + ε I is singular to rounding, which no minimum is.

    Examples
    --------
    >>> W = torch.diag(torch.tensor([0.0, 2.0], dtype=torch.float64))
    >>> residual_component(W, W, eps=1.0), residual_component(W, -W, eps=1.0)
    (1, -1)
    """
    _check_shapes([W1, W2])
    if W1.ndim != 2:
        raise ValueError(f"W_1 has shape {tuple(W1.shape)}; allowed: one network, (n, n)")
    _check_finite(**_named([W1, W2]))
    if not math.isfinite(eps):
        raise ValueError(f"eps = {eps}; allowed: a finite number")
    M = W2 @ W1 + eps * torch.eye(len(W1)).to(W1)
    size = _norm(W2) * _norm(W1) + abs(eps)  # rounding errors of M are in units of it
    least = torch.linalg.svdvals(M)[-1]
    if not least > _rounding(M) * size:
        raise ValueError(
            f"W_2 W_1 + eps I has the singular value {least.item():.1e}; allowed: > {_rounding(M) * size.item():.1e}"
        )
    return int(_sign(M))


def _product(weights: list[torch.Tensor], X: torch.Tensor) -> torch.Tensor:
    """W_k … W_1 X."""
    product = X
    for W in weights:
        product = W @ product
    return product


def _divide(B: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
    """B A⁻¹; both are expanded, or torch would take a (h, h) matrix B for vectors where A is (h, h, h)."""
    A, B = torch.broadcast_tensors(A, B)
    return torch.linalg.solve(A, B, left=False)


def _polar(g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """g = Q S, Q orthogonal, S symmetric positive definite."""
    U, sigma, Vh = torch.linalg.svd(g)
    S = Vh.mT @ (sigma[..., None] * Vh)
    return U @ Vh, (S + S.mT) / 2


def _join(g: torch.Tensor, goal: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    """A path (..., steps, h, h) in GL_h from g to ``goal``, t is (steps, 1, 1)."""
    (Qa, Sa), (Qb, Sb) = ([part[..., None, :, :] for part in _polar(end)] for end in (g, goal))
    return Qa @ torch.linalg.matrix_exp(t * rotation_logarithm(Qa.mT @ Qb)) @ ((1 - t) * Sa + t * Sb)


def _logarithm(R: torch.Tensor) -> torch.Tensor:
    """The logarithm of one rotation (h, h)."""
    T, Z = (torch.from_numpy(part).to(R) for part in scipy.linalg.schur(R.cpu().numpy(), output="real"))
    below = T.diagonal(-1) != 0
    angles = [(i, i + 1, _angle(T[i : i + 2, i : i + 2])) for i in torch.nonzero(below).flatten().tolist()]
    in_block = {i for first, second, _ in angles for i in (first, second)}
    half_turns = [i for i in range(len(T)) if i not in in_block and T[i, i] < 0]
    angles += [(i, j, math.pi) for i, j in zip(half_turns[::2], half_turns[1::2], strict=True)]
    J = torch.zeros_like(T)
    for i, j, angle in angles:
        J[j, i], J[i, j] = angle, -angle
    return Z @ J @ Z.mT


def _angle(block: torch.Tensor) -> float:
    """ω of [[cos ω, −sin ω], [sin ω, cos ω]]."""
    return math.atan2((block[1, 0] - block[0, 1]).item(), (block[0, 0] + block[1, 1]).item())


def _sign(A: torch.Tensor) -> torch.Tensor:
    return torch.linalg.slogdet(A).sign


def _norm(A: torch.Tensor) -> torch.Tensor:
    return torch.linalg.matrix_norm(A, ord=2)


def _rounding(A: torch.Tensor) -> float:
    """16 h ε, the relative size below which a singular value may be rounding."""
    return 16 * A.shape[-1] * torch.finfo(A.dtype).eps


def _named(matrices: list[torch.Tensor], name: str = "W") -> dict[str, torch.Tensor]:
    return {f"{name}_{i}": A for i, A in enumerate(matrices, start=1)}


def _check_shapes(matrices: list[torch.Tensor], name: str = "W", least: int = 2, **data: torch.Tensor) -> None:
    """At least ``least`` float64 matrices (..., h, h) of one shape, data (h, h)."""
    if len(matrices) < least:
        raise ValueError(f"{len(matrices)} matrices {name}_i; allowed: at least {least}")
    shape = matrices[0].shape
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] < 1:
        raise ValueError(f"{name}_1 has shape {tuple(shape)}; allowed: (..., h, h) with h >= 1")
    expected = {key: shape for key in _named(matrices, name)} | {key: shape[-2:] for key in data}
    for key, A in (_named(matrices, name) | data).items():
        if A.shape != expected[key]:
            raise ValueError(f"{key} has shape {tuple(A.shape)}; allowed: {tuple(expected[key])}")
        if A.dtype != torch.float64:
            raise ValueError(f"{key} has dtype {A.dtype}; allowed: torch.float64")


def _check_pair(a: list[torch.Tensor], b: list[torch.Tensor]) -> None:
    """Two networks of one depth and one shape."""
    if len(a) != len(b) or (a and a[0].shape != b[0].shape):
        shapes = [f"{len(net)} matrices {tuple(net[0].shape) if net else ()}" for net in (a, b)]
        raise ValueError(f"a has {shapes[0]}, b has {shapes[1]}; allowed: the same")


def _check_finite(**matrices: torch.Tensor) -> None:
    for name, A in matrices.items():
        if not torch.isfinite(A).all():
            raise ValueError(f"{name} holds {A[~torch.isfinite(A)][0].item()}; allowed: finite values")


def _check_regular(**matrices: torch.Tensor) -> None:
    """Every matrix has σ_min > 16 h ε σ_max."""
    _check_finite(**matrices)
    for name, A in matrices.items():
        sigma = torch.linalg.svdvals(A)  # (..., h)
        singular = ~(sigma[..., -1] > _rounding(A) * sigma[..., 0])
        if singular.any():
            low, high = sigma[singular][0, [-1, 0]].tolist()
            raise ValueError(
                f"{name} is singular to rounding, σ_min = {low:.1e} and σ_max = {high:.1e}; "
                f"allowed: σ_min > {_rounding(A):.1e} σ_max"
            )


def _check_minimum(name: str, weights: list[torch.Tensor], X: torch.Tensor, Y: torch.Tensor) -> None:
    _check_shapes(weights, X=X, Y=Y)
    _check_regular(X=X, Y=Y)
    _check_finite(**_named(weights))
    relative = loss(weights, X, Y) / Y.square().sum()
    if not (relative <= AT_MINIMUM).all():
        raise ValueError(
            f"{name} has loss {relative.max().item():.1e} ‖Y‖²; allowed: a minimum, loss <= {AT_MINIMUM:.0e} ‖Y‖²"
        )
