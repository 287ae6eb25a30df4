"""What the reports of studies conclude."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wardround.patients import Stream, document_text, knowledge
from wardround.patients.knowledge import Names
from wardround.rubrics import (
    AllOf,
    AnyOf,
    Check,
    GroundedMentionsCheck,
    Item,
    KnownMentions,
    MentionCheck,
    RetrievedCheck,
    Text,
)
from wardround.rubrics.reading import read
from wardround.sessions.record import Reading
from wardround.sessions.record_others import other_view
from wardround.sessions.record_studies import Finding, Study, study_view
from wardround.sessions.session import GoldCall
from wardround.sessions.sources import studies

from .move import Case, Focus, Move, MoveKind, kept
from .nearness import near_labs
from .parts import (
    bullets,
    capital,
    chart_call,
    entity,
    grounded_item,
    item,
    lab_call,
    lab_entity,
    lab_items,
    value_line,
)

_NO_ISCHEMIA: Final = "ischemic_change"
_LABS: Final = 3
"""Labs offered beside each study."""


def study_topic(study: Study) -> str:
    """Return what turns about a study are about; no two of a session ask for the same report."""
    return f"study:{study.id}"


def study_call(case: Case, study: Study) -> GoldCall:
    """Return the call that finds the report."""
    kind = {"report_type": study.type} if study.type is not None else {}
    return chart_call(case, "DiagnosticReport.search", hadm_id=case.encounter, **kind)


def study_line(study: Study) -> Names:
    """Return what a report concludes, without full stop."""
    en = [one.names.en if one.present else f"no {one.names.en}" for one in study.findings]
    zh = [f"{'' if one.present else '无'}{one.names.zh}" for one in study.findings]
    return Names(
        en=f"the {study.names.en} shows {', '.join(en[:-1])}{' and ' if en[:-1] else ''}{en[-1]}",
        zh=f"{study.names.zh}示{'，'.join(zh) if any(not one.present for one in study.findings) else '、'.join(zh)}",
    )


def finding_items(study: Study, most: int) -> list[Item]:
    """Return the items that the report was looked up and what it concludes, in at most `most` items."""
    read_id = f"read-{study.id}"
    items = [
        item(
            read_id,
            f"Looked up the report of the {study.names.en}.",
            f"查过{study.names.zh}报告。",
            RetrievedCheck(any_of=(study.key,)),
        )
    ]
    groups: list[tuple[Finding, ...]] = [(one,) for one in study.findings[: most - 1]]
    rest = study.findings[most - 1 :]
    if rest:
        groups.append(rest)
    for number, group in enumerate(groups):
        checks = tuple(_finding_check(one) for one in group)
        en = " and ".join(_said(one).en for one in group)
        zh = "、".join(_said(one).zh or "" for one in group)
        check: Check = checks[0] if len(checks) == 1 else AllOf(checks=checks)
        text = (f"Says that the {study.names.en} shows {en}.", f"说明{study.names.zh}示{zh}。")
        items.append(item(f"finding-{study.id}-{number}", *text, check, (read_id,)))
    return items


def _said(finding: Finding) -> Names:
    names = finding.names
    return names if finding.present else Names(en=f"no {names.en}", zh=f"无{names.zh}")


def _finding_check(finding: Finding) -> Check:
    """Return how one finding is told; a study is normal in many words."""
    own = MentionCheck(concept=_name(finding.concept), polarity="present" if finding.present else "absent")
    if finding.present or finding.concept not in (*studies().ordinary, _NO_ISCHEMIA):
        return own
    absent = dict.fromkeys((finding.concept, "acute_abnormality"))
    checks: list[Check] = [MentionCheck(concept=_name(one), polarity="absent") for one in absent]
    return AnyOf(checks=(*checks, MentionCheck(concept=_name("normal_study"))))


def _name(concept: str) -> str:
    return knowledge.lexicon().concept(concept).name.en


def no_other_item(case: Case, study: Study) -> Item:
    """Return the guard that nothing is added: what report and chart name is known."""
    known = {*(one.concept for one in study.findings), *other_view(case).states, *studies().ordinary}
    known.update(_in_report(case, study))
    stay = other_view(case).stay
    if stay is not None:
        known.add(stay.reason)
    check = GroundedMentionsCheck(known=KnownMentions(conditions=tuple(_name(one) for one in sorted(known))))
    return item("no-other", "Adds no finding that the report does not state.", "没有说出报告里没有的发现。", check)


def _in_report(case: Case, study: Study) -> set[str]:
    """Return what the report asserts anywhere, its indication included."""
    entry = case.snapshot.read(*study.key.split("/", 1))
    text = document_text(entry.resource()) if entry is not None else None
    kinds = {"condition", "finding"}
    return {one.concept for one in read(text or "").names if one.kind in kinds and one.polarity == "present"}


@kept
def study_move(case: Case, study: Study) -> Move:
    """Return the turn that asks what a study showed (IL); it may open a session."""
    line = study_line(study)
    found = finding_items(study, most=2)
    guards = [no_other_item(case, study), grounded_item()]
    return Move(
        kind="study",
        task="IL",
        source="ehr",
        topic=study_topic(study),
        calls=(study_call(case, study),),
        answer=Text(en=f"{capital(line.en)}.", zh=f"{line.zh}。"),
        rubric=(*found, *guards[: 4 - len(found)]),
        slots={"study": entity(case, "study", study.id, study.names)},
        keys=frozenset({study.key}),
        opening=True,
    )


@kept
def study_lab_move(case: Case, study: Study, reading: Reading) -> Move:
    """Return the turn that asks what a study showed and for a lab's latest value (DG)."""
    line = study_line(study)
    return Move(
        kind="study_lab",
        task="DG",
        source="ehr",
        topic=study_topic(study),
        calls=(study_call(case, study), lab_call(case, reading)),
        answer=bullets((Names(en=capital(line.en), zh=line.zh), value_line(reading))),
        rubric=(
            *finding_items(study, most=2),
            *lab_items(reading),
            no_other_item(case, study),
        ),
        slots={"study": entity(case, "study", study.id, study.names), "lab": lab_entity(case, reading)},
        keys=frozenset((study.key, *reading.keys)),
        labs=(reading.lab,),
    )


def _free(case: Case, focus: Focus, stream: Stream) -> list[Study]:
    """Return the studies that no earlier turn asked for, those with a finding first."""
    found = study_view(case).studies
    mixed = stream.shuffled([found[one] for one in sorted(found) if study_topic(found[one]) not in focus.busy])
    return sorted(mixed, key=lambda one: one.normal)


def _alone(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    for study in _free(case, focus, stream):
        yield study_move(case, study)


def _with_lab(case: Case, focus: Focus, stream: Stream) -> Iterator[Move]:
    labs = list(near_labs(case, focus, stream))[:_LABS]
    for study in _free(case, focus, stream):
        for reading in labs:
            yield study_lab_move(case, study, reading)


KINDS: Final[tuple[MoveKind, ...]] = (
    MoveKind("study", "IL", "ehr", _alone),
    MoveKind("study_lab", "DG", "ehr", _with_lab),
)
"""Turns about studies."""
