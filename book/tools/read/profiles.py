"""Profiles: ``notebooks/profiles/*.yaml``, read and checked."""

from functools import cache
from typing import Annotated

from pydantic import Field

from book.tools.read import inputs
from book.tools.read.chapters import NOTEBOOKS, BuildError, chapters, short
from lmc_helpers.claims.intervals import Entry
from lmc_helpers.claims.yaml_files import place

PROFILES = NOTEBOOKS / "profiles"
Size = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=False)]
Value = bool | int | float | str | None


class Settings(Entry):
    """One chapter at one profile."""

    budget_s: Size = Field(description="seconds that the chapter may take on one core")
    parameters: dict[str, Value | list[Value]] = Field(default_factory=dict, description="others keep their defaults")
    open: dict[str, str] = Field(
        default_factory=dict,
        description="parts that these settings leave open by design → the profile that decides them",
    )


class Profile(Entry):
    """The purpose and limits of a profile, and the parameters of each chapter."""

    says: str = Field(description="what the profile is for")
    pages_s: Size = Field(description="seconds that the pages may take")
    memory_gib: Size
    disk_gib: Size
    chapters: dict[str, Settings] = Field(description="by the chapter's name without its number")


@cache
def profile(name: str) -> Profile:
    """A profile by its name."""
    known = sorted(path.stem for path in PROFILES.glob("*.yaml"))
    if name not in known:
        raise BuildError(f"profile {name!r} does not exist; allowed: {', '.join(known)}")
    path = PROFILES / f"{name}.yaml"
    found = inputs.read(path, Profile, f"a mapping with {', '.join(Profile.model_fields)}")
    unknown = sorted(set(found.chapters) - set(map(short, chapters())))
    if unknown:
        where = place(path, "chapters", unknown[0])
        raise BuildError(f"{where}: profile {name!r} names chapters that do not exist: {', '.join(unknown)}")
    return found


def settings(chapter: str, profile_name: str) -> Settings:
    """A profile's settings of one chapter."""
    entry = profile(profile_name).chapters.get(short(chapter))
    if entry is None:
        raise BuildError(f"profile {profile_name!r} has no entry for chapter {short(chapter)!r}; add one")
    return entry


def parameters(chapter: str, profile_name: str) -> dict:
    """The parameters that a profile sets for a chapter, ``profile`` itself among them."""
    return {"profile": profile_name, **settings(chapter, profile_name).parameters}
