"""Whatever is sent, it is answered: `python -m benchmarks.fuzz --inputs 100000 --seed 0`

Hostile inputs through the three ways to a mission: lines of JSON, an MQTT broker and the API of the console.
Counted is what became of them. Then each mission is given a good reading, which it must take in, and its log
is read back, which must hold every reading and every refusal that was answered. Exits with 1 where anything
was raised, was not answered, or was answered by what is no JSON.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from benchmarks import machine
from benchmarks.fuzz_console import fuzz_console
from benchmarks.fuzz_missions import Lines, fuzz_missions, mqtt_link
from benchmarks.fuzz_tally import Tally
from benchmarks.fuzzed_inputs import ORIGIN
from dowsax.compilation import enable_cache
from dowsax.console.simulation import site_text
from dowsax.evaluate.tables import markdown
from dowsax.mission.advisor import Advisor
from dowsax.site import parse_site

COLUMNS = ("sent", "blank", "answered", "taken", "refused", "asked", "raised", "unanswered", "missions")
_REAL = """\
name = "fuzz"

[area]
low = [0.0, 0.0]
high = [200.0, 150.0]
origin = [{origin[0]}, {origin[1]}]

[field]
kind = "{kind}"
unit = "{unit}"

[step]
length = 20.0
directions = 4

[search]
particles = 32
"""
Step = Callable[[int], None]


def small_site(kind: str) -> str:
    """A site with few particles: a gas plume in measured wind, counts, or the benchmark's temperature."""
    if kind == "temperature":
        return site_text(kind, "id", 0, 64).replace("[area]\n", f"[area]\norigin = {list(ORIGIN)}\n")
    unit, more = {
        "gas-plume": ("ppm", '\n[wind]\nmode = "measured"\ndirection_error = 0\n'),
        "radiation": ("counts", "\n[sensor]\ndwell = 1.0\n"),
    }[kind]
    return _REAL.format(origin=ORIGIN, kind=kind, unit=unit) + more


def fuzz(
    inputs: int,
    seed: int,
    folder: Path,
    kinds: tuple[str, str] = ("gas-plume", "radiation"),
    on_progress: Callable[[str], Step] = lambda name: lambda number: None,
) -> list[Tally]:
    """Send a third of the inputs through each transport.

    `kinds` are those of the sites to which lines and messages of MQTT go; `on_progress`, given the name of a
    transport, gives back what is called with the numbers of inputs that are done.
    """
    shares = [inputs - 2 * (inputs // 3), inputs // 3, inputs // 3]
    draws = [np.random.default_rng([seed, number]) for number in range(3)]
    ready = {kind: Advisor(parse_site(small_site(kind)), "greedy") for kind in dict.fromkeys(kinds)}
    lines = Lines()
    tallies = [fuzz_missions(lines, ready[kinds[0]], shares[0], draws[0], folder, on_progress(lines.name))]
    with mqtt_link() as link:
        tallies.append(
            fuzz_missions(link, ready[kinds[1]], shares[1], draws[1], folder, on_progress(link.name))
        )
    site, console = small_site("temperature"), folder / "console"
    tallies.append(fuzz_console(site, shares[2], draws[2], console, on_progress("console API")))
    return tallies


def report(tallies: list[Tally], seconds: float, seed: int) -> str:
    """The counts as a table, and what went wrong."""
    rows = [(one.transport, *(f"{getattr(one, name):,}" for name in COLUMNS)) for one in tallies]
    rows.append(("all", *(f"{sum(getattr(one, name) for one in tallies):,}" for name in COLUMNS)))
    told = [f"- {one.transport}: {words}" for one in tallies for words in one.faults]
    where = f"{machine.cores()} cores of {machine.cpu_model()}; commit {machine.commit()}"
    return "\n".join(
        [*markdown(("transport", *COLUMNS), rows), "", f"Seed {seed}; {seconds:.0f} s, {where}.", *told]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000, help="in all; default: 100,000")
    parser.add_argument("--seed", type=int, default=0, help="of the inputs; default: 0")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    options = parser.parse_args()
    enable_cache()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name, Progress(console=Console(stderr=True)) as progress:
        preparing = progress.add_task("compiling", total=None)

        def on_progress(transport: str) -> Step:
            progress.update(preparing, visible=False)
            task = progress.add_task(transport, total=options.inputs // 3)
            return lambda number: progress.advance(task, number)

        tallies = fuzz(options.inputs, options.seed, Path(name), on_progress=on_progress)
    seconds = time.monotonic() - begin
    if options.json:
        body = {"seed": options.seed, "seconds": round(seconds, 1), "transports": list(map(asdict, tallies))}
        print(json.dumps(body, indent=1))
    else:
        print(report(tallies, seconds, options.seed))
    sys.exit(0 if all(tally.is_clean for tally in tallies) else 1)


if __name__ == "__main__":
    main()
