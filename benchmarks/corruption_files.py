"""Intact files to corrupt: a mission log, an SQLite log of earlier versions, and a folder of a console."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dowsax.console.bodies import MissionBody
from dowsax.console.mission_host import MissionHost
from dowsax.console.records import Feed, read_record
from dowsax.console.service import Console
from dowsax.console.simulation import site_text
from dowsax.console.store import Store
from dowsax.mission.advisor import Advisor
from dowsax.mission.log import Header, MissionLog
from dowsax.mission.messages import answer, parse_request

PARTICLES = 64
POLICY = "greedy"
FED, SENT, SIMULATED, DELETED = "fed", "sent", "simulated", "deleted"
"""Missions of the console: with a feed, with readings by HTTP, simulated, and one that is being deleted."""


@dataclass(frozen=True)
class Entry:
    """A line of an intact journal, found by its line ends alone."""

    number: int
    kind: str
    body: dict[str, Any]
    line: bytes
    """Without its end."""
    start: int
    """[bytes] from the beginning of the file."""


@dataclass(frozen=True)
class Intact:
    """The intact files."""

    site: Path
    log: Path
    header: Header
    earlier: Path
    """The mission of the log as earlier versions kept it."""
    folder: Path
    ids: dict[str, str]
    """Of the missions in the folder, by their names."""


def entries(data: bytes) -> list[Entry]:
    """The entries of an intact journal."""
    found, start = [], data.index(b"\n") + 1
    while start < len(data):
        line = data[start : data.index(b"\n", start)]
        _, _, number, kind, text = line.split(b" ", 4)
        found.append(Entry(int(number), kind.decode(), json.loads(text), line, start))
        start += len(line) + 1
    return found


def build(folder: Path) -> Intact:
    """Run the missions whose files are corrupted; takes some seconds, for the filter is compiled."""
    site, log, earlier = folder / "site.toml", folder / "mission.log", folder / "earlier.db"
    site.write_text(site_text("temperature", "id", 0, PARTICLES), encoding="utf-8")
    header = _write_log(site, log)
    _write_earlier(log, header, earlier)
    missions = folder / "missions"
    ids = asyncio.run(_run_console(missions, site.read_text(encoding="utf-8")))
    with closing(Store(missions)) as store:
        deleted = MissionLog.open(store.log_path(ids[DELETED])).header
        record = read_record(deleted, None, ids[DELETED])
        # As if the console had been killed while it deleted the mission.
        (missions / f"{ids[DELETED]}.deleted").write_text(store.site_path(record).name)
    return Intact(site, log, header, earlier, missions, ids)


def requests(count: int) -> Iterator[dict[str, Any]]:
    """Readings, of which one is withdrawn and one corrected."""
    for number in range(1, count + 1):
        place = {"x": 2.0 + 1.5 * (number % 6), "y": 2.0 + 0.9 * number}
        yield {"id": f"reading {number}", "value": 0.2 + 0.05 * number, "time": float(number), **place}
        if number == 4:
            yield {"withdraw": True, "id": "reading 2", "reason": "The probe was in the sun."}
        if number == 7:
            yield {"correct": True, "id": "reading 5", "value": 0.35, "reason": "A slip of the pen."}


def _write_log(site: Path, log: Path) -> Header:
    advisor = Advisor(site, POLICY, 3, log)
    for number, request in enumerate(requests(10)):
        assert "error" not in answer(advisor, json.dumps(request))
        if number % 4 == 1:
            # What was sent may look like an entry, and the checksum of one be right.
            rest = f"2 {number + 6} note {{}}"
            forged = f"{blake2b(rest.encode(), digest_size=16).hexdigest()} {rest}"
            assert "error" in answer(advisor, f"{number} {forged}")
            advisor.note("battery", f"The battery of robot {number} was changed.")
    advisor.close()
    return advisor.header


def _write_earlier(log: Path, header: Header, earlier: Path) -> None:
    body = {name: getattr(header, name) for name in ("site", "seed", "policy", "preset", "versions")}
    with closing(sqlite3.connect(earlier)) as database, database:
        database.execute("CREATE TABLE mission (format INTEGER, header TEXT)")
        database.execute("CREATE TABLE readings (number, id, received, given, reading, advice)")
        database.execute("CREATE TABLE refused (number, after, received, given, reason)")
        database.execute("INSERT INTO mission VALUES (1, ?)", (json.dumps(body),))
        for step in MissionLog.open(log).steps():
            if step.corrects is None:
                row = (step.number, step.id, step.received, step.given)
                texts = (json.dumps(step.reading), json.dumps(step.advice))
                database.execute("INSERT INTO readings VALUES (?, ?, ?, ?, ?, ?)", row + texts)


async def _run_console(folder: Path, site: str) -> dict[str, str]:
    console = Console(folder)
    await console.start()
    ids = {}
    for name, count in ((FED, 8), (SENT, 5), (DELETED, 2)):
        host = await _begin(console, MissionBody(type="real", site=site, name=name, policy=POLICY, seed=3))
        ids[name] = host.id
        for request in requests(count):
            await console.do(
                host,
                lambda generation, host=host, request=request: host.do_answer(
                    generation, parse_request(request)
                ),
            )
    body = MissionBody(
        type="simulated", field="temperature", particles=PARTICLES, policy=POLICY, seed=4, name=SIMULATED
    )
    simulated = await _begin(console, body)
    ids[SIMULATED] = simulated.id
    for _ in range(4):
        await console.step(simulated)
    console.store.write_feed(ids[FED], Feed("mqtt://user:password@127.0.0.1:1", "readings", "advice"))
    await console.stop()
    return ids


async def _begin(console: Console, body: MissionBody) -> MissionHost:
    host = await console.create(body)
    await console.do(host, host.do_prepare)
    return host
