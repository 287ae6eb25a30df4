"""Invented MIMIC-IV tables of any size, written by DuckDB: the same rows for the same arguments, on any machine."""

from __future__ import annotations

from pathlib import Path

PANEL = 12
"""Results that share a specimen and its times."""

_ITEMS = (
    # itemid, label, unit, low, high, one unit of the last digit as a divisor
    (50912, "Creatinine", "mg/dL", "0.4", "1.1", 10),
    (50971, "Potassium", "mEq/L", "3.3", "5.1", 10),
    (50983, "Sodium", "mEq/L", "133", "145", 1),
    (50902, "Chloride", "mEq/L", "96", "108", 1),
    (50882, "Bicarbonate", "mEq/L", "22", "32", 1),
    (51006, "Urea Nitrogen", "mg/dL", "6", "20", 1),
    (50931, "Glucose", "mg/dL", "70", "100", 1),
    (51222, "Hemoglobin", "g/dL", "12.0", "16.0", 10),
    (51221, "Hematocrit", "%", "36", "48", 10),
    (51265, "Platelet Count", "K/uL", "150", "440", 1),
    (51301, "White Blood Cells", "K/uL", "4.0", "11.0", 10),
    (51237, "INR(PT)", "", "0.9", "1.1", 10),
)


def write_labs(folder: Path, rows: int, patients: int, *, gz: bool = False) -> None:
    """Write `patients`, `admissions`, `d_labitems` and a `labevents` of `rows` rows below `folder`.

    One patient in every specimen, specimens of all patients mixed; a third of the specimens name no stay, some rows
    have words, a comment or no store time, as in MIMIC-IV.
    """
    import duckdb

    hosp = folder / "hosp"
    hosp.mkdir(parents=True)
    ending = "csv.gz" if gz else "csv"
    with duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "512MB"}) as base:
        base.execute("SET enable_progress_bar_print = false")
        base.execute("CREATE TABLE items (k INTEGER, itemid INTEGER, label VARCHAR, unit VARCHAR, low VARCHAR, "
                     "high VARCHAR, scale INTEGER)")  # fmt: skip
        base.executemany("INSERT INTO items VALUES (?,?,?,?,?,?,?)", [(k, *item) for k, item in enumerate(_ITEMS)])
        for table, query in (
            ("patients", _PATIENTS.format(patients=patients)),
            ("admissions", _ADMISSIONS.format(patients=patients)),
            ("d_labitems", "SELECT itemid, label, 'Blood' AS fluid, 'Chemistry' AS category FROM items ORDER BY k"),
            ("labevents", _LABS.format(rows=rows, patients=patients, panel=PANEL)),
        ):
            base.execute(f"COPY ({query}) TO '{hosp / table}.{ending}' (HEADER, DELIMITER ',')")


_PATIENTS = """
SELECT 10000000 + i AS subject_id, CASE i % 2 WHEN 0 THEN 'F' ELSE 'M' END AS gender, 30 + i % 60 AS anchor_age,
    2150 AS anchor_year, '2011 - 2013' AS anchor_year_group, NULL AS dod
FROM range({patients}) t(i)
"""
_ADMISSIONS = """
SELECT 10000000 + i AS subject_id, 20000000 + i AS hadm_id, '2150-01-01 00:00:00' AS admittime,
    '2150-12-30 12:00:00' AS dischtime, NULL AS deathtime, 'EW EMER.' AS admission_type, NULL AS admit_provider_id,
    'EMERGENCY ROOM' AS admission_location, 'HOME' AS discharge_location, 'Medicare' AS insurance,
    'ENGLISH' AS language, 'SINGLE' AS marital_status, 'WHITE' AS race, NULL AS edregtime, NULL AS edouttime,
    0 AS hospital_expire_flag
FROM range({patients}) t(i)
"""
_LABS = """
WITH drawn AS (
    SELECT i, i // {panel} AS panel, (i // {panel}) * 7919 % {patients} AS who,
        (i * 1103515245 + 12345) % 2147483648 // 65536 AS luck,
        TIMESTAMP '2150-01-02 00:00:00' + INTERVAL 1 MINUTE * ((i // {panel}) * 104729 % 518400) AS charted
    FROM range({rows}) t(i)
), valued AS (
    SELECT *, CASE WHEN luck % 50 = 0 THEN NULL WHEN scale = 1
        THEN CAST(round(CAST(low AS DOUBLE) * 0.7) + luck % 60 AS INTEGER)::VARCHAR
        ELSE printf('%.1f', CAST(low AS DOUBLE) * 0.7 + luck % 60 / 10) END AS figure
    FROM drawn JOIN items ON k = i % {panel}
)
SELECT i + 1 AS labevent_id, 10000000 + who AS subject_id,
    CASE WHEN panel % 3 > 0 THEN 20000000 + who END AS hadm_id, 1000000 + panel AS specimen_id, itemid,
    NULL AS order_provider_id, strftime(charted, '%Y-%m-%d %H:%M:%S') AS charttime,
    CASE WHEN luck % 97 > 0 THEN strftime(charted + INTERVAL 1 MINUTE * (30 + luck % 3), '%Y-%m-%d %H:%M:%S') END
    AS storetime, coalesce(figure, CASE WHEN luck % 3 = 0 THEN 'NEG' ELSE '___' END) AS value, figure AS valuenum,
    nullif(unit, '') AS valueuom, low AS ref_range_lower, high AS ref_range_upper,
    CASE WHEN luck % 11 = 0 THEN 'abnormal' END AS flag, 'ROUTINE' AS priority,
    CASE WHEN luck % 40 = 0 THEN 'HEMOLYSIS FALSELY ELEVATES THIS RESULT.' END AS comments
FROM valued ORDER BY i
"""
