"""Labels: formulas as HTML with three tags, text escaped, and what Matplotlib draws from the same notation."""

import re

import matplotlib

matplotlib.use("Agg")

import pytest
from matplotlib.mathtext import MathTextParser

from lmc_helpers.figures.labels import GREEK, SIGNS, typeset


@pytest.mark.parametrize(
    ("label", "html"),
    [
        ("loss", "loss"),
        ("a < b & <script>", "a &lt; b &amp; &lt;script&gt;"),
        ("$x$ and $y$", "<i>x</i> and <i>y</i>"),
        ("$m = 2M$", "<i>m</i> = 2<i>M</i>"),
        ("$W_{i1}$", "<i>W</i><sub><i>i</i>1</sub>"),
        (r"$\sigma_{\mathrm{min}}(Y)^2$", "<i>σ</i><sub>min</sub>(<i>Y</i>)<sup>2</sup>"),
        (r"$\delta/\delta_0$", "<i>δ</i>/<i>δ</i><sub>0</sub>"),
        (r"$e^{-a_1}$", "<i>e</i><sup>−<i>a</i><sub>1</sub></sup>"),
        (r"$\det W$, $T(m, M)$", "det <i>W</i>, <i>T</i>(<i>m</i>, <i>M</i>)"),
        ("$a<b$", "<i>a</i> &lt; <i>b</i>"),
        ("", ""),
    ],
)
def test_formulas_become_html(label, html):
    assert typeset(label) == html
    assert set(re.findall(r"<(/?\w+)", typeset(label))) <= {"i", "/i", "sub", "/sub", "sup", "/sup"}


def test_matplotlib_knows_the_same_names():
    for name in [*GREEK, *(name for name in SIGNS if name.islower())]:
        MathTextParser("path").parse(rf"$\{name}$")  # raises where it does not
        assert len(re.sub(r"<.*?>", "", typeset(rf"$\{name}$")).strip()) in (1, len(name)), name


@pytest.mark.parametrize("label", ["$x", r"$\frac12$", "$x_{1$", "$x}$"])
def test_what_cannot_be_set_is_an_error(label):
    with pytest.raises(ValueError, match="allowed"):
        typeset(label)
