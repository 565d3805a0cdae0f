"""Random corruptions of mission logs and of the files of a console: what is lost, and what is noticed.

    python -m benchmarks.corruptions --cases 1000 --seed 0

Each case corrupts files of one mission in a fresh copy of intact ones: bits flipped, blocks overwritten,
zeroed, cut out, swapped or inserted, a file truncated, emptied, or replaced by a folder or another file,
several at once. Half of the cases are logs of `dowsax advise`, which are opened, exported, recovered and gone
on with; half are folders of a console, which is started over them. Required: no traceback and no raw error,
every intact entry recovered, nothing recovered that was not written, damage noticed, and other missions as
they were. Exit code 1 where anything fails; `--case` runs one case alone. Takes about two minutes.

A block of the log of another mission inside of a log is no case: an entry does not say whose it is.
"""

import argparse
import json
import logging
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.corruption_checks import Outcome, check_log
from benchmarks.corruption_console import Seen, check_console, put, visit
from benchmarks.corruption_files import DELETED, FED, POLICY, SENT, SIMULATED, Intact, build
from benchmarks.corruption_kinds import CORRUPTIONS, Content

FOLDER, OTHER, EARLIER = (
    "replaced by a folder",
    "replaced by another mission's",
    "replaced by an old SQLite file",
)
KINDS = (*CORRUPTIONS, FOLDER, OTHER, EARLIER)
_COMMANDS_EVERY = 50
"""Cases of logs; in one of these the commands run that need a filter, which takes seconds."""
_REPORT_EVERY_S = 10.0
_LOG_SHARE = 0.5
"""Of the files of a mission in the console, how often the log is the one that is corrupted."""


@dataclass
class Row:
    """A line of the table: all cases of a kind."""

    cases: int = 0
    readable: int = 0
    """Logs that still opened: intact, or with nothing but a torn end."""
    intact: int = 0
    recovered: int = 0
    failed: int = 0


@dataclass
class Report:
    """What became of all cases."""

    rows: dict[str, Row] = field(default_factory=lambda: {kind: Row() for kind in KINDS})
    failures: list[str] = field(default_factory=list)

    def add(self, number: int, kind: str, where: str, outcome: Outcome) -> None:
        row = self.rows[kind]
        row.cases += 1
        row.readable += outcome.is_readable
        row.intact += outcome.num_intact
        row.recovered += outcome.num_recovered
        row.failed += bool(outcome.problems)
        self.failures += [f"case {number} ({where}, {kind}): {words}" for words in outcome.problems]

    @property
    def total(self) -> Row:
        names = ("cases", "readable", "intact", "recovered", "failed")
        return Row(*(sum(getattr(row, name) for row in self.rows.values()) for name in names))

    def table(self) -> str:
        head = (
            f"{'corruption':32} {'cases':>6} {'still read':>10} {'intact':>8} {'recovered':>9} {'failed':>6}"
        )
        rows = [*((kind, row) for kind, row in self.rows.items() if row.cases), ("all", self.total)]
        lines = [
            f"{kind:32} {row.cases:6} {row.readable:10} {row.intact:8,} {row.recovered:9,} {row.failed:6}"
            for kind, row in rows
        ]
        return "\n".join([head, *lines])


def run_cases(
    numbers: Sequence[int], seed: int, folder: Path, notify: Callable[[int, Report], None] | None = None
) -> Report:
    """Corrupt and check; `folder` is an empty one for all files."""
    (folder / "intact").mkdir()
    intact = build(folder / "intact")
    shutil.copytree(intact.folder, folder / "healthy")
    healthy, report = visit(folder / "healthy"), Report()
    for number in numbers:
        kind, place = KINDS[number % len(KINDS)], folder / f"case{number}"
        rng = np.random.default_rng([seed, number])
        outcome = Outcome()
        where = (_log_case if number // len(KINDS) % 2 else _console_case)(
            number, kind, rng, place, intact, healthy, outcome
        )
        report.add(number, kind, where, outcome)
        shutil.rmtree(place)
        if notify is not None:
            notify(number, report)
    return report


