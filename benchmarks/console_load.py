"""How the console bears a load: many missions, each with one reading a second, on one machine.

`python -m benchmarks.console_load --missions 50 --seconds 600` starts a server of its own, sends every
mission its readings at their times, whatever became of the ones before, and counts: readings without an
acknowledgement, acknowledged ones that the logs do not hold, how long advice took from the moment the reading
was due, and the memory of the server over time.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import jax
import numpy as np

from benchmarks.machine import describe, load
from dowsax.console.simulation import Truth, site_text
from dowsax.mission.log import MissionLog
from dowsax.mission.plan import Plan
from dowsax.site import parse_site

_PATIENCE = 30.0
"""[s], for one answer."""


@dataclass
class Tally:
    """What came of the readings that were sent."""

    latencies: list[float] = field(default_factory=list)
    """[s], of those that were acknowledged, from when they were due."""
    due: list[float] = field(default_factory=list)
    """[s], when each of these was due, since the first."""
    acknowledged: dict[str, list[str]] = field(default_factory=dict)
    """Their ids by mission."""
    refused: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    """[MB] of the server, every ten seconds."""
    work: float = 0.0
    """[s] of processor time that the server took, on all cores."""
    stolen: float = 0.0
    """[s] of processor time, on all cores, that other machines on the same hardware took meanwhile."""


class Client:
    """JSON over one connection that is kept."""

    def __init__(self, address: str) -> None:
        self._parts = urlsplit(address)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: dict | None = None) -> tuple[int, dict]:
        host, port = self._parts.hostname, self._parts.port
        if self._streams is None:
            self._streams = await asyncio.open_connection(host, port)
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-length: {len(data)}\r\n"
        writer.write(f"{head}content-type: application/json\r\n\r\n".encode() + data)
        async with asyncio.timeout(_PATIENCE):
            answer = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = re.search(r"content-length: (\d+)", answer, re.IGNORECASE)
            assert length is not None
            text = await reader.readexactly(int(length[1]))
        return int(answer.split()[1]), json.loads(text)


def started(folder: Path) -> tuple[subprocess.Popen, str]:
    """A server of its own process, and its address."""
    words = [sys.executable, "-m", "dowsax.cli", "serve", "--port", "0", "--missions", str(folder)]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    found = re.search(r"http://\S+/", server.stdout.readline())
    assert found is not None
    return server, found[0].rstrip("/")


def resident(pid: int) -> float:
    """[MB]"""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1000


def worked(pid: int) -> float:
    """[s] of processor time so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def stolen() -> float:
    """[s] of processor time that other machines on the same hardware have taken so far; 0 if not told."""
    path = Path("/proc/stat")
    ticks = path.read_text().split(maxsplit=9)[8] if path.exists() else "0"
    return int(ticks) / os.sysconf("SC_CLK_TCK")


async def begun(address: str, field: str, particles: int, number: int) -> tuple[str, str]:
    """A real mission in the benchmark's square, and the text of its site."""
    text = site_text(field, "id", number, particles).replace("readings = 200", "readings = 100000")
    status, body = await Client(address).ask(
        "POST", "/api/missions", {"type": "real", "site": text, "name": f"load {number}", "seed": number}
    )
    assert status == 201, body
    return body["id"], text


async def ready(address: str) -> None:
    client = Client(address)
    while True:
        _, missions = await client.ask("GET", "/api/missions")
        if all(mission["status"] != "preparing" for mission in missions):
            return
        await asyncio.sleep(1.0)


