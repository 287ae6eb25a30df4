"""`wardround import`, `dump`: charts in, and out as FHIR."""

from __future__ import annotations

import argparse
from typing import Any

from . import common
from .output import print_json, print_list, print_table, progress, safe, steps


def add(commands: Any) -> None:
    """Add the commands of this group."""
    importer = commands.add_parser("import", help="make charts from MIMIC-IV tables or FHIR R4")
    kinds = importer.add_subparsers(dest="kind", metavar="KIND", required=True)
    mimic = kinds.add_parser("mimic", help="a folder of MIMIC-IV CSV files (.csv or .csv.gz)")
    mimic.add_argument("folder", help="the folder, with or without hosp/, or one folder per subject")
    mimic.add_argument("--out", required=True, help="the store to write, as charts.sqlite")
    mimic.add_argument("--licence", default=None, help="licence tag of the data (default: credentialed)")
    mimic.add_argument("--threads", type=common.positive, default=None, help="threads of the reader")
    mimic.add_argument("--workers", type=common.positive, default=1, help="processes that make charts (default: 1)")
    common.add_json(mimic)
    mimic.set_defaults(run=run_import_mimic)

    fhir = kinds.add_parser("fhir", help="FHIR R4: bundles, NDJSON or single resources (.json, .ndjson, also .gz)")
    fhir.add_argument("path", help="a file, or a folder of them")
    fhir.add_argument("--out", required=True, help="the store to write, as charts.sqlite")
    fhir.add_argument(
        "--licence", default=None, help="licence tag of the data (default: credentialed for MIMIC-IV, else unknown)"
    )
    common.add_json(fhir)
    fhir.set_defaults(run=run_import_fhir)

    dump = commands.add_parser("dump", help="write a store as FHIR R4 NDJSON, one file per type")
    dump.add_argument("charts", help="a built-in set or a store")
    dump.add_argument("--out", required=True, help="a new or empty folder")
    common.add_json(dump)
    dump.set_defaults(run=run_dump)


def run_import_mimic(args: argparse.Namespace) -> int:
    """Import MIMIC-IV CSV files; exit code 1 where a resource was invalid."""
    from wardround.patients import import_mimic

    with steps("patients", quiet=args.json) as shown:
        report = import_mimic(
            args.folder,
            args.out,
            licence=args.licence,
            threads=args.threads,
            workers=args.workers,
            progress=shown.done,
            tell=shown.step,
        )
    return _tell_import(report.as_dict(), as_json=args.json)


def run_import_fhir(args: argparse.Namespace) -> int:
    """Import FHIR R4; exit code 1 where a resource was invalid."""
    from wardround.patients import import_fhir

    with progress("patients", quiet=args.json) as tell:
        report = import_fhir(args.path, args.out, licence=args.licence, progress=lambda done: tell(done, None))
    return _tell_import(report.as_dict(), as_json=args.json)


def run_dump(args: argparse.Namespace) -> int:
    """Write a store as NDJSON."""
    from wardround.patients import export_ndjson, load_charts

    with load_charts(args.charts) as store:
        data = export_ndjson(store, args.out).as_dict()
    if args.json:
        print_json(data)
        return 0
    print_table("Resources", ("type", "resources"), list(data["resources"].items()))
    print(f"{data['patients']} patients; {sum(data['resources'].values())} resources")
    print(f"licence {data['licence']}; store hash {data['store_hash']}")
    if data["interviews_left_out"]:
        print(f"{data['interviews_left_out']} authored interviews are no FHIR and stay in the store")
    if data["truths_left_out"]:
        print(f"what is behind {data['truths_left_out']} generated charts stays in the store")
    return 0


def _tell_import(data: dict[str, Any], *, as_json: bool) -> int:
    if as_json:
        print_json(data)
        return 1 if data["invalid"] else 0
    rows = [
        (table["table"], table["read"], table["kept"], sum(refusal["count"] for refusal in table["refused"]))
        for table in data["tables"]
    ]
    print_table("Rows", ("table", "read", "kept", "refused"), rows)
    for table in data["tables"]:
        for refusal in table["refused"]:
            row = refusal["example_row"]
            where = f"{row['file']}, line {row['line']}: {row['text']}" if row else "no row"
            text = " ".join(f"{table['table']}: {refusal['count']} × {refusal['reason']}; e.g. {where}".split())
            print(f"  {safe(text)}")
    for words, names in (("not in the folder", "missing_tables"), ("in the folder, not read", "unread_tables")):
        if data.get(names):
            print_list(f"{words}:", data[names])
    for message in data.get("messages", ()):
        print(safe(message))
    print_table("Resources", ("type", "resources"), list(data["resources"].items()))
    print(f"{data['patients']} patients; {sum(data['resources'].values())} resources; invalid {data['invalid']}")
    print(f"licence {data['licence']}; store hash {data['store_hash']}")
    return 1 if data["invalid"] else 0
