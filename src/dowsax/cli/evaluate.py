"""`dowsax evaluate`: many simulated searches of every policy on every field, in a folder one can resume."""

import json as json_format
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Annotated

from cyclopts import Parameter

from dowsax.cli.console import announcing, say
from dowsax.experiment.assemble import preset_of, require_known
from dowsax.experiment.config import RunConfig, stop_rule
from dowsax.experiment.execute import Engine, Progress, default_shard_size, fill, here
from dowsax.experiment.on_ray import on_ray
from dowsax.experiment.report import document, summaries, write_summary
from dowsax.experiment.shards import Shard, cut
from dowsax.experiment.store import Run, open_run
from dowsax.experiment.workers import processes
from dowsax.extras import describe_missing
from dowsax.interruption import keeping
from dowsax.policies import POLICIES
from dowsax.world import MODALITIES

ALL = "all"


def evaluate(
    *,
    policy: Annotated[list[str], Parameter(negative="")],
    field: Annotated[list[str], Parameter(negative="")],
    scenario: str = "id",
    episodes: int = 1000,
    seed: int = 0,
    stop: str = "credible",
    threshold: float | None = None,
    preset: str = "default",
    particles: int | None = None,
    max_readings: int = 200,
    to_the_end: Annotated[bool, Parameter(negative="")] = False,
    out: Path | None = None,
    workers: int | None = None,
    ray: str | None = None,
    shard_size: int | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Run many simulated searches: how long they take, how far off they end, and how sure that is.

    What is computed is kept in a folder: after an interruption the same command goes on where it was, and of
    a complete run it prints the table at once. Every policy searches for the same sources.

    Parameters
    ----------
    policy
        Who searches; give it again, or names with commas, or all. A wrong name lists what there is, such as
        att-pfrl-guarded, from which Infotaxis takes over when a search takes long.
    field
        What is measured; likewise.
    scenario
        Where sources are and what is believed beforehand: id, ood, shift, prior-… .
    episodes
        Searches of each policy on each field.
    seed
        The same seed gives the same sources, noise and answer.
    stop
        The stop rule of the table: credible, contraction, entropy, max-weight or fixed. The usual thresholds
        of the first two are recorded in any case, so that asking again with another costs nothing.
    threshold
        The threshold of the stop rule, if not its usual one.
    preset
        The filter: default or paper.
    particles
        Another number of particles than the preset's.
    max_readings
        A search without a stop ends after this many readings.
    to_the_end
        Take all readings whatever the rules say, to compare rules that may never speak.
    out
        The run folder; runs/ and a name from the settings unless given.
    workers
        Compute in this many processes.
    ray
        Compute on Ray: local, or the address of a cluster whose machines have this version of dowsax.
    shard_size
        Episodes computed and kept together: 25, or 1000 on an accelerator. Stays as it was in a begun run.
    json
        Print one JSON object and nothing else.
    """
    config = RunConfig(
        *_expanded(policy, field),
        scenario=scenario,
        episodes=episodes,
        seed=seed,
        preset=preset,
        particles=particles,
        max_readings=max_readings,
        rule=stop_rule(stop, threshold),
        to_the_end=to_the_end,
    )
    engine = _engine(workers, ray)
    run = _opened(config, out, shard_size)
    _fill(run, engine)
    _report(run, json)


def _opened(config: "RunConfig", out: Path | None, shard_size: int | None) -> "Run":
    """The run folder, once all names are known."""
    require_known(config)
    # As a number, so that the folder still says it when the preset has changed.
    config = replace(config, particles=preset_of(config).config.num_particles)
    if shard_size is not None:
        config = replace(config, shard_size=shard_size)
    folder = Path("runs") / config.name if out is None else out
    run = open_run(folder, config, default_shard_size if shard_size is None else lambda: shard_size)
    there = run.configuration.shard_size
    if shard_size not in (None, there):
        raise ValueError(
            f"{folder} is cut into shards of {there} episodes: leave --shard-size out, or give another --out."
        )
    return run


def _fill(run: "Run", engine: "Engine") -> None:

    missing = run.missing(_warn)
    if not missing:
        return
    for change in run.changes():
        _warn(f"{run.folder} was begun with {change}; what is missing is computed with what is here.")
    message = f"What was finished is kept in {run.folder}: the same command goes on from there."
    with keeping(message), announcing("Preparing the searches") as cancel, _display(run, missing) as show:

        def progress(shard: "Shard", more: int) -> None:
            cancel()
            show(shard, more)

        fill(run, missing, engine, progress)


def _report(run: "Run", json: bool) -> None:

    tabulated = run.tabulate()
    cells = summaries(run)
    write_summary(run, cells)
    if json:
        print(json_format.dumps(document(run, cells), allow_nan=False))
        return
    say((run.folder / "summary.md").read_text(encoding="utf-8"))
    say(f"The run is in {run.folder}.")
    if not tabulated:
        missing = describe_missing("results", "this table")
        say(f"No episodes.parquet: {missing} The same command then writes it.")


def _expanded(policy: list[str], field: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the policies and of the fields."""
    return _names(policy, POLICIES), _names(field, MODALITIES)


def _names(words: list[str], known: Iterable[str]) -> tuple[str, ...]:
    """The names in the words, which may hold several with commas between, each once; `all` is every one."""
    names = [name.strip() for word in words for name in word.split(",") if name.strip()]
    return tuple(dict.fromkeys(known if ALL in names else names))


def _engine(workers: int | None, ray: str | None) -> "Engine":

    if workers is not None and workers < 1:
        raise ValueError(f"There is at least 1 worker; got {workers}.")
    if ray is not None:
        return on_ray(ray, workers)
    if workers is not None:
        return processes(workers)
    return here


def _warn(message: str) -> None:
    print(f"dowsax: {message}", file=sys.stderr)


@contextmanager
def _display(run: "Run", missing: list["Shard"]) -> Iterator["Progress"]:
    """Two bars with the time left on stderr, for the cell and the run; nothing where it is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    config = run.configuration
    shards, lock = cut(config), Lock()
    # A shard that is computed again, as its worker died or the batch did not fit, must not count twice.
    ended = {shard: 0 if shard in missing else shard.size for shard in shards}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        cell_bar = bars.add_task("", total=config.episodes)
        whole_bar = bars.add_task("in all", total=config.episodes * len({shard.cell for shard in shards}))

        def show(shard: "Shard", more: int) -> None:
            with lock:
                ended[shard] = min(ended[shard] + more, shard.size)
            of_cell = sum(number for other, number in ended.items() if other.cell == shard.cell)
            description = f"{shard.cell.policy} on {shard.cell.field}"
            bars.update(cell_bar, description=description, completed=of_cell)
            bars.update(whole_bar, completed=sum(ended.values()))

        show(missing[0], 0)
        yield show
