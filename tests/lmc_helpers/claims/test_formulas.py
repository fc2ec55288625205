"""Closed forms as TeX keep their value; texts of the ledger and labels of figures as HTML, escaped."""

import re

import pytest
from matplotlib.mathtext import MathTextParser

from lmc_helpers.claims.formulas import LETTERS, NAMED, label, plain, tex, typeset
from lmc_helpers.claims.intervals import number

GREEK = {r"\pi": "pi", r"\gamma": "EulerGamma", r"\ln": "log", r"\Gamma": "gamma", r"\cdot": "*", r"\arctan": "atan"}


def back(text: str) -> str:
    """TeX as a closed form again, by rules of replacement that know nothing of syntax trees."""
    while r"\frac" in text or r"\sqrt" in text or "^{" in text or "_{" in text:
        before = text
        text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
        text = re.sub(r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)", text)
        text = re.sub(r"\be\^\{([^{}]*)\}", r"exp(\1)", text)
        text = re.sub(r"\^\{([^{}]*)\}", r"**(\1)", text)
        text = re.sub(r"([IJ])_\{(\d+)\}\(", lambda hit: f"bessel{hit[1].lower()}({hit[2]}, ", text)
        assert text != before, text
    for sign, name in GREEK.items():
        text = text.replace(sign, name)
    return re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", text.replace("\\", ""))


@pytest.mark.parametrize(
    "form",
    [
        *("1 - 1/(2*sqrt(pi))", "1 - exp(-2)*(besseli(0,2)+besseli(1,2))/2", "3/2 - 1/sqrt(2)", "2*(1 - 3)*4"),
        *("(1 + 2)**3", "2**(1/2) - (3 - (4 - 5))", "-(2 + 3)*5", "1/(sqrt(log(65536)/4)*2)"),
        *("besselj(0, 1/3)*2**-3", "sin(pi/5) + atan(2)", "1.5*2.5", "-2**2"),
    ],
)
def test_a_closed_form_keeps_its_value(form):
    assert number(back(tex(form))) == pytest.approx(number(form), rel=1e-14)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>&</b>", "&lt;b&gt;&amp;&lt;/b&gt;"),
        ("$a<b$ & $x_1$", r"\(a&lt;b\) &amp; \(x_1\)"),
        ("below 1e-6 and 2.5e−07", "below 10⁻⁶ and 2.5·10⁻⁷"),
        ("m^(−1/2) n_{k+1} W_(l−1)", "m<sup>−1/2</sup> n<sub>k+1</sub> W<sub>l−1</sub>"),
        ("2^(−(k+1)) e^−0.1", "2<sup>−(k+1)</sup> e<sup>−0.1</sup>"),
        ("γ_in² of F_:a and μΔ_π", "γ<sub>in</sub>² of F<sub>:a</sub> and μΔ<sub>π</sub>"),
        ("M_max, min_i ‖w_i‖²", "M<sub>max</sub>, min<sub>i</sub> ‖w<sub>i</sub>‖²"),
        ("as Z3.turns_once says", "as Z3.turns_once says"),
        ("binom(n − K, K)/2^K", r"\(\binom{n - K}{K}\)/2<sup>K</sup>"),
        ("of abs(μ min Δ_π/γ² − 1)", "of |μ min Δ<sub>π</sub>/γ² − 1|"),
    ],
)
def test_texts_of_the_ledger_are_typeset(text, shown):
    assert typeset(text) == shown


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"\|U\sigma(VX)\| \le m^{-2}", "‖Uσ(VX)‖ ≤ m⁻²"),
        (r"W_{\mathrm{eff}} = F + D \odot W", "W_eff = F + D ⊙ W"),
        (r"O(m^{-1/2}) \binom{n-K}{K} / 2!^K", "O(m^(−1/2)) (n−K over K) / 2!^K"),
        (r"\frac{1}{2}\sqrt{\pi}", "(1)/(2)√(π)"),
    ],
)
def test_formulas_in_one_line_of_unicode(formula, shown):
    assert plain(formula) == shown


def test_only_known_words_become_links():
    known = {"Z3.limit": ("s.html#score-Z3-limit", "Z3.limit"), "thm-a": ("#thm-a", "Theorem “<A>”")}
    shown = typeset("see Z3.limit, Z9.none, thm-a and $Z3.limit$.", known.get)
    link = '<a href="s.html#score-Z3-limit">Z3.limit</a>'
    assert shown == rf'see {link}, Z9.none, <a href="#thm-a">Theorem “&lt;A&gt;”</a> and \(Z3.limit\).'
    for name in [*LETTERS, *NAMED]:
        MathTextParser("path").parse(rf"$\{name}$")  # raises where it does not
        assert len(re.sub(r"<.*?>", "", label(rf"$\{name}$")).strip()) in (1, len(name)), name


@pytest.mark.parametrize(
    ("text", "html"),
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
def test_labels_become_html(text, html):
    assert label(text) == html
    assert set(re.findall(r"<(/?\w+)", label(text))) <= {"i", "/i", "sub", "/sub", "sup", "/sup"}


@pytest.mark.parametrize("text", ["$x", r"$\frac12$", "$x_{1$", "$x}$"])
def test_what_cannot_be_set_is_an_error(text):
    with pytest.raises(ValueError, match="allowed"):
        label(text)
