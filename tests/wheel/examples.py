"""The five lines of the README and the examples of all public names, in the installed package: -I examples.py."""

import doctest
import importlib
import re
import sys
from pathlib import Path

import lmc_helpers as lmc

ROOT = Path(__file__).resolve().parents[2]


def five_lines() -> None:
    """The code of the page, then that of the README with the page's names."""
    names: dict = {}
    for page in ("book/your_networks.md", "README.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for code in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            exec(code, names)


def examples() -> tuple[int, int]:
    """How many examples of the public names ran, and how many failed."""
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for module, names in ((lmc, lmc.__all__), (lmc.theory, lmc.theory.__all__)):
        for name in names:
            value = getattr(module, name)
            home = value if name == "theory" else importlib.import_module(value.__module__)
            for test in finder.find(value, name, home, globs=dict(vars(home))):
                runner.run(test)
    return runner.tries, runner.failures


assert Path(lmc.__file__).is_relative_to(sys.prefix), lmc.__file__
five_lines()
tried, failed = examples()
print(f"{tried - failed} passed, {failed} failed")
sys.exit(failed > 0)
