"""Chapter *skip connection*: what of turntables stands in the HTML, and what a browser draws from it."""

import itertools
import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from oracles.linear import EPS, at, leibniz, normal, residual_by_hand
from oracles.linear import data as data_of_residual
from scipy.integrate import solve_ivp

from lmc_helpers import figures
from lmc_helpers._chapters import skip_connection as chapter

AXES = ("x", "y", "z")


def plane(height, rows=3, columns=4):
    x, y = np.meshgrid(np.linspace(-1, 1, columns), np.linspace(-1, 1, rows))
    return np.stack([x, y, np.full_like(x, height)], axis=-1)


def data(text):
    return json.loads(re.search(r"data = (\{.*?\});\n", text).group(1))


def test_the_html_holds_the_points_and_nothing_from_outside():
    patches = [(2 * plane(0.25), "#0072B2"), (2 * plane(-1.0, 2, 2), "#D55E00")]
    pictures = [chapter.Picture("a", patches), chapter.Picture("b </script>", patches[:1])]
    text = chapter.turntable(pictures, AXES, 2.0, 'alt "of" {{DATA}} & <b>')
    assert not re.search(r"https?:|src=|href=|import|fetch|\{\{ALT", text)
    assert text.count("<canvas") == text.count("</canvas>") == text.count("<script>") == text.count("</script>") == 1
    assert 'aria-label="alt &quot;of&quot; {{DATA}} &amp; &lt;b&gt;"' in text
    found = data(text)
    assert [scene["title"] for scene in found["scenes"]] == ["a", "b </script>"] and found["axes"] == list(AXES)
    first, second = found["scenes"][0]["patches"]
    assert first["n"] == 4 and first["c"] == [0, 0x72, 0xB2] and second["n"] == 2
    np.testing.assert_allclose(np.reshape(first["p"], (3, 4, 3)), plane(0.25), atol=5e-4)


def test_a_static_picture_has_every_quadrilateral_and_looks_alike_from_both_sides():
    figure, axes = figures.panels(2, subplot_kw={"projection": "3d"})
    patch = plane(0.25)
    for axis, points in zip(axes, (patch, patch[::-1]), strict=True):  # reversed rows turn round the normal
        chapter.draw(axis, chapter.Picture("title", [(points, "#0072B2"), (plane(-1.0, 2, 2), "#D55E00")]), AXES, 1.0)
    figure.canvas.draw()
    faces = []
    for axis in axes:
        assert axis.get_title() == "title" and axis.get_zlabel() == "z" and axis.get_xlim() == (-1, 1)
        colours = axis.collections[0].get_facecolor()
        assert len(colours) == 2 * 3 + 1  # of a patch of 3 × 4 points, and of one of 2 × 2
        faces.append(sorted(map(tuple, colours.round(9).tolist())))
    assert faces[0] == faces[1]
    flat = 0.55 + 0.45 * 0.84  # of the light falls on a horizontal face
    assert any(np.allclose(face[:3], flat * np.array([0, 0x72, 0xB2]) / 255, atol=1e-3) for face in faces[0])
    plt.close(figure)


def test_a_browser_draws_and_turns_it(tmp_path, watched):
    page = tmp_path / "page.html"
    patches = [(plane(-0.9), "#0000ff"), (plane(0.9), "#ff0000")]
    one = [chapter.Picture("t", patches)]
    page.write_text(f"<!doctype html><meta charset=utf-8>{chapter.turntable(one, AXES, 1, 'alt')}")
    middle = "c => [...c.getContext('2d').getImageData(c.width / 2, c.height * 0.53, 1, 1).data]"
    tab = watched.tab
    tab.set_viewport_size({"width": 600, "height": 700})
    tab.goto(page.as_uri())
    canvas = tab.locator("canvas")
    canvas.focus()

    def press(key, times):
        for _ in range(times):
            tab.keyboard.press(key)
        tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return canvas.evaluate(middle)

    red, _, blue, _ = press("ArrowDown", 20)  # from above
    assert red > 100 and blue < 20
    red, _, blue, _ = press("ArrowUp", 40)  # from below
    assert blue > 100 and red < 20
    assert press("ArrowDown", 15) == [0, 0, 0, 0]  # from the side, between the planes: nothing drawn
    before = canvas.evaluate("c => c.toDataURL()")
    box = canvas.bounding_box()
    tab.mouse.move(box["x"] + 50, box["y"] + 50)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 120, box["y"] + 60, steps=4)
    tab.mouse.up()
    press("Shift", 1)
    assert canvas.evaluate("c => c.toDataURL()") != before
    assert watched.trouble == [] and watched.requests == [page.as_uri()]

    both = [chapter.Picture("s", patches[:1]), chapter.Picture("t", patches[:1])]
    page.write_text(f"<!doctype html><meta charset=utf-8>{chapter.turntable(both, AXES, 1, 'alt')}")
    tab.goto(page.as_uri())
    shape = "c => c.clientHeight / c.clientWidth"
    assert canvas.evaluate(shape) == pytest.approx(1 / 2, rel=0.02)
    tab.set_viewport_size({"width": 390, "height": 700})  # on a phone one picture below the other
    tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert canvas.evaluate(shape) == pytest.approx(2, rel=0.02)
    lower = "c => [...c.getContext('2d').getImageData(0, c.height / 2, c.width, c.height / 2).data].some(v => v)"
    assert canvas.evaluate(lower)


