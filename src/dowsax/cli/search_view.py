"""A search as it goes on: a map and the numbers beside it on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dowsax.cli.search_run import INTERRUPTED, STOPPED, SearchLog
from dowsax.cli.search_words import reading_line, title
from dowsax.viz.search_snapshots import Snapshot
from dowsax.viz.terminal_map import ESTIMATE, SENSOR, SENSOR_COLOUR, TRUTH, TRUTH_COLOUR, terminal_map

_NUMBERS_WIDTH = 40
_COLUMNS_AROUND, _LINES_AROUND = 6, 4
"""What stands around the map: borders, gaps and its key. The last line is left to the cursor."""
_MIN_MAP_SIZE, _MAX_MAP_SIZE = 12, 64
"""Pixels of a side of the map; a smaller terminal shows the numbers alone."""
_BAR_COLOUR = "#56b4e9"

Watch = Callable[[SearchLog], None]


@contextmanager
def watching(console: Console, live: bool, fps: int) -> Iterator[Watch]:
    """What to call after each reading. The live view shows at most `fps` readings a second."""
    if not live:
        yield lambda log: console.print(
            reading_line(log.snapshots[-1], log.config.unit), soft_wrap=True, highlight=False, markup=False
        )
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as display:
        due = time.monotonic()

        def show(log: SearchLog) -> None:
            nonlocal due
            time.sleep(max(0.0, due - time.monotonic()))
            due = time.monotonic() + 1 / fps
            display.update(view(log, console.width, console.height), refresh=True)

        yield show


def view(log: SearchLog, width: int, height: int) -> RenderableType:
    """The search on a terminal of this size. The truth is shown once the search has ended."""
    truth = None if log.ending in (None, INTERRUPTED) else log.final_position
    numbers = Panel(
        _numbers(log), title=title(log.config), width=min(_NUMBERS_WIDTH, width), border_style="dim"
    )
    size = min(width - _NUMBERS_WIDTH - _COLUMNS_AROUND, 2 * (height - _LINES_AROUND), _MAX_MAP_SIZE) // 2 * 2
    if size < _MIN_MAP_SIZE:
        return numbers
    side_by_side = Table.grid(padding=(0, 1))
    map_ = Group(terminal_map(log.snapshots, size, truth), _key(truth is not None))
    side_by_side.add_row(Panel(map_, width=size + 4, border_style="dim"), numbers)
    return side_by_side


def _key(with_truth: bool) -> Text:
    key = Text.assemble((SENSOR, SENSOR_COLOUR), " sensor  ", (ESTIMATE, "bold"), " estimate")
    return Text.assemble(key, "  ", (TRUTH, TRUTH_COLOUR), " truth") if with_truth else key


def _numbers(log: SearchLog) -> RenderableType:
    """The newest numbers by name, with their units."""
    newest, config = log.snapshots[-1], log.config
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_row("reading", f"{newest.number} of at most {config.run.max_readings}")
    table.add_row("", Text(f"{newest.reading:.4g} {config.unit}".rstrip(), style="bold"))
    table.add_row("position", f"({newest.position[0]:.2f}, {newest.position[1]:.2f}) m")
    table.add_row("walked", f"{newest.path_length:.0f} m")
    table.add_row("", "")
    table.add_row("estimate", _estimate(newest))
    table.add_row("spread", f"± {newest.spread:.2f} m" if newest.has_particles else "–")
    table.add_row(
        "within 1 m",
        ProgressBar(
            total=1.0, completed=newest.mass, width=18, complete_style=_BAR_COLOUR, finished_style=_BAR_COLOUR
        ),
    )
    table.add_row("", f"with probability {newest.mass:.2f}")
    table.add_row("ESS", f"{newest.ess:.0f} of {config.num_particles}")
    table.add_row("", "")
    table.add_row("stops by", _rule(log))
    table.add_row("status", _status(log))
    return table


def _estimate(newest: Snapshot) -> str:
    return f"({newest.mean[0]:.2f}, {newest.mean[1]:.2f}) m" if newest.has_particles else "no particle left"


def _rule(log: SearchLog) -> str:
    rule = log.config.run.rule
    return f"{rule.name}, {rule.threshold:g}"


def _status(log: SearchLog) -> Text:
    if log.ending is None:
        return Text("searching", style="cyan")
    if log.ending != STOPPED:
        return Text("cannot tell", style="bold yellow")
    word, style = ("STOP, right", "bold green") if log.right else ("FALSE STOP", "bold red")
    return Text(f"{word}: {log.error:.2f} m off", style=style)
