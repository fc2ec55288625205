"""claims.json and its schema: what is published follows it, and what does not is refused."""

import json

import jsonschema
import pydantic
import pytest

from book.tools.record import published


def test_the_test_book_s_file_follows_its_schema(html):
    schema = json.loads((html / "claims.schema.json").read_text())
    told = json.loads((html / "claims.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(told, schema)
    assert {record["part"].partition(".")[0] for record in told["parts"]} <= set(told["verdicts"])
    told["parts"][0]["colour"] = "red"
    with pytest.raises(jsonschema.ValidationError, match="colour"):
        jsonschema.validate(told, schema)


def test_the_record_beside_the_book_can_be_published(root):
    records = json.loads((root / "book" / "recorded" / "paper.json").read_text())
    assert records
    for record in records:
        published.Record.model_validate({"id": "Z1"} | record)
    with pytest.raises(pydantic.ValidationError, match="verdict"):
        published.Record.model_validate({key: value for key, value in records[0].items() if key != "verdict"})
