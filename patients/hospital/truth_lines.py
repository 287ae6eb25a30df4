"""The truth behind a chart in lines for people."""

from __future__ import annotations

from wardround.patients.times import Instant, format_instant

from .truth import Truth


def truth_lines(truth: Truth) -> list[tuple[str, list[str]]]:
    """Return headed lists: diagnoses, key findings, home medications, allergies, said but not charted, flaws."""
    titles = {one.fact: one.title for one in truth.diagnoses}
    diagnoses = [
        f"{one.title} ({one.code}), {one.acuity.replace('_', ' ')}, {one.severity}: since {_day(one.onset)}, "
        f"known {_day(one.first_known)}{f', resolved {_day(one.resolved)}' if one.resolved is not None else ''}"
        for one in truth.diagnoses
    ]
    findings = [
        f"{_day(one.onset)} {one.side + ' ' if one.side else ''}{one.finding.replace('_', ' ')}: "
        f"{'present' if one.present else 'absent'}"
        + "".join(f"; {edge.replace('_', ' ')}: {titles.get(owner, owner)}" for owner, edge in one.owners)
        + ("" if one.charted else "; not charted")
        for one in truth.findings
        if one.relevance == "key"
    ]
    drugs = [
        f"{one.drug.replace('_', ' ')} ({one.encounter}): {one.state.replace('_', ' ')}"
        f"{f' {one.since.en}' if one.since else ''}{f', because: {one.reason.en}' if one.reason else ''}"
        f"{'' if one.charted or one.state == 'taking' else '; the chart does not know'}"
        for one in truth.medications
    ]
    allergies = [f"{one.name}: {one.reaction.en} ({one.severity})" for one in truth.allergies]
    said = [f"{one.encounter}: {one.fact}: {one.truth.replace('_', ' ')}" for one in truth.said]
    flaws = [
        f"{one.id} {one.kind.replace('_', ' ')} ({one.detail.replace('_', ' ')}), {_day(one.at)}, "
        f"at {', '.join(one.places)}: charted `{one.charted}`; right: {one.right}"
        for one in truth.flaws
    ]
    lists = (
        ("Diagnoses", diagnoses), ("Key findings", findings), ("Home medications as really taken", drugs),
        ("Allergies", allergies), ("Said, not charted", said), ("Planted flaws", flaws),
    )  # fmt: skip
    return [(head, lines or ["none"]) for head, lines in lists]


def _day(at: Instant) -> str:
    return format_instant(at)[:10]
