"""An executed chapter as its page shows it: without what only repeats, with pictures for phones beside the wide ones.

``figures.show`` stores every figure twice, the second time with its panels in one column under the name ``…-phone``.
Here that one becomes a file of its own, named by the SHA-256 of the wide picture, which is also what the page's image
is called; ``sphinx_phone`` finds it by that name.
"""

from __future__ import annotations

import ast
import hashlib
import html
from pathlib import Path

from book.tools.records import pictures
from lmc_helpers import claims

PHONE = "-phone"
FOLDED = "hide-input"
LABEL = "Parameters of this run"
PROMPTS = ("code_prompt_show", "code_prompt_hide")


def values(source: str) -> dict[str, object]:
    """The names that a cell of parameters sets, each with its value, or with its text where that is no literal."""
    found: dict[str, object] = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            try:
                read: object = ast.literal_eval(node.value)
            except ValueError:
                read = ast.unparse(node.value)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id: read for target in targets if isinstance(target, ast.Name)}
    return found


def _tags(cell: dict) -> list[str]:
    return cell["metadata"].get("tags", [])


def _source(cell: dict) -> str:
    return "".join(cell["source"])


def repeats(injected: dict, defaults: dict) -> bool:
    """Whether an injected cell sets nothing but ``profile`` to another value than the cell of parameters does."""
    before, after = values(_source(defaults)), values(_source(injected))
    return all(name == "profile" or (name in before and repr(before[name]) == repr(v)) for name, v in after.items())


def fold_parameters(notebook: dict) -> None:
    """Leave out papermill's cell of parameters if it repeats the defaults; else fold it under a label."""
    cells = notebook["cells"]
    defaults = next((cell for cell in cells if "parameters" in _tags(cell)), None)
    injected = next((cell for cell in cells if "injected-parameters" in _tags(cell)), None)
    if injected is None or defaults is None:
        return
    if repeats(injected, defaults):
        cells.remove(injected)
    else:
        injected["metadata"] |= {
            "tags": list(dict.fromkeys([*_tags(injected), FOLDED])),
            "mystnb": {"code_prompt_show": LABEL},
        }


def label_folds(notebook: dict) -> None:
    """A folded cell has the same label when it is open."""
    for cell in notebook["cells"]:
        prompts = cell["metadata"].get("mystnb", {})
        if PROMPTS[0] in prompts:
            prompts.setdefault(PROMPTS[1], prompts[PROMPTS[0]])


def take_phone_pictures(notebook: dict) -> dict[str, bytes]:
    """Take the pictures for phones out of a notebook; file name → PNG.

    A file is named by the SHA-256 of the wide picture.
    """
    found = pictures(notebook)
    for cell in notebook["cells"]:
        if "outputs" in cell:
            cell["outputs"] = [output for output in cell["outputs"] if not _is_phone(output, found)]
    return {
        f"{hashlib.sha256(found[name.removesuffix(PHONE)]).hexdigest()}.png": picture
        for name, picture in found.items()
        if name.endswith(PHONE) and name.removesuffix(PHONE) in found
    }


def _is_phone(output: dict, known: dict[str, bytes]) -> bool:
    name = output.get("metadata", {}).get("scrapbook", {}).get("name", "")
    return name.endswith(PHONE) and name.removesuffix(PHONE) in known


def add_confirmations(notebook: dict, confirmed: dict[str, str]) -> None:
    """Write under every claim's box what the record at paper scale says of it."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            claim = output.get("metadata", {}).get(claims.MIME)
            if claim and claim["part"] in confirmed and "text/html" in output["data"]:
                row = f"<tr><th>at paper scale</th><td>{html.escape(confirmed[claim['part']])}</td><td></td></tr>"
                box = "".join(output["data"]["text/html"])
                output["data"]["text/html"] = box.replace('<tr class="verdict">', f'{row}<tr class="verdict">')


def stage(notebook: dict, phone: Path, confirmed: dict[str, str]) -> dict:
    """A notebook ready for its page; its pictures for phones go to the folder ``phone``.

    ``confirmed`` says what stands in the record at paper scale, part → words.
    """
    add_confirmations(notebook, confirmed)
    fold_parameters(notebook)
    label_folds(notebook)
    phone.mkdir(parents=True, exist_ok=True)
    for name, picture in take_phone_pictures(notebook).items():
        (phone / name).write_bytes(picture)
    return notebook
