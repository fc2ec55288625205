"""Compare the numbers of two executed books: every box, every glued number and every printed table.

python -m book compare OLD NEW [--tolerance 1e-9] [CHAPTER ...]

OLD and NEW are folders of executed notebooks, such as ``build/executed/smoke`` of two checkouts. Words must be equal,
numbers may differ by the tolerance: relative, or absolute where they are smaller than one.
"""

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from lmc_helpers.claims.checking import MIME

NUMBER = re.compile(r"[-+−]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
IGNORED = ("criteria",)  # the digest of a criterion: the ledger's, not a number of the run


def outputs(notebook: dict) -> dict[str, object]:
    """Outputs of an executed notebook: ``box ID`` → record, ``glue NAME`` → text, ``cell K`` → text of a plain output.

    The last cell, which states the duration of the run, is left out.
    """
    found: dict[str, object] = {}
    printed = 0
    for cell in notebook["cells"][:-1]:
        streams = [output for output in cell.get("outputs", ()) if output["output_type"] == "stream"]
        text = "".join("".join(output["text"]) for output in streams)  # a kernel may send it in pieces
        others = [output for output in cell.get("outputs", ()) if output not in streams]
        for output in [{"text": text}, *others] if text else others:
            metadata, data = output.get("metadata", {}), output.get("data", {})
            plain = next((data[kind] for kind in data if kind.endswith("text/plain")), "")
            text = "".join(output.get("text") or data.get("text/markdown") or plain)
            text = re.sub(r"<Figure.*>| at 0x[0-9a-f]+", "", text)
            if MIME in metadata:
                found[f"box {metadata[MIME]['part']}"] = {k: v for k, v in metadata[MIME].items() if k not in IGNORED}
            elif name := metadata.get("scrapbook", {}).get("name"):
                found[f"glue {name}"] = text
            elif text and not any(kind.startswith("image/") for kind in data):
                printed += 1
                found[f"output {printed}"] = text
    return found


def differences(old: object, new: object, tolerance: float) -> Iterator[str]:
    """Differences between two values, in words; empty if they agree.

    >>> list(differences({"value": 1.0, "n": 3}, {"value": 1.0 + 1e-12, "n": 4}, 1e-9))
    ['n: 3 → 4']
    >>> list(differences("0.50 of 10", "0.51 of 10", 1e-9)), list(differences("in 3 s", "in 3 h", 1e-9))
    (['0.50 of 10 → 0.51 of 10'], ['in 3 s → in 3 h'])
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old | new:
            yield from (f"{key}: {line}" for line in differences(old.get(key), new.get(key), tolerance))
    elif isinstance(old, list) and isinstance(new, list):
        for k, (a, b) in enumerate(zip_longest(old, new)):
            yield from (f"{k}: {line}" for line in differences(a, b, tolerance))
    elif not _agree(old, new, tolerance):
        yield " → ".join(text if len(text := str(value)) <= 200 else text[:200] + "…" for value in (old, new))


def _agree(old: object, new: object, tolerance: float) -> bool:
    if isinstance(old, str) and isinstance(new, str):
        same_words = NUMBER.sub("#", old) == NUMBER.sub("#", new)
        a, b = ([float(n.replace("−", "-")) for n in NUMBER.findall(text)] for text in (old, new))
        return same_words and all(_close(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(old, (int, float)) and isinstance(new, (int, float)):
        return _close(old, new, tolerance)
    return old == new


def _close(a: float, b: float, tolerance: float) -> bool:
    return a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(1, abs(a), abs(b))


def compare(old: Path, new: Path, names: list[str], tolerance: float) -> int:
    """Print all differences between two folders of executed notebooks, one line each; 1 if there are any."""
    lines = []
    for name in sorted({path.stem for folder in (old, new) for path in folder.glob("*.ipynb")}):
        if names and name not in names and name.partition("_")[2] not in names:
            continue
        both = [folder / f"{name}.ipynb" for folder in (old, new)]
        if absent := [str(path) for path in both if not path.exists()]:
            lines.append(f"{name}: no {absent[0]}")
            continue
        before, after = (outputs(json.loads(path.read_text(encoding="utf-8"))) for path in both)
        lines += [f"{name}: {line}" for line in differences(before, after, tolerance)]
    print("\n".join(lines) if lines else "no differences")
    return bool(lines)
