"""The orbit of a layer of any module: rescalings of units and GL_h (Zhao, Dehmamy, Walters & Yu, sections 5 and 6).

Units that pass from W_1 to W_2 directly, or through a positively homogeneous function such as a ReLU, can be put in
other coordinates,

    g·(W_1, b_1, W_2) = (g W_1, g b_1, W_2 g⁻¹),

with the same function: for every invertible g without an activation, for positive diagonal g with a ReLU. Whether a
network's layer is one of these is checked by running it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Real, Shaped
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from lmc_helpers._typing import Number, Positive, checked, require_finite
from lmc_helpers.modules._data import in_double
from lmc_helpers.modules._layers import Layer
from lmc_helpers.modules._module import called, filled, tensors_of
from lmc_helpers.networks.permutations import Symmetry, change
from lmc_helpers.orbits import curves
from lmc_helpers.orbits.group_actions import EPS, checked_inverse

__all__ = ["OrbitCurve", "orbit_curve", "rescale"]

PROBES = (1.0, -1.0, 10.0)  # inputs are multiplied by these when a function is checked
ROUNDING = 1e4 * EPS  # of outputs, relative to the largest and to the condition of g

Values = dict[str, Tensor]


class _Orbit(Layer):
    """The parameters around the units of a layer, in float64."""

    def __init__(self, model: nn.Module, layer: str, x: Any, symmetry: Symmetry | None):
        self.given, self.layer = model, layer
        self.model, self.x = in_double(model, x)
        super().__init__(self.model, layer, self.x, symmetry)
        values = dict(self.model.named_parameters())
        makers = [place for place in self.made if place.name in values]
        self.made = [place for place in makers if place.name.rpartition(".")[0] == layer] or makers
        self.values = {place.name: values[place.name].detach() for place in [*self.made, *self.read]}

    def matrix(self, g: Tensor, name: str) -> Tensor:
        """g as a matrix (m, m), in float64 on the module's device."""
        if g.shape not in {(self.units,), (self.units, self.units)}:
            shapes = f"({self.units},) or ({self.units}, {self.units})"
            raise ValueError(f"{name} has shape {tuple(g.shape)}; allowed: {shapes}, for the units of {self.layer!r}")
        require_finite(**{name: g})
        g = g.to(next(iter(self.values.values())))
        return torch.diag(g) if g.ndim == 1 else g

    def times(self, A: Tensor, B: Tensor) -> Values:
        """A W_1, A b_1 and W_2 B."""
        values = {name: value.clone() for name, value in self.values.items()}
        for place, matrix in [*((p, A.mT) for p in self.made), *((p, B) for p in self.read)]:
            units = self.view(values[place.name], place)
            units.copy_((units.movedim(place.axis + 1, -1) @ matrix).movedim(-1, place.axis + 1))
        return values

    def flat(self, values: Values) -> Tensor:
        """W_1, b_1 and W_2 as one vector."""
        return torch.cat([self.view(values[place.name], place).flatten() for place in [*self.made, *self.read]])

    def checked_module(self, g: Tensor, inverse: Tensor) -> nn.Module:
        """The module with g·(W_1, b_1, W_2); raises ValueError if its function changes."""
        values = self.times(g, inverse)
        bound = ROUNDING * float(g.norm() * inverse.norm())
        with torch.no_grad():
            for scale in PROBES:
                x = tree_map(lambda one, scale=scale: scale * one if _floating(one) else one, self.x)
                ends = called(self.model, x), called(self.model, x, values)
                found = change(*(list(tensors_of(end)) for end in ends))
                if not found <= bound:
                    raise ValueError(
                        f"the outputs change by {found:.1e} of the largest with other coordinates for the units of "
                        f"{self.layer!r}; allowed: positive factors where units pass a ReLU, matrices where they pass "
                        "nothing"
                    )
        return filled(self.given, values)


def _floating(one: Any) -> bool:
    return isinstance(one, Tensor) and one.is_floating_point()


