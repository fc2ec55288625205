"""Minima of losses with many thousand parameters: Newton steps by conjugate gradients in a trust region (Steihaug).

At φ with gradient g and Hessian H a step minimises the model g·s + s·Hs/2 over ‖s‖_M <= Δ, until the residual g + Hs
has fallen enough, the border is reached, or a direction of negative curvature leads there. Only products Hv are needed;
each costs as much as two gradients. The metric M, an approximation of H, decides how many.

Of a network f with n inputs most parameters are weights of the first layer, V (H, n). Let the second moments of the
inputs be diagonal, S = Diag(λ_c), λ_1 >= λ_2 >= … (an orthogonal change of the inputs' coordinates). With ⟨…⟩ the mean
over inputs, the Gauss–Newton matrix of ⟨‖f − y‖²⟩/w has blocks

    2 ⟨Jᵀ J⟩/w of V[:, :k] and all other parameters, J the derivative of f,
    2 ⟨J_bᵀ J_b⟩ λ_c/w of V[:, c], c >= k, where J_b is that by the first layer's biases,

the second one as if x_c² and J_b were uncorrelated, and the coupling of the two left out: :class:`Metric`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from lmc_helpers import expect
from lmc_helpers.permutation_points.products import Local, Product

__all__ = ["Metric", "truncated_newton"]

FORCING = 0.1  # the residual falls at least by this factor
ACCEPT = 1e-4  # least ratio of the actual to the predicted decrease of a step that is taken
INVISIBLE = 1e-10  # predicted decreases below this fraction of the loss are not seen in differences of the loss
FAILURES = 30  # steps in a row that were not taken, before it is given up
REFRESH = 150  # products after which the metric is renewed
SHIFT = 1e-3  # of the metric's diagonal, for curvature that Gauss and Newton leave out: relative to itself,
FLOOR = 1e-3  # and this fraction of it to its mean


@dataclass(frozen=True)
class Metric:
    """The Gauss–Newton matrix of a network, exact in some parameters, a Kronecker product in the others.

    Parameters
    ----------
    tail : torch.Tensor
        places (H, n − k) of V[:, k:] among the p parameters.
    lead : torch.Tensor
        places of all others.
    lead_factor, tail_factor : torch.Tensor
        lower Cholesky factors of the exact block and of 2 ⟨J_bᵀ J_b⟩/w (H, H).
    moments : torch.Tensor
        λ_c of the tail, (n − k,).
    """

    tail: torch.Tensor
    lead: torch.Tensor
    lead_factor: torch.Tensor
    tail_factor: torch.Tensor
    moments: torch.Tensor

    @classmethod
    def of(
        cls,
        by_bias: torch.Tensor,
        by_rest: torch.Tensor,
        x: torch.Tensor,
        moments: torch.Tensor,
        leading: int,
        scale: float,
    ) -> Metric:
        """The metric of derivatives at some of the inputs; parameters in the order V (H, n), b (H,), the rest.

        Parameters
        ----------
        by_bias, by_rest : torch.Tensor
            derivatives (T, n_d, H) and (T, n_d, q) of the outputs by b and by the parameters of all later layers.
        x : torch.Tensor
            inputs (T, n).
        moments : torch.Tensor
            λ_c (n,), positive.
        leading : int
            k, 0 <= k <= n.
        scale : float
            w, so that the loss is ⟨‖f − y‖²⟩/w.

        Returns
        -------
        Metric
            positive definite.

        Examples
        --------
        For a linear map f(x) = V x + b with diagonal second moments it is the Hessian, up to the shift of its diagonal:

        >>> x = torch.tensor([[2.0, 1.0], [-2.0, 1.0], [2.0, -1.0], [-2.0, -1.0]], dtype=torch.float64)
        >>> by_bias, nothing = torch.eye(2, dtype=torch.float64).expand(4, 2, 2), torch.empty(4, 2, 0)
        >>> metric = Metric.of(by_bias, nothing, x, x.square().mean(0), leading=1, scale=2.0)
        >>> metric.solve(torch.tensor([4.0, 1.0, 4.0, 1.0, 1.0, 1.0], dtype=torch.float64)).round(decimals=2)
        tensor([1., 1., 1., 1., 1., 1.], dtype=torch.float64)
        """
        expect.tensor(by_bias, "by_bias", finite=False)
        expect.tensor(by_rest, "by_rest", finite=False)
        expect.tensor(x, "x", "T n", finite=False)
        expect.tensor(moments, "moments")
        expect.integer(leading, "leading")
        expect.number(scale, "scale")
        T, n = x.shape
        if by_bias.shape[:2] != by_rest.shape[:2] or len(by_bias) != T or moments.shape != (n,):
            shapes = [tuple(one.shape) for one in (by_bias, by_rest, x, moments)]
            raise ValueError(f"shapes {shapes}; allowed: (T, n_d, H), (T, n_d, q), (T, n), (n,)")
        if by_bias.ndim != 3 or by_rest.ndim != 3 or not by_bias.numel():
            raise ValueError(
                f"by_bias has shape {tuple(by_bias.shape)}, by_rest {tuple(by_rest.shape)}; allowed: (T, n_d, H) and "
                "(T, n_d, q), no axis but q empty"
            )
        expect.same({"by_bias": by_bias, "x": x, "moments": moments}, shape=False)
        if not 0 <= leading <= n or not scale > 0 or not (moments > 0).all():
            raise ValueError(
                f"leading = {leading}, scale = {scale}, least moment {moments.min().item()}; allowed: "
                f"0 <= leading <= {n}, both positive"
            )
        H = by_bias.shape[-1]
        places = torch.arange(H * n).view(H, n)
        of_rest = torch.arange(H * n, H * (n + 1) + by_rest.shape[-1])  # b and the later layers
        by_weights = (by_bias[..., None] * x[:, None, None, :leading]).flatten(2)  # (T, n_d, H k)
        blocks = []
        for J in (torch.cat([by_weights, by_bias, by_rest.to(x)], dim=-1), by_bias):
            J = J.flatten(0, 1)
            block = 2 * J.T @ J / (T * scale)
            block.diagonal().add_(SHIFT * (block.diagonal() + FLOOR * block.diagonal().mean()))
            blocks.append(torch.linalg.cholesky(block))
        return cls(
            places[:, leading:],
            torch.cat([places[:, :leading].flatten(), of_rest]),
            blocks[0],
            blocks[1],
            moments[leading:],
        )

    def solve(self, v: torch.Tensor) -> torch.Tensor:
        """M⁻¹ v of v (p,)."""
        expect.tensor(v, "v", "p", finite=False)
        expect.same({"v": v, "lead_factor": self.lead_factor}, shape=False)
        if len(v) != len(self.lead) + self.tail.numel():
            raise ValueError(f"v has shape {tuple(v.shape)}; allowed: ({len(self.lead) + self.tail.numel()},)")
        found = torch.empty_like(v)
        found[self.lead] = torch.cholesky_solve(v[self.lead, None], self.lead_factor)[:, 0]
        found[self.tail] = torch.cholesky_solve(v[self.tail], self.tail_factor) / self.moments
        return found


@dataclass
class _Step:
    """A step s, the residual g + Hs, and ‖s‖_M², by recurrences."""

    s: torch.Tensor
    residual: torch.Tensor
    square: float
    products: int


def _steihaug(g: torch.Tensor, product: Product, solve: Product, radius: float, forcing: float, products: int) -> _Step:
    """Conjugate gradients for min g·s + s·Hs/2 over ‖s‖_M <= radius."""
    at = _Step(torch.zeros_like(g), g, 0.0, 0)
    y = solve(g)
    ry = first = float(g @ y)
    d, sd, dd = -y, 0.0, ry  # direction, s·Md, d·Md
    while at.products < products and ry > forcing**2 * first:
        Hd = product(d)
        at.products += 1
        curvature = float(d @ Hd)
        length = ry / curvature if curvature > 0 else float("inf")
        outside = curvature <= 0 or at.square + 2 * length * sd + length**2 * dd >= radius**2
        if outside:  # to the border: ‖s + length · d‖_M = radius
            length = (-sd + (sd**2 + dd * (radius**2 - at.square)) ** 0.5) / dd
        at.s, at.residual = at.s + length * d, at.residual + length * Hd
        at.square += 2 * length * sd + length**2 * dd
        if outside:
            break
        y = solve(at.residual)
        ry, before = float(at.residual @ y), ry
        d, sd, dd = -y + ry / before * d, ry / before * (sd + length * dd), ry + (ry / before) ** 2 * dd
    return at


def truncated_newton(
    local: Callable[[torch.Tensor], Local],
    phi: torch.Tensor,
    products: int,
    tol: float,
    metric: Callable[[torch.Tensor], Product] | None = None,
) -> tuple[torch.Tensor, float, int]:
    """A minimum by truncated Newton steps, until ‖∇L‖ <= tol.

    Parameters
    ----------
    local : callable
        φ (p,) to the loss near it, a :class:`~lmc_helpers.permutation_points.products.Local`.
    phi : torch.Tensor
        start (p,), float64.
    products : int
        budget of products with Hessians, products >= 0; the last step may stay unfinished.
    tol : float
        norm of the gradient, tol >= 0.
    metric : callable, optional
        φ (p,) to a function v (p,) → M⁻¹ v, M symmetric and positive definite; the identity if it is not given. It is
        asked again after some products.

    Returns
    -------
    torch.Tensor, float, int
        parameters (p,), the norm of the gradient there, and the number of products that were used.

    Examples
    --------
    The quadratic form of 1, 10 and 100:

    >>> form = torch.tensor([1.0, 10.0, 100.0], dtype=torch.float64)
    >>> near = lambda t: Local(form @ t.square() / 2, form * t, lambda v: form * v)
    >>> end, norm, used = truncated_newton(near, torch.ones(3, dtype=torch.float64), products=50, tol=1e-9)
    >>> bool(end.abs().max() < 1e-9), norm <= 1e-9, used < 50
    (True, True, True)
    """
    if phi.ndim != 1 or phi.dtype != torch.float64:
        raise ValueError(f"phi has shape {tuple(phi.shape)} and dtype {phi.dtype}; allowed: (p,), torch.float64")
    if products < 0 or not tol >= 0:
        raise ValueError(f"products = {products}, tol = {tol}; allowed: products >= 0 and tol >= 0")
    at, used, renewed, failures = local(phi), 0, 0, 0
    if not torch.isfinite(at.value):
        raise ValueError(f"the loss at the start is {at.value.item()}; allowed: a finite one")
    first = norm = float(at.gradient.norm())
    radius = max(2 * float(at.value) ** 0.5, 1e-6)  # ‖s‖_M² is twice a decrease of the loss
    solve: Product | None = None
    while norm > tol and used < products and failures < FAILURES:
        if solve is None or (metric and used >= renewed + REFRESH):
            solve, renewed = metric(phi) if metric else torch.clone, used
        forcing = min(FORCING, (norm / first) ** 0.5)
        step = _steihaug(at.gradient, at.product, solve, radius, forcing, products - used)
        used += step.products
        there = local(phi + step.s)
        predicted = float(-step.s @ (at.gradient + step.residual) / 2)
        if predicted < INVISIBLE * float(at.value):  # the decrease by the slopes at both ends
            decrease = float(-step.s @ (at.gradient + there.gradient) / 2)
        else:
            decrease = float(at.value - there.value)
        ratio = decrease / predicted if predicted > 0 else -1.0
        if not ratio > 0.25:
            radius = step.square**0.5 / 4
        elif ratio > 0.75 and step.square >= 0.9 * radius**2:
            radius *= 2
        failures = 0 if ratio > ACCEPT else failures + 1
        if not failures:
            phi, at = phi + step.s, there
            norm = float(at.gradient.norm())
    return phi, norm, used
