"""Formulas in labels: from Matplotlib's ``$…$`` to the few HTML tags that Plotly draws."""

from __future__ import annotations

import html
import re

__all__ = ["typeset"]

NAMES = "alpha beta gamma delta kappa lambda nu sigma theta varepsilon vartheta"
GREEK = dict(zip(NAMES.split(), "αβγδκλνσθεϑ", strict=True))
SIGNS = {
    "cdot": "·",
    "geq": "≥",
    "leq": "≤",
    "ln": "ln",
    "max": "max",
    "min": "min",
    "det": "det",
    "pm": "±",
    "to": "→",
}
SPACED = {"=": " = ", "<": " &lt; ", ">": " &gt; ", "≥": " ≥ ", "≤": " ≤ ", "→": " → ", ",": ", ", "+": " + "}
TOKEN = re.compile(r"\\mathrm\{(?P<upright>[^{}]*)\}|\\(?P<name>[a-zA-Z]+)\s*|\\(?P<sign>.)|(?P<other>\S)|\s+")
SCRIPTS = {"_": "sub", "^": "sup"}


def typeset(text: str) -> str:
    r"""A label with formulas between dollar signs, as HTML with ``<i>``, ``<sub>`` and ``<sup>``.

    Parameters
    ----------
    text : str
        Matplotlib's notation: letters, ``\mathrm{…}``, sub- and superscripts, and the names in this file.

    Returns
    -------
    str
        HTML; what is no formula is escaped.

    Examples
    --------
    >>> typeset("loss & $W_1$, $\\sigma_{\\mathrm{min}}^2 < 1$")
    'loss &amp; <i>W</i><sub>1</sub>, <i>σ</i><sub>min</sub><sup>2</sup> &lt; 1'
    """
    parts = text.split("$")
    if len(parts) % 2 == 0:
        raise ValueError(f"label {text!r}; allowed: an even number of dollar signs")
    for k, part in enumerate(parts):
        parts[k] = _formula(part, text) if k % 2 else html.escape(part, quote=False)
    return "".join(parts)


def _formula(part: str, text: str) -> str:
    """One formula without its dollar signs."""
    done: list[list[str]] = [[]]  # finished pieces, one list for each open brace
    tags: list[str] = []  # of the open braces
    script = ""  # of the next piece
    for token in TOKEN.finditer(part):
        sign = token["other"]
        if sign in SCRIPTS:
            script = SCRIPTS[sign]
        elif sign == "{":
            tags.append(script)
            done.append([])
            script = ""
        else:
            if sign == "}":
                if not tags:
                    raise ValueError(f"label {text!r}; allowed: braces with partners")
                script, piece = tags.pop(), "".join(done.pop())
            else:
                piece = _piece(token, text)
            done[-1].append(f"<{script}>{piece}</{script}>" if script and piece else piece)
            script = script if not piece else ""
    if tags:
        raise ValueError(f"label {text!r}; allowed: braces with partners")
    return "".join(done[0])


def _piece(token: re.Match, text: str) -> str:
    """A letter, a sign, or a name."""
    if token["upright"] is not None:
        return html.escape(token["upright"], quote=False)
    if token["name"] in GREEK:
        return f"<i>{GREEK[token['name']]}</i>"
    if token["name"] is not None:
        if token["name"] not in SIGNS:
            raise ValueError(f"\\{token['name']} in label {text!r}; allowed: {', '.join([*GREEK, *SIGNS])}")
        sign = SIGNS[token["name"]]
        return SPACED.get(sign, f"{sign} " if sign.isalpha() else sign)
    if token["sign"] is not None:
        return {"|": "‖", ",": "\u202f"}.get(token["sign"], html.escape(token["sign"], quote=False))
    sign = token["other"] or ""
    if sign.isalpha():
        return f"<i>{sign}</i>"
    return SPACED.get(sign) or {"-": "−", "'": "′", "&": "&amp;"}.get(sign, sign)
