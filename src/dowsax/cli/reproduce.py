"""`dowsax reproduce`: the tables and figures of the paper, ours next to theirs; a folder one can resume."""

import math
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dowsax.cli.console import counting, say
from dowsax.cli.outputs import require_folder, require_writable
from dowsax.envs.problem import choose
from dowsax.interruption import explain_interruption
from dowsax.reproduce.cells import Cell, Sizes
from dowsax.reproduce.fill import Told, fill
from dowsax.reproduce.report import write
from dowsax.reproduce.store import Store
from dowsax.reproduce.suite import Suite, cells_of
from dowsax.reproduce.suites import chosen
from dowsax.reproduce.training import weights_in
from dowsax.reproduce.workers import fill_together
from dowsax.world import MODALITIES

_DEVICES = {"cpu": "cpu", "gpu": "cuda"}
_TRAINED = "rewards"
"""The suite whose policies do not come with the package."""


def reproduce(
    tables: list[str] | None = None,
    /,
    *,
    episodes: int = 1000,
    seed: int = 0,
    out: Path = Path("runs/reproduce"),
    device: str | None = None,
    workers: int | None = None,
    budget: float | None = None,
    only_field: Annotated[list[str] | None, Parameter(negative="")] = None,
    only_policy: Annotated[list[str] | None, Parameter(negative="")] = None,
    weights: Path | None = None,
    earlier: Path | None = None,
    particles: int | None = None,
    max_readings: int = 200,
    trust: Annotated[list[str] | None, Parameter(negative="")] = None,
    cells_only: Annotated[bool, Parameter(negative="")] = False,
    list_: Annotated[bool, Parameter(name="--list", negative="")] = False,
    status: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Compute the tables and figures of the paper and write ours next to theirs.

    What is computed is kept in the folder, cell by cell: after an interruption the same command goes on, and
    what several tables share is computed once. Several processes may work on one folder.

    Parameters
    ----------
    tables
        Which of them; all unless given. See --list.
    episodes
        Searches of each policy on each field.
    seed
        The same seed gives the same sources and noise.
    out
        The folder of cells and tables.
    device
        Compute on cpu or gpu; on what JAX finds unless given.
    workers
        Compute in this many processes, which share the cores or the memory of a graphics card.
    budget
        Begin no cell that might not be over by so many seconds from now.
    only_field
        Compute cells of this field alone; give it again for several. The tables have all that is there.
    only_policy
        Compute cells of this policy alone, likewise.
    weights
        A folder of training runs, for the policies of the table of rewards.
    earlier
        A folder of tables of the same seed and sizes: their lines stand for cells that are not in --out.
    particles
        Another number of particles in every filter: a rehearsal.
    max_readings
        A search without a stop ends after this many readings.
    trust
        The mark of other code whose cells are known to be the same.
    cells_only
        Write no tables, which take their time too: the same command without this writes them, anywhere.
    list_
        Say which tables there are, and end.
    status
        Say how far each of them is, and end.
    """
    begun = time.monotonic()
    _require(device, workers, budget, earlier)
    _compute_on(device, workers)

    sizes = Sizes(episodes, seed, particles, max_readings)
    store, suites = _asked(tables or [], out, sizes, weights, trust or [])
    if list_ or status:
        (_list if list_ else _status)(store, suites)
        return
    cells = _wanted(store, suites, only_field or [], only_policy or [])
    require_folder(out)
    require_writable(out / ".writable")
    _fill(store, cells, begun + (math.inf if budget is None else budget), workers)
    if not cells_only:
        _write(store, suites, _command(tables or [], store, weights), earlier)


def _require(device: str | None, workers: int | None, budget: float | None, earlier: Path | None) -> None:
    if device is not None and device not in _DEVICES:
        raise ValueError(f"Unknown device {device!r}; known are {', '.join(_DEVICES)}.")
    if workers is not None and workers < 1:
        raise ValueError(f"There is at least 1 worker; got {workers}.")
    if budget is not None and not budget > 0:
        raise ValueError(f"--budget is a number of seconds above 0; got {budget:g}.")
    if earlier is not None and not earlier.is_dir():
        raise ValueError(f"There is no folder {earlier}: give --earlier a folder such as results/paper.")


def _compute_on(device: str | None, workers: int | None) -> None:
    """Choose what JAX computes on, in this process and in those it starts."""
    if workers is not None:
        # Read when JAX opens a card: this process would take most of its memory and leave it unused.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if device is None:
        return
    import jax

    os.environ["JAX_PLATFORMS"] = _DEVICES[device]
    jax.config.update("jax_platforms", _DEVICES[device])
    try:
        found = jax.default_backend()
    # Where a kind of device is asked for that its libraries are not there for, JAX asserts.
    except (RuntimeError, AssertionError):
        found = None
    if found != device:
        raise ValueError(f"There is no {device} that JAX can compute on here: leave --device out.")


def _asked(
    tables: Sequence[str], out: Path, sizes: "Sizes", weights: Path | None, trust: Sequence[str]
) -> "tuple[Store, list[Suite]]":
    """The folder and the suites. Without --weights all tables are all but the one that needs them."""
    suites = chosen(tables)
    if weights is None and _TRAINED in tables:
        raise ValueError(
            f"The table {_TRAINED} is of policies that do not come with the package: give the folder of "
            "their training runs with --weights."
        )
    sources = {} if weights is None else weights_in(weights)
    return Store(out, sizes, sources, frozenset(trust)), suites


def _wanted(
    store: "Store", suites: "Sequence[Suite]", fields: Sequence[str], policies: Sequence[str]
) -> "list[Cell]":
    """The cells of these fields and policies, or of all; each name is one that there is."""
    for name in fields:
        choose("field", name, MODALITIES, str)
    known = dict.fromkeys(cell.policy for cell in cells_of(suites, store))
    for name in policies:
        if name not in known:
            raise ValueError(f"No table that is asked for has the policy {name!r}: {', '.join(known)}.")
    return cells_of(suites, store, fields, policies)


def _list(store: "Store", suites: "Sequence[Suite]") -> None:
    for suite in suites:
        say(f"{suite.name:<21} {suite.title} ({suite.label}; {_cells(len(suite.cells(store)))})")
    if not store.sources:
        say(f"The cells of {_TRAINED} are those of the policies in the folder given with --weights.")


def _status(store: "Store", suites: "Sequence[Suite]") -> None:
    everything: dict[Cell, bool] = {}
    for suite in suites:
        cells = suite.cells(store)
        missing = set(store.missing(cells))
        everything |= {cell: cell not in missing for cell in cells}
        say(f"{suite.name:<21} {len(cells) - len(missing)} of {_cells(len(cells))}")
    say(f"{'in all':<21} {sum(everything.values())} of {_cells(len(everything))}")


def _cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number} cells"


def _fill(store: "Store", cells: "list[Cell]", deadline: float, workers: int | None) -> None:

    missing = store.missing(cells)
    if not missing:
        return
    with explain_interruption(f"What was finished is kept in {store.folder}: the same command goes on."):
        if workers is None:
            with _searches(missing, store.sizes.episodes) as told:
                fill(store, missing, deadline, told)
        else:
            with _counted(len(missing)) as show:
                fill_together(store, missing, deadline - time.monotonic(), workers, show)
    left = len(store.missing(cells))
    if left:
        why = "the time is up, or others are at them"
        _warn(f"{left} of {_cells(len(cells))} are still missing, as {why}: the same command goes on.")


def _write(store: "Store", suites: "Sequence[Suite]", command: str, earlier: Path | None) -> None:

    for suite in suites:
        folder = write(suite, store, command, earlier)
        if folder is None:
            say(f"{suite.name}: nothing yet")
        else:
            left = len(store.missing(suite.cells(store)))
            say(f"{suite.name}: {folder / 'table.md'}" + (f", {_cells(left)} missing" if left else ""))


def _command(tables: Sequence[str], store: "Store", weights: Path | None) -> str:
    """The words that repeat what was computed, whatever device or budget it was computed with."""
    sizes = store.sizes
    words = ["dowsax", "reproduce", *tables, "--episodes", str(sizes.episodes), "--seed", str(sizes.seed)]
    words += [] if weights is None else ["--weights", str(weights)]
    words += [] if sizes.particles is None else ["--particles", str(sizes.particles)]
    words += [] if sizes.max_readings == 200 else ["--max-readings", str(sizes.max_readings)]
    return shlex.join([*words, "--out", str(store.folder)])


def _warn(message: str) -> None:
    print(f"dowsax: {message}", file=sys.stderr)


@contextmanager
def _searches(missing: "Sequence[Cell]", episodes: int) -> "Iterator[Told]":
    """Two bars on stderr, for the cell and for all of them; nothing where it is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    ended = dict.fromkeys(missing, 0)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        cell_bar = bars.add_task("", total=episodes)
        whole_bar = bars.add_task("cells", total=len(missing))

        def show(cell: "Cell", more: int) -> None:
            # Where a batch did not fit into memory its searches are told of again.
            ended[cell] = min(ended[cell] + more, episodes)
            description = f"{cell.name} on {cell.field}, {cell.folder.rpartition('/')[0]}"
            bars.update(cell_bar, description=description, completed=ended[cell])
            bars.update(whole_bar, completed=sum(ended.values()) / episodes)

        yield show


@contextmanager
def _counted(total: int):
    """A bar of cells."""
    with counting(total) as (describe, advance):
        describe("cells")
        shown = 0

        def show(there: int) -> None:
            nonlocal shown
            advance(there - shown)
            shown = there

        yield show
