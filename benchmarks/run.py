"""All speed benchmarks, one after another on a machine that should be quiet: `python -m benchmarks.run`

    python -m benchmarks.run --only speed startup
    python -m benchmarks.run --tiny --out runs/tiny   a rehearsal; its numbers mean nothing

Each step is a process of its own, so that none sees another's threads, memory or failure. What a step prints
is in <step>.log, what it found in its own files, and all of it together in summary.md.
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import machine, summary


class Step(NamedTuple):
    """A module of this package, the files it writes, and how it is rehearsed."""

    module: str
    files: tuple[str, ...]
    tiny: str


STEPS = {
    "speed": Step("speed", ("speed.json",), "--fields gas --surveys 2 --batch 2 --repeats 1 --particles 64"),
    "startup": Step("startup", ("startup.json",), "--cold 1 --warm 1 --particles 64"),
    "growth": Step(
        "growth",
        ("growth.csv", "growth.png"),
        "--sizes 100 5000 --lengths 4 8 --repeats 1 --steps 2 --surveys 1 --particles 64",
    ),
    "decisions": Step(
        "decisions",
        ("decisions.json", "decisions.md"),
        "--repeats 1 --shrink 20 --fields gas --beliefs 2 --particles 64",
    ),
    "peers": Step(
        "peers_table",
        ("peers.md", "peers.json", "peers.csv"),
        "--fields gas --sets survey --cases 1 --only plain dowsax",
    ),
}


class Outcome(NamedTuple):
    """How a step ended; `error` is empty when it went well."""

    finished: str
    commit: str
    seconds: float
    load_before: float | None
    tiny: bool
    error: str


def command(name: str, out: Path, tiny: bool) -> list[str]:
    """The command line of a step."""
    step = STEPS[name]
    target = out / "peers.md" if name == "peers" else out
    words = step.tiny.split() if tiny else []
    return [sys.executable, "-u", "-m", f"benchmarks.{step.module}", "--out", str(target.resolve()), *words]


def run_process(words: list[str], log: Path, tell: Callable[[str], None], timeout: float) -> str:
    """Run to the end, every line to the log and to `tell`; the error in one line, or nothing."""
    lines: list[str] = []
    late = threading.Event()
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", cwd=machine.ROOT
    )
    timer = threading.Timer(timeout, lambda: (late.set(), process.kill()))
    timer.start()
    with process, log.open("w", encoding="utf-8") as file:
        try:
            for line in process.stdout or ():
                file.write(line)
                file.flush()
                lines.append(line.strip())
                tell(line.rstrip())
            code = process.wait()
        finally:
            timer.cancel()
            process.kill()
    if late.is_set():
        return f"stopped after {timeout:.0f} s"
    last = next((line for line in reversed(lines) if line), "no message")
    return "" if code == 0 else f"exit code {code}: {last}"


def run_step(name: str, out: Path, tiny: bool, timeout: float, tell: Callable[[str], None]) -> Outcome:
    """One step. Files of an earlier run go first, so that a failure cannot pass them off as its own."""
    for file in STEPS[name].files:
        (out / file).unlink(missing_ok=True)
    load, start = machine.load(), time.perf_counter()
    try:
        error = run_process(command(name, out, tiny), out / f"{name}.log", tell, timeout)
    except OSError as failure:
        error = str(failure)
    absent = [file for file in STEPS[name].files if not (out / file).exists()]
    if not error and absent:
        error = f"wrote no {', '.join(absent)}"
    return Outcome(machine.now(), machine.commit(), time.perf_counter() - start, load, tiny, error)


def remembered(path: Path) -> dict[str, dict]:
    """Outcomes of earlier steps in the same folder."""
    return json.loads(path.read_text()) if path.exists() else {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(STEPS), default=list(STEPS), help="steps to run")
    parser.add_argument("--out", type=Path, default=Path("runs/bench"))
    parser.add_argument("--tiny", action="store_true", help="a rehearsal")
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds for each step")
    arguments = parser.parse_args()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    record = out / "steps.json"
    outcomes = remembered(record)
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("benchmarks", total=len(arguments.only))

        def tell(line: str) -> None:
            console.print(line, markup=False, highlight=False, soft_wrap=True)

        for name in arguments.only:
            progress.update(bar, description=name)
            tell(f"== {name}")
            outcome = run_step(name, out, arguments.tiny, arguments.timeout, tell)
            outcomes[name] = outcome._asdict()
            record.write_text(json.dumps(outcomes, indent=1) + "\n")
            progress.advance(bar)
    ordered = {name: outcomes[name] for name in STEPS if name in outcomes}
    (out / "summary.md").write_text(summary.write(out, ordered, machine.describe()), encoding="utf-8")
    console.print(f"The summary is in {out / 'summary.md'}", soft_wrap=True)
    failed = {name: outcomes[name]["error"] for name in arguments.only if outcomes[name]["error"]}
    for name, error in failed.items():
        console.print(f"{name} failed: {error} (see {out / name}.log)", markup=False, soft_wrap=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
