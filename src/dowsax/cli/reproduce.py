"""`dowsax reproduce`: the tables and figures of the paper, ours next to theirs; a folder one can resume."""

import math
import os
import secrets
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dowsax.cli.console import announcing, print_status, say, waiting
from dowsax.cli.outputs import require_folder, require_writable
from dowsax.cli.run_progress import show_progress
from dowsax.envs.task import choose
from dowsax.evaluate.tables import number
from dowsax.experiments.runner import default_shard_size, execute, local, processes
from dowsax.experiments.store import AnyRun, Store
from dowsax.experiments.suites.check import (
    NUM_CELLS,
    Comparison,
    choose_cells,
    compare,
    least_p_value,
    runs_of_cells,
)
from dowsax.experiments.suites.measures import MEASURES
from dowsax.experiments.suites.registry import choose_suites
from dowsax.experiments.suites.report import write
from dowsax.experiments.suites.suite import Reproduction, Suite, runs_of
from dowsax.interruption import explain_interruption
from dowsax.world import MODALITIES

_DEVICES = {"cpu": "cpu", "gpu": "cuda"}


def reproduce(
    tables: list[str] | None = None,
    /,
    *,
    episodes: int | None = None,
    seed: Annotated[list[int] | None, Parameter(negative="")] = None,
    out: Path = Path("runs/reproduce"),
    device: str | None = None,
    workers: int | None = None,
    budget: float | None = None,
    only_field: Annotated[list[str] | None, Parameter(negative="")] = None,
    only_policy: Annotated[list[str] | None, Parameter(negative="")] = None,
    earlier: Path | None = None,
    particles: int | None = None,
    max_readings: int = 200,
    trust: Annotated[list[str] | None, Parameter(negative="")] = None,
    runs_only: Annotated[bool, Parameter(name=("--runs-only", "--cells-only"), negative="")] = False,
    list_: Annotated[bool, Parameter(name="--list", negative="")] = False,
    status: Annotated[bool, Parameter(negative="")] = False,
    check: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Compute the tables and figures of the paper and write ours next to theirs.

    Results are kept in the folder, run by run; the same command resumes. Several processes may share one.

    Parameters
    ----------
    tables
        The tables, see --list. Default: all.
    episodes
        Searches of each policy on each field. Default: 1,000, and 30 with --check.
    seed
        Of sources and noise; repeat it for several. Default: 0; with --check a new one, which is printed.
    out
        The folder of runs and tables.
    device
        Compute on cpu or gpu. Default: the device that JAX finds.
    workers
        Compute in this many processes, which share the cores or the memory of a graphics card.
    budget
        Begin nothing that might not be finished in this many seconds from now.
    only_field
        Compute only runs of this field; repeat it for several. The tables have all runs that are complete.
    only_policy
        Compute only runs of this policy, likewise.
    earlier
        A folder of tables with the same seeds and sizes: their lines stand in for runs that are not in --out.
    particles
        Number of particles in every filter, for rehearsals. Default: that of each filter.
    max_readings
        A search without a stop ends after this many readings.
    trust
        The hash of other code that is known to give the same numbers.
    runs_only
        Write no tables; the same command without this writes them.
    list_
        List the tables, and exit.
    status
        Say how many runs of each table are complete, and exit.
    check
        Say whether ten random cells of the tables in --earlier (results/paper) hold with new searches.
    """
    deadline = time.time() + (math.inf if budget is None else budget)
    _require(device, workers, budget, earlier)
    _compute_on(device, workers)
    store = Store(out, default_shard_size(), frozenset(trust or []))
    size = (30 if check else 1000) if episodes is None else episodes
    paper = Reproduction(store, size, _unique(seed or [_new_seed() if check else 0]), particles, max_readings)
    if check:
        _check(paper, earlier or Path("results/paper"), deadline, workers)
        return
    suites = choose_suites(tables or [])
    runs = _choose_runs(paper, suites, only_field or [], only_policy or [])
    if list_ or status:
        (_list if list_ else _status)(paper, suites)
        return
    _compute(paper, runs, deadline, workers)
    if not runs_only:
        _write(paper, suites, _command(tables or [], paper), earlier)


def _require(device: str | None, workers: int | None, budget: float | None, earlier: Path | None) -> None:
    if device is not None and device not in _DEVICES:
        raise ValueError(f"Unknown device {device!r}; known are {', '.join(_DEVICES)}.")
    if workers is not None and workers < 1:
        raise ValueError(f"There must be at least 1 worker; got {workers}.")
    if budget is not None and not budget > 0:
        raise ValueError(f"--budget must be a number of seconds above 0; got {budget:g}.")
    if earlier is not None and not earlier.is_dir():
        raise ValueError(f"There is no folder {earlier}: give --earlier a folder such as results/paper.")


def _compute_on(device: str | None, workers: int | None) -> None:
    """Choose the device of JAX, in this process and in those it starts."""
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


def _choose_runs(
    paper: Reproduction, suites: Sequence[Suite], fields: Sequence[str], policies: Sequence[str]
) -> list[AnyRun]:
    """The runs of these fields and policies, or of all; every name must be a known one."""
    for name in fields:
        choose("field", name, MODALITIES, str)
    known = dict.fromkeys(run.policy for run in runs_of(suites, paper))
    for name in policies:
        if name not in known:
            raise ValueError(f"No table that is asked for has the policy {name!r}: {', '.join(known)}.")
    return runs_of(suites, paper, fields, policies)


def _list(paper: Reproduction, suites: Sequence[Suite]) -> None:
    for suite in suites:
        say(f"{suite.name:<21} {suite.title} ({suite.label}; {_runs(len(suite.runs(paper)))})")


def _status(paper: Reproduction, suites: Sequence[Suite]) -> None:
    for suite in suites:
        runs = suite.runs(paper)
        say(f"{suite.name:<21} {len(runs) - len(paper.store.incomplete(runs))} of {_runs(len(runs))}")
    runs = runs_of(suites, paper)
    say(f"{'in all':<21} {len(runs) - len(paper.store.incomplete(runs))} of {_runs(len(runs))}")


def _runs(number: int) -> str:
    return "1 run" if number == 1 else f"{number} runs"


def _compute(paper: Reproduction, runs: list[AnyRun], deadline: float, workers: int | None) -> None:
    store = paper.store
    require_folder(store.folder)
    require_writable(store.folder / ".writable")
    engine = local if workers is None else processes(workers, share_accelerator=True)
    message = f"Finished results are kept in {store.folder}: the same command goes on."
    missing = store.missing(runs)
    with (
        explain_interruption(message),
        announcing("Preparing the searches") as cancel,
        show_progress(runs, missing, on_compiled=cancel) as progress,
    ):
        if not missing:
            cancel()
        execute(store, runs, engine, deadline, progress)
    left = len(store.incomplete(runs))
    if left:
        print_status(
            f"{left} of {_runs(len(runs))} are still missing, as the time is up or other processes compute "
            "them: the same command goes on."
        )


def _write(paper: Reproduction, suites: Sequence[Suite], command: str, earlier: Path | None) -> None:
    for suite in suites:
        with waiting(f"Writing {suite.name}"):
            folder = write(suite, paper, command, earlier)
        if folder is None:
            say(f"{suite.name}: nothing yet")
        else:
            left = len(paper.store.incomplete(suite.runs(paper)))
            say(f"{suite.name}: {folder / 'table.md'}" + (f", {_runs(left)} missing" if left else ""))


def _check(paper: Reproduction, published: Path, deadline: float, workers: int | None) -> None:
    """Recompute cells of published tables; a ValueError unless all agree."""
    if len(paper.seeds) > 1:
        raise ValueError("A check has one seed: give --seed once.")
    chosen = choose_cells(published, paper, NUM_CELLS, paper.seed)
    say(f"Cells and searches of seed {paper.seed}; --seed {paper.seed} repeats them.")
    _compute(paper, [*runs_of_cells(chosen)], deadline, workers)
    compared = [compare(paper, cell) for cell in chosen]
    least = least_p_value(sum(map(len, compared)))
    differing = 0
    for cell, comparisons in zip(chosen, compared, strict=True):
        differs = any(one.p_value < least for one in comparisons)
        differing += differs
        numbers = "; ".join(_describe(one) for one in comparisons)
        say(f"{'DIFFERS' if differs else 'agrees'}  {cell.name}: {numbers}")
    tests = "Fisher's exact test for shares, t-test for paths"
    if differing:
        raise ValueError(
            f"{differing} of {len(chosen)} cells differ (p < {least:.2g}; {tests}; --seed {paper.seed})."
        )
    say(f"All {len(chosen)} cells agree (p ≥ {least:.2g}; {tests}).")


def _describe(one: Comparison) -> str:
    digits = MEASURES[one.measure].digits
    return f"{one.measure} {number(one.published, digits)} published, {number(one.recomputed, digits)} here"


def _new_seed() -> int:
    """Draw a seed that no published table has: these are small."""
    return 1000 + secrets.randbelow(2**31 - 1000)


def _unique(seeds: Sequence[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(seeds))


def _command(tables: Sequence[str], paper: Reproduction) -> str:
    """The command that repeats what was computed, on any device and without a budget."""
    sizes = ["--episodes", str(paper.num_episodes)]
    sizes += [word for seed in paper.seeds for word in ("--seed", str(seed))]
    sizes += [] if paper.particles is None else ["--particles", str(paper.particles)]
    sizes += [] if paper.max_readings == 200 else ["--max-readings", str(paper.max_readings)]
    return shlex.join(["dowsax", "reproduce", *tables, *sizes, "--out", str(paper.store.folder)])
