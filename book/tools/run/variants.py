"""Ways to run the same chapters again, each a word used on command lines and in names of folders in ``build``.

=================  ====================================================================================
``""``             the chapters' own seeds: the book
``COMMIT``         seeds from a commit's id: a confirmatory run (``book/tools/record/confirm.py``)
``COMMIT.3``       the third of other seeds from that id: a sweep (``book/tools/record/repeat.py``)
``@two_threads``   the chapters' own seeds in another setting of ``book/settings.yml``
=================  ====================================================================================
"""

import hashlib
import platform
import re
from functools import cache

from pydantic import Field

from book.tools.read import headers, inputs
from book.tools.read.chapters import ROOT, THREADS, BuildError
from lmc_helpers.claims.intervals import Entry

SETTINGS = ROOT / "book" / "settings.yml"
ALLOWED = re.compile(r"|[0-9a-f]{40}(\.[1-9]\d*)?|@\w+")


class Setting(Entry):
    """The difference between a machine and the one that the book is built on."""

    says: str = Field(min_length=1, description="the setting in a few words")
    threads: int = Field(1, ge=1, le=64, description="of one operation")
    variables: dict[str, str] = Field(default_factory=dict, description="of the environment")
    python: str = Field("", description="the version of Python that the setting is; empty: the one at hand")

    @property
    def here(self) -> bool:
        """True if this Python can run it."""
        return self.python in ("", ".".join(platform.python_version_tuple()[:2]))


class Settings(Entry):
    """The settings, and the differences between measurements that they allow."""

    exact: float = Field(gt=0, strict=False, description="largest relative difference of an exact value")
    sampled: float = Field(gt=0, strict=False, description="largest difference of a sampled value, in standard errors")
    pythons: list[str] = Field(description="versions of Python that can be had")
    settings: dict[str, Setting]


@cache
def settings() -> Settings:
    """The content of ``book/settings.yml``."""
    return inputs.read(SETTINGS, Settings, "exact, sampled, pythons and settings")


def check(variant: str) -> str:
    """Validate the name of a variant and return it."""
    if not ALLOWED.fullmatch(variant):
        raise BuildError(f"variant {variant!r}; allowed: a full commit id, one with .NUMBER, or @ and a setting's name")
    setting(variant)
    return variant


def setting(variant: str) -> Setting:
    """The setting that a variant runs in."""
    if not variant.startswith("@"):
        return Setting(says="as built", threads=1, python="")
    known = settings().settings
    if variant[1:] not in known:
        raise BuildError(f"setting {variant[1:]!r} is not in book/settings.yml; allowed: {', '.join(known)}")
    return known[variant[1:]]


def variables(variant: str) -> dict[str, str]:
    """The environment of a setting; its training runs go into a folder of their own."""
    if not variant.startswith("@"):
        return {}
    found = setting(variant)
    return {
        **dict.fromkeys(THREADS, str(found.threads)),
        "OMP_WAIT_POLICY": "passive",  # more threads than cores would spin
        **found.variables,
        "LMC_RUNS": str(ROOT / "build" / f"runs{variant}"),
    }


def prepare(notebook, variant: str) -> None:
    """Put a setting's cell into a chapter, behind the one that checks its parameters and fixes one thread."""
    if not variant.startswith("@"):
        return
    from nbformat.v4 import new_code_cell

    found, code = setting(variant), [cell for cell in notebook.cells if cell.cell_type == "code"]
    begins = next(cell for cell in code if re.search(r"\bbegin\(", cell.source))
    lines = [f"# {found.says}", "import torch", f"torch.set_num_threads({found.threads})"]
    notebook.cells.insert(notebook.cells.index(begins) + 1, new_code_cell("\n".join(lines)))


def folder(profile: str, variant: str) -> str:
    """The name of a variant's folders.

    >>> folder("smoke", ""), folder("smoke", 40 * "a"), folder("smoke", 40 * "a" + ".3"), folder("smoke", "@old")
    ('smoke', 'smoke-aaaaaaaaaa', 'sweep-smoke-aaaaaaaaaa.3', 'sweep-smoke@old')
    """
    commit, dot, number = variant.partition(".")
    if variant.startswith("@"):
        return f"sweep-{profile}{variant}"
    if dot:
        return f"sweep-{profile}-{commit[:10]}.{number}"
    return f"{profile}-{commit[:10]}" if commit else profile


def title(chapter: str, variant: str) -> str:
    """A chapter's name in messages.

    >>> title("01_x", ""), title("01_x", 40 * "a"), title("01_x", 40 * "a" + ".3"), title("01_x", "@old")
    ('01_x', '01_x', '01_x.3', '01_x@old')
    """
    return chapter + (variant if variant.startswith("@") else "".join(variant.partition(".")[1:]))


def chapter(title: str) -> str:
    """The chapter of a title.

    >>> chapter("01_x.3"), chapter("01_x@old"), chapter("01_x")
    ('01_x', '01_x', '01_x')
    """
    return re.split("[.@]", title)[0]


def seed(commit: str, chapter: str) -> int:
    """The seed of a chapter, from the id of a commit.

    >>> seed("825a4ae" + 33 * "0", "12_overlap_theorem")
    1480196192
    """
    return int.from_bytes(hashlib.sha256(f"{commit}:{chapter}".encode()).digest()[:4]) % (2**32 - 1)


def parameters(chapter: str, variant: str) -> dict[str, int]:
    """The parameters that a variant sets: a seed, if it comes from a commit.

    It is that of the chapter whose networks these are.
    """
    return {"seed": seed(variant, headers.networks_of(chapter))} if variant and not variant.startswith("@") else {}
