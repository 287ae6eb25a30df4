"""Whether an act that stands in the text is meant as advice: recommended here, not quoted, imagined or weighed."""

from __future__ import annotations

from abc import ABC
from dataclasses import replace

from .claims import ActClaim
from .cues import words
from .document import Ann, turns
from .framed import Framed

HARMFUL = frozenset(("stop", "hold", "start", "give", "increase", "reduce", "switch", "order"))
"""Acts of which one may say what harm they would do."""
RECOMMENDING = tuple(sorted(words("acts.recommending")))
NO_ADVICE = tuple(sorted(words("acts.no_advice")))
TURNS = words("acts.turns")
OPEN_CONDITIONS = words("meant.open_conditions")
DECIDED = tuple(sorted(words("acts.decided")))
"""What settles a choice that was called open ("A也行，还是选B")."""
NOT_DONE = tuple(sorted(words("meant.not_done")))
"""Chinese denials of what happened; those of what is to happen (不, 别) are advice."""
DONE = words("meant.done")
"""What ends a Chinese verb of what happened."""
WANTED = words("meant.wanted")
"""Words before such a verb that make it advice all the same ("可以给了")."""
TAKING = words("meant.taking")
"""Chinese words of giving that also say that a patient takes something."""
TAKERS = words("meant.takers")
"""What opens a clause in which such a word says that."""
TURNED = frozenset(("hold", "stop", "reduce", "increase", "continue"))
"""What may become of a drug in use."""
BEFORE_GERUND = words("acts.before_gerund")
AFTER_GERUND = words("acts.after_gerund")


