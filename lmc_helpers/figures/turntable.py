"""Surfaces in space, to look at and to turn.

Surfaces are made of quadrilaterals in a cube with labelled axes. :func:`draw` puts one picture on Matplotlib's axes,
for a figure that needs no script. :func:`turntable` makes one HTML canvas with its own small script, no library and no
network: it draws the farthest quadrilaterals first, and dragging with a pointer or the arrow keys turns all pictures of
one turntable together.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d.axes3d import Axes3D

__all__ = ["Picture", "draw", "turntable"]

LIGHT = np.array([0.5, 0.2, 0.84])  # where the light of a static picture comes from


@dataclass(frozen=True)
class Picture:
    """One picture of a turntable: a title, and patches with a colour each.

    A patch is an array (rows, columns, 3) of points on a surface; neighbouring points span its quadrilaterals. Colours
    are written #rrggbb.
    """

    title: str
    patches: list[tuple[np.ndarray, str]]


def draw(axes: Axes3D, picture: Picture, labels: tuple[str, str, str], reach: float) -> None:
    """One picture on Matplotlib's axes, in the cube [−reach, reach]³; both sides of a surface look alike.

    Parameters
    ----------
    axes : mpl_toolkits.mplot3d.axes3d.Axes3D
        of a subplot with ``projection="3d"``.
    picture : Picture
        title and patches.
    labels : tuple of str
        names of the three axes.
    reach : float
        half of the cube's edge.

    Examples
    --------
    >>> from lmc_helpers import figures
    >>> x, y = np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 1.0])
    >>> figure, axes = figures.panels(subplot_kw={"projection": "3d"})
    >>> draw(axes, Picture("plane", [(np.stack([x, y, x], axis=-1), "#0072B2")]), ("x", "y", "z"), 1)
    >>> axes.get_title()
    'plane'
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    quads, colours = map(np.concatenate, zip(*(_shaded(*patch) for patch in picture.patches), strict=True))
    axes.add_collection3d(Poly3DCollection(quads, facecolors=colours, edgecolors=colours, linewidths=0.3))
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), zlim=(-reach, reach), xlabel=labels[0], ylabel=labels[1])
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
    if len(colour) != 7 or colour[0] != "#":
        raise ValueError(f"colour {colour!r}; allowed: '#rrggbb'")
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def turntable(
    pictures: list[Picture],
    axes: tuple[str, str, str],
    reach: float,
    alt: str,
    view: tuple[float, float] = (20.0, 30.0),
) -> str:
    """HTML with the pictures side by side.

    Parameters
    ----------
    pictures : list of Picture
        at least one.
    axes : tuple of str
        names of the three axes.
    reach : float
        the cube is [−reach, reach]³; all points lie in it.
    alt : str
        the description for readers who do not see the pictures.
    view : tuple of float
        azimuth and elevation in degrees at the start.

    Returns
    -------
    str
        HTML that stands alone, some 10 bytes a coordinate.

    Examples
    --------
    >>> x, y = np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 1.0])
    >>> plane = Picture("plane", [(np.stack([x, y, x], axis=-1), "#0072B2")])
    >>> text = turntable([plane], ("x", "y", "z"), 1, "A plane.")
    >>> text.count("<canvas"), "http" in text
    (1, False)
    """
    if not pictures:
        raise ValueError("no picture; allowed: at least one")
    scenes = []
    for picture in pictures:
        patches = []
        for points, colour in picture.patches:
            if points.ndim != 3 or min(points.shape[:2]) < 2 or points.shape[2] != 3:
                raise ValueError(f"a patch has shape {points.shape}; allowed: (rows >= 2, columns >= 2, 3)")
            if not (np.abs(points) <= reach * (1 + 1e-9)).all():
                raise ValueError(
                    f"a point has the coordinate {points.flat[np.abs(points).argmax()]}; allowed: ±{reach}"
                )
            patches.append({"n": points.shape[1], "c": _rgb(colour), "p": (points / reach).round(3).ravel().tolist()})
        scenes.append({"title": picture.title, "patches": patches})
    data = json.dumps({"scenes": scenes, "axes": list(axes), "view": list(view)}, separators=(",", ":"))
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
      [[0, 1.25, -1.05], [1.25, 0, -1.05], [1.18, -1.18, 0]].forEach((place, k) => {
        pen.fillText(data.axes[k], ...flat(turned(place)));
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
