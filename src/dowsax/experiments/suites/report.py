"""The files of a suite: table.md, table.csv, pictures, and about.json with how to repeat it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from dowsax.evaluate.metrics import NOTHING, Estimate
from dowsax.experiments.provenance import provenance
from dowsax.experiments.store import AnyRun
from dowsax.experiments.suites.measures import Line
from dowsax.experiments.suites.printed import printed
from dowsax.experiments.suites.suite import Reproduction, Suite, no_figures
from dowsax.experiments.suites.tables import THEIRS, csv_of, lines_of, text_of
from dowsax.files import replace_file, replace_text
from dowsax.viz.style import DOTS_PER_INCH, styled
from dowsax.viz.table_figure import table_figure

TABLE = "table.csv"


def write(suite: Suite, paper: Reproduction, command: str, earlier: Path | None = None) -> Path | None:
    """Write the table and figures of a suite from the runs that are complete; nothing if there are none.

    Lines whose runs are missing are taken from the table in the folder `earlier`, if it has one.
    """
    runs = suite.runs(paper)
    abouts = [paper.store.about(run) for run in runs]
    known = [about for about in abouts if about is not None]
    if not known:
        return None
    paper = paper if earlier is None else replace(paper, earlier=lines_in(earlier / suite.name))
    lines = suite.lines(paper)
    if not lines:
        return None
    folder = paper.store.folder / suite.name
    folder.mkdir(parents=True, exist_ok=True)
    theirs = printed(suite.name)
    num_earlier = sum(any(line is one for one in paper.earlier) for line in lines)
    head = _head(suite, paper, command, known, len(runs), num_earlier)
    replace_text(folder / "table.md", "\n".join([*head, text_of(suite, lines, theirs)]))
    replace_text(folder / TABLE, csv_of(suite, lines, theirs))
    for name, figure in _figures(suite, paper, lines).items():
        with styled(), replace_file(folder / name) as partial:
            figure.savefig(partial, format="png", dpi=DOTS_PER_INCH)
    about = _about(suite, paper, command, runs, abouts)
    replace_text(folder / "about.json", json.dumps(about, indent=2) + "\n")
    return folder


def _head(
    suite: Suite, paper: Reproduction, command: str, known: Sequence[dict], num_runs: int, num_earlier: int
) -> list[str]:
    """The command, and as a list how the numbers were computed."""
    devices = sorted({str(about["device"]) for about in known})
    facts = {
        "seeds": ", ".join(map(str, paper.seeds)),
        "searches of each run": paper.num_episodes,
        "runs": f"{len(known)} of {num_runs}" if len(known) < num_runs else num_runs,
        "device": ", ".join(devices),
        "brackets": "95 % intervals",
    }
    facts |= {} if paper.particles is None else {"particles of every filter": paper.particles}
    facts |= {"lines of an earlier table": num_earlier} if num_earlier else {}
    head = [f"## {suite.title} (`{suite.name}`, `{suite.label}`)", "", f"    {command}", ""]
    return [*head, *(f"- {name}: {value}" for name, value in facts.items()), ""]


def _about(
    suite: Suite, paper: Reproduction, command: str, runs: Sequence[AnyRun], abouts: Sequence[dict | None]
) -> dict[str, Any]:
    """All it takes to repeat a suite, and what each of its runs was computed with."""
    names = ("weights", "steps", "code", "created", "commit", "device", "versions", "took")
    entries = [
        {"file": str(paper.store.path(run).relative_to(paper.store.folder)), "complete": about is not None}
        | {name: about[name] for name in names if about is not None and name in about}
        for run, about in zip(runs, abouts, strict=True)
    ]
    sizes = {"episodes": paper.num_episodes, "seeds": list(paper.seeds), "max_readings": paper.max_readings}
    small = {"particles": paper.particles} if paper.particles is not None else {}
    written = {"suite": suite.name, "paper": suite.label, "command": command}
    return written | sizes | small | {"written": provenance(), "runs": entries}


def _figures(suite: Suite, paper: Reproduction, lines: Sequence[Line]) -> dict[str, Figure]:
    # A suite with figures of its own may lack the runs for them: it has none then, not one of its table.
    own = suite.figures is not no_figures
    # One seed is enough for a picture.
    first = paper.by_seed()[0]
    lines = [line for line in lines if line.seed == first.seed]
    return suite.figures(first, lines) if own else {picture_of(suite): draw_table(suite, lines)}


def picture_of(suite: Suite) -> str:
    """The file name of the figure of a table."""
    return f"{suite.name}.png"


def draw_table(suite: Suite, lines: Sequence[Line]) -> Figure:
    """The figure of a table: the paper's numbers and ours."""
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
    """The filter and the rule; without the rule if the row names it or all lines have the same."""
    filter_ = "Algorithm 1" if line.filter.startswith("paper") else line.filter.split("-")[0]
    rule = line.stop.rpartition("-")[0] or line.stop
    is_clear = line.row.startswith(rule) or len({one.stop for one in lines}) == 1
    return f"ours, {filter_}" if is_clear else f"ours, {filter_}, {rule}"


def lines_in(folder: Path) -> list[Line]:
    """The lines of the table in a folder; none if there is no table."""
    path = folder / TABLE
    try:
        return lines_of(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no table of `dowsax reproduce`: {error}.") from None
