"""What earlier questions named, and how a question that leaves something out is filled in from it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from wardround.patients import knowledge

from .query import Request, subjects_of

_GROUPS: dict[str, tuple[str, ...]] = {
    "drug": ("drug", "drug_class"),
    "lab": ("lab", "vital"),
    "score": ("score",),
    "finding": ("finding",),
}


@dataclass
class Memory:
    """The questions of an episode so far, as they were understood."""

    past: list[Request] = field(default_factory=list)

    def note(self, request: Request) -> None:
        """Keep a question once it is answered."""
        self.past.append(request)

    def last(self, group: str) -> str | None:
        """Return what a pronoun for that group means: the only one of the last turn that names any, else its last."""
        for request in reversed(self.past):
            named = request.wanted(*_GROUPS[group])
            if named:
                return named[-1]
        return None

    def all(self, group: str) -> tuple[str, ...]:
        """Return all of a group that were named, the latest question's first."""
        named = [one for request in reversed(self.past) for one in request.of(*_GROUPS[group])]
        return tuple(dict.fromkeys(named))

    def fill(self, request: Request) -> Request:
        """Return the request with what it leaves out put in; the request itself where it names everything."""
        if not self.past:
            return request
        if request.intent == "nothing" or self._bare(request):
            request = self._as_before(request)
        if request.branch is not None and request.branch.lab is None:
            request = replace(request, branch=replace(request.branch, lab=self.last("lab")))
        for group in missing(request):
            if group in {"monitored", "subject"}:
                request = self._monitored(request) if group == "monitored" else self._subject(request)
                continue
            found = self.last(group)
            if found is not None:
                request = request.with_given(group, found)
        return request

    def _bare(self, request: Request) -> bool:
        """Tell whether a question only names a drug: it asks of it what was asked before."""
        if request.intent != "look" or request.asks or not request.drugs:
            return False
        return not request.labs or self.past[-1].intent == "decide"

    def _as_before(self, request: Request) -> Request:
        """Return the request asking what the last question asked."""
        last = self.past[-1]
        if last.intent not in {"look", "decide"}:
            return request
        return replace(request, intent=last.intent, asks=last.asks, steps=() if request.drugs else last.steps)

    def _monitored(self, request: Request) -> Request:
        """Put in the tests named before by which the drug is dosed."""
        named = self.all("lab")
        labs = [lab for drug in request.drugs for lab in monitored_by(drug) if lab in named]
        return request.with_given("lab", *dict.fromkeys(labs)) if labs else request

    def _subject(self, request: Request) -> Request:
        """Put in the value named last that a step in question can rest on."""
        subjects = {one for step in request.steps for one in subjects_of(knowledge.decisions()[step].subject)}
        for group in ("lab", "score"):
            found = next((one for one in self.all(group) if one in subjects), None)
            if found is not None:
                return request.with_given(group, found)
        return request


def monitored_by(drug: str) -> tuple[str, ...]:
    """Return the tests and vital signs that a drug is watched by."""
    lexicon = knowledge.lexicon()
    found = [
        one.lab for one in knowledge.monitoring().values() if any(lexicon.is_a(drug, about) for about in one.drugs)
    ]
    return tuple(dict.fromkeys(found))


def missing(request: Request) -> tuple[str, ...]:
    """Return the groups that a question needs and does not name.

    drug, lab, finding, `monitored` (a test that the drug is watched by) or `subject` (the value that a step rests on).
    """
    found: list[str] = []
    about_drug = {"adherence", "given", "order"} & set(request.asks)
    if request.intent == "look" and about_drug and not request.drugs:
        found.append("drug")
    if request.intent == "branch" and request.branch is not None:
        arms = (request.branch.then, request.branch.otherwise)
        if any(one.asks for one in arms) and not request.drugs:
            found.append("drug")
    if request.intent == "decide":
        found.extend(_missing_decision(request))
    if request.intent == "prescribe" and request.dosing is not None:
        if not request.drugs:
            found.append("drug")
        if len(request.dosing.doses) > 1 and not request.labs:
            found.append("lab")
    if request.intent == "request" and not request.of("lab", "vital", "service", "study", "procedure", topics=False):
        found.append("lab")
    if request.intent == "flag":
        found.extend(_missing_flag(request))
    return tuple(found)


def _missing_decision(request: Request) -> list[str]:
    if request.steps:
        return [] if request.labs or request.scores else ["subject"]
    if "plan" in request.asks or "function" in request.asks:
        return []
    found = []
    if not request.drugs:
        found.append("drug")
    if "finding" in request.points and not request.findings:
        found.append("finding")
    if request.findings:
        if "result" in request.points and not request.labs:
            found.append("lab")
    elif not request.labs and "finding" not in found:
        found.append("lab" if "result" in request.points else "monitored")
    return found


def _missing_flag(request: Request) -> list[str]:
    found = []
    if "result" in request.points and not request.of("lab", "vital", topics=False):
        found.append("lab")
    if "drug" in request.points and not request.wanted("drug", "drug_class"):
        found.append("drug")
    return found
