"""The list of training runs: a chapter's header names a function, which is called with the chapter's parameters."""

import re
import subprocess
import sys
import types
from dataclasses import asdict, dataclass, replace

import pytest
import torch
from small_book import FIRST

from book.tools.read import chapters, profiles
from book.tools.read.chapters import BuildError
from book.tools.run import listing, variants
from book.tools.run.jobs import Job, as_job
from lmc_helpers.data import images


class Some:
    digest, title = "0123456789abcdef", "some"

    def path(self): ...

    def done(self): ...

    def resources(self): ...

    def prices(self): ...

    def result(self, show_progress=False): ...


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    """One chapter of a header and parameters; its runs from a function of the test's own."""
    monkeypatch.setattr(chapters, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(profiles, "parameters", lambda name, profile: {"profile": profile, "width": 8})
    module = types.ModuleType("lmc_helpers.toys")
    monkeypatch.setitem(sys.modules, "lmc_helpers.toys", module)

    def make(function=None, header="lmc_helpers.toys.runs"):
        if function is not None:
            module.runs = function
        (tmp_path / "51_widths.py").write_text(
            f"# ---\n# jupyter:\n#   lmc: {{runs: {header}}}\n# ---\n\n# %% [markdown]\n# # Widths\n"
            '\n# %% tags=["hide-input", "parameters"]\nwidth: int = 4  # neurons\nseed: int = (\n    7\n)\n'
            "# %%\nwidth = 1"
        )
        return "51_widths"

    return make


def test_dataclasses_and_functions_are_given_the_parameters_that_they_name(chapter):
    @dataclass(frozen=True)
    class Parameters:
        width: int
        seed: int
        more: int = 3

        def runs(self):
            assert (self.width, self.seed, self.more) == (8, 7, 3)
            return [Some()]

    assert [run.title for run in listing.runs(chapter(Parameters), "smoke")] == ["some"]
    called = []
    name = chapter(lambda width, seed, more=3: called.append((width, seed, more)) or [Some(), Some()])
    assert [run.title for run in listing.runs(name, "smoke")] == ["some"]  # one digest, one run
    listing.runs(name, "smoke", seeds="825a4ae")
    assert called == [(8, 7, 3), (8, variants.seed("825a4ae", name), 3)]  # the profile's width, the commit's seed
    assert listing.parameters(name, "smoke") == {"width": 8, "seed": 7, "profile": "smoke"}
    with pytest.raises(BuildError, match=r"51_widths: lmc_helpers.nothing.runs, named in its header, does not exist"):
        listing.runs(chapter(header="lmc_helpers.nothing.runs"), "smoke")


WHERE = "chapter 51_widths: lmc_helpers.toys.runs"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda widht: [], f"{WHERE} wants 'widht', no parameter of the chapter; it has: width, seed, profile"),
        (lambda: Some(), f"{WHERE} returned a Some and no list of runs"),
        (lambda: [Some(), 3], f"{WHERE} returned a list with 3, which is not a run"),
        (lambda: [1 / 0], f"{WHERE} failed: ZeroDivisionError: division by zero"),
        (3, f"{WHERE}, named in its header, is a int and no function"),
        (None, f"{WHERE}, named in its header, does not exist: module 'lmc_helpers.toys' has no attribute 'runs'"),
    ],
)
def test_a_function_that_gives_no_runs_is_named(chapter, function, message):
    with pytest.raises(BuildError, match=re.escape(message)):
        listing.runs(chapter(function), "smoke")


def test_short_runs_are_left_to_their_chapter_and_a_list_of_another_version_is_made_anew():
    short, long = (Job("0", "t", "p", 1, 1, 1, minutes, False, (FIRST,)) for minutes in (0.1, 2.0))
    assert listing._is_worth_it(short) and listing._is_worth_it(long)
    assert not listing._is_worth_it(replace(short, needs=("q",))) and listing._is_worth_it(replace(long, needs=("q",)))
    assert listing._is_worth_it(replace(short, core_minutes=0.5, needs=("q",)))  # 30 s
    assert listing.jobs("smoke", "@two_threads") == {}  # a setting trains in the chapter
    job = Job("0", "t", "p", 1, 1, 1, 1.0, False, (FIRST,))
    assert listing._fits({"key": "k", "runs": [asdict(job)]}, "k")
    newer = asdict(job) | {"priority": 3}
    for entry in ({"key": "k", "runs": [newer]}, {"key": "k"}, {"key": "k", "runs": [3]}, [], None, {}):
        assert not listing._fits(entry, "k")


