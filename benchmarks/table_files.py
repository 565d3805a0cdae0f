"""Tables as files: each in `results/tables`, from where the pages of the docs include it."""

from collections.abc import Mapping
from pathlib import Path

from benchmarks.machine import ROOT
from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.tables import number

TABLES = ROOT / "results/tables"


def write_tables(folder: Path, tables: Mapping[str, str]) -> list[Path]:
    """Write each table to `folder/NAME.md` and return the paths. Other files there stay as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.md" for name in tables]
    for path, text in zip(paths, tables.values(), strict=True):
        path.write_text(text.strip() + "\n", encoding="utf-8")
    return paths


def judged(found: Estimate, level: float, digits: int = 3, *, least: bool) -> str:
    """A number with the level from which up (`least`), or to which, it is good, and whether it got there."""
    if found.value is None:
        return "not measured"
    return f"{number(found, digits)}, {'≥' if least else '≤'} {level:g} {_mark(found, level, least)}"


def _mark(found: Estimate, level: float, least: bool) -> str:
    if found.value >= level if least else found.value <= level:
        return "reached"
    return "missed, within the interval" if found.low <= level <= found.high else "missed"
