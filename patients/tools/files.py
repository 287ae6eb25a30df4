"""Tools on the episode's own files: text in a workspace that lives and ends with the episode."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from pydantic import BeforeValidator, Field, StringConstraints

from wardround.patients.workspace import MAX_FILE_BYTES, MAX_FILES, MAX_PATH, FileRefused, safe_path

from .fields import NoSubject, OptionalText, absent, whole_number
from .mistakes import mistake
from .spec import Effect, ToolContext, ToolResult

PAGE = 8000
"""Characters that one read returns."""

Path = Annotated[
    str,
    StringConstraints(strip_whitespace=False, min_length=1, max_length=MAX_PATH),
    Field(description="Path of the file: relative, folders divided by `/`, for example `notes/plan.md`."),
]


class FilesWrite(NoSubject):
    """Arguments of files.write."""

    path: Path
    text: Annotated[
        str,
        StringConstraints(strip_whitespace=False, max_length=MAX_FILE_BYTES),
        Field(description="The whole text of the file; it replaces what was there."),
    ]


class FilesRead(NoSubject):
    """Arguments of files.read."""

    path: Path
    offset: Annotated[
        Annotated[int, BeforeValidator(whole_number), Field(ge=0)] | None,
        BeforeValidator(absent),
        Field(description=f"First character to return, from 0; at most {PAGE} are returned at once."),
    ] = None


class FilesList(NoSubject):
    """Arguments of files.list."""

    folder: Annotated[OptionalText, Field(description="Only files below this folder.")] = None


class FilesDelete(NoSubject):
    """Arguments of files.delete."""

    path: Path


def write_file(context: ToolContext, arguments: FilesWrite, given: dict[str, Any]) -> ToolResult:
    """Write a file."""
    before = context.record.workspace
    try:
        after = before.write(arguments.path, arguments.text)
    except FileRefused as fault:
        return _refused("files.write", given, fault)
    context.record.workspace = after
    path = safe_path(arguments.path)
    said = {"written": path, "characters": len(arguments.text), "replaced": len(after) == len(before)}
    return _done("files.write", given, said, path)


def read_file(context: ToolContext, arguments: FilesRead, given: dict[str, Any]) -> ToolResult:
    """Read a file, a page at a time."""
    try:
        text = context.record.workspace.read(arguments.path)
    except FileRefused as fault:
        return _refused("files.read", given, fault)
    start = arguments.offset or 0
    said: dict[str, Any] = {
        "path": safe_path(arguments.path),
        "characters": len(text),
        "text": text[start : start + PAGE],
    }
    if start + PAGE < len(text):
        said["next_offset"] = start + PAGE
    return ToolResult("files.read", given, ok=True, text=orjson.dumps(said).decode())


def list_files(context: ToolContext, arguments: FilesList, given: dict[str, Any]) -> ToolResult:
    """List the files."""
    files = context.record.workspace
    try:
        paths = files.paths(arguments.folder or "")
    except FileRefused as fault:
        return _refused("files.list", given, fault)
    rows = [[path, len(files.read(path))] for path in paths]
    said = {"total": len(rows), "columns": ["path", "characters"], "rows": rows, "most": MAX_FILES}
    return ToolResult("files.list", given, ok=True, text=orjson.dumps(said).decode())


def delete_file(context: ToolContext, arguments: FilesDelete, given: dict[str, Any]) -> ToolResult:
    """Delete a file."""
    try:
        context.record.workspace = context.record.workspace.delete(arguments.path)
    except FileRefused as fault:
        return _refused("files.delete", given, fault)
    path = safe_path(arguments.path)
    return _done("files.delete", given, {"deleted": path}, path)


def _done(tool: str, given: dict[str, Any], said: dict[str, Any], path: str) -> ToolResult:
    return ToolResult(tool, given, ok=True, text=orjson.dumps(said).decode(), effect="write", file=path)


def _refused(tool: str, given: dict[str, Any], fault: FileRefused) -> ToolResult:
    effect: Effect = "write" if tool in ("files.write", "files.delete") else "read"
    return mistake(tool, given, "bad_file", f"Refused: {tool}: {fault}.", effect)
