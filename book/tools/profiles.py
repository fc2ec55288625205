"""Profiles: what ``notebooks/profiles/*.yaml`` may say, read and checked."""

from __future__ import annotations

from functools import cache

from pydantic import Field, ValidationError

from book.tools.chapters import NOTEBOOKS, BuildError, chapters, short
from lmc_helpers.claims.intervals import Entry, LedgerError
from lmc_helpers.claims.reading import explained, load

PROFILES = NOTEBOOKS / "profiles"
Value = bool | int | float | str | None


class Settings(Entry):
    """One chapter at one profile."""

    budget_s: float = Field(gt=0, strict=False, description="seconds that the chapter may take on one core")
    parameters: dict[str, Value | list[Value]] = Field(default_factory=dict, description="others keep their defaults")


class Profile(Entry):
    """What a profile is for, what it takes, and the parameters of each chapter."""

    says: str = Field(description="what the profile is for")
    pages_s: float = Field(gt=0, strict=False, description="seconds that the pages may take")
    memory_gib: float = Field(gt=0, strict=False)
    disk_gib: float = Field(gt=0, strict=False)
    chapters: dict[str, Settings] = Field(description="by the chapter's name without its number")


@cache
def profile(name: str) -> Profile:
    """A profile by its name.

    Raises
    ------
    BuildError
        if there is none of that name, a field is unknown or wrong, or a chapter does not exist or has no entry.
    """
    known = sorted(path.stem for path in PROFILES.glob("*.yaml"))
    if name not in known:
        raise BuildError(f"profile {name!r} does not exist; allowed: {', '.join(known)}")
    path = PROFILES / f"{name}.yaml"
    try:
        found = Profile.model_validate(load(path))
    except ValidationError as error:
        raise BuildError(str(explained(error, path.name))) from None
    except LedgerError as error:
        raise BuildError(str(error)) from None
    unknown = set(found.chapters) - set(map(short, chapters()))
    if unknown:
        raise BuildError(f"profile {name!r} names chapters that do not exist: {', '.join(sorted(unknown))}")
    return found


def settings(chapter: str, profile_name: str) -> Settings:
    """What a profile says of one chapter.

    Raises
    ------
    BuildError
        if the profile has no entry for the chapter.
    """
    entry = profile(profile_name).chapters.get(short(chapter))
    if entry is None:
        raise BuildError(f"profile {profile_name!r} has no entry for chapter {short(chapter)!r}; add one")
    return entry


def parameters(chapter: str, profile_name: str) -> dict:
    """The parameters that a profile sets for a chapter, ``profile`` itself among them."""
    return {"profile": profile_name, **settings(chapter, profile_name).parameters}
