"""A console that is served for tests, and what the tests begin in it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "src"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "device_scale_factor": 2,
}
PARTICLES = 128
SITE = f"""\
name = "Yard"
[area]
low = [0.0, 0.0]
high = [20.0, 20.0]
[[no_go]]
corners = [[8.0, 2.0], [11.0, 2.0], [11.0, 5.0], [8.0, 5.0]]
[field]
kind = "temperature"
[start]
position = [2.0, 2.0]
[step]
length = 2.0
[budget]
readings = 40
distance = 500.0
time = 3600.0
[search]
particles = {PARTICLES}
"""


@dataclass(frozen=True)
class Console:
    """A server under test."""

    url: str
    token: str = ""
    """Empty where it needs none."""

    def get(self, path: str) -> Any:
        return json.loads(self._ask("GET", path))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return json.loads(self._ask("POST", path, body))

    def delete(self, path: str) -> None:
        self._ask("DELETE", path)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> bytes:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        data = None if body is None else json.dumps(body).encode()
        headers |= {} if body is None else {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def ready(self, mission: str) -> None:
        """Wait until the filter of the mission is compiled."""
        wait_until(lambda: self.get(f"/missions/{mission}")["status"] != "preparing", 120)


def wait_until(holds: Callable[[], bool], seconds: float) -> None:
    """Return once it holds; an error if it never does."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds:g} s"
        time.sleep(0.1)


def refused(status: int) -> str:
    """Part of the line that a browser writes when a request is refused with this status code."""
    return f"the server responded with a status of {status}"


def site_text(page: Any) -> Any:
    """The text of the site file on the page of a new mission, unfolded."""
    page.evaluate("document.querySelector('#site-text').open = true")
    return page.get_by_label("Site file (TOML)")


def answers(console: Console) -> bool:
    try:
        return "version" in console.get("/health")
    except (urllib.error.URLError, ConnectionError):
        return False


@contextmanager
def serve(folder: Path, token: str = "") -> Iterator[Console]:
    """A console in a process of its own, with its missions in this folder and a port that is free."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "dowsax", "serve", "--port", str(port), "--missions", str(folder)]
    command += ["--token", token] if token else []
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "JAX_PLATFORMS": "cpu"}
    console = Console(f"http://127.0.0.1:{port}", token)
    with (folder / "output.txt").open("w") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: answers(console) or server.poll() is not None, 60)
        assert server.poll() is None, (folder / "output.txt").read_text()
        yield console
    finally:
        server.terminate()
        server.wait(20)
