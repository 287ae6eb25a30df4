"""MIMIC-IV `microbiologyevents` → Observation: tests, the organisms that grew, their susceptibilities."""

from __future__ import annotations

from collections.abc import Iterator

from wardround.patients.resource import Resource, known_value, tag_derived
from wardround.patients.times import NEVER, Instant

from . import _vocabulary as words
from ._facts import Cells, NoDictionary, category, id_key, observation, quantity, sound
from ._mapper import Mapped, PatientContext, Rows, Tallies
from ._tables import TableSpec
from ._values import MASKED, Moment, moment, number
from .report import Tally

MICRO = TableSpec(
    "microbiologyevents",
    (
        "microevent_id", "subject_id", "hadm_id", "micro_specimen_id", "chartdate", "charttime", "spec_itemid",
        "spec_type_desc", "storedate", "storetime", "test_itemid", "test_name", "org_itemid", "org_name",
        "isolate_num", "ab_itemid", "ab_name", "dilution_text", "dilution_comparison", "dilution_value",
        "interpretation", "comments",
    ),
    frozenset({"microevent_id", "subject_id", "micro_specimen_id", "chartdate", "test_itemid"}),
    not_carried=("order_provider_id", "test_seq", "quantity"),
)  # fmt: skip


class Microbiology(NoDictionary):
    """A test per specimen and test item; organisms per isolate; a susceptibility per row with an antibiotic."""

    tables: tuple[TableSpec, ...] = (MICRO,)
    types: tuple[str, ...] = ("Observation",)

    def map(self, patient: PatientContext, rows: Rows, tallies: Tallies) -> Iterator[Mapped]:
        """Yield the Observations test by test."""
        tally = tallies["microbiologyevents"]
        tests: dict[tuple[str, str], list[Cells]] = {}
        placed = sound(
            MICRO,
            rows.get("microbiologyevents", []),
            tally,
            times=("chartdate", "charttime", "storedate", "storetime"),
            key=id_key("microevent_id"),
            wrong_key="microevent_id is not a whole number",
            known=_stored,
        )
        whole = id_key("micro_specimen_id", "test_itemid")
        for _, cells in placed:
            key = whole(cells)
            if key is None:
                tally.refuse("micro_specimen_id or test_itemid is not a whole number", cells.number)
            else:
                tests.setdefault((key[0], key[1]), []).append(cells)
        for (specimen, item), group in sorted(tests.items(), key=lambda one: tuple(map(int, one[0]))):
            yield from _Test(patient, tally, specimen, item, group).made()


