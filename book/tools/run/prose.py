"""New prose for a chapter whose code has not changed: its executed notebook takes it over, and nothing runs again."""

from collections import deque
from collections.abc import Iterable
from pathlib import Path

from book.tools.read import chapters, sources, titles
from book.tools.run import targets
from lmc_helpers import claims
from lmc_helpers.files import replacing


def take_over(made: targets.Targets, current: Iterable[str]) -> None:
    """Give the executed notebooks of chapters, which are not stale, the text, comments and ledger's words of today."""
    known = sources.Sources()
    for chapter in current:
        path, now = made.executed[chapter], known.prose(chapter)
        if targets.provenance(path).get("prose") != now:
            renew(path, chapters.NOTEBOOKS / f"{chapter}.py", now)


def renew(path: Path, source: Path, prose: str) -> None:
    """Put the outputs of an executed notebook into the cells of its source, in their order; its parameters stay."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    ran = deque(cell for cell in notebook.cells if cell.cell_type == "code")
    notebook.cells = []
    for cell in titles.read(source, notebook.metadata["lmc"]["parameters"]).cells:
        if cell.cell_type != "code":
            notebook.cells.append(cell)
            continue
        notebook.cells.append(was := ran.popleft())
        times = {name: value for name, value in was.metadata.items() if name == "papermill"}
        was.update(source=cell.source, metadata={"tags": []} | cell.metadata | times)
        for output in was.outputs:
            if record := output.get("metadata", {}).get(claims.MIME):
                output.data |= claims.render.bundle(claims.part(record["part"]), record)
        if ran and "injected-parameters" in ran[0].metadata.get("tags", ()):
            notebook.cells.append(ran.popleft())
    notebook.metadata["lmc"]["prose"] = prose
    with replacing(path) as new:
        nbformat.write(notebook, new)
