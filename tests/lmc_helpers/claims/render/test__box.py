"""The box of a part: every kind of statement and of run, links, a scale that can be heard, details."""

import re
from dataclasses import asdict
from html import unescape
from xml.etree import ElementTree

import pytest
from oracles.ledger import BASE, CORRECTED, SAMPLED, SHARPER, parse_part

from lmc_helpers.claims.judge import judge
from lmc_helpers.claims.render import Links, html, scale
from lmc_helpers.claims.render.words import Result

RUN = {"changed": [], "commit": "c" * 40, "seeds": "c" * 40, "date": "2026-01-02", "device": "CPU, 1 thread(s)"}


def test_each_row_has_its_key():
    part = parse_part("T1.a", CORRECTED)
    record = asdict(judge(part, 3.0, n=1))
    rows = ElementTree.fromstring(html(part, record, record | RUN, run="laptop")).find("ul") or ()
    keys = [row[0].get("class").removeprefix("lmc-key lmc-key-") for row in rows]
    assert keys == ["band lmc-band-stated", "band lmc-band-corrected", "dot", "diamond"]
    names = [" ".join("".join(row[1].itertext()).split()) for row in rows]
    assert names[2:] == ["this run (laptop)", f"recorded run, paper scale commit {'c' * 10}, seeds from it"]
    assert [row[3].text for row in rows][2] == "outside what is stated, inside the corrected statement"


def test_a_scale_says_what_it_shows():
    part = parse_part("T1.a", SAMPLED)
    record = asdict(judge(part, 2.0, stderr=0.0123, n=10))
    svg = ElementTree.fromstring(scale(part, record))
    run = "this run: 2.000 (s.e. 0.012), tested 1.960 to 2.040, inside what is stated"
    assert svg.get("aria-label") == f"Scale: stated 1.9 to 2.1; {run}; rival 2.5"
    nothing = asdict(judge(part, 2.0, stderr=0.0123, n=0))
    assert "no value" in ElementTree.fromstring(scale(part, nothing)).get("aria-label")


def test_details_are_those_that_there_are():
    part = parse_part("T1.a", SAMPLED | {"min_samples": 5, "one_of": "x"})
    record = asdict(judge(part, 9.0, stderr=0.1, n=10, second_seed=lambda: (9.0, 0.1)))
    images = {"data": "This run uses <MNIST>. As another data set: this run uses CIFAR-10, from other files."}
    tree = ElementTree.fromstring(html(part, record, record | RUN | images | {"n": 12000}))
    listed = dict(zip((e.text for e in tree.iter("dt")), ("".join(e.itertext()) for e in tree.iter("dd")), strict=True))
    assert listed == {
        "Rival": "2.5: five halves",
        "Samples": "n = 10 here, 12\u202f000 at paper scale; decided from 5 on",
        "Error": (
            "s.e. is one standard error, widened where few groups were sampled; tested is the interval of 3.29 of "
            "them to both sides (two-sided 10⁻³), half of which follows ± in the first line"
        ),
        "Second seed": "it rejects too",
        "Readings": "one of several of this statement; the best of them counts",
        "Weight": "a result of the paper",
        "Recorded": "2026-01-02, CPU, 1 thread; seeds from the commit that fixed the criteria",
        "Images at paper scale": "<MNIST>. As another data set: CIFAR-10, from other files.",
    }
    ours = parse_part("T1.a", BASE | {"whose": "ours"})
    tree = ElementTree.fromstring(html(ours, asdict(judge(ours, 2.0, n=1))))
    assert "a result of this book, not counted" in "".join(tree.itertext())


def test_rounding_errors_of_other_machines_are_drawn_alike():
    part = parse_part("T1.a", BASE | {"criterion": {"at_most": 1e-9}, "rival": {"value": 0.1, "says": "a tenth"}})
    there, here, larger = (asdict(judge(part, value, n=1)) for value in (1.1e-16, 7e-15, 3e-6))
    assert scale(part, there) == scale(part, here) != scale(part, larger)
    assert 0 < Result(part, there).drawn[0] < 1e-9  # inside the criterion
    part = parse_part("T1.a", BASE | {"criterion": {"at_most": 1e-14}, "rival": {"value": 0.1, "says": "a tenth"}})
    inside, outside = (asdict(judge(part, value, n=1)) for value in (1e-15, 1e-13))
    assert scale(part, inside) != scale(part, outside)


def words_of(shown: str) -> str:
    return " ".join("".join(ElementTree.fromstring(shown).itertext()).split())


def box(entry: dict, value: float = 2.0, id: str = "Z1.a", confirmed: dict | None = None, **more) -> str:
    part = parse_part(id, entry)
    record = asdict(judge(part, value, **({"n": 9} | more)))
    return html(part, record, confirmed and record | RUN | {"seeds": "5" * 40} | confirmed)


READ = {"whose": "reading", "reading": "as the mean"}
OURS = {"whose": "ours", "expected": "open", "reason": "r"}


