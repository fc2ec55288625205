"""Barriers of two networks on a page of HTML: python -m lmc_helpers compare my.nets:make a.pt b.pt val.npz.

FACTORY makes the network, without arguments; A and B are files of its weights, .pt, .npz or .safetensors, read without
running code. DATA is a file with arrays x and y, or with arrays by the names of forward's arguments and y, or a
function that gives a DataLoader, package.module:function. Modules of the working directory can be imported.
"""

import argparse
import contextlib
import sys
import warnings
from pathlib import Path

import lmc_helpers as lmc
from lmc_helpers.files import atomic_write
from lmc_helpers.modules import checkpoints


def compare(factory: str, a: str, b: str, data: str, out: str, loss: str, groups: str, seconds: float | None) -> None:
    """Print the report of a pair, and write its page."""
    net_a, net_b = (checkpoints.with_weights(factory, path) for path in (a, b))
    given = checkpoints.examples(data, loss), checkpoints.objective(loss), checkpoints.groups(groups)
    with lmc.limit(seconds) if seconds is not None else contextlib.nullcontext():
        report = lmc.compare(net_a, net_b, given[1], given[0], symmetry=given[2])
    print(report)
    if out:
        atomic_write(Path(out), report.html(f"{a} and {b}"))


def main(words: list[str] | None = None) -> int:
    """Run a command; the exit status."""
    parser = argparse.ArgumentParser("python -m lmc_helpers", description="Two networks of one architecture.")
    one = parser.add_subparsers(required=True, metavar="compare").add_parser(
        "compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("factory", "a", "b", "data"):
        one.add_argument(name, metavar=name.upper())
    one.add_argument("--out", default="", metavar="FILE", help="the page, with a figure; for this Matplotlib is needed")
    one.add_argument(
        "--loss", default="cross_entropy", help="of torch.nn.functional, mse, or module:name (%(default)s)"
    )
    one.add_argument("--groups", default="", metavar="MODULE:NAME", help="an lmc.Symmetry written by hand")
    one.add_argument("--seconds", type=float, help="a limit of time")
    warnings.simplefilter("ignore", UserWarning)  # the report says what is left alone
    try:
        compare(**vars(parser.parse_args(words)))
    except (ValueError, TypeError, ImportError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