async def fed(address: str, mission: str, source, plan: Plan, seconds: float, delay: float, tally: Tally):
    """One reading a second: where the newest advice says, or anywhere once the search is over."""
    client, begin = Client(address), time.monotonic() + delay
    place, anywhere = plan.start or plan.middle, np.random.default_rng(source.seed)
    sent = tally.acknowledged.setdefault(mission, [])
    for number in range(1, int(seconds) + 1):
        due = begin + number - 1
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        value = source.read(plan, number, place).value
        body = {"position": list(place), "value": value, "id": f"{mission}-{number}"}
        try:
            status, answer = await client.ask("POST", f"/api/missions/{mission}/readings", body)
        except (OSError, TimeoutError, EOFError) as error:
            tally.refused.append(f"{type(error).__name__}: {error}")
            client = Client(address)
            continue
        if status != 200:
            tally.refused.append(f"{status}: {answer['error']}")
            continue
        tally.latencies.append(time.monotonic() - due)
        tally.due.append(due - begin + delay)
        sent.append(body["id"])
        there = answer["advice"]["next_position"] or anywhere.uniform(*plan.reach.area)
        place = (float(there[0]), float(there[1]))


async def weighed(pid: int, tally: Tally) -> None:
    while True:
        tally.memory.append(resident(pid))
        await asyncio.sleep(10.0)


async def measured(address: str, pid: int, options: argparse.Namespace) -> Tally:
    tally = Tally()
    missions = [
        await begun(address, options.field, options.particles, number) for number in range(options.missions)
    ]
    await ready(address)
    plans = [Plan.of(parse_site(text)) for _, text in missions]
    sources = [Truth.sample(plan, "id", 1000 + number) for number, plan in enumerate(plans)]
    before, taken_before = worked(pid), stolen()
    weighing = asyncio.create_task(weighed(pid, tally))
    await asyncio.gather(
        *(
            fed(address, mission, source, plan, options.seconds, number / options.missions, tally)
            for number, ((mission, _), source, plan) in enumerate(zip(missions, sources, plans, strict=True))
        )
    )
    weighing.cancel()
    tally.work, tally.stolen = worked(pid) - before, stolen() - taken_before
    tally.memory.append(resident(pid))
    return tally


def missing(folder: Path, tally: Tally) -> int:
    """How many acknowledged readings the logs do not hold."""
    lost = 0
    for mission, ids in tally.acknowledged.items():
        with MissionLog.open(folder / f"{mission}.log") as log:
            held = {step.id for step in log.steps()}
        lost += len(set(ids) - held)
    return lost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missions", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--field", default="gas")
    parser.add_argument("--particles", type=int, default=2048)
    options = parser.parse_args()
    jax.config.update("jax_platforms", "cpu")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server, address = started(folder)
        try:
            tally = asyncio.run(measured(address, server.pid, options))
        finally:
            server.terminate()
            server.wait()
        lost = missing(folder, tally)
    report(options, tally, lost)


def report(options: argparse.Namespace, tally: Tally, lost: int) -> None:
    what = f"{options.field}, {options.particles} particles"
    print(f"{options.missions} missions ({what}), one reading a second each, for {options.seconds:g} s;")
    print(f"{describe()}; load {load() or 0.0:.1f}")
    taken, refused = len(tally.latencies), len(tally.refused)
    print(f"readings sent {taken + refused}, acknowledged {taken}, refused {refused}, lost {lost}")
    for words in sorted(set(tally.refused))[:5]:
        print(f"  refused: {words}")
    p50, p95, most = np.quantile(tally.latencies, (0.5, 0.95, 1.0))
    print(f"advice after: median {p50:.3f} s, 95th percentile {p95:.3f} s, longest {most:.3f} s")
    minutes, latencies = np.array(tally.due) // 60, np.array(tally.latencies)
    slowest = [np.quantile(latencies[minutes == minute], 0.95) for minute in np.unique(minutes)]
    print(f"95th percentile minute by minute: {', '.join(f'{one:.3f}' for one in slowest)}")
    print(f"cores taken by other machines on the same hardware: {tally.stolen / options.seconds:.2f}")
    each = tally.work / max(taken, 1)
    print(
        f"processor time of the server: {1000 * each:.1f} ms a reading, {each * options.missions:.2f} cores"
    )
    print(f"memory of the server [MB]: {', '.join(f'{size:.0f}' for size in tally.memory)}")


if __name__ == "__main__":
    main()
