"""`wardround generate … --writer`: sets that a language model words, from drafts made by rule."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any

from . import common
from .output import print_json, print_table, progress

if TYPE_CHECKING:
    from wardround.agents import JudgePlan
    from wardround.agents.writer_client import LiveWriter, RecordedWriter
    from wardround.patients import ChartStore
    from wardround.sessions import Session
    from wardround.sessions.writers import WriterReport

_LIVE, _RECORDED = "litellm:", "recorded:"
_DRAFTS, _ATTEMPTS, _DEADLINE = 3, 4, 120
_COUNTS = ("kept", "fallbacks", "refused", "malformed", "failed")


def add_writer(parser: argparse.ArgumentParser) -> None:
    """Add the options of an LLM writer."""
    group = parser.add_argument_group(
        "writer", "a language model rewords what the rules drafted; every gate still runs"
    )
    group.add_argument(
        "--writer",
        default=None,
        metavar="WHO",
        help="litellm:MODEL, or recorded:FILE with the replies of an earlier run",
    )
    group.add_argument("--writer-base", default=None, metavar="URL", help="an OpenAI-compatible endpoint of your own")
    group.add_argument(
        "--writer-key-env", default=None, metavar="NAME", help="environment variable that holds the model's key"
    )
    for name, unit, what in (
        ("--writer-attempts", "N", f"tries a request (default {_ATTEMPTS})"),
        ("--writer-deadline", "SECONDS", f"for one reply (default {_DEADLINE})"),
        ("--drafts", "N", f"drafts of a patient that the planner chooses one from (default {_DRAFTS})"),
    ):
        group.add_argument(name, type=common.positive, default=None, metavar=unit, help=what)
    group.add_argument("--writer-roles", default=None, metavar="A,B", help="roles that write (default: all)")
    group.add_argument("--judge-items", action="store_true", help="take rubric items that only a judge can decide")
    group.add_argument(
        "--data-agreement",
        default=None,
        metavar="TEXT",
        help="the agreement under which credentialed data may be sent to a model; kept in the report",
    )


def writer_wanted(args: argparse.Namespace) -> bool:
    """Tell whether a writer was named.

    Raises:
        UsageError: None was, but an option of one.
    """
    from wardround.patients import UsageError

    names = ("writer_base", "writer_key_env", "writer_attempts", "writer_deadline", "drafts", "writer_roles")
    given = [name for name in (*names, "data_agreement") if getattr(args, name) is not None]
    if args.judge_items:
        given.append("judge_items")
    if given and args.writer is None:
        raise UsageError(f"say with --writer who writes; --{given[0].replace('_', '-')} only says how")
    return args.writer is not None


def run_writer(args: argparse.Namespace) -> int:
    """Generate drafts by rule and have them reworded; exit code 1 where none passed or a recorded reply is missing."""
    from wardround.agents.writer_client import RecordedWriter
    from wardround.patients import check_output, load_charts
    from wardround.sessions import save_sessions
    from wardround.sessions.writers import WriterReport

    plan, only = _plan(args), _roles(args.writer_roles)
    check_output(args.out, b'{"format":"wardround.session/', "a set of sessions")
    report = WriterReport()
    with load_charts(args.charts) as store:
        plan.allow([store.licence])
        with closing(_writer(plan, args.out)) as writer:
            drafts, statistics = _drafts(args, store)
            plan.allow(session.licence for session in drafts)
            groups = list(islice(_groups(drafts, args.drafts or _DRAFTS), args.limit))
            made = list(_written(args, store, writer, only, groups, report))
        missing = writer.missing if isinstance(writer, RecordedWriter) else 0
    told = report.as_json() | {"name": writer.model, "missing": missing, "agreement": plan.agreement}
    data: dict[str, Any] = {"sessions": len(made), "patients_used": len({one.chart.patient for one in made})}
    data |= {"drafts": {"sessions": len(drafts), **statistics}, "writer": told, "out": None}
    if made:
        data["out"] = args.out
        data["set_hash"] = save_sessions(args.out, made).hash
    if args.json:
        print_json(data)
    else:
        _tell(data)
    if not made:
        print(
            "wardround: the rules made no draft, nothing was written; generate without --writer says why",
            file=sys.stderr,
        )
    return 0 if made and not missing else 1


def _plan(args: argparse.Namespace) -> JudgePlan:
    from wardround.agents import JudgePlan
    from wardround.patients import UsageError

    if not any(args.writer.startswith(kind) and len(args.writer) > len(kind) for kind in (_LIVE, _RECORDED)):
        raise UsageError(f"--writer is `{args.writer}`; give litellm:MODEL or recorded:FILE")
    return JudgePlan(
        source=args.writer,
        base=args.writer_base,
        key_env=args.writer_key_env,
        agreement=args.data_agreement,
        attempts=args.writer_attempts or _ATTEMPTS,
        concurrency=1,
        deadline=float(args.writer_deadline or _DEADLINE),
    )


def _roles(text: str | None) -> frozenset[str] | None:
    from wardround.patients import UsageError
    from wardround.sessions.writers import roles

    if text is None:
        return None
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    for name in sorted(names - set(roles())):
        raise UsageError(f"--writer-roles: no role `{name}`; there are {', '.join(roles())}")
    if not names:
        raise UsageError("--writer-roles names no role; leave it out for all of them")
    return names


def _writer(plan: JudgePlan, out: str) -> LiveWriter | RecordedWriter:
    from wardround.agents.writer_client import LiveWriter, RecordedWriter
    from wardround.patients import UsageError

    if plan.recorded is None:
        return LiveWriter(plan, f"{out}.writer.jsonl")
    writer = RecordedWriter(plan.recorded)
    if not writer.model:
        raise UsageError(f"`{plan.recorded}` holds no reply; name the file that a run with a model kept")
    return writer


def _drafts(args: argparse.Namespace, store: ChartStore) -> tuple[tuple[Session, ...], dict[str, Any]]:
    """Return what the rules make: enough for the sessions wanted, several for one where a patient's record allows."""
    from wardround.sessions import generate

    each = args.per_patient or 1
    wanted = {"scenario": args.scenario, "seed": args.seed, "anchor": args.anchor, "split": args.split, "mix": args.mix}
    patients = None
    if args.limit is not None:  # drafts are made in turn of all patients, and only those of a few are wanted
        first = generate(store, limit=args.limit, per_patient=each, **wanted).sessions
        patients = {session.chart.patient for session in first}
    with progress("drafts", quiet=args.json) as tell:
        drafts = each * (args.drafts or _DRAFTS)
        result = generate(store, per_patient=drafts, patients=patients, progress=tell, **wanted)
    return result.sessions, result.statistics


