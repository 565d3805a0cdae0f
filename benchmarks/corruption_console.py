"""What must hold of a console over a folder in which files of one mission are corrupted."""

import asyncio
import shutil
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.corruption_checks import Outcome, expected_records, num_standing, survivors, torn_prefix
from benchmarks.corruption_files import DELETED, Intact, entries
from benchmarks.corruption_kinds import Content
from dowsax.console import views
from dowsax.console.mission_host import MissionHost
from dowsax.console.service import Console
from dowsax.console.snapshots import ParticleSamples, SnapshotFile

_EVERY = 10_000
"""More snapshots than any mission has."""


class _ListingConsole(Console):
    """A console that lists missions and makes no filter for them."""

    def prepare(self, host: MissionHost) -> None:
        del host

    def _listen(self, host: MissionHost) -> None:
        del host


@dataclass
class Seen:
    """What a console shows."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Lines of its list by the ids of the missions."""
    snapshots: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    """That were not told to anyone."""


def visit(folder: Path, delete: str | None = None) -> Seen:
    """Start a console over a folder and see what it shows; at the end delete a mission where asked for."""

    async def look() -> Seen:
        seen = Seen()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: seen.errors.append(str(context)))
        console = _ListingConsole(folder, workers=1)
        try:
            await console.start()
            for id, host in console.missions.items():
                seen.items[id] = views.list_item(host)
                seen.snapshots[id] = console.store.snapshots(id).between(1, _EVERY)
            if delete is not None and delete in console.missions:
                await console.delete(console.find(delete))
        finally:
            await console.stop()
        return seen

    return asyncio.run(look())


def check_console(
    folder: Path,
    victim: str,
    corrupted: dict[str, Content | None],
    intact: Intact,
    healthy: Seen,
    outcome: Outcome,
) -> None:
    """`corrupted` has the files of the victim by their endings; `None` where there is something else."""
    others = {id: item for id, item in healthy.items.items() if id != intact.ids[victim]}
    id = intact.ids[victim]
    seen = _visited(folder, others, healthy, intact, outcome)
    if seen is None:
        return
    if victim == DELETED:
        _require_gone(folder, id, seen, outcome)
        return
    outcome.require(id in seen.items, "console: the mission is not listed")
    if id not in seen.items:
        return
    snapshots = _expected_snapshots(id, corrupted, intact)
    steps = max((snapshot["number"] for snapshot in snapshots), default=0)
    _check_status(id, corrupted, seen, healthy, intact, steps, outcome)
    if seen.items[id]["status"] != "damaged":
        outcome.require(seen.snapshots[id] == snapshots, "console: not just the intact snapshots")
        _check_mended_snapshots(folder, id, snapshots, intact, outcome)
    if ".log" in corrupted:
        _check_replaced(folder, id, corrupted[".log"], others, healthy, intact, outcome)
    last = outcome.attempt("console", folder, lambda: visit(folder, delete=id))
    outcome.require(not list(folder.glob(f"{id}*")), "console: something is left of a deleted mission")
    outcome.require(isinstance(last, Seen), "console: the mission cannot be deleted")


def _visited(
    folder: Path, others: dict[str, Any], healthy: Seen, intact: Intact, outcome: Outcome
) -> Seen | None:
    """What the console shows, and that missions whose files are intact are as they were."""
    seen = outcome.attempt("console", folder, lambda: visit(folder))
    outcome.require(isinstance(seen, Seen), "console: does not start")
    if not isinstance(seen, Seen):
        return None
    outcome.require(not seen.errors, f"console: {seen.errors[:1]}")
    for id, item in others.items():
        outcome.require(seen.items.get(id) == item, "console: a healthy mission is not as it was")
        outcome.require(
            seen.snapshots.get(id) == healthy.snapshots[id], "console: snapshots of a healthy mission"
        )
        for path in intact.folder.glob(f"{id}.*"):
            is_same = (folder / path.name).read_bytes() == path.read_bytes()
            outcome.require(is_same, f"console: the {path.suffix} of a healthy mission was changed")
    return seen


def _require_gone(folder: Path, id: str, seen: Seen, outcome: Outcome) -> None:
    outcome.require(id not in seen.items, "console: a deleted mission is listed")
    outcome.require(not list(folder.glob(f"{id}*")), "console: something is left of a deleted mission")


def _expected_snapshots(
    id: str, corrupted: dict[str, Content | None], intact: Intact
) -> list[dict[str, Any]]:
    """The snapshots whose bytes are still side by side."""
    written = entries((intact.folder / f"{id}.frames").read_bytes())
    if ".frames" in corrupted:
        content = corrupted[".frames"]
        written = [] if content is None else survivors(content, written)
    return sorted((entry.body["frame"] for entry in written), key=lambda snapshot: snapshot["number"])


