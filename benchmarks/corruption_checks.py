"""What must hold of a corrupted mission log, by an oracle that does not use the package's parser.

An entry is intact if its bytes are still side by side. Every intact entry must be recovered, nothing else
may be, no intact entry may be destroyed by going on with the log, and every error must be one line that names
the file.
"""

import io
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.corruption_files import POLICY, Entry, Intact, entries
from benchmarks.corruption_kinds import Content
from dowsax.cli import run
from dowsax.journal import Damaged, InUse
from dowsax.mission.log import Header, MissionLog, Step
from dowsax.mission.recovery import recover

_OWN_ERRORS = (ValueError, Damaged, InUse)


@dataclass
class Outcome:
    """What became of one case."""

    problems: list[str] = field(default_factory=list)
    is_readable: bool = False
    """Whether the log still opened, with nothing but a torn end."""
    num_intact: int = 0
    """Entries of the corrupted log."""
    num_recovered: int = 0

    def require(self, holds: bool, words: str) -> None:
        if not holds:
            self.problems.append(words)

    def attempt(self, what: str, path: Path, work: Callable[[], Any]) -> Any:
        """Return what `work` does, or its error; a problem unless that is the package's own."""
        try:
            return work()
        except Exception as error:
            is_own = type(error) in _OWN_ERRORS and path.name in str(error) and "\n" not in str(error)
            self.require(is_own, f"{what}: {type(error).__name__}: {error}")
            return error

    def command(self, *words: str | Path) -> int:
        """Run a command of the package; a problem unless it ends well or with one line."""
        out, err, stdin = io.StringIO(), io.StringIO(), sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO())
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = run([str(word) for word in words])
        except Exception as error:
            self.problems.append(f"dowsax {words[0]}: {type(error).__name__}: {error}")
            return -1
        finally:
            sys.stdin = stdin
        told = err.getvalue().splitlines()
        is_plain = all(line.startswith("dowsax: ") for line in told)
        errors = [line for line in told if line.startswith("dowsax: error: ")]
        is_one_line = is_plain and len(errors) == (code != 0)
        self.require(code >= 0 and is_one_line, f"dowsax {words[0]}: exit code {code}, {err.getvalue()!r}")
        return code


def survivors(content: Content, written: Sequence[Entry]) -> list[Entry]:
    """The intact entries, by the map of bytes; and those whose bytes are there by coincidence."""
    data = content.data.tobytes()
    return [
        entry
        for entry in written
        if content.survives(entry.start, entry.start + len(entry.line)) or entry.line in data
    ]


def torn_prefix(data: bytes, original: bytes) -> list[Entry] | None:
    """The entries of a log of which only the end of the file is missing; `None` for any other damage."""
    written = entries(original)
    found: list[Entry] = []
    position = written[0].start if data.startswith(original[: written[0].start]) else 0
    for entry in written:
        line = data[position : position + len(entry.line) + 1]
        if entry.start != position or line.removesuffix(b"\n") != entry.line:
            break
        found.append(entry)
        position += len(line)
    rest = data[position:]
    is_torn = b"\n" not in rest and not any(entry.line in rest for entry in written)
    return found if is_torn else None


def expected_records(intact: Sequence[Entry]) -> list[tuple[str, dict[str, Any]]]:
    """What a recovered log holds besides its headers: steps numbered without gaps.

    A correction of a reading that is lost counts as a reading, and the withdrawal of one as nothing.
    """
    made: list[tuple[str, dict[str, Any]]] = []
    steps: dict[int, int] = {}
    """New numbers of readings by the old ones."""
    count = 0
    for entry in intact:
        body = dict(entry.body)
        if entry.kind == "refused":
            body["after"] = count
        if entry.kind in ("reading", "correction"):
            target = body["corrects"]
            if target is not None and target not in steps and body["reading"] is None:
                continue
            count += 1
            if target is None or target not in steps:
                steps[body["number"] if target is None else target] = count
                body["corrects"] = None
            else:
                body["corrects"] = steps[target]
            body["number"], body["advice"] = count, body["advice"] | {"number": count}
        if entry.kind in ("reading", "correction", "refused", "note"):
            is_correction = body.get("corrects") is not None
            kind = "correction" if is_correction else "reading" if "corrects" in body else entry.kind
            made.append((kind, body))
    return made


def num_standing(records: Sequence[tuple[str, dict[str, Any]]]) -> int:
    """How many readings count."""
    withdrawn = {body["corrects"] for kind, body in records if kind == "correction" and not body["reading"]}
    return sum(kind == "reading" for kind, _ in records) - len(withdrawn)


