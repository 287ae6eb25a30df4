"""The notes of each kind: which sections they have, in which order, under which headers."""

from __future__ import annotations

from collections.abc import Sequence

from wardround.patients.times import Instant

from .onset import HOUR
from .phrasing import Teller, opened, table
from .record import NoteKind, NotePart, Sentence, Slug
from .writing_assessment import assessment, diagnoses
from .writing_consult import opinion, takes_drugs
from .writing_course import disposition, hospital_course, interval
from .writing_exam import examination, later_examination, review
from .writing_history import allergies, demographics, family, medications, past_medical, past_surgical, social
from .writing_leaving import condition_at_discharge, discharge_medications, discharge_plan, followup, instructions
from .writing_pending import consulted_service, consults
from .writing_plan import plan
from .writing_results import laboratory, pathology, study_lines, vital_signs
from .writing_story import background, chief_complaint, present_illness, visit
from .writing_style import Style
from .writing_view import Known
from .writing_words import Scribe, service_name

_LISTS: frozenset[str] = frozenset(
    ("demographics", "vitals", "labs", "imaging", "other-studies", "discharge-medications", "followup", "medications")
)


class Composer:
    """Puts one note together.

    Args:
        scribe: Its author at work.
        kind: Which note it is.
        since: The note before, for what reports only news.
        day: Hospital day, for a progress note.
    """

    def __init__(self, scribe: Scribe, kind: NoteKind, *, since: Instant | None = None, day: int | None = None) -> None:
        self.scribe = scribe
        self.kind = kind
        self.since = since
        self.day = day
        self.known = scribe.known
        self.ended = bool(self.known.happened("died"))

    def parts(self) -> tuple[NotePart, ...]:
        """Return the sections in the author's order; those that have nothing to say are left out."""
        kind = "death" if self.ended and self.kind == "discharge" else self.kind
        names = table(f"note_{kind}")[str(self.scribe.style.order)].split()
        found = [getattr(self, f"_{name}")() for name in names]
        return tuple(part for part in found if part is not None)

    # -- one method a section; its name is the word in the tables `note_*` ---------------------------------------------

    def _part(
        self, slug: Slug, said: Sequence[Sentence], header: str | None = None, *, lines: bool | None = None
    ) -> NotePart | None:
        kept = tuple(one for one in said if one.text)
        if not kept:
            return None
        as_lines = slug in _LISTS if lines is None else lines
        return NotePart(slug, self.scribe.style.header(slug, header), kept, lines=as_lines)

    def _demographics(self) -> NotePart | None:
        return self._part("demographics", demographics(self.scribe))

    def _cc(self) -> NotePart | None:
        header = table("reason_header")[self.scribe.style.headers] if self.kind in ("clinic", "ed") else None
        return self._part("chief-complaint", chief_complaint(self.scribe), header)

    def _hpi(self) -> NotePart | None:
        return self._part("history-of-present-illness", present_illness(self.scribe))

    def _visit(self) -> NotePart | None:
        return self._part("history-of-present-illness", visit(self.scribe))

    def _interval(self) -> NotePart | None:
        header = table("interval")[self.scribe.style.headers]
        since = self.known.begin if self.since is None else self.since
        return self._part("history-of-present-illness", interval(self.scribe, since), header)

    def _consult(self) -> NotePart | None:
        principal = self.known.principal
        if principal is None:
            return None
        teller = self.scribe.teller("consult")
        history, past = background(self.scribe, teller, 3)
        said = teller.say(
            "consult.reason",
            ("person", principal.id, *past),
            principal=self.scribe.condition(principal),
            history=opened(history),
            Service=service_of(self.scribe),
        )
        return self._part("chief-complaint", [said], table("consult_header")[self.scribe.style.headers])

    def _pmh(self) -> NotePart | None:
        return self._part("past-medical-history", past_medical(self.scribe), lines=True)

    def _psh(self) -> NotePart | None:
        return self._part("past-surgical-history", past_surgical(self.scribe), lines=True)

    def _meds(self) -> NotePart | None:
        """Home medicines where a note opens a stay; the active orders later."""
        if self.kind in ("admission", "ed"):
            return self._homemeds()
        header = "Active Medications" if self.kind == "progress" else None
        return self._part("medications", medications(self.scribe, self.known.active(), home=False), header)

    def _homemeds(self) -> NotePart | None:
        header = table("header_home")[self.scribe.style.headers]
        return self._part("medications", medications(self.scribe, self.known.home()), header)

    def _allergies(self) -> NotePart | None:
        said = allergies(self.scribe)
        return self._part("allergies", said, lines=len(said) > 1)

    def _family(self) -> NotePart | None:
        return self._part("family-history", family(self.scribe))

    def _social(self) -> NotePart | None:
        return self._part("social-history", social(self.scribe))

    def _ros(self) -> NotePart | None:
        return self._part("review-of-systems", review(self.scribe), lines=self.scribe.style.exam == "lines")

    def _vitals(self) -> NotePart | None:
        since = self.known.at - 26 * HOUR if self.kind in ("progress", "consult") else None
        return self._part("vitals", vital_signs(self.scribe, since, first=self.kind in ("admission", "ed", "clinic")))

    def _exam(self) -> NotePart | None:
        if self.kind in ("progress", "consult"):
            better = {fact: one for one in self.known.happened("improved") for fact in one.facts}
            service = asked_service(self.known) if self.kind == "consult" else None
            said = later_examination(self.scribe, better, service)
        else:
            said = examination(self.scribe)
        return self._part("physical-exam", said, lines=self.scribe.style.exam == "lines")

    def _labs(self) -> NotePart | None:
        return self._part("labs", laboratory(self.scribe, self._news()))

    def _imaging(self) -> NotePart | None:
        return self._part("imaging", study_lines(self.scribe, self._news(), imaging=True))

    def _other(self) -> NotePart | None:
        return self._part("other-studies", study_lines(self.scribe, self._news(), imaging=False))

    def _news(self) -> Instant:
        """Return from when results are news: the note before, else a little before the patient came."""
        return self.since if self.since is not None and self.kind == "progress" else self.known.begin - 6 * HOUR

    def _pathology(self) -> NotePart | None:
        said = pathology(self.scribe)
        return self._part("pathology", said, lines=True)

    def _assessment(self) -> NotePart | None:
        said = assessment(self.scribe, day=self.day, visit=self.kind == "clinic")
        return self._part("assessment", said)

    def _plan(self) -> NotePart | None:
        consult = self.kind == "consult"
        since = self.known.at if consult else self.since
        said = opinion(self.scribe) if consult else []
        if not consult or takes_drugs(asked_service(self.known)):
            said += plan(self.scribe, since=since, narrow=consult, department=self.kind == "ed")
        teller = self.scribe.teller("disposition")
        said += [] if consult else consults(self.scribe, teller, self.since)
        if self.kind == "ed":
            said += self._ed_disposition(teller)
        elif self.kind == "consult":
            said.append(teller.say("consult.close"))
        elif self.kind == "clinic":
            said += discharge_plan(self.scribe)
        return self._part("plan", said, lines=True)

    def _ed_disposition(self, teller: Teller) -> list[Sentence]:
        root = self.known.root
        if root.kind != "ed":
            return [teller.say("ed.admit", (root.id,))]
        place = disposition(self.known)
        return [teller.say("ed.disposition", (root.id,), place=place)] if place else []

    def _course(self) -> NotePart | None:
        return self._part("hospital-course", hospital_course(self.scribe))

    def _leaving(self) -> NotePart | None:
        header = table("leaving_header")[self.scribe.style.headers]
        return self._part("vitals", condition_at_discharge(self.scribe), header)

    def _diagnoses(self) -> NotePart | None:
        header = table("discharge_header")[self.scribe.style.headers]
        return self._part("assessment", diagnoses(self.scribe), header, lines=True)

    def _dmeds(self) -> NotePart | None:
        return self._part("discharge-medications", discharge_medications(self.scribe))

    def _instructions(self) -> NotePart | None:
        return self._part("discharge-instructions", instructions(self.scribe))

    def _edmeds(self) -> NotePart | None:
        return self._dmeds() if self.known.root.kind == "ed" else None

    def _edinstructions(self) -> NotePart | None:
        return self._instructions() if self.known.root.kind == "ed" else None

    def _edfollowup(self) -> NotePart | None:
        return self._followup() if self.known.root.kind == "ed" else None

    def _followup(self) -> NotePart | None:
        if self.kind == "clinic" and not self.known.plans:
            return None
        return self._part("followup", followup(self.scribe))


def asked_service(known: Known) -> str:
    """Return the service that is asked about the principal illness."""
    principal = known.principal
    service = consulted_service(known, [principal.id]) if principal is not None else None
    return service or known.root.service


def service_of(scribe: Scribe) -> str:
    """Return the name of the service that is asked about the principal illness."""
    return service_name(asked_service(scribe.known))


def title_of(kind: str, style: Style) -> str:
    """Return the title of a note in its author's house."""
    return table("note_title" if style.headers in ("header_a", "header_c") else "note_title_b")[kind]
