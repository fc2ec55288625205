"""The minimum of the residual network W_3 (W_2 W_1 + ε I) X, for the chapter *skip connection*.

Eq. (2) and Prop. 4.3 of Zhao, Dehmamy, Walters & Yu. X and Y (n, n) are invertible, so at the minimum M = W_2 W_1 + ε I
is invertible and W_3 = Y X⁻¹ M⁻¹: the minimum is the graph of a function over U = {(W_1, W_2): det M ≠ 0}. Where
det W_1 ≠ 0, U has four components, by the signs of det M and det W_1. W_1 may pass a singular matrix inside U

- for ε ≠ 0 and n >= 2 at either sign of det M: two components;
- for ε ≠ 0 and n = 1 only at M = ε, the sign of ε: three components;
- for ε = 0 never: four components.

Weights are (..., n, n), those of the branch (..., h, n) and (..., n, h) where it is said.
"""

from __future__ import annotations

import html
import itertools
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from lmc_helpers.general_linear import determinant_sign, path_in_group, require_invertible, times_inverse
from lmc_helpers.linear_nets.minimum import Weights
from lmc_helpers.linear_nets.walks import Misfit, product_derivative

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d.axes3d import Axes3D


VIEW = [20.0, 30.0]  # azimuth and elevation of a turntable at first, in degrees
LIGHT = np.array([0.5, 0.2, 0.84])  # direction of the light in a static picture


@dataclass(frozen=True)
class Picture:
    """One picture of a turntable."""

    title: str
    patches: list[tuple[np.ndarray, str]]  # points (rows, columns, 3), and the colour


def draw(axes: Axes3D, picture: Picture, labels: tuple[str, str, str], radius: float) -> None:
    """One picture on Matplotlib's axes, in the cube [−r, r]³; both sides of a surface look alike."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    quads, colours = map(np.concatenate, zip(*(_shaded(*patch) for patch in picture.patches), strict=True))
    axes.add_collection3d(Poly3DCollection(quads, facecolors=colours, edgecolors=colours, linewidths=0.3))
    axes.set(xlim=(-radius, radius), ylim=(-radius, radius), zlim=(-radius, radius), xlabel=labels[0], ylabel=labels[1])
    axes.zaxis.set_rotate_label(False)
    axes.set_zlabel(labels[2], rotation=90)
    axes.set_title(picture.title, y=0.98)
    axes.view_init(elev=30, azim=20)
    axes.set_box_aspect((1, 1, 1), zoom=0.88)


def _shaded(points: np.ndarray, colour: str) -> tuple[np.ndarray, np.ndarray]:
    """Quadrilaterals (faces, 4, 3) of a patch and their colours (faces, 3): lighter where they face the light."""
    corners = [points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]]
    quads = np.stack(corners, axis=2).reshape(-1, 4, 3)
    normal = np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
    length = np.linalg.norm(normal, axis=1).clip(1e-12)
    bright = 0.55 + 0.45 * abs(normal @ LIGHT) / length
    return quads, bright[:, None] * np.array(_rgb(colour)) / 255


def _rgb(colour: str) -> list[int]:
    """Red, green and blue of #rrggbb, 0 to 255."""
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def turntable(pictures: list[Picture], axes: tuple[str, str, str], radius: float, alt: str) -> str:
    """HTML with the pictures side by side, rotated together by dragging or by the arrow keys.

    A canvas and a small script, without a library or a network; the farthest quadrilaterals are drawn first.
    """
    scenes = []
    for picture in pictures:
        patches = []
        for points, colour in picture.patches:
            patches.append({"n": points.shape[1], "c": _rgb(colour), "p": (points / radius).round(3).ravel().tolist()})
        scenes.append({"title": picture.title, "patches": patches})
    data = json.dumps({"scenes": scenes, "axes": list(axes), "view": VIEW}, separators=(",", ":"))
    return TEMPLATE.replace("{{DATA}}", data.replace("</", "<\\/")).replace("{{ALT}}", html.escape(alt, quote=True))


