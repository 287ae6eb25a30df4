"""Who comes to the hospital (`data/people.json`): ages, builds, names, work, habits."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Literal

from .documents import Frozen, Words, read_document

Band = Literal["0-17", "18-35", "36-60", "61+"]


class AgeBand(Frozen):
    """A band of ages at the last encounter."""

    band: Band
    weight: int
    ages: tuple[int, int]
    chronic: tuple[int, int]
    """Least and greatest number of chronic conditions that are drawn."""
    encounters: tuple[int, int]


class Growth(Frozen):
    """Median height of children of an age."""

    age: int
    male: int
    female: int


class Work(Frozen):
    """An occupation."""

    en: str
    zh: str
    ages: tuple[int, int]
    weight: int = 1


class Culture(Frozen):
    """Names that go together."""

    race: str
    weight: int
    male: tuple[str, ...]
    female: tuple[str, ...]
    family: tuple[str, ...]


class People(Frozen):
    """Who comes to the hospital."""

    format_version: int
    bands: tuple[AgeBand, ...]
    cultures: tuple[Culture, ...]
    growth: tuple[Growth, ...]
    height: dict[Literal["male", "female"], tuple[int, int]]
    """Mean and standard deviation of adults, cm."""
    bmi: dict[Band, tuple[Decimal, Decimal]]
    bmi_bounds: tuple[Decimal, Decimal]
    """Of adults."""
    child_bmi_bounds: tuple[Decimal, Decimal]
    works: tuple[Work, ...]
    retired_from: int
    retired: Words
    former_work: Words
    """"retired {work}"."""
    smoking: dict[Literal["male", "female"], dict[Literal["never", "former", "current"], int]]
    alcohol: dict[Literal["male", "female"], dict[Literal["none", "social", "heavy"], int]]
    marital: dict[Band, dict[str, int]]
    living: dict[str, dict[Literal["alone", "spouse", "family", "facility"], int]]
    """By marital status, of adults."""
    facility_from: int
    facility_one_in: int
    """From that age, of so many one lives in a facility."""
    language: str
    tenths_of_packs_a_day: tuple[int, int]
    most_pack_years: int
    former_smoker_from: int
    drinks_from: int
    drinks_per_week: dict[Literal["none", "social", "heavy"], tuple[int, int]]


@cache
def people() -> People:
    """Return `data/people.json`."""
    return People.model_validate_json(read_document("people.json"))


def band_of(age: int) -> Band:
    """Return the age band of an age; beyond the last band's ages, the last."""
    bands = people().bands
    return next((one.band for one in bands if age <= one.ages[1]), bands[-1].band)
