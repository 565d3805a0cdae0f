"""Output for people: a bar while they wait, and the posterior as a table."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console

from dowsax.cli.durations import expected_seconds, remember_seconds
from dowsax.inference import Posterior
from dowsax.inference.posterior import INTERVAL_HEADINGS

COMPILING = "compiling…"
FIRST_TIME = (
    f"{COMPILING} 15 to 40 s for a benchmark field, 1 to 2 minutes for a site, up to 6 with open paths or "
    "several sources; once for each kind of site and size of survey (up to 32, 64, 128, … readings), then it "
    "is cached"
)
_PATIENCE_S = 1.5
"""Shorter waits need no message."""
FIELD_S, SITE_S = 30.0, 90.0
"""That compiling usually takes, of a benchmark field and of a site."""
_MAX_SHARE = 0.98
"""Of a bar that fills up in the usual time."""
_BAR_WIDTH = 30


Counted = Callable[[int, int], None]
"""Says how many parts of how many are done."""


@contextmanager
def waiting(message: str, usual: float | None = None, note: str = "") -> Iterator[Counted]:
    """Show a bar with the time on stderr while the block runs, where stderr is a terminal.

    It fills up in the `usual` time [s], with a `note` behind that. Yields what turns it into one that counts
    parts, with the time left.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: None
        return
    # Late, as only a person at a terminal needs it.
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress_bar import ProgressBar

    class Bar(ProgressColumn):
        """How much is done: of the parts, else of the usual time."""

        def render(self, task) -> ProgressBar:
            elapsed = min(task.elapsed or 0.0, _MAX_SHARE * (usual or 0.0))
            parts = (task.total, task.completed) if task.total else (usual, elapsed)
            return ProgressBar(parts[0], parts[1], width=_BAR_WIDTH, pulse=parts[0] is None)

    class Left(ProgressColumn):
        """The parts and the time left, else the usual time."""

        def render(self, task) -> str:
            if not task.total:
                return "" if usual is None else f"of about {_duration(float(usual))}{note}"
            left = task.time_remaining
            words = "" if left is None else f", {_duration(float(left))} left"
            return f"{task.completed:.0f} of {task.total:.0f}{words}"

    columns = SpinnerColumn(), TextColumn("{task.description}"), Bar(), TimeElapsedColumn(), Left()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(message, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def preparing(
    message: str, patience: float | None = None, kind: str = "", usual: float = SITE_S
) -> Iterator[Counted]:
    """Show a bar, and after `patience` [s] a line on stderr that a filter is being compiled.

    How long it takes is estimated by what the same `kind` took last time on this machine, and the first time
    by the `usual` time [s].
    """
    is_watched = bool(kind) and Console(stderr=True).is_terminal
    expected = expected_seconds(kind) if is_watched else None
    text = f"{message}: {COMPILING}" if expected is None else message
    note = " the first time" if expected is None else ", as last time"
    begun = time.monotonic()
    with announcing(message, patience) as cancel, waiting(text, expected or usual, note) as count:
        if expected is not None:
            # The bar says it.
            cancel()
        yield count
    if is_watched:
        remember_seconds(kind, time.monotonic() - begun)


@contextmanager
def announcing(message: str, patience: float | None = None) -> Iterator[Callable[[], None]]:
    """Say on stderr after `patience` [s] that the block compiles. Yields what cancels the line."""
    line = Timer(_PATIENCE_S if patience is None else patience, print_status, [f"{message}: {FIRST_TIME}."])
    line.daemon = True
    line.start()
    try:
        yield line.cancel
    finally:
        line.cancel()


def print_status(sentence: str) -> None:
    """Print one line on stderr; stdout is for answers alone."""
    print(f"dowsax: {sentence}", file=sys.stderr, flush=True)


@contextmanager
def counting(total: int) -> Iterator[tuple[Callable[[str], None], Callable[[int], None]]]:
    """Show a bar with the time left on stderr, where it is a terminal.

    Yields two functions: one sets the text, the other adds a number to those of `total` that are done.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console, times = Console(stderr=True), (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *times
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        yield (
            lambda text: progress.update(task, description=text),
            lambda more: progress.advance(task, more),
        )


def compile_first(
    text: str, describe: Callable[[str], None], advance: Callable[[int], None]
) -> Callable[[int], None]:
    """Say in a bar of `counting` that it compiles, until the first parts are done; return what adds parts."""
    describe(f"{text}: {COMPILING}")

    def add(more: int) -> None:
        describe(text)
        advance(more)

    return add


def print_posterior(posterior: Posterior) -> None:
    """Print the table with its intervals, and below it the verdict in one sentence."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = f"Posterior given {_readings(len(posterior.readings))}"
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("name", "unit", "meaning"):
        table.add_column(heading)
    for heading in ("mean", "std", *INTERVAL_HEADINGS):
        table.add_column(heading, justify="right", no_wrap=True)
    for parameter, (name, unit, *numbers) in zip(posterior.parameters, posterior.rows(), strict=True):
        table.add_row(name, unit, parameter.meaning.split(" (")[0], *numbers)
    console = Console()
    console.print(table)
    say(posterior.verdict())


def say(sentence: str) -> None:
    """Print one line on stdout, never wrapped, coloured or read as markup."""
    Console().print(sentence, soft_wrap=True, highlight=False, markup=False)


def _duration(seconds: float) -> str:
    """Return a duration as text: seconds up to two minutes, then minutes."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _readings(number: int) -> str:
    return "1 reading" if number == 1 else f"{number} readings"
