"""Kills at random moments of processes that write mission logs: no acknowledged reading may be lost.

    python -m benchmarks.kills --kills 1000 --seed 0

Three kinds of process at once: a bare writer that appends to a log in a loop (80 % of the kills), `dowsax
advise` with readings over a pipe (10 %), and `dowsax serve` with readings over HTTP (10 %). Each is killed
with SIGKILL, checked, started again on the same files and goes on; after ten lives it begins another log.
The moments of half of the kills are drawn from the startup of the process. Those of the others are drawn
from its work: of the writer, any moment of its appending; of the others, any moment from when a reading is
sent until half of the time of an answer after that, which is computing, writing and answering.

Required: every reading that was answered is in its log, none is there twice, nothing is that was not sent,
and a log is whole but for an unfinished last entry, which the next writer heals. Exit code 1 otherwise.

`advise` and `serve` take some 8 s of processor time to start, once compiled programs are cached (the first
life of each, which is not killed, sees to that): hence their shares. All took 40 minutes on 2
cores that others used, too.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.killed_advisors import Advise, Serve
from benchmarks.killed_processes import STARTUP, WORK, Process, Tally, Writer, check_healing
from dowsax.console.simulation import site_text

SHARES = {"writer": 0.8, "advise": 0.1, "serve": 0.1}
_STARTUP_SHARE = 0.5
_PARTICLES = 16
_REPORT_EVERY_S = 30.0


def kill_all(
    processes: Mapping[str, tuple[Process, int]], seed: int, notify_every: float = _REPORT_EVERY_S
) -> None:
    """Kill each of these so many times, all at once, and check all their logs at the end."""
    threads = [
        threading.Thread(target=_kill, args=(process, count, random.Random(f"{seed} {name}")), name=name)
        for name, (process, count) in processes.items()
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(notify_every / len(threads))
        counts = [f"{name} {process.tally.kills.total()}" for name, (process, _) in processes.items()]
        print(f"kills: {', '.join(counts)}", file=sys.stderr, flush=True)
    for process, _ in processes.values():
        check_healing(process.tally)


def _kill(process: Process, count: int, rng: random.Random) -> None:
    try:
        if count and not isinstance(process, Writer):
            process.live(rng, None)
        for _ in range(count):
            process.live(rng, STARTUP if rng.random() < _STARTUP_SHARE else WORK)
    except Exception as error:
        process.tally.problems.append(f"the killer failed: {type(error).__name__}: {error}")


def table(tallies: Mapping[str, Tally]) -> str:
    """A line for each kind of process."""
    columns = {
        "kills": lambda tally: tally.kills.total(),
        "in startup": lambda tally: tally.kills[STARTUP],
        "at work": lambda tally: tally.kills[WORK],
        "logs": lambda tally: len(tally.logs),
        "acknowledged": lambda tally: tally.answered,
        "lost": lambda tally: tally.lost,
        "twice": lambda tally: tally.twice,
        "written, not answered": lambda tally: tally.unanswered,
        "torn ends": lambda tally: tally.torn,
        "problems": lambda tally: len(tally.problems),
    }
    lines = [f"{'process':8}" + "".join(f"  {name}" for name in columns)]
    counts = {name: [of(tally) for of in columns.values()] for name, tally in tallies.items()}
    counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    for name, numbers in counts.items():
        cells = zip(columns, numbers, strict=True)
        lines.append(f"{name:8}" + "".join(f"  {number:{len(column)},}" for column, number in cells))
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(words)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        site = folder / "site.toml"
        text = site_text("temperature", "id", 0, _PARTICLES).replace("readings = 200", "readings = 100000")
        site.write_text(text, encoding="utf-8")
        made = {
            "writer": Writer(folder / "writer"),
            "advise": Advise(folder / "advise", site),
            "serve": Serve(folder / "serve", site),
        }
        others = {name: round(share * options.kills) for name, share in SHARES.items() if name != "writer"}
        counts = {"writer": options.kills - sum(others.values())} | others
        kill_all({name: (made[name], counts[name]) for name in made}, options.seed)
    tallies = {name: process.tally for name, process in made.items()}
    problems = [f"{name}: {words}" for name, tally in tallies.items() for words in tally.problems]
    seconds = round(time.monotonic() - begun)
    if options.json:
        known = {name: tally.to_json() for name, tally in tallies.items()}
        print(json.dumps({"seed": options.seed, "seconds": seconds, **known}, indent=2))
    else:
        print("\n".join([table(tallies), *problems, f"seed {options.seed}, {seconds} s"]))
    return 1 if problems or any(tally.lost or tally.twice for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
