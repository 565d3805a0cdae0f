"""`dowsax advise` and `dowsax serve` as processes that are killed.

The one reading that got no answer is sent again in the next life, as any sender would.
"""

import http.client
import json
import random
import re
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.killed_processes import LIVES_A_LOG, STARTUP, WORK, Killing, Sent, Tally, check_log

POLICY = "greedy"
_MAX_ANSWERED = 5
"""Readings in a life, before the one at which a process is killed."""
_FIRST_STARTUP_S = 10.0
_TIMEOUT_S = 120.0


class _Advising(ABC):
    """What `advise` and `serve` have in common: readings one by one, each sent until it is answered."""

    def __init__(self, folder: Path, site: Path) -> None:
        folder.mkdir()
        self.tally = Tally()
        self._folder, self._site = folder, site
        self._lives = 0
        self._startup_s = _FIRST_STARTUP_S
        """How long the first answer took, in the last life that came so far."""
        self._answer_s = 0.02
        self._sent: Sent | None = None
        self._bodies: dict[str, dict[str, Any]] = {}
        """Readings by their ids."""

    @abstractmethod
    def _start(self) -> Killing:
        """Start the process."""

    @abstractmethod
    def _open(self, killing: Killing) -> bool:
        """Have a log to send readings to; whether the process is still there."""

    @abstractmethod
    def _ask(self, killing: Killing, reading: dict[str, Any]) -> dict[str, Any] | None:
        """Send a reading, and return the answer; `None` where the process is dead."""

    @abstractmethod
    def _end(self, killing: Killing) -> None:
        """End the process kindly."""

    def live(self, rng: random.Random, kill_in: str | None) -> None:
        if self._lives % LIVES_A_LOG == 0:
            self._sent = None
        self._lives += 1
        killing, answered = self._start(), 0
        if kill_in == STARTUP:
            killing.kill_after(rng.uniform(0, self._startup_s))
        most = rng.randint(1, _MAX_ANSWERED)
        is_there = self._open(killing)
        while is_there and not (kill_in is None and answered == most):
            if kill_in == WORK and answered == most:
                killing.kill_after(rng.uniform(0, 1.5 * self._answer_s))
            begun = time.monotonic()
            is_there = self._send(killing, rng)
            answered += is_there
            if is_there and answered == 1:
                self._startup_s = time.monotonic() - killing.begun
            elif is_there:
                took = min(time.monotonic() - begun, 5 * self._answer_s)
                self._answer_s = 0.8 * self._answer_s + 0.2 * took
        if kill_in is None:
            self._end(killing)
        killing.wait(self.tally, kill_in is not None)
        if kill_in is not None:
            self.tally.kills[kill_in] += 1
        if self._sent is not None:
            check_log(self._sent, self.tally)

    def _send(self, killing: Killing, rng: random.Random) -> bool:
        """Send the reading that has no answer yet, or the next one; whether it was answered."""
        sent = self._sent
        assert sent is not None
        sent.pending = sent.pending or f"{sent.path.stem}-{len(sent.kept) + 1}"
        reading = {"id": sent.pending, "value": 0.2 + 0.01 * rng.random()}
        place = [round(rng.uniform(1, 24), 3), round(rng.uniform(1, 24), 3)]
        # One that was written already must be the same when it is sent again.
        self._bodies.setdefault(sent.pending, reading | {"position": place})
        answer = self._ask(killing, self._bodies[sent.pending])
        if answer is None:
            return False
        if "error" in answer:
            self.tally.problems.append(f"{sent.path.name}: {answer['error']}")
        else:
            sent.kept.add(sent.pending)
            self.tally.answered += 1
        sent.pending = None
        return True


class Advise(_Advising):
    """`dowsax advise`: lines of JSON over a pipe."""

    def _start(self) -> Killing:
        if self._sent is None:
            self._sent = Sent(self._folder / f"{self._lives}.log")
            self.tally.logs.append(self._sent)
        site, log = str(self._site), str(self._sent.path)
        words = ["-m", "dowsax.cli", "advise", "--site", site, "--log", log, "--policy", POLICY]
        return Killing(words, self._folder)

    def _open(self, killing: Killing) -> bool:
        return True

    def _ask(self, killing: Killing, reading: dict[str, Any]) -> dict[str, Any] | None:
        x, y = reading["position"]
        body = {"id": reading["id"], "value": reading["value"], "x": x, "y": y}
        try:
            killing.stdin.write(json.dumps(body) + "\n")
            killing.stdin.flush()
        except BrokenPipeError:
            return None
        line = killing.stdout.readline()
        return json.loads(line) if line.endswith("\n") else None

    def _end(self, killing: Killing) -> None:
        killing.stdin.close()


class Serve(_Advising):
    """`dowsax serve`: readings over HTTP."""

    def __init__(self, folder: Path, site: Path) -> None:
        super().__init__(folder, site)
        self._address = ""
        self._missions: set[str] = set()
        """That were acknowledged."""

    def _start(self) -> Killing:
        missions = self._folder / "missions"
        return Killing(
            ["-m", "dowsax.cli", "serve", "--port", "0", "--missions", str(missions)], self._folder
        )

    def _open(self, killing: Killing) -> bool:
        found = re.search(r"http://\S+/", killing.stdout.readline())
        if found is None:
            return False
        self._address = found[0]
        listed = self._request("GET", "/api/missions")
        if not isinstance(listed, list):
            return False
        whole = {mission["id"] for mission in listed if mission["status"] not in ("damaged", "failed")}
        if self._missions - whole:
            self.tally.problems.append(f"missions that are not listed: {self._missions - whole}")
        if self._sent is None:
            site = self._site.read_text(encoding="utf-8")
            begun = self._request("POST", "/api/missions", {"type": "real", "site": site, "policy": POLICY})
            if not isinstance(begun, dict):
                return False
            self._missions.add(begun["id"])
            self._sent = Sent(self._folder / "missions" / f"{begun['id']}.log")
            self.tally.logs.append(self._sent)
        return True

    def _ask(self, killing: Killing, reading: dict[str, Any]) -> dict[str, Any] | None:
        del killing
        assert self._sent is not None
        answer = self._request("POST", f"/api/missions/{self._sent.path.stem}/readings", reading)
        return answer if isinstance(answer, dict) else None

    def _end(self, killing: Killing) -> None:
        killing.terminate()

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The JSON of the answer; `None` where the console is dead."""
        parts = urlsplit(self._address)
        assert parts.hostname is not None
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=_TIMEOUT_S)
        data = None if body is None else json.dumps(body)
        with suppress(OSError, http.client.HTTPException):
            connection.request(method, path, data, {"content-type": "application/json"})
            return json.loads(connection.getresponse().read())
        return None
