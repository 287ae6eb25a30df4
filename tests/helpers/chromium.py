"""Headless Chromium over its DevTools pipe: no library, no port, no profile that stays."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

FOUND = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
_LONGEST = 60.0


class Chromium:
    """One page. `errors` has what the console or the page's policy complained of, `requests` what was asked for."""

    def __init__(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        assert FOUND is not None
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._number = 0
        self._buffer = b""
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        to_child, self._write = os.pipe()
        self._read, from_child = os.pipe()
        arguments = [
            FOUND, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
            f"--user-data-dir={self._profile}", f"--window-size={width},{height}", "about:blank",
        ]  # fmt: skip

        def connect() -> None:  # the browser reads commands from descriptor 3 and writes replies to 4
            commands, replies = (fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in (to_child, from_child))
            os.dup2(commands, 3)
            os.dup2(replies, 4)

        self._process = subprocess.Popen(
            arguments, preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )  # fmt: skip
        os.close(to_child)
        os.close(from_child)
        self._session: str | None = None
        try:
            self._begin(width, height, dark=dark)
        except BaseException:
            self.__exit__()
            raise

    def _begin(self, width: int, height: int, *, dark: bool) -> None:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )  # fmt: skip
        scheme = "dark" if dark else "light"
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        try:
            self.send("Browser.close")  # its children end with it
            self._process.wait(timeout=20)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait(timeout=20)
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command and return its result."""
        self._number += 1
        told: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            told["sessionId"] = self._session
        body = json.dumps(told).encode() + b"\0"
        while body:
            body = body[os.write(self._write, body) :]
        while True:
            message = self._next()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result

    def open(self, url: str) -> float:
        """Open a page, wait until it says that it is ready, and return the seconds that took."""
        began = time.monotonic()
        self.send("Page.navigate", url=url)
        self.until("document.documentElement?.dataset.ready === 'yes'")
        return time.monotonic() - began

    def run(self, expression: str) -> Any:
        """Evaluate an expression in the page and return its value; a promise is awaited."""
        made = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in made:
            raise RuntimeError(json.dumps(made["exceptionDetails"])[:2000])
        return made["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until a condition holds in the page."""
        end = time.monotonic() + _LONGEST
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise TimeoutError(f"{condition}; {self.errors}")
            time.sleep(0.05)

    def press(self, key: str, code: int) -> None:
        """Press and let go of a key."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text)

    def screenshot(self, path: Path) -> None:
        """Write what is seen as PNG."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], _LONGEST)[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self._buffer += piece
        body, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(body)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:1000])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(params["args"])[:1000])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
