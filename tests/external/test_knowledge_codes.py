"""Every ICD-10-CM code of the disease graph is billable and carries its official title (`simple-icd-10-cm`)."""

from __future__ import annotations

import pytest

from wardround.patients import knowledge

pytestmark = pytest.mark.external


def test_codes_are_billable_and_titled() -> None:
    icd = pytest.importorskip("simple_icd_10_cm", reason="install simple-icd-10-cm to check the codes")
    wrong = []
    for condition in knowledge.condition_profiles().values():
        for code in condition.codes:
            if not icd.is_valid_item(code.code) or not icd.is_leaf(code.code):
                wrong.append(f"{condition.id}: {code.code} is no billable code")
            elif icd.get_description(code.code) != code.title:
                wrong.append(f"{condition.id}: {code.code} is {icd.get_description(code.code)!r}, not {code.title!r}")
    assert wrong == []
