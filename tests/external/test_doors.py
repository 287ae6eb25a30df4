"""Every trainer's door against the real library, each in an environment of its own made from the package index.

The programs in `doors/` compare reward and trajectory hash with those of `Episode`, for the oracle's actions and for a
mistaken policy's; here they are run, and the examples too, away from the checkout. Where the index cannot be reached a
test fails: it ran nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOORS = ROOT / "tests/external/doors"
EXAMPLES = ROOT / "examples"
pytestmark = pytest.mark.external

Python = Callable[..., str]


def _run(*argv: str | Path, cwd: Path, **more: str) -> str:
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    words = [str(word) for word in argv]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd, env={**plain, **more})
    assert done.returncode == 0, f"{words}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel of what is committed."""
    home = tmp_path_factory.mktemp("wheel")
    _run("git", "clone", "-q", ROOT, home / "tree", cwd=home)
    _run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", home, home / "tree", cwd=home)
    (made,) = home.glob("wardround-*.whl")
    return made


def _environment(home: Path, wheel: Path, *packages: str, extra: str = "") -> Python:
    """Return a function that runs Python, or a command, in a new environment with these packages."""
    _run(sys.executable, "-m", "venv", home / "env", cwd=home)
    python = home / "env/bin/python"
    _run(python, "-m", "pip", "install", "-q", *packages, f"wardround{extra} @ {wheel.as_uri()}", cwd=home)
    (home / "work").mkdir()
    path = os.pathsep.join([str(home / "env/bin"), os.environ["PATH"]])

    def run(program: Path, *arguments: str | Path) -> str:
        quiet = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TRL_EXPERIMENTAL_SILENCE": "1"}
        helpers = str(ROOT / "tests/helpers")
        return _run(python, program, *arguments, cwd=home / "work", PATH=path, PYTHONPATH=helpers, **quiet)

    return run


def test_trl(wheel: Path, tmp_path: Path) -> None:
    # the CPU build of torch where this machine has one; plain `torch` would be gigabytes of CUDA
    run = _environment(tmp_path, wheel, "torch==2.13.0", "trl==1.16.0", extra="[parquet]")
    assert "rewards [1.0, 0.5]" in run(DOORS / "trl_door.py", tmp_path / "out")
    assert "reward 0.0" in run(EXAMPLES / "trl_environment.py")
    assert "48 ['prompt', 'session_id', 'seed', 'licence', 'env_class']" in run(DOORS / "rows_door.py", tmp_path)


def test_skyrl_gym(wheel: Path, tmp_path: Path) -> None:
    run = _environment(tmp_path, wheel, "skyrl-gym==0.4.0", extra="[skyrl]")
    assert run(DOORS / "skyrl_door.py").count("oracle 1.0") == 4
    assert "'turns_closed': 4.0" in run(EXAMPLES / "skyrl_env.py")


def test_openenv(wheel: Path, tmp_path: Path) -> None:
    run = _environment(tmp_path, wheel, "openenv==0.10.0", extra="[openenv]")
    assert "12 at once" in run(DOORS / "openenv_door.py")
    assert "The round is over" in run(EXAMPLES / "openenv_server.py")


def test_inspect_ai(wheel: Path, tmp_path: Path) -> None:
    run = _environment(tmp_path, wheel, "inspect-ai==0.3.285", extra="[inspect]")
    assert run(DOORS / "inspect_door.py", tmp_path / "logs").startswith("oracle {'mrs': 1.0")
    assert "success 3 samples" in run(EXAMPLES / "inspect_task.py")


@pytest.mark.parametrize("policy", ["oracle", "mistaken"])
def test_verifiers(policy: str, verifiers: Python, tmp_path: Path) -> None:
    assert f"{policy} score" in verifiers(DOORS / "verifiers_door.py", policy, tmp_path / "out")


@pytest.fixture(scope="module")
def verifiers(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Python:
    """Return the environment of the example project; its harness fetches its own packages with uv."""
    project = wheel.parent / "tree/examples/verifiers_project"  # a copy: pip builds where the project lies
    return _environment(tmp_path_factory.mktemp("verifiers"), wheel, "verifiers==0.4.0", "uv", str(project))
