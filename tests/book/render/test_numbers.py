"""Numbers of records in prose: values, intervals, samples and expressions of them; nothing that no run measured."""

import pytest

from book.tools.read.chapters import BuildError
from book.tools.render.numbers import UNROUNDED, bound, filled, parts

RECORDS = {
    "Z3.limit": {"value": 0.73812, "low": None, "high": None, "n": 1},
    "I18.later": {"value": 0.28, "low": 0.2512, "high": 0.3088, "n": 40_000},
    "I18.first": {"value": 0.5, "low": 0.4, "high": 0.6, "n": 9},
    "P3.deep": {"value": None, "low": None, "high": None, "n": 0},
}
SHOWN = {
    "$[[Z3.limit:.2f]] M$, $[1, 2]$": "$0.74 M$, $[1, 2]$",
    "[[Z3.limit]], [[-Z3.limit:.1f]], [[Z3.limit:±]]": "0.7381, −0.7, 0.7381",
    "by [[100 * (1 - I18.later):.0f]] %": "by 72 %",
    "[[I18.later:±]] or [[I18.later:to]]": "0.28 ± 0.03 or 0.251 to 0.309",
    "[[1 - I18.later:to]] of [[n(I18.later)]]": "0.691 to 0.749 of 40\u202f000",
    "[[I18.first - I18.later:±]], [[I18.later / I18.later:to]]": "0.22 ± 0.13, 1",
    "[[low(I18.later):.2f]] [[abs(Z3.limit - high(I18.later)):.2f]]": "0.25 0.43",
    "[[2 * Z3.limit / 10 ** 5:.1e]]": "1.5·10⁻⁵",
    "[[Z3.limit:≤.1f]] [[Z3.limit:≥.3f]] [[-Z3.limit:≤.1f]] [[I18.later:≤.2f]]": "0.8 0.738 −0.7 0.28",
    "[[Z3.limit / 10 ** 5:≤.0e]]": "8·10⁻⁶",
    "code: a[[0, 1]] and [[x]]": "code: a[[0, 1]] and [[x]]",
}
REFUSED = {
    "[[Z3.none:.2f]]": "no run measured Z3.none",
    "[[P3.deep]]": "no run measured P3.deep",
    "[[Z3.limit:.2q]]": "'.2q' is not a format",
    "[[max(Z3.limit, 2)]]": "allowed: parts, numbers",
    "[[Z3.limit / 0]]": "division",
    "[[abs(I18.later):±]]": "has no interval",
    "[[Z3.limit +]]": "invalid syntax",
}


def test_numbers_stand_where_they_are_asked_for():
    assert {text: filled(text, RECORDS) for text in SHOWN} == SHOWN
    assert parts("[[n(Z3.limit)]] and [[1 - I18.later:to]], [[x]]") == ["Z3.limit", "I18.later"]
    loose = "at most [[Z3.limit:.1f]], up to **[[100 * Z3.limit:.0f]] %**, at least [[low(I18.later):.2f]]"
    loose += ", within {glue:text}`x[1:]:.0e`, at most\n# {glue:text}`max(x):.2f`"
    tight = "at most [[Z3.limit:≤.1f]], up to [[n(Z3.limit)]], at least [[I18.later:±]] or [[I18.later:to]]"
    tight += ", within {glue:text}`x[1:]:≤.0e`, up to {glue:text}`pairs` or {glue:text}`x:.2f`"
    assert (len(UNROUNDED.findall(loose)), UNROUNDED.findall(tight)) == (5, [])
    assert (bound(1e-30, "≤.0e"), bound(-0.126, "≥.2f"), bound(float("inf"), "≤.1f")) == ("1e-30", "-0.13", "∞")


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_number_is_refused(text):
    with pytest.raises(BuildError) as error:
        filled(text, RECORDS)
    assert REFUSED[text] in str(error.value)
