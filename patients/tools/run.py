"""Running a tool call. A model's mistakes come back as observations; only our own bugs raise."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import ValidationError

from wardround.patients.strict_json import BadJson, clip, read_object

from .mistakes import bad_arguments, bad_json, mistake, unknown_tool
from .recorded import recorded, replayed
from .registry import ALL_TOOLS, TOOLS, find_tool
from .spec import ToolCall, ToolContext, ToolResult, given_arguments


def run_tool(context: ToolContext, call: ToolCall, allowed: Collection[str] | None = None) -> ToolResult:
    """Run one call against the record and the patient of one episode.

    Args:
        context: The episode's record, dialogue and identity; a write or a disclosure changes it.
        call: Name (published or alias) and arguments, as the model made them.
        allowed: Published names of the tools offered; None offers the 18 of the ward round.

    Returns:
        What happened. `ok` is False for every mistake of the model, with its kind in `error`: unknown_tool,
        bad_json, bad_arguments, wrong_patient, wrong_session, unknown_encounter, unknown_resource, wrong_status,
        invalid_resource, bad_file, not_recorded.
    """
    arguments = call.arguments
    spec = find_tool(call.name)
    if spec is None or spec.name not in (TOOLS if allowed is None else allowed):
        offered = TOOLS if allowed is None else [name for name in ALL_TOOLS if name in allowed]
        return unknown_tool(call.name, arguments, offered)
    if isinstance(arguments, str):
        read = read_object(arguments)
        if isinstance(read, BadJson):
            return bad_json(spec, arguments, read.reason)
        arguments = read
    try:
        # What `model_validate` calls, without its options: a quarter of the time of a call that is remembered.
        checked = spec.model.__pydantic_validator__.validate_python(
            arguments if type(arguments) is dict else dict(arguments)
        )
    except ValidationError as error:
        return bad_arguments(spec, arguments, error)
    given = given_arguments(checked)
    subject = given.get("subject_id")
    if subject is not None and subject != context.subject_id:
        text = f"Refused: this round is about subject_id `{context.subject_id}`; `{clip(subject, 40)}` is someone else."
        return mistake(spec.name, given, "wrong_patient", text, spec.effect)
    session = given.get("session_id")
    if session is not None and session != context.session_id:
        text = f"Refused: this session is `{context.session_id}`, not `{clip(session, 40)}`."
        return mistake(spec.name, given, "wrong_session", text, spec.effect)
    if replayed(context, spec):
        return recorded(context, spec, given)
    return spec.handler(context, checked, given)