def _groups(drafts: Iterable[Session], most: int) -> Iterator[list[Session]]:
    """Yield the drafts that compete for one place of the set: those of a patient, at most so many together."""
    by_patient: dict[str, list[Session]] = {}
    for draft in drafts:
        by_patient.setdefault(draft.chart.patient, []).append(draft)
    rounds = max((len(found) for found in by_patient.values()), default=0)
    for start in range(0, rounds, most):
        for found in by_patient.values():
            if found[start : start + most]:
                yield found[start : start + most]


def _written(
    args: argparse.Namespace,
    store: ChartStore,
    writer: LiveWriter | RecordedWriter,
    only: frozenset[str] | None,
    groups: list[list[Session]],
    report: WriterReport,
) -> Iterator[Session]:
    from wardround.sessions.writers import choose, write_session

    with progress("sessions", quiet=args.json) as tell:
        for number, group in enumerate(groups, 1):
            draft = choose(group, writer, report) if only is None or "planner" in only else group[0]
            chart = store.chart(draft.chart.patient)
            yield write_session(draft, chart, writer, report, writer.model, judge_items=args.judge_items, only=only)
            tell(number, len(groups))


def _tell(data: dict[str, Any]) -> None:
    told = data["writer"]
    print(f"{data['sessions']} sessions of {data['patients_used']} patients, from {data['drafts']['sessions']} drafts")
    roles = sorted({role for name in _COUNTS for role in told[name]})
    print_table(
        f"Replies of {told['name']}",
        ("role", *_COUNTS),
        [(role, *(told[name].get(role, 0) for name in _COUNTS)) for role in roles],
    )
    if told["reasons"]:
        rows = sorted(told["reasons"].items(), key=lambda one: (-one[1], one[0]))
        print_table("Why replies were not used", ("reason", "count"), rows[:30])
    print(
        f"rubric items: {told['typed_items']} typed, {told['judge_items']} for a judge, {told['no_room']} without room"
    )
    if told["missing"]:
        print(f"{told['missing']} requests have no recorded reply: the rules' words stayed there")
    if data["out"]:
        print(f"written to {data['out']}; set hash {data['set_hash']}")
