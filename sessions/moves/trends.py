"""How a lab went over a stay: whether its series has one direction, and what is told and checked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Final, Literal

from wardround.patients.knowledge import Names
from wardround.rubrics import AllOf, AnyOf, Check, Item, RetrievedCheck, TrendCheck, ValueCheck
from wardround.sessions.common import Common
from wardround.sessions.record import Reading
from wardround.sessions.session import GoldCall

from .move import Case
from .parts import capital, chart_call, item, reads, status_item

Direction = Literal["rising", "falling", "stable"]

_SAY: Final[dict[Direction, Names]] = {
    "rising": Names(en="{lab} rose from {first} to {last} this admission", zh="{lab}入院以来由{first}升至{last}"),
    "falling": Names(en="{lab} fell from {first} to {last} this admission", zh="{lab}入院以来由{first}降至{last}"),
    "stable": Names(en="{lab} was stable this admission, {first} to {last}", zh="{lab}入院以来平稳，由{first}到{last}"),
}
_SAME: Final = Names(en="{lab} was stable at {last} this admission", zh="{lab}入院以来平稳，一直是{last}")
_NAMES: Final[dict[Direction, Names]] = {
    "rising": Names(en="rising", zh="上升"),
    "falling": Names(en="falling", zh="下降"),
    "stable": Names(en="stable", zh="平稳"),
}


@dataclass(frozen=True)
class Trend:
    """A lab's way through this stay."""

    first: Reading
    last: Reading
    direction: Direction
    readings: tuple[Reading, ...]
    admitted: Reading | None = None
    """The first value after the emergency department's, where there is one: it may be called the first as well."""

    @property
    def firsts(self) -> tuple[Reading, ...]:
        """The values that the series may be said to begin with."""
        return (self.first,) if self.admitted is None else (self.first, self.admitted)


def trend_of(series: tuple[Reading, ...] | None, common: Common) -> Trend | None:
    """Return the trend of a series; None where it is too short, too long or changes its way.

    A series that went up and came down again has no one trend: "rising" and "now falling" could both be argued, and so
    could a change of no more than the last decimal.

    Args:
        series: Values of one stay in one unit, oldest first.
        common: Shared knowledge; its `trends` say what is a rise or a fall.
    """
    rules = common.trends
    if series is None or not 2 <= len(series) <= rules.limit:
        return None
    first, last = series[0], series[-1]
    # what stays in its range moves within its own noise
    percent = rules.normal_percent if all(one.level == "normal" for one in series) else rules.percent
    least = max(abs(first.value) * percent / Decimal(100), rules.steps * _unit_of_last_decimal(series))
    steps = [after.value - before.value for before, after in pairwise(series)]
    if last.value - first.value >= least and all(step >= 0 for step in steps):
        return Trend(first, last, "rising", series)
    if first.value - last.value >= least and all(step <= 0 for step in steps):
        return Trend(first, last, "falling", series)
    near = abs(first.value) * rules.stable_percent / Decimal(100)
    if max(abs(one.value - first.value) for one in series) <= near:
        return Trend(first, last, "stable", series)
    return None


def _unit_of_last_decimal(series: tuple[Reading, ...]) -> Decimal:
    """Return one unit of the last decimal of the value that is charted most finely."""
    places = (one.text.partition(".")[2] for one in series)
    return Decimal(1).scaleb(-max(len(part) for part in places))


def trends(case: Case) -> Mapping[str, Trend]:
    """Return the labs of this stay that have one trend, by id."""
    return case.memo("moves.trends", _trends)


def _trends(case: Case) -> Mapping[str, Trend]:
    found = {}
    for lab, series in case.view.series.items():
        trend = _whole(case, lab, series)
        if trend is not None and trend.last == case.view.latest.get(lab):
            # the reading of the latest value may have a range aimed at
            found[lab] = replace(trend, last=case.view.latest[lab])
    return found


def _whole(case: Case, lab: str, series: tuple[Reading, ...]) -> Trend | None:
    """Return the trend of a stay with its emergency department; None where it would be another without that."""
    trend, begun = trend_of(series, case.common), case.view.begun.get(lab, 0)
    inside = series[begun:]
    if trend is None or begun == 0 or len(inside) < 2:
        return trend
    alone = trend_of(inside, case.common)
    if alone is None or alone.direction != trend.direction:
        return None
    return replace(trend, admitted=inside[0])


def trend_call(case: Case, trend: Trend) -> GoldCall:
    """Return the call that finds the whole series of this stay."""
    return chart_call(case, "Observation.search", hadm_id=case.encounter, category="laboratory", code=trend.last.name)


def trend_items(trend: Trend) -> list[Item]:
    """Return the items that the series was looked up, which way it goes with both end points, and how it reads now."""
    first, last = trend.first, trend.last
    begins = tuple(key for one in trend.firsts for key in one.keys)
    read = AllOf(checks=(RetrievedCheck(any_of=begins), RetrievedCheck(any_of=last.keys)))
    moved = [_moved(trend, one) for one in trend.firsts]
    checks: list[Check] = list({one.start: one for one in moved}.values())
    if first.text == last.text:
        # "stable at 24" gives both ends
        value = ValueCheck(concept=last.name, value=last.number, unit=last.unit)
        checks.append(AllOf(checks=(TrendCheck(concept=last.name, direction=trend.direction), value)))
    check = checks[0] if len(checks) == 1 else AnyOf(checks=tuple(checks))
    way = _NAMES[trend.direction]
    return [
        item(
            f"read-{last.lab}",
            f"Looked up the first and the latest {last.name} of this stay.",
            f"查过本次住院首次和最近一次{last.zh}。",
            read,
        ),
        item(
            f"trend-{last.lab}",
            f"Says that the {last.name} is {way.en}, from {first.text} to {last.quantity}.",
            f"说明{last.zh}{way.zh}，由{first.text}到{last.quantity}。",
            check,
            (f"read-{last.lab}",),
        ),
        status_item(last, f"trend-{last.lab}"),
    ]


def _moved(trend: Trend, first: Reading) -> TrendCheck:
    ends = {"from": first.number, "to": trend.last.number, "unit": trend.last.unit}
    return TrendCheck.model_validate({"concept": trend.last.name, "direction": trend.direction, **ends})


def trend_line(trend: Trend) -> Names:
    """Return a trend with both end points and its reading now, without full stop."""
    last = trend.last
    say, level = _SAY[trend.direction], reads(last)
    if trend.first.text == last.text:
        say = _SAME
    en = say.en.format(lab=capital(last.name), first=trend.first.text, last=last.quantity)
    zh = (say.zh or "").format(lab=last.zh, first=trend.first.text, last=last.quantity)
    return Names(en=f"{en}, now {level.en}", zh=f"{zh}，目前{level.zh}")
