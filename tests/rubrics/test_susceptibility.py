"""`susceptibility`: which word stands for which drug, in both languages."""

from __future__ import annotations

from typing import Literal

import pytest

from wardround.rubrics import SusceptibilityCheck, check_answer

ROWS: tuple[tuple[str, str, str, Literal["S", "I", "R"], bool], ...] = (
    ("en", "The blood culture grew E. coli, which is resistant to ceftriaxone. Stop it.", "ceftriaxone", "R", True),
    ("zh", "血培养长出大肠埃希菌，对头孢曲松耐药。把头孢曲松换成美罗培南。", "ceftriaxone", "R", True),
    ("en", "E. coli, susceptible to ceftriaxone. Continue ceftriaxone.", "ceftriaxone", "S", True),
    ("zh", "大肠埃希菌对头孢曲松敏感。继续用头孢曲松。", "ceftriaxone", "S", True),
    ("en", "Ceftriaxone: R; meropenem: S", "meropenem", "S", True),
    ("en", "Ceftriaxone: R; meropenem: S", "ceftriaxone", "R", True),
    ("en", "Ceftriaxone: R; meropenem: S", "ceftriaxone", "S", False),
    ("en", "Resistant to ampicillin, cefazolin and ceftriaxone but susceptible to meropenem", "ceftriaxone", "R", True),
    ("en", "Resistant to ampicillin, cefazolin and ceftriaxone but susceptible to meropenem", "meropenem", "S", True),
    ("en", "It is not susceptible to ceftriaxone.", "ceftriaxone", "R", True),
    ("en", "The isolate is sensitive, so keep going.", "ceftriaxone", "S", True),
    ("en", "Is it susceptible to ceftriaxone?", "ceftriaxone", "S", False),
    ("en", "It may be susceptible to ceftriaxone.", "ceftriaxone", "S", False),
    ("zh", "对头孢曲松不敏感。", "ceftriaxone", "R", True),
    ("zh", "对氨苄西林、头孢唑林耐药，对头孢曲松敏感", "ceftriaxone", "S", True),
    ("zh", "头孢曲松耐药，美罗培南敏感", "ceftriaxone", "R", True),
    ("zh", "头孢曲松（R）", "ceftriaxone", "R", True),
    ("en", "It is resistant to ceftriaxone and susceptible to ceftriaxone.", "ceftriaxone", "R", False),
    ("en", "The E. coli is ceftriaxone-resistant.", "ceftriaxone", "R", True),
    ("en", "The E. coli is resistant to ceftriaxone.", "meropenem", "R", False),
    ("en", "", "ceftriaxone", "S", False),
)


@pytest.mark.parametrize(("language", "answer", "drug", "reading", "passes"), ROWS)
def test_rows(language: str, answer: str, drug: str, reading: Literal["S", "I", "R"], passes: bool) -> None:
    check = SusceptibilityCheck(drug=drug, reading=reading)
    assert check_answer(check, answer, language=language).passed is passes
