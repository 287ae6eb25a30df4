"""A small hand-made life: one pneumonia admission through the ED and the ICU, with visits around it."""

from __future__ import annotations

from decimal import Decimal

from wardround.patients.hospital.life import (
    Adherence,
    Allergy,
    Culture,
    CultureStage,
    GivenDose,
    Illness,
    Life,
    Pair,
    Person,
    Plan,
    PlanItem,
    Prescription,
    Relative,
    Result,
    Sign,
    Stay,
    Study,
    Treated,
    Vaccine,
)
from wardround.patients.times import SECOND, Instant, parse_instant

PATIENT = "h0000aa-00007"
MINUTE = 60 * SECOND


def when(text: str) -> Instant:
    """Return "06-03 07:30" of the year 2150 as an instant."""
    return parse_instant(f"2150-{text.replace(' ', 'T')}:00Z")


def _result(
    number: int, lab: str, text: str, at: str, name: str, panel: str, low: str | None = None, high: str | None = None
) -> Result:  # fmt: skip
    minutes = 0 if panel.startswith("vitals") else 50
    known = when(at) + minutes * MINUTE
    return Result(f"l{number}", lab, text, when(at), known, "e2", panel, low, high, name)


def results() -> tuple[Result, ...]:
    """Return the results: a basic panel and a weight of three days, one pressure."""
    found = []
    number = 0
    for day, creatinine, sodium, heat in (
        ("02", "1.90", "131", "39.1"),
        ("03", "1.60", "134", "38.4"),
        ("04", "1.20", "138", "37.6"),
    ):
        rows = (
            ("creatinine", creatinine, "Creatinine", "0.74", "1.35", "bmp"),
            ("sodium", sodium, "Sodium", "135", "145", "bmp"),
            ("potassium", "4.1", "Potassium", "3.5", "5.0", "bmp"),
            ("chloride", "101", "Chloride", "98", "107", "bmp"),
            ("bicarbonate", "24", "Bicarbonate", "22", "29", "bmp"),
            ("urea_nitrogen", "22", "Urea Nitrogen", "7", "20", "bmp"),
            ("glucose", "142", "Glucose", "70", "99", "bmp"),
            ("weight", "70.0", "Weight", None, None, "vitals"),
            ("temperature", heat, "Temperature", None, None, "vitals"),
        )
        for lab, text, name, low, high, panel in rows:
            number += 1
            stamp = f"06-{day} 06:{'00' if panel == 'bmp' else '30'}"
            found.append(_result(number, lab, text, stamp, name, f"{panel}-{day}", low, high))
    found.append(_result(number + 1, "blood_pressure", "92/58", "06-02 06:30", "Blood Pressure", "vitals-bp"))
    found.append(_result(number + 2, "troponin_t", "<0.01", "06-02 06:00", "Troponin T", "trop", high="0.01"))
    for day in ("02", "03", "04"):
        for lab, text, name in (
            ("anion_gap", "10", "Anion Gap"),
            ("egfr", "48", "eGFR"),
            ("calcium", "9.1", "Calcium"),
        ):
            found.append(_result(len(found) + 1, lab, text, f"06-{day} 06:00", name, f"bmp-{day}"))
    return tuple(sorted(found, key=lambda one: (one.at, one.id)))