def cells(values, axes):
    """The vertex values of every cell that extends along the given axes, by its lowest vertex."""
    shape = [n - (k in axes) for k, n in enumerate(values.shape)]
    for cell in np.ndindex(*shape):
        block = tuple(slice(i, i + 1 + (k in axes)) for k, i in enumerate(cell))
        yield cell, values[block].ravel()


def brute_force(values):
    every = range(values.ndim)
    hit = {cell for cell, v in cells(values, every) if min(v) <= 0 <= max(v)}
    parent = {cell: cell for cell in hit}

    def root(cell):
        while parent[cell] != cell:
            cell = parent[cell]
        return cell

    for axis in every:
        for cell, v in cells(values, [k for k in every if k != axis]):
            below = tuple(i - (k == axis) for k, i in enumerate(cell))
            if below in hit and cell in hit and min(v) <= 0 <= max(v):
                parent[root(below)] = root(cell)
    return hit, {cell: root(cell) for cell in hit}


@pytest.mark.parametrize("shape", [(2,), (9,), (2, 2), (5, 6), (2, 7), (2, 2, 2), (4, 5, 3), (3, 2, 2, 3)])
@pytest.mark.parametrize("seed", range(5))
def test_classes_by_brute_force(shape, seed):
    values = np.random.default_rng(seed).integers(-3, 6, shape).astype(float)
    hit, roots = brute_force(values)
    number, classes = chapter.surface_classes(values)
    assert {tuple(int(i) for i in cell) for cell in np.argwhere(chapter.surface_cubes(values))} == hit
    assert number == len(set(roots.values())) and classes.max(initial=-1) == number - 1
    assert (classes >= 0).sum() == len(hit)
    for one, other in itertools.combinations(hit, 2):
        assert (classes[one] == classes[other]) == (roots[one] == roots[other])


@pytest.mark.parametrize("per_unit", [1, 2, 4])
@pytest.mark.parametrize(("eps", "expected"), [(0.0, 4), (1.0, 3), (-1.0, 3), (0.5, 3)])
def test_the_minima_of_one_dimensional_networks(per_unit, eps, expected):
    x = np.arange(-4 * per_unit, 4 * per_unit + 1) / per_unit
    w1, w2, w3 = np.meshgrid(x, x, x, indexing="ij")
    for Y in (1.0, -1.0):
        assert chapter.surface_classes(w3 * (w2 * w1 + eps) - Y)[0] == expected


# Surfaces of the minimum: points on them, borders on the cube, components by a grid that knows nothing of them
CASES = [(0.0, 3.0), (0.0, 1.5), (1.0, 3.0), (-1.0, 3.0), (0.5, 4.0), (2.5, 2.0)]  # eps and reach


@pytest.mark.parametrize(("eps", "reach"), CASES)
def test_points_lie_on_the_surface_in_the_cube_and_borders_on_its_faces(eps, reach):
    for patch in chapter.minimum_sheets(eps, reach):
        W1, W2, W3 = np.moveaxis(patch, -1, 0)
        np.testing.assert_allclose(W3 * (W2 * W1 + eps), 1, atol=1e-9)
        assert abs(patch).max() <= reach * (1 + 1e-9)
        closed = np.allclose(patch[0], patch[-1])  # polar coordinates: their first column is the centre, the ends meet
        for row in (patch[:, -1], *(() if closed else (patch[0], patch[-1]))):
            assert (abs(abs(row).max(axis=-1) - reach) < 1e-9).all()


