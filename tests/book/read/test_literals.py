"""Parameters from the command line: what words are read as; what chapters refuse is in test_failures.py."""

from book.tools.read import literals

READ = {"3": 3, "-1e-3": -1e-3, "true": True, "relu": "relu", "[1, 2]": [1, 2], "null": None, "'3'": "3"}


def test_words_become_values():
    found = {text: literals.literal("x", text) for text in READ}
    assert found == READ and list(map(type, found.values())) == list(map(type, READ.values()))
    given = [["layer", "0"], ["model", "true"], ["steps", "2"]]
    assert literals.given("63_your_networks", given) == {"layer": "0", "model": "true", "steps": 2}
