"""Results of executed chapters: the checked claims, statistics of the runs, their pictures, and stored records."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasPath, BaseModel, Field, ValidationError

from book.tools.read import inputs, papers, sources
from book.tools.read.chapters import ROOT, BuildError
from book.tools.record import glued
from lmc_helpers import claims
from lmc_helpers.claims.judge import Verdict
from lmc_helpers.claims.yaml_files import explained

RECORDED = ROOT / "book" / "recorded"
PROVENANCE = ("chapter", "profile", "parameters", "seconds", "device", "commit", "date", "seeds")
DATA = "data_says"  # what a chapter on images glues: which they are, and whether their files are the published ones
ABSENT = "not yet in the book"
SHOWN = "a page of the book"
OTHERS = re.compile(r"needs dataset (\w+) \(here (\w+)\)")  # in a box
NO_IMAGES, OTHER_IMAGES = "is not here", "differ from the canonical ones"
ADVICE = "book/data.md says which files to put where."


class _Provenance(BaseModel):
    chapter: str
    profile: str
    parameters: dict[str, Any]
    seconds: float
    device: str
    commit: str


class _Output(BaseModel):
    record: Verdict | None = Field(None, validation_alias=AliasPath("metadata", claims.MIME))


class _Cell(BaseModel):
    metadata: dict[str, Any]
    source: str | list[str]
    outputs: list[_Output] = []


class _Notebook(BaseModel):
    nbformat: Literal[4]
    cells: list[_Cell]
    run: _Provenance = Field(validation_alias=AliasPath("metadata", "lmc"))


def notebook(path: Path) -> dict:
    """An executed notebook as JSON; a damaged one is refused, never shown."""
    try:
        content = path.read_bytes()
        chapter = _Notebook.model_validate_json(content, strict=True).run.chapter
        problem = "" if chapter == path.stem else f"it is chapter {chapter}"
    except FileNotFoundError:
        raise BuildError(f"{path.stem} was not executed: no {path}") from None
    except ValidationError as error:
        problem = str(explained(error, "")).splitlines()[0]
    if problem:
        raise BuildError(f"{path} is cut off or damaged ({problem}); remove it and build again")
    return json.loads(content)


def outputs(notebook: dict) -> Iterator[dict]:
    return (output for cell in notebook.get("cells", ()) for output in cell.get("outputs", ()))


def boxes(notebook: dict) -> list[dict]:
    """The outcomes of a notebook's checks, as it stores them."""
    metadata = (output.get("metadata", {}) for output in outputs(notebook))
    return [found[claims.MIME] for found in metadata if claims.MIME in found]


def records(path: Path) -> list[dict]:
    """The claims that an executed notebook checked, each with the provenance of its run and of its images."""
    content = notebook(path)
    run = content["metadata"]["lmc"]
    about = {name: run[name] for name in PROVENANCE if name in run}
    about |= {"data": said} if (said := glued.values(content).get(DATA)) else {}
    return [box | about for box in boxes(content)]


def image_messages(paths: Iterable[Path]) -> list[str]:
    """Messages of executed chapters about images other than the ones asked for, with those chapters, and advice."""
    found: dict[str, list[str]] = {}
    for path in paths:
        said = glued.values(notebook(path)).get(DATA, "")
        if NO_IMAGES in said or OTHER_IMAGES in said:
            found.setdefault(said, []).append(path.stem[:2])
    lines = [f"Chapter{'s' * (len(names) > 1)} {', '.join(names)}: {said}" for said, names in found.items()]
    return [*lines, ADVICE] if any(NO_IMAGES in said for said in found) else lines


def other_images(notebook: dict) -> tuple[str, ...] | None:
    """The images that an executed chapter's statements are about, and those that it took instead; None if the same."""
    return next((found.groups() for box in boxes(notebook) if (found := OTHERS.match(box.get("lacks", "")))), None)


def without_images(paths: Iterable[Path]) -> dict[str, str]:
    """The executed chapters that took other images than those that their statements are about, with these images."""
    return {path.stem: found[1] for path in paths if (found := other_images(notebook(path)))}


@dataclass(frozen=True)
class Run:
    """One profile's executed chapters and the ledger that they were checked against."""

    executed: list[Path]
    whole: bool = True  # False if these are some of the chapters

    @cached_property
    def records(self) -> dict[str, dict]:
        found: dict[str, dict] = {}
        known = sources.Sources()
        for path in self.executed:
            here = {record["part"]: record for record in records(path)}
            parameters = notebook(path)["metadata"].get("lmc", {}).get("parameters", {})
            of_a_reader = not self.whole and parameters.get("model")  # no claim is about those networks
            if (missing := set(known.chapter(path.stem).checks) - here.keys()) and not of_a_reader:
                raise BuildError(f"{path.stem} did not record {', '.join(sorted(missing))}")
            for id in here.keys() & found.keys():
                raise BuildError(f"{id} is checked in {found[id]['chapter']} and in {path.stem}")
            found |= here
        for id, part in papers.parts().items():
            if self.whole and id not in found and part.expected != claims.OPEN:
                raise BuildError(f"{id} is in the ledger as {part.expected!r}, but no chapter checks it")
        return found

    @cached_property
    def statistics(self) -> list[dict]:
        return [notebook(path)["metadata"]["lmc"] for path in self.executed]

    @cached_property
    def found(self) -> dict[str, str]:
        """Part → its verdict; a part that was not checked is open."""
        return {id: self.records[id]["verdict"] if id in self.records else claims.OPEN for id in papers.parts()}

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """Id → the verdict of its headlines; an id without parts is a page of the book, or not yet in it."""
        return {
            id: claims.of_claim(claim, self.found) if claim.parts else SHOWN if claim.page else ABSENT
            for id, claim in claims.ledger().items()
        }


def recorded_path(profile: str) -> Path:
    """Path of the outcomes of the confirmatory runs of a profile."""
    return RECORDED / f"{profile}.json"


def recorded(profile: str = "paper") -> dict[str, dict]:
    """Part → the stored outcome of its confirmatory run."""
    path = recorded_path(profile)
    return {record["part"]: record for record in inputs.listed(path)} if path.exists() else {}


def pictures(notebook: dict) -> dict[str, bytes]:
    """The figures that an executed chapter stored with ``figures.show``, by their names, as PNG."""
    found = {}
    for output in outputs(notebook):
        name = output.get("metadata", {}).get("scrapbook", {}).get("name")
        image = next((data for mime, data in output.get("data", {}).items() if mime.endswith("image/png")), None)
        if name and image:
            found[name] = base64.b64decode("".join(image))
    return found
