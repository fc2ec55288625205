"""Values that executed chapters glued into their text."""

from collections.abc import Iterator

from lmc_helpers.claims.numerals import signs


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