_PERSON = Person(
    "male",
    "2088-02-11",
    "Walter Lindqvist",
    "WHITE",
    "English",
    "married",
    178,
    Decimal("70.0"),
    Pair("retired bus driver", "退休公交司机"),
    "former",
    20,
    "social",
    3,
    "spouse",
)
_STAYS = (
    Stay(
        "e1",
        "clinic",
        when("03-01 09:00"),
        when("03-01 09:30"),
        "d1",
        ("d1",),
        "fatigue",
        "routine visit",
        "cardiology",
    ),
    Stay(
        "e2",
        "ward",
        when("06-02 08:00"),
        when("06-05 14:00"),
        "d2",
        ("d2", "d1"),
        "cough",
        "fever and cough",
        "medicine",
        "home",
    ),
    Stay(
        "e3",
        "ed",
        when("06-02 05:00"),
        when("06-02 08:00"),
        "d2",
        ("d2",),
        "cough",
        "fever and cough",
        "emergency",
        "admitted",
        "e2",
    ),
    Stay(
        "e4",
        "icu",
        when("06-02 20:00"),
        when("06-03 16:00"),
        "d2",
        ("d2",),
        "cough",
        "hypoxia",
        "medicine",
        None,
        "e2",
    ),
    Stay(
        "e5",
        "clinic",
        when("06-20 10:00"),
        when("06-20 10:30"),
        "d1",
        ("d1", "d2"),
        "fatigue",
        "follow-up",
        "medicine",
    ),
)
_ILLNESSES = (
    Illness(
        "d1",
        "heart_failure",
        "I50.22",
        "Chronic systolic (congestive) heart failure",
        "chronic",
        "moderate",
        when("01-05 10:00"),
        when("03-01 09:20"),
        None,
        "e1",
        True,
    ),
    Illness(
        "d2",
        "pneumonia",
        "J18.9",
        "Pneumonia, unspecified organism",
        "acute",
        "moderate",
        when("05-31 12:00"),
        when("06-02 07:40"),
        when("06-09 12:00"),
        "e2",
    ),
)
_SIGNS = (
    Sign(
        "s1",
        "cough",
        "symptom",
        True,
        (("d2", "commonly_seen"),),
        "key",
        "e2",
        when("05-31 12:00"),
        when("06-02 05:10"),
    ),
    Sign(
        "s2",
        "consolidation",
        "imaging",
        True,
        (("d2", "highly_suggestive"),),
        "key",
        "e2",
        when("06-01 12:00"),
        when("06-02 07:00"),
        side="left",
        study="im1",
    ),
    Sign("s3", "chest_pain", "symptom", False, (), "distractor", "e2", when("06-02 05:10"), when("06-02 05:10")),
)
_PRESCRIPTIONS = (
    Prescription(
        "rx1",
        "metoprolol_succinate",
        "metoprolol succinate",
        "50 mg",
        "oral",
        "once daily",
        False,
        "home",
        when("03-01 09:25"),
        None,
        when("03-01 09:25"),
        "e1",
        "d1",
    ),
    Prescription(
        "rx2",
        "ceftriaxone",
        "ceftriaxone",
        "1 g",
        "IV",
        "every 24 hours",
        False,
        "inpatient",
        when("06-02 06:00"),
        when("06-03 17:00"),
        when("06-02 05:50"),
        "e2",
        "d2",
        "stopped",
        Pair("changed to oral therapy", "改为口服治疗"),
    ),
    Prescription(
        "rx3",
        "azithromycin",
        "azithromycin",
        "500 mg",
        "oral",
        "once daily",
        False,
        "inpatient",
        when("06-02 06:00"),
        when("06-05 14:00"),
        when("06-02 05:50"),
        "e2",
        "d2",
        "completed",
    ),
    Prescription(
        "rx4",
        "insulin_lispro",
        "insulin lispro",
        "4 units",
        "subcutaneous",
        "with meals",
        False,
        "inpatient",
        when("06-02 09:00"),
        when("06-05 14:00"),
        when("06-02 08:30"),
        "e2",
        None,
        "completed",
    ),
    Prescription(
        "rx5",
        "doxycycline",
        "doxycycline",
        "100 mg",
        "oral",
        "BID",
        False,
        "discharge",
        when("06-05 14:00"),
        when("06-09 14:00"),
        when("06-05 13:00"),
        "e2",
        "d2",
        "completed",
    ),
)
_DOSES = (
    GivenDose("g1", "rx2", when("06-02 06:10"), "given", "e2"),
    GivenDose("g2", "rx2", when("06-03 06:10"), "given", "e2"),
    GivenDose("g3", "rx3", when("06-02 06:15"), "refused", "e2", Pair("patient felt sick", "患者恶心")),
    GivenDose("g4", "rx3", when("06-03 06:15"), "held", "e2", Pair("patient off the unit", "患者不在病区")),
)
_CULTURES = (
    Culture(
        "c1",
        "blood",
        when("06-02 05:40"),
        "e2",
        "d2",
        "streptococcus_pneumoniae",
        (
            CultureStage(when("06-03 06:00"), "Gram-positive cocci in pairs and chains", "preliminary"),
            CultureStage(when("06-04 08:00"), "Streptococcus pneumoniae", "preliminary"),
            CultureStage(when("06-05 08:00"), "Streptococcus pneumoniae; susceptibilities final", "final"),
        ),
        (("ceftriaxone", "S"), ("azithromycin", "R")),
    ),
)
_STUDY = Study(
    "im1",
    "chest_xray",
    "X-ray",
    "CHEST (PORTABLE AP)",
    when("06-02 06:20"),
    when("06-02 07:00"),
    "e2",
    "fever and cough",
    "d2",
    ("s2",),
)
_PLAN = Plan(
    "pl1",
    "discharge-planning",
    when("06-05 12:00"),
    "e2",
    (
        PlanItem("appointment", Pair("See your doctor within two weeks.", "两周内复诊。"), ("d2",)),
        PlanItem("warning", Pair("Come back if you are short of breath.", "如有气短请及时就诊。"), ("d2",)),
    ),
)
_ADHERENCE = (
    Adherence(
        "ad1",
        "metoprolol_succinate",
        "rx1",
        "e2",
        "stopped",
        Pair("for three weeks", "三周来"),
        Pair("it made me tired", "吃了乏力"),
        "fatigue",
        False,
    ),
)
_ALLERGIES = (
    Allergy(
        "al1",
        "penicillin_class",
        "Penicillins",
        Pair("hives", "荨麻疹"),
        "moderate",
        "medication",
        when("03-01 09:10"),
    ),
)
_TREATED = (
    Treated(
        "p1",
        "bronchoscopy",
        "Bronchoscopy",
        when("06-03 10:00"),
        when("06-03 10:40"),
        "e2",
        "d2",
        Pair("no mass", "未见肿物"),
    ),
)
_VACCINES = (Vaccine("vx1", "influenza", "influenza vaccine", "141", when("03-01 09:28"), "e1"),)
_RELATIVES = (
    Relative(
        "fm1",
        "father",
        "myocardial_infarction",
        Pair("myocardial infarction", "心肌梗死"),
        61,
        True,
        when("03-01 09:12"),
    ),
)


def make_life() -> Life:
    """Return the life."""
    return Life(
        patient_id=PATIENT,
        seed=170,
        index=7,
        person=_PERSON,
        illnesses=_ILLNESSES,
        stays=_STAYS,
        signs=_SIGNS,
        results=results(),
        cultures=_CULTURES,
        prescriptions=_PRESCRIPTIONS,
        doses=_DOSES,
        adherence=_ADHERENCE,
        allergies=_ALLERGIES,
        treated=_TREATED,
        studies=(_STUDY,),
        vaccines=_VACCINES,
        relatives=_RELATIVES,
        functions=(),
        events=(),
        plans=(_PLAN,),
    )
