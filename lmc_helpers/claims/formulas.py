"""Formulas for readers: closed forms as TeX, texts of the ledger and labels of figures as HTML, TeX as Unicode."""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable

from docutils.utils.math import tex2unichar

from lmc_helpers.claims.numerals import signs

__all__ = ()  # what packages of ours lend each other

Address = Callable[[str], "tuple[str, str] | None"]  #: word → address and text of a link; none for other words

NAMES = {"pi": r"\pi", "E": "e", "EulerGamma": r"\gamma"}
FUNCTIONS = {"log": r"\ln", "gamma": r"\Gamma", "exp": r"\exp", "erf": r"\operatorname{erf}"}
FUNCTIONS |= {"erfc": r"\operatorname{erfc}", "asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan"}
SUM, PRODUCT, SIGN, POWER, ATOM = range(5)


def tex(closed_form: str) -> str:
    r"""A closed form of the ledger as TeX."""
    return _tex(ast.parse(closed_form.strip(), mode="eval").body)[0]


def _within(node: ast.expr, rank: int) -> str:
    """A term, in parentheses if it binds less tightly than its context."""
    text, own = _tex(node)
    return f"({text})" if own < rank else text


def _tex(node: ast.expr) -> tuple[str, int]:
    """TeX of a term, and how tightly it binds."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return repr(value), ATOM
        case ast.Name(id=name):
            return NAMES[name], ATOM
        case ast.UnaryOp(op=op, operand=operand):
            return ("-" if isinstance(op, ast.USub) else "") + _within(operand, SIGN), SIGN
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return rf"\frac{{{_tex(left)[0]}}}{{{_tex(right)[0]}}}", ATOM
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return f"{_within(left, ATOM)}^{{{_tex(right)[0]}}}", POWER
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            first, second = _within(left, PRODUCT), _within(right, PRODUCT)
            return first + (r" \cdot " if second[0].isdigit() else " ") + second, PRODUCT
        case ast.BinOp(left=left, op=op, right=right):
            sign = "+" if isinstance(op, ast.Add) else "-"
            return f"{_within(left, SUM)} {sign} {_within(right, PRODUCT)}", SUM
        case ast.Call(func=ast.Name(id="sqrt"), args=[argument]):
            return rf"\sqrt{{{_tex(argument)[0]}}}", ATOM
        case ast.Call(func=ast.Name(id="exp"), args=[argument]):
            return f"e^{{{_tex(argument)[0]}}}", POWER
        case ast.Call(func=ast.Name(id="besseli" | "besselj" as name), args=[order, argument]):
            return f"{name[-1].upper()}_{{{_tex(order)[0]}}}({_tex(argument)[0]})", ATOM
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return rf"{FUNCTIONS.get(name, chr(92) + name)}({_tex(argument)[0]})", ATOM
    raise ValueError(f"{ast.unparse(node)} cannot be part of a closed form")


INNER = r"\(((?:[^()]|\([^()]*\))*)\)"  # the content of parentheses, with parentheses inside
CHOICES = re.compile(r"\bbinom\(([^(),]+), *([^(),]+)\)")
INDEX = r":?(?:(?![⁰¹²³⁴-⁹])\w)+"
SIZES = re.compile(rf"\babs{INNER}")
RAISE = re.compile(rf"\^(?:\{{([^{{}}]*)\}}|{INNER}|([−-]?\d+(?:\.\d+)?|[−-]?{INDEX}))")
LOWER = re.compile(rf"(?<![A-Za-z0-9_.])([^\W\d_]|min|max|inf|sup|log)_(?:\{{([^{{}}]*)\}}|{INNER}|({INDEX}))")
EMPHASIS = re.compile(r"(?<!\w)\*([^\s*](?:[^*]*[^\s*])?)\*(?!\w)")
CODE = re.compile(r"`([^`]+)`")
WORDS = re.compile(r"(?<![\w.-])(?:[A-Z]\d+(?:\.\w+)?|(?:thm|prop|prp|lem|cor|def|eq|ex|rem|alg)-[\w-]*\w)(?![\w-])")


def _signs(text: str) -> str:
    """Escaped text with its powers raised, its indices lowered and its binomial coefficients as TeX."""
    text = signs(html.escape(text, quote=False))
    text = CHOICES.sub(lambda hit: rf"\(\binom{{{hit[1]}}}{{{hit[2]}}}\)".replace("−", "-"), text)
    text = RAISE.sub(lambda hit: f"<sup>{_first(hit.groups())}</sup>", text)
    text = SIZES.sub(r"|\1|", text)
    return LOWER.sub(lambda hit: f"{hit[1]}<sub>{_first(hit.groups()[1:])}</sub>", text)


def _first(groups: tuple) -> str:
    return next(group for group in groups if group is not None)


def typeset(text: str, address: Address | None = None) -> str:
    r"""HTML of a text of the ledger: escaped, formulas between $ for MathJax, *emphasis* and `code`.

    Words that ``address`` knows become links. MathJax processes the result inside an element of the class
    ``mathjax_process``.
    """
    pieces = text.split("$")
    for at, piece in enumerate(pieces):
        if at % 2:
            pieces[at] = rf"\({html.escape(piece, quote=False)}\)"
        else:
            pieces[at] = "".join(_words(words, address, odd) for odd, words in enumerate(CODE.split(piece)))
    return "".join(pieces)


def _words(text: str, address: Address | None, odd: int) -> str:
    """HTML of a text between formulas: code in odd pieces, words in the others."""
    if odd % 2:
        return f"<code>{html.escape(text, quote=False)}</code>"
    return EMPHASIS.sub(r"<em>\1</em>", _linked(text, address) if address else _signs(text))


def _linked(text: str, address: Address) -> str:
    """A text without formulas, with its words that have an address as links."""
    found, start = [], 0
    for word in WORDS.finditer(text):
        target = address(word[0])
        if target:
            found.append(_signs(text[start : word.start()]))
            found.append(f'<a href="{html.escape(target[0])}">{typeset(target[1])}</a>')
            start = word.end()
    return "".join([*found, _signs(text[start:])])


KINDS = ("alpha", "ord", "bin", "rel", "op", "open", "close", "fence", "punct", "radical")
UNICODE = {name: sign for kind in reversed(KINDS) for name, sign in getattr(tex2unichar, f"math{kind}").items()}
UNICODE |= {"dots": "…", "lVert": "‖", "rVert": "‖", "lvert": "|", "rvert": "|", ",": " ", ";": " ", "cdot": "·"}
UNICODE |= {"sqrt": "√", **dict.fromkeys(("left", "right", "bigl", "bigr"), "")}
FONT = re.compile(r"\\(?:math[a-z]+|operatorname|text)(?:\{([^{}]*)\}|\s(\w))")
COMMAND = re.compile(r"\\([A-Za-z]+|.)\s?")
GROUP = re.compile(r"([_^])?\{([^{}]*)\}")
SUPERSCRIPTS = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def plain(tex: str) -> str:
    r"""A formula of TeX in one line of Unicode, for hover texts and screen readers."""
    tex = re.sub(r"\\binom\{([^{}]*)\}\{([^{}]*)\}", r"(\1 over \2)", tex)
    tex = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)", tex)
    tex = COMMAND.sub(_command, FONT.sub(r"\1\2", tex))
    while (flat := GROUP.sub(_group, tex)) != tex:
        tex = flat
    tex = re.sub(r"\^([0-9])", lambda found: found[1].translate(SUPERSCRIPTS), tex)
    return tex.replace("^′", "′").replace("-", "−")


def _command(found: re.Match) -> str:
    opens = found[1] in ("sqrt", "lVert", "lvert")
    return UNICODE.get(found[1], found[1]) + (" " if found[0][-1].isspace() and not opens else "")


def _group(found: re.Match) -> str:
    script, text = found[1], found[2]
    if script == "^" and re.fullmatch(r"[-+]?\d+", text):
        return text.translate(SUPERSCRIPTS)
    if script == "_" and re.fullmatch(r"\w+", text):
        return f"_{text}"
    return (script or "") + f"({text})"


LETTERS = "alpha beta gamma delta kappa lambda nu sigma theta varepsilon vartheta".split()
NAMED = {"cdot": "·", "geq": "≥", "leq": "≤", "pm": "±", "to": "→", "ln": "ln", "max": "max", "min": "min"}
NAMED |= {"det": "det"}
SPACED = {"=": " = ", "<": " &lt; ", ">": " &gt; ", "≥": " ≥ ", "≤": " ≤ ", "→": " → ", ",": ", ", "+": " + "}
ESCAPED = {"|": "‖", ",": "\u202f", "{": "&#123;", "}": "&#125;"}  # after a backslash
OTHER = {"-": "−", "'": "′", "&": "&amp;"}
TOKEN = re.compile(r"\\mathrm\{(?P<upright>[^{}]*)\}|\\(?P<name>[a-zA-Z]+)\s*|\\(?P<sign>.)|(?P<other>\S)|\s+")
SCRIPT = re.compile(r"([_^])(?:\{([^{}]*)\}|(<i>.</i>|&\w+;| \S+ |[^{}<& ]))|\{([^{}]*)\}")


def label(text: str) -> str:
    r"""A label of Matplotlib, with formulas between dollar signs, as the HTML that Plotly draws: i, sub and sup."""
    parts = text.split("$")
    if len(parts) % 2 == 0:
        raise ValueError(f"label {text!r}; allowed: an even number of dollar signs")
    for k, part in enumerate(parts):
        if k % 2 == 0:
            parts[k] = html.escape(part, quote=False)
            continue
        formula = TOKEN.sub(_token, part)
        while (flat := SCRIPT.sub(_script, formula)) != formula:
            formula = flat
        if "{" in formula or "}" in formula:
            raise ValueError(f"label {text!r}; allowed: braces with partners")
        parts[k] = formula
    return "".join(parts)


def _token(token: re.Match) -> str:
    """A letter, a sign or a name as HTML; braces and scripts stay."""
    if token["upright"] is not None:
        return "{" + html.escape(token["upright"], quote=False) + "}"
    if token["name"] in LETTERS:
        return f"<i>{UNICODE[token['name']]}</i>"
    if token["name"] is not None:
        if token["name"] not in NAMED:
            raise ValueError(f"\\{token['name']} in a label; allowed: {', '.join([*LETTERS, *NAMED])}")
        sign = NAMED[token["name"]]
        return SPACED.get(sign, f"{sign} " if sign.isalpha() else sign)
    if token["sign"] is not None:
        return ESCAPED.get(token["sign"], html.escape(token["sign"], quote=False))
    sign = token["other"] or ""
    return f"<i>{sign}</i>" if sign.isalpha() else SPACED.get(sign) or OTHER.get(sign, sign)


def _script(found: re.Match) -> str:
    if found[1] is None:
        return found[4]
    tag = "sub" if found[1] == "_" else "sup"
    inner = found[2] if found[2] is not None else found[3]
    return f"<{tag}>{inner}</{tag}>" if inner else ""
