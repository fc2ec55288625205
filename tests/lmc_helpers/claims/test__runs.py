"""What a box shows of its runs: rows with keys, a scale that can be heard, details."""

from dataclasses import asdict
from xml.etree import ElementTree

from oracles.ledger import BASE, CORRECTED, SAMPLED, parse_part

from lmc_helpers.claims import _runs, words
from lmc_helpers.claims.judge import judge

RUN = {"changed": [], "commit": "c" * 40, "seeds": "c" * 40, "date": "2026-01-02", "device": "CPU, 1 thread(s)"}


def test_each_row_has_its_key():
    part = parse_part("T1.a", CORRECTED)
    record = asdict(judge(part, 3.0, n=1))
    rows = ElementTree.fromstring(_runs.rows(part, record, record | RUN, "laptop"))
    keys = [row[0].get("class").removeprefix("lmc-key lmc-key-") for row in rows]
    assert keys == ["band lmc-band-stated", "band lmc-band-corrected", "dot", "diamond"]
    names = [" ".join("".join(row[1].itertext()).split()) for row in rows]
    assert names[2:] == ["this run (laptop)", f"recorded run, paper scale commit {'c' * 10}, seeds from it"]
    assert [row[3].text for row in rows][2] == "outside what is stated, inside the corrected statement"


def test_a_scale_says_what_it_shows():
    part = parse_part("T1.a", SAMPLED)
    record = asdict(judge(part, 2.0, stderr=0.0123, n=10))
    svg = ElementTree.fromstring(_runs.drawn(part, record))
    run = "this run: 2.000 ± 0.012, tested 1.960 to 2.040, inside what is stated"
    assert svg.get("aria-label") == f"Scale: stated 1.9 to 2.1; {run}; rival 2.5"
    nothing = asdict(judge(part, 2.0, stderr=0.0123, n=0))
    assert "nothing was measured at this scale" in ElementTree.fromstring(_runs.drawn(part, nothing)).get("aria-label")


def test_details_are_those_that_there_are():
    part = parse_part("T1.a", SAMPLED | {"min_samples": 5, "one_of": "x"})
    record = asdict(judge(part, 9.0, stderr=0.1, n=10, second_seed=lambda: (9.0, 0.1)))
    images = {"data": "This run uses <MNIST>. As another data set: this run uses CIFAR-10, from other files."}
    tree = ElementTree.fromstring(_runs.details(part, record, record | RUN | images | {"n": 12000}))
    listed = dict(zip((e.text for e in tree.iter("dt")), ("".join(e.itertext()) for e in tree.iter("dd")), strict=True))
    assert listed == {
        "Rival": "2.5: five halves",
        "Samples": "n = 10 here, 12\u202f000 at paper scale; decided from 5 on",
        "Error": (
            "± is half the tested interval in the first line, and one standard error below it, widened where few "
            "groups were sampled; tested is the interval of 3.29 of them to both sides (two-sided 10⁻³)"
        ),
        "Second seed": "it rejects too",
        "Readings": "one of several of this statement; the best of them counts",
        "Weight": "a result of the paper",
        "Recorded": "2026-01-02, CPU, 1 thread; seeds from the commit that fixed the criteria",
        "Images at paper scale": "<MNIST>. As another data set: CIFAR-10, from other files.",
    }
    ours = parse_part("T1.a", BASE | {"whose": "ours"})
    tree = ElementTree.fromstring(_runs.details(ours, asdict(judge(ours, 2.0, n=1)), None))
    assert "a result of this book, not counted" in "".join(tree.itertext())


def test_rounding_errors_of_other_machines_are_drawn_alike():
    part = parse_part("T1.a", BASE | {"criterion": {"at_most": 1e-9}, "rival": {"value": 0.1, "says": "a tenth"}})
    there, here, larger = (asdict(judge(part, value, n=1)) for value in (1.1e-16, 7e-15, 3e-6))
    assert _runs.drawn(part, there) == _runs.drawn(part, here) != _runs.drawn(part, larger)
    assert 0 < words.drawn(part, there)[0] < 1e-9  # inside the criterion
    part = parse_part("T1.a", BASE | {"criterion": {"at_most": 1e-14}, "rival": {"value": 0.1, "says": "a tenth"}})
    inside, outside = (asdict(judge(part, value, n=1)) for value in (1e-15, 1e-13))
    assert _runs.drawn(part, inside) != _runs.drawn(part, outside)
