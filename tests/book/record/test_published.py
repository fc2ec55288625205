"""claims.json and its schema: what is published follows it, and what does not is refused."""

import json

import jsonschema
import pytest


def test_the_test_book_s_file_follows_its_schema(html):
    schema = json.loads((html / "claims.schema.json").read_text())
    told = json.loads((html / "claims.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(told, schema)
    assert {record["part"].partition(".")[0] for record in told["parts"]} <= set(told["verdicts"])
    told["parts"][0]["colour"] = "red"
    with pytest.raises(jsonschema.ValidationError, match="colour"):
        jsonschema.validate(told, schema)