class Meant(Framed, ABC):
    """Asks the words around an act of one sentence."""

    def _not_meant(self, ann: Ann, at: int, *, quoted: bool) -> bool:
        """Tell whether the sentence says that the act would do harm, can be argued both ways, or quotes and rejects it.

        Args:
            ann: the act.
            at: where its own words of recommendation end.
            quoted: a protocol or somebody else says it.
        """
        tokens, clause = self.document.tokens, self.document.clause
        if tokens[ann.start].kind == "c" and (self._happened(ann) or self._in_use(ann)):
            return True
        for mod in self.sentence.of("stance"):
            if mod.kind == "harm" and mod.start >= at and self._listed_with(ann, mod):
                reason = any(ann.end <= link.start < mod.start for link in self.sentence.of("link", "because"))
                if ann.kind in HARMFUL and not reason:
                    return True
            elif mod.kind == "reject" and quoted and mod.start >= ann.end:
                return True
            elif mod.kind == "usual" and mod.end <= ann.end and clause[mod.start] == clause[ann.start]:
                if any(tokens[i].key in TURNS or turns(self.document, i) for i in range(ann.end, self.sentence.end)):
                    return True  # "I would normally avoid it, but here it is fine"
            elif mod.kind == "tossup":
                first, last = sorted((mod.start, ann.start))
                decided = mod.start < ann.start and any(word in self.document.text(first, ann.end) for word in DECIDED)
                if not decided and not any(tokens[i].key in TURNS for i in range(first, last)):
                    return True
        return False

    def _happened(self, ann: Ann) -> bool:
        """As in "给了10 mg", "用上了", "没停": what was done, or was not, is no advice."""
        tokens = self.document.tokens
        start = self.document.clause_start(self.sentence, ann.start)
        if self.document.text(start, ann.start).endswith(NOT_DONE):
            return True
        done = ann.kind == "start" and ann.end < self.sentence.end and tokens[ann.end].raw in DONE
        return done and not any(word in self.document.text(start, ann.start) for word in WANTED)

    def _in_use(self, ann: Ann) -> bool:
        """As in "患者用阿托伐他汀80 mg，暂停": what the patient takes, before what is to become of it."""
        if ann.kind != "start" or self._cue(ann) not in TAKING:
            return False
        start = self.document.clause_start(self.sentence, ann.start)
        opened = self.document.text(start, ann.start)
        if opened and opened in TAKERS:
            return True
        turned = any(a.kind in TURNED and a.start >= ann.end for a in self.acts)
        return not opened and start == self.sentence.start and turned

    def _drug_instead(self, claim: ActClaim, findings: set[str]) -> ActClaim:
        """As in "阿托伐他汀80 mg，肌痛，暂停": what is held is the one drug named, not the finding."""
        clause = self.document.clause
        if claim.act not in ("hold", "stop") or claim.target not in findings:
            return claim
        if claim.end > claim.token or clause[claim.end] == clause[claim.token]:
            return claim
        before = [drug for drug in self.drugs if drug.end <= claim.token]
        drug = before[-1] if before else self.carried
        if drug is None or len({one.value.ids for one in before}) > 1:
            return claim
        return replace(claim, target=drug.value.ids[0], targets=drug.value.ids)

    def _cue(self, ann: Ann) -> str:
        return self.document.text(ann.start, ann.end)

    def _listed_with(self, ann: Ann, mod: Ann) -> bool:
        """Tell whether an act and what is said of it share a clause, the marks of a list aside ("用A、B都会诱发…")."""
        clause = self.document.clause
        ends = (i for i in range(ann.start, mod.start) if clause[i] != clause[i + 1])
        return all(self.document.tokens[i].raw == "、" for i in ends)

    def _conditional(self, ann: Ann) -> bool:
        """Tell whether the act hangs on a condition; one that follows belongs to the last act before it."""
        where = self.scopes.conditional(ann.start)
        if not where or (ann.kind == "resume" and not self._only_if(ann)):
            return False
        if where == "inside":
            return True
        conditions = [m for m in self.scopes.mods if m.kind == "cond"]
        following = [m for m in conditions if m.start >= ann.end]
        if following and not any(m.end <= ann.start for m in conditions):
            return not any(ann.end <= other.start < following[0].start for other in self.acts)
        return True

    def _only_if(self, ann: Ann) -> bool:
        """As in "若确诊房颤，再用X": a word of resuming that begins a therapy on an open condition."""
        held = any(a.kind in ("hold", "stop") and a.start < ann.start for a in self.acts)
        before = (m for m in self.scopes.mods if m.kind == "cond" and m.end <= ann.start)
        return not held and any(self.document.text(m.start, m.end) in OPEN_CONDITIONS for m in before)

    def _beside_family(self, ann: Ann) -> bool:
        """Tell whether a relative is named in the act's own clause: then it is the relative's wish or therapy."""
        clause = self.document.clause
        return any(m.kind == "family" and clause[m.start] == clause[ann.start] for m in self.scopes.mods)

    def _turned_to_patient(self, ann: Ann) -> bool:
        """As in "指南说一年停，他才四个月，留着": a later clause about this patient is the answer's own again."""
        tokens, clause = self.document.tokens, self.document.clause
        source = next((s for s in reversed(self.scopes.sources) if s.end <= ann.start), None)
        if source is None or source.kind != "chart" or tokens[ann.start].kind != "c":
            return False
        return any(
            tokens[i].raw in "他她" and clause[i] != clause[i - 1] and clause[i] > clause[source.end - 1]
            for i in range(source.end, ann.start)
        )

    def _recommended(self, at: int) -> bool:
        """Tell whether a word of recommendation stands between the last source and `at`."""
        sources = [s for s in self.scopes.sources if s.start < at]
        begin = sources[-1].end if sources else self.sentence.start
        if sources and sources[-1].kind == "chart":  # what a guideline recommends is not recommended here
            begin = min(at, self.document.clause_end(self.sentence, begin - 1))
        told = sources and sources[-1].kind in ("patient", "family")
        if told and any(self.document.tokens[i].raw == ":" for i in range(begin + 3, at)):
            return True  # "He wants screening and is 58: add a PSA"
        text = self.document.text(begin, at).lower()
        for word in NO_ADVICE:
            text = text.replace(word, " ")
        return any(word in text for word in RECOMMENDING)

    def _gerund_advised(self, before: list[str], end: int) -> bool:
        """Tell whether a form in -ing is advised: "I recommend stopping", "I am referring", "stopping is warranted"."""
        if set(before[-4:]) & BEFORE_GERUND:
            return True
        after = {self.document.tokens[i].key for i in range(end, min(self.sentence.end, end + 10))}
        return bool(after & AFTER_GERUND)