class _Test:
    """The rows of one test on one specimen."""

    def __init__(self, patient: PatientContext, tally: Tally, specimen: str, item: str, rows: list[Cells]) -> None:
        self.patient, self.tally = patient, tally
        self.specimen, self.item = specimen, item
        self.rows = sorted(rows, key=_stored)
        """In the order in which they were stored: what comes later decides nothing about what was there before."""
        self.first = [row for row in rows if _stored(row) == _stored(self.rows[0])]
        self.id = f"micro-{specimen}-{item}"
        self.name = next((row["test_name"] for row in self.rows if row["test_name"]), None) or f"Test {item}"
        times = [at for row in self.first if (at := row.time("charttime") or _day(row.time("chartdate"))) is not None]
        self.at = min(times, key=lambda one: (one.start, one.text), default=None)
        hadm = next((row["hadm_id"] for row in self.first if row["hadm_id"]), None)
        self.encounter = patient.encounter(hadm, tally)

    def made(self) -> Iterator[Mapped]:
        """Yield the test, its organisms and their susceptibilities."""
        undated = sum(_stored(row) == NEVER for row in self.rows)
        if undated:
            self.tally.note("neither storetime nor storedate; kept, never visible", undated)
        isolates: dict[tuple[str, str, str], list[Cells]] = {}
        for row in self.rows:
            if _is_organism(row):
                name = row["org_name"] or ""
                isolates.setdefault((row["org_itemid"] or "", name, row["isolate_num"] or ""), []).append(row)
        members: list[Resource] = []
        grown: list[Mapped] = []
        order = sorted(isolates.items(), key=lambda one: (min(_stored(row) for row in one[1]), one[0]))
        for place, ((_, organism, _), rows) in enumerate(order, 1):
            reference = f"{self.id}-org-{place}"
            members.append({"reference": f"Observation/{reference}"})
            grown.extend(self._isolate(reference, organism, rows))
        yield self._test(members)
        yield from grown

    def _test(self, members: list[Resource]) -> Mapped:
        stages = sorted({_stored(row) for row in self.rows})
        code = words.coding(words.system("micro_test"), self.item, self.name)
        resource = self._begin(self.id, words.concept(self.name, code))
        if all(row["org_name"] == words.codes()["micro_cancelled"] for row in self.first):
            resource["status"] = "cancelled"
            self.tally.note("the test was cancelled (org_name CANCELLED)", len(self.first))
        if len(stages) > 1 and resource["status"] != "cancelled":
            # more of it was stored later: until then it is not the last word
            resource["status"] = "preliminary"
            tag_derived(resource)
            if stages[-1] < NEVER:
                known_value(resource, "status", "final", stages[-1])
        if len(stages) > 1 and resource["status"] == "cancelled" and stages[-1] < NEVER:
            known_value(resource, "status", "final", stages[-1])
        self._say(resource, members, comments=_comments(self.rows))
        return Mapped("microbiologyevents", self.rows[0].number, resource, stages[0])

    def _say(self, resource: Resource, members: list[Resource], comments: list[tuple[Instant, str]]) -> None:
        """Write organisms, else the laboratory's comments as they were stored, else why there is nothing.

        What was stored first decides where comments stand: what grows later must not show before it is known.
        """
        if members:
            resource["hasMember"] = members
        first = _stored(self.rows[0])
        grown = any(_is_organism(row) for row in self.first)
        path = "valueString" if not grown and any(stored == first for stored, _ in comments) else "note"
        if not grown and path == "note":
            masked = any(row["comments"] for row in self.first)
            reason = words.coding(words.DATA_ABSENT, "masked" if masked else "unknown")
            resource["dataAbsentReason"] = words.concept(None, reason)
        at_first = sum(stored == first for stored, _ in comments)
        for place, (stored, _) in enumerate(comments):
            if place + 1 < at_first:
                continue  # one value for all that was stored first
            texts = [text for _, text in comments[: place + 1]]
            value = [{"text": text} for text in texts] if path == "note" else "\n".join(texts)
            if stored == first:
                resource[path] = value
            elif stored < NEVER:
                known_value(resource, path, value, stored)

    def _isolate(self, reference: str, organism: str, rows: list[Cells]) -> Iterator[Mapped]:
        item = next((row["org_itemid"] for row in rows if row["org_itemid"]), None)
        resource = self._begin(reference, words.concept(f"{self.name}: organism"))
        coded = [words.coding(words.system("micro_organism"), item, organism)] if item else []
        resource["valueCodeableConcept"] = words.concept(organism, *coded)
        tested = [row for row in rows if row["ab_name"]]
        if tested:
            resource["hasMember"] = [{"reference": f"Observation/{_susceptibility_id(row)}"} for row in tested]
        yield Mapped("microbiologyevents", rows[0].number, resource, min(_stored(row) for row in rows))
        for row in tested:
            yield self._susceptibility(organism, row)

    def _susceptibility(self, organism: str, row: Cells) -> Mapped:
        drug, item = row["ab_name"], row["ab_itemid"]
        coded = [words.coding(words.system("micro_antibiotic"), item, drug)] if item else []
        resource = self._begin(_susceptibility_id(row), words.concept(f"{drug} ({organism})", *coded))
        reading = row["interpretation"]
        value = number(row["dilution_value"])
        comparator = words.codes()["micro_comparators"].get(row["dilution_comparison"] or "")
        if value is not None and (comparator is not None or row["dilution_comparison"] is None):
            resource["valueQuantity"] = quantity(value, None)
            if comparator:
                resource["valueQuantity"]["comparator"] = comparator
        elif row["dilution_text"]:
            resource["valueString"] = row["dilution_text"]
        elif reading:
            resource["valueString"] = reading
        else:
            self.tally.note("an antibiotic without dilution and interpretation")
            resource["dataAbsentReason"] = words.concept(None, words.coding(words.DATA_ABSENT, "unknown"))
        if reading is not None:
            entry = words.codes()["micro_interpretations"].get(reading)
            marks = [words.coding(words.INTERPRETATION, reading, entry)] if entry else []
            resource["interpretation"] = [words.concept(reading, *marks)]
        return Mapped("microbiologyevents", row.number, resource, _stored(row))

    def _begin(self, name: str, code: Resource) -> Resource:
        resource = observation(self.patient, name, category("laboratory"), code, self.at)
        resource["category"].append(words.concept("microbiology"))
        if self.encounter is not None:
            resource["encounter"] = self.encounter
        specimen = next((row["spec_type_desc"] for row in self.rows if row["spec_type_desc"]), None)
        resource["specimen"] = {"identifier": {"system": words.system("micro_specimen"), "value": self.specimen}}
        if specimen:
            resource["specimen"]["display"] = specimen
        return resource


def _is_organism(row: Cells) -> bool:
    return row["org_name"] not in (None, words.codes()["micro_cancelled"])


def _stored(row: Cells) -> Instant:
    stored = row.time("storetime") or _day(row.time("storedate"))
    return NEVER if stored is None else stored.known


def _comments(rows: list[Cells]) -> list[tuple[Instant, str]]:
    """Return when each different comment was first stored, in that order."""
    found: dict[str, Instant] = {}
    for row in rows:
        text = row["comments"]
        if text is not None and text != MASKED:
            found[text] = min(found.get(text, NEVER), _stored(row))
    return sorted((stored, text) for text, stored in found.items())


def _susceptibility_id(row: Cells) -> str:
    return f"micro-susc-{int(row['microevent_id'] or '')}"


def _day(at: Moment | None) -> Moment | None:
    """Take a date column for what it is: its time of day is always midnight."""
    if at is None or len(at.text) == 10:
        return at
    return moment(at.text[:10])
