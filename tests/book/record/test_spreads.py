"""The statistics page: what it says of sweeps that were recorded, that are out of date, or that were not made."""

import pytest

from book.tools.read import sources
from book.tools.record import records
from book.tools.record import spreads as repeats
from book.tools.record.measured import Measured
from book.tools.record.repeats import Chapter, Record, Run, bases
from book.tools.render import pages
from lmc_helpers import claims

CHAPTER = "12_overlap_theorem"
COMMIT = 40 * "a"


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "RECORDED", tmp_path)
    return tmp_path


def chapter(verdicts, variants, **changed):
    ran = {"seed": 1, "seconds": 1.0, "commit": "bbbb", "date": "2026-01-01", "device": "CPU", "machine": "x86_64"}
    id = "Z3.exact"
    part = claims.part(id)
    value = {"value": 0.0, "stderr": 1e-4, "low": -3e-4, "high": 3e-4, "n": part.min_samples, "place_sharper": None}
    runs = [
        Run(variant=variant, python="3.12.1", versions={}, measured={id: Measured(verdict=verdict, **value)}, **ran)
        for variant, verdict in zip(variants, verdicts, strict=True)
    ]
    return Chapter(**{"bases": bases(CHAPTER, "smoke", sources.Sources()), "runs": runs, **changed})


def page() -> str:
    known = repeats.content([{"python": "3.11.7"}])
    return pages.environment().get_template("sweeps.md").render(known)


def test_without_a_record_the_page_says_so(recorded):
    text = page()
    assert "No sweep is recorded." in text and "No run in other settings is recorded." in text
    assert "| 3.11 | chapters, 3.11.7 |" in text and "| 3.13 | not tested |" in text
    record, written = Record("sweep", "smoke"), {CHAPTER: chapter(["holds", "open"], [f"{COMMIT}.1", f"{COMMIT}.2"])}
    record.write(written)
    assert record.read() == written


def test_a_sweep_with_its_provenance_and_contradictions(recorded):
    seeds = [f"{COMMIT}.1", f"{COMMIT}.2"]
    Record("sweep", "smoke").write({CHAPTER: chapter(["holds", "fails"], seeds)})
    text = page()
    assert "| {claim}`Z3.exact` | holds 1/2, fails 1/2 | 0 | 0 |" in text and "**decided differently**" in text
    assert f"- Z3.exact ({CHAPTER}) is decided differently".replace("_", "\\_") in text
    assert "| 2 | `aaaaaaaaaa` | `bbbb` | 2026-01-01 |" in text and "Out of date" not in text
    assert "| 3.12 | chapters, 3.12.1 |" in text
    Record("sweep", "smoke").write({CHAPTER: chapter(["holds", "holds"], seeds, bases={})})
    assert "**Out of date** for 1 of 1 chapter: code" in page()


def test_settings_stand_in_a_table(recorded):
    variants = ["", "@two_threads", "@four_threads"]
    Record("machines", "smoke").write({CHAPTER: chapter(["holds", "holds", "fails"], variants)})
    text = page()
    assert "| 2 threads | 1 | 1 | none | none | none | none |" in text
    assert "| 4 threads | 1 | 0 | {claim}`Z3.exact` | none |" in text
    folded = text.split("## Other machines")[1].partition("<summary>The runs</summary>")[2].partition("</details>")[0]
    assert "| 3 | 2 threads, 4 threads | `bbbb` |" in folded
    found = chapter(["holds", "holds"], ["", "@four_threads"])
    measured = found.runs[1].measured
    measured["Z3.exact"] = measured["Z3.exact"].model_copy(update={"value": 2e-4})
    Record("machines", "smoke").write({CHAPTER: found})
    half = 6e-4 / (2 * 3.2905267314919255)  # of an interval at two-sided 10⁻³
    once = f"{{claim}}`Z3.exact` ({2e-4 / half:.2f})"
    assert f"| 1 | 1 | none | none | {once} | {once} |" in page()
