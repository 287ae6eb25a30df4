"""Who may read which data: the licence tags that are kept close, and the agreement they need."""

from __future__ import annotations

from collections.abc import Iterable

from wardround.patients import UsageError

CREDENTIALED = "credentialed"
"""Licence tag of data that an agreement protects (MIMIC-IV); sessions and trajectories carry it on."""
UNKNOWN = "unknown"
"""Licence tag of data imported without `--licence`; handled as credentialed."""


def refuse_without_agreement(licences: Iterable[str], agreement: str | None) -> None:
    """Refuse to send data to a model without the agreement they need; an endpoint on this machine is no exception.

    Args:
        licences: Of the sessions, of their charts, or of the records.
        agreement: The user's words; blank is none.

    Raises:
        UsageError: Some data are credentialed, or nobody has said what they are, and no agreement was named.
    """
    kept_close = any(word in licence.casefold() for licence in licences for word in (CREDENTIALED, UNKNOWN))
    if kept_close and not (agreement or "").strip():
        raise UsageError(
            "these data are credentialed, or of unknown licence: no model may read them, on this machine or "
            "elsewhere, without an agreement; name it with --data-agreement TEXT (it is kept in the manifest), to a "
            "trainer's door as `data_agreement`"
        )
