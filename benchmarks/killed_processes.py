"""Processes that are killed while they write to mission logs, and what is checked of the logs then.

Each is a real process on real files. In one life it is started, asked for readings until it is killed, and
then its log is checked.
"""

import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from dowsax.mission.log import MissionLog, has_mission

STARTUP, WORK = "startup", "work"
"""Where the moments of kills are drawn from: the time until a process is ready, and the one after it."""
LIVES_A_LOG = 10
"""After so many a new log is begun: going on takes longer, the more readings there are."""
_PATIENCE_S = 300.0
"""A process that lives longer is stuck."""
_WRITER_STARTUP_S, _WRITER_WORK_S = 0.6, 0.15
_WRITER = """
import random, sys
from pathlib import Path
from dowsax.mission.log import Header, MissionLog, Step

path, prefix, rng = Path(sys.argv[1]), sys.argv[2], random.Random(int(sys.argv[3]))
log = MissionLog.resume(path, Header("site", 0, "greedy", "default", {}))
count = sum(1 for _ in log.steps())
print("ready", flush=True)
for number in range(count + 1, count + 400):
    # Lines of many pages, too: a kill may leave a part of these.
    given = "x" * int(10 ** rng.uniform(1, 5.5 if rng.random() < 0.1 else 2))
    id = f"{prefix}-{number}"
    log.append(Step(number, "2026", given, {"id": id, "value": 1.0}, {"number": number}))
    print(id, flush=True)
sys.stdin.read()
"""


@dataclass
class Sent:
    """What was sent to one log."""

    path: Path
    kept: set[str] = field(default_factory=set)
    """Ids of readings that must be in the log: those that were answered, or once found in it."""
    pending: str | None = None
    """The id of the reading that has no answer yet."""
    lost: set[str] = field(default_factory=set)
    twice: int = 0


@dataclass
class Tally:
    """What came of the kills of one kind of process."""

    kills: Counter[str] = field(default_factory=Counter)
    """By where their moments were drawn from."""
    logs: list[Sent] = field(default_factory=list)
    answered: int = 0
    """Readings that were acknowledged."""
    unanswered: int = 0
    """Readings in a log whose answer the kill prevented."""
    torn: int = 0
    """Kills after which a log ended in an unfinished entry."""
    problems: list[str] = field(default_factory=list)

    @property
    def lost(self) -> int:
        return sum(len(sent.lost) for sent in self.logs)

    @property
    def twice(self) -> int:
        return sum(sent.twice for sent in self.logs)

    def to_json(self) -> dict[str, object]:
        """Numbers, and what went wrong in words."""
        names = ("answered", "lost", "twice", "unanswered", "torn", "problems")
        return {"kills": dict(self.kills), "logs": len(self.logs)} | {
            name: getattr(self, name) for name in names
        }


def check_log(sent: Sent, tally: Tally) -> None:
    """Note what is lost in a log or there twice; only the reading without an answer may be there besides."""
    data = sent.path.read_bytes() if sent.path.exists() else b""
    tally.torn += bool(data) and not data.endswith(b"\n")
    try:
        steps = list(MissionLog.open(sent.path).steps()) if has_mission(sent.path) else []
    except (ValueError, OSError) as error:
        tally.problems.append(f"{sent.path.name}: {error}")
        return
    ids = [step.id or "" for step in steps]
    if [step.number for step in steps] != list(range(1, len(steps) + 1)):
        tally.problems.append(f"{sent.path.name}: the steps are not numbered in order")
    new = set(ids) - sent.kept
    if new - {sent.pending}:
        tally.problems.append(f"{sent.path.name}: readings that were never sent: {sorted(new)[:3]}")
    tally.unanswered += len(new)
    sent.lost |= sent.kept - set(ids)
    sent.twice = len(ids) - len(set(ids))
    sent.kept |= new


def check_healing(tally: Tally) -> None:
    """Append to every log once more: nothing unfinished is left, and all that was there is."""
    for sent in tally.logs:
        if not has_mission(sent.path):
            continue
        try:
            with MissionLog.open(sent.path).writable() as log:
                log.note("end", "Checked.", durable=True)
        except (ValueError, OSError) as error:
            tally.problems.append(f"{sent.path.name}: {error}")
        torn = tally.torn
        check_log(sent, tally)
        if tally.torn > torn:
            tally.problems.append(f"{sent.path.name}: the unfinished last entry was not healed")


class Process(Protocol):
    """A kind of process, with all its files."""

    tally: Tally

    def live(self, rng: random.Random, kill_in: str | None) -> None:
        """Start it, send readings, and kill it at a random moment; it ends by itself where that is `None`."""
        ...


class Killing:
    """A process that is killed by a timer, whatever it does then."""

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self._errors = (folder / "stderr").open("wb+")
        self._process = subprocess.Popen(
            [sys.executable, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self.begun = time.monotonic()
        self._is_stuck = False
        self._timers = [self._after(_PATIENCE_S, self._give_up)]

    @property
    def stdin(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    def kill_after(self, seconds: float) -> None:
        self._timers.append(self._after(seconds, self._process.kill))

    def terminate(self) -> None:
        self._process.terminate()

    def wait(self, tally: Tally, is_killed: bool) -> None:
        """Wait until it has ended; a problem where it ended by anything but the kill."""
        with suppress(BrokenPipeError):
            self.stdin.close()
        code = self._process.wait()
        for timer in self._timers:
            timer.cancel()
        self.stdout.close()
        self._errors.seek(0)
        told = self._errors.read().decode(errors="replace").strip()
        self._errors.close()
        if self._is_stuck or "Traceback" in told or (is_killed and code != -signal.SIGKILL):
            tally.problems.append(f"ended with {code}{' as stuck' * self._is_stuck}: {told[-300:]}")

    def _after(self, seconds: float, work: Callable[[], None]) -> threading.Timer:
        timer = threading.Timer(seconds, work)
        timer.daemon = True
        timer.start()
        return timer

    def _give_up(self) -> None:
        self._is_stuck = True
        self._process.kill()


class Writer:
    """`MissionLog.append` in a loop, without a filter."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.tally = Tally()
        self._folder = folder
        self._lives = 0

    def live(self, rng: random.Random, kill_in: str | None) -> None:
        if self._lives % LIVES_A_LOG == 0:
            self.tally.logs.append(Sent(self._folder / f"{self._lives}.log"))
        self._lives += 1
        sent = self.tally.logs[-1]
        words = ["-c", _WRITER, str(sent.path), sent.path.stem, str(rng.randrange(10**6))]
        killing = Killing(words, self._folder)
        if kill_in == STARTUP:
            killing.kill_after(rng.uniform(0, _WRITER_STARTUP_S))
        for line in killing.stdout:
            if line == "ready\n":
                if kill_in == WORK:
                    killing.kill_after(rng.uniform(0, _WRITER_WORK_S))
            elif line.endswith("\n"):
                self.tally.answered += 1
                sent.kept.add(line.strip())
        killing.wait(self.tally, kill_in is not None)
        sent.pending = f"{sent.path.stem}-{len(sent.kept) + 1}"
        if kill_in is not None:
            self.tally.kills[kill_in] += 1
        check_log(sent, self.tally)