@checked
def rescale(
    model: nn.Module,
    layer: str,
    factors: Real[Tensor, " h"] | Real[Tensor, "h h"],
    x: Any,
    symmetry: Symmetry | None = None,
) -> nn.Module:
    """The same function in other coordinates of a layer's units: g W_1, g b_1 and W_2 g⁻¹.

    Parameters
    ----------
    model
        a network; it stays as it is.
    layer
        name of the module whose weights and biases make the units: of a norm, if the units pass one.
    factors
        positive factors g of the units (h,), or where units pass no activation an invertible matrix (h, h).
    x
        inputs, or a tuple of arguments, on which the function must be unchanged up to rounding, in float64.
    symmetry
        groups of units, where they cannot be found by a trace.

    Returns
    -------
    torch.nn.Module
        a copy in evaluation mode.

    Examples
    --------
    >>> net, x = nn.Sequential(nn.Linear(4, 2), nn.ReLU(), nn.Linear(2, 3)), torch.ones(5, 4)
    >>> other = rescale(net, "0", torch.tensor([2.0, 0.25]), x)
    >>> (other[0].bias / net[0].bias).tolist(), bool(torch.allclose(other(x), net(x), atol=1e-6))
    ([2.0, 0.25], True)
    """
    at = _Orbit(model, layer, x, symmetry)
    if factors.ndim == 1 and not (factors > 0).all():
        raise ValueError(f"factors hold {factors.min().item():g}; allowed: positive factors")
    g = at.matrix(factors, "factors")
    return at.checked_module(g, checked_inverse(g))


@dataclass(frozen=True)
class OrbitCurve:
    """The curve γ(t) = exp(tM)·w of a layer from the module at t = 0, along which the function stays the same."""

    t: Tensor  # (T,)
    modules: list[nn.Module]  # γ(t)
    length: float  # for t from 0 to 1
    distance: float  # ‖γ(1) − γ(0)‖
    curvatures: Tensor  # (T,)


@checked
def orbit_curve(
    model: nn.Module,
    layer: str,
    M: Real[Tensor, " h"] | Real[Tensor, "h h"],
    x: Any,
    t: Shaped[Tensor, " T"] | None = None,
    nodes: Positive = 40,
    symmetry: Symmetry | None = None,
) -> OrbitCurve:
    """The curve γ(t) = exp(tM)·w in the minimum of a layer, eq. (5) of Zhao et al., with its length and curvature.

        γ(t) = (exp(tM) W_1, exp(tM) b_1, W_2 exp(−tM)).

    Parameters
    ----------
    model, layer, x, symmetry
        as for :func:`rescale`.
    M
        logarithms of factors of the units (h,), or where units pass no activation a matrix (h, h).
    t
        where the curve is wanted; by default 0, 0.1, …, 1.
    nodes
        of the quadrature of the length ∫ ``‖γ'‖`` dt from 0 to 1.

    Examples
    --------
    >>> net, x = nn.Sequential(nn.Linear(4, 2), nn.ReLU(), nn.Linear(2, 3)), torch.ones(5, 4)
    >>> curve = orbit_curve(net, "0", torch.tensor([1.0, -1.0]), x)
    >>> bool(torch.allclose(curve.modules[-1](x), net(x), atol=1e-6)), curve.distance < curve.length
    (True, True)
    """
    at = _Orbit(model, layer, x, symmetry)
    M = at.matrix(M, "M")
    t = torch.linspace(0, 1, 11, dtype=torch.float64) if t is None else t.double()
    require_finite(t=t)

    def exp(s: float) -> tuple[Tensor, Tensor]:
        return torch.linalg.matrix_exp(s * M), torch.linalg.matrix_exp(-s * M)

    def derivatives(s: Number) -> tuple[Tensor, Tensor]:
        g, inverse = exp(s)
        return at.flat(at.times(M @ g, -inverse @ M)), at.flat(at.times(M @ M @ g, inverse @ M @ M))

    modules = [at.checked_module(*exp(s)) for s in t.tolist()]
    x_nodes, weights = np.polynomial.legendre.leggauss(nodes)
    speeds = [derivatives(s)[0].norm().item() for s in (x_nodes + 1) / 2]
    ends = [at.flat(at.times(*exp(s))) for s in (0.0, 1.0)]
    curvatures = torch.stack([curves.curvature(*derivatives(s)) for s in t.tolist()])
    return OrbitCurve(t, modules, float(weights @ speeds / 2), (ends[1] - ends[0]).norm().item(), curvatures)
