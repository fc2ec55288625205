"""The JSON Schemas that editors use: written from the models, and met by every file that names them."""

import json

import jsonschema
import pytest
import yaml

from book.tools.read import profiles
from book.tools.read.chapters import BuildError
from book.tools.record.schemas import texts

FIRST_LINE = "# yaml-language-server: $schema=schema.json\n"
WRITTEN = texts()
BAD = [
    {"paper": "Z", "where": "w"},
    {"paper": "Z", "where": "w", "says": "s", "id": "Z1"},
    {"paper": "Z", "where": "w", "says": "s", "parts": {"a": {"where": "w"}}},
    {"paper": "Z", "where": "w", "says": "s", "misprints": [{"where": "w", "printed": "p"}]},
]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.parent.name)
def test_schemas_are_those_of_the_models_and_every_file_meets_its_own(path):
    assert path.read_text(encoding="utf-8") == WRITTEN[path], "run: python -m book schemas"
    validator, files = jsonschema.Draft202012Validator(json.loads(WRITTEN[path])), sorted(path.parent.glob("*.y*ml"))
    assert len(files) >= 3
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert text.startswith(FIRST_LINE), file
        assert [error.message for error in validator.iter_errors(yaml.safe_load(text))] == [], file
    (schema,) = (json.loads(text) for path, text in WRITTEN.items() if path.parent.name == "claims")
    validator = jsonschema.Draft202012Validator(schema)
    assert [entry for entry in BAD if validator.is_valid({"Z1": entry})] == []


def test_parameters_of_a_profile(tmp_path, monkeypatch):
    monkeypatch.setattr(profiles, "PROFILES", tmp_path)
    chapter = {"budget_s": 5, "parameters": {"M": 3, "rate": 0.5, "deep": True, "sizes": [1, 2], "law": "uniform"}}
    content = {"says": "x", "pages_s": 1, "memory_gib": 1, "disk_gib": 0.1, "chapters": {"overlap_theorem": chapter}}
    (tmp_path / "big.yaml").write_text(yaml.safe_dump(content))
    profiles.profile.cache_clear()
    assert profiles.parameters("12_overlap_theorem", "big") == {"profile": "big", **chapter["parameters"]}
    with pytest.raises(BuildError, match="profile 'big' has no entry for chapter 'exact_loss'; add one"):
        profiles.parameters("11_exact_loss", "big")
    profiles.profile.cache_clear()
