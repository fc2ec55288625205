"""YAML is read strictly: what would be misread is refused, and every refusal names the line."""

import random

import pytest
import yaml
from pydantic import TypeAdapter

from lmc_helpers.claims.intervals import LedgerError
from lmc_helpers.claims.yaml_files import load, parsed, place, read


def some(rng: random.Random, depth: int):
    """Something that YAML can say."""
    kinds = [
        lambda: rng.choice([True, False, None]),
        lambda: rng.randint(-(10**6), 10**6),
        lambda: rng.gauss(0, 1) * 10 ** rng.randint(-20, 20),
        lambda: rng.choice(["word", "010", "1:30", "yes", "~", "a: b", "- c", "λ", "", "1e3"]),
        lambda: [some(rng, depth - 1) for _ in range(rng.randint(0, 3))],
        lambda: {f"k{at}": some(rng, depth - 1) for at in range(rng.randint(0, 3))},
    ]
    return rng.choice(kinds if depth else kinds[:4])()


def test_what_is_written_is_read():
    contents = [{"a": some(random.Random(seed), 3)} for seed in range(200)]
    texts = [yaml.safe_dump(content, allow_unicode=True) for content in contents]
    assert [text for text, content in zip(texts, contents, strict=True) if parsed(text, "a.yml") != content] == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: {c: 1, c: 2}\n", "a.yml, line 2: 'c' stands twice"),
        ("a: 1\n1: 2\n'1': 3\n1: 4\n", "a.yml, line 4: 1 stands twice"),
        ("a: 1\nb: 017\n", "a.yml, line 2: 017 would be read as 15; allowed: 15, or '017' as a text"),
        ("a: 190:20:30\n", "a.yml, line 1: 190:20:30 would be read as 685230; allowed: 685230"),
        ("a: 1:30.5\n", "a.yml, line 1: 1:30.5 would be read as 90.5; allowed: 90.5"),
        ("a:\n  - ? {b: 1}\n    : 2\n", "a.yml, line 2: a list or a mapping is not allowed as a name"),
        ("a: 1\n\tb: 2\n", "a.yml, line 2: found "),
        ("a: !!python/name:os.system\n", "a.yml, line 1: could not determine a constructor for the tag"),
        ("[" * 5000, "a.yml"),
    ],
)
def test_what_would_be_misread_is_refused(text, says):
    with pytest.raises(LedgerError) as error:
        parsed(text, "a.yml")
    assert str(error.value).startswith(says)


@pytest.mark.parametrize("text", ["0", "-7", "1_000", "0.5", "-1.5e+3", "12", "100"])
def test_usual_numbers_are_numbers(text):
    assert parsed(text, "a.yml") == float(text)


def test_lines_are_those_of_the_nearest_thing_that_is_there(tmp_path):
    path = tmp_path / "a.yml"
    path.write_text("a:\n  b:\n    - c: 1\n    - d: 2\n")
    assert place(path, "a", "b", 1, "d") == place(path, "a", "b", 1, "missing") == "a.yml, line 4"
    assert place(path, "a", "nothing") == "a.yml, line 1"
    assert place(tmp_path / "none.yml", "a") == "none.yml"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a: caf\xe9\n", "a.yml, line 1: the byte 0xe9 is not UTF-8"),
        (b"a: x\nb: 1\n", "a.yml, line 1: a: input should be a valid integer"),
        (b"", "a.yml, line 1: is empty; allowed: a mapping of numbers"),
        (b"- 1\n", "a.yml, line 1: [1] is not allowed here; allowed: a mapping of numbers"),
    ],
)
def test_a_file_that_is_refused(tmp_path, content, says):
    path = tmp_path / "a.yml"
    path.write_bytes(content)
    with pytest.raises(LedgerError) as error:
        read(path, TypeAdapter(dict[str, int]), "a mapping of numbers")
    assert str(error.value).startswith(says)
    with pytest.raises(LedgerError, match=r"^none\.yml: cannot be read: No such file"):
        load(tmp_path / "none.yml")
