"""Bearer tokens: made by the command, kept in a file that only its owner can read, compared by their hash."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from wardround.patients import DataError, UsageError

from .journal import open_private
from .scopes import Access, access_of

FORMAT = "wardround.tokens/1"


class Token(BaseModel):
    """One token and what it is good for."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    role: str
    scopes: str
    patient: str | None = None
    token: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    format: str
    tokens: tuple[Token, ...]


def make_tokens(wanted: Iterable[tuple[str, str, str | None]]) -> tuple[Token, ...]:
    """Return a fresh token for each role, scopes and patient.

    Raises:
        UsageError: Scopes cannot be read, or a patient is not named.
    """
    found = []
    for role, scopes, patient in wanted:
        access_of(role, scopes, patient)
        found.append(Token(role=role, scopes=scopes, patient=patient, token=secrets.token_urlsafe(32)))
    return tuple(found)


def write_tokens(path: Path, tokens: Iterable[Token]) -> None:
    """Write a new file of tokens, mode 0600."""
    told = {"format": FORMAT, "tokens": [token.model_dump() for token in tokens]}
    file = open_private(path, os.O_WRONLY | os.O_EXCL)
    with os.fdopen(file, "wb") as out:
        out.write(orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")


def read_tokens(path: Path) -> tuple[Token, ...]:
    """Read a file of tokens.

    Raises:
        UsageError: Others may read it, or it is not this user's.
        DataError: It is no file of tokens.
    """
    told = path.lstat()
    if told.st_mode & 0o077 or told.st_uid != os.getuid() or path.is_symlink():
        raise UsageError(f"{path}: others may read these tokens; remove the file, new ones are made (or chmod 600)")
    try:
        found = _File.model_validate_json(path.read_bytes())
    except ValidationError as fault:
        raise DataError(f"{path}: no file of tokens ({fault.error_count()} faults); remove it") from fault
    if found.format != FORMAT or any(len(one.token) < 32 for one in found.tokens):
        raise DataError(
            f"{path}: format is `{found.format}`, expected {FORMAT} with tokens of 32 characters; remove it"
        )
    return found.tokens


def accesses(tokens: Iterable[Token]) -> Mapping[bytes, Access]:
    """Return what each token may do, by the token's hash."""
    found = {}
    for one in tokens:
        digest = sha256(one.token.encode()).digest()
        found[digest] = access_of(one.role, one.scopes, one.patient, digest.hex()[:8])
    return found


def access_for(header: str, known: Mapping[bytes, Access]) -> Access | None:
    """Return what the bearer of an Authorization header may do; None where there is no token, or none that is known."""
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        return None
    return known.get(sha256(token.strip().encode("utf-8", "replace")).digest())