@pytest.mark.parametrize(
    ("unverified", "given", "folder"),
    [("1", None, "build/runs-unverified"), ("1", "mine", "mine"), *((one, None, "build/runs") for one in ("0", None))],
)
def test_networks_on_unverified_files_lie_apart(monkeypatch, unverified, given, folder):
    for name, value in (("LMC_DATA_UNVERIFIED", unverified), ("LMC_RUNS", given)):
        monkeypatch.setenv(name, "x")  # what stood there comes back, also where nothing did
        monkeypatch.delenv(name)
        if value is not None:
            monkeypatch.setenv(name, value)
    chapters.separate_unverified_runs()
    assert listing.folder() == (chapters.ROOT / folder if folder.startswith("build") else chapters.Path(folder))


def test_a_result_that_comes_to_lie_with_the_book_is_seen(tmp_path, monkeypatch):
    known = types.SimpleNamespace(modules=lambda chapter: {"a.b": None}, sums_behind=lambda module: {})
    monkeypatch.setattr(listing, "RECORDED", tmp_path / "runs")
    before = listing._key("a.b.runs", "51_widths", {}, known)
    assert listing._key("a.b.runs", "51_widths", {}, known) == before
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "0123456789abcdef.npz").touch()
    assert listing._key("a.b.runs", "51_widths", {}, known) != before


def test_a_download_of_another_process_changes_no_list(tmp_path, monkeypatch):
    monkeypatch.setenv("LMC_DATA", str(tmp_path))
    (tmp_path / "mnist").mkdir()
    before = listing._data()
    for name in ("tmpab12cd34", "train-images.gz.part", "train-images.gz.lock"):
        (tmp_path / "mnist" / name).touch()
    assert listing._data() == before
    (tmp_path / "mnist" / "train-images.gz").touch()
    assert listing._data() == [("mnist/train-images.gz", 0), *before]


@pytest.mark.parametrize("here", [True, False], ids=["all data sets", "digits only"])
@pytest.mark.parametrize("profile", ["smoke", "laptop", "paper"])
def test_every_run_of_the_book_has_its_price(monkeypatch, profile, here):
    def whole(name):
        if name == "digits":
            return digits
        if not here:
            raise images.DataError(name, "not here", "put it there")
        shape, y = (60_000, 1, 28, 28) if name == "mnist" else (50_000, 3, 32, 32), torch.arange(60_000) % 10
        x = torch.arange(256, dtype=torch.uint8)[y].reshape(-1, 1, 1, 1).expand(-1, *shape[1:])[: shape[0]]
        return images._DataSet({"train": (x, y[: shape[0]]), "test": (x[:10_000], y[:10_000])}, (), moments, moments)

    moments = torch.full((1,), 0.5)
    digits = images._data_set("digits")

    monkeypatch.setattr(images, "_data_set", whole)
    jobs = [as_job(run, name) for name in chapters.chapters() for run in listing.runs(name, profile)]
    assert len(jobs) > 30 and all(job.core_minutes > 0 and job.memory_mib > 0 for job in jobs)
    assert here or not any("mnist" in job.title or "cifar" in job.title for job in jobs)


def test_what_only_reads_starts_without_torch(root):
    """It takes seconds to import: for the tools, and for a chapter that does not compute with it."""
    program = """
import sys
import book.__main__
from book.tools.record import execute
from book.tools.render import book as whole
from book.tools.run import runs
from lmc_helpers import chapter, claims

chapter.validate({"M": 6}, {"M": chapter.Integer(1, 100)})
sys.exit("torch" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], cwd=root, timeout=60).returncode == 0
