"""What a hostile tester of the MIMIC-IV import found: figures no machine holds, cells that say something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wardround.patients.importers._values import number

LABS = "labevent_id,subject_id,hadm_id,specimen_id,itemid,charttime,storetime,value,valuenum,valueuom,comments\n"
ITEMS = "itemid,label,fluid,category\n50912,Creatinine,Blood,Chemistry\n"
CHARTED = "subject_id,hadm_id,stay_id,charttime,storetime,itemid,value,valuenum,valueuom,warning\n"
CHART_ITEMS = (
    "itemid,label,abbreviation,linksto,category,unitname,param_type,lownormalvalue,highnormalvalue\n"
    "220045,Heart Rate,HR,chartevents,Routine Vital Signs,bpm,Numeric,,\n"
)
VITALS = "subject_id,stay_id,charttime,temperature,heartrate,resprate,o2sat,sbp,dbp,rhythm,pain\n"
UNREAD = "valuenum is not a number; not read"


def lab(number: int, value: str, figure: str) -> str:
    return f'{number},1,10,1,50912,2150-03-02 10:00:00,2150-03-02 11:00:00,"{value}","{figure}",mg/dL,\n'


@pytest.mark.parametrize("figure", ["9" * 19, "9" * 40, "1e30", "1e-30", "1e400"])
def test_a_figure_no_machine_holds_is_kept_as_words(invented: Callable[..., Any], figure: str) -> None:
    assert number(figure) is None
    made = invented(
        labevents=LABS + lab(1, figure, figure) + lab(2, "1.1", "1.1"),
        d_labitems=ITEMS,
        chartevents=f"{CHARTED}1,10,5,2150-03-02 10:00:00,2150-03-02 10:00:00,220045,{figure},{figure},bpm,0\n",
        d_items=CHART_ITEMS,
        vitalsign=f"{VITALS}1,7,2150-03-02 10:00:00,98,{figure},,,,,,\n",
    )
    found = {one["id"].partition("-")[0]: one.get("valueString") for one in made.all("Observation").values()}
    assert found["chart"] == figure
    assert made.all("Observation")["lab-1"]["valueString"] == figure
    assert str(made.all("Observation")["lab-2"]["valueQuantity"]["value"]) == "1.1"
    assert made.all("Observation")["edvs-7-21500302100000-heartrate"]["valueString"] == figure


@pytest.mark.parametrize("figure", ["7,5", "NaN", "inf", "1e999", "٣"])
def test_a_number_that_is_none_is_counted(invented: Callable[..., Any], figure: str) -> None:
    made = invented(
        labevents=LABS + lab(1, "7", figure) + lab(2, "", figure) + lab(3, "7", "") + lab(4, "7", "___"),
        d_labitems=ITEMS,
        chartevents=f'{CHARTED}1,10,5,2150-03-02 10:00:00,2150-03-02 10:00:00,220045,80,"{figure}",bpm,0\n',
        d_items=CHART_ITEMS,
    )
    assert made.table("labevents").notes[UNREAD] == 2
    assert made.table("chartevents").notes[UNREAD] == 1


def test_eighteen_digits_are_a_number() -> None:
    assert number("9" * 18) == "9" * 18
    assert number(f"-{'0' * 9}{'9' * 18}.5") == f"-{'9' * 18}.5"
    assert number("1e18") == "1e18"
