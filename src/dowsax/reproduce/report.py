"""What is written of a suite: table.md, table.csv, pictures, and in about.json how to repeat it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowsax.evaluate.metrics import NOTHING, Estimate
from dowsax.experiment.provenance import provenance
from dowsax.files import replace_file
from dowsax.reproduce.cells import Cell
from dowsax.reproduce.lines import Line
from dowsax.reproduce.printed import printed
from dowsax.reproduce.store import Store
from dowsax.reproduce.suite import Suite, folder_of, no_figures
from dowsax.reproduce.tables import THEIRS, csv_of, lines_of, text_of
from dowsax.viz.style import DOTS_PER_INCH, styled
from dowsax.viz.table_figure import table_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "table.csv"


def write(suite: Suite, store: Store, command: str, earlier: Path | None = None) -> Path | None:
    """Write down what the cells that are there come to; nothing where there are none.

    Lines whose cells are missing are taken from the table in the folder `earlier`, if it has one.
    """
    cells = suite.cells(store)
    abouts = [store.about(cell) for cell in cells]
    known = [about for about in abouts if about is not None]
    if not known:
        return None
    store = store if earlier is None else replace(store, earlier=lines_in(earlier / suite.name))
    lines = suite.lines(store)
    if not lines:
        return None
    folder = folder_of(store, suite)
    folder.mkdir(parents=True, exist_ok=True)
    theirs = printed(suite.name)
    taken = sum(any(line is one for one in store.earlier) for line in lines)
    head = _head(suite, store, command, known, len(cells), taken)
    _write(folder / "table.md", "\n".join([*head, text_of(suite, lines, theirs)]))
    _write(folder / TABLE, csv_of(suite, lines, theirs))
    for name, figure in _figures(suite, store, lines).items():
        with styled(), replace_file(folder / name) as partial:
            figure.savefig(partial, format="png", dpi=DOTS_PER_INCH)
    about = _about(suite, store, command, cells, abouts)
    _write(folder / "about.json", json.dumps(about, indent=2) + "\n")
    return folder


def _head(
    suite: Suite, store: Store, command: str, known: Sequence[dict], number: int, taken: int
) -> list[str]:
    sizes = store.sizes
    of = sorted({str(about["device"]) for about in known})
    computed = f"{len(known)} of {number} cells" if len(known) < number else f"{number} cells"
    said = f"Seed {sizes.seed}, {sizes.episodes} searches a cell, {computed}, computed on {', '.join(of)}."
    head = [f"## {suite.title} (`{suite.name}`, `{suite.label}`)", "", f"    {command}", "", said]
    small = [] if sizes.particles is None else [f"A rehearsal with {sizes.particles} particles."]
    before = [f"{taken} of the lines are those of the table that was here before."] if taken else []
    return [*head, *before, "Brackets are 95 % intervals.", *small, suite.note, ""]


def _about(
    suite: Suite, store: Store, command: str, cells: Sequence[Cell], abouts: Sequence[dict | None]
) -> dict[str, Any]:
    """All it takes to repeat a suite, and what each of its cells was computed with."""
    sizes = store.sizes
    kept = ("weights", "steps", "code", "created", "commit", "device", "versions", "took")
    entries = [
        {"file": str(store.path(cell).relative_to(store.folder)), "there": about is not None}
        | {name: about[name] for name in kept if about is not None and name in about}
        for cell, about in zip(cells, abouts, strict=True)
    ]
    asked = {"episodes": sizes.episodes, "seed": sizes.seed, "max_readings": sizes.max_readings}
    small = {"particles": sizes.particles} if sizes.particles is not None else {}
    written = {"suite": suite.name, "paper": suite.label, "command": command}
    return written | asked | small | {"written": provenance(), "cells": entries}


def _figures(suite: Suite, store: Store, lines: Sequence[Line]) -> "dict[str, Figure]":
    # A suite with pictures of its own may lack the cells for them: one of its table would be another picture.
    own = suite.figures is not no_figures
    return suite.figures(store, lines) if own else {picture_of(suite): pictured(suite, lines)}


def picture_of(suite: Suite) -> str:
    """The name of the picture of a suite that has none of its own."""
    return f"{suite.name}.png"


def pictured(suite: Suite, lines: Sequence[Line]) -> "Figure":
    """The numbers of the table, theirs and ours."""
    theirs, columns = printed(suite.name), list(dict.fromkeys(line.column for line in lines))
    places = sorted(
        dict.fromkeys((line.row, line.column) for line in lines), key=lambda place: columns.index(place[1])
    )
    panels = {}
    for measure in suite.measures:
        series: dict[str, list[tuple[int, Estimate]]] = {
            THEIRS: [
                (at, Estimate(theirs[*place, measure].value, None, None, 0))
                for at, place in enumerate(places)
                if (*place, measure) in theirs
            ]
        }
        for line in lines:
            found = line.numbers.get(measure, NOTHING)
            if found.value is not None:
                at = places.index((line.row, line.column))
                series.setdefault(_kind(line, lines), []).append((at, found))
        if any(series.values()):
            panels[measure] = series
    rows = [f"{column}, {row}" if len(columns) > 1 else row for row, column in places]
    return table_figure(suite.title, rows, panels)


def _kind(line: Line, lines: Sequence[Line]) -> str:
    """With which filter and rule; the rule is left out where the row says it, or all have the same."""
    filter_ = "Algorithm 1" if line.filter.startswith("paper") else line.filter.split("-")[0]
    rule = line.stop.rpartition("-")[0] or line.stop
    told = line.row.startswith(rule) or len({one.stop for one in lines}) == 1
    return f"ours, {filter_}" if told else f"ours, {filter_}, {rule}"


def lines_in(folder: Path) -> list[Line]:
    """The lines of the table that was written there; none where there is none."""
    path = folder / TABLE
    try:
        return lines_of(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no table of `dowsax reproduce`: {error}.") from None


def _write(path: Path, text: str) -> None:
    with replace_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
