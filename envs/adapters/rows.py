"""Rows for trainers: one per session, `{prompt, session_id, seed}`, as JSONL and Parquet too.

A row names its episode and holds what it starts with; equal rows start equal, byte for byte. A file's rows carry the
licence of their session beside, for a file leaves the house.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, Final, Literal, TypedDict

import orjson

from wardround.patients import UsageError, check_output, write_whole
from wardround.sessions import Session

from .extras import missing
from .round import Form, Message, Round, RoundConfig, opened, refuse_evaluation, speaks

_JSONL_START: Final = b'{"prompt":'
_PARQUET_START: Final = b"PAR1"
_NAMES: Final = ("prompt", "session_id", "seed", "licence")
_SEEDS: Final = 1 << 63
_GROUP: Final = 512
"""Rows of a Parquet row group: what is in memory at once."""


class Row(TypedDict):
    """What a trainer needs to play one session."""

    prompt: list[Message]
    session_id: str
    seed: int


class Rows:
    """The rows of a set, made as they are asked for; may be gone through again.

    Args:
        sessions: What rows are made of.
        config: As of the door that plays them.
        form: How the policy acts (`FORMS`).
        seed: Of every row.
    """

    def __init__(self, sessions: tuple[Session, ...], config: RoundConfig, form: Form, seed: int) -> None:
        self.config = config
        self.form: Form = form
        self.seed = seed
        self._sessions = sessions

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[Row]:
        for session in self._sessions:
            opening = Round(session.id, seed=self.seed, config=self.config, played=False)
            yield {"prompt": opening.prompt(self.form), "session_id": session.id, "seed": self.seed}

    @property
    def licence(self) -> str:
        """Licence tags of the sessions, joined by " + ", sorted."""
        return " + ".join(sorted({session.licence for session in self._sessions}))

    def to_jsonl(self, path: str | os.PathLike[str], **columns: str) -> int:
        """Write the rows as JSONL, one a line.

        Args:
            path: Of the file; it appears whole or not at all.
            columns: Constant columns that a trainer wants beside, such as SkyRL's `env_class`.

        Returns:
            How many rows were written.

        Raises:
            UsageError: Something of another kind is there, or a column has the name of another.
        """
        target = Path(path)
        check_output(target, _JSONL_START, "a file of rows")
        write_whole(target, b"".join(orjson.dumps(row) + b"\n" for row in self._complete(columns)))
        return len(self)

    def to_parquet(self, path: str | os.PathLike[str], **columns: str) -> int:
        """Write the rows as Parquet: `prompt` is a list of {role, content}.

        Args:
            path: Of the file; it appears whole or not at all.
            columns: As of `to_jsonl`.

        Returns:
            How many rows were written.

        Raises:
            UsageError: pyarrow is not installed, something of another kind is there, or a column has the name of
                another.
        """
        try:
            import pyarrow as pa  # an extra: 150 MB that only this needs
            from pyarrow import parquet
        except ImportError:
            raise UsageError(missing("writing Parquet", "pyarrow", "parquet")) from None
        target = Path(path)
        check_output(target, _PARQUET_START, "a Parquet file")
        message = pa.struct([("role", pa.string()), ("content", pa.string())])
        kinds = [pa.list_(message), pa.string(), pa.int64(), pa.string()]
        schema = pa.schema([*zip(_NAMES, kinds, strict=True), *((name, pa.string()) for name in columns)])
        sink = pa.BufferOutputStream()
        rows = list(self._complete(columns))
        with parquet.ParquetWriter(sink, schema) as writer:
            for start in range(0, len(rows), _GROUP):
                writer.write_table(pa.Table.from_pylist(rows[start : start + _GROUP], schema=schema))
        write_whole(target, sink.getvalue().to_pybytes())
        return len(self)

    def _complete(self, columns: dict[str, str]) -> Iterator[dict[str, Any]]:
        for name in columns:
            if name in _NAMES:
                raise UsageError(f"column `{name}` is one of the rows' own ({', '.join(_NAMES)}): choose another name")
        for session, row in zip(self._sessions, self, strict=True):
            yield {**row, "licence": session.licence, **columns}


def dataset(
    sessions: str = "ward",
    split: str | None = None,
    *,
    charts: str | None = None,
    form: Form = "text",
    language: Literal["en", "zh"] = "en",
    phrasing: str = "implicit",
    view: Literal["compact", "fhir"] = "compact",
    seed: int = 0,
    only: Container[str] | None = None,
) -> Rows:
    """Return the rows of a set for a trainer: {prompt, session_id, seed}.

    Args:
        sessions: Name of a built-in set, or path of a JSONL file.
        split: Sessions of this split; None takes all.
        charts: Name or path of the charts; None takes those of the built-in set.
        form: How the policy acts: "text" (messages in the action grammar), "tools" (native tool calls), "reply" (TRL).
        language: "en" or "zh"; as of the door that plays the rows.
        phrasing: "explicit" or "implicit"; likewise.
        view: What search tools return by default; likewise.
        seed: Of every row; names a repetition.
        only: Ids of the sessions to take; None takes all of the split.

    Raises:
        UsageError: No such set or split, or some of its sessions are for evaluation only or not in that language.

    Examples:
        >>> row = next(iter(dataset("ward", "public")))
        >>> sorted(row)
        ['prompt', 'seed', 'session_id']
    """
    if not -_SEEDS <= seed < _SEEDS:
        raise UsageError(f"`seed` is {seed}: rows hold seeds of 64 bits")
    config = RoundConfig(sessions, charts, split, language, phrasing, view)
    found, _ = opened(config.sessions, config.charts)
    every = found.split(split) if split is not None else found
    chosen = [session for session in every if only is None or session.id in only]
    if not chosen:
        raise UsageError(f"`only` names no session of `{found.name}`: name some of its ids")
    for session in chosen:  # said now, not in the middle of a run
        refuse_evaluation(session)
        if not speaks(session, language):
            raise UsageError(f"session `{session.id}` has no wording in `{language}`: ask for one it has")
    rows = Rows(tuple(chosen), config, form, seed)
    next(iter(rows))  # likewise where phrasing or form cannot be played
    return rows
