"""What is no YAML is refused, and every refusal names the line."""

import pytest
from pydantic import TypeAdapter

from lmc_helpers.claims.intervals import LedgerError
from lmc_helpers.claims.yaml_files import load, parsed, place, read


def test_yaml_1_2():
    text = "a: 010\nb: 1:30\nc: yes\nd: 1e-3\ne: true\nf: ~\n"
    assert parsed(text, "a.yml") == {"a": 10, "b": "1:30", "c": "yes", "d": 1e-3, "e": True, "f": None}
    assert [parsed(text, "a.yml") for text in ("0", "-7", "1_000", "0.5", "-1.5e+3")] == [0, -7, 1000, 0.5, -1500]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: {c: 1, c: 2}\n", "a.yml, line 2: found duplicate key"),
        ("a: 1\n\tb: 2\n", "a.yml, line 2: found "),
        ("a: 1\nb: a\x07b\n", "a.yml, line 2: the character 0x7 is not allowed in YAML"),
        ("a: !!python/name:os.system\n", "a.yml, line 1: could not determine a constructor for the tag"),
        ("[" * 1500, "a.yml"),
    ],
)
def test_what_is_no_yaml_is_refused(text, says):
    with pytest.raises(LedgerError) as error:
        parsed(text, "a.yml")
    assert str(error.value).startswith(says)


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
