"""Compares generated inpatient laboratory values with the MIMIC-IV demo and writes `docs/hospital-labs.md`.

    python scripts/lab_plausibility.py DEMO [--store STORE | --lives N --seed S] [--out docs/hospital-labs.md]

DEMO is the folder of the MIMIC-IV demo (with `hosp/labevents.csv.gz`). Values come from a store of generated charts or
from N lives made here. Only aggregate figures of the demo are written, never a row of it.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from wardround.patients import ChartStore, measurements
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.physiology_text import quantity
from wardround.patients.knowledge import labs
from wardround.patients.times import NEVER
from wardround.sessions.record import plain

COMMONEST = 40
LEAST_VALUES = 30
"""Labs of which fewer are drawn tell nothing and are passed over."""
SHARE_WANTED = Decimal("0.95")


class Row(NamedTuple):
    """One lab of the table; places are in the lab's unit."""

    lab: str
    ours: int
    ours_low: Decimal
    ours_median: Decimal
    ours_high: Decimal
    theirs: int
    low: Decimal
    first: Decimal
    median: Decimal
    third: Decimal
    high: Decimal
    inside: Decimal
    """Share of our values within the demo's 0.5-99.5 percentile band."""

    @property
    def fits(self) -> bool:
        """Whether enough values lie in the band and our median between the demo's quartiles."""
        return self.inside >= SHARE_WANTED and self.first <= self.ours_median <= self.third


def place(values: Sequence[Decimal], per_mille: int) -> Decimal:
    """Return a percentile of sorted values by nearest rank, in thousandths."""
    return values[min(len(values) - 1, (per_mille * (len(values) - 1) + 500) // 1000)]


def demo_values(folder: Path) -> dict[str, list[Decimal]]:
    """Return the sorted numeric values of hospital stays in the demo, by lab id."""
    known = {item: lab.id for lab in labs().values() for item in lab.mimic_itemids}
    found: dict[str, list[Decimal]] = {}
    with gzip.open(folder / "hosp" / "labevents.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            lab = known.get(int(row["itemid"]))
            if lab is not None and row["hadm_id"] and row["valuenum"]:
                value = Decimal(row["valuenum"])
                found.setdefault(lab, []).append(value - added_potassium(lab))
    return {lab: sorted(values) for lab, values in found.items()}


def added_potassium(lab: str) -> Decimal:
    """Return what the demo's anion gap holds beyond ours: its hospital adds potassium, about 4 meq/L."""
    return Decimal(4) if lab == "anion_gap" else Decimal(0)


def lived_values(count: int, seed: int) -> Iterator[tuple[str, Decimal]]:
    """Yield (lab, value) of the hospital stays of lives made here."""
    for index in range(count):
        life = make_life(seed, index)
        inside = {stay.id for stay in life.stays if stay.kind in ("ward", "icu") or stay.part_of}
        for result in life.results:
            value = quantity(result.text)
            if result.encounter in inside and value is not None:
                yield result.lab, value


def stored_values(path: Path) -> Iterator[tuple[str, Decimal]]:
    """Yield (lab, value) of the hospital stays of a store's charts."""
    with ChartStore.open(path) as store:
        for patient in store.patients():
            snapshot = store.chart(patient).at(NEVER - 1)
            wards = {
                f"Encounter/{stay['id']}"
                for stay in snapshot.resources("Encounter")
                if stay["class"]["code"] in ("IMP", "ACUTE") or "partOf" in stay
            }
            for observation in snapshot.resources("Observation"):
                if observation.get("encounter", {}).get("reference") in wards:
                    for measured in measurements(observation):
                        value = measured.value if measured.value is not None else measured.bound
                        if value is not None:
                            yield measured.concept, value


def compare(generated: Iterable[tuple[str, Decimal]], demo: Mapping[str, Sequence[Decimal]]) -> list[Row]:
    """Return the table of the labs that the demo has most of, the commonest first."""
    ours: dict[str, list[Decimal]] = {}
    for lab, value in generated:
        ours.setdefault(lab, []).append(value)
    rows = []
    for lab, theirs in sorted(demo.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        mine = sorted(ours.get(lab, ()))
        if len(mine) < LEAST_VALUES:
            continue
        low, high = place(theirs, 5), place(theirs, 995)
        inside = sum(low <= value <= high for value in mine)
        ours_places = (place(mine, 5), place(mine, 500), place(mine, 995))
        quartiles = (place(theirs, 250), place(theirs, 500), place(theirs, 750))
        share = Decimal(inside) / len(mine)
        rows.append(Row(lab, len(mine), *ours_places, len(theirs), low, *quartiles, high, share))
        if len(rows) == COMMONEST:
            break
    return rows


def table(rows: Sequence[Row], source: str) -> str:
    """Return the page."""
    missed = [row.lab for row in rows if not row.fits]
    lines = [
        "# Laboratory values of the built-in hospital beside real ones",
        "",
        "Written by `scripts/lab_plausibility.py`. Values of hospital stays: ours against the MIMIC-IV demo, the "
        f"{len(rows)} labs that the demo has most of and of which the hospital draws at least {LEAST_VALUES} values. "
        "Wanted: at least 95 % of ours within the "
        "demo's 0.5–99.5 percentile band, our median between its quartiles.",
        "",
        f"Ours: {source}. Both hold for {len(rows) - len(missed)} of {len(rows)}"
        + (f"; not for {', '.join(missed)}." if missed else "."),
        "",
        "The demo's hospital adds potassium to the anion gap, ours leaves it out: 4 meq/L are taken off the demo's.",
        "",
        "| lab | n | 0.5 % | median | 99.5 % | demo n | demo 0.5–99.5 % | demo quartiles | inside | fits |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    lines += [_row(row) for row in rows]
    lines += [
        "",
        "Demo figures are aggregates of the MIMIC-IV Clinical Database Demo 2.2 (Johnson et al., PhysioNet), made "
        "available under the Open Database License (ODbL 1.0): <https://opendatacommons.org/licenses/odbl/1-0/>.",
        "",
    ]
    return "\n".join(lines)


def _row(row: Row) -> str:
    cells = [
        row.lab,
        str(row.ours),
        plain(row.ours_low),
        plain(row.ours_median),
        plain(row.ours_high),
        str(row.theirs),
        f"{plain(row.low)}–{plain(row.high)}",
        f"{plain(row.first)}–{plain(row.median)}–{plain(row.third)}",
        f"{row.inside * 100:.1f} %",
        "yes" if row.fits else "no",
    ]
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or print the table; 1 where a lab does not fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("demo", type=Path)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--lives", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    if options.store is not None:
        generated, source = stored_values(options.store), f"the store {options.store.name}"
    else:
        generated, source = lived_values(options.lives, options.seed), f"{options.lives} lives, seed {options.seed}"
    rows = compare(generated, demo_values(options.demo))
    page = table(rows, source)
    if options.out is None:
        sys.stdout.write(page)
    else:
        options.out.write_text(page, encoding="utf-8")
    return 0 if all(row.fits for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
