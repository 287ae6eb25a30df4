"""Orders in words, in both languages: which can be asked for, drug, dose, route and how often."""

from __future__ import annotations

from wardround.patients.knowledge import Names
from wardround.sessions.common import common
from wardround.sessions.record import Order

from .parts import capital


def askable(order: Order) -> bool:
    """Tell whether an order is of a single amount of drug, so that its dose can be asked for."""
    fixed = order.amount is not None and order.amount > 0
    return fixed and order.unit.casefold() in common().dose_units


def as_needed(order: Order) -> bool:
    """Tell whether a drug is ordered for when it is needed, so that nobody takes it regularly."""
    folded = order.frequency.casefold()
    return order.as_needed or "as needed" in folded or "prn" in folded.split()


def order_line(order: Order) -> Names:
    """Return an order in words, as in "Warfarin 5 mg by mouth once daily", without full stop."""
    route = common().routes.words.get(order.route)
    often = frequency_words(order)
    en = (capital(order.name), order.dose, route.en if route else "", often.en if often else "")
    zh = (
        f"{spaced(order.zh or order.name)}{dose_words(order.dose).zh}",
        (route.zh or "") if route else "",
        (often.zh or "") if often else "",
    )
    return Names(en=" ".join(part for part in en if part), zh="，".join(part for part in zh if part))


def dose_words(dose: str) -> Names:
    """Return a dose as each language writes it ("20 units", "20 单位")."""
    amount, _, unit = dose.partition(" ")
    return Names(en=dose, zh=f"{amount} {common().unit_words.get(unit.casefold(), unit)}".strip())


def spaced(zh: str) -> str:
    """Return a Chinese name with a space behind it where it ends in Latin script ("维生素D ")."""
    return f"{zh} " if zh[-1:].isascii() else zh


def frequency_words(order: Order) -> Names | None:
    """Return how the physician says the order's frequency; None where it is not charted or not one that is known."""
    folded = order.frequency.casefold()
    return common().frequencies.get(folded) or common().charted.get(folded)
