"""The JSON Schemas that editors use: written from the models, and met by every file that names them."""

import json
import re

import jsonschema
import pytest
import yaml

from book.tools.base.chapters import BuildError
from book.tools.reading import profiles
from book.tools.schemas import schemas

FIRST_LINE = "# yaml-language-server: $schema=schema.json\n"
WRITTEN = schemas()


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.parent.name)
def test_schemas_are_in_step_with_the_models(path):
    assert path.read_text(encoding="utf-8") == WRITTEN[path], "run: python -m book.tools.schemas"


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.parent.name)
def test_every_file_names_its_schema_and_meets_it(path):
    validator = jsonschema.Draft202012Validator(json.loads(WRITTEN[path]))
    files = sorted(path.parent.glob("*.y*ml"))
    assert len(files) >= 3
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert text.startswith(FIRST_LINE), file
        assert [error.message for error in validator.iter_errors(yaml.safe_load(text))] == []


@pytest.mark.parametrize(
    "entry",
    [
        {"paper": "Z", "where": "w"},
        {"paper": "Z", "where": "w", "says": "s", "id": "Z1"},
        {"paper": "Z", "where": "w", "says": "s", "parts": {"a": {"where": "w"}}},
        {"paper": "Z", "where": "w", "says": "s", "misprints": [{"where": "w", "printed": "p"}]},
    ],
)
def test_an_editor_marks_what_the_reader_refuses(entry):
    (schema,) = (json.loads(text) for path, text in WRITTEN.items() if path.parent.name == "claims")
    assert list(jsonschema.Draft202012Validator(schema).iter_errors({"Z1": entry}))


GOOD = {"says": "x", "pages_s": 1, "memory_gib": 1, "disk_gib": 0.1, "chapters": {}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chapter": {}}, "big.yaml: unknown field 'chapter'; allowed: says, pages_s, memory_gib, disk_gib, chapters"),
        ({"pages_s": "long"}, "big.yaml: pages_s: input should be a valid number"),
        (
            {"chapters": {"overlap_theorem": {"budget": 5}}},
            "big.yaml: chapters.overlap_theorem: unknown field 'budget'",
        ),
        (
            {"chapters": {"overlap_theorem": {"budget_s": 0}}},
            "chapters.overlap_theorem.budget_s: input should be greater",
        ),
        (
            {"chapters": {"overlap_theorem": {"budget_s": 5, "parameters": {"M": {}}}}},
            "chapters.overlap_theorem.parameters.M",
        ),
        ({"chapters": {"overlap": {"budget_s": 5}}}, "profile 'big' names chapters that do not exist: overlap"),
    ],
)
def test_a_bad_profile_is_refused(tmp_path, monkeypatch, change, message):
    monkeypatch.setattr(profiles, "PROFILES", tmp_path)
    (tmp_path / "big.yaml").write_text(yaml.safe_dump(GOOD | change))
    profiles.profile.cache_clear()
    with pytest.raises(BuildError) as error:
        profiles.profile("big")
    assert message in re.sub(r", line \d+", "", str(error.value))
    profiles.profile.cache_clear()


def test_parameters_of_a_profile(tmp_path, monkeypatch):
    monkeypatch.setattr(profiles, "PROFILES", tmp_path)
    chapter = {"budget_s": 5, "parameters": {"M": 3, "rate": 0.5, "deep": True, "sizes": [1, 2], "law": "uniform"}}
    (tmp_path / "big.yaml").write_text(yaml.safe_dump(GOOD | {"chapters": {"overlap_theorem": chapter}}))
    profiles.profile.cache_clear()
    assert profiles.parameters("12_overlap_theorem", "big") == {"profile": "big", **chapter["parameters"]}
    with pytest.raises(BuildError, match="profile 'big' has no entry for chapter 'exact_loss'; add one"):
        profiles.parameters("11_exact_loss", "big")
    profiles.profile.cache_clear()
