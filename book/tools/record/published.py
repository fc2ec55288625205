"""``claims.json``: the results of a run, for programs. The models are its documentation and its schema.

The file lies beside the pages, ``claims.schema.json`` too; :func:`fields` is the table that the page on re-use shows.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from book.tools.record.records import Run, recorded
from lmc_helpers import claims
from lmc_helpers.claims.yaml_files import explained


class Record(BaseModel):
    """One part of the ledger as one run judged it."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(description="the claim, as Z3")
    part: str = Field(description="the part of the ledger, as Z3.limit")
    verdict: str = Field(description="what came out")
    expected: str = Field(description="what the ledger expects at paper scale")
    whose: str = Field(description="paper, reading or ours: whose statement it is")
    weight: str = Field(description="headline, detail or slip")
    quantity: str = Field(description="what was measured")
    value: float | None = Field(description="its value; null: not run")
    stderr: float | None = Field(description="its standard error; null: exact, or an interval that is not symmetric")
    low: float | None = Field(description="lower end of the interval that is judged (two-sided 10⁻³)")
    high: float | None = Field(description="upper end")
    n: int = Field(description="samples behind it")
    criterion: str = Field(description="what the statement requires of the quantity, in words")
    corrected: str = Field(description="what holds where it is false, in words")
    sharper: str = Field(description="what holds beyond it, in words")
    rival: str = Field(description="a plausible value outside the criterion, and why")
    place: str = Field(description="where the interval lies: inside, across or outside the criterion")
    place_corrected: str | None = Field(description="the same for the corrected criterion")
    place_sharper: str | None = Field(description="the same for the sharper one")
    second_seed: bool | None = Field(
        description="whether a second seed repeated a rejection; null: not asked, or not in this run"
    )
    criteria: str = Field(description="digest of what was judged by")
    note: str = Field(description="why it is open, and what else there is to say")
    lacks: str = Field("", description="what the run lacks to judge it: samples, or parameters that the part needs")
    chapter: str = Field(description="the chapter that checks it")
    profile: str = Field(description="the settings of the run")
    parameters: dict[str, Any] = Field(description="the chapter's parameters in that run")
    seconds: float = Field(description="wall time of the chapter")
    device: str = Field(description="what it ran on")
    commit: str = Field(description="the commit of the code that ran; + for edited sources")
    date: str = Field(description="the day of the run")
    seeds: str = Field("", description="the commit that the seeds were derived from; empty: the chapter's own seed")
    set_later: list[str] = Field([], description="of a record: what was set later than the commit of its seeds")
    reference: dict[str, Any] | None = Field(None, description="of a record: the part's number in a cheap run")
    first_judged_by: str = Field("", description="of a record judged anew: what the criterion was in its run")
    data: str = Field("", description="which images were used, and whether their files are the published ones")

    @field_validator("verdict")
    @classmethod
    def _is_one(cls, verdict: str) -> str:
        if verdict not in claims.VERDICTS:
            raise ValueError(f"{verdict!r} is not allowed; allowed: {', '.join(map(repr, claims.VERDICTS))}")
        return verdict


class Published(BaseModel):
    """The content of ``claims.json``."""

    model_config = ConfigDict(extra="forbid")

    verdicts: dict[str, str] = Field(description="claim or part → its verdict on the scoreboard, and in its box")
    verdicts_of_this_run: dict[str, str] = Field(description="claim → verdict of its headlines in this run alone")
    parts: list[Record] = Field(description="every part that this run judged")
    recorded: list[Record] = Field(description="the confirmatory runs at paper scale")


def _with_id(record: dict) -> dict:
    return {"id": record["part"].partition(".")[0]} | record


def problems(path: Path, records: dict[str, dict]) -> list[str]:
    """Errors in the records of a file, one line each."""
    wrong = []
    for part, record in records.items():
        try:
            Record.model_validate(_with_id(record), strict=True)
        except ValidationError as error:
            wrong += str(explained(error, f"{path.name}: {part}")).splitlines()
    return wrong


def published(run: Run, verdicts: dict[str, str]) -> dict[str, Any]:
    """The content of ``claims.json``, with the scoreboard's verdicts; raises ValidationError if a field is wrong."""
    parts, stored = ([_with_id(record) for record in found.values()] for found in (run.records, recorded()))
    content = {"verdicts": verdicts, "verdicts_of_this_run": run.verdicts, "parts": parts, "recorded": stored}
    Published.model_validate(content)
    return content


def json_schema(schema: dict[str, Any], title: str) -> str:
    described = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema | {"title": title}
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def schema() -> str:
    return json_schema(Published.model_json_schema(), "Claims of a run, with verdicts")


def fields() -> list[tuple[str, str]]:
    """Field of a record → its description, for a table."""
    return [(name, field.description or "") for name, field in Record.model_fields.items()]