def check_log(path: Path, content: Content, intact: Intact, outcome: Outcome, through_commands: bool) -> None:
    """Open, export, recover and go on with a corrupted log; by the commands themselves where asked for."""
    written = entries(intact.log.read_bytes())
    whole = survivors(content, written)
    _check_strict(path, torn_prefix(content.data.tobytes(), intact.log.read_bytes()), outcome)
    outcome.command("export", path, "--to", "csv", "--out", path.with_suffix(".csv"))
    check_recovery(path, whole, intact.header, outcome)
    _check_resumption(path, whole, intact.header, outcome)
    if through_commands:
        out = path.with_name("by-command.log")
        advise = ("advise", "--policy", POLICY, "--site", intact.site, "--log")
        outcome.command(*advise, _copied(path, "advised.log"))
        if outcome.command("recover", path, "--out", out) == 0:
            outcome.require(outcome.command(*advise, out) == 0, "advise: not on with a recovered log")
            outcome.command("export", out, "--to", "geojson", "--out", path.with_suffix(".geojson"))


def _check_strict(path: Path, torn: Sequence[Entry] | None, outcome: Outcome) -> None:
    """A log is read up to a torn end, or not at all."""
    read = outcome.attempt("open", path, lambda: list(MissionLog.open(path).records()))
    outcome.is_readable = isinstance(read, list)
    if not isinstance(read, list):
        return
    outcome.require(torn is not None, "open: damage was not noticed")
    known = [entry.body for entry in torn or () if entry.kind != "header"]
    outcome.require([asdict(record) for record in read] == known, "open: other records than were written")


def check_recovery(path: Path, whole: Sequence[Entry], header: Header, outcome: Outcome) -> None:
    """Every intact entry is in the recovered log, and nothing else but a note."""
    out = path.with_name("recovered.log")
    has_header = any(entry.kind == "header" for entry in whole)
    wanted = expected_records(whole)
    given = None if has_header or not wanted else header
    if given is not None:
        found = outcome.attempt("recover", path, lambda: recover(path, out))
        outcome.require(isinstance(found, ValueError), "recover: a header that was lost was made up")
    found = outcome.attempt("recover", path, lambda: recover(path, out, given))
    outcome.num_intact += len(wanted)
    if isinstance(found, Exception):
        outcome.require(not has_header and not wanted, f"recover: {found}")
        return
    log = MissionLog.open(out)
    kinds = [(entry.kind, entry.body) for entry in entries(out.read_bytes())]
    *records, (kind, note) = kinds[2:]
    outcome.num_recovered += sum(record in wanted for record in records)
    outcome.require(records == wanted, "recover: not just the intact entries")
    outcome.require((kind, note.get("what")) == ("note", "recovered"), "recover: no note of it")
    outcome.require(log.header.binding == header.binding, "recover: another header")
    numbers = {entry.number for entry in whole}
    missing = tuple(number for number in range(2, max(numbers, default=0)) if number not in numbers)
    outcome.require(found.lost == missing, f"recover: says that {found.lost} are lost, and {missing} are")
    code = outcome.command("export", out, "--to", "csv", "--out", out.with_suffix(".csv"))
    outcome.require(code == 0 or num_standing(wanted) == 0, "export: not what was recovered")


def _check_resumption(path: Path, whole: Sequence[Entry], header: Header, outcome: Outcome) -> None:
    """A log that can be gone on with keeps every intact entry."""
    copy = _copied(path, "resumed.log")
    log = outcome.attempt("resume", copy, lambda: MissionLog.resume(copy, header))
    if isinstance(log, Exception):
        return
    count = sum(1 for _ in log.steps())
    step = Step(count + 1, "now", "{}", {"id": "the next", "value": 1.0}, {"number": count + 1})
    outcome.attempt("append", copy, lambda: log.append(step))
    log.close()
    data = copy.read_bytes()
    outcome.require(all(entry.line in data for entry in whole), "resume: intact entries were destroyed")
    steps = list(MissionLog.open(copy).steps())
    outcome.require(steps[-1:] == [step] and len(steps) == count + 1, "resume: the next step is not there")


def _copied(path: Path, name: str) -> Path:
    """A copy of a file or folder under another name."""
    copy = path.with_name(name)
    (shutil.copytree if path.is_dir() else shutil.copyfile)(path, copy)
    return copy