def test_the_first_line_says_whose_statement_it_is():
    line = "✓ it is two measured 2 allowed = 2 ± 0.1 "
    assert words_of(box(BASE)).startswith(f"{line}Zhan, Li & Wu, eq. (1) ✓ holds")
    assert words_of(box(BASE | READ)).startswith(f"{line}Zhan, Li & Wu, eq. (1), as we read it: as the mean. ✓ holds")
    ours = words_of(box(BASE | OURS))
    assert ours.startswith(f"{line}This book ✓ holds") and "our criterion" in ours
    assert "printed" not in ours and "as stated" not in ours


def test_what_holds_instead_or_beyond_is_said_with_its_proof():
    links = Links(anchor="claim-T1-a", address={"thm": ("#thm", "Theorem “Three”")}.get)
    part = parse_part("T1.a", CORRECTED)
    shown = html(part, asdict(judge(part, 3.0, n=1)), links=links)
    assert "<b>What holds instead:</b> three" in shown and 'Proof: <a href="#thm">Theorem “Three”</a>' in shown
    assert "What holds instead" not in html(part, asdict(judge(part, 2.0, n=1)), links=links)
    assert "More is true: it is two to a hundredth" in words_of(box(SHARPER))


def test_both_runs_stand_in_one_box():
    entry = BASE | {"sampled": True}
    decided = {"verdict": "holds", "value": 2.0, "stderr": 0.001, "low": 1.9967, "high": 2.0033, "place": "inside"}
    shown = box(entry, 2.1, stderr=0.1, confirmed=decided)
    said = words_of(shown)
    assert "✓ holds at paper scale ? open in this run" in said
    assert "touches the border of what is stated: not decided" in said
    assert f"recorded run, paper scale commit {'c' * 10}, seeds from {'5' * 10} 2.0000 (s.e. 0.0010), tested" in said
    assert shown.startswith('<details class="lmc-claim lmc-holds"')
    assert shown.count("lmc-mark ") == 2 and "<circle" in shown and "<path" in shown


def test_a_record_out_of_date_gives_no_verdict():
    shown = box(BASE, confirmed={"verdict": "fails", "value": 9.0, "changed": ["criterion"]})
    said = words_of(shown)
    assert "out of date, changed since: criterion" in said and "fails" not in said
    assert shown.startswith('<details class="lmc-claim lmc-holds"') and shown.count("lmc-mark ") == 1
    old = {"seeds": "", "stderr": None, "low": None, "high": None, "changed": ["criterion"]}
    assert f"at paper scale commit {'c' * 10} 2 out of date" in words_of(box(BASE, confirmed=old))


def test_a_closed_box_is_its_line_and_formulas_are_where_mathjax_looks():
    part = parse_part("T1.a", BASE)
    for closed in (True, False):
        shown = html(part, asdict(judge(part, 2.0, n=1)), links=Links(closed=closed))
        tree = ElementTree.fromstring(shown)
        assert tree.tag == "details" and tree[0].tag == "summary" and (tree.get("open") is None) == closed
    shown = ElementTree.fromstring(box(BASE | {"statement": "$x < 2$", "criterion": {"equals": 2, "tolerance": 0.1}}))
    places = [e for e in shown.iter() if r"\(" in "".join(e.itertext()) and "mathjax_process" in e.get("class", "")]
    assert places and r"\(x < 2\)" in "".join(places[0].itertext())


def test_what_was_not_run_shows_no_number():
    said = words_of(box(BASE, 12345.0, n=0))
    assert "the run met nothing to measure" in said and "12345" not in said and "12\u202f345" not in said
    assert "? open" in said


def test_links_lead_where_they_are_told():
    links = Links("claim-T1-a", "../s.html#score-T1-a", "../errata/T.html#erratum-T1-a", "../verdicts.html")
    part = parse_part("T1.a", BASE)
    tree = ElementTree.fromstring(html(part, asdict(judge(part, 2.0, n=1)), links=links))
    assert tree.get("id") == "claim-T1-a"
    found = {a.text or a[0].text: a.get("href") for a in tree.iter("a")}
    assert found == {"T1.a": links.row, "erratum": links.erratum, "¶": "#claim-T1-a", "?": links.grammar}
    bare = ElementTree.fromstring(box(BASE))
    assert bare.get("id") is None and not list(bare.iter("a"))


def test_a_box_says_what_was_changed_after_a_measurement():
    stood = {"criterion": {"equals": 2, "tolerance": 0.05}, "whose": "ours"}
    part = parse_part("T1.a", BASE | {"revised": {"from": stood, "why": "the print says “near”"}})
    box = html(part, asdict(judge(part, 2.0, n=1)))
    before = "Changed after a measurement, before: = 2 ± 0.05; as the book's own. Why: the print says “near”."
    assert before in unescape(re.sub("<[^>]+>", "", box))
    assert "Changed" not in html(parse_part("T1.a", BASE), asdict(judge(part, 2.0, n=1)))


@pytest.mark.parametrize(("epochs", "label"), [(20, "in a smaller run"), (100, "measured")])
def test_a_value_of_a_run_that_is_too_small_to_judge_is_labelled_so(epochs, label):
    part = parse_part("T1.a", BASE | {"needs": {"epochs": 100}})
    box = html(part, asdict(judge(part, 2.0, n=1, used={"epochs": epochs})))
    assert re.search(r"<small>(.+?)</small> 2\b", box)[1] == label