def _log_case(
    number: int, kind: str, rng: np.random.Generator, place: Path, intact: Intact, _: Seen, outcome: Outcome
) -> str:
    """A log of `dowsax advise`; where it was."""
    place.mkdir()
    path = place / "mission.log"
    shutil.copyfile(intact.log, path)
    other = intact.folder / f"{intact.ids[SENT]}.log"
    made = _corrupted(kind, rng, path, other, intact)
    put(path, made)
    if isinstance(made, Content):
        check_log(path, made, intact, outcome, number // len(KINDS) % _COMMANDS_EVERY == 1)
        return "log"
    # Nothing of this mission is left: there is no more to say than that.
    for words in (("export", path, "--to", "csv"), ("recover", path, "--out", place / "recovered.log")):
        outcome.command(*words)
    outcome.command("advise", "--policy", POLICY, "--site", intact.site, "--log", path)
    return "log"


def _console_case(
    number: int,
    kind: str,
    rng: np.random.Generator,
    place: Path,
    intact: Intact,
    healthy: Seen,
    outcome: Outcome,
) -> str:
    """Files of one mission of a console; what they are."""
    del number
    shutil.copytree(intact.folder, place)
    victim = str(rng.choice([FED, SENT, SIMULATED, DELETED]))
    id = intact.ids[victim]
    endings = sorted(path.suffix for path in place.glob(f"{id}.*"))
    shares = [_LOG_SHARE if end == ".log" else (1 - _LOG_SHARE) / (len(endings) - 1) for end in endings]
    count = int(rng.integers(1, len(endings) + 1)) if kind == "several at once" else 1
    chosen = rng.choice(endings, size=count, replace=False, p=shares)
    corrupted: dict[str, Content | None] = {}
    for end in map(str, chosen):
        other = intact.ids[str(rng.choice([name for name in intact.ids if name != victim]))]
        source = intact.folder / f"{other}{end if rng.random() < 0.7 else '.log'}"
        source = source if source.exists() else source.with_suffix(".frames")
        made = _corrupted(kind, rng, place / f"{id}{end}", source, intact)
        put(place / f"{id}{end}", made)
        corrupted[end] = made if isinstance(made, Content) else None
    check_console(place, victim, corrupted, intact, healthy, outcome)
    return f"{victim}{'+'.join(sorted(corrupted))}"


def _corrupted(
    kind: str, rng: np.random.Generator, path: Path, other: Path, intact: Intact
) -> Content | Path | None:
    """What takes the place of a file; `None` for a folder."""
    whole = {FOLDER: None, OTHER: other, EARLIER: intact.earlier}
    if kind in whole:
        return whole[kind]
    return CORRUPTIONS[kind](rng, Content.intact(path.read_bytes()))


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, default=None, help="the number of the only case to run")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(words)
    numbers = range(options.cases) if options.case is None else [options.case]
    # Errors that the console keeps to itself are part of the report.
    logging.disable(logging.CRITICAL)
    begun = told = time.monotonic()

    def notify(number: int, report: Report) -> None:
        nonlocal told
        if time.monotonic() - told > _REPORT_EVERY_S:
            told = time.monotonic()
            print(f"{number + 1} cases, {report.total.failed} failed", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as name:
        report = run_cases(numbers, options.seed, Path(name), notify)
    seconds = round(time.monotonic() - begun, 1)
    if options.json:
        rows = {kind: vars(row) for kind, row in (*report.rows.items(), ("all", report.total))}
        known = {"seed": options.seed, "seconds": seconds, "rows": rows, "failures": report.failures}
        print(json.dumps(known, indent=2))
    else:
        print("\n".join([report.table(), *report.failures, f"seed {options.seed}, {seconds} s"]))
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