def _check_status(
    id: str,
    corrupted: dict[str, Content | None],
    seen: Seen,
    healthy: Seen,
    intact: Intact,
    steps: int,
    outcome: Outcome,
) -> None:
    """A mission is as it was, or shown as damaged; `steps` is how many there were by the intact snapshots."""
    item = seen.items[id]
    if ".log" in corrupted:
        data = None if (log := corrupted[".log"]) is None else log.data.tobytes()
        original = (intact.folder / f"{id}.log").read_bytes()
        torn = None if data is None else torn_prefix(data, original)
        left = [entry for entry in torn or () if entry.kind in ("reading", "correction")]
        may_be_whole = (
            torn is not None and any(entry.kind == "header" for entry in torn) and len(left) >= steps
        )
        is_damaged = item["status"] == "damaged"
        outcome.require(is_damaged or may_be_whole, "console: a damaged log is not shown as damaged")
        outcome.require(not is_damaged or item["message"] != "", "console: nothing says why it is damaged")
        outcome.require(is_damaged or item["readings"] == _active(left), "console: other readings")
        outcome.require(data != original or not is_damaged, "console: a whole log is shown as damaged")
        outcome.is_readable |= not is_damaged
        return
    outcome.require(item | {"alarm": ""} == healthy.items[id] | {"alarm": ""}, "console: the log is whole")
    if ".feed" in corrupted:
        content, original = corrupted[".feed"], (intact.folder / f"{id}.feed").read_bytes()
        is_changed = content is None or content.data.tobytes().rstrip(b"\n") != original.rstrip(b"\n")
        outcome.require(not is_changed or item["alarm"] != "", "console: no alarm for a damaged feed")


def _active(left: Sequence[Any]) -> int:
    return num_standing([(entry.kind, entry.body) for entry in left])


def _check_mended_snapshots(
    folder: Path, id: str, snapshots: list[dict[str, Any]], intact: Intact, outcome: Outcome
) -> None:
    """A snapshot that is lost can be added again, and the others stay."""
    path, known = folder / f"{id}.frames", {snapshot["number"] for snapshot in snapshots}
    written = [entry.body for entry in entries((intact.folder / path.name).read_bytes())]
    lost = next((body for body in written if body["frame"]["number"] not in known), None)
    if lost is None or path.is_dir():
        return

    def mended() -> list[dict[str, Any]]:
        file = SnapshotFile(path, id)
        file.add(lost["frame"], ParticleSamples.unpack(b64decode(lost["draws"])))
        file.close()
        return SnapshotFile(path, id).between(1, _EVERY)

    wanted = sorted([*snapshots, lost["frame"]], key=lambda snapshot: snapshot["number"])
    outcome.require(outcome.attempt("frames", path, mended) == wanted, "frames: not those that were added")


def _check_replaced(
    folder: Path,
    id: str,
    content: Content | None,
    others: dict[str, Any],
    healthy: Seen,
    intact: Intact,
    outcome: Outcome,
) -> None:
    """`dowsax recover --replace`: the mission is there again with what could be read."""
    path = folder / f"{id}.log"
    code = outcome.command("recover", path, "--replace")
    written = entries((intact.folder / path.name).read_bytes())
    whole = [] if content is None else survivors(content, written)
    if not any(entry.kind == "header" for entry in whole):
        return
    records = expected_records(whole)
    outcome.num_intact += len(records)
    outcome.require(code == 0, "recover: an intact header, and nothing recovered")
    seen = _visited(folder, others, healthy, intact, outcome)
    if seen is None or code != 0:
        return
    got = [(entry.kind, entry.body) for entry in entries(path.read_bytes())][2:-1]
    outcome.require(got == records, "recover: not just the intact entries")
    outcome.num_recovered += sum(record in records for record in got)
    item = seen.items[id]
    outcome.require(item["status"] != "damaged", f"console: a recovered log is damaged: {item['message']}")
    outcome.require(item["readings"] == num_standing(records), "console: other readings than recovered")


def put(path: Path, content: Content | Path | None) -> None:
    """Write a corrupted file: bytes, a copy of another file, or a folder in its place."""
    path.unlink()
    if content is None:
        (path / "inside").mkdir(parents=True)
    elif isinstance(content, Path):
        shutil.copyfile(content, path)
    else:
        path.write_bytes(content.data.tobytes())