TEMPLATE = """<div style="max-width:700px;margin:1em 0">
<canvas tabindex="0" role="img" aria-label="{{ALT}}"
  style="width:100%;background:#fff;cursor:grab;touch-action:pan-y"></canvas>
<script>
(function () {
  const canvas = document.currentScript.previousElementSibling, data = {{DATA}};
  const many = data.scenes.length, pen = canvas.getContext("2d");
  let [azimuth, elevation] = data.view.map(a => a * Math.PI / 180), last = null, waiting = false;
  const scenes = data.scenes.map(scene => scene.patches.flatMap(patch => {
    const at = i => patch.p.slice(3 * i, 3 * i + 3), rows = patch.p.length / 3 / patch.n, quads = [];
    for (let i = 0; i + 1 < rows; i++) for (let j = 0; j + 1 < patch.n; j++) {
      const k = i * patch.n + j;
      quads.push({ v: [at(k), at(k + 1), at(k + patch.n + 1), at(k + patch.n)], c: patch.c });
    }
    return quads;
  }));
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map(k => [k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1]);
  const edges = corners.flatMap((a, i) => [1, 2, 4].filter(b => !(i & b)).map(b => [i, i | b]));
  function turned(p) {
    const ca = Math.cos(azimuth), sa = Math.sin(azimuth), ce = Math.cos(elevation), se = Math.sin(elevation);
    const x = -sa * p[0] + ca * p[1], front = ca * p[0] + sa * p[1];
    return [x, ce * p[2] - se * front, ce * front + se * p[2]];
  }
  function draw() {
    waiting = false;
    const width = canvas.clientWidth || 700, stacked = width < 200 * many, ratio = window.devicePixelRatio || 1;
    const side = stacked ? width : width / many, height = stacked ? many * side : side;
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.lineJoin = "round"; pen.textAlign = "center"; pen.textBaseline = "middle";
    scenes.forEach((quads, s) => {
      const corner = stacked ? [0, s * side] : [s * side, 0], scale = side * 0.27;
      const middle = [corner[0] + side * 0.5, corner[1] + side * 0.53];
      const flat = t => [middle[0] + scale * t[0], middle[1] - scale * t[1]];
      const path = points => { pen.beginPath(); points.forEach((q, i) => i ? pen.lineTo(...q) : pen.moveTo(...q)); };
      const box = corners.map(turned);
      const hidden = box.map(t => t[2]).indexOf(Math.min(...box.map(t => t[2])));
      const frame = front => edges.filter(e => e.includes(hidden) != front).forEach(e => {
        path(e.map(i => flat(box[i]))); pen.strokeStyle = front ? "#bbb" : "#999"; pen.lineWidth = 0.8; pen.stroke();
      });
      frame(false);
      quads.map(quad => {
        const t = quad.v.map(turned), across = (i, j) => [0, 1, 2].map(k => t[i][k] - t[j][k]);
        const a = across(2, 0), b = across(3, 1);
        const n = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
        const light = 0.6 + 0.4 * Math.abs(n[2] + 0.5 * n[1]) / (1.118 * Math.hypot(...n) || 1);
        return { t, depth: t[0][2] + t[1][2] + t[2][2] + t[3][2], light, c: quad.c };
      }).sort((p, q) => p.depth - q.depth).forEach(quad => {
        path(quad.t.map(flat)); pen.closePath();
        pen.fillStyle = "rgb(" + quad.c.map(x => Math.round(x * quad.light)).join(",") + ")";
        pen.fill(); pen.strokeStyle = pen.fillStyle; pen.lineWidth = 0.6; pen.stroke();
      });
      frame(true);
      pen.fillStyle = "#222"; pen.font = Math.round(side * 0.045) + "px sans-serif";
      [[0, 1.25, -1.05], [1.25, 0, -1.05], [1.18, -1.18, 0]].forEach((point, k) => {
        pen.fillText(data.axes[k], ...flat(turned(point)));
      });
      pen.fillText(data.scenes[s].title, middle[0], corner[1] + side * 0.05);
    });
  }
  function ask() { if (!waiting) { waiting = true; requestAnimationFrame(draw); } }
  function turn(dx, dy) {
    azimuth -= dx; elevation = Math.max(-1.5, Math.min(1.5, elevation + dy)); ask();
  }
  canvas.addEventListener("pointerdown", e => {
    last = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointermove", e => {
    if (last) { turn((e.clientX - last[0]) / 120, (e.clientY - last[1]) / 120); last = [e.clientX, e.clientY]; }
  });
  ["pointerup", "pointercancel"].forEach(name => canvas.addEventListener(name, () => { last = null; }));
  canvas.addEventListener("keydown", e => {
    const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[e.key];
    if (step) { turn(...step); e.preventDefault(); }
  });
  window.addEventListener("resize", ask);
  draw();
})();
</script>
</div>"""


