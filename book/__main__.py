"""The commands of the book: one parser, one start-up; the module of a verb is imported when it is called."""

import argparse
import os
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

from book.tools.read import chapters, stopping
from book.tools.read.chapters import ROOT

HTML = ROOT / "build" / "book" / "_build" / "html"
ONE = {"help": "name, with or without its number"}
#: Options of several verbs; what a verb says of one in VERBS is its own.
OPTIONS: dict[str, dict[str, Any]] = {
    "names": {"nargs": "*", "metavar": "CHAPTER", "help": "names, with or without numbers (default: all)"},
    "--profile": {"default": "laptop", "help": "smoke, laptop or paper (default: %(default)s)"},
    "--cores": {"type": int, "default": os.cpu_count() or 1},
    "--executor": {"default": "local", "help": "local or slurm (default: local)"},
    "--executor-args": {"default": "", "metavar": "WORDS", "help": "arguments of Snakemake's for a cluster"},
    "--commit": {"help": "an ancestor that states the same (default: the present commit)"},
    "--html": {"type": Path, "default": HTML, "help": "the built book"},
    "--out": {"type": Path, "default": ROOT / "build" / "book", "help": "where the pages go"},
    "--quiet": {"action": "store_true", "help": "no progress bar"},
}
#: Verb → its module below book/tools, where a function of that name takes the options; its meaning; its options.
VERBS: dict[str, tuple[str, str, dict[str, dict[str, Any]]]] = {
    "build": (
        "render.book",
        "Build the book from executed notebooks, or what it is made of.",
        {
            **{option: {} for option in ("--profile", "--out", "--cores", "--executor", "--executor-args")},
            "--target": {"choices": ("book", "executed", "trained"), "default": "book"},
            "--fork": {
                "action": argparse.BooleanOptionalAction,
                "help": "fork the chapters' processes from one that has imported everything (default: if many)",
            },
        },
    ),
    "check": ("render.book", "Check every file that people edit.", {}),
    "execute": (
        "record.execute",
        "Execute one chapter with papermill.",
        {
            "chapter": ONE,
            "--profile": {},
            "-p": {"dest": "given", "nargs": 2, "action": "append", "default": [], "metavar": ("NAME", "VALUE")},
            "--output": {"type": Path, "help": "default: build/chapters/NAME.ipynb"},
            "--seeds": {"metavar": "VARIANT", "help": "a commit's id, one with .NUMBER, or @ and a setting's name"},
            "--quiet": {},
        },
    ),
    "runs": (
        "run.runs",
        "List the chapters' training runs, or train one.",
        {
            "chapter": ONE | {"nargs": "?"},
            "--profile": {},
            "--run": {"metavar": "DIGEST", "help": "train this run of the chapter; by default all are listed"},
            "--seeds": {"default": "", "metavar": "COMMIT", "help": "seeds from this commit's id (or COMMIT.NUMBER)"},
            "--quiet": {},
        },
    ),
    "assemble": ("render.assemble", "Build the pages from executed chapters.", {"--profile": {}, "--out": {}}),
    "page": ("render.assemble", "Build the pages of one executed chapter.", {"chapter": ONE, "--profile": {}}),
    "archive": (
        "render.archive",
        "Put a built book into one file.",
        {"--profile": {}, "--html": {}, "--out": {"default": None, "help": "default: build/lmc-VERSION-PROFILE.zip"}},
    ),
    "reports": (
        "render.reports",
        "Print the reports of a built book as PDF.",
        {
            "--html": {},
            "--out": {"default": ROOT / "build" / "reports", "help": "the folder of the PDF files"},
            "--paper": {"default": "?", "help": "the letter of one paper"},
        },
    ),
    "compare": (
        "record.compare",
        "Compare the numbers of two executed books.",
        {
            "old": {"type": Path, "help": "folder of executed notebooks"},
            "new": {"type": Path, "help": "another one"},
            "names": {},
            "--tolerance": {"type": float, "default": 1e-9},
        },
    ),
    "reference": (
        "record.reference",
        "Store what chapters measure in cheap runs.",
        {
            "--profile": {"choices": ("smoke", "laptop"), "default": "smoke", "help": None},
            "--check": {"action": "store_true", "help": "compare with what is stored at laptop, and store nothing"},
        },
    ),
    "validate": (
        "record.validate",
        "Execute chapters and compare them with what is stored of them, without pages.",
        {
            "names": {},
            "--since": {"metavar": "COMMIT", "help": "the chapters that a change since then concerns"},
            "--profile": {
                "choices": ("smoke", "laptop"),
                "default": "smoke",
                "help": "smoke compares all outputs, laptop the numbers that records rest on (default: smoke)",
            },
            "--cores": {},
        },
    ),
    "confirm": (
        "record.confirm",
        "Run chapters with seeds from a commit's id.",
        {
            **{option: {} for option in ("names", "--commit", "--cores")},
            "--profile": {"default": "paper"},
            "--later": {
                "nargs": "+",
                "default": [],
                "metavar": "NAME",
                "help": "changed since: chapter.parameter, part",
            },
            "--spot": {"type": Fraction, "metavar": "SHARE", "help": "run 1/3, say, of what is recorded again"},
            "--anew": {"action": "store_true", "help": "judge records whose criterion alone has changed; no run"},
        },
    ),
    "repeat": (
        "record.repeat",
        "Run chapters again, with other seeds or in other settings, and compare.",
        {
            **{option: {} for option in ("names", "--commit", "--cores", "--executor", "--executor-args")},
            "--profile": {"default": "smoke"},
            "--seeds": {"type": int, "default": 10, "help": "how many other seeds (default: 10)"},
            "--settings": {"nargs": "+", "metavar": "NAME", "help": "of book/settings.yml, or all"},
        },
    ),
    "schemas": ("record.schemas", "Write the JSON Schemas of the ledger and of the profiles from their models.", {}),
    "lock": (
        "read.lock",
        "Print the packages that a set-up installs together.",
        {"part": {"choices": ("first", "rest", "torch")}},
    ),
}
FORKED = ("execute", "runs")  # in a build, by its forkserver
SAYS = dict.fromkeys(("execute", "archive", "check", "compare"), "stopped; nothing half-done is left")
SAYS["runs"] = "stopped; a run that had begun is taken up where it was last kept"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m book", description=__doc__)
    verbs = made.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, (_, says, options) in VERBS.items():
        one = verbs.add_parser(verb, help=says, description=says)
        for option, own in options.items():
            one.add_argument(option, **OPTIONS.get(option, {}) | own)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Carry out a verb; the exit status."""
    given = vars(parser().parse_args(arguments))
    verb = given.pop("verb")
    chapters.tolerate_terminal_encoding()
    chapters.separate_unverified_runs()
    return stopping.status(lambda: getattr(import_module(f"book.tools.{VERBS[verb][0]}"), verb)(**given))


if __name__ == "__main__":
    called = next(iter(sys.argv[1:]), "")
    stopping.watch(SAYS.get(called, stopping.KEPT))  # before what takes a while to import
    if called in FORKED:
        from book.tools.run import forkserver

        forkserver.ask()
    sys.exit(main())
