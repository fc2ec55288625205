"""Formulas where only letters can stand, as in a hover text or for a screen reader: TeX as Unicode signs."""

from __future__ import annotations

import re

from docutils.utils.math import tex2unichar

KINDS = ("alpha", "ord", "bin", "rel", "op", "open", "close", "fence", "punct", "radical")
SIGNS: dict[str, str] = {}
for kind in KINDS:
    SIGNS = getattr(tex2unichar, f"math{kind}") | SIGNS
SIGNS |= {"dots": "…", "lVert": "‖", "rVert": "‖", "lvert": "|", "rvert": "|", ",": " ", ";": " ", "cdot": "·"}
SIGNS |= {"sqrt": "√", **dict.fromkeys(("left", "right", "bigl", "bigr"), "")}
FONT = re.compile(r"\\(?:math[a-z]+|operatorname|text)(?:\{([^{}]*)\}|\s(\w))")
COMMAND = re.compile(r"\\([A-Za-z]+|.)\s?")
GROUP = re.compile(r"([_^])?\{([^{}]*)\}")
RAISED = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def signs(tex: str) -> str:
    r"""A formula of TeX in one line of signs; a function keeps its name, a group that cannot be raised its parentheses.

    Examples
    --------
    >>> print(signs(r"\|U\sigma(VX)\| \le m^{-2}"), signs(r"W_{\mathrm{eff}} = F + D \odot W"))
    ‖Uσ(VX)‖ ≤ m⁻² W_eff = F + D ⊙ W
    >>> print(signs(r"O(m^{-1/2})"), signs(r"\binom{n-K}{K} / 2!^K"), signs(r"\frac{1}{2}\sqrt{\pi}"))
    O(m^(−1/2)) (n−K over K) / 2!^K (1)/(2)√(π)
    """
    tex = re.sub(r"\\binom\{([^{}]*)\}\{([^{}]*)\}", r"(\1 over \2)", tex)
    tex = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", tex)
    tex = COMMAND.sub(_command, FONT.sub(r"\1\2", tex))
    while (plain := GROUP.sub(_group, tex)) != tex:
        tex = plain
    tex = re.sub(r"\^([0-9])", lambda found: found[1].translate(RAISED), tex)
    return tex.replace("^′", "′").replace("-", "−")


def _command(found: re.Match) -> str:
    opens = found[1] in ("sqrt", "lVert", "lvert")
    return SIGNS.get(found[1], found[1]) + (" " if found[0][-1].isspace() and not opens else "")


def _group(found: re.Match) -> str:
    script, text = found[1], found[2]
    if script == "^" and re.fullmatch(r"[-+]?\d+", text):
        return text.translate(RAISED)
    if script == "_" and re.fullmatch(r"\w+", text):
        return f"_{text}"
    return (script or "") + f"({text})"