def surface_cubes(values: np.ndarray) -> np.ndarray:
    """Cubes of a grid that meet F = 0, for F of degree one in each variable."""
    return _meets(values, tuple(range(values.ndim)))


def surface_classes(values: np.ndarray) -> tuple[int, np.ndarray]:
    """Number and labels of the classes of cubes that are joined through faces that meet F = 0; −1 elsewhere.

    F, of degree one in each variable like a product of weights, is extremal on a cube or face at vertices: it meets
    F = 0 exactly if F does not have one strict sign there, without a tolerance. The classes are the components if the
    surface is connected inside each cube, which depends on F.
    """
    met = surface_cubes(values)
    index = np.full(met.shape, -1)
    index[met] = np.arange(met.sum())
    pairs = []
    for axis in range(values.ndim):
        others = tuple(k for k in range(values.ndim) if k != axis)
        inner = np.delete(values, [0, -1], axis=axis)  # faces between two cubes lie in the inner planes
        joined = _meets(inner, others)
        lower, upper = np.delete(index, -1, axis=axis), np.delete(index, 0, axis=axis)
        pairs.append(np.stack([lower[joined], upper[joined]]))
    ends = np.concatenate(pairs, axis=1)
    graph = coo_array((np.ones(ends.shape[1], dtype=bool), tuple(ends)), shape=(met.sum(), met.sum()))
    number, labels = connected_components(graph, directed=False)
    index[met] = labels
    return int(number), index