@pytest.mark.parametrize(("eps", "reach"), [case for case in CASES if case[1] != 2.0])
def test_every_component_of_the_grid_holds_one_sheet(eps, reach):
    x = np.linspace(-reach, reach, 49)
    values = x * (x[None, :, None] * x[:, None, None] + eps) - 1  # F on the grid, axes W_1, W_2, W_3
    number, classes = chapter.surface_classes(values)
    sheets = chapter.minimum_sheets(eps, reach)
    assert number == len(sheets)
    found = []
    for patch in sheets:
        cube = np.clip(((patch + reach) / (2 * reach) * 48).astype(int), 0, 47).reshape(-1, 3)
        inner = (abs(patch).reshape(-1, 3) < reach * 0.9).all(axis=1)
        (label,) = set(classes[tuple(cube[inner].T)]) - {-1}
        found.append(label)
    assert sorted(found) == list(range(number))


def signs(W1, W2, eps):
    return np.sign(leibniz(W2.numpy() @ W1.numpy() + eps * np.eye(len(W1)))), np.sign(leibniz(W1.numpy()))


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("eps", EPS)
def test_the_loss_and_the_minimum(n, eps):
    X, Y = data_of_residual(n, seed=n)
    W1, W2, W3 = normal(3, 2, 3, n, n, seed=n)
    batch, best = chapter.residual_loss([W1, W2, W3], X, Y, eps), chapter.residual_minimum(W1, W2, X, Y, eps)
    assert batch.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert batch[index].item() == pytest.approx(residual_by_hand(at([W1, W2, W3], *index), X, Y, eps), rel=1e-11)
        assert residual_by_hand(at(best, *index), X, Y, eps) < 1e-18 * Y.square().sum()
        M = W2[index].numpy() @ W1[index].numpy() + eps * np.eye(n)
        np.testing.assert_allclose(chapter.residual_map(W1, W2, eps)[index], M, atol=1e-14)
        np.testing.assert_allclose(best[2][index].numpy() @ M @ X.numpy(), Y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("eps", EPS)
def test_the_component_is_one_sign_or_two(n, eps):
    some = normal(2, 20, n, n, seed=3)
    for W1, W2, found in zip(*some, chapter.residual_components(*some, eps).tolist(), strict=True):
        of_M, of_W1 = signs(W1, W2, eps)
        assert found == [of_M, of_W1 if eps == 0 else 0]


@pytest.mark.parametrize("eps", EPS[:2])
def test_from_a_small_branch_a_flow_ends_on_the_side_of_eps(eps):
    """Gradient flow by SciPy; the bounds of the theorem's proof at every step of it, and where it ends."""
    n, h = 3, 2
    X, Y = np.eye(n) + 0.2 * normal(2, n, n, seed=4).numpy()
    least, largest = np.linalg.svd(X)[1][[-1, 0]]
    c = eps**2 * least**2 / 4

    def parts(y):
        return y[: h * n].reshape(h, n), y[h * n : 2 * h * n].reshape(n, h), y[2 * h * n :].reshape(n, n)

    def residual(y):
        W1, W2, W3 = parts(y)
        M = W2 @ W1 + eps * np.eye(n)
        R = W3 @ M @ X - Y
        return M, R, W3.T @ R @ X.T

    def flow(t, y):
        (W1, W2, _), (M, R, N) = parts(y), residual(y)
        return np.concatenate([-(W2.T @ N).ravel(), -(N @ W1.T).ravel(), -(R @ X.T @ M.T).ravel()])

    for start in normal(6, 2 * h * n + n * n, seed=7).numpy():
        start[: 2 * h * n] *= 1e-3
        path = solve_ivp(flow, (0, 100), start, rtol=1e-10, atol=1e-12)
        M, R, N = zip(*map(residual, path.y.T), strict=True)
        size, speed = np.linalg.norm(R, axis=(1, 2)), np.linalg.norm(N, axis=(1, 2))
        s = np.square(path.y[: 2 * h * n]).sum(axis=0)
        assert s.max() < abs(eps) and size[-1] < 1e-6 * size[0]
        assert (size <= size[0] * np.exp(-c * path.t) + 1e-9).all()
        K = np.linalg.norm(start[2 * h * n :]) + 1.5 * abs(eps) * largest * size[0] / c
        assert (np.linalg.norm(path.y[2 * h * n :], axis=0) <= K).all()
        way = np.concatenate([[0], np.cumsum(np.diff(path.t) * (speed[1:] + speed[:-1]) / 2)])
        assert way[-1] <= K * largest * size[0] / c and (s <= s[0] * np.exp(2 * way) * 1.01).all()
        assert (np.sign(leibniz(np.array(M))) == np.sign(eps) ** n).all()
