"""Fields that tools' arguments are made of: strict in what they accept, kind in how it may be written.

Kind: numbers stand for ids, `"20"` for 20, null or blank for "not given", and enumerations ignore case, spaces and
hyphens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from wardround.patients.resource import period_of

MAX_TEXT = 200
"""Longest string argument, in characters."""
MAX_LONG = 8000
"""Longest text of a note, a message or a conclusion, in characters."""
DEFAULT_COUNT = 20
MAX_COUNT = 100


def key_of(*kinds: str) -> Callable[[object], object]:
    """Return a reader of ids that takes the type off a FHIR reference to one of `kinds`."""
    prefixes = tuple(f"{kind}/" for kind in kinds)

    def read(value: object) -> object:
        if type(value) is int and abs(value) < 10**18:
            return str(value)
        if type(value) is str and value.startswith(prefixes):
            return value.partition("/")[2]
        return value

    return read


def code_text(value: object) -> object:
    """Read an integer as the local code it spells (MIMIC item ids)."""
    return str(value) if type(value) is int and abs(value) < 10**18 else value


def whole_number(value: object) -> object:
    """Booleans are no integers, whatever Python says; everything else is pydantic's to judge."""
    if type(value) is bool:
        raise ValueError("expected an integer")
    return value


def absent(value: object) -> object:
    """Null and blank text mean that an optional argument was not given."""
    return None if type(value) is str and not value.strip() else value


def real_date(value: str) -> str:
    """Refuse a date that does not exist."""
    try:
        period_of(value)
    except ValueError:
        raise ValueError("not a date that exists; write YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss") from None
    return value


def _fold(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def one_of(literal: Any, also: Mapping[str, str] = MappingProxyType({})) -> Callable[[object], object]:
    """Return a reader of an enumeration that ignores case, spaces and hyphens and knows a few short forms."""
    table = {_fold(value): value for value in get_args(literal)} | dict(also)

    def read(value: object) -> object:
        return table.get(_fold(value), value) if type(value) is str else value

    return read


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TEXT)]
LongText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_LONG)]
OptionalLongText = Annotated[LongText | None, BeforeValidator(absent)]
Id = Annotated[Text, BeforeValidator(key_of("Patient", "Encounter"))]
OptionalText = Annotated[Text | None, BeforeValidator(absent)]
OptionalId = Annotated[Id | None, BeforeValidator(absent)]
OptionalCode = Annotated[Annotated[Text, BeforeValidator(code_text)] | None, BeforeValidator(absent)]
OptionalDate = Annotated[
    Annotated[Text, BeforeValidator(code_text), AfterValidator(real_date)] | None, BeforeValidator(absent)
]

Priority = Literal["routine", "urgent", "asap"]

SubjectId = Annotated[Id, Field(description="Id of the patient of this round.")]
SessionId = Annotated[Id, Field(description="Id of this session.")]
HadmId = Annotated[
    OptionalId,
    Field(
        default=None,
        description="Limit to one hospital stay: the id of its Encounter. ICU and emergency department stays are part "
        "of a hospital stay; what the ICU charted is found by the id of the hospital stay.",
    ),
]
Count = Annotated[
    Annotated[int, BeforeValidator(whole_number), Field(ge=0)] | None,
    BeforeValidator(absent),
    Field(
        default=None,
        alias="_count",
        description=f"Most rows to return: default {DEFAULT_COUNT}, at most {MAX_COUNT}; 0 returns only the total.",
    ),
]


class Arguments(BaseModel):
    """Base of every argument model."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class NoSubject(Arguments):
    """Arguments of tools that are not about a record."""


class Subject(Arguments):
    """Arguments of tools about this patient."""

    subject_id: SubjectId