def _meets(values: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """True where F vanishes somewhere on the cells that extend along the given axes."""
    cells = tuple(size - (k in axes) for k, size in enumerate(values.shape))
    below, above = np.zeros(cells, dtype=bool), np.zeros(cells, dtype=bool)
    for corner in itertools.product((slice(None, -1), slice(1, None)), repeat=len(axes)):
        index = [slice(None)] * values.ndim
        for axis, part in zip(axes, corner, strict=True):
            index[axis] = part
        below |= values[tuple(index)] <= 0
        above |= values[tuple(index)] >= 0
    return below & above


def minimum_sheets(eps: float, radius: float) -> list[np.ndarray]:
    """The components of W_3 (W_2 W_1 + ε) = 1 in the cube [−r, r]³, one patch of points for each.

    The graph of W_3 = 1/(W_2 W_1 + ε) has four sheets for ε = 0 and three for ε ≠ 0 (Fig. 1, n = 1). In the cube it
    lies over ``|W_2 W_1 + ε|`` >= 1/r, which cuts no sheet in two if r is large enough.
    """
    if eps < 0:  # (W_1, W_3) → (−W_1, −W_3) turns round the sign of ε
        return [patch * [-1, 1, -1] for patch in minimum_sheets(-eps, radius)]
    if eps == 0:
        return [_beyond(1 / radius, signs, eps, radius) for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    beyond = [_beyond(eps + 1 / radius, signs, eps, radius) for signs in ((1, -1), (-1, 1))]
    return [_between(eps, radius), *beyond]


def _graph(W1: np.ndarray, W2: np.ndarray, eps: float) -> np.ndarray:
    W1, W2 = np.broadcast_arrays(W1, W2)
    return np.stack([W1, W2, 1 / (W2 * W1 + eps)], axis=-1)


def _beyond(product: float, signs: tuple[int, int], eps: float, radius: float) -> np.ndarray:
    """The sheet over the quadrant of the given signs with ``|W_1 W_2|`` >= product."""
    W1 = np.geomspace(product / radius, radius, 22)[:, None]
    share = np.linspace(0, 1, 16)[None, :]
    W2 = (product / W1) ** (1 - share) * radius**share
    return _graph(signs[0] * W1, signs[1] * W2, eps)


def _between(eps: float, radius: float) -> np.ndarray:
    """The sheet over W_1 W_2 >= 1/r − ε, ε > 0, in polar coordinates: to the square's edge or to the hyperbola."""
    kink = np.arctan((eps - 1 / radius) / radius**2)  # where the hyperbola leaves the square
    kinks = [np.pi / 2 + kink, np.pi - kink, 3 * np.pi / 2 + kink, 2 * np.pi - kink]
    angle = np.union1d(np.linspace(0, 2 * np.pi, 97), kinks)[:, None]
    c, s = np.cos(angle), np.sin(angle)
    to_square = radius / np.maximum(abs(c), abs(s))
    to_curve = np.sqrt((eps - 1 / radius) / np.maximum(-c * s, 1e-12))
    rho = np.minimum(to_square, to_curve) * np.linspace(0, 1, 22)[None, :]
    return _graph(rho * c, rho * s, eps)


FirstTwo = tuple[torch.Tensor, torch.Tensor]  # W_1 and W_2, or W_1 and M


def residual_map(W1: torch.Tensor, W2: torch.Tensor, eps: float) -> torch.Tensor:
    """M = W_2 W_1 + ε I."""
    return W2 @ W1 + eps * torch.eye(W1.shape[-1]).to(W1)


def residual_loss(weights: Weights, X: torch.Tensor, Y: torch.Tensor, eps: float) -> torch.Tensor:
    """``‖Y − W_3 (W_2 W_1 + ε I) X‖²``, the square of the Frobenius norm in equation (2)."""
    W1, W2, W3 = weights
    return (Y - W3 @ residual_map(W1, W2, eps) @ X).square().sum(dim=(-2, -1))


def residual_misfit(X: torch.Tensor, Y: torch.Tensor, eps: float, h: int) -> Misfit:
    """(W_3 (W_2 W_1 + ε I) X − Y)/``‖Y‖`` of networks whose weights are in one row each, and its derivative.

    W_1 is (h, n) and W_2 (n, h).
    """
    n, size = len(X), Y.norm()

    def layers(points: torch.Tensor) -> Weights:
        parts = zip(points.split([h * n, n * h, n * n], dim=1), ((h, n), (n, h), (n, n)), strict=True)
        return [part.unflatten(1, shape) for part, shape in parts]

    def misfit(points: torch.Tensor) -> torch.Tensor:
        W1, W2, W3 = layers(points)
        return (W3 @ residual_map(W1, W2, eps) @ X - Y).flatten(1) / size

    def derivative(points: torch.Tensor) -> torch.Tensor:
        W1, W2, W3 = layers(points)
        eye = torch.eye(n).to(X).expand_as(W3)
        sides = (W3 @ W2, X.expand_as(W3)), (W3, W1 @ X), (eye, residual_map(W1, W2, eps) @ X)
        return torch.cat([product_derivative(*pair) for pair in sides], dim=2) / size

    return misfit, derivative


def two_blocks_misfit(X: torch.Tensor, Y: torch.Tensor, eps: tuple[float, float], widths: tuple[int, int]) -> Misfit:
    """(W_5 M_2 M_1 X − Y)/``‖Y‖`` with M_b = W_2b W_(2b−1) + ε_b I, and its derivative; the weights in one row each."""
    n, size = len(X), Y.norm()
    shapes = [shape for h in widths for shape in ((h, n), (n, h))] + [(n, n)]

    def layers(points: torch.Tensor) -> Weights:
        parts = points.split([a * b for a, b in shapes], dim=1)
        W = [part.unflatten(1, shape) for part, shape in zip(parts, shapes, strict=True)]
        return [*W, residual_map(W[0], W[1], eps[0]), residual_map(W[2], W[3], eps[1])]

    def misfit(points: torch.Tensor) -> torch.Tensor:
        *_, last, M1, M2 = layers(points)
        return (last @ M2 @ M1 @ X - Y).flatten(1) / size

    def derivative(points: torch.Tensor) -> torch.Tensor:
        W1, W2, W3, W4, W5, M1, M2 = layers(points)
        one, after = torch.eye(n).to(X).expand_as(W5), W5 @ M2  # the factors after M_1
        before = M1 @ X  # and before M_2
        pairs = (after @ W2, X.expand_as(W5)), (after, W1 @ X), (W5 @ W4, before), (W5, W3 @ before), (one, M2 @ before)
        return torch.cat([product_derivative(*pair) for pair in pairs], dim=2) / size

    return misfit, derivative


def residual_minimum(W1: torch.Tensor, W2: torch.Tensor, X: torch.Tensor, Y: torch.Tensor, eps: float) -> Weights:
    """The minimum over (W_1, W_2): W_3 = Y X⁻¹ (W_2 W_1 + ε I)⁻¹."""
    require_invertible({"X": X, "Y": Y})
    M = residual_map(W1, W2, eps)
    return [W1, W2, times_inverse(times_inverse(Y, X), M)]


def residual_components(W1: torch.Tensor, W2: torch.Tensor, eps: float) -> torch.Tensor:
    """The component of the minimum over (W_1, W_2): the sign of det M, and that of det W_1 where it cannot change."""
    M = residual_map(W1, W2, eps)
    of_middle = determinant_sign(M).long()
    counts = torch.full_like(of_middle, eps == 0, dtype=torch.bool)
    if W1.shape[-1] == 1 and eps != 0:
        counts = of_middle != math.copysign(1, eps)
    if counts.any():
        require_invertible({"W_1": W1[counts]})
    return torch.stack([of_middle, torch.where(counts, determinant_sign(W1).long(), 0)], dim=-1)


def residual_path(a: Weights, b: Weights, X: torch.Tensor, Y: torch.Tensor, eps: float, steps: int) -> Weights:
    """A path from a to b on which the loss is 0 up to rounding, if both lie in one component.

    It is that of the proof: in GL_n × GL_n to a corner, and there through a singular W_1 where the other end has
    another sign of det W_1.
    """
    component_a, component_b = (residual_components(weights[0], weights[1], eps) for weights in (a, b))
    if (component_a != component_b).any():
        raise ValueError("a and b lie in different components; no path joins them")
    (lift_a, down_a, sign_a), (lift_b, down_b, sign_b) = (_to_corner(w[0], w[1], eps, steps) for w in (a, b))
    t = torch.linspace(0, 1, steps, dtype=X.dtype, device=X.device)
    first = torch.lerp(sign_a[..., None], sign_b[..., None], t)  # (..., steps)
    cross = _crossing(first, component_a[..., 0], len(X), eps)
    parts = [lift_a, down_a, cross, _reverse(down_b), _reverse(lift_b)]
    W1, W2 = (
        torch.cat([W if i == 0 else W[..., 1:, :, :] for i, W in enumerate(layer)], dim=-3)
        for layer in zip(*parts, strict=True)
    )
    return residual_minimum(W1, W2, X, Y, eps)


def _to_corner(W1: torch.Tensor, W2: torch.Tensor, eps: float, steps: int) -> tuple[FirstTwo, FirstTwo, torch.Tensor]:
    """Parts 1 and 2 of the path, W_1 and W_2 each (..., steps, n, n), and the sign of det W_1 at the corner."""
    M = residual_map(W1, W2, eps)
    P, _, Qh = torch.linalg.svd(W1)
    size = torch.linalg.matrix_norm(W2, ord=2)
    margin = torch.linalg.svdvals(M)[..., -1] / (2 * size)
    height = torch.where(size > 0, margin, torch.ones_like(size)).clamp(max=1)  # (...)
    t = torch.linspace(0, 1, steps, dtype=W1.dtype, device=W1.device)[:, None, None]
    lift = W1[..., None, :, :] + t * (height[..., None, None] * (P @ Qh))[..., None, :, :]
    W2_lift = W2[..., None, :, :].expand(lift.shape)

    start = lift[..., -1, :, :]
    M = residual_map(start, W2, eps)
    sign = determinant_sign(start)
    corner_W1, corner_M = _corner(sign, determinant_sign(M), W1.shape[-1], eps)
    down_W1, down_M = path_in_group(start, corner_W1, steps), path_in_group(M, corner_M, steps)
    eye = torch.eye(W1.shape[-1]).to(W1)
    return (lift, W2_lift), (down_W1, times_inverse(down_M - eps * eye, down_W1)), sign


def _corner(of_W1: torch.Tensor, of_M: torch.Tensor, n: int, eps: float) -> FirstTwo:
    """diag(±1, 1, …, 1) and e diag(1, …, 1, ±1) with determinants of the given signs (...)."""
    scale = eps if eps else 1.0
    W1, M = torch.ones(2, *of_W1.shape, n).to(of_W1)
    W1[..., 0] = of_W1
    M[..., -1] = of_M * math.copysign(1, scale) ** n
    return torch.diag_embed(W1), torch.diag_embed(scale * M)


def _crossing(first: torch.Tensor, of_M: torch.Tensor, n: int, eps: float) -> FirstTwo:
    """Part 3: W_1 = diag(first, 1, …, 1) and W_2, (..., steps, n, n); ``first`` (..., steps) changes sign or stays."""
    W1, M = (
        D.diagonal(dim1=-2, dim2=-1) for D in _corner(first, of_M[..., None].expand(first.shape).to(first), n, eps)
    )
    W2 = torch.where(M == eps, torch.zeros_like(M), (M - eps) / W1)  # 0/0 = 0, where W_1 passes 0
    return torch.diag_embed(W1), torch.diag_embed(W2)


def _reverse(part: FirstTwo) -> FirstTwo:
    return part[0].flip(-3), part[1].flip(-3)
