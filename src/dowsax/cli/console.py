"""Output for people: a spinner or a bar while they wait, and the posterior as a table."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console

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


@contextmanager
def waiting(message: str) -> Iterator[None]:
    """Show a spinner with the time on stderr while the block runs, where stderr is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    # Late, as only a person at a terminal needs it.
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(message, total=None)
        yield


@contextmanager
def preparing(message: str, patience: float | None = None) -> Iterator[None]:
    """Show a spinner, and after `patience` [s] a line on stderr that a filter is being compiled."""
    with announcing(message, patience), waiting(message):
        yield


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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        yield (
            lambda text: progress.update(task, description=text),
            lambda more: progress.advance(task, more),
        )


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


def _readings(number: int) -> str:
    return "1 reading" if number == 1 else f"{number} readings"
