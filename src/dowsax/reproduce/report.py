"""What is written of a suite: table.md, table.csv, pictures, and in about.json how to repeat it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dowsax.experiment.provenance import provenance
from dowsax.files import replacing
from dowsax.reproduce.cells import Cell
from dowsax.reproduce.lines import Line
from dowsax.reproduce.printed import printed
from dowsax.reproduce.store import Store
from dowsax.reproduce.suites import Suite, folder_of
from dowsax.reproduce.tables import csv_of, lines_of, text_of

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
    for name, figure in suite.figures(store, lines).items():
        from dowsax.viz.style import DOTS_PER_INCH, styled

        with styled(), replacing(folder / name) as partial:
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
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")
