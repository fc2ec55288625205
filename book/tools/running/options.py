"""Options that sweeps over seeds and over settings share: which chapters, at which profile, and where they run."""

from __future__ import annotations

import argparse
import os
from typing import Any

from book.tools.base import chapters


def add(parser: argparse.ArgumentParser) -> None:
    """Let a command line take them."""
    parser.add_argument("chapters", nargs="*", help="names, with or without numbers (default: all)")
    parser.add_argument("--profile", default="smoke", help="smoke, laptop or paper (default: smoke)")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--executor", default="local", help="local or slurm (default: local)")
    parser.add_argument("--executor-args", default="", metavar="WORDS", help="arguments of Snakemake's for a cluster")


def chosen(given: argparse.Namespace) -> list[str]:
    """The chapters that are named, all if there is none."""
    return sorted({chapters.find(name) for name in given.chapters}) or chapters.chapters()


def where(given: argparse.Namespace) -> dict[str, Any]:
    """Where they run, as :func:`book.tools.build.build` takes it."""
    return {"cores": given.cores, "executor": given.executor, "executor_args": given.executor_args}
