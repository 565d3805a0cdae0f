"""Whether advice keeps up with a team: ten searchers, each with one reading a second, on one machine.

`python -m benchmarks.teams --searchers 10 --seconds 120` starts `dowsax advise` at the standard site of a
kind with that many searchers, who walk where they are sent and send their readings at their times, whatever
became of the ones before. It counts readings without an answer, answered ones that the log does not hold, and
how long an answer took from the moment its reading was due.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.machine import describe, load
from benchmarks.standard_sites import standard_site
from dowsax.mission.log import MissionLog
from dowsax.mission.plan import Plan
from dowsax.site.parse import parse_site
from dowsax.survey.reading import Reading

_WIND = (2.0, 0.5)
"""[m/s], where the air goes."""
_PATIENCE_S = 60.0
"""After the last reading."""


@dataclass
class Walker:
    """A searcher who walks at one metre a second to where it is sent."""

    name: str
    position: tuple[float, float]
    going: tuple[float, float] | None = None

    def walk(self, seconds: float) -> None:
        if self.going is None:
            return
        way = math.dist(self.position, self.going)
        share = min(1.0, seconds / max(way, 1e-9))
        (x, y), (east, north) = self.position, self.going
        self.position = x + share * (east - x), y + share * (north - y)


@dataclass
class Tally:
    """What came of the readings."""

    due: dict[str, float] = field(default_factory=dict)
    """[s], by the id of the reading."""
    latencies: dict[str, float] = field(default_factory=dict)
    """[s], of those that were answered."""
    errors: list[str] = field(default_factory=list)
    planned: int = 0
    """Answers with a place of their own."""


def site_text(kind: str, number: int) -> str:
    """Return the standard site of a kind, with this many searchers."""
    team = "".join(f'\n[[searcher]]\nname = "s{index}"\n' for index in range(number))
    return standard_site(kind) + team


def simulate(plan: Plan, seed: int):
    """Return a function (number, walker) -> the value that a sensor reads there."""
    source_key, noise_key = jax.random.split(jax.random.key(seed))
    model, theta = plan.model, plan.model.prior.sample(source_key)
    draw = jax.jit(lambda key, station: model.sample_reading(key, theta, station))

    def value(number: int, walker: Walker) -> float:
        blank = Reading(walker.position, 0.0, wind=_WIND, searcher=walker.name)
        station = plan.stations.station(plan.stations.complete(blank, ()), ())
        station = model.recall(station, jax.tree.map(lambda leaf: leaf[None], station), jnp.zeros(1), 0)
        return float(draw(jax.random.fold_in(noise_key, number), station))

    return value


def run(kind: str, number: int, seconds: float, seed: int, folder: Path) -> Tally:
    """Run a mission with one reading a second of each searcher."""
    text = site_text(kind, number)
    (folder / "site.toml").write_text(text)
    plan, tally = Plan.of(parse_site(text)), Tally()
    value = simulate(plan, seed)
    walkers = {name: Walker(name, own.start or plan.middle) for name, own in plan.searchers.items()}
    for walker in walkers.values():
        value(0, walker)
    words = ["advise", "--site", folder / "site.toml", "--log", folder / "mission.log", "--seed", str(seed)]
    advise = subprocess.Popen(
        [sys.executable, "-m", "dowsax.cli", *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert advise.stdin is not None
    assert advise.stderr is not None
    # It says where to begin when all is compiled.
    while "ready, begin" not in advise.stderr.readline():
        pass
    threading.Thread(target=advise.stderr.read, daemon=True).start()
    reader = threading.Thread(target=_read_answers, args=(advise, tally, walkers), daemon=True)
    reader.start()
    begun = time.perf_counter()
    for count in range(int(seconds) * number):
        walker = walkers[f"s{count % number}"]
        due = begun + count / number
        time.sleep(max(due - time.perf_counter(), 0.0))
        walker.walk(1.0)
        body = {
            "id": str(count),
            "searcher": walker.name,
            "time": count / number,
            "value": value(count, walker),
        }
        body |= dict(zip(("x", "y", "wind_u", "wind_v"), (*walker.position, *_WIND), strict=True))
        tally.due[str(count)] = due
        advise.stdin.write(json.dumps(body) + "\n")
        advise.stdin.flush()
    advise.stdin.close()
    reader.join(_PATIENCE_S)
    advise.wait(_PATIENCE_S)
    return tally


def _read_answers(advise: subprocess.Popen, tally: Tally, walkers: dict[str, Walker]) -> None:
    assert advise.stdout is not None
    for line in advise.stdout:
        answered, body = time.perf_counter(), json.loads(line)
        if "error" in body:
            tally.errors.append(body["error"])
            continue
        tally.latencies[body["id"]] = answered - tally.due[body["id"]]
        tally.planned += "Further readings" not in body["why"]
        there = body["next_position"]
        walkers[body["searcher"]].going = None if there is None else (there[0], there[1])


def report(tally: Tally, log: Path) -> dict:
    """Return the numbers of a run."""
    with MissionLog.open(log) as opened:
        logged = {step.id for step in opened.steps()}
    times = np.array(list(tally.latencies.values()))
    p50, p95, p99 = np.quantile(times, (0.5, 0.95, 0.99)) if len(times) else (math.nan,) * 3
    return {
        "readings": len(tally.due),
        "without an answer": len(tally.due) - len(tally.latencies),
        "answered and not in the log": len(tally.latencies.keys() - logged),
        "refused": len(tally.errors),
        "answers with a new place": tally.planned,
        "latency [s]": {"median": p50, "p95": p95, "p99": p99},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kind", default="gas-plume")
    parser.add_argument("--searchers", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    before = load()
    with tempfile.TemporaryDirectory() as folder:
        tally = run(chosen.kind, chosen.searchers, chosen.seconds, chosen.seed, Path(folder))
        found = report(tally, Path(folder) / "mission.log")
    print(json.dumps(vars(chosen) | {"machine": describe(), "load": [before, load()]} | found, indent=1))
    for words in tally.errors[:3]:
        print(words, file=sys.stderr)


if __name__ == "__main__":
    main()
