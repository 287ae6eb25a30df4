"""Charts from a few lines of Python: valid R4 resources, each with the instant it became known."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from .building import (
    INTERPRETATION,
    LOINC,
    OBSERVATION_CATEGORY,
    PRESSURE_PARTS,
    When,
    attachment,
    concept,
    dosage_element,
    instant_of,
    quantity,
    time_text,
    value_elements,
)
from .draft import ChartDraft
from .errors import DataError
from .resource import end_of, instant_text, known_value, with_rank

_V3 = "http://terminology.hl7.org/CodeSystem/v3-ActCode"
_CLASSES = {
    "AMB": "ambulatory", "EMER": "emergency", "IMP": "inpatient encounter", "ACUTE": "inpatient acute",
    "OBSENC": "observation encounter", "HH": "home health", "VR": "virtual", "SS": "short stay",
}  # fmt: skip
_ICD10 = "http://hl7.org/fhir/sid/icd-10-cm"


class ChartBuilder(ChartDraft):
    """Builds one patient's chart. Every method adds one resource and returns its id.

    Times are FHIR dateTimes or "2180-05-06 07:00" (read as UTC), or instants. `known_at` defaults by the rules of the
    real record: a result at its store time else when it was taken, a stay at its start (its end and disposition at
    the end), an order when it was entered, a dated diagnosis at that date.

    The arguments are those of `ChartDraft`: the patient, and the licence of the chart.
    """

    def encounter(
        self, id: str, cls: str, start: When, end: When | None = None, *, type: str | None = None,
        reason: str | None = None, disposition: str | None = None, known_at: When | None = None,
    ) -> str:  # fmt: skip
        """Add a stay or visit. Its end and disposition are known at its end.

        Args:
            id: Encounter id (the `hadm_id` agents use).
            cls: v3-ActCode: AMB, EMER, IMP, ACUTE, OBSENC, HH, VR, SS.
            start: Begin.
            end: End; without it the stay goes on.
            type: Words for the kind of visit.
            reason: Words for why.
            disposition: Where to, at the end.
            known_at: When it was known; default its start.
        """
        if cls not in _CLASSES:
            raise DataError(f"encounter {id}: class `{cls}` is none of {', '.join(sorted(_CLASSES))}")
        stay = self._new("Encounter", "encounter", id)
        stay["status"] = "in-progress" if end is None else "finished"
        stay["class"] = {"system": _V3, "code": cls, "display": _CLASSES[cls]}
        stay["period"] = {"start": time_text(start)}
        if end is not None:
            stay["period"]["end"] = time_text(end)
        if type:
            stay["type"] = [{"text": type}]
        if reason:
            stay["reasonCode"] = [{"text": reason}]
        if disposition:
            stay["hospitalization"] = {"dischargeDisposition": {"text": disposition}}
        return self.add(stay, start if known_at is None else known_at)

    def condition(
        self, name: str, *, code: str | None = None, onset: When | None = None, recorded: When | None = None,
        known_at: When | None = None, clinical_status: str | None = "active", abatement: When | None = None,
        category: str = "encounter-diagnosis", encounter: str | None = None, rank: int | None = None,
        system: str = _ICD10, id: str | None = None,
    ) -> str:  # fmt: skip
        """Add a diagnosis, known at `known_at`, else when recorded, else at onset.

        Args:
            name: Words.
            code: ICD-10-CM code with dots (or a code of `system`).
            onset: When it began.
            recorded: When it was recorded.
            known_at: When it was known.
            clinical_status: active, recurrence, relapse, inactive, remission, resolved; None leaves it out.
            abatement: When it ended (known only from then on; give `clinical_status` as it is afterwards).
            category: encounter-diagnosis or problem-list-item.
            encounter: Encounter id.
            rank: 1 for the principal diagnosis.
            system: Code system of `code`.
            id: Resource id.
        """
        condition = self._new("Condition", "condition", id, encounter)
        site = "http://terminology.hl7.org/CodeSystem"
        if clinical_status is not None:
            clinical = {"system": f"{site}/condition-clinical", "code": clinical_status}
            condition["clinicalStatus"] = {"coding": [clinical]}
        condition["verificationStatus"] = {"coding": [{"system": f"{site}/condition-ver-status", "code": "confirmed"}]}
        condition["category"] = [{"coding": [{"system": f"{site}/condition-category", "code": category}]}]
        condition["code"] = concept(name, system, code)
        if onset is not None:
            condition["onsetDateTime"] = time_text(onset)
        if recorded is not None:
            condition["recordedDate"] = time_text(recorded)
        if abatement is not None:
            condition["abatementDateTime"] = time_text(abatement)
        if rank is not None:
            with_rank(condition, rank)
        known = self._first("condition", name, known_at, recorded, onset)
        if abatement is None and clinical_status in ("inactive", "remission", "resolved"):
            # The author says how it stood when it became known; a bare "resolved" would be of no known date.
            known_value(condition, "clinicalStatus", condition["clinicalStatus"], instant_of(known))
        return self.add(condition, known)

    def lab(
        self, name: str, value: str | int | Decimal, unit: str | None = None, *, at: When, stored: When | None = None,
        low: str | int | Decimal | None = None, high: str | int | Decimal | None = None, flag: str | None = None,
        loinc: str | None = None, ucum: str | None = None, encounter: str | None = None, status: str = "final",
        category: str = "laboratory", known_at: When | None = None, note: str | None = None,
        id: str | None = None,
    ) -> str:  # fmt: skip
        """Add a laboratory result, known when stored (else when taken).

        Args:
            name: Name as the chart has it.
            value: A number (a string keeps its digits: "0.30"), a bounded number (">300"), or words ("NEG").
            unit: Unit as the chart has it.
            at: When it was taken.
            stored: When the result was filed.
            low: Lower bound of the reference range.
            high: Upper bound of the reference range.
            flag: Source's flag (H, L, A …).
            loinc: LOINC code.
            ucum: UCUM code of the unit, default `unit`.
            encounter: Encounter id.
            status: Observation status.
            category: laboratory, vital-signs, exam …
            known_at: When it was known, where neither time is right.
            note: A comment.
            id: Resource id.
        """
        result = self._new("Observation", "vital" if category == "vital-signs" else "lab", id, encounter)
        result["status"] = status
        result["category"] = [{"coding": [{"system": OBSERVATION_CATEGORY, "code": category}]}]
        result["code"] = concept(name, LOINC, loinc)
        result["effectiveDateTime"] = time_text(at)
        if stored is not None:
            result["issued"] = instant_text(end_of(time_text(stored)))
        result.update(value_elements(value, unit, ucum))
        bounds = {"low": low, "high": high}
        band = {end: quantity(bound, unit, ucum) for end, bound in bounds.items() if bound is not None}
        if band:
            result["referenceRange"] = [band]
        if flag is not None:
            result["interpretation"] = [{"coding": [{"system": INTERPRETATION, "code": flag}]}]
        if note is not None:
            result["note"] = [{"text": note}]
        known = known_at if known_at is not None else stored if stored is not None else at
        return self.add(result, known)

    def vital(self, name: str, value: str | int | Decimal, unit: str | None = None, *, at: When, **more: Any) -> str:
        """Add a vital sign; the arguments are those of `lab`. "120/80" becomes a pressure of two components."""
        more = {"category": "vital-signs", **more}
        if isinstance(value, str) and (parts := value.split("/")) and len(parts) == 2 and all(map(str.isdigit, parts)):
            identity = self.lab(name, "0", unit, at=at, **more)
            result = self._resources[-1][0]
            del result["valueQuantity"]
            result["component"] = [
                {"code": concept(words, LOINC, code), "valueQuantity": quantity(part, unit, more.get("ucum"))}
                for (words, code), part in zip(PRESSURE_PARTS, parts, strict=True)
            ]
            return identity
        return self.lab(name, value, unit, at=at, **more)

    def medication(
        self, name: str, *, dose: str | None = None, route: str | None = None, frequency: str | None = None,
        start: When, stop: When | None = None, stopped: bool = False, status: str | None = None,
        status_reason: str | None = None, authored: When | None = None, known_at: When | None = None,
        rxnorm: str | None = None, encounter: str | None = None, category: str | None = None,
        reason: str | None = None, id: str | None = None,
    ) -> str:  # fmt: skip
        """Add an order. Before its stop it is active and its stop is not known.

        Args:
            name: Medication as the chart has it.
            dose: "500 mg"; number and unit where it reads so, else words.
            route: Words (oral, PO, IV).
            frequency: Words (BID, once daily).
            start: Begin.
            stop: End.
            stopped: Ended early (discontinued) rather than completed.
            status: Status where it is neither active nor ended (on-hold, draft).
            status_reason: Why it was stopped.
            authored: When it was written; default `start`.
            known_at: When it was entered; default `authored`.
            rxnorm: RxNorm code.
            encounter: Encounter id.
            category: inpatient, outpatient, community, discharge.
            reason: Words for the indication.
            id: Resource id.
        """
        order = self._new("MedicationRequest", "rx", id, encounter)
        ended = "active" if stop is None else "stopped" if stopped else "completed"
        order["status"] = status or ended
        order["intent"] = "order"
        system = "http://www.nlm.nih.gov/research/umls/rxnorm"
        order["medicationCodeableConcept"] = concept(name, system, rxnorm)
        written = start if authored is None else authored
        order["authoredOn"] = time_text(written)
        if category:
            site = "http://terminology.hl7.org/CodeSystem/medicationrequest-category"
            order["category"] = [{"coding": [{"system": site, "code": category}]}]
        if reason:
            order["reasonCode"] = [{"text": reason}]
        if status_reason:
            order["statusReason"] = {"text": status_reason}
        dosage = dosage_element(dose, route, frequency)
        if dosage:
            order["dosageInstruction"] = [dosage]
        validity = {"start": time_text(start)}
        if stop is not None:
            validity["end"] = time_text(stop)
        order["dispenseRequest"] = {"validityPeriod": validity}
        return self.add(order, written if known_at is None else known_at)

    def administration(
        self, name: str, *, at: When, dose: str | None = None, route: str | None = None, status: str = "completed",
        reason: str | None = None, request: str | None = None, encounter: str | None = None,
        known_at: When | None = None, id: str | None = None,
    ) -> str:  # fmt: skip
        """Add what was really given; `not-done` with a reason for a held or refused dose."""
        given = self._new("MedicationAdministration", "mar", id, encounter)
        given["status"] = status
        given["medicationCodeableConcept"] = {"text": name}
        given["effectiveDateTime"] = time_text(at)
        if reason:
            given["statusReason"] = [{"text": reason}]
        if request:
            given["request"] = {"reference": f"MedicationRequest/{request}"}
        dosage = dosage_element(dose, route, None)
        if dosage:
            amount = dosage.pop("doseAndRate", [{}])[0].get("doseQuantity")
            given["dosage"] = {**dosage, **({"dose": amount} if amount else {})}
        return self.add(given, at if known_at is None else known_at)

    def allergy(
        self, substance: str, *, recorded: When, reaction: str | None = None, criticality: str | None = None,
        category: str = "medication", known_at: When | None = None, id: str | None = None,
    ) -> str:  # fmt: skip
        """Add an allergy or intolerance; `criticality` is low, high or unable-to-assess."""
        allergy = self._new("AllergyIntolerance", "allergy", id)
        site = "http://terminology.hl7.org/CodeSystem"
        allergy["clinicalStatus"] = {"coding": [{"system": f"{site}/allergyintolerance-clinical", "code": "active"}]}
        verified = [{"system": f"{site}/allergyintolerance-verification", "code": "confirmed"}]
        allergy["verificationStatus"] = {"coding": verified}
        allergy["category"] = [category]
        allergy["code"] = {"text": substance}
        allergy["recordedDate"] = time_text(recorded)
        if criticality:
            allergy["criticality"] = criticality
        if reaction:
            allergy["reaction"] = [{"manifestation": [{"text": reaction}]}]
        return self.add(allergy, recorded if known_at is None else known_at)

    def procedure(
        self, name: str, *, at: When, end: When | None = None, code: str | None = None, system: str | None = None,
        encounter: str | None = None, outcome: str | None = None, known_at: When | None = None,
        id: str | None = None,
    ) -> str:  # fmt: skip
        """Add a procedure; with an `end`, its end and outcome are known then."""
        done = self._new("Procedure", "procedure", id, encounter)
        done["status"] = "completed"
        done["code"] = concept(name, system, code)
        if end is None:
            done["performedDateTime"] = time_text(at)
        else:
            done["performedPeriod"] = {"start": time_text(at), "end": time_text(end)}
        if outcome:
            done["outcome"] = {"text": outcome}
        return self.add(done, at if known_at is None else known_at)

    def report(
        self, name: str, text: str, *, at: When, issued: When | None = None, conclusion: str | None = None,
        category: str = "RAD", loinc: str | None = None, encounter: str | None = None,
        known_at: When | None = None, id: str | None = None,
    ) -> str:  # fmt: skip
        """Add a diagnostic report with its full text, known when issued (else when done)."""
        report = self._new("DiagnosticReport", "report", id, encounter)
        report["status"] = "final"
        site = "http://terminology.hl7.org/CodeSystem/v2-0074"
        report["category"] = [{"coding": [{"system": site, "code": category}]}]
        report["code"] = concept(name, LOINC, loinc)
        report["effectiveDateTime"] = time_text(at)
        if issued is not None:
            report["issued"] = instant_text(end_of(time_text(issued)))
        report["presentedForm"] = [attachment(text)]
        if conclusion:
            report["conclusion"] = conclusion
        known = known_at if known_at is not None else issued if issued is not None else at
        return self.add(report, known)

    def note(
        self, type: str, sections: Mapping[str, str] | str, *, at: When, stored: When | None = None,
        code: str | None = None, category: str = "clinical-note", encounter: str | None = None,
        known_at: When | None = None, id: str | None = None,
    ) -> str:  # fmt: skip
        """Add a note, known when stored (else when written).

        Args:
            type: Words ("Progress note").
            sections: Header → text, in order; or the whole text.
            at: When it was written.
            stored: When it was filed.
            code: Code of the type ("discharge-summary", a LOINC code).
            category: Category code.
            encounter: Encounter id.
            known_at: When it was known, where neither time is right.
            id: Resource id.
        """
        note = self._new("DocumentReference", "note", id)
        note["status"] = "current"
        note["type"] = concept(type, None, code)
        note["category"] = [{"coding": [{"code": category}]}]
        note["date"] = instant_text(end_of(time_text(at)))
        parts = {None: sections} if isinstance(sections, str) else sections
        note["content"] = [{"attachment": attachment(text, title)} for title, text in parts.items()]
        if encounter is not None:
            note["context"] = {"encounter": [{"reference": f"Encounter/{encounter}"}]}
        known = known_at if known_at is not None else stored if stored is not None else at
        return self.add(note, known)

    def care_plan(
        self, title: str, text: str, *, at: When, category: str = "discharge-planning", end: When | None = None,
        encounter: str | None = None, known_at: When | None = None, id: str | None = None,
    ) -> str:  # fmt: skip
        """Add a plan of care."""
        plan = self._new("CarePlan", "plan", id, encounter)
        plan.update({"status": "active" if end is None else "completed", "intent": "plan", "title": title})
        plan["category"] = [{"coding": [{"code": category}], "text": category}]
        plan["description"] = text
        plan["period"] = {"start": time_text(at), **({"end": time_text(end)} if end is not None else {})}
        plan["created"] = time_text(at)
        return self.add(plan, at if known_at is None else known_at)
