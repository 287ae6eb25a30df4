"""A policy that learns the ward round: REINFORCE over action templates, groups made with `Episode.fork()`, numpy alone.

Patients are split before anything else; the curve is drawn on those that were never trained on, for three seeds.
Without arguments it first makes sessions of 60 patients of `physassist-hospital-train-v1` (minutes, once).
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from reinforce.data import part_of_train, split
from reinforce.plot import save_chart
from reinforce.training import Point, measure, train

from wardround import load_charts, load_sessions


def main(words: list[str]) -> int:
    """Train once a seed and print and draw what unseen patients say of it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sessions", help="a set of your own or a built-in one (default: a part of the train set)")
    asked.add_argument("--charts", help="its charts (default: as --sessions)")
    asked.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    asked.add_argument("--turns", type=int, default=1600, help="turns to train on, a seed; twelve forks play each")
    asked.add_argument(
        "--data", type=Path, default=Path("reinforce-data"), help="where the part of the train set is kept"
    )
    asked.add_argument("--out", type=Path, default=Path("reinforce.png"))
    args = asked.parse_args(words)
    if args.sessions:
        sessions, store = load_sessions(args.sessions).sessions, load_charts(args.charts or args.sessions)
    else:
        sessions, store = part_of_train(args.data)
    seen, unseen = split(sessions)
    patients = (len({one.chart.patient for one in part}) for part in (seen, unseen))
    print("train {} and unseen {} sessions, of {} and {} patients".format(len(seen), len(unseen), *patients))
    curves, last = [], []
    for seed in args.seeds:
        policy, curve = train(seen, unseen[::3], store, seed, args.turns, partial(_tell, seed))
        curves.append(curve)
        last.append(measure(policy, unseen, store))
    save_chart(args.out, [[(point.turns, point.value) for point in curve] for curve in curves], marks=(0.8,))
    shares = ", ".join(f"{one:.3f}" for one in last)
    print(f"unseen patients, likeliest choices, seeds {args.seeds}: {shares} of the oracle's return")
    print(f"curve           {args.out}")
    return 0


def _tell(seed: int, point: Point) -> None:
    spent = f"{point.turns:5} turns, {point.seconds:5.1f} s of processor time"
    print(f"seed {seed}: {spent}, unseen {point.value:.3f}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
