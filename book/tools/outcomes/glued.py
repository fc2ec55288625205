"""What executed chapters glued into their text, and how pages write its numbers: powers of ten and minus in signs.

Notebooks store text as ``-1e-08``, which a page shows as −10⁻⁸.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from lmc_helpers.claims.numerals import power

NUMBER = re.compile(r"(?<![\w.])(?P<digits>\d(?:\.\d+)?|\(.+?\))e(?P<exponent>[+-]\d+)(?![\w.])")
MINUS = re.compile(r"(?<![\w.)⁻-])-(?=(?P<digits>\d[\d.]*))")  # not a hyphen, as in 784-64-10
DECIMAL = range(-3, 6)  # exponents of numbers that are written without a power of ten


def signs(text: str) -> str:
    """A text with its numbers as people write them.

    Examples
    --------
    >>> signs("between 1e-08 and 2.5e+10"), signs("(2.00 ± 0.03)e-07"), signs("'3e-02', 4e+05")
    ('between 10⁻⁸ and 2.5·10¹⁰', '(2.00 ± 0.03)·10⁻⁷', "'0.03', 400000")
    >>> signs("-1.5 ± 0.2"), signs("-2e-09 to -0.0"), signs("784-64-10")
    ('−1.5 ± 0.2', '−2·10⁻⁹ to 0.0', '784-64-10')
    """

    def written(found: re.Match) -> str:
        digits, exponent = found["digits"], int(found["exponent"])
        if exponent in DECIMAL and not digits.startswith("("):
            return f"{Decimal(found[0]):f}"
        return power(exponent) if digits == "1" else f"{digits}·{power(exponent)}"

    def signed(found: re.Match) -> str:
        return "−" if found["digits"].strip("0.") else ""  # a zero has no sign

    return MINUS.sub(signed, NUMBER.sub(written, text))


def outputs(notebook: dict) -> Iterator[tuple[str, dict, str]]:
    """The words and numbers that a notebook glued: name, the output's data, and which of them is the text."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            data = output.get("data", {})
            mime = next((mime for mime in data if mime.endswith("text/plain")), None)
            if name and mime and not any("image/" in other for other in data):
                yield name, data, mime


def values(notebook: dict) -> dict[str, str]:
    """The words and numbers that a notebook glued, by their names, as pages show them."""
    return {name: signs("".join(data[mime])).strip("'\"") for name, data, mime in outputs(notebook)}
